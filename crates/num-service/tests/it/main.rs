//! Tests of the service, in one program.

#[cfg(target_os = "linux")]
mod agent;
mod allocator;
#[cfg(target_os = "linux")]
mod certificates;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod log;
mod lossy;
mod overload;
mod protocol;
#[cfg(target_os = "linux")]
mod service;
