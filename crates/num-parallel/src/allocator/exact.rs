//! Ticks that end with a proof of their relative gap in utility, not of single rates: iterations until it is certified,
//! from where the last tick left prices and shares, or a solve where these are too slow.
//!
//! ```text
//! tick      iterate 4, 8, 16, … times, and certify after each         gap ≤ tolerance: done
//!           after 512 iterations: solve from these prices             rates, shares and prices are the solution's
//! ```
//!
//! A certificate costs ten iterations and more, hence the doubling, and there is none where the links' own estimate of
//! the gap is far above the tolerance. Where little has changed since the last tick a few iterations do; where much
//! has, the solve costs what it costs alone, and the iterations before it are a small part.

use std::convert::Infallible;

use netnum_core::internal::interrupt;
use netnum_core::{
    AlphaFair, Ask, Certificate, Normalization, PowerLaw, Problem, Result, Settings, Status, Stop, certify, solve,
};

use super::Allocator;
use super::flow_table::FlowId;
use super::path::{Collected, Path};

/// Iterations before the first certificate of a tick, and before a solve.
const FIRST: usize = 4;
const MOST: usize = 512;
/// Up to so many iterations there is no certificate where the estimate is beyond so many times the tolerance.
const PATIENCE: usize = 64;
const HOPEFUL: f64 = 2.0;

/// The flows of this moment as a problem, with their ids in the same order.
struct Posed {
    problem: Problem,
    ids: Vec<FlowId>,
}

impl Allocator {
    /// A tick to this relative gap.
    pub(super) fn tick_to(&mut self, tol: f64) -> Result<()> {
        let normalizer = self.settings.normalizer.unwrap_or(Normalization::FNorm);
        // A tick that is stopped leaves no proof of other rates.
        self.certificate = None;
        if self.engine.flows() == 0 {
            return self.engine.step();
        }
        let Posed { problem, ids } = self.posed()?;
        let (mut done, mut next) = (0, FIRST);
        while done < MOST {
            while done < next {
                interrupt::check()?;
                self.engine.step()?;
                done += 1;
            }
            next *= 2;
            if done < PATIENCE && self.engine.links.gap_estimate() > HOPEFUL * tol {
                continue;
            }
            self.engine.normalize(normalizer);
            let mut rates = Vec::with_capacity(problem.paths().len());
            for &id in &ids {
                rates.extend(self.engine.path_rates(id)?.into_iter().map(|[_, feasible]| feasible));
            }
            let certificate = certify(&problem, &rates, self.engine.links.prices())?;
            let is_proven = certificate.relative_gap <= tol;
            self.certificate = Some(certificate);
            if is_proven {
                return Ok(());
            }
        }
        let ask = Ask::default().with_prices(self.engine.links.prices().to_vec());
        let solution = solve(&problem, &ask.with_settings(Settings::default().with_tol(tol).with_stop(Stop::Gap)))?;
        if solution.status == Status::Infeasible {
            // Links have failed or lost capacity: what the last iteration left keeps floors in proportion.
            return Ok(());
        }
        let mut rates = solution.rates.iter().copied();
        for id in ids {
            let paths = self.engine.path_rates(id)?.len();
            self.engine.set_path_rates(id, &rates.by_ref().take(paths).collect::<Vec<_>>());
        }
        for (link, &price) in (0..).zip(&solution.prices) {
            self.engine.links.set_price(link, price)?;
        }
        self.certificate = Some(solution.certificate);
        Ok(())
    }

    /// How good the rates of the last tick are, where ticks are [exact](super::AllocatorSettings::exact) and there were
    /// flows. Its gap is above the tolerance where floors do not fit, since links have failed, and where a solve does
    /// not come to it either, as to a gap of rounding. None after a [response](Allocator::respond), whose rates are not
    /// proven, and after a tick that was stopped between two iterations.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// # Errors
    /// Those of [`Problem`], and [`Error::Stopped`](netnum_core::Error::Stopped).
    fn posed(&self) -> Result<Posed> {
        let (mut paths, mut group, mut rate_caps, mut ids) = (Collected::default(), Vec::new(), Vec::new(), Vec::new());
        let (mut alphas, mut weights, mut caps, mut floors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut push = |id: FlowId, utility: PowerLaw, own: &mut dyn Iterator<Item = (Path<'_>, f64)>| {
            for (path, cap) in own {
                paths.push(path);
                rate_caps.push(cap);
                group.push(ids.len() as u32);
            }
            ids.push(id);
            alphas.push(utility.alpha);
            weights.push(utility.weight);
            caps.push(utility.cap);
            floors.push(utility.floor);
        };
        let Ok(()) = self.engine.each_flow::<Infallible>(|flow| {
            push(flow.id, flow.utility, &mut std::iter::once((flow.path, f64::INFINITY)));
            Ok(())
        });
        let Ok(()) = self.engine.each_several::<Infallible>(|flow| {
            push(flow.id, flow.utility, &mut flow.paths.iter().zip(flow.paths.caps.iter().copied()));
            Ok(())
        });
        let used = self.capacities.iter().map(|&capacity| self.settings.used(capacity)).collect();
        let utility = AlphaFair::new(alphas, weights)?;
        let mut problem = Problem::grouped(used, paths.paths(), group, utility)?.with_flow_caps(caps)?;
        problem = problem.with_rate_caps(rate_caps)?;
        if floors.iter().any(|&floor| floor > 0.0) {
            problem = problem.with_flow_floors(floors)?;
        }
        Ok(Posed { problem, ids })
    }
}
