"""Networks: those by name, and those from edges and from networkx."""

import numpy as np
import pytest

import netnum
from netnum import topology


def test_a_leaf_spine_is_numbered_rack_by_rack():
    net = topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10e9, fabric_capacity=40e9)
    assert (net.ends, len(net.capacities), len(net.node_names)) == (144, 360, 157)
    assert set(net.capacities[:288]) == {10e9}
    assert set(net.capacities[288:]) == {40e9}
    assert net.link_names[17] == "server 17 -> rack 1"
    assert net.links[17].tolist() == [17, 145]
    assert np.bincount(net.tiers).tolist() == [144, 9, 4]
    assert net == topology.leaf_spine(9, 16, 4), "10 and 40 Gbit/s by default"
    assert len(net.paths(0, 143)) == 4


def test_the_other_networks_have_the_sizes_they_should():
    sizes = [
        (topology.fat_tree(4), 16, 96),
        (topology.single_link(), 2, 1),
        (topology.parking_lot(5), 6, 5),
        (topology.star(7), 7, 14),
    ]
    for net, ends, links in sizes:
        assert (net.ends, len(net.capacities)) == (ends, links)
        assert set(net.capacities) == {10e9}
    assert set(topology.fat_tree(4, capacity=3.0).capacities) == {3.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: topology.leaf_spine(0, 1, 1), "racks is 0, expected at least 1"),
        (lambda: topology.leaf_spine(2, -3, 1), "servers_per_rack is -3, expected at least 1"),
        (lambda: topology.fat_tree(3), "k is 3, expected an even number >= 2"),
        (lambda: topology.fat_tree(-2), "k is -2, expected an even number >= 2"),
        (lambda: topology.parking_lot(0), "n is 0, expected at least 1"),
        (lambda: topology.star(1), "servers is 1, expected at least 2"),
        (lambda: topology.star(2, capacity=-1.0), "link 0 has capacity -1, expected a number >= 0 (inf for no limit)"),
        (
            lambda: topology.single_link(float("nan")),
            "link 0 has capacity NaN, expected a number >= 0 (inf for no limit)",
        ),
        (
            lambda: netnum.Topology(["a", "a"], [[0, 1]], [1.0]),
            'nodes 0 and 1 are both named "a"',
        ),
        (
            lambda: netnum.Topology(["a", "b"], [[0, -1]], [1.0]),
            "link 0 names node -1, expected a node from 0 to 1",
        ),
        (lambda: netnum.Topology(["a", "b"], [[0, 1]], []), "capacities has 0 entries, expected 1, one per link"),
        (lambda: netnum.Topology(["a", "b"], [0, 1], [1.0]), "links has shape (2,), expected two columns"),
        (lambda: topology.single_link().ecmp([0], [-1]), "destinations[0] is -1, expected an end from 0 to 1"),
        (lambda: topology.single_link().ecmp([0, 1], [1]), "destinations has 1 entries, expected 2, one per source"),
        (
            lambda: topology.single_link().ecmp([0, 0], [1, 5]),
            "pair 1 from node 0 to end 5: end 5 does not exist, expected an end from 0 to 1",
        ),
        (
            lambda: topology.single_link().ecmp([1], [0]),
            "pair 0 from node 1 to node 0: there is no route",
        ),
        (
            lambda: topology.single_link().paths(0, "nowhere"),
            'destination is "nowhere", expected the name of one of the 2 ends',
        ),
        (lambda: topology.single_link().ecmp([0], [1], seed=-1), "seed is -1, expected an integer from 0 to 2**64 - 1"),
        (lambda: topology.single_link().random_pairs(-1), "count is -1, expected at least 0"),
    ],
)
def test_a_network_or_route_that_cannot_be_is_refused(make, message):
    with pytest.raises(netnum.NumError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "make",
    [
        lambda: topology.leaf_spine(2.5, 1, 1),
        lambda: topology.star("many"),
        lambda: topology.star(3).ecmp("server 0", ["server 1"]),
        lambda: topology.star(3).ecmp([0.5], [1]),
        lambda: topology.star(3).paths(None, 1),
        lambda: topology.star(3).ecmp([0], [1], seed="x"),
    ],
)
def test_a_wrong_type_is_a_type_error(make):
    with pytest.raises(TypeError):
        make()


# --- routes ---


def test_ecmp_gives_one_shortest_path_per_pair_and_the_same_ones_every_time():
    net = topology.leaf_spine(3, 4, 2)
    sources, destinations = net.random_pairs(50, seed=5)
    assert sources.dtype == np.int64
    assert np.all(sources != destinations)
    paths = net.ecmp(sources, destinations, seed=2)
    assert len(paths) == 50
    assert paths == net.ecmp(list(sources), tuple(destinations), seed=2)
    assert paths != net.ecmp(sources, destinations, seed=3)
    for path, source, destination in zip(paths, sources, destinations, strict=True):
        assert net.links[path[0], 0] == source
        assert net.links[path[-1], 1] == destination
        np.testing.assert_array_equal(net.links[path[:-1], 1], net.links[path[1:], 0])
        assert path.tolist() in [other.tolist() for other in net.paths(source, destination)]


def test_ends_go_by_name_too():
    net = topology.leaf_spine(3, 4, 2)
    by_name = net.ecmp(["server 0", "server 1"], ["server 9", "server 2"], seed=1)
    assert by_name == net.ecmp([0, 1], [9, 2], seed=1)
    assert net.ecmp([0, "server 1"], np.array([9, 2], dtype=np.uint8), seed=1) == by_name
    assert net.paths("server 0", 9) == net.paths(0, "server 9")


def test_paths_behave_as_a_sequence():
    paths = netnum.Paths([0, 2, 2, 3], [4, 5, 6])
    assert len(paths) == 3
    assert [links.tolist() for links in paths] == [[4, 5], [], [6]]
    assert paths[-1].tolist() == [6]
    assert (paths.indptr.tolist(), paths.indices.tolist()) == ([0, 2, 2, 3], [4, 5, 6])
    assert paths.indices is paths.indices


# --- from edges ---

TRIANGLE = "# a triangle\nA B 10\n\nB C 10\nC A 2.5\n"


def test_a_text_of_edges_has_two_links_per_edge():
    net = topology.from_edges(TRIANGLE)
    assert net.node_names == ["A", "B", "C"]
    assert net.link_names[4:] == ["C -> A", "A -> C"]
    assert net.capacities.tolist() == [10.0, 10.0, 10.0, 10.0, 2.5, 2.5]
    assert topology.from_edges("A B 10").ends == 2


def test_a_file_of_edges_is_read(tmp_path):
    file = tmp_path / "triangle.txt"
    file.write_text(TRIANGLE)
    for net in (topology.from_edges(file), topology.from_edges(str(file))):
        assert net.name == "triangle"
        assert len(net.links) == 6


def test_neither_a_file_nor_edges_is_refused(tmp_path):
    with pytest.raises(netnum.ProblemError, match=r"'abilene\.txt' is neither an existing file nor lines of node"):
        topology.from_edges("abilene.txt")
    with pytest.raises(netnum.ProblemError, match="line 2: capacity"):
        topology.from_edges("A B 10\nB C wide")
    with pytest.raises(netnum.ProblemError, match="this one has none: expected lines of node node"):
        topology.from_edges("")
    with pytest.raises(FileNotFoundError):
        topology.from_edges(tmp_path / "missing.txt")


# --- from networkx ---


def test_an_undirected_edge_is_two_links_and_a_directed_one_is_one():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph(name="small")
    graph.add_edge("a", "b", capacity=4)
    graph.add_edge("b", 3, capacity=2.5)
    net = topology.from_networkx(graph)
    assert net.name == "small"
    assert net.node_names == ["a", "b", "3"]
    assert net.links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert net.capacities.tolist() == [4.0, 4.0, 2.5, 2.5]

    directed = nx.DiGraph()
    directed.add_edge(0, 1, bandwidth=7)
    net = topology.from_networkx(directed, capacity="bandwidth")
    assert net.links.tolist() == [[0, 1]]
    assert net.capacities.tolist() == [7.0]
    assert len(net.paths("0", "1")) == 1


def test_parallel_edges_are_parallel_links():
    nx = pytest.importorskip("networkx")
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", capacity=1)
    graph.add_edge("a", "b", capacity=2)
    assert topology.from_networkx(graph).capacities.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_positions_come_along():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 1.0, "capacity")
    assert topology.from_networkx(graph).positions is None
    nx.set_node_attributes(graph, {node: (node, 2 * node) for node in graph}, "pos")
    assert topology.from_networkx(graph).positions.tolist() == [[0, 0], [1, 2], [2, 4]]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (
            [("a", "b", {})],
            "no edge has the attribute 'capacity', expected capacities: edges have no attributes",
        ),
        ([("a", "b", {"capacity": -1})], "edge a - b has capacity -1.0, expected a number >= 0 (inf for no limit)"),
        (
            [("a", "b", {"capacity": "wide"})],
            "edge a - b has capacity 'wide', expected a number >= 0 (inf for no limit)",
        ),
        (
            [("a", "b", {"capacity": float("nan")})],
            "edge a - b has capacity nan, expected a number >= 0 (inf for no limit)",
        ),
        ([(1, "1", {"capacity": 1})], 'nodes 0 and 1 are both named "1"'),
        ([("a", "b", {"capacity": 1}), ("a", "a", {"capacity": 1})], "link 2 runs from a to itself"),
    ],
)
def test_a_graph_that_is_no_network_is_refused(edges, message):
    nx = pytest.importorskip("networkx")
    with pytest.raises(netnum.ProblemError) as caught:
        topology.from_networkx(nx.Graph(edges))
    assert str(caught.value) == message


def test_what_is_no_graph_or_no_attribute_is_a_type_error():
    nx = pytest.importorskip("networkx")
    with pytest.raises(TypeError, match="g must be a graph of networkx, not str"):
        topology.from_networkx("backbone.graphml")
    with pytest.raises(TypeError, match=r"capacity is 1\.0, expected the name of the edges' attribute"):
        topology.from_networkx(nx.path_graph(3), capacity=1.0)


def test_a_problem_on_a_graph_is_solved():
    nx = pytest.importorskip("networkx")
    graph = nx.cycle_graph(5)
    nx.set_edge_attributes(graph, 10.0, "capacity")
    net = topology.from_networkx(graph)
    solution = netnum.solve(netnum.Problem(net, net.ecmp([0, 0], [1, 2]), netnum.AlphaFair(1.0)), tol=1e-10)
    np.testing.assert_allclose(solution.rates, [5.0, 5.0], rtol=1e-4)


# --- labels that are integers ---


def ring(labels):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_nodes_from(labels)
    graph.add_edges_from(zip(labels, [*labels[1:], labels[0]], strict=True), capacity=1.0)
    return topology.from_networkx(graph)


@pytest.mark.parametrize("labels", [[10, 5, 0], [1, 2, 3, 4], [3, 1, 0, 2], [-1, 7, 2**40], list(range(5))])
def test_integer_labels_are_labels_wherever_an_end_is_named(labels):
    net = ring(labels)
    one, other = labels[0], labels[1]
    (path,) = net.ecmp([one], [other])
    assert net.link_names[path[0]] == f"{one} -> {other}"
    assert net.ecmp(np.array([one]), np.array([other])) == net.ecmp([str(one)], [str(other)]) == net.paths(one, other)
    sources, destinations = net.random_pairs(50, seed=1)
    assert set(sources) | set(destinations) == set(labels)
    paths = net.ecmp(sources, destinations)
    for path, source, destination in zip(paths, sources, destinations, strict=True):
        assert net.link_names[path[0]].startswith(f"{source} -> ")
        assert net.link_names[path[-1]].endswith(f" -> {destination}")
    for pairs in (netnum.sim.permutation(net), netnum.sim.all_to_all(net), netnum.sim.incast(net, one, 2)):
        assert set(pairs.flatten()) <= set(labels)
        assert len(netnum.sim.Workload.at_once(net, pairs, netnum.sim.Sizes.fixed(1.0))) == len(pairs)


def test_nodes_stand_in_the_order_of_the_graph_and_a_bare_matrix_for_other_integers_is_refused():
    net = ring([3, 1, 0, 2])
    assert net.node_names == ["3", "1", "0", "2"]
    assert net.link_names[net.link(3, 1)] == "3 -> 1"
    matrix = np.zeros((4, 4))
    matrix[0, 1] = 2.0
    message = (
        r"in the order of the ends, 3, 1, \.\.\., or in that of their names, 0, 1, \.\.\.: give a table with labels"
    )
    with pytest.raises(netnum.ProblemError, match=message):
        net.ecmp(matrix)
    pandas = pytest.importorskip("pandas")
    labels = [0, 1, 2, 3]
    (path,) = net.ecmp(pandas.DataFrame(matrix, index=labels, columns=labels))
    assert [net.links[link].tolist() for link in path] == [[2, 1]]
    assert len(ring([0, 1, 2, 3]).ecmp(matrix)) == 1


def test_an_integer_that_labels_no_node_is_named():
    net = ring([10, 5, 0])
    for make in (lambda: net.ecmp([10], [1]), lambda: net.ecmp(np.array([10]), np.array([1]))):
        with pytest.raises(netnum.ProblemError, match=r"destinations\[0\] is 1, and no node of graph is called that"):
            make()
    with pytest.raises(netnum.ProblemError, match="source is 2, and no node of graph is called that"):
        net.paths(2, 5)
    with pytest.raises(netnum.ProblemError, match="no node of graph is called that"):
        netnum.sim.Workload.at_once(net, [(1, 2)], netnum.sim.Sizes.fixed(1.0))


def test_where_some_labels_are_integers_those_are_written_as_names():
    net = ring(["a", 0, "b", 7])
    with pytest.raises(netnum.ProblemError, match='source is 0, the name of node 1: write it as a name, "0"'):
        net.paths(0, "a")
    assert net.paths("0", "a") == net.paths(1, "a")
    with pytest.raises(netnum.ProblemError, match="source is 7, the name of node 3"):
        net.paths(7, "a")


def test_integer_labels_outlive_a_pickle():
    import pickle

    net = ring([10, 5, 0])
    other = pickle.loads(pickle.dumps(net))
    assert other == net
    assert other.paths(10, 0) == net.paths(10, 0)
    assert net == netnum.Topology(net.node_names, net.links, net.capacities, name=net.name, directed=False)


# --- paths that are walks ---


def test_a_path_that_is_no_walk_of_the_network_is_refused_by_name():
    net = topology.leaf_spine(2, 2, 2)
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.Problem(net, [[0, 5], [0, 6]], netnum.AlphaFair(1.0))
    message = (
        "path 1 is no walk of the network: link 0 (server 0 -> rack 0) does not lead to link 6 (rack 1 -> server 2)"
    )
    assert str(caught.value) == message
    assert netnum.Problem(net.capacities, [[0, 5], [0, 6]], netnum.AlphaFair(1.0)).flows == 2, (
        "capacities are no network"
    )


def test_a_walk_may_be_listed_in_any_order_and_come_as_a_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    net = topology.fat_tree(4)
    paths = net.ecmp(*net.random_pairs(40, seed=2), seed=2)
    matrix = sparse.csr_matrix(
        (np.ones(len(paths.indices)), (paths.indices, np.repeat(np.arange(40), np.diff(paths.indptr)))),
        shape=(len(net.capacities), 40),
    )
    assert netnum.Problem(net, matrix, netnum.AlphaFair(1.0)).flows == 40
    assert netnum.Problem(net, [path[::-1] for path in paths], netnum.AlphaFair(1.0)).flows == 40


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: topology.parking_lot([1.0, 2.0]), "n must be an integer, the number of links, not list"),
        (lambda: topology.parking_lot(2, [1.0, 2.0]), "capacity must be a number, that of every link, not list"),
    ],
)
def test_a_chain_of_several_capacities_is_made_of_one_that_has_equal_ones(make, message):
    with pytest.raises(TypeError) as error:
        make()
    assert str(error.value) == f"{message}: parking_lot(n).with_capacities(capacities) has a capacity for each link"
    assert list(topology.parking_lot(2).with_capacities([1.0, 2.0]).capacities) == [1.0, 2.0]
