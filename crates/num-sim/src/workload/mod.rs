//! Which flows arrive when, from where to where, and how large they are.

mod coflows;
mod collectives;
mod dependencies;
mod draws;
mod on_off;
mod pairs;
mod poisson;
mod production;
mod trace;

use std::collections::HashMap;
use std::sync::Arc;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use serde::{Deserialize, Serialize};

use coflows::Coflows;
pub use collectives::AllReduce;
pub use dependencies::Dependencies;
pub use on_off::OnOff;
pub use pairs::Pairs;
pub use poisson::Poisson;
pub use production::Production;

use crate::error::{Error, Result};
use crate::numbers::BITS;

/// Flows in order of arrival, as columns.
///
/// What holds of every workload, however it was made (deserialized ones pass the same checks): all columns have one
/// entry per flow; arrivals are finite, not negative and do not decrease; sizes are > 0, and ∞ for flows that never
/// end; no flow goes to where it comes from; every flow can start, if it waits for others. Clones share their columns,
/// so that a copy costs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Workload {
    columns: Arc<Columns>,
    production: Option<Arc<Production>>,
    weights: Option<Arc<Vec<f64>>>,
    dependencies: Option<Arc<Dependencies>>,
    coflows: Option<Arc<Coflows>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Columns {
    arrivals: Vec<f64>,
    sources: Vec<usize>,
    destinations: Vec<usize>,
    sizes: Vec<f64>,
}

/// A workload as it is written down.
#[derive(Serialize, Deserialize)]
struct Plain {
    arrivals: Vec<f64>,
    sources: Vec<usize>,
    destinations: Vec<usize>,
    /// `None` for ∞, which JSON does not have.
    sizes: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    production: Option<Production>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dependencies: Option<Dependencies>,
    /// `None` for a flow that is in no coflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coflows: Option<Vec<Option<u32>>>,
}

/// The first flow between two ends.
pub(crate) struct FirstOfPair {
    pub(crate) flow: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
}

/// The pairs of ends that flows join, of a workload that may get more flows.
#[derive(Debug, Clone, Default)]
pub(crate) struct DistinctPairs {
    places: HashMap<(usize, usize), u32>,
    /// By flow, the place of its pair.
    pub(crate) of: Vec<u32>,
}

impl DistinctPairs {
    /// The pairs that come with the flows that are new in a workload, each with the first of these.
    pub(crate) fn add(&mut self, workload: &Workload) -> Result<Vec<FirstOfPair>> {
        let (mut new, mut pacer) = (Vec::new(), Pacer::new());
        self.of.reserve(workload.len() - self.of.len());
        for flow in self.of.len()..workload.len() {
            pacer.did(1)?;
            let (source, destination) = workload.pair(flow);
            let next = self.places.len() as u32;
            self.of.push(*self.places.entry((source, destination)).or_insert_with(|| {
                new.push(FirstOfPair { flow, source, destination });
                next
            }));
        }
        Ok(new)
    }
}

impl Workload {
    /// A trace from its columns: arrivals in seconds, source and destination ends, sizes in bytes. A flow of size ∞
    /// never ends.
    /// [`simulate`](crate::simulate) checks that its network has those ends.
    ///
    /// # Errors
    /// [`Error::Core`] for columns of different lengths; [`Error::Flow`] naming the first flow with an arrival that is
    /// negative or not finite, a size that is not > 0, or a destination that is its source;
    /// [`Error::Unsorted`]. [`netnum_core::Error::Stopped`], as everything here that takes long with many flows.
    pub fn new(arrivals: Vec<f64>, sources: Vec<usize>, destinations: Vec<usize>, sizes: Vec<f64>) -> Result<Self> {
        let flows = arrivals.len();
        let columns = [("sources", sources.len()), ("destinations", destinations.len()), ("sizes", sizes.len())];
        if let Some((what, found)) = columns.into_iter().find(|column| column.1 != flows) {
            let error = netnum_core::Error::Length { what: what.into(), found, expected: flows, per: "arrival" };
            return Err(error.into());
        }
        if u32::try_from(flows).is_err() {
            return Err(Error::setting("flows", flows, "at most 4294967295"));
        }
        let wrong =
            |flow, what, value, expected: &str| Err(Error::Flow { flow, what, value, expected: expected.into() });
        let (mut previous, mut pacer) = (0.0, Pacer::new());
        for (flow, (&time, &size)) in arrivals.iter().zip(&sizes).enumerate() {
            if !(time.is_finite() && time >= 0.0) {
                return wrong(flow, "arrival", time, "a finite number >= 0");
            }
            if time < previous {
                return Err(Error::Unsorted { flow, time, previous });
            }
            if size.is_nan() || size <= 0.0 {
                return wrong(flow, "size", size, "a number > 0; a flow of size inf never ends");
            }
            if sources[flow] == destinations[flow] {
                return wrong(flow, "destination", destinations[flow] as f64, "another end than its source");
            }
            previous = time;
            pacer.did(1)?;
        }
        let columns = Arc::new(Columns { arrivals, sources, destinations, sizes });
        Ok(Self { columns, ..Self::default() })
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.columns.arrivals.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.arrivals.is_empty()
    }

    /// When every flow arrives, in seconds; a flow that waits for others starts then or later.
    pub fn arrivals(&self) -> &[f64] {
        &self.columns.arrivals
    }

    /// The end that sends every flow.
    pub fn sources(&self) -> &[usize] {
        &self.columns.sources
    }

    /// The end that receives it.
    pub fn destinations(&self) -> &[usize] {
        &self.columns.destinations
    }

    /// The two ends that a flow joins.
    pub(crate) fn pair(&self, flow: usize) -> (usize, usize) {
        (self.columns.sources[flow], self.columns.destinations[flow])
    }

    /// One more flow, which arrives last: one of another workload, whose weight counts where the others have some.
    pub(crate) fn push(&mut self, arrival: f64, (other, flow): (&Self, usize), coflow: Option<u32>) {
        let (before, (source, destination)) = (self.len(), other.pair(flow));
        let Columns { arrivals, sources, destinations, sizes } = Arc::make_mut(&mut self.columns);
        arrivals.push(arrival);
        sources.push(source);
        destinations.push(destination);
        sizes.push(other.sizes()[flow]);
        if let Some(weights) = &mut self.weights {
            Arc::make_mut(weights).push(other.weights().map_or(1.0, |weights| weights[flow]));
        }
        if coflow.is_some() || self.coflows.is_some() {
            let coflows = self.coflows.get_or_insert_with(|| Arc::new(Coflows::none(before)));
            Arc::make_mut(coflows).push(coflow);
        }
    }

    /// The first flow from some number on that never ends, if there is one: its bits are more than a float holds.
    pub(crate) fn first_endless(&self, from: usize) -> Option<usize> {
        (from..self.len()).find(|&flow| BITS * self.sizes()[flow] == f64::INFINITY)
    }

    /// How large it is, in bytes: ∞ if it never ends.
    pub fn sizes(&self) -> &[f64] {
        &self.columns.sizes
    }

    /// The rates at which bytes are produced, if they are not all at hand when a flow arrives.
    pub fn production(&self) -> Option<&Production> {
        self.production.as_deref()
    }

    /// These flows, from applications that produce their bytes while they run.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is one rate per flow.
    pub fn with_production(self, production: Production) -> Result<Self> {
        let (found, expected) = (production.rates().len(), self.len());
        if found != expected {
            let what = "production".into();
            return Err(netnum_core::Error::Length { what, found, expected, per: "flow" }.into());
        }
        Ok(Self { production: Some(Arc::new(production)), ..self })
    }

    /// The weights of flows, for policies that share by weight; `None` if all are 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| weights.as_slice())
    }

    /// These flows with weights: of two that share a full link, one with twice the weight gets twice the rate under
    /// weighted max-min, and (w/x)^α is the marginal utility of α-fairness. Policies for which weights mean nothing
    /// refuse such flows.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is one weight per flow; [`Error::Flow`] naming the first that is not
    /// finite and > 0.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        let (found, expected) = (weights.len(), self.len());
        if found != expected {
            return Err(netnum_core::Error::Length { what: "weights".into(), found, expected, per: "flow" }.into());
        }
        if let Some(flow) = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
            let (value, expected) = (weights[flow], "a finite number > 0".into());
            return Err(Error::Flow { flow, what: "weight", value, expected });
        }
        Ok(Self { weights: Some(Arc::new(weights)), ..self })
    }

    /// The flows that each flow waits for, if any waits.
    pub fn dependencies(&self) -> Option<&Dependencies> {
        self.dependencies.as_deref()
    }

    /// These flows, some of which start only when others have ended.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is an entry per flow; [`Error::Flow`] naming the first that waits
    /// for one that never ends.
    pub fn with_dependencies(self, dependencies: Dependencies) -> Result<Self> {
        dependencies.check(&self)?;
        let waits = !dependencies.indices().is_empty();
        Ok(Self { dependencies: waits.then(|| Arc::new(dependencies)), ..self })
    }

    /// The number of coflows; 0 if no flow is in one.
    pub fn coflows(&self) -> usize {
        self.coflows.as_ref().map_or(0, |coflows| coflows.count())
    }

    /// The coflow of a flow, if it is in one.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn coflow(&self, flow: usize) -> Option<u32> {
        self.coflows.as_ref().and_then(|coflows| coflows.of(flow))
    }

    /// These flows in coflows, groups that have ended when all their flows have: the number of its coflow for every
    /// flow, or `None` for one that is in none.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is an entry per flow; [`Error::Flow`] for a number that is not below
    /// that of the flows; a setting's for one below the largest that no flow has.
    pub fn with_coflows(self, coflows: Vec<Option<u32>>) -> Result<Self> {
        let (found, expected) = (coflows.len(), self.len());
        if found != expected {
            return Err(netnum_core::Error::Length { what: "coflow".into(), found, expected, per: "flow" }.into());
        }
        Ok(Self { coflows: Coflows::new(coflows)?.map(Arc::new), ..self })
    }

    /// These flows between other ends.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_ends(self, sources: Vec<usize>, destinations: Vec<usize>) -> Result<Self> {
        let Columns { arrivals, sizes, .. } = Arc::unwrap_or_clone(self.columns);
        let Self { columns, .. } = Self::new(arrivals, sources, destinations, sizes)?;
        Ok(Self { columns, ..self })
    }

    /// These flows, each some seconds later.
    ///
    /// # Errors
    /// [`Error::Flow`] naming the first flow whose arrival is then negative or not finite.
    pub fn shifted(self, seconds: f64) -> Result<Self> {
        let Columns { mut arrivals, sources, destinations, sizes } = Arc::unwrap_or_clone(self.columns);
        arrivals.iter_mut().for_each(|arrival| *arrival += seconds);
        let Self { columns, .. } = Self::new(arrivals, sources, destinations, sizes)?;
        Ok(Self { columns, ..self })
    }

    /// The flows of both, in order of arrival; of flows that arrive together, those of the first come first. A flow of
    /// a workload without weights has the weight 1 among others.
    ///
    /// # Errors
    /// A setting's, if one of them has rates of production and the other does not, or if their send buffers differ;
    /// [`Error::Core`] for more flows than there are numbers for, and [`netnum_core::Error::Stopped`].
    pub fn merged(&self, other: &Self) -> Result<Self> {
        let buffers = [self, other].map(|workload| workload.production().map(Production::buffer));
        if buffers[0] != buffers[1] {
            let shown = |buffer: Option<f64>| buffer.map_or("without rates of production".into(), |it| it.to_string());
            let value = format!("{} and {}", shown(buffers[0]), shown(buffers[1]));
            return Err(Error::setting("the send buffers of the workloads", value, "the same in both"));
        }
        let (parts, flows) = ([self, other], self.len() + other.len());
        // By flow of the whole, whose it is and its place there.
        let (mut places, mut next) = (room("flows", flows)?, [0, 0]);
        let mut pacer = Pacer::new();
        for _ in 0..flows {
            let [one, two] =
                [0, 1].map(|part| parts[part].arrivals().get(next[part]).copied().unwrap_or(f64::INFINITY));
            let part = usize::from(two < one);
            places.push((part, next[part]));
            next[part] += 1;
            pacer.did(1)?;
        }
        let real = |of: &dyn Fn(usize, usize) -> f64| places.iter().map(|&(part, flow)| of(part, flow)).collect();
        let end = |of: fn(&Self) -> &[usize]| places.iter().map(|&(part, flow)| of(parts[part])[flow]).collect();
        let merged = Self::new(
            real(&|part, flow| parts[part].arrivals()[flow]),
            end(Self::sources),
            end(Self::destinations),
            real(&|part, flow| parts[part].sizes()[flow]),
        )?;
        let merged = match parts.map(Self::weights) {
            [None, None] => merged,
            weights => merged.with_weights(real(&|part, flow| weights[part].map_or(1.0, |weights| weights[flow])))?,
        };
        let merged = match parts.map(Self::production) {
            [Some(one), Some(two)] => {
                let rates = [one.rates(), two.rates()];
                merged.with_production(Production::new(real(&|part, flow| rates[part][flow]), one.buffer())?)?
            }
            _ => merged,
        };
        let merged = match parts.map(Self::coflows) {
            [0, 0] => merged,
            [before, _] => {
                let number = |&(part, flow): &(usize, usize)| {
                    let first = if part == 0 { 0 } else { before as u32 };
                    parts[part].coflow(flow).map(|coflow| first + coflow)
                };
                merged.with_coflows(places.iter().map(number).collect())?
            }
        };
        if parts.iter().all(|part| part.dependencies.is_none()) {
            return Ok(merged);
        }
        let mut numbers = parts.map(|part| vec![0; part.len()]);
        places.iter().enumerate().for_each(|(number, &(part, flow))| numbers[part][flow] = number as u32);
        let waits = parts.iter().map(|part| part.dependencies().map_or(0, |own| own.indices().len())).sum();
        let (mut indptr, mut indices, mut delays) = (vec![0], room("waits of flows", waits)?, room("delays", flows)?);
        for &(part, flow) in &places {
            let own = parts[part].dependencies().map_or(&[][..], |own| own.after(flow));
            indices.extend(own.iter().map(|&before| numbers[part][before as usize]));
            indptr.push(indices.len());
            delays.push(parts[part].dependencies().map_or(0.0, |own| own.delay(flow)));
            pacer.did(1 + own.len())?;
        }
        merged.with_dependencies(Dependencies::new(indptr, indices, delays)?)
    }
}

impl TryFrom<Plain> for Workload {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self> {
        let Plain { arrivals, sources, destinations, sizes, production, weights, dependencies, coflows } = plain;
        let sizes = sizes.into_iter().map(|size| size.unwrap_or(f64::INFINITY)).collect();
        let workload = Self::new(arrivals, sources, destinations, sizes)?;
        let workload = match production {
            Some(production) => workload.with_production(production)?,
            None => workload,
        };
        let workload = match weights {
            Some(weights) => workload.with_weights(weights)?,
            None => workload,
        };
        let workload = match dependencies {
            Some(dependencies) => workload.with_dependencies(dependencies)?,
            None => workload,
        };
        match coflows {
            Some(coflows) => workload.with_coflows(coflows),
            None => Ok(workload),
        }
    }
}

impl From<Workload> for Plain {
    fn from(workload: Workload) -> Self {
        let coflows =
            workload.coflows.as_ref().map(|coflows| (0..workload.len()).map(|flow| coflows.of(flow)).collect());
        let Workload { columns, production, weights, dependencies, .. } = workload;
        let dependencies = dependencies.map(Arc::unwrap_or_clone);
        let Columns { arrivals, sources, destinations, sizes } = Arc::unwrap_or_clone(columns);
        let sizes = sizes.into_iter().map(|size| size.is_finite().then_some(size)).collect();
        let (production, weights) = (production.map(Arc::unwrap_or_clone), weights.map(Arc::unwrap_or_clone));
        Self { arrivals, sources, destinations, sizes, production, weights, dependencies, coflows }
    }
}
