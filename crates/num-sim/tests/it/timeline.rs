//! Rates and loads over time: by hand, and against the totals of the report.

use crate::common::small_network;
use netnum_core::Topology;
use netnum_sim::internal::{Ordered, Srpt};
use netnum_sim::{
    CapacityChange, Ecmp, FlowBender, FlowBenderOptions, Ideal, KShortestPaths, MaxMinFair, Pairs, Poisson, Policy,
    Routing, RunSettings, Sizes, Steps, Timeline, Workload, simulate,
};

fn run(net: &Topology, workload: &Workload, settings: &RunSettings) -> netnum_sim::Report {
    simulate(net, workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), settings, &mut ()).unwrap()
}

#[test]
fn two_flows_and_a_failure_by_hand() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = Workload::new(vec![0.0, 1.0], vec![0; 2], vec![1; 2], vec![4.0, 1.0]).unwrap();
    let change = |time, capacity| CapacityChange { time, link: 0, capacity };
    // From 2 s to 3 s the link has failed, and from 5 s on it is twice as fast.
    let changes = vec![change(2.0, 0.0), change(3.0, 8.0), change(5.0, 16.0)];
    let settings = RunSettings::default().with_changes(changes).with_timeline(true);
    let report = run(&net, &workload, &settings);
    let timeline = report.timeline.unwrap();
    assert_eq!(
        timeline.rates.of(0),
        (&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5][..], &[8.0, 4.0, 0.0, 4.0, 8.0, 16.0, 0.0][..])
    );
    assert_eq!(timeline.rates.of(1), (&[1.0, 2.0, 3.0, 4.0][..], &[4.0, 0.0, 4.0, 0.0][..]));
    assert_eq!(timeline.loads.of(0), (&[0.0, 2.0, 3.0, 5.0, 5.5][..], &[8.0, 0.0, 8.0, 16.0, 0.0][..]));
    assert_eq!(timeline.capacities.of(0), (&[0.0, 2.0, 3.0, 5.0][..], &[8.0, 0.0, 8.0, 16.0][..]));
    assert_eq!(timeline.mean_rates(&[0.0, 2.0, 5.0, 6.0]).unwrap(), [6.0, 4.0, 8.0, 2.0, 4.0 / 3.0, 0.0]);
    let used = timeline.mean_utilization(&[-1.0, 1.5, 2.5, 2.75, 6.0]).unwrap();
    assert_eq!(used[..2], [1.0, 1.0]);
    assert!(used[2].is_nan(), "nothing could be sent: {used:?}");
    assert_eq!(used[3], 24.0 / (16.0 + 16.0));
    assert_eq!(run(&net, &workload, &RunSettings::default()).timeline, None);
}

/// Σ value · width over all time until an end.
fn integral((times, values): (&[f64], &[f64]), until: f64) -> f64 {
    let ends = times.iter().skip(1).copied().chain([until]);
    times.iter().zip(ends).zip(values).map(|((from, to), value)| value * (to - from)).sum()
}

#[test]
fn rates_are_the_bytes_of_flows_and_loads_those_of_links_in_every_combination() {
    let sizes = Sizes::new("some", vec![(2e4, 0.0), (3e5, 0.6), (2e6, 1.0)]).unwrap();
    for seed in 0..8 {
        let net = small_network(seed);
        let workload = Workload::poisson(&net, &Poisson::new(sizes.clone(), 1.2).with_flows(60), &Pairs::Uniform, seed);
        let workload = workload.unwrap();
        let end = workload.arrivals()[59];
        let change =
            |part: f64, of: f64| CapacityChange { time: part * end, link: 2, capacity: of * net.capacities()[2] };
        let plain = RunSettings::default().with_changes(vec![change(0.3, 0.2), change(0.7, 1.0)]).with_timeline(true);
        let bends = || FlowBender::new(seed, FlowBenderOptions::default().with_rtt(1e-3)).unwrap();
        let pools = || KShortestPaths::new(0, 3).unwrap().with_pooled(true);
        let cases: [(Box<dyn Routing>, Box<dyn Policy>); 4] = [
            (Box::new(Ecmp::new(1)), Box::new(MaxMinFair::new())),
            (Box::new(bends()), Box::new(MaxMinFair::new())),
            (Box::new(bends()), Box::new(Ordered::by(Srpt::new()))),
            (Box::new(pools()), Box::new(Ideal::proportional())),
        ];
        for (place, (mut routing, mut policy)) in cases.into_iter().enumerate() {
            for warmup in [0.0, 0.5 * end] {
                let case = format!("case {place}, seed {seed}, warmup {warmup}");
                let settings = plain.clone().with_warmup(warmup);
                let report =
                    simulate(&net, &workload, routing.as_mut(), policy.as_mut(), &settings, &mut ()).expect(&case);
                let Timeline { rates, loads, .. } = report.timeline.as_ref().unwrap();
                for (flow, size) in workload.sizes().iter().enumerate() {
                    let (times, values) = rates.of(flow);
                    let sent = integral((times, values), report.time) / 8.0;
                    assert!((sent - size).abs() <= 1e-9 * size, "{case}: flow {flow} sent {sent} of {size}");
                    assert_eq!((times[0], *values.last().unwrap()), (report.starts[flow], 0.0), "{case}");
                    assert!(times.is_sorted_by(|one, next| one < next), "{case}: {times:?}");
                }
                let most = report.link_bytes.iter().copied().fold(0.0, f64::max);
                let until = report.timeline.as_ref().unwrap().mean_utilization(&[report.warmup, report.time]).unwrap();
                for (link, &bytes) in report.link_bytes.iter().enumerate() {
                    let (used, peak) = (until[link], loads.of(link).1.iter().copied().fold(0.0, f64::max));
                    assert!((used - report.link_utilization[link]).abs() <= 1e-9, "{case}: link {link} {used}");
                    if warmup == 0.0 {
                        let sent = integral(loads.of(link), report.time) / 8.0;
                        assert!((sent - bytes).abs() <= 1e-9 * most, "{case}: link {link} carried {sent} of {bytes}");
                        assert_eq!(peak, report.peak_loads[link], "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_timeline_changes_nothing_else() {
    let net = small_network(1);
    let arrivals = Poisson::new(Sizes::exponential(1e5).unwrap(), 0.9).with_flows(200);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 5).unwrap();
    let plain = run(&net, &workload, &RunSettings::default());
    let kept = run(&net, &workload, &RunSettings::default().with_timeline(true));
    assert!(kept.timeline.is_some());
    assert_eq!((kept.completion_times, kept.events), (plain.completion_times, plain.events));
    assert_eq!((kept.link_bytes, kept.peak_loads), (plain.link_bytes, plain.peak_loads));
}

#[test]
fn edges_and_parts_that_cannot_be_are_named() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![4.0]).unwrap();
    let timeline = run(&net, &workload, &RunSettings::default().with_timeline(true)).timeline.unwrap();
    let refused = |edges: &[f64]| timeline.mean_rates(edges).unwrap_err().to_string();
    assert_eq!(refused(&[1.0]), "the number of edges is 1, expected at least 2");
    assert_eq!(refused(&[0.0, f64::NAN]), "edges[1] is NaN, expected a finite number");
    assert_eq!(refused(&[0.0, 1.0, 1.0]), "edges[2] is 1, expected more than 1, the edge before");
    let error = timeline.mean_utilization(&[]).unwrap_err();
    assert_eq!(error.to_string(), "the number of edges is 0, expected at least 2");
    let refused = |indptr: &[usize], values: &[f64]| {
        Steps::new(indptr.to_vec(), vec![0.0], values.to_vec()).unwrap_err().to_string()
    };
    assert_eq!(refused(&[0, 2], &[1.0]), "the end of indptr is 2, expected 1, the number of times");
    assert_eq!(refused(&[], &[1.0]), "the end of indptr is 0, expected 1, the number of times");
    assert_eq!(refused(&[1, 1], &[1.0]), "indptr[0] is 1, expected 0");
    assert_eq!(refused(&[0, 1, 0, 1], &[1.0]), "indptr[2] is 0, expected at least 1, the number before");
    assert_eq!(refused(&[0, 1], &[]), "values has 0 entries, expected 1, one per time");
    let (indptr, times, values) = timeline.loads.parts();
    let again = Steps::new(indptr.to_vec(), times.to_vec(), values.to_vec()).unwrap();
    assert_eq!(again, timeline.loads);
    assert!(Timeline::new(timeline.rates.clone(), again, Steps::default()).is_err());
}
