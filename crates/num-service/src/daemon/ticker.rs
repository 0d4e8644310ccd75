//! The thread of the allocator: takes messages between ticks, and ticks on time.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use bytes::Bytes;
use netnum_core::{Error, Topology};
use tokio::sync::oneshot;

use super::WAITING;
use super::status::Status;
use crate::allocator::FlowletAllocator;
use crate::seldom::Seldom;

pub(super) enum Message {
    /// An endpoint has a connection, which takes the place of any before.
    Connected(Sender, quinn::Connection),
    Datagram(Sender, Bytes),
    Network(Box<Topology>, SyncSender<Result<(), Error>>),
    Status(oneshot::Sender<Status>),
    Stop,
}

/// Whose message it is: a connection of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) endpoint: usize,
    /// Connections are numbered in the order in which they were made.
    pub(super) connection: u64,
}

/// The connection of an endpoint, by its number; 0 before the first.
#[derive(Default)]
struct Link {
    number: u64,
    connection: Option<quinn::Connection>,
}

/// Why a connection is closed whose place another of the same name takes.
pub(crate) const REPLACED: (u8, &[u8]) = (2, b"another connection has the name of this certificate");

pub(super) struct Ticker {
    allocator: FlowletAllocator,
    period: Duration,
    snapshot: Option<PathBuf>,
    links: Vec<Link>,
    started: Instant,
    overruns: u64,
    replaced: u64,
    warnings: Seldom<()>,
}

impl Ticker {
    pub(super) fn new(allocator: FlowletAllocator, period: Duration, snapshot: Option<PathBuf>) -> Self {
        let links = allocator.hosts().all().iter().map(|_| Link::default()).collect();
        Self {
            allocator,
            period,
            snapshot,
            links,
            started: Instant::now(),
            overruns: 0,
            replaced: 0,
            warnings: Seldom::default(),
        }
    }

    /// Until it is told to stop.
    pub(super) fn run(mut self, messages: &Receiver<Message>) -> Result<(), Error> {
        self.started = Instant::now();
        let mut next = self.started;
        loop {
            match messages.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    if self.take(message, self.started.elapsed()).is_break() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() < next {
                continue;
            }
            if self.turn(messages, self.started.elapsed())?.is_break() {
                break;
            }
            next += self.period;
            let done = Instant::now();
            if next < done {
                self.overruns += 1;
                next = done;
            }
        }
        self.write_snapshot();
        Ok(())
    }

    /// Takes what waits, then ticks: an endpoint whose report waits is not silent, however late the tick is.
    fn turn(&mut self, messages: &Receiver<Message>, now: Duration) -> Result<ControlFlow<()>, Error> {
        // As many as the queue holds: those that come meanwhile may wait for the next tick.
        for message in messages.try_iter().take(WAITING) {
            if self.take(message, now).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let links = &self.links;
        self.allocator.tick(now, |endpoint, bytes| {
            if let Some(connection) = &links[endpoint].connection {
                // What cannot be sent is lost, and its newest state is sent later.
                let _ = connection.send_datagram(Bytes::copy_from_slice(bytes));
            }
        })?;
        if let Some((name, destination)) = self.allocator.take_unknown()
            && self.warnings.is_logged((), Instant::now())
        {
            tracing::warn!(name, %destination, "no host has the destination of a flowlet, which is TCP's alone");
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Breaks where it is told to stop.
    fn take(&mut self, message: Message, now: Duration) -> ControlFlow<()> {
        match message {
            Message::Connected(from, connection) => {
                let link = &mut self.links[from.endpoint];
                let old = link.connection.replace(connection);
                link.number = from.connection;
                if let Some(old) = old.filter(|old| old.close_reason().is_none()) {
                    self.replaced += 1;
                    let name = &self.allocator.hosts().all()[from.endpoint].name;
                    tracing::warn!(name, from = %old.remote_address(), "another connection has its name");
                    old.close(REPLACED.0.into(), REPLACED.1);
                }
            }
            Message::Datagram(from, bytes) => {
                let link = &self.links[from.endpoint];
                // What another connection of this name has sent before.
                if link.number != from.connection {
                    return ControlFlow::Continue(());
                }
                let mut answer = Vec::new();
                if let Err(error) = self.allocator.receive(from.endpoint, &bytes, now, &mut answer) {
                    tracing::debug!(from.endpoint, %error, "refused");
                }
                if let Some(connection) = link.connection.as_ref().filter(|_| !answer.is_empty()) {
                    let _ = connection.send_datagram(answer.into());
                }
            }
            Message::Network(net, answer) => {
                let _ = answer.send(self.allocator.set_network(*net));
            }
            Message::Status(answer) => {
                let status = Status::of(&self.allocator, self.overruns, self.replaced, self.started.elapsed());
                let _ = answer.send(status);
            }
            Message::Stop => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Into a file beside it first, so that a snapshot is whole or not there.
    fn write_snapshot(&self) {
        let Some(file) = &self.snapshot else { return };
        let (text, beside) = (self.allocator.to_json(), file.with_extension("new"));
        if let Err(error) = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, file)) {
            tracing::error!(file = %file.display(), %error, "no snapshot");
        } else {
            tracing::info!(file = %file.display(), flowlets = self.allocator.flowlets(), "the snapshot was written");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::allocator::{Hosts, RateSettings};
    use crate::protocol::EndpointProtocol;

    /// A ticker without connections, and an endpoint that has a session with its allocator at time 0.
    fn connected() -> (Ticker, EndpointProtocol) {
        let net = Topology::from_edges("a s 1e9\nb s 1e9").unwrap();
        let hosts = Hosts::read("10.0.0.1 a.test a\n10.0.0.2 b.test b\n", &net).unwrap();
        let mut allocator = FlowletAllocator::new(net, hosts, RateSettings::default(), crate::random).unwrap();
        let mut endpoint = EndpointProtocol::new(crate::random());
        for _ in 0..2 {
            let answer = receive(&mut allocator, &report(&mut endpoint, Duration::ZERO));
            if !answer.is_empty() {
                endpoint.receive(&answer, Duration::ZERO, &mut Vec::new()).unwrap();
            }
        }
        assert_eq!(allocator.connected(), 1);
        (Ticker::new(allocator, Duration::from_millis(1), None), endpoint)
    }

    fn receive(allocator: &mut FlowletAllocator, bytes: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        allocator.receive(0, bytes, Duration::ZERO, &mut answer).unwrap();
        answer
    }

    fn report(endpoint: &mut EndpointProtocol, now: Duration) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(endpoint.poll(now, &mut out));
        out
    }

    const LATE: Duration = Duration::from_millis(200);

    #[test]
    fn a_late_tick_takes_all_that_waits_before_it_takes_an_endpoint_for_silent() {
        let (mut ticker, mut endpoint) = connected();
        let (sender, messages) = sync_channel(WAITING);
        // Of another endpoint, and damaged.
        for _ in 0..1000 {
            sender.send(Message::Datagram(Sender { endpoint: 1, connection: 0 }, Bytes::from_static(&[0]))).unwrap();
        }
        let bytes = report(&mut endpoint, LATE).into();
        sender.send(Message::Datagram(Sender { endpoint: 0, connection: 0 }, bytes)).unwrap();
        assert!(ticker.turn(&messages, LATE).unwrap().is_continue());
        assert_eq!((ticker.allocator.connected(), ticker.allocator.counts().received), (1, 1003));
        // One that has said nothing is forgotten.
        assert!(ticker.turn(&messages, 2 * LATE).unwrap().is_continue());
        assert_eq!(ticker.allocator.connected(), 0);
    }

    #[test]
    fn a_stop_that_waits_ends_the_turn() {
        let (mut ticker, _) = connected();
        let (sender, messages) = sync_channel(1);
        sender.send(Message::Stop).unwrap();
        assert!(ticker.turn(&messages, LATE).unwrap().is_break());
    }

    #[test]
    fn datagrams_of_a_connection_that_was_replaced_are_ignored() {
        let (mut ticker, mut endpoint) = connected();
        ticker.links[0].number = 2;
        let bytes: Bytes = report(&mut endpoint, LATE).into();
        let received = |ticker: &mut Ticker, connection| {
            let from = Sender { endpoint: 0, connection };
            assert!(ticker.take(Message::Datagram(from, bytes.clone()), LATE).is_continue());
            ticker.allocator.counts().received
        };
        assert_eq!(received(&mut ticker, 1), 2);
        assert_eq!(received(&mut ticker, 2), 3);
    }
}
