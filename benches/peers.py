"""netnum beside other solvers, on the same instances, in the same run.

    python3 benches/peers.py                        everything
    python3 benches/peers.py --quick                up to 1000 flows: some minutes
    python3 benches/peers.py --instances wan,max-min --methods clarabel,netnum --json peers.json

Instances: the leaf-spine of 9 racks x 16 servers x 4 spines (10 and 40 Gbit/s), the fat-tree of 16-port switches, and
wide-area networks, every capacity times 0.8 to 1.2, random pairs, one path each, weights 0.5 to 1.5; everything drawn
from one seed. Proportional fairness, alone and with coefficients of 0.5 to 2 and guaranteed rates of half of the flows,
and weighted max-min.

All solvers start from the same arrays (capacities, paths as indptr and indices, weights; Gbit/s) and have one thread.
"seconds" is the time from there to rates and prices in NumPy, "solver" the part that the solver itself reports:
Clarabel's is without the time of CVXPY. After a run that is not timed come several that are, one at a time; the table
has their median and minimum. A solver that took longer than `PATIENCE` for a smaller instance of the same kind is left
out.

`netnum.certify` judges every answer: "overload" is by how much it exceeds a capacity, "gap" bounds the utility that is
still missing once F-NORM has made it feasible, and "loss" is its distance from the certified optimum then: of the mean
log rate, or for max-min the largest relative error of a rate. "tol" is the tolerance of the solver, in its own terms,
and "loss" the accuracy that it reached; only rows of similar losses are equally good. "x netnum" is the median over
that of netnum's row with the same tolerance; below the row of another solver is netnum again, with the gap that the
other one reached as its tolerance.

The peers: CVXPY with Clarabel and with ECOS; CasADi with IPOPT; SciPy's trust-constr, which takes sparse constraints
and the exact Hessian (its SLSQP is dense); and plain NumPy without a solver: NED, fast NED and water-filling. The
first run makes the environment `.venv-peers`, with the packages in `peer_runs.PACKAGES` and netnum built from this
checkout; it needs what `make demo` needs, and Python 3.11 for the peers. A peer that cannot be installed is named, and
the others run. Run nothing else meanwhile: Clarabel takes twice as long beside a busy core.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from peer_runs import (
    ENVIRONMENT,
    SEED,
    circumstances,
    enter_environment,
    matches,
    parts_of,
    print_circumstances,
    repetitions,
    timed,
    write_json,
)

#: Seconds. A method that needs more for one solve of an instance is left out of larger ones of its kind, and the loops
#: in NumPy stop then.
PATIENCE = 60.0


@dataclass
class Instance:
    """The arrays that all methods start from, in Gbit/s."""

    name: str
    capacities: Any
    indptr: Any
    indices: Any
    weights: Any
    alpha: float = 1.0
    #: How much of every link of a path a unit of its rate takes, in the order of `indices`, and what every flow has to
    #: have at least.
    coefficients: Any = None
    floors: Any = None

    @property
    def kind(self) -> str:
        """The part of the name that instances of several sizes share."""
        return self.name.split(",")[0]


@dataclass
class Answer:
    """The result of a method, and the time that the solver reports."""

    rates: Any
    prices: Any
    solver_seconds: float
    status: str


@dataclass
class Row:
    """One line of the table. Without numbers, `note` has the reason."""

    instance: str
    method: str
    tol: float
    runs: int = 0
    median: float | None = None
    minimum: float | None = None
    solver: float | None = None
    gap: float | None = None
    loss: float | None = None
    overload: float | None = None
    ratio: float | None = None
    note: str = ""


# --- the methods: other solvers ---


def routing(instance: Instance) -> Any:
    """The routing matrix: links x flows."""
    import numpy as np
    import scipy.sparse

    uses = np.ones(len(instance.indices)) if instance.coefficients is None else instance.coefficients
    crossings = (uses, instance.indices, instance.indptr)
    return scipy.sparse.csc_matrix(crossings, shape=(len(instance.capacities), len(instance.weights)))


def cvxpy_with(solver: str, **options: float) -> Callable[[Instance, float], Answer]:
    """The usual model in CVXPY: an exponential cone for every logarithm. Options are factors of the tolerance."""

    def solve(instance: Instance, tol: float) -> Answer:
        import cvxpy

        rates = cvxpy.Variable(len(instance.weights))
        within = routing(instance) @ rates <= instance.capacities
        guaranteed = [] if instance.floors is None else [rates >= instance.floors]
        utility = cvxpy.sum(cvxpy.multiply(instance.weights, cvxpy.log(rates)))
        problem = cvxpy.Problem(cvxpy.Maximize(utility), [within, *guaranteed])
        tolerances = {name: factor * tol for name, factor in options.items()}
        problem.solve(solver=solver, **tolerances, **({"max_threads": 1} if solver == "CLARABEL" else {}))
        return Answer(rates.value, within.dual_value, problem.solver_stats.solve_time, problem.status)

    return solve


def equal_shares(instance: Instance) -> Any:
    """Half of the equal share of every flow's fullest link: inside all constraints."""
    import numpy as np

    counts = np.bincount(instance.indices, minlength=len(instance.capacities))
    shares = instance.capacities / np.maximum(counts, 1)
    return 0.5 * np.minimum.reduceat(shares[instance.indices], instance.indptr[:-1])


def ipopt(instance: Instance, tol: float) -> Answer:
    """The usual model in CasADi, with IPOPT and its MUMPS."""
    import casadi
    import numpy as np

    matrix = routing(instance)
    matrix.sort_indices()
    pattern = casadi.Sparsity(*matrix.shape, matrix.indptr.tolist(), matrix.indices.tolist())
    rates = casadi.MX.sym("x", matrix.shape[1])
    problem = {
        "x": rates,
        "f": -casadi.dot(casadi.DM(instance.weights), casadi.log(rates)),
        "g": casadi.densify(casadi.DM(pattern, matrix.data) @ rates),  # links may be idle
    }
    options = {"ipopt.tol": tol, "ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}
    solver = casadi.nlpsol("solver", "ipopt", problem, options)
    began = time.perf_counter()
    found = solver(x0=equal_shares(instance), lbx=0, ubx=np.inf, lbg=-np.inf, ubg=instance.capacities)
    seconds, stats = time.perf_counter() - began, solver.stats()
    status = "optimal" if stats["success"] else stats["return_status"]
    return Answer(found["x"].full().ravel(), found["lam_g"].full().ravel(), seconds, status)


def trust_constr(instance: Instance, tol: float) -> Answer:
    """SciPy's trust-constr, with the exact gradient and Hessian."""
    import numpy as np
    import scipy.sparse
    from scipy.optimize import Bounds, LinearConstraint, minimize

    weights, start = instance.weights, equal_shares(instance)
    began = time.perf_counter()
    found = minimize(
        lambda x: -weights @ np.log(x),
        start,
        jac=lambda x: -weights / x,
        hess=lambda x: scipy.sparse.diags_array(weights / x**2),
        bounds=Bounds(1e-3 * start, np.inf, keep_feasible=True),
        constraints=[LinearConstraint(routing(instance).tocsr(), -np.inf, instance.capacities)],
        method="trust-constr",
        callback=lambda _x, _state: time.perf_counter() - began > PATIENCE,
        options={"gtol": tol, "xtol": 1e-12, "barrier_tol": tol, "maxiter": 2000},
    )
    status = "optimal" if found.status in (1, 2) else found.message
    return Answer(found.x, found.v[0], time.perf_counter() - began, status)


# --- the methods: plain NumPy ---


class Arrays:
    """Proportional fairness over compressed rows: sums over a flow's links, and over a link's flows."""

    def __init__(self, instance: Instance) -> None:
        import numpy as np

        self.instance, self.links = instance, len(instance.capacities)
        self.flow_of = np.repeat(np.arange(len(instance.weights)), np.diff(instance.indptr))
        # No flow is faster than the narrowest link of its path.
        self.fastest = np.minimum.reduceat(instance.capacities[instance.indices], instance.indptr[:-1])

    def over_paths(self, prices: Any) -> Any:
        import numpy as np

        return np.add.reduceat(prices[self.instance.indices], self.instance.indptr[:-1])

    def over_links(self, rates: Any) -> Any:
        import numpy as np

        return np.bincount(self.instance.indices, rates[self.flow_of], minlength=self.links)

    def respond(self, prices: Any) -> tuple[Any, Any]:
        """Rates, and by how much each falls per unit of its path's price."""
        import numpy as np

        weights, path_prices = self.instance.weights, np.maximum(self.over_paths(prices), 1e-300)
        rates = np.minimum(weights / path_prices, self.fastest)
        return rates, rates / np.maximum(path_prices, weights / self.fastest)

    def first_prices(self) -> Any:
        """Every flow's revenue at an equal share, which is its weight, split over its links."""
        import numpy as np

        return self.over_links(self.instance.weights / np.diff(self.instance.indptr)) / self.instance.capacities

    def proven(self, prices: Any) -> tuple[float, Any]:
        """The relative duality gap of the rates at these prices after F-NORM, and those rates."""
        import numpy as np

        instance = self.instance
        rates, _ = self.respond(prices)
        fullness = np.maximum(self.over_links(rates) / instance.capacities, 1.0)
        feasible = rates / np.maximum.reduceat(fullness[instance.indices], instance.indptr[:-1])
        revenue = prices @ instance.capacities
        lost = instance.weights @ np.log(rates / feasible) + revenue - self.over_paths(prices) @ rates
        return lost / min(instance.weights.sum(), revenue), feasible

    def until(self, tol: float, prices_of_steps: Iterator[Any]) -> Answer:
        """Checks the prices of every tenth step, until the gap is at most `tol` or `PATIENCE` is over."""
        began = time.perf_counter()
        for step, prices in enumerate(prices_of_steps):
            if step % 10 == 0:
                gap, rates = self.proven(prices)
                seconds = time.perf_counter() - began
                if gap <= tol or seconds > PATIENCE:
                    status = "optimal" if gap <= tol else f"not done after {step} iterations"
                    return Answer(rates, prices, seconds, status)
        raise AssertionError("steps do not end")


def numpy_ned(instance: Instance, tol: float) -> Answer:
    """NED as published, with the step of its experiments."""
    import numpy as np

    arrays = Arrays(instance)

    def steps() -> Iterator[Any]:
        prices = arrays.first_prices()
        while True:
            yield prices
            rates, slopes = arrays.respond(prices)
            excess, slope = arrays.over_links(rates) - instance.capacities, arrays.over_links(slopes)
            prices = np.maximum(prices + 0.4 * excess / np.maximum(slope, 1e-300), 0.0)

    return arrays.until(tol, steps())


def numpy_fast_ned(instance: Instance, tol: float) -> Answer:
    """NED with slopes that count a flow once per priced link, momentum per link, and a test of the slope on the way."""
    import numpy as np

    arrays, capacities = Arrays(instance), instance.capacities
    used = np.bincount(instance.indices, minlength=arrays.links) > 0

    def excess_and_slopes(prices: Any) -> tuple[Any, Any]:
        rates, slopes = arrays.respond(prices)
        return arrays.over_links(rates) - capacities, slopes

    def steps() -> Iterator[Any]:
        base = point = np.where(used, arrays.first_prices(), 0.0)
        momentum, gamma = np.ones(arrays.links), 1.0
        excess, slopes = excess_and_slopes(point)
        while True:
            yield point
            priced = arrays.over_paths(((point > 0) | (excess > 0)).astype(float))
            newton = excess / np.maximum(arrays.over_links(slopes * np.maximum(priced, 1.0)), 1e-300)
            while True:
                moved = np.where(used, np.maximum(point + gamma * newton, 0.0), 0.0)
                kept = np.where(excess * (moved - base) < 0, 1.0, momentum)
                grown = (1 + np.sqrt(1 + 4 * kept**2)) / 2
                ahead = np.maximum(moved + (kept - 1) / grown * (moved - base), 0.0)
                change, (excess_ahead, slopes_ahead) = ahead - point, excess_and_slopes(ahead)
                if -(excess_ahead @ change) <= 0.8 * abs(excess @ change) + 1e-12 * (capacities @ ahead):
                    break
                gamma, momentum = gamma / 2, np.ones(arrays.links)
            gamma, momentum = min(1.0, 1.5 * gamma), grown
            base, point, excess, slopes = moved, ahead, excess_ahead, slopes_ahead

    return arrays.until(tol, steps())


def numpy_water_filling(instance: Instance, _tol: float) -> Answer:
    """The link with the lowest level fills, its flows stop, and what they use is taken from their links."""
    import numpy as np

    began = time.perf_counter()
    weights, indptr, indices = instance.weights, instance.indptr, instance.indices
    links, lengths = len(instance.capacities), np.diff(instance.indptr)
    flow_of = np.repeat(np.arange(len(weights)), lengths)
    through = np.split(
        flow_of[np.argsort(indices, kind="stable")], np.cumsum(np.bincount(indices, minlength=links))[:-1]
    )
    left, weight = instance.capacities.copy(), np.bincount(indices, weights[flow_of], minlength=links)
    rising = np.bincount(indices, minlength=links)
    rates = np.zeros(len(weights))
    while rising.any():
        level = np.where(rising > 0, left / np.maximum(weight, 1e-300), np.inf)
        full = np.argmin(level)
        flows = through[full][rates[through[full]] == 0]
        rates[flows] = weights[flows] * level[full]
        # The crossings of these flows, one path after the other.
        ends = np.cumsum(lengths[flows])
        crossings = np.arange(ends[-1]) + np.repeat(indptr[flows] - ends + lengths[flows], lengths[flows])
        touched, of_flow = indices[crossings], np.repeat(flows, lengths[flows])
        left -= np.bincount(touched, rates[of_flow], minlength=links)
        weight -= np.bincount(touched, weights[of_flow], minlength=links)
        rising -= np.bincount(touched, minlength=links)
    return Answer(rates, np.zeros(links), time.perf_counter() - began, "optimal")


# --- the methods: netnum ---


def netnum_by(method: str) -> Callable[[Instance, float], Answer]:
    """One of netnum's methods."""

    def solve(instance: Instance, tol: float) -> Answer:
        import netnum

        solution = netnum.solve(problem_of(instance), method, **({"tol": tol} if tol else {}))
        return Answer(solution.rates, solution.prices, solution.seconds, solution.status)

    return solve


clarabel = cvxpy_with("CLARABEL", tol_gap_abs=1, tol_gap_rel=1, tol_feas=1)
ecos = cvxpy_with("ECOS", abstol=1, reltol=1, feastol=1)

#: Every row of a table: its name, the tolerance, and the function. netnum's rows come first, since the others of the
#: same tolerance are compared with them.
PROPORTIONAL: list[tuple[str, float, Callable[[Instance, float], Answer]]] = [
    ("netnum interior-point", 1e-9, netnum_by("interior-point")),
    ("netnum auto", 1e-6, netnum_by("auto")),
    *((name, tol, solve)
      for name, solve in [
          ("cvxpy + clarabel", clarabel),
          ("cvxpy + ecos", ecos),
          ("casadi + ipopt", ipopt),
          ("scipy trust-constr", trust_constr),
          ("numpy ned", numpy_ned),
          ("numpy fast ned", numpy_fast_ned),
      ]
      for tol in (1e-6, 1e-9)),
]  # fmt: skip
MAX_MIN: list[tuple[str, float, Callable[[Instance, float], Answer]]] = [
    ("netnum max-min", 0.0, netnum_by("max-min")),
    ("numpy water-filling", 0.0, numpy_water_filling),
]
#: Those that take coefficients and floors, beside `auto` at every tolerance.
CONSTRAINED = [
    *(("netnum auto", tol, netnum_by("auto")) for tol in (1e-6, 1e-9)),
    *(row for row in PROPORTIONAL if row[0].startswith("cvxpy")),
]
METHODS = PROPORTIONAL + MAX_MIN


def methods_for(instance: Instance) -> list[tuple[str, float, Callable[[Instance, float], Answer]]]:
    if math.isinf(instance.alpha):
        return MAX_MIN
    return PROPORTIONAL if instance.floors is None else CONSTRAINED


#: The row below another solver's: netnum to the gap that it reached.
SAME_GAP = "  netnum auto, that gap"


# --- the instances ---


def with_flows(name: str, net: Any, flows: int, alpha: float = 1.0) -> Instance:
    """Random flows over a network whose capacities differ."""
    import numpy as np

    paths = net.ecmp(*net.random_pairs(flows, seed=SEED), seed=SEED)
    random = np.random.default_rng(SEED)
    capacities = net.capacities * random.uniform(0.8, 1.2, len(net.capacities))
    weights = random.uniform(0.5, 1.5, flows)
    return Instance(f"{name}, {flows} flows", capacities, paths.indptr, paths.indices, weights, alpha)


def constrained(instance: Instance) -> Instance:
    """Coefficients and floors: every second flow has up to 0.9 of an equal share, so that all floors fit at once."""
    import numpy as np

    random = np.random.default_rng(SEED)
    coefficients = 2 ** random.uniform(-1, 1, len(instance.indices))
    taken = np.bincount(instance.indices, coefficients, minlength=len(instance.capacities))
    shares = instance.capacities / np.maximum(taken, 1e-300)
    equal = np.minimum.reduceat(shares[instance.indices], instance.indptr[:-1])
    floors = np.where(np.arange(len(equal)) % 2, 0.0, random.uniform(0.1, 0.9, len(equal)) * equal)
    name = instance.name.replace(",", " with coefficients and floors,")
    return replace(instance, name=name, coefficients=coefficients, floors=floors)


def leaf_spine() -> Any:
    import netnum

    return netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10, fabric_capacity=40)


def fat_tree() -> Any:
    import netnum

    return netnum.topology.fat_tree(16, capacity=10)


def wide_area(nodes: int) -> Any:
    """Random points of the unit square, each joined to the three nearest before it: some 6 links a node."""
    import numpy as np

    import netnum

    points = np.random.default_rng(SEED).random((nodes, 2))
    edges = []
    for node in range(1, nodes):
        distances = np.hypot(*(points[:node] - points[node]).T)
        edges += [f"{node} {other} 40" for other in np.argsort(distances)[:3]]
    return netnum.topology.from_edges("\n".join(edges))


#: Every instance by the name that `--instances` takes.
INSTANCES: list[tuple[str, Callable[[], Instance]]] = [
    *((f"proportional {flows}", lambda flows=flows: with_flows("leaf-spine 9 x 16 x 4", leaf_spine(), flows))
      for flows in (100, 1_000, 10_000, 100_000)),
    *((f"constrained {flows}",
       lambda flows=flows: constrained(with_flows("leaf-spine 9 x 16 x 4", leaf_spine(), flows)))
      for flows in (1_000, 10_000)),
    ("fat-tree", lambda: with_flows("fat-tree k = 16", fat_tree(), 10_000)),
    *((f"wan {nodes}", lambda nodes=nodes: with_flows(f"wan of {nodes} nodes", wide_area(nodes), 5_000))
      for nodes in (85, 250, 418)),
    *((f"max-min {flows}", lambda flows=flows: with_flows("max-min", leaf_spine(), flows, math.inf))
      for flows in (1_000, 10_000, 100_000)),
]  # fmt: skip
QUICK = ["proportional 100", "proportional 1000", "max-min 1000"]


# --- the comparison ---


def problem_of(instance: Instance) -> Any:
    """The instance as a problem of netnum."""
    import netnum

    paths = netnum.Paths(instance.indptr, instance.indices, coefficients=instance.coefficients)
    utility = netnum.AlphaFair(instance.alpha, instance.weights)
    return netnum.Problem(instance.capacities, paths, utility, flow_floor=instance.floors)


def optimum(instance: Instance) -> Any:
    """The best rates, proven to be within 1e-11 of the optimum, or exact for max-min."""
    import netnum

    problem = problem_of(instance)
    if math.isinf(instance.alpha):
        return netnum.max_min(problem)
    solution = netnum.solve(problem, "interior-point", tol=1e-11)
    if solution.gap > 1e-10:
        raise RuntimeError(f"the optimum is not known: {solution}")
    return solution.rates


def loss(instance: Instance, best: Any, rates: Any) -> float:
    """The loss of feasible rates against the optimum."""
    import numpy as np

    if math.isinf(instance.alpha):
        return float(np.max(np.abs(rates - best) / best))
    return float(instance.weights @ np.log(best / rates) / instance.weights.sum())


def measure(method: str, tol: float, solve: Callable[[Instance, float], Answer], instance: Instance, best: Any) -> Row:
    """Times one method on one instance, and certifies its last answer."""
    import numpy as np

    import netnum

    row = Row(instance.name, method, tol)
    try:
        warm_up, answer = timed(lambda: solve(instance, tol))
        runs = [(warm_up, answer)]
        if warm_up <= PATIENCE:
            runs = [timed(lambda: solve(instance, tol)) for _ in range(repetitions(warm_up))]
            answer = runs[-1][1]
        if answer.rates is None:
            raise RuntimeError(f"no answer: {answer.status}")
        # An interior-point method may leave a zero a little below zero.
        rates, prices = np.maximum(answer.rates, 0.0), np.maximum(answer.prices, 0.0)
        problem = problem_of(instance)
        certificate = netnum.certify(problem, rates, prices)
        row.loss = loss(instance, best, netnum.f_norm(problem, rates))
    except Exception as error:  # a failure is a row and not the end of the table
        row.note = f"{type(error).__name__}: {error}".splitlines()[0]
        return row
    seconds = [run for run, _ in runs]
    row.runs, row.median, row.minimum = len(runs), statistics.median(seconds), min(seconds)
    row.solver = statistics.median(answer.solver_seconds for _, answer in runs)
    row.gap, row.overload = certificate.relative_gap, certificate.overload
    row.note = "" if answer.status == "optimal" else answer.status
    return row


def compare(instances: list[str], methods: list[str]) -> Iterator[Row]:
    """Every row, in order, as soon as it is known; after another solver's, netnum's to the gap that it has reached."""
    slow: set[tuple[str, str]] = set()
    for name, draw in INSTANCES:
        if not any(matches(part, name) for part in instances):
            continue
        instance = draw()
        best = optimum(instance)
        max_min = math.isinf(instance.alpha)
        ours: dict[float, float] = {}
        for method, tol, solve in methods_for(instance):
            if not any(matches(part, method) for part in methods):
                continue
            if (instance.kind, method) in slow:
                yield Row(instance.name, method, tol, note=f"over {PATIENCE:.0f} s for fewer flows")
                continue
            row = measure(method, tol, solve, instance, best)
            if row.median is not None and row.median > PATIENCE:
                slow.add((instance.kind, method))
            if method.startswith("netnum") and row.median is not None and not row.note:
                ours[tol] = row.median
            if row.median is not None and tol in ours and not row.note:
                row.ratio = row.median / ours[tol]
            yield row
            if not max_min and not method.startswith("netnum") and row.gap is not None and 1e-12 < row.gap < 1:
                yield measure(SAME_GAP, row.gap, netnum_by("auto"), instance, best)


HEADER = (
    f"{'method':<24}{'tol':>8}{'seconds':>11}{'min':>11}{'solver':>11}{'gap':>10}{'loss':>10}{'overload':>10}"
    f"{'x netnum':>10}  runs"
)


def line(row: Row) -> str:
    start = f"{row.method:<24}{row.tol:>8.0e}"
    if row.median is None:
        return f"{start}  {row.note}"
    times = "".join(f"{seconds:>11.5f}" for seconds in (row.median, row.minimum, row.solver))
    quality = "".join(
        f"{'-':>10}" if value is None else f"{value:>10.1e}" for value in (row.gap, row.loss, row.overload)
    )
    ratio = f"{'-':>10}" if row.ratio is None else f"{row.ratio:>10.1f}"
    return f"{start}{times}{quality}{ratio}{row.runs:>6}  {row.note}".rstrip()


def main() -> None:
    """Compares, and prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 1000 flows only")
    parser.add_argument(
        "--instances",
        type=parts_of([name for name, _ in INSTANCES]),
        help="only instances whose name has these words, as in 'wan,max-min 1000'",
    )
    parser.add_argument(
        "--methods",
        type=parts_of([method for method, _, _ in METHODS]),
        default=[""],
        help="only rows whose name has these words, as in netnum,clarabel",
    )
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    arguments = parser.parse_args()
    if Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        enter_environment()

    about = circumstances()
    print_circumstances(about)
    rows: list[Row] = []
    for row in compare(arguments.instances or (QUICK if arguments.quick else [""]), arguments.methods):
        if not rows or rows[-1].instance != row.instance:
            print(f"\n{row.instance}\n{HEADER}")
        print(line(row), flush=True)
        rows.append(row)
        if arguments.json:
            write_json(arguments.json, about, rows)


if __name__ == "__main__":
    main()
