//! Floors, least rates of flows, and costs of paths.
//!
//! ```text
//! y ≥ m        the lower bound of a flow's only path, or a barrier on the sum of several
//! y = m        where no more than m is possible: ℓ is free and σ = ∞, so that only the split changes
//! x_p = b_p    where no path of the flow can carry more: θ_p = 0
//! q_p + k_p    in place of q_p: what all paths of a flow cost alike belongs to Q
//! ```
//!
//! Rates that are given have no room to move in, so that no barrier can hold them. Where floors fill a link there is no
//! room for any rate, and prices grow without end: with several paths the method works within a little more than the
//! capacity first, c (1 + 10⁻⁷), and what is over it is left to the splits that are found anew (`../splits.rs`).

use super::chunk::Chunk;
use super::given::Given;
use super::part::{Part, Several};
use super::variables::FlowVariables;
use super::{InteriorPoint, LEAST, is_linear};
use crate::error::Result;
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, System};

/// The part of its capacity by which a link is eased that floors fill.
const EASED: f64 = 1e-7;
/// How far above its floor a flow begins, as a part of it, and of the way to the most that it can have.
const ABOVE: f64 = 0.1;
const OF_ROOM: f64 = 0.5;
/// A flow is left where it is with this part of that.
const ENOUGH: f64 = 0.1;
/// A link is free where its price is worth no more than these parts of what the floors cost over paths of a mean cost,
/// or at the rates found where it is not full.
const FREE: f64 = 1e-14;
const FREE_IF_IDLE: f64 = 1e-10;
const IDLE: f64 = 1e-3;
/// ℓ − Q of a given rate begins at this part of the least of its paths' own prices.
const BELOW: f64 = 0.9;

/// Whether a linear flow with this λ, which is kept above 0, has a weight of 0.
pub(super) fn is_worthless(marginal: f64) -> bool {
    marginal <= LEAST
}

/// Where no flow is worth anything, what the floors cost over paths of a mean cost: all that is left is to carry them
/// at the least cost.
pub(super) fn mean_cost(problem: &Presolved) -> Result<Option<f64>> {
    if !is_linear(problem)
        || !problem.marginals(&vec![1.0; problem.flows()])?.into_iter().all(|marginal| marginal == 0.0)
    {
        return Ok(None);
    }
    let of_flow = |(flow, floor): (usize, &f64)| {
        let costs = problem.costs.of(problem.paths_of(flow));
        if costs.is_empty() { 0.0 } else { floor * costs.iter().sum::<f64>() / costs.len() as f64 }
    };
    Ok(Some(problem.bounds.floors.of(0..problem.flows()).iter().enumerate().map(of_flow).sum()))
}

impl Part {
    /// Moves the rates of flows with floors to where these leave room, or to what is given.
    pub(super) fn enter_floors(&mut self, problem: &Presolved) {
        let floors = &problem.bounds.floors;
        if floors.is_empty() {
            return;
        }
        for flow in self.flows.clone().filter(|&flow| floors[flow] > 0.0) {
            let own = problem.paths_of(flow);
            let rates = &mut self.variables.rates[own.clone()];
            let cap = |path: usize| problem.bounds.caps[path];
            let most = problem.bounds.saturations[flow].min(own.clone().map(cap).sum());
            let (floor, total) = (floors[flow], rates.iter().sum::<f64>());
            let goal = match self.given[flow] {
                Given::Paths => {
                    let given = rates.iter_mut().zip(&problem.floor_rates[own]);
                    given.for_each(|(rate, &given)| *rate = given.max(LEAST));
                    continue;
                }
                Given::Total => floor,
                Given::Nothing => {
                    let room = (ABOVE * floor).min(OF_ROOM * (most - floor));
                    if total >= floor + ENOUGH * room {
                        continue;
                    }
                    floor + room
                }
            };
            if total >= goal {
                rates.iter_mut().for_each(|rate| *rate *= goal / total);
                continue;
            }
            // By the room under the caps; paths without one take all where there are such.
            let is_open = own.clone().any(|path| cap(path) == f64::INFINITY);
            let room = |path: usize, rate: f64| match cap(path) {
                f64::INFINITY => problem.bounds.ceilings[path],
                _ if is_open => 0.0,
                cap => cap - rate,
            };
            let rooms: f64 = own.clone().zip(&*rates).map(|(path, &rate)| room(path, rate)).sum();
            for (path, rate) in own.zip(rates) {
                *rate += (goal - total) * (room(path, *rate) / rooms);
            }
        }
    }

    /// Takes what rounding has changed of the rates that are given.
    pub(super) fn keep_given(&mut self, problem: &Presolved, Chunk { flows, has_floors, .. }: &Chunk) {
        for flow in flows.clone().filter(|&flow| *has_floors && self.given[flow] == Given::Total) {
            let rates = &mut self.variables.rates[problem.paths_of(flow)];
            let total: f64 = rates.iter().sum();
            rates.iter_mut().for_each(|rate| *rate *= problem.bounds.floors[flow] / total);
        }
    }
}

/// ℓ − Q of given rates at first, from the paths' own prices.
pub(super) fn set_given_levels(
    problem: &Presolved,
    Chunk { flows, paths, .. }: &Chunk,
    given: &Numbered<Given>,
    prices: &[f64],
    levels: &mut Numbered<f64>,
) {
    for flow in flows.clone() {
        if given[flow] == Given::Total && levels[flow] == f64::INFINITY {
            let own = problem.paths_of(flow);
            let own = &prices[own.start - paths.start..own.end - paths.start];
            levels[flow] = BELOW * own.iter().copied().fold(f64::INFINITY, f64::min);
        }
    }
}

/// What some flows earn, y λ, or cost, Σ x k, if that is more: not what they pay where their floors hold them at a
/// higher price, which may be as much as one likes.
pub(super) fn revenue(problem: &Presolved, Chunk { flows, .. }: &Chunk, now: &FlowVariables) -> f64 {
    let costs = |flow: usize| -> f64 {
        let paths = problem.paths_of(flow);
        problem.costs.of(paths.clone()).iter().zip(&now.rates[paths]).map(|(cost, rate)| cost * rate).sum()
    };
    flows.clone().map(|flow| (now.flow_rates[flow] * now.marginals[flow]).max(costs(flow))).sum()
}

impl Several {
    /// q + k of each path of some flows, as [`gather`](Self::gather) sums.
    pub(super) fn price(
        &self,
        (problem, system): (&Presolved, &System),
        chunk: &Chunk,
        link_prices: &[f64],
        prices: &mut [f64],
        commons: &mut [f64],
    ) {
        self.gather((problem, system), chunk, link_prices, prices, commons);
        let Chunk { flows, paths, .. } = chunk;
        if problem.costs.is_empty() {
            return;
        }
        for (flow, common) in flows.clone().zip(commons) {
            let own = problem.paths_of(flow);
            let is_together = !chunk.is_single() && self.numbers[flow] != ABSENT;
            let costs = problem.costs.of(own.clone());
            let alike = if is_together { costs.iter().copied().fold(f64::INFINITY, f64::min) } else { 0.0 };
            *common += alike;
            let prices = &mut prices[own.start - paths.start..own.end - paths.start];
            prices.iter_mut().zip(costs).for_each(|(price, cost)| *price += cost - alike);
        }
    }
}

/// The capacities within which the method works: where floors of several paths fill a link, by [`EASED`] more. No rates
/// are inside there, so that prices have no end.
pub(super) fn eased_capacities(problem: &Presolved) -> Result<Vec<f64>> {
    let mut capacities = problem.capacities.clone();
    if problem.is_single_path() {
        return Ok(capacities);
    }
    let full = capacities.iter_mut().zip(problem.links_full_of_floors()?).filter(|(_, is_full)| *is_full);
    full.for_each(|(capacity, _)| *capacity *= 1.0 + EASED);
    Ok(capacities)
}

impl InteriorPoint {
    /// Sets prices to 0 that are only there because a barrier keeps them above it, where nothing is worth anything: the
    /// least cost may be 0, and then proves nothing unless such prices are 0.
    pub(super) fn clear_free_links(&self, problem: &Presolved, prices: &mut [f64]) {
        let Some(mean_cost) = self.mean_cost else { return };
        let links = prices.iter_mut().zip(&self.variables.slacks).zip(&problem.capacities);
        let if_idle = FREE_IF_IDLE * self.residuals.revenue / problem.capacities.len() as f64;
        for ((price, slack), capacity) in links {
            let (worth, is_idle) = (*price * capacity, *slack > IDLE * capacity);
            if worth <= FREE * mean_cost || is_idle && worth <= if_idle {
                *price = 0.0;
            }
        }
    }

    /// Σ k x.
    pub(super) fn paid_costs(&self, problem: &Presolved) -> f64 {
        let of_part = |part: &Part| -> f64 {
            let costs = problem.costs.of(part.paths.clone());
            costs.iter().zip(&part.variables.rates.values).map(|(cost, rate)| cost * rate).sum()
        };
        if problem.costs.is_empty() { 0.0 } else { self.parts.iter().map(of_part).sum() }
    }
}
