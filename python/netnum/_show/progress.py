"""The progress bar of ``progress=True``, over one of four tasks.

``solve`` shows how much of the way from the first gap to the tolerance is done, ``solve_many`` how many of the
problems, ``sweep`` of its tasks, ``simulate`` how many of the flows. The way of a solve is measured in decades: from a
gap of 1 to a tolerance of 1e-6 there are six, and each counts the same. The time that a simulation still takes is
estimated from the speed of the last third of what is done: events become slower while flows accumulate, so that the
estimate is too short then, and too long while many flows end. The bar is tqdm's where that is installed, else one line
on stderr.
"""

from __future__ import annotations

import bisect
import math
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol


class Task(Protocol):
    """What a bar is over."""

    def progress(self, *state: Any) -> tuple[float, str]:
        """The part that is done in a state, in percent, and the state in words."""


class Solve:
    """The way to the tolerance. The part that is done never decreases."""

    def __init__(self, tol: float, stop: str) -> None:
        self.tol, self.stop = tol, stop
        self.first: float | None = None
        self.done = 0.0

    def progress(self, iteration: int, gap: float, kkt_residual: float) -> tuple[float, str]:
        return self.percent(gap, kkt_residual), self.text(iteration, gap, kkt_residual)

    def percent(self, gap: float, kkt_residual: float) -> float:
        left = kkt_residual if self.stop == "kkt" else gap
        if self.stop == "rates" and math.isfinite(kkt_residual):
            # The gap has to be at most tol, and the KKT residual at most 1e-3.
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


class Counted:
    """The problems of a batch, or the tasks of a sweep."""

    def __init__(self, noun: str, total: int) -> None:
        self.noun, self.total = noun, total

    def progress(self, done: int) -> tuple[float, str]:
        return 100.0 * done / max(self.total, 1), f"{done} of {self.total} {self.noun}"


class Flows:
    """The flows of a simulation, or its simulated time where more of that is over.

    Of a closed loop, which has any number of flows (`total` is None), only the time counts.
    """

    def __init__(self, total: int | None, until: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self.until, self._clock = total, until, clock
        # The parts that were done, and the real seconds at which.
        self._done, self._when = [0.0], [clock()]

    def progress(self, ended: int, time: float) -> tuple[float, str]:
        if self.total is None:
            done, text = 0.0, f"{ended} ended"
        else:
            done, text = ended / self.total if self.total else 1.0, f"{ended} of {self.total} flows"
        if self.until > 0:
            done = max(done, min(time / self.until, 1.0))
        if done > self._done[-1]:
            self._done.append(done)
            self._when.append(self._clock())
        text += f", at {time:.4g} s"
        return 100.0 * done, f"{text}, {self.left():.0f} s left" if 0.0 < done < 1.0 else text

    def left(self) -> float:
        """Seconds that the rest takes at the speed of the last third. A part must be done."""
        done = self._done[-1]
        last = bisect.bisect(self._done, 2 / 3 * done) - 1
        return (1.0 - done) * (self._clock() - self._when[last]) / (done - self._done[last])


TASKS: dict[str, Callable[..., Task]] = {
    "solve": Solve,
    "solve_many": partial(Counted, "problems"),
    "sweep": partial(Counted, "tasks"),
    "simulate": Flows,
}
"""The tasks by the names of the functions that show them."""


class Bar(ABC):
    """A bar over a task. It is on the screen from its first state on, and redrawn by the clock."""

    PAUSE = 0.1
    """Seconds between two drawings."""

    def __init__(self, name: str, task: Task) -> None:
        self.name, self._task = name, task
        self._began = self._next = time.monotonic()
        self._is_shown = False

    def show(self, *state: Any) -> None:
        """Shows a state: iteration, gap and KKT residual; problems solved; flows ended and simulated seconds."""
        self._is_shown = True
        self.update(*self._task.progress(*state))
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.PAUSE
            self.draw()

    def close(self) -> None:
        """Draws the last state and ends the line, if there was any state."""
        if self._is_shown:
            self.end()

    @abstractmethod
    def update(self, percent: float, text: str) -> None: ...

    @abstractmethod
    def draw(self) -> None: ...

    @abstractmethod
    def end(self) -> None: ...


class Tqdm(Bar):
    """A bar of tqdm."""

    LAYOUT = "{desc} {percentage:3.0f}%|{bar}| [{elapsed}{postfix}]"

    def __init__(self, name: str, task: Task, tqdm: Callable[..., Any]) -> None:
        super().__init__(name, task)
        self._tqdm = tqdm
        self._bar: Any = None

    def update(self, percent: float, text: str) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=100.0, desc=self.name, bar_format=self.LAYOUT)
        self._bar.n = percent
        self._bar.set_postfix_str(text, refresh=False)

    def draw(self) -> None:
        self._bar.refresh()

    def end(self) -> None:
        self._bar.close()


class Line(Bar):
    """One line on stderr."""

    WIDTH = 20

    def __init__(self, name: str, task: Task) -> None:
        super().__init__(name, task)
        self._line, self._length = "", 0

    def update(self, percent: float, text: str) -> None:
        bar = "#" * int(percent / 100 * self.WIDTH)
        seconds = time.monotonic() - self._began
        self._line = f"{self.name} {percent:3.0f}%|{bar:<{self.WIDTH}}| {text} [{seconds:.1f} s]"

    def draw(self, end: str = "") -> None:
        sys.stderr.write("\r" + self._line.ljust(self._length) + end)
        sys.stderr.flush()
        self._length = len(self._line)

    def end(self) -> None:
        self.draw("\n")


def bar(name: str, size: tuple[Any, ...]) -> Bar:
    """The bar over a task: its name in `TASKS`, and the arguments of that."""
    task = TASKS[name](*size)
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets the bar is text, which needs no warning.
            warnings.filterwarnings("ignore", message="IProgress not found")
            from tqdm.auto import tqdm
    except ImportError:
        return Line(name, task)
    return Tqdm(name, task, tqdm)
