//! Whatever takes long heeds a token that has stopped, and says so in place of an answer.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use netnum_core::{AlphaFair, Ask, Error, METHODS, Paths, Problem, Result, Solver, StopToken, Topology, Utilities};

fn stops<T: std::fmt::Debug>(name: &str, work: impl FnOnce() -> Result<T>) {
    let token = StopToken::new();
    token.stop();
    assert_eq!(token.scope(work).unwrap_err(), Error::Stopped, "{name}");
}

/// So many paths over two links each.
fn many(paths: usize) -> Paths {
    Paths::from_lists((0..paths as u32).map(|path| [path % 100, 100 + path % 7]))
}

#[test]
fn networks_and_routes() {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let (sources, destinations) = net.random_pairs(20_000, 1).unwrap();
    stops("random_pairs", || net.random_pairs(20_000, 1));
    stops("ecmp", || net.ecmp(&sources, &destinations, 1));
    stops("paths", || net.paths(0, 143));
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    stops("check_walks", || net.check_walks(&paths));
    stops("leaf_spine", || Topology::leaf_spine(100, 100, 4, 1.0, 1.0));
    stops("fat_tree", || Topology::fat_tree(32, 1.0));
    stops("star", || Topology::star(20_000, 1.0));
    stops("parking_lot", || Topology::parking_lot(20_000, 1.0));
    let text: String = (0..20_000).map(|edge| format!("a{edge} b{edge} 1\n")).collect();
    stops("from_edges", || Topology::from_edges(&text));
    let names = (0..100_000).map(|node| format!("n{node}")).collect();
    stops("Topology::new", || Topology::new("test", names, 2, vec![0; 100_000], vec![]));
}

#[test]
fn problems_and_their_files() {
    let fair = AlphaFair::proportional;
    let capacities = || vec![1.0; 107];
    stops("Problem::new", || Problem::new(capacities(), many(20_000), fair()));
    let specs: Vec<_> = (0..20_000).map(|_| netnum_core::Utility::spec(&fair(), 0).unwrap()).collect();
    let problem = Problem::new(capacities(), many(20_000), Utilities::Specs(specs)).unwrap();
    stops("to_json", || problem.to_json());
    let text = problem.to_json().unwrap();
    stops("from_json", || Problem::from_json(&text));
    assert!(Problem::from_json(&text).is_ok());
}

thread_local! {
    /// Looks at a token that are still answered with no.
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

fn no_more_looks() -> bool {
    LOOKS.replace(LOOKS.get().saturating_sub(1)) == 0
}

/// Wherever a step is stopped, the next one goes on from there.
#[test]
fn steps_of_every_method() {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let (sources, destinations) = net.random_pairs(3000, 1).unwrap();
    let paths: Vec<Paths> = [1, 2].map(|seed| net.ecmp(&sources, &destinations, seed).unwrap()).into();
    let lists = || paths.iter().flat_map(|paths| paths.iter().map(<[u32]>::to_vec));
    let flows = sources.len() as u32;
    let weights: Vec<f64> = (0..flows).map(|flow| 1.0 + f64::from(flow % 7)).collect();
    let mut stopped = BTreeMap::new();
    for method in METHODS.iter().filter(|method| method.name != "max-min") {
        for group in [(0..flows).collect(), (0..flows).chain(0..flows).collect::<Vec<u32>>()] {
            let paths = Paths::from_lists(lists().take(group.len()));
            let utilities = AlphaFair::new(1.5, weights.clone()).unwrap();
            let problem = Problem::grouped(net.capacities().to_vec(), paths, group, utilities).unwrap();
            let Ok(mut through) = Solver::new(&problem, &Ask::by(method.name)) else { continue };
            through.step(4).unwrap();
            for (before, looks) in (0..2).flat_map(|before| (0..7).map(move |looks| (before, looks))) {
                let mut solver = Solver::new(&problem, &Ask::by(method.name)).unwrap();
                solver.step(before).unwrap();
                LOOKS.set(looks);
                let outcome = StopToken::with_poll(Duration::ZERO, no_more_looks).scope(|| solver.step(1));
                assert_eq!(outcome.clone().err().into_iter().find(|error| *error != Error::Stopped), None);
                *stopped.entry(method.name).or_insert(0) += usize::from(outcome.is_err());
                solver.step(4 - solver.iteration()).unwrap();
                assert_eq!(solver.prices(), through.prices(), "{} stopped at look {looks}", method.name);
                assert_eq!(solver.raw_rates(), through.raw_rates(), "{} stopped at look {looks}", method.name);
            }
        }
    }
    let long = ["fast-ned", "ned", "gradient", "interior-point"];
    assert!(long.iter().all(|method| stopped[method] > 0), "{stopped:?}");
}

/// A fabric of so many switches that fast NED goes along its flat directions from its ninth step on.
fn of_many_switches() -> Problem {
    let net = Topology::leaf_spine(100, 4, 4, 10.0, 10.0).unwrap();
    let (sources, destinations) = net.random_pairs(20_000, 7).unwrap();
    let paths = net.ecmp(&sources, &destinations, 7).unwrap();
    let unequal = |(link, capacity): (usize, &f64)| capacity * (1.0 + 0.1 * (link % 5) as f64);
    let capacities = net.capacities().iter().enumerate().map(unequal).collect();
    Problem::new(capacities, paths, AlphaFair::proportional()).unwrap()
}

fn fast_ned(problem: &Problem) -> Solver {
    Solver::new(problem, &Ask::by("fast-ned")).unwrap()
}

#[test]
fn steps_along_flat_directions() {
    let problem = of_many_switches();
    let mut through = fast_ned(&problem);
    through.step(12).unwrap();
    let mut stopped = 0;
    for (before, looks) in [0, 7, 8, 9].into_iter().flat_map(|before| [0, 1, 2, 5, 9].map(|looks| (before, looks))) {
        let mut solver = fast_ned(&problem);
        solver.step(before).unwrap();
        LOOKS.set(looks);
        let outcome = StopToken::with_poll(Duration::ZERO, no_more_looks).scope(|| solver.step(1));
        stopped += usize::from(outcome.is_err());
        solver.step(12 - solver.iteration()).unwrap();
        assert_eq!(solver.prices(), through.prices(), "stopped after {before} steps at look {looks}");
    }
    assert!(stopped > 8, "{stopped}");
}
