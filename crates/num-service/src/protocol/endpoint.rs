//! The endpoint's side: tells which flowlets there are, and knows their rates until these expire.

use std::collections::VecDeque;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::channel::Channel;
use super::datagram::{self, Damaged, Datagram, END, Flowlet, HEADER, Head, MAX_DATAGRAM, START};
use super::outbox::Outbox;
use super::{Random, Short};

/// Between two hellos that have no answer.
const HELLO: Duration = Duration::from_millis(50);
/// No allocator has shorter lifetimes.
const SHORTEST: Duration = Duration::from_millis(1);
/// An endpoint asks for an answer so often in a lifetime, to renew its rates.
const RENEWALS: u32 = 4;
/// So many datagrams are remembered with the times at which they were sent.
const REMEMBERED: usize = 1024;

/// The endpoint's side of the protocol, with its flowlets.
///
/// The caller passes on what arrives ([`receive`](Self::receive)), and asks for a datagram
/// ([`poll`](Self::poll)) after every change and at [`due_at`](Self::due_at).
pub struct EndpointProtocol {
    random: Random,
    session: u32,
    /// Of a session that the allocator knows.
    channel: Option<Channel>,
    hello_at: Duration,
    lifetime: Duration,
    /// Until when all rates of this session hold.
    lease: Duration,
    /// A lifetime after the newest report that the allocator is known to have.
    led_until: Duration,
    sent_at: VecDeque<(u64, Duration)>,
    flowlets: FxHashMap<u32, Known>,
    outbox: Outbox<Report>,
    next_id: u32,
}

#[derive(Debug)]
struct Known {
    flowlet: Flowlet,
    rate: Option<Short>,
    /// Until when the rate holds by itself.
    expires: Duration,
    /// Whether the rate is of this session, so that its lease renews it.
    is_leased: bool,
}

impl Known {
    fn new(flowlet: Flowlet) -> Self {
        Self { flowlet, rate: None, expires: Duration::ZERO, is_leased: false }
    }

    /// Until when the rate holds, for such a lease.
    fn expires(&self, lease: Duration) -> Duration {
        if self.is_leased { self.expires.max(lease) } else { self.expires }
    }
}

#[derive(Debug, Clone, Copy)]
enum Report {
    Start(Flowlet),
    End,
}

fn size(report: &Report) -> usize {
    match report {
        Report::Start(_) => START,
        Report::End => END,
    }
}

impl EndpointProtocol {
    /// An endpoint without flowlets, which says hello as soon as it is asked for a datagram.
    pub fn new(mut random: Random) -> Self {
        Self {
            session: random(),
            random,
            channel: None,
            hello_at: Duration::ZERO,
            lifetime: Duration::ZERO,
            lease: Duration::ZERO,
            led_until: Duration::ZERO,
            sent_at: VecDeque::new(),
            flowlets: FxHashMap::default(),
            outbox: Outbox::new(),
            next_id: 0,
        }
    }

    /// A flowlet has started. Returns its id, which no other of this endpoint has before its end is known.
    pub fn start(&mut self, flowlet: Flowlet) -> u32 {
        while self.flowlets.contains_key(&self.next_id) || self.outbox.has(self.next_id) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.flowlets.insert(id, Known::new(flowlet));
        self.outbox.tell(id, Report::Start(flowlet));
        id
    }

    /// A flowlet has another cap or weight; with other ends it is another one, without a rate.
    pub fn change(&mut self, id: u32, flowlet: Flowlet) {
        if let Some(known) = self.flowlets.get_mut(&id).filter(|known| known.flowlet != flowlet) {
            if known.flowlet.has_ends_of(&flowlet) {
                known.flowlet = flowlet;
            } else {
                *known = Known::new(flowlet);
            }
            self.outbox.tell(id, Report::Start(flowlet));
        }
    }

    /// A flowlet has ended.
    pub fn end(&mut self, id: u32) {
        if self.flowlets.remove(&id).is_none() {
            return;
        }
        self.outbox.tell(id, Report::End);
    }

    /// The flowlets, by id.
    pub fn flowlets(&self) -> impl Iterator<Item = (u32, Flowlet)> {
        self.flowlets.iter().map(|(&id, known)| (id, known.flowlet))
    }

    /// The rate of a flowlet, in bits per second: none before the first, and none after its lifetime; ∞ where the
    /// allocator leaves it to TCP alone.
    pub fn rate(&self, id: u32, now: Duration) -> Option<f64> {
        let known = self.flowlets.get(&id)?;
        let rate = known.rate.filter(|_| now < known.expires(self.lease))?;
        Some(rate.value())
    }

    /// When the next rate expires, unless the allocator renews it; none where no rate holds. O(flowlets).
    pub fn expires_at(&self, now: Duration) -> Option<Duration> {
        let all = self.flowlets.values().filter(|known| known.rate.is_some()).map(|known| known.expires(self.lease));
        all.filter(|&expires| now < expires).min()
    }

    /// When all rates of this session expire, but those that were told since, unless the allocator renews them.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// Whether the allocator has heard of this endpoint within a lifetime, so that it leads its flowlets.
    pub fn is_led(&self, now: Duration) -> bool {
        now < self.led_until
    }

    /// For how long a rate holds that is not renewed; 0 before the first session.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// States that the allocator has not acknowledged.
    pub fn pending(&self) -> usize {
        self.outbox.len()
    }

    /// Begins another session, in which all flowlets are told again. Rates of this one hold until they expire.
    pub fn renew(&mut self) {
        let old = self.session;
        while self.session == old {
            self.session = (self.random)();
        }
        for known in self.flowlets.values_mut() {
            (known.expires, known.is_leased) = (known.expires(self.lease), false);
        }
        (self.channel, self.hello_at, self.lease) = (None, Duration::ZERO, Duration::ZERO);
        self.sent_at.clear();
        self.outbox.clear();
        // In order, so that equal endpoints send equal datagrams.
        let mut flowlets: Vec<_> = self.flowlets().collect();
        flowlets.sort_unstable_by_key(|&(id, _)| id);
        for (id, flowlet) in flowlets {
            self.outbox.tell(id, Report::Start(flowlet));
        }
    }

    /// Takes what has arrived. Adds the ids of flowlets whose rates are new.
    ///
    /// # Errors
    /// [`Damaged`]; nothing has changed then.
    pub fn receive(&mut self, bytes: &[u8], now: Duration, news: &mut Vec<u32>) -> Result<(), Damaged> {
        let own = self.channel.as_ref().map(|channel| channel.id);
        match Datagram::read(bytes)? {
            Datagram::Welcome { id, lifetime } => {
                if id.session == self.session && own.is_none() {
                    self.lifetime = lifetime.max(SHORTEST);
                    let channel = self.channel.insert(Channel::new(id, now, self.lifetime));
                    // The allocator waits for the first report to end what an earlier session had.
                    channel.owes = true;
                }
            }
            Datagram::Reset { id } if own == Some(id) => self.renew(),
            Datagram::Reset { .. } => {}
            Datagram::Rates { head, rates } => return self.take(&head, rates, news),
            other => return Err(Damaged::Kind(other.kind())),
        }
        Ok(())
    }

    fn take(&mut self, head: &Head, rates: &[[u8; datagram::RATE]], news: &mut Vec<u32>) -> Result<(), Damaged> {
        let Some(channel) = self.channel.as_mut().filter(|channel| channel.id == head.id) else { return Ok(()) };
        if !channel.accept(head)? {
            return Ok(());
        }
        self.outbox.settle(head.ack);
        while self.sent_at.front().is_some_and(|&(sequence, _)| sequence < head.ack) {
            self.sent_at.pop_front();
        }
        // A rate is newer than the report that comes with it, and than the one before. So it holds for as long as that.
        let sent_at = self.sent_at.front().filter(|sent| sent.0 == head.ack).map(|&(_, sent_at)| sent_at);
        let expires = sent_at.map_or(Duration::ZERO, |sent_at| sent_at + self.lifetime);
        for (id, rate) in rates.iter().map(datagram::read_rate) {
            if let Some(known) = self.flowlets.get_mut(&id) {
                (known.rate, known.expires, known.is_leased) = (Some(rate), known.expires.max(expires), true);
                news.push(id);
            }
        }
        self.led_until = self.led_until.max(expires);
        if head.left == 0 {
            self.lease = self.lease.max(expires);
        }
        Ok(())
    }

    /// The datagram that is due now, if any.
    pub fn poll(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        let room = MAX_DATAGRAM - HEADER;
        let due_at = self.due_at();
        let Some(channel) = &mut self.channel else {
            if now < due_at {
                return false;
            }
            self.hello_at = now + HELLO;
            datagram::write_hello(out, self.session);
            return true;
        };
        if now < due_at {
            return false;
        }
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let left = self.outbox.carry(channel.next(), room, size, |id, report| match report {
            Report::Start(flowlet) => starts.push((id, flowlet)),
            Report::End => ends.push(id),
        });
        let renews = channel.sent == 0 || now >= channel.due_at(self.lifetime / RENEWALS);
        let head = channel.send(now, renews || !self.outbox.is_empty(), left);
        if self.sent_at.len() == REMEMBERED {
            self.sent_at.pop_front();
        }
        self.sent_at.push_back((head.sequence, now));
        datagram::write_report(out, head, &starts, &ends);
        true
    }

    /// When [`poll`](Self::poll) has a datagram, unless something changes before; in the past where it has one now.
    pub fn due_at(&self) -> Duration {
        let Some(channel) = &self.channel else { return self.hello_at };
        if channel.owes || self.outbox.has_news(MAX_DATAGRAM - HEADER, size) {
            return Duration::ZERO;
        }
        let renewal = channel.due_at(self.lifetime / RENEWALS);
        if self.outbox.is_empty() { renewal } else { renewal.min(channel.resend_at()) }
    }
}
