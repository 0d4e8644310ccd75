//! A class by cuts: its flows alone, beside what prices prove of the rates that all others have.
//!
//! ```text
//! max Σ_{f of the class} U_f(y_f)    on the links with what flows of one path leave, and on cuts (`class_cuts.rs`)
//! ```
//!
//! Rates that are kept fill links, and a method that moves their splits together with the rates of the class has no
//! room to move in. Here the splits are left out, and all rates are carried by weighted max-min, with themselves as
//! weights and caps. Where they do not fit, the prices of each level at which flows are held back are an inequality
//! that the rates do not satisfy: a link with coefficients q_p for the class, on which it is solved again. The prices
//! of the classes before are the first. Rates are tried halfway to some that fit: the cuts found there are deeper, and
//! half as many do. Ten to a hundred rounds do for thousands of flows on real networks, and max-min goes on from its
//! last basis in each. In the end the price of a cut, times its prices, is a part of the prices of links, which prove
//! the optimum of the whole.
//!
//! Splits decide what paths cost. Costs are therefore loads of one more link, whose capacity is a budget, and what is
//! left of that is the rate of one more flow of the class, worth 1 per unit: a problem without costs.
//!
//! Source: Benders, *Partitioning procedures for solving mixed-variables programming problems*, Numer. Math. 1962;
//! rates between those that fit and those that do not: Ben-Ameur and Neto, *Acceleration of cutting-plane and column
//! generation algorithms*, Networks 2007.

use std::time::Instant;

use super::class_cuts::{Cut, Cuts};
use super::{Ask, Observer, Solution, Status, Stop, solve_at_once, starved};
use crate::certify;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::max_min::{LinkPrices, Search, rates_and_levels};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::Curvature;
use crate::utility::families::AlphaFair;

/// Rounds, at most.
const MOST: usize = 100;
/// The part of rates that has to fit: the rest is rounding. What a class has of a full link may be 10⁻⁶ of it and less.
const FITS: f64 = 1.0 - 1e-11;
/// The part of the rates of the class with which they may be an answer: more cuts would be nearly parallel.
const NEARLY_FITS: f64 = 1.0 - 1e-7;
/// Budgets for the costs of all paths, as multiples of those of the rates that are known.
const BUDGETS: [f64; 3] = [2.0, 1e2, 1e4];
/// The part of a budget that is left where it was enough.
const ENOUGH: f64 = 1e-3;
/// The master problem is solved to this part of the tolerance: what it leaves is not all.
const OF_TOLERANCE: f64 = 0.1;
/// Iterations for a master problem, at most.
const OF_MASTER: usize = 100;

/// An answer for a class.
pub(super) struct Found {
    /// Rates of all paths.
    pub(super) rates: Vec<f64>,
    /// Prices of all links.
    pub(super) prices: Vec<f64>,
    /// The paths of the class for whose flows nothing is left.
    pub(super) starved: Vec<u32>,
    /// That of the class by itself, whose rates are those of a problem with fewer constraints.
    pub(super) kkt_residual: f64,
    pub(super) iterations: usize,
}

/// What counts as an answer.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// The part of what a path could carry that is no room.
    pub(super) least: f64,
    /// The weights of rates that are kept are larger by this part, so that what does not fit is the class's.
    pub(super) preferred: f64,
    /// The link that is a budget, of which no path has too little.
    pub(super) budget: Option<usize>,
}

/// A path of the class that has next to no room on a link of the master problem, of which it uses that much.
struct Closed {
    path: usize,
    room: f64,
    link: usize,
    uses: f64,
}

/// The answer of a stage for the flows of a class, if it is found, given prices that are cuts, to which those found are
/// added (where paths have costs with that of a budget behind those of the links), rates of all paths that may be far
/// from it, and what is allowed. The observer sees the rounds one by one. What fits but for little is an answer if the
/// judge says so.
///
/// # Errors
/// Those of [`solve_at_once`], and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn class<T>(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    (known, rates): (&mut Vec<Vec<f64>>, &[f64]),
    allowed: Allowed,
    (ask, observer): (&Ask, &mut dyn Observer),
    mut judge: impl FnMut(Found) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if !stage.has_path_costs() {
        return without_costs(stage, is_in, known, allowed, (ask, observer), judge);
    }
    known.iter_mut().for_each(|prices| prices.resize(stage.links() + 1, 1.0));
    let cost =
        |rates: &[f64]| -> f64 { rates.iter().enumerate().map(|(path, rate)| stage.path_cost(path) * rate).sum() };
    let paid = cost(rates).max(cost(stage.carrying()));
    for budget in BUDGETS.map(|times| times * paid).into_iter().filter(|budget| *budget > 0.0) {
        let as_link = stage.with_costs_as_link(budget)?;
        let allowed = Allowed { budget: Some(stage.links()), ..allowed };
        let is_in = |flow: usize| flow == stage.flows() || is_in(flow);
        let mut is_enough = true;
        let answer = without_costs(&as_link, is_in, known, allowed, (ask, &mut *observer), |mut found: Found| {
            is_enough = found.rates[stage.paths().len()] > ENOUGH * budget;
            found.rates.truncate(stage.paths().len());
            found.prices.truncate(stage.links());
            if is_enough { judge(found) } else { Ok(None) }
        })?;
        if answer.is_some() || is_enough {
            return Ok(answer);
        }
    }
    Ok(None)
}

/// The answer of a stage in which paths have no costs.
fn without_costs<T>(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    known: &mut Vec<Vec<f64>>,
    allowed: Allowed,
    (ask, observer): (&Ask, &mut dyn Observer),
    judge: impl FnMut(Found) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let mut cuts = Cuts::new(stage, is_in)?;
    for prices in known.iter() {
        cuts.add(prices)?;
    }
    let answer = rounds(stage, &mut cuts, allowed, (ask, observer), judge);
    *known = cuts.known.into_iter().map(|cut| cut.prices).collect();
    answer
}

fn rounds<T>(
    stage: &Problem,
    cuts: &mut Cuts<'_>,
    allowed: Allowed,
    (ask, observer): (&Ask, &mut dyn Observer),
    mut judge: impl FnMut(Found) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let (began, mut iterations, mut last, mut is_coarse) = (Instant::now(), 0, None, true);
    let mut inside: Vec<f64> = (0..stage.flows()).map(|flow| cuts.floor(flow)).collect();
    for _ in 0..MOST {
        let left = ask.settings.max_iterations.saturating_sub(iterations);
        if left == 0 {
            return Ok(None);
        }
        cuts.hold(allowed.least)?;
        let (master, closed) = master(stage, cuts, allowed)?;
        let mut settings = ask.settings.clone().with_tol(OF_TOLERANCE * ask.settings.tol);
        settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(began.elapsed()));
        settings.max_iterations = left.min(OF_MASTER);
        if is_coarse {
            settings.stop = Stop::Gap;
        }
        let (found, _) = solve_at_once(&master, &ask.cold().with_settings(settings), observer, None)?;
        iterations += found.iterations;
        // What is not optimal has cuts, too.
        if ![Status::Optimal, Status::Stalled, Status::MaxIterations].contains(&found.status) {
            return Ok(None);
        }
        if cuts.rest(&found.rates, |cut| closed.iter().any(|closed| closed.link == stage.links() + cut)) {
            continue;
        }
        let rate = |flow| match cuts.is_free(flow) {
            true => found.flow_rates[flow],
            false => cuts.floor(flow),
        };
        let demands: Vec<f64> = (0..stage.flows()).map(rate).collect();
        let between = |flow: usize| match cuts.is_free(flow) {
            true => 0.5 * (demands[flow] + inside[flow]),
            false => demands[flow],
        };
        let halfway: Vec<f64> = (0..stage.flows()).map(between).collect();
        loop {
            let is_cold = last.is_none();
            let tried = [&halfway[..], &demands];
            let mut carried = carry_by_halves(stage, cuts, tried, &mut inside, allowed.preferred, &mut last)?;
            if carried.fits() && is_coarse {
                is_coarse = false;
                break;
            }
            if carried.fits() {
                let of_class = residual(&master, &found, stage.links(), ask.settings.stop)?;
                let of_class = (&found, of_class.max(1.0 - carried.of_class));
                let rates = std::mem::take(&mut carried.rates);
                let answer = judge(of_whole(stage, cuts, &closed, of_class, rates, iterations))?;
                if answer.is_some() {
                    return Ok(answer);
                }
            }
            if cuts.add_broken(&carried.levels, &found.rates)? {
                is_coarse = true;
                break;
            }
            // Otherwise nothing is proven that the rates do not satisfy. What goes on from the last ones is less exact.
            if is_cold {
                return Ok(None);
            }
            last = None;
        }
    }
    Ok(None)
}

/// The answer of the whole: what a master problem has found, with the residual of its rates, and the rates of all paths
/// that carry them.
fn of_whole(
    stage: &Problem,
    cuts: &Cuts<'_>,
    closed: &[Closed],
    (found, residual): (&Solution, f64),
    rates: Vec<f64>,
    iterations: usize,
) -> Found {
    let (prices, of_closed) = prices(stage, found, cuts, closed);
    let kkt_residual = residual.max(of_closed);
    let is_starved = |&path: &usize| {
        let flow = stage.group()[path];
        // Whoever has a floor has something.
        cuts.is_free(flow as usize) && has_nothing(found, flow) && cuts.floor(flow as usize) == 0.0
    };
    let starved = (0..stage.paths().len()).filter(is_starved).map(|path| path as u32).collect();
    Found { rates, prices, starved, kkt_residual, iterations }
}

/// What is carried of demands.
struct Carried {
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    levels: Vec<LinkPrices>,
    /// The least part of the rate of a flow of the class, and of another.
    of_class: f64,
    of_others: f64,
}

impl Carried {
    fn fits(&self) -> bool {
        self.of_others >= FITS && self.of_class >= NEARLY_FITS
    }
}

/// Carries rates halfway to some that fit, which replace these where they fit, and then the rates themselves.
fn carry_by_halves(
    stage: &Problem,
    cuts: &Cuts<'_>,
    [halfway, demands]: [&[f64]; 2],
    inside: &mut Vec<f64>,
    preferred: f64,
    last: &mut Option<Search>,
) -> Result<Carried> {
    let is_cold = last.is_none();
    let carried = carry(stage, cuts, halfway, preferred, last)?;
    if !carried.fits() {
        return Ok(carried);
    }
    *inside = carried.flow_rates;
    if is_cold {
        *last = None;
    }
    carry(stage, cuts, demands, preferred, last)
}

fn carry(
    stage: &Problem,
    cuts: &Cuts<'_>,
    demands: &[f64],
    preferred: f64,
    last: &mut Option<Search>,
) -> Result<Carried> {
    let (rates, levels) = rates_and_levels(&proportional(stage, cuts, demands, preferred)?, last)?;
    let flow_rates = stage.flow_rates(&rates)?;
    let (mut of_class, mut of_others) = (1.0f64, 1.0f64);
    for flow in (0..stage.flows()).filter(|&flow| demands[flow] > 0.0) {
        let part = if cuts.is_free(flow) { &mut of_class } else { &mut of_others };
        *part = part.min(flow_rates[flow] / demands[flow]);
    }
    Ok(Carried { rates, flow_rates, levels, of_class, of_others })
}

/// The problem whose max-min rates are the demands, where these fit.
fn proportional(stage: &Problem, cuts: &Cuts<'_>, demands: &[f64], preferred: f64) -> Result<Problem> {
    // A flow of the class that has next to no more than its floor keeps that as the others do.
    let is_above_floor = |flow: usize, demand: f64| demand * (1.0 - preferred) > stage.flow_floor(flow);
    let weight = |(flow, &demand): (usize, &f64)| match cuts.is_free(flow) {
        _ if demand == 0.0 => 1.0,
        true if is_above_floor(flow, demand) => demand,
        _ => (1.0 + preferred) * demand,
    };
    let weights: Vec<f64> = demands.iter().enumerate().map(weight).collect();
    let plain = stage.clone().with_flow_floors(vec![0.0; stage.flows()])?;
    let plain = plain.with_path_costs(vec![0.0; stage.paths().len()])?.with_flow_caps(demands.to_vec())?;
    plain.with_utility(AlphaFair::new(f64::INFINITY, weights)?)
}

fn has_nothing(found: &Solution, flow: u32) -> bool {
    found.failed_flows.binary_search(&flow).is_ok()
}

/// What flows of one path that are not of the class, or are held, leave of every link.
fn left_by_others(stage: &Problem, cuts: &Cuts<'_>) -> Vec<f64> {
    let mut loads = vec![0.0; stage.links()];
    for flow in (0..stage.flows()).filter(|&flow| !cuts.is_free(flow)) {
        let mut open = cuts.open_paths(flow);
        if let (Some(path), None) = (open.next(), open.next()) {
            stage.paths().row(path).add(stage.flow_floor(flow), &mut loads);
        }
    }
    stage.capacities().iter().zip(loads).map(|(capacity, load)| (capacity - load).max(0.0)).collect()
}

/// The class on the links, with what is left of them, and on the cuts.
fn master(stage: &Problem, cuts: &Cuts<'_>, allowed: Allowed) -> Result<(Problem, Vec<Closed>)> {
    let left_by_others = left_by_others(stage, cuts);
    let of_all = |of_cut: fn(&Cut) -> f64| -> Vec<f64> {
        left_by_others.iter().copied().chain(cuts.known.iter().map(of_cut)).collect()
    };
    let (capacities, left) = (of_all(|cut| cut.room), of_all(|cut| cut.left));
    // What costs leave is no room that flows have filled: a larger budget leaves more.
    let is_budget = |link: usize| match link.checked_sub(stage.links()) {
        None => Some(link) == allowed.budget,
        Some(cut) => allowed.budget.is_some_and(|budget| cuts.known[cut].prices[budget] > 0.0),
    };
    let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    let (mut closed, mut left_out, mut pacer) = (Vec::new(), Vec::new(), Pacer::new());
    for (path, &flow) in stage.group().iter().enumerate() {
        let flow = flow as usize;
        let of_cuts = cuts.known.iter().zip(stage.links()..).filter(|(cut, _)| !cut.rests());
        let of_cuts = of_cuts.map(|(cut, number)| (number, without_rounding(cut.path_prices[path])));
        let of_cuts = of_cuts.filter(|&(_, price)| price > 0.0 && cuts.is_free(flow));
        let row = stage.paths().row(path).entries().map(|(link, a)| (link as usize, a)).chain(of_cuts);
        let mut narrowest = (f64::INFINITY, 0, 0.0);
        for (link, uses) in row {
            indices.push(link as u32);
            coefficients.push(uses);
            if left[link] < narrowest.0 * uses && !is_budget(link) {
                narrowest = (left[link] / uses, link, uses);
            }
        }
        pacer.did(1 + indices.len() - indptr[path])?;
        indptr.push(indices.len());
        let (room, link, uses) = narrowest;
        if !cuts.is_free(flow) {
            left_out.push(path as u32);
        } else if !stage.is_closed(path)
            && stage.flow_floor(flow) == 0.0
            && room <= allowed.least * starved::most(stage, path)
        {
            left_out.push(path as u32);
            closed.push(Closed { path, room, link, uses });
        }
    }
    let paths = Paths::with_coefficients(indptr, indices, coefficients)?;
    // Rates that carry the floors of all satisfy every cut.
    let master = stage.over_links(capacities, paths).with_carrying(stage.carrying().to_vec());
    Ok((master.with_paths_closed(&left_out)?, closed))
}

/// A sum of prices to 41 of its 53 binary digits. Paths of a flow that pay the same over other links then nearly always
/// use a cut alike. Where they do not, its price has to tell them apart by a difference that is rounding.
fn without_rounding(price: f64) -> f64 {
    const REST: u64 = 1 << 12;
    f64::from_bits((price.to_bits() + REST / 2) & !(REST - 1))
}

/// The residual of the rates of the master problem, whose cuts stand after its links. The prices of linear flows do not
/// follow their rates: what these leave idle of a cut, which may have a room of 10⁻¹⁴, is compared with its links, but
/// where every single rate is to be right.
fn residual(master: &Problem, found: &Solution, links: usize, stop: Stop) -> Result<f64> {
    if found.status == Status::Optimal || !master.has_only(Curvature::Linear) || stop == Stop::Kkt {
        return Ok(found.certificate.kkt_residual);
    }
    let (mut capacities, mut idle) = (master.capacities().to_vec(), 0.0f64);
    for (cut, room) in capacities.iter_mut().enumerate().skip(links) {
        // One without a load would be a failed link.
        if found.prices[cut] > 0.0 && found.loads[cut] > 0.0 && found.loads[cut] < *room {
            idle = idle.max(*room - found.loads[cut]);
            *room = found.loads[cut];
        }
    }
    let filled = master.clone().with_capacities(capacities)?;
    Ok(certify(&filled, &found.rates, &found.prices)?.kkt_residual.max(idle))
}

/// The prices of links: those of the master problem, and of its cuts. What closes a path for a flow that has others
/// costs as much as the path would have to. And the residual of what these paths could have carried.
fn prices(stage: &Problem, found: &Solution, cuts: &Cuts<'_>, closed: &[Closed]) -> (Vec<f64>, f64) {
    let mut residual = 0.0f64;
    let (of_links, of_cuts) = found.prices.split_at(stage.links());
    let mut prices = of_links.to_vec();
    let add = |prices: &mut [f64], cut: &Cut, times: f64| {
        prices.iter_mut().zip(&cut.prices).for_each(|(price, of_cut)| *price += times * of_cut);
    };
    let paid = cuts.known.iter().zip(of_cuts).filter(|(_, times)| **times > 0.0);
    paid.for_each(|(cut, &times)| add(&mut prices, cut, times));
    let marginal = |flow: usize, rate: f64| {
        let (utility, place) = stage.utility(flow);
        utility.marginal(place, rate)
    };
    // At its floor a flow may pay more than it would for the first unit above it.
    for (flow, cut) in cuts.held() {
        let price = cuts.least_price(flow, |path| stage.paths().row(path).sum(&prices));
        let lacks = marginal(flow, stage.flow_floor(flow)) - price;
        if lacks > 0.0 {
            add(&mut prices, cut, lacks / cuts.least_price(flow, |path| cut.path_prices[path]));
        }
    }
    let mut is_closed = vec![false; stage.paths().len()];
    closed.iter().for_each(|closed| is_closed[closed.path] = true);
    let mut levels: Vec<f64> = (0..stage.flows()).map(|flow| marginal(flow, found.flow_rates[flow])).collect();
    for (path, &flow) in stage.group().iter().enumerate().filter(|(path, _)| !is_closed[*path]) {
        if !stage.is_closed(path) {
            let level = &mut levels[flow as usize];
            *level = level.min(stage.paths().row(path).sum(&prices));
        }
    }
    let of_served = closed.iter().filter(|closed| !has_nothing(found, stage.group()[closed.path]));
    for &Closed { path, room, link, uses } in of_served {
        let flow = stage.group()[path] as usize;
        let lacks = levels[flow] - stage.paths().row(path).sum(&prices);
        if lacks <= 0.0 {
            continue;
        }
        let capacity = match link.checked_sub(stage.links()) {
            None => {
                prices[link] += lacks / uses;
                stage.capacities()[link]
            }
            Some(number) => {
                add(&mut prices, &cuts.known[number], lacks / uses);
                // What the links are worth at its prices.
                1.0
            }
        };
        // The price of a linear flow does not follow its rate: what is left idle is compared with the link.
        let is_linear = stage.utility(flow).0.curvature() == Curvature::Linear;
        residual = residual.max(if is_linear { room * uses / capacity } else { room / found.flow_rates[flow] });
    }
    (prices, residual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Linear, Settings, certify, solve};

    const ALLOWED: Allowed = Allowed { least: 1e-6, preferred: 0.0, budget: None };

    /// What cuts find for a class, given the prices of the first.
    fn by_cuts(stage: &Problem, is_in: impl Fn(usize) -> bool, mut known: Vec<Vec<f64>>) -> Found {
        let ask = Ask::from(Settings::default().with_tol(1e-9));
        let found = class(stage, is_in, (&mut known, &[]), ALLOWED, (&ask, &mut ()), |found| Ok(Some(found)));
        found.unwrap().unwrap()
    }

    /// Flows around a ring, each both ways, every second one of the class; the others have rates that leave room.
    fn ring(links: u32, flows: u32) -> Problem {
        let paths = (0..flows).flat_map(|flow| {
            let (start, length) = (flow * 5 % links, 1 + flow * 3 % (links - 1));
            [(start, length), (start + length, links - length)]
                .map(|(first, length)| (0..length).map(|step| (first + step) % links).collect::<Vec<u32>>())
        });
        let capacities = (0..links).map(|link| 1.0 + f64::from(link * 7 % 5)).collect();
        let (group, weights) =
            ((0..2 * flows).map(|path| path / 2).collect(), (0..flows).map(|flow| f64::from(1 + flow % 3)));
        let utility = AlphaFair::new(2.0, weights.collect::<Vec<f64>>()).unwrap();
        let problem =
            Problem::grouped(capacities, Paths::from_lists(paths.collect::<Vec<_>>()), group, utility).unwrap();
        problem.stage(|flow| flow % 2 == 1, |flow| (0.1 + (flow % 4) as f64) / f64::from(3 * flows), vec![]).unwrap()
    }

    #[test]
    fn a_class_by_cuts_has_the_rates_of_the_whole_and_prices_that_prove_them() {
        for (links, flows) in [(3, 2), (4, 6), (5, 9), (7, 12), (9, 20)] {
            let stage = ring(links, flows);
            let ask = Ask::from(Settings::default().with_tol(1e-9));
            let whole = solve(&stage, &ask).unwrap();
            let found = by_cuts(&stage, |flow| flow % 2 == 1, vec![]);
            let flow_rates = stage.flow_rates(&found.rates).unwrap();
            for (flow, (rate, expected)) in flow_rates.iter().zip(&whole.flow_rates).enumerate() {
                assert!((rate / expected - 1.0).abs() < 1e-3, "flow {flow} of {flows}: {rate} for {expected}");
            }
            let certificate = certify(&stage, &found.rates, &found.prices).unwrap();
            assert!(certificate.relative_gap < 1e-6 && found.starved.is_empty(), "{certificate:?}");
        }
    }

    /// A flow that is kept fills two links, whichever way it is split, and leaves a cut without room.
    #[test]
    fn a_linear_flow_that_a_cut_closes_a_path_to_has_no_residual() {
        let paths = Paths::from_lists([[0], [1], [0], [2]]);
        let problem = Problem::grouped(vec![1.0; 3], paths, vec![0, 0, 1, 1], Linear::new(1.0).unwrap()).unwrap();
        let stage = problem.stage(|flow| flow == 1, |_| 2.0, vec![1.0, 1.0, 0.0, 0.0]).unwrap();
        let found = by_cuts(&stage, |flow| flow == 1, vec![vec![1.0, 1.0, 0.0]]);
        let certificate = certify(&stage, &found.rates, &found.prices).unwrap();
        assert!(certificate.relative_gap < 1e-6 && found.starved.is_empty(), "{certificate:?}");
        assert!(found.kkt_residual < 1e-6, "{}", found.kkt_residual);
    }

    /// Flow 1 has its floor and flow 2 no more of link 1, as flow 0 fills what is left of links 0 and 1, however it is
    /// split. Flow 4 has failed, and has lost its floor, whether it is of the class or not.
    #[test]
    fn flows_are_held_to_their_floors_where_a_cut_leaves_no_more() {
        let paths = Paths::from_lists([[0], [1], [0], [1], [2], [2], [3]]);
        let capacities = vec![1.0, 1.0, 1.0, 0.0];
        let problem = Problem::grouped(capacities, paths, vec![0, 0, 1, 2, 2, 3, 4], AlphaFair::proportional());
        let problem = problem.unwrap().with_flow_floors(vec![0.0, 0.5, 0.0, 0.0, 0.2]).unwrap();
        let rate = |flow: usize| if flow == 0 { 1.5 } else { problem.flow_floor(flow) };
        for (end, starved) in [(4, vec![]), (5, vec![6])] {
            let is_in = |flow: usize| (1..end).contains(&flow);
            let stage = problem.stage(is_in, rate, vec![0.75, 0.75, 0.25, 0.25, 0.0, 0.0, 0.0]).unwrap();
            let found = by_cuts(&stage, is_in, vec![vec![1.0, 1.0, 0.0, 0.0]]);
            let flow_rates = stage.flow_rates(&found.rates).unwrap();
            let certificate = certify(&stage, &found.rates, &found.prices).unwrap();
            assert!(certificate.relative_gap < 1e-6 && found.starved == starved, "{certificate:?} {:?}", found.starved);
            for (rate, expected) in flow_rates.iter().zip([1.5, 0.5, 0.5, 0.5, 0.0]) {
                assert!((rate - expected).abs() < 1e-8, "{flow_rates:?}");
            }
        }
    }

    #[test]
    fn sums_in_another_order_are_the_same_without_rounding() {
        let (one, other) = (0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1);
        assert!(one != other && without_rounding(one) == without_rounding(other));
        for price in [0.0, 1.0, 1.0 / 3.0, 1e-9 / 7.0, 2.0 - f64::EPSILON] {
            assert!((without_rounding(price) - price).abs() <= price * 0.5f64.powi(41), "{price}");
        }
    }

    /// A cut without room to speak of, which a linear flow leaves idle: that is nothing to its links.
    #[test]
    fn what_linear_flows_leave_of_a_cut_is_compared_with_its_links() {
        let paths = Paths::from_lists([vec![0], vec![0, 1]]);
        let master = Problem::new(vec![1.0, 1e-12], paths, Linear::new(vec![1.0, 2.0]).unwrap()).unwrap();
        let mut found = solve(&master, &Ask::default()).unwrap();
        let (rest, little) = (1.0 - 1e-13, 1e-13);
        (found.rates, found.flow_rates, found.loads) = (vec![rest, little], vec![rest, little], vec![1.0, little]);
        (found.prices, found.status) = (vec![1.0, 1.0], Status::Stalled);
        found.certificate = certify(&master, &found.rates, &found.prices).unwrap();
        assert!(found.certificate.kkt_residual > 0.1, "{:?}", found.certificate);
        assert!(residual(&master, &found, 1, Stop::Rates).unwrap() < 1e-11);
        for (links, stop) in [(1, Stop::Kkt), (2, Stop::Rates)] {
            assert_eq!(residual(&master, &found, links, stop).unwrap(), found.certificate.kkt_residual);
        }
    }

    /// Two flows of a class want more of a link than there is. One of them has no more than its floor.
    #[test]
    fn what_does_not_fit_is_taken_from_flows_above_their_floors() {
        let paths = Paths::from_lists([vec![0], vec![0], vec![1], vec![1, 0]]);
        let problem = Problem::grouped(vec![1.0, 1.0], paths, vec![0, 1, 2, 2], AlphaFair::proportional()).unwrap();
        let stage = problem.with_flow_floors(vec![0.5, 0.0, 0.0]).unwrap();
        let (cuts, preferred) = (Cuts::new(&stage, |_| true).unwrap(), 1e-6);
        let carried = carry(&stage, &cuts, &[0.5, 0.5 + 4e-8, 1.0], preferred, &mut None).unwrap();
        assert!(carried.flow_rates[0] >= 0.5 && carried.flow_rates[1] < 0.5 + 1e-12, "{:?}", carried.flow_rates);
        assert!(carried.fits() && carried.of_class < 1.0);
    }

    #[test]
    fn costs_as_a_link_keep_the_rates_that_carry_floors() {
        let paths = Paths::from_lists([[0], [1], [0]]);
        let problem = Problem::grouped(vec![1.0, 1.0], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
        let problem = problem.with_path_costs(vec![1.0, 2.0, 0.0]).unwrap();
        let stage = problem.stage(|flow| flow == 1, |_| 1.5, vec![0.5, 1.0, 0.0]).unwrap();
        assert_eq!(stage.with_costs_as_link(5.0).unwrap().carrying(), [0.5, 1.0, 0.0, 0.0]);
    }
}
