use netnum_core::sensitivity::*;
use netnum_core::*;
use std::time::Instant;
fn fabric(flows: usize) -> Problem {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let mut s = 12345u64;
    let mut next = || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 53) as f64
    };
    let (a, b) = net.random_pairs(flows, 1).unwrap();
    let paths = net.ecmp(&a, &b, 1).unwrap();
    let capacities = net.capacities().iter().map(|c| c * (0.8 + 0.4 * next())).collect();
    let w: Vec<f64> = (0..flows).map(|_| 0.5 + next()).collect();
    Problem::new(capacities, paths, AlphaFair::new(1.0, w).unwrap()).unwrap()
}
fn time<T>(what: &str, n: usize, mut f: impl FnMut() -> T) {
    let mut v: Vec<f64> = (0..n)
        .map(|_| {
            let b = Instant::now();
            std::hint::black_box(f());
            b.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    v.sort_by(f64::total_cmp);
    println!("   {what}: {:.3} ms (least {:.3})", v[n / 2], v[0]);
}
#[test]
fn zz() {
    for flows in [100usize, 1000, 10_000, 100_000] {
        let p = fabric(flows);
        let sol = solve(&p, &Settings::default()).unwrap();
        println!("{flows}: {sol} active {}", sol.prices.iter().filter(|p| **p > 0.0).count());
        let n = 11;
        time("solve", n, || solve(&p, &Settings::default()).unwrap());
        time("new", n, || Sensitivity::new(&p, &sol).unwrap());
        let mut s = Sensitivity::new(&p, &sol).unwrap();
        let o = OutcomeChange {
            flow_rates: (0..flows).map(|i| ((i * 7919) % 13) as f64 - 6.0).collect(),
            ..Default::default()
        };
        time("reverse", n, || s.reverse(std::slice::from_ref(&o), AtKink::Refuse).unwrap());
        time("reverse again", n, || s.reverse(std::slice::from_ref(&o), AtKink::Refuse).unwrap());
    }
}
