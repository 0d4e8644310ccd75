//! The loop: limits, observers, traces, warm starts, stepping, and user-defined rules.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::common::{gamma, leaf_spine};

use netnum_core::price::Sums;
use netnum_core::price::{LinkState, Memory, PriceRule, Rule};
use netnum_core::*;

fn solver(problem: &Problem, method: &str) -> Solver {
    Solver::new(problem, &Ask::by(method)).unwrap()
}

#[test]
fn a_time_limit_of_zero_certifies_the_start_and_returns_it() {
    let settings = Settings::default().with_time_limit(Duration::ZERO);
    let problem = leaf_spine(200, 1.0, 1);
    // On a machine that takes the thread away meanwhile there is no time for that.
    let mut tries = (0..20).map(|_| solver(&problem, "auto").run(&settings, &mut ()).unwrap());
    let solution = tries.find(|solution| solution.certificate.relative_gap.is_finite()).unwrap();
    assert_eq!((solution.status, solution.iterations), (Status::TimeLimit, 0));
    assert!(solution.certificate.relative_gap > 1e-6);
}

#[test]
fn an_observer_sees_every_iteration_with_a_certificate_and_may_stop() {
    let mut seen = Vec::new();
    let mut observer = |progress: &Progress| {
        seen.push((progress.iteration, progress.gap));
        if progress.iteration == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let solution =
        solver(&leaf_spine(200, 1.0, 1), "auto").run(&Settings::default(), &mut observer as &mut dyn Observer).unwrap();
    assert_eq!((solution.status, solution.iterations), (Status::Stopped, 5));
    assert_eq!(seen.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(seen.windows(2).all(|pair| pair[0].1 != pair[1].1), "{seen:?}");
}

#[test]
fn a_trace_has_a_row_per_iteration_and_ends_at_the_tolerance() {
    let settings = Settings::default().with_trace(true);
    let solution = solver(&leaf_spine(200, 1.0, 1), "auto").run(&settings, &mut ()).unwrap();
    assert_eq!(solution.trace.len(), solution.iterations + 1);
    let last = solution.trace.last().unwrap();
    assert!(last.gap <= 1e-6 && last.iteration == solution.iterations);
    assert!(solution.trace[0].gap > 1e-2 && solution.trace.windows(2).all(|pair| pair[0].seconds <= pair[1].seconds));
}

#[test]
fn the_best_answer_certified_is_returned_not_the_last() {
    let settings = Settings::default().with_trace(true).with_max_iterations(50);
    let mut solver = Solver::new(&leaf_spine(300, 1.0, 1), &Ask::by("ned").with_options(&gamma(1.5))).unwrap();
    let solution = solver.run(&settings, &mut ()).unwrap();
    let best = solution.trace.iter().map(|row| row.gap).fold(f64::INFINITY, f64::min);
    // Filled, which for α = 1 is no worse.
    assert!(solution.certificate.relative_gap <= best, "{solution}, and {best:e}");
    assert!(solution.trace.last().unwrap().gap > best, "the last one was the best: {solution}");
}

#[test]
fn prices_of_a_similar_problem_are_a_shorter_way() {
    let (before, after) = (leaf_spine(1000, 1.0, 1), leaf_spine(1010, 1.0, 1));
    let settings = Settings::default().with_tol(1e-4);
    let old = solver(&before, "auto").run(&settings, &mut ()).unwrap();
    let cold = solver(&after, "auto").run(&settings, &mut ()).unwrap();
    let mut warm = Solver::new(&after, &Ask::default().with_prices(old.prices.clone())).unwrap();
    for (price, given) in warm.prices().iter().zip(&old.prices) {
        assert!((price - given).abs() <= 1e-12 * given);
    }
    let warm = warm.run(&settings, &mut ()).unwrap();
    assert_eq!((warm.status, cold.status), (Status::Optimal, Status::Optimal));
    assert!(warm.iterations < cold.iterations, "{warm} against {cold}");
}

#[test]
fn a_kkt_stop_makes_every_rate_right() {
    let problem = leaf_spine(300, 2.0, 1);
    let settings = |stop, tol| Settings::default().with_stop(stop).with_tol(tol);
    let exact = solver(&problem, "auto").run(&settings(Stop::Gap, 1e-14), &mut ()).unwrap();
    let solution = solver(&problem, "auto").run(&settings(Stop::Kkt, 1e-7), &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    assert!(solution.certificate.kkt_residual <= 1e-7);
    for (rate, expected) in solution.rates.iter().zip(&exact.rates) {
        assert!((rate - expected).abs() <= 1e-5 * expected);
    }
}

#[test]
fn running_goes_on_from_where_stepping_stopped() {
    let problem = leaf_spine(300, 1.0, 1);
    let whole = solver(&problem, "ned").run(&Settings::default().with_tol(1e-3), &mut ()).unwrap();
    let mut stepped = solver(&problem, "ned");
    stepped.step(10).unwrap();
    assert_eq!(stepped.iteration(), 10);
    let gap = stepped.certificate().unwrap().relative_gap;
    let again = certify(&problem, &stepped.raw_rates(), &stepped.prices()).unwrap().relative_gap;
    assert!((gap - again).abs() <= 1e-9 * gap, "{gap} and {again}");
    let loads = problem.loads(&stepped.rates()).unwrap();
    assert!(loads.iter().zip(problem.capacities()).all(|(load, capacity)| *load <= capacity * (1.0 + 1e-12)));
    let settings = Settings::default().with_tol(1e-3).with_max_iterations(whole.iterations);
    let rest = stepped.run(&settings, &mut ()).unwrap();
    assert_eq!(rest.status, Status::Optimal);
    assert!(rest.iterations < whole.iterations);
}

#[test]
fn neds_default_step_is_the_papers() {
    let problem = leaf_spine(300, 1.0, 1);
    let (mut by_default, mut explicit) =
        (solver(&problem, "ned"), Solver::new(&problem, &Ask::by("ned").with_options(&gamma(0.4))).unwrap());
    by_default.step(5).unwrap();
    explicit.step(5).unwrap();
    assert_eq!(by_default.prices(), explicit.prices());
    assert_ne!(by_default.prices(), solver(&problem, "ned").prices());
}

/// NED with the step of the caller's choice, and a rule that never accepts.
struct Stubborn;

impl PriceRule for Stubborn {
    fn advance(&self, link: &LinkState, [accepted, ..]: &mut Memory) -> f64 {
        *accepted = link.price;
        link.price + 0.4 * link.newton_step
    }
    fn accept(&mut self, _sums: Sums) -> bool {
        false
    }
    fn backtrack(&self, link: &LinkState, [accepted, ..]: &mut Memory) -> f64 {
        0.5 * (link.price + *accepted)
    }
}

#[test]
fn a_rule_that_never_accepts_still_ends() {
    let mut solver = Solver::new(&leaf_spine(50, 1.0, 1), &Ask::by_rule("stubborn", || Rule::user(Stubborn))).unwrap();
    let solution = solver.run(&Settings::default().with_max_iterations(20), &mut ()).unwrap();
    assert_eq!((solution.status, &*solution.method), (Status::MaxIterations, "stubborn"));
}

#[test]
fn a_rule_that_answers_nonsense_is_named() {
    struct Nonsense;
    impl PriceRule for Nonsense {
        fn advance(&self, _link: &LinkState, _memory: &mut Memory) -> f64 {
            f64::NAN
        }
    }
    let mut solver = Solver::new(&leaf_spine(50, 1.0, 1), &Ask::by_rule("nonsense", || Rule::user(Nonsense))).unwrap();
    let error = solver.run(&Settings::default(), &mut ()).unwrap_err().to_string();
    assert_eq!(error, "a price of method \"nonsense\" is NaN, expected a number");
}

#[test]
fn problems_and_solutions_are_the_same_after_serde() {
    let problem = Problem::grouped(
        vec![1.0, 2.0],
        Paths::from_lists([vec![0, 1], vec![0], vec![1]]),
        vec![0, 1, 1],
        AlphaFair::new(2.0, vec![1.0, 3.0]).unwrap(),
    )
    .and_then(|problem| problem.with_flow_caps(vec![f64::INFINITY, 0.5]))
    .unwrap();
    let text = serde_json::to_string(&problem).unwrap();
    assert_eq!(text, problem.to_json().unwrap());
    let again: Problem = serde_json::from_str(&text).unwrap();
    assert_eq!(again.to_json().unwrap(), text);
    let solution = solve(&again, &Ask::default()).unwrap();
    let text = serde_json::to_string(&solution).unwrap();
    assert_eq!(serde_json::from_str::<Solution>(&text).unwrap(), solution);
    // Without an answer the gap is infinite and the objective NaN, which JSON writes as null.
    let mut unsolved = solution;
    (unsolved.objective, unsolved.certificate) = (f64::NAN, Certificate::new(f64::INFINITY, 0.0, f64::INFINITY));
    let read: Solution = serde_json::from_str(&serde_json::to_string(&unsolved).unwrap()).unwrap();
    assert!(read.objective.is_nan() && read.certificate == unsolved.certificate);
    let settings: Settings = serde_json::from_str(r#"{"tol": 1e-3}"#).unwrap();
    assert_eq!(settings, Settings::default().with_tol(1e-3));
}
