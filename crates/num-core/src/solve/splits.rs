//! The splits of flows with floors, found anew.
//!
//! ```text
//! max { t : Σ_{p ∈ f} x_p = t d_f,  R x ≤ c,  0 ≤ x ≤ r }        d_f = m_f where y_f ≤ (1 + δ) m_f,  else (1 − δ) y_f
//! ```
//!
//! over the rates y of flows that a method has found, which are over capacities by less than δ. Where t ≥ 1 the rates
//! x carry d. Floors that fill links leave a method no interior: its rates carry them to its accuracy, and what is made
//! feasible of those has the split of the floors that was known, on every flow of such a link.

use crate::concurrent_flow::concurrent_flow;
use crate::error::{Error, Result};
use crate::normalize::{overload, relative};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::tolerances::no_room;

/// δ is so many times what the rates are over capacities, or what the fraction lacks, and no less than [`LEAST`].
const ROOM: f64 = 4.0;
const LEAST: f64 = 1e-10;
/// Rates that are over capacities by more are not near an answer.
const MOST: f64 = 1e-2;
/// The last of several δ.
const TRIES: usize = 3;

/// Feasible rates of the problem near given ones, in natural units, with another split; none where floors fill no link,
/// nothing is split, or no such rates are found.
///
/// # Errors
/// [`Error::Stopped`].
pub(super) fn split_anew(problem: &Problem, presolved: &Presolved, rates: &[f64]) -> Result<Option<Vec<f64>>> {
    let is_whole = presolved.ranks().are_alone() && !presolved.is_single_path();
    let are_numbers = rates.iter().all(|rate| rate.is_finite());
    if !is_whole || !are_numbers || !presolved.links_full_of_floors()?.contains(&true) {
        return Ok(None);
    }
    let found = problem.flow_rates(&presolved.caller_rates(rates))?;
    let mut room = LEAST.max(ROOM * overload(&relative(presolved.loads(rates), &presolved.capacities)));
    for _ in 0..TRIES {
        if room > MOST {
            return Ok(None);
        }
        let demand = |(flow, &rate): (usize, &f64)| {
            let floor = problem.flow_floor(flow);
            match rate <= (1.0 + room) * floor {
                true => floor,
                false => (rate * (1.0 - room)).clamp(floor, problem.flow_cap(flow)),
            }
        };
        let demands = found.iter().enumerate().map(demand).collect();
        let flow = match concurrent_flow(&problem.clone().with_flow_floors(demands)?.with_floors_as_demands()) {
            Err(Error::Unlimited { .. }) => return Ok(None),
            flow => flow?,
        };
        if flow.fraction >= 1.0 - no_room(rates.len()) {
            let part = flow.fraction.min(1.0) / flow.fraction;
            return Ok(Some(presolved.natural_rates(&flow.rates).iter().map(|rate| rate * part).collect()));
        }
        room = ROOM * room.max(1.0 - flow.fraction);
    }
    Ok(None)
}
