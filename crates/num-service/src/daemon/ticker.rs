//! The thread of the allocator: takes messages between ticks, and ticks on time.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use bytes::Bytes;
use netnum_core::{Error, Topology};
use tokio::sync::oneshot;

use super::status::Status;
use crate::allocator::FlowletAllocator;

pub(super) enum Message {
    /// An endpoint has a connection, which takes the place of any before.
    Connected(usize, quinn::Connection),
    Datagram(usize, Bytes),
    Network(Box<Topology>, SyncSender<Result<(), Error>>),
    Status(oneshot::Sender<Status>),
    Stop,
}

pub(super) struct Ticker {
    allocator: FlowletAllocator,
    period: Duration,
    snapshot: Option<PathBuf>,
    connections: Vec<Option<quinn::Connection>>,
    started: Instant,
    overruns: u64,
}

impl Ticker {
    pub(super) fn new(allocator: FlowletAllocator, period: Duration, snapshot: Option<PathBuf>) -> Self {
        let connections = vec![None; allocator.hosts().all().len()];
        Self { allocator, period, snapshot, connections, started: Instant::now(), overruns: 0 }
    }

    /// Until it is told to stop.
    pub(super) fn run(mut self, messages: &Receiver<Message>) -> Result<(), Error> {
        self.started = Instant::now();
        let mut next = self.started;
        loop {
            let now = Instant::now();
            if now >= next {
                self.tick(now)?;
                next += self.period;
                let done = Instant::now();
                if next < done {
                    self.overruns += 1;
                    next = done;
                }
            }
            match messages.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return self.write_snapshot(),
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn tick(&mut self, now: Instant) -> Result<(), Error> {
        let connections = &self.connections;
        self.allocator.tick(now - self.started, |endpoint, bytes| {
            if let Some(connection) = &connections[endpoint] {
                // What cannot be sent is lost, and its newest state is sent later.
                let _ = connection.send_datagram(Bytes::copy_from_slice(bytes));
            }
        })
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Connected(endpoint, connection) => self.connections[endpoint] = Some(connection),
            Message::Datagram(endpoint, bytes) => {
                let mut answer = Vec::new();
                let now = self.started.elapsed();
                if let Err(error) = self.allocator.receive(endpoint, &bytes, now, &mut answer) {
                    tracing::debug!(endpoint, %error, "refused");
                }
                if let Some(connection) = self.connections[endpoint].as_ref().filter(|_| !answer.is_empty()) {
                    let _ = connection.send_datagram(answer.into());
                }
            }
            Message::Network(net, answer) => {
                let _ = answer.send(self.allocator.set_network(*net));
            }
            Message::Status(answer) => {
                let _ = answer.send(Status::of(&self.allocator, self.overruns, self.started.elapsed()));
            }
            Message::Stop => {}
        }
    }

    /// Into a file beside it first, so that a snapshot is whole or not there.
    fn write_snapshot(&self) -> Result<(), Error> {
        let Some(file) = &self.snapshot else { return Ok(()) };
        let (text, beside) = (self.allocator.to_json()?, file.with_extension("new"));
        if let Err(error) = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, file)) {
            tracing::error!(file = %file.display(), %error, "no snapshot");
        }
        Ok(())
    }
}
