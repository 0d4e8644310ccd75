"""Links that have failed: no route takes them, whoever asks for it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import sim


@st.composite
def broken(draw):
    """A network of both-way edges, and some of its links."""
    nodes = draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(nodes) for b in range(a)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=10, unique=True))
    used = sorted({node for edge in edges for node in edge})
    net = netnum.topology.from_edges("".join(f"n{a} n{b} 1e9\n" for a, b in edges))
    assert len(net.node_names) == len(used)
    failed = draw(st.lists(st.integers(0, 2 * len(edges) - 1), max_size=6, unique=True))
    return net, failed


@given(broken())
def test_paths_ecmp_and_k_shortest_paths_are_those_of_the_links_that_work(case):
    net, failed = case
    left = net.without(failed)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(net.node_names)))
    graph.add_edges_from(ends for link, ends in enumerate(net.links.tolist()) if link not in failed)
    for source, destination in [(a, b) for a in graph for b in graph if a != b]:
        if not nx.has_path(graph, source, destination):
            why = " that avoids links of capacity 0" if failed else ""
            for ask in (
                lambda a, b: left.paths(a, b),
                lambda a, b: left.ecmp([a], [b]),
                lambda a, b: left.k_shortest_paths([a], [b], 2),
            ):
                with pytest.raises(netnum.ProblemError, match=f"there is no route{why}"):
                    ask(source, destination)
            continue
        shortest = {tuple(path) for path in nx.all_shortest_paths(graph, source, destination)}
        links = [path.tolist() for path in left.paths(source, destination)]
        assert {(source, *(int(net.links[link, 1]) for link in path)) for path in links} == shortest
        assert left.ecmp([source], [destination], seed=7)[0].tolist() in links
        assert left.k_shortest_paths([source], [destination], 1)[0][0].tolist() in links


def test_a_link_whose_capacity_returns_is_used_again():
    net = netnum.topology.from_edges("a b 5\na c 5\nc b 5")
    down = net.without([("a", "b")])
    assert down.paths("a", "b")[0].tolist() == [2, 4]
    assert down.with_capacities(net.capacities).paths("a", "b")[0].tolist() == [0]
    assert net.with_capacities(down.capacities).ecmp(["a"], ["b"])[0].tolist() == [2, 4]


@pytest.mark.parametrize("routing", sim.routings())
def test_simulations_avoid_links_that_have_failed(routing):
    whole = netnum.topology.leaf_spine(2, 3, 3)
    failed = [whole.link("rack 0", "spine 1"), whole.link("spine 2", "rack 1")]
    net = whole.without(failed)
    report = sim.simulate(net, sim.Workload.all_to_all(net, 1e5), routing=routing)
    assert report.status == "finished"
    assert (report.link_bytes[failed] == 0).all() and report.link_bytes.sum() > 0


def test_a_flow_that_no_link_serves_is_named_and_one_whose_link_returns_waits():
    net = netnum.topology.single_link(8e6).without([0])
    workload = sim.Workload([0.0], [0], [1], [1e6])
    with pytest.raises(netnum.ProblemError, match="there is no route that avoids links of capacity 0"):
        sim.simulate(net, workload)
    report = sim.simulate(net, workload, changes=[(0.5, 0, 8e6)])
    np.testing.assert_allclose(report.completion_times, [1.5])
