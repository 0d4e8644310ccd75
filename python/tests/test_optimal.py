"""What ``optimal`` promises: the gap and, by default, every single rate."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from user_utility import Log

import netnum

CURVES = [([0, 0.01], [0, 0.5]), ([0, 10], [0, 1]), ([0, 20], [0, 1])]


def close(found, right, accuracy):
    np.testing.assert_allclose(found, right, rtol=accuracy)


@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-9])
@pytest.mark.parametrize(("stop", "accuracy"), [("rates", 5e-3), ("kkt", 1e-5)])
def test_rich_flows_at_large_alpha_get_what_is_there(stop, accuracy, unit):
    problem = netnum.Problem(
        np.array([1, 1000, 50]) * unit, [[0], [1], [2], [1], [0, 1]], netnum.AlphaFair(8), group=[0, 1, 1, 2, 3]
    )
    solution = netnum.solve(problem, stop=stop)
    assert solution.is_optimal
    close(solution.flow_rates / unit, [0.5, 524.75, 524.75, 0.5], accuracy)


def test_a_rich_flow_is_right_though_a_poor_one_is_all_the_objective_feels():
    # What the last flow pays is 1e-12 of what the others do, whose split leaves the rest to it.
    problem = netnum.Problem([1, 1, 30], [[0], [1], [0], [1, 2], [2]], netnum.AlphaFair(8), group=[0, 0, 1, 1, 2])
    solution = netnum.solve(problem)
    assert solution.is_optimal
    assert solution.flow_rates == pytest.approx([1, 1, 30], rel=1e-3)
    wrong = netnum.certify(problem, [0.5, 0.5, 0.5, 0.5, 29.5], solution.prices)
    assert wrong.kkt_residual > 0.01


def test_the_gap_alone_is_there_by_name():
    problem = netnum.Problem([1, 1000, 50], [[0], [1], [2], [1], [0, 1]], netnum.AlphaFair(8), group=[0, 1, 1, 2, 3])
    solution = netnum.solve(problem, stop="gap")
    assert solution.is_optimal
    assert solution.gap <= 1e-6


def test_the_utility_of_saturated_and_capped_flows_does_not_hide_others():
    curves = [netnum.BandwidthFunction(f, b) for f, b in CURVES]
    for stop in ("rates", "gap", "kkt"):
        solution = netnum.solve(netnum.Problem([1], [[0]] * 3, curves), stop=stop)
        assert solution.is_optimal
        close(solution.rates, [0.5, 1 / 3, 1 / 6], 2e-3)
        capped = netnum.Problem([1], [[0]] * 3, netnum.AlphaFair(3, [1000, 1, 2]), rate_cap=[0.5, np.inf, np.inf])
        solution = netnum.solve(capped, stop=stop)
        assert solution.is_optimal
        close(solution.rates, [0.5, 1 / 6, 1 / 3], 2e-3)


@pytest.mark.parametrize("weight", [1e-2, 1e-5, 1e-7])
def test_a_rate_is_right_relative_to_itself_however_small(weight):
    problem = netnum.Problem([1] * 4, [[0, 1, 2, 3], [0]], netnum.AlphaFair(1, [1, weight]))
    right = weight / (1 + weight)
    close(netnum.solve(problem).rates[1], right, 3e-3)
    close(netnum.solve(problem, stop="kkt").rates[1], right, 1e-5)


def test_prices_that_no_float_holds_prove_nothing():
    solution = netnum.solve(netnum.Problem([1e12], [[0], [0]], netnum.AlphaFair(30)))
    assert solution.status == "stalled"
    close(solution.rates, 5e11, 1e-6)


@pytest.mark.parametrize("stop", ["rates", "gap", "kkt"])
def test_what_leaves_the_floats_is_never_optimal(stop):
    text = (Path(__file__).parent / "finds" / "falseoptimal-kkt-zero-rates.json").read_text()
    fields = json.loads(text)
    problem = netnum.Problem.from_json(json.dumps(fields.get("problem", fields)))
    solution = netnum.solve(problem, stop=stop)
    assert not solution.is_optimal or (np.isfinite(solution.gap) and np.isfinite(solution.objective))
    assert (solution.rates >= 0).all()


def test_a_marginal_of_a_capped_flow_that_dominates_the_others_proves_nothing():
    problem = netnum.Problem(
        [1, 1], [[0], [1], [1]], netnum.AlphaFair(30, [1, 0.1, 0.2]), rate_cap=[1e-10, np.inf, np.inf]
    )
    for stop in ("gap", "rates", "kkt"):
        solution = netnum.solve(problem, stop=stop, tol=0.05)
        if solution.is_optimal:
            close(solution.rates[1:], [1 / 3, 2 / 3], 0.2)


def test_seconds_are_those_of_the_clock():
    flows = 100_000
    ends = np.random.default_rng(1).integers([0, 500], [500, 1000], (flows, 2))
    problem = netnum.Problem(np.ones(1000), netnum.Paths(np.arange(flows + 1) * 2, ends.ravel()), netnum.AlphaFair(1.0))
    began = time.perf_counter()
    solution = netnum.solve(problem)
    assert solution.seconds <= time.perf_counter() - began


def test_a_saturation_below_zero_is_an_error_that_names_the_flow():
    class Broken(Log):
        saturation = -1.0

    problem = netnum.Problem([1.0], [[0], [0]], Broken())
    with pytest.raises(netnum.UtilityError, match="flow 0 is broken: its saturation is -1, expected a number >= 0"):
        netnum.certify(problem, [0.5, 0.5], [2.0])


def test_a_solution_has_a_bound_for_single_rates():
    solution = netnum.solve(netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0)))
    assert (solution.kkt_residual, "rates to 0.0e0, " in repr(solution)) == (0.0, True)
    assert "rates to" in solution._repr_html_()


def test_a_limit_of_time_that_is_up_before_there_is_an_answer_gives_no_rates():
    flows = 300_000
    rng = np.random.default_rng(1)
    paths = netnum.Paths(
        np.arange(flows + 1) * 2, np.stack([rng.integers(0, 500, flows), 500 + rng.integers(0, 500, flows)], 1).ravel()
    )
    problem = netnum.Problem(np.ones(1000), paths, netnum.AlphaFair(1.0))
    solution = netnum.solve(problem, time_limit=1e-9)
    assert solution.status == "time_limit"
    assert (solution.rates >= 0).all()
    if solution.method == "none":
        assert solution.rates.max() == 0
        assert np.isinf(solution.gap)
        assert np.isnan(solution.objective)


def test_what_a_linear_flow_leaves_idle_is_judged_by_the_small_flow_beside_it():
    # The linear flow leaves link 0 idle by what the small flow has too much of link 1.
    wide, right = 1e10, 10 / 400
    utilities = [netnum.Linear(20.0), netnum.AlphaFair(0.5, 10.0)]
    problem = netnum.Problem([wide, wide], [[0, 1], [1]], utilities)

    def at(small):
        price = (10 / small) ** 0.5
        return netnum.certify(problem, np.array([wide - small, small]), np.array([20 - price, price]))

    assert at(right).kkt_residual < 1e-9
    assert at(50.0).relative_gap < 1e-6
    assert at(50.0).kkt_residual > 1e-2


def test_a_tiny_price_that_holds_a_flow_at_its_floor_is_a_price():
    problem = netnum.Problem([1.0, 100.0], [[0], [1]], netnum.AlphaFair(8), flow_floor=[0.0, 14.0])
    held = netnum.certify(problem, np.array([1.0, 14.0]), np.array([1.0, 1.001 * 14.0**-8]))
    assert held.relative_gap < 1e-6
    assert held.kkt_residual > 0.1
    # Link 1 has grown since: the rate goes on from its floor.
    wider = problem.with_capacities([1.0, 1000.0])
    solution = netnum.solve(wider, warm_start=netnum.solve(problem.with_capacities([1.0, 14.0])))
    assert not solution.is_optimal or abs(solution.rates[1] - 1000) < 1


@pytest.mark.parametrize(
    ("capacities", "paths", "alpha", "floors", "right"),
    [
        (
            [0.12360576413567843, 17.17297019539031, 282.9609734483462, 0.2812902525255484],
            [[0], [2, 3], [3], [0], [2]],
            4.0,
            [0.003393417088338407, 0.04876644920794728, 0.0, 0.0, 28.858084449462343],
            {4: 282.82},
        ),
        (
            [146.82344563082884, 4.236201436687554, 4.168412861447562, 15.027310332307652, 0.2784817860707745],
            [[0], [0, 2], [3, 4], [1], [0]],
            8.0,
            [21.10120378302255, 0.0, 0.026850767803584842, 0.41090900617061793, 24.227912335438226],
            {0: 71.33, 4: 71.33},
        ),
    ],
)
def test_flows_far_above_their_floors_are_not_called_optimal_there(capacities, paths, alpha, floors, right):
    solution = netnum.solve(netnum.Problem(capacities, paths, netnum.AlphaFair(alpha), flow_floor=floors))
    for flow, rate in right.items():
        assert not solution.is_optimal or abs(solution.rates[flow] / rate - 1) < 1e-2


def test_a_flow_whose_rate_is_fixed_still_has_a_split_to_prove():
    # Flow 0, worth 10⁷, is on links 0 and 2, and flow 1 on link 3, which costs 1: it has to be on link 0, and flow 0 on
    # links 1 and 2.
    utility = netnum.AlphaFair(1, [1e7, 1.0])
    fixed = {"group": [0, 0, 1, 1], "flow_floor": [0.0, 1.0], "flow_cap": [np.inf, 1.0]}
    problem = netnum.Problem([1.0] * 4, [[0, 2], [1, 2], [0], [3]], utility, path_cost=[0.0, 0.0, 0.0, 1.0], **fixed)
    wrong = netnum.certify(problem, np.array([1.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.0, 1e7 - 1, 0.0]))
    assert wrong.kkt_residual > 0.1
    right = netnum.certify(problem, np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1e7, 0.0]))
    assert right.kkt_residual < 1e-9
