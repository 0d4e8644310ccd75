"""What rates are worth: the families as functions, and utilities of the user's own."""

import pickle
import warnings

import numpy as np
import pytest

import netnum

FAMILIES = [
    netnum.AlphaFair(1.0),
    netnum.AlphaFair(0.5, 3.0),
    netnum.AlphaFair([0.5, 1.0, 2.0], [1.0, 2.0, 3.0]),
    netnum.Linear(2.0),
    netnum.MinFct([1.0, 1e3, 1e6]),
    netnum.MinFct(5.0, 0.5),
    netnum.BandwidthFunction([0, 1, 3, 4], [0, 2, 2, 5], tail_slope=1.0),
]


class WeightedLog:
    """w log x with one weight per flow, or one for all."""

    def __init__(self, weight=1.0):
        self.weight = np.asarray(weight, dtype=float)
        self.shapes = set()

    def value(self, rates):
        self.shapes.add(rates.shape)
        return self.weight * np.log(rates)

    def marginal(self, rates):
        return self.weight / rates

    def demand(self, prices):
        self.shapes.add(prices.shape)
        return self.weight / prices

    def demand_slope(self, prices):
        return -self.weight / prices**2


class Broken(WeightedLog):
    """A utility with one wrong method."""

    def __init__(self, method, answer):
        super().__init__()
        setattr(self, method, answer)


def network(flows=60):
    net = netnum.topology.leaf_spine(3, 8, 2, server_capacity=10.0, fabric_capacity=40.0)
    return net, net.ecmp(*net.random_pairs(flows, seed=3), seed=3)


# --- the families as functions ---


def test_alpha_fair_has_the_values_of_the_table():
    rates = np.array([0.5, 1.0, 4.0])
    for alpha, weight in [(2.0, 3.0), (0.5, 1.0)]:
        utility = netnum.AlphaFair(alpha, weight)
        np.testing.assert_allclose(utility.value(rates), weight**alpha * rates ** (1 - alpha) / (1 - alpha))
        np.testing.assert_allclose(utility.marginal(rates), (weight / rates) ** alpha)
        np.testing.assert_allclose(utility.demand(rates), weight * rates ** (-1 / alpha))
    np.testing.assert_allclose(netnum.AlphaFair(1.0, 2.0).value(rates), 2 * np.log(rates))


@pytest.mark.parametrize("utility", FAMILIES, ids=repr)
def test_functions_keep_the_shape_of_what_they_are_given(utility):
    rates = np.linspace(0.5, 3.0, 12).reshape(4, 3)
    for function in (utility.value, utility.marginal, utility.demand, utility.demand_slope):
        table = function(rates)
        assert table.shape == rates.shape
        np.testing.assert_array_equal(table[2], function(rates[2]))
        np.testing.assert_array_equal(function(rates.T[:, :1].T[:, [0, 0, 0]])[0, 0], table[0, 0])


def test_scalars_give_scalars_or_one_answer_per_flow():
    assert netnum.AlphaFair(1.0).marginal(4.0) == 0.25
    assert isinstance(netnum.AlphaFair(1.0).marginal(4.0), float)
    assert netnum.AlphaFair(1.0, [1.0, 2.0]).marginal(4.0).tolist() == [0.25, 0.5]
    table = netnum.AlphaFair(1.0, [1.0, 2.0]).marginal([[4.0], [8.0]])
    np.testing.assert_allclose(table, [[0.25, 0.5], [0.125, 0.25]])


@pytest.mark.parametrize("utility", FAMILIES, ids=repr)
def test_the_families_obey_the_laws(utility):
    assert netnum.check_utility(utility) is None
    assert netnum.check_utility(utility, scale=1e6) is None


def test_attributes_are_the_parameters():
    fair = netnum.AlphaFair(2, [1, 2])
    assert fair.alpha == 2.0
    assert fair.weight.tolist() == [1.0, 2.0]
    assert not fair.weight.flags.writeable
    fct = netnum.MinFct(size=3.0)
    assert (fct.size, fct.epsilon) == (3.0, 0.125)
    curve = netnum.BandwidthFunction([0, 2], [0, 4])
    assert (curve.alpha, curve.tail_slope) == (5.0, 0.0)
    assert (curve.fair_share.tolist(), curve.bandwidth.tolist()) == ([0.0, 2.0], [0.0, 4.0])


def test_equal_parameters_make_equal_utilities():
    assert netnum.AlphaFair(1.0) == netnum.AlphaFair(1)
    assert netnum.AlphaFair(1.0) != netnum.AlphaFair(2.0)
    assert netnum.Linear(1.0) != netnum.AlphaFair(1.0)


def test_a_sequence_of_utilities_gives_what_one_with_arrays_gives():
    net, paths = network()
    weight = np.linspace(1, 3, len(paths))
    together = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(2.0, weight)), tol=1e-10)
    each = netnum.solve(netnum.Problem(net, paths, [netnum.AlphaFair(2.0, w) for w in weight]), tol=1e-10)
    np.testing.assert_array_equal(each.rates, together.rates)


# --- user utilities ---


def test_a_user_utility_gives_the_rates_of_the_built_in_one():
    net, paths = network()
    weight = np.linspace(1, 3, len(paths))
    mine = WeightedLog(weight)
    solution = netnum.solve(netnum.Problem(net, paths, mine), tol=1e-10)
    built_in = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0, weight)), tol=1e-10)
    assert solution.status == built_in.status == "optimal"
    np.testing.assert_allclose(solution.rates, built_in.rates, rtol=1e-4)
    assert solution.objective == pytest.approx(built_in.objective, rel=1e-9)
    assert mine.shapes == {weight.shape}, "always called for all its flows at once, in order"


def test_an_object_that_several_flows_share_is_called_once_for_all():
    net, paths = network(12)
    one, other = WeightedLog(1.0), WeightedLog(np.full(8, 2.0))
    utilities = [one if flow % 3 == 0 else other for flow in range(12)]
    solution = netnum.solve(netnum.Problem(net, paths, utilities), tol=1e-10)
    weights = [1.0 if flow % 3 == 0 else 2.0 for flow in range(12)]
    expected = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0, weights)), tol=1e-10)
    np.testing.assert_allclose(solution.rates, expected.rates, rtol=1e-4)
    assert (one.shapes, other.shapes) == ({(4,)}, {(8,)})


def test_built_in_and_user_utilities_mix():
    mixed = netnum.Problem([6.0], [[0]] * 3, [WeightedLog(1.0), netnum.AlphaFair(1.0, 2.0), WeightedLog(3.0)])
    np.testing.assert_allclose(netnum.solve(mixed, tol=1e-10).rates, [1.0, 2.0, 3.0], rtol=1e-4)


@pytest.mark.parametrize("saturation", [2.0, [2.0, 2.0, 2.0], lambda: 2.0])
def test_a_flow_gets_no_more_than_it_saturates_at(saturation):
    class Content(WeightedLog):
        """log x - x/2, which is worth nothing more from 2 on."""

        def value(self, rates):
            return np.log(np.minimum(rates, 2.0)) - np.minimum(rates, 2.0) / 2

        def marginal(self, rates):
            return np.maximum(1 / rates - 0.5, 0.0)

        def demand(self, prices):
            return 1 / (prices + 0.5)

        def demand_slope(self, prices):
            return -1 / (prices + 0.5) ** 2

    utility = Content()
    utility.saturation = saturation
    plenty = netnum.solve(netnum.Problem([100.0], [[0]] * 3, utility), tol=1e-8)
    assert plenty.is_optimal
    assert np.all(plenty.rates <= 2.0 + 1e-9)
    np.testing.assert_allclose(plenty.rates, 2.0, rtol=1e-2)


@pytest.mark.parametrize("beyond", [0.0, -1.0, -1e6])
def test_a_marginal_below_0_beyond_the_saturation_is_fine_for_check_and_solve(beyond):
    class Peak:
        """-(x - 5)^2/2: worth most at 5."""

        saturation = 5.0

        def value(self, rates):
            return -((rates - 5.0) ** 2) / 2

        def marginal(self, rates):
            return np.where(rates > 5.0, beyond, 5.0 - rates)

    netnum.check_utility(Peak())
    for capacity, expected in ((100.0, 5.0), (4.0, 2.0)):
        solution = netnum.solve(netnum.Problem([capacity], [[0], [0]], Peak()))
        assert solution.is_optimal
        np.testing.assert_allclose(solution.rates, expected, rtol=1e-2)


def test_a_failed_flow_with_a_user_utility_raises_no_warning():
    problem = netnum.Problem([4.0, 0.0], [[0], [1], [0]], WeightedLog([1.0, 1.0, 3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = netnum.solve(problem, tol=1e-10)
    np.testing.assert_allclose(solution.rates, [1.0, 0.0, 3.0], rtol=1e-5)


def test_certify_and_solver_call_a_user_utility():
    problem = netnum.Problem([4.0], [[0], [0]], WeightedLog())
    solver = netnum.Solver(problem)
    solver.step(20)
    assert solver.certificate().relative_gap < 1e-6
    assert netnum.certify(problem, [2.0, 2.0], [0.5]).relative_gap == pytest.approx(0, abs=1e-12)


def test_a_problem_with_a_user_utility_pickles():
    problem = pickle.loads(pickle.dumps(netnum.Problem([4.0], [[0], [0]], WeightedLog([1.0, 3.0]))))
    np.testing.assert_allclose(netnum.solve(problem, tol=1e-10).rates, [1.0, 3.0], rtol=1e-5)


# --- broken ones ---


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("marginal", lambda rates: -1 / rates, "the marginal at rate .* expected a number >= 0"),
        ("marginal", lambda rates: rates, "the marginal rises"),
        ("value", lambda rates: 2 * np.log(rates), "the value rises by .* but its marginals"),
        ("demand", lambda prices: 2 / prices, "the demand at price"),
        ("demand_slope", lambda prices: 1 / prices, "the demand slope at price .* expected a number <= 0"),
        ("demand_slope", lambda prices: -3 / prices**2, "the demand slope at price .* but the demand changes"),
        ("demand", lambda prices: np.full_like(prices, np.nan), "the demand at price .* is NaN"),
    ],
)
def test_a_broken_utility_is_caught_and_the_law_named(method, answer, message):
    netnum.check_utility(WeightedLog())
    with pytest.raises(netnum.UtilityError, match=f"the utility of flow 0 is broken: .*{message}"):
        netnum.check_utility(Broken(method, answer))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda prices: 1.0, r"Broken.demand returned an array of shape \[\], expected \[2\]"),
        (lambda prices: 1 / prices[:1], r"Broken.demand returned an array of shape \[1\], expected \[2\]"),
        (lambda prices: np.ones((2, 2)), r"Broken.demand returned an array of shape \[2, 2\], expected \[2\]"),
        (lambda prices: None, "Broken.demand did not return numbers: .* dtype object"),
        (lambda prices: 1j / prices, "Broken.demand did not return numbers: .* dtype complex128"),
        (lambda prices: np.full_like(prices, np.nan), "the utility of flow 0 is broken: its demand is NaN"),
    ],
)
def test_an_answer_that_is_no_array_of_rates_is_named(answer, message):
    problem = netnum.Problem([1.0], [[0], [0]], Broken("demand", answer))
    with pytest.raises(netnum.UtilityError, match=message):
        netnum.solve(problem)


@pytest.mark.parametrize("method", ["marginal", "demand", "demand_slope", "value"])
def test_what_a_utility_raises_comes_through(method):
    raised = ZeroDivisionError("in the utility")
    calls = []

    def answer(argument):
        calls.append(argument)
        raise raised

    utility = Broken(method, answer)
    problem = netnum.Problem([1.0], [[0], [0]], utility)
    for ask in (lambda: netnum.solve(problem), lambda: netnum.check_utility(utility)):
        calls.clear()
        with pytest.raises(ZeroDivisionError) as caught:
            ask()
        assert caught.value is raised
        assert len(calls) == 1, "not called again"


def test_a_utility_that_lacks_a_method_is_a_type_error():
    class Half:
        def value(self, rates):
            return rates

        demand = demand_slope = value

    with pytest.raises(TypeError, match='Half is no utility: it has no method "marginal"'):
        netnum.check_utility(Half())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flow": 3}, r"flow is 3, expected at most 1"),
        ({"flow": -1}, "flow is -1, expected at least 0"),
        ({"scale": 0.0}, "scale is 0, expected a finite number > 0"),
        ({"scale": float("nan")}, "scale is NaN, expected a finite number > 0"),
    ],
)
def test_a_check_of_a_flow_or_scale_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(netnum.NumError, match=message):
        netnum.check_utility(netnum.AlphaFair([1.0, 2.0]), **arguments)


def test_one_flow_of_a_user_utility_with_arrays_is_checked():
    utility = WeightedLog([1.0, 2.0, 3.0])
    netnum.check_utility(utility, flow=2)
    with pytest.raises(netnum.UtilityError, match="has parameters for 3 flows, and none for flow 3"):
        netnum.check_utility(utility, flow=3)
    utility.weight[1] = -1.0
    netnum.check_utility(utility, flow=0)
    with pytest.raises(netnum.UtilityError, match="the utility of flow 1 is broken"):
        netnum.check_utility(utility, flow=1)


# --- weights and the textbook's scales ---


def test_a_scale_is_the_factor_of_the_textbook():
    for alpha in (0.5, 1.0, 2.0, 5.0):
        by_scale = netnum.AlphaFair(alpha, scale=3.0)
        rates = np.array([0.1, 1.0, 7.0])
        np.testing.assert_allclose(by_scale.marginal(rates), 3.0 * rates**-alpha, rtol=1e-13)
        value = 3.0 * (np.log(rates) if alpha == 1 else rates ** (1 - alpha) / (1 - alpha))
        np.testing.assert_allclose(by_scale.value(rates), value, rtol=1e-12, atol=1e-14)
        by_weight = netnum.AlphaFair(alpha, weight=by_scale.weight)
        np.testing.assert_allclose(by_weight.marginal(rates), by_scale.marginal(rates), rtol=1e-13)
        assert by_scale.weight == pytest.approx(3.0 ** (1 / alpha), rel=1e-14)
        assert (by_scale.scale, by_weight.scale) == (3.0, None)
        netnum.check_utility(by_scale)


def test_rates_by_scale_are_those_on_paper():
    problem = netnum.Problem([10.0], [[0]] * 3, netnum.AlphaFair(2.0, scale=[1.0, 4.0, 9.0]))
    solution = netnum.solve(problem, tol=1e-10)
    np.testing.assert_allclose(solution.rates, 10.0 * np.array([1, 2, 3]) / 6, rtol=1e-5)
    assert solution.prices[0] == pytest.approx((6 / 10.0) ** 2, rel=1e-5)
    assert solution.objective == pytest.approx(-36 / 10.0, rel=1e-6)


def test_a_scale_is_shown_pickled_copied_and_written():
    import copy
    import pickle

    utility = netnum.AlphaFair(2.0, scale=[1.0, 4.0])
    assert repr(utility) == "AlphaFair(alpha=2.0, scale=array of 2)"
    assert repr(netnum.AlphaFair(2, scale=3)) == "AlphaFair(alpha=2.0, scale=3.0)"
    for other in (pickle.loads(pickle.dumps(utility)), copy.deepcopy(utility)):
        assert other == utility
        assert other.scale.tolist() == [1.0, 4.0]
    again = netnum.Problem.from_json(netnum.Problem([1.0], [[0], [0]], utility).to_json()).utility
    assert again.scale.tolist() == [1.0, 4.0]
    mixed = netnum.Problem([1.0], [[0], [0]], [netnum.AlphaFair(2.0, scale=4.0), netnum.AlphaFair(2.0, 2.0)])
    first, second = netnum.Problem.from_json(mixed.to_json()).utility
    assert (first.scale, second.scale, second.weight) == (4.0, None, 2.0)


def test_a_weight_and_a_scale_are_not_given_together():
    with pytest.raises(TypeError, match=r"weight and scale were both given, expected one: scale = weight\*\*alpha"):
        netnum.AlphaFair(2.0, 1.0, scale=1.0)
    with pytest.raises(netnum.UtilityError, match="flow 1 has scale 0, expected a finite number > 0"):
        netnum.AlphaFair(2.0, scale=[1.0, 0.0])
    with pytest.raises(netnum.UtilityError, match="flow 0 has alpha inf, expected a finite number > 0 beside a scale"):
        netnum.AlphaFair(float("inf"), scale=1.0)
    with pytest.raises(netnum.UtilityError, match=r"flow 1 has scale 10000000000, expected one whose weight"):
        netnum.AlphaFair(1e-3, scale=[1.0, 1e10])
    with pytest.raises(netnum.ProblemError, match="scale has 3 entries, expected 2, one per flow"):
        netnum.AlphaFair([1.0, 2.0], scale=[1.0] * 3)
