//! Timelines: the rate of every flow and the load of every link over a run, as steps.
//!
//! ```text
//! value(t) = v_k for t_k ≤ t < t_(k+1), and 0 before t_0        mean over [a, b] = ∫ value dt / (b − a)
//! ```
//!
//! Rates are constant between events, so that a step per change is all there is to know.

use netnum_core::internal::check_length;
use netnum_core::internal::interrupt::Pacer;
use serde::Serialize;

use crate::error::{Error, Result};

/// The rates of flows and the loads of links over the time of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// By flow, its rate in bit/s, from its start on; 0 from its end on.
    pub rates: Steps,
    /// By link, its load in bit/s, from time 0 on.
    pub loads: Steps,
    /// By link, its capacity in bit/s, from time 0 on: 0 while it has failed, ∞ without a limit.
    pub capacities: Steps,
}

/// A piecewise constant function of time for each of some items.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Steps {
    /// Item `i` has the steps `indptr[i]..indptr[i + 1]`; empty for no items.
    indptr: Vec<usize>,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Timeline {
    /// From steps that are read from elsewhere.
    ///
    /// # Errors
    /// [`Length`](netnum_core::Error::Length) unless loads and capacities are of the same links.
    pub fn new(rates: Steps, loads: Steps, capacities: Steps) -> Result<Self> {
        check_length("capacities", capacities.len(), loads.len(), "link")?;
        Ok(Self { rates, loads, capacities })
    }

    /// The mean rate of every flow in every interval between two edges, in bit/s: flow by flow.
    ///
    /// # Errors
    /// A setting's, unless edges are at least two finite numbers that increase; [`netnum_core::Error::Stopped`].
    pub fn mean_rates(&self, edges: &[f64]) -> Result<Vec<f64>> {
        check(edges)?;
        let widths = edges.windows(2).map(|pair| pair[1] - pair[0]).cycle();
        Ok(self.rates.integrals(edges)?.into_iter().zip(widths).map(|(bits, width)| bits / width).collect())
    }

    /// What went over every link in every interval between two edges, as a part of what could have: link by link. NaN
    /// where nothing could, and without a limit.
    ///
    /// # Errors
    /// As for [`mean_rates`](Self::mean_rates).
    pub fn mean_utilization(&self, edges: &[f64]) -> Result<Vec<f64>> {
        check(edges)?;
        let (bits, most) = (self.loads.integrals(edges)?, self.capacities.integrals(edges)?);
        let part = |(bits, most): (f64, f64)| if most.is_finite() { bits / most } else { f64::NAN };
        Ok(bits.into_iter().zip(most).map(part).collect())
    }
}

fn check(edges: &[f64]) -> Result<()> {
    if edges.len() < 2 {
        return Err(Error::setting("the number of edges", edges.len(), "at least 2"));
    }
    if let Some(place) = edges.iter().position(|edge| !edge.is_finite()) {
        return Err(Error::setting(&format!("edges[{place}]"), edges[place], "a finite number"));
    }
    match (1..edges.len()).find(|&place| edges[place] <= edges[place - 1]) {
        Some(place) => {
            let expected = format!("more than {}, the edge before", edges[place - 1]);
            Err(Error::setting(&format!("edges[{place}]"), edges[place], &expected))
        }
        None => Ok(()),
    }
}

impl Steps {
    /// From parts that are read from elsewhere: item `i` has the steps `indptr[i]..indptr[i + 1]`.
    ///
    /// # Errors
    /// The core's, for an `indptr` that does not begin at 0, falls, or does not end at the number of times, and unless
    /// there is one value per time.
    pub fn new(indptr: Vec<usize>, times: Vec<f64>, values: Vec<f64>) -> Result<Self> {
        check_length("values", values.len(), times.len(), "time")?;
        let first = indptr.first().copied().unwrap_or(0);
        if first != 0 {
            return Err(Error::setting("indptr[0]", first, "0"));
        }
        if let Some(place) = (1..indptr.len()).find(|&place| indptr[place] < indptr[place - 1]) {
            let expected = format!("at least {}, the number before", indptr[place - 1]);
            return Err(Error::setting(&format!("indptr[{place}]"), indptr[place], &expected));
        }
        let end = indptr.last().copied().unwrap_or(0);
        if end != times.len() {
            return Err(Error::setting("the end of indptr", end, &format!("{}, the number of times", times.len())));
        }
        Ok(Self { indptr, times, values })
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The times at which the value of an item changes, in seconds, and the value from each of them on.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn of(&self, item: usize) -> (&[f64], &[f64]) {
        let own = self.indptr[item]..self.indptr[item + 1];
        (&self.times[own.clone()], &self.values[own])
    }

    /// All of them, as [`new`](Self::new) takes them.
    pub fn parts(&self) -> (&[usize], &[f64], &[f64]) {
        (&self.indptr, &self.times, &self.values)
    }

    /// Item by item, the integral between every two edges.
    fn integrals(&self, edges: &[f64]) -> Result<Vec<f64>> {
        let (mut integrals, mut pacer) = (Vec::with_capacity(self.len() * (edges.len() - 1)), Pacer::new());
        for item in 0..self.len() {
            let (times, values) = self.of(item);
            pacer.did(times.len() + edges.len())?;
            let mut next = times.partition_point(|&time| time <= edges[0]);
            for pair in edges.windows(2) {
                let (mut from, mut integral) = (pair[0], 0.0);
                let mut add = |value: f64, until: f64| {
                    // Without a limit for no time is nothing.
                    integral += if until > from { value * (until - from) } else { 0.0 };
                    from = until;
                };
                let value = |next: usize| if next == 0 { 0.0 } else { values[next - 1] };
                while next < times.len() && times[next] < pair[1] {
                    add(value(next), times[next]);
                    next += 1;
                }
                add(value(next), pair[1]);
                integrals.push(integral);
            }
        }
        Ok(integrals)
    }
}

/// Changes as they happen.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    items: Vec<u32>,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Changes {
    #[inline]
    pub(crate) fn push(&mut self, item: u32, time: f64, value: f64) {
        self.items.push(item);
        self.times.push(time);
        self.values.push(value);
    }

    /// As steps: of the changes of an item at one instant the last counts, and none that changes nothing.
    pub(crate) fn steps(&self, items: usize) -> Steps {
        let mut next = vec![0; items + 1];
        self.items.iter().for_each(|&item| next[item as usize + 1] += 1);
        (0..items).for_each(|item| next[item + 1] += next[item]);
        let bounds = next.clone();
        let mut order = vec![0; self.items.len()];
        for (change, &item) in self.items.iter().enumerate() {
            order[next[item as usize]] = change;
            next[item as usize] += 1;
        }
        let mut steps = Steps { indptr: vec![0], ..Steps::default() };
        for item in 0..items {
            let own = &order[bounds[item]..bounds[item + 1]];
            let first = steps.times.len();
            for (place, &change) in own.iter().enumerate() {
                let (time, value) = (self.times[change], self.values[change]);
                let is_last = own.get(place + 1).is_none_or(|&next| self.times[next] > time);
                if is_last && (steps.times.len() == first || steps.values.last() != Some(&value)) {
                    steps.times.push(time);
                    steps.values.push(value);
                }
            }
            steps.indptr.push(steps.times.len());
        }
        steps
    }
}
