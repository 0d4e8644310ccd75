//! The state of an allocator as JSON, and back: prices by the names of links, and every endpoint's flowlets with their
//! rates.
//!
//! An endpoint that returns within a lifetime tells its flowlets again, and goes on with the rates that it had. What it
//! does not tell again ends.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use netnum_core::{Error, Topology};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{FlowletAllocator, Hosts, RateSettings, link_names};
use crate::protocol::{Flowlet, Random, Short};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    alpha: f64,
    /// Of every link, by its name.
    links: Vec<String>,
    /// None of a link that carries nothing: that of an idle or failed link says nothing.
    prices: Vec<Option<f64>>,
    flowlets: Vec<WrittenFlowlet>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFlowlet {
    endpoint: String,
    id: u32,
    destination: Ipv4Addr,
    ports: [u16; 2],
    weight: u16,
    cap: u16,
    rate: u16,
}

/// Why a snapshot cannot be gone on from.
#[derive(Debug, thiserror::Error)]
#[error("snapshot: {0}")]
pub struct BadSnapshot(String);

impl FlowletAllocator {
    /// The state as JSON.
    pub fn to_json(&self) -> String {
        let mut flowlets = Vec::new();
        for (endpoint, host) in self.endpoints.iter().zip(self.hosts.all()) {
            for (id, flowlet, rate) in endpoint.session.flowlets() {
                let Some(rate) = rate.filter(|_| endpoint.flows.contains_key(&id)) else { continue };
                flowlets.push(WrittenFlowlet {
                    endpoint: host.name.clone(),
                    id,
                    destination: flowlet.destination,
                    ports: [flowlet.source_port, flowlet.destination_port],
                    weight: flowlet.weight.code(),
                    cap: flowlet.cap.code(),
                    rate: rate.code(),
                });
            }
        }
        let carries = self.utilization().into_iter().map(|utilization| utilization > 0.0);
        let prices = self.allocator.prices().into_iter().zip(carries).map(|(price, carries)| carries.then_some(price));
        let (links, prices) = (self.net.link_names(), prices.collect());
        let written = Written { alpha: self.settings.alpha, links, prices, flowlets };
        serde_json::to_string(&written).expect("numbers and strings are JSON")
    }

    /// An allocator that goes on from a state, and sentences on what of it has no place any more: links that the
    /// network does not have, flowlets of endpoints that the hosts do not name, and flowlets without a path. A link
    /// that is new begins at the price that its flowlets pay.
    ///
    /// # Errors
    /// [`BadSnapshot`] for another text, or one of another α.
    pub fn from_json(
        text: &str,
        net: Topology,
        hosts: Hosts,
        settings: RateSettings,
        random: impl FnMut() -> Random,
        now: Duration,
    ) -> Result<(Self, Vec<String>), BadSnapshot> {
        let bad = |error: Error| BadSnapshot(error.to_string());
        let written: Written = serde_json::from_str(text).map_err(|error| BadSnapshot(error.to_string()))?;
        if written.alpha != settings.alpha {
            let (found, set) = (written.alpha, settings.alpha);
            return Err(BadSnapshot(format!("its alpha is {found}, the one set is {set}")));
        }
        if written.prices.len() != written.links.len() {
            let (prices, links) = (written.prices.len(), written.links.len());
            return Err(BadSnapshot(format!("it has {prices} prices of {links} links")));
        }
        let (places, differences) = link_names::compare(&written.links, &net.link_names());
        let numbers: FxHashMap<_, _> = hosts.all().iter().map(|host| &*host.name).zip(0..).collect();
        let (mut of_endpoint, mut nameless) = (vec![BTreeMap::new(); hosts.all().len()], 0);
        for WrittenFlowlet { endpoint, id, destination, ports, weight, cap, rate } in written.flowlets {
            let Some(&number) = numbers.get(&*endpoint) else {
                nameless += 1;
                continue;
            };
            let [source_port, destination_port] = ports;
            let [weight, cap, rate] = [weight, cap, rate].map(Short::of_code);
            let flowlet = Flowlet { destination, destination_port, source_port, weight, cap };
            if of_endpoint[number].insert(id, (flowlet, rate)).is_some() {
                return Err(BadSnapshot(format!("flowlet {id} of {endpoint} is written twice")));
            }
        }
        let mut this = Self::new(net, hosts, settings, random).map_err(bad)?;
        for (endpoint, flowlets) in of_endpoint.into_iter().enumerate() {
            let known = flowlets.iter().map(|(&id, &(flowlet, rate))| (id, flowlet, rate));
            this.endpoints[endpoint].session.restore(known, now);
            this.counts.started += flowlets.len() as u64;
            flowlets.into_iter().for_each(|(id, (flowlet, _))| this.start(endpoint, id, &flowlet));
        }
        let known = places.into_iter().zip(written.prices).filter_map(|(place, price)| Some((place?, price?)));
        let (links, prices): (Vec<_>, Vec<_>) = known.unzip();
        this.allocator.set_prices(&links, &prices).map_err(bad)?;
        // Flows have rates, so that those that start before the first tick do not find the links idle.
        this.allocator.respond().map_err(bad)?;
        let pathless = this.counts.unrouted;
        let lost = [
            differences.map(|links| format!("prices of some links are not restored, {links}")),
            (nameless > 0).then(|| format!("{nameless} flowlets end, as no host has the name of their endpoint")),
            (pathless > 0).then(|| format!("{pathless} flowlets have no path, and are TCP's alone")),
        ];
        Ok((this, lost.into_iter().flatten().collect()))
    }
}
