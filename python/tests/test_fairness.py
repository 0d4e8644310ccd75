"""The numbers that studies of fairness compute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum

RATES = st.lists(st.floats(0, 1e300), min_size=1, max_size=20)


@given(RATES)
def test_jains_index_is_between_the_worst_and_1(rates):
    index = netnum.jain(rates)
    if max(rates) == 0:
        assert np.isnan(index)
    else:
        assert 1 / len(rates) - 1e-12 <= index <= 1 + 1e-12


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=20), st.floats(1e-6, 1e6))
def test_jains_index_is_the_formula_and_has_no_unit(rates, unit):
    x = np.array(rates)
    expected = x.sum() ** 2 / (len(x) * (x**2).sum())
    assert netnum.jain(x) == pytest.approx(expected)
    assert netnum.jain(x * unit) == pytest.approx(expected)
    assert netnum.jain(x * unit, weight=x) == pytest.approx(1.0)


def test_solutions_give_their_flow_rates():
    problem = netnum.Problem([6.0, 6.0], [[0, 1], [0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 2, 2])
    solution, fair = netnum.solve(problem), netnum.max_min(problem)
    many = netnum.solve_many(problem, flow_caps=[[np.inf] * 3, [1.0] * 3])
    assert netnum.jain(solution) == netnum.jain(solution.flow_rates)
    assert netnum.jain(fair) == netnum.jain(fair.flow_rates)
    assert netnum.jain(many).tolist() == [netnum.jain(row) for row in many.flow_rates]
    np.testing.assert_array_equal(netnum.relative_rates(solution, fair), solution.flow_rates / fair.flow_rates)
    assert netnum.relative_rates(many, fair).shape == (2, 3)
    best = netnum.solve(problem.with_utility(netnum.Linear(1.0)))
    assert netnum.price_of_fairness(best, best) == 0.0
    assert netnum.price_of_fairness(fair, best) == pytest.approx(1 - 9 / 12)


def test_what_is_no_rate_is_named():
    with pytest.raises(netnum.ProblemError, match="rates: the rate of flow 1 is not a finite number >= 0"):
        netnum.jain([1.0, -1.0])
    with pytest.raises(netnum.ProblemError, match=r"rates has shape \(0,\), expected \(flows,\), one or more"):
        netnum.jain([])
    with pytest.raises(netnum.ProblemError, match="weight has an entry that is not a finite number > 0"):
        netnum.jain([1.0, 2.0], weight=[1.0, 0.0])
    with pytest.raises(netnum.ProblemError, match="there are numbers of 2 flows and of 3"):
        netnum.relative_rates([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(netnum.ProblemError, match="there are numbers of 2 flows and of 3"):
        netnum.jain([1.0, 2.0], weight=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="rates must be an array of numbers, not str"):
        netnum.jain("rates")
    assert netnum.relative_rates([1.0, 0.0], [0.0, 0.0])[0] == np.inf
