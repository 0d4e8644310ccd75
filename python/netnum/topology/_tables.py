"""Networks from tables of edges, and the tables of networks; networks from matrices of capacities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ProblemError, Topology
from .._show import frames
from .._tables import check_once, columns, names_of_columns
from ._graphs import NUMBER, SHARED, by_link
from ._named import CAPACITY, Edge, links_of, network, shared_edges

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike

NODES = "netnum.Topology"
"""The key of `DataFrame.attrs` that has what a table of links does not: the nodes, and the name of the network."""


def from_pandas(
    frame: pandas.DataFrame,
    source: str = "source",
    target: str = "target",
    capacity: str = "capacity",
    *,
    directed: bool | None = None,
    shared: bool | str = False,
) -> Topology:
    """A network from a table with a row for each edge, in its order.

    Row i is link 2i from its source to its target and link 2i + 1 back, each of its capacity, which is >= 0; inf or
    None is no limit. All nodes are ends, numbered as by `from_edges`. The other columns are kept as
    `Topology.link_attributes`.

    A frame that `Topology.to_pandas` has made has a row for each link and the nodes in ``frame.attrs``: it is read as
    an equal network, a part of it with the links that are left. A CSV file of it has lost these: it is read with
    ``directed=True``, and the column ``link``, where it has the integers from 0 to n - 1, is the numbers of links.

    Parameters
    ----------
    frame : pandas.DataFrame
        Or anything else that has columns by name: a dict of lists, a table of Polars.
    source, target, capacity : str
        The columns that hold the nodes that an edge joins, named by str or by integers, and its capacity. Where columns
        have numbers for names, give those.
    directed : bool, optional
        Whether row i is link i alone, from its source to its target. By default where `Topology.to_pandas` has made the
        table.
    shared : bool or str
        Whether every row is one link that both directions share, or the column of bools that says so of each. In a
        table that `Topology.to_pandas` has made, by default the column ``shared``, if there is one.

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        For a column that there is not or that there is twice, that is given for two things or has another length than
        the first; for a capacity that is wrong, naming the row; for rows in both directions that are not `directed`;
        and for a node that ``frame.attrs`` lacks.
    TypeError
        For a node that is neither a str nor an integer.

    Examples
    --------
    >>> table = {"from": ["Oslo", "Bergen"], "to": ["Bergen", "Voss"], "gbps": [10.0, 4.0]}
    >>> netnum.topology.from_pandas(table, source="from", target="to", capacity="gbps").link_names
    ['Oslo -> Bergen', 'Bergen -> Oslo', 'Bergen -> Voss', 'Voss -> Bergen']
    """
    roles = {"source": source, "target": target, "capacity": capacity}
    instead = "from_edges takes a list, from_matrix a matrix"
    known = names_of_columns(frame, instead)
    stated = getattr(frame, "attrs", {}).get(NODES) if directed is not False else None
    is_whole = directed is True and stated is None
    numbers = _numbers(frame, known, is_whole) if is_whole or stated is not None else None
    if stated is not None and shared is False and SHARED in known:
        shared = SHARED
    if isinstance(shared, str):
        roles["shared"] = shared
    found = columns(frame, roles, instead)
    are_shared: Any = found.pop() if isinstance(shared, str) else shared
    rows = list(zip(*found, strict=True))
    own = [*roles.values(), *([NUMBER] if numbers is not None else [])]
    names = [name for name in known if name not in own]
    for name in names:
        check_once(known, name)
    others = [list(frame[name]) for name in names]

    def edge(place: int) -> Edge:
        attributes = {name: values[place] for name, values in zip(names, others, strict=True)}
        row_source, row_target, row_capacity = rows[place]
        return Edge(f"row {place}", row_source, row_target, row_capacity, attributes)

    order = np.argsort(numbers).tolist() if numbers is not None else range(len(rows))
    edges = [edge(place) for place in order]
    if isinstance(shared, str) and numbers is not None:
        are_shared = [are_shared[place] for place in order]
    if stated is not None:
        return _of_links(edges, are_shared, stated, directed)
    return network(edges, directed=directed is True, shared=are_shared)


def to_pandas(net: Topology) -> pandas.DataFrame:
    """`Topology.to_pandas`."""
    by_link(net, "a table of links", ("source", "target", "capacity", NUMBER, SHARED))
    names = net.node_names
    table: dict[str, Any] = {
        end: [names[node] for node in nodes]
        for end, nodes in zip(("source", "target"), net.links.T.tolist(), strict=True)
    }
    table["capacity"] = net.capacities
    if net.shared.any():
        table[SHARED] = net.shared
    frame = frames.table(table | net.link_attributes, NUMBER)
    frame.attrs[NODES] = {
        "name": net.name,
        "node_names": names,
        "ends": net.ends,
        "tiers": net.tiers.tolist(),
        "positions": None if net.positions is None else net.positions.tolist(),
        "directed": net.directed,
    }
    return frame


def _numbers(frame: Any, known: list[Any], is_whole: bool) -> list[int] | None:
    """The number of the link of every row, where a table has them: of a whole network each from 0 to n - 1."""
    if NUMBER in known:
        check_once(known, NUMBER)
        numbers = list(frame[NUMBER])
    elif getattr(getattr(frame, "index", None), "name", None) == NUMBER:
        numbers = list(frame.index)
    else:
        return None
    if any(isinstance(number, bool) or not isinstance(number, Integral) for number in numbers):
        return None
    are_numbers = len(set(numbers)) == len(numbers) and not (is_whole and set(numbers) != set(range(len(numbers))))
    return [int(number) for number in numbers] if are_numbers else None


def _of_links(edges: list[Edge], shared: Any, stated: Mapping[str, Any], directed: bool | None) -> Topology:
    """A network of links between nodes that are stated."""
    place = {name: node for node, name in enumerate(stated["node_names"])}
    ways = []
    for edge in edges:
        for end in (str(edge.source), str(edge.target)):
            if end not in place:
                raise ProblemError(
                    f"{edge.what} names the node {end!r}, which is none of the {len(place)} of the frame's "
                    f"attrs[{NODES!r}]: without these, frame.attrs.clear(), its nodes are those of its links"
                )
        ways.append([(place[str(edge.source)], place[str(edge.target)])])
    are_shared = shared_edges(shared, len(edges), directed=False)
    edges = [edge._replace(shared=one) for edge, one in zip(edges, are_shared, strict=True)]
    return Topology(
        stated["node_names"],
        **links_of(edges, ways),
        ends=stated["ends"],
        tiers=stated["tiers"],
        name=stated["name"],
        positions=stated["positions"],
        directed=stated["directed"] if directed is None else directed,
    )


def from_matrix(
    capacities: ArrayLike, names: Sequence[str] | None = None, *, directed: bool | None = None, shared: bool = False
) -> Topology:
    """A network from a matrix of capacities: the link from the node of every row to the node of every column.

    Zeros are no links, inf is a link without a limit. All nodes are ends, in the order of the rows.

    Parameters
    ----------
    capacities : array of float, shape (nodes, nodes), SciPy sparse matrix, or pandas.DataFrame
        The rows and columns of a frame are labelled by the names of the nodes; its columns may be in any order.
    names : sequence of str, optional
        One per node. By default the labels of a frame, else "node 0", "node 1", …
    directed : bool, optional
        True makes one link of every entry, row by row; False one edge of an entry and its mirror image, which are equal
        or of which one is 0, and two links of every edge, as `from_edges` does. By default every entry is one link, as
        long as some lie on both sides of the diagonal.
    shared : bool
        Whether every edge is one link that both directions share, its entries read as with ``directed=False``.

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        For another shape; an entry that is negative or not a number, or on the diagonal, naming its nodes; labels of
        rows that are not those of columns; without `directed`, entries on one side of the diagonal alone; and, with
        ``directed=False``, two entries for one edge that differ.

    Examples
    --------
    >>> net = netnum.topology.from_matrix([[0, 10, 0], [10, 0, 4], [0, 4, 0]], names=["a", "b", "c"])
    >>> net.link_names
    ['a -> b', 'b -> a', 'b -> c', 'c -> b']
    """
    nodes, rows, cols, entries = _entries(capacities, names)
    count = len(nodes)
    for row, column, entry in zip(rows, cols, entries, strict=True):
        what = f"the capacity from {nodes[row]} to {nodes[column]}"
        if not entry >= 0:
            raise ProblemError(f"{what} is {entry}, expected {CAPACITY}")
        if row == column:
            raise ProblemError(f"{what} is {entry}, expected 0: no link joins a node to itself")
    if directed is None and shared:
        directed = False
    if directed is None:
        directed = True
        if len(rows) > 0 and ((rows < cols).all() or (rows > cols).all()):
            raise ProblemError(
                "all entries of the matrix are on one side of the diagonal: "
                "give directed=False where each is an edge with two links, directed=True where it is one link"
            )
    if not directed:
        rows, cols, entries = _folded(nodes, rows, cols, entries)
    return network(_links(nodes, rows, cols, entries), directed=directed, shared=shared, nodes=nodes[:count])


def _links(nodes: list[Any], rows: Any, cols: Any, entries: Any) -> Iterator[Edge]:
    for row, column, entry in zip(rows.tolist(), cols.tolist(), entries.tolist(), strict=True):
        yield Edge(f"the entry from {nodes[row]} to {nodes[column]}", nodes[row], nodes[column], entry)


def _entries(capacities: Any, names: Sequence[str] | None) -> tuple[list[Any], Any, Any, Any]:
    """The nodes of a matrix, and its entries other than 0: their rows, their columns and their values, row by row."""
    labels = None
    if hasattr(capacities, "index") and hasattr(capacities, "columns"):
        labels = list(capacities.index)
        places = {str(column): place for place, column in enumerate(capacities.columns)}
        texts = [str(label) for label in labels]
        if sorted(texts) != sorted(map(str, capacities.columns)) or len(set(texts)) < len(texts):
            across = ", ".join(map(str, capacities.columns))
            down = ", ".join(map(str, labels))
            raise ProblemError(f"the rows of the table are {down} and its columns {across}, expected each node once")
        capacities = capacities.iloc[:, [places[text] for text in texts]].to_numpy()
    if hasattr(capacities, "tocoo"):
        matrix = capacities.tocsr(copy=True)
        matrix.sum_duplicates()
        shape, matrix = matrix.shape, matrix.tocoo()
        rows, cols, entries = matrix.row, matrix.col, np.asarray(matrix.data, dtype=float)
        rows, cols, entries = (column[entries != 0] for column in (rows, cols, entries))
    else:
        try:
            matrix = np.asarray(capacities, dtype=float)
        except (TypeError, ValueError) as error:
            raise TypeError(f"capacities must be a matrix of numbers: {error}") from None
        shape = matrix.shape
        if len(shape) == 2:
            rows, cols = np.nonzero(matrix)
            entries = matrix[rows, cols]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ProblemError(f"the matrix has shape {shape}, expected (nodes, nodes)")
    nodes = list(labels if names is None and labels is not None else names or ())
    if names is None and labels is None:
        nodes = [f"node {node}" for node in range(shape[0])]
    if len(nodes) != shape[0]:
        raise ProblemError(f"names has {len(nodes)} entries, expected {shape[0]}, one per row of the matrix")
    return nodes, rows, cols, entries


def _folded(nodes: list[Any], rows: Any, cols: Any, entries: Any) -> tuple[Any, Any, Any]:
    """Every edge once, from its first entry."""
    found: dict[tuple[int, int], float] = {}
    for row, column, entry in zip(rows.tolist(), cols.tolist(), entries.tolist(), strict=True):
        other = found.get((column, row), entry)
        if other != entry:
            one = f"{other} from {nodes[column]} to {nodes[row]} and {entry} back"
            raise ProblemError(f"the matrix has the capacity {one}, and an edge has one: directed=True takes both")
        if (column, row) not in found:
            found[row, column] = entry
    pairs = np.array(list(found), dtype=int).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.array(list(found.values()))
