//! Any rates → feasible rates.
//!
//! With r_l = load_l / c_l, load_l = Σ_{p ∋ l} a_lp x_p,
//!
//! ```text
//! U-NORM   x_p ← x_p / max_l r_l            one factor for all
//! F-NORM   x_p ← x_p / max_{l ∈ p} r_l      a factor for every path
//! FILL     x ← weighted max-min, weights x  every path has a full link
//! ```
//!
//! After any of them no link is over its capacity, to the rounding of its sum: the loads, added up path by path, are at
//! most c (1 + (n + 4) 2⁻⁵²) with n paths on the link. For the first two, Σ_{p ∋ l} x_p / max_{k ∈ p} r_k ≤ load_l /
//! r_l = c_l. A factor below 1 would raise rates and counts as 1, unless rates may be raised; that is the papers'
//! literal formula. Where flows have floors, it is what rates are above them that is scaled, into what the floors
//! leave. Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §3. FILL is ours: it keeps the
//! proportions of the rates where they compete, and wastes nothing.

mod by_name;
mod f_norm;
mod fill;
mod u_norm;

use by_name::normalizers;
pub use f_norm::FNorm;
pub use fill::Fill;
pub(crate) use fill::flow_caps_as_links;
pub use u_norm::UNorm;

use crate::certificate::Split;
use crate::error::{Result, check_rate};
use crate::paths::Paths;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::work::Ranks;

normalizers! {
    FNorm = "f-norm": "each path divided by the largest load per capacity on it",
    UNorm = "u-norm": "all rates divided by the largest load per capacity of the network",
    Fill = "fill": "weighted max-min, the weights being the rates: every path has a full link",
}

/// Makes any rates feasible.
pub trait Normalizer {
    /// Replaces the rates of all paths by feasible ones. Rates are finite and not negative, `capacities` likewise.
    ///
    /// # Panics
    /// If a path names a link beyond `capacities`; those of a [`Problem`] do not.
    fn normalize(&self, capacities: &[f64], paths: &Paths, rates: &mut [f64]);

    /// Normalizes where every path has a cap, ∞ for none: rates are cut to their caps before and after.
    ///
    /// # Panics
    /// If a path names a link beyond `capacities`; those of a [`Problem`] do not.
    fn normalize_capped(&self, capacities: &[f64], paths: &Paths, caps: &[f64], rates: &mut [f64]) {
        let cut = |rates: &mut [f64]| rates.iter_mut().zip(caps).for_each(|(rate, &cap)| *rate = rate.min(cap));
        cut(rates);
        self.normalize(capacities, paths, rates);
        cut(rates);
    }

    /// Normalizes the rates of a problem, with all its caps. Those of flows over several paths are kept likewise, the
    /// rates of a flow being cut in proportion.
    fn normalize_problem(&self, problem: &Problem, rates: &mut [f64]) {
        let (capacities, paths) = (problem.capacities(), problem.paths());
        if problem.has_rate_caps() {
            let caps: Vec<f64> = (0..rates.len()).map(|path| problem.rate_cap(path)).collect();
            rates.iter_mut().zip(&caps).for_each(|(rate, &cap)| *rate = rate.min(cap));
            problem.cut_to_flow_caps(rates);
            self.normalize_capped(capacities, paths, &caps, rates);
        } else {
            problem.cut_to_flow_caps(rates);
            self.normalize(capacities, paths, rates);
        }
        problem.cut_to_flow_caps(rates);
    }
}

#[inline(always)]
fn divided(rate: f64, relative_load: f64, raise_rates: bool) -> f64 {
    if rate == 0.0 || (relative_load <= 1.0 && !raise_rates) {
        return rate;
    }
    // A relative load too small for a float can neither be divided by nor be filled up.
    let divided = rate / relative_load;
    if divided.is_finite() { divided } else { rate }
}

/// load/c of every link: ∞ for a failed link that is loaded, 0 for one that is not.
pub(crate) fn relative_loads(capacities: &[f64], paths: &Paths, rates: &[f64]) -> Vec<f64> {
    let mut loads = vec![0.0; capacities.len()];
    paths.scatter(0..rates.len(), rates, &mut loads);
    relative(loads, capacities)
}

/// Loads → loads per capacity.
pub(crate) fn relative(mut loads: Vec<f64>, capacities: &[f64]) -> Vec<f64> {
    for (load, &capacity) in loads.iter_mut().zip(capacities) {
        if *load > 0.0 {
            *load /= capacity;
        }
    }
    loads
}

/// By how much the largest load per capacity is above 1.
pub(crate) fn overload(relative_loads: &[f64]) -> f64 {
    (relative_loads.iter().copied().fold(0.0, f64::max) - 1.0).max(0.0)
}

/// Feasible rates of a problem by a normalizer, caps included. Where flows have floors, the normalizer is given what
/// rates are above these and what the floors leave of capacities and caps, so that no floor is missed; floors that do
/// not fit are cut to the largest part of all that does.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) unless there is one rate per path, [`Error::Rate`](crate::Error::Rate) for a
/// rate that is negative or not finite, [`Error::Unlimited`](crate::Error::Unlimited) for a flow that nothing limits.
/// Those of a solve where flows have floors.
pub fn normalize(problem: &Problem, rates: &[f64], normalizer: &impl Normalizer) -> Result<Vec<f64>> {
    check(problem, rates)?;
    let mut rates = rates.to_vec();
    let presolved = if problem.has_flow_floors() { Some(Presolved::new(problem)?) } else { None };
    // There may be none left where flows have failed.
    if let Some(presolved) = presolved.filter(|presolved| !presolved.floor_rates.is_empty()) {
        return above_floors(&presolved, &rates, normalizer);
    }
    normalizer.normalize_problem(&*problem.limited(&Ranks::alone())?, &mut rates);
    Ok(rates)
}

fn above_floors(problem: &Presolved, rates: &[f64], normalizer: &impl Normalizer) -> Result<Vec<f64>> {
    let (mut rates, bounds) = (problem.natural_rates(rates), &problem.bounds);
    let cap = |path: usize| bounds.caps[path];
    rates.iter_mut().enumerate().for_each(|(path, rate)| *rate = rate.min(cap(path)));
    problem.cut_to_flow_caps(&mut rates);
    let Split { kept, left, .. } = Split::off(problem, &mut rates)?;
    let caps: Vec<f64> = kept.iter().enumerate().map(|(path, kept)| (cap(path) - kept).max(0.0)).collect();
    normalizer.normalize_capped(&left, &problem.paths, &caps, &mut rates);
    rates.iter_mut().zip(&kept).for_each(|(rate, kept)| *rate += kept);
    problem.cut_to_flow_caps(&mut rates);
    Ok(problem.caller_rates(&rates))
}

/// One rate per path, each finite and not negative.
pub(crate) fn check(problem: &Problem, rates: &[f64]) -> Result<()> {
    problem.check_rates(rates)?;
    rates.iter().enumerate().try_for_each(|(path, &rate)| check_rate(path, rate))
}
