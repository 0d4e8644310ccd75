//! Locks, atomics and threads of the standard library, or of loom, which tries every order in which threads can meet.

#[cfg(all(test, feature = "loom"))]
pub(super) use loom::{
    hint,
    sync::{Mutex, atomic},
    thread,
};
#[cfg(not(all(test, feature = "loom")))]
pub(super) use std::{
    hint,
    sync::{Mutex, atomic},
    thread,
};
