"""Workloads as tables, and back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ProblemError, Topology, Workload
from .._messages import did_you_mean
from .._show import frames
from .._tables import columns as read
from .._tables import names_of_columns, names_of_ends

if TYPE_CHECKING:
    import pandas

NEEDED = ("arrival", "source", "destination", "size")
"""The columns of every table."""

OPTIONAL = ("production", "weight", "buffer", "after", "delay", "coflow")
"""Those that one may have; a buffer is one number for all flows."""


def from_pandas(frame: Any, net: Topology | None, columns: Mapping[str, str] | None) -> Workload:
    """`Workload.from_pandas`."""
    names = dict(columns or {})
    for role in names:
        if role not in (*NEEDED, *OPTIONAL):
            near = did_you_mean(str(role), (*NEEDED, *OPTIONAL))
            expected = ", ".join((*NEEDED, *OPTIONAL)) + (f", {near}" if near else "")
            raise ProblemError(f"columns has {role!r}, expected names of {expected}")
    how = 'columns={"size": "bytes"} gives other names'
    known = names_of_columns(frame, how)
    roles = {role: names.get(role, role) for role in NEEDED}
    roles |= {role: names.get(role, role) for role in OPTIONAL if role in names or role in known}
    found = dict(zip(roles, read(frame, roles, how, how), strict=True))
    _warn_of_others([name for name in known if name not in roles.values()], set(OPTIONAL) - set(roles))
    buffer = found.get("buffer", [])
    for flow, one in enumerate(buffer):
        if one != buffer[0]:
            raise ProblemError(f"flow {flow} has buffer {one}, expected {buffer[0]}, one for all flows")
    if "buffer" in found and "production" not in found:
        raise ProblemError("the table has a column 'buffer' and no column 'production', expected both")
    return Workload(
        found["arrival"],
        found["source"],
        found["destination"],
        found["size"],
        found.get("production"),
        buffer[0] if len(buffer) else np.inf,
        weights=found.get("weight"),
        net=net,
        after=_by_place(frame, [_waits(flow, own) for flow, own in enumerate(found["after"])])
        if "after" in found
        else None,
        delay=found.get("delay"),
        coflow=[_coflow(flow, one) for flow, one in enumerate(found["coflow"])] if "coflow" in found else None,
    )


#: Other names of columns that people give.
OTHERS = {"depends_on": "after", "dependencies": "after", "waits_for": "after", "parents": "after", "job": "coflow"}


def _warn_of_others(columns: Sequence[Any], absent: set[str]) -> None:
    """Warns of a column that is left out though its name is nearly that of one that is read."""
    for column in columns:
        role = OTHERS.get(str(column)) or next((role for role in absent if str(column) == f"{role}s"), None)
        if role in absent:
            how = f"columns={{{role!r}: {column!r}}}"
            warnings.warn(
                f"the column {column!r} is left out; as {role!r} it is read by {how}", UserWarning, stacklevel=4
            )


def _by_place(frame: Any, after: list[Any]) -> list[Any]:
    """What flows wait for by their places in the table, where that names them by its index."""
    labels = list(getattr(frame, "index", range(len(after))))
    if labels == list(range(len(after))):
        return after
    places = {label: place for place, label in enumerate(labels)}
    if len(places) < len(labels):
        raise ProblemError("the index of the table has a label twice, and after names flows by it: reset_index() first")

    def place(flow: int, label: Any) -> int:
        if label not in places:
            raise ProblemError(f"flow {flow} has after {label}, expected a label of the index of the table")
        return places[label]

    def own(flow: int, waits: Any) -> Any:
        if waits is None:
            return None
        return place(flow, waits) if np.ndim(waits) == 0 else [place(flow, label) for label in waits]

    return [own(flow, waits) for flow, waits in enumerate(after)]


def _is_missing(value: Any) -> bool:
    """What tables have where nothing is: None, NaN and NA."""
    return value is None or str(value) in ("nan", "<NA>", "NaT", "")


def _waits(flow: int, own: Any) -> Any:
    """The flows that a flow waits for: a list, or text with spaces between their numbers."""
    if isinstance(own, str):
        try:
            return [int(number) for number in own.split()]
        except ValueError:
            expected = "numbers of flows with spaces between them"
            raise ProblemError(f"flow {flow} has after {own!r}, expected {expected}") from None
    if isinstance(own, float) and own.is_integer():
        return int(own)
    return None if np.ndim(own) == 0 and _is_missing(own) else own


def _coflow(flow: int, one: Any) -> int | None:
    """The coflow of a flow, or none."""
    if _is_missing(one):
        return None
    try:
        if float(one) == int(one):
            return int(one)
    except (TypeError, ValueError, OverflowError):
        pass
    expected = "its number, or nothing; pandas.factorize(names)[0] numbers names"
    raise ProblemError(f"flow {flow} has coflow {one!r}, expected {expected}")


def to_pandas(workload: Workload, net: Topology | None) -> pandas.DataFrame:
    """`Workload.to_pandas`."""
    ends = {"source": workload.sources, "destination": workload.destinations}
    named: Mapping[str, Any] = ends
    if net is not None:
        named = {role: names_of_ends(net, f"the {role} of flow", of) for role, of in ends.items()}
    table: dict[str, Any] = {"arrival": workload.arrivals, **named, "size": workload.sizes}
    if workload.production is not None:
        table["production"] = workload.production
    if workload.weights is not None:
        table["weight"] = workload.weights
    if workload.after is not None:
        indptr, indices = workload.after
        table["after"] = np.split(indices, indptr[1:-1])
        table["delay"] = workload.delay
    if workload.coflow is not None:
        table["coflow"] = workload.coflow
    if np.isfinite(workload.buffer):
        table["buffer"] = np.full(len(workload), workload.buffer)
    return frames.table(table, "flow")
