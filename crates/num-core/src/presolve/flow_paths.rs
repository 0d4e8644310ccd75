//! Which paths are whose.

use std::ops::Range;

/// The paths of every flow, which are consecutive.
#[derive(Debug, Default)]
pub(super) struct FlowPaths {
    /// Those of flow `f` begin at `starts[f]`; empty where every flow has one.
    starts: Vec<usize>,
}

impl FlowPaths {
    /// From where those of every flow begin, and where the last ones end.
    pub(super) fn new(starts: Vec<usize>) -> Self {
        let are_single = starts.last() == Some(&(starts.len() - 1));
        Self { starts: if are_single { Vec::new() } else { starts } }
    }

    #[inline(always)]
    pub(super) fn of(&self, flow: usize) -> Range<usize> {
        self.of_all(flow..flow + 1)
    }

    #[inline(always)]
    pub(super) fn of_all(&self, flows: Range<usize>) -> Range<usize> {
        if self.starts.is_empty() { flows } else { self.starts[flows.start]..self.starts[flows.end] }
    }

    /// Whether every flow has one.
    pub(super) fn are_single(&self) -> bool {
        self.starts.is_empty()
    }
}
