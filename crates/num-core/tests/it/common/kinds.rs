//! Random problems by kind, one for every kind and seed: what `auto` must answer.

use std::sync::Arc;

use netnum_core::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Deadline, Logarithmic};

/// The kinds of problems, by name.
pub const KINDS: [&str; 14] = [
    "linear on lines",
    "linear on rings",
    "linear on meshes",
    "linear, several paths",
    "alpha",
    "alpha, several paths",
    "mixed alpha",
    "mixed alpha, several paths",
    "completion times",
    "deadline",
    "bandwidth functions",
    "bandwidth functions, several paths",
    "everything",
    "everything, several paths",
];

/// A problem of a kind.
pub struct Drawn {
    /// Kind and seed, and what was drawn.
    pub name: String,
    /// Decades of the capacities and of the weights together.
    pub decades: f64,
    pub problem: Problem,
}

/// The problem of a kind and a seed.
pub fn draw(kind: &str, seed: u64) -> Drawn {
    let of_kind = kind.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ of_kind);
    let of_capacities = *[0.0, 0.0, 1.0, 2.0, 4.0, 6.0].choose(&mut rng).unwrap();
    let of_weights = *[0.0, 0.0, 0.5, 2.0, 4.0, 8.0, 12.0].choose(&mut rng).unwrap();
    let several = if kind.ends_with("several paths") { *[2, 3, 4].choose(&mut rng).unwrap() } else { 1 };
    let shape = match kind {
        "linear on lines" => "line",
        "linear on rings" => "ring",
        "linear on meshes" => "mesh",
        _ => ["line", "ring", "mesh", "mesh", "leaf-spine"].choose(&mut rng).unwrap(),
    };
    let (mut capacities, paths, group) = routes(&mut rng, shape, several);
    for capacity in &mut capacities {
        *capacity *= 10f64.powf(rng.random_range(-0.5..=0.5) * of_capacities);
    }
    let failed = rng.random_bool(0.1);
    if failed {
        let link = rng.random_range(0..capacities.len());
        capacities[link] = 0.0;
    }
    let flows = group.last().map_or(0, |&flow| flow as usize + 1);
    let family = kind.split([',', ' ']).next().unwrap();
    let alpha = rng.random_range(0.1..8.0);
    let scale = capacities.iter().sum::<f64>() / capacities.len() as f64;
    let utilities: Vec<Arc<dyn Utility>> =
        (0..flows).map(|_| utility(&mut rng, family, alpha, of_weights, scale)).collect();
    let capped = rng.random_bool(0.3);
    let share = 0.5 / (paths.len() as f64).sqrt();
    let mut cap = |links: &Vec<u32>| {
        let least = links.iter().map(|&link| capacities[link as usize]).fold(f64::INFINITY, f64::min);
        let bounded = capped && rng.random_bool(0.4);
        if bounded { least * share * 10f64.powf(rng.random_range(-1.5..1.5)) } else { f64::INFINITY }
    };
    let caps: Vec<f64> = paths.iter().map(&mut cap).collect();
    let count = paths.len();
    let problem = Problem::grouped(capacities.clone(), Paths::from_lists(&paths), group, utilities).unwrap();
    let problem = if capped { problem.with_rate_caps(caps).unwrap() } else { problem };
    let name = format!(
        "{kind}, seed {seed}: {shape}, {} links, {flows} flows, {count} paths, alpha {alpha:.2}, decades \
         {of_capacities}+{of_weights}{}{}",
        problem.links(),
        if capped { ", caps" } else { "" },
        if failed { ", a failed link" } else { "" },
    );
    Drawn { name, decades: of_capacities + of_weights, problem }
}

type Routes = (Vec<f64>, Vec<Vec<u32>>, Vec<u32>);

fn routes(rng: &mut ChaCha8Rng, shape: &str, several: usize) -> Routes {
    let flows = 10f64.powf(rng.random_range(0.3..2.5)) as usize;
    let links = rng.random_range(2..100usize);
    let (mut paths, mut group) = (Vec::new(), Vec::new());
    let fabric = (shape == "leaf-spine").then(|| Topology::leaf_spine(4, 6, 3, 10.0, 40.0).unwrap());
    for flow in 0..flows {
        let ends = fabric.as_ref().map(|net| net.random_pairs(1, rng.random()).unwrap());
        for _ in 0..rng.random_range(1..=several) {
            paths.push(match (&fabric, &ends) {
                (Some(net), Some((from, to))) => net.ecmp(from, to, rng.random()).unwrap().links(0).to_vec(),
                _ => path(rng, shape, links),
            });
            group.push(flow as u32);
        }
    }
    (fabric.map_or_else(|| vec![1.0; links], |net| net.capacities().to_vec()), paths, group)
}

/// An interval of a line, an arc of a ring, or any few links.
fn path(rng: &mut ChaCha8Rng, shape: &str, links: usize) -> Vec<u32> {
    match shape {
        "line" => {
            let (one, other) = (rng.random_range(0..links as u32), rng.random_range(0..links as u32));
            (one.min(other)..=one.max(other)).collect()
        }
        "ring" => {
            let (first, length) = (rng.random_range(0..links), rng.random_range(1..=links.div_ceil(2)));
            (first..first + length).map(|link| (link % links) as u32).collect()
        }
        _ => {
            let length = rng.random_range(1..=links.min(7));
            rand::seq::index::sample(rng, links, length).iter().map(|link| link as u32).collect()
        }
    }
}

fn utility(rng: &mut ChaCha8Rng, family: &str, alpha: f64, decades: f64, scale: f64) -> Arc<dyn Utility> {
    let weight = 10f64.powf(rng.random_range(-0.5..=0.5) * decades);
    match family {
        "linear" => Arc::new(Linear::new(weight).unwrap()),
        "alpha" => Arc::new(AlphaFair::new(alpha, weight).unwrap()),
        "mixed" => {
            let alpha = if rng.random_bool(0.5) { alpha } else { rng.random_range(0.1..8.0) };
            Arc::new(AlphaFair::new(alpha, weight).unwrap())
        }
        "completion" => Arc::new(MinFct::new(weight, 0.125).unwrap()),
        "bandwidth" => Arc::new(bandwidth_function(rng, scale)),
        "logarithmic" => Arc::new(Logarithmic { weight, scale: scale * 10f64.powf(rng.random_range(-2.0..2.0)) }),
        "deadline" => Arc::new(Deadline { need: scale * 10f64.powf(rng.random_range(-1.5..1.0)) }),
        _ => {
            let family =
                *["alpha", "mixed", "linear", "completion", "bandwidth", "bandwidth", "logarithmic", "deadline"]
                    .choose(rng)
                    .unwrap();
            utility(rng, family, alpha, decades, scale)
        }
    }
}

/// A curve of a few pieces, flat ones among them.
fn bandwidth_function(rng: &mut impl Rng, scale: f64) -> BandwidthFunction {
    let (mut f, mut b) = (if rng.random_bool(0.8) { 0.0 } else { 0.5 }, 0.0);
    let (mut fair_share, mut bandwidth) = (vec![f], vec![b]);
    for _ in 0..rng.random_range(1..5) {
        f += rng.random_range(0.3..2.0);
        b += if rng.random_bool(0.3) { 0.0 } else { scale * rng.random_range(0.01..1.0) };
        fair_share.push(f);
        bandwidth.push(b);
    }
    let tail = if b == 0.0 || rng.random_bool(0.5) { scale * rng.random_range(0.1..1.0) } else { 0.0 };
    BandwidthFunction::new(&fair_share, &bandwidth, rng.random_range(0.3..10.0), tail).unwrap()
}
