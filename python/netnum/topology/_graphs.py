"""Networks from networkx graphs, and back. networkx is imported at the first use."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ProblemError, Topology
from .._messages import optional
from ._named import links_of, of_mapping, shared_edges

if TYPE_CHECKING:
    import networkx


NUMBER = "link"
"""The attribute of an edge that is the number of its link."""

SHARED = "shared"
"""The attribute of the edges of a shared link, one each way, which is True."""

IS_END = "is_end"
"""The attribute of the nodes that are no ends, which is False."""

LAST_TIER = 255
"""The largest tier of a node."""

BOTH_WAYS = "both_ways"
"""The attribute of the graph of a network whose edges work both ways, which is True."""


def imported() -> Any:
    """The module networkx, or an error with the command that installs it."""
    return optional("networkx", "graphs need networkx", "graphs")


def from_networkx(
    g: networkx.Graph[Any],
    capacity: str = "capacity",
    *,
    directed: bool | None = None,
    shared: bool | str = False,
) -> Topology:
    """A network from a networkx graph.

    Every edge of a `DiGraph` is a link; every edge of a `Graph` is two, one each way, the first in the edge's
    direction. Nodes are named by ``str(node)``, in the graph's order. All are ends but those whose attribute ``is_end``
    is False, which come after the ends. Where every node has an attribute ``pos``, it is where it is drawn, and where
    every node has an integer ``tier``, it is its tier.

    An edge without a capacity, or with one of inf or None, has no limit where others have one. The other attributes of
    edges are kept as `Topology.link_attributes`. A graph that `Topology.to_networkx` has made is read as an equal
    network, and parts of it with the numbers of links in their order.

    Parameters
    ----------
    g : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    capacity : str
        The attribute of edges that holds their capacity.
    directed : bool, optional
        False makes two links of every edge of a `DiGraph` too. By default as the graph is.
    shared : bool or str
        Whether every edge of a `Graph` is one link that both directions share, or the attribute of edges that says so
        of each.

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        Naming an edge with a bad capacity, or two nodes of one name; where no edge has a capacity; for
        ``directed=True`` with a `Graph`, and for ``directed=False`` naming two edges that join the same nodes in both
        directions; naming one of the two edges of a shared link without the other, or with another capacity.
    TypeError
        For what is no graph of networkx, for a number instead of an attribute's name, and naming an edge whose
        attribute ``shared`` is no bool; an edge without it is not shared.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.Graph([("a", "b", {"capacity": 10.0}), ("b", "c", {"capacity": 4.0})])
    >>> netnum.topology.from_networkx(graph).link_names
    ['a -> b', 'b -> a', 'b -> c', 'c -> b']
    """
    if not hasattr(g, "nodes"):
        raise TypeError(f"g must be a graph of networkx, not {type(g).__name__}")
    if isinstance(capacity, Number):
        how = "networkx.set_edge_attributes gives all edges one"
        raise TypeError(f"capacity is {capacity}, expected the name of the edges' attribute ({how})")
    if directed and not g.is_directed():
        raise ProblemError("directed=True, and the edges of the graph have no direction: give a DiGraph")
    if directed is False and g.is_directed():
        both = next((edge for edge in g.edges() if edge[0] != edge[1] and g.has_edge(*reversed(edge))), None)
        if both is not None:
            source, target = both
            raise ProblemError(
                f"directed=False, and the graph has edges {source} - {target} and {target} - {source}: "
                f"they are links one way, which directed=True reads"
            )
    both_ways = not (g.is_directed() if directed is None else directed)
    shared_edges(shared is True, 0, not both_ways)
    nodes = sorted(g.nodes, key=lambda node: not _is_end(node, g.nodes[node]))
    number = {node: index for index, node in enumerate(nodes)}
    edges, ways = [], []
    listed, says_shared = _in_order(g, capacity, both_ways)
    if says_shared and shared is False:
        shared = SHARED
    for source, target, attributes in listed:
        edge = of_mapping(f"edge {source} - {target}", source, target, attributes, capacity, shared)
        edges.append(edge)
        there = (number[source], number[target])
        ways.append([there] if edge.shared or not both_ways else [there, there[::-1]])
    places = [g.nodes[node].get("pos") for node in nodes]
    tiers = [g.nodes[node].get("tier") for node in nodes]
    return Topology(
        [str(node) for node in nodes],
        **links_of(edges, ways, capacity),
        ends=sum(_is_end(node, g.nodes[node]) for node in nodes),
        tiers=tiers if all(type(tier) is int and 0 <= tier <= LAST_TIER for tier in tiers) else None,
        name=str(g.graph.get("name", "graph")),
        positions=None if any(place is None or len(place) != 2 for place in places) else places,
        directed=not both_ways and (directed is True or not g.graph.get(BOTH_WAYS)),
    )


def _is_end(node: Any, attributes: dict[Any, Any]) -> bool:
    """Whether a node is an end, which one without the attribute is."""
    found = attributes.get(IS_END, True)
    # GML has 0 and 1 for them.
    if not isinstance(found, bool | np.bool_ | int) or found not in (0, 1):
        raise TypeError(f"node {node} has {IS_END} {found!r}, expected True or False")
    return bool(found)


def _in_order(
    g: networkx.Graph[Any], capacity: str, both_ways: bool
) -> tuple[list[tuple[Any, Any, dict[Any, Any]]], bool]:
    """The edges of a graph with their attributes, and whether they say as `to_networkx` writes it which are shared.

    Those of a graph that it has made are in the order of their links, as far as all of these are there. Of the two
    edges of a shared link that one is left out which runs from the node that comes later.
    """
    edges = list(g.edges(data=True))
    if not g.is_directed():
        return edges, False
    backwards, has_shared = (set[int](), False) if both_ways else _backwards(g, edges, capacity)
    edges = [edge for place, edge in enumerate(edges) if place not in backwards]
    links: dict[Any, tuple[Any, Any, dict[Any, Any]]] = {}
    for source, target, data in edges:
        number = data.get(NUMBER)
        if not isinstance(number, int) or number in links:
            return edges, has_shared
        links[number] = (source, target, {name: value for name, value in data.items() if name != NUMBER})
    if sorted(links) != list(range(len(links))) or not links:
        return edges, has_shared
    return [links[number] for number in range(len(links))], True


def _backwards(
    g: networkx.Graph[Any], edges: list[tuple[Any, Any, dict[Any, Any]]], capacity: str
) -> tuple[set[int], bool]:
    """The places of the edges of shared links that run from the node that comes later, and whether there are any."""
    place = {node: number for number, node in enumerate(g.nodes)}
    there: dict[Any, int] = {}
    back: dict[Any, int] = {}
    for number, (source, target, data) in enumerate(edges):
        mark = data.get(SHARED)
        if isinstance(mark, bool | np.bool_) and mark:
            one_way, ends = (there, (source, target)) if place[source] < place[target] else (back, (target, source))
            link = (*ends, data.get(NUMBER))
            if link in one_way:
                raise ProblemError(
                    f"two edges {source} - {target} are shared, expected another number of each as attribute {NUMBER!r}"
                )
            one_way[link] = number
    for link in [*there, *back]:
        if link not in there or link not in back:
            source, target, _ = edges[(there if link in there else back)[link]]
            raise ProblemError(
                f"edge {source} - {target} is shared, and no edge {target} - {source} of the same link is: "
                f"a shared link is two edges, one each way"
            )
        of_both = [edges[of[link]][2].get(capacity) for of in (there, back)]
        if of_both[0] != of_both[1]:
            source, target, _ = edges[there[link]]
            raise ProblemError(
                f"edge {source} - {target} is shared and has capacity {of_both[0]}, and edge {target} - {source} has "
                f"{of_both[1]}: they are one link, expected one capacity"
            )
    return set(back.values()), bool(there)


def to_networkx(net: Topology) -> networkx.DiGraph[Any]:
    """`Topology.to_networkx`."""
    graphs = imported()
    names: list[str | int] = [_integer(name) if net.integer_names else name for name in net.node_names]
    links = [(names[source], names[target]) for source, target in net.links.tolist()]
    shared, attributes = net.shared.tolist(), by_link(net, "a graph", ("capacity", NUMBER, SHARED))
    ways = links + [link[::-1] for link, is_shared in zip(links, shared, strict=True) if is_shared]
    graph = (graphs.DiGraph if len(set(ways)) == len(ways) else graphs.MultiDiGraph)(name=net.name)
    if not net.directed:
        graph.graph[BOTH_WAYS] = True
    for place, (name, tier) in enumerate(zip(names, net.tiers.tolist(), strict=True)):
        graph.add_node(name, tier=tier, **({} if place < net.ends else {IS_END: False}))
    if net.positions is not None:
        for name, place in zip(names, net.positions.tolist(), strict=True):
            graph.nodes[name]["pos"] = tuple(place)
    for number, ((source, target), capacity) in enumerate(zip(links, net.capacities.tolist(), strict=True)):
        data = attributes[number] | {"capacity": capacity, NUMBER: number} | ({SHARED: True} if shared[number] else {})
        for one, other in [(source, target), (target, source)][: 1 + shared[number]]:
            key = graph.add_edge(one, other)
            graph.edges[(one, other) if key is None else (one, other, key)].update(data)
    return graph


def by_link(net: Topology, where: str, own: Collection[str]) -> list[dict[str, Any]]:
    """What every link has besides its capacity, for a place where some names are its own.

    Raises
    ------
    ProblemError
        For an attribute of links that has one of these names.
    """
    if taken := [name for name in net.link_attributes if name in own]:
        expected = f"expected another name than {', '.join(own)}"
        raise ProblemError(f"links have an attribute {taken[0]!r}, which {where} has for itself: {expected}")
    found: list[dict[str, Any]] = [{} for _ in range(len(net.links))]
    for name, column in net.link_attributes.items():
        for data, value in zip(found, column if isinstance(column, list) else column.tolist(), strict=True):
            if value != "" and value == value:
                data[name] = value
    return found


def _integer(name: str) -> str | int:
    try:
        return int(name) if str(int(name)) == name else name
    except ValueError:
        return name
