//! xWI, explicit weight inference: weights from prices, rates by weighted max-min, prices from residuals.
//!
//! ```text
//! w_i = (U_i')⁻¹(q_i)        x = weighted max-min of w over the network
//! p_res = p_l + min_{i ∋ l} (U_i'(x_i) − q_i)/|L(i)|        Σ_l a_li with coefficients a_li in place of |L(i)|
//! p_new = [p_res − η (1 − y_l/c_l) p_l]₊           p_l ← β p_l + (1 − β) p_new
//! several paths:  w_p = (U_f')⁻¹(q_p) · max(x_p/Σ x, 10⁻⁴),  the flow's weight by the path's last share
//! ```
//!
//! q is the price of a path, |L| its number of links. Rates are feasible at every step and no link that could be full
//! is left idle; where the residuals U' − q vanish and idle links are free, rates and prices are optimal. η = 5, β =
//! 0.5 in the paper. The floor of a share lets a path regain traffic. Flows at an active bound are left out of the
//! minimum: a flow at its cap or saturation with U' ≥ q, and with U' ≤ q a path at the floor of its share, or a flow at
//! its floor. Weights are at least floors, and q has the cost of the path. The residual of a link without other flows
//! is 0. The cap of a flow with several paths is one more link on all of them in the water-filling. Its price is U' at
//! the cap minus the price of the cheapest path. Where it is far above the prices of the paths, shares move slowly.
//!
//! Each step costs a water-filling (`water_fill/mod.rs`) and O(crossings), about as much as a certificate. It gets
//! to 1e−3 in 30 to 150 steps on leaf-spines for every α up to 10, and stops improving between 1e−4 and 1e−6: the price
//! of a nearly full link falls only by η (1 − y/c). From α = 5 on the gap fluctuates there.
//! It fails on networks of very different capacities, and with weights over many decades stays at 1e−3. With several
//! paths it takes 20 to 300 steps to 1e−2, the most with two paths or with paths that share no bottleneck. For
//! accuracy, use "interior-point".
//! Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §4.2, and §6.3 for several paths.

use std::sync::Arc;

use super::price::LARGEST_PRICE;
use super::{Method, State};
use crate::error::Result;
use crate::interrupt::{self, StopToken};
use crate::normalize::flow_caps_as_links;
use crate::paths::Paths;
use crate::presolve::Presolved;
use crate::tolerances::AT_LIMIT;
use crate::water_fill::WaterFill;

/// xWI. Vectors are per link, path or flow, in natural units.
pub(super) struct Xwi {
    eta: f64,
    beta: f64,
    routing: Arc<Paths>,
    water_fill: WaterFill<Arc<Paths>>,
    /// The cap of every path, the saturation of its flow, or what it demands at its cost; empty when there are none
    /// *(given)*.
    limits: Vec<f64>,
    /// The largest weight of every path *(given)*.
    heaviest: Vec<f64>,
    weights: Vec<f64>,
    /// U' of the flows with several paths and a cap, at it *(given)*.
    value_at_cap: Vec<f64>,
    /// q of every path, the same with what caps of flows are worth, y of every link *(derived)*.
    path_prices: Vec<f64>,
    charged: Vec<f64>,
    loads: Vec<f64>,
    /// min (U' − q)/Σ a over the paths of every link that count *(derived)*.
    residuals: Vec<f64>,
}

/// The least share that a path has of its flow's throughput, when weights are computed.
const LEAST_SHARE: f64 = 1e-4;

impl Xwi {
    /// Weights are cut at `heaviest` times the path's smallest capacity: a free path would have an infinite one.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new([eta, beta, heaviest]: [f64; 3], problem: &Presolved) -> Result<Self> {
        let paths = problem.paths.len();
        let mut limits = Vec::new();
        if !problem.bounds.caps.is_empty() || !problem.bounds.saturations.is_empty() || !problem.costs.is_empty() {
            let of_flow = |flow: usize| problem.paths_of(flow).map(move |path| (flow, path));
            let of_paths = (0..problem.flows()).flat_map(of_flow);
            limits.extend(of_paths.map(|(flow, path)| problem.bounds.caps[path].min(problem.bounds.saturations[flow])));
        }
        if !problem.costs.is_empty() {
            // Beyond its demand where links are free a path costs more than it is worth.
            let demands = problem.path_demands(&vec![0.0; problem.capacities.len()])?;
            for (path, limit) in limits.iter_mut().enumerate() {
                if demands[path] < problem.bounds.ceilings[path] {
                    *limit = limit.min(demands[path]);
                }
            }
        }
        let narrowest = |path: usize| problem.paths.row(path).narrowest(&problem.capacities);
        let heaviest = (0..problem.paths.len()).map(|path| heaviest * narrowest(path)).collect();
        let links = vec![0.0; problem.capacities.len()];
        Ok(Self {
            eta,
            beta,
            routing: Arc::clone(&problem.paths),
            water_fill: water_fill(problem)?,
            limits,
            heaviest,
            weights: vec![0.0; paths],
            value_at_cap: value_at_cap(problem)?,
            path_prices: vec![0.0; paths],
            charged: Vec::new(),
            loads: links.clone(),
            residuals: links,
        })
    }

    /// Rates at the prices in `state`, from the shares that its rates have, with their loads and residuals. Returns the
    /// estimate of the gap, which is NaN when a weight is NaN.
    fn allocate(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        problem.price_paths(0..problem.paths.len(), &state.prices, &mut self.path_prices);
        self.charge_caps(problem);
        self.weigh(problem, &state.rates);
        if !self.weights.iter().all(|&weight| weight >= 0.0) {
            // Written as rates, from which the loop finds the flow with this utility.
            state.rates.copy_from_slice(&self.weights);
            return Ok(f64::NAN);
        }
        self.water_fill.run(&self.weights, &self.limits, &mut state.rates);
        self.loads.fill(0.0);
        self.routing.scatter(0..problem.paths.len(), &state.rates, &mut self.loads);
        self.look(problem, state)
    }

    /// The prices of paths including those of flow caps: at its cap a flow's cheapest path costs U'.
    fn charge_caps(&mut self, problem: &Presolved) {
        self.charged.clone_from(&self.path_prices);
        for (&(flow, _), marginal) in problem.bounds.flow_caps.iter().zip(&self.value_at_cap) {
            let own = &mut self.charged[problem.paths_of(flow)];
            let least = own.iter().copied().fold(f64::INFINITY, f64::min);
            if *marginal > least {
                own.iter_mut().for_each(|price| *price += marginal - least);
            }
        }
    }

    /// w of every path.
    fn weigh(&mut self, problem: &Presolved, rates: &[f64]) {
        let Self { charged, weights, heaviest, .. } = self;
        for block in &problem.blocks {
            for flows in block.chunks() {
                let paths = problem.paths_of_all(&flows);
                problem.path_demands_into(block, &flows, &charged[paths.clone()], &mut weights[paths]);
            }
        }
        for (weight, &heaviest) in weights.iter_mut().zip(&*heaviest) {
            // min would drop a NaN.
            *weight = if *weight > heaviest { heaviest } else { *weight };
        }
        for flow in 0..problem.flows() {
            let paths = problem.paths_of(flow);
            if paths.len() > 1 {
                let total: f64 = rates[paths.clone()].iter().sum();
                for path in paths {
                    let share = if total > 0.0 { rates[path] / total } else { 0.0 };
                    weights[path] *= share.max(LEAST_SHARE);
                }
            }
        }
    }

    /// The residuals of the links, and the estimate: what idle capacity is priced at and, to second order, what closing
    /// the residual of every path is worth at an elasticity of 1; both relative to all revenue.
    fn look(&mut self, problem: &Presolved, state: &State) -> Result<f64> {
        let flow_rates = problem.flow_totals(&state.rates);
        let marginals = problem.marginals(&flow_rates)?;
        self.residuals.fill(f64::INFINITY);
        let (mut missing, mut revenue) = (0.0, 0.0);
        for (flow, (&total, &marginal)) in flow_rates.iter().zip(&marginals).enumerate() {
            let marginal = marginal.min(LARGEST_PRICE);
            let paths = problem.paths_of(flow);
            let idle = if paths.len() > 1 { LEAST_SHARE * total } else { 0.0 };
            for path in paths {
                let (rate, price) = (state.rates[path], self.path_prices[path]);
                let residual = marginal - price;
                if rate > 0.0 {
                    revenue += rate * marginal;
                }
                let limit = self.limits.get(path).copied().unwrap_or(f64::INFINITY);
                let full =
                    rate >= limit * (1.0 - AT_LIMIT) || total >= problem.bounds.saturations[flow] * (1.0 - AT_LIMIT);
                let least = rate <= idle || total <= problem.bounds.floors[flow] * (1.0 + AT_LIMIT);
                if (full && residual >= 0.0) || (least && residual <= 0.0) {
                    continue;
                }
                let row = problem.paths.row(path);
                if residual != 0.0 {
                    missing += 0.5 * rate * residual * (residual / marginal.max(price));
                }
                let part = residual / row.total();
                for &link in row.links() {
                    let least = &mut self.residuals[link as usize];
                    *least = least.min(part);
                }
            }
        }
        for ((price, capacity), load) in state.prices.iter().zip(&problem.capacities).zip(&self.loads) {
            missing += price * (capacity - load).max(0.0);
        }
        Ok(if missing == 0.0 { 0.0 } else { missing / revenue })
    }
}

/// A water-fill of a network in which a flow with several paths and a cap has one more link on all of them.
fn water_fill(problem: &Presolved) -> Result<WaterFill<Arc<Paths>>> {
    if problem.bounds.flow_caps.is_empty() {
        return WaterFill::new(&problem.capacities, Arc::clone(&problem.paths));
    }
    let flows = problem.flows();
    let mut caps = vec![f64::INFINITY; flows];
    problem.bounds.flow_caps.iter().for_each(|&(flow, cap)| caps[flow] = cap);
    let owners = (0..flows).flat_map(|flow| problem.paths_of(flow).map(move |_| flow));
    let (capacities, paths) = flow_caps_as_links(&problem.capacities, &problem.paths, caps, owners);
    WaterFill::new(&capacities, Arc::new(paths))
}

/// U' of the flows with several paths and a cap, at it.
fn value_at_cap(problem: &Presolved) -> Result<Vec<f64>> {
    if problem.bounds.flow_caps.is_empty() {
        return Ok(Vec::new());
    }
    let mut most = problem.flow_totals(&problem.bounds.ceilings).into_owned();
    problem.bounds.flow_caps.iter().for_each(|&(flow, cap)| most[flow] = cap);
    let marginals = problem.marginals(&most)?;
    Ok(problem.bounds.flow_caps.iter().map(|&(flow, _)| marginals[flow].min(LARGEST_PRICE)).collect())
}

impl Method for Xwi {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        state.prices.iter_mut().for_each(|price| *price = price.min(LARGEST_PRICE));
        state.rates.copy_from_slice(problem.equal_shares());
        self.allocate(problem, state)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        interrupt::check()?;
        let links = state.prices.iter_mut().zip(&self.residuals).zip(self.loads.iter().zip(&problem.capacities));
        for ((price, &residual), (load, capacity)) in links {
            let residual = if residual.is_finite() { residual } else { 0.0 };
            let idle = (1.0 - load / capacity).max(0.0);
            let next = (*price + residual - self.eta * idle * *price).clamp(0.0, LARGEST_PRICE);
            *price = self.beta * *price + (1.0 - self.beta) * next;
        }
        // As a whole: prices that have moved need their rates, and these depend on the rates before.
        StopToken::new().scope_alone(|| self.allocate(problem, state))
    }
}
