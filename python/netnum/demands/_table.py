"""`Demands`: three arrays of one length."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ProblemError, Topology
from .._show import frames
from .._tables import names_of_ends

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray


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

    Examples
    --------
    >>> demands = netnum.Demands([0, 0, 1], [1, 2, 2], [3.0, 1.0, 2.0])
    >>> demands
    Demands(3, 6 in all)
    >>> demands[demands.volumes > 1.5].scaled(2.0).volumes
    array([6., 4.])
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
            column = floats(name, given)
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
        """Demands whose volumes are `factor` times as large."""
        return Demands(self.sources, self.destinations, self.volumes * factor)

    def to_matrix(self, net: Topology) -> NDArray[np.float64]:
        """The volume from every end to every other: shape (ends, ends). Several demands of one pair are added up.

        Raises
        ------
        ProblemError
            For an end that the network does not have.
        """
        matrix = np.zeros((net.ends, net.ends))
        place = {name: number for number, name in enumerate(net.node_names)}
        rows, columns = (
            [place[name] for name in names_of_ends(net, f"the {role} of demand", ends)]
            for role, ends in (("source", self.sources), ("destination", self.destinations))
        )
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
        ProblemError
            For an end that the network does not have.
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        columns: dict[str, Any] = {"source": self.sources, "destination": self.destinations}
        if net is not None:
            columns = {role: names_of_ends(net, f"the {role} of demand", ends) for role, ends in columns.items()}
        return frames.table(columns | {"demand": self.volumes})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the demands in a file that `netnum.load` reads back as equal ones: JSON.

        Parameters
        ----------
        path : str or os.PathLike
            A file that is there is replaced.

        Raises
        ------
        OSError
            When the file cannot be written.
        """
        from .. import _saved  # which imports this class

        _saved.save(self, path)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.volumes)

    def __getitem__(self, selection: Any) -> Demands:
        """Some of them."""
        try:
            picked = np.atleast_1d(np.arange(len(self))[selection])
        except IndexError:
            if np.asarray(selection).dtype.kind in "UT" or isinstance(selection, tuple):
                of_pair = "demands.to_pandas(net) and demands.to_matrix(net) have the volume of a pair"
                what = "a place, a slice, a list of places or an array of bool"
                raise IndexError(f"demands are picked by {what}, not {selection!r:.60}: {of_pair}") from None
            raise
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


def floats(name: str, given: Any) -> NDArray[np.float64]:
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an array of numbers, not {given!r:.60}") from None


def expect_network(net: Any, call: str) -> None:
    """Refuses what is no network."""
    if not isinstance(net, Topology):
        raise TypeError(f"net must be a Topology, not {type(net).__name__}: the call is {call}")


def ends_of(net: Topology) -> NDArray[np.int64]:
    """The integers that stand for the ends of a network, in order."""
    return np.array([int(name) for name in net.node_names[: net.ends]]) if net.integer_names else np.arange(net.ends)
