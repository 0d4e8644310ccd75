"""The bar of ``netnum.solve(..., progress=True)``: how much of the way from the first gap to the tolerance is done.

The way is measured in decades: from a gap of 1 to a tolerance of 1e-6 there are six, and each counts the same. Uses
tqdm where that is installed, and one line on stderr where it is not.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol


class Bar(Protocol):
    """What the solver calls, by the clock."""

    def show(self, iteration: int, gap: float, kkt_residual: float) -> None:
        """Shows where the solve stands."""

    def close(self) -> None:
        """Leaves the last state on the screen and ends the line."""


class _Way:
    """How much of the way to the tolerance is done, in percent; never less than before."""

    def __init__(self, tol: float, stop: str) -> None:
        self.tol, self.stop = tol, stop
        self.first: float | None = None
        self.done = 0.0

    def at(self, gap: float, kkt_residual: float) -> float:
        left = kkt_residual if self.stop == "kkt" else gap
        if left <= self.tol:
            self.done = 100.0
        elif math.isfinite(left) and self.tol > 0:
            if self.first is None:
                self.first = left
            if left < self.first:
                self.done = max(self.done, 100.0 * math.log(self.first / left) / math.log(self.first / self.tol))
        return self.done

    def text(self, iteration: int, gap: float, kkt_residual: float) -> str:
        name, value = ("KKT residual", kkt_residual) if self.stop == "kkt" else ("gap", gap)
        # Before the first certificate there is none to show.
        return f"{name} {value:.1e}, iteration {iteration}" if math.isfinite(value) else f"iteration {iteration}"


class _Clock:
    """When to draw again: not more often than every tenth of a second."""

    PAUSE = 0.1

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._next = self.began

    def is_due(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self.PAUSE
        return True


class _Tqdm:
    def __init__(self, tqdm: Callable[..., Any], way: _Way) -> None:
        self._way, self._clock = way, _Clock()
        layout = "{desc} {percentage:3.0f}%|{bar}| [{elapsed}{postfix}]"
        self._bar = tqdm(total=100.0, desc="solve", bar_format=layout)

    def show(self, iteration: int, gap: float, kkt_residual: float) -> None:
        self._bar.n = self._way.at(gap, kkt_residual)
        self._bar.set_postfix_str(self._way.text(iteration, gap, kkt_residual), refresh=False)
        if self._clock.is_due():
            self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    """One line on stderr, written anew."""

    WIDTH = 20

    def __init__(self, way: _Way) -> None:
        self._way, self._clock = way, _Clock()
        self._line, self._length = "", 0

    def show(self, iteration: int, gap: float, kkt_residual: float) -> None:
        done = self._way.at(gap, kkt_residual)
        bar = "#" * int(done / 100 * self.WIDTH)
        seconds = time.monotonic() - self._clock.began
        text = self._way.text(iteration, gap, kkt_residual)
        self._line = f"solve {done:3.0f}%|{bar:<{self.WIDTH}}| {text} [{seconds:.1f} s]"
        if self._clock.is_due():
            self._draw()

    def close(self) -> None:
        self._draw("\n")

    def _draw(self, end: str = "") -> None:
        sys.stderr.write("\r" + self._line.ljust(self._length) + end)
        sys.stderr.flush()
        self._length = len(self._line)


def bar(tol: float, stop: str) -> Bar:
    """A bar for one solve: tqdm's when it is installed."""
    way = _Way(tol, stop)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(way)
    return _Tqdm(tqdm, way)
