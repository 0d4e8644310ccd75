//! Flowtune as a running system: an allocator that hosts talk to, and endpoints that pace their sockets at its rates.
//!
//! | folder | what it does |
//! |---|---|
//! | `protocol/` | state machines of both sides, without I/O |
//! | `allocator/` | flowlets of all endpoints in, rates out, without I/O |
//! | `daemon/` | the allocator as a process: QUIC, ticks, metrics, reload, snapshots |
//! | `endpoint/` | sockets that are watched and paced, an agent that limits all flows of a host (Linux) |
//! | `tls.rs` | certificates of both sides |
//! | `seldom.rs` | what is logged once a minute |
//!
//! Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §5.1 and §6. What is not done here: kernel bypass and
//! IPv6.
#![deny(unsafe_code)]

pub mod allocator;
pub mod daemon;
#[cfg(target_os = "linux")]
pub mod endpoint;
pub mod protocol;
mod seldom;
mod tls;

pub use tls::{BadCertificates, Certificates};

/// Numbers for sessions, from the keys that the standard library draws for its hash maps.
pub(crate) fn random() -> protocol::Random {
    use std::hash::{BuildHasher, RandomState};
    let mut drawn = 0_u64;
    let keys = RandomState::new();
    Box::new(move || {
        drawn += 1;
        keys.hash_one(drawn) as u32
    })
}

/// A number of microseconds in a file.
pub(crate) fn microseconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<std::time::Duration, D::Error> {
    <u64 as serde::Deserialize>::deserialize(deserializer).map(std::time::Duration::from_micros)
}
