use netnum_core::Topology;
use netnum_sim::{Ecmp, Options, Pairs, Progress, Run, Sizes, Workload, policy, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let limit: f64 = std::env::var("LIMIT").ok().and_then(|l| l.parse().ok()).unwrap_or(20.0);
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let counts: Vec<usize> = args[1].split(',').map(|n| n.parse().unwrap()).collect();
    for name in args[2].split(',') {
        for &n in &counts {
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let pairs: Vec<(usize, usize)> = (0..n)
                .map(|_| {
                    let a = rng.random_range(0..144u32) as usize;
                    let b = rng.random_range(0..143u32) as usize;
                    (a, b + usize::from(b >= a))
                })
                .collect();
            let workload = Workload::at_once(&net, &Pairs::Listed(pairs), &Sizes::web_search(), 3).unwrap();
            let mut p = policy(name, &Options::new()).unwrap();
            let mut observer = |progress: &Progress| {
                if progress.seconds > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let began = Instant::now();
            let r = simulate(&net, &workload, &mut Ecmp::new(1), p.as_mut(), &Run::default(), &mut observer).unwrap();
            let mut h = 0u64;
            for t in &r.completion_times {
                h = h.rotate_left(5) ^ t.to_bits();
            }
            println!(
                "{name:14} {n:7} {:9.3} s  {} ended {} events {} rate changes {} sim time {:.4} hash {h:x}",
                began.elapsed().as_secs_f64(),
                r.status.name(),
                r.ended(),
                r.events,
                r.rate_changes,
                r.time
            );
        }
    }
}
