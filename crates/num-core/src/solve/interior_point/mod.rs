//! The interior point: Mehrotra's predictor and corrector on the optimality conditions, the reference for everything.
//!
//! ```text
//! U'(y_f) = λ_f        y_f = Σ_{p ∈ f} x_p       λ_f − q_p + z_p − v_p − t_f = 0
//! R x + s = c          s·p = μ    z·x = μ    v·(cap − x) = μ    t·(saturation − y) = μ        μ → 0
//! ```
//!
//! A Newton step on these, each flow's and path's prices eliminated, leaves one equation per link (`../system`). Two steps with one matrix: straight at μ = 0 (predictor), which tells how far μ can fall,
//! then at that μ with second-order terms (corrector). What makes it arrive on real instances:
//!
//! - The residual of U'(y) = λ is taken in logarithms, ρ = log U'(y) − log λ, dλ = λ (ρ − ε dy/y), with ε the elasticity
//!   of U'. Marginals over a hundred decades are then as good as any.
//! - A *tiny* flow, whose demand at λ is far below what its path could carry, is set to it and does not shorten steps.
//! - A jump of U' (a flat piece of a bandwidth function) is an elastic bound (`breakpoints.rs`).
//! - z exists only where a rate may reach 0: several paths, linear utilities, U'(0) finite, or α < 0.45.
//! - A proximal term on every path of a flow that has several, whose split is not unique: 1e−8 of the least λ of all
//!   flows, per y. A split is found by differences of prices that small, and the term must not be what decides them. And
//!   one on every linear flow, 1e−12 of its λ, per y.
//! - What the paths of a flow see is its level ℓ = λ − t, less Q, what the links cost that all of them cross. Where t or Q
//!   makes up nearly all of λ, ℓ − Q is not their difference but moves by Newton's steps of its own, and t or λ is what
//!   follows from it: otherwise rounding of λ would say how the flow is split.
//! - Centring is raised while feasibility lags behind complementarity.
//!
//! Starts, in its first step, from the prices it is given, improved by up to 60 iterations of fast NED unless utilities
//! are linear. 5 to 15 iterations for most problems, each some tens of products with the routing matrix, so O(crossings) in
//! time and memory; where a factorization is needed, O(links³). Fails where that is needed and too large.
//! Source: Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 1992.

mod barrier;
mod breakpoints;
mod chunk;
mod direction;

mod cold_start;
mod residuals;
mod warm_start;

use std::sync::Arc;

use barrier::Bounds;
use breakpoints::Kinks;
use chunk::Chunk;

use super::routing_matrix::RoutingMatrix;
use super::system::{ABSENT, Accuracy, EXACT, System};
use super::{Method, State};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::presolve::{NaturalBlock, Presolved, smallest};
use crate::utility::Curvature;

/// The primal-dual interior point. Everything in natural units; vectors are per link, path or flow.
pub(super) struct InteriorPoint {
    routing: RoutingMatrix,
    system: System,
    /// The number of a flow with several paths that it holds together, or [`ABSENT`] *(given)*.
    multipath: Vec<u32>,
    /// All flows, a cache-full at a time *(given)*.
    chunks: Arc<[Chunk]>,
    /// Whether a flow may be tiny: one path, and nothing but U' to keep it above 0 *(given)*.
    snaps: Vec<bool>,
    /// Number of complementary pairs *(given)*.
    pairs: f64,
    /// p, s per link; x per path; y, λ per flow *(iterate)*.
    prices: Vec<f64>,
    slacks: Vec<f64>,
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    marginals: Vec<f64>,
    /// ℓ of the flows in chunks with several paths, less Q; empty where there are none.
    levels: Vec<f64>,
    /// Q of the same: what all paths of a flow that is held together pay alike; 0 for others *(derived)*.
    commons: Vec<f64>,
    /// x ≥ 0 with z, x ≤ cap with v, y ≤ saturation with t, and jumps of U'.
    floors: Bounds,
    caps: Bounds,
    tops: Bounds,
    kinks: Kinks,
    /// Which paths are those of tiny flows *(derived)*.
    tiny: Vec<bool>,
    /// c − R x − s, ρ, the largest |ρ|, ε/y *(derived)*.
    link_residuals: Vec<f64>,
    log_residuals: Vec<f64>,
    largest_log: f64,
    /// The smallest λ *(derived)*.
    least_marginal: f64,
    bends: Vec<f64>,
    /// ℓ − q + z − v *(derived)*.
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
    /// The right-hand side of Newton's equations, and the forces on the paths that it is made of *(derived)*.
    right: Vec<f64>,
    forces: Vec<f64>,
    direction: Direction,
    scratch: Scratch,
    watch: Watch,
    /// Whether it has begun; before, `prices` are what to begin from, and `rates` too where those are near.
    started: bool,
    near: bool,
}

/// What a Newton step changes.
struct Direction {
    /// dp per link.
    prices: Vec<f64>,
    slacks: Vec<f64>,
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    /// dℓ.
    levels: Vec<f64>,
    /// dλ/λ.
    log_marginals: Vec<f64>,
    /// The sum of all, a number if all are.
    sum: f64,
    /// The largest fall of a rate, relative, tiny flows apart.
    fall: f64,
}

/// Room for a chunk's paths and flows.
struct Scratch {
    paths: Vec<f64>,
    flows: Vec<f64>,
    /// dQ.
    commons: Vec<f64>,
}

/// Notices when there is no progress.
struct Watch {
    best: f64,
    /// The smallest of the largest |ρ| so far, and of Σ s p + …: what is small beside the rest may get right when the
    /// estimate is at rounding.
    best_log: f64,
    best_complementarity: f64,
    since: usize,
}

impl Watch {
    fn new() -> Self {
        Self { best: f64::INFINITY, best_log: f64::INFINITY, best_complementarity: f64::INFINITY, since: 0 }
    }
}

/// Relative accuracy of the predictor, and of the corrector by conjugate gradients.
const PREDICTOR: Accuracy = Accuracy { without_factor: 1e-2, with_factor: 1e-4 };
const CORRECTOR: f64 = 3e-3;
const FINEST: f64 = 1e-9;
/// How far to go towards the nearest bound.
const FRACTION: f64 = 0.99;
/// ε below which rates may reach 0.
const SHALLOW: f64 = 0.45;
/// A path is idle when its rate is this part of its flow's or of what it could carry, and its price this part of λ too
/// high.
const IDLE_RATE: f64 = 1e-8;
const IDLE_EXCESS: f64 = 1e-4;
/// Iterations without progress after which it gives up.
const PATIENCE: usize = 30;
/// Bounds of marginals, so that their products stay numbers.
const LEAST: f64 = 1e-250;
const MOST: f64 = 1e250;

impl InteriorPoint {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(problem: &Presolved) -> Result<Self> {
        let mut pacer = Pacer::new();
        let (links, paths, flows) = (problem.capacities.len(), problem.paths.len(), problem.log_marginals.len());
        let (mut multipath, mut snaps, mut several_paths) = (vec![ABSENT; flows], vec![false; flows], Vec::new());
        let (mut floors, mut caps, mut tops, mut kinks) = (Vec::new(), Vec::new(), Vec::new(), Kinks::default());
        for block in &problem.blocks {
            let linear = block.utility.curvature() == Curvature::Linear;
            let shallow = shallow(problem, block);
            for (place, flow) in block.flows.clone().enumerate() {
                pacer.did(8 * problem.paths_of(flow).len())?;
                let saturation = problem.saturations[flow];
                let several = problem.paths_of(flow).len() > 1;
                let jumps = block.utility.jumps(place);
                snaps[flow] = !several && !shallow[place] && jumps.is_empty();
                for (rate, fall) in jumps {
                    kinks.push(flow, rate, fall);
                }
                if several && saturation < f64::INFINITY {
                    tops.push((flow as u32, saturation));
                }
                // Paths of a linear flow know nothing of each other, unless a saturation holds them together.
                if several && !(linear && saturation == f64::INFINITY) {
                    multipath[flow] = several_paths.len() as u32;
                    several_paths.push(problem.paths_of(flow));
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
        let levels = if paths > flows { flows } else { 0 };
        interrupt::check()?;
        let system = System::new(problem, several_paths);
        interrupt::check()?;
        let pairs = (links + floors.len() + caps.len() + tops.len() + kinks.pairs()) as f64;
        let (floors, caps, tops) = (Bounds::new(floors, 1.0), Bounds::new(caps, -1.0), Bounds::new(tops, -1.0));
        interrupt::check()?;
        let chunks = Chunk::all(problem, &floors, &caps, &tops, &kinks);
        interrupt::check()?;
        let zeros = |count: usize| vec![0.0; count];
        let largest = |size: fn(&Chunk) -> usize| chunks.iter().map(size).max().unwrap_or(0);
        let scratch = Scratch {
            paths: zeros(largest(|chunk| chunk.paths.len())),
            flows: zeros(largest(|chunk| chunk.flows.len())),
            commons: zeros(largest(|chunk| chunk.flows.len())),
        };
        Ok(Self {
            routing: RoutingMatrix::new(&problem.paths),
            system,
            multipath,
            chunks: chunks.into(),
            snaps,
            pairs,
            prices: zeros(links),
            slacks: zeros(links),
            rates: zeros(paths),
            flow_rates: zeros(flows),
            marginals: zeros(flows),
            levels: zeros(levels),
            commons: zeros(levels),
            floors,
            caps,
            tops,
            kinks,
            tiny: vec![false; paths],
            link_residuals: zeros(links),
            log_residuals: zeros(flows),
            largest_log: 0.0,
            least_marginal: 0.0,
            bends: zeros(flows),
            path_residuals: zeros(paths),
            stiffness: zeros(flows),
            complementarity: 0.0,
            infeasibility: 0.0,
            revenue: 0.0,
            targets: zeros(links),
            aims: zeros(flows),
            right: zeros(links),
            forces: zeros(paths),
            direction: Direction {
                prices: zeros(links),
                slacks: zeros(links),
                rates: zeros(paths),
                flow_rates: zeros(flows),
                levels: zeros(levels),
                log_marginals: zeros(flows),
                sum: 0.0,
                fall: 0.0,
            },
            scratch,
            watch: Watch::new(),
            started: false,
            near: false,
        })
    }
}

impl Method for InteriorPoint {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.watch = Watch::new();
        (self.started, self.near) = (false, false);
        self.prices.copy_from_slice(&state.prices);
        state.rates.copy_from_slice(&problem.equal_shares);
        Ok(f64::MAX)
    }

    fn resume(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.rates.copy_from_slice(&state.rates);
        let estimate = self.start(problem, state)?;
        state.rates.copy_from_slice(&self.rates);
        self.near = true;
        Ok(estimate)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        if !self.started {
            match self.near {
                true => self.begin_near(problem)?,
                false => self.begin(problem)?,
            }
            self.look(problem, None);
            self.started = true;
        }
        interrupt::check()?;
        self.predict(problem, PREDICTOR);
        interrupt::check()?;
        let without_factor = (0.1 * (self.complementarity + self.infeasibility).sqrt()).clamp(FINEST, CORRECTOR);
        self.correct(problem, self.lengths(1.0), Accuracy { without_factor, with_factor: EXACT });
        // What was stopped on the way is no direction.
        interrupt::check()?;
        let lengths = self.direction.sum.is_finite().then(|| self.lengths(FRACTION));
        let estimate = self.look(problem, lengths);
        self.show(problem, state);
        let estimate = if estimate.is_finite() { estimate } else { f64::MAX };
        self.watch(estimate);
        Ok(estimate)
    }

    fn is_dear(&self) -> bool {
        true
    }

    fn is_stuck(&self) -> bool {
        self.watch.since > PATIENCE
    }
}

impl InteriorPoint {
    /// Writes down where it stands.
    fn show(&self, problem: &Presolved, state: &mut State) {
        state.prices.copy_from_slice(&self.prices);
        state.rates.copy_from_slice(&self.rates);
        self.clear_idle_paths(problem, &mut state.rates);
    }

    /// Paths that may be empty, are too expensive and all but empty carry nothing, beside what their flow has, or what it
    /// would demand at their price, beside what they could carry.
    fn clear_idle_paths(&self, problem: &Presolved, rates: &mut [f64]) {
        let (mut prices, mut demands) = (Vec::new(), Vec::new());
        for chunk in self.chunks.iter() {
            let first = chunk.paths.start;
            let mut asked = false;
            self.floors.duals(chunk.floors.clone(), |path, dual| {
                let (flow, rate) = (chunk.flow_of(problem, path), &mut rates[path]);
                // λ − q is minus the excess of the price.
                let level = if chunk.is_single() { self.marginals[flow] } else { self.levels[flow].max(0.0) };
                if dual - self.path_residuals[path] <= IDLE_EXCESS * level {
                    return;
                }
                if *rate < IDLE_RATE * self.flow_rates[flow] {
                    *rate = 0.0;
                } else if *rate < IDLE_RATE * problem.ceilings[path] {
                    if !asked {
                        asked = true;
                        prices.resize(chunk.paths.len(), 0.0);
                        demands.resize(chunk.paths.len(), 0.0);
                        self.routing.gather(&problem.paths, chunk.paths.clone(), &self.prices, &mut prices);
                        problem.path_demands_into(&problem.blocks[chunk.block], &chunk.flows, &prices, &mut demands);
                    }
                    *rate = rate.min(demands[path - first]);
                }
            });
        }
    }

    /// Turns to exact directions when there is no progress.
    fn watch(&mut self, estimate: f64) {
        let (log, complementarity) = (self.largest_log, self.complementarity);
        let Watch { best, best_log, best_complementarity, since } = &mut self.watch;
        let falls = estimate < 0.9 * *best || log < 0.9 * *best_log || complementarity < 0.9 * *best_complementarity;
        if falls {
            (*best, *best_log) = (estimate.min(*best), log.min(*best_log));
            (*best_complementarity, *since) = (complementarity.min(*best_complementarity), 0);
            return;
        }
        *since += 1;
        if *since == PATIENCE / 3 {
            self.system.be_exact();
        }
    }
}

/// Whether a rate of each flow of a block may reach 0: where U' bends so little that it does not hold it back.
fn shallow(problem: &Presolved, block: &NaturalBlock) -> Vec<bool> {
    let near_zero: Vec<f64> =
        block.flows.clone().map(|flow| 1e-9 * problem.ceilings[problem.flow_paths[flow]]).collect();
    let mut bends = vec![0.0; near_zero.len()];
    block.utility.elasticity_into(0..near_zero.len(), &near_zero, &mut bends);
    bends.into_iter().map(|bend| bend < SHALLOW).collect()
}
