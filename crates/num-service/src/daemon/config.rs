//! The file of an operator, in TOML.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use netnum_core::Topology;
use serde::Deserialize;

use crate::allocator::{FlowletAllocator, Hosts, RateSettings};
use crate::random;
use crate::tls::{BadCertificates, Certificates};

/// How an allocator runs. Files are relative to the folder of this one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where endpoints reach it, over UDP.
    pub listen: SocketAddr,
    /// Where its status page and metrics are, over HTTP without authentication; none where not given.
    pub status: Option<SocketAddr>,
    /// The network: lines of `node node capacity`, or a topology of the library as JSON. Capacities are bits per
    /// second.
    pub network: PathBuf,
    /// Addresses, names and nodes of endpoints, see [`Hosts`].
    pub hosts: PathBuf,
    /// Where the state is written when the allocator stops, and read when it starts.
    pub snapshot: Option<PathBuf>,
    /// Certificates.
    pub tls: Certificates,
    /// Ticks, lifetimes, and the iteration.
    #[serde(default)]
    pub rates: RateSettings,
}

/// A configuration that cannot be used: a file and what is wrong, or an error of the system.
#[derive(Debug)]
pub struct BadConfig {
    file: Option<PathBuf>,
    what: String,
}

impl BadConfig {
    pub(super) fn file(file: &Path, what: impl fmt::Display) -> Self {
        Self { file: Some(file.into()), what: what.to_string() }
    }
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}: {}", file.display(), self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for BadConfig {}

impl From<std::io::Error> for BadConfig {
    fn from(error: std::io::Error) -> Self {
        Self { file: None, what: error.to_string() }
    }
}

impl From<BadCertificates> for BadConfig {
    fn from(error: BadCertificates) -> Self {
        Self { file: None, what: error.to_string() }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`BadConfig`] names the file, and the line of what is wrong.
    pub fn read(file: &Path) -> Result<Self, BadConfig> {
        let mut this: Self = toml::from_str(&read(file)?).map_err(|error| BadConfig::file(file, error))?;
        this.rates.check().map_err(|error| BadConfig::file(file, error))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        for file in [&mut this.network, &mut this.hosts].into_iter().chain(&mut this.snapshot) {
            *file = folder.join(&*file);
        }
        this.tls = this.tls.within(folder);
        Ok(this)
    }

    /// The network of its file.
    ///
    /// # Errors
    /// [`BadConfig`] names the file.
    pub fn network(&self) -> Result<Topology, BadConfig> {
        let text = read(&self.network)?;
        if text.trim_start().starts_with('{') {
            serde_json::from_str(&text).map_err(|error| BadConfig::file(&self.network, error))
        } else {
            Topology::from_edges(&text).map_err(|error| BadConfig::file(&self.network, error))
        }
    }

    /// Reads all files that it names, without listening. Returns a line that says what network it is.
    ///
    /// # Errors
    /// [`BadConfig`], as [`Daemon::start`](super::Daemon::start).
    pub fn check(&self) -> Result<String, BadConfig> {
        self.tls.server(self.rates.lifetime)?;
        let allocator = self.allocator()?;
        Ok(format!("{}; {} endpoints", allocator.network(), allocator.hosts().all().len()))
    }

    pub(super) fn allocator(&self) -> Result<FlowletAllocator, BadConfig> {
        self.rates.check().map_err(|error| BadConfig { file: None, what: error.to_string() })?;
        let net = self.network()?;
        let hosts = Hosts::read(&read(&self.hosts)?, &net).map_err(|error| BadConfig::file(&self.hosts, error))?;
        if let Some(snapshot) = self.snapshot.as_ref().filter(|file| file.exists()) {
            let text = read(snapshot)?;
            let settings = self.rates.clone();
            match FlowletAllocator::from_json(&text, net.clone(), hosts.clone(), settings, random, Duration::ZERO) {
                Ok(allocator) => {
                    tracing::info!(file = %snapshot.display(), flowlets = allocator.flowlets(), "goes on");
                    return Ok(allocator);
                }
                // Endpoints tell all they have: what is lost is a moment of rates.
                Err(error) => tracing::warn!(file = %snapshot.display(), %error, "starts without it"),
            }
        }
        FlowletAllocator::new(net, hosts, self.rates.clone(), random)
            .map_err(|error| BadConfig::file(&self.network, error))
    }
}

fn read(file: &Path) -> Result<String, BadConfig> {
    std::fs::read_to_string(file).map_err(|error| BadConfig::file(file, error))
}
