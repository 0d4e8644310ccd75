"""Networks from edges that name their nodes, as lists, tables and matrices have them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral
from typing import Any, NamedTuple

from .._core import ProblemError, Topology

CAPACITY = "a finite number >= 0"


class Edge(NamedTuple):
    """An edge as it was given: what errors call it, the nodes that it joins, and its capacity."""

    what: str
    source: Any
    target: Any
    capacity: Any


def network(edges: Iterable[Edge], *, directed: bool, nodes: Iterable[Any] = ()) -> Topology:
    """The network of these edges: a link each, or one each way.

    Nodes are numbered by first appearance, after those that are given; where all are the integers from 0 to n - 1, each
    has its own number.
    """
    labels: dict[Any, int] = {}
    names: dict[str, Any] = {}
    for place, node in enumerate(nodes):
        _number(node, f"node {place}", labels, names)
    joined: dict[tuple[int, int], str] = {}
    links: list[tuple[int, int]] = []
    capacities: list[float] = []
    for edge in edges:
        there = (_number(edge.source, edge.what, labels, names), _number(edge.target, edge.what, labels, names))
        back = there[::-1]
        if there == back:
            raise ProblemError(f"{edge.what} joins {edge.source!r} to itself, expected two nodes")
        if not directed and back in joined:
            raise ProblemError(
                f"{joined[back]} and {edge.what} join {edge.target!r} and {edge.source!r} in both directions, and "
                f"every edge is two links: give directed=True where each is one link, or leave one of them out"
            )
        joined.setdefault(there, edge.what)
        carries = capacity(edge.capacity, edge.what)
        ways = [there] if directed else [there, back]
        links += ways
        capacities += [carries] * len(ways)
    order = list(labels)
    if set(order) == set(range(len(order))):
        place = {number: label for label, number in labels.items()}
        links = [(place[source], place[target]) for source, target in links]
        order.sort()
    return Topology([str(label) for label in order], links, capacities)


def capacity(given: Any, what: str) -> float:
    """The capacity of an edge."""
    try:
        carries = float(given)
    except (TypeError, ValueError):
        raise ProblemError(f"{what} has capacity {given!r}, expected {CAPACITY}") from None
    if not 0 <= carries < math.inf:
        raise ProblemError(f"{what} has capacity {carries}, expected {CAPACITY}")
    return carries


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
