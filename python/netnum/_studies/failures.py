"""The effect of failures of links, on the flows that all scenarios serve."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._arguments import expect_problem, refuse_options
from .._core import NumError, Problem, Solution
from .._link_sets import LinkSets, is_made_of_fibers, link_sets
from .._messages import counted, did_you_mean
from .._multicommodity_flow import MulticommodityFlow
from .._show import frames, plots
from .rerouting import Reroute, Rerouted
from .study import CarriedCases, Cases, SolvedCases, Study, has_answer

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


OBJECTIVES = ("utility", "concurrent_flow", "min_utilization")
"""What scenarios are compared by."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class FailureStudy(Study):
    """Scenarios of failure compared with the network as it is.

    A flow whose every path fails has rate 0 and leaves `Solution.objective`, so that objectives of two scenarios are
    sums over different flows. Here every scenario is compared on the flows that the network as it is serves and that
    have a path left: ``after`` and ``before`` are sums over these, and the worst ratios are theirs. `common_flows` are
    served in every scenario.

    A flow that has a path left, and that the classes before it or the floors of others leave nothing, is not cut off
    but starved: it is compared with a rate of 0, at which most utilities are -inf, and so is ``after`` then.

    A scenario whose time limit came before there was an answer is unsolved, and one in which the floors do not fit is
    infeasible: their ``after``, ``throughput`` and ``worst_ratio`` are nan.

    Examples
    --------
    >>> problem = netnum.Problem([4.0, 4.0], [[0], [0], [0, 1]], netnum.AlphaFair(1.0))
    >>> study = netnum.failure_study(problem, failures=[1])
    >>> study.cut_off, study.solutions[0].flow_rates.round(3)
    ((array([2]),), array([2., 2., 0.]))
    """

    failures: tuple[list[int], ...]
    """The links that fail, per scenario; `failure_study` takes them again."""
    objective: Literal["utility", "concurrent_flow", "min_utilization"]
    """What scenarios are compared by."""
    before_failures: Solution | MulticommodityFlow
    """Of the network as it is."""
    solutions: tuple[Solution | MulticommodityFlow, ...]
    """Of every scenario: a `MulticommodityFlow` each, where the objective is not the utility."""
    cut_off: tuple[NDArray[np.int64], ...]
    """The flows that have no path left, per scenario."""
    starved: tuple[NDArray[np.int64], ...]
    """The flows that have a path left, and that the classes before them or the floors of others leave nothing, per
    scenario."""
    common_flows: NDArray[np.int64]
    """The flows that every scenario serves, and the network as it is."""
    before: NDArray[np.float64]
    """Utility less costs, in the network as it is, of the flows that it serves and that have a path left: shape
    (scenarios,). For max-min problems the smallest fair share, nan where there are no such flows; a class of max-min
    beside others counts by its smallest fair share, as in `Solution.objective`. With another `objective` the fraction
    of all demands, or the utilization."""
    after: NDArray[np.float64]
    """Utility of the same flows in the scenario: shape (scenarios,), -inf where a flow is starved that is worth that at
    a rate of 0. For max-min problems the smallest fair share. With another `objective` the fraction or the utilization
    of the demands that are served there."""
    worst_ratio_before: NDArray[np.float64]
    """The smallest ratio of rate to demand (`Problem.flow_cap`), in the network as it is, of the flows that it serves
    and that have a path left: shape (scenarios,), nan where none of them has a demand."""
    worst_ratio: NDArray[np.float64]
    """The smallest ratio of rate to demand of the same flows in the scenario, 0 where one is starved: shape
    (scenarios,)."""
    floor_fraction: NDArray[np.float64] | None
    """The largest part of all floors that fits at once, 1 where they fit: shape (scenarios,), nan where the time was
    up. None for a problem without floors, and with another `objective`."""
    broken_floors: tuple[NDArray[np.int64], ...]
    """The flows whose floors do not fit together (`Infeasibility.flows`), per scenario, none where they fit. Empty for
    a problem without floors, and with another `objective`."""
    floors_cut_off: tuple[NDArray[np.int64], ...]
    """The flows with a floor among those in `cut_off`, which does not count there, per scenario. Empty for a problem
    without floors, and with another `objective`."""
    priorities: NDArray[np.float64] | None
    """The priorities, smaller first. None for a problem without them, and with another `objective`."""
    class_before: NDArray[np.float64] | None
    """`before` of the flows of each priority: shape (scenarios, priorities), or None."""
    class_after: NDArray[np.float64] | None
    """`after` of the flows of each priority: shape (scenarios, priorities), or None."""
    without_rerouting: FailureStudy | None
    """Where traffic is routed anew in every scenario, that of pairs or by `reroute`, the same scenarios on the paths
    that carried it before, each flow on those that are left to it. None for a problem of paths without `reroute`, and
    where the study is made without it."""

    @property
    def _before(self) -> Solution | MulticommodityFlow:
        return self.before_failures

    @property
    def status(self) -> list[str]:
        """The status of the solution of every scenario."""
        return [solution.status for solution in self.solutions]

    @property
    def unsolved(self) -> NDArray[np.int64]:
        """The scenarios whose time limit came before there was an answer."""
        return np.flatnonzero([not has_answer(one) and one.status != "infeasible" for one in self.solutions])

    @property
    def infeasible(self) -> NDArray[np.int64]:
        """The scenarios in which the floors do not fit."""
        return np.flatnonzero([status == "infeasible" for status in self.status])

    def to_pandas(self) -> pandas.DataFrame:
        """A row per scenario, in their order.

        Its columns: the name and the links, how many flows and which are cut off, how many are starved, utility before
        and after of those that are not cut off, the sum of all rates, and the worst ratios of rate to demand. Where
        traffic is routed anew also how many flows are cut off, the sum and the worst ratio on the paths of before, as
        ``throughput_without_rerouting``.
        Where there are floors, the part of all of them that fits, the flows whose floors do not fit together, and those
        with a floor that are cut off; where there are priorities, before and after of each of them, as
        ``before_priority_0``.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        columns: dict[str, Any] = {
            "failure": self.names,
            "links": list(map(tuple, self.failures)),
            "status": self.status,
            "cut_off": [len(flows) for flows in self.cut_off],
            "flows_cut_off": [flows.tolist() for flows in self.cut_off],
            "starved": [len(flows) for flows in self.starved],
            "before": self.before,
            "after": self.after,
            "change": self.after - self.before,
            "throughput": self.throughput,
            "throughput_change": self.throughput_change,
            "worst_ratio_before": self.worst_ratio_before,
            "worst_ratio": self.worst_ratio,
        }
        if self.without_rerouting is not None:
            kept = self.without_rerouting
            columns["cut_off_without_rerouting"] = [len(flows) for flows in kept.cut_off]
            columns["throughput_without_rerouting"] = kept.throughput
            columns["worst_ratio_without_rerouting"] = kept.worst_ratio
        if self.floor_fraction is not None:
            columns["floor_fraction"] = self.floor_fraction
            columns["broken_floors"] = [flows.tolist() for flows in self.broken_floors]
            columns["floors_cut_off"] = [flows.tolist() for flows in self.floors_cut_off]
        if self.priorities is not None and self.class_before is not None and self.class_after is not None:
            for number, priority in enumerate(self.priorities):
                columns[f"before_priority_{priority:g}"] = self.class_before[:, number]
                columns[f"after_priority_{priority:g}"] = self.class_after[:, number]
        return frames.table(columns)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        of: Literal["throughput", "utility", "worst_ratio"] | None = None,
        most: int = 20,
    ) -> Axes:
        """Draw the worst scenarios as bars, the worst at the top, with how many flows each cuts off and starves.

        A change of utility to -inf has no bar. Bars of scenarios whose solution is not optimal are hatched. Those that
        are unsolved, or in which the floors do not fit, come last, and the title has their numbers.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        of : {"throughput", "utility", "worst_ratio"}, optional
            The quantity to draw: the change of the sum of all rates, that of the utility of the flows not cut off, or
            their worst ratio of rate to demand. With another `objective` its change stands in the place of the utility,
            and is drawn by default; otherwise the throughput is.
        most : int
            The largest number of scenarios that are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        NumError
            For another `of`, a `most` below 1, and for ratios where no flow has a demand.
        ImportError
            Without matplotlib: ``pip install "netnum[plot]"``.
        """
        return plots.failures(self, ax, of, most)

    def __repr__(self) -> str:
        optimal = sum(solution.is_optimal for solution in self.solutions)
        counts = [counted(len(self.failures), "scenario"), f"{optimal} optimal"]
        if len(self.unsolved):
            counts.append(f"{len(self.unsolved)} unsolved")
        if len(self.infeasible):
            counts.append(f"{len(self.infeasible)} infeasible")
        answered = [one.status for one in self.solutions if has_answer(one) and not one.is_optimal]
        counts += [f"{number} {status}" for status, number in Counter(answered).items() if status != "infeasible"]
        parts = [", ".join(counts)]
        cut_off = [len(flows) for flows in self.cut_off]
        if any(cut_off):
            most = int(np.argmax(cut_off))
            parts.append(f"up to {counted(cut_off[most], 'flow')} cut off by {self.names[most]}")
        else:
            parts.append("no flow cut off")
        starved = [len(flows) for flows in self.starved]
        if any(starved):
            most = int(np.argmax(starved))
            parts.append(f"up to {counted(starved[most], 'flow')} starved by {self.names[most]}")
        if self.objective == "min_utilization":
            if not np.isnan(self.after).all():
                worst = int(np.nanargmax(self.after))
                parts.append(f"utilization up to {self.after[worst]:.4g} by {self.names[worst]}")
            return f"FailureStudy({'; '.join(parts)})"
        whole = self.before_failures.flow_rates.sum()
        if whole > 0 and not np.isnan(self.throughput).all():
            worst = int(np.nanargmin(self.throughput))
            parts.append(f"down to {100 * self.throughput[worst] / whole:.1f} % of throughput by {self.names[worst]}")
        return f"FailureStudy({'; '.join(parts)})"


def failure_study(
    problem: Problem,
    failures: LinkSets | None = None,
    method: str = "auto",
    *,
    objective: Literal["utility", "concurrent_flow", "min_utilization"] = "utility",
    tol: float = 1e-6,
    stop: Literal["rates", "gap", "kkt"] = "rates",
    max_iterations: int = 20000,
    time_limit: float | None = None,
    warm_start: Solution | ArrayLike | None = None,
    reroute: Reroute | None = None,
    without_rerouting: bool = True,
    progress: bool = False,
    threads: int | None = None,
    **options: float,
) -> FailureStudy:
    """Solve a problem with links failed, scenario by scenario, and compare on the flows that are served.

    Parameters
    ----------
    problem : Problem
        Its demands, where it has any, are its `Problem.flow_cap`.
    failures : {"links", "fibers", "nodes"}, or iterable, or mapping of names to links, optional
        The links that fail per scenario, whose capacity becomes 0: every link alone; every fiber, which is all links
        between the same two nodes, both ways; every node with all its links; or, per scenario, a link or a sequence of
        links. By default every fiber where the problem has a `Topology` made of fibers, in which every link has one
        back, else every link. A link is its number or its name as in `Topology.link_names`; the name of a fiber,
        ``"Denver - Kansas City"``, is all its links. A pair of nodes is the fiber that joins them, where edges work
        both ways; where the `Topology` is `directed`, the link from the first to the second. A flat pair of numbers is
        two links, a flat pair of names of nodes is one. Names need a problem made with a `Topology`.
    objective : {"utility", "concurrent_flow", "min_utilization"}, default "utility"
        What scenarios are compared by: the utility that `solve` finds; or how much of all demands is left, as
        `netnum.concurrent_flow` finds, or how full links get, as `netnum.min_utilization` does. These are exact, one
        after the other, and take `progress` only.
    method, tol, stop, max_iterations, time_limit, progress, threads, **options
        As in `solve_many`.
    warm_start : Solution, or array of float of shape (links,), optional
        The start for the network as it is, as in `solve`. Every scenario starts from its prices.
    reroute : callable, optional
        What finds the paths again in every scenario, as routers do after a failure: a function of the network without
        the failed links, `Topology.without`, and of the pairs of node names that it still joins, in the order of the
        flows, ``lambda net, pairs: net.ecmp_split(pairs, weight="cost")``. It returns the `Paths` of the pairs, or what
        `Topology.k_shortest_paths` does. A flow whose ends the network no longer joins is cut off, and one all of whose
        new paths cross a failed link. By default a problem of paths keeps them.
    without_rerouting : bool, default True
        Where traffic is routed anew, that of a problem of pairs or by `reroute`: whether to solve every scenario on the
        paths that carried the traffic before as well, for `FailureStudy.without_rerouting`. It takes as many solves
        again, each over these paths alone, which takes a fraction of the time of one over all paths.

    Returns
    -------
    FailureStudy

    Raises
    ------
    NumError
        For a link or a node that does not exist, naming the scenario; when the time limit came before there was an
        answer to the network as it is, and when the floors do not fit there; for another `objective`, and one with a
        setting of `solve`; for a `reroute` of a problem of pairs, without a `Topology`, or with caps or costs of paths,
        and where its paths do not join their pairs, naming the scenario; and the errors of `solve_many`,
        `concurrent_flow` and `min_utilization`.
    TypeError
        For a `reroute` that is no function or does not return `Paths`.

    Notes
    -----
    Scenarios keep the paths, and the caps of paths and flows: a flow is cut off where none of its paths is left, though
    the network may have others. A path that is split, as by `Topology.ecmp_split`, fails whole with any of its links.
    With `reroute` every scenario has the paths that the function finds on what is left; of a problem of pairs it has
    all paths that are left. A flow is cut off there where the network no longer joins its ends, and
    `FailureStudy.without_rerouting` is the study of the same scenarios on the paths that carried the traffic before.
    The flows that are left may gain by a failure that cuts others off: read ``after - before`` together with
    ``cut_off`` and ``throughput``.

    Max-min problems are compared by the smallest fair share, the least rate per weight. With weights of 1 that is the
    least rate of all, which the smallest demand bounds in every scenario. With the demands as weights it is the
    least part of a demand that is carried: ``problem.with_utility(AlphaFair(np.inf, weight=problem.flow_cap))``.
    Losses show in `worst_ratio` and `throughput` in any case.

    Floors stay, but for those of flows that are cut off, which ``floors_cut_off`` has. Where the others do not fit,
    ``status`` is ``"infeasible"``, ``floor_fraction`` the largest part of all floors that fits, and ``broken_floors``
    has the flows in the proof. A flow without a floor is starved where the floors of others leave it nothing and its
    utility is worth -inf then, and so is one that the classes before it leave nothing. With priorities ``class_before``
    and ``class_after`` compare each class, one of max-min by its smallest fair share.

    Examples
    --------
    Of two flows that share link 0 the second may also take link 1; the third has nothing but link 1.

    >>> problem = netnum.Problem([2.0, 2.0], [[0], [0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1, 2])
    >>> study = netnum.failure_study(problem, [0, 1])
    >>> [flows.tolist() for flows in study.cut_off], study.common_flows.tolist()
    ([[0], [2]], [1])
    >>> study.throughput.round(3)
    array([2., 2.])

    Every fiber of a backbone, and the one without which least is carried:

    >>> net = netnum.topology.backbone("abilene")
    >>> demands = netnum.demands.gravity(net, total=80_000)
    >>> problem = netnum.Problem(net, net.k_shortest_paths(demands, 4))
    >>> study = netnum.failure_study(problem)
    >>> len(study.names), study.names[study.throughput.argmin()]
    (14, 'Kansas City - Indianapolis')

    The fiber without which the links get fullest, if all demands are carried:

    >>> study = netnum.failure_study(problem, objective="min_utilization")
    >>> worst = study.after.argmax()
    >>> print(study.names[worst], study.before[worst].round(3), study.after[worst].round(3))
    Kansas City - Indianapolis 1.065 2.13

    How many flows a failure cuts off at most if traffic is routed anew, and on the paths of before:

    >>> study = netnum.failure_study(netnum.Problem(net, demands))
    >>> max(map(len, study.cut_off)), max(map(len, study.without_rerouting.cut_off))
    (0, 6)

    How much is lost at most where routers split traffic over shortest paths again, and where they do not:

    >>> routed = netnum.Problem(net, net.ecmp_split(demands))
    >>> study = netnum.failure_study(routed, reroute=lambda net, pairs: net.ecmp_split(pairs))
    >>> print(study.throughput_change.min().round(), study.without_rerouting.throughput_change.min().round())
    -15180.0 -20208.0
    """
    expect_problem(problem, "failure_study")
    refuse_options("failure_study", options)
    given = ("fibers" if is_made_of_fibers(problem) else "links") if failures is None else failures
    names, scenarios = link_sets(problem, given, "failures", "scenario", fail=True)
    settings: dict[str, Any] = {"tol": tol, "stop": stop, "max_iterations": max_iterations, "time_limit": time_limit}
    if objective not in OBJECTIVES:
        near = did_you_mean(str(objective), OBJECTIVES)
        expected = ", ".join(map(repr, OBJECTIVES))
        raise NumError(f"objective is {objective!r}, expected {expected}{f', {near}' if near else ''}")

    def without(of: Problem) -> list[Problem]:
        def with_failed(links: tuple[int, ...]) -> Problem:
            left = of.capacities.copy()
            left[list(links)] = 0.0
            return of.with_capacities(left)

        return list(map(with_failed, scenarios))

    def cases_of(of: Problem, start: Solution | ArrayLike | None) -> Cases:
        if objective == "utility":
            return SolvedCases(of, method, start, settings | options)
        defaults: dict[str, Any] = failure_study.__kwdefaults__ or {}
        others = {"method": method != "auto", "warm_start": warm_start is not None, "threads": threads is not None}
        others |= {name: value != defaults[name] for name, value in settings.items()}
        for name in [name for name, is_given in others.items() if is_given] + list(options):
            raise NumError(f"{name} is a setting of solve, and {objective!r} is found exactly, without it")
        return CarriedCases(of, objective)

    def study(of: Problem, cases: Cases, problems: list[Problem]) -> FailureStudy:
        solutions = cases.solve(problems, progress, threads)
        return _compared(of, names, scenarios, objective, cases, solutions)

    anew = None if reroute is None else Rerouted(problem, reroute)
    cases = cases_of(problem, warm_start)
    if anew is None:
        problems = without(problem)
    else:
        problems = [anew.without(*scenario) for scenario in zip(names, scenarios, strict=True)]
    found = study(problem, cases, problems)
    if not without_rerouting:
        return found
    if anew is not None:
        kept = study(problem, cases, without(problem))
    elif problem.paths is None and cases.before.problem is not None:
        over = cases.before.problem
        again = cases_of(over, cases.before if isinstance(cases.before, Solution) else None)
        kept = study(over, again, without(over))
    else:
        return found
    return replace(found, without_rerouting=kept)


def _compared(
    problem: Problem,
    names: tuple[str, ...],
    scenarios: tuple[tuple[int, ...], ...],
    objective: Literal["utility", "concurrent_flow", "min_utilization"],
    cases: Cases,
    solutions: list[Any],
) -> FailureStudy:
    """The study of scenarios, of which these are the solutions."""
    serves = cases.is_joined(cases.before) & ~cases.is_starved(cases.before)
    both = [serves & cases.is_joined(solution) for solution in solutions]
    compared = list(zip(solutions, both, strict=True))
    has_answers = np.array([has_answer(solution) for solution in solutions], dtype=bool)
    is_starved = [
        flows & cases.is_starved(solution) if answered else np.zeros_like(flows)
        for (solution, flows), answered in zip(compared, has_answers, strict=True)
    ]
    still = [flows & ~starved for flows, starved in zip(both, is_starved, strict=True)]

    def known(values: list[float]) -> NDArray[np.float64]:
        return np.where(has_answers, values, np.nan)

    more: dict[str, Any] = dict.fromkeys(("floor_fraction", "priorities", "class_before", "class_after"))
    more["broken_floors"] = more["floors_cut_off"] = ()
    cut_off = tuple(np.flatnonzero(serves & ~flows) for flows in both)
    if objective == "utility" and problem.flow_floor is not None:
        proofs = [solution.infeasibility if solution.status == "infeasible" else None for solution in solutions]
        more["floor_fraction"] = np.array(
            [
                proof.fraction if proof is not None else 1.0 if answered else np.nan
                for proof, answered in zip(proofs, has_answers, strict=True)
            ]
        )
        more["broken_floors"] = tuple(np.empty(0, int) if proof is None else proof.flows for proof in proofs)
        more["floors_cut_off"] = tuple(flows[problem.flow_floor[flows] > 0] for flows in cut_off)
    if isinstance(cases, SolvedCases) and problem.priority is not None:
        priorities = np.unique(problem.priority)
        shape = (len(solutions), len(priorities))
        before = np.array([cases.class_values(cases.before, flows) for flows in both]).reshape(shape)
        after = np.array([cases.class_values(solution, flows) for solution, flows in compared]).reshape(shape)
        more["priorities"], more["class_before"] = priorities, before
        more["class_after"] = np.where(has_answers[:, None], after, np.nan)
    return FailureStudy(
        names=names,
        failures=tuple(map(list, scenarios)),
        objective=objective,
        before_failures=cases.before,
        solutions=tuple(solutions),
        cut_off=cut_off,
        starved=tuple(map(np.flatnonzero, is_starved)),
        common_flows=np.flatnonzero(np.logical_and.reduce([serves, *still])),
        before=np.array([cases.value(cases.before, flows) for flows in both]),
        after=known([cases.value(solution, flows) for solution, flows in compared]),
        throughput=known([float(np.sum(solution.flow_rates)) for solution in solutions]),
        worst_ratio_before=np.array([cases.worst_ratio(cases.before, flows) for flows in both]),
        worst_ratio=known([cases.worst_ratio(solution, flows) for solution, flows in compared]),
        without_rerouting=None,
        **more,
    )
