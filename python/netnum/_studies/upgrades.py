"""The links whose upgrades gain the most utility: by their prices, and checked by solving again."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._arguments import expect_problem, refuse_options
from .._core import NumError, Problem, ProblemError, Solution
from .._link_sets import LinkSets, link_sets
from .._messages import counted
from .._show import frames, plots
from .study import SolvedCases, Study, has_answer, is_finished

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

#: A link that is idle by no more than this part of its capacity is full, where rates are exact and where they are not.
FULL, NEARLY_FULL = 1e-6, 1e-2


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class UpgradeStudy(Study):
    """Upgrades of links: upper bounds of their gains by prices, and the gains of those that were solved again.

    Arrays have one entry per upgrade, in the order in which these were given; `ranking` is the best first. Where a
    limit cut a solve short, ``gained`` is nan: of all upgrades, where it was that of the network as it is.

    Examples
    --------
    >>> problem = netnum.Problem([1.0, 4.0, 8.0], [[0, 1], [1, 2], [2]], netnum.AlphaFair(1.0))
    >>> study = netnum.upgrade_study(problem, added=1.0)
    >>> study.names[study.ranking[0]], study.is_proven
    ('link 0', True)
    """

    upgrades: tuple[list[int], ...]
    """The links that get more capacity, per upgrade; `upgrade_study` takes them again."""
    added: NDArray[np.float64]
    """The sum of the capacities that are added."""
    before_upgrades: Solution
    """Of the network as it is."""
    solutions: tuple[Solution | None, ...]
    """Of every upgrade that was solved again."""
    predicted: NDArray[np.float64]
    """Sum of price times added capacity over the links: an upper bound of the gain. For max-min problems, those with
    priorities and those that starve flows, whose prices are no bound of it, inf where one of the links is full and 0
    elsewhere."""
    gained: NDArray[np.float64]
    """The gain of utility, nan for an upgrade that was not solved again, and where its solve or that of the network as
    it is was cut short. For max-min problems the gain of the smallest fair share. It is inf for an upgrade that gives
    something to flows that have a path and nothing (all is full of the classes before them or of floors), which are
    worth -inf then, and -inf for one that starves flows."""
    worst_ratio: NDArray[np.float64]
    """The smallest ratio of rate to demand (`Problem.flow_cap`) after the upgrade, over the flows that have a path; nan
    for one that was not solved again, and without demands."""

    @property
    def _before(self) -> Solution:
        return self.before_upgrades

    @property
    def ranking(self) -> NDArray[np.int64]:
        """The upgrades, the best first.

        Those solved again come by what they gained, and of equal ones by throughput; then the others by their
        prediction.
        """
        checked = ~np.isnan(self.gained)
        gain = np.where(checked, self.gained, self.predicted)
        return np.lexsort((-np.nan_to_num(self.throughput), -gain, ~checked))

    @property
    def is_proven(self) -> bool:
        """Whether the best upgrade that was solved again is the best of all: none of the others can gain as much.

        Up to what the solves leave open, their gaps. False where that of the network as it is was cut short.
        """
        if not is_finished(self.before_upgrades):
            return False
        checked = ~np.isnan(self.gained)
        best = np.max(self.gained[checked], initial=0.0)
        others = self.predicted[~checked]
        return bool(np.all((others <= best) & np.isfinite(others)))

    def to_pandas(self) -> pandas.DataFrame:
        """A row per upgrade, the best first; its index is the place among the upgrades given.

        Its columns: the name and the links, the capacity added to all of them together (a fiber has two links), the
        mean price of a unit of it, what that predicts at most, what is gained in utility, and the sum of all rates and
        the worst ratio of rate to demand afterwards.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        columns = {
            "upgrade": self.names,
            "links": list(map(tuple, self.upgrades)),
            "added": self.added,
            "price": np.divide(self.predicted, self.added, out=np.zeros(len(self.added)), where=self.added > 0),
            "predicted": self.predicted,
            "gained": self.gained,
            "throughput": self.throughput,
            "throughput_change": self.throughput_change,
            "worst_ratio": self.worst_ratio,
        }
        return frames.table(columns).iloc[self.ranking]

    def plot(self, ax: Axes | None = None, *, most: int = 20) -> Axes:
        """Draw the best upgrades as bars, the best at the top: the gain, in front of its upper bound.

        Upgrades that were not solved again or were cut short have no gain, which stands beside their bars; the title
        says where the best is not proven.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        most : int
            The largest number of upgrades that are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        NumError
            For a `most` below 1.
        ImportError
            Without matplotlib: ``pip install "netnum[plot]"``.
        """
        return plots.upgrades(self, ax, most)

    def __repr__(self) -> str:
        checked = [number for number in self.ranking if not np.isnan(self.gained[number])]
        parts = [counted(len(self.names), "upgrade"), f"{len(checked)} checked"]
        cut_short = sum(solution is not None and not is_finished(solution) for solution in self.solutions)
        if cut_short:
            parts.append(f"{cut_short} cut short")
        if not self.before_upgrades.is_optimal:
            parts.append(f"the network as it is not optimal ({self.before_upgrades.status})")
        best = checked[0] if checked else None
        if best is not None and self.gained[best] <= 0:
            parts.append("none gains")
        elif best is not None:
            predicted = self.predicted[best]
            most = f" of at most {predicted:.4g}" if np.isfinite(predicted) else ""
            parts.append(f"best {self.names[best]}: {self.gained[best]:.4g}{most}")
        if best is not None and not self.is_proven:
            parts.append("not proven to be the best" if self.gained[best] > 0 else "others may")
        return f"UpgradeStudy({', '.join(parts)})"


def upgrade_study(
    problem: Problem,
    upgrades: LinkSets = "links",
    method: str = "auto",
    *,
    added: ArrayLike | None = None,
    check: int = 10,
    tol: float = 1e-6,
    stop: Literal["rates", "gap", "kkt"] = "rates",
    max_iterations: int = 20000,
    time_limit: float | None = None,
    warm_start: Solution | ArrayLike | None = None,
    progress: bool = False,
    threads: int | None = None,
    **options: float,
) -> UpgradeStudy:
    """Rank upgrades of links by the utility that they gain: by prices first, and the best ones solved again.

    Parameters
    ----------
    problem : Problem
    upgrades : {"links", "fibers", "nodes"}, or iterable, or mapping of names to links
        The candidates, named as in `failure_study`: the links of each get more capacity together. Of the words, links
        that have failed (capacity 0) or have no limit are left out.
    added : float, or array of float of shape (links,), optional
        The capacity that is added to a link when it is upgraded, > 0. By default its capacity is doubled.
    check : int
        The number of candidates that are solved again, those with the largest predictions, above `tol` of the largest
        of all. Where prices are no bound, all that have a full link are: of max-min problems, those with priorities,
        and those in which floors leave flows nothing.
    method, tol, stop, max_iterations, time_limit, progress, threads, **options
        As in `solve_many`.
    warm_start : Solution, or array of float of shape (links,), optional
        The start for the network as it is, as in `solve`. Every upgrade starts from its prices.

    Returns
    -------
    UpgradeStudy

    Raises
    ------
    NumError
        For a link or a node that does not exist and for a link that has failed, naming the upgrade; for a `check`
        below 0; when the time limit came before there was an answer to the network as it is; and the errors of
        `solve_many`.
    ProblemError
        For an `added` of another length, or that is not finite and above 0, naming the link.

    Notes
    -----
    The best utility V is concave in the capacities c, and the prices p of the links are a slope of it, so that
    V(c + Δ) <= V(c) + p·Δ: no upgrade gains more than price times added capacity, up to the gap of the solution.
    The first units gain that much and later ones less, which is why the candidates are solved again. When the best of
    them gains more than is predicted of all others, it is the best of all (`UpgradeStudy.is_proven`).

    A problem of pairs is solved over all paths again, the network as it is and every candidate that is checked.

    With priorities V is no concave function, as a class that gains takes from later ones: a gain may be negative.

    Links that have failed are refused, since flows that are served again change the sum of utilities.

    Max-min problems are compared by the smallest fair share, the least rate per weight. With weights of 1 that is the
    least rate of all, which the smallest demand bounds in every case. With the demands as weights it is the least part
    of a demand that is carried: ``problem.with_utility(AlphaFair(np.inf, weight=problem.flow_cap))``.
    Gains show in `worst_ratio` and `throughput` in any case.

    Examples
    --------
    >>> problem = netnum.Problem([1.0, 4.0, 8.0], [[0, 1], [1, 2], [2]], netnum.AlphaFair(1.0))
    >>> study = netnum.upgrade_study(problem, added=1.0, check=2)
    >>> study.ranking, study.is_proven
    (array([0, 2, 1]), True)
    >>> study.predicted.round(3), study.gained.round(3)
    (array([0.867, 0.133, 0.2  ]), array([0.47 ,   nan, 0.182]))
    """
    expect_problem(problem, "upgrade_study")
    refuse_options("upgrade_study", options)
    if operator.index(check) < 0:
        raise NumError(f"check is {check}, expected at least 0")
    names, sets = _that_work(problem, upgrades)
    more = _added(problem, added)
    settings: dict[str, Any] = {"tol": tol, "stop": stop, "max_iterations": max_iterations, "time_limit": time_limit}
    settings |= options
    cases = SolvedCases(problem, method, warm_start, settings)
    whole = cases.before
    flows = cases.is_joined(whole)
    if whole.method == "max-min" or problem.priority is not None or cases.is_starved(whole).any():
        # Prices of a class do not count what others gain or lose, nor what starved flows would gain. A link that is not
        # full holds no class back: the splits in the end are optimal for each.
        idle = FULL if whole.method == "max-min" else max(NEARLY_FULL, 10 * tol)
        # Of rates that were cut short any link may still become full.
        full = (whole.loads >= problem.capacities * (1 - idle)) | (not is_finished(whole))
        predicted = np.array([np.inf if full[links].any() else 0.0 for links in map(list, sets)])
        check = len(sets)
    else:
        predicted = np.array([float(whole.prices[links] @ more[links]) for links in map(list, sets)])
    order = np.argsort(-predicted, kind="stable")
    # Prices of links that are not full are 0 to the tolerance, relative to those of the best.
    least = tol * np.max(predicted[np.isfinite(predicted)], initial=0.0)
    checked = order[predicted[order] > least][:check].tolist()

    def upgraded(number: int) -> Problem:
        larger, links = problem.capacities.copy(), list(sets[number])
        larger[links] += more[links]
        return problem.with_capacities(larger)

    again = cases.solve(list(map(upgraded, checked)), progress, threads)

    solutions: list[Solution | None] = [None] * len(sets)
    gained, throughput, ratio = (np.full(len(sets), np.nan) for _ in range(3))
    for number, solution in zip(checked, again, strict=True):
        solutions[number] = solution
        if not has_answer(solution):
            continue
        if is_finished(whole) and is_finished(solution):
            gained[number] = cases.gain(solution, flows)
        throughput[number] = solution.flow_rates.sum()
        ratio[number] = cases.worst_ratio(solution, flows)
    return UpgradeStudy(
        names=names,
        upgrades=tuple(map(list, sets)),
        added=np.array([float(more[list(links)].sum()) for links in sets]),
        before_upgrades=whole,
        solutions=tuple(solutions),
        predicted=predicted,
        gained=gained,
        throughput=throughput,
        worst_ratio=ratio,
    )


def _that_work(problem: Problem, upgrades: LinkSets) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The candidates. Those of a word are without links that have failed or have no limit; others are refused."""
    names, sets = link_sets(problem, upgrades, "upgrades", "upgrade")
    failed, unlimited = problem.capacities == 0, np.isinf(problem.capacities)
    if isinstance(upgrades, str):
        sets = tuple(tuple(link for link in links if not (failed | unlimited)[link]) for links in sets)
        some = [number for number, links in enumerate(sets) if links]
        return tuple(names[number] for number in some), tuple(sets[number] for number in some)
    for name, links in zip(names, sets, strict=True):
        for link in links:
            if failed[link]:
                what = f"upgrade {name!r} names link {link}, which has failed (capacity 0)"
                raise ProblemError(f"{what}: give it a capacity first, since its flows change the sum of utilities")
            if unlimited[link]:
                raise ProblemError(f"upgrade {name!r} names link {link}, which has no limit")
    return names, sets


def _added(problem: Problem, added: ArrayLike | None) -> NDArray[np.float64]:
    """The capacity that is added to every link when it is upgraded."""
    if added is None:
        return problem.capacities
    if isinstance(added, np.ma.MaskedArray):
        raise TypeError("added is a masked array, expected plain numbers")
    try:
        more = np.asarray(added, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"added must be a number or an array of numbers, not {added!r:.60}") from None
    if more.shape not in ((), (problem.links,)):
        raise ProblemError(f"added has shape {more.shape}, expected one number, or ({problem.links},), one per link")
    more = np.broadcast_to(more, problem.links)
    for link in np.flatnonzero(~((more > 0) & np.isfinite(more)))[:1]:
        which = f" for link {link}" if np.ndim(added) else ""
        raise ProblemError(f"added is {more[link]}{which}, expected a finite number > 0")
    return more
