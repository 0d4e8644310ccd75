//! `Report`.

use netnum_core::Parameter;
use netnum_sim::{Report as Core, RunStatus};
use numpy::PyArray1;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict, PyType};

use super::{Timeline, UpdateTraffic, Workload};
use crate::error::setting;
use crate::numbers;
use crate::topology::Topology;

/// The results of a simulation. Columns over flows are in the order of the workload.
///
/// Examples
/// --------
/// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
/// >>> workload = netnum.sim.Workload([0.0, 0.0], [0, 0], [1, 1], [1.0, 2.0])
/// >>> report = netnum.sim.simulate(net, workload, policy="srpt")
/// >>> report.status, report.completion_times.round(6), report.slowdowns.round(6)
/// ('finished', array([1., 3.]), array([1. , 1.5]))
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct Report {
    /// Without its timeline.
    core: Core,
    timeline: Option<Py<Timeline>>,
    /// The network, where integers are names of ends.
    net: Option<Py<Topology>>,
    columns: [PyOnceLock<Py<PyArray1<f64>>>; 10],
}

impl Report {
    /// The report on a workload, whose core has no timeline.
    pub(super) fn new(py: Python<'_>, core: Core, workload: &Workload, timeline: Option<Py<Timeline>>) -> Self {
        let net = workload.net.as_ref().map(|net| net.clone_ref(py));
        Self { core, timeline, net, columns: [const { PyOnceLock::new() }; 10] }
    }

    /// A column as an array, made at its first use.
    fn column(&self, py: Python<'_>, place: usize, values: &[f64]) -> Py<PyArray1<f64>> {
        self.column_of(py, place, || values.to_vec())
    }

    fn column_of(&self, py: Python<'_>, place: usize, values: impl FnOnce() -> Vec<f64>) -> Py<PyArray1<f64>> {
        self.columns[place].get_or_init(py, || numbers::read_only(py, values()).unbind()).clone_ref(py)
    }
}

#[pymethods]
impl Report {
    /// How it ended.
    ///
    /// - ``"finished"``: all flows have ended;
    /// - ``"time_up"``: `until` came first;
    /// - ``"time_limit"``: the limit of real time came first; the report covers the time until then;
    /// - ``"starved"``: the rates of the flows that are left stay 0: their links have failed, or the policy gives them
    ///   0.
    #[getter]
    fn status(&self) -> &'static str {
        self.core.status.name()
    }

    /// The policy that gave rates.
    #[getter]
    fn policy(&self) -> &str {
        &self.core.policy
    }

    /// The routing that gave routes.
    #[getter]
    fn routing(&self) -> &str {
        &self.core.routing
    }

    /// The flows: `Workload`.
    #[getter]
    fn workload(&self, py: Python<'_>) -> Workload {
        Workload { core: self.core.workload.clone(), net: self.net.as_ref().map(|net| net.clone_ref(py)) }
    }

    /// When each flow started, in seconds: its arrival, unless it waited for others; nan if it has not: array of float,
    /// shape (flows,).
    #[getter]
    fn starts(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 7, &self.core.starts)
    }

    /// Seconds from the start of the first flow of every coflow to the end of its last one, nan if one of them has not
    /// ended: array of float, shape (coflows,).
    #[getter]
    fn coflow_times(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column_of(py, 8, || self.core.coflow_times())
    }

    /// Seconds from each flow's start to its end, with what `packets` of `simulate` add, nan if it has not ended: array
    /// of float, shape (flows,).
    #[getter]
    fn completion_times(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 0, &self.core.completion_times)
    }

    /// That time over what the flow would take alone on the route of its arrival, with all its bytes at hand and links
    /// as at the start; nan if it has not ended: array of float, shape (flows,).
    #[getter]
    fn slowdowns(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 1, &self.core.slowdowns)
    }

    /// Bytes that each flow has sent by the end of the run, its size if it has ended: array of float, shape (flows,).
    #[getter]
    fn bytes_sent(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 2, &self.core.bytes_sent)
    }

    /// The mean rate of each flow in bit/s: array of float, shape (flows,).
    ///
    /// From its start, or from the `warmup` if that is later, to its end or that of the run, without what `packets`
    /// add: the long-run rate of a flow of size inf. NaN for flows that have not started, or had ended before the
    /// warmup.
    #[getter]
    fn mean_rates(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 9, &self.core.mean_rates)
    }

    /// The estimate of each flow's rate of production when it ended, in bit/s: array of float, shape (flows,).
    ///
    /// The moving average of RAX: over pieces of 64 kB, the newest with a weight of 1/4, starting at the capacity of
    /// the flow's first link. NaN for flows that have not ended, and for those without a rate of production.
    #[getter]
    fn copy_rates(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 6, &self.core.copy_rates)
    }

    /// Bytes that have gone over each link since the warmup: array of float, shape (links,).
    #[getter]
    fn link_bytes(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 3, &self.core.link_bytes)
    }

    /// Those bytes over what the link could have carried, nan for failed links: array of float, shape (links,).
    #[getter]
    fn link_utilization(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 4, &self.core.link_utilization)
    }

    /// The highest load of each link that lasted for any time, in bit/s: array of float, shape (links,).
    #[getter]
    fn peak_loads(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 5, &self.core.peak_loads)
    }

    /// The excess of loads over capacities, in bit/s, summed over links and averaged over time: 0 to rounding for
    /// policies that overload no link.
    #[getter]
    fn over_allocation(&self) -> f64 {
        self.core.over_allocation
    }

    /// The largest relative gap that the policy has proven of its rates; 0 for a policy that proves none or is exact.
    #[getter]
    fn gap(&self) -> f64 {
        self.core.gap
    }

    /// The messages between the policy's allocator and the servers, `UpdateTraffic`; None for a policy without one.
    #[getter]
    fn update_traffic(&self) -> Option<UpdateTraffic> {
        self.core.update_traffic.map(Into::into)
    }

    /// Rates of flows and loads of links over time: `Timeline`. There is none where `simulate` was not given
    /// ``timeline=True``, which the AttributeError says.
    #[getter]
    fn timeline(&self, py: Python<'_>) -> PyResult<Py<Timeline>> {
        // `netnum._hints` has the text.
        let none = || PyAttributeError::new_err("timeline");
        self.timeline.as_ref().map(|timeline| timeline.clone_ref(py)).ok_or_else(none)
    }

    /// Simulated seconds that do not count: means and quantiles are of the flows that start from then on, those with
    /// ``report.starts >= report.warmup``, and what is said of links is from then on. Columns over flows
    /// have all of them.
    #[getter]
    fn warmup(&self) -> f64 {
        self.core.warmup
    }

    /// The mean slowdown of the earlier and of the later half of the flows that count, if later ones are slower than
    /// earlier ones by more than chance; None otherwise, and for fewer than 200 flows: tuple of float, or None.
    ///
    /// Means then depend on how long the simulation is: the network still fills, or is overloaded. Simulate longer,
    /// with a `warmup`. The test is that of Mann and Kendall for a trend, of the means m of B = 20 batches of as many
    /// flows in order of arrival: with S the number of pairs of batches of which the later has the larger mean, less
    /// those of which it has the smaller, z = (S - 1) / sqrt(B (B - 1) (2B + 5) / 18) is above 3.09, as for one in a
    /// thousand where batches are independent and alike, and the later mean is 10 % larger.
    #[getter]
    fn slowing_down(&self) -> Option<(f64, f64)> {
        self.core.slowing_down()
    }

    /// Simulated seconds, until the last flow had ended or the run was over.
    #[getter]
    fn time(&self) -> f64 {
        self.core.time
    }

    /// Instants at which something happened.
    #[getter]
    fn events(&self) -> u64 {
        self.core.events
    }

    /// How often a flow got another rate.
    #[getter]
    fn rate_changes(&self) -> u64 {
        self.core.rate_changes
    }

    /// How often a flow took another route.
    #[getter]
    fn route_changes(&self) -> u64 {
        self.core.route_changes
    }

    /// Real seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.core.seconds
    }

    /// How many flows have ended.
    #[getter]
    fn ended(&self) -> usize {
        self.core.ended()
    }

    /// The mean completion time of the flows that count and have ended, in seconds; nan if there are none.
    #[getter]
    fn mean_completion_time(&self) -> f64 {
        self.core.mean_completion_time()
    }

    /// The mean slowdown of the flows that count and have ended; nan if there are none.
    #[getter]
    fn mean_slowdown(&self) -> f64 {
        self.core.mean_slowdown()
    }

    /// The slowdown that a fraction of the flows that count and have ended do not exceed, interpolated between two
    /// flows.
    ///
    /// Parameters
    /// ----------
    /// fraction : float, or array of float, shape (fractions,)
    ///     From 0 to 1: 0.99, not 99.
    ///
    /// Returns
    /// -------
    /// float, or array of float, shape (fractions,)
    ///     NaN if no flow that counts has ended.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a fraction outside 0 to 1.
    fn slowdown_quantile<'py>(&self, py: Python<'py>, fraction: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let quantile = |name: &str, fraction: f64| match (0.0..=1.0).contains(&fraction) {
            true => Ok(self.core.slowdown_quantile(fraction)),
            false => Err(setting(name, fraction, "a number from 0 to 1")),
        };
        let quantiles = match numbers::parameter("fraction", fraction)? {
            Parameter::Same(fraction) => Parameter::Same(quantile("fraction", fraction)?),
            Parameter::PerFlow(fractions) => {
                let place = |(place, fraction)| quantile(&format!("fraction[{place}]"), fraction);
                Parameter::PerFlow(fractions.into_iter().enumerate().map(place).collect::<PyResult<_>>()?)
            }
        };
        Ok(numbers::parameter_out(py, &quantiles))
    }

    /// Slowdowns by flow size and utilization of links, as a table: str.
    fn summary(&self) -> String {
        self.core.summary()
    }

    /// The columns as a pandas DataFrame.
    ///
    /// Parameters
    /// ----------
    /// of : {"flows", "links", "coflows"}
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     One row per flow, per link or per coflow, in their order.
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    #[pyo3(signature = (of="flows"))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, of: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.frames")?.call_method1("report", (slf, of))
    }

    /// Draw slowdowns over flow sizes: the mean and the 99 % quantile of flows of about the same size.
    ///
    /// Flows that have not ended are left out; the legend has their number.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure. Several reports on the same axes make a comparison.
    /// label : str, optional
    ///     The label of this report; by default its policy over its routing.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Where no flow has ended.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (ax=None, *, label=None))]
    fn plot_fct<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<&Bound<'py, PyAny>>,
        label: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method(
            "plot_fct",
            (slf, ax),
            Some(&[("label", label)].into_py_dict(slf.py())?),
        )
    }

    /// Draw when every coflow is in the network: a Gantt chart, with its flows as lines.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// most : int
    ///     Coflows that are drawn, the first ones.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Where the workload has no coflows.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (ax=None, *, most=40))]
    fn plot_coflows<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<&Bound<'py, PyAny>>,
        most: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("coflows", (slf, ax, most))
    }

    /// Draw the rates of flows over time.
    ///
    /// Parameters
    /// ----------
    /// flows : array of int, or int, optional
    ///     By default the first `most` flows.
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// labels : sequence of str, optional
    ///     What the flows are, in their order; by default their numbers.
    /// most : int
    ///     Flows that are drawn, the first ones.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Where `simulate` was not given ``timeline=True``, and for flows that there are not.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (flows=None, ax=None, *, labels=None, most=12))]
    fn plot_rates<'py>(
        slf: &Bound<'py, Self>,
        flows: Option<&Bound<'py, PyAny>>,
        ax: Option<&Bound<'py, PyAny>>,
        labels: Option<&Bound<'py, PyAny>>,
        most: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("rates_over_time", (slf, flows, ax, labels, most))
    }

    /// Draw how links are used over time: a row per link, coloured by its utilization.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    ///     That of the simulation, for the names of its links.
    /// links : array of int, optional
    ///     By default those that carry most, as a part of their capacity, the fullest first.
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// intervals : int
    ///     Parts of the time, over each of which the utilization is a mean.
    /// most : int
    ///     Links that are drawn.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Where `simulate` was not given ``timeline=True``, for links that there are not, and for another network.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (net, links=None, ax=None, *, intervals=200, most=30))]
    fn plot_links<'py>(
        slf: &Bound<'py, Self>,
        net: &Bound<'py, Topology>,
        links: Option<&Bound<'py, PyAny>>,
        ax: Option<&Bound<'py, PyAny>>,
        intervals: i64,
        most: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("links_over_time", (slf, net, links, ax, intervals, most))
    }

    /// The network over time, with links coloured by their utilization, as an animation.
    ///
    /// Notebooks show it by ``IPython.display.HTML(animation.to_jshtml())``; ``animation.save("network.gif")`` writes a
    /// file. For networks of some hundred links.
    ///
    /// Parameters
    /// ----------
    /// net : Topology
    ///     That of the simulation.
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// frames : int
    ///     Parts of the time, over each of which the utilization is a mean.
    /// seconds : float
    ///     How long the animation takes.
    ///
    /// Returns
    /// -------
    /// matplotlib.animation.FuncAnimation
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Where `simulate` was not given ``timeline=True``, and for another network.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (net, ax=None, *, frames=60, seconds=6.0))]
    fn animate<'py>(
        slf: &Bound<'py, Self>,
        net: &Bound<'py, Topology>,
        ax: Option<&Bound<'py, PyAny>>,
        frames: i64,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("animation", (slf, net, ax, frames, seconds))
    }

    fn __repr__(&self) -> String {
        self.core.to_string()
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("report", (slf,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let state = PyDict::new(slf.py());
        for name in FIELDS {
            state.set_item(name, slf.getattr(name)?)?;
        }
        state.set_item("timeline", &slf.get().timeline)?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }

    /// The report that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let field = |name: &str| {
            state.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("a pickled Report without {name:?}")))
        };
        let column = |name: &str| numbers::floats(name, &field(name)?);
        let status: String = field("status")?.extract()?;
        let status = RunStatus::ALL.into_iter().find(|known| known.name() == status);
        let status =
            status.ok_or_else(|| PyTypeError::new_err("a pickled Report with a status that does not exist"))?;
        let workload = field("workload")?.cast_into::<Workload>()?;
        let mut core = Core::new(status, workload.get().core.clone());
        core.policy = field("policy")?.extract()?;
        core.routing = field("routing")?.extract()?;
        core.starts = column("starts")?;
        core.completion_times = column("completion_times")?;
        core.slowdowns = column("slowdowns")?;
        core.bytes_sent = column("bytes_sent")?;
        core.mean_rates = column("mean_rates")?;
        core.copy_rates = column("copy_rates")?;
        core.link_bytes = column("link_bytes")?;
        core.link_utilization = column("link_utilization")?;
        core.peak_loads = column("peak_loads")?;
        core.over_allocation = field("over_allocation")?.extract()?;
        core.gap = field("gap")?.extract()?;
        core.update_traffic = match field("update_traffic")? {
            none if none.is_none() => None,
            traffic => Some(traffic.cast::<UpdateTraffic>()?.get().into()),
        };
        core.warmup = field("warmup")?.extract()?;
        core.time = field("time")?.extract()?;
        core.events = field("events")?.extract()?;
        core.rate_changes = field("rate_changes")?.extract()?;
        core.route_changes = field("route_changes")?.extract()?;
        core.seconds = field("seconds")?.extract()?;
        let timeline = match field("timeline")? {
            none if none.is_none() => None,
            timeline => Some(timeline.cast_into::<Timeline>()?.unbind()),
        };
        Ok(Self::new(state.py(), core, workload.get(), timeline))
    }
}

/// The parts of a report but its timeline, for pickle.
const FIELDS: [&str; 22] = [
    "status",
    "policy",
    "routing",
    "workload",
    "starts",
    "completion_times",
    "slowdowns",
    "bytes_sent",
    "mean_rates",
    "copy_rates",
    "link_bytes",
    "link_utilization",
    "peak_loads",
    "over_allocation",
    "gap",
    "update_traffic",
    "warmup",
    "time",
    "events",
    "rate_changes",
    "route_changes",
    "seconds",
];
