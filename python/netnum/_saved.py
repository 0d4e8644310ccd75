"""Files of problems, solutions, networks, demands and workloads: JSON that says its kind, and `netnum.load`.

A network, demands and a workload are the arguments that make them again, a solution its fields. In numbers null is inf,
but in attributes of links, where it is NaN.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Certificate, NumError, Problem, ProblemError, Solution, Topology, Trace, Workload
from ._messages import did_you_mean
from .demands import Demands

if TYPE_CHECKING:
    from numpy.typing import NDArray

ARGUMENTS: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "network": (Topology, ("node_names", "links", "capacities")),
    "demands": (Demands, ("sources", "destinations", "volumes")),
    "workload": (Workload, ("arrivals", "sources", "destinations", "sizes", "production", "buffer")),
}
"""The kinds that are made from arguments, with the names of those that are given by position."""

TRACE = ("iteration", "gap", "overload", "kkt_residual", "seconds", "tol")
"""The arguments of a `Trace`."""

KINDS = ("problem", "solution", *ARGUMENTS)

FIRST = re.compile(r'\s*\{\s*"kind"\s*:\s*"(\w+)"')
"""How a file begins that `save` has written."""

OTHERS = {
    ".graphml": "netnum.topology.from_graphml",
    ".gml": "netnum.topology.from_gml",
    ".xml": "netnum.topology.from_sndlib",
    ".csv": "netnum.sim.Workload.from_csv, or pandas.read_csv,",
    ".pickle": "pickle.load",
    ".pkl": "pickle.load",
}
"""What reads other files, by their endings."""


OTHER_WRITERS = {
    ".graphml": "net.to_graphml(path) writes GraphML",
    ".gml": "networkx.write_gml(net.to_networkx(), path) writes GML",
    ".xml": "end it in .json",
    ".csv": "to_pandas().to_csv(path) writes tables, and workload.to_csv(path) traces",
    ".pickle": "pickle.dump writes pickles",
    ".pkl": "pickle.dump writes pickles",
    ".npz": "numpy.savez(path, rates=solution.rates) writes arrays",
    ".npy": "numpy.save(path, solution.rates) writes an array",
}
"""What writes other files, by their endings."""


def save(thing: Any, path: str | os.PathLike[str]) -> None:
    """Write a problem, solution, network, demands or workload to a file."""
    if (ending := Path(path).suffix.lower()) in OTHER_WRITERS:
        raise NumError(f"save writes JSON, and {os.fspath(path)} ends in {ending}: {OTHER_WRITERS[ending]}")
    write(path, _text(thing))


def write(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file, in UTF-8 and with the same ends of lines everywhere."""
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def load(path: str | os.PathLike[str]) -> Problem | Solution | Topology | Demands | Workload:
    r"""Read what ``save`` has written: a problem, a solution, a network, demands or a workload.

    Parameters
    ----------
    path : str or os.PathLike
        A file that the method `save` of one of these has written: JSON, whose field ``kind`` says what it is.

    Returns
    -------
    Problem, Solution, Topology, Demands or Workload
        Equal to what was saved; a solution has the same values, and its problem, where that could be saved.

    Raises
    ------
    NumError
        For a file that is no such JSON, with what reads it, where its ending says so; for a field that is missing.
    ProblemError
        For what the problem, network, demands or workload refuses.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ring.json"
    >>> net = netnum.topology.from_edges("A B 10\nB C 6\nC A 4")
    >>> net.save(file)
    >>> netnum.load(file) == net
    True
    """
    text = Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    try:
        return _read(text)
    except json.JSONDecodeError as error:
        reader = OTHERS.get(Path(path).suffix.lower())
        instead = f": {reader} reads such files" if reader else f", {error}"
        raise NumError(f"{os.fspath(path)} is not JSON{instead}") from None
    except NumError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None


def text_of_network(net: Topology) -> str:
    """The network of a problem, which has the capacities."""
    fields = _arguments(net, ARGUMENTS["network"][1])
    del fields["capacities"]
    return json.dumps(fields)


def network_of(text: str, capacities: NDArray[np.float64]) -> Topology:
    """The network of a problem with these capacities."""
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise NumError(f"the problem has the network {fields!r}, expected its fields")
    return _made("network", {**fields, "capacities": capacities})


def _text(thing: Any) -> str:
    if isinstance(thing, Problem):
        return '{"kind":"problem",' + thing.to_json()[1:]
    if isinstance(thing, Solution):
        return json.dumps({"kind": "solution"} | _fields(thing))
    kind = next(kind for kind, (what, _) in ARGUMENTS.items() if isinstance(thing, what))
    return json.dumps({"kind": kind} | _arguments(thing, ARGUMENTS[kind][1]))


def _read(text: str) -> Any:
    first = FIRST.match(text)
    if first and first[1] == "problem":
        return Problem.from_json(text)
    fields = json.loads(text)
    kind = fields.pop("kind", None) if isinstance(fields, dict) else None
    if kind is None:
        has = isinstance(fields, dict) and {"capacity", "paths", "utility"} <= fields.keys()
        instead = ": netnum.Problem.from_json reads the text of a problem" if has else ""
        raise NumError(f"it has no field 'kind', which says what was saved{instead}")
    if kind == "problem":
        return Problem.from_json(text)
    if kind == "solution":
        return _solution(fields)
    if not isinstance(kind, str) or kind not in ARGUMENTS:
        near = did_you_mean(str(kind), KINDS)
        raise NumError(f"its kind is {kind!r}, expected one of {', '.join(KINDS)}{f', {near}' if near else ''}")
    return _made(kind, fields)


def _arguments(thing: Any, positional: tuple[str, ...]) -> dict[str, Any]:
    """The arguments that make a thing again, but for those that are None."""
    if hasattr(thing, "__getnewargs_ex__"):
        values, others = thing.__getnewargs_ex__()
    elif hasattr(thing, "__getnewargs__"):
        values, others = thing.__getnewargs__(), {}
    else:
        values, others = tuple(getattr(thing, name) for name in positional), {}
    fields = dict(zip(positional, values, strict=True)) | others
    found = {name: _plain(value) for name, value in fields.items() if value is not None}
    if "link_attributes" in found:
        found["link_attributes"] = {name: _column(values) for name, values in fields["link_attributes"].items()}
    return found


def _column(values: Any) -> Any:
    """The values of a link attribute for JSON: an object where numbers are infinite, which are texts."""
    if isinstance(values, list) or not np.isinf(values).any():
        return _plain(values)
    return {"numbers": [str(value) if np.isinf(value) else _plain(value) for value in values.tolist()]}


def _values(column: Any) -> Any:
    """The values of a link attribute from JSON."""
    if not isinstance(column, Mapping):
        return _finite(column, np.nan)
    try:
        return [np.nan if value is None else float(value) for value in column["numbers"]]
    except (KeyError, TypeError, ValueError):
        raise NumError(f"the link_attributes have {column!r}, expected numbers") from None


def _made(kind: str, fields: Mapping[str, Any]) -> Any:
    """What some arguments make."""
    what, needed = ARGUMENTS[kind]
    for name in needed[:3]:
        if name not in fields:
            raise NumError(f"the {kind} has no field {name!r}")
    arguments = {name: value if name == "node_names" else _finite(value) for name, value in fields.items()}
    if isinstance(attributes := fields.get("link_attributes"), Mapping):
        arguments["link_attributes"] = {name: _values(column) for name, column in attributes.items()}
    if isinstance(after := fields.get("after"), list):
        arguments["after"] = tuple(after)
    if isinstance(fields.get("net"), Mapping):
        arguments["net"] = _made("network", fields["net"])
    try:
        return what(**arguments)
    except TypeError as error:
        raise NumError(f"the {kind} is not readable: {error}") from error


def _fields(solution: Solution) -> dict[str, Any]:
    """The fields of a solution, by name."""
    reduced: Any = solution.__reduce__()
    (state,) = reduced[1]
    certificate = dict(
        zip(("relative_gap", "overload", "kkt_residual"), state["certificate"].__getnewargs__(), strict=True)
    )
    fields = state | {"certificate": certificate}
    if state["trace"] is not None:
        columns = dict(zip(TRACE, state["trace"].__getnewargs__(), strict=True))
        fields["trace"] = {name: column for name, column in columns.items() if column is not None}
    fields["classes"] = [json.loads(text) for text in state["classes"]] or None
    if state["infeasibility"] is not None:
        fields["infeasibility"] = json.loads(state["infeasibility"])
    if solution.problem is not None:
        with contextlib.suppress(ProblemError):  # a utility is Python code
            fields["problem"] = json.loads(solution.problem.to_json())
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _solution(fields: Mapping[str, Any]) -> Solution:
    """The solution of some fields."""
    for name in ("rates", "certificate", "status", "summary"):
        if name not in fields:
            raise NumError(f"the solution has no field {name!r}")
    for name in ("iterations", "seconds"):
        if not isinstance(value := fields.get(name, 0), int | float) or value < 0:
            raise NumError(f"the solution has {name} {value!r}, expected a number >= 0")
    for name in ("certificate", "trace"):
        if not isinstance(value := fields.get(name, {}), Mapping | None):
            raise NumError(f"the solution has {name} {value!r}, expected its fields")
    others = ("certificate", "trace", "problem", "classes", "infeasibility")
    state = {name: _finite(value) for name, value in fields.items() if name not in others}
    state["classes"] = [json.dumps(one) for one in fields.get("classes", [])]
    proof = fields.get("infeasibility")
    state["infeasibility"] = None if proof is None else json.dumps(proof)
    state["objective"] = _finite(fields.get("objective"), np.nan)
    certificate, trace, problem = fields.get("certificate"), fields.get("trace"), fields.get("problem")
    try:
        cuts = fields.get("cuts", [])
        if not isinstance(cuts, list) or not all(isinstance(cut, list) and len(cut) == 3 for cut in cuts):
            raise NumError(f"the solution has cuts {cuts!r}, expected lists of fair share, links and flows")
        state["cuts"] = [tuple(cut) for cut in cuts]
        state["certificate"] = Certificate(**_finite(certificate))
        unknown = {"overload": np.nan, "kkt_residual": np.nan}
        columns = {name: _finite(column, unknown.get(name, np.inf)) for name, column in (trace or {}).items()}
        state["trace"] = None if trace is None else Trace(**columns)
        if problem is not None:
            state["problem"] = Problem.from_json(json.dumps(problem))
            _check_lengths(state, state["problem"])
        return Solution._restore(state)  # type: ignore[attr-defined, no-any-return]
    except (TypeError, OverflowError) as error:
        raise NumError(f"the solution is not readable: {error}") from error


def _check_lengths(state: Mapping[str, Any], problem: Problem) -> None:
    """Refuses a solution that is not of the size of its problem."""
    paths, links = len(problem.paths), len(problem.capacities)
    of_all = state.get("part") is None
    for name, count, things in (("rates", paths, "path"), ("prices", links, "link"), ("loads", links, "link")):
        values = state.get(name)
        if of_all and isinstance(values, list) and len(values) != count:
            raise NumError(f"the solution has {len(values)} {name}, expected {count}, one per {things}")
    for place in state.get("bottlenecks") or ():
        if not isinstance(place, int) or not -1 <= place < links:
            raise NumError(f"the solution has the bottleneck {place!r}, expected -1 or links to {links - 1}")


def _plain(value: Any) -> Any:
    """What JSON has for a value: lists and numbers, null for those that are not finite."""
    if isinstance(value, np.ndarray):
        plain = value.tolist()
        return plain if value.dtype.kind != "f" or np.isfinite(value).all() else _plain(plain)
    if isinstance(value, Topology):
        return _arguments(value, ARGUMENTS["network"][1])
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _finite(value: Any, instead: float = np.inf) -> Any:
    """A value from JSON, with a number for each null."""
    if isinstance(value, Mapping):
        return {name: _finite(entry, instead) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry, instead) for entry in value] if _has_null(value) else value
    return instead if value is None else value


def _has_null(values: list[Any]) -> bool:
    return any(value is None or (isinstance(value, list) and _has_null(value)) for value in values)
