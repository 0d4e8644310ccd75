//! The rate of every flow while the common fair share rises: y_f = B_f(t), linear between breakpoints, until the flow
//! is fixed.
//!
//! ```text
//! y_f(t) = b + slope (t − f)      on the piece of B_f that begins at (f, b)
//! t = base + above                base: the last breakpoint of any flow that was passed
//! ```
//!
//! As t is kept relative to the last breakpoint, rates are exact to rounding however steep a piece is. Fair shares are
//! counted in a unit in which the steepest slope is about 1.

use super::network::Network;
use crate::double_double::DoubleDouble;
use crate::utility::FairShare;
use crate::water_fill::{LEAST, power_of_two};

#[derive(Debug, Clone, Copy)]
struct Piece {
    fair_share: f64,
    rate: f64,
    slope: f64,
}

#[derive(Debug, Clone)]
pub(super) struct RisingRates {
    /// The pieces of all flows, those of flow `f` from `first[f]` on; the one that each is on.
    pieces: Vec<Piece>,
    first: Vec<usize>,
    current: Vec<usize>,
    /// The rate of every flow that is fixed.
    fixed: Vec<Option<DoubleDouble>>,
    /// Where pieces begin, by fair share; those before `passed` have been.
    breakpoints: Vec<(f64, u32)>,
    passed: usize,
    base: f64,
    above: f64,
    /// Flows that are not fixed.
    rising: usize,
    /// The unit of slopes, and of rates.
    steepest: f64,
    unit: f64,
}

impl RisingRates {
    /// At the fair share 0, for one fair share per flow. Flows without an open path are fixed at 0.
    pub(super) fn new(shares: &[FairShare], network: &Network) -> Self {
        let unit = network.unit;
        let slopes = shares.iter().flat_map(|share| share.pieces()).map(|[_, _, slope]| slope);
        let steepest = power_of_two(slopes.fold(0.0, f64::max));
        let mut this = Self {
            pieces: Vec::with_capacity(shares.len()),
            first: vec![0],
            current: Vec::with_capacity(shares.len()),
            fixed: vec![None; shares.len()],
            breakpoints: Vec::new(),
            passed: 0,
            base: 0.0,
            above: 0.0,
            rising: shares.len(),
            steepest,
            unit,
        };
        for (flow, share) in shares.iter().enumerate() {
            this.current.push(this.pieces.len());
            for [fair_share, rate, slope] in share.pieces() {
                let slope = if slope > 0.0 { (slope / steepest).max(LEAST) } else { 0.0 };
                let piece = Piece { fair_share: fair_share * (steepest / unit), rate: rate / unit, slope };
                if piece.fair_share > 0.0 && this.pieces.len() == this.current[flow] {
                    this.pieces.push(Piece { fair_share: 0.0, rate: 0.0, slope: 0.0 });
                }
                if piece.fair_share > 0.0 && piece.fair_share.is_finite() {
                    this.breakpoints.push((piece.fair_share, flow as u32));
                }
                this.pieces.push(piece);
            }
            this.first.push(this.pieces.len());
            // A curve that ends at a fair share that rounds to 0 does not rise.
            let is_flat = this.first[flow + 1] - this.first[flow] == 1 && this.pieces[this.first[flow]].slope == 0.0;
            if network.paths_of(flow).is_empty() || is_flat {
                this.hold(flow, 0.0);
            }
        }
        this.breakpoints.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        this
    }

    /// Number of breakpoints there are.
    pub(super) fn breakpoints(&self) -> usize {
        self.breakpoints.len()
    }

    /// Number of flows that are not fixed.
    pub(super) fn rising(&self) -> usize {
        self.rising
    }

    pub(super) fn is_fixed(&self, flow: usize) -> bool {
        self.fixed[flow].is_some()
    }

    /// Rate of a flow.
    pub(super) fn rate(&self, flow: usize) -> f64 {
        match self.fixed[flow] {
            Some(rate) => rate.value(),
            None => self.rate_at(flow, self.above),
        }
    }

    /// Rate of a flow beyond doubles: where paths use links differently, a flow may be 10¹² times as far off as the
    /// flows before it are.
    pub(super) fn exact_rate(&self, flow: usize) -> DoubleDouble {
        self.fixed[flow].unwrap_or_else(|| self.exact_rate_at(flow, DoubleDouble::new(self.above)))
    }

    fn exact_rate_at(&self, flow: usize, above: DoubleDouble) -> DoubleDouble {
        let Piece { fair_share, rate, slope } = self.pieces[self.current[flow]];
        let mut exact = DoubleDouble::new(rate);
        if slope > 0.0 {
            let mut share = above;
            [self.base, -fair_share].into_iter().for_each(|part| share.add(part));
            exact.add_multiple(slope, share);
        }
        exact
    }

    fn rate_at(&self, flow: usize, above: f64) -> f64 {
        self.start(flow) + self.pieces[self.current[flow]].slope * above
    }

    /// The rate of a flow that is fixed, if it is to have no more than at some fair share, and how that rises there.
    pub(super) fn lowered(&self, flow: usize, fair_share: f64) -> (f64, f64) {
        let pieces = &self.pieces[self.first[flow]..=self.current[flow]];
        let piece = match pieces {
            [piece] => piece,
            _ => match pieces.iter().rev().find(|piece| piece.fair_share <= fair_share) {
                Some(piece) => piece,
                None => return (0.0, 0.0),
            },
        };
        let rises = piece.slope > 0.0;
        let rate = piece.rate + if rises { piece.slope * (fair_share - piece.fair_share) } else { 0.0 };
        let fixed = self.rate(flow);
        if rate < fixed { (rate, piece.slope) } else { (fixed, 0.0) }
    }

    /// Gives a flow that is fixed another rate.
    pub(super) fn set_rate(&mut self, flow: usize, rate: f64) {
        self.fixed[flow] = Some(DoubleDouble::new(rate));
    }

    /// What it was when the last breakpoint was passed.
    pub(super) fn start(&self, flow: usize) -> f64 {
        let Piece { fair_share, rate, slope } = self.pieces[self.current[flow]];
        rate + if slope > 0.0 { slope * (self.base - fair_share) } else { 0.0 }
    }

    /// Its rate as a line over the fair share, on the piece that it is on: at 0, and how steep.
    pub(super) fn line(&self, flow: usize) -> (f64, f64) {
        match self.fixed[flow] {
            Some(rate) => (rate.value(), 0.0),
            None => {
                let Piece { fair_share, rate, slope } = self.pieces[self.current[flow]];
                (rate - slope * fair_share, slope)
            }
        }
    }

    /// By how much its rate rises with the fair share.
    pub(super) fn slope(&self, flow: usize) -> f64 {
        if self.is_fixed(flow) { 0.0 } else { self.pieces[self.current[flow]].slope }
    }

    /// The fair share that far above the last breakpoint, in the caller's units.
    pub(super) fn fair_share(&self, above: f64) -> f64 {
        ((self.base + above) / self.steepest * self.unit).min(f64::MAX)
    }

    /// The last breakpoint that was passed.
    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// How far the fair share is above the last breakpoint.
    pub(super) fn above(&self) -> f64 {
        self.above
    }

    /// Puts the fair share that far above the last breakpoint.
    pub(super) fn set_above(&mut self, above: f64) {
        self.above = above;
    }

    /// How far it is from the present fair share to the next breakpoint of a flow that rises.
    pub(super) fn distance_to_breakpoint(&mut self) -> Option<f64> {
        while self.passed < self.breakpoints.len() && self.is_fixed(self.breakpoints[self.passed].1 as usize) {
            self.passed += 1;
        }
        self.breakpoints.get(self.passed).map(|&(breakpoint, _)| (breakpoint - self.base - self.above).max(0.0))
    }

    /// The flow of the next breakpoint, after [`distance_to_breakpoint`](Self::distance_to_breakpoint) has found one.
    pub(super) fn breakpoint_flow(&self) -> usize {
        self.breakpoints[self.passed].1 as usize
    }

    /// Goes to the next breakpoint. Returns its flow, its slope before and its slope from there on; one that has all it
    /// can use is fixed.
    pub(super) fn pass_breakpoint(&mut self) -> (usize, f64, f64) {
        let (breakpoint, flow) = self.breakpoints[self.passed];
        let flow = flow as usize;
        self.passed += 1;
        (self.base, self.above) = (breakpoint, 0.0);
        let before = self.slope(flow);
        self.current[flow] += 1;
        if self.current[flow] + 1 == self.first[flow + 1] && self.slope(flow) == 0.0 {
            self.hold(flow, 0.0);
        }
        (flow, before, self.slope(flow))
    }

    /// Leaves a flow for good at the rate that it has so far above the last breakpoint.
    pub(super) fn hold(&mut self, flow: usize, above: f64) {
        self.hold_at(flow, DoubleDouble::new(above));
    }

    /// As [`hold`](Self::hold), beyond doubles.
    pub(super) fn hold_at(&mut self, flow: usize, above: DoubleDouble) {
        if self.fixed[flow].is_none() {
            self.fixed[flow] = Some(self.exact_rate_at(flow, above));
            self.rising -= 1;
        }
    }
}
