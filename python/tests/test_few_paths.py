"""The same rates over few paths, and the best over a few per flow, with their distance to the optimum over all."""

import numpy as np
import pytest
from edge_form import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum

TRIANGLE = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")
NET = netnum.topology.backbone("nsfnet")
DEMANDS = netnum.demands.gravity(NET, total=50.0, spread=1.0, seed=1)
#: A link whose load is less than its capacity by no more than this part is full.
FULL = 1e-9


def problem(seed, utility, cost, capped):
    net, sources, destinations, weights, caps = drawn(seed, nodes=10, pairs=25, links=17)
    if not isinstance(utility, str):
        utility = netnum.AlphaFair(utility, weights)
    others = {"flow_cap": caps} if capped else {}
    return netnum.Problem(net, (np.array(sources), np.array(destinations)), utility, link_cost=cost, **others)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    utility=st.sampled_from([0.5, 1.0, 4.0, "throughput", np.inf]),
    cost=st.sampled_from([None, 0.01]),
    capped=st.booleans(),
)
def test_the_same_rates_are_carried_over_at_most_one_path_per_flow_and_full_link(seed, utility, cost, capped):
    given = problem(seed, utility, None if utility == np.inf else cost, capped)
    capacities = given.network.capacities
    many, few = netnum.solve(given), netnum.solve(given, few_paths=True)
    assert many.is_optimal and few.is_optimal
    np.testing.assert_allclose(few.flow_rates, many.flow_rates, rtol=5e-3, atol=1e-6)
    np.testing.assert_allclose(few.problem.flow_rates(few.rates), few.flow_rates, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(few.loads, few.problem.loads(few.rates))
    assert (few.loads <= capacities * (1 + 1e-9)).all()
    full = int((few.loads >= capacities * (1 - FULL)).sum())
    assert len(few.paths) <= given.flows + full
    assert len(few.paths) <= len(many.paths)
    assert few.gap <= 1e-6


def test_a_flow_that_needs_two_paths_keeps_them():
    solution = netnum.solve(netnum.Problem(TRIANGLE, ("Seattle", "Houston")), few_paths=True)
    assert sorted(solution.rates.round(4).tolist()) == [6.0, 10.0]


def test_where_nothing_is_full_every_flow_has_one_short_path():
    light = netnum.Problem(NET, netnum.Demands(DEMANDS.sources, DEMANDS.destinations, DEMANDS.volumes / 100))
    solution = netnum.solve(light, few_paths=True)
    assert len(solution.paths) == light.flows
    assert solution.is_optimal


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_few_paths_per_flow_have_a_proven_distance_to_the_optimum(most):
    given = netnum.Problem(NET, DEMANDS)
    best, few = netnum.solve(given, tol=1e-9), netnum.solve(given, max_paths=most)
    assert np.bincount(few.paths.group).max() <= most
    assert (few.loads <= NET.capacities * (1 + 1e-9)).all()
    missing = best.objective - few.objective
    assert -1e-6 <= missing <= few.gap * given.flows * (1 + 1e-6) + 1e-6
    assert few.is_optimal == (few.gap <= 1e-6)
    assert few.status in ("optimal", "fewer_paths")
    # It is the best over its paths.
    np.testing.assert_allclose(few.flow_rates, netnum.solve(few.problem).flow_rates, rtol=5e-3)


def test_of_max_min_over_fewer_paths_nothing_is_proven():
    given = netnum.Problem(NET, DEMANDS, "max-min")
    few = netnum.solve(given, max_paths=1)
    assert (few.status, few.gap) == ("fewer_paths", 1.0)
    assert few.objective <= netnum.solve(given).objective * (1 + 1e-9)
    assert netnum.solve(given, few_paths=True).is_optimal


def test_a_stopped_or_infeasible_solve_is_returned_as_it_is():
    given = netnum.Problem(NET, DEMANDS)
    stopped = netnum.solve(given, max_iterations=3, few_paths=True)
    assert stopped.status == "max_iterations"
    assert (stopped.loads <= NET.capacities * (1 + 1e-9)).all()
    crowded = netnum.solve(netnum.Problem(TRIANGLE, ("Seattle", "Houston"), flow_floor=20.0), few_paths=True)
    assert crowded.status == "infeasible"
    floors = netnum.Problem(TRIANGLE, ("Seattle", "Houston"), flow_floor=15.0)
    with pytest.raises(
        netnum.NumError, match="max_paths is 1, expected more: over so few paths per flow the floors do"
    ):
        netnum.solve(floors, max_paths=1)
    assert netnum.solve(floors, few_paths=True).is_optimal


def test_a_limit_holds_for_the_whole_solve():
    given = netnum.Problem(NET, DEMANDS)
    short = netnum.solve(given, max_paths=1, max_iterations=3)
    assert short.status == "max_iterations" and short.iterations <= 3
    assert np.bincount(short.paths.group).max() == 1
    assert (short.loads <= NET.capacities * (1 + 1e-9)).all()
    seen = []
    netnum.solve(given, max_paths=1, callback=lambda progress: seen.append(progress))
    assert len(seen) > netnum.solve(given).iterations


def test_derivatives_are_of_all_paths_that_are_as_good():
    solution = netnum.solve(netnum.Problem(NET, DEMANDS), few_paths=True)
    with pytest.raises(netnum.SensitivityError, match="paths that are as good as those of few_paths= or max_paths="):
        solution.sensitivity()


def test_bad_input_is_named():
    over_paths = netnum.Problem([1.0], [[0]])
    for name, value in (("few_paths", True), ("max_paths", 2)):
        with pytest.raises(netnum.MethodError, match=f"{name} is of problems of pairs: over paths that are given"):
            netnum.solve(over_paths, **{name: value})
    pairs = netnum.Problem(TRIANGLE, ("Seattle", "Houston"))
    with pytest.raises(netnum.NumError, match="max_paths is 0, expected"):
        netnum.solve(pairs, max_paths=0)
    for wrong in ("two", True):
        with pytest.raises(TypeError, match="max_paths"):
            netnum.solve(pairs, max_paths=wrong)
    for name in ("nonsense", "few_paths"):
        with pytest.raises((netnum.NumError, TypeError), match=name):
            netnum.Solver(pairs, **{name: 1})
