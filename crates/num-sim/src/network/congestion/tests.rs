//! Marks under any changes, against their definitions.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// The fraction of every active flow that is marked, from the definitions.
fn fractions(net: &Topology, marking: Marking, capacities: &[f64], flows: &Flows) -> Vec<f64> {
    let on = |link: usize| {
        let hop = move |slot: u32| flows.route(slot).iter().find(|hop| hop.0 as usize == link);
        flows.active().iter().filter_map(move |&slot| hop(slot).map(|hop| (slot, hop.1)))
    };
    let rate = |slot: u32| flows.flow(slot).rate;
    let load = |link: usize| on(link).map(|(slot, fraction)| fraction * rate(slot)).sum::<f64>();
    let full = |link: usize, fraction: f64| load(link) >= fraction * capacities[link] * (1.0 - ALIKE);
    let fastest = |link: usize| on(link).map(|flow| rate(flow.0)).fold(0.0, f64::max);
    let limited = |link: usize, slot| full(link, 1.0) && rate(slot) >= fastest(link) * (1.0 - ALIKE);
    let first = |slot: u32| flows.route(slot).iter().map(|hop| hop.0 as usize).find(|&link| limited(link, slot));
    let congested = |link: usize| on(link).any(|flow| first(flow.0) == Some(link));
    let marks = |link: usize| match marking {
        _ if (net.links()[link].from as usize) < net.ends() => 0.0,
        Marking::Utilization(fraction) => f64::from(full(link, fraction)),
        _ if !congested(link) => 0.0,
        Marking::Saturated => 1.0,
        Marking::Dctcp { rtt, threshold } => {
            let packets = (capacities[link] * rtt / 8.0 + threshold) / 1500.0;
            (2.0 * on(link).count() as f64 / packets).sqrt().min(1.0)
        }
    };
    let all: Vec<f64> = (0..capacities.len()).map(marks).collect();
    let marked = |&slot: &u32| {
        let (whole, split): (Vec<_>, Vec<_>) = flows.route(slot).iter().partition(|hop| hop.1 >= 1.0);
        let apart = split.iter().map(|&(link, fraction)| fraction * all[link as usize]).sum::<f64>();
        1.0 - whole.iter().map(|hop| 1.0 - all[hop.0 as usize]).product::<f64>() * (1.0 - apart.min(1.0))
    };
    flows.active().iter().map(marked).collect()
}

#[test]
fn marks_follow_every_change() {
    let net = Topology::leaf_spine(3, 2, 3, 1.0, 1.0).unwrap();
    let markings = [Marking::Saturated, Marking::Dctcp { rtt: 1e3, threshold: 1e4 }, Marking::Utilization(0.7)];
    let mut checked = 0;
    for seed in 0..30 {
        let (mut rng, marking) = (ChaCha8Rng::seed_from_u64(seed), markings[seed as usize % 3]);
        let (mut marked, mut flows, mut capacities) =
            (CongestionMarks::new(&net, marking), Flows::default(), vec![1.0; 30]);
        assert_eq!(net.links().len(), capacities.len());
        let path = |rng: &mut ChaCha8Rng, route: &mut Route| {
            let from = rng.random_range(0..6u32) as usize;
            let paths = net.paths(from, (from + 1 + rng.random_range(0..5u32) as usize) % 6).unwrap();
            let mut one = || paths.links(rng.random_range(0..paths.len() as u32) as usize);
            let (one, other) = (one(), one());
            if one == other { route.take(one) } else { route.spread([(one, 0.25), (other, 0.75)]) }
        };
        for number in 0..1500 {
            for _ in 0..rng.random_range(1..5) {
                let some = flows.active().get(rng.random_range(0..20u32) as usize).copied();
                let does = rng.random_range(0..6u32);
                match some {
                    None if does < 3 => {
                        let (slot, route) = flows.insert(number, 1e9, 0.0);
                        path(&mut rng, route);
                        marked.arrive(slot, &flows);
                    }
                    Some(slot) if does == 0 => {
                        marked.leave(slot, flows.route(slot), flows.flow(slot).rate);
                        flows.remove(slot);
                    }
                    Some(slot) if does == 1 => {
                        let (rate, old) = (flows.flow(slot).rate, flows.route(slot).clone());
                        path(&mut rng, flows.route_mut(slot));
                        marked.leave(slot, &old, rate);
                        marked.join(slot, flows.route(slot), rate);
                    }
                    Some(slot) => {
                        // Tenths, so that links are full at times; now and then a rate next to which the others
                        // are lost to rounding.
                        let tenths = f64::from(rng.random_range(0..6u32)) / 10.0;
                        let rate = if rng.random_bool(0.01) { 1e26 } else { tenths };
                        let more = rate - flows.flow(slot).rate;
                        flows.flow_mut(slot).rate = rate;
                        marked.change(slot, flows.route(slot), more);
                        if rate > 1.0 {
                            break;
                        }
                    }
                    None => {
                        let link = rng.random_range(0..30u32);
                        capacities[link as usize] = f64::from(rng.random_range(0..11u32)) / 10.0;
                        marked.set_capacity(link, capacities[link as usize]);
                    }
                }
            }
            marked.update(&flows, 0.0);
            for (&slot, fraction) in flows.active().iter().zip(fractions(&net, marking, &capacities, &flows)) {
                let found = marked.flow_marks[slot as usize].fraction;
                assert!((found - fraction).abs() < 1e-12, "seed {seed}, slot {slot}: {found} and {fraction}");
                checked += usize::from(fraction > 0.0);
            }
        }
    }
    assert!(checked > 10_000, "{checked} marked flows are too few for a conclusion");
}
