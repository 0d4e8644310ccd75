//! `Timeline`.

use netnum_sim::{Steps, Timeline as Core};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::detach::EnterRust;
use crate::error::{raise, setting};
use crate::numbers;
use crate::topology::Topology;

/// Times and values.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// `indptr`, times and values of all items.
type Parts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Rates, loads, capacities and the network.
type State<'py> = (Parts<'py>, Parts<'py>, Parts<'py>, Py<Topology>);

/// The rates of flows and the loads of links over the time of a simulation, as steps: `Report.timeline`.
///
/// Rates are constant between events, so that a step per change is all there is to know: a value holds from its time to
/// that of the next one, the last one to the end of the simulation. Before the first one it is 0.
///
/// Examples
/// --------
/// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
/// >>> workload = netnum.sim.Workload([0.0, 1.0], [0, 0], [1, 1], [2.0, 1.0])
/// >>> timeline = netnum.sim.simulate(net, workload, timeline=True).timeline
/// >>> timeline.rates(0)
/// (array([0., 1., 3.]), array([8., 4., 0.]))
/// >>> timeline.mean_rates([0.0, 1.0, 2.0, 3.0])
/// array([[8., 4., 4.],
///        [0., 4., 4.]])
#[pyclass(frozen, eq, module = "netnum.sim")]
pub(crate) struct Timeline {
    core: Core,
    /// That of the simulation.
    net: Py<Topology>,
}

impl Timeline {
    pub(super) fn new(core: Core, net: &Bound<'_, Topology>) -> Self {
        Self { core, net: net.clone().unbind() }
    }

    /// A link that is given by its number, its name or its two nodes.
    fn link(&self, link: &Bound<'_, PyAny>) -> PyResult<usize> {
        match link.extract::<isize>() {
            Ok(number) => numbers::place("link", number, self.core.loads.len()),
            Err(_) => Topology::link_between(self.net.bind(link.py()), "link", link),
        }
    }
}

impl PartialEq for Timeline {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core
    }
}

#[pymethods]
impl Timeline {
    /// When the rate of a flow changes, in seconds, and its rate from then on, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// flow : int
    ///
    /// Returns
    /// -------
    /// tuple of array of float, shape (changes,), twice
    ///     From its start on; the rate is 0 from its end on. Empty for a flow that has not started.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For a flow that there is not.
    fn rates<'py>(&self, py: Python<'py>, flow: isize) -> PyResult<Curve<'py>> {
        Ok(curve(py, &self.core.rates, numbers::place("flow", flow, self.core.rates.len())?))
    }

    /// When the load of a link changes, in seconds, and its load from then on, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// link : int, str or (node, node)
    ///
    /// Returns
    /// -------
    /// tuple of array of float, shape (changes,), twice
    ///     From time 0 on.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For the number of a link that there is not.
    /// ProblemError
    ///     For two nodes that no link joins.
    fn loads<'py>(&self, py: Python<'py>, link: &Bound<'py, PyAny>) -> PyResult<Curve<'py>> {
        Ok(curve(py, &self.core.loads, self.link(link)?))
    }

    /// When the capacity of a link changes, in seconds, and its capacity from then on, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// link : int, str or (node, node)
    ///
    /// Returns
    /// -------
    /// tuple of array of float, shape (changes,), twice
    ///     From time 0 on: 0 while it has failed, inf without a limit.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For the number of a link that there is not.
    /// ProblemError
    ///     For two nodes that no link joins.
    fn capacities<'py>(&self, py: Python<'py>, link: &Bound<'py, PyAny>) -> PyResult<Curve<'py>> {
        Ok(curve(py, &self.core.capacities, self.link(link)?))
    }

    /// The mean rate of every flow in every interval between two edges, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// edges : array of float, shape (intervals + 1,)
    ///     Seconds, increasing; such as ``np.linspace(0, report.time, 101)``.
    ///
    /// Returns
    /// -------
    /// array of float, shape (flows, intervals)
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For fewer than two edges, and for edges that do not increase.
    fn mean_rates<'py>(&self, py: Python<'py>, edges: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let edges = numbers::floats("edges", edges)?;
        let rates = py.enter_rust(|| self.core.mean_rates(&edges))?;
        PyArray1::from_vec(py, rates).reshape([self.core.rates.len(), edges.len() - 1])
    }

    /// What went over every link in every interval between two edges, as a part of what could have: nan while it had
    /// failed, and without a limit.
    ///
    /// Parameters
    /// ----------
    /// edges : array of float, shape (intervals + 1,)
    ///     As for `mean_rates`.
    ///
    /// Returns
    /// -------
    /// array of float, shape (links, intervals)
    ///
    /// Raises
    /// ------
    /// NumError
    ///     As `mean_rates` does.
    fn mean_utilization<'py>(&self, py: Python<'py>, edges: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let edges = numbers::floats("edges", edges)?;
        let parts = py.enter_rust(|| self.core.mean_utilization(&edges))?;
        PyArray1::from_vec(py, parts).reshape([self.core.loads.len(), edges.len() - 1])
    }

    fn __repr__(&self) -> String {
        let changes = self.core.rates.parts().1.len();
        let (flows, links) = (self.core.rates.len(), self.core.loads.len());
        format!(
            "Timeline({} and {}, {} of rates)",
            numbers::counted(flows, "flow"),
            numbers::counted(links, "link"),
            numbers::counted(changes, "change")
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, State<'py>)> {
        let (py, Self { core, net }) = (slf.py(), slf.get());
        let parts = |steps: &Steps| {
            let (indptr, times, values) = steps.parts();
            let floats = |values: &[f64]| numbers::read_only(py, values.to_vec());
            Ok::<_, PyErr>((numbers::long_indices(py, indptr)?, floats(times), floats(values)))
        };
        let state = (parts(&core.rates)?, parts(&core.loads)?, parts(&core.capacities)?, net.clone_ref(py));
        Ok((slf.get_type().getattr("_restore")?, state))
    }

    /// The timeline that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(
        _class: &Bound<'_, PyType>,
        rates: [Bound<'_, PyAny>; 3],
        loads: [Bound<'_, PyAny>; 3],
        capacities: [Bound<'_, PyAny>; 3],
        net: Py<Topology>,
    ) -> PyResult<Self> {
        let steps = |[indptr, times, values]: [Bound<'_, PyAny>; 3]| {
            let place = |place: i64| usize::try_from(place).map_err(|_| setting("indptr", place, "a number >= 0"));
            let indptr = numbers::integers("indptr", &indptr)?.into_iter().map(place).collect::<PyResult<_>>()?;
            let (times, values) = (numbers::floats("times", &times)?, numbers::floats("values", &values)?);
            Steps::new(indptr, times, values).map_err(raise)
        };
        let core = Core::new(steps(rates)?, steps(loads)?, steps(capacities)?).map_err(raise)?;
        Ok(Self { core, net })
    }
}

fn curve<'py>(py: Python<'py>, steps: &Steps, item: usize) -> Curve<'py> {
    let (times, values) = steps.of(item);
    (numbers::read_only(py, times.to_vec()), numbers::read_only(py, values.to_vec()))
}
