//! The network of the moment: its capacities and loads, the flows on it with their routes and sources, and what
//! congested links mark. Routings and policies see it; it depends on neither.

mod congestion;
mod flows;
mod ledger;
mod marking;
mod route;
mod source;
mod state;

pub(crate) use congestion::CongestionMarks;
pub(crate) use flows::PACKET;
pub use flows::{Flow, Flows};
pub(crate) use ledger::Ledger;
pub use marking::{Marking, Marks};
pub use route::Route;
pub(crate) use source::Source;
pub use state::NetworkState;
