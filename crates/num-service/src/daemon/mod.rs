//! The allocator as a process: a thread that ticks, and one that talks QUIC.
//!
//! ```text
//! QUIC, status page (tokio, one thread) ──messages──► ticker (one thread): FlowletAllocator
//!           ▲                                             │
//!           └──────────── datagrams ──────────────────────┘
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `config.rs` | the file of an operator |
//! | `ticker.rs` | the thread of the allocator |
//! | `listener.rs` | connections of endpoints |
//! | `status.rs` | metrics and the status page |

mod config;
mod listener;
mod status;
mod ticker;

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

pub use config::{BadConfig, Config};
#[cfg(target_os = "linux")]
pub(crate) use config::{address, read_toml};
use listener::Listener;
pub(crate) use listener::UNKNOWN;
pub(crate) use ticker::REPLACED;
use ticker::{Message, Ticker};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Messages that wait for the ticker. Datagrams beyond are dropped, as a network would.
const WAITING: usize = 65_536;

/// An allocator that runs.
#[derive(Debug)]
pub struct Daemon {
    address: SocketAddr,
    status_address: Option<SocketAddr>,
    /// The file of hosts, as it was.
    hosts: String,
    messages: SyncSender<Message>,
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Daemon {
    /// Starts an allocator: from the snapshot where there is one that fits, else empty.
    ///
    /// # Errors
    /// [`BadConfig`]: a file that is not there or wrong, an address that is taken.
    pub fn start(config: &Config) -> Result<Self, BadConfig> {
        let allocator = config.allocator()?;
        let server = config.tls.server(config.rates.lifetime * 4)?;
        let certificate = config.tls.seen_by_endpoints()?;
        tracing::info!("{certificate}");
        if let Some(why) = certificate.refused {
            tracing::warn!(why, "endpoints with the same authority refuse the certificate");
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (messages, received) = sync_channel(WAITING);
        let hosts = allocator.hosts().clone();
        let (listener, status) = runtime.block_on(async {
            let status = match config.status {
                Some(address) => Some(TcpListener::bind(address).await.map_err(cannot("status", address))?),
                None => None,
            };
            let listener = Listener::bind(server, config.listen, hosts, messages.clone());
            Ok::<_, BadConfig>((listener.map_err(cannot("listen", config.listen))?, status))
        })?;
        let address = listener.address()?;
        let status_address = status.as_ref().map(TcpListener::local_addr).transpose()?;
        let refused = listener.refused();
        let (stop, stopped) = oneshot::channel();
        let ticker = Ticker::new(allocator, config.rates.tick, config.snapshot.clone());
        let of_status = messages.clone();
        let hosts = config.hosts_text()?;
        let threads = vec![
            named("netnum ticker", move || run_ticker(ticker, &received))?,
            named("netnum QUIC", move || {
                runtime.block_on(async {
                    if let Some(status) = status {
                        tokio::spawn(status::serve(status, of_status, refused, status::PATIENCE));
                    }
                    listener.serve(stopped).await;
                });
            })?,
        ];
        Ok(Self { address, status_address, hosts, messages, stop: Some(stop), threads })
    }

    /// Where it listens to endpoints.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where its status page is, if it has one.
    pub fn status_address(&self) -> Option<SocketAddr> {
        self.status_address
    }

    /// Reads the network again: links that have failed, returned, or have another capacity.
    ///
    /// # Errors
    /// [`BadConfig`] for a file that is not there or wrong, or a network of other nodes or links; the old one stays.
    pub fn reload(&self, config: &Config) -> Result<(), BadConfig> {
        let (answer, answered) = sync_channel(1);
        let _ = self.messages.send(Message::Network(Box::new(config.network()?), answer));
        match answered.recv() {
            Ok(taken) => taken.map_err(|error| BadConfig::file(&config.network, error)),
            Err(_) => Err(BadConfig::file(&config.network, "the allocator has stopped")),
        }
    }

    /// Whether the file of hosts is not the one that it started with. A reload does not take it.
    pub fn has_other_hosts(&self, config: &Config) -> bool {
        config.hosts_text().is_ok_and(|text| text != self.hosts)
    }

    /// Whether the allocator still ticks. It does until it is stopped, or an error has ended it, which is logged.
    pub fn is_running(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// Stops: writes the snapshot where one is wanted, and closes all connections.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.messages.send(Message::Stop);
        self.stop.take().map(|stop| stop.send(()));
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

/// An address at which this machine does not let it listen.
fn cannot(setting: &str, address: SocketAddr) -> impl FnOnce(std::io::Error) -> BadConfig {
    move |error| BadConfig::setting(setting, address, error)
}

fn run_ticker(ticker: Ticker, received: &Receiver<Message>) {
    if let Err(error) = ticker.run(received) {
        tracing::error!(%error, "the allocator stops");
    }
}

fn named(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(body)
}
