//! Flows that come and go, in blocks of either precision.

use std::num::NonZeroUsize;

use netnum_core::Result;
use netnum_core::internal::{PowerDemand, Respond};
use serde::{Deserialize, Serialize};

use super::{FlowBlocks, OfPath, Partition, Sample, Several, Spot};

/// The numbers that are kept of flows: weights, rates, and their sums within a block. Prices and loads of links are f64
/// in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Rates, prices, and slopes of about x/(α q) lie within 1e±200.
    #[default]
    F64,
    /// Half the memory, rates to about 1e-6 (Flowtune's real-time variant). The same within 1e±30.
    F32,
}

impl Precision {
    /// Numbers up to this, and not below its inverse, stay numbers also when ten million of them are added.
    pub(crate) fn largest(self) -> f64 {
        match self {
            Self::F64 => 1e200,
            Self::F32 => 1e30,
        }
    }
}

/// [`FlowBlocks`] of one of the precisions.
pub(crate) enum LiveFlows {
    F64(FlowBlocks<f64>),
    F32(FlowBlocks<f32>),
}

/// Calls the blocks, whichever they are.
macro_rules! blocks {
    ($self:expr, $flows:ident => $call:expr) => {
        match $self {
            LiveFlows::F64($flows) => $call,
            LiveFlows::F32($flows) => $call,
        }
    };
}

impl LiveFlows {
    /// Blocks without flows, laid out for paths like these.
    ///
    /// # Errors
    /// [`Error::Threads`](netnum_core::Error::Threads), [`Error::Stopped`](netnum_core::Error::Stopped).
    pub(crate) fn new(links: usize, sample: &Sample, precision: Precision, threads: NonZeroUsize) -> Result<Self> {
        let partition = Partition::new(links, sample)?;
        Ok(match precision {
            Precision::F64 => Self::F64(FlowBlocks::new(partition, threads)?),
            Precision::F32 => Self::F32(FlowBlocks::new(partition, threads)?),
        })
    }

    pub(crate) fn precision(&self) -> Precision {
        match self {
            Self::F64(_) => Precision::F64,
            Self::F32(_) => Precision::F32,
        }
    }

    pub(crate) fn pin(&mut self) {
        blocks!(self, flows => flows.pin());
    }

    pub(crate) fn add(
        &mut self,
        flow: u32,
        path: &[u32],
        coefficients: Option<&[f64]>,
        demand: &PowerDemand,
        rates: [f64; 2],
    ) -> Spot {
        blocks!(self, flows => flows.add(flow, path, coefficients, demand, rates))
    }

    pub(crate) fn remove(&mut self, spot: Spot) -> Option<u32> {
        blocks!(self, flows => flows.remove(spot))
    }

    pub(crate) fn add_several(&mut self, flow: u32, first: u32, several: &Several<'_>) -> Spot {
        blocks!(self, flows => flows.add_several(flow, first, several))
    }

    pub(crate) fn remove_several(&mut self, spot: Spot) -> Option<u32> {
        blocks!(self, flows => flows.remove_several(spot))
    }

    pub(crate) fn of_paths(&self, spot: Spot) -> Vec<OfPath> {
        blocks!(self, flows => flows.of_paths(spot))
    }

    pub(crate) fn set_limits(&mut self, spot: Spot, floor: f64, ceilings: &[f64]) {
        blocks!(self, flows => flows.set_limits(spot, floor, ceilings));
    }

    pub(crate) fn set_split(&mut self, spot: Spot, rates: &[f64]) {
        blocks!(self, flows => flows.set_split(spot, rates));
    }

    pub(crate) fn each_several<E>(
        &self,
        look: impl FnMut(u32, &mut dyn Iterator<Item = [f64; 2]>) -> Result<(), E>,
    ) -> Result<(), E> {
        blocks!(self, flows => flows.each_several(look))
    }

    pub(crate) fn rates(&self, spot: Spot) -> [f64; 2] {
        blocks!(self, flows => flows.rates(spot))
    }

    pub(crate) fn set_rates(&mut self, spot: Spot, rates: [f64; 2]) {
        blocks!(self, flows => flows.set_rates(spot, rates));
    }

    pub(crate) fn set_floor(&mut self, spot: Spot, floor: f64) {
        blocks!(self, flows => flows.set_floor(spot, floor));
    }

    pub(crate) fn each_state<E>(&self, look: impl FnMut(u32, Vec<OfPath>) -> Result<(), E>) -> Result<(), E> {
        blocks!(self, flows => flows.each_state(look))
    }

    pub(crate) fn path(&self, spot: Spot) -> Vec<u32> {
        blocks!(self, flows => flows.path(spot))
    }

    pub(crate) fn coefficients(&self, spot: Spot) -> Option<Vec<f64>> {
        blocks!(self, flows => flows.coefficients(spot))
    }

    pub(crate) fn each_rate(&self, look: impl FnMut(u32, [f64; 2])) {
        blocks!(self, flows => flows.each_rate(look));
    }

    pub(crate) fn each_flow<E>(
        &self,
        look: impl FnMut(u32, &[u32], Option<&[f64]>, [f64; 2]) -> Result<(), E>,
    ) -> Result<(), E> {
        blocks!(self, flows => flows.each_flow(look))
    }

    pub(crate) fn set_feasible_rates(&mut self, rates: Vec<f64>) {
        blocks!(self, flows => flows.set_feasible_rates(rates));
    }

    pub(crate) fn normalize(&mut self, fractions: &[f64]) {
        blocks!(self, flows => flows.normalize(fractions));
    }
}

impl Respond for LiveFlows {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        blocks!(self, flows => flows.respond(prices, priced, sums))
    }

    fn rates_into(&self, rates: &mut [f64]) {
        blocks!(self, flows => flows.rates_into(rates));
    }

    fn accepted(&mut self) {
        blocks!(self, flows => flows.accepted());
    }
}
