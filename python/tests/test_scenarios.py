"""One problem under many demands and capacities, and a solver that goes on with others."""

import gc
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import netnum

NET = netnum.topology.backbone("abilene")
INF = np.inf


@pytest.fixture(scope="module")
def problem():
    nodes = [(one, other) for one in range(NET.ends) for other in range(NET.ends) if one != other]
    sources, destinations = zip(*nodes, strict=True)
    paths, group = NET.k_shortest_paths(sources, destinations, 3)
    return netnum.Problem(NET, paths, netnum.AlphaFair(1.0), group=group)


@pytest.fixture(scope="module")
def demands(problem):
    rng = np.random.default_rng(4)
    return NET.capacities.min() / 10 * rng.lognormal(0, 1, (20, problem.flows))


def test_every_row_is_a_problem(problem, demands):
    together = netnum.solve_many(problem, flow_caps=demands, threads=2)
    assert len(together) == 20
    assert together.is_optimal.all()
    assert (together.status == "optimal").all()
    assert together.rates.shape == (20, len(problem.paths))
    assert together.flow_rates.shape == (20, problem.flows)
    assert together.prices.shape == together.loads.shape == (20, problem.links)
    for row, demand in enumerate(demands):
        alone = netnum.solve(problem.with_flow_caps(demand))
        np.testing.assert_allclose(together.flow_rates[row], alone.flow_rates, rtol=3e-3)
        np.testing.assert_allclose(together.loads[row], problem.loads(together.rates[row]))
        assert together.objective[row] == pytest.approx(alone.objective, abs=1e-3)
        assert together.gap[row] <= 1e-6
        assert together.kkt_residual[row] <= 1e-3


def test_capacities_come_as_rows_too(problem, demands):
    capacities = np.tile(problem.capacities, (20, 1))
    capacities[np.arange(20), np.arange(20)] = 0
    both = netnum.solve_many(problem, flow_caps=demands, capacities=capacities)
    for row in (0, 7, 19):
        alone = netnum.solve(problem.with_capacities(capacities[row]).with_flow_caps(demands[row]))
        np.testing.assert_allclose(both.flow_rates[row], alone.flow_rates, rtol=3e-3, atol=1e-6)
        assert both.loads[row, row] == 0
    cut_off = netnum.Problem([1.0, 1.0], [[0], [1]], netnum.AlphaFair(1.0))
    some = netnum.solve_many(cut_off, capacities=[[1.0, 0.0], [0.0, 0.0], [2.0, 3.0]])
    assert some.failed_flows.tolist() == [1, 2, 0]
    np.testing.assert_allclose(some.flow_rates, [[1, 0], [0, 0], [2, 3]], rtol=1e-3)


def test_the_bits_do_not_depend_on_the_threads(problem, demands):
    one, three = (netnum.solve_many(problem, flow_caps=demands, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.rates, three.rates)
    np.testing.assert_array_equal(one.prices, three.prices)
    np.testing.assert_array_equal(one.iterations, three.iterations)


def test_max_min_and_linear_scenarios(problem, demands):
    for utility in (netnum.AlphaFair(INF), netnum.Linear(1.0)):
        changed = problem.with_utility(utility)
        together = netnum.solve_many(changed, flow_caps=demands[:3])
        assert together.is_optimal.all()
        for row in range(3):
            alone = netnum.solve(changed.with_flow_caps(demands[row]))
            assert together.objective[row] == pytest.approx(alone.objective, rel=1e-5)


def test_solutions_show_what_they_are(problem, demands):
    together = netnum.solve_many(problem, flow_caps=demands)
    text = repr(together)
    assert text.startswith(f"Solutions(20 scenarios, all optimal, {problem.flows} flows, {problem.links} links, gap ")
    assert len(text) < 200
    assert "<th>scenarios</th><td>20, 20 optimal</td>" in together._repr_html_()
    short = netnum.solve_many(problem, flow_caps=demands, max_iterations=0)
    assert set(short.status) == {"max_iterations"}
    assert "20 scenarios, 0 optimal" in repr(short)
    none = netnum.solve_many(problem, flow_caps=np.empty((0, problem.flows)))
    assert repr(none) == f"Solutions(0 scenarios, {problem.flows} flows, {problem.links} links)"
    assert len(none) == 0
    frame = together.to_pandas()
    assert frame.index.name == "scenario"
    assert frame["gap"].tolist() == together.gap.tolist()
    assert set(frame["status"]) == {"optimal"}
    again = pickle.loads(pickle.dumps(together))
    assert repr(again) == text
    np.testing.assert_array_equal(again.rates, together.rates)
    for solutions in (together, again):
        for array in (solutions.rates, solutions.status, solutions.gap, solutions.is_optimal):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "problems is a Problem, .* give several, or some of flow_caps, .* beside it"),
        (
            {"flow_caps": np.ones(110)},
            netnum.ProblemError,
            r"flow_caps has shape \(110,\), expected \(scenarios, 110\)",
        ),
        (
            {"flow_caps": np.ones((2, 3))},
            netnum.ProblemError,
            r"\(2, 3\), expected \(scenarios, 110\), a column per flow",
        ),
        ({"capacities": np.ones((2, 3))}, netnum.ProblemError, "capacities has shape .* a column per link"),
        (
            {"flow_caps": [[1.0] * 110, [1.0] * 7 + [np.nan] + [1.0] * 102]},
            netnum.ProblemError,
            r"scenario 1: flow 7 \(Seattle to Atlanta\) has flow cap NaN, expected a number >= 0",
        ),
        ({"flow_caps": np.ones((2, 110)), "warm_start": [1.0]}, netnum.NumError, "warm_start is given, expected none"),
        ({"flow_caps": np.ones((2, 110)), "method": "fast"}, netnum.MethodError, 'unknown method "fast"'),
        ({"flow_caps": "many"}, TypeError, "flow_caps must be an array of numbers"),
    ],
)
def test_bad_matrices_are_refused(problem, options, error, message):
    with pytest.raises(error, match=message):
        netnum.solve_many(problem, **options)


def test_rows_must_agree_and_be_of_one_problem(problem, demands):
    links = np.tile(problem.capacities, (3, 1))
    with pytest.raises(netnum.ProblemError, match="capacities has 3 entries, expected 20, one per row of flow_caps"):
        netnum.solve_many(problem, flow_caps=demands, capacities=links)
    with pytest.raises(TypeError, match="flow_caps, flow_floors, path_costs and capacities are for a single Problem"):
        netnum.solve_many([problem], flow_caps=demands)


def test_what_a_utility_raises_names_the_scenario():
    class Fails:
        def value(self, rates):
            return np.log(rates)

        def marginal(self, rates):
            if np.any(rates > 5.0):
                raise RuntimeError("too much")
            return 1 / rates

    problem = netnum.Problem([1.0], [[0]], Fails())
    with pytest.raises(RuntimeError, match="too much") as raised:
        netnum.solve_many(problem, capacities=[[1.0], [1.1], [80.0], [90.0]])
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__ == ["in scenario 2"]


def test_a_solver_goes_on_with_other_demands(problem, demands):
    solver = netnum.Solver(problem.with_flow_caps(demands[0]))
    first = solver.solve()
    assert first.is_optimal
    changed = demands[0].copy()
    changed[::20] *= 1.5
    solver.update(flow_caps=changed)
    np.testing.assert_array_equal(solver.problem.flow_cap, changed)
    assert solver.problem.network is NET
    warm, cold = solver.solve(), netnum.solve(problem.with_flow_caps(changed))
    assert warm.is_optimal
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.flow_rates, cold.flow_rates, rtol=3e-3)
    # And back to no demands at all, on less.
    solver.update(flow_caps=np.full(problem.flows, INF), capacities=problem.capacities / 2)
    assert solver.problem.flow_cap is None
    half = solver.solve(tol=1e-8)
    np.testing.assert_allclose(half.flow_rates, netnum.solve(problem, tol=1e-8).flow_rates / 2, rtol=3e-3)


def test_a_solver_goes_on_with_other_utilities(problem):
    solver = netnum.Solver(problem)
    assert solver.solve().is_optimal
    solver.update(utility=netnum.AlphaFair(2.0))
    np.testing.assert_allclose(
        solver.solve().flow_rates, netnum.solve(problem.with_utility(netnum.AlphaFair(2.0))).flow_rates, rtol=3e-3
    )
    solver.update(utility=netnum.AlphaFair(INF))
    assert solver.method == "max-min"
    assert solver.solve().is_optimal


def test_an_update_that_cannot_be_changes_nothing(problem):
    solver = netnum.Solver(problem, "interior-point")
    rates = solver.solve().rates
    for options, error, message in [
        ({"flow_caps": [1.0]}, netnum.ProblemError, "flow_cap has 1 entries, expected 110"),
        ({"capacities": [-1.0] * problem.links}, netnum.ProblemError, "link 0 has capacity -1"),
        ({"utility": netnum.AlphaFair(INF)}, netnum.MethodError, "cannot take max-min utilities"),
    ]:
        with pytest.raises(error, match=message):
            solver.update(**options)
    assert solver.problem is problem
    np.testing.assert_allclose(solver.rates, rates, rtol=1e-6)


def test_a_solver_is_stopped_and_traced_as_solve_is(problem):
    seen = []
    solver = netnum.Solver(problem, "fast-ned")
    stopped = solver.solve(callback=lambda progress: seen.append(progress.iteration) or len(seen) < 3)
    assert stopped.status == "stopped"
    assert seen == [0, 1, 2]
    assert len(solver.solve(trace=True, max_iterations=5).trace) == 6
    assert solver.iteration >= 5
    with pytest.raises(netnum.NumError, match="tol is 0"):
        solver.solve(tol=0)


def test_a_utility_may_use_the_solver_when_it_is_freed():
    class Logarithm:
        solver = None

        def value(self, rates):
            return np.log(rates)

        def marginal(self, rates):
            return 1 / rates

        def __del__(self):
            methods.append(self.solver.method)

    methods = []
    utility = Logarithm()
    solver = netnum.Solver(netnum.Problem([1.0], [[0]], utility))
    utility.solver = solver
    del utility
    solver.update(utility=netnum.AlphaFair(1.0))
    gc.collect()
    assert methods == ["fast-ned"]


def scenarios():
    problem = netnum.Problem([12.0, 4.0], [[0], [0], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1])
    caps = [[1.0, 20.0], [0.0, 20.0], [20.0, 3.0], [20.0, 20.0]]
    return problem, caps, netnum.solve_many(problem, flow_caps=caps, threads=1)


def test_a_place_has_the_solution_of_one_scenario():
    problem, caps, answers = scenarios()
    for number, solution in enumerate(answers):
        assert isinstance(solution, netnum.Solution)
        alone = netnum.solve(problem.with_flow_caps(caps[number]))
        np.testing.assert_allclose(solution.flow_rates, alone.flow_rates, rtol=1e-3, atol=1e-6)
        np.testing.assert_array_equal(solution.failed_flows, alone.failed_flows)
        np.testing.assert_array_equal(solution.bottlenecks, answers.bottlenecks[number])
        assert netnum.to_pandas(problem, solution)["rate"].tolist() == answers.flow_rates[number].tolist()
        for name in ("rates", "flow_rates", "prices", "loads"):
            np.testing.assert_array_equal(getattr(solution, name), getattr(answers, name)[number])
        for name in ("status", "objective", "gap", "kkt_residual", "iterations", "seconds"):
            assert getattr(solution, name) == getattr(answers, name)[number]
        assert repr(solution).startswith("Solution(optimal, 2 flows, 2 links")
        assert not solution.rates.flags.writeable
    assert answers[-1].rates.tolist() == answers[np.int64(3)].rates.tolist() == answers.rates[3].tolist()
    assert answers[1].failed_flows.tolist() == [0]
    again = pickle.loads(pickle.dumps(answers))
    assert repr(again) == repr(answers)
    assert repr(again[1]) == repr(answers[1])


@pytest.mark.parametrize(
    ("key", "picked"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        ([3, 0, 3], [3, 0, 3]),
        (np.array([True, False, False, True]), [0, 3]),
        ([], []),
    ],
)
def test_several_places_are_solutions_again(key, picked):
    _, _, answers = scenarios()
    some = answers[key]
    assert isinstance(some, netnum.Solutions)
    assert len(some) == len(picked)
    np.testing.assert_array_equal(some.rates, answers.rates[picked])
    np.testing.assert_array_equal(some.failed_flows, answers.failed_flows[picked])
    assert [repr(solution) for solution in some] == [repr(answers[place]) for place in picked]
    assert not some.rates.flags.writeable


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (4, "scenario 4 does not exist, expected a scenario from 0 to 3"),
        (-5, "scenario -5 does not exist, expected a scenario from 0 to 3"),
        (True, "scenarios are picked by a place, a slice, a list of places or an array of bool"),
        ((0, 1), "too many indices"),
        ("optimal", "only integers"),
        (np.array([True]), "boolean index did not match"),
        ([7], "index 7 is out of bounds"),
    ],
)
def test_what_picks_no_scenario_is_an_index_error(key, message):
    with pytest.raises(IndexError, match=message):
        scenarios()[2][key]


def test_scenarios_have_floors_and_costs_and_say_which_are_infeasible():
    problem = netnum.Problem([2.0, 2.0], [[0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 0, 1], flow_cap=1.0)
    given = {
        "flow_caps": np.full((3, 2), 5.0),
        "flow_floors": [[3.0, 0.0], [0.0, 0.0], [2.5, 2.0]],
        "path_costs": [[0.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 0.0]],
    }
    with ThreadPoolExecutor(2) as pool:
        for executor in (None, pool):
            found = netnum.solve_many(problem, executor=executor, **given)
            assert found.status.tolist() == ["optimal", "optimal", "infeasible"]
            np.testing.assert_allclose(found.flow_rates, [[3.0, 1.0], [2.0, 2.0], [20 / 9, 16 / 9]], atol=1e-3)
            assert repr(found).startswith("Solutions(3 scenarios, 2 optimal, 1 infeasible, 2 flows, 2 links, gap ")
            assert "gap inf" not in repr(found) and "<td>in 1</td>" in found._repr_html_()
            proof = found[2].infeasibility
            assert proof.fraction == pytest.approx(8 / 9) and proof.flows.tolist() == [0, 1]
            assert found[[0, 2]][1].infeasibility == pickle.loads(pickle.dumps(found))[2].infeasibility == proof
            assert found[0].infeasibility is None
    with pytest.raises(netnum.ProblemError, match="scenario 1: flow 0 has flow floor 7"):
        netnum.solve_many(problem, flow_floors=[[0.0, 0.0], [7.0, 0.0]])
    with pytest.raises(netnum.NumError, match="flow_floors has 1 entries, expected 2, one per row of flow_caps"):
        netnum.solve_many(problem, flow_caps=np.ones((2, 2)), flow_floors=np.zeros((1, 2)))


def test_scenarios_keep_their_classes():
    problem = netnum.Problem([4.0], [[0], [0]], netnum.AlphaFair(1.0), priority=[1, 0])
    found = netnum.solve_many(problem, flow_caps=[[3.0, 3.0], [3.0, 1.0]])
    np.testing.assert_allclose(found.flow_rates, [[1.0, 3.0], [3.0, 1.0]], atol=1e-3)
    assert [one.priority for one in found[1].classes] == [0.0, 1.0]


def test_a_solver_goes_on_with_other_costs():
    problem = netnum.Problem([2.0, 2.0], [[0], [1]], netnum.AlphaFair(1.0), group=[0, 0])
    solver = netnum.Solver(problem)
    solver.solve()
    solver.update(path_costs=[0.0, 0.4])
    np.testing.assert_allclose(solver.solve(tol=1e-9, stop="kkt").rates, [2.0, 0.5], rtol=1e-6)
    assert solver.problem.path_cost.tolist() == [0.0, 0.4]
    with pytest.raises(netnum.ProblemError, match="path 1 has cost -1"):
        solver.update(path_costs=[0.0, -1.0], capacities=[1.0, 1.0])
    assert solver.problem.capacities.tolist() == [2.0, 2.0]
    with pytest.raises(netnum.ProblemError, match="path_cost has 3 entries, expected 2, one per path"):
        solver.update(path_costs=[1.0, 1.0, 1.0])


def test_a_tie_cost_of_another_length_is_named():
    problem = netnum.Problem([2.0, 2.0], [[0], [1]], "throughput", group=[0, 0])
    with pytest.raises(netnum.ProblemError, match="tie_cost has 3 entries, expected 2, one per link"):
        netnum.solve(problem, tie_cost=[1.0, 2.0, 3.0])
