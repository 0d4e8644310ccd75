"""Max-min fairness and the FILL normalizer, from Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import netnum

CASES = Path(__file__).parents[2] / "crates" / "num-core" / "tests" / "cases"


def drawn(alpha):
    """NUMFabric's two flows, figures 2 and 9."""
    shares = [0.0, 2.0, 2.5]
    return [
        netnum.BandwidthFunction(shares, [0.0, 10.0, 15.0], alpha=alpha),
        netnum.BandwidthFunction(shares, [0.0, 0.0, 10.0], alpha=alpha),
    ]


@pytest.mark.parametrize("case", sorted(CASES.glob("maxmin-*.json")), ids=lambda path: path.stem)
def test_the_reference_cases_are_met(case):
    problem = netnum.Problem.from_json(case.read_text())
    rates = netnum.max_min(problem)
    expected = np.array(json.loads(case.read_text())["expected"]["group_rates"], dtype=float)
    np.testing.assert_allclose(rates, expected, rtol=1e-9)
    certificate = netnum.certify(problem, rates, np.zeros(problem.links))
    assert certificate.relative_gap < 1e-12
    assert certificate.kkt_residual < 1e-12


@pytest.mark.parametrize(("capacity", "expected"), [(5, [5, 0]), (10, [10, 0]), (17.5, [12.5, 5]), (25, [15, 10])])
@pytest.mark.parametrize("alpha", [5.0, np.inf])
def test_bandwidth_functions_share_a_link_as_they_were_drawn(capacity, expected, alpha):
    problem = netnum.Problem([capacity], [[0], [0]], drawn(alpha))
    np.testing.assert_allclose(netnum.max_min(problem), expected, atol=1e-13)


def test_a_max_min_bandwidth_function_is_written_and_read():
    problem = netnum.Problem([17.0], [[0], [0]], drawn(np.inf))
    text = problem.to_json()
    assert json.loads(text)["utility"]["kind"] == ["max_min_bandwidth_function"] * 2
    again = netnum.Problem.from_json(text)
    np.testing.assert_array_equal(netnum.max_min(again), netnum.max_min(problem))


def test_the_certificate_catches_an_unfair_answer():
    problem = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(np.inf, [1.0, 3.0]))
    assert netnum.certify(problem, [0.25, 0.75], [0.0]).kkt_residual == 0.0
    assert netnum.certify(problem, [0.5, 0.5], [0.0]).kkt_residual == pytest.approx(2 / 3)
    assert netnum.certify(problem, [0.25 - 1e-6, 0.75], [0.0]).kkt_residual == pytest.approx(1e-6, rel=4)


def test_fill_wastes_nothing():
    problem = netnum.Problem([3.0, 10.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    np.testing.assert_allclose(netnum.fill(problem, [0.1, 0.2, 0.3]), [1.0, 2.0, 9.0])
    capped = netnum.Problem([3.0, 10.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0), rate_cap=[np.inf, 0.5, 2.0])
    np.testing.assert_allclose(netnum.fill(capped, [0.1, 0.2, 0.3]), [2.5, 0.5, 2.0])
    with pytest.raises(netnum.ProblemError, match="path 1 has rate -1"):
        netnum.fill(problem, [1.0, -1.0, 1.0])


def test_what_has_no_fair_share_is_named():
    linear = netnum.Problem([1.0], [[0], [0]], [netnum.AlphaFair(np.inf), netnum.Linear(1.0)])
    with pytest.raises(netnum.MethodError, match=r"flow 1, whose linear utility has no fair share; use solve\(\)"):
        netnum.max_min(linear)


def test_several_paths_are_pooled():
    # Flow 0 has link 0 to itself and a part of link 1: 1.5 each.
    problem = netnum.Problem([1.0, 2.0], [[0], [1], [1]], netnum.AlphaFair(np.inf), group=[0, 0, 1])
    np.testing.assert_allclose(netnum.max_min(problem), [1.0, 0.5, 1.5], rtol=1e-9)
    solution = netnum.solve(problem)
    assert (solution.status, solution.method) == ("optimal", "max-min")
    assert solution.gap < 1e-9
    np.testing.assert_allclose(solution.flow_rates, [1.5, 1.5], rtol=1e-9)
    assert netnum.certify(problem, [0.9, 0.5, 1.5], [0.0, 0.0]).relative_gap > 0.05
