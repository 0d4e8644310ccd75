"""Utilities in their short forms: names, numbers, and the defaults of the families."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import AlphaFair, Linear

NAMES = {"proportional": AlphaFair(1.0), "max-min": AlphaFair(np.inf), "throughput": Linear(1.0)}


def problem(*utility, **keywords):
    return netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], *utility, **keywords)


def test_a_problem_without_a_utility_is_proportionally_fair():
    assert problem().utility == AlphaFair(1.0)


def test_the_defaults_of_the_families_are_the_textbooks():
    assert AlphaFair() == AlphaFair(1.0, 1.0)
    assert AlphaFair(weight=[1.0, 2.0]) == AlphaFair(1.0, [1.0, 2.0])
    assert AlphaFair(scale=2.0).alpha == 1.0
    assert Linear() == Linear(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_utility_wherever_utilities_are_taken(name):
    utility = NAMES[name]
    changed = netnum.Solver(problem(), "interior-point") if name == "throughput" else netnum.Solver(problem())
    if name != "max-min":
        changed.update(utility=name)
        assert changed.problem.utility == utility
    assert problem(name).utility == problem(utility=name).utility == problem().with_utility(name).utility == utility
    netnum.check_utility(name)


@given(st.floats(min_value=1e-3, max_value=1e3) | st.integers(min_value=1, max_value=9) | st.just(np.inf))
def test_a_number_is_the_alpha_of_alpha_fairness(alpha):
    assert problem(alpha).utility == problem(np.array(alpha)[()]).utility == AlphaFair(float(alpha))


def test_short_forms_stand_beside_others_one_per_flow():
    utilities = problem(["max-min", 2, AlphaFair(3.0)]).utility
    assert utilities == (AlphaFair(np.inf), AlphaFair(2.0), AlphaFair(3.0))
    assert problem(np.array([1.0, 2.0, 2.0])).utility == (AlphaFair(1.0), AlphaFair(2.0), AlphaFair(2.0))


def test_flows_of_one_short_form_share_one_utility():
    first, second, third = problem(["proportional", "proportional", 1.0]).utility
    assert first is second
    assert second == third


@pytest.mark.parametrize(
    ("utility", "message"),
    [
        ("fct", 'utility "fct" needs the sizes of the flows: netnum.MinFct(size)'),
        ("svm", 'unknown utility "svm"; known: proportional, max-min, throughput, fct'),
        (
            "maxmin",
            'unknown utility "maxmin", did you mean "max-min"?; known: proportional, max-min, throughput, fct',
        ),
        (
            "log",
            'unknown utility "log"; known: proportional, max-min, throughput, fct: the logarithm is "proportional"',
        ),
        (-1, "alpha is -1, expected a number > 0, inf for max-min (use Linear for alpha = 0)"),
        (float("nan"), "alpha is NaN, expected a number > 0, inf for max-min (use Linear for alpha = 0)"),
        ([1.0, 2.0, "fct"], 'flow 2: utility "fct" needs the sizes of the flows: netnum.MinFct(size)'),
        ([1.0, 0, 1.0], "flow 1: alpha is 0, expected a number > 0, inf for max-min"),
    ],
)
def test_a_short_form_that_there_is_not_is_an_error_that_says_what_there_is(utility, message):
    with pytest.raises(netnum.UtilityError) as caught:
        problem(utility)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("utility", [True, np.True_, 1j, None.__class__, {"alpha": 2.0}])
def test_what_is_no_number_is_no_alpha(utility):
    with pytest.raises(TypeError):
        problem(utility)


def test_a_complex_number_of_numpy_is_no_alpha():
    with pytest.raises(TypeError):
        netnum.Problem([1.0], [[0]], np.complex128(2))
