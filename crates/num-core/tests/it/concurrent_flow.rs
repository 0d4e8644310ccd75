//! Demands that are carried: closed forms, the proof on random problems, ties, and bad input.

use netnum_core::*;
use proptest::prelude::*;

const NONE: f64 = f64::INFINITY;

fn problem(capacities: Vec<f64>, lists: &[&[u32]], group: Vec<u32>, demands: Vec<f64>) -> Problem {
    let problem = Problem::grouped(capacities, Paths::from_lists(lists), group, AlphaFair::proportional()).unwrap();
    problem.with_flow_caps(demands).unwrap()
}

/// Two flows share a link, and the second has another path.
fn two(demands: [f64; 2]) -> Problem {
    problem(vec![4.0, 1.0], &[&[0], &[0], &[1]], vec![0, 1, 1], demands.to_vec())
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-12 * expected.abs();
    assert!(found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
}

/// Checks that rates are feasible and carry the fraction, and that the prices prove the bound.
fn check(problem: &Problem, flow: &MulticommodityFlow, is_fraction: bool) {
    let capacities = problem.capacities();
    let most = if is_fraction { 1.0 } else { flow.utilization };
    let fits = |(load, capacity): (&f64, &f64)| *load <= most * capacity * (1.0 + 1e-12);
    assert!(flow.loads.iter().zip(capacities).all(fits), "{:?} over {capacities:?}", flow.loads);
    let (mut paid, mut worth) = (0.0, capacities.iter().zip(&flow.prices).map(|(c, p)| c * p).sum::<f64>());
    let mut rents = 0.0;
    for (f, &of_flow) in flow.flow_prices.iter().enumerate() {
        let demand = if flow.failed_flows.contains(&(f as u32)) { 0.0 } else { problem.flow_cap(f) };
        close(&[flow.flow_rates[f]], &[flow.fraction * demand]);
        paid += demand * of_flow;
    }
    for (path, &of) in problem.group().iter().enumerate().filter(|(path, _)| !problem.is_closed(*path)) {
        let start = problem.paths().indptr()[path];
        let used = |place: usize| problem.paths().coefficients().map_or(1.0, |all| all[start + place]);
        let links = problem.paths().links(path).iter().enumerate();
        let price: f64 = links.map(|(place, &link)| used(place) * flow.prices[link as usize]).sum();
        let (above, cap) = (flow.flow_prices[of as usize] - price, problem.rate_cap(path));
        assert!(flow.rates[path] <= cap * (1.0 + 1e-12));
        match cap.is_finite() {
            true => rents += cap * above.max(0.0),
            false => assert!(above <= 1e-12 * price.max(1e-300), "path {path} is cheaper by {above:e}"),
        }
    }
    if is_fraction {
        worth += rents
    } else {
        paid -= rents
    }
    close(&[flow.bound], &[if is_fraction { worth / paid } else { paid / worth }]);
    assert_eq!(flow.status, Status::Optimal);
    assert!(flow.gap <= 1e-10, "{:e}", flow.gap);
}

#[test]
fn a_fraction_and_a_utilization_by_hand() {
    let flow = concurrent_flow(&two([6.0, 4.0])).unwrap();
    close(&[flow.fraction, flow.utilization], &[0.5, 1.0]);
    close(&flow.rates, &[3.0, 1.0, 1.0]);
    close(&flow.prices, &[0.1, 0.1]);
    assert_eq!((flow.cut.links.as_slice(), flow.cut.flows.as_slice()), (&[0, 1][..], &[0, 1][..]));
    let least = min_utilization(&two([6.0, 4.0])).unwrap();
    close(&[least.fraction, least.utilization], &[1.0, 2.0]);
    close(&least.prices, &[0.2, 0.2]);
}

#[test]
fn a_cap_does_not_grow_with_the_fraction() {
    let problem = two([1.0, 2.0]).with_rate_caps(vec![NONE, NONE, 0.25]).unwrap();
    let (flow, least) = (concurrent_flow(&problem).unwrap(), min_utilization(&problem).unwrap());
    close(&[flow.fraction, least.utilization], &[4.25 / 3.0, 2.75 / 4.0]);
    check(&problem, &flow, true);
    check(&problem, &least, false);
}

#[test]
fn a_flow_that_has_lost_its_paths_is_left_out() {
    let problem = two([6.0, 4.0]).with_capacities(vec![0.0, 1.0]).unwrap();
    for flow in [concurrent_flow(&problem).unwrap(), min_utilization(&problem).unwrap()] {
        assert_eq!(flow.failed_flows, [0]);
        close(&[flow.utilization / flow.fraction], &[4.0]);
        assert_eq!(flow.rates[..2], [0.0, 0.0]);
    }
    let none = two([6.0, 4.0]).with_capacities(vec![0.0, 0.0]).unwrap();
    assert_eq!(concurrent_flow(&none).unwrap().fraction, f64::INFINITY);
    assert_eq!(min_utilization(&none).unwrap().utilization, 0.0);
}

#[test]
fn links_without_a_limit_carry_what_they_can() {
    let problem = two([1.0, 7.0]).with_capacities(vec![4.0, NONE]).unwrap();
    let (flow, least) = (concurrent_flow(&problem).unwrap(), min_utilization(&problem).unwrap());
    close(&[flow.fraction, least.utilization], &[4.0, 0.25]);
    let only = two([0.0, 7.0]).with_capacities(vec![4.0, NONE]).unwrap();
    assert_eq!(concurrent_flow(&only).unwrap_err(), Error::Unlimited { flow: 1 });
    assert_eq!(min_utilization(&only).unwrap().utilization, 0.0);
}

#[test]
fn a_missing_demand_and_one_beyond_the_caps_of_its_paths_are_errors() {
    for flow in [concurrent_flow, min_utilization] {
        assert_eq!(flow(&two([1.0, NONE])).unwrap_err(), Error::NoDemand { flow: 1 });
    }
    let problem = two([6.0, 4.0]).with_rate_caps(vec![9.0, 1.0, 2.0]).unwrap();
    let expected = Error::DemandAboveCaps { flow: 1, demand: 4.0, caps: 3.0 };
    assert_eq!(min_utilization(&problem).unwrap_err(), expected);
    // A path over a failed link has no room.
    let failed = two([2.0, 2.0]).with_rate_caps(vec![9.0, 1.0, 2.0]).unwrap().with_capacities(vec![4.0, 0.0]).unwrap();
    assert_eq!(min_utilization(&failed).unwrap_err(), Error::DemandAboveCaps { flow: 1, demand: 2.0, caps: 1.0 });
    check(&problem, &concurrent_flow(&problem).unwrap(), true);
}

#[test]
fn what_a_path_uses_of_a_link_counts() {
    // Half of a unit on the first link, which may be in any unit, and two on the second.
    for unit in [1.0, 1e9, 1e-9] {
        let paths = Paths::with_coefficients(vec![0, 1, 2], vec![0, 1], vec![0.5 * unit, 2.0]).unwrap();
        let problem = Problem::grouped(vec![4.0 * unit, 2.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
        let problem = problem.with_flow_caps(vec![3.0]).unwrap();
        let (flow, least) = (concurrent_flow(&problem).unwrap(), min_utilization(&problem).unwrap());
        close(&[flow.fraction, least.utilization], &[3.0, 1.0 / 3.0]);
        close(&[flow.prices[0], flow.prices[1]], &[2.0 / 3.0 / unit, 1.0 / 6.0]);
        check(&problem, &flow, true);
        check(&problem, &least, false);
    }
}

#[test]
fn floors_costs_and_priorities_do_not_matter() {
    let plain = two([6.0, 4.0]);
    let other = plain.clone().with_flow_floors(vec![2.0, 0.0]).unwrap().with_priorities(vec![1.0, 0.0]).unwrap();
    let other = other.with_path_costs(vec![1.0, 0.0, 3.0]).unwrap();
    for flow in [concurrent_flow, min_utilization] {
        let (one, other) = (flow(&plain).unwrap(), flow(&other).unwrap());
        assert_eq!((one.rates, one.prices), (other.rates, other.prices));
    }
}

#[test]
fn it_stops_when_asked() {
    let (token, problem) = (StopToken::new(), two([6.0, 4.0]));
    token.stop();
    for flow in [concurrent_flow, min_utilization] {
        assert_eq!(token.scope(|| flow(&problem)).unwrap_err(), Error::Stopped);
    }
}

#[test]
fn it_is_written_and_read() {
    for problem in [two([6.0, 4.0]), two([0.0, 0.0])] {
        let flow = concurrent_flow(&problem).unwrap();
        let text = serde_json::to_string(&flow).unwrap();
        assert_eq!(serde_json::from_str::<MulticommodityFlow>(&text).unwrap(), flow);
    }
}

/// Flows over up to four paths each; of equal and whole numbers, or of any.
fn any_problem() -> impl Strategy<Value = Problem> {
    let number = |tied: bool| match tied {
        true => prop_oneof![3 => Just(1.0), 1 => Just(2.0), 1 => Just(3.0)].boxed(),
        false => (-1.3..1.3f64).prop_map(|digits| 10f64.powf(digits)).boxed(),
    };
    let path = |links: u32| prop::collection::hash_set(0..links, 1..=4.min(links as usize));
    (any::<bool>(), any::<bool>(), 1..10u32, 1..12usize).prop_flat_map(move |(tied, capped, links, flows)| {
        let capacity = prop_oneof![9 => number(tied), 1 => Just(0.0)];
        let of_flows = prop::collection::vec(prop::collection::vec(path(links), 1..=4), flows);
        let cap = if capped { prop_oneof![number(tied), Just(NONE)].boxed() } else { Just(NONE).boxed() };
        (
            prop::collection::vec(capacity, links as usize),
            of_flows,
            prop::collection::vec(number(tied), flows),
            prop::collection::vec(cap, 4 * flows),
            prop::option::of(prop::collection::vec(number(tied), 16 * flows)),
        )
            .prop_map(|(capacities, of_flows, demands, caps, coefficients)| {
                let group: Vec<u32> = (0..).zip(&of_flows).flat_map(|(flow, paths)| vec![flow; paths.len()]).collect();
                let lists = of_flows.into_iter().flatten().map(|path| path.into_iter().collect::<Vec<u32>>());
                let caps = caps[..group.len()].to_vec();
                let mut paths = Paths::from_lists(lists);
                if let Some(coefficients) = coefficients {
                    let (indptr, indices) = (paths.indptr().to_vec(), paths.indices().to_vec());
                    let coefficients = coefficients[..indices.len()].to_vec();
                    paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
                }
                let problem = Problem::grouped(capacities, paths, group, AlphaFair::proportional()).unwrap();
                problem.with_flow_caps(demands).unwrap().with_rate_caps(caps).unwrap()
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_answer_is_feasible_and_proven(problem in any_problem()) {
        let flow = concurrent_flow(&problem).unwrap();
        if flow.fraction.is_finite() {
            check(&problem, &flow, true);
        }
        match min_utilization(&problem) {
            Ok(least) if least.utilization > 0.0 => {
                check(&problem, &least, false);
                if !problem.has_rate_caps() {
                    prop_assert!((least.utilization * flow.fraction - 1.0).abs() <= 1e-12);
                }
            }
            Ok(least) => prop_assert!(least.failed_flows.len() == problem.flows()),
            Err(error) => prop_assert!(matches!(error, Error::DemandAboveCaps { .. }), "{error}"),
        }
    }
}
