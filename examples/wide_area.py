"""A backbone and its demands: three kinds of fairness, the links that limit flows, the worst failure, the best upgrade.

Prints tables; needs pandas and matplotlib, `pip install "netnum[frames,plot]"`. With NETNUM_PLOTS set to a folder it
draws the same into it: how much of their demands flows get, the network by its prices, failures and upgrades.
"""

import os
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

import netnum

matplotlib.use("Agg")
import matplotlib.pyplot as plt

pd.set_option("display.width", 200, "display.max_columns", 20, "display.precision", 3)


def four_paths():
    """Every pair of routers has a demand in Mbit/s, as capacities are, and may use its four shortest paths."""
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=130_000, spread=1.0, seed=1)
    utility = netnum.AlphaFair(1.0, weight=demands.volumes)
    return net, demands, netnum.Problem(net, net.k_shortest_paths(demands, k=4), utility)


def kinds_of_fairness(problem, demands):
    """Rates as parts of the demands: of the largest sum, proportionally fair, and max-min fair."""
    kinds = {
        "throughput": netnum.Linear(1.0),
        "proportional": netnum.AlphaFair(1.0, weight=demands.volumes),
        "max-min": netnum.AlphaFair(np.inf, weight=demands.volumes),
    }
    solutions = {name: netnum.solve(problem.with_utility(utility)) for name, utility in kinds.items()}
    rows = []
    for name, solution in solutions.items():
        ratio = solution.flow_rates / demands.volumes
        rows.append(
            {
                "fairness": name,
                "status": solution.status,
                "Gbit/s": solution.flow_rates.sum() / 1e3,
                "of all demands": solution.flow_rates.sum() / demands.total,
                "met in full": int(np.sum(ratio > 0.999)),
                "worst ratio": ratio.min(),
                "full links": int(np.sum(solution.loads > 0.9999 * problem.capacities)),
            }
        )
    print(pd.DataFrame(rows).to_string(index=False))
    return solutions


def limits(problem, solution):
    """Which links hold which flows back, and the gain from one more unit of each."""
    links = netnum.to_pandas(problem, solution, of="links")
    full = links[links["holds_back"] > 0].sort_values("price", ascending=False)
    print(full[["link", "capacity", "utilization", "price", "holds_back"]].to_string(index=False))
    flows = netnum.to_pandas(problem, solution).sort_values("ratio")
    print(f"\n{np.sum(flows['ratio'] > 0.999)} of {len(flows)} demands are met in full; those met least:")
    columns = ["source", "destination", "demand", "rate", "ratio", "held_back_by"]
    print(flows[columns].head(5).to_string(index=False))


def pictures(folder, net, demands, solutions, failures, upgrades):
    """Draws the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    _, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for name, solution in solutions.items():
        axes.plot(np.sort(solution.flow_rates / demands.volumes), label=name)
    axes.set(xlabel="flows, in the order of their ratios", ylabel="rate / demand")
    axes.legend()
    prices = solutions["proportional"].prices * 1e3
    drawn = {
        "ratios": axes,
        "prices": net.plot(values=prices, label="gain per 1 Gbit/s more"),
        "failures": failures.plot(),
        "upgrades": upgrades.plot(),
    }
    for name, axes in drawn.items():
        axes.figure.savefig(folder / f"wide_area_{name}.png", dpi=120)
    print(f"\npictures: {folder}")


def main():
    """Prints the tables."""
    net, demands, problem = four_paths()
    print(f"{net}\n{demands}\n{problem}\n")
    solutions = kinds_of_fairness(problem, demands)
    print("\nThe links that hold flows back, with proportional fairness:")
    limits(problem, solutions["proportional"])

    failures = netnum.failure_study(problem)
    print(f"\nEvery fiber cut in turn, the worst ones:\n{failures}")
    columns = ["failure", "cut_off", "throughput_change", "worst_ratio_before", "worst_ratio"]
    print(failures.to_pandas().sort_values("throughput")[columns].head(5).to_string(index=False))

    upgrades = netnum.upgrade_study(problem, "fibers", added=9920)
    print(f"\nA second wave of 9920 Mbit/s each way, the best ones:\n{upgrades}")
    columns = ["upgrade", "price", "predicted", "gained", "throughput_change", "worst_ratio"]
    print(upgrades.to_pandas()[columns].head(5).to_string(index=False))
    if upgrades.is_proven:
        print("No other upgrade gains as much: their prices bound what they gain.")

    if "NETNUM_PLOTS" in os.environ:
        pictures(Path(os.environ["NETNUM_PLOTS"]), net, demands, solutions, failures, upgrades)


if __name__ == "__main__":
    main()
