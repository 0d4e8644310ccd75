"""The optimum over all paths of a network: how long it takes, beside k = 4 paths and beside programs without paths.

    python benches/all_paths.py pairs --networks Cogentco              all pairs of a network
    python benches/all_paths.py pairs --networks Kdl --largest 3.2 --objectives "alpha 1"
    python benches/all_paths.py geometric --nodes 100,1000             all pairs of random geometric networks
    python benches/all_paths.py beside_k4 NETWORK.npz …                beside making and solving k = 4 paths
    python benches/all_paths.py edge_lp NETWORK.npz …                  throughput beside linear programs in edge form
    python benches/all_paths.py max_min NETWORK.npz …                  max-min beside a sequence of such programs
    python benches/all_paths.py max_min --networks Cogentco --flows 1000,5000
    python benches/all_paths.py growth                                 time and rounds over nodes, all pairs

Demands of `pairs` are uniform (seed 7) and load the busiest link on shortest paths twofold, `--overload` times, or are
up to `--largest`. Links carry 1000. `geometric`: points of the unit square, each joined to its 10 nearest neighbours
both ways, log utility, weights .3 to 3 and capacities .5 to 5, log-uniform, without demands; `growth` has such networks
with uniform demands that on shortest paths take twice, `--overload` times, the capacity of all links together, so that
they fit over no paths. The other parts take networks of files, .npz with the arrays link_src, link_dst, capacity, src,
dst, demand and weight; without any the backbones of the package, gravity demands that overload them twofold, and 1000
pairs (`--flows`) of the networks of `networks/` with lognormal demands that do, or of `--networks` alone.

"own gap" is a bound of this script: netnum's prices, SciPy's shortest paths under them, and the best rates at their
costs. "rates" is the largest relative difference to the rates of a solve to 1e-9. Linear programs in edge form have a
variable for every source and link and are solved by HiGHS with SciPy; their time is the solver's alone. Max-min is a
sequence of them: the largest level, flows that it cannot raise by the duals, again. Times are of one thread, and of
the processor: other work beside it does not count.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from at_size import network
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree
from tables import markdown, three_digits

import netnum

BACKBONES = ["abilene", "nsfnet", "b4"]
ZOO = ["Uninett2010", "UsCarrier", "Cogentco", "Kdl"]
#: By name: alpha, and whether flows are capped by their demands.
OBJECTIVES = {
    "throughput": (0.0, True),
    **{f"alpha {alpha:g}{free}": (alpha, not free) for alpha in (0.5, 1.0, 2.0, 4.0) for free in ("", " free")},
    "max-min": (np.inf, True),
    "max-min free": (np.inf, False),
}


@dataclass
class Instance:
    """A network with pairs, their demands and weights."""

    name: str
    net: netnum.Topology
    sources: Any
    destinations: Any
    demands: Any
    weights: Any

    @property
    def size(self) -> str:
        return f"{self.name}, {len(self.net.node_names)} nodes, {len(self.net.links)} links, {len(self.demands)} flows"

    def problem(self, objective: str, paths: Any = None) -> netnum.Problem:
        alpha, capped = OBJECTIVES[objective]
        utility = netnum.AlphaFair(alpha, weight=self.weights) if alpha else netnum.Linear(self.weights)
        pairs = (self.sources, self.destinations) if paths is None else paths
        return netnum.Problem(self.net, pairs, utility, flow_cap=self.demands if capped else None)

    def own_gap(self, objective: str, solution: Any) -> float:
        """The gap over all paths that SciPy's shortest paths prove, on the scale of netnum's certificate."""
        alpha, capped = OBJECTIVES[objective]
        prices, weights = np.asarray(solution.prices), self.weights
        costs = shortest(self.net, prices)[self.sources, self.destinations]
        most = self.demands if capped else np.full(len(weights), np.inf)
        rates = np.asarray(solution.flow_rates)
        if alpha == 0:
            best, value = (np.maximum(weights - costs, 0) * most).sum(), weights @ rates
            return float((prices @ self.net.capacities + best - value) / value)

        def utility(y: Any) -> Any:
            return weights * np.log(y) if alpha == 1 else weights**alpha * y ** (1 - alpha) / (1 - alpha)

        y = np.minimum(weights * np.maximum(costs, 1e-60) ** (-1 / alpha), most)
        gap = prices @ self.net.capacities + (utility(y) - y * costs - utility(rates)).sum()
        return float(gap / (weights**alpha * rates ** (1 - alpha)).sum())


def shortest(net: netnum.Topology, prices: Any) -> Any:
    """What the cheapest path between any two nodes costs."""
    tail, head = np.asarray(net.links).T
    nodes = len(net.node_names)
    costs = np.full((nodes, nodes), np.inf)
    np.minimum.at(costs, (tail, head), prices + 1e-300)
    costs[np.isinf(costs)] = 0.0
    return dijkstra(sparse.csr_matrix(costs))


# --- networks ---


def overloaded(instance: Instance, times: float) -> Instance:
    """With demands that load the busiest link so many times, each on one path of the fewest links."""
    tail, head = np.asarray(instance.net.links).T
    nodes = len(instance.net.node_names)
    number = dict(zip(zip(tail.tolist(), head.tolist(), strict=True), range(len(tail)), strict=True))
    graph = sparse.csr_matrix((np.ones(len(tail)), (tail, head)), shape=(nodes, nodes))
    hops, before = dijkstra(graph, unweighted=True, return_predecessors=True)
    matrix = sparse.csr_matrix((instance.demands, (instance.sources, instance.destinations)), shape=(nodes, nodes))
    load = np.zeros(len(tail))
    for source in range(nodes):
        through = matrix[source].toarray().ravel()
        for node in np.argsort(-hops[source], kind="stable").tolist():
            if through[node] > 0 and node != source:
                last = before[source, node]
                load[number[last, node]] += through[node]
                through[last] += through[node]
    instance.demands = instance.demands * (times / float((load / instance.net.capacities).max()))
    return instance


def of_all_pairs(name: str, net: netnum.Topology, times: float, largest: float | None = None) -> Instance:
    """Uniform demands between all pairs, up to a largest one or as large as they overload the network."""
    nodes = len(net.node_names)
    sources, destinations = np.nonzero(~np.eye(nodes, dtype=bool))
    demands = np.random.RandomState(7).rand(nodes, nodes)[sources, destinations]
    weights = np.ones(len(demands))
    if largest is not None:
        return Instance(name, net, sources, destinations, largest * demands, weights)
    return overloaded(Instance(name, net, sources, destinations, demands, weights), times)


def geometric_network(nodes: int, seed: int = 1) -> netnum.Topology:
    """Points of the unit square, each joined to its 10 nearest neighbours, both ways."""
    rng = np.random.default_rng(seed)
    points = rng.random((nodes, 2))
    near = KDTree(points).query(points, min(11, nodes))[1][:, 1:]
    edges = sorted({(min(a, b), max(a, b)) for a in range(nodes) for b in near[a].tolist()})
    links = [link for a, b in edges for link in ((a, b), (b, a))]
    capacities = np.exp(rng.uniform(np.log(0.5), np.log(5.0), len(links)))
    return netnum.Topology([f"n{node}" for node in range(nodes)], links, capacities)


def backbone(name: str) -> Instance:
    """A backbone of the package with gravity demands."""
    net = netnum.topology.backbone(name)
    demands = netnum.demands.gravity(net, 1.0, spread=1.0, seed=1)
    weights = np.random.default_rng(1).choice([1.0, 2.0, 4.0, 8.0], len(demands.volumes))
    sources, destinations, volumes = map(np.asarray, (demands.sources, demands.destinations, demands.volumes))
    return overloaded(Instance(name, net, sources, destinations, volumes, weights), 2.0)


def some_pairs(name: str, flows: int) -> Instance:
    """Some pairs of a network of `networks/` with lognormal demands."""
    net, rng = network(name, equal=False), np.random.default_rng(1)
    nodes = len(net.node_names)
    number = np.sort(rng.choice(nodes * (nodes - 1), min(flows, nodes * (nodes - 1)), replace=False))
    sources, destinations = number // (nodes - 1), number % (nodes - 1)
    destinations = destinations + (destinations >= sources)
    demands = rng.lognormal(0, 1.5, len(number))
    weights = rng.choice([1.0, 2.0, 4.0, 8.0], len(number))
    return overloaded(Instance(f"{name} {flows}", net, sources, destinations, demands, weights), 2.0)


def of_file(path: Path) -> Instance:
    """The arrays of a file, rates in units of the median demand."""
    with np.load(path) as data:
        columns = ("link_src", "link_dst", "src", "dst", "capacity", "demand", "weight")
        tail, head, sources, destinations, capacities, demands, weights = (data[name] for name in columns)
    tail, head, sources, destinations = (column.astype(np.int64) for column in (tail, head, sources, destinations))
    nodes = 1 + max(int(column.max()) for column in (tail, head, sources, destinations))
    unit = float(np.median(demands[demands > 0]))
    links = list(zip(tail.tolist(), head.tolist(), strict=True))
    net = netnum.Topology([f"n{node}" for node in range(nodes)], links, capacities / unit)
    return Instance(path.stem, net, sources, destinations, demands / unit, weights)


def instances(options: argparse.Namespace) -> Iterator[Instance]:
    """Those of files, or the shipped ones."""
    if options.files:
        yield from sorted(map(of_file, options.files), key=lambda instance: len(instance.demands))
        return
    if not options.networks:
        yield from map(backbone, BACKBONES)
    yield from (some_pairs(name, flows) for name in options.networks or ZOO for flows in options.flows)


# --- parts ---


def show(rows: list[list[str]], *cells: object) -> None:
    """A row, as soon as it is known."""
    rows.append([three_digits(cell) if isinstance(cell, float) else str(cell) for cell in cells])
    print(" | ".join(rows[-1]), flush=True)


def timed(work: Callable[..., Any], *given: Any, **settings: Any) -> tuple[Any, float]:
    began = time.process_time()
    return work(*given, **settings), time.process_time() - began


def difference(rates: Any, exact: Any) -> str:
    return f"{float(np.max(np.abs(np.asarray(rates) - exact) / np.maximum(exact, 1e-9 * exact.max()))):.0e}"


def solved(rows: list[list[str]], instance: Instance, objective: str, options: argparse.Namespace) -> None:
    problem, making = timed(instance.problem, objective)
    solution, took = timed(netnum.solve, problem, time_limit=options.time_limit)
    own = f"{instance.own_gap(objective, solution):.0e}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = [solution.status, solution.rounds, solution.iterations, len(solution.paths)]
    show(rows, instance.size, objective, making, took, *found, f"{solution.gap:.0e}", own, f"{peak:.0f} MB")


SOLVED = [
    "network",
    "objective",
    "making, s",
    "solving, s",
    "status",
    "rounds",
    "iterations",
    "paths",
    "gap",
    "own gap",
]


def pairs(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    for name in options.networks or ["Cogentco"]:
        instance = of_all_pairs(name, network(name, equal=True), options.overload, options.largest)
        for objective in options.objectives or ["throughput", "alpha 1", "alpha 1 free"]:
            solved(rows, instance, objective, options)
    print(markdown([*SOLVED, "peak so far"], rows))


def geometric(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    for nodes in options.nodes or [100, 1000]:
        net = geometric_network(nodes)
        sources, destinations = np.nonzero(~np.eye(nodes, dtype=bool))
        weights = np.exp(np.random.default_rng(2).uniform(np.log(0.3), np.log(3.0), len(sources)))
        instance = Instance(f"geometric {nodes}", net, sources, destinations, weights, weights)
        solved(rows, instance, "alpha 1 free", options)
    print(markdown([*SOLVED, "peak so far"], rows))


def growth(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    for nodes in options.nodes or [10, 50, 200, 750]:
        net = geometric_network(nodes)
        instance = of_all_pairs(f"geometric {nodes}", net, 1.0)
        hops = shortest(net, np.ones(len(net.links)))[instance.sources, instance.destinations]
        instance.demands *= options.overload * net.capacities.sum() / (instance.demands @ hops)
        for objective in options.objectives or ["throughput", "alpha 1"]:
            solved(rows, instance, objective, options)
    print(markdown([*SOLVED, "peak so far"], rows))


def solve_over_all(instance: Instance, objective: str) -> Any:
    return netnum.solve(instance.problem(objective))


def solve_over_four(instance: Instance, objective: str) -> Any:
    paths = instance.net.k_shortest_paths(instance.sources, instance.destinations, 4)
    return netnum.solve(instance.problem(objective, paths))


def beside_k4(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    ratios = []
    for instance in instances(options):
        for objective in options.objectives or [name for name in OBJECTIVES if not name.startswith("max-min")]:
            problem = instance.problem(objective)
            if len(instance.demands) <= options.exact_up_to:
                exact = np.asarray(netnum.solve(problem, tol=1e-9, time_limit=options.time_limit).flow_rates)
            else:
                exact = None
            all_times, k4_times = [], []
            for _ in range(options.repeat):
                solution, took = timed(solve_over_all, instance, objective)
                all_times.append(took)
                four, took = timed(solve_over_four, instance, objective)
                k4_times.append(took)
            ratio = statistics.median(all_times) / statistics.median(k4_times)
            ratios.append(ratio)
            own = f"{instance.own_gap(objective, solution):.0e}"
            rates = "" if exact is None or objective == "throughput" else difference(solution.flow_rates, exact)
            times = [statistics.median(all_times), statistics.median(k4_times), ratio]
            found = [solution.status, solution.rounds, len(solution.paths), len(four.paths)]
            more = f"{np.sum(solution.flow_rates) / np.sum(four.flow_rates) - 1:+.2%}"
            show(rows, instance.size, objective, *times, *found, own, rates, more)
    header = ["network", "objective", "all paths, s", "k = 4, s", "ratio", "status", "rounds", "paths", "of k = 4"]
    print(markdown([*header, "own gap", "rates", "carried more"], rows))
    print(f"median ratio {statistics.median(ratios):.2f}, largest {max(ratios):.2f}, of {len(ratios)}")


class EdgeForm:
    """What pairs may do without paths: flows of every source conserve at nodes and share the links."""

    def __init__(self, instance: Instance, patience: float):
        net = instance.net
        tail, head = np.asarray(net.links).T
        self.capacities, self.flows, self.patience = np.asarray(net.capacities), len(instance.demands), patience
        sources, where = np.unique(instance.sources, return_inverse=True)
        nodes, links, count = len(net.node_names), len(tail), len(sources)
        number = np.arange(links)
        incidence = sparse.csr_matrix(
            (np.repeat([1.0, -1.0], links), (np.r_[head, tail], np.r_[number, number])), shape=(nodes, links)
        )
        # What enters a node less what leaves it is the rate to there; nothing is asked at sources.
        rates = sparse.csr_matrix(
            (-np.ones(self.flows), (where * nodes + instance.destinations, np.arange(self.flows))),
            shape=(count * nodes, self.flows),
        )
        kept = np.setdiff1d(np.arange(count * nodes), np.arange(count) * nodes + sources)
        self.conserve = sparse.hstack([sparse.kron(sparse.identity(count), incidence), rates], format="csr")[kept]
        loads = sparse.hstack([sparse.identity(links)] * count)
        self.loads = sparse.hstack([loads, sparse.csr_matrix((links, self.flows))], format="csr")
        self.width = self.loads.shape[1]
        self.seconds, self.programs = 0.0, 0
        #: Why there is no answer.
        self.failure = ""

    def solve(self, gain: Any, lower: Any, upper: Any, rows: Any = None, level: bool = False) -> Any:
        """Maximizes a sum of rates between bounds, or a level that rows of rates have at least."""
        wide = 1 if level else 0
        objective = np.zeros(self.width + wide)
        objective[self.width - self.flows : self.width] = -gain
        objective[self.width :] = -1.0
        bounds = np.zeros((self.width + wide, 2))
        bounds[:, 1] = np.inf
        bounds[self.width - self.flows : self.width] = np.column_stack([lower, upper])

        def pad(matrix: Any) -> Any:
            return sparse.hstack([matrix, sparse.csr_matrix((matrix.shape[0], wide))])

        above = [pad(self.loads)] + ([] if rows is None else [rows])
        began = time.process_time()
        answer = linprog(
            objective,
            A_ub=sparse.vstack(above, format="csr"),
            b_ub=np.append(self.capacities, np.zeros(0 if rows is None else rows.shape[0])),
            A_eq=pad(self.conserve).tocsr(),
            b_eq=np.zeros(self.conserve.shape[0]),
            bounds=bounds,
            method="highs",
            options={
                "primal_feasibility_tolerance": 1e-10,
                "dual_feasibility_tolerance": 1e-10,
                "time_limit": max(self.patience - self.seconds, 1e-3),
            },
        )
        self.seconds += time.process_time() - began
        self.programs += 1
        if answer.status == 0:
            return answer
        self.failure = f"over {self.patience:g} s" if answer.status == 1 else f"HiGHS fails ({answer.status})"
        return None

    def max_min(self, weights: Any, demands: Any) -> Any:
        """Weighted max-min rates, each at most its demand; None where HiGHS has no answer."""
        held = np.full(self.flows, np.nan)
        first = self.width - self.flows
        while np.isnan(held).any():
            # Flows whose demand is below the level have that: it rises until no more of them are.
            full = np.zeros(self.flows, dtype=bool)
            while True:
                rising = np.flatnonzero(np.isnan(held) & ~full)
                known = np.where(full, demands, np.where(np.isnan(held), 0.0, held)) * (1 - 1e-9)
                if not rising.size:
                    return np.where(full, demands, held)
                picked = (-np.ones(rising.size), (np.arange(rising.size), first + rising))
                rows = sparse.csr_matrix(picked, shape=(rising.size, self.width))
                rows = sparse.hstack([rows, sparse.csr_matrix(weights[rising][:, None])], format="csr")
                answer = self.solve(np.zeros(self.flows), known, np.full(self.flows, np.inf), rows, level=True)
                if answer is None:
                    return None
                level = answer.x[-1]
                more = np.isnan(held) & ~full & (demands <= weights * level)
                if not more.any():
                    break
                full |= more
            duals = -answer.ineqlin.marginals[len(self.capacities) :] * weights[rising]
            fixed = rising[duals > 1e-7]
            held[full] = demands[full]
            held[fixed] = weights[fixed] * level
        return held


def edge_lp(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    for instance in instances(options):
        problem = instance.problem("throughput")
        solution, took = timed(netnum.solve, problem)
        edges = EdgeForm(instance, options.patience)
        answer = edges.solve(instance.weights, np.zeros(edges.flows), instance.demands)
        if answer is None:
            show(rows, instance.size, took, edges.failure, "", "", solution.status)
            continue
        ratio, error = edges.seconds / took, abs(solution.objective / -answer.fun - 1)
        show(rows, instance.size, took, edges.seconds, ratio, f"{error:.0e}", solution.status)
    print(markdown(["network", "netnum, s", "HiGHS in edge form, s", "ratio", "difference", "status"], rows))


def max_min(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    for instance in instances(options):
        for objective in options.objectives or ["max-min", "max-min free"]:
            problem = instance.problem(objective)
            solution, took = timed(netnum.solve, problem, time_limit=options.time_limit)
            found = [instance.size, objective, solution.status, solution.rounds, took]
            if options.patience == 0:
                show(rows, *found, "", "", "", "")
                continue
            edges = EdgeForm(instance, options.patience)
            most = instance.demands if OBJECTIVES[objective][1] else np.full(edges.flows, np.inf)
            reference = edges.max_min(instance.weights, most)
            if reference is None:
                show(rows, *found, edges.failure, edges.programs, "", "")
                continue
            error = difference(solution.flow_rates, reference)
            show(rows, *found, edges.seconds, edges.programs, edges.seconds / took, error)
    header = ["network", "objective", "status", "rounds", "netnum, s", "HiGHS in edge form, s", "programs", "ratio"]
    print(markdown([*header, "largest error"], rows))


def counts(text: str) -> list[int]:
    return [int(count) for count in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (pairs, geometric, beside_k4, edge_lp, max_min, growth)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("files", nargs="*", type=Path, help="networks in .npz")
    parser.add_argument("--networks", type=lambda names: names.split(","), help="separated by commas")
    parser.add_argument("--objectives", type=lambda names: names.split(","), help="separated by commas")
    parser.add_argument("--nodes", type=counts, help="separated by commas")
    parser.add_argument("--flows", type=counts, default=[1000], help="of networks of `networks/`, separated by commas")
    parser.add_argument("--overload", type=float, default=2.0, help="of the busiest link, or all, on shortest paths")
    parser.add_argument("--largest", type=float, help="demand of pairs, in place of --overload")
    parser.add_argument("--repeat", type=int, default=3, help="of beside_k4: medians of so many")
    parser.add_argument("--exact-up-to", type=int, default=10_000, help="flows of a solve to 1e-9, in beside_k4")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds per solve")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds of HiGHS by the clock; 0: without")
    options = parser.parse_intermixed_args()
    parts[options.part](options)


if __name__ == "__main__":
    main()
