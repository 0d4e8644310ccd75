"""Floors of pairs: the paths that they want are found before anything is solved, or none is missing for them."""

import time

import numpy as np
import pytest
from common import seconds_until_interrupted
from edge_form import drawn

import netnum

pytest.importorskip("scipy")

TRIANGLE = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")


@pytest.mark.parametrize("seed", range(12))
def test_floors_that_fit_over_some_paths_of_the_network_are_kept(seed):
    net, sources, destinations, _, demands = drawn(seed)
    pairs = (np.array(sources), np.array(destinations))
    fraction = netnum.concurrent_flow(netnum.Problem(net, pairs, flow_cap=demands)).fraction
    floors = 0.98 * fraction * demands
    solution = netnum.solve(netnum.Problem(net, pairs, "throughput", flow_floor=floors))
    assert solution.is_optimal
    assert (solution.flow_rates >= floors * (1 - 1e-9)).all()
    for utility in ("throughput", "max-min"):
        too_much = netnum.solve(netnum.Problem(net, pairs, utility, flow_floor=1.02 * fraction * demands))
        assert too_much.status == "infeasible"
        # Of all paths of the network, not of those that were found before it was proven.
        assert too_much.infeasibility.fraction == pytest.approx(1 / 1.02, rel=1e-9)
        carried = too_much.problem.flow_rates(too_much.infeasibility.rates)
        assert (carried >= fraction * demands * (1 - 1e-9)).all()


def test_floors_that_fit_over_no_single_path_are_kept_by_max_min_as_well():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston"), ("Seattle", "Denver")], "max-min", flow_floor={0: 15.0})
    assert netnum.solve(problem).flow_rates == pytest.approx([15.0, 1.0], rel=1e-9)


# --- floors whose proof takes rounds, in each of which a linear program is solved ---


@pytest.fixture(scope="module")
def problem():
    net, sources, destinations, _, demands = drawn(1, nodes=30, pairs=120, links=45)
    pairs = (np.array(sources), np.array(destinations))
    fraction = netnum.concurrent_flow(netnum.Problem(net, pairs, flow_cap=demands)).fraction
    return netnum.Problem(net, pairs, "throughput", flow_floor=0.99 * fraction * demands)


def test_a_callback_ends_them(problem):
    seen = []
    stopped = netnum.solve(problem, callback=lambda progress: seen.append(progress))
    assert stopped.is_optimal and seen[0].iteration == 0 and np.isinf(seen[0].gap)
    ended = netnum.solve(problem, callback=lambda progress: False)
    assert (ended.status, ended.method, ended.flow_rates.max()) == ("stopped", "none", 0.0)


def test_a_time_limit_ends_them(problem):
    began = time.perf_counter()
    ended = netnum.solve(problem, time_limit=0.0)
    assert ended.status == "time_limit" and not ended.is_optimal
    assert time.perf_counter() - began < 0.5


def test_ctrl_c_ends_them(problem):
    def work():
        while True:
            netnum.solve(problem)

    assert seconds_until_interrupted(work) < 0.5
