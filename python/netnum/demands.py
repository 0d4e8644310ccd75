"""Demands: the volumes between pairs of ends of a network.

From a table, a matrix or a file, or drawn at random. The results are used as arrays::

    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=50_000, seed=1)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 4)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=demands.volumes)

Volumes are in the unit of the network's capacities, whichever that is. They are rates and no sizes: flows of workloads
of `netnum.sim` have sizes in bytes.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import frames
from ._core import NumError, ProblemError, Topology
from ._words import did_you_mean
from .topology import backbones, sndlib

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Demands", "backbone", "from_matrix", "from_pandas", "from_sndlib", "gravity", "lognormal"]


@dataclass(frozen=True, repr=False, eq=False)
class Demands:
    """The volumes between pairs of ends of a network: three arrays of one length.

    ``demands[selection]`` has some of them: a place, a slice, a list of places, or an array of bool such as
    ``net.has_path(demands.sources, demands.destinations)``.

    Parameters
    ----------
    sources, destinations : array of int
        Ends as networks take them: their indices, or their names where those are integers. `from_pandas` takes names.
    volumes : array of float
        >= 0, in the unit of the capacities.

    Raises
    ------
    ProblemError
        For arrays of different lengths, and for a volume that is negative or not finite.
    """

    sources: NDArray[np.int64]
    """The source of each."""
    destinations: NDArray[np.int64]
    """The destination of each."""
    volumes: NDArray[np.float64]
    """The volume of each."""

    def __post_init__(self) -> None:
        """Check and copy."""
        for name in ("sources", "destinations", "volumes"):
            given = getattr(self, name)
            if name != "volumes" and np.asarray(given).dtype.kind in "UT":
                how = "netnum.demands.from_pandas takes names, with their network"
                raise TypeError(f"{name} must be an array of integers, not of names: {how}")
            column = _floats(name, given)
            if column.ndim != 1:
                raise ProblemError(f"{name} has shape {column.shape}, expected one dimension")
            if name != "volumes":
                kind = np.asarray(given).dtype
                if len(column) and not np.issubdtype(kind, np.integer):
                    raise TypeError(f"{name} must be an array of integers, not of dtype {kind}")
                column = np.array(given, dtype=np.int64)
            column.setflags(write=False)
            object.__setattr__(self, name, column)
            if len(column) != len(self.sources):
                raise ProblemError(f"{name} has {len(column)} entries, expected {len(self.sources)}, one per source")
        wrong = np.flatnonzero(~((self.volumes >= 0) & np.isfinite(self.volumes)))
        if len(wrong):
            raise ProblemError(f"demand {wrong[0]} is {self.volumes[wrong[0]]}, expected a finite number >= 0")

    @property
    def total(self) -> float:
        """The sum of the volumes."""
        return float(self.volumes.sum())

    def scaled(self, factor: float) -> Demands:
        """The same demands, each so many times as large."""
        return Demands(self.sources, self.destinations, self.volumes * factor)

    def to_matrix(self, net: Topology) -> NDArray[np.float64]:
        """The volume from every end to every other: shape (ends, ends). Several demands of one pair are added up."""
        matrix = np.zeros((net.ends, net.ends))
        places = {int(end): place for place, end in enumerate(_ends(net))}
        rows, columns = ([places[int(end)] for end in ends] for ends in (self.sources, self.destinations))
        np.add.at(matrix, (rows, columns), self.volumes)
        return matrix

    def to_pandas(self, net: Topology | None = None) -> pandas.DataFrame:
        """A row per demand with the columns source, destination and demand.

        Parameters
        ----------
        net : Topology, optional
            The network that has the names of the ends; without it ends are as in the demands.

        Raises
        ------
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        columns: dict[str, Any] = {"source": self.sources, "destination": self.destinations}
        if net is not None:
            names = dict(zip(_ends(net).tolist(), net.node_names, strict=False))
            columns = {name: [names[end] for end in ends.tolist()] for name, ends in columns.items()}
        return frames.imported().DataFrame(columns | {"demand": self.volumes})

    def __len__(self) -> int:
        """How many there are."""
        return len(self.volumes)

    def __getitem__(self, selection: Any) -> Demands:
        """Some of them."""
        picked = np.atleast_1d(np.arange(len(self))[selection])
        return Demands(self.sources[picked], self.destinations[picked], self.volumes[picked])

    def __eq__(self, other: object) -> bool:
        """Whether all three arrays are the same."""
        if not isinstance(other, Demands):
            return NotImplemented
        ours, theirs = ((d.sources, d.destinations, d.volumes) for d in (self, other))
        return all(map(np.array_equal, ours, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *_: Any, **__: Any) -> NDArray[np.float64]:
        """Refused: demands are three arrays, and ``flow_cap`` and weights are the `volumes`."""
        raise TypeError("demands are no array, expected one of their three: sources, destinations, volumes")

    def __repr__(self) -> str:
        """How many, and how much in all."""
        return f"Demands({len(self)}, {self.total:.6g} in all)"


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
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        what = f"frame must be a table with columns by name, not {type(frame).__name__}"
        raise TypeError(f"{what} (from_matrix takes a matrix)")
    columns = _columns(frame, {"source": source, "destination": destination, "demand": demand})
    rows = zip(*columns, strict=True)
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
    entries = _floats("matrix", matrix)
    if entries.shape != (net.ends, net.ends):
        raise ProblemError(f"the matrix has shape {entries.shape}, expected ({net.ends}, {net.ends}), one row per end")
    table: Any = matrix
    if hasattr(table, "index") and hasattr(table, "columns"):
        entries = entries[np.ix_(_places(net, "row", table.index), _places(net, "column", table.columns))]
    for row, column in np.argwhere(~((entries >= 0) & np.isfinite(entries)))[:1]:
        names = f"{net.node_names[row]} to {net.node_names[column]}"
        raise ProblemError(f"the demand from {names} is {entries[row, column]}, expected a finite number >= 0")
    rows, columns = np.nonzero(np.where(np.eye(net.ends, dtype=bool), 0.0, entries))
    return Demands(_ends(net)[rows], _ends(net)[columns], entries[rows, columns])


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
    return _listed(net, sndlib.demands_of(path_or_text), lambda *_: None, without_zeros=True)


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
    data = backbones.read(name)
    if "demands" not in data:
        raise ProblemError(f"the backbone {name!r} has no published demands: netnum.demands.gravity draws some")
    net = backbones.backbone(name)
    return _listed(net, ((f"demand {row}", *entries) for row, entries in enumerate(data["demands"])), _refuse)


def gravity(
    net: Topology, total: float, masses: ArrayLike | None = None, *, spread: float = 0.0, seed: int = 0
) -> Demands:
    """Demands between all ends in proportion to the product of their masses.

    Parameters
    ----------
    net : Topology
    total : float
        Their sum, in the unit of the capacities.
    masses : array of float, shape (ends,), optional
        >= 0. By default what the links of an end carry: those that leave it for a source, those that enter it for a
        destination.
    spread : float
        Each is multiplied by exp(spread · z) with z standard normal, before all are scaled to their total.
    seed : int
        Of the z.

    Returns
    -------
    Demands
        Of every pair of two ends whose product is above 0, source by source.

    Raises
    ------
    NumError
        For a total or spread that is negative or not finite, or masses of another length, negative or not finite.

    Notes
    -----
    Source: Roughan, *Simplifying the synthesis of Internet traffic matrices*, Computer Communication Review 35(5),
    2005.

    Examples
    --------
    >>> net = netnum.topology.backbone("abilene")
    >>> demands = netnum.demands.gravity(net, total=50_000, spread=1.0, seed=1)
    >>> demands
    Demands(110, 50000 in all)
    """
    if masses is None:
        leaving, entering = (np.zeros(len(net.node_names)) for _ in range(2))
        carry = net.capacities / net.capacities.max(initial=1e-300)
        np.add.at(leaving, net.links[:, 0], carry)
        np.add.at(entering, net.links[:, 1], carry)
        leaving, entering = leaving[: net.ends], entering[: net.ends]
    else:
        given = _floats("masses", masses)
        if given.shape != (net.ends,):
            raise NumError(f"masses has shape {given.shape}, expected ({net.ends},), one per end")
        wrong = np.flatnonzero(~((given >= 0) & np.isfinite(given)))
        if len(wrong):
            what = f"the mass of {net.node_names[wrong[0]]} is {given[wrong[0]]}"
            raise NumError(f"{what}, expected a finite number >= 0")
        leaving = entering = given / given.max(initial=1e-300)
    return _spread(net, total, np.outer(leaving, entering), spread, seed, "spread")


def lognormal(net: Topology, total: float, sigma: float = 1.0, *, seed: int = 0) -> Demands:
    """Demands between all ends that are independent and lognormal: few large ones, many small ones.

    Parameters
    ----------
    net : Topology
    total : float
        Their sum, in the unit of the capacities.
    sigma : float
        The standard deviation of their logarithms.
    seed : int

    Returns
    -------
    Demands
        Of every pair of two ends, source by source.

    Raises
    ------
    NumError
        For a total or sigma that is negative or not finite.

    Examples
    --------
    >>> netnum.demands.lognormal(netnum.topology.backbone("nsfnet"), total=10.0, seed=3)
    Demands(182, 10 in all)
    """
    return _spread(net, total, np.ones((net.ends, net.ends)), sigma, seed, "sigma")


def _spread(net: Topology, total: float, shape: NDArray[np.float64], sigma: float, seed: int, name: str) -> Demands:
    for what, value in (("total", total), (name, sigma)):
        if _floats(what, value).ndim or not 0 <= value < float("inf"):
            raise NumError(f"{what} is {value}, expected a finite number >= 0")
    try:
        drawn = np.random.default_rng(operator.index(seed)).standard_normal(shape.shape)
    except ValueError:
        raise NumError(f"seed is {seed}, expected an integer >= 0") from None
    # The largest factor is 1, whatever sigma is.
    sizes = shape * np.exp(sigma * (drawn - drawn.max(initial=0.0)))
    np.fill_diagonal(sizes, 0.0)
    if total > 0 and not sizes.sum() > 0:
        raise NumError("all products of masses are 0, expected two ends with a mass above 0")
    rows, columns = np.nonzero(sizes)
    volumes = sizes[rows, columns]
    volumes = volumes / volumes.sum() * total if total > 0 else np.zeros(len(volumes))
    return Demands(_ends(net)[rows], _ends(net)[columns], volumes)


def _floats(name: str, given: Any) -> NDArray[np.float64]:
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an array of numbers, not {given!r:.60}") from None


def _ends(net: Topology) -> NDArray[np.int64]:
    """The integers that stand for the ends of a network, in order."""
    names = net.node_names[: net.ends]
    if net.integer_names:
        try:
            return np.array([int(name) for name in names])
        except ValueError:
            pass
    return np.arange(net.ends)


def _places(net: Topology, axis: str, labels: Iterable[Any]) -> NDArray[np.intp]:
    """Where a table has what belongs to each end."""
    named = list(labels)
    if named == list(range(net.ends)):
        return np.arange(net.ends)
    places: dict[int, int] = {}
    for place, label in enumerate(named):
        end = _end(net, f"the matrix, {axis} {place}", "label", label)
        if end in places:
            raise ProblemError(f"the matrix has two {axis}s for {net.node_names[end]}, expected one")
        places[end] = place
    return np.array([places[end] for end in range(net.ends)])


def _columns(frame: Any, roles: dict[str, Any]) -> list[list[Any]]:
    """The columns of a table that have these roles."""
    known = list(getattr(frame, "columns", frame))
    columns: dict[Any, tuple[str, list[Any]]] = {}
    for role, column in roles.items():
        if column not in known:
            near = did_you_mean(str(column), [str(name) for name in known])
            meant = f" ({near})" if near else ""
            how = f"give its name as {role}=; its columns: {', '.join(map(str, known))}"
            raise ProblemError(f"the table has no column {column!r}{meant}: {how}")
        if known.count(column) > 1:
            raise ProblemError(
                f"the table has {known.count(column)} columns {column!r}, expected one: rename the others"
            )
        if column in columns:
            raise ProblemError(f"{role}= and {columns[column][0]}= are both column {column!r}, expected two columns")
        columns[column] = (role, list(frame[column]))
        first, expected = next((name, len(entries)) for name, (_, entries) in columns.items())
        if len(columns[column][1]) != expected:
            found = len(columns[column][1])
            raise ProblemError(f"column {column!r} has {found} entries, expected {expected}, as many as {first!r}")
    return [entries for _, entries in columns.values()]


def _refuse(what: str, end: str) -> None:
    raise ProblemError(f"{what} goes from {end} to itself, expected two ends")


def _listed(
    net: Topology,
    listed: Iterable[tuple[str, Any, Any, Any]],
    to_itself: Callable[[str, str], None],
    without_zeros: bool = False,
) -> Demands:
    """The demands of a sequence, each with its name for errors."""
    ends, places = _ends(net), {}
    columns: tuple[list[int], list[int], list[float]] = ([], [], [])
    for what, source, destination, demand in listed:
        pair = []
        for role, end in (("source", source), ("destination", destination)):
            if end not in places:
                places[end] = _end(net, what, role, end)
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


def _end(net: Topology, what: str, role: str, end: Any) -> int:
    try:
        node = net.node(end)
    except (ProblemError, TypeError) as error:
        raise ProblemError(f"{what}, {role}: {error}") from None
    if node >= net.ends:
        raise ProblemError(f"{what}, {role}: {net.node_names[node]} is no end of {net.name}")
    return node
