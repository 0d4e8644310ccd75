//! Links that both directions share.

use netnum_core::{AlphaFair, Ask, Error, Paths, Problem, Topology, solve};
use proptest::prelude::*;

/// A line of nodes whose links are shared where the mask says so, and else run one way.
fn line(shared: &[bool]) -> Topology {
    let text: String = (0..shared.len()).map(|node| format!("n{node} n{} 4\n", node + 1)).collect();
    let both = Topology::from_edges(&text).unwrap();
    let links = both.links().iter().copied().step_by(2).collect();
    let nodes = both.node_names().len();
    let net = Topology::new("line", both.node_names().to_vec(), nodes, vec![0; nodes], links).unwrap();
    let shared: Vec<u32> = (0..).zip(shared).filter_map(|(link, &is)| is.then_some(link)).collect();
    net.with_shared(&shared).unwrap()
}

#[test]
fn it_is_one_link_walked_both_ways_with_one_capacity() {
    let net = line(&[true, true]);
    assert_eq!(net.link_names(), ["n0 - n1", "n1 - n2"]);
    assert_eq!((net.link(1, 0), net.route(&[2, 1, 0]).unwrap()), (Ok(0), vec![1, 0]));
    assert_eq!((net.beyond(0, 0), net.beyond(0, 1), net.beyond(0, 2)), (Some(1), Some(0), None));
    let paths = net.ecmp(&[0, 2], &[2, 0], 1).unwrap();
    let utility = AlphaFair::new(1.0, 1.0).unwrap();
    let problem = Problem::new(net.capacities().to_vec(), paths, utility).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert!(solution.rates.iter().all(|rate| (rate - 2.0).abs() < 1e-4), "{:?}", solution.rates);
}

#[test]
fn links_that_do_not_exist_lead_nowhere() {
    for net in [line(&[true, true]), line(&[false, true])] {
        assert_eq!(net.beyond(2, 0), None);
        for links in [&[7][..], &[0, 2], &[2, 0]] {
            assert_eq!(net.walk_ends(links), None, "{links:?}");
        }
        assert_eq!(net.walk_ends(&[]), None);
    }
}

#[test]
fn capacities_failures_and_json_keep_it() {
    let net = line(&[true, false]);
    let text = serde_json::to_string(&net).unwrap();
    assert!(text.contains("\"shared\":[0]"), "{text}");
    assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), net);
    let failed = net.clone().without(&[0]).unwrap();
    assert_eq!(failed.has_path(&[1], &[0]).unwrap(), [false]);
    assert_eq!(failed.with_capacities(net.capacities().to_vec()).unwrap(), net);
    assert_eq!(net.clone().with_shared(&[]).unwrap().shared(), [0; 0]);
    assert_eq!(net.with_shared(&[2]).unwrap_err(), Error::UnknownLink { link: 2, links: 2 });
}

#[test]
fn links_that_make_no_walk_are_refused() {
    let net = line(&[true, true, true]);
    for links in [vec![0, 2], vec![2, 0]] {
        let error = net.check_walks(&Paths::from_lists([links])).unwrap_err();
        assert!(error.to_string().contains("does not lead to"), "{error}");
    }
    // Three links at one node: no walk crosses them all, though any two of them are one.
    let star = Topology::from_edges("m a 1\nm b 1\nm c 1").unwrap();
    let links = star.links().iter().copied().step_by(2).collect();
    let star = Topology::new("star", star.node_names().to_vec(), 4, vec![0; 4], links).unwrap();
    let star = star.with_shared(&[0, 1, 2]).unwrap();
    assert!(star.check_walks(&Paths::from_lists([[0, 1], [2, 0]])).is_ok());
    assert!(star.check_walks(&Paths::from_lists([[0, 1, 2]])).is_err());
}

proptest! {
    /// One way or the other, in whatever order they are listed.
    #[test]
    fn the_links_of_a_walk_are_one_in_any_order(
        mask in proptest::collection::vec(any::<bool>(), 1..7),
        order in any::<proptest::sample::Index>(),
        turned in any::<bool>(),
    ) {
        let net = line(&mask);
        let mut links: Vec<u32> = (0..mask.len() as u32).collect();
        links.rotate_left(order.index(mask.len()));
        if turned {
            links.reverse();
        }
        prop_assert!(net.check_walks(&Paths::from_lists([links.clone()])).is_ok(), "{links:?} {mask:?}");
        let ends = net.walk_ends(&links).unwrap();
        prop_assert!(ends == (0, mask.len()) || ends == (mask.len(), 0), "{ends:?}");
        if !mask.iter().all(|&shared| shared) {
            prop_assert!(net.route(&(0..=mask.len()).rev().collect::<Vec<_>>()).is_err());
        }
    }
}
