//! The least of one time per slot, for example of the ends of flows.
//!
//! An event changes the rates, and so the ends, of some tens of flows, but only the first end is needed. So a change is
//! a store and a mark on its block of slots; a query computes the least of each marked block again, and then that of
//! all blocks: O(slots/32) per query, in loops without branches.

/// Slots per block.
const BLOCK: usize = 32;

/// One time per slot, ∞ for none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calendar {
    times: Vec<[f64; BLOCK]>,
    /// By block, its least time; −∞ where one of its times has changed since.
    least: Vec<f64>,
    stale: Vec<u32>,
}

impl Calendar {
    /// Sets the time of a slot. Not NaN, and not −∞.
    pub(crate) fn set(&mut self, slot: u32, time: f64) {
        let (block, place) = (slot as usize / BLOCK, slot as usize % BLOCK);
        if block >= self.times.len() {
            if time == f64::INFINITY {
                return;
            }
            self.times.resize(block + 1, [f64::INFINITY; BLOCK]);
            self.least.resize(block + 1, f64::INFINITY);
        }
        self.times[block][place] = time;
        if self.least[block] != f64::NEG_INFINITY {
            self.least[block] = f64::NEG_INFINITY;
            self.stale.push(block as u32);
        }
    }

    /// The first time of all; ∞ if there is none.
    pub(crate) fn first(&mut self) -> f64 {
        for block in self.stale.drain(..) {
            self.least[block as usize] = least(&self.times[block as usize]);
        }
        least(&self.least)
    }

    /// The slots whose time is at most `now`, in increasing order.
    pub(crate) fn due(&mut self, now: f64, due: &mut Vec<u32>) {
        self.first();
        due.clear();
        for block in (0..self.least.len()).filter(|&block| self.least[block] <= now) {
            let places = (0..BLOCK).filter(|&place| self.times[block][place] <= now);
            due.extend(places.map(|place| (block * BLOCK + place) as u32));
        }
    }
}

/// The least of numbers that are not NaN, four at a time.
fn least(times: &[f64]) -> f64 {
    let smaller = |one: f64, other: f64| if one < other { one } else { other };
    let (fours, rest) = times.as_chunks::<4>();
    let mut least = [f64::INFINITY; 4];
    for four in fours {
        for (least, &time) in least.iter_mut().zip(four) {
            *least = smaller(time, *least);
        }
    }
    least.into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_least_of_what_was_set_last() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.first(), f64::INFINITY);
        let mut times = vec![f64::INFINITY; 200];
        let mut due = Vec::new();
        for step in 0..5000u32 {
            let (slot, time) = (step.wrapping_mul(2_654_435_761) % 200, f64::from(step.wrapping_mul(40_503) % 1009));
            let time = if step % 7 == 0 { f64::INFINITY } else { time };
            times[slot as usize] = time;
            calendar.set(slot, time);
            assert_eq!(calendar.first(), times.iter().copied().fold(f64::INFINITY, f64::min));
            calendar.due(100.0, &mut due);
            let expected = (0..200).filter(|&slot| times[slot as usize] <= 100.0);
            assert!(due.iter().copied().eq(expected));
        }
    }
}
