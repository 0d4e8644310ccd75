//! xWI: its first step by hand, answers known on paper, how many steps it takes, and where it stays.

use crate::common;

use crate::common::{close, leaf_spine, options, read_case, solve_with};
use netnum_core::*;

fn xwi(list: &[(&str, f64)]) -> Ask {
    Ask::by("xwi").with_options(&options(list))
}

/// A long flow over two links and a short one on the first, each flow with a log utility.
fn two_links() -> Problem {
    let paths = Paths::from_lists([vec![0, 1], vec![0]]);
    Problem::new(vec![2.0, 3.0], paths, AlphaFair::proportional()).unwrap()
}

#[test]
fn the_first_step_is_that_of_the_paper() {
    // Prices 0.5, 0.3: weights 1/0.8, 1/0.5, which fill link 0. Link 1 carries only the long flow.
    let (long, short) = (2.0 * 1.25 / 3.25, 2.0 * 2.0 / 3.25);
    let residuals = [(1.0 / long - 0.8) / 2.0, 1.0 / short - 0.5];
    for (eta, beta) in [(5.0, 0.5), (2.0, 0.25)] {
        let ask = xwi(&[("eta", eta), ("beta", beta)]).with_prices(vec![0.5, 0.3]);
        let mut solver = Solver::new(&two_links(), &ask).unwrap();
        close(solver.raw_rates()[0], long, 1e-12);
        solver.step(1).unwrap();
        let next = 0.5 + residuals[0].min(residuals[1]);
        close(solver.prices()[0], beta * 0.5 + (1.0 - beta) * next, 1e-12);
        let next = (0.3 + residuals[0] - eta * (1.0 - long / 3.0) * 0.3).max(0.0);
        close(solver.prices()[1], beta * 0.3 + (1.0 - beta) * next, 1e-12);
    }
}

#[test]
fn a_free_path_weighs_as_much_as_it_may() {
    // Link 1 is free, and so is the second flow: its weight is its bound, beside 1/0.5 of the first.
    let paths = Paths::from_lists([vec![0, 1], vec![1]]);
    let problem = Problem::new(vec![2.0, 3.0], paths, AlphaFair::proportional()).unwrap();
    for heaviest in [1.0, 10.0, 1e6] {
        let ask = xwi(&[("heaviest", heaviest)]).with_prices(vec![0.5, 0.0]);
        let solver = Solver::new(&problem, &ask).unwrap();
        close(solver.raw_rates()[1], 3.0 * 3.0 * heaviest / (2.0 + 3.0 * heaviest), 1e-12);
    }
}

#[test]
fn answers_known_on_paper_are_found() {
    for alpha in [0.5, 1.0, 2.0, 5.0] {
        let paths = Paths::from_lists(vec![[0]; 4]);
        let utility = AlphaFair::new(alpha, vec![0.5, 1.0, 2.5, 4.0]).unwrap();
        let solution = solve_with(&Problem::new(vec![10.0], paths, utility).unwrap(), "xwi", 1e-9);
        assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
        close(solution.rates[2], 10.0 * 2.5 / 8.0, 1e-6);
        for links in [2usize, 5, 20] {
            let long: Vec<u32> = (0..links as u32).collect();
            let lists = std::iter::once(long).chain((0..links as u32).map(|link| vec![link]));
            let utility = AlphaFair::new(alpha, 1.0).unwrap();
            let problem = Problem::new(vec![3.0; links], Paths::from_lists(lists), utility).unwrap();
            let solution = solve_with(&problem, "xwi", 1e-9);
            assert_eq!(solution.status, Status::Optimal, "{links} links, alpha {alpha}: {solution}");
            close(solution.rates[0], 3.0 / (1.0 + (links as f64).powf(1.0 / alpha)), 1e-3);
        }
    }
}

#[test]
fn rates_are_feasible_at_every_step_and_leave_nothing_over() {
    let problem = leaf_spine(100, 1.0, 1);
    let mut solver = Solver::new(&problem, &xwi(&[])).unwrap();
    for _ in 0..20 {
        let rates = solver.raw_rates();
        let loads = problem.loads(&rates).unwrap();
        let idle = |link: u32| 1.0 - loads[link as usize] / problem.capacities()[link as usize];
        assert!((0..problem.links() as u32).all(|link| idle(link) >= -1e-12));
        assert!(problem.paths().iter().all(|links| links.iter().any(|&link| idle(link) <= 1e-12)));
        solver.step(1).unwrap();
    }
}

#[test]
fn capped_flows_do_not_speak_for_their_links() {
    let paths = || Paths::from_lists([[0], [0], [0]]);
    let problem = Problem::new(vec![9.0], paths(), AlphaFair::proportional()).unwrap();
    let some = problem.clone().with_rate_caps(vec![1.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let solution = solve_with(&some, "xwi", 1e-8);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.rates[0], 1.0, 1e-9);
    close(solution.prices[0], 0.25, 1e-3);
    // With all flows capped the link has no residual, is not full, and loses its price.
    let all = problem.with_rate_caps(vec![1.0; 3]).unwrap();
    let solution = solve_with(&all, "xwi", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert_eq!(solution.rates, [1.0; 3]);
}

#[test]
fn every_strictly_concave_family_is_taken() {
    let curve = BandwidthFunction::new(&[0.0, 2.0, 2.5], &[0.0, 10.0, 15.0], 5.0, 10.0).unwrap();
    let utilities: Vec<std::sync::Arc<dyn Utility>> = vec![
        std::sync::Arc::new(AlphaFair::new(2.0, 1.0).unwrap()),
        std::sync::Arc::new(MinFct::new(1.0, 0.5).unwrap()),
        std::sync::Arc::new(curve),
        std::sync::Arc::new(common::Logarithmic { weight: 1.0, scale: 1.0 }),
    ];
    let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1], vec![0, 1]]);
    let solution = solve_with(&Problem::new(vec![10.0, 8.0], paths, utilities).unwrap(), "xwi", 1e-3);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
}

#[test]
fn a_flow_that_a_price_drives_out_does_not_hold_that_price_down() {
    // U'(0) = 1 of the second flow is below the price 2 that the first one pays for 0.5.
    let utilities: Vec<std::sync::Arc<dyn Utility>> = vec![
        std::sync::Arc::new(AlphaFair::proportional()),
        std::sync::Arc::new(common::Logarithmic { weight: 1.0, scale: 1.0 }),
    ];
    let problem = Problem::new(vec![0.5], Paths::from_lists([[0], [0]]), utilities).unwrap();
    let solution = solve_with(&problem, "xwi", 1e-9);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert_eq!(solution.rates[1], 0.0);
    close(solution.prices[0], 2.0, 1e-3);
}

#[test]
fn the_leaf_spine_takes_a_few_dozen_steps_to_a_thousandth() {
    // Measured: 24/72, 19/42, 15/36, 14/32, 16/30, 16/29 to 1e-2/1e-3.
    for (alpha, coarse, fine) in
        [(0.25, 35, 100), (0.5, 28, 60), (1.0, 25, 55), (2.0, 25, 50), (5.0, 25, 45), (8.0, 25, 45)]
    {
        for (tol, most) in [(1e-2, coarse), (1e-3, fine)] {
            let solution = solve_with(&leaf_spine(1000, alpha, 1), "xwi", tol);
            assert_eq!(solution.status, Status::Optimal, "alpha {alpha}, {tol}: {solution}");
            assert!(solution.iterations <= most, "alpha {alpha}, {tol}: {solution}");
        }
    }
}

#[test]
fn several_paths_are_pooled_to_a_hundredth() {
    // Measured, in this order: 9, 24, 37, 150, 30, 19, 289.
    for (name, most) in [
        ("pooling-two-links", 20),
        ("pooling-duplicate-subflows", 60),
        ("pooling-fattree-k4", 80),
        ("pooling-leafspine-s2-a1", 400),
        ("pooling-leafspine-s4-a1", 70),
        ("pooling-leafspine-s4-a2", 50),
        ("pooling-wan-kshortest", 600),
    ] {
        let solution = solve_with(&read_case(name).0, "xwi", 1e-2);
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        assert!(solution.iterations <= most, "{name}: {solution}");
    }
}

#[test]
fn it_stops_getting_better_before_a_millionth_and_says_so() {
    for problem in [leaf_spine(1000, 0.25, 1), read_case("pooling-leafspine-s2-a1").0] {
        let settings = Settings::default().with_tol(1e-7).with_max_iterations(300);
        let solution = Solver::new(&problem, &xwi(&[])).unwrap().run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::MaxIterations, "{solution}");
        assert!(solution.certificate.relative_gap < 2e-2, "{solution}");
    }
}

#[test]
fn a_flow_whose_marginal_no_float_can_hold_is_no_obstacle() {
    // Relative to the other's, the light flow's U' is 1e-1160, and its link is free.
    let utility = AlphaFair::new(252.0, vec![1.0, 2.5e-5]).unwrap();
    let problem = Problem::new(vec![1.0; 2], Paths::from_lists([[0], [1]]), utility).unwrap();
    let solution = solve_with(&problem, "xwi", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert_eq!(solution.rates, [1.0; 2]);
}

#[test]
fn what_it_cannot_take_is_refused_with_the_method_that_can() {
    let message = |utilities: Utilities| {
        let problem = Problem::new(vec![1.0], Paths::from_lists([[0]]), utilities).unwrap();
        Solver::new(&problem, &Ask::by("xwi")).unwrap_err().to_string()
    };
    let linear = Linear::new(1.0).unwrap();
    assert_eq!(message(linear.into()), "method \"xwi\" cannot take linear utilities; use \"interior-point\"");
    let max_min = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
    assert_eq!(message(max_min.into()), "method \"xwi\" cannot take max-min utilities; use \"max-min\"");
}
