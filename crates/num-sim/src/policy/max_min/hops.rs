//! The routes of flows, by slot, in one array: a loop over many flows reads few bytes.

/// A link on a flow's route.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hop {
    pub(super) link: u32,
    /// The place of the flow among the link's crossings.
    pub(super) place: u32,
    pub(super) share: f64,
}

/// The routes of all flows, each with room for the longest.
#[derive(Debug, Default)]
pub(super) struct Hops {
    room: usize,
    all: Vec<Hop>,
    /// By slot; 0 where no flow is.
    lengths: Vec<u32>,
}

impl Hops {
    pub(super) fn of(&self, slot: u32) -> &[Hop] {
        let from = slot as usize * self.room;
        &self.all[from..from + self.lengths[slot as usize] as usize]
    }

    pub(super) fn of_mut(&mut self, slot: u32) -> &mut [Hop] {
        let from = slot as usize * self.room;
        &mut self.all[from..from + self.lengths[slot as usize] as usize]
    }

    /// A flow takes a route.
    pub(super) fn set(&mut self, slot: u32, route: impl ExactSizeIterator<Item = Hop>) {
        let (place, length) = (slot as usize, route.len());
        if length > self.room {
            self.widen(length);
        }
        if place >= self.lengths.len() {
            self.lengths.resize(place + 1, 0);
            self.all.resize((place + 1) * self.room, Hop::default());
        }
        self.lengths[place] = length as u32;
        self.of_mut(slot).iter_mut().zip(route).for_each(|(hop, new)| *hop = new);
    }

    pub(super) fn clear(&mut self, slot: u32) {
        self.lengths[slot as usize] = 0;
    }

    /// Makes room for longer routes.
    fn widen(&mut self, room: usize) {
        let mut all = vec![Hop::default(); self.lengths.len() * room];
        if self.room > 0 {
            for (new, old) in all.chunks_exact_mut(room).zip(self.all.chunks_exact(self.room)) {
                new[..self.room].copy_from_slice(old);
            }
        }
        (self.room, self.all) = (room, all);
    }
}
