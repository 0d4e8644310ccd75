//! Every simulation can be stopped, and has a limit of wall-clock time: what has happened by then is in its report.

use std::ops::ControlFlow;
use std::time::Duration;

use netnum_core::{Options, StopToken, Topology};
use netnum_sim::{
    Ecmp, MaxMinFair, NetworkState, POLICIES, Pairs, Poisson, Production, ROUTINGS, Result, Route, Routing,
    RunProgress, RunSettings, RunStatus, Sizes, Workload, policy, routing, simulate,
};

fn net() -> Topology {
    Topology::leaf_spine(3, 4, 2, 10e9, 10e9).unwrap()
}

fn workload(net: &Topology, flows: usize) -> Result<Workload> {
    Workload::poisson(net, &Poisson::new(Sizes::web_search(), 0.6).with_flows(flows), &Pairs::Uniform, 1)
}

/// In force, and stopped.
fn stopped<T>(work: impl FnOnce() -> T) -> T {
    let token = StopToken::new();
    token.stop();
    token.scope(work)
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn whatever_makes_many_flows_stops() {
    const SAYS: &str = "stopped before there was an answer";
    let net = net();
    let flows = workload(&net, 20_000).unwrap();
    let text = flows.to_csv().unwrap();
    let pairs = Pairs::Listed(vec![(0, 5); 20_000]);
    let columns = || (flows.arrivals().to_vec(), flows.sources().to_vec(), flows.destinations().to_vec());
    stopped(|| {
        assert_eq!(message(workload(&net, 20_000)), SAYS);
        let (arrivals, sources, destinations) = columns();
        assert_eq!(message(Workload::new(arrivals, sources, destinations, flows.sizes().to_vec())), SAYS);
        assert_eq!(message(Workload::from_csv(&text)), SAYS);
        assert_eq!(message(flows.to_csv()), SAYS);
        assert_eq!(message(Workload::at_once(&net, &pairs, &Sizes::web_search(), 1)), SAYS);
        assert_eq!(message(Production::new(vec![1e9; 20_000], 1e6)), SAYS);
        assert_eq!(message(Production::log_normal(20_000, 1e9, 1.0, (1.0, 1e12), 1e6, 1)), SAYS);
    });
    let large = Topology::leaf_spine(10, 20, 2, 1.0, 1.0).unwrap();
    assert_eq!(stopped(|| message(Pairs::all_to_all(&large))), SAYS);
}

#[test]
fn a_simulation_that_is_stopped_from_the_start_has_a_report_of_nothing() {
    let net = net();
    let flows = workload(&net, 3000).unwrap();
    for policy_name in POLICIES.iter().map(|entry| entry.name) {
        for routing_name in ROUTINGS.iter().map(|entry| entry.name) {
            let run = |run: &RunSettings| {
                let mut policy = policy(policy_name, &Options::new()).unwrap();
                let mut routing = routing(routing_name, 1, &Options::new()).unwrap();
                simulate(&net, &flows, routing.as_mut(), policy.as_mut(), run, &mut ()).unwrap()
            };
            let case = format!("{policy_name} over {routing_name}");
            let limited = run(&RunSettings::default().with_time_limit(Some(Duration::ZERO)));
            assert_eq!((limited.status, limited.ended()), (RunStatus::TimeLimit, 0), "{case}");
            let token = stopped(|| run(&RunSettings::default()));
            assert_eq!((token.status, token.ended()), (RunStatus::Stopped, 0), "{case}");
            for report in [limited, token] {
                assert_eq!(report.completion_times.len(), 3000, "{case}");
                assert!(report.bytes_sent.iter().all(|&bytes| bytes == 0.0), "{case}");
            }
        }
    }
}

#[test]
fn a_simulation_stopped_on_its_way_is_the_beginning_of_the_whole_one() {
    let net = net();
    let flows = workload(&net, 3000).unwrap();
    let run = |observer: &mut dyn netnum_sim::RunObserver| {
        simulate(&net, &flows, &mut Ecmp::new(1), &mut MaxMinFair::new(), &RunSettings::default(), observer).unwrap()
    };
    let whole = run(&mut ());
    let token = StopToken::new();
    let other = token.clone();
    struct Look<F>(F);
    impl<F: FnMut(&RunProgress)> netnum_sim::RunObserver for Look<F> {
        fn pause(&self) -> Duration {
            Duration::ZERO
        }
        fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
            (self.0)(progress);
            ControlFlow::Continue(())
        }
    }
    let part = token.scope(|| {
        run(&mut Look(|progress: &RunProgress| {
            if progress.ended == 1000 {
                other.stop();
            }
        }))
    });
    assert_eq!(part.status, RunStatus::Stopped);
    assert!((1000..3000).contains(&part.ended()), "{part}");
    for (flow, time) in part.completion_times.iter().enumerate().filter(|time| !time.1.is_nan()) {
        assert_eq!(time.to_bits(), whole.completion_times[flow].to_bits(), "flow {flow}");
    }
    let sent = part.bytes_sent.iter().zip(flows.sizes());
    assert!(sent.into_iter().all(|(sent, size)| (0.0..=*size).contains(sent)));
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let net = net();
    let flows = workload(&net, 500).unwrap();
    let run = |time_limit| {
        let run = RunSettings::default().with_time_limit(time_limit);
        let report = simulate(&net, &flows, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
        (report.status, report.completion_times, report.link_bytes, report.events)
    };
    assert_eq!(run(Some(Duration::from_secs(3600))), run(None));
    assert_eq!(run(Some(Duration::MAX)), run(None));
}

/// Is asked to stop while it looks for a route.
struct CutShort;

impl Routing for CutShort {
    fn name(&self) -> &str {
        "cut short"
    }
    fn begin_run(&mut self, _net: &Topology, _workload: &Workload) -> Result<()> {
        Ok(())
    }
    fn route(&mut self, _flow: usize, _network: &NetworkState<'_>, _route: &mut Route) -> Result<()> {
        Err(netnum_core::Error::Stopped.into())
    }
}

#[test]
fn an_arrival_that_is_cut_short_leaves_a_report() {
    let net = net();
    let flows = workload(&net, 3).unwrap();
    let report = simulate(&net, &flows, &mut CutShort, &mut MaxMinFair::new(), &RunSettings::default(), &mut ());
    let report = report.unwrap();
    assert_eq!((report.status, report.ended()), (RunStatus::Stopped, 0));
    assert_eq!(report.bytes_sent, [0.0; 3]);
}
