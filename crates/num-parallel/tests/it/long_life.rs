//! Allocators that live long: links that fail by the dozen and return, flows that change, ids that never come round,
//! and calls that are stopped on the way.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use netnum_core::*;
use netnum_parallel::internal::Engine;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, Precision};
use proptest::prelude::*;

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn made(capacities: Vec<f64>, method: &str, normalization: Normalization) -> Allocator {
    let settings = AllocatorSettings::default().with_normalizer(Some(normalization)).with_update_threshold(0.0);
    Allocator::by_name(capacities, method, &BTreeMap::new(), settings, one()).unwrap()
}

fn loads(allocator: &Allocator, flows: &[(FlowId, Vec<u32>)]) -> (Vec<f64>, Vec<usize>) {
    let (mut loads, mut counts) = (vec![0.0; allocator.capacities().len()], vec![0; allocator.capacities().len()]);
    for (id, path) in flows {
        for &link in path {
            loads[link as usize] += allocator.rate(*id).unwrap();
            counts[link as usize] += 1;
        }
    }
    (loads, counts)
}

/// No link is over its capacity by more than [`Allocator::tick`] says.
fn assert_no_overload(allocator: &Allocator, flows: &[(FlowId, Vec<u32>)]) {
    let (loads, counts) = loads(allocator, flows);
    for ((load, count), capacity) in loads.iter().zip(counts).zip(allocator.capacities()) {
        let most = capacity * (1.0 + (count + 4) as f64 * f64::EPSILON);
        assert!(*load <= most, "{load:e} of {capacity:e}, over by {:e} with {count} flows", load / capacity - 1.0);
    }
}

#[derive(Debug, Clone)]
enum Event {
    Start(Vec<u32>, PowerLaw),
    End(usize),
    Weight(usize, f64),
    Reroute(usize, Vec<u32>),
    Capacities(Vec<(u32, f64)>),
    Tick,
    Copy,
}

const LINKS: u32 = 8;

fn path() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::subsequence((0..LINKS).collect::<Vec<_>>(), 1..5)
}

fn decades(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10f64.powf(exponent))
}

fn event() -> impl Strategy<Value = Event> {
    let worth =
        (decades(-6.0, 6.0), prop_oneof![Just(1.0), 0.5f64..5.0], prop_oneof![Just(f64::INFINITY), 0.1f64..9.0]);
    let worth = worth.prop_map(|(weight, alpha, cap)| PowerLaw::new(weight, alpha).with_cap(cap));
    let capacity = prop_oneof![Just(0.0), Just(10.0), decades(-2.0, 3.0)];
    let capacities = prop::collection::vec((0..LINKS, capacity), 1..5).prop_map(|mut changes| {
        changes.sort_by_key(|change| change.0);
        changes.dedup_by_key(|change| change.0);
        Event::Capacities(changes)
    });
    prop_oneof![
        8 => (path(), worth).prop_map(|(path, worth)| Event::Start(path, worth)),
        5 => any::<usize>().prop_map(Event::End),
        3 => (any::<usize>(), decades(-6.0, 6.0)).prop_map(|(flow, weight)| Event::Weight(flow, weight)),
        3 => (any::<usize>(), path()).prop_map(|(flow, path)| Event::Reroute(flow, path)),
        3 => capacities,
        6 => Just(Event::Tick),
        1 => Just(Event::Copy),
    ]
}

/// Twelve decades of weights, rates over hundreds.
fn never_overloads(method: &str, normalization: Normalization, events: &[Event]) {
    let mut allocator = made(vec![10.0; LINKS as usize], method, normalization);
    let mut flows: Vec<(FlowId, Vec<u32>)> = Vec::new();
    for event in events {
        match event {
            Event::Start(path, worth) => flows.push((allocator.start(path, *worth).unwrap(), path.clone())),
            Event::Tick => {
                allocator.tick().unwrap();
                assert_no_overload(&allocator, &flows);
            }
            Event::Capacities(changes) => {
                let (links, capacities): (Vec<u32>, Vec<f64>) = changes.iter().copied().unzip();
                allocator.set_capacities(&links, &capacities).unwrap();
                changes
                    .iter()
                    .for_each(|&(link, capacity)| assert_eq!(allocator.capacities()[link as usize], capacity));
            }
            Event::Copy => allocator = Allocator::from_json(&allocator.to_json().unwrap(), one()).unwrap(),
            _ if flows.is_empty() => {}
            Event::End(flow) => {
                let (id, _) = flows.swap_remove(flow % flows.len());
                allocator.end(id).unwrap();
            }
            Event::Weight(flow, weight) => {
                let (id, path) = &flows[flow % flows.len()];
                let worth = PowerLaw { weight: *weight, ..allocator.utility(*id).unwrap() };
                allocator.change(*id, None, Some(worth)).unwrap();
                assert_eq!(
                    (allocator.paths(*id).unwrap(), allocator.utility(*id).unwrap()),
                    (Paths::from_lists([path]), worth)
                );
            }
            Event::Reroute(flow, path) => {
                let flow = flow % flows.len();
                let (id, worth) = (flows[flow].0, allocator.utility(flows[flow].0).unwrap());
                allocator.change(id, Some(path), None).unwrap();
                flows[flow].1.clone_from(path);
                assert_eq!(
                    (allocator.paths(id).unwrap(), allocator.utility(id).unwrap()),
                    (Paths::from_lists([path]), worth)
                );
            }
        }
    }
    assert_eq!(allocator.flows(), flows.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_normalizer_ever_overloads_a_link_whatever_weights_paths_and_capacities_do(
        events in prop::collection::vec(event(), 1..120),
    ) {
        for method in ["ned", "fast-ned", "newton-like"] {
            for normalization in NORMALIZERS.iter().map(|entry| entry.make) {
                never_overloads(method, normalization, &events);
            }
        }
    }

    /// Flows that have changed are as if they had always been what they are now.
    #[test]
    fn changed_flows_get_the_rates_of_new_ones(events in prop::collection::vec(event(), 1..80)) {
        let mut engine = Engine::new(
            vec![10.0; LINKS as usize], &Paths::from_lists([[0; 0]; 0]), netnum_core::price::Ned::new(0.4),
            Precision::F64, one(),
        ).unwrap();
        let mut flows: Vec<(FlowId, Vec<u32>, PowerLaw)> = Vec::new();
        let mut capacities = vec![10.0; LINKS as usize];
        for event in &events {
            match event {
                Event::Start(path, worth) => flows.push((engine.start(path, *worth).unwrap(), path.clone(), *worth)),
                Event::Tick => engine.step().unwrap(),
                Event::Copy => engine.lay_out().unwrap(),
                Event::Capacities(changes) => {
                    for &(link, capacity) in changes {
                        capacities[link as usize] = capacity;
                        engine.set_capacity(link, capacity).unwrap();
                    }
                }
                _ if flows.is_empty() => {}
                Event::End(flow) => {
                    let (id, ..) = flows.swap_remove(flow % flows.len());
                    engine.end(id).unwrap();
                }
                Event::Weight(flow, weight) => {
                    let flow = flow % flows.len();
                    flows[flow].2.weight = *weight;
                    engine.change(flows[flow].0, None, Some(flows[flow].2)).unwrap();
                }
                Event::Reroute(flow, path) => {
                    let flow = flow % flows.len();
                    flows[flow].1.clone_from(path);
                    engine.change(flows[flow].0, Some(path), None).unwrap();
                }
            }
        }
        let typical = Paths::from_lists(flows.iter().map(|(_, path, _)| path));
        let mut new =
            Engine::new(capacities, &typical, netnum_core::price::Ned::new(0.4), Precision::F64, one()).unwrap();
        new.links.set_prices(engine.links.prices()).unwrap();
        let ids: Vec<FlowId> = flows.iter().map(|(_, path, worth)| new.start(path, *worth).unwrap()).collect();
        engine.step().unwrap();
        new.step().unwrap();
        for ((id, path, _), other) in flows.iter().zip(ids) {
            let (found, expected) = (engine.rate(*id).unwrap(), new.rate(other).unwrap());
            prop_assert_eq!(&engine.path(*id).unwrap(), path);
            prop_assert!((found - expected).abs() <= 1e-12 * expected, "{} and {}", found, expected);
        }
    }
}

#[test]
fn many_links_fail_and_return_at_once_or_none_does() {
    let net = Topology::leaf_spine(4, 8, 4, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(500, 1).unwrap();
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    let start = || {
        let mut allocator = made(net.capacities().to_vec(), "ned", Normalization::FNorm);
        allocator.start_all(&paths, &vec![PowerLaw::log(1.0); 500]).unwrap();
        (0..5).for_each(|_| allocator.tick().unwrap());
        allocator
    };
    let (mut together, mut one_by_one) = (start(), start());
    let links: Vec<u32> = (0..16).collect();
    for factor in [0.0, 0.5, 1.0] {
        let capacities: Vec<f64> = links.iter().map(|&link| factor * net.capacities()[link as usize]).collect();
        together.set_capacities(&links, &capacities).unwrap();
        links.iter().zip(&capacities).for_each(|(&link, &capacity)| one_by_one.set_capacity(link, capacity).unwrap());
        for allocator in [&mut together, &mut one_by_one] {
            (0..200).for_each(|_| allocator.tick().unwrap());
        }
        for ((id, rate), (other_id, other)) in together.rates().into_iter().zip(one_by_one.rates()) {
            assert!(id == other_id && (rate - other).abs() <= 1e-6 * other, "{rate} and {other}");
        }
    }
    let before = together.to_json().unwrap();
    let refusal = |allocator: &mut Allocator, links: &[u32], capacities: &[f64]| {
        allocator.set_capacities(links, capacities).unwrap_err().to_string()
    };
    let links = net.capacities().len();
    assert_eq!(refusal(&mut together, &[0, 1], &[1.0]), "capacities has 1 entries, expected 2, one per link");
    assert_eq!(refusal(&mut together, &[0, 0], &[1.0, 2.0]), "link 0 is named twice, expected every link once");
    let expected = format!("there is no link 9999, expected a link from 0 to {}", links - 1);
    assert_eq!(refusal(&mut together, &[0, 9999], &[1.0, 2.0]), expected);
    let expected = "link 3 has capacity -1, expected a number >= 0 (inf for no limit)";
    assert_eq!(refusal(&mut together, &[0, 3], &[1.0, -1.0]), expected);
    assert_eq!(together.to_json().unwrap(), before);
}

/// It is checked against the capacity that the link had, so that the link can return; the id is the caller's.
#[test]
fn a_flow_on_a_failed_link_is_checked_against_what_the_link_will_be() {
    let steep = PowerLaw::new(1.0, 30.0);
    let mut allocator = made(vec![1e10, 1.0], "ned", Normalization::FNorm);
    allocator.set_capacity(0, 0.0).unwrap();
    let refused = allocator.start(&[0, 0], steep).unwrap_err().to_string();
    assert_eq!(refused, "path 0 visits link 0 twice");
    let refused = allocator.start(&[0], steep).unwrap_err().to_string();
    assert!(refused.contains("out of range"), "{refused}");
    let fits = allocator.start(&[0], PowerLaw { weight: 1e10, ..steep }).unwrap();
    let other = allocator.start(&[1], steep).unwrap();
    allocator.set_capacity(0, 1e10).unwrap();
    allocator.tick().unwrap();
    assert!(allocator.rate(fits).unwrap() > 0.0);
    // What the link never was may still be refused, by the id of the flow.
    let before = allocator.to_json().unwrap();
    let refused = allocator.set_capacities(&[1, 0], &[2.0, 1.0]).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("flow {fits} has weight 1")) && refused.contains("out of range"), "{refused}");
    let refused = allocator.change(other, Some(&[0]), None).unwrap_err().to_string();
    assert!(
        refused.starts_with(&format!("flow {other} has weight 1")) && refused.contains("out of range"),
        "{refused}"
    );
    assert_eq!(allocator.to_json().unwrap(), before);
    // A link that never worked says nothing until it does.
    let mut allocator = made(vec![0.0], "ned", Normalization::FNorm);
    let id = allocator.start(&[0], steep).unwrap();
    assert!(allocator.set_capacity(0, 1e10).unwrap_err().to_string().starts_with(&format!("flow {id} has weight 1")));
    allocator.set_capacity(0, 2.0).unwrap();
}

#[test]
fn a_flow_that_changes_keeps_its_id_and_has_the_rate_of_what_it_is() {
    for method in ["ned", "fast-ned", "rcp"] {
        let mut allocator = made(vec![10.0, 20.0], method, Normalization::Fill);
        let ids = allocator.start_all(&Paths::from_lists([[0], [0]]), &[PowerLaw::log(1.0); 2]).unwrap();
        let settle = |allocator: &mut Allocator| {
            (0..300).for_each(|_| allocator.tick().unwrap());
            [ids[0], ids[1]].map(|id| (1e6 * allocator.rate(id).unwrap()).round() / 1e6)
        };
        assert_eq!(settle(&mut allocator), [5.0, 5.0], "{method}");
        allocator.change(ids[0], None, Some(PowerLaw::log(4.0))).unwrap();
        assert_eq!(allocator.rate(ids[0]).unwrap().round(), 5.0, "until the next tick");
        assert_eq!(settle(&mut allocator), [8.0, 2.0], "{method}");
        allocator.change(ids[0], None, Some(PowerLaw { cap: 3.0, ..PowerLaw::log(4.0) })).unwrap();
        assert_eq!(allocator.rate(ids[0]).unwrap(), 3.0, "never above the cap");
        assert_eq!(settle(&mut allocator), [3.0, 7.0], "{method}");
        allocator.change(ids[1], Some(&[1]), None).unwrap();
        assert_eq!(allocator.rate(ids[1]).unwrap(), 0.0, "on another path from the next tick on");
        assert_eq!(settle(&mut allocator), [3.0, 20.0], "{method}");
        // Of many, all or none, and the wrong one by its name.
        let before = allocator.to_json().unwrap();
        let refusal = |allocator: &mut Allocator, ids: &[FlowId], paths: &[&[u32]], worths: &[PowerLaw]| {
            let (paths, none) = (Paths::from_lists(paths), paths.is_empty());
            let worths = Some(worths).filter(|worths| !worths.is_empty());
            allocator.change_all(ids, Some(&paths).filter(|_| !none).map(Into::into), worths).unwrap_err().to_string()
        };
        let heavy = [PowerLaw::log(1.0), PowerLaw::log(-1.0)];
        let expected = format!("flow {} has weight -1, expected a finite number > 0", ids[1]);
        assert_eq!(refusal(&mut allocator, &ids, &[], &heavy), expected);
        assert_eq!(refusal(&mut allocator, &ids, &[&[0], &[1, 1]], &[]), "path 1 visits link 1 twice");
        assert_eq!(refusal(&mut allocator, &ids, &[&[0]], &[]), "paths has 1 entries, expected 2, one per id");
        assert_eq!(refusal(&mut allocator, &ids, &[], &heavy[..1]), "utilities has 1 entries, expected 2, one per id");
        let twice = [ids[0], ids[0]];
        assert!(
            refusal(&mut allocator, &twice, &[], &[PowerLaw::log(2.0); 2])
                .ends_with("is named twice, expected every flow once")
        );
        assert_eq!(allocator.to_json().unwrap(), before);
    }
}

/// A slot that has been used 2^30 times is used no more.
#[test]
fn an_id_never_comes_round() {
    let mut allocator = made(vec![10.0], "ned", Normalization::FNorm);
    let first = allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    allocator.tick().unwrap();
    let last = (1u64 << 31) - 1;
    let nearly = |generation: u64| {
        allocator.to_json().unwrap().replace("\"generation\":1,", &format!("\"generation\":{generation},"))
    };
    let mut allocator = Allocator::from_json(&nearly(last - 2), one()).unwrap();
    assert!(!allocator.contains(first));
    let mut ids = vec![(last - 2) << 32];
    for _ in 0..5 {
        allocator.end(FlowId::from_bits(*ids.last().unwrap())).unwrap();
        // Whatever was copied in between: a retired slot stays retired.
        allocator = Allocator::from_json(&allocator.to_json().unwrap(), one()).unwrap();
        assert_eq!(allocator.flows(), 0);
        ids.push(allocator.start(&[0], PowerLaw::log(1.0)).unwrap().to_bits());
        assert_eq!(allocator.flows(), 1);
    }
    assert_eq!(ids[1], last << 32);
    assert_eq!(ids[2], 1 << 32 | 1);
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len());
    assert!(ids.iter().all(|&id| i64::try_from(id).is_ok()));
}

thread_local! {
    static LOOKS_LEFT: Cell<usize> = const { Cell::new(0) };
}

/// A token that stops at the n-th look.
fn stops_after(looks: usize) -> StopToken {
    LOOKS_LEFT.set(looks);
    StopToken::with_poll(Duration::ZERO, || {
        let left = LOOKS_LEFT.get();
        LOOKS_LEFT.set(left.saturating_sub(1));
        left == 0
    })
}

/// Stopped at its first look, its second, …, more of them in between as it goes on, until it is not stopped any more;
/// nothing has changed whenever it was.
fn changes_nothing_when_stopped(
    what: &str,
    allocator: &mut Allocator,
    mut act: impl FnMut(&mut Allocator) -> Result<()>,
) {
    let before = allocator.to_json().unwrap();
    let mut looks = 0;
    loop {
        match stops_after(looks).scope(|| act(allocator)) {
            Ok(()) => {
                return assert!(looks > 1, "{what} was looked at {looks} times");
            }
            Err(error) => assert_eq!(error, Error::Stopped, "{what}"),
        }
        assert!(allocator.to_json().unwrap() == before, "{what} changed something before look {looks}");
        looks += 1 + looks / 3;
    }
}

#[test]
fn what_is_stopped_on_the_way_has_changed_nothing() {
    let links = 200u32;
    let path = |flow: u32| [flow % links, (7 * flow + 1) % links, (13 * flow + 5) % links];
    let distinct = |[a, b, c]: &[u32; 3]| a != b && b != c && a != c;
    let paths = Paths::from_lists((0..9000).map(path).filter(distinct));
    for method in ["ned", "fast-ned"] {
        let mut allocator = made(vec![10.0; links as usize], method, Normalization::FNorm);
        let worths = vec![PowerLaw::log(1.0); paths.len()];
        allocator.set_capacity(3, 0.0).unwrap();
        changes_nothing_when_stopped("start", &mut allocator, |allocator| {
            allocator.start_all(&paths, &worths).map(drop)
        });
        changes_nothing_when_stopped("tick", &mut allocator, |allocator| allocator.tick());
        let ids: Vec<FlowId> = allocator.rates().into_iter().map(|(id, _)| id).collect();
        let (links, none) = ((0..100).collect::<Vec<u32>>(), vec![0.0; 100]);
        changes_nothing_when_stopped("fail", &mut allocator, |allocator| allocator.set_capacities(&links, &none));
        let whole = vec![10.0; 100];
        changes_nothing_when_stopped("return", &mut allocator, |allocator| allocator.set_capacities(&links, &whole));
        let heavy = vec![PowerLaw::log(2.0); ids.len()];
        changes_nothing_when_stopped("change", &mut allocator, |allocator| {
            allocator.change_all(&ids, None, Some(&heavy))
        });
        changes_nothing_when_stopped("write", &mut allocator, |allocator| allocator.to_json().map(drop));
        let json = allocator.to_json().unwrap();
        changes_nothing_when_stopped("read", &mut allocator, |_| Allocator::from_json(&json, one()).map(drop));
        changes_nothing_when_stopped("end", &mut allocator, |allocator| allocator.end_all(&ids));
        assert_eq!(allocator.flows(), 0);
    }
}

/// The flows whose start was stopped had been entered on their links.
#[test]
fn capacities_change_after_a_start_that_was_stopped() {
    let links = 100_000u32;
    let paths = Paths::from_lists((0..20_000).map(|flow| [2 * flow, 2 * flow + 1]));
    let worths = vec![PowerLaw::log(1.0); paths.len()];
    let mut allocator = made(vec![10.0; links as usize], "ned", Normalization::FNorm);
    allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    // From here on the flows of links are known.
    allocator.set_capacity(0, 5.0).unwrap();
    let (links, capacities): (Vec<u32>, Vec<f64>) = (0..links).map(|link| (link, 10.0)).unzip();
    let mut looks = 0;
    while stops_after(looks).scope(|| allocator.start_all(&paths, &worths)).is_err() {
        allocator.set_capacities(&links, &capacities).unwrap();
        assert_eq!(allocator.flows(), 1);
        looks += 1;
    }
    assert!(looks > 4, "it was looked at {looks} times");
    allocator.set_capacities(&links, &capacities).unwrap();
}
