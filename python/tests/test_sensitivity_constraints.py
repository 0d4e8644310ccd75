"""Derivatives where paths have coefficients and costs, against differences of optima."""

import numpy as np
import pytest

import netnum


def drawn(seed, several):
    """A strictly concave problem with coefficients, and costs in half of the cases."""
    rng = np.random.default_rng(seed)
    links, flows = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    indptr, indices, uses, group = [0], [], [], []
    for flow in range(flows):
        for _ in range(int(rng.integers(1, 4)) if several else 1):
            own = rng.choice(links, int(rng.integers(1, min(links, 4) + 1)), replace=False)
            indices += own.tolist()
            uses += (10 ** rng.uniform(-0.7, 0.7, len(own))).tolist()
            indptr.append(len(indices))
            group.append(flow)
    paths = netnum.Paths(indptr, indices, group=group, coefficients=uses)
    cost = rng.uniform(0, 1, len(group)) if rng.random() < 0.5 else None
    utility = netnum.AlphaFair(float(rng.choice([0.5, 1.0, 2.0])), rng.uniform(0.5, 2, flows))
    return netnum.Problem(rng.uniform(1, 4, links), paths, utility, path_cost=cost), rng


def optimum(problem):
    return netnum.solve(problem, tol=1e-12, stop="kkt")


@pytest.mark.parametrize("several", [False, True])
def test_a_change_of_the_capacities_is_that_of_differences(several):
    compared = 0
    for seed in range(60):
        problem, rng = drawn(seed, several)
        sensitivity = optimum(problem).sensitivity()
        if sensitivity.kinks:
            continue
        change, step = rng.uniform(-1, 1, problem.links), 1e-5
        found = sensitivity.jvp(capacities=change)
        ahead, behind = (optimum(problem.with_capacities(problem.capacities + s * change)) for s in (step, -step))
        difference = (ahead.flow_rates - behind.flow_rates) / (2 * step)
        np.testing.assert_allclose(found["flow_rates"], difference, atol=2e-3 * max(1, abs(difference).max()))
        rise = (ahead.objective - behind.objective) / (2 * step)
        assert found["objective"] == pytest.approx(rise, rel=1e-3, abs=1e-4)
        assert found["objective"] == pytest.approx(sensitivity.prices @ change, rel=1e-6, abs=1e-9)
        compared += 1
    assert compared >= 30


@pytest.mark.parametrize("several", [False, True])
def test_forward_and_reverse_agree(several):
    compared = 0
    for seed in range(100, 140):
        problem, rng = drawn(seed, several)
        sensitivity = optimum(problem).sensitivity()
        if sensitivity.kinks:
            continue
        capacities, of_rates = rng.normal(size=problem.links), rng.normal(size=problem.flows)
        of_prices = rng.normal(size=problem.links)
        ahead = sensitivity.jvp(capacities=capacities)
        back = sensitivity.vjp(flow_rates=of_rates, prices=of_prices, objective=0.7)
        forward = of_rates @ ahead["flow_rates"] + of_prices @ ahead["prices"] + 0.7 * ahead["objective"]
        scale = abs(back["capacities"]).sum() + 1
        assert back["capacities"] @ capacities == pytest.approx(forward, abs=1e-6 * scale)
        compared += 1
    assert compared >= 20


def test_the_derivative_does_not_depend_on_the_unit_of_a_link():
    routing = np.array([[1.0, 2.0], [0.5, 1.0]])
    sparse = pytest.importorskip("scipy.sparse")
    for unit in (1e9, 1e-9, 3.7):
        scale = np.array([unit, 1.0])
        problem = netnum.Problem(np.array([6.0, 9.0]) * scale, sparse.csc_array(routing * scale[:, None]))
        found = optimum(problem).sensitivity().jvp(capacities=[unit, 0.0])
        np.testing.assert_allclose(found["flow_rates"], [0.5, 0.25], rtol=1e-9)
        np.testing.assert_allclose(found["prices"][0] * unit, -2 / 36, rtol=1e-9)


def test_what_has_no_derivative_yet_is_refused():
    problem = netnum.Problem([6.0], [[0], [0]], flow_floor=[4.0, 0.0])
    with pytest.raises(netnum.SensitivityError, match="no sensitivity of a problem with floors"):
        netnum.solve(problem).sensitivity()
    problem = netnum.Problem([6.0], [[0], [0]], priority=[0, 1], flow_cap=4.0)
    with pytest.raises(netnum.SensitivityError, match="no sensitivity of a problem with priorities"):
        netnum.solve(problem).sensitivity()
