"""Links, flows and paths by the names of nodes: results of solutions, and numbers given as a dict."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ._core import AlphaFair, Linear, Paths, Problem, ProblemError, Solution, Topology, UtilityError
from ._link_sets import named
from ._messages import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

Each: TypeAlias = Literal["link", "flow", "path"]

FORMS = {"link": "the two nodes that it joins", "flow": "its two ends", "path": "all of its nodes"}
"""The nodes that name a link, a flow or a path."""

LISTED = 6
"""The most of anything that an error lists."""


def rate(solution: Solution, problem: Problem, source: Any, destination: Any) -> float:
    """`Solution.rate`."""
    net = _net_of(problem, solution, "rate", "flow_rates", "flow")
    ends: Joined = problem._flow_ends  # type: ignore[attr-defined]
    flows = ends.between(net, [net.node(source), net.node(destination)])
    return float(solution.flow_rates[flows].sum())


def price(solution: Solution, problem: Problem, source: Any, destination: Any) -> float:
    """`Solution.price`."""
    net = _net_of(problem, solution, "price", "prices", "link")
    return _of_link(net, solution.prices, "prices", "price", source, destination)


def load(solution: Solution, problem: Problem, source: Any, destination: Any) -> float:
    """`Solution.load`."""
    net = _net_of(problem, solution, "load", "loads", "link")
    return _of_link(net, solution.loads, "loads", "load", source, destination)


def filled(
    name: str,
    given: Mapping[Any, Any],
    each: Each,
    present: NDArray[np.float64],
    net: Topology | None,
    paths: Paths | None,
) -> NDArray[np.float64]:
    """The numbers of all links, flows or paths, of which a dict changes those that it names."""
    numbers, keys = np.array(present), dict[int, Any]()
    candidates = _candidates(each, net, paths)
    names = dict[str, tuple[int, ...]]()
    hint = ": flows of smaller priorities are served first" if name == "priority" else ""
    if each == "link" and net is not None and any(isinstance(key, str) for key in given):
        names = net._links_by_name  # type: ignore[attr-defined]
    for key, value in given.items():
        place = f"{name}[{key!r}]"
        try:
            found = _of_name(key, names) if names and isinstance(key, str) else (_number(each, key, candidates),)
        except (ProblemError, TypeError) as error:
            raise type(error)(f"{place}: {error}") from None
        for number in found:
            if not 0 <= number < len(numbers):
                raise ProblemError(f"{place}: {each} {number} does not exist, there are {len(numbers)} {each}s")
            if number in keys:
                raise ProblemError(f"{name} names {each} {number} twice, as {keys[number]!r} and {key!r}")
            keys[number] = key
        if isinstance(value, (bool, np.bool_, str)) or np.ndim(value) != 0:
            raise TypeError(f"{place} must be a number, not {type(value).__name__}{hint}")
        try:
            amount = np.inf if value is None else float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{place} must be a number, not {type(value).__name__}{hint}") from None
        if amount != amount:
            raise ProblemError(f"{place} is nan, expected a number")
        for number in found:
            numbers[number] = amount
    return numbers


def with_weights(problem: Problem, weight: Any) -> Problem:
    """`Problem.with_weights`."""
    utility = problem.utility
    of_flows = utility if isinstance(utility, tuple) else None
    present = np.array([_weight(one) for one in of_flows] if of_flows else _weight(utility), dtype=float)
    present = np.array(np.broadcast_to(present, problem.flows))
    if isinstance(weight, Mapping):
        net = problem.network if isinstance(problem.network, Topology) else None
        weights = filled("weight", weight, "flow", present, net, problem._own_paths)  # type: ignore[attr-defined]
        changed = (weights != present) & ~np.isnan(weights)
    else:
        weights = np.array(weight, dtype=float)
        if weights.shape not in ((), (problem.flows,)):
            raise ProblemError(f"weight has shape {weights.shape}, expected ({problem.flows},), one per flow")
        weights = np.array(np.broadcast_to(weights, problem.flows))
        changed = np.ones(problem.flows, dtype=bool)
    if not changed.any():
        return problem
    if of_flows is None:
        return problem.with_utility(_with_weight(utility, weights, int(np.flatnonzero(changed)[0])))
    pairs = enumerate(zip(of_flows, weights.tolist(), changed, strict=True))
    return problem.with_utility([_with_weight(one, of_one, flow) if new else one for flow, (one, of_one, new) in pairs])


class Joined:
    """The links or the flows of a network, looked up by the two nodes that they join."""

    def __init__(self, net: Topology, paths: Paths | None = None) -> None:
        """The flows of some paths, or the links."""
        self._each: Each = "link" if paths is None else "flow"
        self._ends, self._is_directed = directed_ends(net, paths) if paths is not None else (net.links, ~net.shared)
        # Of flows whose direction is not known, the others that join the two nodes decide.
        self._is_listed = paths is None or bool(self._is_directed.all())
        self._places: dict[tuple[int, int], list[int]] = {}
        for number, (one, other) in enumerate(self._ends.tolist() if self._is_listed else ()):
            for pair in [(one, other)] if self._is_directed[number] else [(one, other), (other, one)]:
                self._places.setdefault(pair, []).append(number)

    def between(self, net: Topology, nodes: list[int]) -> NDArray[np.int64]:
        """Those from one node to another. A flow whose direction is not known is taken if no other joins the two."""
        if known := self._places.get((nodes[0], nodes[1])):
            return np.array(known)
        if self._is_listed:
            return _between(self._ends, self._each, net, nodes)
        joins = (self._ends == nodes).all(axis=1) | (self._ends == nodes[::-1]).all(axis=1)
        flows = np.flatnonzero(joins)
        if self._is_directed[flows].all():
            # -2 is the end of a flow between known nodes, in a direction that is not known.
            return _between(np.where(self._is_directed[:, None], self._ends, -2), "flow", net, nodes)
        if len(flows) > 1:
            one, other = (net.node_names[node] for node in nodes)
            raise ProblemError(
                f"flows {listed(flows.tolist())} join {one} and {other}, and the direction of a flow over shared "
                f"links is not known: name flow f by its number, `flow_rates[f]` in a solution"
            )
        return flows


def flow_ends(net: Topology, paths: Paths) -> NDArray[np.int64]:
    """The source and the destination of every flow: -1 for one that ends at its source.

    Where its paths do not tell the direction of a flow over shared links, its ends are in the order of nodes.
    """
    return directed_ends(net, paths)[0]


def naming(net: Topology, paths: Paths, error: Exception) -> Exception:
    """The error about a flow or a link by its number, with the ends of the flow where its paths tell them."""
    found = re.match(r"(flow|link) (\d+) (?!\()", str(error))
    if found is None:
        return error
    if found[1] == "link":
        name = net.link_names[int(found[2])]
    else:
        source, destination = flow_ends(net, paths)[int(found[2])]
        if source < 0:
            return error
        name = f"{net.node_names[source]} to {net.node_names[destination]}"
    return type(error)(f"{found[0]}({name}) {str(error)[found.end() :]}")


def nodes_of(net: Topology, paths: Paths, sources: NDArray[np.int64]) -> list[list[str]]:
    """The names of the nodes of every path from its source; none where its links are not listed in this order."""
    names, links, shared = net.node_names, net.links.tolist(), net.shared.tolist()
    found = []
    for first, path in zip(sources.tolist(), paths, strict=True):
        nodes = [first if first >= 0 else links[path[0]][0]]
        for link in path.tolist():
            source, target = links[link]
            back = source if shared[link] and target == nodes[-1] else None
            if (there := target if source == nodes[-1] else back) is None:
                break
            nodes.append(there)
        found.append([names[node] for node in nodes] if len(nodes) == len(path) + 1 else [])
    return found


def directed_ends(net: Topology, paths: Paths) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The two ends of every flow, and whether it is known which of them is the source.

    The links of a path may be listed in any order. Over a walk from a to b the sum of x(source) - x(destination) is
    x(a) - x(b), for every x: with the numbers of the nodes it is a - b, with their squares (a - b)(a + b).
    """
    given = paths._ends  # type: ignore[attr-defined]
    if given is not None:
        return given.reshape(-1, 2), np.ones(len(given) // 2, dtype=bool)
    first = np.unique(paths.group, return_index=True)[1]
    if net.shared.any():
        of_flow: list[list[int]] = [[] for _ in first]
        for path, flow in enumerate(paths.group.tolist()):
            of_flow[flow].append(path)
        links, shared = net.links, net.shared
        walked = [_walked_by(links, shared, (paths[path].tolist() for path in of_one)) for of_one in of_flow]
        return np.array([one[0] for one in walked]).reshape(-1, 2), np.array([one[1] for one in walked], dtype=bool)
    if paths.coefficients is not None:
        # Those of traffic that divides; where they are none, those of the links.
        carried = _ends_of_traffic(net, paths, paths.coefficients)
        by_links = _ends_of_traffic(net, paths, np.ones(len(paths.indices)))
        ends = np.where((carried < 0).any(axis=1, keepdims=True), by_links, carried)[first]
        return ends, np.ones(len(ends), dtype=bool)
    sums = []
    for nodes in (net.links, net.links**2):
        changes = (nodes[:, 0] - nodes[:, 1])[paths.indices]
        sums.append(np.add.reduceat(changes, paths.indptr[:-1])[first])
    difference, squares = sums
    is_closed = difference == 0
    total = squares // np.where(is_closed, 1, difference)
    ends = np.column_stack([total + difference, total - difference]) // 2
    ends[is_closed] = -1
    return ends, np.ones(len(ends), dtype=bool)


def _ends_of_traffic(net: Topology, paths: Paths, amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """The node that more leaves than enters, and the one that more enters, of every path; -1 unless it has one each."""
    nodes = len(net.node_names)
    of_path = nodes * np.repeat(np.arange(len(paths)), np.diff(paths.indptr))
    places = np.concatenate([of_path + net.links[paths.indices, end] for end in (0, 1)])
    places, where = np.unique(places, return_inverse=True)
    excess = np.bincount(where, np.concatenate([amounts, -amounts]))
    # Sums of parts are rounded.
    open_ended = np.abs(excess) > 1e-9 * np.bincount(where, np.concatenate([amounts, amounts]))
    places, excess = places[open_ended], excess[open_ended]
    ends = np.full((len(paths), 2), -1)
    counts = np.bincount(places // nodes, minlength=len(paths))
    for end, has_sign in enumerate((excess > 0, excess < 0)):
        ends[places[has_sign] // nodes, end] = places[has_sign] % nodes
    ends[counts != 2] = -1
    return ends


def _walked_by(
    links: NDArray[np.int64], shared: NDArray[np.bool_], of_flow: Iterable[list[int]]
) -> tuple[tuple[int, int], bool]:
    """The ends of a flow, from the first of its paths that tells its direction, and whether one does."""
    ends = None
    for path in of_flow:
        walked, is_directed = _walked(links, shared, path)
        if is_directed:
            return walked, True
        ends = ends or walked
    return ends or (-1, -1), False


def _walked(links: NDArray[np.int64], shared: NDArray[np.bool_], path: list[int]) -> tuple[tuple[int, int], bool]:
    """The ends of a path with shared links, and whether it tells its direction, by its order or by a link one way."""
    found = []
    for first in links[path[0]][: 1 + int(shared[path[0]])].tolist():
        node = first
        for link in path:
            source, target = links[link].tolist()
            node = target if node == source else source if node == target and shared[link] else -1
        if node >= 0 and node != first:
            found.append((first, node))
    if len(found) == 1:
        return found[0], True
    nodes, counts = np.unique(links[path], return_counts=True)
    odd = nodes[counts % 2 == 1].tolist()
    if len(odd) != 2:
        return (-1, -1), True
    # A walk leaves its first node once more than it enters it: links one way tell which of the two that is.
    for end, other in (odd, odd[::-1]):
        at = [link for link in path if end in links[link]]
        if not shared[at].any():
            leaves = 2 * int((links[at, 0] == end).sum()) > len(at)
            return ((end, other) if leaves else (other, end)), True
    return (odd[0], odd[1]), False


def _net_of(problem: Problem, solution: Solution, function: str, array: str, each: str) -> Topology:
    """The network of a problem of which this is the solution."""
    found, expected = len(getattr(solution, array)), problem.flows if each == "flow" else problem.links
    if found != expected:
        raise ProblemError(f"the solution is of another problem: it has {found} {each}s, expected {expected}")
    if not isinstance(problem.network, Topology):
        raise ProblemError(
            f"{function} names nodes, and the problem has capacities only: `{array}[{each}]` has the number of a "
            f"{each}, and a problem that is made with a Topology has names"
        )
    return problem.network


def _of_link(
    net: Topology, values: NDArray[np.float64], array: str, function: str, source: Any, destination: Any
) -> float:
    """The value of the only link between two nodes, or of a name where there is no destination."""
    if destination is None:
        links, are = named(net, function, source), f"have the name {source}"
    else:
        links = _between(net.links, "link", net, [net.node(source), net.node(destination)]).tolist()
        are = f"run from {source} to {destination}"
    if len(links) > 1:
        names = net.link_names
        each = listed([f"`{array}[{link}]` ({names[link]}) is {values[link]:.6g}" for link in links])
        raise ProblemError(f"{len(links)} links {are}: {each}")
    return float(values[links[0]])


def _of_name(name: str, names: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The links of a name, of one as in `Topology.link_names` or of a fiber."""
    if name in names:
        return names[name]
    near = did_you_mean(name, list(names))
    raise ProblemError(f"there is no link of that name{f', {near}' if near else ''}")


def _number(each: Each, key: Any, candidates: Callable[[Sequence[Any]], tuple[str, NDArray[np.int64]]] | None) -> int:
    """The number of a link, flow or path that is named by nodes or by its number."""
    forms = f"a {each} is named by a tuple of {FORMS[each]}, or by its number"
    if not isinstance(key, tuple):
        try:
            if isinstance(key, bool):
                raise TypeError
            return operator.index(key)
        except TypeError:
            raise TypeError(f"{forms}, not by a {type(key).__name__}") from None
    if candidates is None:
        raise ProblemError("it names nodes, and there are capacities only: give the number, or make it with a Topology")
    if len(key) < 2 or (each != "path" and len(key) > 2):
        raise ProblemError(f"it has {len(key)} nodes: {forms}")
    what, found = candidates(key)
    if len(found) > 1:
        raise ProblemError(f"{what}, {listed(found.tolist())}: give the number of one")
    return int(found[0])


def _candidates(
    each: Each, net: Topology | None, paths: Paths | None
) -> Callable[[Sequence[Any]], tuple[str, NDArray[np.int64]]] | None:
    """What finds the links, flows or paths of some nodes, one or more, with words for several."""
    if net is None or (each != "link" and paths is None):
        return None
    if each == "path" and paths is not None:
        return lambda key: _through(net, paths, key)
    joined = Joined(net, None if each == "link" else paths)

    def find(key: Sequence[Any]) -> tuple[str, NDArray[np.int64]]:
        found = joined.between(net, [net.node(node) for node in key])
        return f"{len(found)} {each}s run from {key[0]} to {key[1]}", found

    return find


def _between(ends: NDArray[np.int64], each: str, net: Topology, nodes: list[int]) -> NDArray[np.int64]:
    """The links or flows from one node to another."""
    found = _joining(net, nodes) if each == "link" else np.flatnonzero((ends == nodes).all(axis=1))
    if len(found):
        return found
    source, destination = (net.node_names[node] for node in nodes)
    others = np.unique(ends[ends[:, 0] == nodes[0], 1])
    back = f", one runs from {destination} to {source}" if (ends == nodes[::-1]).all(axis=1).any() else ""
    there = f": those from {source} go to {listed([net.node_names[node] for node in others])}" if len(others) else ""
    if each == "flow" and not (back or there) and (ends == -1).any():
        flow = int(np.flatnonzero((ends == -1).any(axis=1))[0])
        there = f": the paths of flow {flow} do not tell its ends, which Problem(net, paths, pairs=pairs) states"
    raise ProblemError(f"there is no {each} from {source} to {destination}{back or there}")


def _joining(net: Topology, nodes: Sequence[int]) -> NDArray[np.int64]:
    """The links that lead from one node to another; a shared one leads both ways."""
    back = net.shared & (net.links == nodes[::-1]).all(axis=1)
    return np.flatnonzero((net.links == nodes).all(axis=1) | back)


def _through(net: Topology, paths: Paths, key: Sequence[Any]) -> tuple[str, NDArray[np.int64]]:
    """The paths that cross the links between some nodes, whichever of several links between two."""
    nodes = [net.node(node) for node in key]
    net.route(list(key))
    hops = [set(_joining(net, hop).tolist()) for hop in itertools.pairwise(nodes)]
    lengths = np.diff(paths.indptr)
    crosses = [
        path
        for path in np.flatnonzero(lengths == len(hops)).tolist()
        if all(any(link in hop for link in paths[path].tolist()) for hop in hops)
    ]
    what = ", ".join(str(node) for node in key)
    if not crosses:
        raise ProblemError(f"there is no path through {what}")
    return f"{len(crosses)} paths cross {what}", np.array(crosses)


def listed(things: Sequence[Any]) -> str:
    """The first of them, in words."""
    more = [f"{len(things) - LISTED} more"] if len(things) > LISTED else []
    words = [str(thing) for thing in things[:LISTED]] + more
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


def _weight(utility: Any) -> Any:
    """The weight of a utility; nan where it has none."""
    return utility.weight if isinstance(utility, (AlphaFair, Linear)) else np.nan


def _with_weight(utility: Any, weight: Any, flow: int) -> Any:
    """The utility with another weight."""
    if isinstance(utility, AlphaFair):
        return AlphaFair(utility.alpha, weight)
    if isinstance(utility, Linear):
        return Linear(weight)
    raise UtilityError(
        f"flow {flow} has a {type(utility).__name__}, which has no weight: AlphaFair and Linear have one"
    )
