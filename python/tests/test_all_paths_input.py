"""What a problem of pairs does not take, and what the message says instead."""

import numpy as np
import pytest

import netnum

TRIANGLE = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")
PAIRS = [("Seattle", "Houston"), ("Denver", "Houston")]


def test_pairs_that_the_network_does_not_join_are_listed():
    net = netnum.topology.from_edges("a b 1\nc d 1")
    with pytest.raises(netnum.ProblemError, match=r"2 pairs have no path, a to c, d to b: there is no route"):
        netnum.Problem(net, [("a", "c"), ("a", "b"), ("d", "b")])
    with pytest.raises(netnum.ProblemError, match=r"1 pair has no path, Seattle to Houston: no path of at most 1 link"):
        netnum.Problem(TRIANGLE, [("Seattle", "Houston")], max_hops=1, avoid_links=[("Seattle", "Houston")])


def test_pairs_that_only_failed_links_join_are_failed_flows():
    net = netnum.topology.from_edges("a b 1\nb c 1").without([("b", "c")])
    solution = netnum.solve(netnum.Problem(net, [("a", "b"), ("a", "c")]))
    assert solution.failed_flows.tolist() == [1]
    assert solution.flow_rates == pytest.approx([1.0, 0.0], abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paths": [("Seattle", "Seattle")]}, "source and destination are the same"),
        ({"paths": [("Seattle", "Huston")]}, "did you mean 'Houston'|Houston"),
        ({"rate_cap": 1.0}, "rate_cap is about paths, and pairs have none: flow_cap= is per flow"),
        ({"group": [0]}, "group is about paths, and pairs have none: every pair is a flow"),
        ({"path_cost": 1.0}, "path_cost is about paths, and pairs have none: link_cost= is per link"),
        ({"utility": netnum.AlphaFair(1.0, [1.0, 2.0])}, "every pair is one"),
        ({"flow_cap": [1.0, 2.0]}, "flow_cap"),
        ({"utility": "max-min", "link_cost": 1.0}, "all paths of a network takes no costs beside max-min utilities: l"),
        ({"paths": {("Seattle", "Houston")}}, "pairs are in a set, and flows have an order: give a list of them"),
        ({"paths": {("Seattle", "Houston"): 1.0}.keys()}, "pairs are in a dict_keys, and flows have an order: "),
        (
            {"paths": np.array([[0, 1], [0, 2]])},
            "which may be pairs of ends or paths of two links: pairs are the tuple",
        ),
        ({"paths": np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0]])}, "which may be demands between the ends or paths of 3"),
    ],
)
def test_bad_input_is_named(arguments, message):
    given = {"paths": [("Seattle", "Houston")]} | arguments
    with pytest.raises(netnum.NumError, match=message):
        netnum.Problem(TRIANGLE, **given)


def test_limits_of_paths_go_with_pairs_only():
    with pytest.raises(netnum.ProblemError, match="max_hops is a limit of paths that solve finds for pairs"):
        netnum.Problem(TRIANGLE, [["Seattle", "Houston"]], max_hops=2)
    with pytest.raises(netnum.NumError, match="max_hops"):
        netnum.Problem(TRIANGLE, [("Seattle", "Houston")], max_hops=0)
    with pytest.raises(netnum.MethodError, match='use "auto"'):
        netnum.solve(netnum.Problem(TRIANGLE, [("Seattle", "Houston")]), "fast-ned")


def test_what_is_avoided_is_said():
    net = netnum.topology.from_edges("a b 1\nb c 1\na d 1\nd c 1")
    problem = netnum.Problem(net, [("a", "c")], netnum.AlphaFair(1.0), avoid_nodes=["d"])
    assert "all paths that avoid 1 node" in repr(netnum.solve(problem))
    with pytest.raises(netnum.ProblemError, match="a to c: there is no route that avoids 2 nodes"):
        netnum.Problem(net, [("a", "c")], netnum.AlphaFair(1.0), avoid_nodes=["b", "d"])


# --- forms of pairs ---


def test_pairs_in_any_sequence_are_pairs():
    expected = netnum.Problem(TRIANGLE, PAIRS)
    for pairs in (tuple(PAIRS), iter(PAIRS), zip(*map(list, zip(*PAIRS, strict=True)), strict=True)):
        assert netnum.Problem(TRIANGLE, pairs) == expected


def test_an_iterator_of_paths_is_paths():
    paths = [["Seattle", "Denver"], ["Denver", "Houston"]]
    assert netnum.Problem(TRIANGLE, iter(paths)) == netnum.Problem(TRIANGLE, paths)


def test_the_forms_that_the_message_about_an_array_names_are_taken():
    array = np.array([[0, 1], [2, 1]])
    with pytest.raises(netnum.ProblemError, match=r"array of integers of shape \(2, 2\), which may be pairs of ends"):
        netnum.Problem(TRIANGLE, array)
    assert netnum.Problem(TRIANGLE, (array[:, 0], array[:, 1])).pairs[1].tolist() == [1, 1]
    links = np.array([[TRIANGLE.link("Seattle", "Denver"), TRIANGLE.link("Denver", "Houston")]])
    assert netnum.Problem(TRIANGLE, list(links)).paths.indices.tolist() == links[0].tolist()
    volumes = np.array([[0, 3, 2], [1, 0, 2], [2, 1, 0]])
    assert netnum.Problem(TRIANGLE, volumes.astype(float)).flow_cap.tolist() == [3, 2, 1, 2, 2, 1]
    # Without a network there are no ends, and an array of integers has the links of paths.
    assert len(netnum.Problem([1.0, 1.0, 1.0], np.array([[0, 1], [1, 2]])).paths) == 2


# --- what is about single paths, or about all of one machine ---


def test_priorities_and_costs_beside_max_min_are_refused_wherever_they_are_given():
    message = (
        "a problem over all paths takes no priorities: Problem(net, net.k_shortest_paths(demands, k), priority=...) "
        "has paths, and takes them"
    )
    problem = netnum.Problem(TRIANGLE, PAIRS)
    for call in (
        lambda: netnum.Problem(TRIANGLE, PAIRS, priority=[0, 1]),
        lambda: problem.with_priorities([0, 1]),
        lambda: problem.with_priorities({PAIRS[0]: 1}),
    ):
        with pytest.raises(netnum.ProblemError) as caught:
            call()
        assert str(caught.value) == message
    over_paths = netnum.Problem(TRIANGLE, TRIANGLE.k_shortest_paths(PAIRS, 2), priority=[1, 0])
    assert netnum.solve(over_paths).flow_rates == pytest.approx([0.0, 16.0], rel=1e-3, abs=1e-3)
    # Flows that a dict does not name keep theirs, 0.
    assert over_paths.with_priorities(None).with_priorities({PAIRS[0]: 1}) == over_paths
    assert problem.with_priorities([1, 1]) == problem.with_priorities(None) == problem
    costs = "takes no costs beside max-min utilities: leave them out"
    with pytest.raises(netnum.ProblemError, match=costs):
        netnum.Problem(TRIANGLE, PAIRS, "max-min").with_link_costs(0.1)
    with pytest.raises(netnum.ProblemError, match=costs):
        problem.with_link_costs(0.1).with_utility("max-min")


DEMANDS = {("Seattle", "Houston"): 9.0, ("Denver", "Houston"): 9.0}


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda p, s: netnum.max_min(p), 'solve(Problem(net, demands, "max-min")) has their max-min rates'),
        (lambda p, s: netnum.max_min(TRIANGLE, DEMANDS), 'solve(Problem(net, demands, "max-min")) has their'),
        (lambda p, s: netnum.solve_many(p, capacities=[[1.0] * 6]), "solve_many([problem.with_capacities(c), ...])"),
        (lambda p, s: netnum.solve_many(p, flow_caps=[[1.0] * 2]), "solve_many([problem.with_flow_caps(volumes), ...]"),
        (
            lambda p, s: netnum.solve_many(p, flow_floors=[[1.0] * 2], path_costs=[[0.0]]),
            "solve_many([problem.with_flow_floors(floors).with_link_costs(costs), ...]) takes several of pairs",
        ),
        (lambda p, s: p.with_rate_caps(1.0), "Problem(net, net.k_shortest_paths(demands, k), rate_cap=...) has paths,"),
        (lambda p, s: p.with_path_costs(1.0), "links have costs, problem.with_link_costs(link_cost)"),
        (lambda p, s: p.with_paths_closed([0]), "Problem(net, demands, avoid_links=...) is over those that avoid some"),
        (
            lambda p, s: netnum.Solver(p).step(),
            "a Solver goes over all of them by `solve` and `update`, and Solver(Problem(net, net.k_shortest_paths(",
        ),
        *(
            (call, "the rates of a solution are those of solution.problem, which has the paths that solve found")
            for call in (
                lambda p, s: netnum.certify(p, s.rates, s.prices),
                lambda p, s: p.loads(s.rates),
                lambda p, s: p.flow_rates(s.rates),
                lambda p, s: netnum.f_norm(p, s.rates),
                lambda p, s: netnum.to_pandas(p, s),
            )
        ),
    ],
)
def test_what_needs_paths_names_what_has_the_same_answer_over_all_of_them(call, instead):
    problem = netnum.Problem(TRIANGLE, DEMANDS)
    with pytest.raises(netnum.ProblemError) as caught:
        call(problem, netnum.solve(problem))
    assert str(caught.value).startswith(f"this problem has pairs and no paths: {instead}")


def test_the_calls_that_stand_in_for_those_over_paths_work():
    net, demands, k = TRIANGLE, DEMANDS, 2
    problem = netnum.Problem(net, demands)
    fair = netnum.solve(netnum.Problem(net, demands, "max-min"))
    assert fair.flow_rates == pytest.approx([8.0, 8.0], rel=1e-6)
    over_paths = netnum.Problem(net, net.k_shortest_paths(demands, k))
    assert netnum.max_min(over_paths).flow_rates == pytest.approx(fair.flow_rates, rel=1e-6)
    capacities = [2.0 * net.capacities, 0.5 * net.capacities]
    several = netnum.solve_many([problem.with_capacities(c) for c in capacities])
    assert [each.flow_rates.sum() for each in several] == pytest.approx([18.0, 8.0], rel=1e-3)
    changed = problem.with_flow_caps([1.0, 2.0]).with_flow_floors([0.5, 0.0]).with_link_costs(0.01)
    assert netnum.solve_many([changed])[0].flow_rates == pytest.approx([1.0, 2.0], rel=1e-3)
    assert netnum.Problem(net, net.k_shortest_paths(demands, k), rate_cap=1.0).rate_cap is not None
    netnum.Solver(netnum.Problem(net, net.k_shortest_paths(demands, k))).step()
    avoiding = netnum.solve(netnum.Problem(net, demands, avoid_links=[("Seattle", "Houston")]))
    assert avoiding.flow_rates.sum() == pytest.approx(10.0, rel=1e-3)


def test_methods_are_named_in_plain_words():
    problem = netnum.Problem(TRIANGLE, PAIRS)
    with pytest.raises(netnum.MethodError, match='method "newton" cannot take all paths of a network; use "auto"'):
        netnum.solve(problem, "newton")
    with pytest.raises(netnum.MethodError, match='did you mean "fast-ned"'):
        netnum.solve(problem, "fastned")
    with pytest.raises(netnum.MethodError, match="tie_cost is of paths that are given"):
        netnum.solve(problem, tie_cost=1.0)


def test_demands_by_keyword_are_told_where_they_go():
    with pytest.raises(TypeError, match=r"has no 'demands': demands come second, netnum.Problem\(net, demands\)"):
        netnum.Problem(TRIANGLE, demands={("Seattle", "Houston"): 1.0})
