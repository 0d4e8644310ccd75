"""Demands: the volumes between pairs of ends of a network.

From a table, a matrix or a file, or drawn at random. Networks take them wherever they take pairs::

    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=50_000, seed=1)
    problem = netnum.Problem(net, net.k_shortest_paths(demands, 4))  # proportionally fair, no flow above its demand

Volumes are in the unit of the network's capacities, whichever that is. They are rates and no sizes: flows of workloads
of `netnum.sim` have sizes in bytes.
"""

from ._drawn import gravity, lognormal
from ._given import backbone, from_matrix, from_pandas, from_sndlib
from ._table import Demands

__all__ = ["Demands", "backbone", "from_matrix", "from_pandas", "from_sndlib", "gravity", "lognormal"]


def __dir__() -> list[str]:
    return sorted(__all__)
