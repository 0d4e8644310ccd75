//! Tests of the service, in one program.

#[cfg(target_os = "linux")]
mod agent;
mod allocator;
#[cfg(target_os = "linux")]
mod certificates;
#[cfg(target_os = "linux")]
mod client;
mod lossy;
mod overload;
mod protocol;
#[cfg(target_os = "linux")]
mod service;
