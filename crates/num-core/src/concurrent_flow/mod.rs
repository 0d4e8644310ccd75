//! Demands carried over paths: the largest fraction of all demands that fits, and the least utilization of links at
//! which they fit.
//!
//! ```text
//! concurrent flow       max λ    Σ_{p ∈ f} x_p = λ d_f,   R x ≤ c,     0 ≤ x_p ≤ r_p
//! least utilization     min μ    Σ_{p ∈ f} x_p = d_f,     R x ≤ μ c,   0 ≤ x_p ≤ r_p        μ = 1/λ without caps r
//! ```
//!
//! The demand d_f of a flow is its cap. λ may be above 1. Flows without an open path are left out.
//!
//! λ is the first level of weighted max-min with the demands as weights, where the parametric simplex method
//! (`max_min/first_level.rs`) finds rates and a cut. Its prices prove the value (`prices.rs`), whatever rounding did.
//! Caps of paths are left out first, and those that a run breaks are added for the next (`caps.rs`). Where caps of
//! paths are below what the least utilization wants, μ is the fixed point 1/μ = λ(r/μ) of the fraction that fits under
//! caps of r/μ, which is concave in 1/μ: Newton's method from above ends after a few steps (`min_utilization.rs`).
//! Where every demand has one path, λ is the least of c_l/load_l and r_p/d_f.
//!
//! Source: Shahrokhi and Matula, *Journal of the ACM* 1990, for the problem and its dual.

mod caps;
mod demands;
mod min_utilization;
mod prices;

use std::fmt;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub(crate) use crate::max_min::PROVEN;
use crate::max_min::{Cut, FirstLevels, LevelBasis, RUNS};
use crate::non_finite;
use crate::problem::Problem;
use crate::solve::Status;
use caps::Caps;
use demands::Demands;
pub use min_utilization::min_utilization;
pub(crate) use min_utilization::min_utilization_from;
use prices::Prices;
pub(crate) use prices::{rent, worth};

/// A gap up to which rates are optimal. The simplex method may leave more than rounding where the coefficients of paths
/// are decades apart.
pub(crate) const OPTIMAL: f64 = 1e-6;

/// Rates that carry the same fraction of every demand, and the prices of links that prove that no others carry more, or
/// load links less: what [`concurrent_flow`] and [`min_utilization`] return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct MulticommodityFlow {
    /// [`Status::Optimal`] where the gap is at most 1e-6, [`Status::Stalled`] otherwise. It is rounding nearly always.
    pub status: Status,
    /// The part of every demand that is carried; 1 of [`min_utilization`]. Infinite where no flow has a demand and a
    /// path.
    #[serde(with = "non_finite::infinity")]
    pub fraction: f64,
    /// The largest load of a link over its capacity.
    pub utilization: f64,
    /// What the prices prove: no rates carry a larger fraction, or of [`min_utilization`] have a smaller utilization.
    #[serde(with = "non_finite::infinity")]
    pub bound: f64,
    /// The distance to the bound, as a part of the smaller of the two.
    #[serde(with = "non_finite::infinity")]
    pub gap: f64,
    /// Rate of every path.
    pub rates: Vec<f64>,
    /// Rate of every flow: the sum over its paths.
    pub flow_rates: Vec<f64>,
    /// Load of every link.
    pub loads: Vec<f64>,
    /// Price p of every link: the rise of the fraction with its capacity, or of the utilization with other load on it.
    pub prices: Vec<f64>,
    /// Price v of every flow: what it pays for a unit of rate, without caps of paths the least path price q.
    ///
    /// ```text
    /// concurrent flow       Σ d_f v_f = 1,    bound = Σ c_l p_l + Σ r_p (v_f − q_p)₊
    /// least utilization     Σ c_l p_l = 1,    bound = Σ d_f v_f − Σ r_p (v_f − q_p)₊
    /// ```
    ///
    /// over the open paths and their caps r, if any; those without have q_p ≥ v_f.
    pub flow_prices: Vec<f64>,
    /// The links that have a price, and the flows that pay one: these links together are as full as they can be of
    /// these flows; none where a time limit has ended it before. The fair share is the fraction.
    pub cut: Cut,
    /// Flows that nothing can pass, because their demand is 0 or every path is or crosses a link of capacity 0.
    pub failed_flows: Vec<u32>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// The largest fraction λ of all demands that fits at once, over the paths of the flows.
///
/// The demand of a flow is its [cap](Problem::flow_cap); utilities, floors, costs and priorities do not matter. λ may
/// be above 1: the demands then fit, and would if all were λ times as large. Caps of paths stay as they are. Flows
/// without an open path are left out.
///
/// Exact but for rounding, by the simplex method of [`max_min`](crate::max_min()) up to its first level.
///
/// ```
/// use netnum_core::{AlphaFair, Paths, Problem, concurrent_flow};
///
/// // Two flows share a link; the second has another path.
/// let paths = Paths::from_lists([[0], [0], [1]]);
/// let problem = Problem::grouped(vec![4.0, 1.0], paths, vec![0, 1, 1], AlphaFair::proportional())?;
/// let flow = concurrent_flow(&problem.with_flow_caps(vec![6.0, 4.0])?)?;
/// assert!((flow.fraction - 0.5).abs() < 1e-12 && flow.gap < 1e-12);
/// assert_eq!(flow.cut.links, [0, 1]);
/// # Ok::<(), netnum_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoDemand`] for a flow without a finite cap; [`Error::Unlimited`] where no flow with a demand is limited by
/// a link or a cap of a path, so that there is no largest fraction; [`Error::Stopped`].
pub fn concurrent_flow(problem: &Problem) -> Result<MulticommodityFlow> {
    concurrent_flow_from(problem, &mut None)
}

/// [`concurrent_flow`], from the level of the same demands over some of these paths, if there is one; it is replaced by
/// the one that is found.
pub(crate) fn concurrent_flow_from(problem: &Problem, last: &mut Option<LevelBasis>) -> Result<MulticommodityFlow> {
    let start = Instant::now();
    let demands = Demands::of(problem)?;
    let (mut unlimited, mut limited) = (vec![0.0; problem.paths().len()], demands.volumes.clone());
    let mut first = None;
    for (flow, path) in demands.paths().filter(|&(_, path)| demands.is_off_all_links(path)) {
        if limited[flow] > 0.0 && problem.rate_cap(path) == f64::INFINITY {
            unlimited[path] = limited[flow];
            limited[flow] = 0.0;
            first = first.or(Some(flow));
        }
    }
    if limited.iter().all(|&demand| demand == 0.0) {
        return match first {
            Some(flow) => Err(Error::Unlimited { flow }),
            None => demands.answer(f64::INFINITY, unlimited, Prices::none(problem, f64::INFINITY), 0.0, start),
        };
    }
    if let Some(split) = demands.only_split() {
        return over_one_path(&demands, split, start);
    }
    let mut caps = Caps::new(&demands);
    let levels_under = |caps: &Caps<'_>| FirstLevels::new(&demands.weighted(&limited, |path| caps.cap(path, 1.0))?);
    let mut levels = levels_under(&caps)?;
    let (mut best, mut prices) = (None::<(f64, Vec<f64>)>, Prices::none(problem, f64::INFINITY));
    let (mut runs, mut seed) = (0, 0);
    while runs < RUNS {
        seed += 1;
        let level = levels.find(seed, last.take().filter(|_| seed == 1))?;
        *last = Some(level.basis);
        let mut split = unlimited.clone();
        demands.carry(&limited, &level.rates, &mut split);
        let fraction = demands.fraction(&split)?;
        let found = Prices::of_fraction(&demands, level.prices, &level.cap_prices)?;
        prices = if found.bound < prices.bound { found } else { prices };
        let counts_more = caps.add(&split, prices.bound);
        if best.as_ref().is_none_or(|(most, _)| fraction > *most) {
            best = Some((fraction, split));
        }
        if best.as_ref().is_some_and(|(most, _)| prices.bound <= (1.0 + PROVEN) * most) {
            break;
        }
        match counts_more {
            true => levels = levels_under(&caps)?,
            // Other pivots may lose less to rounding.
            false => runs += 1,
        }
    }
    let (fraction, mut rates) = best.expect("there is a run");
    rates.iter_mut().for_each(|rate| *rate *= fraction);
    let gap = prices.bound / fraction - 1.0;
    demands.answer(fraction, rates, prices, gap, start)
}

/// The fraction where every demand has one path: the least of c_l/load_l and r_p/d_f, whose link or cap proves it.
fn over_one_path(demands: &Demands<'_>, mut rates: Vec<f64>, start: Instant) -> Result<MulticommodityFlow> {
    let problem = demands.problem;
    let loads = problem.loads(&rates)?;
    let least = |ratios: &mut dyn Iterator<Item = (usize, f64)>| {
        ratios.fold((0, f64::INFINITY), |least, other| if other.1 < least.1 { other } else { least })
    };
    let loaded = loads.iter().zip(problem.capacities()).enumerate().filter(|(_, (load, _))| **load > 0.0);
    let (link, of_link) = least(&mut loaded.map(|(link, (load, capacity))| (link, capacity / load)));
    let (path, of_cap) = least(&mut demands.paths().map(|(_, path)| (path, problem.rate_cap(path) / rates[path])));
    let (mut of_links, mut of_caps) = (vec![0.0; loads.len()], vec![0.0; rates.len()]);
    match of_link <= of_cap {
        true => of_links[link] = 1.0,
        false => of_caps[path] = 1.0,
    }
    let prices = Prices::of_fraction(demands, of_links, &of_caps)?;
    let fraction = of_link.min(of_cap);
    rates.iter_mut().for_each(|rate| *rate *= fraction);
    let gap = prices.bound / fraction - 1.0;
    demands.answer(fraction, rates, prices, gap, start)
}

/// The links that have a price, and the flows that pay one.
pub(crate) fn cut_of(fraction: f64, of_links: &[f64], of_flows: &[f64]) -> Cut {
    let numbers = |values: &[f64]| (0u32..).zip(values).filter(|(_, value)| **value > 0.0).map(|(n, _)| n).collect();
    Cut { fair_share: fraction.min(f64::MAX), links: numbers(of_links), flows: numbers(of_flows) }
}

impl Demands<'_> {
    /// What is returned of rates that carry a fraction of every demand.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn answer(
        &self,
        fraction: f64,
        rates: Vec<f64>,
        prices: Prices,
        gap: f64,
        start: Instant,
    ) -> Result<MulticommodityFlow> {
        let problem = self.problem;
        let (flow_rates, loads) = (problem.flow_rates(&rates)?, problem.loads(&rates)?);
        let cut = cut_of(fraction, &prices.of_links, &prices.of_flows);
        // NaN is no proof.
        let status = if gap <= OPTIMAL { Status::Optimal } else { Status::Stalled };
        Ok(MulticommodityFlow {
            status,
            fraction,
            utilization: self.utilization(&loads),
            bound: prices.bound,
            gap: gap.max(0.0),
            rates,
            flow_rates,
            loads,
            prices: prices.of_links,
            flow_prices: prices.of_flows,
            cut,
            failed_flows: self.failed.clone(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

impl fmt::Display for MulticommodityFlow {
    /// `MulticommodityFlow(optimal, 1000 flows, 360 links, 0.813 of every demand at utilization 1.000, gap 2.2e-16, cut
    /// of 4 links, 3.1 ms)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (flows, links) = (counted(self.flow_rates.len(), "flow"), counted(self.prices.len(), "link"));
        write!(f, "MulticommodityFlow({}, {flows}, {links}, ", self.status)?;
        if !self.failed_flows.is_empty() {
            write!(f, "{} failed, ", counted(self.failed_flows.len(), "flow"))?;
        }
        let Self { fraction, utilization, gap, cut, .. } = self;
        write!(f, "{fraction:.4} of every demand at utilization {utilization:.4}, gap {gap:.1e}, ")?;
        write!(f, "cut of {}, ", counted(cut.links.len(), "link"))?;
        match self.seconds {
            seconds if seconds < 0.1 => write!(f, "{:.1} ms)", 1e3 * seconds),
            seconds => write!(f, "{seconds:.1} s)"),
        }
    }
}
