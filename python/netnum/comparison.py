"""Comparing solutions on some of their flows: utility and ratios of rate to demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ._core import NumError, Problem, Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray


def expect_rates(names: Iterable[str], solutions: Iterable[Solution]) -> None:
    """Raises NumError, naming the first solution whose time limit came before there were any rates."""
    for name, solution in zip(names, solutions, strict=True):
        if solution.method == "none":
            raise NumError(f"the time was up before there was an answer to {name}: give a longer time_limit")


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
