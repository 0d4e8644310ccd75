//! The allocator: never an overload, updates only of rates that moved, the same state after a snapshot.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::common::{long_churn, rules};
use netnum_core::price::{FastNed, LinkState, Memory, Ned, PriceRule, Rule};
use netnum_core::*;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, Precision};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Those that flows may have: "rcp" by name is for proportionally fair flows.
fn alphas_of<'a>(method: &str, alphas: &'a [f64]) -> &'a [f64] {
    if method == "rcp" { &[1.0] } else { alphas }
}

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn settings(normalizer: Option<Normalization>, update_threshold: f64) -> AllocatorSettings {
    AllocatorSettings::default().with_normalizer(normalizer).with_update_threshold(update_threshold)
}

fn by_name(capacities: Vec<f64>, method: &str, settings: AllocatorSettings) -> Allocator {
    Allocator::by_name(capacities, method, &BTreeMap::new(), settings, one()).unwrap()
}

/// Links with coefficients.
type Path = Vec<(u32, f64)>;

fn paths_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Paths {
    let (mut indptr, mut links, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    for path in paths {
        links.extend(path.iter().map(|entry| entry.0));
        coefficients.extend(path.iter().map(|entry| entry.1));
        indptr.push(links.len());
    }
    Paths::with_coefficients(indptr, links, coefficients).unwrap()
}

/// A network in use: what was started and not ended, as a caller would write it down.
struct Use {
    net: Topology,
    capacities: Vec<f64>,
    flows: Vec<(FlowId, Path, PowerLaw)>,
    rng: ChaCha8Rng,
    /// Whether every other flow has coefficients, from 1/20 to 3.
    weighs: bool,
}

impl Use {
    fn new(seed: u64) -> Self {
        let net = Topology::leaf_spine(4, 4, 2, 10e9, 20e9).unwrap();
        let capacities = net.capacities().to_vec();
        Self { net, capacities, flows: Vec::new(), rng: ChaCha8Rng::seed_from_u64(seed), weighs: false }
    }

    /// With coefficients.
    fn weighted(seed: u64) -> Self {
        Self { weighs: true, ..Self::new(seed) }
    }

    fn path(&mut self) -> Path {
        let (servers, rng) = (16, &mut self.rng);
        let source = rng.random_range(0..servers);
        let destination = (source + rng.random_range(1..servers)) % servers;
        let links = self.net.ecmp(&[source], &[destination], rng.random()).unwrap().links(0).to_vec();
        let weighs = self.weighs && rng.random_bool(0.5);
        let of = |link| (link, if weighs { [0.05, 0.5, 1.0, 3.0][rng.random_range(0..4)] } else { 1.0 });
        links.into_iter().map(of).collect()
    }

    /// Something happens, more often a start or an end than anything else.
    fn event(&mut self, allocator: &mut Allocator, alphas: &[f64]) {
        match self.rng.random_range(0..20) {
            0..=7 => {
                let (path, rng) = (self.path(), &mut self.rng);
                let weight = 1e9 * 10f64.powf(rng.random_range(-1.0..1.0));
                let worth = PowerLaw { alpha: alphas[rng.random_range(0..alphas.len())], ..PowerLaw::log(weight) };
                let id = allocator.start_all(&paths_of([&path]), &[worth]).unwrap()[0];
                self.flows.push((id, path, worth));
            }
            8..=14 if !self.flows.is_empty() => {
                let (id, ..) = self.flows.swap_remove(self.rng.random_range(0..self.flows.len()));
                allocator.end(id).unwrap();
            }
            15 => {
                let link = self.rng.random_range(0..self.capacities.len());
                let whole = self.net.capacities()[link];
                self.capacities[link] = [0.0, whole, 0.3 * whole, whole][self.rng.random_range(0..4)];
                allocator.set_capacity(link as u32, self.capacities[link]).unwrap();
            }
            16 if self.weighs && !self.flows.is_empty() => {
                let (flow, path) = (self.rng.random_range(0..self.flows.len()), self.path());
                allocator.change_all(&[self.flows[flow].0], Some((&paths_of([&path])).into()), None).unwrap();
                self.flows[flow].1 = path;
            }
            _ => allocator.tick().unwrap(),
        }
    }

    /// Loads of what endpoints would send.
    fn loads(&self, rate: impl Fn(FlowId) -> f64) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (id, path, _) in &self.flows {
            let rate = rate(*id);
            assert!(rate.is_finite() && rate >= 0.0, "{rate}");
            path.iter().for_each(|&(link, a)| loads[link as usize] += a * rate);
        }
        loads
    }

    fn assert_feasible(&self, what: &str, rate: impl Fn(FlowId) -> f64) {
        for (link, (load, capacity)) in self.loads(rate).iter().zip(&self.capacities).enumerate() {
            assert!(*load <= capacity * (1.0 + 1e-9), "{what}: link {link} has {load} of {capacity}");
        }
    }

    fn restore_links(&mut self, allocator: &mut Allocator) {
        self.capacities = self.net.capacities().to_vec();
        for (link, &capacity) in self.capacities.iter().enumerate() {
            allocator.set_capacity(link as u32, capacity).unwrap();
        }
    }

    fn problem(&self) -> Problem {
        let (weights, alphas): (Vec<f64>, Vec<f64>) =
            self.flows.iter().map(|(_, _, worth)| (worth.weight, worth.alpha)).unzip();
        let paths = paths_of(self.flows.iter().map(|(_, path, _)| path));
        let utility = AlphaFair::new(alphas, weights).unwrap();
        Problem::new(self.capacities.clone(), paths, utility).unwrap()
    }
}

/// After every tick and response no link is too full and failed ones carry nothing, whatever came before.
fn never_overloads(mut used: Use, method: &str, normalization: Normalization, events: usize) {
    let mut allocator = by_name(used.capacities.clone(), method, settings(Some(normalization), 0.0));
    for _ in 0..events {
        used.event(&mut allocator, alphas_of(method, &[0.5, 1.0, 2.0, 5.0]));
        if used.rng.random_bool(0.3) {
            if used.rng.random_bool(0.5) {
                allocator.respond().unwrap()
            } else {
                allocator.tick().unwrap()
            }
            used.assert_feasible(method, |id| allocator.rate(id).unwrap());
            for (id, path, _) in &used.flows {
                let fails = path.iter().any(|&(link, _)| used.capacities[link as usize] == 0.0);
                assert!(!fails || allocator.rate(*id).unwrap() == 0.0, "{method}");
            }
        }
    }
}

#[test]
fn no_method_and_no_normalizer_ever_overloads_a_link() {
    for (seed, method) in rules().enumerate() {
        for normalization in NORMALIZERS.iter().map(|entry| entry.make) {
            never_overloads(Use::new(seed as u64), method, normalization, 1500);
            never_overloads(Use::weighted(seed as u64), method, normalization, 1500);
        }
    }
}

fn never_overloads_for_long(used: fn(u64) -> Use) {
    never_overloads(used(100), "ned", Normalization::FNorm, long_churn());
    never_overloads(used(101), "fast-ned", Normalization::FNorm, long_churn() / 4);
    never_overloads(used(102), "fast-ned", Normalization::Fill, long_churn() / 10);
}

#[test]
#[ignore = "slow"]
fn a_long_churn_never_overloads_a_link() {
    never_overloads_for_long(Use::new);
}

#[test]
#[ignore = "slow"]
fn a_long_churn_of_flows_with_coefficients_never_overloads_a_link() {
    never_overloads_for_long(Use::weighted);
}

#[test]
fn after_the_churn_rates_become_those_of_a_fresh_solve() {
    for (method, alphas, ticks) in [("ned", vec![1.0], 4000), ("fast-ned", vec![0.5, 1.0, 2.0], 2000)] {
        let ways = [Normalization::FNorm, Normalization::Fill].into_iter();
        for (normalization, used) in ways.flat_map(|way| [(way, Use::new(7)), (way, Use::weighted(7))]) {
            let mut used = used;
            let mut allocator = by_name(used.capacities.clone(), method, settings(Some(normalization), 0.0));
            for _ in 0..1000 {
                used.event(&mut allocator, &alphas);
            }
            used.restore_links(&mut allocator);
            (0..ticks).for_each(|_| allocator.tick().unwrap());
            let solution = solve(&used.problem(), &Settings::default().with_tol(1e-13).with_stop(Stop::Gap).into());
            let best = solution.unwrap().rates;
            for ((id, ..), best) in used.flows.iter().zip(&best) {
                let rate = allocator.rate(*id).unwrap();
                assert!((rate - best).abs() <= 1e-6 * best, "{method}, {normalization:?}: {rate} and {best}");
            }
        }
    }
}

/// Coefficients of a link and its capacity in another unit. Rules that add up what paths use of several links want them
/// in units that are alike (docs/limits.md).
#[test]
fn the_unit_of_a_link_is_the_callers() {
    let unit = [1.0, 1e9, 1e-9, 7.3];
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.max(other);
    for method in rules().filter(|method| !["fast-ned", "fgm", "gradient"].contains(method)) {
        for normalization in NORMALIZERS.iter().map(|entry| entry.make) {
            let made = |scale: bool| {
                let unit = |link: u32| if scale { unit[link as usize] } else { 1.0 };
                let capacities = (0..4).map(|link| (10.0 + f64::from(link)) * unit(link)).collect();
                let mut allocator = by_name(capacities, method, settings(Some(normalization), 0.0));
                let paths: Vec<Path> = (0..12u32)
                    .map(|flow| {
                        let links = (0..4).filter(|link| (flow + 1) >> link & 1 == 1);
                        links.map(|link| (link, f64::from(1 + (flow + link) % 3) / 2.0 * unit(link))).collect()
                    })
                    .collect();
                let ids = allocator.start_all(&paths_of(&paths), &[PowerLaw::log(1.0); 12]).unwrap();
                (allocator, ids)
            };
            let ((mut one, ids), (mut other, same_ids)) = (made(false), made(true));
            for tick in 0..60 {
                if tick == 30 {
                    one.set_capacity(1, 5.0).unwrap();
                    other.set_capacity(1, 5.0 * unit[1]).unwrap();
                }
                one.tick().unwrap();
                other.tick().unwrap();
                for (id, same) in ids.iter().zip(&same_ids) {
                    let (one, other) = (one.rate(*id).unwrap(), other.rate(*same).unwrap());
                    assert!(close(one, other), "{method}, {normalization:?}, tick {tick}: {one} and {other}");
                }
                for ((one, other), unit) in one.prices().into_iter().zip(other.prices()).zip(unit) {
                    assert!(close(one, other * unit), "{method}, {normalization:?}, tick {tick}: {one} and {other}");
                }
            }
        }
    }
}

#[test]
fn a_flow_that_uses_half_a_link_leaves_the_other_half() {
    let mut allocator = by_name(vec![10.0], "ned", settings(Some(Normalization::FNorm), 0.0));
    let half = Paths::with_coefficients(vec![0, 1], vec![0], vec![0.5]).unwrap();
    let ids = allocator.start_all(&half, &[PowerLaw::log(1.0)]).unwrap();
    let whole = allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    (0..100).for_each(|_| allocator.tick().unwrap());
    // Each pays for half of the link: x = 1/(a p).
    assert!((allocator.rate(ids[0]).unwrap() - 10.0).abs() < 1e-6);
    assert!((allocator.rate(whole).unwrap() - 5.0).abs() < 1e-6);
    assert_eq!(allocator.paths(ids[0]).unwrap(), half);
    assert_eq!(allocator.paths(whole).unwrap(), Paths::from_lists([[0]]));
    // To twice of it, and back to a path of ones.
    let twice = Paths::with_coefficients(vec![0, 1], vec![0], vec![2.0]).unwrap();
    allocator.change_all(&ids, Some((&twice).into()), None).unwrap();
    assert_eq!(allocator.rate(ids[0]).unwrap(), 0.0, "on another path from the next tick on");
    (0..100).for_each(|_| allocator.tick().unwrap());
    assert!((allocator.rate(ids[0]).unwrap() - 2.5).abs() < 1e-6);
    allocator.change(ids[0], Some(&[0]), None).unwrap();
    (0..100).for_each(|_| allocator.tick().unwrap());
    assert!((allocator.rate(ids[0]).unwrap() - 5.0).abs() < 1e-6);
    // A link without a limit has none whatever is used of it, and prices stay within what numbers hold.
    const UNLIMITED: &str =
        "flow 0 has no limit, expected a link of finite capacity on every path of it, a cap or a saturation";
    let text = |result: Result<Vec<FlowId>>| result.unwrap_err().to_string();
    let mut allocator = by_name(vec![f64::INFINITY, 1.0], "ned", settings(None, 0.0));
    assert_eq!(text(allocator.start_all(&half, &[PowerLaw::log(1.0)])), UNLIMITED);
    let tiny = Paths::with_coefficients(vec![0, 1], vec![1], vec![1e-150]).unwrap();
    let error = text(allocator.start_all(&tiny, &[PowerLaw::log(1.0).with_cap(1.0)]));
    assert!(
        error.starts_with("flow 0 has coefficient 0.00") && error.contains("expected a number nearer to 1"),
        "{error}"
    );
    assert_eq!(allocator.flows(), 0);
}

/// The rates of the last updates fit as well, and a rate that has not moved is not updated.
#[test]
fn endpoints_that_hear_of_updates_only_overload_nothing() {
    for (threshold, mut used) in
        [(0.0, Use::new(11)), (0.01, Use::new(11)), (0.05, Use::weighted(11)), (0.3, Use::new(11))]
    {
        let mut allocator = by_name(used.capacities.clone(), "ned", settings(Some(Normalization::FNorm), threshold));
        let mut heard: BTreeMap<u64, f64> = BTreeMap::new();
        for _ in 0..3000 {
            used.event(&mut allocator, &[1.0]);
            allocator.tick().unwrap();
            let news = allocator.updates();
            for &(id, rate) in &news {
                assert_eq!(rate, allocator.rate(id).unwrap());
                let before = heard.insert(id.to_bits(), rate).unwrap_or(0.0);
                assert!((rate - before).abs() > threshold * before, "{before} and {rate}");
            }
            used.assert_feasible("sent", |id| heard.get(&id.to_bits()).copied().unwrap_or(0.0));
            for (id, ..) in &used.flows {
                let (sent, rate) = (heard.get(&id.to_bits()).copied().unwrap_or(0.0), allocator.rate(*id).unwrap());
                assert!((rate - sent).abs() <= threshold * sent * (1.0 + 1e-12), "not told: {sent} and {rate}");
            }
            assert!(allocator.updates().is_empty());
        }
    }
}

#[test]
fn headroom_is_left_alone() {
    let settings = AllocatorSettings::default().with_headroom(0.2).with_update_threshold(0.1);
    let mut allocator = Allocator::new(vec![10.0], Ned::new(0.4), settings, one()).unwrap();
    let ids = [0, 1].map(|_| allocator.start(&[0], PowerLaw::log(1.0)).unwrap());
    (0..100).for_each(|_| allocator.tick().unwrap());
    let total: f64 = ids.iter().map(|&id| allocator.rate(id).unwrap()).sum();
    assert!((total - 10.0 * 0.8 * 0.9).abs() < 1e-9, "{total}");
    assert_eq!(allocator.capacities(), [10.0]);
}

/// A link that was empty has the right price for its first flow, whatever the units and however many begin at once.
#[test]
fn flows_on_an_empty_link_begin_at_its_capacity() {
    for (scale, flows) in [(1.0, 1), (1e10, 1), (1e-9, 1), (1e10, 40)] {
        let settings = settings(None, 0.0);
        let mut allocator = Allocator::new(vec![10.0 * scale; 2], Ned::new(0.4), settings, one()).unwrap();
        for _ in 0..2 {
            let start = |_| allocator.start(&[0, 1], PowerLaw::log(scale)).unwrap();
            let ids: Vec<FlowId> = (0..flows).map(start).collect();
            allocator.tick().unwrap();
            let total: f64 = ids.iter().map(|&id| allocator.rate(id).unwrap()).sum();
            assert!((total - 10.0 * scale).abs() <= 1e-9 * scale, "{total}");
            // And again after it has been empty for a while.
            ids.iter().for_each(|&id| allocator.end(id).unwrap());
            (0..5).for_each(|_| allocator.tick().unwrap());
        }
    }
}

#[test]
fn prices_that_are_set_give_the_rates_of_another_allocator_at_the_first_tick() {
    let start = |allocator: &mut Allocator, turned: bool| {
        let paths: [&[u32]; 3] = [&[0, 1], &[0], &[1]];
        paths.map(|path| {
            let path: Vec<u32> = path.iter().map(|&link| if turned { 1 - link } else { link }).collect();
            allocator.start(&path, PowerLaw::log(1.0)).unwrap()
        })
    };
    let mut old = by_name(vec![10.0, 20.0], "ned", settings(None, 0.0));
    let ids = start(&mut old, false);
    (0..200).for_each(|_| old.tick().unwrap());
    let prices = old.prices();
    // The same links by other numbers.
    let mut new = by_name(vec![20.0, 10.0], "ned", settings(None, 0.0));
    let turned = start(&mut new, true);
    new.set_prices(&[1, 0], &prices).unwrap();
    new.tick().unwrap();
    for (id, turned) in ids.into_iter().zip(turned) {
        let (expected, found) = (old.rate(id).unwrap(), new.rate(turned).unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected, "{found} instead of {expected}");
    }
    let error = |result: netnum_core::Result<()>| result.unwrap_err().to_string();
    assert_eq!(error(new.set_prices(&[0, 1], &[1.0])), "prices has 1 entries, expected 2, one per link");
    assert_eq!(error(new.set_prices(&[0, 2], &[1.0, 1.0])), "there is no link 2, expected a link from 0 to 1");
    let twice = "link 1 is named twice, expected every link once";
    assert_eq!(error(new.set_prices(&[1, 1], &[1.0, 1.0])), twice);
    let expected = "link 1 has price NaN, expected a finite number >= 0";
    assert_eq!(error(new.set_prices(&[0, 1], &[1.0, f64::NAN])), expected);
    let before = new.prices();
    new.respond().unwrap();
    assert_eq!(new.prices(), before);
}

#[test]
fn a_response_follows_the_prices_and_leaves_them() {
    let mut allocator = by_name(vec![10.0], "ned", settings(None, 0.0));
    let one = allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    allocator.tick().unwrap();
    let [price] = allocator.prices()[..] else { panic!("one link") };
    assert_eq!(allocator.rate(one).unwrap(), 10.0);
    let other = allocator.start(&[0], PowerLaw::log(3.0)).unwrap();
    allocator.respond().unwrap();
    assert_eq!(allocator.prices(), [price]);
    let rates = [one, other].map(|id| allocator.rate(id).unwrap());
    assert_eq!(rates, [1.0 / price, f64::min(3.0 / price, 20.0)]);
    // What it asked for is what the next tick moves prices by.
    let mut waits = by_name(vec![10.0], "ned", settings(None, 0.0));
    waits.start(&[0], PowerLaw::log(1.0)).unwrap();
    waits.tick().unwrap();
    waits.start(&[0], PowerLaw::log(3.0)).unwrap();
    allocator.tick().unwrap();
    waits.tick().unwrap();
    assert_eq!(allocator.prices(), waits.prices());
}

#[test]
fn a_weight_acts_in_a_response_with_fill_before_prices_have_followed() {
    let mut allocator = by_name(vec![10.0], "ned", settings(Some(Normalization::Fill), 0.0));
    let light = allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    (0..50).for_each(|_| allocator.tick().unwrap());
    let heavy = allocator.start(&[0], PowerLaw::log(9999.0)).unwrap();
    allocator.respond().unwrap();
    assert!((allocator.rate(light).unwrap() - 10.0 / 10_000.0).abs() < 1e-9);
    assert!((allocator.rate(heavy).unwrap() - 9.999).abs() < 1e-9);
    // A tick goes by what a path can carry.
    allocator.tick().unwrap();
    assert!(allocator.rate(light).unwrap() > 1.0);
}

#[test]
fn a_snapshot_goes_on_to_the_last_bit() {
    for method in rules() {
        let alphas = alphas_of(method, &[1.0, 2.0]);
        for precision in [Precision::F64, Precision::F32] {
            let mut used = Use::weighted(13);
            let options = BTreeMap::new();
            let settings = AllocatorSettings::default().with_headroom(0.05);
            let mut first = Allocator::by_name(
                used.capacities.clone(),
                method,
                &options,
                settings.with_precision(precision),
                one(),
            )
            .unwrap();
            for _ in 0..700 {
                used.event(&mut first, alphas);
            }
            let _ = first.updates();
            let mut second = Allocator::from_json(&first.to_json().unwrap(), one()).unwrap();
            assert_eq!(second.to_json(), first.to_json(), "{method}");
            let (mut other, before) = (Use::weighted(0), used.rng.clone());
            (other.flows, other.capacities) = (used.flows.clone(), used.capacities.clone());
            (used.rng, other.rng) = (before.clone(), before);
            for _ in 0..300 {
                used.event(&mut first, alphas);
                other.event(&mut second, alphas);
                assert_eq!(first.updates(), second.updates(), "{method}");
            }
            assert_eq!(first.prices(), second.prices(), "{method}");
            assert_eq!(second.to_json(), first.to_json(), "{method}");
        }
    }
}

/// Also where buckets have emptied, for normalizers that add up in order.
#[test]
fn a_snapshot_of_what_has_emptied_goes_on_to_the_last_bit() {
    for normalization in NORMALIZERS.iter().map(|entry| entry.make) {
        let mut used = Use::new(17);
        let mut first = by_name(used.capacities.clone(), "ned", settings(Some(normalization), 0.0));
        for _ in 0..400 {
            used.event(&mut first, &[1.0, 2.0]);
        }
        for (id, ..) in used.flows.drain(..) {
            first.end(id).unwrap();
        }
        let mut second = Allocator::from_json(&first.to_json().unwrap(), one()).unwrap();
        let (mut other, before) = (Use::new(0), used.rng.clone());
        (other.capacities, other.rng, used.rng) = (used.capacities.clone(), before.clone(), before);
        for _ in 0..400 {
            used.event(&mut first, &[1.0, 2.0]);
            other.event(&mut second, &[1.0, 2.0]);
            assert_eq!(first.rates(), second.rates(), "{normalization:?}");
        }
        assert_eq!(second.to_json(), first.to_json(), "{normalization:?}");
    }
}

/// No id names a slot without a flow, and no rate is there before the first tick.
#[test]
fn what_has_ended_has_no_id_and_what_has_not_begun_no_rate() {
    for alpha in [1.0, 2.0] {
        let mut allocator = by_name(vec![10.0], "ned", settings(Some(Normalization::FNorm), 0.0));
        let worth = PowerLaw { alpha, ..PowerLaw::log(1.0) };
        let ids = [0, 1].map(|_| allocator.start(&[0], worth).unwrap());
        allocator.tick().unwrap();
        allocator.end(ids[0]).unwrap();
        for generation in 0..6u64 {
            let id = FlowId::from_bits(generation << 32);
            assert!(allocator.end_all(&[id]).is_err() && allocator.rate(id).is_err() && !allocator.contains(id));
        }
        let _ = allocator.updates();
        let late = allocator.start(&[0], worth).unwrap();
        assert_eq!(allocator.rate(late).unwrap(), 0.0);
        assert!(allocator.updates().is_empty());
        assert_eq!(allocator.flows(), 2);
    }
}

/// What was down, and what ended before the tick, leaves no mark on the price of a link that was empty.
#[test]
fn links_are_priced_for_those_who_use_them() {
    let ask = |allocator: &mut Allocator, id| {
        allocator.tick().unwrap();
        allocator.rate(id).unwrap()
    };
    let made = || by_name(vec![10.0, 10.0], "ned", settings(None, 0.0));
    // Beside a flow that is down.
    let mut allocator = made();
    allocator.set_capacity(0, 0.0).unwrap();
    let down = allocator.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
    allocator.tick().unwrap();
    let one = allocator.start(&[1], PowerLaw::log(1.0)).unwrap();
    assert!((ask(&mut allocator, one) - 10.0).abs() < 1e-9);
    // And when it returns to links of its own.
    allocator.end(one).unwrap();
    (0..3).for_each(|_| allocator.tick().unwrap());
    allocator.set_capacity(0, 10.0).unwrap();
    assert!((ask(&mut allocator, down) - 10.0).abs() < 1e-9);
    // Many that end before they begin.
    let mut allocator = made();
    let ids: Vec<FlowId> = (0..100).map(|_| allocator.start(&[0], PowerLaw::log(1.0)).unwrap()).collect();
    allocator.end_all(&ids[1..]).unwrap();
    assert!((ask(&mut allocator, ids[0]) - 10.0).abs() < 1e-6);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(50_000, 3).unwrap();
    let paths = net.ecmp(&sources, &destinations, 3).unwrap();
    let rates = |threads| {
        let threads = NonZeroUsize::new(threads).unwrap();
        let capacities = net.capacities().to_vec();
        let mut allocator = Allocator::new(capacities, Ned::new(0.4), Default::default(), threads).unwrap();
        for path in paths.iter() {
            allocator.start(path, PowerLaw::log(1.0)).unwrap();
        }
        (0..3).for_each(|_| allocator.tick().unwrap());
        allocator.rates()
    };
    let one = rates(1);
    assert!(one.iter().all(|(_, rate)| *rate > 0.0));
    assert!(rates(2) == one && rates(3) == one);
}

#[test]
fn what_is_wrong_is_named_and_changes_nothing() {
    let mut allocator = Allocator::new(vec![10.0, 10.0], FastNed::new(1.0), Default::default(), one()).unwrap();
    let id = allocator.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
    allocator.tick().unwrap();
    let before = allocator.to_json();
    let text = |outcome: Result<FlowId>| outcome.unwrap_err().to_string();
    assert_eq!(text(allocator.start(&[], PowerLaw::log(1.0))), "path 0 is empty, expected at least one link");
    assert_eq!(text(allocator.start(&[2], PowerLaw::log(1.0))), "path 0 names link 2, expected a link from 0 to 1");
    assert_eq!(text(allocator.start(&[0], PowerLaw::log(-1.0))), "flow 0 has weight -1, expected a finite number > 0");
    let nothing = |outcome: Result<()>| outcome.unwrap_err().to_string();
    assert_eq!(nothing(allocator.set_capacity(5, 1.0)), "there is no link 5, expected a link from 0 to 1");
    assert_eq!(
        nothing(allocator.set_capacity(0, f64::NAN)),
        "link 0 has capacity NaN, expected a number >= 0 (inf for no limit)"
    );
    // Of many, all or none, and the wrong one by its place.
    let (paths, worths) = (Paths::from_lists([vec![0], vec![1, 1]]), [PowerLaw::log(1.0); 2]);
    assert_eq!(allocator.start_all(&paths, &worths).unwrap_err().to_string(), "path 1 visits link 1 twice");
    let worths = [PowerLaw::log(1.0), PowerLaw { alpha: 0.0, ..PowerLaw::log(1.0) }];
    let refused = allocator.start_all(&Paths::from_lists([[0], [1]]), &worths).unwrap_err().to_string();
    assert_eq!(refused, "flow 1 has alpha 0, expected a finite number > 0");
    assert!(allocator.start_all(&paths, &worths[..1]).is_err());
    assert_eq!(nothing(allocator.end_all(&[id, id])), "flow 4294967296 is named twice, expected every flow once");
    assert!(allocator.end_all(&[id, FlowId::from_bits(7)]).is_err());
    assert_eq!(allocator.to_json(), before);
    allocator.end(id).unwrap();
    assert_eq!(nothing(allocator.end(id)), "there is no flow 4294967296: it has ended, or belongs elsewhere");
    assert!(!allocator.contains(id) && allocator.rate(id).is_err());

    let settings = AllocatorSettings::default().with_headroom(1.0);
    let refused = Allocator::new(vec![1.0], Ned::new(0.4), settings, one()).unwrap_err().to_string();
    assert_eq!(refused, "headroom is 1, expected a number >= 0 and < 1");
    let named = |method: &str, options: &[(&str, f64)]| {
        let options = options.iter().map(|&(name, value)| (name.into(), value)).collect();
        allocator_error(method, &options)
    };
    assert!(named("newton", &[]).starts_with("method is \"newton\", expected \"fast-ned\", \"ned\", "));
    assert!(named("nde", &[]).starts_with("unknown method \"nde\", did you mean \"ned\"?; known: fast-ned, "));
    assert!(named("ned", &[("gama", 1.0)]).contains("gamma"), "{}", named("ned", &[("gama", 1.0)]));
    assert_eq!(
        named("ned", &[("normaliser", 1.0)]),
        "method \"ned\" has no option \"normaliser\", did you mean the setting \"normalizer\"?; known options: gamma"
    );
    assert_eq!(named("ned", &[("gamma", -1.0)]), "gamma is -1, expected a finite number > 0");
}

fn allocator_error(method: &str, options: &BTreeMap<String, f64>) -> String {
    match Allocator::by_name(vec![1.0], method, options, Default::default(), one()) {
        Ok(_) => panic!("{method} is an allocator"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn rcp_takes_flows_of_the_alpha_that_it_is_made_for_and_no_others() {
    let mut allocator = by_name(vec![10.0], "rcp", settings(None, 0.0));
    let first = allocator.start(&[0], PowerLaw::log(1.0)).unwrap();
    let refused = |error: Error| assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let error = allocator.start(&[0], PowerLaw::new(1.0, 2.0)).unwrap_err();
    let expected = "method \"rcp\" cannot take alpha 2 of flow 0, it is made for alpha 1 of all flows; ";
    assert!(error.to_string().starts_with(expected), "{error}");
    refused(allocator.change(first, None, Some(PowerLaw::new(1.0, 2.0))).unwrap_err());
    assert_eq!(allocator.flows(), 1);
    // A rule that is made for it finds the optimum: rates in proportion to the weights, on a full link.
    let rule = Rule::by_name("rcp", &BTreeMap::new(), 2.0).unwrap();
    let mut allocator: Allocator = Allocator::new(vec![10.0], rule, settings(None, 0.0), one()).unwrap();
    let ids = [1.0, 4.0].map(|weight| allocator.start(&[0], PowerLaw::new(weight, 2.0)).unwrap());
    refused(allocator.start(&[0], PowerLaw::log(1.0)).unwrap_err());
    (0..200).for_each(|_| allocator.tick().unwrap());
    let [one, other] = ids.map(|id| allocator.rate(id).unwrap());
    assert!((one - 2.0).abs() < 1e-6 && (other - 8.0).abs() < 1e-6, "{one} and {other}");
}

/// p ← p (1 + γ (y/c − 1)), and never below a thousandth.
struct Multiplicative;

impl PriceRule for Multiplicative {
    fn advance(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
        (link.price * (1.0 + 0.5 * (link.load / link.capacity - 1.0))).max(1e-3)
    }
}

#[test]
fn a_user_defined_rule_allocates_and_is_in_no_snapshot() {
    let rule = Rule::user(Multiplicative);
    let mut allocator: Allocator = Allocator::new(vec![10.0], rule, settings(None, 0.0), one()).unwrap();
    let ids = [1.0, 3.0].map(|weight| allocator.start(&[0], PowerLaw::log(weight)).unwrap());
    (0..200).for_each(|_| allocator.tick().unwrap());
    let [one, other] = ids.map(|id| allocator.rate(id).unwrap());
    assert!((one - 2.5).abs() < 1e-6 && (other - 7.5).abs() < 1e-6, "{one} and {other}");
    let error = allocator.to_json().unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("snapshot"), "{error}");
    assert_eq!((allocator.method(), allocator.to_json().unwrap_err()), ("user", error));
}
