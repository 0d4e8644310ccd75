//! Which flows use a link: made when a capacity first changes, kept as flows start, and pruned where it is read.
//!
//! ```text
//! link ─► latest use ─► the one before ─► …      use = a flow that was put on the link
//! ```
//!
//! A flow that starts adds a use per link; one that ends adds nothing but to a count. So a change costs as much as
//! the flows on its link, uses that have gone stale are passed once, and the whole is dropped, to be made again when
//! it is next needed, once most of it is stale. Without changes of capacities it costs nothing.

use std::num::NonZeroUsize;

use super::FlowId;

/// The flows of every link, and some that have left it.
#[derive(Debug)]
pub(super) struct LinkFlows {
    /// Per link one more than the place of its latest use.
    latest: Vec<Option<NonZeroUsize>>,
    uses: Vec<Use>,
    /// Uses whose flow has left the link, at least.
    stale: usize,
}

/// A flow that was put on a link.
#[derive(Debug, Clone, Copy)]
struct Use {
    id: FlowId,
    /// The use before, of the same link.
    before: Option<NonZeroUsize>,
}

impl LinkFlows {
    pub(super) fn new(links: usize) -> Self {
        Self { latest: vec![None; links], uses: Vec::new(), stale: 0 }
    }

    /// A flow is on these links now.
    pub(super) fn enter(&mut self, id: FlowId, path: &[u32]) {
        for &link in path {
            let latest = &mut self.latest[link as usize];
            self.uses.push(Use { id, before: *latest });
            *latest = NonZeroUsize::new(self.uses.len());
        }
    }

    /// Counts a flow that has left so many links; none where it is time to begin afresh.
    pub(super) fn without(mut self, links: usize) -> Option<Self> {
        self.stale += links;
        (2 * self.stale <= self.uses.len() + self.latest.len()).then_some(self)
    }

    /// Appends the flows of a link, of the uses that `is_current` confirms; the others are removed. A flow that left
    /// and came back may be there twice.
    pub(super) fn append(&mut self, link: u32, flows: &mut Vec<FlowId>, is_current: impl Fn(FlowId) -> bool) {
        let (mut at, mut kept) = (self.latest[link as usize], None);
        while let Some(place) = at {
            let Use { id, before } = self.uses[place.get() - 1];
            if is_current(id) {
                flows.push(id);
                kept = Some(place.get() - 1);
            } else {
                match kept {
                    Some(kept) => self.uses[kept].before = before,
                    None => self.latest[link as usize] = before,
                }
            }
            at = before;
        }
    }
}
