//! Levels of links under any changes, against progressive filling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// A flow's slot, route, weight and cap.
type Weighed = (u32, Route, f64, f64);

/// Max-min rates by progressive filling, a cap being a link for one flow.
fn progressive(capacities: &[f64], flows: &[Weighed]) -> Vec<f64> {
    let mut rates = vec![f64::NAN; flows.len()];
    while rates.iter().any(|rate| rate.is_nan()) {
        let (mut left, mut rising) = (capacities.to_vec(), vec![0.0; capacities.len()]);
        for ((_, route, weight, _), rate) in flows.iter().zip(&rates) {
            for (link, share) in route.iter().map(|(link, share)| (link as usize, weight * share)) {
                if rate.is_nan() { rising[link] += share } else { left[link] -= share * rate }
            }
        }
        let levels: Vec<f64> = left
            .iter()
            .zip(&rising)
            .map(|(left, rising)| if *rising > 0.0 { left / rising } else { f64::INFINITY })
            .collect();
        let capped = flows.iter().zip(&rates).filter(|flow| flow.1.is_nan()).map(|flow| flow.0.3);
        let water = levels.iter().copied().chain(capped).fold(f64::INFINITY, f64::min);
        for ((_, route, _, cap), rate) in flows.iter().zip(&mut rates) {
            if rate.is_nan() && (*cap <= water || route.iter().any(|hop| levels[hop.0 as usize] <= water)) {
                *rate = water.max(0.0);
            }
        }
    }
    rates
}

#[test]
fn flows_with_caps_and_shares_that_come_and_go_get_the_rates_of_a_fill_under_any_change() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let links = rng.random_range(2..12u32);
        let mut capacities: Vec<f64> = (0..links).map(|_| f64::from(rng.random_range(0..6u32))).collect();
        // By moves, by fills from nothing, by fills that go on, and by some of each.
        let mut all = [LinkLevels::default(), LinkLevels::full(), LinkLevels::default(), LinkLevels::default()];
        all.iter_mut().for_each(|levels| levels.reset(&capacities));
        let (mut flows, mut free): (Vec<Weighed>, Vec<u32>) = (vec![], (0..40).rev().collect());
        let mut rates = [[0.0; 40]; 4];
        for _ in 0..300 {
            for _ in 0..rng.random_range(1..4) {
                if !flows.is_empty() && (free.is_empty() || rng.random_bool(0.4)) {
                    let slot = flows.swap_remove(rng.random_range(0..flows.len() as u32) as usize).0;
                    all.iter_mut().for_each(|levels| levels.remove(slot));
                    free.push(slot);
                    continue;
                }
                let mut path = || (0..links).filter(|_| rng.random_bool(0.4)).collect::<Vec<u32>>();
                let (one, other) = (path(), path());
                let mut route = Route::default();
                let part = if one == other { 1.0 } else { 0.25 };
                route.spread([(one.as_slice(), part), (other.as_slice(), 1.0 - part + f64::from(one == other))]);
                if route.links().is_empty() {
                    continue;
                }
                let cap = if rng.random_bool(0.3) { rng.random_range(0.0..2.0) } else { f64::INFINITY };
                if rng.random_bool(0.2) {
                    let (link, capacity) = (rng.random_range(0..links), f64::from(rng.random_range(0..6u32)));
                    capacities[link as usize] = capacity;
                    all.iter_mut().for_each(|levels| _ = levels.set_capacity(link, capacity));
                }
                let place = rng.random_range(0..40u32) as usize;
                if let Some((slot, _, _, its_cap)) = flows.get_mut(place).filter(|_| rng.random_bool(0.5)) {
                    *its_cap = cap;
                    all.iter_mut().for_each(|levels| levels.set_cap(*slot, cap));
                    continue;
                }
                let slot = free.pop().expect("there is room");
                let weighs = seed % 2 == 1 && rng.random_bool(0.7);
                let weight = if weighs { 10f64.powf(rng.random_range(-3.0..3.0)) } else { 1.0 };
                all.iter_mut().for_each(|levels| levels.insert(slot, &route, weight, cap, 0.0));
                rates.iter_mut().for_each(|rates| rates[slot as usize] = 0.0);
                flows.push((slot, route, weight, cap));
            }
            let fills = [false, false, true, rng.random_bool(0.8)];
            for ((levels, rates), fills) in all.iter_mut().zip(&mut rates).zip(fills) {
                if fills { levels.refill() } else { levels.update() }.unwrap();
                levels.changes(|slot, member, _| rates[slot as usize] = member.rate).unwrap();
            }
            for ((slot, ..), expected) in flows.iter().zip(progressive(&capacities, &flows)) {
                for (way, rates) in rates.iter().enumerate() {
                    let rate = rates[*slot as usize];
                    let close = (rate - expected).abs() <= 1e-9 * expected.max(1.0);
                    assert!(close, "seed {seed}, way {way}, slot {slot}: {rate} and {expected}");
                }
            }
        }
    }
}

#[test]
fn flows_that_come_and_go_where_they_stand_get_the_rates_of_a_fill() {
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let links = rng.random_range(2..12u32);
        let mut capacities: Vec<f64> = (0..links).map(|_| f64::from(rng.random_range(1..6u32))).collect();
        let mut levels = LinkLevels::default();
        levels.reset(&capacities);
        levels.find_bottlenecks();
        let (mut flows, mut free): (Vec<Weighed>, Vec<u32>) = (vec![], (0..40).rev().collect());
        for _ in 0..300 {
            for _ in 0..rng.random_range(1..4) {
                if !flows.is_empty() && (free.is_empty() || rng.random_bool(0.4)) {
                    let slot = flows.swap_remove(rng.random_range(0..flows.len() as u32) as usize).0;
                    levels.remove(slot);
                    free.push(slot);
                } else if rng.random_bool(0.2) {
                    let (link, capacity) = (rng.random_range(0..links), f64::from(rng.random_range(0..6u32)));
                    capacities[link as usize] = capacity;
                    levels.set_capacity(link, capacity);
                } else {
                    let mut path = || (0..links).filter(|_| rng.random_bool(0.4)).collect::<Vec<u32>>();
                    let (one, other) = (path(), path());
                    let mut route = Route::default();
                    match seed % 3 {
                        0 => route.spread([(one.as_slice(), 0.3), (other.as_slice(), 0.7)]),
                        _ => route.spread([(one.as_slice(), 1.0)]),
                    }
                    if route.links().is_empty() {
                        continue;
                    }
                    let slot = free.pop().expect("there is room");
                    let weighs = seed % 2 == 1 && rng.random_bool(0.7);
                    let weight = if weighs { 10f64.powf(rng.random_range(-3.0..3.0)) } else { 1.0 };
                    levels.insert(slot, &route, weight, f64::INFINITY, 0.0);
                    flows.push((slot, route, weight, f64::INFINITY));
                }
            }
            levels.sweep().unwrap();
            for ((slot, route, ..), expected) in flows.iter().zip(progressive(&capacities, &flows)) {
                let rate = levels.levels[levels.member(*slot).bottleneck() as usize];
                let close = (rate - expected).abs() <= 1e-9 * expected.max(1.0);
                assert!(close, "seed {seed}, slot {slot} over {:?}: {rate} and {expected}", route.links());
            }
        }
    }
}
