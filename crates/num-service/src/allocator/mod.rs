//! The allocator: endpoints' flowlets in, rates out, without I/O and without a clock of its own.
//!
//! ```text
//! datagram ─► EndpointSession ─► start, end ─► Allocator of netnum-parallel
//! tick:  Allocator::tick ─► updates ─► EndpointSession of the owner ─► one datagram per endpoint
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `settings.rs` | what an operator sets |
//! | `hosts.rs` | addresses, names and nodes |
//! | `routes.rs` | paths of flowlets |
//! | `link_names.rs` | links of two networks that have the same name |
//! | `snapshot.rs` | the state as text, and back |

mod hosts;
mod link_names;
mod routes;
mod settings;
mod snapshot;

use std::net::Ipv4Addr;
use std::time::Duration;

use netnum_core::price::Ned;
use netnum_core::{Error, PowerLaw, Topology};
use netnum_parallel::{Allocator, FlowId};
use rustc_hash::FxHashMap;

pub use hosts::{BadHosts, Host, Hosts};
use routes::Routes;
pub use settings::{BadSettings, RateSettings};
pub use snapshot::BadSnapshot;

use crate::protocol::{Damaged, EndpointSession, Event, Flowlet, Random, Short};

/// The allocator of a network.
pub struct FlowletAllocator {
    net: Topology,
    hosts: Hosts,
    routes: Routes,
    settings: RateSettings,
    allocator: Allocator,
    endpoints: Vec<Endpoint>,
    owners: FxHashMap<FlowId, Owner>,
    counts: Counts,
    /// Of the newest flowlet whose destination no host has.
    unknown: Option<Unknown>,
}

/// An endpoint by its number, and the destination of its flowlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unknown {
    endpoint: usize,
    destination: Ipv4Addr,
}

struct Endpoint {
    session: EndpointSession,
    flows: FxHashMap<u32, FlowId>,
}

/// Whose flow it is: endpoint and its id of the flowlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    endpoint: usize,
    flowlet: u32,
}

/// What has happened since the allocator was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Ticks.
    pub ticks: u64,
    /// Flowlets that have started, or that a snapshot had.
    pub started: u64,
    /// Flowlets that have ended.
    pub ended: u64,
    /// Flowlets that were left to TCP alone: no path with a limit leads to their destination, their weight is 0 or ∞,
    /// or their cap is 0.
    pub unrouted: u64,
    /// Datagrams received.
    pub received: u64,
    /// Datagrams refused as damaged.
    pub refused: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Rates that have moved by more than the threshold.
    pub updates: u64,
}

impl FlowletAllocator {
    /// An allocator without flowlets.
    ///
    /// # Errors
    /// Those of [`Allocator::new`] for settings out of their range.
    pub fn new(
        net: Topology,
        hosts: Hosts,
        settings: RateSettings,
        mut random: impl FnMut() -> Random,
    ) -> Result<Self, Error> {
        let (rule, inner) = (Ned::new(settings.gamma), settings.of_allocator());
        let allocator = Allocator::new(net.capacities().to_vec(), rule, inner, settings.threads)?;
        let mut session = || EndpointSession::new(settings.lifetime, settings.flowlets_per_endpoint, random());
        let endpoint = |_: &Host| Endpoint { session: session(), flows: FxHashMap::default() };
        let endpoints = hosts.all().iter().map(endpoint).collect();
        let (routes, owners, counts) = (Routes::default(), FxHashMap::default(), Counts::default());
        Ok(Self { net, hosts, routes, settings, allocator, endpoints, owners, counts, unknown: None })
    }

    /// Takes a datagram of an endpoint, by its number in [`Hosts::all`]. Writes the answer to a handshake, which is
    /// sent at once; empty for none.
    ///
    /// # Errors
    /// [`Damaged`]; nothing has changed then.
    pub fn receive(
        &mut self,
        endpoint: usize,
        bytes: &[u8],
        now: Duration,
        answer: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        let mut events = Vec::new();
        self.counts.received += 1;
        let taken = self.endpoints[endpoint].session.receive(bytes, now, &mut events, answer);
        self.counts.refused += u64::from(taken.is_err());
        self.counts.sent += u64::from(!answer.is_empty());
        self.apply(endpoint, &events);
        taken
    }

    /// One tick: silent endpoints are forgotten, prices move, and every endpoint with something to hear is sent one
    /// datagram.
    ///
    /// # Errors
    /// Those of [`Allocator::tick`].
    pub fn tick(&mut self, now: Duration, mut send: impl FnMut(usize, &[u8])) -> Result<(), Error> {
        let mut events = Vec::new();
        for endpoint in 0..self.endpoints.len() {
            self.endpoints[endpoint].session.expire(now, &mut events);
            self.apply(endpoint, &events);
            events.clear();
        }
        for _ in 0..self.settings.iterations {
            self.allocator.tick()?;
        }
        for (flow, rate) in self.allocator.updates() {
            if let Some(&Owner { endpoint, flowlet }) = self.owners.get(&flow) {
                self.endpoints[endpoint].session.tell(flowlet, Short::floor(rate));
                self.counts.updates += 1;
            }
        }
        let mut out = Vec::new();
        for (number, endpoint) in self.endpoints.iter_mut().enumerate() {
            if endpoint.session.poll(now, &mut out) {
                send(number, &out);
                self.counts.sent += 1;
            }
        }
        self.counts.ticks += 1;
        Ok(())
    }

    /// Takes other capacities of the network: links fail, return, or change. Flowlets take other paths where links
    /// have failed or returned. Links are known by their names, and may come in another order.
    ///
    /// # Errors
    /// [`Error::Topology`] with links that are missing or new, those of [`Allocator::set_capacities`]; nothing has
    /// changed then.
    pub fn set_network(&mut self, net: Topology) -> Result<(), Error> {
        let (places, differences) = link_names::compare(&self.net.link_names(), &net.link_names());
        if let Some(differences) = differences {
            let what = "a network that is read again has the same links, and one that has failed has capacity 0";
            return Err(Error::Topology(format!("{what}: {differences}")));
        }
        let capacities = places.into_iter().flatten().map(|place| net.capacities()[place as usize]).collect();
        let net = self.net.clone().with_capacities(capacities)?;
        let links: Vec<u32> = (0..net.links().len() as u32).collect();
        self.allocator.set_capacities(&links, net.capacities())?;
        let is_up = |net: &Topology| net.capacities().iter().map(|&capacity| capacity > 0.0).collect::<Vec<_>>();
        let reroutes = is_up(&net) != is_up(&self.net);
        self.net = net;
        if reroutes {
            self.routes.clear();
            self.reroute();
        }
        Ok(())
    }

    /// Flowlets whose path is another one now get it. One without any path keeps its own, at rate 0.
    fn reroute(&mut self) {
        for endpoint in 0..self.endpoints.len() {
            let flowlets: Vec<_> = self.endpoints[endpoint].session.flowlets().collect();
            for (id, flowlet, _) in flowlets {
                let Some(path) = self.path(endpoint, &flowlet) else { continue };
                match self.endpoints[endpoint].flows.get(&id) {
                    // A change that is refused leaves the flow on its path.
                    Some(&flow) => drop(self.allocator.change(flow, Some(&path), None)),
                    None => self.start(endpoint, id, &flowlet),
                }
            }
        }
    }

    fn path(&mut self, endpoint: usize, flowlet: &Flowlet) -> Option<Vec<u32>> {
        let host = &self.hosts.all()[endpoint];
        let Some(destination) = self.hosts.node_of(flowlet.destination) else {
            self.unknown = Some(Unknown { endpoint, destination: flowlet.destination });
            return None;
        };
        self.routes.path(&self.net, (host.node, destination), routes::hash(host.address, flowlet))
    }

    fn apply(&mut self, endpoint: usize, events: &[Event]) {
        for event in events {
            match *event {
                Event::Start(id, flowlet) => {
                    self.counts.started += 1;
                    self.start(endpoint, id, &flowlet);
                }
                Event::Change(id, flowlet) => self.change(endpoint, id, &flowlet),
                Event::End(id) => {
                    self.counts.ended += 1;
                    self.end(endpoint, id);
                }
            }
        }
    }

    /// A flowlet that cannot have a rate is TCP's alone, and is told so: it may have had one.
    fn start(&mut self, endpoint: usize, id: u32, flowlet: &Flowlet) {
        let law = self.law(flowlet);
        match self.path(endpoint, flowlet).and_then(|path| self.allocator.start(&path, law).ok()) {
            Some(flow) => {
                self.endpoints[endpoint].flows.insert(id, flow);
                self.owners.insert(flow, Owner { endpoint, flowlet: id });
            }
            None => {
                self.counts.unrouted += 1;
                self.endpoints[endpoint].session.tell(id, Short::INFINITE);
            }
        }
    }

    /// Another weight or cap. Its price and rate go on.
    fn change(&mut self, endpoint: usize, id: u32, flowlet: &Flowlet) {
        let law = self.law(flowlet);
        let flow = self.endpoints[endpoint].flows.get(&id);
        if flow.is_some_and(|&flow| self.allocator.change(flow, None, Some(law)).is_ok()) {
            return;
        }
        self.end(endpoint, id);
        self.start(endpoint, id, flowlet);
    }

    fn end(&mut self, endpoint: usize, id: u32) {
        if let Some(flow) = self.endpoints[endpoint].flows.remove(&id) {
            self.owners.remove(&flow);
            self.allocator.end(flow).expect("a flow with an owner is there");
        }
    }

    fn law(&self, flowlet: &Flowlet) -> PowerLaw {
        PowerLaw::new(flowlet.weight.value() / 1024.0, self.settings.alpha).with_cap(flowlet.cap.value())
    }

    /// The endpoints.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// The network.
    pub fn network(&self) -> &Topology {
        &self.net
    }

    /// The name of an endpoint with a flowlet whose destination no host has, and the destination: of the newest such
    /// flowlet since the last call.
    pub(crate) fn take_unknown(&mut self) -> Option<(&str, Ipv4Addr)> {
        let Unknown { endpoint, destination } = self.unknown.take()?;
        Some((&self.hosts.all()[endpoint].name, destination))
    }

    /// What has happened.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Flowlets that have a rate, or get one at the next tick.
    pub fn flowlets(&self) -> usize {
        self.allocator.flows()
    }

    /// Endpoints that have a session.
    pub fn connected(&self) -> usize {
        self.endpoints.iter().filter(|endpoint| endpoint.session.is_connected()).count()
    }

    /// The part of every link that rates fill; 0 for a link that has failed. O(crossings).
    pub fn utilization(&self) -> Vec<f64> {
        let mut loads = vec![0.0; self.net.links().len()];
        for (flow, rate) in self.allocator.rates() {
            if let Ok(paths) = self.allocator.paths(flow) {
                paths.links(0).iter().for_each(|&link| loads[link as usize] += rate);
            }
        }
        let part = |(load, &capacity): (f64, &f64)| if capacity > 0.0 { load / capacity } else { 0.0 };
        loads.into_iter().zip(self.net.capacities()).map(part).collect()
    }
}
