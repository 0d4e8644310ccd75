"""Attributes of links beside the capacity: kept by every reader, and the weight of routings."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import topology

EDGES = [
    ("A", "B", {"capacity": 10.0, "delay": 3.0, "owner": "x"}),
    ("B", "C", {"capacity": 10.0, "delay": 4.0}),
    ("A", "C", {"capacity": 10.0, "delay": 30.0, "owner": "y"}),
]


def net_of_three():
    return topology.from_edges(EDGES)


def graph():
    nx = pytest.importorskip("networkx")
    return nx.Graph(EDGES)


def test_every_reader_keeps_the_other_attributes_of_edges():
    nx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([{"source": one, "target": other, **data} for one, other, data in EDGES])
    gml = "".join(
        f"edge [ source {ord(one)} target {ord(other)} capacity 10.0 delay {data['delay']} ]"
        for one, other, data in EDGES
    )
    gml = "graph [ " + "".join(f'node [ id {ord(node)} label "{node}" ] ' for node in "ABC") + gml + " ]"
    for net in (
        net_of_three(),
        topology.from_edges({edge[:2]: edge[2] for edge in EDGES}),
        topology.from_pandas(frame),
        topology.from_networkx(graph()),
        topology.from_gml(gml),
        topology.from_graphml("\n".join(nx.generate_graphml(graph()))),
    ):
        delays = [net.link_attributes["delay"][net.link(*edge[:2])] for edge in EDGES]
        assert delays == [3.0, 4.0, 30.0]
        assert "capacity" not in net.link_attributes
        for edge in EDGES:
            forth, back = net.link(*edge[:2]), net.link(*edge[1::-1])
            assert net.link_attributes["delay"][forth] == net.link_attributes["delay"][back]
    assert net_of_three().link_attributes["owner"] == ["x", "x", "", "", "y", "y"]


def test_a_link_without_a_number_has_nan():
    net = topology.from_edges([("A", "B", {"capacity": 1, "cost": 2}), ("B", "C", {"capacity": 1})], directed=True)
    assert net.link_attributes["cost"].tolist()[0] == 2.0
    assert np.isnan(net.link_attributes["cost"][1])


def test_a_weight_is_the_name_of_an_attribute():
    net = net_of_three()
    by_delay, _ = net.k_shortest_paths(["A"], ["C"], 2, weight="delay")
    assert [path.tolist() for path in by_delay] == [net.route(["A", "B", "C"]).tolist(), [net.link("A", "C")]]
    given, _ = net.k_shortest_paths(["A"], ["C"], 2, weight=net.link_attributes["delay"])
    assert given == by_delay
    by_hops, _ = net.k_shortest_paths(["A"], ["C"], 1)
    assert by_hops[0].tolist() == [net.link("A", "C")]


def test_a_simulation_routes_by_an_attribute():
    net = net_of_three()
    workload = netnum.sim.Workload([0.0], ["A"], ["C"], [1e3], net=net)
    report = netnum.sim.simulate(net, workload, routing=netnum.sim.Routing("k-shortest", k=1, weight="delay"))
    assert report.link_bytes[net.link("A", "B")] == 1e3
    assert report.link_bytes[net.link("A", "C")] == 0.0


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("dealy", 'there is no link attribute "dealy", did you mean "delay"?; known: cost, delay, owner'),
        (
            "price",
            'weight: there is no link attribute "price"; known: cost, delay, owner; weight also takes an array of one '
            'number per link, and edges have attributes as (source, target, {"capacity": 10.0, "price": 1.0})',
        ),
        ("owner", 'link attribute "owner" is text, expected numbers'),
        ("cost", 'link 2 (B -> C) has no "cost", expected a number >= 0'),
    ],
)
def test_an_attribute_that_is_no_weight_is_refused(weight, message):
    edges = [*EDGES[:1], *EDGES[1:]]
    edges[0] = ("A", "B", {**EDGES[0][2], "cost": 1})
    net = topology.from_edges(edges)
    with pytest.raises(netnum.ProblemError) as caught:
        net.k_shortest_paths(["A"], ["C"], 1, weight=weight)
    assert str(caught.value) == message


def test_a_cost_that_is_no_attribute_says_how_to_give_one():
    net = topology.from_edges("A B 10\nB C 10")
    expected = (
        'link_cost: there is no link attribute "delay"; known: none; link_cost also takes an array of one number per '
        'link, and edges have attributes as (source, target, {"capacity": 10.0, "delay": 1.0})'
    )
    problem = netnum.Problem(net, [("A", "C")])
    for make in (
        lambda: netnum.Problem(net, [("A", "C")], link_cost="delay"),
        lambda: netnum.Problem(net, [["A", "B"]], link_cost="delay"),
        lambda: problem.with_link_costs("delay"),
    ):
        with pytest.raises(netnum.ProblemError) as caught:
            make()
        assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("attributes", "kind", "message"),
    [
        ({"delay": [1.0]}, netnum.ProblemError, 'attribute "delay" has 1 entries, expected 2, one per link'),
        ({"delay": "slow"}, TypeError, 'link attribute "delay" must have a value per link, not be one str'),
        ({"owner": ["x", 3]}, TypeError, 'a value of link attribute "owner" must be a str as the first is, not int'),
        ({3: [1.0, 2.0]}, TypeError, "the name of a link attribute must be a str, not int"),
        ([1.0, 2.0], TypeError, "link_attributes must be a dict of arrays by name, not list"),
    ],
)
def test_attributes_that_are_none_are_refused(attributes, kind, message):
    with pytest.raises(kind) as caught:
        netnum.Topology(["a", "b"], [[0, 1], [1, 0]], 1.0, link_attributes=attributes)
    assert str(caught.value) == message


def test_attributes_outlive_other_capacities_failures_and_a_pickle():
    net = net_of_three()
    for other in (net.with_capacities(2.0), net.without([0]), pickle.loads(pickle.dumps(net))):
        assert other.link_attributes["owner"] == net.link_attributes["owner"]
        np.testing.assert_array_equal(other.link_attributes["delay"], net.link_attributes["delay"])
    assert pickle.loads(pickle.dumps(net)) == net
    assert net != topology.from_edges([(*edge[:2], 10.0) for edge in EDGES])


VALUES = st.one_of(st.none(), st.floats(allow_nan=False), st.text(min_size=1, max_size=5))


@given(
    rows=st.lists(st.dictionaries(st.sampled_from(["delay", "cost", "key", "u"]), VALUES), min_size=1, max_size=6),
    directed=st.booleans(),
)
def test_networks_with_any_attributes_come_back_from_networkx(rows, directed):
    pytest.importorskip("networkx")
    edges = [(str(place), "end", {"capacity": 1.0, **row}) for place, row in enumerate(rows)]
    net = topology.from_edges(edges, directed=directed)
    assert topology.from_networkx(net.to_networkx()) == net
    assert pickle.loads(pickle.dumps(net)) == net


def test_an_edge_whose_attribute_pandas_calls_missing_has_none():
    pandas = pytest.importorskip("pandas")
    edges = [("a", "b", {"capacity": 1.0, "delay": pandas.NA}), ("b", "c", {"capacity": 1.0, "delay": 2})]
    delays = netnum.topology.from_edges(edges, directed=True).link_attributes["delay"]
    np.testing.assert_array_equal(delays, [np.nan, 2.0])


@pytest.mark.parametrize("value", [np.array([1.0, 2.0]), np.array([1.0])], ids=["two", "one"])
def test_an_attribute_that_is_an_array_is_refused_with_its_edge(value):
    with pytest.raises(
        netnum.ProblemError, match=r"edge 0 has 'delay' array.*, which is ndarray, expected a number or"
    ):
        netnum.topology.from_edges([("a", "b", {"capacity": 1.0, "delay": value})])


def test_integers_that_no_float_is_equal_to_are_kept_as_texts():
    for number in (2**53 + 1, np.int64(2**53 + 1), 10**400):
        net = netnum.topology.from_edges([("a", "b", {"capacity": 1.0, "id": number})], directed=True)
        assert net.link_attributes["id"] == [str(number)]
    net = netnum.topology.from_edges([("a", "b", {"capacity": 1.0, "id": 2**53})], directed=True)
    assert net.link_attributes["id"].tolist() == [2.0**53]
