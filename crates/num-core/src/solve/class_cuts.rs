//! What prices of links prove of the rates of a class, where all other flows keep theirs.
//!
//! ```text
//! Σ_{p of the class} q_p x_p ≤ Σ_l c_l p_l − Σ_{g not of it} min { Σ_p q_p x_p : Σ x = y_g, x ≤ r }    for any p ≥ 0
//! ```
//!
//! Where next to nothing is left above what the floors of the class pay at least, no flow that pays has more than its
//! floor. It is held there: its rate is kept as those of the others are. A cut that is far from full rests: each costs
//! what a link does that all paths cross, and many that are nearly parallel leave the class without an answer.

use crate::concurrent_flow::worth;
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::max_min::LinkPrices;
use crate::paths::Paths;
use crate::presolve::open_paths;
use crate::problem::Problem;
use crate::tolerances;

/// The prices of a cut are those of links that are worth 1 together: by how much its room may be too small, as prices
/// are rounded. A room may be 10⁻¹⁰.
const ROUNDING: f64 = 1e-15;
/// A link that is worth no more than this is left out of a cut: a price of a method that comes near zero and not to it.
const NO_WORTH: f64 = 1e-13;
/// A cut is far from full where no more than this part of its room is paid, and rests after so many rounds.
const FAR: f64 = 0.99;
const PATIENCE: usize = 3;

/// An inequality of the rates of the class.
pub(super) struct Cut {
    /// Of every link, and q of every path.
    pub(super) prices: Vec<f64>,
    pub(super) path_prices: Vec<f64>,
    /// What its flows may pay together, and what of that is left above their floors.
    pub(super) room: f64,
    pub(super) left: f64,
    /// The rounds in which it has been far from full, up to now, and whether it has rested in vain.
    far: usize,
    stays: bool,
}

impl Cut {
    /// What rates of paths of the class pay.
    fn paid(&self, rates: &[f64]) -> f64 {
        self.path_prices.iter().zip(rates).map(|(price, rate)| price * rate).sum()
    }

    /// Whether its flows pay more than they may together, beyond the rounding of sums.
    fn is_broken(&self, paid: f64) -> bool {
        paid > self.room * (1.0 + tolerances::ROUNDING)
    }

    /// Whether the class is solved without it.
    pub(super) fn rests(&self) -> bool {
        self.far >= PATIENCE
    }
}

/// Where a flow stands.
#[derive(Clone, Copy)]
enum Place {
    /// Not of the class: it keeps its rate.
    Outside,
    Free,
    /// It has its floor and no more, by the cut of that number.
    Held(usize),
}

/// The cuts of a stage.
pub(super) struct Cuts<'a> {
    stage: &'a Problem,
    /// The open paths of every flow, and the most that each path can carry.
    open: Paths,
    most: Vec<f64>,
    places: Vec<Place>,
    pub(super) known: Vec<Cut>,
}

impl<'a> Cuts<'a> {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(stage: &'a Problem, is_in: impl Fn(usize) -> bool) -> Result<Self> {
        let place = |flow: usize| if is_in(flow) { Place::Free } else { Place::Outside };
        let (places, mut pacer) = ((0..stage.flows()).map(place).collect(), Pacer::new());
        let mut most = Vec::with_capacity(stage.paths().len());
        for path in 0..stage.paths().len() {
            let row = stage.paths().row(path);
            pacer.did(1 + row.links().len())?;
            most.push(row.narrowest(stage.capacities()).min(stage.rate_cap(path)));
        }
        Ok(Self { stage, open: open_paths(stage)?, most, places, known: Vec::new() })
    }

    /// Whether a flow is of the class, and not held.
    pub(super) fn is_free(&self, flow: usize) -> bool {
        matches!(self.places[flow], Place::Free)
    }

    pub(super) fn open_paths(&self, flow: usize) -> impl Iterator<Item = usize> {
        self.open.links(flow).iter().map(|&path| path as usize)
    }

    /// The floor of a flow, which one that has failed has lost.
    pub(super) fn floor(&self, flow: usize) -> f64 {
        if self.open.links(flow).is_empty() { 0.0 } else { self.stage.flow_floor(flow) }
    }

    /// The flows that are held, each with its cut.
    pub(super) fn held(&self) -> impl Iterator<Item = (usize, &Cut)> {
        self.places.iter().enumerate().filter_map(|(flow, place)| match place {
            Place::Held(cut) => Some((flow, &self.known[*cut])),
            _ => None,
        })
    }

    /// Adds what prices prove, if anything.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn add(&mut self, prices: &[f64]) -> Result<()> {
        self.known.extend(self.cut(prices)?);
        Ok(())
    }

    /// Adds what prices prove that rates of paths do not satisfy. Returns whether there is such a thing.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn add_broken(&mut self, of_levels: &[LinkPrices], rates: &[f64]) -> Result<bool> {
        let known = self.known.len();
        for level in of_levels {
            let mut prices = vec![0.0; self.stage.links()];
            level.iter().for_each(|&(link, price)| prices[link as usize] = price);
            let cut = self.cut(&prices)?;
            // One that is known and full is not broken by the rounding of another sum.
            self.known.extend(cut.filter(|cut| cut.is_broken(cut.paid(rates))));
        }
        Ok(self.known.len() > known)
    }

    /// After a round: cuts that are far from full come to rest, but for those that close a path. Returns whether there
    /// are resting ones that the rates do not satisfy: these do not rest again, or rounds with and without them would
    /// take turns.
    pub(super) fn rest(&mut self, rates: &[f64], closes: impl Fn(usize) -> bool) -> bool {
        let mut are_broken = false;
        for (number, cut) in self.known.iter_mut().enumerate() {
            let paid = cut.paid(rates);
            let is_broken = cut.rests() && cut.is_broken(paid);
            are_broken |= is_broken;
            cut.stays |= is_broken;
            cut.far = if paid < FAR * cut.room && !closes(number) && !cut.stays { cut.far + 1 } else { 0 };
        }
        are_broken
    }

    fn cut(&self, prices: &[f64]) -> Result<Option<Cut>> {
        let of_all = worth(self.stage, prices);
        if !(of_all > 0.0 && of_all.is_finite()) {
            return Ok(None);
        }
        let is_worth =
            |(price, capacity): (&f64, &f64)| if price * capacity > NO_WORTH * of_all { *price } else { 0.0 };
        let mut prices: Vec<f64> = prices.iter().zip(self.stage.capacities()).map(is_worth).collect();
        let worth = worth(self.stage, &prices);
        prices.iter_mut().for_each(|price| *price /= worth);
        let (mut path_prices, mut pacer) = (Vec::with_capacity(self.most.len()), Pacer::new());
        for path in 0..self.most.len() {
            let row = self.stage.paths().row(path);
            pacer.did(1 + row.links().len())?;
            path_prices.push(row.sum(&prices));
        }
        let mut cut = Cut { prices, path_prices, room: 0.0, left: 0.0, far: 0, stays: false };
        self.set_room(&mut cut, &mut pacer)?;
        Ok(Some(cut))
    }

    /// The others pay the least where they fill their paths from the cheapest on.
    fn set_room(&self, cut: &mut Cut, pacer: &mut Pacer) -> Result<()> {
        let (mut left, mut of_class) = (DoubleDouble::default(), 0.0);
        let links = cut.prices.iter().zip(self.stage.capacities()).filter(|(price, _)| **price > 0.0);
        links.for_each(|(&price, &capacity)| left.add_product(price, capacity));
        for flow in (0..self.places.len()).filter(|&flow| self.stage.flow_floor(flow) > 0.0) {
            pacer.did(1 + self.open.links(flow).len())?;
            let paid = self.paid(flow, &cut.path_prices);
            if self.is_free(flow) { of_class += paid } else { left.add(-paid) }
        }
        cut.room = left.value().max(0.0) + ROUNDING;
        cut.left = (cut.room - of_class).max(0.0);
        Ok(())
    }

    /// The least that a flow pays for its floor.
    fn paid(&self, flow: usize, path_prices: &[f64]) -> f64 {
        let mut left = self.stage.flow_floor(flow);
        if let &[path] = self.open.links(flow) {
            return left.min(self.most[path as usize]) * path_prices[path as usize];
        }
        let mut paths: Vec<usize> = self.open_paths(flow).collect();
        paths.sort_unstable_by(|&one, &other| path_prices[one].total_cmp(&path_prices[other]));
        let mut paid = 0.0;
        for path in paths {
            let rate = left.min(self.most[path]);
            paid += rate * path_prices[path];
            left -= rate;
        }
        paid
    }

    /// The least price of an open path.
    pub(super) fn least_price(&self, flow: usize, price: impl Fn(usize) -> f64) -> f64 {
        self.open_paths(flow).map(price).fold(f64::INFINITY, f64::min)
    }

    /// Holds the flows for which a cut leaves no more than a part of their floors above these.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn hold(&mut self, least: f64) -> Result<()> {
        let mut pacer = Pacer::new();
        loop {
            let mut held = Vec::new();
            for flow in (0..self.places.len()).filter(|&flow| self.is_free(flow) && self.stage.flow_floor(flow) > 0.0) {
                let least = least * self.stage.flow_floor(flow);
                pacer.did(self.known.len() * self.open.links(flow).len())?;
                let holds = |cut: &Cut| {
                    let price = self.least_price(flow, |path| cut.path_prices[path]);
                    price > 0.0 && price < f64::INFINITY && cut.left <= least * price
                };
                held.extend(self.known.iter().position(holds).map(|cut| (flow, cut)));
            }
            if held.is_empty() {
                return Ok(());
            }
            held.into_iter().for_each(|(flow, cut)| self.places[flow] = Place::Held(cut));
            let mut known = std::mem::take(&mut self.known);
            known.iter_mut().try_for_each(|cut| self.set_room(cut, &mut pacer))?;
            self.known = known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Ask, solve};

    #[test]
    fn prices_prove_what_a_class_may_pay() {
        let paths = Paths::from_lists([vec![0], vec![1], vec![0, 1], vec![2], vec![1], vec![2, 0]]);
        let problem = Problem::grouped(vec![1.0, 2.0, 3.0], paths, vec![0, 0, 1, 1, 2, 2], AlphaFair::proportional());
        let stage = problem.unwrap().stage(|flow| flow > 0, |_| 0.5, vec![]).unwrap();
        let mut cuts = Cuts::new(&stage, |flow| flow > 0).unwrap();
        cuts.add(&[1.0; 3]).unwrap();
        let (cut, whole) = (&cuts.known[0], solve(&stage, &Ask::default()).unwrap());
        let pays: f64 = (2..6).map(|path| whole.rates[path] * cut.path_prices[path]).sum();
        assert!(0.0 < pays && pays <= cut.room && cut.room < 1.0, "{pays} of {}", cut.room);
        let fewer: Vec<f64> = [0.0; 2].into_iter().chain(whole.rates[2..].iter().map(|rate| 0.99 * rate)).collect();
        assert!((worth(&stage, &cut.prices) - 1.0).abs() < 1e-12 && cut.paid(&fewer) < cut.room);
        assert!(cut.paid(&[0.0, 0.0, 1.0, 3.0, 2.0, 3.0]) > cut.room);
    }

    /// Flow 0 leaves flow 2 its floor, and flow 1 leaves flow 3 a tenth more.
    #[test]
    fn a_cut_holds_whom_it_leaves_next_to_nothing_above_the_floor() {
        let paths = Paths::from_lists([[0], [1], [0], [1]]);
        let problem = Problem::grouped(vec![1.0, 1.0], paths, vec![0, 1, 2, 3], AlphaFair::proportional()).unwrap();
        let problem = problem.with_flow_floors(vec![0.5, 0.4, 0.5, 0.5]).unwrap();
        let stage = problem.stage(|flow| flow > 1, |flow| problem.flow_floor(flow), vec![]).unwrap();
        let mut cuts = Cuts::new(&stage, |flow| flow > 1).unwrap();
        cuts.add(&[1.0, 0.0]).unwrap();
        cuts.add(&[0.0, 1.0]).unwrap();
        cuts.hold(1e-6).unwrap();
        assert!(!cuts.is_free(0) && !cuts.is_free(1) && !cuts.is_free(2) && cuts.is_free(3));
        assert_eq!(cuts.held().map(|(flow, _)| flow).collect::<Vec<_>>(), [2]);
        assert!(cuts.known[0].room < 1e-12 && (cuts.known[1].left - 0.1).abs() < 1e-12);
    }

    /// Two flows of the class on a link, of which a third keeps a rate.
    fn beside(kept: f64, capacity: f64) -> Problem {
        let paths = Paths::from_lists([[0], [0], [0]]);
        let problem = Problem::new(vec![capacity], paths, AlphaFair::proportional()).unwrap();
        problem.stage(|flow| flow > 0, |_| kept, vec![]).unwrap()
    }

    #[test]
    fn a_cut_that_is_far_from_full_rests_until_it_is_broken_and_then_no_more() {
        let stage = beside(0.5, 1.0);
        let with_a_cut = || {
            let mut cuts = Cuts::new(&stage, |flow| flow > 0).unwrap();
            cuts.add(&[1.0]).unwrap();
            cuts
        };
        let mut cuts = with_a_cut();
        for round in 0..PATIENCE {
            assert!(!cuts.known[0].rests(), "{round}");
            assert!(!cuts.rest(&[0.0, 0.2, 0.2], |_| false));
        }
        assert!(cuts.known[0].rests());
        assert!(cuts.rest(&[0.0, 0.3, 0.3], |_| false) && !cuts.known[0].rests());
        for (mut cuts, closes) in [(cuts, false), (with_a_cut(), true)] {
            for _ in 0..=PATIENCE {
                assert!(!cuts.rest(&[0.0, 0.2, 0.2], |_| closes) && !cuts.known[0].rests());
            }
        }
    }

    #[test]
    fn a_price_that_is_all_but_zero_is_left_out_of_a_cut() {
        let paths = Paths::from_lists([vec![0], vec![1], vec![0, 1]]);
        let problem = Problem::new(vec![1.0, 1e3], paths, AlphaFair::proportional()).unwrap();
        let mut cuts = Cuts::new(&problem, |_| true).unwrap();
        cuts.add(&[1.0, 1e-17]).unwrap();
        cuts.add(&[1.0, 1e-15]).unwrap();
        assert_eq!(cuts.known[0].path_prices, [1.0, 0.0, 1.0]);
        assert!(cuts.known[1].path_prices[1] > 0.0);
    }

    /// A thousand flows leave a 10⁻¹² of a link, to within three digits.
    #[test]
    fn a_small_room_keeps_its_digits() {
        let (others, left) = (1000, 1e-12);
        let problem = Problem::new(vec![1.0], Paths::from_lists(vec![[0]; others + 1]), AlphaFair::proportional());
        let rate = |flow: usize| (1.0 - left) * (flow as f64 + 0.5) / (0.5 * (others * others) as f64);
        let stage = problem.unwrap().stage(|flow| flow == others, rate, vec![]).unwrap();
        let mut sum = DoubleDouble::new(1.0);
        (0..others).for_each(|flow| sum.add(-stage.flow_floor(flow)));
        let mut cuts = Cuts::new(&stage, |flow| flow == others).unwrap();
        cuts.add(&[1.0]).unwrap();
        let room = cuts.known[0].room;
        assert!((room - sum.value()).abs() <= 1.1 * ROUNDING && room < 1e-10, "{room} for {}", sum.value());
    }

    #[test]
    fn a_cut_that_is_known_and_full_is_not_added_again() {
        let stage = beside(1.1, 3.0);
        let mut cuts = Cuts::new(&stage, |flow| flow > 0).unwrap();
        cuts.add(&[0.7]).unwrap();
        assert!(!cuts.add_broken(&[vec![(0, 0.7)]], &[0.0, 0.8, 1.1 + 1e-15]).unwrap());
        assert!(cuts.add_broken(&[vec![(0, 0.7)]], &[0.0, 0.8, 1.1 + 1e-9]).unwrap());
    }
}
