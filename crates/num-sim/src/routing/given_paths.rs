//! A given path for each flow of a workload, which the flow keeps: with coefficients, it need not be a walk.

use netnum_core::internal::check_length;
use netnum_core::{Paths, Topology};

use super::Routing;
use crate::error::Result;
use crate::network::{NetworkState, Route};
use crate::workload::Workload;

/// A given path for each flow. One whose path has failed waits.
///
/// ```
/// use netnum_core::{Paths, Topology};
/// use netnum_sim::{GivenPaths, MaxMinFair, RunSettings, Workload, simulate};
///
/// // Acknowledgements load the way back by 0.05.
/// let net = Topology::from_edges("a b 1.05\nb c 1.05")?;
/// let (there, back) = ([0, 2, 3, 1], [3, 1, 0, 2]);
/// let paths = Paths::with_coefficients(vec![0, 4, 8], [there, back].concat(), [1.0, 1.0, 0.05, 0.05].repeat(2))?;
/// let workload = Workload::new(vec![0.0; 2], vec![0, 2], vec![2, 0], vec![1.0; 2])?;
/// let (mut routing, mut policy) = (GivenPaths::new(paths), MaxMinFair::new());
/// let report = simulate(&net, &workload, &mut routing, &mut policy, &RunSettings::default(), &mut ())?;
/// assert!(report.completion_times.iter().all(|time| (time - 8.0).abs() < 1e-9));
/// # Ok::<(), netnum_sim::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GivenPaths {
    paths: Paths,
}

impl GivenPaths {
    /// Path f is that of flow f. What a path uses of its links per unit of its rate are its coefficients; without these
    /// it is a walk from the source of its flow to the destination, its links in order.
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }
}

impl Routing for GivenPaths {
    fn name(&self) -> &str {
        "paths"
    }

    fn begin_run(&mut self, _net: &Topology, workload: &Workload) -> Result<()> {
        Ok(check_length("paths", self.paths.len(), workload.len(), "flow")?)
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        route.take_path(&self.paths, flow);
        Ok(())
    }
}
