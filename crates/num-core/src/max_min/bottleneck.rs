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
//! shares; the smallest counts, and a rate that is above a flat piece by no more than rounding is on it.
//!
//! Flows with several paths need more than a link (`witness.rs`).
//!
//! Cost: O(crossings) and two curves evaluated per crossing.

use super::fair_shares::{CERTIFICATE, flow_shares, path_weights};
use super::levels::Limits;
use super::tolerances::ROUNDING;
use super::witness::{Inequality, witness_residual};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Row;
use crate::problem::Problem;
use crate::utility::FairShare;

/// The largest residual over the flows that are not closed; 0 when there are none. `rates` are feasible. The witness is
/// needed where flows have several paths.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for utilities without a fair share, and
/// [`Error::Utility`](crate::Error::Utility) for one with a bad weight.
pub(crate) fn residual(problem: &Problem, rates: &[f64], witness: &[Inequality]) -> Result<f64> {
    if !problem.is_single_path() {
        return witness_residual(problem, rates, witness);
    }
    let mut largest = 0.0f64;
    match path_weights(problem, CERTIFICATE)? {
        Some(weights) => {
            let links = Links::of(problem, rates, |path, rate| rate / weights[path])?;
            problem.paths().each(
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
        }
        None => nearest_of_each(problem, rates, |_, nearest, _, _| largest = largest.max(nearest))?,
    }
    Ok(largest)
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
) -> Result<Option<f64>> {
    let mut links: Vec<[f64; 2]> = levels.map(|level| [0.0, level]).collect();
    let mut holds = true;
    problem.paths().each(
        #[inline(always)]
        |path, row| {
            let (rate, mut lowest) = (rates[path], f64::INFINITY);
            for &link in row.links() {
                let [load, level] = &mut links[link as usize];
                *load += rate;
                lowest = if *level < lowest { *level } else { lowest };
            }
            // Fair shares that are this near to a level are as near to each other as ROUNDING.
            holds &= (rate - weights[path] * lowest).abs() <= 0.25 * ROUNDING * rate;
        },
    )?;
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
pub(super) fn limits_by_links(problem: &Problem, rates: &[f64], near: f64) -> Result<Limits> {
    let (mut bottlenecks, mut rises) = (vec![None; rates.len()], vec![0.0; problem.links()]);
    nearest_of_each(problem, rates, |path, nearest, link, slope| {
        if let Some(link) = link.filter(|_| nearest <= near) {
            bottlenecks[path] = Some(link);
            rises[link as usize] += slope(link);
        }
    })?;
    let prices = rises.into_iter().map(|rises| if rises > 0.0 { 1.0 / rises } else { 0.0 }).collect();
    Ok(Limits { bottlenecks, prices, cuts: Vec::new() })
}

/// Calls with the residual of every path that is not closed, and the link that it is about, none for a cap or
/// saturation; and with the slope of its rate in the fair share at the level of a link.
fn nearest_of_each(
    problem: &Problem,
    rates: &[f64],
    mut visit: impl FnMut(usize, f64, Option<u32>, &dyn Fn(u32) -> f64),
) -> Result<()> {
    let (of_flow, group) = (flow_shares(problem, CERTIFICATE)?, problem.group());
    let share = |path: usize| &of_flow[group[path] as usize];
    let links = Links::of(problem, rates, |path, rate| share(path).least(rate))?;
    let mut pacer = Pacer::new();
    for (path, &rate) in rates.iter().enumerate() {
        pacer.did(problem.paths().links(path).len())?;
        if let Some((nearest, link)) = links.nearest(problem, path, share(path), rate) {
            visit(path, nearest, link, &|link| share(path).slope_below(links.0[link as usize][1]));
        }
    }
    Ok(())
}

/// What rates leave of every link, as a part of its capacity, and the largest fair share on it.
struct Links(Vec<[f64; 2]>);

impl Links {
    /// `fair_share` of a path at a rate.
    fn of(problem: &Problem, rates: &[f64], fair_share: impl Fn(usize, f64) -> f64) -> Result<Self> {
        let mut links = vec![[0.0; 2]; problem.links()];
        problem.paths().each(
            #[inline(always)]
            |path, row| {
                let (rate, fair_share) = (rates[path], fair_share(path, rates[path] * (1.0 - ROUNDING)));
                for &link in row.links() {
                    let [load, largest] = &mut links[link as usize];
                    *load += rate;
                    *largest = if fair_share > *largest { fair_share } else { *largest };
                }
            },
        )?;
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
        if rate > 0.0 && (fair_share.is_infinite() || fair_share == 0.0) {
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
