"""Networks from lists of edges."""

from __future__ import annotations

import os

from .._core import Topology
from .._core import from_edges as from_text
from . import _files


def from_edges(path_or_text: str | os.PathLike[str]) -> Topology:
    """A network from lines ``node node capacity``, in a file or in the text itself.

    Blank lines and lines that start with ``#`` are skipped. Edge i, "a b c", is link 2i from a to b and link 2i + 1
    from b to a, each of capacity c. All nodes are ends, numbered by first appearance.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A path-like is a file. A str is the text when it has several lines or three words, else the name of a file.

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
    is_text = isinstance(path_or_text, str) and (
        "\n" in path_or_text or len(path_or_text.split()) == 3 or not path_or_text.strip()
    )
    data, name = _files.content(path_or_text, is_text, "lines of node node capacity")
    return from_text(data.decode(), name=name)
