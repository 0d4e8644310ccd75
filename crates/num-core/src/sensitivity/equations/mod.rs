//! The linear equations of a given active set, for any right-hand side.
//!
//! ```text
//! σ_f Σ_{p∈f} dx_p + dq_p + dη_f = a_p      free paths          [ H  Rᵀ ] [dx]   [a]
//! Σ_{p∋l} dx_p = g_l                        active links        [ R  0  ] [dp] = [g]
//! ```
//!
//! By the proximal method of multipliers, each round of which solves with H + Θ⁻¹ and −D in the diagonal for what is
//! left of the right-hand side. Θ⁻¹ only for paths of flows with several: 1e−3 of Σ_l s_l over the active links that
//! not all of them cross, 1/s_l = Σ 1/σ over what moves there. D is 1e−8 of the matrix's diagonal. Two rounds are
//! exact to rounding, as a rule; a factor of earlier weights costs a few more. What the equations themselves leave is
//! computed at the end, every row compared with its own terms: where it is no rounding, the solution is refused. Where
//! the equations have no solution (a right-hand side that asks for a part of the split or of the prices that is not
//! unique), the rounds drift by a constant step, which is taken out: that is the solution for the projected right-hand
//! side.
//!
//! Rates, prices and loads are compared with those of the point ([`Scales`]), and the paths of a flow without the links
//! that all of them cross: a price there may be ten decades above those by which they differ.

mod rows;

use std::ops::Range;

use self::rows::Allowed;
use super::active_set::{ActiveSet, PathState};
use super::scales::Scales;
use super::tolerances::{
    CONSTANT, CUBED_PER_CROSSING, DRIFT, MANY, NEARLY_SAME, NOISE, OUT, PROXIMAL, RAISED, ROUNDING, ROUNDS, SETTLED,
    SOLVED, SOLVED_BESIDE_DRIFT, STALLED,
};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, Accuracy, System};

pub(super) struct Equations {
    system: System,
    /// The number of a flow with several paths, or [`ABSENT`].
    several: Vec<u32>,
    /// σ of every flow, 0 where it is held; whether a path moves; whether a link is active *(given)*.
    stiffness: Vec<f64>,
    moves: Vec<bool>,
    active: Vec<bool>,
    /// Whether an active link has no path that moves *(derived)*.
    any_free_price: bool,
    /// 1/s of every link, where flows have several paths *(derived)*.
    softness: Vec<f64>,
    scratch: Scratch,
}

/// a_p: what acts on every flow, and on every path beside that.
#[derive(Clone, Copy)]
pub(super) struct Forces<'a> {
    pub(super) flows: &'a [f64],
    pub(super) paths: &'a [f64],
}

/// The right-hand side: a, and g, the changes of loads.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) forces: Forces<'a>,
    pub(super) targets: &'a [f64],
}

/// Room for one solve. What is common to the paths of a flow with several stands apart, as their differences may be
/// many decades smaller.
struct Scratch {
    /// What is left of the right-hand side, and the step: per path, and per flow with several.
    left: Vec<f64>,
    step: Vec<f64>,
    flow_left: Vec<f64>,
    flow_step: Vec<f64>,
    /// Per flow with several paths: the prices of the links that all its paths cross.
    commons: Vec<f64>,
    /// Per link.
    excess: Vec<f64>,
    price_step: Vec<f64>,
    /// The steps of the round before.
    last: (Vec<f64>, Vec<f64>),
}

/// A solution, and by how much a round changes the prices where it drifts.
#[derive(Clone)]
pub(super) struct Solved {
    pub(super) rates: Vec<f64>,
    /// The rates of the flows with several paths, by their numbers.
    totals: Vec<f64>,
    pub(super) prices: Vec<f64>,
    /// The direction in which prices drift, empty where they do not: the capacities of its links cannot change in this
    /// way while they all stay full.
    pub(super) drift: Vec<f64>,
}

impl Solved {
    /// Adds the step of a round, so many times.
    fn add(&mut self, Scratch { step, flow_step, price_step, .. }: &Scratch, times: f64) {
        let add = |values: &mut [f64], steps: &[f64]| {
            values.iter_mut().zip(steps).for_each(|(value, step)| *value += times * step);
        };
        add(&mut self.rates, step);
        add(&mut self.totals, flow_step);
        add(&mut self.prices, price_step);
    }

    /// The links whose prices drift.
    pub(super) fn drifting(&self) -> Vec<u32> {
        (0..self.drift.len() as u32).filter(|&link| self.drift[link as usize] != 0.0).collect()
    }
}

impl Equations {
    pub(super) fn new(problem: &Presolved) -> Self {
        let (mut several, mut ranges) = (vec![ABSENT; problem.flows()], Vec::<Range<usize>>::new());
        for (flow, number) in several.iter_mut().enumerate() {
            let own = problem.paths_of(flow);
            if own.len() > 1 {
                *number = ranges.len() as u32;
                ranges.push(own);
            }
        }
        let (paths, links, flows) = (problem.paths.len(), problem.capacities.len(), ranges.len());
        Self {
            system: System::new(problem, ranges),
            several,
            stiffness: vec![0.0; problem.flows()],
            moves: vec![false; paths],
            active: vec![false; links],
            any_free_price: false,
            softness: vec![0.0; links],
            scratch: Scratch {
                left: vec![0.0; paths],
                step: vec![0.0; paths],
                flow_left: vec![0.0; flows],
                flow_step: vec![0.0; flows],
                commons: vec![0.0; flows],
                excess: vec![0.0; links],
                price_step: vec![0.0; links],
                last: (vec![0.0; paths], vec![0.0; links]),
            },
        }
    }

    /// Takes an active set, and σ of every flow.
    pub(super) fn set(&mut self, problem: &Presolved, active: &ActiveSet, curvatures: &[f64]) {
        self.active.copy_from_slice(&active.links);
        self.set_weights(problem, active, curvatures);
        let mut diagonal = vec![0.0; self.active.len()];
        self.system.add_diagonal(&mut diagonal);
        self.any_free_price = false;
        for (value, active) in diagonal.iter_mut().zip(&self.active) {
            // A link without moving paths has no entry: its price is free.
            self.any_free_price |= *active && *value == 0.0;
            *value = if *value > 0.0 { *value } else { 1.0 } * if *active { RAISED } else { OUT };
        }
        self.system.diagonal = diagonal;
        let links = self.active.iter().filter(|active| **active).count() as f64;
        if links.powi(3) <= CUBED_PER_CROSSING * problem.paths.indices().len() as f64 {
            self.system.enable_factorization();
        }
        self.system.update(0.0);
    }

    /// Takes σ of every flow, of an active set that is taken already: the factor stays that of the earlier σ.
    pub(super) fn set_weights(&mut self, problem: &Presolved, active: &ActiveSet, curvatures: &[f64]) {
        for (flow, &curvature) in curvatures.iter().enumerate() {
            let held = active.holds(flow);
            self.stiffness[flow] = if held { 0.0 } else { curvature };
            let moves = active.moves(problem, flow);
            for path in problem.paths_of(flow) {
                self.moves[path] = moves && active.paths[path] == PathState::Free;
                self.system.weights[path] = if self.moves[path] && !held { curvature.recip() } else { 0.0 };
            }
        }
        if problem.is_single_path() {
            return;
        }
        let Self { system, softness, .. } = self;
        softness.fill(0.0);
        system.pass().scatter(&system.weights, softness);
        let System { weights, multipath, .. } = system;
        for (flow, &curvature) in curvatures.iter().enumerate().filter(|(flow, _)| self.several[*flow] != ABSENT) {
            for path in problem.paths_of(flow) {
                // A split changes nothing on the links that all its paths cross.
                let crossed = multipath.own(path).links().iter().map(|&link| link as usize);
                let stiffness: f64 = crossed
                    .filter(|&link| self.active[link] && softness[link] > 0.0)
                    .map(|link| softness[link].recip())
                    .sum();
                let resisted = PROXIMAL * if stiffness > 0.0 { stiffness } else { curvature };
                weights[path] = if self.moves[path] { resisted.recip() } else { 0.0 };
            }
            let curvature = if active.holds(flow) { f64::INFINITY } else { curvature };
            multipath.set(self.several[flow] as usize, curvature, weights);
        }
    }

    /// The changes of rates and prices in one round, for a_p and the changes of loads.
    pub(super) fn step(&mut self, problem: &Presolved, forces: Forces<'_>, targets: &[f64]) -> (&[f64], &[f64]) {
        self.take(problem, forces);
        self.scratch.excess.iter_mut().zip(targets).for_each(|(excess, target)| *excess = -target);
        self.round(problem);
        (&self.scratch.step, &self.scratch.price_step)
    }

    /// Solves for a and g, from the final rates of paths that do not move, and of held flows in all.
    ///
    /// # Errors
    /// [`Error::NoSensitivity`] where rounding leaves nothing of the solution; [`Error::Stopped`].
    pub(super) fn solve(
        &mut self,
        problem: &Presolved,
        scales: &Scales,
        given: Given<'_>,
        start: Vec<f64>,
    ) -> Result<Solved> {
        let Given { forces, targets } = given;
        let (totals, prices) = (vec![0.0; self.scratch.flow_step.len()], vec![0.0; targets.len()]);
        let mut solved = Solved { rates: start, totals, prices, drift: Vec::new() };
        self.take(problem, forces);
        for (flow, (&number, stiffness)) in self.several.iter().zip(&self.stiffness).enumerate() {
            let own = problem.paths_of(flow);
            match number {
                ABSENT => {
                    let resisted = if self.moves[own.start] { stiffness * solved.rates[own.start] } else { 0.0 };
                    self.scratch.left[own.start] -= resisted;
                }
                number => {
                    let rate = solved.rates[own].iter().sum();
                    self.scratch.flow_left[number as usize] -= stiffness * rate;
                    solved.totals[number as usize] = rate;
                }
            }
        }
        let asked = self.size_of(problem, scales, given);
        let (mut before, mut again) = (f64::INFINITY, 0);
        for round in 1..=ROUNDS {
            interrupt::check()?;
            let Scratch { excess, .. } = &mut self.scratch;
            excess.iter_mut().zip(targets).for_each(|(excess, target)| *excess = -target);
            self.system.scatter_all(&solved.rates, &solved.totals, excess);
            self.round(problem);
            solved.add(&self.scratch, 1.0);
            let Scratch { step, price_step, .. } = &self.scratch;
            let (sizes, steps) = (scales.of(&solved.rates, &solved.prices), scales.of(step, price_step));
            let (size, changed) = (largest(&sizes), largest(&steps));
            // What the next round would change, where steps shrink by a constant factor.
            let has_settled = changed == 0.0 || round > 1 && changed * (changed / before).min(1.0) <= SETTLED * size;
            let stalls = round > 1 && changed > CONSTANT * before && changed <= STALLED * size;
            if has_settled || stalls {
                let rounding = if stalls { ROUNDING } else { SETTLED };
                let allowed = Allowed { rounding, most: asked.max(size), drifting: [None; 2] };
                if self.is_solved(problem, scales, given, &solved, allowed) {
                    return Ok(solved);
                }
                again += usize::from(has_settled);
                if changed == 0.0 || again > MANY {
                    break;
                }
            }
            let Scratch { step, price_step, last, .. } = &self.scratch;
            let differ = |part: f64| {
                scales.of_rates(|path| step[path] - last.0[path]) > part * changed
                    || scales.of_prices(|link| price_step[link] - last.1[link]) > part * changed
            };
            let same = if round < MANY { ROUNDING } else { NEARLY_SAME };
            let drifting = [0, 1].map(|of| Some(steps[of]).filter(|step| *step > DRIFT * sizes[of].max(asked)));
            if changed > CONSTANT * before && !differ(same) && self.changes_nothing(problem, scales, drifting) {
                let mut rest = solved.clone();
                rest.add(&self.scratch, -(round as f64));
                // Beside a large drift, the rest may need more rounds.
                let most = asked.max(largest(&scales.of(&rest.rates, &rest.prices)));
                let rounding = if drifting[1].is_some() { SOLVED_BESIDE_DRIFT } else { ROUNDING };
                if self.is_solved(problem, scales, given, &rest, Allowed { rounding, most, drifting }) {
                    let least = (DRIFT * most).max(NOISE * steps[1]);
                    let drifts = |(step, scale): (&f64, &f64)| if step.abs() > least * scale { *step } else { 0.0 };
                    if steps[1] > least {
                        rest.drift = self.scratch.price_step.iter().zip(&scales.prices).map(drifts).collect();
                    }
                    return Ok(rest);
                }
            }
            before = changed;
            let Scratch { step, price_step, last, .. } = &mut self.scratch;
            std::mem::swap(step, &mut last.0);
            std::mem::swap(price_step, &mut last.1);
        }
        interrupt::check()?;
        let most = asked.max(largest(&scales.of(&solved.rates, &solved.prices)));
        let allowed = Allowed { rounding: ROUNDING, most, drifting: [None; 2] };
        if !self.is_solved(problem, scales, given, &solved, allowed) {
            let what = "a solution at which the equations of the derivative are singular to rounding".into();
            let instead = "bring capacities and weights nearer to each other; where splits are not unique, \
                           coefficients and costs of paths have no derivative";
            return Err(Error::NoSensitivity { what, instead });
        }
        Ok(solved)
    }

    /// The rate of a flow.
    pub(super) fn flow_rate(&self, problem: &Presolved, solved: &Solved, flow: usize) -> f64 {
        self.total(problem, &solved.rates, &solved.totals, flow)
    }

    /// The value of a flow, from a list of paths and one of flows with several.
    fn total(&self, problem: &Presolved, of_paths: &[f64], of_several: &[f64], flow: usize) -> f64 {
        match self.several[flow] {
            ABSENT => of_paths[problem.paths_of(flow).start],
            number => of_several[number as usize],
        }
    }

    /// The largest of what is given, relative: of the forces on what moves, and of the loads of active links.
    fn size_of(&self, problem: &Presolved, scales: &Scales, Given { forces, targets }: Given<'_>) -> f64 {
        let loads = targets.iter().zip(&problem.capacities).zip(&self.active).filter(|(_, active)| **active);
        let mut most = loads.fold(0.0f64, |most, ((target, capacity), _)| most.max(target.abs() / capacity));
        for (flow, marginal) in scales.marginals.iter().enumerate() {
            let of_flow = if self.stiffness[flow] > 0.0 { forces.flows[flow].abs() } else { 0.0 };
            for path in problem.paths_of(flow).filter(|&path| self.moves[path]) {
                most = most.max((of_flow + forces.paths[path].abs()) / marginal);
            }
        }
        most
    }

    /// Takes the forces, of which all is left.
    fn take(&mut self, problem: &Presolved, forces: Forces<'_>) {
        let Scratch { left, flow_left, .. } = &mut self.scratch;
        for (flow, &force) in forces.flows.iter().enumerate() {
            let mut common = force;
            if self.several[flow] != ABSENT {
                flow_left[self.several[flow] as usize] = std::mem::take(&mut common);
            }
            for path in problem.paths_of(flow) {
                left[path] = if self.moves[path] { common + forces.paths[path] } else { 0.0 };
            }
        }
    }

    /// The step of all rates to what is left of the forces: of a held flow that of its split.
    fn respond(&mut self, problem: &Presolved) {
        let Scratch { left, step, flow_left, flow_step, .. } = &mut self.scratch;
        let system = &self.system;
        if problem.is_single_path() {
            let weighted = left.iter().zip(&system.weights).map(|(left, weight)| left * weight);
            return step.iter_mut().zip(weighted).for_each(|(step, weighted)| *step = weighted);
        }
        step.copy_from_slice(left);
        for (flow, &number) in self.several.iter().enumerate() {
            let own = problem.paths_of(flow);
            match number {
                ABSENT => step[own.start] *= system.weights[own.start],
                number => {
                    let (number, moves) = (number as usize, own.clone().any(|path| self.moves[path]));
                    let common = flow_left[number];
                    let (total, _) = system.multipath.respond(number, &system.weights, common, &mut step[own]);
                    flow_step[number] = if moves { total } else { 0.0 };
                }
            }
        }
    }

    /// One round: from what is left of the forces, and the excess of the loads, to the step, and what is left then.
    fn round(&mut self, problem: &Presolved) {
        self.respond(problem);
        let Self { system, scratch, .. } = self;
        let Scratch { left, step, flow_left, flow_step, commons, excess, price_step, .. } = scratch;
        system.scatter_all(step, flow_step, excess);
        for (excess, active) in excess.iter_mut().zip(&self.active) {
            *excess = if *active { *excess } else { 0.0 };
        }
        price_step.copy_from_slice(excess);
        if !system.solve_by_factor(price_step) {
            price_step.fill(0.0);
            system.solve(excess, price_step, Accuracy { without_factor: SOLVED, with_factor: SOLVED });
        }
        for (value, active) in price_step.iter_mut().zip(&self.active) {
            *value = if *active { *value } else { 0.0 };
        }
        system.gather_all(price_step, step, commons);
        for ((left, step), moves) in left.iter_mut().zip(&*step).zip(&self.moves) {
            *left = if *moves { *left - *step } else { 0.0 };
        }
        flow_left.iter_mut().zip(&*commons).for_each(|(left, common)| *left -= common);
        self.respond(problem);
        let Scratch { left, step, flow_left, flow_step, .. } = &mut self.scratch;
        if problem.is_single_path() {
            // What does not move has no step, and what moves nothing left.
            return left.iter_mut().zip(&*step).zip(&self.stiffness).for_each(|((left, step), stiffness)| {
                *left -= stiffness * step;
            });
        }
        for (flow, (&number, stiffness)) in self.several.iter().zip(&self.stiffness).enumerate() {
            match number {
                ABSENT => {
                    let path = problem.paths_of(flow).start;
                    left[path] -= if self.moves[path] { stiffness * step[path] } else { 0.0 };
                }
                number => flow_left[number as usize] -= stiffness * flow_step[number as usize],
            }
        }
    }

    /// Links whose prices are not unique: they are full by the same flows.
    pub(super) fn tied(&mut self, problem: &Presolved, scales: &Scales) -> Result<Vec<u32>> {
        // A null vector v leaves a pivot of at most D |v|²/v_i², the diagonal entries of its links being alike to 1e6.
        let independent = self.system.smallest_pivot().is_some_and(|pivot| pivot > RAISED / NOISE);
        if independent && !self.any_free_price {
            return Ok(Vec::new());
        }
        // Numbers without a pattern, so that no dependent links are changed in a way that suits all of them.
        let parts = (1..).map(|i| 0.5 + (f64::from(i) * 0.618_033_988_749_895).fract());
        let targets: Vec<f64> = problem.capacities.iter().zip(parts).map(|(capacity, part)| part * capacity).collect();
        let none = vec![0.0; self.moves.len()];
        let forces = Forces { flows: &none[..problem.flows()], paths: &none };
        Ok(self.solve(problem, scales, Given { forces, targets: &targets }, none.clone())?.drifting())
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}
