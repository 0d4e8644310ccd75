//! Which flows a flow waits for, and for how long after them.
//!
//! ```text
//! start_f = max(arrival_f, max over g in after_f of end_g + delay_f)        start_f = arrival_f where after_f is empty
//! ```

use netnum_core::internal::interrupt::Pacer;
use serde::{Deserialize, Serialize};

use super::Workload;
use crate::error::{Error, Result};

/// The flows that each flow waits for: it starts when they all have ended, and its delay after the last of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Dependencies {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    delays: Vec<f64>,
}

/// Dependencies as they are written down.
#[derive(Serialize, Deserialize)]
struct Plain {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    delays: Vec<f64>,
}

impl Dependencies {
    /// Flow f waits for `indices[indptr[f]..indptr[f + 1]]`, and for `delays[f]` seconds after the last of them. A flow
    /// that waits for none starts when it arrives, whatever its delay.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there are a delay per flow and one more number in `indptr`; a setting's
    /// for an `indptr` that does not begin with 0, decreases, or ends with another number than that of `indices`;
    /// [`Error::Flow`] naming the first flow with a delay that is negative or not finite.
    pub fn new(indptr: Vec<usize>, indices: Vec<u32>, delays: Vec<f64>) -> Result<Self> {
        let flows = indptr.len().saturating_sub(1);
        if delays.len() != flows {
            return Err(netnum_core::Error::Length {
                what: "delay".into(),
                found: delays.len(),
                expected: flows,
                per: "flow",
            }
            .into());
        }
        let is_whole = indptr.first() == Some(&0) && indptr.is_sorted() && indptr.last() == Some(&indices.len());
        if !is_whole {
            let expected =
                format!("numbers from 0 to {}, those of flows waited for, which do not decrease", indices.len());
            return Err(Error::setting("indptr", format!("{indptr:.9?}"), &expected));
        }
        if let Some(flow) = delays.iter().position(|delay| !(delay.is_finite() && *delay >= 0.0)) {
            let (value, expected) = (delays[flow], "a finite number >= 0".into());
            return Err(Error::Flow { flow, what: "delay", value, expected });
        }
        Ok(Self { indptr, indices, delays })
    }

    /// How many flows there are.
    pub fn flows(&self) -> usize {
        self.delays.len()
    }

    /// The flows that a flow waits for.
    ///
    /// # Panics
    /// If there is no such flow; so does the next.
    pub fn after(&self, flow: usize) -> &[u32] {
        &self.indices[self.indptr[flow]..self.indptr[flow + 1]]
    }

    /// Seconds from the end of the last of them to its start.
    pub fn delay(&self, flow: usize) -> f64 {
        self.delays[flow]
    }

    /// The delays of all flows, in seconds.
    pub fn delays(&self) -> &[f64] {
        &self.delays
    }

    /// Where the flows that each flow waits for begin in [`indices`](Self::indices), and where the last ones end.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// The flows that flows wait for, one flow after the other.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The flows that wait for each flow, in the same form.
    pub(crate) fn followers(&self) -> (Vec<usize>, Vec<u32>) {
        let mut indptr = vec![0; self.flows() + 1];
        self.indices.iter().for_each(|&before| indptr[before as usize + 1] += 1);
        for flow in 0..self.flows() {
            indptr[flow + 1] += indptr[flow];
        }
        let (mut next, mut followers) = (indptr.clone(), vec![0; self.indices.len()]);
        for flow in 0..self.flows() {
            for &before in self.after(flow) {
                followers[next[before as usize]] = flow as u32;
                next[before as usize] += 1;
            }
        }
        (indptr, followers)
    }

    /// Refuses waits for flows that there are not, that never end, and that wait in turn.
    pub(super) fn check(&self, workload: &Workload) -> Result<()> {
        let (flows, mut pacer) = (workload.len(), Pacer::new());
        if self.flows() != flows {
            let (what, found) = ("after".into(), self.flows());
            return Err(netnum_core::Error::Length { what, found, expected: flows, per: "flow" }.into());
        }
        for flow in 0..flows {
            pacer.did(1 + self.after(flow).len())?;
            for &before in self.after(flow) {
                let wrong =
                    |expected: String| Err(Error::Flow { flow, what: "after", value: f64::from(before), expected });
                match before as usize {
                    own if own == flow => return wrong("another flow than itself".into()),
                    none if none >= flows => return wrong(format!("a flow from 0 to {}", flows - 1)),
                    endless if workload.sizes()[endless] == f64::INFINITY => {
                        return wrong(format!("a flow that ends: flow {endless} has size inf"));
                    }
                    _ => {}
                }
            }
        }
        match self.circle()? {
            Some(flows) => Err(Error::Circle { flows }),
            None => Ok(()),
        }
    }

    /// Flows of which each waits for the next one and the last for the first, if there are such.
    fn circle(&self) -> Result<Option<Vec<usize>>> {
        let (starts, followers) = self.followers();
        let mut waits: Vec<usize> = (0..self.flows()).map(|flow| self.after(flow).len()).collect();
        let mut free: Vec<usize> = (0..self.flows()).filter(|&flow| waits[flow] == 0).collect();
        let (mut freed, mut pacer) = (0, Pacer::new());
        while let Some(flow) = free.pop() {
            freed += 1;
            let following = &followers[starts[flow]..starts[flow + 1]];
            pacer.did(1 + following.len())?;
            for &follower in following {
                waits[follower as usize] -= 1;
                if waits[follower as usize] == 0 {
                    free.push(follower as usize);
                }
            }
        }
        if freed == self.flows() {
            return Ok(None);
        }
        // Each flow that is left waits for another that is left: whoever follows these comes around.
        let (mut places, mut walk) = (vec![usize::MAX; self.flows()], Vec::new());
        let mut next = waits.iter().position(|&waits| waits > 0);
        while let Some(flow) = next.filter(|&flow| places[flow] == usize::MAX) {
            places[flow] = walk.len();
            walk.push(flow);
            next = self.after(flow).iter().map(|&before| before as usize).find(|&before| waits[before] > 0);
        }
        Ok(next.map(|first| walk.split_off(places[first])))
    }
}

impl TryFrom<Plain> for Dependencies {
    type Error = Error;

    fn try_from(Plain { indptr, indices, delays }: Plain) -> Result<Self> {
        Self::new(indptr, indices, delays)
    }
}

impl From<Dependencies> for Plain {
    fn from(Dependencies { indptr, indices, delays }: Dependencies) -> Self {
        Self { indptr, indices, delays }
    }
}
