//! The Rust of the pages in docs, as documentation tests.

#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
struct Rust;
