"""Integers as names of nodes: where all ends have one, an integer is a name, from whatever the network was made."""

import io
import itertools
import pickle
import re

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import netnum

PROPORTIONAL = netnum.AlphaFair(1.0)

integers = st.integers(-3, 12) | st.sampled_from([-(2**62), 2**40])


@st.composite
def rings(draw, names):
    """A ring through nodes with these names, made in one of the ways in which networks are made."""
    labels = draw(st.lists(names, min_size=3, max_size=7, unique=True))
    hops = list(zip(labels, [*labels[1:], labels[0]], strict=True))
    way = draw(st.sampled_from(["edges", "graph", "gml", "graphml", "nodes"]))
    if way == "edges":
        return labels, netnum.topology.from_edges("\n".join(f"{one} {other} 1.0" for one, other in hops))
    if way == "nodes":
        links = [[labels.index(one), labels.index(other)] for one, other in hops + [hop[::-1] for hop in hops]]
        return labels, netnum.Topology([str(label) for label in labels], links, np.ones(len(links)))
    graph = nx.Graph()
    graph.add_nodes_from(labels)
    graph.add_edges_from(hops, capacity=1.0)
    if way == "graph":
        return labels, netnum.topology.from_networkx(graph)
    text = io.BytesIO()
    {"gml": nx.write_gml, "graphml": nx.write_graphml}[way](graph, text)
    read = {"gml": netnum.topology.from_gml, "graphml": netnum.topology.from_graphml}[way]
    return labels, read(text.getvalue().decode())


@given(rings(integers), st.integers(0, 9))
def test_an_integer_is_the_name_of_a_node_however_the_network_was_made(ring, seed):
    labels, net = ring
    source, destination = labels[0], labels[1]
    link = net.link(source, destination)
    assert net.link_names[link] == f"{source} -> {destination}"
    assert [path.tolist() for path in net.paths(source, destination)] == [[link]]
    assert net.ecmp([source], [destination])[0].tolist() == [link]
    assert net.k_shortest_paths([source], [destination], 1)[0][0].tolist() == [link]
    assert net.route([source, destination]).tolist() == [link]
    demands = netnum.demands.from_pandas(net, {"source": [source], "destination": [destination], "demand": [2.0]})
    assert (demands.sources.tolist(), demands.destinations.tolist()) == ([source], [destination])
    workload = netnum.sim.Workload([0.0], [source], [destination], [1.0], net=net)
    assert (workload.sources.tolist(), workload.destinations.tolist()) == ([source], [destination])
    assert pickle.loads(pickle.dumps(workload)) == workload
    report = netnum.sim.simulate(net, workload, seed=seed)
    assert np.flatnonzero(report.link_bytes).tolist() == [link]
    assert report.workload == workload
    assert pickle.loads(pickle.dumps(report)).workload == workload
    if min(source, destination) >= 0:
        unbound = netnum.sim.Workload([0.0], [source], [destination], [1.0])
        assert np.flatnonzero(netnum.sim.simulate(net, unbound).link_bytes).tolist() == [link]
    assert netnum.sim.Workload.from_csv(workload.to_csv(), net) == workload
    missing = next(label for label in range(100) if label not in labels)
    with pytest.raises(netnum.ProblemError, match=f"(is|end) {missing}[, ]"):
        net.paths(missing, destination)


@given(rings(integers | st.text("abé", min_size=1)), st.integers(0, 9))
def test_what_gives_ends_gives_them_as_the_network_takes_them(ring, seed):
    _, net = ring
    if any(name.strip("-").isdigit() for name in net.node_names) and not net.integer_names:
        return
    sizes = netnum.sim.Sizes.fixed(1.0)
    demands = netnum.demands.gravity(net, 1.0)
    workload = netnum.sim.Workload.poisson(net, sizes, 0.5, flows=5, seed=seed)
    pairs = [
        *zip(*net.random_pairs(5, seed=seed), strict=True),
        *netnum.sim.permutation(net, seed=seed),
        *netnum.sim.all_to_all(net),
        *zip(demands.sources, demands.destinations, strict=True),
        *zip(workload.sources, workload.destinations, strict=True),
    ]
    for source, destination in pairs:
        path = net.ecmp([source], [destination])[0]
        first, last = net.links[path[0], 0], net.links[path[-1], 1]
        assert (net.node(int(source)), net.node(int(destination))) == (first, last)
    again = netnum.sim.Workload(workload.arrivals, workload.sources, workload.destinations, workload.sizes, net=net)
    assert again == workload
    assert netnum.demands.from_matrix(net, demands.to_matrix(net)) == demands


@given(rings(integers), st.data())
def test_lists_of_integers_are_no_paths_where_they_may_be_nodes(ring, data):
    labels, net = ring
    start = data.draw(st.integers(0, len(labels) - 2))
    nodes = labels[start : start + data.draw(st.integers(2, len(labels) - start))]
    with pytest.raises(netnum.ProblemError, match=r"path 0 is a list of integers.*net\.route\(nodes\).*np\.array"):
        netnum.Problem(net, [nodes], PROPORTIONAL)
    route = net.route(nodes)
    by_route = netnum.Problem(net, [route], PROPORTIONAL)
    assert by_route.paths == netnum.Problem(net, [np.array(route)], PROPORTIONAL).paths
    assert [net.link_names[link] for link in by_route.paths[0]] == [
        f"{one} -> {other}" for one, other in itertools.pairwise(nodes)
    ]


def test_lists_of_integers_are_no_paths_where_some_nodes_have_such_names():
    net = netnum.topology.from_edges("s 3 7\n3 2 5\n2 1 2\n1 t 1", directed=True)
    for call in (lambda: netnum.Problem(net, [[3, 2, 1]]), lambda: netnum.Allocator(net).start([[3, 2, 1]])):
        with pytest.raises(netnum.ProblemError, match=r"path 0 is a list of integers.*net\.route\(nodes\).*np\.array"):
            call()
    assert netnum.Problem(net, [np.array([3, 2, 1])], PROPORTIONAL).paths[0].tolist() == [3, 2, 1]
    # Link 0 is of no node's name.
    assert netnum.Problem(net, [[0, 1]], PROPORTIONAL).paths[0].tolist() == [0, 1]


def test_tuples_that_are_nodes_of_networkx_are_told_by_their_names():
    net = netnum.topology.from_edges([("(0, 0)", "(0, 1)", 1.0)])
    with pytest.raises(TypeError, match=re.escape('a node of path 0 is (0, 0), whose name is the text "(0, 0)"')):
        netnum.Problem(net, [[(0, 0), (0, 1)]])
    with pytest.raises(netnum.ProblemError, match=re.escape('is (0, 0), whose name is the text "(0, 0)"')):
        netnum.Problem(net, {((0, 0), (0, 1)): 1.0})
    with pytest.raises(TypeError, match=re.escape('sources[0] is (0, 0), whose name is the text "(0, 0)"')):
        net.ecmp([(0, 0)], [(0, 1)])


def test_a_workload_of_another_network_is_refused():
    one, other = (netnum.topology.from_edges(f"{name} 7 1.0\n7 9 1.0") for name in (8, 5))
    workload = netnum.sim.Workload([0.0], [7], [9], [1.0], net=one)
    with pytest.raises(netnum.ProblemError, match="the workload is of graph, whose ends have other names than those"):
        netnum.sim.simulate(other, workload)
    with pytest.raises(netnum.ProblemError, match="the source of flow 0 is 0, and no node of graph is called that"):
        netnum.sim.simulate(one, netnum.sim.Workload([0.0], [0], [9], [1.0]))
    with pytest.raises(netnum.ProblemError, match="names of ends are integers, 8, 7, 9"):
        one.paths(3, 7)


def test_an_integer_in_a_trace_is_the_name_of_an_end():
    net = netnum.topology.from_edges("0 256 25e9\n1 256 25e9\n2 256 25e9")
    workload = netnum.sim.Workload.from_csv("arrival,source,destination,size\n0.0,1,2,100.0", net)
    assert (workload.sources.tolist(), workload.destinations.tolist()) == ([1], [2])
    with pytest.raises(netnum.ProblemError, match='line 1 of the trace has source "3", expected the name of one of'):
        netnum.sim.Workload.from_csv("0.0,3,2,100.0", net)


def test_paths_of_one_pair_are_the_paths_of_one_flow():
    net = netnum.topology.from_edges("a b 1\nb d 1\na c 1\nc d 1")
    problem = netnum.Problem(net, net.paths("a", "d"), PROPORTIONAL)
    assert (problem.flows, len(problem.paths)) == (1, 2)
    assert problem.paths == netnum.Problem(net, net.k_shortest_paths(["a"], ["d"], 2)[0], PROPORTIONAL).paths


def test_a_path_by_hand_that_returns_to_a_node_is_refused():
    net = netnum.topology.from_edges("a b 1\nb c 1\nc a 1")
    with pytest.raises(netnum.ProblemError, match="path 0: the route returns to a, which is in places 0 and 3"):
        netnum.Problem(net, [["a", "b", "c", "a"]], PROPORTIONAL)


def test_a_switch_may_have_an_integer_for_a_name():
    net = netnum.Topology(["10", "20", "30"], [(0, 2), (2, 1), (1, 2), (2, 0)], [1.0, 2.0, 3.0, 4.0], ends=2)
    assert (net.link(10, 30), net.node(30), net.route([10, 30, 20]).tolist()) == (0, 2, [0, 1])
    with pytest.raises(netnum.ProblemError, match="is 2, and no node of graph is called that"):
        net.node(2)
    with pytest.raises(netnum.ProblemError, match="is 30, and no"):
        net.paths(10, 30)
