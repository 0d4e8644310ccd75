//! Methods that only move prices: flows respond (rates from prices), links add up (load and slope), every price moves.
//!
//! ```text
//! q_s = Σ_{l ∈ s} a_ls p_l      x_s = (U_s')⁻¹(q_s)      D_s = −dx_s/dq_s
//! y_l = Σ_{s ∋ l} a_ls x_s      H_l = Σ_{s ∋ l} a_ls² D_s
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
//! | `rules/` | the rules of the library: a file each, and the list of them |
//! | `method.rs` | a rule as a method of the solver |

mod flat_directions;
mod link_prices;
mod links;
mod method;
pub(crate) mod path_split;
mod reduced;
mod respond;
mod rows;
mod rule;
pub(crate) mod rules;
mod serial;
mod snapshot;

pub use link_prices::LinkPrices;
pub(crate) use links::CEILING;
pub use links::{LARGEST_PRICE, LARGEST_SUM, LinkState, Links, Memory, UNLIMITED};
pub use reduced::Reduced;
pub use respond::{PowerDemand, PowerDemands, Respond};
use rule::RuleLoops;
pub use rule::{PriceRule, Sums};
pub(crate) use rules::*;
pub use snapshot::PricesSnapshot;

pub(super) use link_prices::value_of_excess;
use links::are_sums;
pub(super) use links::{MOST_REFUSALS, at_least, cut, newton_step};
pub(super) use method::{PriceMethod, first_alpha};
pub(super) use path_split::Bounds;
pub(super) use serial::{Serial, bounds};
