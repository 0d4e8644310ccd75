//! Methods that only move prices: flows respond (rates from prices), links add up (load and slope), every price moves.
//!
//! ```text
//! q_s = Σ_{l ∈ s} p_l      x_s = (U_s')⁻¹(q_s)      D_s = −dx_s/dq_s
//! y_l = Σ_{s ∋ l} x_s      H_l = Σ_{s ∋ l} D_s
//!
//!              LinkPrices: start · advance · step sums · accept | backtrack
//! PriceRule ──►      │ prices p            ▲ [y, H] per link
//!                    ▼                     │
//!              Respond: the flows; a loop over rows here, flow blocks on threads in netnum-parallel
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `rule.rs`, `links.rs` | how the price of a link moves: the trait, and its loops over columns |
//! | `link_prices.rs`, `snapshot.rs` | the only driver of a rule; the same as plain data |
//! | `flat_directions.rs` | flat directions of large fabrics |
//! | `respond.rs` | the interface to the flows |
//! | `serial.rs`, `rows.rs`, `path_split.rs` | the loop over rows; flows that split over several paths |
//! | `reduced.rs` | flows of several processes |
//! | `rules.rs` | rules by name; each has a file of its own, and a line in the list below |
//! | `method.rs` | a rule as a method of the solver |

mod delayed;
mod fast_ned;
mod fgm;
mod flat_directions;
mod gradient;
mod link_prices;
mod links;
mod method;
mod ned;
mod newton_like;
mod path_split;
mod rcp;
mod reduced;
mod respond;
mod rows;
mod rule;
mod rules;
mod serial;
mod snapshot;

pub use delayed::Delayed;
pub use fast_ned::FastNed;
pub use fgm::Fgm;
pub use gradient::Gradient;
pub use link_prices::LinkPrices;
pub(crate) use links::CEILING;
pub use links::{LARGEST_PRICE, LARGEST_SUM, LinkState, Links, Memory, UNLIMITED};
pub use ned::Ned;
pub use newton_like::NewtonLike;
pub use rcp::Rcp;
pub use reduced::Reduced;
pub use respond::{PowerDemand, PowerDemands, Respond};
use rule::RuleLoops;
pub use rule::{PriceRule, Sums};
pub use rules::RuleSetup;
pub use snapshot::PricesSnapshot;

pub(super) use link_prices::value_of_excess;
use links::are_sums;
pub(super) use links::{MOST_REFUSALS, at_least, cut, newton_step};
pub(super) use method::{PriceMethod, first_alpha};
pub(super) use path_split::Bounds;
use rules::rules;
pub(in crate::solve) use rules::{DELAY, MakeRule, RuleInfo, RuleOf, gamma};
pub(super) use serial::{Serial, bounds};

rules! {
    FastNed(FastNed),
    Ned(Ned),
    Gradient(Delayed<Gradient>),
    Fgm(Fgm),
    NewtonLike(NewtonLike),
    Rcp(Delayed<Rcp>),
}
