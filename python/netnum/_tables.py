"""Columns of tables by name: of a frame of pandas, a dict of lists, a table of Polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._core import ProblemError
from ._messages import did_you_mean


def columns(frame: Any, roles: dict[str, Any], instead: str) -> list[list[Any]]:
    """The columns of a table that have these roles, by the name of the argument that names the column.

    Raises
    ------
    ProblemError
        For a column that there is not or that there is twice, that is given for two roles, or has another length than
        the first.
    TypeError
        For what has no columns, with what to call instead.
    """
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a table with columns by name, not {type(frame).__name__} ({instead})")
    known = list(getattr(frame, "columns", frame))
    found: dict[Any, tuple[str, list[Any]]] = {}
    for role, column in roles.items():
        if column not in known:
            near = did_you_mean(str(column), [str(name) for name in known])
            meant = f" ({near})" if near else ""
            how = f"give its name as {role}=; its columns: {', '.join(map(str, known))}"
            raise ProblemError(f"the table has no column {column!r}{meant}: {how}")
        check_once(known, column)
        if column in found:
            raise ProblemError(f"{role}= and {found[column][0]}= are both column {column!r}, expected two columns")
        found[column] = (role, list(frame[column]))
        first, expected = next((name, len(entries)) for name, (_, entries) in found.items())
        if len(found[column][1]) != expected:
            length = len(found[column][1])
            raise ProblemError(f"column {column!r} has {length} entries, expected {expected}, as many as {first!r}")
    return [entries for _, entries in found.values()]


def check_once(known: list[Any], column: Any) -> None:
    """Refuses a column that a table has twice."""
    if known.count(column) > 1:
        raise ProblemError(f"the table has {known.count(column)} columns {column!r}, expected one: rename the others")
