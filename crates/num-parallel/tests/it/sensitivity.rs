//! Derivatives of many optima at once: the order, the bits, the bad ones, stopping.

use std::num::NonZeroUsize;
use std::sync::Arc;

use netnum_core::sensitivity::{AtKink, OutcomeChange, ParameterChange, Sensitivity};
use netnum_core::*;
use netnum_parallel::{Threads, reverse_many};

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Two flows on one link of its number's capacity, linear in the fourth.
fn problems() -> Vec<Problem> {
    let of = |number: u32| {
        let paths = Paths::from_lists([[0], [0]]);
        let utility: Utilities =
            if number == 4 { Linear::new(1.0).unwrap().into() } else { AlphaFair::proportional().into() };
        Problem::new(vec![f64::from(number)], paths, utility).unwrap()
    };
    (1..40).map(of).collect()
}

#[test]
fn answers_come_in_order_with_the_same_bits_for_any_number_of_threads_and_bad_ones_alone() {
    let (problems, settings) = (problems(), Settings::default());
    let solutions: Vec<_> = problems.iter().map(|problem| solve(problem, &settings.clone().into()).unwrap()).collect();
    let prices = OutcomeChange { prices: vec![1.0], ..OutcomeChange::default() };
    let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &prices)).collect();
    for count in [1, 2, 8] {
        let found = reverse_many(&of, AtKink::Refuse, threads(count));
        assert_eq!(found.len(), 39);
        for ((found, (problem, solution, outcome)), capacity) in found.into_iter().zip(&of).zip(1..) {
            if capacity == 4 {
                assert!(found.unwrap_err().to_string().starts_with("no sensitivity of linear utilities"));
                continue;
            }
            let (found, capacity) = (found.unwrap(), f64::from(capacity));
            // p = 2/c.
            assert!((found.capacities[0] * capacity * capacity + 2.0).abs() < 1e-10, "{found:?}");
            let mut alone = Sensitivity::new(problem, solution).unwrap();
            assert_eq!(alone.reverse(std::slice::from_ref(*outcome), AtKink::Refuse).unwrap(), [found]);
        }
    }
    assert_eq!(reverse_many(&[], AtKink::Refuse, threads(3)), []);
}

#[test]
fn derivatives_have_the_same_bits_for_any_number_of_threads() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let capacities: Vec<f64> = (1..).zip(net.capacities()).map(|(i, c)| c * (1.0 + 1e-3 * f64::from(i % 97))).collect();
    let weights = |flows: u32| (0..flows).map(|flow| 0.5 + f64::from(flow * 7919 % 1000) * 1e-3).collect::<Vec<_>>();
    let pairs = |flows: usize| net.random_pairs(flows, 3).unwrap();
    let (sources, destinations) = pairs(70_000);
    let one_path = net.ecmp(&sources, &destinations, 3).unwrap();
    let one_path = Problem::new(capacities.clone(), one_path, AlphaFair::new(1.0, weights(70_000)).unwrap()).unwrap();
    let (sources, destinations) = pairs(18_000);
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(4)).unwrap();
    let several = AlphaFair::new(2.0, weights(18_000)).unwrap();
    let several = Problem::grouped(capacities, paths, group, several).unwrap();
    for problem in [one_path, several] {
        let mut settings = Settings::default();
        (settings.stop, settings.tol) = (Stop::Kkt, 1e-8);
        let solution = solve(&problem, &Ask::by("interior-point").with_settings(settings)).unwrap();
        let (mut more, mut by) = (vec![0.0; problem.links()], vec![0.0; problem.flows()]);
        (more[3], more[200], by[17]) = (1.0, 0.5, 1.0);
        let change = ParameterChange { capacities: more, ..ParameterChange::default() };
        let outcome = OutcomeChange { flow_rates: by, ..OutcomeChange::default() };
        let bits = |mut of: Sensitivity| {
            let forward = of.forward(std::slice::from_ref(&change)).unwrap().remove(0);
            let reverse = of.reverse(std::slice::from_ref(&outcome), AtKink::Hold).unwrap().remove(0);
            let found = [of.rates(), of.prices(), forward.rates, forward.prices, reverse.capacities, reverse.weight];
            assert!(found.iter().flatten().all(|value| value.is_finite()));
            found.map(|values| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>())
        };
        let alone = bits(Sensitivity::new(&problem, &solution).unwrap());
        for count in [1, 2, 3] {
            let found = Sensitivity::by(&problem, &solution, Arc::new(Threads::new(threads(count)))).unwrap();
            assert!(bits(found) == alone, "{count} threads, {} paths", problem.paths().len());
        }
    }
}

#[test]
fn a_token_of_the_caller_stops_all_of_them() {
    let problems = problems();
    let solutions: Vec<_> = problems.iter().map(|problem| solve(problem, &Ask::default()).unwrap()).collect();
    let prices = OutcomeChange { prices: vec![1.0], ..OutcomeChange::default() };
    let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &prices)).collect();
    let stop = StopToken::new();
    stop.stop();
    let found = stop.scope(|| reverse_many(&of[..3], AtKink::Refuse, threads(2)));
    assert_eq!(found, [Err(Error::Stopped), Err(Error::Stopped), Err(Error::Stopped)]);
}
