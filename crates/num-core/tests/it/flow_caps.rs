//! A cap on what a flow uses over all its paths is a link of that capacity in front of them, for every utility and
//! method.

use std::sync::Arc;

use crate::common::{Deadline, Logarithmic, any_utility, bandwidth_function, decades, library_families, solve_with};
use netnum_core::*;
use proptest::prelude::*;

const NONE: f64 = f64::INFINITY;

fn grouped(capacities: &[f64], paths: &[&[u32]], group: &[u32], utilities: impl Into<Utilities>) -> Problem {
    Problem::grouped(capacities.to_vec(), Paths::from_lists(paths), group.to_vec(), utilities).unwrap()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= tolerance * expected.abs().max(1e-3);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
}

/// One utility of every family, and user-defined ones, as the same kind for all flows.
fn families() -> Vec<(&'static str, Utilities)> {
    let mut families = library_families();
    families.extend([
        ("deadline", Deadline { need: 5.0 }.into()),
        ("logarithmic", Logarithmic { weight: 1.0, scale: 1.0 }.into()),
        ("max-min", AlphaFair::new(f64::INFINITY, 1.0).unwrap().into()),
        ("max-min curve", BandwidthFunction::new(&[0.0, 1.0], &[0.0, 6.0], f64::INFINITY, 1.0).unwrap().into()),
    ]);
    families
}

fn methods(problem: &Problem) -> &'static [&'static str] {
    match problem.curvature() {
        Curvature::Strict => &["auto", "fast-ned", "interior-point", "xwi"],
        Curvature::Linear => &["auto", "interior-point"],
        Curvature::MaxMin => &["auto", "max-min"],
    }
}

#[test]
fn a_flow_with_room_takes_its_cap_and_no_link_limits_it() {
    for (name, utility) in families() {
        let problem = grouped(&[10.0, 10.0], &[&[0], &[1]], &[0, 0], utility).with_flow_caps(vec![3.0]).unwrap();
        for method in methods(&problem) {
            let solution = solve_with(&problem, method, 1e-6);
            assert_eq!(solution.status, Status::Optimal, "{name}, {method}: {solution}");
            close(&solution.flow_rates, &[3.0], 1e-5);
            assert!(solution.flow_rates[0] <= 3.0 * (1.0 + 1e-15), "{name}, {method}: {solution:?}");
            assert_eq!(solution.bottlenecks, [None, None], "{name}, {method}");
            assert!(solution.certificate.kkt_residual <= 1e-4, "{name}, {method}: {solution}");
        }
    }
}

#[test]
fn with_one_path_it_is_the_cap_of_that_path() {
    let [capacities, caps] = [[6.0, 4.0], [1.0, 1.5]];
    for (name, utility) in families() {
        let problem = grouped(&capacities, &[&[0, 1], &[0], &[1]], &[2, 0, 1], utility);
        let by_path = problem.clone().with_rate_caps(vec![caps[0], NONE, caps[1]]).unwrap();
        let by_flow = problem.clone().with_flow_caps(vec![NONE, caps[1], caps[0]]).unwrap();
        let both = by_path.clone().with_flow_caps(vec![NONE, 9.0, caps[0]]).unwrap();
        for method in methods(&problem) {
            let [expected, found, both] = [&by_path, &by_flow, &both].map(|problem| solve_with(problem, method, 1e-8));
            assert_eq!(found.rates, expected.rates, "{name}, {method}");
            assert_eq!(found.certificate, expected.certificate, "{name}, {method}");
            assert_eq!(found.bottlenecks, expected.bottlenecks, "{name}, {method}");
            assert_eq!(both.rates, expected.rates, "{name}, {method}");
        }
    }
}

#[test]
fn one_open_path_is_one_path() {
    let problem = grouped(&[0.0, 5.0], &[&[0], &[1], &[1]], &[0, 0, 1], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![2.0, NONE]).unwrap();
    for method in methods(&problem) {
        close(&solve_with(&problem, method, 1e-6).flow_rates, &[2.0, 3.0], 1e-3);
    }
}

#[test]
fn at_its_cap_a_flow_leaves_the_link_that_others_need() {
    for (name, utility) in families() {
        let problem = grouped(&[1.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], utility);
        let problem = problem.with_flow_caps(vec![1.0, NONE]).unwrap();
        for method in methods(&problem) {
            let solution = solve_with(&problem, method, if *method == "xwi" { 1e-3 } else { 1e-6 });
            assert_eq!(solution.status, Status::Optimal, "{name}, {method}: {solution}");
            close(&solution.flow_rates, &[1.0, 1.0], 2e-2);
            assert_eq!(solution.bottlenecks[..2], [None, None], "{name}, {method}");
        }
    }
}

#[test]
fn a_wrong_split_of_a_flow_at_its_cap_is_seen() {
    let problem = grouped(&[1.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![0.5, NONE]).unwrap();
    let right = certify(&problem, &[0.0, 0.5, 1.0], &[1.0, 0.0]).unwrap();
    assert!(right.relative_gap <= 1e-12 && right.kkt_residual <= 1e-12, "{right:?}");
    // The flow itself has all it can use, and U' is far above what either path costs.
    let wrong = certify(&problem, &[0.25, 0.25, 0.75], &[1.0 / 0.75, 0.0]).unwrap();
    assert!(wrong.relative_gap > 0.1 && wrong.kkt_residual > 0.1, "{wrong:?}");
    let starved = certify(&problem, &[0.0, 0.4, 1.0], &[1.0, 0.0]).unwrap();
    assert!(starved.relative_gap > 0.1 && starved.kkt_residual > 0.1, "{starved:?}");
}

#[test]
fn a_split_at_a_cap_that_keeps_a_linear_flow_out_is_seen() {
    // The first flow is at its cap on link 0, where the second one, worth 100, gets nothing; link 1 is free.
    let utilities: Vec<Arc<dyn Utility>> =
        vec![Arc::new(AlphaFair::new(1.0, 1e9).unwrap()), Arc::new(Linear::new(100.0).unwrap())];
    let problem = grouped(&[1.0, 1.0], &[&[0], &[1], &[0]], &[0, 0, 1], utilities);
    let problem = problem.with_flow_caps(vec![1.0, NONE]).unwrap();
    let wrong = certify(&problem, &[1.0, 0.0, 0.0], &[100.0, 0.0]).unwrap();
    assert!(wrong.kkt_residual > 0.1, "{wrong:?}");
    let right = certify(&problem, &[0.0, 1.0, 1.0], &[100.0, 0.0]).unwrap();
    assert!(right.relative_gap <= 1e-12 && right.kkt_residual <= 1e-12, "{right:?}");
    assert_eq!(solve(&problem, &Ask::default()).unwrap().rates[2].round(), 1.0);
}

#[test]
fn a_path_all_but_at_its_own_cap_has_no_room() {
    // The free path is capped at 0.2, and the flow takes the rest of its 0.5 over the one that costs.
    let problem = grouped(&[1.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![0.5, NONE]).unwrap().with_rate_caps(vec![NONE, 0.2, NONE]).unwrap();
    for short in [0.0, 1e-12, 1e-6] {
        let rates = [0.3 + short, 0.2 - short, 0.7 - short];
        let near = certify(&problem, &rates, &[1.0 / 0.7, 0.0]).unwrap();
        assert!(near.relative_gap <= 1e-5 && near.kkt_residual <= 1e-5, "{near:?}");
    }
    let wrong = certify(&problem, &[0.4, 0.1, 0.6], &[1.0 / 0.6, 0.0]).unwrap();
    assert!(wrong.kkt_residual > 0.1, "{wrong:?}");
}

#[test]
fn rates_beyond_a_cap_are_an_overload_and_are_cut() {
    let problem = grouped(&[9.0, 9.0], &[&[0], &[1]], &[0, 0], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![2.0]).unwrap();
    let over = certify(&problem, &[1.0, 3.0], &[0.0, 0.0]).unwrap();
    assert_eq!((over.relative_gap, over.overload, over.kkt_residual), (0.0, 1.0, 1.0));
    let fairest = grouped(&[9.0, 9.0], &[&[0], &[1]], &[0, 0], AlphaFair::new(f64::INFINITY, 1.0).unwrap());
    let over = certify(&fairest.with_flow_caps(vec![2.0]).unwrap(), &[1.0, 3.0], &[0.0, 0.0]).unwrap();
    assert_eq!((over.relative_gap, over.overload, over.kkt_residual), (0.0, 1.0, 1.0));
    assert_eq!(normalize(&problem, &[1.0, 3.0], &FNorm::default()).unwrap(), [0.5, 1.5]);
    assert_eq!(normalize(&problem, &[1.0, 3.0], &UNorm { raise_rates: true }).unwrap(), [0.5, 1.5]);
}

#[test]
fn a_flow_capped_at_zero_fails() {
    for (name, utility) in families() {
        let problem = grouped(&[4.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], utility);
        let problem = problem.with_flow_caps(vec![0.0, NONE]).unwrap();
        assert!(problem.is_closed(0) && problem.is_closed(1) && !problem.is_closed(2));
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!((solution.status, &solution.failed_flows[..]), (Status::Optimal, &[0][..]), "{name}: {solution}");
        close(&solution.flow_rates, &[0.0, 4.0], 1e-5);
        assert!(solution.objective.is_finite(), "{name}: {solution}");
    }
}

#[test]
fn what_a_capped_flow_leaves_fills_the_others() {
    let problem = grouped(&[4.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let problem = problem.with_flow_caps(vec![2.0, NONE]).unwrap();
    let filled = normalize(&problem, &[1.0, 1.0, 1.0], &Fill).unwrap();
    close(&filled, &[1.0, 1.0, 3.0], 1e-12);
}

#[test]
fn caps_are_shared_and_given_up_and_checked() {
    let problem = grouped(&[4.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let capped = problem.clone().with_flow_caps(vec![2.0, NONE]).unwrap();
    assert!(capped.has_flow_caps() && !problem.has_flow_caps());
    assert_eq!((capped.flow_cap(0), capped.flow_cap(1), problem.flow_cap(0)), (2.0, NONE, NONE));
    assert!(std::ptr::eq(capped.paths(), problem.paths()));
    assert_eq!(capped.clone().with_capacities(vec![1.0, 1.0]).unwrap().flow_cap(0), 2.0);
    assert!(!capped.with_flow_caps(vec![NONE, NONE]).unwrap().has_flow_caps());
    let error = |caps: Vec<f64>| problem.clone().with_flow_caps(caps).unwrap_err().to_string();
    assert_eq!(error(vec![1.0; 3]), "flow_cap has 3 entries, expected 2, one per flow");
    assert_eq!(error(vec![1.0, f64::NAN]), "flow 1 has flow cap NaN, expected a number >= 0 (inf for none)");
    assert_eq!(error(vec![-1.0, 1.0]), "flow 0 has flow cap -1, expected a number >= 0 (inf for none)");
}

#[test]
fn json_keeps_flow_caps_and_reads_files_without() {
    let problem = grouped(&[4.0, 4.0], &[&[0], &[1], &[0]], &[0, 0, 1], AlphaFair::proportional());
    let bare = problem.to_json().unwrap();
    assert!(!bare.contains("flow_cap") && !Problem::from_json(&bare).unwrap().has_flow_caps());
    let capped = problem.with_flow_caps(vec![2.5, NONE]).unwrap();
    let text = capped.to_json().unwrap();
    assert!(text.contains(r#""flow_cap":[2.5,null]"#), "{text}");
    let read = Problem::from_json(&text).unwrap();
    assert_eq!((read.flow_cap(0), read.flow_cap(1)), (2.5, NONE));
    assert_eq!(read.to_json().unwrap(), text);
    for (caps, expected) in [
        ("[1]", "flow_cap has 1 entries, expected 2, one per flow"),
        ("[1, -2]", "flow 1 has flow cap -2, expected a number >= 0 (inf for none)"),
    ] {
        let spoiled = text.replace("[2.5,null]", caps);
        assert_eq!(Problem::from_json(&spoiled).unwrap_err().to_string(), expected);
    }
    let null = text.replace("[2.5,null]", "null");
    assert!(!Problem::from_json(&null).unwrap().has_flow_caps());
}

/// One flow: the links and caps of its paths, its utility, and its cap.
#[derive(Debug, Clone)]
struct Wanted {
    paths: Vec<(Vec<u32>, f64)>,
    utility: Arc<dyn Utility>,
    cap: f64,
}

#[derive(Debug, Clone)]
struct Drawn {
    capacities: Vec<f64>,
    asks: Vec<Wanted>,
}

impl Drawn {
    fn problem(&self) -> Problem {
        let caps = self.asks.iter().map(|ask| ask.cap).collect();
        self.build(self.capacities.clone(), |_| None).with_flow_caps(caps).unwrap()
    }

    /// The problem with a link in front of all paths of every capped flow.
    fn with_links(&self) -> Problem {
        let mut capacities = self.capacities.clone();
        let mut links = vec![None; self.asks.len()];
        for (ask, link) in self.asks.iter().zip(&mut links).filter(|(ask, _)| ask.cap < NONE) {
            *link = Some(capacities.len() as u32);
            capacities.push(ask.cap);
        }
        self.build(capacities, |flow| links[flow])
    }

    fn build(&self, capacities: Vec<f64>, front: impl Fn(usize) -> Option<u32>) -> Problem {
        let (mut paths, mut group, mut caps) = (Paths::from_lists::<[u32; 0]>([]), Vec::new(), Vec::new());
        for (flow, ask) in self.asks.iter().enumerate() {
            for (links, cap) in &ask.paths {
                paths.push(&links.iter().copied().chain(front(flow)).collect::<Vec<_>>());
                group.push(flow as u32);
                caps.push(*cap);
            }
        }
        let utilities: Vec<_> = self.asks.iter().map(|ask| ask.utility.clone()).collect();
        Problem::grouped(capacities, paths, group, utilities).unwrap().with_rate_caps(caps).unwrap()
    }

    /// Prices of the links that stand for caps: what U' is above the cheapest path with room, where the cap holds a
    /// flow.
    fn prices_of_caps(&self, problem: &Problem, solution: &Solution) -> Vec<f64> {
        let mut prices = Vec::new();
        for (flow, ask) in self.asks.iter().enumerate().filter(|(_, ask)| ask.cap < NONE) {
            let rate = solution.flow_rates[flow];
            let price =
                |path: usize| problem.paths().links(path).iter().map(|&link| solution.prices[link as usize]).sum();
            let has_room =
                |path: usize| solution.rates[path] < problem.rate_cap(path) * (1.0 - 1e-6) && !problem.is_closed(path);
            let own = (0..problem.paths().len()).filter(|&path| problem.group()[path] == flow as u32 && has_room(path));
            let least: f64 = own.map(price).fold(NONE, f64::min);
            let above = if rate > 0.0 { ask.utility.marginal(0, rate) - least } else { 0.0 };
            prices.push(if rate >= ask.cap * (1.0 - 1e-6) { above.max(0.0) } else { 0.0 });
        }
        prices
    }
}

/// Small networks, several paths per flow, caps of paths and of flows, failed links.
fn any_network(span: i32, utility: impl Strategy<Value = Arc<dyn Utility>> + Clone) -> impl Strategy<Value = Drawn> {
    let half = span / 2;
    let capacity = prop_oneof![8 => decades(-half, half), 4 => Just(1.0), 1 => Just(0.0)];
    prop::collection::vec(capacity, 1..6).prop_flat_map(move |capacities| {
        let links: Vec<u32> = (0..capacities.len() as u32).collect();
        let path = prop::sample::subsequence(links.clone(), 1..=links.len().min(3));
        let cap = || prop_oneof![6 => Just(NONE), 1 => decades(-half, half)];
        let flow_cap = prop_oneof![3 => Just(NONE), 6 => decades(-half, half), 1 => Just(0.0)];
        let ask = (prop::collection::vec((path, cap()), 1..4), utility.clone(), flow_cap)
            .prop_map(|(paths, utility, cap)| Wanted { paths, utility, cap });
        (Just(capacities), prop::collection::vec(ask, 1..8)).prop_map(|(capacities, asks)| Drawn { capacities, asks })
    })
}

fn boxed(utility: impl Utility + 'static) -> Arc<dyn Utility> {
    Arc::new(utility)
}

/// Utilities of every family whose marginals are within some decades of each other.
fn mild() -> impl Strategy<Value = Arc<dyn Utility>> + Clone {
    let ten = || (-0.5f64..0.5).prop_map(|exponent| 10f64.powf(exponent));
    let curve = (0.1f64..2.0, prop_oneof![Just(0.0), 0.1f64..2.0], 0.5f64..3.0, prop_oneof![Just(0.0), Just(1.0)]);
    let curve = curve.prop_map(|(first, second, alpha, tail)| {
        boxed(BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, first, first + second], alpha, tail).unwrap())
    });
    let power = (prop_oneof![Just(1.0), 0.5f64..3.0], ten())
        .prop_map(|(alpha, weight)| boxed(AlphaFair::new(alpha, weight).unwrap()));
    let times = (ten(), 0.1f64..0.9).prop_map(|(size, epsilon)| boxed(MinFct::new(size, epsilon).unwrap()));
    let logarithmic = (ten(), ten()).prop_map(|(weight, scale)| boxed(Logarithmic { weight, scale }));
    prop_oneof![4 => power, 1 => times, 2 => curve, 1 => logarithmic]
}

fn fairest() -> impl Strategy<Value = Arc<dyn Utility>> + Clone {
    let weight = prop_oneof![decades(-1, 1), Just(1.0)]
        .prop_map(|weight| boxed(AlphaFair::new(f64::INFINITY, weight).unwrap()))
        .boxed();
    let curve = bandwidth_function().prop_map(boxed).boxed();
    prop_oneof![2 => weight, 1 => curve]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_flow_cap_is_a_link_for_every_concave_utility(drawn in any_network(2, mild().boxed())) {
        let (capped, linked) = (drawn.problem(), drawn.with_links());
        let settings = Settings::default().with_tol(1e-8);
        let [found, expected] = [&capped, &linked].map(|problem| solve(problem, &settings.clone().into()).unwrap());
        prop_assert_eq!(found.status, Status::Optimal, "{}", &found);
        prop_assert_eq!(expected.status, Status::Optimal, "{}", &expected);
        prop_assert_eq!(&found.failed_flows, &expected.failed_flows);
        let prices = [found.prices.clone(), drawn.prices_of_caps(&capped, &found)].concat();
        let across = certify(&linked, &found.rates, &prices).unwrap();
        // Relative to other sums: there what caps are worth is paid for links, here it is the rent of flows that are
        // held.
        prop_assert!(across.relative_gap <= 1e-3 && across.overload <= 1e-12, "{found:?}: {across:?}");
        let back = certify(&capped, &expected.rates, &expected.prices[..capped.links()]).unwrap();
        prop_assert!(back.relative_gap <= 1e-3 && back.overload <= 1e-12, "{expected:?}: {back:?}");
        let worth = |(ask, &rate): (&Wanted, &f64)| if rate > 0.0 { rate * ask.utility.marginal(0, rate) } else { 0.0 };
        let scale: f64 = drawn.asks.iter().zip(&found.flow_rates).map(worth).sum();
        let rounding = 1e-12 * found.objective.abs();
        prop_assert!((found.objective - expected.objective).abs() <= 1e-7 * scale + rounding, "{found:?} {expected:?}");
        for ((ask, rate), expected) in drawn.asks.iter().zip(&found.flow_rates).zip(&expected.flow_rates) {
            // What two gaps leave of a flow with this part of the whole; nothing where that is everything.
            let mut elasticity = [0.0];
            ask.utility.elasticity_into(0..1, &[expected.max(1e-300)], &mut elasticity);
            let left = 2.0 * (2e-8 * scale / (elasticity[0] * worth((ask, expected)))).sqrt();
            let known = left <= 0.1;
            prop_assert!(!known || (rate - expected).abs() <= 2.0 * left * expected, "{rate:e}, not {expected:e}");
        }
    }

    #[test]
    fn and_for_linear_ones(
        drawn in any_network(2, decades(-1, 1).prop_map(|weight| boxed(Linear::new(weight).unwrap())).boxed())
    ) {
        let (capped, linked) = (drawn.problem(), drawn.with_links());
        let [found, expected] = [&capped, &linked].map(|problem| solve_with(problem, "auto", 1e-7));
        prop_assert_eq!(found.status, Status::Optimal, "{}", &found);
        // One in some thousand of the problems with links stalls far away.
        if expected.status == Status::Optimal {
            let apart = (found.objective - expected.objective).abs();
            prop_assert!(apart <= 2e-6 * expected.objective, "{found}: {} and {}", found.objective, expected.objective);
        }
    }

    #[test]
    fn and_for_max_min(drawn in any_network(2, fairest().boxed())) {
        let (capped, linked) = (drawn.problem(), drawn.with_links());
        let [found, expected] = [&capped, &linked].map(|problem| {
            problem.flow_rates(&max_min(problem).unwrap()).unwrap()
        });
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() <= 1e-7 * expected + 1e-9, "{found:e}, expected {expected:e}");
        }
        let rates = max_min(&capped).unwrap();
        let found = capped.flow_rates(&rates).unwrap();
        for (flow, rate) in found.iter().enumerate() {
            prop_assert!(*rate <= capped.flow_cap(flow) * (1.0 + 1e-15));
        }
    }

    #[test]
    fn price_methods_and_xwi_keep_caps_too(drawn in any_network(2, any_utility(2).boxed())) {
        let problem = drawn.problem();
        for method in ["fast-ned", "xwi"] {
            let settings = Settings::default().with_tol(1e-2).with_max_iterations(300);
            let mut solver = Solver::new(&problem, &Ask::by(method)).unwrap();
            let solution = solver.run(&settings, &mut ()).unwrap();
            for (flow, &rate) in solution.flow_rates.iter().enumerate() {
                prop_assert!(rate <= problem.flow_cap(flow) * (1.0 + 1e-15), "{method}: {solution:?}");
            }
            let again = certify(&problem, &solution.rates, &solution.prices).unwrap();
            prop_assert!(again.overload <= 1e-12, "{method}: {again:?}");
        }
    }

    /// Whatever the rates and prices, no other feasible rates may be better by more than the certificate says.
    #[test]
    fn a_certificate_is_never_below_the_true_loss(
        drawn in any_network(4, any_utility(4).boxed()), seeds in prop::collection::vec(0.0f64..1.0, 64),
        scale in 0.01f64..10.0,
    ) {
        let (problem, linked) = (drawn.problem(), drawn.with_links());
        let most = |path: usize| {
            let links = linked.paths().links(path).iter();
            let smallest = links.map(|&link| linked.capacities()[link as usize]).fold(NONE, f64::min);
            smallest.min(linked.rate_cap(path))
        };
        let rates = |offset: usize| -> Vec<f64> {
            (0..problem.paths().len()).map(|path| (0.01 + seeds[(path + offset) % 64]) * most(path)).collect()
        };
        let prices: Vec<f64> = (0..problem.links()).map(|link| scale * seeds[(link + 40) % 64]).collect();
        let certificate = certify(&problem, &rates(0), &prices).unwrap();
        prop_assert!(!certificate.relative_gap.is_nan() && !certificate.kkt_residual.is_nan());
        // What raising every rate by 100 % gains is no less than either part of the scale.
        let solution = solve_with(&problem, "auto", 1e-6);
        let worth = |rates: &[f64]| -> f64 {
            let feasible = normalize(&problem, rates, &FNorm::default()).unwrap();
            let flow_rates = problem.flow_rates(&feasible).unwrap();
            let counted = |flow: &usize| !solution.failed_flows.contains(&(*flow as u32));
            (0..problem.flows()).filter(counted).map(|flow| drawn.asks[flow].utility.value(0, flow_rates[flow])).sum()
        };
        let scale = common_scale(&problem, &drawn, &rates(0), &prices);
        let mine = worth(&rates(0));
        for other in (1..20).map(rates).chain([solution.rates.clone()]) {
            let other = worth(&other);
            let rounding = 1e-9 * (mine.abs() + other.abs());
            prop_assert!(
                other - mine <= certificate.relative_gap * scale + rounding || certificate.relative_gap.is_infinite(),
                "gains {} of {scale}, certified {certificate:?}", other - mine
            );
        }
    }
}

/// S + Σ R_f, flow by flow from the definition.
fn common_scale(problem: &Problem, drawn: &Drawn, rates: &[f64], prices: &[f64]) -> f64 {
    let feasible = normalize(problem, rates, &FNorm::default()).unwrap();
    let flow_rates = problem.flow_rates(&feasible).unwrap();
    let [mut revenue, mut rents] = [0.0; 2];
    for (flow, &now) in flow_rates.iter().enumerate() {
        let utility = &drawn.asks[flow].utility;
        let price = |path: &usize| problem.paths().links(*path).iter().map(|&link| prices[link as usize]).sum::<f64>();
        let is_own = |path: &usize| problem.group()[*path] == flow as u32 && !problem.is_closed(*path);
        let mut own: Vec<usize> = (0..problem.paths().len()).filter(is_own).collect();
        own.sort_by(|one, other| price(one).total_cmp(&price(other)));
        let most = utility.saturation(0).min(problem.flow_cap(flow));
        let (mut best, mut filled) = (0.0, Vec::new());
        for path in own {
            let links = problem.paths().links(path).iter().map(|&link| problem.capacities()[link as usize]);
            let ceiling = links.fold(problem.rate_cap(path), f64::min);
            let demand = if price(&path) > 0.0 { utility.demand(0, price(&path)) } else { NONE };
            let rate = (demand.min(most) - best).clamp(0.0, ceiling);
            best += rate;
            filled.push((rate, price(&path)));
        }
        let marginal = utility.marginal(0, best);
        let rent: f64 = filled.iter().filter(|(rate, _)| *rate > 0.0).map(|(x, q)| x * (marginal - q).max(0.0)).sum();
        let pays: f64 = filled.iter().map(|(rate, price)| rate * price).sum();
        if rent > pays {
            rents += rent;
        } else if now > 0.0 {
            revenue += now * utility.marginal(0, now);
        }
    }
    revenue + rents
}
