//! The optimum over all paths of a network, and the cheapest paths that it rests on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use netnum_core::{
    AlphaFair, Ask, Cheaper, CheapestPaths, Error, Linear, Link, NetworkPaths, Paths, Problem, Progress, Ranks, Result,
    Settings, Status, Topology, Utilities, Utility, Workers, concurrent_flow_over_all_paths,
    min_utilization_over_all_paths, solve, solve_over_all_paths,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn named(nodes: usize, ends: usize, links: Vec<Link>) -> Topology {
    Topology::new("drawn", (0..nodes).map(|node| format!("n{node}")).collect(), ends, vec![0; nodes], links).unwrap()
}

/// The sources and destinations of all pairs of so many nodes.
fn all_pairs(nodes: usize) -> (Vec<usize>, Vec<usize>) {
    (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))).filter(|(from, to)| from != to).unzip()
}

/// A ring both ways with some chords, in any capacities.
fn drawn(rng: &mut ChaCha8Rng, nodes: u32) -> Topology {
    let mut joined: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    while joined.len() < 2 * nodes as usize - 2 {
        let (one, other) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
        if one != other {
            joined.push((one, other));
        }
    }
    let both = joined.into_iter().flat_map(|(from, to)| [(from, to), (to, from)]);
    let links = both.map(|(from, to)| Link { from, to, capacity: rng.random_range(0.5..5.0) }).collect();
    named(nodes as usize, nodes as usize, links)
}

/// Every way without loops of at most so many links.
fn ways(net: &Topology, from: u32, to: u32, most: usize) -> Vec<Vec<u32>> {
    let (mut found, mut walks) = (Vec::new(), vec![(from, Vec::new(), vec![from])]);
    while let Some((node, path, seen)) = walks.pop() {
        if node == to {
            found.push(path);
            continue;
        }
        if path.len() == most {
            continue;
        }
        for (number, link) in (0u32..).zip(net.links()) {
            if link.from == node && !seen.contains(&link.to) {
                let with = |mut list: Vec<u32>, next: u32| {
                    list.push(next);
                    list
                };
                walks.push((link.to, with(path.clone(), number), with(seen.clone(), link.to)));
            }
        }
    }
    found
}

#[test]
fn cheapest_paths_are_those_of_all_that_there_are_with_and_without_a_limit_of_links() {
    for seed in 0..40 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 6);
        let (sources, destinations) = all_pairs(6);
        // Half of the links are free.
        let prices: Vec<f64> =
            net.links().iter().map(|_| if rng.random_bool(0.5) { 0.0 } else { rng.random_range(0.0..1.0) }).collect();
        for limit in [None, Some(3), Some(5)] {
            let paths = NetworkPaths::within(&net, &sources, &destinations, limit, &[], &[]).unwrap();
            let any = vec![f64::INFINITY; sources.len()];
            let found = paths.cheaper(&prices, &any, &Ranks::alone()).unwrap();
            assert_eq!(found.flows.len(), sources.len());
            let cost = |links: &[u32]| links.iter().map(|&link| prices[link as usize]).sum::<f64>();
            for (flow, (&from, &to)) in sources.iter().zip(&destinations).enumerate() {
                let most = limit.map_or(5, |limit| limit as usize);
                let listed = ways(&net, from as u32, to as u32, most);
                let least = listed.iter().map(|way| cost(way)).fold(f64::INFINITY, f64::min);
                let own = found.paths.links(flow).to_vec();
                assert!(listed.contains(&own), "a way without loops, in order: {own:?}");
                assert!((cost(&own) - least).abs() <= 1e-12, "{limit:?}: {} and not {least}", cost(&own));
            }
            let cheaper = paths.cheaper(&prices, &vec![0.3; sources.len()], &Ranks::alone()).unwrap();
            assert!((0..cheaper.flows.len()).all(|path| cost(cheaper.paths.links(path)) < 0.3));
        }
    }
}

#[test]
fn the_optimum_over_all_paths_is_that_over_all_that_are_listed() {
    for seed in 0..12 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 6);
        let (sources, destinations) = net.random_pairs(5, seed).unwrap();
        let (mut lists, mut group) = (Vec::new(), Vec::new());
        for (flow, (&from, &to)) in (0u32..).zip(sources.iter().zip(&destinations)) {
            for way in ways(&net, from as u32, to as u32, 5) {
                lists.push(way);
                group.push(flow);
            }
        }
        let weights: Vec<f64> = (0..5).map(|_| rng.random_range(0.3..3.0)).collect();
        let mut caps: Vec<f64> = (0..5).map(|_| rng.random_range(0.5..6.0)).collect();
        // Where not all have one, paths to begin with are found another way.
        caps[seed as usize % 2] *= if seed < 8 { f64::INFINITY } else { 1.0 };
        for alpha in [0.0, 0.5, 1.0, 2.0, f64::INFINITY] {
            let paths = NetworkPaths::new(&net, &sources, &destinations).unwrap();
            let ask = Ask::from(Settings::default().with_tol(1e-8));
            let (first, listed) = match alpha {
                0.0 => {
                    let utility = || Linear::new(weights.clone()).unwrap();
                    let listed = Paths::from_lists(&lists);
                    let given = Problem::grouped(net.capacities().to_vec(), listed, group.clone(), utility());
                    (paths.problem(&net, utility()).unwrap(), given.unwrap())
                }
                alpha => {
                    let utility = || AlphaFair::new(alpha, weights.clone()).unwrap();
                    let listed = Paths::from_lists(&lists);
                    let given = Problem::grouped(net.capacities().to_vec(), listed, group.clone(), utility());
                    (paths.problem(&net, utility()).unwrap(), given.unwrap())
                }
            };
            let first = first.with_flow_caps(caps.clone()).unwrap();
            let listed = listed.with_flow_caps(caps.clone()).unwrap();
            let found = solve_over_all_paths(&first, &paths, &ask, &mut ()).unwrap();
            let given = solve(&listed, &ask).unwrap();
            assert_eq!(found.solution.status, Status::Optimal, "seed {seed}, alpha {alpha}: {found}");
            let (one, other) = (found.solution.objective, given.objective);
            assert!((one - other).abs() <= 1e-6 * other.abs().max(1.0), "{seed} {alpha}: {one} and not {other}");
            if alpha > 0.0 {
                for (one, other) in found.solution.flow_rates.iter().zip(&given.flow_rates) {
                    assert!((one - other).abs() <= 1e-3 * other, "{seed} {alpha}: {one} and not {other}");
                }
            }
            let used = &found.problem;
            assert_eq!((used.flows(), used.paths().len()), (5, found.solution.rates.len()));
        }
    }
}

#[test]
fn demands_are_carried_over_all_paths() {
    for seed in 0..10 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 7);
        let (sources, destinations) = net.random_pairs(8, seed).unwrap();
        let paths = NetworkPaths::new(&net, &sources, &destinations).unwrap();
        let demands = (0..8).map(|_| rng.random_range(0.2..2.0)).collect();
        let problem = paths.problem(&net, AlphaFair::proportional()).unwrap().with_flow_caps(demands).unwrap();
        let most = concurrent_flow_over_all_paths(&problem, &paths, None).unwrap();
        let least = min_utilization_over_all_paths(&problem, &paths, None).unwrap();
        assert!(most.flow.gap <= 1e-8 && least.flow.gap <= 1e-8, "{} {}", most.flow, least.flow);
        assert!((most.flow.fraction * least.flow.utilization - 1.0).abs() <= 1e-7);
        let kept = netnum_core::concurrent_flow(&most.problem).unwrap();
        assert!((kept.fraction - most.flow.fraction).abs() <= 1e-9 * kept.fraction);
    }
}

/// Paths over one of two waypoints: an oracle of its own, right or wrong.
#[derive(Debug)]
struct Given {
    ways: Vec<Vec<u32>>,
    answer: fn(&Self, &[f64]) -> Vec<u32>,
}

impl CheapestPaths for Given {
    fn flows(&self) -> usize {
        1
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], _: &dyn Workers) -> Result<Cheaper> {
        let way = (self.answer)(self, prices);
        let cost: f64 = way.iter().map(|&link| prices.get(link as usize).copied().unwrap_or(0.0)).sum();
        match cost < than[0] || way.is_empty() {
            true => Cheaper::new(vec![0], Paths::from_lists([way])),
            false => Cheaper::new(vec![], Paths::from_lists([[0; 0]; 0])),
        }
    }

    fn name(&self) -> String {
        "paths over a waypoint".into()
    }
}

fn cheapest(given: &Given, prices: &[f64]) -> Vec<u32> {
    let cost = |way: &&Vec<u32>| way.iter().map(|&link| prices[link as usize]).sum::<f64>();
    given.ways.iter().min_by(|one, other| cost(one).total_cmp(&cost(other))).unwrap().clone()
}

/// A flow that pays fifteen decades more than two others and may go beside either, beyond a link of its own. Floats
/// say nothing of the two ways.
#[derive(Debug)]
struct InDigits {
    /// What is answered where the second way is cheaper; nothing where digits beyond floats are not known.
    way: Option<Vec<u32>>,
}

impl CheapestPaths for InDigits {
    fn flows(&self) -> usize {
        3
    }

    fn cheaper(&self, _: &[f64], _: &[f64], _: &dyn Workers) -> Result<Cheaper> {
        Cheaper::new(vec![], Paths::from_lists([[0; 0]; 0]))
    }

    fn cheaper_exactly(&self, prices: &[u128], than: &[u128], _: &dyn Workers) -> Result<Option<Cheaper>> {
        let Some(way) = &self.way else { return Ok(None) };
        let flows = if prices[0] + prices[2] < than[0] { vec![0] } else { vec![] };
        let paths = Paths::from_lists(vec![way.clone(); flows.len()]);
        Cheaper::new(flows, paths).map(Some)
    }

    fn name(&self) -> String {
        "two ways".into()
    }
}

#[test]
fn paths_are_cheaper_in_digits_that_floats_do_not_have() {
    let utility = AlphaFair::new(4.0, vec![3e3, 1.0, 1.0]).unwrap();
    let paths = Paths::from_lists([vec![0, 1], vec![1], vec![2]]);
    let problem = Problem::new(vec![1000.0, 3200.0, 3201.0], paths, utility).unwrap();
    let solved = |way| solve_over_all_paths(&problem, &InDigits { way }, &Ask::default(), &mut ());
    let [with, without] = [Some(vec![0, 2]), None].map(|way| {
        let found = solved(way).unwrap();
        assert_eq!(found.solution.status, Status::Optimal);
        found.solution.flow_rates
    });
    for (rate, expected) in with.iter().zip([1000.0, 2700.5, 2700.5]) {
        assert!((rate / expected - 1.0).abs() < 1e-3, "{with:?}");
    }
    // An oracle that knows floats alone proves as much as these say.
    for (rate, expected) in without.iter().zip([1000.0, 2200.0, 3201.0]) {
        assert!((rate / expected - 1.0).abs() < 1e-3, "{without:?}");
    }
    for (way, expected) in [(vec![0, 9], "flow 0"), (vec![], "no links"), (vec![0, 1], "more than another")] {
        let error = solved(Some(way)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Two flows over link 0, and another way over link 1 that is found when the time of the solve is up.
#[derive(Debug)]
struct Late {
    until: Instant,
}

impl CheapestPaths for Late {
    fn flows(&self) -> usize {
        2
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], _: &dyn Workers) -> Result<Cheaper> {
        thread::sleep(self.until.saturating_duration_since(Instant::now()));
        let flows: Vec<u32> = (0..2).filter(|&flow| prices[1] < than[flow as usize]).collect();
        let paths = vec![[1]; flows.len()];
        Cheaper::new(flows, Paths::from_lists(paths))
    }

    fn name(&self) -> String {
        "two ways".into()
    }
}

/// 100 log x and log x, of which every value takes 25 ms when the time of the solve is up.
#[derive(Debug)]
struct Slow {
    until: Instant,
}

impl Slow {
    fn weight(&self, flow: usize) -> f64 {
        if Instant::now() >= self.until {
            thread::sleep(Duration::from_millis(25));
        }
        [100.0, 1.0][flow]
    }
}

impl Utility for Slow {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.weight(flow) * rate.ln()
    }

    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.weight(flow) / rate
    }

    fn flows(&self) -> Option<usize> {
        Some(2)
    }
}

#[test]
fn a_round_without_time_leaves_the_rates_of_the_one_before() {
    let limit = Duration::from_secs(1);
    let until = Instant::now() + limit + Duration::from_millis(100);
    let problem = Problem::new(vec![10.0, 0.01], Paths::from_lists([[0], [0]]), Slow { until }).unwrap();
    let ask = Ask::from(Settings::default().with_time_limit(limit)).with_point(vec![0.0; 2], vec![5.0; 2]);
    let found = solve_over_all_paths(&problem, &Late { until }, &ask, &mut ()).unwrap();
    assert_eq!((found.solution.status, found.rounds), (Status::TimeLimit, 2), "{found}");
    let rates = &found.solution.flow_rates;
    assert!(
        (rates[0] / rates[1] - 100.0).abs() < 1.0 && found.solution.certificate.relative_gap < f64::INFINITY,
        "{rates:?}, {found}"
    );
}

#[test]
fn an_oracle_of_ones_own_says_what_the_proof_is_over() {
    let all = Given { ways: vec![vec![0, 1], vec![2, 3]], answer: cheapest };
    let problem = Problem::new(vec![3.0, 4.0, 5.0, 2.0], Paths::from_lists([[0, 1]]), AlphaFair::proportional());
    let found = solve_over_all_paths(&problem.unwrap(), &all, &Ask::default(), &mut ()).unwrap();
    assert!((found.solution.flow_rates[0] - 5.0).abs() < 1e-4, "{found}");
    assert!(found.to_string().starts_with("Solution(optimal over paths over a waypoint, 1 flow, 4 links, 2 paths, "));
}

#[test]
fn a_path_that_cannot_be_the_cheapest_is_an_error_that_names_the_flow() {
    let problem = || Problem::new(vec![3.0, 4.0], Paths::from_lists([[0]]), AlphaFair::proportional()).unwrap();
    let message = |answer: fn(&Given, &[f64]) -> Vec<u32>| {
        let all = Given { ways: Vec::new(), answer };
        solve_over_all_paths(&problem(), &all, &Ask::default(), &mut ()).unwrap_err().to_string()
    };
    assert_eq!(message(|_, _| vec![]), "the cheapest path of flow 0 is wrong: its path has no links");
    assert_eq!(message(|_, _| vec![7]), "the cheapest path of flow 0 is wrong: its path names link 7 of 2 links");
    let failed = Problem::new(vec![3.0, 0.0], Paths::from_lists([[0]]), AlphaFair::proportional()).unwrap();
    let all = Given { ways: vec![vec![0], vec![1]], answer: cheapest };
    let error = solve_over_all_paths(&failed, &all, &Ask::default(), &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "the cheapest path of flow 0 is wrong: its path crosses link 1, which has failed");
    let two = Problem::new(vec![3.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    let all = Given { ways: vec![vec![0]], answer: cheapest };
    let error = solve_over_all_paths(&two, &all, &Ask::default(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Length { found: 1, expected: 2, .. }), "{error}");
}

#[test]
fn hanging_ends_cost_their_links_and_other_ends_do_not_forward() {
    // Ends 0, 1, 2; switches 3, 4. Ends 0 and 1 hang off 3, end 2 off both switches: it is no way between them.
    let both = |one: u32, other: u32| [(one, other), (other, one)];
    let joined = [both(0, 3), both(1, 3), both(2, 3), both(2, 4)].concat();
    let links = joined.into_iter().map(|(from, to)| Link { from, to, capacity: 1.0 }).collect();
    let net = named(5, 3, links);
    let paths = NetworkPaths::new(&net, &[0usize, 0], &[1usize, 2]).unwrap();
    let found = paths.fewest_hops(8, &Ranks::alone()).unwrap();
    assert_eq!((found.links(0), found.links(1)), (&[0, 3][..], &[0, 5][..]));
    assert_eq!(paths.most(net.capacities()), [1.0, 1.0]);
    let limited = NetworkPaths::within(&net, &[0usize], &[1usize], Some(1), &[], &[]).unwrap_err();
    assert_eq!(limited.to_string(), "1 pair has no path, n0 to n1: no path of at most 1 link joins it");
    // Two switches that only an end joins.
    let joined = [both(0, 3), both(1, 4), both(2, 3), both(2, 4)].concat();
    let links = joined.into_iter().map(|(from, to)| Link { from, to, capacity: 1.0 }).collect();
    let split = named(5, 3, links);
    assert!(NetworkPaths::new(&split, &[0usize], &[1usize]).is_err());
    assert!(NetworkPaths::new(&split, &[0usize], &[2usize]).is_ok());
}

#[test]
fn what_is_about_given_paths_is_refused() {
    let net = Topology::from_edges("a b 1\nb c 1").unwrap();
    let paths = NetworkPaths::new(&net, &["a"], &["c"]).unwrap();
    let problem = paths.problem(&net, AlphaFair::proportional()).unwrap();
    let error =
        |problem: &Problem, ask: &Ask| solve_over_all_paths(problem, &paths, ask, &mut ()).unwrap_err().to_string();
    let starts = |error: String, what: &str| {
        assert!(error.starts_with(&format!("a problem over all paths of a network takes no {what}: ")), "{error}");
    };
    starts(error(&problem.clone().with_rate_caps(vec![0.5]).unwrap(), &Ask::default()), "caps of single paths");
    starts(error(&problem.clone().with_path_costs(vec![0.5]).unwrap(), &Ask::default()), "costs of single paths");
    starts(error(&problem, &Ask::default().with_tie_costs(vec![1.0])), "tie costs");
    let method = error(&problem, &Ask::by("fast-ned"));
    assert_eq!(method, "method \"fast-ned\" cannot take all paths of a network; use \"auto\"");
    let point = error(&problem, &Ask::default().with_point(vec![0.0; 4], vec![1.0, 1.0]));
    assert_eq!(point, "the rates to start from has 2 entries, expected 1, one per path");
}

#[test]
fn a_solve_goes_on_from_the_paths_of_another_as_far_as_the_pairs_may_use_them() {
    let net = Topology::from_edges("a b 4\nb c 4\na c 1\nc d 9").unwrap();
    let before = NetworkPaths::new(&net, &["a", "a"], &["c", "b"]).unwrap();
    let problem = before.problem(&net, AlphaFair::proportional()).unwrap();
    let found = solve_over_all_paths(&problem, &before, &Ask::default(), &mut ()).unwrap();
    let carried = (found.problem.paths(), &*found.solution.rates);
    // Over one link, for another pair besides, and with a pair that comes twice.
    let paths = NetworkPaths::within(&net, &["a", "a", "a"], &["c", "c", "b"], Some(1), &[], &[]).unwrap();
    let problem = paths.problem(&net, AlphaFair::proportional()).unwrap();
    let (next, rates) = paths.go_on(&problem, &[], carried, &Ranks::alone()).unwrap();
    assert!(next.paths().iter().all(|links| links.len() == 1));
    assert_eq!(next.group(), [0, 1, 2]);
    assert_eq!(rates[0], rates[1], "a path of two flows carries as much of each");
    let ask = Ask::default().with_point(found.solution.prices.clone(), rates);
    let on = solve_over_all_paths(&next, &paths, &ask, &mut ()).unwrap();
    let cold = solve_over_all_paths(&problem, &paths, &Ask::default(), &mut ()).unwrap();
    for (one, other) in on.solution.flow_rates.iter().zip(&cold.solution.flow_rates) {
        assert!((one - other).abs() <= 1e-3 * other);
    }
    let short = paths.go_on(&problem, &[], (found.problem.paths(), &[1.0]), &Ranks::alone());
    assert!(matches!(short.unwrap_err(), Error::Length { found: 1, .. }));
}

#[test]
fn the_same_rates_are_carried_over_at_most_one_path_per_flow_and_link() {
    for seed in 0..40 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 12);
        let ends: Vec<(usize, usize)> = (0..12).map(|from| (from, (from + 5) % 12)).collect();
        let (sources, destinations): (Vec<usize>, Vec<usize>) = ends.into_iter().unzip();
        let paths = NetworkPaths::new(&net, &sources, &destinations).unwrap();
        let problem = paths.problem(&net, AlphaFair::new(2.0, 1.0).unwrap()).unwrap();
        let ask = Ask::default();
        let many = solve_over_all_paths(&problem, &paths, &ask, &mut ()).unwrap();
        let few = many.clone().over_few_paths(&paths, &[], None, &ask, &mut ()).unwrap();
        assert_eq!((many.solution.status, few.solution.status), (Status::Optimal, Status::Optimal));
        assert!(few.problem.paths().len() <= 12 + net.links().len());
        assert!(few.problem.paths().len() <= many.problem.paths().len());
        let carried = few.problem.flow_rates(&few.solution.rates).unwrap();
        for (rate, flow_rate) in carried.iter().zip(&few.solution.flow_rates) {
            assert!((rate - flow_rate).abs() <= 1e-9 * flow_rate);
        }
        for (load, capacity) in few.solution.loads.iter().zip(net.capacities()) {
            assert!(*load <= capacity * (1.0 + 1e-12));
        }
        let one = many.clone().over_few_paths(&paths, &[], Some(1), &ask, &mut ()).unwrap();
        assert_eq!(one.problem.paths().len(), 12);
        let missing = many.solution.objective - one.solution.objective;
        assert!(one.solution.status != Status::Optimal || missing <= 1e-5 * many.solution.objective.abs());
        assert!(many.over_few_paths(&paths, &[], Some(0), &ask, &mut ()).is_err());
    }
}

/// The cost of the cheapest walk between any two nodes, by Floyd and Warshall.
fn distances(net: &Topology, prices: &[f64]) -> Vec<Vec<f64>> {
    let nodes = net.node_names().len();
    let mut costs = vec![vec![f64::INFINITY; nodes]; nodes];
    for (link, price) in net.links().iter().zip(prices) {
        let cost = &mut costs[link.from as usize][link.to as usize];
        *cost = cost.min(*price);
    }
    for over in 0..nodes {
        let onwards = costs[over].clone();
        for row in &mut costs {
            let until = row[over];
            row.iter_mut().zip(&onwards).for_each(|(cost, rest)| *cost = cost.min(until + rest));
        }
    }
    costs
}

#[test]
fn the_gap_is_what_the_cheapest_paths_of_another_search_prove() {
    for seed in 0..8 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 9);
        let (sources, destinations) = net.random_pairs(20, seed).unwrap();
        let weights: Vec<f64> = (0..20).map(|_| rng.random_range(0.3..3.0)).collect();
        let caps: Vec<f64> = (0..20).map(|_| rng.random_range(0.05..2.0)).collect();
        let paths = NetworkPaths::new(&net, &sources, &destinations).unwrap();
        for (alpha, capped) in [(0.5, true), (1.0, true), (1.0, false), (2.0, true), (4.0, false)] {
            let problem = paths.problem(&net, AlphaFair::new(alpha, weights.clone()).unwrap()).unwrap();
            let problem = if capped { problem.with_flow_caps(caps.clone()).unwrap() } else { problem };
            let found = solve_over_all_paths(&problem, &paths, &Ask::default(), &mut ()).unwrap();
            let what = format!("seed {seed}, alpha {alpha}, capped {capped}: {found}");
            assert_eq!(found.solution.status, Status::Optimal, "{what}");
            let utility = |weight: f64, rate: f64| match alpha {
                1.0 => weight * rate.ln(),
                _ => weight.powf(alpha) * rate.powf(1.0 - alpha) / (1.0 - alpha),
            };
            let costs = distances(&net, &found.solution.prices);
            let (mut missing, mut worth) = (0.0, 0.0);
            for (price, capacity) in found.solution.prices.iter().zip(net.capacities()) {
                missing += price * capacity;
            }
            for (flow, (&from, &to)) in sources.iter().zip(&destinations).enumerate() {
                let (weight, rate) = (weights[flow], found.solution.flow_rates[flow]);
                let cost = costs[from][to];
                let best = (weight * cost.powf(-1.0 / alpha)).min(if capped { caps[flow] } else { f64::INFINITY });
                missing += utility(weight, best) - best * cost - utility(weight, rate);
                worth += weight.powf(alpha) * rate.powf(1.0 - alpha);
            }
            assert!((-1e-9..=1e-6).contains(&(missing / worth)), "{}: {what}", missing / worth);
            for (link, (load, capacity)) in found.solution.loads.iter().zip(net.capacities()).enumerate() {
                assert!(*load <= capacity * (1.0 + 1e-9), "link {link}: {what}");
            }
        }
    }
}

/// Every walk of at most so many links, nodes that come twice included.
fn walks(net: &Topology, from: u32, to: u32, most: usize) -> Vec<Vec<u32>> {
    let (mut found, mut walks) = (Vec::new(), vec![(from, Vec::new())]);
    while let Some((node, path)) = walks.pop() {
        if node == to {
            found.push(path.clone());
        }
        if path.len() == most {
            continue;
        }
        for (number, link) in (0u32..).zip(net.links()).filter(|(_, link)| link.from == node) {
            walks.push((link.to, [&*path, &[number]].concat()));
        }
    }
    found
}

#[test]
fn under_a_limit_of_links_it_is_the_optimum_over_all_walks_of_so_many() {
    for seed in 0..6 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 5);
        let ends: Vec<(usize, usize)> =
            (0..5).flat_map(|from| [(from, (from + 1) % 5), (from, (from + 2) % 5)]).collect();
        let (sources, destinations): (Vec<usize>, Vec<usize>) = ends.into_iter().unzip();
        let weights: Vec<f64> = (0..10).map(|_| rng.random_range(0.3..3.0)).collect();
        let caps: Vec<f64> = (0..10).map(|_| rng.random_range(0.5..4.0)).collect();
        for (limit, alpha) in [(2, 1.0), (3, 1.0), (4, 2.0), (2, f64::INFINITY), (3, f64::INFINITY)] {
            let utility = || AlphaFair::new(alpha, weights.clone()).unwrap();
            let (mut lists, mut group) = (Vec::new(), Vec::new());
            for (flow, (&from, &to)) in (0u32..).zip(sources.iter().zip(&destinations)) {
                // A link that comes twice is used twice by what goes that way.
                let listed = walks(&net, from as u32, to as u32, limit);
                let once = listed.into_iter().filter(|walk| {
                    let mut sorted = walk.clone();
                    sorted.sort_unstable();
                    sorted.windows(2).all(|two| two[0] != two[1])
                });
                lists.extend(once);
                group.resize(lists.len(), flow);
            }
            let listed = Problem::grouped(net.capacities().to_vec(), Paths::from_lists(&lists), group, utility());
            let listed = listed.unwrap().with_flow_caps(caps.clone()).unwrap();
            let paths = NetworkPaths::within(&net, &sources, &destinations, Some(limit as u32), &[], &[]).unwrap();
            let first = paths.problem(&net, utility()).unwrap().with_flow_caps(caps.clone()).unwrap();
            let ask = Ask::from(Settings::default().with_tol(1e-8));
            let found = solve_over_all_paths(&first, &paths, &ask, &mut ()).unwrap();
            let given = solve(&listed, &ask).unwrap();
            let what = format!("seed {seed}, at most {limit} links, alpha {alpha}: {found}");
            assert_eq!((found.solution.status, given.status), (Status::Optimal, Status::Optimal), "{what}");
            assert!(found.problem.paths().iter().all(|links| links.len() <= limit), "{what}");
            for (flow, (one, other)) in found.solution.flow_rates.iter().zip(&given.flow_rates).enumerate() {
                assert!((one - other).abs() <= 1e-3 * other, "flow {flow} has {one} and not {other}: {what}");
            }
        }
    }
}

#[test]
fn max_min_that_a_limit_ends_in_its_second_round_is_not_optimal_over_all_paths() {
    let link = |from, to, capacity| Link { from, to, capacity };
    let (u, x, y, w) = (0, 1, 2, 3);
    let links = vec![link(x, y, 3.0), link(u, x, 9.0), link(u, w, 9.0), link(w, y, 9.0)];
    let net = named(4, 4, links);
    let paths = NetworkPaths::new(&net, &[u, x].map(|node: u32| node as usize), &[y as usize; 2]).unwrap();
    let problem = paths.problem(&net, AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
    // Both go over the link with 3 at first, and one of them has a way around.
    let on_l = || Ask::default().with_point(vec![0.0; 4], vec![0.0; 2]);
    let whole = solve_over_all_paths(&problem, &paths, &on_l(), &mut ()).unwrap();
    assert_eq!((whole.solution.status, whole.rounds), (Status::Optimal, 2), "{whole}");
    let ends = |settings: Settings| {
        let found = solve_over_all_paths(&problem, &paths, &on_l().with_settings(settings), &mut ()).unwrap();
        let (status, gap) = (found.solution.status, found.solution.certificate.relative_gap);
        assert!(status != Status::Optimal && gap > 0.1, "{found}");
    };
    (0..whole.solution.iterations).for_each(|most| ends(Settings::default().with_max_iterations(most)));
}

#[test]
fn a_flow_that_its_cap_has_fixed_makes_way_for_one_that_still_rises() {
    // A goes from u over L, which B goes along from x to y, or around it by way of w and z.
    let link = |from, to, capacity| Link { from, to, capacity };
    let (u, x, y, w, z) = (0, 1, 2, 3, 4);
    for seed in 0..30 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        // The first is A with a cap of 1 on L with 3, and room for all of it around.
        let (of_l, around, cap) = match seed {
            0 => (3.0, 9.0, 1.0),
            _ => (rng.random_range(0.5..4.0), rng.random_range(0.1..4.0), rng.random_range(0.1..5.0)),
        };
        let links = vec![link(x, y, of_l), link(u, x, 9.0), link(u, w, 9.0), link(w, z, around), link(z, y, 9.0)];
        let net = named(5, 5, links);
        let paths = NetworkPaths::new(&net, &[u as usize, x as usize], &[y as usize, y as usize]).unwrap();
        let problem = paths.problem(&net, AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
        let problem = problem.with_flow_caps(vec![cap, 9.0]).unwrap();
        // Both share what there is, but B has L alone and A stops at its cap.
        let a = f64::min(cap, f64::max(around, 0.5 * (of_l + around)));
        let b = f64::min(of_l, of_l + around - a);
        // From its point of a start nothing is known of the way around.
        let on_l = Ask::default().with_point(vec![0.0; 5], vec![0.0; 2]);
        for (ask, least_rounds) in [(Ask::default(), 1), (on_l, 2)] {
            let found = solve_over_all_paths(&problem, &paths, &ask, &mut ()).unwrap();
            assert_eq!(found.solution.status, Status::Optimal, "seed {seed}: {found}");
            assert!(found.rounds >= least_rounds, "seed {seed}: {found}");
            let rates = &found.solution.flow_rates;
            let wrong = (rates[0] - a).abs().max((rates[1] - b).abs());
            assert!(wrong <= 1e-9, "seed {seed}: {rates:?} and not {a}, {b}");
        }
    }
}

#[test]
fn demands_of_nothing_are_carried_any_number_of_times() {
    let net = Topology::from_edges("a b 4\nb c 4").unwrap();
    let paths = NetworkPaths::new(&net, &["a", "b"], &["c", "c"]).unwrap();
    let problem = paths.problem(&net, AlphaFair::proportional()).unwrap().with_flow_caps(vec![0.0; 2]).unwrap();
    for time_limit in [None, Some(Duration::from_secs(60))] {
        let most = concurrent_flow_over_all_paths(&problem, &paths, time_limit).unwrap();
        assert_eq!((most.flow.fraction, most.flow.bound, most.flow.gap), (f64::INFINITY, f64::INFINITY, 0.0));
        assert_eq!((most.flow.status, most.rounds), (Status::Optimal, 1));
        let least = min_utilization_over_all_paths(&problem, &paths, time_limit).unwrap();
        assert_eq!((least.flow.utilization, least.flow.bound, least.flow.gap), (0.0, 0.0, 0.0));
        assert_eq!(least.flow.status, Status::Optimal);
    }
}

/// The paths of a network, asked for twice before the time is up.
#[derive(Debug)]
struct Twice {
    all: NetworkPaths,
    left: AtomicUsize,
}

impl CheapestPaths for Twice {
    fn flows(&self) -> usize {
        self.all.flows()
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], workers: &dyn Workers) -> Result<Cheaper> {
        let has_time = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_time).map_err(|_| Error::Stopped)?;
        self.all.cheaper(prices, than, workers)
    }

    fn name(&self) -> String {
        self.all.name()
    }
}

#[test]
fn demands_that_are_stopped_at_once_have_a_bound_and_no_cut() {
    // The path to begin with is the direct link; around it all others are free.
    let net = Topology::from_edges("a b 4\nb c 4\na c 1").unwrap();
    let all = || NetworkPaths::new(&net, &["a", "b"], &["c", "c"]).unwrap();
    let problem = all().problem(&net, AlphaFair::proportional()).unwrap().with_flow_caps(vec![4.0, 2.0]).unwrap();
    let (limit, twice) = (Some(Duration::ZERO), || Twice { all: all(), left: AtomicUsize::new(2) });
    let proven = concurrent_flow_over_all_paths(&problem, &all(), None).unwrap().flow;
    let most = concurrent_flow_over_all_paths(&problem, &twice(), limit).unwrap().flow;
    assert!(most.fraction <= proven.fraction && proven.fraction <= most.bound && most.gap < 10.0, "{most}, {proven}");
    let proven = min_utilization_over_all_paths(&problem, &all(), None).unwrap().flow;
    let least = min_utilization_over_all_paths(&problem, &twice(), limit).unwrap().flow;
    assert!(least.bound <= proven.utilization && proven.utilization <= least.utilization, "{least}, {proven}");
    assert!(0.0 < least.bound && least.gap < 10.0, "{least}");
    for flow in [most, least] {
        assert_eq!((flow.status, flow.cut.links.len(), flow.cut.flows.len()), (Status::TimeLimit, 0, 0), "{flow}");
    }
    // Prices of 1/c alone may prove that the first paths are best: all links together are the cut.
    let lines: Vec<String> = (0..5).flat_map(|to| (0..to).map(move |from| format!("n{from} n{to} 1"))).collect();
    let net = Topology::from_edges(&lines.join("\n")).unwrap();
    let (sources, destinations): (Vec<String>, Vec<String>) = (0..20)
        .map(|pair| (pair / 4, (pair / 4 + 1 + pair % 4) % 5))
        .map(|(from, to)| (format!("n{from}"), format!("n{to}")))
        .unzip();
    let all = NetworkPaths::new(&net, &sources, &destinations).unwrap();
    let problem = all.problem(&net, AlphaFair::proportional()).unwrap().with_flow_caps(vec![1.0; 20]).unwrap();
    let twice = Twice { all, left: AtomicUsize::new(2) };
    let flow = concurrent_flow_over_all_paths(&problem, &twice, limit).unwrap().flow;
    assert_eq!(
        (flow.status, flow.fraction, flow.cut.links.len(), flow.cut.flows.len()),
        (Status::Optimal, 1.0, 20, 20)
    );
}

#[test]
fn flows_keep_their_floors_where_a_limit_leaves_no_time_to_solve_over_fewer_paths() {
    let net = Topology::from_edges("a b 2\nb c 2\na c 1").unwrap();
    let paths = NetworkPaths::new(&net, &["a"], &["c"]).unwrap();
    let problem = paths.problem(&net, AlphaFair::proportional()).unwrap().with_flow_floors(vec![2.5]).unwrap();
    let ask = Ask::from(Settings::default().with_max_iterations(1));
    let many = solve_over_all_paths(&problem, &paths, &ask, &mut ()).unwrap();
    assert_eq!(many.solution.status, Status::MaxIterations, "{many}");
    let one = many.over_few_paths(&paths, &[], Some(1), &ask, &mut ()).unwrap();
    assert!(one.solution.flow_rates[0] >= 2.5 * (1.0 - 1e-9), "{one}: {:?}", one.solution.flow_rates);
}

#[test]
fn the_trace_over_all_paths_is_of_all_rounds_and_ends_with_the_answer() {
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let net = drawn(rng, 12);
    let (sources, destinations) = all_pairs(12);
    let pairs = NetworkPaths::new(&net, &sources, &destinations).unwrap();
    let problem = pairs.problem(&net, AlphaFair::proportional()).unwrap();
    let ask = Ask::from(Settings::default().with_trace(true));
    let found = solve_over_all_paths(&problem, &pairs, &ask, &mut ()).unwrap();
    let trace = &found.solution.trace;
    assert!(found.rounds > 1, "{found}");
    assert!(trace.windows(2).all(|rows| rows[0].iteration <= rows[1].iteration && rows[0].seconds <= rows[1].seconds));
    let last = trace.last().unwrap();
    assert_eq!((last.iteration, last.gap), (found.solution.iterations, found.solution.certificate.relative_gap));
    // Where paths are left out, what follows is in it too.
    let one = found.over_few_paths(&pairs, &[], Some(1), &ask, &mut ()).unwrap().solution;
    let last = one.trace.last().unwrap();
    assert_eq!((last.iteration, last.gap), (one.iterations, one.certificate.relative_gap));
    assert!(one.trace.windows(2).all(|rows| rows[0].iteration <= rows[1].iteration));
    assert!(one.trace.windows(2).all(|rows| rows[0].seconds <= rows[1].seconds));
}

#[test]
fn an_observer_of_every_iteration_sees_a_gap_over_all_paths_after_the_first_round() {
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let net = drawn(rng, 12);
    let (sources, destinations) = all_pairs(12);
    let pairs = NetworkPaths::new(&net, &sources, &destinations).unwrap();
    for utility in [AlphaFair::proportional(), AlphaFair::new(f64::INFINITY, vec![1.0; sources.len()]).unwrap()] {
        let problem = pairs.problem(&net, utility).unwrap();
        // It stops at a gap that is proven, which is that of the answer or more.
        let mut seen = f64::INFINITY;
        let mut until = |progress: &Progress| {
            seen = progress.gap;
            if seen < f64::INFINITY { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = solve_over_all_paths(&problem, &pairs, &Ask::default(), &mut until).unwrap();
        assert_eq!(found.solution.status, Status::Stopped, "{found}");
        assert!(found.solution.certificate.relative_gap <= seen * (1.0 + 1e-9), "{seen}, {found}");
    }
}

#[test]
fn links_that_the_paths_left_to_flows_do_not_cross_count_in_the_distance_to_all_paths() {
    // Of its two paths a flow keeps the larger one, and the link of the other is idle.
    let net = Topology::from_edges("a b 2\nb c 2\na c 1").unwrap();
    let paths = NetworkPaths::new(&net, &["a"], &["c"]).unwrap();
    let problem = paths.problem(&net, Linear::new(vec![1.0]).unwrap()).unwrap();
    let ask = Ask::default();
    let many = solve_over_all_paths(&problem, &paths, &ask, &mut ()).unwrap();
    assert!((many.solution.objective - 3.0).abs() < 1e-6, "{many}");
    let one = many.over_few_paths(&paths, &[], Some(1), &ask, &mut ()).unwrap();
    assert!((one.solution.objective - 2.0).abs() < 1e-4, "{one}");
    let gap = one.solution.certificate.relative_gap;
    assert!((gap - 0.5).abs() < 0.01, "{gap}");
    assert_eq!(one.solution.status, Status::FewerPaths, "{one}");
}

#[test]
fn from_an_answer_demands_that_have_grown_take_no_more_iterations_than_afresh() {
    // All demands just fit, so that most links are free before, and some too full after.
    let (mut again, mut afresh) = (0, 0);
    for seed in 0..6 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let net = drawn(rng, 30);
        let (sources, destinations) = all_pairs(30);
        let pairs = NetworkPaths::new(&net, &sources, &destinations).unwrap();
        let volumes: Vec<f64> = sources.iter().map(|_| 0.05 * rng.random_range(-1.0..1.0f64).exp()).collect();
        let problem = pairs.problem(&net, AlphaFair::proportional()).unwrap();
        let demands = problem.clone().with_flow_caps(volumes.clone()).unwrap();
        let fullest = min_utilization_over_all_paths(&demands, &pairs, None).unwrap().flow.utilization;
        let times = |factor: f64| {
            let volumes = volumes.iter().map(|volume| factor / fullest * volume).collect();
            problem.clone().with_flow_caps(volumes).unwrap()
        };
        let before = solve_over_all_paths(&times(1.0), &pairs, &Ask::default(), &mut ()).unwrap();
        let carried = (before.problem.paths(), &*before.solution.rates);
        let (next, rates) = pairs.go_on(&times(1.3), &[], carried, &Ranks::alone()).unwrap();
        let ask = Ask::default().with_point(before.solution.prices.clone(), rates);
        let warm = solve_over_all_paths(&next, &pairs, &ask, &mut ()).unwrap();
        let cold = solve_over_all_paths(&times(1.3), &pairs, &Ask::default(), &mut ()).unwrap();
        (again, afresh) = (again + warm.solution.iterations, afresh + cold.solution.iterations);
    }
    assert!(again <= afresh, "{again} from the answer before, {afresh} afresh");
}

/// Paths of a network, whose prices have to be numbers.
#[derive(Debug)]
struct Counted {
    all: NetworkPaths,
    asked: AtomicUsize,
}

impl CheapestPaths for Counted {
    fn flows(&self) -> usize {
        self.all.flows()
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], workers: &dyn Workers) -> Result<Cheaper> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(prices.iter().all(|price| *price >= 0.0), "{prices:?}");
        self.all.cheaper(prices, than, workers)
    }

    fn most(&self, capacities: &[f64]) -> Vec<f64> {
        self.all.most(capacities)
    }

    fn name(&self) -> String {
        self.all.name()
    }
}

#[test]
fn flows_that_can_have_nothing_do_not_keep_others_from_their_first_paths() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let net = drawn(rng, 12);
    let (sources, destinations) = net.random_pairs(60, 1).unwrap();
    for alpha in [0.0, 0.01, 0.5, 1.0] {
        for weight in [1.0, 1e-200, 1e200] {
            let of = |cap: f64| {
                let weights = vec![weight; 60];
                let utility: Utilities = match alpha {
                    0.0 => Linear::new(weights).unwrap().into(),
                    alpha => AlphaFair::new(alpha, weights).unwrap().into(),
                };
                let all = NetworkPaths::new(&net, &sources, &destinations).unwrap();
                let mut caps = vec![f64::INFINITY; 60];
                caps[7] = cap;
                let problem = all.problem(&net, utility).unwrap().with_flow_caps(caps).unwrap();
                let all = Counted { all, asked: 0.into() };
                let found = solve_over_all_paths(&problem, &all, &Ask::default(), &mut ()).unwrap();
                assert_eq!(found.solution.status, Status::Optimal, "{alpha} {weight}: {found}");
                (found.rounds, all.asked.into_inner())
            };
            let ((rounds, asked), (with_none, asked_with)) = (of(f64::INFINITY), of(0.0));
            assert!(with_none <= rounds + 1, "{alpha} {weight}: {with_none} rounds and not {rounds}");
            assert!(asked.min(asked_with) > 2 * rounds, "{alpha} {weight}: {asked} and {asked_with} searches");
        }
    }
}

#[test]
fn what_links_without_limit_carry_is_limited_by_caps_alone() {
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let links = [(0, 1), (1, 2)].map(|(from, to)| Link { from, to, capacity: f64::INFINITY }).to_vec();
    let net = Topology::new("net", names, 3, vec![0; 3], links).unwrap();
    let all = NetworkPaths::new(&net, &["a"], &["c"]).unwrap();
    for utility in [Utilities::from(AlphaFair::new(0.5, vec![1.0]).unwrap()), Linear::new(vec![2.0]).unwrap().into()] {
        let problem = all.problem(&net, utility).unwrap().with_flow_caps(vec![50.0]).unwrap();
        let found = solve_over_all_paths(&problem, &all, &Ask::default(), &mut ()).unwrap();
        let rate = found.solution.rates[0];
        assert!(found.solution.status == Status::Optimal && (rate - 50.0).abs() <= 1e-4, "{found}: {rate}");
    }
}
