"""netnum at the size of real networks: thousands of flows over several paths, up to all pairs.

    python benches/at_size.py draws --count 100 --seed 1     random problems of every objective, 1000 to 8000 flows
    python benches/at_size.py pairs --networks Cogentco      all pairs of a network, by objective
    python benches/at_size.py pairs --networks Kdl --largest 3.2
    python benches/at_size.py stopped                        what a solve stopped at a tenth of its time is worth
    python benches/at_size.py changed                        from the point before some demands changed
    python benches/at_size.py growth                         time over paths
    python benches/at_size.py threads                        the interior point on one and two threads
    python benches/at_size.py subsets --count 1000           max-min beside a sequence of linear programs
    python benches/at_size.py fabrics                        a million flows with one path each

Networks are those of `networks/`. A draw of `draws` has one of them, 1000 to 8000 of its pairs, 4 edge-disjoint or 4 or
8 shortest paths, uniform, lognormal, bimodal or gravity demands whose sum on shortest paths overloads the busiest link
2, 8 or 40 times, equal capacities (two of three; all with `--equal`) or such of 1, 10, 40 and 100. Weights are 1, or
the demands (two of five); flows are capped by their demands (seven of ten). "optimal" is what netnum's certificate has
proven, with the default promise. `subsets` has 60 to 500 pairs of such draws, and as many problems of each network.
`pairs` has uniform demands of seed 7, twice what the busiest link carries on shortest paths, and the paths of `zoo.py`;
with `--largest` demands up to that one, and the paths of `k_shortest_paths`, which are as many and found in seconds.
Seconds are those of the processor, of one thread; with `stopped` and `threads` they are those of the clock. The machine
may have other work.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import wide_area_networks
import zoo
from tables import markdown, three_digits
from wide_area_methods import Task, TooSlow, sequence_of_programs

import netnum

NETWORKS = ["Uninett2010", "UsCarrier", "Cogentco", "Kdl"]
OVERLOADS = [2.0, 8.0, 40.0]
KINDS = ["uniform", "gravity", "lognormal", "bimodal"]


@dataclass
class Instance:
    """Flows with demands over several paths."""

    capacities: Any
    paths: netnum.Paths
    demands: Any
    rng: np.random.Generator

    def problem(self, objective: str, weighted: bool = False, capped: bool = True) -> netnum.Problem:
        weight = self.demands / self.demands.mean() if weighted else np.ones(len(self.demands))
        cap = self.demands if capped or objective == "throughput" else None
        return netnum.Problem(
            self.capacities, self.paths, OBJECTIVES[objective](weight, self.demands, self.rng), flow_cap=cap
        )


def curves(alpha: float) -> Callable[..., Any]:
    """Four classes of bandwidth functions, in units of the mean demand."""

    def utilities(weight: Any, demands: Any, rng: np.random.Generator) -> Any:
        unit = demands.mean()
        heights = [(0.5, 1, 3, 0.1), (0.2, 2, 4, 0.1), (1, 1.2, 1.5, 0.05), (0.05, 0.1, 6, 0.2)]
        classes = [
            netnum.BandwidthFunction(
                [0, 1, 3, 10], [0, unit * a, unit * b, unit * c], alpha=alpha, tail_slope=tail * unit
            )
            for a, b, c, tail in heights
        ]
        return [classes[number] for number in rng.integers(0, 4, len(weight))]

    return utilities


def alpha_fair(alpha: float) -> Callable[..., Any]:
    return lambda weight, demands, rng: netnum.AlphaFair(alpha, weight=weight)


OBJECTIVES: dict[str, Callable[..., Any]] = {
    "throughput": lambda weight, demands, rng: netnum.Linear(weight),
    **{f"alpha {alpha:g}": alpha_fair(alpha) for alpha in (0.5, 1, 2, 4, 8)},
    "max-min": alpha_fair(np.inf),
    "MinFct": lambda weight, demands, rng: netnum.MinFct(size=rng.lognormal(0, 1, len(weight))),
    **{f"curves, alpha {a:g}": curves(a) for a in (2, 5, np.inf)},
}


def network(name: str, equal: bool) -> netnum.Topology:
    """A network with capacities 1000, or drawn from four sizes, both ways the same."""
    graph = zoo.directed(name)
    edges = sorted((a, b) for a, b in graph.edges if a < b)
    drawn = np.random.default_rng(11).choice([1.0, 10.0, 40.0, 100.0], len(edges), p=[0.3, 0.4, 0.2, 0.1])
    capacity = dict(zip(edges, drawn, strict=True))
    for a, b, attributes in graph.edges(data=True):
        attributes["capacity"] = zoo.CAPACITY if equal else float(capacity[min(a, b), max(a, b)])
    return netnum.topology.from_networkx(graph)


def volumes(kind: str, sources: Any, destinations: Any, rng: np.random.Generator) -> Any:
    if kind == "uniform":
        return rng.random(len(sources)) + 1e-3
    if kind == "lognormal":
        return rng.lognormal(0, 1.5, len(sources))
    if kind == "bimodal":
        return np.where(rng.random(len(sources)) < 0.2, 100.0, 5.0) * rng.uniform(0.8, 1.2, len(sources))
    masses = rng.lognormal(0, 1, 1 + max(sources.max(), destinations.max()))
    return masses[sources] * masses[destinations]


def overload(paths: netnum.Paths, demands: Any, capacities: Any) -> float:
    """The largest load over capacity with every demand on its first path."""
    group, indptr = np.asarray(paths.group), np.asarray(paths.indptr)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    load = np.zeros(len(capacities))
    for path, demand in zip(first, demands, strict=True):
        load[paths.indices[indptr[path] : indptr[path + 1]]] += demand
    return float((load / capacities).max())


def drawn(name: str, flows: int, rng: np.random.Generator, equal: bool, k: int, disjoint: bool, kind: str) -> Instance:
    net = network(name, equal)
    nodes = len(net.node_names)
    number = np.sort(rng.choice(nodes * (nodes - 1), min(flows, nodes * (nodes - 1)), replace=False))
    sources, destinations = number // (nodes - 1), number % (nodes - 1)
    destinations = destinations + (destinations >= sources)
    paths = net.k_shortest_paths(sources.tolist(), destinations.tolist(), k, disjoint=disjoint)[0]
    return Instance(net.capacities, paths, volumes(kind, sources, destinations, rng), rng)


def scaled(instance: Instance, times: float) -> Instance:
    demands = instance.demands * (times / overload(instance.paths, instance.demands, instance.capacities))
    return Instance(instance.capacities, instance.paths, demands, instance.rng)


def timed(
    work: Callable[..., Any], *given: Any, clock: Callable[[], float] = time.process_time, **settings: Any
) -> tuple[Any, float]:
    start = clock()
    answer = work(*given, **settings)
    return answer, clock() - start


# --- draws ---


def draws(options: argparse.Namespace) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in OBJECTIVES}
    others: dict[str, list[str]] = {name: [] for name in OBJECTIVES}
    for number in range(options.count):
        rng = np.random.default_rng([options.seed, number])
        name = str(rng.choice(options.networks or NETWORKS))
        flows, equal = int(rng.choice([1000, 2000, 5000, 8000])), bool(rng.random() < 2 / 3) or options.equal
        k, disjoint = [(4, True), (4, False), (8, False)][rng.integers(3)]
        kind = str(rng.choice(KINDS))
        instance = scaled(drawn(name, flows, rng, equal, k, disjoint, kind), float(rng.choice(OVERLOADS)))
        weighted, capped = bool(rng.random() < 0.4), bool(rng.random() < 0.7)
        objective = (options.objectives or list(OBJECTIVES))[number % len(options.objectives or OBJECTIVES)]
        problem = instance.problem(objective, weighted, capped)
        solution, took = timed(netnum.solve, problem, time_limit=options.time_limit)
        seconds[objective].append(took)
        if solution.status != "optimal":
            others[objective].append(solution.status)
            drawn_as = f"{name}, {flows} flows, {k} {'disjoint' if disjoint else 'shortest'}, {kind}"
            ties = "equal" if equal else "mixed"
            print(
                f"{options.seed}/{number}: {objective}, {drawn_as}, {ties}: {solution.status}, gap {solution.gap:.0e},"
                f" KKT {solution.kkt_residual:.0e}, {took:.1f} s",
                flush=True,
            )
            if options.keep:
                problem.save(f"{options.keep}/{options.seed}-{number}.json")
    rows = []
    for objective, of_all in seconds.items():
        if of_all:
            worst = f"{three_digits(max(of_all))} s"
            middle = f"{three_digits(statistics.median(of_all))} s"
            optimal = len(of_all) - len(others[objective])
            words = ", ".join(f"{others[objective].count(word)} {word}" for word in sorted(set(others[objective])))
            rows.append([objective, str(len(of_all)), str(optimal), words, middle, worst])
    print(markdown(["objective", "problems", "optimal", "others", "median", "longest"], rows))


# --- all pairs ---


def all_pairs(name: str, largest: float | None = None) -> Instance:
    rng = np.random.default_rng(7)
    if largest is None:
        pairs = zoo.all_pairs(name)
        capacities = np.full(pairs.links, zoo.CAPACITY)
        return scaled(Instance(capacities, pairs.paths, pairs.uniform(7, 1.0), rng), 2.0)
    net = network(name, equal=True)
    nodes = len(net.node_names)
    sources, destinations = np.nonzero(~np.eye(nodes, dtype=bool))
    paths, took = timed(net.k_shortest_paths, sources.tolist(), destinations.tolist(), 4, disjoint=True)
    print(f"{name}: paths in {three_digits(took)} s", flush=True)
    demands = np.random.RandomState(7).rand(nodes, nodes)[sources, destinations]
    return Instance(net.capacities, paths[0], largest * demands, rng)


def pairs(options: argparse.Namespace) -> None:
    rows = []
    for name in options.networks or ["Uninett2010", "UsCarrier", "Cogentco"]:
        instance = all_pairs(name, options.largest)
        size = f"{name}, {len(instance.demands)} flows, {len(instance.paths)} paths"
        print(size, flush=True)
        for objective in options.objectives or ["throughput", "alpha 1", "alpha 4", "max-min", "weighted max-min"]:
            weighted = objective.startswith("weighted")
            problem = instance.problem(objective.removeprefix("weighted "), weighted, capped=not weighted)
            solution, took = timed(netnum.solve, problem, time_limit=options.time_limit)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            cells = [f"{three_digits(took)} s", str(solution.iterations), solution.status, f"{solution.gap:.0e}"]
            rows.append([size, objective, *cells, f"{solution.kkt_residual:.0e}", f"{peak:.0f} MB"])
    print(markdown(["network", "objective", "time", "iterations", "status", "gap", "KKT", "peak so far"], rows))


# --- stopped early ---


def stopped(options: argparse.Namespace) -> None:
    rows = []
    for name in options.networks or ["UsCarrier", "Cogentco"]:
        instance = all_pairs(name)
        for objective in options.objectives or ["throughput", "alpha 1", "alpha 4", "max-min", "curves, alpha 5"]:
            problem = instance.problem(objective)
            whole, took = timed(netnum.solve, problem, clock=time.perf_counter, time_limit=options.time_limit)
            limit = took / 10
            part, used = timed(netnum.solve, problem, clock=time.perf_counter, time_limit=limit)
            share = float(np.sum(part.rates) / np.sum(whole.rates))
            times = (f"{three_digits(took)} s", f"{three_digits(limit)} s", f"{1000 * (used - limit):.0f} ms")
            rows.append([f"{name}, {objective}", *times, f"{share:.3f}", part.status, f"{part.gap:.1e}"])
    header = ["problem", "whole", "limit", "late by", "throughput over the optimum's", "status", "gap"]
    print(markdown(header, rows))


# --- changed demands ---


def changed(options: argparse.Namespace) -> None:
    rows = []
    for name in options.networks or ["Uninett2010", "UsCarrier", "Cogentco"]:
        for equal in (True, False):
            rng = np.random.default_rng(options.seed)
            instance = scaled(drawn(name, 2000, rng, equal, 4, True, "lognormal"), 8.0)
            for objective in options.objectives or ["throughput", "alpha 1", "max-min"]:
                solver = netnum.Solver(instance.problem(objective))
                solver.solve()
                ratios = []
                for part in (0.001, 0.01, 0.05, 0.1):
                    demands = instance.demands.copy()
                    some = rng.choice(len(demands), max(1, round(part * len(demands))), replace=False)
                    demands[some] *= rng.lognormal(0, 0.5, len(some))
                    after = Instance(instance.capacities, instance.paths, demands, rng).problem(objective)
                    cold = min(timed(netnum.solve, after)[1] for _ in range(3))
                    warm = []
                    for _ in range(3):
                        solver.update(flow_caps=demands)
                        warm.append(timed(solver.solve)[1])
                        solver.update(flow_caps=instance.demands)
                        solver.solve()
                    ratios.append(f"{cold / min(warm):.1f}")
                rows.append([f"{name}, {'equal' if equal else 'mixed'}, {objective}", *ratios])
    print(markdown(["cold over warm, demands changed", ".1 %", "1 %", "5 %", "10 %"], rows))


# --- threads ---


def fabric(flows: int, racks: int = 9, spines: int = 4) -> netnum.Problem:
    """Flows of unequal weights, one path each, on racks of 16 servers."""
    net = netnum.topology.leaf_spine(racks=racks, servers_per_rack=16, spines=spines)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, flows)
    return netnum.Problem(
        net, net.ecmp(*net.random_pairs(flows, seed=1), seed=1), netnum.AlphaFair(1.0, weight=weights)
    )


def threads(options: argparse.Namespace) -> None:
    problems = [(f"fabric, {flows} flows, alpha 1", fabric(flows)) for flows in (100_000, 1_000_000)]
    for name in options.networks or ["Cogentco"]:
        instance = all_pairs(name)
        for objective in options.objectives or ["throughput", "alpha 1", "alpha 4"]:
            problems.append((f"{name}, {len(instance.paths)} paths, {objective}", instance.problem(objective)))
    rows = []
    for name, problem in problems:
        runs: dict[int, list[tuple[Any, float]]] = {1: [], 2: []}
        for _ in range(5):
            for count, of_count in runs.items():
                of_count.append(timed(netnum.solve, problem, "interior-point", clock=time.perf_counter, threads=count))
        one, two = (statistics.median(took for _, took in of_count) for of_count in runs.values())
        rates = [solution.rates for of_count in runs.values() for solution, _ in of_count]
        same = "yes" if all(np.array_equal(rates[0], other) for other in rates) else "no"
        rows.append([name, f"{three_digits(one)} s", f"{three_digits(two)} s", f"{one / two:.2f}", same])
    print(markdown(["problem", "one thread", "two threads", "ratio", "same bits"], rows))


# --- subsets ---


def subsets(options: argparse.Namespace) -> None:
    rng, rows, names = np.random.default_rng(options.seed), [], options.networks or NETWORKS
    each = max(1, options.count // len(names))
    for name in names:
        proven, without, distances = 0, 0, []
        for _ in range(each):
            kind, overloaded = str(rng.choice(KINDS)), float(rng.choice(OVERLOADS))
            flows, disjoint, capped = int(rng.integers(60, 501)), rng.random() < 0.5, rng.random() < 0.7
            part = scaled(drawn(name, flows, rng, True, 4, disjoint, kind), overloaded)
            paths, ones = part.paths, np.ones(flows)
            arrays = (paths.indptr, paths.indices, np.asarray(paths.group))
            instance = wide_area_networks.Instance(name, part.capacities, *arrays, part.demands, ones, "drawn")
            task = Task(instance, "max-min", np.inf, ones, instance.demands if capped else np.inf * ones)
            solution = netnum.solve(task.problem())
            proven += solution.is_optimal
            try:
                rates = sequence_of_programs(task, options.time_limit).rates
            except (RuntimeError, TooSlow):
                without += 1
                continue
            expected = np.bincount(instance.group, rates)
            distances.append(np.max(np.abs(solution.flow_rates - expected) / expected))
        quantiles = (0.5, 0.99, 1.0)
        worst = [f"{np.quantile(distances, quantile):.1e}" if distances else "–" for quantile in quantiles]
        rows.append([name, str(each), str(proven), str(without), *worst])
        print(*rows[-1], flush=True)
    header = ["network", "problems", "optimal", "programs without an answer", "median distance", "99 %", "largest"]
    print(markdown(header, rows))


# --- fabrics ---


def fabrics(options: argparse.Namespace) -> None:
    rows = []
    for racks, spines in ((9, 4), (1024, 16)):
        problem = fabric(1_000_000, racks, spines)
        runs = [timed(netnum.solve, problem, tol=1e-6, stop="gap", threads=1) for _ in range(6)][1:]
        solution, took = runs[0][0], statistics.median(took for _, took in runs)
        servers = f"{racks * 16} servers, {problem.flows} flows"
        rows.append([servers, f"{took:.3f} s", solution.method, str(solution.iterations), f"{solution.gap:.1e}"])
    print(markdown(["fabric", "seconds", "method", "iterations", "gap"], rows))


# --- growth ---


def sizes() -> Iterator[tuple[str, int]]:
    yield from [("Uninett2010", 300), ("UsCarrier", 1000), ("UsCarrier", 3000), ("Cogentco", 10_000)]
    yield from [("Cogentco", 38_612), ("Kdl", 100_000), ("Kdl", 250_000)]


def growth(options: argparse.Namespace) -> None:
    rows: list[list[str]] = []
    points: dict[str, list[tuple[int, float]]] = {}
    for name, flows in sizes():
        instance = scaled(drawn(name, flows, np.random.default_rng(1), False, 4, True, "lognormal"), 8.0)
        for objective in options.objectives or ["throughput", "alpha 1", "max-min"]:
            problem = instance.problem(objective)
            solution, took = timed(netnum.solve, problem, time_limit=options.time_limit)
            rows.append([f"{name}, {objective}", str(len(instance.paths)), f"{three_digits(took)} s", solution.status])
            print(*rows[-1], flush=True)
            if solution.is_optimal:
                points.setdefault(objective, []).append((len(instance.paths), took))
    print(markdown(["problem", "paths", "time", "status"], rows))
    for objective, measured in points.items():
        paths, took = np.log(measured).T
        slope = np.polyfit(paths, took, 1)[0] if len(measured) > 1 else np.nan
        print(f"{objective}: time grows with paths to the power of {slope:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (draws, pairs, stopped, changed, growth, threads, subsets, fabrics)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--networks", type=lambda names: names.split(","), help="separated by commas")
    parser.add_argument("--objectives", type=lambda names: names.split(";"), help="separated by semicolons")
    parser.add_argument("--count", type=int, default=100, help="of draws")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=float, help="demand of `pairs`, in place of an overload of 2")
    parser.add_argument("--equal", action="store_true", help="draws with equal capacities alone")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per solve")
    parser.add_argument("--keep", help="a folder for the drawn problems that are not optimal")
    options = parser.parse_args()
    parts[options.part](options)


if __name__ == "__main__":
    main()
