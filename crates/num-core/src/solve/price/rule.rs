//! How the price of one link moves: the interface of the price rules.

use super::links::{LinkState, Links, Memory, sum_links};
use crate::error::Result;

/// Sums over all links, of whatever a rule needs.
pub type Sums = [f64; 8];

/// How the price of one link moves, given its load, its slope and its capacity.
///
/// A rule receives one link at a time, so it runs on any partition of the links. A rule with a step test also receives
/// sums over all links after each step ([`step_sums`](Self::step_sums)), and accepts or refuses the step from these.
/// [`LinkPrices`](super::LinkPrices) runs it.
///
/// ```
/// use netnum_core::price::{LinkState, Memory, PriceRule, Rule};
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, Status, solve};
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
/// let ask = Ask::by_rule("multiplicative", || Rule::user(Multiplicative { gamma: 0.5 }));
/// let solution = solve(&problem, &ask)?;
/// assert_eq!(solution.status, Status::Optimal);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub trait PriceRule: Send + Sync {
    /// The next price of a link: p ← …. The driver cuts a negative or too large one.
    fn advance(&self, link: &LinkState, memory: &mut Memory) -> f64;

    /// Checks that parameters are in their ranges and that the state is reachable by steps. Called before a rule is
    /// used.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for a parameter, [`Error::Snapshot`](crate::Error::Snapshot) for a
    /// state.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether this memory of a link, read from a file, is one that the rule can write.
    fn is_valid_memory(&self, _memory: &Memory) -> bool {
        true
    }

    /// The α that all flows must have, for a rule that is specific to one α.
    fn common_alpha(&self) -> Option<f64> {
        None
    }

    /// Whether the slope of a flow counts once for every priced link of its path, times its coefficients, which makes H
    /// an upper bound of the whole Hessian instead of its diagonal.
    fn counts_priced_links(&self) -> bool {
        false
    }

    /// Whether its memory depends on flows and capacities. [`start`](Self::start) is then called again when these
    /// change.
    fn depends_on_network(&self) -> bool {
        true
    }

    /// Whether [`start`](Self::start) receives the links at a price of 0, all counted as priced, instead of at the
    /// first prices. Each flow's demand is then at its maximum, with the slope of the demand there.
    fn starts_at_zero_prices(&self) -> bool {
        false
    }

    /// Initializes the rule and the memory of every link, before the first step.
    fn start(&mut self, _links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {}

    /// Whether [`accept`](Self::accept) needs the sums of [`step_sums`](Self::step_sums). If not, they are 0 and
    /// `step_sums` is not called.
    fn needs_step_sums(&self) -> bool {
        false
    }

    /// This link's terms of the sums that [`accept`](Self::accept) receives after the step.
    fn step_sums(&self, _link: &LinkState, _memory: &Memory) -> Sums {
        Sums::default()
    }

    /// Whether the step is accepted, given the sums over all links. After thirty refusals the step is accepted.
    fn accept(&mut self, _sums: Sums) -> bool {
        true
    }

    /// After a refusal: a price between the refused one and the last accepted one, from the link's memory.
    fn backtrack(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
        link.price
    }

    /// Whether [`shift`](Self::shift) does anything. Such a rule has a [test](Self::accept) that refuses a step which
    /// went too far: a shift is an estimate.
    #[doc(hidden)]
    fn takes_shifts(&self) -> bool {
        false
    }

    /// Before [`advance`](Self::advance): the price of this link is to move by so much beside the rule's own step, and
    /// those of other links against it, so that the prices of most paths stay. The sum may be below 0.
    /// Engines never call this.
    #[doc(hidden)]
    fn shift(&self, _memory: &mut Memory, _by: f64) {}
}

/// The loops of a rule over consecutive links, compiled for each rule: behind a pointer it costs one call for all
/// links.
pub trait RuleLoops: PriceRule {
    /// The next prices, by [`advance`](PriceRule::advance). Returns whether none was NaN.
    fn advance_all(&self, links: &mut Links<'_>) -> bool;

    /// The sum of [`step_sums`](PriceRule::step_sums).
    fn sum_steps(&self, links: &Links<'_>) -> Sums;

    /// Prices nearer to the last accepted ones, by [`backtrack`](PriceRule::backtrack). Returns whether none was NaN.
    fn backtrack_all(&self, links: &mut Links<'_>) -> bool;
}

impl<R: PriceRule> RuleLoops for R {
    fn advance_all(&self, links: &mut Links<'_>) -> bool {
        links.move_prices(|link, memory| self.advance(link, memory), |_, excess| excess > 0.0)
    }

    fn sum_steps(&self, links: &Links<'_>) -> Sums {
        let Links { capacities, prices, sums, memories, .. } = links;
        sum_links((capacities, prices), sums, memories, |link, memory| self.step_sums(link, memory))
    }

    fn backtrack_all(&self, links: &mut Links<'_>) -> bool {
        links.move_prices(|link, memory| self.backtrack(link, memory), |was_priced, _| was_priced)
    }
}
