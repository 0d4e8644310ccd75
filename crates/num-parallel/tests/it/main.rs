//! Tests of threads and allocators through the public face, one program: every file is a module.

mod allocator;
mod common;
mod engine;
mod floors;
mod k_shortest;
mod long_life;
mod many;
mod ranks;
mod scenarios;
mod sensitivity;
mod several;
mod snapshots;
mod solve;
