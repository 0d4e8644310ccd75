//! Prices that are not unique, while constraints leave that are full by the same flows.
//!
//! Such constraints have many multipliers, of which a change of the capacities chooses those of least value Σ p dc + …,
//! by the dual simplex method: along the drift of the prices until a multiplier is 0, whose constraint leaves.

use std::collections::BTreeSet;

use super::Sensitivity;
use super::active_set::{ActiveSet, Constraint, PathState};
use super::equations::Solved;
use super::point::{Point, held_level};
use super::tolerances::NOISE;

/// Prices that have followed their drift.
pub(super) struct TiedPrices {
    prices: Vec<f64>,
    path_prices: Vec<f64>,
    /// Links whose prices have changed: at once, whatever the size of the change of parameters.
    pub(super) jumps: BTreeSet<usize>,
    /// The value of the last change of the prices, in the caller's units.
    pub(super) gain: f64,
}

impl TiedPrices {
    pub(super) fn new(point: &Point) -> Self {
        let (prices, path_prices) = (point.prices.clone(), point.path_prices.clone());
        Self { prices, path_prices, jumps: BTreeSet::new(), gain: 0.0 }
    }

    /// Follows the drift of the prices to the first multiplier that is 0 there. `None` where there is none.
    pub(super) fn follow(
        &mut self,
        of: &Sensitivity,
        capacities: &[f64],
        active: &ActiveSet,
        solved: &Solved,
    ) -> Option<Constraint> {
        let (presolved, point, drift) = (&of.presolved, &of.point, &solved.drift);
        let mut by = vec![0.0; self.path_prices.len()];
        presolved.pass().gather(drift, &mut by);
        let (mut nearest, mut leaves) = (f64::INFINITY, None);
        // Prices of paths that move stay equal: a difference is rounding.
        let least = NOISE * of.scales.of_prices(|link| drift[link]);
        let mut look = |weak: Constraint, scale: f64, multiplier: f64, change: f64| {
            if change < -least * scale && multiplier.max(0.0) / -change < nearest {
                (nearest, leaves) = (multiplier.max(0.0) / -change, Some(weak));
            }
        };
        for (link, &change) in drift.iter().enumerate().filter(|(link, _)| active.links[*link]) {
            look(Constraint::Link(link), of.scales.prices[link], self.prices[link], change);
        }
        for flow in 0..presolved.flows() {
            let (bound, marginal) = (active.flows[flow], point.marginals[flow]);
            let level = held_level(presolved, active, flow, &self.path_prices).unwrap_or(marginal);
            let level_by = held_level(presolved, active, flow, &by).unwrap_or(0.0);
            if bound.is_finite() {
                let [low, high] = point.holding_prices(presolved, flow);
                look(Constraint::Flow { flow, bound }, marginal, high - level, -level_by);
                look(Constraint::Above { flow, bound }, marginal, level - low, level_by);
            }
            for path in presolved.paths_of(flow) {
                let (excess, change) = (self.path_prices[path] - level, by[path] - level_by);
                let scale = point.excess_scale(presolved, &of.scales.prices, (flow, path), level);
                match active.paths[path] {
                    PathState::Free => {}
                    PathState::Zero => look(Constraint::Zero { flow, path }, scale, excess, change),
                    PathState::Cap => look(Constraint::Cap { flow, path }, scale, -excess, -change),
                }
            }
        }
        if leaves.is_some() && nearest > 0.0 {
            let mut loads = vec![0.0; drift.len()];
            presolved.pass().scatter(&solved.rates, &mut loads);
            let lacking = capacities.iter().zip(&loads).zip(drift);
            let value: f64 = lacking.map(|((capacity, load), drift)| (capacity - load) * drift).sum();
            self.gain = nearest * value * presolved.units.rate * presolved.units.price();
            for (link, drift) in drift.iter().enumerate().filter(|(_, drift)| **drift != 0.0) {
                self.prices[link] += nearest * drift;
                self.jumps.insert(link);
            }
            self.path_prices.iter_mut().zip(&by).for_each(|(price, by)| *price += nearest * by);
        } else {
            self.gain = 0.0;
        }
        leaves
    }

    /// The point with these prices.
    pub(super) fn point(&self, of: &Point, active: &ActiveSet) -> Point {
        let (prices, path_prices) = (self.prices.clone(), self.path_prices.clone());
        Point { prices, path_prices, active: active.clone(), ..of.clone() }
    }
}
