//! Completion times under three policies: max-min fairness, shortest remaining first, and a utility.
//!
//! Web-search flows arrive at a load of 0.6 on a leaf-spine. Under fair sharing short flows wait for long ones. Strict
//! priority by remaining size avoids that at little cost to long flows, as the network is mostly idle. A utility that
//! is large for small flows achieves nearly the same without an order.
//!
//! Run it with `cargo run -p netnum-examples --example completion_times`.

use netnum_core::{Options, Topology};
use netnum_sim::{Ecmp, Pairs, Poisson, Result, RunSettings, Sizes, Workload, policy, simulate};

/// Seconds in which flows arrive, and after which they count.
const DURATION: f64 = 0.07;
const WARMUP: f64 = 0.01;

fn main() -> Result<()> {
    let net = Topology::leaf_spine(4, 8, 2, 10e9, 40e9)?;
    let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(usize::MAX).with_duration(DURATION);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1)?;
    println!("{:<10}{:>14}{:>12}{:>12}{:>12}", "policy", "mean time", "slowdown", "median", "99 %");
    let mut times = Vec::new();
    for name in ["max-min", "srpt", "min-fct"] {
        let report = simulate(
            &net,
            &workload,
            &mut Ecmp::new(1),
            policy(name, &Options::new())?.as_mut(),
            &RunSettings::default().with_warmup(WARMUP),
            &mut (),
        )?;
        let (time, slowdown) = (report.mean_completion_time(), report.mean_slowdown());
        let [median, tail] = [0.5, 0.99].map(|fraction| report.slowdown_quantile(fraction));
        println!("{name:<10}{:>11.4} ms{slowdown:>12.3}{median:>12.3}{tail:>12.2}", 1e3 * time);
        assert_eq!(report.ended(), workload.len());
        times.push(time);
    }
    assert!(times[1] < times[0] && times[2] < times[0]);
    Ok(())
}
