//! `Workload`.

use std::collections::BTreeMap;
use std::ffi::CString;

use netnum_sim::{OnOff, Pairs, Poisson, Production, Sizes, Workload as Core};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyString, PyTuple};

use super::BITS;
use super::dependencies::{self, Arrays};
use super::sizes::sizes_of;
use crate::detach::{EnterRust, Pacer};
use crate::error::{ProblemError, setting};
use crate::numbers::{self, count};
use crate::topology::{Topology, pairs, seed_of};
use crate::{hints, path_forms};

/// Seconds that a flow of mean size takes alone on the fastest link, where capacities are hardly in bit/s.
const FAR_TOO_LONG: f64 = 1000.0;

/// Flows with their arrival times, sources, destinations and sizes.
///
/// Sizes are in bytes, and capacities of networks in bit/s, in `simulate` and wherever a workload takes a network: of a
/// network in Mbit/s take ``net.with_capacities(1e6 * net.capacities)``.
///
/// Parameters
/// ----------
/// arrivals : array of float, shape (flows,)
///     In seconds, >= 0 and in order.
/// sources, destinations : array of int, shape (flows,)
///     Two different ends of the network, by index, or by name where the network is given.
/// sizes : array of float, shape (flows,)
///     In bytes, > 0; inf for a flow that never ends, which takes ``simulate(until=)``.
/// production : array of float, shape (flows,), or float, optional
/// buffer : float
///     As in `with_production`. By default all bytes of a flow are produced when it arrives.
/// weights : array of float, shape (flows,), or float, optional
///     As in `with_weights`. By default no flow counts more than another.
/// net : Topology, optional
///     Whose ends `sources` and `destinations` name.
/// after : list, tuple of two arrays or sparse matrix, optional
/// delay : array of float, shape (flows,), or float, optional
///     As in `with_after`. By default no flow waits for another.
/// coflow : array of int, shape (flows,), optional
///     As in `with_coflow`. By default there are no coflows.
///
/// Raises
/// ------
/// ProblemError
///     Naming the first flow that is wrong, or earlier than the one before it.
///
/// Examples
/// --------
/// >>> workload = netnum.sim.Workload([0.0, 0.5], [0, 1], [1, 0], [1e6, 2e6])
/// >>> workload.to_csv().splitlines()[1]
/// '0.0,0,1,1000000.0'
/// >>> net = netnum.topology.star(4, capacity=10e9)
/// >>> background = netnum.sim.Workload.poisson(net, "web_search", load=0.5, duration=0.1, seed=1)
/// >>> burst = netnum.sim.Workload.incast(net, receiver=0, senders=3, sizes=20e3).shifted(0.05)
/// >>> len(background + burst) == len(background) + 3
/// True
#[pyclass(frozen, eq, module = "netnum.sim")]
pub(crate) struct Workload {
    pub(super) core: Core,
    /// The network that it was made for, where integers are names of ends.
    pub(super) net: Option<Py<Topology>>,
}

impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core && self.end_names() == other.end_names()
    }
}

impl Workload {
    /// Flows between ends of a network, which `core` has by index.
    pub(super) fn of(net: Option<&Bound<'_, Topology>>, core: Core) -> Self {
        Self { core, net: net.filter(|net| net.get().labels_ends()).map(|net| net.clone().unbind()) }
    }

    /// The names of ends, where integers are names.
    fn end_names(&self) -> Option<&[String]> {
        self.net.as_ref().map(|net| net.get().core.end_names())
    }

    /// The flows on this network. One that was made without a network has integers for ends, which are names here if
    /// ends have integer names.
    pub(super) fn on<'py>(slf: &Bound<'py, Self>, net: &Bound<'py, Topology>) -> PyResult<Bound<'py, Self>> {
        let (own, topology) = (slf.get(), net.get());
        match own.end_names() {
            Some(names) if names == topology.core.end_names() => Ok(slf.clone()),
            Some(_) => {
                let (of, name) = (own.net.as_ref().map_or("", |net| net.get().core.name()), topology.core.name());
                let message = format!("the workload is of {of}, whose ends have other names than those of {name}");
                Err(ProblemError::new_err(message))
            }
            None if topology.labels_ends() => {
                let mut pacer = Pacer::new(slf.py());
                let mut index = |(flow, (what, end)): (usize, (&str, &usize))| {
                    pacer.did(1)?;
                    topology.index_of(|| format!("the {what} of flow {flow}"), *end as i64)
                };
                let mut indices = |what, ends: &[usize]| -> PyResult<Vec<usize>> {
                    ends.iter().map(|end| (what, end)).enumerate().map(&mut index).collect()
                };
                let sources = indices("source", own.core.sources())?;
                let destinations = indices("destination", own.core.destinations())?;
                let core = own.core.clone();
                let core = slf.py().enter_rust(|| core.with_ends(sources, destinations))?;
                Bound::new(slf.py(), Self::of(Some(net), core))
            }
            None => Ok(slf.clone()),
        }
    }

    /// Flows that all arrive at time 0, whose sizes are drawn.
    fn at_start(
        net: &Bound<'_, Topology>,
        sizes: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        make: impl FnOnce(&netnum_core::Topology, &Sizes, u64) -> netnum_sim::Result<Core> + Send,
    ) -> PyResult<Self> {
        let (py, sizes, seed) = (net.py(), sizes_of(sizes)?, seed_of(seed)?);
        let topology = &net.get().core;
        py.enter_rust(|| make(topology, &sizes, seed)).map(|core| Self::of(Some(net), core))
    }

    /// Flows that wait for each other, among some ends of a network; by default all.
    fn in_steps(
        net: &Bound<'_, Topology>,
        what: &str,
        ends: Option<&Bound<'_, PyAny>>,
        make: impl FnOnce(&netnum_core::Topology, &[usize]) -> netnum_sim::Result<Core> + Send,
    ) -> PyResult<Self> {
        let topology = &net.get().core;
        if let Some(count) = ends.filter(|ends| numbers::is_integer(ends)) {
            let message = format!("{what} must be a sequence of ends, such as range({count}), not a number");
            return Err(PyTypeError::new_err(message));
        }
        let ends = ends.map_or_else(|| Ok((0..topology.ends()).collect()), |ends| net.get().ends_of(what, ends))?;
        net.py().enter_rust(|| make(topology, &ends)).map(|core| Self::of(Some(net), core))
    }

    /// Made of two workloads, on the network of one of them.
    fn together<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, Self>,
        make: impl FnOnce(&Core, &Core) -> netnum_sim::Result<Core> + Send,
    ) -> PyResult<Self> {
        let (py, net) = (slf.py(), slf.get().net.as_ref().or(other.get().net.as_ref()));
        let net = net.map(|net| net.bind(py).clone());
        let on = |flows: &Bound<'py, Self>| net.as_ref().map_or_else(|| Ok(flows.clone()), |net| Self::on(flows, net));
        let (one, two) = (on(slf)?, on(other)?);
        let (one, two) = (&one.get().core, &two.get().core);
        py.enter_rust(|| make(one, two)).map(|core| Self::of(net.as_ref(), core))
    }

    /// Other flows between the same ends.
    fn with(&self, py: Python<'_>, core: Core) -> Self {
        Self { core, net: self.net.as_ref().map(|net| net.clone_ref(py)) }
    }

    /// Ends as the network takes them.
    fn shown<'py>(&self, py: Python<'py>, ends: &[usize]) -> Bound<'py, PyArray1<i64>> {
        match &self.net {
            Some(net) => numbers::read_only(py, ends.iter().map(|&end| net.get().shown(end)).collect()),
            None => numbers::indices(py, ends),
        }
    }
}

#[pymethods]
impl Workload {
    #[new]
    #[pyo3(signature = (
        arrivals=None, sources=None, destinations=None, sizes=None, production=None, buffer=f64::INFINITY, *,
        weights=None, net=None, after=None, delay=None, coflow=None, **unknown
    ))]
    #[pyo3(
        text_signature = "(arrivals, sources, destinations, sizes, production=None, buffer=1e999, *, weights=None, \
                             net=None, after=None, delay=None, coflow=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keywords are how Python sets what is optional")]
    fn new(
        py: Python<'_>,
        arrivals: Option<&Bound<'_, PyAny>>,
        sources: Option<&Bound<'_, PyAny>>,
        destinations: Option<&Bound<'_, PyAny>>,
        sizes: Option<&Bound<'_, PyAny>>,
        production: Option<&Bound<'_, PyAny>>,
        buffer: f64,
        weights: Option<&Bound<'_, PyAny>>,
        net: Option<&Bound<'_, Topology>>,
        after: Option<&Bound<'_, PyAny>>,
        delay: Option<&Bound<'_, PyAny>>,
        coflow: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Workload", unknown)?;
        let needed = |name, given| hints::needed(py, "Workload", name, given);
        let arrivals = needed("arrivals", arrivals)?;
        let (sources, destinations) = (needed("sources", sources)?, needed("destinations", destinations)?);
        let sizes = needed("sizes", sizes)?;
        if arrivals.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()) {
            let message = "arrivals has names of ends, expected seconds: the call is Workload(arrivals, sources, \
                           destinations, sizes, net=net)";
            return Err(PyTypeError::new_err(message));
        }
        let ends = |name: &str, values: &Bound<'_, PyAny>| {
            if let Some(net) = net {
                return net.get().ends_of(&format!("{name}s"), values);
            }
            if path_forms::names_nodes(values)? {
                let message = format!("{name}s has names of ends, which take the network: give net= as well");
                return Err(PyTypeError::new_err(message));
            }
            let end = |(flow, end): (usize, i64)| {
                let message =
                    || format!("flow {flow} has {name} {end}, expected the index of an end, >= 0, or a name and net=");
                usize::try_from(end).map_err(|_| ProblemError::new_err(message()))
            };
            numbers::integers(&format!("{name}s"), values)?.into_iter().enumerate().map(end).collect::<PyResult<_>>()
        };
        let (arrivals, sizes) = (numbers::floats("arrivals", arrivals)?, numbers::floats("sizes", sizes)?);
        let (sources, destinations) = (ends("source", sources)?, ends("destination", destinations)?);
        let workload = Self::of(net, py.enter_rust(|| Core::new(arrivals, sources, destinations, sizes))?);
        let workload =
            weights.map_or(Ok(None), |weights| workload.with_weights(weights).map(Some))?.unwrap_or(workload);
        let workload = match production {
            Some(rates) => workload.with_production(rates, buffer)?,
            None if buffer == f64::INFINITY => workload,
            None => return Err(setting("buffer", buffer, "rates of production beside it")),
        };
        let workload = match (after, delay) {
            (Some(after), delay) => workload.with_after(after, delay)?,
            (None, Some(delay)) => return Err(setting("delay", delay, "flows that wait (after) beside it")),
            (None, None) => workload,
        };
        coflow.map_or(Ok(None), |coflow| workload.with_coflow(coflow).map(Some)).map(|with| with.unwrap_or(workload))
    }

    /// Poisson arrivals: independent gaps, sizes and pairs of ends.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    ///     Capacities in bit/s: the load is that of bytes on such links. With another unit flows would arrive by that
    ///     factor too seldom.
    /// sizes : Sizes, str or float
    ///     Such as ``netnum.sim.sizes.web_search``, or its name ``"web_search"``, or a number of bytes for all.
    /// load : float
    ///     What the flows offer, as a part of what all senders together can send (or all receivers receive, if that is
    ///     less). With random pairs 0.6 keeps every server's link busy for 60 % of the time. At 1 or more, which is
    ///     allowed with a warning, flows pile up for as long as they arrive.
    /// flows : int, optional
    /// duration : float, optional
    ///     End after so many flows, or when no more arrive within so many seconds, whichever is first. One of them has
    ///     to be given.
    /// pairs : sequence of pairs of int or str, array of shape (pairs, 2) or table of two columns, optional
    ///     Sources and destinations to draw from, by index or by name; by default any two different ends.
    ///     `permutation`, `incast` and `all_to_all` make some.
    /// links : array of int, optional
    ///     The links whose total capacity counts as a load of 1, in place of the servers'.
    /// seed : int
    ///     From 0 to 2**64 - 1. A longer workload begins with the shorter one of the same seed.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Warns
    /// -----
    /// UserWarning
    ///     For a load that is not below 1, and where a flow of mean size takes more than 1000 s alone on the fastest
    ///     link, as where capacities are in Mbit/s.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a load that is not > 0, pairs that are none, neither flows nor duration, or more than 4294967295 flows.
    ///
    /// Notes
    /// -----
    /// Ctrl-C stops it.
    #[staticmethod]
    #[pyo3(signature = (net, sizes, load=0.6, *, flows=None, duration=None, pairs=None, links=None, seed=None))]
    #[pyo3(text_signature = "(net, sizes, load=0.6, *, flows=None, duration=None, pairs=None, links=None, seed=0)")]
    #[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
    fn poisson(
        py: Python<'_>,
        net: &Bound<'_, Topology>,
        sizes: &Bound<'_, PyAny>,
        load: f64,
        flows: Option<&Bound<'_, PyAny>>,
        duration: Option<f64>,
        pairs: Option<&Bound<'_, PyAny>>,
        links: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let flows = flows.map_or(Ok(usize::MAX), |flows| count("flows", flows, 0))?;
        let index = |link: i64| u32::try_from(link).map_err(|_| setting("links", link, "indices of links, >= 0"));
        let links = links
            .map(|links| numbers::integers("links", links)?.into_iter().map(index).collect::<PyResult<Vec<_>>>())
            .transpose()?;
        let duration = duration.unwrap_or(f64::INFINITY);
        let arrivals = Poisson::new(sizes_of(sizes)?, load).with_flows(flows).with_duration(duration).with_links(links);
        let pairs = pairs.map_or(Ok(Pairs::Uniform), |pairs| listed_pairs(net, pairs))?;
        let (topology, seed) = (&net.get().core, seed_of(seed)?);
        let core = py.enter_rust(|| Core::poisson(topology, &arrivals, &pairs, seed))?;
        let warn = |message: String| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(message)?, 2);
        if load >= 1.0 {
            warn(format!(
                "load {load} is not below 1 (60 % is 0.6): flows pile up without bound for as long as they arrive"
            ))?;
        }
        let fastest = topology.capacities().iter().copied().fold(0.0, f64::max);
        let alone = BITS * arrivals.sizes.mean() / fastest;
        if alone > FAR_TOO_LONG {
            warn(format!(
                "a flow of mean size, alone on the fastest link, takes {alone:.2e} s: sizes are in bytes and \
                 capacities in bit/s; from Mbit/s, net.with_capacities(1e6 * net.capacities)"
            ))?;
        }
        Ok(Self::of(Some(net), core))
    }

    /// Sources that are on and off in turn, one for each pair, for exponential times: every time of being on is a
    /// flow, whose bytes are produced at the `rate`.
    ///
    /// Sources are in their steady state from time 0 on: each is then on with probability ``on / (on + off)``.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// pairs : sequence of pairs of int or str, array of shape (pairs, 2) or table of two columns
    ///     Source and destination of every source, by index or by name; a pair may come several times.
    /// rate : float
    ///     In bit/s, of a source that is on, > 0.
    /// on, off : float
    ///     Means of the times in seconds, > 0.
    /// duration : float
    ///     Seconds within which sources go on, > 0.
    /// seed : int
    ///     From 0 to 2**64 - 1. A longer workload begins with the shorter one of the same seed.
    ///
    /// Returns
    /// -------
    /// Workload
    ///     With `production`. A burst that the network has not carried when the next one begins shares with it.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For numbers that are not > 0, and pairs that are none.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(4, capacity=10e9)
    /// >>> bursts = netnum.sim.Workload.on_off(net, [(0, 3), (1, 3), (2, 3)], 4e9, 1e-3, 2e-3, duration=1.0, seed=1)
    /// >>> f"{8 * bursts.sizes.sum() / 1e9:.1f} Gbit in a second"  # 3 * 4e9 * 1/3 in the mean
    /// '3.8 Gbit in a second'
    #[staticmethod]
    #[pyo3(signature = (net, pairs, rate, on, off, *, duration, seed=None))]
    #[pyo3(text_signature = "(net, pairs, rate, on, off, *, duration, seed=0)")]
    fn on_off(
        net: &Bound<'_, Topology>,
        pairs: &Bound<'_, PyAny>,
        rate: f64,
        on: f64,
        off: f64,
        duration: f64,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (pairs, seed, how) = (listed_pairs(net, pairs)?, seed_of(seed)?, OnOff { rate, on, off, duration });
        let topology = &net.get().core;
        net.py().enter_rust(|| Core::on_off(topology, &pairs, &how, seed)).map(|core| Self::of(Some(net), core))
    }

    /// One flow for each pair, all at time 0.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    ///     Only its ends matter; `simulate` takes capacities as bit/s.
    /// pairs : sequence of pairs of int or str, array of shape (pairs, 2) or table of two columns
    ///     Sources and destinations, by index or by name. `permutation`, `incast` and `all_to_all` make some.
    /// sizes : Sizes, str or float
    ///     As in `poisson`.
    /// seed : int
    ///
    /// Returns
    /// -------
    /// Workload
    #[staticmethod]
    #[pyo3(signature = (net, pairs, sizes, *, seed=None))]
    #[pyo3(text_signature = "(net, pairs, sizes, *, seed=0)")]
    fn at_once(
        net: &Bound<'_, Topology>,
        pairs: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let pairs = listed_pairs(net, pairs)?;
        Self::at_start(net, sizes, seed, |net, sizes, seed| Core::at_once(net, &pairs, sizes, seed))
    }

    /// One flow from each of some random senders to one receiver, all at time 0.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// receiver : int or str
    /// senders : int
    ///     All other ends, if there are not as many.
    /// sizes : Sizes, str or float
    ///     As in `poisson`.
    /// seed : int
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(9, capacity=8e9)  # 1 GB per second
    /// >>> burst = netnum.sim.Workload.incast(net, receiver=0, senders=8, sizes=1e6)
    /// >>> netnum.sim.simulate(net, burst).completion_times.round(6)
    /// array([0.008, 0.008, 0.008, 0.008, 0.008, 0.008, 0.008, 0.008])
    #[staticmethod]
    #[pyo3(signature = (net, receiver, senders, sizes, *, seed=None))]
    #[pyo3(text_signature = "(net, receiver, senders, sizes, *, seed=0)")]
    fn incast(
        net: &Bound<'_, Topology>,
        receiver: &Bound<'_, PyAny>,
        senders: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (receiver, senders) = (net.get().end_of("receiver", receiver)?, count("senders", senders, 1)?);
        Self::at_start(net, sizes, seed, |net, sizes, seed| Core::incast(net, receiver, senders, sizes, seed))
    }

    /// One flow from every end to another one, each of which receives one, drawn at random, all at time 0.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// sizes : Sizes, str or float
    ///     As in `poisson`.
    /// seed : int
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> flows = netnum.sim.Workload.permutation(netnum.topology.star(5), sizes="web_search", seed=1)
    /// >>> sorted(flows.sources.tolist()) == sorted(flows.destinations.tolist()) == [0, 1, 2, 3, 4]
    /// True
    #[staticmethod]
    #[pyo3(signature = (net, sizes, *, seed=None), text_signature = "(net, sizes, *, seed=0)")]
    fn permutation(
        net: &Bound<'_, Topology>,
        sizes: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Self::at_start(net, sizes, seed, Core::permutation)
    }

    /// One flow from every end to every other one, all at time 0.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// sizes : Sizes, str or float
    ///     As in `poisson`.
    /// seed : int
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> len(netnum.sim.Workload.all_to_all(netnum.topology.star(4), sizes=1e6))
    /// 12
    #[staticmethod]
    #[pyo3(signature = (net, sizes, *, seed=None), text_signature = "(net, sizes, *, seed=0)")]
    fn all_to_all(
        net: &Bound<'_, Topology>,
        sizes: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Self::at_start(net, sizes, seed, Core::all_to_all)
    }

    /// An all-reduce of a number of bytes among workers, from time 0 on, as one coflow.
    ///
    /// A worker's step begins when it has sent and received what it does before.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// size : float
    ///     Bytes that every worker has and of which it gets the sum.
    /// workers : sequence of int or str, optional
    ///     In the order of the ring or of the tree; by default all ends of the network.
    /// algorithm : {"ring", "direct", "halving-doubling", "tree"}
    ///     - ``"ring"``: 2 (n - 1) steps, in each of which every worker sends size/n to the next one;
    ///     - ``"direct"``: every worker sends size/n to each other one, and again when it has received all of these;
    ///     - ``"halving-doubling"``: 2 log2(n) steps with partners at distances n/2, ..., 1, 1, ..., n/2, of size/2,
    ///       ..., size/n and back, for powers of two;
    ///     - ``"tree"``: the whole size up a binary tree and down again.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For fewer than two workers, one that comes twice, an algorithm that there is not, and a number of workers
    ///     that is no power of two, for ``"halving-doubling"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(8, capacity=400e9)  # 50 GB per second
    /// >>> ring = netnum.sim.Workload.all_reduce(net, 100e6)
    /// >>> len(ring), netnum.sim.simulate(net, ring).coflow_times.round(9)
    /// (112, array([0.0035]))
    #[staticmethod]
    #[pyo3(signature = (net, size, workers=None, *, algorithm="ring"))]
    fn all_reduce(
        net: &Bound<'_, Topology>,
        size: f64,
        workers: Option<&Bound<'_, PyAny>>,
        algorithm: &str,
    ) -> PyResult<Self> {
        let algorithm = dependencies::all_reduce(algorithm)?;
        Self::in_steps(net, "workers", workers, |net, workers| Core::all_reduce(net, size, workers, algorithm))
    }

    /// A number of bytes from every worker to every other one, from time 0 on, as one coflow: in step s to the s-th
    /// after it.
    ///
    /// A worker's step begins when it has sent and received what it does before. `all_to_all` sends all at once.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// size : float
    /// workers : sequence of int or str, optional
    ///     By default all ends of the network.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(4, capacity=8.0)  # 1 byte per second
    /// >>> netnum.sim.simulate(net, netnum.sim.Workload.all_to_all_in_steps(net, 1.0)).coflow_times.round(9)
    /// array([3.])
    #[staticmethod]
    #[pyo3(signature = (net, size, workers=None))]
    fn all_to_all_in_steps(net: &Bound<'_, Topology>, size: f64, workers: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::in_steps(net, "workers", workers, |net, workers| Core::all_to_all_in_steps(net, size, workers))
    }

    /// Batches that pass through the stages of a job, from time 0 on, as one coflow.
    ///
    /// Each goes from one stage to the next one, some seconds of computing after the stage has received it and has sent
    /// the batch before it.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// size : float
    ///     Bytes of a batch.
    /// stages : sequence of int or str
    /// batches : int
    /// seconds : float
    ///     Of computing; the first batch leaves the first stage at time 0.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(3, capacity=8.0)  # 1 byte per second
    /// >>> job = netnum.sim.Workload.pipeline(net, 1.0, [0, 1, 2], batches=2, seconds=0.5)
    /// >>> netnum.sim.simulate(net, job).starts.round(9)
    /// array([0. , 1.5, 1.5, 3. ])
    #[staticmethod]
    #[pyo3(signature = (net, size, stages, batches, *, seconds=0.0))]
    fn pipeline(
        net: &Bound<'_, Topology>,
        size: f64,
        stages: &Bound<'_, PyAny>,
        batches: &Bound<'_, PyAny>,
        seconds: f64,
    ) -> PyResult<Self> {
        let batches = count("batches", batches, 1)?;
        Self::in_steps(net, "stages", Some(stages), |net, stages| Core::pipeline(net, size, stages, batches, seconds))
    }

    /// A number of bytes from every mapper to every reducer but itself, all at time 0, as one coflow.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    /// size : float
    /// mappers, reducers : sequence of int or str
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(4, capacity=8.0)  # 1 byte per second
    /// >>> shuffle = netnum.sim.Workload.shuffle(net, 1.0, mappers=[0, 1], reducers=[2, 3])
    /// >>> netnum.sim.simulate(net, shuffle).coflow_times.round(9)
    /// array([2.])
    #[staticmethod]
    fn shuffle(
        net: &Bound<'_, Topology>,
        size: f64,
        mappers: &Bound<'_, PyAny>,
        reducers: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let reducers = net.get().ends_of("reducers", reducers)?;
        Self::in_steps(net, "mappers", Some(mappers), |net, mappers| Core::shuffle(net, size, mappers, &reducers))
    }

    /// These flows, and an answer to each: the way back, some seconds after it has ended.
    ///
    /// Flow f becomes flow 2 f, and its answer is flow 2 f + 1. Flows that wait for f do so still, and not for its
    /// answer.
    ///
    /// Parameters
    /// ----------
    /// sizes : array of float, shape (flows,), or float
    ///     Of the answers, in bytes.
    /// seconds : float
    ///     From the end of a flow to the start of its answer.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a flow that never ends.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(2, capacity=8.0)  # 1 byte per second
    /// >>> requests = netnum.sim.Workload([0.0, 5.0], [0, 0], [1, 1], [1.0, 1.0])
    /// >>> report = netnum.sim.simulate(net, requests.with_answers(2.0, seconds=0.5))
    /// >>> report.starts.round(9), report.completion_times.round(9)
    /// (array([0. , 1.5, 5. , 6.5]), array([1., 2., 1., 2.]))
    #[pyo3(signature = (sizes, seconds=0.0))]
    fn with_answers(&self, sizes: &Bound<'_, PyAny>, seconds: f64) -> PyResult<Self> {
        let py = sizes.py();
        let sizes = numbers::for_each("sizes", sizes, self.core.len())?;
        py.enter_rust(|| self.core.with_answers(&sizes, seconds)).map(|core| self.with(py, core))
    }

    /// These flows, and others some seconds after all of them have ended: such as the next iteration of a training.
    ///
    /// Parameters
    /// ----------
    /// next : Workload
    ///     Those of its flows that wait for none begin after these, and as much later as they arrive; those that wait
    ///     for others begin when these have ended.
    /// seconds : float
    ///     From the end of the last of these to the start of the next ones, >= 0.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.star(4, capacity=8.0)  # 1 byte per second
    /// >>> step = netnum.sim.Workload.all_to_all_in_steps(net, 1.0)
    /// >>> report = netnum.sim.simulate(net, step.then(step, seconds=2.0))
    /// >>> report.coflow_times.round(9), round(report.time, 9)
    /// (array([3., 3.]), 8.0)
    #[pyo3(signature = (next, seconds=0.0))]
    fn then<'py>(slf: &Bound<'py, Self>, next: &Bound<'py, Self>, seconds: f64) -> PyResult<Self> {
        Self::together(slf, next, |one, two| one.then(two, seconds))
    }

    /// These flows, some of which start only when others have ended.
    ///
    /// A flow starts at its arrival, or when all flows that it waits for have ended and its delay is over, whichever is
    /// later. Completion times count from there: `Report.starts`.
    ///
    /// Parameters
    /// ----------
    /// after : list, tuple of two arrays or sparse matrix
    ///     For every flow the numbers of those that it waits for: a list of an int, a list or None for each; or the
    ///     tuple ``(indptr, indices)``, where flow f waits for ``indices[indptr[f]:indptr[f + 1]]``; or a sparse matrix
    ///     of SciPy, with an entry in row f for each of them.
    /// delay : array of float, shape (flows,), or float, optional
    ///     Seconds from the end of the last of them to the start, >= 0. By default 0.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming a flow that waits for itself, for one that there is not or that never ends, or flows that wait for
    ///     each other.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
    /// >>> flows = netnum.sim.Workload([0.0, 0.0, 0.0], [0, 0, 0], [1, 1, 1], [1.0, 2.0, 1.0])
    /// >>> netnum.sim.simulate(net, flows.with_after([None, 0, [0, 1]], delay=0.5)).starts.round(9)
    /// array([0. , 1.5, 4. ])
    #[pyo3(signature = (after, delay=None))]
    fn with_after(&self, after: &Bound<'_, PyAny>, delay: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = after.py();
        let (core, made) = (self.core.clone(), dependencies::dependencies(after, delay, self.core.len())?);
        py.enter_rust(|| made().and_then(|made| core.with_dependencies(made))).map(|core| self.with(py, core))
    }

    /// These flows in coflows, groups of flows that are done when all of them are: `Report.coflow_times`.
    ///
    /// Parameters
    /// ----------
    /// coflow : array of int, shape (flows,)
    ///     The number of every flow's coflow, from 0 on and without gaps; -1 or None for a flow that is in none.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a number that no flow has though there are larger ones.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
    /// >>> flows = netnum.sim.Workload([0.0, 0.0, 0.0], [0, 0, 0], [1, 1, 1], [1.0, 1.0, 2.0]).with_coflow([0, 1, 1])
    /// >>> netnum.sim.simulate(net, flows, policy="coflow").coflow_times.round(9)
    /// array([1., 4.])
    fn with_coflow(&self, coflow: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, core, coflows) = (coflow.py(), self.core.clone(), dependencies::coflows(coflow)?);
        py.enter_rust(|| core.with_coflows(coflows)).map(|core| self.with(py, core))
    }

    /// These flows with weights, for policies that share by weight.
    ///
    /// Of two flows that share a full link under ``"max-min"``, one with twice the weight gets twice the rate. For
    /// policies with a utility they are its weights, as in `AlphaFair`. Other policies refuse such flows.
    ///
    /// Parameters
    /// ----------
    /// weights : array of float, shape (flows,), or float
    ///     Finite and > 0.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first flow with a weight that is wrong.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
    /// >>> workload = netnum.sim.Workload([0.0, 0.0], [0, 0], [1, 1], [3.0, 1.0]).with_weights([3.0, 1.0])
    /// >>> netnum.sim.simulate(net, workload).completion_times.round(6)
    /// array([4., 4.])
    fn with_weights(&self, weights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = weights.py();
        let weights = numbers::for_each("weights", weights, self.core.len())?;
        let core = self.core.clone();
        py.enter_rust(|| core.with_weights(weights)).map(|core| self.with(py, core))
    }

    /// These flows, each some seconds later; earlier, for a negative number.
    ///
    /// Parameters
    /// ----------
    /// seconds : float
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first flow that would arrive before time 0.
    fn shifted(&self, py: Python<'_>, seconds: f64) -> PyResult<Self> {
        let core = self.core.clone();
        py.enter_rust(|| core.shifted(seconds)).map(|core| self.with(py, core))
    }

    /// The flows of both in order of arrival; of those that arrive together, the first's come first.
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Ok(added) = other.cast::<Self>() else {
            let message = format!("a Workload is added to another one, not to {}", other.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        };
        Self::together(slf, added, Core::merged)
    }

    /// These flows, from applications that produce their bytes while they run.
    ///
    /// A flow can send the bytes that have been produced and not been sent, and sends at most at the rate of production
    /// while there are none. The application pauses while the send buffer is full.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float, shape (flows,), or float
    ///     At which bytes are produced, in bit/s, > 0. `log_normal` draws some.
    /// buffer : float
    ///     The send buffer of every flow, in bytes, > 0.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first flow with a rate that is wrong.
    #[pyo3(signature = (rates, buffer=f64::INFINITY), text_signature = "($self, rates, buffer=1e999)")]
    fn with_production(&self, rates: &Bound<'_, PyAny>, buffer: f64) -> PyResult<Self> {
        let py = rates.py();
        let rates = numbers::for_each("rates", rates, self.core.len())?;
        let core = self.core.clone();
        let produced = || Production::new(rates, buffer).and_then(|production| core.with_production(production));
        py.enter_rust(produced).map(|core| self.with(py, core))
    }

    /// Read a trace: lines ``arrival,source,destination,size``, below that header or without one. A fifth column,
    /// ``production``, is the rate in bit/s at which a flow's bytes are produced. Below a header the columns may stand
    /// in any order, and there may be others; those that need one are ``weight``, ``buffer``, ``after`` (numbers of
    /// flows with spaces between them), ``delay`` and ``coflow``.
    ///
    /// Parameters
    /// ----------
    /// path_or_text : str or os.PathLike
    ///     A path-like is a file, and so is a str without a comma and of one line; any other is the text.
    /// net : Topology, optional
    ///     Whose ends are called by name, or by index where no end has that name and names are no integers.
    /// columns : dict of str to str, optional
    ///     The names of the columns in the header, such as ``{"size": "bytes", "arrival": "start"}``. Without a header
    ///     columns stand in the order above.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the line or flow that is wrong.
    /// NumError
    ///     For an empty str.
    /// OSError, UnicodeDecodeError
    ///     When a file cannot be read, or is no UTF-8.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 1e9\nDenver Houston 1e9")
    /// >>> text = "source,destination,bytes,arrival\nSeattle,Houston,1e6,0.5"
    /// >>> netnum.sim.Workload.from_csv(text, net, columns={"size": "bytes"}).destinations
    /// array([2])
    #[staticmethod]
    #[pyo3(signature = (path_or_text, net=None, *, columns=None))]
    fn from_csv(
        path_or_text: &Bound<'_, PyAny>,
        net: Option<&Bound<'_, Topology>>,
        columns: Option<BTreeMap<String, String>>,
    ) -> PyResult<Self> {
        let text = match path_or_text.cast::<PyString>() {
            Ok(text) if text.is_empty()? => {
                let expected = "the name of a file, or lines arrival,source,destination,size";
                return Err(setting("path_or_text", "empty", expected));
            }
            Ok(text) if text.to_cow()?.contains([',', '\n']) => text.to_cow()?.into_owned(),
            _ => {
                // The error of Python's function names the file.
                let path = path_or_text.py().import("pathlib")?.call_method1("Path", (path_or_text,))?;
                path.call_method("read_text", (), Some(&[("encoding", "utf-8")].into_py_dict(path.py())?))?.extract()?
            }
        };
        let topology = net.map(|net| &net.get().core);
        let columns = columns.unwrap_or_default();
        let read = || Core::from_csv_with(&text, topology, &columns);
        path_or_text.py().enter_rust(read).map(|core| Self::of(net, core))
    }

    /// The trace as text that `from_csv` reads back as an equal workload.
    ///
    /// With the network, if the workload was made for one whose ends have integer names.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike, optional
    ///     A file that is there is replaced. By default the text is returned.
    ///
    /// Returns
    /// -------
    /// str or None
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When the file cannot be written.
    #[pyo3(signature = (path=None))]
    fn to_csv(&self, py: Python<'_>, path: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
        let net = self.net.as_ref().map(|net| &net.get().core);
        let text = py.enter_rust(|| self.core.to_csv_with(net))?;
        let Some(path) = path else { return Ok(Some(text)) };
        py.import("netnum._saved")?.call_method1("write", (path, text))?;
        Ok(None)
    }

    /// Read a table with a row for each flow.
    ///
    /// Parameters
    /// ----------
    /// frame : pandas.DataFrame
    ///     Or anything else that has columns by name: a dict of lists, a table of Polars. It has ``arrival``,
    ///     ``source``, ``destination`` and ``size``, and may have ``production``, ``weight``, ``buffer``, which is one
    ///     number for all, ``after`` (lists, or numbers of flows with spaces between them; by the index of the table),
    ///     ``delay`` and ``coflow``. Other columns are left out, with a warning where their names are nearly these.
    /// net : Topology, optional
    ///     Whose ends are named, as in `Workload`.
    /// columns : dict of str to str, optional
    ///     Other names of columns, such as ``{"size": "bytes", "arrival": "start"}``.
    ///
    /// Returns
    /// -------
    /// Workload
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a column that there is not or that there is twice; naming the flow that is wrong; and for buffers that
    ///     differ.
    /// TypeError
    ///     For what has no columns.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 1e9\nDenver Houston 1e9")
    /// >>> table = {"start": [0.5], "source": ["Seattle"], "destination": ["Houston"], "size": [1e6]}
    /// >>> netnum.sim.Workload.from_pandas(table, net, columns={"arrival": "start"}).destinations
    /// array([2])
    #[staticmethod]
    #[pyo3(signature = (frame, net=None, *, columns=None))]
    fn from_pandas<'py>(
        frame: &Bound<'py, PyAny>,
        net: Option<&Bound<'py, Topology>>,
        columns: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        frame.py().import("netnum.sim._tables")?.call_method1("from_pandas", (frame, net, columns))
    }

    /// A row per flow, which `from_pandas` reads back as an equal workload.
    ///
    /// Parameters
    /// ----------
    /// net : Topology, optional
    ///     The network that has the names of the ends; without it ends are as in `sources` and `destinations`.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     With the columns that `from_pandas` reads.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an end that the network does not have.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    ///
    /// Examples
    /// --------
    /// >>> netnum.sim.Workload([0.0, 0.5], [0, 1], [1, 0], [1e6, 2e6]).to_pandas()
    ///       arrival  source  destination       size
    /// flow
    /// 0         0.0       0            1  1000000.0
    /// 1         0.5       1            0  2000000.0
    #[pyo3(signature = (net=None))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, net: Option<&Bound<'py, Topology>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.sim._tables")?.call_method1("to_pandas", (slf, net))
    }

    /// Save the workload in a file that `netnum.load` reads back as an equal one: JSON.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file that is there is replaced.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When the file cannot be written.
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.py().import("netnum._saved")?.call_method1("save", (slf, path)).map(drop)
    }

    /// When every flow arrives, in seconds; one that waits for others starts then or later: array of float, shape
    /// (flows,).
    #[getter]
    fn arrivals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.arrivals().to_vec())
    }

    /// The end that sends every flow, as the network takes it: its index, or its name where names are integers. Array
    /// of int, shape (flows,).
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.shown(py, self.core.sources())
    }

    /// The end that receives it: array of int, shape (flows,).
    #[getter]
    fn destinations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.shown(py, self.core.destinations())
    }

    /// How large it is, in bytes, inf if it never ends: array of float, shape (flows,).
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.sizes().to_vec())
    }

    /// The rate at which its bytes are produced, in bit/s: array of float, shape (flows,). None if they are all at
    /// hand.
    #[getter]
    fn production<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.core.production().map(|production| numbers::read_only(py, production.rates().to_vec()))
    }

    /// The weight of every flow: array of float, shape (flows,). None if they have none.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.core.weights().map(|weights| numbers::read_only(py, weights.to_vec()))
    }

    /// What each flow waits for, ``(indptr, indices)`` as in `with_after`: tuple of two arrays of int, shapes (flows +
    /// 1,) and (waits,). None if no flow waits.
    #[getter]
    fn after<'py>(&self, py: Python<'py>) -> Option<Arrays<'py>> {
        self.core.dependencies().map(|dependencies| dependencies::shown(py, dependencies))
    }

    /// Seconds from the end of the last flow that a flow waits for to its start: array of float, shape (flows,). None
    /// if no flow waits.
    #[getter]
    fn delay<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.core.dependencies().map(|dependencies| numbers::read_only(py, dependencies.delays().to_vec()))
    }

    /// The coflow of every flow, -1 for one that is in none: array of int, shape (flows,). None if there are no
    /// coflows.
    #[getter]
    fn coflow<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        (self.core.coflows() > 0).then(|| numbers::read_only(py, dependencies::coflows_of(&self.core)))
    }

    /// The send buffer of every flow, in bytes.
    #[getter]
    fn buffer(&self) -> f64 {
        self.core.production().map_or(f64::INFINITY, Production::buffer)
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }

    /// The arguments, for pickle.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let (arrivals, sizes) = (self.arrivals(py), self.sizes(py));
        let columns = (arrivals, self.sources(py), self.destinations(py), sizes, self.production(py), self.buffer());
        let more = PyDict::new(py);
        more.set_item("weights", self.weights(py))?;
        more.set_item("net", &self.net)?;
        for (name, value) in
            [("delay", self.delay(py).map(Bound::into_any)), ("coflow", self.coflow(py).map(Bound::into_any))]
        {
            if value.is_some() {
                more.set_item(name, value)?;
            }
        }
        if let Some(after) = self.after(py) {
            more.set_item("after", after)?;
        }
        Ok((columns.into_pyobject(py)?, more))
    }

    fn __repr__(&self) -> String {
        let flows = self.core.len();
        let Some(last) = self.core.arrivals().last() else { return "Workload(0 flows)".into() };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let word = if flows == 1 { "flow" } else { "flows" };
        let mut shown = format!("Workload({flows} {word} within {last:.4} s");
        let finite: Vec<f64> = self.core.sizes().iter().copied().filter(|size| size.is_finite()).collect();
        if !finite.is_empty() {
            shown += &format!(", {:.4} kB each", mean(&finite) / 1e3);
        }
        if finite.len() < flows {
            shown += &format!(", {} without end", flows - finite.len());
        }
        if let Some(production) = self.core.production() {
            shown += &format!(", produced at {:.4} Gbit/s", mean(production.rates()) / 1e9);
            if production.buffer() < f64::INFINITY {
                shown += &format!(" into buffers of {:.4} kB", production.buffer() / 1e3);
            }
        }
        let waiting =
            self.core.dependencies().map_or(0, |all| (0..flows).filter(|&flow| !all.after(flow).is_empty()).count());
        if waiting > 0 {
            shown += &format!(", {waiting} after others");
        }
        if self.core.coflows() > 0 {
            shown += &format!(", {}", numbers::counted(self.core.coflows(), "coflow"));
        }
        shown + ")"
    }
}

/// The pairs of a workload, which have no volumes.
fn listed_pairs(net: &Bound<'_, Topology>, given: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    pairs::without_volumes(pairs::of_one(net, given)?).map(Pairs::Listed)
}
