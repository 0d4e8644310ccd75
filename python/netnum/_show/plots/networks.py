"""Networks: their nodes and links, and values that colour the links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core import NumError, ProblemError, Report, Solution, Topology
from ..._messages import counted
from .. import frames, layout, style
from .bars import FULL, at_least_1
from .timelines import utilization

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from numpy.typing import NDArray

#: One colour per tier, from servers to core.
TIERS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
#: The most nodes of a drawing without tiers that keep their places, and the most that have their names.
CROWD, NAMED = 40, 300
#: The size of the font of numbers on nodes, and the width of a digit.
DIGITS, DIGIT = 6.5, 4.2


def topology(net: Topology, ax: Axes | None = None, values: Any = None, label: str | None = None) -> Axes:
    """Draws a network: every pair of joined nodes as a line, coloured by the values of its links."""
    style.pyplot()
    pairs, line = layout.joined(net)
    return _draw(net, ax, None if values is None else _values(net, values, label, line, len(pairs)))[0]


def animation(report: Report, net: Topology, ax: Axes | None, frames: int, seconds: float) -> FuncAnimation:
    """The network over time, its links coloured by their utilization."""
    style.pyplot()
    from matplotlib.animation import FuncAnimation

    edges, used = utilization(report, net, at_least_1("frames", frames))
    if not 0 < seconds < np.inf:
        raise NumError(f"seconds is {seconds}, expected a finite number > 0")
    pairs, line = layout.joined(net)
    of_pairs = np.full((len(pairs), frames), np.nan)
    np.fmax.at(of_pairs, line, used)
    tips = "max" if np.nanmax(of_pairs, initial=0.0) > 1 + 1e-9 else "neither"
    without = "failed or unlimited"
    start = np.where(np.isnan(of_pairs).any(axis=1), np.nan, 0.0)
    shown = _Values(start, 0.0, 1.0, tips, "utilization", "Use", without)
    ax, lines, widths = _draw(net, ax, shown)
    # The order of the lines was that of their values: those without one first.
    order = np.argsort(np.where(np.isnan(start), -np.inf, start), kind="stable")
    digits = max(0, int(np.ceil(-np.log10(report.time / frames))) + 1)
    about = ax.get_title().split("\n", 1)[1]

    def show(frame: int) -> list[Artist]:
        values = of_pairs[order, frame]
        lines.set_array(np.ma.masked_invalid(values))
        lines.set_linewidth(widths[order] * (0.8 + 1.7 * np.clip(np.nan_to_num(values), 0.0, 1.0)))
        ax.set_title(f"{edges[frame]:.{digits}f} s to {edges[frame + 1]:.{digits}f} s\n{about}")
        return [lines, ax.title]

    show(0)
    return FuncAnimation(ax.figure.figure, show, frames=frames, interval=1000 * seconds / frames)


def _draw(net: Topology, ax: Axes | None, shown: _Values | None) -> tuple[Axes, LineCollection, NDArray[np.float64]]:
    """The axes, and the lines with their widths at the smallest value."""
    places = layout.places(net)
    pairs, line = layout.joined(net)
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
    lines = _draw_links(ax, places[pairs], shown, failed, is_cut, widths)
    ax.set_axis_off()
    ax.margins(0.08)
    if is_tiered:
        _draw_tiers(ax, net, places, shown is not None)
        unnamed = 0
    else:
        size = np.clip(1500 / len(places), 12, 60)
        ax.scatter(
            places[:, 0],
            places[:, 1],
            s=size,
            color=TIERS[0] if shown is None else style.ink(ax),
            zorder=2,
            linewidths=0,
        )
        unnamed = len(places) - (_write_beside(ax, net, places, pairs) if len(places) <= NAMED else 0)
    about = f"{net!r}"[len("Topology(") : -1]
    if unnamed:
        about += f"; {unnamed} without room for their names"
    if shown is not None and len(pairs) < len(net.links):
        about += "; the larger direction shown"
    style.heading(ax, about if shown is None else f"{shown.title}\n{about}")
    return ax, lines, widths


@dataclass(frozen=True)
class _Values:
    """What colours the links."""

    of_pairs: NDArray[np.float64]
    """The largest value of each pair of joined nodes, nan for none; infinite ones are just beyond the scale."""
    lowest: float
    largest: float
    tips: str | None
    """The ends of the scale that values go beyond, as matplotlib calls them; None where one value has no scale."""
    label: str
    title: str
    without: str
    """What the links without a value are."""


def _values(net: Topology, values: Any, label: str | None, line: NDArray[np.intp], pairs: int) -> _Values:
    is_part = isinstance(values, (Solution, Report))
    if isinstance(values, Solution):
        loads = values.loads
        values = frames.ratio(loads, net.capacities) if loads.shape == net.capacities.shape else loads
    elif isinstance(values, Report):
        values = values.link_utilization
    of_links: NDArray[np.float64] = np.asarray(values, dtype=float)
    if of_links.shape != (len(net.links),):
        found, expected = of_links.shape, (len(net.links),)
        raise ProblemError(f"values has shape {found}, expected {expected}: one per link")
    of_pairs = np.full(pairs, np.nan)
    np.fmax.at(of_pairs, line, of_links)
    finite = of_pairs[np.isfinite(of_pairs)]
    lowest, largest = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    without = "unlimited" if is_part and np.isinf(net.capacities).any() else "no value"
    title = label = label or ("utilization" if is_part else "values of the links")
    if is_part:
        lowest, largest = 0.0, 1.0
        title += f": {int((of_links > FULL).sum())} of {counted(len(of_links), 'link')} full"
    elif 0 < lowest < largest / 2:
        # Colours begin at 0, where that leaves enough of them to tell the values apart.
        lowest = 0.0
    elif lowest == largest and not np.isinf(of_pairs).any():
        title += f": {lowest:.4g} on every link"
        return _Values(of_pairs, lowest, lowest + max(1.0, abs(lowest)), None, label, title, without)
    span = largest - lowest or max(1.0, abs(lowest))
    above, below = bool((of_pairs > largest + 1e-3 * span).any()), bool((of_pairs < lowest - 1e-3 * span).any())
    tips = {(True, True): "both", (True, False): "max", (False, True): "min"}.get((above, below), "neither")
    of_pairs = np.clip(of_pairs, lowest - span, largest + span)
    return _Values(of_pairs, lowest, max(largest, lowest + span), tips, label, title, without)


def _draw_links(
    ax: Axes,
    segments: NDArray[np.float64],
    shown: _Values | None,
    failed: NDArray[np.intp],
    is_cut: NDArray[np.bool_],
    widths: NDArray[np.float64],
) -> LineCollection:
    """Lines between joined nodes: wider and redder the larger their values; crossed out where a link has failed."""
    from matplotlib.collections import LineCollection

    styles: list[Any] = [(0, (2, 2)) if cut else "solid" for cut in is_cut]
    if shown is None:
        lines = LineCollection(list(segments), colors=style.ink(ax), alpha=0.6, linewidths=widths, linestyles=styles)
    else:
        # The largest on top, and those without a value below all.
        order = np.argsort(np.where(np.isnan(shown.of_pairs), -np.inf, shown.of_pairs), kind="stable")
        values = shown.of_pairs[order]
        parts = np.clip(np.nan_to_num((values - shown.lowest) / (shown.largest - shown.lowest)), 0.0, 1.0)
        lines = LineCollection(
            list(segments[order]),
            array=np.ma.masked_invalid(values),
            cmap=style.colour_map(),
            linewidths=widths[order] * (0.8 + 1.7 * parts),
            linestyles=[styles[place] for place in order],
        )
        lines.set_clim(shown.lowest, shown.largest)
    lines.set_zorder(1)
    ax.add_collection(lines)
    if shown is not None and shown.tips is not None:
        style.colour_bar(ax, lines, shown.label, shown.tips)
    if shown is not None and (np.isnan(shown.of_pairs) & ~is_cut).any():
        ax.plot([], [], color=style.INK, label=shown.without)
    if failed.any():
        middles = segments[failed > 0].mean(axis=1)
        cross: dict[str, Any] = {"marker": "x", "markersize": 9, "markeredgewidth": 2.5, "linestyle": "none"}
        ax.plot(*middles.T, color=style.BLUE, zorder=3, label="failed", **cross)
    return lines


def _draw_tiers(ax: Axes, net: Topology, places: NDArray[np.float64], are_grey: bool) -> None:
    """The nodes tier by tier: the name of the tier at its left, and on every node its number where that has room."""
    width = ax.bbox.width * 72 / ax.figure.figure.dpi
    crowd = np.bincount(net.tiers).max()
    for tier in np.unique(net.tiers).tolist():
        nodes = np.flatnonzero(net.tiers == tier)
        # Of coloured links the nodes do not distract.
        colour = style.ink(ax) if are_grey else TIERS[min(tier, len(TIERS) - 1)]
        names = [net.node_names[node] for node in nodes]
        word, numbers = layout.numbered(names)
        room = width / len(nodes)
        needed = max(DIGIT * max(map(len, numbers), default=0) + 4, 11)
        if word is not None and needed <= room:
            ax.scatter(places[nodes, 0], places[nodes, 1], s=needed**2, color=colour, zorder=2, linewidths=0)
            for node, number in zip(nodes, numbers, strict=True):
                style.write_on(ax, places[node], number, colour, DIGITS)
        else:
            size = np.clip((300 / crowd) ** 2, 2, 60) if tier == 0 else np.clip((0.8 * room) ** 2, 4, 60)
            ax.scatter(places[nodes, 0], places[nodes, 1], s=size, color=colour, zorder=2, linewidths=0)
        if word is None:
            _write_names(ax, places[nodes], names, tier, int(net.tiers.max()), room)
            word = f"tier {tier}" if len(nodes) > 1 else ""
        span = "" if len(numbers) < 2 else f" {numbers[0]}–{numbers[-1]}"
        text = {"ha": "right", "va": "center", "fontsize": 9, "color": style.ink(ax)}
        left = (places[nodes[0], 0] if len(nodes) == 1 else 0.0, tier)
        ax.annotate(word + span, left, (-12, 0), textcoords="offset points", **text)


def _write_names(ax: Axes, places: NDArray[np.float64], names: list[str], tier: int, highest: int, room: float) -> None:
    """Writes names that have no numbers: upright below the lowest tier, above the others, where they have room."""
    text: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": style.ink(ax)}
    needed = 10 if tier == 0 else 4.6 * max(map(len, names)) + 4
    if needed > room:
        return
    for place, name in zip(places, names, strict=True):
        if tier == 0:
            ax.annotate(name, place, (0, -7), va="top", rotation=90, **text)
        elif tier == highest:
            ax.annotate(name, place, (0, 7), va="bottom", **text)
        else:
            ax.annotate(name, place, (7, 0), va="center", **text | {"ha": "left"})


def _write_beside(ax: Axes, net: Topology, places: NDArray[np.float64], pairs: NDArray[np.intp]) -> int:
    """Writes the names that have room, and returns their number. The axes grow, so that no name is beyond them."""
    ax.autoscale_view()
    # What a colour bar takes away is known only when all is drawn.
    ax.figure.figure.draw_without_rendering()
    to_points = 72 / ax.figure.figure.dpi
    size, room = (8.0, 8.0) if len(places) <= CROWD else (6.5, 5.0)
    written: dict[int, NDArray[np.float64]] = {}
    for _ in range(3):
        points = ax.transData.transform(places) * to_points
        written = layout.names_beside(points, pairs, net.node_names, size, room)
        halves = {node: layout.half_width(net.node_names[node], size) for node in written}
        left = min((middle[0] - halves[node] for node, middle in written.items()), default=np.inf)
        right = max((middle[0] + halves[node] for node, middle in written.items()), default=-np.inf)
        beyond = np.maximum([ax.bbox.x0 * to_points - left, right - ax.bbox.x1 * to_points], 0.0)
        if not beyond.any():
            break
        low, high = ax.get_xlim()
        more = beyond * (high - low) / (ax.bbox.width * to_points)
        ax.set_xlim(low - 1.2 * more[0], high + 1.2 * more[1])
    for node, middle in written.items():
        offset = middle - points[node]
        text = {"ha": "center", "va": "center", "fontsize": size, "color": style.ink(ax)}
        ax.annotate(net.node_names[node], places[node], offset, textcoords="offset points", zorder=3, **text)
    return len(written)
