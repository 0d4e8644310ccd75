"""Problems with classes on real networks: how many are proven, and in what time.

    python benches/classes.py --count 120 --seed 1 --time-limit 60

A draw has 300, 1000 or 3000 random pairs of one of three networks over 2, 4 or 8 shortest paths, two or three classes,
equal capacities or such from 100 to 10 000, and max-min or α-fair utilities (α = 0 is throughput), half of them
weighted. Four in ten have coefficients (.2 to 3, or a half or one), floors of .1 to .9 of what fits, caps; a quarter
has costs of paths. Seconds are those of the clock; the machine may have other work.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np
from at_size import network
from tables import markdown, three_digits

import netnum

NETWORKS = ["Uninett2010", "UsCarrier", "Cogentco"]
ALPHAS = [0.0, 0.5, 1.0, 1.0, 2.0, 4.0, np.inf]


def floors(capacities: Any, paths: netnum.Paths, flows: int, rng: np.random.Generator) -> Any:
    """Of half of the flows, of .1 to .9 of the largest ones in these proportions that fit."""
    floor = rng.uniform(0.2, 2, flows) * (rng.random(flows) < 0.5)
    wanted = np.where(floor > 0, floor, 1e-12)
    fits = netnum.concurrent_flow(netnum.Problem(capacities, paths, "proportional", flow_cap=wanted)).fraction
    return floor * fits * rng.uniform(0.1, 0.9)


def drawn(seed: int, number: int) -> tuple[netnum.Problem, str]:
    """A problem, and what is in it."""
    rng = np.random.default_rng([seed, number])
    name, flows, k = str(rng.choice(NETWORKS)), int(rng.choice([300, 1000, 3000])), int(rng.choice([2, 4, 8]))
    net = network(name, equal=True)
    nodes, links = len(net.node_names), len(net.capacities)
    sources = rng.integers(nodes, size=flows)
    destinations = (sources + rng.integers(1, nodes, size=flows)) % nodes
    paths = net.k_shortest_paths(sources.tolist(), destinations.tolist(), k)[0]
    capacities = np.full(links, 1000.0) if rng.random() < 0.5 else 10.0 ** rng.uniform(2, 4, links)
    alpha = float(rng.choice(ALPHAS))
    weights = rng.uniform(0.5, 3, flows) if rng.random() < 0.5 else np.ones(flows)
    utility = netnum.AlphaFair(alpha, weights) if alpha > 0 else netnum.Linear(weights)
    words, more = [name, f"{flows} x {k}", f"alpha {alpha:g}"], {}
    if rng.random() < 0.4:
        entries = len(paths.indices)
        uses = 10.0 ** rng.uniform(-0.7, 0.5, entries) if rng.random() < 0.5 else rng.choice([0.5, 1.0], entries)
        paths = netnum.Paths(paths.indptr, paths.indices, group=paths.group, coefficients=uses)
        words.append("coefficients")
    if rng.random() < 0.4:
        more["flow_floor"] = floors(capacities, paths, flows, rng)
        words.append("floors")
    if rng.random() < 0.4:
        caps = 10.0 ** rng.uniform(0, 3, flows) * 300 / flows
        more["flow_cap"] = np.maximum(more.get("flow_floor", 0.0), caps)
        words.append("caps")
    if alpha < np.inf and rng.random() < 0.25:
        more["path_cost"] = rng.uniform(0, 1e-3, len(paths))
        words.append("costs")
    more["priority"] = rng.integers(0, int(rng.choice([2, 3])), flows).astype(float)
    return netnum.Problem(capacities, paths, utility, **more), ", ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per solve")
    options = parser.parse_args()
    rows: dict[str, list[netnum.Solution]] = {"ones": [], "coefficients": []}
    for number in range(options.count):
        problem, words = drawn(options.seed, number)
        solution = netnum.solve(problem, time_limit=options.time_limit)
        rows["coefficients" if "coefficients" in words else "ones"].append(solution)
        if not solution.is_optimal:
            print(f"{options.seed}/{number}: {words}: {solution!r}", flush=True)
    table = []
    for name, solutions in rows.items():
        seconds = [solution.seconds for solution in solutions]
        if seconds:
            optimal = sum(solution.is_optimal for solution in solutions)
            middle, slow = statistics.median(seconds), np.quantile(seconds, 0.9)
            row = [name, str(len(seconds)), str(optimal), f"{three_digits(middle)} s", f"{three_digits(slow)} s"]
            table.append(row)
    print(markdown(["", "problems", "optimal", "median", "9 of 10 within"], table))


if __name__ == "__main__":
    main()
