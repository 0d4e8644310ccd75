"""The networks of `wide_area.py`: shipped backbones, generated networks, and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peer_runs import SEED

PATHS = 4


@dataclass
class Instance:
    """The arrays that all methods start from."""

    name: str
    capacities: Any
    indptr: Any
    indices: Any
    group: Any
    demands: Any
    weights: Any
    source: str

    def __post_init__(self) -> None:
        """Rates are in units of the median demand: x^-3 is no number that every solver takes in Mbit/s."""
        import numpy as np

        unit = np.median(self.demands[self.demands > 0])
        self.capacities, self.demands = self.capacities / unit, self.demands / unit

    @property
    def size(self) -> str:
        """Links, flows and paths."""
        return f"{len(self.capacities)} links, {len(self.demands)} flows, {len(self.group)} paths"


def on(net: Any, demands: Any, name: str, source: str) -> Instance:
    """The paths of demands over a network, and weights."""
    import numpy as np

    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, PATHS)
    weights = np.random.default_rng(SEED).choice([1.0, 2.0, 4.0, 8.0], len(demands))
    return Instance(name, net.capacities, paths.indptr, paths.indices, group, demands.volumes, weights, source)


def load(net: Any, demands: Any) -> Any:
    """What every link carries with every demand on its shortest path."""
    import numpy as np

    paths, _ = net.k_shortest_paths(demands.sources, demands.destinations, 1)
    return np.bincount(paths.indices, np.repeat(demands.volumes, np.diff(paths.indptr)), minlength=len(net.capacities))


def shipped(name: str) -> Instance:
    """A backbone of the package."""
    import netnum

    net = netnum.topology.backbone(name)
    if name == "b4":
        return on(net, netnum.demands.backbone(name).scaled(4.0), name, "its published demands, fourfold")
    demands = netnum.demands.gravity(net, 1.0, spread=1.0, seed=SEED)
    demands = demands.scaled(2.0 / float((load(net, demands) / net.capacities).max()))
    return on(net, demands, name, "gravity demands")


def generated(nodes: int, flows: int) -> Instance:
    """A network of so many nodes and flows, as in the docstring of this file."""
    import numpy as np
    import scipy.sparse.csgraph
    import scipy.spatial

    import netnum

    rng = np.random.default_rng(SEED)
    points = rng.random((nodes, 2))
    distances = scipy.spatial.distance_matrix(points, points)
    tree = scipy.sparse.csgraph.minimum_spanning_tree(distances).tocoo()
    edges = {(min(a, b), max(a, b)) for a, b in zip(tree.row.tolist(), tree.col.tolist(), strict=True)}
    squares = distances**2
    gabriel = [
        (a, b)
        for a in range(nodes)
        for b in range(a + 1, nodes)
        if np.count_nonzero(squares[a] + squares[b] < squares[a, b]) == 0 and (a, b) not in edges
    ]
    more = rng.permutation(len(gabriel))[: round(1.25 * nodes) - len(edges)]
    edges = sorted(edges | {gabriel[edge] for edge in more})
    links = [link for a, b in edges for link in ((a, b), (b, a))]
    names = [f"n{node}" for node in range(nodes)]
    net = netnum.Topology(names, links, np.ones(len(links)), positions=points, name=f"generated {nodes}")
    demands = netnum.demands.gravity(net, 1.0, rng.lognormal(sigma=1.0, size=nodes))
    demands = demands[np.sort(rng.choice(len(demands), flows, replace=False, p=demands.volumes))]
    carried = load(net, demands).reshape(-1, 2).max(axis=1)
    scale = 10.0 / float(np.median(carried[carried > 0]))
    sizes = np.outer(10.0 ** np.arange(8), [1.0, 4.0]).ravel()
    capacities = sizes[np.searchsorted(sizes, carried * scale * 2 / 3)]
    net = net.with_capacities(np.repeat(capacities, 2))
    return on(net, demands.scaled(scale), f"generated {nodes} x {flows}", f"{nodes} nodes, seed {SEED}")


def of_file(path: Path) -> Instance:
    """The arrays of a file."""
    import numpy as np

    with np.load(path) as data:
        columns = (data[name] for name in ("capacity", "indptr", "indices", "group", "demand", "weight"))
        capacities, indptr, indices, group, demands, weights = columns
        source = str(data["source"]) if "source" in data else "a file"
    whole = [np.asarray(column, dtype=np.int64) for column in (indptr, indices, group)]
    return Instance(path.stem, capacities, *whole, demands, weights, source)


#: Every network by name, the smaller ones first.
INSTANCES: list[tuple[str, Callable[[], Instance]]] = [
    *((name, lambda name=name: shipped(name)) for name in ("abilene", "nsfnet", "b4")),
    *((f"generated {nodes} x {flows}", lambda nodes=nodes, flows=flows: generated(nodes, flows))
      for nodes, flows in ((150, 1000), (200, 5000), (750, 2000))),
]  # fmt: skip
QUICK = ["abilene", "nsfnet", "b4"]
