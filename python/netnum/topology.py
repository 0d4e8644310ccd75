"""Networks: the fabrics that papers use by name, and any other from its edges.

Each function gives a `Topology`, with `capacities`, `link_names`, `ecmp`, `paths`, `random_pairs` and `plot`. Servers
are numbered rack by rack from 0.
"""

from __future__ import annotations

import os
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._core import ProblemError, Topology

if TYPE_CHECKING:
    import networkx

__all__ = [
    "Topology",
    "fat_tree",
    "from_edges",
    "from_networkx",
    "leaf_spine",
    "parking_lot",
    "single_link",
    "star",
]

leaf_spine = Topology.leaf_spine
fat_tree = Topology.fat_tree
single_link = Topology.single_link
parking_lot = Topology.parking_lot
star = Topology.star


def from_edges(path_or_text: str | os.PathLike[str]) -> Topology:
    """A network from lines ``node node capacity``, in a file or in the text itself.

    Blank lines and lines that start with ``#`` are skipped. Edge i, "a b c", is link 2i from a to b and link 2i + 1
    from b to a, each of capacity c. All nodes are ends, numbered by first appearance.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A path-like is a file. A str is the text when it has several lines or three words, else the name of a file.

    Returns
    -------
    Topology
        Named after the file.

    Raises
    ------
    ProblemError
        With the number of the line that is wrong, or when a str is neither a text nor the name of a file.
    OSError
        When a file cannot be read.
    """
    if isinstance(path_or_text, str):
        if "\n" in path_or_text or len(path_or_text.split()) == 3 or not path_or_text.strip():
            return Topology.from_edges(path_or_text)
        if not os.path.isfile(path_or_text):
            short = path_or_text if len(path_or_text) <= 60 else path_or_text[:57] + "..."
            raise ProblemError(f"{short!r} is neither an existing file nor lines of node node capacity")
    path = Path(path_or_text)
    return Topology.from_edges(path.read_text(encoding="utf-8"), name=path.stem)


def from_networkx(g: networkx.Graph[Any], capacity: str = "capacity") -> Topology:
    """A network from a networkx graph.

    Every edge of a `DiGraph` is a link; every edge of a `Graph` is two, one each way, the first in the edge's
    direction. All nodes are ends, named by ``str(node)``, in the graph's order; where their labels are the integers
    from 0 to n - 1, in the order of these. Where every node has an attribute ``pos``, it is where it is drawn.

    Where all labels are integers, an integer is a label and never a place in that order: with the labels 10, 20 and 30,
    ``ecmp([10], [30])`` goes from node 10 to node 30, ``ecmp([0], [1])`` is refused, and `random_pairs` gives labels.
    Where some are, an integer that is one of them is refused as well: write ``"10"``. Otherwise it is an index.
    `Workload` counts its ends by index always.

    Parameters
    ----------
    g : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    capacity : str
        The attribute of every edge that holds its capacity.

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        Naming an edge without a capacity, or with a bad one, or two nodes of one name.
    """
    nodes = list(g.nodes)
    integers = [isinstance(node, Integral) and not isinstance(node, bool) for node in nodes]
    if all(integers) and set(nodes) == set(range(len(nodes))):
        nodes.sort()
        integers = [False] * len(nodes)
    number = {node: index for index, node in enumerate(nodes)}
    links: list[tuple[int, int]] = []
    capacities: list[float] = []
    for source, target, attributes in g.edges(data=True):
        edge = f"edge {source} - {target}"
        if capacity not in attributes:
            raise ProblemError(f"{edge} has no attribute {capacity!r}, expected its capacity")
        try:
            carries = float(attributes[capacity])
        except (TypeError, ValueError):
            found = attributes[capacity]
            raise ProblemError(f"{edge} has {capacity} {found!r}, expected a finite number >= 0") from None
        if not 0 <= carries < float("inf"):
            raise ProblemError(f"{edge} has {capacity} {carries}, expected a finite number >= 0")
        ways = [(number[source], number[target])]
        if not g.is_directed():
            ways.append((number[target], number[source]))
        links += ways
        capacities += [carries] * len(ways)
    places = [g.nodes[node].get("pos") for node in nodes]
    return Topology(
        [str(node) for node in nodes],
        links,
        capacities,
        name=str(g.name) or "graph",
        positions=None if any(place is None or len(place) != 2 for place in places) else places,
        integer_names=any(integers),
    )
