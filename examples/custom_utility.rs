//! A utility of one's own, for flows that are content without any rate:
//!
//! ```text
//! U(x) = w log(1 + x/s)     U'(x) = w/(s + x)     demand(q) = w/q − s, or 0     d demand/dq = −w/q², or 0
//! ```
//!
//! Unlike log x it is worth 0, and not −∞, to get nothing: a flow gives up when its path costs more than U'(0) = w/s.
//! The scale s says at which rate a flow begins to have enough. Four functions are all it takes; the laws that hold them
//! together are checked before anything is solved, and the answer carries the same proof as one of the library's own.
//!
//! Run it with `cargo run -p netnum-examples --example custom_utility`.

use netnum_core::testing::utility_laws;
use netnum_core::{Paths, Problem, Result, Settings, Topology, Utility, solve};

/// w log(1 + x/s), with one weight w and one scale s per flow.
#[derive(Debug)]
struct Patient {
    weight: Vec<f64>,
    scale: Vec<f64>,
}

impl Utility for Patient {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.weight[flow] * (rate / self.scale[flow]).ln_1p()
    }

    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.weight[flow] / (self.scale[flow] + rate)
    }

    fn demand(&self, flow: usize, price: f64) -> f64 {
        (self.weight[flow] / price - self.scale[flow]).max(0.0)
    }

    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        let gives_up = self.weight[flow] / price <= self.scale[flow];
        if gives_up { 0.0 } else { -self.weight[flow] / (price * price) }
    }

    fn flows(&self) -> Option<usize> {
        Some(self.weight.len())
    }
}

fn main() -> Result<()> {
    let utility = Patient { weight: vec![1.0, 2.0, 4.0, 1.0], scale: vec![1.0, 1.0, 1.0, 30.0] };
    for flow in 0..utility.weight.len() {
        utility_laws(&utility, flow, utility.scale[flow])?;
    }
    let net = Topology::parking_lot(2, 10.0)?;
    let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1], vec![0, 1]]);
    let problem = Problem::new(net.capacities().to_vec(), paths, utility)?;
    let solution = solve(&problem, &Settings { tol: 1e-9, ..Settings::default() })?;
    println!("{solution}");
    for (flow, rate) in solution.rates.iter().enumerate() {
        let remark = if *rate == 0.0 { "  (its path is too dear)" } else { "" };
        println!("  flow {flow}: rate {rate:.4}{remark}");
    }
    println!("  prices {:.5?}", solution.prices);
    println!("  proven: {:.1e} of the worth is missing at most", solution.certificate.relative_gap);
    Ok(())
}
