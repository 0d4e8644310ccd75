//! The state of an allocator as JSON, and back: prices, and every endpoint's flowlets with their rates.
//!
//! An endpoint that returns within a lifetime tells its flowlets again, and goes on with the rates that it had. What it
//! does not tell again ends.

use std::time::Duration;

use netnum_core::Topology;
use netnum_parallel::{Allocator, FlowId};
use serde::{Deserialize, Serialize};

use super::{FlowletAllocator, Hosts, Owner, RateSettings};
use crate::protocol::{Flowlet, Random, Short};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    allocator: String,
    gamma: f64,
    alpha: f64,
    flowlets: Vec<WrittenFlowlet>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFlowlet {
    endpoint: String,
    id: u32,
    flow: u64,
    destination: std::net::Ipv4Addr,
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
    ///
    /// # Errors
    /// Those of [`Allocator::to_json`].
    pub fn to_json(&self) -> Result<String, netnum_core::Error> {
        let mut flowlets = Vec::new();
        for (endpoint, host) in self.endpoints.iter().zip(self.hosts.all()) {
            for (id, flowlet, rate) in endpoint.session.flowlets() {
                let (Some(flow), Some(rate)) = (endpoint.flows.get(&id), rate) else { continue };
                flowlets.push(WrittenFlowlet {
                    endpoint: host.name.clone(),
                    id,
                    flow: flow.to_bits(),
                    destination: flowlet.destination,
                    ports: [flowlet.source_port, flowlet.destination_port],
                    weight: flowlet.weight.code(),
                    cap: flowlet.cap.code(),
                    rate: rate.code(),
                });
            }
        }
        let RateSettings { gamma, alpha, .. } = self.settings;
        let written = Written { allocator: self.allocator.to_json()?, gamma, alpha, flowlets };
        Ok(serde_json::to_string(&written).expect("numbers and strings are JSON"))
    }

    /// An allocator that goes on from a state. Flowlets of endpoints that the hosts do not name any more end.
    ///
    /// # Errors
    /// [`BadSnapshot`] for another text, or one of another network or of other settings.
    pub fn from_json(
        text: &str,
        net: Topology,
        hosts: Hosts,
        settings: RateSettings,
        random: impl FnMut() -> Random,
        now: Duration,
    ) -> Result<Self, BadSnapshot> {
        let bad = |what: String| BadSnapshot(what);
        let written: Written = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        for (name, found, expected) in
            [("gamma", written.gamma, settings.gamma), ("alpha", written.alpha, settings.alpha)]
        {
            if found != expected {
                return Err(bad(format!("its {name} is {found}, the one set is {expected}")));
            }
        }
        let allocator = restored(&written.allocator, &net, &settings)?;
        let mut this = Self::with_allocator(net, hosts, settings, allocator, random);
        let mut of_endpoint = vec![Vec::new(); this.endpoints.len()];
        for written in written.flowlets {
            let flow = FlowId::from_bits(written.flow);
            let named = |name: &str| this.hosts.all().iter().position(|host| host.name == name);
            let Some(endpoint) = named(&written.endpoint) else { continue };
            if !this.allocator.contains(flow) {
                return Err(bad(format!(
                    "flowlet {} of {} has flow {flow}, which is not there",
                    written.id, written.endpoint
                )));
            }
            if this.owners.insert(flow, Owner { endpoint, flowlet: written.id }).is_some()
                || this.endpoints[endpoint].flows.insert(written.id, flow).is_some()
            {
                return Err(bad(format!("flowlet {} of {} is written twice", written.id, written.endpoint)));
            }
            let [source_port, destination_port] = written.ports;
            let [weight, cap, rate] = [written.weight, written.cap, written.rate].map(Short::of_code);
            let flowlet = Flowlet { destination: written.destination, destination_port, source_port, weight, cap };
            of_endpoint[endpoint].push((written.id, flowlet, rate));
        }
        for (endpoint, flowlets) in this.endpoints.iter_mut().zip(of_endpoint) {
            endpoint.session.restore(flowlets, now);
        }
        let orphans: Vec<FlowId> = this
            .allocator
            .rates()
            .into_iter()
            .map(|(flow, _)| flow)
            .filter(|flow| !this.owners.contains_key(flow))
            .collect();
        this.counts.started = this.allocator.flows() as u64;
        this.counts.ended = orphans.len() as u64;
        this.allocator.end_all(&orphans).map_err(|error| bad(error.to_string()))?;
        // Links may have failed or returned since.
        this.reroute();
        Ok(this)
    }
}

/// The inner allocator, at the capacities that the network has now.
fn restored(text: &str, net: &Topology, settings: &RateSettings) -> Result<Allocator, BadSnapshot> {
    let mut allocator = Allocator::from_json(text, settings.threads).map_err(|error| BadSnapshot(error.to_string()))?;
    if *allocator.settings() != settings.of_allocator() {
        return Err(BadSnapshot("it is of other settings: update_threshold or headroom".into()));
    }
    let (found, expected) = (allocator.capacities().len(), net.links().len());
    if found != expected {
        return Err(BadSnapshot(format!("it is of a network of {found} links, this one has {expected}")));
    }
    let links: Vec<u32> = (0..expected as u32).collect();
    allocator.set_capacities(&links, net.capacities()).map_err(|error| BadSnapshot(error.to_string()))?;
    Ok(allocator)
}
