//! Flows with several paths: the demand at a mean price of the paths, split by shares that move towards the cheap ones.
//!
//! ```text
//! q_f = −τ_f log Σ σ_p exp(−q_p/τ_f)             a soft minimum over the paths of flow f, Σ σ_p = 1
//! x_p = σ_p exp((q_f − q_p)/τ_f) D_f(q_f)        D_f = (U_f')⁻¹, the demand of the whole flow
//! D_p = x_p/y_f (−D_f')                          slope on the links that all paths of the flow cross
//!     + x_p/τ_f min(1, 2 (1 − x_p/y_f))          on the others, where traffic also moves from path to path
//! σ_p ← σ_p + ¼ (max(x_p/y_f, 1e-6) − σ_p)       after every accepted step, scaled to a sum of 1; y_f = Σ x_p
//! τ_f = 0.2 Σ σ_p q'_p + 0.03 Σ σ_p q_p          q'_p = the price of the links that some path of the flow avoids
//! ```
//!
//! A cost of a path is part of its price. With coefficients q_p = Σ a_lp p_l, and a path's use of a link beyond what
//! all paths of the flow use of it, b_lp = a_lp − min over its paths, stands where traffic moves: q'_p = Σ b_lp p_l,
//! and the slopes on link l are a_lp² times the first and b_lp² times the second. With ones b is 1 where some path
//! avoids the link, else 0.
//!
//! U of a sum over paths is concave but not strictly: prices do not determine the split. The rates x_p maximize
//! U_f(y) − τ_f y KL(x/y ‖ σ), which is strictly concave, at most U_f, and equal to it where x/y = σ. With fixed shares
//! any price rule converges to them, and updating the shares does not lower utility (a proximal method with relative
//! entropy as distance). At a fixed point the paths in use cost the same and the others more, which is optimal.
//! The slopes bound the whole Hessian when every term counts once per priced link of its kind, as in
//! [`super::FastNed`]: a_lp Σ a_mp, and b_lp Σ b_mp, over the priced m.
//!
//! τ decides the speed: a path that is too expensive keeps ¾ + ¼ exp(−(q_p − q_f)/τ) of its share per step, and a small
//! τ makes slopes large and price steps short. In proportion to q_p alone, τ would be far too large where all paths of
//! a flow share one expensive link, beside which their differences are small: hence q'.
//!
//! A path at its cap is excluded from the mean price, otherwise the mean understates the marginal price. The other
//! paths carry the rest of the flow's recent demand.
//!
//! Cost of a step: two passes over the crossings, one response per flow, two exponentials per path. Certified 1e-3
//! takes tens of steps on fabrics and up to 200 on wide-area networks, 1e-6 hundreds and thousands: there, paths that
//! cost nearly the same lose their last traffic slowly, and a path of share near 0 regains traffic before its links
//! have a price again, which can oscillate. One in a hundred random networks with very elastic flows, or prices decades
//! apart, does not reach 1e-2. The smallest share limits accuracy to about 1e-7. Use the interior point for these.

use std::ops::Range;

use super::links::at_least;
use super::rows::LinkRecord;
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::utility::CHUNK;

/// Those of consecutive flows that have several paths, and how each splits its demand.
pub(super) struct PathSplit {
    flows: Flows,
    avoidable: Avoidable,
}

/// What a path uses of a link that some path of its flow does without, for every crossing *(given)*.
enum Avoidable {
    /// Where all coefficients are 1: whether it uses any.
    Ones(Numbered<bool>),
    /// a and b.
    Weighted(Numbered<[f64; 2]>),
}

struct Flows {
    groups: Vec<Group>,
    /// By path; empty when every flow has one.
    paths: Numbered<Path>,
    /// By flow, a running mean of D_f over the accepted steps, and D_f of the last response *(iterate)*.
    mean_demand: Numbered<f64>,
    last_demand: Numbered<f64>,
    scratch: Scratch,
}

/// Consecutive flows of one block whose demands are computed together.
struct Group {
    block: usize,
    flows: Range<usize>,
}

#[derive(Clone, Default)]
struct Path {
    /// σ_p *(iterate)*.
    share: f64,
    /// x_p / D_f, the path's part of the demand *(derived)*.
    part: f64,
    /// Whether its ceiling binds *(derived)*.
    cut: bool,
    /// q_p and q'_p, and Σ a and Σ b over the priced links *(derived)*.
    price: f64,
    avoidable_price: f64,
    priced: f64,
    avoidable_priced: f64,
}

/// Per flow of a group: q_f, τ_f, q_f but at least the floor, D_f and −D_f'.
#[derive(Default)]
struct Scratch {
    means: Vec<f64>,
    scales: Vec<f64>,
    prices: Vec<f64>,
    demands: Vec<f64>,
    slopes: Vec<f64>,
}

/// Bounds of the response.
pub(in crate::solve) struct Bounds {
    /// Per path, the most that it carries.
    pub(in crate::solve) ceilings: Vec<f64>,
    /// Per flow, the most that it demands (that of its path, and an empty list, where every flow has one), and the
    /// price at which it does.
    pub(in crate::solve) demands: Vec<f64>,
    pub(in crate::solve) least_prices: Vec<f64>,
    /// Per flow, the price at which it demands its floor; empty where there are none.
    pub(in crate::solve) most_prices: Vec<f64>,
}

impl Bounds {
    /// Cuts the prices of some flows to where their demands are between their bounds.
    pub(super) fn cut(&self, flows: &Range<usize>, prices: &mut [f64]) {
        for (price, &least) in prices.iter_mut().zip(&self.least_prices[flows.clone()]) {
            *price = at_least(*price, least);
        }
        if let Some(most) = self.most_prices.get(flows.clone()) {
            prices.iter_mut().zip(most).for_each(|(price, &most)| *price = if *price > most { most } else { *price });
        }
    }
}

/// τ relative to the mean price of the avoidable links.
pub const AVOIDABLE: f64 = 0.2;
/// τ relative to the mean price of all links.
pub const WHOLE: f64 = 0.03;
/// How far shares move towards the split of the rates. With longer moves shares and prices oscillate.
pub const FOLLOW: f64 = 0.25;
/// No share falls below this, so that a path can come back.
pub const SMALLEST_SHARE: f64 = 1e-6;
/// A cut path may be cheaper than the others by any multiple of τ: exp of the negative of this is still a number, times
/// the smallest share.
pub const LARGEST_EXPONENT: f64 = 600.0;

impl PathSplit {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(problem: &Presolved, range: &Range<usize>) -> Result<Self> {
        let mut groups = Vec::new();
        for (block, natural) in problem.blocks.iter().enumerate() {
            let start = natural.flows.start + singles(problem, block);
            let several = start.max(range.start)..natural.flows.end.min(range.end);
            let size = if natural.is_user_defined { several.len().max(1) } else { CHUNK };
            let starts = several.clone().step_by(size);
            groups.extend(starts.map(|start| Group { block, flows: start..(start + size).min(several.end) }));
        }
        let flows = if groups.is_empty() { range.start..range.start } else { range.clone() };
        interrupt::check()?;
        let paths = Numbered::new(&problem.paths_of_all(&flows), Path::default());
        interrupt::check()?;
        let demands = || Numbered::new(&flows, 0.0);
        let (mean_demand, last_demand) = (demands(), demands());
        let avoidable = Avoidable::new(problem, &flows)?;
        let flows = Flows { groups, paths, mean_demand, last_demand, scratch: Scratch::default() };
        Ok(Self { flows, avoidable })
    }

    /// Back to shares in proportion to an equal share of every link.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn restart(&mut self, problem: &Presolved) -> Result<()> {
        let (mut pacer, Flows { groups, paths, mean_demand, .. }) = (Pacer::new(), &mut self.flows);
        mean_demand.values.fill(0.0);
        for flow in groups.iter().flat_map(|group| group.flows.clone()) {
            let own = problem.paths_of(flow);
            pacer.did(own.len())?;
            let total: f64 = problem.equal_shares()[own.clone()].iter().sum();
            for path in own {
                let share = (problem.equal_shares()[path] / total).max(SMALLEST_SHARE);
                paths[path] = Path { share, ..Path::default() };
            }
        }
        Ok(())
    }

    /// Rates of the paths of these flows, among those of all flows of the part, and their sums on the links.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn respond(
        &mut self,
        problem: &Presolved,
        bounds: &Bounds,
        rates: &mut [f64],
        records: &mut [LinkRecord],
    ) -> Result<()> {
        let (indices, Self { flows, avoidable }) = (problem.paths.indices(), self);
        match avoidable {
            Avoidable::Ones(avoidable) => {
                let crossings = |own: Range<usize>| {
                    let links = indices[own.clone()].iter().zip(&avoidable[own]);
                    links.map(|(&link, &avoidable)| (link, 1.0, avoidable.then_some(1.0)))
                };
                flows.respond(problem, bounds, crossings, rates, records)
            }
            Avoidable::Weighted(both) => {
                let crossings = |own: Range<usize>| {
                    let links = indices[own.clone()].iter().zip(&both[own]);
                    links.map(|(&link, &[a, b])| (link, a, (b > 0.0).then_some(b)))
                };
                flows.respond(problem, bounds, crossings, rates, records)
            }
        }
    }

    /// Moves the shares towards how the last response was split.
    pub(super) fn follow(&mut self, problem: &Presolved) {
        let Flows { groups, paths, mean_demand, last_demand, .. } = &mut self.flows;
        for (mean_demand, last_demand) in mean_demand.values.iter_mut().zip(&last_demand.values) {
            *mean_demand += FOLLOW * (last_demand - *mean_demand);
        }
        for flow in groups.iter().flat_map(|group| group.flows.clone()) {
            let paths = &mut paths[problem.paths_of(flow)];
            let total: f64 = paths.iter().map(|path| path.part).sum();
            let mut sum = 0.0;
            for path in &mut *paths {
                path.share += FOLLOW * ((path.part / total).max(SMALLEST_SHARE) - path.share);
                sum += path.share;
            }
            paths.iter_mut().for_each(|path| path.share /= sum);
        }
    }
}

impl Flows {
    /// [`PathSplit::respond`], given the link, a, and b where it is not 0, of consecutive crossings.
    fn respond<I: Iterator<Item = (u32, f64, Option<f64>)>>(
        &mut self,
        problem: &Presolved,
        bounds: &Bounds,
        crossings: impl Fn(Range<usize>) -> I,
        rates: &mut [f64],
        records: &mut [LinkRecord],
    ) -> Result<()> {
        let (first, indptr) = (self.paths.first(), problem.paths.indptr());
        for Group { block, flows } in &self.groups {
            interrupt::check()?;
            let Scratch { means, scales, prices, demands, slopes } = &mut self.scratch;
            means.clear();
            scales.clear();
            prices.clear();
            for flow in flows.clone() {
                let paths = problem.paths_of(flow);
                for path in paths.clone() {
                    self.paths[path].gather(crossings(indptr[path]..indptr[path + 1]), records);
                }
                let (own, ceilings) = (&mut self.paths[paths.clone()], &bounds.ceilings[paths.clone()]);
                add_costs(problem.costs.of(paths), own);
                let (mean, scale) = mean_price(own, ceilings, self.mean_demand[flow], bounds.least_prices[flow]);
                means.push(mean);
                scales.push(scale);
                prices.push(mean);
            }
            bounds.cut(flows, prices);
            demands.resize(flows.len(), 0.0);
            slopes.resize(flows.len(), 0.0);
            let natural = &problem.blocks[*block];
            let ceilings = &bounds.demands[flows.clone()];
            natural.utility.respond_into(natural.places(flows), prices, ceilings, demands, slopes);
            raise(problem.bounds.floors.of(flows.clone()), demands);
            for (place, flow) in flows.clone().enumerate() {
                let (mean, scale, demand, slope) = (means[place], scales[place], demands[place], slopes[place]);
                self.last_demand[flow] = demand;
                for path in problem.paths_of(flow) {
                    let (own, ceiling) = (&mut self.paths[path], bounds.ceilings[path]);
                    own.part = own.wanted(mean, scale);
                    if own.part * demand > ceiling {
                        own.part = ceiling / demand;
                    }
                    let rate = own.part * demand;
                    rates[path - first] = rate;
                    let whole = own.part * slope;
                    let moves = rate / scale * (2.0 - 2.0 * own.part).clamp(0.0, 1.0);
                    for (link, a, b) in crossings(indptr[path]..indptr[path + 1]) {
                        let record = &mut records[link as usize];
                        record.load += a * rate;
                        let whole = a * (whole * at_least(own.priced, a));
                        record.slope += match b {
                            Some(b) => whole + b * (moves * at_least(own.avoidable_priced, b)),
                            None => whole,
                        };
                    }
                }
            }
        }
        Ok(())
    }
}

impl Path {
    /// The part of its flow's demand that it would get without a ceiling.
    fn wanted(&self, mean: f64, scale: f64) -> f64 {
        self.share * ((mean - self.price) / scale).min(LARGEST_EXPONENT).exp()
    }

    #[inline(always)]
    fn gather(&mut self, crossings: impl Iterator<Item = (u32, f64, Option<f64>)>, records: &[LinkRecord]) {
        (self.price, self.priced, self.avoidable_price, self.avoidable_priced) = (0.0, 0.0, 0.0, 0.0);
        for (link, a, b) in crossings {
            let record = &records[link as usize];
            self.price += a * record.price;
            self.priced += a * record.priced;
            if let Some(b) = b {
                self.avoidable_price += b * record.price;
                self.avoidable_priced += b * record.priced;
            }
        }
    }
}

/// Adds the costs of a flow's paths to their prices: beyond the least of them, other paths avoid them.
fn add_costs(costs: &[f64], paths: &mut [Path]) {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    for (path, cost) in paths.iter_mut().zip(costs) {
        path.price += cost;
        path.avoidable_price += cost - least;
    }
}

/// Raises rates to floors, if there are any.
pub(super) fn raise(floors: &[f64], rates: &mut [f64]) {
    rates.iter_mut().zip(floors).for_each(|(rate, &floor)| *rate = at_least(*rate, floor));
}

/// q_f and τ_f > 0. Where a path's part of the recent `demand` is more than its ceiling, the others' parts add up to
/// the rest, at a mean that is higher by as much; those that are then too large as well follow in the next round.
fn mean_price(paths: &mut [Path], ceilings: &[f64], demand: f64, floor: f64) -> (f64, f64) {
    let mean = |price: fn(&Path) -> f64| paths.iter().map(|path| path.share * price(path)).sum::<f64>();
    let scale = AVOIDABLE * mean(|path| path.avoidable_price) + WHOLE * at_least(mean(|path| path.price), floor);
    paths.iter_mut().for_each(|path| path.cut = false);
    let mut rest = 1.0;
    loop {
        let free = || paths.iter().filter(|path| !path.cut);
        let least = free().map(|path| path.price).fold(f64::INFINITY, f64::min);
        let sum: f64 = free().map(|path| path.share * ((least - path.price) / scale).exp()).sum();
        let mean = least - scale * (sum / at_least(rest, SMALLEST_SHARE)).ln();
        let mut done = true;
        for (path, &ceiling) in paths.iter_mut().zip(ceilings).filter(|(path, _)| !path.cut) {
            if path.wanted(mean, scale) * demand > ceiling {
                path.cut = true;
                rest -= ceiling / demand;
                done = false;
            }
        }
        if done || paths.iter().all(|path| path.cut) {
            return (mean, scale);
        }
    }
}

/// How many flows of a block have one path; they come first. 0 for a block that is evaluated as a whole, if any of
/// its flows has several paths.
pub(super) fn singles(problem: &Presolved, block: usize) -> usize {
    let natural = &problem.blocks[block];
    let flows = natural.flows.clone();
    let count = flows.clone().take_while(|&flow| problem.paths_of(flow).len() == 1).count();
    if natural.is_user_defined && count < flows.len() { 0 } else { count }
}

impl Avoidable {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    fn new(problem: &Presolved, flows: &Range<usize>) -> Result<Self> {
        Ok(match problem.paths.coefficients() {
            None => {
                let is_avoided = |_, crossed, paths| crossed < paths;
                Self::Ones(of_crossings(problem, flows, 0, |_, crossed| crossed + 1, is_avoided)?)
            }
            Some(all) => {
                let nowhere = (0, f64::INFINITY);
                let meet = |at: usize, (crossed, least): (usize, f64)| (crossed + 1, least.min(all[at]));
                let both = |at: usize, (crossed, least), paths| {
                    [all[at], if crossed < paths { all[at] } else { all[at] - least }]
                };
                Self::Weighted(of_crossings(problem, flows, nowhere, meet, both)?)
            }
        })
    }
}

/// Of every crossing of some flows what follows from what the flow's paths `meet` at its link, and from their number.
/// O(crossings).
fn of_crossings<L: Copy, T: Clone + Default>(
    problem: &Presolved,
    flows: &Range<usize>,
    nowhere: L,
    meet: impl Fn(usize, L) -> L,
    of: impl Fn(usize, L, usize) -> T,
) -> Result<Numbered<T>> {
    let (mut pacer, all) = (Pacer::new(), problem.paths_of_all(flows));
    let (indptr, indices) = (problem.paths.indptr(), problem.paths.indices());
    let mut found = Numbered::new(&(indptr[all.start]..indptr[all.end]), T::default());
    let mut met = vec![nowhere; if flows.is_empty() { 0 } else { problem.capacities.len() }];
    for paths in flows.clone().map(|flow| problem.paths_of(flow)) {
        let crossings = indptr[paths.start]..indptr[paths.end];
        pacer.did(3 * crossings.len())?;
        for crossing in crossings.clone() {
            let met = &mut met[indices[crossing] as usize];
            *met = meet(crossing, *met);
        }
        for crossing in crossings.clone() {
            found[crossing] = of(crossing, met[indices[crossing] as usize], paths.len());
        }
        for &link in &indices[crossings] {
            met[link as usize] = nowhere;
        }
    }
    Ok(found)
}
