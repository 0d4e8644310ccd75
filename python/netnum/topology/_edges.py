"""Networks from lists of edges."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .._core import Topology
from .._core import from_edges as from_text
from . import _files
from ._named import Edge, network, of_mapping, refuse_both_ways, shared_edges

FORMS = "(source, target, capacity)"


def from_edges(
    edges: str | os.PathLike[str] | Iterable[tuple[Any, Any, Any]] | Mapping[tuple[Any, Any], Any],
    *,
    directed: bool = False,
    shared: bool | Iterable[bool] = False,
) -> Topology:
    """A network from a list or a dict of edges, or from lines ``node node capacity`` in a file or in a text.

    Edge i is link 2i from its source to its target and link 2i + 1 back, each of its capacity, which is >= 0; inf or
    None is no limit. All nodes are ends, numbered by first appearance; those of a list or a dict that are the integers
    from 0 to n - 1 have their own numbers. In a text, blank lines and lines that start with ``#`` are skipped.

    In the place of a capacity may be a dict with a ``capacity`` and other attributes of the edge, which are kept as
    `Topology.link_attributes`. An edge without a capacity has no limit where others have one.

    Parameters
    ----------
    edges : iterable of (source, target, capacity), dict {(source, target): capacity}, str or os.PathLike
        Nodes are named by str or by integers. A path-like is a file. A str is the text when it has several lines or
        three words, else the name of a file.
    directed : bool
        Whether edge i is link i alone, from its source to its target.
    shared : bool, or sequence of bool
        Whether every edge, or each of them, is one link that both directions share: its capacity is that of the sum of
        both. Such an edge has no direction.

    Returns
    -------
    Topology
        Named after the file.

    Raises
    ------
    ProblemError
        With the number of the line or the edge that is wrong, when a str is neither a text nor the name of a file, and
        for edges in both directions that are not `directed`: lines, pairs or items ``a b`` and ``b a``. Two edges in
        one direction are parallel.
    TypeError
        For a node that is neither a str nor an integer.
    OSError
        When a file cannot be read.

    Examples
    --------
    >>> net = netnum.topology.from_edges([("Oslo", "Bergen", 10.0), ("Bergen", "Voss", 4.0)])
    >>> net.node_names, net.capacities
    (['Oslo', 'Bergen', 'Voss'], array([10., 10.,  4.,  4.]))

    A cable that both directions share has one link:

    >>> cable = netnum.topology.from_edges([("a", "b", 10.0)], shared=True)
    >>> cable.link_names, cable.link("b", "a")
    (['a - b'], 0)

    A dict, here of links one way, one with an attribute, and a text:

    >>> netnum.topology.from_edges({("a", "b"): 10.0, ("b", "a"): 2.5}, directed=True).link_names
    ['a -> b', 'b -> a']
    >>> netnum.topology.from_edges({("a", "b"): {"capacity": 10.0, "delay": 3.0}}).link_attributes
    {'delay': array([3., 3.])}
    >>> netnum.topology.from_edges('''
    ... # from to capacity
    ... Oslo Bergen 10
    ... Bergen Voss 4
    ... ''') == net
    True
    """
    if isinstance(edges, str | os.PathLike):
        data, name = _files.content(edges, _is_text, "lines of node node capacity")
        net = from_text(_files.decoded(data), name=name)
        if not directed:
            names, joined = net.node_names, dict[tuple[int, int], str]()
            for place, (one, other) in enumerate(net.links[::2].tolist()):
                refuse_both_ways(joined, (one, other), f"edge {place}", (names[one], names[other]))
        are_shared = np.array(shared_edges(shared, len(net.links) // 2, directed))
        if not directed and not are_shared.any():
            return net
        # Without the way back of those that have none.
        kept = np.column_stack([np.ones(len(are_shared), dtype=bool), ~(are_shared | directed)]).reshape(-1)
        of_links = np.repeat(are_shared, 2)[kept]
        return Topology(
            net.node_names, net.links[kept], net.capacities[kept], name=name, shared=of_links, directed=directed
        )
    if isinstance(edges, Mapping):
        return network(_of_dict(edges), directed=directed, shared=shared)
    return network(_of_list(edges), directed=directed, shared=shared)


def _is_text(given: str) -> bool:
    return "\n" in given or len(given.split()) == 3 or not given.strip()


def _of_dict(edges: Mapping[Any, Any]) -> Iterator[Edge]:
    for pair, capacity in edges.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"the dict has the key {pair!r}, expected edges: {{(source, target): capacity}}")
        yield _edge(f"edge {pair[0]} - {pair[1]}", *pair, capacity)


def _of_list(edges: Any) -> Iterator[Edge]:
    if hasattr(edges, "edges") and hasattr(edges, "nodes"):
        raise TypeError(f"edges is a {type(edges).__name__}: netnum.topology.from_networkx reads a graph")
    if hasattr(edges, "columns"):
        raise TypeError(f"edges is a {type(edges).__name__}: netnum.topology.from_pandas reads a table of edges")
    if hasattr(edges, "shape"):
        instead = "netnum.topology.from_matrix reads a matrix of capacities; rows of edges are edges.tolist()"
        raise TypeError(f"edges is a {type(edges).__name__} of shape {edges.shape}: {instead}")
    try:
        rows = iter(edges)
    except TypeError:
        what = f"not {type(edges).__name__}"
        raise TypeError(f"edges must be a list of {FORMS}, a dict, a text or the name of a file, {what}") from None
    for place, edge in enumerate(rows):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 3:
            raise TypeError(f"edge {place} is {edge!r}, expected {FORMS}")
        yield _edge(f"edge {place}", *edge)


def _edge(what: str, source: Any, target: Any, capacity: Any) -> Edge:
    if isinstance(capacity, Mapping):
        return of_mapping(what, source, target, capacity, "capacity")
    return Edge(what, source, target, capacity)
