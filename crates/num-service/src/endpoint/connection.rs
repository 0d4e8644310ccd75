//! The way to the allocator, which is looked for again whenever it is lost.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use quinn::{ClientConfig, Connection, ConnectionError, Endpoint};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::watcher::{Sockets, Watcher};
use super::{EndpointConfig, EndpointError};
use crate::daemon::{REPLACED, UNKNOWN};
use crate::seldom::Seldom;

/// For how long one handshake is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// Between two of them, doubled from the shortest to the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(400)];
/// The longest where the allocator refuses this endpoint, until somebody changes a file. After another process has
/// taken the name of this one it is waited for at once, as the name would be lost again.
const REFUSED_PAUSE: Duration = Duration::from_secs(10);
/// An allocator that is not reached for so long is told of. One that starts may take as long.
const UNREACHED: Duration = Duration::from_secs(1);
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
    longest_pause: Duration,
    reach: Reach,
}

type Attempt = JoinHandle<Result<Connection, String>>;

impl Connector {
    pub(super) fn new(config: &EndpointConfig) -> Result<Self, EndpointError> {
        let endpoint = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
        let client = config.tls.client(IDLE)?;
        let (address, name) = (config.allocator, config.name.clone());
        let [pause, longest_pause] = PAUSES;
        Ok(Self { endpoint, config: client, address, name, pause, longest_pause, reach: Reach::new(Instant::now()) })
    }

    /// A handshake, after a pause.
    fn attempt(&mut self) -> Attempt {
        let (endpoint, config, address) = (self.endpoint.clone(), self.config.clone(), self.address);
        let (name, pause) = (self.name.clone(), self.pause);
        self.pause = (2 * pause).min(self.longest_pause);
        tokio::spawn(async move {
            sleep(pause).await;
            let connecting = endpoint.connect_with(config, address, &name).map_err(|error| error.to_string())?;
            match timeout(PATIENCE, connecting).await {
                Ok(connected) => connected.map_err(|error| error.to_string()),
                Err(_) => Err("no answer".to_string()),
            }
        })
    }

    /// A datagram of the allocator has come: a handshake that ended well may be refused afterwards.
    fn has_reached(&mut self) {
        [self.pause, self.longest_pause] = PAUSES;
        if self.reach.succeeds() {
            tracing::info!(address = %self.address, "connected to the allocator");
        }
    }

    /// The connection has ended.
    fn has_lost(&mut self, error: &ConnectionError) {
        if is_closed(error, REPLACED) {
            self.pause = REFUSED_PAUSE;
        } else if is_closed(error, UNKNOWN) || matches!(error, ConnectionError::ConnectionClosed(_)) {
            self.longest_pause = REFUSED_PAUSE;
        }
        self.has_failed(&error.to_string());
    }

    fn has_failed(&mut self, why: &str) {
        match self.reach.fails(Instant::now()) {
            Some(Failure::Lost) => tracing::warn!(why, "the connection to the allocator is lost"),
            Some(Failure::NotReached) => tracing::warn!("has not reached the allocator {}: {why}", self.address),
            None => tracing::debug!(why, "no connection to the allocator"),
        }
    }
}

/// What the log says of the way to the allocator.
struct Reach {
    is_reached: bool,
    /// Since when it is not.
    since: Instant,
    warnings: Seldom<()>,
}

#[derive(Debug, PartialEq, Eq)]
enum Failure {
    Lost,
    NotReached,
}

impl Reach {
    fn new(now: Instant) -> Self {
        Self { is_reached: false, since: now, warnings: Seldom::default() }
    }

    /// Whether it is logged that it is reached.
    fn succeeds(&mut self) -> bool {
        !std::mem::replace(&mut self.is_reached, true)
    }

    /// What is logged, if anything.
    fn fails(&mut self, now: Instant) -> Option<Failure> {
        if std::mem::replace(&mut self.is_reached, false) {
            self.since = now;
            return Some(Failure::Lost);
        }
        let is_late = now.saturating_duration_since(self.since) >= UNREACHED;
        (is_late && self.warnings.is_logged((), now)).then_some(Failure::NotReached)
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
                    connector.has_failed("it is silent");
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
                    connector.has_reached();
                    watcher.receive(&bytes);
                }
                Err(error) => {
                    connector.has_lost(&error);
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
                    Err(error) => connector.has_failed(&error),
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

/// Whether the allocator has closed it, for such a reason.
fn is_closed(error: &ConnectionError, (code, _): (u8, &[u8])) -> bool {
    matches!(error, ConnectionError::ApplicationClosed(close) if close.error_code == code.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocator_that_is_not_reached_is_told_of_after_a_second_and_once_a_minute() {
        let began = Instant::now();
        let (mut reach, at) = (Reach::new(began), |millis| began + Duration::from_millis(millis));
        assert_eq!([0, 400, 999].map(|millis| reach.fails(at(millis))), [None, None, None]);
        assert_eq!([1000, 1400, 60_999].map(|millis| reach.fails(at(millis))), [Some(Failure::NotReached), None, None]);
        assert_eq!(reach.fails(at(61_000)), Some(Failure::NotReached));
        // Once for each connection.
        assert_eq!([reach.succeeds(), reach.succeeds()], [true, false]);
        assert_eq!([200_000, 200_999].map(|millis| reach.fails(at(millis))), [Some(Failure::Lost), None]);
        assert_eq!(reach.fails(at(201_000)), Some(Failure::NotReached));
        assert!(reach.succeeds());
    }
}
