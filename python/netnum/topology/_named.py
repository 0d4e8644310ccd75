"""Networks from edges that name their nodes, as lists, tables, matrices and graphs have them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from .._core import ProblemError, Topology
from .._messages import did_you_mean

CAPACITY = "a number >= 0 (inf for no limit)"


class Missing:
    """The capacity of an edge that does not have the attribute."""


class Edge(NamedTuple):
    """An edge as it was given: what errors call it, the nodes that it joins, its capacity, and what else it has."""

    what: str
    source: Any
    target: Any
    capacity: Any
    attributes: Mapping[Any, Any] = {}
    shared: bool = False


def of_mapping(
    what: str, source: Any, target: Any, attributes: Mapping[Any, Any], capacity: str, shared: bool | str = False
) -> Edge:
    """An edge with its attributes by name: one is its capacity, and one may say whether it is shared."""
    others = {name: value for name, value in attributes.items() if name not in (capacity, shared)}
    is_shared = _is_shared(attributes.get(shared), shared, what) if isinstance(shared, str) else shared
    return Edge(what, source, target, attributes.get(capacity, Missing), others, is_shared)


def _is_shared(given: Any, name: str, what: str) -> bool:
    """Whether an edge is shared, which one without the attribute is not."""
    if given is not None and not isinstance(given, bool | np.bool_):
        raise TypeError(f"{what} has {name} {given!r}, expected True or False")
    return bool(given)


def network(
    edges: Iterable[Edge], *, directed: bool, shared: bool | Iterable[bool] = False, nodes: Iterable[Any] = ()
) -> Topology:
    """The network of these edges: a link each, or one each way, or one for both where it is shared.

    Nodes are numbered by first appearance, after those that are given; where all are the integers from 0 to n - 1, each
    has its own number.
    """
    labels: dict[Any, int] = {}
    names: dict[str, Any] = {}
    for place, node in enumerate(nodes):
        _number(node, f"node {place}", labels, names)
    joined: dict[tuple[int, int], str] = {}
    ways: list[list[tuple[int, int]]] = []
    edges = list(edges)
    edges = [
        edge._replace(shared=one) for edge, one in zip(edges, shared_edges(shared, len(edges), directed), strict=True)
    ]
    for edge in edges:
        there = (_number(edge.source, edge.what, labels, names), _number(edge.target, edge.what, labels, names))
        back = there[::-1]
        if there == back:
            raise ProblemError(f"{edge.what} joins {edge.source!r} to itself, expected two nodes")
        if not directed:
            refuse_both_ways(joined, there, edge.what, (edge.source, edge.target))
        ways.append([there] if directed or edge.shared else [there, back])
    order = list(labels)
    if set(order) == set(range(len(order))):
        label_of = {number: label for label, number in labels.items()}
        ways = [[(label_of[source], label_of[target]) for source, target in of_edge] for of_edge in ways]
        order.sort()
    return Topology([str(label) for label in order], **links_of(edges, ways), directed=directed)


def refuse_both_ways(joined: dict[tuple[int, int], str], there: tuple[int, int], what: str, ends: Any) -> None:
    """Adds an undirected edge to those by their nodes, of which none may join them in the other direction."""
    if (other := joined.get(there[::-1])) is not None:
        raise ProblemError(
            f"{other} and {what} join {ends[1]!r} and {ends[0]!r} in both directions, and "
            f"every edge is two links: give directed=True where each is one link, or leave one of them out"
        )
    joined.setdefault(there, what)


def links_of(edges: Sequence[Edge], ways: Sequence[Sequence[tuple[int, int]]], name: str = "capacity") -> Any:
    """The arguments of `Topology` for the links of edges, each with the pairs of nodes that it joins.

    An edge without a capacity has no limit where others have one.
    """
    if edges and all(edge.capacity is Missing for edge in edges):
        known = list(dict.fromkeys(str(name) for edge in edges for name in edge.attributes))
        near = did_you_mean(name, known)
        have = f"edges have {', '.join(known)}" if known else "edges have no attributes"
        raise ProblemError(
            f"no edge has the attribute {name!r}, expected capacities{f', {near}' if near else ''}: {have}"
        )
    carries = [capacity(edge.capacity, edge.what) for edge in edges]
    counts = [len(pairs) for pairs in ways]
    return {
        "links": [pair for pairs in ways for pair in pairs],
        "capacities": [value for value, count in zip(carries, counts, strict=True) for _ in range(count)],
        "shared": [edge.shared for edge, count in zip(edges, counts, strict=True) for _ in range(count)],
        "link_attributes": _columns(edges, counts),
    }


def shared_edges(shared: bool | Iterable[bool], count: int, directed: bool) -> list[bool]:
    """Whether each of so many edges is shared by both directions, from one word for all or one for each."""
    if isinstance(shared, bool | np.bool_):
        if shared and directed:
            raise ProblemError("directed=True and shared=True: a shared edge is walked both ways, expected one of them")
        return [bool(shared)] * count
    if isinstance(shared, str) or not isinstance(shared, Iterable):
        raise TypeError(f"shared must be True, False, or a list of bool with one per edge, not {shared!r}")
    each = list(shared)
    for place, one in enumerate(each):
        if not isinstance(one, bool | np.bool_):
            raise TypeError(f"shared[{place}] is {one!r}, expected True or False")
    if len(each) != count:
        raise ProblemError(f"shared has {len(each)} entries, expected {count}, one per edge")
    return [bool(one) for one in each]


def capacity(given: Any, what: str) -> float:
    """The capacity of an edge, inf where it has none."""
    if given is None or given is Missing:
        return math.inf
    try:
        carries = float(given)
    except (TypeError, ValueError):
        raise ProblemError(f"{what} has capacity {given!r}, expected {CAPACITY}") from None
    if math.isnan(carries) or carries < 0:
        raise ProblemError(f"{what} has capacity {carries}, expected {CAPACITY}")
    return carries


def _columns(edges: Sequence[Edge], counts: Sequence[int]) -> dict[str, list[Any]]:
    """The values of every attribute, one per link of each edge: numbers, or else texts."""
    whats, attributes = [edge.what for edge in edges], [edge.attributes for edge in edges]
    columns = {}
    for name in dict.fromkeys(name for of_edge in attributes for name in of_edge):
        values = [_value(of_edge.get(name), what, name) for what, of_edge in zip(whats, attributes, strict=True)]
        if all(_is_number(value) for value in values if value is not None):
            filled: list[Any] = [math.nan if value is None else float(value) for value in values]
            has_any = any(not math.isnan(value) for value in filled)
        else:
            filled = ["" if value is None else str(value) for value in values]
            has_any = True
        if has_any:
            columns[str(name)] = [value for value, count in zip(filled, counts, strict=True) for _ in range(count)]
    return columns


def _value(value: Any, what: str, name: Any) -> Any:
    """The value of an attribute, None where an edge has none: for None, "", NaN and what pandas has for a missing one.

    Raises
    ------
    ProblemError
        For an array, and for another thing that cannot be compared, naming the edge and the attribute.
    """
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, str) and not value):
        return None
    try:
        is_array = bool(getattr(value, "ndim", 0))
        is_missing = not is_array and bool(value != value)
    except (TypeError, ValueError):
        is_array, is_missing = True, False
    if is_array:
        kind = type(value).__name__
        raise ProblemError(f"{what} has {name!r} {value!r}, which is {kind}, expected a number or a text")
    return None if is_missing else value


def _is_number(value: Any) -> bool:
    """Whether a float is equal to a value; integers for which there is none are kept as texts."""
    if not isinstance(value, Integral):
        return isinstance(value, Real)
    try:
        return float(value) == int(value)
    except OverflowError:
        return False


def _number(node: Any, what: str, labels: dict[Any, int], names: dict[str, Any]) -> int:
    """The number of a node, which is a name or an integer, a new one at its first appearance."""
    if isinstance(node, Integral) and not isinstance(node, bool):
        node = int(node)
    elif not isinstance(node, str):
        raise TypeError(f"{what} names the node {node!r}, expected a str or an integer")
    if node not in labels:
        known = names.setdefault(str(node), node)
        if known is not node:
            raise ProblemError(f"{what} names the node {node!r}, and another is {known!r}: their names are the same")
        labels[node] = len(labels)
    return labels[node]
