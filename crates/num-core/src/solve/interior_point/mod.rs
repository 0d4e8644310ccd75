//! The interior point: Mehrotra's predictor and corrector on the optimality conditions, the reference for everything.
//!
//! ```text
//! U'(y_f) = λ_f        y_f = Σ_{p ∈ f} x_p       λ_f − q_p + z_p − v_p − t_f = 0
//! R x + s = c          s·p = μ    z·x = μ    v·(cap − x) = μ    t·(saturation − y) = μ        μ → 0
//! ```
//!
//! A Newton step on these, each flow's and path's unknowns eliminated, leaves one equation per link and one per flow with
//! several paths (`../system.rs`). Two steps with one matrix: straight at μ = 0 (predictor), which tells how far μ can fall,
//! then at that μ with second-order terms (corrector). What makes it arrive on real instances:
//!
//! - The residual of U'(y) = λ is taken in logarithms, ρ = log U'(y) − log λ, dλ = λ (ρ − ε dy/y), with ε the elasticity
//!   of U'. Marginals over a hundred decades are then as good as any.
//! - A *tiny* flow, whose demand at λ is far below what its path could carry, is set to it and does not shorten steps.
//! - A jump of U' (a flat piece of a bandwidth function) is an elastic bound (`kinks.rs`).
//! - z exists only where a rate may reach 0: several paths, linear utilities, U'(0) finite, or α < 0.45.
//! - A proximal term of 1e−8 λ/y on every path of a flow that has several, whose split is not unique.
//! - Centring is raised while feasibility lags behind complementarity.
//!
//! Starts, in its first step, from the prices it is given, improved by 40 iterations of fast NED unless utilities are
//! linear. 5 to 15 iterations for most problems, each some tens of products with the routing matrix, so O(crossings) in
//! time and memory; where a factorization is needed, O((links + flows with several paths)³). Fails where that is needed and too large.
//! Source: Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 1992.

mod bounds;
mod kinks;
mod start;

use bounds::Bounds;
use kinks::Kinks;

use super::incidence::Incidence;
use super::system::{NONE, System};
use super::{Method, State};
use crate::presolve::{NaturalBlock, Presolved, smallest};
use crate::utility::Curvature;

/// The primal-dual interior point. Everything in natural units; vectors are per link, path or flow.
pub(super) struct InteriorPoint {
    incidence: Incidence,
    system: System,
    /// The unknown of a flow with several paths, or [`NONE`] *(given)*.
    rows: Vec<u32>,
    /// Whether λ is a constant: linear utilities without saturation *(given)*.
    constant: Vec<bool>,
    /// Number of complementary pairs *(given)*.
    pairs: f64,
    /// p, s per link; x per path; y, λ per flow *(iterate)*.
    prices: Vec<f64>,
    slacks: Vec<f64>,
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    marginals: Vec<f64>,
    /// x ≥ 0 with z, x ≤ cap with v, y ≤ saturation with t, and jumps of U'.
    floors: Bounds,
    caps: Bounds,
    tops: Bounds,
    kinks: Kinks,
    /// Which flows are tiny *(derived)*.
    tiny: Vec<bool>,
    /// c − R x − s, ρ, ε/y *(derived)*.
    link_residuals: Vec<f64>,
    log_residuals: Vec<f64>,
    bends: Vec<f64>,
    /// λ − q + z − v − t *(derived)*.
    path_residuals: Vec<f64>,
    /// λ ε/y + t/(saturation − y) *(derived)*.
    stiffness: Vec<f64>,
    /// Σ s p + …, and Σ p |c − R x − s|, each relative to all revenue *(derived)*.
    complementarity: f64,
    infeasibility: f64,
    revenue: f64,
    /// What the corrector aims at: s p per link, and ρ with its second-order term *(derived)*.
    targets: Vec<f64>,
    aims: Vec<f64>,
    direction: Direction,
    /// For what is needed at one place only.
    scratch: Scratch,
    watch: Watch,
    /// Whether it has begun; before, `prices` are what to begin from.
    started: bool,
}

/// What a Newton step changes.
struct Direction {
    /// dp per link, then η per flow with several paths.
    unknowns: Vec<f64>,
    slacks: Vec<f64>,
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    marginals: Vec<f64>,
}

struct Scratch {
    paths: Vec<f64>,
    flows: Vec<f64>,
    right: Vec<f64>,
}

/// Notices when there is no progress.
struct Watch {
    best: f64,
    /// The smallest of the largest |ρ| so far.
    best_log: f64,
    since: usize,
}

/// Relative accuracy of the predictor and of the corrector by conjugate gradients.
const PREDICTOR: f64 = 1e-2;
const CORRECTOR: f64 = 3e-3;
const FINEST: f64 = 1e-9;
/// How far to go towards the nearest bound.
const FRACTION: f64 = 0.99;
/// ε below which rates may reach 0.
const SHALLOW: f64 = 0.45;
/// A path is idle when its rate is this part of its flow's, and its price this part of λ too high.
const IDLE_RATE: f64 = 1e-8;
const IDLE_EXCESS: f64 = 1e-4;
/// A λ shrinks by no more than e^−this at a time.
const SHRINK: f64 = 12.0;
/// The proximal term, per λ/y.
const PROXIMAL: f64 = 1e-8;
/// μ goes no further than this part of all revenue.
const SMALLEST: f64 = 1e-150;
/// Infeasibility below this is rounding.
const ROUNDING: f64 = 1e-14;
/// A flow is tiny when it is below the first part of what its path can carry and its demand below the second.
const TINY_RATE: f64 = 0.1;
const TINY_DEMAND: f64 = 1e-2;
/// Iterations without progress after which it gives up.
const PATIENCE: usize = 30;
/// Bounds of marginals, so that their products stay numbers.
const LEAST: f64 = 1e-250;
const MOST: f64 = 1e250;

impl InteriorPoint {
    pub(super) fn new(problem: &Presolved) -> Self {
        let (links, paths, flows) = (problem.capacities.len(), problem.paths.len(), problem.log_marginals.len());
        let mut rows = vec![NONE; flows];
        let (mut constant, mut count) = (vec![false; flows], 0);
        let (mut floors, mut caps, mut tops, mut kinks) = (Vec::new(), Vec::new(), Vec::new(), Kinks::default());
        for block in &problem.blocks {
            let linear = block.utility.curvature() == Curvature::Linear;
            let shallow = shallow(problem, block);
            for (place, flow) in block.flows.clone().enumerate() {
                let saturation = block.utility.saturation(place);
                let several = problem.paths_of(flow).len() > 1;
                for (rate, fall) in block.utility.jumps(place) {
                    kinks.push(flow, rate, fall);
                }
                if several && saturation < f64::INFINITY {
                    tops.push((flow as u32, saturation));
                }
                constant[flow] = linear;
                // Paths of a linear flow know nothing of each other, unless a saturation holds them together.
                if several && !(linear && saturation == f64::INFINITY) {
                    rows[flow] = count;
                    count += 1;
                }
                for path in problem.paths_of(flow) {
                    if several || shallow[place] {
                        floors.push((path as u32, 0.0));
                    }
                    let cap = if several { problem.caps[path] } else { problem.caps[path].min(saturation) };
                    if cap < smallest(&problem.capacities, problem.paths.links(path)) {
                        caps.push((path as u32, cap));
                    }
                }
            }
        }
        let mut path_rows = Vec::new();
        if count > 0 {
            for (flow, &row) in rows.iter().enumerate() {
                path_rows.extend(problem.paths_of(flow).map(|_| row));
            }
        }
        let system = System::new(problem, path_rows, count as usize);
        let size = system.size();
        let pairs = (links + floors.len() + caps.len() + tops.len() + kinks.pairs()) as f64;
        let zeros = |count: usize| vec![0.0; count];
        Self {
            incidence: Incidence::new(&problem.paths),
            system,
            rows,
            constant,
            pairs,
            prices: zeros(links),
            slacks: zeros(links),
            rates: zeros(paths),
            flow_rates: zeros(flows),
            marginals: zeros(flows),
            floors: Bounds::new(floors, 1.0),
            caps: Bounds::new(caps, -1.0),
            tops: Bounds::new(tops, -1.0),
            kinks,
            tiny: vec![false; flows],
            link_residuals: zeros(links),
            log_residuals: zeros(flows),
            bends: zeros(flows),
            path_residuals: zeros(paths),
            stiffness: zeros(flows),
            complementarity: 0.0,
            infeasibility: 0.0,
            revenue: 0.0,
            targets: zeros(links),
            aims: zeros(flows),
            direction: Direction {
                unknowns: zeros(size),
                slacks: zeros(links),
                rates: zeros(paths),
                flow_rates: zeros(flows),
                marginals: zeros(flows),
            },
            scratch: Scratch { paths: zeros(paths), flows: zeros(flows), right: zeros(size) },
            watch: Watch { best: f64::INFINITY, best_log: f64::INFINITY, since: 0 },
            started: false,
        }
    }

    /// Rates and sums of all kinds where the iterate stands. Returns the estimate of the gap.
    fn look(&mut self, problem: &Presolved) -> f64 {
        self.settle(problem);
        self.caps.clip(&mut self.rates);
        sum_paths(problem, &self.rates, &mut self.flow_rates);
        self.tops.clip(&mut self.flow_rates);
        let marginals = &mut self.marginals;
        self.kinks.cross(&self.flow_rates, |flow, change| {
            // Where nothing is left, λ will be U'.
            marginals[flow] = (marginals[flow] + change).max(0.0);
        });
        let loads = &mut self.link_residuals;
        loads.fill(0.0);
        self.incidence.scatter(&problem.paths, &self.rates, loads);
        let (mut complementarity, mut infeasibility, mut priced) = (0.0, 0.0, 0.0);
        let links = self.link_residuals.iter_mut().zip(&problem.capacities);
        for ((residual, capacity), (price, slack)) in links.zip(self.prices.iter().zip(&self.slacks)) {
            *residual = capacity - *residual - slack;
            complementarity += price * slack;
            infeasibility += price * residual.abs();
            priced += price * capacity;
        }
        complementarity += self.floors.complementarity() + self.caps.complementarity();
        priced += self.caps.worth() + self.tops.worth();
        complementarity += self.tops.complementarity() + self.kinks.complementarity();
        self.look_at_utilities(problem);

        self.incidence.gather(&problem.paths, &self.prices, &mut self.path_residuals);
        let Self { path_residuals, marginals, .. } = self;
        for (flow, &marginal) in marginals.iter().enumerate() {
            problem.paths_of(flow).for_each(|path| path_residuals[path] = marginal - path_residuals[path]);
        }
        self.floors.forces(|path, force| path_residuals[path] += force);
        self.caps.forces(|path, force| path_residuals[path] += force);
        let mut push = |flow: usize, force| problem.paths_of(flow).for_each(|path| path_residuals[path] += force);
        self.tops.forces(&mut push);
        self.kinks.forces(&mut push);
        let wrong: f64 =
            self.rates.iter().zip(path_residuals.iter()).map(|(rate, residual)| rate * residual.abs()).sum();
        let worth = |(rate, marginal): (&f64, &f64)| rate * marginal;
        if marginals.is_empty() {
            return 0.0;
        }
        self.revenue = self.flow_rates.iter().zip(marginals.iter()).map(worth).sum::<f64>().min(priced.max(1e-200));
        self.complementarity = complementarity / self.revenue;
        self.infeasibility = infeasibility / self.revenue;
        self.complementarity + self.infeasibility + wrong / self.revenue
    }

    /// Finds the tiny flows and sets them to their demands.
    fn settle(&mut self, problem: &Presolved) {
        for block in &problem.blocks {
            for flows in block.chunks() {
                self.tiny[flows.clone()].fill(false);
                if !flows.clone().any(|flow| self.is_low(problem, flow)) {
                    continue;
                }
                let demands = &mut self.scratch.flows[flows.clone()];
                block.utility.demand_into(block.places(&flows), &self.marginals[flows.clone()], demands);
                for flow in flows.filter(|&flow| self.is_low(problem, flow)).collect::<Vec<_>>() {
                    let (path, demand) = (problem.flow_paths[flow], self.scratch.flows[flow]);
                    if demand < TINY_DEMAND * problem.ceilings[path] {
                        self.tiny[flow] = true;
                        self.rates[path] = demand.max(LEAST);
                        self.caps.place(path, self.rates[path]);
                    }
                }
            }
        }
    }

    /// Whether a flow with one path is far below what that could carry, with nothing but U' to keep it above 0.
    fn is_low(&self, problem: &Presolved, flow: usize) -> bool {
        let paths = problem.paths_of(flow);
        let path = paths.start;
        paths.len() == 1
            && self.rates[path] < TINY_RATE * problem.ceilings[path]
            && !self.floors.holds(path)
            && !self.kinks.holds(flow)
    }

    /// ρ and ε/y of every flow.
    fn look_at_utilities(&mut self, problem: &Presolved) {
        for block in &problem.blocks {
            for flows in block.chunks() {
                let places = block.places(&flows);
                let rates = &self.flow_rates[flows.clone()];
                block.utility.log_marginal_into(places.clone(), rates, &mut self.log_residuals[flows.clone()]);
                block.utility.elasticity_into(places, rates, &mut self.bends[flows]);
            }
        }
        let flows = self.log_residuals.iter_mut().zip(&mut self.bends).zip(&self.constant);
        for ((((residual, bend), &constant), rate), marginal) in flows.zip(&self.flow_rates).zip(&mut self.marginals) {
            if *marginal == 0.0 {
                *marginal = residual.exp().clamp(LEAST, MOST);
            }
            *residual = if constant { 0.0 } else { *residual - marginal.ln() };
            *bend = if constant { 0.0 } else { *bend / rate };
        }
    }

    /// Weights and diagonals of Newton's equations.
    fn linearize(&mut self, problem: &Presolved) {
        let Self { system, stiffness, scratch, .. } = self;
        for ((stiffness, marginal), bend) in stiffness.iter_mut().zip(&self.marginals).zip(&self.bends) {
            *stiffness = marginal * bend;
        }
        self.tops.curvatures(|flow, curvature| stiffness[flow] += curvature);
        self.kinks.curvatures(|flow, curvature| stiffness[flow] += curvature);
        let curvatures = &mut scratch.paths;
        curvatures.fill(0.0);
        self.floors.curvatures(|path, curvature| curvatures[path] += curvature);
        self.caps.curvatures(|path, curvature| curvatures[path] += curvature);
        let links = self.prices.len();
        for (flow, &row) in self.rows.iter().enumerate() {
            let own = match row {
                NONE => stiffness[flow],
                row => {
                    system.diagonal[links + row as usize] = stiffness[flow].recip();
                    PROXIMAL * self.marginals[flow] / self.flow_rates[flow]
                }
            };
            for path in problem.paths_of(flow) {
                system.weights[path] = (own + curvatures[path]).recip();
            }
        }
        for ((diagonal, slack), price) in system.diagonal.iter_mut().zip(&self.slacks).zip(&self.prices) {
            *diagonal = slack / price;
        }
        system.renew(problem, &self.incidence);
    }

    /// The direction towards the targets.
    fn direct(&mut self, problem: &Presolved, tolerance: f64) {
        let Self { system, scratch: Scratch { paths: forces, flows: aims, right }, direction, .. } = self;
        let links = self.prices.len();
        let residuals = self.link_residuals.iter().zip(&self.targets).zip(&self.prices);
        for (right, ((residual, target), price)) in right.iter_mut().zip(residuals) {
            *right = target / price - residual;
        }
        // λ ρ, with the pulls of the flow's own bounds.
        for ((aim, marginal), residual) in aims.iter_mut().zip(&self.marginals).zip(&self.aims) {
            *aim = marginal * residual;
        }
        self.tops.pulls(|flow, pull| aims[flow] += pull);
        self.kinks.pulls(|flow, pull| aims[flow] += pull);
        forces.copy_from_slice(&self.path_residuals);
        self.floors.pulls(|path, pull| forces[path] += pull);
        self.caps.pulls(|path, pull| forces[path] += pull);
        for (flow, &row) in self.rows.iter().enumerate() {
            match row {
                NONE => problem.paths_of(flow).for_each(|path| forces[path] += aims[flow]),
                row => {
                    let paths = problem.paths_of(flow);
                    let drift: f64 = paths.map(|path| system.weights[path] * forces[path]).sum();
                    right[links + row as usize] = aims[flow] / self.stiffness[flow] - drift;
                }
            }
        }
        let moves = &mut direction.rates;
        for ((change, force), weight) in moves.iter_mut().zip(&*forces).zip(&system.weights) {
            *change = weight * force;
        }
        self.incidence.scatter(&problem.paths, moves, &mut right[..links]);
        system.solve(problem, &self.incidence, right, &mut direction.unknowns, tolerance);

        let Direction { unknowns, slacks, rates, flow_rates, marginals } = direction;
        self.incidence.gather(&problem.paths, &unknowns[..links], rates);
        for (flow, &row) in self.rows.iter().enumerate() {
            let pull = if row == NONE { 0.0 } else { unknowns[links + row as usize] };
            let mut total = 0.0;
            for path in problem.paths_of(flow) {
                let price = rates[path];
                rates[path] = system.weights[path] * (forces[path] + pull - price);
                total += rates[path];
            }
            flow_rates[flow] = total;
            marginals[flow] = match self.constant[flow] {
                true => 0.0,
                false => self.marginals[flow] * (self.aims[flow] - self.bends[flow] * total),
            };
        }
        let pairs = self.slacks.iter().zip(&self.prices).zip(self.targets.iter().zip(&unknowns[..links]));
        for (change, ((slack, price), (target, step))) in slacks.iter_mut().zip(pairs) {
            *change = (target - slack * step) / price;
        }
        self.floors.direct(rates);
        self.caps.direct(rates);
        self.tops.direct(flow_rates);
        self.kinks.direct(flow_rates);
    }

    /// The longest steps, of rates and of prices, that keep everything positive.
    fn lengths(&self, problem: &Presolved, fraction: f64) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        let fall = |value: &f64, change: &f64| -change / value;
        for (slack, change) in self.slacks.iter().zip(&self.direction.slacks) {
            primal = primal.max(fall(slack, change));
        }
        for (price, change) in self.prices.iter().zip(&self.direction.unknowns) {
            dual = dual.max(fall(price, change));
        }
        for (flow, _) in self.tiny.iter().enumerate().filter(|(_, tiny)| !**tiny) {
            for path in problem.paths_of(flow) {
                primal = primal.max(fall(&self.rates[path], &self.direction.rates[path]));
            }
        }
        let (rates, flow_rates) = (&self.direction.rates, &self.direction.flow_rates);
        let of_paths = [self.floors.falls(rates), self.caps.falls(rates)];
        let of_flows = [self.tops.falls(flow_rates), self.kinks.falls(flow_rates)];
        for (primal_fall, dual_fall) in of_paths.into_iter().chain(of_flows) {
            (primal, dual) = (primal.max(primal_fall), dual.max(dual_fall));
        }
        let length = |fall: f64| if fall > fraction { fraction / fall } else { 1.0 };
        (length(primal), length(dual))
    }

    /// Aims the corrector: at the μ that the predictor makes possible, with what it shows of the curvature.
    fn aim(&mut self, primal: f64, dual: f64) {
        let Self { direction, .. } = self;
        let mut after = 0.0;
        let links = self.slacks.iter().zip(&direction.slacks).zip(self.prices.iter().zip(&direction.unknowns));
        for ((slack, change), (price, step)) in links {
            after += (slack + primal * change) * (price + dual * step);
        }
        after += self.floors.complementarity_after(primal, dual, &direction.rates);
        after += self.caps.complementarity_after(primal, dual, &direction.rates);
        after += self.tops.complementarity_after(primal, dual, &direction.flow_rates);
        after += self.kinks.complementarity_after(primal, dual, &direction.flow_rates);
        let now = self.complementarity * self.revenue;
        let mut centring = (after / now).powi(3).clamp(1e-8, 1.0);
        if self.infeasibility > self.complementarity.max(ROUNDING) {
            centring = centring.max(0.3f64.min(0.1 * (self.infeasibility / self.complementarity).sqrt()));
        }
        let centre = (centring * now).max(SMALLEST * self.revenue) / self.pairs;
        let part = primal.min(dual);
        let links = self.slacks.iter().zip(&direction.slacks).zip(self.prices.iter().zip(&direction.unknowns));
        for (target, ((slack, change), (price, step))) in self.targets.iter_mut().zip(links) {
            *target = centre - slack * price - part * change * step;
        }
        self.floors.aim_at(centre, part, &direction.rates);
        self.caps.aim_at(centre, part, &direction.rates);
        self.tops.aim_at(centre, part, &direction.flow_rates);
        self.kinks.aim_at(centre, part, &direction.flow_rates);
        for (flow, aim) in self.aims.iter_mut().enumerate() {
            let in_marginal = direction.marginals[flow] / self.marginals[flow];
            let rate = direction.flow_rates[flow] / self.flow_rates[flow];
            // ε = bend · y.
            let in_rate = self.bends[flow] * self.flow_rates[flow] * rate * rate;
            let curvature = 0.5 * part * part * (in_marginal * in_marginal + in_rate);
            *aim = self.log_residuals[flow] + if self.constant[flow] { 0.0 } else { part * curvature.min(2.0) };
        }
    }

    fn advance(&mut self, primal: f64, dual: f64) {
        let Self { direction, .. } = self;
        let step = |values: &mut [f64], changes: &[f64], length: f64| {
            values.iter_mut().zip(changes).for_each(|(value, change)| *value += length * change);
        };
        step(&mut self.slacks, &direction.slacks, primal);
        step(&mut self.prices, &direction.unknowns, dual);
        for (marginal, change) in self.marginals.iter_mut().zip(&direction.marginals) {
            *marginal *= factor(dual * change / *marginal);
        }
        step(&mut self.rates, &direction.rates, primal);
        self.floors.advance(primal, dual, &direction.rates);
        self.caps.advance(primal, dual, &direction.rates);
        self.tops.advance(primal, dual, &direction.flow_rates);
        self.kinks.advance(primal, dual, &direction.flow_rates);
    }

    /// Whether all numbers of the direction are some.
    fn is_usable(&self) -> bool {
        let sums = [&self.direction.unknowns, &self.direction.rates, &self.direction.marginals, &self.direction.slacks];
        sums.into_iter().all(|values| values.iter().sum::<f64>().is_finite())
    }
}

impl Method for InteriorPoint {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        self.watch = Watch { best: f64::INFINITY, best_log: f64::INFINITY, since: 0 };
        self.started = false;
        self.prices.copy_from_slice(&state.prices);
        state.rates.copy_from_slice(&problem.equal_shares);
        f64::MAX
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        if !self.started {
            self.begin(problem);
            self.look(problem);
            self.started = true;
        }
        self.linearize(problem);
        for (target, (slack, price)) in self.targets.iter_mut().zip(self.slacks.iter().zip(&self.prices)) {
            *target = -slack * price;
        }
        self.floors.aim_at_zero();
        self.caps.aim_at_zero();
        self.tops.aim_at_zero();
        self.kinks.aim_at_zero();
        self.aims.copy_from_slice(&self.log_residuals);
        self.direction.unknowns.fill(0.0);
        self.direct(problem, PREDICTOR);
        let (primal, dual) = self.lengths(problem, 1.0);
        self.aim(primal, dual);
        let accuracy = (0.1 * (self.complementarity + self.infeasibility).sqrt()).clamp(FINEST, CORRECTOR);
        self.direct(problem, accuracy);
        if self.is_usable() {
            let (primal, dual) = self.lengths(problem, FRACTION);
            self.advance(primal, dual);
        }
        let estimate = self.show(problem, state);
        self.watch(estimate);
        estimate
    }

    fn is_dear(&self) -> bool {
        true
    }

    fn is_stuck(&self) -> bool {
        self.watch.since > PATIENCE
    }
}

impl InteriorPoint {
    /// Looks where it stands, and writes that down.
    fn show(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        let estimate = self.look(problem);
        state.prices.copy_from_slice(&self.prices);
        state.rates.copy_from_slice(&self.rates);
        self.clear_idle_paths(problem, &mut state.rates);
        if estimate.is_finite() { estimate } else { f64::MAX }
    }

    /// Paths that all but vanish beside their flow, being too dear, carry nothing.
    fn clear_idle_paths(&self, problem: &Presolved, rates: &mut [f64]) {
        for flow in (0..self.marginals.len()).filter(|&flow| problem.paths_of(flow).len() > 1) {
            for path in problem.paths_of(flow) {
                // λ − q is minus the excess of the price.
                let excess = -self.path_residuals[path] + self.floors.dual_of(path);
                if rates[path] < IDLE_RATE * self.flow_rates[flow] && excess > IDLE_EXCESS * self.marginals[flow] {
                    rates[path] = 0.0;
                }
            }
        }
    }

    /// Turns to exact directions when there is no progress.
    fn watch(&mut self, estimate: f64) {
        let log = self.log_residuals.iter().fold(0.0f64, |largest, residual| largest.max(residual.abs()));
        let Watch { best, best_log, since } = &mut self.watch;
        if estimate < 0.9 * *best || log < 0.9 * *best_log {
            (*best, *best_log, *since) = (estimate.min(*best), log.min(*best_log), 0);
            return;
        }
        *since += 1;
        if *since == PATIENCE / 3 {
            self.system.be_exact();
        }
    }
}

/// 1 + t, bent so that it stays positive: λ of a steep utility may have to fall by decades, and is not to hold up the rest.
fn factor(change: f64) -> f64 {
    if change > -0.5 { 1.0 + change } else { 0.5 * (2.0 * (change + 0.5)).max(-SHRINK).exp() }
}

/// Whether a rate of each flow of a block may reach 0: where U' bends so little that it does not hold it back.
fn shallow(problem: &Presolved, block: &NaturalBlock) -> Vec<bool> {
    let near_zero: Vec<f64> =
        block.flows.clone().map(|flow| 1e-9 * problem.ceilings[problem.flow_paths[flow]]).collect();
    let mut bends = vec![0.0; near_zero.len()];
    block.utility.elasticity_into(0..near_zero.len(), &near_zero, &mut bends);
    bends.into_iter().map(|bend| bend < SHALLOW).collect()
}

/// y_f = Σ x_p.
fn sum_paths(problem: &Presolved, rates: &[f64], sums: &mut [f64]) {
    if rates.len() == sums.len() {
        return sums.copy_from_slice(rates);
    }
    for (flow, sum) in sums.iter_mut().enumerate() {
        *sum = rates[problem.paths_of(flow)].iter().sum();
    }
}
