//! Fair sharing against a brute-force simulator, on every kind of route.

use crate::common::{brute_force, largest_difference, progressive_filling, random_network, routes};
use netnum_core::Topology;
use netnum_sim::internal::{Levels, Pias, Strict, Until};
use netnum_sim::{
    CapacityChange, Ecmp, Flows, MaxMinFair, Pairs, Poisson, Policy, Report, Routing, RunSettings, Sizes, Spray,
    Workload, simulate,
};

fn fair(net: &Topology, workload: &Workload, routing: &mut dyn Routing, policy: &mut MaxMinFair) -> Report {
    simulate(net, workload, routing, policy, &RunSettings::default(), &mut ()).expect("all flows have routes")
}

fn expected(net: &Topology, workload: &Workload, routing: &mut dyn Routing) -> Vec<f64> {
    let routes = routes(net, workload, routing);
    brute_force(workload, &routes, |_, routes, _| progressive_filling(net.capacities(), routes))
}

fn poisson(net: &Topology, flows: usize, load: f64, seed: u64) -> Workload {
    let arrivals = Poisson::new(Sizes::web_search(), load).with_flows(flows);
    Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).expect("well formed")
}

fn assert_agree(report: &Report, workload: &Workload, expected: &[f64], what: &str) {
    let clock = workload.arrivals().last().unwrap() + report.time;
    let difference = largest_difference(&report.completion_times, expected, clock);
    assert!(difference <= 1e-9, "{what}: completion times differ by {difference:e}");
}

#[test]
fn random_networks_agree_with_brute_force() {
    for seed in 0..30 {
        let net = random_network(4 + seed as usize % 7, seed);
        let load = [0.3, 0.6, 1.5][seed as usize % 3];
        let workload = poisson(&net, 150, load, seed);
        let by_ecmp = expected(&net, &workload, &mut Ecmp::new(seed));
        let by_spray = expected(&net, &workload, &mut Spray::new());
        for mut policy in [MaxMinFair::new(), MaxMinFair::full()] {
            let report = fair(&net, &workload, &mut Ecmp::new(seed), &mut policy);
            assert_agree(&report, &workload, &by_ecmp, &format!("seed {seed}, ecmp"));
            let report = fair(&net, &workload, &mut Spray::new(), &mut policy);
            assert_agree(&report, &workload, &by_spray, &format!("seed {seed}, spray"));
        }
    }
}

#[test]
fn equal_flows_on_equal_links_agree_with_brute_force() {
    // Everything ties: links fill together, flows end together.
    let net = Topology::leaf_spine(3, 4, 2, 10e9, 10e9).unwrap();
    for pairs in [Pairs::all_to_all(&net).unwrap(), Pairs::permutation(&net, 3), Pairs::incast(&net, 2, 8, 1).unwrap()]
    {
        let workload = Workload::at_once(&net, &pairs, &Sizes::fixed(1e6).unwrap(), 1).unwrap();
        let expected = expected(&net, &workload, &mut Ecmp::new(5));
        let report = fair(&net, &workload, &mut Ecmp::new(5), &mut MaxMinFair::new());
        assert_agree(&report, &workload, &expected, "at once");
    }
}

#[test]
fn web_search_on_the_fabric_agrees_with_a_full_solve_at_every_event() {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let workload = poisson(&net, 3000, 0.6, 7);
    let expected = expected(&net, &workload, &mut Ecmp::new(7));
    for mut policy in [MaxMinFair::new(), MaxMinFair::full()] {
        let report = fair(&net, &workload, &mut Ecmp::new(7), &mut policy);
        assert_agree(&report, &workload, &expected, "web search");
    }
}

#[test]
fn crowds_agree_with_a_full_solve_at_every_event() {
    // Twice as much as the fabric carries: some thousand flows are active at the end of the arrivals.
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let workload = poisson(&net, 6000, 2.0, 1);
    let report = fair(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new());
    let anew = fair(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::full());
    assert_agree(&report, &workload, &anew.completion_times, "many flows");
}

#[test]
fn many_levels_that_move_at_once_on_a_large_fabric_agree_with_a_full_solve_at_every_event() {
    let net = Topology::leaf_spine(64, 8, 8, 10e9, 10e9).unwrap();
    // So many flows are active in the end that more levels move than those of a small network ever do.
    let workload = poisson(&net, 1500, 20.0, 2);
    let last = *workload.arrivals().last().unwrap();
    let change = |time, part| {
        let every_tenth = net.capacities().iter().enumerate().step_by(10);
        every_tenth.map(move |(link, capacity)| CapacityChange { time, link: link as u32, capacity: part * capacity })
    };
    let changes = change(0.9 * last, 0.5).chain(change(0.95 * last, 1.0)).collect();
    let settings = RunSettings::default().with_until(last).with_changes(changes);
    let run = |mut policy| simulate(&net, &workload, &mut Ecmp::new(2), &mut policy, &settings, &mut ()).unwrap();
    let (report, anew) = (run(MaxMinFair::new()), run(MaxMinFair::full()));
    assert!(workload.len() - report.ended() > 1000);
    for (flow, (sent, expected)) in report.bytes_sent.iter().zip(&anew.bytes_sent).enumerate() {
        assert!((sent - expected).abs() <= 1e-9 * expected, "flow {flow}: {sent} and {expected} bytes");
    }
}

#[test]
fn nothing_is_lost_and_no_link_is_overloaded() {
    let net = Topology::leaf_spine(4, 8, 2, 10e9, 20e9).unwrap();
    let workload = poisson(&net, 5000, 0.8, 3);
    for routing in [&mut Ecmp::new(3) as &mut dyn Routing, &mut Spray::new()] {
        let report = fair(&net, &workload, routing, &mut MaxMinFair::new());
        assert_eq!(report.bytes_sent, workload.sizes());
        let mut expected = vec![0.0; net.capacities().len()];
        for (route, size) in routes(&net, &workload, routing).iter().zip(workload.sizes()) {
            route.iter().for_each(|&(link, share)| expected[link] += share * size);
        }
        for (link, (found, expected)) in report.link_bytes.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() <= 1e-9 * expected, "link {link}: {found} and {expected} bytes");
        }
        for (link, (peak, capacity)) in report.peak_loads.iter().zip(net.capacities()).enumerate() {
            assert!(*peak <= capacity * (1.0 + 1e-9), "link {link} carried {peak} of {capacity}");
        }
        assert!(report.over_allocation <= 1e-9 * net.capacities().iter().sum::<f64>());
        assert!(report.slowdowns.iter().all(|&slowdown| slowdown >= 1.0 - 1e-9));
        assert!(report.link_utilization.iter().all(|used| (0.0..=1.0 + 1e-9).contains(used)));
    }
}

#[test]
fn a_seed_fixes_every_bit() {
    let net = Topology::leaf_spine(4, 8, 2, 10e9, 20e9).unwrap();
    let run = || fair(&net, &poisson(&net, 3000, 0.7, 11), &mut Ecmp::new(11), &mut MaxMinFair::new());
    let bits = |report: &Report| report.completion_times.iter().map(|time| time.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&run()), bits(&run()));
}

#[test]
fn flows_over_a_failed_link_wait_for_ever() {
    let net = Topology::from_edges("a b 1e9\nc d 1e9").unwrap();
    let workload = Workload::new(vec![0.0, 0.0], vec![0, 2], vec![1, 3], vec![125e6, 1.0]).unwrap();
    let fails = RunSettings::default().with_changes(vec![CapacityChange { time: 0.0, link: 2, capacity: 0.0 }]);
    let report = simulate(&net, &workload, &mut Ecmp::new(0), &mut MaxMinFair::new(), &fails, &mut ()).unwrap();
    assert_eq!(report.status.name(), "starved");
    assert_eq!(report.completion_times[0], 1.0);
    assert!(report.completion_times[1].is_nan());
    assert_eq!(report.bytes_sent, [125e6, 0.0]);
    assert_eq!(report.ended(), 1);
    assert!(report.to_string().starts_with("Report(starved, 1 of 2 flows"), "{report}");
}

/// Flows that arrive one after the other faster than they end, for odd seeds late in a long run.
fn crowd(net: &Topology, seed: u64) -> Workload {
    let drawn = poisson(net, 400, 3.0, seed);
    let late = |time: &f64| 1e5 * f64::from(u8::from(seed % 2 == 1)) + time;
    let arrivals = drawn.arrivals().iter().map(late).collect();
    let (sources, destinations) = (drawn.sources().to_vec(), drawn.destinations().to_vec());
    Workload::new(arrivals, sources, destinations, drawn.sizes().to_vec()).unwrap()
}

#[test]
fn flows_without_end_and_of_very_different_weights_are_as_exact_in_a_crowd() {
    let net = Topology::leaf_spine(3, 4, 2, 10e9, 10e9).unwrap();
    let until = RunSettings::default().with_until(5.0);
    for decades in [0, 5, 20] {
        let drawn = crowd(&net, 2);
        let mut sizes = drawn.sizes().to_vec();
        sizes.iter_mut().step_by(7).for_each(|size| *size = f64::INFINITY);
        let (arrivals, sources) = (drawn.arrivals().to_vec(), drawn.sources().to_vec());
        let weights = (0..sizes.len()).map(|flow| 10f64.powi([0, decades, -decades][flow % 3])).collect();
        let workload = Workload::new(arrivals, sources, drawn.destinations().to_vec(), sizes).unwrap();
        let workload = workload.with_weights(weights).unwrap();
        let run = |mut policy: MaxMinFair| {
            simulate(&net, &workload, &mut Ecmp::new(0), &mut policy, &until, &mut ()).unwrap().completion_times
        };
        let (found, expected) = (run(MaxMinFair::crowded()), run(MaxMinFair::full()));
        assert!(expected.iter().filter(|time| time.is_finite()).count() > 100);
        for (flow, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let agrees = (found - expected).abs() <= 1e-9 * expected.max(1e-3);
            assert!(agrees || found.is_nan() && expected.is_nan(), "{decades}: flow {flow}: {found} for {expected}");
        }
    }
}

#[test]
fn flows_that_share_the_pace_of_their_link_agree_with_a_full_solve_at_every_event() {
    for seed in 0..60 {
        let net = match seed % 3 {
            0 => random_network(6, seed),
            1 => Topology::leaf_spine(3, 4, 2, 10e9, 10e9).unwrap(),
            _ => Topology::leaf_spine(3, 4, 2, 10e9, 40e9).unwrap(),
        };
        let mut workload = crowd(&net, seed);
        if seed % 4 > 1 {
            let weights = (0..workload.len()).map(|flow| [0.25, 1.0, 1.5, 1e3][flow % 4]).collect();
            workload = workload.with_weights(weights).unwrap();
        }
        let (first, last) = (workload.arrivals()[0], *workload.arrivals().last().unwrap());
        let at = |part: f64| first + part * (last - first);
        let links = (0..net.capacities().len()).step_by(3);
        let change = |time: f64, part: f64| {
            let of = |link: usize| CapacityChange { time, link: link as u32, capacity: part * net.capacities()[link] };
            links.clone().map(of).collect::<Vec<_>>()
        };
        let changes = [change(at(0.3), 0.5), change(at(0.6), 0.0), change(at(0.7), 1.0)].concat();
        let settings = RunSettings::default().with_warmup(at(0.4)).with_changes(changes);
        for settings in [settings.clone().with_until(at(0.9)), settings] {
            for (by_spray, by_levels) in [(false, false), (true, false), (false, true), (true, true)] {
                let run = |policy: &mut dyn Policy| {
                    let (mut ecmp, mut spray) = (Ecmp::new(seed), Spray::new());
                    let routing: &mut dyn Routing = if by_spray { &mut spray } else { &mut ecmp };
                    simulate(&net, &workload, routing, policy, &settings, &mut ()).unwrap()
                };
                let pias = || Pias::new(&[2e4, 2e5, 2e6]).unwrap();
                let (report, anew) = match by_levels {
                    false => (run(&mut MaxMinFair::crowded()), run(&mut MaxMinFair::full())),
                    true => (run(&mut Strict::crowded(pias())), run(&mut Strict::by(pias()))),
                };
                // What the clock of a run can tell apart, in bytes.
                let clock = 4.0 * f64::EPSILON * last * 40e9 / 8.0;
                let alike = |what: &str, found: &[f64], expected: &[f64], clock: f64| {
                    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
                        let is_close = (found - expected).abs() <= 1e-9 * expected.abs() + clock;
                        let is_same = is_close || found.is_nan() && expected.is_nan();
                        assert!(is_same, "seed {seed}, {what} of {place}: {found:e} and {expected:e}");
                    }
                };
                alike("time", &report.completion_times, &anew.completion_times, 8.0 * f64::EPSILON * last);
                alike("bytes", &report.bytes_sent, &anew.bytes_sent, clock);
                alike("link", &report.link_bytes, &anew.link_bytes, 100.0 * clock);
                alike("peak", &report.peak_loads, &anew.peak_loads, 1.0);
                alike("rate", &report.mean_rates, &anew.mean_rates, 1e3);
                assert!(report.over_allocation <= 1e-9 * 40e9, "seed {seed}: {}", report.over_allocation);
            }
        }
    }
}

/// One level for all, though flows are looked at after every megabit.
struct EveryMegabit;

impl Levels for EveryMegabit {
    fn name(&self) -> &str {
        "every megabit"
    }

    fn levels(&self) -> usize {
        1
    }

    fn level(&self, _slot: u32, _sent: f64, _flows: &Flows, _now: f64) -> usize {
        0
    }

    fn until(&self, slot: u32, _level: usize, flows: &Flows, now: f64) -> Until {
        Until::Sent(1e6 * ((flows.flow(slot).sent(now) / 1e6 + 1e-6).floor() + 1.0))
    }
}

#[test]
fn a_flow_that_keeps_its_level_when_it_has_sent_what_was_awaited_keeps_its_pace() {
    let net = Topology::leaf_spine(2, 3, 2, 10e9, 10e9).unwrap();
    let arrivals = (0..60).map(|flow| 1e-4 * f64::from(flow)).collect::<Vec<f64>>();
    let (sources, destinations) = (0..60usize).map(|flow| (flow % 3, 3 + flow % 2)).unzip();
    let sizes = (0..60).map(|flow| 1e6 * f64::from(1 + flow % 7)).collect::<Vec<f64>>();
    let workload = Workload::new(arrivals, sources, destinations, sizes).unwrap();
    let run = |policy: &mut dyn Policy| {
        simulate(&net, &workload, &mut Ecmp::new(0), policy, &RunSettings::default(), &mut ()).unwrap()
    };
    let fair = run(&mut MaxMinFair::full());
    for mut policy in [Strict::by(EveryMegabit), Strict::crowded(EveryMegabit)] {
        let difference = largest_difference(&run(&mut policy).completion_times, &fair.completion_times, 1.0);
        assert!(difference < 1e-9, "{difference:e}");
    }
}
