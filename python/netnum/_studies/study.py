"""What studies share: cases of changed capacities, solved and compared with the network as it is."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import (
    AlphaFair,
    BandwidthFunction,
    NumError,
    Problem,
    Solution,
    concurrent_flow,
    min_utilization,
    solve,
    solve_many,
)
from .._multicommodity_flow import MulticommodityFlow
from .._show import proofs
from .._show.progress import bar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Study(ABC):
    """The base of studies."""

    names: tuple[str, ...]
    """The names of the cases: of their links, fibers or nodes, or the keys of the mapping."""
    throughput: NDArray[np.float64]
    """Sum of all rates, per case; nan for one that was not solved, or not before its time was up, and where floors do
    not fit."""

    @property
    @abstractmethod
    def _before(self) -> Solution | MulticommodityFlow:
        """Of the network as it is."""

    @property
    def throughput_change(self) -> NDArray[np.float64]:
        """The change of the sum of all rates from the network as it is, per case."""
        return self.throughput - self._before.flow_rates.sum()


class Cases(ABC):
    """A problem, and what was found of it, with which the cases are compared."""

    before: Any

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def is_joined(self, found: Any) -> NDArray[np.bool_]:
        """Whether each flow has a path left, and a cap above 0."""
        return self._among(found.failed_flows, False)

    def is_starved(self, found: Any) -> NDArray[np.bool_]:
        """Whether each flow has a path left and yet gets nothing, which all others leave it."""
        return np.zeros(self._problem.flows, dtype=bool)

    def _among(self, numbers: NDArray[np.int64], value: bool) -> NDArray[np.bool_]:
        """A mask with this value for some flows, and the other one for the others."""
        flows = np.full(self._problem.flows, not value)
        flows[numbers] = value
        return flows

    @abstractmethod
    def solve(self, problems: list[Problem], progress: bool, threads: int | None) -> list[Any]:
        """What is found of every case."""

    @abstractmethod
    def value(self, found: Any, flows: NDArray[np.bool_]) -> float:
        """The worth of the rates of some flows."""

    def worst_ratio(self, found: Solution | MulticommodityFlow, flows: NDArray[np.bool_]) -> float:
        """The smallest ratio of rate to demand among some flows; nan where none of them has a demand above 0."""
        demands = self._problem.flow_cap
        if demands is None:
            return float("nan")
        flows = flows & (demands > 0) & np.isfinite(demands)
        return float(np.min(found.flow_rates[flows] / demands[flows])) if flows.any() else float("nan")


class SolvedCases(Cases):
    """A problem, how it is solved, and its solution."""

    before: Solution

    def __init__(
        self, problem: Problem, method: str, warm_start: Solution | ArrayLike | None, settings: dict[str, Any]
    ) -> None:
        super().__init__(problem)
        self._method, self._settings = method, settings
        self.before = solve(problem, method, warm_start=warm_start, **settings)
        if self.before.status == "infeasible":
            part = proofs.part(self.before.infeasibility)  # type: ignore[arg-type]
            what = f"the floors do not fit in the network as it is, {part}"
            raise NumError(f"{what}: netnum.solve(problem).infeasibility says why")
        if not has_answer(self.before):
            what = "the time was up before there was an answer to the network as it is"
            raise NumError(f"{what}: give a longer time_limit")

    def solve(self, problems: list[Problem], progress: bool, threads: int | None) -> list[Solution]:
        """The solution of every case, from the prices of the network as it is."""
        more: dict[str, Any] = {"progress": progress, "threads": threads}
        return solve_many(problems, self._method, warm_start=self.before, **more, **self._settings)

    def is_joined(self, found: Solution) -> NDArray[np.bool_]:
        """Whether each flow has a path left, and a cap above 0."""
        is_served = super().is_joined(found)
        over = found.problem
        if over is None or over.paths is None or over.group is None:
            return is_served
        is_open = np.logical_and.reduceat(over.capacities[over.paths.indices] > 0, over.paths.indptr[:-1])
        if over.rate_cap is not None:
            is_open &= over.rate_cap > 0
        is_joined = self._among(over.group[is_open], True)
        return is_served | (is_joined if over.flow_cap is None else is_joined & (over.flow_cap > 0))

    def is_starved(self, found: Solution) -> NDArray[np.bool_]:
        """Whether each flow has a path left and yet gets nothing: classes before it or floors of others leave none.

        A flow that is worth more than -inf at a rate of 0 may get none because others are worth more, and one whose
        bandwidth function begins with 0 because its turn is later.
        """
        if self._problem.priority is None and self._problem.flow_floor is None:
            return super().is_starved(found)
        is_worst = self._is_max_min | np.isneginf(self._problem.values(found.flow_rates))
        has_nothing = self._among(found.failed_flows, True) | (is_worst & (found.flow_rates == 0))
        return self.is_joined(found) & has_nothing

    def gain(self, found: Solution, flows: NDArray[np.bool_]) -> float:
        """How much more some flows are worth than in the network as it is.

        A flow that has nothing, at a utility of -inf, gains inf when it gets something. Where as many flows lose as
        much, the others are compared.
        """
        before, after = (np.isneginf(self._problem.values(one.flow_rates)) for one in (self.before, found))
        served = int((flows & before & ~after).sum()) - int((flows & after & ~before).sum())
        if served:
            return np.copysign(np.inf, served)
        flows = flows & ~before & ~after
        gained = self.value(found, flows) - self.value(self.before, flows)
        # Equal fair shares may differ by rounding.
        is_same = self.before.method == "max-min" and abs(gained) <= 1e-9 * abs(self.value(self.before, flows))
        return 0.0 if is_same else gained

    def value(self, found: Solution, flows: NDArray[np.bool_]) -> float:
        """The worth of some flows, as `Solution.objective` has that of all: utilities less costs.

        Of the flows of max-min in a class it is the smallest fair share; nan for no flows where all are of max-min.
        """
        problem = self._problem
        values, is_max_min = problem.values(found.flow_rates), self._is_max_min
        if is_max_min.all():
            return float(values[flows].min()) if flows.any() else float("nan")
        over = problem
        if over.paths is None and found.problem is not None:
            # Of a problem of pairs, the paths that were found.
            over = found.problem
        paid = 0.0 if over.path_cost is None else (over.path_cost * found.rates)[flows[over.group]].sum()
        shared = flows & is_max_min
        least = [values[shared & own].min() for own in self._classes if (shared & own).any()]
        return float(values[flows & ~is_max_min].sum() + sum(least) - paid)

    def class_values(self, found: Solution, flows: NDArray[np.bool_]) -> list[float]:
        """The worth of some flows class by class, nan for no flows where those of the class are of max-min."""
        of_none = [float("nan") if self._is_max_min[own].all() else 0.0 for own in self._classes]
        classes = zip(self._classes, of_none, strict=True)
        return [self.value(found, flows & own) if (flows & own).any() else none for own, none in classes]

    @functools.cached_property
    def _classes(self) -> list[NDArray[np.bool_]]:
        """The flows of each class, the first that is served first."""
        priority = self._problem.priority
        if priority is None:
            return [np.ones(self._problem.flows, dtype=bool)]
        return [priority == each for each in np.unique(priority)]

    @functools.cached_property
    def _is_max_min(self) -> NDArray[np.bool_]:
        """Which flows have no utility to add up: their fair shares are compared."""
        utility = self._problem.utility
        is_one = [_is_max_min(each) for each in (utility if isinstance(utility, tuple) else (utility,))]
        return np.broadcast_to(is_one, self._problem.flows)


def _is_max_min(utility: Any) -> bool:
    """Whether the flows of a utility are of max-min, which either all of them are or none."""
    return isinstance(utility, (AlphaFair, BandwidthFunction)) and bool(np.isinf(utility.alpha).any())


class CarriedCases(Cases):
    """A problem whose demands are carried, by the common fraction or at the least utilization."""

    before: MulticommodityFlow

    def __init__(self, problem: Problem, objective: str) -> None:
        super().__init__(problem)
        self._is_fraction = objective == "concurrent_flow"
        self._carry = concurrent_flow if self._is_fraction else min_utilization
        self.before = self._carry(problem)

    def solve(self, problems: list[Problem], progress: bool, threads: int | None) -> list[MulticommodityFlow]:
        """What every case carries, one after the other."""
        found: list[MulticommodityFlow] = []
        shown = bar("solve_many", (len(problems),)) if progress else None
        try:
            for number, problem in enumerate(problems):
                try:
                    found.append(self._carry(problem))
                except NumError as error:
                    raise type(error)(f"scenario {number}: {error}") from None
                if shown is not None:
                    shown.show(len(found))
        finally:
            if shown is not None:
                shown.close()
        return found

    def value(self, found: MulticommodityFlow, flows: NDArray[np.bool_]) -> float:
        """The fraction or the utilization; nan for no flows."""
        value = found.fraction if self._is_fraction else found.utilization
        return value if flows.any() else float("nan")


def has_answer(solution: Solution | MulticommodityFlow) -> bool:
    """Whether there were rates with a bound of their gap before the time was up, and floors fit."""
    if isinstance(solution, MulticommodityFlow):
        return True
    if solution.status == "infeasible" or solution.method == "none":
        return False
    return not (solution.status == "time_limit" and np.isinf(solution.gap))


def is_finished(solution: Solution) -> bool:
    """Whether the solve went as far as it can."""
    return solution.status in ("optimal", "stalled", "fewer_paths")
