//! The interior point over the [core](Core) of a problem: links that cannot fill are left out, and flows that have all
//! that they can use. What it finds is of the whole problem, and so is the certificate of that.

use super::InteriorPoint;
use crate::error::Result;
use crate::presolve::{Core, Presolved};
use crate::solve::{Ask, Method, State};

/// The interior point on what is left of a problem.
struct OverCore {
    core: Core,
    /// None where nothing is left.
    method: Option<InteriorPoint>,
    /// Prices and rates of the core.
    state: State,
}

/// Links crossed by all paths together, from which on it pays.
const LEAST_CROSSINGS: usize = 1 << 13;

impl InteriorPoint {
    /// Over the core of a large problem, where that is much smaller.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(in crate::solve) fn of_large(problem: &Presolved) -> Result<Box<dyn Method>> {
        match problem.paths.indices().len() < LEAST_CROSSINGS {
            true => Ok(Box::new(Self::new(problem)?)),
            false => Self::over_core(problem),
        }
    }

    fn over_core(problem: &Presolved) -> Result<Box<dyn Method>> {
        let Some(core) = problem.core()? else { return Ok(Box::new(Self::new(problem)?)) };
        let method = core.problem.as_ref().map(Self::new).transpose()?;
        let state = State { prices: vec![0.0; core.links.len()], rates: vec![0.0; core.paths.len()] };
        Ok(Box::new(OverCore { core, method, state }))
    }
}

impl Ask {
    /// By the interior point over the whole problem, which ends far from all that can be slack.
    pub(crate) fn far_from_bounds() -> Self {
        Self::by_method("interior-point", |problem| Ok(Box::new(InteriorPoint::new(problem)?)))
    }

    /// By the interior point over the core of the problem, however small that is.
    #[doc(hidden)]
    pub fn over_core() -> Self {
        Self::by_method("interior-point", InteriorPoint::over_core)
    }
}

impl OverCore {
    /// Does something with the method on the core, and writes what it finds to the state of the whole problem.
    fn with(
        &mut self,
        state: &mut State,
        work: impl FnOnce(&mut InteriorPoint, &Presolved, &mut State) -> Result<f64>,
    ) -> Result<f64> {
        let Self { core: Core { problem, links, paths, rates }, method, state: own } = self;
        let estimate = match (problem, method) {
            (Some(problem), Some(method)) => work(method, problem, own)?,
            _ => 0.0,
        };
        state.prices.fill(0.0);
        links.iter().zip(&own.prices).for_each(|(&link, &price)| state.prices[link as usize] = price);
        state.rates.copy_from_slice(rates);
        paths.iter().zip(&own.rates).for_each(|(&path, &rate)| state.rates[path as usize] = rate);
        Ok(estimate)
    }

    /// Takes the prices and rates of the core from those of the whole problem.
    fn take(&mut self, State { prices, rates }: &State) {
        let Self { core, state: own, .. } = self;
        own.prices.iter_mut().zip(&core.links).for_each(|(own, &link)| *own = prices[link as usize]);
        own.rates.iter_mut().zip(&core.paths).for_each(|(own, &path)| *own = rates[path as usize]);
    }
}

impl Method for OverCore {
    fn start(&mut self, _problem: &Presolved, state: &mut State) -> Result<f64> {
        self.take(state);
        self.with(state, |method, problem, own| method.start(problem, own))
    }

    fn resume(&mut self, _problem: &Presolved, state: &mut State) -> Result<f64> {
        self.take(state);
        self.with(state, |method, problem, own| method.resume(problem, own))
    }

    fn step(&mut self, _problem: &Presolved, state: &mut State) -> Result<f64> {
        self.with(state, |method, problem, own| method.step(problem, own))
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn has_stalled(&self) -> bool {
        self.method.as_ref().is_none_or(Method::has_stalled)
    }
}
