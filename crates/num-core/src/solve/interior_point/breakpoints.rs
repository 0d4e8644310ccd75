//! Breakpoints of U', where it falls at once, as elastic bounds.
//!
//! ```text
//! U(y) = S(y) − J max(0, y − b) = S(y) − min { J t : t ≥ 0, t ≥ y − b }        S' is continuous at b
//! π (b + t − y) = μ      (J − π) t = μ                                        U' = S' − π
//! ```
//!
//! A breakpoint is an upper bound y ≤ b with a multiplier of at most J. The overshoot t is eliminated, which leaves the
//! curvature π/(u + π t/σ) in Newton's equations, with u = b + t − y and σ = J − π. λ = U'(y) on either side: below b
//! the level is λ − π, above b, where U' may be many decades smaller than J, it is λ + σ. Neither is a difference of
//! large numbers.

use std::ops::Range;

use super::barrier::{Barrier, outside};
use crate::paths::Numbered;

/// All breakpoints, in the order of their flows.
#[derive(Default)]
pub(super) struct Breakpoints {
    /// The flow, b and J of every breakpoint *(given)*.
    flow: Vec<u32>,
    rate: Vec<f64>,
    fall: Vec<f64>,
    /// u = b + t − y and t; π and σ = J − π, each an iterate so that none is a difference of large numbers *(iterate)*.
    room: Vec<f64>,
    overshoot: Vec<f64>,
    dual: Vec<f64>,
    rest: Vec<f64>,
    /// Whether the flow's rate is above b *(derived)*.
    above: Vec<bool>,
    /// The wanted changes of π·u and σ·t *(derived)*.
    targets: Vec<[f64; 2]>,
    /// dπ, dt and du *(derived)*.
    steps: Vec<[f64; 3]>,
}

impl Breakpoints {
    pub(super) fn push(&mut self, flow: usize, rate: f64, fall: f64) {
        self.flow.push(flow as u32);
        self.rate.push(rate);
        self.fall.push(fall);
        for values in [&mut self.room, &mut self.overshoot, &mut self.dual, &mut self.rest] {
            values.push(0.0);
        }
        self.above.push(false);
        self.targets.push([0.0; 2]);
        self.steps.push([0.0; 3]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }

    /// Takes the pairs from the given rates, centred: t solves u π = (J − π) t = `centre`.
    pub(super) fn centre_at(&mut self, rates: &Numbered<f64>, centre: f64) {
        for i in 0..self.flow.len() {
            let (over, fall) = (rates[self.flow[i] as usize] - self.rate[i], self.fall[i]);
            // π = centre/(t − over), J − π = centre/t: a quadratic in t, whose larger root is the one beyond `over`.
            let middle = 0.5 * over + centre / fall;
            let root = (middle * middle - over * centre / fall).max(0.0).sqrt();
            let overshoot = if middle > 0.0 { middle + root } else { over * centre / fall / (middle - root) };
            self.overshoot[i] = overshoot.max(centre / fall);
            self.room[i] = (self.overshoot[i] - over).max(centre / fall);
            self.rest[i] = (centre / self.overshoot[i]).min(0.999 * fall);
            self.dual[i] = fall - self.rest[i];
        }
        self.cross(0..self.flow.len(), rates, |_, _| {});
    }

    /// Takes u and t from the rates of a part, the larger from the smaller: added up step by step, their difference
    /// is lost while both are large. Finds on which side the rates are as well, and calls for every breakpoint that was
    /// crossed with its flow and the change of U' that λ stands for: −J on the way up.
    pub(super) fn cross(&mut self, part: Range<usize>, rates: &Numbered<f64>, mut change: impl FnMut(usize, f64)) {
        for i in part {
            let flow = self.flow[i];
            let over = rates[flow as usize] - self.rate[i];
            let above = over > 0.0;
            if above {
                self.overshoot[i] = self.room[i] + over;
            } else {
                self.room[i] = self.overshoot[i] - over;
            }
            if above != self.above[i] {
                self.above[i] = above;
                change(flow as usize, if above { -self.fall[i] } else { self.fall[i] });
            }
        }
    }

    /// u + π t/σ.
    fn width(&self, i: usize) -> f64 {
        self.room[i] + self.dual[i] * self.overshoot[i] / self.rest[i]
    }
}

impl Barrier for Breakpoints {
    fn pairs(&self) -> usize {
        2 * self.flow.len()
    }

    fn within(&self, flows: &Range<usize>) -> Range<usize> {
        let before = |flow: usize| self.flow.partition_point(|&of| (of as usize) < flow);
        before(flows.start)..before(flows.end)
    }

    fn complementarity(&self) -> f64 {
        let product = |i: usize| self.room[i] * self.dual[i] + self.overshoot[i] * self.rest[i];
        (0..self.flow.len()).map(product).sum()
    }

    fn complementarity_after(&self, (primal, dual): (f64, f64), _changes: &Numbered<f64>) -> f64 {
        let after = |i: usize| {
            let [step, overshoot, room] = self.steps[i];
            (self.room[i] + primal * room) * (self.dual[i] + dual * step)
                + (self.overshoot[i] + primal * overshoot) * (self.rest[i] - dual * step)
        };
        (0..self.flow.len()).map(after).sum()
    }

    fn add_curvatures(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            sums[self.flow[i] as usize - first] += self.dual[i] / self.width(i);
        }
    }

    fn add_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            sums[self.flow[i] as usize - first] += if self.above[i] { self.rest[i] } else { -self.dual[i] };
        }
    }

    fn add_target_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            let [room, overshoot] = self.targets[i];
            let force = -(room - self.dual[i] * overshoot / self.rest[i]) / self.width(i);
            sums[self.flow[i] as usize - first] += force;
        }
    }

    fn aim_at_zero(&mut self) {
        for i in 0..self.flow.len() {
            self.targets[i] = [-self.room[i] * self.dual[i], -self.overshoot[i] * self.rest[i]];
        }
    }

    fn aim_at(&mut self, centre: f64, part: f64, _changes: &Numbered<f64>) {
        for i in 0..self.flow.len() {
            let [step, overshoot, room] = self.steps[i];
            self.targets[i] = [
                centre - self.room[i] * self.dual[i] - part * room * step,
                centre - self.overshoot[i] * self.rest[i] + part * overshoot * step,
            ];
        }
    }

    fn aim_within(&mut self, (primal, dual): (f64, f64), range: (f64, f64), _changes: &Numbered<f64>) {
        for i in 0..self.flow.len() {
            let [step, overshoot, room] = self.steps[i];
            let [of_room, of_overshoot] = &mut self.targets[i];
            *of_room += outside((self.room[i] + primal * room) * (self.dual[i] + dual * step), range);
            let after = (self.overshoot[i] + primal * overshoot) * (self.rest[i] - dual * step);
            *of_overshoot += outside(after, range);
        }
    }

    /// du is dt − dy; above b, where u may be negligible relative to both of them, it is the wanted change of π·u, less
    /// that by dπ.
    fn direct(&mut self, changes: &Numbered<f64>) {
        for i in 0..self.flow.len() {
            let [of_room, of_overshoot] = self.targets[i];
            let (dual, rest, change) = (self.dual[i], self.rest[i], changes[self.flow[i] as usize]);
            let step = (of_room - dual * of_overshoot / rest + dual * change) / self.width(i);
            let overshoot = (of_overshoot + self.overshoot[i] * step) / rest;
            let room = if self.above[i] { (of_room - self.room[i] * step) / dual } else { overshoot - change };
            self.steps[i] = [step, overshoot, room];
        }
    }

    fn falls(&self, _changes: &Numbered<f64>) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for i in 0..self.flow.len() {
            let [step, overshoot, room] = self.steps[i];
            primal = primal.max(-room / self.room[i]).max(-overshoot / self.overshoot[i]);
            dual = dual.max(-step / self.dual[i]).max(step / self.rest[i]);
        }
        (primal, dual)
    }

    fn advance(&mut self, (primal, dual): (f64, f64), _changes: &Numbered<f64>) {
        for i in 0..self.flow.len() {
            let [step, overshoot, room] = self.steps[i];
            self.room[i] += primal * room;
            self.overshoot[i] += primal * overshoot;
            self.dual[i] += dual * step;
            self.rest[i] -= dual * step;
        }
    }
}
