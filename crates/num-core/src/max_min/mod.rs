//! Weighted max-min fairness: no flow's fair share can be raised without lowering one that is not larger.
//!
//! ```text
//! rates x are max-min fair   ⇔   every flow is at a cap or saturation, or crosses a link that is full and
//!                                on which no flow has a larger fair share: its bottleneck
//! fair share                     f = x/w for a weight w, f = F(x) for a bandwidth function B = F⁻¹
//! ```
//!
//! It is what the optimum of α-fair utilities goes to as α → ∞. Rates are unique, and exact to rounding.
//!
//! | file | what it does |
//! |---|---|
//! | `search.rs` | the search for rates, a slice of work at a time: either of the next two |
//! | `one_path.rs` | one path per flow: a water-fill |
//! | `several_paths.rs` | several paths per flow: runs of the simplex method until one is proven |
//! | `water_fill.rs` | weights: fast, reusable |
//! | `curves.rs` | bandwidth functions, and weights among them |
//! | `tournament.rs` | which link fills first |
//! | `bottleneck.rs` | the largest violation of the equivalence above by any rates |
//! | `certificate.rs` | that residual as a certificate |
//! | `solution.rs` | rates with their certificate, and warm starts from them |
//! | `parametric/` | a run: pivots and cuts while the fair share rises, and the values of its basis |
//! | `network.rs`, `rising_rates.rs` | its input: open paths and caps, rates as functions of the fair share |
//! | `crossings.rs` | the paths through every link |
//! | `basis.rs`, `direction.rs`, `row.rs` | the basis and its inverse, the leaving row, the entering column |
//! | `warm_start.rs` | rates from the cuts and the basis of an earlier solution |
//! | `cuts.rs`, `reroute.rs` | max-min rates under cuts, and a basis that routes them, if there is one |
//! | `double_double.rs` | sums in double-double precision |
//! | `witness_from_cuts.rs` | the witness of a run, from its cuts |
//! | `witness.rs` | the residual of rates over several paths, given a witness |
//!
//! A *cut* is an inequality Σ λ_f y_f ≤ π·c between the rates of flows that is full at the end of a run. A *witness* is
//! the set of inequalities, valid for all feasible rates, that certifies max-min rates over several paths.
//!
//! ## Three fills
//!
//! In each of them the fair share rises, and every link (or cut) has a bound of the level at which it fills. Levels
//! only rise while flows are fixed, so the link with the least bound is visited next (`tournament.rs`): it gets a
//! higher bound, or fills. The fills differ in how a level is computed:
//!
//! | fill | a level is | for |
//! |---|---|---|
//! | `water_fill.rs` | the quotient of two running sums, in double-double precision | weights: a visit is O(1) |
//! | `curves.rs` | computed from the curves on a bracket of breakpoints | curves: exact however steep a curve is |
//! | `cuts.rs` | where running sums of straight lines meet | cuts of thousands of flows, each with a factor per flow |
//!
//! Lines lose the digits of steep curves, which matters little for cuts, as their rates are checked by routing them.
//! The simulator's fair sharing fills again after every event, from where the event has changed levels.
//!
//! Sources: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2; for bandwidth functions Kumar et al., *BwE*, SIGCOMM
//! 2015; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2.

mod basis;
mod bottleneck;
mod certificate;
mod crossings;
mod curves;
mod cuts;
mod direction;
mod double_double;
mod network;
mod one_path;
mod parametric;
mod reroute;
mod rising_rates;
mod row;
mod search;
mod several_paths;
mod solution;
mod tournament;
mod warm_start;
mod water_fill;
mod witness;
mod witness_from_cuts;

pub(crate) use bottleneck::bottleneck_links;
pub(crate) use certificate::certify;
pub(crate) use search::Search;
pub use solution::{MaxMin, MaxMinBasis};
pub(crate) use water_fill::WaterFill;
pub(crate) use witness::Inequality;
pub(crate) use witness::Witness;

use crate::error::{Error, Result};
use crate::interrupt::{self, Pacer};
use crate::problem::Problem;
use crate::utility::FairShare;
use search::METHOD;

/// Flows between two checks for a stop.
const PIECE: usize = 4096;

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
    let mut search = Search::new(problem)?.finish()?;
    search.check_proven()?;
    Ok(search.rates())
}

/// The witness of the max-min rates, by which [`certify`] certifies given rates. Empty with one path per flow, which
/// needs none.
///
/// # Errors
/// Those of [`max_min`].
pub(crate) fn find_witness(problem: &Problem) -> Result<Witness> {
    match problem.is_single_path() {
        true => Ok(Witness::new()),
        false => Ok(Search::new(problem)?.finish()?.witness().to_vec()),
    }
}

/// The weight of every flow, if each has one.
fn flow_weights(problem: &Problem, method: &str) -> Result<Option<Vec<f64>>> {
    let (mut weights, mut of_block) = (vec![0.0; problem.flows()], Vec::new());
    for block in problem.blocks() {
        let flows = block.flows.len();
        // Flows are in order: a block of all of them has flow f at place f.
        let out = if flows == weights.len() { &mut weights } else { &mut of_block };
        out.resize(flows, 0.0);
        for (start, out) in (0..).step_by(PIECE).zip(out.chunks_mut(PIECE)) {
            interrupt::check()?;
            if !block.utility.fair_weights_into(start..start + out.len(), out) {
                // One has a curve, or none has a fair share, which is an error.
                each_share(problem, method, |_, _| ())?;
                return Ok(None);
            }
            // All of them first, in a loop that is vectorized.
            if !out.iter().fold(true, |all, &weight| all & is_weight(weight)) {
                let place = out.iter().position(|&weight| !is_weight(weight)).expect("one is not");
                return Err(wrong_weight(block.flows[start + place] as usize, out[place]));
            }
        }
        if flows < weights.len() {
            block.flows.iter().zip(&of_block).for_each(|(&flow, &weight)| weights[flow as usize] = weight);
        }
    }
    Ok(Some(weights))
}

/// The weight of every path, if each flow has one path and a weight.
fn path_weights(problem: &Problem, method: &str) -> Result<Option<Vec<f64>>> {
    let of_flow = flow_weights(problem, method)?;
    Ok(match problem.pairs_flows_with_paths() {
        true => of_flow,
        false => of_flow.map(|of_flow| problem.group().iter().map(|&flow| of_flow[flow as usize]).collect()),
    })
}

fn is_weight(weight: f64) -> bool {
    (weight > 0.0) & (weight < f64::INFINITY)
}

fn wrong_weight(flow: usize, weight: f64) -> Error {
    Error::Utility { flow, what: format!("the weight of its fair share is {weight}, expected a finite number > 0") }
}

/// The fair share of every flow, at most its cap.
fn flow_shares<'a>(problem: &'a Problem, method: &str) -> Result<Vec<FairShare<'a>>> {
    let mut of_flow = vec![FairShare::weight(1.0); problem.flows()];
    each_share(problem, method, |flow, share| of_flow[flow] = share.at_most(problem.flow_cap(flow)))?;
    Ok(of_flow)
}

/// Calls with every flow and its fair share.
fn each_share<'a>(problem: &'a Problem, method: &str, mut take: impl FnMut(usize, FairShare<'a>)) -> Result<()> {
    let mut pacer = Pacer::new();
    for block in problem.blocks() {
        for (place, &flow) in block.flows.iter().enumerate() {
            pacer.did(1)?;
            let flow = flow as usize;
            let share = block.utility.fair_share(place).ok_or_else(|| {
                let kind = block.utility.spec(place).map_or("user-defined".into(), |spec| spec.kind);
                let what = format!("flow {flow}, whose {kind} utility has no fair share");
                let instead = "use solve(), or AlphaFair or BandwidthFunction for every flow";
                Error::Unsupported { method: method.into(), what, instead }
            })?;
            if let Some(weight) = share.as_weight().filter(|&weight| !is_weight(weight)) {
                return Err(wrong_weight(flow, weight));
            }
            take(flow, share);
        }
    }
    Ok(())
}
