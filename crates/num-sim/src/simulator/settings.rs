//! What a run is given besides network, flows, routing and policy.

use std::time::Duration;

use netnum_core::Topology;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::packets::Packets;
#[cfg(doc)]
use crate::report::Report;
use crate::setters::setters;

/// A link's capacity from some time on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CapacityChange {
    /// The time, in seconds.
    pub time: f64,
    /// The link.
    pub link: u32,
    /// Its capacity from then on, in bit/s: 0 if it fails, ∞ for no limit.
    pub capacity: f64,
}

/// The changes of the network during a run, and when the run stops.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunSettings {
    /// Simulated seconds after which the run is over, though flows have not ended; flows that never end need one.
    /// Default: ∞.
    pub until: f64,
    /// Simulated seconds that do not count: means and quantiles are of the flows that arrive from then on, and totals
    /// of links begin then. Default: 0.
    pub warmup: f64,
    /// Changes of capacity, in order of time. Default: none.
    pub changes: Vec<CapacityChange>,
    /// Real time after which the run is over, with a report of what has happened so far. It counts from the first
    /// instruction on and includes the making of the report. Default: none.
    pub time_limit: Option<Duration>,
    /// Whether to keep the [timeline](Report::timeline): 20 bytes for each change of a rate, and of the load of a link.
    /// Default: no.
    pub timeline: bool,
    /// What packets add to the time of every flow. Default: nothing.
    pub packets: Option<Packets>,
}

setters!(RunSettings {
    with_until: until: f64,
    with_warmup: warmup: f64,
    with_changes: changes: Vec<CapacityChange>,
    with_time_limit: time_limit: Option<Duration>,
    with_timeline: timeline: bool,
    with_packets: packets: Option<Packets>,
});

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            until: f64::INFINITY,
            warmup: 0.0,
            changes: Vec::new(),
            time_limit: None,
            timeline: false,
            packets: None,
        }
    }
}

impl RunSettings {
    pub(super) fn check(&self, links: usize) -> Result<()> {
        if self.until.is_nan() || self.until < 0.0 {
            return Err(Error::setting("until", self.until, "a number >= 0"));
        }
        if !(self.warmup.is_finite() && (0.0..=self.until).contains(&self.warmup)) {
            let most = if self.until.is_finite() { format!(" and <= until, {}", self.until) } else { String::new() };
            return Err(Error::setting("warmup", self.warmup, &format!("a finite number >= 0{most}")));
        }
        let mut previous = 0.0;
        for (place, change) in self.changes.iter().enumerate() {
            let wrong = |what: &str, value: &dyn ToString, expected: &str| {
                Err(Error::setting(&format!("{what} of change {place}"), value.to_string(), expected))
            };
            if !(change.time.is_finite() && change.time >= 0.0) {
                return wrong("time", &change.time, "a finite number >= 0");
            }
            if change.time < previous {
                return wrong("time", &change.time, "changes in order of time");
            }
            if change.link as usize >= links {
                return wrong("link", &change.link, &format!("a link below {links}"));
            }
            if change.capacity.is_nan() || change.capacity < 0.0 {
                return wrong("capacity", &change.capacity, "a number >= 0 (inf for no limit)");
            }
            previous = change.time;
        }
        self.packets.as_ref().map_or(Ok(()), |packets| packets.check(links))
    }
}

/// The network as routes are planned on it, if not as it is at the start: with the links that have failed then and
/// return.
pub(super) fn planned(net: &Topology, changes: &[CapacityChange]) -> Result<Option<Topology>> {
    let mut capacities = net.capacities().to_vec();
    for change in changes.iter().filter(|change| net.capacities()[change.link as usize] == 0.0) {
        let capacity = &mut capacities[change.link as usize];
        *capacity = capacity.max(change.capacity);
    }
    let returns = capacities != net.capacities();
    Ok(returns.then(|| net.clone().with_capacities(capacities)).transpose()?)
}
