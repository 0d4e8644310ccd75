//! Flows whose bytes are produced while they run.

use std::ops::ControlFlow;

use netnum_core::{Options, Topology};
use netnum_sim::internal::{Ordered, Srpt};
use netnum_sim::{
    Ecmp, Ideal, MaxMinFair, Pairs, Poisson, Policy, Production, Report, RunProgress, RunSettings, Sizes, Workload,
    policy, simulate,
};

/// Flows over one link of 10 Gbit/s: arrival, megabytes, Gbit/s that are produced.
fn run(flows: &[(f64, f64, f64)], buffer: f64, policy: &mut dyn Policy) -> Report {
    let net = Topology::single_link(10e9).unwrap();
    let column = |of: fn(&(f64, f64, f64)) -> f64| flows.iter().map(of).collect::<Vec<f64>>();
    let ends = |end| vec![end; flows.len()];
    let workload = Workload::new(column(|flow| flow.0), ends(0), ends(1), column(|flow| 1e6 * flow.1)).unwrap();
    let production = Production::new(column(|flow| 1e9 * flow.2), buffer).unwrap();
    let workload = workload.with_production(production).unwrap();
    let report = simulate(&net, &workload, &mut Ecmp::new(0), policy, &RunSettings::default(), &mut ()).unwrap();
    assert_eq!(report.bytes_sent, workload.sizes());
    assert!((report.link_bytes[0] / workload.sizes().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(report.peak_loads[0] <= 10e9 * (1.0 + 1e-12), "{}", report.peak_loads[0]);
    report
}

fn expect(report: &Report, times: &[f64]) {
    for (time, expected) in report.completion_times.iter().zip(times) {
        assert!((time - expected).abs() < 1e-9 * expected, "{:?} and {times:?}", report.completion_times);
    }
}

#[test]
fn a_flow_alone_is_as_fast_as_its_application() {
    expect(&run(&[(0.0, 100.0, 5.0)], f64::INFINITY, &mut MaxMinFair::new()), &[0.16]);
    expect(&run(&[(0.0, 100.0, 20.0)], f64::INFINITY, &mut MaxMinFair::new()), &[0.08]);
    expect(&run(&[(0.0, 100.0, 20.0)], 1e6, &mut MaxMinFair::new()), &[0.08]);
}

#[test]
fn a_backlog_is_sent_at_more_than_the_application_produces() {
    // Half of the link each until the first ends at 0.16 s; by then 100 MB of the second are sent and all of it is
    // produced, so that the rest goes at the whole link.
    let flows = [(0.0, 100.0, 5.0), (0.0, 150.0, 10.0)];
    expect(&run(&flows, f64::INFINITY, &mut MaxMinFair::new()), &[0.16, 0.20]);
    expect(&run(&flows, f64::INFINITY, &mut Ordered::by(Srpt::new())), &[0.16, 0.20]);
    // The same with 4 Gbit/s for the first, the second producing 8: 4 + 6 until 0.2 s. By then 150 MB are sent.
    let flows = [(0.0, 100.0, 4.0), (0.0, 190.0, 8.0)];
    // All of its 190 MB are produced at 0.19 s; 40 MB are left at 0.2 s.
    expect(&run(&flows, f64::INFINITY, &mut MaxMinFair::new()), &[0.2, 0.232]);
    // With room for 1 MB it is full after 1 MB / (2 Gbit/s) = 4 ms and then waits for the network: at 0.2 s there is a
    // backlog of 1 MB, which is sent at 10 Gbit/s while 8 are produced, for 4 ms. The rest goes as it is produced.
    let first = 0.2 * 6e9;
    let backlog = 8e6 / 2e9;
    let rest = (190.0 * 8e6 - first - backlog * 10e9) / 8e9;
    expect(&run(&flows, 1e6, &mut MaxMinFair::new()), &[0.2, 0.2 + backlog + rest]);
}

#[test]
fn a_cap_returns_when_the_backlog_is_gone() {
    // A produces 2 Gbit/s and has the link for itself; B, of 10 Gbit/s, takes half of it from 0.1 to 0.2 s or so. A
    // never has less than it produces, and B gets what is left.
    let report = run(&[(0.0, 100.0, 2.0), (0.1, 100.0, 10.0)], f64::INFINITY, &mut MaxMinFair::new());
    expect(&report, &[0.4, 0.1]);
}

#[test]
fn wrong_production_names_the_flow() {
    let message = |rates: &[f64], buffer| Production::new(rates.to_vec(), buffer).unwrap_err().to_string();
    assert_eq!(message(&[1.0, -2.0], 1.0), "flow 1 has production rate -2, expected a finite number > 0");
    assert_eq!(message(&[1.0], -1.0), "send buffer is -1, expected a number > 0");
    let one = Workload::new(vec![0.0], vec![0], vec![1], vec![1.0]).unwrap();
    let two = Production::new(vec![1.0; 2], f64::INFINITY).unwrap();
    assert_eq!(one.with_production(two).unwrap_err().to_string(), "production has 2 entries, expected 1, one per flow");
    let drawn =
        |median, sigma, bounds| Production::log_normal(3, median, sigma, bounds, 1e6, 1).map(|it| it.rates().to_vec());
    assert!(drawn(1e9, 1.0, (1e8, 1e10)).unwrap().iter().all(|rate| (1e8..=1e10).contains(rate)));
    assert_eq!(drawn(-1.0, 1.0, (0.0, 1.0)).unwrap_err().to_string(), "median is -1, expected a finite number > 0");
    assert_eq!(drawn(1.0, -1.0, (0.0, 1.0)).unwrap_err().to_string(), "sigma is -1, expected a finite number >= 0");
    let far = drawn(1e9, 0.1, (1e3, 1e4)).unwrap_err().to_string();
    let likely = "expected some that rates with median 1000000000 and sigma 0.1 are likely to lie between";
    assert_eq!(far, format!("bounds is 1000 to 10000, {likely}"));
}

/// A solve to a gap leaves a flow that only its cap holds back a little short of it, of which no clock may stand still.
#[test]
fn the_exact_optimum_and_xwi_get_on_with_sources() {
    let net = Topology::leaf_spine(2, 4, 2, 10e9, 10e9).unwrap();
    let arrivals = Poisson::new(Sizes::web_search(), 0.8).with_flows(300);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 3).unwrap();
    let production = Production::log_normal(300, 5e9, 1.0, (1e8, 1e11), f64::INFINITY, 3).unwrap();
    let workload = workload.with_production(production).unwrap();
    for name in ["max-min", "proportional", "min-fct", "xwi"] {
        let mut policy = policy(name, &Options::new()).unwrap();
        let run = RunSettings::default().with_until(10.0);
        let mut calls = 0;
        let mut stop = |_: &RunProgress| {
            calls += 1;
            if calls < 500 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let report = simulate(&net, &workload, &mut Ecmp::new(1), policy.as_mut(), &run, &mut stop).unwrap();
        assert_eq!((report.status.name(), report.ended()), ("finished", 300), "{report}");
    }
}

/// A backlog of more than a packet is one to every policy, and is sent as soon as there is room.
#[test]
fn an_optimum_sends_a_backlog_as_fair_sharing_does() {
    let flows = [(0.0, 50.0, 4.0), (0.0, 10.0, 1e6), (0.0, 10.0, 1e6)];
    let fair = run(&flows, f64::INFINITY, &mut MaxMinFair::new()).completion_times;
    let optimum = run(&flows, f64::INFINITY, &mut Ideal::proportional()).completion_times;
    for (time, expected) in optimum.iter().zip(&fair) {
        assert!((time - expected).abs() < 1e-4 * expected, "{optimum:?} and {fair:?}");
    }
}
