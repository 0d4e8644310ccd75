//! A user-defined utility, for flows that need no rate at all:
//!
//! ```text
//! U(x) = w log(1 + x/s)     U'(x) = w/(s + x)     demand(q) = w/q − s, or 0     d demand/dq = −w/q², or 0
//! ```
//!
//! Unlike log x, U(0) is 0 and not −∞: a flow gets no rate when its path costs more than U'(0) = w/s. The scale s is
//! the rate at which U' has fallen to half. Four functions define the utility; their laws are checked before the solve,
//! and the solution carries the same proof as one of a built-in family.
//!
//! Run it with `cargo run -p netnum-examples --example custom_utility`.

use netnum_core::{Paths, Problem, Result, Settings, Topology, Utility, solve, utility_laws};

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
        let is_zero = self.weight[flow] / price <= self.scale[flow];
        if is_zero { 0.0 } else { -self.weight[flow] / (price * price) }
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
    let solution = solve(&problem, &Settings::default().with_tol(1e-9).into())?;
    println!("{solution}");
    for (flow, rate) in solution.rates.iter().enumerate() {
        let remark = if *rate == 0.0 { "  (its path price is above U'(0))" } else { "" };
        println!("  flow {flow}: rate {rate:.4}{remark}");
    }
    println!("  prices {:.5?}", solution.prices);
    println!("  proven: at most {:.1e} of the utility is missing", solution.certificate.relative_gap);
    Ok(())
}
