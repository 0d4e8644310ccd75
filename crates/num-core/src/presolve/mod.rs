//! Problem → the form that methods work on: natural units, no closed paths, flows in blocks.
//!
//! - Closed paths (a failed link or a cap of 0) are removed; so are failed flows, which have no open path, flows that
//!   are worth nothing and have no floor, and links without open paths.
//! - Links without a limit have a capacity that cannot bind (`problem/limited.rs`), and no price in the end.
//! - Rates and prices are in natural units (`units.rs`), and links in units in which their largest coefficient is 1, so
//!   that nothing afterwards can depend on the caller's.
//! - Floors that do not fit are found here (`floors.rs`), with rates that carry the others. A flow without a floor for
//!   which these leave nothing, although its marginal utility is ∞ then, is a failed flow.
//! - The cap of a flow with one path is that path's; with several it is a rate from which on the utility is flat, so
//!   that methods have no case for it.
//! - Flows of one utility stand together, and among them paths of equal length, so that inner loops have no branches.

mod active;
mod blocks;
mod bounds;
mod caller;
mod core;
mod first_prices;
mod floors;
mod flow_paths;
mod order;
mod units;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub(crate) use active::open_paths;
use active::uses;
pub(crate) use blocks::NaturalBlock;
use blocks::natural_blocks;
use bounds::Column;
pub(crate) use bounds::{Bounds, ROUNDING};
use caller::Caller;
pub(crate) use core::Core;
pub use floors::Infeasibility;
use flow_paths::FlowPaths;
use order::Order;
pub(crate) use units::link_units;
use units::{log_sum, rate_unit};

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::interrupt::{StopToken, check};
use crate::paths::Paths;
use crate::paths::parts::{self, pieces, split_mut};
use crate::paths::passes::Pass;
use crate::problem::{Problem, is_worthless};
use crate::utility::{Curvature, Units};
use crate::work::{Ranks, Workers, for_each};

/// A problem in natural units, or one rank's part of it, as a [`Method`](crate::solve::Method) gets it: without what is
/// closed, and with flows of one utility and paths of one length side by side.
// All fields are *(derived)* and never change.
pub struct Presolved {
    pub(crate) units: Units,
    /// Whether any flow on any rank has several paths.
    pub(crate) has_several_paths: bool,
    /// Capacity of every link, > 0, in the link's unit.
    pub(crate) capacities: Vec<f64>,
    /// How many paths cross every link, on all ranks; > 0.
    pub(crate) uses: Vec<f64>,
    /// The problem's own where nothing is removed or reordered.
    pub(crate) paths: Arc<Paths>,
    pub(crate) bounds: Bounds,
    /// Utility lost per unit of rate on every path.
    pub(crate) costs: Column,
    /// Rates of all paths that carry the floors, or the largest part of them that fits; empty where there are none.
    pub(crate) floor_rates: Vec<f64>,
    /// Why the floors do not fit, if they do not.
    pub(crate) infeasibility: Option<Infeasibility>,
    flow_paths: FlowPaths,
    pub(crate) blocks: Vec<NaturalBlock>,
    has_user_defined: bool,
    /// Price of every link where a price method starts.
    pub(crate) first_prices: Vec<f64>,
    /// [`equal_shares`](Self::equal_shares), once a method has asked for them.
    equal_shares: OnceLock<Vec<f64>>,
    pub(crate) caller: Caller,
    /// Who does the passes over all flows, and has the flows of other ranks.
    pub(crate) workers: Arc<dyn Workers>,
}

impl Presolved {
    /// # Errors
    /// [`Error::Utility`] when a utility's values cannot be used, [`Error::Worthless`], [`Error::Stopped`].
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        Self::by(problem, Arc::new(Ranks::alone()))
    }

    /// With all flows for which rates are given: also those that are worth nothing and have no floor.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub(crate) fn with_rates(problem: &Problem, rates: &[f64]) -> Result<Self> {
        let is_sent = |(path, &rate): (usize, &f64)| {
            let (utility, place) = problem.utility(problem.group()[path] as usize);
            rate > 0.0 && is_worthless(utility, place)
        };
        let has_worthless = problem.curvature() != Curvature::Strict && rates.iter().enumerate().any(is_sent);
        Self::of(problem, Arc::new(Ranks::alone()), has_worthless)
    }

    /// With the workers of its passes and of those of its certificates. Where they have ranks, the problem is one
    /// rank's part: links, units and first prices are those of the whole.
    pub(crate) fn by(problem: &Problem, workers: Arc<dyn Workers>) -> Result<Self> {
        Self::of(problem, workers, false)
    }

    fn of(problem: &Problem, workers: Arc<dyn Workers>, has_worthless: bool) -> Result<Self> {
        let ranks = workers.ranks();
        ranks.check_same(&[format!("there are {} links", problem.links())])?;
        ranks.check_same_links(problem.capacities(), "capacity")?;
        let unlimited =
            (0..problem.links() as u32).filter(|&link| problem.capacities()[link as usize] == f64::INFINITY);
        let unlimited = unlimited.collect();
        problem.check_one_class()?;
        problem.check_worth()?;
        let (original, problem) = (problem, &*problem.limited(ranks)?);
        let Order { paths: original_paths, flows: original_flows, flow_paths, blocks, failed_flows } =
            Order::of(problem, has_worthless)?;
        let mut uses = uses(problem, &original_paths, &*workers)?;
        let links: Vec<u32> = (0..problem.links() as u32).filter(|&link| uses[link as usize] > 0.0).collect();
        uses.retain(|&uses| uses > 0.0);
        let in_order = original_paths.iter().enumerate().all(|(path, &original)| original as usize == path);
        let is_whole = original_paths.len() == problem.paths().len() && links.len() == problem.links();
        let paths = match in_order && is_whole {
            true => problem.shared_paths(),
            false => {
                let numbers = (links.len() < problem.links()).then(|| numbers(&links, problem.links()));
                Arc::new(problem.paths().select(&original_paths, numbers.as_deref(), &*workers)?)
            }
        };
        check()?;
        let mut capacities: Vec<f64> = links.iter().map(|&link| problem.capacities()[link as usize]).collect();
        let link_units = link_units(&paths, links.len(), &*workers)?;
        let paths = match link_units.is_empty() {
            true => paths,
            false => Arc::new(Paths::clone(&paths).divided(&link_units)),
        };
        capacities.iter_mut().zip(&link_units).for_each(|(capacity, unit)| *capacity /= unit);
        let of_links: Vec<[f64; 2]> =
            capacities.iter().zip(&uses).map(|(&capacity, &uses)| [capacity, capacity / uses]).collect();
        let ranges = parts::ranges(paths.len(), parts::PATHS);
        let (mut ceilings, mut equal_shares) = (vec![0.0; paths.len()], vec![0.0; paths.len()]);
        let both = split_mut(&mut ceilings, &ranges).zip(pieces(&mut equal_shares, &ranges));
        let logs = for_each(&*workers, both, |(ceilings, (shares, range))| {
            let mut both = ceilings.iter_mut().zip(shares);
            paths.each_of(
                range,
                #[inline(always)]
                |_, row| {
                    if let Some((ceiling, share)) = both.next() {
                        (*ceiling, *share) = row.narrowest_pair(&of_links).into();
                    }
                },
            )?;
            Ok(log_sum(ceilings))
        })?;
        let rate = rate_unit(logs.into_iter().sum(), paths.len(), ranks)?;
        let scale = |values: &mut [f64]| values.iter_mut().for_each(|value| *value /= rate);
        scale(&mut capacities);
        let both = split_mut(&mut ceilings, &ranges).zip(split_mut(&mut equal_shares, &ranges));
        for_each(&*workers, both, |(ceilings, shares)| {
            check()?;
            scale(ceilings);
            scale(shares);
            Ok(())
        })?;
        let caller = Caller {
            links,
            link_units,
            paths: original_paths,
            flows: original_flows,
            failed_flows,
            unlimited,
            total_links: problem.links(),
            total_paths: problem.paths().len(),
            total_flows: problem.flows(),
        };
        let bounds = Bounds::new(problem, rate, &caller, &flow_paths, ceilings)?;
        for (share, &cap) in equal_shares.iter_mut().zip(bounds.caps.of(0..paths.len())) {
            *share = share.min(cap);
        }
        let mut this = Self {
            units: Units { rate, log_price: 0.0 },
            has_several_paths: ranks.any(!flow_paths.are_single())?,
            first_prices: vec![0.0; capacities.len()],
            capacities,
            uses,
            paths,
            bounds,
            costs: Column::new(Vec::new(), 0.0),
            floor_rates: Vec::new(),
            infeasibility: None,
            flow_paths,
            has_user_defined: blocks.iter().any(|(number, _)| problem.blocks()[*number].is_user_defined()),
            blocks: Vec::new(),
            equal_shares: OnceLock::new(),
            caller,
            workers,
        };
        this.carry_floors(problem)?;
        if problem.curvature() == Curvature::MaxMin {
            // No marginals, no prices: its methods use the problem itself.
            return Ok(this);
        }
        if let Some(closed) = this.starved_by_floors(problem)? {
            let open = original.clone().with_paths_closed(&closed)?;
            return Self::of(&open.with_carrying(this.caller_rates(&this.floor_rates)), this.workers, has_worthless);
        }
        this.cut_to_flow_caps(&mut equal_shares);
        let flow_shares = this.flow_totals(&equal_shares);
        let log_marginals = this.caller_log_marginals(problem, &blocks, &flow_shares)?;
        let log_price = this.log_price(&flow_shares, &log_marginals)?;
        this.units.log_price = match log_price {
            Some(log_price) => log_price,
            None => this.log_cost(problem)?,
        };
        if this.ranks().any(this.has_user_defined)? {
            // Utilities without unit conversion need a price unit within the range of floats.
            this.units.log_price = this.units.log_price.clamp(-460.0, 460.0);
        }
        this.costs = this.natural_costs(problem);
        this.first_prices = this.revenue_split(&equal_shares, log_marginals)?;
        this.blocks = natural_blocks(problem, &blocks, this.units);
        let has_worth = blocks.iter().any(|(number, places)| {
            let utility = &*problem.blocks()[*number].utility;
            places.iter().any(|&place| !is_worthless(utility, place as usize))
        });
        let has_worth = this.ranks().any(has_worth)?;
        this.bound_by_saturation(has_worth)?;
        Ok(this)
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.caller.flows.len()
    }

    /// Capacity of every link.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// The links of every path.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Load of every link: the sum of the rates of the paths through it, times their coefficients.
    pub fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        self.paths.scatter(0..rates.len(), rates, &mut loads);
        loads
    }

    /// q_p + k_p of consecutive paths: the prices of their links, times their coefficients, and their cost.
    pub(crate) fn price_paths(&self, paths: Range<usize>, prices: &[f64], path_prices: &mut [f64]) {
        self.paths.gather(paths.clone(), prices, path_prices);
        self.add_costs(paths, path_prices);
    }

    /// Adds k_p to q_p of consecutive paths.
    pub(crate) fn add_costs(&self, paths: Range<usize>, path_prices: &mut [f64]) {
        path_prices.iter_mut().zip(self.costs.of(paths)).for_each(|(price, cost)| *price += cost);
    }

    /// The demand of every path at prices of the links: the rate that its flow would have if it had this path alone, at
    /// most what the path can carry.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn path_demands(&self, prices: &[f64]) -> Result<Vec<f64>> {
        let mut path_prices = vec![0.0; self.paths.len()];
        self.price_paths(0..self.paths.len(), prices, &mut path_prices);
        let mut demands = vec![0.0; self.paths.len()];
        for (block, flows) in self.chunks_of(&(0..self.flows())) {
            check()?;
            let paths = self.paths_of_all(&flows);
            self.path_demands_into(block, &flows, &path_prices[paths.clone()], &mut demands[paths]);
        }
        demands.iter_mut().zip(&self.bounds.ceilings).for_each(|(demand, ceiling)| *demand = demand.min(*ceiling));
        Ok(demands)
    }

    /// Whether every flow has one path, which then has the flow's number.
    pub(crate) fn is_single_path(&self) -> bool {
        self.flow_paths.are_single()
    }

    /// The paths of consecutive flows, which are consecutive too.
    pub(crate) fn paths_of_all(&self, flows: &Range<usize>) -> Range<usize> {
        self.flow_paths.of_all(flows.clone())
    }

    /// The paths of a flow.
    #[inline(always)]
    pub fn paths_of(&self, flow: usize) -> Range<usize> {
        self.flow_paths.of(flow)
    }

    /// A pass over all paths, in the parts of [`flow_ranges`](Self::flow_ranges).
    pub(crate) fn pass(&self) -> Pass<'_> {
        let (paths, links, workers) = (&*self.paths, self.capacities.len(), &*self.workers);
        Pass { paths, links, ranges: self.path_ranges(), workers }
    }

    /// The ranks that share the problem.
    pub(crate) fn ranks(&self) -> &Ranks {
        self.workers.ranks()
    }

    /// Consecutive flows whose paths a pass may take at once, each part with a list of all links of its own: one part
    /// where flows have a user-defined utility, which is called with all its flows.
    pub(crate) fn flow_ranges(&self) -> Vec<Range<usize>> {
        let least = parts::PATHS.max(parts::PER_LINK * self.capacities.len());
        let least = if self.has_user_defined { usize::MAX } else { least };
        parts::cut(self.flows(), parts::count(self.paths.len(), least).min(self.flows().max(1)))
    }

    /// The paths of [these flows](Self::flow_ranges).
    pub(crate) fn path_ranges(&self) -> Vec<Range<usize>> {
        self.flow_ranges().iter().map(|flows| self.paths_of_all(flows)).collect()
    }

    /// The chunks of consecutive flows, and their blocks.
    pub(crate) fn chunks_of(&self, flows: &Range<usize>) -> impl Iterator<Item = (&NaturalBlock, Range<usize>)> {
        self.blocks.iter().flat_map(move |block| block.chunks_of(flows).map(move |flows| (block, flows)))
    }

    /// An equal share of every link for every path through it, at most its cap: per path the smallest c_l/(a_lp n_l)
    /// along it, n_l being the number of paths through a link.
    pub(crate) fn equal_shares(&self) -> &[f64] {
        self.equal_shares.get_or_init(|| {
            let of_links: Vec<f64> =
                self.capacities.iter().zip(&self.uses).map(|(capacity, uses)| capacity / uses).collect();
            let mut shares = Vec::with_capacity(self.paths.len());
            let pass =
                || self.paths.each(|path, row| shares.push(row.narrowest(&of_links).min(self.bounds.caps[path])));
            StopToken::new().scope_alone(pass).expect("nothing stops it");
            self.cut_to_flow_caps(&mut shares);
            shares
        })
    }

    /// Rate of every flow: the sum over its paths.
    pub(crate) fn flow_totals<'a>(&self, per_path: &'a [f64]) -> Cow<'a, [f64]> {
        match self.is_single_path() {
            true => per_path.into(),
            false => (0..self.flows()).map(|flow| per_path[self.paths_of(flow)].iter().sum()).collect(),
        }
    }

    /// A number of every flow, for each of its paths.
    pub(crate) fn per_path<'a>(&self, per_flow: &'a [f64]) -> Cow<'a, [f64]> {
        match self.is_single_path() {
            true => per_flow.into(),
            false => (0..self.flows()).flat_map(|flow| self.paths_of(flow).map(move |_| per_flow[flow])).collect(),
        }
    }

    /// U' of every flow at its rate.
    pub(crate) fn marginals(&self, flow_rates: &[f64]) -> Result<Vec<f64>> {
        let (mut out, ranges) = (vec![0.0; flow_rates.len()], self.flow_ranges());
        for_each(&*self.workers, pieces(&mut out, &ranges), |(piece, range)| {
            for (block, flows) in self.chunks_of(&range) {
                check()?;
                let out = &mut piece[flows.start - range.start..flows.end - range.start];
                block.utility.marginal_into(block.places(&flows), &flow_rates[flows], out);
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// (U')⁻¹(q_p) for every path of some flows, at least the flow's floor and at most all that it can use, and that
    /// where a path is free; the demands are computed in rounds, one path of every flow at a time. Prices and demands
    /// are those of these paths only.
    pub(crate) fn path_demands_into(
        &self,
        block: &NaturalBlock,
        flows: &Range<usize>,
        path_prices: &[f64],
        demands: &mut [f64],
    ) {
        let first = self.paths_of_all(flows).start;
        assert_eq!(demands.len(), self.paths_of_all(flows).len(), "one demand for every path of these flows");
        if demands.len() == flows.len() {
            if self.bounds.floors.is_empty() && path_prices.iter().all(|&price| price >= f64::MIN_POSITIVE) {
                return block.utility.demand_into(block.places(flows), path_prices, demands);
            }
            let prices: Vec<f64> = path_prices.iter().map(|price| price.max(f64::MIN_POSITIVE)).collect();
            block.utility.demand_into(block.places(flows), &prices, demands);
            for ((flow, demand), &price) in flows.clone().zip(demands).zip(path_prices) {
                if price == 0.0 {
                    *demand = self.bounds.saturations[flow];
                }
                let floor = self.bounds.floors[flow];
                *demand = if *demand < floor { floor } else { *demand };
            }
            return;
        }
        let rounds = flows.clone().map(|flow| self.paths_of(flow).len()).max().unwrap_or(0);
        let (mut prices, mut answers) = (vec![0.0; flows.len()], vec![0.0; flows.len()]);
        for round in 0..rounds {
            let path = |flow: usize| {
                let own = self.paths_of(flow);
                (own.start + round).min(own.end - 1) - first
            };
            for (price, flow) in prices.iter_mut().zip(flows.clone()) {
                *price = path_prices[path(flow)].max(f64::MIN_POSITIVE);
            }
            block.utility.demand_into(block.places(flows), &prices, &mut answers);
            for (flow, &answer) in flows.clone().zip(&answers) {
                let most = self.bounds.saturations[flow];
                // min would drop a NaN.
                let (floor, free) = (self.bounds.floors[flow], path_prices[path(flow)] == 0.0);
                demands[path(flow)] = match () {
                    () if free || answer > most => most,
                    () if answer < floor => floor,
                    () => answer,
                };
            }
        }
    }
}

/// The new number of every link of a problem, given those that are used.
fn numbers(used: &[u32], links: usize) -> Vec<u32> {
    let mut numbers = vec![u32::MAX; links];
    for (new, &link) in used.iter().enumerate() {
        numbers[link as usize] = new as u32;
    }
    numbers
}
