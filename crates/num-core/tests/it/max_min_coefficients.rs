//! Max-min where paths have coefficients: closed forms, problems of ones in other units, and the certificate.

use std::collections::BTreeSet;

use netnum_core::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FAIREST: f64 = f64::INFINITY;

/// The entries (link, coefficient) of every path.
type Entries = Vec<Vec<(u32, f64)>>;

fn paths(entries: &Entries) -> Paths {
    let indptr = std::iter::once(0).chain(entries.iter().scan(0, |end, path| {
        *end += path.len();
        Some(*end)
    }));
    let all = || entries.iter().flatten();
    let (indices, coefficients) = (all().map(|entry| entry.0).collect(), all().map(|entry| entry.1).collect());
    Paths::with_coefficients(indptr.collect(), indices, coefficients).unwrap()
}

fn grouped(capacities: &[f64], entries: &Entries, group: &[u32], weights: impl Into<Parameter>) -> Problem {
    let utility = AlphaFair::new(FAIREST, weights).unwrap();
    Problem::grouped(capacities.to_vec(), paths(entries), group.to_vec(), utility).unwrap()
}

/// With every path given twice, so that flows have several.
fn twice(capacities: &[f64], entries: &Entries, weights: &[f64]) -> Problem {
    let doubled = entries.iter().flat_map(|path| [path.clone(), path.clone()]).collect();
    let group: Vec<u32> = (0..2 * entries.len() as u32).map(|path| path / 2).collect();
    grouped(capacities, &doubled, &group, weights.to_vec())
}

fn flow_rates(problem: &Problem) -> Vec<f64> {
    let solution = solve(problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert!(solution.certificate.kkt_residual <= 1e-8, "{solution}");
    let loads = solution.loads.iter().zip(problem.capacities());
    loads.for_each(|(load, capacity)| assert!(*load <= capacity * (1.0 + 1e-12), "{load} over {capacity}"));
    solution.flow_rates
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (flow, (rate, target)) in found.iter().zip(expected).enumerate() {
        assert!((rate - target).abs() <= tolerance * target, "flow {flow}: {rate}, expected {target}: {found:?}");
    }
}

#[test]
fn in_a_parking_lot_the_long_flow_has_the_least_level_and_the_others_the_rest() {
    let (capacities, weights) = ([1.0, 2.0, 3.0], [1.5, 1.0, 2.0, 0.5]);
    let (of_long, of_short) = ([0.5, 3.0, 2.0], [2.0, 0.25, 7.0]);
    let long = (0..3).map(|link| (link, of_long[link as usize])).collect();
    let short = (0..3).map(|link| vec![(link, of_short[link as usize])]);
    let entries: Entries = std::iter::once(long).chain(short).collect();
    let level = |link: usize| capacities[link] / (of_long[link] * weights[0] + of_short[link] * weights[link + 1]);
    let most = weights[0] * (0..3).map(level).fold(f64::INFINITY, f64::min);
    let left = (0..3).map(|link| (capacities[link] - of_long[link] * most) / of_short[link]);
    let expected: Vec<f64> = std::iter::once(most).chain(left).collect();
    close(&flow_rates(&grouped(&capacities, &entries, &[0, 1, 2, 3], weights.to_vec())), &expected, 1e-14);
    close(&flow_rates(&twice(&capacities, &entries, &weights)), &expected, 1e-12);
    let curve = |weight: f64| BandwidthFunction::new(&[0.0, 1.0], &[0.0, weight], FAIREST, weight).unwrap();
    let curves: Vec<_> = weights.map(|weight| std::sync::Arc::new(curve(weight)) as _).into();
    let of_curves = Problem::new(capacities.to_vec(), paths(&entries), curves).unwrap();
    close(&flow_rates(&of_curves), &expected, 1e-13);
}

#[test]
fn acknowledgements_that_load_the_way_back_leave_the_rest_to_both_directions() {
    let entries = vec![vec![(0, 1.0), (1, 0.05)], vec![(1, 1.0), (0, 0.05)]];
    close(&flow_rates(&grouped(&[10.0, 10.0], &entries, &[0, 1], 1.0)), &[10.0 / 1.05; 2], 1e-15);
    close(&flow_rates(&twice(&[10.0, 10.0], &entries, &[1.0, 1.0])), &[10.0 / 1.05; 2], 1e-12);
}

/// A path is a job on a kind of machine: it takes 1/T of the job's time and of the machine's per unit of throughput.
#[test]
fn two_jobs_share_two_kinds_of_machines() {
    let on = |job: u32, machine: u32, throughput: f64| vec![(job, 1.0 / throughput), (2 + machine, 1.0 / throughput)];
    let entries = vec![on(0, 0, 4.0), on(0, 1, 1.0), on(1, 0, 3.0), on(1, 1, 2.0)];
    close(&flow_rates(&grouped(&[1.0; 4], &entries, &[0, 0, 1, 1], 1.0)), &[2.5, 2.5], 1e-12);
}

/// Ghodsi et al., *Dominant Resource Fairness*, NSDI 2011, §4.1: 9 CPUs, 18 GB, tasks of (1, 4) and of (3, 1).
#[test]
fn weights_of_one_over_the_dominant_share_are_dominant_resource_fairness() {
    let (capacities, entries) = ([9.0, 18.0], vec![vec![(0, 1.0), (1, 4.0)], vec![(0, 3.0), (1, 1.0)]]);
    let dominant = |task: &Vec<(u32, f64)>| task.iter().map(|&(l, a)| a / capacities[l as usize]).fold(0.0, f64::max);
    let weights: Vec<f64> = entries.iter().map(|task| 1.0 / dominant(task)).collect();
    close(&flow_rates(&grouped(&capacities, &entries, &[0, 1], weights.clone())), &[3.0, 2.0], 1e-15);
    close(&flow_rates(&twice(&capacities, &entries, &weights)), &[3.0, 2.0], 1e-12);
}

#[test]
fn a_cap_a_failed_link_and_an_unused_one_count_as_without_coefficients() {
    let entries = vec![vec![(0, 0.5)], vec![(0, 2.0)], vec![(0, 0.25), (2, 5.0)], vec![(1, 3.0)]];
    let problem = grouped(&[4.0, 9.0, 0.0, 7.0], &entries, &[0, 1, 2, 3], 1.0);
    close(&flow_rates(&problem), &[1.6, 1.6, 0.0, 3.0], 1e-15);
    let capped = problem.with_rate_caps(vec![f64::INFINITY, 1.0, f64::INFINITY, 2.0]).unwrap();
    close(&flow_rates(&capped), &[4.0, 1.0, 0.0, 2.0], 1e-15);
    let several = grouped(&[4.0, 9.0, 0.0, 7.0], &entries, &[0, 1, 1, 0], 1.0);
    close(&flow_rates(&several.with_flow_caps(vec![f64::INFINITY, 1.0]).unwrap()), &[7.0, 1.0], 1e-12);
}

/// Prices are products of many ratios of coefficients, and what some flows pay is 10¹⁰ times as much as others do.
#[test]
fn levels_that_rest_on_many_unlike_coefficients_are_proven() {
    const LINKS: u32 = 150;
    for seed in 0..12 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let decades = |rng: &mut ChaCha8Rng| 10f64.powf(rng.random_range(-1.0..1.0));
        // On a ring, so that paths of neighbours share links.
        let mut path = |first: u32| -> Vec<(u32, f64)> {
            let links: BTreeSet<u32> = (0..12).map(|_| (first + rng.random_range(0..25)) % LINKS).collect();
            links.into_iter().map(|link| (link, decades(rng))).collect()
        };
        let entries: Entries = (0..1600u32).map(|number| path(number / 4 * 7919 % LINKS)).collect();
        let group: Vec<u32> = (0..1600).map(|path| path / 4).collect();
        let capacities: Vec<f64> = (0..LINKS).map(|_| decades(rng)).collect();
        let problem = grouped(&capacities, &entries, &group, 1.0);
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "seed {seed}: {solution}");
        let loads = solution.loads.iter().zip(problem.capacities());
        loads.for_each(|(load, capacity)| assert!(*load <= capacity * (1.0 + 1e-12), "{load} over {capacity}"));
    }
}

/// Flows with some paths each, what they are worth, caps and the capacities of links.
#[derive(Debug, Clone)]
struct Drawn {
    capacities: Vec<f64>,
    entries: Entries,
    of_one: usize,
    weights: Vec<f64>,
    rate_caps: Vec<f64>,
    flow_caps: Vec<f64>,
}

impl Drawn {
    fn group(&self) -> Vec<u32> {
        (0..self.entries.len()).map(|path| (path / self.of_one) as u32).collect()
    }

    fn problem(&self) -> Problem {
        let problem = grouped(&self.capacities, &self.entries, &self.group(), self.weights.clone());
        problem.with_rate_caps(self.rate_caps.clone()).unwrap().with_flow_caps(self.flow_caps.clone()).unwrap()
    }

    /// Every link in another unit.
    fn in_units(mut self, units: &[f64]) -> Self {
        self.capacities.iter_mut().zip(units).for_each(|(capacity, unit)| *capacity *= unit);
        self.entries.iter_mut().flatten().for_each(|(link, a)| *a *= units[*link as usize]);
        self
    }
}

const LINKS: u32 = 8;

fn cap() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(f64::INFINITY), 1 => 0.05f64..3.0, 1 => Just(1.0)]
}

/// `decades` of coefficients, of which some are halves and quarters; capacities often equal, and one in ten failed.
fn drawn(decades: f64) -> impl Strategy<Value = Drawn> {
    let capacity = prop_oneof![1 => Just(0.0), 5 => Just(1.0), 4 => 0.5f64..4.0];
    let spread = (-0.5 * decades..=0.5 * decades).prop_map(|power| 10f64.powf(power));
    let coefficient = prop_oneof![2 => Just(1.0), 1 => Just(0.5), 1 => Just(0.25), 3 => spread];
    let path = prop::collection::btree_map(0..LINKS, coefficient, 1..4);
    let weight = prop_oneof![1 => Just(1.0), 1 => 0.3f64..3.0];
    (1usize..4, 1usize..8).prop_flat_map(move |(of_one, flows)| {
        (
            prop::collection::vec(capacity.clone(), LINKS as usize),
            prop::collection::vec(path.clone(), flows * of_one),
            prop::collection::vec(weight.clone(), flows),
            prop::collection::vec(cap(), flows * of_one),
            prop::collection::vec(cap(), flows),
        )
            .prop_map(move |(capacities, entries, weights, rate_caps, flow_caps)| {
                let entries = entries.into_iter().map(|path| path.into_iter().collect()).collect();
                Drawn { capacities, entries, of_one, weights, rate_caps, flow_caps }
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rates_are_proven(drawn in drawn(2.0)) {
        flow_rates(&drawn.problem());
    }

    /// a_lp = s_l t_f is a problem of ones with capacities c/s and rates t y.
    #[test]
    fn coefficients_that_are_a_links_times_a_flows_are_units(
        drawn in drawn(0.0),
        of_links in prop::collection::vec((0.01f64..100.0, 0.8f64..1.25), LINKS as usize),
        of_flows in prop::collection::vec(0.1f64..10.0, 8),
    ) {
        let mut ones = drawn;
        // No two levels are equal, of which rounding would take one or the other for the prices.
        ones.capacities.iter_mut().zip(&of_links).for_each(|(capacity, (_, factor))| *capacity *= factor);
        let of_links: Vec<f64> = of_links.into_iter().map(|(unit, _)| unit).collect();
        ones.entries.iter_mut().flatten().for_each(|(_, a)| *a = 1.0);
        let (mut scaled, of_one) = (ones.clone().in_units(&of_links), ones.of_one);
        for (path, entries) in scaled.entries.iter_mut().enumerate() {
            entries.iter_mut().for_each(|(_, a)| *a /= of_flows[path / of_one]);
            scaled.rate_caps[path] *= of_flows[path / of_one];
        }
        for (flow, factor) in of_flows.iter().enumerate().take(ones.weights.len()) {
            scaled.weights[flow] *= factor;
            scaled.flow_caps[flow] *= factor;
        }
        let [ones, scaled] = [ones, scaled].map(|drawn| solve(&drawn.problem(), &Ask::default()).unwrap());
        let expected: Vec<f64> = ones.flow_rates.iter().zip(&of_flows).map(|(rate, factor)| rate * factor).collect();
        close(&scaled.flow_rates, &expected, 1e-9);
        if of_one == 1 {
            let expected: Vec<f64> = ones.prices.iter().zip(&of_links).map(|(price, unit)| price / unit).collect();
            close(&scaled.prices, &expected, 1e-9);
        }
    }

    #[test]
    fn the_unit_of_a_link_does_not_matter(
        drawn in drawn(2.0),
        powers in prop::collection::vec((prop::sample::select(vec![-9.0, 0.0, 9.0]), 0.5f64..2.0), LINKS as usize),
    ) {
        let units: Vec<f64> = powers.into_iter().map(|(power, odd)| 10f64.powf(power) * odd).collect();
        let [one, other] = [drawn.clone(), drawn.in_units(&units)].map(|drawn| drawn.problem());
        close(&flow_rates(&other), &flow_rates(&one), 1e-9);
    }

    #[test]
    fn rates_from_an_earlier_solution_are_those_from_the_beginning(
        drawn in drawn(2.0),
        factors in prop::collection::vec(prop_oneof![2 => Just(1.0), 1 => 0.5f64..2.0], LINKS as usize),
    ) {
        let problem = drawn.problem();
        let start = MaxMin::of(&problem).unwrap();
        let capacities = drawn.capacities.iter().zip(&factors).map(|(capacity, factor)| capacity * factor);
        let changed = problem.clone().with_capacities(capacities.collect()).unwrap();
        let again = start.again(&changed).unwrap();
        prop_assert!(again.unfairness < 1e-8, "{:e}", again.unfairness);
        close(&changed.flow_rates(&again.rates).unwrap(), &flow_rates(&changed), 1e-8);
    }

    /// More of a link raises the fair share of the first level whose cut has it by its price.
    #[test]
    fn a_price_is_a_rise_per_unit_of_the_link(
        drawn in drawn(1.0),
        units in prop::collection::vec((0.1f64..10.0, 0.8f64..1.25), LINKS as usize),
    ) {
        let mut drawn = drawn.in_units(&units.iter().map(|&(unit, _)| unit).collect::<Vec<_>>());
        // No two levels are equal, so that the fair share has a slope.
        drawn.capacities.iter_mut().zip(&units).for_each(|(capacity, (_, factor))| *capacity *= factor);
        let (problem, weights) = (drawn.problem(), &drawn.weights);
        let solution = solve(&problem, &Ask::default()).unwrap();
        for (path, link) in solution.bottlenecks.iter().enumerate().filter_map(|(path, link)| Some((path, (*link)?))) {
            let flow = path / drawn.of_one;
            let fair_share = solution.flow_rates[flow] / weights[flow];
            let is_in = |cut: &&Cut| cut.links.contains(&link) && cut.fair_share < fair_share * (1.0 - 1e-9);
            if solution.cuts.iter().any(|cut| is_in(&cut)) {
                continue;
            }
            let step = 1e-5 * drawn.capacities[link as usize];
            let share_at = |by: f64| {
                let mut capacities = drawn.capacities.clone();
                capacities[link as usize] += by;
                flow_rates(&problem.clone().with_capacities(capacities).unwrap())[flow] / weights[flow]
            };
            let (price, share) = (solution.prices[link as usize], share_at(0.0));
            // The fair share is concave: where it has a corner, prices between both slopes are right.
            let [below, above] = [(share - share_at(-step)) / step, (share_at(step) - share) / step];
            let is_right = above - 1e-3 * price <= price && price <= below + 1e-3 * price;
            prop_assert!(is_right, "link {}: {} and not {} to {}", link, price, above, below);
        }
    }
}
