"""Max-min from an earlier solution, and approximate rates."""

import copy
import pickle

import numpy as np
import pytest

import netnum

FAIR = netnum.AlphaFair(np.inf)


def backbone(seed=1, flows=150):
    """Flows with demands over three paths each in a real network."""
    rng = np.random.default_rng(seed)
    net = netnum.topology.backbone("nsfnet")
    pairs = [rng.choice(14, 2, replace=False) for _ in range(flows)]
    paths, group = net.k_shortest_paths([int(one) for one, _ in pairs], [int(other) for _, other in pairs], 3)
    demands = rng.lognormal(0.0, 1.0, flows) * net.capacities.mean() / 10
    return netnum.Problem(net, paths, FAIR, group=group, flow_cap=demands), demands


def several(**others):
    return netnum.Problem([1.0, 2.0], [[0], [1], [1]], FAIR, group=[0, 0, 1], **others)


def test_rates_are_an_array_with_its_unfairness():
    rates = netnum.max_min(several())
    assert isinstance(rates, np.ndarray)
    assert (rates.status, rates.shape) == ("optimal", (3,))
    assert rates.unfairness <= 1e-12
    np.testing.assert_allclose(rates.flow_rates, [1.5, 1.5])
    assert repr(rates).startswith("MaxMinRates(optimal, 2 flows, 3 paths, unfairness at most ")
    assert str(rates) == str(rates.rates)
    for plain in (rates.rates, rates[:2], 2 * rates, rates + rates, np.sqrt(rates), rates > 1):
        assert type(plain) is np.ndarray
    assert type(rates.sum()) is np.float64
    assert type(rates[0]) is np.float64
    assert rates.sum() == pytest.approx(3.0)


def test_changed_demands_are_met_from_the_solution_before():
    problem, demands = backbone()
    rng = np.random.default_rng(2)
    rates = netnum.max_min(problem)
    for _ in range(10):
        demands = np.where(rng.random(len(demands)) < 0.05, demands * rng.uniform(0.5, 2.0, len(demands)), demands)
        problem = problem.with_flow_caps(demands)
        rates = netnum.max_min(problem, start=rates)
        expected = netnum.max_min(problem)
        assert rates.unfairness <= 1e-8
        np.testing.assert_allclose(rates.flow_rates, expected.flow_rates, rtol=1e-9)
        assert (problem.loads(rates) <= problem.capacities * (1 + 1e-12)).all()


def test_capacities_and_weights_may_have_changed_too():
    rates = netnum.max_min(several())
    other = netnum.Problem([0.0, 3.0], [[0], [1], [1]], netnum.AlphaFair(np.inf, [1.0, 2.0]), group=[0, 0, 1])
    np.testing.assert_allclose(netnum.max_min(other, start=rates).flow_rates, [1.0, 2.0], rtol=1e-9)


def test_a_start_of_other_paths_is_refused():
    rates = netnum.max_min(several())
    other = netnum.Problem([1.0, 2.0], [[0], [1], [0]], FAIR, group=[0, 0, 1])
    with pytest.raises(netnum.ProblemError, match="start does not fit the problem: path 2 crosses other links there"):
        netnum.max_min(other, start=rates)
    fewer = netnum.Problem([1.0, 2.0], [[0], [1]], FAIR, group=[0, 0])
    with pytest.raises(netnum.ProblemError, match="it is of 2 flows, the problem has 1"):
        netnum.max_min(fewer, start=rates)
    with pytest.raises(TypeError, match="start must be what max_min has returned, not ndarray"):
        netnum.max_min(several(), start=np.ones(3))


@pytest.mark.parametrize(
    "other",
    [
        *(np.zeros_like, np.empty_like, np.sort, np.array, np.ndarray.copy, np.ravel),
        *(lambda rates: rates.astype(int), lambda rates: rates.reshape(1, 3), lambda rates: rates.view()),
    ],
)
def test_other_arrays_do_not_take_the_proof_along(other):
    array = other(netnum.max_min(several()))
    assert "optimal" not in repr(array)
    assert getattr(array, "status", "unknown") == "unknown"


def test_rates_cannot_be_written_to():
    rates = netnum.max_min(several())
    for array in (rates, rates.rates, rates.flow_rates):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    changed = rates.copy()
    changed[0] = 7.0
    assert changed[0] == 7.0 != rates[0]


def test_rates_are_copied_and_pickled():
    problem = several()
    rates = netnum.max_min(problem)
    for again in (pickle.loads(pickle.dumps(rates)), copy.copy(rates), copy.deepcopy(rates)):
        np.testing.assert_array_equal(again, rates)
        np.testing.assert_array_equal(again.flow_rates, rates.flow_rates)
        assert (repr(again), again.status) == (repr(rates), "optimal")
        # What has been pickled has nothing to start from.
        np.testing.assert_allclose(netnum.max_min(problem, start=again).flow_rates, [1.5, 1.5])


def test_approximate_rates_are_feasible_and_have_their_proof():
    problem, _ = backbone()
    near = netnum.max_min(problem, accuracy=0.05)
    exact = netnum.max_min(problem)
    assert (problem.loads(near) <= problem.capacities * (1 + 1e-12)).all()
    assert 0 <= near.unfairness <= 1
    assert near.status == ("optimal" if near.unfairness <= 1e-5 else "approximate")
    assert near.flow_rates.min() >= (1 - near.unfairness) * exact.flow_rates.min() * (1 - 1e-9)


def test_one_path_per_flow_is_exact_at_any_accuracy():
    problem = netnum.Problem([1.0], [[0], [0]], FAIR)
    near = netnum.max_min(problem, accuracy=0.5)
    np.testing.assert_array_equal(near, [0.5, 0.5])
    assert repr(near).startswith("MaxMinRates(optimal, 2 flows, unfairness at most ")


@pytest.mark.parametrize(("accuracy", "shown"), [(-0.05, "-0.05"), (0, "0"), (1.0, "1"), (float("nan"), "NaN")])
def test_an_accuracy_out_of_its_range_is_named(accuracy, shown):
    with pytest.raises(netnum.NumError) as caught:
        netnum.max_min(several(), accuracy=accuracy)
    assert str(caught.value) == f"accuracy is {shown}, expected a number above 0 and below 1"


def test_an_accuracy_of_another_type_or_beside_a_start_is_named():
    with pytest.raises(TypeError, match="accuracy"):
        netnum.max_min(several(), accuracy="5%")
    with pytest.raises(netnum.NumError, match=r"accuracy is 0\.05, expected None beside start"):
        netnum.max_min(several(), start=netnum.max_min(several()), accuracy=0.05)
