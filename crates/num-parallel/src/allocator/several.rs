//! Flows with several paths: what the engine keeps of them beside the columns of their block.
//!
//! ```text
//! tick       all paths of a flow are columns of one block, which splits the demand      flow_blocks/split/
//! here       the links of every path, its cap, and what was sent last for it
//! ```
//!
//! A flow's ceiling is the least of its cap, the sum of what its paths carry, and twice what fits on a link that all of
//! them cross.

use netnum_core::internal::UNLIMITED;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Error, Paths, PowerLaw, Result};
use rustc_hash::FxHashMap;

use super::engine::{Engine, Flow, check_utility};
use super::flow_table::FlowId;
use super::path::{Collected, Path};
use crate::flow_blocks::{Crossing, OfPath, SMALLEST_SHARE, Several, Spot};

/// The paths of a flow.
#[derive(Debug, Clone)]
pub(super) struct PathSet {
    links: Vec<u32>,
    ends: Vec<u32>,
    /// One per link; none where all are 1.
    coefficients: Option<Vec<f64>>,
    /// The most that every path may carry.
    pub(super) caps: Vec<f64>,
    /// By path, the last rate sent to the flow's endpoint; 0 before the first, not a number where the flow had other
    /// paths before.
    pub(super) sent: Vec<f64>,
}

impl PartialEq for PathSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter()) && self.caps == other.caps
    }
}

impl PathSet {
    pub(super) fn new<'a>(paths: impl Iterator<Item = Path<'a>>, caps: Vec<f64>) -> Self {
        let (mut links, mut ends, mut coefficients) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_weighted = false;
        for path in paths {
            links.extend_from_slice(path.links);
            ends.push(links.len() as u32);
            coefficients.extend(path.entries().map(|(_, a)| a));
            is_weighted |= path.coefficients.is_some();
        }
        let sent = vec![0.0; ends.len()];
        Self { links, ends, coefficients: Some(coefficients).filter(|_| is_weighted), caps, sent }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A utility whose cap is at most that of the only path, where there is one.
    pub(super) fn limit(&self, utility: &PowerLaw) -> PowerLaw {
        match self.caps[..] {
            [cap] if cap < utility.cap => utility.with_cap(cap),
            _ => *utility,
        }
    }

    /// All links, those that several paths cross as often.
    pub(super) fn links(&self) -> &[u32] {
        &self.links
    }

    pub(super) fn path(&self, path: usize) -> Path<'_> {
        let own = path.checked_sub(1).map_or(0, |before| self.ends[before] as usize)..self.ends[path] as usize;
        let coefficients = self.coefficients.as_ref().map(|all| &all[own.clone()]);
        let coefficients = coefficients.filter(|own| own.iter().any(|&coefficient| coefficient != 1.0));
        Path { links: &self.links[own], coefficients }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Path<'_>> + Clone {
        (0..self.len()).map(|path| self.path(path))
    }

    pub(super) fn paths(&self) -> Paths {
        let mut collected = Collected::default();
        self.iter().for_each(|path| collected.push(path));
        collected.paths()
    }

    /// The most that every path carries at these capacities: twice what fits, at most its cap.
    pub(super) fn ceilings(&self, capacity: impl Fn(u32) -> f64) -> Vec<f64> {
        let ceiling =
            |(path, &cap): (Path<'_>, &f64)| PowerLaw::log(1.0).with_cap(cap).ceiling(path.narrowest(&capacity));
        self.iter().zip(&self.caps).map(ceiling).collect()
    }

    /// The links that all paths cross with the same coefficient, and the others of every path.
    fn parted(&self) -> (Vec<Crossing>, Vec<Vec<Crossing>>) {
        let mut met: FxHashMap<u32, (usize, f64)> = FxHashMap::default();
        for (link, a) in self.iter().flat_map(Path::entries) {
            let (paths, of_first) = met.entry(link).or_insert((0, a));
            *paths += usize::from(*of_first == a);
        }
        let is_common = |&(link, _): &Crossing| met[&link].0 == self.len();
        let common = self.path(0).entries().filter(is_common).collect();
        let own = self.iter().map(|path| path.entries().filter(|entry| !is_common(entry)).collect());
        (common, own.collect())
    }

    /// Where a flow starts: shares in proportion to what paths carry, without rates.
    pub(super) fn at_start(ceilings: &[f64]) -> Vec<OfPath> {
        let total: f64 = ceilings.iter().sum();
        let equal = (ceilings.len() as f64).recip();
        let share = |&ceiling: &f64| if total > 0.0 { (ceiling / total).max(SMALLEST_SHARE) } else { equal };
        let sum: f64 = ceilings.iter().map(share).sum();
        ceilings.iter().map(|ceiling| OfPath { share: share(ceiling) / sum, rates: [0.0; 2] }).collect()
    }
}

/// The caps of a flow with one path, where that has one: the flow's utility has the lesser.
#[derive(Debug, Clone, Copy)]
pub(super) struct AloneCaps {
    pub(super) flow: f64,
    pub(super) path: f64,
}

/// A flow with several paths, as an engine has it.
pub(super) struct SplitFlow<'a> {
    pub(super) id: FlowId,
    pub(super) paths: &'a PathSet,
    pub(super) utility: PowerLaw,
    pub(super) state: Vec<OfPath>,
}

impl Engine {
    /// Whether a flow over paths that exist could have this utility.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(super) fn check_several(&self, flow: usize, paths: &PathSet, utility: &PowerLaw) -> Result<()> {
        utility.check(flow)?;
        if paths.len() > 1 && utility.floor > 0.0 {
            let expected = format!("0 for flow {flow}, which has several paths: a floor is kept on one");
            return Err(Error::setting("flow_floor", utility.floor, expected));
        }
        self.links.rule().check_alpha(flow, utility.alpha)?;
        self.check_range(flow, paths, utility, |link| self.nominal[link as usize])
    }

    /// [`check_utility`] on every path that may carry something.
    pub(super) fn check_range(
        &self,
        flow: usize,
        paths: &PathSet,
        utility: &PowerLaw,
        nominal: impl Fn(u32) -> f64,
    ) -> Result<()> {
        if paths.caps.iter().all(|&cap| cap == 0.0) {
            return Err(Error::Parameter {
                flow,
                name: "cap",
                value: 0.0,
                expected: "a path that may carry something",
            });
        }
        for (path, &cap) in paths.iter().zip(&paths.caps).filter(|(_, cap)| **cap > 0.0) {
            let utility = utility.with_cap(utility.cap.min(cap));
            check_utility(flow, path, &utility, &nominal, self.flows.precision())?;
        }
        Ok(())
    }

    /// The most that the paths of a flow carry at these capacities, and a capacity as whose flow it demands.
    pub(super) fn limits(&self, paths: &PathSet, capacity: impl Fn(u32) -> f64) -> (Vec<f64>, f64) {
        let (ceilings, (common, _)) = (paths.ceilings(&capacity), paths.parted());
        let fits = |&(link, a): &Crossing| Path { links: &[link], coefficients: Some(&[a]) }.narrowest(&capacity);
        let all = ceilings.iter().sum::<f64>() / PowerLaw::log(1.0).ceiling(1.0);
        let narrowest = common.iter().map(fits).fold(all.min(UNLIMITED), f64::min);
        (ceilings, narrowest)
    }

    /// Starts a flow that has been [checked](Self::check_several).
    pub(super) fn start_several(&mut self, paths: PathSet, utility: PowerLaw) -> FlowId {
        let slot = self.table.next_slot();
        let spot = self.put(slot, &paths, &utility, None);
        let id = self.table.start(spot, &utility);
        self.enter_links(id, paths.links());
        self.several.insert(slot, paths);
        id
    }

    /// Starts a flow with one path, which has been checked.
    pub(super) fn start_alone(&mut self, paths: &PathSet, utility: PowerLaw) -> FlowId {
        let id = self.start_checked(paths.path(0), paths.limit(&utility));
        self.set_path_cap(id, paths, &utility);
        id
    }

    /// Changes the path of a flow, of which it has one before and after, its utility, or both; they have been checked.
    pub(super) fn change_alone(&mut self, id: FlowId, old: &PathSet, new: Option<&PathSet>, utility: PowerLaw) {
        let paths = new.unwrap_or(old);
        self.change_checked(id, new.map(|new| new.path(0)), Some(paths.limit(&utility)));
        self.set_path_cap(id, paths, &utility);
    }

    /// A flow with one path has such a cap beside that of the path.
    pub(super) fn set_path_cap(&mut self, id: FlowId, paths: &PathSet, utility: &PowerLaw) {
        match paths.caps[..] {
            [path] if path < f64::INFINITY => {
                self.path_caps.insert(id.slot() as u32, AloneCaps { flow: utility.cap, path });
            }
            _ => {
                self.path_caps.remove(&(id.slot() as u32));
            }
        }
    }

    /// The utility of the flow of a slot, whose cap is that of the flow also where its only path has one.
    pub(super) fn own_utility(&self, slot: usize) -> PowerLaw {
        let utility = self.utility_of(slot);
        self.path_caps.get(&(slot as u32)).map_or(utility, |caps| utility.with_cap(caps.flow))
    }

    /// Puts a flow into its block; without a state as one that starts.
    pub(super) fn put(&mut self, slot: u32, paths: &PathSet, utility: &PowerLaw, state: Option<&[OfPath]>) -> Spot {
        let (ceilings, narrowest) = self.limits(paths, |link| self.used(link));
        let (common, own) = paths.parted();
        let at_start;
        let state = match state {
            Some(state) => state,
            None => {
                at_start = PathSet::at_start(&ceilings);
                &at_start
            }
        };
        let demand = utility.over(narrowest);
        let several = Several { common: &common, own: &own, demand, ceilings: &ceilings, state };
        self.flows.add_several(slot, paths.links[0], &several)
    }

    /// Calls a function with every flow that has several paths, block by block, until one is refused.
    pub(super) fn each_several<E>(&self, mut look: impl FnMut(SplitFlow<'_>) -> Result<(), E>) -> Result<(), E> {
        self.flows.each_state(|slot, state| {
            let (id, paths, utility) = (self.table.id(slot), &self.several[&slot], self.utility_of(slot as usize));
            look(SplitFlow { id, paths, utility, state })
        })
    }

    /// The paths of a flow, one or several.
    pub(super) fn paths_of(&self, id: FlowId) -> Result<PathSet> {
        let spot = self.table.get(id)?.spot;
        Ok(match self.several.get(&(id.slot() as u32)) {
            Some(paths) => paths.clone(),
            None => {
                let cap = self.path_caps.get(&(id.slot() as u32)).map_or(f64::INFINITY, |caps| caps.path);
                PathSet::new(std::iter::once(self.path_at(spot).get()), vec![cap])
            }
        })
    }

    /// Demand and feasible rate of every path of a flow.
    pub(super) fn path_rates(&self, id: FlowId) -> Result<Vec<[f64; 2]>> {
        let spot = self.table.get(id)?.spot;
        Ok(match self.several.contains_key(&(id.slot() as u32)) {
            true => self.flows.of_paths(spot).into_iter().map(|path| path.rates).collect(),
            false => vec![self.flows.rates(spot)],
        })
    }

    /// Sets the rates of a flow's paths, which then split as these.
    pub(super) fn set_path_rates(&mut self, id: FlowId, rates: &[f64]) {
        let spot = self.table.slots[id.slot()].spot;
        match self.several.contains_key(&(id.slot() as u32)) {
            true => self.flows.set_split(spot, rates),
            false => self.flows.set_rates(spot, [rates[0]; 2]),
        }
    }

    /// Changes the paths of a flow, of which it has several before or after, its utility, or both; they have been
    /// checked. Paths that stay as they are keep their shares and rates. Whether it has one path now.
    pub(super) fn change_several(&mut self, id: FlowId, paths: Option<PathSet>, utility: PowerLaw) -> bool {
        let (slot, spot) = (id.slot() as u32, self.table.slots[id.slot()].spot);
        self.leave_links(id);
        self.drop_floor(id, spot);
        let before = self.several.get(&slot).cloned();
        let state = before.as_ref().map(|_| self.flows.of_paths(spot));
        self.take_out(slot, spot);
        let stays = paths.is_none() || paths == before;
        let state = state.filter(|_| stays).map(|mut state| {
            let demanded: f64 = state.iter().map(|path| path.rates[0]).sum();
            let part = if demanded > utility.cap { utility.cap / demanded } else { 1.0 };
            state.iter_mut().for_each(|path| path.rates = path.rates.map(|rate| rate * part));
            state
        });
        let mut paths = if stays { before } else { paths }.expect("there are several before or after");
        self.enter_links(id, paths.links());
        if paths.len() == 1 {
            self.place(Flow { id, path: paths.path(0), utility: paths.limit(&utility), rates: [0.0; 2] });
            self.set_path_cap(id, &paths, &utility);
            return true;
        }
        if !stays {
            paths.sent.fill(f64::NAN);
        }
        self.place_several(id, paths, &utility, state.as_deref());
        false
    }

    /// Puts a flow that has a slot where the layout says.
    pub(super) fn place_several(&mut self, id: FlowId, paths: PathSet, utility: &PowerLaw, state: Option<&[OfPath]>) {
        let spot = self.put(id.slot() as u32, &paths, utility, state);
        let of_flow = &mut self.table.slots[id.slot()];
        of_flow.spot = spot;
        of_flow.set_utility(utility);
        self.several.insert(id.slot() as u32, paths);
    }

    /// Collects the first path of every flow with several, for a layout: their links are read one by one.
    pub(super) fn collect_several(&self, into: &mut Collected, pacer: &mut Pacer) -> Result<()> {
        self.each_several(|flow| {
            into.push_link_by_link(flow.paths.path(0));
            pacer.did(flow.paths.links().len())
        })
    }
}
