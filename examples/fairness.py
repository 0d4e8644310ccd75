"""Fairness: the rates of the same flows under four exponents alpha, as a picture.

A small alpha favours total throughput, a large one the flow with the least. Writes `fairness.png` into `plots/` (or the
folder that NETNUM_PLOTS names); docs/fairness.png is this picture.
"""

import os
from pathlib import Path

import matplotlib
import numpy as np

import netnum

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ALPHAS = [(0.5, "α = 0.5"), (1.0, "α = 1, proportional"), (2.0, "α = 2"), (np.inf, "α = ∞, max-min")]


def main():
    """Solves one network for every alpha, and draws the sorted rates."""
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10e9, fabric_capacity=40e9)
    paths = net.ecmp(*net.random_pairs(1000, seed=1), seed=1)
    plt.style.use("netnum.pages")
    figure, axes = plt.subplots(figsize=(8, 3.5))
    for alpha, label in ALPHAS:
        solution = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(alpha)))
        rates = np.sort(solution.flow_rates) / 1e9
        print(f"{label:<20} least {rates[0]:.3f}, total {rates.sum():.0f} Gbit/s")
        axes.semilogy(np.arange(1, rates.size + 1), rates, label=f"{label}: {rates.sum():.0f} Gbit/s in total")
    axes.set(xlabel="flows, by rate", ylabel="rate, Gbit/s", title="1000 flows on a leaf-spine of 144 servers")
    axes.minorticks_off()
    axes.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.legend()
    file = Path(os.environ.get("NETNUM_PLOTS", "plots")) / "fairness.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    print(f"rates: {file}")


if __name__ == "__main__":
    main()
