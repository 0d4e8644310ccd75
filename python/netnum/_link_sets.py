"""Sets of links by number and by name: what fails, and the candidates of an upgrade study.

A pair of nodes that fails is the edge that joins them, both directions of it where edges work both ways. Capacities,
and so upgrades, are of one direction each.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ._core import Problem, ProblemError, Topology
from ._messages import did_you_mean

#: A link by its number, its name or the nodes that it runs from and to; a fiber by its name.
Link: TypeAlias = "int | str | tuple[int | str, int | str]"
#: One set of links, or the word for many of them.
LinkSets: TypeAlias = "str | Iterable[Link | Sequence[Link]] | Mapping[str, Link | Sequence[Link]]"

#: The largest number of links in the name of a set.
NAMED = 3


def link_sets(
    problem: Problem, given: LinkSets, argument: str, entry: str, *, fail: bool = False
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The name and the links of each set. `argument` and `entry` name all the sets and one of them in errors."""
    net = problem.network if isinstance(problem.network, Topology) else None
    read = _Reader(problem.links, net, fail)
    if isinstance(given, str):
        named = _every(given, problem, net, read, argument)
    elif isinstance(given, Mapping):
        named = [(str(name), read.links(f"{entry} {str(name)!r}", links)) for name, links in given.items()]
    elif isinstance(given, Iterable):
        _refuse_masked(argument, given)
        read.refuse_pair(argument, given)
        sets = [(links, read.links(f"{entry} {number}", links)) for number, links in enumerate(given)]
        named = [(name if isinstance(name, str) else read.name(links), links) for name, links in sets]
    else:
        raise TypeError(f"{argument} must be a list of links or of sets of links, not {type(given).__name__}")
    return tuple(name for name, _ in named), tuple(links for _, links in named)


def failed_links(net: Topology, given: Link | Sequence[Link]) -> list[int]:
    """The links of `Topology.without`, each once."""
    return list(dict.fromkeys(_Reader(len(net.links), net, fail=True).listed("links", given, has_places=True)))


def named(net: Topology, what: str, name: str) -> list[int]:
    """The links of a name: a link, or both directions of a fiber. Errors say what names them."""
    found = net._links_by_name.get(name)  # type: ignore[attr-defined]
    return list(found or _Reader(len(net.links), net).by_name(what, name))


def links_by_name(net: Topology) -> dict[str, tuple[int, ...]]:
    """The links of all names that there are, of links and of fibers. `Topology._links_by_name` keeps them."""
    read = _Reader(len(net.links), net)
    return read.fibers_by_name | {name: (link,) for name, link in read.numbers.items()}


def is_made_of_fibers(problem: Problem) -> bool:
    """Whether it has a network in which every link has one back."""
    if not isinstance(problem.network, Topology):
        return False
    ways = {tuple(ends) for ends in problem.network.links.tolist()}
    return all((end, start) in ways for start, end in ways)


def one_set(problem: Problem, given: Link | Sequence[Link], argument: str) -> tuple[str, tuple[int, ...]]:
    """The name and the links of one set, in which there are links and each is named once."""
    read = _Reader(problem.links, problem.network if isinstance(problem.network, Topology) else None)
    listed = read.listed(argument, given)
    links = tuple(dict.fromkeys(listed))
    if not links:
        raise ProblemError(f"{argument} names no link, expected one or more")
    if len(links) < len(listed):
        twice = next(link for link in links if listed.count(link) > 1)
        raise ProblemError(f"{argument} names {read.label(twice)} twice, expected each link once")
    return given if isinstance(given, str) else read.name(links), links


def _every(
    word: str, problem: Problem, net: Topology | None, read: _Reader, argument: str
) -> list[tuple[str, tuple[int, ...]]]:
    """The sets of a word."""
    if word == "links":
        return [(read.name((link,)), (link,)) for link in range(problem.links)]
    if word not in ("fibers", "nodes"):
        raise ProblemError(f"{argument} is {word!r}, expected 'links', 'fibers', 'nodes' or a list of links")
    if net is None:
        raise ProblemError(f"{argument} is {word!r}, and the problem has capacities only: make it with a Topology")
    names, sets = net.node_names, read.fibers if word == "fibers" else _by_node(net)
    return [(" - ".join(names[node] for node in nodes), sets[nodes]) for nodes in sorted(sets)]


def _by_node(net: Topology) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The links of every node that has some."""
    sets: dict[tuple[int, ...], tuple[int, ...]] = {}
    for link, ends in enumerate(net.links.tolist()):
        for end in ends:
            sets[end,] = (*sets.get((end,), ()), link)
    return sets


def _are_integers(given: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, np.integer)) and not isinstance(each, (bool, np.bool_)) for each in given)


class _Reader:
    """Links by number, by name, by the name of their fiber and by their nodes."""

    def __init__(self, count: int, net: Topology | None, fail: bool = False) -> None:
        self._count, self._net = count, net
        self._are_edges = fail and net is not None and not net.directed

    @functools.cached_property
    def _names(self) -> list[str]:
        return self._net.link_names if self._net is not None else [f"link {link}" for link in range(self._count)]

    @functools.cached_property
    def numbers(self) -> dict[str, int]:
        return {name: link for link, name in enumerate(self._names)}

    @functools.cached_property
    def _ends(self) -> list[list[int]]:
        return self._net.links.tolist() if self._net is not None else []

    @functools.cached_property
    def fibers(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """The links of every fiber, by the numbers of its nodes in order."""
        sets: dict[tuple[int, ...], tuple[int, ...]] = {}
        for link, ends in enumerate(self._ends):
            nodes = tuple(sorted(ends))
            sets[nodes] = (*sets.get(nodes, ()), link)
        return sets

    def name(self, links: tuple[int, ...]) -> str:
        """The name of a set of links."""
        names = [self._names[link] for link in links[:NAMED]]
        more = [f"{len(links) - NAMED} more"] if len(links) > NAMED else []
        return ", ".join(names + more) or "no link"

    def label(self, link: int) -> str:
        """The number of a link, with its name if it has one."""
        return f"link {link}" if self._net is None else f"link {link} ({self._names[link]})"

    def links(self, what: str, given: Any) -> tuple[int, ...]:
        """The links of one set, each once."""
        return tuple(dict.fromkeys(self.listed(what, given)))

    def refuse_pair(self, argument: str, given: Any) -> None:
        """Refuses a pair of nodes in place of a list of links."""
        pair = isinstance(given, (tuple, list)) and len(given) == 2 and all(isinstance(node, str) for node in given)
        if pair and all(self._is_node(name) for name in given):
            one = f"({given[0]!r}, {given[1]!r})"
            raise ProblemError(f"{argument} is the pair of nodes {one}: the list of that link alone is [{one}]")

    def _is_node(self, name: str) -> bool:
        """Whether it is the name of a node and of no link."""
        return name in self._nodes and name not in self.numbers and name not in self.fibers_by_name

    @functools.cached_property
    def _nodes(self) -> frozenset[str]:
        return frozenset(self._net.node_names if self._net is not None else ())

    def listed(self, what: str, given: Any, has_places: bool = False) -> list[int]:
        """The links of one set, as often as it names them; errors have the place in it or not."""
        _refuse_masked(what, given)
        given = given.tolist() if isinstance(given, np.ndarray) else given
        if self._net is not None and isinstance(given, tuple) and len(given) == 2 and _are_integers(given):
            one, other = given
            raise ProblemError(
                f"{what} is ({one}, {other}), which may be links {one} and {other} or the link from node {one} to "
                f"node {other}: give [{one}, {other}] or [({one}, {other})]"
            )
        if self._is_one(given):
            return list(self._links(what, given))
        whats = (f"{what}[{place}]" if has_places else what for place in itertools.count())
        return [
            link for entry_what, entry in zip(whats, given, strict=False) for link in self._links(entry_what, entry)
        ]

    @functools.cached_property
    def fibers_by_name(self) -> dict[str, tuple[int, ...]]:
        """The links of every fiber, by its name and by that with its nodes the other way round."""
        names = self._net.node_names if self._net is not None else []
        turned = {" - ".join(names[node] for node in reversed(nodes)): links for nodes, links in self.fibers.items()}
        return turned | {" - ".join(names[node] for node in nodes): links for nodes, links in self.fibers.items()}

    def _is_one(self, given: Any) -> bool:
        """Whether it is a link or a fiber and no sequence: [3, 4] are two links, ("Bonn", "Kiel") is one."""
        if isinstance(given, str) or not isinstance(given, Iterable):
            return True
        pair = isinstance(given, (tuple, list)) and len(given) == 2 and all(isinstance(node, str) for node in given)
        return pair and not any(name in self.numbers or name in self.fibers_by_name for name in given)

    def _links(self, what: str, link: Any) -> tuple[int, ...]:
        if isinstance(link, str):
            return self.by_name(what, link)
        if isinstance(link, (tuple, list)) and len(link) == 2:
            return self._between(what, link)
        try:
            number = operator.index(link)
        except TypeError:
            number = None
        is_truth = isinstance(link, (bool, np.bool_))
        if number is None or is_truth:
            mask = ": np.flatnonzero(mask) has the places where a mask is True" if is_truth else ""
            expected = "a number, a name or a pair of nodes"
            raise TypeError(f"{what}: a link must be {expected}, not {type(link).__name__}{mask}")
        if not 0 <= number < self._count:
            raise ProblemError(f"{what} names link {number}, and there are {self._count} links")
        return (number,)

    def _between(self, what: str, pair: Sequence[Any]) -> tuple[int, ...]:
        """The link from one node to another, or all of the edges that join them."""
        if self._net is None:
            raise ProblemError(f"{what} names nodes, and the problem has capacities only: make it with a Topology")
        try:
            link = self._net.link(*pair)
        except (ProblemError, TypeError) as error:
            raise type(error)(f"{what}: {error}") from None
        return self.fibers[tuple(sorted(self._ends[link]))] if self._are_edges else (link,)

    def by_name(self, what: str, name: str) -> tuple[int, ...]:
        if name in self.numbers:
            return (self.numbers[name],)
        if name in self.fibers_by_name:
            return self.fibers_by_name[name]
        near = did_you_mean(name, [*self._names, *self.fibers_by_name])
        meant = f", {near}" if near else ""
        if self._is_node(name):
            meant = f": {name!r} is a node, whose links are named as ({name!r}, another)"
        raise ProblemError(f"{what} names link {name!r}, expected the name of one of the {self._count} links{meant}")


def _refuse_masked(what: str, given: Any) -> None:
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array, expected plain links")
