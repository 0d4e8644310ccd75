//! The endpoint of a host, for programs that know nothing of it: `netnum-agent FILE DEVICE`, on Linux, as root.
//!
//! SIGTERM and SIGINT lift all limits and stop it.

mod program;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Reports the TCP flows of this host to an allocator, and limits each by its rate.
#[derive(Debug, Parser)]
#[command(version)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "it needs Linux, and says so"))]
struct Arguments {
    /// Configuration of the endpoint, in TOML.
    config: PathBuf,
    /// The device by which flows leave, such as eth0. Its root must have no qdisc but the kernel's own.
    device: String,
}

fn main() -> ExitCode {
    program::run(run)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &Arguments) -> Result<(), Box<dyn Error>> {
    Err("netnum-agent needs Linux".into())
}

#[cfg(target_os = "linux")]
fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    use netnum_service::endpoint::{Agent, EndpointConfig};
    use tokio::signal::unix::{SignalKind, signal};

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    // From here on they are waited for: an agent that starts is ended by them as one that runs.
    let signals = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    let agent = Agent::start(&EndpointConfig::read(&arguments.config)?, &arguments.device)?;
    tracing::info!(device = arguments.device, "has the device, and limits its flows once it has reached the allocator");
    runtime.block_on(until_stopped(&agent, signals));
    Ok(agent.stop()?)
}

/// By a signal, or by an error, which the agent has then.
#[cfg(target_os = "linux")]
async fn until_stopped(agent: &netnum_service::endpoint::Agent, signals: [tokio::signal::unix::Signal; 2]) {
    let [mut terminate, mut interrupt] = signals;
    let mut looks = tokio::time::interval(std::time::Duration::from_secs(1));
    while agent.is_running() {
        tokio::select! {
            _ = looks.tick() => {}
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
}
