"""Times of calls from Python, beside a baseline of the same run. Prints a table in Markdown.

    python benches/limits.py              # some seconds; needs a C++ compiler for one baseline
    python benches/limits.py --rounds 51

Call and baseline run in turn, so that a disturbance meets both; times are medians. `benches/limits.rs` has the rows
that need no Python. The baseline is weighted max-min by progressive filling in plain C++ (`plain_max_min.cpp`, built
with -O3 -march=native; the transpose counts for both).
"""

import argparse
import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import netnum

HERE = Path(__file__).parent
#: The least time of a round.
LEAST = 0.005


def in_turn(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Median seconds of each."""
    counts = []
    for work in works:
        work()
        began = time.perf_counter()
        work()
        counts.append(max(1, int(LEAST / (time.perf_counter() - began))))
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, count, found in zip(works, counts, times, strict=True):
            began = time.perf_counter()
            for _ in range(count):
                work()
            found.append((time.perf_counter() - began) / count)
    return [statistics.median(found) for found in times]


def fabric(flows: int) -> tuple[np.ndarray, netnum.Paths, np.ndarray]:
    """The papers' leaf-spine, 9 x 16 x 4 with uplinks of 40 Gbit/s: no two capacities or weights are equal."""
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10e9, fabric_capacity=40e9)
    rng = np.random.default_rng(1)
    sources, destinations = net.random_pairs(flows, seed=1)
    capacities = net.capacities * rng.uniform(0.8, 1.2, net.capacities.size)
    return capacities, net.ecmp(sources, destinations, seed=1), rng.uniform(0.5, 1.5, flows)


def plain_max_min(folder: str) -> Callable[..., np.ndarray] | None:
    """The baseline in C++, if there is a compiler."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    library = Path(folder) / "plain_max_min.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(HERE / "plain_max_min.cpp")]
    subprocess.run([compiler, *flags], check=True)
    function = ctypes.CDLL(str(library)).plain_max_min

    def call(capacities: np.ndarray, starts: np.ndarray, links: np.ndarray, weights: np.ndarray) -> np.ndarray:
        rates = np.empty_like(weights)
        arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (capacities, starts, links, weights, rates)]
        function(ctypes.c_int64(capacities.size), ctypes.c_int64(weights.size), *arrays)
        return rates

    return call


def line(what: str, seconds: float, baseline: str = "–", ratio: float | None = None) -> None:
    """A row of the table."""
    unit, size = next(
        (unit, size) for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)) if seconds >= size
    )
    print(
        f"| {what} | {seconds / size:.3g} {unit} | {baseline} | {'–' if ratio is None else f'{ratio:.2f}'} |",
        flush=True,
    )


def max_min(rounds: int) -> None:
    """Weighted max-min, the problem at hand."""
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_max_min(folder)
        for flows in (1000, 10_000, 100_000):
            capacities, paths, weights = fabric(flows)
            problem = netnum.Problem(capacities, paths, netnum.AlphaFair(np.inf, weights))
            what = f"`max_min`, {flows} flows"
            if plain is None:
                line(what, in_turn(rounds, lambda p=problem: netnum.max_min(p))[0])
                continue
            arrays = (capacities, paths.indptr.astype(np.int64), paths.indices.astype(np.int32), weights)
            np.testing.assert_allclose(np.asarray(netnum.max_min(problem)), plain(*arrays), rtol=1e-9)
            ours, theirs = in_turn(rounds, lambda p=problem: netnum.max_min(p), lambda a=arrays: plain(*a))
            line(what, ours, "plain C++", theirs / ours)


def solves(rounds: int) -> None:
    """The solver, and proportional fairness to a certified 1e-6."""
    capacities, paths, weights = fabric(100_000)
    problem = netnum.Problem(capacities, paths, netnum.AlphaFair(1.0, weights))
    line("`Solver(problem)`, 100 000 flows", in_turn(rounds, lambda: netnum.Solver(problem))[0])
    for flows in (1000, 10_000, 100_000):
        capacities, paths, weights = fabric(flows)
        problem = netnum.Problem(capacities, paths, netnum.AlphaFair(1.0, weights))
        seconds = in_turn(rounds, lambda p=problem: netnum.solve(p, tol=1e-6, stop="gap"))[0]
        line(f"`solve`, {flows} flows, certified 1e-6", seconds)


def ten_flows(rounds: int) -> None:
    """The overhead of a call."""
    capacities = np.linspace(1.0, 2.0, 5)
    paths = [[flow % 5, (flow + 1 + flow // 5) % 5] for flow in range(10)]
    problem = netnum.Problem(capacities, paths, netnum.AlphaFair(1.0, np.linspace(0.5, 1.5, 10)))
    line("`solve`, 10 flows", in_turn(rounds, lambda: netnum.solve(problem))[0])


def churn(rounds: int) -> None:
    """A hundred flows end and a hundred others start, among 49 152: time per flow that is replaced."""
    flows, batch = 49_152, 100
    net = netnum.topology.leaf_spine(racks=96, servers_per_rack=16, spines=4)
    sources, destinations = net.random_pairs(2 * flows, seed=1)

    def paths(first: int, count: int) -> netnum.Paths:
        return net.ecmp(sources[first : first + count], destinations[first : first + count], seed=1)

    batches = [paths(first, batch) for first in range(flows, 2 * flows - batch, batch)]
    rng = np.random.default_rng(2)
    ended = [rng.choice(flows, batch, replace=False) for _ in range(1000)]
    allocator = netnum.Allocator(net.capacities)
    ids = np.array(allocator.start(paths(0, flows)))
    allocator.tick()  # before it, links that carry nothing yet get prices of their own from every start and end
    state = {"next": 0}

    def replace() -> None:
        places = ended[state["next"] % len(ended)]
        allocator.end(ids[places])
        ids[places] = allocator.start(batches[state["next"] % len(batches)])
        state["next"] += 1

    line("`end` and `start` of 100 of 49 152 flows, per flow", in_turn(rounds, replace)[0] / batch)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21, help="how often each work is timed (default 21)")
    rounds = parser.parse_args().rounds
    print("| what | time | baseline | times faster |\n|---|---:|---|---:|")
    for rows in (max_min, solves, ten_flows, churn):
        rows(rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
