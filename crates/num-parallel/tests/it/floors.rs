//! Rates that flows of an allocator are guaranteed: kept wherever they fit, refused where they do not.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::common::long_churn;
use netnum_core::internal::on_ranks;
use netnum_core::*;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn made(capacities: Vec<f64>, method: &str, normalizer: Option<Normalization>, headroom: f64) -> Allocator {
    let settings =
        AllocatorSettings::default().with_normalizer(normalizer).with_update_threshold(0.0).with_headroom(headroom);
    Allocator::by_name(capacities, method, &BTreeMap::new(), settings, NonZeroUsize::MIN).unwrap()
}

fn normalizers() -> impl Iterator<Item = Normalization> {
    NORMALIZERS.iter().map(|entry| entry.make)
}

fn rates(allocator: &Allocator, ids: &[FlowId]) -> Vec<f64> {
    ids.iter().map(|&id| allocator.rate(id).unwrap()).collect()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * expected.max(1.0), "{what}: {found} and {expected}");
    }
}

/// Of a link of 10 one flow has 7; the others share what is left as their weights say. A floor below what a flow gets
/// anyway changes nothing.
#[test]
fn a_flow_stays_at_its_floor_and_others_share_the_rest() {
    for (method, normalizer) in ["ned", "fast-ned"].into_iter().flat_map(|it| normalizers().map(move |by| (it, by))) {
        let what = format!("{method}, {normalizer:?}");
        let mut allocator = made(vec![10.0], method, Some(normalizer), 0.0);
        let laws = [PowerLaw::log(1.0).with_floor(7.0), PowerLaw::log(2.0), PowerLaw::log(1.0).with_floor(0.5)];
        let ids = allocator.start_all(&Paths::from_lists([[0]; 3]), &laws).unwrap();
        assert_eq!(rates(&allocator, &ids), [0.0; 3], "{what}");
        for _ in 0..300 {
            allocator.tick().unwrap();
            assert!(allocator.rate(ids[0]).unwrap() >= 7.0 * (1.0 - 1e-12), "{what}: at every tick");
        }
        assert_close(&rates(&allocator, &ids), &[7.0, 2.0, 1.0], &what);
        assert_eq!(allocator.utility(ids[0]).unwrap().floor, 7.0);
        allocator.change(ids[0], None, Some(PowerLaw::log(1.0))).unwrap();
        (0..300).for_each(|_| allocator.tick().unwrap());
        assert_close(&rates(&allocator, &ids), &[2.5, 5.0, 2.5], &what);
        assert!(allocator.broken_floors().is_empty());
    }
}

/// A floor uses of a link what its path does: at a half, 12 of it leave 4.
#[test]
fn a_floor_counts_with_the_coefficients_of_its_path() {
    let paths = Paths::with_coefficients(vec![0, 1, 2], vec![0, 0], vec![0.5, 2.0]).unwrap();
    let mut allocator = made(vec![10.0], "ned", Some(Normalization::FNorm), 0.0);
    let laws = [PowerLaw::log(1.0).with_floor(12.0), PowerLaw::log(1.0)];
    let ids = allocator.start_all(&paths, &laws).unwrap();
    (0..300).for_each(|_| allocator.tick().unwrap());
    assert_close(&rates(&allocator, &ids), &[12.0, 2.0], "half and twice");
    let error = allocator.start_all(&paths, &[laws[1], PowerLaw::log(1.0).with_floor(2.1)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "flow 1 has flow floor 2.1, which link 0 cannot keep: floors there would use 10.2, expected at most 10"
    );
}

#[test]
fn a_floor_that_does_not_fit_is_refused_by_name_and_nothing_has_changed() {
    let mut allocator = made(vec![10.0, 20.0], "ned", Some(Normalization::FNorm), 0.1);
    let law = |floor: f64| PowerLaw::log(1.0).with_floor(floor);
    let first = allocator.start(&[0, 1], law(4.0)).unwrap();
    allocator.tick().unwrap();
    let before = allocator.to_json().unwrap();
    // Headroom is held back from floors as well.
    let refused = |allocator: &mut Allocator, path: &[u32], floor: f64| {
        allocator.start(path, law(floor)).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&mut allocator, &[0], 5.1),
        "flow 0 has flow floor 5.1, which link 0 cannot keep: floors there would use 9.1, expected at most 9"
    );
    // Together they do not fit, though each would alone.
    let paths = Paths::from_lists([[1], [0], [0]]);
    let error = allocator.start_all(&paths, &[law(0.0), law(3.0), law(3.0)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "flow 1 has flow floor 3, which link 0 cannot keep: floors there would use 10, expected at most 9"
    );
    for (floor, expected) in [(-1.0, ""), (f64::NAN, ""), (f64::INFINITY, "")] {
        let expected = format!("flow 0 has flow floor {floor}, expected a finite number >= 0{expected}");
        assert_eq!(refused(&mut allocator, &[0], floor), expected);
    }
    let above = allocator.start(&[1], law(3.0).with_cap(2.0)).unwrap_err().to_string();
    assert_eq!(above, "flow 0 has flow floor 3, expected a finite number >= 0, at most its cap of 2");
    let more = allocator.change(first, None, Some(law(9.5))).unwrap_err().to_string();
    let expected = format!("flow {first} has flow floor 9.5, which link 0 cannot keep: floors there would use 9.5, ");
    assert_eq!(more, expected + "expected at most 9");
    assert_eq!(allocator.to_json().unwrap(), before);
    // One that leaves makes room in the same call.
    let other = allocator.start(&[0], law(5.0)).unwrap();
    allocator.change_all(&[first, other], None, Some(&[law(8.5), law(0.5)])).unwrap();
    allocator.end(first).unwrap();
    allocator.start(&[0], law(8.5)).unwrap();
    // Over a link that has failed there is no floor.
    allocator.set_capacity(1, 0.0).unwrap();
    assert_eq!(refused(&mut allocator, &[1], 1.0), "flow 0 has flow floor 1, which link 1 cannot keep: it has failed");
}

#[test]
fn floors_are_cut_in_proportion_where_a_capacity_falls_below_them_and_named() {
    for normalizer in normalizers() {
        let what = format!("{normalizer:?}");
        let mut allocator = made(vec![10.0, 10.0], "ned", Some(normalizer), 0.0);
        let law = |floor: f64| PowerLaw::log(1.0).with_floor(floor);
        let paths = Paths::from_lists([vec![0], vec![0, 1], vec![1], vec![0]]);
        let ids = allocator.start_all(&paths, &[law(6.0), law(2.0), law(7.0), law(0.0)]).unwrap();
        allocator.set_capacity(0, 4.0).unwrap();
        assert_eq!(allocator.broken_floors(), ids[..2], "{what}");
        (0..400).for_each(|_| allocator.tick().unwrap());
        // What the second one has lost is of no use to the third but above its floor.
        assert_close(&rates(&allocator, &ids), &[3.0, 1.0, 9.0, 0.0], &what);
        // With the second link fails what is over it, and its floor counts nowhere.
        allocator.set_capacity(1, 0.0).unwrap();
        assert_eq!(allocator.broken_floors(), ids[..3], "{what}");
        (0..400).for_each(|_| allocator.tick().unwrap());
        assert_close(&rates(&allocator, &ids), &[4.0, 0.0, 0.0, 0.0], &what);
        allocator.set_capacities(&[0, 1], &[10.0, 10.0]).unwrap();
        assert!(allocator.broken_floors().is_empty(), "{what}");
        (0..2000).for_each(|_| allocator.tick().unwrap());
        assert_close(&rates(&allocator, &ids), &[6.0, 2.0, 8.0, 2.0], &what);
    }
}

/// An endpoint hears of its floor though its rate has hardly moved.
#[test]
fn what_was_sent_is_not_below_a_floor_that_is_kept() {
    let settings = AllocatorSettings::default().with_update_threshold(0.2);
    let mut allocator = Allocator::by_name(vec![12.5], "ned", &BTreeMap::new(), settings, NonZeroUsize::MIN).unwrap();
    let ids = allocator.start_all(&Paths::from_lists([[0]; 2]), &[PowerLaw::log(1.0); 2]).unwrap();
    (0..100).for_each(|_| allocator.tick().unwrap());
    assert_eq!(allocator.updates().len(), 2);
    allocator.change(ids[0], None, Some(PowerLaw::log(1.0).with_floor(5.5))).unwrap();
    (0..100).for_each(|_| allocator.tick().unwrap());
    let updates = allocator.updates();
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert!(updates[0].0 == ids[0] && updates[0].1 >= 5.5 * (1.0 - 1e-12));
}

#[test]
fn floors_are_for_one_rank() {
    let refused = on_ranks(2, |_, ranks| {
        let mut allocator = made(vec![10.0], "ned", None, 0.0);
        allocator.over(ranks.clone()).unwrap();
        allocator.start(&[0], PowerLaw::log(1.0).with_floor(1.0)).unwrap_err().to_string()
    });
    let expected = "flow_floor is 1, expected 0 over several ranks: floors fit beside those of all flows";
    assert_eq!(refused, [expected; 2]);
}

/// What a caller would write down of a flow: its path with coefficients, and its floor.
type Noted = (FlowId, Vec<(u32, f64)>, f64);

/// After every tick no link is too full, and every floor is kept that is not named; one is named only where the floors
/// on a link of it do not fit. A start is refused exactly where it would not fit.
fn keeps_floors(method: &str, normalizer: Normalization, events: usize, seed: u64) {
    let (links, mut rng) = (12u32, ChaCha8Rng::seed_from_u64(seed));
    let mut capacities = vec![10.0; links as usize];
    let headroom = [0.0, 0.2][seed as usize % 2];
    let mut allocator = made(capacities.clone(), method, Some(normalizer), headroom);
    let (mut flows, mut refused): (Vec<Noted>, usize) = (Vec::new(), 0);
    let uses = |flows: &[Noted], link: u32, counts: &dyn Fn(&Noted) -> f64| -> f64 {
        let of = |flow: &Noted| flow.1.iter().filter(|entry| entry.0 == link).map(|entry| entry.1).sum::<f64>();
        flows.iter().map(|flow| of(flow) * counts(flow)).sum()
    };
    for _ in 0..events {
        match rng.random_range(0..20) {
            0..=7 if flows.len() < 200 => {
                let mut path: Vec<(u32, f64)> = Vec::new();
                for _ in 0..rng.random_range(1..5) {
                    let (link, weighs) = (rng.random_range(0..links), rng.random_bool(0.5));
                    if path.iter().all(|entry| entry.0 != link) {
                        path.push((link, if weighs { [0.1, 0.5, 3.0][rng.random_range(0..3)] } else { 1.0 }));
                    }
                }
                let floor = if rng.random_bool(0.4) { rng.random_range(0.01..1.5) } else { 0.0 };
                let weight = 10f64.powf(rng.random_range(-2.0..2.0));
                let law = PowerLaw::new(weight, [1.0, 2.0][rng.random_range(0..2)]).with_floor(floor);
                let (ones, a): (Vec<u32>, Vec<f64>) = path.iter().copied().unzip();
                let paths = Paths::with_coefficients(vec![0, path.len()], ones, a).unwrap();
                let fits = path.iter().all(|&(link, a)| {
                    let capacity = capacities[link as usize] * (1.0 - headroom);
                    let floors = uses(&flows, link, &|flow| flow.2) + a * floor;
                    floor == 0.0 || (capacity > 0.0 && floors <= capacity * (1.0 + 1e-9))
                });
                match allocator.start_all(&paths, &[law]) {
                    Ok(ids) => {
                        assert!(fits, "{method}, {normalizer:?}: it does not fit");
                        flows.push((ids[0], path, floor));
                    }
                    Err(Error::FloorDoesNotFit { .. }) => {
                        assert!(!fits, "{method}, {normalizer:?}: it fits");
                        refused += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            0..=13 if !flows.is_empty() => {
                allocator.end(flows.swap_remove(rng.random_range(0..flows.len())).0).unwrap();
            }
            14 => {
                let link = rng.random_range(0..links);
                capacities[link as usize] = [0.0, 10.0, 3.0, 10.0][rng.random_range(0..4)];
                allocator.set_capacity(link, capacities[link as usize]).unwrap();
            }
            15 if rng.random_bool(0.1) => {
                allocator = Allocator::from_json(&allocator.to_json().unwrap(), NonZeroUsize::MIN).unwrap();
            }
            16 => allocator.respond().unwrap(),
            _ => allocator.tick().unwrap(),
        }
        if !rng.random_bool(0.3) {
            continue;
        }
        allocator.tick().unwrap();
        let rates: BTreeMap<FlowId, f64> = allocator.rates().into_iter().collect();
        for link in 0..links {
            let (load, most) = (uses(&flows, link, &|flow| rates[&flow.0]), capacities[link as usize]);
            assert!(load <= most * (1.0 - headroom) * (1.0 + 3e-12), "{method}, {normalizer:?}: {load} of {most}");
        }
        let broken = allocator.broken_floors();
        let works = |flow: &Noted| flow.1.iter().all(|&(link, _)| capacities[link as usize] > 0.0);
        let together: Vec<f64> =
            (0..links).map(|link| uses(&flows, link, &|flow| if works(flow) { flow.2 } else { 0.0 })).collect();
        for flow in &flows {
            let (id, path, floor) = flow;
            if !broken.contains(id) {
                assert!(rates[id] >= floor * (1.0 - 1e-9), "{method}, {normalizer:?}: {} of {floor}", rates[id]);
                continue;
            }
            let is_short = |&(link, _): &(u32, f64)| {
                together[link as usize] > capacities[link as usize] * (1.0 - headroom) * (1.0 + 1e-13)
            };
            assert!(*floor > 0.0 && (!works(flow) || path.iter().any(is_short)), "{method}, {normalizer:?}: it fits");
        }
    }
    assert!(refused * 100 > events, "{refused} of {events} are too few to say anything");
}

#[test]
fn ten_thousand_events_break_no_floor_that_fits_and_overload_nothing() {
    for (seed, normalizer) in normalizers().enumerate() {
        keeps_floors("ned", normalizer, 10_000, seed as u64);
        keeps_floors("fast-ned", normalizer, 2000, 10 + seed as u64);
        keeps_floors("gradient", normalizer, 2000, 20 + seed as u64);
    }
}

#[test]
#[ignore = "slow"]
fn a_long_churn_breaks_no_floor_that_fits_and_overloads_nothing() {
    keeps_floors("ned", Normalization::FNorm, long_churn(), 100);
    keeps_floors("fast-ned", Normalization::UNorm, long_churn() / 10, 101);
    keeps_floors("ned", Normalization::Fill, long_churn() / 10, 102);
}
