//! What holds flows back under max-min fairness, and prices: the rise of the fair share of a level per unit of
//! capacity, compared with the problem solved again.

use netnum_core::*;
use proptest::prelude::*;

const FAIREST: f64 = f64::INFINITY;

fn grouped(capacities: &[f64], lists: &[&[u32]], group: &[u32], weights: impl Into<Parameter>) -> Problem {
    let utility = AlphaFair::new(FAIREST, weights).unwrap();
    Problem::grouped(capacities.to_vec(), Paths::from_lists(lists), group.to_vec(), utility).unwrap()
}

fn solved(problem: &Problem) -> Solution {
    let solution = solve(problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    solution
}

fn close(found: &[f64], expected: &[f64]) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
}

#[test]
fn flows_that_can_make_room_for_each_other_are_held_by_their_links_together() {
    // The first flow takes either link, the second only link 0.
    let problem = grouped(&[2.0, 4.0, 50.0], &[&[0], &[1], &[0, 2]], &[0, 0, 1], 1.0);
    let solution = solved(&problem);
    // The second has link 0 at 2, the first then takes link 1.
    assert_eq!(solution.cuts.len(), 2);
    assert_eq!((&solution.cuts[0].links[..], &solution.cuts[0].flows[..]), (&[0][..], &[1][..]));
    assert_eq!((&solution.cuts[1].links[..], &solution.cuts[1].flows[..]), (&[0, 1][..], &[0][..]));
    assert_eq!(solution.bottlenecks[1..], [Some(1), Some(0)]);
    close(&solution.prices, &[1.0, 1.0, 0.0]);

    let shared = grouped(&[3.0, 1.0], &[&[0], &[1], &[0]], &[0, 0, 1], vec![3.0, 1.0]);
    let solution = solved(&shared);
    close(&solution.flow_rates, &[3.0, 1.0]);
    assert_eq!(solution.cuts.len(), 1);
    assert_eq!((&solution.cuts[0].links[..], &solution.cuts[0].flows[..]), (&[0, 1][..], &[0, 1][..]));
    assert!((solution.cuts[0].fair_share - 1.0).abs() < 1e-9);
    close(&solution.prices, &[0.25, 0.25]);
}

#[test]
fn a_flow_that_has_whole_links_to_itself_is_held_by_them() {
    let solution = solved(&grouped(&[2.0, 3.0, 9.0], &[&[0, 2], &[1], &[2]], &[0, 0, 1], vec![2.0, 1.0]));
    close(&solution.flow_rates, &[5.0, 7.0]);
    assert_eq!(solution.bottlenecks, [Some(0), Some(1), Some(2)]);
    close(&solution.prices, &[0.5, 0.5, 1.0]);
}

#[test]
fn flows_at_a_cap_are_held_by_no_link() {
    let problem = grouped(&[4.0, 4.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 1], 1.0);
    let capped = problem.clone().with_flow_caps(vec![1.0, f64::INFINITY]).unwrap();
    let solution = solved(&capped);
    close(&solution.flow_rates, &[1.0, 7.0]);
    assert!(solution.cuts.iter().all(|cut| cut.flows == [1]), "{:?}", solution.cuts);
    close(&solution.prices, &[1.0, 1.0]);
    let all = solved(&problem.with_flow_caps(vec![1.0, 2.0]).unwrap());
    assert!(all.cuts.is_empty() && all.bottlenecks.iter().all(Option::is_none));
    close(&all.prices, &[0.0, 0.0]);
    let paths = grouped(&[4.0, 4.0], &[&[0], &[1]], &[0, 0], 1.0).with_rate_caps(vec![1.0, f64::INFINITY]).unwrap();
    let solution = solved(&paths);
    close(&solution.flow_rates, &[5.0]);
    assert_eq!(solution.bottlenecks, [None, Some(1)]);
    close(&solution.prices, &[0.0, 1.0]);
}

#[test]
fn the_price_of_a_link_under_curves_is_that_of_their_slopes() {
    let curve = BandwidthFunction::new(&[0.0, 1.0, 3.0], &[0.0, 1.0, 9.0], FAIREST, 0.0).unwrap();
    let problem = Problem::new(vec![6.0], Paths::from_lists([[0], [0]]), curve).unwrap();
    let solution = solved(&problem);
    close(&solution.flow_rates, &[3.0, 3.0]);
    close(&solution.prices, &[1.0 / 8.0]);
}

/// Where the fair shares of the flows of a level go when a link gets more, per unit.
fn rises(problem: &Problem, weights: &[f64], flows: &[u32], link: usize, step: f64) -> Vec<f64> {
    let share = |problem: &Problem| -> Vec<f64> {
        let rates = problem.flow_rates(&max_min(problem).unwrap()).unwrap();
        flows.iter().map(|&flow| rates[flow as usize] / weights[flow as usize]).collect()
    };
    let mut capacities = problem.capacities().to_vec();
    capacities[link] += step;
    let changed = problem.clone().with_capacities(capacities).unwrap();
    share(problem).iter().zip(share(&changed)).map(|(before, after)| (after - before) / step).collect()
}

proptest! {
    #[test]
    fn a_price_is_the_rise_of_the_first_level_whose_cut_has_the_link(
        capacities in prop::collection::vec(1.0f64..5.0, 6),
        weights in prop::collection::vec(0.5f64..3.0, 4),
        ends in prop::collection::vec((0u32..6, 1u32..6, prop::bool::ANY), 12),
        of_one in 1usize..4,
    ) {
        let lists: Vec<Vec<u32>> = ends
            .iter()
            .map(|&(first, hop, long)| if long { vec![first, (first + hop) % 6] } else { vec![first] })
            .take(4 * of_one)
            .collect();
        let group: Vec<u32> = (0..lists.len()).map(|path| (path / of_one) as u32).collect();
        let utility = AlphaFair::new(FAIREST, weights.clone()).unwrap();
        let problem = Problem::grouped(capacities.clone(), Paths::from_lists(&lists), group, utility).unwrap();
        let solution = solved(&problem);
        let mut levels: Vec<(f64, Vec<u32>, Vec<u32>)> = solution
            .cuts
            .iter()
            .map(|cut| (cut.fair_share, cut.links.clone(), cut.flows.clone()))
            .collect();
        if of_one == 1 {
            for link in 0..6 {
                let held = |flow: &u32| solution.bottlenecks[*flow as usize] == Some(link);
                let flows: Vec<u32> = (0..4).filter(held).collect();
                if let Some(&flow) = flows.first() {
                    levels.push((solution.flow_rates[flow as usize] / weights[flow as usize], vec![link], flows));
                }
            }
        }
        // Every flow is held by something, at its fair share.
        for flow in 0..4u32 {
            let of_flow: Vec<_> = levels.iter().filter(|(_, _, flows)| flows.contains(&flow)).collect();
            prop_assert_eq!(of_flow.len(), 1, "{:?}", levels);
            let share = solution.flow_rates[flow as usize] / weights[flow as usize];
            prop_assert!((of_flow[0].0 - share).abs() <= 1e-6 * share);
        }
        for link in 0..6u32 {
            let Some((_, _, flows)) = levels.iter().find(|(_, links, _)| links.contains(&link)) else {
                prop_assert_eq!(solution.prices[link as usize], 0.0);
                // More of the link gives nobody more.
                let all: Vec<u32> = (0..4).collect();
                let most = rises(&problem, &weights, &all, link as usize, 1e-4);
                prop_assert!(most.iter().all(|rise| rise.abs() <= 1e-6), "link {}: {:?}", link, most);
                continue;
            };
            let mut slopes = Vec::new();
            for step in [1e-5, -1e-5] {
                slopes.extend(rises(&problem, &weights, flows, link as usize, step));
            }
            let (least, most) = slopes.iter().fold((f64::INFINITY, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
            let price = solution.prices[link as usize];
            let near = 1e-3 * (1.0 + price);
            prop_assert!(price >= least - near && price <= most + near, "link {}: {} of {:?}", link, price, slopes);
        }
    }
}
