//! After a normalizer no link is over its capacity, and no rate was raised.

use crate::common;
use crate::common::any_problem;
use netnum_core::*;
use proptest::prelude::*;

fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let loads = problem.loads(rates).unwrap();
    let over = |(load, capacity): (&f64, &f64)| if *load == 0.0 { 0.0 } else { load / capacity - 1.0 };
    loads.iter().zip(problem.capacities()).map(over).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn any_rates_become_feasible_and_none_is_raised(
        problem in any_problem(12, true), seeds in prop::collection::vec(common::decades(-8, 8), 40),
    ) {
        let rates: Vec<f64> = seeds[..problem.paths().len()].to_vec();
        let u_norm = normalize(&problem, &rates, &UNorm::default()).unwrap();
        let f_norm = normalize(&problem, &rates, &FNorm::default()).unwrap();
        for feasible in [&u_norm, &f_norm] {
            prop_assert!(overload(&problem, feasible) < 1e-12);
            for (path, (after, before)) in feasible.iter().zip(&rates).enumerate() {
                prop_assert!(after <= before && *after <= problem.rate_cap(path) && *after >= 0.0);
            }
        }
        // F-NORM never takes more than U-NORM does.
        prop_assert!(u_norm.iter().zip(&f_norm).all(|(u, f)| u <= f));
        for raised in [
            normalize(&problem, &rates, &UNorm { raise_rates: true }).unwrap(),
            normalize(&problem, &rates, &FNorm { raise_rates: true }).unwrap(),
            normalize(&problem, &rates, &Fill).unwrap(),
        ] {
            prop_assert!(overload(&problem, &raised) < 1e-12);
            prop_assert!(raised.iter().enumerate().all(|(path, rate)| *rate <= problem.rate_cap(path)));
        }
    }
}

proptest! {
    /// Up to the rounding of a sum: the loads, added up path by path, are at most c (1 + (n + 4) 2⁻⁵²) with n paths on
    /// the link. Rates over hundreds of decades are what steep or flat utilities ask for.
    #[test]
    fn no_normalizer_overloads_a_link_whatever_the_rates_are(
        problem in any_problem(12, true), seeds in prop::collection::vec(common::decades(-6, 6), 40),
        power in prop_oneof![Just(1.0), Just(4.0), 0.1f64..20.0],
    ) {
        let rates: Vec<f64> = seeds[..problem.paths().len()].iter().map(|seed| seed.powf(power)).collect();
        let mut counts = vec![0; problem.links()];
        problem.paths().indices().iter().for_each(|&link| counts[link as usize] += 1);
        for normalizer in NORMALIZERS.iter().map(|entry| entry.make) {
            let (name, feasible) = (normalizer.name(), normalize(&problem, &rates, &normalizer).unwrap());
            let loads = problem.loads(&feasible).unwrap();
            for (link, ((load, capacity), count)) in loads.iter().zip(problem.capacities()).zip(&counts).enumerate() {
                let most = capacity * (1.0 + f64::from(count + 4) * f64::EPSILON);
                prop_assert!(*load <= most, "{name}: link {link} has {load:e} of {capacity:e}, {count} paths");
            }
        }
    }
}

#[test]
fn what_a_path_uses_of_a_link_counts_times_its_rate() {
    // Loads of 0.5 · 2 + 3 · 1 of 2, and 1 · 2 of 4.
    let paths = Paths::with_coefficients(vec![0, 2, 3], vec![0, 1, 0], vec![0.5, 1.0, 3.0]).unwrap();
    let problem = Problem::new(vec![2.0, 4.0], paths, AlphaFair::proportional()).unwrap();
    let rates = [2.0, 1.0];
    assert_eq!(normalize(&problem, &rates, &FNorm::default()).unwrap(), [1.0, 0.5]);
    assert_eq!(normalize(&problem, &rates, &UNorm::default()).unwrap(), [1.0, 0.5]);
    assert_eq!(normalize(&problem, &[2.0, 0.1], &FNorm::default()).unwrap(), [2.0, 0.1]);
    assert_eq!(normalize(&problem, &[0.4, 0.2], &FNorm { raise_rates: true }).unwrap(), [1.0, 0.5]);
}

#[test]
fn what_is_above_floors_shares_what_they_leave() {
    let problem = Problem::new(vec![10.0], Paths::from_lists([[0]; 3]), AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![7.0, 0.0, 0.0]).unwrap();
    for (rates, expected) in
        [([1.0, 2.0, 4.0], [7.0, 1.0, 2.0]), ([9.0, 1.0, 3.0], [8.0, 0.5, 1.5]), ([7.0, 0.25, 0.5], [7.0, 0.25, 0.5])]
    {
        for normalizer in NORMALIZERS.iter().map(|entry| entry.make) {
            let found = normalize(&problem, &rates, &normalizer).unwrap();
            if normalizer != Normalization::Fill || expected[1] != rates[1] {
                found.iter().zip(expected).for_each(|(&rate, expected)| common::close(rate, expected, 1e-12));
            }
        }
    }
    // Only a flow that has failed has one.
    let problem = Problem::new(vec![0.0, 1.0], Paths::from_lists([[0], [1]]), AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![0.5, 0.0]).unwrap();
    assert_eq!(normalize(&problem, &[1.0, 2.0], &FNorm::default()).unwrap(), [0.0, 1.0]);
}

/// Light paths beside heavy ones of 30 decades: what they share is what the heavy ones leave.
#[test]
fn fill_tells_light_paths_apart_beside_heavy_ones() {
    for decades in 1..60 {
        let lists = [vec![0, 1], vec![0], vec![0], vec![0], vec![0]];
        let problem = Problem::new(vec![1.0, 0.1], Paths::from_lists(lists), AlphaFair::proportional()).unwrap();
        let light = 10f64.powi(-decades);
        let rates = normalize(&problem, &[1.0, light, 2.0 * light, 3.0 * light, 7.0 * light], &Fill).unwrap();
        let load: f64 = rates.iter().sum();
        assert!((1.0 - 1e-12..=1.0 + 9.0 * f64::EPSILON).contains(&load), "{decades} decades: {load:e}");
    }
}

#[test]
fn u_norm_divides_all_rates_alike_and_f_norm_only_those_on_full_links() {
    let problem =
        Problem::new(vec![1.0, 4.0], Paths::from_lists([vec![0], vec![0, 1], vec![1]]), AlphaFair::proportional())
            .unwrap();
    let rates = [1.0, 1.0, 1.0];
    assert_eq!(normalize(&problem, &rates, &UNorm::default()).unwrap(), [0.5, 0.5, 0.5]);
    assert_eq!(normalize(&problem, &rates, &FNorm::default()).unwrap(), [0.5, 0.5, 1.0]);
    assert_eq!(normalize(&problem, &rates, &FNorm { raise_rates: true }).unwrap(), [0.5, 0.5, 2.0]);
    assert_eq!(normalize(&problem, &[0.1; 3], &UNorm { raise_rates: true }).unwrap(), [0.5, 0.5, 0.5]);
    assert_eq!(normalize(&problem, &[0.1; 3], &UNorm::default()).unwrap(), [0.1; 3]);
}

#[test]
fn a_failed_link_stops_its_flows_and_no_others() {
    let problem = Problem::new(vec![0.0, 1.0], Paths::from_lists([[0], [1]]), AlphaFair::proportional()).unwrap();
    assert_eq!(normalize(&problem, &[1.0, 0.5], &FNorm::default()).unwrap(), [0.0, 0.5]);
    assert_eq!(normalize(&problem, &[0.0, 0.0], &UNorm { raise_rates: true }).unwrap(), [0.0, 0.0]);
}

#[test]
fn bad_rates_are_named() {
    let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    let message = |rates: &[f64]| normalize(&problem, rates, &FNorm::default()).unwrap_err().to_string();
    assert_eq!(message(&[1.0, -1.0]), "path 1 has rate -1, expected a finite number >= 0");
    assert_eq!(message(&[f64::NAN, 1.0]), "path 0 has rate NaN, expected a finite number >= 0");
    assert_eq!(message(&[1.0]), "rates has 1 entries, expected 2, one per path");
}

#[test]
fn a_path_without_links_gets_nothing() {
    let mut rates = [5.0];
    Fill.normalize(&[1.0], &Paths::from_lists([[0u32; 0]]), &mut rates);
    assert_eq!(rates, [0.0]);
    let mut rates = [5.0, 5.0];
    Fill.normalize(&[1.0], &Paths::from_lists([vec![], vec![0]]), &mut rates);
    assert_eq!(rates, [0.0, 1.0]);
}
