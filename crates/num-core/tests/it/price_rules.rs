//! The price rules of the papers: their first steps by hand, answers known on paper, what they need, where they fail.

use std::collections::BTreeMap;

use crate::common;
use crate::common::{close, leaf_spine, options, parking_lot, single_link};
use netnum_core::price::Rule;
use netnum_core::*;

/// Every rule with the options it converges with on small networks: those by default, where there are no others here.
fn rules() -> impl Iterator<Item = (&'static str, &'static [(&'static str, f64)])> {
    const OTHERS: [(&str, &[(&str, f64)]); 1] = [("ned", &[("gamma", 0.2)])];
    let has_rule = |name: &&str| Rule::by_name(name, &BTreeMap::new(), 1.0).is_ok();
    let with_options = |name| OTHERS.into_iter().find(|other| other.0 == name).unwrap_or((name, &[]));
    METHODS.names().filter(has_rule).map(with_options).chain([("gradient", &[("queue", 0.06)][..])])
}

fn run(problem: &Problem, method: &str, list: &[(&str, f64)], settings: &Settings) -> Solution {
    Solver::new(problem, &Ask::by(method).with_options(&options(list))).unwrap().run(settings, &mut ()).unwrap()
}

fn to(tol: f64) -> Settings {
    Settings::default().with_tol(tol).with_stop(Stop::Gap)
}

/// Prices of link 0 after each of the first steps from a given price of every link.
fn first_prices(problem: &Problem, method: &str, list: &[(&str, f64)], price: f64, steps: usize) -> Vec<f64> {
    let ask = Ask::by(method).with_options(&options(list)).with_prices(vec![price; problem.links()]);
    let mut solver = Solver::new(problem, &ask).unwrap();
    let step = |_| {
        solver.step(1).unwrap();
        solver.prices()[0]
    };
    (0..steps).map(step).collect()
}

#[test]
fn the_gradient_adds_what_had_queued_up_before() {
    // One flow asks for 1/p: at 0.8 for 1.25, with slope −1.25².
    let problem = single_link(1.0, &[1.0], 1.0);
    let (gamma, b, step) = (0.3, 0.2, 0.3 / 1.25f64.powi(2));
    let one = 0.8 + step * 0.25;
    let two = one + step * (1.0 / one - 1.0 + b * 0.25);
    let found = first_prices(&problem, "gradient", &[("gamma", gamma), ("queue", b)], 0.8, 2);
    close(found[0], one, 1e-12);
    close(found[1], two, 1e-12);
}

#[test]
fn a_gradient_with_a_step_of_its_own_moves_by_that_in_the_callers_units() {
    // Ten flows on a link of 10e9: at a price of 2 each asks for 1/2 of the weight.
    let (capacity, weight, step) = (10e9, 3e9, 0.4e-9);
    let problem = single_link(1.0, &[weight; 10], capacity);
    let found = first_prices(&problem, "gradient", &[("step", step)], 2.0, 2);
    let one = 2.0 + step * (10.0 * weight / 2.0 - capacity);
    close(found[0], one, 1e-12);
    close(found[1], one + step * (10.0 * weight / one - capacity), 1e-12);
}

#[test]
fn with_delay_flows_respond_to_the_prices_of_the_step_before() {
    let problem = single_link(1.0, &[1.0], 1.0);
    // At 0.8 the flow asks for 1.25, twice: the link moves its price twice on that.
    let gradient = |prices: [f64; 2]| prices[1] + 0.3 * (1.0 / prices[0] - 1.0);
    let rcp = |prices: [f64; 2]| prices[1] / (1.0 + 0.3 * (1.0 - 1.0 / prices[0]));
    let check = |method: &str, list: &[(&str, f64)], next: &dyn Fn([f64; 2]) -> f64| {
        let list: Vec<_> = list.iter().copied().chain([("delay", 1.0)]).collect();
        let found = first_prices(&problem, method, &list, 0.8, 4);
        let one = next([0.8, 0.8]);
        let two = next([0.8, one]);
        let expected = [0.8, one, two, next([one, two])];
        found.iter().zip(expected).for_each(|(&found, expected)| close(found, expected, 1e-12));
    };
    check("gradient", &[("step", 0.3)], &gradient);
    check("rcp", &[("a", 0.3)], &rcp);
}

#[test]
fn a_delay_halves_the_gain_at_which_rcp_is_stable() {
    let problem = leaf_spine(200, 1.0, 3);
    let gap = |a: f64, delay: f64| {
        let mut solver =
            Solver::new(&problem, &Ask::by("rcp").with_options(&options(&[("a", a), ("delay", delay)]))).unwrap();
        solver.step(3000).unwrap();
        solver.certificate().unwrap().relative_gap
    };
    for (a, delay, converges) in [(1.9, 0.0, true), (0.9, 1.0, true), (1.1, 1.0, false)] {
        let gap = gap(a, delay);
        assert_eq!(gap < 1e-3, converges, "a {a}, delay {delay}: {gap:e}");
    }
}

#[test]
fn fgm_steps_by_the_slope_of_a_free_network_and_extrapolates_from_the_second_step_on() {
    // On a free path the flow asks for its ceiling of 2, where its slope is −2²; it counts once for each of its links.
    let problem = Problem::new(vec![1.0; 2], Paths::from_lists([[0, 1]]), AlphaFair::proportional()).unwrap();
    let steepest = 2.0 * 4.0;
    let step = |price: f64| price + (0.5 / price - 1.0) / steepest;
    let (second_t, root) = (0.5 * (1.0 + 5f64.sqrt()), |t: f64| 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt()));
    let one = step(0.4);
    let base = step(one);
    let two = base + (second_t - 1.0) / root(second_t) * (base - one);
    let found = first_prices(&problem, "fgm", &[], 0.4, 2);
    close(found[0], one, 1e-12);
    close(found[1], two, 1e-12);
}

#[test]
fn on_one_link_fast_ned_goes_on_from_where_the_line_through_two_excesses_is_zero() {
    let excess = |price: f64| 1.0 / price - 1.0;
    let one = 0.8 + excess(0.8) * 0.8 * 0.8;
    let two = one - excess(one) * (one - 0.8) / (excess(one) - excess(0.8));
    let found = first_prices(&single_link(1.0, &[1.0], 1.0), "fast-ned", &[], 0.8, 2);
    close(found[0], one, 1e-12);
    close(found[1], two, 1e-12);
}

#[test]
fn fast_ned_turns_to_directions_that_are_conjugate_to_the_last_step() {
    // Links of capacities 1 and 2; a flow on each, and one on both. Every slope counts twice on the long path.
    let paths = Paths::from_lists([vec![0], vec![1], vec![0, 1]]);
    let problem = Problem::new(vec![1.0, 2.0], paths, AlphaFair::proportional()).unwrap();
    let see = |[p, q]: [f64; 2]| {
        let (one, other, both) = (1.0 / p, 1.0 / q, 1.0 / (p + q));
        let slopes = [one * one + 2.0 * both * both, other * other + 2.0 * both * both];
        ([one + both - 1.0, other + both - 2.0], slopes)
    };
    let start = [0.9, 0.6];
    let (before, slopes) = see(start);
    let first = [0, 1].map(|l| start[l] + before[l] / slopes[l]);
    let (after, slopes) = see(first);
    let (step, turned) = ([0, 1].map(|l| first[l] - start[l]), [0, 1].map(|l| after[l] - before[l]));
    let along = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let curvature = -along(step, turned);
    let reach = along(step, after) / curvature;
    let excess = [0, 1].map(|l| after[l] + reach * turned[l]);
    let newton = [0, 1].map(|l| excess[l] / slopes[l]);
    let turn = along(turned, newton) / curvature;
    assert!((-0.3..1.5).contains(&reach) && (0.0..1.0).contains(&turn), "{reach}, {turn}");
    let direction = [0, 1].map(|l| newton[l] + turn * step[l]);
    close(along(direction, turned), 0.0, 1e-12);
    let second = [0, 1].map(|l| first[l] + reach * step[l] + (1.0 + reach) * direction[l]);

    let mut solver = Solver::new(&problem, &Ask::by("fast-ned").with_prices(start.to_vec())).unwrap();
    for expected in [first, second] {
        solver.step(1).unwrap();
        for (&found, expected) in solver.prices().iter().zip(expected) {
            close(found, expected, 1e-12);
        }
    }
}

#[test]
fn fast_ned_is_not_held_up_by_sides_of_a_fabric_that_carry_different_amounts() {
    // Raising the prices of all senders and lowering those of all receivers changes no rate. Momentum took 128
    // iterations.
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let (sources, destinations) = net.random_pairs(10_000, 1).unwrap();
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    let uneven = |(link, capacity): (usize, &f64)| capacity * (0.8 + 0.4 * (link as f64 * 0.618_034).fract());
    let capacities = net.capacities().iter().enumerate().map(uneven).collect();
    let problem = Problem::new(capacities, paths, AlphaFair::proportional()).unwrap();
    let solution = run(&problem, "fast-ned", &[], &to(1e-6).with_max_iterations(60));
    assert_eq!(solution.status, Status::Optimal, "{solution}");
}

#[test]
fn newton_like_measures_its_slope_after_the_first_step() {
    let problem = single_link(1.0, &[1.0], 1.0);
    let (gamma, kept) = (0.5, 0.25);
    let one = 0.8 + gamma * 0.25 / 1.25f64.powi(2);
    let measured = (1.25 - 1.0 / one) / (one - 0.8);
    let two = one + gamma * (1.0 / one - 1.0) / (kept * 1.25f64.powi(2) + (1.0 - kept) * measured);
    let found = first_prices(&problem, "newton-like", &[("gamma", gamma), ("smoothing", kept)], 0.8, 2);
    close(found[0], one, 1e-12);
    close(found[1], two, 1e-12);
}

#[test]
fn on_one_link_rcp_multiplies_the_fair_share_by_one_plus_a_times_what_is_left() {
    for alpha in [0.5, 1.0, 3.0] {
        let problem = single_link(alpha, &[1.0, 3.0], 8.0);
        // The fair share per weight is p^(−1/α): here 1.8, which fills nine tenths.
        let ask = Ask::by("rcp").with_option("a", 0.5).with_prices(vec![1.8f64.powf(-alpha)]);
        let mut solver = Solver::new(&problem, &ask).unwrap();
        close(solver.raw_rates()[1], 3.0 * 1.8, 1e-12);
        solver.step(1).unwrap();
        close(solver.raw_rates()[0], 1.8 * 1.05, 1e-12);
    }
}

#[test]
fn rcp_never_changes_a_price_by_more_than_a_factor_of_two_and_lets_none_stay_at_zero() {
    let problem = single_link(2.0, &[1.0], 1.0);
    close(first_prices(&problem, "rcp", &[], 1e6, 1)[0], 5e5, 1e-12);
    close(first_prices(&problem, "rcp", &[], 0.3, 1)[0], 0.6, 1e-12);
    let mut solver =
        Solver::new(&single_link(2.0, &[1.0, 1.0], 1.0), &Ask::by("rcp").with_prices([0.0].to_vec())).unwrap();
    let solution = solver.run(&to(1e-9), &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.prices[0], 4.0, 1e-6);
}

#[test]
fn on_one_link_every_rule_shares_by_the_weights() {
    for (method, list) in rules() {
        for alpha in [1.0, 2.0] {
            let weights = [0.5, 1.0, 2.5, 4.0];
            let solution = run(&single_link(alpha, &weights, 10.0), method, list, &to(1e-9));
            assert_eq!(solution.status, Status::Optimal, "{method} {list:?}, alpha {alpha}: {solution}");
            for (rate, weight) in solution.rates.iter().zip(weights) {
                close(*rate, 10.0 * weight / 8.0, 1e-6);
            }
        }
    }
}

#[test]
fn in_a_parking_lot_every_rule_finds_the_share_of_the_long_flow() {
    for (method, list) in rules() {
        for (links, alpha) in [(2, 1.0), (5, 1.0), (2, 2.0), (5, 2.0)] {
            let solution = run(&parking_lot(links, alpha), method, list, &to(1e-10));
            assert_eq!(solution.status, Status::Optimal, "{method} {list:?}, {links} links, alpha {alpha}: {solution}");
            close(solution.rates[0], 3.0 / (1.0 + (links as f64).powf(1.0 / alpha)), 1e-4);
        }
    }
}

#[test]
fn a_thousandth_on_the_leaf_spine_takes_each_rule_about_as_long_as_it_did() {
    // Iterations to a proven gap of 1e-3 with 1000 flows: twice as many are too many.
    let measured: [(_, _, &[_], _); 14] = [
        ("fgm", 0.5, &[], 594),
        ("fgm", 1.0, &[], 1100),
        ("newton-like", 0.5, &[], 189),
        ("newton-like", 1.0, &[], 51),
        ("newton-like", 2.0, &[], 41),
        ("rcp", 0.5, &[], 128),
        ("rcp", 1.0, &[], 50),
        ("rcp", 2.0, &[], 29),
        ("rcp", 5.0, &[], 18),
        ("rcp", 1.0, &[("a", 1.9)], 28),
        ("gradient", 0.5, &[], 905),
        ("gradient", 1.0, &[], 159),
        ("gradient", 0.5, &[("queue", 0.06)], 501),
        ("gradient", 1.0, &[("queue", 0.06)], 192),
    ];
    for (method, alpha, list, count) in measured {
        let settings =
            Settings::default().with_tol(1e-3).with_stop(Stop::Gap).with_max_iterations(2 * count).with_trace(true);
        let solution = run(&leaf_spine(1000, alpha, 1), method, list, &settings);
        assert_eq!(solution.status, Status::Optimal, "{method} {list:?}, alpha {alpha}: {solution}");
    }
}

#[test]
fn what_does_not_converge_ends_as_a_status_with_finite_numbers() {
    let long: &[(&str, f64)] = &[("gamma", 50.0)];
    for (method, alpha, list) in [
        ("gradient", 5.0, &[][..]),
        ("gradient", 1.0, &[("queue", 1000.0)]),
        ("gradient", 1.0, long),
        ("fgm", 5.0, &[]),
        ("newton-like", 5.0, &[]),
        ("newton-like", 1.0, long),
        ("rcp", 1.0, &[("a", 3.0)]),
        ("rcp", 0.5, &[("a", 1e9)]),
    ] {
        let mut solver =
            Solver::new(&leaf_spine(1000, alpha, 1), &Ask::by(method).with_options(&options(list))).unwrap();
        let settings = Settings::default().with_max_iterations(1000);
        let solution = solver.run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::MaxIterations, "{method} {list:?}, alpha {alpha}: {solution}");
        let numbers = solution.rates.iter().chain(&solution.prices).all(|value| value.is_finite());
        assert!(numbers && solver.prices().iter().chain(&solver.raw_rates()).all(|value| value.is_finite()));
    }
}

#[test]
fn rcp_converges_below_a_gain_of_two_on_any_topology_and_not_above() {
    let fat_tree = Topology::fat_tree(4, 10e9).unwrap();
    let (sources, destinations) = fat_tree.random_pairs(100, 3).unwrap();
    let paths = fat_tree.ecmp(&sources, &destinations, 3).unwrap();
    for alpha in [0.25, 1.0, 5.0] {
        let utility = AlphaFair::new(alpha, 1.0).unwrap();
        let on_fat_tree = Problem::new(fat_tree.capacities().to_vec(), paths.clone(), utility).unwrap();
        for problem in [on_fat_tree, parking_lot(20, alpha), leaf_spine(300, alpha, 1)] {
            let solution = run(&problem, "rcp", &[("a", 1.9)], &to(1e-3));
            assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
        }
    }
    // On one link the utilization is a logistic map: u (1 + a (1 − u)), whose fixed point repels from a = 2 on.
    let ask = Ask::by("rcp").with_option("a", 2.3).with_prices(vec![1.01]);
    let mut solver = Solver::new(&single_link(1.0, &[1.0], 1.0), &ask).unwrap();
    let solution = solver.run(&to(1e-6).with_max_iterations(500), &mut ()).unwrap();
    assert_eq!(solution.status, Status::MaxIterations, "{solution}");
    assert!((solver.raw_rates()[0] - 1.0).abs() > 0.1, "it settled at {:?}", solver.raw_rates());
}

#[test]
fn rcp_refuses_what_has_no_common_power_law_and_names_the_flow() {
    let refusal = |capacities: Vec<f64>, lists: Vec<[u32; 1]>, utilities: Utilities| {
        let problem = Problem::new(capacities, Paths::from_lists(lists), utilities).unwrap();
        Solver::new(&problem, &Ask::by("rcp")).map(|_| ()).map_err(|error| error.to_string())
    };
    let two_alphas = || AlphaFair::new(vec![2.0, 2.0, 0.5], 1.0).unwrap().into();
    assert_eq!(
        refusal(vec![1.0, 1.0], vec![[0], [0], [1]], two_alphas()).unwrap_err(),
        "method \"rcp\" cannot take alpha 2 of flow 0 beside alpha 0.5 of flow 2; use \"fast-ned\""
    );
    // A flow that nothing can pass takes no part.
    assert_eq!(refusal(vec![1.0, 0.0], vec![[0], [0], [1]], two_alphas()), Ok(()));
    let curve = BandwidthFunction::new(&[0.0, 1.0], &[0.0, 1.0], 2.0, 1.0).unwrap();
    let list: Vec<std::sync::Arc<dyn Utility>> =
        vec![std::sync::Arc::new(AlphaFair::proportional()), std::sync::Arc::new(curve)];
    assert_eq!(
        refusal(vec![1.0], vec![[0], [0]], list.into()).unwrap_err(),
        "method \"rcp\" cannot take flow 1, whose marginal utility is no power law k x^-alpha; use \"fast-ned\""
    );
    let user = common::Logarithmic { weight: 1.0, scale: 1.0 };
    assert_eq!(
        refusal(vec![1.0], vec![[0]], user.into()).unwrap_err(),
        "method \"rcp\" cannot take flow 0, whose marginal utility is no power law k x^-alpha; use \"fast-ned\""
    );
    let completion = MinFct::new(vec![1.0, 2.0], 0.5).unwrap();
    assert_eq!(refusal(vec![1.0], vec![[0], [0]], completion.into()), Ok(()));
    assert_eq!(refusal(vec![1.0], vec![], AlphaFair::proportional().into()), Ok(()));
}

#[test]
fn power_laws_say_their_exponent() {
    fn alpha(utility: &dyn Utility) -> Option<f64> {
        utility.alpha(0)
    }
    assert_eq!(alpha(&AlphaFair::new(2.5, 7.0).unwrap()), Some(2.5));
    assert_eq!(alpha(&MinFct::new(3.0, 0.125).unwrap()), Some(0.125));
    assert_eq!(alpha(&AlphaFair::new(f64::INFINITY, 1.0).unwrap()), None);
    assert_eq!(alpha(&Linear::new(1.0).unwrap()), None);
}

#[test]
fn options_out_of_range_are_refused_with_the_range() {
    let problem = single_link(1.0, &[1.0], 1.0);
    let message = |method: &str, name: &str, value: f64| {
        Solver::new(&problem, &Ask::by(method).with_options(&options(&[(name, value)])))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(message("gradient", "queue", 0.0), Ok(()));
    assert_eq!(message("gradient", "queue", -0.1).unwrap_err(), "queue is -0.1, expected a finite number >= 0");
    assert_eq!(message("gradient", "queue", f64::INFINITY).unwrap_err(), "queue is inf, expected a finite number >= 0");
    assert_eq!(message("newton-like", "smoothing", 0.0), Ok(()));
    for (value, shown) in [(1.0, "1"), (-0.5, "-0.5"), (f64::NAN, "NaN")] {
        let expected = format!("smoothing is {shown}, expected a number >= 0 and < 1");
        assert_eq!(message("newton-like", "smoothing", value).unwrap_err(), expected);
    }
    assert_eq!(message("rcp", "a", 0.0).unwrap_err(), "a is 0, expected a finite number > 0");
    assert_eq!(
        message("fgm", "gamma", 1.0).unwrap_err(),
        "method \"fgm\" has no option \"gamma\"; known options: none"
    );
}

#[test]
fn every_default_is_within_its_range() {
    let problem = single_link(1.0, &[1.0, 2.0], 1.0);
    let max_min = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::new(f64::INFINITY, 1.0).unwrap());
    for method in METHODS {
        let problem = if method.name == "max-min" { max_min.as_ref().unwrap() } else { &problem };
        let defaults = METHODS.numbers(method, &BTreeMap::new()).unwrap();
        let defaults: Vec<(&str, f64)> = defaults.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        assert_eq!(run(problem, method.name, &defaults, &to(1e-6)).method, method.name);
    }
}

#[test]
fn a_fabric_of_many_racks_takes_fast_ned_hardly_more_iterations_than_one_of_few() {
    let net = Topology::leaf_spine(128, 8, 4, 10.0, 20.0).unwrap();
    let (sources, destinations) = net.random_pairs(40_000, 1).unwrap();
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    // Unequal capacities: in every rack another link is the first whose price reaches 0.
    let spread = |(link, capacity): (usize, &f64)| capacity * (0.8 + 0.4 * ((link * 7919) % 1000) as f64 / 1000.0);
    let capacities = net.capacities().iter().enumerate().map(spread).collect();
    let problem = Problem::new(capacities, paths, AlphaFair::proportional()).unwrap();
    for (tol, most) in [(1e-6, 50), (1e-9, 110)] {
        let found = run(&problem, "fast-ned", &[], &to(tol));
        assert_eq!(found.status, Status::Optimal);
        assert!(found.iterations <= most, "{} iterations to {tol:e}", found.iterations);
    }
}
