//! How the price of one link moves: the seam of the price rules.

use super::links::Links;
use crate::error::Result;

/// One link, as a price rule sees it.
///
/// The units are those of the iteration that runs the rule: natural units in [`solve`](crate::solve()) and
/// [`Solver`](crate::Solver), where rates and prices are near 1 whatever the problem's units are; the caller's units in
/// an engine or allocator of `netnum-parallel`. A rule without constants of a unit of its own behaves alike in both.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LinkState {
    /// c_l ≥ 0; 0 for a failed link.
    pub capacity: f64,
    /// p_l ≥ 0.
    pub price: f64,
    /// y_l: the sum of what flows demand at the present prices.
    pub load: f64,
    /// H_l ≥ 0: by how much the load falls per unit of price.
    pub slope: f64,
    /// G_l/H_l, the price change that would balance this link if the others did not move.
    pub newton_step: f64,
}

impl LinkState {
    /// A link and its Newton step.
    pub fn new(capacity: f64, price: f64, load: f64, slope: f64) -> Self {
        Self { capacity, price, load, slope, newton_step: newton_step(load - capacity, slope) }
    }

    /// G_l = y_l − c_l.
    #[inline(always)]
    pub fn excess(&self) -> f64 {
        self.load - self.capacity
    }
}

/// G/H; a number also for a link that no flow responds to.
#[inline(always)]
pub(in crate::solve) fn newton_step(excess: f64, slope: f64) -> f64 {
    excess / at_least(slope, SMALLEST_SLOPE)
}

/// max, but of its two forms the one that takes one instruction, and lets through what is not a number.
#[inline(always)]
pub(in crate::solve) fn at_least(value: f64, least: f64) -> f64 {
    if least > value { least } else { value }
}

const SMALLEST_SLOPE: f64 = 1e-200;

/// Loads, slopes and what is remembered of them lie within this, so that sums and products of two are numbers.
pub const LARGEST_SUM: f64 = 1e250;

/// Prices beyond this are cut, so that sums over long paths stay finite.
pub const LARGEST_PRICE: f64 = 1e200;

/// A price within what prices can be; what is not a number stays so.
pub(in crate::solve) fn cut(price: f64) -> f64 {
    price.clamp(0.0, LARGEST_PRICE)
}

/// What a rule remembers of one link: six numbers for it to use as it likes, all 0 before the first step.
pub type Memory = [f64; 6];

/// Sums over all links, of whatever a rule needs.
pub type Sums = [f64; 8];

/// Whether numbers that a rule remembers are ones that loads, slopes and prices can lead to.
pub(super) fn are_sums(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.abs() <= LARGEST_SUM)
}

/// How the price of one link moves, given its load, its slope and its capacity.
///
/// A rule sees one link at a time, so that every rule runs on any partition of the links. What it may know of the whole
/// network are sums over links, from which it accepts or refuses the last step. [`LinkPrices`](super::LinkPrices) runs it.
///
/// ```
/// use netnum_core::price::{LinkState, Memory, PriceRule, Rule};
/// use netnum_core::{AlphaFair, Paths, Problem, Settings, Solver, Status};
///
/// /// Prices follow the utilization: p ← p (1 + γ (y/c − 1)).
/// struct Multiplicative { gamma: f64 }
///
/// impl PriceRule for Multiplicative {
///     fn advance(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
///         link.price * (1.0 + self.gamma * (link.load / link.capacity - 1.0))
///     }
/// }
///
/// let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
/// let problem = Problem::new(vec![1.0, 1.0], paths, AlphaFair::proportional())?;
/// let rule = Rule::user(Multiplicative { gamma: 0.5 });
/// let solution = Solver::with_rule(&problem, "multiplicative", rule)?.run(&Settings::default(), &mut ())?;
/// assert_eq!(solution.status, Status::Optimal);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub trait PriceRule: Send + Sync {
    /// The next price of a link: p ← …. The driver cuts a negative or too large one.
    fn advance(&self, link: &LinkState, memory: &mut Memory) -> f64;

    /// Whether its parameters are in their ranges and its state is one that steps can lead to. Asked before a rule is
    /// used.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for a parameter, [`Error::Snapshot`](crate::Error::Snapshot) for a state.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether it can have left this memory of a link, which was read from a file.
    fn could_leave(&self, _memory: &Memory) -> bool {
        true
    }

    /// The α that all flows must have, for a rule that is made for one.
    fn common_alpha(&self) -> Option<f64> {
        None
    }

    /// Whether the slope of a flow counts once for every priced link of its path, which makes H an upper bound of the
    /// whole Hessian instead of its diagonal.
    fn counts_priced_links(&self) -> bool {
        false
    }

    /// Whether it must [`start`](Self::start) again where flows or capacities have changed, because what it remembers is
    /// of another network.
    fn learns_at_start(&self) -> bool {
        true
    }

    /// Whether [`start`](Self::start) is given the links at a price of 0, all counted as priced, instead of at the first
    /// prices: each flow then demands the most it ever does, with the slope that its demand has there.
    fn starts_at_free_links(&self) -> bool {
        false
    }

    /// Sees all links once before the first step, each with its memory.
    fn start(&mut self, _links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {}

    /// Whether [`accept`](Self::accept) needs the sums of [`judge`](Self::judge). If not, these are 0 and `judge` is not
    /// called.
    fn judges(&self) -> bool {
        false
    }

    /// This link's part of the sums that [`accept`](Self::accept) decides on, after the step.
    fn judge(&self, _link: &LinkState, _memory: &Memory) -> Sums {
        Sums::default()
    }

    /// Whether the step stands, given the sums over all links. After thirty refusals it stands without a question.
    fn accept(&mut self, _sums: Sums) -> bool {
        true
    }

    /// After a refusal: the price to try instead, from the memory of the link's last accepted point.
    fn retreat(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
        link.price
    }

    /// [`advance`](Self::advance) for consecutive links. The provided loop is compiled for each rule, so that a rule
    /// behind a pointer costs one call for all links. Returns whether all next prices were numbers.
    fn advance_all(&self, links: &mut Links<'_>) -> bool {
        links.move_prices(|link, memory| self.advance(link, memory), |_, excess| excess > 0.0)
    }

    /// The sum of [`judge`](Self::judge) over consecutive links.
    fn judge_all(&self, links: &Links<'_>) -> Sums {
        let mut sums = Sums::default();
        for (place, memory) in links.memories.iter().enumerate() {
            for (sum, part) in sums.iter_mut().zip(self.judge(&links.state(place), memory)) {
                *sum += part;
            }
        }
        sums
    }

    /// [`retreat`](Self::retreat) for consecutive links. Returns whether all next prices were numbers.
    fn retreat_all(&self, links: &mut Links<'_>) -> bool {
        links.move_prices(|link, memory| self.retreat(link, memory), |was_priced, _| was_priced)
    }
}
