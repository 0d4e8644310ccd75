"""Derivatives in and beside coefficients, floors and costs, against differences of optima."""

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


class Whole:
    """A problem with all that it may have, which moves in a direction."""

    def __init__(self, seed, several):
        problem, rng = drawn(seed, several)
        rates = optimum(problem).flow_rates
        # Some floors are above what the flows would get, some below, and some flows have caps and none.
        kind = rng.integers(0, 4, problem.flows)
        floor = np.choose(kind, [rates * 1.2, rates * 0.7, 0.0 * rates, 0.0 * rates])
        cap = np.choose(kind, [np.inf, np.inf, rates * 0.8, np.inf])
        paths = problem.paths
        cost = np.zeros(len(problem.group)) if problem.path_cost is None else problem.path_cost
        self.of = problem
        self.has = {
            "capacities": problem.capacities,
            "flow_floor": floor,
            "flow_cap": cap,
            "path_cost": cost + 0.1,
            "coefficients": paths.coefficients,
            "weight": problem.utility.weight,
        }
        self.direction = {
            name: rng.uniform(-1, 1, len(values)) * np.where(np.isfinite(values), values, 0.0)
            for name, values in self.has.items()
        }

    def problem(self, step=0.0):
        has = {name: values + step * self.direction[name] for name, values in self.has.items()}
        paths = self.of.paths
        paths = netnum.Paths(paths.indptr, paths.indices, group=paths.group, coefficients=has.pop("coefficients"))
        utility = netnum.AlphaFair(self.of.utility.alpha, has.pop("weight"))
        return netnum.Problem(has.pop("capacities"), paths, utility, **has)


@pytest.mark.parametrize("several", [False, True])
def test_a_change_of_everything_is_that_of_differences(several):
    compared = at_floor = 0
    for seed in range(200, 290):
        whole = Whole(seed, several)
        problem, step = whole.problem(), 1e-5
        solution = netnum.solve(problem, tol=1e-9, stop="kkt")
        if solution.status == "infeasible":
            continue
        sensitivity = solution.sensitivity()
        if sensitivity.kinks:
            continue
        floors = problem.flow_floor
        at_floor += floors is not None and (abs(sensitivity.flow_rates - floors) < 1e-9).any()
        ahead, behind = (optimum(whole.problem(side)) for side in (step, -step))
        for name in whole.direction:
            one = Whole(seed, several)
            one.direction = {other: by * (other == name) for other, by in whole.direction.items()}
            one_ahead, one_behind = (optimum(one.problem(side)) for side in (step, -step))
            found = sensitivity.jvp(**{name: whole.direction[name]})
            rise = (one_ahead.flow_rates - one_behind.flow_rates) / (2 * step)
            np.testing.assert_allclose(
                found["flow_rates"], rise, atol=2e-3 * max(1, abs(rise).max()), err_msg=f"{name} of seed {seed}"
            )
            gain = (one_ahead.objective - one_behind.objective) / (2 * step)
            assert found["objective"] == pytest.approx(gain, rel=1e-3, abs=1e-4), f"{name} of seed {seed}"
        found = sensitivity.jvp(**whole.direction)
        for outcome in ("flow_rates", "prices"):
            rise = (getattr(ahead, outcome) - getattr(behind, outcome)) / (2 * step)
            np.testing.assert_allclose(
                found[outcome], rise, atol=2e-3 * max(1, abs(rise).max()), err_msg=f"{outcome} of seed {seed}"
            )
        compared += 1
    assert compared >= 30 and at_floor >= 10


@pytest.mark.parametrize("several", [False, True])
def test_the_gradient_of_everything_is_the_transpose(several):
    compared = 0
    for seed in range(300, 360):
        whole = Whole(seed, several)
        problem = whole.problem()
        solution = netnum.solve(problem, tol=1e-9, stop="kkt")
        if solution.status == "infeasible":
            continue
        sensitivity, rng = solution.sensitivity(), np.random.default_rng(seed)
        if sensitivity.kinks:
            continue
        of_rates, of_prices = rng.normal(size=problem.flows), rng.normal(size=problem.links)
        back = sensitivity.vjp(flow_rates=of_rates, prices=of_prices, objective=0.7)
        for name, by in whole.direction.items():
            ahead = sensitivity.jvp(**{name: by})
            forward = of_rates @ ahead["flow_rates"] + of_prices @ ahead["prices"] + 0.7 * ahead["objective"]
            gradient = back.get(name, np.zeros(len(by)))
            scale = abs(gradient * by).sum() + 1
            assert gradient @ by == pytest.approx(forward, abs=1e-6 * scale), f"{name} of seed {seed}"
        compared += 1
    assert compared >= 20


def test_closed_forms_of_floors_costs_and_coefficients():
    # The floor of the first takes from the second, and costs 1/4 − 1/2 per unit.
    sensitivity = netnum.solve(netnum.Problem([6.0], [[0], [0]], flow_floor=[4.0, 0.0])).sensitivity()
    change = sensitivity.jvp(flow_floor=[1.0, 0.0])
    np.testing.assert_allclose(change["flow_rates"], [1.0, -1.0], atol=1e-9)
    assert change["objective"] == pytest.approx(-0.25, abs=1e-9)
    assert sensitivity.vjp(flow_rates=[0.0, 1.0])["flow_floor"].tolist() == pytest.approx([-1.0, 0.0], abs=1e-9)
    assert sensitivity.jvp(weight=[1.0, 0.0])["flow_rates"].tolist() == pytest.approx([0.0, 0.0], abs=1e-9)
    # A floor that does not bind changes nothing.
    idle = netnum.solve(netnum.Problem([6.0], [[0], [0]], flow_floor=[1.0, 0.0])).sensitivity()
    assert not idle.kinks and not idle.jvp(flow_floor=[1.0, 0.0])["flow_rates"].any()
    # 1/x = 1/2: a cost moves the rate by −x² where no link is full.
    free = netnum.solve(netnum.Problem([9.0], [[0]], path_cost=[0.5])).sensitivity()
    assert free.jvp(path_cost=1.0)["flow_rates"][0] == pytest.approx(-4.0, abs=1e-9)
    assert free.vjp(flow_rates=1.0)["path_cost"][0] == pytest.approx(-4.0, abs=1e-9)
    # y = c/a.
    lossy = netnum.solve(netnum.Problem([6.0], netnum.Paths([0, 1], [0], coefficients=[1.5]))).sensitivity()
    assert lossy.jvp(coefficients=1.0)["flow_rates"][0] == pytest.approx(-6 / 1.5**2, abs=1e-9)
    assert lossy.vjp(prices=1.0)["coefficients"][0] == pytest.approx(0.0, abs=1e-9)
    assert lossy.vjp(objective=1.0)["coefficients"][0] == pytest.approx(-1 / 1.5, abs=1e-9)


def test_a_floor_that_just_binds_has_two_sides():
    problem = netnum.Problem([6.0], [[0], [0]], flow_floor=[3.0, 0.0])
    sensitivity = netnum.solve(problem).sensitivity()
    assert sensitivity.kinks == ("flow 0 is at a floor, a cap or a breakpoint with a multiplier of 0",)
    up, down = (sensitivity.jvp(flow_floor=[side, 0.0])["flow_rates"] for side in (1.0, -1.0))
    np.testing.assert_allclose(up, [1.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(down, [0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(sensitivity.jvp(capacities=1.0)["flow_rates"], [0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(sensitivity.jvp(capacities=-1.0)["flow_rates"], [0.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(sensitivity.vjp(flow_rates=[0, 1], at_kink="hold")["flow_floor"], [-1, 0], atol=1e-9)
    np.testing.assert_allclose(sensitivity.vjp(flow_rates=[0, 1], at_kink="release")["flow_floor"], 0, atol=1e-9)


@pytest.mark.parametrize("rate", [1.0, 4.0])
def test_a_fixed_rate_moves_with_floor_and_cap_together(rate):
    problem = netnum.Problem([6.0], [[0], [0]], flow_floor=[rate, 0.0], flow_cap=[rate, np.inf])
    sensitivity = netnum.solve(problem).sensitivity()
    assert sensitivity.kinks == ("flow 0 is at two bounds",)
    change = sensitivity.jvp(flow_floor=[1.0, 0.0], flow_cap=[1.0, 0.0])
    np.testing.assert_allclose(change["flow_rates"], [1.0, -1.0], atol=1e-9)
    assert change["objective"] == pytest.approx(1 / rate - 1 / (6 - rate), abs=1e-8)
    np.testing.assert_allclose(sensitivity.jvp(capacities=1.0)["flow_rates"], [0.0, 1.0], atol=1e-9)
    with pytest.raises(netnum.SensitivityError, match="flow 0 is at two bounds"):
        sensitivity.jvp(flow_floor=[1.0, 0.0])
    held = sensitivity.vjp(flow_rates=[1.0, 0.0], at_kink="hold")
    assert held["flow_floor"][0] + held["flow_cap"][0] == pytest.approx(1.0, abs=1e-9)


def test_what_has_no_derivative_is_refused():
    problem = netnum.Problem([6.0], [[0], [0]], priority=[0, 1], flow_cap=4.0)
    with pytest.raises(netnum.SensitivityError, match="no sensitivity of a problem with priorities"):
        netnum.solve(problem).sensitivity()
    infeasible = netnum.solve(netnum.Problem([6.0], [[0], [0]], flow_floor=4.0))
    with pytest.raises(netnum.SensitivityError, match='its status is "infeasible"'):
        infeasible.sensitivity()
    sensitivity = netnum.solve(netnum.Problem([6.0], [[0], [0]])).sensitivity()
    with pytest.raises(netnum.ProblemError, match=r"coefficients has shape \(3,\), expected \(2,\), one per link of"):
        sensitivity.jvp(coefficients=[1.0, 2.0, 3.0])


def test_a_layer_takes_floors_and_costs_and_keeps_those_of_the_problem():
    from netnum._layer import Layer

    net = netnum.topology.from_edges("A B 6")
    problem = netnum.Problem(net, [["A", "B"], ["A", "B"]], flow_floor=[4.0, 0.0], path_cost=[0.0, 0.1])
    layer = Layer(problem, ("flow_rates", "objective"), "refuse", 1)
    rates = layer.outcome("flow_rates", layer.solve({"capacities": np.array([[6.0, 6.0]])}), (1,))
    np.testing.assert_allclose(rates, [[4.0, 2.0]], atol=1e-9)
    given = {"flow_floor": np.array([[4.0, 0.0], [0.0, 4.5]]), "path_cost": np.zeros((2, 2))}
    optima = layer.solve(given)
    np.testing.assert_allclose(layer.outcome("flow_rates", optima, (2,)), [[4.0, 2.0], [1.5, 4.5]], atol=1e-9)
    floors, costs = layer.gradients(optima, list(given), {"objective": np.ones(2)}, (2,))
    np.testing.assert_allclose(floors, [[-0.25, 0.0], [0.0, 1 / 4.5 - 1 / 1.5]], atol=1e-9)
    np.testing.assert_allclose(costs, [[-4.0, -2.0], [-1.5, -4.5]], atol=1e-9)
    paid = layer.outcome("objective", layer.solve({"path_cost": np.array([[0.5, 0.1]])}), (1,))
    assert paid[0] == pytest.approx(np.log(4) + np.log(2) - 2.2, abs=1e-9)
