//! FlowBender: a flow whose path is congested hashes again, and so takes another path at random.
//!
//! ```text
//! once per round trip:   F = marked / sent        1 if nothing was sent: the path has failed
//!                        F > T in N of them in a row  →  a new V, and so a random path, perhaps the old one
//! ```
//!
//! Only the sender acts: when a link fails its flows react at their next review, and new flows still hash onto it.
//!
//! Two extensions of the paper's §5 are off by default:
//!
//! - *Stability* (§5.1): after S moves in a row without a calm round trip in between, the flow goes to that of its last
//!   S paths that had the lowest F, and stays there for U round trips.
//! - *Gradual rerouting* (§5.2): a part of the flow, `step`, takes the new path. If that calms it, another such part
//!   follows at every round trip until all of it has moved; if not, that part tries yet another path.
//!
//! Source: Kabbani, Vamanan, Hasan, Duchene, *FlowBender: Flow-level Adaptive Routing for Improved Latency and
//! Throughput in Datacenter Networks*, CoNEXT 2014, §3 and §5.

use netnum_core::Topology;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::path_sets::PathSets;
use super::{Routing, RoutingEntry};
use crate::error::{Error, Result, positive_option};
use crate::network::{Marking, Marks, NetworkState, Route};
use crate::numbers::ALIKE;
use crate::setters::setters;
use crate::workload::Workload;

const NAME: &str = "flow-bender";

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "a flow on a congested path draws another one",
    options: options::defaults::<FlowBenderOptions>,
    make: |given, seed| Ok(Box::new(FlowBender::new(seed, given.read()?)?)),
};

/// Flows that leave congested paths.
#[derive(Debug, Clone)]
pub struct FlowBender {
    options: FlowBenderOptions,
    hash: Hash,
    path_sets: PathSets,
    /// By flow.
    flows: Vec<Bender>,
}

/// Options of [`FlowBender`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FlowBenderOptions {
    /// N, how many round trips in a row must be congested, at least 1, the default.
    pub n: u32,
    /// T, the part of what was sent that may be marked in a calm one. From 0 to 1; default 0.05.
    pub t: f64,
    /// The round-trip time in seconds, > 0. Default: 100 µs.
    pub rtt: f64,
    /// How links mark. Default: congested ones mark everything. Those that count as congested are full, so that under a
    /// policy that leaves a part of every link free, as `flowtune` does with its threshold, only
    /// [`Marking::Utilization`] of less than the other part marks anything.
    #[serde(deserialize_with = "Marking::read")]
    pub marking: Marking,
    /// The skew of the hash, see [`Ecmp::with_skew`](super::Ecmp::with_skew).
    pub skew: f64,
    /// S, the moves in a row after which a flow stays on the best path; at least 1. Default: none, it goes on.
    pub lock_after: Option<u32>,
    /// U, for how many round trips it stays there; at least 1. Default: 10.
    pub lock_for: u32,
    /// The part of a flow that moves at once, > 0 and at most 1, the default: all of it.
    pub step: f64,
    /// The attribute of links by which paths are shortest, such as a cost. Default: none, by their number of links.
    pub weight: Option<String>,
}

setters!(FlowBenderOptions {
    with_n: n: u32,
    with_t: t: f64,
    with_rtt: rtt: f64,
    with_marking: marking: Marking,
    with_skew: skew: f64,
    with_lock_after: lock_after: Option<u32>,
    with_lock_for: lock_for: u32,
    with_step: step: f64,
    with_weight: weight: Option<String>,
});

impl Default for FlowBenderOptions {
    fn default() -> Self {
        Self {
            n: 1,
            t: 0.05,
            rtt: 100e-6,
            marking: Marking::Saturated,
            skew: 0.0,
            lock_after: None,
            lock_for: 10,
            step: 1.0,
            weight: None,
        }
    }
}

impl FlowBenderOptions {
    fn check(&self) -> Result<()> {
        let wrong = |option: &str, value: f64, expected: &str| {
            Err(Error::option(&format!("routing {NAME:?}"), option, value, expected))
        };
        if self.n == 0 {
            return wrong("n", self.n.into(), "at least 1");
        }
        if !(0.0..=1.0).contains(&self.t) {
            return wrong("t", self.t, "a number from 0 to 1");
        }
        positive_option(&format!("routing {NAME:?}"), "rtt", self.rtt)?;
        if self.lock_after == Some(0) {
            return wrong("lock_after", 0.0, "at least 1");
        }
        if self.lock_for == 0 {
            return wrong("lock_for", 0.0, "at least 1");
        }
        if !(self.step > 0.0 && self.step <= 1.0) {
            return wrong("step", self.step, "a number > 0 and <= 1");
        }
        self.marking.check(NAME)
    }
}

/// The state of a flow at its sender.
#[derive(Debug, Clone, Copy, Default)]
struct Bender {
    /// Its path, and the one that `part` of it tries: the same, with 0, unless it is between two.
    path: u32,
    tries: u32,
    part: f64,
    /// The value that it hashes with.
    v: u32,
    /// Round trips in a row that were congested, since the last move.
    congested: u32,
    /// Moves in a row, and the calmest of the paths that they led to, with its F first.
    moves: u32,
    calmest: (f64, u32),
    /// Round trips for which it stays on its path.
    locked: u32,
}

impl FlowBender {
    /// With the paper's settings, or others.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for an option out of its range.
    pub fn new(seed: u64, options: FlowBenderOptions) -> Result<Self> {
        options.check()?;
        let hash = Hash::new(NAME, seed, options.skew)?;
        Ok(Self { options, hash, path_sets: PathSets::default(), flows: Vec::new() })
    }
}

impl Routing for FlowBender {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.path_sets = PathSets::new(NAME, net, workload, self.options.weight.as_deref())?;
        self.flows = vec![Bender::default(); workload.len()];
        Ok(())
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, _first: usize) -> Result<()> {
        self.path_sets.add(NAME, net, workload, self.options.weight.as_deref())?;
        self.flows.resize(workload.len(), Bender::default());
        Ok(())
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        let paths = self.path_sets.of(flow);
        let path = self.hash.pick(flow, 0, paths.len());
        self.flows[flow].take_path(path as u32);
        route.take(paths.links(path));
        Ok(())
    }

    fn period(&self) -> f64 {
        self.options.rtt
    }

    fn marking(&self) -> Marking {
        self.options.marking
    }

    fn review(&mut self, flow: usize, marks: Marks, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let Self { options, hash, path_sets, flows } = self;
        let (paths, bender) = (path_sets.of(flow), &mut flows[flow]);
        // Rates that are rounding of 0 send next to nothing.
        let capacity =
            route.links().iter().map(|&link| network.capacities[link as usize]).fold(f64::INFINITY, f64::min);
        let is_sending = marks.sent > ALIKE * capacity * options.rtt;
        let congestion = if is_sending { marks.fraction() } else { 1.0 };
        if !bender.review(congestion, options, |v| hash.pick(flow, v, paths.len()) as u32) {
            return Ok(false);
        }
        let [path, tries] = [bender.path, bender.tries].map(|path| paths.links(path as usize));
        if bender.part > 0.0 {
            route.spread([(path, 1.0 - bender.part), (tries, bender.part)]);
        } else {
            route.take(path);
        }
        Ok(true)
    }
}

impl Bender {
    /// A round trip is over, with this F: whether the flow moves.
    fn review(&mut self, congestion: f64, options: &FlowBenderOptions, pick: impl Fn(u32) -> u32) -> bool {
        if self.locked > 0 {
            self.locked -= 1;
            return false;
        }
        if congestion <= options.t + ALIKE {
            (self.congested, self.moves) = (0, 0);
            return self.follow(options.step);
        }
        if congestion <= self.calmest.0 + ALIKE {
            self.calmest = (congestion, self.tries);
        }
        self.congested += 1;
        if self.congested < options.n {
            return false;
        }
        self.congested = 0;
        if options.lock_after == Some(self.moves) {
            self.take_path(self.calmest.1);
            (self.moves, self.locked) = (0, options.lock_for);
            return true;
        }
        if self.moves == 0 {
            self.calmest.0 = f64::INFINITY;
        }
        self.moves += 1;
        self.v += 1;
        (self.tries, self.part) = (pick(self.v), 0.0);
        self.follow(options.step);
        true
    }

    /// All of the flow takes a path.
    fn take_path(&mut self, path: u32) {
        (self.path, self.tries, self.part) = (path, path, 0.0);
    }

    /// Another part of the flow follows the one that tries a path, if there is one: whether it does.
    fn follow(&mut self, step: f64) -> bool {
        if self.tries == self.path {
            return false;
        }
        self.part += step;
        if self.part > 1.0 - ALIKE {
            self.take_path(self.tries);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a flow over four paths is after each round trip, with that V picks path V mod 4: the path, the one that it
    /// tries, and the part of it that does.
    fn follow(options: &FlowBenderOptions, congestion: &[f64]) -> Vec<(u32, u32, f64)> {
        let mut bender = Bender::default();
        let mut after = |&congestion: &f64| {
            bender.review(congestion, options, |v| v % 4);
            (bender.path, bender.tries, bender.part)
        };
        congestion.iter().map(&mut after).collect()
    }

    fn paths(options: &FlowBenderOptions, congestion: &[f64]) -> Vec<u32> {
        follow(options, congestion).iter().map(|after| after.0).collect()
    }

    #[test]
    fn congested_round_trips_count_in_a_row_only() {
        let options = FlowBenderOptions::default();
        assert_eq!(paths(&options, &[0.0, 0.05, 0.06, 1.0, 0.0, 1.0]), [0, 0, 1, 2, 2, 3]);
        let twice = FlowBenderOptions { n: 2, ..options };
        assert_eq!(paths(&twice, &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0]), [0, 0, 0, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn after_too_many_moves_a_flow_stays_on_its_best_path() {
        let options = FlowBenderOptions { lock_after: Some(3), lock_for: 2, ..FlowBenderOptions::default() };
        // From path 0, which does not count, to 1, 2 and 3; the second of these was the calmest. Then it goes on.
        let congestion = [0.1, 0.5, 0.2, 0.9, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(paths(&options, &congestion), [1, 2, 3, 2, 2, 2, 0, 1]);
        // A calm round trip on the way, and the moves are counted from there.
        assert_eq!(paths(&options, &[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), [1, 2, 2, 3, 0, 1]);
        // Of paths that are equal to rounding, the last.
        assert_eq!(paths(&options, &[0.1, 0.5, 0.2, 0.2 + 1e-15]), [1, 2, 3, 3]);
    }

    #[test]
    fn congestion_above_the_threshold_by_rounding_does_not_count() {
        let never = FlowBenderOptions { t: 1.0, ..FlowBenderOptions::default() };
        assert_eq!(paths(&never, &[1.0 + f64::EPSILON]), [0]);
    }

    #[test]
    fn part_of_a_flow_tries_a_path_and_the_rest_follows() {
        let options = FlowBenderOptions { step: 0.4, ..FlowBenderOptions::default() };
        assert_eq!(follow(&options, &[1.0, 0.0, 0.0, 0.0]), [(0, 1, 0.4), (0, 1, 0.8), (1, 1, 0.0), (1, 1, 0.0)]);
        // Still congested: another one. The fourth is the path of the flow.
        let after = follow(&options, &[1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(after, [(0, 1, 0.4), (0, 2, 0.4), (0, 3, 0.4), (0, 0, 0.0), (0, 0, 0.0)]);
        let tenths =
            follow(&FlowBenderOptions { step: 0.1, ..options }, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((tenths[8].0, tenths[9]), (0, (1, 1, 0.0)));
    }
}
