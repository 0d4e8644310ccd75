//! Shared by the benchmarks: instances by size, the clock, and medians that agree with criterion's.
#![allow(dead_code, reason = "every benchmark uses its part")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode};
use netnum_core::{AlphaFair, KShortest, Paths, Problem, Topology};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Every instance is drawn from this seed: runs on any machine time the same problems.
const SEED: u64 = 1;
/// Nominal capacities in bit/s; capacities differ from them by up to [`SPREAD`], so that no two bottlenecks tie.
const SERVER_CAPACITY: f64 = 10e9;
const FABRIC_CAPACITY: f64 = 40e9;
const SPREAD: std::ops::Range<f64> = 0.8..1.2;
/// Nodes of a wide-area network are joined at this distance, per 1/√nodes: to 5 or 6 others in the mean.
const NEAR: f64 = 1.35;
/// Weights of the flows.
const WEIGHTS: std::ops::Range<f64> = 0.5..1.5;

/// A row of Flowtune's table of one iteration (NSDI 2017, table 1: Westmere-EX cores at 2.4 GHz).
pub(crate) struct Row {
    /// Servers, 16 to a rack.
    pub(crate) nodes: usize,
    /// Flows, all between different racks, so that each crosses 4 links.
    pub(crate) flows: usize,
    /// Number of cores that Flowtune used.
    pub(crate) flowtune_cores: usize,
    /// One iteration of Flowtune in µs.
    pub(crate) flowtune_us: f64,
}

impl Row {
    /// Cycles per flow in one iteration of Flowtune, over all its cores.
    pub(crate) fn flowtune_cycles_per_flow(&self) -> f64 {
        self.flowtune_us * 2400.0 * self.flowtune_cores as f64 / self.flows as f64
    }

    /// The row's network and the ends of its flows.
    fn ends(&self) -> (Topology, Vec<usize>, Vec<usize>) {
        let (racks, per_rack) = (self.nodes / 16, 16);
        let net = leaf_spine(racks);
        let mut rng = rng(0);
        // Every server sends equally many flows, as in the paper; a flow's other end is in another rack.
        let sources: Vec<usize> = (0..self.flows).map(|flow| flow % self.nodes).collect();
        let away = |&source: &usize| {
            let rack = source / per_rack;
            let other = rng.random_range(0..racks - 1);
            (other + usize::from(other >= rack)) * per_rack + rng.random_range(0..per_rack)
        };
        let destinations: Vec<usize> = sources.iter().map(away).collect();
        (net, sources, destinations)
    }

    /// The row's network and flows.
    pub(crate) fn instance(&self) -> Instance {
        let (net, sources, destinations) = self.ends();
        Instance::new(&net, &sources, &destinations)
    }

    /// The row's network with the paths over all four spines, and the flow of every path.
    pub(crate) fn over_all_spines(&self) -> (Instance, Vec<u32>) {
        let (net, sources, destinations) = self.ends();
        let short = KShortest::new(4);
        let (paths, group) = net.k_shortest_paths(&sources, &destinations, &short).expect("all servers are joined");
        (Instance { paths, ..self.instance() }, group)
    }
}

/// Flowtune's seven rows.
pub(crate) const ROWS: [Row; 7] = [
    Row { nodes: 384, flows: 3072, flowtune_cores: 4, flowtune_us: 8.29 },
    Row { nodes: 768, flows: 6144, flowtune_cores: 16, flowtune_us: 8.86 },
    Row { nodes: 1536, flows: 12_288, flowtune_cores: 64, flowtune_us: 12.63 },
    Row { nodes: 1536, flows: 24_576, flowtune_cores: 64, flowtune_us: 13.99 },
    Row { nodes: 1536, flows: 49_152, flowtune_cores: 64, flowtune_us: 16.93 },
    Row { nodes: 3072, flows: 49_152, flowtune_cores: 64, flowtune_us: 23.76 },
    Row { nodes: 4608, flows: 49_152, flowtune_cores: 64, flowtune_us: 30.71 },
];

/// A network with flows and weights, without utilities.
pub(crate) struct Instance {
    /// Capacity of every link in bit/s.
    pub(crate) capacities: Vec<f64>,
    /// The links of every flow.
    pub(crate) paths: Paths,
    /// Weight of every flow.
    pub(crate) weights: Vec<f64>,
}

impl Instance {
    /// `flows` flows between random servers of the paper's fabric: 9 racks of 16 servers under 4 spines.
    pub(crate) fn fabric(flows: usize) -> Self {
        Self::random(&leaf_spine(9), flows)
    }

    /// `flows` flows on the paper's fabric with its nominal capacities.
    pub(crate) fn fabric_of_equal_links(flows: usize) -> Self {
        let net = leaf_spine(9);
        Self { capacities: net.capacities().to_vec(), ..Self::random(&net, flows) }
    }

    /// `flows` flows between random servers of the fat tree of 8-port switches: 128 servers, 768 links.
    pub(crate) fn fat_tree(flows: usize) -> Self {
        Self::random(&Topology::fat_tree(8, SERVER_CAPACITY).expect("8 is even"), flows)
    }

    /// `flows` flows between random servers of a fabric that grows with them: the paper's up to 100 000 flows, then
    /// 16 384 servers, and 65 536 from 10 000 000 flows on; 4 spines.
    pub(crate) fn growing(flows: usize) -> Self {
        let racks = match flows {
            ..=100_000 => 9,
            100_001..10_000_000 => 1024,
            _ => 4096,
        };
        Self::random(&leaf_spine(racks), flows)
    }

    /// `flows` flows between random servers of the fat tree of 16-port switches: 1024 servers, 6144 links.
    pub(crate) fn large_fat_tree(flows: usize) -> Self {
        Self::random(&Topology::fat_tree(16, SERVER_CAPACITY).expect("16 is even"), flows)
    }

    /// `flows` flows over shortest paths between random nodes of a wide-area network.
    pub(crate) fn wide_area(nodes: usize, flows: usize) -> Self {
        Self::random(&wide_area(nodes), flows)
    }

    /// `flows` flows over twice as many links with capacities uniform in 0.1…1: each crosses two links that few others
    /// cross, and ten random ones in the mean.
    pub(crate) fn scattered(flows: usize) -> Self {
        let mut rng = rng(4);
        let links = 2 * flows as u32;
        let capacities = (0..links).map(|_| rng.random_range(0.1..1.0)).collect();
        let mut paths = Paths::from_lists([[0; 0]; 0]);
        for flow in 0..flows as u32 {
            let others = (0..20).filter(|_| rng.random_bool(0.5)).count();
            let mut path = vec![flow, flow + flows as u32];
            path.extend((0..others).map(|_| rng.random_range(0..links)));
            path.sort_unstable();
            path.dedup();
            paths.push(&path);
        }
        let weights = (0..flows).map(|_| rng.random_range(WEIGHTS)).collect();
        Self { capacities, paths, weights }
    }

    fn random(net: &Topology, flows: usize) -> Self {
        let (sources, destinations) = net.random_pairs(flows, SEED).unwrap();
        Self::new(net, &sources, &destinations)
    }

    fn new(net: &Topology, sources: &[usize], destinations: &[usize]) -> Self {
        let mut rng = rng(1);
        let capacities = net.capacities().iter().map(|capacity| capacity * rng.random_range(SPREAD)).collect();
        let paths = net.ecmp(sources, destinations, SEED).expect("all servers are joined");
        let weights = sources.iter().map(|_| rng.random_range(WEIGHTS)).collect();
        Self { capacities, paths, weights }
    }

    /// Proportional fairness: U(x) = w log x.
    pub(crate) fn log(&self) -> Problem {
        self.problem(AlphaFair::new(1.0, self.weights.clone()).expect("weights are positive"))
    }

    /// α-fairness with the [exponents](Self::mixed_alphas) of a network that serves several kinds of flows.
    pub(crate) fn mixed(&self) -> Problem {
        self.problem(AlphaFair::new(self.mixed_alphas(), self.weights.clone()).expect("weights are positive"))
    }

    /// α of every flow, uniform in {0.5, 1, 2, 4}.
    pub(crate) fn mixed_alphas(&self) -> Vec<f64> {
        let mut rng = rng(2);
        self.weights.iter().map(|_| [0.5, 1.0, 2.0, 4.0][rng.random_range(0..4)]).collect()
    }

    fn problem(&self, utility: AlphaFair) -> Problem {
        Problem::new(self.capacities.clone(), self.paths.clone(), utility).expect("the instance is well formed")
    }
}

/// A wide-area network: `nodes` points of the unit square, each joined to those near it and to the nearest of the
/// points before it, so that the network is connected. About 6 links a node.
pub(crate) fn wide_area(nodes: usize) -> Topology {
    let mut rng = rng(3);
    let points: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.random(), rng.random()]).collect();
    let distance = |one: usize, other: usize| {
        let [x, y] = [0, 1].map(|axis| points[one][axis] - points[other][axis]);
        x.hypot(y)
    };
    let mut edges = String::new();
    for node in 1..nodes {
        let nearest = (0..node).map(|other| distance(node, other)).fold(f64::INFINITY, f64::min);
        let reach = nearest.max(NEAR / (nodes as f64).sqrt());
        for other in (0..node).filter(|&other| distance(node, other) <= reach) {
            edges += &format!("{node} {other} {FABRIC_CAPACITY}\n");
        }
    }
    Topology::from_edges(&edges).expect("the edges are well formed")
}

fn leaf_spine(racks: usize) -> Topology {
    Topology::leaf_spine(racks, 16, 4, SERVER_CAPACITY, FABRIC_CAPACITY).expect("the fabric is well formed")
}

/// The generator of one purpose. Each purpose has its own stream, so that a new one changes no other draws.
pub(crate) fn rng(purpose: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    rng.set_stream(purpose);
    rng
}

/// Estimates the core's clock in GHz, which turns nanoseconds into cycles: cycles = ns × GHz.
///
/// It times a chain of additions and exclusive-ors in registers, each of which waits for the one before. Either takes
/// one cycle on every current x86 and Arm core, and the two alternate because a compiler could fold a run of only one
/// kind. The shortest of many short runs is taken as undisturbed. The result includes frequency scaling; a table should
/// state the clock that it assumed, and different values before and after mean that the machine was not idle.
pub(crate) fn gigahertz() -> f64 {
    const STEPS: u64 = 100_000;
    let run = || {
        let (a, b, mut x) = (black_box(0x9e37_79b9_u64), black_box(0x5851_f42d_u64), black_box(1_u64));
        let began = Instant::now();
        for _ in 0..STEPS / 10 {
            for _ in 0..10 {
                x = x.wrapping_add(a) ^ b;
            }
        }
        black_box(x);
        began.elapsed()
    };
    let shortest = (0..200).map(|_| run()).min().expect("there are runs");
    (2 * STEPS) as f64 / shortest.as_nanos() as f64
}

/// How long and how often criterion measures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Time before measuring.
    pub(crate) warm_up: Duration,
    /// Time to measure for, if one sample of one iteration each takes no longer.
    pub(crate) measure: Duration,
    /// Samples, at least 10.
    pub(crate) samples: usize,
}

/// Statistics of the samples of a figure, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

/// The median of [`spread`].
pub(crate) fn measure(
    criterion: &mut Criterion,
    group: &str,
    id: BenchmarkId,
    plan: Plan,
    routine: impl FnMut(u64) -> Duration,
) -> Option<f64> {
    spread(criterion, group, id, plan, routine).map(|spread| spread.median)
}

/// Has criterion time a routine, which returns the time that `count` repetitions took. Returns the time of one
/// repetition over the samples that criterion itself uses; `None` if the command line filters it out.
pub(crate) fn spread(
    criterion: &mut Criterion,
    group: &str,
    id: BenchmarkId,
    plan: Plan,
    mut routine: impl FnMut(u64) -> Duration,
) -> Option<Spread> {
    let mut samples: Vec<(f64, u64)> = Vec::new();
    let mut group = criterion.benchmark_group(group);
    group.warm_up_time(plan.warm_up).measurement_time(plan.measure).sample_size(plan.samples);
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|count| {
            let time = routine(count);
            samples.push((time.as_secs_f64() / count as f64, count));
            time
        });
    });
    group.finish();
    // Those of the warm-up come first. `--quick` takes fewer samples, each twice as long as the one before; weighing
    // by repetitions lets the last ones decide.
    let mut measured = samples.split_off(samples.len().saturating_sub(plan.samples));
    let median = weighted_median(&mut measured)?;
    // They are sorted here.
    Some(Spread { least: measured.first()?.0, median, most: measured.last()?.0 })
}

fn weighted_median(samples: &mut [(f64, u64)]) -> Option<f64> {
    samples.sort_by(|one, other| one.0.total_cmp(&other.0));
    let total: u64 = samples.iter().map(|sample| sample.1).sum();
    let mut below = 0;
    let median = samples.iter().find(|sample| {
        below += sample.1;
        2 * below >= total
    });
    median.map(|sample| sample.0)
}

/// Whether the command line runs every benchmark only once, as a test.
pub(crate) fn is_test() -> bool {
    !std::env::args().any(|argument| argument == "--bench") || std::env::args().any(|argument| argument == "--test")
}
