//! How the price of one link moves: the seam of the price rules.

use super::links::{LinkState, Links, Memory};
use crate::error::Result;

/// Sums over all links, of whatever a rule needs.
pub type Sums = [f64; 8];

/// How the price of one link moves, given its load, its slope and its capacity.
///
/// A rule is given one link at a time, so that every rule runs on any partition of the links. Of the whole network it
/// is given sums over links, from which it accepts or refuses the last step. [`LinkPrices`](super::LinkPrices) runs it.
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

    /// Whether its parameters are in their ranges and its state is one that steps can lead to. Called before a rule is
    /// used.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for a parameter, [`Error::Snapshot`](crate::Error::Snapshot) for a
    /// state.
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

    /// Whether it must [`start`](Self::start) again where flows or capacities have changed, because what it remembers
    /// is of another network.
    fn learns_at_start(&self) -> bool {
        true
    }

    /// Whether [`start`](Self::start) is given the links at a price of 0, all counted as priced, instead of at the
    /// first prices: each flow then demands the most it ever does, with the slope that its demand has there.
    fn starts_at_free_links(&self) -> bool {
        false
    }

    /// Is given all links once before the first step, each with its memory.
    fn start(&mut self, _links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {}

    /// Whether [`accept`](Self::accept) needs the sums of [`judge`](Self::judge). If not, these are 0 and `judge` is
    /// not called.
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
