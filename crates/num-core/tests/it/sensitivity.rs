//! Derivatives of the optimum: closed forms, central differences of problems that are solved again, and both sides of
//! kinks.

use netnum_core::sensitivity::{AtKink, Kink, OutcomeChange, ParameterChange, Sensitivity};
use std::sync::Arc;

use netnum_core::{
    AlphaFair, Ask, BandwidthFunction, Linear, MinFct, Paths, Problem, Settings, Status, Stop, Utilities, Utility,
    solve,
};

fn settings() -> Settings {
    Settings::default().with_tol(1e-8).with_stop(Stop::Kkt)
}

fn of(problem: &Problem) -> Sensitivity {
    Sensitivity::new(problem, &solve(problem, &settings().into()).unwrap()).unwrap()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let most = expected.iter().fold(1e-300f64, |most, value| most.max(value.abs()));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * most, "{found} for {expected}, the largest {most}");
    }
}

/// 1 at one place, 0 elsewhere.
fn unit(place: usize, count: usize) -> Vec<f64> {
    (0..count).map(|other| if other == place { 1.0 } else { 0.0 }).collect()
}

fn capacity(link: usize, links: usize) -> ParameterChange {
    ParameterChange { capacities: unit(link, links), ..ParameterChange::default() }
}

/// x = w c/Σw, p = (Σw/c)^α.
#[test]
fn flows_on_one_link_share_what_is_added_by_weight() {
    for (alpha, unit) in [(0.5, 1.0), (1.0, 1e9), (2.0, 1e-9), (5.0, 1.0)] {
        let (w, c) = ([1.0, 2.0, 5.0], 4.0 * unit);
        let utility = AlphaFair::new(alpha, w.to_vec()).unwrap();
        let problem = Problem::new(vec![c], Paths::from_lists([[0], [0], [0]]), utility).unwrap();
        let mut sensitivity = of(&problem);
        let weight = ParameterChange { weight: vec![1.0, 0.0, 0.0], ..ParameterChange::default() };
        let changes = sensitivity.forward(&[capacity(0, 1), weight]).unwrap();
        assert_near(&changes[0].flow_rates, &[1.0 / 8.0, 2.0 / 8.0, 5.0 / 8.0], 1e-10);
        let price = (8.0 / c).powf(alpha);
        assert_near(&changes[0].prices, &[-alpha * price / c], 1e-10);
        assert_near(&[changes[0].objective], &[price], 1e-10);
        assert_near(&changes[1].flow_rates, &[7.0 * c / 64.0, -2.0 * c / 64.0, -5.0 * c / 64.0], 1e-10);
        assert_near(&changes[1].prices, &[alpha * price / 8.0], 1e-10);
    }
}

/// Proportional fairness on two links of capacity c: the long flow has c/3. One link's capacity raised by dc gives,
/// with prices p = 3/(2c), (dp_1, dp_2) from the 2 × 2 system.
#[test]
fn in_a_parking_lot_the_long_flow_gets_less_of_one_link_than_of_two() {
    let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
    let problem = Problem::new(vec![3.0, 3.0], paths, AlphaFair::proportional()).unwrap();
    let changes = of(&problem).forward(&[capacity(0, 2)]).unwrap();
    // D = x²: 1, 4, 4. [[5, 1], [1, 5]] dp = −(1, 0): dp = (−5/24, 1/24), dx_0 = 4/24.
    assert_near(&changes[0].prices, &[-5.0 / 24.0, 1.0 / 24.0], 1e-10);
    assert_near(&changes[0].flow_rates, &[1.0 / 6.0, 5.0 / 6.0, -1.0 / 6.0], 1e-10);
}

/// min(c, cap), with one multiplier to be shared.
#[test]
fn a_link_that_is_full_by_a_capped_flow_has_derivatives_to_each_side() {
    let problem = Problem::new(vec![2.0], Paths::from_lists([[0]]), AlphaFair::proportional()).unwrap();
    let mut sensitivity = of(&problem.with_rate_caps(vec![2.0]).unwrap());
    for (dc, dcap, change) in [(1.0, 0.0, 0.0), (-1.0, 0.0, -1.0), (0.0, 1.0, 0.0), (0.0, -1.0, -1.0), (3.0, 2.0, 2.0)]
    {
        let by = ParameterChange { capacities: vec![dc], rate_caps: vec![dcap], ..ParameterChange::default() };
        let found = &sensitivity.forward(&[by]).unwrap()[0];
        assert_near(&found.rates, &[change], 1e-9);
        // U' = 1/2.
        assert_near(&[found.objective], &[change / 2.0], 1e-9);
    }
    let rate = OutcomeChange { rates: vec![1.0], ..OutcomeChange::default() };
    let error = sensitivity.reverse(&[rate], AtKink::Refuse).unwrap_err().to_string();
    assert!(error.starts_with("the optimum is not differentiable here: "), "{error}");
}

#[test]
fn a_link_that_just_suffices_is_a_kink() {
    // Link 0 shares 2 among two flows, link 1 has the 1 that flow 1 gets.
    let paths = Paths::from_lists([vec![0], vec![0, 1]]);
    let problem = Problem::new(vec![2.0, 1.0], paths, AlphaFair::proportional()).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), [Kink::Link(1)]);
    let down = ParameterChange { capacities: vec![0.0, -1.0], ..ParameterChange::default() };
    let changes = sensitivity.forward(&[capacity(1, 2), down, capacity(0, 2)]).unwrap();
    assert_near(&changes[0].rates, &[0.0, 0.0], 1e-9);
    assert_near(&changes[1].rates, &[1.0, -1.0], 1e-9);
    assert_near(&changes[2].rates, &[1.0, 0.0], 1e-9);
    let rate = OutcomeChange { rates: vec![0.0, 1.0], ..OutcomeChange::default() };
    let rates = [rate];
    assert_near(&sensitivity.reverse(&rates, AtKink::Hold).unwrap()[0].capacities, &[0.0, 1.0], 1e-9);
    assert_near(&sensitivity.reverse(&rates, AtKink::Release).unwrap()[0].capacities, &[0.5, 0.0], 1e-9);
}

#[test]
fn links_that_are_full_by_the_same_flows_have_derivatives_to_each_side() {
    let problem = Problem::new(vec![2.0, 2.0, 9.0], Paths::from_lists([[0, 1], [0, 1]]), AlphaFair::proportional());
    let problem = problem.unwrap();
    let mut sensitivity = of(&problem);
    // The rates share min(c_0, c_1), which is worth the sum of both prices, 1.
    for (by, change) in [([1.0, 0.0], 0.0), ([-1.0, 0.0], -1.0), ([0.0, -3.0], -3.0), ([1.0, 2.0], 1.0)] {
        let more = ParameterChange { capacities: vec![by[0], by[1], 0.0], ..ParameterChange::default() };
        let found = &sensitivity.forward(&[more]).unwrap()[0];
        assert_near(&found.rates, &[change / 2.0, change / 2.0], 1e-8);
        assert_near(&[found.objective], &[change], 1e-8);
        assert!(found.prices[0].is_nan() && found.prices[1].is_nan(), "{found:?}");
    }
    // Both together change rates in one way only.
    let both = ParameterChange { capacities: vec![1.0, 1.0, 0.0], ..ParameterChange::default() };
    let found = &sensitivity.forward(&[both]).unwrap()[0];
    assert_near(&found.rates, &[0.5, 0.5], 1e-8);
    assert_near(&[found.prices[0] + found.prices[1]], &[-0.5], 1e-8);
    // In the mean of both sides each link counts half.
    let rates = [OutcomeChange { rates: vec![1.0, 1.0], ..OutcomeChange::default() }];
    let expected = "the optimum is not differentiable here: \
                    the prices of links 0, 1 are not unique: they are full by the same flows, or by flows at caps or \
                    floors; \
                    at_kink takes a side, hold or release";
    assert_eq!(sensitivity.reverse(&rates, AtKink::Refuse).unwrap_err().to_string(), expected);
    assert_near(&sensitivity.reverse(&rates, AtKink::Hold).unwrap()[0].capacities, &[0.5, 0.5, 0.0], 1e-6);
}

/// Two links side by side carry just what two flows over both of them demand: prices are any, and so is the split.
#[test]
fn more_on_one_of_two_links_that_just_suffice_together_changes_no_rate() {
    let paths: [&[u32]; 4] = [&[0], &[1], &[0], &[1]];
    let utility = AlphaFair::new(1.0, vec![1.0, 2.0]).unwrap();
    for lacking in [0.0, 1e-7] {
        let problem = grouped(&[10.0, 10.0], &paths, &[0, 0, 1, 1], utility.clone());
        let problem = problem.with_flow_caps(vec![8.0 - lacking, 12.0]).unwrap();
        let mut sensitivity = of(&problem);
        let unchanged = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 2.0], [2.0, -1.0]];
        for change in sensitivity.forward(&unchanged.map(|by| capacities(&by))).unwrap() {
            assert_near(&change.flow_rates, &[0.0, 0.0], 1e-300);
        }
    }
}

/// A scarce link that all paths of two flows cross: its price is 10⁷ times those by which their paths are chosen.
#[test]
fn paths_are_chosen_by_prices_far_below_those_that_they_have_in_common() {
    let paths: [&[u32]; 7] = [&[0, 1], &[0, 2], &[1, 3], &[2], &[1], &[2, 3], &[3]];
    for (alpha, scarce) in [(3.0, 0.005), (4.0, 0.01), (5.0, 0.01), (6.0, 0.01)] {
        let utility = AlphaFair::new(alpha, 1.0).unwrap();
        let at = |step: f64, by: &[f64]| {
            let all: Vec<f64> = [scarce, 1.0, 1.4, 0.8].iter().zip(by).map(|(c, by)| c + step * by).collect();
            solved(&grouped(&all, &paths, &[0, 0, 1, 1, 2, 3, 4], utility.clone()))
        };
        let problem = grouped(&[scarce, 1.0, 1.4, 0.8], &paths, &[0, 0, 1, 1, 2, 3, 4], utility.clone());
        let mut sensitivity = of(&problem);
        assert_eq!(sensitivity.kinks(), []);
        for by in [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, -1.0, 0.5]] {
            let change = &sensitivity.forward(&[capacities(&by)]).unwrap()[0];
            let step = 1e-4 * scarce;
            let [[after, ..], [before, ..]] = [at(step, &by), at(-step, &by)];
            for flow in 0..5 {
                let expected = (after[flow] - before[flow]) / (2.0 * step);
                let found = change.flow_rates[flow];
                assert!((found - expected).abs() <= 1e-4 * expected.abs() + 1e-9, "{flow}: {found} for {expected}");
            }
        }
    }
}

/// What hangs on access links of its own does not move with the others, whatever the rates are.
#[test]
fn the_rate_of_one_flow_has_a_gradient_where_most_of_it_is_zero() {
    let cases: [(&[f64], &[&[u32]]); 3] = [
        (&[1.0, 0.1, 0.4], &[&[0, 1], &[0], &[0, 2]]),
        (&[1.0, 0.1], &[&[0, 1], &[0]]),
        (&[10.0, 1.0, 2.0, 3.0], &[&[0, 1], &[0, 2], &[0, 3], &[0]]),
    ];
    for (given, paths) in cases {
        for alpha in [0.5, 1.0, 2.0, 4.0] {
            let group: Vec<u32> = (0..paths.len() as u32).collect();
            let mut sensitivity = of(&grouped(given, paths, &group, AlphaFair::new(alpha, 1.0).unwrap()));
            assert_eq!(sensitivity.kinks(), []);
            let mut flow_rates = vec![0.0; paths.len()];
            flow_rates[0] = 1.0;
            let outcome = OutcomeChange { flow_rates, ..OutcomeChange::default() };
            let mut expected = vec![0.0; given.len()];
            expected[1] = 1.0;
            assert_near(&sensitivity.reverse(&[outcome], AtKink::Refuse).unwrap()[0].capacities, &expected, 1e-12);
        }
    }
    for scarce in [0.01, 0.003, 0.001, 0.0001] {
        let problem = grouped(&[scarce, 1.0, 1.5], &[&[0, 1], &[1], &[2]], &[0, 1, 1], AlphaFair::proportional());
        let changes = of(&problem).forward(&[capacity(0, 3), capacity(1, 3)]).unwrap();
        assert_near(&changes[0].flow_rates, &[1.0, -1.0], 1e-9);
        assert_near(&changes[1].flow_rates, &[0.0, 1.0], 1e-9);
    }
}

/// Prices over five decades are unique as others are.
#[test]
fn links_of_very_different_capacity_are_no_tie() {
    let paths: [&[u32]; 7] = [&[3, 0], &[4, 2], &[1], &[0], &[2, 0], &[1], &[0]];
    let utility = AlphaFair::new(2.0, vec![0.709937, 0.584231, 0.682117, 0.93649]).unwrap();
    for scarce in [1e-2, 4e-3, 1e-3, 1e-4] {
        let all = [0.66, 1.7, 1.95, scarce, 0.4 * scarce];
        let mut sensitivity = of(&grouped(&all, &paths, &[0, 1, 2, 2, 2, 3, 3], utility.clone()));
        assert_eq!(sensitivity.kinks(), [], "{scarce}");
        let outcome = OutcomeChange { flow_rates: vec![1.0, 0.0, 0.0, 0.0], ..OutcomeChange::default() };
        let gradient = &sensitivity.reverse(&[outcome], AtKink::Refuse).unwrap()[0];
        assert_near(&gradient.capacities, &[0.0, 0.0, 0.0, 1.0, 0.0], 1e-9);
    }
}

/// U' = x^(−1/2) is 1 where the flow with three paths has what the cap of the other leaves.
#[test]
fn the_refined_point_fills_links_to_rounding() {
    let utility = AlphaFair::new(0.5, vec![1.0, 2.0]).unwrap();
    let problem = grouped(&[3.0], &[&[0], &[0], &[0], &[0]], &[0, 0, 0, 1], utility);
    let problem = problem.with_flow_caps(vec![f64::INFINITY, 2.0]).unwrap();
    let sensitivity = Sensitivity::new(&problem, &solve(&problem, &Ask::default()).unwrap()).unwrap();
    assert_near(&problem.flow_rates(&sensitivity.rates()).unwrap(), &[1.0, 2.0], 1e-11);
    assert_near(&sensitivity.prices(), &[1.0], 1e-11);
}

/// A line card and a fiber of the same capacity: more on one alone is worth nothing.
#[test]
fn twins_in_series_have_derivatives_to_each_side() {
    let paths: [&[u32]; 3] = [&[0, 1], &[0, 1, 2], &[0, 1, 2]];
    let utility = AlphaFair::new(1.0, vec![1.0, 1.0, 2.0]).unwrap();
    let mut sensitivity = of(&grouped(&[2.0, 2.0, 1.0], &paths, &[0, 1, 2], utility));
    for twin in [0, 1] {
        let [mut more, mut less] = [[0.0; 3]; 2];
        (more[twin], less[twin]) = (1.0, -1.0);
        let changes = sensitivity.forward(&[capacities(&more), capacities(&less)]).unwrap();
        assert_near(&changes[0].flow_rates, &[0.0, 0.0, 0.0], 1e-300);
        assert_near(&changes[1].flow_rates, &[-1.0, 0.0, 0.0], 1e-9);
    }
}

/// Both paths of a flow are at caps that their link equals.
#[test]
fn a_flow_whose_paths_are_all_at_caps_has_a_gradient_to_each_side() {
    let problem = grouped(&[1.0], &[&[0], &[0]], &[0, 0], AlphaFair::proportional());
    let mut sensitivity = of(&problem.with_rate_caps(vec![0.5, 0.5]).unwrap());
    for side in [AtKink::Hold, AtKink::Release] {
        let outcome = OutcomeChange { flow_rates: vec![1.0], ..OutcomeChange::default() };
        let gradient = &sensitivity.reverse(&[outcome], side).unwrap()[0];
        // Everything twice as large doubles the rate.
        let total = gradient.capacities[0] + gradient.rate_caps.iter().sum::<f64>() / 2.0;
        assert!((total - 1.0).abs() <= 1e-9, "{side:?}: {gradient:?}");
    }
}

fn capacities(capacities: &[f64]) -> ParameterChange {
    ParameterChange { capacities: capacities.to_vec(), ..ParameterChange::default() }
}

fn grouped(capacities: &[f64], paths: &[&[u32]], group: &[u32], utility: impl Into<Utilities>) -> Problem {
    let paths = Paths::from_lists(paths.iter().map(|links| links.to_vec()).collect::<Vec<_>>());
    Problem::grouped(capacities.to_vec(), paths, group.to_vec(), utility).unwrap()
}

const INF: f64 = f64::INFINITY;

/// A capped flow with two paths gives way on each link to the other flow, whatever its own weight.
#[test]
fn the_split_of_a_capped_flow_follows_the_network() {
    for weight in [1e-6, 1.0, 1e3, 1e6, 1e9] {
        let utility = AlphaFair::new(1.0, vec![weight, 1.0, 1.0]).unwrap();
        let problem = grouped(&[2.0, 2.2], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 2], utility);
        let problem = problem.with_flow_caps(vec![1.0, INF, INF]).unwrap();
        let solution = solve(&problem, &settings().into()).unwrap();
        let Ok(mut sensitivity) = Sensitivity::new(&problem, &solution) else {
            assert!(!(1e-5..=1e8).contains(&weight), "{weight}");
            continue;
        };
        if weight >= 1.0 {
            assert_near(
                &sensitivity.forward(&[capacities(&[1.0, 0.0])]).unwrap()[0].flow_rates,
                &[0.0, 0.5, 0.5],
                1e-9,
            );
            let second = OutcomeChange { flow_rates: vec![0.0, 1.0, 0.0], ..OutcomeChange::default() };
            let found = sensitivity.reverse(&[second], AtKink::Refuse).unwrap();
            assert_near(&found[0].capacities, &[0.5, 0.5], 1e-9);
        }
    }
}

/// x = (c_1, c_0 − c_1), the second 1e−9 of the first.
#[test]
fn nearly_dependent_links_give_the_derivative_or_an_error() {
    for slack in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10] {
        let utility = AlphaFair::new(1.0, vec![3.0, slack]).unwrap();
        let problem = grouped(&[1.0 + slack, 1.0], &[&[0, 1], &[0]], &[0, 1], utility);
        let solution = solve(&problem, &settings().into()).unwrap();
        let Ok(mut sensitivity) = Sensitivity::new(&problem, &solution) else { continue };
        let found = sensitivity.forward(&[capacities(&[1.0, 0.0])]);
        assert!(found.is_ok() || slack < 1e-6, "{slack}: {found:?}");
        if let Ok(found) = found {
            assert_near(&found[0].flow_rates, &[0.0, 1.0], 1e-6);
        }
    }
}

#[test]
fn components_of_very_different_size_do_not_hide_a_cap() {
    let problem = grouped(&[1e10, 2.0], &[&[0], &[0], &[1], &[1]], &[0, 1, 2, 3], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![INF, INF, 1.0, INF]).unwrap();
    let found = of(&problem).forward(&[capacities(&[1e10, 2.0])]).unwrap();
    assert_near(&found[0].flow_rates[2..], &[0.0, 2.0], 1e-9);
}

/// Both caps of a flow with two paths hold it: raising one alone changes nothing, lowering one lowers the rate.
#[test]
fn a_flow_cap_that_the_caps_of_its_paths_equal_is_a_kink() {
    let problem = grouped(&[5.0, 5.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 2], AlphaFair::proportional());
    let problem = problem.with_rate_caps(vec![1.0, 1.0, INF, INF]).unwrap();
    let problem = problem.with_flow_caps(vec![2.0, INF, INF]).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), [Kink::TwiceBoundFlow(0)]);
    let less = ParameterChange { flow_caps: vec![-1.0, 0.0, 0.0], ..ParameterChange::default() };
    let more = ParameterChange { rate_caps: vec![1.0, 0.0, 0.0, 0.0], ..ParameterChange::default() };
    for change in [less, more] {
        let error = sensitivity.forward(&[change]).unwrap_err().to_string();
        assert!(error.contains("flow 0 is at two bounds"), "{error}");
    }
    let lower = ParameterChange { rate_caps: vec![-1.0, 0.0, 0.0, 0.0], ..ParameterChange::default() };
    assert_near(&sensitivity.forward(&[lower]).unwrap()[0].flow_rates, &[-1.0, 1.0, 0.0], 1e-9);
    let rate = OutcomeChange { flow_rates: vec![1.0, 0.0, 0.0], ..OutcomeChange::default() };
    assert!(sensitivity.reverse(&[rate], AtKink::Refuse).is_err());
}

/// The cap of a flow is what its two paths can carry over full links.
#[test]
fn a_flow_cap_that_full_links_equal_is_a_kink() {
    let problem = grouped(&[2.0, 1.0, 1.0], &[&[2], &[0, 1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let mut sensitivity = of(&problem.with_flow_caps(vec![2.0, 0.5]).unwrap());
    assert!(sensitivity.kinks().contains(&Kink::TwiceBoundFlow(0)), "{:?}", sensitivity.kinks());
    let less = ParameterChange { flow_caps: vec![-1.0, -1.0], ..ParameterChange::default() };
    let error = sensitivity.forward(&[less]).unwrap_err().to_string();
    assert!(error.contains("flow 0 is at two bounds"), "{error}");
}

/// Where a link is full by flows at caps, what is gained by more of it depends on what else changes: to a side the
/// objective changes as its rates do.
#[test]
fn an_objective_with_several_multipliers_has_the_derivative_of_its_rates_to_a_side() {
    let problem = grouped(&[1.0], &[&[0]], &[0], AlphaFair::proportional()).with_flow_caps(vec![1.0]).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), [Kink::Flow(0)]);
    let value = OutcomeChange { objective: 1.0, ..OutcomeChange::default() };
    assert!(sensitivity.reverse(std::slice::from_ref(&value), AtKink::Refuse).is_err());
    for (at_kink, of_capacity) in [(AtKink::Hold, 0.0), (AtKink::Release, 1.0)] {
        let found = sensitivity.reverse(std::slice::from_ref(&value), at_kink).unwrap();
        assert_near(&found[0].capacities, &[of_capacity], 1e-9);
        assert_near(&found[0].flow_caps, &[1.0 - of_capacity], 1e-9);
    }
    let problem = grouped(&[2.0, 2.0], &[&[0], &[0, 1]], &[0, 1], AlphaFair::proportional());
    let mut sensitivity = of(&problem.with_flow_caps(vec![0.5, 1.5]).unwrap());
    let found = sensitivity.reverse(&[value], AtKink::Hold).unwrap();
    assert_near(&found[0].capacities, &[0.0, 0.0], 1e-9);
    assert_near(&found[0].flow_caps, &[2.0, 2.0 / 3.0], 1e-9);
    let found = sensitivity.forward(&[capacities(&[1.0, 0.0])]);
    assert_near(&found.unwrap()[0].flow_rates, &[0.0, 0.0], 1e-9);
}

/// The cap that holds the flow is the smaller of two, that of the flow, and names it.
#[test]
fn a_flow_cap_at_what_a_link_carries_is_a_kink_of_the_flow() {
    let problem = grouped(&[2.0], &[&[0], &[0]], &[0, 1], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![1.0, INF]).unwrap().with_rate_caps(vec![3.0, INF]).unwrap();
    assert_eq!(of(&problem).kinks(), [Kink::Flow(0)]);
    let problem = grouped(&[2.0], &[&[0], &[0]], &[0, 1], AlphaFair::proportional());
    let problem = problem.with_rate_caps(vec![1.0, INF]).unwrap().with_flow_caps(vec![3.0, INF]).unwrap();
    assert_eq!(of(&problem).kinks(), [Kink::Path(0)]);
}

/// A flow at its cap has its rate from that cap on any side, also where the cap of its only path equals it: another
/// path would take over.
#[test]
fn a_held_flow_keeps_a_path_that_follows_its_cap() {
    let problem = grouped(&[10.0, 2.0], &[&[0], &[1], &[1]], &[0, 0, 1], AlphaFair::proportional());
    let problem = problem.with_rate_caps(vec![1.0, INF, INF]).unwrap().with_flow_caps(vec![1.0, INF]).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), [Kink::Path(0)]);
    let rate = OutcomeChange { flow_rates: vec![1.0, 0.0], ..OutcomeChange::default() };
    for at_kink in [AtKink::Hold, AtKink::Release] {
        let found = sensitivity.reverse(std::slice::from_ref(&rate), at_kink).unwrap();
        assert_near(&found[0].flow_caps, &[1.0, 0.0], 1e-9);
        assert_near(&found[0].rate_caps, &[0.0, 0.0, 0.0], 1e-9);
    }
}

/// With more of its cap a flow would pass a breakpoint, above which its rate is worth what it pays or less.
#[test]
fn a_flow_cap_at_a_breakpoint_is_a_kink() {
    let curve: Arc<dyn Utility> =
        Arc::new(BandwidthFunction::new(&[0.0, 1.0, 2.0, 4.0], &[0.0, 1.0, 1.0, 3.0], 2.0, 0.0).unwrap());
    let fair: Arc<dyn Utility> = Arc::new(AlphaFair::new(2.0, 1.0).unwrap());
    let cap = |change: f64| ParameterChange { flow_caps: vec![change, 0.0], ..ParameterChange::default() };
    let of_capacity = |capacity: f64| {
        let utilities = Utilities::from(vec![curve.clone(), fair.clone()]);
        let problem = grouped(&[capacity], &[&[0], &[0]], &[0, 1], utilities).with_flow_caps(vec![1.0, INF]).unwrap();
        let sensitivity = of(&problem);
        assert_eq!(sensitivity.kinks(), [Kink::Flow(0)]);
        sensitivity
    };
    let mut worth_less = of_capacity(2.5);
    assert_near(&worth_less.forward(&[cap(-1.0)]).unwrap()[0].flow_rates, &[-1.0, 1.0], 1e-7);
    assert!(worth_less.forward(&[cap(1.0)]).unwrap()[0].flow_rates.iter().all(|rate| rate.abs() < 1e-7));
    let mut worth_as_much = of_capacity(3.0);
    assert_near(&worth_as_much.forward(&[cap(-1.0)]).unwrap()[0].flow_rates, &[-1.0, 1.0], 1e-7);
    let error = worth_as_much.forward(&[cap(1.0)]).unwrap_err().to_string();
    assert!(error.contains("flow 0 is at two bounds"), "{error}");
}

/// A link without capacity that no path crosses carries nothing with any capacity.
#[test]
fn an_unused_link_of_capacity_zero_is_no_kink() {
    let problem = grouped(&[2.0, 0.0], &[&[0], &[0]], &[0, 1], AlphaFair::proportional());
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), []);
    let found = sensitivity.forward(&[capacities(&[1.0, 1.0])]).unwrap();
    assert_near(&found[0].flow_rates, &[0.5, 0.5], 1e-9);
}

#[test]
fn ties_with_caps_have_the_derivative_to_a_side_or_an_error() {
    let check = |problem: &Problem, change: ParameterChange, expected: &[f64]| -> bool {
        let found = of(problem).forward(std::slice::from_ref(&change));
        if let Ok(found) = &found {
            let largest = found[0].flow_rates.iter().zip(expected).map(|(one, other)| (one - other).abs());
            assert!(largest.fold(0.0, f64::max) <= 1e-7, "{change:?}: {found:?} for {expected:?}");
        } else {
            println!("{change:?}: {found:?}");
        }
        found.is_ok()
    };
    let mut found = 0;
    for alpha in [0.5, 1.0, 2.0] {
        let utility = AlphaFair::new(alpha, 1.0).unwrap();
        let problem = grouped(&[1.0, 1.0, 2.0], &[&[0, 1, 2], &[0]], &[0, 1], utility);
        let problem = problem.with_rate_caps(vec![0.5, 0.5]).unwrap();
        found += usize::from(check(&problem, capacities(&[-1.0, 0.0, 0.0]), &[-0.5, -0.5]));
        found += usize::from(check(&problem, capacities(&[1.0, 0.0, 0.0]), &[0.0, 0.0]));
        let raised = ParameterChange { rate_caps: vec![1.0, 1.0], ..ParameterChange::default() };
        found += usize::from(check(&problem, raised.clone(), &[0.0, 0.0]));
        let both = ParameterChange { capacities: vec![1.0, 0.0, 0.0], ..raised };
        found += usize::from(check(&problem, both, &[0.5, 0.5]));
    }
    let problem = grouped(&[2.0, 3.0], &[&[0, 1], &[0], &[0]], &[0, 0, 0], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![2.0]).unwrap();
    found += usize::from(check(&problem, capacities(&[-1.0, 0.0]), &[-1.0]));
    found += usize::from(check(&problem, capacities(&[1.0, 0.0]), &[0.0]));
    println!("{found} of 14 have a derivative");
    assert!(found >= 6, "{found}");
}

#[test]
fn what_is_closed_is_a_kink() {
    let problem = grouped(&[2.0, 0.0], &[&[0], &[0], &[1], &[0]], &[0, 1, 2, 3], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![0.0, INF, INF, INF]).unwrap();
    let problem = problem.with_rate_caps(vec![INF, INF, INF, 0.0]).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), [Kink::FailedLink(1), Kink::ClosedPath(3), Kink::ClosedFlow(0)]);
    let cap = |cap: f64| ParameterChange { rate_caps: vec![0.0, 0.0, 0.0, cap], ..ParameterChange::default() };
    let error = sensitivity.forward(&[cap(1.0)]).unwrap_err().to_string();
    assert_eq!(error, "the optimum is not differentiable here: path 3 has a cap of 0, which closes it");
    let flow = ParameterChange { flow_caps: vec![1.0, 0.0, 0.0, 0.0], ..ParameterChange::default() };
    let error = sensitivity.forward(&[flow]).unwrap_err().to_string();
    assert_eq!(error, "the optimum is not differentiable here: flow 0 has a cap of 0, which closes it");
    assert_near(&sensitivity.forward(&[capacities(&[1.0, 0.0])]).unwrap()[0].flow_rates, &[0.0, 1.0, 0.0, 0.0], 1e-9);
    let rates = [OutcomeChange { flow_rates: vec![1.0; 4], ..OutcomeChange::default() }];
    assert!(sensitivity.reverse(&rates, AtKink::Refuse).is_err());
    assert_near(&sensitivity.reverse(&rates, AtKink::Hold).unwrap()[0].capacities, &[1.0, 0.0], 1e-9);
}

/// Small integers, where constraints meet: capacities, caps and directions. Compared with problems to that side.
#[test]
fn where_many_constraints_meet_no_derivative_is_wrong() {
    let (mut compared, mut refused) = (0, 0);
    // The last three: a flow is held, and only one of its paths carries it.
    for seed in (0..600u64).chain([4220, 15_284, 16_502]) {
        let mut random = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 3);
        let (links, flows) = (2 + random.below(3), 2 + random.below(3));
        let (mut lists, mut group) = (Vec::new(), Vec::new());
        for flow in 0..flows {
            for _ in 0..1 + random.below(3) {
                let (first, length) = (random.below(links), 1 + random.below(links.min(3)));
                lists.push((0..length).map(|i| ((first + i) % links) as u32).collect::<Vec<_>>());
                group.push(flow as u32);
            }
        }
        let caps = [1.0, 2.0, 0.5, INF, INF];
        let mut p = ParameterChange {
            capacities: (0..links).map(|_| 1.0 + random.below(3) as f64).collect(),
            ..ParameterChange::default()
        };
        let alpha = [0.5, 1.0, 2.0][random.below(3)];
        let (has_rate_caps, has_flow_caps) = (random.next() < 0.5, random.next() < 0.5);
        p.rate_caps = (0..lists.len()).map(|_| if has_rate_caps { caps[random.below(5)] } else { INF }).collect();
        p.flow_caps = (0..flows).map(|_| if has_flow_caps { caps[random.below(5)] } else { INF }).collect();
        let mut direction = |of: &[f64]| -> Vec<f64> {
            let by = |value: &f64| {
                random.below(3) as f64 * f64::from(u8::from(value.is_finite())) - f64::from(u8::from(value.is_finite()))
            };
            of.iter().map(by).collect()
        };
        let by = ParameterChange {
            capacities: direction(&p.capacities),
            rate_caps: direction(&p.rate_caps),
            flow_caps: direction(&p.flow_caps),
            ..ParameterChange::default()
        };
        let moved = |step: f64| {
            let add =
                |of: &[f64], by: &[f64]| -> Vec<f64> { of.iter().zip(by).map(|(of, by)| of + step * by).collect() };
            let paths: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            let utility = AlphaFair::new(alpha, 1.0).unwrap();
            let problem = grouped(&add(&p.capacities, &by.capacities), &paths, &group, utility);
            let problem = problem.with_rate_caps(add(&p.rate_caps, &by.rate_caps)).unwrap();
            problem.with_flow_caps(add(&p.flow_caps, &by.flow_caps)).unwrap()
        };
        let problem = moved(0.0);
        let solution = solve(&problem, &Ask::default()).unwrap();
        let found = Sensitivity::new(&problem, &solution).and_then(|mut of| of.forward(std::slice::from_ref(&by)));
        let Ok(found) = found else {
            refused += 1;
            continue;
        };
        let step = 2e-5;
        let rates = |step: f64| -> Option<Vec<f64>> {
            let solution = solve(&moved(step), &settings().with_tol(1e-11).into()).unwrap();
            (solution.status == Status::Optimal).then_some(solution.flow_rates)
        };
        let (Some(here), Some(near), Some(far)) = (rates(0.0), rates(step), rates(2.0 * step)) else { continue };
        let expected: Vec<f64> = (0..flows).map(|i| (4.0 * near[i] - far[i] - 3.0 * here[i]) / (2.0 * step)).collect();
        let most = expected.iter().fold(1.0f64, |most, value| most.max(value.abs()));
        let differs = found[0].flow_rates.iter().zip(&expected).any(|(one, other)| (one - other).abs() > 2e-3 * most);
        if differs {
            println!("seed {seed}: {:?} for {expected:?}, {p:?} {lists:?} {group:?} {by:?}", found[0].flow_rates);
        }
        compared += usize::from(!differs);
        assert!(!differs, "seed {seed}");
    }
    println!("{compared} compared, {refused} refused");
    assert!(compared >= 590 && refused <= 10, "{compared} compared, {refused} refused");
}

/// Numbers in 0..1 without a pattern.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}

/// The parameters of a random problem, so that it can be made again with others.
#[derive(Clone)]
struct Case {
    paths: Paths,
    group: Vec<u32>,
    family: usize,
    parameters: ParameterChange,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let (links, flows, several) = (4 + random.below(6), 4 + random.below(10), seed % 2 == 1);
        let (mut lists, mut group) = (Vec::new(), Vec::new());
        for flow in 0..flows {
            for _ in 0..if several { 1 + random.below(3) } else { 1 } {
                let mut links: Vec<u32> = (0..links as u32).collect();
                for i in 0..links.len() {
                    let j = i + random.below(links.len() - i);
                    links.swap(i, j);
                }
                links.truncate(1 + random.below(3));
                lists.push(links);
                group.push(flow as u32);
            }
        }
        let mut list = |count: usize, low: f64, high: f64| -> Vec<f64> {
            (0..count).map(|_| low + (high - low) * random.next()).collect()
        };
        let mut parameters = ParameterChange {
            capacities: list(links, 1.0, 5.0),
            weight: list(flows, 0.5, 3.0),
            alpha: list(flows, 0.5, 3.0),
            ..ParameterChange::default()
        };
        parameters.scale = parameters.weight.clone();
        (parameters.size, parameters.epsilon) = (list(flows, 0.5, 3.0), list(flows, 0.3, 0.8));
        if seed % 4 >= 2 {
            parameters.flow_caps = list(flows, 0.2, 2.5);
            parameters.rate_caps = list(group.len(), 0.2, 2.5);
        }
        Self { paths: Paths::from_lists(lists), group, family: (seed / 4 % 5) as usize, parameters }
    }

    fn problem(&self) -> Problem {
        let Self { paths, group, family, parameters: p } = self;
        let make = |utilities: netnum_core::Utilities| {
            Problem::grouped(p.capacities.clone(), paths.clone(), group.clone(), utilities).unwrap()
        };
        let problem = make(match family {
            0 => AlphaFair::new(1.0, p.weight.clone()).unwrap().into(),
            1 => AlphaFair::new(p.alpha.clone(), p.weight.clone()).unwrap().into(),
            2 => AlphaFair::with_scale(p.alpha.clone(), p.scale.clone()).unwrap().into(),
            3 => MinFct::new(p.size.clone(), p.epsilon.clone()).unwrap().into(),
            _ => Utilities::from(p.weight.iter().zip(&p.alpha).map(curve).collect::<Vec<_>>()),
        });
        if p.flow_caps.is_empty() {
            return problem;
        }
        problem.with_rate_caps(p.rate_caps.clone()).unwrap().with_flow_caps(p.flow_caps.clone()).unwrap()
    }

    /// A random direction in all parameters that the problem has, or its opposite.
    fn direction(&self, seed: u64, side: f64) -> ParameterChange {
        let mut random = Numbers(seed + 77);
        let mut list = |like: &[f64], has: bool| -> Vec<f64> {
            if has { like.iter().map(|value| side * (random.next() - 0.5) * value).collect() } else { Vec::new() }
        };
        let (p, family) = (&self.parameters, self.family);
        ParameterChange {
            capacities: list(&p.capacities, true),
            rate_caps: list(&p.rate_caps, true),
            flow_caps: list(&p.flow_caps, true),
            weight: list(&p.weight, family < 2),
            alpha: list(&p.alpha, family == 1 || family == 2),
            scale: list(&p.scale, family == 2),
            size: list(&p.size, family == 3),
            epsilon: list(&p.epsilon, family == 3),
            ..ParameterChange::default()
        }
    }

    fn moved(&self, by: &ParameterChange, step: f64) -> Self {
        let mut moved = self.clone();
        let add = |to: &mut Vec<f64>, by: &[f64]| to.iter_mut().zip(by).for_each(|(to, by)| *to += step * by);
        let p = &mut moved.parameters;
        add(&mut p.capacities, &by.capacities);
        add(&mut p.rate_caps, &by.rate_caps);
        add(&mut p.flow_caps, &by.flow_caps);
        add(&mut p.weight, &by.weight);
        add(&mut p.scale, &by.scale);
        add(&mut p.alpha, &by.alpha);
        add(&mut p.size, &by.size);
        add(&mut p.epsilon, &by.epsilon);
        moved
    }
}

/// A curve that bends at 0.2 w, and has a flat piece at 0.6 w: flows that are there stay there.
fn curve((&w, &alpha): (&f64, &f64)) -> Arc<dyn Utility> {
    let (fair_share, bandwidth) = ([0.0, 0.5, 1.0, 1.3], [0.0, 0.2 * w, 0.6 * w, 0.6 * w]);
    Arc::new(BandwidthFunction::new(&fair_share, &bandwidth, alpha, 0.7 * w).unwrap())
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Rates of flows, prices and objective of a problem, solved to 1e−12.
fn solved(problem: &Problem) -> [Vec<f64>; 3] {
    let solution = solve(problem, &settings().with_tol(1e-12).into()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    [solution.flow_rates, solution.prices, vec![solution.objective]]
}

/// The largest difference, as a part of the largest entry; ∞ where one is NaN.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    let most = expected.iter().fold(1e-4f64, |most, value| most.max(value.abs()));
    let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs() / most);
    differences.fold(0.0, |most, error| if error.is_nan() { f64::INFINITY } else { most.max(error) })
}

/// Every problem is compared with those that are solved a little to either side of it.
#[test]
fn derivatives_are_those_of_problems_that_are_solved_again() {
    let (mut held, mut worst) = (0, 0.0f64);
    for seed in 0..200 {
        let case = Case::random(seed);
        let mut sensitivity = of(&case.problem());
        assert_eq!(sensitivity.kinks(), [], "seed {seed}");
        held += usize::from(case.family == 4 && sensitivity.problem().is_single_path());
        let by = case.direction(seed, 1.0);
        let change = &sensitivity.forward(std::slice::from_ref(&by)).unwrap()[0];
        let step = 1e-5;
        let [after, before] = [step, -step].map(|step| solved(&case.moved(&by, step).problem()));
        let found = [&change.flow_rates, &change.prices, &vec![change.objective]];
        for ((found, after), before) in found.into_iter().zip(after).zip(before) {
            let expected: Vec<f64> =
                after.iter().zip(before).map(|(after, before)| (after - before) / (2.0 * step)).collect();
            let error = error(found, &expected);
            if error > 1e-5 {
                println!("seed {seed}, family {}: {error:.1e}\n{found:.6?}\n{expected:.6?}", case.family);
            }
            worst = worst.max(error);
        }
    }
    assert!(held >= 10 && worst <= 1e-5, "{held}, {worst}");
}

/// The optimum refined to rounding: at a kink the interior point stalls at 1e−9.
fn refined(problem: &Problem) -> [Vec<f64>; 3] {
    let sensitivity = of(problem);
    let flow_rates = problem.flow_rates(&sensitivity.rates()).unwrap();
    let objective = problem.values(&flow_rates).unwrap().iter().sum();
    [flow_rates, sensitivity.prices(), vec![objective]]
}

/// The change to one side, by Richardson's rule: right to the square of the step.
fn one_sided(case: &Case, by: &ParameterChange, step: f64) -> [Vec<f64>; 3] {
    let [here, near, far] = [0.0, step / 2.0, step].map(|step| refined(&case.moved(by, step).problem()));
    let mut here = here.into_iter().zip(near).zip(far);
    std::array::from_fn(|_| {
        let ((here, near), far) = here.next().unwrap();
        let rate = |((here, near), far): ((f64, f64), f64)| (4.0 * near - far - 3.0 * here) / step;
        here.into_iter().zip(near).zip(far).map(rate).collect()
    })
}

/// A slack link becomes exactly as large as its load, and a full link gets a
/// second one of its capacity behind it.
#[test]
fn at_kinks_and_ties_the_derivative_to_a_side_is_that_of_problems_to_that_side() {
    let (mut kinks, mut ties, mut refused, mut worst) = (0, 0, 0, 0.0f64);
    for seed in (0..200).filter(|seed| seed % 4 < 2) {
        let mut case = Case::random(seed);
        let sensitivity = of(&case.problem());
        let (rates, problem) = (sensitivity.rates(), sensitivity.problem().clone());
        let (loads, p) = (problem.loads(&rates).unwrap(), &mut case.parameters);
        let slack = (0..loads.len()).find(|&link| loads[link] > 0.0 && loads[link] < 0.99 * p.capacities[link]);
        if let Some(link) = slack {
            p.capacities[link] = loads[link];
        }
        if let Some(full) = sensitivity.prices().iter().position(|price| *price > 0.0).filter(|_| seed % 3 == 0) {
            let twin = p.capacities.len() as u32;
            p.capacities.push(p.capacities[full]);
            let with_twin = |links: &[u32]| -> Vec<u32> {
                let has = links.contains(&(full as u32));
                links.iter().copied().chain(has.then_some(twin)).collect()
            };
            case.paths = Paths::from_lists(case.paths.iter().map(with_twin).collect::<Vec<_>>());
        }
        let mut sensitivity = of(&case.problem());
        kinks += usize::from(!sensitivity.kinks().is_empty());
        for side in [1.0, -1.0] {
            let by = case.direction(seed, side);
            let change = match sensitivity.forward(std::slice::from_ref(&by)) {
                Ok(mut changes) => changes.swap_remove(0),
                Err(error) => {
                    println!("seed {seed}, family {}: {error}", case.family);
                    refused += 1;
                    continue;
                }
            };
            let tied = change.prices.iter().any(|price| price.is_nan());
            ties += usize::from(tied);
            let [rates, prices, objective] = one_sided(&case, &by, 1e-4);
            let mut error = error(&change.flow_rates, &rates).max(self::error(&[change.objective], &objective));
            if !tied {
                error = error.max(self::error(&change.prices, &prices));
            }
            worst = worst.max(error);
        }
    }
    println!("{kinks} kinks, {ties} ties, {refused} refused, {worst:.1e}");
    assert!(refused == 0, "{refused} refused");
    assert!(kinks >= 20 && ties >= 20 && worst <= 1e-4, "{kinks} kinks, {ties} ties, {worst}");
}

#[test]
fn reverse_is_the_adjoint_of_forward() {
    let mut compared = 0;
    for seed in 0..200 {
        let case = Case::random(seed);
        let problem = case.problem();
        let solution = solve(&problem, &settings().into()).unwrap();
        let Ok(mut sensitivity) = Sensitivity::new(&problem, &solution) else { continue };
        let mut random = Numbers(seed + 5);
        let mut list = |count: usize| -> Vec<f64> { (0..count).map(|_| random.next() - 0.5).collect() };
        let outcome = OutcomeChange {
            rates: list(case.group.len()),
            flow_rates: list(case.parameters.weight.len()),
            prices: list(case.parameters.capacities.len()),
            objective: 0.3,
        };
        let mut by = case.direction(seed, 1.0);
        if case.family == 0 {
            by.alpha.clear();
        }
        let Ok(found) = sensitivity.reverse(std::slice::from_ref(&outcome), AtKink::Refuse) else { continue };
        let change = &sensitivity.forward(std::slice::from_ref(&by)).unwrap()[0];
        let one = product(&change.rates, &outcome.rates)
            + product(&change.flow_rates, &outcome.flow_rates)
            + product(&change.prices, &outcome.prices)
            + 0.3 * change.objective;
        let f = &found[0];
        let pairs = [
            (&f.capacities, &by.capacities),
            (&f.rate_caps, &by.rate_caps),
            (&f.flow_caps, &by.flow_caps),
            (&f.weight, &by.weight),
            (&f.scale, &by.scale),
            (&f.alpha, &by.alpha),
            (&f.size, &by.size),
            (&f.epsilon, &by.epsilon),
        ];
        let other: f64 = pairs.iter().map(|(found, by)| product(found, by)).sum();
        let size: f64 = pairs.iter().map(|(found, by)| product(found, by).abs()).sum();
        assert!((one - other).abs() <= 1e-8 * size, "seed {seed}: {one} and {other}");
        compared += 1;
    }
    assert!(compared == 200, "{compared} compared");
}

/// Flows with several paths over a few links, many behind an access link of their own with 1 to 1/1000 of the capacity.
fn behind_access_links(seed: u64) -> Problem {
    let mut random = Numbers(seed + 31);
    let links = 2 + random.below(4);
    let mut capacities: Vec<f64> = (0..links).map(|_| 0.5 + 1.5 * random.next()).collect();
    let (mut lists, mut group, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for flow in 0..3 + random.below(6) {
        weights.push(0.5 + 2.0 * random.next());
        let mut common = Vec::new();
        if random.next() < 0.6 {
            common.push(capacities.len() as u32);
            capacities.push(10f64.powf(-3.0 * random.next()));
        }
        let first = random.below(links);
        for next in 0..1 + random.below(links) {
            let own = ((first + next) % links) as u32;
            lists.push([common.clone(), vec![own]].concat());
            group.push(flow as u32);
        }
    }
    let utility = AlphaFair::new(1.0 + (seed % 2) as f64, weights).unwrap();
    Problem::grouped(capacities, Paths::from_lists(lists), group, utility).unwrap()
}

#[test]
fn forward_and_reverse_agree_in_every_entry_behind_scarce_access_links() {
    let mut compared = 0;
    for seed in 0..100 {
        let problem = behind_access_links(seed);
        let solution = solve(&problem, &settings().into()).unwrap();
        let Ok(mut sensitivity) = Sensitivity::new(&problem, &solution) else { continue };
        let (links, flows) = (problem.links(), problem.flows());
        let of_links: Vec<_> = (0..links).map(|link| capacity(link, links)).collect();
        let of_flow = |flow| OutcomeChange { flow_rates: unit(flow, flows), ..OutcomeChange::default() };
        let of_flows: Vec<_> = (0..flows).map(of_flow).collect();
        let Ok(forward) = sensitivity.forward(&of_links) else { continue };
        let Ok(reverse) = sensitivity.reverse(&of_flows, AtKink::Refuse) else { continue };
        // By how many per cent a rate changes with one per cent of a capacity.
        let per_cent =
            |slope: f64, flow: usize, link: usize| slope * problem.capacities()[link] / solution.flow_rates[flow];
        let pairs = || (0..flows).flat_map(|flow| (0..links).map(move |link| (flow, link)));
        for (flow, link) in pairs() {
            let one = per_cent(forward[link].flow_rates[flow], flow, link);
            let other = per_cent(reverse[flow].capacities[link], flow, link);
            assert!(
                (one - other).abs() <= 1e-8 * one.abs().max(1.0),
                "seed {seed}, flow {flow}, link {link}: {one} and {other}"
            );
        }
        compared += 1;
    }
    println!("{compared} compared");
    assert!(compared >= 90, "{compared} compared");
}

#[test]
fn what_has_no_derivatives_is_refused() {
    let refused = |utility: netnum_core::Utilities, settings: &Settings| {
        let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), utility).unwrap();
        let solution = solve(&problem, &settings.clone().into()).unwrap();
        Sensitivity::new(&problem, &solution).err().unwrap().to_string()
    };
    let error = refused(Linear::new(1.0).unwrap().into(), &Settings::default());
    assert_eq!(error, "no sensitivity of linear utilities; AlphaFair with a small alpha, such as 0.5, is smooth");
    let error = refused(AlphaFair::new(f64::INFINITY, 1.0).unwrap().into(), &Settings::default());
    assert_eq!(error, "no sensitivity of max-min rates; AlphaFair with a large alpha, such as 8, is smooth");
    let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    let mut sensitivity = of(&problem);
    let error = |change: ParameterChange, sensitivity: &mut Sensitivity| {
        sensitivity.forward(&[change]).unwrap_err().to_string()
    };
    let change = ParameterChange { capacities: vec![1.0, 2.0], ..ParameterChange::default() };
    assert_eq!(error(change, &mut sensitivity), "capacities has 2 entries, expected 1, one per link");
    let change = ParameterChange { size: vec![0.0, 1.0], ..ParameterChange::default() };
    assert_eq!(
        error(change, &mut sensitivity),
        "no sensitivity of the size of flow 1, whose parameters are weight, alpha; name one of these"
    );
    let change = ParameterChange { weight: vec![0.0, f64::NAN], ..ParameterChange::default() };
    assert_eq!(error(change, &mut sensitivity), "the change of weight of flow 1 is NaN, expected a finite number");
    let mut solution = solve(&problem, &Ask::default()).unwrap();
    solution.rates[1] = f64::NAN;
    let error = Sensitivity::new(&problem, &solution).err().unwrap().to_string();
    assert_eq!(error, "no sensitivity of a solution in which path 1 has rate NaN; solve the problem");
    let mut solution = solve(&problem, &Ask::default()).unwrap();
    solution.status = netnum_core::Status::MaxIterations;
    let error = Sensitivity::new(&problem, &solution).err().unwrap().to_string();
    assert!(error.contains("a solution that is not certified (its status is \"max_iterations\")"), "{error}");
}

#[test]
fn the_answer_of_a_part_of_a_problem_is_refused() {
    let of = |flows: usize| Problem::new(vec![12.0], Paths::from_lists(vec![[0]; flows]), AlphaFair::proportional());
    let (whole, part) = (of(3).unwrap(), of(2).unwrap());
    let solution = solve(&whole, &Ask::default()).unwrap();
    let of_part = netnum_core::Solution::kept(&part, Status::Optimal, solution.rates[..2].to_vec(), solution.prices);
    let error = Sensitivity::new(&part, &of_part).err().unwrap().to_string();
    assert!(error.contains("a point that is not optimal for this problem (a gap of 5.0e-1)"), "{error}");
}

#[test]
fn a_price_below_rounding_does_not_choose_among_paths() {
    // Flow 2 has two ways of price 1, one of which crosses the link of flow 3 too, whose U' is 1e-16.
    let utility = AlphaFair::new(1.0, vec![1.0, 1.0, 1.0, 1e-16]).unwrap();
    let problem = grouped(&[1.0; 3], &[&[0], &[1], &[0], &[1, 2], &[2]], &[0, 1, 2, 2, 3], utility);
    let solution = solve(&problem, &Ask::default()).unwrap();
    let error = Sensitivity::new(&problem, &solution).err().unwrap().to_string();
    assert!(error.contains("the price of link 2 is rounding beside others of flow 2"), "{error}");
}

/// A flow of a rate far below those of its links, with two ways beyond a link that both cross: y = w/(p_0 + p_1), and
/// prices of 1.
#[test]
fn a_small_flow_with_several_paths_has_as_many_digits() {
    for weight in [1e-3, 1e-9, 1e-14] {
        let utility = AlphaFair::new(1.0, vec![1.0, 1.0, 1.0, weight]).unwrap();
        let problem = grouped(&[1.0; 3], &[&[0], &[1], &[2], &[0, 1], &[0, 2]], &[0, 1, 2, 3, 3], utility);
        let mut sensitivity = of(&problem);
        let changes = sensitivity.forward(&[capacity(0, 3), capacity(1, 3), capacity(2, 3)]).unwrap();
        let forward: Vec<f64> = changes.iter().map(|change| change.flow_rates[3] / weight).collect();
        let of_flow = OutcomeChange { flow_rates: vec![0.0, 0.0, 0.0, 1.0 / weight], ..OutcomeChange::default() };
        let gradient = &sensitivity.reverse(&[of_flow], AtKink::Refuse).unwrap()[0];
        assert_near(&forward, &gradient.capacities, 1e-10);
        // To first order in w.
        assert_near(&gradient.capacities, &[0.25, 0.125, 0.125], 2.0 * weight + 1e-10);
        assert_near(&[gradient.weight[3] * weight], &[0.5], 2.0 * weight + 1e-10);
    }
}

/// U' of a flow at its cap is 10¹⁵ times what it pays. A link that is dearer is no kink: the flow leaves it alone.
#[test]
fn a_flow_at_its_cap_compares_its_paths_with_what_it_pays() {
    let utility = AlphaFair::new(8.0, vec![1.0; 3]).unwrap();
    let mut problem = grouped(&[1.0, 0.8], &[&[0], &[1], &[0], &[1]], &[0, 1, 2, 2], utility);
    problem = problem.with_flow_caps(vec![f64::INFINITY, f64::INFINITY, 0.01]).unwrap();
    let mut sensitivity = of(&problem);
    assert_eq!(sensitivity.kinks(), []);
    let changes = sensitivity.forward(&[capacity(0, 2), capacity(1, 2)]).unwrap();
    assert_near(&changes[0].flow_rates, &[1.0, 0.0, 0.0], 1e-12);
    assert_near(&changes[1].flow_rates, &[0.0, 1.0, 0.0], 1e-12);
}

/// The rate of a path that is alone on its link is the capacity, whatever the flow has elsewhere: all other derivatives
/// of it are 0, which rounding leaves as differences of larger terms.
#[test]
fn a_path_that_is_alone_on_its_link_has_what_that_carries() {
    for unit in [1.0, 1e9, 1e-9] {
        let utility = AlphaFair::new(1.0, vec![1.0, 0.4]).unwrap();
        let problem = grouped(&[unit, 2.0 * unit], &[&[0], &[1], &[1]], &[0, 0, 1], utility);
        let of_path = |rates| OutcomeChange { rates, ..OutcomeChange::default() };
        let outcomes = [of_path(vec![1.0, 0.0, 0.0]), of_path(vec![0.0, 1.0, 1.0])];
        let found = of(&problem).reverse(&outcomes, AtKink::Refuse).unwrap();
        for (gradient, capacities) in found.iter().zip([[1.0, 0.0], [0.0, 1.0]]) {
            assert_near(&gradient.capacities, &capacities, 1e-12);
            assert!(gradient.weight.iter().all(|slope| slope.abs() <= 1e-12 * unit), "{:?}", gradient.weight);
        }
    }
}

/// Two paths whose prices differ by 5e-8, of which the dearer carries nothing: no kink, as prices are known to more
/// digits. A difference of 1e-12 is one.
#[test]
fn paths_of_nearly_the_same_price_are_a_kink_only_where_rounding_hides_the_difference() {
    for (excess, kinks) in [(5e-8, vec![]), (1e-12, vec![Kink::UnusedPath(1)])] {
        let utility = AlphaFair::new(1.0, vec![1.0, 1.0, 1.0 + excess]).unwrap();
        let problem = grouped(&[2.0, 1.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 2], utility);
        let mut sensitivity = of(&problem);
        assert_eq!(sensitivity.kinks(), kinks, "{excess}");
        let less = ParameterChange { capacities: vec![1.0, 0.0], ..ParameterChange::default() };
        assert_near(&sensitivity.forward(&[less]).unwrap()[0].flow_rates, &[0.5, 0.5, 0.0], 1e-9);
    }
}

/// At a kink the objective has a derivative where all multipliers are unique: a full link that is worth nothing adds
/// nothing. Two links that are full by the same flow share its price in many ways.
#[test]
fn the_objective_has_a_derivative_at_kinks_with_unique_multipliers() {
    let objective = OutcomeChange { objective: 1.0, ..OutcomeChange::default() };
    let reverse = |problem: &Problem, outcome: &OutcomeChange| {
        let mut sensitivity = of(problem);
        assert!(!sensitivity.kinks().is_empty());
        sensitivity.reverse(std::slice::from_ref(outcome), AtKink::Refuse)
    };
    // The second link just suffices.
    let paths = Paths::from_lists([vec![0, 1], vec![0]]);
    let problem = Problem::new(vec![4.0, 2.0], paths, AlphaFair::proportional()).unwrap();
    let gradient = &reverse(&problem, &objective).unwrap()[0];
    assert_near(&gradient.capacities, &[0.5, 0.0], 1e-9);
    assert_near(&gradient.weight, &[2f64.ln(); 2], 1e-9);
    let of_rates = OutcomeChange { flow_rates: vec![1.0, 0.0], ..objective.clone() };
    assert!(matches!(reverse(&problem, &of_rates), Err(netnum_core::Error::NotDifferentiable { .. })));
    let same = Problem::new(vec![1.0, 1.0], Paths::from_lists([[0, 1]]), AlphaFair::proportional()).unwrap();
    assert!(matches!(reverse(&same, &objective), Err(netnum_core::Error::NotDifferentiable { .. })));
}

/// A floor of 4 on a link of 7, which leaves 3 to a flow that uses 1.5 per unit: it pays 1.5 p = 1/2, so that p = 1/3.
#[test]
fn floors_costs_and_coefficients_have_derivatives() {
    let paths = Paths::with_coefficients(vec![0, 1, 2], vec![0, 0], vec![1.0, 1.5]).unwrap();
    let problem = Problem::new(vec![7.0], paths, AlphaFair::proportional()).unwrap();
    let mut sensitivity = of(&problem.with_flow_floors(vec![4.0, 0.0]).unwrap());
    assert_near(&sensitivity.flow_rates(), &[4.0, 2.0], 1e-9);
    let floor = ParameterChange { flow_floors: vec![1.0, 0.0], ..ParameterChange::default() };
    let cost = ParameterChange { path_costs: vec![0.0, 1.0], ..ParameterChange::default() };
    let coefficient = ParameterChange { coefficients: vec![0.0, 1.0], ..ParameterChange::default() };
    let found = sensitivity.forward(&[floor, cost, coefficient]).unwrap();
    assert_near(&found[0].flow_rates, &[1.0, -1.0 / 1.5], 1e-9);
    assert_near(&[found[0].objective], &[0.25 - 1.0 / 3.0], 1e-8);
    let of_cost = [found[1].objective, found[1].prices[0], found[1].flow_rates[0], found[1].flow_rates[1]];
    assert_near(&of_cost, &[-2.0, -1.0 / 1.5, 0.0, 0.0], 1e-8);
    assert_near(&found[2].flow_rates, &[0.0, -2.0 / 1.5], 1e-9);
    assert_near(&[found[2].objective], &[-2.0 / 3.0], 1e-8);
    let of_second = OutcomeChange { flow_rates: vec![0.0, 1.0], objective: 1.0, ..OutcomeChange::default() };
    let back = &sensitivity.reverse(&[of_second], AtKink::Refuse).unwrap()[0];
    assert_near(&back.flow_floors, &[-1.0 / 1.5 + 0.25 - 1.0 / 3.0, 0.0], 1e-8);
    assert_near(&back.path_costs, &[-4.0, -2.0], 1e-8);
    assert_near(&back.coefficients, &[-4.0 / 1.5 - 4.0 / 3.0, -2.0 / 1.5 - 2.0 / 3.0], 1e-8);
}
