"""Paths that a function of the caller finds again after each failure, as routers do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._by_name import directed_ends
from .._core import NumError, Paths, Problem, ProblemError, Topology
from .._messages import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The paths of pairs of nodes, by their names, over the links of a network that are left.
Reroute: TypeAlias = "Callable[[Topology, list[tuple[str, str]]], Paths | tuple[Paths, NDArray[np.int64]]]"


class Rerouted:
    """A problem of paths, whose flows are routed again over what a failure leaves of the network."""

    def __init__(self, problem: Problem, reroute: Reroute) -> None:
        if not callable(reroute):
            must = f"reroute must be a function of a network and pairs of nodes, not {type(reroute).__name__}"
            raise TypeError(f"{must}: lambda net, pairs: net.ecmp_split(pairs)")
        if problem.paths is None:
            raise NumError("reroute is for problems of paths: the traffic of pairs is routed anew without it")
        if not isinstance(problem.network, Topology):
            raise NumError("reroute names nodes, and the problem has capacities only: make it with a Topology")
        for name in ("rate_cap", "path_cost"):
            if getattr(problem, name) is not None:
                raise NumError(f"reroute finds other paths, and {name} is of those that the problem has")
        self._problem, self._reroute, self._net = problem, reroute, problem.network
        self._ends, is_directed = directed_ends(self._net, problem.paths)
        is_unknown = (self._ends < 0).any(axis=1) | (~is_directed & (not self._net.shared.all()))
        for flow in np.flatnonzero(is_unknown)[:1]:
            what = f"reroute needs ends, and the paths of flow {flow} do not tell its source and destination"
            raise NumError(f"{what}: Problem(net, paths, pairs=pairs) states them")

    def without(self, scenario: str, links: tuple[int, ...]) -> Problem:
        """The problem of a scenario. Flows that the network no longer joins keep paths, all of which have failed."""
        left, problem, own = self._net.without(list(links)), self._problem, self._problem.paths
        more: dict[str, Any] = {"flow_cap": problem.flow_cap, "flow_floor": problem.flow_floor, "pairs": problem.pairs}
        try:
            joined = left.has_path(self._ends)
            parts = [_some(own, own.group, ~joined[own.group])]
            if joined.any():
                flows = np.flatnonzero(joined)
                found = self._found(left, flows)
                parts.append(_some(found, flows[found.group], np.ones(len(found), dtype=bool)))
            lengths, indices, coefficients, group = map(np.concatenate, zip(*parts, strict=True))
            paths = Paths(np.append(0, np.cumsum(lengths)), indices, group, coefficients)
            return Problem(left, paths, problem.utility, priority=problem.priority, **more)
        except (NumError, TypeError) as error:
            raise type(error)(f"scenario {scenario!r}: {error}") from error

    def _found(self, left: Topology, flows: NDArray[np.int64]) -> Paths:
        """The paths that the function has found for some flows, which run between their ends."""
        names = left.node_names
        pairs = [(names[source], names[destination]) for source, destination in self._ends[flows].tolist()]
        found = self._reroute(left, pairs)
        found = found[0] if isinstance(found, tuple) and found else found
        if not isinstance(found, Paths):
            raise TypeError(f"reroute must return Paths, not {type(found).__name__}")
        numbers = np.unique(found.group)
        if not np.array_equal(numbers, np.arange(len(flows))):
            returned = f"reroute returns paths of {counted(len(numbers), 'flow')}"
            raise ProblemError(f"{returned}, expected {len(flows)}, one per pair, numbered from 0")
        for place in np.flatnonzero(found.indices >= len(left.links))[:1]:
            path = int(np.searchsorted(found.indptr, place, side="right")) - 1
            exist = f"there are {len(left.links)} links"
            raise ProblemError(f"reroute returns path {path} over link {found.indices[place]}, and {exist}")
        each = Paths(found.indptr, found.indices, np.arange(len(found)), found.coefficients)
        ends, is_directed = directed_ends(left, each)
        wanted = self._ends[flows][found.group]
        # Of paths over shared links the direction may be unknown.
        either = (np.sort(ends) == np.sort(wanted)).all(axis=1) & ~is_directed
        for path in np.flatnonzero(~either & (ends != wanted).any(axis=1))[:1]:
            place = found.group[path]
            expected = f"expected from {' to '.join(pairs[place])}"
            if (ends[path] < 0).any():
                raise ProblemError(f"reroute returns paths for pair {place} that have no two ends, {expected}")
            one, other = (names[node] for node in ends[path])
            raise ProblemError(f"reroute returns paths for pair {place} from {one} to {other}, {expected}")
        return found


def _some(paths: Paths, group: NDArray[np.int64], which: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
    """The lengths, links, coefficients and flows of some paths."""
    lengths = np.diff(paths.indptr)
    of_links = np.repeat(which, lengths)
    coefficients = np.ones(len(paths.indices)) if paths.coefficients is None else paths.coefficients
    return lengths[which], paths.indices[of_links], coefficients[of_links], group[which]
