//! The active flows that events concern: those that have changed, and all that are connected with them by links, one
//! flow after the other.
//!
//! Flows of other parts share no link with any of these, so that their optimum is the same as before.

use super::Event;
use crate::network::Flows;

/// What has changed since the last allocation.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The links of the flows that have changed, and those that have.
    links: Vec<u32>,
    all: bool,
    /// Active flows in order of arrival.
    ordered: Vec<u32>,
}

impl Touched {
    /// Nothing has changed yet.
    pub(super) fn of(flows: &Flows) -> Self {
        let mut ordered = flows.active().to_vec();
        ordered.sort_unstable_by_key(|&slot| flows.flow(slot).number);
        Self { ordered, ..Self::default() }
    }

    pub(super) fn change(&mut self, event: Event, flows: &Flows) {
        let number = |slot: u32| flows.flow(slot).number;
        let place = |slot: u32| self.ordered.binary_search_by_key(&number(slot), |&other| number(other));
        if let Event::Arrived(slot) = event
            && let Err(place) = place(slot)
        {
            self.ordered.insert(place, slot);
        } else if let Event::Ended(slot) = event
            && let Ok(place) = place(slot)
        {
            self.ordered.remove(place);
        }
        match event {
            Event::Arrived(slot) | Event::Ended(slot) | Event::CapChanged(slot) => {
                self.links.extend_from_slice(flows.route(slot).all_links());
            }
            // Its route before is not known any more.
            Event::Rerouted(_) => self.all = true,
            Event::Sent(..) => {}
            Event::CapacityChanged { link, .. } => self.links.push(link),
        }
    }

    /// All flows have changed.
    pub(super) fn change_all(&mut self) {
        self.all = true;
    }

    /// The slots of the flows that are concerned, in order of arrival; nothing has changed afterwards. O(crossings of
    /// the active flows).
    pub(super) fn take(&mut self, links: usize, flows: &Flows) -> Vec<u32> {
        let (changed, all) = (std::mem::take(&mut self.links), std::mem::take(&mut self.all));
        match all {
            true => self.ordered.clone(),
            false if changed.is_empty() => Vec::new(),
            false => connected(links, &changed, &self.ordered, flows),
        }
    }
}

/// The slots of those active flows that links connect with some of these.
fn connected(links: usize, from: &[u32], active: &[u32], flows: &Flows) -> Vec<u32> {
    // By link, another one of its part, or itself if it stands for all of them.
    let mut part: Vec<u32> = (0..links as u32).collect();
    for &slot in active {
        if let Some((&first, others)) = flows.route(slot).all_links().split_first() {
            let first = stands_for(&mut part, first);
            for &other in others {
                let other = stands_for(&mut part, other);
                part[other as usize] = first;
            }
        }
    }
    let mut concerned = vec![false; links];
    for &link in from {
        concerned[stands_for(&mut part, link) as usize] = true;
    }
    let mut is_concerned = |&slot: &u32| {
        let first = flows.route(slot).all_links().first();
        first.is_some_and(|&first| concerned[stands_for(&mut part, first) as usize])
    };
    active.iter().copied().filter(|slot| is_concerned(slot)).collect()
}

/// The link that stands for the part of a link; the way to it is halved.
fn stands_for(part: &mut [u32], mut link: u32) -> u32 {
    while part[link as usize] != link {
        part[link as usize] = part[part[link as usize] as usize];
        link = part[link as usize];
    }
    link
}
