"""Networks and demands in the formats of SNDlib, http://sndlib.zib.de: XML, and the native one."""

from __future__ import annotations

import os
import xml.etree.ElementTree as Tree
from collections.abc import Iterator
from dataclasses import dataclass, field

from .._core import ProblemError, Topology
from . import _files
from ._named import Edge, links_of, shared_edges


def from_sndlib(
    path_or_text: str | os.PathLike[str],
    capacity: float | None = None,
    *,
    directed: bool = False,
    shared: bool = False,
) -> Topology:
    """A network from an SNDlib file, in XML or in the native format.

    The capacity of a link is what is preinstalled, or where that is none or 0 its smallest module. Its name and its
    routing cost are kept as `Topology.link_attributes`, ``name`` and ``routing_cost``. The demands of the same file, or
    of one of its matrices, are read by `netnum.demands.from_sndlib`.

    Parameters
    ----------
    path_or_text : str or os.PathLike
        A file, or the text itself, which begins with ``<`` or with ``?SNDlib``.
    capacity : float, optional
        That of links that have neither a preinstalled capacity nor a module. By default they have no limit, as long as
        other links have a capacity.
    directed : bool
        Whether every link of the file is one link, from its source to its target. By default it is two, one each way.
    shared : bool
        Whether every link of the file is one link that both directions share.

    Returns
    -------
    Topology
        Named after the file. All nodes are ends, drawn at their coordinates.

    Raises
    ------
    ProblemError
        When the text is no such file, naming the link or node that is wrong; or no link has a capacity and none is
        given.
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
    file = _read(path_or_text)
    if not file.nodes:
        raise ProblemError(f"{file.stem}: a network needs at least two nodes, this one has none")
    number = {name: index for index, (name, *_) in enumerate(file.nodes)}
    places = [
        (_number(across, f"x of node {name}"), _number(up, f"y of node {name}")) if across and up else None
        for name, across, up in file.nodes
    ]
    edges, ways = [], []
    shared_edges(shared, 0, directed)
    for link in file.links:
        what = f"link {link.name} of {file.stem}"
        for role, end in (("source", link.source), ("target", link.target)):
            if end not in number:
                raise ProblemError(f"the {role} of {what} is {end!r}, which is none of its {len(number)} nodes")
        carries = link.capacity(what)
        attributes = {"name": link.name} | (
            {} if link.cost is None else {"routing_cost": _number(link.cost, f"the routing cost of {what}")}
        )
        edges.append(Edge(what, link.source, link.target, capacity if carries is None else carries, attributes, shared))
        there = (number[link.source], number[link.target])
        ways.append([there] if directed or shared else [there, there[::-1]])
    if edges and all(edge.capacity is None for edge in edges):
        raise ProblemError(f"no link of {file.stem} has a capacity: give capacity=, that of all links")
    placed = [place for place in places if place is not None]
    positions = placed if len(placed) == len(places) else None
    names = [name for name, *_ in file.nodes]
    return Topology(names, **links_of(edges, ways), name=file.stem, positions=positions, directed=directed)


def demands_of(path_or_text: str | os.PathLike[str]) -> Iterator[tuple[str, str, str, float]]:
    """What every demand of a file is called, from where, to where, and how much."""
    file = _read(path_or_text)
    if file.demands is None:
        raise ProblemError(f"{file.stem} has no demands")
    for name, source, target, value in file.demands:
        what = f"demand {name} of {file.stem}"
        yield what, source, target, _number(value, f"the value of {what}")


@dataclass
class _Link:
    name: str
    source: str
    target: str
    installed: str | None
    modules: list[str | None]
    cost: str | None

    def capacity(self, what: str) -> float | None:
        installed = _number(self.installed or "0", f"the preinstalled capacity of {what}")
        if installed > 0:
            return installed
        return min((_number(size, f"the capacity of a module of {what}") for size in self.modules), default=None)


@dataclass
class _File:
    """The content of a file, with numbers as text."""

    stem: str
    nodes: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    links: list[_Link] = field(default_factory=list)
    demands: list[tuple[str, str, str, str | None]] | None = None


def _read(path_or_text: str | os.PathLike[str]) -> _File:
    def is_text(given: str) -> bool:
        return given.lstrip().startswith(("<", "?SNDlib"))

    data, stem = _files.content(path_or_text, is_text, "SNDlib's XML or native format")
    return _xml(data, stem) if data.lstrip().startswith(b"<") else _native(_files.decoded(data), stem)


def _xml(text: bytes, stem: str) -> _File:
    try:
        root = Tree.fromstring(text)
    except Tree.ParseError as error:
        raise ProblemError(f"{stem} is no XML: {error}") from error
    kind = root.tag.rpartition("}")[2]
    if kind != "network":
        raise ProblemError(f"{stem} is no SNDlib file: its outermost element is {kind!r}, expected 'network'")
    file = _File(stem)
    for node in _all(root, "networkStructure/nodes/node"):
        file.nodes.append((node.get("id", ""), _text(node, "coordinates/x"), _text(node, "coordinates/y")))
    for place, link in enumerate(_all(root, "networkStructure/links/link")):
        installed = _text(link, "preInstalledModule/capacity")
        modules = [_text(module, "capacity") for module in _all(link, "additionalModules/addModule")]
        ends = (_text(link, "source") or "", _text(link, "target") or "")
        cost = _text(link, "routingCost")
        file.links.append(_Link(link.get("id", str(place)), *ends, installed, modules, cost))
    if _all(root, "demands"):
        file.demands = []
        for place, demand in enumerate(_all(root, "demands/demand")):
            ends = (_text(demand, "source") or "", _text(demand, "target") or "")
            file.demands.append((demand.get("id", str(place)), *ends, _text(demand, "demandValue")))
    return file


def _all(element: Tree.Element, path: str) -> list[Tree.Element]:
    return element.findall("/".join("{*}" + tag for tag in path.split("/")))


def _text(element: Tree.Element, path: str) -> str | None:
    found = _all(element, path)
    return found[0].text.strip() if found and found[0].text else None


def _native(text: str, stem: str) -> _File:
    """Sections in brackets, in each a line per node, link or demand, whose parts are in brackets again."""
    file, section, depth = _File(stem), None, 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace("(", " ( ").replace(")", " ) ").split()
        match section, words:
            case (_, []):
                continue
            case (None, [header, *_]) if header.startswith("?SNDlib"):
                continue
            case (None, [name, "(", *_]):
                section = name
                if name == "DEMANDS":
                    file.demands = []
            case (None, _):
                what = f"line {number} of {stem} is {line.strip():.40}"
                raise ProblemError(f"{what}, expected the begin of a section: is it an SNDlib file?")
            case (_, [")"]):
                pass
            case ("NODES", [name]):
                file.nodes.append((name, None, None))
            case ("NODES", [name, "(", across, up, ")"]):
                file.nodes.append((name, across, up))
            case ("LINKS", [name, "(", source, target, ")", installed, _, cost, _, "(", *modules, ")"]):
                file.links.append(_Link(name, source, target, installed, list(modules[::2]), cost))
            case ("DEMANDS", [name, "(", source, target, ")", _, value, *_]) if file.demands is not None:
                file.demands.append((name, source, target, value))
            case ("NODES" | "LINKS" | "DEMANDS", _):
                raise ProblemError(f"line {number} of {stem} is {line.strip():.40}, which is no line of {section}")
        depth += words.count("(") - words.count(")")
        if depth <= 0:
            section, depth = None, 0
    return file


def _number(text: str | None, what: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise ProblemError(f"{what} is {text!r}, expected a number") from None
