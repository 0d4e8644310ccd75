//! Which flows a flow waits for, and for how long after them.
//!
//! ```text
//! start_f = max(arrival_f, max over g in after_f of end_g + delay_f)        start_f = arrival_f where after_f is empty
//! ```

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use serde::{Deserialize, Serialize};

use super::Workload;
use crate::error::{Error, Result};

/// The flows that each flow waits for: it starts when they all have ended, and its delay after the last of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Dependencies {
    after: Lists,
    delays: Vec<f64>,
    /// The flows that wait for each flow.
    followers: Lists,
}

/// A list of flows for each flow.
#[derive(Debug, Clone, PartialEq)]
struct Lists {
    indptr: Vec<usize>,
    indices: Vec<u32>,
}

impl Lists {
    fn of(&self, flow: usize) -> &[u32] {
        &self.indices[self.indptr[flow]..self.indptr[flow + 1]]
    }

    /// By flow, those in whose lists it is.
    fn transposed(&self, pacer: &mut Pacer) -> Result<Self> {
        let flows = self.indptr.len() - 1;
        let (mut indptr, mut indices) = (vec![0; flows + 1], room::<u32>("waits of flows", self.indices.len())?);
        for &flow in &self.indices {
            indptr[flow as usize + 1] += 1;
            pacer.did(1)?;
        }
        for flow in 0..flows {
            indptr[flow + 1] += indptr[flow];
        }
        let mut next = indptr.clone();
        indices.resize(self.indices.len(), 0);
        for flow in 0..flows {
            for &of in self.of(flow) {
                indices[next[of as usize]] = flow as u32;
                next[of as usize] += 1;
            }
            pacer.did(1 + self.of(flow).len())?;
        }
        Ok(Self { indptr, indices })
    }
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
    /// [`Error::Flow`] naming the first flow with a delay that is negative or not finite, and the first that waits for
    /// itself or for a flow that there is not; [`Error::Circle`] for flows that wait for each other;
    /// [`netnum_core::Error::Memory`] and [`netnum_core::Error::Stopped`].
    pub fn new(indptr: Vec<usize>, indices: Vec<u32>, delays: Vec<f64>) -> Result<Self> {
        let flows = delays.len();
        if indptr.len() != flows + 1 {
            let (what, found) = ("indptr".into(), indptr.len());
            let error = netnum_core::Error::Length { what, found, expected: flows + 1, per: "flow, and one more" };
            return Err(error.into());
        }
        let wrong =
            |place: usize, expected: &str| Err(Error::setting(&format!("indptr[{place}]"), indptr[place], expected));
        if indptr[0] != 0 {
            return wrong(0, "0");
        }
        if let Some(place) = (0..flows).find(|&flow| indptr[flow] > indptr[flow + 1]) {
            return wrong(place + 1, &format!("at least {}, the one before it", indptr[place]));
        }
        if indptr[flows] != indices.len() {
            return wrong(flows, &format!("{}, the number of indices", indices.len()));
        }
        if let Some(flow) = delays.iter().position(|delay| !(delay.is_finite() && *delay >= 0.0)) {
            let (value, expected) = (delays[flow], "a finite number >= 0".into());
            return Err(Error::Flow { flow, what: "delay", value, expected });
        }
        let (after, mut pacer) = (Lists { indptr, indices }, Pacer::new());
        for flow in 0..flows {
            pacer.did(1 + after.of(flow).len())?;
            let wrong = |before: &&u32| **before as usize == flow || **before as usize >= flows;
            if let Some(&before) = after.of(flow).iter().find(wrong) {
                let expected = match before as usize == flow {
                    true => "another flow than itself".into(),
                    false => format!("a flow from 0 to {}", flows - 1),
                };
                return Err(Error::Flow { flow, what: "after", value: f64::from(before), expected });
            }
        }
        let followers = after.transposed(&mut pacer)?;
        let dependencies = Self { after, delays, followers };
        match dependencies.circle(&mut pacer)? {
            Some(flows) => Err(Error::Circle { flows }),
            None => Ok(dependencies),
        }
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
        self.after.of(flow)
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
        &self.after.indptr
    }

    /// The flows that flows wait for, one flow after the other.
    pub fn indices(&self) -> &[u32] {
        &self.after.indices
    }

    /// The flows that wait for a flow.
    pub(crate) fn followers(&self, flow: usize) -> &[u32] {
        self.followers.of(flow)
    }

    /// Refuses other numbers of flows than that of a workload, and waits for flows that never end.
    pub(super) fn check(&self, workload: &Workload) -> Result<()> {
        if self.flows() != workload.len() {
            let (what, found) = ("after".into(), self.flows());
            return Err(netnum_core::Error::Length { what, found, expected: workload.len(), per: "flow" }.into());
        }
        let endless = |before: &u32| workload.sizes()[*before as usize] == f64::INFINITY;
        match self.indices().iter().position(endless) {
            None => Ok(()),
            Some(place) => {
                let flow = self.indptr().partition_point(|&start| start <= place) - 1;
                let before = self.indices()[place];
                let expected = format!("a flow that ends: flow {before} has size inf");
                Err(Error::Flow { flow, what: "after", value: f64::from(before), expected })
            }
        }
    }

    /// Flows of which each waits for the next one and the last for the first, if there are such.
    fn circle(&self, pacer: &mut Pacer) -> Result<Option<Vec<usize>>> {
        let mut waits: Vec<usize> = (0..self.flows()).map(|flow| self.after(flow).len()).collect();
        let mut free: Vec<usize> = (0..self.flows()).filter(|&flow| waits[flow] == 0).collect();
        let mut freed = 0;
        while let Some(flow) = free.pop() {
            freed += 1;
            pacer.did(1 + self.followers(flow).len())?;
            for &follower in self.followers(flow) {
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
    fn from(Dependencies { after: Lists { indptr, indices }, delays, .. }: Dependencies) -> Self {
        Self { indptr, indices, delays }
    }
}
