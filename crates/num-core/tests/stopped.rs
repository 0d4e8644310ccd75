//! Whatever takes long heeds a token that has stopped, and says so in place of an answer.

use netnum_core::{AlphaFair, Error, Paths, Problem, Result, StopToken, Topology, Utilities};

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
