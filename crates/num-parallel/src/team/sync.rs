//! What the team is made of: the standard library's, or loom's, which tries every order in which threads can meet.

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
