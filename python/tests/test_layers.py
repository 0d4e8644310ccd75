"""What the layers of PyTorch and JAX share, and how they are imported."""

import importlib
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
        (gradient,) = layer.gradients(optima, ["weight"], {"flow_rates": np.ones((5, 3)), "objective": np.ones(5)})
        for row in range(5):
            utility = netnum.AlphaFair(1.0, weight=weight[row])
            alone = netnum.solve(template.with_utility(utility))
            expected = alone.sensitivity()
            np.testing.assert_allclose(rates[row], expected.flow_rates, rtol=1e-9)
            np.testing.assert_allclose(objective[row], alone.objective, rtol=1e-5)
            np.testing.assert_allclose(
                gradient[row], expected.vjp(flow_rates=1.0, objective=1.0)["weight"], rtol=1e-6, atol=1e-9
            )


def test_a_call_starts_from_the_prices_of_the_last_one(monkeypatch):
    starts = []

    def solve_many(problems, *, warm_start, threads):
        starts.append(warm_start)
        return netnum.solve_many(problems, warm_start=warm_start, threads=threads)

    monkeypatch.setattr("netnum._layer.solve_many", solve_many)
    layer = Layer(netnum.Problem([3.0], [[0], [0]], FAIR), "flow_rates", "refuse", threads=1)
    for rows in (2, 2, 3):
        layer.solve({"weight": np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])[:rows]})
    assert starts[0] is None
    np.testing.assert_allclose(starts[1], [[1.0], [4 / 3]], rtol=1e-3)
    # Of another number of problems the first one's prices are the start for all.
    np.testing.assert_allclose(starts[2], [[1.0]] * 3, rtol=1e-3)


def test_caps_that_are_all_infinite_have_no_derivative():
    layer = Layer(netnum.Problem([2.0], [[0], [0]], FAIR), "flow_rates", "refuse", None)
    optima = layer.solve({"flow_cap": np.full((1, 2), np.inf)})
    (gradient,) = layer.gradients(optima, ["flow_cap"], {"flow_rates": np.ones((1, 2))})
    np.testing.assert_array_equal(gradient, [[0.0, 0.0]])
