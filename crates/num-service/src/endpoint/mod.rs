//! The endpoint: watches sockets, reports their flowlets, and paces them at the rates that the allocator sends.
//!
//! ```text
//! socket ──bytes not sent, not acknowledged──► Detector ──start, cap, end──► EndpointProtocol ──► QUIC
//! socket ◄──SO_MAX_PACING_RATE── rate, or none where it has expired ◄──────────────┘
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `socket.rs` | system calls, for Linux |
//! | `detector.rs` | when a flowlet starts and ends, and how fast its source is |
//! | `agent.rs` | all sockets of a process |
//! | `connection.rs` | the way to the allocator, again and again |
//!
//! Where the allocator is silent for longer than a rate's lifetime pacing is lifted, and TCP goes on with the window
//! that it had at the last rate.

mod agent;
mod connection;
mod detector;
mod socket;

use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agent::Agent;
use serde::Deserialize;
use socket::Watched;

use crate::tls::{BadCertificates, Certificates};

/// How an endpoint finds its allocator, and how it watches sockets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EndpointConfig {
    /// Where the allocator listens.
    pub allocator: SocketAddr,
    /// The name in its certificate.
    pub name: String,
    /// Certificates of this endpoint.
    pub tls: Certificates,
    /// Between two looks at the sockets, from 1 to 100 ms. In files `watch_us`, 1000 by default.
    #[serde(rename = "watch_us", default = "watch", deserialize_with = "crate::microseconds")]
    pub watch: Duration,
    /// A flowlet has ended when nothing was unacknowledged for so long, at most 10 s. In files `idle_us`, 5000 by
    /// default.
    #[serde(rename = "idle_us", default = "idle", deserialize_with = "crate::microseconds")]
    pub idle: Duration,
    /// Whether a flowlet's cap is what its source was measured to give, where that is less than its rate. In files
    /// true by default.
    #[serde(default = "yes")]
    pub rate_aware: bool,
}

fn watch() -> Duration {
    Duration::from_millis(1)
}

fn idle() -> Duration {
    Duration::from_millis(5)
}

fn yes() -> bool {
    true
}

impl EndpointConfig {
    /// An endpoint that looks at its sockets every millisecond, ends flowlets after 5 ms without bytes, and is
    /// rate-aware.
    pub fn new(allocator: SocketAddr, name: impl Into<String>, tls: Certificates) -> Self {
        Self { allocator, name: name.into(), tls, watch: watch(), idle: idle(), rate_aware: true }
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
    System(#[from] std::io::Error),
    /// A socket that is not IPv4.
    #[error("the socket is bound to {0}: flowlets are of IPv4 alone")]
    Address(SocketAddr),
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
    /// The endpoint has stopped.
    #[error("the endpoint has stopped")]
    Stopped,
}

/// What an endpoint is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EndpointStatus {
    /// Whether the allocator's rates hold; false before the first, and where it has been silent for a lifetime.
    pub is_led: bool,
    /// Sockets that are watched.
    pub sockets: usize,
    /// Flowlets that have started and not ended.
    pub flowlets: usize,
    /// Sockets that are paced.
    pub paced: usize,
    /// Flowlets that have started since the beginning.
    pub started: u64,
    /// How often pacing was lifted because rates had expired.
    pub lapses: u64,
}

struct Attached {
    socket: Watched,
    source: SocketAddrV4,
    destination: SocketAddrV4,
    weight: f64,
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
    sockets: Option<Sender<Attached>>,
    status: Arc<Mutex<EndpointStatus>>,
    thread: Option<JoinHandle<()>>,
    /// The process that has the thread.
    process: u32,
}

impl Endpoint {
    /// An endpoint that keeps trying to reach its allocator, from a thread of its own. Until it does, sockets are TCP's
    /// alone.
    ///
    /// # Errors
    /// [`EndpointError::Time`], [`EndpointError::Certificates`], [`EndpointError::System`] where there is no thread or
    /// no UDP socket.
    pub fn connect(config: EndpointConfig) -> Result<Self, EndpointError> {
        let (watch, idle) = (config.watch.as_micros(), config.idle.as_micros());
        for (setting, found, is_within, expected) in [
            ("watch_us", watch, (1000..=100_000).contains(&watch), "1000 to 100000 microseconds"),
            ("idle_us", idle, idle <= 10_000_000, "at most 10000000 microseconds"),
        ] {
            if !is_within {
                return Err(EndpointError::Time { setting, found, expected });
            }
        }
        let (sockets, attached) = channel();
        let status = Arc::new(Mutex::new(EndpointStatus::default()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (watch, agent) = (config.watch, Agent::new(&config, attached, status.clone()));
        let connector = {
            let _inside = runtime.enter();
            connection::Connector::new(&config)?
        };
        let body = move || runtime.block_on(connection::run(connector, agent, watch));
        let thread = std::thread::Builder::new().name("netnum endpoint".into()).spawn(body)?;
        Ok(Self { sockets: Some(sockets), status, thread: Some(thread), process: std::process::id() })
    }

    /// Watches a TCP socket that is connected, until it is closed: its flowlets are reported with this weight and
    /// destination (the peer's address, where none is given, or else the one that the allocator's hosts have), and
    /// paced. A socket that is attached again has another weight and destination from then on.
    ///
    /// The endpoint keeps no duplicate of the socket, and leaves alone what has its descriptor afterwards. Of a socket
    /// with duplicates, attach the descriptor that is closed last.
    ///
    /// # Errors
    /// [`EndpointError::Address`] for IPv6, [`EndpointError::Weight`], [`EndpointError::System`] for what is not a
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
        let socket = Watched::new(socket)?;
        socket.look()?;
        let [source, peer] = match socket.addresses()? {
            [SocketAddr::V4(own), SocketAddr::V4(peer)] => [own, peer],
            [own, _] => return Err(EndpointError::Address(own)),
        };
        let attached = Attached { socket, source, destination: destination.unwrap_or(peer), weight };
        self.sockets.as_ref().and_then(|sockets| sockets.send(attached).ok()).ok_or(EndpointError::Stopped)
    }

    /// What it is doing.
    pub fn status(&self) -> EndpointStatus {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // A process that was forked has no such thread: it would be waited for without end.
        if self.process != std::process::id() {
            return std::mem::forget((self.sockets.take(), self.thread.take()));
        }
        // The agent ends when nobody can attach any more.
        self.sockets = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
