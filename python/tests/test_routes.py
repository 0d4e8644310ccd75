"""Several paths per pair, links and paths by the names of nodes, networks that are changed a little."""

import itertools
import pickle
import random

import numpy as np
import pytest

import netnum
from netnum import topology

nx = pytest.importorskip("networkx")

US = """
Seattle Denver 10
Denver Houston 10
Seattle Sunnyvale 10
Sunnyvale Houston 4
Houston Atlanta 10
"""


def us():
    return topology.from_edges(US)


def nodes_of(net, path):
    """The names of the nodes that a path passes."""
    ends = net.links[path]
    assert np.array_equal(ends[:-1, 1], ends[1:, 0])
    return [net.node_names[node] for node in [ends[0, 0], *ends[:, 1]]]


# --- k shortest paths ---


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_those_of_networkx(seed, weighted):
    rng = random.Random(seed)
    graph = nx.gnp_random_graph(rng.randrange(5, 14), rng.uniform(0.2, 0.5), seed=seed, directed=True)
    for edge in graph.edges.values():
        edge.update(capacity=1.0, weight=rng.choice([1, 2, 3, 5]) if weighted else 1)
    if len(graph.edges) == 0:
        return
    net = topology.from_networkx(graph)
    weight = np.array([graph.edges[int(a), int(b)]["weight"] for a, b in net.links]) if weighted else None
    pairs = [(a, b) for a, b in itertools.permutations(graph, 2) if nx.has_path(graph, a, b)]
    sources, destinations = np.array(pairs).T
    k = 5
    paths, group = net.k_shortest_paths(sources, destinations, k, weight)
    for pair, (source, destination) in enumerate(pairs):
        found = [nodes_of(net, path) for path, owner in zip(paths, group, strict=True) if owner == pair]
        simple = nx.shortest_simple_paths(graph, source, destination, weight="weight" if weighted else None)
        expected = list(itertools.islice(simple, k))
        assert [nx.path_weight(graph, list(map(int, path)), "weight") for path in found] == [
            nx.path_weight(graph, path, "weight") for path in expected
        ]
        assert all(len(set(path)) == len(path) for path in found)
        assert len(set(map(tuple, found))) == len(found) == len(expected)
        assert all((path[0], path[-1]) == (str(source), str(destination)) for path in found)


@pytest.mark.parametrize("seed", range(6))
def test_disjoint_ones_are_as_many_as_networkx_finds(seed):
    graph = nx.gnp_random_graph(10, 0.35, seed=seed)
    nx.set_edge_attributes(graph, 1.0, "capacity")
    net = topology.from_networkx(graph)
    pairs = [(a, b) for a, b in itertools.permutations(graph, 2) if nx.has_path(graph, a, b)]
    paths, group = net.k_shortest_paths(*np.array(pairs).T, 9, disjoint=True)
    for pair, (source, destination) in enumerate(pairs):
        links = np.concatenate([path for path, owner in zip(paths, group, strict=True) if owner == pair])
        assert len(set(links)) == len(links)
        assert np.sum(group == pair) == nx.edge_connectivity(graph.to_directed(), source, destination)


def test_paths_do_not_depend_on_threads_and_are_a_problem():
    net = topology.leaf_spine(4, 4, 3, 10.0, 40.0)
    pairs = net.random_pairs(400, seed=1)
    paths, group = net.k_shortest_paths(*pairs, 4)
    for threads in (1, 2, 7):
        other, others = net.k_shortest_paths(*pairs, k=4, threads=threads)
        assert other == paths
        np.testing.assert_array_equal(others, group)
    assert group.dtype == np.int64
    assert set(group) == set(range(400))
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group)
    assert netnum.solve(problem).is_optimal


def test_failed_links_and_infinite_weights_are_avoided():
    net = us()
    (path,), _ = net.k_shortest_paths(["Seattle"], ["Houston"], 1)
    assert nodes_of(net, path) == ["Seattle", "Denver", "Houston"]
    (path,), _ = net.without([("Denver", "Houston")]).k_shortest_paths(["Seattle"], ["Houston"], 5)
    assert nodes_of(net, path) == ["Seattle", "Sunnyvale", "Houston"]
    weight = np.ones(len(net.capacities))
    weight[net.link("Seattle", "Denver")] = np.inf
    (path,), _ = net.k_shortest_paths(["Seattle"], ["Houston"], 5, weight=weight)
    assert nodes_of(net, path) == ["Seattle", "Sunnyvale", "Houston"]
    weight[net.link("Seattle", "Denver")] = 3
    paths, _ = net.k_shortest_paths(["Seattle"], ["Houston"], 5, weight=weight, max_stretch=1.9)
    assert [nodes_of(net, path)[1] for path in paths] == ["Sunnyvale"]
    paths, _ = net.k_shortest_paths(["Seattle"], ["Houston"], 5, weight=weight, max_stretch=2.0)
    assert [nodes_of(net, path)[1] for path in paths] == ["Sunnyvale", "Denver"]


def test_pairs_without_a_path_are_known_by_has_path():
    net = us().without("Houston -> Atlanta")
    sources, destinations = np.array([0, 0, 4]), np.array([2, 4, 0])
    reached = net.has_path(sources, destinations)
    assert reached.tolist() == [True, False, True]
    _, group = net.k_shortest_paths(sources[reached], destinations[reached], 2)
    assert group.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.k_shortest_paths(["Seattle"], ["Houston"], 0), "k is 0, expected at least 1"),
        (lambda net: net.k_shortest_paths(["Seattle"], ["Houston"], -2), "k is -2, expected at least 1"),
        (
            lambda net: net.k_shortest_paths(["Seatle"], ["Houston"], 2),
            'sources[0] is "Seatle", expected the name of one of the 5 ends, did you mean "Seattle"?',
        ),
        (
            lambda net: net.k_shortest_paths(["Seattle", "Seattle"], ["Houston", "Zürich"], 2),
            'destinations[1] is "Zürich", expected the name of one of the 5 ends',
        ),
        (
            lambda net: net.k_shortest_paths([0], [2], 2, weight=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1]),
            "link 3 (Houston -> Denver) has weight -1, expected a number >= 0 (inf for a link not to be used)",
        ),
        (
            lambda net: net.k_shortest_paths([0], [2], 2, weight=[1.0]),
            "weight has 1 entries, expected 10, one per link",
        ),
        (
            lambda net: net.k_shortest_paths([0], [2], 2, max_stretch=0.5),
            "max_stretch is 0.5, expected a number >= 1",
        ),
        (
            lambda net: net.without([8]).k_shortest_paths([0, 0], [2, 4], 2),
            "pair 1 from Seattle to Atlanta: there is no route that avoids links of capacity 0 or weight inf",
        ),
        (
            lambda net: net.k_shortest_paths([0], [9], 2),
            "pair 0 from Seattle to end 9: end 9 does not exist, expected an end from 0 to 4",
        ),
        (lambda net: net.link("Seattle", "Atlanta"), "there is no link from Seattle to Atlanta"),
        (
            lambda net: net.link("Seattle", "houson"),
            'destination is "houson", expected the name of one of the 5 nodes, did you mean "Houston"?',
        ),
        (lambda net: net.node(7), "node is 7, expected a node from 0 to 4"),
        (lambda net: net.route(["Seattle", "Denver", "Atlanta"]), "hop 1: there is no link from Denver to Atlanta"),
        (
            lambda net: net.route(["Seattle", "Denvr"]),
            'nodes[1] is "Denvr", expected the name of one of the 5 nodes, did you mean "Denver"?',
        ),
        (lambda net: net.route(["Seattle"]), "a route of 1 node has no link"),
        (lambda net: net.without([10]), "links[0] names link 10, and there are 10 links"),
        (lambda net: net.without([0, ("Seattle", "Atlanta")]), "links[1]: there is no link from Seattle to Atlanta"),
        (
            lambda net: net.without([("Seattle", "Denvr")]),
            'links[0]: destination is "Denvr", expected the name of one of the 5 nodes, did you mean "Denver"?',
        ),
        (lambda net: net.with_capacities([1.0]), "capacities has 1 entries, expected 10, one per link"),
        (
            lambda net: net.with_capacities(-1.0),
            "link 0 has capacity -1, expected a number >= 0 (inf for no limit)",
        ),
        (
            lambda net: netnum.Problem(net, [["Seattle", "Denver"], ["Seattle", "Houston"]], netnum.AlphaFair(1.0)),
            "path 1: hop 0: there is no link from Seattle to Houston; a pair of ends is a tuple, and "
            "net.k_shortest_paths([(source, destination), ...], k) has paths of pairs",
        ),
        (
            lambda net: netnum.Problem(net, (net.k_shortest_paths([0], [1], 2)[0], [0, 1]), netnum.AlphaFair(1.0)),
            "paths is a pair of Paths and flows that are not theirs: give the Paths, and the flows as group=",
        ),
        (
            lambda net: netnum.Problem(net, [["Seattle", "Dever"]], netnum.AlphaFair(1.0)),
            'path 0[1] is "Dever", expected the name of one of the 5 nodes, did you mean "Denver"?',
        ),
    ],
)
def test_what_cannot_be_is_named(ask, message):
    with pytest.raises(netnum.NumError) as caught:
        ask(us())
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "ask",
    [
        lambda net: net.k_shortest_paths([0], [2], 2.5),
        lambda net: net.k_shortest_paths([0], [2], "two"),
        lambda net: net.k_shortest_paths("Seattle", ["Houston"], 2),
        lambda net: net.route("Seattle"),
        lambda net: net.route(3),
        lambda net: net.link(None, "Denver"),
        lambda net: net.without(3.0),
        lambda net: net.without([("Seattle", "Denver", "Houston")]),
        lambda net: netnum.Problem(net, ["Seattle"], netnum.AlphaFair(1.0)),
        lambda net: netnum.Problem(net.capacities, [["Seattle", "Denver"]], netnum.AlphaFair(1.0)),
    ],
)
def test_a_wrong_type_is_a_type_error(ask):
    with pytest.raises(TypeError):
        ask(us())


# --- links and paths by the names of nodes ---


def test_a_route_is_the_links_between_its_nodes():
    net = us()
    assert net.node("Houston") == net.node(2) == 2
    assert net.link("Denver", "Houston") == net.link(1, 2) == 2
    assert net.route(["Seattle", "Denver", "Houston"]).tolist() == net.route([0, 1, 2]).tolist() == [0, 2]
    assert net.route(np.array(["Houston", "Denver"])).tolist() == [3]
    for number, (source, target) in enumerate(net.links):
        assert net.link(source, target) == number
    servers = topology.leaf_spine(2, 2, 2)
    path = servers.route(["server 0", "rack 0", "spine 1", "rack 1", "server 3"])
    assert path.tolist() in [other.tolist() for other in servers.paths(0, 3)]


def test_integer_names_are_names_in_routes_too():
    graph = nx.Graph()
    graph.add_edge(10, 5, capacity=1.0)
    graph.add_edge(5, 0, capacity=2.0)
    net = topology.from_networkx(graph)
    assert net.route([10, 5, 0]).tolist() == net.route(["10", "5", "0"]).tolist()
    assert net.capacities[net.link(5, 0)] == 2.0
    with pytest.raises(netnum.ProblemError, match="no node of graph is called that"):
        net.route([10, 1])
    (path,), _ = net.k_shortest_paths([10], [0], 3)
    assert path.tolist() == net.route([10, 5, 0]).tolist()


def test_paths_are_lists_of_node_names_wherever_a_network_is_known():
    net = us()
    names = [["Seattle", "Denver", "Houston"], ("Seattle", "Sunnyvale", "Houston"), np.array(["Denver", "Houston"])]
    links = [net.route(path) for path in names]
    problem = netnum.Problem(net, names, netnum.AlphaFair(1.0), group=[0, 0, 1])
    assert problem.paths == netnum.Problem(net, links, netnum.AlphaFair(1.0), group=[0, 0, 1]).paths
    allocator = netnum.Allocator(net, update_threshold=0.0)
    ids = allocator.start(names)
    allocator.change(ids[:1], paths=[["Denver", "Seattle"]])
    allocator.tick(300)
    np.testing.assert_allclose(allocator.rates(ids), [10.0, 4.0, 10.0], rtol=1e-3)
    with pytest.raises(netnum.ProblemError, match="path 0 is no walk of the network: link 0"):
        allocator.start([[0, 4]])
    with pytest.raises(netnum.ProblemError, match="path 1: hop 0: there is no link from Seattle to Houston"):
        allocator.start([["Seattle", "Denver"], ["Seattle", "Houston"]])
    assert len(allocator) == 3
    again = pickle.loads(pickle.dumps(allocator))
    assert len(again.start([["Seattle", "Denver"]])) == 1


# --- a network that is changed a little ---


def test_other_capacities_leave_names_and_places():
    net = netnum.Topology(["10", "5"], [[0, 1], [1, 0]], [1.0, 2.0], positions=[[0, 0], [1, 1]])
    other = net.with_capacities([3.0, 4.0])
    assert other.capacities.tolist() == [3.0, 4.0]
    assert other.with_capacities(net.capacities) == net
    assert net.with_capacities(7).capacities.tolist() == [7.0, 7.0]
    failed = net.without([(10, 5)])
    assert failed.capacities.tolist() == [0.0, 2.0]
    assert (failed.positions.tolist(), failed.node(5)) == ([[0, 0], [1, 1]], 1)
    assert net.without(np.array([1, 1])).capacities.tolist() == [1.0, 0.0]
    assert net.without([]) == net
    assert net.capacities.tolist() == [1.0, 2.0]


def test_a_network_goes_to_networkx_and_back():
    net = us()
    graph = net.to_networkx()
    assert type(graph) is nx.DiGraph
    assert graph.name == net.name
    assert graph.edges["Sunnyvale", "Houston"] == {"capacity": 4.0, "link": net.link("Sunnyvale", "Houston")}
    back = topology.from_networkx(graph)
    assert back.node_names == net.node_names
    assert sorted(back.link_names) == sorted(net.link_names)
    length = nx.shortest_path_length(graph, "Seattle", "Atlanta")
    (path,), _ = net.k_shortest_paths(["Seattle"], ["Atlanta"], 1)
    assert len(path) == length


def test_what_networkx_distinguishes_survives():
    parallel = netnum.Topology(["a", "b"], [[0, 1], [0, 1]], [1.0, 2.0], positions=[[0, 1], [2, 3]], tiers=[0, 2])
    graph = parallel.to_networkx()
    assert graph.is_multigraph()
    assert sorted(data["capacity"] for _, _, data in graph.edges(data=True)) == [1.0, 2.0]
    assert graph.nodes["b"] == {"tier": 2, "pos": (2.0, 3.0)}
    labelled = nx.path_graph([10, 5, 0])
    nx.set_edge_attributes(labelled, 1.0, "capacity")
    assert list(topology.from_networkx(labelled).to_networkx()) == [10, 5, 0]
    plain = nx.path_graph(3)
    nx.set_edge_attributes(plain, 1.0, "capacity")
    assert list(topology.from_networkx(plain).to_networkx()) == [0, 1, 2]
    assert list(topology.star(2).to_networkx()) == ["server 0", "server 1", "hub"]


def test_paths_of_pairs_have_their_flows():
    net = netnum.topology.backbone("abilene")
    sources, destinations = ["Seattle", "Denver", "Atlanta"], ["Atlanta", "New York", "Seattle"]
    paths, group = net.k_shortest_paths(sources, destinations, 4)
    fair = netnum.AlphaFair(1.0, weight=[1.0, 2.0, 3.0])
    given = netnum.Problem(net, paths, fair, group=group, flow_cap=[1e3, 2e4, 3e4])
    forgotten = netnum.Problem(net, paths, fair, flow_cap=[1e3, 2e4, 3e4])
    np.testing.assert_array_equal(forgotten.group, group)
    np.testing.assert_array_equal(paths.group, group)
    np.testing.assert_array_equal(netnum.solve(forgotten).rates, netnum.solve(given).rates)
    assert repr(paths).startswith(f"Paths({len(paths)} paths of 3 flows, ")
    for again in (pickle.loads(pickle.dumps(paths)), netnum.Paths(paths.indptr, paths.indices, group), given.paths):
        assert again == paths
        np.testing.assert_array_equal(again.group, group)
    assert netnum.Paths(paths.indptr, paths.indices) != paths
    for again in (pickle.loads(pickle.dumps(forgotten)), netnum.Problem.from_json(given.to_json())):
        np.testing.assert_array_equal(again.group, group)


def test_a_group_that_is_given_counts():
    net = netnum.topology.backbone("abilene")
    paths, group = net.k_shortest_paths(["Seattle", "Denver"], ["Atlanta", "New York"], 3)
    alone = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=range(len(paths)))
    assert alone.flows == len(paths)
    assert alone.paths.group.tolist() == list(range(len(paths)))
    assert "flows" not in repr(alone.paths)
    swapped = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=1 - group)
    np.testing.assert_array_equal(swapped.paths.group, 1 - group)
    # Without pairs of several paths, and as lists, a path is a flow.
    for plain in (net.ecmp([0, 1], [3, 4]), net.k_shortest_paths([0, 1], [3, 4], 1)[0], list(paths)):
        assert netnum.Problem(net, plain, netnum.AlphaFair(1.0)).flows == len(plain)
