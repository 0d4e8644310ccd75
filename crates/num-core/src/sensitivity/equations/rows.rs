//! Whether rows of the equations are solved, each compared with its own terms.

use super::super::scales::Scales;
use super::super::tolerances::{NOISE, PROXIMAL, ROUNDING, SOLVED};
use super::{Equations, Given, Scratch, Solved, largest};
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, System};

/// How much of a row may be left, beside [`SOLVED`] of its terms.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// What is below this part of the largest relative change, `most`, is rounding.
    pub(super) rounding: f64,
    pub(super) most: f64,
    /// The size of the last step of the rates, and of the prices, where they drift: the rows that it is part of are not
    /// judged.
    pub(super) drifting: [Option<f64>; 2],
}

impl Equations {
    /// Whether the last step is in the null space of the equations, its parts that are no rounding: it changes no rate
    /// of a flow, no load and no price of a path.
    pub(super) fn changes_nothing(&self, problem: &Presolved, scales: &Scales, drifting: [Option<f64>; 2]) -> bool {
        let Scratch { step, flow_step, price_step, .. } = &self.scratch;
        let [rates_move, prices_move] = drifting.map(|step| step.is_some());
        let [most, most_priced] = drifting.map(|step| NOISE * step.unwrap_or(0.0));
        let mut sums = vec![0.0; self.active.len()];
        self.system.scatter_all(step, flow_step, &mut sums);
        let mut of_links = (0..sums.len()).filter(|&link| self.active[link]);
        let mut is_null = !rates_move || of_links.all(|link| sums[link].abs() <= most * problem.capacities[link]);
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            let change = self.total(problem, step, flow_step, flow);
            let is_held = self.stiffness[flow] == 0.0;
            is_null &= !rates_move || is_held || change.abs() <= most * scales.rates[own.start];
            let of = |values: &[f64], path: usize| problem.paths.row(path).sum(values);
            let mut moving = own.filter(|&path| self.moves[path]);
            // What holds a flow may drift with the prices of all its paths.
            let level = if is_held { moving.clone().next().map_or(0.0, |path| of(price_step, path)) } else { 0.0 };
            is_null &= !prices_move
                || moving.all(|path| {
                    let scale = of(&scales.prices, path).min(scales.marginals[flow]);
                    (of(price_step, path) - level).abs() <= most_priced * scale
                });
        }
        is_null
    }

    /// Whether a solution satisfies every row of the equations without what regularizes them.
    pub(super) fn is_solved(
        &self,
        problem: &Presolved,
        scales: &Scales,
        given: Given<'_>,
        solved: &Solved,
        Allowed { rounding, most, drifting: [rates_drift, prices_drift] }: Allowed,
    ) -> bool {
        let [mut path_prices, mut magnitudes] = [(); 2].map(|()| vec![0.0; self.moves.len()]);
        let Solved { rates, totals, prices, .. } = solved;
        let system @ System { weights, multipath, .. } = &self.system;
        let Scratch { step, price_step, .. } = &self.scratch;
        let Given { forces, targets } = given;
        // Where prices drift, their differences have fewer digits.
        let part = if prices_drift.is_some() { NOISE } else { SOLVED };
        let holds = |left: f64, terms: f64, unit: f64| left.abs() <= part * terms + rounding * unit;
        let drifts = |change: f64, scale: f64, largest: Option<f64>| {
            largest.is_some_and(|largest| change.abs() > ROUNDING.sqrt() * largest * scale)
        };
        // Of every path, and of the links that all paths of a flow with several cross: they may be far dearer than what
        // the paths differ by.
        let [mut commons, mut common_magnitudes] = [(); 2].map(|()| vec![0.0; self.scratch.commons.len()]);
        system.gather_all(prices, &mut path_prices, &mut commons);
        system.gather_all(&absolute(prices), &mut magnitudes, &mut common_magnitudes);
        magnitudes.iter_mut().zip(forces.paths).for_each(|(magnitude, force)| *magnitude += force.abs());
        let mut is_solved = true;
        for (flow, &number) in self.several.iter().enumerate() {
            let stays = |path: &usize| self.moves[*path] && !drifts(step[*path], scales.rates[*path], rates_drift);
            let moving = problem.paths_of(flow).filter(stays);
            let force = |path: usize| forces.paths[path] - path_prices[path];
            let (count, sum, terms) = moving.clone().fold((0.0, 0.0, 0.0), |(count, sum, terms), path| {
                (count + 1.0, sum + force(path), terms + magnitudes[path])
            });
            if count == 0.0 {
                continue;
            }
            let mean = sum / count;
            if number != ABSENT {
                let price = |link: usize| if self.active[link] { scales.prices[link] } else { 0.0 };
                let of_path = |path: usize| multipath.own(path).sum_of(price);
                let unit = moving.clone().map(of_path).fold(0.0, f64::max).min(scales.marginals[flow]);
                is_solved &= moving
                    .into_iter()
                    .all(|path| holds(force(path) - mean, magnitudes[path] + mean.abs(), most * unit));
            }
            // What holds a flow is whatever its paths have in common.
            if self.stiffness[flow] > 0.0 {
                let [common, common_terms] = match number {
                    ABSENT => [0.0, 0.0],
                    number => [&commons, &common_magnitudes].map(|values| values[number as usize]),
                };
                let resisted = self.stiffness[flow] * self.flow_rate(problem, solved, flow);
                let terms = terms / count + common_terms + forces.flows[flow].abs() + resisted.abs();
                let left = forces.flows[flow] - common + mean - resisted;
                is_solved &= holds(left, terms, most * scales.marginals[flow]);
            }
        }

        // The rates of which forces and prices are the difference: what rounds on one path of a flow moves its others.
        let mut opposing = magnitudes;
        for (flow, &number) in self.several.iter().enumerate() {
            let own = problem.paths_of(flow);
            match number {
                ABSENT => opposing[own.start] += forces.flows[flow].abs(),
                _ => {
                    let most = PROXIMAL * largest(&opposing[own.clone()]);
                    opposing[own].fill(most);
                }
            }
        }
        opposing.iter_mut().zip(weights).for_each(|(rate, weight)| *rate *= weight);
        let [mut opposed, mut sums, mut sizes] = [(); 3].map(|()| vec![0.0; targets.len()]);
        system.pass().scatter(&opposing, &mut opposed);
        system.scatter_all(rates, totals, &mut sums);
        let mut sizes_of_paths = opposing;
        sizes_of_paths.iter_mut().zip(rates).for_each(|(size, rate)| *size = rate.abs());
        system.scatter_all(&sizes_of_paths, &absolute(totals), &mut sizes);
        let stays = |&link: &usize| self.active[link] && !drifts(price_step[link], scales.prices[link], prices_drift);
        let mut of_links = (0..targets.len()).filter(stays);
        is_solved
            && of_links.all(|link| {
                let (left, terms) = (sums[link] - targets[link], sizes[link] + targets[link].abs());
                holds(left, terms, most * problem.capacities[link] + opposed[link])
            })
    }
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}
