//! `Allocator`.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};

use netnum_core::internal::{Call, check_length};
use netnum_core::{Error, Normalization, Parameter, Paths, PowerLaw, Ranks};
use netnum_parallel::{Allocator as Core, AllocatorSettings, FlowId, FlowPaths, Precision};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::by_name::is_a;
use crate::certificate::Certificate;
use crate::detach::{self, EnterRust};
use crate::error::{ProblemError, raise, setting, wrong_type};
use crate::numbers;
use crate::numbers::threads_of;
use crate::ranks::{self, fail};
use crate::solve::options_of;
use crate::topology::{Topology, of_network, seed_of, with_link_name};
use crate::{hints, path_forms, paths};

/// An online allocator: flowlets start and end, prices are kept, and every tick gives feasible rates.
///
/// A tick is one iteration of a price rule on the current flowlets, and a normalizer. Only rates that have changed by
/// more than a threshold are sent to endpoints (`updates`); the allocator leaves that part of every link free, so that
/// the rates that endpoints still use are feasible as well.
///
/// Parameters
/// ----------
/// network : array of float, shape (links,), or Topology, or networkx graph
///     Capacities; a graph is read as by `netnum.topology.from_networkx`. A capacity of 0 is a failed link, one of inf
///     has no limit.
/// method : str
///     The price rule: ``"ned"``, ``"fast-ned"``, ``"gradient"``, ``"fgm"``, ``"newton-like"``, or ``"rcp"`` (for
///     flowlets of ``alpha=1``; others are refused).
/// normalizer : str or None
///     What makes the rates of a tick feasible: ``"f-norm"``, ``"u-norm"``, ``"fill"``; ``None`` leaves the demands at
///     the prices. ``"fill"`` leaves no capacity unused but the threshold's part, and costs a `max_min`.
/// update_threshold : float
///     `updates` has a rate when it has changed by more than this part of itself; 0 <= update_threshold < 1.
/// headroom : float
///     The part of every link that is held back; 0 <= headroom < 1.
/// dtype : {"float64", "float32"}
///     The type of the numbers that are kept per flowlet. Single precision halves the memory; rates are then right to
///     about 1e-6, and links may be over their capacity by as much (1e-5 with many thousands of flowlets): give
///     ``headroom`` for it.
/// exact : bool
///     Whether a tick goes on until a certificate proves the relative gap `tol`: it iterates from where the last tick
///     ended, or solves where that takes too long. The gap bounds the utility of all flowlets together, and not single
///     rates, which may be far from their optimum, most at a large alpha. For periods of milliseconds to
///     seconds; with ``"f-norm"`` or ``"fill"``, in double precision, on one rank, and its proofs on one thread.
/// tol : float
///     The largest relative gap of an exact tick; 0 < tol < 1.
/// threads : int
///     How many threads a tick may use. More than one are used from 40 000 flowlets on; the rates have the same bits.
/// comm : mpi4py.MPI.Intracomm, optional
///     Every rank of it makes an allocator, with the same arguments (`threads` may differ), and starts the flowlets of
///     its own. `tick` and `respond` are calls of all ranks, which make the same ones in the same order, and add up two
///     numbers per link; the prices are the same on all ranks, and the rates are those of one allocator of all
///     flowlets, but for the order of sums. Ids, rates and updates are of the rank's own flowlets: the same id on two
///     ranks is that of two flowlets. `set_capacity` is called on all ranks before the next tick, which checks it.
///     ``"fill"`` is for one rank.
/// **options : float
///     Options of the method, such as ``gamma=0.4``; `methods` lists them.
///
/// Raises
/// ------
/// ProblemError
///     For a capacity that is negative or not a number.
/// MethodError
///     For a method, a normalizer or an option that does not exist, with the nearest one.
/// NumError
///     For an option or a setting out of its range, or a method without a price rule. On all ranks of `comm`, for what
///     differs between them, with the ranks and their values.
/// TypeError
///     For a `comm` that is no intracommunicator of mpi4py, and more than the network by position.
/// ImportError
///     For a `comm` without mpi4py.
///
/// Examples
/// --------
/// >>> allocator = netnum.Allocator([10.0, 10.0], update_threshold=0.0)
/// >>> ids = allocator.start([[0, 1], [0], [1]])
/// >>> allocator.tick(100)
/// >>> allocator.rates(ids).round(3)
/// array([3.333, 6.667, 6.667])
/// >>> allocator.end(ids[:1])
/// >>> allocator.tick(100)
/// >>> changed, rates = allocator.updates()
/// >>> rates.round(3)
/// array([10., 10.])
///
/// Over ranks, in a program for ``mpiexec``; an exception that leaves the block on one rank ends it on all:
///
/// >>> from mpi4py import MPI  # doctest: +SKIP
/// >>> with netnum.Allocator([10.0, 10.0], comm=MPI.COMM_WORLD) as allocator:  # doctest: +SKIP
/// ...     ids = allocator.start([[0, 1]])
/// ...     allocator.tick(100)
///
/// Notes
/// -----
/// Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017.
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Allocator {
    core: Mutex<Core>,
    /// The topology, when it was made from one.
    topology: Option<Py<Topology>>,
    method: String,
    precision: Precision,
    threads: usize,
    ranks: Ranks,
}

/// Ids and rates, in the same order.
type Updates<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Ids, numbers of paths, and rates, in the same order.
type PathUpdates<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Allocator {
    #[new]
    #[pyo3(signature = (
        network=None, *others, method=Given::of("ned"), normalizer=Given(Ok(Some("f-norm".into()))),
        update_threshold=Given(Ok(0.01)), headroom=Given(Ok(0.0)), dtype=Given::of("float64"),
        exact=Given(Ok(false)), tol=Given(Ok(None)), threads=None, comm=None, **options
    ))]
    #[pyo3(text_signature = "(network, *, method=\"ned\", normalizer=\"f-norm\", update_threshold=0.01, \
                             headroom=0.0, dtype=\"float64\", exact=False, tol=0.001, threads=1, comm=None, \
                             **options)")]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn new(
        py: Python<'_>,
        network: Option<&Bound<'_, PyAny>>,
        others: &Bound<'_, PyTuple>,
        method: Given<String>,
        normalizer: Given<Option<String>>,
        update_threshold: Given<f64>,
        headroom: Given<f64>,
        dtype: Given<String>,
        exact: Given<bool>,
        tol: Given<Option<f64>>,
        threads: Option<&Bound<'_, PyAny>>,
        comm: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        if !others.is_empty() {
            let message = "Allocator takes one argument by position, the network, and others by name: \
                           Allocator(network, method=\"ned\"), over ranks Allocator(network, comm=comm)";
            return Err(PyTypeError::new_err(message));
        }
        let ranks = match comm {
            Some(comm) => {
                let comm = py.import("netnum.distributed")?.call_method1("_communicator", (comm,))?;
                ranks::ranks_of(&comm)?
            }
            None => Ranks::alone(),
        };
        let made = || {
            let (method, normalizer, dtype) =
                (method.get("method")?, normalizer.get("normalizer")?, dtype.get("dtype")?);
            let network = hints::needed(py, "Allocator", "network", network)?;
            let topology = of_network(network)?;
            let topology = topology.as_ref();
            let capacities = match topology {
                Some(topology) => topology.get().core.capacities().to_vec(),
                None => numbers::floats("capacities", network).map_err(|error| hints::no_network(network, error))?,
            };
            let normalizer = normalizer.as_deref().map(Normalization::by_name).transpose().map_err(raise)?;
            let precision = match &*dtype {
                "float64" => Precision::F64,
                "float32" => Precision::F32,
                _ => return Err(setting("dtype", format!("{dtype:?}"), "\"float64\" or \"float32\"")),
            };
            let (options, threads) = (options_of("Allocator", options)?, threads_of(threads)?);
            let settings = AllocatorSettings::default()
                .with_normalizer(normalizer)
                .with_update_threshold(update_threshold.get("update_threshold")?)
                .with_headroom(headroom.get("headroom")?)
                .with_precision(precision)
                .with_exact(exact_gap(exact.get("exact")?, tol.get("tol")?)?);
            let mut core = Core::by_name(capacities, &method, &options, settings, threads).map_err(raise)?;
            if !ranks.are_alone() {
                let net = topology.map(Bound::get);
                py.enter_rust(|| core.over(ranks.clone()).map_err(|error| with_link_name(error, net)))?;
            }
            let topology = topology.map(|topology| topology.clone().unbind());
            Ok(Self {
                core: Mutex::new(core),
                topology,
                method,
                precision,
                threads: threads.get(),
                ranks: ranks.clone(),
            })
        };
        ranks::together(py, &ranks, made)
    }

    /// Start flowlets, which get a rate at the next tick. If one is invalid, none starts.
    ///
    /// Parameters
    /// ----------
    /// paths : sequence of sequences of int or of str, or Paths, or pair or list of pairs
    ///     The links of every flowlet, or its nodes by name, where the network is a `Topology`. A flowlet splits over
    ///     all paths that a `Paths` gives to its flow (`Paths.group`), as those of `Topology.k_shortest_paths` do; it
    ///     takes one path of a list. What it uses of a link per unit of its rate are the coefficients of a `Paths` or
    ///     the entries of a SciPy sparse matrix (links x paths), 1 without. A tuple of two nodes, or a list of such,
    ///     are the ends of flowlets, whose path `Topology.ecmp` chooses.
    /// weight : float, or array of float of shape (flowlets,)
    ///     Its utility has U'(x) = (weight/x)**alpha. > 0, in the unit of the capacities.
    /// alpha : float, or array of float of shape (flowlets,)
    ///     > 0, finite; 1 is proportional fairness.
    /// rate_cap : float, or array of float of shape (paths,)
    ///     The most that goes over a path, inf for no cap.
    /// flow_cap : float, or array of float of shape (flowlets,)
    ///     The largest rate of use of a flowlet over all its paths, inf for none. By default the volumes of the demands
    ///     that the paths are for, if any.
    /// flow_floor : float, or array of float of shape (flowlets,)
    ///     The rate that a flowlet is guaranteed from the next tick on, 0 for none, at most its cap. The floors on each
    ///     of its links must fit in what rates may fill of it, ``headroom`` and ``update_threshold`` counted, beside
    ///     those of all flowlets that have not ended. For flowlets with one path.
    /// seed : int
    ///     Of the choice among the shortest paths of pairs, as in `Topology.ecmp`.
    ///
    /// Returns
    /// -------
    /// array of int, shape (flowlets,)
    ///     An id for each, which no other flowlet ever has.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a bad path, by its place; for a pair without a path; for a floor that does not fit on a link, or is on
    ///     one that has failed.
    /// UtilityError
    ///     For a weight, alpha or cap out of its range, by the place of its flowlet.
    /// MethodError
    ///     For an alpha that the price rule is not made for.
    /// NumError
    ///     For a floor of a flowlet with several paths.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    /// >>> allocator = netnum.Allocator(net)
    /// >>> ids = allocator.start([("B", "C"), ("A", "B")])
    /// >>> allocator.tick(100)
    /// >>> allocator.rates(ids).round(2)
    /// array([5.94, 9.9 ])
    /// >>> allocator.end(ids)
    /// >>> ids = allocator.start(net.k_shortest_paths([("A", "C")], 2))
    /// >>> allocator.tick(100)
    /// >>> allocator.path_rates(ids).round(2)
    /// array([3.96, 5.94])
    #[pyo3(signature = (paths, weight=None, *, alpha=None, rate_cap=None, flow_cap=None, flow_floor=None, seed=None))]
    #[pyo3(text_signature = "($self, paths, weight=1.0, *, alpha=1.0, rate_cap=1e999, flow_cap=1e999, \
                             flow_floor=0.0, seed=0)")]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn start<'py>(
        &self,
        py: Python<'py>,
        paths: &Bound<'py, PyAny>,
        weight: Option<&Bound<'py, PyAny>>,
        alpha: Option<&Bound<'py, PyAny>>,
        rate_cap: Option<&Bound<'py, PyAny>>,
        flow_cap: Option<&Bound<'py, PyAny>>,
        flow_floor: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut core = self.core()?;
        let ((paths, group), demands) = match self.of_pairs(paths, seed)? {
            Some(of_pairs) => ((of_pairs, None), None),
            None => {
                let paths = &path_forms::of_call(paths)?;
                (self.paths(paths, core.capacities().len())?, paths::flow_caps_of(paths))
            }
        };
        let path_caps = rate_caps(rate_cap, paths.len())?;
        let flow_paths = flow_paths(&paths, group.as_deref(), path_caps.as_deref())?;
        let flows = flow_paths.flows();
        let column = |name, given: Option<&Bound<'py, PyAny>>, default| match given {
            Some(given) => column(name, given, flows, "flow"),
            None => Ok(Parameter::Same(default)),
        };
        let weights = column("weight", weight, 1.0)?;
        let alphas = column("alpha", alpha, 1.0)?;
        let caps = match demands {
            Some(demands) if flow_cap.is_none() => Parameter::PerFlow(demands),
            _ => column("flow_cap", flow_cap, f64::INFINITY)?,
        };
        let floors = column("flow_floor", flow_floor, 0.0)?;
        let of = |flow| {
            let law = PowerLaw::new(weights.of(flow), alphas.of(flow));
            law.with_cap(caps.of(flow)).with_floor(floors.of(flow))
        };
        let utilities: Vec<PowerLaw> = (0..flows).map(of).collect();
        let core = &mut *core;
        let ids = py.enter_rust(|| core.start_all(flow_paths, &utilities))?;
        Ok(numbers_of(py, &ids))
    }

    /// Change the weight, alpha, caps, floor or paths of flowlets, from the next tick on: what is not given stays, and
    /// so do ids and prices. On other paths a flowlet has no rate before the next tick. One is invalid: none changes.
    ///
    /// Parameters
    /// ----------
    /// ids : array of int
    ///     As `start` gave them.
    /// weight, alpha, flow_cap, flow_floor : float, or array of float of shape (ids,), optional
    ///     As for `start`.
    /// rate_cap : float, or array of float of shape (paths,), optional
    ///     The most that goes over each of the paths of these flowlets, as they are after the change, one flowlet after
    ///     the other. Paths that are given have none by default; `flow_cap` stays.
    /// paths : sequence of sequences of int, or Paths, optional
    ///     The links of every flowlet, one path or several, with coefficients as for `start`.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an id of no flowlet, of one that has ended, or named twice; for a bad path, by its place; for a floor
    ///     that does not fit, by the id of its flowlet.
    /// UtilityError
    ///     For a weight, alpha or cap out of its range, by the id of its flowlet.
    /// MethodError
    ///     For an alpha that the price rule is not made for.
    ///
    /// Examples
    /// --------
    /// >>> allocator = netnum.Allocator([12.0], update_threshold=0.0)
    /// >>> ids = allocator.start([[0], [0]])
    /// >>> allocator.change(ids[:1], weight=3.0)
    /// >>> allocator.tick(100)
    /// >>> allocator.rates(ids).round(3)
    /// array([9., 3.])
    #[pyo3(signature = (ids, weight=None, *, alpha=None, rate_cap=None, flow_cap=None, flow_floor=None, paths=None))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn change(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        alpha: Option<&Bound<'_, PyAny>>,
        rate_cap: Option<&Bound<'_, PyAny>>,
        flow_cap: Option<&Bound<'_, PyAny>>,
        flow_floor: Option<&Bound<'_, PyAny>>,
        paths: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut core = self.core()?;
        let ids = flow_ids(ids)?;
        let given_paths = match paths {
            Some(paths) => Some(self.paths(&path_forms::of_call(paths)?, core.capacities().len())?),
            None => None,
        };
        let given_paths = match given_paths {
            None if rate_cap.is_some() => Some(paths_of(&core, &ids)?),
            given => given,
        };
        let column = |name, given: Option<&Bound<'_, PyAny>>| {
            given.map(|given| column(name, given, ids.len(), "id")).transpose()
        };
        let path_caps = match &given_paths {
            Some((paths, _)) => rate_caps(rate_cap, paths.len())?,
            None => None,
        };
        let (weights, alphas) = (column("weight", weight)?, column("alpha", alpha)?);
        let (flow_caps, floors) = (column("flow_cap", flow_cap)?, column("flow_floor", flow_floor)?);
        let flow_paths = match &given_paths {
            Some((paths, group)) => Some(flow_paths(paths, group.as_deref(), path_caps.as_deref())?),
            None => None,
        };
        let given = [&weights, &alphas, &flow_caps, &floors].iter().any(|column| column.is_some());
        let core = &mut *core;
        py.enter_rust(|| {
            let utility = |(flow, &id): (usize, &FlowId)| {
                let old = core.utility(id)?;
                let of = |column: &Option<Parameter>, old| column.as_ref().map_or(old, |column| column.of(flow));
                Ok(PowerLaw {
                    weight: of(&weights, old.weight),
                    alpha: of(&alphas, old.alpha),
                    cap: of(&flow_caps, old.cap),
                    floor: of(&floors, old.floor),
                })
            };
            let all = || ids.iter().enumerate().map(utility).collect::<netnum_core::Result<Vec<_>>>();
            let utilities = given.then(all).transpose()?;
            core.change_all(&ids, flow_paths.clone(), utilities.as_deref())
        })
    }

    /// End flowlets. One is not there, or named twice: none ends.
    ///
    /// Parameters
    /// ----------
    /// ids : array of int
    ///     As `start` gave them.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an id of no flowlet, of one that has ended, or that is given twice.
    fn end(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut core = self.core()?;
        let (core, ids) = (&mut *core, flow_ids(ids)?);
        py.enter_rust(|| core.end_all(&ids))
    }

    /// Change the capacity of a link, or of many at once, from the next tick on. At 0 a link has failed: its flowlets
    /// get nothing until it returns. If one is invalid, none changes.
    ///
    /// Parameters
    /// ----------
    /// link : int, or array of int, or str, or pair of nodes, or sequence of such
    ///     Where the network is a `Topology`, a pair of names of nodes is the link from the one to the other. A text is
    ///     the name of a link, ``"A -> B"``, or of a fiber with both of its links, ``"A - B"``.
    /// capacity : float, or array of float
    ///     One for each link, or one for all.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a link that does not exist or is named twice, or a capacity that is negative or not a number.
    /// UtilityError
    ///     When the prices of a flowlet, named by its id, would go out of what numbers hold.
    ///
    /// Examples
    /// --------
    /// >>> allocator = netnum.Allocator([10.0, 10.0, 10.0])
    /// >>> allocator.set_capacity([0, 2], 0.0)
    /// >>> allocator.set_capacity(0, 5.0)
    /// >>> allocator.capacities
    /// array([ 5., 10.,  0.])
    fn set_capacity(&self, py: Python<'_>, link: &Bound<'_, PyAny>, capacity: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut core = self.core()?;
        let count = core.capacities().len();
        let named = match self.links_by_nodes(link)? {
            Some(links) => links.into_iter().map(|link| link as i64).collect(),
            None if link.is_instance_of::<PyInt>() && !link.is_instance_of::<PyBool>() => {
                vec![link.extract::<i64>().unwrap_or(-1)]
            }
            None => numbers::integers("link", &link.py().import("numpy")?.call_method1("atleast_1d", (link,))?)?,
        };
        let unknown = |link| raise(Error::UnknownLink { link, links: count });
        let known = named.into_iter().map(|link| u32::try_from(link).map_err(|_| unknown(link)));
        let links = known.collect::<PyResult<Vec<u32>>>()?;
        let capacity = column("capacity", capacity, links.len(), "link")?;
        let capacities: Vec<f64> = (0..links.len()).map(|link| capacity.of(link)).collect();
        let core = &mut *core;
        py.enter_rust(|| core.set_capacities(&links, &capacities))
    }

    /// Do n iterations on the current flowlets, and make the rates feasible. Ctrl-C stops between two iterations. Over
    /// ranks (`comm`) it is a call of all ranks, as often on each.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Over ranks: for capacities that are not the same on all, or another call on another rank; ``rank 3 has
    ///     failed: …`` where that rank has raised an exception or was interrupted. The allocators of all ranks have
    ///     then ended: each further tick raises it again. A rank that fails and misses another in such a call for 3 s
    ///     prints its error to stderr and ends all processes by ``MPI_Abort``.
    #[pyo3(signature = (n=None))]
    #[pyo3(text_signature = "($self, n=1)")]
    fn tick(&self, py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.together(py, || {
            let ticks = n.map_or(Ok(1), |n| numbers::count("n", n, 0))?;
            let mut guard = self.core()?;
            let core = &mut *guard;
            let net = self.topology.as_ref().map(Py::get);
            let mut tick = || core.tick().map_err(|error| with_link_name(error, net));
            py.enter_rust(|| (0..ticks).try_for_each(|_| tick()))
        })
    }

    /// Make feasible rates for the current flowlets at the prices after the last tick, which do not change: for
    /// flowlets that cannot wait for the next tick. With ``"fill"``, the weight of a flowlet is its demand without the
    /// bound by its path, so that a weight acts before prices have followed. Over ranks (`comm`) it is a call of all
    /// ranks, and raises what `tick` does.
    fn respond(&self, py: Python<'_>) -> PyResult<()> {
        self.together(py, || {
            let mut guard = self.core()?;
            let core = &mut *guard;
            let net = self.topology.as_ref().map(Py::get);
            py.enter_rust(|| core.respond().map_err(|error| with_link_name(error, net)))
        })
    }

    /// The rates of the last tick or response; 0 for flowlets that started after it.
    ///
    /// Parameters
    /// ----------
    /// ids : array of int, optional
    ///     What `start` has returned, in any order; the rates are in the same. By default all in the order of the
    ///     attribute `ids`, which is not that of their starts.
    ///
    /// Returns
    /// -------
    /// array of float
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an id of no flowlet, or of one that has ended.
    #[pyo3(signature = (ids=None))]
    fn rates<'py>(&self, py: Python<'py>, ids: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let core = self.core()?;
        let rates = match ids {
            Some(ids) => flow_ids(ids)?.into_iter().map(|id| core.rate(id)).collect::<Result<_, _>>().map_err(raise)?,
            None => core.rates().into_iter().map(|(_, rate)| rate).collect(),
        };
        Ok(PyArray1::from_vec(py, rates))
    }

    /// The rates of the last tick or response, path by path.
    ///
    /// Parameters
    /// ----------
    /// ids : array of int, optional
    ///     As for `rates`.
    ///
    /// Returns
    /// -------
    /// array of float, shape (paths,)
    ///     Those of the paths of the first flowlet in the order in which `start` was given them, then of the next one.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an id of no flowlet, or of one that has ended.
    ///
    /// Examples
    /// --------
    /// >>> allocator = netnum.Allocator([6.0, 3.0], update_threshold=0.0)
    /// >>> ids = allocator.start(netnum.Paths.from_lists([[0], [1], [0]], group=[0, 0, 1]))
    /// >>> allocator.tick(200)
    /// >>> allocator.rates(ids).round(2)
    /// array([4.5, 4.5])
    /// >>> allocator.path_rates(ids).round(2)
    /// array([1.5, 3. , 4.5])
    #[pyo3(signature = (ids=None))]
    fn path_rates<'py>(&self, py: Python<'py>, ids: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let core = self.core()?;
        let ids = match ids {
            Some(ids) => flow_ids(ids)?,
            None => core.rates().into_iter().map(|(id, _)| id).collect(),
        };
        let rates = ids.into_iter().map(|id| core.path_rates(id)).collect::<Result<Vec<_>, _>>().map_err(raise)?;
        Ok(PyArray1::from_vec(py, rates.concat()))
    }

    /// Ids of all flowlets: array of int. The order is that of the memory of the allocator, which starts and ends
    /// change, and which that of the starts is not.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let ids: Vec<FlowId> = self.core()?.rates().into_iter().map(|(id, _)| id).collect();
        Ok(numbers_of(py, &ids))
    }

    /// The rates to send to endpoints: ids and rates of the flowlets whose rate has changed by more than the threshold
    /// since `updates` last returned it.
    ///
    /// Returns
    /// -------
    /// ids : array of int
    /// rates : array of float
    fn updates<'py>(&self, py: Python<'py>) -> PyResult<Updates<'py>> {
        let (ids, rates): (Vec<FlowId>, Vec<f64>) = self.core()?.updates().into_iter().unzip();
        Ok((numbers_of(py, &ids), PyArray1::from_vec(py, rates)))
    }

    /// The rates to send to endpoints, path by path: as `updates`, for flowlets that split over several paths. What is
    /// sent for a flowlet with one path counts for both. After a change of the paths of a flowlet that has several,
    /// before or after, all of them are sent, those that have 0 too.
    ///
    /// Returns
    /// -------
    /// ids : array of int
    /// paths : array of int
    ///     The number of each path among those of its flowlet, from 0.
    /// rates : array of float
    ///
    /// Examples
    /// --------
    /// >>> allocator = netnum.Allocator([6.0, 3.0], update_threshold=0.0)
    /// >>> ids = allocator.start(netnum.Paths.from_lists([[0], [1]], group=[0, 0]))
    /// >>> allocator.tick(100)
    /// >>> _, paths, rates = allocator.path_updates()
    /// >>> paths, rates.round(2)
    /// (array([0, 1]), array([6., 3.]))
    fn path_updates<'py>(&self, py: Python<'py>) -> PyResult<PathUpdates<'py>> {
        let updates = self.core()?.path_updates();
        let ids: Vec<FlowId> = updates.iter().map(|&(id, ..)| id).collect();
        let paths = PyArray1::from_iter(py, updates.iter().map(|&(_, path, _)| path as i64));
        Ok((numbers_of(py, &ids), paths, PyArray1::from_iter(py, updates.iter().map(|&(.., rate)| rate))))
    }

    /// The flowlets that get less than their floor: where a link has failed, or its capacity has fallen below the
    /// floors on it, these are cut in proportion until it returns.
    ///
    /// Returns
    /// -------
    /// array of int
    ///     Their ids.
    ///
    /// Examples
    /// --------
    /// >>> allocator = netnum.Allocator([10.0], update_threshold=0.0)
    /// >>> ids = allocator.start([[0], [0]], flow_floor=[6.0, 2.0])
    /// >>> allocator.set_capacity(0, 4.0)
    /// >>> allocator.broken_floors() == ids
    /// array([ True,  True])
    /// >>> allocator.tick()
    /// >>> allocator.rates(ids)
    /// array([3., 1.])
    fn broken_floors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(numbers_of(py, &self.core()?.broken_floors()))
    }

    /// How good the rates of the last tick are: a `Certificate`. None without ``exact=True``, before the first tick,
    /// after one without flowlets or that was stopped, and after `respond`, whose rates are not proven. Its gap is
    /// above `tol` where floors do not fit, since links have failed, and where a solve does not come to `tol` either,
    /// as to a gap of rounding. The utility that is missing is that in capacities less `headroom` and
    /// `update_threshold`.
    #[getter]
    fn certificate(&self) -> PyResult<Option<Certificate>> {
        Ok(self.core()?.certificate().cloned().map(Into::into))
    }

    /// Capacity of every link, as given: array of float.
    #[getter]
    fn capacities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.core()?.capacities()))
    }

    /// Price of every link: array of float, in utility per unit of capacity.
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.core()?.prices()))
    }

    /// Name of the price rule.
    #[getter]
    fn method(&self) -> &str {
        &self.method
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.core()?.flows())
    }

    fn __repr__(&self) -> PyResult<String> {
        let core = self.core()?;
        let (rank, ranks) = (self.ranks.rank(), self.ranks.ranks());
        let place = if ranks > 1 { format!(" on rank {rank} of {ranks}") } else { String::new() };
        let (flows, links) = (core.flows(), core.capacities().len());
        Ok(format!("Allocator({}, {flows} flowlets{place}, {links} links)", self.method))
    }

    /// For a ``with`` block, which all ranks leave together: an exception on one is told to the others.
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        exception: Option<&Bound<'_, PyAny>>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        match exception {
            Some(exception) => fail(py, &self.ranks, &PyErr::from_value(exception.clone())),
            None => py.enter_rust(|| self.ranks.together(Call::Leave, || self.ranks.agree()))?,
        }
        Ok(())
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("allocator", (slf, &slf.get().topology))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        if !self.ranks.are_alone() {
            let message = "an allocator over the ranks of a communicator does not pickle: make it anew on all ranks";
            return Err(PyTypeError::new_err(message));
        }
        let others = PyDict::new(py);
        others.set_item("method", &self.method)?;
        others.set_item("dtype", dtype_of(self.precision))?;
        others.set_item("threads", self.threads)?;
        let network = match &self.topology {
            Some(topology) => topology.bind(py).clone().into_any(),
            None => self.capacities(py)?.into_any(),
        };
        Ok((PyTuple::new(py, [network])?, others))
    }

    fn __getstate__(&self, py: Python<'_>) -> PyResult<String> {
        let core = self.core()?;
        let core = &*core;
        py.enter_rust(|| core.to_json())
    }

    fn __setstate__(&self, py: Python<'_>, state: &str) -> PyResult<()> {
        let mut core = self.core()?;
        let threads = NonZeroUsize::new(self.threads).expect("at least one was checked");
        let restored = py.enter_rust(|| Core::from_json(state, threads))?;
        let (method, precision) = (restored.method(), restored.settings().precision);
        if method != self.method || precision != self.precision {
            let dtype = dtype_of(precision);
            let what = format!("it is of method {method:?} in {dtype}, expected {:?}", self.method);
            return Err(raise(Error::Snapshot(what)));
        }
        *core = restored;
        Ok(())
    }
}

impl Allocator {
    /// A call of all ranks, whose error is told to the others.
    fn together(&self, py: Python<'_>, work: impl FnOnce() -> PyResult<()>) -> PyResult<()> {
        ranks::together(py, &self.ranks, work)
    }

    /// The allocator, unless it is in use in another thread.
    fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        detach::lock(&self.core, "allocator")
    }

    /// The links that are given by name: one, or one pair of nodes, or a sequence with such.
    fn links_by_nodes(&self, link: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
        let is_list = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
        let is_name = link.is_instance_of::<PyString>();
        let is_pair = is_list(link) && path_forms::names_nodes(link)?;
        let names = |entry: &Bound<'_, PyAny>| is_list(entry) && path_forms::names_nodes(entry).unwrap_or(false);
        let has_pairs = is_list(link) && link.try_iter()?.any(|entry| entry.is_ok_and(|entry| names(&entry)));
        if !(is_name || is_pair || has_pairs) {
            return Ok(None);
        }
        let Some(net) = self.topology.as_ref().map(|net| net.bind(link.py())) else {
            let message = "link names nodes, and the allocator has capacities only: make it with a Topology";
            return Err(ProblemError::new_err(message));
        };
        let is_node =
            |name: &Bound<'_, PyAny>| name.extract::<&str>().is_ok_and(|name| net.get().core.node(name).is_some());
        // Two names of nodes are one link, if one of them is misspelt as well, and names of links are as many.
        let is_one = is_pair && !has_pairs && link.try_iter()?.any(|name| name.is_ok_and(|name| is_node(&name)));
        match is_one {
            true => Topology::link_between(net, "link", link).map(|link| vec![link]),
            false => Topology::links_of(net, "link", link),
        }
        .map(Some)
    }

    /// The paths of pairs of ends, one each, where these are given.
    fn of_pairs(&self, paths: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Paths>>> {
        let (seed, net) = (seed_of(seed)?, self.topology.as_ref().map(Py::get));
        let Some((net, [sources, destinations])) = net.and_then(|net| Some((net, path_forms::pairs(paths, net)?)))
        else {
            return Ok(None);
        };
        let sources = net.ends_of("sources", sources.as_any())?;
        let destinations = net.ends_of("destinations", destinations.as_any())?;
        paths.py().enter_rust(|| net.core.ecmp(&sources, &destinations, seed)).map(|paths| Some(Arc::new(paths)))
    }

    /// Paths over its links, which must be walks where its network is a topology, and the flows that they belong to.
    fn paths(&self, paths: &Bound<'_, PyAny>, links: usize) -> PyResult<GivenPaths> {
        let (py, net, group) = (paths.py(), self.topology.as_ref().map(Py::get), paths::group_of(paths));
        let paths = path_forms::paths(paths, links, net)?;
        py.enter_rust(|| net.map_or(Ok(()), |net| net.core.check_walks(&paths)))?;
        Ok((paths, group))
    }
}

/// Paths, and the flow of each unless path p is that of flow p.
type GivenPaths = (Arc<Paths>, Option<Vec<u32>>);

/// The caps of so many paths, where there are some.
fn rate_caps(given: Option<&Bound<'_, PyAny>>, paths: usize) -> PyResult<Option<Vec<f64>>> {
    let Some(given) = given else { return Ok(None) };
    let caps = column("rate_cap", given, paths, "path")?;
    Ok(Some((0..paths).map(|path| caps.of(path)).collect()))
}

/// The gap to which ticks go on, where they are exact.
fn exact_gap(exact: bool, tol: Option<f64>) -> PyResult<Option<f64>> {
    const TOL: f64 = 1e-3;
    match (exact, tol) {
        (false, Some(tol)) => Err(setting("tol", tol.to_string(), "none without exact=True: a tick is one iteration")),
        (false, None) => Ok(None),
        (true, Some(tol)) if !(tol > 0.0 && tol < 1.0) => {
            Err(setting("tol", tol.to_string(), "a relative gap > 0 and < 1"))
        }
        (true, tol) => Ok(Some(tol.unwrap_or(TOL))),
    }
}

fn flow_paths<'a>(paths: &'a Paths, group: Option<&[u32]>, caps: Option<&'a [f64]>) -> PyResult<FlowPaths<'a>> {
    let flows = match group {
        Some(group) => FlowPaths::grouped(paths, group).map_err(raise)?,
        None => paths.into(),
    };
    match caps {
        Some(caps) => flows.with_rate_caps(caps).map_err(raise),
        None => Ok(flows),
    }
}

/// The paths of flowlets, as they are.
fn paths_of(core: &Core, ids: &[FlowId]) -> PyResult<GivenPaths> {
    let (mut indptr, mut links, mut coefficients, mut group) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for (flow, &id) in (0..).zip(ids) {
        let paths = core.paths(id).map_err(raise)?;
        for path in 0..paths.len() {
            links.extend_from_slice(paths.links(path));
            coefficients.extend(paths.entries(path).map(|(_, a)| a));
            indptr.push(links.len());
            group.push(flow);
        }
    }
    let paths = Paths::with_coefficients(indptr, links, coefficients).map_err(raise)?;
    Ok((Arc::new(paths), Some(group)))
}

/// An argument of a call of all ranks: one that is of another type fails within the call, which tells the other ranks.
struct Given<T>(PyResult<T>);

impl Given<String> {
    fn of(text: &str) -> Self {
        Self(Ok(text.into()))
    }
}

impl<T> Given<T> {
    fn get(self, name: &str) -> PyResult<T> {
        self.0.map_err(|error| {
            Python::attach(|py| match error.is_instance_of::<PyTypeError>(py) {
                true => PyTypeError::new_err(format!("argument '{name}': {}", error.value(py))),
                false => error,
            })
        })
    }
}

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Given<T> {
    type Error = std::convert::Infallible;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> Result<Self, Self::Error> {
        Ok(Self(value.extract().map_err(Into::into)))
    }
}

/// A number for all, or one for each of so many.
fn column(name: &'static str, given: &Bound<'_, PyAny>, count: usize, per: &'static str) -> PyResult<Parameter> {
    if is_a(given, "Mapping")? {
        return Err(wrong_type(name, &format!("a number, or an array with one per {per} in their order"), given));
    }
    let parameter = numbers::parameter(name, given)?;
    if let Parameter::PerFlow(values) = &parameter {
        check_length(name, values.len(), count, per).map_err(raise)?;
    }
    Ok(parameter)
}

fn numbers_of<'py>(py: Python<'py>, ids: &[FlowId]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, ids.iter().map(|id| id.to_bits() as i64))
}

fn flow_ids(ids: &Bound<'_, PyAny>) -> PyResult<Vec<FlowId>> {
    let id = |id: i64| {
        let id = u64::try_from(id).map_err(|_| raise(Error::UnknownFlow { id: id.to_string() }))?;
        Ok(FlowId::from_bits(id))
    };
    numbers::integers("ids", ids)?.into_iter().map(id).collect()
}

/// The name of the numbers that are kept of flows.
fn dtype_of(precision: Precision) -> &'static str {
    match precision {
        Precision::F64 => "float64",
        Precision::F32 => "float32",
    }
}
