"""NUMFabric, Fig. 8: what pooling makes of flows with several random subflows.

A permutation of 64 pairs on 128 servers, 8 leaves and 16 spines, all links of 10 Gbit/s; each pair has 1 to 8 subflows,
each on a path drawn at random. Rates are the optimum of log utilities, once of every pair's total (pooling) and once of
every subflow.
"""

import numpy as np
from page import Page

import netnum

PAIRS, LINE_RATE = 64, 10.0  # Gbit/s
MODES = ("pooling", "no pooling")


def rates_of_pairs(subflows, seed):
    """The pairs' rates in Gbit/s, pooled and not: an array 2 x pairs."""
    net = netnum.topology.leaf_spine(8, 16, 16, server_capacity=LINE_RATE, fabric_capacity=LINE_RATE)
    pair = np.repeat(np.arange(PAIRS), subflows)
    receivers = PAIRS + np.random.default_rng(seed).permutation(PAIRS)
    paths = net.ecmp(pair, receivers[pair], seed=seed)
    rates = []
    for group in (pair, None):
        solution = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group), tol=1e-9)
        assert solution.is_optimal, solution
        rates.append(np.bincount(pair, weights=solution.rates))
    return rates


def draw(counts, rates):
    """Total throughput over subflows, and the pairs by rank at the most subflows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    totals, ranks = figure.subplots(1, 2, sharey=True)
    part = 100 * rates / LINE_RATE
    for mode, (name, colour, marker) in enumerate(zip(MODES, ("#1f5fa8", "#c8372d"), "os", strict=True)):
        style = {"color": colour, "linewidth": 3 - 1.5 * mode, "label": name}  # both are seen where they coincide
        totals.plot(counts, part[:, :, mode].mean(axis=(1, 2)), marker=marker, **style)
        ranks.plot(np.arange(1, PAIRS + 1), np.sort(part[-1, :, mode], axis=-1).mean(axis=0), **style)
    for axes in (totals, ranks):
        axes.axhline(100, color="0.45", linestyle="--", linewidth=1, zorder=1)
        axes.grid(alpha=0.3)
    totals.set(title="total throughput", xlabel="subflows per pair", ylabel="% of optimal", ylim=(0, 106))
    totals.legend(loc="lower right", frameon=False)
    ranks.set(title=f"every pair's throughput at {counts[-1]} subflows", xlabel="pair, by rank")
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "NUMFabric, Fig. 8: resource pooling",
        "Throughput of 64 pairs over 16 spines by the number of random subflows per pair, as a part of what the"
        " servers' links carry, with utilities of a pair's total rate and with utilities of each subflow.",
    )
    counts = [1, 8] if page.small else range(1, 9)
    seeds = range(1, 3 if page.small else 6)
    rates = np.array([[rates_of_pairs(count, seed) for seed in seeds] for count in counts])
    for row in [place for place, count in enumerate(counts) if count in (1, 2, 4, 8)]:
        bounds = ((0.99, None), (None, 0.98)) if counts[row] == 8 else (None, None)
        for mode, accept in enumerate(bounds):
            reported = {"pooling": "→ 1", "no pooling": "less"}[MODES[mode]] if counts[row] == 8 else ""
            total = rates[row, :, mode].mean() / LINE_RATE
            page.row(f"{counts[row]} subflows, {MODES[mode]}: total", reported, total, accept=accept)
    for mode, accept in enumerate(((9.5, None), (None, 8.5))):
        least = rates[-1, :, mode].min(axis=-1).mean()
        reported = ("nearly equal", "far less so")[mode]
        page.row(f"8 subflows, {MODES[mode]}: least rate, Gbit/s", reported, least, accept=accept)
    page.row(
        "8 subflows, pooling: Jain's index", "", netnum.jain(rates[-1, :, 0]).mean(), accept=(0.999, None), form=".5g"
    )
    page.row("8 subflows, no pooling: Jain's index", "", netnum.jain(rates[-1, :, 1]).mean(), form=".5g")
    page.note(f"Optima, proven to a gap of 1e-9; means over {len(seeds)} draws. The paper gives no numbers but these.")
    page.plot(draw(counts, rates), "Throughput by number of subflows, and by rank of the pair at 8")
    page.finish()


if __name__ == "__main__":
    main()
