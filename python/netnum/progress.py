"""The bars of ``progress=True``: for `solve` how much of the way from the first gap to the tolerance is done, for
`solve_many` how many of the problems, for `simulate` how many of the flows.

The way is measured in decades: from a gap of 1 to a tolerance of 1e-6 there are six, and each counts the same. A
simulation's time left is what the rest takes at the speed of the last third of what is done. Events become slower while
flows pile up, so that it is short then, and long while a crowd leaves. Uses tqdm where that is installed, and one line
on stderr where it is not.
"""

from __future__ import annotations

import bisect
import math
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol


class Bar(Protocol):
    """What the solver calls, by the clock."""

    def show(self, *state: Any) -> None:
        """Shows where the work stands.

        Iteration, gap and KKT residual of a solve, problems done of a batch, flows ended of a simulation and its time.
        """

    def close(self) -> None:
        """Leaves the last state on the screen and ends the line."""


class _Work(Protocol):
    """What is to be done."""

    name: str

    def look(self, *state: Any) -> tuple[float, str]:
        """How much of it is done, in percent, and in words where it stands."""


class _Way:
    """How much of the way to the tolerance is done, in percent; never less than before."""

    name = "solve"

    def __init__(self, tol: float, stop: str) -> None:
        self.tol, self.stop = tol, stop
        self.first: float | None = None
        self.done = 0.0

    def look(self, iteration: int, gap: float, kkt_residual: float) -> tuple[float, str]:
        return self.at(gap, kkt_residual), self.text(iteration, gap, kkt_residual)

    def at(self, gap: float, kkt_residual: float) -> float:
        left = kkt_residual if self.stop == "kkt" else gap
        if self.stop == "rates" and math.isfinite(kkt_residual):
            # The gap is to be at most tol, and rates are to be right to a thousandth.
            left = max(gap, kkt_residual * self.tol / max(self.tol, 1e-3))
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


class _Count:
    """How many of the problems are done."""

    name = "solve_many"

    def __init__(self, total: int) -> None:
        self.total = total

    def look(self, done: int) -> tuple[float, str]:
        return 100.0 * done / max(self.total, 1), f"{done} of {self.total} problems"


class _Flows:
    """How many of the flows have ended, or how much of the time is over if that is more, and what the rest takes."""

    name = "simulate"

    def __init__(self, total: int, until: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self.until, self._clock = total, until, clock
        # What was done when, in real seconds.
        self._done, self._when = [0.0], [clock()]

    def look(self, ended: int, time: float) -> tuple[float, str]:
        done = ended / self.total if self.total else 1.0
        if self.until > 0:
            done = max(done, min(time / self.until, 1.0))
        if done > self._done[-1]:
            self._done.append(done)
            self._when.append(self._clock())
        text = f"{ended} of {self.total} flows, at {time:.4g} s"
        return 100.0 * done, f"{text}, {self.left():.0f} s left" if 0.0 < done < 1.0 else text

    def left(self) -> float:
        """Seconds that the rest takes at the speed of the last third. Something must be done."""
        done = self._done[-1]
        last = bisect.bisect(self._done, 2 / 3 * done) - 1
        return (1.0 - done) * (self._clock() - self._when[last]) / (done - self._done[last])


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
    def __init__(self, tqdm: Callable[..., Any], work: _Work) -> None:
        self._work, self._clock = work, _Clock()
        layout = "{desc} {percentage:3.0f}%|{bar}| [{elapsed}{postfix}]"
        self._bar = tqdm(total=100.0, desc=work.name, bar_format=layout)

    def show(self, *state: Any) -> None:
        self._bar.n, text = self._work.look(*state)
        self._bar.set_postfix_str(text, refresh=False)
        if self._clock.is_due():
            self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    """One line on stderr, written anew."""

    WIDTH = 20

    def __init__(self, work: _Work) -> None:
        self._work, self._clock = work, _Clock()
        self._line, self._length = "", 0

    def show(self, *state: Any) -> None:
        done, text = self._work.look(*state)
        bar = "#" * int(done / 100 * self.WIDTH)
        seconds = time.monotonic() - self._clock.began
        self._line = f"{self._work.name} {done:3.0f}%|{bar:<{self.WIDTH}}| {text} [{seconds:.1f} s]"
        if self._clock.is_due():
            self._draw()

    def close(self) -> None:
        self._draw("\n")

    def _draw(self, end: str = "") -> None:
        sys.stderr.write("\r" + self._line.ljust(self._length) + end)
        sys.stderr.flush()
        self._length = len(self._line)


def bar(tol: float, stop: str) -> Bar:
    """A bar for one solve."""
    return _of(_Way(tol, stop))


def count(total: int) -> Bar:
    """A bar over many problems."""
    return _of(_Count(total))


def flows(total: int, until: float) -> Bar:
    """A bar over the flows of a simulation that is over when its time is up."""
    return _of(_Flows(total, until))


def _of(work: _Work) -> Bar:
    """The bar of tqdm when that is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(work)
    return _Tqdm(tqdm, work)
