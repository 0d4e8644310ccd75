//! The paths through every link, for the rows of the simplex method.
//!
//! A row's coefficient of a path is π(p) − π(k_f), its price above that of its flow's key path. So what most paths of
//! a flow use of a link per unit of rate, mostly 0 or 1, cancels, and only the others count, by what they use above it:
//!
//! ```text
//! d_lp = a_lp − b_lf        b_lf: of the a_lp over the paths of f the most frequent one
//! ```
//!
//! On real networks that removes half of the crossings, and half of the work of a row.

use std::sync::Arc;

use super::network::Network;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Paths;

/// The paths through every link.
#[derive(Debug, Clone)]
pub(super) struct Crossings {
    /// All of them.
    pub(super) all: Arc<Paths>,
    /// Those by which flows differ.
    pub(super) differences: Arc<Differences>,
}

/// The paths by which flows differ on every link: d_lp ≠ 0.
#[derive(Debug, Clone)]
pub(super) struct Differences {
    /// Those with d = 1, and with d = −1.
    through: Vec<Vec<u32>>,
    around: Vec<Vec<u32>>,
    /// Those with another d, and that.
    others: Vec<Vec<(u32, f64)>>,
}

impl Differences {
    /// Calls a function with every path and its d on a link.
    #[inline(always)]
    pub(super) fn each(&self, link: u32, mut visit: impl FnMut(u32, f64)) {
        self.through[link as usize].iter().for_each(|&path| visit(path, 1.0));
        self.around[link as usize].iter().for_each(|&path| visit(path, -1.0));
        self.others[link as usize].iter().for_each(|&(path, difference)| visit(path, difference));
    }

    /// How many there are on a link.
    pub(super) fn count(&self, link: u32) -> usize {
        self.through[link as usize].len() + self.around[link as usize].len() + self.others[link as usize].len()
    }

    /// Leaves some of them.
    pub(super) fn retain(&mut self, stays: impl Fn(u32) -> bool) {
        self.through.iter_mut().chain(&mut self.around).for_each(|paths| paths.retain(|&path| stays(path)));
        self.others.iter_mut().for_each(|paths| paths.retain(|&(path, _)| stays(path)));
    }

    fn push(&mut self, link: u32, path: u32, difference: f64) {
        match difference {
            1.0 => self.through[link as usize].push(path),
            -1.0 => self.around[link as usize].push(path),
            _ => self.others[link as usize].push((path, difference)),
        }
    }
}

impl Crossings {
    /// From all crossings.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(network: &Network, all: Arc<Paths>) -> Result<Self> {
        let links = network.capacities.len();
        let none = || vec![Vec::new(); links];
        let mut differences = Differences { through: none(), around: none(), others: vec![Vec::new(); links] };
        // Link, path and coefficient of every crossing of a flow.
        let mut crossed: Vec<(u32, u32, f64)> = Vec::new();
        let mut pacer = Pacer::new();
        for flow in 0..network.flows() {
            let of_flow = network.paths_of(flow);
            crossed.clear();
            for path in of_flow.clone() {
                pacer.did(network.paths.links(path).len())?;
                crossed.extend(network.paths.row(path).entries().map(|(link, a)| (link, path as u32, a)));
            }
            crossed.sort_unstable_by_key(|&(link, path, _)| (link, path));
            for of_link in crossed.chunk_by(|one, other| one.0 == other.0) {
                let (link, most) = (of_link[0].0, most_frequent(of_link, of_flow.len()));
                of_link.iter().filter(|&&(.., a)| a != most).for_each(|&(_, path, a)| {
                    differences.push(link, path, a - most);
                });
                if most != 0.0 && of_link.len() < of_flow.len() {
                    let avoid = of_flow.clone().filter(|&path| !network.paths.links(path).contains(&link));
                    avoid.for_each(|path| differences.push(link, path as u32, -most));
                }
            }
        }
        Ok(Self { all, differences: Arc::new(differences) })
    }
}

/// The coefficient of more than half of the paths of a flow, of which these cross a link (link, path and coefficient);
/// 0 where none is so frequent. By the majority vote of Boyer and Moore, 1991.
fn most_frequent(crossed: &[(u32, u32, f64)], paths: usize) -> f64 {
    let (mut most, mut ahead) = (0.0, paths - crossed.len());
    for &(.., a) in crossed {
        (most, ahead) = match ahead {
            _ if a == most => (most, ahead + 1),
            0 => (a, 1),
            _ => (most, ahead - 1),
        };
    }
    let is_majority = 2 * crossed.iter().filter(|&&(.., a)| a == most).count() > paths;
    if is_majority { most } else { 0.0 }
}
