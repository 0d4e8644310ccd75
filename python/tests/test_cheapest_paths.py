"""Paths that Python code finds: what it is asked, what the proof is over, and what it may not return."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import netnum

NET = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")
PAIRS = [("Seattle", "Houston"), ("Denver", "Houston")]
NSFNET = netnum.topology.backbone("nsfnet")


class Listed:
    """The cheapest of some paths per pair."""

    def __init__(self, *paths):
        self.paths, self.prices = paths, []

    def __call__(self, prices):
        self.prices.append(prices.copy())
        return [np.array(min(own, key=lambda path: prices[path].sum())) for own in self.paths]


def links(*names):
    return [NET.link_names.index(name) for name in names]


def over(middle):
    """The cheapest of all paths of few links that pass through a node."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph(NSFNET.links.tolist())
    number = {(tail, head): link for link, (tail, head) in enumerate(NSFNET.links.tolist())}
    listed = []
    for pair in ENDS:
        walks = [walk for walk in networkx.all_simple_paths(graph, *pair, cutoff=7) if middle in walk]
        listed.append([np.array([number[step] for step in pairwise(walk)]) for walk in walks])

    def tunnels(prices):
        return [min(paths, key=lambda path: prices[path].sum()) for paths in listed]

    return tunnels


ENDS = [(0, 12), (1, 11), (3, 13)]

DIRECT = links("Seattle -> Houston")
AROUND = links("Seattle -> Denver", "Denver -> Houston")
LAST = links("Denver -> Houston")


def test_the_optimum_is_over_the_paths_that_it_knows():
    both = netnum.solve(netnum.Problem(NET, PAIRS, cheapest_paths=Listed([DIRECT, AROUND], [LAST])), tol=1e-9)
    np.testing.assert_allclose(both.flow_rates, netnum.solve(netnum.Problem(NET, PAIRS), tol=1e-9).flow_rates, 1e-4)
    around = netnum.solve(netnum.Problem(NET, PAIRS, cheapest_paths=Listed([AROUND], [LAST])))
    assert around.is_optimal
    assert around.flow_rates == pytest.approx([5.0, 5.0], rel=1e-3)
    assert repr(around).startswith("Solution(optimal over the paths of Listed, 2 flows, 6 links, 2 paths, ")


def test_it_is_called_with_prices_of_one_first_and_then_once_a_round():
    listed = Listed([DIRECT, AROUND], [LAST])
    problem = netnum.Problem(NET, PAIRS, cheapest_paths=listed)
    assert len(listed.prices) == 1 and (listed.prices[0] == 1.0).all()
    netnum.solve(problem)
    assert all(prices.shape == (6,) and (prices >= 0).all() for prices in listed.prices)


@pytest.mark.parametrize("utility", ["proportional", "throughput", "max-min"])
def test_every_objective_takes_it(utility):
    def found(**kind):
        problem = netnum.Problem(NET, PAIRS, utility, flow_cap=[9.0, 7.0], **kind)
        return netnum.solve(problem, tol=1e-8).flow_rates, netnum.concurrent_flow(problem).fraction

    rates, fraction = found(cheapest_paths=Listed([DIRECT, AROUND], [LAST]))
    of_all, most = found()
    assert rates.sum() == pytest.approx(of_all.sum(), rel=1e-5)
    assert fraction == pytest.approx(most, rel=1e-7)


def test_paths_over_a_waypoint_are_those_of_a_function():
    through = over(5)
    problem = netnum.Problem(NSFNET, ENDS, cheapest_paths=through)
    assert repr(problem).startswith("Problem(3 flows over the paths of tunnels, ")
    assert "those of tunnels" in problem._repr_html_()
    assert problem.cheapest_paths is through
    solution = netnum.solve(problem)
    assert solution.is_optimal
    tail, head = NSFNET.links.T
    for path in solution.paths:
        assert 5 in {*tail[path].tolist(), *head[path].tolist()}
    assert solution.objective <= netnum.solve(netnum.Problem(NSFNET, ENDS)).objective * (1 + 1e-6)


def test_failed_links_cost_infinitely_much_and_their_flows_are_cut_off():
    listed = Listed([DIRECT, AROUND], [LAST])
    failed = NET.without([("Denver", "Houston")]).capacities
    left = netnum.Problem(NET, PAIRS, cheapest_paths=listed).with_capacities(failed)
    assert np.isinf(listed.prices[-1][LAST]).all()
    solution = netnum.solve(left)
    assert solution.failed_flows.tolist() == [1]
    assert solution.flow_rates == pytest.approx([6.0, 0.0], rel=1e-4)


def test_other_demands_go_on_from_prices():
    problem = netnum.Problem(NET, PAIRS, cheapest_paths=Listed([DIRECT, AROUND], [LAST]))
    solution = netnum.solve(problem)
    capped = problem.with_flow_caps([4.0, 20.0])
    warm = netnum.solve(capped, warm_start=solution)
    assert warm.flow_rates == pytest.approx([4.0, 10.0], rel=1e-3)
    solver = netnum.Solver(problem)
    assert solver.solve().is_optimal and solver.solve().is_optimal


def test_pickles_have_it_and_json_has_not():
    problem = netnum.Problem(NET, PAIRS, cheapest_paths=Listed([DIRECT], [LAST]))
    again = pickle.loads(pickle.dumps(problem))
    assert isinstance(again.cheapest_paths, Listed)
    assert netnum.solve(again).flow_rates == pytest.approx([6.0, 10.0], rel=1e-4)
    assert problem != netnum.Problem(NET, PAIRS)
    with pytest.raises(netnum.ProblemError, match="cheapest_paths is Python code, which JSON has not"):
        problem.to_json()


# --- what it may not return ---


def wrong(answers, kind=netnum.NumError):
    """The message of a problem whose paths are the first answer, then the second."""
    given = iter(answers)

    def oracle(prices):
        answer = next(given)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(kind) as caught:
        netnum.solve(netnum.Problem(NET, PAIRS, cheapest_paths=oracle))
    return str(caught.value)


def arrays(*paths):
    return [np.array(path) for path in paths]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "cheapest_paths, oracle, returned None, expected a path per pair"),
        (arrays(DIRECT), "cheapest_paths, oracle, returned 1 paths, expected 2, one per pair"),
        (3, "cheapest_paths, oracle, returned paths that are none: "),
        (
            arrays(DIRECT, AROUND),
            "the cheapest path of flow 1 is wrong: it leads from Seattle to Houston, expected from Denver to Houston",
        ),
        (arrays(DIRECT, DIRECT[::-1] + LAST), "the cheapest path of flow 1 is wrong: "),
    ],
)
def test_paths_that_do_not_join_their_pairs_are_named(answer, message):
    assert wrong([answer]).startswith(message)
    assert wrong([arrays(DIRECT, LAST), answer]).startswith(message)


def test_no_path_and_a_path_without_links_are_named():
    assert wrong([[np.array(DIRECT), []]]) == "the cheapest path of flow 1 is wrong: its path has no links"
    assert wrong([[np.array(DIRECT), None]]).startswith("cheapest_paths, oracle, returned paths that are none: ")


def test_coefficients_and_a_group_are_not_dropped():
    own = [DIRECT, LAST]
    indptr, indices = np.cumsum([0, *map(len, own)]), np.concatenate(own)
    half = netnum.Paths(indptr, indices, coefficients=np.full(len(indices), 0.5))
    grouped = netnum.Paths(indptr, indices, group=[0, 0])
    wants_number = "a group, expected path n to be that of pair n"
    for answer, what in ((half, "coefficients, expected plain links"), (grouped, wants_number)):
        message = f"cheapest_paths, oracle, returned paths with {what}"
        assert wrong([answer]).startswith(message)
        assert wrong([arrays(DIRECT, LAST), answer]).startswith(message)


def test_what_it_raises_is_raised():
    assert wrong([ValueError("no tunnel is up")], ValueError) == "no tunnel is up"
    assert wrong([arrays(DIRECT, LAST), ValueError("no tunnel is up")], ValueError) == "no tunnel is up"


def test_a_path_dearer_than_the_one_before_is_an_error():
    # The direct way is full at prices above 0, and the other is then no dearer; the reverse is a lie.
    def oracle(prices, calls=[]):  # noqa: B006
        calls.append(prices)
        if len(calls) == 1:
            return arrays(DIRECT, LAST)
        dearer = prices[DIRECT].sum() < prices[AROUND].sum()
        return arrays(AROUND if dearer else DIRECT, LAST)

    with pytest.raises(netnum.NumError, match=r"the cheapest path of flow 0 is wrong: its path costs .*, more than"):
        netnum.solve(netnum.Problem(NET, PAIRS, cheapest_paths=oracle))


@pytest.mark.parametrize("utility", ["proportional", "throughput", "max-min", netnum.AlphaFair(4.0)])
def test_it_may_add_a_little_to_prices(utility):
    # At equal prices, here 0, the one with fewer links is returned, and the other one next.
    class Short(Listed):
        def __call__(self, prices):
            return super().__call__(prices + 1e-9)

    oracle = Short([DIRECT, AROUND], [LAST])
    solution = netnum.solve(netnum.Problem(NET, PAIRS, utility, cheapest_paths=oracle))
    assert solution.is_optimal
    expected = netnum.solve(netnum.Problem(NET, PAIRS, utility)).flow_rates
    if utility == "throughput":
        assert solution.flow_rates.sum() == pytest.approx(expected.sum(), rel=1e-5)
    else:
        np.testing.assert_allclose(solution.flow_rates, expected, 2e-3)


def test_where_it_hides_a_cheaper_path_the_gap_is_over_what_it_names_only():
    hides = netnum.solve(netnum.Problem(NET, PAIRS, "throughput", cheapest_paths=Listed([AROUND], [LAST])))
    assert hides.is_optimal and hides.flow_rates.sum() == pytest.approx(10.0, rel=1e-6)
    assert netnum.solve(netnum.Problem(NET, PAIRS, "throughput")).flow_rates.sum() == pytest.approx(16.0, rel=1e-6)


def test_bad_arguments_are_named():
    with pytest.raises(TypeError, match="cheapest_paths"):
        netnum.Problem(NET, PAIRS, cheapest_paths=3)
    with pytest.raises(TypeError, match="cheapest_paths is the class Listed, expected an instance: Listed"):
        netnum.Problem(NET, PAIRS, cheapest_paths=Listed)
    listed = Listed([DIRECT], [LAST])
    with pytest.raises(netnum.ProblemError, match="max_hops is a limit of the paths that solve finds, and cheapest_p"):
        netnum.Problem(NET, PAIRS, cheapest_paths=listed, max_hops=2)
    with pytest.raises(netnum.ProblemError, match="cheapest_paths finds the paths of pairs, and paths are given here"):
        netnum.Problem([1.0], [[0]], cheapest_paths=listed)
