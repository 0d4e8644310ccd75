//! Random problems of every kind on networks as people have them, one for every seed.

use netnum_core::internal::Spec;
use netnum_core::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The problem of a seed, and what it is.
pub fn random_problem(seed: u64) -> (String, Problem) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (network, capacities, mut paths, mut group) = routes(&mut rng);
    let decades = *[0.0, 0.0, 1.0, 4.0, 8.0].choose(&mut rng).unwrap();
    let capacities: Vec<f64> =
        capacities.iter().map(|c| c * 10f64.powf(rng.random_range(-0.5..=0.5) * decades)).collect();
    if rng.random_bool(0.15) {
        // Subflows on one and the same path.
        let path = rng.random_range(0..paths.len());
        for _ in 0..3 {
            paths.push(paths[path].clone());
            group.push(group[path]);
        }
    }
    let flows = group.iter().max().map_or(0, |&flow| flow as usize + 1);
    let kinds = ["alpha", "alpha", "mixed alpha", "fct", "bandwidth", "linear", "everything"];
    let kind = *kinds.choose(&mut rng).unwrap();
    let spread = *[0.0, 0.3, 2.0, 6.0].choose(&mut rng).unwrap();
    let alpha = *[0.125, 0.25, 0.5, 0.9, 1.0, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0].choose(&mut rng).unwrap();
    let scale = capacities.iter().sum::<f64>() / capacities.len() as f64;
    let specs: Vec<Spec> = (0..flows).map(|_| spec(&mut rng, kind, alpha, spread, scale)).collect();
    let mut problem =
        Problem::grouped(capacities.clone(), Paths::from_lists(&paths), group, Utilities::Specs(specs)).unwrap();
    let capped = rng.random_bool(0.3);
    if capped {
        let share = 0.5 / (paths.len() as f64).sqrt();
        let mut cap = |links: &Vec<u32>| {
            let least = links.iter().map(|&link| capacities[link as usize]).fold(f64::INFINITY, f64::min);
            if rng.random_bool(0.4) { least * share * 10f64.powf(rng.random_range(-1.5..1.5)) } else { f64::INFINITY }
        };
        let caps = paths.iter().map(&mut cap).collect();
        problem = problem.with_rate_caps(caps).unwrap();
    }
    let (links, paths) = (problem.links(), problem.paths().len());
    let caps = if capped { ", caps" } else { "" };
    let name = format!(
        "seed {seed}: {network}, {links} links, {flows} flows, {paths} paths, {kind} ({alpha}), weights over {spread} \
         decades, capacities over {decades}{caps}"
    );
    (name, problem)
}

type Routes = (&'static str, Vec<f64>, Vec<Vec<u32>>, Vec<u32>);

fn routes(rng: &mut impl Rng) -> Routes {
    let flows = (10f64.powf(rng.random_range(0.0..2.4))) as usize;
    let several = *[1, 1, 1, 2, 4].choose(rng).unwrap();
    let (name, net) = match rng.random_range(0..5) {
        0 => ("leaf-spine", Topology::leaf_spine(4, 6, 3, 10.0, *[10.0, 40.0].choose(rng).unwrap()).unwrap()),
        1 => ("fat-tree", Topology::fat_tree(4, 10.0).unwrap()),
        2 => ("leaf-spine 9x16x4", Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap()),
        3 => return parking_lot(rng),
        _ => return mesh(rng, flows, several),
    };
    let (sources, destinations) = net.random_pairs(flows, rng.random()).unwrap();
    let (mut paths, mut group) = (Vec::new(), Vec::new());
    for (flow, (&source, &destination)) in sources.iter().zip(&destinations).enumerate() {
        let own = rng.random_range(1..=several);
        for _ in 0..own {
            paths.push(net.ecmp(&[source], &[destination], rng.random()).unwrap().links(0).to_vec());
            group.push(flow as u32);
        }
    }
    (name, net.capacities().to_vec(), paths, group)
}

/// One long flow and a short one on every link.
fn parking_lot(rng: &mut impl Rng) -> Routes {
    let links = rng.random_range(1..20u32);
    let paths: Vec<Vec<u32>> = std::iter::once((0..links).collect()).chain((0..links).map(|link| vec![link])).collect();
    let group = (0..paths.len() as u32).collect();
    ("parking lot", vec![1.0; links as usize], paths, group)
}

/// Paths over links drawn at random.
fn mesh(rng: &mut impl Rng, flows: usize, several: usize) -> Routes {
    let links = rng.random_range(2..80usize);
    let (mut paths, mut group) = (Vec::new(), Vec::new());
    for flow in 0..flows {
        for _ in 0..rng.random_range(1..=several) {
            let length = rng.random_range(1..=links.min(7));
            let path = rand::seq::index::sample(rng, links, length);
            paths.push(path.iter().map(|link| link as u32).collect());
            group.push(flow as u32);
        }
    }
    ("mesh", vec![1.0; links], paths, group)
}

fn spec(rng: &mut impl Rng, kind: &str, alpha: f64, spread: f64, scale: f64) -> Spec {
    let weight = 10f64.powf(rng.random_range(-0.5..=0.5) * spread);
    match kind {
        "alpha" => Spec::of_kind("alpha_fair").with("weight", weight).with("alpha", alpha),
        "mixed alpha" => {
            let alpha = *[0.5, 1.0, 2.0, 4.0].choose(rng).unwrap();
            Spec::of_kind("alpha_fair").with("weight", weight).with("alpha", alpha)
        }
        "fct" => Spec::of_kind("fct").with("size", weight).with("eps", 0.125),
        "linear" => Spec::of_kind("linear").with("weight", weight),
        "bandwidth" => {
            let (mut f, mut b) = (if rng.random_bool(0.8) { 0.0 } else { 0.5 }, 0.0);
            let mut points = vec![[f, b]];
            for _ in 0..rng.random_range(1..5) {
                f += rng.random_range(0.3..2.0);
                b += if rng.random_bool(0.3) { 0.0 } else { scale * rng.random_range(0.05..1.0) };
                points.push([f, b]);
            }
            let tail = if b == 0.0 || rng.random_bool(0.5) { scale * rng.random_range(0.1..1.0) } else { 0.0 };
            let alpha = *[1.0, 2.0, 5.0].choose(rng).unwrap();
            Spec::of_kind("bandwidth_function").with("alpha", alpha).with_breakpoints(points).with("tail_slope", tail)
        }
        _ => {
            let kind = *["alpha", "mixed alpha", "fct", "bandwidth", "linear"].choose(rng).unwrap();
            spec(rng, kind, alpha, spread, scale)
        }
    }
}
