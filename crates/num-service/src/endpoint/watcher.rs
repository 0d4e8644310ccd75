//! All flows of an endpoint: looks at them, tells the protocol, and limits them.

use std::hash::Hash;
use std::io;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::EndpointStatus;
use super::detector::{Change, Detector};
use super::socket::{Look, UNLIMITED};
use crate::protocol::{EndpointProtocol, Flowlet, Short};

/// Bytes per second of a flowlet whose rate is 0, as its path has failed: TCP goes on asking whether it is back.
const SLOWEST: u64 = 12_500;

/// Where the flows of an endpoint are, and how they are limited.
pub(super) trait Sockets {
    /// Whom a flow belongs to.
    type Socket: Copy + Eq + Hash;

    /// Adds flows that are new. False when the endpoint is to end. Rates live for so long; 0 before the first session.
    ///
    /// # Errors
    /// What ends the endpoint.
    fn find(&mut self, found: &mut Vec<Attached<Self::Socket>>, lifetime: Duration) -> io::Result<bool>;

    /// The socket as it is; none where it is gone.
    fn look(&self, socket: Self::Socket) -> Option<Look>;

    /// The limit, in bytes per second, of a flow with such a rate in bits per second, whose full segments have so many
    /// bytes without headers.
    fn limit_of(rate: f64, segment: u32) -> f64;

    /// Sets the limit of a socket; [`UNLIMITED`] lifts it.
    fn limit(&mut self, socket: Self::Socket, bytes_per_second: u64) -> Limited;

    /// Has all limits that were set take effect.
    fn finish(&mut self);
}

/// What has become of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    /// It is set.
    Set,
    /// There is no room for it now: the flow stays as it is, and is tried again at the next look.
    Full,
    /// The socket is gone.
    Gone,
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
        if !self.sockets.find(&mut found, self.protocol.lifetime())? {
            self.flows.iter().for_each(|flow| flow.lift(&mut self.sockets));
            return Ok(false);
        }
        if !found.is_empty() {
            self.attach(found);
        }
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
        self.sockets.finish();
        Ok(true)
    }

    fn attach(&mut self, found: Vec<Attached<S::Socket>>) {
        // One that is attached again begins anew, and of one that was found twice the last is meant.
        let newest: FxHashMap<_, _> = found.into_iter().map(|attached| (attached.socket, attached)).collect();
        for flow in self.flows.extract_if(.., |flow| newest.contains_key(&flow.socket)) {
            flow.end(&mut self.sockets, &mut self.protocol);
        }
        self.flows.extend(newest.into_values().map(|attached| Flow::new(attached, self.idle, self.rate_aware)));
    }

    /// Lifts the limits of flows whose rates have expired.
    pub(super) fn pace(&mut self) {
        let now = self.now();
        for flow in &mut self.flows {
            // One that is gone is removed at the next look.
            let _ = flow.pace(&mut self.sockets, &self.protocol, now, &mut self.counts);
        }
        self.sockets.finish();
    }

    /// Takes a datagram of the allocator.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
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
        self.sockets.finish();
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

impl<T: Copy + Eq + Hash> Flow<T> {
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
        let limited = sockets.limit(self.socket, limit);
        if limited == Limited::Set {
            self.limit = limit;
        }
        limited != Limited::Gone
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
