"""Completion times under three policies: the same flows, shared fairly, by their remaining size, and by a utility.

Web-search flows arrive at a load of 0.6 on a leaf-spine. Fair sharing makes short flows wait for long ones; strict
priority by remaining size does not, and long flows are hardly slower, since there are few others most of the time; a
utility that is large for small flows comes near it without an explicit order. Writes a picture of slowdowns over sizes
into `plots/` (or the folder that NETNUM_PLOTS names).
"""

import os
from pathlib import Path

import matplotlib

import netnum
from netnum import sim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

POLICIES = ("max-min", "srpt", "min-fct")


def main():
    """Prints slowdowns under each policy, by flow size."""
    net = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
    workload = sim.Workload.poisson(net, sizes="web_search", load=0.6, duration=0.07, seed=1)
    _, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for policy in POLICIES:
        report = sim.simulate(net, workload, policy, warmup=0.01, seed=1)
        print(report.summary())
        report.plot_fct(axes)
    file = Path(os.environ.get("NETNUM_PLOTS", "plots")) / "completion_times.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    axes.set_title(f"{len(workload)} web-search flows, load 0.6")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    axes.figure.savefig(file, dpi=120)
    print(f"slowdowns: {file}")


if __name__ == "__main__":
    main()
