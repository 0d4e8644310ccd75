//! The residual of max-min rates, independent of the method that found them.
//!
//! ```text
//! residual of a flow = min( 1 − x/r,  min over links l ∈ p of max(1 − load_l/c_l, 1 − x/B(f_l)) )
//! f_l = the largest fair share on link l = max over its flows of F(x)
//! ```
//!
//! with r its cap or saturation: the flow's distance from being satisfied, or from having a bottleneck that is full
//! and on which no flow has a larger fair share. The largest over all flows is 0 exactly for the max-min rates. Fair
//! shares are compared in rates, so that the residual is relative to them. Where B is flat a rate belongs to many fair
//! shares; the smallest counts, and a rate that is above a flat piece by no more than rounding is on it. So a flow at
//! its floor has the fair share 0, and holds no other back.
//!
//! Flows with several paths need more than a link (`witness.rs`).
//!
//! Cost: O(crossings) and two curves evaluated per crossing.

use std::ops::Range;

use super::fair_shares::{CERTIFICATE, flow_shares, path_weights};
use super::levels::Limits;
use super::tolerances::ROUNDING;
use super::witness::{Inequality, witness_residual};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::{Row, parts};
use crate::problem::Problem;
use crate::utility::FairShare;
use crate::work::{Workers, for_each};

/// The largest residual over the flows that are not closed; 0 when there are none. `rates` are feasible. The witness is
/// needed where flows have several paths.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for utilities without a fair share, and
/// [`Error::Utility`](crate::Error::Utility) for one with a bad weight.
pub(crate) fn residual(problem: &Problem, rates: &[f64], witness: &[Inequality], workers: &dyn Workers) -> Result<f64> {
    if !problem.is_single_path() {
        return witness_residual(problem, rates, witness);
    }
    let largest_of = |largest: f64, other: f64| largest.max(other);
    let Some(weights) = path_weights(problem, CERTIFICATE)? else {
        let of_paths = nearest_of_each(problem, rates, workers, |nearest, _, _| nearest)?;
        return Ok(of_paths.into_iter().flatten().fold(0.0, largest_of));
    };
    let links = Links::of(problem, rates, workers, |path, rate| rate / weights[path])?;
    let of_parts = for_each(workers, ranges(problem), |range| {
        let mut largest = 0.0f64;
        problem.paths().each_of(
            range,
            #[inline(always)]
            |path, row| {
                let fair_share = rates[path] / weights[path];
                let is_number = fair_share > 0.0 && fair_share < f64::INFINITY;
                // The residual of most flows is that of a full link on which they have the largest fair share.
                if !(is_number && links.idle(row, fair_share) <= largest) {
                    let share = FairShare::weight(weights[path]).at_most(problem.limit(path));
                    let nearest = links.nearest(problem, path, &share, rates[path]);
                    largest = nearest.map_or(largest, |nearest| largest.max(nearest.0));
                }
            },
        )?;
        Ok(largest)
    })?;
    Ok(of_parts.into_iter().fold(0.0, largest_of))
}

/// The paths of every part of a pass, each with a list of all links of its own.
fn ranges(problem: &Problem) -> Vec<Range<usize>> {
    parts::ranges(problem.paths().len(), parts::PATHS.max(parts::PER_LINK * problem.links()))
}

/// The largest residual where every path has stopped at the lowest level of its links, a rate per weight, and not at a
/// cap; none where one has not. One pass over the paths.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn residual_at_levels(
    problem: &Problem,
    weights: &[f64],
    levels: impl Iterator<Item = f64>,
    rates: &[f64],
    workers: &dyn Workers,
) -> Result<Option<f64>> {
    let at_first: Vec<[f64; 2]> = levels.map(|level| [0.0, level]).collect();
    let of_parts = for_each(workers, ranges(problem), |range| {
        let (mut links, mut holds) = (at_first.clone(), true);
        problem.paths().each_of(
            range,
            #[inline(always)]
            |path, row| {
                let (rate, mut lowest) = (rates[path], f64::INFINITY);
                for (link, a) in row.entries() {
                    let [load, level] = &mut links[link as usize];
                    *load += a * rate;
                    lowest = if *level < lowest { *level } else { lowest };
                }
                // Fair shares that are this near to a level are as near to each other as ROUNDING.
                holds &= (rate - weights[path] * lowest).abs() <= 0.25 * ROUNDING * rate;
            },
        )?;
        Ok((links, holds))
    })?;
    let mut of_parts = of_parts.into_iter();
    let (mut links, mut holds) = of_parts.next().expect("there is a part");
    for (own, own_holds) in of_parts {
        links.iter_mut().zip(own).for_each(|([load, _], [own, _])| *load += own);
        holds &= own_holds;
    }
    // A path over a failed link is closed, at level 0.
    let is_full = |([_, level], capacity): &(&[f64; 2], &f64)| level.is_finite() && **capacity > 0.0;
    let full = links.iter().zip(problem.capacities()).filter(is_full);
    let residual = full.fold(0.0f64, |residual, (&[load, _], &capacity)| residual.max(idle(load, capacity)));
    Ok(holds.then_some(residual))
}

/// What a load leaves of a link, as a part of its capacity; all where there is neither.
fn idle(load: f64, capacity: f64) -> f64 {
    (1.0 - if load > 0.0 { load / capacity } else { 0.0 }).max(0.0)
}

/// What holds back flows with one path each: the bottleneck of every path, none where it is closed or at its cap or
/// saturation, or where no link is within `near` of being one; and prices.
///
/// # Errors
/// As [`residual`].
pub(super) fn limits_by_links(problem: &Problem, rates: &[f64], near: f64, workers: &dyn Workers) -> Result<Limits> {
    let rise = |nearest: f64, link: Option<u32>, slope: &dyn Fn(u32) -> f64| {
        link.filter(|_| nearest <= near).map(|link| (link, slope(link)))
    };
    let of_paths = nearest_of_each(problem, rates, workers, rise)?;
    let (mut bottlenecks, mut rises) = (vec![None; rates.len()], vec![0.0; problem.links()]);
    for (path, (bottleneck, found)) in bottlenecks.iter_mut().zip(of_paths).enumerate() {
        if let Some((link, slope)) = found.flatten() {
            *bottleneck = Some(link);
            rises[link as usize] += problem.paths().row(path).coefficient(link) * slope;
        }
    }
    // Of weights as small as numbers get, the fair share rises by more than there are numbers.
    let price = |rises: f64| if rises > 0.0 { (1.0 / rises).min(f64::MAX) } else { 0.0 };
    let prices = rises.into_iter().map(price).collect();
    Ok(Limits { bottlenecks, prices, cuts: Vec::new() })
}

/// What is found of every path, nothing of a closed one: from its residual, the link that it is about, none for a cap
/// or saturation, and the slope of its rate in the fair share at the level of a link.
fn nearest_of_each<T: Send>(
    problem: &Problem,
    rates: &[f64],
    workers: &dyn Workers,
    found: impl Fn(f64, Option<u32>, &dyn Fn(u32) -> f64) -> T + Sync,
) -> Result<Vec<Option<T>>> {
    let (of_flow, group) = (flow_shares(problem, CERTIFICATE)?, problem.group());
    let share = |path: usize| &of_flow[group[path] as usize];
    let links = Links::of(problem, rates, workers, |path, rate| share(path).least(rate))?;
    let of_parts = for_each(workers, ranges(problem), |range| {
        let mut pacer = Pacer::new();
        let of_path = |path: usize| {
            pacer.did(problem.paths().links(path).len())?;
            let nearest = links.nearest(problem, path, share(path), rates[path]);
            let slope = |link: u32| share(path).slope_below(links.0[link as usize][1]);
            Ok(nearest.map(|(nearest, link)| found(nearest, link, &slope)))
        };
        range.map(of_path).collect::<Result<Vec<_>>>()
    })?;
    Ok(of_parts.into_iter().flatten().collect())
}

/// What rates leave of every link, as a part of its capacity, and the largest fair share on it.
struct Links(Vec<[f64; 2]>);

impl Links {
    /// `fair_share` of a path at a rate.
    fn of(
        problem: &Problem,
        rates: &[f64],
        workers: &dyn Workers,
        fair_share: impl Fn(usize, f64) -> f64 + Sync,
    ) -> Result<Self> {
        let of_parts = for_each(workers, ranges(problem), |range| {
            let mut links = vec![[0.0; 2]; problem.links()];
            problem.paths().each_of(
                range,
                #[inline(always)]
                |path, row| {
                    let (rate, fair_share) = (rates[path], fair_share(path, rates[path] * (1.0 - ROUNDING)));
                    for (link, a) in row.entries() {
                        let [load, largest] = &mut links[link as usize];
                        *load += a * rate;
                        *largest = if fair_share > *largest { fair_share } else { *largest };
                    }
                },
            )?;
            Ok(links)
        })?;
        let mut of_parts = of_parts.into_iter();
        let mut links = of_parts.next().expect("there is a part");
        for own in of_parts {
            for ([load, largest], [own_load, own_largest]) in links.iter_mut().zip(own) {
                *load += own_load;
                *largest = if own_largest > *largest { own_largest } else { *largest };
            }
        }
        for ([load, _], &capacity) in links.iter_mut().zip(problem.capacities()) {
            *load = idle(*load, capacity);
        }
        Ok(Self(links))
    }

    /// The least that is idle of those links of a path on which no fair share is larger than its; ∞ without any.
    #[inline(always)]
    fn idle(&self, row: Row<'_>, fair_share: f64) -> f64 {
        row.links().iter().fold(f64::INFINITY, |least, &link| {
            let [idle, largest] = self.0[link as usize];
            let idle = if fair_share >= largest { idle } else { f64::INFINITY };
            if idle < least { idle } else { least }
        })
    }

    /// The residual of a path and the link that it is about, none for a cap or saturation; nothing for a closed path.
    fn nearest(&self, problem: &Problem, path: usize, share: &FairShare, rate: f64) -> Option<(f64, Option<u32>)> {
        if problem.is_closed(path) {
            return None;
        }
        let below = |most: f64| if most > rate { 1.0 - rate / most } else { 0.0 };
        let most = problem.rate_cap(path).min(share.saturation());
        let mut nearest = (if most.is_finite() { below(most) } else { f64::INFINITY }, None);
        let fair_share = share.least(rate);
        let is_floor = rate <= share.bandwidth(0.0);
        if rate > 0.0 && (fair_share.is_infinite() || fair_share == 0.0) && !is_floor {
            // A share that no float can hold cannot be compared with another.
            return Some((1.0, None));
        }
        for &link in problem.paths().links(path) {
            let [idle, most] = self.0[link as usize];
            // B(F(x)) may differ from x by more than rounding; a flow with the largest share on a link has
            // residual 0 there.
            let residual = if fair_share >= most { idle } else { idle.max(below(share.bandwidth(most))) };
            if residual < nearest.0 {
                nearest = (residual, Some(link));
            }
        }
        Some(nearest)
    }
}
