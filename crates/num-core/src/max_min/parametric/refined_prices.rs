//! Prices brought to rounding, each of them, however small it is beside the others.
//!
//! ```text
//! π ← π + (what π(e) − π(k_f) is to be, less what it is)ᵀ W⁻¹        for the extra paths e of the basis
//! ```
//!
//! The differences are summed beyond doubles. Where paths use links differently, prices are products of many ratios,
//! and W⁻¹ has entries of 10¹²: what is lost in it would be all that light flows pay.

use super::FixedRows;
use crate::double_double::DoubleDouble;
use crate::max_min::basis::Basis;
use crate::max_min::network::Network;
use crate::max_min::tolerances::REFINEMENTS;

/// How much more one path costs than another, beyond doubles, and the sum of the sizes of its terms.
fn above(network: &Network, prices: &[f64], path: u32, other: u32) -> (f64, f64) {
    let (mut above, mut terms) = (DoubleDouble::default(), 0.0);
    for (path, sign) in [(path, 1.0), (other, -1.0)] {
        for (link, a) in network.paths.row(path as usize).entries() {
            let price = prices[link as usize];
            if price != 0.0 {
                above.add_product(sign * a, price);
                terms += a * price.abs();
            }
        }
    }
    (above.value(), terms)
}

/// Changes the prices of full links until every extra path costs so much more than another path of its flow as
/// `wanted` says, by its column: that path, and how much more; none where it may cost what it does. Returns the
/// operations done.
pub(super) fn refine(
    network: &Network,
    basis: &Basis,
    prices: &mut [f64],
    wanted: impl Fn(usize, u32) -> Option<(u32, f64)>,
) -> usize {
    let mut work = 0;
    for _ in 0..REFINEMENTS {
        let mut missing = Vec::new();
        for (column, &path) in basis.paths.iter().enumerate() {
            let Some((other, wanted)) = wanted(column, path) else { continue };
            let (above, terms) = above(network, prices, path, other);
            if (wanted - above).abs() > 2.0 * f64::EPSILON * (terms + wanted) {
                missing.push((column as u32, wanted - above));
            }
        }
        work += 16 * basis.len();
        if missing.is_empty() {
            break;
        }
        let change = basis.combine(&missing);
        basis.links.iter().zip(change).for_each(|(&link, change)| prices[link as usize] += change);
        work += basis.nonzeros();
    }
    work
}

/// Brings the prices of a sum of cuts to rounding: the paths of a flow that may carry, those that are not fixed at 0,
/// cost the same. Returns the operations done.
pub(super) fn balance(network: &Network, basis: &Basis, fixed: &FixedRows, prices: &mut Vec<(u32, f64)>) -> usize {
    let mut dense = vec![0.0; network.capacities.len()];
    prices.iter().for_each(|&(link, price)| dense[link as usize] = price);
    let may_carry = |path: &u32| !fixed.paths[*path as usize];
    let work = refine(network, basis, &mut dense, |_, path| {
        let flow = network.owners[path as usize] as usize;
        let of_flow = std::iter::once(&basis.keys[flow]).chain(&basis.extras[flow]);
        let other = of_flow.copied().find(may_carry).filter(|&other| other != path && may_carry(&path));
        other.map(|other| (other, 0.0))
    });
    *prices = (0u32..).zip(dense).filter(|(_, price)| *price != 0.0).collect();
    work
}
