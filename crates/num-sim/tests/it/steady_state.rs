//! What of a run counts: the warmup, and whether later flows are slower than earlier ones.

use netnum_core::Topology;
use netnum_sim::{Ecmp, MaxMinFair, Pairs, Poisson, Report, RunSettings, RunStatus, Sizes, Workload, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A run over one link of 1 Gbit/s.
fn one_link(load: f64, flows: usize, seed: u64, run: &RunSettings) -> Report {
    let net = Topology::single_link(1e9).unwrap();
    let arrivals = Poisson::new(Sizes::exponential(1e5).unwrap(), load).with_flows(flows);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Listed(vec![(0, 1)]), seed).unwrap();
    simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), run, &mut ()).unwrap()
}

/// A report of flows with some slowdowns, that arrive one a second.
fn of_slowdowns(slowdowns: Vec<f64>) -> Report {
    let flows = slowdowns.len();
    let arrivals = (0..flows).map(|flow| flow as f64).collect();
    let workload = Workload::new(arrivals, vec![0; flows], vec![1; flows], vec![1.0; flows]).unwrap();
    let mut report = Report::new(RunStatus::Finished, workload);
    (report.completion_times, report.slowdowns) = (slowdowns.clone(), slowdowns);
    report
}

/// Slowdowns with a heavy tail: the square root of their survival function is one over them.
fn heavy(flows: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..flows).map(|_| (1.0 - rng.random::<f64>()).powf(-0.5)).collect()
}

#[test]
fn a_warmup_leaves_out_what_was_before_it() {
    let (warmup, until) = (0.05, 0.2);
    let plain = one_link(0.7, 3000, 2, &RunSettings::default().with_until(until));
    let report = one_link(0.7, 3000, 2, &RunSettings::default().with_until(until).with_warmup(warmup));
    let before = one_link(0.7, 3000, 2, &RunSettings::default().with_until(warmup));
    // What happens is the same, bit for bit.
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&report.slowdowns), bits(&plain.slowdowns));
    assert_eq!(bits(&report.bytes_sent), bits(&plain.bytes_sent));
    assert_eq!(report.events, plain.events);
    // The totals of the link are those of the time between.
    let bytes = plain.link_bytes[0] - before.link_bytes[0];
    assert!((report.link_bytes[0] / bytes - 1.0).abs() < 1e-12, "{} and {bytes}", report.link_bytes[0]);
    let used = 8.0 * bytes / (1e9 * (until - warmup));
    assert!((report.link_utilization[0] - used).abs() < 1e-12, "{} and {used}", report.link_utilization[0]);
    // And means those of the flows that arrived since.
    let arrivals = report.workload.arrivals();
    let ended = |flow: &usize| arrivals[*flow] >= warmup && !report.slowdowns[*flow].is_nan();
    let counted: Vec<f64> = (0..arrivals.len()).filter(ended).map(|flow| report.slowdowns[flow]).collect();
    let mean = counted.iter().sum::<f64>() / counted.len() as f64;
    assert!((report.mean_slowdown() / mean - 1.0).abs() < 1e-12 && counted.len() < report.ended());
    assert!(report.to_string().contains(" after the warmup, mean slowdown "), "{report}");
    let summary = report.summary();
    let row = summary.lines().find(|line| line.starts_with("all ")).expect("a row of all");
    assert_eq!(row.split_whitespace().nth(1), Some(counted.len().to_string().as_str()), "{summary}");
}

#[test]
fn a_run_that_is_over_before_its_warmup_counts_nothing() {
    let report = one_link(0.5, 10, 1, &RunSettings::default().with_warmup(1e3));
    assert_eq!((report.status, report.ended()), (RunStatus::Finished, 10));
    assert!(report.mean_slowdown().is_nan() && report.link_utilization[0].is_nan());
    assert_eq!((report.link_bytes[0], report.over_allocation, report.overloads()), (0.0, 0.0, false));
    assert!(report.to_string().contains("10 flows, 0 after the warmup, max-min"), "{report}");
}

#[test]
fn a_warmup_out_of_its_range_is_an_error() {
    let net = Topology::single_link(1e9).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![1.0]).unwrap();
    for (warmup, until, message) in [
        (-1.0, f64::INFINITY, "warmup is -1, expected a finite number >= 0"),
        (f64::INFINITY, f64::INFINITY, "warmup is inf, expected a finite number >= 0"),
        (f64::NAN, 2.0, "warmup is NaN, expected a finite number >= 0 and <= until, 2"),
        (3.0, 2.0, "warmup is 3, expected a finite number >= 0 and <= until, 2"),
    ] {
        let run = RunSettings::default().with_until(until).with_warmup(warmup);
        let error = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn slowdowns_that_rise_are_told_and_those_that_do_not_are_not() {
    let rising = |flows: usize| (0..flows).map(|flow| 1.0 + flow as f64).collect::<Vec<f64>>();
    assert_eq!(of_slowdowns(rising(200)).slowing_down(), Some((50.5, 150.5)));
    assert_eq!(of_slowdowns(rising(199)).slowing_down(), None, "too few");
    let falling = rising(400).into_iter().rev().collect();
    assert_eq!(of_slowdowns(falling).slowing_down(), None);
    assert_eq!(of_slowdowns(vec![2.0; 400]).slowing_down(), None);
    let hardly = (0..400).map(|flow| 1.0 + 1e-4 * f64::from(flow)).collect();
    assert_eq!(of_slowdowns(hardly).slowing_down(), None, "by less than 10 %");
    // A first tenth that is faster is a short beginning of a long run.
    let beginning = (0..4000).map(|flow| if flow < 200 { 1.0 } else { 2.0 + f64::from(flow % 7) }).collect();
    assert_eq!(of_slowdowns(beginning).slowing_down(), None);
    // Flows that have not ended do not count.
    let mut some = rising(400);
    some.iter_mut().step_by(2).for_each(|slowdown| *slowdown = f64::NAN);
    assert!(of_slowdowns(some).slowing_down().is_some());
    let report = of_slowdowns(rising(200));
    assert!(report.to_string().contains("later flows slower (50.500 then 150.500)"), "{report}");
    assert!(report.summary().contains("Later flows are slower than earlier ones"), "{}", report.summary());
}

#[test]
fn flows_that_arrive_together_have_no_order() {
    let mut report = of_slowdowns((0..400).map(|flow| 1.0 + f64::from(flow)).collect());
    let slowdowns = std::mem::take(&mut report.slowdowns);
    let together = Workload::new(vec![0.0; 400], vec![0; 400], vec![1; 400], vec![1.0; 400]).unwrap();
    let mut report = Report::new(RunStatus::Finished, together);
    report.slowdowns = slowdowns;
    assert_eq!(report.slowing_down(), None);
}

#[test]
fn independent_slowdowns_with_a_heavy_tail_hardly_ever_seem_to_rise() {
    // One in a thousand, and the means have to differ as well: of 3000 fewer than 10.
    let alarms = (0..3000).filter(|&seed| of_slowdowns(heavy(400, seed)).slowing_down().is_some()).count();
    assert!(alarms < 10, "{alarms} of 3000");
}

#[test]
fn a_steady_state_is_none_of_a_link_that_is_overloaded_or_was_empty() {
    let run = RunSettings::default();
    let alarms = |load: f64, run: &RunSettings| {
        (0..20).filter(|&seed| one_link(load, 4000, seed, run).slowing_down().is_some()).count()
    };
    assert_eq!(alarms(1.3, &run), 20, "overloaded");
    // At half the load the network has filled after some tens of flows.
    assert!(alarms(0.5, &run) <= 1, "in a steady state");
    assert!(alarms(0.5, &run.with_warmup(0.1)) <= 1, "in a steady state from the beginning");
}
