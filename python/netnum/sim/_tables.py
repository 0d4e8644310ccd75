"""Workloads as tables, and back."""

from __future__ import annotations

from collections.abc import Mapping
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
        after=list(found["after"]) if "after" in found else None,
        delay=found.get("delay"),
        coflow=[None if one is None or one != one else int(one) for one in found["coflow"]]
        if "coflow" in found
        else None,
    )


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
