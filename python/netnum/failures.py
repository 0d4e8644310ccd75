"""What failures of links cost, on the flows that all scenarios serve."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import NumError, Problem, Solution, solve, solve_many

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class FailureStudy:
    """Scenarios of failure beside the network as it is.

    A flow whose every path fails has rate 0 and leaves `Solution.objective`, so that objectives of two scenarios are
    sums over different flows. Here every scenario is compared on the flows that it and the network as it is both serve:
    ``after`` and ``before`` are sums over these. `common_flows` are served in every scenario.
    """

    failures: tuple[tuple[int, ...], ...]
    """The links that fail, per scenario."""
    before_failures: Solution
    """Of the network as it is."""
    solutions: tuple[Solution, ...]
    """Of every scenario."""
    cut_off: tuple[NDArray[np.int64], ...]
    """The flows that a scenario no longer serves, per scenario."""
    common_flows: NDArray[np.int64]
    """The flows that every scenario serves, and the network as it is."""
    before: NDArray[np.float64]
    """Utility, in the network as it is, of the flows that it and the scenario both serve: shape (scenarios,). For
    max-min problems the smallest fair share."""
    after: NDArray[np.float64]
    """Utility of the same flows in the scenario: shape (scenarios,). For max-min problems the smallest fair share."""
    throughput: NDArray[np.float64]
    """Sum of all rates with the links failed, per scenario."""

    @property
    def status(self) -> list[str]:
        """How the solve of every scenario ended."""
        return [solution.status for solution in self.solutions]

    def to_pandas(self) -> pd.DataFrame:
        """A row per scenario: the links, how many flows and which are cut off, utility before and after of those still
        served, and the sum of all rates.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        import pandas as pd

        columns = {
            "links": self.failures,
            "status": self.status,
            "cut_off": [len(flows) for flows in self.cut_off],
            "flows_cut_off": [flows.tolist() for flows in self.cut_off],
            "before": self.before,
            "after": self.after,
            "change": self.after - self.before,
            "throughput": self.throughput,
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        worst = max((len(flows) for flows in self.cut_off), default=0)
        optimal = sum(solution.is_optimal for solution in self.solutions)
        count = len(self.failures)
        flows = "flow" if worst == 1 else "flows"
        return f"FailureStudy({count} scenarios, {optimal} optimal, up to {worst} {flows} cut off)"


def failure_study(
    problem: Problem, failures: Iterable[int | Sequence[int]], *, progress: bool = False, **settings: Any
) -> FailureStudy:
    """Solve a problem with links failed, scenario by scenario, and compare on the flows that are served.

    Parameters
    ----------
    problem : Problem
    failures : iterable of int or of sequences of int
        Per scenario the link, or the links, whose capacity becomes 0.
    progress : bool
        Whether to show a progress bar on stderr.
    **settings
        Those of `solve_many`: ``method``, ``tol``, ``stop``, ``threads``, ...

    Returns
    -------
    FailureStudy

    Raises
    ------
    NumError
        For a link that does not exist, naming the scenario; and what `solve_many` raises.

    Notes
    -----
    Every scenario starts from the prices of the network as it is, and keeps its caps of paths and flows. The flows that
    are still served may gain by a failure, where those that it cuts off leave them room: read ``after - before`` beside
    ``cut_off`` and ``throughput``.

    Examples
    --------
    Of two flows that share link 0 the second may also take link 1; the third has nothing but link 1.

    >>> problem = netnum.Problem([2.0, 2.0], [[0], [0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1, 2])
    >>> study = netnum.failure_study(problem, [0, 1])
    >>> [flows.tolist() for flows in study.cut_off], study.common_flows.tolist()
    ([[0], [2]], [1])
    >>> study.throughput.round(3)
    array([2., 2.])
    """
    scenarios = tuple(_links_of(problem, number, links) for number, links in enumerate(failures))
    whole = solve(problem, **{name: value for name, value in settings.items() if name != "threads"})
    capacities = np.array(problem.capacities)
    problems = []
    for links in scenarios:
        left = capacities.copy()
        left[list(links)] = 0.0
        problems.append(problem.with_capacities(left))
    solutions = tuple(solve_many(problems, warm_start=whole, progress=progress, **settings))
    for number, solution in enumerate((whole, *solutions)):
        if solution.method == "none":
            what = f"scenario {number - 1}" if number else "the network as it is"
            raise NumError(f"the time was up before there was an answer to {what}: give a longer time_limit")

    served = np.ones((1 + len(scenarios), problem.flows), dtype=bool)
    for row, solution in zip(served, (whole, *solutions), strict=True):
        row[solution.failed_flows] = False
    in_all = [problem.values(solution.flow_rates) for solution in (whole, *solutions)]
    max_min = whole.method == "max-min"

    def total(values: NDArray[np.float64], flows: NDArray[np.bool_]) -> float:
        if max_min:
            return float(np.min(values[flows], initial=np.inf))
        return float(np.sum(values[flows]))

    both = [served[0] & row for row in served[1:]]
    return FailureStudy(
        failures=scenarios,
        before_failures=whole,
        solutions=solutions,
        cut_off=tuple(np.flatnonzero(served[0] & ~row) for row in served[1:]),
        common_flows=np.flatnonzero(served.all(axis=0)),
        before=np.array([total(in_all[0], flows) for flows in both]),
        after=np.array([total(values, flows) for values, flows in zip(in_all[1:], both, strict=True)]),
        throughput=np.array([float(np.sum(solution.flow_rates)) for solution in solutions]),
    )


def _links_of(problem: Problem, scenario: int, links: int | Sequence[int]) -> tuple[int, ...]:
    listed = [operator.index(link) for link in np.atleast_1d(np.asarray(links))]
    for link in listed:
        if not 0 <= link < problem.links:
            raise NumError(f"scenario {scenario} names link {link}, and there are {problem.links} links")
    return tuple(listed)
