"""An iteration with random coefficients beside one with ones, and how many iterations each takes.

    python benches/coefficients.py --flows 1000 100000 1000000 --runs 9

Leaf-spine networks, one path per flow, proportional fairness, coefficients of 0.5 to 2. Single steps of both problems
are timed in turns, in processor time on one thread; the table has medians, their ratio, and the iterations of
`solve(problem, method)` to the default accuracy. The aim is a ratio of at most 1.5 up to 100 000 flows and 2.2 at
1 000 000, where the coefficients no longer fit the cache, and 1.5 times as many iterations.
"""

import argparse
import statistics
import time

import numpy as np

import netnum

METHODS = ("fast-ned", "ned", "gradient", "interior-point")


def problems(flows: int, seed: int) -> tuple[netnum.Problem, netnum.Problem]:
    """The same flows with ones, and with coefficients."""
    racks = max(9, flows // 160)
    net = netnum.topology.leaf_spine(racks=racks, servers_per_rack=16, spines=4)
    paths = net.ecmp(*net.random_pairs(flows, seed=seed), seed=seed)
    rng = np.random.default_rng(seed)
    utility = netnum.AlphaFair(1.0, rng.uniform(0.5, 1.5, flows))
    uses = 2 ** rng.uniform(-1, 1, len(paths.indices))
    used = netnum.Paths(paths.indptr, paths.indices, coefficients=uses)
    capacities = np.asarray(net.capacities)
    return netnum.Problem(capacities, paths, utility), netnum.Problem(capacities, used, utility)


def seconds_of_a_step(both: tuple[netnum.Problem, netnum.Problem], method: str, runs: int) -> list[float]:
    """Medians for ones and for coefficients, in turns."""
    solvers = [netnum.Solver(problem, method) for problem in both]
    steps = max(1, 200_000 // len(both[0].paths))
    if method == "interior-point":
        steps = 1
    found: tuple[list[float], list[float]] = ([], [])
    for solver in solvers:
        solver.step(steps)
    for _ in range(runs):
        for solver, times in zip(solvers, found, strict=True):
            began = time.process_time()
            solver.step(steps)
            times.append((time.process_time() - began) / steps)
    return [statistics.median(times) for times in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, nargs="+", default=[1000, 100_000, 1_000_000])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| flows | method | ones, ms | coefficients, ms | ratio | iterations, ones | coefficients | ratio |")
    print("|---" * 8 + "|")
    for flows in options.flows:
        both = problems(flows, options.seed)
        for method in options.methods:
            ones, used = seconds_of_a_step(both, method, options.runs)
            ends = [netnum.solve(problem, method, max_iterations=3000) for problem in both]
            counts = [f"{end.iterations}" + ("" if end.is_optimal else f" ({end.status})") for end in ends]
            cells = [f"{flows}", method, f"{1e3 * ones:.3f}", f"{1e3 * used:.3f}", f"{used / ones:.2f}", *counts]
            cells += [f"{ends[1].iterations / max(1, ends[0].iterations):.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
