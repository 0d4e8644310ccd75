//! The solution of a problem.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Progress, Status};
use crate::certificate::Certificate;
use crate::error::below_one;
use crate::max_min::Cut;
use crate::non_finite;
use crate::presolve::Infeasibility;
use crate::problem::Problem;

/// The flows of one priority, and the proof of their rates: nothing better could be had for them while those of smaller
/// priorities keep theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriorityClass {
    /// The priority of its flows.
    pub priority: f64,
    /// Its flows.
    pub flows: Vec<u32>,
    /// How its solve ended.
    pub status: Status,
    /// Σ U_f(y_f) over its flows; the smallest fair share for max-min.
    #[serde(with = "non_finite::nan")]
    pub objective: f64,
    /// The proof.
    pub certificate: Certificate,
    /// The prices that prove it, of every link.
    pub prices: Vec<f64>,
}

/// Rates, prices and their proof, in the caller's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Solution {
    /// How the solve ended.
    pub status: Status,
    /// The method that ran.
    pub method: Cow<'static, str>,
    /// Rate of every path; feasible.
    pub rates: Vec<f64>,
    /// Rate of every flow: the sum over its paths.
    pub flow_rates: Vec<f64>,
    /// Price of every link: utility gained per unit of capacity. It is the slope of the best objective in the capacity
    /// (where that has a breakpoint, between the slopes on its two sides), good for a small change of it; a link of
    /// price 0 is large enough. For max-min problems the rise of the fair share, per unit of capacity, of the first
    /// level at which the link has held flows back, alone or in a cut (there may be kinks here as well). One that no
    /// float can hold (α = 200 and weights of 1e5, say) is the largest float, or 0; the certificate is of the prices
    /// before that.
    pub prices: Vec<f64>,
    /// Load of every link.
    pub loads: Vec<f64>,
    /// The bottleneck of every path: the full link (idle by 1 % at most) with the largest part of its price. None where
    /// its cap, or its flow's cap or saturation, holds it, where another path of its flow has all of the rate, and
    /// where it is free (a price below 1e−9 of U'). For max-min problems the full link on which no flow has a larger
    /// fair share, or with several paths per flow the link of largest price in the cut that holds the flow.
    pub bottlenecks: Vec<Option<u32>>,
    /// Of max-min over several paths per flow: the sets of links that have held flows back, in order of fair shares.
    /// With one path per flow each is a link, the `bottlenecks`, and there are none here.
    #[serde(default)]
    pub cuts: Vec<Cut>,
    /// Σ U_f(y_f) over the flows that are not in `failed_flows`, less Σ k_p x_p over the costs of paths; for max-min
    /// problems their smallest fair share.
    #[serde(with = "non_finite::nan")]
    pub objective: f64,
    /// The proof for these rates and prices.
    pub certificate: Certificate,
    /// Iterations done.
    pub iterations: usize,
    /// Seconds from the problem to the solution.
    pub seconds: f64,
    /// Flows that nothing can pass, because they are capped at 0, or every path is or crosses a link of capacity 0, or
    /// is full of the classes before or of floors. Their rates are 0 and they are left out of the objective.
    pub failed_flows: Vec<u32>,
    /// The number of a rank and how many there are, where the problem is the part of one of several: rates, bottlenecks
    /// and failed flows are then those of its flows.
    #[serde(default)]
    pub part: Option<(usize, usize)>,
    /// One row per iteration, where the settings have a trace.
    pub trace: Vec<Progress>,
    /// The flows of every priority in order, where these differ. The certificate has the largest of their gaps and
    /// residuals, the objective is their sum less the costs of all paths (of max-min the smallest), and the prices are
    /// those of the last one.
    #[serde(default)]
    pub classes: Vec<PriorityClass>,
    /// Why the floors do not fit, where the status says so.
    #[serde(default)]
    pub infeasibility: Option<Infeasibility>,
}

impl Solution {
    /// What was kept elsewhere of a solution: its status, rates and prices. All other fields are those of a solve
    /// without an answer.
    ///
    /// ```
    /// use netnum_core::sensitivity::Sensitivity;
    /// use netnum_core::{AlphaFair, Ask, Paths, Problem, Solution, Status, solve};
    ///
    /// let problem = Problem::new(vec![6.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional())?;
    /// let solution = solve(&problem, &Ask::default())?;
    /// let status = Status::named(solution.status.name()).unwrap();
    /// let kept = Solution::kept(&problem, status, solution.rates, solution.prices);
    /// assert!(Sensitivity::new(&problem, &kept)?.kinks().is_empty());
    /// # Ok::<(), netnum_core::Error>(())
    /// ```
    pub fn kept(problem: &Problem, status: Status, rates: Vec<f64>, prices: Vec<f64>) -> Self {
        Self { status, rates, prices, ..Self::unsolved(problem, Duration::ZERO) }
    }

    /// The outcome of a solve whose time was up before there was any solution: rates of 0, an infinite gap, and an
    /// empty list of failed flows.
    pub(crate) fn unsolved(problem: &Problem, took: Duration) -> Self {
        let (paths, links) = (problem.paths().len(), problem.links());
        let certificate = Certificate { relative_gap: f64::INFINITY, overload: 0.0, kkt_residual: f64::INFINITY };
        Self {
            status: Status::TimeLimit,
            method: "none".into(),
            rates: vec![0.0; paths],
            flow_rates: vec![0.0; problem.flows()],
            prices: vec![0.0; links],
            loads: vec![0.0; links],
            bottlenecks: vec![None; paths],
            cuts: Vec::new(),
            objective: f64::NAN,
            certificate,
            iterations: 0,
            seconds: took.as_secs_f64(),
            failed_flows: Vec::new(),
            part: None,
            trace: Vec::new(),
            classes: Vec::new(),
            infeasibility: None,
        }
    }
}

impl fmt::Display for Solution {
    /// `Solution(optimal, 1000 flows, 360 links, gap 4.1e-7, rates to 2.0e-4, 70 iterations, 0.3 ms)`: the relative
    /// gap, and the KKT residual, to about which every single rate is right. One whose time was up before there were
    /// any says `no rates yet, nothing proven`, a part `1000 flows on rank 0 of 2`, and of classes the first that is
    /// not optimal is named: `priority 1 stalled`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (flows, links) = (counted(self.flow_rates.len(), "flow"), counted(self.prices.len(), "link"));
        let (place, there) = match self.part {
            Some((rank, ranks)) => (format!(" on rank {rank} of {ranks}"), " there"),
            None => (String::new(), ""),
        };
        write!(f, "Solution({}, {flows}{place}, {links}, ", self.status)?;
        if let Some(infeasibility) = &self.infeasibility {
            return write!(f, "{} of every floor fits)", below_one(infeasibility.fraction));
        }
        if !self.failed_flows.is_empty() {
            write!(f, "{} failed{there}, ", counted(self.failed_flows.len(), "flow"))?;
        }
        if let Some(class) = self.classes.iter().find(|class| class.status != Status::Optimal) {
            write!(f, "priority {} {}, ", class.priority, class.status)?;
        }
        // Every solution has some rate, but where the time was up before.
        if self.certificate.relative_gap.is_infinite() && self.rates.iter().all(|&rate| rate == 0.0) {
            write!(f, "no rates yet, ")?;
        }
        write!(f, "{}, {}, ", self.certificate, counted(self.iterations, "iteration"))?;
        match self.seconds {
            seconds if seconds < 0.1 => write!(f, "{:.1} ms)", 1e3 * seconds),
            seconds => write!(f, "{seconds:.1} s)"),
        }
    }
}
