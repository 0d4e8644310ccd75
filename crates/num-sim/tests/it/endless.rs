//! Flows that are very large, and flows that never end.

use netnum_core::{Options, Topology};
use netnum_sim::{
    CapacityChange, Ecmp, Error, MaxMinFair, POLICIES, Production, Report, RunSettings, RunStatus, Workload,
};
use netnum_sim::{policy, simulate};

/// Two senders to one receiver of 100 Gbit/s, with flows of some sizes.
fn senders(sizes: &[f64]) -> Workload {
    let sources = (0..sizes.len()).map(|flow| flow % 2).collect();
    Workload::new(vec![0.0; sizes.len()], sources, vec![2; sizes.len()], sizes.to_vec()).unwrap()
}

fn run_until(workload: &Workload, name: &str, until: f64) -> Result<Report, Error> {
    let net = Topology::star(3, 100e9).unwrap();
    let run = RunSettings::default().with_until(until);
    simulate(&net, workload, &mut Ecmp::new(1), policy(name, &Options::new())?.as_mut(), &run, &mut ())
}

#[test]
fn what_was_sent_is_right_whatever_the_size() {
    for size in [1e9, 1e16, 1e22, 1e25, 1e100, f64::INFINITY] {
        let report = run_until(&senders(&[size; 2]), "max-min", 0.01).unwrap();
        assert_eq!(report.status, RunStatus::TimeUp);
        for sent in report.bytes_sent {
            assert!((sent / (50e9 * 0.01 / 8.0) - 1.0).abs() < 1e-12, "{sent} bytes of {size}");
        }
        let utilization = report.link_utilization[3 + 2];
        assert!((utilization - 1.0).abs() < 1e-12, "{utilization} of {size}");
    }
}

#[test]
fn under_every_policy_an_endless_flow_is_one_of_more_bytes_than_it_can_send() {
    // Beside flows that end, and from applications that are slow, with all policies that take it.
    for entry in POLICIES {
        let sent = |size: f64, slow: bool| {
            let workload = senders(&[size, 2e6, size, 3e6]);
            let workload = match slow {
                true => workload.with_production(Production::new(vec![9e9, 20e9, 40e9, 5e9], f64::INFINITY).unwrap()),
                false => Ok(workload),
            };
            run_until(&workload.unwrap(), entry.name, 0.004)
        };
        for slow in [false, true] {
            let (report, large) = (sent(f64::INFINITY, slow), sent(1e15, slow).unwrap());
            if entry.name == "min-fct" {
                let message = report.unwrap_err().to_string();
                let expected = r#"policy "min-fct" cannot take flow 0 of size inf, which never ends"#;
                assert!(message.starts_with(expected), "{message}");
                continue;
            }
            let report = report.unwrap();
            // In bits: NaN where it has not ended.
            let ended = [&report, &large].map(|report| report.completion_times[1].to_bits());
            assert_eq!(ended[0], ended[1], "{}", entry.name);
            for (sent, expected) in report.bytes_sent.iter().zip(&large.bytes_sent) {
                let name = entry.name;
                assert!((sent - expected).abs() <= 1e-9 * expected.max(1.0), "{name}: {sent} and {expected}");
            }
            assert!(report.link_bytes.iter().all(|bytes| bytes.is_finite()));
        }
    }
}

#[test]
fn a_clock_ticks_on_while_an_endless_flow_sends() {
    // 10 µs from tick to tick: more ticks than a run has in which nothing is sent.
    let report = run_until(&senders(&[f64::INFINITY]), "flowtune", 0.15).unwrap();
    assert_eq!(report.status, RunStatus::TimeUp);
    assert!(report.bytes_sent[0] > 0.98 * 0.15 * 100e9 / 8.0, "{}", report.bytes_sent[0]);
}

#[test]
fn an_endless_flow_over_a_failed_link_sends_nothing() {
    let net = Topology::star(3, 100e9).unwrap();
    let fails = CapacityChange { time: 0.0, link: 5, capacity: 0.0 };
    let run = RunSettings::default().with_until(1.0).with_changes(vec![fails]);
    let workload = senders(&[f64::INFINITY]);
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!((report.status, report.bytes_sent), (RunStatus::TimeUp, vec![0.0]));
}

#[test]
fn endless_flows_need_a_time() {
    for size in [f64::INFINITY, 1e308] {
        let message = run_until(&senders(&[1e6, size]), "max-min", f64::INFINITY).unwrap_err().to_string();
        let expected =
            format!("until is inf, expected the seconds to simulate, since flow 1 of size {size} never ends");
        assert_eq!(message, expected);
    }
}

#[test]
fn endless_flows_are_written_and_read() {
    let workload = senders(&[1e6, f64::INFINITY]);
    assert_eq!(Workload::from_csv(&workload.to_csv().unwrap()).unwrap(), workload);
    let json = serde_json::to_string(&workload).unwrap();
    assert!(json.contains("[1000000.0,null]"), "{json}");
    assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
}

#[test]
fn mean_rates_are_long_run_rates_after_the_warmup() {
    // One link of 8 Mbit/s: an endless flow alone for a second, with another one for two, alone again for one.
    let net = Topology::single_link(8e6).unwrap();
    let workload = Workload::new(vec![0.0, 1.0, 9.0], vec![0; 3], vec![1; 3], vec![f64::INFINITY, 1e6, 1.0]).unwrap();
    let rates = |warmup: f64| {
        let run = RunSettings::default().with_until(4.0).with_warmup(warmup);
        let report = simulate(&net, &workload, &mut Ecmp::new(0), &mut MaxMinFair::new(), &run, &mut ());
        report.unwrap().mean_rates
    };
    for (warmup, first, second) in [(0.0, 6e6, 4e6), (0.5, 40e6 / 7.0, 4e6), (2.0, 6e6, 4e6), (3.5, 8e6, f64::NAN)] {
        let found = rates(warmup);
        let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other || (one.is_nan() && other.is_nan());
        assert!(close(found[0], first) && close(found[1], second), "warmup {warmup}: {found:?}");
        assert!(found[2].is_nan(), "it has not started: {found:?}");
    }
}
