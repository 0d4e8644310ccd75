//! Fairness in a parking lot: one long flow over n links, a short one on each.
//!
//! The long flow uses n times as much of the network per unit of its rate. The exponent α decides what rate it gets. By
//! symmetry every link has the same price p, the path of the long flow has the price n p, and α-fairness demands
//! q^(−1/α) at price q. A full link of capacity c then carries
//!
//! ```text
//! (n p)^(−1/α) + p^(−1/α) = c,     so the long flow gets c / (1 + n^(1/α))
//! ```
//!
//! which tends to 0 as α → 0, where only throughput counts, and to c/2 as α → ∞, max-min fairness.
//!
//! Run it with `cargo run -p netnum-examples --example parking_lot`.

use netnum_core::{AlphaFair, Paths, Problem, Result, Settings, Topology, solve};

const LINKS: u32 = 4;
const CAPACITY: f64 = 10.0;

fn main() -> Result<()> {
    let net = Topology::parking_lot(LINKS as usize, CAPACITY)?;
    let mut paths = Paths::from_lists([(0..LINKS).collect::<Vec<u32>>()]);
    for link in 0..LINKS {
        paths.push(&[link]);
    }
    println!("{:>6}{:>12}{:>12}{:>14}{:>18}", "alpha", "long flow", "on paper", "short flows", "price of a link");
    for alpha in [0.5, 1.0, 2.0, 10.0] {
        let problem = Problem::new(net.capacities().to_vec(), paths.clone(), AlphaFair::new(alpha, 1.0)?)?;
        let solution = solve(&problem, &Settings::default().with_tol(1e-10).into())?;
        let on_paper = CAPACITY / (1.0 + f64::from(LINKS).powf(1.0 / alpha));
        let (long, short, price) = (solution.rates[0], solution.rates[1], solution.prices[0]);
        println!("{alpha:>6}{long:>12.5}{on_paper:>12.5}{short:>14.5}{price:>18.3e}");
        assert!((long - on_paper).abs() < 1e-4 * on_paper);
    }
    Ok(())
}
