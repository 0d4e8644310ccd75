//! `Timeline`.

use netnum_sim::{Steps, Timeline as Core};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::detach::EnterRust;
use crate::error::{raise, setting};
use crate::numbers;

/// Times and values.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// `indptr`, times and values of all items.
type Parts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

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
#[derive(PartialEq)]
pub(crate) struct Timeline(pub(super) Core);

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
        curve(py, &self.0.rates, "flow", flow)
    }

    /// When the load of a link changes, in seconds, and its load from then on, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// link : int
    ///
    /// Returns
    /// -------
    /// tuple of array of float, shape (changes,), twice
    ///     From time 0 on.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For a link that there is not.
    fn loads<'py>(&self, py: Python<'py>, link: isize) -> PyResult<Curve<'py>> {
        curve(py, &self.0.loads, "link", link)
    }

    /// When the capacity of a link changes, in seconds, and its capacity from then on, in bit/s.
    ///
    /// Parameters
    /// ----------
    /// link : int
    ///
    /// Returns
    /// -------
    /// tuple of array of float, shape (changes,), twice
    ///     From time 0 on: 0 while it has failed, inf without a limit.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     For a link that there is not.
    fn capacities<'py>(&self, py: Python<'py>, link: isize) -> PyResult<Curve<'py>> {
        curve(py, &self.0.capacities, "link", link)
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
        let rates = py.enter_rust(|| self.0.mean_rates(&edges))?;
        PyArray1::from_vec(py, rates).reshape([self.0.rates.len(), edges.len() - 1])
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
        let parts = py.enter_rust(|| self.0.mean_utilization(&edges))?;
        PyArray1::from_vec(py, parts).reshape([self.0.loads.len(), edges.len() - 1])
    }

    fn __repr__(&self) -> String {
        let changes = self.0.rates.parts().1.len();
        let (flows, links) = (self.0.rates.len(), self.0.loads.len());
        format!(
            "Timeline({} and {}, {} of rates)",
            numbers::counted(flows, "flow"),
            numbers::counted(links, "link"),
            numbers::counted(changes, "change")
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Parts<'py>, Parts<'py>, Parts<'py>))> {
        let (py, core) = (slf.py(), &slf.get().0);
        let parts = |steps: &Steps| {
            let (indptr, times, values) = steps.parts();
            let floats = |values: &[f64]| numbers::read_only(py, values.to_vec());
            Ok::<_, PyErr>((numbers::long_indices(py, indptr)?, floats(times), floats(values)))
        };
        let state = (parts(&core.rates)?, parts(&core.loads)?, parts(&core.capacities)?);
        Ok((slf.get_type().getattr("_restore")?, state))
    }

    /// The timeline that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(
        _class: &Bound<'_, PyType>,
        rates: [Bound<'_, PyAny>; 3],
        loads: [Bound<'_, PyAny>; 3],
        capacities: [Bound<'_, PyAny>; 3],
    ) -> PyResult<Self> {
        let steps = |[indptr, times, values]: [Bound<'_, PyAny>; 3]| {
            let place = |place: i64| usize::try_from(place).map_err(|_| setting("indptr", place, "a number >= 0"));
            let indptr = numbers::integers("indptr", &indptr)?.into_iter().map(place).collect::<PyResult<_>>()?;
            let (times, values) = (numbers::floats("times", &times)?, numbers::floats("values", &values)?);
            Steps::new(indptr, times, values).map_err(raise)
        };
        Core::new(steps(rates)?, steps(loads)?, steps(capacities)?).map(Self).map_err(raise)
    }
}

fn curve<'py>(py: Python<'py>, steps: &Steps, what: &str, item: isize) -> PyResult<Curve<'py>> {
    let (times, values) = steps.of(numbers::place(what, item, steps.len())?);
    Ok((numbers::read_only(py, times.to_vec()), numbers::read_only(py, values.to_vec())))
}
