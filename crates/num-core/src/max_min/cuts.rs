//! Max-min rates under cuts: inequalities between the rates of flows that hold for every routing.
//!
//! ```text
//! Σ_f λ_f y_f ≤ π·c       λ_f = min π(p) over the open paths p of f,  π ≥ 0
//! ```
//!
//! Every vector of prices gives one (weak duality), which stays valid when capacities, caps or weights change. The fair
//! share t rises and all flows with it, y_f = B_f(t), until a cut is full; its flows with λ_f > 0 are fixed there, the
//! others continue. That is a water-fill with a link for every cut and a factor for every crossing. The rates are the
//! max-min rates of a set that contains all feasible rates: if they can be routed, they are max-min fair, and the cuts
//! that have fixed flows are the witness (`witness.rs`).
//!
//! While no curve gets steeper the level of a cut only rises, so that an earlier level is a lower bound, as in
//! [`WaterFill`](crate::water_fill::WaterFill); at a breakpoint where one does, the levels of its cuts are computed
//! afresh.
//!
//! Cost: O(factors · breakpoints per flow + visits · log cuts).

use super::network::Network;
use super::rising_rates::RisingRates;
use super::tolerances::ROUNDING;
use super::witness::Inequality;
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::water_fill::{FULL, Tournament};

/// Cuts, also indexed by their flows.
#[derive(Debug)]
pub(super) struct CutPool {
    cuts: Vec<Inequality>,
    /// What is left of them at the fair share 0.
    rooms: Vec<Room>,
    /// The cuts of every flow, with its factor there.
    of_flow: Vec<Vec<(u32, f64)>>,
    /// Room for prices of paths: 0 for each.
    path_prices: Vec<f64>,
}

/// What is left of a cut's capacity at the fair share t: room − slope · t.
#[derive(Debug, Clone)]
struct Room {
    room: DoubleDouble,
    slope: DoubleDouble,
    /// Flows that are not fixed.
    rising: usize,
}

impl CutPool {
    /// `lowest` is at the fair share 0.
    pub(super) fn new(network: &Network, lowest: &RisingRates, cuts: Vec<Inequality>) -> Self {
        let (of_flow, path_prices) = (vec![Vec::new(); network.flows()], vec![0.0; network.paths.len()]);
        let mut this = Self { cuts: Vec::new(), rooms: Vec::new(), of_flow, path_prices };
        cuts.into_iter().for_each(|cut| this.push(network, lowest, cut));
        this
    }

    pub(super) fn len(&self) -> usize {
        self.cuts.len()
    }

    fn push(&mut self, network: &Network, lowest: &RisingRates, cut: Inequality) {
        let (mut room, mut slope, mut rising) = (DoubleDouble::default(), DoubleDouble::default(), 0);
        cut.prices.iter().for_each(|&(link, price)| room.add_product(price, network.capacities[link as usize]));
        let number = self.cuts.len() as u32;
        for &(flow, factor) in &cut.factors {
            self.of_flow[flow as usize].push((number, factor));
            let (start, rises) = lowest.line(flow as usize);
            room.add_product(-factor, start);
            slope.add_product(factor, rises);
            rising += usize::from(!lowest.is_fixed(flow as usize));
        }
        self.rooms.push(Room { room, slope, rising });
        self.cuts.push(cut);
    }

    /// Adds the cut of some prices, of which those that are not positive count as 0. `through` lists the paths of every
    /// link.
    pub(super) fn add(&mut self, network: &Network, lowest: &RisingRates, through: &Paths, prices: &[(u32, f64)]) {
        let cut = Inequality::of_prices(network, through, prices, &mut self.path_prices);
        self.push(network, lowest, cut);
    }

    /// Takes the last cut back.
    pub(super) fn withdraw(&mut self) {
        self.rooms.pop();
        for (flow, _) in self.cuts.pop().map_or(Vec::new(), |cut| cut.factors) {
            self.of_flow[flow as usize].pop();
        }
    }

    /// Lowers the flows of the last cut, of those that are fixed above it, to the fair share at which it is full;
    /// about. Returns what they had.
    pub(super) fn lower(&self, network: &Network, flow_rates: &mut RisingRates) -> Vec<(u32, f64)> {
        let Some(cut) = self.cuts.last() else { return Vec::new() };
        let room: f64 = cut.prices.iter().map(|&(link, price)| price * network.capacities[link as usize]).sum();
        let (mut low, mut high) = (0.0, flow_rates.base() + flow_rates.above());
        let mut fair_share = high;
        // Newton's method on straight pieces, which ends after a few; halves where it leaves the bracket.
        for _ in 0..f64::MANTISSA_DIGITS {
            let (mut taken, mut slope) = (0.0, 0.0);
            for &(flow, factor) in &cut.factors {
                let (rate, rises) = flow_rates.lowered(flow as usize, fair_share);
                taken += factor * rate;
                slope += factor * rises;
            }
            if taken <= room {
                low = fair_share
            } else {
                high = fair_share
            }
            if (taken - room).abs() <= ROUNDING * room {
                break;
            }
            let next = fair_share - (taken - room) / slope;
            fair_share = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        let lower = |flow: u32| flow_rates.lowered(flow as usize, fair_share).0;
        let lowered = cut.factors.iter().map(|&(flow, _)| (flow, flow_rates.rate(flow as usize), lower(flow)));
        let lowered: Vec<_> = lowered.filter(|&(_, rate, lower)| lower < rate).collect();
        lowered.iter().for_each(|&(flow, _, lower)| flow_rates.set_rate(flow as usize, lower));
        lowered.into_iter().map(|(flow, rate, _)| (flow, rate)).collect()
    }

    /// Lets all flows rise from the fair share 0 until each is fixed. Returns the witness: the cuts that have fixed
    /// one, at their fair shares.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn max_min_rates(&self, flow_rates: &mut RisingRates) -> Result<Vec<Inequality>> {
        let (mut rooms, mut pacer) = (self.rooms.clone(), Pacer::new());
        let mut tournament = Tournament::new(rooms.len());
        tournament.set_all(rooms.iter().map(|room| room.level(flow_rates).1));
        let mut witness = Vec::new();
        loop {
            let now = flow_rates.base() + flow_rates.above();
            let breakpoint = flow_rates.distance_to_breakpoint().map(|distance| now + distance);
            let Some((number, bound)) =
                tournament.first().filter(|&(_, bound)| breakpoint.is_none_or(|breakpoint| bound <= breakpoint))
            else {
                if breakpoint.is_none() {
                    return Ok(witness);
                }
                let flow = flow_rates.breakpoint_flow();
                let before = flow_rates.line(flow);
                flow_rates.pass_breakpoint();
                pacer.did(self.of_flow[flow].len())?;
                self.bend(flow, before, flow_rates, &mut rooms, &mut tournament);
                continue;
            };
            let (above, level) = rooms[number].level(flow_rates);
            if level > bound {
                tournament.set(number, level);
                continue;
            }
            flow_rates.set_above(above);
            let mut fixed = false;
            for &(flow, _) in &self.cuts[number].factors {
                let flow = flow as usize;
                if !flow_rates.is_fixed(flow) {
                    let before = flow_rates.line(flow);
                    flow_rates.hold(flow, above);
                    pacer.did(self.of_flow[flow].len())?;
                    self.bend(flow, before, flow_rates, &mut rooms, &mut tournament);
                    fixed = true;
                }
            }
            tournament.set(number, f64::INFINITY);
            if fixed {
                let fair_share = flow_rates.fair_share(above) * (1.0 - FULL);
                witness.push(Inequality { fair_share, ..self.cuts[number].clone() });
            }
        }
    }

    /// The line of a flow is another one than before.
    fn bend(
        &self,
        flow: usize,
        before: (f64, f64),
        flow_rates: &RisingRates,
        rooms: &mut [Room],
        tournament: &mut Tournament,
    ) {
        let (after, fixed) = (flow_rates.line(flow), flow_rates.is_fixed(flow));
        for &(number, factor) in &self.of_flow[flow] {
            let room = &mut rooms[number as usize];
            // Mostly from a line through 0 to a rate that is fixed.
            if before.0 != 0.0 {
                room.room.add_product(factor, before.0);
            }
            room.room.add_product(-factor, after.0);
            room.slope.add_product(-factor, before.1);
            if after.1 != 0.0 {
                room.slope.add_product(factor, after.1);
            }
            room.rising -= usize::from(fixed);
            if after.1 > before.1 && room.rising > 0 {
                let (_, level) = room.level(flow_rates);
                tournament.set(number as usize, level);
            }
        }
    }
}

impl Room {
    /// Where it is full: how far above the last breakpoint, and at which fair share; ∞ when no flow of it rises.
    fn level(&self, flow_rates: &RisingRates) -> (f64, f64) {
        let slope = self.slope.value();
        if self.rising == 0 || slope <= 0.0 {
            return (f64::INFINITY, f64::INFINITY);
        }
        let mut rest = self.room;
        rest.add_product(-slope, flow_rates.base());
        let above = (rest.value() / slope).max(flow_rates.above());
        (above, flow_rates.base() + above)
    }
}

#[cfg(test)]
mod tests {
    use super::CutPool;
    use crate::max_min::fair_shares::{METHOD, flow_shares};
    use crate::max_min::network::Network;
    use crate::max_min::rising_rates::RisingRates;
    use crate::{AlphaFair, Paths, Problem};

    #[test]
    fn a_cut_that_rates_do_not_exceed_lowers_none_and_is_taken_back() {
        let utility = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
        let problem = Problem::new(vec![1.0, 4.0], Paths::from_lists([vec![0], vec![0, 1]]), utility).unwrap();
        let shares = flow_shares(&problem, METHOD).unwrap();
        let network = Network::new(&problem, &shares).unwrap();
        let lowest = RisingRates::new(&shares, &network);
        let through = network.paths.transpose(2).unwrap();
        let mut pool = CutPool::new(&network, &lowest, Vec::new());
        pool.add(&network, &lowest, &through, &[(0, 1.0)]);
        let rates = |pool: &CutPool| {
            let mut rates = lowest.clone();
            pool.max_min_rates(&mut rates).unwrap();
            rates
        };
        let mut under_one = rates(&pool);
        pool.add(&network, &lowest, &through, &[(1, 1.0)]);
        assert!(pool.lower(&network, &mut under_one).is_empty(), "the second link has half of its capacity left");
        pool.withdraw();
        assert_eq!(pool.len(), 1);
        let again = rates(&pool);
        assert!((0..2).all(|flow| again.rate(flow) == under_one.rate(flow) && again.is_fixed(flow)));
    }
}
