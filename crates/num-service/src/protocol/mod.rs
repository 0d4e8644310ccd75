//! Flowtune's protocol: an endpoint and an allocator that keep each other's newest state, without I/O and without a
//! clock of their own. `docs/reference/protocol.md` states it for whoever writes another endpoint.
//!
//! | file | what it does |
//! |---|---|
//! | `datagram.rs` | every field, to bytes and back |
//! | `short.rs` | rates in 16 bits |
//! | `outbox.rs` | states that are told until they are acknowledged |
//! | `channel.rs` | sequence numbers, and when a datagram is due |
//! | `endpoint.rs` | the side that has flowlets, and paces them |
//! | `session.rs` | the side that has rates, for one endpoint |
//!
//! Rules, each of which both sides keep:
//!
//! 1. A datagram that is older than one already received is dropped, as if it were lost.
//! 2. What was lost is never sent again: every datagram carries the newest state of whatever is not acknowledged.
//! 3. An allocator's datagram that leaves nothing out renews all rates of its session, from the time at which the
//!    endpoint *sent* the datagram that it acknowledges. No clocks are compared, and a delayed datagram renews nothing.
//! 4. The allocator ends the flowlets of an endpoint that it has not heard of for a lifetime: their rates have expired.
//!
//! Time is a [`Duration`](std::time::Duration) since any moment, and never goes back.

mod channel;
mod datagram;
mod endpoint;
mod outbox;
mod session;
mod short;

pub use datagram::{Damaged, END, Flowlet, HEADER, MAX_DATAGRAM, RATE, START, Session, VERSION};
pub use endpoint::EndpointProtocol;
pub use session::{EndpointSession, Event};
pub use short::Short;

/// Gives the numbers of sessions, which nobody has to guess right by chance.
pub type Random = Box<dyn FnMut() -> u32 + Send>;
