//! Which flows use a link: made when a capacity first changes, kept as flows come, and pruned where it is read.
//!
//! ```text
//! link ─► latest entry ─► the one before ─► …      entry = a flow that was put on the link
//! ```
//!
//! A flow that comes adds an entry per link; one that goes adds nothing but to a count. So a change costs as much as
//! the flows on its link, entries that have gone stale are passed once, and the whole is dropped, to be made again when
//! it is next needed, once most of it is stale. Without changes of capacities it costs nothing.

/// The flows of every link, and some that have left it.
#[derive(Debug)]
pub(crate) struct LinkFlows {
    /// Per link its latest entry.
    latest: Vec<usize>,
    entries: Vec<Entry>,
    /// Entries whose flow has left the link, at least.
    stale: usize,
}

/// A flow that was put on a link.
#[derive(Debug, Clone, Copy)]
struct Entry {
    flow: u32,
    generation: u32,
    /// The entry before, of the same link.
    before: usize,
}

/// Where a list ends.
const END: usize = usize::MAX;

impl LinkFlows {
    pub(crate) fn new(links: usize) -> Self {
        Self { latest: vec![END; links], entries: Vec::new(), stale: 0 }
    }

    /// A flow is on these links now.
    pub(crate) fn enter(&mut self, flow: u32, generation: u32, path: &[u32]) {
        for &link in path {
            let latest = &mut self.latest[link as usize];
            self.entries.push(Entry { flow, generation, before: *latest });
            *latest = self.entries.len() - 1;
        }
    }

    /// The same after a flow has left so many links; nothing where it is time to begin afresh.
    pub(crate) fn without(mut self, links: usize) -> Option<Self> {
        self.stale += links;
        (2 * self.stale <= self.entries.len() + self.latest.len()).then_some(self)
    }

    /// Appends the flows of a link, of the entries that `uses` confirms; the others are removed. A
    /// flow that has left and come back may be there twice.
    pub(crate) fn append(&mut self, link: u32, flows: &mut Vec<u32>, uses: impl Fn(u32, u32) -> bool) {
        let (mut at, mut kept) = (self.latest[link as usize], None);
        while at != END {
            let Entry { flow, generation, before } = self.entries[at];
            if uses(flow, generation) {
                flows.push(flow);
                kept = Some(at);
            } else {
                match kept {
                    Some(kept) => self.entries[kept].before = before,
                    None => self.latest[link as usize] = before,
                }
            }
            at = before;
        }
    }
}
