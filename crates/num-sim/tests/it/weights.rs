//! Weights of flows: what they mean to which policy, and workloads that have some.

use netnum_core::{Options, Topology};
use netnum_sim::{Ecmp, Error, MaxMinFair, POLICIES, Pairs, Poisson, Policy, Production, Report, RunSettings, Sizes};
use netnum_sim::{Spray, Workload, policy, simulate};
use proptest::prelude::*;

/// Flows over one link of 8 bit/s, a byte per second, that begin at once.
fn one_link(sizes: &[f64], weights: &[f64], name: &str) -> Result<Report, Error> {
    let net = Topology::single_link(8.0).unwrap();
    let ends = |end| vec![end; sizes.len()];
    let workload = Workload::new(vec![0.0; sizes.len()], ends(0), ends(1), sizes.to_vec()).unwrap();
    let workload = workload.with_weights(weights.to_vec())?;
    let mut policy = policy(name, &Options::new()).unwrap();
    simulate(&net, &workload, &mut Ecmp::new(1), policy.as_mut(), &RunSettings::default(), &mut ())
}

fn fabric(flows: usize, seed: u64) -> (Topology, Workload) {
    let net = Topology::leaf_spine(3, 4, 2, 10e9, 10e9).unwrap();
    let arrivals = Poisson::new(Sizes::web_search(), 0.7).with_flows(flows);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
    (net, workload)
}

#[test]
fn rates_on_a_link_are_in_proportion_to_weights() {
    // At 3/4 and 1/4 bytes per second both need 4 s; with 2 bytes more the second has the link to itself for 2 s.
    for name in ["max-min", "proportional"] {
        let times = one_link(&[3.0, 3.0], &[3.0, 1.0], name).unwrap().completion_times;
        assert!((times[0] - 4.0).abs() < 1e-3 && (times[1] - 6.0).abs() < 1e-3, "{name}: {times:?}");
    }
    // U' = (w/x)^α at one price: rates are in proportion to weights whatever α is.
    let times = one_link(&[3.0, 1.0], &[3.0, 1.0], "alpha-fair").unwrap().completion_times;
    assert!(times.iter().all(|time| (time - 4.0).abs() < 1e-3), "{times:?}");
}

#[test]
fn levels_share_by_weight_and_srpt_serves_what_is_worth_most_per_byte() {
    // A byte per second; both below the first threshold of PIAS.
    let times = one_link(&[3.0, 3.0], &[3.0, 1.0], "pias").unwrap().completion_times;
    assert!((times[0] - 4.0).abs() < 1e-9 && (times[1] - 6.0).abs() < 1e-9, "{times:?}");
    // 4/8 comes before 1/1, and that before 2.5/2.
    let times = one_link(&[4.0, 1.0, 2.5], &[8.0, 1.0, 2.0], "srpt").unwrap().completion_times;
    assert!(times.iter().zip([4.0, 5.0, 7.5]).all(|(time, by_hand)| (time - by_hand).abs() < 1e-9), "{times:?}");
}

#[test]
fn allocators_and_xwi_share_by_weight() {
    let net = Topology::single_link(10e9).unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![f64::INFINITY; 2]).unwrap();
    let workload = workload.with_weights(vec![3.0, 1.0]).unwrap();
    for name in ["flowtune", "xwi", "gradient", "rcp"] {
        let mut policy = policy(name, &Options::new()).unwrap();
        let run = RunSettings::default().with_until(0.2).with_warmup(0.1);
        let report = simulate(&net, &workload, &mut Ecmp::new(1), policy.as_mut(), &run, &mut ()).unwrap();
        let ratio = report.bytes_sent[0] / report.bytes_sent[1];
        assert!((ratio - 3.0).abs() < 0.05, "{name}: {ratio}");
    }
}

#[test]
fn a_flow_over_several_paths_is_weighted_too() {
    // Two servers under two spines: both flows are sprayed, and the source's link is full.
    let net = Topology::leaf_spine(2, 1, 2, 8.0, 8.0).unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![3.0, 1.0]).unwrap();
    let workload = workload.with_weights(vec![3.0, 1.0]).unwrap();
    let run = RunSettings::default();
    let report = simulate(&net, &workload, &mut Spray::new(), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert!(report.completion_times.iter().all(|time| (time - 4.0).abs() < 1e-9), "{:?}", report.completion_times);
}

#[test]
fn weights_of_one_change_nothing_where_they_mean_something_and_are_refused_elsewhere() {
    let (net, workload) = fabric(150, 3);
    let weighted = workload.clone().with_weights(vec![1.0; workload.len()]).unwrap();
    let mut takers = Vec::new();
    for entry in POLICIES {
        let run = |workload: &Workload| {
            let mut policy: Box<dyn Policy> = policy(entry.name, &Options::new()).unwrap();
            simulate(&net, workload, &mut Ecmp::new(1), policy.as_mut(), &RunSettings::default(), &mut ())
        };
        match run(&weighted) {
            Ok(report) => {
                let plain = run(&workload).unwrap();
                for (time, other) in report.completion_times.iter().zip(&plain.completion_times) {
                    assert!((time - other).abs() <= 1e-6 * other, "{}: {time} and {other}", entry.name);
                }
                takers.push(entry.name);
            }
            Err(error) => {
                let expected = format!(
                    "policy {:?} has no use for the weights of flows; policies that have are \"max-min\", \"srpt\", \
                     \"pias\", \"rax\", \"rax+\", \"proportional\", \"alpha-fair\", \"flowtune\", \"xwi\", \
                     \"gradient\", \"rcp\"",
                    entry.name
                );
                assert_eq!(error.to_string(), expected);
            }
        }
    }
    let fair = ["max-min", "srpt", "pias", "rax", "rax+", "proportional", "alpha-fair"];
    assert_eq!(takers, [&fair[..], &["flowtune", "xwi", "gradient", "rcp"]].concat());
}

#[test]
fn weights_that_are_none_name_the_flow() {
    for (weights, message) in [
        (vec![1.0], "weights has 1 entries, expected 2, one per flow"),
        (vec![1.0, 0.0], "flow 1 has weight 0, expected a finite number > 0"),
        (vec![f64::NAN, 1.0], "flow 0 has weight NaN, expected a finite number > 0"),
        (vec![f64::INFINITY, 1.0], "flow 0 has weight inf, expected a finite number > 0"),
    ] {
        assert_eq!(one_link(&[1.0, 1.0], &weights, "max-min").unwrap_err().to_string(), message);
    }
    let text = "arrival,source,destination,size,weight\n0,0,1,5,1\n0,0,1,5,-1";
    let expected = "line 3 of the trace (flow 1) has weight -1, expected a finite number > 0";
    assert_eq!(Workload::from_csv(text).unwrap_err().to_string(), expected);
}

#[test]
fn merging_needs_the_same_send_buffers() {
    let (_, workload) = fabric(3, 1);
    let produced = |buffer| workload.clone().with_production(Production::new(vec![1e9; 3], buffer).unwrap()).unwrap();
    let error = produced(5.0).merged(&workload).unwrap_err().to_string();
    let what = "the send buffers of the workloads is 5 and without rates of production, expected the same in both";
    assert_eq!(error, what);
    assert!(produced(5.0).merged(&produced(6.0)).is_err());
    assert_eq!(produced(5.0).merged(&produced(5.0)).unwrap().production().unwrap().rates(), [1e9; 6]);
}

#[test]
fn shifted_flows_arrive_later() {
    let (_, workload) = fabric(5, 1);
    let later = workload.clone().shifted(0.25).unwrap();
    assert!(later.arrivals().iter().zip(workload.arrivals()).all(|(later, before)| *later == before + 0.25));
    assert_eq!((later.sizes(), later.sources()), (workload.sizes(), workload.sources()));
    let text = workload.clone().shifted(-1.0).unwrap_err().to_string();
    assert!(text.starts_with("flow 0 has arrival -") && text.ends_with("expected a finite number >= 0"), "{text}");
}

/// Flows with arrivals that may be equal, some of them without end, with weights or without.
fn flows() -> impl Strategy<Value = Workload> {
    let flow = (0u8..6, 0usize..3, 1usize..3, prop_oneof![1e-3..1e12, Just(f64::INFINITY)], 0.1..10.0);
    (proptest::collection::vec(flow, 0..12), any::<bool>()).prop_map(|(mut flows, weighted)| {
        flows.sort_by_key(|flow| flow.0);
        let column = |of: fn(&(u8, usize, usize, f64, f64)) -> f64| flows.iter().map(of).collect::<Vec<f64>>();
        let sources = flows.iter().map(|flow| flow.1).collect();
        let destinations = flows.iter().map(|flow| (flow.1 + flow.2) % 3).collect();
        let workload =
            Workload::new(column(|flow| f64::from(flow.0) / 4.0), sources, destinations, column(|flow| flow.3));
        let workload = workload.unwrap();
        if weighted { workload.with_weights(column(|flow| flow.4)).unwrap() } else { workload }
    })
}

proptest! {
    /// Through the text of a table, with and without a byte-order mark, the ends of lines of Windows and the last end
    /// of line, and through JSON.
    #[test]
    fn workloads_are_read_as_they_are_written(
        workload in flows(), mark in any::<bool>(), windows in any::<bool>(), cut in any::<bool>(),
    ) {
        let mut text = workload.to_csv().unwrap();
        if cut {
            text.truncate(text.trim_end().len());
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        if mark {
            text.insert(0, '\u{feff}');
        }
        let read = Workload::from_csv(&text).unwrap();
        if workload.is_empty() {
            prop_assert!(read.is_empty());
        } else {
            prop_assert_eq!(&read, &workload);
        }
        let json = serde_json::to_string(&workload).unwrap();
        prop_assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
    }

    /// A stable sort of both by arrival.
    #[test]
    fn merged_flows_are_those_of_both_in_order_of_arrival(one in flows(), other in flows()) {
        let rows = |workload: &Workload| -> Vec<(f64, usize, usize, f64, f64)> {
            let weight = |flow: usize| workload.weights().map_or(1.0, |weights| weights[flow]);
            let row = |flow: usize| (workload.arrivals()[flow], workload.sources()[flow], workload.destinations()[flow],
                workload.sizes()[flow], weight(flow));
            (0..workload.len()).map(row).collect()
        };
        let merged = one.merged(&other).unwrap();
        let mut expected = [rows(&one), rows(&other)].concat();
        expected.sort_by(|one, other| one.0.total_cmp(&other.0));
        prop_assert_eq!(rows(&merged), expected);
        prop_assert_eq!(merged.weights().is_some(), one.weights().or(other.weights()).is_some());
    }
}
