"""NUMFabric, Fig. 4a: how many iterations after 100 flows have come or gone until the others' rates are right again.

1000 paths between random servers; at every event 100 of them start a flow or end theirs, so that 300 to 500 are active.
Rates follow the prices at once, prices move once per interval: 30 µs for xWI, 16 µs for all else. An event is over when
95 % of the flows are within 10 % of the optimum and stay there for 5 ms. All methods see the same events, and each
starts an event from the prices that it had at the end of the last one.
"""

import math

import numpy as np
from page import Page

import netnum

STAYS = 5e-3  # seconds for which rates must stay
LIMIT = 20e-3  # seconds after which an event counts as not converged


def scenario(events, seed, alpha=1.0):
    """The problem before the first event and after each: flows with α-fair utilities on a network in Gbit/s."""
    net = netnum.topology.leaf_spine(8, 16, 4, server_capacity=10.0, fabric_capacity=40.0)
    rng = np.random.default_rng(seed)
    paths = list(net.ecmp(*net.random_pairs(1000, seed=seed), seed=seed))
    active = np.zeros(1000, bool)
    active[rng.permutation(1000)[:400]] = True
    problems = []
    for _ in range(events + 1):
        problems.append(netnum.Problem(net, [paths[path] for path in np.flatnonzero(active)], netnum.AlphaFair(alpha)))
        count = active.sum()
        grows = count == 300 or (count == 400 and rng.random() < 0.5)
        active[rng.choice(np.flatnonzero(active != grows), 100, replace=False)] = grows
    return problems


def convergence(problems, interval, rates, start):
    """Iterations until each of the problems but the first has converged; infinite where it does not in time.

    `start` makes a solver of a problem and the prices to begin at; `rates` takes the rates from it.
    """
    prices = netnum.solve(problems[0]).prices
    counts = []
    limit, stays = (math.ceil(time / interval) for time in (LIMIT, STAYS))
    for problem in problems[1:]:
        optimum = netnum.solve(problem, tol=1e-9).rates
        solver = start(problem, prices)
        iteration, since = 0, None
        while since is None or iteration < since + stays:
            if np.mean(np.abs(rates(solver) / optimum - 1) <= 0.1) < 0.95:
                since = None
            elif since is None:
                since = iteration
            if since is None and iteration >= limit:
                break
            solver.step()
            iteration += 1
        counts.append(math.inf if since is None else since)
        prices = solver.prices
    return counts


def raw(solver):
    """What the prices ask for: of xWI feasible, of others not while prices are wrong."""
    return solver.raw_rates


def f_norm(solver):
    """The rates, each divided by the largest load per capacity on its path."""
    return solver.rates


def fill(solver):
    """Max-min rates whose weights are the rates."""
    return netnum.fill(solver.problem, solver.raw_rates)


def method(name, **options):
    """What starts a solver with a method of the library."""
    return lambda problem, prices: netnum.Solver(problem, name, warm_start=prices, **options)


def explicit(name, **options):
    """Rates that sources set by the prices, none above the 10 Gbit/s of its own link."""

    def start(problem, prices):
        caps = np.full(len(problem.paths), 10.0)
        capped = netnum.Problem(problem.capacities, problem.paths, netnum.AlphaFair(1.0), rate_cap=caps)
        return netnum.Solver(capped, name, warm_start=prices, **options)

    return start


# Name, seconds per iteration, rates, solver. The gradient's step is per (Gbit/s)²; its queue of 0.06 is the paper's
# b/a, 1.2e-7 per byte over 4e-3, in what an excess of 1 Gbit/s piles up in 16 µs.
METHODS = [
    ("xWI", 30e-6, raw, method("xwi")),
    ("DGD, the paper's gains", 16e-6, raw, explicit("gradient", step=4e-3, queue=0.06)),
    ("DGD with delay", 16e-6, raw, explicit("gradient", step=3.5e-3, delay=1)),
    ("RCP* with delay", 16e-6, raw, explicit("rcp", a=0.8, delay=1)),
    ("NED 0.4 + F-NORM", 16e-6, f_norm, method("ned", gamma=0.4)),
    ("fast NED + F-NORM", 16e-6, f_norm, method("fast-ned")),
    ("fast NED + fill", 16e-6, fill, method("fast-ned")),
]

# What the paper says: times of xWI, and those of others over them; at the median and at the 95th percentile.
PAPER = {"xWI": ("335", "495"), "DGD, the paper's gains": ("2.3", "2.7"), "RCP* with delay": ("2.3", "2.7")}

# What is accepted: the most iterations at the median and at the 95th percentile; of the paper's other methods, the
# least time over xWI's at both; of fast NED also the most.
ITERATIONS = {
    "xWI": (11, 16),
    "NED 0.4 + F-NORM": (15, 20),
    "fast NED + F-NORM": (10, 13),
    "fast NED + fill": (10, 13),
}
SLOWER = {"DGD, the paper's gains": (2.3, 2.3), "DGD with delay": (2.0, 2.0), "RCP* with delay": (1.6, 2.0)}
FASTER = {"fast NED + F-NORM": 0.6, "fast NED + fill": 0.6}


def percentiles(counts):
    """The median and the 95th percentile; of counts that are infinite too."""
    return np.median(counts), np.quantile(counts, 0.95, method="higher")


def draw(results):
    """The part of events that have converged over time, as in the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    styles = ["-", "--", "--", "--", ":", ":", ":"]
    for (name, counts), (_, interval, *_), style in zip(results.items(), METHODS, styles, strict=True):
        times = 1e6 * interval * np.sort(counts)
        axes.step([0, *times], np.linspace(0, 1, len(times) + 1), style, where="post", linewidth=1.8, label=name)
    axes.set(xlabel="time to converge (µs)", ylabel="part of the events", xlim=(0, 1500), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="lower right")
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "NUMFabric, Fig. 4a: convergence after flows have come or gone",
        "Time until 95 % of 300 to 500 flows are within 10 % of the proportionally fair optimum and stay for 5 ms,"
        " after 100 of them have started or ended; 30 µs per iteration of xWI, 16 µs of all else.",
    )
    events, seeds = (6, [1]) if page.small else (100, [1, 2, 3])
    results = {name: [] for name, *_ in METHODS}
    for seed in seeds:
        problems = scenario(events, seed)
        for name, interval, rates, start in METHODS:
            results[name] += convergence(problems, interval, rates, start)
    reference = 30e-6 * np.array(percentiles(results["xWI"]))
    for name, interval, *_ in METHODS:
        for place, which in enumerate(("median", "95th percentile")):
            found = percentiles(results[name])[place]
            accept = (None, ITERATIONS[name][place]) if name in ITERATIONS else None
            page.row(f"{name}: iterations, {which}", "", found, accept=accept)
            if name == "xWI":
                page.row(f"{name}: µs, {which}", PAPER[name][place], 1e6 * interval * found)
                continue
            bounds = (SLOWER[name][place], None) if name in SLOWER else (None, FASTER.get(name))
            times = interval * found / reference[place]
            reported = PAPER.get(name, ("", ""))[place]
            page.row(f"{name}: time over xWI's, {which}", reported, times, accept=bounds if any(bounds) else None)
    page.row("events after which xWI converges", "all", np.isfinite(results["xWI"]).mean(), accept=(1, None))
    page.note(
        """An iteration stands for an interval. A fluid has neither packets nor the filter of 80 µs through which the
        paper measures, so that microseconds are to be compared between methods only."""
    )
    page.note(
        """How much slower the paper's DGD and RCP* are is a matter of feedback delay. With one interval of it, the
        fastest stable gains are 3.5e-3 per (Gbit/s)² for DGD, without its queue term, and 0.8 for RCP*, which has no
        stable one above 1. Without delay, gains tuned for 20 events (7e-3 and 1.8) make DGD 1.4 times and RCP* 1.0
        times as slow as xWI at the median."""
    )
    page.plot(draw(results), "Part of the events that have converged, over time, by method")
    page.finish()


if __name__ == "__main__":
    main()
