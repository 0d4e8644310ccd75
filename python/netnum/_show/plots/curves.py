"""Curves: convergence, slowdowns over sizes of several reports, and means of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core import NumError, Report, Solution
from ..._intervals import mean_and_half_width
from .. import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

#: The least gap of a drawing: one of 0, or of -1e-16 by rounding, has no logarithm.
LEAST_GAP = 1e-16


def convergence(solution: Solution, ax: Axes | None = None) -> Axes:
    """Draws the gap over the iterations, on a logarithmic axis."""
    ax = style.axes(ax, (7.5, 4))
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    trace = solution.trace
    assert trace is not None  # Solution.plot_convergence has checked
    gap = np.where(np.isfinite(trace.gap), np.maximum(trace.gap, LEAST_GAP), np.nan)
    ended = solution.method if solution.is_optimal else f"{solution.method} (not optimal)"
    marker = "o" if solution.is_optimal else "x"
    ax.plot(trace.iteration, gap, marker=marker, markevery=[-1], label=ended, gid="trace")
    known = [line.get_label() for line in ax.get_lines()]
    if trace.tol is not None and (label := f"tolerance {trace.tol:g}") not in known:
        ax.axhline(trace.tol, color=style.ink(ax), linestyle=":", linewidth=1, label=label)
    ax.set_yscale("log")
    runs = [np.asarray(line.get_xdata()) for line in ax.get_lines() if line.get_gid() == "trace"]
    longest = [int(run.max(initial=0)) for run in runs]
    if max(longest) > 10 * max(min(longest), 1):
        # So that short runs show beside long ones.
        ax.set_xscale("symlog", linthresh=10)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.set_xlim(left=0)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("iteration")
    ax.set_ylabel("relative gap, proven" + (f" (0 is drawn at {LEAST_GAP:g})" if (trace.gap <= 0).any() else ""))
    style.grid(ax)
    what = "the gap to the optimum after every iteration"
    if solution.rounds is not None:
        what = "the gap over the paths of each round, at last over all"
    style.heading(ax, f"Convergence: {what}")
    return ax


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
    Flows that have not ended are left out; the legend has their number.

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
        For no report, reports in which no flow has ended, and for a confidence outside its range.
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
    for report in reports:
        if not isinstance(report, Report):
            how = "one policy a call, ax = report.plot_fct(ax=ax, label=name)"
            raise TypeError(f"reports must be a Report or a list of such, not of {type(report).__name__}: {how}")
    if not 0.0 < confidence < 1.0:
        raise NumError(f"confidence is {confidence}, expected a number between 0 and 1")
    kinds = list(dict.fromkeys(f"{report.policy} over {report.routing}" for report in reports))
    if len(kinds) > 1 and label is None:
        what = f"the reports are of {', '.join(kinds)}, and a line is the mean over seeds of one"
        raise NumError(f"{what}: draw each on the same axes, ax = report.plot_fct(ax=ax), or give a label=")
    counted = [~(each.starts < each.warmup) for each in reports]
    ended = [counts & ~np.isnan(each.slowdowns) for counts, each in zip(counted, reports, strict=True)]
    sizes = [report.workload.sizes[which] for report, which in zip(reports, ended, strict=True)]
    values = [report.slowdowns[which] for report, which in zip(reports, ended, strict=True)]
    # The groups are the same for all reports, so that their means can be averaged.
    pooled = np.sort(np.concatenate(sizes))
    if not len(pooled):
        raise NumError("no flow of these reports has ended, so that there are no slowdowns to draw")
    ax = style.axes(ax, (8.5, 4.2))
    fewest = min(map(len, sizes))
    count = max(1, min(GROUPS, fewest // GROUP_SIZE))
    edges = np.unique([group[-1] for group in np.array_split(pooled, count) if len(group)])
    groups = np.split(pooled, np.searchsorted(pooled, edges, side="right"))[: len(edges)]
    middle = [np.median(group) for group in groups]
    # A slowdown is 1 at least, or what links that grow have made of it.
    least = min(1.0, min(float(each.min()) for each in values if len(each)))
    name = kinds[0] if label is None else label
    count_all, count_ended = (int(sum(map(np.sum, which))) for which in (counted, ended))
    of_all = f" ({count_all - count_ended} of {count_all} flows not ended)" if count_ended < count_all else ""
    colour = None
    for line, what, of in (("-", "mean", np.mean), (":", "99 %", lambda each: np.quantile(each, 0.99))):
        table = np.full((len(reports), len(edges)), np.nan)
        for row, (own, slowdown) in enumerate(zip(sizes, values, strict=True)):
            place = np.searchsorted(edges, own, side="left")
            for group in np.unique(place):
                table[row, group] = of(slowdown[place == group])
        mean, half = means(table, confidence)
        (drawn,) = ax.plot(middle, mean, line, marker=".", markersize=4, color=colour, label=f"{name}, {what}{of_all}")
        colour, of_all = drawn.get_color(), ""
        if len(reports) > 1:
            low = np.maximum(mean - half, least)
            ax.fill_between(middle, low, mean + half, color=colour, alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    style.plain_ticks(ax.yaxis)
    ax.set_xlabel("size of flows in bytes")
    ax.set_ylabel("slowdown (time ÷ time alone)")
    style.grid(ax)
    bands = f": means of {len(reports)} runs, {100 * confidence:g} % confidence" if len(reports) > 1 else ""
    style.heading(ax, f"Slowdown of flows by size{bands}")
    return ax


def means(table: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Over the rows, nan left out: the mean of every column, and half the width of its interval."""
    columns = (column[~np.isnan(column)].tolist() for column in table.T)
    return np.array([mean_and_half_width(column, confidence) for column in columns]).reshape(-1, 2).T


def sweep(
    lines: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]],
    values: Sequence[Any],
    x: str,
    of: str,
    title: str,
    ax: Axes | None,
) -> Axes:
    """Draws a line of means with their intervals for every label, over the values of a parameter."""
    ax = style.axes(ax, (8, 4.2))
    are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    places = np.array(values if are_numbers else range(len(values)), dtype=float)
    order = np.argsort(places, kind="stable")
    for number, (label, mean, half) in enumerate(lines):
        at, mean, half = places[order], mean[order], half[order]
        if are_numbers and len(values) > 1:
            (drawn,) = ax.plot(at, mean, marker="o", markersize=4, label=label or None)
            ax.fill_between(at, mean - half, mean + half, color=drawn.get_color(), alpha=0.2, linewidth=0)
        else:
            at = at + (number - (len(lines) - 1) / 2) * min(0.1, 0.6 / len(lines))
            (drawn,) = ax.plot(at, mean, "o", markersize=5, label=label or None)
            ax.vlines(at, mean - half, mean + half, color=drawn.get_color())
        missing = at[np.isnan(mean)]
        if len(missing):
            cross: dict[str, Any] = {"marker": "x", "linestyle": "none", "color": drawn.get_color(), "clip_on": False}
            text = f"{label}: no mean" if label else "no mean"
            ax.plot(missing, np.zeros(len(missing)), transform=ax.get_xaxis_transform(), label=text, **cross)
    if are_numbers and min(values) > 0 and max(values) >= 100 * min(values):
        ax.set_xscale("log")
    if not are_numbers:
        ax.set_xticks(places, [str(value) for value in values])
    drawn_means = np.concatenate([mean for _, mean, _ in lines])
    positive = drawn_means[drawn_means > 0]
    if len(positive) and not (drawn_means <= 0).any() and positive.max() > 100 * positive.min():
        ax.set_yscale("log")
    ax.set_xlabel(x)
    ax.set_ylabel(of)
    style.grid(ax)
    style.heading(ax, title)
    return ax
