"""Real backbones that come with the package, each with its source in its file."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from .._core import ProblemError, Topology
from .._messages import did_you_mean

FOLDER = "data"


def backbone(name: str) -> Topology:
    """A real backbone that comes with the package.

    ============  =====  =====  ==================================================================  ========
    name          nodes  links  what                                                                unit
    ============  =====  =====  ==================================================================  ========
    ``abilene``   11     28     Internet2's research network in the United States, 2004             Mbit/s
    ``b4``        12     38     Google's network between its data centers, 2013; has demands        none given
    ``nsfnet``    14     42     the T1 backbone of the NSFNET, 1991                                 Mbit/s
    ============  =====  =====  ==================================================================  ========

    Capacities, and so rates and demands, are in the unit of the table. `netnum.sim` takes capacities as bit/s, since
    its sizes are in bytes: simulate ``net.with_capacities(1e6 * net.capacities)`` where the unit in the table is
    Mbit/s.

    Every edge is two links, one each way. Nodes are named by their cities, those of ``b4`` by numbers, and have their
    positions (longitude, latitude) where these are known. `netnum.demands.backbone` has published demands.

    Parameters
    ----------
    name : str

    Returns
    -------
    Topology

    Raises
    ------
    ProblemError
        For a name that is none of these.

    Notes
    -----
    Sources: abilene and nsfnet, the maps that their operators published; abilene's capacities as in Orlowski, Pióro,
    Tomaszewski, Wessäly, *SNDlib 1.0*, Networks 55(3), 2010. b4: Jain et al., *B4: Experience with a globally-deployed
    software defined WAN*, SIGCOMM 2013, in the form of Xu et al., *Teal*, SIGCOMM 2023. The files have more details.

    Examples
    --------
    >>> net = netnum.topology.backbone("abilene")
    >>> net
    Topology(abilene, 11 nodes, 28 links)
    >>> [net.link_names[link] for link in net.route(["Seattle", "Denver", "Kansas City"])]
    ['Seattle -> Denver', 'Denver -> Kansas City']
    """
    data = read(name)
    nodes = {node["name"]: number for number, node in enumerate(data["nodes"])}
    edges = [(nodes[source], nodes[target], capacity) for source, target, capacity in data["edges"]]
    placed = all("longitude" in node for node in data["nodes"])
    return Topology(
        list(nodes),
        [link for source, target, _ in edges for link in ((source, target), (target, source))],
        [capacity for *_, capacity in edges for _ in range(2)],
        name=name,
        positions=[(node["longitude"], node["latitude"]) for node in data["nodes"]] if placed else None,
        directed=False,
    )


def read(name: str) -> Any:
    """The file of a backbone."""
    folder = resources.files(__package__) / FOLDER
    known = sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))
    if name not in known:
        near = did_you_mean(str(name).lower(), known)
        meant = f", {near}" if near else ""
        raise ProblemError(f"there is no backbone {name!r}{meant}; known: {', '.join(known)}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
