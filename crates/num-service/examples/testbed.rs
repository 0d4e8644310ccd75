//! The paper's experiments of §5.1 on network namespaces of this machine, as root: `make testbed`.
//!
//! ```text
//! sender 1 … 8 ──veth──┐
//!                     bridge, allocator ──tbf, 200 Mbit/s──► receiver
//! ```
//!
//! Ten namespaces: eight senders, the bridge, the receiver. CUBIC, Reno, BBR, netnum (CUBIC, paced at the allocator's
//! rates) and its agent (CUBIC of programs that know nothing of it) run the same schedule, one after another. Figures
//! are written into `target/testbed.json`, tables into `docs/testbed.md`. Traffic stays within the namespaces, at most
//! 200 Mbit/s for at most seven minutes.

#[cfg(target_os = "linux")]
#[path = "../tests/it/certificates.rs"]
mod certificates;

#[cfg(target_os = "linux")]
#[path = "testbed/linux.rs"]
mod linux;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
    #[cfg(not(target_os = "linux"))]
    eprintln!("the testbed needs network namespaces, which only Linux has");
}
