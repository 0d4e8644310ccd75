//! Sources that are on and off in turn: their laws, and what names bad input.

use netnum_core::Topology;
use netnum_sim::{Ecmp, MaxMinFair, OnOff, Pairs, RunSettings, Workload, simulate};

const HOW: OnOff = OnOff { rate: 2e9, on: 1e-3, off: 3e-3, duration: 2.0 };

fn star() -> Topology {
    Topology::star(9, 10e9).unwrap()
}

fn to_the_last(net: &Topology) -> Pairs {
    Pairs::Listed((0..net.ends() - 1).map(|source| (source, net.ends() - 1)).collect())
}

#[test]
fn bursts_are_of_the_rate_and_the_means_and_do_not_overlap() {
    let net = star();
    let bursts = Workload::on_off(&net, &to_the_last(&net), &HOW, 7).unwrap();
    let production = bursts.production().unwrap();
    assert!(production.rates().iter().all(|&rate| rate == HOW.rate) && production.buffer() == f64::INFINITY);
    // 8 sources for 2 s of 4 ms each: 4000 bursts, give or take three standard deviations, of 1 ms in the mean.
    assert!((bursts.len() as f64 - 4000.0).abs() < 200.0, "{}", bursts.len());
    let seconds = |flow: usize| 8.0 * bursts.sizes()[flow] / HOW.rate;
    let mean = (0..bursts.len()).map(seconds).sum::<f64>() / bursts.len() as f64;
    assert!((mean - HOW.on).abs() < 0.05 * HOW.on, "{mean}");
    for source in 0..8 {
        let own: Vec<usize> = (0..bursts.len()).filter(|&flow| bursts.sources()[flow] == source).collect();
        let apart = |pair: &[usize]| bursts.arrivals()[pair[0]] + seconds(pair[0]) <= bursts.arrivals()[pair[1]];
        assert!(own.windows(2).all(apart));
    }
    assert!(*bursts.arrivals().last().unwrap() <= HOW.duration);
}

#[test]
fn sources_are_in_their_steady_state_from_the_start_on() {
    let net = Topology::star(2001, 10e9).unwrap();
    let bursts = Workload::on_off(&net, &to_the_last(&net), &OnOff { duration: 1e-9, ..HOW }, 1).unwrap();
    // A quarter of 2000 is on at time 0: 500, give or take three standard deviations of 19.
    let on = bursts.arrivals().iter().filter(|&&arrival| arrival == 0.0).count();
    assert!((442..=558).contains(&on), "{on}");
}

#[test]
fn a_longer_workload_begins_with_the_shorter_one() {
    let net = star();
    let [short, long] =
        [0.5, 2.0].map(|duration| Workload::on_off(&net, &to_the_last(&net), &OnOff { duration, ..HOW }, 3).unwrap());
    let flows = short.len();
    assert!(flows > 100 && long.len() > 2 * flows);
    assert_eq!(short.arrivals(), &long.arrivals()[..flows]);
    assert_eq!((short.sizes(), short.sources()), (&long.sizes()[..flows], &long.sources()[..flows]));
}

#[test]
fn bursts_that_the_network_carries_take_as_long_as_they_are_produced() {
    let net = star();
    let how = OnOff { rate: 1e9, duration: 0.1, ..HOW };
    let bursts = Workload::on_off(&net, &to_the_last(&net), &how, 3).unwrap();
    // Eight of them need 8 of 10 Gbit/s.
    let run = RunSettings::default();
    let report = simulate(&net, &bursts, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    for (time, size) in report.completion_times.iter().zip(bursts.sizes()) {
        assert!((time - 8.0 * size / 1e9).abs() <= 1e-9 * time, "{time}");
    }
}

#[test]
fn what_is_no_source_is_named() {
    let net = star();
    let refused = |pairs: &Pairs, how: OnOff| Workload::on_off(&net, pairs, &how, 1).unwrap_err().to_string();
    let pairs = to_the_last(&net);
    for (how, what) in [
        (OnOff { rate: 0.0, ..HOW }, "rate is 0"),
        (OnOff { on: -1.0, ..HOW }, "on is -1"),
        (OnOff { off: f64::NAN, ..HOW }, "off is NaN"),
        (OnOff { duration: f64::INFINITY, ..HOW }, "duration is inf"),
    ] {
        assert_eq!(refused(&pairs, how), format!("{what}, expected a finite number > 0"));
    }
    assert_eq!(refused(&Pairs::Uniform, HOW), "pairs is uniform, expected a list of pairs");
    assert!(refused(&pairs, OnOff { duration: 1e12, ..HOW }).starts_with("flows is "));
    let wrong = Pairs::Listed(vec![(0, 1), (2, 2)]);
    assert_eq!(refused(&wrong, HOW), "pairs[1] is (2, 2), expected two different ends below 9");
}
