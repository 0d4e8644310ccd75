"""Networks as networkx graphs. networkx is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import Topology

if TYPE_CHECKING:
    import networkx

INSTALL = 'pip install "netnum[graphs]"'


def imported() -> Any:
    """The module networkx, or an error that says how to get it."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(f"graphs need networkx: {INSTALL}") from error
    return networkx


def to_networkx(net: Topology, integer_names: bool) -> networkx.DiGraph[Any]:
    """The graph of a network; where `integer_names` says so, names that are integers are given as integers."""
    graphs = imported()
    names: list[str | int] = list(net.node_names)
    if integer_names or names == [str(number) for number in range(len(names))]:
        names = [_integer(name) for name in net.node_names]
    links = [(names[source], names[target]) for source, target in net.links.tolist()]
    graph = (graphs.DiGraph if len(set(links)) == len(links) else graphs.MultiDiGraph)(name=net.name)
    for name, tier in zip(names, net.tiers.tolist(), strict=True):
        graph.add_node(name, tier=tier)
    if net.positions is not None:
        for name, place in zip(names, net.positions.tolist(), strict=True):
            graph.nodes[name]["pos"] = tuple(place)
    for number, ((source, target), capacity) in enumerate(zip(links, net.capacities.tolist(), strict=True)):
        graph.add_edge(source, target, capacity=capacity, link=number)
    return graph


def _integer(name: str) -> str | int:
    try:
        return int(name) if str(int(name)) == name else name
    except ValueError:
        return name
