"""Two real networks, solved and proven: the Abilene backbone and the leaf-spine of the Flowtune paper.

Prints, for each, the solution, how long every method takes to a proven gap, and the five busiest links with their
prices; writes a picture of the gap falling into `plots/` (or the folder that NETNUM_PLOTS names).
"""

import itertools
import os
import statistics
from pathlib import Path

import matplotlib

import netnum

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# The Abilene backbone of 2004: 11 routers, 14 links, all OC-192 but the OC-48 from Atlanta to Indianapolis. Routers and
# capacities (Mbit/s) as in instance "abilene" of SNDlib (Orlowski et al., Networks 55, 2010), which took them from the
# TOTEM project's publication of Abilene's own data; its second Atlanta router, a measurement point on a stub, left out.
ABILENE = """
Seattle      Sunnyvale     9920
Seattle      Denver        9920
Sunnyvale    Denver        9920
Sunnyvale    LosAngeles    9920
LosAngeles   Houston       9920
Denver       KansasCity    9920
KansasCity   Houston       9920
KansasCity   Indianapolis  9920
Houston      Atlanta       9920
Indianapolis Atlanta       2480
Indianapolis Chicago       9920
Chicago      NewYork       9920
Atlanta      Washington    9920
NewYork      Washington    9920
"""

LIMIT = 5000  # iterations that a method may try
METHODS = [method for method in netnum.methods() if method != "max-min"]  # which has another objective


def abilene():
    """A flow from every router to every other one, over a shortest path."""
    net = netnum.topology.from_edges(ABILENE)
    sources, destinations = zip(*itertools.permutations(range(len(net.node_names)), 2), strict=True)
    return net, net.ecmp(sources, destinations, seed=1)


def leaf_spine():
    """1000 flows between random servers: 9 racks of 16 servers at 10 Gbit/s, 4 spines at 40 Gbit/s."""
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    sources, destinations = net.random_pairs(1000, seed=1)
    return net, net.ecmp(sources, destinations, seed=1)


def method_table(problem):
    """Prints what every method needs to a proven gap of 1e-3 and of 1e-6."""
    print(f"  {'method':<14}{'gap 1e-3':>26}{'gap 1e-6':>26}")
    for method in METHODS:
        cells = []
        for tol in (1e-3, 1e-6):
            runs = [netnum.solve(problem, method, tol=tol, stop="gap", max_iterations=LIMIT) for _ in range(5)]
            milliseconds = 1e3 * statistics.median(run.seconds for run in runs)
            if runs[0].status == "optimal":
                cells.append(f"{runs[0].iterations} iterations, {milliseconds:.2f} ms")
            else:
                cells.append(f"not in {LIMIT}: {runs[0].gap:.0e}")
        print(f"  {method:<14}{cells[0]:>26}{cells[1]:>26}")


def busiest_links(net, solution, unit, name):
    """Prints the five links with the highest load, and of equally loaded ones those with the highest price."""
    used = solution.loads / net.capacities
    order = sorted(range(len(used)), key=lambda link: (-round(used[link], 6), -solution.prices[link]))
    print(f"  {'busiest links':<32}{'load':>14}{'used':>9}{'price per ' + name:>20}")
    for link in order[:5]:
        load = f"{solution.loads[link] / unit:.2f} {name}"
        print(f"  {net.link_names[link]:<32}{load:>14}{used[link]:>9.1%}{solution.prices[link] * unit:>20.4f}")


def convergence_plot(problem, title, file):
    """Draws the proven gap of every method over its iterations."""
    figure, axes = plt.subplots(figsize=(8, 4))
    for method in METHODS:
        solution = netnum.solve(problem, method, tol=1e-9, max_iterations=300, trace=True)
        solution.plot_convergence(ax=axes)
    axes.set_title(title)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    print(f"  convergence: {file}\n")


def main():
    """Solves both networks for proportional fairness."""
    plt.style.use("netnum.pages")
    plots = Path(os.environ.get("NETNUM_PLOTS", "plots"))
    networks = [
        ("Abilene, every pair of its 11 routers", abilene(), 1e3, "Gbit/s", "abilene.png"),
        ("leaf-spine, 9 racks x 16 servers x 4 spines", leaf_spine(), 1e9, "Gbit/s", "leaf_spine.png"),
    ]
    for title, (net, paths), unit, name, file in networks:
        problem = netnum.Problem(net, paths, netnum.AlphaFair(alpha=1.0))
        solution = netnum.solve(problem)
        print(f"{title}\n  {solution}")
        rates = solution.flow_rates / unit
        print(f"  rates from {rates.min():.3f} to {rates.max():.3f} {name}, {rates.sum():.1f} in all\n")
        method_table(problem)
        print()
        busiest_links(net, solution, unit, name)
        convergence_plot(problem, title, plots / file)


if __name__ == "__main__":
    main()
