//! `max_min`.

use std::sync::Arc;

use netnum_core::MaxMin;
use netnum_core::internal::MaxMinBasis;
use netnum_parallel::Threads;
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::detach::EnterRust;
use crate::error::{setting, wrong_type};
use crate::numbers::threads_of;
use crate::problem::Problem;

/// The start of a next search, kept by Python.
#[pyclass(frozen, module = "netnum._core")]
struct Basis(MaxMinBasis);

/// The max-min fair rates: no flow's fair share can be raised without lowering one that is not larger.
///
/// The fair share of a flow is its rate per weight for `AlphaFair`, and the f of B(f) for `BandwidthFunction`, whatever
/// their alpha; this is where the optimum goes as alpha grows. Exact to rounding, by water-filling; with several paths
/// per flow by a dual simplex method that follows the fair share as it rises, and a check of every flow's bottleneck:
/// milliseconds for 100 flows on a backbone, a second or two for 5000, minutes for 1e5.
///
/// Parameters
/// ----------
/// problem : Problem, or array of float, Topology or networkx graph
///     A network takes `paths` as well: the rates are those of ``netnum.Problem(network, paths)``, whose flows all have
///     the same weight.
/// paths : optional
///     As in `Problem`, where `problem` is a network.
/// start : MaxMinRates, optional
///     What `max_min` has returned for a problem with the same paths, whose capacities, caps or utilities may differ.
///     The rates of the flows are the same without it, to 1e-9; with several paths per flow they are found several
///     times faster where a few demands have changed. What was approximate or has been pickled has nothing to start
///     from, and is ignored.
/// accuracy : float, optional
///     Between 0 and 1: rates need not be exact, for 1e5 flows with several paths and more. The exact method ends as
///     soon as its rates are proven to be that near to max-min fair, and stops after 2.6e9 operations (some seconds)
///     with the rates that it has come to; `unfairness` is what is proven of them. With one path per flow the rates
///     are exact.
/// threads : int, default 1
///     Threads for the passes over the flows: sums per link and the check. They are used where every flow has one path
///     and there are some 30 000 flows or more. The bits of the rates do not depend on it.
///
/// Returns
/// -------
/// MaxMinRates, shape (paths,)
///     An array with the rate of every path, in the units of the capacities, and `flow_rates`, `status` and
///     `unfairness`. Paths over a failed link get 0, as do those that are capped at 0 or whose flow is.
///
/// Raises
/// ------
/// MethodError
///     When a utility has no fair share (`Linear`, `MinFct`, a user-defined one), or when rounding has kept rates
///     over several paths from being proven to 1e-5 (`solve` then returns the best there is, with its gap).
/// ProblemError
///     When `start` is of other paths; the message names the first one.
/// NumError
///     When `accuracy` is not between 0 and 1, or is given together with `start`.
///
/// Notes
/// -----
/// Sources: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2; for bandwidth functions Kumar et al., *BwE*, SIGCOMM
/// 2015.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1]], netnum.AlphaFair(1.0, weight=[1.0, 3.0, 1.0]))
/// >>> netnum.max_min(problem).rates.round(6)
/// array([0.25, 0.75, 1.25])
///
/// Flows that count alike need no utility:
///
/// >>> netnum.max_min([1.0, 2.0], [[0], [0, 1], [1]]).rates.round(6)
/// array([0.5, 0.5, 1.5])
#[pyfunction]
#[pyo3(signature = (problem, paths=None, *, start=None, accuracy=None, threads=None))]
pub(crate) fn max_min<'py>(
    py: Python<'py>,
    problem: &Bound<'py, PyAny>,
    paths: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
    accuracy: Option<f64>,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = match (problem.cast::<Problem>(), paths) {
        (Ok(problem), None) => problem.clone(),
        (Ok(_), Some(_)) => return Err(PyTypeError::new_err("max_min has paths and a Problem, which has its own")),
        (Err(_), None) => return Err(wrong_type("problem", "a Problem, or a network with paths", problem)),
        (Err(_), Some(paths)) => py.get_type::<Problem>().call1((problem, paths))?.cast_into()?,
    };
    let core = problem.get().over_paths("solve(Problem(net, demands, \"max-min\")) has their max-min rates")?;
    let workers = Arc::new(Threads::new(threads_of(threads)?));
    let kind = py.import("netnum._max_min_rates")?.getattr("MaxMinRates")?;
    if let Some(start) = start
        && !start.is_instance(&kind)?
    {
        return Err(wrong_type("start", "what max_min has returned", start));
    }
    if start.is_some() && accuracy.is_some() {
        return Err(setting("accuracy", accuracy.unwrap_or_default(), "None beside start"));
    }
    let basis: Option<Bound<'py, Basis>> = match start {
        Some(start) => start.getattr("_basis")?.extract()?,
        None => None,
    };
    let before = basis.as_ref().map(|basis| &basis.get().0);
    let found = py.enter_rust(|| MaxMin::by(core, before, accuracy, workers))?;
    let basis = found.has_basis().then(|| Py::new(py, Basis(found.basis().clone()))).transpose()?;
    let own_flow_rates = match core.pairs_flows_with_paths() {
        true => None,
        false => Some(core.flow_rates(&found.rates).map_err(crate::error::raise)?),
    };
    let rates = PyArray1::from_vec(py, found.rates);
    let flow_rates = own_flow_rates.map_or_else(|| rates.clone(), |flow_rates| PyArray1::from_vec(py, flow_rates));
    kind.call1((rates, flow_rates, found.unfairness, accuracy, basis))
}
