//! `Sensitivity`.

use std::num::NonZeroUsize;
use std::sync::Arc;

use netnum_core::internal::{check_rate, memory};
use netnum_core::sensitivity::{AtKink, Kink, OutcomeChange, ParameterChange, Sensitivity as Core};
use netnum_core::{Error, Solution, Status};
use netnum_parallel::Threads;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::by_name::Each;
use crate::detach::{EnterRust, InTurn};
use crate::error::{NumError, ProblemError, raise, setting};
use crate::numbers::{self, counted, threads_of};
use crate::problem::{OF_A_SOLUTION, Problem};

/// The largest number of entries of a dense derivative.
const DENSE: usize = 10_000_000;
/// Right-hand sides of a dense derivative of which the outcomes are held at once.
const AT_ONCE: usize = 64;

/// The derivatives of the optimum: how rates, prices and objective move with capacities, caps, floors, costs and
/// parameters.
///
/// `Solution.sensitivity` makes it. Its rates and prices are those of the solution, refined to rounding by Newton's
/// method. `jvp` is the product with the Jacobian, "what moves if this changes", `vjp` that with its
/// transpose, "which changes move this". Either takes several right-hand sides at once and needs one or two solves of
/// the link equations for each, whose matrix is factorized once.
///
/// Derivatives are those with the active constraints held: links that are full stay full. They are exact for small
/// changes; for large ones solve again.
///
/// Parameters
/// ----------
/// problem : Problem
/// rates : array of float, shape (paths,)
/// prices : array of float, shape (links,)
///     Near the optimum, such as those of a solution that was stored. They are refined, and certified then.
/// threads : int, default 1
///     Threads for the passes over the flows, of `jvp` and `vjp` too. They are used from some 30 000 paths on. The bits
///     of all derivatives do not depend on it.
///
/// Raises
/// ------
/// SensitivityError
///     For max-min and linear utilities, and for rates and prices that cannot be refined.
/// ProblemError
///     Unless there is one finite rate per path and one price per link that is finite and not negative.
///
/// See Also
/// --------
/// upgrade_study : gains of upgrades, solved again.
///
/// Notes
/// -----
/// Implicit differentiation of the optimality conditions: Fiacco, *Introduction to Sensitivity and Stability Analysis
/// in Nonlinear Programming*, 1983. With several paths per flow, flow rates are unique; where the split over paths is
/// not, the change of least norm is taken.
///
/// Examples
/// --------
/// Half of what is added to a link goes to each of its two flows, and the sum of utilities grows by the price:
///
/// >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
/// >>> sensitivity = netnum.solve(problem).sensitivity()
/// >>> sensitivity
/// Sensitivity(2 flows, 1 link, differentiable)
/// >>> change = sensitivity.jvp(capacities=[1.0])
/// >>> change["flow_rates"].round(6), round(change["objective"], 6)
/// (array([0.5, 0.5]), 0.333333)
///
/// The derivative of the first rate in everything that the problem has:
///
/// >>> gradient = sensitivity.vjp(flow_rates=[1.0, 0.0])
/// >>> list(gradient)
/// ['capacities', 'path_cost', 'coefficients', 'weight', 'alpha']
/// >>> gradient["coefficients"].round(6), gradient["weight"].round(6)
/// (array([-3.,  0.]), array([ 1.5, -1.5]))
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Sensitivity {
    core: InTurn<Core>,
    /// The problem that it is of: `Problem`.
    #[pyo3(get)]
    problem: Py<Problem>,
    /// Rate of every path at the refined point: array of float, shape (paths,).
    ///
    /// Flow rates are unique, the split over the paths of a flow may not be: that over paths of the same links is any.
    #[pyo3(get)]
    rates: Py<PyArray1<f64>>,
    /// Rate of every flow at the refined point: array of float, shape (flows,).
    #[pyo3(get)]
    flow_rates: Py<PyArray1<f64>>,
    /// Price of every link at the refined point: array of float, shape (links,).
    #[pyo3(get)]
    prices: Py<PyArray1<f64>>,
    /// Where the optimum is not differentiable: tuple of str, empty where it is.
    ///
    /// Each names a link, path or flow whose constraint holds with a multiplier of 0, such as a link that is full at
    /// price 0: more of it changes nothing and less of it does. So does each failed link and cap of 0, of which any
    /// more opens a path, and each link whose price is not unique. Links have their names where the network has.
    #[pyo3(get)]
    kinks: Py<PyTuple>,
}

impl Sensitivity {
    /// At a solution of which status, rates and prices were kept.
    pub(crate) fn at(
        problem: &Bound<'_, Problem>,
        status: Status,
        rates: Vec<f64>,
        prices: Vec<f64>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let py = problem.py();
        let held = problem.get().over_paths(OF_A_SOLUTION)?;
        let workers = Arc::new(Threads::new(threads));
        let core = py.enter_rust(|| Core::by(held, &Solution::kept(held, status, rates, prices), workers))?;
        let names = names_of(problem.get(), core.kinks());
        let kinks = PyTuple::new(py, core.kinks().iter().map(|kink| describe(*kink, &names)))?;
        let array = |values| numbers::read_only(py, values).unbind();
        Ok(Self {
            problem: problem.clone().unbind(),
            rates: array(core.rates()),
            flow_rates: array(core.flow_rates()),
            prices: array(core.prices()),
            kinks: kinks.unbind(),
            core: InTurn::new(core),
        })
    }

    /// Runs the work on the core, once calls of other threads have ended. Kinks in its errors have names.
    fn on_core<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Core) -> netnum_core::Result<T> + Send,
    ) -> PyResult<T> {
        let problem = self.problem.get();
        self.core.run(py, "Sensitivity", |core| work(core).map_err(|error| with_names(error, core.kinks(), problem)))
    }

    /// Flows, paths and links.
    fn size(&self) -> [usize; 3] {
        let problem = self.problem.get().at_first();
        [problem.flows(), problem.paths().len(), problem.links()]
    }
}

#[pymethods]
impl Sensitivity {
    #[new]
    #[pyo3(signature = (problem, rates, prices, *, threads=None))]
    fn new(
        problem: &Bound<'_, Problem>,
        rates: &Bound<'_, PyAny>,
        prices: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let threads = threads_of(threads)?;
        let (rates, prices) = (numbers::floats("rates", rates)?, numbers::floats("prices", prices)?);
        // A refined rate, which is stored, may be negative by rounding.
        let mut unusable = rates.iter().enumerate().filter(|(_, rate)| !rate.is_finite());
        unusable.try_for_each(|(path, &rate)| check_rate(path, rate)).map_err(raise)?;
        Self::at(problem, Status::Optimal, rates, prices, threads)
    }

    /// The change of the optimum per unit of a change of parameters: the derivative in that direction.
    ///
    /// At a kink, and where links are full by the same flows, it is one-sided, towards the change.
    ///
    /// Parameters
    /// ----------
    /// capacities : array of float, shape (links,) or (rows, links), or float, or dict, optional
    ///     Change of every capacity, or the same for all; likewise the others. One row per right-hand side: what is
    ///     given without rows is the same in all of them. A dict has the changes of the links, paths or flows that it
    ///     names, as in `Problem.with_capacities`, and 0 for all others.
    /// rate_cap : array of float, shape (paths,) or (rows, paths), or float, or dict, optional
    /// flow_cap : array of float, shape (flows,) or (rows, flows), or float, or dict, optional
    /// flow_floor : array of float, shape (flows,) or (rows, flows), or float, or dict, optional
    /// path_cost : array of float, shape (paths,) or (rows, paths), or float, or dict, optional
    /// coefficients : array of float, shape (crossings,) or (rows, crossings), or float, optional
    ///     Change of what every path uses of each of its links, in the order of `Paths.indices`.
    /// weight, scale, alpha, size, epsilon : array of float, (flows,) or (rows, flows), or float, or dict, optional
    ///     Changes of the parameters of utilities: `weight` or `scale`, and `alpha`, of `AlphaFair`, `size` and
    ///     `epsilon` of `MinFct`.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``rates``, ``flow_rates`` and ``prices``, arrays with the rows of the changes, if these have any, and
    ///     ``objective``, a float or an array of shape (rows,). The objective has no derivative in `alpha` where that
    ///     is 1 (nan).
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an array of another shape.
    /// NumError
    ///     For a change that is not finite.
    /// SensitivityError
    ///     For a parameter that a utility does not have, for the capacities of failed links, and where no side of the
    ///     derivative is found.
    /// TypeError
    ///     When no change is given.
    ///
    /// Examples
    /// --------
    /// Two links in a row, a flow over both and one on each. More capacity on the first takes from the flow on the
    /// second:
    ///
    /// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    /// >>> sensitivity = netnum.solve(problem).sensitivity()
    /// >>> sensitivity.jvp(capacities=np.eye(2))["flow_rates"].round(6)
    /// array([[ 0.166667,  0.833333, -0.166667],
    ///        [ 0.166667, -0.166667,  0.833333]])
    #[pyo3(signature = (
        *, capacities=None, rate_cap=None, flow_cap=None, flow_floor=None, path_cost=None, coefficients=None,
        weight=None, scale=None, alpha=None, size=None, epsilon=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "a keyword per parameter")]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        capacities: Option<&Bound<'py, PyAny>>,
        rate_cap: Option<&Bound<'py, PyAny>>,
        flow_cap: Option<&Bound<'py, PyAny>>,
        flow_floor: Option<&Bound<'py, PyAny>>,
        path_cost: Option<&Bound<'py, PyAny>>,
        coefficients: Option<&Bound<'py, PyAny>>,
        weight: Option<&Bound<'py, PyAny>>,
        scale: Option<&Bound<'py, PyAny>>,
        alpha: Option<&Bound<'py, PyAny>>,
        size: Option<&Bound<'py, PyAny>>,
        epsilon: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let [flows, paths, links] = self.size();
        let (mut rows, names) = (Rows::default(), self.problem.get().names(py)?);
        let mut read = |name: &str, given: Option<&Bound<'py, PyAny>>, each: Each| {
            let count = [links, flows, paths][each as usize];
            let given = given.map(|given| names.filled(name, given, each, || vec![0.0; count])).transpose()?;
            rows.read(name, given.as_ref(), count, each.word())
        };
        let capacities = read("capacities", capacities, Each::Link)?;
        let rate_caps = read("rate_cap", rate_cap, Each::Path)?;
        let flow_caps = read("flow_cap", flow_cap, Each::Flow)?;
        let flow_floors = read("flow_floor", flow_floor, Each::Flow)?;
        let path_costs = read("path_cost", path_cost, Each::Path)?;
        let weight = read("weight", weight, Each::Flow)?;
        let scale = read("scale", scale, Each::Flow)?;
        let alpha = read("alpha", alpha, Each::Flow)?;
        let size = read("size", size, Each::Flow)?;
        let epsilon = read("epsilon", epsilon, Each::Flow)?;
        let crossings = self.problem.get().at_first().paths().indices().len();
        let coefficients = rows.read("coefficients", coefficients, crossings, "link of every path")?;
        rows.check(
            "jvp needs a change: capacities, rate_cap, flow_cap, flow_floor, path_cost, coefficients, or a parameter \
             of the utilities",
        )?;
        rows.check_memory(flows + paths + links)?;
        let change = |row: usize| ParameterChange {
            capacities: capacities.row(row),
            rate_caps: rate_caps.row(row),
            flow_caps: flow_caps.row(row),
            flow_floors: flow_floors.row(row),
            path_costs: path_costs.row(row),
            coefficients: coefficients.row(row),
            weight: weight.row(row),
            scale: scale.row(row),
            alpha: alpha.row(row),
            size: size.row(row),
            epsilon: epsilon.row(row),
        };
        let changes: Vec<_> = (0..rows.number()).map(change).collect();
        let found = self.on_core(py, |core| core.forward(&changes))?;
        let out = PyDict::new(py);
        out.set_item("rates", rows.stacked(py, found.iter().map(|one| &one.rates), paths)?)?;
        out.set_item("flow_rates", rows.stacked(py, found.iter().map(|one| &one.flow_rates), flows)?)?;
        out.set_item("prices", rows.stacked(py, found.iter().map(|one| &one.prices), links)?)?;
        let objective: Vec<f64> = found.iter().map(|one| one.objective).collect();
        match rows.given {
            Some(_) => out.set_item("objective", PyArray1::from_vec(py, objective))?,
            None => out.set_item("objective", objective[0])?,
        }
        Ok(out)
    }

    /// The derivative of a function of the optimum in every parameter, from its derivatives in rates, prices and
    /// objective.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float, shape (paths,) or (rows, paths), or float, optional
    ///     The derivative of the function in the rate of every path, or the same for all; likewise the others. One row
    ///     per function: what is given without rows is the same in all of them.
    /// flow_rates : array of float, shape (flows,) or (rows, flows), or float, optional
    /// prices : array of float, shape (links,) or (rows, links), or float, optional
    /// objective : float, or array of float of shape (rows,), optional
    /// at_kink : {"refuse", "hold", "release"}
    ///     The side that is taken where there are `kinks`: none, the one on which these constraints stay active, or the
    ///     one on which they are inactive. Links that are full by the same flows count alike with either of the two.
    ///     Failed links and caps of 0 stay closed with either. The gradient of a network that is trained is usually
    ///     taken on one side.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``capacities``, of shape (links,) or (rows, links), and likewise ``path_cost`` and ``coefficients``, of
    ///     shape (crossings,) in the order of `Paths.indices`, which need not be there, and what the problem has: the
    ///     parameters of the utilities, of which each flow has its own, ``rate_cap``, ``flow_cap`` and ``flow_floor``.
    ///     The derivative in a parameter that is the same for all flows is the sum over them.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For an array of another shape.
    /// NumError
    ///     For a derivative that is not finite, and another `at_kink`.
    /// SensitivityError
    ///     At a kink, and where prices of full links are not unique, unless `at_kink` names a side. The derivative
    ///     of `objective` alone is refused at a kink only where multipliers are not unique. To a side it is there the
    ///     derivative of the rates times U'.
    /// TypeError
    ///     When no derivative is given.
    ///
    /// Examples
    /// --------
    /// Whose weights matter most to the rate of the flow over both links?
    ///
    /// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    /// >>> sensitivity = netnum.solve(problem).sensitivity()
    /// >>> sensitivity.vjp(flow_rates=[1.0, 0.0, 0.0])["weight"].round(6)
    /// array([ 0.222222, -0.111111, -0.111111])
    #[pyo3(signature = (*, rates=None, flow_rates=None, prices=None, objective=None, at_kink="refuse"))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        rates: Option<&Bound<'py, PyAny>>,
        flow_rates: Option<&Bound<'py, PyAny>>,
        prices: Option<&Bound<'py, PyAny>>,
        objective: Option<&Bound<'py, PyAny>>,
        at_kink: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let [flows, paths, links] = self.size();
        let at_kink = match at_kink {
            "refuse" => AtKink::Refuse,
            "hold" => AtKink::Hold,
            "release" => AtKink::Release,
            other => return Err(setting("at_kink", format!("{other:?}"), r#""refuse", "hold" or "release""#)),
        };
        let mut rows = Rows::default();
        let rates = rows.read("rates", rates, paths, "path")?;
        let flow_rates = rows.read("flow_rates", flow_rates, flows, "flow")?;
        let prices = rows.read("prices", prices, links, "link")?;
        let objective = rows.read_numbers("objective", objective)?;
        rows.check("vjp needs a derivative: in rates, flow_rates, prices or objective")?;
        let core = self.problem.get().at_first();
        let crossings = core.paths().indices().len();
        rows.check_memory(links + 8 * flows + 2 * paths + crossings)?;
        let outcome = |row: usize| OutcomeChange {
            rates: rates.row(row),
            flow_rates: flow_rates.row(row),
            prices: prices.row(row),
            objective: objective.row(row).first().copied().unwrap_or_default(),
        };
        let outcomes: Vec<_> = (0..rows.number()).map(outcome).collect();
        let (found, parameters) =
            self.on_core(py, |core| Ok((core.reverse(&outcomes, at_kink)?, core.parameters())))?;
        let (problem, out) = (core, PyDict::new(py));
        out.set_item("capacities", rows.stacked(py, found.iter().map(|one| &one.capacities), links)?)?;
        out.set_item("path_cost", rows.stacked(py, found.iter().map(|one| &one.path_costs), paths)?)?;
        out.set_item("coefficients", rows.stacked(py, found.iter().map(|one| &one.coefficients), crossings)?)?;
        for name in parameters {
            out.set_item(name.name(), rows.stacked(py, found.iter().map(|one| one.of(name)), flows)?)?;
        }
        if problem.has_rate_caps() {
            out.set_item("rate_cap", rows.stacked(py, found.iter().map(|one| &one.rate_caps), paths)?)?;
        }
        if problem.has_flow_caps() {
            out.set_item("flow_cap", rows.stacked(py, found.iter().map(|one| &one.flow_caps), flows)?)?;
        }
        if problem.has_flow_floors() {
            out.set_item("flow_floor", rows.stacked(py, found.iter().map(|one| &one.flow_floors), flows)?)?;
        }
        Ok(out)
    }

    /// The derivative of every flow's rate in every capacity: array of float, shape (flows, links).
    ///
    /// For small problems: as many solves as there are links. Where it has two sides it is that of more capacity. A
    /// column is nan where the link has failed.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For more than 1e7 entries.
    /// SensitivityError
    ///     Where no side of the derivative is found.
    #[getter]
    fn d_rates_d_capacity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [flows, _, links] = self.size();
        if flows.saturating_mul(links) > DENSE {
            return Err(NumError::new_err(format!(
                "d_rates_d_capacity would have {flows} x {links} entries, more than {DENSE}: \
                 jvp has the columns that are asked for, vjp the rows"
            )));
        }
        let matrix = self.on_core(py, |core| {
            let served: Vec<usize> =
                (0..links).filter(|&link| !core.kinks().contains(&Kink::FailedLink(link as u32))).collect();
            let mut matrix = vec![f64::NAN; flows * links];
            for some in served.chunks(AT_ONCE) {
                let more = |&link: &usize| {
                    let mut capacities = vec![0.0; links];
                    capacities[link] = 1.0;
                    ParameterChange { capacities, ..ParameterChange::default() }
                };
                let changes: Vec<_> = some.iter().map(more).collect();
                for (link, change) in some.iter().zip(core.forward(&changes)?) {
                    for (row, rate) in matrix.chunks_mut(links).zip(&change.flow_rates) {
                        row[*link] = *rate;
                    }
                }
            }
            Ok(matrix)
        })?;
        PyArray1::from_vec(py, matrix).reshape([flows, links])
    }

    /// Who gains and who loses when a link gets more capacity: a table of flows, the largest gain first.
    ///
    /// Parameters
    /// ----------
    /// link : int, str, pair of nodes, or sequence of these
    ///     A link by its number, its name or its nodes; a fiber by its name, which is both directions; several of them
    ///     for changes of all.
    /// added : float
    ///     The capacity that each of them gets, negative for less.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     A row per flow: source and destination, where the network has names, rate, and change of rate to first
    ///     order in `added`.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a link that does not exist or is named twice, and for no link.
    /// SensitivityError
    ///     As `jvp`.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 6")
    /// >>> problem = netnum.Problem(net, [["A", "B"], ["B", "C"], ["A", "B", "C"]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem).sensitivity().gains("B -> C", added=0.1).round(3)
    ///      source destination   rate  change
    /// flow
    /// 1         B           C  3.573    0.07
    /// 2         A           C  2.427    0.03
    /// 0         A           B  7.573   -0.03
    #[pyo3(signature = (link, added=1.0))]
    fn gains<'py>(slf: &Bound<'py, Self>, link: &Bound<'py, PyAny>, added: f64) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.frames")?.call_method1("gains", (slf, link, added))
    }

    /// Draw who gains and who loses when a link gets more capacity.
    ///
    /// Parameters
    /// ----------
    /// link : int, str, pair of nodes, or sequence of these
    ///     As of `gains`.
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// added : float
    ///     The capacity that each link gets.
    /// most : int
    ///     The largest number of flows that are drawn: those that gain most and those that lose most, half of each, or
    ///     more of one where there are fewer of the other.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a `most` below 1.
    /// ProblemError, SensitivityError
    ///     As `gains`.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (link, ax=None, *, added=1.0, most=20))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        link: &Bound<'py, PyAny>,
        ax: Option<&Bound<'py, PyAny>>,
        added: f64,
        most: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("gains", (slf, link, ax, added, most))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let [flows, paths, links] = self.size();
        let paths = if paths == flows { String::new() } else { format!("{}, ", counted(paths, "path")) };
        let kinks = self.kinks.bind(py).len();
        let kinks = if kinks == 0 { "differentiable".into() } else { counted(kinks, "kink") };
        format!("Sensitivity({}, {paths}{}, {kinks})", counted(flows, "flow"), counted(links, "link"))
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("sensitivity", (slf,))
    }

    /// As of `Problem`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.problem)
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<Problem>, Py<PyArray1<f64>>, Py<PyArray1<f64>>) {
        (self.problem.clone_ref(py), self.rates.clone_ref(py), self.prices.clone_ref(py))
    }
}

/// The names of the links of a network, where there are kinks that may need them.
fn names_of(problem: &Problem, kinks: &[Kink]) -> Vec<String> {
    let net = problem.topology.as_ref().filter(|_| !kinks.is_empty());
    net.map_or_else(Vec::new, |net| net.get().core.link_names())
}

/// A kink in words, with the name of its link where links have names.
fn describe(kink: Kink, names: &[String]) -> String {
    let text = kink.to_string();
    match kink.link().and_then(|link| Some((format!("link {link}"), names.get(link as usize)?))) {
        Some((link, name)) => text.replacen(&link, &format!("{link} ({name})"), 1),
        None => text,
    }
}

/// This error, with the names of the links whose kinks it describes.
fn with_names(error: Error, kinks: &[Kink], problem: &Problem) -> Error {
    match error {
        Error::NotDifferentiable { what } => {
            let names = names_of(problem, kinks);
            let named = |what: String, kink: &Kink| what.replace(&kink.to_string(), &describe(*kink, &names));
            Error::NotDifferentiable { what: kinks.iter().fold(what, named) }
        }
        error => error,
    }
}

/// The right-hand sides of one call: how many rows they have, if any argument has rows.
#[derive(Default)]
struct Rows {
    is_any: bool,
    given: Option<usize>,
}

/// The values of one argument: the same in every row, or one row after the other.
struct Values {
    values: Vec<f64>,
    columns: usize,
    has_rows: bool,
}

impl Values {
    /// Those of a row; none where nothing was given.
    fn row(&self, row: usize) -> Vec<f64> {
        let start = if self.has_rows { row * self.columns } else { 0 };
        self.values.get(start..start + self.columns).unwrap_or_default().to_vec()
    }
}

impl Rows {
    /// A list: a number for all columns, one per column, or a matrix with as many rows as the others.
    fn read(&mut self, name: &str, value: Option<&Bound<'_, PyAny>>, columns: usize, per: &str) -> PyResult<Values> {
        let expected = |rows: &str| format!("({columns},), one per {per}, or ({rows}, {columns})");
        self.read_rows(name, value, &[columns], expected)
    }

    /// A number, or one per row.
    fn read_numbers(&mut self, name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Values> {
        self.read_rows(name, value, &[], |rows| format!("a number, or ({rows},)"))
    }

    /// Values of this shape in every row.
    fn read_rows(
        &mut self,
        name: &str,
        value: Option<&Bound<'_, PyAny>>,
        of_row: &[usize],
        expected: impl Fn(&str) -> String,
    ) -> PyResult<Values> {
        let columns = of_row.iter().product();
        let Some(value) = value else { return Ok(Values { values: Vec::new(), columns, has_rows: false }) };
        self.is_any = true;
        let (values, shape) = numbers::floats_of_any_shape(name, value)?;
        match shape[..] {
            [] => Ok(Values { values: vec![values[0]; columns], columns, has_rows: false }),
            [..] if shape == of_row => Ok(Values { values, columns, has_rows: false }),
            [rows, ref found @ ..] if found == of_row && self.given.is_none_or(|given| given == rows) => {
                self.given = Some(rows);
                Ok(Values { values, columns, has_rows: true })
            }
            _ => {
                let shape = PyTuple::new(value.py(), &shape)?;
                let expected = expected(&self.given.map_or("rows".into(), |rows| rows.to_string()));
                Err(ProblemError::new_err(format!("{name} has shape {shape}, expected {expected}")))
            }
        }
    }

    fn check(&self, message: &'static str) -> PyResult<()> {
        if self.is_any { Ok(()) } else { Err(PyTypeError::new_err(message)) }
    }

    fn check_memory(&self, columns: usize) -> PyResult<()> {
        let bytes = self.number() as u128 * columns as u128 * 8;
        memory::check(&format!("derivatives for {}", counted(self.number(), "row")), bytes).map_err(raise)
    }

    fn number(&self) -> usize {
        self.given.unwrap_or(1)
    }

    /// Lists as an array with the rows of the arguments.
    fn stacked<'py, 'a>(
        &self,
        py: Python<'py>,
        lists: impl Iterator<Item = &'a Vec<f64>>,
        columns: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<f64> = lists.flatten().copied().collect();
        let array = PyArray1::from_vec(py, all);
        match self.given {
            Some(rows) => Ok(array.reshape([rows, columns])?.into_any()),
            None => Ok(array.into_any()),
        }
    }
}
