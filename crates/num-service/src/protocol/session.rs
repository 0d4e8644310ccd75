//! The allocator's side of one endpoint: knows its flowlets, and tells their rates.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::channel::Channel;
use super::datagram::{self, Damaged, Datagram, END, Flowlet, HEADER, Head, MAX_DATAGRAM, RATE, START, Session};
use super::outbox::Outbox;
use super::{Random, Short};

/// Where datagrams leave rates out for longer than this part of a lifetime, all rates are told again.
const REFRESHES: u32 = 4;

/// What an endpoint has told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A flowlet has started.
    Start(u32, Flowlet),
    /// A flowlet has another weight or cap.
    Change(u32, Flowlet),
    /// A flowlet has ended.
    End(u32),
}

/// The allocator's side of the protocol for one endpoint. It outlives the endpoint's sessions.
pub struct EndpointSession {
    random: Random,
    lifetime: Duration,
    /// The most flowlets it may have; more are not told of.
    limit: usize,
    heard_at: Duration,
    channel: Option<Channel>,
    /// A session that the endpoint has not used yet.
    offered: Option<Session>,
    flowlets: FxHashMap<u32, Known>,
    /// Flowlets of an earlier session, which this one may not have.
    unconfirmed: usize,
    outbox: Outbox<Short>,
    /// When a datagram last left nothing out, or all rates began to be told again.
    whole_at: Duration,
}

#[derive(Debug)]
struct Known {
    flowlet: Flowlet,
    rate: Option<Short>,
    confirmed: bool,
}

impl EndpointSession {
    /// An endpoint that has not been heard of. Rates live so long, and it may have at most so many flowlets.
    pub fn new(lifetime: Duration, limit: usize, random: Random) -> Self {
        Self {
            random,
            lifetime,
            limit,
            heard_at: Duration::ZERO,
            channel: None,
            offered: None,
            flowlets: FxHashMap::default(),
            unconfirmed: 0,
            outbox: Outbox::new(),
            whole_at: Duration::ZERO,
        }
    }

    /// The flowlets and rates of an allocator that ran before: they are kept for a lifetime, in which the endpoint has
    /// to tell them again.
    pub fn restore(&mut self, flowlets: impl IntoIterator<Item = (u32, Flowlet, Short)>, now: Duration) {
        let known = |(id, flowlet, rate)| (id, Known { flowlet, rate: Some(rate), confirmed: false });
        self.flowlets = flowlets.into_iter().map(known).collect();
        (self.unconfirmed, self.heard_at) = (self.flowlets.len(), now);
    }

    /// Takes what has arrived. Adds what it says of flowlets to `events`, and writes the answer to a handshake, which
    /// is sent at once; empty for none.
    ///
    /// # Errors
    /// [`Damaged`]; nothing has changed then.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        now: Duration,
        events: &mut Vec<Event>,
        answer: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        answer.clear();
        match Datagram::read(bytes)? {
            Datagram::Hello { session } => {
                let id = self.session_for(session);
                datagram::write_welcome(answer, id, self.lifetime);
            }
            Datagram::Report { head, starts, ends } => {
                if self.offered == Some(head.id) {
                    if head.ack > 0 {
                        return Err(Damaged::Ack { ack: head.ack, sent: 0 });
                    }
                    self.begin(head.id, now);
                }
                match &mut self.channel {
                    Some(channel) if channel.id == head.id => {
                        if channel.accept(&head)? {
                            self.heard_at = now;
                            self.take(&head, starts, ends, events);
                        }
                    }
                    _ => datagram::write_reset(answer, head.id),
                }
            }
            other => return Err(Damaged::Kind(other.kind())),
        }
        Ok(())
    }

    /// The session of a hello: the current one, or an offer, which takes the place of any before.
    fn session_for(&mut self, session: u32) -> Session {
        let current = self.channel.as_ref().map(|channel| channel.id);
        if let Some(id) = [current, self.offered].into_iter().flatten().find(|id| id.session == session) {
            return id;
        }
        // 0 is a hello's.
        let id = Session { session, token: (self.random)().max(1) };
        self.offered = Some(id);
        id
    }

    fn begin(&mut self, id: Session, now: Duration) {
        (self.channel, self.offered) = (Some(Channel::new(id, now, self.lifetime)), None);
        self.outbox.clear();
        self.flowlets.values_mut().for_each(|known| known.confirmed = false);
        self.unconfirmed = self.flowlets.len();
    }

    fn take(&mut self, head: &Head, starts: &[[u8; START]], ends: &[[u8; END]], events: &mut Vec<Event>) {
        self.outbox.settle(head.ack);
        for (id, flowlet) in starts.iter().map(datagram::read_start) {
            self.start(id, flowlet, events);
        }
        for &end in ends {
            let id = u32::from_be_bytes(end);
            if let Some(known) = self.flowlets.remove(&id) {
                self.unconfirmed -= usize::from(!known.confirmed);
                self.outbox.withdraw(id);
                events.push(Event::End(id));
            }
        }
        if head.left == 0 && self.unconfirmed > 0 {
            self.flowlets.retain(|&id, known| {
                if !known.confirmed {
                    events.push(Event::End(id));
                }
                known.confirmed
            });
            self.unconfirmed = 0;
        }
    }

    fn start(&mut self, id: u32, flowlet: Flowlet, events: &mut Vec<Event>) {
        if let Some(known) = self.flowlets.get_mut(&id) {
            if !known.flowlet.has_ends_of(&flowlet) {
                // Another one, of the same number.
                known.rate = None;
                self.outbox.withdraw(id);
                events.extend([Event::End(id), Event::Start(id, flowlet)]);
            } else if known.flowlet != flowlet {
                events.push(Event::Change(id, flowlet));
            }
            known.flowlet = flowlet;
            if !known.confirmed {
                known.confirmed = true;
                self.unconfirmed -= 1;
                if let Some(rate) = known.rate {
                    self.outbox.tell(id, rate);
                }
            }
        } else if self.flowlets.len() < self.limit {
            self.flowlets.insert(id, Known { flowlet, rate: None, confirmed: true });
            events.push(Event::Start(id, flowlet));
        }
    }

    /// The rate of a flowlet, which is told until the endpoint has it; [`Short::INFINITE`] where it is TCP's alone. One
    /// that has ended is nobody's.
    pub fn tell(&mut self, id: u32, rate: Short) {
        if let Some(known) = self.flowlets.get_mut(&id).filter(|known| known.rate != Some(rate)) {
            known.rate = Some(rate);
            if known.confirmed {
                self.outbox.tell(id, rate);
            }
        }
    }

    /// The datagram that is due at this tick, if any: rates that are not acknowledged, or an answer.
    pub fn poll(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        let (room, size) = (MAX_DATAGRAM - HEADER, |_: &Short| RATE);
        if self.outbox.len() * RATE <= room {
            self.whole_at = now;
        } else if now >= self.whole_at + self.lifetime / REFRESHES {
            self.whole_at = now;
            self.tell_again();
        }
        let Some(channel) = &mut self.channel else { return false };
        let is_lost = !self.outbox.is_empty() && now >= channel.resend_at();
        if !(channel.owes || is_lost || self.outbox.has_news(room, size)) {
            return false;
        }
        let mut rates = Vec::new();
        let left = self.outbox.carry(channel.next(), room, size, |id, rate| rates.push((id, rate)));
        let head = channel.send(now, !rates.is_empty(), left);
        datagram::write_rates(out, head, &rates);
        true
    }

    /// Tells all rates that the endpoint has, behind those that it is to be told: datagrams that leave rates out renew
    /// those alone that they carry, and what does not move would expire.
    fn tell_again(&mut self) {
        for (&id, known) in &self.flowlets {
            if let Some(rate) = known.rate.filter(|_| known.confirmed && !self.outbox.has(id)) {
                self.outbox.tell(id, rate);
            }
        }
    }

    /// Ends the session and all flowlets of an endpoint that has not been heard of for a lifetime: it knows no rate any
    /// more.
    pub fn expire(&mut self, now: Duration, events: &mut Vec<Event>) {
        if now < self.heard_at + self.lifetime || (self.channel.is_none() && self.flowlets.is_empty()) {
            return;
        }
        events.extend(self.flowlets.drain().map(|(id, _)| Event::End(id)));
        (self.channel, self.unconfirmed) = (None, 0);
        self.outbox.clear();
    }

    /// The flowlets, with their rates where they have one.
    pub fn flowlets(&self) -> impl Iterator<Item = (u32, Flowlet, Option<Short>)> {
        self.flowlets.iter().map(|(&id, known)| (id, known.flowlet, known.rate))
    }

    /// Whether the endpoint has a session.
    pub fn is_connected(&self) -> bool {
        self.channel.is_some()
    }

    /// Rates that the endpoint has not acknowledged.
    pub fn pending(&self) -> usize {
        self.outbox.len()
    }
}
