"""Columns of tables by name, of a frame of pandas, a dict of lists, a table of Polars, and the ends in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._core import ProblemError, Topology
from ._messages import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def columns(frame: Any, roles: dict[str, Any], instead: str, how: str | None = None) -> list[list[Any]]:
    """The columns of a table that have these roles, by the name of the argument that names the column.

    `how` says how another column is named; by default the argument does.

    Raises
    ------
    ProblemError
        For a column that there is not or that there is twice, that is given for two roles, or has another length than
        the first.
    TypeError
        For what has no columns, with what to call instead.
    """
    known = names_of_columns(frame, instead)
    found: dict[Any, tuple[str, list[Any]]] = {}
    for role, column in roles.items():
        if column not in known:
            near = did_you_mean(str(column), [str(name) for name in known])
            meant = f" ({near})" if near else ""
            instead = f"{how or f'give its name as {role}='}; its columns: {', '.join(map(str, known))}"
            raise ProblemError(f"the table has no column {column!r}{meant}: {instead}")
        check_once(known, column)
        if column in found:
            raise ProblemError(f"{role}= and {found[column][0]}= are both column {column!r}, expected two columns")
        found[column] = (role, list(frame[column]))
        first, expected = next((name, len(entries)) for name, (_, entries) in found.items())
        if len(found[column][1]) != expected:
            length = len(found[column][1])
            raise ProblemError(f"column {column!r} has {length} entries, expected {expected}, as many as {first!r}")
    return [entries for _, entries in found.values()]


def names_of_columns(frame: Any, instead: str) -> list[Any]:
    """The names of the columns of a table; what has none is refused, with what to call instead."""
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a table with columns by name, not {type(frame).__name__} ({instead})")
    return list(getattr(frame, "columns", frame))


def check_once(known: list[Any], column: Any) -> None:
    """Refuses a column that a table has twice."""
    if known.count(column) > 1:
        raise ProblemError(f"the table has {known.count(column)} columns {column!r}, expected one: rename the others")


def end_of(net: Topology, what: str, end: Any) -> int:
    """The index of an end, by its name or as the network takes it; `what` is it in errors."""
    try:
        node = net.node(end)
    except (ProblemError, TypeError) as error:
        raise ProblemError(f"{what}: {error}") from None
    if node >= net.ends:
        raise ProblemError(f"{what}: {net.node_names[node]} is no end of {net.name}")
    return node


def names_of_ends(net: Topology, what: str, ends: NDArray[np.int64]) -> list[str]:
    """The names of the ends of a column; `what` and its place are one in errors."""
    known, names = net.node_names, dict[int, str]()
    for place, end in enumerate(ends.tolist()):
        if end not in names:
            names[end] = known[end_of(net, f"{what} {place}", end)]
    return [names[end] for end in ends.tolist()]
