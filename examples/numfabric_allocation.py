"""How NUMFabric divides a network: four figures of its paper that need no clock.

Nagaraj et al., *NUMFabric: Fast and Flexible Bandwidth Allocation in Datacenters*, SIGCOMM 2016:

- Fig. 9: two flows with the bandwidth functions of its Fig. 2 on one link, from 5 to 35 Gbit/s;
- Fig. 10: the same two flows, each with a link of its own and a part of one between them;
- Fig. 8: a permutation of 64 pairs, each over 1 to 8 random subflows, fair between pairs (pooling) or between subflows;
- Fig. 6(c): the exponents alpha at which its rule, xWI, converges.

Prints each beside what the paper says, and draws them into `plots/` (or the folder that NETNUM_PLOTS names) where
matplotlib is installed. The allocations are optima, computed and proven. What packets add is not here: the paper's
microseconds, the noise of measured rates, and the queues of Swift, its transport. So Fig. 10 is its two ends and what
lies between them, not the 10 ms from one to the other, and Fig. 6(c) counts iterations.
"""

import os
from pathlib import Path

import numpy as np

import netnum

# Fig. 2 of the paper: bandwidth (Gbit/s) over fair share. Flow 1 has the first 10 Gbit/s to itself.
FAIR_SHARE = [0, 2, 2.5]
CURVES = [
    netnum.BandwidthFunction(FAIR_SHARE, [0, 10, 15], alpha=5),
    netnum.BandwidthFunction(FAIR_SHARE, [0, 0, 10], alpha=5),
]

# What the paper says that the two flows get, by the capacity that varies.
FIG_9 = {10: (10, 0), 25: (15, 10)}
FIG_10 = {5: (10, 3), 17: (15, 10)}

PAIRS, LINE_RATE = 64, 10.0  # Fig. 8: senders, and every link's Gbit/s
LIMIT = 500  # Fig. 6(c): iterations that a method may try


def one_link(capacity):
    """Fig. 9: both flows on one link."""
    return netnum.Problem([capacity], [[0], [0]], CURVES)


def three_links(middle):
    """Fig. 10: flow 1 on the top link and the middle one, flow 2 on the middle one and the bottom one."""
    return netnum.Problem([5.0, middle, 3.0], [[0], [1], [1], [2]], CURVES, group=[0, 0, 1, 1])


def bandwidth_functions(problem_of, capacities):
    """Both flows' rates, exact and as the NUM problem with alpha = 5: two arrays, capacities x flows."""
    exact, approached = [], []
    for capacity in capacities:
        problem = problem_of(float(capacity))
        exact.append(problem.flow_rates(netnum.max_min(problem)))
        solution = netnum.solve(problem, tol=1e-9)
        if not solution.is_optimal:
            print(f"  {capacity:g} Gbit/s: only proven to a gap of {solution.gap:.0e}")
        approached.append(solution.flow_rates)
    return np.array(exact), np.array(approached)


def bandwidth_table(capacities, exact, approached, paper):
    """Prints the rates of both flows, and by how much the two ways to them differ."""
    print(f"  {'Gbit/s':>6}{'max-min: flow 1':>18}{'flow 2':>9}{'alpha 5: flow 1':>18}{'flow 2':>9}{'paper':>10}")
    for capacity, rates, near in zip(capacities, exact, approached, strict=True):
        said = "{} / {}".format(*paper[capacity]) if capacity in paper else ""
        print(f"  {capacity:>6g}{rates[0]:>18.3f}{rates[1]:>9.3f}{near[0]:>18.3f}{near[1]:>9.3f}{said:>10}".rstrip())
    difference = np.abs(approached - exact).max(axis=1) / exact.sum(axis=1)
    print(f"  largest difference: {difference.max():.1e} of the two flows' total\n")


def pooling(subflows, seeds):
    """Fig. 8: the pairs' rates, as an array subflows x (pooled, not) x seeds x pairs."""
    net = netnum.topology.leaf_spine(8, 16, 16, server_capacity=LINE_RATE, fabric_capacity=LINE_RATE)
    rates = np.empty((len(subflows), 2, len(seeds), PAIRS))
    for row, count in enumerate(subflows):
        pair = np.repeat(np.arange(PAIRS), count)
        for column, seed in enumerate(seeds):
            receivers = PAIRS + np.random.default_rng(seed).permutation(PAIRS)
            paths = net.ecmp(pair, receivers[pair], seed=seed)
            for mode, group in enumerate((pair, None)):
                problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group)
                solution = netnum.solve(problem, tol=1e-9)
                if not solution.is_optimal:
                    print(f"  {count} subflows, seed {seed}: only proven to a gap of {solution.gap:.0e}")
                rates[row, mode, column] = np.bincount(pair, weights=solution.rates)
    return rates


def pooling_table(subflows, rates):
    """Prints the total of all pairs, and how unequal they are; means over the seeds."""
    total = rates.sum(axis=-1).mean(axis=-1) / (PAIRS * LINE_RATE)
    ratio = (rates.min(axis=-1) / rates.max(axis=-1)).mean(axis=-1)
    variation = (rates.std(axis=-1) / rates.mean(axis=-1)).mean(axis=-1)
    names = f"{'total':>9}{'min/max':>9}{'variation':>11}"
    print(f"  {'':>8}{'pooling':>29}{'no pooling':>32}\n  {'subflows':>8}{names}   {names}")
    for row, count in enumerate(subflows):
        pooled, apart = (
            f"{total[row, mode]:>9.1%}{ratio[row, mode]:>9.3f}{variation[row, mode]:>11.4f}" for mode in (0, 1)
        )
        print(f"  {count:>8}{pooled}   {apart}")
    print("  paper: with 8 subflows, pooling comes close to 100 % and is extremely fair; without, much less so\n")


def alphas(exponents, tolerances, methods, flows):
    """Fig. 6(c): iterations to every proven gap (nan: not in LIMIT), alpha x method x tolerance, and the best gaps."""
    net = netnum.topology.leaf_spine(8, 16, 4, server_capacity=10.0, fabric_capacity=40.0)
    paths = net.ecmp(*net.random_pairs(flows, seed=1), seed=1)
    iterations = np.full((len(exponents), len(methods), len(tolerances)), np.nan)
    best = np.empty((len(exponents), len(methods)))
    for row, column in np.ndindex(best.shape):
        problem = netnum.Problem(net, paths, netnum.AlphaFair(exponents[row]))
        # With a trace, every iteration is certified: none goes by that had the gap already.
        solution = netnum.solve(problem, methods[column], tol=min(tolerances), max_iterations=LIMIT, trace=True)
        best[row, column] = solution.gap
        for cell, tol in enumerate(tolerances):
            if (proven := solution.trace.gap <= tol).any():
                iterations[row, column, cell] = solution.trace.iteration[proven.argmax()]
    return iterations, best


def alpha_table(exponents, tolerances, methods, iterations, best):
    """Prints the iterations, or "no" and the best gap."""
    names = "".join(f"{f'{method}, {tol:g}':>17}" for method in methods for tol in tolerances)
    print(f"  {'alpha':>6}{names}    the paper's xWI")
    for row, alpha in enumerate(exponents):
        cells = "".join(
            f"{f'no: {gap:.1e}':>17}" if np.isnan(count) else f"{count:>17.0f}"
            for counts, gap in zip(iterations[row], best[row], strict=True)
            for count in counts
        )
        said = "converges" if 0.5 <= alpha <= 2 else "not always; nearly, slowed down 2 x"
        print(f"  {alpha:>6g}{cells}    {said}")
    print(f"  no: not in {LIMIT} iterations, and the best gap until then\n")


# --- pictures ---

BLUE, RED, GREY = "#1f5fa8", "#c8372d", "0.45"


def draw_bandwidth_functions(pyplot, stories):
    """Fig. 9 and 10: rates over the capacity that varies."""
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    rings = {"linestyle": "", "marker": "o", "fillstyle": "none"}
    for axes, (title, label, capacities, (exact, approached), paper) in zip(panels, stories, strict=True):
        for flow, colour in enumerate((BLUE, RED)):
            axes.plot(capacities, exact[:, flow], color=colour)
            axes.plot(capacities, approached[:, flow], color=colour, **rings)
            middle = len(capacities) // 2
            place = capacities[middle], exact[middle, flow] + 0.8
            axes.annotate(f"flow {flow + 1}", place, color=colour, ha="right")
        said = [(capacity, rate) for capacity, rates in paper.items() for rate in rates]
        axes.plot(*zip(*said, strict=True), "kx", markersize=9, label="said in the paper", zorder=3)
        axes.set(title=title, xlabel=label, ylim=(-0.7, 17))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("rate (Gbit/s)")
    panels[1].plot([], [], color=GREY, label="max-min over fair shares")
    panels[1].plot([], [], color=GREY, label="utility with α = 5", **rings)
    panels[1].legend(loc="lower right", frameon=False)
    return figure


def draw_pooling(pyplot, subflows, rates):
    """Fig. 8: total throughput over subflows, and the pairs by rank at the most subflows."""
    figure, (totals, ranks) = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    part = 100 * rates / LINE_RATE
    for mode, (name, colour, marker) in enumerate((("pooling", BLUE, "o"), ("no pooling", RED, "s"))):
        style = {"color": colour, "linewidth": 3 - 1.5 * mode, "label": name}  # both are seen where they coincide
        totals.plot(subflows, part[:, mode].mean(axis=(-1, -2)), marker=marker, **style)
        ranked = np.sort(part[-1, mode], axis=-1).mean(axis=0)
        ranks.plot(np.arange(1, PAIRS + 1), ranked, **style)
    for axes in (totals, ranks):
        axes.axhline(100, color=GREY, linestyle="--", linewidth=1, zorder=1)
        axes.grid(alpha=0.3)
    totals.set(title="Fig. 8(a): total throughput", xlabel="subflows per pair", ylabel="% of optimal", ylim=(0, 106))
    totals.legend(loc="lower right", frameon=False)
    ranks.set(title=f"Fig. 8(b): every pair's throughput at {subflows[-1]} subflows", xlabel="pair, by rank")
    return figure


def draw_alphas(pyplot, exponents, tolerances, methods, iterations):
    """Fig. 6(c): iterations over alpha; what did not get there is a cross at the limit."""
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    axes.axvspan(0.5, 2, color="0.94", zorder=0)
    axes.annotate("the paper's xWI\nconverges as it is", (1, 2.3), ha="center", color=GREY)
    for column, (method, colour) in enumerate(zip(methods, (BLUE, RED), strict=True)):
        for cell, (tol, dashes) in enumerate(zip(tolerances, ("--", "-"), strict=True)):
            counts, style = iterations[:, column, cell], {"color": colour, "linestyle": dashes}
            axes.plot(exponents, counts, marker="o", markersize=5, label=f"{method}, gap {tol:g}", **style)
            failed = np.array(exponents)[np.isnan(counts)]
            # Two that fail at one alpha are seen side by side.
            axes.plot(failed * 1.04 ** (2 * column + cell), np.full(len(failed), LIMIT), "x", color=colour)
    axes.set(title="Fig. 6(c): 1000 flows, 8 racks × 16 servers × 4 spines", xlabel="α", ylabel="iterations")
    axes.plot([], [], "x", color=GREY, label=f"not in {LIMIT}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(exponents, [f"{alpha:g}" for alpha in exponents])
    counts = [3, 10, 30, 100, 300]
    axes.set_yticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_ylim(2, 1.4 * LIMIT)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def files():
    """Pyplot of matplotlib, drawing into files; None where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print('no pictures without matplotlib: pip install "netnum[plot]"')
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def main():
    """Every figure: computed, printed, drawn."""
    link, middle = np.arange(5, 36, 2.5), np.arange(5, 18)
    print("Fig. 9: two flows with bandwidth functions on one link")
    fig_9 = bandwidth_functions(one_link, link)
    bandwidth_table(link, *fig_9, FIG_9)
    print("Fig. 10: bandwidth functions and pooling, by the capacity of the middle link")
    fig_10 = bandwidth_functions(three_links, middle)
    bandwidth_table(middle, *fig_10, FIG_10)

    subflows = range(1, 9)
    print(f"Fig. 8: {PAIRS} pairs on 128 servers, 8 leaves, 16 spines, all at 10 Gbit/s; means over 3 draws")
    rates = pooling(subflows, seeds=range(1, 4))
    pooling_table(subflows, rates)

    exponents, tolerances, methods = [0.25, 0.5, 1, 2, 4, 8], [1e-2, 1e-3], ["xwi", "fast-ned"]
    print("Fig. 6(c): alpha-fairness of 1000 flows on 128 servers, 8 leaves, 4 spines; iterations to a proven gap")
    iterations, best = alphas(exponents, tolerances, methods, flows=1000)
    alpha_table(exponents, tolerances, methods, iterations, best)

    if pyplot := files():
        stories = [
            ("Fig. 9: one link", "capacity of the link (Gbit/s)", link, fig_9, FIG_9),
            ("Fig. 10: three links", "capacity of the middle link (Gbit/s)", middle, fig_10, FIG_10),
        ]
        pictures = {
            "numfabric_bandwidth_functions.png": draw_bandwidth_functions(pyplot, stories),
            "numfabric_pooling.png": draw_pooling(pyplot, subflows, rates),
            "numfabric_alpha.png": draw_alphas(pyplot, exponents, tolerances, methods, iterations),
        }
        folder = Path(os.environ.get("NETNUM_PLOTS", "plots"))
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in pictures.items():
            figure.savefig(folder / name, dpi=120)
            print(f"picture: {folder / name}")


if __name__ == "__main__":
    main()
