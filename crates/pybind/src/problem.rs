//! `Problem`.

use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use netnum_core::internal::{check_length, expected_below};
use netnum_core::{Curvature, Parameter, Paths as CorePaths, Problem as Core, Starving};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::all_paths::{self, AllPaths, Limits};
use crate::by_name::{Each, Names, dict_of_series, is_a};
use crate::detach::EnterRust;
use crate::error::{NumError, ProblemError, raise};
use crate::numbers::{self, counted, kept};
use crate::paths::{self, Ends, Paths};
use crate::topology::{Topology, of_network, pairs};
use crate::utility::{Given, UserUtility};
use crate::{hints, path_forms, utility};

/// Links with capacities, paths over them, and flows with paths and a utility.
///
/// ::
///
///     maximize    Σ_f U_f(y_f)                 one utility per flow
///     subject to  y_f = Σ_{p ∈ f} x_p          a flow's rate is the sum over its paths
///                 Σ_{p ∋ l} a_lp x_p <= c_l    no link above its capacity
///                 0 <= x_p <= rate_cap_p       optional cap per path
///                 y_f <= flow_cap_f            optional cap per flow, its demand
///                 y_f >= flow_floor_f          optional floor per flow
///
/// Everything is checked and copied once, here. Units are yours: any consistent unit of capacities and rates.
///
/// Parameters
/// ----------
/// network : array of float, shape (links,), or Topology, or networkx graph
///     Capacity of every link, >= 0; a graph is read as by `netnum.topology.from_networkx`. A link of capacity 0 has
///     failed: flows that have no path around it get rate 0 and leave the objective, and `Solution.failed_flows` lists
///     them. A link of capacity inf has no limit: its price is 0, and flows that cross no other need a cap or a utility
///     with a saturation.
/// paths : sequence of sequences of int, or Paths, or SciPy sparse matrix of shape (links, paths), or pairs or demands
///     The links of every path: at least one, none of them twice. Also what `Topology.k_shortest_paths` returns. On a
///     `Topology` or a graph also pairs, which are flows over all paths of the network: `solve` finds those that are
///     best, and proves the rates over all of them. Pairs are tuples of two nodes, one or in a list, and what
///     `Topology.all_pairs` and `random_pairs` return; or demands: `netnum.Demands`, a dict by pair, a frame, a square
///     array of floats over the ends. Their volumes cap the flows. The entries of a matrix are what the path (column)
///     uses of the link (row) per unit of its rate, the coefficient a_lp, 0 where it does not cross it; `Paths` has
///     `coefficients`, too, and lists of links stand for ones. A dense matrix would be read as lists of the links 0 and
///     1. On a `Topology` or a graph, a path may be its nodes by name, ``["Seattle", "Denver"]``.
/// utility : utility, name, or float, or sequence of those
///     One for all flows, its parameters scalars or arrays over flows, or a sequence with one per flow. A number is the
///     α of ``AlphaFair(α)``; of the names, ``"proportional"`` is ``AlphaFair(1.0)``, ``"max-min"`` is
///     ``AlphaFair(np.inf)`` and ``"throughput"`` is ``Linear(1.0)``. Besides
///     `AlphaFair`, `Linear`, `MinFct` and `BandwidthFunction` any object with NumPy-vectorised methods
///     ``value(rates)`` and ``marginal(rates)``, and optionally ``saturation``, the rate above which utility is
///     constant. Methods ``demand(prices)`` and ``demand_slope(prices)`` are used where there are any, and make it
///     faster: without them demands are found from the marginal, in some tens of calls. It is called with arrays over
///     all the flows it serves, in order; see `check_utility`. Where its marginal is rounding, 2⁻⁵³ of that at half the
///     rate, the flow counts as saturated.
/// group : array of int, shape (paths,), optional
///     The flow that every path belongs to; every flow in ``0..flows`` owns at least one. Its rate is the sum over its
///     paths, which `solve` splits in the best way. By default that of `paths`, if it is a `Paths` of
///     `Topology.k_shortest_paths` or of another problem; else path p is flow p (``group=range(len(paths))`` in any
///     case).
/// rate_cap : array of float, shape (paths,), or float, or dict, optional
///     Cap on the rate of every path, >= 0, inf for none; one number is that of all. A dict caps the paths that it
///     names, as in `with_rate_caps`.
/// flow_cap : array of float, shape (flows,), or float, or dict, optional
///     Cap on the rate of every flow over all its paths, its demand: >= 0, inf for none; one number is that of all. A
///     dict caps the flows that it names, ``{("Seattle", "Denver"): 5.0}``, as in `with_flow_caps`. A flow with one
///     path is held to the smaller of its two caps. One that is capped at 0 gets nothing, and is among
///     `Solution.failed_flows`. By default the `flow_cap` of `paths`, where they are for demands and their flows are
///     those of `group`: the volumes; ``flow_cap=np.inf`` for none.
/// flow_floor : array of float, shape (flows,), or float, or dict, optional
///     The least rate of every flow over all its paths, which is guaranteed to it: finite, >= 0 and at most its cap. A
///     dict has those of the flows that it names. Floors that do not fit end `solve` with the status ``"infeasible"``
///     and the proof in `Solution.infeasibility`. A flow for which the floors of others leave nothing, and whose
///     marginal utility is ∞ then, is among `Solution.failed_flows`.
/// path_cost : array of float, shape (paths,), or float, or dict, optional
///     Utility lost per unit of rate on every path, finite and >= 0: the objective is Σ U − Σ path_cost · x.
/// link_cost : str, or array of float, shape (links,), or float, or dict, optional
///     Utility lost per unit of load on every link, finite and >= 0; it is added to the costs of the paths through the
///     link, times their coefficients. A text is the name of one of the network's `link_attributes`, ``"delay"``.
/// priority : array of float, shape (flows,), or dict, optional
///     Smaller first: the flows of each priority are allocated in the best way while those of smaller ones keep their
///     rates, whose splits may move. `Solution.classes` has each of them with its proof. The floors of all flows hold.
///     Flows for which they leave nothing are among `Solution.failed_flows`. A class counts the costs of all paths, so
///     that it pays for the detours of others. Flows that a dict does not name have 0.
/// pairs : pairs, optional
///     Beside paths on a `Topology`: the source and the destination of every flow, in any of the forms that
///     `Topology.k_shortest_paths` takes; the volumes of demands cap the flows. Every path has a link from its source
///     and one to its destination. Flows are found by the names of their ends without them, but where links and
///     coefficients do not tell the ends: where a path has links back, for acknowledgements, and uses those there by
///     different parts.
/// max_hops : int, optional
///     Of pairs: the most links of a path, >= 1.
/// avoid_links, avoid_nodes : sequence, optional
///     Of pairs: links, by number, by name (``"A -> B"``, ``"A - B"`` for both directions) or as pairs of nodes, that
///     no path takes, and nodes that none passes through. Flows may start and end at such nodes. Where only some nodes
///     are ends, the servers of a fabric, no path passes through these.
/// cheapest_paths : callable, optional
///     Of pairs: what says which paths there are, in place of all of the network. It is called once a round with the
///     prices of links, an array of float, shape (links,), >= 0 and inf for links of capacity 0, and returns a path per
///     pair, the cheapest that the pair may use, in any form that `paths` may have: over waypoints, valley-free, made
///     of segments. The first call is with prices of 1. The certificate is over the paths that it knows, and as good as
///     its answers: where it returns one that is not the cheapest, the gap is a bound for none but the paths that it
///     returned. A path that does not join its pair, that crosses a link twice, or that costs more than the one it
///     returned before, by more than 10⁻⁶ of the highest price, is an error. `Solution` shows its ``__name__``, or that
///     of its class.
///
/// Warns
/// -----
/// UserWarning
///     Where flows of different `alpha` share a link and one would get less than a thousandth of another's rate because
///     of the unit of rates: of two flows with weights of 1 over 10e9 bit/s, one of alpha 1 gets 10e9 and one of alpha
///     2 gets 1e5; over 10 Gbit/s they get 7.3 and 2.7. Give weights near the rates, or rates a unit near the weights.
///
/// Raises
/// ------
/// ProblemError
///     Naming the link, path or flow that is wrong. With a `Topology`, a path is wrong as well whose links do not
///     follow on each other in it, in whatever order they are listed.
/// UtilityError
///     For a parameter out of its range in one of several utilities, and for a name that there is not.
/// TypeError
///     For an argument that is missing, and anything that is not of the kinds above.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> netnum.solve(problem).rates.round(3)
/// array([0.333, 0.667, 0.667])
///
/// The first flow may go either way, and takes what the second leaves:
///
/// >>> problem = netnum.Problem([1.0, 1.0], [[0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 0, 1])
/// >>> netnum.solve(problem).flow_rates.round(2)
/// array([1., 1.])
///
/// With no use for more than 0.4 it is held to that:
///
/// >>> netnum.solve(problem.with_flow_caps([0.4, np.inf])).flow_rates.round(3)
/// array([0.4, 1. ])
///
/// A pair has all paths of the network:
///
/// >>> net = netnum.topology.from_edges("A B 2\nB C 2\nA C 3")
/// >>> solution = netnum.solve(netnum.Problem(net, [("A", "C")]))
/// >>> solution.flow_rates.round(3), len(solution.paths)
/// (array([5.]), 2)
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Problem {
    /// Of a problem without paths those of its flows with the fewest links, to begin with.
    core: Core,
    /// The paths that may be used, where none are given.
    pub(crate) all_paths: Option<AllPaths>,
    /// The ends of the flows as they were given, numbers of nodes; none where links and coefficients tell them.
    ends: Option<Ends>,
    /// The topology, when it was made from one.
    pub(crate) topology: Option<Py<Topology>>,
    /// The utility as it was given; made from the core's plain data when it was read from JSON. Python's garbage
    /// collector reads it without the GIL, as a `PyOnceLock` cannot be.
    utility: OnceLock<Py<PyAny>>,
    /// The utilities that are Python objects, each of which holds its object.
    users: Vec<Arc<UserUtility>>,
    capacities: PyOnceLock<Py<PyArray1<f64>>>,
    paths: PyOnceLock<Py<Paths>>,
    group: PyOnceLock<Py<PyArray1<i64>>>,
    rate_cap: PyOnceLock<Py<PyArray1<f64>>>,
    flow_cap: PyOnceLock<Py<PyArray1<f64>>>,
    flow_floor: PyOnceLock<Py<PyArray1<f64>>>,
    path_cost: PyOnceLock<Py<PyArray1<f64>>>,
    priority: PyOnceLock<Py<PyArray1<f64>>>,
    /// The ends of its flows, as `netnum._by_name` looks them up.
    flow_ends: PyOnceLock<Py<PyAny>>,
}

impl From<Core> for Problem {
    fn from(core: Core) -> Self {
        Self {
            core,
            all_paths: None,
            ends: None,
            topology: None,
            utility: OnceLock::new(),
            users: Vec::new(),
            capacities: PyOnceLock::new(),
            paths: PyOnceLock::new(),
            group: PyOnceLock::new(),
            rate_cap: PyOnceLock::new(),
            flow_cap: PyOnceLock::new(),
            flow_floor: PyOnceLock::new(),
            path_cost: PyOnceLock::new(),
            priority: PyOnceLock::new(),
            flow_ends: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (
        network=None, paths=None, utility=None, *, group=None, rate_cap=None, flow_cap=None, flow_floor=None,
        path_cost=None, link_cost=None, priority=None, pairs=None, max_hops=None, avoid_links=None, avoid_nodes=None,
        cheapest_paths=None, **unknown
    ))]
    #[pyo3(text_signature = "(network, paths, utility=\"proportional\", *, group=None, rate_cap=None, flow_cap=None, \
                             flow_floor=None, path_cost=None, link_cost=None, priority=None, pairs=None, \
                             max_hops=None, avoid_links=None, avoid_nodes=None, cheapest_paths=None)")]
    #[expect(clippy::too_many_arguments, reason = "the keywords")]
    fn new(
        py: Python<'_>,
        network: Option<&Bound<'_, PyAny>>,
        paths: Option<&Bound<'_, PyAny>>,
        utility: Option<&Bound<'_, PyAny>>,
        group: Option<&Bound<'_, PyAny>>,
        rate_cap: Option<&Bound<'_, PyAny>>,
        flow_cap: Option<&Bound<'_, PyAny>>,
        flow_floor: Option<&Bound<'_, PyAny>>,
        path_cost: Option<&Bound<'_, PyAny>>,
        link_cost: Option<&Bound<'_, PyAny>>,
        priority: Option<&Bound<'_, PyAny>>,
        pairs: Option<&Bound<'_, PyAny>>,
        max_hops: Option<&Bound<'_, PyAny>>,
        avoid_links: Option<&Bound<'_, PyAny>>,
        avoid_nodes: Option<&Bound<'_, PyAny>>,
        cheapest_paths: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Problem", unknown)?;
        if paths.is_none() && pairs.is_some() {
            let what = "Problem needs `paths`, and `pairs=` is beside them";
            let message = format!("{what}: netnum.Problem(net, pairs) is over all paths of the network");
            return Err(PyTypeError::new_err(message));
        }
        let network = hints::needed(py, "Problem", "network", network)?;
        let paths = hints::needed(py, "Problem", "paths", paths)?;
        let topology = of_network(network)?;
        let topology = topology.as_ref();
        let paths = &all_paths::in_a_list(paths)?;
        let limits = Limits { max_hops, avoid_links, avoid_nodes, cheapest_paths };
        if let Some(net) = topology
            && let Some(over_all) = all_paths::pairs_of(net, paths)?
        {
            for (name, given) in [("group", group), ("rate_cap", rate_cap), ("path_cost", path_cost), ("pairs", pairs)]
            {
                all_paths::refuse_paths(name, given)?;
            }
            let all = AllPaths::new(net, &over_all, &limits)?;
            let this = Self::over_all_paths(net, all, utility)?;
            let this = match over_all.volumes {
                Some(volumes) => this.with(py, this.core.clone().with_flow_caps(volumes).map_err(raise)?)?,
                None => this,
            };
            let this = if flow_cap.is_some() { this.with(py, this.capped(py, flow_cap)?)? } else { this };
            // Whether every flow is limited and worth something is known with the floors.
            let this = this.with_flow_floors(py, flow_floor)?;
            let this = if link_cost.is_some() { this.with_link_costs(py, link_cost)? } else { this };
            let this = if priority.is_some() { this.with_priorities(py, priority)? } else { this };
            warn_of_starving(py, &this.core, Some(&net.get().core))?;
            return Ok(this);
        }
        limits.refuse()?;
        let capacities = match topology {
            Some(topology) => topology.get().core.capacities().to_vec(),
            None => numbers::floats("capacities", network).map_err(|error| hints::no_network(network, error))?,
        };
        let paths = &path_forms::of_call(paths)?;
        let (known, demands) = (paths::group_of(paths), paths::flow_caps_of(paths));
        let paths = path_forms::paths(paths, capacities.len(), topology.map(Bound::get))?;
        let Given { utilities, shown, users } = match utility {
            Some(utility) => utility::utilities(utility)?,
            None => utility::utilities(PyString::new(py, "proportional").as_any())?,
        };
        let group = group.map(|group| paths::flow_numbers(group)).transpose()?;
        let are_its_flows = group.is_none() || group == known;
        let group = group.or(known);
        let demands = demands.filter(|_| are_its_flows);
        let given = pairs.map(|pairs| ends_of(topology, pairs, &paths, group.as_deref())).transpose()?;
        let (ends, volumes) = given.map_or((None, None), |(ends, volumes)| (Some(ends), volumes));
        let demands = volumes.or(demands);
        let named = |name, caps, each, present| {
            let flows = match &group {
                Some(group) => group.clone(),
                None => (0..paths.len() as u32).collect(),
            };
            let names = |paths: Paths| Names::of_paths(py, topology, paths.with_ends(ends.clone()));
            caps_by_name(names, &paths, &flows, name, caps, each, present)
        };
        let rate_cap = match rate_cap {
            Some(rate_cap) => {
                let rate_cap = named("rate_cap", rate_cap, Each::Path, None)?;
                Some(numbers::for_each("rate_cap", &rate_cap, paths.len())?)
            }
            None => None,
        };
        let flow_cap = match flow_cap {
            Some(flow_cap) => {
                let flow_cap = named("flow_cap", flow_cap, Each::Flow, demands.as_deref())?;
                Some(numbers::parameter("flow_cap", &flow_cap)?)
            }
            None => demands.map(Parameter::PerFlow),
        };
        let net = topology.map(|topology| &topology.get().core);
        let is_grouped = group.is_some();
        let of_flows = move |error| if is_grouped { error } else { ungrouped(error) };
        let make = move || {
            let core = match group {
                None => Core::new(capacities, paths, utilities),
                Some(group) => Core::grouped(capacities, paths, group, utilities),
            }?;
            net.map_or(Ok(()), |net| net.check_walks(core.paths()))?;
            match rate_cap {
                Some(rate_cap) => core.with_rate_caps(rate_cap),
                None => Ok(core),
            }
        };
        let core = py.enter_rust(move || make().map_err(of_flows))?;
        let topology = topology.map(|topology| topology.clone().unbind());
        let mut this = Self { topology, ends, utility: shown.into(), users, ..Self::from(core) };
        if let Some(flow_cap) = flow_cap {
            let caps = numbers::spread(flow_cap, this.core.flows());
            let capped = py.enter_rust(|| this.core.clone().with_flow_caps(caps).map_err(of_flows));
            this = this.with(py, capped.map_err(|error| this.naming(py, error))?)?;
        }
        warn_of_starving(py, &this.core, net)?;
        if flow_floor.is_some() {
            this = this.with_flow_floors(py, flow_floor)?;
        } else {
            py.enter_rust(|| this.core.check_limits()).map_err(|error| this.naming(py, error))?;
        }
        if path_cost.is_some() {
            this = this.with_path_costs(py, path_cost)?;
        }
        if let Some(link_cost) = link_cost {
            let mut costs = this.costs_of_links(py, "link_cost", link_cost)?;
            costs.iter_mut().enumerate().for_each(|(path, cost)| *cost += this.core.path_cost(path));
            let core = py.enter_rust(|| this.core.clone().with_path_costs(costs).and_then(limited))?;
            this = this.with(py, core)?;
        }
        if priority.is_some() { this.with_priorities(py, priority) } else { Ok(this) }
    }

    /// Read a problem from JSON text.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     An object with the fields ``capacity``, ``paths``, ``utility`` (one column per field: ``kind``, ``weight``,
    ///     ``alpha``, …) and optionally ``coefficient`` (lists like those of ``paths``), ``group``, ``cap``,
    ///     ``flow_cap`` (null for no limit or cap), ``flow_floor``, ``path_cost`` and ``priority``, and
    ///     ``network``, the nodes and links of its `Topology`. A problem of pairs has ``pairs`` in place of ``paths``:
    ///     ``sources`` and ``destinations``, and optionally ``max_hops``, ``avoid_links``, ``avoid_nodes`` and
    ///     ``link_cost``; one of paths may have ``pairs``, too, with the first two of these. Other fields are ignored,
    ///     such as a name.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// NumError
    ///     When the text is not JSON or lacks a field, for a field whose name is a slip of another, such as
    ///     ``flow_flor``, and everything that `Problem` itself finds.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        // A node may have that name, and so may a field that is ignored.
        let is_of_pairs = |named: Named| named.pairs.is_some() && named.paths.is_none();
        if text.contains("\"pairs\"") && py.detach(|| serde_json::from_str(text)).is_ok_and(is_of_pairs) {
            let (net, all, core) = AllPaths::from_json(py, text)?;
            return Ok(Self { topology: Some(net), all_paths: Some(all), ..Self::from(core) });
        }
        let mut problem: Self = py.enter_rust(|| Core::from_json(text).and_then(limited)).map(Into::into)?;
        if text.contains("\"network\"") {
            let wrong = |error: serde_json::Error| NumError::new_err(error.to_string());
            let Named { network, .. } = py.detach(|| serde_json::from_str(text)).map_err(wrong)?;
            let made = |network: serde_json::Value| {
                let module = py.import("netnum._saved")?;
                let net = module.call_method1("network_of", (network.to_string(), problem.capacities(py)?))?;
                let net = net.cast_into::<Topology>()?;
                let (topology, paths) = (net.get(), problem.core.paths());
                py.enter_rust(|| topology.core.check_walks(paths))?;
                PyResult::Ok(net.unbind())
            };
            problem.topology = network.map(made).transpose()?;
        }
        if let (Some(net), true) = (&problem.topology, text.contains("\"pairs\"")) {
            let paths = problem.own_paths(py)?;
            let ends = py.detach(|| all_paths::ends_in_json(text))?;
            let check = |ends: Vec<[u32; 2]>| checked_ends(net.get(), ends, &paths.get().core, problem.core.group());
            problem.ends = ends.map(check).transpose()?;
            // Made without them.
            problem.paths = PyOnceLock::new();
        }
        Ok(problem)
    }

    /// Write the problem as JSON text that `from_json` reads back as an equal one.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first flow whose utility is Python code; for paths that Python code finds.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        if self.all_paths.as_ref().is_some_and(|all| all.own.is_some()) {
            let what = "cheapest_paths is Python code, which JSON has not";
            return Err(ProblemError::new_err(format!("{what}: pickle the problem, or save the one of a solution")));
        }
        let text = py.enter_rust(|| self.core.to_json())?;
        let text = match &self.all_paths {
            Some(all) => py.detach(|| all.in_json(&text)).map_err(|error| NumError::new_err(error.to_string()))?,
            None => text,
        };
        let Some(topology) = &self.topology else { return Ok(text) };
        let network: String = py.import("netnum._saved")?.call_method1("text_of_network", (topology,))?.extract()?;
        let pairs = self.ends.as_ref().map(|ends| format!("\"pairs\":{},", all_paths::ends_as_json(ends)));
        Ok(format!("{{\"network\":{network},{}{}", pairs.unwrap_or_default(), &text[1..]))
    }

    /// Save the problem in a file that `netnum.load` reads back as an equal one: the JSON of `to_json`.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file that is there is replaced.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first flow whose utility is Python code; `pickle` keeps such problems.
    /// OSError
    ///     When the file cannot be written.
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.py().import("netnum._saved")?.call_method1("save", (slf, path)).map(drop)
    }

    /// The `Topology` that it was made from, or else the capacities.
    #[getter]
    fn network(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.topology {
            Some(topology) => Ok(topology.clone_ref(py).into_any()),
            None => Ok(self.capacities(py)?.into_any()),
        }
    }

    /// Capacity of every link: array of float, shape (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        kept(&self.capacities, py, || Ok(numbers::read_only(py, self.core.capacities().to_vec())))
    }

    /// The links of every path, with the flows that they belong to: `Paths`. None where pairs are given, whose paths
    /// `solve` finds.
    #[getter]
    fn paths(&self, py: Python<'_>) -> PyResult<Option<Py<Paths>>> {
        self.all_paths.is_none().then(|| self.own_paths(py)).transpose()
    }

    /// The flow of every path: array of int, shape (paths,). None where pairs are given.
    #[getter]
    fn group(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<i64>>>> {
        let group = || kept(&self.group, py, || Ok(numbers::indices(py, self.core.group())));
        self.all_paths.is_none().then(group).transpose()
    }

    /// The pairs of ends, where they are given in place of paths or beside them: a tuple of sources and destinations,
    /// arrays of int, shape (flows,), as the network takes them (their names where these are integers); else None.
    #[getter]
    fn pairs(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        let ends = self.all_paths.as_ref().map(|all| all.paths.pairs()).or(self.ends.as_deref());
        let shown = |(ends, net): (_, &Py<Topology>)| all_paths::ends_as_taken(py, ends, net.get());
        ends.zip(self.topology.as_ref()).map(shown).transpose()
    }

    /// The most links of a path that `solve` may find; None for no limit.
    #[getter]
    fn max_hops(&self) -> Option<u32> {
        self.all_paths.as_ref().and_then(|all| all.paths.max_hops())
    }

    /// What says which paths there are, in place of all of the network; None where these are all or are given.
    #[getter]
    fn cheapest_paths(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let own = self.all_paths.as_ref().and_then(|all| all.own.as_ref());
        own.map(|own| own.function.clone_ref(py))
    }

    /// Cap on the rate of every path, inf for none: array of float, shape (paths,); None if no path has one.
    #[getter]
    fn rate_cap(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let caps = || (0..self.core.paths().len()).map(|path| self.core.rate_cap(path)).collect();
        let array = || kept(&self.rate_cap, py, || Ok(numbers::read_only(py, caps())));
        self.core.has_rate_caps().then(array).transpose()
    }

    /// Cap on the rate of every flow over all its paths, inf for none: array of float, shape (flows,); None if no flow
    /// has one.
    #[getter]
    fn flow_cap(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let caps = || (0..self.core.flows()).map(|flow| self.core.flow_cap(flow)).collect();
        let array = || kept(&self.flow_cap, py, || Ok(numbers::read_only(py, caps())));
        self.core.has_flow_caps().then(array).transpose()
    }

    /// The least rate of every flow over all its paths, 0 for none: array of float, shape (flows,); None if no flow has
    /// one.
    #[getter]
    fn flow_floor(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let floors = || (0..self.core.flows()).map(|flow| self.core.flow_floor(flow)).collect();
        let array = || kept(&self.flow_floor, py, || Ok(numbers::read_only(py, floors())));
        self.core.has_flow_floors().then(array).transpose()
    }

    /// Utility lost per unit of rate on every path, those of its links included: array of float, shape (paths,); None
    /// if no path has a cost.
    #[getter]
    fn path_cost(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let costs = || (0..self.core.paths().len()).map(|path| self.core.path_cost(path)).collect();
        let array = || kept(&self.path_cost, py, || Ok(numbers::read_only(py, costs())));
        (self.all_paths.is_none() && self.core.has_path_costs()).then(array).transpose()
    }

    /// The priority of every flow, smaller first: array of float, shape (flows,); None if all are the same.
    #[getter]
    fn priority(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let priorities = || (0..self.core.flows()).map(|flow| self.core.priority(flow)).collect();
        let array = || kept(&self.priority, py, || Ok(numbers::read_only(py, priorities())));
        self.core.has_priorities().then(array).transpose()
    }

    /// Raises where it has pairs and no paths, and says what to do instead.
    #[pyo3(signature = (instead=OF_A_SOLUTION))]
    fn _need_paths(&self, instead: &str) -> PyResult<()> {
        self.over_paths(instead).map(drop)
    }

    #[getter]
    fn _own_paths(&self, py: Python<'_>) -> PyResult<Py<Paths>> {
        self.own_paths(py)
    }

    #[getter]
    fn _flow_ends(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        kept(&this.flow_ends, py, || {
            py.import("netnum._by_name")?.getattr("Joined")?.call1((this.network(py)?, this.own_paths(py)?))
        })
    }

    /// The utility of all flows, or a tuple with one per flow.
    #[getter]
    fn utility(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(utility) = self.utility.get() {
            return Ok(utility.clone_ref(py));
        }
        let utility = utility::of_problem(py, &self.core)?;
        // Another thread may have set it meanwhile; then all use that one.
        Ok(self.utility.get_or_init(|| utility).clone_ref(py))
    }

    /// Number of flows.
    #[getter]
    fn flows(&self) -> usize {
        self.core.flows()
    }

    /// Number of links.
    #[getter]
    fn links(&self) -> usize {
        self.core.links()
    }

    /// Rate of every flow: the sum over its paths.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float, shape (paths,)
    ///
    /// Returns
    /// -------
    /// array of float, shape (flows,)
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one rate per path.
    fn flow_rates<'py>(&self, rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let flow_rates =
            self.over_paths(OF_A_SOLUTION)?.flow_rates(&numbers::floats("rates", rates)?).map_err(raise)?;
        Ok(PyArray1::from_vec(rates.py(), flow_rates))
    }

    /// Load of every link: the sum of the rates of the paths through it, times their coefficients.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float, shape (paths,)
    ///
    /// Returns
    /// -------
    /// array of float, shape (links,)
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one rate per path.
    fn loads<'py>(&self, rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let loads = self.over_paths(OF_A_SOLUTION)?.loads(&numbers::floats("rates", rates)?).map_err(raise)?;
        Ok(PyArray1::from_vec(rates.py(), loads))
    }

    /// The utility of every flow at its rate.
    ///
    /// `Solution.objective` is their sum over the flows that are not in `Solution.failed_flows`. A failure that cuts
    /// flows off takes their utilities out of that sum, so that two networks must be compared on the flows that both
    /// serve, as `failure_study` does.
    ///
    /// Parameters
    /// ----------
    /// flow_rates : array of float, shape (flows,)
    ///
    /// Returns
    /// -------
    /// array of float, shape (flows,)
    ///     U_f(y_f), -inf at rate 0 for some utilities; for max-min problems the fair shares, whose smallest is the
    ///     objective.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one rate per flow.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([2.0, 0.0], [[0], [0], [1]], netnum.AlphaFair(1.0))
    /// >>> solution = netnum.solve(problem)
    /// >>> problem.values(solution.flow_rates), solution.failed_flows
    /// (array([  0.,   0., -inf]), array([2]))
    fn values<'py>(&self, flow_rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, rates) = (flow_rates.py(), numbers::floats("flow_rates", flow_rates)?);
        let values = py.enter_rust(|| self.core.values(&rates))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// This problem with other capacities, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// capacities : array of float, shape (links,), or float, or dict
    ///     One per link, or the same for all: >= 0; 0 for a link that has failed, inf for no limit. A dict changes the
    ///     links that it names, ``{("Seattle", "Denver"): 20.0}``, one direction each: by the nodes that they run from
    ///     and to, or as in `Topology.link_names`, where the problem was made with a `Topology`, or by number.
    ///
    /// Returns
    /// -------
    /// Problem
    ///     Its `network` has these capacities: a topology if this one was made from one, else the array.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one capacity per link, finite and >= 0; for a link that a dict names and that does not
    ///     exist, and for two nodes with several links, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([1.0, 1.0], [[0], [1]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem.with_capacities([1.0, 3.0])).rates
    /// array([1., 3.])
    pub(crate) fn with_capacities(&self, py: Python<'_>, capacities: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capacities =
            self.names(py)?.filled("capacities", capacities, Each::Link, || self.core.capacities().to_vec())?;
        let capacities = numbers::for_each("capacities", &capacities, self.core.links())?;
        if let Some(net) = &self.topology {
            net.get().refuse_one_per_edge(&capacities)?;
        }
        let core = py.enter_rust(|| self.core.clone().with_capacities(capacities.clone()).and_then(limited))?;
        let renewed = |net: &Py<Topology>| {
            let net = net.get();
            Py::new(py, net.with(net.core.clone().with_capacities(capacities).map_err(raise)?)?)
        };
        let topology = self.topology.as_ref().map(renewed).transpose()?;
        if let (Some(all), Some(net)) = (&self.all_paths, &topology) {
            let all = all.of_network(net.bind(py))?;
            let core = py.enter_rust(|| all.begin(core).and_then(limited))?;
            return Ok(Self { topology, all_paths: Some(all), ..self.with(py, core)? });
        }
        Ok(Self { topology, ..self.with(py, core)? })
    }

    /// This problem with other caps on the rates of flows over all their paths, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// flow_cap : array of float, shape (flows,), or float, or dict, or None
    ///     The demand of every flow, or the same for all: >= 0, inf for none; None for no caps at all. A dict changes
    ///     the flows that it names, ``{("Seattle", "Denver"): 5.0}``: by their ends, where the problem was made with a
    ///     `Topology`, or by number.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one cap per flow, >= 0; for a flow that a dict names and that does not exist, and for two
    ///     nodes with several flows, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([1.0, 2.0], [[0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 0, 1])
    /// >>> netnum.solve(problem.with_flow_caps([1.2, np.inf])).flow_rates.round(3)
    /// array([1.2, 1.8])
    #[pyo3(signature = (flow_cap))]
    pub(crate) fn with_flow_caps(&self, py: Python<'_>, flow_cap: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let capped = self.capped(py, flow_cap)?;
        self.with(py, py.enter_rust(|| limited(capped))?)
    }

    /// This problem with other caps on the rates of paths, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// rate_cap : array of float, shape (paths,), or float, or dict
    ///     The cap of every path, or the same for all: >= 0, inf for none. A dict changes the paths that it names: by
    ///     number, or by all of their nodes, ``{("Seattle", "Denver", "Chicago"): 5.0}``.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one cap per path, >= 0; for a path that a dict names and that does not exist, and for
    ///     several paths through the same nodes, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem.with_rate_caps([1.0, np.inf])).rates.round(3)
    /// array([1., 5.])
    pub(crate) fn with_rate_caps(&self, py: Python<'_>, rate_cap: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.over_paths("Problem(net, net.k_shortest_paths(demands, k), rate_cap=...) has paths, and caps for them")?;
        let present = || (0..self.core.paths().len()).map(|path| self.core.rate_cap(path)).collect();
        let rate_cap = self.names(py)?.filled("rate_cap", rate_cap, Each::Path, present)?;
        let caps = numbers::for_each("rate_cap", &rate_cap, self.core.paths().len())?;
        self.with(py, py.enter_rust(|| self.core.clone().with_rate_caps(caps).and_then(limited))?)
    }

    /// This problem with other floors of the rates of flows over all their paths, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// flow_floor : array of float, shape (flows,), or float, or dict, or None
    ///     The least rate of every flow, or the same for all: finite, >= 0 and at most its cap; None for no floors at
    ///     all. A dict changes the flows that it names, ``{("Seattle", "Denver"): 5.0}``: by their ends, where the
    ///     problem was made with a `Topology`, or by number.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one floor per flow, finite, >= 0 and at most its cap; for a flow that a dict names and that
    ///     does not exist, and for two nodes with several flows, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([10.0], [[0], [0], [0]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem.with_flow_floors({1: 6.0})).rates.round(3)
    /// array([2., 6., 2.])
    #[pyo3(signature = (flow_floor))]
    pub(crate) fn with_flow_floors(&self, py: Python<'_>, flow_floor: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let floors = match flow_floor {
            Some(flow_floor) => {
                let present = || (0..self.core.flows()).map(|flow| self.core.flow_floor(flow)).collect();
                let flow_floor = self.names(py)?.filled("flow_floor", flow_floor, Each::Flow, present)?;
                numbers::for_each("flow_floor", &flow_floor, self.core.flows())?
            }
            None => vec![0.0; self.core.flows()],
        };
        let floored = py.enter_rust(|| self.core.clone().with_flow_floors(floors).and_then(limited));
        self.with(py, floored.map_err(|error| self.naming(py, error))?)
    }

    /// This problem with other costs of paths, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// path_cost : array of float, shape (paths,), or float, or dict, or None
    ///     Utility lost per unit of rate on every path, or the same for all: finite and >= 0; None for no costs at all,
    ///     of links neither. A dict changes the paths that it names: by number, or by all of their nodes.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one cost per path, finite and >= 0; for a path that a dict names and that does not exist.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([2.0, 2.0], [[0], [1]], netnum.AlphaFair(1.0), group=[0, 0])
    /// >>> netnum.solve(problem.with_path_costs([0.0, 0.4])).rates.round(3)
    /// array([2. , 0.5])
    #[pyo3(signature = (path_cost))]
    pub(crate) fn with_path_costs(&self, py: Python<'_>, path_cost: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.over_paths("links have costs, problem.with_link_costs(link_cost)")?;
        let count = self.core.paths().len();
        let costs = match path_cost {
            Some(path_cost) => {
                let present = || (0..count).map(|path| self.core.path_cost(path)).collect();
                let path_cost = self.names(py)?.filled("path_cost", path_cost, Each::Path, present)?;
                numbers::for_each("path_cost", &path_cost, count)?
            }
            None => vec![0.0; count],
        };
        self.with(py, py.enter_rust(|| self.core.clone().with_path_costs(costs).and_then(limited))?)
    }

    /// This problem with costs of its links in place of all costs that it has, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// link_cost : str, or array of float, shape (links,), or float, or dict, or None
    ///     Utility lost per unit of load on every link, or the same for all: finite and >= 0. A text is the name of one
    ///     of the network's `link_attributes`. A dict has those of the links that it names, the others cost nothing.
    ///     None is for no costs at all, of paths neither.
    ///
    /// Returns
    /// -------
    /// Problem
    ///     Its `path_cost` has them.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one cost per link, finite and >= 0; for a link that a dict names and that does not exist,
    ///     and for an attribute that the network does not have.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([2.0, 2.0], [[0], [1]], netnum.AlphaFair(1.0), group=[0, 0])
    /// >>> problem.with_link_costs([0.1, 0.4]).path_cost
    /// array([0.1, 0.4])
    #[pyo3(signature = (link_cost))]
    pub(crate) fn with_link_costs(&self, py: Python<'_>, link_cost: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let costs = link_cost.map(|link_cost| self.of_links(py, "link_cost", link_cost)).transpose()?;
        if let Some(AllPaths { paths, own, .. }) = &self.all_paths {
            let has_some = |costs: &Vec<f64>| costs.iter().any(|cost| *cost != 0.0);
            let link_costs = Arc::new(costs.clone().filter(has_some).unwrap_or_default());
            let all = AllPaths { paths: Arc::clone(paths), own: own.clone(), link_costs };
            let core = py.enter_rust(|| {
                // As costs of the first paths, which are checked.
                let core = self.core.clone();
                let core = match costs {
                    Some(costs) => core.with_link_costs(&costs)?,
                    None => core.with_path_costs(vec![0.0; self.core.paths().len()])?,
                };
                all.check(&core)?;
                all.begin(core).and_then(limited)
            });
            let core = core.map_err(|error| self.naming(py, error))?;
            return Ok(Self { all_paths: Some(all), ..self.with(py, core)? });
        }
        let Some(costs) = costs else { return self.with_path_costs(py, None) };
        let core = py.enter_rust(|| self.core.clone().with_link_costs(&costs).and_then(limited));
        self.with(py, core.map_err(|error| self.naming(py, error))?)
    }

    /// This problem with other priorities of its flows, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// priority : array of float, shape (flows,), or dict, or None
    ///     Smaller first, finite; None for one class of all flows. A dict changes the flows that it names: others
    ///     keep their priorities, which are 0 where none were given.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one finite priority per flow; for a flow that a dict names and that does not exist; and for
    ///     a problem of pairs.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0), flow_cap=[7.0, 7.0])
    /// >>> netnum.solve(problem.with_priorities([1, 0])).rates.round(3)
    /// array([3., 7.])
    #[pyo3(signature = (priority))]
    pub(crate) fn with_priorities(&self, py: Python<'_>, priority: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let priorities = match priority {
            Some(priority) => {
                let present = || (0..self.core.flows()).map(|flow| self.core.priority(flow)).collect();
                let priority = self.names(py)?.filled("priority", priority, Each::Flow, present)?;
                let priorities = numbers::for_each("priority", &priority, self.core.flows());
                priorities.map_err(|error| self.naming(py, no_priority(&priority, error)))?
            }
            None => vec![0.0; self.core.flows()],
        };
        let changed = self.core.clone().with_priorities(priorities);
        let core = changed.map_err(|error| self.naming(py, raise(error)))?;
        if self.all_paths.is_some() && core.has_priorities() {
            let instead = "Problem(net, net.k_shortest_paths(demands, k), priority=...) has paths, and takes them";
            return Err(ProblemError::new_err(format!("a problem over all paths takes no priorities: {instead}")));
        }
        self.with(py, core)
    }

    /// This problem with other utilities, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// utility : utility, name, or float, or sequence of those
    ///     As in `Problem`: one whose parameters are scalars or arrays over flows, or one per flow.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     When there are utilities, or parameters, for another number of flows.
    /// UtilityError
    ///     Naming the flow with a parameter out of its range.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([12.0], [[0], [0]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem.with_utility(netnum.AlphaFair(1.0, weight=[1.0, 2.0]))).rates.round(3)
    /// array([4., 8.])
    pub(crate) fn with_utility(&self, py: Python<'_>, utility: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Given { utilities, shown, users } = utility::utilities(utility)?;
        let valued = py.enter_rust(|| self.core.clone().with_utility(utilities).and_then(limited));
        let core = valued.map_err(|error| self.naming(py, error))?;
        self.all_paths.iter().try_for_each(|all| all.check(&core)).map_err(raise)?;
        warn_of_starving(py, &core, self.topology.as_ref().map(|topology| &topology.get().core))?;
        let (topology, all_paths, ends) = (self.topology(py), self.all_paths.clone(), self.ends.clone());
        Ok(Self { topology, utility: shown.into(), users, all_paths, ends, ..Self::from(core) })
    }

    /// This problem with other weights of its flows, and all else shared.
    ///
    /// Parameters
    /// ----------
    /// weight : array of float, shape (flows,), or float, or dict
    ///     The `weight` of every flow's `AlphaFair` or `Linear`, or the same for all: > 0. A dict changes the flows
    ///     that it names, ``{("Seattle", "Denver"): 2.0}``: by their ends, where the problem was made with a
    ///     `Topology`, or by number.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// UtilityError
    ///     Naming the flow whose weight is out of its range, or whose utility has none.
    /// ProblemError
    ///     Unless there is one weight per flow; for a flow that a dict names and that does not exist, and for two nodes
    ///     with several flows, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 12\nB C 12")
    /// >>> problem = netnum.Problem(net, [["A", "B"], ["A", "B", "C"]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem.with_weights({("A", "B"): 2.0})).rates.round(3)
    /// array([8., 4.])
    fn with_weights<'py>(slf: &Bound<'py, Self>, weight: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._by_name")?.call_method1("with_weights", (slf, dict_of_series(weight)?))
    }

    /// This problem with some more paths closed, and all else shared.
    ///
    /// Nothing passes a closed path: its `rate_cap` is 0. A flow whose paths are all closed is among the
    /// `Solution.failed_flows`, as one whose links have failed.
    ///
    /// Parameters
    /// ----------
    /// paths : array of int
    ///     Numbers of paths, in any order: of a mask, ``np.flatnonzero(mask)``.
    ///
    /// Returns
    /// -------
    /// Problem
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first path that does not exist.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([1.0, 2.0], [[0], [1]], netnum.AlphaFair(1.0), group=[0, 0])
    /// >>> netnum.solve(problem.with_paths_closed([1])).rates.round(3)
    /// array([1., 0.])
    fn with_paths_closed(&self, py: Python<'_>, paths: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.over_paths("Problem(net, demands, avoid_links=...) is over those that avoid some links")?;
        let count = self.core.paths().len();
        let number =
            |path: i64| u32::try_from(path).map_err(|_| raise(netnum_core::Error::UnknownPath { path, paths: count }));
        let paths = numbers::integers("paths", paths)?.into_iter().map(number).collect::<PyResult<Vec<_>>>()?;
        self.with(py, self.core.clone().with_paths_closed(&paths).map_err(raise)?)
    }

    /// Whether network, paths, flows, caps, floors, costs and utilities are the same; utilities that are Python code
    /// are where these objects are equal.
    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        let (ours, theirs) = (self.topology.as_ref().map(Py::get), other.topology.as_ref().map(Py::get));
        if ours != theirs || self.all_paths != other.all_paths || self.ends != other.ends {
            return Ok(false);
        }
        if self.users.is_empty() && other.users.is_empty() {
            return Ok(py.detach(|| self.core == other.core));
        }
        let are_alike = py.detach(|| self.core.equals_but_for_utilities(&other.core));
        Ok(are_alike && self.utility(py)?.bind(py).eq(other.utility(py)?)?)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.core.links(), self.core.paths().len(), self.core.flows()).hash(&mut hasher);
        hasher.finish()
    }

    #[expect(clippy::type_complexity, reason = "positional and keyword arguments, for pickle")]
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Py<PyAny>, Py<PyAny>, Py<PyAny>), Bound<'py, PyDict>)> {
        let others = PyDict::new(py);
        let pairs = self.all_paths.as_ref().zip(self.topology.as_ref().map(Py::get));
        if let Some((all, net)) = pairs {
            all.keywords(py, net, &others)?;
        }
        others.set_item("rate_cap", self.rate_cap(py)?)?;
        others.set_item("flow_cap", self.flow_cap(py)?)?;
        others.set_item("flow_floor", self.flow_floor(py)?)?;
        others.set_item("path_cost", self.path_cost(py)?)?;
        others.set_item("priority", self.priority(py)?)?;
        let paths = match pairs {
            Some((all, net)) => all_paths::ends_as_taken(py, all.paths.pairs(), net)?.into_any(),
            None => {
                others.set_item("pairs", self.pairs(py)?)?;
                self.own_paths(py)?.into_any()
            }
        };
        Ok(((self.network(py)?, paths, self.utility(py)?), others))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (flows, paths, links) = (self.core.flows(), self.core.paths().len(), self.core.links());
        let utility = utility::repr(self.utility(py)?.bind(py))?;
        let core = &self.core;
        let floored = (0..flows).filter(|&flow| core.flow_floor(flow) > 0.0).count();
        let capped = (0..flows).filter(|&flow| core.flow_cap(flow) < f64::INFINITY).count();
        let path_caps = (0..paths).filter(|&path| core.rate_cap(path) < f64::INFINITY).count();
        let costs = (0..paths).filter(|&path| core.path_cost(path) > 0.0 && self.all_paths.is_none()).count();
        let of_links = self.all_paths.iter().flat_map(|all| all.link_costs.iter()).filter(|cost| **cost > 0.0).count();
        let mut priorities: Vec<f64> = (0..flows).map(|flow| core.priority(flow)).collect();
        priorities.sort_by(f64::total_cmp);
        priorities.dedup();
        let of = |count: usize, one: &str, more: &str| match count {
            0 => String::new(),
            1 => format!(", 1 {one}"),
            count => format!(", {count} {more}"),
        };
        let others = [
            of(capped, "flow cap", "flow caps"),
            of(path_caps, "path cap", "path caps"),
            of(floored, "flow floor", "flow floors"),
            of(costs, "path cost", "path costs"),
            of(of_links, "link cost", "link costs"),
            of(if core.has_priorities() { priorities.len() } else { 0 }, "priority", "priorities"),
        ];
        let paths = if paths == flows { String::new() } else { format!("{}, ", counted(paths, "path")) };
        let over = self.all_paths.as_ref().map_or_else(String::new, |all| format!(" over {}", all.oracle().name()));
        let size = format!("{}{over}, {paths}{}", counted(flows, "flow"), counted(links, "link"));
        Ok(format!("Problem({size}, {utility}{})", others.concat()))
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let utility = utility::repr(slf.get().utility(py)?.bind(py))?;
        py.import("netnum._show.html")?.call_method1("problem", (slf, utility))
    }

    /// The objects that a cycle of references may pass through: a user-defined utility may hold a problem. It
    /// need not be cut here, since a problem never changes: some other object of the cycle does.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self.topology.as_ref())?;
        visit.call(self.utility.get())?;
        self.users.iter().try_for_each(|user| user.visit(&visit))?;
        self.all_paths.iter().filter_map(|all| all.own.as_ref()).try_for_each(|own| own.visit(&visit))
    }
}

/// The ends of flows that are given beside their paths, and the volumes of demands.
fn ends_of(
    net: Option<&Bound<'_, Topology>>,
    given: &Bound<'_, PyAny>,
    paths: &CorePaths,
    group: Option<&[u32]>,
) -> PyResult<(Ends, Option<Vec<f64>>)> {
    let Some(net) = net else {
        return Err(ProblemError::new_err(
            "pairs are of nodes, and the problem has capacities only: make it with a Topology",
        ));
    };
    let pairs = pairs::of_one(net, given)?;
    let ends = pairs.sources.iter().zip(&pairs.destinations).map(|(&from, &to)| [from as u32, to as u32]).collect();
    let each: Vec<u32> = (0..paths.len() as u32).collect();
    Ok((checked_ends(net.get(), ends, paths, group.unwrap_or(&each))?, pairs.volumes))
}

/// The ends of flows, all of whose paths leave the one and enter the other.
fn checked_ends(net: &Topology, ends: Vec<[u32; 2]>, paths: &CorePaths, group: &[u32]) -> PyResult<Ends> {
    let flows = group.iter().max().map_or(0, |&last| last as usize + 1);
    check_length("pairs", ends.len(), flows, "flow").map_err(raise)?;
    let (net, links, names) = (&net.core, net.core.links(), net.core.node_names());
    for (flow, &[from, to]) in ends.iter().enumerate() {
        let wrong = |what: String| Err(ProblemError::new_err(format!("pairs[{flow}]: {what}")));
        if let Some(end) = [from, to].into_iter().find(|&end| end as usize >= net.ends()) {
            return wrong(format!("end {end} does not exist, {}", expected_below("end", net.ends())));
        }
        if from == to {
            return wrong("source and destination are the same".into());
        }
    }
    for ((path, row), &flow) in paths.iter().enumerate().zip(group) {
        let [from, to] = ends[flow as usize];
        let (mut leaves, mut enters) = (false, false);
        for &number in row {
            // Which links there are is checked with the problem.
            let Some(link) = links.get(number as usize) else { continue };
            let is_shared = || net.is_shared(number);
            leaves |= link.from == from || (link.to == from && is_shared());
            enters |= link.to == to || (link.from == to && is_shared());
        }
        if !(leaves && enters) {
            let (from, to) = (&names[from as usize], &names[to as usize]);
            let what = if leaves { format!("to {to}") } else { format!("from {from}") };
            return Err(ProblemError::new_err(format!(
                "pairs[{flow}] is from {from} to {to}, and path {path}, of flow {flow}, has no link {what}"
            )));
        }
    }
    Ok(ends.into())
}

/// Caps that a dict gives by name, in place of some of the present ones; others as they are.
fn caps_by_name<'py>(
    names: impl FnOnce(Paths) -> PyResult<Names<'py>>,
    paths: &Arc<CorePaths>,
    group: &[u32],
    name: &str,
    caps: &Bound<'py, PyAny>,
    each: Each,
    present: Option<&[f64]>,
) -> PyResult<Bound<'py, PyAny>> {
    let caps = dict_of_series(caps)?;
    if !is_a(&caps, "Mapping")? {
        return Ok(caps);
    }
    check_length("group", group.len(), paths.len(), "path").map_err(raise)?;
    let count = match each {
        Each::Flow => group.iter().max().map_or(0, |&last| last as usize + 1),
        _ => paths.len(),
    };
    let present = || present.map_or_else(|| vec![f64::INFINITY; count], <[f64]>::to_vec);
    names(Paths::grouped(Arc::clone(paths), group))?.filled(name, &caps, each, present)
}

/// The error for priorities of which one is a word or a truth, with its flow and what a priority is.
fn no_priority(given: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let shown = |entry: &Bound<'_, PyAny>| -> PyResult<Option<String>> {
        match entry.cast::<PyString>() {
            Ok(word) => Ok(Some(format!("{:?}", word.to_cow()?))),
            Err(_) if numbers::is_truth(entry)? => Ok(Some(entry.str()?.to_string())),
            Err(_) => Ok(None),
        }
    };
    let wrong = || -> PyResult<Option<String>> {
        if let Some(shown) = shown(given)? {
            return Ok(Some(format!("priority is {shown}")));
        }
        for (flow, entry) in given.try_iter()?.enumerate() {
            if let Some(shown) = shown(&entry?)? {
                return Ok(Some(format!("flow {flow} has priority {shown}")));
            }
        }
        Ok(None)
    };
    match wrong() {
        Ok(Some(what)) if error.is_instance_of::<PyTypeError>(given.py()) => {
            let expected = "expected a number: flows of smaller priorities are served first";
            PyTypeError::new_err(format!("{what}, {expected}"))
        }
        _ => error,
    }
}

/// What to do instead where the rates of a solution are at hand.
pub(crate) const OF_A_SOLUTION: &str =
    "the rates of a solution are those of solution.problem, which has the paths that solve found";

/// The error for a problem that has pairs where paths are needed, with what to do `instead`.
pub(crate) fn no_paths(instead: &str) -> PyErr {
    ProblemError::new_err(format!("this problem has pairs and no paths: {instead}"))
}

/// A problem whose flows all have a limit.
fn limited(core: Core) -> netnum_core::Result<Core> {
    core.check_limits().map(|()| core)
}

impl Problem {
    /// The problem over its paths.
    ///
    /// # Errors
    /// `ProblemError` where none are given, with what to do `instead`. The paths that a solve finds are best for its
    /// utility, capacities and caps only: another optimum is not over these.
    pub(crate) fn over_paths(&self, instead: &str) -> PyResult<&Core> {
        if self.all_paths.is_some() { Err(no_paths(instead)) } else { Ok(&self.core) }
    }

    /// The method that solves it over all paths.
    pub(crate) fn method_over_all_paths(&self) -> &'static str {
        if self.core.curvature() == Curvature::MaxMin { "max-min" } else { "interior-point" }
    }

    /// The problem over the paths to begin with.
    pub(crate) fn at_first(&self) -> &Core {
        &self.core
    }

    /// The problem over paths that were found for this one.
    pub(crate) fn with_found(&self, py: Python<'_>, core: Core) -> PyResult<Self> {
        Ok(Self { all_paths: None, ..self.with(py, core)? })
    }

    /// A problem over all paths of a network.
    fn over_all_paths(net: &Bound<'_, Topology>, all: AllPaths, utility: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = net.py();
        let Given { utilities, shown, users } = match utility {
            Some(utility) => utility::utilities(utility)?,
            None => utility::utilities(PyString::new(py, "proportional").as_any())?,
        };
        let network = net.get();
        let core = py.enter_rust(|| {
            let capacities = network.core.capacities().to_vec();
            let first = all.first(capacities.len())?;
            Core::new(capacities, first, utilities).map_err(of_pairs)
        })?;
        let topology = Some(net.clone().unbind());
        Ok(Self { topology, utility: shown.into(), users, all_paths: Some(all), ..Self::from(core) })
    }

    /// With other caps on the rates of flows, before it is known whether every flow is limited.
    fn capped(&self, py: Python<'_>, flow_cap: Option<&Bound<'_, PyAny>>) -> PyResult<Core> {
        let caps = match flow_cap {
            Some(flow_cap) => {
                let present = || (0..self.core.flows()).map(|flow| self.core.flow_cap(flow)).collect();
                let flow_cap = self.names(py)?.filled("flow_cap", flow_cap, Each::Flow, present)?;
                numbers::for_each("flow_cap", &flow_cap, self.core.flows())?
            }
            None => vec![f64::INFINITY; self.core.flows()],
        };
        py.enter_rust(|| self.core.clone().with_flow_caps(caps)).map_err(|error| self.naming(py, error))
    }

    /// The error about a flow or a link by its number, with its name where the network and the paths tell it.
    pub(crate) fn naming(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let Some(net) = &self.topology else { return error };
        let named = || {
            let arguments = (net, self.own_paths(py)?, error.value(py));
            py.import("netnum._by_name")?.call_method1("naming", arguments)
        };
        named().map_or_else(|other| other, PyErr::from_value)
    }

    /// This problem with another core, for the same network and utilities.
    fn with(&self, py: Python<'_>, core: Core) -> PyResult<Self> {
        let (utility, topology) = (self.utility(py)?.into(), self.topology(py));
        let (users, all_paths, ends) = (self.users.clone(), self.all_paths.clone(), self.ends.clone());
        Ok(Self { topology, utility, users, all_paths, ends, ..Self::from(core) })
    }

    /// Its paths, or those to begin with, with the flows that they belong to.
    fn own_paths(&self, py: Python<'_>) -> PyResult<Py<Paths>> {
        let paths = || Paths::grouped(self.core.shared_paths(), self.core.group()).with_ends(self.ends.clone());
        kept(&self.paths, py, || Bound::new(py, paths()))
    }

    /// A number of every link: an array, one for all, a dict of some of them, the others 0, or the name of an
    /// attribute.
    fn of_links(&self, py: Python<'_>, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        if let Some(net) = &self.topology {
            return Topology::of_links(net.bind(py), what, value, 0.0);
        }
        if let Ok(name) = value.cast::<PyString>() {
            let what = format!("{what} is {:?}, the name of an attribute", name.to_str()?);
            return Err(ProblemError::new_err(format!("{what}: that takes a problem of a Topology, which has them")));
        }
        let none = || vec![0.0; self.core.links()];
        let value = Names { net: None, paths: None }.filled(what, value, Each::Link, none)?;
        numbers::for_each(what, &value, self.core.links())
    }

    /// The cost of every path, of costs of links.
    pub(crate) fn costs_of_links(&self, py: Python<'_>, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let (costs, paths) = (self.of_links(py, what, value)?, self.core.paths().len());
        check_length(what, costs.len(), self.core.links(), "link").map_err(raise)?;
        let of_paths = || -> netnum_core::Result<Vec<f64>> {
            let problem = self.core.clone().with_link_costs(&costs)?;
            Ok((0..paths).map(|path| problem.path_cost(path)).collect())
        };
        py.enter_rust(of_paths).map_err(|error| self.naming(py, error))
    }

    fn topology(&self, py: Python<'_>) -> Option<Py<Topology>> {
        self.topology.as_ref().map(|topology| topology.clone_ref(py))
    }

    /// Where its links, flows and paths are looked up by name.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Names<'py>> {
        let net = self.topology.as_ref().map(|topology| topology.bind(py).clone());
        Ok(Names { net, paths: Some(self.own_paths(py)?.into_bound(py)) })
    }
}

/// The network in the text of a problem, and whether it has pairs or paths.
#[derive(serde::Deserialize)]
struct Named {
    #[serde(default)]
    network: Option<serde_json::Value>,
    #[serde(default)]
    pairs: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    paths: Option<serde::de::IgnoredAny>,
}

/// The error for a problem of pairs: its utilities may be for another number of flows.
fn of_pairs(error: netnum_core::Error) -> netnum_core::Error {
    match error {
        netnum_core::Error::Length { what, found, expected, per: "flow" } => {
            netnum_core::Error::Length { what, found, expected, per: "flow: every pair is one" }
        }
        error => error,
    }
}

/// The error for an array for fewer flows than there are paths, with a hint at the argument `group` that was not given.
fn ungrouped(error: netnum_core::Error) -> netnum_core::Error {
    match error {
        netnum_core::Error::Length { what, found, expected, per: "flow" } if found < expected => {
            let per = "flow: without group= every path is a flow of its own";
            netnum_core::Error::Length { what, found, expected, per }
        }
        error => error,
    }
}

/// Warns of a flow that starves beside one of another α.
fn warn_of_starving(py: Python<'_>, core: &Core, net: Option<&netnum_core::Topology>) -> PyResult<()> {
    let Some(Starving { link, flow, rate, beside, most }) = py.enter_rust(|| core.starving())? else { return Ok(()) };
    let link = net.map_or_else(|| format!("link {link}"), |net| format!("link {:?}", net.link_names()[link]));
    let of = |flow: usize| {
        let (utility, place) = core.utility(flow);
        format!("flow {flow} (alpha {})", utility.alpha(place).unwrap_or_default())
    };
    let message = format!(
        "{} starves beside {} on {link}, with a rate of about {rate:.2e} beside {most:.2e}: how flows of different \
         alpha share a link depends on the unit of rates; give them weights near their rates (weight={most:.0e}), or \
         capacities in a unit of about that size",
        of(flow),
        of(beside)
    );
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(message)?, 1)
}
