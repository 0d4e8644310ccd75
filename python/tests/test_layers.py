"""What the layers of PyTorch and JAX share, and how they are imported."""

import copy
import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

import netnum
from netnum._layer import Layer

FAIR = netnum.AlphaFair(1.0)


def test_frameworks_are_imported_when_they_are_used():
    code = "import netnum, sys; sys.exit(bool({'torch', 'jax', 'pandas', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="module 'netnum' has no attribute 'tensorflow'"):
        _ = netnum.tensorflow


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_without_a_framework_the_error_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"netnum.{name}", raising=False)
    with pytest.raises(ImportError, match=rf'pip install "netnum\[{name}\]"'):
        importlib.import_module(f"netnum.{name}")


def test_a_batch_is_solved_and_differentiated():
    # A topology, several paths, and caps: what a template may have.
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    paths, group = net.k_shortest_paths(["A", "B", "A"], ["C", "A", "B"], 2)
    template = netnum.Problem(net, paths, FAIR, group=group, flow_cap=[20.0, 2.0, np.inf])
    layer = Layer(template, ("flow_rates", "objective"), "refuse", threads=2)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, (5, 3))
    for _ in range(2):
        optima = layer.solve({"weight": weight})
        rates, objective = layer.outcomes(optima, (5,))
        toward = {"flow_rates": np.ones((5, 3)), "objective": np.ones(5)}
        (gradient,) = layer.gradients(optima, ["weight"], toward, (5,))
        for row in range(5):
            utility = netnum.AlphaFair(1.0, weight=weight[row])
            alone = netnum.solve(template.with_utility(utility))
            expected = alone.sensitivity()
            np.testing.assert_allclose(rates[row], expected.flow_rates, rtol=1e-9)
            np.testing.assert_allclose(objective[row], alone.objective, rtol=1e-5)
            np.testing.assert_allclose(
                gradient[row], expected.vjp(flow_rates=1.0, objective=1.0)["weight"], rtol=1e-6, atol=1e-9
            )


@pytest.mark.parametrize("at", [1.0, np.array([0.5, 2.0, 1.0, 0.3, 1.5, 1.0, 0.8])])
def test_derivatives_in_coefficients_are_those_of_differences(at):
    # Over several paths, with a floor that is held and a cap that is not; all ones too, which no problem stores.
    template = netnum.Problem(
        [6.0, 4.0, 5.0],
        [[0, 1], [2], [0], [1, 2], [2]],
        netnum.AlphaFair(2.0, [1.0, 0.5, 2.0, 1.0]),
        group=[0, 0, 1, 2, 3],
        flow_floor=[0.0, 3.2, 0.0, 0.0],
        flow_cap=9.0,
    )
    layer = Layer(template, ("flow_rates", "objective"), "refuse", threads=1)
    at = np.broadcast_to(at, 7).astype(float)
    toward = {"flow_rates": np.array([[0.3, -1.0, 0.7, 2.0]]), "objective": np.array([0.4])}

    def outcome(coefficients):
        rates, objective = layer.outcomes(layer.solve({"coefficients": coefficients[None]}), (1,))
        return float((toward["flow_rates"] * rates).sum() + toward["objective"] @ objective)

    optima = layer.solve({"coefficients": at[None]})
    assert not optima[0].kinks
    (gradient,) = layer.gradients(optima, ["coefficients"], toward, (1,))
    steps = 1e-5 * np.eye(7)
    differences = [(outcome(at + step) - outcome(at - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient[0], differences, atol=1e-7)


def test_coefficients_of_another_number_are_refused():
    layer = Layer(netnum.Problem([6.0, 4.0], [[0, 1], [1]], FAIR), "flow_rates", "refuse", threads=1)
    message = "coefficients has shape (2,), expected (..., 3), one per link of every path, or one number"
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        layer.full_shapes({"coefficients": (2,)})


def test_a_call_starts_from_the_prices_of_the_last_one(monkeypatch):
    starts = []

    def solve_many(problems, *, warm_start, threads):
        starts.append(warm_start)
        return netnum.solve_many(problems, warm_start=warm_start, threads=threads)

    monkeypatch.setattr("netnum._layer.solve_many", solve_many)
    layer = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), "flow_rates", "refuse", threads=1, remembers=True)
    for rows in (2, 2, 3):
        layer.solve({"weight": np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])[:rows]})
    assert starts[0] is None
    np.testing.assert_allclose(starts[1], [[1.0], [4 / 3]], rtol=1e-3)
    # Which problem of another number of them is near which one is not known.
    assert starts[2] is None
    forgetful = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), "flow_rates", "refuse", threads=1)
    for _ in range(2):
        forgetful.solve({"weight": np.array([[1.0, 2.0]])})
        assert starts[-1] is None


def test_prices_of_a_problem_that_is_not_solved_are_not_kept(monkeypatch):
    starts = []

    def solve_many(problems, *, warm_start, threads):
        starts.append(warm_start)
        # An iteration is too few for the second one.
        limits = [1 if row and len(starts) == 1 else 20000 for row in range(len(problems))]
        return [netnum.solve(one, "ned", max_iterations=limit) for one, limit in zip(problems, limits, strict=True)]

    monkeypatch.setattr("netnum._layer.solve_many", solve_many)
    template = netnum.Problem([1.0, 2.0, 1.5], [[0, 1], [0], [1, 2], [2]], FAIR)
    layer = Layer(template, "flow_rates", "refuse", threads=1, remembers=True)
    weight = {"weight": np.array([[1.0, 2.0, 0.5, 0.7], [3.0, 1.0, 0.2, 5.0]])}
    with pytest.raises(netnum.SensitivityError, match=r"problem 1: .*not certified"):
        layer.solve(weight)
    layer.solve(weight)
    first, second = starts[1]
    assert first.shape == (3,) and second is None


def test_an_empty_batch_has_empty_gradients():
    layer = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), ("flow_rates", "objective"), "refuse", None)
    optima = layer.solve({"weight": np.ones((0, 2, 2))})
    rates, objective = layer.outcomes(optima, (0, 2))
    assert rates.shape == (0, 2, 2) and objective.shape == (0, 2)
    toward = {"flow_rates": np.ones((0, 2, 2)), "objective": np.ones((0, 2))}
    (gradient,) = layer.gradients(optima, ["weight"], toward, (0, 2))
    assert gradient.shape == (0, 2, 2)


def test_an_objective_without_a_derivative_in_alpha_is_refused():
    layer = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), ("flow_rates", "objective"), "refuse", None)
    optima = layer.solve({"alpha": np.array([[1.5, 2.0], [2.0, 1.0]])})
    toward = {"flow_rates": np.ones((2, 2)), "objective": np.array([1.0, 0.0])}
    (gradient,) = layer.gradients(optima, ["alpha"], toward, (2,))
    assert np.isfinite(gradient).all()
    toward["objective"] = np.ones(2)
    with pytest.raises(
        netnum.SensitivityError, match=r"problem 1: .* no derivative in alpha where that is 1, as of flow 1"
    ):
        layer.gradients(optima, ["alpha"], toward, (2,))
    # In the weights it has one.
    layer = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), "objective", "refuse", None)
    (gradient,) = layer.gradients(layer.solve({"weight": np.ones((1, 2))}), ["weight"], {"objective": np.ones(1)}, (1,))
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("name", "utility", "has"),
    [
        ("alpha", netnum.BandwidthFunction([0.0, 1.0], [0.0, 2.0]), "none of its parameters can be given"),
        ("size", FAIR, "its parameters are weight, alpha"),
        ("weight", netnum.AlphaFair(2.0, scale=1.0), "its parameters are scale, alpha"),
        ("alpha", netnum.MinFct(1.0), "its parameters are size, epsilon"),
    ],
)
def test_parameters_that_the_utility_does_not_have_are_refused(name, utility, has):
    layer = Layer(netnum.Problem([3.0], [[0], [0]], utility), "flow_rates", "refuse", None)
    with pytest.raises(TypeError, match=f"{name} is given, which the utility does not have: .*; {has}"):
        layer.check_names([name])


def test_layers_that_remember_nothing_are_equal_where_their_arguments_are():
    problem = netnum.Problem([3.0], [[0], [0]], FAIR)
    one = Layer(problem, "flow_rates", "refuse", 2)
    assert one == Layer(problem, "flow_rates", "refuse", 2) and hash(one) == hash(
        Layer(problem, "flow_rates", "refuse", 2)
    )
    others = [
        Layer(netnum.Problem([3.5], [[0], [0]], FAIR), "flow_rates", "refuse", 2),
        Layer(problem, ("flow_rates",), "refuse", 2),
        Layer(problem, "flow_rates", "hold", 2),
        Layer(problem, "flow_rates", "refuse", 1),
        Layer(problem, "flow_rates", "refuse", 2, remembers=True),
    ]
    assert one not in others
    remembers = others[-1]
    assert remembers != Layer(problem, "flow_rates", "refuse", 2, remembers=True)
    assert copy.deepcopy(remembers) != remembers


def test_caps_that_are_all_infinite_have_no_derivative():
    layer = Layer(netnum.Problem([2.0], [[0], [0]], FAIR), "flow_rates", "refuse", None)
    optima = layer.solve({"flow_cap": np.full((1, 2), np.inf)})
    (gradient,) = layer.gradients(optima, ["flow_cap"], {"flow_rates": np.ones((1, 2))}, (1,))
    np.testing.assert_array_equal(gradient, [[0.0, 0.0]])
