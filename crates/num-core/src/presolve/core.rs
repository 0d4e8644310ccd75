//! The core of a problem: what is left of it without links that cannot fill.
//!
//! ```text
//! Σ_f min(r_f max_{p ∈ f} a_lp, Σ_{p ∈ f} a_lp r_p) < c_l
//! ```
//!
//! with r_f the most that flow f can use and r_p the most that path p can carry. A link of which this holds is never
//! full: its price is 0. A flow with paths over such links only has all that it can use over these, and pays nothing;
//! without it more links cannot fill. Where all flows fit at what they can use, which is tried, nothing is left.
//! Nothing is taken to its bound where it need not be, as derivatives ask for: a flow uses all the paths it can, and
//! links that would be full with no room at all are left to the method.

use std::sync::{Arc, OnceLock};

use super::flow_paths::FlowPaths;
use super::{Bounds, Caller, Column, NaturalBlock, Presolved};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::{LONGEST, Paths, parts};
use crate::solve::system::ABSENT;
use crate::utility::Units;
use crate::work::for_each;

/// The part of its capacity that a link has left at least where it cannot fill, and a path of its cap.
const LEFT: f64 = 1e-6;
/// The most crossings of a core, as a part of all: with more it would save little.
const MOST: f64 = 0.75;

/// What is left of a problem.
pub(crate) struct Core {
    /// None where every flow has all that it can use.
    pub(crate) problem: Option<Presolved>,
    /// The numbers of its links and paths in the whole problem.
    pub(crate) links: Vec<u32>,
    pub(crate) paths: Vec<u32>,
    /// Rates of all paths of the whole problem: those of flows that have all that they can use.
    pub(crate) rates: Vec<f64>,
}

/// Who has all that it can use, and which links can fill with the others.
struct Settling<'p> {
    problem: &'p Presolved,
    /// The most that the other flows can load every link with.
    loads: Vec<f64>,
    can_fill: Vec<bool>,
    is_settled: Vec<bool>,
    rates: Vec<f64>,
}

/// Sums over the paths of one flow, per link.
struct OfFlow {
    /// Σ a_lp r_p and the largest a_lp.
    of_links: Vec<[f64; 2]>,
    links: Vec<u32>,
}

impl Presolved {
    /// The core; none where that is nearly all of the problem, or where flows have floors, costs, user-defined
    /// utilities or more paths than are known.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn core(&self) -> Result<Option<Core>> {
        let Bounds { floors, caps, saturations, reaches, .. } = &self.bounds;
        let is_bounded = !caps.is_empty() || !saturations.is_empty();
        if !is_bounded || !floors.is_empty() || !self.costs.is_empty() || !reaches.is_empty() {
            return Ok(None);
        }
        if self.has_user_defined || self.blocks.is_empty() || !self.ranks().are_alone() {
            return Ok(None);
        }
        let mut settling = Settling::new(self)?;
        while settling.settle()? && settling.find_slack_links() {}
        if settling.fit_all()? {
            return Ok(Some(Core { problem: None, links: Vec::new(), paths: Vec::new(), rates: settling.rates }));
        }
        settling.core()
    }

    /// The most that a flow can use; ∞ where only links bound it.
    fn most_of(&self, flow: usize) -> f64 {
        let (own, saturation) = (self.paths_of(flow), self.bounds.saturations[flow]);
        if own.len() == 1 { saturation.min(self.bounds.caps[own.start]) } else { saturation }
    }
}

impl<'p> Settling<'p> {
    fn new(problem: &'p Presolved) -> Result<Self> {
        let links = problem.capacities.len();
        let of_parts = for_each(&*problem.workers, problem.flow_ranges(), |flows| {
            let (mut loads, mut of_flow, mut pacer) = (vec![0.0; links], OfFlow::new(links), Pacer::new());
            for flow in flows {
                pacer.did(of_flow.each(problem, flow, |link, load| loads[link] += load))?;
            }
            Ok(loads)
        })?;
        let loads = parts::add_up(of_parts);
        let mut this = Self {
            can_fill: vec![true; links],
            is_settled: vec![false; problem.flows()],
            rates: vec![0.0; problem.paths.len()],
            loads,
            problem,
        };
        this.find_slack_links();
        Ok(this)
    }

    /// Finds the links that cannot fill. Returns whether there are new ones.
    fn find_slack_links(&mut self) -> bool {
        let mut found = false;
        let links = self.can_fill.iter_mut().zip(&self.loads).zip(&self.problem.capacities);
        for ((can_fill, load), capacity) in links.filter(|((can_fill, _), _)| **can_fill) {
            *can_fill = *load >= capacity * (1.0 - LEFT);
            found |= !*can_fill;
        }
        found
    }

    /// Gives flows with paths over links that cannot fill all that they can use, in equal parts over these paths.
    /// Returns whether there are any.
    fn settle(&mut self) -> Result<bool> {
        let Self { problem, loads, can_fill, is_settled, rates } = self;
        let mut free = Vec::new();
        let (mut of_flow, mut pacer, mut found) = (OfFlow::new(loads.len()), Pacer::new(), false);
        for flow in problem.blocks.iter().flat_map(|block| block.flows.clone()) {
            let most = problem.most_of(flow);
            if is_settled[flow] || most == f64::INFINITY {
                continue;
            }
            let own = problem.paths_of(flow);
            let is_free = |path: &usize| problem.paths.row(*path).links().iter().all(|&link| !can_fill[link as usize]);
            free.clear();
            free.extend(own.clone().filter(is_free));
            let part = most / free.len() as f64;
            let has_room = |&path: &usize| own.len() == 1 || part <= problem.bounds.caps[path] * (1.0 - LEFT);
            pacer.did(own.len())?;
            if !free.is_empty() && free.iter().all(has_room) {
                free.iter().for_each(|&path| rates[path] = part);
                (is_settled[flow], found) = (true, true);
                pacer.did(of_flow.each(problem, flow, |link, load| loads[link] -= load))?;
            }
        }
        Ok(found)
    }

    /// Tries to give all other flows what they can use too: first those with one path, then each of the others over
    /// its paths in proportion to the room there, and what is left in turn. Returns whether they fit.
    fn fit_all(&mut self) -> Result<bool> {
        let (problem, mut pacer) = (self.problem, Pacer::new());
        let mut left: Vec<f64> = problem.capacities.iter().map(|capacity| capacity * (1.0 - LEFT)).collect();
        let (mut rates, mut paths) = (self.rates.clone(), Vec::new());
        for several in [false, true] {
            for flow in (0..problem.flows()).filter(|&flow| !self.is_settled[flow]) {
                let (own, mut rest) = (problem.paths_of(flow), problem.most_of(flow));
                if (own.len() > 1) != several {
                    continue;
                }
                if rest == f64::INFINITY {
                    return Ok(false);
                }
                let can_fill = |link: u32| self.can_fill[link as usize];
                let room = |path: usize, rate: f64, left: &[f64]| {
                    let links = problem.paths.row(path).entries().filter(|&(link, _)| can_fill(link));
                    let most = problem.bounds.caps[path] - rate;
                    links.fold(most, |room, (link, a)| room.min(left[link as usize] / a)).max(0.0)
                };
                paths.clear();
                paths.extend(own.map(|path| (path, room(path, 0.0, &left))));
                let per_room = rest / paths.iter().map(|(_, room)| room).sum::<f64>();
                for in_proportion in [true, false] {
                    for &(path, first) in paths.iter().filter(|(_, room)| *room > 0.0) {
                        let most = if in_proportion { rest.min(first * per_room) } else { rest };
                        let more = room(path, rates[path], &left).min(most);
                        let row = problem.paths.row(path);
                        pacer.did(row.links().len())?;
                        rates[path] += more;
                        rest -= more;
                        row.entries().for_each(|(link, a)| left[link as usize] -= a * more);
                    }
                }
                if rest > 0.0 {
                    return Ok(false);
                }
            }
        }
        self.rates = rates;
        Ok(true)
    }

    /// What is left, as a problem; none where that is nearly all.
    fn core(mut self) -> Result<Option<Core>> {
        let problem = self.problem;
        let mut pacer = Pacer::new();
        // A path that only caps bound keeps its narrowest link.
        for flow in (0..problem.flows()).filter(|&flow| !self.is_settled[flow]) {
            for path in problem.paths_of(flow) {
                let links = problem.paths.row(path).links();
                pacer.did(links.len())?;
                if links.iter().all(|&link| !self.can_fill[link as usize]) {
                    let capacity = |&&link: &&u32| problem.capacities[link as usize];
                    let narrowest = links.iter().min_by(|one, other| capacity(one).total_cmp(&capacity(other)));
                    narrowest.iter().for_each(|&&link| self.can_fill[link as usize] = true);
                }
            }
        }
        let Self { can_fill, is_settled, rates, .. } = self;
        let mut numbers = vec![ABSENT; can_fill.len()];
        let links: Vec<u32> = (0..can_fill.len() as u32).filter(|&link| can_fill[link as usize]).collect();
        links.iter().zip(0..).for_each(|(&link, number)| numbers[link as usize] = number);
        let crossings =
            |path: usize| problem.paths.row(path).links().iter().filter(|&&link| can_fill[link as usize]).count();
        let mut blocks: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut left = 0;
        for (number, block) in problem.blocks.iter().enumerate() {
            let mut keyed = Vec::new();
            for flow in block.flows.clone().filter(|&flow| !is_settled[flow]) {
                let own = problem.paths_of(flow);
                let crossed: usize = own.clone().map(crossings).sum();
                pacer.did(crossed)?;
                left += crossed;
                // As in the order of the whole problem: flows with one path first, by its length.
                let key = if own.len() == 1 { crossed.min(LONGEST + 1) } else { LONGEST + 2 };
                keyed.push((key, (flow - block.flows.start) as u32));
            }
            keyed.sort_by_key(|&(key, _)| key);
            if !keyed.is_empty() {
                blocks.push((number, keyed.into_iter().map(|(_, place)| place).collect()));
            }
        }
        if left as f64 > MOST * problem.paths.indices().len() as f64 {
            return Ok(None);
        }
        let of = |(number, places): &(usize, Vec<u32>)| -> Vec<usize> {
            let first = problem.blocks[*number].flows.start;
            places.iter().map(|&place| first + place as usize).collect()
        };
        let flows: Vec<usize> = blocks.iter().flat_map(of).collect();
        let (mut paths, mut starts) = (Vec::new(), vec![0]);
        for &flow in &flows {
            paths.extend(problem.paths_of(flow).map(|path| path as u32));
            starts.push(paths.len());
        }
        let rows =
            problem.paths.over_some(&paths, |link| Some(numbers[link as usize]).filter(|&number| number != ABSENT))?;
        let mut start = 0;
        let natural = |(number, places): &(usize, Vec<u32>)| {
            let whole = &problem.blocks[*number];
            let flows = start..start + places.len();
            start = flows.end;
            let utility = whole.utility.in_units(places, Units::NONE)?;
            let may_jump = whole.may_jump && (0..places.len()).any(|flow| !utility.jumps(flow).is_empty());
            Some(NaturalBlock { utility, flows, is_user_defined: false, may_jump })
        };
        let Some(blocks) = blocks.iter().map(natural).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let own = problem.part(&links, &flows, &paths, rows, FlowPaths::new(starts), blocks);
        Ok(Some(Core { problem: Some(own), links, paths, rates }))
    }
}

impl Presolved {
    /// These links, flows and paths of the problem, in its units.
    fn part(
        &self,
        links: &[u32],
        flows: &[usize],
        paths: &[u32],
        rows: Paths,
        flow_paths: FlowPaths,
        blocks: Vec<NaturalBlock>,
    ) -> Self {
        let of_links = |values: &[f64]| links.iter().map(|&link| values[link as usize]).collect::<Vec<f64>>();
        let of_paths = |column: &Column| paths.iter().map(|&path| column[path as usize]).collect();
        let whole = &self.bounds;
        let flow_cap = |(number, &flow): (usize, &usize)| Some((number, whole.flow_cap(flow)?));
        let bounds = Bounds {
            floors: Column::new(Vec::new(), 0.0),
            caps: Column::new(of_paths(&whole.caps), f64::INFINITY),
            ceilings: paths.iter().map(|&path| whole.ceilings[path as usize]).collect(),
            reaches: Vec::new(),
            flow_caps: flows.iter().enumerate().filter_map(flow_cap).collect(),
            saturations: Column::new(flows.iter().map(|&flow| whole.saturations[flow]).collect(), f64::INFINITY),
        };
        let mut uses = vec![0.0; links.len()];
        rows.indices().iter().for_each(|&link| uses[link as usize] += 1.0);
        let number = |all: &[u32], some: &[u32]| some.iter().map(|&at| all[at as usize]).collect::<Vec<u32>>();
        let caller = Caller {
            links: number(&self.caller.links, links),
            link_units: if self.caller.link_units.is_empty() { Vec::new() } else { of_links(&self.caller.link_units) },
            paths: Arc::new(number(&self.caller.paths, paths)),
            flows: Arc::new(flows.iter().map(|&flow| self.caller.flows[flow]).collect()),
            failed_flows: Vec::new(),
            unlimited: Vec::new(),
            total_links: self.caller.total_links,
            total_paths: self.caller.total_paths,
            total_flows: self.caller.total_flows,
        };
        Self {
            units: self.units,
            has_several_paths: !flow_paths.are_single(),
            capacities: of_links(&self.capacities),
            uses,
            paths: Arc::new(rows),
            bounds,
            costs: Column::new(Vec::new(), 0.0),
            floor_rates: Vec::new(),
            infeasibility: None,
            flow_paths,
            blocks,
            has_user_defined: false,
            first_prices: of_links(&self.first_prices),
            equal_shares: OnceLock::new(),
            caller,
            workers: Arc::clone(&self.workers),
        }
    }
}

impl OfFlow {
    fn new(links: usize) -> Self {
        Self { of_links: vec![[0.0; 2]; links], links: Vec::new() }
    }

    /// Visits every link of a flow with the most that the flow can load it with. Returns how many crossings it has.
    fn each(&mut self, problem: &Presolved, flow: usize, mut visit: impl FnMut(usize, f64)) -> usize {
        let own = problem.paths_of(flow);
        let ceilings = &problem.bounds.ceilings;
        if own.len() == 1 {
            let row = problem.paths.row(own.start);
            row.entries().for_each(|(link, a)| visit(link as usize, a * ceilings[own.start]));
            return row.links().len();
        }
        let (mut crossings, saturation) = (0, problem.bounds.saturations[flow]);
        for path in own {
            for (link, a) in problem.paths.row(path).entries() {
                let [sum, largest] = &mut self.of_links[link as usize];
                if *largest == 0.0 {
                    self.links.push(link);
                }
                *sum += a * ceilings[path];
                *largest = largest.max(a);
                crossings += 1;
            }
        }
        for link in self.links.drain(..) {
            let [sum, largest] = std::mem::take(&mut self.of_links[link as usize]);
            visit(link as usize, sum.min(saturation * largest));
        }
        crossings
    }
}
