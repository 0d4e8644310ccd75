"""Plots: those of `Solution`, `Topology`, `Report` and studies, and of completion times over several reports.

matplotlib is imported when a plot is drawn.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import NumError, Problem, ProblemError, Report, Sensitivity, Solution, Topology
from .._intervals import mean_and_half_width
from .._messages import counted
from . import frames, layout, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .._studies.failures import FailureStudy
    from .._studies.upgrades import UpgradeStudy

#: One colour per tier, from servers to core.
TIERS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)


def convergence(solution: Solution, ax: Axes | None = None) -> Axes:
    """Draws the gap over the iterations, on a logarithmic axis."""
    ax = style.axes(ax)
    trace = solution.trace
    assert trace is not None  # Solution.plot_convergence has checked
    # A gap of 0, or of -1e-16 by rounding, has no logarithm and is left out.
    gap = np.where(trace.gap > 0, trace.gap, np.nan)
    ax.semilogy(trace.iteration, gap, label=solution.method)
    ax.set_xlabel("iteration")
    ax.set_ylabel("relative gap")
    style.grid(ax)
    if len(ax.get_lines()) > 1:
        style.legend(ax)
    return ax


def solution(solution: Solution, problem: Problem, axes: Sequence[Axes] | None, most: int) -> NDArray[Any]:
    """Draws what the links are paid, and the rates of the flows."""
    frames.expect_solution_of(problem, solution)
    _at_least_1("most", most)
    if axes is None:
        bars = min(max(problem.links, min(problem.flows, most)), most)
        figure, made = style.pyplot().subplots(1, 2, figsize=(9, 1.6 + 0.24 * max(bars, 6)), layout="constrained")
        figure.patch.set_facecolor("none")
        axes = [style.dressed(ax) for ax in made]
    if len(axes) != 2:
        raise NumError(f"axes are {len(axes)}, expected 2: for links and for rates")
    _payments(solution, problem, axes[0], most)
    _rates(solution, problem, axes[1], most)
    return np.array(axes, dtype=object)


#: The utilization above which a link is full, as in `Solution.bottlenecks`.
FULL = 0.99


def _payments(solution: Solution, problem: Problem, ax: Axes, most: int) -> None:
    """A bar per link: its part of what all flows pay, or its utilization where no full link has a price."""
    net = problem.network if isinstance(problem.network, Topology) else None
    names = net.link_names if net is not None else [f"link {link}" for link in range(problem.links)]
    utilization = frames.ratio(solution.loads, problem.capacities)
    is_full = utilization > FULL
    # The price of another link is rounding.
    paid = np.where(is_full, solution.prices * solution.loads, 0.0)
    total = paid.sum()
    values = 100 * (paid / total if total > 0 else np.nan_to_num(utilization))
    order = np.argsort(-values, kind="stable")[:most]
    if total > 0:
        order = order[values[order] > 0.01]
    _rows(ax, [names[link] for link in order])
    rows = np.arange(len(order))
    ax.barh(rows, values[order], color=style.ORANGE if total > 0 else style.SKY)
    for row, link in enumerate(order):
        text = f" {solution.prices[link]:.3g} × {solution.loads[link]:.3g}" if total > 0 else f" {values[link]:.0f} %"
        ax.annotate(text, (values[link], row), va="center", fontsize=8, color=style.ink(ax))
    ax.set_xlim(0, 1.35 * max(values.max(initial=0.0), 1e-300))
    ax.set_xlabel("price × load, in % of all links" if total > 0 else "utilization in %")
    ax.set_title(f"{is_full.sum()} of {problem.links} links are full", color=style.ink(ax), fontsize=10)


def _rates(solution: Solution, problem: Problem, ax: Axes, most: int) -> None:
    """A bar per flow or, for many, the rates in their order."""
    rates, demands = solution.flow_rates, problem.flow_cap
    served = problem.flows - len(solution.failed_flows)
    ax.set_title(f"{served} of {problem.flows} flows are served", color=style.ink(ax), fontsize=10)
    if problem.flows <= most:
        _rows(ax, frames.flow_names(problem))
        ax.barh(np.arange(len(rates)), rates, color=style.BLUE)
        if demands is not None:
            known = np.flatnonzero(np.isfinite(demands))
            ax.plot(demands[known], known, "|", color=style.VERMILLION, markersize=10, label="demand")
            style.legend(ax, loc="lower right")
        ax.set_xlim(left=0)
        ax.set_xlabel("rate")
        return
    order = np.argsort(rates, kind="stable")
    places = np.arange(1, len(rates) + 1)
    if demands is not None:
        shown = np.where(np.isfinite(demands), demands, np.nan)[order]
        ax.plot(places, shown, ".", color=style.VERMILLION, markersize=2, alpha=0.6, label="demand", rasterized=True)
    ax.plot(places, rates[order], color=style.BLUE, label="rate")
    positive = rates[rates > 0]
    if len(positive) and positive.max() > 100 * positive.min():
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("flows, in the order of their rates")
    ax.set_ylabel("rate")
    style.grid(ax)
    if demands is not None:
        style.legend(ax)


#: The least number of flows in a group of about the same size, in `plot_fct`.
GROUP_SIZE = 50
#: The largest number of groups.
GROUPS = 30


def plot_fct(
    reports: Report | Sequence[Report], ax: Axes | None = None, *, label: str | None = None, confidence: float = 0.95
) -> Axes:
    r"""Draw slowdowns over flow sizes, averaged over simulations of several seeds, with bands of confidence.

    The mean and the 99 % quantile of flows of about the same size are taken in every report. The lines are their means
    over the reports, and the bands the intervals of Student's t for these means: what another set of seeds would give.

    Parameters
    ----------
    reports : Report or sequence of Report
        Of the same policy, with workloads of different seeds. Of one report there is no band.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure. Several policies on the same axes make a comparison.
    label : str, optional
        The label of these reports; by default the policy over the routing of the first.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NumError
        For no report, and for a confidence outside its range.
    ImportError
        Without matplotlib: ``pip install "netnum[plot]"``.

    Examples
    --------
    >>> net = netnum.topology.star(8, capacity=10e9)
    >>> sizes = netnum.sim.Sizes.exponential(1e5)
    >>> workloads = [netnum.sim.Workload.poisson(net, sizes, 0.6, flows=300, seed=seed) for seed in range(3)]
    >>> ax = None
    >>> for policy in ("max-min", "srpt"):
    ...     ax = netnum.sim.plot_fct([netnum.sim.simulate(net, each, policy) for each in workloads], ax)
    """
    reports = [reports] if isinstance(reports, Report) else list(reports)
    if not reports:
        raise NumError("there are no reports to draw")
    if not 0.0 < confidence < 1.0:
        raise NumError(f"confidence is {confidence}, expected a number between 0 and 1")
    ax = style.axes(ax)
    ended = [~np.isnan(report.slowdowns) for report in reports]
    sizes = [report.workload.sizes[which] for report, which in zip(reports, ended, strict=True)]
    values = [report.slowdowns[which] for report, which in zip(reports, ended, strict=True)]
    # The groups are the same for all reports, so that their means can be averaged.
    pooled = np.sort(np.concatenate(sizes))
    fewest = min(map(len, sizes))
    count = max(1, min(GROUPS, fewest // GROUP_SIZE))
    edges = np.unique([group[-1] for group in np.array_split(pooled, count) if len(group)])
    groups = np.split(pooled, np.searchsorted(pooled, edges, side="right"))[: len(edges)]
    middle = [np.median(group) for group in groups]
    name = f"{reports[0].policy} over {reports[0].routing}" if label is None else label
    colour = None
    for line, what, of in (("-", "mean", np.mean), (":", "99 %", lambda each: np.quantile(each, 0.99))):
        table = np.full((len(reports), len(edges)), np.nan)
        for row, (own, slowdown) in enumerate(zip(sizes, values, strict=True)):
            place = np.searchsorted(edges, own, side="left")
            for group in np.unique(place):
                table[row, group] = of(slowdown[place == group])
        mean, half = means(table, confidence)
        (drawn,) = ax.plot(middle, mean, line, color=colour, label=f"{name}, {what}")
        colour = drawn.get_color()
        if len(reports) > 1:
            ax.fill_between(middle, np.maximum(mean - half, 1e-300), mean + half, color=colour, alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    style.plain_ticks(ax.yaxis)
    ax.set_xlabel("flow size in bytes")
    ax.set_ylabel("slowdown")
    style.grid(ax)
    style.legend(ax)
    return ax


def means(table: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Over the rows, nan left out: the mean of every column, and half the width of its interval."""
    columns = (column[~np.isnan(column)].tolist() for column in table.T)
    return np.array([mean_and_half_width(column, confidence) for column in columns]).reshape(-1, 2).T


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
    colours = np.where(cut_off[order] > 0, style.ORANGE, style.BLUE)
    rows = np.arange(len(order))
    ax.barh(rows, values[order], color=colours)
    for row, scenario in enumerate(order):
        if cut_off[scenario]:
            flows = "flow" if cut_off[scenario] == 1 else "flows"
            text = f" {cut_off[scenario]} {flows} cut off "
            # On the other side of the axis than the bar.
            side = "left" if values[scenario] <= 0 else "right"
            inside = values[scenario] if of == "worst_ratio" else 0.0
            ax.annotate(
                text, (inside, row), ha=side if inside == 0 else "left", va="center", fontsize=8, color=style.ink(ax)
            )
    ax.set_xlabel(OF_FAILURES[of] + (" in %" if of == "throughput" else ""))
    return ax


def upgrades(study: UpgradeStudy, ax: Axes | None, most: int) -> Axes:
    """Draws the best upgrades as bars, the gain in front of the prediction."""
    order = study.ranking[: _at_least_1("most", most)]
    ax = _bars(ax, [study.names[upgrade] for upgrade in order])
    rows = np.arange(len(order))
    predicted = np.where(np.isfinite(study.predicted), study.predicted, 0.0)[order]
    if predicted.any():
        ax.barh(rows, predicted, color=style.ink(ax), alpha=0.3, label="price × added capacity, an upper bound")
    ax.barh(rows, np.nan_to_num(study.gained[order]), height=0.5, color=style.BLUE, label="gained, solved again")
    max_min = study.before_upgrades.method == "max-min"
    ax.set_xlabel("gain of the smallest fair share" if max_min else "gain of utility")
    style.legend(ax, loc="lower right")
    return ax


def gains(sensitivity: Sensitivity, link: Any, ax: Axes | None, added: float, most: int) -> Axes:
    """Draws the flows that gain and lose most when a link gets more capacity, the largest gain at the top."""
    name, change = frames.change_of_rates(sensitivity, link, added)
    # Beside the largest change, others are rounding.
    least = 1e-9 * np.max(np.abs(change), initial=0.0)
    order = np.argsort(-change, kind="stable")
    up, down = order[change[order] > least], order[change[order] < -least]
    # Half of the bars for each, and what one of them leaves for the other.
    half = _at_least_1("most", most) // 2
    gainers = up[: most - min(half, len(down))]
    order = np.concatenate([gainers, down[max(len(down) - (most - len(gainers)), 0) :]])
    names = frames.flow_names(sensitivity.problem)
    ax = _bars(ax, [names[flow] for flow in order])
    colours = np.where(change[order] > 0, style.BLUE, style.ORANGE)
    ax.barh(np.arange(len(order)), change[order], color=colours)
    ax.set_xlabel(f"change of rate for {added:+g} of capacity, to first order")
    ax.set_title(f"{name}: {counted(len(up), 'flow')} up, {len(down)} down", color=style.ink(ax), fontsize=10)
    return ax


def _bars(ax: Axes | None, names: list[str]) -> Axes:
    """Axes for a bar per name, tall enough for them where they are new."""
    ax = style.axes(ax, (8, 1 + 0.28 * max(len(names), 4)))
    _rows(ax, names)
    return ax


def _rows(ax: Axes, names: list[str]) -> None:
    """A row for every name, the first at the top."""
    ax.set_yticks(np.arange(len(names)), names)
    # Few bars are not wider than many.
    ax.set_ylim(max(len(names), 4) - 0.4, -0.6)
    ax.axvline(0, color=style.ink(ax), linewidth=0.8)
    style.grid(ax, "x")


def _at_least_1(name: str, count: int) -> int:
    if operator.index(count) < 1:
        raise NumError(f"{name} is {count}, expected at least 1")
    return count


def topology(net: Topology, ax: Axes | None = None, values: Any = None, label: str | None = None) -> Axes:
    """Draws a network: every pair of joined nodes as a line, coloured by the values of its links."""
    style.pyplot()
    places = layout.places(net)
    pairs, line = layout.joined(net)
    of_pairs, largest, label = _values(net, values, label, line, len(pairs))
    is_tiered = bool(net.tiers.max() > 0) and net.positions is None
    if len(places) > CROWD and not is_tiered:
        places = layout.drawn_apart(places)
    ax = style.axes(ax, (8, 4.2) if is_tiered else (7.5, 5))
    failed = np.bincount(line[net.capacities == 0], minlength=len(pairs))
    # The links of a tier share its width; they come together at the next tier.
    below = net.tiers[pairs].min(axis=1) if is_tiered else np.zeros(len(pairs), dtype=np.intp)
    crowds = np.maximum(np.bincount(below, minlength=1), 1)[below]
    widths = np.clip(60 / crowds, 0.4, 1.4) if is_tiered else np.clip(18 / np.sqrt(crowds), 0.7, 1.6)
    is_cut = failed == np.bincount(line, minlength=len(pairs))
    _draw_links(ax, places[pairs], of_pairs, largest, label, failed, is_cut, widths)
    crowd = np.bincount(net.tiers).max()
    for tier in np.unique(net.tiers):
        of_tier = net.tiers == tier
        size = np.clip((300 / crowd) ** 2, 2, 60) if is_tiered else np.clip(1500 / crowd, 12, 60)
        # Of coloured links the nodes do not distract.
        colour = style.ink(ax) if of_pairs is not None else TIERS[min(int(tier), len(TIERS) - 1)]
        size = size if tier == 0 or not is_tiered else max(size, 40)
        ax.scatter(*places[of_tier].T, s=size, color=colour, zorder=2, linewidths=0)
    ax.set_title(f"{net!r}"[len("Topology(") : -1])
    ax.set_axis_off()
    ax.margins(0.08)
    if is_tiered:
        for node, name in layout.names_by_tier(net).items():
            _write(ax, places[node], name, int(net.tiers[node]), int(net.tiers.max()))
    elif len(places) <= NAMED:
        _write_beside(ax, net, places, pairs)
    return ax


#: The most nodes of a drawing without tiers that keep their places, and the most that have their names.
CROWD, NAMED = 40, 300


def _values(
    net: Topology, values: Any, label: str | None, line: NDArray[np.intp], pairs: int
) -> tuple[NDArray[np.float64] | None, float | None, str]:
    """The largest value of every pair of joined nodes, what the largest colour stands for, and their name."""
    if values is None:
        return None, None, label or ""
    largest = None
    if isinstance(values, (Solution, Report)):
        label, largest = label or "utilization", 1.0
        if isinstance(values, Solution):
            if values.loads.shape == net.capacities.shape:
                values = frames.ratio(values.loads, net.capacities)
            else:
                values = values.loads
        else:
            values = values.link_utilization
    of_links: NDArray[np.float64] = np.asarray(values, dtype=float)
    if of_links.shape != (len(net.links),):
        found, expected = of_links.shape, (len(net.links),)
        raise ProblemError(f"values has shape {found}, expected {expected}: one per link")
    of_pairs = np.full(pairs, -np.inf)
    np.fmax.at(of_pairs, line, of_links)
    of_pairs[of_pairs == -np.inf] = np.nan
    return of_pairs, largest, label or ""


def _draw_links(
    ax: Axes,
    segments: NDArray[np.float64],
    values: NDArray[np.float64] | None,
    largest: float | None,
    label: str,
    failed: NDArray[np.intp],
    is_cut: NDArray[np.bool_],
    widths: NDArray[np.float64],
) -> None:
    """Lines between joined nodes: wider and redder the larger their values; crossed out where a link has failed."""
    from matplotlib.collections import LineCollection

    styles: list[Any] = [(0, (2, 2)) if cut else "solid" for cut in is_cut]
    if values is None:
        lines = LineCollection(list(segments), colors=style.ink(ax), alpha=0.6, linewidths=widths, linestyles=styles)
    else:
        # The largest on top, and those without a value below all.
        order = np.argsort(np.where(np.isnan(values), -np.inf, values), kind="stable")
        shown = values[order]
        if largest is None:
            largest = max(float(np.nanmax(shown, initial=0.0)), 1e-300)
        lowest = min(float(np.nanmin(shown, initial=0.0)), 0.0)
        parts = np.clip(np.nan_to_num((shown - lowest) / (largest - lowest)), 0.0, 1.0)
        lines = LineCollection(
            list(segments[order]),
            array=np.ma.masked_invalid(shown),
            cmap=style.colour_map(),
            linewidths=widths[order] * (0.8 + 1.7 * parts),
            linestyles=[styles[place] for place in order],
        )
        lines.set_clim(lowest, largest)
    lines.set_zorder(1)
    ax.add_collection(lines)
    if values is not None:
        style.colour_bar(ax, lines, label)
    if failed.any():
        middles = segments[failed > 0].mean(axis=1)
        cross = {"marker": "x", "markersize": 9, "markeredgewidth": 2.5, "linestyle": "none"}
        ax.plot(*middles.T, color=style.BLUE, zorder=3, label="failed", **cross)
        style.legend(ax, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)


def _write(ax: Axes, place: NDArray[np.float64], name: str, tier: int, highest: int) -> None:
    """Writes a name: upright below the lowest tier, above the highest, and beside a node of another."""
    text: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "color": style.ink(ax)}
    if tier == 0:
        ax.annotate(name, place, (0, -7), ha="center", va="top", rotation=90, **text)
    elif tier == highest:
        ax.annotate(name, place, (0, 7), ha="center", va="bottom", **text)
    else:
        ax.annotate(name, place, (7, 0), ha="left", va="center", **text)


def _write_beside(ax: Axes, net: Topology, places: NDArray[np.float64], pairs: NDArray[np.intp]) -> None:
    """Writes the names that have room."""
    ax.autoscale_view()
    # What a colour bar takes away is known only when all is drawn.
    ax.figure.figure.draw_without_rendering()
    points = ax.transData.transform(places) * 72 / ax.figure.dpi
    size, room = (8.0, 8.0) if len(places) <= CROWD else (6.5, 5.0)
    for node, middle in layout.names_beside(points, pairs, net.node_names, size, room).items():
        offset = middle - points[node]
        text = {"ha": "center", "va": "center", "fontsize": size, "color": style.ink(ax)}
        ax.annotate(net.node_names[node], places[node], offset, textcoords="offset points", zorder=3, **text)
