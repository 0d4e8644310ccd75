use netnum_core::*;
fn main() {
    let g = |v: &[u32]| v.to_vec();
    let p = Problem::grouped(
        vec![1.0, 1000.0, 50.0],
        Paths::from_lists([vec![0u32], vec![1], vec![2], vec![1], vec![0, 1]]),
        g(&[0, 1, 1, 2, 3]),
        AlphaFair::new(8.0, 1.0).unwrap(),
    )
    .unwrap();
    for stop in [Stop::Gap, Stop::Rates, Stop::Kkt] {
        let s = solve(&p, &Settings { stop, ..Settings::default() }).unwrap();
        println!("{stop:?} {s} {:?}", s.flow_rates);
    }
    let p = Problem::new(
        vec![1.0; 4],
        Paths::from_lists([vec![0u32, 1, 2, 3], vec![0]]),
        AlphaFair::new(1.0, vec![1.0, 1e-7]).unwrap(),
    )
    .unwrap();
    for stop in [Stop::Gap, Stop::Rates, Stop::Kkt] {
        let s = solve(&p, &Settings { stop, ..Settings::default() }).unwrap();
        println!("{stop:?} {s} {:?} {:?}", s.flow_rates, s.prices);
    }
    let p = Problem::new(
        vec![1.0],
        Paths::from_lists([[0u32], [0], [0]]),
        AlphaFair::new(3.0, vec![1000.0, 1.0, 2.0]).unwrap(),
    )
    .unwrap()
    .with_rate_caps(vec![0.5, f64::INFINITY, f64::INFINITY])
    .unwrap();
    for stop in [Stop::Gap, Stop::Rates, Stop::Kkt] {
        let s = solve(&p, &Settings { stop, ..Settings::default() }).unwrap();
        println!("{stop:?} {s} {:?}", s.flow_rates);
    }
    let b = |x: f64, y: f64| {
        std::sync::Arc::new(BandwidthFunction::new(&[0.0, x], &[0.0, y], 5.0, 0.0).unwrap())
            as std::sync::Arc<dyn Utility>
    };
    let p =
        Problem::new(vec![1.0], Paths::from_lists([[0u32], [0], [0]]), vec![b(0.01, 0.5), b(10.0, 1.0), b(20.0, 1.0)])
            .unwrap();
    for stop in [Stop::Gap, Stop::Rates, Stop::Kkt] {
        let s = solve(&p, &Settings { stop, ..Settings::default() }).unwrap();
        println!("{stop:?} {s} {:?}", s.flow_rates);
    }
    let p = Problem::new(vec![1e12], Paths::from_lists([[0u32], [0]]), AlphaFair::new(30.0, 1.0).unwrap()).unwrap();
    let s = solve(&p, &Settings::default()).unwrap();
    println!("{s} {:?}", s.prices);
    for n in [300usize, 1000, 10000, 100000] {
        let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
        let (so, de) = net.random_pairs(n, 1);
        let paths = net.ecmp(&so, &de, 1).unwrap();
        let weights: Vec<f64> = (0..n).map(|f| 0.5 + ((f * 7919) % 1000) as f64 / 1000.0).collect();
        for alpha in [0.5, 1.0, 2.0, 5.0, 8.0] {
            let p =
                Problem::new(net.capacities().to_vec(), paths.clone(), AlphaFair::new(alpha, weights.clone()).unwrap())
                    .unwrap();
            let mut med = vec![];
            let mut its = vec![];
            let mut last = vec![];
            for _ in 0..5 {
                let mut t = vec![];
                its.clear();
                last.clear();
                for stop in [Stop::Gap, Stop::Rates] {
                    let s = solve(&p, &Settings { stop, ..Settings::default() }).unwrap();
                    t.push(s.seconds);
                    its.push(s.iterations);
                    last.push(format!(
                        "{} {} gap {:.1e} kkt {:.1e}",
                        s.status, s.method, s.certificate.relative_gap, s.certificate.kkt_residual
                    ));
                }
                med.push(t);
            }
            let m = |i: usize| {
                let mut v: Vec<f64> = med.iter().map(|t| t[i]).collect();
                v.sort_by(f64::total_cmp);
                v[2]
            };
            println!(
                "{n} a={alpha}: gap {:.2} ms {} its, rates {:.2} ms {} its, ratio {:.2} | {} | {}",
                1e3 * m(0),
                its[0],
                1e3 * m(1),
                its[1],
                m(1) / m(0),
                last[0],
                last[1]
            );
        }
    }
}
