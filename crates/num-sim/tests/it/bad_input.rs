//! Bad input is an error that names the place, and the smallest inputs have defined results.

use std::ops::ControlFlow;

use netnum_core::internal::registry::{Entry, OptionInfo};
use netnum_core::{OptionValue, Options, Paths, Topology};
use netnum_sim::internal::{Key, Levels, Ordered, Strict, Until};
use netnum_sim::{
    Ecmp, Error, Event, Flows, GivenPaths, MaxMinFair, Moves, NetworkState, POLICIES, Pairs, Poisson, Policy,
    Production, ROUTINGS, Rates, Report, Result, Route, Routing, RunObserver, RunProgress, RunSettings, Sizes,
    Workload, policy, routing, simulate,
};

fn link() -> Topology {
    Topology::single_link(8e6).unwrap()
}

fn two_flows() -> Workload {
    Workload::new(vec![0.0, 0.5], vec![0, 0], vec![1, 1], vec![1e6, 1e6]).unwrap()
}

fn run(workload: &Workload, until: f64) -> Result<Report> {
    simulate(
        &link(),
        workload,
        &mut Ecmp::new(0),
        &mut MaxMinFair::new(),
        &RunSettings::default().with_until(until),
        &mut (),
    )
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn workloads_name_the_flow() {
    let new = |arrivals: &[f64], sizes: &[f64]| {
        let [sources, destinations] = [0, 1].map(|end| vec![end; arrivals.len()]);
        message(Workload::new(arrivals.to_vec(), sources, destinations, sizes.to_vec()))
    };
    assert_eq!(new(&[0.0, -1.0], &[1.0, 1.0]), "flow 1 has arrival -1, expected a finite number >= 0");
    assert_eq!(new(&[0.0, f64::NAN], &[1.0, 1.0]), "flow 1 has arrival NaN, expected a finite number >= 0");
    assert_eq!(
        new(&[0.0, 1.0], &[1.0, -5.0]),
        "flow 1 has size -5, expected a number > 0; a flow of size inf never ends"
    );
    assert_eq!(new(&[0.0], &[0.0]), "flow 0 has size 0, expected a number > 0; a flow of size inf never ends");
    assert_eq!(
        new(&[0.0, 2.0, 1.0], &[1.0; 3]),
        "flow 2 arrives at 1, before flow 1 at 2; expected flows in order of arrival"
    );
    assert_eq!(new(&[0.0, 2.0], &[1.0]), "sizes has 1 entries, expected 2, one per arrival");
    let to_itself = message(Workload::new(vec![0.0; 2], vec![0, 2], vec![1, 2], vec![1.0; 2]));
    assert_eq!(to_itself, "flow 1 has destination 2, expected another end than its source");
}

#[test]
fn traces_name_the_line() {
    let read = |text: &str| message(Workload::from_csv(text));
    assert_eq!(read("0,0,1,5\n1,2,3"), "line 2 of the trace has 3 fields, expected 4: arrival,source,destination,size");
    assert_eq!(read("\u{feff}0,0,1,5\n1,2,3"), read("0,0,1,5\n1,2,3"));
    assert_eq!(read("0,0,-1,5"), "line 1 of the trace has destination \"-1\", expected the index of an end");
    assert_eq!(read("# x\nsoon,0,1,5"), "line 2 of the trace has arrival \"soon\", expected a number");
    assert_eq!(
        read("0,0,1,-5"),
        "line 1 of the trace (flow 0) has size -5, expected a number > 0; a flow of size inf never ends"
    );
    let second = "line 4 of the trace (flow 1)";
    let text = "arrival,source,destination,size,production\n0.5,0,1,5,1\n# x\n";
    for (row, what) in [
        ("1,2,2,5,1", "has destination 2, expected another end than its source"),
        ("0,0,1,5,1", "arrives at 0, before flow 0 at 0.5; expected flows in order of arrival"),
        ("1,0,1,5,0", "has production rate 0, expected a finite number > 0"),
    ] {
        assert_eq!(read(&format!("{text}{row}")), format!("{second} {what}"));
    }
    for (header, wrong) in [
        ("arrival,source,destination,bytes", "without a column \"size\""),
        ("arrival,source,destination,sizes", "without a column \"size\", did you mean \"sizes\"?"),
        ("arrival", "without a column \"source\""),
        ("size,arrival,source,destination,size", "with two columns \"size\""),
        ("arrival;source;destination;size", "without a column \"arrival\": columns are separated by ',', not by ';'"),
    ] {
        let found = read(&format!("# x\n{header}\n0,0,1,5"));
        assert_eq!(found, format!("line 2 of the trace has the header {header:?} {wrong}"));
    }
    let fields = "line 2 of the trace has 5 fields, expected 4: arrival,source,destination,size";
    assert_eq!(read("arrival, source, destination, size\n0,0,1,5,9"), fields);
    let net = Topology::from_edges("Seattle Denver 1e9\nDenver Houston 1e9").unwrap();
    let read_with = |text: &str, columns: &[(&str, &str)]| {
        let columns = columns.iter().map(|&(ours, theirs)| (ours.into(), theirs.into())).collect();
        message(Workload::from_csv_with(text, Some(&net), &columns))
    };
    assert_eq!(
        read_with("0,Seatle,Denver,1", &[]),
        "line 1 of the trace has source \"Seatle\", expected the name of one of the 3 ends, did you mean \"Seattle\"?"
    );
    let third = "line 1 of the trace has destination \"3\", expected the name of one of the 3 ends";
    assert_eq!(read_with("0,0,3,1", &[]), third);
    let numbered = Topology::from_edges("0 256 1e9\n1 256 1e9").unwrap();
    let named = |text: &str| Workload::from_csv_with(text, Some(&numbered), &Default::default());
    assert_eq!(named("0,1,256,1").unwrap().sources(), [2]);
    let second = "line 1 of the trace has source \"2\", expected the name of one of the 3 ends";
    assert_eq!(message(named("0,2,256,1")), second);
    let text = named("0,1,256,1").unwrap().to_csv_with(Some(&numbered)).unwrap();
    assert_eq!(text, "arrival,source,destination,size\n0.0,1,256,1.0\n");
    let small = Topology::single_link(1.0).unwrap();
    let unknown = message(named("0,1,256,1").unwrap().to_csv_with(Some(&small)));
    assert_eq!(unknown, "flow 0 has source 2, expected one of 2 ends");
    let bytes = "line 1 of the trace has the header \"arrival,source,destination,size\" without a column \"bytes\"";
    assert_eq!(read_with("arrival,source,destination,size\n", &[("size", "bytes")]), bytes);
    let sizes = "columns is for \"sizes\", expected names of arrival,source,destination,size,production,weight,buffer,\
                 after,delay,coflow, did you mean \"size\"?";
    assert_eq!(read_with("", &[("sizes", "bytes")]), sizes);
    let twice = "line 2 of the trace has arrival \"arrival\", expected a number";
    assert_eq!(read("arrival,source,destination,size\narrival,source,destination,size"), twice);
}

#[test]
fn rates_of_production_name_what_is_wrong_though_there_are_no_flows() {
    for (bounds, shown) in [((5.0, 1.0), "5 to 1"), ((-1.0, 0.0), "-1 to 0"), ((f64::NAN, 1.0), "NaN to 1")] {
        let found = message(Production::log_normal(0, 1.0, 1.0, bounds, 1.0, 0));
        let expected = "a lowest and a highest number > 0, in this order";
        assert_eq!(found, format!("bounds is {shown}, expected {expected}"));
    }
    assert!(Production::log_normal(0, 1.0, 1.0, (0.0, f64::INFINITY), 1.0, 0).unwrap().rates().is_empty());
    let never = message(Production::log_normal(1, 1e9, 0.0, (1e10, 2e10), 1.0, 0));
    let expected = "some that rates with median 1000000000 and sigma 0 are likely to lie between";
    assert_eq!(never, format!("bounds is 10000000000 to 20000000000, expected {expected}"));
}

#[test]
fn sizes_name_the_point() {
    let new = |points: &[(f64, f64)]| message(Sizes::new("mine", points.to_vec()));
    assert_eq!(new(&[]), "point 0 of the sizes is missing, expected at least one point (bytes, fraction)");
    assert_eq!(
        new(&[(5.0, 0.1), (4.0, 1.0)]),
        "point 1 of the sizes is at 4 bytes, expected finite sizes >= 0 that do not decrease"
    );
    assert_eq!(
        new(&[(5.0, 0.5), (6.0, 0.4)]),
        "point 1 of the sizes has fraction 0.4, expected fractions from 0 to 1 that do not decrease"
    );
    assert_eq!(new(&[(5.0, 0.5)]), "point 0 of the sizes has fraction 0.5, expected 1 at the last point");
    assert_eq!(
        new(&[(0.0, 0.5), (1.0, 1.0)]),
        "point 0 of the sizes gives 0 bytes to 0.5 of the flows, expected sizes > 0"
    );
    assert_eq!(message(Sizes::exponential(-1.0)), "mean is -1, expected a finite number > 0");
    assert!(message(Sizes::fixed(f64::INFINITY)).starts_with("point 0 of the sizes is at inf bytes"));
    assert!(message(Sizes::named("pareto")).starts_with("unknown sizes \"pareto\"; known: web_search, enterprise"));
}

#[test]
fn arrivals_name_the_setting() {
    let net = Topology::leaf_spine(2, 2, 1, 1.0, 1.0).unwrap();
    let one = Poisson::new(Sizes::web_search(), 0.5);
    let draw = |arrivals: Poisson, pairs: Pairs| message(Workload::poisson(&net, &arrivals, &pairs, 1));
    for load in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let expected = format!("load is {load}, expected a finite number > 0");
        assert_eq!(draw(one.clone().with_load(load), Pairs::Uniform), expected);
    }
    assert_eq!(draw(one.clone().with_duration(-1.0), Pairs::Uniform), "duration is -1, expected a number >= 0");
    let forever = one.clone().with_flows(usize::MAX);
    assert_eq!(draw(forever.clone(), Pairs::Uniform), "flows is unbounded, and so is duration, expected one of them");
    let many = "flows is 5000000000, expected at most 4294967295";
    assert_eq!(draw(one.clone().with_flows(5_000_000_000), Pairs::Uniform), many);
    let long = draw(forever.with_duration(1e300), Pairs::Uniform);
    assert!(long.ends_with(", expected at most 4294967295"), "{long}");
    let links = Some(vec![99]);
    assert_eq!(draw(one.clone().with_links(links), Pairs::Uniform), "links is 99, expected links below 12");
    let links = Some(vec![]);
    assert!(draw(one.clone().with_links(links), Pairs::Uniform).contains("capacity"));
    assert_eq!(draw(one.clone(), Pairs::Listed(vec![])), "pairs is empty, expected at least one pair of ends");
    assert_eq!(
        draw(one.clone(), Pairs::Listed(vec![(0, 1), (2, 2)])),
        "pairs[1] is (2, 2), expected two different ends below 4"
    );
    assert_eq!(message(Pairs::incast(&net, 4, 1, 0)), "receiver is 4, expected an end below 4");
    assert_eq!(
        message(Workload::at_once(&net, &Pairs::Uniform, &Sizes::web_search(), 0)),
        "pairs is uniform, expected a list of pairs"
    );
}

fn json(text: &str) -> Options {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_number_that_json_has_not_is_no_value() {
    let refused = |value| message(policy("flowtune", &Options::from([("interval".into(), value)])));
    let nan = OptionValue::Number(f64::NAN);
    assert_eq!(refused(nan.clone()), "option \"interval\" of policy \"flowtune\" is NaN, expected finite numbers");
    let nested = refused(OptionValue::List(vec![OptionValue::None, nan]));
    assert!(nested.ends_with("expected finite numbers"), "{nested}");
}

#[test]
fn names_that_nothing_has_are_answered_with_those_that_exist() {
    let none = Options::new();
    let unknown = message(policy("fair", &none));
    assert!(unknown.starts_with("unknown policy \"fair\"; known: max-min, srpt, "), "{unknown}");
    let unknown = message(routing("ospf", 0, &none));
    assert!(unknown.starts_with("unknown routing \"ospf\"; known: ecmp"), "{unknown}");
    for (kind, name, near) in [
        ("policy", "SRPT", "srpt"),
        ("policy", "min_fct", "min-fct"),
        ("routing", "flowbender", "flow-bender"),
        ("sizes", "web-search", "web_search"),
    ] {
        let unknown = match kind {
            "policy" => message(policy(name, &none)),
            "routing" => message(routing(name, 0, &none)),
            _ => message(Sizes::named(name)),
        };
        let expected = format!("unknown {kind} {name:?}, did you mean {near:?}?; known: ");
        assert!(unknown.starts_with(&expected), "{unknown}");
    }
    let unknown = message(routing("flow-bender", 0, &json(r#"{"lockafter": 1}"#)));
    let expected = r#"routing "flow-bender" has no option "lockafter", did you mean "lock_after"?; known options: "#;
    assert!(unknown.starts_with(expected), "{unknown}");
    for Entry { name, .. } in POLICIES {
        assert!(policy(name, &none).unwrap().name().starts_with(name));
    }
    for Entry { name, .. } in ROUTINGS {
        assert_eq!(routing(name, 0, &none).unwrap().name(), *name);
    }
}

fn defaults(options: Vec<OptionInfo>) -> Options {
    options.into_iter().map(|option| (option.name.into(), option.default)).collect()
}

#[test]
fn every_option_has_a_default_that_may_be_given() {
    for Entry { name, options, .. } in POLICIES {
        let unknown = policy(name, &json(r#"{"zip": 1}"#)).err().unwrap();
        let known = options().iter().map(|option| &*option.name).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".into() } else { known };
        assert_eq!(unknown.to_string(), format!("policy {name:?} has no option \"zip\"; known options: {known}"));
        let mut defaults = defaults(options());
        defaults.retain(|_, value| *value != OptionValue::None);
        let [given, plain] =
            [defaults, Options::new()].map(|options| policy(name, &options).unwrap().name().to_owned());
        assert_eq!(given, plain);
    }
    for Entry { name, options, .. } in ROUTINGS {
        let unknown = routing(name, 0, &json(r#"{"zip": 1}"#)).err().unwrap().to_string();
        assert!(unknown.starts_with(&format!("routing {name:?} has no option \"zip\"; known options: ")), "{unknown}");
        assert_eq!(routing(name, 0, &defaults(options())).unwrap().name(), *name);
    }
}

#[test]
fn a_routing_names_the_option_that_is_out_of_range() {
    let wrong = |name: &str, options: &str| message(routing(name, 0, &json(options)));
    let bender = |options: &str| wrong("flow-bender", options);
    for (options, says) in [
        (r#"{"n": 0}"#, "\"n\" of routing \"flow-bender\" is 0, expected at least 1"),
        (r#"{"n": -1}"#, "\"n\" of routing \"flow-bender\" is -1, expected a whole number from 0 to 4294967295"),
        (r#"{"t": 1.5}"#, "\"t\" of routing \"flow-bender\" is 1.5, expected a number from 0 to 1"),
        (r#"{"t": -0.1}"#, "\"t\" of routing \"flow-bender\" is -0.1, expected a number from 0 to 1"),
        (r#"{"rtt": 0.0}"#, "\"rtt\" of routing \"flow-bender\" is 0, expected a finite number > 0"),
        (r#"{"rtt": -1e-4}"#, "\"rtt\" of routing \"flow-bender\" is -0.0001, expected a finite number > 0"),
        (r#"{"step": 0.0}"#, "\"step\" of routing \"flow-bender\" is 0, expected a number > 0 and <= 1"),
        (r#"{"lock_after": 0}"#, "\"lock_after\" of routing \"flow-bender\" is 0, expected at least 1"),
        (r#"{"lock_after": 2, "lock_for": 0}"#, "\"lock_for\" of routing \"flow-bender\" is 0, expected at least 1"),
        (r#"{"skew": 2.0}"#, "\"skew\" of routing \"flow-bender\" is 2, expected a number from 0 to 1"),
        (
            r#"{"marking": {"utilization": 1.5}}"#,
            "\"marking.utilization\" of routing \"flow-bender\" is 1.5, expected a number > 0 and <= 1",
        ),
        (
            r#"{"marking": {"dctcp": {"rtt": -1, "threshold": 1}}}"#,
            "\"marking.dctcp.rtt\" of routing \"flow-bender\" is -1, expected a finite number >= 0",
        ),
        (
            r#"{"marking": {"dctcp": {"rtt": 1, "threshold": -2}}}"#,
            "\"marking.dctcp.threshold\" of routing \"flow-bender\" is -2, expected a finite number >= 0",
        ),
    ] {
        assert_eq!(bender(options), format!("option {says}"));
    }
    assert_eq!(
        wrong("ecmp", r#"{"skew": -1.0}"#),
        "option \"skew\" of routing \"ecmp\" is -1, expected a number from 0 to 1"
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_told_what_is_expected() {
    let policies: [(&str, &str, &str); 8] = [
        ("flowtune", r#"{"interval": "soon"}"#, "\"soon\", expected a number"),
        ("flowtune", r#"{"gamma": [1]}"#, "[1], expected a number"),
        ("flowtune", r#"{"at_once": 1}"#, "1, expected true or false"),
        ("flowtune", r#"{"method": 3}"#, "3, expected text"),
        ("flowtune", r#"{"normalizer": {}}"#, "{}, expected a name"),
        (
            "flowtune",
            r#"{"utility": "alpha-fair"}"#,
            r#""alpha-fair", expected "proportional", "min-fct" or {"alpha-fair": alpha}"#,
        ),
        ("rax", r#"{"levels": 2.5}"#, "2.5, expected a whole number >= 0"),
        ("pias", r#"{"thresholds": 5}"#, "5, expected a list"),
    ];
    for (name, options, says) in policies {
        let found = message(policy(name, &json(options)));
        assert!(found.starts_with("option ") && found.ends_with(&format!(" of policy {name:?} is {says}")), "{found}");
    }
    let says = r#""saturated", {"dctcp": {"rtt": seconds, "threshold": bytes}} or {"utilization": part}"#;
    for marking in [
        r#""red""#,
        r#""dctcp""#,
        r#"{"dctcp":3}"#,
        r#"{"dctcp":{"rtt":1}}"#,
        r#"{"dctcp":{"delay":1}}"#,
        r#"{"saturated":1}"#,
        r#"{"saturated":null,"utilization":1}"#,
        "{}",
        "0.9",
    ] {
        let found = message(routing("flow-bender", 0, &json(&format!("{{\"marking\": {marking}}}"))));
        assert_eq!(found, format!("option \"marking\" of routing \"flow-bender\" is {marking}, expected {says}"));
    }
}

#[test]
fn every_routing_names_the_flow_that_it_cannot_route() {
    let net = Topology::from_edges("a b 1\nc d 1").unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0, 1], vec![1, 2], vec![1.0; 2]).unwrap();
    for Entry { name, .. } in ROUTINGS {
        let mut routing = routing(name, 0, &Options::new()).unwrap();
        let error = message(simulate(
            &net,
            &workload,
            routing.as_mut(),
            &mut MaxMinFair::new(),
            &RunSettings::default(),
            &mut (),
        ));
        let expected = match *name {
            "ecmp" => "pair 1 from b to c: there is no route".to_owned(),
            _ => format!("routing {name:?}, flow 1: paths from b to c: there is no route"),
        };
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn an_option_is_named_with_what_is_wrong_with_it() {
    let refused = |name: &str, options: &str| policy(name, &json(options)).err().unwrap().to_string();
    let flowtune = |options: &str| refused("flowtune", options);
    let utility = flowtune(r#"{"utility": "fair"}"#);
    let expected = r#""proportional", "min-fct" or {"alpha-fair": alpha}"#;
    assert_eq!(utility, format!("option \"utility\" of policy \"flowtune\" is \"fair\", expected {expected}"));
    let normalizer = flowtune(r#"{"normalizer": "g-norm"}"#);
    assert!(normalizer.contains(" is \"g-norm\", expected one of \"f-norm\", "), "{normalizer}");
    for (option, value, expected) in [
        ("interval", -1, "a finite number > 0"),
        ("gamma", 0, "a finite number > 0"),
        ("headroom", 1, "a number >= 0 and < 1"),
    ] {
        assert_eq!(
            flowtune(&format!("{{{option:?}: {value}}}")),
            format!("option {option:?} of policy \"flowtune\" is {value}, expected {expected}")
        );
    }
    assert!(flowtune(r#"{"queue": 1}"#).starts_with("method \"ned\" has no option \"queue\""));
    assert!(
        flowtune(r#"{"method": "newton"}"#)
            .contains("\"method\" of policy \"flowtune\" is \"newton\", expected \"fast-ned\", ")
    );
    for name in ["flowtune", "xwi"] {
        assert_eq!(
            refused(name, r#"{"utility": {"alpha-fair": 0}}"#),
            format!("option \"utility.alpha-fair\" of policy {name:?} is 0, expected a finite number > 0")
        );
    }
    assert_eq!(
        refused("proportional", r#"{"tol": 0}"#),
        "option \"tol\" of policy \"proportional\" is 0, expected a finite number > 0"
    );
    assert_eq!(
        refused("alpha-fair", r#"{"alpha": 0}"#),
        "option \"alpha\" of policy \"alpha-fair\" is 0, expected a finite number > 0"
    );
}

#[test]
fn a_policy_has_the_options_that_differ_in_its_name() {
    let name = |name: &str, options: &str| policy(name, &json(options)).unwrap().name().to_owned();
    assert_eq!(name("flowtune", r#"{"interval": null, "gamma": 0.3}"#), "flowtune");
    assert_eq!(name("flowtune", r#"{"method": "fast-ned", "normalizer": "fill"}"#), "flowtune(fast-ned, fill)");
    assert_eq!(name("flowtune", r#"{"normalizer": null}"#), "flowtune(raw)");
    assert_eq!(name("alpha-fair", r#"{"alpha": 0.5}"#), "alpha-fair(0.5)");
}

#[test]
fn a_run_names_the_pair_without_a_route() {
    let backwards = Workload::new(vec![0.0, 0.0], vec![0, 1], vec![1, 0], vec![1.0, 1.0]).unwrap();
    assert!(message(run(&backwards, f64::INFINITY)).starts_with("pair 1 from "));
    let nowhere = Workload::new(vec![0.0], vec![0], vec![7], vec![1.0]).unwrap();
    assert_eq!(message(run(&nowhere, f64::INFINITY)), "flow 0 has destination 7, expected an end from 0 to 1");
    assert_eq!(message(run(&two_flows(), -1.0)), "until is -1, expected a number >= 0");
    assert_eq!(message(run(&two_flows(), f64::NEG_INFINITY)), "until is -inf, expected a number >= 0");
    assert_eq!(message(run(&two_flows(), f64::NAN)), "until is NaN, expected a number >= 0");
}

#[test]
fn no_flows_give_an_empty_report() {
    let report = run(&Workload::default(), f64::INFINITY).unwrap();
    assert_eq!((report.status.name(), report.ended(), report.events, report.time), ("finished", 0, 0, 0.0));
    assert!(report.completion_times.is_empty() && report.mean_slowdown().is_nan());
    assert_eq!(report.link_bytes, [0.0]);
    assert!(report.to_string().starts_with("Report(finished, 0 flows, max-min over ecmp"), "{report}");
    let summary = report.summary();
    assert!(summary.lines().any(|line| line.split_whitespace().eq(["all", "0"])), "{summary}");
}

#[test]
fn time_may_be_up_before_all_flows_have_ended() {
    // The first flow is alone for half a second, then both share the link.
    let report = run(&two_flows(), 1.0).unwrap();
    assert_eq!((report.status.name(), report.ended(), report.time), ("time_up", 0, 1.0));
    assert_eq!(report.bytes_sent, [0.75e6, 0.25e6]);
    assert_eq!((report.link_bytes[0], report.link_utilization[0]), (1e6, 1.0));
    let report = run(&two_flows(), f64::INFINITY).unwrap();
    assert_eq!(report.completion_times, [1.5, 1.5]);
    assert_eq!(report.slowdowns, [1.5, 1.5]);
    assert_eq!([0.0, 1.0].map(|fraction| report.slowdown_quantile(fraction)), [1.5, 1.5]);
    assert!([99.0, -0.1, f64::NAN].iter().all(|&fraction| report.slowdown_quantile(fraction).is_nan()));
    assert_eq!((report.time, report.ended(), report.peak_loads[0]), (2.0, 2, 8e6));
}

#[test]
fn an_observer_may_stop_a_run() {
    struct Third(usize);
    impl RunObserver for Third {
        fn pause(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
        fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
            assert!(progress.ended <= progress.arrived && progress.arrived <= progress.flows);
            self.0 += 1;
            if self.0 == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let run = RunSettings::default();
    let report =
        simulate(&link(), &two_flows(), &mut Ecmp::new(0), &mut MaxMinFair::new(), &run, &mut Third(0)).unwrap();
    assert_eq!((report.status.name(), report.events, report.ended()), ("stopped", 3, 1));
}

/// Returns for every allocation the same rate and clock, and awaits the same of every flow.
struct Broken {
    rate: f64,
    wake: f64,
    awaited: f64,
}

impl Policy for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    fn begin_run(&mut self, _net: &Topology, _workload: &Workload) -> Result<()> {
        Ok(())
    }
    fn changed(&mut self, _event: Event, _flows: &Flows) -> Result<()> {
        Ok(())
    }
    fn allocate(&mut self, _now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        for &slot in flows.active() {
            rates.set(slot, self.rate);
            rates.await_sent(slot, self.awaited);
        }
        Ok(self.wake)
    }
}

#[test]
fn a_policy_is_held_to_its_promises() {
    let run = |rate, wake| {
        let mut policy = Broken { rate, wake, awaited: f64::INFINITY };
        simulate(&link(), &two_flows(), &mut Ecmp::new(0), &mut policy, &RunSettings::default(), &mut ())
    };
    let expected = "policy \"broken\" gave flow 0 the rate NaN, expected a finite number >= 0";
    assert_eq!(message(run(f64::NAN, f64::INFINITY)), expected);
    assert!(matches!(run(-1.0, f64::INFINITY), Err(Error::Policy { .. })));
    assert_eq!(message(run(1.0, 0.0)), "policy \"broken\" set its next call to 0, which is not after 0");
    let await_sent = |awaited| {
        let mut policy = Broken { rate: 8e6, wake: f64::INFINITY, awaited };
        simulate(&link(), &two_flows(), &mut Ecmp::new(0), &mut policy, &RunSettings::default(), &mut ())
    };
    let expected = "policy \"broken\" awaits NaN bits of flow 0, expected a number";
    assert_eq!(message(await_sent(f64::NAN)), expected);
    // It has been told, and awaits that again.
    let error = await_sent(8.0).unwrap_err();
    assert!(matches!(error, Error::StandsStill { .. }), "{error}");
    assert!(error.to_string().contains("flow 0, which has sent what policy \"broken\" awaits"), "{error}");
    // One that overloads links is no error, but the report has the overload: 8 Mbit/s above for the half second in
    // which both flows are active, in a run of one and a half.
    let report = run(8e6, f64::INFINITY).unwrap();
    assert_eq!(report.completion_times, [1.0, 1.0]);
    assert!((report.over_allocation - 8e6 * 0.5 / 1.5).abs() < 1e-3, "{}", report.over_allocation);
    assert!(report.to_string().contains(", links overloaded by 0.003 Gbit/s in the mean, broken"), "{report}");
    assert_eq!(report.peak_loads, [16e6]);
}

/// A policy with these numbers for every flow.
#[derive(Clone, Copy)]
struct Odd {
    level: usize,
    until: Until,
    key: f64,
    slope: f64,
}

const EVEN: Odd = Odd { level: 0, until: Until::End, key: 1.0, slope: -1.0 };

impl Levels for Odd {
    fn name(&self) -> &str {
        "odd"
    }
    fn levels(&self) -> usize {
        2
    }
    fn level(&self, _slot: u32, _sent: f64, _flows: &Flows, _now: f64) -> usize {
        self.level
    }
    fn until(&self, _slot: u32, _level: usize, _flows: &Flows, _now: f64) -> Until {
        self.until
    }
}

impl Key for Odd {
    fn name(&self) -> &str {
        "odd"
    }
    fn key(&self, _slot: u32, _flows: &Flows, _now: f64) -> f64 {
        self.key
    }
    fn slope(&self, _slot: u32, _flows: &Flows, _rate: f64) -> f64 {
        self.slope
    }
}

#[test]
fn levels_and_keys_are_held_to_their_range() {
    let run = |policy: &mut dyn Policy| {
        simulate(&link(), &two_flows(), &mut Ecmp::new(0), policy, &RunSettings::default(), &mut ())
    };
    let level = |odd: Odd| run(&mut Strict::by(odd));
    let key = |odd: Odd| run(&mut Ordered::by(odd));
    assert_eq!(level(EVEN).unwrap().ended(), 2);
    assert_eq!(key(EVEN).unwrap().ended(), 2);
    for (found, says) in [
        (level(Odd { level: 2, ..EVEN }), "gave flow 0 the level 2 at 0 s, expected one below 2"),
        (
            level(Odd { level: usize::MAX, ..EVEN }),
            "gave flow 0 the level 18446744073709551615 at 0 s, expected one below 2",
        ),
        (
            level(Odd { until: Until::Time(f64::NAN), ..EVEN }),
            "sets no time for the next level of flow 0 after 0 s: the time is NaN, as for an interval shorter \
             than the clock can tell apart",
        ),
        (key(Odd { key: f64::NAN, ..EVEN }), "gave flow 0 the key NaN at 0 s, expected a number"),
        (key(Odd { slope: f64::NAN, ..EVEN }), "has a key of slope NaN for flow 0 at 0 s, expected a number <= 0"),
        (key(Odd { slope: 1.0, ..EVEN }), "has a key of slope 1 for flow 0 at 0 s, expected a number <= 0"),
    ] {
        assert!(matches!(found, Err(Error::Policy { .. })));
        assert_eq!(message(found), format!("policy \"odd\" {says}"));
    }
    // Keys that are the same for ever, and of any size, are an order.
    for key in [f64::NEG_INFINITY, f64::INFINITY, f64::MAX, 0.0] {
        assert_eq!(run(&mut Ordered::by(Odd { key, slope: 0.0, ..EVEN })).unwrap().ended(), 2, "{key}");
    }
}

/// Gives every flow the same route.
struct Astray(Vec<(Vec<u32>, f64)>);

impl Routing for Astray {
    fn name(&self) -> &str {
        "astray"
    }
    fn begin_run(&mut self, _net: &Topology, _workload: &Workload) -> Result<()> {
        Ok(())
    }
    fn route(&mut self, _flow: usize, _now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        route.spread(self.0.iter().map(|(path, weight)| (path.as_slice(), *weight)));
        Ok(())
    }
}

#[test]
fn a_routing_is_held_to_its_promises() {
    let run = |paths: &[(&[u32], f64)]| {
        let mut routing = Astray(paths.iter().map(|&(path, weight)| (path.to_vec(), weight)).collect());
        message(simulate(&link(), &two_flows(), &mut routing, &mut MaxMinFair::new(), &RunSettings::default(), &mut ()))
    };
    assert_eq!(run(&[]), "routing \"astray\": flow 0 got a route without links");
    assert_eq!(run(&[(&[3], 1.0)]), "routing \"astray\": flow 0 got a route over link 3, expected a link below 1");
    assert_eq!(
        run(&[(&[0], 0.4), (&[0], 0.5)]),
        "routing \"astray\": flow 0 got weights over paths that add up to 0.9, expected 1"
    );
    assert_eq!(
        run(&[(&[0], -1.0)]),
        "routing \"astray\": flow 0 got a route with fraction -1 of link 0, expected a number > 0 and <= 1"
    );
}

/// Moves the flow in a slot, whether there is one or not, to a path.
struct Mover {
    ecmp: Ecmp,
    slot: u32,
    path: Vec<u32>,
}

impl Routing for Mover {
    fn name(&self) -> &str {
        "mover"
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.ecmp.begin_run(net, workload)
    }
    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        self.ecmp.route(flow, now, route)
    }
    fn balance(&mut self, _now: &NetworkState<'_>, _flows: &Flows, moves: &mut Moves) -> Result<()> {
        let mut route = Route::default();
        route.take(&self.path);
        moves.set(self.slot, route);
        Ok(())
    }
}

#[test]
fn a_routing_moves_only_flows_that_are_there() {
    let mut mover = Mover { ecmp: Ecmp::new(0), slot: 9, path: vec![0] };
    let error = simulate(&link(), &two_flows(), &mut mover, &mut MaxMinFair::new(), &RunSettings::default(), &mut ());
    assert!(matches!(error, Err(Error::Routing { .. })), "{error:?}");
    assert_eq!(message(error), "routing \"mover\": moved slot 9, where no flow is");
}

#[test]
fn a_route_joins_the_ends_of_its_flow() {
    // The links are 0: a→b, 1: b→a, 2: b→c, 3: c→b, 4: a→c, 5: c→a.
    let net = Topology::from_edges("a b 8e6\nb c 8e6\na c 8e6").unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0, 0], vec![2, 2], vec![1e6; 2]).unwrap();
    let run = |paths: &[(&[u32], f64)]| {
        let mut routing = Astray(paths.iter().map(|&(path, weight)| (path.to_vec(), weight)).collect());
        simulate(&net, &workload, &mut routing, &mut MaxMinFair::new(), &RunSettings::default(), &mut ())
    };
    for (paths, says) in [
        (&[(&[0][..], 1.0)][..], "lost at b"),
        (&[(&[2], 1.0)], "comes from nowhere at b"),
        (&[(&[1], 1.0)], "comes from nowhere at b"),
        (&[(&[5], 1.0)], "comes from nowhere at c"),
        (&[(&[4, 2], 1.0)], "lost at c"),
    ] {
        let expected = "routing \"astray\": flow 0 got a route that does not lead from a to c: a fraction of";
        let found = message(run(paths));
        assert!(found.starts_with(expected) && found.ends_with(says), "{paths:?}: {found}");
    }
    assert_eq!(
        message(run(&[(&[0], 0.25), (&[4], 0.75)])),
        "routing \"astray\": flow 0 got a route that does not lead from a to c: a fraction of 0.25 is lost at b"
    );
    // So it is of a flow that moves.
    let mut mover = Mover { ecmp: Ecmp::new(0), slot: 0, path: vec![0] };
    assert_eq!(
        message(simulate(&net, &workload, &mut mover, &mut MaxMinFair::new(), &RunSettings::default(), &mut ())),
        "routing \"mover\": flow 0 got a route that does not lead from a to c: a fraction of 1 is lost at b"
    );
    assert_eq!(
        message(run(&[(&[4, 5, 4], 1.0)])),
        "routing \"astray\": flow 0 got a route with fraction 2 of link 4, expected a number > 0 and <= 1"
    );
    // Both ways at once.
    let report = run(&[(&[0, 2], 0.5), (&[4], 0.5)]).unwrap();
    assert_eq!(report.completion_times, [1.0, 1.0]);
}

#[test]
fn a_given_path_leads_from_the_source_of_its_flow_to_the_destination() {
    // The links are 0: a→b, 1: b→a, 2: b→c, 3: c→b.
    let net = Topology::from_edges("a b 8e6\nb c 8e6").unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0, 0], vec![2, 2], vec![1e6; 2]).unwrap();
    let run = |rows: &[&[(u32, f64)]]| {
        let (mut indptr, entries) = (vec![0], rows.concat());
        rows.iter().for_each(|row| indptr.push(indptr[indptr.len() - 1] + row.len()));
        let (links, coefficients) = entries.into_iter().unzip();
        let mut routing = GivenPaths::new(Paths::with_coefficients(indptr, links, coefficients).unwrap());
        simulate(&net, &workload, &mut routing, &mut MaxMinFair::new(), &RunSettings::default(), &mut ())
    };
    let good: &[(u32, f64)] = &[(2, 0.5), (0, 2.0)];
    assert_eq!(message(run(&[good])), "paths has 1 entries, expected 2, one per flow");
    let astray = "routing \"paths\": flow 1 got a route";
    let lost = format!("{astray} whose links do not lead from a to c");
    assert_eq!(message(run(&[good, &[(0, 0.5), (3, 0.5)]])), lost);
    assert_eq!(message(run(&[good, &[(2, 0.5), (1, 0.5)]])), lost);
    assert_eq!(message(run(&[good, &[(7, 0.5)]])), format!("{astray} over link 7, expected a link below 4"));
    // Of ones it is a walk.
    let backwards = message(run(&[good, &[(3, 1.0), (1, 1.0)]]));
    assert_eq!(backwards, format!("{astray} that does not lead from a to c: a fraction of 2 comes from nowhere at c"));
    // Both flows get 8/3 Mbit/s where a bit of each counts twice, and less there than over the other link.
    let report = run(&[good, &[(0, 1.0), (2, 1.0)]]).unwrap();
    assert!((report.completion_times[0] - 3.0).abs() < 1e-9, "{:?}", report.completion_times);
}
