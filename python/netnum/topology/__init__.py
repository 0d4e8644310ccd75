"""Networks: fabrics that papers use and real backbones by name, and any other from edges, a table, a matrix, a graph
or a file.

Each function gives a `Topology`, with `capacities`, `link_names`, `ecmp`, `ecmp_split`, `paths`, `k_shortest_paths`,
`route`, `random_pairs` and `plot`. Servers are numbered rack by rack from 0. Demands between the nodes are in
`netnum.demands`.
"""

from .._core import Topology, fat_tree, leaf_spine, parking_lot, single_link, star
from ._backbones import backbone
from ._edges import from_edges
from ._graph_files import from_gml, from_graphml
from ._graphs import from_networkx
from ._sndlib import from_sndlib
from ._tables import from_matrix, from_pandas

__all__ = [
    "Topology",
    "backbone",
    "fat_tree",
    "from_edges",
    "from_gml",
    "from_graphml",
    "from_matrix",
    "from_networkx",
    "from_pandas",
    "from_sndlib",
    "leaf_spine",
    "parking_lot",
    "single_link",
    "star",
]


def __dir__() -> list[str]:
    return sorted(__all__)
