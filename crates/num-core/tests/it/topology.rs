//! Networks: their link order (a contract), what they refuse, and their shortest paths.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use netnum_core::{Error, KShortest, Link, Paths, Topology};
use proptest::prelude::*;

fn flowtune() -> Topology {
    Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap()
}

/// A network whose nodes are called n0, n1, …
fn network(nodes: u32, ends: usize, links: &[(u32, u32)]) -> Result<Topology, Error> {
    let links = links.iter().map(|&(from, to)| Link { from, to, capacity: 1.0 }).collect();
    Topology::new("test", (0..nodes).map(|node| format!("n{node}")).collect(), ends, vec![0; nodes as usize], links)
}

fn lists(paths: &Paths) -> Vec<Vec<u32>> {
    paths.iter().map(<[u32]>::to_vec).collect()
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

/// All shortest paths by growing every walk from the source until some arrive; they are found in lexicographic order.
fn shortest_by_hand(net: &Topology, source: usize, destination: usize) -> Vec<Vec<u32>> {
    let mut walks = vec![(source as u32, vec![])];
    for _ in 0..net.node_names().len() {
        let mut longer = Vec::new();
        for (node, walk) in &walks {
            let works = |link: &Link| link.from == *node && link.capacity > 0.0;
            for (index, link) in net.links().iter().enumerate().filter(|(_, link)| works(link)) {
                longer.push((link.to, [walk.as_slice(), &[index as u32]].concat()));
            }
        }
        let there = longer.iter().filter(|(node, _)| *node as usize == destination);
        let arrived: Vec<Vec<u32>> = there.map(|(_, walk)| walk.clone()).collect();
        if !arrived.is_empty() {
            return arrived;
        }
        walks = longer;
    }
    Vec::new()
}

// The fabrics: sizes, link order, names.

#[test]
fn a_single_link_is_one_link_between_two_ends() {
    let net = Topology::single_link(5.0).unwrap();
    assert_eq!(net.capacities(), [5.0]);
    assert_eq!(net.link_names(), ["node 0 -> node 1"]);
    assert_eq!((net.ends(), net.tiers()), (2, &[0, 0][..]));
    assert_eq!(net.to_string(), "single link, 2 nodes, 1 link");
    assert_eq!(lists(&net.paths(0, 1).unwrap()), [[0]]);
}

#[test]
fn a_parking_lot_is_a_chain() {
    let net = Topology::parking_lot(3, 2.0).unwrap();
    assert_eq!(net.to_string(), "parking lot, 4 nodes, 3 links");
    assert_eq!(net.link_names(), ["node 0 -> node 1", "node 1 -> node 2", "node 2 -> node 3"]);
    assert_eq!(lists(&net.paths(0, 3).unwrap()), [[0, 1, 2]]);
    assert_eq!(lists(&net.paths(1, 2).unwrap()), [[1]]);
}

#[test]
fn a_star_joins_servers_by_a_link_up_and_a_link_down() {
    let net = Topology::star(3, 2.0).unwrap();
    assert_eq!(net.to_string(), "star, 3 servers, 6 links");
    assert_eq!(net.link_names()[..3], ["server 0 -> hub", "server 1 -> hub", "server 2 -> hub"]);
    assert_eq!(net.link_names()[3..], ["hub -> server 0", "hub -> server 1", "hub -> server 2"]);
    assert_eq!(net.tiers(), [0, 0, 0, 1]);
    assert_eq!(lists(&net.paths(2, 0).unwrap()), [[2, 3]]);
}

#[test]
fn a_leaf_spine_has_the_promised_link_order() {
    let (racks, per_rack, spines) = (9, 16, 4);
    let (net, servers) = (flowtune(), racks * per_rack);
    let names = net.link_names();
    assert_eq!(names.len(), 360);
    for server in 0..servers {
        let rack = server / per_rack;
        assert_eq!(names[server], format!("server {server} -> rack {rack}"));
        assert_eq!(names[servers + server], format!("rack {rack} -> server {server}"));
    }
    for rack in 0..racks {
        for spine in 0..spines {
            let up = 2 * servers + rack * spines + spine;
            assert_eq!(names[up], format!("rack {rack} -> spine {spine}"));
            assert_eq!(names[up + racks * spines], format!("spine {spine} -> rack {rack}"));
        }
    }
    assert!(net.capacities()[..288].iter().all(|&capacity| capacity == 10.0));
    assert!(net.capacities()[288..].iter().all(|&capacity| capacity == 40.0));
    for (tier, count) in [(0, 144), (1, 9), (2, 4)] {
        assert_eq!(net.tiers().iter().filter(|&&other| other == tier).count(), count);
    }
    assert_eq!(net.to_string(), "leaf-spine, 144 servers, 360 links");
    assert_eq!(net.node_names()[143..146], ["server 143", "rack 0", "rack 1"]);
    assert_eq!(net.node_names()[152..], ["rack 8", "spine 0", "spine 1", "spine 2", "spine 3"]);
}

#[test]
fn a_leaf_spine_has_one_path_through_each_spine_and_one_within_a_rack() {
    let net = flowtune();
    let through = |spine: u32| vec![0, 288 + spine, 324 + 8 * 4 + spine, 144 + 143];
    assert_eq!(lists(&net.paths(0, 143).unwrap()), (0..4).map(through).collect::<Vec<_>>());
    assert_eq!(lists(&net.paths(0, 15).unwrap()), [[0, 144 + 15]]);
}

#[test]
fn a_fat_tree_has_the_promised_link_order() {
    let net = Topology::fat_tree(4, 10.0).unwrap();
    let names = net.link_names();
    assert_eq!(net.to_string(), "fat tree, 16 servers, 96 links");
    assert_eq!(names[6], "server 6 -> edge 3");
    assert_eq!(names[16 + 6], "edge 3 -> server 6");
    assert_eq!(names[32 + 3 * 2], "edge 3 -> aggregation 2");
    assert_eq!(names[48 + 3 * 2 + 1], "aggregation 3 -> edge 3");
    assert_eq!(names[64 + 3 * 2], "aggregation 3 -> core 2");
    assert_eq!(names[80 + 2 * 2 + 1], "core 1 -> aggregation 2");
    for (tier, count) in [(0, 16), (1, 8), (2, 8), (3, 4)] {
        assert_eq!(net.tiers().iter().filter(|&&other| other == tier).count(), count);
    }
}

#[test]
fn every_switch_of_a_fat_tree_of_six_has_six_ports() {
    let net = Topology::fat_tree(6, 10.0).unwrap();
    assert_eq!(net.ends(), 54);
    for (node, name) in net.node_names().iter().enumerate().skip(54) {
        assert_eq!(net.links().iter().filter(|link| link.from as usize == node).count(), 6, "out of {name}");
        assert_eq!(net.links().iter().filter(|link| link.to as usize == node).count(), 6, "into {name}");
    }
}

#[test]
fn a_fat_tree_of_eight_has_sixteen_paths_between_pods() {
    let net = Topology::fat_tree(8, 10.0).unwrap();
    let between_pods = net.paths(0, 127).unwrap();
    assert_eq!(between_pods.len(), 16);
    assert!(between_pods.iter().all(|path| path.len() == 6));
    let within_a_pod = net.paths(0, 15).unwrap();
    assert_eq!(within_a_pod.len(), 4);
    assert!(within_a_pod.iter().all(|path| path.len() == 4));
    assert_eq!(lists(&net.paths(0, 1).unwrap()), [[0, 129]]);
}

#[test]
fn a_fat_tree_of_two_is_a_chain_of_switches() {
    let net = Topology::fat_tree(2, 1.0).unwrap();
    assert_eq!(net.to_string(), "fat tree, 2 servers, 12 links");
    assert_eq!(net.paths(0, 1).unwrap().len(), 1);
}

#[test]
fn the_reference_cases_route_over_these_link_numbers() {
    #[derive(serde::Deserialize)]
    struct Case {
        capacity: Vec<f64>,
        paths: Vec<Vec<u32>>,
    }
    let fabrics = [
        ("leafspine-mixed-alpha-weights", flowtune()),
        ("fattree-k4-a1", Topology::fat_tree(4, 10.0).unwrap()),
        ("fattree-k8-a2-weighted", Topology::fat_tree(8, 10.0).unwrap()),
    ];
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for (name, net) in fabrics {
        let text = fs::read_to_string(cases.join(name).with_extension("json")).unwrap();
        let case: Case = serde_json::from_str(&text).unwrap();
        assert_eq!(case.capacity.len(), net.links().len(), "{name}");
        assert!(case.paths.len() > 10, "{name}");
        for path in &case.paths {
            let (first, last) = (net.links()[path[0] as usize], net.links()[path[path.len() - 1] as usize]);
            let paths = net.paths(first.from as usize, last.to as usize).unwrap();
            assert!(paths.iter().any(|other| other == path), "{name}: {path:?}");
        }
    }
}

#[test]
fn servers_are_found_by_name_and_switches_are_not_ends() {
    let net = flowtune();
    for (end, name) in net.node_names()[..144].iter().enumerate() {
        assert_eq!(net.end(name), Some(end));
    }
    assert_eq!(net.end("rack 0"), None);
    assert_eq!(net.end("server 144"), None);
    assert_eq!(net.end(""), None);
}

#[test]
fn counts_of_nothing_are_refused_by_name() {
    assert_eq!(message(Topology::parking_lot(0, 1.0)), "n is 0, expected at least 1");
    assert_eq!(message(Topology::star(0, 1.0)), "servers is 0, expected at least 2");
    assert_eq!(message(Topology::star(1, 1.0)), "servers is 1, expected at least 2");
    assert_eq!(message(Topology::leaf_spine(0, 16, 4, 1.0, 1.0)), "racks is 0, expected at least 1");
    assert_eq!(message(Topology::leaf_spine(9, 0, 4, 1.0, 1.0)), "servers_per_rack is 0, expected at least 1");
    assert_eq!(message(Topology::leaf_spine(9, 16, 0, 1.0, 1.0)), "spines is 0, expected at least 1");
    for k in [0, 1, 5] {
        assert_eq!(message(Topology::fat_tree(k, 1.0)), format!("k is {k}, expected an even number >= 2"));
    }
}

#[test]
fn a_fabric_of_one_server_is_refused() {
    let text = message(Topology::leaf_spine(1, 1, 2, 1.0, 1.0));
    assert_eq!(text, "ends is 1 in a network of 4 nodes, expected at least 2 and at most as many as nodes");
}

#[test]
fn sizes_beyond_any_numbering_are_refused_before_they_are_built() {
    let most = usize::MAX;
    for refused in [
        Topology::parking_lot(most, 1.0),
        Topology::star(most, 1.0),
        Topology::leaf_spine(most, most, most, 1.0, 1.0),
        Topology::leaf_spine(1, most, 1, 1.0, 1.0),
        Topology::leaf_spine(1 << 20, 1, 1 << 20, 1.0, 1.0),
        Topology::fat_tree(most - 1, 1.0),
    ] {
        let text = message(refused);
        assert!(text.ends_with("expected at most 4294967295 (they are numbered by u32)"), "{text}");
    }
    let text = message(Topology::star(1 << 31, 1.0));
    assert!(text.starts_with("a network of 4294967296 links, "), "{text}");
}

#[test]
fn bad_capacities_are_refused_with_the_first_link_that_has_them() {
    for value in [-1.0, f64::NEG_INFINITY, f64::NAN] {
        let refused = [(0, Topology::single_link(value)), (288, Topology::leaf_spine(9, 16, 4, 1.0, value))];
        for (link, result) in refused {
            assert_eq!(
                message(result),
                format!("link {link} has capacity {value}, expected a number >= 0 (inf for no limit)")
            );
        }
    }
}

// The checked constructor.

#[test]
fn links_between_nodes_that_do_not_exist_are_refused() {
    assert_eq!(message(network(2, 2, &[(0, 1), (1, 2)])), "link 1 names node 2, expected a node from 0 to 1");
    assert_eq!(message(network(2, 2, &[(7, 1)])), "link 0 names node 7, expected a node from 0 to 1");
}

#[test]
fn a_link_to_itself_is_refused() {
    assert_eq!(message(network(2, 2, &[(0, 1), (1, 1)])), "link 1 runs from n1 to itself");
}

#[test]
fn two_nodes_of_one_name_are_refused() {
    let names = ["a", "c", "b", "c"].map(String::from).to_vec();
    let refused = Topology::new("test", names, 4, vec![0; 4], vec![]);
    assert_eq!(message(refused), "nodes 1 and 3 are both named \"c\"");
}

#[test]
fn tiers_and_ends_must_fit_the_nodes() {
    let names = || vec!["a".to_string(), "b".to_string()];
    let text = message(Topology::new("test", names(), 2, vec![0], vec![]));
    assert_eq!(text, "tiers has 1 entries, expected 2, one per node");
    for ends in [0, 1, 3, usize::MAX] {
        let text = message(Topology::new("test", names(), ends, vec![0; 2], vec![]));
        let expected = "expected at least 2 and at most as many as nodes";
        assert_eq!(text, format!("ends is {ends} in a network of 2 nodes, {expected}"));
    }
}

#[test]
fn parallel_links_are_numbered_in_their_names_and_are_paths_of_their_own() {
    let net = network(2, 2, &[(0, 1), (1, 0), (0, 1), (0, 1)]).unwrap();
    assert_eq!(net.link_names(), ["n0 -> n1", "n1 -> n0", "n0 -> n1 #2", "n0 -> n1 #3"]);
    assert_eq!(lists(&net.paths(0, 1).unwrap()), [[0], [2], [3]]);
}

#[test]
fn a_topology_survives_json_and_a_spoiled_one_is_refused() {
    let net = Topology::leaf_spine(2, 2, 2, 10.0, 0.1).unwrap().named("mine");
    let text = serde_json::to_string(&net).unwrap();
    let back: Topology = serde_json::from_str(&text).unwrap();
    assert_eq!(back, net);
    assert_eq!((back.name(), back.paths(0, 3).unwrap()), ("mine", net.paths(0, 3).unwrap()));

    let spoiled = text.replacen("\"capacity\":10.0", "\"capacity\":-10.0", 1);
    let message = serde_json::from_str::<Topology>(&spoiled).unwrap_err().to_string();
    assert!(message.contains("link 0 has capacity -10, expected a number >= 0 (inf for no limit)"), "{message}");
    let spoiled = text.replacen("\"from\":0", "\"from\":99", 1);
    let message = serde_json::from_str::<Topology>(&spoiled).unwrap_err().to_string();
    assert!(message.contains("link 0 names node 99"), "{message}");
}

// Edge lists.

#[test]
fn an_edge_is_a_link_each_way_and_nodes_are_numbered_as_they_appear() {
    let text = "# the west\n\nSeattle Denver 10\n  Denver\tSunnyvale   2.5e0 \r\n#Seattle X 1\nSunnyvale Seattle 0\n";
    let net = Topology::from_edges(text).unwrap();
    assert_eq!(net.node_names(), ["Seattle", "Denver", "Sunnyvale"]);
    assert_eq!(net.capacities(), [10.0, 10.0, 2.5, 2.5, 0.0, 0.0]);
    assert_eq!(net.link_names()[..2], ["Seattle -> Denver", "Denver -> Seattle"]);
    assert_eq!(net.link_names()[2..4], ["Denver -> Sunnyvale", "Sunnyvale -> Denver"]);
    assert_eq!((net.ends(), net.tiers()), (3, &[0, 0, 0][..]));
    assert_eq!(net.end("Sunnyvale"), Some(2));
    assert_eq!(net.named("West").to_string(), "West, 3 nodes, 6 links");
}

#[test]
fn a_bad_line_is_refused_by_number() {
    for (line, text) in [
        ("a b", "line 3: found \"a b\", expected node node capacity"),
        ("a b 1 1", "line 3: found \"a b 1 1\", expected node node capacity"),
        ("a b ten", "line 3: capacity \"ten\" is not a number"),
        ("a b -1", "line 3: capacity -1, expected a number >= 0 (inf for no limit)"),
        ("a b nan", "line 3: capacity nan, expected a number >= 0 (inf for no limit)"),
        ("a b NaN", "line 3: capacity NaN, expected a number >= 0 (inf for no limit)"),
        ("a a 1", "line 3: edge from a to itself"),
    ] {
        assert_eq!(message(Topology::from_edges(&format!("x y 1\n# note\n{line}\nz y 1"))), text);
    }
}

#[test]
fn a_text_without_edges_is_refused() {
    for text in ["", "\n \n# a b 1\n"] {
        let none = "a network needs at least two nodes, this one has none: expected lines of node node capacity";
        assert_eq!(message(Topology::from_edges(text)), none);
    }
}

// Shortest paths.

#[test]
fn two_ends_that_have_only_each_other_are_joined_both_ways() {
    let net = Topology::from_edges("a b 1").unwrap();
    assert_eq!(lists(&net.paths(0, 1).unwrap()), [[0]]);
    assert_eq!(lists(&net.paths(1, 0).unwrap()), [[1]]);
    assert_eq!(lists(&net.ecmp(&[1, 0], &[0, 1], 0).unwrap()), [[1], [0]]);
}

#[test]
fn routes_avoid_failed_links() {
    let net = Topology::from_edges("a b 0\na c 5\nc b 5").unwrap();
    assert_eq!(lists(&net.paths(0, 1).unwrap()), [[2, 4]]);
    assert_eq!(lists(&net.ecmp(&[0], &[1], 0).unwrap()), [[2, 4]]);
    let back = net.clone().with_capacities(vec![5.0; 6]).unwrap();
    assert_eq!(lists(&back.paths(0, 1).unwrap()), [[0]]);
    assert_eq!(back.without(&[0, 1]).unwrap(), net);
    let cut = net.without(&[4]).unwrap();
    assert_eq!(message(cut.paths(0, 1)), "paths from a to b: there is no route that avoids links of capacity 0");
    let text = "pair 1 from c to b: there is no route that avoids links of capacity 0";
    assert_eq!(message(cut.ecmp(&[0, 2], &[2, 1], 0)), text);
    // A server's own links hang off its switch, and fail as well.
    let star = Topology::star(3, 1.0).unwrap().without(&[0]).unwrap();
    assert_eq!(
        message(star.paths(0, 1)),
        "paths from server 0 to server 1: there is no route that avoids links of capacity 0"
    );
    assert_eq!(lists(&star.paths(1, 0).unwrap()), [[1, 3]]);
}

#[test]
fn paths_that_do_not_exist_are_refused_with_both_ends() {
    let net = Topology::parking_lot(3, 1.0).unwrap();
    assert_eq!(message(net.paths(2, 1)), "paths from node 2 to node 1: there is no route");
    assert_eq!(message(net.paths(1, 1)), "paths from node 1 to node 1: source and destination are the same");
    let text = message(flowtune().paths(3, 144)); // a rack is no end
    assert_eq!(text, "paths from server 3 to end 144: end 144 does not exist, expected an end from 0 to 143");
    let (text, most) = (message(flowtune().paths(usize::MAX, 0)), usize::MAX);
    assert_eq!(
        text,
        format!("paths from end {most} to server 0: end {most} does not exist, expected an end from 0 to 143")
    );
}

#[test]
fn too_many_paths_are_counted_and_not_listed() {
    let doubled = |links: usize| {
        let line = |node: usize| format!("n{node} n{} 1\n", node + 1);
        Topology::from_edges(&(0..links).map(|node| line(node).repeat(2)).collect::<String>()).unwrap()
    };
    assert_eq!(doubled(19).paths(0, 19).unwrap().len(), 1 << 19);
    let text = "there are too many shortest paths to list, more than 1000000 of them or 100000000 links on them; \
                ecmp chooses one";
    for links in [20, 64, 200] {
        let net = doubled(links);
        assert_eq!(message(net.paths(0, links)), format!("paths from n0 to n{links}: {text}"));
        assert_eq!(net.ecmp(&[0], &[links], 0).unwrap().links(0).len(), links);
    }
    // Few paths that are too long together: 2^16 of 2016 links each.
    let long: String = (16..2016).map(|node| format!("n{node} n{} 1\n", node + 1)).collect();
    let short: String = (0..16).map(|node| format!("n{node} n{} 1\n", node + 1).repeat(2)).collect();
    let net = Topology::from_edges(&(short + &long)).unwrap();
    assert_eq!(message(net.paths(0, 2016)), format!("paths from n0 to n2016: {text}"));
    assert_eq!(net.paths(0, 16).unwrap().len(), 1 << 16);
}

#[test]
fn a_chain_of_a_million_links_is_walked_without_recursion() {
    let n = 1_000_000;
    let net = Topology::parking_lot(n, 1.0).unwrap();
    assert!(net.paths(0, n).unwrap().links(0).iter().copied().eq(0..n as u32));
    assert_eq!(net.ecmp(&[0], &[n], 0).unwrap(), net.paths(0, n).unwrap());
}

proptest! {
    /// Dense and sparse graphs, parallel links, one-way links, failed links, ends in the middle, ends that hang off a
    /// switch.
    #[test]
    fn paths_are_all_the_shortest_walks_and_ecmp_chooses_one(
        nodes in 2u32..8,
        share in 0.0f64..1.0,
        draws in proptest::collection::vec((0u32..8, 0u32..8, any::<bool>(), any::<u8>()), 0..14),
        failing in 0u8..120,
        seed in any::<u64>(),
    ) {
        let (mut links, mut failed) = (Vec::new(), Vec::new());
        for (a, b, both, lot) in draws {
            let (a, b) = (a % nodes, b % nodes);
            if a != b {
                failed.extend((lot < failing).then_some(links.len() as u32));
                links.push((a, b));
                links.extend(both.then_some((b, a)));
            }
        }
        let ends = 2 + (share * f64::from(nodes - 1)) as usize;
        let net = network(nodes, ends, &links).unwrap().without(&failed).unwrap();
        let but = if failed.is_empty() { "" } else { " that avoids links of capacity 0" };
        let (mut sources, mut destinations, mut expected) = (vec![], vec![], vec![]);
        for source in 0..ends {
            for destination in (0..ends).filter(|&end| end != source) {
                let by_hand = shortest_by_hand(&net, source, destination);
                if by_hand.is_empty() {
                    let text = format!("from n{source} to n{destination}: there is no route{but}");
                    prop_assert!(message(net.paths(source, destination)).contains(&text));
                    let told = message(net.ecmp(&[source], &[destination], seed));
                    prop_assert!(told.contains(&text));
                } else {
                    prop_assert_eq!(lists(&net.paths(source, destination).unwrap()), by_hand.clone());
                    sources.push(source);
                    destinations.push(destination);
                    expected.push(by_hand);
                }
            }
        }
        let chosen = net.ecmp(&sources, &destinations, seed).unwrap();
        prop_assert_eq!(chosen.len(), expected.len());
        for (path, by_hand) in chosen.iter().zip(&expected) {
            prop_assert!(by_hand.iter().any(|other| other == path), "{:?} is not among {:?}", path, by_hand);
        }
    }
}

// Equal-cost multipath.

#[test]
fn ecmp_chooses_hop_by_hop_and_uniformly() {
    // Two ways out of n0: through n1, by one link, or through n2, by three.
    let net = network(4, 4, &[(0, 1), (0, 2), (1, 3), (2, 3), (2, 3), (2, 3)]).unwrap();
    assert_eq!(net.paths(0, 3).unwrap().len(), 4);
    let pairs = 60_000;
    let mut seen: HashMap<Vec<u32>, usize> = HashMap::new();
    for path in lists(&net.ecmp(&vec![0; pairs], &vec![3; pairs], 42).unwrap()) {
        *seen.entry(path).or_default() += 1;
    }
    // Standard deviations are 122 and 91: these bounds are five of them.
    assert!(seen[&vec![0, 2]].abs_diff(pairs / 2) < 610, "{seen:?}");
    for last in 3..6 {
        assert!(seen[&vec![1, last]].abs_diff(pairs / 6) < 455, "{seen:?}");
    }
}

#[test]
fn the_paths_of_a_seed_are_the_same_everywhere() {
    let paths = flowtune().ecmp(&[0, 1, 2, 3, 143, 20], &[143, 142, 141, 4, 0, 100], 1).unwrap();
    let spines: Vec<Option<u32>> =
        paths.iter().map(|path| if path.len() == 4 { Some((path[1] - 288) % 4) } else { None }).collect();
    assert_eq!(spines, [Some(2), Some(3), Some(2), None, Some(1), Some(0)]);
    let (sources, destinations) = flowtune().random_pairs(4, 1).unwrap();
    assert_eq!((sources, destinations), (vec![130, 96, 82, 44], vec![53, 134, 119, 137]));
}

#[test]
fn a_pair_keeps_its_path_whatever_other_pairs_there_are() {
    let net = flowtune();
    let (sources, destinations) = net.random_pairs(1000, 3).unwrap();
    let all = net.ecmp(&sources, &destinations, 9).unwrap();
    let some = net.ecmp(&sources[..100], &destinations[..100], 9).unwrap();
    assert_eq!(lists(&all)[..100], lists(&some));
    let (mut sources, mut destinations) = (sources, destinations);
    (sources[0], destinations[0]) = (0, 1);
    assert_eq!(lists(&net.ecmp(&sources, &destinations, 9).unwrap())[1..], lists(&all)[1..]);
    assert_ne!(net.ecmp(&sources, &destinations, 10).unwrap(), all);
}

#[test]
fn every_ecmp_path_of_a_large_fabric_joins_its_pair() {
    let net = Topology::leaf_spine(512, 32, 16, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(100_000, 5).unwrap();
    let paths = net.ecmp(&sources, &destinations, 5).unwrap();
    assert_eq!(paths.len(), 100_000);
    for (pair, path) in paths.iter().enumerate() {
        let mut node = sources[pair] as u32;
        for &link in path {
            assert_eq!(net.links()[link as usize].from, node);
            node = net.links()[link as usize].to;
        }
        assert_eq!(node as usize, destinations[pair]);
        assert_eq!(path.len(), if sources[pair] / 32 == destinations[pair] / 32 { 2 } else { 4 });
    }
}

#[test]
fn a_pair_without_a_route_is_refused_by_number() {
    let net = Topology::parking_lot(3, 1.0).unwrap();
    // Two pairs have no route. The first is named, in whichever order their destinations are searched.
    let text = message(net.ecmp(&[0, 3, 0, 1], &[3, 2, 1, 0], 0));
    assert_eq!(text, "pair 1 from node 3 to node 2: there is no route");
    let text = message(net.ecmp(&[0, 1, 0, 3], &[3, 0, 1, 2], 0));
    assert_eq!(text, "pair 1 from node 1 to node 0: there is no route");
    let text = message(net.ecmp(&[0, 2], &[3, 2], 0));
    assert_eq!(text, "pair 1 from node 2 to node 2: source and destination are the same");
    let text = message(net.ecmp(&[0, 4], &[3, 2], 0));
    assert_eq!(text, "pair 1 from end 4 to node 2: end 4 does not exist, expected an end from 0 to 3");
    let text = message(net.ecmp(&[0, 1], &[3], 0));
    assert_eq!(text, "destinations has 1 entries, expected 2, one per source");
    assert!(net.ecmp(&[0; 0], &[0; 0], 0).unwrap().is_empty());
}

#[test]
fn random_pairs_are_uniform_over_pairs_of_different_ends() {
    let net = Topology::star(3, 1.0).unwrap();
    let (sources, destinations) = net.random_pairs(60_000, 8).unwrap();
    let mut seen: HashMap<(usize, usize), usize> = HashMap::new();
    for pair in sources.into_iter().zip(destinations) {
        *seen.entry(pair).or_default() += 1;
    }
    let pairs: HashSet<_> = seen.keys().copied().collect();
    assert_eq!(pairs, HashSet::from([(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]));
    // The standard deviation is 91.
    assert!(seen.values().all(|count| count.abs_diff(10_000) < 455), "{seen:?}");
    assert_eq!(net.random_pairs(0, 8).unwrap(), (vec![], vec![]));
    assert_ne!(net.random_pairs(50, 8).unwrap(), net.random_pairs(50, 9).unwrap());
}

// --- counts that no memory holds ---

#[test]
fn counts_that_no_memory_holds_are_errors() {
    let net = Topology::star(3, 1.0).unwrap();
    for count in [1 << 40, 1 << 60, usize::MAX] {
        let text = net.random_pairs(count, 1).unwrap_err().to_string();
        assert_eq!(text, format!("no memory for {count} pairs of ends, {} bytes", count as u128 * 16));
    }
    let most = u32::MAX as usize;
    let text = message(Topology::parking_lot(most - 1, 1.0));
    assert!(text.starts_with("no memory for a network of 4294967295 nodes and 4294967294 links, "), "{text}");
    for count in [most, 10_usize.pow(12), usize::MAX] {
        assert!(Topology::parking_lot(count, 1.0).is_err());
        assert!(Topology::star(count, 1.0).is_err());
        assert!(Topology::leaf_spine(count, count, count, 1.0, 1.0).is_err());
        assert!(Topology::leaf_spine(1, 2, count, 1.0, 1.0).is_err());
        assert!(Topology::fat_tree(count & !1, 1.0).is_err());
    }
}

// --- walks ---

proptest! {
    /// The links of routes are walks in whatever order, and with one link left out of the middle are not.
    #[test]
    fn routes_are_walks_and_with_a_gap_are_not(seed: u64, pairs in 1_usize..20) {
        use rand::{SeedableRng, seq::SliceRandom};
        let net = Topology::fat_tree(4, 1.0).unwrap();
        let (sources, destinations) = net.random_pairs(pairs, seed).unwrap();
        let paths = net.ecmp(&sources, &destinations, seed).unwrap();
        prop_assert_eq!(net.check_walks(&paths), Ok(()));
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mixed = Paths::from_lists(paths.iter().map(|links| {
            let mut links = links.to_vec();
            links.shuffle(&mut rng);
            links
        }));
        prop_assert_eq!(net.check_walks(&mixed), Ok(()));
        let last = paths.len() - 1;
        let broken = Paths::from_lists(mixed.iter().enumerate().map(|(path, links)| {
            let gap = paths.links(path)[1];
            links.iter().copied().filter(|&link| path < last || link != gap || links.len() < 3).collect::<Vec<_>>()
        }));
        let whole = paths.links(last).len() < 3;
        match net.check_walks(&broken) {
            Ok(()) => prop_assert!(whole),
            Err(error) => {
                prop_assert!(!whole);
                let text = error.to_string();
                prop_assert!(text.starts_with(&format!("path {last} is no walk of the network: link ")), "{}", text);
            }
        }
    }
}

#[test]
fn a_walk_may_be_closed_or_cross_itself_but_not_come_in_parts() {
    // 0 -> 1 -> 2 -> 0, and 3 -> 4 -> 3 beside it.
    let net = network(5, 5, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)]).unwrap();
    for walk in [vec![0, 1, 2], vec![2, 0], vec![1, 0, 2], vec![4], vec![3, 4]] {
        assert_eq!(net.check_walks(&Paths::from_lists([walk])), Ok(()));
    }
    let text = message(net.check_walks(&Paths::from_lists([vec![0, 1], vec![0, 1, 2, 3, 4]])));
    assert_eq!(text, "path 1 is no walk of the network: link 2 (n2 -> n0) does not lead to link 3 (n3 -> n4)");
    let text = message(net.check_walks(&Paths::from_lists([[5]])));
    assert_eq!(text, "path 0 names link 5, expected a link from 0 to 4");
    // Both ways out of a node.
    let fork = network(3, 3, &[(0, 1), (0, 2)]).unwrap();
    assert!(fork.check_walks(&Paths::from_lists([[0, 1]])).is_err());
}

// Links from nodes, other capacities.

#[test]
fn a_link_is_found_by_its_nodes() {
    for net in [flowtune(), Topology::parking_lot(4, 1.0).unwrap(), Topology::star(3, 1.0).unwrap()] {
        for (number, link) in net.links().iter().enumerate() {
            assert_eq!(net.link(link.from as usize, link.to as usize), Ok(number as u32));
            let [from, to] = [link.from, link.to].map(|node| &net.node_names()[node as usize]);
            assert_eq!(net.link(from, to), Ok(number as u32));
        }
    }
    let parallel = network(2, 2, &[(0, 1), (1, 0), (0, 1)]).unwrap();
    assert_eq!((parallel.link(0, 1), parallel.link(1, 0)), (Ok(0), Ok(1)));
    let failed = flowtune().without(&[0]).unwrap();
    let Link { from, to, .. } = failed.links()[0];
    assert_eq!(failed.link(from as usize, to as usize), Ok(0));
    assert_eq!(message(flowtune().link(0, 143)), "there is no link from server 0 to server 143");
    assert_eq!(message(parallel.link(0, 0)), "there is no link from n0 to n0");
    assert_eq!(message(parallel.link(0, 2)), "to is 2, expected a node from 0 to 1");
    assert_eq!(message(parallel.link(usize::MAX, 0)), format!("from is {}, expected a node from 0 to 1", usize::MAX));
    assert_eq!(
        message(parallel.link("n0", "N1")),
        "to is \"N1\", expected the name of one of the 2 nodes, did you mean \"n1\"?"
    );
}

#[test]
fn nodes_are_taken_by_number_or_by_name() {
    let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 10").unwrap();
    let numbers = |names: &[&str]| names.iter().map(|name| net.node(name).unwrap()).collect::<Vec<_>>();
    let (from, to) = (["Seattle", "Denver", "Houston"], ["Houston", "Seattle", "Denver"]);
    let (sources, destinations) = (numbers(&from), numbers(&to));
    assert_eq!(net.paths("Seattle", "Houston"), net.paths(0, 2));
    assert_eq!(net.paths(String::from("Seattle"), 2), net.paths(0, 2));
    assert_eq!(net.ecmp(&from, &to, 1), net.ecmp(&sources, &destinations, 1));
    assert_eq!(net.ecmp(&from, &destinations, 1), net.ecmp(&sources, &destinations, 1));
    let two = KShortest::new(2);
    assert_eq!(net.k_shortest_paths(&from, &to, &two), net.k_shortest_paths(&sources, &destinations, &two));
    assert_eq!(net.has_path(&from, &to), Ok(vec![true; 3]));
    assert_eq!(net.route(&from), net.route(&sources));
    // Names that are numbers: the text is a name, the number a place.
    let numbered = Topology::from_edges("7 0 10\n0 5 10").unwrap();
    assert_eq!((numbered.link("0", "5"), numbered.link(1, 2)), (Ok(2), Ok(2)));
}

#[test]
fn a_name_of_no_node_is_an_error_with_the_nearest_one() {
    let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10").unwrap();
    let text = |what: &str, name: &str, of: &str, near: &str| {
        format!("{what} is {name:?}, expected the name of one of the {of}{near}")
    };
    let near = ", did you mean \"Denver\"?";
    assert_eq!(message(net.paths("Denvre", "Houston")), text("source", "Denvre", "3 ends", near));
    assert_eq!(message(net.paths("Denver", "London")), text("destination", "London", "3 ends", ""));
    let (from, to) = (["Seattle", "denver"], ["Denver", "Houston"]);
    assert_eq!(message(net.ecmp(&from, &to, 1)), text("sources[1]", "denver", "3 ends", near));
    assert_eq!(message(net.has_path(&to, &from)), text("destinations[1]", "denver", "3 ends", near));
    let two = KShortest::new(2);
    assert_eq!(message(net.k_shortest_paths(&from, &to, &two)), text("sources[1]", "denver", "3 ends", near));
    assert_eq!(message(net.route(&from)), text("nodes[1]", "denver", "3 nodes", near));
    // A switch is a node and no end.
    let none = ": this node is none";
    assert_eq!(message(flowtune().paths("server 3", "rack 1")), text("destination", "rack 1", "144 ends", none));
}

#[test]
fn a_route_is_the_links_between_its_nodes_or_names_the_hop_that_is_none() {
    let net = Topology::leaf_spine(2, 2, 2, 1.0, 1.0).unwrap();
    let (rack, other, spine) = (4, 5, 6);
    let links = net.route(&[0, rack, spine, other, 3]).unwrap();
    assert!(lists(&net.paths(0, 3).unwrap()).contains(&links));
    assert_eq!(message(net.route(&[0, rack, other, 3])), "hop 1: there is no link from rack 0 to rack 1");
    assert_eq!(message(net.route(&[0, 9])), "nodes[1] is 9, expected a node from 0 to 7");
    assert_eq!(message(net.route(&[0])), "a route of 1 node has no link");
    assert_eq!(message(net.route(&[0; 0])), "a route of 0 nodes has no link");
    let returns = "the route returns to rack 0, which is in places 1 and 3";
    assert_eq!(message(net.route(&[0, rack, spine, rack, 1])), returns);
}

#[test]
fn most_pairs_without_a_path_are_said_with_their_cause() {
    let star = network(4, 4, &[(0, 1), (0, 2), (0, 3)]).unwrap();
    let one_way = "75 % of pairs have no path: links lead one way only, directed=False reads both";
    assert!(star.to_string().ends_with(&format!("; {one_way}")));
    let message = message(star.ecmp(&[1], &[2], 0));
    assert!(message.ends_with(&format!("there is no route ({one_way})")));
    let apart = network(4, 4, &[(0, 1), (1, 0), (2, 3), (3, 2)]).unwrap();
    assert!(apart.to_string().ends_with("; 67 % of pairs have no path: no link joins its 2 parts"));
    assert!(network(3, 3, &[]).unwrap().to_string().ends_with("; 100 % of pairs have no path: there are no links"));
    let mixed = network(5, 5, &[(0, 1), (1, 0), (2, 0), (3, 0), (4, 0)]).unwrap();
    assert!(mixed.to_string().ends_with("3 of 5 links lead one way only, directed=False reads both"));
    for net in [
        Topology::parking_lot(4, 1.0).unwrap(),
        Topology::parking_lot(199, 1.0).unwrap(),
        Topology::leaf_spine(40, 4, 2, 1.0, 1.0).unwrap(),
    ] {
        assert!(!net.to_string().contains("path"), "{net}");
    }
}

#[test]
fn a_network_of_fewer_than_two_nodes_is_refused_as_that() {
    for (nodes, found) in [(0, "none"), (1, "one")] {
        let expected = format!("a network needs at least two nodes, this one has {found}");
        assert_eq!(message(network(nodes, nodes as usize, &[])), expected);
    }
}

#[test]
fn names_are_integers_if_all_are_written_as_integers_are() {
    for (names, are) in [(["7", "-1"], true), (["7", "+1"], false), (["007", "1"], false), (["1", "1e3"], false)] {
        let links = vec![Link { from: 0, to: 1, capacity: 1.0 }];
        let net = Topology::new("n", names.map(String::from).into(), 2, vec![0; 2], links).unwrap();
        assert_eq!(net.has_integer_names(), are, "{names:?}");
    }
}

#[test]
fn other_capacities_leave_all_else() {
    let net = flowtune();
    let halved: Vec<f64> = net.capacities().iter().map(|capacity| capacity / 2.0).collect();
    let half = net.clone().with_capacities(halved.clone()).unwrap();
    assert_eq!(half.capacities(), halved);
    assert!(half.links().iter().zip(&halved).all(|(link, &capacity)| link.capacity == capacity));
    assert_eq!(half.clone().with_capacities(net.capacities().to_vec()).unwrap(), net);
    let failed = net.clone().without(&[3, 300, 3]).unwrap();
    assert_eq!((failed.capacities()[3], failed.capacities()[300], failed.links()[3].capacity), (0.0, 0.0, 0.0));
    assert_eq!(failed.capacities().iter().filter(|&&capacity| capacity > 0.0).count(), 358);
    assert_eq!(failed.paths(48, 143).unwrap().len(), 3, "one of the four spines is cut off from rack 3");
    assert_eq!(message(net.clone().without(&[360])), "there is no link 360, expected a link from 0 to 359");
    assert_eq!(message(net.clone().with_capacities(vec![1.0])), "capacities has 1 entries, expected 360, one per link");
    let mut wrong = halved;
    wrong[7] = f64::NAN;
    assert_eq!(
        message(net.with_capacities(wrong)),
        "link 7 has capacity NaN, expected a number >= 0 (inf for no limit)"
    );
}
