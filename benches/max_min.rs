//! Weighted max-min rates by water-filling, beside the textbook's loop, on the papers' leaf-spine.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench max_min             # about half a minute
//! cargo bench -p netnum-benches --bench max_min -- 10000    # one row
//! ```
//!
//! 9 racks of 16 servers under 4 spines, random flows with weights, and a different capacity for every link, so that
//! every link has a different level. Both sides are f64 on one thread, start from compressed rows (the transpose is
//! counted), and are checked to give the same rates before they are timed.
//!
//! With several paths: flows with demands over 3 shortest paths each between random nodes of a wide-area network of
//! 100 nodes, from the beginning, from the solution before 5 % of the demands changed (by up to a factor of 2), and
//! approximately, by water-filling alone.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{Instance, Plan};
use criterion::{BenchmarkId, Criterion};
use netnum_core::{AlphaFair, Fill, KShortest, MaxMin, Normalizer, Paths, Problem};
use rand::RngExt;

const FLOWS: [usize; 3] = [1000, 10_000, 100_000];
/// Numbers of flows with several paths each.
const SEVERAL: [usize; 2] = [300, 3000];

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_millis(1500), samples: 30 };

/// Progressive filling as in the textbook: find the link with the least left per unit of weight, stop the flows on it,
/// take what they use from the links of their paths; until no flow is left.
fn textbook(capacities: &[f64], paths: &Paths, weights: &[f64]) -> Vec<f64> {
    let (links, flows) = (capacities.len(), weights.len());
    let through = paths.transpose(links).expect("paths name links that exist");
    let mut left = capacities.to_vec();
    let mut weight = vec![0.0; links];
    let mut count = vec![0; links];
    for (links, flow_weight) in paths.iter().zip(weights) {
        for &link in links {
            weight[link as usize] += flow_weight;
            count[link as usize] += 1;
        }
    }
    let mut rates = vec![f64::NAN; flows];
    let mut rising = flows;
    while rising > 0 {
        let (mut full, mut level) = (0, f64::INFINITY);
        for link in 0..links {
            if count[link] > 0 && left[link] / weight[link] < level {
                (full, level) = (link, left[link] / weight[link]);
            }
        }
        for &flow in through.links(full) {
            let flow = flow as usize;
            if rates[flow].is_nan() {
                rates[flow] = weights[flow] * level;
                rising -= 1;
                for &link in paths.links(flow) {
                    left[link as usize] -= rates[flow];
                    weight[link as usize] -= weights[flow];
                    count[link as usize] -= 1;
                }
            }
        }
    }
    rates
}

fn filled(instance: &Instance) -> Vec<f64> {
    let mut rates = instance.weights.clone();
    Fill.normalize(&instance.capacities, &instance.paths, &mut rates);
    rates
}

/// Both loops compute the same rates.
fn assert_that_all_agree(instance: &Instance, problem: &Problem) {
    let expected = textbook(&instance.capacities, &instance.paths, &instance.weights);
    for rates in [filled(instance), netnum_core::max_min(problem).expect("every flow has a weight")] {
        for (flow, (rate, expected)) in rates.iter().zip(&expected).enumerate() {
            assert!((rate - expected).abs() <= 1e-9 * expected, "flow {flow}: {rate:e} and {expected:e}");
        }
    }
}

/// Seconds per fill, where measured.
struct Measured {
    flows: usize,
    textbook: Option<f64>,
    fill: Option<f64>,
    max_min: Option<f64>,
}

fn measure(criterion: &mut Criterion, flows: usize) -> Measured {
    let instance = Instance::fabric(flows);
    let problem = instance.log();
    assert_that_all_agree(&instance, &problem);
    let mut timed = |name: &str, work: &dyn Fn() -> Vec<f64>| {
        common::measure(criterion, "max_min", BenchmarkId::new(name, flows), PLAN, |count| {
            let began = Instant::now();
            for _ in 0..count {
                let _ = black_box(work());
            }
            began.elapsed()
        })
    };
    Measured {
        flows,
        textbook: timed("textbook", &|| textbook(&instance.capacities, &instance.paths, &instance.weights)),
        fill: timed("fill", &|| filled(&instance)),
        max_min: timed("max_min", &|| netnum_core::max_min(&problem).expect("every flow has a weight")),
    }
}

/// Seconds with several paths, where measured.
struct Several {
    flows: usize,
    cold: Option<f64>,
    again: Option<f64>,
}

/// A problem, and the same after 5 % of the demands have changed.
fn wide_area(flows: usize) -> [Problem; 2] {
    let (net, mut rng) = (common::wide_area(100), common::rng(5));
    let (sources, destinations) = net.random_pairs(flows, 1).expect("there are nodes");
    let found = net.k_shortest_paths(&sources, &destinations, &KShortest::new(3)).expect("all nodes are joined");
    let scale = net.capacities()[0] * 100.0 / flows as f64;
    let demands: Vec<f64> = (0..flows).map(|_| scale * 10f64.powf(rng.random_range(-1.0..1.0))).collect();
    let changes = |demand: &f64| demand * if rng.random_bool(0.05) { rng.random_range(0.5..2.0) } else { 1.0 };
    let changed: Vec<f64> = demands.iter().map(changes).collect();
    let utility = AlphaFair::new(f64::INFINITY, 1.0).expect("a weight of 1 is positive");
    let free = Problem::grouped(net.capacities().to_vec(), found.0, found.1, utility).expect("paths are walks");
    [demands, changed].map(|demands| free.clone().with_flow_caps(demands).expect("demands are positive"))
}

fn measure_several(criterion: &mut Criterion, flows: usize) -> Several {
    let [before, after] = wide_area(flows);
    let fair = MaxMin::of(&before).expect("it is proven");
    let mut timed = |name: &str, work: &dyn Fn() -> MaxMin| {
        common::measure(criterion, "max_min_several", BenchmarkId::new(name, flows), PLAN, |count| {
            let began = Instant::now();
            for _ in 0..count {
                let _ = black_box(work());
            }
            began.elapsed()
        })
    };
    Several {
        flows,
        cold: timed("several", &|| MaxMin::of(&after).expect("it is proven")),
        again: timed("again", &|| fair.again(&after).expect("it is proven")),
    }
}

fn print_several(measured: &[Several]) {
    println!("\nSeveral paths on a wide-area network of 100 nodes, with demands; medians in ms.\n");
    println!("{:>7} │ {:>9} {:>9} │ {:>5}", "flows", "cold", "again", "ratio");
    for Several { flows, cold, again } in measured {
        let ms = |seconds: Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.4}", 1e3 * seconds));
        let ratio = cold.zip(*again).map_or("–".into(), |(one, other)| format!("{:.2}", one / other));
        println!("{flows:>7} │ {:>9} {:>9} │ {ratio:>5}", ms(*cold), ms(*again));
    }
}

fn print_table(measured: &[Measured], gigahertz: f64) {
    println!(
        "Weighted max-min on 9 x 16 x 4, from compressed rows, f64, one thread of {gigahertz:.2} GHz; medians in ms.\n"
    );
    println!("{:>7} │ {:>9} │ {:>9} {:>9} │ {:>5}", "flows", "textbook", "Fill", "max_min", "ratio");
    for Measured { flows, textbook, fill, max_min } in measured {
        let ms = |seconds: Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.4}", 1e3 * seconds));
        let ratio = textbook.zip(*max_min).map_or("–".into(), |(one, other)| format!("{:.2}", one / other));
        println!("{flows:>7} │ {:>9} │ {:>9} {:>9} │ {ratio:>5}", ms(*textbook), ms(*fill), ms(*max_min));
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<Measured> = FLOWS.iter().map(|&flows| measure(&mut criterion, flows)).collect();
    let several: Vec<Several> = SEVERAL.iter().map(|&flows| measure_several(&mut criterion, flows)).collect();
    criterion.final_summary();
    let any = |side: &Measured| side.textbook.is_some() || side.fill.is_some() || side.max_min.is_some();
    let measured: Vec<Measured> = measured.into_iter().filter(any).collect();
    if !measured.is_empty() && !common::is_test() {
        print_table(&measured, common::gigahertz());
    }
    let any = |side: &Several| side.cold.is_some() || side.again.is_some();
    let several: Vec<Several> = several.into_iter().filter(any).collect();
    if !several.is_empty() && !common::is_test() {
        print_several(&several);
    }
}
