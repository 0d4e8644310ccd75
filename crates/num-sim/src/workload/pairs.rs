//! The pairs of ends that exchange flows.

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::Workload;
use super::draws::{Draw, rng};
use crate::error::{Error, Result};
use crate::sizes::Sizes;

/// Pairs of ends that exchange flows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pairs {
    /// Any two different ends of the network, all pairs alike.
    Uniform,
    /// Those listed, as (source, destination), all alike; one listed twice is drawn twice as often.
    Listed(Vec<(usize, usize)>),
}

impl Pairs {
    /// Every end sends to one other and receives from one other: a random permutation without fixed points.
    pub fn permutation(net: &Topology, seed: u64) -> Self {
        let mut rng = rng(seed, Draw::Pairs);
        // Sattolo's shuffle leaves a single cycle, in which no end follows itself.
        let mut to: Vec<usize> = (0..net.ends()).collect();
        for end in (1..to.len()).rev() {
            to.swap(end, rng.random_range(0..end as u64) as usize);
        }
        Self::Listed(to.into_iter().enumerate().collect())
    }

    /// `senders` random ends, or all others if there are fewer, send to one receiver.
    ///
    /// # Errors
    /// A setting's, for a receiver that is no end of the network.
    pub fn incast(net: &Topology, receiver: usize, senders: usize, seed: u64) -> Result<Self> {
        let ends = net.ends();
        if receiver >= ends {
            return Err(Error::setting("receiver", receiver, &format!("an end below {ends}")));
        }
        let mut others: Vec<usize> = (0..ends).filter(|&end| end != receiver).collect();
        others.shuffle(&mut rng(seed, Draw::Pairs));
        others.truncate(senders);
        Ok(Self::Listed(others.into_iter().map(|sender| (sender, receiver)).collect()))
    }

    /// Every end sends to every other one.
    ///
    /// # Errors
    /// The core's, when the pairs do not fit in memory or the work is stopped.
    pub fn all_to_all(net: &Topology) -> Result<Self> {
        let mut pairs = memory::room("pairs of ends", net.ends() * (net.ends() - 1))?;
        Self::each_to_each(net, |source, destination| pairs.push((source, destination)))?;
        Ok(Self::Listed(pairs))
    }

    /// Hands over every end with every other one, without a list of them.
    ///
    /// # Errors
    /// The core's, when the work is stopped.
    pub fn each_to_each(net: &Topology, mut take: impl FnMut(usize, usize)) -> Result<()> {
        let (ends, mut pacer) = (net.ends(), Pacer::new());
        for source in 0..ends {
            (0..source).chain(source + 1..ends).for_each(|destination| take(source, destination));
            pacer.did(ends)?;
        }
        Ok(())
    }

    /// Draws one.
    pub(super) fn sample(&self, net: &Topology, rng: &mut impl Rng) -> (usize, usize) {
        // Of u64, whose draws do not depend on the width of usize.
        let mut below = |count: usize| rng.random_range(0..count as u64) as usize;
        match self {
            Self::Uniform => {
                let (source, other) = (below(net.ends()), below(net.ends() - 1));
                (source, other + usize::from(other >= source))
            }
            Self::Listed(pairs) => pairs[below(pairs.len())],
        }
    }

    /// What their senders can send in all, or their receivers receive if that is less, in bit/s: the capacity of the
    /// links that leave the ones and that enter the others.
    pub(super) fn capacity(&self, net: &Topology) -> f64 {
        let nodes = net.node_names().len();
        let (mut sends, mut receives) = (vec![matches!(self, Self::Uniform); nodes], Vec::new());
        match self {
            Self::Uniform => {
                sends[net.ends()..].fill(false);
                receives.clone_from(&sends);
            }
            Self::Listed(pairs) => {
                receives.resize(nodes, false);
                for &(source, destination) in pairs {
                    (sends[source], receives[destination]) = (true, true);
                }
            }
        }
        let (mut sent, mut received) = (0.0, 0.0);
        for (number, link) in (0..).zip(net.links()) {
            let (from, to, shared) = (link.from as usize, link.to as usize, net.is_shared(number));
            sent += if sends[from] || shared && sends[to] { link.capacity } else { 0.0 };
            received += if receives[to] || shared && receives[from] { link.capacity } else { 0.0 };
        }
        f64::min(sent, received)
    }

    /// Whether all of them join two ends of the network.
    pub(super) fn check(&self, net: &Topology) -> Result<()> {
        let Self::Listed(pairs) = self else { return Ok(()) };
        let ends = net.ends();
        if pairs.is_empty() {
            return Err(Error::setting("pairs", "empty", "at least one pair of ends"));
        }
        let wrong = |&(source, destination): &(usize, usize)| source.max(destination) >= ends || source == destination;
        match pairs.iter().position(wrong) {
            Some(pair) => {
                let (name, value) = (format!("pairs[{pair}]"), format!("{:?}", pairs[pair]));
                Err(Error::setting(&name, value, &format!("two different ends below {ends}")))
            }
            None => Ok(()),
        }
    }
}

impl Workload {
    /// One flow for each listed pair, all at time 0.
    ///
    /// # Errors
    /// A setting's, naming the pair that is none; [`Pairs::Uniform`] lists none.
    pub fn at_once(net: &Topology, pairs: &Pairs, sizes: &Sizes, seed: u64) -> Result<Self> {
        pairs.check(net)?;
        let Pairs::Listed(pairs) = pairs else {
            return Err(Error::setting("pairs", "uniform", "a list of pairs"));
        };
        let (sources, destinations) = pairs.iter().copied().unzip();
        let (mut rng, mut pacer) = (rng(seed, Draw::Sizes), Pacer::new());
        let mut draw = |_: &(usize, usize)| pacer.did(1).map(|()| sizes.sample(&mut rng));
        let sizes = pairs.iter().map(&mut draw).collect::<netnum_core::Result<_>>()?;
        Self::new(vec![0.0; pairs.len()], sources, destinations, sizes)
    }

    /// One flow from each of the senders of [`Pairs::incast`] to one receiver, all at time 0.
    ///
    /// # Errors
    /// Those of [`Pairs::incast`] and [`at_once`](Self::at_once).
    pub fn incast(net: &Topology, receiver: usize, senders: usize, sizes: &Sizes, seed: u64) -> Result<Self> {
        Self::at_once(net, &Pairs::incast(net, receiver, senders, seed)?, sizes, seed)
    }

    /// One flow from each end to another, each of which receives one, all at time 0: [`Pairs::permutation`].
    ///
    /// # Errors
    /// Those of [`at_once`](Self::at_once).
    pub fn permutation(net: &Topology, sizes: &Sizes, seed: u64) -> Result<Self> {
        Self::at_once(net, &Pairs::permutation(net, seed), sizes, seed)
    }

    /// One flow from every end to every other one, all at time 0.
    ///
    /// # Errors
    /// Those of [`Pairs::all_to_all`] and [`at_once`](Self::at_once).
    pub fn all_to_all(net: &Topology, sizes: &Sizes, seed: u64) -> Result<Self> {
        Self::at_once(net, &Pairs::all_to_all(net)?, sizes, seed)
    }
}
