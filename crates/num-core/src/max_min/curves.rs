//! Max-min over fair shares: the fair share f rises for all flows, each takes B(f), until a link fills; that link's
//! flows stop there, the others go on.
//!
//! ```text
//! level of link l     the smallest f with Σ a_lp B_p(f) ≥ c_l − Σ a_lp x_p of paths that have stopped, over the others
//! B_p(f)              the flow's curve, cut at r_p, the smallest of its saturation, its cap and c_l/a_lp on p
//! ```
//!
//! Between the breakpoints of its curves the sum is linear, so a level is exact: the breakpoints are sorted, the piece
//! with the level is found by bisection, and rates are interpolated on it, so that they add up to the capacity however
//! steep the curves are. Levels only rise, as in [`WaterFill`](crate::water_fill::WaterFill), and links are visited in
//! the same order. A curve that is flat at the level is no difficulty: its rate is the same all along the piece.
//!
//! Cost: a visit takes O(k log k + n log k log n) for a link with n flows and k breakpoints. Where it fails: not at
//! all, but fair shares themselves are only as good as the slope of the curves allows, rates are exact.
//!
//! Source: Kumar et al., *BwE*, SIGCOMM 2015, §6, for max-min over bandwidth functions.

use crate::error::Result;
use crate::paths::Paths;
use crate::utility::FairShare;
use crate::water_fill::{FULL, Tournament, power_of_two};

/// Curves in a unit of rates, each cut at its ceiling.
#[derive(Debug)]
pub(super) struct Curves {
    /// Fair share, rate and slope from there on of every straight piece; those of curve `i` begin at `first[i]`.
    pieces: Vec<[f64; 3]>,
    first: Vec<usize>,
    /// The ceiling of every curve, and the fair share at which it is reached.
    ceilings: Vec<f64>,
    ends: Vec<f64>,
    unit: f64,
}

impl Curves {
    pub(super) fn new(unit: f64) -> Self {
        Self { pieces: Vec::new(), first: vec![0], ceilings: Vec::new(), ends: Vec::new(), unit }
    }

    /// Adds a curve with a ceiling in the caller's unit.
    pub(super) fn push(&mut self, share: &FairShare, ceiling: f64) {
        let ceiling = ceiling.min(share.saturation());
        self.pieces.extend(share.pieces());
        self.first.push(self.pieces.len());
        self.ceilings.push(ceiling / self.unit);
        self.ends.push(share.least(ceiling));
    }

    /// The most that a flow can have.
    pub(super) fn ceiling(&self, curve: usize) -> f64 {
        self.ceilings[curve]
    }

    pub(super) fn bandwidth(&self, curve: usize, fair_share: f64) -> f64 {
        if fair_share >= self.ends[curve] {
            return self.ceilings[curve];
        }
        let pieces = self.pieces(curve);
        let rate = match pieces.partition_point(|piece| piece[0] <= fair_share) {
            0 => 0.0,
            after => {
                let [from, rate, slope] = pieces[after - 1];
                if slope == 0.0 { rate } else { rate + slope * (fair_share - from) }
            }
        };
        (rate / self.unit).min(self.ceilings[curve])
    }

    fn pieces(&self, curve: usize) -> &[[f64; 3]] {
        &self.pieces[self.first[curve]..self.first[curve + 1]]
    }
}

/// Where a link fills: a part of the way from one breakpoint to the next.
struct Level {
    fair_share: f64,
    before: f64,
    after: f64,
    part: f64,
}

/// Max-min over curves; goes on where it was stopped.
#[derive(Debug)]
pub(super) struct CurveWaterFill {
    capacities: Vec<f64>,
    through: Paths,
    curves: Curves,
    /// Rate of every path that has stopped.
    stopped: Vec<Option<f64>>,
    tournament: Tournament,
    /// The fair share that has been reached.
    water: f64,
    /// The paths through the link at hand that have not stopped, with their coefficients, and their breakpoints.
    rising: Vec<(usize, f64)>,
    breakpoints: Vec<f64>,
}

impl CurveWaterFill {
    /// One curve and one cap per path. Capacities and caps are not negative, paths name links among them.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(capacities: &[f64], paths: &Paths, shares: &[FairShare], caps: &[f64]) -> Result<Self> {
        let unit = power_of_two(capacities.iter().copied().fold(0.0, f64::max));
        let mut curves = Curves::new(unit);
        for (path, (share, &cap)) in shares.iter().zip(caps).enumerate() {
            curves.push(share, paths.row(path).narrowest(capacities).min(cap));
        }
        let mut tournament = Tournament::new(capacities.len());
        tournament.set_all(capacities.iter().map(|_| 0.0));
        Ok(Self {
            capacities: capacities.iter().map(|capacity| capacity / unit).collect(),
            through: paths.transpose(capacities.len())?,
            stopped: vec![None; paths.len()],
            curves,
            tournament,
            water: 0.0,
            rising: Vec::new(),
            breakpoints: Vec::new(),
        })
    }

    /// Lets the fair share rise until all paths have stopped, or about so many paths have been visited. Returns whether
    /// all have.
    pub(super) fn rise(&mut self, most: usize) -> bool {
        let mut visited = 0;
        while let Some((link, bound)) = self.tournament.first() {
            if visited >= most {
                return false;
            }
            visited += 1 + self.through.links(link).len();
            match self.level(link) {
                Some(level) if level.fair_share > bound => self.tournament.set(link, level.fair_share),
                Some(level) => {
                    self.stop(&level);
                    self.tournament.set(link, f64::INFINITY);
                    self.water = level.fair_share.max(self.water);
                }
                None => self.tournament.set(link, f64::INFINITY),
            }
        }
        self.water = f64::INFINITY;
        true
    }

    /// The rates so far: those that have not stopped are at the present fair share.
    pub(super) fn so_far(&self) -> Vec<f64> {
        let now = |(path, stopped): (usize, &Option<f64>)| {
            stopped.unwrap_or_else(|| self.curves.bandwidth(path, self.water)) * self.curves.unit
        };
        self.stopped.iter().enumerate().map(now).collect()
    }

    /// Where a link fills, from the present fair share on; `None` if it never does. Lists its paths that still rise.
    fn level(&mut self, link: usize) -> Option<Level> {
        self.rising.clear();
        let capacity = self.capacities[link];
        let mut left = capacity;
        for (path, a) in self.through.row(link).entries() {
            match self.stopped[path as usize] {
                Some(rate) => left -= a * rate,
                None => self.rising.push((path as usize, a)),
            }
        }
        let Self { curves, rising, breakpoints, water, .. } = self;
        let water = *water;
        if rising.is_empty() {
            return None;
        }
        let left = left.max(0.0);
        let demand =
            |fair_share: f64| -> f64 { rising.iter().map(|&(path, a)| a * curves.bandwidth(path, fair_share)).sum() };
        let now = demand(water);
        if (now - left).abs() <= FULL * capacity {
            // Full with another link: at one level, whatever was rounded on the way there.
            return Some(Level { fair_share: water, before: water, after: water, part: 0.0 });
        }
        // Where curves are so steep that the present level of another link is too much for this one, from the
        // beginning.
        let low = if now < left { water } else { 0.0 };
        breakpoints.clear();
        for &(path, _) in rising.iter() {
            let end = curves.ends[path];
            let inner = curves.pieces(path).iter().map(|piece| piece[0]);
            breakpoints.extend(inner.filter(|&breakpoint| breakpoint > low && breakpoint < end));
            breakpoints.push(end.max(low));
        }
        breakpoints.sort_unstable_by(f64::total_cmp);
        let next = breakpoints.partition_point(|&breakpoint| demand(breakpoint) < left);
        let after = *breakpoints.get(next)?;
        let before = if next == 0 { low } else { breakpoints[next - 1] };
        let (least, most) = (demand(before), demand(after));
        let part = if most > least { ((left - least) / (most - least)).clamp(0.0, 1.0) } else { 0.0 };
        Some(Level { fair_share: before + part * (after - before), before, after, part })
    }

    /// Stops the paths that [`level`](Self::level) has listed.
    fn stop(&mut self, level: &Level) {
        for &(path, _) in &self.rising {
            let (least, most) = (self.curves.bandwidth(path, level.before), self.curves.bandwidth(path, level.after));
            self.stopped[path] = Some(least + level.part * (most - least));
        }
    }
}
