//! Newton on the dual: answers known on paper, how many steps it takes, and how its plain form fails.

use crate::common::{close, leaf_spine, options, parking_lot, single_link, solve_with};
use netnum_core::*;

#[test]
fn on_one_link_the_plain_step_is_newtons_and_the_other_a_little_shorter() {
    // One flow asks for 1/p: at 0.8 for 1.25, with slope 1.25².
    let first_price = |plain: f64| {
        let list = options(&[("plain", plain), ("gamma", 0.5)]);
        let mut solver = Solver::new(
            &single_link(1.0, &[1.0], 1.0),
            &Ask::by("newton").with_options(&list).with_prices([0.8].to_vec()),
        )
        .unwrap();
        solver.step(1).unwrap();
        solver.prices()[0]
    };
    let step = 0.5 * 0.25 / 1.25f64.powi(2);
    close(first_price(1.0), 0.8 + step, 1e-9);
    let shorter = first_price(0.0) - 0.8;
    assert!(shorter < step && shorter >= step / 1.1, "{shorter} against {step}");
}

#[test]
fn answers_known_on_paper_are_found_to_a_billionth() {
    for alpha in [0.5, 1.0, 2.0, 5.0] {
        let solution = solve_with(&single_link(alpha, &[0.5, 1.0, 2.5, 4.0], 10.0), "newton", 1e-12);
        assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
        close(solution.rates[2], 10.0 * 2.5 / 8.0, 1e-6);
        for links in [1usize, 2, 5, 20] {
            let solution = solve_with(&parking_lot(links, alpha), "newton", 1e-12);
            assert_eq!(solution.status, Status::Optimal, "{links} links, alpha {alpha}: {solution}");
            close(solution.rates[0], 3.0 / (1.0 + (links as f64).powf(1.0 / alpha)), 1e-5);
        }
    }
}

#[test]
fn a_capped_flow_leaves_the_rest_to_the_others() {
    let problem = single_link(1.0, &[1.0; 3], 9.0).with_rate_caps(vec![1.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let solution = solve_with(&problem, "newton", 1e-10);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.rates[0], 1.0, 1e-9);
    close(solution.rates[1], 4.0, 1e-6);
    close(solution.prices[0], 0.25, 1e-6);
}

#[test]
fn links_with_the_same_flows_are_no_obstacle_and_slack_ones_are_free() {
    let paths = Paths::from_lists([[0, 1, 2], [0, 1, 2]]);
    let problem = Problem::new(vec![2.0, 2.0, 5.0], paths, AlphaFair::proportional()).unwrap();
    let solution = solve_with(&problem, "newton", 1e-10);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.prices[0] + solution.prices[1], 1.0, 1e-6);
    assert!(solution.prices[2] < 1e-9, "{:?}", solution.prices);
}

#[test]
fn the_leaf_spine_takes_a_few_dozen_steps_for_every_alpha() {
    // Measured to 1e-3/1e-6/1e-9: 10/12/12, 5/7/8, 4/5/6, 5/7/7, 14/16/17, 16/25/26, 25/33/34, 18/44/50.
    for (alpha, most) in [(0.125, 25), (0.25, 15), (0.5, 12), (1.0, 14), (2.0, 30), (5.0, 50), (8.0, 60), (10.0, 90)] {
        let solution = solve_with(&leaf_spine(1000, alpha, 1), "newton", 1e-9);
        assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
        assert!(solution.iterations <= most, "alpha {alpha}: {solution}");
    }
}

#[test]
fn every_case_that_it_takes_is_solved_to_a_billionth() {
    let mut solved = 0;
    for entry in std::fs::read_dir(format!("{}/tests/cases", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let path = entry.unwrap().path();
        let problem = Problem::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let settings = Settings::default().with_tol(1e-9).with_stop(Stop::Gap).with_max_iterations(120);
        let Ok(mut solver) = Solver::new(&problem, &Ask::by("newton")) else { continue };
        let solution = solver.run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{}: {solution}", path.display());
        solved += 1;
    }
    assert_eq!(solved, 44);
}

#[test]
fn near_the_optimum_it_is_quadratic() {
    let problem = leaf_spine(1000, 1.0, 1);
    let (near, there) = (solve_with(&problem, "newton", 1e-4), solve_with(&problem, "newton", 1e-10));
    assert!(there.iterations <= near.iterations + 3, "{near}, then {there}");
}

#[test]
fn the_plain_form_diverges_where_links_are_slack_and_says_so_with_finite_numbers() {
    for alpha in [1.0, 5.0] {
        let mut solver =
            Solver::new(&leaf_spine(1000, alpha, 1), &Ask::by("newton").with_options(&options(&[("plain", 1.0)])))
                .unwrap();
        let settings = Settings::default().with_max_iterations(200);
        let solution = solver.run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::MaxIterations, "alpha {alpha}: {solution}");
        let numbers = solution.rates.iter().chain(&solution.prices).all(|value| value.is_finite());
        assert!(numbers && solver.prices().iter().chain(&solver.raw_rates()).all(|value| value.is_finite()));
    }
    // Where every link is full it is as good as the other.
    let solution =
        Solver::new(&parking_lot(5, 2.0), &Ask::by("newton").with_options(&options(&[("plain", 1.0)]))).unwrap();
    let solution = { solution }.run(&Settings::default(), &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
}

#[test]
fn what_it_cannot_take_is_refused_with_the_method_that_can() {
    let message = |problem: &Problem| Solver::new(problem, &Ask::by("newton")).unwrap_err().to_string();
    let paths = || Paths::from_lists([[0], [0]]);
    let linear = Problem::new(vec![1.0], paths(), Linear::new(1.0).unwrap()).unwrap();
    assert_eq!(message(&linear), "method \"newton\" cannot take linear utilities; use \"interior-point\"");
    let max_min = Problem::new(vec![1.0], paths(), AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
    assert_eq!(message(&max_min), "method \"newton\" cannot take max-min utilities; use \"max-min\"");
    let several = Problem::grouped(vec![1.0], paths(), vec![0, 0], AlphaFair::proportional()).unwrap();
    let refusal = "method \"newton\" cannot take flows with several paths; use \"interior-point\" or \"fast-ned\"";
    assert_eq!(message(&several), refusal);
    let wrong =
        Solver::new(&single_link(1.0, &[1.0], 1.0), &Ask::by("newton").with_options(&options(&[("plain", 0.5)])));
    assert_eq!(wrong.unwrap_err().to_string(), "plain is 0.5, expected 0 or 1");
}
