"""Flowtune, Fig. 16: the excess of demands over capacities while prices follow them."""

import flowtune
import numpy as np
from page import Page

import netnum

# The first decides what flows send; the box bounds the demand of a flow, as a part of what its path can carry.
METHODS = {
    "ned": lambda: flowtune.Allocating("ned"),
    "gradient(.005)": lambda: flowtune.Gradient(0.005),
    "fgm": flowtune.FastGradient,
    "fgm, box 100": lambda: flowtune.FastGradient(box=100.0),
    "ned, box 2": lambda: flowtune.Allocating("ned", box=2.0),
    "fast-ned": lambda: flowtune.Allocating("fast-ned"),
}


class Summed:
    """The demands under several methods for the same flows, which send at the rates of the first."""

    def __init__(self, begin):
        """Measures from `begin` on, in seconds."""
        self.begin = begin
        self.methods = [make() for make in METHODS.values()]
        self.demands = []  # excess by call and method, Gbit/s
        self.normal = []  # the most that is left of it by F-NORM or fill

    def rates(self, now, numbers, paths):
        """What flows send."""
        demands = flowtune.all_demands(self.methods, self.begin, now, numbers, paths)
        if now >= self.begin:
            problem = netnum.Problem(flowtune.NET, paths, netnum.AlphaFair(1.0))
            self.demands.append([excess(problem, rates) for rates in demands])
            if len(self.demands) % 20 == 0:
                feasible = [norm(problem, rates) for norm in (netnum.f_norm, netnum.fill) for rates in demands]
                self.normal.append(max(excess(problem, rates) for rates in feasible))
        return demands[0]


def excess(problem, rates):
    """The excess of loads over capacities, all links together, in Gbit/s."""
    return np.maximum(problem.loads(rates) - problem.capacities, 0).sum() / 1e9


def summed(load, seconds, *, at_changes):
    """The excess over time: by call and method, and what is left of it."""
    both = Summed(flowtune.WARM_UP[load])
    flowtune.observe(load, both.rates, seconds, at_changes=at_changes)
    return np.array(both.demands), max(both.normal)


def draw(at_ticks, at_changes):
    """Mean and largest excess by load, for iterations at ticks and at changes."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
    for axes, by_load, title in zip(panels, (at_ticks, at_changes), ("every 10 µs", "at every change"), strict=True):
        width = 0.8 / len(METHODS)
        for number, method in enumerate(METHODS):
            places = np.arange(len(by_load)) + width * (number - (len(METHODS) - 1) / 2)
            series = [demands[:, number] for demands, _ in by_load.values()]
            axes.bar(places, [values.mean() for values in series], width, label=method)
            axes.plot(places, [np.quantile(values, 0.99) for values in series], "k_", ms=6)
        axes.set_xticks(range(len(by_load)), [f"load {load}" for load in by_load])
        axes.set(yscale="log", ylim=(1, 2e6), title=f"an iteration {title}")
        axes.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("asked for above capacity, Gbit/s")
    panels[0].legend(ncols=2, fontsize="small", title="bars: mean; dashes: 99 %", loc="upper left")
    return figure


def main():
    """Measures at all loads."""
    page = Page(
        "Flowtune, Fig. 16: over-allocation",
        "Web flows on 9 racks of 16 servers (10 Gbit/s) and 4 spines that send what they demand, as if links had "
        "unlimited capacity. By how much that is more than links can carry, in all and in the mean, in "
        "Gbit/s. A flow demands at most what its path can carry, or twice or 100 times as much (box 2, box "
        "100).",
    )
    loads = list(flowtune.WARM_UP)[: 1 if page.small else None]
    at_ticks = {load: summed(load, 2e-3 if page.small else 10e-3, at_changes=False) for load in loads}
    at_changes = {load: summed(load, 3e-4 if page.small else 1e-3, at_changes=True) for load in loads}
    for load, (demands, left) in at_ticks.items():
        means = dict(zip(METHODS, demands.mean(axis=0), strict=True))
        reported = {"ned": "up to 140", "gradient(.005)": "below ned", "fgm, box 100": "unrealistic"}
        for method, mean in means.items():
            accept = (500, None) if method == "fgm, box 100" else None
            page.row(f"load {load}: {method}", reported.get(method, ""), mean, accept=accept, form=".0f")
        ratio = means["ned"] / means["gradient(.005)"]
        page.row(f"load {load}: ned / gradient(.005)", "> 1", ratio, accept=(1.0, None), form=".2f")
        page.row(f"load {load}: what F-NORM or fill leave of any, at most", "0", left, accept=(None, 1e-6), form=".0e")
    for load, (demands, _) in at_changes.items():
        means = dict(zip(METHODS, demands.mean(axis=0), strict=True))
        for method in ("ned", "fast-ned"):
            page.row(f"load {load}, an iteration at every change: {method}", "", means[method], form=".1f")
    page.note(
        """The paper's 140 Gbit/s is not compared: the excess depends on the bound of a flow's demand, which
        the paper does not give, and on how often there is an iteration."""
    )
    page.note(
        """gradient and fgm are as in the paper: one step for ever, in Gbit/s and log x, and a momentum that
        never starts anew. Those of netnum take their steps from the present flows and start again
        when these change. fgm is given a bound of 100 paths for none at all, with which its prices swing so far that no
        mean settles."""
    )
    page.plot(draw(at_ticks, at_changes), "Excess by load and method, for iterations at ticks and at every change")
    page.finish()


if __name__ == "__main__":
    main()
