//! The graph of the links that work, as routing walks it: the *trunk*, and the ends that hang off it.

use super::{Link, Topology};
use crate::error::Result;
use crate::interrupt::Pacer;

/// The graph of the links that work, of capacity above 0, as routing walks it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Routing {
    pub(super) attachments: Vec<Attachment>, // by end
    pub(super) trunk_nodes: usize,           // nodes that are not hanging ends
    pub(super) listed: ByNode,               // the links that leave each node, failed ones too
    pub(super) leaving: ByNode,              // the trunk links that leave each node
    pub(super) entering: ByNode,             // those that enter it
}

/// Where an end meets the trunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attachment {
    pub(super) node: u32,                   // the switch of a hanging end, any other end itself
    pub(super) up_down: Option<(u32, u32)>, // the links from and to the switch of a hanging end
}

impl Routing {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(nodes: usize, ends: usize, links: &[Link]) -> Result<Self> {
        let works = |link: usize| Some(&links[link]).filter(|link| link.capacity > 0.0);
        let leaving = ByNode::new(nodes, links.len(), |link| works(link).map(|link| link.from))?;
        let entering = ByNode::new(nodes, links.len(), |link| works(link).map(|link| link.to))?;
        let attachments: Vec<Attachment> = (0..ends)
            .map(|end| {
                let itself = Attachment { node: end as u32, up_down: None };
                let (&[up], &[down]) = (leaving.of(end as u32), entering.of(end as u32)) else { return itself };
                let node = links[up as usize].to;
                // Two ends that have only each other would hang off nothing.
                let alone = leaving.of(node).len() + entering.of(node).len() == 2;
                if links[down as usize].from != node || alone {
                    return itself;
                }
                Attachment { node, up_down: Some((up, down)) }
            })
            .collect();
        let hangs = |node: u32| attachments.get(node as usize).is_some_and(|end| end.up_down.is_some());
        let on_trunk = |link: usize| works(link).filter(|link| !hangs(link.from) && !hangs(link.to));
        let leaving = ByNode::new(nodes, links.len(), |link| on_trunk(link).map(|link| link.from))?;
        let entering = ByNode::new(nodes, links.len(), |link| on_trunk(link).map(|link| link.to))?;
        let trunk_nodes = nodes - attachments.iter().filter(|end| end.up_down.is_some()).count();
        let listed = ByNode::new(nodes, links.len(), |link| Some(links[link].from))?;
        Ok(Self { attachments, trunk_nodes, listed, leaving, entering })
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> usize {
        self.listed.starts.len() - 1
    }
}

/// The links, or the pairs, of every node, in increasing order, as compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ByNode {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl ByNode {
    /// Lists every item at its node; one without a node is left out.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(nodes: usize, items: usize, node_of: impl Fn(usize) -> Option<u32>) -> Result<Self> {
        let (mut starts, mut pacer) = (vec![0; nodes + 1], Pacer::new());
        for item in 0..items {
            if let Some(node) = node_of(item) {
                starts[node as usize + 1] += 1;
            }
            pacer.did(1)?;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let (mut free, mut listed) = (starts.clone(), vec![0; starts[nodes]]);
        for item in 0..items {
            if let Some(node) = node_of(item) {
                listed[free[node as usize]] = item as u32;
                free[node as usize] += 1;
            }
            pacer.did(1)?;
        }
        Ok(Self { starts, items: listed })
    }

    pub(super) fn of(&self, node: u32) -> &[u32] {
        &self.items[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

impl Topology {
    /// Where a node meets the trunk.
    pub(super) fn attachment(&self, node: usize) -> Attachment {
        let itself = Attachment { node: node as u32, up_down: None };
        self.routing.attachments.get(node).copied().unwrap_or(itself)
    }
}
