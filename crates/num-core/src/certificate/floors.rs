//! Rates that keep floors.
//!
//! ```text
//! x = z + e        z carries the floors m, split as x is; what is missing is split as the rates b are that carry them
//! z ← z + θ (b − z)        on flows through links that z overloads, by what it takes; on all where that does not end
//! e ← e / max_{l ∈ p} (R e)_l / (c − R z)_l        F-NORM in what the floors leave
//! ```
//!
//! No rate is scaled below its flow's floor. Near an optimum z fits but for rounding, and e is divided by a little more
//! than 1.

use crate::error::Result;
use crate::interrupt;
use crate::normalize::{FNorm, overload, relative};
use crate::presolve::{Presolved, ROUNDING};

/// How often a part of the floors is split anew, at most.
const ROUNDS: usize = 32;
/// How many times the least of the rounds before it a round may overload before all floors move.
const DIVERGES: f64 = 10.0;

/// Makes rates feasible that are within the caps. Returns by how much they were over a capacity, or below a floor, at
/// most.
pub(super) fn keep(problem: &Presolved, rates: &mut [f64]) -> Result<f64> {
    let over = overload(&relative(loads(problem, rates)?, &problem.capacities));
    let Split { kept, left, missed } = Split::off(problem, rates)?;
    let extra = relative(loads(problem, rates)?, &left);
    for (path, rate) in rates.iter_mut().enumerate() {
        let extra = FNorm::default().divided(*rate, problem.paths.row(path).largest(&extra));
        // What is kept may have moved to this path.
        *rate = (kept[path] + extra).min(problem.bounds.caps[path]);
    }
    Ok(over.max(missed))
}

/// Rates that carry the floors, and what they leave.
pub(crate) struct Split {
    /// z.
    pub(crate) kept: Vec<f64>,
    /// c − R z of every link.
    pub(crate) left: Vec<f64>,
    /// By how much a flow was below its floor at most, as a part of it.
    pub(crate) missed: f64,
}

impl Split {
    /// Leaves of rates within the caps what is above floors, e, and returns the other part.
    pub(crate) fn off(problem: &Presolved, rates: &mut [f64]) -> Result<Self> {
        let base = &problem.floor_rates;
        let (mut kept, mut most_missed) = (vec![0.0; rates.len()], 0.0f64);
        for flow in 0..problem.flows() {
            let (own, floor) = (problem.paths_of(flow), problem.bounds.floors[flow]);
            let total: f64 = rates[own.clone()].iter().sum();
            if total >= floor {
                let part = if floor > 0.0 { floor / total } else { 0.0 };
                own.for_each(|path| kept[path] = rates[path] * part);
                continue;
            }
            let missed = 1.0 - total / floor;
            most_missed = most_missed.max(missed);
            let filled = |path: usize| rates[path] + missed * base[path];
            let fits = own.clone().all(|path| filled(path) <= problem.bounds.caps[path]);
            own.for_each(|path| kept[path] = if fits { filled(path) } else { base[path] });
            rates[problem.paths_of(flow)].fill(0.0);
        }
        let at_floor = |rate: f64, kept: f64| (rate - kept).max(0.0);
        rates.iter_mut().zip(&kept).for_each(|(rate, &kept)| *rate = at_floor(*rate, kept));
        let left = fit(problem, &mut kept)?;
        Ok(Self { kept, left, missed: most_missed })
    }
}

/// Moves rates that carry the floors towards those that are known to fit until they do, too. Returns what they leave of
/// every capacity.
///
/// First the flows of each link that is overloaded. Where that overloads others ever more, or still does after half of
/// the rounds, all of them from where they were, by the same part of their way, which overloads no link that the known
/// rates leave room: loads are linear.
fn fit(problem: &Presolved, kept: &mut [f64]) -> Result<Vec<f64>> {
    let (base, capacities) = (&problem.floor_rates, &problem.capacities);
    let of_base = loads(problem, base)?;
    let left_by =
        |used: &[f64]| capacities.iter().zip(used).map(|(capacity, used)| (capacity - used).max(0.0)).collect();
    let (mut began, mut least, mut moves_all) = (None, f64::INFINITY, false);
    for round in 0..ROUNDS {
        interrupt::check()?;
        let used = loads(problem, kept)?;
        // By link, the part of the way to the base.
        let part = |((&used, &of_base), &capacity): ((&f64, &f64), &f64)| match used > capacity * (1.0 + ROUNDING) {
            true if of_base < capacity && used > of_base => ((used - capacity) / (used - of_base)).min(1.0),
            true => 1.0,
            false => 0.0,
        };
        let parts: Vec<f64> = used.iter().zip(&of_base).zip(capacities).map(part).collect();
        if parts.iter().all(|&part| part == 0.0) {
            return Ok(left_by(&used));
        }
        // Nearly always all fits at once.
        let began = began.get_or_insert_with(|| kept.to_vec());
        let largest = parts.iter().copied().filter(|&part| part < 1.0).fold(0.0, f64::max);
        if !moves_all && (largest > DIVERGES * least || round == ROUNDS / 2) {
            moves_all = true;
            kept.copy_from_slice(began);
            continue;
        }
        if largest > 0.0 {
            least = least.min(largest);
        }
        let of_all = if moves_all { largest } else { 0.0 };
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            let on = |path: usize| kept[path] > 0.0 || base[path] > 0.0;
            let largest = |path: usize| problem.paths.row(path).largest(&parts);
            let part = own.clone().filter(|&path| on(path)).map(largest).fold(of_all, f64::max);
            if part > 0.0 {
                own.for_each(|path| kept[path] += part * (base[path] - kept[path]));
            }
        }
    }
    kept.copy_from_slice(base);
    Ok(left_by(&of_base))
}

fn loads(problem: &Presolved, rates: &[f64]) -> Result<Vec<f64>> {
    problem.pass().sums(|path, row, loads| row.add(rates[path], loads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Paths, Problem};

    /// The floor of flow 1 fills link 1, so that all of flow 0's moves to its first path, to what that carries already.
    #[test]
    fn a_floor_that_moves_to_another_path_stays_below_its_cap() {
        let paths = Paths::from_lists([[0], [1], [1]]);
        let problem = Problem::grouped(vec![1.0, 0.5], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
        let problem = problem.with_rate_caps(vec![0.55, 1.0, 1.0]).unwrap();
        let problem = Presolved::new(&problem.with_flow_floors(vec![0.5, 0.5]).unwrap()).unwrap();
        let mut rates = problem.natural_rates(&[0.2, 0.6, 0.5]);
        let missed = keep(&problem, &mut rates).unwrap();
        let rates = problem.caller_rates(&rates);
        assert!(missed > 0.0 && (rates[0] - 0.55).abs() < 1e-9 && rates[1] < 1e-9, "{rates:?}");
        assert!((rates[2] - 0.5).abs() < 1e-9, "{rates:?}");
    }
}
