//! Allocators of flows with several paths: they split as the core solves, and no link is overloaded at any tick.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::common::long_churn;
use netnum_core::*;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, FlowPaths, Precision};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn allocator_with(capacities: &[f64], settings: AllocatorSettings, threads: usize) -> Allocator {
    let threads = NonZeroUsize::new(threads).unwrap();
    Allocator::new(capacities.to_vec(), price::Ned::new(0.4), settings, threads).unwrap()
}

fn allocator(capacities: &[f64]) -> Allocator {
    allocator_with(capacities, AllocatorSettings::default().with_update_threshold(0.0), 1)
}

fn start(allocator: &mut Allocator, paths: &Paths, group: &[u32], laws: &[PowerLaw]) -> Vec<FlowId> {
    allocator.start_all(FlowPaths::grouped(paths, group).unwrap(), laws).unwrap()
}

fn ticks(allocator: &mut Allocator, count: usize) {
    (0..count).for_each(|_| allocator.tick().unwrap());
}

fn rates(allocator: &Allocator, ids: &[FlowId]) -> Vec<f64> {
    ids.iter().map(|&id| allocator.rate(id).unwrap()).collect()
}

/// What flows put on links.
fn loads(allocator: &Allocator, ids: &[FlowId], links: usize) -> Vec<f64> {
    let mut loads = vec![0.0; links];
    for &id in ids {
        let (paths, rates) = (allocator.paths(id).unwrap(), allocator.path_rates(id).unwrap());
        let sum: f64 = rates.iter().sum();
        assert!((sum - allocator.rate(id).unwrap()).abs() <= 1e-12 * sum);
        for (path, rate) in rates.into_iter().enumerate() {
            assert!(rate.is_finite() && rate >= 0.0, "{rate}");
            paths.entries(path).for_each(|(link, a)| loads[link as usize] += a * rate);
        }
    }
    loads
}

fn assert_feasible(allocator: &Allocator, ids: &[FlowId]) {
    let capacities = allocator.capacities();
    for (link, load) in loads(allocator, ids, capacities.len()).into_iter().enumerate() {
        assert!(load <= capacities[link] * (1.0 + 1e-9), "link {link} has {load} of {}", capacities[link]);
    }
}

#[test]
fn a_flow_fills_all_of_its_paths_and_moves_when_one_fails() {
    let mut allocator = allocator(&[6.0, 3.0]);
    let paths = Paths::from_lists([[0], [1], [0]]);
    let ids = start(&mut allocator, &paths, &[0, 0, 1], &[PowerLaw::log(1.0); 2]);
    ticks(&mut allocator, 300);
    for rate in rates(&allocator, &ids) {
        assert!((rate - 4.5).abs() < 1e-6, "{rate}");
    }
    let split = allocator.path_rates(ids[0]).unwrap();
    assert!((split[0] - 1.5).abs() < 1e-5 && (split[1] - 3.0).abs() < 1e-5, "{split:?}");

    allocator.set_capacity(1, 0.0).unwrap();
    allocator.tick().unwrap();
    assert_eq!(allocator.path_rates(ids[0]).unwrap()[1], 0.0);
    ticks(&mut allocator, 60);
    for rate in rates(&allocator, &ids) {
        assert!((rate - 3.0).abs() < 1e-6, "{rate}");
    }
    allocator.set_capacity(1, 3.0).unwrap();
    ticks(&mut allocator, 400);
    for rate in rates(&allocator, &ids) {
        assert!((rate - 4.5).abs() < 1e-6, "{rate}");
    }
    allocator.set_capacities(&[0, 1], &[0.0; 2]).unwrap();
    ticks(&mut allocator, 3);
    assert_eq!(rates(&allocator, &ids), [0.0; 2]);
}

#[test]
fn the_first_tick_after_a_failure_has_moved_the_traffic_of_the_failed_path() {
    let mut allocator = allocator(&[5.0; 4]);
    let ids =
        start(&mut allocator, &Paths::from_lists([[0], [1], [2], [3]]), &[0; 4], &[PowerLaw::log(1.0).with_cap(10.0)]);
    ticks(&mut allocator, 50);
    assert!((rates(&allocator, &ids)[0] - 10.0).abs() < 1e-9);
    allocator.set_capacity(2, 0.0).unwrap();
    allocator.tick().unwrap();
    let split = allocator.path_rates(ids[0]).unwrap();
    assert!(split[2] == 0.0 && (split.iter().sum::<f64>() - 10.0).abs() < 1e-9, "{split:?}");
}

/// A ring with chords.
fn backbone(nodes: usize, chords: usize, seed: u64) -> Topology {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
    let mut ends: Vec<(usize, usize)> = ring.collect();
    while ends.len() < nodes + chords {
        let (one, other) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
        let is_new = !ends.contains(&(one, other)) && !ends.contains(&(other, one));
        ends.extend((one != other && is_new).then_some((one, other)));
    }
    let edges = ends.iter().map(|(one, other)| format!("n{one} n{other} {}", rng.random_range(5..20)));
    Topology::from_edges(&edges.collect::<Vec<_>>().join("\n")).unwrap()
}

/// Backbones with flows over up to three short paths, some with coefficients, caps of flows and of paths.
fn instance(seed: u64) -> (Problem, Vec<PowerLaw>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let net = backbone(12, 10, seed);
    let (sources, destinations) = net.random_pairs(20, seed).unwrap();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(3)).unwrap();
    let alpha = [1.0, 1.0, 2.0, 0.7][rng.random_range(0..4)];
    let weights: Vec<f64> = (0..20).map(|_| rng.random_range(0.5..2.0)).collect();
    let flow_caps: Vec<f64> =
        (0..20).map(|_| if rng.random_bool(0.3) { rng.random_range(0.5..4.0) } else { f64::INFINITY }).collect();
    let rate_caps =
        (0..paths.len()).map(|_| if rng.random_bool(0.2) { rng.random_range(0.5..3.0) } else { f64::INFINITY });
    let rate_caps = rate_caps.collect();
    let coefficients =
        paths.indices().iter().map(|_| if rng.random_bool(0.2) { rng.random_range(0.5..2.0) } else { 1.0 });
    let coefficients = coefficients.collect();
    let paths = Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), coefficients).unwrap();
    let laws =
        weights.iter().zip(&flow_caps).map(|(&weight, &cap)| PowerLaw::new(weight, alpha).with_cap(cap)).collect();
    let utility = AlphaFair::new(alpha, weights).unwrap();
    let problem = Problem::grouped(net.capacities().to_vec(), paths, group, utility).unwrap();
    (problem.with_flow_caps(flow_caps).unwrap().with_rate_caps(rate_caps).unwrap(), laws)
}

fn start_problem(allocator: &mut Allocator, problem: &Problem, laws: &[PowerLaw]) -> Vec<FlowId> {
    let caps: Vec<f64> = (0..problem.paths().len()).map(|path| problem.rate_cap(path)).collect();
    let flows = FlowPaths::grouped(problem.paths(), problem.group()).unwrap().with_rate_caps(&caps).unwrap();
    allocator.start_all(flows, laws).unwrap()
}

#[test]
fn many_ticks_at_constant_flows_reach_the_optimum_of_the_core() {
    for seed in 0..20 {
        let (problem, laws) = instance(seed);
        let expected = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(expected.status, Status::Optimal);
        let mut allocator = allocator(problem.capacities());
        let ids = start_problem(&mut allocator, &problem, &laws);
        ticks(&mut allocator, 4000);
        assert_feasible(&allocator, &ids);
        let own: Vec<f64> = ids.iter().flat_map(|&id| allocator.path_rates(id).unwrap()).collect();
        let gap = certify(&problem, &own, &allocator.prices()).unwrap().relative_gap;
        assert!(gap < 1e-3, "seed {seed}: {gap}");
    }
}

/// A network in use: flows over several paths start, end and change, links fail and return.
struct Use {
    net: Topology,
    allocator: Allocator,
    ids: Vec<FlowId>,
    rng: ChaCha8Rng,
}

impl Use {
    fn new(seed: u64, normalizer: Normalization, precision: Precision) -> Self {
        let net = backbone(10, 8, seed);
        let settings = AllocatorSettings::default()
            .with_update_threshold(0.0)
            .with_normalizer(Some(normalizer))
            .with_precision(precision);
        let allocator = allocator_with(net.capacities(), settings, 1);
        Self { net, allocator, ids: Vec::new(), rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The paths of a flow, one to four, sometimes with coefficients and caps.
    fn paths(&mut self) -> (Paths, Vec<u32>, Vec<f64>) {
        let rng = &mut self.rng;
        let source = rng.random_range(0..10);
        let destination = (source + rng.random_range(1..10)) % 10;
        let paths = KShortest::new(rng.random_range(1..5));
        let (paths, group) = self.net.k_shortest_paths(&[source], &[destination], &paths).unwrap();
        let weighs = rng.random_bool(0.3);
        let a = paths.indices().iter().map(|_| if weighs { rng.random_range(0.5..2.0) } else { 1.0 }).collect();
        let paths = Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), a).unwrap();
        let caps = (0..paths.len()).map(|_| [f64::INFINITY, 2.0][usize::from(rng.random_bool(0.2))]).collect();
        (paths, group, caps)
    }

    fn event(&mut self) {
        match self.rng.random_range(0..20) {
            0..=6 if self.ids.len() < 60 => {
                let (paths, group, caps) = self.paths();
                let (rng, flows) = (&mut self.rng, FlowPaths::grouped(&paths, &group).unwrap());
                let cap = [f64::INFINITY, 3.0][usize::from(rng.random_bool(0.2))];
                let law =
                    PowerLaw::new(rng.random_range(0.1..10.0), [1.0, 2.0, 0.8][rng.random_range(0..3)]).with_cap(cap);
                self.ids.extend(self.allocator.start_all(flows.with_rate_caps(&caps).unwrap(), &[law]).unwrap());
            }
            7..=12 if !self.ids.is_empty() => {
                let id = self.ids.swap_remove(self.rng.random_range(0..self.ids.len()));
                self.allocator.end(id).unwrap();
            }
            13 => {
                let link = self.rng.random_range(0..self.net.links().len());
                let whole = self.net.capacities()[link];
                let capacity = [0.0, whole, 0.3 * whole, whole][self.rng.random_range(0..4)];
                self.allocator.set_capacity(link as u32, capacity).unwrap();
            }
            14 if !self.ids.is_empty() => {
                let (paths, group, _) = self.paths();
                let id = self.ids[self.rng.random_range(0..self.ids.len())];
                let paths = self.rng.random_bool(0.7).then(|| FlowPaths::grouped(&paths, &group).unwrap());
                let law = PowerLaw::log(self.rng.random_range(0.1..10.0));
                self.allocator.change_all(&[id], paths, Some(&[law])).unwrap();
            }
            15 => self.allocator.respond().unwrap(),
            _ => self.allocator.tick().unwrap(),
        }
    }
}

fn never_overloads(normalizer: Normalization, precision: Precision, events: usize, tolerance: f64) {
    let mut used = Use::new(7, normalizer, precision);
    for event in 0..events {
        used.event();
        if event % 7 == 0 {
            used.allocator.tick().unwrap();
            let loads = loads(&used.allocator, &used.ids, used.net.links().len());
            for (load, capacity) in loads.iter().zip(used.allocator.capacities()) {
                assert!(*load <= capacity * (1.0 + tolerance), "event {event}: {load} of {capacity}");
            }
        }
    }
}

#[test]
fn no_link_is_ever_overloaded() {
    never_overloads(Normalization::FNorm, Precision::F64, 20_000, 1e-12);
    never_overloads(Normalization::UNorm, Precision::F64, 3000, 1e-12);
    never_overloads(Normalization::Fill, Precision::F64, 3000, 1e-12);
    never_overloads(Normalization::FNorm, Precision::F32, 3000, 1e-5);
}

#[test]
#[ignore = "slow"]
fn a_long_churn_overloads_no_link() {
    never_overloads(Normalization::FNorm, Precision::F64, long_churn(), 1e-11);
}

#[test]
fn a_snapshot_goes_on_to_the_last_bit_and_threads_change_none() {
    for precision in [Precision::F64, Precision::F32] {
        let mut used = Use::new(3, Normalization::FNorm, precision);
        (0..500).for_each(|_| used.event());
        let _ = used.allocator.path_updates();
        let text = used.allocator.to_json().unwrap();
        let mut others =
            [1, 3].map(|threads| Allocator::from_json(&text, NonZeroUsize::new(threads).unwrap()).unwrap());
        assert_eq!(others[1].to_json().unwrap(), text);
        for _ in 0..3 {
            used.allocator.tick().unwrap();
            let expected = used.allocator.path_updates();
            for other in &mut others {
                other.tick().unwrap();
                assert_eq!(other.path_updates(), expected);
            }
        }
    }
}

#[test]
fn a_group_of_one_path_each_is_that_of_flows_with_one_path() {
    let (problem, laws) = instance(5);
    let paths = problem.paths();
    let laws: Vec<PowerLaw> = (0..paths.len()).map(|path| laws[path % laws.len()]).collect();
    let (mut one, mut other) = (allocator(problem.capacities()), allocator(problem.capacities()));
    let group: Vec<u32> = (0..paths.len() as u32).rev().collect();
    let reversed: Vec<PowerLaw> = laws.iter().rev().copied().collect();
    let ids = one.start_all(paths, &laws).unwrap();
    let grouped = start(&mut other, paths, &group, &reversed);
    ticks(&mut one, 50);
    ticks(&mut other, 50);
    for (path, &id) in ids.iter().enumerate() {
        let (found, expected) = (other.rate(grouped[group[path] as usize]).unwrap(), one.rate(id).unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected, "path {path}: {found}, expected {expected}");
    }
}

#[test]
fn updates_are_those_of_paths_that_moved() {
    let mut allocator = allocator_with(&[10.0, 10.0], AllocatorSettings::default().with_update_threshold(0.05), 1);
    let ids = start(&mut allocator, &Paths::from_lists([[0], [1], [1]]), &[0, 0, 1], &[PowerLaw::log(1.0); 2]);
    ticks(&mut allocator, 100);
    let numbers = |updates: &[(FlowId, usize, f64)]| {
        let mut numbers: Vec<_> = updates.iter().map(|&(id, path, _)| (id, path)).collect();
        numbers.sort_unstable();
        numbers
    };
    let first = allocator.path_updates();
    assert_eq!(numbers(&first), [(ids[0], 0), (ids[0], 1), (ids[1], 0)]);
    assert!(allocator.path_updates().is_empty());
    assert_eq!(allocator.updates().iter().map(|&(id, _)| id).collect::<Vec<_>>(), [ids[0]], "flow 1 has been sent");
    allocator.set_capacity(1, 0.0).unwrap();
    allocator.tick().unwrap();
    let sent: Vec<(FlowId, usize, f64)> = allocator.path_updates();
    assert!(sent.contains(&(ids[0], 1, 0.0)) && sent.contains(&(ids[1], 0, 0.0)), "{sent:?}");
}

#[test]
fn a_snapshot_before_the_first_tick_is_read_where_a_path_carries_nothing() {
    let mut before = allocator(&[6.0, 3.0, 1e9]);
    before.set_capacity(0, 0.0).unwrap();
    let paths = Paths::from_lists([[0], [1], [1], [2], [2], [0]]);
    let caps = [f64::INFINITY, f64::INFINITY, 0.0, f64::INFINITY, 1e300, f64::INFINITY];
    let flows = FlowPaths::grouped(&paths, &[0, 0, 1, 1, 2, 2]).unwrap().with_rate_caps(&caps).unwrap();
    before.start_all(flows, &[PowerLaw::log(1.0); 3]).unwrap();
    let text = before.to_json().unwrap();
    let mut after = Allocator::from_json(&text, NonZeroUsize::MIN).unwrap();
    assert_eq!(after.to_json().unwrap(), text);
    ticks(&mut before, 20);
    ticks(&mut after, 20);
    assert_eq!(after.path_updates(), before.path_updates());
    let wrong = text.replacen("\"share\":", "\"share\":-", 1);
    let error = Allocator::from_json(&wrong, NonZeroUsize::MIN).map(drop).unwrap_err().to_string();
    assert!(error.contains("path 0 of slot 0 has share -") && error.len() < 200, "{error}");
}

#[test]
fn a_change_of_paths_is_sent_for_all_of_them_also_those_at_0() {
    let start_two = |allocator: &mut Allocator| {
        let ids = start(allocator, &Paths::from_lists([[0], [1]]), &[0, 0], &[PowerLaw::log(1.0)]);
        ticks(allocator, 50);
        assert_eq!(allocator.path_updates().len(), 2);
        ids[0]
    };
    let news = |allocator: &mut Allocator| {
        ticks(allocator, 5);
        let own = allocator.to_json().unwrap();
        let mut other = Allocator::from_json(&own, NonZeroUsize::MIN).unwrap();
        let mut news: Vec<(usize, bool)> =
            allocator.path_updates().into_iter().map(|(_, path, rate)| (path, rate > 0.0)).collect();
        news.sort_unstable();
        assert_eq!(other.path_updates().len(), news.len());
        news
    };
    let (to_others, to_one) = (Paths::from_lists([[2], [3]]), Paths::from_lists([[3]]));
    let grouped = || FlowPaths::grouped(&to_others, &[0, 0]).unwrap();

    // A path that may carry nothing, one whose link has failed, and both in the place of one path.
    let mut capped = allocator(&[6.0, 3.0, 5.0, 5.0]);
    let id = start_two(&mut capped);
    capped.change_all(&[id], Some(grouped().with_rate_caps(&[5.0, 0.0]).unwrap()), None).unwrap();
    assert_eq!(news(&mut capped), [(0, true), (1, false)]);
    let mut failed = allocator(&[6.0, 3.0, 5.0, 5.0]);
    let id = start_two(&mut failed);
    failed.set_capacity(3, 0.0).unwrap();
    failed.change_all(&[id], Some((&to_one).into()), None).unwrap();
    assert_eq!(news(&mut failed), [(0, false)]);
    failed.change_all(&[id], Some(grouped()), None).unwrap();
    assert_eq!(news(&mut failed), [(0, true), (1, false)]);
    assert!(failed.path_updates().is_empty());
    failed.change_all(&[id], Some(grouped()), Some(&[PowerLaw::log(2.0)])).unwrap();
    assert!(failed.path_updates().is_empty(), "its paths are the same");
}

#[test]
fn caps_of_a_flow_and_of_its_only_path_are_two() {
    let mut allocator = allocator(&[20.0, 20.0]);
    let (one, two) = (Paths::from_lists([[0]]), Paths::from_lists([[0], [1]]));
    let capped = |cap: &'static [f64; 1]| FlowPaths::from(&one).with_rate_caps(cap).unwrap();
    let settled = |allocator: &mut Allocator, id: FlowId| {
        ticks(allocator, 100);
        (allocator.rate(id).unwrap() * 1e4).round() / 1e4
    };
    let law = PowerLaw::log(1.0).with_cap(9.0);
    let id = allocator.start_all(capped(&[4.0]), &[law]).unwrap()[0];
    assert_eq!(settled(&mut allocator, id), 4.0);
    assert_eq!(allocator.utility(id).unwrap(), law);
    allocator.change(id, None, Some(law.with_cap(12.0))).unwrap();
    assert_eq!(settled(&mut allocator, id), 4.0);
    let mut other = Allocator::from_json(&allocator.to_json().unwrap(), NonZeroUsize::MIN).unwrap();
    for allocator in [&mut other, &mut allocator] {
        assert_eq!(allocator.utility(id).unwrap().cap, 12.0);
        allocator.change_all(&[id], Some(capped(&[15.0])), None).unwrap();
        assert!(allocator.rate(id).unwrap() > 0.0, "its path is the same");
        assert_eq!(settled(allocator, id), 12.0);
        allocator.change_all(&[id], Some(capped(&[2.0])), None).unwrap();
        assert_eq!(settled(allocator, id), 2.0);
        allocator.change_all(&[id], Some(FlowPaths::grouped(&two, &[0, 0]).unwrap()), None).unwrap();
        assert_eq!(settled(allocator, id), 12.0);
        allocator.change_all(&[id], Some(capped(&[3.0])), None).unwrap();
        assert_eq!(settled(allocator, id), 3.0);
        allocator.change_all(&[id], Some((&one).into()), None).unwrap();
        assert_eq!(settled(allocator, id), 12.0);
    }
}

#[test]
fn floors_of_flows_with_one_path_fit_also_where_others_have_several() {
    let mut allocator = allocator(&[6.0, 9.0, 5.0]);
    let log = PowerLaw::log(1.0);
    let refused = |allocator: &mut Allocator, lists: &[[u32; 1]], group: &[u32], floors: &[f64], caps: &[f64]| {
        let (paths, flows) = (Paths::from_lists(lists), allocator.flows());
        let laws: Vec<PowerLaw> = floors.iter().map(|&floor| log.with_floor(floor)).collect();
        let grouped = FlowPaths::grouped(&paths, group).unwrap().with_rate_caps(caps).unwrap();
        let error = allocator.start_all(grouped, &laws).unwrap_err().to_string();
        assert_eq!(allocator.flows(), flows);
        error
    };
    let split = |floor: f64| (&[[0], [1], [0]], &[0, 0, 1], [0.0, floor], [f64::INFINITY; 3]);
    let (lists, group, floors, caps) = split(100.0);
    assert_eq!(
        refused(&mut allocator, lists, group, &floors, &caps),
        "flow 1 has flow floor 100, which link 0 cannot keep: floors there would use 100, expected at most 6"
    );
    let error = refused(&mut allocator, &[[0], [0]], &[1, 0], &[4.0, 4.0], &[f64::INFINITY; 2]);
    assert!(error.contains("floors there would use 8, expected at most 6"), "{error}");
    let error = refused(&mut allocator, lists, group, &[0.0, 3.0], &[9.0, 9.0, 1.0]);
    assert!(error.starts_with("flow 1 has flow floor 3, expected") && error.contains("cap of 1"), "{error}");
    let kept = allocator.start(&[0], log.with_floor(5.0)).unwrap();
    let (lists, group, floors, caps) = split(5.0);
    let error = refused(&mut allocator, lists, group, &floors, &caps);
    assert!(error.contains("floors there would use 10, expected at most 6"), "{error}");
    allocator.end(kept).unwrap();
    allocator.set_capacity(0, 0.0).unwrap();
    let error = refused(&mut allocator, lists, group, &floors, &caps);
    assert!(error.contains("link 0 cannot keep"), "{error}");

    let over = internal::on_ranks(2, |_, ranks| {
        let mut allocator = self::allocator(&[6.0, 9.0]);
        allocator.over(ranks.clone())?;
        let paths = Paths::from_lists([[0], [1], [0]]);
        allocator.start_all(FlowPaths::grouped(&paths, &[0, 0, 1])?, &[log, log.with_floor(1.0)])
    });
    for error in over.into_iter().map(|found| found.unwrap_err().to_string()) {
        assert!(error.starts_with("flow_floor is 1, expected 0 over several ranks"), "{error}");
    }
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let mut allocator = allocator(&[10.0, 10.0]);
    let paths = Paths::from_lists([[0], [1], [0]]);
    let group = |group: &[u32]| FlowPaths::grouped(&paths, group).map(drop).unwrap_err().to_string();
    assert_eq!(group(&[0, 0]), "group has 2 entries, expected 3, one per path");
    assert_eq!(group(&[0, 0, 2]), "group has no path for flow 1, expected at least one for every flow up to 2");
    assert_eq!(group(&[0, 0, 9]), "group[2] is 9, expected a flow number >= 0 and below the number of paths");
    let flows = || FlowPaths::grouped(&paths, &[0, 0, 1]).unwrap();
    let caps = flows().with_rate_caps(&[1.0, -1.0, 2.0]).map(drop).unwrap_err().to_string();
    assert_eq!(caps, "path 1 has rate cap -1, expected a number >= 0 (inf for none)");
    let mut refused =
        |flows: FlowPaths<'_>, laws: &[PowerLaw]| allocator.start_all(flows, laws).unwrap_err().to_string();
    let log = PowerLaw::log(1.0);
    assert_eq!(refused(flows(), &[log; 3]), "utilities has 3 entries, expected 2, one per flow");
    assert_eq!(refused(flows(), &[log, PowerLaw::log(0.0)]), "flow 1 has weight 0, expected a finite number > 0");
    let none = flows().with_rate_caps(&[0.0, 0.0, 1.0]).unwrap();
    assert_eq!(refused(none, &[log; 2]), "flow 0 has cap 0, expected a path that may carry something");
    let far = Paths::from_lists([[0], [7], [0]]);
    let error = refused(FlowPaths::grouped(&far, &[0, 0, 1]).unwrap(), &[log; 2]);
    assert_eq!(error, "path 1 names link 7, expected a link from 0 to 1");
    assert_eq!(allocator.flows(), 0);
}

#[test]
fn exact_ticks_are_proven_whatever_happens() {
    for seed in 0..6 {
        let (problem, laws) = instance(seed);
        let settings = AllocatorSettings::default().with_update_threshold(0.0).with_exact(Some(1e-3));
        let mut allocator = allocator_with(problem.capacities(), settings, 1);
        assert!(allocator.certificate().is_none());
        let mut ids = start_problem(&mut allocator, &problem, &laws);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for tick in 0..8 {
            match tick {
                2 => allocator.set_capacity(3, 0.0).unwrap(),
                4 => allocator.set_capacity(3, problem.capacities()[3]).unwrap(),
                5 => allocator.end(ids.swap_remove(0)).unwrap(),
                6 => ids.push(allocator.start(&[0], PowerLaw::log(1.0).with_floor(0.1)).unwrap()),
                _ => {
                    let change = |&id: &FlowId| {
                        let law = allocator.utility(id).unwrap();
                        PowerLaw { weight: law.weight * rng.random_range(0.9..1.1), ..law }
                    };
                    let laws: Vec<PowerLaw> = ids.iter().map(change).collect();
                    allocator.change_all(&ids, None, Some(&laws)).unwrap();
                }
            }
            allocator.tick().unwrap();
            let gap = allocator.certificate().unwrap().relative_gap;
            assert!(gap <= 1e-3, "seed {seed}, tick {tick}: {gap}");
            assert_feasible(&allocator, &ids);
        }
        // A solve's split is where the next iteration begins.
        let before = rates(&allocator, &ids);
        allocator.tick().unwrap();
        for (before, now) in before.into_iter().zip(rates(&allocator, &ids)) {
            assert!((now - before).abs() <= 0.3 * before + 1e-3, "seed {seed}: {before} and {now}");
        }
    }
}

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn a_certificate_is_that_of_the_rates_or_none() {
    let settings = AllocatorSettings::default().with_update_threshold(0.0).with_exact(Some(1e-6));
    let mut allocator = allocator_with(&[6.0, 9.0], settings, 1);
    let log = PowerLaw::log(1.0);
    let ids =
        allocator.start_all(&Paths::from_lists([[0], [0], [1]]), &[log.with_floor(2.0), log.with_floor(2.0), log]);
    let ids = ids.unwrap();
    allocator.tick().unwrap();
    assert!(allocator.certificate().unwrap().relative_gap <= 1e-6);
    allocator.change(ids[0], None, Some(PowerLaw::log(100.0).with_floor(2.0))).unwrap();
    allocator.respond().unwrap();
    assert!(allocator.certificate().is_none());
    allocator.tick().unwrap();
    assert!(allocator.certificate().is_some());
    LOOKS.set(0);
    let second = StopToken::with_poll(Duration::ZERO, || LOOKS.replace(LOOKS.get() + 1) == 1);
    assert!(second.scope(|| allocator.tick()).is_err());
    assert!(allocator.certificate().is_none(), "it was stopped inside");
    allocator.set_capacity(0, 3.0).unwrap();
    allocator.tick().unwrap();
    assert!(allocator.certificate().unwrap().relative_gap > 1e-6, "floors do not fit");
    assert_eq!(allocator.broken_floors().len(), 2);
}

#[test]
fn exact_ticks_refuse_what_does_not_apply() {
    let refusal = |settings: AllocatorSettings| {
        Allocator::new(vec![1.0], price::Ned::new(0.4), settings, NonZeroUsize::MIN).map(drop).unwrap_err().to_string()
    };
    let exact = AllocatorSettings::default().with_exact(Some(1e-3));
    for (settings, message) in [
        (exact.with_exact(Some(0.0)), "exact is 0, expected a relative gap > 0 and < 1"),
        (exact.with_exact(Some(f64::NAN)), "exact is NaN, expected a relative gap > 0 and < 1"),
        (exact.with_precision(Precision::F32), "exact is 0.001, expected none with numbers of f32, right to 1e-6 only"),
        (
            exact.with_normalizer(None),
            "exact is 0.001, expected none without \"f-norm\" or \"fill\": other rates are not proven",
        ),
    ] {
        assert_eq!(refusal(settings), message);
    }
}

#[test]
fn ranks_have_the_rates_of_one_allocator() {
    let (problem, laws) = instance(11);
    let (paths, group, flows) = (problem.paths(), problem.group(), laws.len());
    let settings = AllocatorSettings::default().with_update_threshold(0.0);
    let of = |mine: &dyn Fn(usize) -> bool, ranks: Option<&Ranks>| -> Result<Vec<(usize, f64)>> {
        let mut allocator = allocator_with(problem.capacities(), settings, 1);
        ranks.map_or(Ok(()), |ranks| allocator.over(ranks.clone()))?;
        let own: Vec<usize> = (0..flows).filter(|&flow| mine(flow)).collect();
        let (mut lists, mut groups) = (Vec::new(), Vec::new());
        for (place, &flow) in (0..).zip(&own) {
            for path in (0..paths.len()).filter(|&path| group[path] as usize == flow) {
                lists.push(paths.links(path));
                groups.push(place);
            }
        }
        let lists = Paths::from_lists(lists);
        let laws: Vec<PowerLaw> = own.iter().map(|&flow| laws[flow]).collect();
        let ids = allocator.start_all(FlowPaths::grouped(&lists, &groups)?, &laws)?;
        (0..100).try_for_each(|_| allocator.tick())?;
        own.into_iter().zip(ids).map(|(flow, id)| Ok((flow, allocator.rate(id)?))).collect()
    };
    let expected = of(&|_| true, None).unwrap();
    let ranks = internal::on_ranks(2, |rank, ranks| of(&|flow| flow % 2 == rank, Some(ranks)));
    for (flow, rate) in ranks.into_iter().flat_map(|found| found.unwrap()) {
        assert!((rate - expected[flow].1).abs() <= 1e-9 * rate, "flow {flow}: {rate}, alone {}", expected[flow].1);
    }
}

#[test]
fn threads_change_no_bit_of_many_flows() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(45_000, 1).unwrap();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(2)).unwrap();
    let law = |flow: usize| PowerLaw::new(1.0 + (flow % 7) as f64, [1.0, 2.0][flow % 2]);
    let laws: Vec<PowerLaw> = (0..45_000).map(law).collect();
    let found = [1, 3].map(|threads| {
        let mut allocator = allocator_with(net.capacities(), AllocatorSettings::default(), threads);
        start(&mut allocator, &paths, &group, &laws);
        ticks(&mut allocator, 5);
        allocator.path_updates()
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].len(), paths.len());
}
