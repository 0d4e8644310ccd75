//! The problem of max-min over several paths: the open paths of every flow, in a unit in which no sum overflows.
//!
//! A path whose cap is below the capacities of its links has one more link, which it alone crosses, with the cap as
//! capacity. The caps of flows are the ends of their curves (`rising_rates.rs`).

use super::curves::Curves;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::normalize::{FNorm, Normalizer};
use crate::paths::Paths;
use crate::presolve::open_paths;
use crate::problem::Problem;
use crate::utility::FairShare;
use crate::water_fill::power_of_two;
use crate::work::Ranks;

#[derive(Debug)]
pub(super) struct Network {
    /// The caller's rate that is 1 here.
    pub(super) unit: f64,
    /// Of the problem's links, and of those that stand for caps.
    pub(super) capacities: Vec<f64>,
    /// The links of every open path, the paths of a flow one after the other.
    pub(super) paths: Paths,
    /// The paths of flow `f` are `flow_paths[f]..flow_paths[f + 1]`.
    pub(super) flow_paths: Vec<usize>,
    /// The flow of every path, and its number in the problem.
    pub(super) owners: Vec<u32>,
    original: Vec<u32>,
    total: usize,
    /// The smallest capacity on every path, its cap included.
    pub(super) ceilings: Vec<f64>,
    /// The sum of the ceilings of every flow's paths, or its cap.
    pub(super) widths: Vec<f64>,
    /// The fair share of every flow, at most its width.
    pub(super) curves: Curves,
}

impl Network {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(problem: &Problem, shares: &[FairShare]) -> Result<Self> {
        let problem = &*problem.limited(&Ranks::alone())?;
        let unit = power_of_two(problem.capacities().iter().copied().fold(0.0, f64::max));
        let mut capacities: Vec<f64> = problem.capacities().iter().map(|capacity| capacity / unit).collect();
        let open = open_paths(problem)?;
        let count = open.indices().len();
        let mut paths = Paths::with_capacity(count, problem.paths().indices().len());
        let (mut owners, mut ceilings) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut links, mut pacer) = (Vec::new(), Pacer::new());
        let mut widths = Vec::with_capacity(problem.flows());
        for (flow, of_flow) in open.iter().enumerate() {
            for &path in of_flow {
                links.clear();
                links.extend_from_slice(problem.paths().links(path as usize));
                let narrowest = problem.paths().row(path as usize).narrowest(&capacities);
                let cap = problem.rate_cap(path as usize) / unit;
                if cap < narrowest {
                    links.push(capacities.len() as u32);
                    capacities.push(cap);
                }
                paths.push(&links);
                owners.push(flow as u32);
                ceilings.push(narrowest.min(cap));
                pacer.did(links.len())?;
            }
            let together: f64 = ceilings[ceilings.len() - of_flow.len()..].iter().sum();
            widths.push(together.min(problem.flow_cap(flow) / unit));
        }
        let mut curves = Curves::new(unit);
        shares.iter().zip(&widths).for_each(|(share, width)| curves.push(share, (width * unit).min(f64::MAX)));
        Ok(Self {
            unit,
            capacities,
            paths,
            flow_paths: open.indptr().to_vec(),
            owners,
            original: open.indices().to_vec(),
            total: problem.paths().len(),
            ceilings,
            widths,
            curves,
        })
    }

    pub(super) fn flows(&self) -> usize {
        self.flow_paths.len() - 1
    }

    /// The numbers of the open paths in the problem.
    pub(super) fn open(&self) -> &[u32] {
        &self.original
    }

    /// The open paths of a flow.
    pub(super) fn paths_of(&self, flow: usize) -> std::ops::Range<usize> {
        self.flow_paths[flow]..self.flow_paths[flow + 1]
    }

    /// Feasible rates of the open paths, from any.
    pub(super) fn feasible(&self, mut rates: Vec<f64>) -> Vec<f64> {
        let cut = |rates: &mut [f64]| {
            for (rate, &ceiling) in rates.iter_mut().zip(&self.ceilings) {
                // Not clamp, which lets NaN pass.
                *rate = if *rate > 0.0 { rate.min(ceiling) } else { 0.0 };
            }
        };
        cut(&mut rates);
        FNorm::default().normalize(&self.capacities, &self.paths, &mut rates);
        cut(&mut rates);
        rates
    }

    /// Rates of all paths of the problem, in its units, from those of the open ones.
    pub(super) fn caller_rates(&self, rates: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total];
        self.original.iter().zip(rates).for_each(|(&path, rate)| all[path as usize] = rate * self.unit);
        all
    }

    /// Rates of the open paths, from those of all paths of the problem in its units.
    pub(super) fn own_rates(&self, rates: &[f64]) -> Vec<f64> {
        self.original.iter().map(|&path| rates[path as usize] / self.unit).collect()
    }
}
