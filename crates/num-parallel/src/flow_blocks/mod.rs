//! One round: every member of the crew does its share of the lanes, then of the links.
//!
//! ```text
//! flows   x, D ← p;  sums of the lane ← x, D
//!         ── barrier ──
//! links   y, H ← sums of all lanes;  p ← the rule, where it does not first judge the whole
//! ```
//!
//! A member takes every n-th lane and every n-th block of links, n being the members: which it takes changes nothing in
//! what comes out.

use std::sync::RwLock;

use netnum_core::PriceRule;

use super::exchange::{LinkBlock, read, write};
use super::lane::Lane;
use super::partition::Partition;
use super::real::Real;
use crate::crew::Member;

/// What a crew does in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Flows respond, and links add up.
    Respond,
    /// The same, and then prices move.
    Step,
    /// F-NORM of the rates of the last response.
    Normalize,
}

/// All that a crew shares.
pub(crate) struct Blocks<R, Rule: PriceRule> {
    pub(crate) partition: Partition,
    pub(crate) rule: RwLock<Rule>,
    pub(crate) links: Vec<RwLock<LinkBlock<R, Rule::Memory>>>,
    pub(crate) round: RwLock<Round<R>>,
}

/// What is lent to a crew for a round.
pub(crate) struct Round<R> {
    pub(crate) task: Task,
    pub(crate) lanes: Vec<RwLock<Lane<R>>>,
}

impl<R: Real, Rule: PriceRule> Blocks<R, Rule> {
    pub(crate) fn new(partition: Partition, capacities: &[f64], rule: Rule) -> Self {
        let (links, lanes) = (partition.links(), partition.lanes().get());
        let block = |number| {
            let range = links * number / lanes..links * (number + 1) / lanes;
            RwLock::new(LinkBlock::new(range, capacities, rule.memory()))
        };
        let links = (0..lanes).map(block).collect();
        let round = RwLock::new(Round { task: Task::Respond, lanes: Vec::new() });
        Self { partition, rule: RwLock::new(rule), links, round }
    }

    /// One member's part of a round.
    pub(crate) fn round(&self, member: &Member<'_>) {
        let (rule, round) = (read(&self.rule), read(&self.round));
        let Round { task, lanes } = &*round;
        if *task == Task::Normalize {
            return self.normalize(lanes, member);
        }
        let weigh = rule.counts_priced_links();
        for lane in share(lanes, member) {
            let lane = &mut *write(lane);
            for block in &self.links {
                let block = read(block);
                lane.hear(block.links.start, &block.board, &block.priced, weigh);
            }
            lane.respond(&self.partition, weigh);
        }
        member.wait();
        for block in share(&self.links, member) {
            let block = &mut *write(block);
            block.gather(lanes);
            if *task == Task::Step {
                block.post(false, |link, memory| rule.advance(link, memory));
            }
        }
    }

    fn normalize(&self, lanes: &[RwLock<Lane<R>>], member: &Member<'_>) {
        for block in share(&self.links, member) {
            write(block).compare();
        }
        member.wait();
        for lane in share(lanes, member) {
            let lane = &mut *write(lane);
            for block in &self.links {
                let block = read(block);
                lane.hear_shares(block.links.start, &block.shares);
            }
            lane.normalize(&self.partition);
        }
    }
}

/// A member's part of a list.
pub(crate) fn share<'a, T>(list: &'a [T], member: &Member<'_>) -> impl Iterator<Item = &'a T> {
    list.iter().skip(member.number()).step_by(member.of())
}
