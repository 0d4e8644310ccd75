//! Flows for which the rates of others leave nothing: those of a class beside the classes before it, and those that
//! have no floor beside floors.
//!
//! Rates that are kept fill links to the tolerance of the stage that found them, and floors to rounding. What is left
//! there is no room: utilities with an infinite marginal at rate 0 would share it out over more decades than floats
//! have, at prices without end. Such flows are closed, as those whose links have failed.
//!
//! A flow is starved where each of its open paths has room for no more than that part of what it could carry alone, and
//! no split of the flows on its full links can move. Where splits can, weighted max-min decides: whoever can have a
//! rate has one there.

use std::cell::LazyCell;
use std::time::Instant;

use super::{Ask, Settings, Solution, Status, solve};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::problem::Problem;
use crate::tolerances::{NEGLIGIBLE, no_room};
use crate::utility::families::AlphaFair;

/// What stages leave, in tolerances, and the most that counts.
const LEFT: f64 = 10.0;
const MOST: f64 = 1e-6;
/// A flow gains nothing where it gains no more than this part of what it would gain alone.
const WORTH: f64 = 1.001e-6;
/// By these parts of them rates that are kept are eased where they fill links with no room for the rounding of pivots.
/// In this order, and from the largest on where that is no more than this part of what is no room.
const EASED: [f64; 4] = [0.0, 1e-13, 1e-11, 1e-9];
const OF_NO_ROOM: f64 = 1e-2;

/// The part of what a path could carry up to which there is no room: what a gap of the tolerance leaves of links, which
/// is of all that the classes before earn.
pub(super) fn least(ask: &Ask) -> f64 {
    (LEFT * ask.settings.tol).clamp(NEGLIGIBLE, MOST)
}

/// The paths of the flows whose first rate is worth any price and that get none beside floors, given rates of all paths
/// that carry these. No more than [`no_room`] of what a path could carry is no room, but where even that would be worth
/// something to the flow, as with an α between ½ and 1.
///
/// # Errors
/// Those of [`solve`].
pub(crate) fn paths_beside_floors(problem: &Problem, carrying: &[f64]) -> Result<Vec<u32>> {
    let least = no_room(carrying.len());
    let most = LazyCell::new(|| weights(problem));
    let needs_a_rate = |flow: usize| {
        let (utility, place) = problem.utility(flow);
        let gain = |part: f64| utility.value(place, part * most[flow]) - utility.value(place, 0.0);
        let is_nothing = || gain(least) <= WORTH * gain(1.0);
        utility.marginal(place, 0.0) == f64::INFINITY && (is_lost(problem, flow) || is_nothing())
    };
    paths(problem, needs_a_rate, carrying, least, &Settings::default())
}

/// Whether a flow without a rate is worth −∞.
fn is_lost(problem: &Problem, flow: usize) -> bool {
    let (utility, place) = problem.utility(flow);
    utility.value(place, 0.0) == f64::NEG_INFINITY
}

/// The paths of the starved flows of a class, in a stage in which all others have their rates, given rates of all paths
/// that carry these, and the part of what a path could carry up to which there is no room.
///
/// # Errors
/// Those of [`solve`].
pub(super) fn paths(
    stage: &Problem,
    is_in: impl Fn(usize) -> bool,
    carrying: &[f64],
    least: f64,
    settings: &Settings,
) -> Result<Vec<u32>> {
    let loads = stage.loads(carrying)?;
    let idle: Vec<f64> = loads.iter().zip(stage.capacities()).map(|(load, capacity)| capacity - load).collect();
    let has_idle = |(idle, &capacity): (&f64, &f64)| *idle > least * capacity || capacity == 0.0;
    if idle.iter().zip(stage.capacities()).all(has_idle) {
        return Ok(Vec::new());
    }
    let (mut has_room, mut open) = (vec![false; stage.flows()], vec![0u32; stage.flows()]);
    let mut pacer = Pacer::new();
    let paths = || stage.group().iter().map(|&flow| flow as usize).enumerate();
    for (path, flow) in paths().filter(|(path, _)| !stage.is_closed(*path)) {
        let row = stage.paths().row(path);
        pacer.did(row.links().len())?;
        open[flow] += 1;
        has_room[flow] |= row.narrowest(&idle) > least * most(stage, path);
    }
    // Whoever has a floor has something.
    let mut is_starved: Vec<bool> = (0..stage.flows())
        .map(|flow| open[flow] > 0 && !has_room[flow] && stage.flow_floor(flow) == 0.0 && is_in(flow))
        .collect();
    let mut is_full = vec![false; stage.links()];
    for (path, _) in paths().filter(|(path, flow)| is_starved[*flow] && !stage.is_closed(*path)) {
        let least = least * most(stage, path);
        let entries = stage.paths().row(path).entries();
        entries.for_each(|(link, a)| is_full[link as usize] |= idle[link as usize] <= a * least);
    }
    let moves = |(path, flow): (usize, usize)| {
        let links = stage.paths().links(path);
        carrying[path] > 0.0 && open[flow] > 1 && links.iter().any(|&link| is_full[link as usize])
    };
    if is_starved.contains(&true) && paths().any(moves) {
        let weights = weights(stage);
        let mut parts = EASED;
        if parts[EASED.len() - 1] <= OF_NO_ROOM * least {
            parts.reverse();
        }
        let found = fair_shares(stage, &is_starved, (carrying, parts), &weights, settings)?;
        for (flow, is_starved) in is_starved.iter_mut().enumerate().filter(|(_, is_starved)| **is_starved) {
            // Next to nothing has few digits, and levels are found to these. Where nothing is proven nobody is starved.
            let most_of = |found: &Solution| found.flow_rates[flow] * (1.0 + found.certificate.relative_gap);
            let least = if is_lost(stage, flow) { least.max(NEGLIGIBLE) } else { least };
            *is_starved = found.as_ref().is_some_and(|found| most_of(found) <= least * weights[flow]);
        }
    }
    Ok(paths().filter(|(_, flow)| is_starved[*flow]).map(|(path, _)| path as u32).collect())
}

/// The weighted max-min rates of some flows where all others keep theirs.
fn fair_shares(
    stage: &Problem,
    is_in: &[bool],
    (carrying, parts): (&[f64], [f64; EASED.len()]),
    weights: &[f64],
    settings: &Settings,
) -> Result<Option<Solution>> {
    let rates = stage.flow_rates(carrying)?;
    let level = stage.stage(|flow| is_in[flow], |flow| rates[flow], carrying.to_vec())?;
    let level = level.with_path_costs(vec![0.0; stage.paths().len()])?;
    let level = level.with_utility(AlphaFair::new(f64::INFINITY, weights.to_vec())?)?;
    eased(parts, settings, |part, settings| {
        let floors = (0..level.flows()).map(|flow| level.flow_floor(flow) * (1.0 - part)).collect();
        let eased = level.clone().with_flow_floors(floors)?.with_carrying(carrying.to_vec());
        solve(&eased, &Ask::by("max-min").with_settings(settings))
    })
}

/// The first of some runs that is optimal, all of them within one time limit. What neither stalls nor is infeasible is
/// not helped by easing.
fn eased(
    parts: [f64; EASED.len()],
    settings: &Settings,
    mut run: impl FnMut(f64, Settings) -> Result<Solution>,
) -> Result<Option<Solution>> {
    let began = Instant::now();
    for part in parts {
        let mut settings = settings.clone();
        settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(began.elapsed()));
        let found = run(part, settings)?;
        match found.status {
            Status::Optimal => return Ok(Some(found)),
            Status::Stalled | Status::Infeasible => {}
            _ => break,
        }
    }
    Ok(None)
}

/// The most that a path could carry alone and its flow could use.
pub(super) fn most(stage: &Problem, path: usize) -> f64 {
    let (utility, place) = stage.utility(stage.group()[path] as usize);
    let narrowest = stage.paths().row(path).narrowest(stage.capacities());
    narrowest.min(stage.limit(path)).min(utility.saturation(place))
}

/// The most of an open path of every flow; 1 for those without.
fn weights(stage: &Problem) -> Vec<f64> {
    let mut weights = vec![0.0f64; stage.flows()];
    for (path, &flow) in stage.group().iter().enumerate().filter(|(path, _)| !stage.is_closed(*path)) {
        weights[flow as usize] = weights[flow as usize].max(most(stage, path).min(f64::MAX));
    }
    weights.iter_mut().for_each(|weight| *weight = if *weight > 0.0 { *weight } else { 1.0 });
    weights
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Paths;

    /// How often runs that end like this are tried, and the time limit of each.
    fn limits(status: Status, limit: Duration) -> Vec<Duration> {
        let problem = Problem::new(vec![1.0], Paths::from_lists([[0]]), AlphaFair::proportional()).unwrap();
        let mut limits = Vec::new();
        let found = eased(EASED, &Settings::default().with_time_limit(limit), |_, settings| {
            limits.push(settings.time_limit.unwrap());
            std::thread::sleep(Duration::from_millis(2));
            Ok(Solution { status, ..Solution::unsolved(&problem, Duration::ZERO) })
        });
        assert_eq!(found.unwrap().is_some(), status == Status::Optimal);
        limits
    }

    #[test]
    fn runs_with_eased_rates_share_one_time_limit() {
        let limit = Duration::from_secs(3600);
        for status in [Status::Stalled, Status::Infeasible] {
            let limits = limits(status, limit);
            assert_eq!(limits.len(), EASED.len());
            assert!(limits.windows(2).all(|pair| pair[1] + Duration::from_millis(2) <= pair[0]), "{limits:?}");
        }
    }

    #[test]
    fn what_easing_cannot_help_is_not_tried_again() {
        for status in [Status::Optimal, Status::TimeLimit, Status::MaxIterations, Status::Stopped] {
            assert_eq!(limits(status, Duration::from_secs(3600)).len(), 1, "{status:?}");
        }
    }
}
