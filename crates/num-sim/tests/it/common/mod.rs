//! What tests compare with: progressive filling, a loop over arrivals and ends for rates of any kind, networks of all
//! sorts.

pub(crate) mod slow;

use netnum_core::{Link, Topology};
use netnum_sim::{NetworkState, Route, Routing, Workload};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A route as links with shares, a link as an index.
pub(crate) type Plain = Vec<(usize, f64)>;

pub(crate) fn hops(route: &Route) -> impl Iterator<Item = (usize, f64)> {
    route.iter().map(|(link, share)| (link as usize, share))
}

/// Max-min rates: raise all, freeze those on the link that fills first, and so on.
pub(crate) fn progressive_filling(capacities: &[f64], routes: &[Plain]) -> Vec<f64> {
    let mut rates = vec![f64::NAN; routes.len()];
    while rates.iter().any(|rate| rate.is_nan()) {
        let (mut left, mut rising) = (capacities.to_vec(), vec![0.0; capacities.len()]);
        for (route, rate) in routes.iter().zip(&rates) {
            for &(link, share) in route {
                if rate.is_nan() { rising[link] += share } else { left[link] -= share * rate }
            }
        }
        let mut fullest = (f64::INFINITY, usize::MAX);
        for (link, (left, rising)) in left.iter().zip(&rising).enumerate() {
            if *rising > 0.0 && left / rising < fullest.0 {
                fullest = (left / rising, link);
            }
        }
        for (route, rate) in routes.iter().zip(&mut rates) {
            if rate.is_nan() && route.iter().any(|hop| hop.0 == fullest.1) {
                *rate = fullest.0.max(0.0);
            }
        }
    }
    rates
}

/// The completion time of every flow, when rates follow from the routes (and what is left) of the flows of the moment.
pub(crate) fn brute_force(
    workload: &Workload,
    routes: &[Plain],
    rates_of: impl Fn(&[usize], &[Plain], &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let (arrivals, mut times) = (workload.arrivals(), vec![f64::NAN; workload.len()]);
    let (mut active, mut left): (Vec<usize>, Vec<f64>) = (vec![], vec![]);
    let (mut now, mut next) = (0.0, 0);
    while next < arrivals.len() || !active.is_empty() {
        let on: Vec<Plain> = active.iter().map(|&flow| routes[flow].clone()).collect();
        let rates = rates_of(&active, &on, &left);
        let (mut until, mut ends) = (arrivals.get(next).map_or(f64::INFINITY, |arrival| arrival - now), None);
        for (place, (left, rate)) in left.iter().zip(&rates).enumerate() {
            if left / rate < until {
                (until, ends) = (left / rate, Some(place));
            }
        }
        assert!(until < f64::INFINITY, "a flow starves");
        left.iter_mut().zip(&rates).for_each(|(left, rate)| *left -= rate * until);
        match ends {
            Some(place) => {
                now += until;
                times[active[place]] = now - arrivals[active[place]];
                active.swap_remove(place);
                left.swap_remove(place);
            }
            None => {
                now = arrivals[next];
                active.push(next);
                left.push(8.0 * workload.sizes()[next]);
                next += 1;
            }
        }
    }
    times
}

/// The routes that a routing gives to the flows of a workload.
pub(crate) fn routes(net: &Topology, workload: &Workload, routing: &mut dyn Routing) -> Vec<Plain> {
    routing.begin_run(net, workload).expect("all ends are joined");
    let (mut route, loads) = (Route::default(), vec![0.0; net.capacities().len()]);
    let now = NetworkState { net, time: 0.0, capacities: net.capacities(), no_limit: f64::INFINITY, loads: &loads };
    let mut one = |flow| {
        routing.route(flow, &now, &mut route).expect("there is a route");
        hops(&route).collect()
    };
    (0..workload.len()).map(&mut one).collect()
}

/// A connected network of some nodes: a ring, and as many chords; capacities over a decade, some of them equal.
pub(crate) fn random_network(nodes: usize, seed: u64) -> Topology {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut links = Vec::new();
    for from in 0..nodes as u32 {
        let ring = (from + 1) % nodes as u32;
        let chord = (from + rng.random_range(2..nodes as u32 - 1)) % nodes as u32;
        for to in [ring, chord] {
            let capacity = if rng.random_bool(0.5) { 1e9 } else { 10f64.powf(rng.random_range(8.5..9.5)) };
            links.push(Link { from, to, capacity });
            links.push(Link { from: to, to: from, capacity });
        }
    }
    let names = (0..nodes).map(|node| node.to_string()).collect();
    Topology::new("random", names, nodes, vec![0; nodes], links).expect("well formed")
}

/// Leaves and spines, a fat tree, or a random network.
pub(crate) fn small_network(seed: u64) -> Topology {
    match seed % 4 {
        0 => Topology::leaf_spine(3, 3, 3, 1e9, 1e9),
        1 => Topology::fat_tree(4, 1e9),
        2 => Topology::leaf_spine(2, 4, 5, 1e9, 0.5e9),
        _ => Ok(random_network(5 + seed as usize % 5, seed)),
    }
    .expect("well formed")
}

/// The largest difference of two lists of completion times, relative to them.
///
/// Both simulators' clocks have a rounding of a unit in the last place of the time of day, which a flow cannot do
/// better than: `clock` is that time.
pub(crate) fn largest_difference(times: &[f64], others: &[f64], clock: f64) -> f64 {
    assert_eq!(times.len(), others.len());
    let rounding = 8.0 * f64::EPSILON * clock;
    let difference = |(time, other): (&f64, &f64)| {
        assert!(time.is_finite() && other.is_finite(), "{time} and {other}");
        f64::max(0.0, (time - other).abs() - rounding) / other
    };
    times.iter().zip(others).map(difference).fold(0.0, f64::max)
}
