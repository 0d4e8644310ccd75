//! The paths through every link, for the rows of the simplex method.
//!
//! A row's coefficient of a path is π(p) − π(k_f), its price above that of its flow's key path. A link that all paths
//! of a flow cross cancels. A link that most of them cross is counted as −1 for the others. On real networks that
//! removes half of the crossings, and half of the work of a row.

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
    /// Those by which flows differ: through a link once, and −1 times.
    pub(super) through: Vec<Vec<u32>>,
    pub(super) around: Vec<Vec<u32>>,
}

impl Crossings {
    /// From all crossings. Links that all paths of a flow cross are removed; where most of them cross a link, the
    /// others cross it −1 times instead.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(network: &Network, all: Arc<Paths>) -> Result<Self> {
        let links = network.capacities.len();
        let (mut through, mut around) = (vec![Vec::new(); links], vec![Vec::new(); links]);
        let (mut count, mut seen) = (vec![0usize; links], Vec::new());
        let mut pacer = Pacer::new();
        for flow in 0..network.flows() {
            let of_flow = network.paths_of(flow);
            for path in of_flow.clone() {
                pacer.did(network.paths.links(path).len())?;
                for &link in network.paths.links(path) {
                    if count[link as usize] == 0 {
                        seen.push(link);
                    }
                    count[link as usize] += 1;
                }
            }
            for path in of_flow.clone() {
                for &link in network.paths.links(path).iter().filter(|&&link| 2 * count[link as usize] <= of_flow.len())
                {
                    through[link as usize].push(path as u32);
                }
            }
            for link in seen.drain(..) {
                let crossed = std::mem::take(&mut count[link as usize]);
                if 2 * crossed > of_flow.len() && crossed < of_flow.len() {
                    let avoid = of_flow.clone().filter(|&path| !network.paths.links(path).contains(&link));
                    around[link as usize].extend(avoid.map(|path| path as u32));
                }
            }
        }
        Ok(Self { all, through, around })
    }
}
