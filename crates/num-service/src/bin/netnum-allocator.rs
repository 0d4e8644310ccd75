//! The allocator of a network, as a daemon: `netnum-allocator FILE`.
//!
//! SIGHUP reads the network again; SIGTERM and SIGINT write the snapshot and stop. Where there are no such signals it
//! does not run.

mod program;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use netnum_service::daemon::{Config, Daemon};

/// Computes the rates of the flowlets that endpoints report, and sends them.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Configuration, in TOML.
    config: PathBuf,
    /// Reads the configuration and all files that it names, and says what is wrong.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    program::run(run)
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = Config::read(&arguments.config)?;
    if arguments.check {
        println!("{}", config.check()?);
        return Ok(());
    }
    let daemon = Daemon::start(&config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(until_stopped(&daemon, &config, &arguments.config))?;
    daemon.stop();
    Ok(())
}

#[cfg(not(unix))]
async fn until_stopped(_: &Daemon, _: &Config, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("netnum-allocator needs the signals of Unix"))
}

#[cfg(unix)]
async fn until_stopped(daemon: &Daemon, config: &Config, file: &Path) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut reload = signal(SignalKind::hangup())?;
    let mut stops = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    let [terminate, interrupt] = &mut stops;
    // From here on signals are waited for.
    tracing::info!(address = %daemon.address(), "listens");
    let mut looks = tokio::time::interval(std::time::Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = looks.tick() => if !daemon.is_running() {
                return Err(std::io::Error::other("the allocator has ended"));
            },
            _ = reload.recv() => read_again(daemon, config, file),
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        }
    }
}

/// The network; of what else has changed it says that a restart takes it.
#[cfg(unix)]
fn read_again(daemon: &Daemon, config: &Config, file: &Path) {
    match Config::read(file) {
        Ok(new) if new == *config => {}
        Ok(_) => tracing::warn!(file = %file.display(), "has changed, which a restart takes"),
        Err(error) => tracing::warn!(%error, "a restart would end with this error"),
    }
    if daemon.has_other_hosts(config) {
        tracing::warn!(file = %config.hosts.display(), "has changed, which a restart takes");
    }
    match daemon.reload(config) {
        Ok(()) => tracing::info!("the network was read again"),
        Err(error) => tracing::error!(%error, "the network stays as it was"),
    }
}
