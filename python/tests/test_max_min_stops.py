"""Max-min over several paths, and its first level, stopped by Ctrl-C, a time limit or a callback; bad input."""

import numpy as np
import pytest
from common import seconds_until_interrupted

import netnum


@pytest.fixture(scope="module")
def problem():
    """Two paths for each of 50 000 flows: some tenths of a second of work, or seconds."""
    # The first bar imports tqdm, which an interrupt must not cut short.
    netnum.solve(netnum.Problem([1.0], [[0]], netnum.AlphaFair(np.inf)), progress=True)
    net = netnum.topology.leaf_spine(racks=64, servers_per_rack=16, spines=8)
    pairs = net.random_pairs(50_000, seed=1)
    lists = [path for seed in (1, 2) for path in net.ecmp(*pairs, seed=seed)]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 50_000)
    group = np.tile(np.arange(50_000), 2)
    return netnum.Problem(net, lists, netnum.AlphaFair(np.inf, weights), group=group)


@pytest.fixture(scope="module")
def demands():
    """Two paths for each of 400 000 demands, which take a tenth of the time that max-min does: as long as the above."""
    net = netnum.topology.leaf_spine(racks=64, servers_per_rack=16, spines=8)
    pairs = net.random_pairs(400_000, seed=1)
    one, other = (net.ecmp(*pairs, seed=seed) for seed in (1, 2))
    indptr = np.concatenate([one.indptr, one.indptr[-1] + other.indptr[1:]])
    paths = netnum.Paths(indptr, np.concatenate([one.indices, other.indices]))
    return netnum.Problem(net, paths, netnum.AlphaFair(np.inf), group=np.tile(np.arange(400_000), 2), flow_cap=1.0)


CALLS = {
    "max_min": netnum.max_min,
    "max_min, accuracy": lambda problem: netnum.max_min(problem, accuracy=1e-6),
    "solve": netnum.solve,
    "solve, progress": lambda problem: netnum.solve(problem, progress=True),
    "step": lambda problem: netnum.Solver(problem, "max-min").step(10**9),
    "certify": lambda problem: netnum.certify(
        problem, np.zeros(len(problem.group)), np.zeros(len(problem.network.capacities))
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_it_within_100_ms(problem, call):
    delays = [seconds_until_interrupted(lambda: CALLS[call](problem), after) for after in (0.005, 0.01, 0.02)]
    assert sorted(delays)[1] < 0.1


@pytest.mark.parametrize("call", [netnum.concurrent_flow, netnum.min_utilization])
def test_ctrl_c_stops_what_carries_demands_within_100_ms(demands, call):
    delays = [seconds_until_interrupted(lambda: call(demands), after) for after in (0.005, 0.01, 0.02)]
    assert sorted(delays)[1] < 0.1


def test_a_time_limit_ends_it_with_feasible_rates_and_a_gap(problem):
    solution = netnum.solve(problem, time_limit=0.3)
    assert solution.status == "time_limit"
    assert solution.seconds < 1.0
    assert np.all(solution.loads <= problem.network.capacities * (1 + 1e-12))
    assert solution.gap > 0


def test_a_callback_gets_its_rows_and_stops_it(problem):
    rows = []

    def three(progress):
        rows.append(progress.iteration)
        return len(rows) < 3

    solution = netnum.solve(problem, callback=three)
    assert solution.status == "stopped"
    assert rows == sorted(rows) and len(rows) == 3


def test_bad_input_is_an_error_that_names_it(problem):
    rates, prices = np.zeros(len(problem.group)), np.zeros(len(problem.network.capacities))
    rates[7] = -1.0
    with pytest.raises(netnum.NumError, match="path 7"):
        netnum.certify(problem, rates, prices)
    with pytest.raises(netnum.NumError, match="rates"):
        netnum.certify(problem, rates[1:], prices)
    with pytest.raises(netnum.NumError, match="accuracy"):
        netnum.max_min(problem, accuracy=1.0)
    with pytest.raises(TypeError, match="start"):
        netnum.max_min(problem, start=rates)
    with pytest.raises(netnum.NumError, match="flow 0"):
        netnum.max_min(netnum.Problem([1.0], [[0]], netnum.Linear(1.0)))
