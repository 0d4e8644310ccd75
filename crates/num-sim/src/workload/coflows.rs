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
    pub(super) fn new(of: Vec<u32>) -> Result<Self> {
        let count = of.iter().filter(|&&coflow| coflow != NONE).max().map_or(0, |&last| last as usize + 1);
        if count > of.len() {
            let expected = format!("numbers below {}, that of flows", of.len());
            return Err(Error::setting("coflow", count - 1, &expected));
        }
        let mut has_flows = vec![false; count];
        of.iter().filter(|&&coflow| coflow != NONE).for_each(|&coflow| has_flows[coflow as usize] = true);
        if let Some(empty) = has_flows.iter().position(|has| !has) {
            let expected = format!("every number from 0 to {}: coflow {empty} has no flow", count - 1);
            return Err(Error::setting("coflow", format!("without {empty}"), &expected));
        }
        Ok(Self { of, count })
    }

    pub(super) fn of(&self, flow: usize) -> Option<u32> {
        Some(self.of[flow]).filter(|&coflow| coflow != NONE)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}
