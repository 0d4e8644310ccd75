"""Flowtune, Fig. 17: how much of the optimal throughput is left of an iteration's rates when no link is too full."""

import flowtune
import numpy as np
from page import Page

import netnum

NORMALIZERS = {
    "F-NORM": netnum.f_norm,
    "raising F-NORM": lambda problem, rates: netnum.f_norm(problem, rates, raise_rates=True),
    "fill": netnum.fill,
    "U-NORM": netnum.u_norm,
}

METHODS = {
    "every tick": {
        "ned": lambda: flowtune.Allocating("ned"),
        "gradient(.007)": lambda: flowtune.Gradient(0.007),
        "fast-ned": lambda: flowtune.Allocating("fast-ned"),
        "ned × 20": lambda: flowtune.Allocating("ned", iterations=20),
        "fast-ned × 10": lambda: flowtune.Allocating("fast-ned", iterations=10),
    },
    "every change": {
        "ned": lambda: flowtune.Allocating("ned"),
        "gradient(.007)": lambda: flowtune.Gradient(0.007),
        "gradient(.001)": lambda: flowtune.Gradient(0.001),
        "fast-ned": lambda: flowtune.Allocating("fast-ned"),
    },
}

# The rows of the table: method, normalizer, the paper's figure, and what a fluid model should give at each load.
LOADS = tuple(flowtune.WARM_UP)
ROWS = {
    "every tick": [
        ("ned", "F-NORM", "", [(0.95, None), (0.905, None), (0.91, None)]),
        ("ned", "raising F-NORM", "≥ .997", [(0.97, None), (0.92, None), (0.915, None)]),
        ("ned", "fill", "", None),
        ("ned", "U-NORM", "far below", [(None, 0.6)] * 3),
        ("gradient(.007)", "raising F-NORM", "≥ .984", [(0.97, None), (0.92, None), (0.915, None)]),
        ("fast-ned", "raising F-NORM", "", None),
        ("fast-ned", "fill", "", None),
        ("ned × 20", "raising F-NORM", "", None),
        ("fast-ned × 10", "raising F-NORM", "", [(0.997, None)] * 3),
    ],
    "every change": [
        ("ned", "F-NORM", "", None),
        ("ned", "raising F-NORM", "≥ .997", [(0.995, None), (0.993, None), (0.992, None)]),
        ("ned", "fill", "", None),
        ("ned", "U-NORM", "far below", None),
        ("gradient(.007)", "raising F-NORM", "≥ .984", None),
        ("gradient(.001)", "raising F-NORM", "≥ .984", None),
        ("fast-ned", "raising F-NORM", "", None),
        ("fast-ned", "fill", "", None),
    ],
}


SPANS = {"every tick": (10e-3, 5), "every change": (1e-3, 20)}


class Compared:
    """Rates of several methods on the same flows, each by every normalizer, against the optimum of the moment."""

    def __init__(self, methods, begin, every):
        """The first method decides, by F-NORM. From `begin` on (seconds) one call in `every` is measured."""
        self.methods = [make() for make in methods.values()]
        self.begin, self.every, self.calls = begin, every, 0
        self.parts = []  # of the optimal throughput, by call, method and normalizer

    def rates(self, now, numbers, paths):
        """What flows send."""
        problem = netnum.Problem(flowtune.NET, paths, netnum.AlphaFair(1.0))
        demands = flowtune.all_demands(self.methods, self.begin, now, numbers, paths)
        self.calls += 1
        if now >= self.begin and self.calls % self.every == 0:
            best = netnum.solve(problem).rates.sum()
            totals = [[norm(problem, rates).sum() for norm in NORMALIZERS.values()] for rates in demands]
            self.parts.append(np.array(totals) / best)
        return netnum.f_norm(problem, demands[0])


def measured(when, load, seconds, every):
    """Mean throughput as a part of the optimum: {(when, method, normalizer): part}."""
    compared = Compared(METHODS[when], flowtune.WARM_UP[load], every)
    flowtune.observe(load, compared.rates, seconds, at_changes=when == "every change")
    means = np.mean(compared.parts, axis=0)
    names = [(when, method, normalizer) for method in METHODS[when] for normalizer in NORMALIZERS]
    return dict(zip(names, means.ravel(), strict=True))


def draw(parts):
    """A row of points for each method and normalizer, a panel for each time of iterations."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained", sharex=True)
    for axes, when in zip(panels, METHODS, strict=True):
        names = [name for name in next(iter(parts.values())) if name[0] == when]
        for number, (load, of_load) in enumerate(parts.items()):
            percent = [100 * of_load[name] for name in names]
            axes.plot(percent, range(len(names)), "o", c=f"C{number}", label=f"load {load}")
        axes.set_yticks(range(len(names)), [f"{method}, {normalizer}" for _, method, normalizer in names], fontsize=8)
        axes.invert_yaxis()
        axes.axvline(100, color="black", lw=0.8)
        axes.grid(axis="y", alpha=0.3)
        axes.set(xlabel="% of the optimal throughput", title=f"an iteration at {when}")
    panels[0].legend()
    return figure


def main():
    """Measures at all loads, and says of each method and normalizer what the paper does."""
    page = Page(
        "Flowtune, Fig. 17: normalizers",
        "Web flows on 9 racks of 16 servers (10 Gbit/s) and 4 spines. Throughput of the normalized rates as a "
        "part of the optimum's on the flows of the moment, after an iteration, in the mean. ned's γ is 0.4; × "
        "10 are ten iterations in a tick.",
    )
    loads = LOADS[:1] if page.small else LOADS
    # Seconds that are measured, and one iteration out of how many.
    spans = {"every tick": (4e-3, 4), "every change": (4e-4, 10)} if page.small else SPANS
    parts = {load: {} for load in loads}
    for when in METHODS:
        for load in loads:
            parts[load] |= measured(when, load, *spans[when])
        for method, normalizer, paper, bounds in ROWS[when]:
            of_loads = [parts[load][when, method, normalizer] for load in loads]
            what = f"{when}: {method}, {normalizer}"
            if bounds is None:
                page.row(f"{what}, all loads at least", paper, min(of_loads), form=".4f")
            else:
                for load, part, accept in zip(loads, of_loads, bounds, strict=False):
                    page.row(f"{what}, load {load}", paper, part, accept=accept, form=".4f")
    changes = min(part["every change", "ned", "raising F-NORM"] for part in parts.values())
    page.note(
        f"""How often there is an iteration decides. At a load of 0.75 some 80 flows come or go in a tick of
        {flowtune.TICK * 1e6:g} µs, and rates are always those of prices that are late. With an iteration at every
        change ned and raising F-NORM come to {changes:.2%} at least, within half a point of the paper's 99.7 %; with
        ten iterations of fast-ned in a tick, or with fill and one, that is reached at every load. The paper does not
        say how its iterations fall on changes."""
    )
    page.note(
        """Raising F-NORM is the paper's formula to the letter, x / max r: it also raises rates until a link of
        the path is full. The other, x / max(1, max r), only lowers them. fill may give more than the optimum's
        throughput, as the paper says of F-NORM too: it is fair to demands, which have not converged
        yet."""
    )
    page.note(
        """A flow demands at most what its path can carry. A link that was empty gets the price at which its
        flows demand what they can have, in equal parts on their links. Rates come first, then the prices move.
        All methods see the same flows, which send at the rates of ned and F-NORM."""
    )
    page.plot(draw(parts), "Throughput by method, normalizer and load, for iterations at ticks and at every change")
    page.finish()


if __name__ == "__main__":
    main()
