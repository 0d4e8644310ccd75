//! All levels anew, by water-filling: the level of a link at which its flows would fill it, if those that lower links
//! cut off stay where they are, only rises while flows are cut off. So the lowest such level is looked at first, and is
//! either higher by now and put back, or that of the next link to fill.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netnum_core::interrupt::Pacer;

use super::levels::{Levels, Link};
use crate::error::Result;

/// What of a link is still to be given away, and to how many.
#[derive(Debug, Clone, Copy)]
struct Left {
    capacity: f64,
    shares: f64,
    flows: usize,
}

impl Left {
    fn of(link: &Link) -> Self {
        let flows = link.through.len();
        // Whole shares add up to their number.
        let shares = match link.spread {
            0 => flows as f64,
            _ => link.through.iter().map(|crossing| crossing.share).sum(),
        };
        Self { capacity: link.capacity, shares, flows }
    }

    fn take(&mut self, share: f64, rate: f64) {
        self.capacity -= share * rate;
        self.shares -= share;
        self.flows -= 1;
    }

    /// The level at which it fills, at least the present one; ∞ if no flow is left to fill it.
    fn level(&self, water: f64) -> f64 {
        if self.flows == 0 { f64::INFINITY } else { f64::max(water, self.capacity / self.shares) }
    }
}

/// Numbers that are not NaN, in order: those of bits for what is not negative.
fn key(level: f64) -> Reverse<u64> {
    Reverse(level.to_bits())
}

impl Levels {
    /// Computes the level of every link.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only, after which nothing holds of the levels.
    pub(super) fn fill(&mut self) -> Result<()> {
        let Self { links, levels, members, .. } = self;
        let mut pacer = Pacer::new();
        let mut left: Vec<Left> = links.iter().map(Left::of).collect();
        let mut rises: Vec<bool> = members.iter().map(|member| !member.hops.is_empty()).collect();
        let mut capped: Vec<u32> = (0..members.len() as u32)
            .filter(|&slot| rises[slot as usize] && members[slot as usize].cap.is_finite())
            .collect();
        capped.sort_unstable_by(|&one, &other| members[other as usize].cap.total_cmp(&members[one as usize].cap));
        let entry = |(link, left): (usize, &Left)| (left.flows > 0).then(|| (key(left.level(0.0)), link));
        let mut heap: BinaryHeap<(Reverse<u64>, usize)> = left.iter().enumerate().filter_map(entry).collect();
        let mut water = 0.0;
        levels.fill(f64::INFINITY);
        while let Some((Reverse(bits), link)) = heap.pop() {
            let bound = f64::from_bits(bits);
            if let Some(&slot) = capped.last().filter(|&&slot| members[slot as usize].cap <= bound) {
                capped.pop();
                let member = &members[slot as usize];
                if std::mem::take(&mut rises[slot as usize]) {
                    water = f64::max(water, member.cap);
                    for hop in &member.hops {
                        let (link, share) = hop.at();
                        left[link].take(share, member.cap);
                    }
                }
                heap.push((key(bound), link));
                continue;
            }
            let level = left[link].level(water);
            if level > bound {
                if level < f64::INFINITY {
                    heap.push((key(level), link));
                }
                continue;
            }
            water = level;
            levels[link] = level;
            pacer.did(links[link].through.len())?;
            for &crossing in &links[link].through {
                if !std::mem::take(&mut rises[crossing.slot as usize]) {
                    continue;
                }
                for hop in &members[crossing.slot as usize].hops {
                    let (link, share) = hop.at();
                    left[link].take(share, level);
                }
            }
        }
        // Flows that no link of theirs cuts off would do the same without it.
        links.iter_mut().zip(&left).for_each(|(link, left)| link.spare = left.capacity);
        Ok(())
    }
}
