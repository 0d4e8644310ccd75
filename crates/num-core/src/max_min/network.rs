//! The problem of max-min over several paths: the open paths of every flow, in a unit in which no sum overflows.
//!
//! Links are in units in which their largest coefficient is 1, as after presolve. A path whose cap is below what its
//! links could carry has one more link, which it alone crosses, with the cap as capacity. The caps of flows are the
//! ends of their curves (`rising_rates.rs`).

use super::curves::Curves;
use super::tolerances::GIVES_WAY;
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::normalize::{FNorm, relative};
use crate::paths::Paths;
use crate::presolve::{link_units, open_paths};
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
    /// How much of each of the problem's links is 1 here, but for the unit of rates; empty where all are the caller's.
    link_units: Vec<f64>,
    /// The links of every open path, the paths of a flow one after the other.
    pub(super) paths: Paths,
    /// The paths of flow `f` are `flow_paths[f]..flow_paths[f + 1]`.
    pub(super) flow_paths: Vec<usize>,
    /// The flow of every path, and its number in the problem.
    pub(super) owners: Vec<u32>,
    original: Vec<u32>,
    total: usize,
    /// The most that every path can carry, its cap included.
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
        let alone = Ranks::alone();
        let open = open_paths(problem)?;
        let count = open.indices().len();
        let paths = problem.paths().select(open.indices(), None, &alone)?;
        let mut link_units = link_units(&paths, problem.links(), &alone)?;
        // No open path crosses it.
        link_units.iter_mut().filter(|unit| **unit == 0.0).for_each(|unit| *unit = 1.0);
        let paths = paths.divided(&link_units);
        let mut capacities = problem.capacities().to_vec();
        capacities.iter_mut().zip(&link_units).for_each(|(capacity, unit)| *capacity /= unit);
        let unit = power_of_two(capacities.iter().copied().fold(0.0, f64::max));
        capacities.iter_mut().for_each(|capacity| *capacity /= unit);
        let (mut owners, mut ceilings) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut widths = Vec::with_capacity(problem.flows());
        let (mut of_caps, mut pacer) = (Vec::with_capacity(count), Pacer::new());
        for (flow, of_flow) in open.iter().enumerate() {
            for &path in of_flow {
                let row = paths.row(ceilings.len());
                pacer.did(row.links().len())?;
                let narrowest = row.narrowest(&capacities[..problem.links()]);
                let cap = problem.rate_cap(path as usize) / unit;
                of_caps.push((cap < narrowest).then_some(capacities.len() as u32));
                if cap < narrowest {
                    capacities.push(cap);
                }
                owners.push(flow as u32);
                ceilings.push(narrowest.min(cap));
            }
            let together: f64 = ceilings[ceilings.len() - of_flow.len()..].iter().sum();
            widths.push(together.min(problem.flow_cap(flow) / unit));
        }
        let paths = if capacities.len() > problem.links() { paths.extended(&of_caps) } else { paths };
        let mut curves = Curves::new(unit);
        shares.iter().zip(&widths).for_each(|(share, width)| curves.push(share, (width * unit).min(f64::MAX)));
        Ok(Self {
            unit,
            capacities,
            link_units,
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

    /// Feasible rates of the open paths, from any. `through` lists the paths of every link.
    pub(super) fn feasible(&self, through: &Paths, mut rates: Vec<f64>) -> Vec<f64> {
        let cut = |rates: &mut [f64]| {
            for (rate, &ceiling) in rates.iter_mut().zip(&self.ceilings) {
                // Not clamp, which lets NaN pass.
                *rate = if *rate > 0.0 { rate.min(ceiling) } else { 0.0 };
            }
        };
        cut(&mut rates);
        // What thousands of flows are scaled by for rounding is more than what proves the levels of small ones: loads
        // are summed beyond doubles, and the path of the largest rate gives way to rounding alone.
        let mut loads = vec![DoubleDouble::default(); self.capacities.len()];
        for (path, &rate) in rates.iter().enumerate() {
            self.paths.row(path).entries().for_each(|(link, a)| loads[link as usize].add_product(a, rate));
        }
        for (link, &capacity) in self.capacities.iter().enumerate() {
            let mut over = loads[link];
            over.add(-capacity);
            let over = over.value();
            if over <= 0.0 || over > GIVES_WAY * capacity {
                continue;
            }
            let larger =
                |one: &(u32, f64), other: &(u32, f64)| rates[one.0 as usize].total_cmp(&rates[other.0 as usize]);
            let Some((path, a)) = through.row(link).entries().max_by(larger) else { continue };
            let before = rates[path as usize];
            rates[path as usize] = (before - over / a).max(0.0);
            let less = rates[path as usize] - before;
            self.paths.row(path as usize).entries().for_each(|(link, a)| loads[link as usize].add_product(a, less));
        }
        let loads = relative(loads.into_iter().map(DoubleDouble::value).collect(), &self.capacities);
        for (path, rate) in rates.iter_mut().enumerate() {
            *rate = FNorm::default().divided(*rate, self.paths.row(path).largest(&loads));
        }
        cut(&mut rates);
        rates
    }

    /// What a unit of a problem's link is worth there, from what it is worth here.
    pub(super) fn caller_price(&self, link: u32, price: f64) -> f64 {
        price / self.link_units.get(link as usize).copied().unwrap_or(1.0)
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
