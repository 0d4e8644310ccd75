//! Coflows: groups of flows that are worth nothing before the last of them has ended.
//!
//! Source: M. Chowdhury and I. Stoica, *Coflow: a networking abstraction for cluster applications*, HotNets 2012.

use crate::error::{Error, Result};
use crate::numbers::NONE;

/// The coflow of every flow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coflows {
    /// [`NONE`] for a flow that is in none.
    of: Vec<u32>,
    count: usize,
}

impl Coflows {
    /// None where no flow is in one.
    pub(super) fn new(given: Vec<Option<u32>>) -> Result<Option<Self>> {
        let flows = given.len();
        let Some(last) = given.iter().flatten().max() else { return Ok(None) };
        if *last as usize >= flows {
            let flow = given.iter().position(|coflow| coflow == &Some(*last)).unwrap_or_default();
            let expected = format!("a number below {flows}, that of the flows");
            return Err(Error::Flow { flow, what: "coflow", value: f64::from(*last), expected });
        }
        let (count, mut has_flows) = (*last as usize + 1, vec![false; flows]);
        given.iter().flatten().for_each(|&coflow| has_flows[coflow as usize] = true);
        if let Some(empty) = has_flows[..count].iter().position(|has| !has) {
            return Err(Error::setting("coflow", format!("without {empty}"), "numbers from 0 on without gaps"));
        }
        Ok(Some(Self { of: given.into_iter().map(|coflow| coflow.unwrap_or(NONE)).collect(), count }))
    }

    /// Of so many flows that are in none.
    pub(super) fn none(flows: usize) -> Self {
        Self { of: vec![NONE; flows], count: 0 }
    }

    /// One more flow, in one of the coflows, in the next one or in none.
    pub(super) fn push(&mut self, coflow: Option<u32>) {
        self.of.push(coflow.unwrap_or(NONE));
        self.count = self.count.max(coflow.map_or(0, |coflow| coflow as usize + 1));
    }

    pub(super) fn of(&self, flow: usize) -> Option<u32> {
        Some(self.of[flow]).filter(|&coflow| coflow != NONE)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}
