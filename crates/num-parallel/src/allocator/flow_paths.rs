//! The paths of flows that start or change, as they are given: one for each flow, or several.

use netnum_core::internal::check_length;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Error, Paths, Result};

use super::path::Path;
use super::several::PathSet;

/// The paths of some flows: one each, which `&Paths` says, or several.
///
/// ```
/// use netnum_core::Paths;
/// use netnum_parallel::FlowPaths;
///
/// // Flow 0 has two paths, of which the second carries at most 3; flow 1 has one.
/// let paths = Paths::from_lists([vec![0], vec![1, 2], vec![2]]);
/// let flows = FlowPaths::grouped(&paths, &[0, 0, 1])?.with_rate_caps(&[f64::INFINITY, 3.0, f64::INFINITY])?;
/// assert_eq!(flows.flows(), 2);
/// # Ok::<(), netnum_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct FlowPaths<'a> {
    paths: &'a Paths,
    /// The paths flow by flow, and where each flow's begin, unless path p is that of flow p.
    by_flow: Option<(Vec<u32>, Vec<u32>)>,
    /// By path; empty for none.
    rate_caps: &'a [f64],
}

impl<'a> From<&'a Paths> for FlowPaths<'a> {
    fn from(paths: &'a Paths) -> Self {
        Self { paths, by_flow: None, rate_caps: &[] }
    }
}

impl<'a> FlowPaths<'a> {
    /// Path `p` belongs to flow `group[p]`. A flow's paths keep their order.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one flow number per path, [`Error::Group`], and [`Error::GroupGap`] for a flow
    /// without a path.
    pub fn grouped(paths: &'a Paths, group: &[u32]) -> Result<Self> {
        check_length("group", group.len(), paths.len(), "path")?;
        if let Some(path) = group.iter().position(|&flow| flow as usize >= paths.len()) {
            return Err(Error::Group { path, value: i64::from(group[path]) });
        }
        if (0..).zip(group).all(|(path, &flow): (u32, _)| path == flow) {
            return Ok(paths.into());
        }
        let flows = group.iter().max().map_or(0, |&flow| flow as usize + 1);
        let mut starts = vec![0u32; flows + 1];
        group.iter().for_each(|&flow| starts[flow as usize + 1] += 1);
        if let Some(flow) = starts[1..].iter().position(|&count| count == 0) {
            return Err(Error::GroupGap { flow, flows });
        }
        for flow in 0..flows {
            starts[flow + 1] += starts[flow];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; group.len()]);
        for (path, &flow) in (0..).zip(group) {
            order[next[flow as usize] as usize] = path;
            next[flow as usize] += 1;
        }
        Ok(Self { paths, by_flow: Some((order, starts)), rate_caps: &[] })
    }

    /// With the most that every path may carry, ∞ for no cap.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one per path, [`Error::RateCap`].
    pub fn with_rate_caps(self, rate_caps: &'a [f64]) -> Result<Self> {
        check_length("rate_cap", rate_caps.len(), self.paths.len(), "path")?;
        match rate_caps.iter().position(|cap| cap.is_nan() || *cap < 0.0) {
            Some(path) => Err(Error::RateCap { path, value: rate_caps[path] }),
            None => Ok(Self { rate_caps, ..self }),
        }
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.by_flow.as_ref().map_or(self.paths.len(), |(_, starts)| starts.len() - 1)
    }

    /// All paths, where each is that of a flow, and none has a cap.
    pub(super) fn one_each(&self) -> Option<&'a Paths> {
        (self.by_flow.is_none() && self.rate_caps.is_empty()).then_some(self.paths)
    }

    /// The paths of a flow.
    pub(super) fn of(&self, flow: usize) -> PathSet {
        let own = match &self.by_flow {
            None => &[flow as u32][..],
            Some((order, starts)) => &order[starts[flow] as usize..starts[flow + 1] as usize],
        };
        let cap = |&path: &u32| self.rate_caps.get(path as usize).copied().unwrap_or(f64::INFINITY);
        let paths = own.iter().map(|&path| Path::of(self.paths, path as usize));
        PathSet::new(paths, own.iter().map(cap).collect())
    }

    /// The first path of a flow.
    pub(super) fn first(&self, flow: usize) -> Path<'a> {
        let first = self.by_flow.as_ref().map_or(flow, |(order, starts)| order[starts[flow] as usize] as usize);
        Path::of(self.paths, first)
    }

    /// Whether all paths could be those of flows.
    ///
    /// # Errors
    /// Those of [`Path::check`], and [`Error::Stopped`].
    pub(super) fn check(&self, links: usize, pacer: &mut Pacer) -> Result<()> {
        for path in 0..self.paths.len() {
            Path::of(self.paths, path).check(path, links)?;
            pacer.did(self.paths.links(path).len())?;
        }
        Ok(())
    }
}
