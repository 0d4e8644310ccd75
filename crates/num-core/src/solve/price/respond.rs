//! The seam to engines that respond to prices in the library's stead: on many cores, say.
//!
//! A price method spends its time on one thing, finding what all flows ask for at given prices and adding that up link
//! by link. An engine takes over just that. Rules, first prices, limits, certificates and stopping stay here, so that
//! a solve with an engine takes the same steps as one without, up to the rounding of sums in another order.

use std::ops::Range;

use crate::error::Result;
use crate::paths::Paths;
use crate::presolve::Presolved;

/// What a response starts from and finds, link by link: side by side, so that gathering and scattering touch one line
/// of the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(32))]
pub struct LinkRecord {
    /// p_l ≥ 0 *(iterate)*.
    pub price: f64,
    /// 1 where p_l > 0 or the link was too full in the last pass, else 0 *(derived)*.
    pub priced: f64,
    /// y_l *(derived)*.
    pub load: f64,
    /// H_l *(derived)*.
    pub slope: f64,
}

/// Flows with one path each, whose marginals are power laws: what engines can take.
#[derive(Debug)]
pub struct PowerFlows<'a> {
    /// Number of links.
    pub links: usize,
    /// The path of every flow.
    pub paths: &'a Paths,
    /// The path price below which a flow's rate stays as it is, > 0: its ceiling is its demand there.
    pub floors: &'a [f64],
    /// The marginals of all flows, in order.
    pub laws: Vec<(Range<usize>, PowerLaw<'a>)>,
}

/// How the rates of consecutive flows follow their path prices q.
#[derive(Debug)]
pub enum PowerLaw<'a> {
    /// x = w/q, with these weights.
    Log(&'a [f64]),
    /// x = (k/q)^(1/α).
    Power {
        /// log k of every flow.
        log_k: Vec<f64>,
        /// α of every flow.
        alpha: Vec<f64>,
    },
}

/// Makes responders.
pub trait PriceEngine: Send + Sync {
    /// A responder for these flows, or none where that would not pay.
    ///
    /// # Errors
    /// When the system does not give what it needs.
    fn responder(&self, flows: &PowerFlows<'_>) -> Result<Option<Box<dyn Responder>>>;
}

/// Finds what flows ask for.
pub trait Responder: Send {
    /// Adds up rates, and slopes −dx/dq, at the prices of all links; loads and slopes come in as 0. With `weigh`, a flow's
    /// slope counts once for every priced link of its path, but at least once.
    fn respond(&mut self, weigh: bool, links: &mut [LinkRecord]);

    /// The rates of the last response, flow by flow.
    fn rates_into(&self, rates: &mut [f64]);
}

impl<'a> PowerFlows<'a> {
    /// The flows of a problem, if all of them are such.
    pub(super) fn of(problem: &'a Presolved, floors: &'a [f64]) -> Option<Self> {
        if problem.paths.len() != floors.len() {
            return None;
        }
        let mut laws = Vec::with_capacity(problem.blocks.len());
        for block in &problem.blocks {
            let count = block.flows.len();
            let law = match block.utility.log_weights() {
                _ if block.whole => return None,
                Some(weights) => PowerLaw::Log(weights),
                None => {
                    let alpha = (0..count).map(|place| block.utility.alpha(place)).collect::<Option<Vec<_>>>()?;
                    // U'(1) = k.
                    let mut log_k = vec![0.0; count];
                    block.utility.log_marginal_into(0..count, &vec![1.0; count], &mut log_k);
                    PowerLaw::Power { log_k, alpha }
                }
            };
            laws.push((block.flows.clone(), law));
        }
        Some(Self { links: problem.capacities.len(), paths: &problem.paths, floors, laws })
    }
}
