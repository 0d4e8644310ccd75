//! Several short paths for a pair: those of Yen and of Suurballe against all paths there are.

use netnum_core::{Error, KShortest, Link, StopToken, Topology};
use proptest::prelude::*;

/// Nodes n0, n1, …, the first ones ends; links with a capacity each.
fn network(nodes: u32, ends: usize, links: &[(u32, u32, f64)]) -> Topology {
    let names = (0..nodes).map(|node| format!("n{node}")).collect();
    let links = links.iter().map(|&(from, to, capacity)| Link { from, to, capacity }).collect();
    Topology::new("test", names, ends, vec![0; nodes as usize], links).unwrap()
}

/// Every path without loops from one node to another by links that may be used, in the order of weight, number of
/// links, and link numbers.
fn all_paths(net: &Topology, weight: &[f64], source: usize, destination: usize) -> Vec<(f64, Vec<u32>)> {
    fn walk(
        net: &Topology,
        weight: &[f64],
        to: u32,
        nodes: &mut Vec<u32>,
        path: &mut Vec<u32>,
        all: &mut Vec<Vec<u32>>,
    ) {
        let node = nodes[nodes.len() - 1];
        if node == to {
            all.push(path.clone());
            return;
        }
        for (link, ends) in net.links().iter().enumerate() {
            let usable = ends.capacity > 0.0 && weight[link].is_finite();
            if usable && ends.from == node && !nodes.contains(&ends.to) {
                nodes.push(ends.to);
                path.push(link as u32);
                walk(net, weight, to, nodes, path, all);
                path.pop();
                nodes.pop();
            }
        }
    }
    let mut all = Vec::new();
    walk(net, weight, destination as u32, &mut vec![source as u32], &mut Vec::new(), &mut all);
    let weigh = |path: &Vec<u32>| path.iter().map(|&link| weight[link as usize]).sum::<f64>();
    let mut all: Vec<(f64, Vec<u32>)> = all.into_iter().map(|path| (weigh(&path), path)).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.len().cmp(&other.1.len())).then(one.1.cmp(&other.1)));
    all
}

/// The most paths up to `k` that share no link, in the order of `all`, and their least weight in sum.
fn disjoint_by_hand(all: &[(f64, Vec<u32>)], k: usize) -> (usize, f64) {
    let Some(((weight, path), rest)) = all.split_first() else { return (0, 0.0) };
    if k == 0 {
        return (0, 0.0);
    }
    let apart: Vec<_> = rest.iter().filter(|other| other.1.iter().all(|link| !path.contains(link))).cloned().collect();
    let (count, sum) = disjoint_by_hand(&apart, k - 1);
    let (with, without) = ((count + 1, sum + weight), disjoint_by_hand(rest, k));
    if with.0 > without.0 || (with.0 == without.0 && with.1 <= without.1) { with } else { without }
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

prop_compose! {
    /// Links of a small network, some of which have failed, and a weight for each, in quarters so that sums are exact.
    fn links_and_weights()(
        draws in proptest::collection::vec((0u32..7, 0u32..7, any::<bool>(), 0u32..8, 0u32..6), 0..16),
    ) -> (Vec<(u32, u32, f64)>, Vec<f64>) {
        let mut drawn = Vec::new();
        for (from, to, both, capacity, weight) in draws {
            if from != to {
                let weight = if weight == 5 { f64::INFINITY } else { f64::from(weight) / 4.0 };
                drawn.push(((from, to, f64::from(capacity)), weight));
                drawn.extend(both.then_some(((to, from, 1.0), weight)));
            }
        }
        drawn.into_iter().unzip()
    }
}

proptest! {
    /// Dense and sparse, with parallel links and ends that hang off a switch, measured in links and in weight.
    #[test]
    fn they_are_the_first_of_all_paths(
        (links, weight) in links_and_weights(),
        ends in 2usize..=7,
        k in 1usize..8,
        weighted in any::<bool>(),
        stretch in proptest::option::of(1.0f64..2.0),
    ) {
        let net = network(7, ends, &links);
        let ones = vec![1.0; links.len()];
        let weights = if weighted { &weight } else { &ones };
        let what = KShortest::new(k).with_weight(weighted.then_some(&weight[..])).with_max_stretch(stretch);
        let (mut sources, mut destinations, mut expected) = (vec![], vec![], vec![]);
        for (source, destination) in (0..ends).flat_map(|one| (0..ends).map(move |other| (one, other))) {
            if source == destination {
                continue;
            }
            let mut all = all_paths(&net, weights, source, destination);
            prop_assert!(weighted || net.has_path(&[source], &[destination]).unwrap() == [!all.is_empty()]);
            if all.is_empty() {
                let told = message(net.k_shortest_paths(&[source], &[destination], &what));
                let place = format!("pair 0 from n{source} to n{destination}: there is no route");
                prop_assert!(told.starts_with(&place), "{told}");
                continue;
            }
            let most = stretch.map_or(f64::INFINITY, |stretch| all[0].0 * stretch * (1.0 + 1e-12));
            all.retain(|path| path.0 <= most);
            all.truncate(k);
            expected.extend(all.into_iter().map(|(_, path)| (sources.len() as u32, path)));
            sources.push(source);
            destinations.push(destination);
        }
        let (paths, group) = net.k_shortest_paths(&sources, &destinations, &what).unwrap();
        let found: Vec<_> = group.into_iter().zip(paths.iter().map(<[u32]>::to_vec)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn disjoint_ones_are_as_many_as_can_be_and_least_in_sum(
        (links, weight) in links_and_weights(),
        ends in 2usize..=7,
        k in 1usize..5,
        weighted in any::<bool>(),
        stretch in proptest::option::of(1.0f64..2.0),
    ) {
        let net = network(7, ends, &links);
        let ones = vec![1.0; links.len()];
        let weights = if weighted { &weight } else { &ones };
        let what = KShortest::new(k).with_weight(weighted.then_some(&weight[..])).with_disjoint(true);
        for (source, destination) in (0..ends).flat_map(|one| (0..ends).map(move |other| (one, other))) {
            let all = if source == destination { vec![] } else { all_paths(&net, weights, source, destination) };
            if all.is_empty() {
                continue;
            }
            let (paths, group) = net.k_shortest_paths(&[source], &[destination], &what).unwrap();
            let weigh = |path: &[u32]| path.iter().map(|&link| weights[link as usize]).sum::<f64>();
            prop_assert!(paths.iter().all(|path| all.iter().any(|(_, known)| known == path)));
            prop_assert!(paths.iter().is_sorted_by(|one, other| weigh(one) <= weigh(other)));
            let mut crossed: Vec<u32> = paths.indices().to_vec();
            crossed.sort_unstable();
            crossed.dedup();
            prop_assert_eq!(crossed.len(), paths.indices().len());
            prop_assert_eq!(group, vec![0; paths.len()]);
            prop_assert_eq!((paths.len(), paths.iter().map(weigh).sum::<f64>()), disjoint_by_hand(&all, k));

            let near = what.with_max_stretch(stretch);
            let (paths, _) = net.k_shortest_paths(&[source], &[destination], &near).unwrap();
            let most = stretch.map_or(f64::INFINITY, |stretch| all[0].0 * stretch * (1.0 + 1e-12));
            prop_assert!(!paths.is_empty() && paths.iter().all(|path| weigh(path) <= most));
        }
    }

    /// A path within a long path: searches that lead back are many here.
    #[test]
    fn a_grid_has_its_paths_in_order(width in 2u32..5, height in 2u32..4, k in 1usize..60) {
        let node = |x: u32, y: u32| y * width + x;
        let mut links = Vec::new();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let right = (x + 1 < width).then(|| (node(x, y), node(x + 1, y)));
            let down = (y + 1 < height).then(|| (node(x, y), node(x, y + 1)));
            links.extend(right.into_iter().chain(down).flat_map(|(one, other)| [(one, other, 1.0), (other, one, 1.0)]));
        }
        let net = network(width * height, (width * height) as usize, &links);
        let far = (width * height - 1) as usize;
        let mut all = all_paths(&net, &vec![1.0; links.len()], 0, far);
        all.truncate(k);
        let (paths, _) = net.k_shortest_paths(&[0], &[far], &KShortest::new(k)).unwrap();
        prop_assert_eq!(
            paths.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(),
            all.into_iter().map(|(_, path)| path).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_fabric_has_a_path_through_every_spine_and_then_no_shorter_detours() {
    let net = Topology::leaf_spine(3, 2, 4, 10.0, 40.0).unwrap();
    let (paths, group) = net.k_shortest_paths(&[0, 0], &[5, 1], &KShortest::new(6)).unwrap();
    // Beyond the four through one spine: through a spine, the third rack and another spine.
    assert_eq!(paths.iter().map(<[u32]>::len).collect::<Vec<_>>(), [4, 4, 4, 4, 6, 6, 2]);
    assert_eq!(group, [0, 0, 0, 0, 0, 0, 1]);
    let (shortest, _) = net.k_shortest_paths(&[0], &[5], &KShortest::new(4)).unwrap();
    assert_eq!(shortest, net.paths(0, 5).unwrap());
    let disjoint = KShortest::new(4).with_disjoint(true);
    let (paths, _) = net.k_shortest_paths(&[0], &[5], &disjoint).unwrap();
    assert_eq!(paths.len(), 1, "a server has one link");
}

#[test]
fn disjoint_paths_avoid_the_trap_of_the_shortest() {
    // The shortest path, through n1 and n2, blocks both others.
    let links = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 2), (1, 4), (4, 5)].map(|(from, to)| (from, to, 1.0));
    let net = network(6, 6, &links);
    let disjoint = KShortest::new(4).with_disjoint(true);
    let (paths, _) = net.k_shortest_paths(&[0], &[5], &disjoint).unwrap();
    assert_eq!(paths.iter().collect::<Vec<_>>(), [[0, 5, 6], [3, 4, 2]]);
    let (one, _) = net.k_shortest_paths(&[0], &[5], &KShortest::new(1).with_disjoint(true)).unwrap();
    assert_eq!(one.links(0), [0, 1, 2]);
}

#[test]
fn weights_of_any_size_are_compared_without_rounding() {
    // Ten links of a tenth are more than one of 1 (0.1 is a little more than a tenth), and sums of them round to less.
    let mut links: Vec<(u32, u32, f64)> = (0..10).map(|node| (node, node + 1, 1.0)).collect();
    links.push((0, 10, 1.0));
    let net = network(11, 11, &links);
    for unit in [1.0, 1e300, 1e-300] {
        let mut weight = vec![0.1 * unit; 10];
        weight.push(unit);
        let what = KShortest::new(2).with_weight(&weight[..]);
        let (paths, _) = net.k_shortest_paths(&[0], &[10], &what).unwrap();
        assert_eq!(paths.iter().map(<[u32]>::len).collect::<Vec<_>>(), [1, 10], "{unit}");
    }
    let weight = [f64::MAX; 11];
    let what = KShortest::new(2).with_weight(&weight[..]);
    assert_eq!(net.k_shortest_paths(&[0], &[10], &what).unwrap().0.links(0), [10]);
}

#[test]
fn bad_input_is_named() {
    let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nBoston Miami 1").unwrap();
    let find = |what: KShortest<'_>| message(net.k_shortest_paths(&[0], &[2], &what));
    assert_eq!(find(KShortest::new(0)), "k is 0, expected an integer from 1 to 100000");
    assert_eq!(find(KShortest::new(100_001)), "k is 100001, expected an integer from 1 to 100000");
    let two = KShortest::new(2);
    assert_eq!(find(two.with_max_stretch(0.9)), "max_stretch is 0.9, expected a number >= 1");
    assert_eq!(find(two.with_max_stretch(f64::NAN)), "max_stretch is NaN, expected a number >= 1");
    assert_eq!(find(two.with_weight(&[1.0][..])), "weight has 1 entries, expected 6, one per link");
    assert_eq!(
        find(two.with_weight(&[1.0, 1.0, -2.0, 1.0, 1.0, 1.0][..])),
        "link 2 (Denver -> Houston) has weight -2, expected a number >= 0 (inf for a link not to be used)"
    );
    let apart = " (60 % of pairs have no path: no link joins its 2 parts)";
    assert_eq!(
        find(two.with_weight(&[1.0, 1.0, f64::INFINITY, 1.0, 1.0, 1.0][..])),
        format!(
            "pair 0 from Seattle to Houston: there is no route that avoids links of capacity 0 or weight inf{apart}"
        )
    );
    let pairs = |sources: &[usize], destinations: &[usize]| message(net.k_shortest_paths(sources, destinations, &two));
    assert_eq!(pairs(&[0, 0, 1], &[2, 4, 3]), format!("pair 1 from Seattle to Miami: there is no route{apart}"));
    assert_eq!(pairs(&[0, 1], &[2, 1]), "pair 1 from Denver to Denver: source and destination are the same");
    assert_eq!(pairs(&[0], &[]), "destinations has 0 entries, expected 1, one per source");
    assert_eq!(net.has_path(&[0, 0, 3], &[2, 4, 4]), Ok(vec![true, false, true]));
    assert_eq!(
        message(net.has_path(&[7], &[0])),
        "pair 0 from end 7 to Seattle: end 7 does not exist, expected an end from 0 to 4"
    );
}

#[test]
fn a_token_stops_it() {
    let net = Topology::fat_tree(16, 1.0).unwrap();
    let (sources, destinations) = net.random_pairs(20_000, 1).unwrap();
    let token = StopToken::new();
    token.stop();
    let what = KShortest::new(20);
    assert_eq!(token.scope(|| net.k_shortest_paths(&sources, &destinations, &what)), Err(Error::Stopped));
    let disjoint = what.with_disjoint(true);
    assert_eq!(token.scope(|| net.k_shortest_paths(&sources, &destinations, &disjoint)), Err(Error::Stopped));
}
