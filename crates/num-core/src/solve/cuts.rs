//! A class by cuts: its flows alone, beside what prices prove of the rates that all others have.
//!
//! ```text
//! Σ_{p of the class} q_p x_p ≤ Σ_l c_l p_l − Σ_{g not of it} min { Σ_p q_p x_p : Σ x = y_g, x ≤ r }       for any p ≥
//! 0
//! ```
//!
//! Rates that are kept fill links, and a method that moves their splits together with the rates of the class has no
//! room to move in. Here the splits are left out. The class is solved on the links with what flows of one path leave,
//! and [`concurrent_flow`] splits all rates. Where they do not fit, its prices are such an inequality, which is a link
//! with coefficients q_p for the class, and it is solved again; those of the classes before are the first. Every
//! inequality is a vertex of a polyhedron, so that there are finitely many; nearly always a few do. In the end the
//! price of a cut, times its prices, is a part of the prices of links, which prove the optimum of the whole.
//!
//! Splits decide what paths cost. Costs are therefore loads of one more link, whose capacity is a budget, and what is
//! left of that is the rate of one more flow of the class, worth 1 per unit: a problem without costs.
//!
//! Source: Benders, *Partitioning procedures for solving mixed-variables programming problems*, Numer. Math. 1962.

use std::time::Instant;

use super::{Ask, Solution, Status, solve, starved};
use crate::concurrent_flow::{concurrent_flow, worth};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::Curvature;

/// Cuts, at most.
const MOST: usize = 100;
/// The part of all rates that has to fit: the rest is rounding.
const FITS: f64 = 1.0 - 1e-11;
/// Budgets for the costs of all paths, as multiples of those of the rates that are known.
const BUDGETS: [f64; 3] = [2.0, 1e2, 1e4];
/// The part of a budget that is left where it was enough.
const ENOUGH: f64 = 1e-3;
/// The prices of a cut are those of links that are worth 1 together: what its sums may be off.
const ROUNDING: f64 = 1e-14;

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

/// An inequality of the rates of the class.
struct Cut {
    /// Of every link, and q of every path.
    prices: Vec<f64>,
    path_prices: Vec<f64>,
    /// What its flows may pay together.
    room: f64,
}

/// A path of the class that has next to no room on a link of the master problem, of which it uses that much.
struct Closed {
    path: usize,
    room: f64,
    link: usize,
    uses: f64,
}

/// The answer of a stage for the flows of a class, if it is found, given the prices of the classes before it, rates of
/// all paths that may be far from it, and the part of what a path could carry that is no room.
///
/// # Errors
/// Those of [`solve`], and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn class(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    (before, rates): (&[Vec<f64>], &[f64]),
    least: f64,
    ask: &Ask,
) -> Result<Option<Found>> {
    if !stage.has_path_costs() {
        return without_costs(stage, is_in, before, least, ask);
    }
    let before: Vec<Vec<f64>> = before.iter().map(|prices| [&prices[..], &[1.0]].concat()).collect();
    let paid: f64 = rates.iter().enumerate().map(|(path, rate)| stage.path_cost(path) * rate).sum();
    for budget in BUDGETS.map(|times| times * paid).into_iter().filter(|budget| *budget > 0.0) {
        let as_link = stage.with_costs_as_link(budget)?;
        let is_in = |flow: usize| flow == stage.flows() || is_in(flow);
        let Some(mut found) = without_costs(&as_link, is_in, &before, least, ask)? else { return Ok(None) };
        if found.rates[stage.paths().len()] > ENOUGH * budget {
            found.rates.truncate(stage.paths().len());
            found.prices.truncate(stage.links());
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The answer of a stage in which paths have no costs.
fn without_costs(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    before: &[Vec<f64>],
    least: f64,
    ask: &Ask,
) -> Result<Option<Found>> {
    let began = Instant::now();
    let left_by_others = left_by_others(stage, &is_in);
    let (mut cuts, mut iterations) = (Vec::new(), 0);
    for prices in before {
        cuts.extend(cut(stage, &is_in, prices)?);
    }
    while cuts.len() <= before.len() + MOST {
        let (master, closed) = master(stage, &is_in, &left_by_others, &cuts, least)?;
        let mut settings = ask.settings.clone();
        settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(began.elapsed()));
        let found = solve(&master, &ask.cold().with_settings(settings))?;
        iterations += found.iterations;
        if found.status != Status::Optimal {
            return Ok(None);
        }
        let demands = (0..stage.flows())
            .map(|flow| if is_in(flow) { found.flow_rates[flow] } else { stage.flow_floor(flow) })
            .collect();
        let all = stage.clone().with_flow_floors(vec![0.0; stage.flows()])?.with_flow_caps(demands)?;
        let flow = concurrent_flow(&all)?;
        if flow.fraction >= FITS {
            let (prices, kkt_residual) = prices(stage, &found, &cuts, &closed);
            let is_starved = |&path: &usize| is_in(stage.group()[path] as usize) && has_nothing(&found, stage, path);
            let starved = (0..stage.paths().len()).filter(is_starved).map(|path| path as u32).collect();
            let scale = 1.0 / flow.fraction.max(1.0);
            let rates = flow.rates.iter().map(|rate| rate * scale).collect();
            return Ok(Some(Found { rates, prices, starved, kkt_residual, iterations }));
        }
        match cut(stage, &is_in, &flow.prices)? {
            // Otherwise nothing is proven that the rates do not satisfy.
            Some(cut) if flow.bound < 1.0 => cuts.push(cut),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn has_nothing(found: &Solution, stage: &Problem, path: usize) -> bool {
    found.failed_flows.binary_search(&stage.group()[path]).is_ok()
}

/// What flows of one path that are not of the class leave of every link.
fn left_by_others(stage: &Problem, is_in: impl Fn(usize) -> bool) -> Vec<f64> {
    let group = stage.group();
    let mut open = vec![0u32; stage.flows()];
    let paths = || (0..group.len()).filter(|&path| !stage.is_closed(path)).map(|path| (path, group[path] as usize));
    paths().for_each(|(_, flow)| open[flow] += 1);
    let mut loads = vec![0.0; stage.links()];
    for (path, flow) in paths().filter(|&(_, flow)| open[flow] == 1 && !is_in(flow)) {
        stage.paths().row(path).add(stage.flow_floor(flow), &mut loads);
    }
    stage.capacities().iter().zip(loads).map(|(capacity, load)| (capacity - load).max(0.0)).collect()
}

/// The class on the links, with what is left of them, and on the cuts.
fn master(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    left_by_others: &[f64],
    cuts: &[Cut],
    least: f64,
) -> Result<(Problem, Vec<Closed>)> {
    let mut capacities = left_by_others.to_vec();
    capacities.extend(cuts.iter().map(|cut| cut.room));
    let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    let (mut closed, mut left_out, mut pacer) = (Vec::new(), Vec::new(), Pacer::new());
    for (path, &flow) in stage.group().iter().enumerate() {
        let flow = flow as usize;
        let of_cuts = cuts.iter().enumerate().map(|(number, cut)| (stage.links() + number, cut.path_prices[path]));
        let of_cuts = of_cuts.filter(|&(_, price)| price > 0.0 && is_in(flow));
        let row = stage.paths().row(path).entries().map(|(link, a)| (link as usize, a)).chain(of_cuts);
        let mut narrowest = (f64::INFINITY, 0, 0.0);
        for (link, uses) in row {
            indices.push(link as u32);
            coefficients.push(uses);
            if capacities[link] < narrowest.0 * uses {
                narrowest = (capacities[link] / uses, link, uses);
            }
        }
        pacer.did(1 + indices.len() - indptr[path])?;
        indptr.push(indices.len());
        let (room, link, uses) = narrowest;
        if !is_in(flow) {
            left_out.push(path as u32);
        } else if !stage.is_closed(path) && stage.flow_floor(flow) == 0.0 && room <= least * starved::most(stage, path)
        {
            left_out.push(path as u32);
            closed.push(Closed { path, room, link, uses });
        }
    }
    let paths = Paths::with_coefficients(indptr, indices, coefficients)?;
    Ok((stage.over_links(capacities, paths).with_paths_closed(&left_out)?, closed))
}

/// What prices of links prove, if there are any: the others pay the least at them where they fill their paths from the
/// cheapest on.
fn cut(stage: &Problem, is_in: impl Fn(usize) -> bool, prices: &[f64]) -> Result<Option<Cut>> {
    let worth = worth(stage, prices);
    if !(worth > 0.0 && worth.is_finite()) {
        return Ok(None);
    }
    let prices: Vec<f64> = prices.iter().map(|price| price / worth).collect();
    let (mut path_prices, mut pacer) = (Vec::with_capacity(stage.paths().len()), Pacer::new());
    let mut of_others = Vec::new();
    for (path, &flow) in stage.group().iter().enumerate() {
        let row = stage.paths().row(path);
        pacer.did(1 + row.links().len())?;
        let price = row.sum(&prices);
        path_prices.push(price);
        if !is_in(flow as usize) && !stage.is_closed(path) {
            of_others.push((flow, price, row.narrowest(stage.capacities()).min(stage.rate_cap(path))));
        }
    }
    of_others.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let (mut room, mut last, mut left) = (1.0, None, 0.0f64);
    for (flow, price, most) in of_others {
        if last != Some(flow) {
            (last, left) = (Some(flow), stage.flow_floor(flow as usize));
        }
        let rate = left.min(most);
        room -= rate * price;
        left -= rate;
    }
    Ok(Some(Cut { prices, path_prices, room: room.max(0.0) + ROUNDING }))
}

/// The prices of links: those of the master problem, and of its cuts. What closes a path for a flow that has others
/// costs as much as the path would have to. And the residual of the rates, with what these paths could have carried.
fn prices(stage: &Problem, found: &Solution, cuts: &[Cut], closed: &[Closed]) -> (Vec<f64>, f64) {
    let mut residual = found.certificate.kkt_residual;
    let (of_links, of_cuts) = found.prices.split_at(stage.links());
    let mut prices = of_links.to_vec();
    let add = |prices: &mut [f64], cut: &Cut, times: f64| {
        prices.iter_mut().zip(&cut.prices).for_each(|(price, of_cut)| *price += times * of_cut);
    };
    cuts.iter().zip(of_cuts).filter(|(_, times)| **times > 0.0).for_each(|(cut, &times)| add(&mut prices, cut, times));
    let mut is_closed = vec![false; stage.paths().len()];
    closed.iter().for_each(|closed| is_closed[closed.path] = true);
    let mut levels: Vec<f64> = found
        .flow_rates
        .iter()
        .enumerate()
        .map(|(flow, &rate)| {
            let (utility, place) = stage.utility(flow);
            utility.marginal(place, rate)
        })
        .collect();
    for (path, &flow) in stage.group().iter().enumerate().filter(|(path, _)| !is_closed[*path]) {
        if !stage.is_closed(path) {
            let level = &mut levels[flow as usize];
            *level = level.min(stage.paths().row(path).sum(&prices));
        }
    }
    for &Closed { path, room, link, uses } in closed.iter().filter(|closed| !has_nothing(found, stage, closed.path)) {
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
                add(&mut prices, &cuts[number], lacks / uses);
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
    use crate::{AlphaFair, Linear, Settings, certify};

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
            let found = class(&stage, |flow| flow % 2 == 1, (&[], &[]), 1e-6, &ask).unwrap().unwrap();
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
        let ask = Ask::from(Settings::default().with_tol(1e-9));
        let before = [vec![1.0, 1.0, 0.0]];
        let found = class(&stage, |flow| flow == 1, (&before, &[]), 1e-6, &ask).unwrap().unwrap();
        let certificate = certify(&stage, &found.rates, &found.prices).unwrap();
        assert!(certificate.relative_gap < 1e-6 && found.starved.is_empty(), "{certificate:?}");
        assert!(found.kkt_residual < 1e-6, "{}", found.kkt_residual);
    }

    #[test]
    fn prices_prove_what_a_class_may_pay() {
        let stage = ring(5, 4);
        let cut = cut(&stage, |flow| flow % 2 == 1, &[1.0; 5]).unwrap().unwrap();
        let whole = solve(&stage, &Ask::default()).unwrap();
        let pays: f64 =
            (0..8).filter(|path| path / 2 % 2 == 1).map(|path| whole.rates[path] * cut.path_prices[path]).sum();
        assert!(0.0 < pays && pays <= cut.room && cut.room < 1.0, "{pays} of {}", cut.room);
        assert!((worth(&stage, &cut.prices) - 1.0).abs() < 1e-12);
    }
}
