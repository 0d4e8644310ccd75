//! What a solve that was stopped leaves idle is filled: every path then has a full link, or its flow all it can use.
//!
//! ```text
//! linear utilities       paths in order of U'/q, each with all that is left      worth per price of the capacity used
//! any other              x_p ← x_p + w_p min_{l ∈ p} left_l/Σ_s a_ls w_s         w_p: 1/(Σ_l a_lp)², of max-min w_f
//!                        twice over the paths that are open, then each path with all that is left
//! several paths, x = 0   that over the path of every flow with the least Σ_l a_lp/left_l, then all paths in that
//!                        order, each with all that is left
//! ```
//!
//! No rate falls. Before the first iteration nothing has been found that is worth keeping, and all capacity is filled.
//! So is it for linear utilities but for a [hundredth](KEPT), if that is worth more: rates that are far from optimal
//! hold capacity in wrong places. The weights favor short paths, as prices do; the first iterations have prices that
//! are wrong by decades.
//!
//! Problems with costs are not filled, as capacity may be idle because nothing is worth its cost, nor are parts of a
//! problem on several ranks.

use crate::error::Result;
use crate::interrupt;
use crate::normalize::{Fill, Normalizer, flow_caps_as_links};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::tolerances::{NEGLIGIBLE, ROUNDING};
use crate::utility::Curvature;

/// The part of the rates that flows with linear utilities keep: where those that are not at a bound have nothing, a gap
/// is relative to nothing.
const KEPT: f64 = 0.01;
/// How often what is left is shared.
const SHARED: usize = 2;
/// A link is full but for this part.
const FULL: f64 = 1e-9;

/// What flows can use, and how they share what is left.
struct Shares {
    /// The most that every flow can use.
    most: Vec<f64>,
    /// Of every path.
    weights: Vec<f64>,
}

/// Rates filled up, given feasible ones if there are any, and prices. None where nothing is to be filled.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn fill(
    problem: &Problem,
    presolved: &Presolved,
    found: Option<&[f64]>,
    prices: &[f64],
) -> Result<Option<Vec<f64>>> {
    if presolved.ranks().ranks() > 1 || !presolved.costs.is_empty() || presolved.flows() == 0 {
        return Ok(None);
    }
    let nothing = || match presolved.floor_rates.is_empty() {
        true => vec![0.0; presolved.paths.len()],
        false => presolved.floor_rates.clone(),
    };
    if !problem.has_only(Curvature::Linear) {
        let shares = Shares::new(problem, presolved);
        return match found {
            None if !presolved.is_single_path() => least_used_first(presolved, shares, nothing()),
            found => {
                let as_given = Vec::from_iter(0..presolved.paths.len() as u32);
                shared(presolved, &shares, &as_given, found.map_or_else(nothing, <[f64]>::to_vec))
            }
        }
        .map(Some);
    }
    let worths = presolved.marginals(&vec![1.0; presolved.flows()])?;
    let order = by_worth_per_price(presolved, &worths, prices)?;
    let worth = |rates: &[f64]| presolved.flow_totals(rates).iter().zip(&worths).map(|(y, w)| y * w).sum::<f64>();
    let few = |rates: &[f64]| rates.iter().map(|rate| KEPT * rate).collect();
    let first = match presolved.floor_rates.is_empty() {
        true => few(found.unwrap_or(presolved.equal_shares())),
        false => nothing(),
    };
    let most = most_of(presolved);
    let anew = in_order(presolved, &order, &most, first)?;
    let Some(found) = found else { return Ok(Some(anew)) };
    let filled = in_order(presolved, &order, &most, found.to_vec())?;
    Ok(Some(if worth(&anew) > worth(&filled) { anew } else { filled }))
}

/// Feasible rates without what rounding has left in them: what a path carries that is rounding of its links goes over a
/// cheaper one of its flow, and all are raised in proportion to themselves until each has a full link or all it can
/// use. None where nothing is to be filled.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn top_up(
    problem: &Problem,
    presolved: &Presolved,
    found: &[f64],
    prices: &[f64],
) -> Result<Option<Vec<f64>>> {
    if presolved.ranks().ranks() > 1 || !presolved.costs.is_empty() || problem.curvature() == Curvature::MaxMin {
        return Ok(None);
    }
    let (mut rates, mut path_prices) = (found.to_vec(), vec![0.0; found.len()]);
    presolved.price_paths(0..found.len(), prices, &mut path_prices);
    interrupt::check()?;
    for flow in 0..presolved.flows() {
        let own = presolved.paths_of(flow);
        let Some(best) = own.clone().min_by(|&one, &other| path_prices[one].total_cmp(&path_prices[other])) else {
            continue;
        };
        for path in own.filter(|&path| path_prices[path] > path_prices[best] * (1.0 + ROUNDING)) {
            let is_rounding = rates[path] <= NEGLIGIBLE * presolved.bounds.ceilings[path];
            if is_rounding && rates[best] + rates[path] <= presolved.bounds.caps[best] {
                rates[best] += std::mem::take(&mut rates[path]);
            }
        }
    }
    let shares = Shares { most: most_of(presolved), weights: rates.clone() };
    in_proportion(presolved, &shares, rates).map(Some)
}

impl Shares {
    fn new(problem: &Problem, presolved: &Presolved) -> Self {
        let is_max_min = problem.curvature() == Curvature::MaxMin;
        let mut most = most_of(presolved);
        let mut of_flows = vec![1.0; presolved.flows()];
        if is_max_min {
            let mut places = vec![usize::MAX; problem.flows()];
            presolved.caller.flows.iter().enumerate().for_each(|(flow, &given)| places[given as usize] = flow);
            for block in problem.blocks() {
                for (place, &given) in
                    block.flows.iter().enumerate().filter(|(_, given)| places[**given as usize] < usize::MAX)
                {
                    let flow = places[given as usize];
                    let weight = block.utility.fair_share(place).and_then(|share| share.as_weight());
                    of_flows[flow] = weight.unwrap_or(1.0);
                    most[flow] = most[flow].min(block.utility.saturation(place) / presolved.units.rate);
                }
            }
        }
        let length = |path: usize| presolved.paths.row(path).entries().map(|(_, a)| a).sum::<f64>();
        let weight = |path: usize| if is_max_min { 1.0 } else { length(path).powi(-2) };
        let weights = (0..presolved.flows()).flat_map(|flow| presolved.paths_of(flow).map(move |path| (flow, path)));
        let weights = weights.map(|(flow, path)| of_flows[flow] * weight(path)).collect();
        Self { most, weights }
    }
}

/// The most that every flow can use over all its paths.
fn most_of(problem: &Presolved) -> Vec<f64> {
    let bounds = &problem.bounds;
    let of_flow = |flow: usize| bounds.saturations[flow].min(bounds.flow_cap(flow).unwrap_or(f64::INFINITY));
    (0..problem.flows()).map(of_flow).collect()
}

/// What rates leave of every link.
fn left(problem: &Presolved, rates: &[f64]) -> Vec<f64> {
    let loads = problem.loads(rates);
    problem.capacities.iter().zip(loads).map(|(capacity, load)| (capacity - load).max(0.0)).collect()
}

/// Raises rates in proportion to their weights until all are at a bound.
fn in_proportion(problem: &Presolved, shares: &Shares, mut rates: Vec<f64>) -> Result<Vec<f64>> {
    let (left, totals) = (left(problem, &rates), problem.flow_totals(&rates));
    interrupt::check()?;
    let rest = shares.most.iter().zip(&*totals).map(|(most, total)| (most - total).max(0.0));
    let mut filled = shares.weights.clone();
    let room = |path: usize| (problem.bounds.caps[path] - rates[path]).max(0.0);
    let caps: Vec<f64> = match problem.is_single_path() {
        true => rest.clone().enumerate().map(|(path, rest)| rest.min(room(path))).collect(),
        false => (0..rates.len()).map(room).collect(),
    };
    if problem.is_single_path() {
        Fill.normalize_capped(&left, &problem.paths, &caps, &mut filled);
    } else {
        let owners = (0..problem.flows()).flat_map(|flow| problem.paths_of(flow).map(move |_| flow));
        let (capacities, paths) = flow_caps_as_links(&left, &problem.paths, rest, owners);
        Fill.normalize_capped(&capacities, &paths, &caps, &mut filled);
    }
    rates.iter_mut().zip(&filled).for_each(|(rate, more)| *rate += more);
    Ok(rates)
}

/// Raises rates by shares of what is left, in proportion to their weights, a few times, and then gives each path in
/// turn all that is left.
fn shared(problem: &Presolved, shares: &Shares, order: &[u32], mut rates: Vec<f64>) -> Result<Vec<f64>> {
    let Shares { most, weights } = shares;
    for _ in 0..SHARED {
        let mut left = left(problem, &rates);
        let full = left.iter_mut().zip(&problem.capacities).filter(|(left, capacity)| **left <= FULL * **capacity);
        full.for_each(|(left, _)| *left = 0.0);
        let totals = problem.flow_totals(&rates).into_owned();
        interrupt::check()?;
        let mut open = vec![0.0; rates.len()];
        for flow in (0..problem.flows()).filter(|&flow| totals[flow] < most[flow]) {
            for path in problem.paths_of(flow).filter(|&path| rates[path] < problem.bounds.caps[path]) {
                let is_open = problem.paths.row(path).links().iter().all(|&link| left[link as usize] > 0.0);
                open[path] = if is_open { weights[path] } else { 0.0 };
            }
        }
        interrupt::check()?;
        // Per unit of weight.
        let of_links: Vec<f64> = left.iter().zip(problem.loads(&open)).map(|(left, asked)| left / asked).collect();
        interrupt::check()?;
        for (flow, total) in totals.iter().enumerate() {
            let (mut more, rest) = (0.0, most[flow] - total);
            for path in problem.paths_of(flow) {
                if open[path] > 0.0 {
                    let links = problem.paths.row(path).links().iter();
                    let least = links.map(|&link| of_links[link as usize]).fold(f64::INFINITY, f64::min);
                    open[path] = (open[path] * least).min(problem.bounds.caps[path] - rates[path]);
                    more += open[path];
                }
            }
            let part = if more > rest && more > 0.0 { rest / more } else { 1.0 };
            problem.paths_of(flow).for_each(|path| rates[path] += part * open[path]);
        }
        interrupt::check()?;
    }
    in_order(problem, order, most, rates)
}

/// Shares what is left among one path of every flow, the one whose rate takes least of it, and then gives all paths
/// what is left, in the same order.
fn least_used_first(problem: &Presolved, shares: Shares, rates: Vec<f64>) -> Result<Vec<f64>> {
    let (left, totals) = (left(problem, &rates), problem.flow_totals(&rates));
    let uses = |path: usize| problem.paths.row(path).entries().map(|(link, a)| a / left[link as usize]).sum::<f64>();
    let uses: Vec<f64> = (0..rates.len()).map(uses).collect();
    interrupt::check()?;
    let mut weights = vec![0.0; rates.len()];
    for (flow, total) in totals.iter().enumerate() {
        let room = |path: usize| (shares.most[flow] - total).min(problem.bounds.caps[path] - rates[path]);
        let open = problem.paths_of(flow).filter(|&path| uses[path].is_finite() && room(path) > 0.0);
        if let Some(path) = open.min_by(|&one, &other| uses[one].total_cmp(&uses[other])) {
            weights[path] = shares.weights[path];
        }
    }
    let mut order: Vec<u32> = (0..rates.len() as u32).collect();
    order.sort_by(|&one, &other| uses[one as usize].total_cmp(&uses[other as usize]));
    shared(problem, &Shares { weights, ..shares }, &order, rates)
}

/// All paths, those first whose use of capacity is worth most at the prices; of links without a price the least
/// positive one counts.
fn by_worth_per_price(problem: &Presolved, worths: &[f64], prices: &[f64]) -> Result<Vec<u32>> {
    let least = prices.iter().copied().filter(|&price| price > 0.0).fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 1.0 };
    let prices: Vec<f64> = prices.iter().map(|price| price.max(least)).collect();
    let mut per_price = vec![0.0; problem.paths.len()];
    problem.price_paths(0..problem.paths.len(), &prices, &mut per_price);
    interrupt::check()?;
    for (flow, worth) in worths.iter().enumerate() {
        per_price[problem.paths_of(flow)].iter_mut().for_each(|price| *price = worth / *price);
    }
    let mut order: Vec<u32> = (0..per_price.len() as u32).filter(|&path| per_price[path as usize] > 0.0).collect();
    order.sort_by(|&one, &other| per_price[other as usize].total_cmp(&per_price[one as usize]));
    Ok(order)
}

/// Gives each path in turn all that is left.
fn in_order(problem: &Presolved, order: &[u32], most: &[f64], mut rates: Vec<f64>) -> Result<Vec<f64>> {
    let mut left = left(problem, &rates);
    let mut rest: Vec<f64> = most.iter().zip(&*problem.flow_totals(&rates)).map(|(most, y)| most - y).collect();
    let mut flow_of = vec![0u32; rates.len()];
    (0..problem.flows()).for_each(|flow| flow_of[problem.paths_of(flow)].fill(flow as u32));
    let mut pacer = interrupt::Pacer::new();
    for &path in order {
        let (path, flow) = (path as usize, flow_of[path as usize] as usize);
        let row = problem.paths.row(path);
        pacer.did(row.links().len())?;
        let room = rest[flow].min(problem.bounds.caps[path] - rates[path]);
        let more = row.entries().fold(room, |more, (link, a)| more.min(left[link as usize] / a));
        if more > 0.0 {
            rates[path] += more;
            rest[flow] -= more;
            row.entries().for_each(|(link, a)| left[link as usize] = (left[link as usize] - a * more).max(0.0));
        }
    }
    Ok(rates)
}
