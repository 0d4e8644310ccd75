//! The engine: steps as the library takes them, flows that come and go, any number of threads, both kinds of numbers.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use netnum_core::price::{FastNed, Fgm, Gradient, LinkState, Memory, Ned, NewtonLike, PriceRule, Rcp, Rule};
use netnum_core::*;
use netnum_parallel::internal::Engine;
use netnum_parallel::{FlowId, Precision};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

struct Instance {
    capacities: Vec<f64>,
    paths: Paths,
    weights: Vec<f64>,
    alphas: Vec<f64>,
}

impl Instance {
    fn new(net: &Topology, flows: usize, alphas: &[f64], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
        Self {
            capacities: net.capacities().iter().map(|capacity| capacity * rng.random_range(0.8..1.2)).collect(),
            paths: net.ecmp(&sources, &destinations, seed).unwrap(),
            weights: (0..flows).map(|_| rng.random_range(0.5..1.5)).collect(),
            alphas: (0..flows).map(|_| alphas[rng.random_range(0..alphas.len())]).collect(),
        }
    }

    fn utility(&self, flow: usize) -> PowerLaw {
        PowerLaw::new(self.weights[flow], self.alphas[flow])
    }

    fn problem(&self) -> Problem {
        let utility = AlphaFair::new(self.alphas.clone(), self.weights.clone()).unwrap();
        Problem::new(self.capacities.clone(), self.paths.clone(), utility).unwrap()
    }

    fn engine(&self, rule: impl Into<Rule>, precision: Precision, count: usize) -> (Engine, Vec<FlowId>) {
        let mut engine = Engine::new(self.capacities.clone(), &self.paths, rule, precision, threads(count)).unwrap();
        let flows = 0..self.paths.len();
        let ids = flows.map(|flow| engine.start(self.paths.links(flow), self.utility(flow)).unwrap()).collect();
        (engine, ids)
    }
}

fn leaf_spine() -> Topology {
    Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().copied().fold(0.0, f64::max);
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * largest, "{what}: {found:e} at {place}, expected {expected:e}");
    }
}

fn takes_the_steps_of(method: &str, instance: &Instance, rule: impl Into<Rule>) {
    let mut solver = Solver::new(&instance.problem(), &Ask::by(method)).unwrap();
    let (mut engine, ids) = instance.engine(rule, Precision::F64, 1);
    engine.links.set_prices(&solver.prices()).unwrap();
    for step in 0..8 {
        let what = format!("{method}, step {step}");
        engine.step().unwrap();
        let rates: Vec<f64> = ids.iter().map(|&id| engine.rate(id).unwrap()).collect();
        assert_close(&what, &rates, &solver.raw_rates(), 1e-9);
        engine.normalize(Normalization::FNorm);
        let feasible: Vec<f64> = ids.iter().map(|&id| engine.feasible_rate(id).unwrap()).collect();
        assert_close(&what, &feasible, &solver.rates(), 1e-9);
        engine.normalize(Normalization::UNorm);
        let uniform: Vec<f64> = ids.iter().map(|&id| engine.feasible_rate(id).unwrap()).collect();
        assert_close(&what, &uniform, &normalize(solver.problem(), &rates, &UNorm::default()).unwrap(), 1e-9);
        assert_close(&what, &loads(&engine), &solver.problem().loads(&rates).unwrap(), 1e-9);
        solver.step(1).unwrap();
        // Fast NED tests a step at the beginning of the next, and may refuse it.
        if method != "fast-ned" {
            assert_close(&what, engine.links.prices(), &solver.prices(), 1e-9);
        }
    }
}

#[test]
fn every_rule_takes_the_steps_of_the_solver() {
    for alphas in [&[1.0][..], &[0.5, 1.0, 2.0, 4.0]] {
        for instance in [
            Instance::new(&leaf_spine(), 700, alphas, 1),
            Instance::new(&Topology::fat_tree(4, 10.0).unwrap(), 300, alphas, 2),
            Instance::new(&leaf_spine(), 21_000, alphas, 3),
        ] {
            takes_the_steps_of("ned", &instance, Ned::new(0.4));
            takes_the_steps_of("gradient", &instance, Gradient::new(1.0, 0.0));
            takes_the_steps_of("fgm", &instance, Fgm::new());
            takes_the_steps_of("newton-like", &instance, NewtonLike::new(0.5, 0.5));
            takes_the_steps_of("fast-ned", &instance, FastNed::new(1.0));
            if alphas == [1.0] {
                takes_the_steps_of("rcp", &instance, Rcp::new(1.0, 1.0));
            }
        }
    }
}

#[test]
fn f32_is_within_1e_5_of_f64() {
    let instance = Instance::new(&leaf_spine(), 5000, &[0.5, 1.0, 2.0], 4);
    let (mut wide, ids) = instance.engine(Ned::new(0.4), Precision::F64, 1);
    let (mut narrow, narrow_ids) = instance.engine(Ned::new(0.4), Precision::F32, 1);
    for _ in 0..200 {
        wide.step().unwrap();
        narrow.step().unwrap();
    }
    for (id, narrow_id) in ids.iter().zip(narrow_ids) {
        let (expected, found) = (wide.rate(*id).unwrap(), narrow.rate(narrow_id).unwrap());
        assert!((found - expected).abs() <= 1e-5 * expected, "{found}, expected {expected}");
    }
}

fn loads(engine: &Engine) -> Vec<f64> {
    engine.links.sums().iter().map(|&[load, _]| load).collect()
}

/// A state to compare bit by bit.
fn bits(engine: &Engine, ids: &[FlowId]) -> Vec<u64> {
    let rates = ids.iter().map(|&id| engine.rate(id).unwrap());
    rates.chain(engine.links.prices().iter().copied()).chain(loads(engine)).map(f64::to_bits).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let instance = Instance::new(&leaf_spine(), 45_000, &[1.0, 2.0], 5);
    let run = |count| {
        let (mut engine, mut ids) = instance.engine(FastNed::new(1.0), Precision::F64, count);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for _ in 0..10 {
            engine.step().unwrap();
            for _ in 0..500 {
                let (out, like) = (rng.random_range(0..ids.len()), rng.random_range(0..ids.len()));
                engine.end(ids[out]).unwrap();
                ids[out] = engine.start(instance.paths.links(like), instance.utility(like)).unwrap();
            }
        }
        engine.step().unwrap();
        engine.normalize(Normalization::FNorm);
        let feasible = ids.iter().map(|&id| engine.feasible_rate(id).unwrap().to_bits());
        feasible.chain(bits(&engine, &ids)).collect::<Vec<_>>()
    };
    let one = run(1);
    for count in [2, 3, 5] {
        assert!(run(count) == one, "{count} threads");
    }
}

#[test]
fn a_failed_link_starves_its_flows_and_no_others_until_it_returns() {
    let typical = Paths::from_lists([vec![0, 1], vec![1]]);
    let mut engine = Engine::new(vec![10.0, 10.0], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
    let both = engine.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
    let one = engine.start(&[1], PowerLaw::log(1.0)).unwrap();
    let settle = |engine: &mut Engine, capacity| {
        engine.set_capacity(0, capacity).unwrap();
        (0..200).for_each(|_| engine.step().unwrap());
        [both, one].map(|id| engine.rate(id).unwrap())
    };
    assert_close("whole", &settle(&mut engine, 10.0), &[5.0, 5.0], 1e-6);
    assert_close("failed", &settle(&mut engine, 0.0), &[0.0, 10.0], 1e-6);
    assert_close("back", &settle(&mut engine, 2.0), &[2.0, 8.0], 1e-6);
}

/// However slowly demand falls with the price.
#[test]
fn a_failed_link_starves_flows_of_any_alpha() {
    fn of(precision: Precision, alpha: f64) {
        let typical = Paths::from_lists([vec![0, 1], vec![1]]);
        let mut engine = Engine::new(vec![10.0, 10.0], &typical, Ned::new(0.4), precision, threads(1)).unwrap();
        let failed = engine.start(&[0, 1], PowerLaw { alpha, ..PowerLaw::log(10.0) }).unwrap();
        engine.start(&[1], PowerLaw::log(1.0)).unwrap();
        engine.set_capacity(0, 0.0).unwrap();
        (0..100).for_each(|_| engine.step().unwrap());
        assert!(engine.rate(failed).unwrap() < 1e-30, "alpha {alpha}: {:e}", engine.rate(failed).unwrap());
        engine.normalize(Normalization::FNorm);
        assert_eq!(engine.feasible_rate(failed).unwrap(), 0.0);
        let refused = engine.start(&[0], PowerLaw::log(1e300)).unwrap_err();
        assert!(refused.to_string().starts_with("flow 0 has weight 1000"), "{refused}");
    }
    for alpha in [0.5, 1.0, 10.0, 30.0] {
        of(Precision::F64, alpha);
    }
    for alpha in [0.5, 1.0, 5.0, 10.0] {
        of(Precision::F32, alpha);
    }
}

#[test]
fn a_flow_has_no_rate_before_its_first_step_whoever_was_there_before() {
    for alpha in [1.0, 2.0] {
        let worth = PowerLaw { alpha, ..PowerLaw::log(1.0) };
        let typical = Paths::from_lists([vec![0], vec![0]]);
        let mut engine = Engine::new(vec![10.0], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
        let first = engine.start(&[0], worth).unwrap();
        let second = engine.start(&[0], worth).unwrap();
        engine.step().unwrap();
        engine.normalize(Normalization::FNorm);
        engine.end(first).unwrap();
        let third = engine.start(&[0], worth).unwrap();
        assert_eq!((engine.rate(third).unwrap(), engine.feasible_rate(third).unwrap()), (0.0, 0.0));
        assert!(engine.rate(second).unwrap() > 0.0 && engine.feasible_rate(second).unwrap() > 0.0);
        engine.normalize(Normalization::FNorm);
        assert_eq!(engine.feasible_rate(third).unwrap(), 0.0);
    }
}

#[test]
fn capacities_of_few_links_change_where_there_are_many_flow_blocks() {
    for (links, paths) in [(1u32, 60_000u32), (3, 100_000), (10, 500_000)] {
        let typical = Paths::from_lists((0..paths).map(|path| [path % links]));
        let capacities = vec![1.0; links as usize];
        let mut engine = Engine::new(capacities, &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
        for link in 0..links {
            engine.set_capacity(link, 5.0).unwrap();
        }
    }
}

/// One NED step and F-NORM, spelled out.
fn by_hand(capacities: &[f64], paths: &Paths, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let smallest = |links: &[u32]| links.iter().map(|&link| capacities[link as usize]).fold(f64::INFINITY, f64::min);
    let rate = |(links, &weight): (&[u32], &f64)| (weight / links.len() as f64).min(2.0 * smallest(links));
    let rates: Vec<f64> = paths.iter().zip(weights).map(rate).collect();
    let mut loads = vec![0.0; capacities.len()];
    for (links, rate) in paths.iter().zip(&rates) {
        links.iter().for_each(|&link| loads[link as usize] += rate);
    }
    let fullest =
        |links: &[u32]| links.iter().map(|&link| loads[link as usize] / capacities[link as usize]).fold(1.0, f64::max);
    let feasible = paths.iter().zip(&rates).map(|(links, rate)| rate / fullest(links)).collect();
    (rates, feasible)
}

/// More table entries than 16 bits number, and paths of any length between their two ends.
#[test]
fn flows_across_many_windows_add_up() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let links = 150_000u32;
    let capacities: Vec<f64> = (0..links).map(|_| rng.random_range(0.5..2.0)).collect();
    let length = |flow: usize| [1, 2, 4, 7, 9, 12][flow % 6];
    let path =
        |flow| rand::seq::index::sample(&mut rng, links as usize, length(flow)).iter().map(|l| l as u32).collect();
    let mut paths: Vec<Vec<u32>> = (0..4000).map(path).collect();
    // Some share links, on both sides of a boundary.
    paths.extend((0..2000u32).map(|flow| vec![65_530 + flow % 12, 131_070 + flow % 5]));
    let (paths, flows) = (Paths::from_lists(&paths), paths.len());
    let weights: Vec<f64> = (0..flows).map(|_| rng.random_range(0.5..1.5)).collect();
    let (rates, feasible) = by_hand(&capacities, &paths, &weights);
    fn check(
        instance: (&[f64], &Paths, &[f64]),
        typical: &Paths,
        expected: [&[f64]; 2],
        (precision, tolerance): (Precision, f64),
    ) {
        let (capacities, paths, weights) = instance;
        let mut engine = Engine::new(capacities.to_vec(), typical, Ned::new(0.4), precision, threads(1)).unwrap();
        let add = |(links, &weight)| engine.start(links, PowerLaw::log(weight)).unwrap();
        let ids: Vec<FlowId> = paths.iter().zip(weights).map(add).collect();
        engine.step().unwrap();
        engine.normalize(Normalization::FNorm);
        let rates: Vec<f64> = ids.iter().map(|&id| engine.rate(id).unwrap()).collect();
        let feasible: Vec<f64> = ids.iter().map(|&id| engine.feasible_rate(id).unwrap()).collect();
        assert_close("rates", &rates, expected[0], tolerance);
        assert_close("feasible rates", &feasible, expected[1], tolerance);
        for (&id, links) in ids.iter().zip(paths.iter()) {
            assert_eq!(engine.path(id).unwrap(), links);
        }
    }
    let none = Paths::from_lists([[0; 0]; 0]);
    for typical in [&paths, &none] {
        check((&capacities, &paths, &weights), typical, [&rates, &feasible], (Precision::F64, 1e-12));
        check((&capacities, &paths, &weights), typical, [&rates, &feasible], (Precision::F32, 1e-5));
    }
}

/// Racks of any size, not only those that fill a register.
#[test]
fn pair_tables_of_any_shape_add_up() {
    for (servers, spines) in [(20, 4), (24, 6), (41, 3), (7, 5), (1, 1), (3, 19)] {
        let net = Topology::leaf_spine(5, servers, spines, 10.0, 40.0).unwrap();
        let instance = Instance::new(&net, 4000, &[1.0], 5);
        let (rates, feasible) = by_hand(&instance.capacities, &instance.paths, &instance.weights);
        let (mut engine, ids) = instance.engine(Ned::new(0.4), Precision::F64, 1);
        engine.step().unwrap();
        engine.normalize(Normalization::FNorm);
        let what = format!("{servers} servers, {spines} spines");
        let found: Vec<f64> = ids.iter().map(|&id| engine.rate(id).unwrap()).collect();
        assert_close(&what, &found, &rates, 1e-12);
        let found: Vec<f64> = ids.iter().map(|&id| engine.feasible_rate(id).unwrap()).collect();
        assert_close(&what, &found, &feasible, 1e-12);
    }
}

#[test]
fn a_cap_is_the_flow_s_own_where_another_has_been_and_stays_when_capacities_change() {
    let typical = Paths::from_lists([vec![0]]);
    let mut engine = Engine::new(vec![10.0], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
    let free = engine.start(&[0], PowerLaw::log(1.0)).unwrap();
    engine.end(free).unwrap();
    let capped = engine.start(&[0], PowerLaw { cap: 1.0, ..PowerLaw::log(1.0) }).unwrap();
    engine.set_capacity(0, 20.0).unwrap();
    (0..200).for_each(|_| engine.step().unwrap());
    assert_close("capped", &[engine.rate(capped).unwrap()], &[1.0], 1e-12);
}

/// Gives up on its second step.
struct GivesUp;

impl PriceRule for GivesUp {
    fn advance(&self, link: &LinkState, [moves, ..]: &mut Memory) -> f64 {
        *moves += 1.0;
        assert!(*moves < 2.0, "this rule takes one step only");
        link.price
    }
}

#[test]
fn a_rule_that_panics_leaves_the_flows_where_they_are() {
    let typical = Paths::from_lists([vec![0, 1]]);
    for count in [1, 2] {
        let mut engine =
            Engine::new(vec![10.0, 10.0], &typical, Rule::user(GivesUp), Precision::F64, threads(count)).unwrap();
        let id = engine.start(&[0, 1], PowerLaw::log(4.0)).unwrap();
        engine.step().unwrap();
        catch_unwind(AssertUnwindSafe(|| engine.step().unwrap())).unwrap_err();
        assert_eq!(engine.rate(id).unwrap(), 2.0);
        let other = engine.start(&[1], PowerLaw::log(1.0)).unwrap();
        engine.end(id).unwrap();
        assert!(engine.rate(other).is_ok() && engine.flows() == 1);
    }
}

#[test]
fn what_is_wrong_is_named_and_changes_nothing() {
    let typical = Paths::from_lists([vec![0, 1]]);
    let mut engine = Engine::new(vec![10.0, 10.0], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
    let id = engine.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
    let before = {
        engine.step().unwrap();
        bits(&engine, &[id])
    };
    let text = |outcome: Result<FlowId>| outcome.unwrap_err().to_string();
    assert_eq!(text(engine.start(&[], PowerLaw::log(1.0))), "path 0 is empty, expected at least one link");
    assert_eq!(text(engine.start(&[0, 2], PowerLaw::log(1.0))), "path 0 names link 2, expected a link from 0 to 1");
    assert_eq!(text(engine.start(&[1, 1], PowerLaw::log(1.0))), "path 0 visits link 1 twice");
    assert_eq!(text(engine.start(&[0], PowerLaw::log(0.0))), "flow 0 has weight 0, expected a finite number > 0");
    let nan = PowerLaw { alpha: f64::NAN, ..PowerLaw::log(1.0) };
    assert_eq!(text(engine.start(&[0], nan)), "flow 0 has alpha NaN, expected a finite number > 0");
    let capped = PowerLaw { cap: -1.0, ..PowerLaw::log(1.0) };
    assert_eq!(text(engine.start(&[0], capped)), "flow 0 has cap -1, expected a number > 0 (inf for none)");
    let nothing = |outcome: Result<()>| outcome.unwrap_err().to_string();
    assert_eq!(nothing(engine.set_capacity(2, 1.0)), "there is no link 2, expected a link from 0 to 1");
    assert_eq!(
        nothing(engine.set_capacity(1, -1.0)),
        "link 1 has capacity -1, expected a number >= 0 (inf for no limit)"
    );
    assert_eq!(nothing(engine.links.set_prices(&[1.0])), "prices has 1 entries, expected 2, one per link");
    assert_eq!(
        nothing(engine.links.set_prices(&[1.0, f64::NAN])),
        "link 1 has price NaN, expected a finite number >= 0"
    );
    assert_eq!(engine.feasible_rate(id).unwrap(), 0.0);
    assert_eq!(bits(&engine, &[id]), before);
    engine.end(id).unwrap();
    let gone = "there is no flow 4294967296: it has ended, or belongs elsewhere";
    assert_eq!(nothing(engine.end(id)), gone);
    let again = engine.start(&[0], PowerLaw::log(1.0)).unwrap();
    assert_eq!(engine.rate(id).unwrap_err().to_string(), gone);
    assert!(engine.rate(again).is_ok() && engine.flows() == 1);
    let typical = Paths::from_lists([vec![0, 3]]);
    let refused = Engine::new(vec![10.0, 10.0], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap_err();
    assert_eq!(refused.to_string(), "path 0 names link 3, expected a link from 0 to 1");
}

#[derive(Debug, Clone)]
enum Event {
    Add(usize),
    Remove(usize),
    Capacity(usize, f64),
    Step,
    LayOut,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0usize..400).prop_map(Event::Add),
        4 => (0usize..400).prop_map(Event::Remove),
        1 => (0usize..300, prop_oneof![Just(0.0), 1.0f64..30.0]).prop_map(|(link, c)| Event::Capacity(link, c)),
        1 => Just(Event::Step),
        1 => Just(Event::LayOut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn after_any_churn_it_is_as_if_it_were_new(
        events in prop::collection::vec(event(), 1..200), tree in any::<bool>(),
    ) {
        churn(Ned::new(0.4), &events, tree)?;
        churn(FastNed::new(1.0), &events, tree)?;
        churn(Gradient::new(1.0, 0.0), &events, tree)?;
        churn(Fgm::new(), &events, tree)?;
        churn(NewtonLike::new(0.5, 0.5), &events, tree)?;
    }
}

fn churn(rule: impl Into<Rule> + Clone, events: &[Event], tree: bool) -> Result<(), TestCaseError> {
    let net = if tree { Topology::fat_tree(4, 10.0).unwrap() } else { leaf_spine() };
    let mut instance = Instance::new(&net, 400, &[0.5, 1.0, 1.0, 2.0], 7);
    let typical = instance.paths.clone();
    let made = |capacities: &[f64]| {
        Engine::new(capacities.to_vec(), &typical, rule.clone(), Precision::F64, threads(1)).unwrap()
    };
    let mut engine = made(&instance.capacities);
    let mut flows: Vec<(FlowId, usize)> = Vec::new();
    for event in events {
        match *event {
            Event::Add(like) => {
                let id = engine.start(instance.paths.links(like), instance.utility(like)).unwrap();
                flows.push((id, like));
            }
            Event::Remove(which) if !flows.is_empty() => {
                let (id, _) = flows.swap_remove(which % flows.len());
                engine.end(id).unwrap();
            }
            Event::Remove(_) => {}
            Event::Capacity(link, capacity) => {
                let link = link % instance.capacities.len();
                instance.capacities[link] = capacity;
                engine.set_capacity(link as u32, capacity).unwrap();
            }
            Event::Step => {
                engine.step().unwrap();
                engine.normalize(Normalization::FNorm);
            }
            Event::LayOut => engine.lay_out().unwrap(),
        }
    }
    // A change, so that what a rule remembers of the last steps counts for neither.
    engine.set_capacity(0, instance.capacities[0]).unwrap();
    let mut new = made(&instance.capacities);
    new.links.set_prices(engine.links.prices()).unwrap();
    let add = |&(_, like): &(FlowId, usize)| new.start(instance.paths.links(like), instance.utility(like)).unwrap();
    let ids: Vec<FlowId> = flows.iter().map(add).collect();
    engine.step().unwrap();
    new.step().unwrap();
    engine.normalize(Normalization::FNorm);
    new.normalize(Normalization::FNorm);
    for (&(id, like), &other) in flows.iter().zip(&ids) {
        prop_assert_eq!(engine.path(id).unwrap(), instance.paths.links(like));
        let pairs = [(engine.rate(id), new.rate(other)), (engine.feasible_rate(id), new.feasible_rate(other))];
        for (found, expected) in pairs.map(|(found, expected)| (found.unwrap(), expected.unwrap())) {
            prop_assert!((found - expected).abs() <= 1e-12 * expected, "{} and {}", found, expected);
        }
    }
    prop_assert_eq!(engine.flows(), flows.len());
    assert_close("loads", &loads(&engine), &loads(&new), 1e-12);
    Ok(())
}

/// Steps taken before there was anything to see spoil nothing: what a rule learns at its start it learns again.
#[test]
fn rules_that_began_without_flows_find_the_rates() {
    fn of(rule: impl Into<Rule>) -> f64 {
        let typical = Paths::from_lists([vec![0, 1]]);
        let mut engine = Engine::new(vec![10.0, 10.0], &typical, rule, Precision::F64, threads(1)).unwrap();
        engine.step().unwrap();
        engine.step().unwrap();
        let flow = engine.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
        engine.start(&[0], PowerLaw::log(1.0)).unwrap();
        (0..3000).for_each(|_| engine.step().unwrap());
        engine.rate(flow).unwrap()
    }
    let rates = [
        of(Ned::new(0.4)),
        of(FastNed::new(1.0)),
        of(Gradient::new(1.0, 0.0)),
        of(Fgm::new()),
        of(NewtonLike::new(0.5, 0.5)),
    ];
    assert_close("rates", &rates, &[5.0; 5], 1e-6);
}

#[test]
fn what_no_table_can_hold_is_refused_before_anything_changes() {
    let typical = Paths::from_lists([vec![0]]);
    let mut engine = Engine::new(vec![1e10], &typical, Ned::new(0.4), Precision::F64, threads(1)).unwrap();
    let steep = PowerLaw::new(1.0, 30.0);
    let error = engine.start(&[0], steep).unwrap_err().to_string();
    assert!(error.contains("weight") && error.contains("out of range"), "{error}");
    assert_eq!(engine.flows(), 0);
    engine.start(&[0], PowerLaw { weight: 1e10, ..steep }).unwrap();
    assert!(engine.set_capacity(0, 1.0).unwrap_err().to_string().contains("out of range"));
    engine.step().unwrap();
    engine.normalize(Normalization::FNorm);
    engine.set_capacity(0, 2e10).unwrap();
    let mut narrow = Engine::new(vec![1e10], &typical, Ned::new(0.4), Precision::F32, threads(1)).unwrap();
    assert!(narrow.start(&[0], PowerLaw::new(1.0, 10.0)).is_err());
}
