//! Marginals many decades apart: prices of the rich flows are far below the rounding of those of the poor.

use netnum_core::*;
use proptest::prelude::*;

/// Flow 0 over A and B or over A' and B', flow 1 over A or A'; flow 2 has the rest of B, flow 3 that of B'. A and A'
/// have capacity 1: flows 0 and 1 get 1 each, and the split of flow 0 is what makes flows 2 and 3 equal.
fn two_scales(alpha: f64, wide: [f64; 2]) -> Problem {
    let paths = Paths::from_lists([vec![0, 2], vec![1, 3], vec![0], vec![1], vec![2], vec![3]]);
    let utility = AlphaFair::new(alpha, 1.0).unwrap();
    Problem::grouped(vec![1.0, 1.0, wide[0], wide[1]], paths, vec![0, 0, 1, 1, 2, 3], utility).unwrap()
}

/// Rates where flow 0 sends this part over A and B, and prices at which every flow asks for its rate.
fn point(alpha: f64, wide: [f64; 2], part: f64) -> (Vec<f64>, Vec<f64>) {
    let rich = [wide[0] - part, wide[1] - (1.0 - part)];
    let rates = vec![part, 1.0 - part, 1.0 - part, part, rich[0], rich[1]];
    (rates, vec![1.0, 1.0, rich[0].powf(-alpha), rich[1].powf(-alpha)])
}

/// α, and capacities of B and B' that make the prices of these so many decades smaller than those of A and A'.
fn scales(decades: std::ops::Range<f64>) -> impl Strategy<Value = (f64, [f64; 2])> {
    let alpha = 4.0f64..10.0;
    (alpha, decades, -0.9f64..0.9).prop_map(|(alpha, decades, more)| {
        let wide = 10f64.powf(decades / alpha);
        (alpha, [wide, wide + more])
    })
}

/// By how much the rates of all flows are off at most, relative.
fn error(solution: &Solution, wide: [f64; 2]) -> f64 {
    let rich = 0.5 * (wide[0] + wide[1] - 1.0);
    let off = solution.flow_rates.iter().zip([1.0, 1.0, rich, rich]).map(|(rate, right)| (rate / right - 1.0).abs());
    off.fold(0.0, f64::max)
}

proptest! {
    /// A certificate says no better than how far the rates are off.
    #[test]
    fn a_split_that_is_wrong_by_the_scale_of_the_rich_is_not_proven(
        (alpha, wide) in scales(14.0..40.0),
        off in prop_oneof![-0.9f64..-0.1, 0.1f64..0.9],
        shift in -4i32..4,
    ) {
        let best = 0.5 * (1.0 + wide[0] - wide[1]);
        // A residual is no more than the part of a flow on its dearer path, and no error here exceeds 0.9/25.
        let part = (best + off).clamp(0.05, 0.95);
        let error = (part - best).abs() / wide[0];
        let (rates, mut prices) = point(alpha, wide, part);
        prices[0] *= 1.0 + f64::from(shift) * f64::EPSILON;
        let certificate = certify(&two_scales(alpha, wide), &rates, &prices).unwrap();
        prop_assert!(certificate.kkt_residual >= error, "{:?}, rates off by {error:e}", certificate);
    }

    /// Where floats hold the prices of the rich beside those of the poor, but not the differences that split a flow.
    #[test]
    fn rates_of_the_rich_are_found_many_decades_of_price_below_those_of_the_poor(
        (alpha, wide) in scales(8.0..26.0),
    ) {
        for method in ["auto", "interior-point"] {
            let solution = solve(&two_scales(alpha, wide), &Ask::by(method)).unwrap();
            prop_assert_eq!(solution.status, Status::Optimal, "{}", solution);
            let (error, residual) = (error(&solution, wide), solution.certificate.kkt_residual);
            prop_assert!(error <= (3.0 * residual).max(1e-3), "off by {error:e}, {solution}");
        }
    }

    /// What cannot be proven ends as stalled, and never as optimal with other rates.
    #[test]
    fn optimal_rates_of_the_rich_are_right((alpha, wide) in scales(13.0..40.0)) {
        let solution = solve(&two_scales(alpha, wide), &Ask::default()).unwrap();
        let (error, residual) = (error(&solution, wide), solution.certificate.kkt_residual);
        let is_right = error <= (3.0 * residual).max(1e-3);
        prop_assert!(is_right || solution.status != Status::Optimal, "off by {error:e}, {solution}");
    }

    /// Marginals of all scales, on links that flows of many scales cross.
    #[test]
    fn rates_are_proven_where_marginals_span_twenty_decades(
        seed in 0u64..1 << 40,
        family in 0..3,
        (links, flows) in (8usize..30, 20usize..80),
    ) {
        let problem = many_scales(seed, family, links, flows);
        let solution = solve(&problem, &Ask::default()).unwrap();
        prop_assert_eq!(solution.status, Status::Optimal, "{}", solution);
        let certificate = certify(&problem, &solution.rates, &solution.prices).unwrap();
        prop_assert!(certificate.kkt_residual <= 1e-3, "{:?}", certificate);
    }
}

/// Flows with two to four paths of two to five links, and weights over three decades.
fn many_scales(seed: u64, family: i32, links: usize, flows: usize) -> Problem {
    let mut state = seed;
    let mut uniform = move || {
        // Knuth's linear congruential generator, its high bits.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut lists, mut group, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for flow in 0..flows {
        weights.push(10f64.powf(3.0 * uniform() - 1.5));
        for _ in 0..2 + (3.0 * uniform()) as u32 {
            let mut path: Vec<u32> = (0..links as u32).collect();
            path.sort_by_cached_key(|_| (uniform() * 1e9) as u64);
            path.truncate(2 + (4.0 * uniform()) as usize);
            lists.push(path);
            group.push(flow as u32);
        }
    }
    let capacities = vec![1.0; links];
    let paths = Paths::from_lists(lists);
    match family {
        0 => Problem::grouped(capacities, paths, group, AlphaFair::new(8.0, weights).unwrap()),
        1 => Problem::grouped(capacities, paths, group, AlphaFair::new(5.0, weights).unwrap()),
        _ => Problem::grouped(capacities, paths, group, MinFct::new(weights, 0.125).unwrap()),
    }
    .unwrap()
}
