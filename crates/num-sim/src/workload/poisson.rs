//! Flows that arrive at random: independent exponential gaps, independent sizes, independent pairs of ends.
//!
//! ```text
//! λ = load · C / (8 · mean size)        flows per second;  C in bit/s, sizes in bytes
//! ```
//!
//! The load is what is offered to the servers' links: C is what all senders together can send (the capacity of the
//! links that leave them) or, if that is less, what all receivers together can receive. With uniform pairs a load of
//! 0.6 keeps every server's link busy for 60 % of the time; with one receiver it is the load of the receiver's link.
//! For another reference, for example a bisection, `links` lists the links whose capacities add up to C.
//!
//! A load of 1 or more is allowed: flows then pile up for as long as they arrive.

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use netnum_core::internal::numerics::ln;
use rand::RngExt;

use super::draws::{Draw, rng};
use super::{Pairs, Workload};
use crate::error::{Error, Result, positive};
use crate::numbers::{BITS, FLOW};
use crate::setters::setters;
use crate::sizes::Sizes;

/// How flows arrive.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Poisson {
    /// Their sizes.
    pub sizes: Sizes,
    /// The load that they offer, as a fraction of the capacity. Finite and > 0.
    pub load: f64,
    /// The flows end with this many, or earlier, by the duration. Default: 100 000.
    pub flows: usize,
    /// No flow arrives after this many seconds. Default: ∞.
    pub duration: f64,
    /// The links whose capacity counts as a load of 1. Default: those of the senders or of the receivers.
    pub links: Option<Vec<u32>>,
}

setters!(Poisson {
    with_sizes: sizes: Sizes,
    with_load: load: f64,
    with_flows: flows: usize,
    with_duration: duration: f64,
    with_links: links: Option<Vec<u32>>,
});

impl Poisson {
    /// 100 000 flows of those sizes at that load.
    pub fn new(sizes: Sizes, load: f64) -> Self {
        Self { sizes, load, flows: 100_000, duration: f64::INFINITY, links: None }
    }

    fn check(&self, net: &Topology) -> Result<()> {
        positive("load", self.load)?;
        if self.duration.is_nan() || self.duration < 0.0 {
            return Err(Error::setting("duration", self.duration, "a number >= 0"));
        }
        let links = net.capacities().len();
        match self.links.iter().flatten().find(|&&link| link as usize >= links) {
            Some(link) => Err(Error::setting("links", link, &format!("links below {links}"))),
            None => Ok(()),
        }
    }
}

impl Workload {
    /// Poisson arrivals between pairs of ends. The same seed gives the same flows on every platform.
    ///
    /// # Errors
    /// A setting's, for a load that is not finite and > 0, a duration < 0, pairs or links that the network does not
    /// have, pairs or links of no capacity, and more flows than there are numbers for;
    /// [`netnum_core::Error::Memory`] for more than memory holds; [`netnum_core::Error::Stopped`].
    pub fn poisson(net: &Topology, arrivals: &Poisson, pairs: &Pairs, seed: u64) -> Result<Self> {
        arrivals.check(net)?;
        pairs.check(net)?;
        let capacity = match &arrivals.links {
            Some(links) => links.iter().map(|&link| net.capacities()[link as usize]).sum(),
            None => pairs.capacity(net),
        };
        if !(capacity > 0.0 && capacity < f64::INFINITY) {
            return Err(Error::setting("the capacity that a load is a part of", capacity, "a finite number > 0"));
        }
        let gap = BITS * arrivals.sizes.mean() / (arrivals.load * capacity);
        if arrivals.flows == usize::MAX && arrivals.duration == f64::INFINITY {
            return Err(Error::setting("flows", "unbounded, and so is duration", "one of them"));
        }
        let about = f64::min(arrivals.flows as f64, (arrivals.duration / gap).ceil());
        if about > f64::from(u32::MAX) {
            return Err(Error::setting("flows", about, "at most 4294967295"));
        }
        let [mut gaps, mut ends, mut bytes] = [Draw::Gaps, Draw::Pairs, Draw::Sizes].map(|draw| rng(seed, draw));
        let about = about as usize;
        let (mut times, mut sources) = (room("flows", about)?, room("flows", about)?);
        let (mut destinations, mut sizes) = (room("flows", about)?, room("flows", about)?);
        let (mut now, mut pacer) = (0.0, Pacer::new());
        while times.len() < arrivals.flows {
            now -= gap * ln(1.0 - gaps.random::<f64>());
            if now > arrivals.duration {
                break;
            }
            let (source, destination) = pairs.sample(net, &mut ends);
            times.push(now);
            sources.push(source);
            destinations.push(destination);
            sizes.push(arrivals.sizes.sample(&mut bytes));
            pacer.did(FLOW)?;
        }
        // Checked like any other: extreme sizes and loads may still overflow.
        Self::new(times, sources, destinations, sizes)
    }
}
