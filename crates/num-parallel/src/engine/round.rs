//! One round: every member of the crew does its share of the links, then of the lanes, then looks at its links.
//!
//! ```text
//! links   y, H ← sums of all lanes;  p ← the rule
//!         ── barrier ──
//! flows   x, D ← p;  sums of the lane ← x, D
//!         ── barrier ──            only where a rule judges its steps
//! links   y, H ← sums of all lanes;  what the rule decides on
//! ```

use std::sync::RwLock;

use netnum_core::PriceRule;

use super::exchange::{LinkBlock, read, write};
use super::lane::Lane;
use super::partition::Partition;
use super::real::Real;
use crate::crew::Member;

/// What the links do at the beginning of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// Prices stay: flows or capacities have changed.
    Stay,
    /// A step.
    Advance,
    /// Back from a step that was refused.
    Retreat,
}

/// All that the crew shares.
pub(crate) struct Blocks<R, Rule: PriceRule> {
    pub(crate) partition: Partition,
    pub(crate) rule: RwLock<Rule>,
    pub(crate) next: RwLock<Move>,
    pub(crate) links: Vec<RwLock<LinkBlock<R, Rule::Memory>>>,
    pub(crate) lanes: Vec<RwLock<Lane<R>>>,
}

impl<R: Real, Rule: PriceRule> Blocks<R, Rule> {
    pub(crate) fn new(partition: Partition, capacities: &[f64], rule: Rule) -> Self {
        let (links, lanes) = (partition.links(), partition.lanes());
        let block = |number| {
            let range = links * number / lanes..links * (number + 1) / lanes;
            RwLock::new(LinkBlock::new(range, capacities, rule.memory()))
        };
        let blocks = (0..lanes).map(block).collect();
        let all = (0..lanes).map(|_| RwLock::new(Lane::new(&partition))).collect();
        Self { partition, rule: RwLock::new(rule), next: RwLock::new(Move::Stay), links: blocks, lanes: all }
    }

    /// One member's part of a round.
    pub(crate) fn round(&self, member: &Member) {
        let (rule, next) = (read(&self.rule), *read(&self.next));
        for block in self.links.iter().skip(member.number()).step_by(member.of()) {
            let block = &mut *write(block);
            match next {
                Move::Stay => block.post(|link, _| link.price),
                Move::Advance => {
                    if !rule.judges() {
                        block.gather(&self.lanes);
                    }
                    block.post(|link, memory| rule.advance(link, memory));
                }
                Move::Retreat => block.post(|link, memory| rule.retreat(link, memory)),
            }
        }
        member.wait();
        for lane in self.lanes.iter().skip(member.number()).step_by(member.of()) {
            let lane = &mut *write(lane);
            for block in &self.links {
                let block = read(block);
                lane.hear(block.links.start, &block.board);
            }
            lane.respond(&self.partition, rule.counts_priced_links());
        }
        if rule.judges() {
            member.wait();
            for block in self.links.iter().skip(member.number()).step_by(member.of()) {
                write(block).gather(&self.lanes);
            }
        }
    }
}
