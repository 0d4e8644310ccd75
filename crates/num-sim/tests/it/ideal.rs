//! The exact optimum at every change.

use crate::common::{brute_force, largest_difference, random_network, routes};
use netnum_core::{AlphaFair, Paths, Problem, Settings, Topology, solve};
use netnum_sim::internal::{Ordered, Srpt};
use netnum_sim::{Ecmp, Ideal, MaxMinFair, Pairs, Poisson, Routing, RunSettings, Sizes, Spray, Workload, simulate};

fn settings() -> Settings {
    Settings::default().with_tol(1e-9)
}

#[test]
fn a_parking_lot_shares_as_it_must() {
    // A long flow over two links and a short one on each: rates 1/3, 2/3, 2/3, until the short ones end together.
    let net = Topology::parking_lot(2, 3e6).unwrap();
    let workload = Workload::new(vec![0.0; 3], vec![0, 0, 1], vec![2, 1, 2], vec![1e6 / 8.0, 1e6, 1e6]).unwrap();
    let mut policy = Ideal::proportional().with_settings(settings());
    let report = simulate(&net, &workload, &mut Ecmp::new(0), &mut policy, &RunSettings::default(), &mut ()).unwrap();
    for (time, expected) in report.completion_times.iter().zip([1.0, 3.0, 3.0]) {
        // After one second: the long flow is through, and 6 Mbit of each short one are left for 3 Mbit/s.
        assert!((time - expected).abs() < 1e-5 * expected, "{time} and {expected}");
    }
    assert!(report.gap > 0.0 && report.gap <= 1e-9);
}

#[test]
fn proportional_fairness_agrees_with_a_fresh_solve_at_every_event() {
    for seed in 0..10 {
        let net = random_network(6, seed / 2);
        let routing =
            || -> Box<dyn Routing> { if seed % 2 == 0 { Box::new(Ecmp::new(seed)) } else { Box::new(Spray::new()) } };
        let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(100);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
        let mut policy = Ideal::proportional().with_settings(settings());
        let report =
            simulate(&net, &workload, routing().as_mut(), &mut policy, &RunSettings::default(), &mut ()).unwrap();
        let routes = routes(&net, &workload, routing().as_mut());
        let expected = brute_force(&workload, &routes, |_, routes, _| {
            if routes.is_empty() {
                return vec![];
            }
            let mut indptr = vec![0];
            indptr.extend(routes.iter().scan(0, |end, route| {
                *end += route.len();
                Some(*end)
            }));
            let (links, shares) = routes.iter().flatten().map(|&(link, share)| (link as u32, share)).unzip();
            let paths = Paths::with_coefficients(indptr, links, shares).unwrap();
            let problem = Problem::new(net.capacities().to_vec(), paths, AlphaFair::proportional()).unwrap();
            solve(&problem, &settings().into()).unwrap().rates
        });
        let difference = largest_difference(&report.completion_times, &expected, report.time);
        assert!(difference < 1e-3, "seed {seed}: {difference:e}");
    }
}

#[test]
fn short_completion_times_come_near_shortest_first() {
    // One link: the mean under U = x^(1−ε)/size lies between shortest first and fair sharing, nearer to the
    // former: it goes by the size at arrival, and not by what is left.
    let net = Topology::single_link(1e9).unwrap();
    let arrivals = Poisson::new(Sizes::web_search(), 0.7).with_flows(500);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Listed(vec![(0, 1)]), 2).unwrap();
    let mean = |policy: &mut dyn netnum_sim::Policy| {
        let report = simulate(&net, &workload, &mut Ecmp::new(0), policy, &RunSettings::default(), &mut ()).unwrap();
        assert_eq!(report.ended(), 500);
        report.mean_completion_time()
    };
    let (shortest, fair, utility) =
        (mean(&mut Ordered::by(Srpt::new())), mean(&mut MaxMinFair::new()), mean(&mut Ideal::min_fct()));
    assert!(shortest <= utility * (1.0 + 1e-6), "{shortest} and {utility}");
    assert!(utility < shortest + 0.25 * (fair - shortest), "{shortest}, {utility}, {fair}");
}
