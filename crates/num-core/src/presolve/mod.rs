//! Problem → the form that methods work on: natural units, no closed paths, flows in blocks.
//!
//! - Closed paths (a failed link or a cap of 0) are removed; so are failed flows, which have no open path, and links
//!   without open paths.
//! - Rates and prices are in natural units (`units.rs`), so that nothing afterwards can depend on the caller's.
//! - The cap of a flow with one path is that path's; with several it is a saturation, so that methods have no
//!   case for it.
//! - Flows of one utility stand together, and among them paths of equal length, so that inner loops have no branches.

mod active;
mod blocks;
mod units;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use active::open_paths;
use active::{flow_caps, used_links};
pub(crate) use blocks::{CHUNK, NaturalBlock};
use blocks::{Order, natural_blocks};
use units::rate_unit;

use crate::error::{Error, Result};
use crate::interrupt::{Pacer, check};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::{Curvature, Units};

/// Paths, or links that they cross, between two checks whether to stop.
const CHECKED: usize = 1 << 16;

/// What rounding leaves of a sum, relative.
const ROUNDING: f64 = 1e-13;

/// A problem in natural units. All fields are *(derived)* and never change.
pub(crate) struct Presolved {
    pub(crate) units: Units,
    /// Capacity of every link, > 0.
    pub(crate) capacities: Vec<f64>,
    /// The problem's own where nothing is removed or reordered.
    pub(crate) paths: Arc<Paths>,
    /// Cap of every path, ∞ for none, > 0.
    pub(crate) caps: Vec<f64>,
    /// The most that a path can carry or its flow can use: its cap, its smallest capacity, the flow's saturation.
    pub(crate) ceilings: Vec<f64>,
    /// Caps of flows with several paths, where the paths could carry more; a flow with one path has it in `caps`.
    pub(crate) flow_caps: Vec<(usize, f64)>,
    /// The most that a flow can use over all its paths: what saturates its utility, or its cap among `flow_caps`.
    pub(crate) saturations: Vec<f64>,
    /// The paths of flow `f` are `flow_paths[f]..flow_paths[f + 1]`.
    pub(crate) flow_paths: Vec<usize>,
    pub(crate) blocks: Vec<NaturalBlock>,
    /// An equal share of every link for every path through it, at most its cap; and log U' of every flow there.
    pub(crate) equal_shares: Vec<f64>,
    pub(crate) log_marginals: Vec<f64>,
    /// Caller's number of every link, path and flow.
    links: Vec<u32>,
    original_paths: Vec<u32>,
    pub(crate) original_flows: Vec<u32>,
    /// Flows of the problem without an open path, in increasing order.
    pub(crate) failed_flows: Vec<u32>,
    total_links: usize,
    total_paths: usize,
}

impl Presolved {
    /// # Errors
    /// [`Error::Utility`] when a utility's values cannot be used, [`Error::Stopped`].
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let Order { paths: original_paths, flow_paths, blocks, failed_flows } = Order::of(problem)?;
        let mut original_flows = Vec::with_capacity(flow_paths.len() - 1);
        for (number, places) in &blocks {
            let flows = &problem.blocks()[*number].flows;
            original_flows.extend(places.iter().map(|&place| flows[place as usize]));
        }
        let (links, number) = used_links(problem, &original_paths)?;
        let in_order = original_paths.iter().enumerate().all(|(path, &original)| original as usize == path);
        let paths = match in_order && original_paths.len() == problem.paths().len() && links.len() == problem.links() {
            true => problem.shared_paths(),
            false => Arc::new(problem.paths().select(&original_paths, &number)?),
        };
        let mut capacities: Vec<f64> = links.iter().map(|&link| problem.capacities()[link as usize]).collect();
        let mut caps: Vec<f64> = original_paths.iter().map(|&path| problem.rate_cap(path as usize)).collect();
        let mut ceilings = each_path(&paths, |_, links| smallest(&capacities, links))?;
        let rate = rate_unit(&ceilings);
        check()?;
        capacities.iter_mut().chain(&mut caps).chain(&mut ceilings).for_each(|value| *value /= rate);
        for (ceiling, &cap) in ceilings.iter_mut().zip(&caps) {
            *ceiling = ceiling.min(cap);
        }

        let flow_caps = flow_caps(problem, rate, &original_flows, &flow_paths, &mut caps, &mut ceilings)?;
        let mut this = Self {
            units: Units { rate, log_price: 0.0 },
            capacities,
            paths,
            caps,
            ceilings,
            flow_caps,
            saturations: Vec::new(),
            flow_paths,
            blocks: Vec::new(),
            equal_shares: Vec::new(),
            log_marginals: Vec::new(),
            links,
            original_paths,
            original_flows,
            failed_flows,
            total_links: problem.links(),
            total_paths: problem.paths().len(),
        };
        let mut equal_shares = this.equal_shares()?;
        this.cut_to_flow_caps(&mut equal_shares);
        this.equal_shares = equal_shares;
        if problem.curvature() == Curvature::MaxMin {
            // No marginals, no prices: its methods use the problem itself.
            this.log_marginals = vec![0.0; this.original_flows.len()];
            return Ok(this);
        }
        this.log_marginals = this.caller_log_marginals(problem, &blocks)?;
        this.units.log_price = this.log_price_unit();
        if blocks.iter().any(|(number, _)| problem.blocks()[*number].utility.in_units(&[], this.units).is_none()) {
            // Utilities without unit conversion need a price unit within the range of floats.
            this.units.log_price = this.units.log_price.clamp(-460.0, 460.0);
        }
        this.log_marginals.iter_mut().for_each(|log| *log -= this.units.log_price);
        check()?;
        this.blocks = natural_blocks(problem, &blocks, this.units);
        this.bound_by_saturation()?;
        Ok(this)
    }

    /// The paths of consecutive flows, which are consecutive too.
    pub(crate) fn paths_of_all(&self, flows: &Range<usize>) -> Range<usize> {
        self.flow_paths[flows.start]..self.flow_paths[flows.end]
    }

    /// The paths of a flow.
    pub(crate) fn paths_of(&self, flow: usize) -> Range<usize> {
        self.flow_paths[flow]..self.flow_paths[flow + 1]
    }

    /// Cuts rates to what the flows' caps allow over several paths, those of a flow in proportion.
    pub(crate) fn cut_to_flow_caps(&self, rates: &mut [f64]) {
        for &(flow, cap) in &self.flow_caps {
            let own = &mut rates[self.paths_of(flow)];
            let total: f64 = own.iter().sum();
            if total > cap {
                own.iter_mut().for_each(|rate| *rate *= cap / total);
            }
        }
    }

    /// Whether a flow has all that it can use, to the rounding of the sum over its paths.
    pub(crate) fn is_saturated(&self, flow: usize, rate: f64) -> bool {
        rate >= self.saturations[flow] * (1.0 - ROUNDING)
    }

    /// Rate of every flow: the sum over its paths.
    pub(crate) fn flow_totals(&self, per_path: &[f64]) -> Vec<f64> {
        match self.flow_paths.len() == per_path.len() + 1 {
            true => per_path.to_vec(),
            false => self.flow_paths.windows(2).map(|pair| per_path[pair[0]..pair[1]].iter().sum()).collect(),
        }
    }

    /// U' of every flow at its rate.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn marginals(&self, flow_rates: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; flow_rates.len()];
        for block in &self.blocks {
            for flows in block.chunks() {
                check()?;
                block.utility.marginal_into(block.places(&flows), &flow_rates[flows.clone()], &mut out[flows]);
            }
        }
        Ok(out)
    }

    /// (U')⁻¹(q_p) for every path of some flows, at most all that the flow can use, and that where a path is free; the
    /// demands are computed in rounds, one path of every flow at a time. Prices and demands are those of these paths
    /// only.
    pub(crate) fn path_demands_into(
        &self,
        block: &NaturalBlock,
        flows: &Range<usize>,
        path_prices: &[f64],
        demands: &mut [f64],
    ) {
        let starts = &self.flow_paths[flows.start..=flows.end];
        assert_eq!(demands.len(), starts[flows.len()] - starts[0], "one demand for every path of these flows");
        if demands.len() == flows.len() {
            let prices: Vec<f64> = path_prices.iter().map(|price| price.max(f64::MIN_POSITIVE)).collect();
            block.utility.demand_into(block.places(flows), &prices, demands);
            for ((&most, demand), &price) in self.saturations[flows.clone()].iter().zip(demands).zip(path_prices) {
                if price == 0.0 {
                    *demand = most;
                }
            }
            return;
        }
        let rounds = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let (mut prices, mut answers) = (vec![0.0; flows.len()], vec![0.0; flows.len()]);
        for round in 0..rounds {
            let path = |pair: &[usize]| (pair[0] + round).min(pair[1] - 1) - starts[0];
            for (price, pair) in prices.iter_mut().zip(starts.windows(2)) {
                *price = path_prices[path(pair)].max(f64::MIN_POSITIVE);
            }
            block.utility.demand_into(block.places(flows), &prices, &mut answers);
            for ((&most, &answer), pair) in self.saturations[flows.clone()].iter().zip(&answers).zip(starts.windows(2))
            {
                // min would drop a NaN.
                let all = path_prices[path(pair)] == 0.0 || answer > most;
                demands[path(pair)] = if all { most } else { answer };
            }
        }
    }

    fn bound_by_saturation(&mut self) -> Result<()> {
        let mut pacer = Pacer::new();
        let mut flow_caps = self.flow_caps.iter().peekable();
        for block in &self.blocks {
            for (place, flow) in block.flows.clone().enumerate() {
                let saturation = block.utility.saturation(place);
                if saturation.is_nan() || saturation < 0.0 {
                    let what = format!("its saturation is {}, expected a number >= 0", saturation * self.units.rate);
                    return Err(Error::Utility { flow: self.original_flows[flow] as usize, what });
                }
                let capped = flow_caps.next_if(|&&(capped, _)| capped == flow);
                let saturation = capped.map_or(saturation, |&(_, cap)| saturation.min(cap));
                self.saturations.push(saturation);
                for ceiling in &mut self.ceilings[self.flow_paths[flow]..self.flow_paths[flow + 1]] {
                    *ceiling = ceiling.min(saturation);
                }
                pacer.did(1)?;
            }
        }
        Ok(())
    }

    /// Per path the smallest c_l/n_l along it, n_l being the number of paths through a link, or its cap.
    fn equal_shares(&self) -> Result<Vec<f64>> {
        let mut counts = vec![0.0; self.capacities.len()];
        for links in self.paths.indices().chunks(CHECKED) {
            links.iter().for_each(|&link| counts[link as usize] += 1.0);
            check()?;
        }
        let shares: Vec<f64> = self.capacities.iter().zip(counts).map(|(capacity, count)| capacity / count).collect();
        each_path(&self.paths, |path, links| smallest(&shares, links).min(self.caps[path]))
    }
}

/// A number for every path.
fn each_path(paths: &Paths, number: impl Fn(usize, &[u32]) -> f64) -> Result<Vec<f64>> {
    let mut numbers = Vec::with_capacity(paths.len());
    while numbers.len() < paths.len() {
        let (start, end) = (numbers.len(), paths.len().min(numbers.len() + CHECKED));
        numbers.extend((start..end).map(|path| number(path, paths.links(path))));
        check()?;
    }
    Ok(numbers)
}

/// The smallest of a path's links' values.
pub(crate) fn smallest(values: &[f64], links: &[u32]) -> f64 {
    let mut smallest = f64::INFINITY;
    for &link in links {
        // One instruction, where min is three.
        let value = values[link as usize];
        smallest = if value < smallest { value } else { smallest };
    }
    smallest
}
