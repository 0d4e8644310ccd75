"""The look of all plots: legible on a light and on a dark ground, and to colour-blind readers.

The ground is transparent. Text and axes are of a grey with a contrast of 4:1 to white and to near-black. Colours are
those of Okabe and Ito, *Color Universal Design*, 2008, without black and yellow, which vanish on one of the grounds.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._messages import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"

#: Text and axes.
INK = "#777777"

#: The colours of lines, in their order. Those after the last are dashed.
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)


def pyplot() -> Any:
    """The module, or an error with the command that installs it."""
    return optional("matplotlib.pyplot", "plots need matplotlib", "plot")


def axes(ax: Axes | None = None, figsize: tuple[float, float] | None = None) -> Axes:
    """The axes that are given, as they are, or new ones of this look."""
    plots = pyplot()
    if ax is not None:
        return ax
    figure, new = plots.subplots(figsize=figsize, layout="constrained")
    figure.patch.set_facecolor("none")
    return dressed(new)


def dressed(ax: Axes) -> Axes:
    """Axes of this look."""
    ax.set_facecolor("none")
    ax.set_prop_cycle(color=COLOURS * 2, linestyle=["-"] * len(COLOURS) + ["--"] * len(COLOURS))
    ax.tick_params(which="both", colors=INK)
    for name, spine in ax.spines.items():
        spine.set_color(INK)
        spine.set_visible(name in ("left", "bottom"))
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(INK)
    ax.title.set_fontsize(10)
    return ax


def ink(ax: Axes) -> Any:
    """The colour of text on these axes."""
    return ax.xaxis.label.get_color()


def grid(ax: Axes, axis: Any = "both") -> None:
    """Lines behind the data."""
    ax.grid(True, which="major", axis=axis, color=ink(ax), alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def plain_ticks(axis: Any) -> None:
    """Numbers such as 2, 5 and 10 along a logarithmic axis over few decades, in place of powers."""
    from matplotlib.ticker import LogFormatter

    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter())


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a ground."""
    ax.legend(frameon=False, labelcolor=ink(ax), **options)


def colour_bar(ax: Axes, of: Any, label: str) -> None:
    """A bar for the colours of an artist."""
    bar = ax.figure.colorbar(of, ax=ax, shrink=0.7, aspect=25, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=ink(ax))
    bar.set_label(label, color=ink(ax))


@functools.cache
def colour_map() -> Colormap:
    """From small values, blue, to large ones, vermillion; grey for none."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("netnum", [SKY, PURPLE, VERMILLION]).with_extremes(bad=INK)
