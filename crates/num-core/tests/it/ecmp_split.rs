//! Traffic divided over shortest paths hop by hop, and shortest paths by weight, against all walks there are.

use netnum_core::{EcmpSplit, Error, Link, Paths, StopToken, Topology};
use proptest::collection::vec;
use proptest::prelude::*;

/// Nodes n0, n1, …, the first ones ends; links with a capacity each.
fn network(nodes: u32, ends: usize, links: &[(u32, u32, f64)]) -> Topology {
    let names = (0..nodes).map(|node| format!("n{node}")).collect();
    let links = links.iter().map(|&(from, to, capacity)| Link { from, to, capacity }).collect();
    Topology::new("test", names, ends, vec![0; nodes as usize], links).unwrap()
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

/// By link, the coefficient of a path.
fn coefficients(net: &Topology, paths: &Paths, path: usize) -> Vec<f64> {
    let mut by_link = vec![0.0; net.links().len()];
    for (place, &link) in (paths.indptr()[path]..).zip(paths.links(path)) {
        assert_eq!(by_link[link as usize], 0.0, "link {link} comes twice");
        by_link[link as usize] = paths.coefficients().map_or(1.0, |all| all[place]);
    }
    by_link
}

/// The network, weights and shares by definition: walks are followed one by one.
struct Slow<'a> {
    net: &'a Topology,
    weight: &'a [f64],
    shares: &'a [f64],
}

impl Slow<'_> {
    /// How far every node is from a target, in weight and then in links (Bellman and Ford).
    fn away(&self, target: usize) -> Vec<(f64, usize)> {
        let mut away = vec![(f64::INFINITY, usize::MAX); self.net.node_names().len()];
        away[target] = (0.0, 0);
        for _ in 0..away.len() {
            for (link, weight) in self.net.links().iter().zip(self.weight) {
                let (there, hops) = away[link.to as usize];
                if link.capacity > 0.0 && weight + there < f64::INFINITY {
                    let here = &mut away[link.from as usize];
                    if (weight + there, hops + 1) < *here {
                        *here = (weight + there, hops + 1);
                    }
                }
            }
        }
        away
    }

    fn next(&self, node: usize, away: &[(f64, usize)]) -> Vec<usize> {
        let leads = |&link: &usize| {
            let Link { from, to, capacity } = self.net.links()[link];
            let (here, there) = (away[node], away[to as usize]);
            let weight = self.weight[link] + there.0;
            from as usize == node && capacity > 0.0 && weight.is_finite() && there < here && weight == here.0
        };
        (0..self.net.links().len()).filter(leads).collect()
    }

    /// Adds up a part of traffic on its walks to a target; whether it gets there.
    fn walk(&self, node: usize, target: usize, part: f64, away: &[(f64, usize)], by_link: &mut [f64]) -> bool {
        if node == target {
            return true;
        }
        let next = self.next(node, away);
        let whole: f64 = next.iter().map(|&link| self.shares[link]).sum();
        whole > 0.0
            && next.into_iter().filter(|&link| self.shares[link] > 0.0).all(|link| {
                let part = part * self.shares[link] / whole;
                by_link[link] += part;
                self.walk(self.net.links()[link].to as usize, target, part, away, by_link)
            })
    }

    /// The parts of the traffic that visits these nodes; `None` if it does not arrive.
    fn split(&self, visits: &[usize]) -> Option<Vec<f64>> {
        let mut by_link = vec![0.0; self.net.links().len()];
        let arrives = visits.windows(2).all(|pair| {
            let away = self.away(pair[1]);
            away[pair[0]].0 < f64::INFINITY && self.walk(pair[0], pair[1], 1.0, &away, &mut by_link)
        });
        arrives.then_some(by_link)
    }

    /// All shortest paths.
    fn paths(&self, source: usize, destination: usize) -> Vec<Vec<u32>> {
        let (away, mut found) = (self.away(destination), Vec::new());
        let mut walks = vec![(source, Vec::new())];
        while let Some((node, walk)) = walks.pop() {
            for link in self.next(node, &away) {
                let longer = [&walk[..], &[link as u32]].concat();
                walks.push((self.net.links()[link].to as usize, longer));
            }
            if node == destination {
                found.push(walk);
            }
        }
        found.sort();
        found
    }
}

#[derive(Debug)]
struct Drawn {
    links: Vec<(u32, u32, f64)>,
    weight: Vec<f64>,
    shares: Vec<f64>,
}

prop_compose! {
    /// Links of a small network, some of which have failed; weights in quarters, so that sums are exact and many are
    /// alike; shares.
    fn drawn()(
        draws in vec((0u32..7, 0u32..7, any::<bool>(), 0u32..8, 0u32..6, 0u32..12), 0..20),
    ) -> Drawn {
        let (mut links, mut weight, mut shares) = (vec![], vec![], vec![]);
        for (from, to, both, capacity, drawn, share) in draws {
            let ways = [(from, to), (to, from)].into_iter().take(1 + usize::from(both));
            for (one, other) in ways.filter(|_| from != to) {
                links.push((one, other, f64::from(capacity)));
                weight.push(if drawn == 5 { f64::INFINITY } else { f64::from(drawn) / 4.0 });
                shares.push(f64::from(share.saturating_sub(1)) * 0.3);
            }
        }
        Drawn { links, weight, shares }
    }
}

fn all_pairs(ends: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..ends).flat_map(move |one| (0..ends).map(move |other| (one, other))).filter(|(one, other)| one != other)
}

proptest! {
    /// Dense and sparse, with parallel links and ends that hang off a switch, with weights of 0 and ∞.
    #[test]
    fn a_split_is_what_routers_do_hop_by_hop(
        Drawn { links, weight, shares } in drawn(),
        ends in 2usize..=7,
        by_weight in any::<bool>(),
        by_share in any::<bool>(),
        visits in proptest::option::of(vec(vec(0usize..7, 0..4), 42)),
    ) {
        let net = network(7, ends, &links);
        let ones = vec![1.0; links.len()];
        let slow = Slow {
            net: &net,
            weight: if by_weight { &weight } else { &ones },
            shares: if by_share { &shares } else { &ones },
        };
        let (mut sources, mut destinations, mut via, mut expected) = (vec![], vec![], vec![], vec![]);
        let what = EcmpSplit::new().with_weight(by_weight.then_some(&weight[..]));
        let what = what.with_shares(by_share.then_some(&shares[..]));
        for (pair, (source, destination)) in all_pairs(ends).enumerate() {
            let between = visits.as_ref().map_or(vec![], |visits| visits[pair].clone());
            if let Some(split) = slow.split(&[&[source], &between[..], &[destination]].concat()) {
                sources.push(source);
                destinations.push(destination);
                via.push(between);
                expected.push(split);
            } else {
                let only = [between];
                let what = what.with_via(visits.is_some().then_some(&only[..]));
                let told = message(net.ecmp_split(&[source], &[destination], &what));
                let place = format!("pair 0 from n{source} to n{destination}: ");
                let is_told = told.contains("there is no route") || told.contains(" share 0, expected one above 0");
                prop_assert!(told.starts_with(&place) && is_told, "{told}");
                prop_assert!(by_share || told.contains("there is no route"), "{told}");
            }
        }
        let what = what.with_via(visits.is_some().then_some(&via[..]));
        let paths = net.ecmp_split(&sources, &destinations, &what).unwrap();
        prop_assert_eq!(paths.len(), expected.len());
        let are_ones = expected.iter().flatten().all(|&part| part == 0.0 || part == 1.0);
        prop_assert!(are_ones || paths.coefficients().is_some());
        for (path, expected) in expected.iter().enumerate() {
            let found = coefficients(&net, &paths, path);
            let differs = |(one, other): (&f64, &f64)| (one - other).abs() > 1e-12;
            prop_assert!(!found.iter().zip(expected).any(differs), "path {path}: {found:?}, expected {expected:?}");
        }
    }

    /// What enters a node leaves it, but for 1 from the source and 1 to the destination.
    #[test]
    fn traffic_is_conserved(
        Drawn { links, weight, .. } in drawn(),
        (source, destination) in (0usize..7, 0usize..7),
        between in vec(0usize..7, 0..3),
    ) {
        let net = network(7, 7, &links);
        let via = [between];
        let what = EcmpSplit::new().with_weight(&weight[..]).with_via(&via[..]);
        if let Ok(paths) = net.ecmp_split(&[source], &[destination], &what) {
            let mut left = [0.0; 7];
            for (link, part) in net.links().iter().zip(coefficients(&net, &paths, 0)) {
                left[link.from as usize] += part;
                left[link.to as usize] -= part;
            }
            left[source] -= 1.0;
            left[destination] += 1.0;
            prop_assert!(left.iter().all(|left: &f64| left.abs() < 1e-12), "{left:?}");
        }
    }

    #[test]
    fn shortest_paths_by_weight_are_all_there_are(
        Drawn { links, weight, .. } in drawn(),
        ends in 2usize..=7,
        seed in any::<u64>(),
    ) {
        let net = network(7, ends, &links);
        let slow = Slow { net: &net, weight: &weight, shares: &weight };
        for (source, destination) in all_pairs(ends) {
            let expected = slow.paths(source, destination);
            if expected.is_empty() {
                let told = message(net.paths_by(source, destination, Some(&weight)));
                let place = format!("paths from n{source} to n{destination}: there is no route");
                prop_assert!(told.starts_with(&place), "{told}");
                let told = message(net.ecmp_by(&[source], &[destination], Some(&weight), seed));
                let place = format!("pair 0 from n{source} to n{destination}: there is no route");
                prop_assert!(told.starts_with(&place), "{told}");
                continue;
            }
            let paths = net.paths_by(source, destination, Some(&weight)).unwrap();
            prop_assert_eq!(paths.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), expected);
            let one = net.ecmp_by(&[source], &[destination], Some(&weight), seed).unwrap();
            prop_assert!(paths.iter().any(|path| path == one.links(0)));
        }
    }

    /// Over links that both directions share a path comes back as it went.
    #[test]
    fn shared_links_add_up_both_directions(Drawn { links, weight, .. } in drawn(), between in vec(0usize..7, 0..3)) {
        // Once per link, from the node of the smaller number on.
        let one_way = links.into_iter().zip(weight).filter(|(link, _)| link.0 < link.1);
        let (links, weight): (Vec<_>, Vec<_>) = one_way.unzip();
        let all: Vec<u32> = (0..links.len() as u32).collect();
        let shared = network(7, 7, &links).with_shared(&all).unwrap();
        let both = links.iter().flat_map(|&(from, to, capacity)| [(from, to, capacity), (to, from, capacity)]);
        let both: Vec<_> = both.collect();
        let twice: Vec<f64> = weight.iter().flat_map(|&weight| [weight, weight]).collect();
        let apart = network(7, 7, &both);
        let via = [between];
        for (source, destination) in all_pairs(7) {
            let what = EcmpSplit::new().with_via(&via[..]);
            let found = shared.ecmp_split(&[source], &[destination], &what.with_weight(&weight[..]));
            let expected = apart.ecmp_split(&[source], &[destination], &what.with_weight(&twice[..]));
            match expected {
                Err(error) => prop_assert!(message(found).contains("there is no route"), "{error}"),
                Ok(expected) => {
                    let expected = coefficients(&apart, &expected, 0);
                    let sums: Vec<f64> = expected.chunks(2).map(|both| both[0] + both[1]).collect();
                    let found = coefficients(&shared, &found.unwrap(), 0);
                    prop_assert!(found.iter().zip(&sums).all(|(one, other)| (one - other).abs() < 1e-12));
                    let by_hops = shared.ecmp_by(&[source], &[destination], Some(&weight), 1).unwrap();
                    prop_assert_eq!(shared.walk_ends(by_hops.links(0)).is_some(), true);
                }
            }
        }
    }
}

/// 40 units from A to F over costs with a tie at A, A–B–D and A–D of 40, and one at B.
#[test]
fn a_public_example_has_its_loads() {
    let edges = ["A B", "B D", "A D", "B G", "G D", "D F", "A C", "C D", "A E"];
    let cost = [20.0, 20.0, 40.0, 10.0, 10.0, 10.0, 30.0, 30.0, 10.0];
    let text: String = edges.iter().map(|edge| format!("{edge} 100\n")).collect();
    let net = Topology::from_edges(&text).unwrap();
    let weight: Vec<f64> = cost.iter().flat_map(|&cost| [cost, cost]).collect();
    let paths = net.ecmp_split(&["A"], &["F"], &EcmpSplit::new().with_weight(&weight[..])).unwrap();
    let load: Vec<f64> = coefficients(&net, &paths, 0).iter().map(|part| 40.0 * part).collect();
    let expected = [20.0, 10.0, 20.0, 10.0, 10.0, 40.0, 0.0, 0.0, 0.0];
    assert_eq!(load.iter().copied().step_by(2).collect::<Vec<_>>(), expected);
    assert_eq!(load.iter().copied().skip(1).step_by(2).collect::<Vec<_>>(), [0.0; 9]);
    // It is no walk, and need not be one, but for its links.
    assert_eq!(net.check_walks(&paths), Ok(()));
    let beyond = Paths::with_coefficients(vec![0, 2], vec![0, 18], vec![0.5, 1.0]).unwrap();
    assert_eq!(net.check_walks(&beyond), Err(Error::LinkOutOfRange { path: 0, link: 18, links: 18 }));
    let whole = Paths::new(vec![0, 2], vec![0, 16]).unwrap();
    assert!(message(net.check_walks(&whole)).contains("does not lead to"));
    // Hop by hop half goes straight on; over paths alike, a third would.
    assert_eq!(net.paths_by("A", "F", Some(&weight)).unwrap().len(), 3);
}

#[test]
fn one_path_has_no_coefficients() {
    let net = Topology::leaf_spine(2, 2, 1, 10.0, 10.0).unwrap();
    let pairs = net.random_pairs(20, 1).unwrap();
    let paths = net.ecmp_split(&pairs.0, &pairs.1, &EcmpSplit::new()).unwrap();
    assert_eq!(paths.coefficients(), None);
    assert_eq!(paths, net.ecmp(&pairs.0, &pairs.1, 1).unwrap());
}

#[test]
fn what_is_divided_and_comes_together_is_whole_again() {
    // Sums of 49 parts round to less than 1.
    for spines in [3, 6, 10, 49] {
        let net = Topology::leaf_spine(2, 1, spines, 10.0, 10.0).unwrap();
        let via = [vec![net.node("rack 1").unwrap(), net.node("rack 0").unwrap()]];
        let paths = net.ecmp_split(&[0], &[1], &EcmpSplit::new().with_via(&via[..])).unwrap();
        let part = coefficients(&net, &paths, 0);
        assert_eq!((part[0], part[3]), (1.0, 1.0), "{spines} spines");
        // Over the racks and back, and once more.
        let ups = &part[4..4 + spines];
        assert!(ups.iter().all(|part| (part - 2.0 / spines as f64).abs() < 1e-15), "{ups:?}");
    }
}

#[test]
fn sums_of_decimals_are_alike_where_they_are_in_decimals() {
    let links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)];
    let net = network(3, 3, &links);
    for unit in [1.0, 1e-9, 1e300, 1e-300] {
        for (weight, paths) in [([0.1, 0.2, 0.3], 2), ([0.1, 0.2, 0.3 + 1e-11], 1), ([0.1 + 1e-11, 0.2, 0.3], 1)] {
            let weight = weight.map(|weight| weight * unit);
            assert_eq!(net.paths_by(0, 2, Some(&weight)).unwrap().len(), paths, "{weight:?}");
        }
    }
    // Beside a large weight little is left of small ones, and that is not a difference.
    let links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (2, 0, 1.0)];
    let net = network(3, 3, &links);
    for large in [1e3, 1e9, 1e15] {
        assert_eq!(net.paths_by(0, 2, Some(&[0.1, 0.2, 0.3, large])).unwrap().len(), 2, "{large}");
        assert_eq!(net.paths_by(0, 2, Some(&[0.1, 0.2, 0.31, large])).unwrap().len(), 1, "{large}");
    }
}

#[test]
fn the_choices_of_many_seeds_are_the_split() {
    let net = Topology::from_edges("A B 1\nB D 1\nA D 1\nB G 1\nG D 1\nD F 1").unwrap();
    let weight: Vec<f64> = [20.0, 20.0, 40.0, 10.0, 10.0, 10.0].iter().flat_map(|&cost| [cost, cost]).collect();
    let (flows, ends) = (8000, (net.end("A").unwrap(), net.end("F").unwrap()));
    let paths = net.ecmp_by(&vec![ends.0; flows], &vec![ends.1; flows], Some(&weight), 3).unwrap();
    let mut found = vec![0.0; net.links().len()];
    paths.indices().iter().for_each(|&link| found[link as usize] += 1.0 / flows as f64);
    let split = net.ecmp_split(&["A"], &["F"], &EcmpSplit::new().with_weight(&weight[..])).unwrap();
    for (found, expected) in found.iter().zip(coefficients(&net, &split, 0)) {
        assert!((found - expected).abs() < 0.02, "{found}, expected {expected}");
    }
    // Measured in links the weights of 1 say the same, draw by draw.
    let ones = vec![1.0; weight.len()];
    let pairs = net.random_pairs(100, 1).unwrap();
    assert_eq!(net.ecmp_by(&pairs.0, &pairs.1, Some(&ones), 7), net.ecmp(&pairs.0, &pairs.1, 7));
}

#[test]
fn huge_and_tiny_shares_have_their_proportions() {
    let net = Topology::leaf_spine(2, 1, 2, 10.0, 10.0).unwrap();
    for unit in [1.0, 1e308, 1e-300] {
        let mut shares = vec![0.0; net.links().len()];
        shares[4..].copy_from_slice(&[unit, 0.25 * unit, unit, unit, 1.0, 1.0, 1.0, 1.0]);
        let paths = net.ecmp_split(&[0], &[1], &EcmpSplit::new().with_shares(&shares[..]));
        assert!(message(paths).contains("the only link by which shortest paths leave"), "servers have none");
        shares[..4].fill(1.0);
        let paths = net.ecmp_split(&[0], &[1], &EcmpSplit::new().with_shares(&shares[..])).unwrap();
        assert_eq!(coefficients(&net, &paths, 0)[4..6], [0.8, 0.2]);
    }
}

#[test]
fn bad_input_is_named() {
    let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nBoston Miami 1").unwrap();
    let find = |what: EcmpSplit<'_>| message(net.ecmp_split(&[0], &[2], &what));
    let split = EcmpSplit::new();
    assert_eq!(find(split.with_weight(&[1.0][..])), "weight has 1 entries, expected 6, one per link");
    assert_eq!(
        find(split.with_weight(&[1.0, 1.0, -2.0, 1.0, 1.0, 1.0][..])),
        "link 2 (Denver -> Houston) has weight -2, expected a number >= 0 (inf for a link not to be used)"
    );
    assert_eq!(find(split.with_shares(&[1.0][..])), "shares has 1 entries, expected 6, one per link");
    for (share, shown) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let told = find(split.with_shares(&[1.0, 1.0, share, 1.0, 1.0, 1.0][..]));
        assert_eq!(told, format!("link 2 (Denver -> Houston) has share {shown}, expected a finite number >= 0"));
    }
    assert_eq!(
        find(split.with_shares(&[0.0; 6][..])),
        "pair 0 from Seattle to Houston: the only link by which shortest paths leave Seattle has share 0, expected one \
         above 0"
    );
    assert_eq!(find(split.with_via(&[][..])), "via has 0 entries, expected 1, one per pair");
    assert_eq!(find(split.with_via(&[vec![1, 9]][..])), "via[0][1] is 9, expected a node from 0 to 4");
    let apart = " (60 % of pairs have no path: no link joins its 2 parts)";
    assert_eq!(
        find(split.with_via(&[vec![1, 4]][..])),
        format!("pair 0 from Seattle to Houston: on the way from Denver to Miami there is no route{apart}")
    );
    let pairs = |sources: &[usize], destinations: &[usize]| message(net.ecmp_split(sources, destinations, &split));
    assert_eq!(pairs(&[0, 0, 1], &[2, 4, 3]), format!("pair 1 from Seattle to Miami: there is no route{apart}"));
    assert_eq!(pairs(&[0, 1], &[2, 1]), "pair 1 from Denver to Denver: source and destination are the same");
    assert_eq!(pairs(&[0], &[]), "destinations has 0 entries, expected 1, one per source");
    let failed = net.clone().without(&[2]).unwrap();
    assert!(
        message(failed.ecmp_split(&[0], &[2], &split)).contains("there is no route that avoids links of capacity 0"),
    );
}

#[test]
fn a_token_stops_it() {
    let net = Topology::fat_tree(16, 1.0).unwrap();
    let pairs = net.random_pairs(2000, 1).unwrap();
    let weight = vec![1.0; net.links().len()];
    let token = StopToken::new();
    token.stop();
    for what in [EcmpSplit::new(), EcmpSplit::new().with_weight(&weight[..])] {
        assert_eq!(token.scope(|| net.ecmp_split(&pairs.0, &pairs.1, &what)), Err(Error::Stopped));
    }
    assert_eq!(token.scope(|| net.paths_by(0, 900, Some(&weight))), Err(Error::Stopped));
}
