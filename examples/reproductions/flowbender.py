"""What FlowBender's evaluations share: its simulated network, and the routings that it is compared with."""

import numpy as np

import netnum
from netnum import sim

CAPACITY = 10e9  # of every link, in bit/s
RTT = 100e-6  # seconds
# DCTCP's marks on such links, with the testbed's marking threshold; T is then higher, since any queue marks something.
DCTCP = {"marking": {"dctcp": {"rtt": RTT, "threshold": 90e3}}, "t": 0.25}

ROUTINGS = {
    "ECMP": sim.Routing("ecmp"),
    "FlowBender": sim.Routing("flow-bender", rtt=RTT),
    "FlowBender, DCTCP marks": sim.Routing("flow-bender", rtt=RTT, **DCTCP),
    "spraying": sim.Routing("spray"),
}


def fabric():
    """128 servers in 4 pods; 8 paths between pods, 2 within one, and 4 times as many servers as uplinks in a rack.

    A pod has 4 racks of 8 servers and 2 aggregation switches; these have 4 core switches each, the same in every pod.
    """
    racks, aggregation, core = range(128, 144), range(144, 152), range(152, 160)
    cables = [(server, racks[server // 8]) for server in range(128)]
    cables += [(racks[rack], aggregation[rack // 4 * 2 + side]) for rack in range(16) for side in range(2)]
    cables += [(aggregation[place], core[place % 2 * 4 + port]) for place in range(8) for port in range(4)]
    links = np.array([pair for one, other in cables for pair in ((one, other), (other, one))])
    names = [f"server {place}" for place in range(128)] + [f"rack {place}" for place in range(16)]
    names += [f"aggregation {place}" for place in range(8)] + [f"core {place}" for place in range(8)]
    tiers = [0] * 128 + [1] * 16 + [2] * 8 + [3] * 8
    return netnum.Topology(names, links, np.full(len(links), CAPACITY), ends=128, tiers=tiers, name="fat tree")


def uplinks(net):
    """The links from racks up, whose capacity is that of the bisection: what loads are relative to."""
    tiers = np.asarray(net.tiers)
    return np.flatnonzero((tiers[net.links[:, 0]] == 1) & (tiers[net.links[:, 1]] == 2))


def between_pods():
    """All pairs of servers in different pods: what they send crosses the bisection."""
    return [(one, other) for one in range(128) for other in range(128) if one // 32 != other // 32]


def all_to_all(net, load, flows, pairs, seed=1):
    """Web search flows."""
    return sim.Workload.poisson(
        net, sim.sizes.web_search, load=load, flows=flows, links=uplinks(net), pairs=pairs, seed=seed
    )


def relative(times):
    """By routing, the value of each as a part of ECMP's."""
    return {name: value / times["ECMP"] for name, value in times.items()}
