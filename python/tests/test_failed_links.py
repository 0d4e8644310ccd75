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


def read(directed):
    """A square with a diagonal in both directions, from every reader that knows whether edges have one."""
    there = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]
    edges = [*there, ("c", "a")] if directed else there
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_edges_from(edges, capacity=5.0)
    table = {"source": [a for a, _ in edges], "target": [b for _, b in edges], "capacity": [5.0] * len(edges)}
    matrix = nx.to_numpy_array(graph, weight="capacity")
    made = [
        netnum.topology.from_edges("".join(f"{a} {b} 5\n" for a, b in edges), directed=directed),
        netnum.topology.from_edges([(a, b, 5.0) for a, b in edges], directed=directed),
        netnum.topology.from_pandas(table, directed=directed),
        netnum.topology.from_matrix(matrix, names=list(graph), directed=directed),
        netnum.topology.from_networkx(graph),
        netnum.topology.from_graphml("\n".join(nx.generate_graphml(graph))),
        netnum.topology.from_gml("\n".join(nx.generate_gml(graph))),
    ]
    again = [read for net in made for read in (net.with_capacities(5.0), netnum.topology.from_pandas(net.to_pandas()))]
    return made + again


@pytest.mark.parametrize("directed", [False, True])
def test_a_pair_that_fails_is_the_edge_as_it_was_read(directed):
    for net in read(directed):
        assert net.directed == directed
        ways = {net.link("a", "c")} | (set() if directed else {net.link("c", "a")})
        failed = [("a", "c")], ("a", "c"), [("a", "c"), ("a", "c")]
        for links in failed:
            assert set(np.flatnonzero(net.without(links).capacities == 0)) == ways
        problem = netnum.Problem(net, [["a", "c"], ["c", "a"]])
        assert [set(links) for links in netnum.failure_study(problem, [("a", "c")]).failures] == [ways]
        assert net.without("a -> c") == net.without(net.link("a", "c")) == net.without(["a -> c"])
        assert net.without("a - c") == net.without("c - a") == net.without([net.link("a", "c"), net.link("c", "a")])
        assert problem.with_capacities({("a", "c"): 1.0}).capacities.sum() == net.capacities.sum() - 4


@pytest.mark.parametrize("make", ["leaf_spine", "fat_tree", "star", "backbone"])
def test_edges_of_ready_made_networks_work_both_ways(make):
    arguments = {"leaf_spine": (2, 2, 2), "fat_tree": (4,), "star": (3,), "backbone": ("abilene",)}[make]
    net = getattr(netnum.topology, make)(*arguments)
    names = net.node_names
    one, other = (names[node] for node in net.links[0])
    assert set(np.flatnonzero(net.without([(one, other)]).capacities == 0)) == {0, net.link(other, one)}


def test_parallel_edges_between_two_nodes_fail_together():
    net = netnum.topology.from_edges([("a", "b", 1.0), ("a", "b", 2.0), ("b", "c", 3.0)])
    assert net.without([("b", "a")]).capacities.tolist() == [0, 0, 0, 0, 3, 3]
    shared = netnum.topology.from_edges([("a", "b", 1.0), ("b", "c", 3.0)], shared=[True, False])
    assert shared.without([("b", "a")]).capacities.tolist() == [0, 3, 3]


@pytest.mark.parametrize(
    ("links", "error", "message"),
    [
        ((0, 1), netnum.ProblemError, "links is (0, 1), which may be links 0 and 1 or the link from node 0 to node 1"),
        (["a -> c"], netnum.ProblemError, "links[0] names link 'a -> c', expected the name of one of the 4 links, did"),
        ([0, ("a", "z")], netnum.ProblemError, 'links[1]: destination is "z", expected the name of one of the 3 nodes'),
        ([0, ("a", "c")], netnum.ProblemError, "links[1]: there is no link from a to c"),
        (4, netnum.ProblemError, "links names link 4, and there are 4 links"),
        ([None], TypeError, "links[0]: a link must be a number, a name or a pair of nodes, not NoneType"),
    ],
)
def test_what_cannot_fail_is_named(links, error, message):
    with pytest.raises(error) as caught:
        netnum.topology.from_edges("a b 5\nb c 5").without(links)
    assert str(caught.value).startswith(message)


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


def test_issue_35_a_change_in_a_simulation_takes_the_name_of_a_link_or_of_a_fiber():
    net = netnum.topology.from_edges("a b 8e6")
    workload = sim.Workload([0.0, 0.0], ["a", "b"], ["b", "a"], [1e6, 1e6], net=net)
    for name, times in (("a -> b", [2.0, 1.0]), ("a - b", [2.0, 2.0])):
        report = sim.simulate(net, workload, changes=[(0.5, name, 0.0), (1.5, name, 8e6)], timeline=True)
        np.testing.assert_allclose(report.completion_times, times)
    np.testing.assert_array_equal(report.timeline.loads("a -> b"), report.timeline.loads(("a", "b")))
    with pytest.raises(netnum.ProblemError, match="link of change 0 names link 'a -> c', expected the name of one of"):
        sim.simulate(net, workload, changes=[(0.5, "a -> c", 0.0)])
