//! `Infeasibility`.

use netnum_core::internal::below_one;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyTraverseError, PyVisit};

use super::solution::{of_text, problem_or, text};
use crate::numbers;
use crate::problem::Problem;

/// Why the floors of a problem do not fit: an inequality that no rates satisfy.
///
/// Over the flows in it, their floors m, open paths p and the caps r of these,
///
/// .. code-block:: text
///
///     Σ_f v_f m_f > Σ_l c_l p_l + Σ_p r_p (v_f − q_p)₊        q_p = Σ_l a_lp p_l
///
/// Rates that keep the floors would pay the left side at least, and the links and caps are worth no more than the right
/// side. Without any one of the flows it no longer holds at these prices. They need not be those that limit `fraction`,
/// which is over all floors.
///
/// Examples
/// --------
/// >>> net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
/// >>> pairs = [("A", "C"), ("B", "C")]
/// >>> problem = netnum.Problem(net, net.k_shortest_paths(pairs, 2), flow_floor=[9.0, 2.0])
/// >>> proof = netnum.solve(problem).infeasibility
/// >>> proof
/// Infeasibility(the floors of A to C and B to C need more than B -> C and A -> C; 0.9091 of every floor fits)
/// >>> proof.cut, proof.flows
/// (('B -> C', 'A -> C'), array([0, 1]))
/// >>> proof.to_pandas("flows").round(3)
///      source destination  floor  price   pays
/// flow
/// 0         A           C    9.0  0.091  0.818
/// 1         B           C    2.0  0.091  0.182
#[pyclass(frozen, eq, module = "netnum")]
pub(crate) struct Infeasibility {
    pub(super) core: netnum_core::Infeasibility,
    /// None without the problem, as for `Solution`.
    pub(super) problem: Option<Py<Problem>>,
}

impl PartialEq for Infeasibility {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core
    }
}

impl Infeasibility {
    /// What a function of `netnum._show.proofs` has for it.
    fn shown<'py>(slf: &Bound<'py, Self>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("netnum._show.proofs")?;
        module.call_method1(function, (slf, slf.get().problem.as_ref()))
    }
}

#[pymethods]
impl Infeasibility {
    /// The links with a price in it: array of int.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.links)
    }

    /// The flows in it, none of which can be left out at these prices: array of int.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.flows)
    }

    /// The paths whose caps (`Problem.rate_cap`) have a price in it: array of int.
    #[getter]
    fn paths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.paths)
    }

    /// The price p of every link: array of float, shape (links,).
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.prices.clone())
    }

    /// The price v of every flow, 0 of those that are not in it: array of float, shape (flows,).
    #[getter]
    fn flow_prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.flow_prices.clone())
    }

    /// The price (v − q)₊ of the cap of every path, 0 without a cap and of flows that are not in it: array of float,
    /// shape (paths,).
    #[getter]
    fn cap_prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.cap_prices.clone())
    }

    /// The largest part of all floors that fits at once, those of flows that are not in the proof too: float below 1.
    #[getter]
    fn fraction(&self) -> f64 {
        self.core.fraction
    }

    /// The same as it is shown.
    #[getter]
    fn _fraction(&self) -> String {
        below_one(self.core.fraction)
    }

    /// The names of the links in it, as in `Topology.link_names`: tuple of str, ``link 3`` without a network or without
    /// the problem. None where only caps of paths limit the flows.
    #[getter]
    fn cut<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::shown(slf, "cut")
    }

    /// The terms of the proof as a table, with the names of the network.
    ///
    /// Parameters
    /// ----------
    /// of : {"flows", "links", "paths"}
    ///     The sum that has a row for each of its terms: what the flows in it pay for their floors, or what the links
    ///     or the caps of paths in it are worth.
    /// problem : Problem, optional
    ///     By default that of the solution; needed for one of `Solutions` and for one from a pickle.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     Of flows: source, destination, floor, price and what it pays. Of links: name, capacity, price and worth. Of
    ///     paths: flow, links, cap, price and worth.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For another `of`, and without a problem.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    #[pyo3(signature = (of="flows", *, problem=None))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        of: &str,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = problem_or(slf.py(), problem, slf.get().problem.as_ref())?;
        slf.py().import("netnum._show.frames")?.call_method1("infeasibility", (problem, slf, of))
    }

    /// The rate of every path; they carry that part of every floor: array of float, shape (paths,).
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.rates.clone())
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::shown(slf, "summary")
    }

    /// As of `Problem`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self.problem.as_ref())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("_restore")?, (text(&slf.get().core)?,)))
    }

    /// What `__reduce__` has written.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Ok(Self { core: of_text(text)?, problem: None })
    }
}
