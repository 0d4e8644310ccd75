//! What max-min fairness compares: the rate that a flow gets at a common fair share.

use super::bandwidth_function::Curve;

/// A flow's rate as a function of the fair share f that all flows have in common: not decreasing, piecewise linear.
#[derive(Debug, Clone, Copy)]
pub struct FairShare<'a>(Kind<'a>);

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Weight(f64),
    Curve(&'a Curve),
}

impl<'a> FairShare<'a> {
    /// B(f) = w f, for a finite weight w > 0.
    pub fn weight(weight: f64) -> Self {
        Self(Kind::Weight(weight))
    }

    pub(super) fn curve(curve: &'a Curve) -> Self {
        Self(Kind::Curve(curve))
    }

    /// The rate at a fair share: B(f).
    pub fn bandwidth(&self, fair_share: f64) -> f64 {
        match self.0 {
            Kind::Weight(weight) => weight * fair_share,
            Kind::Curve(curve) => curve.bandwidth(fair_share),
        }
    }

    /// The smallest fair share that gives a rate up to the saturation; where B is flat there are more.
    pub fn least(&self, rate: f64) -> f64 {
        match self.0 {
            Kind::Weight(weight) => rate / weight,
            Kind::Curve(_) if rate == 0.0 => 0.0,
            Kind::Curve(curve) => curve.fair_share(rate.min(curve.saturation())),
        }
    }

    /// The rate beyond which B does not rise; ∞ if it does for ever.
    pub fn saturation(&self) -> f64 {
        match self.0 {
            Kind::Weight(_) => f64::INFINITY,
            Kind::Curve(curve) => curve.saturation(),
        }
    }

    /// The weight, if it has one.
    pub(crate) fn as_weight(&self) -> Option<f64> {
        match self.0 {
            Kind::Weight(weight) => Some(weight),
            Kind::Curve(_) => None,
        }
    }

    /// Fair share, rate and slope from there on, of every straight piece of B.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = [f64; 3]> + use<'a> {
        let (weight, curve) = match self.0 {
            Kind::Weight(weight) => (Some([0.0, 0.0, weight]), None),
            Kind::Curve(curve) => (None, Some(curve.pieces())),
        };
        weight.into_iter().chain(curve.into_iter().flatten())
    }
}
