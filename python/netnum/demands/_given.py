"""Demands that are given: in a table, a matrix or a file, or with a backbone of the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._core import ProblemError, Topology
from .._tables import columns, end_of
from ..topology import _backbones, _sndlib
from ._table import Demands, ends_of, expect_network, floats

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike, NDArray


def from_pandas(
    net: Topology,
    frame: pandas.DataFrame,
    source: str = "source",
    destination: str = "destination",
    demand: str = "demand",
) -> Demands:
    """The demands of a table with a row for each, in its order.

    Parameters
    ----------
    net : Topology
    frame : pandas.DataFrame
        Or anything else that has columns by name: a dict of lists, a table of Polars.
    source, destination, demand : str
        The columns that hold the ends, by name or by index, and how much is to go between them. Where columns have
        numbers for names, give those.

    Returns
    -------
    Demands

    Raises
    ------
    ProblemError
        For a column that there is not or that there is twice, that is given for two things or has another length than
        the first; for an end that there is not, two equal ends, or a demand that is negative or no finite number,
        naming the row.

    Examples
    --------
    >>> net = netnum.topology.backbone("abilene")
    >>> table = {"source": ["Seattle", "Denver"], "destination": ["Atlanta", "Chicago"], "demand": [100.0, 40.0]}
    >>> netnum.demands.from_pandas(net, table)
    Demands(2, 140 in all)
    """
    expect_network(net, "from_pandas(net, frame)")
    if _is_labelled_matrix(frame):
        raise ProblemError("the table is a matrix with a row and a column per end: netnum.demands.from_matrix reads it")
    return _of_columns(net, frame, {"source": source, "destination": destination, "demand": demand})


def _of_columns(net: Topology, frame: Any, roles: dict[str, Any], how: str | None = None) -> Demands:
    """The demands of a table; `how` says how columns with other names are given."""
    rows = zip(*columns(frame, roles, "from_matrix takes a matrix", how), strict=True)
    return _listed(net, ((f"row {row}", *entries) for row, entries in enumerate(rows)), _refuse)


def from_matrix(net: Topology, matrix: ArrayLike) -> Demands:
    """The demands of a matrix: the volume from the end of every row to the end of every column.

    Zeros are no demands. The diagonal is left out.

    Parameters
    ----------
    net : Topology
    matrix : array of float, shape (ends, ends), or pandas.DataFrame
        Rows and columns in the order of the ends; those of a table that are labelled by ends may be in any order.

    Returns
    -------
    Demands
        Row by row, in the order of the ends.

    Raises
    ------
    ProblemError
        For another shape, an entry that is negative or not finite, naming its ends, and a label that is no end or comes
        twice.

    Examples
    --------
    >>> net = netnum.topology.parking_lot(2)
    >>> netnum.demands.from_matrix(net, [[0, 3, 1], [0, 0, 2], [0, 0, 0]]).destinations
    array([1, 2, 2])
    """
    expect_network(net, "from_matrix(net, matrix)")
    _refuse_rows(matrix)
    entries = floats("matrix", matrix)
    _refuse_part(net, matrix)
    if entries.shape != (net.ends, net.ends):
        raise ProblemError(f"the matrix has shape {entries.shape}, expected ({net.ends}, {net.ends}), one row per end")
    table: Any = matrix
    labels = ends_of(net).tolist()
    if not hasattr(matrix, "columns") and labels != sorted(labels) == list(range(net.ends)):
        raise ProblemError(
            f"the rows may be in the order of the ends, {labels[0]}, {labels[1]}, ..., or in that of their names, "
            "0, 1, ...: give a table with labels, pandas.DataFrame(matrix, index=ends, columns=ends)"
        )
    if hasattr(table, "index") and hasattr(table, "columns"):
        entries = entries[np.ix_(_places(net, "row", table.index), _places(net, "column", table.columns))]
    for row, column in np.argwhere(~((entries >= 0) & np.isfinite(entries)))[:1]:
        names = f"{net.node_names[row]} to {net.node_names[column]}"
        raise ProblemError(f"the demand from {names} is {entries[row, column]}, expected a finite number >= 0")
    rows, columns = np.nonzero(np.where(np.eye(net.ends, dtype=bool), 0.0, entries))
    return Demands(ends_of(net)[rows], ends_of(net)[columns], entries[rows, columns])


def from_sndlib(net: Topology, path_or_text: str | os.PathLike[str]) -> Demands:
    """The demands of an SNDlib file, in XML or in the native format: with its network, or one of a series of matrices.

    Those of 0, and those from a node to itself, are left out. Where the format calls demands undirected, each is one
    that may be routed either way; here it goes from its source to its target.

    Parameters
    ----------
    net : Topology
        Whose nodes have the names of the file's, such as `netnum.topology.from_sndlib` gives.
    path_or_text : str or os.PathLike
        A file, or the text itself, which begins with ``<`` or with ``?SNDlib``.

    Returns
    -------
    Demands

    Raises
    ------
    ProblemError
        When the text is no such file, naming the demand that is wrong.
    OSError
        When a file cannot be read.

    Examples
    --------
    >>> net = netnum.topology.from_sndlib("germany50.xml")  # doctest: +SKIP
    >>> demands = netnum.demands.from_sndlib(net, "germany50.xml")  # doctest: +SKIP
    """
    expect_network(net, "from_sndlib(net, path)")
    return _listed(net, _sndlib.demands_of(path_or_text), lambda *_: None, without_zeros=True)


def backbone(name: str) -> Demands:
    """The published demands of a backbone that comes with the package: of ``"b4"``.

    Parameters
    ----------
    name : str
        As for `netnum.topology.backbone`.

    Returns
    -------
    Demands

    Raises
    ------
    ProblemError
        For a backbone that there is not, or that has none: `gravity` draws some.

    Examples
    --------
    >>> netnum.demands.backbone("b4")
    Demands(132, 48086.9 in all)
    """
    data = _backbones.read(name)
    if "demands" not in data:
        raise ProblemError(f"the backbone {name!r} has no published demands: netnum.demands.gravity draws some")
    net = _backbones.backbone(name)
    return _listed(net, ((f"demand {row}", *entries) for row, entries in enumerate(data["demands"])), _refuse)


def _places(net: Topology, axis: str, labels: Iterable[Any]) -> NDArray[np.intp]:
    """Where a table has what belongs to each end."""
    named = list(labels)
    if named == list(range(net.ends)) and not net.integer_names:
        return np.arange(net.ends)
    places: dict[int, int] = {}
    for place, label in enumerate(named):
        end = end_of(net, f"the matrix, {axis} {place}, label", label)
        if end in places:
            raise ProblemError(f"the matrix has two {axis}s for {net.node_names[end]}, expected one")
        places[end] = place
    return np.array([places[end] for end in range(net.ends)])


def _refuse(what: str, end: str) -> None:
    raise ProblemError(f"{what} goes from {end} to itself, expected two ends")


def _listed(
    net: Topology,
    listed: Iterable[tuple[str, Any, Any, Any]],
    to_itself: Callable[[str, str], None],
    without_zeros: bool = False,
) -> Demands:
    """The demands of a sequence, each with its name for errors."""
    ends, places = ends_of(net), {}
    columns: tuple[list[int], list[int], list[float]] = ([], [], [])
    for what, source, destination, demand in listed:
        pair = []
        for role, end in (("source", source), ("destination", destination)):
            if end not in places:
                places[end] = end_of(net, f"{what}, {role}", end)
            pair.append(places[end])
        try:
            volume = float(demand)
        except (TypeError, ValueError):
            raise ProblemError(f"the demand of {what} is {demand!r}, expected a finite number >= 0") from None
        if not 0 <= volume < float("inf"):
            raise ProblemError(f"the demand of {what} is {volume}, expected a finite number >= 0")
        if pair[0] == pair[1]:
            to_itself(what, net.node_names[pair[0]])
            continue
        if volume > 0 or not without_zeros:
            columns[0].append(int(ends[pair[0]]))
            columns[1].append(int(ends[pair[1]]))
            columns[2].append(volume)
    return Demands(np.array(columns[0], dtype=int), np.array(columns[1], dtype=int), np.array(columns[2]))


def stated(net: Topology, given: Any) -> Demands | list[tuple[Any, Any]] | None:
    """The demands that something states wherever pairs are taken; the pairs of a table without volumes.

    Demands are `Demands`, a dict of volumes by pair, a table with columns, or a matrix of volumes, dense or sparse.
    None stands for pairs one by one or in two columns without names.
    """
    if isinstance(given, Demands):
        return given
    if hasattr(given, "tocsc"):
        return from_matrix(net, given.toarray())
    columns = list(getattr(given, "columns", given if isinstance(given, Mapping) else ()))
    if sorted(map(str, columns)) == ["destination", "source"]:
        return list(zip(given["source"], given["destination"], strict=True))
    _refuse_part(net, given)
    if {"source", "destination"} & set(columns):
        roles = ("source", "destination", "demand")
        how = "netnum.demands.from_pandas(net, frame, source=..., ...) takes other names"
        return _of_columns(net, given, dict(zip(roles, roles, strict=True)), how)
    if len(columns) == 3 and not isinstance(given, Mapping) and net.ends != 3:
        what = f"the table has columns {', '.join(map(str, columns))}, expected source, destination and demand"
        raise ProblemError(f"{what}: netnum.demands.from_pandas(net, frame, source=..., ...) takes other names")
    if isinstance(given, Mapping):
        return _listed(net, ((repr(pair), *_ends_of(pair), volume) for pair, volume in given.items()), _refuse)
    if hasattr(given, "columns"):
        is_matrix = np.shape(given) == (net.ends, net.ends) and (net.ends > 2 or list(given.index) == columns)
        if len(columns) == 2 and not is_matrix and columns != [0, 1]:
            _refuse_pairs(columns)
        return from_matrix(net, given) if is_matrix else None if len(columns) == 2 else from_pandas(net, given)
    entries = np.asarray(given)
    if entries.shape == (2, 2) and entries.dtype.kind in "iu":
        what = "pairs are integers of shape (2, 2), which may be two pairs or a matrix of demands between two ends"
        raise ProblemError(f"{what}: give a list of tuples, or the matrix as floats")
    return None if entries.dtype.kind in "USO" else from_matrix(net, given)


def _is_labelled_matrix(table: Any) -> bool:
    """Whether a table has a row and a column of each of its labels, which are no plain numbers of rows."""
    if not (hasattr(table, "index") and hasattr(table, "columns")) or len(table.index) != len(table.columns):
        return False
    labels = list(table.columns)
    return labels == list(table.index) and labels != list(range(len(labels)))


def _refuse_part(net: Topology, table: Any) -> None:
    """Refuses a matrix with labels of some ends alone."""
    if _is_labelled_matrix(table) and len(table) < net.ends:
        what = f"the matrix has rows of {len(table)} of the {net.ends} ends, expected all"
        are_integers = all(isinstance(label, (int, np.integer)) for label in table.columns)
        indices = "[int(name) for name in net.node_names[:net.ends]]" if net.integer_names else "range(net.ends)"
        names = indices if are_integers else "net.node_names[:net.ends]"
        raise ProblemError(f"{what}: frame.reindex(index=ends, columns=ends, fill_value=0) has them, of ends = {names}")


def _refuse_rows(table: Any) -> None:
    """Refuses a table with a row per demand where a matrix is expected."""
    columns = list(getattr(table, "columns", ()))
    kinds = [getattr(kind, "kind", "f") for kind in getattr(table, "dtypes", ())] if columns else []
    has_rows_of_them = len(table) == len(columns) and set(columns) == set(getattr(table, "index", ()))
    if any(kind not in "biuf" for kind in kinds) and not has_rows_of_them:
        what = f"the table has columns {', '.join(map(str, columns))}, expected a row and a column per end"
        raise ProblemError(f"{what}: netnum.demands.from_pandas reads tables with a row per demand")


def _refuse_pairs(columns: list[Any]) -> NoReturn:
    """Refuses a table of pairs whose columns do not say which end is which."""
    what = f"the table has columns {', '.join(map(str, columns))}, expected source, destination"
    how = "rename the columns, and frame[['source', 'destination']] has them in this order"
    raise ProblemError(f"{what}: {how}; frame.to_numpy() gives pairs by position")


def _ends_of(pair: Any) -> tuple[Any, Any]:
    """The ends of a pair that is a key of a dict."""
    if isinstance(pair, tuple) and len(pair) == 2:
        return pair
    raise TypeError(f'the demand of {pair!r} is of no pair, expected pairs of ends as keys: {{("A", "B"): 3.0}}')
