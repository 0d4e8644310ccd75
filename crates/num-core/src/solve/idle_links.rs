//! Prices of links that stay idle: 0, but for what a barrier or a step of prices has left of them.
//!
//! ```text
//! p_l = 0        where 1 − load_l/c_l > p_l c_l / Σ_m p_m c_m
//! ```
//!
//! Idle capacity and price vanish together at an optimum, the smaller one first. A flow that pays next to nothing, as
//! one that is held by its floor beside others, takes such prices for real ones, which say that its split is wrong.

use crate::certificate::FeasiblePoint;
use crate::presolve::Presolved;

/// The prices of a point with those of idle links at 0; none where they are already.
pub(super) fn without_their_prices(presolved: &Presolved, point: &FeasiblePoint<'_>) -> Option<Vec<f64>> {
    let worths = || point.prices.iter().zip(&presolved.capacities).map(|(price, capacity)| price * capacity);
    let all: f64 = worths().sum();
    let links = point.prices.iter().zip(&point.relative_loads).zip(worths());
    let prices = links.map(|((&price, load), worth)| if (1.0 - load) * all > worth { 0.0 } else { price });
    Some(prices.collect()).filter(|prices| *prices != point.prices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Paths, Problem};

    #[test]
    fn links_that_idle_cost_nothing_and_full_ones_keep_the_smallest_price() {
        let paths = Paths::from_lists([[0], [1], [2]]);
        let problem = Problem::new(vec![1.0, 4.0, 1.0], paths, AlphaFair::proportional()).unwrap();
        let presolved = Presolved::new(&problem).unwrap();
        let (rates, prices) = (presolved.natural_rates(&[1.0; 3]), [1.0, 1e-9, 1e-12]);
        let point = FeasiblePoint::new(&presolved, &rates, &prices).unwrap();
        let prices = without_their_prices(&presolved, &point).unwrap();
        assert_eq!(prices, [1.0, 0.0, 1e-12]);
        let point = FeasiblePoint::new(&presolved, &rates, &prices).unwrap();
        assert_eq!(without_their_prices(&presolved, &point), None);
    }
}
