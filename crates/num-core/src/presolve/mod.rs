//! Problem → the form that methods work on: natural units, closed paths left out, flows in blocks.
//!
//! - A path that nothing can pass is left out, a flow without any other path with it; so are links without paths.
//! - Rates are counted in C₀, the geometric mean over paths of the smallest capacity (as a power of two, so that going
//!   there and back is exact), prices in U₀, the revenue-weighted mean of U' at an equal share. Nothing afterwards can
//!   depend on the caller's units.
//! - The cap of a flow with one path is that path's; with several it is one more saturation, beyond which more is worth
//!   nothing, so that methods need not know of it.
//! - Flows of one utility stand together, and among them paths of equal length, so that inner loops have no branches.

use std::f64::consts::LN_2;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interrupt::{Pacer, check};
use crate::numerics::{exp, ln, vectorized};
use crate::paths::Paths;
use crate::problem::{Block, Problem};
use crate::utility::{Curvature, Rescaled, Units, Utility};

/// Paths, or links that they cross, between two looks whether to stop.
const CHECKED: usize = 1 << 16;

/// The part of a path's price that may be lost where floats do not hold it.
const LOST: f64 = 1e-9;

/// The smallest number that floats hold to that part of it.
const SMALLEST_PRICE: f64 = 5e-315;

/// What rounding leaves of a sum, relative.
const ROUNDING: f64 = 1e-13;

/// Paths that are treated at a time: their prices, rates and slopes stay in the first-level cache.
pub(crate) const CHUNK: usize = 128;

/// A problem in natural units. All fields are *(derived)* and never change.
pub(crate) struct Presolved {
    pub(crate) units: Units,
    /// Capacity of every link, > 0.
    pub(crate) capacities: Vec<f64>,
    /// The problem's own where nothing is left out or reordered.
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
    /// Flows of the problem that nothing can pass, in increasing order.
    pub(crate) left_out: Vec<u32>,
    total_links: usize,
    total_paths: usize,
}

/// Flows that share one utility object in natural units: `flows.start + i` has its parameters number `i`.
pub(crate) struct NaturalBlock {
    pub(crate) utility: Box<dyn Utility>,
    pub(crate) flows: Range<usize>,
    /// Whether it must be asked about all its flows in one call, as vectorised user utilities must.
    pub(crate) whole: bool,
    /// Whether U' may fall at once somewhere: a family that says so, or a user's own that may not say.
    pub(crate) may_jump: bool,
}

impl NaturalBlock {
    /// Its flows, a chunk at a time.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (start, end) = (self.flows.start, self.flows.end);
        let size = if self.whole { (end - start).max(1) } else { CHUNK };
        (start..end).step_by(size).map(move |at| at..(at + size).min(end))
    }

    /// The numbers of some flows' parameters in the utility object.
    pub(crate) fn places(&self, flows: &Range<usize>) -> Range<usize> {
        flows.start - self.flows.start..flows.end - self.flows.start
    }
}

impl Presolved {
    /// # Errors
    /// [`Error::Utility`] when a utility's answers cannot be used, [`Error::Stopped`].
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let Order { paths: original_paths, flow_paths, blocks, left_out } = Order::of(problem)?;
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
            left_out,
            total_links: problem.links(),
            total_paths: problem.paths().len(),
        };
        let mut equal_shares = this.shares()?;
        this.cut_to_flow_caps(&mut equal_shares);
        this.equal_shares = equal_shares;
        if problem.curvature() == Curvature::MaxMin {
            // No marginals, no prices: its methods ask the problem itself.
            this.log_marginals = vec![0.0; this.original_flows.len()];
            return Ok(this);
        }
        this.log_marginals = this.caller_log_marginals(problem, &blocks)?;
        this.units.log_price = this.log_price_unit();
        if blocks.iter().any(|(number, _)| problem.blocks()[*number].utility.in_units(&[], this.units).is_none()) {
            // Utilities that know nothing of units need a price unit that is a number.
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

    /// Prices of all links in the caller's units; links without open paths are free. A price that no float can hold
    /// (α = 200 and weights of 1e5, say) becomes the largest one, or 0.
    pub(crate) fn caller_prices(&self, prices: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_links];
        let unit = self.units.price();
        for (&link, &price) in self.links.iter().zip(prices) {
            all[link as usize] = if price == 0.0 { 0.0 } else { (price * unit).min(f64::MAX) };
        }
        all
    }

    /// Whether floats hold, in the caller's units, every price that is more than the part 1e−9 of what a path pays.
    pub(crate) fn holds_prices(&self, prices: &[f64]) -> bool {
        let unit = self.units.price();
        let is_lost = |price: f64| price > 0.0 && !(SMALLEST_PRICE..=f64::MAX).contains(&(price * unit));
        if !prices.iter().any(|&price| is_lost(price)) {
            return true;
        }
        self.paths.iter().all(|links| {
            let own = links.iter().map(|&link| prices[link as usize]);
            let lost: f64 = own.clone().filter(|&price| is_lost(price)).sum();
            lost <= LOST * own.sum::<f64>()
        })
    }

    /// Rates of all paths in the caller's units; closed paths carry nothing.
    pub(crate) fn caller_rates(&self, rates: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_paths];
        for (&path, &rate) in self.original_paths.iter().zip(rates) {
            all[path as usize] = rate * self.units.rate;
        }
        all
    }

    /// A link for some paths, both by their numbers here → by the caller's, for all paths.
    pub(crate) fn caller_links(&self, of_paths: &[Option<u32>]) -> Vec<Option<u32>> {
        let mut all = vec![None; self.total_paths];
        for (&path, link) in self.original_paths.iter().zip(of_paths) {
            all[path as usize] = link.map(|link| self.links[link as usize]);
        }
        all
    }

    /// The caller's prices in natural units.
    pub(crate) fn natural_prices(&self, prices: &[f64]) -> Vec<f64> {
        let natural = |&link: &u32| match prices[link as usize] {
            0.0 => 0.0,
            price => (price.ln() - self.units.log_price).min(600.0).exp(),
        };
        self.links.iter().map(natural).collect()
    }

    /// The caller's rates in natural units, cut to what sums over all paths can hold.
    pub(crate) fn natural_rates(&self, rates: &[f64]) -> Vec<f64> {
        self.original_paths.iter().map(|&path| (rates[path as usize] / self.units.rate).min(1e200)).collect()
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
    /// paths are asked in rounds, one of every flow at a time. Prices and demands are those of these paths only.
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
                // Not min, which would hide an answer that is not a number.
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
    fn shares(&self) -> Result<Vec<f64>> {
        let mut counts = vec![0.0; self.capacities.len()];
        for links in self.paths.indices().chunks(CHECKED) {
            links.iter().for_each(|&link| counts[link as usize] += 1.0);
            check()?;
        }
        let shares: Vec<f64> = self.capacities.iter().zip(counts).map(|(capacity, count)| capacity / count).collect();
        each_path(&self.paths, |path, links| smallest(&shares, links).min(self.caps[path]))
    }

    /// log U' of every flow at its equal share, in the caller's units of price.
    fn caller_log_marginals(&self, problem: &Problem, blocks: &[(usize, Vec<u32>)]) -> Result<Vec<f64>> {
        let shares = self.flow_totals(&self.equal_shares);
        let (mut logs, mut start) = (Vec::with_capacity(shares.len()), 0);
        for (number, places) in blocks {
            let Block { utility, flows } = &problem.blocks()[*number];
            let mut rates = vec![self.units.rate; flows.len()];
            for (&place, share) in places.iter().zip(&shares[start..]) {
                rates[place as usize] *= share;
            }
            start += places.len();
            let mut all = vec![0.0; flows.len()];
            check()?;
            utility.log_marginal_into(0..flows.len(), &rates, &mut all);
            check()?;
            // A flow that is satiated at its equal share has a marginal of 0 there, and its logarithm is −∞.
            let wrong = |&&place: &&u32| all[place as usize].is_nan() || all[place as usize] == f64::INFINITY;
            if let Some(&place) = places.iter().find(wrong) {
                let rate = rates[place as usize];
                // A negative one has no logarithm.
                let marginal = utility.marginal(place as usize, rate);
                let what = format!("its marginal at rate {rate} is {marginal}, expected a finite number >= 0");
                return Err(Error::Utility { flow: flows[place as usize] as usize, what });
            }
            logs.extend(places.iter().map(|&place| all[place as usize]));
        }
        Ok(logs)
    }

    /// log of Σ x U'² / Σ x U' at the equal share, the mean price of a unit of revenue.
    fn log_price_unit(&self) -> f64 {
        let shares = self.flow_totals(&self.equal_shares);
        let largest = self.log_marginals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return 0.0;
        }
        let mut relatives = vec![0.0; shares.len()];
        vectorized(
            #[inline(always)]
            || {
                for (relative, &log) in relatives.iter_mut().zip(&self.log_marginals) {
                    *relative = exp(log - largest);
                }
            },
        );
        let (mut squares, mut revenue) = (0.0, 0.0);
        for (share, relative) in shares.iter().zip(relatives) {
            squares += share * relative * relative;
            revenue += share * relative;
        }
        largest + (squares / revenue).ln()
    }
}

/// Which paths and flows are kept, and in which order.
struct Order {
    paths: Vec<u32>,
    flow_paths: Vec<usize>,
    /// Per kept block its number in the problem and the places of its kept flows there, in working order.
    blocks: Vec<(usize, Vec<u32>)>,
    left_out: Vec<u32>,
}

impl Order {
    fn of(problem: &Problem) -> Result<Self> {
        let open = open_paths(problem)?;
        let mut this = Self {
            paths: Vec::with_capacity(problem.paths().len()),
            flow_paths: Vec::with_capacity(problem.flows() + 1),
            blocks: Vec::new(),
            left_out: Vec::new(),
        };
        this.flow_paths.push(0);
        for (number, block) in problem.blocks().iter().enumerate() {
            let places = this.sorted_places(problem, block, &open)?;
            for some in places.chunks(CHECKED) {
                for &place in some {
                    this.paths.extend_from_slice(open.links(block.flows[place as usize] as usize));
                    this.flow_paths.push(this.paths.len());
                }
                check()?;
            }
            if !places.is_empty() {
                this.blocks.push((number, places));
            }
        }
        this.left_out.sort_unstable();
        Ok(this)
    }

    /// Flows with one path come first, by path length; then those with several.
    fn sorted_places(&mut self, problem: &Problem, block: &Block, open: &Paths) -> Result<Vec<u32>> {
        let mut by_length: Vec<Vec<u32>> = Vec::new();
        let (mut several, mut pacer) = (Vec::new(), Pacer::new());
        for (place, &flow) in block.flows.iter().enumerate() {
            match open.links(flow as usize) {
                [] => self.left_out.push(flow),
                &[path] => {
                    let length = problem.paths().links(path as usize).len();
                    if by_length.len() <= length {
                        by_length.resize(length + 1, Vec::new());
                    }
                    by_length[length].push(place as u32);
                }
                _ => several.push(place as u32),
            }
            pacer.did(1)?;
        }
        by_length.push(several);
        Ok(by_length.concat())
    }
}

/// The open paths of every flow.
///
/// # Errors
/// [`Error::Stopped`].
pub(crate) fn open_paths(problem: &Problem) -> Result<Paths> {
    let count = problem.paths().len();
    let has_caps = problem.has_rate_caps() || problem.has_flow_caps();
    let none_is_closed = !has_caps && problem.capacities().iter().all(|&capacity| capacity > 0.0);
    if none_is_closed && problem.pairs_flows_with_paths() {
        return Ok(Paths::new((0..=count).collect(), (0..count as u32).collect()).expect("one each"));
    }
    let (mut open, mut pacer) = (Vec::with_capacity(count), Pacer::new());
    for path in 0..count as u32 {
        if !problem.is_closed(path as usize) {
            open.push(path);
        }
        pacer.did(problem.paths().links(path as usize).len())?;
    }
    let mut indptr = vec![0; problem.flows() + 1];
    for &path in &open {
        indptr[problem.group()[path as usize] as usize + 1] += 1;
    }
    for flow in 0..problem.flows() {
        indptr[flow + 1] += indptr[flow];
    }
    let mut next = indptr.clone();
    let mut indices = vec![0; open.len()];
    for path in open {
        let slot = &mut next[problem.group()[path as usize] as usize];
        indices[*slot] = path;
        *slot += 1;
    }
    Ok(Paths::new(indptr, indices).expect("offsets are running sums"))
}

/// The caps of flows with several paths that could carry more, in natural units; those of flows with one path become that
/// path's.
fn flow_caps(
    problem: &Problem,
    rate: f64,
    flows: &[u32],
    flow_paths: &[usize],
    caps: &mut [f64],
    ceilings: &mut [f64],
) -> Result<Vec<(usize, f64)>> {
    let mut several = Vec::new();
    if !problem.has_flow_caps() {
        return Ok(several);
    }
    let mut pacer = Pacer::new();
    for (flow, (&original, pair)) in flows.iter().zip(flow_paths.windows(2)).enumerate() {
        let (own, cap) = (pair[0]..pair[1], problem.flow_cap(original as usize) / rate);
        pacer.did(own.len())?;
        if own.len() > 1 {
            if cap < ceilings[own].iter().sum() {
                several.push((flow, cap));
            }
            continue;
        }
        for value in [&mut caps[own.start], &mut ceilings[own.start]] {
            *value = value.min(cap);
        }
    }
    Ok(several)
}

/// The links that the paths use, and the new number of every link.
fn used_links(problem: &Problem, paths: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut used = vec![false; problem.links()];
    for some in paths.chunks(CHECKED) {
        for &path in some {
            for &link in problem.paths().links(path as usize) {
                used[link as usize] = true;
            }
        }
        check()?;
    }
    let links: Vec<u32> = (0..problem.links() as u32).filter(|&link| used[link as usize]).collect();
    let mut number = vec![u32::MAX; problem.links()];
    for (new, &link) in links.iter().enumerate() {
        number[link as usize] = new as u32;
    }
    Ok((links, number))
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

/// The power of two nearest to the geometric mean of the paths' smallest capacities.
fn rate_unit(smallest: &[f64]) -> f64 {
    let mut logs = vec![0.0; smallest.len()];
    vectorized(
        #[inline(always)]
        || {
            for (log, &value) in logs.iter_mut().zip(smallest) {
                *log = ln(value);
            }
        },
    );
    let mean = logs.iter().sum::<f64>() / (logs.len() as f64 * LN_2);
    if logs.is_empty() { 1.0 } else { mean.round().clamp(-1000.0, 1000.0).exp2() }
}

fn natural_blocks(problem: &Problem, blocks: &[(usize, Vec<u32>)], units: Units) -> Vec<NaturalBlock> {
    let mut start = 0;
    let natural = |(number, places): &(usize, Vec<u32>)| {
        let Block { utility, flows } = &problem.blocks()[*number];
        let range = start..start + places.len();
        start = range.end;
        let known = utility.in_units(places, units);
        let whole = known.is_none();
        let rescale = || Box::new(Rescaled::new(Arc::clone(utility), places.clone(), flows.len(), units)) as Box<_>;
        let utility = known.unwrap_or_else(rescale);
        let may_jump = whole || (0..range.len()).any(|place| !utility.jumps(place).is_empty());
        NaturalBlock { utility, flows: range, whole, may_jump }
    };
    blocks.iter().map(natural).collect()
}
