//! The flows of parallel jobs, which wait for each other: collectives, shuffles, pipelines, requests.
//!
//! | | steps, of n workers with B bytes each | sent by a worker |
//! |---|---|---|
//! | all-reduce, ring | 2 (n − 1), of B/n | 2 B (n − 1)/n |
//! | all-reduce, direct | 2, of n − 1 flows of B/n | the same |
//! | all-reduce, halving and doubling | 2 log₂ n, of B/2, B/4, …, B/4, B/2 | the same |
//! | all-reduce, tree | 2 ⌊log₂ n⌋, of B | up to 3 B |
//!
//! Source: R. Thakur, R. Rabenseifner and W. Gropp, *Optimization of collective communication operations in MPICH*,
//! 2005, for all but the direct one.

use std::collections::HashSet;

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;

use super::{Dependencies, Workload};
use crate::error::{Error, Result, positive};

/// How an all-reduce is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllReduce {
    /// Every worker sends a part to the next one in a ring, 2 (n − 1) times.
    #[default]
    Ring,
    /// Every worker sends each of the others its part of the sum, and then the summed part.
    Direct,
    /// With partners at distances n/2, n/4, … 1, and back; for powers of two.
    HalvingDoubling,
    /// Sums go up a binary tree, and the total down.
    Tree,
}

impl AllReduce {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ring, Self::Direct, Self::HalvingDoubling, Self::Tree];

    /// Its name: `ring`, `direct`, `halving-doubling`, `tree`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Direct => "direct",
            Self::HalvingDoubling => "halving-doubling",
            Self::Tree => "tree",
        }
    }
}

/// Flows with those that each waits for, all at time 0.
struct Steps {
    sources: Vec<usize>,
    destinations: Vec<usize>,
    sizes: Vec<f64>,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    pacer: Pacer,
}

impl Steps {
    /// Room for so many flows, which wait for so many in all.
    fn new(flows: u128, waits: u128) -> Result<Self> {
        let (flows, waits) = (counted("flows", flows)?, counted("waits of flows", waits)?);
        let (sources, destinations, sizes) = (room("flows", flows)?, room("flows", flows)?, room("flows", flows)?);
        let (mut indptr, indices) = (room("flows", flows + 1)?, room("waits of flows", waits)?);
        indptr.push(0);
        Ok(Self { sources, destinations, sizes, indptr, indices, pacer: Pacer::new() })
    }

    /// A flow that waits for others.
    fn add(&mut self, source: usize, destination: usize, size: f64, after: &[u32]) -> Result<()> {
        self.sources.push(source);
        self.destinations.push(destination);
        self.sizes.push(size);
        self.indices.extend_from_slice(after);
        self.indptr.push(self.indices.len());
        Ok(self.pacer.did(1 + after.len())?)
    }

    /// One coflow, each of whose flows begins so long after those that it waits for.
    fn coflow(self, delay: f64) -> Result<Workload> {
        let flows = self.sizes.len();
        let dependencies = Dependencies::new(self.indptr, self.indices, vec![delay; flows])?;
        let workload = Workload::new(vec![0.0; flows], self.sources, self.destinations, self.sizes)?;
        workload.with_dependencies(dependencies)?.with_coflows(vec![Some(0); flows])
    }
}

impl Workload {
    /// An all-reduce of some bytes, of which every worker has its own and gets the sum, from time 0 on. It is one
    /// coflow; a worker's step begins when it has sent and received what it does before.
    ///
    /// # Errors
    /// A setting's for fewer than two workers, one that the network does not have or that comes twice, a size that is
    /// not finite and > 0, and for [`HalvingDoubling`](AllReduce::HalvingDoubling) a number of workers that is no power
    /// of two.
    pub fn all_reduce(net: &Topology, size: f64, workers: &[usize], algorithm: AllReduce) -> Result<Self> {
        check_ends("workers", workers, net, 2)?;
        positive("size", size)?;
        let n = workers.len();
        let part = size / n as f64;
        if part <= 0.0 {
            return Err(Error::setting("size", size, "a number of which a part is > 0"));
        }
        let many = n as u128;
        let (flows, waits_each) = match algorithm {
            AllReduce::Ring => (2 * many * (many - 1), 2),
            AllReduce::Direct => (2 * many * (many - 1), many - 1),
            AllReduce::HalvingDoubling => (2 * many * u128::from(n.ilog2()), 2),
            AllReduce::Tree => (2 * (many - 1), 2),
        };
        let mut steps = Steps::new(flows, flows * waits_each)?;
        match algorithm {
            AllReduce::Ring => {
                for step in 0..2 * (n - 1) {
                    for worker in 0..n {
                        let before = (step.max(1) - 1) * n;
                        let received = (before + (worker + n - 1) % n) as u32;
                        let after = [(before + worker) as u32, received];
                        let after = if step == 0 { &[][..] } else { &after };
                        steps.add(workers[worker], workers[(worker + 1) % n], part, after)?;
                    }
                }
            }
            AllReduce::Direct => {
                let number = |from: usize, to: usize| (from * (n - 1) + to - usize::from(to > from)) as u32;
                let others = |worker: usize| (0..worker).chain(worker + 1..n);
                for phase in 0..2 {
                    for worker in 0..n {
                        let received = || others(worker).map(|other| number(other, worker)).collect();
                        let after: Vec<u32> = if phase == 0 { vec![] } else { received() };
                        for other in others(worker) {
                            steps.add(workers[worker], workers[other], part, &after)?;
                        }
                    }
                }
            }
            AllReduce::HalvingDoubling => {
                if !n.is_power_of_two() {
                    let expected = "a power of two of them for halving-doubling; a ring takes any number";
                    return Err(Error::setting("workers", n, expected));
                }
                let halves: Vec<usize> = (0..n.ilog2()).rev().map(|bit| 1 << bit).collect();
                let distances: Vec<usize> = halves.iter().chain(halves.iter().rev()).copied().collect();
                for (step, &distance) in distances.iter().enumerate() {
                    for worker in 0..n {
                        let after = step.checked_sub(1).map(|last| {
                            let partner = worker ^ distances[last];
                            [worker, partner].map(|of| (last * n + of) as u32)
                        });
                        let after = after.as_ref().map_or(&[][..], |after| after);
                        steps.add(workers[worker], workers[worker ^ distance], part * distance as f64, after)?;
                    }
                }
            }
            AllReduce::Tree => {
                // Worker i has the parent (i − 1)/2. Flow i − 1 is its sum on the way up, the last workers first.
                let up = |worker: usize| (n - 1 - worker) as u32;
                let children = |worker: usize| [2 * worker + 1, 2 * worker + 2].into_iter().filter(|&child| child < n);
                for worker in (1..n).rev() {
                    let after: Vec<u32> = children(worker).map(up).collect();
                    steps.add(workers[worker], workers[(worker - 1) / 2], size, &after)?;
                }
                let down = |worker: usize| (n - 2 + worker) as u32;
                for worker in 1..n {
                    let parent = (worker - 1) / 2;
                    let after: Vec<u32> = if parent == 0 { children(0).map(up).collect() } else { vec![down(parent)] };
                    steps.add(workers[parent], workers[worker], size, &after)?;
                }
            }
        }
        steps.coflow(0.0)
    }

    /// Some bytes from every worker to every other one, in n − 1 steps from time 0 on: in step s to the s-th after it.
    /// It is one coflow; a worker's step begins when it has sent and received what it does before.
    ///
    /// # Errors
    /// As of [`all_reduce`](Self::all_reduce).
    pub fn all_to_all_in_steps(net: &Topology, size: f64, workers: &[usize]) -> Result<Self> {
        check_ends("workers", workers, net, 2)?;
        positive("size", size)?;
        let n = workers.len();
        let flows = n as u128 * (n as u128 - 1);
        let mut steps = Steps::new(flows, 2 * flows)?;
        for step in 1..n {
            for worker in 0..n {
                let last = step.saturating_sub(2) * n;
                let sender = (worker + n - (step - 1)) % n;
                let after = [(last + worker) as u32, (last + sender) as u32];
                let after = if step == 1 { &[][..] } else { &after };
                steps.add(workers[worker], workers[(worker + step) % n], size, after)?;
            }
        }
        steps.coflow(0.0)
    }

    /// Batches that pass through the stages of a job from time 0 on: each goes from one stage to the next, some seconds
    /// of computing after the stage has received it and has sent the one before. It is one coflow.
    ///
    /// # Errors
    /// As of [`all_reduce`](Self::all_reduce), with `stages` for its workers; a setting's for no batch, and for seconds
    /// that are negative or not finite.
    pub fn pipeline(net: &Topology, size: f64, stages: &[usize], batches: usize, seconds: f64) -> Result<Self> {
        check_ends("stages", stages, net, 2)?;
        positive("size", size)?;
        if batches == 0 {
            return Err(Error::setting("batches", batches, "at least 1"));
        }
        not_negative(seconds)?;
        let hops = stages.len() - 1;
        let flows = hops as u128 * batches as u128;
        let mut steps = Steps::new(flows, 2 * flows)?;
        for batch in 0..batches {
            for hop in 0..hops {
                let flow = batch * hops + hop;
                let received = (hop > 0).then(|| flow as u32 - 1);
                let sent = (batch > 0).then(|| (flow - hops) as u32);
                let after: Vec<u32> = received.into_iter().chain(sent).collect();
                steps.add(stages[hop], stages[hop + 1], size, &after)?;
            }
        }
        steps.coflow(seconds)
    }

    /// The flows of a shuffle, all at time 0: some bytes from every mapper to every reducer but itself. It is one
    /// coflow.
    ///
    /// # Errors
    /// As of [`all_reduce`](Self::all_reduce), and a setting's where no flow is left.
    pub fn shuffle(net: &Topology, size: f64, mappers: &[usize], reducers: &[usize]) -> Result<Self> {
        check_ends("mappers", mappers, net, 1)?;
        check_ends("reducers", reducers, net, 1)?;
        positive("size", size)?;
        let mut steps = Steps::new(mappers.len() as u128 * reducers.len() as u128, 0)?;
        for &mapper in mappers {
            for &reducer in reducers.iter().filter(|&&reducer| reducer != mapper) {
                steps.add(mapper, reducer, size, &[])?;
            }
        }
        if steps.sizes.is_empty() {
            return Err(Error::setting("reducers", format!("{reducers:?}"), "another end than the mapper"));
        }
        steps.coflow(0.0)
    }

    /// These flows, and an answer to each: the way back, of some bytes, some seconds after it has ended. The answer to
    /// flow f is flow 2 f + 1, and f itself is 2 f; flows that wait for f do so still, and not for its answer.
    ///
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is a size per flow; a setting's for a size that is not > 0, seconds
    /// that are negative or not finite, and flows with rates of production; [`Error::Flow`] for an answer to a flow
    /// that never ends.
    pub fn with_answers(&self, sizes: &[f64], seconds: f64) -> Result<Self> {
        let flows = self.len();
        not_negative(seconds)?;
        if let Some(flow) = sizes.iter().position(|size| size.is_nan() || *size <= 0.0) {
            return Err(Error::setting(&format!("sizes[{flow}]"), sizes[flow], "a number > 0"));
        }
        if sizes.len() != flows {
            let (what, found) = ("sizes of answers".into(), sizes.len());
            return Err(netnum_core::Error::Length { what, found, expected: flows, per: "flow" }.into());
        }
        if self.production().is_some() {
            return Err(Error::setting(
                "production",
                "given",
                "flows without, since answers have no rate of production",
            ));
        }
        let twice = |of: &dyn Fn(usize) -> [f64; 2]| (0..flows).flat_map(of).collect::<Vec<f64>>();
        let ends = |one: &[usize], other: &[usize]| (0..flows).flat_map(|flow| [one[flow], other[flow]]).collect();
        let answered = Self::new(
            twice(&|flow| [self.arrivals()[flow]; 2]),
            ends(self.sources(), self.destinations()),
            ends(self.destinations(), self.sources()),
            twice(&|flow| [self.sizes()[flow], sizes[flow]]),
        )?;
        let waits = flows + self.dependencies().map_or(0, |own| own.indices().len());
        let (mut indptr, mut indices, mut delays) =
            (vec![0], room("waits of flows", waits)?, room("flows", 2 * flows)?);
        let mut pacer = Pacer::new();
        for flow in 0..flows {
            let own = self.dependencies().map_or(&[][..], |own| own.after(flow));
            indices.extend(own.iter().map(|before| 2 * before));
            pacer.did(1 + own.len())?;
            indptr.push(indices.len());
            indices.push(2 * flow as u32);
            indptr.push(indices.len());
            delays.extend([self.dependencies().map_or(0.0, |own| own.delay(flow)), seconds]);
        }
        let answered = answered.with_dependencies(Dependencies::new(indptr, indices, delays)?)?;
        let answered = match self.weights() {
            Some(weights) => answered.with_weights(twice(&|flow| [weights[flow]; 2]))?,
            None => answered,
        };
        match self.coflows() {
            0 => Ok(answered),
            _ => answered.with_coflows((0..flows).flat_map(|flow| [self.coflow(flow); 2]).collect()),
        }
    }

    /// These flows, and others some seconds after all of them have ended. Those of `next` that wait for none begin
    /// after those of these for which none waits, and as much later as they arrive; those that wait for others begin
    /// when these have ended.
    ///
    /// # Errors
    /// A setting's for seconds that are negative or not finite; [`Error::Flow`] where one of these never ends;
    /// [`netnum_core::Error::Memory`], as every one of the first waits for every one of the last; those of
    /// [`merged`](Self::merged).
    pub fn then(&self, next: &Self, seconds: f64) -> Result<Self> {
        not_negative(seconds)?;
        if self.is_empty() {
            return next.clone().shifted(seconds);
        }
        let (first, last) = (self.len(), self.arrivals()[self.len() - 1]);
        let later =
            Self::new(vec![last; next.len()], next.sources().into(), next.destinations().into(), next.sizes().into())?;
        let both = self.merged(&Self { columns: later.columns, ..next.clone() })?;
        let is_last = |flow: &usize| self.dependencies().is_none_or(|own| own.followers(*flow).is_empty());
        let ends: Vec<u32> = (0..first).filter(is_last).map(|flow| flow as u32).collect();
        let own = |flow: usize| both.dependencies().map_or(&[][..], |own| own.after(flow));
        let begins = |flow: usize| flow >= first && own(flow).is_empty();
        let begin = (first..both.len()).filter(|&flow| begins(flow)).count() as u128;
        let waits = both.dependencies().map_or(0, |own| own.indices().len()) as u128 + begin * ends.len() as u128;
        let mut indices = room("waits of flows", counted("waits of flows", waits)?)?;
        let (mut indptr, mut delays, mut pacer) = (vec![0], Vec::new(), Pacer::new());
        for flow in 0..both.len() {
            let after = if begins(flow) { &ends } else { own(flow) };
            indices.extend_from_slice(after);
            indptr.push(indices.len());
            let delay = both.dependencies().map_or(0.0, |own| own.delay(flow));
            delays.push(if begins(flow) { seconds + next.arrivals()[flow - first] } else { delay });
            pacer.did(1 + after.len())?;
        }
        both.with_dependencies(Dependencies::new(indptr, indices, delays)?)
    }
}

/// Refuses seconds that are negative or not finite.
fn not_negative(seconds: f64) -> Result<()> {
    match seconds.is_finite() && seconds >= 0.0 {
        true => Ok(()),
        false => Err(Error::setting("seconds", seconds, "a finite number >= 0")),
    }
}

/// A count that memory may hold.
fn counted(what: &str, count: u128) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::setting(what, count, "a number that fits into memory"))
}

/// Whether there are so many different ends of the network.
fn check_ends(name: &str, ends: &[usize], net: &Topology, least: usize) -> Result<()> {
    if ends.len() < least {
        let expected = format!("at least {least} {}", if least == 1 { "end" } else { "ends" });
        return Err(Error::setting(name, format!("{ends:?}"), &expected));
    }
    let mut seen = HashSet::new();
    for (place, &end) in ends.iter().enumerate() {
        if end >= net.ends() {
            return Err(Error::setting(
                &format!("{name}[{place}]"),
                end,
                &format!("an end from 0 to {}", net.ends() - 1),
            ));
        }
        if !seen.insert(end) {
            return Err(Error::setting(&format!("{name}[{place}]"), end, "ends that are all different"));
        }
    }
    Ok(())
}
