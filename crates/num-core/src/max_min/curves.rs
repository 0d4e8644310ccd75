//! Max-min over fair shares: the fair share f rises for all flows, each takes B(f), until a link fills; that link's
//! flows stop there, the others go on.
//!
//! ```text
//! level of link l     the smallest f with Σ B_p(f) ≥ c_l − Σ rates that have stopped, over the paths that have not
//! B_p(f)              the flow's curve, cut at r_p, the smallest of its saturation, its cap and the capacities on p
//! ```
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
use crate::utility::FairShare;

/// One path's curve in the unit of the fill, cut at its ceiling.
struct Curve<'a> {
    share: FairShare<'a>,
    unit: f64,
    ceiling: f64,
    /// The fair share at which it reaches the ceiling.
    end: f64,
}

impl Curve<'_> {
    fn bandwidth(&self, fair_share: f64) -> f64 {
        let whole = fair_share >= self.end;
        if whole { self.ceiling } else { (self.share.bandwidth(fair_share) / self.unit).min(self.ceiling) }
    }
}

/// Where a link fills: a part of the way from one kink to the next.
struct Level {
    fair_share: f64,
    before: f64,
    after: f64,
    part: f64,
}

struct Fill<'a> {
    through: Paths,
    capacities: Vec<f64>,
    curves: Vec<Curve<'a>>,
    /// Rate of every path that has stopped.
    stopped: Vec<Option<f64>>,
    /// The paths through the link at hand that have not, and their kinks.
    rising: Vec<usize>,
    kinks: Vec<f64>,
}

/// The rate of every path, for its curve and its cap. Capacities and caps are not negative, paths name links among
/// them.
pub(super) fn fill<'a>(capacities: &[f64], paths: &Paths, shares: &[FairShare<'a>], caps: &[f64]) -> Vec<f64> {
    let unit = power_of_two(capacities.iter().copied().fold(0.0, f64::max));
    let curve = |((links, &share), &cap): ((&[u32], &FairShare<'a>), &f64)| {
        let narrowest = links.iter().map(|&link| capacities[link as usize]).fold(cap, f64::min);
        let ceiling = narrowest.min(share.saturation());
        Curve { share, unit, ceiling: ceiling / unit, end: share.least(ceiling) }
    };
    let mut fill = Fill {
        through: paths.transpose(capacities.len()).expect("paths name links that exist"),
        capacities: capacities.iter().map(|capacity| capacity / unit).collect(),
        curves: paths.iter().zip(shares).zip(caps).map(curve).collect(),
        stopped: vec![None; paths.len()],
        rising: Vec::new(),
        kinks: Vec::new(),
    };
    let mut earliest = Earliest::new(capacities.len());
    earliest.set_all(capacities.iter().map(|_| 0.0));
    let mut water = 0.0;
    while let Some((link, bound)) = earliest.first() {
        match fill.level(link, water) {
            Some(level) if level.fair_share > bound => earliest.set(link, level.fair_share),
            Some(level) => {
                fill.stop(&level);
                earliest.set(link, f64::INFINITY);
                water = level.fair_share.max(water);
            }
            None => earliest.set(link, f64::INFINITY),
        }
    }
    let rates = fill.stopped.iter().zip(&fill.curves).map(|(stopped, curve)| stopped.unwrap_or(curve.ceiling));
    rates.map(|rate| rate * unit).collect()
}

impl Fill<'_> {
    /// Where a link fills, from the present fair share on; `None` if it never does. Lists its paths that still rise.
    fn level(&mut self, link: usize, water: f64) -> Option<Level> {
        self.rising.clear();
        let capacity = self.capacities[link];
        let mut left = capacity;
        for &path in self.through.links(link) {
            match self.stopped[path as usize] {
                Some(rate) => left -= rate,
                None => self.rising.push(path as usize),
            }
        }
        let Self { curves, rising, kinks, .. } = self;
        if rising.is_empty() {
            return None;
        }
        let left = left.max(0.0);
        let demand = |fair_share: f64| -> f64 { rising.iter().map(|&path| curves[path].bandwidth(fair_share)).sum() };
        let now = demand(water);
        if (now - left).abs() <= FULL * capacity {
            // Full with another link: at one level, whatever was rounded on the way there.
            return Some(Level { fair_share: water, before: water, after: water, part: 0.0 });
        }
        // Where curves are so steep that the present level of another link is too much for this one, from the
        // beginning.
        let low = if now < left { water } else { 0.0 };
        kinks.clear();
        for &path in rising.iter() {
            let Curve { share, end, .. } = &curves[path];
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

    /// Stops the paths that [`level`](Self::level) has listed.
    fn stop(&mut self, level: &Level) {
        for &path in &self.rising {
            let curve = &self.curves[path];
            let (least, most) = (curve.bandwidth(level.before), curve.bandwidth(level.after));
            self.stopped[path] = Some(least + level.part * (most - least));
        }
    }
}
