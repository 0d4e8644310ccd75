//! Nodes as callers give them: by number or by name.

use super::Topology;
use crate::error::{Error, Result, expected_below};
use crate::interrupt::Pacer;

/// A node as it is given to a [`Topology`]: its number, a `usize`, or its name.
///
/// A number is the node's place in [`node_names`](Topology::node_names), also where names are made of digits.
pub trait Node {
    /// The number of the node, not checked where it is given; `None` for a name that no node has.
    fn number(&self, net: &Topology) -> Option<usize>;

    /// The name, where it is given by name.
    fn name(&self) -> Option<&str>;
}

impl Node for usize {
    fn number(&self, _net: &Topology) -> Option<usize> {
        Some(*self)
    }
    fn name(&self) -> Option<&str> {
        None
    }
}

impl Node for str {
    fn number(&self, net: &Topology) -> Option<usize> {
        net.node(self)
    }
    fn name(&self) -> Option<&str> {
        Some(self)
    }
}

impl Node for String {
    fn number(&self, net: &Topology) -> Option<usize> {
        net.node(self)
    }
    fn name(&self) -> Option<&str> {
        Some(self)
    }
}

impl<N: Node + ?Sized> Node for &N {
    fn number(&self, net: &Topology) -> Option<usize> {
        (**self).number(net)
    }
    fn name(&self) -> Option<&str> {
        (**self).name()
    }
}

impl Topology {
    /// The number of a node that exists; `what` is what an error calls it.
    pub(super) fn number_of(&self, what: impl Fn() -> String, node: &impl Node) -> Result<usize> {
        let nodes = self.node_names.len();
        match node.number(self) {
            Some(node) if node < nodes => Ok(node),
            Some(node) => Err(Error::Topology(format!("{} is {node}, {}", what(), expected_below("node", nodes)))),
            None => Err(self.no_such_name(&what(), node, nodes, "nodes")),
        }
    }

    /// The numbers of ends, those that are given by name checked.
    pub(super) fn ends_of(&self, what: &str, ends: &[impl Node]) -> Result<Vec<usize>> {
        let mut pacer = Pacer::new();
        let number = |(place, end)| {
            pacer.did(1)?;
            self.end_of(|| format!("{what}[{place}]"), end)
        };
        ends.iter().enumerate().map(number).collect()
    }

    /// The number of an end, checked if it is given by name.
    pub(super) fn end_of(&self, what: impl Fn() -> String, end: &impl Node) -> Result<usize> {
        let number = end.number(self).filter(|&number| end.name().is_none() || number < self.ends);
        number.ok_or_else(|| self.no_such_name(&what(), end, self.ends, "ends"))
    }

    fn no_such_name(&self, what: &str, node: &impl Node, count: usize, of: &str) -> Error {
        let name = node.name().unwrap_or_default();
        let near = self.nearest_name(name).map_or_else(String::new, |near| format!(", did you mean {near:?}?"));
        Error::Topology(format!("{what} is {name:?}, expected the name of one of the {count} {of}{near}"))
    }
}
