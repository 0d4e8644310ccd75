"""What the layers of PyTorch and JAX share: problems with the same paths, solved and differentiated together."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._core import (
    NumError,
    Paths,
    Problem,
    ProblemError,
    Sensitivity,
    SensitivityError,
    Topology,
    Utility,
    solve_many,
)
from ._messages import did_you_mean

Item = TypeVar("Item")
Result = TypeVar("Result")

#: The parameters of utilities that are numbers, of which a flow has one.
OF_UTILITIES = ("weight", "scale", "alpha", "size", "epsilon")
#: Everything that a layer takes, and what there is one of for each of its values.
PARAMETERS = {
    "capacities": "link",
    "rate_cap": "path",
    "flow_cap": "flow",
    "flow_floor": "flow",
    "path_cost": "path",
    "coefficients": "link of every path",
} | dict.fromkeys(OF_UTILITIES, "flow")
#: Everything that a layer gives, likewise; there is one objective.
OUTCOMES = {"rates": "path", "flow_rates": "flow", "prices": "link", "objective": None}


class Layer:
    """Problems that differ in some parameters.

    One that `remembers` keeps the prices of the last ones, from which the next ones start. Others are equal where all
    their arguments are, so that what JAX has compiled for one of them is good for the others.
    """

    def __init__(
        self, problem: Problem, of: str | Sequence[str], at_kink: str, threads: int | None, *, remembers: bool = False
    ) -> None:
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be a Problem, not {type(problem).__name__}")
        #: What is given, and whether it is one array and no tuple.
        self.of = (of,) if isinstance(of, str) else tuple(of)
        self.is_one = isinstance(of, str)
        for name in self.of:
            if name not in OUTCOMES:
                raise NumError(f"of names {name!r}, expected {', '.join(map(repr, OUTCOMES))}")
        if not self.of:
            raise NumError(f"of is empty, expected one or more of {', '.join(map(repr, OUTCOMES))}")
        if at_kink not in ("refuse", "hold", "release"):
            raise NumError(f"at_kink is {at_kink!r}, expected 'refuse', 'hold' or 'release'")
        if threads is not None and operator.index(threads) < 1:
            raise NumError(f"threads is {threads}, expected at least 1")
        has_paths = "Problem(net, net.k_shortest_paths(demands, k)) has paths for a layer"
        problem._need_paths(has_paths)  # type: ignore[attr-defined]
        self.at_kink: Any = at_kink
        self.threads = threads or os.cpu_count() or 1
        self.counts = {"link": problem.links, "path": len(problem.group), "flow": problem.flows}
        self.counts[PARAMETERS["coefficients"]] = len(problem.paths.indices)
        self._key = (problem, self.of, self.is_one, at_kink, self.threads, object() if remembers else None)
        # With capacities in place of a topology, which every problem would have a copy of.
        if isinstance(problem.network, Topology):
            problem = _over(problem.paths, problem)
        self.problem = problem
        self._remembers = remembers
        # Replaced as a whole and never changed, so that calls of several threads need no lock.
        self._prices: tuple[NDArray[np.float64] | None, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def full_shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The shapes (..., count) for the whole batch of the parameters that are given, whose names are checked."""
        for name, shape in shapes.items():
            count = self.counts[PARAMETERS[name]]
            if shape and shape[-1] != count:
                per = PARAMETERS[name]
                raise ProblemError(f"{name} has shape {shape}, expected (..., {count}), one per {per}, or one number")
        try:
            batch = np.broadcast_shapes(*(shape[:-1] for shape in shapes.values()))
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ProblemError(f"the leading axes differ: {listed}") from None
        return {name: (*batch, self.counts[PARAMETERS[name]]) for name in shapes}

    def check_names(self, names: list[str]) -> None:
        """Raises where there are no parameters, or one that does not exist or that the utility does not have."""
        if not names:
            raise TypeError(f"no parameter is given, expected one or more of {', '.join(PARAMETERS)}")
        for name in names:
            if name not in PARAMETERS:
                near = did_you_mean(name, list(PARAMETERS))
                expected = near or f"expected one of {', '.join(PARAMETERS)}"
                raise TypeError(f"there is no parameter {name!r}, {expected}")
        own = [name for name in names if name in OF_UTILITIES]
        utility = self.problem.utility
        if own and isinstance(utility, tuple):
            raise TypeError(
                f"{own[0]} is given, and the flows have utilities of their own: give the problem one for all"
            )
        known = self._of_utility()
        for name in own:
            if name not in known:
                has = f"its parameters are {', '.join(known)}" if known else "none of its parameters can be given"
                raise TypeError(f"{name} is given, which the utility does not have: {utility!r}; {has}")

    def _of_utility(self) -> dict[str, Any]:
        """The parameters of the utility that all flows have, if it is made of such numbers and nothing else."""
        utility = self.problem.utility
        kind: Any = type(utility)
        names = _parameters_of(kind) if isinstance(utility, Utility) else ()
        if not set(names) <= set(OF_UTILITIES):
            return {}
        values = {name: getattr(utility, name) for name in OF_UTILITIES if name in names}
        if values.get("scale") is not None:
            del values["weight"]
        return {name: value for name, value in values.items() if value is not None}

    def shape(self, outcome: str, batch: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an outcome for a batch of this shape."""
        per = OUTCOMES[outcome]
        return batch if per is None else (*batch, self.counts[per])

    def solve(self, parameters: Mapping[str, NDArray[np.float64]]) -> list[Sensitivity]:
        """The optimum of every problem, refined to rounding. Parameters have shape (..., count), all the same batch."""
        rows = {name: _rows(values) for name, values in parameters.items()}
        count = len(next(iter(rows.values())))
        problems = [self._about(row, count, functools.partial(self._problem, rows, row)) for row in range(count)]
        before = self._prices
        starts = before if len(before) == count else None
        solutions = solve_many(problems, warm_start=starts or None, threads=self.threads)
        if self._remembers:
            usable = (one.is_optimal and np.isfinite(one.prices).all() for one in solutions)
            self._prices = tuple(one.prices if good else None for one, good in zip(solutions, usable, strict=True))
        return self._each(lambda row: solutions[row].sensitivity(), count)

    def at(
        self, parameters: Mapping[str, NDArray[np.float64]], rates: NDArray[np.float64], prices: NDArray[np.float64]
    ) -> list[Sensitivity]:
        """Sensitivities at rates and prices that `solve` has found, one row for each member of a batch."""
        rows = {name: _rows(values) for name, values in parameters.items()}
        points = _rows(rates), _rows(prices)
        return self._each(
            lambda row: Sensitivity(self._problem(rows, row), *(each[row] for each in points)), len(points[0])
        )

    def outcomes(self, optima: Sequence[Sensitivity], batch: tuple[int, ...]) -> list[NDArray[np.float64]]:
        """What is asked for, for a batch of this shape."""
        return [self.outcome(name, optima, batch) for name in self.of]

    def outcome(self, name: str, optima: Sequence[Sensitivity], batch: tuple[int, ...]) -> NDArray[np.float64]:
        """Rates, flow rates, prices or objectives."""
        rows = [_objective(one) if name == "objective" else getattr(one, name) for one in optima]
        return np.array(rows, dtype=float).reshape(self.shape(name, batch))

    def gradients(
        self,
        optima: Sequence[Sensitivity],
        names: Sequence[str],
        given: Mapping[str, NDArray[np.float64]],
        batch: tuple[int, ...],
    ) -> list[NDArray[np.float64]]:
        """The derivatives in parameters from those in outcomes, each of shape (batch, ...)."""
        count = len(optima)
        rows = {name: values.reshape(self.shape(name, (count,))) for name, values in given.items()}

        def gradient(row: int) -> dict[str, NDArray[np.float64]]:
            # JAX has zeros for an outcome that is not used.
            used = {name: values[row] for name, values in rows.items() if values[row].any()}
            if not used:
                return {}
            found = optima[row].vjp(at_kink=self.at_kink, **used)
            if "alpha" in names and np.isnan(found["alpha"]).any():
                flow = np.flatnonzero(np.isnan(found["alpha"]))[0]
                raise SensitivityError(
                    f"the objective has no derivative in alpha where that is 1, as of flow {flow}: "
                    "give alpha without the objective, or values other than 1"
                )
            return found

        found = self._each(gradient, count)
        gradients: list[NDArray[np.float64]] = []
        for name in names:
            size = self.counts[PARAMETERS[name]]
            # Caps that are all infinite have no derivative, nor have floors that are all 0.
            each = np.array([one.get(name, np.zeros(size)) for one in found], dtype=np.float64)
            gradients.append(each.reshape(*batch, size))
        return gradients

    def _problem(self, rows: Mapping[str, NDArray[np.float64]], row: int) -> Problem:
        """The problem with one row of the parameters."""
        problem = self.problem
        if "coefficients" in rows:
            problem = _over(problem.paths.with_coefficients(rows["coefficients"][row]), problem)
        if "capacities" in rows:
            problem = problem.with_capacities(rows["capacities"][row])
        if "rate_cap" in rows:
            problem = problem.with_rate_caps(rows["rate_cap"][row])
        if "flow_cap" in rows and "flow_floor" in rows:
            # New caps need not be above old floors.
            problem = problem.with_flow_floors(None)
        if "flow_cap" in rows:
            problem = problem.with_flow_caps(rows["flow_cap"][row])
        if "flow_floor" in rows:
            problem = problem.with_flow_floors(rows["flow_floor"][row])
        if "path_cost" in rows:
            problem = problem.with_path_costs(rows["path_cost"][row])
        known = self._of_utility()
        changed = {name: rows[name][row] for name in known if name in rows}
        if not changed:
            return problem
        return problem.with_utility(type(problem.utility)(**(known | changed)))

    def _each(self, work: Callable[[int], Result], count: int) -> list[Result]:
        """Does the work for every problem, on threads; what netnum does runs without the GIL.

        The threads are Python's, because derivatives are taken from the objects that the solve has made, which wait for
        the backward pass. Ctrl-C leaves out the problems that are not begun.
        """
        if min(count, self.threads) <= 1:
            return [self._about(row, count, functools.partial(work, row)) for row in range(count)]
        with ThreadPoolExecutor(min(count, self.threads)) as pool:
            return list(pool.map(lambda row: self._about(row, count, lambda: work(row)), range(count)))

    @staticmethod
    def _about(row: int, count: int, work: Callable[[], Result]) -> Result:
        """Does the work, and puts the number of the problem in front of an error where there are several."""
        try:
            return work()
        except NumError as error:
            if count == 1:
                raise
            raise type(error)(f"problem {row}: {error}") from None


@functools.cache
def _parameters_of(utility: Any) -> tuple[str, ...]:
    """The names of what makes a utility of a class; read once, for `inspect` parses the text of a signature."""
    return tuple(inspect.signature(utility).parameters)


def _over(paths: Paths, problem: Problem) -> Problem:
    """A problem of capacities and these paths, with everything else as it is."""
    names = ("rate_cap", "flow_cap", "flow_floor", "path_cost", "priority")
    return Problem(problem.capacities, paths, problem.utility, **{name: getattr(problem, name) for name in names})


def _rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A batch of any shape as rows."""
    return values.reshape(math.prod(values.shape[:-1]), values.shape[-1])


def _objective(optimum: Sensitivity) -> float:
    """The sum of utilities over the flows that are served, less the costs."""
    values = optimum.problem.values(optimum.flow_rates)
    cost = optimum.problem.path_cost
    paid = 0.0 if cost is None else float(cost @ optimum.rates)
    return float(values[optimum.flow_rates > 0].sum()) - paid
