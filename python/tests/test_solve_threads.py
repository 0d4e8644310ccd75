"""`threads`: it fixes the time that a solve takes, and nothing else."""

import numpy as np
import pytest

import netnum


@pytest.fixture(scope="module")
def problem():
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10e9, fabric_capacity=40e9)
    rng = np.random.default_rng(1)
    sources = rng.integers(144, size=45_000)
    destinations = (sources + rng.integers(1, 144, size=45_000)) % 144
    alpha = rng.choice([0.5, 1.0, 2.0], size=45_000)
    return netnum.Problem(net, net.ecmp(sources, destinations, seed=1), netnum.AlphaFair(alpha))


def test_any_number_of_threads_gives_the_same_bits(problem):
    one, two, three = (netnum.solve(problem, "fast-ned", tol=1e-3, threads=threads) for threads in (1, 2, 3))
    assert one.status == "optimal"
    for other in (two, three):
        assert other.rates.tobytes() == one.rates.tobytes()
        assert other.prices.tobytes() == one.prices.tobytes()


@pytest.mark.parametrize("method", ["fast-ned", "ned", "gradient"])
def test_any_number_of_threads_takes_the_same_steps(problem, method):
    solvers = [netnum.Solver(problem, method, threads=threads) for threads in (1, 2, 3)]
    for solver in solvers:
        solver.step(5)
    for solver in solvers[1:]:
        assert solver.raw_rates.tobytes() == solvers[0].raw_rates.tobytes()
        assert solver.prices.tobytes() == solvers[0].prices.tobytes()


@pytest.mark.parametrize("make", [netnum.solve, netnum.Solver])
def test_no_threads_is_an_error(problem, make):
    with pytest.raises(netnum.NumError, match="threads is 0, expected at least 1"):
        make(problem, threads=0)
