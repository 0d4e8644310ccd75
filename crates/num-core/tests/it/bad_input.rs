//! Bad input is refused with a message that names the place, and what looks odd but has an answer gets it.

use crate::common;
use std::collections::BTreeMap;

use crate::common::solve_with;
use netnum_core::*;

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    }
}

fn problem(capacities: &[f64], lists: &[&[u32]]) -> Result<Problem> {
    Problem::new(capacities.to_vec(), Paths::from_lists(lists), AlphaFair::proportional())
}

#[test]
fn a_capacity_must_be_a_number_and_not_negative() {
    for (value, shown) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf"), (-2.0, "-2")] {
        let error = message(problem(&[1.0, value], &[&[0]]));
        assert_eq!(error, format!("link 1 has capacity {shown}, expected a number >= 0 (inf for no limit)"));
    }
}

#[test]
fn a_path_must_have_links_that_exist_and_none_twice() {
    assert_eq!(message(problem(&[1.0], &[&[0], &[]])), "path 1 is empty, expected at least one link");
    assert_eq!(message(problem(&[1.0, 1.0], &[&[0, 2]])), "path 0 names link 2, expected a link from 0 to 1");
    assert_eq!(message(problem(&[1.0, 1.0], &[&[0], &[1, 0, 1]])), "path 1 visits link 1 twice");
}

#[test]
fn row_offsets_must_describe_rows() {
    assert_eq!(message(Paths::new(vec![], vec![])), "indptr[0] is -1, expected 0");
    assert_eq!(message(Paths::new(vec![1, 1], vec![0])), "indptr[0] is 1, expected 0");
    assert_eq!(message(Paths::new(vec![0, 2, 1], vec![0])), "indptr[2] is 1, expected at least 2");
    assert_eq!(message(Paths::new(vec![0, 2], vec![0])), "indptr[1] is 2, expected 1, the number of indices");
}

#[test]
fn lengths_must_agree() {
    let utility = AlphaFair::new(1.0, vec![1.0; 3]).unwrap();
    let error = message(Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), utility));
    assert_eq!(error, "utility has 3 entries, expected 2, one per flow");
    let error = message(AlphaFair::new(vec![1.0; 2], vec![1.0; 3]));
    assert_eq!(error, "weight has 3 entries, expected 2, one per flow");
    let fine = problem(&[1.0], &[&[0], &[0]]).unwrap();
    assert_eq!(message(fine.clone().with_rate_caps(vec![1.0])), "rate_cap has 1 entries, expected 2, one per path");
    assert_eq!(message(certify(&fine, &[1.0], &[1.0])), "rates has 1 entries, expected 2, one per path");
    assert_eq!(message(certify(&fine, &[0.5, 0.5], &[])), "prices has 0 entries, expected 1, one per link");
}

#[test]
fn weights_sizes_epsilon_and_alpha_have_ranges() {
    let weight = "a finite number > 0";
    assert_eq!(message(AlphaFair::new(1.0, vec![1.0, 0.0])), format!("flow 1 has weight 0, expected {weight}"));
    assert_eq!(message(Linear::new(f64::NAN)), "flow 0 has weight NaN, expected a finite number >= 0");
    assert_eq!(message(MinFct::new(vec![1.0, -3.0], 0.1)), format!("flow 1 has size -3, expected {weight}"));
    let error = message(MinFct::new(1.0, 1.0));
    assert_eq!(error, "flow 0 has epsilon 1, expected a number between 0 and 1, both excluded");
    let error = message(AlphaFair::new(0.0, 1.0));
    assert_eq!(error, "flow 0 has alpha 0, expected a number > 0, inf for max-min (use Linear for alpha = 0)");
    let error = message(AlphaFair::new(vec![f64::INFINITY, 2.0], 1.0));
    assert_eq!(error, "flow 1 has alpha 2, expected all finite or all infinite within one utility");
}

#[test]
fn bandwidth_functions_never_decrease_and_have_two_points() {
    let new = BandwidthFunction::new;
    let begin = "flow 0 has a bandwidth function whose ";
    let cases = [
        (new(&[0.0], &[0.0], 5.0, 1.0), "number of points is 1, expected at least two"),
        (
            new(&[0.0, 1.0, 2.0], &[0.0, 5.0, 4.0], 5.0, 0.0),
            "bandwidth decreases at point 2, expected a list that never decreases",
        ),
        (
            new(&[0.0, 0.0], &[0.0, 5.0], 5.0, 0.0),
            "fair share does not increase at point 1, expected an increasing list",
        ),
        (new(&[0.0, 1.0], &[1.0, 5.0], 5.0, 0.0), "bandwidth at point 0 is 1, expected 0, so that it has no jump"),
        (new(&[0.0, 1.0], &[0.0, f64::NAN], 5.0, 0.0), "bandwidth at point 1 is NaN, expected a finite number >= 0"),
        (new(&[0.0, 1.0], &[0.0, 1.0], 5.0, -1.0), "tail slope is -1, expected a finite number >= 0"),
        (new(&[0.0, 1.0], &[0.0, 0.0], 5.0, 0.0), "bandwidth is 0 everywhere, expected a rise somewhere"),
    ];
    for (result, expected) in cases {
        assert_eq!(message(result), format!("{begin}{expected}"));
    }
    assert_eq!(message(new(&[0.0, 1.0], &[0.0], 5.0, 0.0)), "bandwidth has 1 entries, expected 2, one per point");
    for alpha in [0.0, f64::NAN] {
        let expected = format!("flow 0 has alpha {alpha}, expected a number > 0, inf for max-min");
        assert_eq!(message(new(&[0.0, 1.0], &[0.0, 1.0], alpha, 0.0)), expected);
    }
}

#[test]
fn groups_have_no_gaps_and_caps_are_numbers() {
    let paths = || Paths::from_lists([[0], [0], [0]]);
    let grouped = |group: &[u32]| Problem::grouped(vec![1.0], paths(), group.to_vec(), AlphaFair::proportional());
    let error = message(grouped(&[0, 2, 2]));
    assert_eq!(error, "group has no path for flow 1, expected at least one for every flow up to 2");
    assert_eq!(message(grouped(&[0, 1])), "group has 2 entries, expected 3, one per path");
    let error = message(grouped(&[0, 1, 9]));
    assert_eq!(error, "group[2] is 9, expected a flow number >= 0 and below the number of paths");
    for (cap, shown) in [(-1.0, "-1"), (f64::NAN, "NaN")] {
        let error = message(grouped(&[0, 1, 2]).unwrap().with_rate_caps(vec![1.0, cap, 1.0]));
        assert_eq!(error, format!("path 1 has rate cap {shown}, expected a number >= 0 (inf for none)"));
    }
}

#[test]
fn json_is_checked_like_everything_else() {
    let read = |text: &str| message(Problem::from_json(text));
    for (slip, near) in [
        ("flow_flor", "flow_floor"),
        ("flow_caps", "flow_cap"),
        ("flow_floors", "flow_floor"),
        ("path_costs", "path_cost"),
        ("priorities", "priority"),
        ("coefficients", "coefficient"),
        ("caps", "cap"),
        ("pair", "pairs"),
        ("gruop", "group"),
    ] {
        let text =
            format!(r#"{{"capacity":[1],"paths":[[0]],"utility":{{"kind":["linear"],"weight":[1]}},"{slip}":[1]}}"#);
        let expected = format!("not a problem in JSON: unknown field `{slip}`, did you mean `{near}`?");
        assert_eq!(read(&text), expected);
    }
    let slip = read(r#"{"capacity":[1],"paths":[[0]],"utility":{"kind":["linear"],"wieght":[2]}}"#);
    assert!(slip.starts_with("not a problem in JSON: unknown field `utility.wieght`, did you mean `utility.weight`?"));
    assert!(read(r#"{"capacity":[1],"paths":[[0]],"utilty":{}}"#).contains("`utilty`, did you mean `utility`?"));
    let others = "name description expected tolerance source_of_truth rates prices flow_rates flow_prices path_rates \
                  path_prices status objective gap id seed nodes links answer comment units version method kind map \
                  demands loads weights solution date author title source sources link_names node_names delay \
                  capacity_unit capacity_gbps network_name utility_name group_of paths_by";
    for other in others.split_whitespace() {
        let text =
            format!(r#"{{"capacity":[1],"paths":[[0]],"utility":{{"kind":["linear"],"weight":[1]}},"{other}":[1]}}"#);
        assert!(Problem::from_json(&text).is_ok(), "{other}");
    }
    assert!(read("{").starts_with("not a problem in JSON: "));
    assert!(read("{}").contains("missing field `capacity`"));
    let utility = r#""utility": {"kind": ["alpha_fair"], "alpha": [1.0], "weight": [1.0]}"#;
    let text = format!(r#"{{"capacity": [1.0], "paths": [[3]], {utility}}}"#);
    assert_eq!(read(&text), "path 0 names link 3, expected link 0, the only one");
    let of = |columns: &str| read(&format!(r#"{{"capacity": [1.0], "paths": [[0]], "utility": {{{columns}}}}}"#));
    assert!(
        of(r#""kind": ["alpha_fare"]"#)
            .contains("unknown utility kind \"alpha_fare\", did you mean \"alpha_fair\"?; known: alpha_fair")
    );
    assert_eq!(of(r#""kind": ["fct"], "size": [1.0]"#), "flow 0 of kind \"fct\" has no \"eps\"");
    let error = of(r#""kind": ["linear"], "weight": [1.0, 2.0]"#);
    assert_eq!(error, "utility.weight has 2 entries, expected 1, one per flow");
    let error = of(r#""kind": ["linear", "linear"], "weight": [1.0, 2.0]"#);
    assert_eq!(error, "utility has 2 entries, expected 1, one per flow");
}

#[test]
fn in_a_list_of_utilities_the_flow_is_named_by_its_place() {
    let text = r#"{"capacity": [1.0], "paths": [[0], [0], [0]],
        "utility": {"kind": ["linear", "fct", "fct"], "weight": [1.0, null, null], "size": [null, 1.0, -1.0],
                    "eps": [null, 0.1, 0.1]}}"#;
    assert_eq!(message(Problem::from_json(text)), "flow 2 has size -1, expected a finite number > 0");
}

#[test]
fn an_unknown_method_or_option_is_answered_with_the_known_ones() {
    let problem = problem(&[1.0], &[&[0]]).unwrap();
    let make = |method: &str, options: &BTreeMap<String, f64>| {
        message(Solver::new(&problem, &Ask::by(method).with_options(options)))
    };
    let none = BTreeMap::new();
    let names: Vec<&str> = std::iter::once("auto").chain(METHODS.iter().map(|method| method.name)).collect();
    let known = format!("known: {}", names.join(", "));
    assert_eq!(make("fastned", &none), format!("unknown method \"fastned\", did you mean \"fast-ned\"?; {known}"));
    assert_eq!(make("xyz", &none), format!("unknown method \"xyz\"; {known}"));
    let option = |name: &str, value| BTreeMap::from([(name.to_string(), value)]);
    let error = make("ned", &option("gama", 1.0));
    assert_eq!(error, "method \"ned\" has no option \"gama\", did you mean \"gamma\"?; known options: gamma");
    let error = make("ned", &option("maxiter", 1.0));
    assert_eq!(
        error,
        "method \"ned\" has no option \"maxiter\", did you mean the setting \"max_iterations\"?; known options: gamma"
    );
    assert_eq!(
        make("auto", &option("gama", 1.0)),
        "\"auto\" chose \"fast-ned\", which has no option \"gama\", did you mean \"gamma\"?; known options: gamma; \
         name the method that an option is for"
    );
    for (value, shown) in [(-1.0, "-1"), (0.0, "0"), (f64::NAN, "NaN")] {
        assert_eq!(make("ned", &option("gamma", value)), format!("gamma is {shown}, expected a finite number > 0"));
    }
}

#[test]
fn a_warm_start_at_the_answer_is_an_answer() {
    let problem = common::leaf_spine(300, 1.0, 2);
    let first = solve_with(&problem, "auto", 1e-8);
    let mut solver = Solver::new(&problem, &Ask::by("auto").with_prices(first.prices)).unwrap();
    let again = solver.run(&Settings::default().with_tol(1e-8), &mut ()).unwrap();
    assert_eq!((again.status, again.iterations), (Status::Optimal, 0));
}

#[test]
fn settings_and_prices_are_checked() {
    let problem = problem(&[1.0], &[&[0]]).unwrap();
    let mut solver = Solver::new(&problem, &Ask::by("auto")).unwrap();
    for (tol, shown) in [(0.0, "0"), (f64::NAN, "NaN"), (-1.0, "-1")] {
        let settings = Settings::default().with_tol(tol);
        assert_eq!(message(solver.run(&settings, &mut ())), format!("tol is {shown}, expected a finite number > 0"));
    }
    let from = |prices: &[f64]| message(Solver::new(&problem, &Ask::default().with_prices(prices.to_vec())));
    assert_eq!(from(&[-1.0]), "link 0 has price -1, expected a finite number >= 0");
    assert_eq!(from(&[]), "prices has 0 entries, expected 1, one per link");
    assert_eq!(message(certify(&problem, &[1.0], &[f64::NAN])), "link 0 has price NaN, expected a finite number >= 0");
}

#[test]
fn a_problem_without_flows_has_an_empty_answer() {
    for links in [0, 3] {
        let problem = problem(&vec![1.0; links], &[]).unwrap();
        let solution = solve_with(&problem, "auto", 1e-6);
        assert_eq!((solution.status, solution.iterations), (Status::Optimal, 0));
        assert!(solution.rates.is_empty() && solution.objective == 0.0);
        assert_eq!(solution.prices, vec![0.0; links]);
    }
}

#[test]
fn a_failed_link_gives_rate_zero_and_the_solution_names_the_flows() {
    let problem = problem(&[0.0, 4.0], &[&[0], &[1], &[0, 1], &[1]]).unwrap();
    let solution = solve_with(&problem, "auto", 1e-9);
    assert_eq!(solution.status, Status::Optimal);
    assert_eq!(solution.failed_flows, [0, 2]);
    assert_eq!((solution.rates[0], solution.rates[2]), (0.0, 0.0));
    assert!((solution.rates[1] - 2.0).abs() < 1e-6 && solution.prices[0] == 0.0);
    assert!((solution.objective - 2.0 * 2f64.ln()).abs() < 1e-6);
    assert!(solution.to_string().contains("2 flows failed"), "{solution}");
}

#[test]
fn a_flow_whose_other_path_is_open_has_not_failed() {
    let paths = Paths::from_lists([[0], [1]]);
    let problem = Problem::grouped(vec![0.0, 4.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
    let certificate = certify(&problem, &[0.0, 4.0], &[9.0, 0.25]).unwrap();
    assert!(certificate.relative_gap.abs() < 1e-12, "{certificate:?}");
}

#[test]
fn a_path_capped_at_zero_is_closed() {
    let problem = problem(&[4.0], &[&[0], &[0]]).unwrap().with_rate_caps(vec![0.0, f64::INFINITY]).unwrap();
    let solution = solve_with(&problem, "auto", 1e-9);
    assert_eq!(solution.failed_flows, [0]);
    assert!((solution.rates[1] - 4.0).abs() < 1e-6);
}

#[test]
fn one_object_given_for_two_flows_serves_both() {
    #[derive(Debug)]
    struct One(AlphaFair);
    impl Utility for One {
        fn value(&self, flow: usize, rate: f64) -> f64 {
            self.0.value(flow, rate)
        }
        fn marginal(&self, flow: usize, rate: f64) -> f64 {
            self.0.marginal(flow, rate)
        }
        fn demand(&self, flow: usize, price: f64) -> f64 {
            self.0.demand(flow, price)
        }
        fn demand_slope(&self, flow: usize, price: f64) -> f64 {
            self.0.demand_slope(flow, price)
        }
        fn flows(&self) -> Option<usize> {
            self.0.flows()
        }
    }
    for weight in [Parameter::Same(2.0), Parameter::PerFlow(vec![2.0])] {
        let one: std::sync::Arc<dyn Utility> = std::sync::Arc::new(One(AlphaFair::new(1.0, weight).unwrap()));
        let problem = Problem::new(vec![3.0], Paths::from_lists([[0], [0]]), vec![one.clone(), one]).unwrap();
        let solution = solve_with(&problem, "auto", 1e-9);
        assert!((solution.rates[0] - 1.5).abs() < 1e-6 && (solution.rates[1] - 1.5).abs() < 1e-6);
    }
}

#[test]
fn the_largest_and_the_smallest_capacities_are_solved() {
    for capacity in [f64::MAX, 1e300, f64::MIN_POSITIVE, 1e-300] {
        let solution = solve_with(&problem(&[capacity], &[&[0], &[0]]).unwrap(), "auto", 1e-6);
        assert_eq!(solution.status, Status::Optimal, "{capacity}: {solution}");
        assert!((solution.rates[0] / capacity - 0.5).abs() < 1e-6);
    }
}

#[test]
fn a_users_utility_beside_an_extreme_one_is_not_called_broken() {
    let utilities: Vec<std::sync::Arc<dyn Utility>> = vec![
        std::sync::Arc::new(common::Logarithmic { weight: 1.0, scale: 1.0 }),
        std::sync::Arc::new(AlphaFair::new(100.0, 1.0).unwrap()),
    ];
    let problem = Problem::new(vec![1e-3], Paths::from_lists([[0], [0]]), utilities).unwrap();
    let solution = solve_with(&problem, "auto", 1e-6);
    assert!(solution.rates.iter().all(|rate| rate.is_finite()));
}

#[test]
fn a_demand_that_does_not_invert_the_marginal_proves_nothing() {
    /// log(1 + x), with the −1 of its demand forgotten.
    #[derive(Debug)]
    struct Forgetful;
    impl Utility for Forgetful {
        fn value(&self, _: usize, rate: f64) -> f64 {
            rate.ln_1p()
        }
        fn marginal(&self, _: usize, rate: f64) -> f64 {
            1.0 / (1.0 + rate)
        }
        fn demand(&self, _: usize, price: f64) -> f64 {
            1.0 / price
        }
        fn demand_slope(&self, _: usize, price: f64) -> f64 {
            -1.0 / (price * price)
        }
    }
    let problem = Problem::new(vec![3.0, 4.0], Paths::from_lists([vec![0], vec![0, 1], vec![1]]), Forgetful).unwrap();
    let error = message(solve(&problem, &Ask::default()));
    assert!(error.starts_with("the utility of flow 0 is broken: its demand at price "), "{error}");
    assert!(error.contains("but its marginal there is"), "{error}");
    assert_eq!(message(certify(&problem, &[1.5; 3], &[0.5; 2])).split(" at ").next(), error.split(" at ").next());
}

#[test]
fn transposing_lists_the_paths_of_every_link() {
    let paths = Paths::from_lists([vec![0, 2], vec![2], vec![0]]);
    let expected = Paths::from_lists([vec![0, 2], vec![], vec![0, 1], vec![]]);
    assert_eq!(paths.transpose(4).unwrap(), expected);
    assert_eq!(message(paths.transpose(2)), "path 0 names link 2, expected a link from 0 to 1");
    assert!(message(paths.transpose(usize::MAX)).starts_with("links is 18446744073709551615"));
}

#[test]
fn a_utility_that_answers_nonsense_is_named() {
    #[derive(Debug)]
    struct Nonsense(&'static str);
    impl Utility for Nonsense {
        fn value(&self, _: usize, rate: f64) -> f64 {
            if self.0 == "value" { f64::NAN } else { rate.ln() }
        }
        fn marginal(&self, _: usize, rate: f64) -> f64 {
            match self.0 {
                "marginal" => f64::NAN,
                "falling" => -1.0,
                _ => 1.0 / rate,
            }
        }
        fn demand(&self, _: usize, price: f64) -> f64 {
            if self.0 == "demand" { f64::NAN } else { 1.0 / price }
        }
        fn demand_slope(&self, _: usize, price: f64) -> f64 {
            if self.0 == "slope" { f64::NAN } else { -1.0 / (price * price) }
        }
    }
    for (what, expected) in [
        ("marginal", "the utility of flow 0 is broken: its marginal at rate 0.5 is NaN, expected a finite number >= 0"),
        ("falling", "the utility of flow 0 is broken: its marginal at rate 0.5 is -1, expected a finite number >= 0"),
        ("demand", "the utility of flow 0 is broken: its demand is NaN, expected a number >= 0"),
        (
            "slope",
            "the utility of flow 0 is broken: its answers are not numbers, or not those of a concave, increasing \
             function",
        ),
        (
            "value",
            "the utility of flow 0 is broken: its answers are not numbers, or not those of a concave, increasing \
             function",
        ),
    ] {
        let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), Nonsense(what)).unwrap();
        assert_eq!(message(solve(&problem, &Ask::default())), expected);
    }
}
