"""Derivatives of the optimum: closed forms, central differences of problems solved again, tables, and bad input."""

import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from common import FAIR, at_optimum

import netnum


def parking_lot():
    """Two links in a row, a flow over both and one on each."""
    return netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], FAIR)


def flow_rates(problem):
    solution = netnum.solve(problem, "interior-point", tol=1e-11, stop="kkt")
    assert solution.is_optimal
    return solution.flow_rates


def test_one_link_is_shared_by_weight():
    weights, capacity = np.array([1.0, 2.0, 5.0]), 4.0
    sensitivity = at_optimum(netnum.Problem([capacity], [[0]] * 3, netnum.AlphaFair(1.7, weight=weights)))
    total = weights.sum()
    # x = c w / Σ w
    jacobian = capacity * (np.eye(3) / total - weights[:, None] / total**2)
    np.testing.assert_allclose(sensitivity.jvp(weight=np.eye(3))["flow_rates"], jacobian.T, atol=1e-12)
    np.testing.assert_allclose(sensitivity.vjp(flow_rates=np.eye(3))["weight"], jacobian, atol=1e-12)
    np.testing.assert_allclose(sensitivity.d_rates_d_capacity[:, 0], weights / total, atol=1e-12)
    # p = (Σ w / c)^α
    price = (total / capacity) ** 1.7
    np.testing.assert_allclose(sensitivity.prices, price)
    np.testing.assert_allclose(sensitivity.vjp(prices=1.0)["capacities"], -1.7 * price / capacity)
    np.testing.assert_allclose(sensitivity.vjp(objective=1.0)["capacities"], price)


def test_the_parking_lot():
    expected = np.array([[1, 1], [5, -1], [-1, 5]]) / 6
    np.testing.assert_allclose(at_optimum(parking_lot()).d_rates_d_capacity, expected, atol=1e-12)


CASES = {
    "one path each": {"utility": netnum.AlphaFair([0.5, 1.0, 2.0, 3.0], weight=[1.0, 2.0, 0.5, 1.5])},
    "scale": {"utility": netnum.AlphaFair(2.0, scale=[1.0, 2.0, 0.5, 1.5])},
    "completion times": {"utility": netnum.MinFct([1.0, 2.0, 3.0, 4.0], epsilon=0.3)},
    "rate caps": {"utility": FAIR, "rate_cap": [np.inf, 0.4, np.inf, np.inf]},
    "flow caps": {"utility": FAIR, "flow_cap": [np.inf, np.inf, 0.3, 5.0]},
    "two paths": {"paths": [[0, 1], [3], [0], [1, 2], [2]], "group": [0, 0, 1, 2, 3], "utility": netnum.AlphaFair(1.5)},
}


def case(name):
    given = {"paths": [[0, 1], [0], [1, 2], [2]]} | CASES[name]
    return netnum.Problem([1.0, 2.0, 1.5, 0.7], given.pop("paths"), given.pop("utility"), **given)


def with_parameter(problem, name, values):
    if name == "capacities":
        return problem.with_capacities(values)
    if name == "rate_cap":
        return problem.with_rate_caps(values)
    if name == "flow_cap":
        return problem.with_flow_caps(values)
    utility = problem.utility
    names = ("size", "epsilon") if isinstance(utility, netnum.MinFct) else ("alpha", "weight")
    names = ("alpha", "scale") if getattr(utility, "scale", None) is not None else names
    return problem.with_utility(type(utility)(**({own: getattr(utility, own) for own in names} | {name: values})))


def parameter(problem, name):
    own = getattr(problem, name, None)
    given = own if own is not None else getattr(problem.utility, name)
    count = {"capacities": problem.links, "rate_cap": len(problem.group)}.get(name, problem.flows)
    return np.array(np.broadcast_to(given, count))


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_problems_solved_again(name):
    problem = case(name)
    sensitivity = at_optimum(problem)
    toward = np.array([0.3, -1.0, 0.7, 2.0])
    gradient = sensitivity.vjp(flow_rates=toward)
    assert set(gradient) >= {"capacities"}
    # Costs of 0 have one side; test_sensitivity_constraints.py has others, and coefficients.
    del gradient["path_cost"], gradient["coefficients"]
    for of, derivatives in gradient.items():
        values = parameter(problem, of)
        for place in np.flatnonzero(np.isfinite(values)):
            step = np.zeros(len(values))
            step[place] = 1e-5 * values[place]
            rates = [flow_rates(with_parameter(problem, of, values + side * step)) for side in (1, -1)]
            slope = (rates[0] - rates[1]) / (2 * step[place])
            forward = sensitivity.jvp(**{of: step / step[place]})["flow_rates"]
            np.testing.assert_allclose(forward, slope, atol=2e-5)
            np.testing.assert_allclose(derivatives[place], slope @ toward, atol=5e-5)


def test_rows_are_the_answers_one_by_one():
    sensitivity = at_optimum(case("two paths"))
    random = np.random.default_rng(1)
    capacities, weight = random.normal(size=(3, 4)), random.normal(size=4)
    together = sensitivity.jvp(capacities=capacities, weight=weight)
    assert {name: each.shape for name, each in together.items()} == {
        "rates": (3, 5),
        "flow_rates": (3, 4),
        "prices": (3, 4),
        "objective": (3,),
    }
    for row in range(3):
        alone = sensitivity.jvp(capacities=capacities[row], weight=weight)
        for name, each in alone.items():
            np.testing.assert_array_equal(together[name][row], each)
    rates, objective = random.normal(size=(2, 5)), np.array([1.0, -1.0])
    together = sensitivity.vjp(rates=rates, objective=objective, prices=0.5)
    for row in range(2):
        alone = sensitivity.vjp(rates=rates[row], objective=objective[row], prices=[0.5] * 4)
        for name, each in alone.items():
            np.testing.assert_array_equal(together[name][row], each)


def test_products_are_adjoint():
    sensitivity = at_optimum(case("two paths"))
    random = np.random.default_rng(2)
    change = {name: random.normal(size=4) for name in ("capacities", "weight", "alpha")}
    toward = {"rates": random.normal(size=5), "prices": random.normal(size=4), "flow_rates": random.normal(size=4)}
    forward, reverse = sensitivity.jvp(**change), sensitivity.vjp(**toward)
    one = sum(toward[name] @ forward[name] for name in toward)
    other = sum(change[name] @ reverse[name] for name in change)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_kink_has_two_sides():
    # The cap of flow 0 is what it would get without one.
    problem = netnum.Problem([2.0], [[0], [0]], FAIR, flow_cap=[1.0, np.inf])
    sensitivity = at_optimum(problem)
    assert sensitivity.kinks == ("flow 0 is at a floor, a cap or a breakpoint with a multiplier of 0",)
    assert repr(sensitivity) == "Sensitivity(2 flows, 1 link, 1 kink)"
    np.testing.assert_allclose(sensitivity.jvp(capacities=1.0)["flow_rates"], [0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(sensitivity.jvp(capacities=-1.0)["flow_rates"], [-0.5, -0.5], atol=1e-9)
    with pytest.raises(netnum.SensitivityError, match=r"here: flow 0 .*; at_kink takes a side, hold or release"):
        sensitivity.vjp(flow_rates=[1.0, 0.0])
    sides = [sensitivity.vjp(flow_rates=[1.0, 0.0], at_kink=side)["capacities"][0] for side in ("hold", "release")]
    np.testing.assert_allclose(sides, [0.0, 0.5], atol=1e-9)


def test_an_objective_whose_multipliers_are_not_unique_has_two_sides():
    # The link and both caps hold the flows.
    sensitivity = at_optimum(netnum.Problem([1.0], [[0], [0]], FAIR, flow_cap=[0.5, 0.5]))
    with pytest.raises(netnum.SensitivityError, match="flow 1 is at a floor, a cap"):
        sensitivity.vjp(objective=1.0)
    sides = [sensitivity.vjp(objective=1.0, at_kink=side) for side in ("hold", "release")]
    np.testing.assert_allclose([side["capacities"][0] for side in sides], [0.0, 2.0], atol=1e-9)
    np.testing.assert_allclose([side["flow_cap"] for side in sides], [[2.0, 2.0], [0.0, 0.0]], atol=1e-9)
    assert sensitivity.jvp(capacities=-1.0)["objective"] == pytest.approx(-2.0, abs=1e-9)
    assert sensitivity.jvp(flow_cap=-0.5)["objective"] == pytest.approx(-2.0, abs=1e-9)


def test_a_failed_link_has_no_derivative():
    matrix = at_optimum(netnum.Problem([2.0, 0.0], [[0], [0], [1]], FAIR)).d_rates_d_capacity
    np.testing.assert_allclose(matrix, [[0.5, np.nan], [0.5, np.nan], [0.0, np.nan]])


def test_kinks_say_what_they_are_by_the_names_of_links():
    # The second link just suffices, the third has failed, and two links in a row have the same flow.
    net = netnum.topology.from_edges("A B 2\nB C 1\nC D 0\nD E 3\nE F 3")
    pairs = [["A", "B"], ["A", "B", "C"], ["C", "D"], ["D", "E", "F"]]
    sensitivity = at_optimum(netnum.Problem(net, pairs, FAIR))
    just, failed, first, second = (net.link(*pair) for pair in ("BC", "CD", "DE", "EF"))
    expected = {
        f"link {just} (B -> C) is full at price 0",
        f"link {failed} (C -> D) has failed (capacity 0)",
        f"link {first} (D -> E) is full at a price that is not unique",
        f"link {second} (E -> F) is full at a price that is not unique",
    }
    assert set(sensitivity.kinks) == expected
    with pytest.raises(netnum.SensitivityError) as caught:
        sensitivity.gains("C -> D")
    assert str(caught.value) == (
        f"the optimum is not differentiable here: link {failed} (C -> D) has failed (capacity 0), "
        "and its flows come back at once with any capacity: give it one first"
    )
    alone = at_optimum(netnum.Problem(net, pairs[:2], FAIR))
    with pytest.raises(netnum.SensitivityError, match=rf"here: link {just} \(B -> C\) is full at price 0; at_kink"):
        alone.vjp(flow_rates=1.0)


def crowded():
    random = np.random.default_rng(4)
    return netnum.Problem(random.uniform(1, 2, 30), [random.choice(30, 5, replace=False) for _ in range(300)], FAIR)


def test_threads_take_turns():
    sensitivity = at_optimum(crowded())
    rows = np.random.default_rng(5).normal(size=(60, 300))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: sensitivity.vjp(flow_rates=rows)["capacities"], range(8)))
    for one in found:
        np.testing.assert_array_equal(one, found[0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer of signals")
def test_a_thread_that_waits_heeds_signals_and_one_does_not_wait_for_itself():
    sensitivity = at_optimum(crowded())
    rows = np.ones((8_000, 30))
    work = threading.Thread(target=lambda: sensitivity.vjp(prices=rows))

    def again(number, frame):
        sensitivity.vjp(prices=1.0)

    for handler, kind, message in (
        (signal.default_int_handler, KeyboardInterrupt, None),
        (again, RuntimeError, "this Sensitivity is in use already"),
    ):
        old = signal.signal(signal.SIGALRM, handler)
        try:
            if handler is not again:
                work.start()
                time.sleep(0.05)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(kind, match=message):
                sensitivity.vjp(prices=rows)
            assert handler is again or work.is_alive()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        work.join()


def test_it_pickles_at_its_point():
    sensitivity = at_optimum(case("flow caps"))
    again = pickle.loads(pickle.dumps(sensitivity))
    np.testing.assert_allclose(again.rates, sensitivity.rates, rtol=1e-12)
    np.testing.assert_allclose(again.vjp(objective=1.0)["flow_cap"], sensitivity.vjp(objective=1.0)["flow_cap"])


def test_of_scenarios_the_problem_is_given():
    problem = netnum.Problem([6.0], [[0], [0]], FAIR)
    one = netnum.solve_many(problem, capacities=[[4.0], [8.0]])[1]
    with pytest.raises(netnum.NumError, match="without its problem"):
        one.sensitivity()
    sensitivity = one.sensitivity(problem=problem.with_capacities([8.0]))
    np.testing.assert_allclose(sensitivity.flow_rates, [4.0, 4.0])


def test_who_gains_by_name():
    pytest.importorskip("pandas")
    net = netnum.topology.from_edges("A B 10\nB C 6")
    problem = netnum.Problem(net, [["A", "B"], ["B", "C"], ["A", "B", "C"]], FAIR)
    sensitivity = at_optimum(problem)
    table = sensitivity.gains("B -> C", added=0.5)
    assert list(table.columns) == ["source", "destination", "rate", "change"]
    matrix = sensitivity.d_rates_d_capacity
    np.testing.assert_allclose(table["change"], 0.5 * matrix[table.index, net.link("B", "C")])
    assert (np.diff(table["change"]) <= 0).all()
    # A fiber is both of its directions.
    both = 0.5 * (matrix[:, net.link("A", "B")] + matrix[:, net.link("B", "A")])
    np.testing.assert_allclose(sensitivity.gains("A - B", 0.5)["change"].sort_index(), both, atol=1e-12)
    for link, message in (
        ("A -> C", "^link names link 'A -> C', expected the name of one of the 4 links"),
        (["A - B", "A -> B"], r"^link names link 0 \(A -> B\) twice, expected each link once$"),
        ([], "^link names no link, expected one or more$"),
    ):
        with pytest.raises(netnum.ProblemError, match=message):
            sensitivity.gains(link)


def test_a_plot_has_a_bar_for_every_flow_that_changes():
    pytest.importorskip("matplotlib").use("Agg")
    # Flow 3 is alone on its link.
    problem = netnum.Problem([1.0, 1.0, 1.0], [[0, 1], [0], [1], [2]], FAIR)
    ax = at_optimum(problem).plot(0)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["flow 1", "flow 0", "flow 2"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [5 / 6, 1 / 6, -1 / 6])
    assert ax.get_title() == "link 0 +1 of capacity: 2 flows gain, 1 lose"
    for most, drawn in ((1, [1]), (2, [1, 2]), (3, [1, 0, 2])):
        labels = at_optimum(problem).plot(0, most=most).get_yticklabels()
        assert [label.get_text() for label in labels] == [f"flow {flow}" for flow in drawn]
    # Where one gains, the others may have the bars.
    star = at_optimum(netnum.Problem([1.0, 1.0], [[1]] + [[0, 1]] * 9, FAIR, flow_cap=[np.inf] + [0.05] * 9))
    assert len(star.plot(1, most=4).patches) == 1


def test_a_table_for_notebooks():
    text = at_optimum(netnum.Problem([2.0], [[0], [0]], FAIR, flow_cap=[1.0, np.inf]))._repr_html_()
    assert "2 flows, 1 link" in text and "no: flow 0 is at a floor, a cap" in text


@pytest.mark.parametrize(
    ("problem", "settings", "message"),
    [
        (netnum.Problem([1.0], [[0]], netnum.AlphaFair(np.inf)), {}, "no sensitivity of max-min rates; AlphaFair"),
        (netnum.Problem([1.0], [[0]], netnum.Linear(1.0)), {}, "no sensitivity of linear utilities; AlphaFair"),
        (
            netnum.Problem([1.0, 2.0], [[0, 1], [0], [1]], FAIR),
            {"max_iterations": 1},
            r'is not certified \(its status is "max_iterations"\); solve to "optimal" first',
        ),
    ],
)
def test_solutions_without_derivatives_say_what_to_use_instead(problem, settings, message):
    with pytest.raises(netnum.SensitivityError, match=message):
        netnum.solve(problem, **settings).sensitivity()


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (TypeError, "jvp needs a change: capacities", lambda s: s.jvp()),
        (TypeError, "vjp needs a derivative: in rates", lambda s: s.vjp()),
        (
            netnum.ProblemError,
            r"capacities has shape \(3,\), expected \(2,\), one per link, or \(rows, 2\)",
            lambda s: s.jvp(capacities=[1.0, 2.0, 3.0]),
        ),
        (
            netnum.ProblemError,
            r"weight has shape \(4, 3\), expected \(3,\), one per flow, or \(2, 3\)",
            lambda s: s.jvp(capacities=np.eye(2), weight=np.ones((4, 3))),
        ),
        (
            netnum.ProblemError,
            r"objective has shape \(2, 2\), expected a number, or \(rows,\)",
            lambda s: s.vjp(objective=np.eye(2)),
        ),
        (netnum.NumError, "prices of link 1 is NaN", lambda s: s.vjp(prices=[0.0, np.nan])),
        (
            netnum.SensitivityError,
            "no sensitivity of the scale of flow 0, whose parameters are weight, alpha; name one of these",
            lambda s: s.jvp(scale=1.0),
        ),
        (netnum.NumError, 'at_kink is "up"', lambda s: s.vjp(objective=1.0, at_kink="up")),
        (netnum.NumError, "most is 0", lambda s: s.plot(0, most=0)),
        (TypeError, "capacities must be an array of numbers", lambda s: s.jvp(capacities=["a"])),
        (
            netnum.ProblemError,
            "rates has 2 entries, expected 3",
            lambda s: netnum.Sensitivity(s.problem, [1.0, 1.0], s.prices),
        ),
        (
            netnum.ProblemError,
            "path 1 has rate NaN, expected a finite number",
            lambda s: netnum.Sensitivity(s.problem, [1.0, np.nan, 1.0], s.prices),
        ),
        (
            netnum.ProblemError,
            "link 1 has price inf, expected a finite number",
            lambda s: netnum.Sensitivity(s.problem, s.rates, [1.0, np.inf]),
        ),
    ],
)
def test_bad_arguments_are_named(kind, message, call):
    with pytest.raises(kind, match=message):
        call(at_optimum(parking_lot()))


def test_a_dense_derivative_has_a_largest_size():
    count = 3163
    problem = netnum.Problem(np.ones(count), [[link] for link in range(count)], FAIR)
    with pytest.raises(netnum.NumError, match="3163 x 3163 entries, more than 10000000: jvp has the columns"):
        _ = at_optimum(problem).d_rates_d_capacity


def test_links_that_are_full_by_the_same_flows_have_sides():
    sensitivity = at_optimum(netnum.Problem([1.0, 1.0], [[0, 1], [0, 1]], FAIR))
    # The other one stays full.
    np.testing.assert_allclose(sensitivity.jvp(capacities=[1.0, 0.0])["flow_rates"], 0.0, atol=1e-9)
    np.testing.assert_allclose(sensitivity.jvp(capacities=[-1.0, 0.0])["flow_rates"], -0.5, atol=1e-9)
    with pytest.raises(netnum.SensitivityError, match="prices of links 0, 1 are not unique"):
        sensitivity.vjp(flow_rates=1.0)
    hold, release = (sensitivity.vjp(flow_rates=1.0, at_kink=side)["capacities"] for side in ("hold", "release"))
    np.testing.assert_allclose(hold, 0.5)
    np.testing.assert_array_equal(hold, release)
