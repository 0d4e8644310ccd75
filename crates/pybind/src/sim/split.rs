//! `Split`.

use std::sync::Arc;

use netnum_core::{Error, Paths as CorePaths, Topology as CoreTopology};
use netnum_sim::Split as Core;
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::detach::EnterRust;
use crate::error::{self, ProblemError, setting};
use crate::numbers::{self, counted};
use crate::paths::Paths;
use crate::topology::Topology;
use crate::{hints, path_forms};

/// A routing over given paths with shares, such as those of a traffic-engineering solution.
///
/// The paths from one node to another are those of every flow between the two. Each flow takes one of them, drawn with
/// its share as switches hash, with the seed of `simulate`; or it is spread over all of them; or they are pooled, and
/// the policy sets a rate on each. Flows of a path that fails take the others, in proportion to their shares unless
/// they are pooled. Paths without a share are never used, and a flow whose paths have all failed waits.
///
/// Parameters
/// ----------
/// net : Topology
///     With the nodes and links of the network of `simulate`. Its capacities do not matter.
/// paths : sequence of sequences of int or of node names, Paths, or SciPy sparse matrix
///     As in `Problem`: walks of `net`.
/// shares : array of float, shape (paths,), optional
///     >= 0: what of a pair's flows goes over each path, relative to the other paths of the same two nodes. The `rates`
///     of a `Solution` will do. By default all paths are alike.
/// spread : bool
///     Whether every flow is split over all of its paths at once, in place of taking one.
/// pooled : bool
///     Whether every flow is split over all of its paths as the policy decides at all times: for its optimum over all
///     splits. For ``"max-min"``, ``"proportional"``, ``"min-fct"`` and ``"alpha-fair"``.
///
/// Raises
/// ------
/// ProblemError
///     Naming the first path that is no walk of the network, or the first share that is negative or NaN; unless there
///     is one share per path. `simulate` names the first flow without a path, or whose paths have no shares.
/// NumError
///     For paths that are both spread and pooled.
///
/// Examples
/// --------
/// >>> net = netnum.topology.backbone("abilene")
/// >>> paths, group = net.k_shortest_paths(["Seattle"], ["Atlanta"], 3)
/// >>> solution = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group))
/// >>> workload = netnum.sim.Workload([0.0], ["Seattle"], ["Atlanta"], [1e9], net=net)
/// >>> routing = netnum.sim.Split(net, paths, solution.rates, spread=True)
/// >>> in_bits = net.with_capacities(1e6 * net.capacities)
/// >>> netnum.sim.simulate(in_bits, workload, routing=routing).status
/// 'finished'
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct Split {
    pub(super) core: Core,
    net: Py<Topology>,
}

#[pymethods]
impl Split {
    #[new]
    #[pyo3(signature = (net=None, paths=None, shares=None, *, spread=false, pooled=false, **unknown))]
    #[pyo3(text_signature = "(net, paths, shares=None, *, spread=False, pooled=False)")]
    fn new(
        py: Python<'_>,
        net: Option<&Bound<'_, PyAny>>,
        paths: Option<&Bound<'_, PyAny>>,
        shares: Option<&Bound<'_, PyAny>>,
        spread: bool,
        pooled: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Split", unknown)?;
        if spread && pooled {
            return Err(setting("pooled", "True", "False where spread is True"));
        }
        let (net, paths) = (hints::needed(py, "Split", "net", net)?, hints::needed(py, "Split", "paths", paths)?);
        let net = net.cast::<Topology>().map_err(|_| match net.get_type().name() {
            Ok(kind) => PyTypeError::new_err(format!(
                "net must be a Topology, not {kind}: Split(problem.network, problem.paths, solution.rates)"
            )),
            Err(error) => error,
        })?;
        let topology = &net.get().core;
        let paths = path_forms::of_call(paths)?;
        let paths = path_forms::paths(&paths, topology.links().len(), Some(net.get()))?;
        let shares = match shares {
            Some(shares) => numbers::for_each("shares", shares, paths.len())?,
            None => vec![1.0; paths.len()],
        };
        if shares.len() != paths.len() {
            let (what, found, expected) = ("shares".into(), shares.len(), paths.len());
            let per = "path: take the rates of a Solution of a problem with these paths";
            return Err(error::raise(Error::Length { what, found, expected, per }));
        }
        let core = py.enter_rust(|| Core::new(topology, CorePaths::clone(&paths), shares, 0))?;
        let core = match (spread, pooled) {
            (true, _) => core.spread(),
            (_, true) => py.enter_rust(|| core.pooled())?,
            _ => core,
        };
        Ok(Self { core, net: net.clone().unbind() })
    }

    /// The network.
    #[getter]
    fn network(&self, py: Python<'_>) -> Py<Topology> {
        self.net.clone_ref(py)
    }

    /// The links of every path: `Paths`.
    #[getter]
    fn paths(&self) -> Paths {
        Paths::from(Arc::new(self.core.paths().clone()))
    }

    /// The share of every path, as it was given: array of float, shape (paths,).
    #[getter]
    fn shares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.shares().to_vec())
    }

    /// Whether every flow is split over all of its paths.
    #[getter]
    fn spread(&self) -> bool {
        self.core.is_spread()
    }

    /// Whether the policy splits every flow over its paths.
    #[getter]
    fn pooled(&self) -> bool {
        self.core.is_pooled()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let options = PyDict::new(py);
        options.set_item("spread", this.spread())?;
        options.set_item("pooled", this.pooled())?;
        let given = (&this.net, this.paths(), this.shares(py)).into_pyobject(py)?;
        let make = py.import("functools")?.call_method("partial", (slf.get_type(),), Some(&options))?;
        Ok((make, given.into_any()))
    }

    fn __repr__(&self) -> String {
        let how = match (self.core.is_spread(), self.core.is_pooled()) {
            (true, _) => ", spread",
            (_, true) => ", pooled",
            _ => "",
        };
        format!("Split({}, {}{how})", self.net.get().core.name(), counted(self.core.paths().len(), "path"))
    }
}

impl Split {
    /// The routing, over a network with the same nodes and links.
    pub(super) fn over(&self, net: &Topology, seed: u64) -> PyResult<Core> {
        let ours = &self.net.get().core;
        let ends = |net: &CoreTopology| net.links().iter().map(|link| (link.from, link.to)).collect::<Vec<_>>();
        let alike = ends(ours) == ends(&net.core) && ours.shared() == net.core.shared();
        if ours.node_names() != net.core.node_names() || !alike {
            let (ours, other) = (ours.name(), net.core.name());
            let message = format!("routing is a Split over {ours}, expected one over {other}: nodes or links differ");
            return Err(ProblemError::new_err(message));
        }
        Ok(self.core.with_seed(seed))
    }
}
