//! The flows of a problem as a loop over the rows of its routing matrix, which the workers of the problem do in parts.
//!
//! Two safeguards make the response usable far from the optimum. The rate is cut at twice the smallest capacity of the
//! path: without a bound a cheap path demands so much that H drowns everything else, and a bound at the capacity itself
//! hides by how much the path is too cheap. And the slope is taken at the price where the cut begins, so that a free
//! path does not make H infinite.
//!
//! A floor cuts the rate from below in the same way: above U'(floor) a price counts as that, and H has the slope there,
//! so that a link whose flows are all at their floors has finite steps. Costs of paths are added to their prices. Loops
//! in which logs respond between gathering and scattering are for neither.
//!
//! This is for flows with one path; how a flow splits over several is in `path_split.rs`.

use std::ops::{Deref, Range};

use super::links::{CEILING, LARGEST_PRICE};
use super::path_split::{Bounds, PathSplit, raise, singles};
use super::respond::{PowerDemands, Respond};
use super::rows::{Chunk, LinkRecord, Logs, Rows};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::parts::split_mut;
use crate::presolve::{NaturalBlock, Presolved};
use crate::utility::CHUNK;
use crate::work::for_each;

/// The flows of a problem, which it borrows or shares.
pub(in crate::solve) struct Serial<P> {
    problem: P,
    bounds: Bounds,
    parts: Vec<Part>,
    /// Of every path *(derived)*.
    rates: Vec<f64>,
}

/// Consecutive flows.
struct Part {
    paths: Range<usize>,
    /// Those with one path, and those with several.
    chunks: Vec<Chunk>,
    splits: PathSplit,
    /// Price and sums of a link side by side, so that gathering and scattering touch one line of the cache *(derived)*.
    records: Vec<LinkRecord>,
    scratch: Scratch,
}

/// Per path of a chunk: price, Σ a over its priced links, slope. Logs do without.
#[derive(Default)]
struct Scratch {
    prices: Vec<f64>,
    priced: Vec<f64>,
    slopes: Vec<f64>,
}

impl<P: Deref<Target = Presolved>> Serial<P> {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(in crate::solve) fn new(problem: P, bounds: Bounds) -> Result<Self> {
        let this = &*problem;
        let parts = for_each(&*this.workers, this.flow_ranges(), |flows| Part::new(this, flows))?;
        let paths = problem.paths.len();
        Ok(Self { problem, bounds, parts, rates: vec![0.0; paths] })
    }
}

impl Part {
    fn new(problem: &Presolved, flows: Range<usize>) -> Result<Self> {
        let chunks = chunks(problem, &flows);
        let in_passes = |chunk: &&Chunk| plain_logs(problem, &problem.blocks[chunk.block]).is_none();
        let longest = chunks.iter().filter(in_passes).map(|chunk| chunk.paths.len()).max().unwrap_or(0);
        let scratch = Scratch { prices: vec![0.0; longest], priced: vec![0.0; longest], slopes: vec![0.0; longest] };
        let records = vec![LinkRecord::default(); problem.capacities.len()];
        Ok(Self {
            paths: problem.paths_of_all(&flows),
            chunks,
            splits: PathSplit::new(problem, &flows)?,
            records,
            scratch,
        })
    }

    /// Rates, and load and slope of every link.
    fn respond(
        &mut self,
        (problem, bounds): (&Presolved, &Bounds),
        prices: &[f64],
        priced: Option<&[f64]>,
        all_rates: &mut [f64],
    ) -> Result<()> {
        let Self { paths: all, chunks, splits, records, scratch } = self;
        for (record, &price) in records.iter_mut().zip(prices) {
            *record = LinkRecord { price, ..LinkRecord::default() };
        }
        if let Some(priced) = priced {
            records.iter_mut().zip(priced).for_each(|(record, &priced)| record.priced = priced);
        }
        let weigh = priced.is_some();
        for chunk in chunks {
            interrupt::check()?;
            let block @ NaturalBlock { utility, flows, .. } = &problem.blocks[chunk.block];
            let (paths, count) = (chunk.paths.clone(), chunk.paths.len());
            let places = chunk.flows.start - flows.start..chunk.flows.end - flows.start;
            let crossings = problem.paths.indptr()[paths.start]..problem.paths.indptr()[paths.end];
            let coefficients = problem.paths.coefficients().map(|all| &all[crossings.clone()]);
            let rows = Rows { problem, chunk, links: &problem.paths.indices()[crossings], coefficients };
            let own = paths.start - all.start..paths.end - all.start;
            let rates = &mut all_rates[own];
            if let Some(weights) = plain_logs(problem, block) {
                let least_prices = &bounds.least_prices[chunk.flows.clone()];
                let logs = Logs { weights: &weights[places], least_prices, rates };
                match weigh {
                    true => rows.respond_with_logs::<true>(logs, records),
                    false => rows.respond_with_logs::<false>(logs, records),
                }
                continue;
            }
            let prices = &mut scratch.prices[..count];
            let (priced, slopes) = (&mut scratch.priced[..count], &mut scratch.slopes[..count]);
            rows.gather(records, prices, priced);
            problem.add_costs(paths.clone(), prices);
            bounds.cut(&chunk.flows, prices);
            utility.respond_into(places, prices, &bounds.ceilings[paths], rates, slopes);
            raise(problem.bounds.floors.of(chunk.flows.clone()), rates);
            match weigh {
                true => rows.scatter::<true>(rates, slopes, priced, records),
                false => rows.scatter::<false>(rates, slopes, priced, records),
            }
        }
        splits.respond(problem, bounds, all_rates, records)
    }
}

impl<P: Deref<Target = Presolved> + Send> Respond for Serial<P> {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        let Self { problem, bounds, parts, rates } = self;
        let problem = &**problem;
        if let [whole] = &mut **parts {
            whole.respond((problem, bounds), prices, priced, rates)?;
        } else {
            let ranges: Vec<Range<usize>> = parts.iter().map(|part| part.paths.clone()).collect();
            for_each(&*problem.workers, parts.iter_mut().zip(split_mut(rates, &ranges)), |(part, rates)| {
                part.respond((problem, bounds), prices, priced, rates)
            })?;
        }
        let (first, others) = parts.split_first().expect("there is a part");
        for (sums, record) in sums.iter_mut().zip(&first.records) {
            *sums = [record.load, record.slope];
        }
        for part in others {
            for (sums, record) in sums.iter_mut().zip(&part.records) {
                *sums = [sums[0] + record.load, sums[1] + record.slope];
            }
        }
        Ok(())
    }

    fn rates_into(&self, rates: &mut [f64]) {
        rates.copy_from_slice(&self.rates);
    }

    fn restart(&mut self) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.splits.restart(&self.problem))
    }

    fn accepted(&mut self) {
        let Self { problem, parts, .. } = self;
        let problem = &**problem;
        let follow = |part: &mut Part| {
            part.splits.follow(problem);
            Ok(())
        };
        if !problem.is_single_path() {
            for_each(&*problem.workers, parts, follow).expect("nothing stops it");
        }
    }
}

/// What rates are held to, for every path and flow of a problem.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(in crate::solve) fn bounds(problem: &Presolved) -> Result<Bounds> {
    // The problem's ceilings are the least of smallest capacity, cap and saturation; only the first is raised.
    let mut ceilings: Vec<f64> = problem.bounds.ceilings.iter().map(|ceiling| CEILING * ceiling).collect();
    for (ceiling, &cap) in ceilings.iter_mut().zip(problem.bounds.caps.of(0..problem.paths.len())) {
        *ceiling = ceiling.min(cap);
    }
    interrupt::check()?;
    let (saturations, mut pacer) = (problem.bounds.saturations.of(0..problem.flows()), Pacer::new());
    for (flow, &saturation) in saturations.iter().enumerate() {
        let own = problem.paths_of(flow);
        pacer.did(own.len())?;
        ceilings[own].iter_mut().for_each(|ceiling| *ceiling = ceiling.min(saturation));
    }
    let mut demands = Vec::new();
    if !problem.is_single_path() {
        demands = problem.flow_totals(&ceilings).into_owned();
        demands.iter_mut().zip(saturations).for_each(|(demand, saturation)| *demand = demand.min(*saturation));
    }
    // A path that demands its ceiling at any price that a float can hold keeps a small positive one.
    let mut least_prices = problem.marginals(if problem.is_single_path() { &ceilings } else { &demands })?;
    least_prices.iter_mut().for_each(|price| *price = price.clamp(LARGEST_PRICE.recip(), LARGEST_PRICE));
    let floors = problem.bounds.floors.of(0..problem.flows());
    let mut most_prices = Vec::new();
    if !floors.is_empty() {
        let rates: Vec<f64> = floors.iter().map(|&floor| if floor > 0.0 { floor } else { 1.0 }).collect();
        most_prices = problem.marginals(&rates)?;
    }
    for ((most, &least), &floor) in most_prices.iter_mut().zip(&least_prices).zip(floors) {
        *most = if floor > 0.0 { most.clamp(least, LARGEST_PRICE) } else { f64::INFINITY };
    }
    Ok(Bounds { ceilings, demands, least_prices, most_prices })
}

/// The weights of a block of logs, where neither floors nor costs change what they demand.
fn plain_logs<'a>(problem: &Presolved, block: &'a NaturalBlock) -> Option<&'a [f64]> {
    block.utility.log_weights().filter(|_| is_plain(problem))
}

/// Whether there are neither floors nor costs.
fn is_plain(problem: &Presolved) -> bool {
    problem.bounds.floors.is_empty() && problem.costs.is_empty()
}

/// How the flows respond, block by block, if each has one path and a power law, and neither floors nor costs; else
/// none.
pub(super) fn power_demands<'a>(problem: &'a Presolved, floors: &'a [f64]) -> Option<Vec<PowerDemands<'a>>> {
    let of_block = |block: &'a NaturalBlock| {
        let (flows, floors) = (block.flows.clone(), &floors[block.flows.clone()]);
        if block.is_user_defined {
            return None;
        }
        if let Some(weights) = block.utility.log_weights() {
            return Some(PowerDemands { flows, scales: weights.into(), exponents: Vec::new(), floors });
        }
        let exponents: Option<Vec<f64>> =
            (0..flows.len()).map(|place| Some(block.utility.alpha(place)?.recip())).collect();
        let exponents = exponents?;
        // U'(1) = k = w^α.
        let mut scales = vec![0.0; flows.len()];
        block.utility.log_marginal_into(0..flows.len(), &vec![1.0; flows.len()], &mut scales);
        scales.iter_mut().zip(&exponents).for_each(|(scale, exponent)| *scale *= exponent);
        Some(PowerDemands { flows, scales: scales.into(), exponents, floors })
    };
    (problem.is_single_path() && is_plain(problem)).then(|| problem.blocks.iter().map(of_block).collect())?
}

/// Consecutive paths of equal length within a block, in pieces whose prices, rates and slopes stay in cache; where a
/// path's are used up at once, in one piece.
fn chunks(problem: &Presolved, range: &Range<usize>) -> Vec<Chunk> {
    let length = |flow: usize| problem.paths.links(problem.paths_of(flow).start).len();
    let mut chunks = Vec::new();
    for (block, natural) in problem.blocks.iter().enumerate() {
        let end = (natural.flows.start + singles(problem, block)).min(range.end);
        let mut start = natural.flows.start.max(range.start);
        let chunk = |flows: Range<usize>, length| {
            let paths = problem.paths_of_all(&flows);
            Chunk { block, flows, paths, length }
        };
        if natural.is_user_defined && start < end {
            chunks.push(chunk(start..end, None));
            continue;
        }
        let most = if plain_logs(problem, natural).is_some() { usize::MAX } else { CHUNK };
        for next in start + 1..=end {
            if next == end || next - start == most || length(next) != length(start) {
                chunks.push(chunk(start..next, Some(length(start))));
                start = next;
            }
        }
    }
    chunks
}
