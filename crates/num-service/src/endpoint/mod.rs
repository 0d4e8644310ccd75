//! The endpoint: watches sockets, reports their flowlets, and paces them at the rates that the allocator sends.
//!
//! ```text
//! socket ──bytes not sent, not acknowledged──► Detector ──start, cap, end──► EndpointProtocol ──► QUIC
//! socket ◄──SO_MAX_PACING_RATE── rate, or none where it has expired ◄──────────────┘
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `watcher.rs` | looks at all flows, tells the protocol, limits them |
//! | `detector.rs` | when a flowlet starts and ends, and how fast its source is |
//! | `connection.rs` | the way to the allocator, again and again |
//! | `attached.rs` | flows that are sockets of this process, which attaches them |
//! | `socket.rs` | system calls on these, for Linux |
//! | `agent.rs` | flows that are connections of a host, whose programs know nothing of it |
//! | `sock_diag.rs` | what connections there are |
//! | `classes.rs` | from limits to commands of tc |
//! | `tc.rs` | the process that sets them, and the thread that tells it |
//!
//! Where the allocator is silent for longer than a rate's lifetime limits are lifted, and TCP goes on with the window
//! that it had at the last rate.

mod agent;
mod attached;
mod classes;
mod connection;
mod detector;
mod sock_diag;
mod socket;
mod tc;
mod watcher;

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use agent::{Agent, AgentError};
use attached::AttachedSockets;
use connection::Connector;
use rustls::pki_types::ServerName;
use serde::Deserialize;
use socket::Watched;
use tokio::runtime::Runtime;
use watcher::{Attached, Sockets, Watcher};

use crate::daemon::{BadConfig, read_toml};
use crate::tls::{BadCertificates, Certificates};

/// Between two looks at the sockets of a process.
const WATCH: Duration = Duration::from_millis(1);

/// How an endpoint finds its allocator, and how it watches sockets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// Where the allocator listens.
    #[serde(deserialize_with = "crate::daemon::address")]
    pub allocator: SocketAddr,
    /// The name in its certificate.
    pub name: String,
    /// Certificates of this endpoint.
    pub tls: Certificates,
    /// Between two looks at the sockets, from 1 to 100 ms. Where none is given it is 1 ms, and 50 ms for an [`Agent`],
    /// for which a look takes longer. In files `watch_us`.
    #[serde(rename = "watch_us", default, deserialize_with = "some_microseconds")]
    pub watch: Option<Duration>,
    /// A flowlet has ended when nothing was unacknowledged for so long, at most 10 s, and for twice `watch`. In files
    /// `idle_us`, 5000 by default.
    #[serde(rename = "idle_us", default = "idle", deserialize_with = "crate::microseconds")]
    pub idle: Duration,
    /// Whether a flowlet's cap is what its source was measured to give, where that is less than its rate. In files
    /// true by default.
    #[serde(default = "yes")]
    pub rate_aware: bool,
}

fn some_microseconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    crate::microseconds(deserializer).map(Some)
}

fn idle() -> Duration {
    Duration::from_millis(5)
}

fn yes() -> bool {
    true
}

impl EndpointConfig {
    /// An endpoint that looks at its sockets every millisecond, and an [`Agent`] every 50 ms, that ends flowlets after
    /// 5 ms without bytes, or after two looks, and that is rate-aware.
    pub fn new(allocator: SocketAddr, name: impl Into<String>, tls: Certificates) -> Self {
        Self { allocator, name: name.into(), tls, watch: None, idle: idle(), rate_aware: true }
    }

    /// Reads a file. The files that it names are relative to its folder.
    ///
    /// # Errors
    /// [`BadConfig`] names the file, and the line of what is wrong.
    pub fn read(file: &Path) -> Result<Self, BadConfig> {
        let (mut this, folder): (Self, _) = read_toml(file)?;
        this.check().map_err(|error| BadConfig::file(file, error))?;
        this.tls = this.tls.within(folder);
        Ok(this)
    }

    fn check(&self) -> Result<(), EndpointError> {
        let [watch_us, idle_us] = [self.watch.unwrap_or(WATCH), self.idle].map(|time| time.as_micros());
        for (setting, found, is_within, expected) in [
            ("watch_us", watch_us, (1000..=100_000).contains(&watch_us), "1000 to 100000 microseconds"),
            ("idle_us", idle_us, idle_us <= 10_000_000, "at most 10000000 microseconds"),
        ] {
            if !is_within {
                return Err(EndpointError::Time { setting, found, expected });
            }
        }
        if ServerName::try_from(&*self.name).is_err() {
            return Err(EndpointError::Name { found: self.name.clone() });
        }
        Ok(())
    }
}

/// Why an endpoint or a socket was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// A file of certificates is not there or wrong.
    #[error(transparent)]
    Certificates(#[from] BadCertificates),
    /// The system refuses a call.
    #[error(transparent)]
    System(#[from] io::Error),
    /// What is not a TCP socket, or not connected, or closed; or the system refuses a call on it.
    #[error("descriptor {descriptor}{}: {error}", ends(.addresses))]
    Socket {
        /// The descriptor.
        descriptor: RawFd,
        /// Those of both ends, its own first, as far as they are known.
        addresses: [Option<SocketAddr>; 2],
        /// What the system says.
        error: io::Error,
    },
    /// A socket that is not IPv4.
    #[error("descriptor {descriptor}, from {own} to {peer}: flowlets are of IPv4 alone")]
    Address {
        /// The descriptor.
        descriptor: RawFd,
        /// Its own address.
        own: SocketAddr,
        /// Its peer's.
        peer: SocketAddr,
    },
    /// A weight that is not a positive number.
    #[error("weight is {0}, expected a number > 0")]
    Weight(f64),
    /// A time of the configuration is out of its range.
    #[error("{setting} is {found}, expected {expected}")]
    Time {
        /// Its name in files.
        setting: &'static str,
        /// Microseconds.
        found: u128,
        /// The range.
        expected: &'static str,
    },
    /// What no certificate can name.
    #[error("name is {found:?}, expected the name in the allocator's certificate, such as allocator.example")]
    Name {
        /// The name.
        found: String,
    },
    /// The endpoint has stopped.
    #[error("the endpoint has stopped")]
    Stopped,
}

fn ends([own, peer]: &[Option<SocketAddr>; 2]) -> String {
    let [own, peer] = [(" from", own), (" to", peer)]
        .map(|(word, address)| address.map(|address| format!("{word} {address}")).unwrap_or_default());
    if own.is_empty() && peer.is_empty() { String::new() } else { format!(",{own}{peer}") }
}

/// What an endpoint is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EndpointStatus {
    /// Whether the allocator's rates hold; false before the first, and where it has been silent for a lifetime.
    pub is_led: bool,
    /// Sockets, or for an [`Agent`] connections, that are watched.
    pub sockets: usize,
    /// Flowlets that have started and not ended.
    pub flowlets: usize,
    /// Those of them that are limited.
    pub paced: usize,
    /// Flowlets that have started since the beginning.
    pub started: u64,
    /// How often limits were lifted because rates had expired.
    pub lapses: u64,
}

/// An endpoint that has all but its sockets.
struct Starting<'a> {
    config: &'a EndpointConfig,
    watch: Duration,
    runtime: Runtime,
    connector: Connector,
}

impl<'a> Starting<'a> {
    /// With so long between two looks where the configuration has nothing else.
    fn new(config: &'a EndpointConfig, watch: Duration) -> Result<Self, EndpointError> {
        let watch = config.watch.unwrap_or(watch);
        config.check()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connector = {
            let _inside = runtime.enter();
            Connector::new(config)?
        };
        Ok(Self { config, watch, runtime, connector })
    }

    /// Has a thread of its own from now on.
    fn run<S: Sockets<Socket: Send> + Send + 'static>(self, sockets: S) -> Result<Running, EndpointError> {
        let Self { config, watch, runtime, connector } = self;
        let status = Arc::new(Mutex::new(EndpointStatus::default()));
        // What was seen once may have come between two bursts.
        let idle = config.idle.max(2 * watch);
        let watcher = Watcher::new(sockets, idle, config.rate_aware, status.clone());
        let body = move || runtime.block_on(connection::run(connector, watcher, watch));
        let thread = std::thread::Builder::new().name("netnum endpoint".into()).spawn(body)?;
        Ok(Running { status, thread: Some(thread), process: std::process::id() })
    }
}

/// The thread of an endpoint.
#[derive(Debug)]
struct Running {
    status: Arc<Mutex<EndpointStatus>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The process that has it.
    process: u32,
}

impl Running {
    fn status(&self) -> EndpointStatus {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends it, as it does when nobody has the sender any more. Returns the error that has ended it before.
    fn end<T>(&mut self, sender: &mut Option<Sender<T>>) -> io::Result<()> {
        // A process that was forked has no such thread: it would be waited for without end.
        if self.process != std::process::id() {
            std::mem::forget((sender.take(), self.thread.take()));
            return Ok(());
        }
        *sender = None;
        self.thread.take().map_or(Ok(()), |thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("the endpoint's thread has panicked")))
        })
    }
}

/// The endpoint of this process. Dropped, it lifts all pacing.
///
/// ```no_run
/// use std::net::TcpStream;
///
/// use netnum_service::Certificates;
/// use netnum_service::endpoint::{Endpoint, EndpointConfig};
///
/// let files = ["authority.pem", "own.pem", "own.key"].map(Into::into);
/// let [authority, certificate, key] = files;
/// let tls = Certificates { authority, certificate, key };
/// let endpoint = Endpoint::connect(EndpointConfig::new("10.0.0.100:4433".parse()?, "allocator.example", tls))?;
/// let socket = TcpStream::connect("10.0.0.9:80")?;
/// endpoint.attach(&socket, None, 1.0)?;
/// // Bytes are written to the socket as ever; it is watched until it is closed.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Endpoint {
    sockets: Option<Sender<Attached<Watched>>>,
    running: Running,
}

impl Endpoint {
    /// An endpoint that keeps trying to reach its allocator, from a thread of its own. Until it does, sockets are TCP's
    /// alone.
    ///
    /// # Errors
    /// [`EndpointError::Time`], [`EndpointError::Name`], [`EndpointError::Certificates`], [`EndpointError::System`]
    /// where there is no thread or no UDP socket.
    pub fn connect(config: EndpointConfig) -> Result<Self, EndpointError> {
        let (sockets, attached) = channel();
        let running = Starting::new(&config, WATCH)?.run(AttachedSockets(attached))?;
        Ok(Self { sockets: Some(sockets), running })
    }

    /// Watches a TCP socket that is connected, until it is closed: its flowlets are reported with this weight and
    /// destination (the peer's address, where none is given, or else the one that the allocator's hosts have), and
    /// paced. A socket that is attached again has another weight and destination from then on.
    ///
    /// The endpoint keeps no duplicate of the socket, and leaves alone what has its descriptor afterwards. Of a socket
    /// with duplicates, attach the descriptor that is closed last.
    ///
    /// # Errors
    /// [`EndpointError::Address`] for IPv6, [`EndpointError::Weight`], [`EndpointError::Socket`] for what is not a
    /// connected TCP socket, and where Linux is older than 4.19.
    pub fn attach(
        &self,
        socket: &impl AsRawFd,
        destination: Option<SocketAddrV4>,
        weight: f64,
    ) -> Result<(), EndpointError> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(EndpointError::Weight(weight));
        }
        let descriptor = socket.as_raw_fd();
        let wrong = |addresses| move |error| EndpointError::Socket { descriptor, addresses, error };
        let socket = Watched::new(socket).map_err(wrong([None, None]))?;
        let [own, peer] = socket.addresses();
        let known = [own.as_ref().ok().copied(), peer.as_ref().ok().copied()];
        socket.look().map_err(wrong(known))?;
        let (source, peer) = match (own.map_err(wrong(known))?, peer.map_err(wrong(known))?) {
            (SocketAddr::V4(own), SocketAddr::V4(peer)) => (own, peer),
            (own, peer) => return Err(EndpointError::Address { descriptor, own, peer }),
        };
        let attached = Attached { socket, source, destination: destination.unwrap_or(peer), weight };
        self.sockets.as_ref().and_then(|sockets| sockets.send(attached).ok()).ok_or(EndpointError::Stopped)
    }

    /// What it is doing.
    pub fn status(&self) -> EndpointStatus {
        self.running.status()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.running.end(&mut self.sockets);
    }
}
