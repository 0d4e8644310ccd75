"""Max-min of many flows on a real network whose capacities are all equal: every level is proven to rounding."""

import numpy as np
import pytest
from common import real_network

import netnum

pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def kdl():
    """500 pairs of 754 nodes over up to four disjoint paths each. Multipliers of its cuts lie five decades apart."""
    net = real_network("Kdl", True)
    nodes = len(net.node_names)
    number = np.sort(np.random.default_rng(15).choice(nodes * (nodes - 1), 500, replace=False))
    sources, others = number // (nodes - 1), number % (nodes - 1)
    ends = sources.tolist(), (others + (others >= sources)).tolist()
    return netnum.Problem(net, net.k_shortest_paths(*ends, 4, disjoint=True)[0], netnum.AlphaFair(np.inf))


def test_levels_above_many_others_are_proven_to_rounding(kdl):
    assert netnum.max_min(kdl).unfairness <= 1e-12


def test_rates_after_a_few_demands_have_changed_are_those_from_the_beginning(kdl):
    first = netnum.max_min(kdl)
    rng = np.random.default_rng(1)
    for _ in range(5):
        caps = np.full(kdl.flows, np.inf)
        some = rng.choice(kdl.flows, 5, replace=False)
        caps[some] = rng.uniform(0.5, 1.5, 5) * first.flow_rates[some]
        changed = kdl.with_flow_caps(caps)
        again = netnum.max_min(changed, start=first)
        assert again.unfairness <= 1e-8
        assert again.flow_rates == pytest.approx(netnum.max_min(changed).flow_rates, rel=1e-8)
