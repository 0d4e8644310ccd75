"""Sweeps: a function at every point of a grid and for every seed, on any executor of `concurrent.futures`."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import operator
import pickle
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import NumError
from .._intervals import mean_and_half_width
from .._messages import did_you_mean
from .._show import frames, plots
from .._show.progress import bar
from . import executors
from .checkpoints import Checkpoint, key_of, point_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_OWN = ("seed", "seeds", "error", "traceback")
"""Names in rows and means that no parameter and nothing that a function returns may have."""


@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """What the tasks of a sweep have returned, in the order of the grid.

    Examples
    --------
    >>> def half(load, seed):
    ...     return {"half": load / 2 + seed}
    >>> sweep = netnum.sim.sweep(half, {"load": [0.2, 0.4]}, seeds=2)
    >>> sweep.to_pandas()
       load  seed  half error
    0   0.2     0   0.1  None
    1   0.2     1   1.1  None
    2   0.4     0   0.2  None
    3   0.4     1   1.2  None
    """

    parameters: tuple[str, ...]
    """The names of the grid's parameters."""
    rows: list[dict[str, Any]]
    """Per task its parameters, its ``seed``, what it returned, and its ``error``: None or the text of its exception."""
    _axes: dict[str, list[Any]]
    """The values of every parameter, and the seeds, which change from row to row."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of the tasks that have failed, each with the ``traceback`` of its exception."""
        return [row for row in self.rows if row["error"] is not None]

    def to_pandas(self) -> pandas.DataFrame:
        """A row per task.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        return frames.table(self.rows, columns=self._columns())

    def means(self, level: float = 0.95) -> pandas.DataFrame:
        """Means over the seeds, a row per point of the grid, with the half width of their confidence interval.

        Parameters
        ----------
        level : float
            Of confidence, between 0 and 1. The interval is Student's, with one degree of freedom less than seeds.

        Returns
        -------
        pandas.DataFrame
            The parameters, ``seeds`` (tasks that have not failed), and for every number that the function returns its
            mean and, as ``…_ci``, the half width: nan for a single seed. Both are nan where one of these tasks has
            returned no number under the name, and where no float holds their sum.

        Raises
        ------
        NumError
            For a level that is not between 0 and 1, two columns of one name, and where all tasks have failed.
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.

        Examples
        --------
        >>> sweep = netnum.sim.sweep(lambda load, seed: {"x": load + seed}, {"load": [1.0, 2.0]}, seeds=3)
        >>> sweep.means().round(3)
           load  seeds    x   x_ci
        0   1.0      3  2.0  2.484
        1   2.0      3  3.0  2.484
        """
        if not 0 < level < 1:
            raise NumError(f"level is {level}, expected a number between 0 and 1")
        table, numbers = [], self._numbers("_ci")
        for rows in self._points().values():
            good = [row for row in rows if row["error"] is None]
            line = {name: rows[0][name] for name in self.parameters} | {"seeds": len(good)}
            for name in numbers:
                line[name], line[f"{name}_ci"] = _mean(good, name, level)
            table.append(line)
        return frames.table(table)

    def ratios(self, to: Mapping[str, Any], level: float = 0.95) -> pandas.DataFrame:
        """Ratios to other points of the grid within a seed, such as of every policy to one, under the same workloads.

        Parameters
        ----------
        to : mapping of str to value
            Of the points that the others are divided by, such as ``{"policy": "srpt"}``: each point by the one that
            has these values in the place of its own.
        level : float
            As of `means`.

        Returns
        -------
        pandas.DataFrame
            A row per point that is not divided by: the parameters, ``seeds`` (in which neither task has failed), and
            for every number that the function returns the geometric mean of its ratios over the seeds, with the ends of
            the confidence interval as ``…_low`` and ``…_high``. These are nan for a single seed, and all are where a
            number is not above 0.

        Raises
        ------
        NumError
            For a parameter or a value that the grid does not have, where no point is left to divide or all tasks have
            failed, two columns of one name, and a level that is not between 0 and 1.
        TypeError
            For a `to` that is no mapping of names.
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.

        Notes
        -----
        Mean and interval are those of the logarithms of the ratios, by Student's distribution, and their exponentials.
        The reciprocals have the reciprocal mean, which is not so for a mean of ratios. Where the seeds vary more than
        the policies within a seed, the interval is far narrower than those of `means` suggest.

        Examples
        --------
        >>> def delay(policy, seed):
        ...     return {"delay": {"fair": 2.0, "srpt": 1.0}[policy] * 10.0**seed}
        >>> sweep = netnum.sim.sweep(delay, {"policy": ["fair", "srpt"]}, seeds=3)
        >>> sweep.ratios(to={"policy": "srpt"}).round(3)
          policy  seeds  delay  delay_low  delay_high
        0   fair      3    2.0        2.0         2.0
        """
        if not 0 < level < 1:
            raise NumError(f"level is {level}, expected a number between 0 and 1")
        if not isinstance(to, Mapping) or not all(isinstance(name, str) for name in to):
            raise TypeError(f"to must be a mapping of names to values, not {to!r}")
        divisor: dict[int, int] = {}
        for name, value in to.items():
            if name not in self.parameters:
                hint = did_you_mean(name, self.parameters) or f"expected one of {', '.join(self.parameters)}"
                raise NumError(f"the grid has no parameter {name!r}, {hint}")
            values = enumerate(self._axes[name])
            same = [number for number, each in values if each is value or key_of(each) == key_of(value)]
            if not same:
                raise NumError(f"no point of the grid has {value!r} for {name!r}")
            divisor[self.parameters.index(name)] = same[0]
        points = self._points()
        by = {place: tuple(divisor.get(axis, number) for axis, number in enumerate(place)) for place in points}
        divided = [place for place in points if by[place] != place]
        if not divided:
            raise NumError(f"no point of the grid is left to divide by those of to={dict(to)!r}")
        table, numbers = [], self._numbers("_low", "_high")
        for place in divided:
            pairs = zip(points[place], points[by[place]], strict=True)
            good = [pair for pair in pairs if all(row["error"] is None for row in pair)]
            line = {name: points[place][0][name] for name in self.parameters} | {"seeds": len(good)}
            for name in numbers:
                mean, half = mean_and_half_width(
                    [_log_ratio(one.get(name), other.get(name)) for one, other in good], level
                )
                with np.errstate(over="ignore"):
                    ends = np.exp([mean, mean - half, mean + half]).tolist()
                line[name], line[f"{name}_low"], line[f"{name}_high"] = ends
            table.append(line)
        return frames.table(table)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        of: str | None = None,
        x: str | None = None,
        level: float = 0.95,
        most: int = 12,
    ) -> Axes:
        """Draw the means over the seeds, with their confidence intervals: a line for each value of the others.

        Crosses on the axis are points without a mean: all their tasks have failed, or one has returned no number.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        of : str, optional
            The number to draw; by default the first that the function returns.
        x : str, optional
            The parameter along the axis; by default that of the most numbers or, without numbers, of the most values.
        level : float
            As of `means`.
        most : int
            The largest number of lines that are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        NumError
            For an `of` that the function does not return as a number, an `x` that is no parameter, a `level` that is
            not between 0 and 1, a `most` below 1, and where all tasks have failed.
        ImportError
            Without matplotlib: ``pip install "netnum[plot]"``.

        Examples
        --------
        >>> def delay(policy, load, seed):
        ...     return {"delay": {"fair": 2.0, "srpt": 1.0}[policy] / (1 - load) + 0.1 * seed}
        >>> sweep = netnum.sim.sweep(delay, {"policy": ["fair", "srpt"], "load": [0.2, 0.5, 0.8]}, seeds=3)
        >>> ax = sweep.plot()
        >>> ax.get_xlabel(), ax.get_ylabel(), [line.get_label() for line in ax.get_lines()]
        ('load', 'delay', ['policy = fair', 'policy = srpt'])
        """
        if not 0 < level < 1:
            raise NumError(f"level is {level}, expected a number between 0 and 1")
        if operator.index(most) < 1:
            raise NumError(f"most is {most}, expected at least 1")
        numbers = self._numbers()
        of = _one_of("of", of, numbers, numbers[:1], "the function returns no number")
        axis = self.parameters.index(_one_of("x", x, self.parameters, self._by_values(), "the grid has no parameter"))
        values = self._axes[self.parameters[axis]]
        lines: dict[tuple[int, ...], NDArray[np.float64]] = {}
        for place, rows in self._points().items():
            mean = _mean([row for row in rows if row["error"] is None], of, level)
            line = lines.setdefault(place[:axis] + place[axis + 1 :], np.full((2, len(values)), np.nan))
            line[:, place[axis]] = mean
        others = [name for name in self.parameters if name != self.parameters[axis]]

        def label(place: tuple[int, ...]) -> str:
            each = zip(others, place, strict=True)
            return ", ".join(f"{name} = {self._axes[name][at]}" for name, at in each if len(self._axes[name]) > 1)

        drawn = [(label(place), *line) for place, line in itertools.islice(lines.items(), most)]
        seeds = len(self._axes["seed"])
        title = f"Means of {of} over {seeds} seeds, {100 * level:g} % confidence" if seeds > 1 else f"{of}, of one seed"
        if self.failed:
            title += f"; {len(self.failed)} of {len(self.rows)} tasks failed"
        if len(drawn) < len(lines):
            title += f"; the first {len(drawn)} of {len(lines)} lines"
        return plots.sweep(drawn, values, self.parameters[axis], of, title, ax)

    def _by_values(self) -> list[str]:
        """The parameters, those first whose values are numbers, and of these those with the most."""

        def key(name: str) -> tuple[bool, int]:
            values = self._axes[name]
            return len(values) == 1 or not all(map(_is_number, values)), -len(values)

        return sorted(self.parameters, key=key)

    def _points(self) -> dict[tuple[int, ...], list[dict[str, Any]]]:
        """The rows of every point of the grid, one per seed, by the numbers of its values."""
        *counts, seeds = map(len, self._axes.values())
        rows = [self.rows[first : first + seeds] for first in range(0, len(self.rows), seeds)]
        return dict(zip(itertools.product(*map(range, counts)), rows, strict=True))

    def _numbers(self, *endings: str) -> list[str]:
        """The names under which the function returns numbers, if these with the endings are no other column's."""
        if len(self.failed) == len(self.rows):
            raise NumError(f"all {len(self.rows)} tasks have failed, the first by {self.rows[0]['error']}")
        values = [name for name in self._columns() if name not in (*self.parameters, "seed", "error")]
        numbers = [name for name in values if any(_is_number(row.get(name)) for row in self.rows)]
        columns = Counter([*self.parameters, *(name + ending for name in numbers for ending in ("", *endings))])
        if twice := [name for name, count in columns.items() if count > 1]:
            raise NumError(f"{twice[0]!r} is the column of an interval, but the grid or the function has that name too")
        return numbers

    def _columns(self) -> list[str]:
        names = [*self.parameters, "seed"]
        for row in self.rows:
            names.extend(name for name in row if name not in (*names, "error", "traceback"))
        return [*names, "error"]

    def __repr__(self) -> str:
        return f"Sweep({len(self.rows)} tasks, {len(self.failed)} failed, over {', '.join(self.parameters)})"


def sweep(
    function: Callable[..., Mapping[str, Any]],
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int | Sequence[int] = 1,
    shared: Any = None,
    executor: Executor | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> Sweep:
    """Call a function at every point of a grid and for every seed, here or on an executor.

    A task that raises is a row with an error, and the others go on. Ctrl-C takes back the tasks that have not begun and
    raises KeyboardInterrupt; what is done by then is in the checkpoint. An executor cannot end a task that runs. The
    ``sys.exit()`` of a task, or the interrupt of its process alone, is the error of that task.

    Parameters
    ----------
    function : callable
        Called as ``function(**point, seed=seed)``, or ``function(shared, **point, seed=seed)`` where `shared` is given.
        Returns a mapping of names to what JSON holds: numbers, strings, or lists or arrays of them. Arrays and tuples
        come as lists (``to_pandas().explode("rates")`` has a row per entry) and have no mean. Other processes import
        it, so that it stands at the top of a module.
    grid : mapping of str to sequence
        The values of every parameter, each once, such as ``{"policy": ["max-min", "srpt"], "load": [0.3, 0.6]}``.
    seeds : int or sequence of int
        How many, from 0, or which.
    shared : object, optional
        What all tasks need and is large: a topology, a workload, a problem. It is pickled once, sent to a process that
        lacks it, and kept there until another one comes. Less than 64 kB travel with every task, as anything does in a
        pool with ``max_tasks_per_child``.
    executor : concurrent.futures.Executor, optional
        A pool of processes, ``dask.distributed.Client.get_executor()``, ``mpi4py.futures.MPIPoolExecutor``, or any
        other. It stays open. By default the tasks run here, one after the other.
    checkpoint : path, optional
        A file with a line of JSON for every task that is done: its parameters, and what it returned. Tasks that it has
        are not done again, but for those that failed. A task is known by its parameters and seed, the function and what
        is shared, all by their JSON or a digest of their pickle. That of a function is its name, so that after a change
        inside it another file is needed; those of a `functools.partial` or a callable object are what they hold. One
        sweep writes to it at a time: a second one is refused, where the file system has locks.
    progress : bool
        Whether to show one bar over all tasks on stderr.

    Returns
    -------
    Sweep

    Raises
    ------
    NumError
        For a function that does not take the parameters, an empty grid, a value or seed that is there twice, a
        parameter named ``seed``, ``seeds``, ``error`` or ``traceback``, a function or a shared object that does not
        pickle where it must, a checkpoint of another sweep or one that another process writes, or an executor that was
        shut down or whose Dask client is closed.
    TypeError
        For a function that cannot be called, a `grid` that is no mapping or whose names are no strings, `seeds` that
        are no integers, and an `executor` that is none.

    Examples
    --------
    >>> net = netnum.topology.leaf_spine(racks=2, servers_per_rack=4, spines=2)
    >>> def mean_fct(net, policy, load, seed):
    ...     sizes = netnum.sim.sizes.web_search
    ...     workload = netnum.sim.Workload.poisson(net, sizes=sizes, load=load, flows=200, seed=seed)
    ...     return {"mean_fct": netnum.sim.simulate(net, workload, policy).mean_completion_time}
    >>> grid = {"policy": ["max-min", "srpt"], "load": [0.3, 0.6]}
    >>> table = netnum.sim.sweep(mean_fct, grid, seeds=2, shared=net).to_pandas()
    >>> table.shape, table.error.isna().all()
    ((8, 5), np.True_)
    """
    if not callable(function):
        raise TypeError(f"the function of a sweep must be callable, not {function!r}")
    axes = _axes(grid, seeds)
    _expect_parameters(function, list(axes), has_shared=shared is not None)
    tasks = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    packed = None
    if executor is not None:
        executors.expect_executor(executor)
        try:
            packed = executors.Shared.of(shared)
        except Exception as error:
            raise NumError(f"what a sweep shares must pickle: {error}") from error
    done = Checkpoint(checkpoint, axes, tasks, function, shared)
    rows = dict(done.results)
    left = [number for number in range(len(tasks)) if number not in rows]
    answer, given = partial(_answer, function), [tasks[number] for number in left]
    if executor is None or packed is None:
        calls = executors.here(answer, shared, given)
    else:
        calls = executors.outcomes(executor, answer, packed, given)
    shown = bar("sweep", (len(tasks),)) if progress else None
    try:
        with closing(calls):
            for place, future in calls:
                number = left[place]
                rows[number] = _outcome(future, function, tasks[number])
                done.write(number, rows[number])
                if shown is not None:
                    shown.show(len(rows))
    finally:
        done.close()
        if shown is not None:
            shown.close()
    return Sweep(tuple(grid), [task | rows[number] for number, task in enumerate(tasks)], axes)


def _expect_parameters(function: Callable[..., Any], names: list[str], has_shared: bool) -> None:
    """Raises NumError for a function that no task can call, if it tells its signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*[None] * has_shared, **dict.fromkeys(names))
    except TypeError as error:
        known = signature.parameters
        name = getattr(getattr(function, "func", function), "__name__", type(function).__name__)
        said = f"the function of a sweep, {name}({', '.join(known)}),"
        takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values())
        missing = [each for each in names if each not in known]
        if missing and not takes_any:
            hint = did_you_mean(missing[0], list(known))
            if missing[0] == "seed":
                hint = "by which a sweep gives every task its seed"
            why = f"has no parameter {missing[0]!r}" + (f", {hint}" if hint else "")
            raise NumError(f"{said} {why}") from None
        call = ", ".join(["shared"] * has_shared + [f"{each}=…" for each in names])
        raise NumError(f"{said} cannot be called with ({call}): {error}") from None


def _axes(grid: Mapping[str, Sequence[Any]], seeds: int | Sequence[int]) -> dict[str, list[Any]]:
    """The values of every parameter, and the seeds."""
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid must be a mapping of names to sequences of values, not {type(grid).__name__}")
    for name, values in grid.items():
        if not isinstance(name, str):
            raise TypeError(f"the grid has a parameter named {name!r}, expected a string")
        if name in _OWN:
            raise NumError(f"a parameter of the grid is named {name!r}, which a sweep uses itself")
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
            raise NumError(f"the grid has {values!r} for {name!r}, expected one value at least, in a sequence")
    try:
        every = list(seeds if isinstance(seeds, Iterable) else range(seeds))
        _ = [operator.index(seed) for seed in every]
    except TypeError:
        raise TypeError(f"seeds must be an integer or a sequence of them, not {seeds!r}") from None
    if not every:
        raise NumError("there are no seeds, expected one at least")
    axes = {name: list(values) for name, values in grid.items()} | {"seed": every}
    for name, values in axes.items():
        keys = set[str]()
        for value in values:
            if (key := key_of(value)) in keys:
                raise NumError(f"the sweep has {value!r} twice for {name!r}")
            keys.add(key)
    return axes


def _answer(function: Callable[..., Any], shared: Any, task: dict[str, Any]) -> dict[str, Any]:
    # Exceptions stay here as text: one that does not unpickle would break a pool of processes.
    try:
        answer = function(**task) if shared is None else function(shared, **task)
        if not isinstance(answer, Mapping):
            raise TypeError(f"the function must return a mapping of names to values, not {type(answer).__name__}")
        # As it comes out of a checkpoint: arrays and tuples as lists.
        plain = json.loads(json.dumps(dict(answer), default=_listed))
        if taken := [name for name in plain if name in task or name in _OWN]:
            raise TypeError(f"the function returns {taken[0]!r}, which is a parameter or a name that a sweep uses")
    except (Exception, SystemExit) as error:
        return _failure(error, task)
    return plain | {"error": None}


def _listed(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else json.JSONEncoder().default(value)


def _outcome(future: Future[dict[str, Any]], function: Callable[..., Any], task: dict[str, Any]) -> dict[str, Any]:
    """What `_answer` has returned, or an error of the executor.

    The interrupt of a worker is in the future, that of this process is raised.
    """
    try:
        error = future.exception()
    except CancelledError as cancelled:
        error = cancelled
    if error is None:
        return future.result()
    if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)):
        try:
            pickle.dumps(function)
        except Exception as why:
            raise NumError(f"the function of a sweep must pickle for this executor: {why}") from error
    return _failure(error, task)


def _failure(error: BaseException, task: dict[str, Any]) -> dict[str, Any]:
    trace = "".join(traceback.format_exception(error))
    return {"error": f"{type(error).__name__}: {error} (at {point_of(task)})", "traceback": trace}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _mean(rows: list[dict[str, Any]], name: str, level: float) -> tuple[float, float]:
    """The mean of a number over the rows, and half the width of its interval; nan where one row has no number."""
    return mean_and_half_width([row[name] if _is_number(row.get(name)) else math.nan for row in rows], level)


def _one_of(argument: str, given: str | None, known: Sequence[str], default: Sequence[str], without: str) -> str:
    """What is given, if it is known, or the default."""
    if not known:
        raise NumError(f"{without}, so that there is nothing to draw")
    if given is None:
        return default[0]
    if given not in known:
        hint = did_you_mean(given, list(known)) or f"expected {', '.join(map(repr, known))}"
        raise NumError(f"{argument} is {given!r}, {hint}")
    return given


def _log_ratio(number: Any, divisor: Any) -> float:
    are_positive = all(_is_number(each) and each > 0 for each in (number, divisor))
    return math.log(number) - math.log(divisor) if are_positive else math.nan
