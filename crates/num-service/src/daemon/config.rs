//! The file of an operator, in TOML.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use netnum_core::Topology;
use rustc_hash::FxHashSet;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::allocator::{FlowletAllocator, Hosts, RateSettings};
use crate::random;
use crate::tls::{BadCertificates, Certificates};

/// Capacities below this one, in bits per second, are more likely a number of Mbit/s or Gbit/s.
const SMALL: f64 = 1e6;

/// How an allocator runs. Files are relative to the folder of this one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where endpoints reach it, over UDP.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Where its status page and metrics are, over HTTP without authentication; none where not given.
    #[serde(default, deserialize_with = "some_address")]
    pub status: Option<SocketAddr>,
    /// The network: lines of `node node capacity`, or a topology of the library as JSON. Capacities are bits per
    /// second.
    pub network: PathBuf,
    /// Addresses, names and nodes of endpoints, see [`Hosts`].
    pub hosts: PathBuf,
    /// Where the state is written when the allocator stops, and read when it starts. Its folder must be there.
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
    pub(crate) fn file(file: &Path, what: impl fmt::Display) -> Self {
        Self { file: Some(file.into()), what: what.to_string().trim_end().into() }
    }

    pub(super) fn setting(name: &str, found: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self { file: None, what: format!("{name} is {found}: {error}") }
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
        let (mut this, folder): (Self, _) = read_toml(file)?;
        this.rates.check().map_err(|error| BadConfig::file(file, error))?;
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

    /// Reads all files that it names, without listening. Returns a line that says what network it is, one that says
    /// whose the certificate is and for how long, and warnings: of capacities so small that they may not be meant in
    /// bits per second, of hosts without a path, of an edge that is given twice, and of a certificate that endpoints
    /// with the same authority refuse.
    ///
    /// # Errors
    /// [`BadConfig`], as [`Daemon::start`](super::Daemon::start).
    pub fn check(&self) -> Result<String, BadConfig> {
        self.tls.server(self.rates.lifetime)?;
        let certificate = self.tls.seen_by_endpoints()?;
        let allocator = self.allocator()?;
        let mut text = format!("{}\n{certificate}", describe(&allocator));
        for warning in [unreached(&allocator), given_twice(allocator.network())].into_iter().flatten() {
            text += &format!("\nwarning: {warning}");
        }
        if let Some(why) = certificate.refused {
            text += &format!("\nwarning: endpoints with the same authority refuse it: {why}");
        }
        Ok(text)
    }

    pub(super) fn hosts_text(&self) -> Result<String, BadConfig> {
        read(&self.hosts)
    }

    pub(super) fn allocator(&self) -> Result<FlowletAllocator, BadConfig> {
        self.rates.check().map_err(|error| BadConfig { file: None, what: error.to_string() })?;
        if let Some(snapshot) = self.snapshot.as_ref().filter(|file| !Path::new(".").join(folder_of(file)).is_dir()) {
            return Err(BadConfig::file(snapshot, format!("there is no folder {}", folder_of(snapshot).display())));
        }
        let net = self.network()?;
        let hosts = Hosts::read(&self.hosts_text()?, &net).map_err(|error| BadConfig::file(&self.hosts, error))?;
        if let Some(snapshot) = self.snapshot.as_ref().filter(|file| file.exists()) {
            let text = read(snapshot)?;
            let settings = self.rates.clone();
            match FlowletAllocator::from_json(&text, net.clone(), hosts.clone(), settings, random, Duration::ZERO) {
                Ok((allocator, lost)) => {
                    tracing::info!(file = %snapshot.display(), flowlets = allocator.flowlets(), "goes on");
                    lost.iter().for_each(|what| tracing::warn!(file = %snapshot.display(), "{what}"));
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

/// What network it is, and how many endpoints it has.
fn describe(allocator: &FlowletAllocator) -> String {
    let (net, endpoints) = (allocator.network(), allocator.hosts().all().len());
    let working = || net.capacities().iter().copied().enumerate().filter(|&(_, capacity)| capacity > 0.0);
    let by_capacity = |one: &(usize, f64), other: &(usize, f64)| one.1.total_cmp(&other.1);
    let (Some((link, least)), Some((_, greatest))) = (working().min_by(by_capacity), working().max_by(by_capacity))
    else {
        return format!("{net}; no link works; {endpoints} endpoints");
    };
    let [from, to] = [least, greatest].map(readable);
    let mut text = format!("{net}; capacities from {from} to {to}; {endpoints} endpoints");
    if least < SMALL {
        let name = &net.link_names()[link];
        text += &format!("\nwarning: {name} has {from}: capacities are bits per second, 10 Gbit/s is 10e9");
    }
    text
}

/// Hosts without a path from the first, or to it.
fn unreached(allocator: &FlowletAllocator) -> Option<String> {
    let (first, others) = allocator.hosts().all().split_first()?;
    let others: Vec<_> = others.iter().filter(|host| host.node != first.node).collect();
    let (firsts, nodes) = (vec![first.node; others.len()], others.iter().map(|host| host.node).collect::<Vec<_>>());
    let net = allocator.network();
    let [there, back] = [net.has_path(&firsts, &nodes).ok()?, net.has_path(&nodes, &firsts).ok()?];
    let is_reached = there.into_iter().zip(back).map(|(there, back)| there && back);
    let without: Vec<_> = others.iter().zip(is_reached).filter(|(_, is)| !is).map(|(host, _)| &*host.name).collect();
    let (count, shown) = (without.len(), without.iter().take(3).copied().collect::<Vec<_>>().join(", "));
    let text = || format!("{count} of {} other hosts have no path to or from {}: {shown}", others.len(), first.name);
    (count > 0).then(text)
}

/// A link that joins two nodes which another one joins.
fn given_twice(net: &Topology) -> Option<String> {
    let mut seen = FxHashSet::default();
    let again = net.links().iter().position(|link| !seen.insert((link.from, link.to)))?;
    let name = &net.link_names()[again];
    Some(format!("{name} joins nodes that another link joins: flowlets take the one or the other"))
}

/// A capacity for people; ∞ is no limit.
fn readable(capacity: f64) -> String {
    if capacity.is_infinite() {
        return "no limit".into();
    }
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let (size, unit) = units.into_iter().find(|&(size, _)| capacity >= size).unwrap_or((1.0, "bit/s"));
    format!("{} {unit}", capacity / size)
}

/// An address in a file.
pub(crate) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let found = String::deserialize(deserializer)?;
    found.parse().map_err(|_| {
        D::Error::custom(format!("found {found:?}, expected an IP address and a port, such as \"10.0.0.100:4433\""))
    })
}

fn some_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    address(deserializer).map(Some)
}

/// What stands in a file, and its folder.
pub(crate) fn read_toml<T: DeserializeOwned>(file: &Path) -> Result<(T, &Path), BadConfig> {
    let this = toml::from_str(&read(file)?).map_err(|error| BadConfig::file(file, error))?;
    Ok((this, folder_of(file)))
}

/// The folder of a file; empty for the current one.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

fn read(file: &Path) -> Result<String, BadConfig> {
    std::fs::read_to_string(file).map_err(|error| BadConfig::file(file, error))
}
