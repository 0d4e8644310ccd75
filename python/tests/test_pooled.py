"""Flows over several paths that the policy splits while flows come and go."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim

# From s to t: by way of a at 1 Mbit/s, of b at 2 Mbit/s.
NET = netnum.topology.from_edges("s a 1e6\na t 1e6\ns b 2e6\nb t 2e6")
POOLED = sim.Routing("k-shortest", k=2, pooled=True)


def from_s_to_t(*bits, **more):
    count = len(bits)
    return sim.Workload([0.0] * count, ["s"] * count, ["t"] * count, np.array(bits) / 8, net=NET, **more)


@pytest.mark.parametrize("policy", ["max-min", "proportional", "alpha-fair", "min-fct"])
def test_a_flow_alone_has_all_paths(policy):
    report = sim.simulate(NET, from_s_to_t(6e6), policy, POOLED)
    assert report.completion_times == pytest.approx([2.0], rel=1e-5)
    assert report.slowdowns == pytest.approx([1.0], rel=1e-5)
    assert report.over_allocation == 0.0


@pytest.mark.parametrize("policy", ["flowtune", "gradient"])
def test_allocators_split_over_all_shortest_paths(policy):
    pools = sim.Routing("spray", pooled=True)
    report = sim.simulate(NET, from_s_to_t(3e6, 3e6), sim.Policy(policy, interval=1e-3), pools)
    assert report.completion_times == pytest.approx([2.0, 2.0], rel=0.05)
    assert report.completion_times.min() >= 2.0 and report.over_allocation == pytest.approx(0.0, abs=1e-3)


def test_weights_and_a_failed_link():
    workload = from_s_to_t(1e6, 2e6, weights=[1.0, 2.0])
    assert sim.simulate(NET, workload, routing=POOLED).completion_times == pytest.approx([1.0, 1.0])
    report = sim.simulate(
        NET, from_s_to_t(6e6), routing=POOLED, changes=[(1.0, ("s", "b"), 0.0), (2.0, ("s", "b"), 2e6)]
    )
    assert report.completion_times == pytest.approx([2.0 + 2 / 3])


def test_given_paths_are_pooled():
    paths, _ = NET.k_shortest_paths(["s"], ["t"], 2)
    split = sim.Split(NET, paths, pooled=True)
    assert split.pooled and not split.spread and repr(split).endswith(", 2 paths, pooled)")
    for routing in [split, pickle.loads(pickle.dumps(split))]:
        assert routing.pooled
        assert sim.simulate(NET, from_s_to_t(6e6), routing=routing).completion_times == pytest.approx([2.0])


def test_pools_need_a_policy_that_splits():
    with pytest.raises(
        netnum.MethodError, match=r'policy "srpt" sets one rate per flow, and routing "k-shortest" pools'
    ):
        sim.simulate(NET, from_s_to_t(1e6), "srpt", POOLED)
    with pytest.raises(netnum.NumError, match=r"pooled.*False where spread is True"):
        sim.Split(NET, NET.paths("s", "t"), spread=True, pooled=True)
    with pytest.raises(netnum.NumError, match=r"pooled.*false where spread is true"):
        sim.Routing("k-shortest", spread=True, pooled=True)


def test_the_best_split_is_no_slower_than_fixed_ones():
    net = netnum.topology.backbone("abilene")
    net = net.with_capacities(1e6 * net.capacities)
    workload = sim.Workload.poisson(net, "web_search", load=0.5, flows=60, seed=3)
    pooled = sim.simulate(net, workload, "proportional", sim.Routing("k-shortest", k=3, pooled=True))
    spread = sim.simulate(net, workload, "proportional", sim.Routing("k-shortest", k=3, spread=True))
    assert pooled.status == "finished" and pooled.gap <= 1e-6
    assert pooled.over_allocation <= 1e-9 * net.capacities.max()
    assert pooled.completion_times.mean() < spread.completion_times.mean()
