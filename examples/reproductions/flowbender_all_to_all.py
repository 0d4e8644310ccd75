"""FlowBender, §4.2.3: web search flows between all servers of a fat tree."""

import flowbender
import numpy as np
from page import Page

from netnum import sim

LOADS = (0.2, 0.4, 0.6, 0.8)
BENDS = ("FlowBender", "FlowBender, DCTCP marks", "spraying")
# The paper's classes of flows, in bytes.
CLASSES = {"≤ 10 kB": (0, 1e4), "≤ 128 kB": (1e4, 128e3), "≤ 1 MB": (128e3, 1e6), "> 1 MB": (1e6, np.inf)}


def measured(net, load, flows, pairs):
    """By routing, completion times, and the flows' sizes."""
    workload = flowbender.all_to_all(net, load, flows, pairs)
    routings = flowbender.ROUTINGS.items()
    return {
        name: sim.simulate(net, workload, "max-min", routing).completion_times for name, routing in routings
    }, workload.sizes


def draw(found, loads):
    """A panel for the mean and one for the 99 % quantile: parts of ECMP's by load, for all flows and for large ones."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for axes, (title, value) in zip(
        panels, (("mean", np.mean), ("99 %", lambda of: np.quantile(of, 0.99))), strict=True
    ):
        for number, name in enumerate(BENDS):
            for style, (low, high) in (("o-", (0, np.inf)), ("o:", CLASSES["> 1 MB"])):
                parts = []
                for load in loads:
                    times, sizes = found[load]
                    ours = (sizes > low) & (sizes <= high)
                    parts.append(value(times[name][ours]) / value(times["ECMP"][ours]))
                label = name if low == 0 else f"{name}, above 1 MB"
                axes.plot(loads, parts, style, color=f"C{number}", label=label)
        axes.set(xlabel="load", title=title, ylim=(0, 1.05))
    panels[0].set_ylabel("completion time, as a part of ECMP's")
    panels[0].legend(fontsize=8)
    return figure


def main():
    """Measures at all loads."""
    page = Page(
        "FlowBender, §4.2.3: all to all",
        "Web search flows between random servers in different pods of 128, 8 paths, 4 times as many servers as "
        "uplinks, links of 10 Gbit/s. Mean completion times as parts of ECMP's; N = 1, T = 5 % (25 % with DCTCP's "
        "marks), a round trip of 100 µs.",
    )
    net, pairs = flowbender.fabric(), flowbender.between_pods()
    loads, flows = ((0.2, 0.6), 3000) if page.small else (LOADS, 15_000)
    found = {load: measured(net, load, flows, pairs) for load in loads}
    means = {load: flowbender.relative({name: of.mean() for name, of in found[load][0].items()}) for load in loads}
    accept = {"FlowBender": (None, 0.8), "spraying": (None, 0.45)}
    small = {"FlowBender": (None, 0.85), "spraying": (None, 0.5)}
    for name in BENDS:
        for load in loads:
            bounds = {"accept": accept.get(name), "small": small.get(name)} if load == 0.6 else {}
            page.row(f"{name}, load {load}", "", means[load][name], **bounds, form=".2f")
    for load in loads:
        order = means[load]["spraying"] / means[load]["FlowBender"]
        page.row(f"spraying over FlowBender, load {load}", "about 1", order, accept=(None, 1.0), form=".2f")
    for name in ("FlowBender", "spraying"):
        growth = means[loads[-1]][name] / means[loads[0]][name]
        page.row(f"{name}, load {loads[-1]} over load {loads[0]}", "falls", growth, accept=(None, 1.0), form=".2f")
    workload_to_all = flowbender.all_to_all(net, 0.6, flows, None)
    means_to_all = {
        name: sim.simulate(net, workload_to_all, "max-min", flowbender.ROUTINGS[name]).mean_completion_time
        for name in ("ECMP", "FlowBender", "spraying")
    }
    for name, part in list(flowbender.relative(means_to_all).items())[1:]:
        page.row(f"{name}, load 0.6, to any server", "", part, form=".2f")
    page.note(
        """The paper says only that all three schemes are much better than ECMP, and close to each other. In a fluid
        spraying is better by far: a flow that shares a path has no queue to suffer from, it is only slower, and
        FlowBender draws paths without looking. Where links mark as DCTCP does, flows on a link with few others stay.
        Gains grow from load 0.2 to 0.8, but not at every step: each load is one workload."""
    )
    page.note(
        """Loads are relative to the bisection. What crosses it is not said: with servers of any pod a quarter of the
        flows stays within one, the core is emptier, and there is less to be gained, as the last rows show."""
    )
    page.plot(draw(found, loads), "Means and 99 % quantiles of completion times as parts of ECMP's, by load")
    page.finish()


if __name__ == "__main__":
    main()
