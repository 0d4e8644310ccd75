//! Weighted max-min fairness: no flow's fair share can be raised without lowering one that is not larger.
//!
//! ```text
//! rates x are max-min fair   ⇔   every flow is at a cap or saturation, or crosses a link that is full and
//!                                on which no flow has a larger fair share: its bottleneck
//! fair share                     f = x/w for a weight w, f = F(x) for a bandwidth function B = F⁻¹
//! ```
//!
//! A floor raises B to it from the fair share 0 on: a flow has its floor until B reaches it.
//!
//! It is what the optimum of α-fair utilities goes to as α → ∞. Rates are unique, and exact to rounding.
//!
//! | file | contents |
//! |---|---|
//! | `search.rs` | the search for rates, a slice of work at a time: by one of the next two |
//! | `one_path.rs` | one path per flow: a water-fill, over weights (`crate::water_fill`) or curves |
//! | `several_paths.rs` | several paths per flow: runs of the simplex method until one is proven |
//! | `curves.rs` | a water-fill over bandwidth functions, and weights among them |
//! | `bottleneck.rs` | the residual of any rates: the largest violation of the equivalence above |
//! | `solution.rs` | rates with their residual, and warm starts from them |
//! | `network.rs`, `rising_rates.rs` | several paths: open paths, caps as links; rates as functions of the fair share |
//! | `basis.rs` | the basis of the simplex method and its inverse |
//! | `parametric/` | a run: pivots and cuts while the fair share rises; pivots that route given rates |
//! | `first_level.rs` | a run up to its first cut: the fair share that all flows can have at once |
//! | `warm_start.rs` | rates from the cuts and the basis of an earlier solution |
//! | `cuts.rs` | max-min rates under cuts |
//! | `cut_sums.rs` | inequalities that hold alone, from the cuts of a run |
//! | `witness.rs` | the residual of rates over several paths, given a witness |
//! | `levels.rs` | what holds each flow back, and the prices of links |
//! | `fair_shares.rs` | the fair shares of a problem's flows |
//! | `tolerances.rs` | tolerances and limits |
//!
//! A *cut* is an inequality Σ λ_f y_f ≤ π·c between the rates of flows that is full at the end of a run. A *witness* is
//! the set of inequalities, valid for all feasible rates, that certifies max-min rates over several paths.
//!
//! ## Three ways to raise the fair share
//!
//! In each of them every link (or cut) has a bound of the level at which it is full. Levels only rise while flows are
//! fixed, so the link with the least bound is visited next (`water_fill/tournament.rs`): it gets a higher bound, or is
//! full. The ways differ in how a level is computed:
//!
//! | file | a level is | for |
//! |---|---|---|
//! | `water_fill/mod.rs` | the quotient of two running sums, in double-double precision | weights: a visit is O(1) |
//! | `curves.rs` | computed from the curves on a bracket of breakpoints | curves: exact however steep a curve is |
//! | `cuts.rs` | where running sums of straight lines meet | cuts of thousands of flows, each with a factor per flow |
//!
//! Lines lose the digits of steep curves, which matters little for cuts, as their rates are checked by routing them.
//! The simulator's fair sharing computes levels again after every event, from where the event has changed them.
//!
//! Sources: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2; for bandwidth functions Kumar et al., *BwE*, SIGCOMM
//! 2015; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2.

mod basis;
mod bottleneck;
mod curves;
mod cut_sums;
mod cuts;
mod fair_shares;
mod first_level;
mod levels;
mod network;
mod one_path;
mod parametric;
mod rising_rates;
mod search;
mod several_paths;
mod solution;
mod tolerances;
mod warm_start;
mod witness;

use std::sync::Arc;

pub(crate) use bottleneck::residual;
pub(crate) use first_level::{FirstLevels, LevelBasis};
pub use levels::Cut;
pub(crate) use levels::Limits;
pub(crate) use search::Search;
pub use solution::{MaxMin, MaxMinBasis};
use tolerances::ABOUT;
pub(crate) use tolerances::{PROVEN, RUNS};
pub(crate) use witness::Inequality;
pub(crate) use witness::Witness;

use crate::error::{Error, Result};
use crate::presolve::{Infeasibility, Presolved};
use crate::problem::Problem;
use crate::work::{Ranks, Workers};

/// The rate of every path of the max-min fair allocation, in the units of the capacities: over rates per weight for
/// [`AlphaFair`](crate::AlphaFair), over fair shares for [`BandwidthFunction`](crate::BandwidthFunction), whatever
/// their α.
///
/// A flow with several paths has the fair share of the sum of their rates, which is unique; how it is split over the
/// paths is not. Closed paths (over a failed link or capped at 0) get 0. With weights alone and one path per flow
/// O(crossings), and a few visits of every link; curves are sorted by their breakpoints besides. With several paths a
/// dual simplex method makes some 1 to 5 pivots per flow, each of which costs more the more links are full: it takes
/// milliseconds for 100 flows on a backbone, about a second for 5000, and minutes for 10⁵. Rates are then exact to some
/// 1e-12, and checked; where weights, capacities and curves span 18 decades together, what the lightest flows get may
/// be rounding.
///
/// # Errors
/// [`Error::Unsupported`] for utilities without a [fair share](crate::Utility::fair_share), naming the flow, and when
/// rounding has kept rates over several paths from being proven to 1e-5 ([`solve`](crate::solve()) returns what there
/// is, with its gap); [`Error::Utility`] when a user's utility has a weight that is not finite and positive;
/// [`Error::Stopped`] when a [token](crate::StopToken) says so.
pub fn max_min(problem: &Problem) -> Result<Vec<f64>> {
    check(problem)?;
    let mut search = Search::of(problem, Arc::new(Ranks::alone()))?.finish()?;
    search.check_proven()?;
    Ok(search.rates())
}

/// Checks that a problem has max-min rates.
///
/// # Errors
/// [`Error::Unsupported`], and [`Error::FloorsDoNotFit`].
fn check(problem: &Problem) -> Result<()> {
    problem.check_one_class()?;
    problem.check_no_costs()?;
    if problem.has_flow_floors()
        && let Some(Infeasibility { fraction, .. }) = Presolved::new(problem)?.infeasibility
    {
        return Err(Error::FloorsDoNotFit { fraction });
    }
    Ok(())
}

/// The witness of the max-min rates, by which [`residual`] judges given rates. Empty with one path per flow: none is
/// needed there.
///
/// # Errors
/// Those of [`max_min`].
pub(crate) fn find_witness(problem: &Problem) -> Result<Witness> {
    match problem.is_single_path() {
        true => Ok(Witness::new()),
        false => Ok(Search::of(problem, Arc::new(Ranks::alone()))?.finish()?.witness().to_vec()),
    }
}

/// Some links, each with its price.
pub(crate) type LinkPrices = Vec<(u32, f64)>;

/// Max-min rates, and of each level at which flows were fixed links with their prices: any prices prove an inequality
/// between the rates of flows. No levels with one path per flow. Neither has to be exact. Goes on from the last search
/// on these paths, which is replaced by the one that has found them.
///
/// # Errors
/// Those of [`max_min`].
pub(crate) fn rates_and_levels(problem: &Problem, last: &mut Option<Search>) -> Result<(Vec<f64>, Vec<LinkPrices>)> {
    let start = last.as_ref().and_then(Search::next_start).map(Arc::new);
    let mut search = Search::new(problem, start, ABOUT, Arc::new(Ranks::alone()))?.finish()?;
    let (rates, is_link) = (search.rates(), |link: u32| (link as usize) < problem.links());
    let in_units = |level: &Inequality| {
        let priced = level.prices().iter().filter(|(link, price)| is_link(*link) && *price > 0.0);
        priced.map(|&(link, price)| (link, search.caller_price(link, price))).collect()
    };
    let levels = search.witness().iter().map(in_units).collect();
    *last = Some(search);
    Ok((rates, levels))
}

/// What holds flows back at feasible rates, one per path in the caller's units: those that are within `near` of a
/// bottleneck. The witness is needed where flows have several paths.
///
/// # Errors
/// As [`residual`].
pub(crate) fn limits(
    problem: &Problem,
    rates: &[f64],
    witness: &[Inequality],
    near: f64,
    workers: &dyn Workers,
) -> Result<Limits> {
    match problem.is_single_path() {
        true => bottleneck::limits_by_links(problem, rates, near, workers),
        false => levels::limits_by_cuts(problem, rates, witness, near),
    }
}
