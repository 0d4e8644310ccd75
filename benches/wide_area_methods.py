"""The methods of `wide_area.py`: each takes a task and the seconds that it may take, and returns rates and prices."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wide_area_networks import Instance

#: The tolerances of netnum: its default, and for linear programs.
TOL, LP_TOL = 1e-6, 1e-7


class TooSlow(Exception):
    """A solver was not done when `--patience` was over."""


@dataclass
class Task:
    """One problem on one instance: what is maximized, with which weights and caps."""

    instance: Instance
    kind: str
    alpha: float
    weights: Any
    caps: Any

    def problem(self) -> Any:
        """As a problem of netnum."""
        import numpy as np

        import netnum

        paths = netnum.Paths(self.instance.indptr, self.instance.indices)
        utility = netnum.Linear(1.0) if self.alpha == 0 else netnum.AlphaFair(self.alpha, self.weights)
        caps = self.caps if np.isfinite(self.caps).any() else None
        return netnum.Problem(self.instance.capacities, paths, utility, group=self.instance.group, flow_cap=caps)

    def over_links(self) -> Any:
        """Links x paths."""
        import numpy as np
        import scipy.sparse

        instance = self.instance
        crossings = (np.ones(len(instance.indices)), instance.indices, instance.indptr)
        return scipy.sparse.csc_array(crossings, shape=(len(instance.capacities), len(instance.group)))

    def of_flows(self) -> Any:
        """Flows x paths."""
        import numpy as np
        import scipy.sparse

        paths = len(self.instance.group)
        ones = (np.ones(paths), (self.instance.group, np.arange(paths)))
        return scipy.sparse.coo_array(ones, shape=(len(self.weights), paths)).tocsc()


@dataclass
class Answer:
    """The result of a method."""

    rates: Any
    prices: Any
    status: str = "optimal"


Method = Callable[[Task, float], Answer]


def netnum_to(tol: float, stop: str = "rates") -> Method:
    """Netnum with its defaults."""

    def solve(task: Task, patience: float) -> Answer:
        import netnum

        solution = netnum.solve(task.problem(), tol=tol, stop=stop, time_limit=patience)
        if solution.status == "time_limit":
            raise TooSlow
        return Answer(solution.rates, solution.prices, solution.status)

    return solve


def clarabel(task: Task, patience: float) -> Answer:
    """The usual model in CVXPY."""
    import cvxpy
    import numpy as np

    instance, alpha = task.instance, task.alpha
    rates = cvxpy.Variable(len(instance.group), nonneg=True)
    flows = task.of_flows() @ rates
    within = task.over_links() @ rates <= instance.capacities
    capped = np.flatnonzero(np.isfinite(task.caps))
    constraints = [within] + ([flows[capped] <= task.caps[capped]] if len(capped) else [])
    if alpha == 1:
        utility = cvxpy.sum(cvxpy.multiply(task.weights, cvxpy.log(flows)))
    elif alpha == 0:
        utility = cvxpy.sum(flows)
    else:
        scale = task.weights**alpha / (alpha - 1)
        utility = -cvxpy.sum(cvxpy.multiply(scale, cvxpy.power(flows, 1 - alpha)))
    problem = cvxpy.Problem(cvxpy.Maximize(utility), constraints)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate answer has a status of its own
            problem.solve(solver="CLARABEL", max_threads=1, time_limit=patience)
    except cvxpy.SolverError as error:
        if time.perf_counter() - began >= patience:
            raise TooSlow from error
        raise
    if problem.status == "user_limit" and time.perf_counter() - began >= patience:
        raise TooSlow
    if rates.value is None:
        raise RuntimeError(problem.status)
    return Answer(rates.value, within.dual_value, problem.status)


class Program:
    """A linear program in HiGHS, kept from one solve to the next: maximize cost · x, low <= rows x <= high."""

    def __init__(self, cost: Any, columns: tuple[Any, Any], matrix: Any, rows: tuple[Any, Any], solver: str) -> None:
        import highspy
        import numpy as np

        self.highs = highspy.Highs()
        options = {"output_flag": False, "threads": 1, "parallel": "off", "solver": solver, "run_crossover": "off"}
        options["primal_feasibility_tolerance"] = 1e-9  # rates of one program are bounds of the next
        for option, value in options.items():
            self.highs.setOptionValue(option, value)
        matrix = matrix.tocsc()
        matrix.sort_indices()
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = matrix.shape[1], matrix.shape[0]
        model.col_cost_ = -np.asarray(cost, dtype=float)
        model.col_lower_, model.col_upper_ = (np.asarray(bound, dtype=float) for bound in columns)
        model.row_lower_, model.row_upper_ = (np.asarray(bound, dtype=float) for bound in rows)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.highs.passModel(model)
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.over = highspy.HighsModelStatus.kTimeLimit

    def solve(self, seconds: float) -> tuple[Any, Any]:
        """The columns, and the prices of the rows."""
        import numpy as np

        if seconds <= 0:
            raise TooSlow
        # HiGHS counts the time of all solves of a model together.
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        status = self.highs.getModelStatus()
        if status == self.over:
            raise TooSlow
        if status != self.optimal:
            raise RuntimeError(self.highs.modelStatusToString(status))
        solution = self.highs.getSolution()
        return np.asarray(solution.col_value), -np.asarray(solution.row_dual)


def highs(solver: str) -> Method:
    """Total throughput: links' and flows' rows over the rates of paths."""

    def solve(task: Task, patience: float) -> Answer:
        import numpy as np
        import scipy.sparse

        paths, links, inf = len(task.instance.group), len(task.instance.capacities), np.inf
        matrix = scipy.sparse.vstack([task.over_links(), task.of_flows()])
        limits = np.concatenate([task.instance.capacities, task.caps])
        bounds = (np.zeros(paths), np.full(paths, inf))
        program = Program(np.ones(paths), bounds, matrix, (np.full(len(limits), -inf), limits), solver)
        rates, prices = program.solve(patience)
        return Answer(rates, prices[:links])

    return solve


def sequence_of_programs(task: Task, patience: float) -> Answer:
    """Max-min, exact: the largest level t with y_f >= w_f t for all flows that are free, again and again.

    Flows whose cap is below the level are frozen at it, and the level is computed again; where there are none, those
    with a price are frozen at the level.
    """
    import numpy as np
    import scipy.sparse

    began = time.perf_counter()
    instance, weights, caps = task.instance, task.weights, task.caps
    paths, links, flows, inf = len(instance.group), len(instance.capacities), len(weights), np.inf
    level = scipy.sparse.csc_array(np.concatenate([np.zeros(links), -weights])[:, None])
    matrix = scipy.sparse.hstack([scipy.sparse.vstack([task.over_links(), task.of_flows()]), level])
    columns = (np.zeros(paths + 1), np.full(paths + 1, inf))
    low = np.concatenate([np.full(links, -inf), np.zeros(flows)])
    high = np.concatenate([instance.capacities, np.full(flows, inf)])
    cost = np.zeros(paths + 1)
    cost[-1] = 1.0
    program = Program(cost, columns, matrix, (low, high), "simplex")
    free, rates = np.ones(flows, dtype=bool), np.zeros(flows)
    while free.any():
        answer, prices = program.solve(patience - (time.perf_counter() - began))
        top = answer[-1]
        capped = free & (caps <= top * weights * (1 + 1e-9))
        frozen = capped if capped.any() else free & (-prices[links:] * weights > 1e-9)
        if not frozen.any():
            raise RuntimeError(f"no flow has a price at level {top:.3g}")
        free &= ~frozen
        rates[frozen] = caps[frozen] if capped.any() else top * weights[frozen]
        for flow in np.flatnonzero(frozen).tolist():
            program.highs.changeCoeff(links + flow, paths, 0.0)
            # Exactly, the next program could be infeasible by rounding.
            program.highs.changeRowBounds(links + flow, rates[flow] * (1 - 1e-8), rates[flow])
    # The last ones may have got more than their caps.
    program.highs.changeColCost(paths, 0.0)
    answer, _ = program.solve(patience - (time.perf_counter() - began))
    return Answer(answer[:paths], np.zeros(links))


def reach(task: Task) -> tuple[float, float]:
    """Bounds of the fair shares: what every flow can have on its first path, and the most that one can have at all."""
    import numpy as np

    instance = task.instance
    first = np.unique(instance.group, return_index=True)[1]
    matrix = task.over_links()
    load = matrix[:, first] @ task.weights
    lowest = np.min(instance.capacities[load > 0] / load[load > 0])
    widest = np.minimum.reduceat(instance.capacities[instance.indices], instance.indptr[:-1])
    most = np.minimum(task.caps, task.of_flows() @ widest) / task.weights
    return float(min(lowest, most.min())), float(most.max())


def swan(task: Task, patience: float) -> Answer:
    """The largest sum of rates, again and again, with their bounds doubled; flows below theirs are frozen."""
    import numpy as np
    import scipy.sparse

    began = time.perf_counter()
    instance, weights = task.instance, task.weights
    paths, links, flows, inf = len(instance.group), len(instance.capacities), len(weights), np.inf
    matrix = scipy.sparse.vstack([task.over_links(), task.of_flows()])
    low, high = np.full(links + flows, -inf), np.concatenate([instance.capacities, np.zeros(flows)])
    low[links:] = 0.0
    program = Program(np.ones(paths), (np.zeros(paths), np.full(paths, inf)), matrix, (low, high), "simplex")
    of_flows, rows = task.of_flows(), np.arange(links, links + flows, dtype=np.int32)
    share, top = reach(task)
    free, rates, answer = np.ones(flows, dtype=bool), np.zeros(flows), np.zeros(paths)
    while free.any():
        bound = np.where(free, np.minimum(share * weights, task.caps), rates)
        program.highs.changeRowsBounds(flows, rows, rates * (1 - 1e-8), bound)
        answer, _ = program.solve(patience - (time.perf_counter() - began))
        rates = np.where(free, of_flows @ answer, rates)
        free &= (rates >= bound * (1 - 1e-6)) & (rates < task.caps * (1 - 1e-9))
        if share > top:
            break
        share *= 2
    return Answer(answer, np.zeros(links))


def binner(task: Task, patience: float) -> Answer:
    """One linear program: rates in bins that double, each with a part of the weight of the one below."""
    import numpy as np
    import scipy.sparse

    instance, weights = task.instance, task.weights
    paths, links, flows, inf = len(instance.group), len(instance.capacities), len(weights), np.inf
    share, top = reach(task)
    edges = share * 2.0 ** np.arange(math.ceil(math.log2(top / share)) + 1)
    widths = np.diff(edges, prepend=0.0)
    bins = len(edges)
    # Rates of paths, then bin by bin one variable per flow; a flow's rate is the sum of its bins.
    sums = scipy.sparse.hstack([task.of_flows(), *[-scipy.sparse.eye_array(flows)] * bins])
    over = scipy.sparse.hstack([task.over_links(), scipy.sparse.csc_array((links, flows * bins))])
    low = np.concatenate([np.full(links, -inf), np.zeros(flows)])
    high = np.concatenate([instance.capacities, np.zeros(flows)])
    before = np.concatenate([[0.0], edges[:-1]])
    room = np.clip(task.caps[None, :] - before[:, None] * weights, 0.0, widths[:, None] * weights)
    columns = (np.zeros(paths + flows * bins), np.concatenate([np.full(paths, inf), room.ravel()]))
    # No bin has a weight below what a solver can tell from 0.
    step = max(0.1, 1e-6 ** (1 / max(bins - 1, 1)))
    weight = np.repeat(step ** np.arange(bins)[:, None], flows, axis=1)
    cost = np.concatenate([np.zeros(paths), weight.ravel()])
    program = Program(cost, columns, scipy.sparse.vstack([over, sums]), (low, high), "ipm")
    answer, _ = program.solve(patience)
    return Answer(answer[:paths], np.zeros(links))


MAX_MIN: list[tuple[str, Method]] = [
    ("netnum", netnum_to(TOL)),
    ("highs sequence of LPs", sequence_of_programs),
    ("swan doubling", swan),
    ("geometric binner", binner),
]
ALPHA_FAIR: list[tuple[str, Method]] = [("netnum", netnum_to(TOL)), ("cvxpy + clarabel", clarabel)]
THROUGHPUT: list[tuple[str, Method]] = [
    ("netnum", netnum_to(LP_TOL, "gap")),
    ("highs simplex", highs("simplex")),
    ("highs ipm", highs("ipm")),
    ("cvxpy + clarabel", clarabel),
]
