"""netnum on wide-area networks beside other solvers: several paths per flow, demands, max-min, α-fair and throughput.

    python3 benches/wide_area.py                          the shipped and the generated networks
    python3 benches/wide_area.py --quick                  the shipped ones: a minute
    python3 benches/wide_area.py networks/*.npz           and those of files
    python3 benches/wide_area.py --instances abilene --methods netnum,highs --patience 20
    python3 benches/wide_area.py --write                  into docs/wide_area.md as well

Networks. Shipped: abilene and nsfnet with gravity demands, b4 with its published ones fourfold, all pairs. Generated
(`generated`): the shortest tree over random points of the unit square, and edges of their Gabriel graph, drawn at
random, until there are 1.25 per node, as in networks of the Topology Zoo; demands by gravity between ends of lognormal
masses, as many as the name says; capacities 1, 4, 10, 40, 100, ..., the first above two thirds of what an edge carries
with every demand on its shortest path, where the middle edge carries 10. Everywhere the 4 shortest paths by links,
weights 1, 2, 4 and 8 at random. The gravity demands of abilene and nsfnet load the busiest link twofold on shortest
paths. A file is .npz with the arrays capacity, indptr, indices (links of every path), group (flow of every path),
demand and weight (per flow) and, if there is one, the text source.

Problems. `max-min W`: weighted, no demands. `max-min B`: unit weights, every flow capped by its demand. `alpha 1`:
weighted proportional fairness without demands; `alpha 2` and `alpha 4`: weighted, capped by demands. `throughput`: the
largest sum of rates under the demands, a linear program.

Methods. netnum's `solve` as it comes, to a gap of 1e-7 for throughput. CVXPY with Clarabel, as they come. HiGHS: its
simplex and its interior point (without crossover) for throughput; for max-min a sequence of linear programs, `largest
level, freeze flows by the duals`, each from the last basis. SWAN's iteration (Hong et al., SIGCOMM 2013): rates may
double from one linear program to the next, and flows below their bounds are frozen. A geometric binner (Namyar et al.,
NSDI 2024): one linear program, rates in bins that double, each worth a tenth of the one below, or more where the last
would be worth less than 1e-6; by HiGHS's interior point without crossover.

All methods start from the same arrays, in units of the median demand, with one thread; "seconds" is all from there to
rates and prices in NumPy, building of models included, the median of some runs. `netnum.certify` judges every answer:
"gap" bounds the utility still missing, "overload" is by how much a capacity or a cap was exceeded before that. The
fairness error of max-min is that of single rates, |rate - exact|/exact, in the mean and the largest, where exact is
netnum's answer with its proof. Where a peer proves a smaller gap than netnum did, netnum is asked for that gap below,
and "x netnum" is against that. A method that needs longer than `--patience` for one solve is stopped where possible,
and not asked for more flows.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peers import ENVIRONMENT, ROOT, circumstances, enter_environment, matches, parts_of, repetitions, timed
from report import duration, markdown, three_digits

SEED = 1
PATHS = 4
PAGE = ROOT / "docs/wide_area.md"

#: The tolerance that netnum is asked for: of its default, and of linear programs.
TOL, LP_TOL = 1e-6, 1e-7


class TooSlow(Exception):
    """A solver was not done when patience ended."""


@dataclass
class Instance:
    """What all methods start from: plain arrays."""

    name: str
    capacities: Any
    indptr: Any
    indices: Any
    group: Any
    demands: Any
    weights: Any
    source: str

    def __post_init__(self) -> None:
        """Rates are in units of the median demand: x^-3 is no number that every solver takes in Mbit/s."""
        import numpy as np

        unit = np.median(self.demands[self.demands > 0])
        self.capacities, self.demands = self.capacities / unit, self.demands / unit

    @property
    def size(self) -> str:
        """Links, flows and paths."""
        return f"{len(self.capacities)} links, {len(self.demands)} flows, {len(self.group)} paths"


@dataclass
class Task:
    """One problem on one instance: what is maximized, with which weights and caps."""

    instance: Instance
    kind: str
    alpha: float
    weights: Any
    caps: Any

    def stated(self) -> Any:
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
    """What all methods end with."""

    rates: Any
    prices: Any
    status: str = "optimal"


@dataclass
class Row:
    """One line of the table. Where `note` says why, there are no numbers."""

    instance: str
    size: str
    source: str
    kind: str
    who: str
    runs: int = 0
    median: float | None = None
    gap: float | None = None
    overload: float | None = None
    mean_error: float | None = None
    largest_error: float | None = None
    ratio: float | None = None
    note: str = ""


Contender = Callable[[Task, float], Answer]

# --- the contenders ---


def netnum_to(tol: float, stop: str = "rates") -> Contender:
    """Netnum as it comes."""

    def solve(task: Task, patience: float) -> Answer:
        import netnum

        solution = netnum.solve(task.stated(), tol=tol, stop=stop, time_limit=patience)
        if solution.status == "time_limit":
            raise TooSlow
        return Answer(solution.rates, solution.prices, solution.status)

    return solve


def clarabel(task: Task, patience: float) -> Answer:
    """CVXPY's usual way to say it."""
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
            warnings.simplefilter("ignore")  # an inaccurate answer is told by its status
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


def highs(solver: str) -> Contender:
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

    Flows whose cap is below the level are frozen at it, and the level is looked for again; where there are none, those
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
    """One linear program: rates in bins that double, each worth a part of the one below."""
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
    # No bin is worth less than what a solver tells from nothing.
    step = max(0.1, 1e-6 ** (1 / max(bins - 1, 1)))
    worth = np.repeat(step ** np.arange(bins)[:, None], flows, axis=1)
    cost = np.concatenate([np.zeros(paths), worth.ravel()])
    program = Program(cost, columns, scipy.sparse.vstack([over, sums]), (low, high), "ipm")
    answer, _ = program.solve(patience)
    return Answer(answer[:paths], np.zeros(links))


MAX_MIN: list[tuple[str, Contender]] = [
    ("netnum", netnum_to(TOL)),
    ("highs sequence of LPs", sequence_of_programs),
    ("swan doubling", swan),
    ("geometric binner", binner),
]
ALPHA_FAIR: list[tuple[str, Contender]] = [("netnum", netnum_to(TOL)), ("cvxpy + clarabel", clarabel)]
THROUGHPUT: list[tuple[str, Contender]] = [
    ("netnum", netnum_to(LP_TOL, "gap")),
    ("highs simplex", highs("simplex")),
    ("highs ipm", highs("ipm")),
    ("cvxpy + clarabel", clarabel),
]

#: Every problem: its name, alpha (0 for throughput), whether it is weighted and capped, and the methods.
KINDS: list[tuple[str, float, bool, bool, list[tuple[str, Contender]]]] = [
    ("max-min W", math.inf, True, False, MAX_MIN),
    ("max-min B", math.inf, False, True, MAX_MIN),
    ("alpha 1", 1.0, True, False, ALPHA_FAIR),
    ("alpha 2", 2.0, True, True, ALPHA_FAIR),
    ("alpha 4", 4.0, True, True, ALPHA_FAIR),
    ("throughput", 0.0, False, True, THROUGHPUT),
]
CONTENDERS = list(dict.fromkeys(who for *_, contenders in KINDS for who, _ in contenders))

#: The row below a peer's that has proven more.
SAME_GAP = "  netnum, that gap"

# --- the networks ---


def on(net: Any, demands: Any, name: str, source: str) -> Instance:
    """The paths of demands over a network, and weights."""
    import numpy as np

    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, PATHS)
    weights = np.random.default_rng(SEED).choice([1.0, 2.0, 4.0, 8.0], len(demands))
    return Instance(name, net.capacities, paths.indptr, paths.indices, group, demands.volumes, weights, source)


def load(net: Any, demands: Any) -> Any:
    """What every link carries with every demand on its shortest path."""
    import numpy as np

    paths, _ = net.k_shortest_paths(demands.sources, demands.destinations, 1)
    return np.bincount(paths.indices, np.repeat(demands.volumes, np.diff(paths.indptr)), minlength=len(net.capacities))


def shipped(name: str) -> Instance:
    """A backbone of the package."""
    import netnum

    net = netnum.topology.backbone(name)
    if name == "b4":
        return on(net, netnum.demands.backbone(name).scaled(4.0), name, "its published demands, fourfold")
    demands = netnum.demands.gravity(net, 1.0, spread=1.0, seed=SEED)
    demands = demands.scaled(2.0 / float((load(net, demands) / net.capacities).max()))
    return on(net, demands, name, "gravity demands")


def generated(nodes: int, flows: int) -> Instance:
    """A network of so many nodes and flows, as the head of this file says."""
    import numpy as np
    import scipy.sparse.csgraph
    import scipy.spatial

    import netnum

    rng = np.random.default_rng(SEED)
    points = rng.random((nodes, 2))
    distances = scipy.spatial.distance_matrix(points, points)
    tree = scipy.sparse.csgraph.minimum_spanning_tree(distances).tocoo()
    edges = {(min(a, b), max(a, b)) for a, b in zip(tree.row.tolist(), tree.col.tolist(), strict=True)}
    squares = distances**2
    gabriel = [
        (a, b)
        for a in range(nodes)
        for b in range(a + 1, nodes)
        if np.count_nonzero(squares[a] + squares[b] < squares[a, b]) == 0 and (a, b) not in edges
    ]
    more = rng.permutation(len(gabriel))[: round(1.25 * nodes) - len(edges)]
    edges = sorted(edges | {gabriel[edge] for edge in more})
    links = [link for a, b in edges for link in ((a, b), (b, a))]
    names = [f"n{node}" for node in range(nodes)]
    net = netnum.Topology(names, links, np.ones(len(links)), positions=points, name=f"generated {nodes}")
    demands = netnum.demands.gravity(net, 1.0, rng.lognormal(sigma=1.0, size=nodes))
    demands = demands[np.sort(rng.choice(len(demands), flows, replace=False, p=demands.volumes))]
    carried = load(net, demands).reshape(-1, 2).max(axis=1)
    scale = 10.0 / float(np.median(carried[carried > 0]))
    sizes = np.outer(10.0 ** np.arange(8), [1.0, 4.0]).ravel()
    capacities = sizes[np.searchsorted(sizes, carried * scale * 2 / 3)]
    net = net.with_capacities(np.repeat(capacities, 2))
    return on(net, demands.scaled(scale), f"generated {nodes} x {flows}", f"{nodes} nodes, seed {SEED}")


def of_file(path: Path) -> Instance:
    """The arrays of a file."""
    import numpy as np

    with np.load(path) as data:
        columns = (data[name] for name in ("capacity", "indptr", "indices", "group", "demand", "weight"))
        capacities, indptr, indices, group, demands, weights = columns
        source = str(data["source"]) if "source" in data else "a file"
    whole = [np.asarray(column, dtype=np.int64) for column in (indptr, indices, group)]
    return Instance(path.stem, capacities, *whole, demands, weights, source)


#: Every network by name, the smaller ones first.
INSTANCES: list[tuple[str, Callable[[], Instance]]] = [
    *((name, lambda name=name: shipped(name)) for name in ("abilene", "nsfnet", "b4")),
    *((f"generated {nodes} x {flows}", lambda nodes=nodes, flows=flows: generated(nodes, flows))
      for nodes, flows in ((150, 1000), (200, 5000), (750, 2000))),
]  # fmt: skip
QUICK = ["abilene", "nsfnet", "b4"]

# --- the comparison ---


def measure(who: str, solve: Contender, task: Task, exact: Any, patience: float) -> Row:
    """Times one contender, and has its last answer judged."""
    import numpy as np

    import netnum

    instance = task.instance
    row = Row(instance.name, instance.size, instance.source, task.kind, who)
    try:
        first, answer = timed(lambda: solve(task, patience))
        runs = [first]
        if first < patience / 4:
            again = [timed(lambda: solve(task, patience)) for _ in range(repetitions(first))]
            runs, answer = [seconds for seconds, _ in again], again[-1][1]
        problem = task.stated()
        # An interior-point method may leave a zero a little below zero.
        rates, prices = np.maximum(answer.rates, 0.0), np.maximum(answer.prices, 0.0)
        certificate = netnum.certify(problem, rates, prices)
        feasible = problem.flow_rates(netnum.f_norm(problem, rates))
    except TooSlow:
        row.note = f"over {patience:.0f} s"
        return row
    except Exception as error:  # a failure is a row and not the end of the table
        row.note = f"{type(error).__name__}: {error}".splitlines()[0]
        return row
    row.runs, row.median = len(runs), statistics.median(runs)
    row.gap, row.overload = certificate.relative_gap, certificate.overload
    if exact is not None:
        errors = np.abs(feasible - exact) / exact
        row.gap, row.mean_error, row.largest_error = None, float(errors.mean()), float(errors.max())
    row.note = "" if answer.status == "optimal" else answer.status
    return row


def tasks(instance: Instance) -> Iterator[tuple[Task, list[tuple[str, Contender]]]]:
    """Every problem of a network, and the methods for it."""
    import numpy as np

    for kind, alpha, weighted, capped, contenders in KINDS:
        weights = instance.weights if weighted else np.ones(len(instance.weights))
        caps = instance.demands if capped else np.full(len(weights), np.inf)
        yield Task(instance, kind, alpha, weights, caps), contenders


def exactly(task: Task) -> Any:
    """The max-min rates of flows, from a solution that is proven."""
    import netnum

    solution = netnum.solve(task.stated())
    if not solution.is_optimal:
        raise RuntimeError(f"the fair rates are not known: {solution}")
    return solution.flow_rates


def compare(instances: list[Instance], kinds: list[str], methods: list[str], patience: float) -> Iterator[Row]:
    """Every row, in order, as soon as it is known."""
    slow: dict[tuple[str, str], int] = {}
    for instance in instances:
        for task, contenders in tasks(instance):
            if not any(matches(part, task.kind) for part in kinds):
                continue
            exact = exactly(task) if math.isinf(task.alpha) else None
            ours: Row | None = None
            for who, solve in contenders:
                if not any(matches(part, who) for part in methods):
                    continue
                flows = len(task.weights)
                if slow.get((task.kind, who), flows + 1) <= flows:
                    note = f"over {patience:.0f} s for {slow[task.kind, who]} flows"
                    yield Row(instance.name, instance.size, instance.source, task.kind, who, note=note)
                    continue
                row = measure(who, solve, task, exact, patience)
                if row.note.startswith("over"):
                    slow[task.kind, who] = flows
                if who == "netnum":
                    ours = row
                    row.ratio = 1.0 if row.median is not None else None
                    yield row
                    continue
                beside = ours
                if row.gap is not None and ours is not None and ours.gap is not None and 1e-12 < row.gap < ours.gap:
                    beside = measure(SAME_GAP, netnum_to(row.gap, "gap"), task, None, patience)
                if beside is not None and row.median is not None and beside.median is not None and not beside.note:
                    row.ratio = row.median / beside.median
                yield row
                if beside is not None and beside is not ours:
                    yield beside


COLUMNS = f"{'who':<24}{'seconds':>11}{'gap':>10}{'overload':>10}{'mean err':>10}{'largest':>10}{'x netnum':>10}"


def line(row: Row) -> str:
    if row.median is None:
        return f"{row.who:<24}  {row.note}"
    small = (row.gap, row.overload, row.mean_error, row.largest_error)
    numbers = "".join(f"{'-':>10}" if value is None else f"{value:>10.1e}" for value in small)
    ratio = f"{'-':>10}" if row.ratio is None else f"{row.ratio:>10.2f}"
    return f"{row.who:<24}{row.median:>11.5f}{numbers}{ratio}  {row.note}".rstrip()


# --- the page ---

HEADER = """# Wide-area networks

Written by `make wide-area` (`benches/wide_area.py --write`), in one run; not edited by hand. Several paths per flow,
demands, one thread each, medians, from arrays to rates and prices. `max-min W` is weighted, `B` capped by demands,
`alpha 1` weighted, `alpha 2` and `4` weighted and capped, `throughput` capped. "Gap" is what `netnum.certify` proves of
an answer; "fairness error" is that of single rates against the proven max-min rates, the mean and the largest;
"× netnum" is the time beside netnum's in the same run, at the same proven gap. The head of the script says how networks
are drawn and what every method does.
"""


def page(about: dict[str, Any], rows: list[Row]) -> str:
    """The rows as a page, a table per network."""
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    load = f", load {about['load']:.1f} from other work" if about["load"] is not None else ""
    text = f"{HEADER}\n{about['processor']}{load}, {about['date']}, Python {about['python']}; {packages}.\n"
    header = ["problem, method", "time", "gap", "fairness error, mean", "largest", "overload", "× netnum", ""]
    for name in dict.fromkeys(row.instance for row in rows):
        some = [row for row in rows if row.instance == name]
        text += f"\n## {name}\n\n{some[0].size}; {some[0].source}.\n\n"
        lines = []
        for row in some:
            cells = [f"{row.kind}, {row.who.strip()}"]
            cells.append("–" if row.median is None else duration(1e9 * row.median))
            small = (row.gap, row.mean_error, row.largest_error, row.overload)
            cells += ["–" if value is None else f"{value:.1e}" for value in small]
            cells.append("–" if row.ratio is None else f"{three_digits(row.ratio)} ×")
            lines.append([*cells, row.note])
        text += markdown(header, lines)
    return text


def main() -> None:
    """Compares, and prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="networks in .npz, beside or instead of --instances")
    parser.add_argument("--quick", action="store_true", help="the shipped networks only")
    parser.add_argument("--instances", type=parts_of([*(name for name, _ in INSTANCES), "none"]), help="only these")
    parser.add_argument("--problems", type=parts_of([kind for kind, *_ in KINDS]), default=[""], help="only these")
    parser.add_argument("--methods", type=parts_of(CONTENDERS), default=[""], help="only these")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that one solve may take")
    parser.add_argument("--here", action="store_true", help="with the packages that there are: nothing is installed")
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    parser.add_argument("--write", action="store_true", help=f"also write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if not arguments.here and Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        enter_environment()

    about = circumstances()
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']}, Python {about['python']}")
    print(", ".join(f"{name} {number}" for name, number in about["packages"].items()))
    parts = arguments.instances or (QUICK if arguments.quick else [""])
    drawn = [draw() for name, draw in INSTANCES if any(matches(part, name) for part in parts)]
    drawn += sorted((of_file(path) for path in arguments.files), key=lambda instance: len(instance.demands))
    rows: list[Row] = []
    for row in compare(drawn, arguments.problems, arguments.methods, arguments.patience):
        if not rows or (rows[-1].instance, rows[-1].kind) != (row.instance, row.kind):
            print(f"\n{row.instance} ({row.size}), {row.kind}\n{COLUMNS}")
        print(line(row), flush=True)
        rows.append(row)
        if arguments.json:  # after every row, so that a run that is stopped leaves what there is
            found = {"about": about, "rows": [asdict(row) for row in rows]}
            arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.write:
        PAGE.write_text(page(about, rows))
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
