//! One direction of a session and its way back: sequence numbers, acknowledgements, and when a datagram is due.

use std::time::Duration;

use super::datagram::{Damaged, Head, Session};

/// Of a rate's lifetime, after which what is not acknowledged is sent again.
const RESEND: u32 = 16;

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: Session,
    /// The last datagram sent, and when.
    pub(super) sent: u64,
    sent_at: Duration,
    /// The newest one received.
    received: u64,
    /// The newest that the other side has received.
    acked: u64,
    /// The last one sent that wanted an answer, and when.
    asked: u64,
    asked_at: Duration,
    /// The other side wants an answer.
    pub(super) owes: bool,
    resend: Duration,
}

impl Channel {
    pub(super) fn new(id: Session, now: Duration, lifetime: Duration) -> Self {
        let resend = lifetime / RESEND;
        Self { id, sent: 0, sent_at: now, received: 0, acked: 0, asked: 0, asked_at: now, owes: false, resend }
    }

    /// Whether a datagram is news: newer than all before.
    ///
    /// # Errors
    /// [`Damaged::Ack`].
    pub(super) fn accept(&mut self, head: &Head) -> Result<bool, Damaged> {
        if head.ack > self.sent {
            return Err(Damaged::Ack { ack: head.ack, sent: self.sent });
        }
        if head.sequence <= self.received {
            return Ok(false);
        }
        self.received = head.sequence;
        self.acked = self.acked.max(head.ack);
        self.owes |= head.answer;
        Ok(true)
    }

    /// When a datagram is due that nothing new asks for: because what was asked has no answer, or to ask again after
    /// such a time.
    pub(super) fn due_at(&self, ask_every: Duration) -> Duration {
        if self.asked > self.acked { self.sent_at + self.resend } else { self.asked_at.saturating_add(ask_every) }
    }

    /// When the last datagram is taken for lost.
    pub(super) fn resend_at(&self) -> Duration {
        self.sent_at + self.resend
    }

    /// The number of the next datagram.
    pub(super) fn next(&self) -> u64 {
        self.sent + 1
    }

    /// The head of the next datagram, which counts as sent.
    pub(super) fn send(&mut self, now: Duration, answer: bool, left: usize) -> Head {
        self.sent += 1;
        self.sent_at = now;
        if answer && self.asked <= self.acked {
            (self.asked, self.asked_at) = (self.sent, now);
        }
        self.owes = false;
        let left = u16::try_from(left).unwrap_or(u16::MAX);
        Head { id: self.id, answer, left, sequence: self.sent, ack: self.received }
    }
}
