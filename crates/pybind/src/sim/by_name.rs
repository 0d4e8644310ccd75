//! `Policy` and `Routing`: entries of the registries of the simulator, by name and with options.

use netnum_core::Options;
use netnum_core::Paths as CorePaths;
use netnum_core::internal::registry::Registry;
use netnum_sim::{Error, GivenPaths, POLICIES, ROUTINGS};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::user_policy::UserPolicy;
use super::user_routing::UserRouting;
use super::{Split, Workload};
use crate::error::{MethodError, raise, wrong_type};
use crate::hints;
use crate::paths::Paths;
use crate::plain::{dict, fields, object};
use crate::topology::Topology;

/// A class for the entries of one registry.
macro_rules! class_by_name {
    ($(#[$about:meta])* $class:ident, $kind:literal, $check:expr) => {
        $(#[$about])*
        #[pyclass(frozen, eq, module = "netnum.sim")]
        #[derive(PartialEq)]
        pub(crate) struct $class(ByName);

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (name=None, /, **options), text_signature = "(name, /, **options)")]
            fn new(
                py: Python<'_>,
                name: Option<&Bound<'_, PyAny>>,
                options: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Self> {
                let name = hints::needed(py, stringify!($class), "name", name)?;
                let name = name.extract().map_err(|_| wrong_type("name", "a str", name))?;
                let this = Self(ByName::new($kind, name, options)?);
                ($check)(&this)?;
                Ok(this)
            }

            /// Its name.
            #[getter]
            fn name(&self) -> &str {
                &self.0.name
            }

            /// The options that were given, by name: dict.
            #[getter]
            fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                dict(py, &self.0.options)
            }

            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&str,), Bound<'py, PyDict>)> {
                Ok(((self.name(),), self.options(py)?))
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                self.0.repr(py, stringify!($class))
            }
        }
    };
}

class_by_name! {
    /// A policy of netnum with options: gives flows their rates.
    ///
    /// `policies` lists them with their options. A rate is in bit/s, a time in seconds.
    ///
    /// - ``"max-min"``: fair sharing, in proportion to the weights of flows that have some (`Workload.weights`).
    /// - ``"srpt"``: strict priority by the remaining size of a flow, the ideal of pFabric; with ``by="time"`` by the
    ///   time that the rest would take in an idle network, where applications are slower than that. Of a flow with a
    ///   weight, that over its weight.
    /// - ``"edf"``: earliest deadline first. The deadline of a flow is its arrival plus `slack` times what it takes
    ///   alone.
    /// - ``"pias"``: strict priority by the bytes that a flow has sent, one priority lower from each of the
    ///   `thresholds` on, and fair sharing within a priority, in proportion to weights.
    /// - ``"rax"``: the same by an estimate of the remaining time, from the bytes sent and the rate at which they were
    ///   produced. There are so many `levels`; the `first` threshold is in seconds, each of the others `base` times the
    ///   one before. Estimates are updated every `interval` seconds. ``"rax+"``: with the true remaining time.
    /// - ``"coflow"``: one coflow after the other (`Workload.coflow`), its flows in proportion to what is left of them;
    ///   what then remains is shared fairly. By `order` ``"smallest-bottleneck"``, that which would end first if it
    ///   were alone, or ``"fifo"``, that which has started first.
    /// - ``"proportional"``, ``"min-fct"``: at every change the exact optimum of log x, and of NUMFabric's utility for
    ///   short completion times. `tol` is the gap to prove. The urgency of a flow is its size when it arrives, or with
    ///   ``by="remaining"``, ``by="time"`` or ``by="deadline"`` its remaining size, its remaining time, or the time
    ///   until its deadline (see `slack`), updated every `interval` seconds as well.
    /// - ``"alpha-fair"``: the same for alpha-fair utilities: `alpha` > 0, and `tol`.
    /// - ``"flowtune"``: an `Allocator` that does one step every `interval` seconds, or with ``interval=None`` at every
    ///   arrival and end. `method`, `normalizer`, `update_threshold` and `headroom` are those of the allocator, and so
    ///   are the options of its method, as `netnum.methods` has them. `utility` is ``"proportional"``, ``"min-fct"`` or
    ///   ``{"alpha-fair": alpha}``. With `at_once`, flows follow the prices as soon as any flow arrives or ends, and do
    ///   not wait for the next step; with `line_rate`, the demand of a flow is at most what its path can carry.
    /// - ``"gradient"``, ``"rcp"``: the same at once, by default every 16 µs and with prices an interval late, as in
    ///   the comparisons of NUMFabric.
    /// - ``"xwi"``: NUMFabric. Prices change every `interval` seconds, rates are a weighted max-min at once; `eta`,
    ///   `beta` and `heaviest` are those of the method, and `utility` is as above.
    ///
    /// Optima solve a problem at every change: with the 300 flows of a load of 0.6 on 144 servers in some 0.2 ms, for
    /// ``"min-fct"`` in 1 ms, where fair sharing and priorities take microseconds.
    ///
    /// Weights of flows are those of the utility for ``"proportional"``, ``"alpha-fair"``, ``"flowtune"``,
    /// ``"gradient"``, ``"rcp"`` and ``"xwi"``, unless that is ``"min-fct"``. ``"edf"``, ``"coflow"`` and those of
    /// ``"min-fct"`` refuse flows with weights, and the latter flows of size inf.
    ///
    /// To all of them a flow over several paths, in fixed parts, is one whose path uses a part of each link.
    /// ``"max-min"``, ``"proportional"``, ``"min-fct"`` and ``"alpha-fair"`` also split flows over paths that a routing
    /// pools (``Routing("k-shortest", pooled=True)``, ``Routing("spray", pooled=True)``, ``Split(net, paths,
    /// pooled=True)``): rates are then the best over all splits. An arrival or an end costs a solve for the flows that
    /// links connect with it. ``"flowtune"`` and ``"gradient"`` move splits towards the best one at every step, as
    /// `Allocator` does with several paths.
    /// ``"flowtune"``, ``"gradient"`` and ``"rcp"`` do not take slow applications into account: the part of a rate that
    /// an application does not use stays unused.
    ///
    /// Parameters
    /// ----------
    /// name : str
    /// **options
    ///     Options of the policy: numbers, text, lists of them, None.
    ///
    /// Raises
    /// ------
    /// MethodError
    ///     For a policy, a method or an option that does not exist.
    /// NumError
    ///     For a value out of its range.
    ///
    /// Examples
    /// --------
    /// >>> netnum.sim.Policy("flowtune", method="fast-ned", normalizer="fill")
    /// Policy('flowtune', method='fast-ned', normalizer='fill')
    Policy, "policy", Self::make
}

class_by_name! {
    /// A routing of netnum with options: gives flows their routes.
    ///
    /// `routings` lists them with their options.
    ///
    /// Shortest paths are those with the fewest links, or by the attribute of links that the option `weight` of every
    /// routing names, such as ``"delay"``.
    ///
    /// - ``"ecmp"``: a random shortest path for each flow, drawn once, with the seed of `simulate`. With a `skew` s
    ///   from 0 to 1 the hash prefers some paths, and the same ones for all flows: from (1 + s)/P to (1 - s)/P of them
    ///   take each of P. When a link fails its flows are hashed over the paths that are left.
    /// - ``"ecmp-split"``: the same packet by packet: every node splits each flow evenly over the links by which
    ///   shortest paths leave it, as `Topology.ecmp_split` has it; when a link fails, over the paths that are left.
    /// - ``"flow-bender"``: a flow that is congested for `n` round trips of `rtt` seconds in a row draws another path,
    ///   with the same `skew`; it is congested when more than a part `t` of the bytes that it sent was marked, or when
    ///   it sent nothing. `marking` is what links mark:
    ///
    ///   - ``"saturated"``: a congested link marks everything. It is congested while it is full, is a link of a switch,
    ///     and is the first link on the route of a flow that limits it; a flow that the link of its server limits is
    ///     not marked by others.
    ///   - ``{"dctcp": {"rtt": seconds, "threshold": bytes}}``: a congested link marks the part sqrt(2 n / W) of what n
    ///     flows send over it, W = (capacity * rtt + threshold) / 1500 bytes. That is 13 % for a single one that fills
    ///     a link of 10 Gbit/s, with 100 µs and 65 kB: choose a `t` of about 0.25, since at 0.05 no full link counts as
    ///     uncongested.
    ///   - ``{"utilization": part}``: a link of a switch marks everything while it carries this part of its capacity or
    ///     more, even of a single flow.
    ///
    ///   Links that are never full mark only by utilization: under ``"flowtune"``, which leaves its `update_threshold`
    ///   and `headroom` of every link free, choose a `part` below what is left.
    ///
    ///   After `lock_after` changes of path in a row a flow stays on the best of these paths for `lock_for` round
    ///   trips; None for never. `step` is the part of a flow that changes its path at once, 1 for all of it.
    /// - ``"spray"``: an even split of every flow over all shortest paths without a failed link; with `pooled` the
    ///   policy splits it over them.
    /// - ``"k-shortest"``: one of the `k` shortest paths for each flow, drawn evenly with the seed of `simulate`, or
    ///   with `spread` all of them at once; with `disjoint` they have no link in common. Flows of a failed path take
    ///   the others. With `pooled` a flow has all of them, and the policy sets the rate on each: that is the best split
    ///   at all times. `Split` is the same over given paths and with given shares.
    /// - ``"adaptive"``: at all times the split at which max-min rates are highest, away from links with less free
    ///   capacity. On a symmetric fabric that is ``"spray"``, found by linear programs at every arrival and end: in
    ///   milliseconds on 144 servers at a load of 0.6, a thousand times as long.
    ///
    /// Parameters
    /// ----------
    /// name : str
    /// **options
    ///     Options of the routing: numbers, text, None.
    ///
    /// Raises
    /// ------
    /// MethodError
    ///     For a routing or an option that does not exist.
    /// NumError
    ///     For a value out of its range.
    ///
    /// Examples
    /// --------
    /// >>> netnum.sim.Routing("ecmp")
    /// Routing('ecmp')
    Routing, "routing", |this: &Self| this.make(0)
}

impl Policy {
    /// A new policy, since a policy keeps the state of a run.
    fn make(&self) -> PyResult<Box<dyn netnum_sim::Policy + Send>> {
        netnum_sim::policy(&self.0.name, &self.0.options).map_err(raise_policy)
    }
}

impl Routing {
    /// A new routing, since a routing keeps the state of a run.
    fn make(&self, seed: u64) -> PyResult<Box<dyn netnum_sim::Routing + Send>> {
        netnum_sim::routing(&self.0.name, seed, &self.0.options).map_err(raise_routing)
    }
}

/// A policy as `simulate` takes it: by its name alone, with options, or written in Python.
pub(super) fn policy_of(
    value: &Bound<'_, PyAny>,
    net: &Bound<'_, Topology>,
    workload: &Bound<'_, Workload>,
) -> PyResult<Box<dyn netnum_sim::Policy + Send>> {
    if let Ok(policy) = value.cast::<Policy>() {
        return policy.get().make();
    }
    match value.cast::<PyString>() {
        Ok(name) => netnum_sim::policy(name.to_str()?, &Options::new()).map_err(raise_policy),
        Err(_) => Ok(Box::new(UserPolicy::new(value, net, workload)?)),
    }
}

/// A routing as `simulate` takes it: by its name alone, with options, or written in Python.
pub(super) fn routing_of(
    value: &Bound<'_, PyAny>,
    seed: u64,
    net: &Bound<'_, Topology>,
    workload: &Bound<'_, Workload>,
) -> PyResult<Box<dyn netnum_sim::Routing + Send>> {
    if let Ok(routing) = value.cast::<Routing>() {
        return routing.get().make(seed);
    }
    if let Ok(split) = value.cast::<Split>() {
        return Ok(Box::new(split.get().over(net.get(), seed)?));
    }
    if let Ok(paths) = value.cast::<Paths>() {
        return Ok(Box::new(GivenPaths::new(CorePaths::clone(paths.get().of_flows()?))));
    }
    match value.cast::<PyString>() {
        Ok(name) => netnum_sim::routing(name.to_str()?, seed, &Options::new()).map_err(raise_routing),
        Err(_) => Ok(Box::new(UserRouting::new(value, net, workload)?)),
    }
}

/// The exception for a policy that cannot be; orders of coflows are an option.
fn raise_policy(error: Error) -> PyErr {
    match &error {
        Error::Core(netnum_core::Error::UnknownName { name, .. })
            if ["sebf", "varys", "fifo", "madd"].contains(&name.to_lowercase().as_str()) =>
        {
            let instead = "coflows in order are \"coflow\", the smallest bottleneck first, or \
                           netnum.sim.Policy(\"coflow\", order=\"fifo\")";
            MethodError::new_err(format!("unknown policy {name:?}: {instead}"))
        }
        _ => raise(error),
    }
}

/// The exception for a routing that cannot be; a split has paths and is no name.
fn raise_routing(error: Error) -> PyErr {
    match &error {
        Error::Core(netnum_core::Error::UnknownName { name, .. }) if name.eq_ignore_ascii_case("split") => {
            let instead = "a split is an object with its paths, netnum.sim.Split(net, paths, shares)";
            MethodError::new_err(format!("{error}; {instead}"))
        }
        _ => raise(error),
    }
}

/// List the policies of `Policy` and `simulate`.
///
/// Returns
/// -------
/// dict
///     Name of every policy → ``{"summary": str, "options": {name: default}}``. A default of None stands for nothing,
///     or for the default of the method that the option belongs to.
///
/// Examples
/// --------
/// >>> netnum.sim.policies()["srpt"]["options"]
/// {'by': 'size'}
#[pyfunction]
pub(crate) fn policies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    listed(py, POLICIES)
}

/// List the routings of `Routing` and `simulate`.
///
/// Returns
/// -------
/// dict
///     Name of every routing → ``{"summary": str, "options": {name: default}}``.
///
/// Examples
/// --------
/// >>> list(netnum.sim.routings())
/// ['ecmp', 'ecmp-split', 'flow-bender', 'spray', 'k-shortest', 'adaptive']
#[pyfunction]
pub(crate) fn routings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    listed(py, ROUTINGS)
}

fn listed<'py, Make>(py: Python<'py>, entries: &Registry<Make>) -> PyResult<Bound<'py, PyDict>> {
    let list = PyDict::new(py);
    for entry in entries {
        let about = PyDict::new(py);
        about.set_item("summary", entry.summary)?;
        let options = (entry.options)().into_iter().map(|option| (option.name.into(), option.default));
        about.set_item("options", dict(py, &options.collect())?)?;
        list.set_item(entry.name, about)?;
    }
    Ok(list)
}

/// A name with options.
#[derive(PartialEq)]
struct ByName {
    name: String,
    options: Options,
}

impl ByName {
    fn new(kind: &str, name: String, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let place = |option: &str| format!("option {option:?} of {kind} {name:?}");
        let options = options.map_or(Ok(Options::new()), |options| fields(options, place))?;
        Ok(Self { name, options })
    }

    /// `Policy('flowtune', method='ned')`.
    fn repr(&self, py: Python<'_>, class: &str) -> PyResult<String> {
        let mut shown = format!("{class}({}", PyString::new(py, &self.name).repr()?);
        for (option, value) in &self.options {
            shown += &format!(", {option}={}", object(py, value)?.repr()?);
        }
        Ok(shown + ")")
    }
}
