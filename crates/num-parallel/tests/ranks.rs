//! Allocators over ranks: the rates of one allocator that has all flows, and no rank that waits for another.

mod common;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use common::rules;
use netnum_core::testing::on_ranks;
use netnum_core::*;
use netnum_parallel::{Allocate, AllocatorSettings, FlowId, allocator};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What happens to a network; flows are numbered.
enum Event {
    Start { flow: usize, path: Vec<u32>, law: PowerLaw },
    End { flow: usize },
    Change { flow: usize, path: Option<Vec<u32>>, law: Option<PowerLaw> },
    Capacity { link: u32, capacity: f64 },
    Tick,
    Respond,
}

fn network() -> Topology {
    Topology::leaf_spine(4, 4, 2, 10e9, 20e9).unwrap()
}

/// Weights over two decades, links that fail, shrink and return, and 16 servers, so that links are often idle.
fn events(seed: u64, count: usize, alphas: &[f64]) -> Vec<Event> {
    let (net, mut rng) = (network(), ChaCha8Rng::seed_from_u64(seed));
    let (mut flows, mut started) = (Vec::new(), 0);
    let path = |rng: &mut ChaCha8Rng| {
        let source = rng.random_range(0..16);
        let destination = (source + rng.random_range(1..16)) % 16;
        net.ecmp(&[source], &[destination], rng.random()).unwrap().links(0).to_vec()
    };
    let law = |rng: &mut ChaCha8Rng| PowerLaw {
        alpha: alphas[rng.random_range(0..alphas.len())],
        cap: if rng.random_bool(0.1) { 1e9 } else { f64::INFINITY },
        ..PowerLaw::log(1e9 * 10f64.powf(rng.random_range(-1.0..1.0)))
    };
    let mut events = Vec::new();
    while events.len() < count {
        events.push(match rng.random_range(0..40) {
            0..=14 => {
                flows.push(started);
                started += 1;
                Event::Start { flow: started - 1, path: path(&mut rng), law: law(&mut rng) }
            }
            15..=28 if !flows.is_empty() => Event::End { flow: flows.swap_remove(rng.random_range(0..flows.len())) },
            29..=30 if !flows.is_empty() => {
                let flow = flows[rng.random_range(0..flows.len())];
                let path = rng.random_bool(0.5).then(|| path(&mut rng));
                Event::Change { flow, path, law: rng.random_bool(0.5).then(|| law(&mut rng)) }
            }
            31 => {
                let link = rng.random_range(0..net.capacities().len());
                let capacity = net.capacities()[link] * [0.0, 1.0, 0.3, 1.0][rng.random_range(0..4)];
                Event::Capacity { link: link as u32, capacity }
            }
            32 => Event::Respond,
            _ => Event::Tick,
        });
    }
    events.push(Event::Tick);
    events
}

/// After every tick and response: the rates of the flows by number, their paths, capacities and prices.
type Seen = (BTreeMap<usize, (Vec<u32>, f64)>, Vec<f64>, Vec<f64>);

/// Plays the events of its own flows on an allocator.
fn play(allocator: &mut dyn Allocate, events: &[Event], own: impl Fn(usize) -> bool) -> Vec<Seen> {
    let mut ids: BTreeMap<usize, FlowId> = BTreeMap::new();
    let mut seen = Vec::new();
    for event in events {
        match event {
            Event::Start { flow, path, law } if own(*flow) => {
                ids.insert(*flow, allocator.start(path, *law).unwrap());
            }
            Event::End { flow } if own(*flow) => allocator.end(ids.remove(flow).unwrap()).unwrap(),
            Event::Change { flow, path, law } if own(*flow) => {
                allocator.change(ids[flow], path.as_deref(), *law).unwrap();
            }
            Event::Capacity { link, capacity } => allocator.set_capacity(*link, *capacity).unwrap(),
            Event::Tick | Event::Respond => {
                if matches!(event, Event::Tick) {
                    allocator.tick().unwrap()
                } else {
                    allocator.respond().unwrap()
                }
                let of = |(&flow, &id): (&usize, &FlowId)| {
                    (flow, (allocator.path(id).unwrap(), allocator.rate(id).unwrap()))
                };
                seen.push((ids.iter().map(of).collect(), allocator.capacities().to_vec(), allocator.prices()));
            }
            _ => {}
        }
    }
    seen
}

fn made(method: &str, normalizer: Option<Normalization>, single: bool) -> Box<dyn Allocate> {
    let settings = AllocatorSettings::default().with_normalizer(normalizer).with_update_threshold(0.0);
    let capacities = network().capacities().to_vec();
    allocator(capacities, method, &BTreeMap::new(), settings, single, NonZeroUsize::MIN).unwrap()
}

/// What the ranks see together, flow number `k` being of rank `owner(k)`; prices are checked to be the same on all.
fn play_on(
    ranks: usize,
    events: &[Event],
    owner: impl Fn(usize) -> usize + Sync,
    made: impl Fn() -> Box<dyn Allocate> + Sync,
) -> Vec<Seen> {
    let mut parts = on_ranks(ranks, |rank, all| {
        let mut allocator = made();
        allocator.over(all.clone()).unwrap();
        play(&mut *allocator, events, |flow| owner(flow) == rank)
    });
    let mut whole = parts.pop().unwrap();
    for part in parts {
        for (whole, part) in whole.iter_mut().zip(part) {
            assert_eq!((&whole.1, &whole.2), (&part.1, &part.2));
            whole.0.extend(part.0);
        }
    }
    whole
}

/// No link is over its capacity by more than this part of it.
fn assert_feasible(what: &str, (rates, capacities, _): &Seen, tolerance: f64) {
    let mut loads = vec![0.0; capacities.len()];
    for (path, rate) in rates.values() {
        assert!(rate.is_finite() && *rate >= 0.0, "{what}: {rate}");
        path.iter().for_each(|&link| loads[link as usize] += rate);
    }
    for (link, (load, capacity)) in loads.iter().zip(capacities).enumerate() {
        assert!(*load <= capacity * (1.0 + tolerance), "{what}: link {link} has {load} of {capacity}");
    }
}

/// The largest difference of rates, relative to the rate, and of prices.
fn differ(found: &[Seen], expected: &[Seen]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let mut largest: f64 = 0.0;
    for ((rates, _, prices), (others, _, other_prices)) in found.iter().zip(expected) {
        assert!(rates.keys().eq(others.keys()));
        let rates = rates.values().zip(others.values()).map(|((_, one), (_, other))| (*one, *other));
        for (one, other) in rates.chain(prices.iter().copied().zip(other_prices.iter().copied())) {
            largest = largest.max((one - other).abs() / one.max(other).max(1e-100));
        }
    }
    largest
}

#[test]
fn rates_are_those_of_one_allocator_that_has_all_flows() {
    for (seed, method) in rules().enumerate() {
        let events = events(seed as u64, 1500, if method == "rcp" { &[1.0] } else { &[0.5, 1.0, 2.0] });
        for normalizer in [Some(Normalization::FNorm), Some(Normalization::UNorm), None] {
            let made = || made(method, normalizer, false);
            let expected = play(&mut *made(), &events, |_| true);
            for ranks in [1, 2, 3] {
                // With three ranks the last has no flows.
                let found = play_on(ranks, &events, |flow| flow % ranks.min(2), made);
                let what = format!("{method}, {normalizer:?}, {ranks} ranks");
                if normalizer.is_some() {
                    found.iter().for_each(|seen| assert_feasible(&what, seen, 1e-12));
                }
                let most = differ(&found, &expected);
                // One rank adds up in the order of one allocator.
                assert!(if ranks == 1 { most == 0.0 } else { most <= 1e-9 }, "{what}: {most:e}");
            }
        }
    }
}
