"""Comparing solutions on some of their flows: utility and ratios of rate to demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._core import NumError, Problem, Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray


def has_answer(solution: Solution) -> bool:
    """Whether there were rates with a bound of their gap before the time was up."""
    return solution.method != "none" and not (solution.status == "time_limit" and np.isinf(solution.gap))


def is_finished(solution: Solution) -> bool:
    """Whether the solve went as far as it can."""
    return solution.status in ("optimal", "stalled")


def expect_answer(solution: Solution) -> None:
    """Raises NumError where the network as it is has none, and there is nothing to compare with."""
    if not has_answer(solution):
        what = "the time was up before there was an answer to the network as it is"
        raise NumError(f"{what}: give a longer time_limit")


def served(problem: Problem, solution: Solution) -> NDArray[np.bool_]:
    """Whether the network serves each flow."""
    flows = np.ones(problem.flows, dtype=bool)
    flows[solution.failed_flows] = False
    return flows


def utility_of(problem: Problem, solution: Solution, flows: NDArray[np.bool_]) -> float:
    """Utility of some flows; for max-min problems their smallest fair share, nan for no flows."""
    values = problem.values(solution.flow_rates)[flows]
    if solution.method == "max-min":
        return float(values.min()) if len(values) else float("nan")
    return float(values.sum())


def worst_ratio(problem: Problem, solution: Solution, flows: NDArray[np.bool_]) -> float:
    """The smallest ratio of rate to demand among some flows; nan where none of them has a demand above 0."""
    if problem.flow_cap is None:
        return float("nan")
    flows = flows & (problem.flow_cap > 0) & np.isfinite(problem.flow_cap)
    return float(np.min(solution.flow_rates[flows] / problem.flow_cap[flows])) if flows.any() else float("nan")
