//! `Solution`.

use netnum_core::{Settings, Status};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use super::{Infeasibility, PriorityClass, Trace};
use crate::certificate::Certificate;
use crate::error::{NumError, SensitivityError};
use crate::numbers::{self, threads_of};
use crate::problem::Problem;
use crate::sensitivity::Sensitivity;
use crate::topology::pairs::two_nodes;

/// Rates, prices and their proof, in the units of the problem.
///
/// The arrays are the memory of the solver, moved and not copied; they are read-only.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> solution = netnum.solve(problem)
/// >>> solution.status, solution.gap <= 1e-6
/// ('optimal', True)
/// >>> solution.rates.round(3), solution.prices.round(2)
/// (array([0.333, 0.667, 0.667]), array([1.5, 1.5]))
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Solution {
    /// Why the solve ended. The rates are feasible in any case, and the best that were certified.
    ///
    /// - ``"optimal"``: the certificate passed, as `tol` and `stop` require;
    /// - ``"stalled"``: more iterations would change nothing, because of rounding or because the method is done. The
    ///   gap bounds the error of the rates;
    /// - ``"max_iterations"``, ``"time_limit"``: this limit came first;
    /// - ``"stopped"``: the callback returned False;
    /// - ``"fewer_paths"``: the best over the paths that `max_paths` leaves, and not over all: the gap is the distance
    ///   to the optimum over all, as far as it is proven;
    /// - ``"infeasible"``: the floors of the flows do not fit, as `infeasibility` proves. The rates carry the largest
    ///   part of all of them.
    #[pyo3(get)]
    status: String,
    /// The method that ran.
    #[pyo3(get)]
    method: String,
    /// Rate of every path; feasible. Array of float, shape (paths,), by the number of the path: `rate` is by name.
    #[pyo3(get)]
    rates: Py<PyArray1<f64>>,
    /// Rate of every flow, the sum over its paths: array of float, shape (flows,). `rate` has that between two nodes.
    #[pyo3(get)]
    flow_rates: Py<PyArray1<f64>>,
    /// Price of every link, utility gained per unit of capacity: array of float, shape (links,). `price` is by name.
    ///
    /// The slope of the best objective in the link's capacity (where that has a kink, between the slopes on its two
    /// sides), good for a small change of it. A link of price 0 is large enough.
    ///
    /// For max-min problems the rise of the fair share, per unit of capacity, of the first level at which the link has
    /// held flows back, alone or in one of the `cuts`, with such kinks too: on a link with n flows of weight 1 it is
    /// 1/n.
    #[pyo3(get)]
    prices: Py<PyArray1<f64>>,
    /// Load of every link: array of float, shape (links,). `load` is by name.
    #[pyo3(get)]
    loads: Py<PyArray1<f64>>,
    /// The link that limits every path, or -1 for none: array of int, shape (paths,).
    ///
    /// The full link (idle by 1 % at most) with the largest part of the path's price. None where its cap, or its flow's
    /// cap or saturation, holds it, where another path of its flow has all of the rate, and where it is free (a price
    /// below 1e-9 of U'). For max-min problems the full link on which no flow has a larger fair share, or with several
    /// paths per flow the link of largest price in the one of the `cuts` that holds the flow.
    #[pyo3(get)]
    bottlenecks: Py<PyArray1<i64>>,
    /// Of max-min over several paths per flow, the sets of links that together have held flows back: tuple of
    /// (fair_share, links, flows), in order of fair shares, with arrays of int. Empty otherwise: with one path per flow
    /// each such set is a link, that of `bottlenecks`.
    #[pyo3(get)]
    cuts: Py<PyTuple>,
    /// Σ U_f(y_f) over the flows that are served, those not in `failed_flows`; for max-min problems their smallest fair
    /// share. A failure that cuts flows off takes their utilities out: compare networks with `failure_study`, or on the
    /// flows that both serve by `Problem.values`. nan where the time limit came before there were any rates.
    #[pyo3(get)]
    objective: f64,
    /// The proof for these rates and prices, as `certify` gives it: `Certificate`.
    #[pyo3(get)]
    certificate: Certificate,
    /// Proven bound on the utility that is still missing, relative to the first-order gain of raising every rate by
    /// 100 % where caps and saturations let it.
    #[pyo3(get)]
    gap: f64,
    /// How far the fullest link is over its capacity, relative to it: 0 to rounding.
    #[pyo3(get)]
    overload: f64,
    /// Largest violation of the optimality conditions, relative to each flow's rate: to this every single rate is
    /// right, or its price to a tenth of this where the utility is nearly linear. At 1 it proves nothing.
    #[pyo3(get)]
    kkt_residual: f64,
    /// Iterations done.
    #[pyo3(get)]
    iterations: usize,
    /// Seconds from the problem to the solution.
    #[pyo3(get)]
    seconds: f64,
    /// Flows that nothing can pass, because they are capped at 0, or every path is or crosses a link of capacity 0, or
    /// is full of the classes before or of floors. Their rates are 0 and they are left out of the objective: those that
    /// the network does not serve. Array of int.
    #[pyo3(get)]
    failed_flows: Py<PyArray1<i64>>,
    /// Of `netnum.distributed.solve` the number of this rank and how many ranks there are, where there are several:
    /// rates, bottlenecks and failed flows are those of its flows. None otherwise.
    #[pyo3(get)]
    part: Option<(usize, usize)>,
    /// One row per iteration, with ``solve(..., trace=True)``: `Trace` or None.
    #[pyo3(get)]
    trace: Option<Py<Trace>>,
    /// The flows of every priority in order, where the problem has priorities: a tuple of `PriorityClass`. The gap and
    /// the KKT residual of the solution are the largest of theirs, its objective is their sum (of max-min the
    /// smallest), and its prices are those of the last.
    #[pyo3(get)]
    classes: Py<PyTuple>,
    /// Why the floors of the flows do not fit, where the status is ``"infeasible"``: `Infeasibility`; None otherwise.
    #[pyo3(get)]
    infeasibility: Option<Py<Infeasibility>>,
    /// The problem that was solved: `Problem`. None for one of `Solutions` and for one from a pickle. Where pairs were
    /// given, the problem over the `paths` that are used.
    #[pyo3(get)]
    problem: Option<Py<Problem>>,
    /// Over all paths of a network, how often paths were added and the problem solved; None where paths were given.
    #[pyo3(get)]
    rounds: Option<usize>,
    /// Whether paths that are as good as those that are used may be left out.
    is_over_few: bool,
    /// Its `repr`, made by the core.
    summary: String,
}

impl Solution {
    pub(crate) fn new(
        problem: &Bound<'_, Problem>,
        core: netnum_core::Solution,
        settings: &Settings,
    ) -> PyResult<Self> {
        let py = problem.py();
        let summary = core.to_string();
        let trace = settings.trace.then(|| Py::new(py, Trace::of(py, &core.trace, settings))).transpose()?;
        let array = |values| numbers::read_only(py, values).unbind();
        let bottlenecks = core.bottlenecks.iter().map(|link| link.map_or(-1, i64::from)).collect();
        let proof = |core| Py::new(py, Infeasibility { core, problem: Some(problem.clone().unbind()) });
        Ok(Self {
            status: core.status.name().into(),
            method: core.method.into(),
            rates: array(core.rates),
            flow_rates: array(core.flow_rates),
            prices: array(core.prices),
            loads: array(core.loads),
            bottlenecks: numbers::read_only(py, bottlenecks).unbind(),
            cuts: cuts_of(py, core.cuts.into_iter().map(|cut| (cut.fair_share, cut.links, cut.flows)))?.unbind(),
            objective: core.objective,
            certificate: core.certificate.into(),
            gap: core.certificate.relative_gap,
            overload: core.certificate.overload,
            kkt_residual: core.certificate.kkt_residual,
            iterations: core.iterations,
            seconds: core.seconds,
            failed_flows: numbers::indices(py, &core.failed_flows).unbind(),
            part: core.part,
            trace,
            classes: PyTuple::new(py, core.classes.into_iter().map(|core| PriorityClass { core }))?.unbind(),
            infeasibility: core.infeasibility.map(proof).transpose()?,
            problem: Some(problem.clone().unbind()),
            rounds: None,
            is_over_few: false,
            summary,
        })
    }

    /// This solution as one over all paths of a network.
    pub(super) fn over_all_paths(self, summary: String, rounds: usize, is_over_few: bool) -> Self {
        Self { summary, rounds: Some(rounds), is_over_few, ..self }
    }

    pub(super) fn price_list(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        Ok(self.prices.bind(py).readonly().to_vec()?)
    }
}

impl Solution {
    /// Its problem over paths; none where it is without its problem, or nothing was found.
    pub(crate) fn found(&self) -> Option<&Py<Problem>> {
        self.problem.as_ref().filter(|_| self.gap.is_finite())
    }

    /// Its prices and rates.
    pub(crate) fn point(&self, py: Python<'_>) -> PyResult<[Vec<f64>; 2]> {
        let list = |array: &Py<PyArray1<f64>>| PyResult::Ok(array.bind(py).readonly().as_slice()?.to_vec());
        Ok([list(&self.prices)?, list(&self.rates)?])
    }

    /// A problem that is given, or its own.
    fn problem_or<'py>(slf: &Bound<'py, Self>, given: Option<&Bound<'py, Problem>>) -> PyResult<Bound<'py, Problem>> {
        problem_or(slf.py(), given, slf.get().problem.as_ref())
    }
}

/// A problem that is given, or that of a solution.
pub(super) fn problem_or<'py>(
    py: Python<'py>,
    given: Option<&Bound<'py, Problem>>,
    own: Option<&Py<Problem>>,
) -> PyResult<Bound<'py, Problem>> {
    given.cloned().or_else(|| own.map(|problem| problem.bind(py).clone())).ok_or_else(|| {
        NumError::new_err("this solution is without its problem, as from a pickle or of Solutions: give problem=")
    })
}

impl Solution {
    /// A number of a pair of nodes, by the function of that name.
    fn by_name<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        source: &Bound<'py, PyAny>,
        destination: Option<&Bound<'py, PyAny>>,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("netnum._by_name")?;
        if function != "rate" && destination.is_none() && source.is_instance_of::<PyString>() {
            return module.call_method1(function, (slf, Self::problem_or(slf, problem)?, source, slf.py().None()));
        }
        let [source, destination] = two_nodes(&format!("Solution.{function}"), source, destination)?;
        module.call_method1(function, (slf, Self::problem_or(slf, problem)?, source, destination))
    }
}

#[pymethods]
impl Solution {
    /// Whether the status is ``"optimal"``: the certificate passed.
    #[getter]
    fn is_optimal(&self) -> bool {
        self.status == netnum_core::Status::Optimal.name()
    }

    /// The links of every path, with the flows that they belong to: `Paths`. Of a problem of pairs those that are used,
    /// at least one of every flow.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a solution that is without its problem.
    #[getter]
    fn paths<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::problem_or(slf, None)?.getattr("paths")
    }

    /// Draw the gap over the iterations, and the tolerance.
    ///
    /// A run ends in a dot where it is optimal, and in a cross where it is not. Where the longest run on the axes has
    /// more than ten times the iterations of the shortest, the axis is logarithmic from 10 on.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure. Several solutions on the same axes make a comparison: every line is
    ///     labelled with its method. Of pairs the gap is over the paths of each round, and in the last point over all.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Without a trace: it needs ``solve(..., trace=True)``.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (ax=None))]
    fn plot_convergence<'py>(slf: &Bound<'py, Self>, ax: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().trace.is_none() {
            return Err(NumError::new_err("this solution has no trace to plot: solve with trace=True"));
        }
        slf.py().import("netnum._show.plots")?.call_method1("convergence", (slf, ax))
    }

    /// Draw what the links are paid, and the rates of the flows.
    ///
    /// A link is paid its price times its load, and a flow pays the price of its path times its rate, so that both sums
    /// are the same. The first bars are the links that are paid most, with their prices, or the fullest links where
    /// no full link has a price. Rates are a bar per flow or, for more than `most` flows, a line in their order, with
    /// marks at floors and demands. Titles have the number of links that are not drawn, and say so where the solution
    /// is not optimal, or the part of the floors that fits.
    ///
    /// Parameters
    /// ----------
    /// axes : sequence of two matplotlib.axes.Axes, optional
    ///     Where to draw links and rates; by default a new figure.
    /// most : int
    ///     The largest number of bars in each.
    /// problem : Problem, optional
    ///     By default `Solution.problem`.
    ///
    /// Returns
    /// -------
    /// array of two matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a solution that is without its problem, when none is given; for a `most` below 1.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 6")
    /// >>> problem = netnum.Problem(net, [["A", "B"], ["B", "C"], ["A", "B", "C"]], netnum.AlphaFair(1.0))
    /// >>> links, rates = netnum.solve(problem).plot()
    /// >>> [label.get_text() for label in links.get_yticklabels()]
    /// ['B -> C', 'A -> B']
    #[pyo3(signature = (axes=None, *, most=15, problem=None))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        axes: Option<&Bound<'py, PyAny>>,
        most: i64,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = Self::problem_or(slf, problem)?;
        slf.py().import("netnum._show.plots")?.call_method1("solution", (slf, problem, axes, most))
    }

    /// The solution as a table of flows, paths or links, with the names of its network.
    ///
    /// Parameters
    /// ----------
    /// of : {"flows", "paths", "links"}
    ///     The items with a row each; the columns are those of `netnum.to_pandas`.
    /// problem : Problem, optional
    ///     By default `Solution.problem`.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For another `of`; for a solution that is without its problem, when none is given.
    /// ProblemError
    ///     For a problem of another size.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 6")
    /// >>> problem = netnum.Problem(net, [["A", "B"], ["B", "C"]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem, tol=1e-9).to_pandas().round(2)
    ///      source destination  rate  served held_back_by
    /// flow
    /// 0         A           B  10.0    True       A -> B
    /// 1         B           C   6.0    True       B -> C
    #[pyo3(signature = (of="flows", *, problem=None))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        of: &str,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let problem = Self::problem_or(slf, problem)?;
        slf.py().import("netnum._show.frames")?.call_method1("to_pandas", (problem, slf, of))
    }

    /// The rate from one node to another: the sum over the flows of that pair.
    ///
    /// Parameters
    /// ----------
    /// source, destination : str or int
    ///     Where flows start and stop, as the network takes its nodes, also as a pair in one argument.
    /// problem : Problem, optional
    ///     By default `Solution.problem`. It was made with a `Topology`.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a node that does not exist and a pair without a flow, with those that there are; for a problem that was
    ///     made from capacities only, whose flows have numbers, and one of another size.
    /// NumError
    ///     For a solution that is without its problem, when none is given.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 6")
    /// >>> solution = netnum.solve(netnum.Problem(net, [["A", "B"], ["A", "B", "C"]], netnum.AlphaFair(1.0)))
    /// >>> round(solution.rate("A", "C"), 3), round(solution.price("A", "B"), 3), round(solution.load("A", "B"), 3)
    /// (5.0, 0.2, 10.0)
    #[pyo3(signature = (source, destination=None, *, problem=None))]
    fn rate<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        destination: Option<&Bound<'py, PyAny>>,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::by_name(slf, "rate", source, destination, problem)
    }

    /// The price of the link from one node to another, as in `prices`.
    ///
    /// Parameters
    /// ----------
    /// source, destination : str or int
    ///     The nodes that the link runs from and to, also as a pair in one argument, in which the name of a link
    ///     stands, too, ``"A -> B"``.
    /// problem : Problem, optional
    ///     By default `Solution.problem`. It was made with a `Topology`.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a node or a link that does not exist, and where several links join the nodes, with their numbers and
    ///     prices, as those of a fiber, ``"A - B"``; for a problem that was made from capacities only, whose links have
    ///     numbers, and one of another size.
    /// NumError
    ///     For a solution that is without its problem, when none is given.
    #[pyo3(signature = (source, destination=None, *, problem=None))]
    fn price<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        destination: Option<&Bound<'py, PyAny>>,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::by_name(slf, "price", source, destination, problem)
    }

    /// The load of the link from one node to another, as in `loads`.
    ///
    /// Parameters
    /// ----------
    /// source, destination : str or int
    ///     As in `price`.
    /// problem : Problem, optional
    ///     By default `Solution.problem`. It was made with a `Topology`.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Raises
    /// ------
    /// ProblemError, NumError
    ///     As `price`.
    #[pyo3(signature = (source, destination=None, *, problem=None))]
    fn load<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        destination: Option<&Bound<'py, PyAny>>,
        problem: Option<&Bound<'py, Problem>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::by_name(slf, "load", source, destination, problem)
    }

    /// Save the solution in a file that `netnum.load` reads back: JSON, with its problem where that can be saved.
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

    /// The derivatives of the optimum at this solution, which is refined to rounding first.
    ///
    /// Parameters
    /// ----------
    /// problem : Problem, optional
    ///     By default `Solution.problem`.
    /// threads : int, default 1
    ///     Threads for the passes over the flows, of `jvp` and `vjp` too.
    ///
    /// Returns
    /// -------
    /// Sensitivity
    ///
    /// Raises
    /// ------
    /// SensitivityError
    ///     For a solution that is not optimal, for max-min and linear utilities, and where the optimum is so degenerate
    ///     that it cannot be refined; the message says what to use instead.
    /// NumError
    ///     For a solution that is without its problem, when none is given.
    /// ProblemError
    ///     For a problem of another size.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem).sensitivity().d_rates_d_capacity.round(3)
    /// array([[ 0.167,  0.167],
    ///        [ 0.833, -0.167],
    ///        [-0.167,  0.833]])
    #[pyo3(signature = (*, problem=None, threads=None))]
    fn sensitivity(
        slf: &Bound<'_, Self>,
        problem: Option<&Bound<'_, Problem>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Sensitivity> {
        let threads = threads_of(threads)?;
        if slf.get().is_over_few {
            let message = "paths that are as good as those of few_paths= or max_paths= are left out, and rates would \
                           move over them: solve without it";
            return Err(SensitivityError::new_err(message));
        }
        let (problem, this) = (Self::problem_or(slf, problem)?, slf.get());
        let list = |array: &Py<PyArray1<f64>>| PyResult::Ok(array.bind(slf.py()).readonly().to_vec()?);
        let status = Status::named(&this.status)
            .ok_or_else(|| NumError::new_err(format!("this solution has the status {:?}", this.status)))?;
        Sensitivity::at(&problem, status, list(&this.rates)?, list(&this.prices)?, threads)
    }

    fn __repr__(&self) -> &str {
        &self.summary
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("solution", (slf,))
    }

    /// As of `Problem`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self.problem.as_ref())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (py, this) = (slf.py(), slf.get());
        let state = PyDict::new(py);
        let arrays = ["rates", "flow_rates", "prices", "loads", "bottlenecks", "failed_flows"];
        let others = ["status", "method", "objective", "certificate", "iterations", "seconds", "part", "trace"];
        for name in arrays.into_iter().chain(others) {
            state.set_item(name, slf.getattr(name)?)?;
        }
        state.set_item("cuts", &this.cuts)?;
        // As texts of JSON, which a file takes as well.
        let classes = this.classes.bind(py).iter();
        let texts = classes.map(|class| text(&class.cast::<PriorityClass>()?.get().core));
        state.set_item("classes", texts.collect::<PyResult<Vec<_>>>()?)?;
        state
            .set_item("infeasibility", this.infeasibility.as_ref().map(|proof| text(&proof.get().core)).transpose()?)?;
        if let Some(rounds) = this.rounds {
            // Its paths are a part of the answer.
            state.set_item("rounds", rounds)?;
            state.set_item("is_over_few", this.is_over_few)?;
            state.set_item("problem", this.problem.as_ref())?;
        }
        state.set_item("summary", &this.summary)?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }

    /// The solution that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let field = |name: &str| {
            state.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("a pickled Solution without {name:?}")))
        };
        let py = state.py();
        let array = |name: &str| PyResult::Ok(numbers::read_only(py, numbers::floats(name, &field(name)?)?).unbind());
        let certificate = *field("certificate")?.cast::<Certificate>()?.get();
        let core: netnum_core::Certificate = certificate.into();
        let integers =
            |name: &str| PyResult::Ok(numbers::read_only(py, numbers::integers(name, &field(name)?)?).unbind());
        let texts = state.get_item("classes")?.map_or(Ok(Vec::new()), |classes| classes.extract::<Vec<String>>())?;
        let classes = texts.iter().map(|text| of_text(text).map(|core| PriorityClass { core }));
        let classes = classes.collect::<PyResult<Vec<_>>>()?;
        let proof = state.get_item("infeasibility")?.map_or(Ok(None), |text| text.extract::<Option<String>>())?;
        let proof = proof.as_deref().map(of_text).transpose()?;
        let problem = state.get_item("problem")?.map(|problem| problem.cast_into()).transpose()?.map(Bound::unbind);
        let own = || problem.as_ref().map(|problem: &Py<Problem>| problem.clone_ref(py));
        let trace = field("trace")?;
        let trace = if trace.is_none() { None } else { Some(trace.cast::<Trace>()?.clone().unbind()) };
        Ok(Self {
            status: field("status")?.extract()?,
            method: field("method")?.extract()?,
            rates: array("rates")?,
            flow_rates: array("flow_rates")?,
            prices: array("prices")?,
            loads: array("loads")?,
            bottlenecks: integers("bottlenecks")?,
            cuts: cuts_of(py, field("cuts")?.extract::<Vec<(f64, Vec<u32>, Vec<u32>)>>()?)?.unbind(),
            objective: field("objective")?.extract()?,
            certificate,
            gap: core.relative_gap,
            overload: core.overload,
            kkt_residual: core.kkt_residual,
            iterations: field("iterations")?.extract()?,
            seconds: field("seconds")?.extract()?,
            failed_flows: integers("failed_flows")?,
            part: state.get_item("part")?.map_or(Ok(None), |part| part.extract())?,
            trace,
            classes: PyTuple::new(py, classes)?.unbind(),
            infeasibility: proof.map(|core| Py::new(py, Infeasibility { core, problem: own() })).transpose()?,
            problem: own(),
            rounds: state.get_item("rounds")?.map_or(Ok(None), |rounds| rounds.extract())?,
            is_over_few: state.get_item("is_over_few")?.map_or(Ok(false), |few| few.extract())?,
            summary: field("summary")?.extract()?,
        })
    }
}

/// Cuts as Python has them: fair share, links and flows of each.
fn cuts_of<'py>(
    py: Python<'py>,
    cuts: impl IntoIterator<Item = (f64, Vec<u32>, Vec<u32>)>,
) -> PyResult<Bound<'py, PyTuple>> {
    let one = |(fair_share, links, flows): (f64, Vec<u32>, Vec<u32>)| {
        (fair_share, numbers::indices(py, &links), numbers::indices(py, &flows)).into_pyobject(py)
    };
    PyTuple::new(py, cuts.into_iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

/// Something as a text of JSON.
pub(super) fn text(thing: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(thing).map_err(|error| NumError::new_err(error.to_string()))
}

/// What `text` has written.
pub(super) fn of_text<'de, T: serde::Deserialize<'de>>(text: &'de str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| NumError::new_err(error.to_string()))
}
