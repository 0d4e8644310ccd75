"""The layer of PyTorch: gradients, batches, training, and bad input. Runs where PyTorch is installed."""

import gc
import resource
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from common import FAIR, at_optimum, four_flows, run_examples

import netnum

torch = pytest.importorskip("torch", reason="PyTorch is not installed, which is left to whoever has it")


def tensor(values, requires_grad=False):
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


@pytest.mark.parametrize("thing", [netnum.torch.allocate, netnum.torch.Allocation])
def test_the_examples_of_its_docstrings_run(thing):
    assert run_examples("torch", thing) > 4


@pytest.mark.parametrize("of", ["flow_rates", ("rates", "prices", "flow_rates", "objective")])
@pytest.mark.parametrize(
    ("template", "given"),
    [
        (
            four_flows(),
            {
                "capacities": [[1.0, 2.0, 1.5], [1.1, 1.8, 1.3]],
                "weight": [1.0, 2.0, 0.5, 0.7],
                "alpha": [1.5, 0.6, 2.0, 1.2],
            },
        ),
        (four_flows(netnum.AlphaFair(2.0, scale=1.0)), {"scale": [[1.0, 2.0, 0.5, 0.7]], "alpha": 1.7}),
        (four_flows(netnum.MinFct(1.0)), {"size": [1.0, 2.0, 3.0, 4.0], "epsilon": 0.3}),
        (four_flows(), {"rate_cap": [9.0, 0.3, 9.0, 9.0], "flow_cap": [[9.0, 9.0, 0.2, 9.0], [9.0, 9.0, 9.0, 0.4]]}),
        (four_flows(), {"coefficients": [[0.5, 2.0, 1.0, 0.7, 1.5, 1.0], [1.0] * 6], "weight": [1.0, 2.0, 0.5, 0.7]}),
        (
            netnum.Problem([1.0, 2.0], [[0], [1], [1]], FAIR, group=[0, 0, 1]),
            {"capacities": [1.0, 2.0], "weight": [1.0, 0.4]},
        ),
    ],
)
def test_gradcheck_passes(template, given, of):
    names = list(given)
    tensors = [tensor(values, requires_grad=True) for values in given.values()]

    def layer(*tensors):
        return netnum.torch.allocate(template, of=of, **dict(zip(names, tensors, strict=True)))

    assert torch.autograd.gradcheck(layer, tensors)


def test_a_batch_is_the_problems_one_by_one():
    random = np.random.default_rng(1)
    capacities = tensor(random.uniform(1, 2, (2, 3, 3)), requires_grad=True)
    weight = tensor(random.uniform(1, 2, (3, 4)), requires_grad=True)
    rates, objective = netnum.torch.allocate(
        four_flows(), capacities=capacities, weight=weight, of=("flow_rates", "objective"), threads=2
    )
    assert rates.shape == (2, 3, 4) and objective.shape == (2, 3)
    toward = tensor(random.normal(size=(2, 3, 4)))
    (rates * toward).sum().backward()
    of_weight = np.zeros((3, 4))
    for i in range(2):
        for j in range(3):
            capacity, utility = (
                capacities[i, j].detach().numpy(),
                netnum.AlphaFair(1.0, weight=weight[j].detach().numpy()),
            )
            one = netnum.solve(four_flows(utility).with_capacities(capacity))
            sensitivity = one.sensitivity()
            np.testing.assert_allclose(rates[i, j].detach().numpy(), sensitivity.flow_rates, rtol=1e-9)
            np.testing.assert_allclose(objective[i, j].item(), one.objective, rtol=1e-5)
            gradient = sensitivity.vjp(flow_rates=toward[i, j].numpy())
            np.testing.assert_allclose(capacities.grad[i, j].numpy(), gradient["capacities"], atol=1e-9)
            of_weight[j] += gradient["weight"]
    np.testing.assert_allclose(weight.grad.numpy(), of_weight, atol=1e-9)


def test_training_recovers_rates_by_their_weights():
    # All contiguous paths over five links in a row, all of which are full whatever the weights are.
    paths = [range(a, b) for a in range(5) for b in range(a + 1, 6)]
    random = np.random.default_rng(3)
    template = netnum.Problem(random.uniform(1, 2, 5), paths, FAIR)
    truth = netnum.AlphaFair(1.0, weight=np.exp(random.normal(size=15)))
    observed = tensor(at_optimum(template.with_utility(truth)).flow_rates)
    layer = netnum.torch.Allocation(template)
    log_weight = tensor(np.zeros(15), requires_grad=True)
    optimizer = torch.optim.Adam([log_weight], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((layer(weight=log_weight.exp()) / observed).log() ** 2).mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-6
    rates = layer(weight=log_weight.exp()).detach()
    np.testing.assert_allclose(rates.numpy(), observed.numpy(), rtol=1e-2)


@pytest.mark.slow
def test_memory_does_not_grow():
    layer = netnum.torch.Allocation(four_flows())
    weight = tensor([1.0, 2.0, 0.5, 0.7], requires_grad=True)

    def steps(count):
        for _ in range(count):
            weight.grad = None
            layer(weight=weight).sum().backward()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = steps(1000)
    after = steps(9000)
    assert after - before < 4096  # KiB


def test_an_empty_batch_has_empty_gradients():
    capacities = tensor(np.ones((0, 3)), requires_grad=True)
    weight = tensor([1.0, 2.0, 0.5, 0.7], requires_grad=True)
    rates, objective = netnum.torch.allocate(
        four_flows(), capacities=capacities, weight=weight, of=("flow_rates", "objective")
    )
    assert rates.shape == (0, 4) and objective.shape == (0,)
    (rates.sum() + objective.sum()).backward()
    assert capacities.grad.shape == (0, 3)
    np.testing.assert_array_equal(weight.grad.numpy(), 0.0)


def test_an_objective_without_a_derivative_in_alpha_is_refused():
    alpha = tensor([2.0, 1.5, 1.0, 2.0], requires_grad=True)
    objective = netnum.torch.allocate(four_flows(), alpha=alpha, of="objective")
    with pytest.raises(netnum.SensitivityError, match="no derivative in alpha where that is 1, as of flow 2"):
        objective.backward()


def test_second_derivatives_are_refused():
    def rates(weight):
        return netnum.torch.allocate(netnum.Problem([2.0], [[0], [0]], FAIR), weight=weight)

    weight = tensor([1.0, 3.0])
    for loss in (lambda weight: rates(weight)[0], lambda weight: (rates(weight) ** 2).sum()):
        with pytest.raises(NotImplementedError, match="no second derivatives"):
            torch.autograd.functional.hessian(loss, weight)
    weight.requires_grad_()
    (slope,) = torch.autograd.grad(rates(weight)[0] + (weight**3).sum(), weight, create_graph=True)
    np.testing.assert_allclose(slope.detach(), [0.375 + 3.0, -0.125 + 27.0])


def test_threads_take_gradients_of_one_graph():
    weight = tensor([1.0, 2.0, 0.5, 0.7], requires_grad=True)
    rates = netnum.torch.allocate(four_flows(), weight=weight)

    def gradients(flow):
        found = [torch.autograd.grad(rates[flow], weight, retain_graph=True)[0].numpy() for _ in range(50)]
        return np.array(found)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(gradients, range(4)))
    for flow, found in enumerate(together):
        np.testing.assert_array_equal(found, gradients(flow))


def test_without_gradients_the_rates_are_the_same():
    weight = tensor([1.0, 2.0, 0.5, 0.7], requires_grad=True)
    with torch.no_grad():
        rates = netnum.torch.allocate(four_flows(), weight=weight)
    assert not rates.requires_grad
    np.testing.assert_array_equal(rates.numpy(), netnum.torch.allocate(four_flows(), weight=weight).detach().numpy())


def test_a_kink_takes_the_side_that_is_named():
    template = netnum.Problem([2.0], [[0], [0]], FAIR, flow_cap=[1.0, np.inf])
    slopes = {}
    for side in ("hold", "release"):
        capacities = tensor([2.0], requires_grad=True)
        netnum.torch.allocate(template, capacities=capacities, at_kink=side)[0].backward()
        slopes[side] = capacities.grad.item()
    assert slopes == pytest.approx({"hold": 0.0, "release": 0.5}, abs=1e-9)
    capacities = tensor([2.0], requires_grad=True)
    rates = netnum.torch.allocate(template, capacities=capacities)
    with pytest.raises(netnum.SensitivityError, match=r"here: flow 0 .*; at_kink takes a side, hold or release"):
        rates[0].backward()


WEIGHT = [1.0, 2.0, 0.5, 0.7]


@pytest.mark.parametrize(
    ("kind", "message", "given"),
    [
        (TypeError, "no parameter is given", {}),
        (TypeError, "no parameter 'weights', did you mean 'weight'?", {"weights": tensor(WEIGHT)}),
        (TypeError, "weight must be a tensor, not list", {"weight": WEIGHT}),
        (TypeError, r"weight is a tensor of torch.float32 on cpu, expected", {"weight": tensor(WEIGHT).float()}),
        (
            TypeError,
            "of torch.float64 on meta, expected",
            {"weight": torch.empty(4, dtype=torch.float64, device="meta")},
        ),
        (TypeError, "torch.sparse_coo, expected a dense one", {"weight": tensor(WEIGHT).to_sparse()}),
        (TypeError, "size is given, which the utility does not have", {"size": tensor(WEIGHT)}),
        (
            netnum.ProblemError,
            r"weight has shape \(3,\), expected \(..., 4\), one per flow, or one number",
            {"weight": tensor([1.0, 2.0, 3.0])},
        ),
        (
            netnum.ProblemError,
            r"the leading axes differ: weight \(2, 4\), capacities \(3, 3\)",
            {"weight": tensor([WEIGHT] * 2), "capacities": tensor([[1.0] * 3] * 3)},
        ),
        (netnum.UtilityError, "^flow 1 has weight -2", {"weight": tensor([1.0, -2.0, 1.0, 1.0])}),
        (netnum.UtilityError, "^problem 1: flow 0 has weight 0", {"weight": tensor([WEIGHT, [0.0] * 4])}),
        (
            netnum.ProblemError,
            "^problem 1: link 2 has capacity NaN",
            {"capacities": tensor([[1.0] * 3, [1, 1, np.nan]])},
        ),
        (netnum.SensitivityError, "no sensitivity of max-min rates; AlphaFair", {"alpha": tensor(np.inf)}),
    ],
)
def test_bad_tensors_are_named(kind, message, given):
    with pytest.raises(kind, match=message):
        netnum.torch.allocate(four_flows(), **given)


@pytest.mark.parametrize(
    ("kind", "message", "template", "settings"),
    [
        (TypeError, "problem must be a Problem, not list", [1.0], {}),
        (netnum.NumError, "of names 'loads', expected 'rates'", four_flows(), {"of": "loads"}),
        (netnum.NumError, "of is empty", four_flows(), {"of": ()}),
        (netnum.NumError, "at_kink is 'up', expected 'refuse'", four_flows(), {"at_kink": "up"}),
        (netnum.NumError, "threads is 0", four_flows(), {"threads": 0}),
        (TypeError, "utilities of their own", four_flows([FAIR] * 4), {}),
        (netnum.SensitivityError, "no sensitivity of linear", four_flows(netnum.Linear(1.0)), {}),
    ],
)
def test_bad_layers_are_refused(kind, message, template, settings):
    with pytest.raises(kind, match=message):
        netnum.torch.allocate(template, weight=tensor(WEIGHT), **settings)


@pytest.mark.skipif(not hasattr(torch, "compiler"), reason="PyTorch 1 has no compiler")
def test_a_compiled_function_has_the_layer_in_it():
    def loss(weight):
        return (netnum.torch.allocate(four_flows(), weight=2.0 * weight) ** 2).sum()

    gradients = []
    for function in (loss, torch.compile(loss, backend="eager")):
        weight = tensor([1.0, 2.0, 0.5, 0.7], requires_grad=True)
        function(weight).backward()
        gradients.append(weight.grad.numpy())
    np.testing.assert_array_equal(*gradients)
