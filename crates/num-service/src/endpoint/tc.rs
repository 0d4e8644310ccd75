//! tc(8) of iproute2: one process that sets what it is told, and takes everything away when it is told no more.
//!
//! A thread tells it the newest limits of a few classes at a time, and waits until it has answered. While tc is slow
//! limits are replaced by newer ones here, and nobody waits for it.

use std::io::{self, BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::AgentError;
use super::classes::{Classes, HANDLE};
use super::sock_diag::Connection;

/// Puts an `htb` without classes at the root of a device, reads commands until there are none, or one fails, and
/// deletes the `htb`, which lifts all limits. It does so where the agent was killed too. Signals that end the agent are
/// left to it. Says the number of the process that reads commands, and all that tc says.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM; exec 2>&1 3<&0
tc qdisc add dev "$1" root handle "$2" htb || exit
tc -batch - <&3 & echo $!; wait $!; code=$?
tc qdisc del dev "$1" root handle "$2" htb; exit $code"#;
/// Classes that tc is told at a time, so that what has to wait is replaced by what is newer.
const AT_ONCE: usize = 64;
/// The qdisc is looked at so often where there is nothing to tell.
const LOOK: Duration = Duration::from_secs(1);
/// A process of a busy host may have to wait for so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// The qdisc of a device, which is deleted when it is dropped.
#[derive(Debug)]
pub(super) struct Tc {
    device: String,
    shell: Child,
    /// The number of the process that reads commands, until it is killed.
    process: Option<String>,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    was_late: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    classes: Classes,
    /// When tc was told what it has not answered.
    asked_at: Option<Instant>,
    is_stopped: bool,
    /// Why there are no limits any more.
    ended: Option<String>,
}

/// A qdisc as tc lists it.
#[derive(Deserialize)]
struct Qdisc {
    kind: String,
    handle: String,
    #[serde(default)]
    root: bool,
}

impl Tc {
    /// Puts an `htb` without classes at the root of a device.
    ///
    /// # Errors
    /// [`AgentError`]; nothing was changed then.
    pub(super) fn new(device: &str) -> Result<Self, AgentError> {
        // tc takes # in a command for a comment, and quotes for those of a word.
        if device.is_empty() || !device.chars().all(|sign| sign.is_ascii_alphanumeric() || "._@-".contains(sign)) {
            return Err(AgentError::DeviceName { device: device.into() });
        }
        let failed = |what: &str, error| AgentError::Tc { device: device.into(), said: format!("{what}: {error}") };
        let listed = Command::new("tc").args(["-j", "qdisc", "show", "dev", device]).output();
        let Output { status, stdout, stderr } = listed.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => AgentError::NoTc,
            _ => failed("tc", error),
        })?;
        if !status.success() {
            return Err(refusal(device, &String::from_utf8_lossy(&stderr)));
        }
        let qdiscs: Vec<Qdisc> =
            serde_json::from_slice(&stdout).map_err(|error| failed("its list of qdiscs", error.into()))?;
        // Handle 0 is what the kernel has put there by itself.
        if let Some(Qdisc { kind, handle, .. }) = qdiscs.into_iter().find(|one| one.root && one.handle != "0:") {
            return Err(AgentError::Occupied { device: device.into(), kind, handle });
        }
        let mut command = Command::new("sh");
        // What a terminal sends to the agent's group is the agent's.
        command.args(["-c", SCRIPT, "sh", device, HANDLE]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().map_err(|error| failed("sh", error))?;
        let (Some(pipe), Some(said)) = (shell.stdin.take(), shell.stdout.take()) else {
            unreachable!("both are piped")
        };
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        let mut said = Vec::new();
        // Of two agents at the same time, one is refused.
        let process = loop {
            match lines.next() {
                Some(line) if line.parse::<u32>().is_ok() => break line,
                Some(line) => said.push(line),
                None => {
                    shell.wait().map_err(|error| failed("sh", error))?;
                    return Err(refusal(device, &said.join("; ")));
                }
            }
        };
        let state = State { classes: Classes::new(device), asked_at: None, is_stopped: false, ended: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (device, question) = (device.to_string(), format!("qdisc show dev {device}\n"));
        let process = Some(process);
        let mut this = Self { device, shell, process, shared: shared.clone(), writer: None, was_late: false };
        // Where there is no thread, the pipe is closed, which ends the script.
        let body = move || shared.write(&question, pipe, lines);
        this.writer = Some(std::thread::Builder::new().name("netnum tc".into()).spawn(body)?);
        Ok(this)
    }

    /// Limits a connection, as [`Classes::limit`] does.
    pub(super) fn limit(&mut self, connection: Connection, bytes_per_second: u64) -> bool {
        self.shared.lock().classes.limit(connection, bytes_per_second)
    }

    /// Has limits be told.
    pub(super) fn pass_on(&self) {
        self.shared.changed.notify_all();
    }

    /// # Errors
    /// Where tc has ended, as one command has failed, or the qdisc is not there any more; or where tc was late at the
    /// last call and still is, by more than rates live: it is killed then. There are no limits any more.
    pub(super) fn check(&mut self, lifetime: Duration) -> io::Result<()> {
        let patience = lifetime.max(PATIENCE);
        let (mut why, is_late) = {
            let state = self.shared.lock();
            (state.ended.clone(), state.asked_at.is_some_and(|asked_at| asked_at.elapsed() > patience))
        };
        if is_late && self.was_late {
            self.kill();
            why = Some(format!("tc has not answered for {patience:?}"));
        }
        self.was_late = is_late;
        why.map_or(Ok(()), |why| Err(io::Error::other(format!("all limits of {} are lifted: {why}", self.device))))
    }

    /// The script goes on without it, and deletes the qdisc.
    fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            let _ = Command::new("sh").args(["-c", r#"kill -KILL "$1""#, "sh", &process]).status();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells tc what has changed, until nobody wants it any more or tc has ended.
    fn write(&self, question: &str, mut pipe: impl Write, mut said: impl Iterator<Item = String>) {
        loop {
            let is_idle = |state: &mut State| !state.is_stopped && !state.classes.has_changed();
            let waited = self.changed.wait_timeout_while(self.lock(), LOOK, is_idle);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.is_stopped {
                return;
            }
            let commands = state.classes.take_commands(AT_ONCE) + question;
            state.asked_at = Some(Instant::now());
            drop(state);
            // Where tc has ended, its own words say why.
            let _ = pipe.write_all(commands.as_bytes());
            let ended = answer(&mut said).err();
            let mut state = self.lock();
            (state.asked_at, state.ended) = (None, ended);
            self.changed.notify_all();
            if state.ended.is_some() {
                return;
            }
        }
    }
}

/// Until tc has said which qdisc is at the root.
///
/// # Errors
/// Why there are no limits any more.
fn answer(said: &mut impl Iterator<Item = String>) -> Result<(), String> {
    let mut words = Vec::new();
    for line in said {
        if !line.starts_with("qdisc ") {
            words.push(line);
        } else if line.starts_with(&format!("qdisc htb {HANDLE} root ")) {
            return Ok(());
        } else if line.contains(" root ") {
            return Err(format!("somebody has taken their qdisc away, and has put there {}", line.trim()));
        }
    }
    Err(format!("tc has ended: {}", words.join("; ")))
}

impl Drop for Tc {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.changed.notify_all();
        let is_late = {
            let is_asked = |state: &mut State| state.asked_at.is_some();
            let waited = self.shared.changed.wait_timeout_while(self.shared.lock(), PATIENCE, is_asked);
            waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
        };
        if is_late {
            self.kill();
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let _ = self.shell.wait();
    }
}

/// Why tc has refused, by its words.
fn refusal(device: &str, said: &str) -> AgentError {
    let (device, said) = (device.to_string(), said.trim().to_string());
    if said.contains("Cannot find device") {
        AgentError::NoDevice { device }
    } else if said.contains("Operation not permitted") {
        AgentError::NotPermitted { device }
    } else if said.contains("qdisc kind is unknown") {
        AgentError::NoHtb
    } else {
        AgentError::Tc { device, said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tc_refuses_is_said_in_other_words_or_its_own() {
        // Standard error of tc 6.1.0 on Linux 6.18.
        for (said, expected) in [
            ("Cannot find device \"eth7\"\n", "there is no device eth7"),
            (
                "RTNETLINK answers: Operation not permitted\n",
                "the limits of eth7 may be set by root alone: start the agent as root",
            ),
            ("Error: Specified qdisc kind is unknown.\n", "the kernel has no htb (CONFIG_NET_SCH_HTB)"),
            (
                "Error: Exclusivity flag on, cannot modify.\n",
                "tc cannot put an htb at the root of eth7: Error: Exclusivity \
              flag on, cannot modify.",
            ),
        ] {
            assert_eq!(refusal("eth7", said).to_string(), expected);
        }
    }

    #[test]
    fn the_answer_of_tc_is_the_qdisc_at_the_root_and_anything_else_is_told() {
        let read = |text: &str| answer(&mut text.lines().map(String::from));
        assert_eq!(read("Warning: slow.\nqdisc htb 6e6e: root refcnt 2 r2q 10\n"), Ok(()));
        // Another, which is not at the root, may stand first.
        assert_eq!(read("qdisc clsact ffff: parent ffff:fff1\nqdisc htb 6e6e: root refcnt 2 \n"), Ok(()));
        let gone = "somebody has taken their qdisc away, and has put there qdisc noqueue 0: root refcnt 2";
        assert_eq!(read("qdisc noqueue 0: root refcnt 2 \n"), Err(gone.into()));
        let failed = "tc has ended: Error: No such class.; Command failed -:7";
        assert_eq!(read("Error: No such class.\nCommand failed -:7\n"), Err(failed.into()));
    }

    /// Keeps what is written, and sets another limit after the first writing.
    struct Slow<'a> {
        shared: &'a Shared,
        connection: Connection,
        written: &'a mut Vec<String>,
    }

    impl Write for Slow<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.written.is_empty() {
                let classes = &mut self.shared.lock().classes;
                assert!([30_000, 40_000].iter().all(|&limit| classes.limit(self.connection, limit)));
            }
            self.written.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn of_limits_that_change_while_tc_is_slow_the_newest_is_told() {
        let ends = ["10.0.0.1:40000", "10.0.0.2:80"].map(|address| address.parse().unwrap());
        let connection = Connection { source: ends[0], destination: ends[1], cookie: 7 };
        let state = State { classes: Classes::new("eth0"), asked_at: None, is_stopped: false, ended: None };
        let (shared, mut written) = (Shared { state: Mutex::new(state), changed: Condvar::new() }, Vec::new());
        assert!(shared.lock().classes.limit(connection, 20_000));
        // tc answers twice, the second time that the qdisc is gone.
        let said = ["qdisc htb 6e6e: root refcnt 2", "qdisc noqueue 0: root refcnt 2"].map(String::from);
        shared.write("question\n", Slow { shared: &shared, connection, written: &mut written }, said.into_iter());
        let [first, second] = &written[..] else { panic!("{written:?}") };
        assert!(first.contains("rate 20000bps") && first.ends_with("\nquestion\n"), "{first}");
        let expected = "class change dev eth0 parent 6e6e: classid 6e6e:1 htb rate 40000bps burst 1594 cburst 1594 \
                        quantum 1514\nquestion\n";
        assert_eq!(second, expected);
        assert!(shared.lock().ended.as_ref().is_some_and(|why| why.contains("noqueue")));
    }

    #[test]
    fn a_name_that_tc_would_read_in_another_way_is_refused() {
        for device in ["", "eth#1", "eth 1", "\"eth\"", "eth\n", "\u{e4}"] {
            let error = Tc::new(device).unwrap_err().to_string();
            assert_eq!(error, format!("the device's name is {device:?}, expected letters, digits and . _ @ - alone"));
        }
    }
}
