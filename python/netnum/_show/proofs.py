"""Proofs by the names of what is in them: the links of a cut, and why floors do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._by_name import listed
from .._core import Topology
from .frames import flow_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Infeasibility, Problem


def names_of_links(problem: Problem | None, links: NDArray[np.int64]) -> tuple[str, ...]:
    """The names of some links; ``link 3`` without a network."""
    net = problem.network if problem is not None else None
    if not isinstance(net, Topology):
        return tuple(f"link {link}" for link in links)
    names = net.link_names
    return tuple(names[link] for link in links)


def cut(proof: Infeasibility, problem: Problem | None) -> tuple[str, ...]:
    """`Infeasibility.cut`."""
    return names_of_links(problem, proof.links)


def summary(proof: Infeasibility, problem: Problem | None) -> str:
    """The `repr` of an `Infeasibility`."""
    names = [f"flow {flow}" for flow in range(len(proof.flow_prices))] if problem is None else flow_names(problem)
    flows = [names[flow] for flow in proof.flows]
    limits = [*cut(proof, problem), *(f"the cap of path {path}" for path in proof.paths)]
    need = f"{listed(flows)} needs" if len(flows) == 1 else f"{listed(flows)} need"
    floors = "the floor of" if len(flows) == 1 else "the floors of"
    return f"Infeasibility({floors} {need} more than {listed(limits)}; {part(proof)})"


def part(proof: Infeasibility) -> str:
    """How much of the floors fits; that is over all of them, whichever flows are in the proof."""
    return f"{proof._fraction} of every floor fits"  # type: ignore[attr-defined]
