//! Jumps of U' as elastic bounds.
//!
//! ```text
//! U(y) = S(y) − J max(0, y − b) = S(y) − min { J t : t ≥ 0, t ≥ y − b }        S' has no jump at b
//! π (b + t − y) = μ      (J − π) t = μ                                        U' = S' − π
//! ```
//!
//! An upper bound y ≤ b that gives way at the price J. The overshoot t is eliminated on the spot, so that Newton's
//! equations see no more than the curvature π/(u + π t/σ) with u = b + t − y and σ = J − π. Below b, λ stands for U' and π
//! is taken off; above, where U' may be many decades smaller than J, λ stands for U' there too and σ is added, so that
//! neither is ever the difference of large numbers.

use std::ops::Range;

/// All jumps, in the order of their flows.
#[derive(Default)]
pub(super) struct Kinks {
    /// The flow, b and J of every jump *(given)*.
    flow: Vec<u32>,
    rate: Vec<f64>,
    fall: Vec<f64>,
    /// b + t − y and t; π and J − π, each kept on its own so that none is a difference of large numbers *(iterate)*.
    room: Vec<f64>,
    overshoot: Vec<f64>,
    toll: Vec<f64>,
    rest: Vec<f64>,
    /// Whether the flow's rate is above b *(derived)*.
    above: Vec<bool>,
    /// What π·room and rest·overshoot are to change by *(derived)*.
    targets: Vec<[f64; 2]>,
    /// dπ, dt and d(b + t − y) *(derived)*.
    steps: Vec<[f64; 3]>,
}

impl Kinks {
    pub(super) fn push(&mut self, flow: usize, rate: f64, fall: f64) {
        self.flow.push(flow as u32);
        self.rate.push(rate);
        self.fall.push(fall);
        for values in [&mut self.room, &mut self.overshoot, &mut self.toll, &mut self.rest] {
            values.push(0.0);
        }
        self.above.push(false);
        self.targets.push([0.0; 2]);
        self.steps.push([0.0; 3]);
    }

    /// The jumps of a range of flows.
    pub(super) fn within(&self, flows: &Range<usize>) -> Range<usize> {
        let before = |flow: usize| self.flow.partition_point(|&of| (of as usize) < flow);
        before(flows.start)..before(flows.end)
    }

    /// Number of complementary pairs.
    pub(super) fn pairs(&self) -> usize {
        2 * self.flow.len()
    }

    /// Centred, around the given rates: t solves u π = (J − π) t = `centre`.
    pub(super) fn begin(&mut self, rates: &[f64], centre: f64) {
        for i in 0..self.flow.len() {
            let (over, fall) = (rates[self.flow[i] as usize] - self.rate[i], self.fall[i]);
            // π = centre/(t − over), J − π = centre/t: a quadratic in t, whose larger root is the one beyond `over`.
            let middle = 0.5 * over + centre / fall;
            let root = (middle * middle - over * centre / fall).max(0.0).sqrt();
            let overshoot = if middle > 0.0 { middle + root } else { over * centre / fall / (middle - root) };
            self.overshoot[i] = overshoot.max(centre / fall);
            self.room[i] = (self.overshoot[i] - over).max(centre / fall);
            self.rest[i] = (centre / self.overshoot[i]).min(0.999 * fall);
            self.toll[i] = fall - self.rest[i];
        }
    }

    /// Takes b + t − y and t from the rates of a part, the larger from the smaller: added up step by step, what they differ
    /// by is lost while both are large. Finds on which side the rates are as well, and calls for every jump that was crossed
    /// with its flow and by how much what λ stands for has changed: −J on the way up.
    pub(super) fn cross(&mut self, part: Range<usize>, rates: &[f64], mut change: impl FnMut(usize, f64)) {
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

    pub(super) fn complementarity(&self) -> f64 {
        let product = |i: usize| self.room[i] * self.toll[i] + self.overshoot[i] * self.rest[i];
        (0..self.flow.len()).map(product).sum()
    }

    pub(super) fn complementarity_after(&self, primal: f64, dual: f64) -> f64 {
        let after = |i: usize| {
            let [toll, overshoot, room] = self.steps[i];
            (self.room[i] + primal * room) * (self.toll[i] + dual * toll)
                + (self.overshoot[i] + primal * overshoot) * (self.rest[i] - dual * toll)
        };
        (0..self.flow.len()).map(after).sum()
    }

    /// u + π t/σ.
    fn width(&self, i: usize) -> f64 {
        self.room[i] + self.toll[i] * self.overshoot[i] / self.rest[i]
    }

    pub(super) fn curvatures(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            let flow = self.flow[i];
            add(flow as usize, self.toll[i] / self.width(i));
        }
    }

    pub(super) fn forces(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            let flow = self.flow[i];
            add(flow as usize, if self.above[i] { self.rest[i] } else { -self.toll[i] });
        }
    }

    pub(super) fn target_forces(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            let flow = self.flow[i];
            let [room, overshoot] = self.targets[i];
            add(flow as usize, -(room - self.toll[i] * overshoot / self.rest[i]) / self.width(i));
        }
    }

    pub(super) fn aim_at_zero(&mut self) {
        for i in 0..self.flow.len() {
            self.targets[i] = [-self.room[i] * self.toll[i], -self.overshoot[i] * self.rest[i]];
        }
    }

    pub(super) fn aim_at(&mut self, centre: f64, part: f64) {
        for i in 0..self.flow.len() {
            let [toll, overshoot, room] = self.steps[i];
            self.targets[i] = [
                centre - self.room[i] * self.toll[i] - part * room * toll,
                centre - self.overshoot[i] * self.rest[i] + part * overshoot * toll,
            ];
        }
    }

    /// Steps that go with changes of the rates. That of the room is dt − dy; above b, where the room may be next to nothing
    /// beside both of them, it is what the room's product is to change by, less what π does to it.
    pub(super) fn direct(&mut self, changes: &[f64]) {
        for i in 0..self.flow.len() {
            let [of_room, of_overshoot] = self.targets[i];
            let (toll, rest, change) = (self.toll[i], self.rest[i], changes[self.flow[i] as usize]);
            let step = (of_room - toll * of_overshoot / rest + toll * change) / self.width(i);
            let overshoot = (of_overshoot + self.overshoot[i] * step) / rest;
            let room = if self.above[i] { (of_room - self.room[i] * step) / toll } else { overshoot - change };
            self.steps[i] = [step, overshoot, room];
        }
    }

    pub(super) fn falls(&self) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for i in 0..self.flow.len() {
            let [toll, overshoot, room] = self.steps[i];
            primal = primal.max(-room / self.room[i]).max(-overshoot / self.overshoot[i]);
            dual = dual.max(-toll / self.toll[i]).max(toll / self.rest[i]);
        }
        (primal, dual)
    }

    pub(super) fn advance(&mut self, primal: f64, dual: f64) {
        for i in 0..self.flow.len() {
            let [toll, overshoot, room] = self.steps[i];
            self.room[i] += primal * room;
            self.overshoot[i] += primal * overshoot;
            self.toll[i] += dual * toll;
            self.rest[i] -= dual * toll;
        }
    }
}
