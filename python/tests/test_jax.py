"""The function of JAX: gradients, batches, compiled functions, and bad input. Runs where JAX is installed."""

import gc
import resource

import numpy as np
import pytest
from common import FAIR, four_flows, run_examples

import netnum

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

WEIGHT = np.array([1.0, 2.0, 0.5, 0.7])


@pytest.mark.parametrize("thing", [netnum.jax.allocate, netnum.jax.Allocation])
def test_the_examples_of_its_docstrings_run(thing):
    assert run_examples("jax", thing) > 3


@pytest.mark.parametrize("of", ["flow_rates", ("rates", "prices", "flow_rates", "objective")])
@pytest.mark.parametrize(
    ("template", "given"),
    [
        (four_flows(), {"capacities": np.array([[1.0, 2.0, 1.5], [1.1, 1.8, 1.3]]), "weight": WEIGHT, "alpha": 1.5}),
        (four_flows(netnum.MinFct(1.0)), {"size": np.arange(1.0, 5.0), "epsilon": 0.3}),
        (four_flows(), {"rate_cap": np.array([9.0, 0.3, 9.0, 9.0]), "flow_cap": np.array([9.0, 9.0, 0.2, 9.0])}),
        (four_flows(), {"coefficients": np.array([0.5, 2.0, 1.0, 0.7, 1.5, 1.0]), "weight": WEIGHT}),
    ],
)
def test_gradients_are_those_of_differences(template, given, of):
    from jax.test_util import check_grads

    def layer(*arrays):
        return netnum.jax.allocate(template, of=of, **dict(zip(given, arrays, strict=True)))

    arrays = tuple(map(jax.numpy.asarray, given.values()))
    check_grads(layer, arrays, order=1, modes=["rev"], atol=1e-6, rtol=1e-6)


def test_compiled_functions_and_batches_give_the_same():
    layer = netnum.jax.Allocation(four_flows())
    capacities = jax.numpy.asarray(np.random.default_rng(1).uniform(1, 2, (3, 3)))

    def loss(capacities, weight):
        return (layer(capacities=capacities, weight=weight)[..., :2] ** 2).sum()

    def gradients(make):
        return [np.asarray(each) for each in make(jax.grad(loss, argnums=(0, 1)))]

    one_by_one = [gradients(lambda grad, row=row: grad(row, WEIGHT)) for row in capacities]
    together = gradients(lambda grad: grad(capacities, jax.numpy.asarray(WEIGHT)))
    mapped = gradients(lambda grad: jax.vmap(grad, in_axes=(0, None))(capacities, jax.numpy.asarray(WEIGHT)))
    compiled = gradients(lambda grad: jax.jit(grad)(capacities, jax.numpy.asarray(WEIGHT)))
    of_capacities, of_weight = (np.array(each) for each in zip(*one_by_one, strict=True))
    for found in (together, compiled):
        np.testing.assert_allclose(found[0], of_capacities, atol=1e-9)
        np.testing.assert_allclose(found[1], of_weight.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(mapped[0], of_capacities, atol=1e-9)
    np.testing.assert_allclose(mapped[1], of_weight, atol=1e-9)


def test_an_empty_batch_has_empty_gradients():
    def total(capacities, weight):
        outcomes = netnum.jax.allocate(
            four_flows(), capacities=capacities, weight=weight, of=("flow_rates", "objective")
        )
        return sum(outcome.sum() for outcome in outcomes)

    of_capacities, of_weight = jax.grad(total, argnums=(0, 1))(jax.numpy.ones((0, 3)), jax.numpy.asarray(WEIGHT))
    assert of_capacities.shape == (0, 3)
    np.testing.assert_array_equal(of_weight, 0.0)


def test_an_outcome_that_is_not_used_needs_no_derivative():
    def first(alpha):
        rates, _objective = netnum.jax.allocate(four_flows(), alpha=alpha, of=("flow_rates", "objective"))
        return rates[0]

    # The objective has none where alpha is 1.
    assert np.isfinite(jax.grad(first)(jax.numpy.array([1.0, 2.0, 1.0, 1.5]))).all()


@pytest.mark.parametrize("compiled", [False, True])
def test_second_derivatives_are_refused(compiled):
    def first(weight):
        return netnum.jax.allocate(four_flows(), weight=weight)[0]

    def of_gradient(weight):
        return (jax.grad(first)(weight) ** 2).sum()

    def of_batch(weight):
        return jax.vmap(jax.hessian(first))(weight[None])

    for function in (jax.hessian(first), jax.grad(of_gradient), of_batch):
        with pytest.raises(NotImplementedError, match="no second derivatives, only gradients"):
            (jax.jit(function) if compiled else function)(jax.numpy.asarray(WEIGHT))
    # What does not go through it has them.
    mixed = jax.hessian(lambda factor: factor**3 * first(jax.numpy.asarray(WEIGHT)))(2.0)
    np.testing.assert_allclose(mixed, 12.0 * first(WEIGHT))


def test_errors_of_the_solve_are_those_of_jax():
    def rates(weight):
        return netnum.jax.allocate(template, weight=weight)

    template, weight = four_flows(), jax.numpy.asarray(WEIGHT)
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="UtilityError: flow 1 has weight -2"):
        rates(weight.at[1].set(-2.0))
    for _ in range(2):
        rates(weight)
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="UtilityError: flow 1 has weight -2"):
        rates(weight.at[1].set(-2.0))


def test_memory_does_not_grow():
    template, compiled = four_flows(), []
    gradient = jax.grad(lambda weight: netnum.jax.allocate(template, weight=weight)[0])

    def steps(count):
        for step in range(count):
            gradient(jax.numpy.asarray(WEIGHT + 1e-3 * step))
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = steps(50)
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    try:
        after = steps(300)
    finally:
        jax.monitoring.clear_event_listeners()
    assert not [event for event in compiled if "compile" in event]
    assert after - before < 8192  # KiB


def test_descent_recovers_rates_by_their_weights():
    # All contiguous paths over five links in a row, all of which are full whatever the weights are.
    paths = [range(a, b) for a in range(5) for b in range(a + 1, 6)]
    random = np.random.default_rng(3)
    template = netnum.Problem(random.uniform(1, 2, 5), paths, FAIR)
    truth = netnum.AlphaFair(1.0, weight=np.exp(random.normal(size=15)))
    observed = netnum.solve(template.with_utility(truth)).sensitivity().flow_rates
    layer = netnum.jax.Allocation(template)

    @jax.jit
    @jax.value_and_grad
    def loss(log_weight):
        return ((jax.numpy.log(layer(weight=jax.numpy.exp(log_weight))) - np.log(observed)) ** 2).sum()

    log_weight = jax.numpy.zeros(15)
    for _ in range(500):
        value, gradient = loss(log_weight)
        log_weight -= 0.05 * gradient
    assert value < 1e-6


@pytest.mark.parametrize(
    ("kind", "message", "given"),
    [
        (TypeError, "no parameter is given", {}),
        (TypeError, "weight must be an array, not list", {"weight": list(WEIGHT)}),
        (
            TypeError,
            r'weight is of float32, expected float64: jax.config.update\("jax_enable_x64", True\)',
            {"weight": WEIGHT.astype(np.float32)},
        ),
        (TypeError, "weight is of int64, expected float64$", {"weight": WEIGHT.astype(int)}),
        (TypeError, "size is given, which the utility does not have", {"size": WEIGHT}),
        (netnum.ProblemError, r"weight has shape \(3,\), expected \(..., 4\), one per flow", {"weight": WEIGHT[:3]}),
        (
            netnum.ProblemError,
            "the leading axes differ: weight",
            {"weight": np.ones((2, 4)), "capacities": np.ones((3, 3))},
        ),
        (
            (jax.errors.JaxRuntimeError, ValueError),
            "UtilityError: flow 1 has weight -2",
            {"weight": WEIGHT * [1, -1, 1, 1]},
        ),
    ],
)
def test_bad_arrays_are_named(kind, message, given):
    with pytest.raises(kind, match=message):
        netnum.jax.allocate(four_flows(), **given)
