//! Connections of endpoints: who they are, and what they send.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quinn::{ConnectionError, TransportErrorCode};
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use super::ticker::{Message, Sender};
use crate::allocator::Hosts;
use crate::seldom::Seldom;
use crate::tls;

/// Why a connection is closed whose certificate names none of the hosts.
pub(crate) const UNKNOWN: (u8, &[u8]) = (1, b"no host has the name of this certificate");

pub(super) struct Listener {
    endpoint: quinn::Endpoint,
    shared: Arc<Shared>,
}

struct Shared {
    /// The number of an endpoint by the name in its certificate.
    numbers: FxHashMap<String, usize>,
    messages: SyncSender<Message>,
    hosts: Hosts,
    /// Endpoints that come from elsewhere, by their number.
    strays: Mutex<Seldom<usize>>,
    /// Connections so far.
    connections: AtomicU64,
    refused: Arc<AtomicU64>,
    /// Those that are logged, by address and reason.
    refusals: Mutex<Seldom<(IpAddr, String)>>,
}

impl Listener {
    pub(super) fn bind(
        config: quinn::ServerConfig,
        address: SocketAddr,
        hosts: Hosts,
        messages: SyncSender<Message>,
    ) -> std::io::Result<Self> {
        let endpoint = quinn::Endpoint::server(config, address)?;
        let numbers = hosts.all().iter().map(|host| host.name.clone()).zip(0..).collect();
        let (connections, refused) = (AtomicU64::new(0), Arc::default());
        let (strays, refusals) = Default::default();
        let shared = Shared { numbers, hosts, strays, messages, connections, refused, refusals };
        Ok(Self { endpoint, shared: Arc::new(shared) })
    }

    /// How many handshakes it has refused.
    pub(super) fn refused(&self) -> Arc<AtomicU64> {
        self.shared.refused.clone()
    }

    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Until it is told to stop.
    pub(super) async fn serve(self, mut stop: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                _ = &mut stop => break,
                incoming = self.endpoint.accept() => match incoming {
                    Some(incoming) => drop(tokio::spawn(self.shared.clone().welcome(incoming))),
                    None => break,
                },
            }
        }
        self.endpoint.close(0_u8.into(), b"the allocator stops");
        // So that endpoints hear of it; those that do not find out after a lifetime.
        let _ = tokio::time::timeout(Duration::from_millis(200), self.endpoint.wait_idle()).await;
    }
}

impl Shared {
    async fn welcome(self: Arc<Self>, incoming: quinn::Incoming) {
        let from = incoming.remote_address();
        let connection = match incoming.await {
            Ok(connection) => connection,
            Err(error) if is_abandoned(&error) => return tracing::debug!(%from, %error, "abandoned"),
            Err(error) => return self.refuse(from, kind(&error), &error.to_string()),
        };
        let names = tls::names(&connection);
        let Some(&endpoint) = names.iter().find_map(|name| self.numbers.get(&name.to_ascii_lowercase())) else {
            let why = format!("its certificate names {names:?}, and none of the hosts");
            self.refuse(from, why.clone(), &why);
            return connection.close(UNKNOWN.0.into(), UNKNOWN.1);
        };
        let sender = Sender { endpoint, connection: self.connections.fetch_add(1, Ordering::Relaxed) + 1 };
        // This thread has all connections, and waits for none.
        if self.messages.try_send(Message::Connected(sender, connection.clone())).is_err() {
            return connection.close(3_u8.into(), b"the allocator is busy");
        }
        tracing::info!(name = names.join(" "), %from, "connected");
        self.compare(endpoint, from.ip());
        while let Ok(bytes) = connection.read_datagram().await {
            match self.messages.try_send(Message::Datagram(sender, bytes)) {
                // A datagram that finds no room is lost.
                Ok(()) | Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
    }

    /// Warns of an endpoint that comes from where its host is not: its flowlets take the paths of another node.
    fn compare(&self, endpoint: usize, from: IpAddr) {
        let host = &self.hosts.all()[endpoint];
        let is_at_its_node = match from.to_canonical() {
            IpAddr::V4(address) => self.hosts.node_of(address) == Some(host.node),
            IpAddr::V6(_) => false,
        };
        let mut strays = self.strays.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_at_its_node && strays.is_logged(endpoint, Instant::now()) {
            tracing::warn!(name = host.name, %from, "hosts has this address not at the node of this name");
        }
    }

    fn refuse(&self, from: SocketAddr, kind: String, why: &str) {
        let count = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.is_logged((from.ip(), kind), Instant::now()) {
            tracing::warn!(%from, why, count, "refused");
        }
    }
}

/// What handshakes that fail alike have in common. Code and words of the other side may be other ones every time.
fn kind(error: &ConnectionError) -> String {
    match error {
        ConnectionError::ConnectionClosed(_) => "closed by the other side".into(),
        error => error.to_string(),
    }
}

/// Whether the other side has left in the middle of a handshake, for no fault of a certificate.
fn is_abandoned(error: &ConnectionError) -> bool {
    match error {
        ConnectionError::TimedOut | ConnectionError::Reset | ConnectionError::ApplicationClosed(_) => true,
        // So says QUIC where an application closes a connection that is not made yet.
        ConnectionError::ConnectionClosed(close) => close.error_code == TransportErrorCode::APPLICATION_ERROR,
        _ => false,
    }
}
