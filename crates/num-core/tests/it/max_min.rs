//! Max-min fairness: closed forms, the reference cases, a slow and obvious solver, and the bottleneck property.

use crate::common;
use std::sync::Arc;

use crate::common::{bandwidth_function, decades};
use netnum_core::internal::Spec;
use netnum_core::*;
use proptest::prelude::*;

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (path, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "path {path}: {found}, expected {expected}");
    }
}

fn weighted(capacities: Vec<f64>, lists: &[&[u32]], weights: impl Into<Parameter>) -> Problem {
    let utility = AlphaFair::new(f64::INFINITY, weights).unwrap();
    Problem::new(capacities, Paths::from_lists(lists), utility).unwrap()
}

fn residual(problem: &Problem, rates: &[f64]) -> f64 {
    certify(problem, rates, &vec![0.0; problem.links()]).unwrap().kkt_residual
}

#[test]
fn in_a_parking_lot_every_link_shares_what_is_left_in_proportion_to_the_weights() {
    let lists: &[&[u32]] = &[&[0, 1, 2], &[0], &[1], &[2]];
    close(&max_min(&weighted(vec![1.0; 3], lists, 1.0)).unwrap(), &[0.5; 4], 1e-15);
    let rates = max_min(&weighted(vec![3.0, 6.0, 9.0], lists, vec![2.0, 1.0, 1.0, 4.0])).unwrap();
    close(&rates, &[2.0, 1.0, 4.0, 7.0], 1e-15);
}

#[test]
fn a_capped_flow_leaves_the_rest_to_the_others() {
    let problem = weighted(vec![9.0], &[&[0], &[0], &[0]], 1.0);
    let capped = |caps: [f64; 3]| max_min(&problem.clone().with_rate_caps(caps.to_vec()).unwrap()).unwrap();
    close(&capped([1.0, f64::INFINITY, f64::INFINITY]), &[1.0, 4.0, 4.0], 1e-15);
    close(&capped([1.0, 3.5, f64::INFINITY]), &[1.0, 3.5, 4.5], 1e-15);
    close(&capped([1.0, 2.0, 3.0]), &[1.0, 2.0, 3.0], 0.0);
    close(&capped([0.0, f64::INFINITY, 4.5]), &[0.0, 4.5, 4.5], 1e-15);
}

#[test]
fn a_failed_link_stops_its_flows_and_no_others() {
    let problem = weighted(vec![0.0, 4.0], &[&[0], &[0, 1], &[1], &[1]], vec![1.0, 1.0, 1.0, 3.0]);
    close(&max_min(&problem).unwrap(), &[0.0, 0.0, 1.0, 3.0], 1e-15);
    assert!(residual(&problem, &max_min(&problem).unwrap()) < 1e-12);
}

#[test]
fn there_may_be_no_flows_and_unused_links() {
    assert!(max_min(&weighted(vec![1.0], &[], 1.0)).unwrap().is_empty());
    assert_eq!(max_min(&weighted(vec![5.0; 40], &[&[3]], 1.0)).unwrap(), [5.0]);
}

#[test]
fn alpha_does_not_matter() {
    let base = common::leaf_spine(300, 2.0, 4);
    let expected = max_min(&common::leaf_spine(300, f64::INFINITY, 4)).unwrap();
    assert_eq!(max_min(&base).unwrap(), expected);
    // α = 100 comes within a per cent.
    let lot = |alpha| {
        let utility = AlphaFair::new(alpha, vec![1.0, 1.0, 2.0, 3.0]).unwrap();
        let paths = Paths::from_lists([vec![0, 1, 2], vec![0], vec![1], vec![2]]);
        Problem::new(vec![2.0, 4.0, 8.0], paths, utility).unwrap()
    };
    close(&common::solve_with(&lot(100.0), "fast-ned", 1e-9).rates, &max_min(&lot(f64::INFINITY)).unwrap(), 0.01);
}

#[test]
fn the_reference_cases_are_met_to_a_billionth() {
    for name in ["caps", "leafspine", "parkinglot", "weighted-leafspine-small", "weighted-wan"] {
        let path = format!("{}/tests/cases/maxmin-{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let problem = Problem::from_json(&text).unwrap();
        let case: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = case["expected"]["group_rates"].as_array().unwrap();
        let expected: Vec<f64> = expected.iter().map(|rate| rate.as_f64().unwrap()).collect();
        let rates = max_min(&problem).unwrap();
        close(&rates, &expected, 1e-9);
        assert!(residual(&problem, &rates) < 1e-12, "{name}");
        assert!(residual(&problem, &expected) < 1e-8, "{name}");
    }
}

/// NUMFabric, figures 2 and 9.
fn drawn(alpha: f64) -> Vec<Arc<dyn Utility>> {
    let curve = |bandwidth: [f64; 3], tail| BandwidthFunction::new(&[0.0, 2.0, 2.5], &bandwidth, alpha, tail).unwrap();
    vec![Arc::new(curve([0.0, 10.0, 15.0], 0.0)), Arc::new(curve([0.0, 0.0, 10.0], 0.0))]
}

#[test]
fn bandwidth_functions_share_a_link_as_they_were_drawn() {
    for tenths in 50..=350 {
        let capacity = f64::from(tenths) / 10.0;
        // The curves' own inverse: flow 1 alone up to 10, then one part in three to it, two to flow 2, until 25.
        let second = ((capacity - 10.0) * 2.0 / 3.0).clamp(0.0, 10.0);
        let expected = [(capacity - second).min(15.0), second];
        let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), drawn(f64::INFINITY)).unwrap();
        let rates = max_min(&problem).unwrap();
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - expected).abs() <= 1e-14 * capacity, "capacity {capacity}: {rates:?}");
        }
        assert!(residual(&problem, &rates) < 1e-12, "capacity {capacity}");
    }
    for (capacity, expected) in [(10.0, [10.0, 0.0]), (25.0, [15.0, 10.0])] {
        let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), drawn(5.0)).unwrap();
        assert_eq!(max_min(&problem).unwrap(), expected);
    }
}

#[test]
fn weights_and_curves_share_a_link_at_one_fair_share() {
    let mut utilities = drawn(f64::INFINITY);
    utilities.push(Arc::new(AlphaFair::new(f64::INFINITY, 4.0).unwrap()));
    let problem = Problem::new(vec![24.0], Paths::from_lists([[0], [0], [0]]), utilities).unwrap();
    // At f = 2.2: 12, 4 and 8.8 are 24.8; at 2.1666…: 11.666…, 3.333… and 8.666… are 23.666…
    let f = 2.0 + (24.0 - 18.0) / 34.0;
    close(&max_min(&problem).unwrap(), &[10.0 + 10.0 * (f - 2.0), 20.0 * (f - 2.0), 4.0 * f], 1e-14);
}

#[test]
fn a_curve_that_is_steep_beyond_the_digits_of_its_fair_share_overloads_nothing() {
    let steep = BandwidthFunction::new(&[0.0, 1e6, 1e6 + 1e-9], &[0.0, 1.0, 3.0], f64::INFINITY, 0.0).unwrap();
    let problem = Problem::new(vec![4.0, 3.0], Paths::from_lists([vec![0], vec![0, 1], vec![1]]), steep).unwrap();
    let rates = max_min(&problem).unwrap();
    close(&rates, &[2.5, 1.5, 1.5], 1e-14);
}

#[test]
fn rates_are_the_same_in_any_units() {
    let problem = common::leaf_spine(500, f64::INFINITY, 6);
    let rates = max_min(&problem).unwrap();
    let specs: Vec<Spec> = (0..500).map(|flow| problem.utility(flow).0.spec(flow).unwrap()).collect();
    for (capacity, weight) in [(1e9, 1.0), (1e-9, 1.0), (1.0, 1e9), (1e290, 1e-300), (1e-300, 1e290)] {
        let capacities = problem.capacities().iter().map(|value| value * capacity).collect();
        let scaled = |spec: &Spec| spec.clone().with("weight", spec.get("weight").unwrap() * weight);
        let specs = Utilities::Specs(specs.iter().map(scaled).collect());
        let other = max_min(&Problem::new(capacities, problem.paths().clone(), specs).unwrap()).unwrap();
        let expected: Vec<f64> = rates.iter().map(|rate| rate * capacity).collect();
        close(&other, &expected, 1e-12);
    }
    let mut utilities = drawn(f64::INFINITY);
    let scaled = |curve: [f64; 3]| {
        let bandwidth = curve.map(|value| 1e9 * value);
        Arc::new(BandwidthFunction::new(&[0.0, 2e9, 2.5e9], &bandwidth, f64::INFINITY, 0.0).unwrap())
    };
    utilities.extend([scaled([0.0, 10.0, 15.0]) as Arc<dyn Utility>, scaled([0.0, 0.0, 10.0])]);
    let paths = Paths::from_lists([[0], [0], [1], [1]]);
    let rates = max_min(&Problem::new(vec![17.0, 17e9], paths, utilities).unwrap()).unwrap();
    close(&rates[2..], &[1e9 * rates[0], 1e9 * rates[1]], 1e-14);
}

#[test]
fn the_largest_and_the_smallest_numbers_give_numbers() {
    for capacity in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
        for weight in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            let problem = weighted(vec![capacity, 1.0], &[&[0], &[0], &[0, 1]], vec![weight, 1.0, weight]);
            let rates = max_min(&problem).unwrap();
            assert!(rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{capacity} {weight}: {rates:?}");
            let over = problem.loads(&rates.iter().map(|rate| rate / 4.0).collect::<Vec<_>>()).unwrap();
            assert!(over[0] <= capacity / 4.0 * (1.0 + 1e-15) && over[1] <= 0.25 * (1.0 + 1e-15), "{rates:?}");
        }
    }
}

#[test]
fn a_light_flow_is_not_lost_behind_heavy_ones() {
    // The heavy flows stop on their own links and leave link 0 to the light one, which then has all of it.
    let lists: &[&[u32]] = &[&[0], &[0, 1], &[0, 2], &[0, 3]];
    for light in [1e-6, 1e-12, 1e-18, 1e-100] {
        let problem = weighted(vec![1.0, 0.25, 0.125, 0.0625], lists, vec![light, 1.0, 0.3, 0.7]);
        let rates = max_min(&problem).unwrap();
        close(&rates, &[0.5625, 0.25, 0.125, 0.0625], 1e-14);
        // All of the link taken by the heavy ones: the light one gets its share at their level, not what was rounded.
        let problem = weighted(vec![0.3, 0.1, 0.2], &[&[0], &[0, 1], &[0, 2]], vec![light, 1.0, 2.0]);
        let rates = max_min(&problem).unwrap();
        close(&rates, &[0.1 * light, 0.1, 0.2], 1e-5);
    }
}

#[test]
fn utilities_without_a_fair_share_are_named() {
    let paths = Paths::from_lists([[0], [0]]);
    let with = |other: Arc<dyn Utility>| {
        let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(AlphaFair::new(f64::INFINITY, 1.0).unwrap()), other];
        Problem::new(vec![1.0], paths.clone(), utilities).unwrap()
    };
    let advice = "use solve(), or AlphaFair or BandwidthFunction for every flow";
    let fct = with(Arc::new(MinFct::new(1.0, 0.125).unwrap()));
    assert_eq!(
        max_min(&fct).unwrap_err().to_string(),
        format!("method \"max-min\" cannot take flow 1, whose fct utility has no fair share; {advice}")
    );
    let linear = with(Arc::new(Linear::new(1.0).unwrap()));
    assert_eq!(
        certify(&linear, &[0.5; 2], &[1.0]).unwrap_err().to_string(),
        format!("method \"certify\" cannot take flow 1, whose linear utility has no fair share; {advice}")
    );
    let own = with(Arc::new(common::Logarithmic { weight: 1.0, scale: 1.0 }));
    assert!(max_min(&own).unwrap_err().to_string().contains("flow 1, whose user-defined utility"));
    let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(MinFct::new(1.0, 0.125).unwrap())];
    let several = Problem::grouped(vec![1.0], paths, vec![0, 0], utilities).unwrap();
    assert!(max_min(&several).unwrap_err().to_string().contains("flow 0, whose fct utility has no fair share"));
}

#[test]
fn a_user_may_give_a_fair_share_and_a_bad_one_is_named() {
    #[derive(Debug)]
    struct Own(f64);
    impl Utility for Own {
        fn value(&self, _: usize, rate: f64) -> f64 {
            rate.ln()
        }
        fn marginal(&self, _: usize, rate: f64) -> f64 {
            1.0 / rate
        }
        fn demand(&self, _: usize, price: f64) -> f64 {
            1.0 / price
        }
        fn demand_slope(&self, _: usize, price: f64) -> f64 {
            -1.0 / (price * price)
        }
        fn fair_share(&self, _: usize) -> Option<FairShare<'_>> {
            Some(FairShare::weight(self.0))
        }
    }
    let two = |weight| Problem::new(vec![4.0], Paths::from_lists([[0], [0]]), Own(weight)).unwrap();
    close(&max_min(&two(3.0)).unwrap(), &[2.0, 2.0], 1e-15);
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = max_min(&two(weight)).unwrap_err().to_string();
        let expected = format!("the weight of its fair share is {weight}, expected a finite number > 0");
        assert_eq!(message, format!("the utility of flow 0 is broken: {expected}"));
    }
}

#[test]
fn max_min_bandwidth_functions_are_written_and_read_by_their_kind() {
    let problem = Problem::new(vec![17.0], Paths::from_lists([[0], [0]]), drawn(f64::INFINITY)).unwrap();
    assert_eq!(problem.curvature(), Curvature::MaxMin);
    let text = problem.to_json().unwrap();
    assert!(text.contains("max_min_bandwidth_function") && !text.contains("\"alpha\""), "{text}");
    let read = Problem::from_json(&text).unwrap();
    assert_eq!(read.curvature(), Curvature::MaxMin);
    assert_eq!(max_min(&read).unwrap(), max_min(&problem).unwrap());
    let curve = Spec::of_kind("bandwidth_function").with_breakpoints(vec![[0.0, 0.0], [1.0, 1.0]]);
    let mixed = vec![curve.clone().with("alpha", 5.0), curve.with("alpha", f64::INFINITY)];
    let error = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), Utilities::Specs(mixed)).unwrap_err();
    assert_eq!(error.to_string(), "flow 1 has alpha inf, expected all finite or all infinite within one utility");
}

#[test]
fn the_certificate_sees_a_flow_that_has_too_much_or_too_little() {
    for (problem, name) in [
        (common::leaf_spine(400, f64::INFINITY, 8), "leaf-spine"),
        (Problem::new(vec![19.0], Paths::from_lists([[0], [0]]), drawn(f64::INFINITY)).unwrap(), "curves"),
    ] {
        let rates = max_min(&problem).unwrap();
        assert!(residual(&problem, &rates) < 1e-12, "{name}: {}", residual(&problem, &rates));
        for flow in 0..rates.len().min(60) {
            for factor in [1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 1e-3, 0.9] {
                let mut spoiled = rates.clone();
                spoiled[flow] *= factor;
                let feasible = normalize(&problem, &spoiled, &FNorm::default()).unwrap();
                let (found, size) = (residual(&problem, &feasible), f64::abs(factor - 1.0));
                assert!(found > 0.02 * size && found < 5.0 * size, "{name}, flow {flow} x {factor}: {found:e}");
                let whole = certify(&problem, &spoiled, &vec![0.0; problem.links()]).unwrap();
                assert!((whole.relative_gap - found).abs() < 1e-12 && whole.overload <= size, "{whole:?}");
                assert_eq!(whole.kkt_residual, whole.relative_gap.max(whole.overload));
            }
        }
        let halved: Vec<f64> = rates.iter().map(|rate| 0.5 * rate).collect();
        assert!((residual(&problem, &halved) - 0.5).abs() < 1e-12, "{name}");
    }
}

#[test]
fn fill_wastes_nothing_and_keeps_proportions() {
    let lists: &[&[u32]] = &[&[0, 1], &[0], &[1]];
    let problem = weighted(vec![3.0, 10.0], lists, 1.0);
    close(&normalize(&problem, &[0.1, 0.2, 0.3], &Fill).unwrap(), &[1.0, 2.0, 9.0], 1e-15);
    close(&normalize(&problem, &[100.0, 0.0, 1.0], &Fill).unwrap(), &[3.0, 0.0, 7.0], 1e-15);
    let capped = problem.with_rate_caps(vec![f64::INFINITY, 0.5, 2.0]).unwrap();
    close(&normalize(&capped, &[0.1, 0.2, 0.3], &Fill).unwrap(), &[2.5, 0.5, 2.0], 1e-15);
    // Paths that are in no problem are filled all the same.
    let mut rates = [1.0, 1.0, 3.0];
    Fill.normalize(&[2.0], &Paths::from_lists([&[0, 0][..], &[], &[0]]), &mut rates);
    assert!(rates.iter().all(|rate| rate.is_finite()) && 2.0 * rates[0] + rates[2] <= 2.0 + 1e-12, "{rates:?}");
}

/// Max-min as it is defined: all rates rise by bisection until one must stop. Slow, and without levels.
fn by_bisection(problem: &Problem, shares: &[FairShare]) -> Vec<f64> {
    let most = |path: usize| shares[path].saturation().min(problem.rate_cap(path));
    let mut stopped: Vec<Option<f64>> = vec![None; shares.len()];
    while stopped.iter().any(Option::is_none) {
        let at = |f: f64| -> Vec<f64> {
            (0..shares.len()).map(|p| stopped[p].unwrap_or_else(|| shares[p].bandwidth(f).min(most(p)))).collect()
        };
        let fits = |f: f64| {
            let loads = problem.loads(&at(f)).unwrap();
            loads.iter().zip(problem.capacities()).all(|(load, capacity)| *load <= capacity * (1.0 + 1e-13))
        };
        let (mut low, mut high) = (0.0, 1e40);
        for _ in 0..400 {
            let middle = if low == 0.0 { 1e-20 * high } else { 0.5 * (low + high) };
            if fits(middle) {
                low = middle
            } else {
                high = middle
            }
            if high - low <= 1e-15 * high {
                break;
            }
        }
        let (rates, loads) = (at(low), problem.loads(&at(low)).unwrap());
        let full = |l: &u32| loads[*l as usize] >= problem.capacities()[*l as usize] * (1.0 - 1e-9);
        for path in 0..shares.len() {
            if stopped[path].is_none() && (rates[path] >= most(path) || problem.paths().links(path).iter().any(full)) {
                stopped[path] = Some(rates[path]);
            }
        }
    }
    stopped.into_iter().map(Option::unwrap).collect()
}

type Ask = (Vec<u32>, Arc<dyn Utility>, f64);

/// Networks with weights over some decades, curves among them if asked for, caps and failed links.
fn any_network(curves: bool, half: i32) -> impl Strategy<Value = (Vec<f64>, Vec<Ask>)> {
    let capacity = prop_oneof![6 => decades(-1, 1), 3 => Just(1.0), 1 => Just(0.0)];
    prop::collection::vec(capacity, 1..8).prop_flat_map(move |capacities| {
        let links: Vec<u32> = (0..capacities.len() as u32).collect();
        let path = prop::sample::subsequence(links.clone(), 1..=links.len().min(4));
        let weight = prop_oneof![decades(-half, half), Just(1.0)]
            .prop_map(|weight| Arc::new(AlphaFair::new(f64::INFINITY, weight).unwrap()) as Arc<dyn Utility>);
        let curve = bandwidth_function().prop_map(|curve| Arc::new(curve) as Arc<dyn Utility>);
        let utility = prop_oneof![1 => weight, u32::from(curves) => curve];
        let cap = prop_oneof![4 => Just(f64::INFINITY), 2 => decades(-2, 1), 1 => Just(0.0)];
        (Just(capacities), prop::collection::vec((path, utility, cap), 1..12))
    })
}

fn problem(capacities: &[f64], asks: &[Ask]) -> Problem {
    let paths = Paths::from_lists(asks.iter().map(|(links, _, _)| links.as_slice()));
    let utilities: Vec<_> = asks.iter().map(|(_, utility, _)| utility.clone()).collect();
    let caps = asks.iter().map(|(_, _, cap)| *cap).collect();
    Problem::new(capacities.to_vec(), paths, utilities).unwrap().with_rate_caps(caps).unwrap()
}

fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let loads = problem.loads(rates).unwrap();
    let over = |(load, capacity): (&f64, &f64)| if *load > 0.0 { load / capacity - 1.0 } else { 0.0 };
    loads.iter().zip(problem.capacities()).map(over).fold(0.0, f64::max)
}

/// The bottleneck property of rates, for the same network with every α infinite.
fn held_to_max_min(problem: &Problem, rates: &[f64]) -> f64 {
    let specs = (0..problem.flows()).map(|flow| {
        let (utility, place) = problem.utility(flow);
        let mut spec = utility.spec(place).unwrap().without("alpha");
        let kind = if spec.kind == "bandwidth_function" { "max_min_bandwidth_function" } else { "max_min" };
        spec.kind = kind.into();
        spec
    });
    let caps = (0..problem.flows()).map(|path| problem.rate_cap(path)).collect();
    let paths = problem.paths().clone();
    let limit = Problem::new(problem.capacities().to_vec(), paths, Utilities::Specs(specs.collect())).unwrap();
    residual(&limit.with_rate_caps(caps).unwrap(), rates)
}

proptest! {
    #[test]
    fn rates_are_those_of_the_definition((capacities, asks) in any_network(true, 1)) {
        let problem = problem(&capacities, &asks);
        let shares: Vec<FairShare> = asks.iter().map(|(_, utility, _)| utility.fair_share(0).unwrap()).collect();
        let (rates, expected) = (max_min(&problem).unwrap(), by_bisection(&problem, &shares));
        for (rate, expected) in rates.iter().zip(&expected) {
            prop_assert!((rate - expected).abs() <= 1e-8 * expected + 1e-10, "{rates:?}, expected {expected:?}");
        }
    }

    #[test]
    fn weights_over_twelve_decades_overload_nothing_and_meet_the_bottleneck_property(
        (capacities, asks) in any_network(false, 6),
    ) {
        let problem = problem(&capacities, &asks);
        let rates = max_min(&problem).unwrap();
        prop_assert!(overload(&problem, &rates) <= 8.0 * f64::EPSILON, "{:e}", overload(&problem, &rates));
        prop_assert!(held_to_max_min(&problem, &rates) <= 1e-9, "{:e}", held_to_max_min(&problem, &rates));
        prop_assert!(rates.iter().zip(&asks).all(|(rate, ask)| *rate >= 0.0 && *rate <= ask.2));
    }

    #[test]
    fn curves_overload_nothing_and_meet_the_bottleneck_property((capacities, asks) in any_network(true, 6)) {
        let problem = problem(&capacities, &asks);
        let rates = max_min(&problem).unwrap();
        prop_assert!(overload(&problem, &rates) <= 32.0 * f64::EPSILON, "{:e}", overload(&problem, &rates));
        prop_assert!(held_to_max_min(&problem, &rates) <= 1e-8, "{:e}", held_to_max_min(&problem, &rates));
    }

    #[test]
    fn the_order_of_flows_does_not_matter((capacities, asks) in any_network(true, 2), turn in 0usize..12) {
        let rates = max_min(&problem(&capacities, &asks)).unwrap();
        let turn = turn % asks.len();
        let mut turned = asks.clone();
        turned.rotate_left(turn);
        let mut again = max_min(&problem(&capacities, &turned)).unwrap();
        again.rotate_right(turn);
        for (rate, again) in rates.iter().zip(&again) {
            prop_assert!((rate - again).abs() <= 1e-11 * rate, "{rate:e} and {again:e}");
        }
    }

    #[test]
    fn curves_and_weights_say_the_same_of_a_straight_line((capacities, asks) in any_network(false, 2)) {
        let straight = |(links, utility, cap): &Ask| {
            let weight = utility.spec(0).unwrap().get("weight").unwrap();
            let line = BandwidthFunction::new(&[0.0, 1.0], &[0.0, weight], f64::INFINITY, weight).unwrap();
            (links.clone(), Arc::new(line) as Arc<dyn Utility>, *cap)
        };
        let rates = max_min(&problem(&capacities, &asks)).unwrap();
        let lines = max_min(&problem(&capacities, &asks.iter().map(straight).collect::<Vec<_>>())).unwrap();
        for (rate, line) in rates.iter().zip(&lines) {
            prop_assert!((rate - line).abs() <= 1e-11 * rate, "{rate:e} and {line:e}");
        }
    }
}
