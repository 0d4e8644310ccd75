//! Tests of the service, in one program.

mod allocator;
#[cfg(target_os = "linux")]
mod certificates;
mod lossy;
mod protocol;
#[cfg(target_os = "linux")]
mod service;
