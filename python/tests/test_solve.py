"""Answers known on paper, and what the arguments of `solve` promise."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import netnum

CASES = sorted((Path(__file__).resolve().parents[2] / "crates" / "num-core" / "tests" / "cases").glob("*.json"))


@pytest.fixture(scope="module")
def leaf_spine():
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    return netnum.Problem(net, net.ecmp(*net.random_pairs(300, seed=1), seed=1), netnum.AlphaFair(1.0))


# --- answers known on paper ---


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 10.0])
def test_on_one_link_rates_are_proportional_to_the_weights(alpha):
    weight = np.array([1.0, 2.0, 5.0])
    solution = netnum.solve(netnum.Problem([8.0], [[0]] * 3, netnum.AlphaFair(alpha, weight)), tol=1e-12)
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.rates, weight, rtol=1e-5)
    np.testing.assert_allclose(solution.loads, [8.0], rtol=1e-12)


@pytest.mark.parametrize(("links", "alpha"), [(2, 1.0), (5, 2.0), (10, 0.5), (4, 5.0)])
def test_in_a_parking_lot_the_long_flow_gets_one_share_of_one_plus_the_root_of_n(links, alpha):
    paths = [list(range(links))] + [[link] for link in range(links)]
    problem = netnum.Problem(netnum.topology.parking_lot(links, capacity=7.0), paths, netnum.AlphaFair(alpha))
    long, *short = netnum.solve(problem, tol=1e-12).rates
    assert long == pytest.approx(7.0 / (1 + links ** (1 / alpha)), rel=1e-5)
    np.testing.assert_allclose(short, 7.0 - long, rtol=1e-5)


def test_bandwidth_functions_share_a_link_as_they_were_drawn():
    # At fair share 2 the first gets 4 and the second 1, which fills the link.
    first = netnum.BandwidthFunction([0, 5], [0, 10])
    second = netnum.BandwidthFunction([0, 1, 3], [0, 0, 2])
    solution = netnum.solve(netnum.Problem([5.0], [[0], [0]], [first, second]), tol=1e-10)
    np.testing.assert_allclose(solution.rates, [4.0, 1.0], rtol=1e-4)


def test_small_flows_go_first_by_the_power_of_one_over_epsilon():
    utility = netnum.MinFct(size=[1.0, 2.0], epsilon=0.5)
    rates = netnum.solve(netnum.Problem([10.0], [[0], [0]], utility), tol=1e-12).rates
    assert rates[0] / rates[1] == pytest.approx(4.0, rel=1e-4)


def test_a_capped_flow_leaves_the_rest_to_the_other():
    problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0), rate_cap=[2.0, np.inf])
    np.testing.assert_allclose(netnum.solve(problem, tol=1e-10).rates, [2.0, 8.0], rtol=1e-6)


def test_prices_are_utility_per_unit_of_rate():
    solution = netnum.solve(netnum.Problem([4.0], [[0], [0]], netnum.AlphaFair(1.0)), tol=1e-10)
    assert solution.prices[0] == pytest.approx(0.5, rel=1e-6)  # U' = 1/x at x = 2
    assert solution.objective == pytest.approx(2 * np.log(2.0), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_nothing_depends_on_the_units(leaf_spine, scale):
    here = netnum.solve(leaf_spine)
    there = netnum.solve(netnum.Problem(leaf_spine.capacities * scale, leaf_spine.paths, leaf_spine.utility))
    assert there.iterations == here.iterations
    np.testing.assert_allclose(there.rates, here.rates * scale, rtol=1e-6)


@pytest.mark.parametrize("path", CASES[::6], ids=[path.stem for path in CASES[::6]])
def test_a_problem_survives_json_and_its_own_arguments(path):
    problem = netnum.Problem.from_json(path.read_text())
    text = problem.to_json()
    assert netnum.Problem.from_json(text).to_json() == text
    again = netnum.Problem(
        problem.network, problem.paths, problem.utility, group=problem.group, rate_cap=problem.rate_cap
    )
    assert again.to_json() == text


# --- what goes in ---


def test_paths_may_be_lists_or_compressed_rows_or_a_routing_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    lists = [[0, 2], [1], [2, 1]]
    matrix = np.zeros((3, 3))
    for path, links in enumerate(lists):
        matrix[links, path] = 1
    forms = [
        lists,
        [np.array(links, dtype=np.int32) for links in lists],
        tuple(map(tuple, lists)),
        netnum.Paths([0, 2, 3, 5], [0, 2, 1, 2, 1]),
        *(make(matrix) for make in (sparse.csc_matrix, sparse.csr_array, sparse.coo_array, sparse.lil_matrix)),
        sparse.csc_array(matrix.astype(bool)),
        sparse.csr_matrix(matrix.astype(np.int8)),
    ]
    rates = [netnum.solve(netnum.Problem([1.0, 2.0, 3.0], paths, netnum.AlphaFair(1.0))).rates for paths in forms]
    for others in rates[1:]:
        np.testing.assert_allclose(others, rates[0], rtol=1e-4)


def test_entries_of_zero_that_a_routing_matrix_stores_are_no_crossings():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.coo_array(([1.0, 0.0, 1.0], ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    problem = netnum.Problem([1.0, 2.0], matrix, netnum.AlphaFair(1.0))
    assert [links.tolist() for links in problem.paths] == [[0], [1]]
    assert matrix.nnz == 3, "the caller's matrix is left as it was"


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8, list, tuple])
def test_numbers_of_any_kind_become_floats(kind):
    capacities = kind([4, 2]) if kind in (list, tuple) else np.array([4, 2], dtype=kind)
    problem = netnum.Problem(capacities, [[0], [1]], netnum.AlphaFair(np.float32(1)))
    assert problem.capacities.dtype == np.float64
    np.testing.assert_array_equal(problem.capacities, [4.0, 2.0])


def test_inputs_are_copied():
    capacities = np.array([4.0])
    problem = netnum.Problem(capacities, [[0]], netnum.AlphaFair(1.0))
    capacities[0] = 1e6
    assert netnum.solve(problem).rates[0] == pytest.approx(4.0)


def test_strided_arrays_are_read_right():
    capacities = np.arange(6.0)[::-2]
    np.testing.assert_array_equal(netnum.Problem(capacities, [[0]], netnum.AlphaFair(1.0)).capacities, [5.0, 3.0, 1.0])


def test_a_problem_shows_what_it_was_made_of():
    net = netnum.topology.star(3, capacity=2.0)
    utility = netnum.AlphaFair(1.0)
    problem = netnum.Problem(net, [[0, 4], [0, 5], [1, 5]], utility, group=[0, 0, 1], rate_cap=[1.0, np.inf, 3.0])
    assert problem.network is net
    assert problem.utility is utility
    assert (problem.flows, problem.links, len(problem.paths)) == (2, 6, 3)
    assert problem.group.tolist() == [0, 0, 1]
    assert problem.rate_cap.tolist() == [1.0, np.inf, 3.0]
    assert problem.paths[-1].tolist() == [1, 5]
    assert problem.flow_rates([1.0, 2.0, 3.0]).tolist() == [3.0, 3.0]
    assert problem.loads([1.0, 2.0, 3.0]).tolist() == [3.0, 3.0, 0.0, 0.0, 1.0, 5.0]
    bare = netnum.Problem([1.0], [[0]], utility)
    assert bare.rate_cap is None
    assert bare.network.tolist() == [1.0]


def test_a_problem_without_flows_has_an_empty_answer():
    solution = netnum.solve(netnum.Problem([1.0, 2.0], [], netnum.AlphaFair(1.0)))
    assert solution.status == "optimal"
    assert (solution.rates.size, solution.flow_rates.size, solution.objective) == (0, 0, 0.0)
    assert solution.prices.tolist() == [0.0, 0.0]


def test_failed_flows_get_nothing_and_are_named():
    problem = netnum.Problem([4.0, 0.0], [[0], [0], [0, 1], [0]], netnum.AlphaFair(1.0), rate_cap=[9, 9, 9, 0])
    solution = netnum.solve(problem, tol=1e-10)
    assert solution.failed_flows.tolist() == [2, 3]
    np.testing.assert_allclose(solution.flow_rates, [2.0, 2.0, 0.0, 0.0], rtol=1e-6)
    assert solution.objective == pytest.approx(2 * np.log(2.0), rel=1e-6)


# --- what comes out ---


def test_results_are_moved_and_not_copied_and_cannot_be_written_to(leaf_spine):
    solution = netnum.solve(leaf_spine)
    for name in ("rates", "flow_rates", "prices", "loads", "bottlenecks", "failed_flows"):
        array = getattr(solution, name)
        assert array is getattr(solution, name)
        assert type(array.base).__name__ == "PySliceContainer", "memory that Rust has handed over"
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_the_certificate_is_the_one_that_certify_gives(leaf_spine):
    solution = netnum.solve(leaf_spine)
    again = netnum.certify(leaf_spine, solution.rates, solution.prices)
    assert again.relative_gap == pytest.approx(solution.gap, rel=1e-3, abs=1e-12)
    assert (solution.gap, solution.overload, solution.kkt_residual) == (
        solution.certificate.relative_gap,
        solution.certificate.overload,
        solution.certificate.kkt_residual,
    )
    assert netnum.certify(leaf_spine, solution.rates * 0.5, solution.prices).relative_gap > 0.1


def test_only_a_passed_certificate_is_called_optimal(leaf_spine):
    stopped = netnum.solve(leaf_spine, tol=1e-12, max_iterations=3)
    assert (stopped.status, stopped.is_optimal, stopped.iterations) == ("max_iterations", False, 3)
    assert stopped.gap > 1e-12
    assert np.all(stopped.loads <= leaf_spine.capacities * (1 + 1e-9))
    crawling = netnum.solve(leaf_spine, "gradient", gamma=1e-6, max_iterations=10**9, time_limit=0.05)
    assert crawling.status == "time_limit"
    assert netnum.solve(leaf_spine, time_limit=0).iterations == 0
    assert netnum.solve(leaf_spine, time_limit=float("inf")).is_optimal


def test_stopping_on_the_kkt_residual_makes_every_rate_right(leaf_spine):
    exact = netnum.solve(leaf_spine, tol=1e-10, stop="kkt")
    assert exact.kkt_residual <= 1e-10
    np.testing.assert_allclose(netnum.solve(leaf_spine, tol=1e-6, stop="kkt").rates, exact.rates, rtol=1e-4)


def test_a_warm_start_needs_fewer_iterations(leaf_spine):
    cold = netnum.solve(leaf_spine)
    assert netnum.solve(leaf_spine, warm_start=cold).iterations < cold.iterations / 2
    assert netnum.solve(leaf_spine, warm_start=cold.prices).iterations < cold.iterations / 2


def test_options_reach_the_method(leaf_spine):
    slow = netnum.solve(leaf_spine, "ned", gamma=0.01, max_iterations=50)
    fast = netnum.solve(leaf_spine, "ned", gamma=0.4, max_iterations=50)
    assert fast.gap < slow.gap


def test_every_listed_method_and_option_is_taken(leaf_spine):
    assert "fast-ned" in netnum.methods()
    fairest = netnum.Problem(leaf_spine.network, leaf_spine.paths, netnum.AlphaFair(float("inf")))
    for name, method in netnum.methods().items():
        assert method["summary"]
        options = {option: entry["default"] for option, entry in method["options"].items()}
        problem = fairest if name == "max-min" else leaf_spine
        assert netnum.solve(problem, name, max_iterations=2, **options).method == name
    gamma = netnum.methods()["ned"]["options"]["gamma"]
    assert gamma == {"default": 0.4, "range": "a finite number > 0", "summary": "step"}


def test_a_trace_has_a_row_per_iteration(leaf_spine):
    solution = netnum.solve(leaf_spine, trace=True)
    trace = solution.trace
    assert len(trace) == solution.iterations + 1
    assert trace.iteration.tolist() == list(range(solution.iterations + 1))
    assert trace.gap[-1] <= 1e-6 < trace.gap[0]
    assert np.all(np.diff(trace.seconds) >= 0)
    assert np.all(trace.overload >= 0)
    assert netnum.solve(leaf_spine).trace is None


def test_the_defaults_are_those_of_the_contract():
    parameters = inspect.signature(netnum.solve).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    assert defaults == {
        "method": "auto",
        "tol": 1e-6,
        "stop": "rates",
        "max_iterations": 20_000,
        "time_limit": None,
        "warm_start": None,
        "callback": None,
        "progress": False,
        "trace": False,
        "threads": 1,
        "tie_cost": None,
        "few_paths": False,
        "max_paths": None,
    }
    keyword_only = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keyword_only == set(defaults) - {"method"}


def test_the_default_for_iterations_is_the_one_that_is_shown():
    small = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1], [1]], netnum.AlphaFair(1.0))
    shown = inspect.signature(netnum.solve).parameters["max_iterations"].default
    assert netnum.solve(small, "gradient", gamma=1e-9, tol=1e-12).iterations == shown


# --- the iteration itself ---


def test_a_solver_steps_to_the_same_answer(leaf_spine):
    solver = netnum.Solver(leaf_spine, "ned", gamma=0.4)
    assert (solver.iteration, solver.method, solver.problem) == (0, "ned", leaf_spine)
    before = solver.certificate().relative_gap
    solver.step()
    solver.step(299)
    assert solver.iteration == 300
    assert solver.certificate().relative_gap < 1e-3 * before
    np.testing.assert_allclose(netnum.f_norm(leaf_spine, solver.raw_rates), solver.rates, rtol=1e-12)
    assert np.all(leaf_spine.loads(solver.rates) <= leaf_spine.capacities * (1 + 1e-9))


def test_a_solver_starts_at_the_given_prices(leaf_spine):
    solution = netnum.solve(leaf_spine)
    solver = netnum.Solver(leaf_spine, warm_start=solution)
    np.testing.assert_allclose(solver.prices, solution.prices, rtol=1e-12)


def test_normalizers_make_rates_feasible_and_raise_them_only_with_raise_rates():
    problem = netnum.Problem([1.0, 10.0], [[0], [1]], netnum.AlphaFair(1.0))
    assert netnum.u_norm(problem, [2.0, 4.0]).tolist() == [1.0, 2.0]
    assert netnum.f_norm(problem, [2.0, 4.0]).tolist() == [1.0, 4.0]
    assert netnum.f_norm(problem, [2.0, 4.0], raise_rates=True).tolist() == [1.0, 10.0]
    assert netnum.u_norm(problem, [0.25, 2.5], raise_rates=True).tolist() == [1.0, 10.0]
    assert netnum.u_norm(problem, [0.25, 2.5]).tolist() == [0.25, 2.5]
