//! The method `auto`: the choice of a method for a problem, and switches when it makes no progress.
//!
//! | problem | method |
//! |---|---|
//! | max-min | water-filling, exact |
//! | one path per flow, strictly concave | fast NED; the interior point when the score stops falling |
//! | the same, few power laws of different α ≤ 8 | the interior point, in a quarter to three quarters of the time |
//! | the same, stopping on the KKT residual | the interior point |
//! | several paths per flow | the interior point; fast NED first if many, of equal length, as in fabrics |
//! | linear | the interior point |
//!
//! Beyond [`MOST_CROSSINGS`] an iteration of the interior point takes seconds, and fast NED solves every problem that
//! it supports. Fast NED replaces the interior point if that makes no progress, or with one path per flow is not done
//! after [`MOST_STEPS`] steps. The interior point replaces fast NED if that slows down, and starts from its prices.
//! After [`MAX_RETURNS`] such returns fast NED runs until its score has stalled ([`STALL_ITERATIONS`]). Where only
//! single rates are missing, marginals span more decades than the prices of fast NED resolve: the interior point is
//! begun again once, and the solve ends when that stalls as well. A warm start with one path per flow uses fast NED.
//! One that stalls begins again cold, once, but for max-min.

use crate::problem::Problem;
use crate::solve::{Settings, Stop};
use crate::utility::Curvature;

/// The name that stands for the best method for a problem.
pub(super) const AUTO: &str = "auto";

const INTERIOR_POINT: &str = "interior-point";
pub(super) const FAST_NED: &str = "fast-ned";
const MAX_MIN: &str = "max-min";

/// Links crossed by all paths together, up to which the interior point is used.
const MOST_CROSSINGS: usize = 20_000_000;
/// Links crossed by all paths together, from which several paths per flow may go to fast NED first.
const LARGE: usize = 50_000;
/// Beyond this, flows of different α make Newton's systems so uneven that the interior point may converge slowly.
const LARGEST_ALPHA: f64 = 8.0;
/// Links crossed by all paths together, up to which different α make fast NED the slower one.
const FEW_CROSSINGS: usize = 16_000;
/// A KKT residual of this is within easy reach of fast NED.
const EASY_KKT: f64 = 1e-4;
/// The method is switched if it would need this many more iterations at the present rate.
const SLOW_ITERATIONS: f64 = 400.0;
/// Steps after which the interior point counts as slow.
const MOST_STEPS: usize = 120;
/// Returns to the interior point, at most.
const MAX_RETURNS: usize = 2;
/// Iterations between two estimates of the rate: certificates are due at 32, 64, 128, …
const INTERVAL: usize = 32;
/// A score has fallen when it is below this part of the least score before.
const FALLS: f64 = 0.9;
/// The last run ends after this many iterations without a fall, and after half of all that it has done.
const STALL_ITERATIONS: usize = 400;

/// Switches between methods, by the decrease of the score.
pub(super) struct Auto {
    /// The iteration at which the present method began.
    since: usize,
    /// Returns to the interior point so far.
    returns: usize,
    /// Iteration and score at the last estimate.
    last: Option<(usize, f64)>,
    /// The least score of the last run, and the iteration that had it.
    least: Option<(usize, f64)>,
    stalled: bool,
}

impl Auto {
    pub(super) fn new() -> Self {
        Self { since: 0, returns: 0, last: None, least: None, stalled: false }
    }

    /// Whether the last run has stalled.
    pub(super) fn has_stalled(&self) -> bool {
        self.stalled
    }

    /// The first method.
    pub(super) fn first(problem: &Problem) -> &'static str {
        match problem.curvature() {
            Curvature::MaxMin => MAX_MIN,
            Curvature::Linear => INTERIOR_POINT,
            Curvature::Strict if problem.is_single_path() && mixes_few_powers(problem) => INTERIOR_POINT,
            Curvature::Strict if problem.is_single_path() || is_fabric(problem) => FAST_NED,
            Curvature::Strict => INTERIOR_POINT,
        }
    }

    /// Starts a run. Scores of an earlier run, which may have had another goal, are dropped.
    pub(super) fn begin(&mut self, iteration: usize) {
        *self = Self { since: iteration, ..Self::new() };
    }

    /// The first method of a warm start. The interior point gains little from given prices.
    pub(super) fn first_when_warm(problem: &Problem) -> &'static str {
        match problem.curvature() {
            Curvature::Strict if problem.is_single_path() => FAST_NED,
            _ => Self::first(problem),
        }
    }

    /// The method that replaces `method` before the first step, given when the solve stops.
    pub(super) fn replacement(method: &str, problem: &Problem, settings: &Settings) -> Option<&'static str> {
        let hard = settings.stop == Stop::Kkt && settings.tol < EASY_KKT;
        (method == FAST_NED && hard && fits(problem)).then_some(INTERIOR_POINT)
    }

    /// The method to switch to, after a certificate with `score`, for tolerance `tol`. `lacks_rates`: the gap is small
    /// enough, and single rates are missing.
    pub(super) fn next(
        &mut self,
        method: &str,
        problem: &Problem,
        (stalled, lacks_rates): (bool, bool),
        iteration: usize,
        score: f64,
        tol: f64,
    ) -> Option<&'static str> {
        if method == FAST_NED && !self.may_return() {
            self.track_score(iteration, score);
        }
        let is_slow = iteration >= self.since + MOST_STEPS;
        let next = match method {
            INTERIOR_POINT if stalled && lacks_rates && self.returns > 0 => return None,
            INTERIOR_POINT if stalled || (is_slow && problem.is_single_path()) => FAST_NED,
            FAST_NED if self.may_return() && fits(problem) && self.has_slowed(iteration, score, tol) => INTERIOR_POINT,
            _ => return None,
        };
        if problem.curvature() != Curvature::Strict {
            return None;
        }
        self.returns += usize::from(next == INTERIOR_POINT);
        (self.since, self.last) = (iteration, None);
        Some(next)
    }

    /// Whether the interior point may be used again.
    fn may_return(&self) -> bool {
        self.returns < MAX_RETURNS
    }

    /// Records the least score of the last run, and whether it has stalled.
    fn track_score(&mut self, iteration: usize, score: f64) {
        let (then, least) = *self.least.get_or_insert((iteration, score));
        if score < FALLS * least {
            (self.least, self.stalled) = (Some((iteration, score)), false);
            return;
        }
        self.stalled = iteration >= then + STALL_ITERATIONS.max((iteration - self.since) / 2);
    }

    /// Whether, at the decrease since the last estimate, many more iterations are needed.
    fn has_slowed(&mut self, iteration: usize, score: f64, tol: f64) -> bool {
        let (then, before) = *self.last.get_or_insert((iteration, score));
        if iteration < then + INTERVAL {
            return false;
        }
        self.last = Some((iteration, score));
        let per_iteration = (before / score).ln() / (iteration - then) as f64;
        // False where the scores are infinite.
        let in_reach = per_iteration.is_finite() && (score / tol).ln() <= SLOW_ITERATIONS * per_iteration;
        !in_reach
    }
}

/// Whether fast NED with shares is worth trying first: on large fabrics, where most flows choose among paths that are
/// alike, it takes 12 to 70 iterations, and a half to a fifth of the time. Where paths differ in length, as in
/// wide-area networks, it takes hundreds.
fn is_fabric(problem: &Problem) -> bool {
    let paths = problem.paths();
    if paths.indices().len() <= LARGE {
        return false;
    }
    // The length of each flow's paths; 0 before the first, and MAX once there are two.
    let mut lengths = vec![0; problem.flows()];
    for (path, &flow) in paths.iter().zip(problem.group()) {
        let length = &mut lengths[flow as usize];
        *length = if *length == 0 || *length == path.len() { path.len() } else { usize::MAX };
    }
    let mut counts = vec![0u32; problem.flows()];
    problem.group().iter().for_each(|&flow| counts[flow as usize] += 1);
    let several = || lengths.iter().zip(&counts).filter(|(_, count)| **count > 1);
    2 * several().filter(|(length, _)| **length < usize::MAX).count() > several().count()
}

/// Whether power laws of different, moderate α share a small network: fast NED then takes hundreds of iterations, each
/// with an exponential per flow.
fn mixes_few_powers(problem: &Problem) -> bool {
    if problem.paths().indices().len() > FEW_CROSSINGS {
        return false;
    }
    let mut alphas =
        problem.blocks().iter().flat_map(|block| (0..block.flows.len()).map(|place| block.utility.alpha(place)));
    let Some(first) = alphas.next() else { return false };
    let mut same = true;
    let moderate = |alpha: Option<f64>| alpha.is_some_and(|alpha| alpha <= LARGEST_ALPHA);
    let all = moderate(first)
        && alphas.all(|alpha| {
            same &= alpha == first;
            moderate(alpha)
        });
    all && !same
}

fn fits(problem: &Problem) -> bool {
    problem.paths().indices().len() <= MOST_CROSSINGS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Paths};

    fn shared_link() -> Problem {
        Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::new(2.0, 1.0).unwrap()).unwrap()
    }

    #[test]
    fn a_stall_ends_with_its_run() {
        let mut auto = Auto { returns: MAX_RETURNS, ..Auto::new() };
        let look = |auto: &mut Auto, iteration, score| {
            assert_eq!(auto.next(FAST_NED, &shared_link(), (false, false), iteration, score, 1e-6), None);
            auto.has_stalled()
        };
        assert!((0..20_000).step_by(INTERVAL).any(|iteration| look(&mut auto, iteration, 1.0)));
        assert!(!look(&mut auto, 20_000, 0.1), "the score has fallen since");
        assert!((20_000..60_000).step_by(INTERVAL).any(|iteration| look(&mut auto, iteration, 0.1)));
        auto.begin(60_000);
        assert!(!auto.has_stalled() && auto.may_return());
    }

    #[test]
    fn where_single_rates_are_missing_the_interior_point_begins_again_once() {
        let mut auto = Auto::new();
        let stalls = |auto: &mut Auto, at| auto.next(INTERIOR_POINT, &shared_link(), (true, true), at, 1.0, 1e-6);
        assert_eq!(stalls(&mut auto, 100), Some(FAST_NED));
        for (at, next) in [(132, None), (164, Some(INTERIOR_POINT))] {
            assert_eq!(auto.next(FAST_NED, &shared_link(), (false, true), at, 1.0, 1e-6), next);
        }
        assert_eq!(stalls(&mut auto, 264), None);
    }

    #[test]
    fn the_interior_point_is_replaced_after_its_steps_and_returns() {
        let next = |auto: &mut Auto, iteration| {
            auto.next(INTERIOR_POINT, &shared_link(), (false, false), iteration, 1.0, 1e-6)
        };
        let mut auto = Auto::new();
        assert_eq!(next(&mut auto, MOST_STEPS - 1), None);
        assert_eq!(next(&mut auto, MOST_STEPS), Some(FAST_NED));
        // Another run, or another method before it, does not count.
        let mut auto = Auto::new();
        auto.begin(100);
        assert_eq!(next(&mut auto, 100 + MOST_STEPS - 1), None);
        assert_eq!(next(&mut auto, 100 + MOST_STEPS), Some(FAST_NED));
        // And back where that slows down, so often and no more.
        let mut iteration = 1000;
        for _ in 0..MAX_RETURNS {
            assert_eq!(auto.next(FAST_NED, &shared_link(), (false, false), iteration, 1.0, 1e-6), None);
            iteration += INTERVAL;
            assert_eq!(auto.next(FAST_NED, &shared_link(), (false, false), iteration, 1.0, 1e-6), Some(INTERIOR_POINT));
            assert_eq!(auto.next(INTERIOR_POINT, &shared_link(), (true, false), iteration, 1.0, 1e-6), Some(FAST_NED));
        }
        // The last run ends when the score does not fall.
        let mut score = 1.0;
        for fell in [true, true, false] {
            iteration += if fell { STALL_ITERATIONS } else { 10 * STALL_ITERATIONS };
            score *= if fell { 0.5 } else { 0.95 };
            assert_eq!(auto.next(FAST_NED, &shared_link(), (false, false), iteration, score, 1e-6), None);
            assert_eq!(auto.has_stalled(), !fell);
        }
    }
}
