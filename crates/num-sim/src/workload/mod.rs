//! Which flows arrive when, from where to where, and how large they are.

mod draws;
mod pairs;
mod poisson;
mod production;
mod trace;

use std::collections::HashMap;
use std::sync::Arc;

use netnum_core::internal::interrupt::Pacer;
use serde::{Deserialize, Serialize};

pub use pairs::Pairs;
pub use poisson::Poisson;
pub use production::Production;

use crate::error::{Error, Result};

/// Flows in order of arrival, as columns.
///
/// What holds of every workload, however it was made (deserialized ones pass the same checks): all columns have one
/// entry per flow; arrivals are finite, not negative and do not decrease; sizes are finite and > 0; no flow goes to
/// where it comes from. Clones share their columns, so that a copy costs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Workload {
    columns: Arc<Columns>,
    production: Option<Arc<Production>>,
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
    sizes: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    production: Option<Production>,
}

/// The first flow between two ends.
pub(crate) struct FirstOfPair {
    pub(crate) flow: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
}

impl Workload {
    /// A trace from its columns: arrivals in seconds, source and destination ends, sizes in bytes.
    /// [`simulate`](crate::simulate) checks that its network has those ends.
    ///
    /// # Errors
    /// [`Error::Core`] for columns of different lengths; [`Error::Flow`] naming the first flow with an arrival that is
    /// negative or not finite, a size that is not finite and > 0, or a destination that is its source;
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
            if !(size.is_finite() && size > 0.0) {
                return wrong(flow, "size", size, "a finite number > 0");
            }
            if sources[flow] == destinations[flow] {
                return wrong(flow, "destination", destinations[flow] as f64, "another end than its source");
            }
            previous = time;
            pacer.did(1)?;
        }
        Ok(Self { columns: Arc::new(Columns { arrivals, sources, destinations, sizes }), production: None })
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.columns.arrivals.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.arrivals.is_empty()
    }

    /// When every flow arrives, in seconds.
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

    /// The pairs of ends that flows join, each with the first flow that does, and by flow its place among them.
    pub(crate) fn distinct_pairs(&self) -> Result<(Vec<FirstOfPair>, Vec<u32>)> {
        let (mut known, mut pairs, mut of) = (HashMap::new(), Vec::new(), Vec::with_capacity(self.len()));
        let mut pacer = Pacer::new();
        for (flow, (&source, &destination)) in self.sources().iter().zip(self.destinations()).enumerate() {
            pacer.did(1)?;
            of.push(*known.entry((source, destination)).or_insert_with(|| {
                pairs.push(FirstOfPair { flow, source, destination });
                pairs.len() as u32 - 1
            }));
        }
        Ok((pairs, of))
    }

    /// How large it is, in bytes.
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
}

impl TryFrom<Plain> for Workload {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self> {
        let Plain { arrivals, sources, destinations, sizes, production } = plain;
        let workload = Self::new(arrivals, sources, destinations, sizes)?;
        match production {
            Some(production) => workload.with_production(production),
            None => Ok(workload),
        }
    }
}

impl From<Workload> for Plain {
    fn from(Workload { columns, production }: Workload) -> Self {
        let Columns { arrivals, sources, destinations, sizes } = Arc::unwrap_or_clone(columns);
        Self { arrivals, sources, destinations, sizes, production: production.map(Arc::unwrap_or_clone) }
    }
}
