"""Shared links: one capacity for the sum of both directions, in networks, problems, allocators and simulations."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import AlphaFair, topology

EDGES = [("a", "b", 10.0), ("b", "c", 4.0), ("a", "c", 1.0)]


def refused(message, make, kind=netnum.ProblemError):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == message


def shared_net():
    return topology.from_edges(EDGES, shared=True)


# --- networks ---


def test_a_shared_edge_is_one_link_of_both_directions():
    net = shared_net()
    assert net.link_names == ["a - b", "b - c", "a - c"]
    assert net.capacities.tolist() == [10.0, 4.0, 1.0]
    assert net.shared.tolist() == [True, True, True]
    assert net.link("a", "b") == net.link("b", "a") == 0
    assert net.route(["a", "b", "c"]).tolist() == net.route(["c", "b", "a"])[::-1].tolist() == [0, 1]
    assert net.without([("c", "b")]).capacities.tolist() == [10.0, 0.0, 1.0]


def test_every_reader_takes_shared():
    nx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    graph = nx.Graph()
    graph.add_weighted_edges_from(EDGES, weight="capacity")
    matrix = [[0, 10, 1], [10, 0, 4], [1, 4, 0]]
    frame = pandas.DataFrame(EDGES, columns=["source", "target", "capacity"])
    text = "\n".join(f"{one} {other} {capacity}" for one, other, capacity in EDGES)
    for net in (
        topology.from_edges(text, shared=True),
        topology.from_edges({edge[:2]: edge[2] for edge in EDGES}, shared=True),
        topology.from_pandas(frame, shared=True),
        topology.from_pandas(frame.assign(cable=[True, True, True]), shared="cable"),
        topology.from_networkx(graph, shared=True),
        topology.from_graphml("\n".join(nx.generate_graphml(graph)), shared=True),
    ):
        # networkx lists edges node by node.
        assert sorted(net.link_names) == sorted(shared_net().link_names)
        for one, other, capacity in EDGES:
            assert net.capacities[net.link(other, one)] == capacity
    for entries in (matrix, np.triu(matrix)):
        net = topology.from_matrix(entries, ["a", "b", "c"], shared=True)
        assert net.link_names == ["a - b", "a - c", "b - c"]


def test_edges_may_be_shared_one_by_one():
    nx = pytest.importorskip("networkx")
    expected = ["a - b", "b -> c", "c -> b", "a - c"]
    graph = nx.Graph()
    for (one, other, capacity), radio in zip(EDGES, [True, False, True], strict=True):
        graph.add_edge(one, other, capacity=capacity, radio=radio)
    # networkx lists edges node by node.
    assert sorted(topology.from_networkx(graph, shared="radio").link_names) == sorted(expected)
    assert topology.from_edges(EDGES, shared=[True, False, True]).link_names == expected
    text = "a b 10\nb c 4\na c 1"
    net = topology.from_edges(text, shared=[True, False, True])
    assert net.link_names == expected
    assert net.shared.tolist() == [True, False, False, True]
    net = topology.from_edges(EDGES, shared=[True, False, True], directed=True)
    assert net.link_names == ["a - b", "b -> c", "a - c"]


@pytest.mark.parametrize(
    ("keywords", "kind", "message"),
    [
        (
            {"shared": True, "directed": True},
            netnum.ProblemError,
            "directed=True and shared=True: a shared edge is walked both ways, expected one of them",
        ),
        ({"shared": [True]}, netnum.ProblemError, "shared has 1 entries, expected 3, one per edge"),
        ({"shared": [True, 0, 1]}, TypeError, "shared[1] is 0, expected True or False"),
        ({"shared": "yes"}, TypeError, "shared must be True, False, or a list of bool with one per edge, not 'yes'"),
    ],
)
def test_what_does_not_say_which_edges_are_shared_is_refused(keywords, kind, message):
    refused(message, lambda: topology.from_edges(EDGES, **keywords), kind)


def test_a_mask_of_links_that_is_none_is_refused():
    def make(shared):
        return netnum.Topology(["a", "b", "c"], [[0, 1], [1, 2]], 1.0, shared=shared)

    refused("shared has 1 entries, expected 2, one per link", lambda: make([True]))
    refused(
        "shared must be True, False, or an array of bool with one per link, not int", lambda: make([1, 0]), TypeError
    )
    assert make(np.array([False, True])).link_names == ["a -> b", "b - c"]
    assert make(False) == netnum.Topology(["a", "b", "c"], [[0, 1], [1, 2]], 1.0)


@given(
    links=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=8
    ),
    draw=st.data(),
)
def test_networks_with_shared_links_come_back(links, draw):
    pytest.importorskip("networkx")
    shared = draw.draw(st.lists(st.booleans(), min_size=len(links), max_size=len(links)))
    names = [f"n{node}" for node in range(5)]
    net = netnum.Topology(names, links, np.arange(1.0, len(links) + 1.0), shared=shared)
    assert pickle.loads(pickle.dumps(net)) == net
    assert topology.from_networkx(net.to_networkx()) == net
    assert net.with_capacities(net.capacities) == net


def mixed_graph():
    pytest.importorskip("networkx")
    net = topology.from_edges([*EDGES, ("c", "d", 2.0)], shared=[True, True, False, True])
    return net.to_networkx()


def test_a_part_of_a_graph_has_the_shared_links_of_the_whole():
    graph = mixed_graph()
    part = topology.from_networkx(graph.subgraph(["a", "c", "d"]))
    assert part.link_names == ["a -> c", "c -> a", "c - d"]
    assert part.shared.tolist() == [False, False, True]
    assert part.capacities.tolist() == [1.0, 1.0, 2.0]
    graph.remove_edge("a", "c")
    assert topology.from_networkx(graph).link_names == ["a - b", "b - c", "c -> a", "c - d"]


def test_half_a_shared_link_of_a_graph_is_refused_by_name():
    graph = mixed_graph()
    graph.remove_edge("a", "b")
    refused(
        "edge b - a is shared, and no edge a - b of the same link is: a shared link is two edges, one each way",
        lambda: topology.from_networkx(graph),
    )
    graph = mixed_graph()
    graph.edges["b", "a"]["capacity"] = 3.0
    refused(
        "edge a - b is shared and has capacity 10.0, and edge b - a has 3.0: they are one link, expected one capacity",
        lambda: topology.from_networkx(graph),
    )


def test_two_edges_one_each_way_are_a_shared_link_without_a_number():
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph()
    for one, other in [("b", "a"), ("a", "b")]:
        graph.add_edge(one, other, capacity=1.0, shared=True)
    assert topology.from_networkx(graph).link_names == ["b - a"]
    graph.add_edge("c", "b", capacity=1.0)
    assert topology.from_networkx(graph).link_names == ["b - a", "c -> b"]
    graph = nx.DiGraph([("a", "b", {"capacity": 1.0, "shared": True})])
    assert topology.from_networkx(graph, directed=False, shared="shared").link_names == ["a - b"]
    refused(
        "edge a - b is shared, and no edge b - a of the same link is: a shared link is two edges, one each way",
        lambda: topology.from_networkx(graph),
    )


@pytest.mark.parametrize("given", ["False", "0", "", 1, float("nan")])
def test_an_attribute_that_does_not_say_whether_an_edge_is_shared_is_refused_by_name(given):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("a", "b", {"capacity": 1.0, "cable": given}), ("b", "c", {"capacity": 1.0})])
    refused(
        f"edge a - b has cable {given!r}, expected True or False",
        lambda: topology.from_networkx(graph, shared="cable"),
        TypeError,
    )
    graph.edges["a", "b"]["cable"] = np.bool_(True)
    assert topology.from_networkx(graph, shared="cable").link_names == ["a - b", "b -> c", "c -> b"]


# --- routes ---


def unfolded(net):
    """The same network with two links for each shared one, and the link of each."""
    links, of = [], []
    for number, (pair, shared) in enumerate(zip(net.links.tolist(), net.shared, strict=True)):
        for way in [pair, pair[::-1]][: 1 + int(shared)]:
            links.append(way)
            of.append(number)
    of = np.array(of)
    return netnum.Topology(net.node_names, links, net.capacities[of]), of


@given(
    links=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), min_size=3, max_size=12
    ),
    draw=st.data(),
)
def test_routes_are_those_of_two_links_by_the_number_of_the_shared_one(links, draw):
    shared = draw.draw(st.lists(st.booleans(), min_size=len(links), max_size=len(links)))
    net = netnum.Topology([f"n{node}" for node in range(6)], links, 1.0, shared=shared)
    both, of = unfolded(net)
    pairs = [(one, other) for one in range(6) for other in range(6) if one != other]
    has = net.has_path(*zip(*pairs, strict=True))
    assert has.tolist() == both.has_path(*zip(*pairs, strict=True)).tolist()
    joined = [pair for pair, is_joined in zip(pairs, has, strict=True) if is_joined]
    if not joined:
        return
    sources, destinations = map(list, zip(*joined, strict=True))
    weight = np.array(draw.draw(st.lists(st.integers(0, 5), min_size=len(links), max_size=len(links))), dtype=float)
    for ours, theirs in [
        (net.ecmp(sources, destinations, 3), both.ecmp(sources, destinations, 3)),
        (net.paths(*joined[0]), both.paths(*joined[0])),
        (
            net.k_shortest_paths(sources, destinations, 4, weight)[0],
            both.k_shortest_paths(sources, destinations, 4, weight[of])[0],
        ),
        (
            net.k_shortest_paths(sources, destinations, 4, disjoint=True)[0],
            both.k_shortest_paths(sources, destinations, 4, disjoint=True)[0],
        ),
    ]:
        assert [path.tolist() for path in ours] == [of[path].tolist() for path in theirs]
        netnum.Problem(net, ours, AlphaFair(1.0))
    apart, group = net.k_shortest_paths(sources, destinations, 4, disjoint=True)
    for pair in range(len(joined)):
        crossed = np.concatenate([apart[path] for path in np.flatnonzero(group == pair)])
        assert len(set(crossed.tolist())) == len(crossed)


@given(order=st.permutations(range(4)), backwards=st.booleans())
def test_a_path_over_shared_links_may_list_them_in_any_order(order, backwards):
    edges = [(f"n{node}", f"n{node + 1}", 1.0) for node in range(4)]
    net = topology.from_edges([edge if not backwards else (edge[1], edge[0], 1.0) for edge in edges], shared=True)
    assert netnum.Problem(net, [list(order)], AlphaFair(1.0)).flows == 1
    mixed = topology.from_edges(edges, shared=[True, False, True, False], directed=True)
    assert netnum.Problem(mixed, [list(order)], AlphaFair(1.0)).flows == 1


def test_links_that_do_not_meet_are_refused_by_name():
    net = topology.from_edges([("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)], shared=True)
    refused(
        "path 0 is no walk of the network: link 0 (a - b) does not lead to link 2 (c - d)",
        lambda: netnum.Problem(net, [[0, 2]], AlphaFair(1.0)),
    )


# --- problems, allocators, simulations ---


def test_both_directions_share_one_capacity_and_one_price():
    net = line()
    problem = netnum.Problem(net, [["a", "b"], ["b", "a"], ["c", "b", "a"]], AlphaFair(1.0))
    solution = netnum.solve(problem)
    np.testing.assert_allclose(solution.rates, [10 / 3] * 3, rtol=1e-5)
    np.testing.assert_allclose(solution.loads, [10.0, 10 / 3], rtol=1e-5)
    np.testing.assert_allclose(solution.prices[0], 0.3, rtol=1e-4)
    allocator = netnum.Allocator(net, update_threshold=0.0)
    ids = allocator.start([["a", "b"], ["b", "a"], ["c", "b", "a"]])
    allocator.tick(200)
    np.testing.assert_allclose(allocator.rates(ids), [10 / 3] * 3, rtol=1e-3)


def test_tables_and_studies_know_the_ends_of_paths_over_shared_links():
    pytest.importorskip("pandas")
    net = topology.from_edges([("b", "a", 10.0), ("b", "c", 4.0)], shared=True)
    problem = netnum.Problem(net, [["a", "b", "c"], ["c", "b", "a"], ["b", "a"]], AlphaFair(1.0))
    table = netnum.to_pandas(problem, netnum.solve(problem))
    assert table.source.tolist()[:2] == ["a", "c"]
    assert table.destination.tolist()[:2] == ["c", "a"]
    assert {table.source[2], table.destination[2]} == {"a", "b"}
    assert len(netnum.failure_study(problem, "fibers").names) == 2
    assert netnum.demands.gravity(net, 1.0).total == pytest.approx(1.0)


UNKNOWN = (
    "and the direction of a flow over shared links is not known: name flow f by its number, `flow_rates[f]` in a "
    "solution"
)


def line():
    return topology.from_edges([("a", "b", 10.0), ("b", "c", 4.0)], shared=True)


def test_rates_of_opposite_flows_over_one_shared_link_are_not_added_up():
    net = line()
    problem = netnum.Problem(net, net.k_shortest_paths(["b", "a"], ["a", "b"], 2))
    solution = netnum.solve(problem)
    refused(f"flows 0 and 1 join b and a, {UNKNOWN}", lambda: solution.rate("b", "a"))
    refused(f"flows 0 and 1 join a and b, {UNKNOWN}", lambda: solution.rate("a", "b"))
    refused(
        f"weight[('a', 'b')]: flows 0 and 1 join a and b, {UNKNOWN}", lambda: problem.with_weights({("a", "b"): 2.0})
    )


def test_the_only_flow_over_a_shared_link_is_that_of_either_direction():
    problem = netnum.Problem(line(), [["b", "a"], ["a", "b", "c"], ["c", "b", "a"]])
    solution = netnum.solve(problem)
    assert solution.rate("a", "b") == solution.rate("b", "a") == solution.flow_rates[0]
    assert solution.rate("a", "c") == solution.flow_rates[1]
    assert solution.rate("c", "a") == solution.flow_rates[2]
    assert problem.with_weights({("b", "a"): 2.0}).utility.weight.tolist() == [2.0, 1.0, 1.0]
    refused("there is no flow from b to c", lambda: solution.rate("b", "c"))
    refused("there is no flow from c to b: those from c go to a", lambda: solution.rate("c", "b"))


def test_another_path_of_a_flow_tells_its_direction():
    net = topology.from_edges([("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 1.0)], shared=True)
    problem = netnum.Problem(net, net.k_shortest_paths(["b", "a"], ["a", "b"], 2), AlphaFair(1.0, [1.0, 3.0]))
    solution = netnum.solve(problem)
    assert solution.rate("b", "a") == solution.flow_rates[0]
    assert solution.rate("a", "b") == solution.flow_rates[1]


def test_a_link_one_way_tells_the_direction_of_a_path_in_any_order():
    net = topology.from_edges([("c", "b", 1.0), ("b", "a", 1.0), ("a", "d", 1.0)], shared=[True, False, True])
    out, back = ["c", "b", "a"], ["b", "a", "d"]
    problem = netnum.Problem(net, [net.route(out)[::-1], net.route(back)[::-1]])
    solution = netnum.solve(problem)
    assert solution.rate("c", "a") == solution.flow_rates[0]
    assert solution.rate("b", "d") == solution.flow_rates[1]


@pytest.mark.parametrize("policy", ["max-min", "srpt", "proportional", "flowtune"])
@pytest.mark.parametrize("routing", ["ecmp", "ecmp-split", "flow-bender", "spray", "k-shortest", "adaptive"])
def test_flows_in_both_directions_share_a_link_of_a_simulation(policy, routing):
    if routing in ("spray", "adaptive") and policy in ("proportional", "flowtune"):
        pytest.skip("they take flows with one path")
    net = topology.from_edges([("a", "b", 1e9), ("b", "c", 1e9)], shared=True)
    workload = netnum.sim.Workload([0.0, 0.0], ["a", "c"], ["c", "a"], [1e6, 1e6], net=net)
    report = netnum.sim.simulate(net, workload, policy=policy, routing=routing)
    np.testing.assert_allclose(report.completion_times.max(), 16e-3, rtol=0.05)
    np.testing.assert_allclose(report.link_bytes, [2e6, 2e6])
    assert (report.link_utilization <= 1 + 1e-9).all()


def test_a_flow_over_a_shared_link_that_fails_takes_another_way():
    net = topology.from_edges([("a", "b", 1e9), ("b", "d", 1e9), ("a", "c", 1e9), ("c", "d", 1e9)], shared=True)
    workload = netnum.sim.Workload([0.0], ["d"], ["a"], [1e6], net=net)
    first = netnum.sim.simulate(net, workload).link_bytes
    used = int(np.flatnonzero(first)[0])
    report = netnum.sim.simulate(net, workload, changes=[(4e-3, used, 0.0)])
    assert report.status == "finished"
    assert (report.link_bytes > 0).sum() == 4


def over_parallel_links(shared):
    links, capacities = [(0, 1), (0, 1), (1, 0)], [8e6, 4e6, 2e6]
    return netnum.Topology(["a", "b"], links, capacities, shared=shared)


@pytest.mark.parametrize("skew", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", [["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("shared", [[True, False, False], [True, True, True]])
def test_a_flow_over_one_shared_link_that_fails_keeps_its_direction(shared, way, seed, skew):
    net = over_parallel_links(shared)
    workload = netnum.sim.Workload([0.0], way[:1], way[1:], [1e6], net=net)
    routing = netnum.sim.Routing("ecmp", skew=skew)
    report = netnum.sim.simulate(net, workload, routing=routing, changes=[(0.5, 0, 0.0)], seed=seed)
    assert report.status == "finished"
    against = 2 if way == ["a", "b"] else 1
    assert shared[against] or report.link_bytes[against] == 0


def test_a_split_over_shared_links_serves_both_directions():
    net = topology.from_edges([("a", "b", 1e9), ("b", "c", 1e9)], shared=True)
    split = netnum.sim.Split(net, [["a", "b", "c"]], [1.0])
    workload = netnum.sim.Workload([0.0, 0.0], ["a", "c"], ["c", "a"], [1e6, 1e6], net=net)
    assert netnum.sim.simulate(net, workload, routing=split).status == "finished"


def test_a_load_counts_a_shared_link_once():
    sizes = netnum.sim.Sizes.fixed(1e4)
    one = netnum.Topology(["a", "b"], [[0, 1]], [1e9], shared=True)
    two = netnum.Topology(["a", "b"], [[0, 1], [1, 0]], [5e8, 5e8])
    first, second = (netnum.sim.Workload.poisson(net, sizes, 0.5, flows=50, seed=1) for net in (one, two))
    assert first.arrivals.tolist() == second.arrivals.tolist()
