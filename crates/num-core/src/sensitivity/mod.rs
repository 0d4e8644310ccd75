//! Derivatives of the optimum: how rates, prices and objective change with capacities, caps, floors, costs,
//! coefficients and parameters of utilities.
//!
//! ```text
//! σ_f dy_f + dq_p + dη_f = U'_f Σ_θ (∂ log U'_f/∂θ) dθ      free paths p of flow f; σ = −U''
//! dq_p = Σ_l a_lp dp_l + dk_p + Σ_l p_l da_lp
//! Σ_{p ∋ l} a_lp dx_p = dc_l − Σ_{p ∋ l} x_p da_lp          active links: full, with a price
//! Σ_{p ∈ f} dx_p = dd_f or dm_f                             flows at their cap or floor; dη = 0 for the others
//! dx_p = dr_p or 0                                          paths at their cap, or without a rate
//! dobjective = Σ p dc + Σ v dr + Σ t dd + Σ t dm + Σ (∂U/∂θ) dθ − Σ x (dk + Σ p da)
//! ```
//!
//! v and t are the multipliers of caps and floors, t = U' − q < 0 at a floor.
//!
//! The matrix is symmetric, so that Jᵀ w is a solve with the same one. It is that of Newton's method and the interior
//! point, reduced to one unknown per link (`solve/system`).
//!
//! - **Where it is linearized** (`polish.rs`, `newton.rs`). A certified gap of 1e−6 leaves rates that are right to
//!   three digits, so the point is refined first: Newton's method on the conditions above, where constraints become
//!   active or inactive as signs require, up to rounding. Where that does not converge, the interior point solves
//!   again. The refined point is certified, and refused unless its KKT residual is 1e−6 at most.
//! - **Where the optimum is not differentiable** ([`Kink`]). A constraint that holds with a multiplier of 0 (both to
//!   1e−7, relative) is active for some changes and inactive for others. [`Sensitivity::forward`] is then the one-sided
//!   derivative: it finds the constraints that stay active for each change (the least-index rule of principal
//!   pivoting, Murty 1974, which ends where the active constraints are independent). [`Sensitivity::reverse`], which
//!   knows no direction, refuses, or takes the side that [`AtKink`] names.
//! - **Ties.** Links that are full by the same flows, or by flows at caps, have prices that are not unique. A change of
//!   their capacities chooses those of least Σ p dc + Σ v dr + Σ t dd, to which the dual simplex method goes; rates
//!   follow one-sided, and prices that jump are NaN. `reverse` refuses, or counts such links alike.
//! - **Several paths.** Flow rates are unique. Where the split is not, the change of least norm Σ s_p dx_p² is taken,
//!   s_p being the stiffness of the network along the path (`equations/`); where prices are not, the one of least
//!   norm that is scaled by the diagonal of the matrix.
//! - **Limits.** The one-sided optimality conditions of every forward product are checked over all constraints that
//!   hold, and so are the equations without what regularizes them: what fails is refused with an error. So is a change
//!   that decides which of two equal bounds holds a flow with several paths. Where the rate is at a point at which a
//!   bandwidth function bends without a flat piece, the derivative is that to one side.
//! - **Threads.** Passes over the flows, sums over links and products with the matrix are done by workers
//!   ([`Sensitivity::by`]) where flows are many; the factorization and the search for constraints by the caller.
//! - **Cost.** One or two Newton steps with one factorization, or none where active links are many, some ten with
//!   several paths per flow; two to three rounds per product, each a scatter, a gather and a solve with the factor.
//!
//! Sources: Fiacco, *Introduction to Sensitivity and Stability Analysis in Nonlinear Programming*, 1983; Murty,
//! *Note on a Bard-type scheme for solving the complementarity problem*, Opsearch 1974; the proximal method of
//! multipliers that treats what is not unique: Rockafellar, Math. Oper. Res. 1976.

mod active_set;
mod changes;
mod equations;
mod forward;
mod kink;
mod multipliers;
mod newton;
mod point;
mod polish;
mod reverse;
mod scales;
mod tied_prices;
mod tolerances;

use std::sync::Arc;

pub use changes::{OutcomeChange, ParameterChange};
pub use kink::{AtKink, Kink};

use self::active_set::Constraint;
use self::equations::Equations;
use self::point::Point;
use self::scales::Scales;
use self::tolerances::{CERTIFIED, FOREIGN, UNCERTIFIED};
use crate::certify::certify_presolved;
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::problem::{Block, Problem};
use crate::solve::{Solution, Status};
use crate::utility::{Curvature, ParameterName, Utility};
use crate::work::{Ranks, Workers};

/// The derivatives of the optimum of one problem at one certified solution.
///
/// ```
/// use netnum_core::sensitivity::{OutcomeChange, ParameterChange, Sensitivity};
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, solve};
///
/// // Two flows on a link of capacity 6: each gets half of what is added, whose value is the price 1/3.
/// let problem = Problem::new(vec![6.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional())?;
/// let mut sensitivity = Sensitivity::new(&problem, &solve(&problem, &Ask::default())?)?;
/// let more = ParameterChange { capacities: vec![1.0], ..ParameterChange::default() };
/// let change = &sensitivity.forward(&[more])?[0];
/// assert!((change.flow_rates[0] - 0.5).abs() < 1e-12);
/// assert!((change.objective - 1.0 / 3.0).abs() < 1e-12);
///
/// // The derivative of the first rate in all parameters at once.
/// let of_first = OutcomeChange { flow_rates: vec![1.0, 0.0], ..OutcomeChange::default() };
/// let gradient = &sensitivity.reverse(&[of_first], Default::default())?[0];
/// assert!((gradient.capacities[0] - 0.5).abs() < 1e-12);
/// assert!((gradient.weight[1] + 1.5).abs() < 1e-12);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub struct Sensitivity {
    problem: Problem,
    parameters: Vec<ParameterName>,
    presolved: Arc<Presolved>,
    point: Point,
    weak: Vec<Constraint>,
    kinks: Vec<Kink>,
    equations: Equations,
    scales: Scales,
    /// Full links whose prices are not unique, by their numbers here.
    tied: Vec<u32>,
}

impl Sensitivity {
    /// Refines a solution of the problem, and linearizes there.
    ///
    /// # Errors
    /// [`Error::NoSensitivity`] for a solution that is not optimal or not of this problem, for max-min and linear
    /// utilities, and where the point cannot be refined; [`Error::Stopped`].
    pub fn new(problem: &Problem, solution: &Solution) -> Result<Self> {
        Self::by(problem, solution, Arc::new(Ranks::alone()))
    }

    /// As [`Sensitivity::new`], where workers do the passes over the flows, those of its products too. The bits do not
    /// depend on how many they are.
    ///
    /// # Errors
    /// Those of [`Sensitivity::new`], also for workers that have several [ranks](Ranks).
    pub fn by(problem: &Problem, solution: &Solution, workers: Arc<dyn Workers>) -> Result<Self> {
        let refuse = |what: String, instead| Err(Error::NoSensitivity { what, instead });
        match problem.curvature() {
            Curvature::MaxMin => {
                return refuse("max-min rates".into(), "AlphaFair with a large alpha, such as 8, is smooth");
            }
            Curvature::Linear => {
                return refuse("linear utilities".into(), "AlphaFair with a small alpha, such as 0.5, is smooth");
            }
            Curvature::Strict => {}
        }
        if problem.has_priorities() {
            return refuse("a problem with priorities".into(), "take each class as a problem of its own");
        }
        if !workers.ranks().are_alone() {
            return refuse("a problem over several ranks".into(), "make it on one of them, of the whole problem");
        }
        if solution.status != Status::Optimal {
            let what = format!("a solution that is not certified (its status is {:?})", solution.status.name());
            let remedy = match solution.status {
                Status::Infeasible => "its floors do not fit: lower them first",
                Status::Stalled => "solve to \"optimal\" first: a larger tol, or alpha nearer to 1",
                _ => "solve to \"optimal\" first: a larger tol, more iterations or more time",
            };
            return refuse(what, remedy);
        }
        problem.check_rates(&solution.rates)?;
        problem.check_prices(&solution.prices)?;
        if let Some(path) = solution.rates.iter().position(|rate| !rate.is_finite()) {
            let what = format!("a solution in which path {path} has rate {}", solution.rates[path]);
            return refuse(what, "solve the problem");
        }
        let presolved = Arc::new(Presolved::by(problem, workers)?);
        let found = certify_presolved(problem, &presolved, &solution.rates, &solution.prices, &[])?.relative_gap;
        let own = solution.certificate.relative_gap;
        if found > FOREIGN * if own.is_finite() { own.max(CERTIFIED) } else { UNCERTIFIED } {
            let what = format!("a point that is not optimal for this problem (a gap of {found:.1e})");
            return refuse(what, "its rates and prices have not converged, or are of another problem or a part of one");
        }
        let mut equations = Equations::new(&presolved);
        let mut point = Point::refined(problem, &presolved, solution, &mut equations)?;
        if let Some((link, flow)) = point.lost_price(&presolved)? {
            let (link, flow) = (presolved.caller.links[link], presolved.caller.flows[flow]);
            let what = format!("an optimum at which the price of link {link} is rounding beside others of flow {flow}");
            return refuse(what, "its paths cannot be told apart: bring weights nearer to each other");
        }
        let weak = point.weak(&presolved)?;
        let scales = point.scales(&presolved)?;
        let tied = match equations.tied(&presolved, &scales) {
            // What cannot be told counts as tied.
            Err(Error::NoSensitivity { .. }) => {
                let links = 0..point.active.links.len() as u32;
                links.filter(|&link| point.active.links[link as usize]).collect()
            }
            tied => tied?,
        };
        let kinks = kink::of(problem, &presolved, &point, &weak, &tied);
        // Flows of one block differ in the values of their parameters only.
        let has = |name: &ParameterName| {
            let of_first = |block: &Block| block.utility.log_marginal_slope(0, *name, 1.0);
            problem.blocks().iter().any(|block| !block.flows.is_empty() && of_first(block).is_some())
        };
        let parameters = ParameterName::ALL.into_iter().filter(has).collect();
        Ok(Self { problem: problem.clone(), parameters, presolved, point, weak, kinks, equations, scales, tied })
    }

    /// Where the optimum is not differentiable: constraints that hold with a multiplier of 0.
    pub fn kinks(&self) -> &[Kink] {
        &self.kinks
    }

    /// The rate of every path at the refined point.
    pub fn rates(&self) -> Vec<f64> {
        self.presolved.caller_rates(&self.point.rates)
    }

    /// The rate of every flow at the refined point.
    pub fn flow_rates(&self) -> Vec<f64> {
        self.presolved.caller_flow_rates(&self.point.flow_rates)
    }

    /// The price of every link at the refined point.
    pub fn prices(&self) -> Vec<f64> {
        self.presolved.caller_prices(&self.point.prices)
    }

    /// The problem that it is of.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Which parameters of utilities any flow has.
    pub fn parameters(&self) -> Vec<ParameterName> {
        self.parameters.clone()
    }

    /// The caller's utility of a flow by its number here, its place in it, and its rate.
    fn utility(&self, flow: usize) -> (&dyn Utility, usize, f64) {
        let (utility, place) = self.problem.utility(self.presolved.caller.flows[flow] as usize);
        (utility, place, self.point.flow_rates[flow] * self.presolved.units.rate)
    }
}
