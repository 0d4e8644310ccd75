//! The problem: links with capacities, paths over them, flows over one or more paths, and a utility per flow.

mod blocks;
mod changes;
mod equality;
mod json;
mod limited;
mod mixed_alpha;
mod more_paths;
mod stages;

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result, check_capacity, check_length, check_price};
use crate::interrupt::{self, PIECE};
use crate::paths::Paths;
use crate::paths::parts;
use crate::utility::{Curvature, Utilities, Utility};
use crate::work::{Ranks, Workers, for_each};
pub(crate) use blocks::Block;
pub(crate) use limited::is_worthless;
pub use mixed_alpha::Starving;

/// A network utility maximization problem, checked.
///
/// Invariants, each checked on construction:
/// 1. every capacity is a number and not negative (0: the link has failed, ∞: it has no limit);
/// 2. every path has a link, names links that exist, and none of them twice, with coefficients that are finite and > 0;
/// 3. every flow in `0..flows` owns at least one path;
/// 4. every rate cap and every flow cap is a number that is not negative, ∞ for none;
/// 5. every flow floor is finite, not negative and at most the flow's cap, every cost of a path finite and not
///    negative;
/// 6. there is one utility for every flow;
/// 7. every priority is finite.
#[derive(Debug, Clone)]
pub struct Problem {
    // Shared, so that a copy costs nothing: every solver of a problem keeps one.
    capacities: Arc<Vec<f64>>,
    paths: Arc<Paths>,
    /// The flow of every path.
    group: Arc<Vec<u32>>,
    flows: usize,
    /// Cap of every path; empty when there are none.
    rate_caps: Arc<Vec<f64>>,
    /// Cap of every flow over all its paths; empty when there are none.
    flow_caps: Arc<Vec<f64>>,
    /// Floor of every flow over all its paths; empty when there are none.
    flow_floors: Arc<Vec<f64>>,
    /// Utility lost per unit of rate on every path; empty when there are no costs.
    path_costs: Arc<Vec<f64>>,
    /// Of every flow, the smallest first; empty where all are the same.
    priorities: Arc<Vec<f64>>,
    /// Rates of all paths that are known to carry the floors; empty where none are.
    carrying: Arc<Vec<f64>>,
    /// The most that every flow could carry over other paths as well; empty where its own paths are all it has.
    reaches: Arc<Vec<f64>>,
    blocks: Arc<Vec<Block>>,
}

impl Problem {
    /// A problem in which every flow has one path: flow `f` owns path `f`.
    ///
    /// # Errors
    /// See [`Problem::grouped`].
    pub fn new(capacities: Vec<f64>, paths: impl Into<Arc<Paths>>, utilities: impl Into<Utilities>) -> Result<Self> {
        let paths = paths.into();
        let group = (0..paths.len() as u32).collect();
        Self::grouped(capacities, paths, group, utilities)
    }

    /// A problem in which path `p` belongs to flow `group[p]`, so that a flow may own several.
    ///
    /// # Errors
    /// [`Error::Capacity`], [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`],
    /// [`Error::Group`], [`Error::GroupGap`], or [`Error::Length`] when `group` or the utilities have the wrong number
    /// of entries; [`Error::Stopped`].
    pub fn grouped(
        capacities: Vec<f64>,
        paths: impl Into<Arc<Paths>>,
        group: Vec<u32>,
        utilities: impl Into<Utilities>,
    ) -> Result<Self> {
        // Invariant 1: capacities are not negative.
        check_capacities(&capacities)?;
        // Invariant 2: paths have links, which exist, each once.
        let paths = paths.into();
        interrupt::check()?;
        paths.check(capacities.len())?;
        // Invariant 3: every flow owns a path.
        interrupt::check()?;
        check_length("group", group.len(), paths.len(), "path")?;
        if let Some(path) = group.iter().position(|&flow| flow as usize >= paths.len()) {
            return Err(Error::Group { path, value: i64::from(group[path]) });
        }
        let flows = group.iter().max().map_or(0, |&flow| flow as usize + 1);
        let mut owns = vec![false; flows];
        for &flow in &group {
            owns[flow as usize] = true;
        }
        if let Some(flow) = owns.iter().position(|owns| !owns) {
            return Err(Error::GroupGap { flow, flows });
        }
        // Invariant 6: one utility per flow.
        interrupt::check()?;
        let blocks = blocks::of(utilities.into(), flows)?;
        let (capacities, group, blocks) = (Arc::new(capacities), Arc::new(group), Arc::new(blocks));
        Ok(Self {
            capacities,
            paths,
            group,
            flows,
            rate_caps: Arc::default(),
            flow_caps: Arc::default(),
            flow_floors: Arc::default(),
            path_costs: Arc::default(),
            priorities: Arc::default(),
            carrying: Arc::default(),
            reaches: Arc::default(),
            blocks,
        })
    }

    /// Capacity of every link.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// The links of every path.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The flow of every path.
    pub fn group(&self) -> &[u32] {
        &self.group
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.capacities.len()
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.flows
    }

    /// Whether every flow has exactly one path.
    pub fn is_single_path(&self) -> bool {
        self.flows == self.paths.len()
    }

    /// Cap on the rate of a path; ∞ where there is none.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn rate_cap(&self, path: usize) -> f64 {
        assert!(path < self.paths.len(), "path {path} of {} paths", self.paths.len());
        if self.rate_caps.is_empty() { f64::INFINITY } else { self.rate_caps[path] }
    }

    /// Whether any path has a finite cap.
    pub fn has_rate_caps(&self) -> bool {
        !self.rate_caps.is_empty()
    }

    /// Cap on the rate of a flow over all its paths; ∞ where there is none.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn flow_cap(&self, flow: usize) -> f64 {
        assert!(flow < self.flows, "flow {flow} of {} flows", self.flows);
        if self.flow_caps.is_empty() { f64::INFINITY } else { self.flow_caps[flow] }
    }

    /// Whether any flow has a finite cap.
    pub fn has_flow_caps(&self) -> bool {
        !self.flow_caps.is_empty()
    }

    /// The least rate of a flow over all its paths; 0 where there is none.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn flow_floor(&self, flow: usize) -> f64 {
        assert!(flow < self.flows, "flow {flow} of {} flows", self.flows);
        if self.flow_floors.is_empty() { 0.0 } else { self.flow_floors[flow] }
    }

    /// Whether any flow has a floor above 0.
    pub fn has_flow_floors(&self) -> bool {
        !self.flow_floors.is_empty()
    }

    /// Utility lost per unit of rate on a path; 0 where there is no cost.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn path_cost(&self, path: usize) -> f64 {
        assert!(path < self.paths.len(), "path {path} of {} paths", self.paths.len());
        if self.path_costs.is_empty() { 0.0 } else { self.path_costs[path] }
    }

    /// Whether any path has a cost above 0.
    pub fn has_path_costs(&self) -> bool {
        !self.path_costs.is_empty()
    }

    /// The priority of a flow: those of a smaller one are served first. 0 for all unless they were given.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn priority(&self, flow: usize) -> f64 {
        assert!(flow < self.flows, "flow {flow} of {} flows", self.flows);
        if self.priorities.is_empty() { 0.0 } else { self.priorities[flow] }
    }

    /// Whether flows have different priorities.
    pub fn has_priorities(&self) -> bool {
        !self.priorities.is_empty()
    }

    /// Whether the path is closed: a link of it has failed (capacity 0), or the path or its flow is capped at 0.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn is_closed(&self, path: usize) -> bool {
        self.limit(path) == 0.0 || self.paths.links(path).iter().any(|&link| self.capacities[link as usize] == 0.0)
    }

    /// The least strict curvature among its utilities: max-min before linear before strict.
    pub fn curvature(&self) -> Curvature {
        let has = |curvature| self.blocks.iter().any(|block| block.utility.curvature() == curvature);
        match () {
            () if has(Curvature::MaxMin) => Curvature::MaxMin,
            () if has(Curvature::Linear) => Curvature::Linear,
            () => Curvature::Strict,
        }
    }

    /// Whether all utilities bend in the same way.
    pub(crate) fn has_only(&self, curvature: Curvature) -> bool {
        self.blocks.iter().all(|block| block.utility.curvature() == curvature)
    }

    /// The utility object of a flow, and the number of the flow's parameters in it.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn utility(&self, flow: usize) -> (&dyn Utility, usize) {
        let number = flow as u32;
        for block in self.blocks() {
            // A block of all flows has each at its own number.
            if block.flows.get(flow) == Some(&number) {
                return (&*block.utility, flow);
            }
            if let Ok(place) = block.flows.binary_search(&number) {
                return (&*block.utility, place);
            }
        }
        panic!("flow {flow} of {} flows", self.flows)
    }

    /// Rate of every flow: the sum over its paths.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one rate per path.
    pub fn flow_rates(&self, rates: &[f64]) -> Result<Vec<f64>> {
        self.check_rates(rates)?;
        if self.pairs_flows_with_paths() {
            return Ok(rates.to_vec());
        }
        let mut flow_rates = vec![0.0; self.flows];
        for (&flow, &rate) in self.group.iter().zip(rates) {
            flow_rates[flow as usize] += rate;
        }
        Ok(flow_rates)
    }

    /// U' of every flow at its rate.
    pub(crate) fn marginals(&self, flow_rates: &[f64]) -> Vec<f64> {
        let mut marginals = vec![0.0; flow_rates.len()];
        for block in self.blocks() {
            let rates: Vec<f64> = block.flows.iter().map(|&flow| flow_rates[flow as usize]).collect();
            let mut own = vec![0.0; rates.len()];
            block.utility.marginal_into(0..rates.len(), &rates, &mut own);
            block.flows.iter().zip(own).for_each(|(&flow, marginal)| marginals[flow as usize] = marginal);
        }
        marginals
    }

    /// Load of every link: the sum of the rates of the paths through it, times their coefficients.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one rate per path.
    pub fn loads(&self, rates: &[f64]) -> Result<Vec<f64>> {
        self.check_rates(rates)?;
        let mut loads = vec![0.0; self.links()];
        self.paths.scatter(0..rates.len(), rates, &mut loads);
        Ok(loads)
    }

    /// U_f(y_f) of every flow, of which an objective is the sum; for flows of max-min its fair share, of which the
    /// objective is the smallest. A log utility of rate 0 is −∞.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one rate per flow.
    pub fn values(&self, flow_rates: &[f64]) -> Result<Vec<f64>> {
        check_length("flow_rates", flow_rates.len(), self.flows, "flow")?;
        Ok(self.values_by(flow_rates, &Ranks::alone()))
    }

    fn values_by(&self, flow_rates: &[f64], workers: &dyn Workers) -> Vec<f64> {
        let mut all = vec![0.0; self.flows];
        let is_max_min = |block: &Block| block.utility.curvature() == Curvature::MaxMin;
        if let [block] = self.blocks()
            && !is_max_min(block)
        {
            let least = if block.is_user_defined() { usize::MAX } else { parts::PATHS };
            let ranges = parts::ranges(self.flows, least);
            let value = |(values, range): (&mut [f64], Range<usize>)| {
                block.utility.value_into(range.clone(), &flow_rates[range], values);
                Ok(())
            };
            for_each(workers, parts::pieces(&mut all, &ranges), value).expect("nothing stops it");
            return all;
        }
        for block in self.blocks() {
            let rates: Vec<f64> = block.flows.iter().map(|&flow| flow_rates[flow as usize]).collect();
            let mut values = vec![f64::INFINITY; rates.len()];
            if is_max_min(block) {
                for ((place, value), rate) in values.iter_mut().enumerate().zip(rates) {
                    *value = block.utility.fair_share(place).map_or(f64::INFINITY, |share| share.least(rate));
                }
            } else {
                block.utility.value_into(0..rates.len(), &rates, &mut values);
            }
            block.flows.iter().zip(values).for_each(|(&flow, value)| all[flow as usize] = value);
        }
        all
    }

    /// Σ U_f(y_f) over the flows that are not left out, less Σ k_p x_p; the smallest fair share for max-min problems.
    pub(crate) fn objective(
        &self,
        rates: &[f64],
        flow_rates: &[f64],
        failed_flows: &[u32],
        workers: &dyn Workers,
    ) -> f64 {
        let values = self.values_by(flow_rates, workers);
        let mut failed = failed_flows.iter().peekable();
        let served = |&(flow, _): &(usize, f64)| failed.next_if(|&&failed| failed as usize == flow).is_none();
        let counted = values.into_iter().enumerate().filter(served).map(|(_, value)| value);
        if self.curvature() != Curvature::MaxMin {
            let utility: f64 = counted.sum();
            let cost = || self.path_costs.iter().zip(rates).map(|(cost, rate)| cost * rate).sum::<f64>();
            return if self.has_path_costs() { utility - cost() } else { utility };
        }
        let least = counted.fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    /// The most that a path may carry: its cap, or its flow's if that is smaller.
    pub(crate) fn limit(&self, path: usize) -> f64 {
        let cap = self.rate_cap(path);
        if self.has_flow_caps() { cap.min(self.flow_cap(self.group[path] as usize)) } else { cap }
    }

    /// Cuts rates to what the flows' caps allow over all their paths, those of a flow in proportion.
    pub(crate) fn cut_to_flow_caps(&self, rates: &mut [f64]) {
        if !self.has_flow_caps() {
            return;
        }
        let flow_rates = self.flow_rates(rates).expect("one rate per path");
        for (rate, &flow) in rates.iter_mut().zip(&*self.group) {
            let (all, cap) = (flow_rates[flow as usize], self.flow_caps[flow as usize]);
            if all > cap {
                *rate *= cap / all;
            }
        }
    }

    /// The links of every path, to be kept.
    pub fn shared_paths(&self) -> Arc<Paths> {
        Arc::clone(&self.paths)
    }

    /// The flow of every path, to be kept.
    pub(crate) fn shared_group(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.group)
    }

    /// Whether flow f owns path f and no other, for every flow.
    pub fn pairs_flows_with_paths(&self) -> bool {
        // Piece by piece, as a loop that may end at any flow is not vectorized.
        let is_paired = |(first, flows): (usize, &[u32])| {
            let others = flows.iter().enumerate().map(|(place, &flow)| flow ^ (first + place) as u32);
            others.fold(0, |any, other| any | other) == 0
        };
        self.is_single_path() && (0..).step_by(PIECE).zip(self.group.chunks(PIECE)).all(is_paired)
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Whether another problem has the same paths of the same flows over as many links.
    ///
    /// # Errors
    /// [`Error::OtherPaths`] for other links, paths or flows, or another number of them.
    pub(crate) fn check_same_paths(&self, other: &Self) -> Result<()> {
        let links = (other.links() != self.links())
            .then(|| format!("it has {} links, the problem has {}", other.links(), self.links()));
        match links.or_else(|| self.difference(&other.paths, &other.group)) {
            Some(what) => Err(Error::OtherPaths { name: "update", what }),
            None => Ok(()),
        }
    }

    /// How other paths and their flows differ from these: by their number, or the first that differs.
    pub(crate) fn difference(&self, paths: &Arc<Paths>, group: &Arc<Vec<u32>>) -> Option<String> {
        let flows = |group: &[u32]| group.iter().max().map_or(0, |&last| last as usize + 1);
        if flows(group) != self.flows {
            return Some(format!("it is of {} flows, the problem has {}", flows(group), self.flows));
        }
        if paths.len() != self.paths.len() {
            return Some(format!("it is of {} paths, the problem has {}", paths.len(), self.paths.len()));
        }
        let crosses_others = |&path: &usize| self.paths.links(path) != paths.links(path);
        if !Arc::ptr_eq(&self.paths, paths)
            && let Some(path) = (0..paths.len()).find(crosses_others)
        {
            return Some(format!("path {path} crosses other links there"));
        }
        if self.paths.coefficients() != paths.coefficients() {
            return Some("its paths have other coefficients".into());
        }
        if Arc::ptr_eq(&self.group, group) {
            return None;
        }
        let path = (0..group.len()).find(|&path| group[path] != self.group[path])?;
        Some(format!("path {path} is of flow {} there, of flow {} here", group[path], self.group[path]))
    }

    /// One rate per path.
    pub(crate) fn check_rates(&self, rates: &[f64]) -> Result<()> {
        check_length("rates", rates.len(), self.paths.len(), "path")
    }

    /// One finite price that is not negative per link.
    pub(crate) fn check_prices(&self, prices: &[f64]) -> Result<()> {
        check_length("prices", prices.len(), self.links(), "link")?;
        prices.iter().enumerate().try_for_each(|(link, &price)| check_price(link, price))
    }
}

fn check_capacities(capacities: &[f64]) -> Result<()> {
    capacities.iter().enumerate().try_for_each(|(link, &capacity)| check_capacity(link, capacity))
}
