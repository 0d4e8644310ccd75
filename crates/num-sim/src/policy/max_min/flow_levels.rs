//! The two lowest levels on the route of a flow, from which its rate on every link without that link follows.

use super::hops::Hop;
use crate::numbers::NONE;

/// The levels of a flow, in half a line of the cache.
#[derive(Debug, Default)]
#[repr(align(32))]
pub(super) struct FlowLevels {
    /// Its rate: the lowest of its levels and its cap.
    pub(super) rate: f64,
    /// The next one, from another link (or from its cap).
    second: f64,
    /// The link with the lowest level; [`NONE`] if that is the cap.
    lowest_at: u32,
    pub(super) cap: f64,
    /// Whether it is listed among those whose rate may have changed.
    pub(super) listed: bool,
}

impl FlowLevels {
    /// Whether its cap limits it.
    pub(super) fn is_at_cap(&self) -> bool {
        self.lowest_at == NONE
    }

    /// A fill has found its rate, and the link that limits it ([`NONE`] for its cap), but not its second lowest level.
    #[inline]
    pub(super) fn cut_off(&mut self, slot: u32, rate: f64, link: u32, listed: &mut Vec<u32>) {
        self.lowest_at = link;
        if rate != self.rate {
            self.rate = rate;
            self.list(slot, listed);
        }
    }

    /// The link that limits it; [`NONE`] for its cap.
    #[inline]
    pub(super) fn bottleneck(&self) -> u32 {
        self.lowest_at
    }

    /// Another link limits it. Its rate follows from the level there.
    #[inline]
    pub(super) fn stand(&mut self, link: u32) {
        self.lowest_at = link;
    }

    /// Its two lowest levels, and where the lowest is.
    #[inline]
    pub(super) fn lows(&self) -> (f64, f64, u32) {
        (self.rate, self.second, self.lowest_at)
    }

    /// m_fl.
    #[inline]
    pub(super) fn without(&self, link: u32) -> f64 {
        if link == self.lowest_at { self.second } else { self.rate }
    }

    /// Lists it among those whose rate may have changed.
    pub(super) fn list(&mut self, slot: u32, listed: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.listed, true) {
            listed.push(slot);
        }
    }

    /// The level of one of its links has moved. Only one that rises past the second lowest has the others read.
    #[inline]
    pub(super) fn follow(&mut self, link: u32, old: f64, new: f64, hops: &[Hop], levels: &[f64]) {
        if link == self.lowest_at {
            match new <= self.second {
                true => self.rate = new,
                false => self.find_lowest(hops, levels),
            }
        } else if new < self.rate {
            (self.rate, self.second, self.lowest_at) = (new, self.rate, link);
        } else if new <= self.second {
            self.second = new;
        } else if old <= self.second {
            self.find_lowest(hops, levels);
        }
    }

    /// Finds its two lowest levels.
    #[inline]
    pub(super) fn find_lowest(&mut self, hops: &[Hop], levels: &[f64]) {
        (self.rate, self.second, self.lowest_at) = (self.cap, f64::INFINITY, NONE);
        for hop in hops {
            // Without branches: which is the lowest cannot be predicted.
            let level = levels[hop.link as usize];
            self.lowest_at = if level < self.rate { hop.link } else { self.lowest_at };
            let higher = if level < self.rate { self.rate } else { level };
            self.rate = if level < self.rate { level } else { self.rate };
            self.second = if higher < self.second { higher } else { self.second };
        }
    }
}
