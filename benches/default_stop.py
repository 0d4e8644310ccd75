"""The cost of the default stop: the time until gap and rates are right, against the time until the gap alone is.

    python benches/default_stop.py --runs 7 > default_stop.md

Both run in turns on one thread, and are timed in processor time, so that other work on the machine
matters little. The table has medians and their ratio.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import networkx
import numpy as np

import netnum

ALPHAS = (0.5, 1.0, 2.0, 5.0, 8.0)


def leaf_spine(flows: int) -> netnum.Topology:
    racks = max(9, flows // 160)
    return netnum.topology.leaf_spine(racks=racks, servers_per_rack=16, spines=4)


def fat_tree(flows: int) -> netnum.Topology:
    return netnum.topology.fat_tree(8 if flows <= 1000 else 16, capacity=10e9)


def wide_area(nodes: int) -> netnum.Topology:
    """A random geometric graph with capacities over two decades."""
    graph = networkx.random_geometric_graph(nodes, 2.5 / np.sqrt(nodes), seed=1)
    graph = graph.subgraph(max(networkx.connected_components(graph), key=len)).copy()
    rng = np.random.default_rng(1)
    for _, _, edge in graph.edges(data=True):
        edge["capacity"] = 10 ** rng.uniform(0, 2)
    return netnum.topology.from_networkx(graph)


NETWORKS: dict[str, tuple[Callable[[], netnum.Topology], int]] = {
    "leaf-spine, 1000 flows": (lambda: leaf_spine(1000), 1000),
    "leaf-spine, 10 000 flows": (lambda: leaf_spine(10_000), 10_000),
    "leaf-spine, 100 000 flows": (lambda: leaf_spine(100_000), 100_000),
    "fat tree, 1000 flows": (lambda: fat_tree(1000), 1000),
    "fat tree, 10 000 flows": (lambda: fat_tree(10_000), 10_000),
    "wide area, 300 nodes, 1000 flows": (lambda: wide_area(300), 1000),
}


def problem(net: netnum.Topology, flows: int, alpha: float, several: bool) -> netnum.Problem:
    pairs = net.random_pairs(flows, seed=1)
    if not several:
        return netnum.Problem(net, net.ecmp(*pairs, seed=1), netnum.AlphaFair(alpha))
    both = [net.ecmp(*pairs, seed=seed) for seed in (1, 2)]
    lists = [path for paths in both for path in paths]
    return netnum.Problem(net, lists, netnum.AlphaFair(alpha), group=np.tile(np.arange(flows), 2))


def seconds(problem: netnum.Problem, **settings: str) -> tuple[float, netnum.Solution]:
    began = time.process_time()
    solution = netnum.solve(problem, **settings)
    return time.process_time() - began, solution


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--alphas", type=float, nargs="+", default=ALPHAS)
    parser.add_argument("--only", nargs="+", help="networks whose names begin with one of these")
    parser.add_argument("--several", action="store_true", help="two paths per flow")
    options = parser.parse_args()
    print("| network | α | gap alone, ms | default, ms | ratio | iterations | status |")
    print("|---" * 7 + "|")
    for name, (make, flows) in NETWORKS.items():
        if options.only and not any(name.startswith(begin) for begin in options.only):
            continue
        net = make()
        for alpha in options.alphas:
            it = problem(net, flows, alpha, options.several)
            times: dict[str, list[float]] = {"gap": [], "rates": []}
            last = {}
            for _ in range(options.runs):
                for stop, of in times.items():
                    took, last[stop] = seconds(it, stop=stop)
                    of.append(took)
            gap, rates = (statistics.median(of) for of in times.values())
            iterations = " / ".join(str(last[stop].iterations) for stop in times)
            cells = [name, f"{alpha:g}", f"{1e3 * gap:.2f}", f"{1e3 * rates:.2f}", f"{rates / gap:.2f}", iterations]
            print(f"| {' | '.join([*cells, last['rates'].status])} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
