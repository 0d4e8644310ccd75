"""NUMFabric, Fig. 5: how far the rates of flows are from ideal, by their size, when flows come and go by themselves.

Poisson arrivals at a load of 0.6 on 128 servers. A flow's rate is its size over its completion time; the ideal is the
same with all flows at their proportionally fair optimum at every moment. Rates follow prices at once when flows come or
go, prices move at intervals: 30 µs for xWI, 16 µs for all else.
"""

from itertools import pairwise

import numpy as np
from page import Page

import netnum
from netnum import sim

BDP = 200e3  # bytes
BINS = [1, 5, 10, 20, 50, np.inf]  # in BDP
LOAD = 0.6

# What is accepted of medians: within 0.02 of 0, or so far below it.
NEAR = ("xWI", "fast NED + fill")
BELOW = {"DGD": (None, -0.03), "RCP*": None}


def methods(net):
    """The policies by name."""
    # Of DGD's gains the step is per (Gbit/s)² for log x; here utilities are c log x, c the mean capacity in bit/s.
    step = 3.5e-3 * 1e-18 * net.capacities.mean()
    at_once = {"at_once": True, "interval": 16e-6, "update_threshold": 0}
    return {
        "xWI": sim.Policy("xwi", interval=30e-6),
        "fast NED + fill": sim.Policy("flowtune", method="fast-ned", normalizer="fill", **at_once),
        "fast NED + F-NORM": sim.Policy("flowtune", method="fast-ned", normalizer="f-norm", **at_once),
        "DGD": sim.Policy("gradient", step=step),
        "RCP*": sim.Policy("rcp", a=0.6),
    }


def deviations(net, workload, policies, seed):
    """(rate − ideal)/ideal of every flow, by name of the policy."""
    ideal = sim.simulate(net, workload, "proportional", seed=seed).completion_times
    found = {}
    for name, policy in policies.items():
        report = sim.simulate(net, workload, policy, seed=seed)
        found[name] = ideal / report.completion_times - 1
    return found


def quartiles(workload, found):
    """First quartile, median and third of every bin from 5 BDP up."""
    places = np.digitize(workload.sizes / BDP, BINS) - 1  # −1 below the first
    return np.array([np.quantile(found[places == place], [0.25, 0.5, 0.75]) for place in range(1, len(BINS) - 1)])


def draw(results):
    """Boxes by bin and policy, without outliers, as in the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, (title, (workload, found)) in zip(panels, results.items(), strict=True):
        places = np.digitize(workload.sizes / BDP, BINS) - 1
        for number, (name, values) in enumerate(found.items()):
            boxes = axes.boxplot(
                [values[places == place] for place in range(len(BINS) - 1)],
                positions=np.arange(len(BINS) - 1) + 0.16 * (number - (len(found) - 1) / 2),
                widths=0.13,
                showfliers=False,
                patch_artist=True,
                manage_ticks=False,
                medianprops={"color": "black"},
                boxprops={"facecolor": f"C{number}", "linewidth": 0.5},
                whiskerprops={"linewidth": 0.7},
                capprops={"linewidth": 0.7},
            )
            boxes["boxes"][0].set_label(name)
        axes.axhline(0, color="0.45", linewidth=0.8, zorder=0)
        names = [f"{low} to {high}" if high < np.inf else f"above {low}" for low, high in pairwise(BINS)]
        axes.set_xticks(range(len(names)), names)
        axes.set(title=title, xlabel="size of the flow (BDP)")
        axes.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("(rate − ideal) / ideal")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(found), frameon=False)
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "NUMFabric, Fig. 5: deviation from ideal rates",
        "Median and spread of a flow's rate relative to its ideal, for flows from 5 BDP (1 MB) up, at a load of 0.6.",
    )
    net = netnum.topology.leaf_spine(8, 16, 4, server_capacity=10e9, fabric_capacity=40e9)
    results = {}
    for title, sizes, flows in (
        ("web search", sim.sizes.web_search, 800 if page.small else 8000),
        ("enterprise", sim.sizes.enterprise, 4000 if page.small else 40_000),
    ):
        workload = sim.Workload.poisson(net, sizes, LOAD, flows=flows, seed=1)
        results[title] = workload, deviations(net, workload, methods(net), seed=1)
    for title, (workload, found) in results.items():
        for name, values in found.items():
            low, median, high = quartiles(workload, values).T
            near = name in NEAR
            reported = "≈ 0" if name == "xWI" else ("below 0" if name in BELOW else "")
            worst, spread = median[np.abs(median).argmax()], (high - low).max()
            page.row(
                f"{title}, {name}: farthest median of a bin", reported, worst, accept=(-0.02, 0.02) if near else None
            )
            page.row(f"{title}, {name}: widest quartiles of a bin", "", spread, accept=(None, 0.06) if near else None)
            if name in BELOW:
                whole = np.median(values[workload.sizes >= BDP * BINS[1]])
                small = BELOW[name] and (None, 0)
                page.row(f"{title}, {name}: median of all", reported, whole, accept=BELOW[name], small=small)
    page.note(
        """DGD and RCP* receive prices an interval late, with gains of 3.5e-3 per (Gbit/s)² and of 0.6, and F-NORM
        removes their excess demand: a fluid has no queue for it. Flows below 1 BDP, which last no longer
        than a few intervals, are not shown."""
    )
    page.plot(draw(results), "Deviation from ideal rates by size of the flow, for web search and enterprise sizes")
    page.finish()


if __name__ == "__main__":
    main()
