//! The k shortest paths of all pairs of nodes of a wide-area network, on one thread.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench k_shortest           # about half a minute
//! cargo bench -p netnum-benches --bench k_shortest -- 50     # one row
//! ```
//!
//! For every pair of 50 and of 200 nodes with 5 to 6 links each: 4 paths by Yen's algorithm, and 2 that share no link.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::Plan;
use criterion::{BenchmarkId, Criterion};
use netnum_core::KShortest;

const NODES: [usize; 2] = [50, 200];

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_millis(2000), samples: 10 };

/// Seconds for all pairs, where measured.
struct Measured {
    nodes: usize,
    shortest: Option<f64>,
    disjoint: Option<f64>,
}

fn measure(criterion: &mut Criterion, nodes: usize) -> Measured {
    let net = common::wide_area(nodes);
    let pairs =
        (0..nodes).flat_map(|one| (0..nodes).map(move |other| (one, other))).filter(|(one, other)| one != other);
    let (sources, destinations): (Vec<usize>, Vec<usize>) = pairs.unzip();
    let mut timed = |name: &str, what: KShortest<'_>| {
        common::measure(criterion, "k_shortest", BenchmarkId::new(name, nodes), PLAN, |count| {
            let began = Instant::now();
            for _ in 0..count {
                black_box(net.k_shortest_paths(&sources, &destinations, &what).expect("all nodes are joined"));
            }
            began.elapsed()
        })
    };
    let disjoint = KShortest::new(2).with_disjoint(true);
    Measured { nodes, shortest: timed("shortest", KShortest::new(4)), disjoint: timed("disjoint", disjoint) }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<Measured> = NODES.iter().map(|&nodes| measure(&mut criterion, nodes)).collect();
    criterion.final_summary();
    let any = |side: &&Measured| side.shortest.is_some() || side.disjoint.is_some();
    if !common::is_test() && measured.iter().any(|side| any(&side)) {
        println!("All pairs, one thread; medians in ms.\n\n{:>5} │ {:>10} {:>10}", "nodes", "4 shortest", "2 disjoint");
        for Measured { nodes, shortest, disjoint } in measured.iter().filter(any) {
            let ms = |seconds: &Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.2}", 1e3 * seconds));
            println!("{nodes:>5} │ {:>10} {:>10}", ms(shortest), ms(disjoint));
        }
    }
}
