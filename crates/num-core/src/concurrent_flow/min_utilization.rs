//! The least utilization: the fraction that fits, or under caps of paths a few of them.
//!
//! ```text
//! λ(s)     the largest fraction that fits under the caps s r; the least utilization is 1/s at s = λ(s)
//! ```
//!
//! Of a split that carries the demands under r with loads of at most μ c, the part 1/μ fits under r/μ, and the other
//! way round. λ is concave in s: prices that prove λ(s) at one s bound it at every s, which is the bound of `prices.rs`
//! on μ. The next s is where that bound meets s. It falls to the fixed point, in finitely many steps since λ is
//! piecewise linear, and usually in a few.

use std::time::Instant;

use super::MulticommodityFlow;
use super::caps::Caps;
use super::demands::Demands;
use super::prices::Prices;
use crate::error::Result;
use crate::max_min::{FirstLevels, LevelBasis, PROVEN, RUNS};
use crate::problem::Problem;

#[cfg(doc)]
use crate::error::Error;

/// Steps of Newton's method at most.
const STEPS: u64 = 64;
/// Part of a bound by which the next one is higher, unless that is rounding.
const ROSE: f64 = 1e-14;

/// The least utilization of links at which all demands are carried: the smallest μ for which no link is loaded above μ
/// times its capacity.
///
/// The demand of a flow is its [cap](Problem::flow_cap); utilities, floors, costs and priorities do not matter. μ may
/// be above 1: the demands do not fit then. Without caps of paths it is 1/λ of
/// [`concurrent_flow`](super::concurrent_flow()), and the split is the same. Paths without a link of finite capacity
/// carry what their caps let them. Flows without an open path are left out.
///
/// ```
/// use netnum_core::{AlphaFair, Paths, Problem, min_utilization};
///
/// let paths = Paths::from_lists([[0], [0], [1]]);
/// let problem = Problem::grouped(vec![4.0, 1.0], paths, vec![0, 1, 1], AlphaFair::proportional())?;
/// let problem = problem.with_flow_caps(vec![2.0, 3.0])?;
/// let flow = min_utilization(&problem)?;
/// assert!((flow.utilization - 1.0).abs() < 1e-12);
/// assert!((flow.rates[1] - 2.0).abs() < 1e-12);
/// let capped = min_utilization(&problem.with_rate_caps(vec![f64::INFINITY, f64::INFINITY, 0.2])?)?;
/// assert!((capped.utilization - 1.2).abs() < 1e-12);
/// # Ok::<(), netnum_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoDemand`] for a flow without a finite cap; [`Error::DemandAboveCaps`] for one whose open paths have caps
/// that are below its demand in sum; [`Error::Stopped`].
pub fn min_utilization(problem: &Problem) -> Result<MulticommodityFlow> {
    min_utilization_from(problem, &mut None)
}

/// [`min_utilization`], from the level of the same demands over some of these paths, if there is one; it is replaced by
/// the one that is found.
pub(crate) fn min_utilization_from(problem: &Problem, last: &mut Option<LevelBasis>) -> Result<MulticommodityFlow> {
    let start = Instant::now();
    let demands = Demands::of(problem)?;
    demands.check_caps()?;
    let (mut off_links, mut left) = (vec![0.0; problem.paths().len()], demands.volumes.clone());
    for (flow, path) in demands.paths().filter(|&(_, path)| demands.is_off_all_links(path)) {
        off_links[path] = left[flow].min(problem.rate_cap(path));
        left[flow] -= off_links[path];
    }
    if left.iter().all(|&demand| demand <= 0.0) {
        return demands.answer(1.0, off_links, Prices::none(problem, 0.0), 0.0, start);
    }
    let mut caps = Caps::new(&demands);
    let levels_under = |caps: &Caps<'_>, scale: f64| {
        let cap = |path: usize| if demands.is_off_all_links(path) { 0.0 } else { caps.cap(path, scale) };
        FirstLevels::new(&demands.weighted(&left, cap)?)
    };
    let mut levels = levels_under(&caps, f64::INFINITY)?;
    let (mut best, mut prices) = (None::<(f64, Vec<f64>)>, Prices::none(problem, 0.0));
    let mut runs = 0;
    for seed in 1..=STEPS {
        let level = levels.find(seed, last.take().filter(|_| seed == 1))?;
        *last = Some(level.basis);
        let mut split = off_links.clone();
        demands.carry(&left, &level.rates, &mut split);
        let counts_more = caps.add(&split, 1.0);
        demands.keep_caps(&mut split);
        let utilization = demands.utilization(&problem.loads(&split)?);
        if best.as_ref().is_none_or(|(least, _)| utilization < *least) {
            best = Some((utilization, split));
        }
        let found = Prices::of_utilization(&demands, level.prices)?;
        let rose = found.bound > prices.bound * (1.0 + ROSE);
        prices = if rose { found } else { prices };
        if best.as_ref().is_some_and(|(least, _)| *least <= (1.0 + PROVEN) * prices.bound) {
            break;
        }
        if counts_more || (rose && problem.has_rate_caps()) {
            levels = levels_under(&caps, 1.0 / prices.bound)?;
            continue;
        }
        // Other pivots may lose less to rounding.
        runs += 1;
        if runs == RUNS {
            break;
        }
    }
    let (utilization, split) = best.expect("there is a run");
    let gap = utilization / prices.bound - 1.0;
    demands.answer(1.0, split, prices, gap, start)
}
