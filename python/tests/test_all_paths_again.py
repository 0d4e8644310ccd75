"""Problems of pairs that change: the paths that are there are those to begin with, and the answer is the same."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum

TRIANGLE = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")
PAIRS = [("Seattle", "Houston"), ("Denver", "Houston")]
NET = netnum.topology.backbone("nsfnet")
DEMANDS = netnum.demands.gravity(NET, total=40.0, spread=1.0, seed=1)


def of_demands(utility="proportional", seed=0, **others):
    volumes = DEMANDS.volumes * np.random.default_rng(seed).uniform(0.5, 1.5, len(DEMANDS))
    return netnum.Problem(NET, netnum.Demands(DEMANDS.sources, DEMANDS.destinations, volumes), utility, **others)


def same(one, other):
    assert one.is_optimal and other.is_optimal
    np.testing.assert_allclose(one.flow_rates, other.flow_rates, rtol=3e-3, atol=1e-9)


# --- warm starts ---


@pytest.mark.parametrize("utility", ["proportional", 2.0, "max-min"])
def test_a_warm_start_has_the_answer_of_a_cold_one(utility):
    before = netnum.solve(of_demands(utility))
    cold = netnum.solve(of_demands(utility, seed=1))
    warm = netnum.solve(of_demands(utility, seed=1), warm_start=before)
    same(warm, cold)
    again = netnum.solve(of_demands(utility), warm_start=before)
    same(again, before)
    # Its paths are all that are wanted: a round of them, and one to prove it at most; max-min may split its cuts in
    # another way and ask for two more.
    assert again.rounds <= (4 if utility == "max-min" else 2)
    assert warm.rounds <= cold.rounds + 1


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_whatever_changes_a_warm_start_has_the_answer_of_a_cold_one(data):
    cities = list(NET.node_names)
    chosen = st.lists(st.permutations(cities).map(lambda order: tuple(order[:2])), min_size=1, max_size=12)
    seed = data.draw(st.integers(0, 99))
    before = netnum.solve(netnum.Problem(NET, data.draw(chosen)))
    capacities = NET.capacities * np.random.default_rng(seed).uniform(0.2, 2.0, len(NET.capacities))
    capacities[data.draw(st.lists(st.integers(0, len(capacities) - 1), max_size=2))] = 0.0
    net = NET.with_capacities(capacities)
    limits = data.draw(st.sampled_from([{}, {"max_hops": 8}, {"link_cost": 0.01}, {"avoid_nodes": ["Boulder"]}]))
    problem = netnum.Problem(net, data.draw(chosen), 2.0, **limits)
    same(netnum.solve(problem, warm_start=before), netnum.solve(problem))


def test_paths_that_are_given_are_those_to_begin_with():
    given = netnum.solve(netnum.Problem(NET, NET.k_shortest_paths(DEMANDS, 4)))
    warm = netnum.solve(netnum.Problem(NET, DEMANDS), warm_start=given)
    same(warm, netnum.solve(netnum.Problem(NET, DEMANDS)))


def test_prices_alone_and_a_solution_of_another_network_are_prices():
    problem = netnum.Problem(TRIANGLE, PAIRS)
    solution = netnum.solve(problem)
    same(netnum.solve(problem, warm_start=solution.prices), solution)
    other = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nDenver Dallas 6")
    elsewhere = netnum.solve(netnum.Problem(other, [("Seattle", "Houston")]))
    same(netnum.solve(problem, warm_start=elsewhere), solution)
    same(netnum.solve(problem, warm_start=pickle.loads(pickle.dumps(solution))), solution)


# --- Solver ---


def test_a_solver_goes_on_from_the_paths_that_are_there():
    solver = netnum.Solver(of_demands())
    first = solver.solve()
    same(first, netnum.solve(of_demands()))
    same(solver.solve(), first)
    for seed in (1, 2):
        changed = of_demands(seed=seed)
        solver.update(flow_caps=changed.flow_cap)
        solution = solver.solve()
        same(solution, netnum.solve(changed))
    assert solver.problem == changed
    solver.update(capacities=NET.without([("Seattle", "Champaign")]).capacities)
    same(solver.solve(), netnum.solve(solver.problem))
    solver.update(utility="max-min")
    assert solver.method == "max-min"
    same(solver.solve(), netnum.solve(solver.problem))
    assert repr(solver).startswith("Solver(max-min, 182 flows over all paths, 42 links, iteration ")


def test_a_solver_of_pairs_has_no_single_steps():
    solver = netnum.Solver(netnum.Problem(TRIANGLE, PAIRS))
    assert solver.iteration == 0
    for call in (
        solver.step,
        solver.certificate,
        lambda: solver.rates,
        lambda: solver.raw_rates,
        lambda: solver.prices,
        lambda: solver.update(path_costs=1.0),
    ):
        with pytest.raises(netnum.ProblemError, match="has pairs and no paths: "):
            call()
    with pytest.raises(netnum.MethodError, match='"fast-ned" cannot take all paths'):
        netnum.Solver(netnum.Problem(TRIANGLE, PAIRS), "fast-ned")
    with pytest.raises(netnum.ProblemError, match="takes no costs beside max-min utilities"):
        netnum.Solver(netnum.Problem(TRIANGLE, PAIRS, link_cost=1.0)).update(utility="max-min")


def test_a_stopped_solve_goes_on_where_it_was():
    solver = netnum.Solver(of_demands())
    stopped = solver.solve(max_iterations=4)
    assert stopped.status == "max_iterations"
    same(solver.solve(), netnum.solve(of_demands()))
    assert solver.iteration > 4


# --- many at once ---


def test_many_problems_of_pairs_are_solved_as_one_by_one():
    problems = [of_demands(seed=seed) for seed in range(3)]
    problems.append(netnum.Problem(NET, NET.k_shortest_paths(DEMANDS, 2)))
    one_by_one = [netnum.solve(problem) for problem in problems]
    for threads in (1, 3):
        for many, one in zip(netnum.solve_many(problems, threads=threads), one_by_one, strict=True):
            np.testing.assert_array_equal(many.rates, one.rates)
            assert many.paths == one.paths and many.rounds == one.rounds
    warm = netnum.solve_many(problems, warm_start=one_by_one)
    assert [solution.rounds is None for solution in warm] == [False, False, False, True]
    for many, one in zip(warm, one_by_one, strict=True):
        same(many, one)


def test_many_problems_of_pairs_are_solved_by_an_executor():
    problems = [of_demands(seed=seed) for seed in range(3)]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = netnum.solve_many(problems, executor=pool)
    for solution, problem in zip(found, problems, strict=True):
        here = netnum.solve(problem)
        np.testing.assert_array_equal(solution.rates, here.rates)
        assert solution.paths == here.paths


def test_one_that_fails_has_its_number():
    problems = [netnum.Problem(TRIANGLE, PAIRS), netnum.Problem(TRIANGLE, PAIRS, "max-min")]
    with pytest.raises(netnum.MethodError, match='problem 1: method "interior-point" cannot take max-min'):
        netnum.solve_many(problems, "interior-point")
    with pytest.raises(netnum.ProblemError, match="warm_start has 1 entries, expected 2, one per problem"):
        netnum.solve_many(problems, warm_start=[None])
    with pytest.raises(netnum.ProblemError, match="has pairs and no paths"):
        netnum.solve_many(problems[0], flow_caps=[[1.0, 2.0]])


# --- studies ---


def test_a_failure_costs_less_where_traffic_is_routed_anew():
    # Houston is reached over Denver, or directly; the direct way is needed once Denver - Houston fails.
    problem = netnum.Problem(TRIANGLE, {("Seattle", "Denver"): 4.0, ("Denver", "Houston"): 8.0})
    study = netnum.failure_study(problem, [("Denver", "Houston"), ("Seattle", "Houston")], tol=1e-9)
    assert study.cut_off[0].tolist() == [] and study.throughput == pytest.approx([10.0, 12.0], rel=1e-6)
    kept = study.without_rerouting
    assert kept.names == study.names and kept.failures == study.failures
    # What fits on the direct way has no other path.
    assert kept.cut_off[0].tolist() == [1] and kept.cut_off[1].tolist() == []
    assert kept.before == pytest.approx([np.log(4.0), study.before[1]], abs=1e-6)
    assert kept.without_rerouting is None
    frame = study.to_pandas()
    assert (frame["throughput"] >= frame["throughput_without_rerouting"] - 1e-6).all()
    assert (frame["cut_off_without_rerouting"] >= frame["cut_off"]).all()


@pytest.mark.parametrize("objective", ["utility", "concurrent_flow", "min_utilization"])
def test_every_scenario_is_the_optimum_over_all_paths_that_are_left(objective):
    problem = of_demands(netnum.Linear(1.0))
    failures = [("Seattle", "Champaign"), ("Houston", "Atlanta")]
    study = netnum.failure_study(problem, failures, objective=objective)
    cut_off = [len(flows) for flows in study.without_rerouting.cut_off]
    for number, failure in enumerate(failures):
        left = problem.with_capacities(NET.without([failure]).capacities)
        if objective == "utility":
            expected, kept = netnum.solve(left).objective, study.without_rerouting.after[number]
            assert study.after[number] == pytest.approx(expected, rel=1e-5)
            assert kept <= expected * (1 + 1e-5)
        elif objective == "concurrent_flow":
            assert study.after[number] == pytest.approx(netnum.concurrent_flow(left).fraction, rel=1e-7)
            assert cut_off[number] or study.without_rerouting.after[number] <= study.after[number] * (1 + 1e-7)
        else:
            assert study.after[number] == pytest.approx(netnum.min_utilization(left).utilization, rel=1e-7)
            assert cut_off[number] or study.without_rerouting.after[number] >= study.after[number] * (1 - 1e-7)


def test_a_study_without_the_paths_of_before_solves_no_scenario_twice():
    problem, failures = of_demands(), [("Seattle", "Champaign")]
    both = netnum.failure_study(problem, failures)
    once = netnum.failure_study(problem, failures, without_rerouting=False)
    assert both.without_rerouting is not None and once.without_rerouting is None
    np.testing.assert_array_equal(once.after, both.after)


def test_flows_are_cut_off_where_the_network_no_longer_joins_their_ends():
    net = netnum.topology.from_edges("a b 1\nb c 1\nc a 1\nc d 1")
    study = netnum.failure_study(netnum.Problem(net, [("a", "d"), ("a", "c")]), ["c - d", "c - a"])
    assert [flows.tolist() for flows in study.cut_off] == [[0], []]
    assert study.names == ("c - d", "c - a")
    assert study.status == ["optimal", "optimal"]


def test_costs_of_links_count_in_a_study():
    problem = of_demands(link_cost=0.05)
    study = netnum.failure_study(problem, [("Seattle", "Champaign")], tol=1e-9)
    left = problem.with_capacities(NET.without([("Seattle", "Champaign")]).capacities)
    assert study.after[0] == pytest.approx(netnum.solve(left, tol=1e-9).objective, rel=1e-5)


def test_an_upgrade_gains_what_the_larger_network_has_over_all_paths():
    problem = of_demands()
    study = netnum.upgrade_study(problem, "fibers", check=3, tol=1e-8)
    best = study.ranking[0]
    larger = NET.capacities.copy()
    larger[list(study.upgrades[best])] *= 2
    gain = netnum.solve(problem.with_capacities(larger), tol=1e-8).objective - netnum.solve(problem, tol=1e-8).objective
    assert study.gained[best] == pytest.approx(gain, rel=1e-3)
    assert (study.gained <= study.predicted + 1e-4).all() or np.isnan(study.gained).any()


# --- derivatives ---


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_are_those_of_the_optimum_over_all_paths(seed):
    rng = np.random.default_rng(seed)
    net = NET.with_capacities(rng.uniform(1.0, 3.0, len(NET.capacities)))
    problem = netnum.Problem(net, net.random_pairs(12, seed=seed), 2.0)
    tight = {"tol": 1e-12, "stop": "kkt"}
    solution = netnum.solve(problem, **tight)
    sensitivity = solution.sensitivity()
    change = rng.uniform(-1.0, 1.0, len(net.capacities))
    moved = sensitivity.jvp(capacities=change)
    step = 1e-4
    more, less = (
        netnum.solve(problem.with_capacities(net.capacities + sign * step * change), **tight) for sign in (1, -1)
    )
    slope = (more.flow_rates - less.flow_rates) / (2 * step)
    np.testing.assert_allclose(moved["flow_rates"], slope, rtol=1e-2, atol=1e-3 * np.abs(slope).max())
    assert moved["objective"] == pytest.approx((more.objective - less.objective) / (2 * step), rel=1e-3)
