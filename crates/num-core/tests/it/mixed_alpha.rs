//! Flows of different α on one link: when one starves because of the unit of rates, and when not.

use netnum_core::{AlphaFair, Ask, Linear, Paths, Problem, Starving, Utilities, Utility, solve};
use proptest::prelude::*;
use std::sync::Arc;

fn problem(capacities: Vec<f64>, paths: &[&[u32]], alphas: Vec<f64>, weights: Vec<f64>) -> Problem {
    let utility = AlphaFair::new(alphas, weights).unwrap();
    Problem::new(capacities, Paths::from_lists(paths.iter().copied()), utility).unwrap()
}

fn two(capacity: f64, alphas: [f64; 2], weights: [f64; 2]) -> Problem {
    problem(vec![capacity], &[&[0], &[0]], alphas.to_vec(), weights.to_vec())
}

#[test]
fn the_starving_flow_and_its_rate_are_those_of_the_solution() {
    for (capacity, alphas) in [(1e10, [1.0, 2.0]), (1e10, [2.0, 1.0]), (1e9, [0.5, 1.0]), (1e-9, [2.0, 1.0])] {
        let problem = two(capacity, alphas, [1.0; 2]);
        let Starving { link, flow, rate, beside, most } = problem.starving().unwrap().expect("far from the weights");
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!((link, flow + beside), (0, 1));
        let rates = &solution.flow_rates;
        assert!((rate / rates[flow] - 1.0).abs() < 0.1 && (most / rates[beside] - 1.0).abs() < 0.1, "{rates:?}");
        assert!(rates[flow] < 1e-3 * rates[beside]);
    }
}

#[test]
fn what_is_meant_is_no_cause_for_a_word() {
    let quiet = |problem: Problem| assert_eq!(problem.starving().unwrap(), None, "{problem:?}");
    // One α, though weights are far apart; rates near the weights; weights near the rates.
    quiet(two(1e10, [2.0, 2.0], [1.0, 1e-5]));
    quiet(two(10.0, [1.0, 2.0], [1.0; 2]));
    quiet(two(1e10, [1.0, 2.0], [1e9; 2]));
    quiet(two(1e10, [1.0, 2.0], [1e9, 1e4]));
    // A scale that makes up for the unit: s x^(−α) is 1 at 10⁹ for both.
    let scaled = AlphaFair::with_scale(vec![1.0, 2.0], vec![1e9, 1e18]).unwrap();
    quiet(Problem::new(vec![1e10], Paths::from_lists([[0], [0]]), scaled).unwrap());
    // A link for both, and caps that keep the first from it.
    quiet(two(1e10, [1.0, 2.0], [1.0; 2]).with_flow_caps(vec![5e9, f64::INFINITY]).unwrap());
    quiet(two(1e10, [1.0, 2.0], [1.0; 2]).with_rate_caps(vec![5e9, f64::INFINITY]).unwrap());
    // A demand of the second that the link has room for.
    quiet(two(1e10, [1.0, 2.0], [1.0; 2]).with_flow_caps(vec![f64::INFINITY, 1e4]).unwrap());
    // No link in common, and one without capacity.
    quiet(problem(vec![1e10, 1e10], &[&[0], &[1]], vec![1.0, 2.0], vec![1.0; 2]));
    quiet(two(0.0, [1.0, 2.0], [1.0; 2]));
    // Flows that have no α.
    let list: Vec<Arc<dyn Utility>> =
        vec![Arc::new(Linear::new(1.0).unwrap()), Arc::new(AlphaFair::new(2.0, 1.0).unwrap())];
    quiet(Problem::new(vec![1e10], Paths::from_lists([[0], [0]]), Utilities::from(list)).unwrap());
}

#[test]
fn a_flow_that_another_link_holds_leaves_room() {
    // The first flow shares its second link with a thousand others of its α, and takes a thousandth of the first link.
    let others = 1000;
    let mut paths: Vec<&[u32]> = vec![&[0, 1], &[0]];
    paths.extend(std::iter::repeat_n(&[1][..], others));
    let mut alphas = vec![1.0; others + 2];
    alphas[1] = 2.0;
    let held = problem(vec![1e10, 1e10], &paths, alphas.clone(), vec![1.0; others + 2]);
    assert_eq!(held.starving().unwrap(), None);
    let solution = solve(&held, &Ask::default()).unwrap();
    assert!(solution.flow_rates[1] > 9e9, "{}", solution.flow_rates[1]);
    // Without them it takes all.
    let free = problem(vec![1e10, 1e10], &paths[..2], alphas[..2].to_vec(), vec![1.0; 2]);
    assert!(free.starving().unwrap().is_some());
}

#[test]
fn a_flow_over_several_paths_counts_where_all_of_them_meet() {
    let over_both = |first: &[&[u32]]| {
        let paths = [first, &[&[0][..]]].concat();
        let group = (0..first.len()).map(|_| 0).chain([1]).collect();
        let utility = AlphaFair::new(vec![1.0, 2.0], 1.0).unwrap();
        Problem::grouped(vec![1e10; 3], Paths::from_lists(paths.iter().copied()), group, utility).unwrap()
    };
    assert!(over_both(&[&[0, 1], &[0, 2]]).starving().unwrap().is_some());
    // It need not cross the link of the second.
    assert_eq!(over_both(&[&[0, 1], &[2]]).starving().unwrap(), None);
}

proptest! {
    /// On one link the word is said if and only if the solution is so: a flow below a thousandth of another one of
    /// another α, in rate and in rate per weight.
    #[test]
    fn on_one_link_it_is_said_where_the_solution_shows_it(
        flows in proptest::collection::vec((0usize..3, -2.0f64..2.0), 2..6), unit in -12.0f64..12.0,
    ) {
        let alphas: Vec<f64> = flows.iter().map(|flow| [0.5, 1.0, 2.0][flow.0]).collect();
        let weights: Vec<f64> = flows.iter().map(|flow| 10f64.powf(flow.1)).collect();
        let paths = Paths::from_lists(vec![[0]; flows.len()]);
        let utility = AlphaFair::new(alphas.clone(), weights.clone()).unwrap();
        let problem = Problem::new(vec![10f64.powf(unit)], paths, utility).unwrap();
        // Where Σ w p^(−1/α) is the capacity.
        let rates = |ln_price: f64| -> Vec<f64> {
            alphas.iter().zip(&weights).map(|(alpha, weight)| weight * (-ln_price / alpha).exp()).collect()
        };
        let (mut low, mut high) = (-100.0, 100.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if rates(middle).iter().sum::<f64>() > 10f64.powf(unit) { low = middle } else { high = middle }
        }
        let rates = rates(high);
        let starves = |factor: f64| (0..rates.len()).any(|g| (0..rates.len()).any(|f| {
            let least = factor * 1e-3;
            let per_weight = |flow: usize| rates[flow] / weights[flow];
            alphas[f] != alphas[g] && rates[g] < least * rates[f] && per_weight(g) < least * per_weight(f)
        }));
        let said = problem.starving().unwrap().is_some();
        // But for rounding at the edge.
        prop_assert!(said || !starves(1.0 - 1e-9), "{rates:?}");
        prop_assert!(!said || starves(1.0 + 1e-9), "{rates:?}");
    }
}
