//! A certificate never promises more than is true, and refuses spoiled rates and prices.

use crate::common;
use crate::common::{Deadline, any_problem, close, leaf_spine, solve_with};
use netnum_core::*;
use proptest::prelude::*;
use std::sync::Arc;

/// Σ U(y) over the flows that can get anything, of rates made feasible by F-NORM, and the certificate's scale there.
fn worth(problem: &Problem, rates: &[f64]) -> f64 {
    let feasible = normalize(problem, rates, &FNorm::default()).unwrap();
    let flow_rates = problem.flow_rates(&feasible).unwrap();
    (0..problem.flows())
        .filter(|&flow| (0..problem.paths().len()).any(|p| problem.group()[p] == flow as u32 && !problem.is_closed(p)))
        .map(|flow| {
            let (utility, place) = problem.utility(flow);
            utility.value(place, flow_rates[flow])
        })
        .sum()
}

#[test]
fn a_certificate_far_from_the_optimum_says_so_in_words() {
    let shown = |gap, residual| Certificate::new(gap, 0.0, residual).to_string();
    assert_eq!(shown(4.1e-7, 2.0e-4), "gap 4.1e-7, rates to 2.0e-4");
    assert_eq!(shown(0.98, 0.98), "gap 9.8e-1, rates to 9.8e-1");
    assert_eq!(shown(3.12, 0.996), "gap 3.1 (above 1: far from proven), rates unproven");
    assert_eq!(shown(12_345.0, 7.0), "gap 1.2e4 (above 1: far from proven), rates unproven");
    assert_eq!(shown(f64::INFINITY, f64::INFINITY), "nothing proven");
}

/// S + Σ R_f: what the gap is relative to, in all, flow by flow from the definition.
fn scale_of_a_gap(problem: &Problem, rates: &[f64], prices: &[f64]) -> f64 {
    let feasible = normalize(problem, rates, &FNorm::default()).unwrap();
    let flow_rates = problem.flow_rates(&feasible).unwrap();
    let [mut revenue, mut rents] = [0.0; 2];
    for (flow, &now) in flow_rates.iter().enumerate() {
        let (utility, place) = problem.utility(flow);
        let price = |path: &usize| problem.paths().links(*path).iter().map(|&link| prices[link as usize]).sum::<f64>();
        let is_own = |path: &usize| problem.group()[*path] == flow as u32 && !problem.is_closed(*path);
        let mut own: Vec<usize> = (0..problem.paths().len()).filter(is_own).collect();
        own.sort_by(|one, other| price(one).total_cmp(&price(other)));
        let (mut best, mut filled) = (0.0, Vec::new());
        for path in own {
            let links = problem.paths().links(path).iter().map(|&link| problem.capacities()[link as usize]);
            let most = links.fold(problem.rate_cap(path), f64::min);
            let demand = if price(&path) > 0.0 { utility.demand(place, price(&path)) } else { f64::INFINITY };
            let rate = (demand.min(utility.saturation(place)) - best).clamp(0.0, most);
            best += rate;
            filled.push((rate, price(&path)));
        }
        let marginal = utility.marginal(place, best);
        let rent: f64 = filled.iter().filter(|(rate, _)| *rate > 0.0).map(|(x, q)| x * (marginal - q).max(0.0)).sum();
        let pays: f64 = filled.iter().map(|(rate, price)| rate * price).sum();
        if rent > pays {
            rents += rent;
        } else if now > 0.0 {
            revenue += now * utility.marginal(place, now);
        }
    }
    revenue + rents
}

#[test]
fn the_optimum_passes_and_a_spoiled_answer_does_not() {
    let problem = leaf_spine(200, 2.0, 3);
    let solution = solve_with(&problem, "fast-ned", 1e-10);
    let good = certify(&problem, &solution.rates, &solution.prices).unwrap();
    assert!(good.relative_gap <= 1e-10 && good.overload < 1e-12 && good.kkt_residual < 1e-4, "{good:?}");

    let halved: Vec<f64> = solution.rates.iter().map(|rate| 0.5 * rate).collect();
    assert!(certify(&problem, &halved, &solution.prices).unwrap().relative_gap > 0.1);
    let doubled: Vec<f64> = solution.rates.iter().map(|rate| 2.0 * rate).collect();
    let over = certify(&problem, &doubled, &solution.prices).unwrap();
    assert!((over.overload - 1.0).abs() < 1e-6, "{over:?}");
    let raised: Vec<f64> = solution.prices.iter().map(|price| 1.5 * price).collect();
    assert!(certify(&problem, &solution.rates, &raised).unwrap().relative_gap > 1e-3);
    let mut one_off = solution.rates.clone();
    one_off[7] *= 0.9;
    let spoiled = certify(&problem, &one_off, &solution.prices).unwrap();
    assert!(spoiled.kkt_residual > 0.05 && spoiled.relative_gap > good.relative_gap, "{spoiled:?}");
}

#[test]
fn a_flow_at_rate_zero_loses_everything_when_its_utility_says_so() {
    let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    assert_eq!(certify(&problem, &[0.0, 1.0], &[2.0]).unwrap().relative_gap, f64::INFINITY);
    let finite = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::new(0.5, 1.0).unwrap()).unwrap();
    assert!(certify(&finite, &[0.0, 1.0], &[2.0]).unwrap().relative_gap.is_finite());
}

#[test]
fn an_answer_to_nothing_is_certified() {
    let problem = Problem::new(vec![1.0], Paths::from_lists::<[u32; 0]>([]), AlphaFair::proportional()).unwrap();
    let certificate = certify(&problem, &[], &[3.0]).unwrap();
    assert_eq!((certificate.relative_gap, certificate.overload, certificate.kkt_residual), (0.0, 0.0, 0.0));
}

/// One link of capacity 1.
/// U' underflows in the second unit, and with it every price.
#[test]
fn prices_of_zero_prove_as_much_in_any_unit() {
    let gap = |capacity: f64| {
        let (paths, utility) = (Paths::from_lists([vec![0, 1], vec![0]]), AlphaFair::new(30.0, 1.0).unwrap());
        let problem = Problem::new(vec![capacity, 10.0 * capacity], paths, utility).unwrap();
        certify(&problem, &[0.5 * capacity, 0.5 * capacity], &[0.0, 0.0]).unwrap().relative_gap
    };
    close(gap(1e12), gap(1.0), 1e-6);
}

fn one_link(flows: usize, utility: impl Into<Utilities>) -> Problem {
    Problem::new(vec![1.0], Paths::from_lists(vec![[0]; flows]), utility).unwrap()
}

#[test]
fn a_capped_flow_does_not_hide_that_another_one_starves() {
    let cap = vec![1e-3, f64::INFINITY];
    let problem = one_link(2, AlphaFair::new(5.0, 1.0).unwrap()).with_rate_caps(cap).unwrap();
    let starving = certify(&problem, &[1e-3, 0.077], &[0.077f64.powi(-5)]).unwrap();
    assert!(starving.kkt_residual > 0.5, "{starving:?}");
    let settings = Settings::default().with_stop(Stop::Kkt);
    let solution = solve(&problem, &settings.clone().into()).unwrap();
    assert!((solution.rates[1] - 0.999).abs() < 1e-5, "{solution:?}");
}

#[test]
fn a_tiny_flow_that_gets_too_much_is_seen() {
    let problem = one_link(2, AlphaFair::new(1.0, vec![1.0, 1e-9]).unwrap());
    assert!(certify(&problem, &[1.0 - 1e-4, 1e-4], &[1.0]).unwrap().kkt_residual > 0.5);
}

/// The best response is next to nothing there, and what a flow gains by it next to all that it loses.
#[test]
fn prices_that_are_far_too_high_prove_nothing() {
    for (alpha, price) in [(1.0, 1e25), (1.1, 1e22), (1.5, 1e30), (2.0, 1e40), (4.0, 1e80), (10.0, 1e200)] {
        let problem = one_link(2, AlphaFair::new(alpha, 1.0).unwrap());
        let gap = certify(&problem, &[0.9, 0.1], &[price]).unwrap().relative_gap;
        assert!(gap > 1.0, "alpha {alpha}, price {price:e}: gap {gap:e}");
    }
    let mixed = one_link(2, AlphaFair::new(vec![1.0, 2.0], 1.0).unwrap());
    assert!(certify(&mixed, &[0.9, 0.1], &[1e300]).unwrap().relative_gap > 1.0);
}

#[test]
fn rounding_does_not_make_a_gap_negative() {
    let problem = Problem::new(
        vec![0.902_485_663_664_848_1, 1.0],
        Paths::from_lists([[0], [1]]),
        AlphaFair::new(1.0, vec![1e20, 1.0]).unwrap(),
    );
    let certificate = certify(&problem.unwrap(), &[1.047_575_953_467_520_6, 0.01], &[0.0, 1.0]).unwrap();
    assert!(certificate.relative_gap > 0.0, "{certificate:?}");
}

#[test]
fn a_scale_that_overflows_certifies_nothing() {
    for (alpha, rate, price, cap) in
        [(5.0, 1e-100, 0.0, None), (5.0, 1e-70, 1.0, Some(0.5)), (100.0, 1e-4, 0.0, None), (100.0, 1e-3, 0.0, None)]
    {
        let problem = one_link(1, AlphaFair::new(alpha, 1.0).unwrap());
        let problem = problem.with_rate_caps(vec![cap.unwrap_or(f64::INFINITY)]).unwrap();
        let certificate = certify(&problem, &[rate], &[price]).unwrap();
        assert!(certificate.relative_gap > 1e-2, "alpha {alpha}, rate {rate}: {certificate:?}");
    }
    let problem = one_link(1, AlphaFair::proportional());
    assert!(certify(&problem, &[0.5], &[5e-324]).unwrap().relative_gap.is_finite());
    assert!(!certify(&problem, &[1e300], &[1.0]).unwrap().relative_gap.is_nan());
}

#[test]
fn rates_over_a_cap_or_a_failed_link_are_an_overload() {
    let problem = one_link(1, AlphaFair::proportional()).with_rate_caps(vec![0.5]).unwrap();
    let over = certify(&problem, &[1.0], &[0.0]).unwrap();
    assert_eq!((over.overload, over.kkt_residual), (1.0, 1.0));
    let problem = Problem::new(vec![0.0, 1.0], Paths::from_lists([[0, 1], [1, 0]]), AlphaFair::proportional()).unwrap();
    assert_eq!(certify(&problem, &[5.0, 0.0], &[0.0, 0.0]).unwrap().overload, f64::INFINITY);
}

#[test]
fn what_saturated_flows_are_worth_counts_in_the_scale() {
    // The first flow is saturated at 0.1 and would pay 0.6 for more; the second takes the rest for 5e-13. One unit in
    // the last place of the first flow's rate is worth 1e-4 of all that is paid for the link, and nothing beside its
    // own.
    let curves = [([0.5, 1.304], [0.0, 0.1], 1.69, 0.0), ([0.5, 0.6], [0.0, 0.0], 7.555, 0.0217)];
    let utility = |(f, b, alpha, tail): ([f64; 2], [f64; 2], f64, f64)| -> std::sync::Arc<dyn Utility> {
        std::sync::Arc::new(BandwidthFunction::new(&f, &b, alpha, tail).unwrap())
    };
    let problem = one_link(2, curves.map(utility).to_vec());
    let solution = solve_with(&problem, "auto", 1e-9);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert!((solution.rates[1] - 0.9).abs() < 1e-9);
}

#[test]
fn what_caps_are_worth_counts_in_the_scale() {
    // Both flows at their caps, the link half idle and free: optimal, whatever scale; 1 % below, the loss of log rate.
    let problem = one_link(2, AlphaFair::proportional()).with_rate_caps(vec![0.25; 2]).unwrap();
    let exact = certify(&problem, &[0.25, 0.25], &[0.0]).unwrap();
    assert_eq!((exact.relative_gap, exact.kkt_residual), (0.0, 0.0));
    let below = certify(&problem, &[0.99 * 0.25; 2], &[0.0]).unwrap();
    assert!((below.relative_gap + 0.99f64.ln()).abs() < 1e-12, "{below:?}");
}

#[test]
fn max_min_is_certified_by_its_bottlenecks_whatever_the_prices() {
    let problem = one_link(2, AlphaFair::new(f64::INFINITY, vec![1.0, 3.0]).unwrap());
    for prices in [[0.0], [7.0]] {
        let exact = certify(&problem, &[0.25, 0.75], &prices).unwrap();
        assert_eq!((exact.relative_gap, exact.overload, exact.kkt_residual), (0.0, 0.0, 0.0));
        let unfair = certify(&problem, &[0.5, 0.5], &prices).unwrap();
        assert!((unfair.relative_gap - 2.0 / 3.0).abs() < 1e-11, "{unfair:?}");
    }
}

proptest! {
    /// Whatever the rates and prices, no other feasible rates may be better by more than the certificate says.
    #[test]
    fn a_certificate_is_never_below_the_true_loss(
        problem in any_problem(4, true), seeds in prop::collection::vec(0.0f64..1.0, 64), scale in 0.01f64..10.0,
    ) {
        let paths = problem.paths().len();
        let rates = |offset: usize| -> Vec<f64> {
            let most = |path: usize| {
                let links = problem.paths().links(path).iter();
                let smallest = links.map(|&link| problem.capacities()[link as usize]).fold(f64::INFINITY, f64::min);
                smallest.min(problem.rate_cap(path))
            };
            (0..paths).map(|path| (0.01 + seeds[(path + offset) % 64]) * most(path)).collect()
        };
        let prices: Vec<f64> = (0..problem.links()).map(|link| scale * seeds[(link + 40) % 64]).collect();
        let certificate = certify(&problem, &rates(0), &prices).unwrap();
        prop_assert!(!certificate.relative_gap.is_nan() && !certificate.kkt_residual.is_nan());
        let mine = worth(&problem, &rates(0));
        let scale = scale_of_a_gap(&problem, &rates(0), &prices);
        for offset in 1..20 {
            let other = worth(&problem, &rates(offset));
            let rounding = 1e-9 * (mine.abs() + other.abs());
            prop_assert!(
                other - mine <= certificate.relative_gap * scale + rounding || certificate.relative_gap.is_infinite(),
                "gains {} of {scale}, certified {certificate:?}", other - mine
            );
        }
    }

    #[test]
    fn a_certificate_is_finite_for_any_finite_prices(
        problem in any_problem(8, true), seeds in prop::collection::vec(common::decades(-8, 8), 8), zero in 0usize..8,
    ) {
        let price = |link: usize| if link == zero { 0.0 } else { seeds[link % 8] };
        let prices: Vec<f64> = (0..problem.links()).map(price).collect();
        let tiny = |path| if problem.is_closed(path) { 0.0 } else { 1e-6 };
        let tiny: Vec<f64> = (0..problem.paths().len()).map(tiny).collect();
        let certificate = certify(&problem, &tiny, &prices).unwrap();
        prop_assert!(certificate.relative_gap.is_finite() && certificate.kkt_residual.is_finite(), "{certificate:?}");
        prop_assert!(certificate.relative_gap > -1e-9, "{certificate:?}");
    }
}

#[test]
fn a_link_with_room_cannot_be_priced_by_what_a_jump_is_worth_below_it() {
    // B rises to 1, stays there until fair share 100, and rises again: at rate 1, U' is 1 below and 1e-10 above.
    let curve = BandwidthFunction::new(&[0.0, 1.0, 100.0, 110.0], &[0.0, 1.0, 1.0, 11.0], 5.0, 0.0).unwrap();
    let problem = Problem::new(vec![5.0], Paths::from_lists([[0]]), curve).unwrap();
    let wrong = certify(&problem, &[1.0], &[1e-9]).unwrap();
    assert!(wrong.kkt_residual > 0.5, "{wrong:?}");
    let right = solve(&problem, &Settings::default().with_stop(Stop::Kkt).into()).unwrap();
    assert_eq!(right.status, Status::Optimal);
    assert!((right.rates[0] - 5.0).abs() < 1e-6, "{:?}", right.rates);
}

#[test]
fn a_marginal_that_no_float_holds_proves_nothing() {
    let utility = AlphaFair::new(20.0, vec![1.0, 1e-20, 2e-20]).unwrap();
    let problem = Problem::new(vec![1.0, 1.0], Paths::from_lists([[0], [1], [1]]), utility).unwrap();
    let unfair = certify(&problem, &[1.0, 0.9, 0.1], &[1.0, 0.0]).unwrap();
    assert_eq!(unfair.kkt_residual, 1.0, "{unfair:?}");
}

#[test]
fn fair_shares_that_no_float_holds_prove_nothing() {
    for (capacity, weight) in [(4e10, 1e-300), (4e-30, 1e300)] {
        let utility = AlphaFair::new(f64::INFINITY, weight).unwrap();
        let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), utility).unwrap();
        let unfair = certify(&problem, &[0.75 * capacity, 0.25 * capacity], &[0.0]).unwrap();
        assert_eq!(unfair.relative_gap, 1.0, "{unfair:?}");
    }
}

/// log x, or x², with a demand that is not what its marginal says.
#[derive(Debug)]
struct Wrong {
    convex: bool,
}

impl Utility for Wrong {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        if self.convex { rate * rate } else { rate.ln() }
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        if self.convex { 2.0 * rate } else { rate.recip() }
    }
    fn demand(&self, _flow: usize, price: f64) -> f64 {
        0.5 * if self.convex { price } else { price.recip() }
    }
    fn demand_slope(&self, _flow: usize, price: f64) -> f64 {
        if self.convex { 0.5 } else { -0.5 / (price * price) }
    }
}

#[test]
fn a_wrong_demand_of_a_flow_with_several_paths_is_an_error() {
    let utilities = |convex| Utilities::from(Wrong { convex });
    let paths = || Paths::from_lists(vec![[0]; 4]);
    let pooled = Problem::grouped(vec![1.0], paths(), vec![0, 0, 1, 1], utilities(false)).unwrap();
    for method in ["fast-ned", "xwi", "interior-point"] {
        let solved = Solver::new(&pooled, &Ask::by(method))
            .and_then(|mut solver| solver.run(&Settings::default().with_max_iterations(200), &mut ()));
        assert!(matches!(solved, Err(Error::Utility { .. })), "{method}: {solved:?}");
    }
    let convex = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), utilities(true)).unwrap();
    assert!(matches!(certify(&convex, &[0.5, 0.5], &[1.0]), Err(Error::Utility { .. })));
}

/// Flow 0 pays all but nothing on the one of two links that its paths do not share, and may be many decades richer than
/// those who pay there: its split is what matters to them.
#[test]
fn a_split_is_judged_by_the_links_that_only_one_path_crosses() {
    for weight in [1.0, 1e4, 1e8, 1e12, 1e16, 1e20] {
        let paths = Paths::from_lists([vec![0, 1], vec![0, 2], vec![1], vec![2]]);
        let utilities: Vec<std::sync::Arc<dyn Utility>> =
            [weight, 1.0, 3.0].map(|weight| std::sync::Arc::new(AlphaFair::new(1.0, weight).unwrap()) as _).into();
        let problem = Problem::grouped(vec![1.0, 10.0, 10.0], paths, vec![0, 0, 1, 2], utilities).unwrap();
        let certify_split = |part: f64| {
            let rates = [part, 1.0 - part, 10.0 - part, 9.0 + part];
            let (one, other) = (1.0 / rates[2], 3.0 / rates[3]);
            let cheapest = if part > 0.5 { one } else { other };
            certify(&problem, &rates, &[(weight - cheapest).max(0.0), one, other]).unwrap()
        };
        // Link 1 is the cheaper one.
        let (right, wrong) = (certify_split(1.0), certify_split(0.4));
        assert!(right.kkt_residual <= 1e-9, "{weight}: {right:?}");
        assert!(wrong.kkt_residual >= 0.1, "{weight}: {wrong:?}");
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{weight}: {solution}");
        close(solution.rates[2], 9.0, 1e-3);
        close(solution.rates[3], 10.0, 1e-3);
    }
}

/// A rich flow leaves a thousandth of its rate on a path that costs more. That is little of it, and more than a poor
/// one beside it has in all.
#[test]
fn a_split_is_judged_by_the_smallest_flow_beside_it() {
    for poor in [1.0, 1e-2, 1e-4, 1e-6] {
        // Flow 0 has both links, flow 1 the first one only, where it is all that there should be.
        let paths = Paths::from_lists([[0], [1], [0]]);
        let utilities = [1.0, poor].map(|weight| std::sync::Arc::new(AlphaFair::new(1.0, weight).unwrap()) as _);
        let utilities: Vec<std::sync::Arc<dyn Utility>> = utilities.into();
        let problem = Problem::grouped(vec![poor, 1.0], paths, vec![0, 0, 1], utilities).unwrap();
        // Both flows pay 1 per unit of rate at the optimum [0, 1, poor].
        let certified = |left: f64| {
            let (rich, other) = (1.0 + left, poor - left);
            certify(&problem, &[left, 1.0, other], &[poor / other, 1.0 / rich]).unwrap()
        };
        assert!(certified(0.0).kkt_residual <= 1e-12, "{poor}");
        let wrong = certified(0.5 * poor);
        assert!((0.5..=1.0).contains(&wrong.kkt_residual), "{poor}: {wrong:?}");
    }
}

/// w (1 − exp(−x)): beyond some tens it is w in floats, whatever x.
#[derive(Debug)]
struct Tail(f64);

impl Utility for Tail {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        -self.0 * (-rate).exp_m1()
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        self.0 * (-rate).exp()
    }
}

#[test]
fn a_flow_has_enough_where_its_utility_is_flat_in_floats_and_no_sooner() {
    for weight in [1e-9, 1.0, 1e9] {
        let of = |capacity: f64, links: u32| {
            let paths = Paths::from_lists([(0..links).collect::<Vec<_>>()]);
            Problem::new(vec![capacity; links as usize], paths, Tail(weight)).unwrap()
        };
        let certified = |capacity: f64, rate: f64, price: f64| {
            certify(&of(capacity, 1), &[rate], &[price * weight]).unwrap().kkt_residual
        };
        // Of a link of 1e6, 200 are enough, at no price or one that no flow notices; so are 2000, and the whole link.
        for rate in [200.0, 2000.0, 1e6] {
            for price in [0.0, 1e-250, 1e-90] {
                assert!(certified(1e6, rate, price) <= 1e-9, "{weight}: {rate} at {price}");
            }
        }
        // 60 are not, nor is anything where a price is paid.
        assert!(certified(1e6, 60.0, 0.0) >= 0.5, "{weight}");
        assert!(certified(1e6, 200.0, 1e-20) >= 0.5, "{weight}");
        assert!(certified(100.0, 50.0, (-50f64).exp()) >= 0.4, "{weight}: half the link is idle");
    }
}

#[test]
fn more_than_enough_has_no_place_on_a_link_that_another_flow_pays_for() {
    let paths = Paths::from_lists([[0], [0]]);
    let utilities: Vec<std::sync::Arc<dyn Utility>> =
        vec![std::sync::Arc::new(Tail(1.0)), std::sync::Arc::new(AlphaFair::new(9.0, 1.0).unwrap())];
    let problem = Problem::new(vec![1e15], paths, utilities).unwrap();
    for (enough, is_right) in [(300.0, true), (5e14, false)] {
        let other = 1e15 - enough;
        let residual = certify(&problem, &[enough, other], &[f64::powf(other, -9.0)]).unwrap().kkt_residual;
        assert_eq!(residual <= 1e-6, is_right, "{enough}, {residual}");
    }
}

/// The rates of its two paths add up to the floor, or to the next float.
#[test]
fn a_flow_is_held_by_its_floor_whatever_the_sum_of_its_rates_is_rounded_to() {
    let (floor, mut above) = (0.11384606475913535, 0);
    for first in (1..100).map(|i| 0.001 * f64::from(i)) {
        above += usize::from(first + (floor - first) > floor);
        let paths = Paths::from_lists([[0], [1]]);
        let problem = Problem::grouped(vec![first, 1.0], paths, vec![0, 0], Deadline { need: 0.01 }).unwrap();
        let problem = problem.with_flow_floors(vec![floor]).unwrap();
        let proof = certify(&problem, &[first, floor - first], &[1.0, 2.0]).unwrap();
        assert!(proof.overload <= 1e-12, "{proof:?}");
    }
    assert!(above > 0);
}

/// U' = (x + shift)^−a, as a caller writes it.
#[derive(Debug)]
struct Steep {
    power: f64,
    shift: f64,
}

impl Utility for Steep {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        -(rate + self.shift).powf(1.0 - self.power) / (self.power - 1.0)
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        (rate + self.shift).powf(-self.power)
    }
}

/// However steep, it falls by the same factor again and again.
#[test]
fn a_steep_utility_has_never_enough() {
    for power in [40.0, 52.0, 54.0, 60.0, 200.0] {
        for shift in [0.0, 1e-3, 1e-2] {
            let one_path = Problem::new(vec![1.0, 2.0], Paths::from_lists([[0], [1]]), Steep { power, shift }).unwrap();
            let price = Steep { power, shift }.marginal(0, 1.0);
            for rates in [[1.0, 1.5], [0.5, 0.5], [0.01, 0.02]] {
                let proof = certify(&one_path, &rates, &[price, 0.0]).unwrap();
                assert!(proof.kkt_residual >= 0.2, "{power}, {shift}: {rates:?}, {proof:?}");
            }
            let paths = Paths::from_lists([vec![0], vec![0, 1], vec![1, 2], vec![2]]);
            let problem = Problem::new(vec![1.0, 3.0, 9.0], paths, Steep { power, shift }).unwrap();
            for stop in [Stop::Rates, Stop::Kkt] {
                let solution = solve(&problem, &Settings::default().with_stop(stop).with_tol(1e-4).into()).unwrap();
                if solution.status == Status::Optimal {
                    for (rate, right) in solution.rates.iter().zip([0.5, 0.5, 2.5, 6.5]) {
                        close(*rate, right, 2e-2);
                    }
                }
            }
        }
    }
}

/// What a rich flow leaves on an expensive link displaces a flow on it, which has it from a poor one on the next link.
#[test]
fn a_split_is_judged_by_flows_two_links_away() {
    let weights = [1.0, 3.0 * 9.995e-4, 1.5e-6];
    let utilities: Vec<std::sync::Arc<dyn Utility>> =
        weights.map(|weight| std::sync::Arc::new(AlphaFair::new(1.0, weight).unwrap()) as _).into();
    let paths = Paths::from_lists([vec![0], vec![1], vec![1, 2], vec![2]]);
    let problem = Problem::grouped(vec![1.0, 1e-3, 1e-3 + 1e-6], paths, vec![0, 0, 1, 2], utilities).unwrap();
    let proof = certify(&problem, &[1.0, 5e-7, 9.995e-4, 1.5e-6], &[1.0, 2.0, 1.0]).unwrap();
    assert!(proof.kkt_residual >= 0.1, "{proof:?}");
}

/// A rich flow that takes all of a link leaves nothing to one that would begin at a price a little lower.
#[test]
fn a_split_is_judged_by_a_flow_that_has_nothing_yet() {
    for part in [1e-2, 1e-5, 1e-8] {
        let begins_at_three = BandwidthFunction::new(&[3f64.powf(-0.2), 2.0], &[0.0, 2.0 * part], 5.0, 0.0).unwrap();
        let utilities: Vec<std::sync::Arc<dyn Utility>> =
            vec![std::sync::Arc::new(AlphaFair::new(1.0, 1.0 + part).unwrap()), std::sync::Arc::new(begins_at_three)];
        let paths = Paths::from_lists([[0], [1], [1]]);
        let problem = Problem::grouped(vec![1.0, part], paths, vec![0, 0, 1], utilities).unwrap();
        let proof = certify(&problem, &[1.0, part, 0.0], &[1.0, 3.0]).unwrap();
        assert!(proof.kkt_residual >= 0.5, "{part}: {proof:?}");
    }
}

proptest! {
    /// Flows without any bound are certified in columns, all others one by one: a flow with a cap, on a link of its own
    /// and too small to count, makes the same flows go the other way.
    #[test]
    fn certificates_in_columns_are_those_flow_by_flow(
        seed in 0u64..1000, alpha in 0.3f64..4.0, spread in 0.0f64..2.0, zero in 0usize..20,
    ) {
        let plain = leaf_spine(300, alpha, seed);
        let solution = solve_with(&plain, "fast-ned", 1e-3);
        let factor = |place: usize| (spread * (((place * 7919 + 13) % 101) as f64 / 50.0 - 1.0)).exp();
        let mut rates: Vec<f64> = solution.rates.iter().enumerate().map(|(flow, rate)| rate * factor(flow)).collect();
        let prices: Vec<f64> =
            solution.prices.iter().enumerate().map(|(link, price)| price * factor(link + 50)).collect();
        if zero < 3 {
            rates[zero] = 0.0;
        }
        let links = plain.links();
        let mut paths: Vec<Vec<u32>> = plain.paths().iter().map(<[u32]>::to_vec).collect();
        paths.push(vec![links as u32]);
        let mut capacities = plain.capacities().to_vec();
        capacities.push(capacities[0]);
        let cap = capacities[0] / 2.0;
        let spec = |flow: usize| { let (utility, place) = plain.utility(flow); utility.spec(place).unwrap() };
        let mut specs: Vec<_> = (0..plain.flows()).map(spec).collect();
        specs.push(specs[0].clone());
        specs[plain.flows()] = specs[0].clone().with("weight", 1e-12);
        let mut caps = vec![f64::INFINITY; plain.flows()];
        caps.push(cap);
        let capped = Problem::new(capacities, Paths::from_lists(paths), Utilities::Specs(specs))
            .unwrap()
            .with_rate_caps(caps)
            .unwrap();
        let one = certify(&plain, &rates, &prices).unwrap();
        let extended = |values: &[f64], last: f64| values.iter().copied().chain([last]).collect::<Vec<_>>();
        let other = certify(&capped, &extended(&rates, cap), &extended(&prices, 0.0)).unwrap();
        // The flow with the cap adds its own revenue of 1e-12 or less.
        // A rate of 0 is an infinite loss for α ≥ 1.
        for (found, expected) in [(other.relative_gap, one.relative_gap), (other.kkt_residual, one.kkt_residual)] {
            if expected.is_finite() { close(found, expected, 1e-6) } else { assert_eq!(found, expected) }
        }
    }
}

/// Flow 1 has what flow 0 leaves of link 0. Both links carry flow 0, and the others are worth next to nothing on the
/// second one: whatever they have there raises the rate of flow 1 as much, at any split of the price.
fn beside_flows_worth_little(many: usize) -> Problem {
    let little = || Arc::new(Linear::new(1e-3).unwrap()) as Arc<dyn Utility>;
    let utilities =
        [log(1.0), log(1e-8)].into_iter().chain(std::iter::repeat_with(little).take(many)).collect::<Vec<_>>();
    let paths = [[0, 1].as_slice(), &[0]].into_iter().chain(std::iter::repeat_n([1].as_slice(), many));
    Problem::new(vec![1.0, 1.0], Paths::from_lists(paths), utilities).unwrap()
}

#[test]
fn a_rate_that_should_be_none_is_compared_with_small_ones_elsewhere() {
    let problem = beside_flows_worth_little(1);
    let proof_of = |small: f64, prices: [f64; 2]| certify(&problem, &[1.0 - small, small, small], &prices).unwrap();
    let wrong = proof_of(2e-8, [0.5, 0.5 + 2e-8]);
    assert!(wrong.relative_gap < 1e-7 && wrong.kkt_residual > 0.5, "{wrong:?}");
    let right = proof_of(1e-8 / 0.999, [0.999, 1e-3]);
    assert!(right.relative_gap < 1e-7 && right.kkt_residual < 1e-6, "{right:?}");
}

#[test]
fn rates_that_should_be_none_add_up() {
    let problem = beside_flows_worth_little(20);
    // What each of them has is the part 5e-4 of the rate of flow 1.
    let (small, each) = (1e-8, 5e-12);
    let rates: Vec<f64> = [1.0 - small, small].into_iter().chain([each; 20]).collect();
    let wrong = certify(&problem, &rates, &[1.0 - 2e-3, 2e-3 + 1e-8]).unwrap();
    assert!(wrong.relative_gap < 1e-7 && wrong.kkt_residual > 9e-3, "{wrong:?}");
}

/// The price of link 1 is nothing to flow 0, and all that flow 1 pays: it has what flow 0 leaves idle on link 0.
#[test]
fn a_small_flow_counts_beside_one_that_pays_decades_more() {
    let utility = AlphaFair::new(vec![8.0, 1.0], vec![1e18f64.powf(0.125), 1.0]).unwrap();
    let problem = Problem::new(vec![1.0, 1.0], Paths::from_lists([[0, 1].as_slice(), &[1]]), utility).unwrap();
    let wrong = certify(&problem, &[1.0 - 1e-7, 1e-7], &[1e18 * (1.0 + 8e-7), 1e7]).unwrap();
    assert!(wrong.relative_gap < 1e-6 && wrong.kkt_residual > 0.5, "{wrong:?}");
}

/// A flow that would pay decades more than its cap lets it is held by the cap, also a little below it: what idles
/// beside it is not all of its rate. One that its weight makes as small does move.
#[test]
fn a_flow_just_below_its_cap_does_not_move() {
    let (small, idle) = (1e-8, 1e-10);
    let rates = [1.0 - small - idle, small * (1.0 - 1e-7)];
    let weighted = |weight| {
        let utility = AlphaFair::new(1.0, vec![1.0, weight]).unwrap();
        Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), utility).unwrap()
    };
    let capped = weighted(1.0).with_flow_caps(vec![f64::INFINITY, small]).unwrap();
    let held = certify(&capped, &rates, &[1.0 + small]).unwrap();
    assert!(held.kkt_residual < 1e-6, "{held:?}");
    let moving = certify(&weighted(small), &rates, &[1.0 + small]).unwrap();
    assert!(moving.kkt_residual > 9e-3, "{moving:?}");
}

/// What such a flow lacks on one link is what a small one has too much of on another.
#[test]
fn what_a_flow_lacks_below_its_cap_counts_on_its_other_links() {
    let (least, lack) = (1e-6, 0.999e-6);
    let utility = AlphaFair::new(1.0, vec![2.0, 10.0, least]).unwrap();
    let paths = Paths::from_lists([&[0, 1][..], &[0], &[1]]);
    let problem = Problem::new(vec![11.0, 1.0 + least], paths, utility).unwrap();
    let problem = problem.with_flow_caps(vec![1.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let wrong = certify(&problem, &[1.0 - lack, 10.0, least + lack], &[1.0, 0.5]).unwrap();
    assert!(wrong.relative_gap < 1e-6 && wrong.kkt_residual > 0.4, "{wrong:?}");
}

/// The same where the other link is full, too, and by what a hundred flows lack in all.
#[test]
fn what_many_flows_lack_below_their_caps_counts_together() {
    let (flows, least, lack) = (100, 1e-6, 1e-8);
    let all_lack = flows as f64 * lack;
    let paths = (0..flows).map(|_| &[0, 1][..]).chain([&[0][..], &[1]]);
    let utility = AlphaFair::new(1.0, [vec![2.0; flows], vec![10.0, least]].concat()).unwrap();
    let capacities = vec![flows as f64 + 10.0, flows as f64 + least];
    let problem = Problem::new(capacities, Paths::from_lists(paths), utility).unwrap();
    let problem = problem.with_flow_caps([vec![1.0; flows], vec![f64::INFINITY; 2]].concat()).unwrap();
    let rates = |lack: f64| {
        let others = [10.0 + flows as f64 * lack, least + flows as f64 * lack];
        [vec![1.0 - lack; flows], others.to_vec()].concat()
    };
    let wrong = certify(&problem, &rates(lack), &[10.0 / (10.0 + all_lack), least / (least + all_lack)]).unwrap();
    assert!(wrong.relative_gap < 1e-6 && wrong.kkt_residual > 0.4, "{wrong:?}");
    let right = certify(&problem, &rates(0.0), &[1.0, 1.0]).unwrap();
    assert!(right.kkt_residual < 1e-9, "{right:?}");
}

/// A flow at its cap has a path on each link. What idles on one link it could have there, and the small flow on the
/// other one would have that much more, at any price.
#[test]
fn idle_capacity_counts_where_the_split_of_a_held_flow_moves() {
    let (least, idle) = (1e-8, 1e-7);
    for price in [3e-3, 1e-9] {
        let utility = AlphaFair::new(1.0, vec![1.0, price * least]).unwrap();
        let paths = Paths::from_lists([[0], [1], [1]]);
        let problem = Problem::grouped(vec![0.5 + idle, 0.5 + least], paths, vec![0, 0, 1], utility).unwrap();
        let problem = problem.with_flow_caps(vec![1.0, f64::INFINITY]).unwrap();
        let wrong = certify(&problem, &[0.5, 0.5, least], &[price, price]).unwrap();
        assert!(wrong.relative_gap < 1e-6 && wrong.kkt_residual > 0.9, "{wrong:?}");
    }
}

fn log(weight: f64) -> Arc<dyn Utility> {
    Arc::new(AlphaFair::new(1.0, weight).unwrap())
}

/// U' falls from 1 to 1/4 at rate 1.
fn kinked() -> Arc<dyn Utility> {
    Arc::new(BandwidthFunction::new(&[0.0, 1.0, 4.0, 8.0], &[0.0, 1.0, 1.0, 5.0], 1.0, 0.0).unwrap())
}

fn accepts(certificate: Certificate) -> bool {
    certificate.relative_gap < 2e-6 && certificate.kkt_residual < 1e-3
}

/// Many flows that miss, each by little, the floors, caps or kinks that hold them: a small flow has it, or lacks it.
#[test]
fn what_many_flows_miss_of_a_bound_counts_together() {
    let (many, small) = (100, 1e-6);
    let beside = |others: Arc<dyn Utility>, weight: f64| {
        let utilities: Vec<_> = std::iter::repeat_n(others, many).chain([log(weight)]).collect();
        Problem::new(vec![many as f64 + small], Paths::from_lists(vec![[0]; many + 1]), utilities).unwrap()
    };
    let each = |rate: f64, last: f64| [vec![rate; many], vec![last]].concat();
    let miss = small / 2.0 / many as f64;
    let floored = beside(log(0.1), small).with_flow_floors(each(1.0, 0.0)).unwrap();
    assert!(!accepts(certify(&floored, &each(1.0 + miss, small / 2.0), &[2.0]).unwrap()));
    assert!(accepts(certify(&floored, &each(1.0, small), &[1.0]).unwrap()));
    let kinks = beside(kinked(), 0.8 * small);
    assert!(!accepts(certify(&kinks, &each(1.0 - 2.0 * miss, 2.0 * small), &[0.4]).unwrap()));
    assert!(accepts(certify(&kinks, &each(1.0, small), &[0.8]).unwrap()));
    let capped = beside(log(10.0), small).with_flow_caps(each(1.0, f64::INFINITY)).unwrap();
    assert!(!accepts(certify(&capped, &each(1.0 - 1e-7, small + 1e-5), &[small / (small + 1e-5)]).unwrap()));
    assert!(accepts(certify(&capped, &each(1.0, small), &[1.0]).unwrap()));
}

/// A flow whose path through the link carries nothing, or that has no room, does not have what others lack.
#[test]
fn a_rate_takes_and_gives_what_it_can() {
    let (many, miss, small) = (100, 5e-5, 1e-5);
    let has = small + miss;
    let utility = AlphaFair::new(1.0, [vec![3.0; many], vec![has, 1.0]].concat()).unwrap();
    let paths = Paths::from_lists([vec![[0]; many + 2], vec![[1]]].concat());
    let group = (0..many as u32 + 2).chain([many as u32 + 1]).collect();
    let problem = Problem::grouped(vec![many as f64 + small, 1.0], paths, group, utility).unwrap();
    let problem = problem.with_flow_caps([vec![1.0; many], vec![f64::INFINITY; 2]].concat()).unwrap();
    let rates = [vec![1.0 - miss / many as f64; many], vec![has, 0.0, 1.0]].concat();
    assert!(!accepts(certify(&problem, &rates, &[1.0, 1.0]).unwrap()));

    let small = 1e-4;
    let (linear, half): (Arc<dyn Utility>, f64) = (Arc::new(Linear::new(0.5).unwrap()), small / 2.0);
    let utilities: Vec<_> = std::iter::repeat_n(linear, many).chain([log(1.0005), log(half)]).collect();
    let problem = Problem::new(vec![many as f64 + 1.0 + small], Paths::from_lists(vec![[0]; many + 2]), utilities);
    let problem = problem.unwrap().with_flow_floors([vec![1.0; many], vec![0.0; 2]].concat()).unwrap();
    let problem = problem.with_flow_caps([vec![f64::INFINITY; many], vec![1.0, f64::INFINITY]].concat()).unwrap();
    let rates = [vec![1.0 + half / many as f64; many], vec![1.0 - 1e-10, half + 1e-10]].concat();
    assert!(!accepts(certify(&problem, &rates, &[1.0]).unwrap()));
}

/// What flows at their caps lack on one link, and what idles there, a small flow has or lacks on another one, by way of
/// the splits of flows that are held: one, or two in a row.
#[test]
fn splits_of_held_flows_pass_on_what_is_misplaced() {
    let (many, small) = (10, 1e-6);
    let utility = AlphaFair::new(1.0, [vec![2.0; many], vec![1.0, small]].concat()).unwrap();
    let paths = Paths::from_lists([vec![[0]; many + 1], vec![[1]; 2]].concat());
    let last = many as u32;
    let group = (0..last).chain([last, last, last + 1]).collect();
    let problem = Problem::grouped(vec![many as f64 + 0.5, 0.5 + small], paths, group, utility).unwrap();
    let problem = problem.with_flow_caps([vec![1.0; many + 1], vec![f64::INFINITY]].concat()).unwrap();
    let rates = |miss: f64| [vec![1.0 - miss / many as f64; many], vec![0.5 + miss, 0.5 - miss, small + miss]].concat();
    assert!(!accepts(certify(&problem, &rates(small), &[0.5, 0.5]).unwrap()));
    assert!(accepts(certify(&problem, &rates(0.0), &[1.0, 1.0]).unwrap()));

    let (small, idle) = (1e-8, 1e-7);
    for price in [3e-3, 1e-9] {
        let utility = AlphaFair::new(1.0, vec![1.0, 1.0, price * small]).unwrap();
        let paths = Paths::from_lists([[0], [1], [1], [2], [2]]);
        let problem =
            Problem::grouped(vec![0.5 + idle, 1.0, 0.5 + small], paths, vec![0, 0, 1, 1, 2], utility).unwrap();
        let problem = problem.with_flow_caps(vec![1.0, 1.0, f64::INFINITY]).unwrap();
        assert!(!accepts(certify(&problem, &[0.5, 0.5, 0.5, 0.5, small], &[price; 3]).unwrap()));
        let right = [0.5 + idle, 0.5 - idle, 0.5 + idle, 0.5 - idle, small + idle];
        assert!(accepts(certify(&problem, &right, &[price * small / (small + idle); 3]).unwrap()));
    }
}

/// A linear flow has what others lack: the small one beside it has its own.
#[test]
fn a_linear_flow_takes_what_others_lack() {
    let (many, small, lack) = (100, 1e-6, 1e-8);
    let linear: Arc<dyn Utility> = Arc::new(Linear::new(1.0).unwrap());
    let utilities: Vec<_> = std::iter::repeat_n(log(2.0), many).chain([linear, log(small)]).collect();
    let problem = Problem::new(vec![many as f64 + 1.0 + small], Paths::from_lists(vec![[0]; many + 2]), utilities);
    let problem = problem.unwrap().with_flow_caps([vec![1.0; many], vec![f64::INFINITY; 2]].concat()).unwrap();
    let rates = [vec![1.0 - lack; many], vec![1.0 + many as f64 * lack, small]].concat();
    let right = certify(&problem, &rates, &[1.0]).unwrap();
    assert!(accepts(right), "{right:?}");
}

/// What a flow just below its saturation lacks is a part of what it has there: U' is 0 beyond, and not at it.
#[test]
fn a_flow_below_its_saturation_is_judged_by_itself() {
    let saturating = |bandwidth: f64| -> Arc<dyn Utility> {
        Arc::new(BandwidthFunction::new(&[0.0, 1.0], &[0.0, bandwidth], 0.5, 0.0).unwrap())
    };
    let utilities = vec![saturating(1.0), saturating(1e-3)];
    let problem = Problem::new(vec![2.0, 1.0], Paths::from_lists([[0], [1]]), utilities).unwrap();
    let certificate = certify(&problem, &[1.0, 1e-3 * (1.0 - 1e-4)], &[0.0, 0.0]).unwrap();
    assert!((certificate.relative_gap - 1e-4).abs() < 1e-6, "{certificate:?}");
}
