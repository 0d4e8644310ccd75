//! Runs a target on mutated inputs until the time is up, and keeps what panics, breaks a promise or does not end.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// After so long an input counts as one without an end. Everything inside it is stopped after far less.
const NO_END: Duration = Duration::from_secs(60);

/// Something that is fed with text.
pub(crate) struct Target {
    /// Its folder in the corpus.
    pub(crate) name: &'static str,
    /// Inputs to begin with, besides those of the corpus.
    pub(crate) seeds: fn() -> Vec<String>,
    /// Another input, from some of those there are.
    pub(crate) mutate: fn(&mut ChaCha8Rng, &[String]) -> String,
    /// What is done with an input: an error is a promise that was broken.
    pub(crate) run: fn(&str) -> Result<(), String>,
}

impl Target {
    /// Every input of the corpus as it is, and the seeds.
    pub(crate) fn replay(&self) {
        let mut inputs = self.corpus();
        inputs.extend((self.seeds)().into_iter().map(|text| (format!("a seed of {}", self.name), text)));
        let judged = inputs.iter().filter_map(|(path, text)| self.judge(text).map(|what| format!("{path}: {what}")));
        let wrong: Vec<String> = judged.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Mutated inputs, for `NETNUM_FUZZ_SECONDS`, from `NETNUM_FUZZ_SEED`.
    pub(crate) fn fuzz(&self) {
        let seconds = number_of("NETNUM_FUZZ_SECONDS").unwrap_or(10);
        let seed = number_of("NETNUM_FUZZ_SEED").unwrap_or(1);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut inputs: Vec<String> = self.corpus().into_iter().map(|(_, text)| text).collect();
        inputs.extend((self.seeds)());
        let (watched, watch) = channel();
        let name = self.name;
        let guard = thread::spawn(move || end_what_does_not(name, &watch));

        let (began, mut count) = (Instant::now(), 0);
        // One input of every kind, the shortest: numbers in a message make no other kind.
        let mut found: BTreeMap<String, (String, String)> = BTreeMap::new();
        while began.elapsed() < Duration::from_secs(seconds) {
            let input = (self.mutate)(&mut rng, &inputs);
            watched.send(Some(input.clone())).unwrap();
            let wrong = self.judge(&input);
            watched.send(None).unwrap();
            count += 1;
            if let Some(what) = wrong {
                let kind = what.chars().filter(|c| !c.is_ascii_digit()).collect();
                let shortest = found.entry(kind).or_insert_with(|| (what.clone(), input.clone()));
                if input.len() < shortest.1.len() {
                    *shortest = (what, input);
                }
            }
        }
        drop(watched);
        guard.join().unwrap();
        println!("{name}: {count} inputs in {seconds} s from seed {seed}, {} wrong", found.len());
        let kept: Vec<String> = found.values().map(|(what, input)| format!("{}: {what}", keep(name, input))).collect();
        assert!(kept.is_empty(), "{}", kept.join("\n"));
    }

    fn judge(&self, input: &str) -> Option<String> {
        match catch_unwind(AssertUnwindSafe(|| (self.run)(input))) {
            Ok(Ok(())) => None,
            Ok(Err(what)) => Some(what),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                Some(format!("panic: {}", text.unwrap_or_default()))
            }
        }
    }

    /// Name and text of every file of its folder.
    fn corpus(&self) -> Vec<(String, String)> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(self.name);
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let text = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        paths.iter().map(|path| (path.display().to_string(), text(path))).collect()
    }
}

/// Ends the process, keeping the input, when one takes longer than anything may: a thread cannot be stopped.
fn end_what_does_not(name: &str, watch: &Receiver<Option<String>>) {
    let mut running: Option<String> = None;
    loop {
        match (watch.recv_timeout(NO_END), running) {
            (Ok(input), _) => running = input,
            (Err(RecvTimeoutError::Timeout), Some(input)) => {
                eprintln!("{name}: {} has no end", keep(name, &input));
                process::abort();
            }
            (Err(RecvTimeoutError::Timeout), None) => running = None,
            (Err(RecvTimeoutError::Disconnected), _) => return,
        }
    }
}

/// Writes an input where it is found again, by what is in it.
fn keep(name: &str, input: &str) -> String {
    let hash = input
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    let path = folder.join(format!("{name}-{hash:016x}.txt"));
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, input)).unwrap();
    path.display().to_string()
}

fn number_of(variable: &str) -> Option<u64> {
    env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
}
