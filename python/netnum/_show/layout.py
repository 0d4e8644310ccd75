"""Where the nodes of a network are drawn, and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._messages import optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._core import Topology


def places(net: Topology) -> NDArray[np.float64]:
    """The place of every node: array of float, shape (nodes, 2)."""
    if net.positions is not None:
        return net.positions
    tiers = net.tiers
    if tiers.max() == 0:
        return _laid_out(net)
    found = np.empty((len(tiers), 2))
    for tier in np.unique(tiers):
        of_tier = np.flatnonzero(tiers == tier)
        found[of_tier, 0] = (np.arange(len(of_tier)) + 0.5) / len(of_tier)
        found[of_tier, 1] = tier
    return found


def _laid_out(net: Topology) -> NDArray[np.float64]:
    """A chain as a line, any other graph as networkx lays it out."""
    nodes = len(net.node_names)
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    if np.array_equal(joined(net)[0], chain):
        return np.column_stack([np.arange(nodes), np.zeros(nodes)])
    networkx = optional("networkx", "drawing a network without tiers or positions needs networkx", "plot")
    graph = networkx.Graph(map(tuple, net.links.tolist()))
    graph.add_nodes_from(range(nodes))
    layout = networkx.kamada_kawai_layout(graph) if nodes <= 300 else networkx.spring_layout(graph, seed=1)
    return np.array([layout[node] for node in range(nodes)])


def drawn_apart(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places of many nodes, halfway between where they are and the same distances: what is west of another stays so."""
    low, span = places.min(axis=0), np.maximum(np.ptp(places, axis=0), 1e-300)
    ranks = np.column_stack([_ranks(column) for column in places.T])
    return low + span * (0.5 * (places - low) / span + 0.5 * ranks)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The places of values in their order, from 0 to 1; equal values share the middle of theirs."""
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts + 1) / 2
    return middles[of.reshape(-1)] / max(len(values) - 1, 1)


def joined(net: Topology) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs of nodes that links join, each once, and the pair of every link."""
    if not len(net.links):
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.intp)
    pairs, line = np.unique(np.sort(net.links, axis=1), axis=0, return_inverse=True)
    return pairs, line.reshape(-1)


def numbered(names: list[str]) -> tuple[str | None, list[str]]:
    """``server`` and the numbers of ``server 0`` to ``server 15``; one name is a word; None for others."""
    words, numbers = zip(*(name.rpartition(" ")[::2] for name in names), strict=True)
    if len(set(words)) == 1 and words[0] and all(number.isdecimal() for number in numbers):
        return words[0], list(numbers)
    return (names[0], [""]) if len(names) == 1 else (None, [])


#: Where a name may stand beside its node, as parts of its width and height: right, left, above, below and between.
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=float)


def names_beside(
    points: NDArray[np.float64], pairs: NDArray[np.intp], names: list[str], size: float, room: float
) -> dict[int, NDArray[np.float64]]:
    """The middles of the names that have room, beside their nodes: nodes with many links first.

    Lengths are in points: the places of the nodes, the size of the font, and the distance of a name to its node. A name
    stands where it covers no other name and no node, and the fewest links; where there is no such place it is left out.
    """
    degrees = np.bincount(pairs.reshape(-1), minlength=len(points))
    # Points on the links, close enough to tell whether a name covers one.
    along = np.linspace(0.0, 1.0, int(np.clip(20_000 // max(len(pairs), 1), 31, 301)))[1:-1, None, None]
    on_links = (points[pairs[:, 0]] * (1 - along) + points[pairs[:, 1]] * along).reshape(-1, 2)
    boxes = np.empty((0, 4))
    middles: dict[int, NDArray[np.float64]] = {}
    for node in np.argsort(-degrees, kind="stable"):
        half = np.array([half_width(names[node], size), 0.6 * size])
        best: tuple[int, NDArray[np.float64]] | None = None
        for side in SIDES:
            middle = points[node] + side * (half + (0.6 * room if side.all() else room))
            low, high = middle - half, middle + half
            if _inside(points, low, high).any() or _overlaps(boxes, low, high):
                continue
            covered = int(_inside(on_links, low, high).sum())
            if best is None or covered < best[0]:
                best = covered, middle
        if best is not None:
            middles[int(node)] = best[1]
            boxes = np.vstack([boxes, np.concatenate([best[1] - half, best[1] + half])])
    return middles


def half_width(name: str, size: float) -> float:
    """Half of the width of a name in a font of this size."""
    return 0.31 * size * len(name)


def _inside(points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.all((points > low) & (points < high), axis=1)
    return inside


def _overlaps(boxes: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    return bool(((boxes[:, :2] < high) & (boxes[:, 2:] > low)).all(axis=1).any())
