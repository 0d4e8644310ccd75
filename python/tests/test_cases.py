"""The reference problems, each with a certified answer."""

import json
from pathlib import Path

import numpy as np
import pytest

import netnum

FOLDER = Path(__file__).resolve().parents[2] / "crates" / "num-core" / "tests" / "cases"


def read(name):
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text), netnum.Problem.from_json(text)


NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
#: Those with utilities, and so an objective on a scale and prices; the others are weighted max-min.
CONCAVE = [name for name in NAMES if "objective_scale" in read(name)[0]["expected"]]
MAX_MIN = sorted({*NAMES} - {*CONCAVE})


def solved(problem):
    solution = netnum.solve(problem, tol=1e-9, stop="kkt")
    assert solution.status == "optimal", solution
    return solution


def known(values):
    """The expected numbers, nan where they are not unique."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def check_feasible(problem, solution, tolerance):
    assert np.all(solution.rates >= 0)
    assert np.all(solution.loads <= problem.capacities * (1 + tolerance))
    if problem.rate_cap is not None:
        assert np.all(solution.rates <= problem.rate_cap * (1 + tolerance))


def check_rates(case, problem, solution, tolerance):
    """Relative to the rate, or to a millionth of what the path could carry where that is more.

    A KKT residual of 1e-9 lets a path that should be idle keep 1e-9 of its flow's rate, so that a thousandth of that
    rate is what counts.
    """
    carries = np.array([problem.capacities[links].min() for links in problem.paths])
    usable = carries if problem.rate_cap is None else np.minimum(carries, problem.rate_cap)
    usable = np.bincount(problem.group, weights=usable, minlength=problem.flows)
    least = np.maximum(1e-6 * carries, 1e-3 * solution.flow_rates[problem.group])
    of_paths, of_flows = known(case["expected"]["rates"]), known(case["expected"]["group_rates"])
    for rates, expected, floor in (
        (solution.rates, of_paths, least),
        (solution.flow_rates, of_flows, 1e-6 * usable),
    ):
        errors = np.abs(rates - expected) / np.maximum(expected, floor)
        assert np.nanmax(np.append(errors, 0.0)) <= tolerance


@pytest.mark.parametrize("name", CONCAVE)
def test_the_case_is_solved_in_rates_prices_and_objective(name):
    case, problem = read(name)
    solution = solved(problem)
    check_feasible(problem, solution, 1e-8)
    check_rates(case, problem, solution, 1e-6)
    scale = case["expected"]["objective_scale"]
    assert abs(case["expected"]["objective"] - solution.objective) <= 1e-7 * scale
    # In units of the mean revenue of a link in use.
    revenue = scale / len(np.unique(problem.paths.indices))
    errors = np.abs(solution.prices - known(case["expected"]["prices"])) * problem.capacities / revenue
    assert np.nanmax(np.append(errors, 0.0)) <= 1e-5


@pytest.mark.parametrize("name", MAX_MIN)
def test_the_max_min_case_is_exact(name):
    case, problem = read(name)
    solution = solved(problem)
    assert solution.method == "max-min"
    check_feasible(problem, solution, 1e-9)
    check_rates(case, problem, solution, 1e-9)


def test_there_are_so_many_cases_of_each_kind():
    assert (len(CONCAVE), len(MAX_MIN)) == (58, 5)
