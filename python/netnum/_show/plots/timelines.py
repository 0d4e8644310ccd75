"""Simulations over time: rates of flows as steps, the use of links as a map of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core import NumError, ProblemError, Report, Topology
from ..._messages import counted
from .. import style
from .bars import at_least_1, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


#: A link with a smaller utilization is idle.
IDLE = 1e-9


def rates_over_time(report: Report, flows: Any, ax: Axes | None, labels: Any, most: int) -> Axes:
    """Draws the rates of flows over time."""
    timeline, every = report.timeline, np.arange(len(report.starts))
    at_least_1("most", most)
    chosen = every if flows is None else _chosen("flow", flows, len(every))
    drawn = chosen[:most]
    names = [f"flow {flow}" for flow in drawn] if labels is None else [str(label) for label in labels]
    if len(names) != len(drawn):
        raise NumError(f"labels has {len(names)} entries, expected {len(drawn)}, one per flow that is drawn")
    ax = style.axes(ax, (8.5, 4))
    # Flows with the same rate all show: each is drawn on wider ones.
    missing = 0
    widths = np.linspace(min(1.5 + 1.2 * (len(drawn) - 1), 7.0), 1.5, len(drawn))
    for flow, name, width in zip(drawn.tolist(), names, widths.tolist(), strict=True):
        times, rates = timeline.rates(flow)
        if not len(times):
            missing += 1
            continue
        # From 0 at its start, and as it is until the run is over.
        until = [] if rates[-1] == 0 else [report.time]
        ax.step(
            np.concatenate([times[:1], times, until]),
            np.concatenate([[0.0], rates, rates[-1:] if until else []]),
            where="post",
            label=name,
            linewidth=width,
            solid_joinstyle="miter",
        )
    from matplotlib.ticker import EngFormatter

    ax.yaxis.set_major_formatter(EngFormatter())
    ax.set_ylim(bottom=0)
    ax.set_xlabel("time in s")
    ax.set_ylabel("rate in bit/s")
    style.grid(ax)
    which = "" if len(drawn) == len(every) else f" of {len(drawn)} of {counted(len(every), 'flow')}"
    title = f"Rates{which} under {report.policy} over {report.routing}"
    style.heading(ax, title + (f"\n{counted(missing, 'flow')} not started" if missing else ""))
    return ax


def links_over_time(report: Report, net: Topology, links: Any, ax: Axes | None, intervals: int, most: int) -> Axes:
    """Draws the utilization of links over time, a row for each."""
    edges, used = utilization(report, net, intervals)
    at_least_1("most", most)
    sums = np.nansum(used, axis=1)
    chosen = np.argsort(-sums, kind="stable") if links is None else _chosen("link", links, len(used))
    drawn = chosen[:most]
    ax = style.axes(ax, (8.5, 1.4 + 0.24 * max(len(drawn), 4)))
    largest = float(np.nanmax(used[drawn], initial=0.0))
    colours = ax.pcolormesh(
        edges,
        np.arange(len(drawn) + 1) - 0.5,
        # Where a link is idle, the ground shows.
        np.ma.masked_invalid(np.where(used[drawn] < IDLE, -1.0, used[drawn])),
        cmap=style.colour_map().with_extremes(bad=style.INK, under=(0.0, 0.0, 0.0, 0.0)),
        vmin=0.0,
        vmax=1.0,
        rasterized=True,
    )
    style.colour_bar(ax, colours, "utilization", "max" if largest > 1 + 1e-9 else "neither")
    ax.set_yticks(np.arange(len(drawn)), [short(net.link_names[link]) for link in drawn])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    ax.hlines(np.arange(1, len(drawn)) - 0.5, *edges[[0, -1]], color=style.ink(ax), alpha=0.5, linewidth=0.6)
    ax.set_xlabel("time in s")
    fullest = "fullest " if links is None else ""
    which = "" if len(drawn) == len(used) else f"the {len(drawn)} {fullest}of "
    title = f"Use of {which}{counted(len(used), 'link')} under {report.policy} over {report.routing}"
    style.heading(ax, title)
    return ax


def utilization(report: Report, net: Topology, intervals: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of equal parts of the time, and the mean utilization of every link in each."""
    timeline = report.timeline
    at_least_1("intervals", intervals)
    if not report.time > 0:
        raise NumError("the simulation took no time: there is nothing to draw")
    edges = np.linspace(0.0, report.time, intervals + 1)
    used = timeline.mean_utilization(edges)
    if len(used) != len(net.links):
        raise ProblemError(f"net has {counted(len(net.links), 'link')}, expected that of the report, with {len(used)}")
    return edges, used


def _chosen(what: str, numbers: Any, count: int) -> NDArray[np.intp]:
    """Flows or links by number."""
    chosen = np.atleast_1d(np.asarray(numbers))
    if chosen.dtype.kind not in "iu":
        raise NumError(f"{what}s must be integers, not {chosen.dtype}")
    for number in chosen.tolist():
        if not 0 <= number < count:
            raise NumError(f"{what}s has {number}, expected a {what} below {count}")
    return chosen.astype(np.intp)
