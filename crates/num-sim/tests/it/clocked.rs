//! The allocator on a clock: what it converges to, how soon, and never too much.

use netnum_core::{Normalization, Options, Topology};
use netnum_sim::{
    CapacityChange, Clocked, ClockedOptions, Ecmp, Ideal, POLICIES, Pairs, Poisson, Report, RunSettings, RunStatus,
    Sizes, Workload, policy, simulate,
};

fn run(net: &Topology, workload: &Workload, policy: &mut dyn netnum_sim::Policy) -> Report {
    simulate(net, workload, &mut Ecmp::new(1), policy, &RunSettings::default(), &mut ()).unwrap()
}

const TICK: Option<f64> = Some(10e-6);
const AT_EVENTS: Option<f64> = None;

fn flowtune(interval: Option<f64>, normalizer: Option<Normalization>) -> Clocked {
    let options =
        ClockedOptions::default().with_interval(interval).with_normalizer(normalizer).with_update_threshold(0.0);
    Clocked::new(options).unwrap()
}

/// Five senders and one receiver of 10 Gbit/s, one more every 10 ms: figure 8 of Flowtune. Fair within 100 µs of every
/// change, so that what each has sent differs from its fair share by that much only.
#[test]
fn senders_share_a_receiver_within_100_us_of_every_change() {
    let net = Topology::leaf_spine(2, 8, 4, 10e9, 40e9).unwrap();
    let (arrivals, size) = ([0.0, 0.01, 0.02, 0.03, 0.04], 30e6);
    let workload = Workload::new(arrivals.to_vec(), vec![0, 1, 2, 3, 4], vec![8; 5], vec![size; 5]).unwrap();
    let fair = run(&net, &workload, &mut Ideal::proportional());
    for normalization in [Normalization::FNorm, Normalization::Fill] {
        let report = run(&net, &workload, &mut flowtune(TICK, Some(normalization)));
        for (time, fair) in report.completion_times.iter().zip(&fair.completion_times) {
            assert!(*time >= fair - 1e-3 && *time <= fair + 1e-3, "{normalization:?}: {time} and {fair}");
        }
        assert!(report.over_allocation <= 1e-9 * 10e9, "{}", report.over_allocation);
    }
}

#[test]
fn an_iteration_at_every_event_keeps_near_the_optimum() {
    let net = Topology::leaf_spine(4, 8, 2, 10e9, 40e9).unwrap();
    let arrivals = Poisson::new(Sizes::web_search(), 0.5).with_flows(1500);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 3).unwrap();
    let mean = |report: &Report| report.slowdowns.iter().sum::<f64>() / report.slowdowns.len() as f64;
    let best = mean(&run(&net, &workload, &mut Ideal::proportional()));
    let at_events = run(&net, &workload, &mut flowtune(AT_EVENTS, Some(Normalization::Fill)));
    assert!((mean(&at_events) / best - 1.0).abs() < 0.1, "{} and {best}", mean(&at_events));
    // Nothing normalizes here, and links are over capacity for a while.
    let raw = run(&net, &workload, &mut flowtune(TICK, None));
    assert!(raw.over_allocation > 0.0);
    // The same seeds, the same times.
    let again = run(&net, &workload, &mut flowtune(AT_EVENTS, Some(Normalization::Fill)));
    assert_eq!(at_events.completion_times, again.completion_times);
}

#[test]
fn a_clock_that_stands_still_and_a_method_without_a_rule_are_errors() {
    let net = Topology::single_link(10e9).unwrap();
    let refused = |options: ClockedOptions| Clocked::new(options).unwrap_err().to_string();
    let still = refused(ClockedOptions::default().with_interval(Some(0.0)));
    assert_eq!(still, "interval is 0, expected a finite number > 0");
    let late = Workload::new(vec![1e12], vec![0], vec![1], vec![1e6]).unwrap();
    let mut policy = flowtune(TICK, Some(Normalization::FNorm));
    let fine = simulate(&net, &late, &mut Ecmp::new(1), &mut policy, &RunSettings::default(), &mut ()).unwrap_err();
    assert!(fine.to_string().contains("shorter than the clock can tell apart"), "{fine}");
    let newton = refused(ClockedOptions::default().with_method("newton".into()));
    assert!(newton.starts_with("method is \"newton\", expected \"fast-ned\", "), "{newton}");
}

/// A clock does not keep a simulation going in which nothing can move.
#[test]
fn every_policy_starves_over_a_failed_link() {
    let net = Topology::from_edges("a b 1e9\nc d 1e9").unwrap();
    let fails = RunSettings::default().with_changes(vec![CapacityChange { time: 0.0, link: 2, capacity: 0.0 }]);
    for name in POLICIES.iter().map(|entry| entry.name) {
        let mut policy = policy(name, &Options::new()).unwrap();
        let workload = Workload::new(vec![0.0, 0.0], vec![0, 2], vec![1, 3], vec![1e6, 1e6]).unwrap();
        let report = simulate(&net, &workload, &mut Ecmp::new(1), policy.as_mut(), &fails, &mut ()).unwrap();
        assert_eq!((report.status, report.ended()), (RunStatus::Starved, 1), "{name}");
    }
}
