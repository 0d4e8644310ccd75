"""NUMFabric, Fig. 9 and 10: two flows with the bandwidth functions of its Fig. 2, on one link and on three.

The exact answer is the max-min of fair shares, B(f) at the largest f that fits; utilities ∫ F(x)^(−α), F the inverse of
B, approach it as α grows. Where all flows cross one link they share one f, and every α is exact.
"""

import numpy as np
from page import Page

import netnum

# Fig. 2: bandwidth (Gbit/s) over fair share. Flow 1 has the first 10 Gbit/s to itself.
FAIR_SHARE = [0, 2, 2.5]
BANDWIDTH = [[0, 10, 15], [0, 0, 10]]

# What the paper says that the two flows get, by the capacity that varies.
FIG_9 = {10: (10, 0), 25: (15, 10)}
FIG_10 = {5: (10, 3), 17: (15, 10)}


def curves(alpha):
    """The utilities of both flows."""
    return [netnum.BandwidthFunction(FAIR_SHARE, bandwidth, alpha=alpha) for bandwidth in BANDWIDTH]


def one_link(capacity, alpha=5):
    """Fig. 9: both flows on one link."""
    return netnum.Problem([capacity], [[0], [0]], curves(alpha))


def three_links(middle, alpha=5):
    """Fig. 10: flow 1 on the top link and the middle one, flow 2 on the middle one and the bottom one."""
    return netnum.Problem([5.0, middle, 3.0], [[0], [1], [1], [2]], curves(alpha), group=[0, 0, 1, 1])


def two_links(alpha):
    """Flow 2 on two links, each of which it shares with one like flow 1."""
    one, other = curves(alpha)
    return netnum.Problem([20.0, 20.0], [[0, 1], [0], [1]], [other, one, one])


def exact(problem):
    """The flows' rates by max-min over fair shares."""
    return problem.flow_rates(netnum.max_min(problem))


def optimum(problem):
    """The flows' rates by utilities."""
    solution = netnum.solve(problem, tol=1e-9)
    assert solution.is_optimal, solution
    return solution.flow_rates


def draw(stories):
    """Rates over the capacity that varies."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    rings = {"linestyle": "", "marker": "o", "fillstyle": "none"}
    for axes, (title, label, capacities, problem_of, paper) in zip(panels, stories, strict=True):
        by_share = np.array([exact(problem_of(capacity)) for capacity in capacities])
        by_utility = np.array([optimum(problem_of(capacity)) for capacity in capacities])
        for flow, colour in enumerate(("#1f5fa8", "#c8372d")):
            axes.plot(capacities, by_share[:, flow], color=colour)
            axes.plot(capacities, by_utility[:, flow], color=colour, **rings)
            middle = len(capacities) // 2
            place = capacities[middle], by_share[middle, flow] + 0.8
            axes.annotate(f"flow {flow + 1}", place, color=colour, ha="right")
        reported = [(capacity, rate) for capacity, rates in paper.items() for rate in rates]
        axes.plot(*zip(*reported, strict=True), "kx", markersize=9, label="said in the paper", zorder=3)
        axes.set(title=title, xlabel=label, ylim=(-0.7, 17))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("rate (Gbit/s)")
    panels[1].plot([], [], color="0.45", label="max-min over fair shares")
    panels[1].plot([], [], color="0.45", label="utility with α = 5", **rings)
    panels[1].legend(loc="lower right", frameon=False)
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "NUMFabric, Fig. 9 and 10: bandwidth functions",
        "Rates of two flows with the bandwidth functions of Fig. 2: on one link (Fig. 9), and with a link of its own"
        " and a part of one between them each (Fig. 10, before and after the middle link grows). Errors are in Gbit/s.",
    )
    link, middle = np.arange(5.0, 36.0, 2.5), np.arange(5.0, 18.0)
    for figure, problem_of, paper in (("Fig. 9", one_link, FIG_9), ("Fig. 10", three_links, FIG_10)):
        for capacity, rates in paper.items():
            reported = f"{rates[0]} / {rates[1]}"
            error = np.abs(optimum(problem_of(float(capacity))) - rates).max()
            page.row(
                f"{figure}, {capacity} Gbit/s: error of the rates", reported, error, accept=(None, 1e-6), form=".1e"
            )
    for alpha in (0.5, 5, 50):
        error = max(np.abs(optimum(one_link(c, alpha)) - exact(one_link(c))).max() for c in link)
        page.row(f"one link, 5 to 35 Gbit/s, α = {alpha}", "almost identical", error, accept=(None, 1e-6), form=".1e")
    errors = {alpha: np.abs(optimum(two_links(alpha)) - exact(two_links(alpha))).max() for alpha in (5, 10, 20, 50)}
    for alpha, error in errors.items():
        page.row(f"a flow over two full links, α = {alpha}", "", error)
    page.row("the same, error at α = 5 over that at 50", "", errors[5] / errors[50], accept=(5, 20))
    solver = netnum.Solver(three_links(17.0), "xwi", warm_start=netnum.solve(three_links(5.0)).prices)
    solver.step(30)
    error = np.abs(np.add.reduceat(solver.raw_rates, [0, 2]) / FIG_10[17] - 1).max()
    page.row("Fig. 10, xWI 30 iterations after the change", "quickly", error, accept=(None, 0.01))
    page.note(
        """On one link all flows have one fair share, the price's, and every α gives the same answer. A flow over two
        full links pays both prices, and the answer depends on α: its distance from max-min shrinks about as 1/α."""
    )
    stories = [
        ("Fig. 9: one link", "capacity of the link (Gbit/s)", link, one_link, FIG_9),
        ("Fig. 10: three links", "capacity of the middle link (Gbit/s)", middle, three_links, FIG_10),
    ]
    page.plot(draw(stories), "Rates of both flows by the capacity of a link: exact, by utility, and in the paper")
    page.finish()


if __name__ == "__main__":
    main()
