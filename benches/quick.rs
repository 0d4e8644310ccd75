mod common;
mod naive;
use common::*;
use naive::Naive;
use netnum_core::solve::Ned;
use netnum_core::*;
use netnum_parallel::*;
use std::num::NonZeroUsize;
use std::time::Instant;

fn time(mut f: impl FnMut()) -> f64 {
    let began = Instant::now();
    f();
    let n = (0.002 / began.elapsed().as_secs_f64()).max(1.0) as usize;
    for _ in 0..n {
        f();
    }
    (0..25)
        .map(|_| {
            let b = Instant::now();
            for _ in 0..n {
                f();
            }
            b.elapsed().as_secs_f64() / n as f64
        })
        .fold(f64::INFINITY, f64::min)
}
fn engine<R: Real>(i: &Instance, p: &[f64]) -> Engine<R, Ned> {
    let mut e = Engine::new(i.capacities.clone(), &i.paths, Ned::new(0.4), NonZeroUsize::MIN).unwrap();
    for f in 0..i.paths.len() {
        e.add(i.paths.links(f), Worth::log(i.weights[f])).unwrap();
    }
    e.set_prices(p).unwrap();
    e
}
fn main() {
    let ghz = gigahertz();
    println!("{ghz:.2} GHz");
    let args: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    for (k, row) in ROWS.iter().enumerate() {
        if !args.is_empty() && !args.contains(&k) {
            continue;
        }
        let i = row.instance();
        run(&format!("{}x{}", row.nodes, row.flows), &i, ghz);
    }
    for (k, n) in [(10, 16384), (11, 65536)] {
        if args.contains(&k) {
            let row = Row {
                nodes: n,
                flows: if k == 10 { 1_000_000 } else { 10_000_000 },
                flowtune_cores: 1,
                flowtune_us: 1.0,
            };
            run(&format!("{n}"), &row.instance(), ghz);
        }
    }
    if args.is_empty() || args.contains(&8) {
        run("fat", &Instance::fat_tree(10000), ghz);
    }
}
fn run(name: &str, i: &Instance, ghz: f64) {
    let problem = i.log();
    let s = Solver::new(&problem, "ned", &Default::default()).unwrap();
    let p = s.prices();
    let mut e = engine::<f64>(i, &p);
    if std::env::var("LOOP").is_ok() {
        let b = Instant::now();
        let mut k = 0;
        while b.elapsed().as_secs_f64() < 2.0 {
            for _ in 0..10 {
                e.step();
            }
            k += 10;
        }
        println!("{name} {:.2} c/f mean", b.elapsed().as_secs_f64() / k as f64 * 1e9 * ghz / i.paths.len() as f64);
        return;
    }
    let mut n = Naive::new(&problem, p.clone());
    let w = &i.weights;
    let mut step = || n.step(0.4, |f, q| (w[f] / q, w[f] / (q * q)));
    for _ in 0..10 {
        e.step();
    }
    for _ in 0..10 {
        step();
    }
    let tn = time(&mut step);
    let te = time(|| e.step());
    let mut g = engine::<f32>(i, &p);
    let tg = time(|| g.step());
    let mut e = engine::<f64>(i, &p);
    for _ in 0..10 {
        e.step();
    }
    let mut n = Naive::new(&problem, p.clone());
    for _ in 0..10 {
        n.step(0.4, |f, q| (w[f] / q, w[f] / (q * q)));
    }
    let top = p.iter().copied().fold(0.0, f64::max);
    let d = e.prices().iter().zip(n.prices()).map(|(a, b)| (a - b).abs() / top).fold(0.0, f64::max);
    let flows = i.paths.len() as f64;
    let c = |t: f64| t * 1e9 * ghz / flows;
    println!(
        "{name}: naive {:.1} us {:.1} c/f | f64 {:.1} us {:.2} c/f {:.2}x | f32 {:.1} us {:.2} c/f | per link {:.2} | diff {d:.1e}",
        tn * 1e6,
        c(tn),
        te * 1e6,
        c(te),
        tn / te,
        tg * 1e6,
        c(tg),
        c(te) * flows / i.paths.indices().len() as f64
    );
}
