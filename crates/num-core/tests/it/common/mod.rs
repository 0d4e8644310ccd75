//! What several test files share: small networks, and strategies for random problems.
#![allow(unreachable_pub)]

pub mod kinds;
pub mod random;

use std::collections::BTreeMap;
use std::sync::Arc;

use netnum_core::*;
use proptest::prelude::*;

/// Solves to a gap by a method.
pub fn solve_with(problem: &Problem, method: &str, tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap);
    Solver::new(problem, &Ask::by(method)).unwrap().run(&settings, &mut ()).unwrap()
}

/// One utility of every family of the library with marginals, as the same kind for all flows.
pub fn library_families() -> Vec<(&'static str, Utilities)> {
    vec![
        ("alpha 0.3", AlphaFair::new(0.3, 1.0).unwrap().into()),
        ("alpha 1", AlphaFair::proportional().into()),
        ("alpha 4", AlphaFair::new(4.0, 2.0).unwrap().into()),
        ("linear", Linear::new(2.0).unwrap().into()),
        ("completion times", MinFct::new(3.0, 0.125).unwrap().into()),
        ("bandwidth function", BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, 6.0, 7.0], 2.0, 1.0).unwrap().into()),
    ]
}

/// Options by name.
pub fn options(list: &[(&str, f64)]) -> BTreeMap<String, f64> {
    list.iter().map(|&(name, value)| (name.to_string(), value)).collect()
}

/// Equal to a relative tolerance.
pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "found {found}, expected {expected}");
}

/// Flows of the given weights on one link.
pub fn single_link(alpha: f64, weights: &[f64], capacity: f64) -> Problem {
    let paths = Paths::from_lists(vec![[0]; weights.len()]);
    Problem::new(vec![capacity], paths, AlphaFair::new(alpha, weights.to_vec()).unwrap()).unwrap()
}

/// One flow over all links, of capacity 3, and one on each.
pub fn parking_lot(links: usize, alpha: f64) -> Problem {
    let long: Vec<u32> = (0..links as u32).collect();
    let lists = std::iter::once(long).chain((0..links as u32).map(|link| vec![link]));
    Problem::new(vec![3.0; links], Paths::from_lists(lists), AlphaFair::new(alpha, 1.0).unwrap()).unwrap()
}

/// A reference problem, and the text of its file.
pub fn read_case(name: &str) -> (Problem, serde_json::Value) {
    let path = format!("{}/tests/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    (Problem::from_json(&text).unwrap(), serde_json::from_str(&text).unwrap())
}

/// One bandwidth function through points (fair share, bandwidth) per flow, saturated at its last.
pub fn bandwidth(curves: &[&[(f64, f64)]], alpha: f64) -> Utilities {
    let curve = |points: &&[(f64, f64)]| {
        let (f, b): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        Arc::new(BandwidthFunction::new(&f, &b, alpha, 0.0).unwrap()) as Arc<dyn Utility>
    };
    Utilities::PerFlow(curves.iter().map(curve).collect())
}

pub fn gamma(value: f64) -> BTreeMap<String, f64> {
    BTreeMap::from([("gamma".to_string(), value)])
}

/// `flows` random flows over the papers' leaf-spine, with weights that differ.
pub fn leaf_spine(flows: usize, alpha: f64, seed: u64) -> Problem {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).unwrap();
    let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
    let paths = net.ecmp(&sources, &destinations, seed).unwrap();
    let weights: Vec<f64> = (0..flows).map(|flow| 0.5 + ((flow * 7919) % 1000) as f64 / 1000.0).collect();
    Problem::new(net.capacities().to_vec(), paths, AlphaFair::new(alpha, weights).unwrap()).unwrap()
}

/// A number spread evenly over decades.
pub fn decades(low: i32, high: i32) -> impl Strategy<Value = f64> + Clone {
    (f64::from(low)..f64::from(high)).prop_map(|exponent| 10f64.powf(exponent))
}

/// A bandwidth function with a few points, flat pieces and all.
pub fn bandwidth_function() -> impl Strategy<Value = BandwidthFunction> {
    let points = prop::collection::vec((0.1f64..3.0, prop_oneof![Just(0.0), 0.1f64..10.0]), 1..5);
    (points, 0.5f64..10.0, prop_oneof![Just(0.0), 0.1f64..5.0], decades(-3, 3), prop::bool::ANY).prop_map(
        |(steps, alpha, tail, scale, from_zero)| {
            let (mut f, mut b) = (if from_zero { 0.0 } else { 0.5 }, 0.0);
            let (mut fair_share, mut bandwidth) = (vec![f], vec![b]);
            for (df, db) in steps {
                f += df;
                b += db * scale;
                fair_share.push(f);
                bandwidth.push(b);
            }
            let tail = if b == 0.0 { tail.max(1.0) } else { tail };
            BandwidthFunction::new(&fair_share, &bandwidth, alpha, tail * scale).unwrap()
        },
    )
}

/// U(x) = w log(1 + x/x₀): a user's own family, with a finite price at which a flow gives up.
#[derive(Debug)]
pub struct Logarithmic {
    pub weight: f64,
    pub scale: f64,
}

impl Utility for Logarithmic {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        self.weight * (rate / self.scale).ln_1p()
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        self.weight / (self.scale + rate)
    }
    fn demand(&self, _flow: usize, price: f64) -> f64 {
        (self.weight / price - self.scale).max(0.0)
    }
    fn demand_slope(&self, _flow: usize, price: f64) -> f64 {
        if price * self.scale >= self.weight { 0.0 } else { -self.weight / (price * price) }
    }
}

/// U(x) = 1 − e^(−4x/need): a user's own family, all but flat beyond the rate that meets a deadline.
#[derive(Debug)]
pub struct Deadline {
    pub need: f64,
}

impl Utility for Deadline {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        -(-4.0 * rate / self.need).exp_m1()
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        4.0 / self.need * (-4.0 * rate / self.need).exp()
    }
    fn demand(&self, _flow: usize, price: f64) -> f64 {
        (self.need / 4.0 * (4.0 / (self.need * price)).ln()).max(0.0)
    }
    fn demand_slope(&self, _flow: usize, price: f64) -> f64 {
        if price * self.need >= 4.0 { 0.0 } else { -self.need / (4.0 * price) }
    }
}

/// One flow's utility, of any strictly concave family, with parameters over `decades` decades.
pub fn any_utility(span: i32) -> impl Strategy<Value = Arc<dyn Utility>> {
    fn boxed(utility: impl Utility + 'static) -> Arc<dyn Utility> {
        Arc::new(utility)
    }
    let half = span / 2;
    prop_oneof![
        4 => (prop_oneof![Just(1.0), 0.1f64..8.0], decades(-half, half))
            .prop_map(|(alpha, weight)| boxed(AlphaFair::new(alpha, weight).unwrap())),
        1 => (decades(-half, half), 0.05f64..0.9)
            .prop_map(|(size, epsilon)| boxed(MinFct::new(size, epsilon).unwrap())),
        1 => bandwidth_function().prop_map(boxed),
        1 => (decades(-half, half), decades(-half, half))
            .prop_map(|(weight, scale)| boxed(Logarithmic { weight, scale })),
    ]
}

/// A random problem: capacities over `span` decades (some links failed), any utilities, some caps.
pub fn any_problem(span: i32, several_paths: bool) -> impl Strategy<Value = Problem> {
    let half = span / 2;
    let capacity = prop_oneof![12 => decades(-half, half), 1 => Just(0.0)];
    (prop::collection::vec(capacity, 1..8), 0usize..12).prop_flat_map(move |(capacities, flows)| {
        let links = capacities.len();
        let path = prop::sample::subsequence((0..links as u32).collect::<Vec<_>>(), 1..=links.min(5));
        let most = if several_paths { 3 } else { 1 };
        let flow = (prop::collection::vec(path, 1..=most), any_utility(span));
        let cap = prop_oneof![4 => Just(f64::INFINITY), 1 => decades(-half, half), 1 => Just(0.0)];
        let caps = prop::collection::vec(cap, flows * most);
        (Just(capacities), prop::collection::vec(flow, flows), caps, prop::bool::ANY).prop_map(
            |(capacities, flows, caps, capped)| {
                let (mut paths, mut group, mut utilities) = (Paths::from_lists::<[u32; 0]>([]), vec![], vec![]);
                for (flow, (own, utility)) in flows.into_iter().enumerate() {
                    for links in own {
                        paths.push(&links);
                        group.push(flow as u32);
                    }
                    utilities.push(utility);
                }
                let count = paths.len();
                let problem = Problem::grouped(capacities, paths, group, utilities).unwrap();
                if capped { problem.with_rate_caps(caps[..count].to_vec()).unwrap() } else { problem }
            },
        )
    })
}

/// The solution of a method with options, once its gap is small.
pub(crate) fn solved_to_gap(problem: &Problem, method: &str, list: &[(&str, f64)], tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap);
    Solver::new(problem, &Ask::by(method).with_options(&options(list))).unwrap().run(&settings, &mut ()).unwrap()
}
