"""The look of all plots: legible on a light and on a dark ground, and to colour-blind readers.

The ground is transparent. Text and axes are of a grey with a contrast of 4:1 to white and to near-black. Colours are
those of Okabe and Ito, *Color Universal Design*, 2008, without black and yellow, which vanish on one of the grounds.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._messages import optional

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
    """New axes of this look, or the given ones, which get it where nothing is drawn on them yet."""
    plots = pyplot()
    if ax is None:
        figure, ax = plots.subplots(figsize=figsize, layout="constrained")
        figure.patch.set_facecolor("none")
    elif isinstance(ax, str):
        raise TypeError(f"ax is the text {ax!r}, expected axes of matplotlib: plot().figure.savefig({ax!r}) saves it")
    elif not hasattr(ax, "has_data"):
        raise TypeError(f"ax must be axes of matplotlib, not {type(ax).__name__}: keywords name what is drawn")
    elif ax.has_data():
        return ax
    else:
        _fit(ax.figure.figure)
    return dressed(ax)


def _fit(figure: Any) -> None:
    """Names and legends beside the axes are in the picture, where the figure does not say how it is laid out."""
    are_subplots = all(getattr(ax, "get_subplotspec", lambda: None)() is not None for ax in figure.axes)
    if figure.get_layout_engine() is None and are_subplots:
        # The one engine that a later tight_layout() or subplots_adjust() agrees with.
        figure.set_layout_engine("tight")


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


def heading(ax: Axes, title: str, keys: Sequence[Artist] | None = None, *, with_legend: bool = True) -> None:
    """The title, and beside the axes, where it covers nothing, a legend: of these keys, or of all that has a label."""
    keys = (ax.get_legend_handles_labels()[0] if keys is None else keys) if with_legend else []
    # The axes become as wide as the names of rows and of the legend let them; a letter is about 5 points wide.
    beside = [[str(key.get_label()) for key in keys], [text.get_text() for text in ax.get_yticklabels()]]
    width = 1.2 * ax.bbox.width * 72 / ax.figure.figure.dpi - 5 * sum(max(map(len, each), default=0) for each in beside)
    lines = [textwrap.fill(line, max(int(width / 5), 24)) for line in title.split("\n")]
    ax.set_title("\n".join(lines), color=ink(ax), fontsize=10)
    if keys:
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.3}
        ax.legend(handles=keys, frameon=False, labelcolor=ink(ax), fontsize=9, **place)


def write_on(ax: Axes, place: Any, text: str, ground: Any, size: float) -> None:
    """Text on a ground of its own, which a dot of this colour is: light on a dark one, dark on a light one."""
    from matplotlib.colors import to_rgb

    # Below this luminance white has the larger contrast: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio
    luminance = sum(part**2.2 * weight for part, weight in zip(to_rgb(ground), (0.2126, 0.7152, 0.0722), strict=True))
    across, up = place
    ax.text(
        across,
        up,
        text,
        color="white" if luminance < 0.18 else "black",
        fontsize=size,
        ha="center",
        va="center_baseline",
    )


def note(ax: Axes, text: str) -> None:
    """What stands in the place of data that there are not."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=ink(ax), fontsize=10)
    ax.set_xticks([])


def colour_bar(ax: Axes, of: Any, label: str, extend: str) -> None:
    """A bar for the colours of an artist, with a tip where values go beyond it (``extend="max"``)."""
    bar = ax.figure.colorbar(of, ax=ax, shrink=0.7, aspect=25, pad=0.02, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=ink(ax))
    bar.set_label(label, color=ink(ax))


@functools.cache
def colour_map() -> Colormap:
    """From small values, blue, to large ones, vermillion; grey for none."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("netnum", [SKY, PURPLE, VERMILLION]).with_extremes(bad=INK)
