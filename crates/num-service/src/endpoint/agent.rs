//! The endpoint of a host, for programs that know nothing of it.
//!
//! ```text
//! connections ──sock_diag──► Watcher, as of an endpoint ──limits──► Classes ──newest──► tc
//! ```

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::classes::HANDLE;
use super::sock_diag::{Connection, SockDiag};
use super::socket::Look;
use super::tc::Tc;
use super::watcher::{Attached, Limited, Sockets};
use super::{EndpointConfig, EndpointError, EndpointStatus, Running, Starting};

/// Between two looks: the kernel goes through its table of all connections twice for each, which takes milliseconds
/// where it has some 100 000 places.
const WATCH: Duration = Duration::from_millis(50);

/// Why an agent does not start, or has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// What an endpoint refuses too, or an error of the system.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The device's name has signs that tc reads in another way.
    #[error("the device's name is {device:?}, expected letters, digits and . _ @ - alone")]
    DeviceName {
        /// Its name.
        device: String,
    },
    /// There is no tc on the path.
    #[error("there is no tc on PATH: it is a part of iproute2")]
    NoTc,
    /// The kernel has no htb.
    #[error("the kernel has no htb (CONFIG_NET_SCH_HTB)")]
    NoHtb,
    /// The host has no such device.
    #[error("there is no device {device}")]
    NoDevice {
        /// Its name.
        device: String,
    },
    /// Only root sets limits.
    #[error("the limits of {device} may be set by root alone: start the agent as root")]
    NotPermitted {
        /// The device.
        device: String,
    },
    /// Somebody has put a qdisc at the root of the device. It was not touched.
    #[error("{device} has a qdisc at its root, {kind} {handle}, which is left as it is{}", whose(.device, .handle))]
    Occupied {
        /// The device.
        device: String,
        /// The qdisc's kind, such as `fq`.
        kind: String,
        /// The qdisc's handle.
        handle: String,
    },
    /// tc has refused for another reason.
    #[error("tc cannot put an htb at the root of {device}: {said}")]
    Tc {
        /// The device.
        device: String,
        /// What it said.
        said: String,
    },
}

fn whose(device: &str, handle: &str) -> String {
    if handle != HANDLE {
        return String::new();
    }
    format!(": it is that of an agent, and where none runs `tc qdisc del dev {device} root` takes it away")
}

impl From<io::Error> for AgentError {
    fn from(error: io::Error) -> Self {
        EndpointError::System(error).into()
    }
}

/// The endpoint of this host. It finds all TCP connections with IPv4 of the network namespace, but those that a host
/// has with itself, whichever program has them, reports their flowlets, and limits each by an `htb` class of a device.
///
/// It is for hosts whose flows leave by one device: those that leave by another are reported too, have rates, and take
/// classes, but are not limited.
///
/// Dropped, it lifts all limits. So it does where it is killed, by the process of tc that it leaves behind.
///
/// ```no_run
/// use netnum_service::endpoint::{Agent, EndpointConfig};
///
/// let config = EndpointConfig::read("/etc/netnum/endpoint.toml".as_ref())?;
/// let agent = Agent::start(&config, "eth0")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Agent {
    stop: Option<Sender<Infallible>>,
    running: Running,
}

impl Agent {
    /// Starts it, in the network namespace of this thread, as root.
    ///
    /// # Errors
    /// [`AgentError`]; nothing was changed then.
    pub fn start(config: &EndpointConfig, device: &str) -> Result<Self, AgentError> {
        let starting = Starting::new(config, WATCH)?;
        let mut sock_diag = SockDiag::new()?;
        sock_diag.connections()?;
        let (stop, stopped) = channel();
        let sockets = HostSockets { sock_diag, connections: FxHashMap::default(), tc: Tc::new(device)?, stopped };
        Ok(Self { stop: Some(stop), running: starting.run(sockets)? })
    }

    /// What it is doing: `sockets` are the connections of the host with others.
    pub fn status(&self) -> EndpointStatus {
        self.running.status()
    }

    /// Whether it still runs. It does until it is stopped, or an error has ended it, which [`stop`](Self::stop)
    /// returns.
    pub fn is_running(&self) -> bool {
        self.running.is_running()
    }

    /// Ends it: all limits are lifted.
    ///
    /// # Errors
    /// What has ended it before.
    pub fn stop(mut self) -> Result<(), AgentError> {
        Ok(self.end()?)
    }

    fn end(&mut self) -> io::Result<()> {
        self.running.end(&mut self.stop)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

struct HostSockets {
    sock_diag: SockDiag,
    /// At the last look.
    connections: FxHashMap<Connection, Look>,
    tc: Tc,
    stopped: Receiver<Infallible>,
}

impl Sockets for HostSockets {
    type Socket = Connection;

    fn find(&mut self, found: &mut Vec<Attached<Connection>>, lifetime: Duration) -> io::Result<bool> {
        if let Err(TryRecvError::Disconnected) = self.stopped.try_recv() {
            return Ok(false);
        }
        self.tc.check(lifetime)?;
        let before = std::mem::replace(&mut self.connections, self.sock_diag.connections()?);
        let new = self.connections.keys().filter(|connection| !before.contains_key(connection));
        found.extend(new.map(|&socket| {
            let Connection { source, destination, .. } = socket;
            Attached { socket, source, destination, weight: 1.0 }
        }));
        Ok(true)
    }

    fn look(&self, connection: Connection) -> Option<Look> {
        self.connections.get(&connection).copied()
    }

    /// `htb` counts headers, as the allocator does.
    fn limit_of(rate: f64, _segment: u32) -> f64 {
        rate / 8.0
    }

    fn limit(&mut self, connection: Connection, bytes_per_second: u64) -> Limited {
        if self.tc.limit(connection, bytes_per_second) { Limited::Set } else { Limited::Full }
    }

    fn finish(&mut self) {
        self.tc.pass_on();
    }
}
