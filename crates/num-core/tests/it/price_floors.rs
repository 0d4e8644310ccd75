//! Prices where flows have floors and paths have costs: closed forms for every rule, and random problems.

use crate::common::{close, solved_to_gap as run};
use netnum_core::*;
use proptest::prelude::*;

/// Every rule, with options that converge on small networks, and xWI.
const METHODS_OF_PRICES: [(&str, &[(&str, f64)]); 7] = [
    ("fast-ned", &[]),
    ("ned", &[("gamma", 0.2)]),
    ("gradient", &[("gamma", 0.5)]),
    ("fgm", &[]),
    ("newton-like", &[]),
    ("rcp", &[]),
    ("xwi", &[]),
];

fn on_one_link(alpha: f64) -> Problem {
    let utility = AlphaFair::new(alpha, 1.0).unwrap();
    Problem::new(vec![10.0], Paths::from_lists([[0]; 3]), utility).unwrap()
}

#[test]
fn a_flow_at_its_floor_leaves_the_rest_to_the_others() {
    for alpha in [0.5, 1.0, 2.0] {
        let problem = on_one_link(alpha).with_flow_floors(vec![7.0, 0.5, 0.0]).unwrap();
        for (method, list) in METHODS_OF_PRICES {
            let solution = run(&problem, method, list, 1e-8);
            assert_eq!(solution.status, Status::Optimal, "{method}, alpha {alpha}: {solution}");
            close(solution.prices[0], 1.5f64.powf(-alpha), 1e-3);
            solution.rates.iter().zip([7.0, 1.5, 1.5]).for_each(|(&rate, expected)| close(rate, expected, 1e-3));
            assert!(solution.rates[0] >= 7.0 * (1.0 - 1e-12));
        }
    }
}

#[test]
fn floors_that_fill_a_link_are_kept() {
    let problem = on_one_link(1.0).with_flow_floors(vec![5.0, 3.0, 2.0]).unwrap();
    for (method, list) in METHODS_OF_PRICES {
        let solution = run(&problem, method, list, 1e-6);
        assert_eq!(solution.status, Status::Optimal, "{method}: {solution}");
        solution.rates.iter().zip([5.0, 3.0, 2.0]).for_each(|(&rate, floor)| close(rate, floor, 1e-9));
    }
}

#[test]
fn a_path_with_a_cost_pays_it_beside_the_price_of_its_links() {
    // x^(−α) is p of the first two, and p + k of the third.
    for alpha in [0.5, 1.0, 2.0] {
        let price = 4f64.powf(-alpha);
        let problem = on_one_link(alpha).with_path_costs(vec![0.0, 0.0, 2f64.powf(-alpha) - price]).unwrap();
        for (method, list) in METHODS_OF_PRICES {
            let solution = run(&problem, method, list, 1e-8);
            assert_eq!(solution.status, Status::Optimal, "{method}, alpha {alpha}: {solution}");
            close(solution.prices[0], price, 1e-3);
            solution.rates.iter().zip([4.0, 4.0, 2.0]).for_each(|(&rate, expected)| close(rate, expected, 1e-3));
        }
    }
}

#[test]
fn where_costs_are_high_no_link_is_full() {
    let problem = on_one_link(1.0).with_path_costs(vec![1.0, 0.5, 2.0]).unwrap();
    for (method, list) in METHODS_OF_PRICES {
        let solution = run(&problem, method, list, 1e-3);
        assert_eq!(solution.status, Status::Optimal, "{method}: {solution}");
        solution.rates.iter().zip([1.0, 2.0, 0.5]).for_each(|(&rate, expected)| close(rate, expected, 0.1));
    }
}

#[test]
fn a_dearer_path_is_used_once_the_cheaper_one_is_full() {
    let paths = || Paths::from_lists([[0], [1]]);
    let problem = Problem::grouped(vec![2.0, 2.0], paths(), vec![0, 0], AlphaFair::proportional()).unwrap();
    let solution = run(&problem.with_path_costs(vec![0.0, 0.4]).unwrap(), "fast-ned", &[], 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.rates[0], 2.0, 1e-2);
    close(solution.rates[1], 0.5, 5e-2);
    close(solution.prices[0], 0.4, 1e-2);
}

#[test]
fn a_floor_over_two_paths_is_split_as_prices_say() {
    let paths = Paths::from_lists([[0], [1], [0], [1]]);
    let problem = Problem::grouped(vec![3.0, 5.0], paths, vec![0, 0, 1, 2], AlphaFair::proportional()).unwrap();
    let solution = run(&problem.with_flow_floors(vec![6.0, 0.0, 0.0]).unwrap(), "fast-ned", &[], 1e-5);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    solution.flow_rates.iter().zip([6.0, 1.0, 1.0]).for_each(|(&rate, expected)| close(rate, expected, 2e-2));
}

/// Any paths, coefficients, floors that are a part of rates which fit, and costs.
fn any(several: usize) -> impl Strategy<Value = Problem> {
    let alpha = prop_oneof![Just(0.5), Just(1.0), Just(2.0)];
    (prop::collection::vec(0.5f64..2.0, 2..7), 1usize..9, alpha).prop_flat_map(move |(capacities, flows, alpha)| {
        let links: Vec<u32> = (0..capacities.len() as u32).collect();
        let path = (prop::sample::subsequence(links.clone(), 1..=links.len()), prop::collection::vec(0.1f64..3.0, 8));
        let flow = prop::collection::vec(path, 1..=several);
        let floors = prop::collection::vec(prop_oneof![Just(0.0), Just(0.5), 0.5f64..0.9], flows);
        let costs = prop::collection::vec(prop_oneof![2 => Just(0.0), 1 => 0.01f64..5.0], flows * several);
        (prop::collection::vec(flow, flows), floors, costs).prop_map(move |(flows, floors, costs)| {
            let (mut indptr, mut indices, mut coefficients, mut group) = (vec![0], Vec::new(), Vec::new(), Vec::new());
            for (flow, paths) in flows.iter().enumerate() {
                for (links, own) in paths {
                    indices.extend(links);
                    coefficients.extend(&own[..links.len()]);
                    indptr.push(indices.len());
                    group.push(flow as u32);
                }
            }
            let count = group.len();
            let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
            let utility = AlphaFair::new(alpha, 1.0).unwrap();
            let problem = Problem::grouped(capacities.clone(), paths, group, utility).unwrap();
            let shares =
                problem.flow_rates(&normalize(&problem, &vec![1.0; count], &FNorm::default()).unwrap()).unwrap();
            let floors = floors.iter().zip(shares).map(|(floor, share)| floor * share).collect();
            problem.with_flow_floors(floors).unwrap().with_path_costs(costs[..count].to_vec()).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_problems_with_floors_and_costs_are_solved(one in any(1), several in any(3)) {
        for (problem, tol) in [(one, 1e-4), (several, 1e-2)] {
            let solution = run(&problem, "fast-ned", &[], tol);
            prop_assert_eq!(solution.status, Status::Optimal, "{}", &solution);
            for (flow, rate) in solution.flow_rates.iter().enumerate() {
                prop_assert!(*rate >= problem.flow_floor(flow) * (1.0 - 1e-12), "flow {flow}: {rate}");
            }
        }
    }
}
