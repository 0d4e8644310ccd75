"""Results, and what changes in a problem, by the names of nodes."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import _by_name

TRIANGLE = "A B 10\nB C 6\nA C 4"


def solved(**others):
    net = netnum.topology.from_edges(TRIANGLE)
    paths, group = net.k_shortest_paths(["A", "B", "A"], ["C", "A", "B"], 2)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, **others)
    return netnum.solve(problem, tol=1e-9)


def test_results_by_name_are_those_of_the_arrays():
    solution = solved()
    net = solution.problem.network
    assert solution.rate("A", "C") == solution.flow_rates[0]
    assert solution.rate("B", "A") == solution.flow_rates[1]
    for link, (source, destination) in enumerate(net.links.tolist()):
        names = net.node_names[source], net.node_names[destination]
        assert solution.price(*names) == solution.prices[link]
        assert solution.load(*names) == solution.loads[link]
    assert solution.price(0, 1) == solution.price("A", "B")


def test_the_rate_of_a_pair_is_the_sum_over_its_flows():
    net = netnum.topology.from_edges("A B 10\nB C 6")
    problem = netnum.Problem(net, [["A", "B"], ["A", "B", "C"], ["A", "B"]], netnum.AlphaFair(1.0))
    solution = netnum.solve(problem)
    assert solution.rate("A", "B") == pytest.approx(solution.flow_rates[0] + solution.flow_rates[2])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.rate("A", "Z"), 'node is "Z", expected the name of one of the 3 nodes'),
        (lambda s: s.rate("C", "A"), "there is no flow from C to A, one runs from A to C"),
        (lambda s: s.rate("B", "C"), "there is no flow from B to C: those from B go to A"),
        (lambda s: s.price("A", "A"), "there is no link from A to A: those from A go to B and C"),
    ],
)
def test_a_pair_without_a_flow_or_a_link_is_named_with_those_that_there_are(ask, message):
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        ask(solved())


def test_parallel_links_are_listed():
    net = netnum.Topology(["A", "B"], [[0, 1], [0, 1], [1, 0]], [1.0, 2.0, 3.0])
    solution = netnum.solve(netnum.Problem(net, [np.array([0]), np.array([1])], netnum.AlphaFair(1.0)))
    message = (
        "2 links run from A to B: `prices[0]` (A -> B) is 1 and `prices[1]` (A -> B #2) is 0.5",
        "2 links run from A to B: `loads[0]` (A -> B) is 1 and `loads[1]` (A -> B #2) is 2",
    )
    for ask, expected in zip((solution.price, solution.load), message, strict=True):
        with pytest.raises(netnum.ProblemError, match=re.escape(expected)):
            ask("A", "B")
    assert solution.price("B", "A") == 0.0
    with pytest.raises(netnum.ProblemError, match="2 links run from A to B, 0 and 1: give the number of one"):
        net.with_capacities({("A", "B"): 5.0})
    assert net.with_capacities({1: 5.0}).capacities.tolist() == [1.0, 5.0, 3.0]


def test_without_names_the_form_that_works_is_named():
    problem = netnum.Problem([1.0, 2.0], [[0], [1]], netnum.AlphaFair(1.0))
    solution = netnum.solve(problem)
    for ask, array in ((solution.rate, "flow_rates[flow]"), (solution.price, "prices[link]")):
        with pytest.raises(netnum.ProblemError, match=re.escape(f"the problem has capacities only: `{array}`")):
            ask("A", "B")
    with pytest.raises(netnum.ProblemError, match="give the number, or make it with a Topology"):
        problem.with_capacities({("A", "B"): 3.0})
    assert problem.with_capacities({1: 3.0}).capacities.tolist() == [1.0, 3.0]
    assert problem.with_flow_caps({0: 0.5}).flow_cap.tolist() == [0.5, np.inf]


def test_a_solution_without_its_problem_takes_one():
    solution = solved()
    alone = netnum.solve_many(solution.problem, flow_caps=[[np.inf] * 3])[0]
    with pytest.raises(netnum.NumError, match="this solution is without its problem"):
        alone.rate("A", "C")
    assert alone.rate("A", "C", problem=solution.problem) == pytest.approx(solution.rate("A", "C"), rel=1e-3)
    other = netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0))
    with pytest.raises(netnum.ProblemError, match="the solution is of another problem: it has 3 flows, expected 1"):
        solution.rate("A", "C", problem=other)


@given(st.dictionaries(st.integers(0, 5), st.floats(0, 1e9)))
def test_a_dict_of_capacities_changes_what_it_names_and_nothing_else(changes):
    problem = solved().problem
    net = problem.network
    names = [tuple(net.node_names[node] for node in link) for link in net.links.tolist()]
    expected = net.capacities.copy()
    for link, capacity in changes.items():
        expected[link] = capacity
    by_name = {names[link]: capacity for link, capacity in changes.items()}
    for changed in (problem.with_capacities(by_name), problem.with_capacities(changes)):
        np.testing.assert_array_equal(changed.capacities, expected)
        np.testing.assert_array_equal(changed.network.capacities, expected)
        assert changed.network.node_names == net.node_names
    np.testing.assert_array_equal(net.with_capacities(by_name).capacities, expected)
    np.testing.assert_array_equal(problem.capacities, net.capacities)


def test_caps_and_weights_change_by_name():
    problem = solved(flow_cap=[20.0, 3.0, np.inf]).problem
    assert problem.with_flow_caps({("A", "C"): 2.0}).flow_cap.tolist() == [2.0, 3.0, np.inf]
    assert problem.with_flow_caps({("B", "A"): None}).flow_cap.tolist() == [20.0, np.inf, np.inf]
    assert problem.with_weights({("A", "B"): 4.0}).utility == netnum.AlphaFair(1.0, [1.0, 1.0, 4.0])
    paths = {tuple(path.tolist()): number for number, path in enumerate(problem.paths)}
    over_b = paths[tuple(problem.network.route(["A", "B", "C"]).tolist())]
    caps = problem.with_rate_caps({("A", "B", "C"): 1.5}).rate_cap
    assert caps[over_b] == 1.5 and np.isinf(np.delete(caps, over_b)).all()


def test_links_are_named_as_in_their_names():
    net = netnum.topology.from_edges([("a", "b", 1.0), ("a", "b", 2.0), ("b", "c", 3.0)], directed=True)
    assert net.with_capacities({"a -> b #2": 7.0, "b -> c": None, 0: 5.0}).capacities.tolist() == [5.0, 7.0, np.inf]
    problem = netnum.Problem(net, [["b", "c"]], link_cost={"b -> c": 2.0})
    assert problem.path_cost.tolist() == [2.0]
    without_names = netnum.Problem([1.0], [[0]])
    with pytest.raises(TypeError, match="a link is named by a tuple of the two nodes that it joins, or by its number"):
        without_names.with_capacities({"a -> b": 1.0})
    with pytest.raises(TypeError, match="a flow is named by a tuple of its two ends, or by its number, not by a str"):
        problem.with_flow_caps({"b -> c": 1.0})


def test_weights_change_in_utilities_that_have_one():
    net = netnum.topology.from_edges(TRIANGLE)
    each = [netnum.AlphaFair(2.0, 3.0), netnum.Linear(2.0), netnum.MinFct(1.0)]
    problem = netnum.Problem(net, [["A", "B"], ["B", "C"], ["A", "C"]], each)
    changed = problem.with_weights({("A", "B"): 5.0, ("B", "C"): 7.0}).utility
    assert changed == (netnum.AlphaFair(2.0, 5.0), netnum.Linear(7.0), netnum.MinFct(1.0))
    with pytest.raises(netnum.UtilityError, match="flow 2 has a MinFct, which has no weight"):
        problem.with_weights({("A", "C"): 5.0})
    with pytest.raises(netnum.ProblemError, match=r"weight has shape \(2,\), expected \(3,\), one per flow"):
        problem.with_weights([1.0, 2.0])
    assert problem.with_weights({}) is problem


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({("A", "Z"): 1.0}, netnum.ProblemError, "capacities[('A', 'Z')]: node is \"Z\", expected"),
        ({("A", "B", "C"): 1.0}, netnum.ProblemError, "it has 3 nodes: a link is named by a tuple of the two nodes"),
        (
            {"AA - B": 1.0},
            netnum.ProblemError,
            "capacities['AA - B']: there is no link of that name, did you mean 'A - B'?",
        ),
        ({"x": 1.0}, netnum.ProblemError, "capacities['x']: there is no link of that name"),
        (
            {"A -> B": 1.0, ("A", "B"): 2.0},
            netnum.ProblemError,
            "capacities names link 0 twice, as 'A -> B' and ('A', 'B')",
        ),
        (
            {"B -> A": 1.0, "A - B": 2.0},
            netnum.ProblemError,
            "capacities names link 1 twice, as 'B -> A' and 'A - B'",
        ),
        ({9: 1.0}, netnum.ProblemError, "capacities[9]: link 9 does not exist, there are 6 links"),
        ({0: 1.0, ("A", "B"): 2.0}, netnum.ProblemError, "capacities names link 0 twice, as 0 and ('A', 'B')"),
        ({("A", "B"): "10"}, TypeError, "capacities[('A', 'B')] must be a number, not str"),
        ({True: 1.0}, TypeError, "not by a bool"),
        ({("A", "B"): -1.0}, netnum.ProblemError, "link 0"),
    ],
)
def test_a_bad_entry_of_a_dict_is_named(change, error, message):
    problem = solved().problem
    for changed in (problem, problem.network):
        with pytest.raises(error, match=re.escape(message)):
            changed.with_capacities(change)


def test_several_flows_of_a_pair_have_numbers():
    net = netnum.topology.from_edges(TRIANGLE)
    problem = netnum.Problem(net, [["A", "B"], ["A", "C"], ["A", "B"]], netnum.AlphaFair(1.0))
    with pytest.raises(netnum.ProblemError, match=r"2 flows run from A to B, 0 and 2: give the number of one"):
        problem.with_flow_caps({("A", "B"): 1.0})
    with pytest.raises(netnum.ProblemError, match=r"2 paths cross A, B, 0 and 2: give the number of one"):
        problem.with_rate_caps({("A", "B"): 1.0})
    with pytest.raises(netnum.ProblemError, match="there is no path through B, C"):
        problem.with_rate_caps({("B", "C"): 1.0})


def test_flowlets_start_between_pairs():
    net = netnum.topology.leaf_spine(2, 4, 2)
    allocator = netnum.Allocator(net, update_threshold=0.0)
    pairs = [("server 0", "server 5"), ("server 1", "server 6"), ("server 2", "server 3")]
    by_pairs = allocator.start(pairs, [1.0, 2.0, 3.0], seed=3)
    other = netnum.Allocator(net, update_threshold=0.0)
    by_paths = other.start(net.ecmp([0, 1, 2], [5, 6, 3], seed=3), [1.0, 2.0, 3.0])
    for one in (allocator, other):
        one.tick(20)
    np.testing.assert_array_equal(allocator.rates(by_pairs), other.rates(by_paths))
    assert len(allocator.start(("server 0", "server 5"))) == 1
    with pytest.raises(netnum.ProblemError, match=r'destinations\[0\] is "server 9"'):
        allocator.start([("server 0", "server 9")])
    assert len(allocator) == 4


def test_flowlets_between_pairs_of_integer_names():
    net = netnum.Topology(["20", "10", "0"], [[0, 1], [1, 2]], 1.0)
    allocator = netnum.Allocator(net, update_threshold=0.0)
    ids = allocator.start([(20, 0), (10, 0)])
    allocator.tick(200)
    assert allocator.rates(ids) == pytest.approx([0.5, 0.5], rel=1e-3)


def test_derivatives_take_changes_by_name():
    sensitivity = solved(flow_cap=[20.0, 3.0, np.inf]).sensitivity()
    links = np.zeros(6)
    links[sensitivity.problem.network.link("B", "C")] = 2.0
    by_name = sensitivity.jvp(capacities={("B", "C"): 2.0})
    np.testing.assert_array_equal(by_name["flow_rates"], sensitivity.jvp(capacities=links)["flow_rates"])
    by_name = sensitivity.jvp(weight={("A", "B"): 1.0}, flow_cap={("B", "A"): 0.5})
    arrays = sensitivity.jvp(weight=[0.0, 0.0, 1.0], flow_cap=[0.0, 0.5, 0.0])
    np.testing.assert_array_equal(by_name["flow_rates"], arrays["flow_rates"])


def test_a_series_is_read_by_its_index_or_refused():
    pandas = pytest.importorskip("pandas")
    net = netnum.topology.from_edges([("a", "b", 1.0), ("b", "c", 2.0)], directed=True)
    problem = netnum.Problem(net, net.ecmp([("a", "c"), ("a", "b"), ("b", "c")]))
    given = {("b", "c"): 5.0, ("a", "b"): 7.0}
    series = pandas.Series(given)
    assert net.with_capacities(series).capacities.tolist() == [7.0, 5.0]
    assert problem.with_capacities(series) == problem.with_capacities(given)
    assert problem.with_flow_caps(series) == problem.with_flow_caps(given)
    assert problem.with_weights(series) == problem.with_weights(given)
    assert net.with_capacities(pandas.Series([5.0, 7.0], index=["b -> c", "a -> b"])).capacities.tolist() == [7.0, 5.0]
    assert net.with_capacities(pandas.Series([7.0, 5.0])).capacities.tolist() == [7.0, 5.0]
    apart = pandas.Series([1.0, 2.0, 3.0], index=[2, 0, 1])
    assert netnum.Problem(net, problem.paths, flow_cap=apart) == problem.with_flow_caps([2.0, 3.0, 1.0])
    with pytest.raises(netnum.ProblemError, match="weight is a Series whose index is not 0, 1, 2"):
        netnum.AlphaFair(weight=apart)
    for caps in (given, series):
        assert netnum.Problem(net, problem.paths, flow_cap=caps) == problem.with_flow_caps(given)


def test_a_problem_is_made_with_caps_by_name():
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    demands = {("A", "C"): 7.0, ("B", "A"): 3.0}
    paths, _ = net.k_shortest_paths(demands, 2)
    plain = netnum.Problem(net, paths, flow_cap=np.inf)
    assert netnum.Problem(net, paths, flow_cap={("A", "C"): 5.0}).flow_cap.tolist() == [5.0, 3.0]
    assert netnum.Problem(net, paths, flow_cap={("B", "A"): None}).flow_cap.tolist() == [7.0, np.inf]
    listed = [path.tolist() for path in paths]
    for group in (paths.group, range(len(paths))):
        problem = netnum.Problem(net, listed, group=group, flow_cap={0: 5.0})
        assert problem.flow_cap.tolist() == [5.0] + [np.inf] * (problem.flows - 1)
    by_path = netnum.Problem(net, paths, flow_cap=np.inf, rate_cap={("A", "B", "C"): 1.0})
    assert by_path == plain.with_rate_caps({("A", "B", "C"): 1.0})
    assert netnum.Problem([1.0, 2.0], [[0], [1]], flow_cap={1: 0.5}).flow_cap.tolist() == [np.inf, 0.5]


@pytest.mark.parametrize(
    ("caps", "error", "message"),
    [
        ({"flow_cap": {("C", "A"): 1.0}}, netnum.ProblemError, "there is no flow from C to A, one runs from A to C"),
        (
            {"flow_cap": {("A", "Z"): 1.0}},
            netnum.ProblemError,
            "flow_cap[('A', 'Z')]: node is \"Z\", expected the name",
        ),
        ({"flow_cap": {7: 1.0}}, netnum.ProblemError, "flow_cap[7]: flow 7 does not exist, there are 2 flows"),
        ({"flow_cap": {"A": 1.0}}, TypeError, "a flow is named by a tuple of its two ends, or by its number"),
        ({"flow_cap": {0: -1.0}}, netnum.ProblemError, "flow 0 (A to C) has flow cap -1"),
        ({"flow_cap": {0: 1.0}, "group": [0]}, netnum.ProblemError, "group has 1 entries, expected 2"),
        ({"rate_cap": {("A", "B"): 1.0}}, netnum.ProblemError, "there is no path through A, B"),
    ],
)
def test_a_cap_by_name_that_is_wrong_is_named(caps, error, message):
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    with pytest.raises(error) as caught:
        netnum.Problem(net, [["A", "C"], ["B", "A"]], **caps)
    assert message in str(caught.value)


def test_a_pair_is_one_argument_or_two():
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    solution = netnum.solve(netnum.Problem(net, [["A", "C"], ["B", "A"]]))
    for by_name in (solution.rate, solution.price, solution.load, net.link):
        assert by_name(("A", "C")) == by_name("A", "C")
    with pytest.raises(TypeError) as caught:
        solution.rate("A -> C")
    label = "Solution.rate"
    expected = f"{label} needs `destination`, str or int: the call is {label}(source, destination)"
    assert str(caught.value) == expected


def test_issue_35_links_and_fibers_are_taken_by_their_names():
    """A name of a link is one argument, and where several links are taken that of a fiber is both of its links."""
    net = netnum.topology.from_edges(TRIANGLE)
    solution = netnum.solve(netnum.Problem(net, [["A", "C"], ["B", "A"]]))
    for by_name in (solution.price, solution.load, net.link):
        assert by_name("A -> C") == by_name("A", "C")
    links = [net.link("A", "B"), net.link("B", "A")]
    for name in ("A - B", "B - A"):
        assert np.flatnonzero(net.with_capacities({name: 7.0}).capacities == 7.0).tolist() == links
        allocator = netnum.Allocator(net)
        allocator.set_capacity(name, 0.0)
        assert np.flatnonzero(allocator.capacities == 0.0).tolist() == links
    over = netnum.Problem(net, [("A", "B")], link_cost={"A - B": 2.0}, avoid_links="B - C")
    assert repr(over).startswith("Problem(1 flow over all paths that avoid 2 links, ")
    assert netnum.Problem(net, [["A", "B"]], link_cost={"A - B": 2.0}).path_cost.tolist() == [2.0]
    allocator.set_capacity(["A -> C", "B -> C"], [3.0, 4.0])
    assert allocator.capacities[[net.link("A", "C"), net.link("B", "C")]].tolist() == [3.0, 4.0]
    shared = netnum.topology.from_edges("A B 10", shared=True)
    assert shared.link("A - B") == 0 and shared.with_capacities({"A - B": 3.0}).capacities.tolist() == [3.0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net, _: net.link("A - B"), 'link names 2 links, expected one of "A -> B", "B -> A"'),
        (
            lambda net, _: net.link("A"),
            "link names link 'A', expected the name of one of the 6 links: 'A' is a node, whose links are named as "
            "('A', another)",
        ),
        (
            lambda _, solution: solution.load("A - C"),
            "2 links have the name A - C: `loads[4]` (A -> C) is 4 and `loads[5]` (C -> A) is 0",
        ),
        (
            lambda _, solution: solution.price("A -> Z"),
            "price names link 'A -> Z', expected the name of one of the 6 links, did you mean 'A -> C'?",
        ),
        (
            lambda net, _: netnum.Problem(net, [("A", "B")], avoid_links=["A - B", "A - D"]),
            "avoid_links[1] names link 'A - D', expected the name of one of the 6 links, did you mean 'A - C'?",
        ),
        (
            lambda net, _: netnum.Allocator(net).set_capacity("A -> D", 0.0),
            "link names link 'A -> D', expected the name of one of the 6 links, did you mean 'A -> C'?",
        ),
    ],
)
def test_issue_35_a_name_of_no_link_or_of_several_is_told(ask, message):
    net = netnum.topology.from_edges(TRIANGLE)
    solution = netnum.solve(netnum.Problem(net, [["A", "C"], ["B", "A"]]), tol=1e-12)
    with pytest.raises(netnum.ProblemError) as caught:
        ask(net, solution)
    assert str(caught.value) == message


@pytest.fixture
def acknowledged():
    """Flows from A to C and from C to B, which use a link by a half, with acknowledgements on the way back."""
    net = netnum.topology.from_edges("A B 10\nB C 6")
    there, back = net.route(["A", "B", "C"]), net.route(["C", "B", "A"])
    paths = netnum.Paths(
        [0, 4, 6],
        [*there, *back, net.link("C", "B"), net.link("B", "C")],
        coefficients=[0.5, 1.0, 0.05, 0.1, 0.5, 0.5],
    )
    return net, paths


def test_issue_35_pairs_are_the_ends_that_coefficients_do_not_tell(acknowledged):
    net, paths = acknowledged
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.solve(netnum.Problem(net, paths)).rate("A", "C")
    assert str(caught.value) == (
        "there is no flow from A to C: the paths of flow 0 do not tell its ends, which Problem(net, paths, "
        "pairs=pairs) states"
    )
    for pairs in ([("A", "C"), ("C", "B")], (np.array([0, 2]), np.array([2, 1])), {("A", "C"): 2.0, ("C", "B"): 3.0}):
        problem = netnum.Problem(net, paths, pairs=pairs)
        assert [ends.tolist() for ends in problem.pairs] == [[0, 2], [2, 1]]
        caps = problem.flow_cap
        assert caps.tolist() == [2.0, 3.0] if isinstance(pairs, dict) else caps is None, "volumes of demands are caps"
        capped = netnum.Problem(net, paths, pairs=pairs, flow_cap={("A", "C"): 1.0})
        assert netnum.solve(capped).rate("A", "C") == pytest.approx(1.0, abs=1e-6)
        assert problem.with_flow_floors({("C", "B"): 0.5}).flow_floor.tolist() == [0.0, 0.5]
        changed = problem.with_utility(2.0).with_capacities({"A - B": 20.0}).with_weights({("C", "B"): 2.0})
        for one in (changed, pickle.loads(pickle.dumps(changed)), netnum.Problem.from_json(changed.to_json())):
            assert one == changed
            solution = netnum.solve(one)
            assert solution.rate("C", "B") == solution.flow_rates[1]
    assert problem != netnum.Problem(net, paths, flow_cap=problem.flow_cap)
    table = pytest.importorskip("pandas") and netnum.to_pandas(problem, solution)
    assert table[["source", "destination"]].to_numpy().tolist() == [["A", "C"], ["C", "B"]]


def test_issue_35_rerouted_flows_keep_their_pairs(acknowledged):
    net, paths = acknowledged
    problem = netnum.Problem(net, paths, pairs=[("A", "C"), ("C", "B")])
    study = netnum.failure_study(problem, ["A - B"], reroute=lambda net, pairs: net.ecmp(pairs))
    assert study.cut_off[0].tolist() == [0]
    assert study.solutions[0].rate("C", "B") == study.solutions[0].flow_rates[1]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("A", "C")], "pairs has 1 entries, expected 2, one per flow"),
        (
            [("A", "C"), ("A", "B")],
            "pairs[1] is from A to B, and path 1, of flow 1, has no link from A",
        ),
        ([("A", "C"), ("A", "D")], 'an end of pairs[1] is "D", expected the name of one of the 3 ends'),
        ([(0, 2), (2, 9)], "pairs[1]: end 9 does not exist, expected an end from 0 to 2"),
        ([(0, 2), (2, 2)], "pairs[1]: source and destination are the same"),
    ],
)
def test_issue_35_pairs_that_are_not_those_of_the_paths_are_named(acknowledged, pairs, message):
    net, paths = acknowledged
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.Problem(net, paths, pairs=pairs)
    assert str(caught.value).startswith(message)


def test_issue_35_pairs_run_as_the_links_do():
    net = netnum.topology.from_edges(TRIANGLE)
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.Problem(net, [["A", "C"], ["B", "A"]], pairs=[("A", "C"), ("A", "B")])
    assert str(caught.value) == "pairs[1] is from A to B, and path 1, of flow 1, has no link from A"
    shared = netnum.topology.from_edges("A B 10\nB C 6", shared=True)
    for pair in (("A", "C"), ("C", "A")):
        assert netnum.solve(netnum.Problem(shared, [["A", "B", "C"]], pairs=[pair])).rate(*pair) == pytest.approx(6.0)


def test_issue_35_volumes_of_pairs_stand_before_those_of_paths():
    net = netnum.topology.from_edges(TRIANGLE)
    problem = netnum.Problem(net, net.ecmp({("A", "C"): 2.0}), pairs={("A", "C"): 7.0})
    assert problem.flow_cap.tolist() == [7.0]


def test_issue_35_pairs_need_a_network_and_paths(acknowledged):
    with pytest.raises(netnum.ProblemError, match="pairs are of nodes, and the problem has capacities only"):
        netnum.Problem([1.0], [[0]], pairs=[("A", "C")])
    with pytest.raises(TypeError, match=r"netnum\.Problem\(net, pairs\) is over all paths of the network"):
        netnum.Problem(acknowledged[0], pairs=[("A", "C")])
    with pytest.raises(netnum.ProblemError, match="pairs is about paths, and pairs have none: they are its second"):
        netnum.Problem(acknowledged[0], [("A", "C")], pairs=[("A", "C")])


@pytest.mark.parametrize("paths", [[["A", "C"], ["B", "A"]], [("A", "C"), ("B", "A")]])
def test_issue_35_a_floor_or_a_cap_that_is_wrong_has_the_ends_of_its_flow(paths):
    net = netnum.topology.from_edges(TRIANGLE)
    problem = netnum.Problem(net, paths, flow_cap=2.0)
    above = "flow 1 (B to A) has flow floor 3, expected a finite number >= 0, at most its cap of 2"
    for make, message in [
        (lambda: netnum.Problem(net, paths, flow_cap=2.0, flow_floor={("B", "A"): 3.0}), above),
        (lambda: problem.with_flow_floors([0.0, 3.0]), above),
        (lambda: netnum.Solver(problem).update(flow_floors=[0.0, 3.0]), above),
        *[
            (make, "flow 0 (A to C) has flow cap -1, expected a number >= 0 (inf for none)")
            for make in (
                lambda: problem.with_flow_caps([-1.0, 1.0]),
                lambda: netnum.Problem(net, paths, flow_cap=[-1.0, 1.0]),
            )
        ],
        (
            lambda: problem.with_flow_caps(None).with_utility(netnum.Linear(0.0)),
            "flow 0 (A to C) has weight 0, expected a number > 0, or a floor (flow_floor) or a demand (flow_cap) of it",
        ),
        (
            lambda: netnum.solve_many(netnum.Problem(net, [["A", "C"], ["B", "A"]]), flow_floors=[[0.0, -1.0]]),
            "scenario 0: flow 1 (B to A) has flow floor -1, expected a finite number >= 0",
        ),
    ]:
        with pytest.raises(netnum.ProblemError) as caught:
            make()
        assert str(caught.value) == message


def test_the_ends_of_flows_are_found_once(monkeypatch):
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    solution = netnum.solve(netnum.Problem(net, [["A", "C"], ["B", "A"]]))
    assert solution.rate("A", "C") == solution.flow_rates[0]

    def again(*_):
        raise AssertionError("the ends are computed again")

    monkeypatch.setattr(_by_name, "directed_ends", again)
    assert solution.rate("B", "A") == solution.flow_rates[1]
    changed = solution.problem.with_capacities(2.0)
    with pytest.raises(AssertionError):
        netnum.solve(changed).rate("B", "A")


def test_nan_is_no_number_by_name():
    net = netnum.topology.from_edges([("a", "b", 1.0)], directed=True)
    problem = netnum.Problem(net, net.ecmp([("a", "b")]))
    for change in (problem.with_weights, problem.with_flow_caps, problem.with_capacities):
        with pytest.raises(netnum.ProblemError, match=r"\[\('a', 'b'\)\] is nan, expected a number"):
            change({("a", "b"): np.nan})
