"""Plots: `Solution.plot_convergence`, `Topology.plot`, `Report.plot_fct`, and those of studies.

matplotlib is imported when a plot is drawn.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import NumError, ProblemError, Report, Solution, Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from .failures import FailureStudy
    from .upgrades import UpgradeStudy

INSTALL = 'pip install "netnum[plot]"'

#: One colour per tier, from servers to core.
TIERS = ("#4c72b0", "#dd8452", "#55a868", "#8172b3")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"plots need matplotlib: {INSTALL}") from error
    return pyplot


def convergence(solution: Solution, ax: Axes | None = None) -> Axes:
    """Draws the gap over the iterations, on a logarithmic axis."""
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    trace = solution.trace
    assert trace is not None  # Solution.plot_convergence has checked
    # A gap of 0, or of -1e-16 by rounding, has no logarithm and is left out.
    gap = np.where(trace.gap > 0, trace.gap, np.nan)
    ax.semilogy(trace.iteration, gap, label=solution.method)
    ax.set_xlabel("iteration")
    ax.set_ylabel("relative gap")
    ax.grid(True, which="major", alpha=0.3)
    return ax


#: The least number of flows in a group of about the same size, in `slowdowns`.
GROUP_SIZE = 50
#: The largest number of groups.
GROUPS = 30


def slowdowns(report: Report, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draws the mean slowdown over the flow sizes, and the 99 % quantile in dots."""
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    ended = ~np.isnan(report.slowdowns)
    sizes, values = report.workload.sizes[ended], report.slowdowns[ended]
    order = np.argsort(sizes, kind="stable")
    groups = [group for group in np.array_split(order, max(1, min(GROUPS, len(order) // GROUP_SIZE))) if len(group)]
    middle = [np.median(sizes[group]) for group in groups]
    name = f"{report.policy} over {report.routing}" if label is None else label
    (line,) = ax.plot(middle, [values[group].mean() for group in groups], label=f"{name}, mean")
    tail = [np.quantile(values[group], 0.99) for group in groups]
    ax.plot(middle, tail, ":", color=line.get_color(), label=f"{name}, 99 %")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("flow size in bytes")
    ax.set_ylabel("slowdown")
    ax.grid(True, which="major", alpha=0.3)
    ax.legend()
    return ax


#: The label of the axis, by quantity of a failure study.
OF_FAILURES = {
    "throughput": "change of throughput",
    "utility": "change of utility of the flows still served",
    "worst_ratio": "worst ratio of rate to demand",
}


def failures(study: FailureStudy, ax: Axes | None, of: str, most: int) -> Axes:
    """Draws the worst scenarios as bars."""
    if of not in OF_FAILURES:
        raise NumError(f"of is {of!r}, expected {', '.join(map(repr, OF_FAILURES))}")
    before = study.before_failures.flow_rates.sum()
    if of == "throughput":
        values = 100 * study.throughput_change / max(before, 1e-300)
    else:
        values = study.after - study.before if of == "utility" else study.worst_ratio
    if of == "worst_ratio" and np.isnan(study.worst_ratio).all():
        raise NumError("no flow has a demand to compare with: give the problem a flow_cap")
    order = np.argsort(values, kind="stable")[: _at_least_1("most", most)]
    cut_off = np.array([len(flows) for flows in study.cut_off])
    ax = _bars(ax, [study.names[scenario] for scenario in order])
    colours = np.where(cut_off[order] > 0, TIERS[1], TIERS[0])
    rows = np.arange(len(order))
    ax.barh(rows, values[order], color=colours)
    for row, scenario in enumerate(order):
        if cut_off[scenario]:
            flows = "flow" if cut_off[scenario] == 1 else "flows"
            text = f" {cut_off[scenario]} {flows} cut off "
            # On the other side of the axis than the bar.
            side = "left" if values[scenario] <= 0 else "right"
            inside = values[scenario] if of == "worst_ratio" else 0.0
            ax.annotate(text, (inside, row), ha=side if inside == 0 else "left", va="center", fontsize=8)
    ax.set_xlabel(OF_FAILURES[of] + (" in %" if of == "throughput" else ""))
    return ax


def upgrades(study: UpgradeStudy, ax: Axes | None, most: int) -> Axes:
    """Draws the best upgrades as bars, the gain in front of the prediction."""
    order = study.ranking[: _at_least_1("most", most)]
    ax = _bars(ax, [study.names[upgrade] for upgrade in order])
    rows = np.arange(len(order))
    predicted = np.where(np.isfinite(study.predicted), study.predicted, 0.0)[order]
    if predicted.any():
        ax.barh(rows, predicted, color="0.85", label="price × added capacity, an upper bound")
    ax.barh(rows, np.nan_to_num(study.gained[order]), height=0.5, color=TIERS[0], label="gained, solved again")
    max_min = study.before_upgrades.method == "max-min"
    ax.set_xlabel("gain of the smallest fair share" if max_min else "gain of utility")
    ax.legend(loc="lower right")
    return ax


def _bars(ax: Axes | None, names: list[str]) -> Axes:
    """Axes for a bar per name, the first at the top; tall enough for them where they are new."""
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(figsize=(8, 1 + 0.28 * max(len(names), 4)), layout="constrained")
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.grid(True, axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    return ax


def _at_least_1(name: str, count: int) -> int:
    if operator.index(count) < 1:
        raise NumError(f"{name} is {count}, expected at least 1")
    return count


def topology(net: Topology, ax: Axes | None = None, values: ArrayLike | None = None, label: str | None = None) -> Axes:
    """Draws a network: every pair of joined nodes as a line, coloured by `values` of its links."""
    pyplot = _pyplot()
    from matplotlib.collections import LineCollection

    places = _places(net)
    joined, colours = _lines(net, values)
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")

    style: dict[str, Any] = {"linewidths": 1.2, "zorder": 1}
    if colours is None:
        ax.add_collection(LineCollection(list(places[joined]), colors="0.75", **style))
    else:
        order = np.argsort(colours)  # the largest on top
        lines = LineCollection(list(places[joined[order]]), array=colours[order], cmap="viridis_r", **style)
        lines.set_clim(0, max(float(np.max(colours, initial=0.0)), 1e-300))
        ax.add_collection(lines)
        ax.figure.colorbar(lines, ax=ax, label=label or "", shrink=0.8)
    largest = np.bincount(net.tiers).max()
    for tier in np.unique(net.tiers):
        of_tier = net.tiers == tier
        size = np.clip(6000 / largest, 6, 80)
        colour = TIERS[min(int(tier), len(TIERS) - 1)]
        ax.scatter(
            places[of_tier, 0],
            places[of_tier, 1],
            s=size if tier == 0 else max(size, 40),
            color=colour,
            zorder=2,
            linewidths=0,
        )
    for node, name in _names(net).items():
        _write(ax, places[node], name, below=net.tiers[node] == 0 and net.tiers.max() > 0)
    ax.set_title(f"{net!r}"[len("Topology(") : -1])
    ax.set_axis_off()
    ax.margins(0.08)
    return ax


def _lines(net: Topology, values: ArrayLike | None) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """The pairs of joined nodes, each once, and the largest value of their links."""
    pairs, line = np.unique(np.sort(net.links, axis=1), axis=0, return_inverse=True)
    if values is None:
        return pairs, None
    of_links = np.asarray(values, dtype=float)
    if of_links.shape != (len(net.links),):
        found, expected = of_links.shape, (len(net.links),)
        raise ProblemError(f"values has shape {found}, expected {expected}: one per link")
    largest = np.full(len(pairs), -np.inf)
    np.maximum.at(largest, line.reshape(-1), of_links)
    return pairs, largest


def _places(net: Topology) -> NDArray[np.float64]:
    """Where to draw every node."""
    if net.positions is not None:
        return net.positions
    tiers = net.tiers
    if tiers.max() == 0:
        return _layout(net)
    places = np.empty((len(tiers), 2))
    for tier in np.unique(tiers):
        of_tier = np.flatnonzero(tiers == tier)
        places[of_tier, 0] = (np.arange(len(of_tier)) + 0.5) / len(of_tier)
        places[of_tier, 1] = tier
    return places


def _layout(net: Topology) -> NDArray[np.float64]:
    """A chain as a line, any other graph as networkx lays it out."""
    nodes = len(net.node_names)
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    if np.array_equal(net.links, chain):
        return np.column_stack([np.arange(nodes), np.zeros(nodes)])
    try:
        import networkx
    except ImportError as error:
        raise ImportError(f"drawing a network without tiers or positions needs networkx: {INSTALL}") from error
    graph = networkx.Graph(map(tuple, net.links.tolist()))
    graph.add_nodes_from(range(nodes))
    layout = networkx.kamada_kawai_layout(graph) if nodes <= 300 else networkx.spring_layout(graph, seed=1)
    return np.array([layout[node] for node in range(nodes)])


def _names(net: Topology) -> dict[int, str]:
    """The label of every node: its name or, in a tier with too many nodes, its last word or none."""
    names: dict[int, str] = {}
    tiered = net.tiers.max() > 0
    for tier in np.unique(net.tiers):
        nodes = np.flatnonzero(net.tiers == tier)
        full = {int(node): net.node_names[node] for node in nodes}
        last = {node: (name.split() or [name])[-1] for node, name in full.items()}
        for texts in (full, last):
            # Names of servers are vertical, those of switches share one line, those of a graph have the whole page.
            each = 2 if tiered and tier == 0 else max(map(len, texts.values())) + 1 if tiered else 2
            if each * len(nodes) <= 100:
                names |= texts
                break
    return names


def _write(ax: Axes, place: NDArray[np.float64], name: str, below: bool) -> None:
    """Writes a name above its node, or below and upright."""
    style: dict[str, Any] = {"ha": "center", "textcoords": "offset points", "fontsize": 8}
    if below:
        ax.annotate(name, place, (0, -7), va="top", rotation=90, **style)
    else:
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        ax.annotate(name, place, (0, 7), va="bottom", bbox=box, zorder=3, **style)
