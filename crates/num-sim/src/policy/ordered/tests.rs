//! Strict order, checked from its definition at every call.

use netnum_core::Topology;

use super::super::{Edf, Event, Ordered, Policy, Rates, Srpt};
use super::Key;
use crate::error::Result;
use crate::network::Flows;
use crate::routing::{Ecmp, FlowBender, FlowBenderOptions, Routing, Spray};
use crate::simulator::{RunSettings, simulate};
use crate::sizes::Sizes;
use crate::workload::{Pairs, Poisson, Production, Workload};

/// Parts of keys and capacities that are rounding.
const SAME: f64 = 1e-9;

/// Checks the rates of a policy.
struct Checked<K> {
    policy: Ordered<K>,
    by: K,
    capacities: Vec<f64>,
    calls: usize,
}

impl<K: Key> Policy for Checked<K> {
    fn name(&self) -> &str {
        self.policy.name()
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.by.begin_run(net.capacities());
        self.policy.begin_run(net, workload)
    }
    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        self.policy.changed(event, flows)
    }
    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let mut given = Rates::default();
        let wake = self.policy.allocate(now, flows, &mut given)?;
        let most = flows.active().iter().map(|&slot| slot as usize + 1).max().unwrap_or(0);
        let mut found = vec![0.0; most];
        flows.active().iter().for_each(|&slot| found[slot as usize] = flows.flow(slot).rate);
        for (slot, rate) in given.drain() {
            found[slot as usize] = rate;
            rates.set(slot, rate);
        }
        self.check(now, flows, &found);
        self.calls += 1;
        Ok(wake)
    }
}

impl<K: Key> Checked<K> {
    /// Every flow has its cap, or a full link on which no flow sends that comes later.
    fn check(&self, now: f64, flows: &Flows, rates: &[f64]) {
        let links = self.capacities.len();
        let mut on: Vec<Vec<(f64, f64)>> = vec![Vec::new(); links];
        for &slot in flows.active() {
            let key = self.by.key(slot, flows, now);
            flows
                .route(slot)
                .iter()
                .for_each(|(link, share)| on[link as usize].push((key, share * rates[slot as usize])));
        }
        for &slot in flows.active() {
            let (rate, key) = (rates[slot as usize], self.by.key(slot, flows, now));
            let holds = |&link: &u32| {
                let (capacity, on) = (self.capacities[link as usize], &on[link as usize]);
                let load: f64 = on.iter().map(|flow| flow.1).sum();
                let later: f64 = on.iter().filter(|flow| flow.0 > key * (1.0 + SAME)).map(|flow| flow.1).sum();
                load >= capacity * (1.0 - SAME) && later <= SAME * capacity
            };
            let is_served = rate >= flows.flow(slot).cap * (1.0 - SAME);
            let flow = flows.flow(slot).number;
            assert!(is_served || flows.route(slot).links().iter().any(holds), "{} at {now}: flow {flow}", self.name());
        }
        for (link, on) in on.iter().enumerate() {
            let load: f64 = on.iter().map(|flow| flow.1).sum();
            assert!(load <= self.capacities[link] * (1.0 + SAME), "{} at {now}: link {link}", self.name());
        }
    }
}

/// Flows of one size from applications of few rates, so that keys meet and pass each other, over routes that change.
fn run<K: Key + Clone>(by: K, seed: u64) -> usize {
    let net = Topology::fat_tree(4, 1e9).unwrap();
    let flows = 400;
    let arrivals = Poisson::new(Sizes::fixed(3e5).unwrap(), 0.9).with_flows(flows);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
    let rates = (0..flows).map(|flow| [2e8, 6e8, 2e9][(flow * 7 + seed as usize) % 3]).collect();
    let slow = workload.clone().with_production(Production::new(rates, 1e5).unwrap()).unwrap();
    let mut calls = 0;
    for workload in [workload, slow] {
        let options = FlowBenderOptions::default().with_rtt(2e-4);
        let routings: [Box<dyn Routing>; 3] =
            [Box::new(Ecmp::new(seed)), Box::new(Spray::new()), Box::new(FlowBender::new(seed, options).unwrap())];
        for mut routing in routings {
            let policy = Ordered::by(by.clone());
            let mut checked = Checked { policy, by: by.clone(), capacities: Vec::new(), calls: 0 };
            let run = RunSettings::default();
            let report = simulate(&net, &workload, routing.as_mut(), &mut checked, &run, &mut ()).unwrap();
            assert_eq!(report.ended(), flows);
            calls += checked.calls;
        }
    }
    calls
}

#[test]
fn rates_are_those_of_a_strict_order_at_every_call() {
    let calls: usize = (0..4)
        .map(|seed| run(Srpt::new(), seed) + run(Srpt::by_time(), seed) + run(Edf::new(2.0).unwrap(), seed))
        .sum();
    assert!(calls > 50_000, "{calls} calls");
}
