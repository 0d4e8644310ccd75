"""Sets of links by number and by name: the scenarios of a failure study, the candidates of an upgrade study."""

from __future__ import annotations

import functools
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
    problem: Problem, given: LinkSets, argument: str, entry: str
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The name and the links of each set. `argument` and `entry` name all the sets and one of them in errors."""
    net = problem.network if isinstance(problem.network, Topology) else None
    read = _Reader(problem, net)
    if isinstance(given, str):
        named = _every(given, problem, net, read, argument)
    elif isinstance(given, Mapping):
        named = [(str(name), read.links(f"{entry} {str(name)!r}", links)) for name, links in given.items()]
    elif isinstance(given, Iterable):
        _refuse_masked(argument, given)
        sets = [(links, read.links(f"{entry} {number}", links)) for number, links in enumerate(given)]
        named = [(name if isinstance(name, str) else read.name(links), links) for name, links in sets]
    else:
        raise TypeError(f"{argument} must be a list of links or of sets of links, not {type(given).__name__}")
    return tuple(name for name, _ in named), tuple(links for _, links in named)


def is_made_of_fibers(problem: Problem) -> bool:
    """Whether it has a network in which every link has one back."""
    if not isinstance(problem.network, Topology):
        return False
    ways = {tuple(ends) for ends in problem.network.links.tolist()}
    return all((end, start) in ways for start, end in ways)


def one_set(problem: Problem, given: Link | Sequence[Link], argument: str) -> tuple[str, tuple[int, ...]]:
    """The name and the links of one set, in which there are links and each is named once."""
    read = _Reader(problem, problem.network if isinstance(problem.network, Topology) else None)
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
    return _around(net, word)


def _around(net: Topology, word: str) -> list[tuple[str, tuple[int, ...]]]:
    """The name and the links of every fiber, or of every node."""
    sets: dict[tuple[int, ...], list[int]] = {}
    for link, ends in enumerate(net.links.tolist()):
        for nodes in [tuple(sorted(ends))] if word == "fibers" else [(end,) for end in ends]:
            sets.setdefault(nodes, []).append(link)
    names = net.node_names
    return [(" - ".join(names[node] for node in nodes), tuple(sets[nodes])) for nodes in sorted(sets)]


def _are_integers(given: Iterable[Any]) -> bool:
    return all(isinstance(each, (int, np.integer)) and not isinstance(each, (bool, np.bool_)) for each in given)


class _Reader:
    """Links by number, by name, by the name of their fiber and by their nodes."""

    def __init__(self, problem: Problem, net: Topology | None) -> None:
        self._count, self._net = problem.links, net
        self._names = net.link_names if net is not None else [f"link {link}" for link in range(problem.links)]
        self._numbers = {name: link for link, name in enumerate(self._names)}

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

    def listed(self, what: str, given: Any) -> list[int]:
        """The links of one set, as often as it names them."""
        _refuse_masked(what, given)
        given = given.tolist() if isinstance(given, np.ndarray) else given
        if self._net is not None and isinstance(given, tuple) and len(given) == 2 and _are_integers(given):
            one, other = given
            raise ProblemError(
                f"{what} is ({one}, {other}), which may be links {one} and {other} or the link from node {one} to "
                f"node {other}: give [{one}, {other}] or [({one}, {other})]"
            )
        entries = [given] if self._is_one(given) else given
        return [link for entry in entries for link in self._links(what, entry)]

    @functools.cached_property
    def _fibers(self) -> dict[str, tuple[int, ...]]:
        """The links of every fiber, by its name and by that with its nodes the other way round."""
        if self._net is None:
            return {}
        fibers = _around(self._net, "fibers")
        names, ends = self._net.node_names, self._net.links
        turned = {
            " - ".join(names[node] for node in sorted(ends[links[0]], reverse=True)): links for _, links in fibers
        }
        return turned | dict(fibers)

    def _is_one(self, given: Any) -> bool:
        """Whether it is a link or a fiber and no sequence: [3, 4] are two links, ("Bonn", "Kiel") is one."""
        if isinstance(given, str) or not isinstance(given, Iterable):
            return True
        pair = isinstance(given, (tuple, list)) and len(given) == 2 and all(isinstance(node, str) for node in given)
        return pair and not any(name in self._numbers or name in self._fibers for name in given)

    def _links(self, what: str, link: Any) -> tuple[int, ...]:
        return self._by_name(what, link) if isinstance(link, str) else (self._link(what, link),)

    def _link(self, what: str, link: Any) -> int:
        if isinstance(link, (tuple, list)) and len(link) == 2:
            if self._net is None:
                raise ProblemError(f"{what} names nodes, and the problem has capacities only: make it with a Topology")
            try:
                return self._net.link(*link)
            except (ProblemError, TypeError) as error:
                raise type(error)(f"{what}: {error}") from None
        try:
            number = operator.index(link)
        except TypeError:
            number = None
        if number is None or isinstance(link, bool):
            expected = "a number, a name or a pair of nodes"
            raise TypeError(f"{what}: a link must be {expected}, not {type(link).__name__}")
        if not 0 <= number < self._count:
            raise ProblemError(f"{what} names link {number}, and there are {self._count} links")
        return number

    def _by_name(self, what: str, name: str) -> tuple[int, ...]:
        if name in self._numbers:
            return (self._numbers[name],)
        if name in self._fibers:
            return self._fibers[name]
        near = did_you_mean(name, [*self._names, *self._fibers])
        meant = f", {near}" if near else ""
        raise ProblemError(f"{what} names link {name!r}, expected the name of one of the {self._count} links{meant}")


def _refuse_masked(what: str, given: Any) -> None:
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array, expected plain links")
