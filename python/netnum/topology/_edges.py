"""Networks from lists of edges."""

from __future__ import annotations

import os

from .._core import Topology
from .._core import from_edges as from_text
from . import _files


def from_edges(path_or_text: str | os.PathLike[str], *, directed: bool = False) -> Topology:
    """A network from lines ``node node capacity``, in a file or in the text itself.

    Blank lines and lines that start with ``#`` are skipped. Edge i, "a b c", is link 2i from a to b and link 2i + 1
    from b to a, each of capacity c. All nodes are ends, numbered by first appearance.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A path-like is a file. A str is the text when it has several lines or three words, else the name of a file.
    directed : bool
        Whether edge i is link i alone, from a to b.

    Returns
    -------
    Topology
        Named after the file.

    Raises
    ------
    ProblemError
        With the number of the line that is wrong, or when a str is neither a text nor the name of a file.
    OSError
        When a file cannot be read.

    Examples
    --------
    >>> net = netnum.topology.from_edges('''
    ... # from to capacity
    ... Oslo Bergen 10
    ... Bergen Voss 4
    ... ''')
    >>> net.node_names, net.capacities
    (['Oslo', 'Bergen', 'Voss'], array([10., 10.,  4.,  4.]))
    """
    data, name = _files.content(path_or_text, _is_text, "lines of node node capacity")
    net = from_text(_files.decoded(data), name=name)
    if not directed:
        return net
    return Topology(net.node_names, net.links[::2], net.capacities[::2], name=name)


def _is_text(given: str) -> bool:
    return "\n" in given or len(given.split()) == 3 or not given.strip()
