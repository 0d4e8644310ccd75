"""Sweeps: a function at every point of a grid and for every seed, on any executor of `concurrent.futures`."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import pickle
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import executors, frames
from .._core import NumError
from .._messages import did_you_mean
from ..progress import bar

if TYPE_CHECKING:
    import pandas


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

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of the tasks that have failed."""
        return [row for row in self.rows if row["error"] is not None]

    def to_pandas(self) -> pandas.DataFrame:
        """A row per task.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        return frames.imported().DataFrame(self.rows, columns=self._columns())

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
            mean and, as ``…_ci``, the half width: nan for a single seed.

        Raises
        ------
        NumError
            For a level that is not between 0 and 1.
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
        table, numbers = [], self._numbers()
        for rows in self._points(self.rows, self.parameters).values():
            good = [row for row in rows if row["error"] is None]
            line = {name: rows[0][name] for name in self.parameters} | {"seeds": len(good)}
            for name in numbers:
                values = [row[name] for row in good if isinstance(row.get(name), (int, float))]
                line[name], line[f"{name}_ci"] = _mean(values, level)
            table.append(line)
        return frames.imported().DataFrame(table)

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
            For a parameter or a value that the grid does not have, and for a level that is not between 0 and 1.
        TypeError
            For a `to` that is no mapping.
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
        if not isinstance(to, Mapping):
            raise TypeError(f"to must be a mapping of names to values, not {to!r}")
        for name, value in to.items():
            if name not in self.parameters:
                hint = did_you_mean(name, self.parameters) or f"expected one of {', '.join(self.parameters)}"
                raise NumError(f"the grid has no parameter {name!r}, {hint}")
            if not any(row[name] == value for row in self.rows):
                raise NumError(f"no point of the grid has {value!r} for {name!r}")
        others = [name for name in self.parameters if name not in to]
        divisors, rest = list[dict[str, Any]](), list[dict[str, Any]]()
        for row in self.rows:
            (divisors if all(row[name] == to[name] for name in to) else rest).append(row)
        by_point = self._points(divisors, others)
        table, numbers = [], self._numbers()
        for rows in self._points(rest, self.parameters).values():
            of_seed = {row["seed"]: row for row in by_point[_key(rows[0], others)]}
            pairs = [(row, of_seed[row["seed"]]) for row in rows]
            pairs = [pair for pair in pairs if all(row["error"] is None for row in pair)]
            line = {name: rows[0][name] for name in self.parameters} | {"seeds": len(pairs)}
            for name in numbers:
                mean, half = _mean([_log_ratio(row.get(name), by.get(name)) for row, by in pairs], level)
                with np.errstate(over="ignore"):
                    ends = np.exp([mean, mean - half, mean + half]).tolist()
                line[name], line[f"{name}_low"], line[f"{name}_high"] = ends
            table.append(line)
        return frames.imported().DataFrame(table)

    @staticmethod
    def _points(rows: list[dict[str, Any]], parameters: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """The rows of every point of some parameters, in order."""
        points: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            points.setdefault(_key(row, parameters), []).append(row)
        return points

    def _numbers(self) -> list[str]:
        """The names under which the function returns numbers."""
        values = [name for name in self._columns() if name not in (*self.parameters, "seed", "error")]
        return [name for name in values if any(isinstance(row.get(name), (int, float)) for row in self.rows)]

    def _columns(self) -> list[str]:
        names = [*self.parameters, "seed"]
        for row in self.rows:
            names.extend(name for name in row if name not in names and name != "error")
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
    raises KeyboardInterrupt; what is done by then is in the checkpoint. An executor cannot end a task that runs.

    Parameters
    ----------
    function : callable
        Called as ``function(**point, seed=seed)``, or ``function(shared, **point, seed=seed)`` where `shared` is given.
        Returns a mapping of names to numbers, strings, or lists or arrays of them; arrays come as lists
        (``to_pandas().explode("rates")`` has a row per entry) and have no mean. Other processes import it, so that it
        stands at the top of a module.
    grid : mapping of str to sequence
        The values of every parameter, such as ``{"policy": ["max-min", "srpt"], "load": [0.3, 0.6]}``.
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
        A file with a line of JSON for every task that is done. Tasks that it has are not done again, but for those that
        failed. A line holds what JSON does. A task is known by its parameters and seed, the name of the function and
        what is shared: after a change inside the function, take another file.
    progress : bool
        Whether to show one bar over all tasks on stderr.

    Returns
    -------
    Sweep

    Raises
    ------
    NumError
        For an empty grid, a parameter named ``seed`` or ``error``, a function, a point or a shared object that does not
        pickle, a checkpoint of another sweep, or an executor that was shut down.
    TypeError
        For a function that cannot be called, a `grid` that is no mapping, `seeds` that are no numbers, and an
        `executor` that is none.

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
    tasks = _tasks(grid, seeds)
    if executor is not None:
        executors.expect_executor(executor)
        _expect_pickles(function, tasks)
    packed = executors.Shared(shared, b"", "")
    if executor is not None or checkpoint is not None:
        try:
            packed = executors.Shared.of(shared)
        except Exception as error:
            why = "with a checkpoint, " if executor is None else ""
            raise NumError(f"{why}what a sweep shares must pickle: {error}") from error
    done = _Checkpoint(checkpoint, tasks, function, packed.digest)
    rows = dict(done.results)
    places = [place for place in range(len(tasks)) if place not in rows]
    left = [tasks[place] for place in places]
    answer = partial(_answer, function)
    calls = executors.here(answer, shared, left)
    if executor is not None:
        calls = executors.outcomes(executor, answer, packed, left)
    shown = bar("sweep", (len(tasks),)) if progress else None
    try:
        with closing(calls):
            for number, future in calls:
                place = places[number]
                try:
                    rows[place] = future.result()
                    done.write(place, rows[place])
                except Exception as error:
                    rows[place] = _failure(error, tasks[place])
                    done.write(place, rows[place])
                if shown is not None:
                    shown.show(len(rows))
    finally:
        done.close()
        if shown is not None:
            shown.close()
    return Sweep(tuple(grid), [task | rows[place] for place, task in enumerate(tasks)])


def _tasks(grid: Mapping[str, Sequence[Any]], seeds: int | Sequence[int]) -> list[dict[str, Any]]:
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid must be a mapping of names to sequences of values, not {type(grid).__name__}")
    for name, values in grid.items():
        if name in ("seed", "error"):
            raise NumError(f"a parameter of the grid is named {name!r}, which a sweep uses itself")
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
            raise NumError(f"the grid has {values!r} for {name!r}, expected one value at least, in a sequence")
    try:
        every = list(seeds if isinstance(seeds, Iterable) else range(seeds))
    except TypeError:
        raise TypeError(f"seeds must be a number or a sequence of them, not {seeds!r}") from None
    if not every:
        raise NumError("there are no seeds, expected one at least")
    points = itertools.product(*grid.values())
    return [dict(zip(grid, point, strict=True)) | {"seed": seed} for point in points for seed in every]


def _expect_pickles(function: Callable[..., Any], tasks: list[dict[str, Any]]) -> None:
    try:
        pickle.dumps(function)
    except Exception as error:
        raise NumError(f"the function of a sweep must pickle: {error}") from error
    for task in tasks:
        try:
            pickle.dumps(task)
        except Exception as error:
            raise NumError(f"task {task!r} does not pickle: {error}") from error


def _answer(function: Callable[..., Any], shared: Any, task: dict[str, Any]) -> dict[str, Any]:
    answer = function(**task) if shared is None else function(shared, **task)
    if not isinstance(answer, Mapping):
        raise TypeError(f"the function must return a mapping of names to values, not {type(answer).__name__}")
    # Arrays are lists, as in a checkpoint, and NumPy's numbers are Python's.
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in answer.items()}
    if again := [name for name in plain if name in task or name == "error"]:
        raise TypeError(f"the function returns {again[0]!r}, which is a parameter")
    return plain | {"error": None}


def _failure(error: Exception, task: dict[str, Any]) -> dict[str, Any]:
    point = ", ".join(f"{name}={value!r}" for name, value in task.items())
    return {"error": f"{type(error).__name__}: {error} (at {point})"}


class _Checkpoint:
    """The results of earlier calls by task, and a line for every new one."""

    def __init__(
        self, path: str | Path | None, tasks: list[dict[str, Any]], function: Callable[..., Any], digest: str
    ) -> None:
        self.results: dict[int, dict[str, Any]] = {}
        self._file = None
        if path is None:
            return
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
        keys = (repr((name, digest, sorted(task.items()))).encode() for task in tasks)
        self._keys = [hashlib.sha256(key).hexdigest()[:16] for key in keys]
        numbers = {key: number for number, key in enumerate(self._keys)}
        path = Path(path)
        lines = path.read_text().splitlines() if path.exists() else []
        for place, line in enumerate(lines):
            try:
                read = json.loads(line)
                key, result = read["task"], read["result"]
            except (ValueError, KeyError, TypeError):
                if place == len(lines) - 1:
                    continue  # It was being written when the sweep ended.
                raise NumError(f"line {place + 1} of {path} is not one of a sweep's checkpoint") from None
            if key not in numbers:
                raise NumError(
                    f"line {place + 1} of {path} is of a task that this sweep does not have: other parameters, another "
                    "function, or another shared object"
                )
            if result["error"] is None:
                self.results[numbers[key]] = result
        self._file = path.open("a")
        if lines and not path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    def write(self, number: int, result: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps({"task": self._keys[number], "result": result}) + "\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _key(row: dict[str, Any], parameters: Sequence[str]) -> str:
    return repr([row[name] for name in parameters])


def _log_ratio(number: Any, divisor: Any) -> float:
    are_positive = all(isinstance(each, (int, float)) and each > 0 for each in (number, divisor))
    return math.log(number) - math.log(divisor) if are_positive else math.nan


def _mean(numbers: list[float], level: float) -> tuple[float, float]:
    """And the half width of its confidence interval, Student's."""
    mean = statistics.fmean(numbers) if numbers else math.nan
    if len(numbers) < 2 or not math.isfinite(mean):
        return mean, math.nan
    return mean, _quantile(0.5 + level / 2, len(numbers) - 1) * statistics.stdev(numbers) / math.sqrt(len(numbers))


def _quantile(part: float, degrees: int) -> float:
    """Of Student's distribution, above 1/2: bisection on the finite sums of its distribution function."""
    low, high = 0.0, 1.0
    while _distribution(high, degrees) < part:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _distribution(middle, degrees) < part else (low, middle)
    return high


def _distribution(value: float, degrees: int) -> float:
    """Of Student's, for an integer number of degrees of freedom (Abramowitz & Stegun 26.7.3, 26.7.4)."""
    angle = math.atan2(value, math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term = cosine if degrees % 2 else 1.0
    total = 0.0 if degrees == 1 else term
    for place in range(3 if degrees % 2 else 2, degrees - 1, 2):
        term *= cosine**2 * (place - 1) / place
        total += term
    both = 2 / math.pi * (angle + sine * total) if degrees % 2 else sine * total
    return 0.5 + both / 2
