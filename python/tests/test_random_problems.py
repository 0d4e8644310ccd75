"""Random problems against a second opinion, and whether that opinion sees what is wrong."""

import json

import numpy as np
import pytest
import random_problems
import second_opinion
from random_problems import GAP, RATES, SLACK, Draw, run

import netnum


def one_link(flows=4, alpha=2.0):
    """Flows of different weights on one link, and two of them over another one as well."""
    paths = [[0, 1] if flow < 2 else [0] for flow in range(flows)]
    utility = {
        "kind": ["alpha_fair"] * flows,
        "weight": [1.0 + flow for flow in range(flows)],
        "alpha": [alpha] * flows,
    }
    return {"capacity": [10.0, 0.5], "paths": paths, "group": list(range(flows)), "utility": utility}


def solve(fields, **settings):
    return netnum.solve(netnum.Problem.from_json(json.dumps(fields)), **settings)


def opinion(fields, rates, prices, accuracy=SLACK * RATES):
    """Relative gap, and the flows whose rates are wrong, with the best witness for the problem."""
    own = second_opinion.Own(fields)
    best = solve(fields, stop="kkt", tol=1e-10)
    verdict = second_opinion.judge_rates(own, rates, second_opinion.witness(own, best), accuracy)
    gap = second_opinion.Prices(own, prices).relative_gap(own.feasible(rates))
    return float(gap), list(verdict.wrong), list(verdict.open)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 8.0])
def test_the_opinion_agrees_with_right_answers(alpha):
    fields = one_link(alpha=alpha)
    solution = solve(fields, stop="kkt", tol=1e-9)
    gap, wrong, still_open = opinion(fields, solution.rates, solution.prices, accuracy=1e-6)
    assert gap < 1e-9
    assert not wrong
    assert not still_open


@pytest.mark.parametrize("flow", range(4))
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_opinion_finds_a_wrong_rate(flow, factor):
    fields = one_link()
    solution = solve(fields, stop="kkt", tol=1e-9)
    rates = solution.rates.copy()
    rates[flow] *= factor
    gap, wrong, _ = opinion(fields, rates, solution.prices)
    assert flow in wrong
    assert gap > GAP


def test_a_small_flow_may_have_what_a_large_one_misses_of_its_cap_and_may_not_lack_as_much():
    utility = {"kind": ["alpha_fair"] * 2, "weight": [1.0, 1e-6], "alpha": [1.0] * 2}
    fields = {"capacity": [10.0], "paths": [[0], [0]], "group": [0, 1], "utility": utility, "flow_cap": [9.99, None]}
    missed = 5e-3
    for rates, expected in [((9.99 - missed, 1e-2 + missed), []), ((9.99 - missed, 1e-2 - missed), [1])]:
        _, wrong, _ = opinion(fields, np.array(rates), np.zeros(1), accuracy=1e-3)
        assert wrong == expected


def test_the_opinion_finds_wrong_prices():
    fields = one_link()
    solution = solve(fields, stop="kkt", tol=1e-9)
    gap, wrong, _ = opinion(fields, solution.rates, 1.1 * solution.prices)
    assert gap > GAP
    assert not wrong


def test_rounding_of_a_price_does_not_decide_whether_a_flow_is_held_by_its_floor():
    utility = {"kind": ["alpha_fair", "linear"], "weight": [1e4, 1.0], "alpha": [1.0, None]}
    fields = {"capacity": [1.0, 1.0], "paths": [[0], [1]], "group": [0, 1], "utility": utility, "flow_floor": [1.0, 0]}
    own, rates = second_opinion.Own(fields), np.array([1.0, 1 - 1e-5])

    def gap(factor):
        return float(second_opinion.Prices(own, np.array([1e4 * factor, 1 - 1e-9])).relative_gap(rates))

    assert gap(1.0) == gap(1 + 1e-14) < 1e-8
    assert gap(1 + 1e-9) == pytest.approx(1e-5, rel=1e-3)


def test_a_flow_at_its_floor_that_has_enough_is_no_scale_for_what_is_missing():
    # All that more of it would gain is e⁻¹²⁰ of what it has.
    utility = {"kind": ["user_deadline"] * 2, "weight": [1.0] * 2, "size": [0.01] * 2}
    fields = {"capacity": [1.0], "paths": [[0], [0]], "group": [0, 1], "utility": utility}
    fields |= {"flow_floor": [0.3, 0.0], "flow_cap": [None, 0.5]}
    prices = second_opinion.Prices(second_opinion.Own(fields), np.array([1e-20]))
    assert prices.relative_gap(np.array([0.4, 0.5])) < 1e-19


def test_the_opinion_finds_a_flow_that_hardly_counts():
    # The gap alone would let it have anything.
    fields = one_link(alpha=1.0)
    fields["utility"]["weight"] = [1.0, 1e-9, 1.0, 1.0]
    solution = solve(fields, stop="kkt", tol=1e-9)
    rates = solution.rates.copy()
    rates[1] *= 3
    gap, wrong, _ = opinion(fields, rates, solution.prices)
    assert gap < GAP
    assert wrong == [1]


@pytest.mark.parametrize("several", [False, True])
def test_the_opinion_finds_rates_that_are_not_max_min(several):
    fields = one_link()
    fields["utility"]["kind"] = ["max_min"] * 4
    if several:
        fields["paths"].append([1])
        fields["group"].append(3)
    rates = solve(fields).rates
    own, rng = second_opinion.Own(fields), np.random.default_rng(0)
    assert not len(second_opinion.not_max_min(own, rates, 1e-3, rng))
    rates = rates * np.where(np.array(fields["group"]) == 2, 0.9, 1.0)
    assert len(second_opinion.not_max_min(own, rates, 1e-3, rng))


def test_a_problem_is_drawn_from_its_number_alone():
    first, again = Draw(3, 14).problem(), Draw(3, 14).problem()
    assert first == again
    assert Draw(3, 15).problem() != first


def test_a_few_hundred_problems(tmp_path):
    study = run(20261122, 300, jobs=2, keep=tmp_path)
    assert study.passed, study.report()


@pytest.mark.slow
def test_no_answer_to_a_few_thousand_problems_is_false(tmp_path):
    # The script counts those that end in another status: `make random-problems`.
    study = run(13, 2500, jobs=2, keep=tmp_path)
    assert study.false == 0, study.report()


@pytest.mark.parametrize(("seed", "number"), [(31, 94), (31, 434), (31, 676), (5, 5106), (5, 6462)])
def test_a_class_is_proven_where_the_splits_of_those_before_it_have_no_room(seed, number):
    case = Draw(seed, number).problem()
    assert case.kind.endswith("several paths, classes")
    outcome = random_problems.solve(case)
    assert outcome.word == "optimal", outcome.detail


@pytest.mark.parametrize(
    ("seed", "number"),
    [(301, number) for number in (35606, 53667, 20834, 4370, 50141)]
    + [(59, number) for number in (11296, 13521, 37414, 65151, 83134, 94992)]
    + [(64, number) for number in (56340, 91083)],
)
def test_what_was_once_judged_wrong_ends_as_optimal(seed, number):
    outcome = random_problems.solve(Draw(seed, number).problem())
    assert outcome.word == "optimal", outcome.detail


@pytest.mark.parametrize(("number", "flow", "right"), [(28339, 5, 314.107654509), (33104, 1, 1.621555091e-10)])
def test_a_small_rate_is_right_beside_what_others_leave_idle_or_should_not_have(number, flow, right):
    # The right rates are roots in 40 digits. Below 1e-9 of what the path could carry they are relative to that.
    case = Draw(59, number).problem()
    outcome = random_problems.solve(case)
    assert outcome.word == "optimal", outcome.detail
    rate = netnum.solve(case.problem).rates[flow]
    assert abs(rate - right) <= SLACK * RATES * max(right, 1e-9 * min(1e10, case.fields["flow_cap"][flow] or 1e10))


@pytest.mark.parametrize(("seed", "number"), [(41, 2954), (301, 1175)])
def test_rates_are_proven_beside_links_that_idle_at_prices_of_rounding(seed, number):
    outcome = random_problems.solve(Draw(seed, number).problem())
    assert outcome.word == "optimal", outcome.detail


def test_a_class_that_stalls_keeps_floors_and_caps_of_paths():
    case = Draw(301, 867).problem()
    solution = netnum.solve(case.problem)
    assert solution.status == "stalled"
    assert second_opinion.Own(case.fields).overload(solution.rates) < 1e-12


def test_the_opinion_knows_rates_far_beyond_what_a_flow_can_use():
    utility = second_opinion.UserDeadline([1.0], [1e-4])
    near, far = np.array([1e-5], second_opinion.Real), np.array([1e2], second_opinion.Real)
    assert np.abs(utility.gain(near, far) - np.exp(-second_opinion.Real(0.4))) < 1e-15
    assert utility.gain(far, near) == -utility.gain(near, far)


def test_the_opinion_finds_a_cheaper_split_of_a_small_part_of_a_rate():
    utility = {"kind": ["linear"] * 2, "weight": [1.0, 1.0]}
    costs = {"path_cost": [0.0, 0.25, 0.0]}
    fields = {"capacity": [1e10, 1e10], "paths": [[0], [1], [0]], "group": [0, 0, 1], "utility": utility, **costs}
    own = second_opinion.Own(fields)
    split = second_opinion.cheapest_split(own, [1e10 - 0.5, 0.25, 0.0], np.zeros(2))
    assert split[1] < 1e-9
    assert split[0] == own.flow_rates(np.array([1e10 - 0.5, 0.25, 0.0]))[0]


@pytest.mark.parametrize("left", [0.0, 5e-7, 2e-6])
def test_the_opinion_finds_what_is_left_for_starved_flows(left):
    utility = {"kind": ["linear"] * 3, "weight": [0.0, 1.0, 1.0]}
    paths = {"paths": [[0], [1], [0], [0]], "group": [0, 0, 1, 2], "flow_floor": [12.0 - left, 0.0, 0.0]}
    own = second_opinion.Own({"capacity": [10.0, 2.0], "utility": utility, **paths})
    share = second_opinion.share_of_starved(own, [1, 2], np.array([10.0, 2.0 - left, 0.0, 0.0]))
    # Both may have what is left, which is a tenth of it as a part of the link, half of that each.
    assert abs(share - left / 20) < 1e-12


def test_the_opinion_finds_the_starved_flow_that_others_leave_the_most():
    def share(left):
        fields = {"capacity": [10.0] * len(left), "paths": [[link] for link in range(len(left))] * 2}
        fields |= {"flow_floor": [10.0 - room for room in left] + [0.0] * len(left)}
        fields["utility"] = {"kind": ["linear"] * 2 * len(left), "weight": [0.0] * len(left) + [1.0] * len(left)}
        rates = np.array(fields["flow_floor"])
        return second_opinion.share_of_starved(second_opinion.Own(fields), np.arange(len(left), 2 * len(left)), rates)

    assert abs(share([5e-8, 10.0, 10.0]) - 1.0) < 1e-9
    assert abs(share([1.5e-5] * 20) - 1.5e-6) < 1e-11
