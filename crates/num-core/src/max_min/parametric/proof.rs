//! Proofs of levels: inequalities that hold for all feasible rates, whatever was fixed before.
//!
//! ```text
//! Σ λ_f y_f ≤ π·c       π ≥ 0,  λ_f = min π(p) over all open paths of f,  full at the present rates
//! ```
//!
//! The inequality of a cut is its row with multiples of earlier ones (`cut_sums.rs`). Where these are some 10⁸ times as
//! large as what the flows that it fixes have in it, these flows are rounding in the sum. Then they try once more to
//! rise, alone, from the present basis, in which every column may enter again and every row leave. Those pivots are
//! degenerate, as nothing can rise, and the row at which they end holds alone.

use std::sync::Arc;

use super::{Event, Parametric};
use crate::double_double::DoubleDouble;
use crate::max_min::network::Network;
use crate::max_min::rising_rates::RisingRates;
use crate::max_min::tolerances::{NEGLIGIBLE, OFTEN, PROOF_PIVOTS, SMALL};
use crate::max_min::witness::Inequality;

impl Parametric {
    /// Inequalities that keep flows, which can rise no more, at their present rates; not for all where rounding is in
    /// the way. Returns the operations done besides.
    pub(super) fn prove(&self, network: &Network, flows: &[u32]) -> (Vec<Inequality>, usize) {
        let mut prover = self.prover(network, flows);
        let (mut proofs, mut path_prices) = (Vec::new(), vec![0.0; network.paths.len()]);
        for pivot in 0..PROOF_PIVOTS {
            if prover.flow_rates.rising() == 0 || pivot % OFTEN == 0 && !prover.basis.refine(network) {
                break;
            }
            match prover.iterate(network) {
                Event::Went => {}
                Event::Broken => break,
                Event::Full(_) => {
                    let prices: Vec<(u32, f64)> = prover.row.priced().collect();
                    let proof = Inequality::of_prices(network, &prover.crossing, &prices, &mut path_prices);
                    let held = held_by(network, &prover.flow_rates, &proof);
                    proofs.push(proof);
                    if held.is_empty() {
                        break;
                    }
                    held.into_iter()
                        .for_each(|flow| prover.stop(network, flow, DoubleDouble::new(prover.flow_rates.above())));
                }
            }
        }
        (proofs, prover.work)
    }

    /// At the present basis and rates, from which some flows try to rise and no others.
    fn prover(&self, network: &Network, flows: &[u32]) -> Self {
        let mut flow_rates = self.flow_rates.clone();
        let mut rises = vec![false; network.flows()];
        flows.iter().for_each(|&flow| rises[flow as usize] = true);
        let above = flow_rates.above();
        (0..rises.len()).filter(|&flow| !rises[flow]).for_each(|flow| flow_rates.hold(flow, above));
        let mut prover = Self::at(network, flow_rates, self.basis.clone(), Arc::clone(&self.crossing));
        prover.stands = true;
        prover.rates.clone_from(&self.rates);
        prover.slacks.clone_from(&self.slacks);
        for &flow in flows {
            prover.add_slope(network, flow as usize, prover.flow_rates.slope(flow as usize));
        }
        prover
    }
}

/// The flows that rise and that an inequality, which is full at the present rates, holds: those whose part in it is not
/// rounding.
pub(super) fn held_by(network: &Network, flow_rates: &RisingRates, proof: &Inequality) -> Vec<u32> {
    let least = SMALL * proof.worth(network);
    let is_held = |&(flow, factor): &(u32, f64)| {
        let rate = flow_rates.rate(flow as usize).max(NEGLIGIBLE * network.widths[flow as usize]);
        flow_rates.slope(flow as usize) > 0.0 && factor * rate >= least
    };
    proof.factors.iter().copied().filter(is_held).map(|(flow, _)| flow).collect()
}
