//! tc(8) of iproute2: one process that sets what it is told, and takes everything away when it is told no more.

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use serde::Deserialize;

use super::AgentError;
use super::classes::HANDLE;

/// Reads commands until there are none, or one fails; then deletes the qdisc, which lifts all limits. It does so where
/// the agent was killed too. Signals that end the agent, and are sent to its whole group, are left to the agent.
const SCRIPT: &str =
    r#"trap '' INT TERM HUP; tc -batch -; code=$?; tc qdisc del dev "$1" root handle "$2" htb; exit $code"#;

/// The qdisc of a device, which is deleted when it is dropped.
#[derive(Debug)]
pub(super) struct Tc {
    shell: Child,
    commands: Option<ChildStdin>,
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
        let listed = tc(&["-j", "qdisc", "show", "dev", device])?;
        if !listed.status.success() {
            return Err(refusal(device, &listed));
        }
        let qdiscs: Vec<Qdisc> = serde_json::from_slice(&listed.stdout).map_err(io::Error::from)?;
        // Handle 0 is what the kernel has put there by itself.
        if let Some(Qdisc { kind, handle, .. }) = qdiscs.into_iter().find(|one| one.root && one.handle != "0:") {
            return Err(AgentError::Occupied { device: device.into(), kind, handle });
        }
        // Of two at the same time, one is refused.
        let added = tc(&["qdisc", "add", "dev", device, "root", "handle", HANDLE, "htb"])?;
        if !added.status.success() {
            return Err(refusal(device, &added));
        }
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh", device, HANDLE]).stdin(Stdio::piped()).stdout(Stdio::null());
        match command.spawn() {
            Ok(mut shell) => Ok(Self { commands: shell.stdin.take(), shell }),
            Err(error) => {
                let _ = tc(&["qdisc", "del", "dev", device, "root", "handle", HANDLE, "htb"]);
                Err(error.into())
            }
        }
    }

    /// Passes commands on, a line each.
    ///
    /// # Errors
    /// Where tc has ended: one before has failed, and there are no limits any more.
    pub(super) fn send(&mut self, commands: &str) -> io::Result<()> {
        let ended = || io::Error::other("tc has ended, which lifts all limits: its message stands above");
        if self.shell.try_wait()?.is_some() {
            return Err(ended());
        }
        match &mut self.commands {
            Some(pipe) if !commands.is_empty() => pipe.write_all(commands.as_bytes()).map_err(|_| ended()),
            _ => Ok(()),
        }
    }
}

impl Drop for Tc {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.shell.wait();
    }
}

fn tc(arguments: &[&str]) -> Result<Output, AgentError> {
    Command::new("tc").args(arguments).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => AgentError::NoTc,
        _ => error.into(),
    })
}

/// Why tc has refused, by its words.
fn refusal(device: &str, refused: &Output) -> AgentError {
    let said = String::from_utf8_lossy(&refused.stderr).trim().to_string();
    let device = device.to_string();
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
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

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
            let refused = Output { status: ExitStatus::from_raw(0x200), stdout: Vec::new(), stderr: said.into() };
            assert_eq!(refusal("eth7", &refused).to_string(), expected);
        }
    }
}
