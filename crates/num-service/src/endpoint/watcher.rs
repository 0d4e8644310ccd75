//! All flows of an endpoint: looks at them, tells the protocol, and limits them.

use std::io;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::EndpointStatus;
use super::detector::{Change, Detector};
use super::socket::{Look, UNLIMITED};
use crate::protocol::{EndpointProtocol, Flowlet, Short};

/// Bytes per second of a flowlet whose rate is 0, as its path has failed: TCP goes on asking whether it is back.
const SLOWEST: u64 = 12_500;

/// Where the flows of an endpoint are, and how they are limited.
pub(super) trait Sockets {
    /// Whom a flow belongs to.
    type Socket: Copy + Eq;

    /// Adds flows that are new. False when the endpoint is to end.
    ///
    /// # Errors
    /// What ends the endpoint.
    fn find(&mut self, found: &mut Vec<Attached<Self::Socket>>) -> io::Result<bool>;

    /// The socket as it is; none where it is gone.
    fn look(&self, socket: Self::Socket) -> Option<Look>;

    /// The limit, in bytes per second, of a flow with such a rate in bits per second, whose full segments have so many
    /// bytes without headers.
    fn limit_of(rate: f64, segment: u32) -> f64;

    /// Sets the limit of a socket; [`UNLIMITED`] lifts it. False where the socket is gone.
    fn limit(&mut self, socket: Self::Socket, bytes_per_second: u64) -> bool;

    /// Has all limits that were set take effect.
    ///
    /// # Errors
    /// What ends the endpoint.
    fn finish(&mut self) -> io::Result<()>;
}

/// A flow that is to be watched.
pub(super) struct Attached<T> {
    pub(super) socket: T,
    pub(super) source: SocketAddrV4,
    pub(super) destination: SocketAddrV4,
    pub(super) weight: f64,
}

pub(super) struct Watcher<S: Sockets> {
    sockets: S,
    flows: Vec<Flow<S::Socket>>,
    protocol: EndpointProtocol,
    started: Instant,
    heard_at: Duration,
    idle: Duration,
    rate_aware: bool,
    counts: EndpointStatus,
    status: Arc<Mutex<EndpointStatus>>,
}

struct Flow<T> {
    socket: T,
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

impl<S: Sockets> Watcher<S> {
    pub(super) fn new(sockets: S, idle: Duration, rate_aware: bool, status: Arc<Mutex<EndpointStatus>>) -> Self {
        Self {
            sockets,
            flows: Vec::new(),
            protocol: EndpointProtocol::new(crate::random()),
            started: Instant::now(),
            heard_at: Duration::ZERO,
            idle,
            rate_aware,
            counts: EndpointStatus::default(),
            status,
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// One look at every flow. False when the endpoint is to end: all limits are lifted then.
    ///
    /// # Errors
    /// What ends the endpoint.
    pub(super) fn look(&mut self) -> io::Result<bool> {
        let mut found = Vec::new();
        if !self.sockets.find(&mut found)? {
            self.flows.iter().for_each(|flow| flow.lift(&mut self.sockets));
            return self.sockets.finish().map(|()| false);
        }
        found.into_iter().for_each(|attached| self.attach(attached));
        let now = self.now();
        let (sockets, protocol, counts) = (&mut self.sockets, &mut self.protocol, &mut self.counts);
        self.flows.retain_mut(|flow| {
            let is_there = flow.look(sockets, protocol, now, counts);
            if !is_there {
                flow.end(sockets, protocol);
            }
            is_there
        });
        counts.is_led = protocol.is_led(now);
        counts.sockets = self.flows.len();
        counts.flowlets = protocol.flowlets().count();
        counts.paced = self.flows.iter().filter(|flow| flow.limit != UNLIMITED).count();
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = *counts;
        self.sockets.finish().map(|()| true)
    }

    fn attach(&mut self, attached: Attached<S::Socket>) {
        // One that is attached again begins anew.
        for flow in self.flows.extract_if(.., |flow| flow.socket == attached.socket) {
            flow.end(&mut self.sockets, &mut self.protocol);
        }
        self.flows.push(Flow::new(attached, self.idle, self.rate_aware));
    }

    /// Takes a datagram of the allocator.
    ///
    /// # Errors
    /// What ends the endpoint.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (now, mut news) = (self.now(), Vec::new());
        match self.protocol.receive(bytes, now, &mut news) {
            Ok(()) => self.heard_at = now,
            Err(error) => tracing::debug!(%error, "refused"),
        }
        news.sort_unstable();
        for flow in &mut self.flows {
            if flow.flowlet.is_some_and(|id| news.binary_search(&id).is_ok()) {
                // One that is gone is removed at the next look.
                let _ = flow.pace(&mut self.sockets, &self.protocol, now, &mut self.counts);
            }
        }
        self.sockets.finish()
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

impl<T: Copy + Eq> Flow<T> {
    fn new(attached: Attached<T>, idle: Duration, rate_aware: bool) -> Self {
        let Attached { socket, source, destination, weight } = attached;
        Self {
            socket,
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
    fn look<S: Sockets<Socket = T>>(
        &mut self,
        sockets: &mut S,
        protocol: &mut EndpointProtocol,
        now: Duration,
        counts: &mut EndpointStatus,
    ) -> bool {
        let Some(look) = sockets.look(self.socket) else { return false };
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
        self.pace(sockets, protocol, now, counts)
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

    /// Limits the flow by its rate of this moment. False where the socket is gone.
    fn pace<S: Sockets<Socket = T>>(
        &mut self,
        sockets: &mut S,
        protocol: &EndpointProtocol,
        now: Duration,
        counts: &mut EndpointStatus,
    ) -> bool {
        let rate = self.flowlet.and_then(|id| protocol.rate(id, now));
        let limit = rate.map_or(UNLIMITED, |rate| (S::limit_of(rate, self.segment) as u64).max(SLOWEST));
        if limit == self.limit {
            return true;
        }
        if rate.is_none() && self.flowlet.is_some() {
            counts.lapses += 1;
            tracing::warn!(to = %self.destination, "its rate has expired: TCP goes on alone");
        }
        let is_there = sockets.limit(self.socket, limit);
        if is_there {
            self.limit = limit;
        }
        is_there
    }

    /// The flow is watched no longer.
    fn end<S: Sockets<Socket = T>>(&self, sockets: &mut S, protocol: &mut EndpointProtocol) {
        self.lift(sockets);
        self.flowlet.into_iter().for_each(|id| protocol.end(id));
    }

    fn lift<S: Sockets<Socket = T>>(&self, sockets: &mut S) {
        if self.limit != UNLIMITED {
            sockets.limit(self.socket, UNLIMITED);
        }
    }
}
