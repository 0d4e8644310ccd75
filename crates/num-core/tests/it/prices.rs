//! What a price means, the utility gained per unit of capacity, and which link holds a path back.

use crate::common;

use netnum_core::*;

fn exact(problem: &Problem) -> Solution {
    let settings = Settings::default().with_tol(1e-10).with_stop(Stop::Kkt);
    let solution = Solver::new(problem, &Ask::by("auto")).unwrap().run(&settings, &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    solution
}

/// Paths, the flow of each, caps and what rates are worth, on any capacities.
struct Case {
    name: &'static str,
    capacities: Vec<f64>,
    paths: Vec<Vec<u32>>,
    group: Vec<u32>,
    caps: Vec<f64>,
    utilities: Utilities,
}

impl Case {
    fn single(name: &'static str, capacities: &[f64], paths: &[&[u32]], utilities: impl Into<Utilities>) -> Self {
        Self {
            name,
            capacities: capacities.to_vec(),
            paths: paths.iter().map(|links| links.to_vec()).collect(),
            group: (0..paths.len() as u32).collect(),
            caps: vec![f64::INFINITY; paths.len()],
            utilities: utilities.into(),
        }
    }

    fn problem(&self, capacities: &[f64]) -> Problem {
        let paths = Paths::from_lists(&self.paths);
        let problem = Problem::grouped(capacities.to_vec(), paths, self.group.clone(), self.utilities.clone()).unwrap();
        problem.with_rate_caps(self.caps.clone()).unwrap()
    }
}

fn cases() -> Vec<Case> {
    const NONE: f64 = f64::INFINITY;
    // A line of three links, crossed by one flow, and others on parts of it; the last link has room to spare.
    let line: [&[u32]; 5] = [&[0, 1, 2], &[0], &[0, 1], &[1], &[2]];
    let capacities = [3.0, 5.0, 40.0];
    let weights = vec![1.0, 2.0, 0.5, 3.0, 1.5];
    let fair = |alpha: f64| AlphaFair::new(alpha, weights.clone()).unwrap();
    let line_of = |name, alpha| Case::single(name, &capacities, &line, fair(alpha));
    let curve = BandwidthFunction::new(&[0.0, 1.0, 2.5], &[0.0, 2.0, 9.0], 2.0, 1.0).unwrap();
    vec![
        line_of("alpha 0.5", 0.5),
        line_of("alpha 1", 1.0),
        line_of("alpha 2", 2.0),
        Case { caps: vec![NONE, 0.5, NONE, 1.0, 2.0], ..line_of("caps", 1.0) },
        Case {
            group: vec![0, 1, 1, 2, 2],
            utilities: AlphaFair::new(2.0, vec![1.0, 2.0, 0.5]).unwrap().into(),
            ..line_of("several paths", 2.0)
        },
        Case {
            group: vec![0, 1, 1, 2, 2],
            caps: vec![NONE, 0.5, NONE, NONE, 4.0],
            utilities: AlphaFair::proportional().into(),
            ..line_of("several paths, caps", 1.0)
        },
        Case::single("bandwidth functions", &capacities, &line, curve),
        // One more unit of the first link goes to the second flow, and the third gives way on the other.
        Case::single("linear", &capacities[..2], &line[1..4], Linear::new(vec![1.0, 3.5, 1.75]).unwrap()),
    ]
}

#[test]
fn a_price_is_the_utility_gained_per_unit_of_capacity() {
    for case in cases() {
        let solution = exact(&case.problem(&case.capacities));
        for (link, &price) in solution.prices.iter().enumerate() {
            let step = 1e-3 * case.capacities[link];
            let objective = |change: f64| {
                let mut capacities = case.capacities.clone();
                capacities[link] += change;
                exact(&case.problem(&capacities)).objective
            };
            let slope = (objective(step) - objective(-step)) / (2.0 * step);
            let scale = solution.prices.iter().copied().fold(0.0, f64::max);
            assert!((slope - price).abs() <= 1e-4 * scale, "{}: link {link} has {price}, gains {slope}", case.name);
        }
    }
}

fn problem(capacities: &[f64], lists: &[&[u32]], utilities: impl Into<Utilities>) -> Problem {
    Problem::new(capacities.to_vec(), Paths::from_lists(lists), utilities).unwrap()
}

#[test]
fn a_path_is_held_back_by_the_dearest_of_its_full_links() {
    let problem = problem(&[1.0, 2.0, 9.0], &[&[2, 1, 0], &[0], &[1], &[2]], AlphaFair::proportional());
    let solution = exact(&problem);
    assert!(solution.prices[0] > solution.prices[1] && solution.prices[1] > solution.prices[2]);
    assert_eq!(solution.bottlenecks, [Some(0), Some(0), Some(1), Some(2)]);
}

#[test]
fn a_path_at_its_cap_or_saturation_or_failed_has_no_bottleneck() {
    let lists: [&[u32]; 4] = [&[0], &[0], &[1], &[2]];
    let capped = problem(&[4.0, 0.0, 5.0], &lists, AlphaFair::proportional());
    let solution = exact(&capped.with_rate_caps(vec![1.0, f64::INFINITY, f64::INFINITY, 2.0]).unwrap());
    assert_eq!(solution.bottlenecks, [None, Some(0), None, None]);

    let satiable = BandwidthFunction::new(&[0.0, 1.0], &[0.0, 1.0], 2.0, 0.0).unwrap();
    let endless = BandwidthFunction::new(&[0.0, 9.0], &[0.0, 9.0], 2.0, 1.0).unwrap();
    let utilities: Vec<std::sync::Arc<dyn Utility>> = vec![std::sync::Arc::new(satiable), std::sync::Arc::new(endless)];
    let solution = exact(&problem(&[4.0], &[&[0], &[0]], utilities));
    assert_eq!(solution.bottlenecks, [None, Some(0)]);

    // What another flow pays keeps the first out.
    let linear = Linear::new(vec![1.0, 3.0]).unwrap();
    let solution = exact(&problem(&[4.0], &[&[0], &[0]], linear));
    assert_eq!(solution.bottlenecks, [Some(0), Some(0)]);
}

#[test]
fn every_path_of_a_flow_has_its_own_bottleneck() {
    let paths = Paths::from_lists([vec![0], vec![1], vec![1], vec![0, 2]]);
    let problem = Problem::grouped(vec![3.0, 4.0, 50.0], paths, vec![0, 0, 1, 1], AlphaFair::proportional()).unwrap();
    let solution = exact(&problem);
    for (path, bottleneck) in solution.bottlenecks.iter().enumerate() {
        let expected = if path == 0 || path == 3 { 0 } else { 1 };
        assert!(bottleneck.is_none_or(|link| link == expected), "{:?}", solution.bottlenecks);
    }
    // Between them, both links are filled by someone.
    assert!(solution.bottlenecks.contains(&Some(0)) && solution.bottlenecks.contains(&Some(1)));
}

#[test]
fn bottlenecks_do_not_depend_on_the_units() {
    let base = common::leaf_spine(300, 2.0, 3);
    let here = solve(&base, &Ask::default()).unwrap();
    assert!(here.bottlenecks.iter().all(Option::is_some));
    for scale in [1e-9, 1e9] {
        let capacities = base.capacities().iter().map(|capacity| capacity * scale).collect();
        let weights =
            Parameter::from((0..300).map(|flow| 0.5 + ((flow * 7919) % 1000) as f64 / 1000.0).collect::<Vec<_>>());
        let scaled = Problem::new(capacities, base.paths().clone(), AlphaFair::new(2.0, weights).unwrap()).unwrap();
        assert_eq!(solve(&scaled, &Ask::default()).unwrap().bottlenecks, here.bottlenecks);
    }
}

#[test]
fn under_max_min_it_is_the_full_link_where_no_flow_has_a_larger_fair_share() {
    let fair = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
    // Link 0 fills at 1 each, link 1 later at 3 for the last flow.
    let shared = problem(&[2.0, 4.0, 9.0], &[&[0, 1], &[0], &[1], &[2]], fair.clone());
    let solution = exact(&shared.with_rate_caps(vec![f64::INFINITY, f64::INFINITY, f64::INFINITY, 2.0]).unwrap());
    assert_eq!(solution.bottlenecks, [Some(0), Some(0), Some(1), None]);
    assert_eq!(solution.prices, [0.5, 1.0, 0.0]);
}

/// The long flow pays on six links and gets nothing for it: each is as much its bottleneck, the first is named.
#[test]
fn a_flow_without_a_rate_has_a_bottleneck() {
    let links = 6;
    let all = (0..links).collect::<Vec<u32>>();
    let paths = Paths::from_lists(std::iter::once(all.clone()).chain(all.iter().map(|&link| vec![link])));
    let problem = Problem::new(vec![10.0; links as usize], paths, Linear::new(1.0).unwrap()).unwrap();
    let problem = problem.with_flow_caps(vec![20.0; links as usize + 1]).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert!(solution.rates[0] < 1e-6, "{:?}", solution.rates);
    assert!(solution.bottlenecks.iter().all(Option::is_some), "{:?}", solution.bottlenecks);
}
