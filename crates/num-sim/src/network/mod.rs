//! The network of the moment: its capacities and loads, the flows on it with their routes and sources, and what
//! congested links mark. It is given to routings and policies, and depends on neither.

mod congestion;
mod flows;
mod link_totals;
mod marking;
mod route;
mod source;
mod state;

pub(crate) use congestion::CongestionMarks;
pub use flows::{Flow, Flows};
pub(crate) use link_totals::LinkTotals;
pub use marking::{Marking, Marks};
pub use route::Route;
pub(crate) use source::Source;
pub use state::NetworkState;
