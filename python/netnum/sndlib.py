"""Networks and demands in the XML format of SNDlib, http://sndlib.zib.de."""

from __future__ import annotations

import os
import xml.etree.ElementTree as Tree
from collections.abc import Iterator

from . import files
from ._core import ProblemError, Topology


def from_sndlib(
    path_or_text: str | os.PathLike[str], capacity: float | None = None, *, directed: bool = False
) -> Topology:
    """A network from an SNDlib file in XML.

    Its capacity is the preinstalled one of a link, or where that is none or 0 that of its smallest module. The demands
    of the same file, or of one of its matrices, are read by `netnum.demands.from_sndlib`.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A file, or the text itself, which begins with ``<``.
    capacity : float, optional
        That of links that have neither a preinstalled capacity nor a module.
    directed : bool
        Whether every link of the file is one link, from its source to its target. By default it is two, one each way.

    Returns
    -------
    Topology
        Named after the file. All nodes are ends, drawn at their coordinates.

    Raises
    ------
    ProblemError
        When the text is no such file, naming the link or node that is wrong; or a link has no capacity and none is
        given for such.
    OSError
        When a file cannot be read.

    Notes
    -----
    Source of the format: Orlowski, Pióro, Tomaszewski, Wessäly, *SNDlib 1.0: Survivable Network Design Library*,
    Networks 55(3), 2010. Its data are under the licence of their authors.

    Examples
    --------
    >>> net = netnum.topology.from_sndlib("germany50.xml")  # doctest: +SKIP
    """
    root, stem = _root(path_or_text)
    names: list[str] = []
    places: list[tuple[float, float] | None] = []
    for node in _all(root, "networkStructure/nodes/node"):
        name = node.get("id", "")
        names.append(name)
        across, up = (_text(node, f"coordinates/{axis}") for axis in "xy")
        places.append(
            (_number(across, f"x of node {name}"), _number(up, f"y of node {name}")) if across and up else None
        )
    if not names:
        raise ProblemError(f"{stem} has no nodes: no networkStructure/nodes/node in it")
    number = {name: index for index, name in enumerate(names)}
    links: list[tuple[int, int]] = []
    capacities: list[float] = []
    for link in _all(root, "networkStructure/links/link"):
        what = f"link {link.get('id', len(links))} of {stem}"
        ends = []
        for role in ("source", "target"):
            name = _text(link, role)
            if name not in number:
                raise ProblemError(f"the {role} of {what} is {name!r}, which is none of its {len(names)} nodes")
            ends.append(number[name])
        carries = _capacity(link, what)
        if carries is None:
            if capacity is None:
                raise ProblemError(f"{what} has no capacity: give capacity=, that of links that have none")
            carries = capacity
        ways = [(ends[0], ends[1])] if directed else [(ends[0], ends[1]), (ends[1], ends[0])]
        links += ways
        capacities += [carries] * len(ways)
    positions = None if any(place is None for place in places) else places
    return Topology(names, links, capacities, name=stem, positions=positions)


def demands_of(path_or_text: str | os.PathLike[str]) -> Iterator[tuple[str, str, str, float]]:
    """What every demand of a file is called, from where, to where, and how much."""
    root, stem = _root(path_or_text)
    if not _all(root, "demands"):
        raise ProblemError(f"{stem} has no demands: no element of that name in it")
    for place, demand in enumerate(_all(root, "demands/demand")):
        what = f"demand {demand.get('id', place)} of {stem}"
        source, target = (_text(demand, role) or "" for role in ("source", "target"))
        yield what, source, target, _number(_text(demand, "demandValue"), f"demandValue of {what}")


def _root(path_or_text: str | os.PathLike[str]) -> tuple[Tree.Element, str]:
    is_text = isinstance(path_or_text, str) and path_or_text.lstrip().startswith("<")
    data, stem = files.content(path_or_text, is_text, "XML")
    try:
        # A text that is given as such is no longer in the encoding that it declares.
        root = Tree.fromstring(path_or_text if is_text else data)  # type: ignore[arg-type]
    except Tree.ParseError as error:
        raise ProblemError(f"{stem} is no XML: {error}") from error
    kind = root.tag.rpartition("}")[2]
    if kind != "network":
        raise ProblemError(f"{stem} is no SNDlib file: its outermost element is {kind!r}, expected 'network'")
    return root, stem


def _all(element: Tree.Element, path: str) -> list[Tree.Element]:
    return element.findall("/".join("{*}" + tag for tag in path.split("/")))


def _text(element: Tree.Element, path: str) -> str | None:
    found = _all(element, path)
    return found[0].text.strip() if found and found[0].text else None


def _number(text: str | None, what: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise ProblemError(f"{what} is {text!r}, expected a number") from None


def _capacity(link: Tree.Element, what: str) -> float | None:
    installed = _text(link, "preInstalledModule/capacity")
    if installed is not None and _number(installed, f"capacity of {what}") > 0:
        return _number(installed, f"capacity of {what}")
    modules = _all(link, "additionalModules/addModule")
    sizes = [_number(_text(module, "capacity"), f"capacity of {what}") for module in modules]
    return min(sizes, default=None)
