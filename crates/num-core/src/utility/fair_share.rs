//! The rate that a flow gets at a common fair share, which max-min fairness compares.

use super::curve::Curve;

/// The part of a fair share by which one is just below it.
const BELOW: f64 = 1e-9;

/// A flow's rate as a function of the fair share f that all flows have in common: not decreasing, piecewise linear.
#[derive(Debug, Clone, Copy)]
pub struct FairShare<'a> {
    kind: Kind<'a>,
    /// The most that it gives, ∞ for no such bound.
    most: f64,
    /// What it gives at least, from the fair share 0 on.
    floor: f64,
}

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Weight(f64),
    Curve(&'a Curve),
}

impl<'a> FairShare<'a> {
    /// B(f) = w f, for a finite weight w > 0.
    pub fn weight(weight: f64) -> Self {
        Self { kind: Kind::Weight(weight), most: f64::INFINITY, floor: 0.0 }
    }

    pub(super) fn curve(curve: &'a Curve) -> Self {
        Self { kind: Kind::Curve(curve), most: f64::INFINITY, floor: 0.0 }
    }

    /// Cut at a rate.
    pub(crate) fn at_most(self, most: f64) -> Self {
        if most < self.saturation() { Self { most, ..self } } else { self }
    }

    /// Raised to a rate, at most where it is cut, from the fair share 0 on.
    pub(crate) fn at_least(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// The rate at a fair share: B(f).
    pub fn bandwidth(&self, fair_share: f64) -> f64 {
        let bandwidth = match self.kind {
            Kind::Weight(weight) => weight * fair_share,
            Kind::Curve(curve) => curve.bandwidth(fair_share),
        };
        bandwidth.min(self.most).max(self.floor)
    }

    /// The smallest fair share that gives a rate up to the saturation; where B is flat there are more.
    pub fn least(&self, rate: f64) -> f64 {
        if rate <= self.floor { 0.0 } else { self.above_floor(rate) }
    }

    /// The smallest fair share that gives a rate, where there is no floor.
    fn above_floor(&self, rate: f64) -> f64 {
        let rate = rate.min(self.most);
        match self.kind {
            Kind::Weight(weight) => rate / weight,
            Kind::Curve(_) if rate == 0.0 => 0.0,
            Kind::Curve(curve) => curve.fair_share(rate.min(curve.saturation())),
        }
    }

    /// The rate beyond which B does not rise; ∞ if it does for ever.
    pub fn saturation(&self) -> f64 {
        match self.kind {
            Kind::Weight(_) => self.most,
            Kind::Curve(curve) => curve.saturation().min(self.most),
        }
        .max(self.floor)
    }

    /// The slope of B just below a fair share.
    pub(crate) fn slope_below(&self, fair_share: f64) -> f64 {
        let below = fair_share * (1.0 - BELOW);
        self.pieces().take_while(|piece| piece[0] <= below).last().map_or(0.0, |[_, _, slope]| slope)
    }

    /// The weight, if it has one and no bounds.
    pub(crate) fn as_weight(&self) -> Option<f64> {
        match self.kind {
            Kind::Weight(weight) if self.most == f64::INFINITY && self.floor == 0.0 => Some(weight),
            _ => None,
        }
    }

    /// Fair share, rate and slope from there on, of every straight piece of B.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = [f64; 3]> + use<'a> {
        let Self { floor, most, .. } = *self;
        let end = if most < f64::INFINITY { self.above_floor(most) } else { f64::INFINITY };
        // Where it leaves the floor.
        let start = match floor {
            0.0 => None,
            _ if floor < self.saturation() => Some(self.above_floor(floor)),
            _ => Some(f64::INFINITY),
        };
        let leaves = start.filter(|&start| start < end).map(|start| {
            let slope = self.without_floor().take_while(|piece| piece[0] <= start).last().map_or(0.0, |piece| piece[2]);
            [start, floor, slope]
        });
        let above = self.without_floor().filter(move |piece| start.is_none_or(|start| piece[0] > start));
        let pieces = start.map(|_| [0.0, floor, 0.0]).into_iter().chain(leaves);
        let pieces = pieces.chain(above.take_while(move |piece| piece[0] < end));
        pieces.chain((end < f64::INFINITY && (floor == 0.0 || floor < most)).then_some([end, most, 0.0]))
    }

    /// The pieces without floor and bound.
    fn without_floor(&self) -> impl Iterator<Item = [f64; 3]> + use<'a> {
        let (weight, curve) = match self.kind {
            Kind::Weight(weight) => (Some([0.0, 0.0, weight]), None),
            Kind::Curve(curve) => (None, Some(curve.pieces())),
        };
        weight.into_iter().chain(curve.into_iter().flatten())
    }
}
