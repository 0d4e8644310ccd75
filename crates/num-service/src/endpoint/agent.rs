//! All sockets of a process: looks at them, tells the protocol, and paces them.

use std::net::SocketAddrV4;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::detector::{Change, Detector};
use super::socket::{UNLIMITED, Watched};
use super::{Attached, EndpointConfig, EndpointStatus};
use crate::protocol::{EndpointProtocol, Flowlet, Short};

/// Bytes per second of a flowlet whose rate is 0, as its path has failed: TCP goes on asking whether it is back.
const SLOWEST: u64 = 12_500;
/// Headers of a segment on the wire: Ethernet 14, IPv4 20, TCP with timestamps 32. TCP paces what it carries without
/// them.
const HEADERS: f64 = 66.0;

pub(super) struct Agent {
    attached: Receiver<Attached>,
    sockets: Vec<Socket>,
    protocol: EndpointProtocol,
    started: Instant,
    heard_at: Duration,
    idle: Duration,
    rate_aware: bool,
    counts: EndpointStatus,
    status: Arc<Mutex<EndpointStatus>>,
}

struct Socket {
    watched: Watched,
    source: SocketAddrV4,
    destination: SocketAddrV4,
    weight: Short,
    detector: Detector,
    flowlet: Option<u32>,
    /// Bytes of a full segment, at the last look.
    segment: u32,
    /// Bytes per second.
    limit: u64,
}

impl Agent {
    pub(super) fn new(
        config: &EndpointConfig,
        attached: Receiver<Attached>,
        status: Arc<Mutex<EndpointStatus>>,
    ) -> Self {
        Self {
            attached,
            sockets: Vec::new(),
            protocol: EndpointProtocol::new(crate::random()),
            started: Instant::now(),
            heard_at: Duration::ZERO,
            idle: config.idle,
            rate_aware: config.rate_aware,
            counts: EndpointStatus::default(),
            status,
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// One look at every socket. False when nobody can attach any more: pacing is lifted then.
    pub(super) fn look(&mut self) -> bool {
        loop {
            match self.attached.try_recv() {
                Ok(attached) => self.attach(attached),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.sockets.iter_mut().for_each(Socket::lift);
                    return false;
                }
            }
        }
        let now = self.now();
        let (protocol, counts) = (&mut self.protocol, &mut self.counts);
        self.sockets.retain_mut(|socket| {
            let is_there = socket.look(protocol, now, counts);
            if !is_there {
                socket.end(protocol);
            }
            is_there
        });
        counts.is_led = protocol.is_led(now);
        counts.sockets = self.sockets.len();
        counts.flowlets = protocol.flowlets().count();
        counts.paced = self.sockets.iter().filter(|socket| socket.limit != UNLIMITED).count();
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = *counts;
        true
    }

    fn attach(&mut self, attached: Attached) {
        // One that is attached again begins anew.
        for mut socket in self.sockets.extract_if(.., |socket| socket.watched.is(attached.socket)) {
            socket.lift();
            socket.end(&mut self.protocol);
        }
        self.sockets.push(Socket::new(attached, self.idle, self.rate_aware));
    }

    /// Takes a datagram of the allocator.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        let (now, mut news) = (self.now(), Vec::new());
        match self.protocol.receive(bytes, now, &mut news) {
            Ok(()) => self.heard_at = now,
            Err(error) => tracing::debug!(%error, "refused"),
        }
        news.sort_unstable();
        for socket in &mut self.sockets {
            if socket.flowlet.is_some_and(|id| news.binary_search(&id).is_ok()) {
                // One that is gone is removed at the next look.
                let _ = socket.pace(&self.protocol, now, &mut self.counts);
            }
        }
    }

    /// The datagram that is due, if any.
    pub(super) fn poll(&mut self) -> Option<Vec<u8>> {
        let (now, mut out) = (self.now(), Vec::new());
        self.protocol.poll(now, &mut out).then_some(out)
    }

    /// For how long nothing is to be done but at looks: until a datagram is due, where there is a connection, or a
    /// rate expires.
    pub(super) fn wait(&self, is_connected: bool) -> Duration {
        let now = self.now();
        let due = is_connected.then(|| self.protocol.due_at());
        let next = self.protocol.expires_at(now).into_iter().chain(due).min();
        next.map_or(Duration::MAX, |next| next.saturating_sub(now))
    }

    /// A connection has been made, and is given time to speak.
    pub(super) fn connected(&mut self) {
        self.heard_at = self.now();
    }

    /// For how long the allocator has said nothing.
    pub(super) fn silence(&self) -> Duration {
        self.now() - self.heard_at
    }

    /// For how long a rate lives; 0 before the first session.
    pub(super) fn lifetime(&self) -> Duration {
        self.protocol.lifetime()
    }
}

impl Socket {
    fn new(attached: Attached, idle: Duration, rate_aware: bool) -> Self {
        let Attached { socket, source, destination, weight } = attached;
        Self {
            watched: socket,
            source,
            destination,
            // The smallest weight is 1/1024.
            weight: Short::floor(1024.0 * weight).max(Short::floor(1.0)).min(Short::floor(f64::MAX)),
            detector: Detector::new(idle, rate_aware),
            flowlet: None,
            segment: 0,
            limit: UNLIMITED,
        }
    }

    /// False where the socket is gone.
    fn look(&mut self, protocol: &mut EndpointProtocol, now: Duration, counts: &mut EndpointStatus) -> bool {
        let Ok(look) = self.watched.look() else { return false };
        self.segment = look.segment;
        match (self.detector.look(look, now), self.flowlet) {
            (Some(Change::Started), _) => {
                counts.started += 1;
                self.flowlet = Some(protocol.start(self.flowlet(f64::INFINITY)));
            }
            (Some(Change::Capped(cap)), Some(id)) => protocol.change(id, self.flowlet(cap)),
            (Some(Change::Ended), Some(id)) => {
                self.flowlet = None;
                protocol.end(id);
            }
            _ => {}
        }
        self.pace(protocol, now, counts).is_some()
    }

    fn flowlet(&self, cap: f64) -> Flowlet {
        Flowlet {
            destination: *self.destination.ip(),
            destination_port: self.destination.port(),
            source_port: self.source.port(),
            weight: self.weight,
            // The smallest cap is 1 bit/s: with none at all it would be no flowlet.
            cap: Short::floor(cap.max(1.0)),
        }
    }

    /// Paces by the rate of this moment. None where the socket is gone.
    fn pace(&mut self, protocol: &EndpointProtocol, now: Duration, counts: &mut EndpointStatus) -> Option<()> {
        let rate = self.flowlet.and_then(|id| protocol.rate(id, now));
        let limit = rate.map_or(UNLIMITED, |rate| {
            let segment = f64::from(self.segment);
            ((rate / 8.0 * segment / (segment + HEADERS)) as u64).max(SLOWEST)
        });
        if limit == self.limit {
            return Some(());
        }
        if rate.is_none() && self.flowlet.is_some() {
            counts.lapses += 1;
            tracing::warn!(to = %self.destination, "its rate has expired: TCP goes on alone");
        }
        self.watched.set_max_pacing_rate(limit).ok()?;
        self.limit = limit;
        Some(())
    }

    fn end(&mut self, protocol: &mut EndpointProtocol) {
        self.flowlet.take().into_iter().for_each(|id| protocol.end(id));
    }

    fn lift(&mut self) {
        if self.limit != UNLIMITED {
            let _ = self.watched.set_max_pacing_rate(UNLIMITED);
        }
    }
}
