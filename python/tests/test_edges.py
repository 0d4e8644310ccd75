"""Networks from lists, dicts, tables and matrices of edges, and from a graph that is given to a problem."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import topology

EDGES = [("Oslo", "Bergen", 10.0), ("Bergen", "Voss", 4.0), ("Oslo", "Voss", 2.5)]
MATRIX = [[0, 10, 2.5], [10, 0, 4], [2.5, 4, 0]]
NAMES = ["Oslo", "Bergen", "Voss"]


def table(columns=("source", "target", "capacity")):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(EDGES, columns=columns)


def refused(message, make, kind=netnum.ProblemError):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == message


# --- what is read ---


def test_a_list_a_dict_a_table_and_a_text_of_the_same_edges_are_the_same_network():
    net = topology.from_edges(EDGES)
    assert net.node_names == NAMES
    assert net.links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2], [2, 0]]
    assert net.capacities.tolist() == [10.0, 10.0, 4.0, 4.0, 2.5, 2.5]
    assert topology.from_edges({(one, other): capacity for one, other, capacity in EDGES}) == net
    assert topology.from_edges("\n".join(f"{one} {other} {capacity}" for one, other, capacity in EDGES)) == net
    assert topology.from_edges(iter([list(edge) for edge in EDGES])) == net
    assert topology.from_pandas(table()) == net
    renamed = table(["from", "to", "gbps"])
    assert topology.from_pandas(renamed, source="from", target="to", capacity="gbps") == net
    columns = dict(zip(["source", "target", "capacity"], zip(*EDGES, strict=True), strict=True))
    assert topology.from_pandas(columns) == net


def test_directed_edges_are_one_link_each_in_both_directions_too():
    edges = {("a", "b"): 10.0, ("b", "a"): 2.5}
    for net in (
        topology.from_edges(edges, directed=True),
        topology.from_edges([(*pair, capacity) for pair, capacity in edges.items()], directed=True),
        topology.from_matrix([[0, 10], [2.5, 0]], names=["a", "b"]),
    ):
        assert net.link_names == ["a -> b", "b -> a"]
        assert net.capacities.tolist() == [10.0, 2.5]
    assert topology.from_pandas(table(), directed=True).links.tolist() == [[0, 1], [1, 2], [0, 2]]


def test_parallel_edges_stay_apart():
    net = topology.from_edges([("a", "b", 1.0), ("a", "b", 2.0)])
    assert net.link_names == ["a -> b", "b -> a", "a -> b #2", "b -> a #2"]


def test_a_matrix_is_read_dense_sparse_and_labelled():
    sparse = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    net = topology.from_matrix(MATRIX, names=NAMES)
    assert net.link_names[:3] == ["Oslo -> Bergen", "Oslo -> Voss", "Bergen -> Oslo"]
    assert net.capacities.tolist() == [10.0, 2.5, 10.0, 4.0, 2.5, 4.0]
    for form in (sparse.csr_array(MATRIX), sparse.coo_array(MATRIX), sparse.csc_matrix(MATRIX)):
        assert topology.from_matrix(form, NAMES) == net
    labelled = pandas.DataFrame(MATRIX, index=NAMES, columns=NAMES)
    assert topology.from_matrix(labelled) == topology.from_matrix(labelled[NAMES[::-1]]) == net
    assert topology.from_matrix(MATRIX).node_names == ["node 0", "node 1", "node 2"]


def test_an_edge_of_a_matrix_is_given_once_or_twice():
    net = topology.from_edges([("node 0", "node 1", 10.0), ("node 0", "node 2", 2.5), ("node 1", "node 2", 4.0)])
    assert topology.from_matrix(MATRIX, directed=False) == net
    assert topology.from_matrix(np.triu(MATRIX), directed=False) == net
    assert topology.from_matrix(np.triu(MATRIX), directed=True).links.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_nodes_without_edges_of_a_matrix_stay():
    assert topology.from_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]]).ends == 3


NODES = st.one_of(
    st.integers(-(10**20), 10**20),
    st.text(min_size=1, max_size=8),
    st.sampled_from(["São Paulo", "New York", "北京", "#", "-1", "1e3"]),
)


@given(
    nodes=st.lists(NODES, min_size=2, max_size=8, unique_by=str),
    directed=st.booleans(),
    draw=st.data(),
)
def test_any_names_come_back_and_every_edge_has_its_links(nodes, directed, draw):
    places = range(len(nodes))
    pairs = draw.draw(
        st.lists(
            st.tuples(st.sampled_from(places), st.sampled_from(places)).filter(lambda pair: pair[0] != pair[1]),
            min_size=1,
            unique_by=lambda pair: pair if directed else frozenset(pair),
        )
    )
    capacities = draw.draw(st.lists(st.floats(0, 1e300), min_size=len(pairs), max_size=len(pairs)))
    edges = [(nodes[one], nodes[other], capacity) for (one, other), capacity in zip(pairs, capacities, strict=True)]
    used = {str(node) for edge in edges for node in edge[:2]}
    net = topology.from_edges(edges, directed=directed)
    assert set(net.node_names) == used
    step = 1 if directed else 2
    assert net.capacities[::step].tolist() == capacities
    for place, (one, other, _) in enumerate(edges):
        names = [net.node_names[node] for node in net.links[step * place]]
        assert names == [str(one), str(other)]
        if not directed:
            assert net.links[step * place + 1].tolist() == net.links[step * place].tolist()[::-1]
    columns = dict(zip(["source", "target", "capacity"], map(list, zip(*edges, strict=True)), strict=True))
    assert topology.from_pandas(columns, directed=directed) == net


@given(st.permutations(range(5)))
def test_integers_from_0_are_their_own_numbers_in_any_order(order):
    edges = [(one, other, 1.0) for one, other in itertools.pairwise(order)]
    net = topology.from_edges(edges)
    assert net.node_names == ["0", "1", "2", "3", "4"]
    assert net.links[::2].tolist() == [list(edge[:2]) for edge in edges]


# --- what is refused ---


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b", -1)], "edge 0 has capacity -1.0, expected a number >= 0 (inf for no limit)"),
        (
            [("a", "b", 1), ("b", "c", float("nan"))],
            "edge 1 has capacity nan, expected a number >= 0 (inf for no limit)",
        ),
        ([("a", "b", "wide")], "edge 0 has capacity 'wide', expected a number >= 0 (inf for no limit)"),
        ([("a", "a", 1)], "edge 0 joins 'a' to itself, expected two nodes"),
        (
            [("a", "b", 1), ("b", "a", 2)],
            "edge 0 and edge 1 join 'a' and 'b' in both directions, and every edge is two links: "
            "give directed=True where each is one link, or leave one of them out",
        ),
        (
            {("a", "b"): 1, ("b", "a"): 2},
            "edge a - b and edge b - a join 'a' and 'b' in both directions, and every edge is two links: "
            "give directed=True where each is one link, or leave one of them out",
        ),
        (
            "a b 1\nb c 1\nc b 2",
            "edge 1 and edge 2 join 'b' and 'c' in both directions, and every edge is two links: "
            "give directed=True where each is one link, or leave one of them out",
        ),
        (
            [("1", "b", 1), (1, "b", 2)],
            "edge 1 names the node 1, and another is '1': their names are the same",
        ),
    ],
)
def test_an_edge_that_is_none_is_named(edges, message):
    refused(message, lambda: topology.from_edges(edges))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b")], "edge 0 is ('a', 'b'), expected (source, target, capacity)"),
        (["a b 1"], "edge 0 is 'a b 1', expected (source, target, capacity)"),
        ([(0.5, "b", 1)], "edge 0 names the node 0.5, expected a str or an integer"),
        ([(None, "b", 1)], "edge 0 names the node None, expected a str or an integer"),
        ({"a": {"b": 1}}, "the dict has the key 'a', expected edges: {(source, target): capacity}"),
        (3, "edges must be a list of (source, target, capacity), a dict, a text or the name of a file, not int"),
        (
            np.eye(3),
            "edges is a ndarray of shape (3, 3): netnum.topology.from_matrix reads a matrix of capacities; rows of "
            "edges are edges.tolist()",
        ),
    ],
)
def test_what_is_no_edge_is_a_type_error(edges, message):
    refused(message, lambda: topology.from_edges(edges), TypeError)


def test_a_frame_or_a_graph_in_place_of_a_list_is_told_its_reader():
    nx = pytest.importorskip("networkx")
    refused(
        "edges is a DataFrame: netnum.topology.from_pandas reads a table of edges",
        lambda: topology.from_edges(table()),
        TypeError,
    )
    refused(
        "edges is a Graph: netnum.topology.from_networkx reads a graph",
        lambda: topology.from_edges(nx.Graph()),
        TypeError,
    )
    refused(
        "frame must be a table with columns by name, not list (from_edges takes a list, from_matrix a matrix)",
        lambda: topology.from_pandas(EDGES),
        TypeError,
    )


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    refused(
        "the table has no column 'capacity' (did you mean 'capacities'?): give its name as capacity=; its columns: "
        "source, target, capacities",
        lambda: topology.from_pandas(table(["source", "target", "capacities"])),
    )


@pytest.mark.parametrize(
    ("matrix", "keywords", "message"),
    [
        ([[0, 1, 0], [1, 0, 0]], {}, "the matrix has shape (2, 3), expected (nodes, nodes)"),
        (
            [[0, -1], [1, 0]],
            {},
            "the capacity from node 0 to node 1 is -1.0, expected a number >= 0 (inf for no limit)",
        ),
        (
            [[0, 1], [float("nan"), 0]],
            {"names": ["a", "b"]},
            "the capacity from b to a is nan, expected a number >= 0 (inf for no limit)",
        ),
        (
            [[3, 1], [1, 0]],
            {},
            "the capacity from node 0 to node 0 is 3.0, expected 0: no link joins a node to itself",
        ),
        (
            [[0, 1], [0, 0]],
            {},
            "all entries of the matrix are on one side of the diagonal: give directed=False where each is an edge with "
            "two links, directed=True where it is one link",
        ),
        (
            [[0, 1], [2, 0]],
            {"directed": False},
            "the matrix has the capacity 1.0 from node 0 to node 1 and 2.0 back, and an edge has one: directed=True "
            "takes both",
        ),
        (
            [[0, 1], [1, 0]],
            {"names": ["a"]},
            "names has 1 entries, expected 2, one per row of the matrix",
        ),
    ],
)
def test_a_matrix_that_is_none_of_capacities_is_refused(matrix, keywords, message):
    refused(message, lambda: topology.from_matrix(matrix, **keywords))


def test_labels_of_a_frame_that_differ_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [1, 0]], index=["a", "b"], columns=["a", "c"])
    refused(
        "the rows of the table are a, b and its columns a, c, expected each node once",
        lambda: topology.from_matrix(frame),
    )


# --- a graph as the network ---


def test_a_problem_and_an_allocator_take_a_graph():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_weighted_edges_from(EDGES, weight="capacity")
    net = topology.from_networkx(graph)
    paths = [["Oslo", "Bergen", "Voss"], ["Bergen", "Voss"]]
    problem = netnum.Problem(graph, paths, netnum.AlphaFair(1.0))
    assert problem.network == net
    expected = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0))).rates
    assert netnum.solve(problem).rates.tolist() == expected.tolist()
    allocator = netnum.Allocator(graph)
    allocator.start(paths)
    allocator.tick(50)
    assert len(allocator.ids) == 2


def test_a_graph_without_capacities_is_refused_by_a_problem():
    nx = pytest.importorskip("networkx")
    refused(
        "no edge has the attribute 'capacity', expected capacities: edges have no attributes",
        lambda: netnum.Problem(nx.path_graph(2), [["0", "1"]], netnum.AlphaFair(1.0)),
    )


def test_a_matrix_whose_labels_have_one_text_is_read_by_their_text():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [2, 0]], index=["0", "1"], columns=[0, 1])
    assert topology.from_matrix(frame).capacities.tolist() == [1.0, 2.0]
    assert topology.from_matrix(frame[[1, 0]]).capacities.tolist() == [1.0, 2.0]


def test_a_column_that_a_table_has_twice_is_refused_whatever_it_holds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["a", "b", 1.0, 2.0, 3.0]], columns=["source", "target", "capacity", "delay", "delay"])
    with pytest.raises(netnum.ProblemError, match="the table has 2 columns 'delay', expected one: rename the others"):
        topology.from_pandas(frame)
