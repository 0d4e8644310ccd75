//! What this program has logged.

use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct ToLog;

impl Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// From now on what is logged is kept, whichever test runs.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing_subscriber::fmt().with_writer(|| ToLog).with_ansi(false).init());
}

/// Its lines that have all of these words: such as the port of one test.
pub(crate) fn lines(words: &[&str]) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = std::str::from_utf8(&log).unwrap().lines();
    lines.filter(|line| words.iter().all(|word| line.contains(word))).map(String::from).collect()
}
