"""Networks from GraphML and GML files, such as those of the Internet Topology Zoo, and GraphML of networks."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core import ProblemError, Topology
from . import _files
from ._graphs import BOTH_WAYS, IS_END, NUMBER, SHARED, by_link, from_networkx, imported

if TYPE_CHECKING:
    import networkx

ATTRIBUTES = ("capacity", "LinkSpeedRaw")
"""The attributes that may hold the capacity of an edge: the first that it has counts."""

LABELS = ("label", "name")
"""The attributes that may hold the name of a node, in any case: the first that it has counts."""

PLACES = (("longitude", "latitude"), ("lon", "lat"), ("x", "y"))
"""The attributes that may hold the position of a node, in any case: the first that all nodes have counts."""

GRAPH = r"\bgraph\s*\["
"""Where the content of a GML file begins."""

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML cannot have."""

TYPES: dict[type, str] = {bool: "boolean", int: "int", float: "double", str: "string"}
"""What GraphML calls a type."""


def from_graphml(
    path_or_text: str | os.PathLike[str],
    capacity: float | None = None,
    *,
    attribute: str | None = None,
    directed: bool | None = None,
    shared: bool | str = False,
) -> Topology:
    """A network from a GraphML file, such as those of the Internet Topology Zoo.

    Nodes are named by their attribute ``label`` or else ``name``, followed by their id where two have the same one, or
    by their id. Where all have a ``longitude`` and a ``latitude``, a ``lon`` and a ``lat``, or an ``x`` and a ``y``,
    in any case, that is where they are drawn. Every edge of an undirected graph is two links, one each way. Edges from
    a node to itself are left out: no path crosses them. The other attributes of edges are kept as
    `Topology.link_attributes`.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A file, or the text itself, which begins with ``<``.
    capacity : float, optional
        That of links whose edge has none. By default they have no limit, as long as some edges have a capacity.
    attribute : str, optional
        The attribute of edges that holds their capacity. By default ``capacity``, or else ``LinkSpeedRaw``, which in
        the Topology Zoo is in bit/s.
    directed : bool, optional
        Whether every edge is one link, from its source to its target, and not two. By default as the file says: give
        False for a file whose editor has marked it ``directed`` although its links work both ways.
    shared : bool or str
        Whether every edge is one link that both directions share, or the attribute of edges that says so of each.

    Returns
    -------
    Topology
        Named as the graph or after the file. All nodes are ends.

    Raises
    ------
    ProblemError
        When the text is no GraphML, or no edge has a capacity and none is given, with the attributes of edges; a node
        whose position is no number; with ``directed=False`` two edges that join the same nodes in both directions.
    ImportError
        Without networkx: ``pip install "netnum[graphs]"``.
    OSError
        When a file cannot be read.

    Notes
    -----
    Source of the Topology Zoo: Knight, Nguyen, Falkner, Bowden, Roughan, *The Internet Topology Zoo*, IEEE JSAC 29(9),
    2011.

    Examples
    --------
    >>> net = netnum.topology.from_graphml("Abilene.graphml", capacity=10e9)  # doctest: +SKIP
    """
    data, stem = _files.content(path_or_text, lambda text: text.lstrip().startswith("<"), "GraphML")
    graphs = imported()
    if directed:  # networkx forgets which end of an undirected edge is its source
        data = re.sub(rb"""\bedgedefault\s*=\s*(["'])undirected\1""", b'edgedefault="directed"', data)
    try:
        graph = graphs.read_graphml(io.BytesIO(data))
    except Exception as error:  # of many kinds: the parser's, networkx's, and whatever a bad attribute raises
        raise ProblemError(f"{stem} is no GraphML: {error}") from error
    return _network(graph, stem, capacity, attribute, directed, shared)


def from_gml(
    path_or_text: str | os.PathLike[str],
    capacity: float | None = None,
    *,
    attribute: str | None = None,
    directed: bool | None = None,
    shared: bool | str = False,
) -> Topology:
    """A network from a GML file, such as those of the Internet Topology Zoo.

    All is as with `from_graphml`.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A file, or the text itself, which contains ``graph [``.
    capacity : float, optional
        That of links whose edge has none.
    attribute : str, optional
        The attribute of edges that holds their capacity. By default ``capacity``, or else ``LinkSpeedRaw``.
    directed : bool, optional
        Whether every edge is one link and not two. By default as the file says.
    shared : bool or str
        As with `from_graphml`.

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        When the text is no GML, or as with `from_graphml`.
    ImportError
        Without networkx: ``pip install "netnum[graphs]"``.
    OSError
        When a file cannot be read.

    Examples
    --------
    >>> text = '''graph [ node [ id 0 label "A" ] node [ id 1 label "B" ]
    ...                   edge [ source 0 target 1 capacity 2.5 ] ]'''
    >>> netnum.topology.from_gml(text).link_names
    ['A -> B', 'B -> A']
    """
    data, stem = _files.content(path_or_text, lambda text: re.search(GRAPH, text) is not None, "GML")
    graphs = imported()
    text = _files.decoded(data)
    declared = []
    if "multigraph" not in text:  # many files with parallel edges do not declare it
        declared.append("multigraph 1")
    if directed:  # networkx forgets which end of an undirected edge is its source
        text = re.sub(r"\bdirected\s+0\b", "", text, count=1)
        declared.append("directed 1")
    text = re.sub(GRAPH, "\n".join(["graph [", *declared, ""]), text, count=1)
    try:
        graph = graphs.parse_gml(text, label="id")
    except Exception as error:  # networkx's errors, and whatever a bad value raises
        raise ProblemError(f"{stem} is no GML: {error}") from error
    return _network(graph, stem, capacity, attribute, directed, shared)


def to_graphml(net: Topology, path: str | os.PathLike[str] | None) -> str | None:
    """`Topology.to_graphml`."""
    ends, shared = net.links.tolist(), net.shared.tolist()
    attributes = by_link(net, "GraphML", ("capacity", NUMBER, SHARED, "key"))
    nodes: list[dict[str, Any]] = [{"tier": tier} for tier in net.tiers.tolist()]
    for data in nodes[net.ends :]:
        data[IS_END] = False
    for data, (across, up) in zip(nodes, () if net.positions is None else net.positions.tolist(), strict=False):
        data["x"], data["y"] = across, up
    edges = []
    for number, ((source, target), capacity) in enumerate(zip(ends, net.capacities.tolist(), strict=True)):
        own = {"capacity": capacity, NUMBER: number} | ({SHARED: True} if shared[number] else {})
        for one, other in [(source, target), (target, source)][: 1 + shared[number]]:
            edges.append((one, other, own | attributes[number]))
    graph = {"name": net.name} | ({} if net.directed else {BOTH_WAYS: True})

    keys: dict[tuple[str, str, type], str] = {}
    names = [_xml(name, f"the name of node {place}") for place, name in enumerate(net.node_names)]
    body = ['  <graph edgedefault="directed">', *_data(keys, "graph", graph, 4)]
    for name, data in zip(names, nodes, strict=True):
        body += [f'    <node id="{name}">', *_data(keys, "node", data, 6), "    </node>"]
    for source, target, data in edges:
        body += [f'    <edge source="{names[source]}" target="{names[target]}">']
        body += [*_data(keys, "edge", data, 6), "    </edge>"]
    declared = [
        f'  <key id="{key}" for="{place}" attr.name="{_xml(name, "the name of an attribute")}" '
        f'attr.type="{TYPES[kind]}"/>'
        for (place, name, kind), key in keys.items()
    ]
    first = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    text = "\n".join([*first, *declared, *body, "  </graph>", "</graphml>", ""])
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", newline="\n")
    return None


def _data(
    keys: dict[tuple[str, str, type], str], place: str, attributes: Mapping[str, Any], indent: int
) -> Iterable[str]:
    """The lines of some attributes, whose keys are declared."""
    for name, value in attributes.items():
        key = keys.setdefault((place, name, type(value)), f"d{len(keys)}")
        text = _xml(str(value).lower() if isinstance(value, bool) else str(value), f"attribute {name!r}")
        yield f'{" " * indent}<data key="{key}">{text}</data>'


def _xml(text: str, what: str) -> str:
    """A text as XML has it, also between quotes."""
    if wrong := NO_XML.search(text):
        raise ProblemError(f"{what} is {text!r}, and GraphML has no character {wrong[0]!r}: save(path) writes JSON")
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
    return "".join(marks.get(mark, mark) for mark in text)


def _network(
    graph: networkx.Graph[Any],
    stem: str,
    capacity: float | None,
    attribute: str | None,
    directed: bool | None,
    shared: bool | str,
) -> Topology:
    """The network of a graph whose nodes are ids."""
    if isinstance(capacity, str):
        raise TypeError(f"capacity must be a number, for links without one, not a str: give attribute={capacity!r}")
    title = str(graph.graph.get("Network") or graph.graph.get("label") or graph.graph.get("name", stem))
    graph.remove_edges_from([edge for edge in graph.edges if edge[0] == edge[1]])
    names = _names(graph)
    attributes = ATTRIBUTES if attribute is None else (attribute,)
    known: dict[str, None] = {}
    without = 0
    for *_, data in graph.edges(data=True):
        known |= dict.fromkeys(map(str, data))
        found = next((data[name] for name in attributes if data.get(name) not in (None, "")), None)
        without += found is None
        data["capacity"] = capacity if found is None else found
    if capacity is None and without == len(graph.edges) > 0:
        kinds = " or ".join(repr(name) for name in attributes)
        have = f"edges have {', '.join(known)}" if known else "edges have no attributes"
        raise ProblemError(
            f"no edge of {title} has an attribute {kinds}: give capacity=, that of all links, or attribute= ({have})"
        )
    _place(graph, names)
    graph = imported().relabel_nodes(graph, names)
    graph.graph["name"] = title
    return from_networkx(graph, directed=directed, shared=shared)


def _place(graph: networkx.Graph[Any], names: dict[Any, str]) -> None:
    """Gives every node its position, where all have one."""
    attributes = {node: _lowered(data) for node, data in graph.nodes.items()}
    for both in PLACES:
        if not all(name in data for data in attributes.values() for name in both):
            continue
        for node, data in attributes.items():
            try:
                graph.nodes[node]["pos"] = tuple(float(data[name]) for name in both)
            except (TypeError, ValueError):
                found = " and ".join(f"{name} {data[name]!r}" for name in both)
                raise ProblemError(f"node {names[node]} has {found}, expected numbers") from None
        return


def _lowered(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes that are not empty, by their names in lower case."""
    return {name.lower(): value for name, value in attributes.items() if value not in (None, "")}


def _names(graph: networkx.Graph[Any]) -> dict[Any, str]:
    def labelled(node: Any) -> str:
        attributes = _lowered(graph.nodes[node])
        return str(next((attributes[name] for name in LABELS if name in attributes), node))

    labels = {node: labelled(node) for node in graph.nodes}
    counts: dict[str, int] = {}
    for label in labels.values():
        counts[label] = counts.get(label, 0) + 1
    return {node: label if counts[label] == 1 else f"{label} ({node})" for node, label in labels.items()}
