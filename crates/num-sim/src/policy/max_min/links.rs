//! Links with the flows that cross them, and the list of links that wait to be computed.

use crate::numbers::DRIFT;
#[cfg(doc)]
use crate::numbers::NONE;

/// A flow on a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    pub(super) slot: u32,
    /// Which of the flow's hops this is.
    pub(super) hop: u32,
    pub(super) share: f64,
}

/// A link with its flows, in one line of the cache.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct SharedLink {
    pub(super) capacity: f64,
    /// While it limits no flow, c_l − Σ_f a_fl m_fl, the capacity that they leave.
    pub(super) spare: f64,
    pub(super) through: Vec<Crossing>,
    /// How many of them have another share than 1: they spread, or have a weight.
    pub(super) spread: u32,
    /// Its place among those that wait to be computed; [`NONE`] if it does not.
    pub(super) waits_at: u32,
    /// The level it will move to; NaN unless computed from what is *(while it waits)*.
    pub(super) next: f64,
}

impl SharedLink {
    /// It may move, at a level `from` or above.
    #[inline]
    pub(super) fn wait(&mut self, link: u32, from: f64, waiting: &mut Vec<Waiting>) {
        self.next = f64::NAN;
        match waiting.get_mut(self.waits_at as usize) {
            Some(waits) => waits.from = f64::min(waits.from, from),
            None => {
                self.waits_at = waiting.len() as u32;
                waiting.push(Waiting { link, from });
            }
        }
    }

    /// A lower bound of its level, whatever other links do.
    pub(super) fn lowest_level(&self) -> f64 {
        match self.through.len() {
            0 => f64::INFINITY,
            _ if self.spread > 0 => 0.0,
            flows => self.capacity / flows as f64,
        }
    }

    /// The demand on a link changes by `more`. Whether the link limits no flow as before: more is free than what adding
    /// and subtracting may have lost.
    #[inline]
    pub(super) fn still_spare(&mut self, level: f64, more: f64) -> bool {
        self.spare -= more;
        (level == f64::INFINITY) & ((more <= 0.0) | (self.spare > DRIFT * self.capacity))
    }
}

/// A link that waits to be computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) link: u32,
    /// The lowest level at which it may move.
    pub(super) from: f64,
}
