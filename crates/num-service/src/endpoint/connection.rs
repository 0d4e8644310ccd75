//! The way to the allocator, which is looked for again whenever it is lost.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use quinn::{ClientConfig, Connection, ConnectionError, Endpoint};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::watcher::{Sockets, Watcher};
use super::{EndpointConfig, EndpointError};
use crate::daemon::REPLACED;

/// For how long one handshake is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// Between two of them, doubled from the shortest to the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(400)];
/// After another process has taken the name of this one, which it would lose again if it were asked for at once.
const REPLACED_PAUSE: Duration = Duration::from_secs(10);
/// An allocator that is silent for longer is taken for gone, or for a lifetime where that is longer.
const SILENCE: Duration = Duration::from_millis(200);
/// A connection without any packet ends.
const IDLE: Duration = Duration::from_secs(10);

pub(super) struct Connector {
    endpoint: Endpoint,
    config: ClientConfig,
    address: SocketAddr,
    name: String,
    pause: Duration,
}

type Attempt = JoinHandle<Result<Connection, String>>;

impl Connector {
    pub(super) fn new(config: &EndpointConfig) -> Result<Self, EndpointError> {
        let endpoint = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
        let client = config.tls.client(IDLE)?;
        Ok(Self { endpoint, config: client, address: config.allocator, name: config.name.clone(), pause: PAUSES[0] })
    }

    /// A handshake, after a pause.
    fn attempt(&mut self) -> Attempt {
        let (endpoint, config, address) = (self.endpoint.clone(), self.config.clone(), self.address);
        let (name, pause) = (self.name.clone(), self.pause);
        self.pause = (2 * pause).min(PAUSES[1]);
        tokio::spawn(async move {
            sleep(pause).await;
            let connecting = endpoint.connect_with(config, address, &name).map_err(|error| error.to_string())?;
            match timeout(PATIENCE, connecting).await {
                Ok(connected) => connected.map_err(|error| error.to_string()),
                Err(_) => Err("no answer".to_string()),
            }
        })
    }
}

/// Until the endpoint ends, with what ends it. It looks at its flows once in each period.
pub(super) async fn run<S: Sockets>(
    mut connector: Connector,
    mut watcher: Watcher<S>,
    period: Duration,
) -> io::Result<()> {
    let mut looks = interval(period);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connection: Option<Connection> = None;
    let mut attempt: Option<Attempt> = Some(connector.attempt());
    let mut was_silent = false;
    let ended = loop {
        let wait = watcher.wait(connection.is_some());
        tokio::select! {
            _ = looks.tick() => {
                // Between two looks what has come is read, for which there may have been no time before.
                let is_silent = connection.is_some() && watcher.silence() > SILENCE.max(watcher.lifetime());
                if is_silent && was_silent {
                    tracing::warn!("the allocator is silent");
                    connection = None;
                }
                was_silent = is_silent;
                match watcher.look() {
                    Ok(true) => {}
                    ended => break ended.map(|_| ()),
                }
            }
            () = sleep(wait) => watcher.pace(),
            datagram = read(connection.as_ref()) => match datagram {
                Ok(bytes) => {
                    connector.pause = PAUSES[0];
                    watcher.receive(&bytes);
                }
                Err(error) => {
                    tracing::warn!(%error, "the connection to the allocator is lost");
                    if is_replaced(&error) {
                        connector.pause = REPLACED_PAUSE;
                    }
                    connection = None;
                }
            },
            made = finished(attempt.as_mut()) => {
                attempt = None;
                match made {
                    Ok(made) => {
                        watcher.connected();
                        connection = Some(made);
                    }
                    Err(error) => tracing::debug!(error, "no connection to the allocator"),
                }
            }
        }
        if connection.is_none() && attempt.is_none() {
            attempt = Some(connector.attempt());
        }
        if let Some(connection) = &connection
            && let Some(datagram) = watcher.poll()
        {
            // What cannot be sent is lost, and its newest state is sent later.
            let _ = connection.send_datagram(datagram.into());
        }
    };
    // Limits are lifted before the connection is closed.
    drop(watcher);
    connector.endpoint.close(0_u8.into(), b"the endpoint stops");
    let _ = timeout(PATIENCE, connector.endpoint.wait_idle()).await;
    ended
}

fn is_replaced(error: &ConnectionError) -> bool {
    matches!(error, ConnectionError::ApplicationClosed(close) if close.error_code == REPLACED.0.into())
}

async fn read(connection: Option<&Connection>) -> Result<bytes::Bytes, ConnectionError> {
    match connection {
        Some(connection) => connection.read_datagram().await,
        None => std::future::pending().await,
    }
}

async fn finished(attempt: Option<&mut Attempt>) -> Result<Connection, String> {
    match attempt {
        Some(attempt) => attempt.await.unwrap_or_else(|error| Err(error.to_string())),
        None => std::future::pending().await,
    }
}
