//! Max-min over fair shares: the fair share f rises for all flows, each takes B(f), until a link fills; that link's
//! flows stop there, the others go on.
//!
//! ```text
//! level of link l     the smallest f with Σ B_p(f) ≥ c_l − Σ rates that have stopped, over the paths that have not
//! B_p(f)              the flow's curve, cut at r_p, the smallest of its saturation, its cap and the capacities on p
//! ```
//!
//! A link is one kind of row Σ λ x ≤ c, with every λ = 1; flows with several paths have others (`cuts.rs`).
//!
//! Between the kinks of its curves the sum is linear, so a level is exact: the kinks are sorted, the piece with the
//! level is found by bisection, and rates are interpolated on it, so that they add up to the capacity however steep
//! the curves are. Levels only rise, as in [`water_fill`](super::water_fill), and the links are looked at in the same
//! order. A curve that is flat at the level is no difficulty: its rate is the same all along the piece.
//!
//! Cost: a look takes O(k log k + n log k log n) for a link with n flows and k kinks. Where it fails: not at all, but
//! fair shares themselves are only as good as the slope of the curves allows, rates are exact.
//!
//! Source: Kumar et al., *BwE*, SIGCOMM 2015, §6, for max-min over bandwidth functions.

use super::earliest::Earliest;
use super::water_fill::{FULL, power_of_two};
use crate::paths::Paths;
use crate::presolve::smallest;
use crate::utility::FairShare;

/// One flow's curve in the unit of the fill, cut at its ceiling.
#[derive(Debug)]
pub(super) struct Curve<'a> {
    share: FairShare<'a>,
    unit: f64,
    ceiling: f64,
    /// The fair share at which it reaches the ceiling.
    end: f64,
}

impl<'a> Curve<'a> {
    /// For a ceiling in the caller's unit.
    pub(super) fn new(share: FairShare<'a>, ceiling: f64, unit: f64) -> Self {
        let ceiling = ceiling.min(share.saturation());
        Self { share, unit, ceiling: ceiling / unit, end: share.least(ceiling) }
    }

    /// The most that the flow can have.
    pub(super) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    pub(super) fn bandwidth(&self, fair_share: f64) -> f64 {
        let whole = fair_share >= self.end;
        if whole { self.ceiling } else { (self.share.bandwidth(fair_share) / self.unit).min(self.ceiling) }
    }
}

/// Where a row fills: a part of the way from one kink to the next.
struct Level {
    fair_share: f64,
    before: f64,
    after: f64,
    part: f64,
}

/// Rows Σ λ x ≤ bound over flows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) bounds: Vec<f64>,
    /// The flows of every row, λ > 0 for each.
    pub(super) flows: Vec<Vec<(u32, f64)>>,
}

/// Where the water stands when every flow has stopped.
pub(super) struct Filled {
    /// Rate of every flow.
    pub(super) rates: Vec<f64>,
    /// The fair share at which every row stopped flows; ∞ for one that did not.
    pub(super) levels: Vec<f64>,
}

struct Fill<'a> {
    rows: &'a Rows,
    curves: &'a [Curve<'a>],
    /// Rate of every flow that has stopped.
    stopped: Vec<Option<f64>>,
    /// The flows in the row at hand that have not, each with its λ, and their kinks.
    rising: Vec<(usize, f64)>,
    kinks: Vec<f64>,
}

/// The rate of every path, for its curve and its cap. Capacities and caps are not negative, paths name links among
/// them.
pub(super) fn fill(capacities: &[f64], paths: &Paths, shares: &[FairShare], caps: &[f64]) -> Vec<f64> {
    let unit = power_of_two(capacities.iter().copied().fold(0.0, f64::max));
    let curve =
        |((links, &share), &cap): ((&[u32], _), &f64)| Curve::new(share, smallest(capacities, links).min(cap), unit);
    let curves: Vec<Curve> = paths.iter().zip(shares).zip(caps).map(curve).collect();
    let through = paths.transpose(capacities.len()).expect("paths name links that exist");
    let rows = Rows {
        bounds: capacities.iter().map(|capacity| capacity / unit).collect(),
        flows: through.iter().map(|paths| paths.iter().map(|&path| (path, 1.0)).collect()).collect(),
    };
    fill_rows(&rows, &curves).rates.into_iter().map(|rate| rate * unit).collect()
}

/// The same for any rows; in the unit of the curves.
pub(super) fn fill_rows(rows: &Rows, curves: &[Curve]) -> Filled {
    let stopped = vec![None; curves.len()];
    let mut fill = Fill { rows, curves, stopped, rising: Vec::new(), kinks: Vec::new() };
    let mut levels = vec![f64::INFINITY; rows.bounds.len()];
    let mut earliest = Earliest::new(levels.len());
    earliest.set_all(levels.iter().map(|_| 0.0));
    let mut water = 0.0;
    while let Some((row, bound)) = earliest.first() {
        match fill.level(row, water) {
            Some(level) if level.fair_share > bound => earliest.set(row, level.fair_share),
            Some(level) => {
                fill.stop(&level);
                earliest.set(row, f64::INFINITY);
                levels[row] = level.fair_share;
                water = level.fair_share.max(water);
            }
            None => earliest.set(row, f64::INFINITY),
        }
    }
    let rates = fill.stopped.iter().zip(curves).map(|(stopped, curve)| stopped.unwrap_or(curve.ceiling)).collect();
    Filled { rates, levels }
}

impl Fill<'_> {
    /// Where a row fills, from the present fair share on; `None` if it never does. Lists its flows that still rise.
    fn level(&mut self, row: usize, water: f64) -> Option<Level> {
        self.rising.clear();
        let bound = self.rows.bounds[row];
        let mut left = bound;
        for &(flow, factor) in &self.rows.flows[row] {
            match self.stopped[flow as usize] {
                Some(rate) => left -= factor * rate,
                None => self.rising.push((flow as usize, factor)),
            }
        }
        let Self { curves, rising, kinks, .. } = self;
        if rising.is_empty() {
            return None;
        }
        let left = left.max(0.0);
        let demand = |fair_share: f64| -> f64 {
            rising.iter().map(|&(flow, factor)| factor * curves[flow].bandwidth(fair_share)).sum()
        };
        let now = demand(water);
        if (now - left).abs() <= FULL * bound {
            // Full with another row: at one level, whatever was rounded on the way there.
            return Some(Level { fair_share: water, before: water, after: water, part: 0.0 });
        }
        // Where curves are so steep that the present level of another row is too much for this one, from the
        // beginning.
        let low = if now < left { water } else { 0.0 };
        kinks.clear();
        for &(flow, _) in rising.iter() {
            let Curve { share, end, .. } = &curves[flow];
            let own = share.kinks();
            let inner = own.partition_point(|&kink| kink <= low)..own.partition_point(|&kink| kink < *end);
            kinks.extend(own.get(inner).unwrap_or_default());
            kinks.push(end.max(low));
        }
        kinks.sort_unstable_by(f64::total_cmp);
        let next = kinks.partition_point(|&kink| demand(kink) < left);
        let after = *kinks.get(next)?;
        let before = if next == 0 { low } else { kinks[next - 1] };
        let (least, most) = (demand(before), demand(after));
        let part = if most > least { ((left - least) / (most - least)).clamp(0.0, 1.0) } else { 0.0 };
        Some(Level { fair_share: before + part * (after - before), before, after, part })
    }

    /// Stops the flows that [`level`](Self::level) has listed.
    fn stop(&mut self, level: &Level) {
        for &(flow, _) in &self.rising {
            let curve = &self.curves[flow];
            let (least, most) = (curve.bandwidth(level.before), curve.bandwidth(level.after));
            self.stopped[flow] = Some(least + level.part * (most - least));
        }
    }
}
