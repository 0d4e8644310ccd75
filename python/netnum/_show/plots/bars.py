"""Rows of bars: what links are paid and flows get, failures and upgrades, who gains by more capacity."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core import NumError, Problem, Report, Sensitivity, Solution, Topology
from ..._messages import counted
from .. import frames, proofs, style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..._studies.failures import FailureStudy
    from ..._studies.upgrades import UpgradeStudy

#: The utilization above which a link is full, as in `Solution.bottlenecks`.
FULL = 0.99
#: Changes below this part of the whole are what solves leave open.
LEFT_OPEN = 1e-6


def solution(solution: Solution, problem: Problem, axes: Sequence[Axes] | None, most: int) -> NDArray[Any]:
    """Draws what the links are paid, and the rates of the flows."""
    frames.expect_solution_of(problem, solution)
    at_least_1("most", most)
    if axes is None:
        rows = min(max(problem.links, min(problem.flows, most)), most)
        figure, made = style.pyplot().subplots(1, 2, figsize=(10, 2 + 0.24 * max(rows, 6)), layout="constrained")
        figure.patch.set_facecolor("none")
        axes = [style.dressed(ax) for ax in made]
    if len(axes) != 2:
        raise NumError(f"axes are {len(axes)}, expected 2: for links and for rates")
    links, rates = (style.axes(ax) for ax in axes)
    _payments(solution, problem, links, most)
    _rates(solution, problem, rates, most)
    for ax in (links, rates):
        _make_room(ax)
    return np.array([links, rates], dtype=object)


#: The most flows that are drawn as lines in the bar of a coflow.
MOST_LINES = 2000


def coflows(report: Report, ax: Axes | None, most: int) -> Axes:
    """Draws when every coflow is in the network: a Gantt chart, with the flows of each as lines in its bar."""
    coflow = report.workload.coflow
    if coflow is None:
        raise NumError("the workload has no coflows to draw: workload.with_coflow(numbers) says which flows are one")
    at_least_1("most", most)
    times, ends = report.coflow_times, report.starts + report.completion_times
    count = len(times)
    drawn = min(count, most)
    ax = style.axes(ax, (8.5, 1.2 + 0.35 * drawn))
    for number in range(drawn):
        own = coflow == number
        starts, own_ends = report.starts[own], np.where(np.isnan(ends[own]), report.time, ends[own])
        begun = ~np.isnan(starts)
        if not begun.any():
            continue
        first, last = starts[begun].min(), own_ends[begun].max()
        is_done = not np.isnan(times[number])
        ax.barh(number, last - first, left=first, height=0.8, color=style.SKY, hatch=None if is_done else "//")
        if begun.sum() <= MOST_LINES:
            places = number - 0.36 + 0.72 * np.linspace(0, 1, 2 + begun.sum())[1:-1]
            ax.hlines(places, starts[begun], own_ends[begun], color=style.BLUE, linewidth=min(2.0, 24 / begun.sum()))
        _after(ax, last, number, f"{times[number]:.3g} s" if is_done else "not done")
    _rows(ax, [f"coflow {number}" for number in range(drawn)], fewest=1)
    ax.set_xlabel("time in s")
    title = f"{counted(count, 'coflow')} under {report.policy} over {report.routing}"
    style.heading(ax, title + (f"\nthe first {drawn}" if drawn < count else ""))
    _make_room(ax)
    return ax


def _unproven(solution: Solution) -> str:
    """A line of a title; none for a solution that is optimal."""
    if solution.infeasibility is not None:
        return f"\ninfeasible: {proofs.part(solution.infeasibility)}"
    return "" if solution.is_optimal else f"\nnot optimal: {solution.status}, gap {solution.gap:.2g}"


def _payments(solution: Solution, problem: Problem, ax: Axes, most: int) -> None:
    """A bar per link: its part of what all flows pay, or its utilization where no full link has a price."""
    net = problem.network if isinstance(problem.network, Topology) else None
    names = net.link_names if net is not None else [f"link {link}" for link in range(problem.links)]
    utilization = frames.ratio(solution.loads, problem.capacities)
    is_full = utilization > FULL
    # The price of another link is rounding, and in max-min fairness a price is no payment.
    paid = np.where(is_full & (solution.method != "max-min"), solution.prices * solution.loads, 0.0)
    total = paid.sum()
    values = 100 * (paid / total if total > 0 else np.nan_to_num(utilization))
    order = np.argsort(-values, kind="stable")
    if total > 0:
        order = order[values[order] > 100 * LEFT_OPEN]
    count, order = len(order), order[:most]
    _rows(ax, [names[link] for link in order])
    rows = np.arange(len(order))
    ax.barh(rows, values[order], color=style.ORANGE if total > 0 else style.SKY)
    for row, link in enumerate(order):
        _after(ax, values[link], row, f"price {solution.prices[link]:.3g}" if total > 0 else f"{values[link]:.0f} %")
    ax.set_xlim(0, max(values.max(initial=0.0), 1e-300))
    ax.set_xlabel("share of all payments (price × load) in %" if total > 0 else "utilization in %")
    title = f"{is_full.sum()} of {counted(problem.links, 'link')} full"
    if len(order) < count:
        title += f"\nthe {len(order)} " + (f"paid most of {count} with a price" if total > 0 else f"fullest of {count}")
    style.heading(ax, title + _unproven(solution))


def _rates(solution: Solution, problem: Problem, ax: Axes, most: int) -> None:
    """A bar per flow or, for many, the rates in their order."""
    rates, marks = solution.flow_rates, _marks(problem)
    # Where floors do not fit, rates carry a part of them.
    served = 0 if solution.status == "infeasible" else problem.flows - len(solution.failed_flows)
    title = f"Rates: {served} of {counted(problem.flows, 'flow')} served"
    if problem.flows <= most:
        rows = np.arange(len(rates))
        _rows(ax, frames.flow_names(problem))
        ax.barh(rows, rates, color=style.BLUE, label="rate")
        for flow in solution.failed_flows:
            _after(ax, 0.0, flow, "not served")
        for label, values, color, size in marks:
            known = np.isfinite(values)
            ax.plot(values[known], rows[known], "|", color=color, markersize=size, mew=2, label=label)
        ax.set_xlim(left=0)
        ax.set_xlabel(f"rate {UNIT}")
        style.heading(ax, title + _unproven(solution), with_legend=bool(marks))
        return
    order = np.argsort(rates, kind="stable")
    places = np.arange(1, len(rates) + 1)
    for label, values, color, length in marks:
        size = length / 12 * np.clip(600 / len(rates), 2, 6)
        ax.plot(places, values[order], ".", color=color, markersize=size, label=label, rasterized=True)
    ax.plot(places, rates[order], color=style.BLUE, label="rate")
    positive = rates[rates > 0]
    if len(positive) and positive.max() > 100 * positive.min():
        ax.set_yscale("log")
        if len(positive) < len(rates):
            title += f"; {counted(len(rates) - len(positive), 'flow')} of rate 0 not drawn"
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("flows, in the order of their rates")
    ax.set_ylabel(f"rate {UNIT}")
    style.grid(ax)
    style.heading(ax, title + _unproven(solution), with_legend=bool(marks))


def _marks(problem: Problem) -> list[tuple[str, NDArray[np.float64], str, int]]:
    """What marks floors and demands: a label, the values, nan for flows without one, a colour, and a size.

    A floor stands out behind a demand that is equal.
    """
    marks = []
    if (floors := problem.flow_floor) is not None:
        marks.append(("floor", np.where(floors > 0, floors, np.nan), style.PURPLE, 18))
    if (demands := problem.flow_cap) is not None:
        marks.append(("demand", np.where(np.isfinite(demands), demands, np.nan), style.VERMILLION, 12))
    return marks


#: netnum takes any unit of capacities.
UNIT = "(unit of the capacities)"

#: The label of the axis, by quantity of a failure study.
OF_FAILURES = {
    "throughput": "change of throughput in %",
    "utility": "change of utility of the flows not cut off",
    "worst_ratio": "worst ratio of rate to demand",
}


#: What is in the place of the utility, by objective of a failure study.
OF_OBJECTIVES = {
    "concurrent_flow": "change of the fraction of every demand that fits",
    "min_utilization": "change of the least utilization",
}


def failures(study: FailureStudy, ax: Axes | None, of: str | None, most: int) -> Axes:
    """Draws the worst scenarios as bars."""
    if of is None:
        of = "utility" if study.objective in OF_OBJECTIVES else "throughput"
    if of not in OF_FAILURES:
        raise NumError(f"of is {of!r}, expected {', '.join(map(repr, OF_FAILURES))}")
    whole = study.before_failures
    label = OF_FAILURES[of]
    if of == "throughput":
        values, scale = 100 * study.throughput_change / max(whole.flow_rates.sum(), 1e-300), 100.0
    elif of == "utility":
        values = study.after - study.before
        if isinstance(whole, Solution):
            scale = abs(whole.objective)
            if whole.method == "max-min":
                label = label.replace("utility", "the smallest fair share")
        else:
            scale, label = float(np.nanmax(study.before, initial=0.0)), OF_OBJECTIVES[study.objective]
    else:
        values, scale = study.worst_ratio, 1.0
        if len(values) and np.isnan(values).all():
            raise NumError("no flow has a demand to compare with: give the problem a flow_cap")
    is_worse_above = of == "utility" and study.objective == "min_utilization"
    order = np.argsort(-values if is_worse_above else values, kind="stable")[: at_least_1("most", most)]
    lists = {"cut off": study.cut_off, "starved": study.starved}
    losses = {what: np.array([len(flows) for flows in of], dtype=int) for what, of in lists.items()}
    lost = sum(losses.values(), np.zeros(len(study.names), dtype=int))
    is_unsolved = np.isnan(study.throughput)
    is_infeasible = np.isin(np.arange(len(study.names)), study.infeasible)
    is_open = np.array([not solution.is_optimal for solution in study.solutions], dtype=bool) & ~is_unsolved
    ax = _bars(ax, [study.names[scenario] for scenario in order], "no scenarios")
    bars = ax.barh(
        np.arange(len(order)),
        _finite(values[order]),
        color=np.where(lost[order] > 0, style.ORANGE, style.BLUE),
    )
    for row, (bar, scenario) in enumerate(zip(bars, order, strict=True)):
        if is_open[scenario]:
            _hatch(ax, bar)
        if is_unsolved[scenario]:
            _after(ax, 0.0, row, "floors do not fit" if is_infeasible[scenario] else "unsolved")
        elif np.isnan(values[scenario]):
            _after(ax, 0.0, row, "no flow to compare")
        elif lost[scenario]:
            of_each = [f"{counted(of[scenario], 'flow')} {what}" for what, of in losses.items() if of[scenario]]
            # Beside the axis where the bar goes the other way.
            _after(ax, max(values[scenario], 0.0), row, ", ".join(of_each))
    has_effect = _span(ax, values, scale) or np.isinf(values).any()
    effect = "" if has_effect or not len(order) else ", none has an effect"
    ax.set_xlabel(label)
    kinds = {style.BLUE: ~(lost > 0) & ~is_unsolved, style.ORANGE: lost > 0}
    words = [word for word, of in losses.items() if of[order].any()]
    names = {style.BLUE: "all flows served", style.ORANGE: f"flows {' or '.join(words)}"}
    keys = [_key(names[colour], color=colour) for colour, which in kinds.items() if which[order].any()]
    if is_open[order].any():
        keys.append(_key("not optimal", facecolor="none", edgecolor=style.ink(ax), hatch="////"))
    which = _shown(len(order), len(values), "scenario", "worst")
    counts = {"unsolved": (is_unsolved & ~is_infeasible).sum(), "infeasible": is_infeasible.sum()}
    unsolved = "".join(f", {count} {what}" for what, count in counts.items() if count)
    style.heading(ax, f"Failures: {which}{unsolved}{effect}", keys)
    _make_room(ax)
    return ax


def upgrades(study: UpgradeStudy, ax: Axes | None, most: int) -> Axes:
    """Draws the best upgrades as bars, the gain in front of the prediction."""
    order = study.ranking[: at_least_1("most", most)]
    ax = _bars(ax, [study.names[upgrade] for upgrade in order], "no upgrades")
    rows = np.arange(len(order))
    whole = study.before_upgrades
    predicted = np.where(np.isfinite(study.predicted), study.predicted, 0.0)
    gained = _finite(study.gained)
    if predicted.any():
        ax.barh(rows, predicted[order], color=style.ink(ax), alpha=0.3, label="at most: price × added capacity")
    ax.barh(rows, gained[order], height=0.5, color=style.BLUE, label="gained: solved again")
    least = LEFT_OPEN * np.max(predicted, initial=0.0)
    for row, upgrade in enumerate(order):
        if np.isfinite(study.gained[upgrade]):
            continue
        if np.isinf(study.gained[upgrade]):
            text = "starved flows served" if study.gained[upgrade] > 0 else "flows starved"
        elif study.solutions[upgrade] is not None:
            text = "cut short"
        else:
            text = "cannot gain" if study.predicted[upgrade] <= least else "not solved again"
        _after(ax, predicted[upgrade], row, text)
    has_effect = _span(ax, np.concatenate([predicted, gained]), abs(whole.objective)) or np.isposinf(study.gained).any()
    effect = "" if has_effect else ", none gains"
    ax.set_xlabel("gain of the smallest fair share" if whole.method == "max-min" else "gain of utility")
    checked = int((~np.isnan(study.gained)).sum())
    title = f"Gains of {_shown(len(order), len(study.names), 'upgrade', 'best')}, {checked} solved again"
    if len(order):
        title += effect if study.is_proven else "\nthe best is not proven: others may gain more"
    style.heading(ax, title, with_legend=bool(len(order)))
    _make_room(ax)
    return ax


def gains(sensitivity: Sensitivity, link: Any, ax: Axes | None, added: float, most: int) -> Axes:
    """Draws the flows that gain and lose most when a link gets more capacity, the largest gain at the top."""
    name, change = frames.change_of_rates(sensitivity, link, added)
    # Beside the largest change, others are rounding.
    least = 1e-9 * np.max(np.abs(change), initial=0.0)
    order = np.argsort(-change, kind="stable")
    up, down = order[change[order] > least], order[change[order] < -least]
    # Half of the bars for each, and what one of them leaves for the other.
    half = at_least_1("most", most) // 2
    gainers = up[: most - min(half, len(down))]
    order = np.concatenate([gainers, down[max(len(down) - (most - len(gainers)), 0) :]])
    names = frames.flow_names(sensitivity.problem)
    ax = _bars(ax, [names[flow] for flow in order], "no rate changes: the link does not limit any")
    ax.barh(np.arange(len(order)), change[order], color=np.where(change[order] > 0, style.BLUE, style.ORANGE))
    ax.set_xlabel(f"change of rate, to first order {UNIT}")
    title = f"{short(name)} {added:+g} of capacity: {counted(len(up), 'flow')} gain, {len(down)} lose"
    if len(order) < len(up) + len(down):
        title += f"\n{_shown(len(order), len(up) + len(down), 'flow', 'changed most')}"
    style.heading(ax, title, [_key("gains", color=style.BLUE), _key("loses", color=style.ORANGE)] if len(order) else [])
    return ax


def _bars(ax: Axes | None, names: list[str], without: str) -> Axes:
    """Axes for a bar per name, tall enough for them where they are new; with a sentence where there are none."""
    ax = style.axes(ax, (9, 1.3 + 0.28 * max(len(names), 4)))
    _rows(ax, names)
    if not names:
        style.note(ax, without)
    return ax


def _rows(ax: Axes, names: list[str], fewest: int = 4) -> None:
    """A row for every name, the first at the top; fewer than the `fewest` are as wide, and in the middle."""
    ax.set_yticks(np.arange(len(names)), [short(name) for name in names])
    beside = max(fewest - len(names), 0) / 2
    ax.set_ylim(len(names) - 0.4 + beside, -0.6 - beside)
    if names:
        ax.axvline(0, color=style.ink(ax), linewidth=0.8)
    style.grid(ax, "x")


#: The longest name of a row.
LONGEST = 28


def short(name: str) -> str:
    """A name without its middle, where it is too long."""
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[: half - 1]}…{name[len(name) - half :]}"


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lengths of bars: 0 for what is not finite."""
    return np.where(np.isfinite(values), values, 0.0)


def _shown(shown: int, count: int, noun: str, which: str) -> str:
    """``14 links``, or ``the 20 fullest of 28 links``."""
    of = counted(count, noun)
    return of if shown == count else f"the {shown} {which} of {of}"


def _after(ax: Axes, end: float, row: int, text: str) -> None:
    """Writes beside the end of a bar."""
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "va": "center", "fontsize": 8, "gid": "after"}
    ax.annotate(text, (end, row), (4, 0), color=style.ink(ax), **place).set_in_layout(False)


def _make_room(ax: Axes) -> None:
    """The axis is so long that what stands beside the bars is inside the axes."""
    from matplotlib.text import Annotation

    texts = [text for text in ax.texts if isinstance(text, Annotation) and text.get_gid() == "after"]
    if texts:
        # The width of the axes is known only when all is drawn.
        ax.figure.figure.draw_without_rendering()
        low, high = ax.get_xlim()
        ends = [(text.xy[0], text.get_window_extent().width + 0.1 * ax.figure.figure.dpi) for text in texts]
        # A text of this width is inside if the part of the axis on its right is as wide.
        highest = max(low + (end - low) / max(1 - width / ax.bbox.width, 0.1) for end, width in ends)
        ax.set_xlim(low, max(high, highest))


def _span(ax: Axes, values: NDArray[np.float64], scale: float) -> bool:
    """Whether values are more than what solves leave open; others are not stretched over the axis."""
    if np.max(np.abs(values), initial=0.0, where=np.isfinite(values)) > LEFT_OPEN * scale:
        return True
    reach = 100 * LEFT_OPEN * scale if scale > 0 and np.isfinite(scale) else 1.0
    ax.set_xlim(-reach, reach)
    return False


def _hatch(ax: Axes, bar: Any) -> None:
    bar.set(hatch="////", edgecolor=style.ink(ax), linewidth=0)


def _key(label: str, **look: Any) -> Artist:
    """An entry of a legend."""
    from matplotlib.patches import Patch

    return Patch(label=label, **look)


def at_least_1(name: str, count: int) -> int:
    if operator.index(count) < 1:
        raise NumError(f"{name} is {count}, expected at least 1")
    return count
