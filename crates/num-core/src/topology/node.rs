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
            None => {
                let name = node.name().unwrap_or_default();
                Err(Error::Topology(format!("{} is {name:?}, {}", what(), self.expected_node(name))))
            }
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
        let name = end.name().unwrap_or_default();
        number.ok_or_else(|| Error::Topology(format!("{} is {name:?}, {}", what(), self.expected_end(name))))
    }

    /// What was expected in place of a text that is the name of no end.
    pub fn expected_end(&self, name: &str) -> String {
        match self.node(name) {
            Some(_) => format!("expected the name of one of the {} ends: this node is none", self.ends),
            None => expected_name(name, self.end_names(), "ends"),
        }
    }

    /// What was expected in place of a text that is the name of no node.
    pub fn expected_node(&self, name: &str) -> String {
        expected_name(name, &self.node_names, "nodes")
    }
}

fn expected_name(name: &str, known: &[String], of: &str) -> String {
    let near = nearest_name(name, known).map_or_else(String::new, |near| format!(", did you mean {near:?}?"));
    format!("expected the name of one of the {} {of}{near}", known.len())
}

/// The name that is most like a text, if one is near: letters' cases do not matter.
pub(super) fn nearest_name<'n>(text: &str, names: &'n [String]) -> Option<&'n str> {
    let text = text.to_lowercase();
    let scored = names.iter().map(|name| (strsim::jaro_winkler(&text, &name.to_lowercase()), name));
    let (score, name) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (score > 0.8).then_some(name)
}
