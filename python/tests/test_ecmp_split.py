"""Traffic divided over shortest paths hop by hop, and shortest paths by weight, against networkx."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum
from netnum import sim, topology

nx = pytest.importorskip("networkx")

COSTS = {
    ("A", "B"): 20,
    ("B", "D"): 20,
    ("A", "D"): 40,
    ("B", "G"): 10,
    ("G", "D"): 10,
    ("D", "F"): 10,
    ("A", "C"): 30,
    ("C", "D"): 30,
    ("A", "E"): 10,
}


def public():
    return topology.from_edges([(*edge, {"capacity": 100.0, "cost": cost}) for edge, cost in COSTS.items()])


def by_name(net, paths, path=0):
    """The links of a path by name, with their coefficients."""
    own = slice(*paths.indptr[path : path + 2])
    parts = np.ones(len(paths.indices)) if paths.coefficients is None else paths.coefficients
    return {net.link_names[link]: part for link, part in zip(paths.indices[own], parts[own], strict=True)}


def slow_split(graph, source, destination, weight, via=(), share=None):
    """By definition: distances of networkx, nodes in the order of theirs, a part for every edge."""
    parts = dict.fromkeys(graph.edges, 0.0)
    for start, end in itertools.pairwise([source, *via, destination]):
        away = nx.single_source_dijkstra_path_length(graph.reverse(), end, weight=weight)
        traffic = dict.fromkeys(graph, 0.0)
        traffic[start] = 1.0
        for node in sorted(away, key=away.get, reverse=True):
            leads = [
                edge
                for edge in graph.out_edges(node)
                if node != end and edge[1] in away and graph.edges[edge][weight] + away[edge[1]] == away[node]
            ]
            whole = sum(graph.edges[edge][share] if share else 1.0 for edge in leads)
            for edge in leads:
                part = traffic[node] * (graph.edges[edge][share] if share else 1.0) / whole
                parts[edge] += part
                traffic[edge[1]] += part
    return parts


def parts_of(net, graph, paths, path):
    """The coefficients of a path by edge."""
    own = slice(*paths.indptr[path : path + 2])
    coefficients = np.ones(len(paths.indices)) if paths.coefficients is None else paths.coefficients
    parts = dict.fromkeys(graph.edges, 0.0)
    for link, part in zip(paths.indices[own], coefficients[own], strict=True):
        source, target = net.links[link]
        parts[int(net.node_names[source]), int(net.node_names[target])] += part
    return parts


# --- what routers do ---


def test_the_public_example_has_its_loads():
    net = public()
    paths = net.ecmp_split({("A", "F"): 40.0}, weight="cost")
    solution = netnum.solve(netnum.Problem(net, paths))
    assert solution.flow_rates[0] == pytest.approx(40.0)
    loads = {name: load for name, load in zip(net.link_names, solution.loads, strict=True) if load > 0}
    expected = {"A -> B": 20, "A -> D": 20, "B -> D": 10, "B -> G": 10, "G -> D": 10, "D -> F": 40}
    assert loads == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("extra", ["", "via", "shares"])
def test_splits_are_those_of_networkx(seed, extra):
    rng = random.Random(seed)
    graph = nx.gnp_random_graph(rng.randrange(5, 25), rng.uniform(0.15, 0.5), seed=seed, directed=True)
    for edge in graph.edges.values():
        edge.update(capacity=1.0, cost=rng.choice([1, 2, 3, 4]), share=rng.uniform(0.1, 3.0))
    if len(graph.edges) == 0:
        return
    net = topology.from_networkx(graph)
    weight = rng.choice([None, "cost"])
    nx.set_edge_attributes(graph, 1, "one")
    pairs = [pair for pair in itertools.permutations(graph, 2) if nx.has_path(graph, *pair)]
    via = [[] for _ in pairs]
    if extra == "via":
        reached = {node: nx.descendants(graph, node) | {node} for node in graph}
        for visits, (source, destination) in zip(via, pairs, strict=True):
            here = source
            for _ in range(rng.randrange(4)):
                here = rng.choice([node for node in reached[here] if destination in reached[node]])
                visits.append(here)
    paths = net.ecmp_split(
        pairs, weight=weight, via=via if extra == "via" else None, shares="share" if extra == "shares" else None
    )
    assert len(paths) == len(pairs)
    for path, (source, destination) in enumerate(pairs):
        share = "share" if extra == "shares" else None
        expected = slow_split(graph, source, destination, weight or "one", via[path], share)
        assert parts_of(net, graph, paths, path) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["abilene", "b4", "nsfnet"])
def test_traffic_of_all_pairs_of_a_backbone_is_conserved(name):
    net = topology.backbone(name)
    sources, destinations = net.all_pairs()
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, len(net.capacities))
    paths = net.ecmp_split(sources, destinations, weight)
    assert paths.coefficients is not None
    assert np.all((paths.coefficients > 0) & (paths.coefficients <= 1))
    for path, (source, destination) in enumerate(itertools.permutations(range(net.ends), 2)):
        own = slice(*paths.indptr[path : path + 2])
        left = np.zeros(net.ends)
        np.add.at(left, net.links[paths.indices[own], 0], paths.coefficients[own])
        np.subtract.at(left, net.links[paths.indices[own], 1], paths.coefficients[own])
        left[[source, destination]] -= [1, -1]
        np.testing.assert_allclose(left, 0, atol=1e-12)


@given(spines=st.integers(1, 12), racks=st.integers(2, 4))
@settings(max_examples=20)
def test_a_fabric_is_divided_over_its_spines(spines, racks):
    net = topology.leaf_spine(racks, 2, spines, server_capacity=10.0, fabric_capacity=10.0)
    paths = net.ecmp_split("server 0", "server 3")
    assert sorted(by_name(net, paths).values()) == pytest.approx([1 / spines] * 2 * spines + [1.0, 1.0])
    assert (paths.coefficients is None) == (spines == 1)
    # Two servers of a rack do without spines.
    assert by_name(net, net.ecmp_split("server 0", "server 1")) == {"server 0 -> rack 0": 1, "rack 0 -> server 1": 1}


def test_only_one_shortest_path_has_no_coefficients():
    net = topology.from_edges("A B 10\nB C 10\nC D 10")
    paths = net.ecmp_split(net.all_pairs())
    assert paths.coefficients is None
    assert paths == net.ecmp(net.all_pairs())


def test_links_that_have_failed_are_not_used():
    net = public().without([("B", "D")])
    parts = by_name(net, net.ecmp_split("A", "F", weight="cost"))
    assert parts == {"A -> B": 0.5, "A -> D": 0.5, "B -> G": 0.5, "G -> D": 0.5, "D -> F": 1.0}


# --- segments and shares ---


def test_segments_add_up_where_traffic_crosses_a_link_again():
    net = public()
    paths = net.ecmp_split(["A", "A", "A"], ["F", "F", "F"], "cost", via=[["E"], [], ("F", "A")])
    there_and_back = by_name(net, paths, 0)
    assert there_and_back["A -> E"] == there_and_back["E -> A"] == there_and_back["D -> F"] == 1.0
    assert by_name(net, paths, 1) == by_name(net, net.ecmp_split("A", "F", "cost"))
    assert by_name(net, paths, 2)["D -> F"] == 2.0
    assert by_name(net, paths, 2)["A -> B"] == 1.0
    by_number = net.ecmp_split(["A"], ["F"], "cost", via=np.array([[net.node("E")]]))
    assert by_name(net, by_number) == there_and_back
    # A segment from a node to itself is none.
    assert net.ecmp_split(["A"], ["F"], "cost", via=[["A", "A", "F"]]) == net.ecmp_split("A", "F", "cost")


def test_shares_divide_in_proportion():
    net = topology.leaf_spine(2, 1, 2, server_capacity=10.0, fabric_capacity=40.0)
    net = net.with_capacities({("rack 0", "spine 0"): 120.0})
    up = {name: part for name, part in by_name(net, net.ecmp_split(0, 1, shares=net.capacities)).items() if part < 1}
    expected = {"rack 0 -> spine 0": 0.75, "rack 0 -> spine 1": 0.25}
    assert up == pytest.approx(expected | {"spine 0 -> rack 1": 0.75, "spine 1 -> rack 1": 0.25})
    assert net.ecmp_split(0, 1, shares={("rack 0", "spine 0"): 3.0}) == net.ecmp_split(0, 1, shares=net.capacities)
    only = by_name(net, net.ecmp_split(0, 1, shares={("rack 0", "spine 1"): 0.0}))
    assert set(only.values()) == {1.0} and "rack 0 -> spine 1" not in only
    assert net.ecmp_split(0, 1, shares=7.0) == net.ecmp_split(0, 1)


def test_flows_of_divided_paths_are_found_by_name():
    pytest.importorskip("pandas")
    net = public()
    paths = net.ecmp_split({("A", "F"): 40.0, ("F", "A"): 10.0, ("E", "G"): 5.0}, weight="cost")
    problem = netnum.Problem(net, paths)
    solution = netnum.solve(problem)
    assert solution.rate("A", "F", problem=problem) == pytest.approx(40.0)
    table = netnum.to_pandas(problem, solution)
    assert table[["source", "destination"]].to_numpy().tolist() == [["A", "F"], ["F", "A"], ["E", "G"]]
    # What a path uses of its links may differ along it; it is a walk by its links.
    walk = netnum.Paths([0, 2], net.route(["A", "B", "D"]), coefficients=[1.0, 0.5])
    problem = netnum.Problem(net, walk)
    assert netnum.solve(problem).rate("A", "D", problem=problem) == pytest.approx(100.0)


# --- by weight ---


def test_ecmp_and_paths_take_weights():
    net = public()
    assert len(net.paths("A", "F", "cost")) == 3
    assert len(net.paths("A", "F")) == 1
    weight = net.link_attributes["cost"]
    links = net.ecmp([("A", "F")] * 300, seed=3, weight=weight).indices
    parts = by_name(net, net.ecmp_split("A", "F", weight))
    found = np.bincount(links, minlength=len(weight)) / 300
    expected = [parts.get(name, 0.0) for name in net.link_names]
    np.testing.assert_allclose(found, expected, atol=0.1)
    assert net.ecmp("A", "F", seed=3, weight="cost") == net.ecmp("A", "F", 3, 10.0 * weight)


@pytest.mark.parametrize(
    "paths",
    [
        lambda net, weight: net.ecmp("A", "C", weight=weight),
        lambda net, weight: net.ecmp_split("A", "C", weight=weight),
        lambda net, weight: net.paths("A", "C", weight=weight),
        lambda net, weight: net.k_shortest_paths("A", "C", k=1, weight=weight),
    ],
)
def test_issue_35_weights_are_taken_by_name_beside_1_of_the_others(paths):
    net = topology.from_edges("A B 10\nB C 10\nA C 10")
    assert paths(net, {("A", "C"): 1.5}) == paths(net, None)
    weight = np.where(np.arange(6) == net.link("A", "C"), 3.0, 1.0)
    for by_name in ({("A", "C"): 3.0}, {"A -> C": 3.0}, {"A - C": 3.0}, {net.link("A", "C"): 3}, {("A", "C"): None}):
        found = paths(net, by_name)
        expected = paths(net, weight)
        found, expected = (one[0] if isinstance(one, tuple) else one for one in (found, expected))
        assert found == expected and found.indices.tolist() == net.route(["A", "B", "C"]).tolist()
    with pytest.raises(netnum.ProblemError, match=r"weight\['A -> D'\]: there is no link of that name"):
        paths(net, {"A -> D": 3.0})


@pytest.mark.parametrize("seed", range(8))
def test_shortest_paths_by_weight_are_those_of_networkx(seed):
    rng = random.Random(seed)
    graph = nx.gnp_random_graph(rng.randrange(5, 14), rng.uniform(0.2, 0.5), seed=seed, directed=True)
    for edge in graph.edges.values():
        edge.update(capacity=1.0, cost=rng.choice([1, 2, 3]))
    net = topology.from_networkx(graph)
    for source, destination in itertools.permutations(graph, 2):
        if nx.has_path(graph, source, destination):
            expected = sorted(nx.all_shortest_paths(graph, source, destination, weight="cost"))
            found = [
                [int(net.node_names[node]) for node in [net.links[path[0], 0], *net.links[path, 1]]]
                for path in net.paths(source, destination, weight="cost")
            ]
            assert sorted(found) == expected


@pytest.mark.parametrize("name", ["ecmp", "ecmp-split", "spray", "flow-bender", "adaptive"])
def test_a_routing_of_simulations_takes_an_attribute(name):
    edges = [("A", "B", {"capacity": 8e6, "cost": 1.0}), ("B", "C", {"capacity": 8e6, "cost": 1.0})]
    net = topology.from_edges([*edges, ("A", "C", {"capacity": 8e6, "cost": 5.0})])
    workload = sim.Workload([0.0], ["A"], ["C"], [1e3], net=net)
    by_cost = sim.simulate(net, workload, routing=sim.Routing(name, weight="cost"))
    assert by_cost.link_bytes[net.link("A", "B")] == pytest.approx(1e3)
    by_links = sim.simulate(net, workload, routing=name)
    assert by_links.link_bytes[net.link("A", "C")] == pytest.approx(1e3)
    with pytest.raises(netnum.NumError, match='there is no link attribute "costs", did you mean "cost"'):
        sim.simulate(net, workload, routing=sim.Routing(name, weight="costs"))
    with pytest.raises(netnum.NumError, match='option "weight" of routing'):
        sim.Routing(name, weight=3)


# --- bad input ---


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.ecmp_split("A", "F", via=[]), "via has 0 entries, expected 1, one per pair"),
        (
            lambda net: net.ecmp_split(["A", "B"], ["F", "F"], via=[["B"], ["D", "b"]]),
            'via[1][1] is "b", expected the name of one of the 7 nodes, did you mean "B"?',
        ),
        (lambda net: net.ecmp_split("A", "F", via=[[7]]), "via[0][0] is 7, expected a node from 0 to 6"),
        (
            lambda net: net.ecmp_split("A", "F", shares={("A", "D"): -1.0}),
            "link 4 (A -> D) has share -1, expected a finite number >= 0",
        ),
        (
            lambda net: net.ecmp_split("A", "F", shares=np.full(18, np.nan)),
            "link 0 (A -> B) has share NaN, expected a finite number >= 0",
        ),
        (
            lambda net: net.ecmp_split("A", "F", "cost", shares={("A", "B"): 0, ("A", "D"): 0}),
            "pair 0 from A to F: all 2 links by which shortest paths leave A have share 0, expected one above 0",
        ),
        (lambda net: net.ecmp_split("A", "F", shares=[1.0]), "shares has 1 entries, expected 18, one per link"),
        (
            lambda net: net.ecmp_split("A", "F", shares="costs"),
            'there is no link attribute "costs", did you mean "cost"?; known: cost',
        ),
        (
            lambda net: net.ecmp_split("A", "F", shares="capacity"),
            'shares: there is no link attribute "capacity"; known: cost; capacities are shares=net.capacities',
        ),
        (
            lambda net: net.ecmp_split("A", "F", shares="width"),
            'shares: there is no link attribute "width"; known: cost; shares also takes an array of one number per '
            'link, and edges have attributes as (source, target, {"capacity": 10.0, "width": 1.0})',
        ),
        (
            lambda net: net.ecmp_split("A", "F", via=["b"]),
            'via[0] is "b", expected the name of one of the 7 nodes, did you mean "B"?',
        ),
        (
            lambda net: net.ecmp_split("A", "F", [-1.0] * 18),
            "link 0 (A -> B) has weight -1, expected a number >= 0 (inf for a link not to be used)",
        ),
        (
            lambda net: net.ecmp("A", "F", weight=[-1.0] * 18),
            "link 0 (A -> B) has weight -1, expected a number >= 0 (inf for a link not to be used)",
        ),
        (
            lambda net: net.paths("A", "F", [np.nan] * 18),
            "link 0 (A -> B) has weight NaN, expected a number >= 0 (inf for a link not to be used)",
        ),
        (
            lambda net: net.without([("D", "F")]).ecmp_split(["A", "A"], ["B", "B"], via=[[], ["F"]]),
            "pair 1 from A to B: on the way from A to F there is no route that avoids links of capacity 0",
        ),
        (
            lambda net: net.ecmp_split("A", "F", weight=np.full(18, np.inf)),
            "pair 0 from A to F: there is no route that avoids links of capacity 0 or weight inf",
        ),
        (
            lambda net: sim.Split(net, net.ecmp_split(["B", "A"], ["D", "F"], "cost")),
            "path 0 is no walk of the network: it is no walk between two nodes; the paths themselves are a routing",
        ),
    ],
)
def test_what_is_wrong_is_named(ask, message):
    with pytest.raises(netnum.NumError) as caught:
        ask(public())
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.ecmp_split("A", "F", via="B"), "via must be a sequence of nodes per pair, not str"),
        (
            lambda net: net.ecmp_split("A", "F", via={("A", "F"): ["B"]}),
            "via must be a sequence of nodes per pair, not dict",
        ),
        (lambda net: net.ecmp_split("A", "F", via=["B"]), "via[0] is a node, expected a list of them, ['B']"),
        (lambda net: net.ecmp_split("A", "F", via=[[1.5]]), "via[0][0] must be a node's name or number, not float"),
        (lambda net: net.ecmp_split("A", "F", via=[None]), "via[0] must be a sequence of nodes, not NoneType"),
    ],
)
def test_what_is_of_another_type_is_named(ask, message):
    with pytest.raises(TypeError) as caught:
        ask(public())
    assert str(caught.value).startswith(message)
