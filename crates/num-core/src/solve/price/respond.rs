//! The interface below the price iteration: prices down, load and slope per link up.
//!
//! An implementation has the flows and their response; the driver above it, [`LinkPrices`](super::LinkPrices), has the
//! links and the rule. Nothing else crosses, so that the flows may be a loop over rows (`serial.rs`), blocks
//! on the threads of a machine (`netnum-parallel`), or blocks on several machines whose sums are added up.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;

/// How flows respond to prices.
///
/// ```
/// use netnum_core::Result;
/// use netnum_core::internal::{LinkPrices, Respond};
/// use netnum_core::price::Ned;
///
/// /// Flows that each cross one link, one flow per link, with U = w log x: x = w/p, at most twice the capacity of 1.
/// struct OnePerLink { weights: Vec<f64>, rates: Vec<f64> }
///
/// impl Respond for OnePerLink {
///     fn respond(&mut self, prices: &[f64], _priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
///         for (link, sum) in sums.iter_mut().enumerate() {
///             let price = prices[link].max(0.5 * self.weights[link]);
///             self.rates[link] = self.weights[link] / price;
///             *sum = [self.rates[link], self.rates[link] / price];
///         }
///         Ok(())
///     }
///     fn rates_into(&self, rates: &mut [f64]) {
///         rates.copy_from_slice(&self.rates);
///     }
/// }
///
/// let mut flows = OnePerLink { weights: vec![1.0, 3.0], rates: vec![0.0; 2] };
/// let mut links = LinkPrices::new(Ned::new(0.4), vec![1.0, 1.0])?;
/// links.start(&mut flows)?;
/// for _ in 0..100 {
///     links.step(&mut flows)?;
/// }
/// assert!((links.prices()[1] - 3.0).abs() < 1e-9);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub trait Respond: Send {
    /// Finds the rates at these prices, one per link, and replaces `sums` by [load, slope] of every link: Σ a x and
    /// Σ −a² dx/dq over the flows that cross it, q being the price of a path and a what the flow uses of the link per
    /// unit of its rate, its coefficient, which is mostly 1. Where `priced` is given (1 or 0 per link), a flow's slope
    /// counts once for every priced link of its path, but at least once: Σ −a max(Σ a_m, a) dx/dq, with a_m its
    /// coefficients on its priced links.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped) when a token in force is set, or the error that prevents an answer;
    /// the same prices may be given again.
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()>;

    /// The rates of the last response, path by path.
    fn rates_into(&self, rates: &mut [f64]);

    /// Forgets what it learned from earlier responses, before a first step.
    ///
    /// # Errors
    /// Those of [`respond`](Self::respond).
    fn restart(&mut self) -> Result<()> {
        Ok(())
    }

    /// The last response was accepted, for flows that remember how they split over their paths.
    fn accepted(&mut self) {}
}

/// One flow with one path as loops over many of them compute its response: x = w/q or x = exp(log w − (log q)/α).
///
/// The path price q is at least `floor`, at which the rate reaches its ceiling. A [`PowerLaw`](crate::PowerLaw) gives
/// one, and so does a flow of a problem in natural units, whose w itself may be beyond what a float holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerDemand {
    /// Which of the two forms it is: the first needs α = 1, and takes one division.
    pub is_log: bool,
    /// w of the first form, log w of the second.
    pub scale: f64,
    /// 1/α.
    pub exponent: f64,
    /// U' at the ceiling of the rate, > 0; ∞ for a flow that gets no rate at any price.
    pub floor: f64,
}

/// The demands of consecutive flows, all logs or none, column by column.
#[derive(Debug, Clone)]
pub struct PowerDemands<'a> {
    /// The flows.
    pub flows: Range<usize>,
    /// [`PowerDemand::scale`] of every flow.
    pub scales: Cow<'a, [f64]>,
    /// [`PowerDemand::exponent`] of every flow; empty for logs.
    pub exponents: Vec<f64>,
    /// [`PowerDemand::floor`] of every flow.
    pub floors: &'a [f64],
}

impl PowerDemands<'_> {
    /// Whether α = 1.
    pub fn are_logs(&self) -> bool {
        self.exponents.is_empty()
    }

    /// The demand of one of the flows.
    ///
    /// # Panics
    /// If it is none of them.
    #[inline]
    pub fn of(&self, flow: usize) -> PowerDemand {
        let place = flow - self.flows.start;
        let exponent = self.exponents.get(place).copied().unwrap_or(1.0);
        PowerDemand { is_log: self.are_logs(), scale: self.scales[place], exponent, floor: self.floors[place] }
    }
}
