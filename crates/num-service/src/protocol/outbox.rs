//! States that the other side has not acknowledged yet.
//!
//! One state per flowlet, in the order in which they were told. A datagram carries the front of the queue, as much as
//! fits, and a state in the front stays there until it is acknowledged: every datagram from `since` on has carried it.
//! So an acknowledgement of datagram n settles every state with since ≤ n, whichever datagrams before n were lost. A
//! newer state replaces the older one and begins anew.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(super) struct Outbox<S> {
    queue: BTreeMap<u64, u32>,
    states: FxHashMap<u32, Pending<S>>,
    next_place: u64,
    /// Places before this one are in every datagram until they are acknowledged.
    front: u64,
}

#[derive(Debug)]
struct Pending<S> {
    state: S,
    place: u64,
    /// The first datagram that carried it; none before that.
    since: Option<u64>,
}

impl<S: Copy> Outbox<S> {
    pub(super) fn new() -> Self {
        Self { queue: BTreeMap::new(), states: FxHashMap::default(), next_place: 0, front: 0 }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The newest state of a flowlet, instead of any before: in the place of one that still waits, else at the end, so
    /// that flowlets with news in every datagram leave room for others.
    pub(super) fn tell(&mut self, id: u32, state: S) {
        let waiting = self.states.get(&id).filter(|pending| pending.since.is_none()).map(|pending| pending.place);
        let place = waiting.unwrap_or(self.next_place);
        self.withdraw(id);
        self.next_place = self.next_place.max(place + 1);
        self.queue.insert(place, id);
        self.states.insert(id, Pending { state, place, since: None });
    }

    /// Nothing is to be said of this flowlet any more.
    pub(super) fn withdraw(&mut self, id: u32) {
        if let Some(pending) = self.states.remove(&id) {
            self.queue.remove(&pending.place);
        }
    }

    /// Whether there is anything to be said of a flowlet.
    pub(super) fn has(&self, id: u32) -> bool {
        self.states.contains_key(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is a state that no datagram has carried, and room for it: a front that is full waits for its
    /// acknowledgement.
    pub(super) fn has_news(&self, room: usize, size: impl Fn(&S) -> usize) -> bool {
        let mut used = 0;
        for id in self.queue.values() {
            let pending = &self.states[id];
            used += size(&pending.state);
            if used > room {
                return false;
            }
            if pending.since.is_none() {
                return true;
            }
        }
        false
    }

    /// The other side has this datagram, and what it carried.
    pub(super) fn settle(&mut self, ack: u64) {
        let settled = |id: &u32| self.states[id].since.is_some_and(|since| since <= ack);
        let places: Vec<(u64, u32)> =
            self.queue.range(..self.front).map(|(&place, &id)| (place, id)).filter(|(_, id)| settled(id)).collect();
        for (place, id) in places {
            self.queue.remove(&place);
            self.states.remove(&id);
        }
    }

    /// Takes the front of the queue into a datagram of this number, up to so many bytes. Returns how many states are
    /// left.
    pub(super) fn carry(
        &mut self,
        sequence: u64,
        room: usize,
        size: impl Fn(&S) -> usize,
        mut write: impl FnMut(u32, S),
    ) -> usize {
        let (mut used, mut carried) = (0, 0);
        for (&place, &id) in &self.queue {
            let pending = self.states.get_mut(&id).expect("a queued flowlet has a state");
            used += size(&pending.state);
            if used > room {
                break;
            }
            pending.since.get_or_insert(sequence);
            write(id, pending.state);
            self.front = self.front.max(place + 1);
            carried += 1;
        }
        self.queue.len() - carried
    }
}
