//! Rates made feasible, with their prices: the point that a certificate is about.

use std::cell::OnceCell;

use super::Certificate;
use super::numerical_saturation::NumericalSaturation;
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::normalize::{FNorm, relative, relative_loads};
use crate::presolve::Presolved;

/// Rates made feasible by F-NORM, with their prices, and what goes with them.
pub(crate) struct FeasiblePoint<'a> {
    pub(super) problem: &'a Presolved,
    pub(super) prices: &'a [f64],
    /// By how much the fullest link was over its capacity before; 0 if none was.
    pub(crate) overload: f64,
    /// q_p of every path.
    pub(super) path_prices: Vec<f64>,
    /// x̂_p of every path, ŷ_f of every flow.
    pub(crate) rates: Vec<f64>,
    pub(crate) flow_rates: Vec<f64>,
    /// load/c of every link under x̂.
    pub(crate) relative_loads: Vec<f64>,
    /// [`numerical_saturation`](Self::numerical_saturation), once it was found.
    pub(super) numerical_saturation: OnceCell<Vec<NumericalSaturation>>,
}

impl<'a> FeasiblePoint<'a> {
    /// Two passes over the paths. Rates and prices are as they were found; the caps are imposed here.
    ///
    /// # Errors
    /// [`Error::Stopped`], as everything here that passes over all flows.
    pub(crate) fn new(problem: &'a Presolved, raw_rates: &[f64], prices: &'a [f64]) -> Result<Self> {
        let mut rates: Vec<f64> =
            raw_rates.iter().zip(&problem.caps).map(|(&rate, &cap)| if rate > cap { cap } else { rate }).collect();
        problem.cut_to_flow_caps(&mut rates);
        interrupt::check()?;
        let mut loads = relative_loads(&problem.capacities, &problem.paths, rates.iter().copied());
        interrupt::check()?;
        let overload = most_over_one(&loads);
        // [price, load/c] of every link, side by side: every path reads both.
        let quoted: Vec<[f64; 2]> = prices.iter().zip(&loads).map(|(&price, &load)| [price, load]).collect();
        let mut path_prices = Vec::with_capacity(rates.len());
        let mut normalized = vec![0.0; if overload > 0.0 { loads.len() } else { 0 }];
        let mut pacer = Pacer::new();
        for (links, rate) in problem.paths.iter().zip(&mut rates) {
            pacer.did(links.len())?;
            let (mut sum, mut fullest) = (0.0, 0.0);
            for &link in links {
                let [price, load] = quoted[link as usize];
                sum += price;
                fullest = if load > fullest { load } else { fullest };
            }
            path_prices.push(sum);
            if overload > 0.0 {
                *rate = FNorm::default().divided(*rate, fullest);
                for &link in links {
                    normalized[link as usize] += *rate;
                }
            }
        }
        if overload > 0.0 {
            loads = relative(normalized, &problem.capacities);
        }
        let flow_rates = problem.flow_totals(&rates);
        Ok(Self {
            problem,
            prices,
            overload,
            path_prices,
            rates,
            flow_rates,
            relative_loads: loads,
            numerical_saturation: OnceCell::new(),
        })
    }

    /// The proof for x̂ and the prices, with the overload that the rates had before.
    pub(crate) fn certificate(&self, overload: f64) -> Result<Certificate> {
        let kkt_residual = self.kkt_residual()?.max(overload);
        Ok(Certificate { relative_gap: self.relative_gap()?, overload, kkt_residual })
    }

    /// By how much x̂ is over a capacity, at most: rounding.
    pub(crate) fn overload_left(&self) -> f64 {
        most_over_one(&self.relative_loads)
    }
}

/// max(v) − 1, at least 0.
fn most_over_one(values: &[f64]) -> f64 {
    (values.iter().copied().fold(0.0, f64::max) - 1.0).max(0.0)
}
