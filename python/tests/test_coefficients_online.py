"""Coefficients where flows come and go: allocators, and routes of simulations."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse

import netnum
from netnum import sim

# The links are 0: a -> b, 1: b -> a, 2: b -> c, 3: c -> b.
LINE = netnum.topology.from_edges("a b 1.05e9\nb c 1.05e9")
# Acknowledgements load the way back by 0.05.
WITH_ACKS = netnum.Paths([0, 4, 8], [0, 2, 3, 1, 3, 1, 0, 2], coefficients=2 * [1.0, 1.0, 0.05, 0.05])


def against_each_other():
    return sim.Workload([0.0, 0.0], ["a", "c"], ["c", "a"], [1e7, 1e7], net=LINE)


def random_paths(seed, flows=40, links=12):
    rng = np.random.default_rng(seed)
    rows = [rng.choice(links, rng.integers(1, 5), replace=False) for _ in range(flows)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    coefficients = rng.choice([0.1, 0.5, 1.0, 2.5], indptr[-1])
    return netnum.Paths(indptr, np.concatenate(rows), coefficients=coefficients), rng.uniform(5.0, 20.0, links)


@pytest.mark.parametrize("normalizer", ["f-norm", "u-norm", "fill"])
def test_an_allocator_comes_to_the_optimum_of_solve(normalizer):
    for seed in range(5):
        paths, capacities = random_paths(seed)
        weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(paths))
        problem = netnum.Problem(capacities, paths, netnum.AlphaFair(1.0, weight))
        best = netnum.solve(problem, tol=1e-12, stop="gap").rates
        allocator = netnum.Allocator(capacities, normalizer=normalizer, update_threshold=0.0)
        ids = allocator.start(paths, weight)
        allocator.tick(3000)
        assert allocator.rates(ids) == pytest.approx(best, rel=1e-6)
        assert (problem.loads(allocator.rates(ids)) <= capacities * (1 + 1e-12)).all()
        # Half the headroom, half the rates; a snapshot has the same.
        held = netnum.Allocator(capacities, normalizer=normalizer, update_threshold=0.0, headroom=0.5)
        ids = held.start(paths, weight)
        held.tick(3000)
        assert held.rates(ids) == pytest.approx(best / 2, rel=1e-6)
        assert (pickle.loads(pickle.dumps(held)).rates(ids) == held.rates(ids)).all()


def test_flowlets_have_the_coefficients_of_their_paths():
    matrix = scipy.sparse.csc_array([[0.5, 1.0], [0.0, 2.0]])
    paths = netnum.Paths([0, 1, 3], [0, 0, 1], coefficients=[0.5, 1.0, 2.0])
    for given in (matrix, paths):
        allocator = netnum.Allocator([10.0, 100.0], update_threshold=0.0)
        ids = allocator.start(given)
        allocator.tick(200)
        assert allocator.rates(ids) == pytest.approx([10.0, 5.0])
        allocator.change(ids, paths=netnum.Paths([0, 1, 2], [0, 0], coefficients=[2.0, 1.0]))
        allocator.tick(200)
        assert allocator.rates(ids) == pytest.approx([2.5, 5.0])
    allocator = netnum.Allocator([10.0, 100.0])
    with pytest.raises(netnum.UtilityError, match=r"flow 0 has coefficient 0\.0.*expected a number nearer to 1"):
        allocator.start(netnum.Paths([0, 1], [0], coefficients=[1e-150]), rate_cap=1.0)
    assert len(allocator) == 0
    flow = json.loads(allocator.__getstate__())
    assert flow["version"] == 8


@pytest.mark.parametrize("policy", list(sim.policies()))
def test_every_policy_counts_acknowledgements(policy):
    report = sim.simulate(LINE, against_each_other(), policy, WITH_ACKS)
    assert report.routing == "paths"
    assert report.over_allocation <= 1e-6 * 1.05e9
    expected = [0.08 / 1.05, 0.16 / 1.05] if policy in ("srpt", "edf", "coflow") else [0.08, 0.08]
    if policy not in ("srpt", "edf", "coflow"):
        assert report.completion_times == pytest.approx(expected, rel=0.013)
    else:
        # The second one has, while the first is served, what its acknowledgements leave.
        assert report.completion_times[0] == pytest.approx(expected[0])


def test_ecmp_split_is_a_routing_by_name_and_its_paths_are_one():
    net = netnum.topology.fat_tree(4, 1e9)
    workload = sim.Workload.poisson(net, sizes="web_search", load=0.5, flows=200, seed=3)
    paths = net.ecmp_split(workload.sources, workload.destinations)
    for policy in ("max-min", "srpt", "proportional"):
        by_name = sim.simulate(net, workload, policy, "ecmp-split")
        given = sim.simulate(net, workload, policy, paths)
        assert by_name.completion_times == pytest.approx(given.completion_times, rel=1e-4)
    assert sim.simulate(net, workload, routing="ecmp-split").completion_times == pytest.approx(
        sim.simulate(net, workload, routing="spray").completion_times
    )


def test_traffic_splits_hop_by_hop_over_the_paths_that_are_left():
    edges = "A B 1e9\nA C 1e9\nB D 1e9\nC D 1e9\nC E 1e9\nE F 1e9\nD F 1e9"
    net = netnum.topology.from_edges(edges)
    workload = sim.Workload([0.0], ["A"], ["D"], [1e9], net=net)
    changes = [(1.0, ("A", "B"), 0.0), (2.0, ("A", "B"), 1e9)]
    report = sim.simulate(net, workload, routing="ecmp-split", changes=changes)
    # 2 Gbit/s over both, 1 Gbit/s over one for a second.
    assert report.completion_times == pytest.approx([4.5])
    assert report.route_changes == 2


def test_paths_of_a_routing_are_those_of_the_flows():
    workload = against_each_other()
    with pytest.raises(netnum.NumError, match="paths has 1 entries, expected 2, one per flow"):
        sim.simulate(LINE, workload, routing=netnum.Paths([0, 2], [0, 2]))
    grouped = netnum.Paths([0, 2, 4], [0, 2, 0, 2], group=[0, 0])
    with pytest.raises(netnum.ProblemError, match=r"path 1 is one of flow 0.*a netnum\.sim\.Split"):
        sim.simulate(LINE, workload, routing=grouped)
    back = netnum.Paths([0, 2, 4], [0, 2, 0, 2], coefficients=[1.0, 1.0, 0.5, 0.5])
    with pytest.raises(netnum.MethodError, match="flow 1 got a route whose links do not lead from c to a"):
        sim.simulate(LINE, workload, routing=back)
    with pytest.raises(netnum.MethodError, match="ecmp-split"):
        sim.simulate(LINE, workload, routing="ecmp_split")
    with pytest.raises(TypeError, match=r"a netnum\.Paths or an object"):
        sim.simulate(LINE, workload, routing=3)


def test_a_policy_in_python_is_given_paths_with_coefficients():
    class Optimum:
        def allocate(self, now, flows):
            if not len(flows):
                return None
            assert flows.paths.coefficients is None or (flows.paths.coefficients == flows.shares).all()
            return netnum.solve(netnum.Problem(flows.capacities, flows.paths), tol=1e-9).rates

    net = netnum.topology.leaf_spine(2, 3, 3, 1e9, 1e9)
    workload = sim.Workload.poisson(net, sizes="web_search", load=0.6, flows=60, seed=1)
    ours = sim.simulate(net, workload, sim.Policy("proportional", tol=1e-9), "spray")
    theirs = sim.simulate(net, workload, Optimum(), "spray")
    assert theirs.completion_times == pytest.approx(ours.completion_times, rel=1e-3)


def test_a_split_weighs_its_paths():
    paths = netnum.Paths([0, 2, 4], [0, 2, 3, 1], coefficients=[1.0, 0.5, 2.0, 1.0])
    report = sim.simulate(LINE, against_each_other(), routing=sim.Split(LINE, paths))
    assert report.completion_times == pytest.approx([0.08 / 1.05, 0.16 / 1.05])
    assert report.link_bytes.tolist() == pytest.approx([1e7, 1e7, 0.5e7, 2e7])
    split = LINE.ecmp_split(["a"], ["c"])
    assert sim.Split(LINE, split).paths.coefficients is None
