//! What is measured of the bytes that arrived.

use std::collections::BTreeMap;

/// Bytes of each flow by time, as long as it is there.
pub(super) struct Bins(pub(super) Vec<(f64, BTreeMap<u64, u64>)>);

impl Bins {
    /// Bytes of a flow up to a time.
    fn at(&self, flow: usize, time: f64) -> u64 {
        let place = self.0.partition_point(|bin| bin.0 <= time).saturating_sub(1);
        self.0[place].1.get(&(flow as u64)).copied().unwrap_or(0)
    }

    /// Bits per second; 0 for a flow that has ended.
    pub(super) fn rates(&self, flows: &[usize], from: f64, width: f64) -> Vec<f64> {
        let bytes = |flow| self.at(flow, from + width).saturating_sub(self.at(flow, from));
        flows.iter().map(|&flow| bytes(flow) as f64 * 8.0 / width).collect()
    }

    /// Jain's index over 20 ms, the payload in bits per second, and the time until all stay at their share.
    pub(super) fn measure(&self, flows: &[usize], from: f64, to: f64) -> Part {
        let windows = ((to - from) / 0.02) as usize;
        let jains = (0..windows).map(|window| jain(&self.rates(flows, from + 0.02 * window as f64, 0.02)));
        let settle = settle(to - from, |time| {
            let rates = self.rates(flows, from + time, 0.05);
            let share = rates.iter().sum::<f64>() / rates.len() as f64;
            rates.iter().all(|rate| (rate / share - 1.0).abs() <= 0.1)
        });
        let goodput = self.rates(flows, from, to - from).iter().sum();
        Part { jain: mean(&jains.collect::<Vec<_>>()), goodput, settle }
    }
}

pub(super) struct Part {
    pub(super) jain: f64,
    pub(super) goodput: f64,
    pub(super) settle: f64,
}

pub(super) fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    if squares == 0.0 { 0.0 } else { sum * sum / (rates.len() as f64 * squares) }
}

/// When the last window begins in which a flow is away from its share, up to the whole time.
fn settle(whole: f64, is_settled: impl Fn(f64) -> bool) -> f64 {
    let windows = (whole / 0.05) as usize - 1;
    let last = (0..windows).rev().find(|&window| !is_settled(0.05 * window as f64));
    match last {
        None => 0.0,
        Some(last) if last + 1 == windows => whole,
        Some(last) => 0.05 * (last + 1) as f64,
    }
}
