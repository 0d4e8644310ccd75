//! The problem of one stage: some flows are allocated, all others have a rate that is given.

use std::sync::Arc;

use super::{Block, Problem};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::utility::families::{AlphaFair, Linear};
use crate::utility::{Curvature, FAMILIES, Rescaled, Spec, Units, Utility};

impl Problem {
    /// The priorities that there are, in order.
    pub(crate) fn distinct_priorities(&self) -> Vec<f64> {
        let mut all = self.priorities.to_vec();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Checks that all flows have one priority.
    ///
    /// # Errors
    /// [`Error::CannotTake`].
    pub(crate) fn check_one_class(&self) -> Result<()> {
        if !self.has_priorities() {
            return Ok(());
        }
        let (who, what) = ("a single solve", "priorities");
        Err(Error::CannotTake { who, what, instead: "solve(problem) takes them, class by class" })
    }

    /// Checks that paths have no costs, which the level of max-min cannot be set against.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(crate) fn check_no_costs(&self) -> Result<()> {
        if !self.has_path_costs() {
            return Ok(());
        }
        let (method, what) = ("max-min".into(), "costs of paths".into());
        let instead = "solve(problem, tie_cost=...) takes the cheapest of the best splits";
        Err(Error::Unsupported { method, what, instead })
    }

    /// Rates of all paths that are known to carry the floors; empty where none are.
    pub(crate) fn carrying(&self) -> &[f64] {
        &self.carrying
    }

    /// This problem over other links, with the same paths as far as flows are concerned.
    pub(crate) fn over_links(&self, capacities: Vec<f64>, paths: Paths) -> Self {
        let (capacities, paths) = (Arc::new(capacities), Arc::new(paths));
        Self { capacities, paths, carrying: Arc::default(), ..self.clone() }
    }

    /// This problem with the costs of its paths as loads of one more link, whose capacity is a budget. What is left of
    /// that is the rate of one more flow, worth 1 per unit.
    ///
    /// ```text
    /// max Σ U − Σ k x    =    max Σ U + z − b,    z + Σ k x ≤ b        where the budget b is enough
    /// ```
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn with_costs_as_link(&self, budget: f64) -> Result<Self> {
        let link = self.links() as u32;
        let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        let mut pacer = Pacer::new();
        for path in 0..self.paths.len() {
            let cost = Some((link, self.path_cost(path))).filter(|(_, cost)| *cost > 0.0);
            for (link, uses) in self.paths.row(path).entries().chain(cost) {
                indices.push(link);
                coefficients.push(uses);
            }
            pacer.did(1 + indices.len() - indptr[path])?;
            indptr.push(indices.len());
        }
        indices.push(link);
        coefficients.push(1.0);
        indptr.push(indices.len());
        let longer = |values: &Arc<Vec<f64>>, last: f64| match values.is_empty() {
            true => Arc::default(),
            false => Arc::new([&values[..], &[last]].concat()),
        };
        let left = Block { utility: Arc::new(Linear::new(1.0)?), flows: vec![self.flows as u32] };
        Ok(Self {
            capacities: Arc::new([&self.capacities[..], &[budget]].concat()),
            paths: Arc::new(Paths::with_coefficients(indptr, indices, coefficients)?),
            group: Arc::new([&self.group[..], &[self.flows as u32]].concat()),
            flows: self.flows + 1,
            rate_caps: longer(&self.rate_caps, f64::INFINITY),
            flow_caps: longer(&self.flow_caps, f64::INFINITY),
            flow_floors: longer(&self.flow_floors, 0.0),
            path_costs: Arc::default(),
            priorities: longer(&self.priorities, 0.0),
            carrying: longer(&self.carrying, 0.0),
            reaches: longer(&self.reaches, f64::INFINITY),
            blocks: Arc::new([&self.blocks[..], &[left]].concat()),
        })
    }

    /// This problem for some of its flows, with their utilities, floors and caps. The others have given rates, and
    /// their costs. The rates of all paths that carry the floors and these are given where they are known.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn stage(
        &self,
        is_in: impl Fn(usize) -> bool,
        rates: impl Fn(usize) -> f64,
        carrying: Vec<f64>,
    ) -> Result<Self> {
        let mut blocks = Vec::new();
        let mut curvature = None;
        for Block { utility, flows } in self.blocks() {
            let (own, places): (Vec<u32>, Vec<u32>) = flows
                .iter()
                .zip(0..)
                .filter(|&(&flow, _)| is_in(flow as usize))
                .map(|(&flow, place)| (flow, place))
                .unzip();
            if own.is_empty() {
                continue;
            }
            if utility.curvature() == Curvature::MaxMin {
                curvature = Some(Curvature::MaxMin);
            }
            let utility: Arc<dyn Utility> =
                match places.iter().map(|&place| utility.spec(place as usize)).collect::<Option<Vec<_>>>() {
                    _ if own.len() == flows.len() => Arc::clone(utility),
                    Some(specs) => made(&specs)?,
                    None => Arc::new(Rescaled::new(Arc::clone(utility), places, flows.len(), Units::NONE)),
                };
            blocks.push(Block { utility, flows: own });
        }
        let others: Vec<u32> = (0..self.flows as u32).filter(|&flow| !is_in(flow as usize)).collect();
        if !others.is_empty() {
            // Their rates are given, so that any utility will do that goes with the others.
            let utility: Arc<dyn Utility> = match curvature {
                Some(_) => Arc::new(AlphaFair::new(f64::INFINITY, 1.0)?),
                None => Arc::new(Linear::new(0.0)?),
            };
            blocks.push(Block { utility, flows: others });
        }
        let flows = || 0..self.flows;
        let floors = flows().map(|flow| if is_in(flow) { self.flow_floor(flow) } else { rates(flow) }).collect();
        let caps = flows().map(|flow| if is_in(flow) { self.flow_cap(flow) } else { rates(flow) }).collect();
        let stage = Self { blocks: Arc::new(blocks), priorities: Arc::default(), ..self.clone() };
        let stage = Self { flow_floors: Arc::default(), ..stage }.with_flow_caps(caps)?.with_flow_floors(floors)?;
        Ok(Self { carrying: Arc::new(carrying), ..stage })
    }
}

/// The utility of flows of one family.
fn made(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    let family = FAMILIES.get(&specs[0].kind)?;
    (family.make)(specs)
}
