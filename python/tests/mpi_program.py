"""What every rank of `test_distributed.py` runs: the function of this file that the first argument names."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

import netnum

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
CASES = Path(__file__).parents[2] / "crates/num-core/tests/cases"


def random_problem(seed, flows=300):
    net = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
    rng = np.random.default_rng(seed)
    paths = net.ecmp(*net.random_pairs(flows, seed=seed), seed=seed)
    alpha = 1.0 if seed % 2 else rng.choice([0.5, 1.0, 2.0], flows)
    utility = {"alpha": alpha, "weight": rng.uniform(0.5, 2.0, flows)}
    caps = np.where(rng.random(flows) < 0.2, rng.uniform(1e7, 1e9, flows), np.inf)
    return net, [paths[path] for path in range(flows)], utility, caps


def part(net, paths, utility, caps, own):
    alpha = np.broadcast_to(utility["alpha"], len(caps))[own]
    utility = netnum.AlphaFair(alpha, weight=utility["weight"][own])
    return netnum.Problem(net, [paths[path] for path in own], utility, rate_cap=caps[own])


def agrees():
    for seed in range(int(sys.argv[2])):
        given = random_problem(seed)
        whole, own = part(*given, np.arange(300)), np.arange(RANK, 300, RANKS)
        for method in ("fast-ned", "ned", "gradient", "fgm") if seed < 2 else ("fast-ned",):
            # Near a degenerate link a KKT residual may stay above any tolerance, in one order of sums or the other.
            settings = {"tol": 1e-13 if method == "fast-ned" else 1e-6, "stop": "gap"}
            found = netnum.distributed.solve(part(*given, own), method, comm=COMM, max_iterations=20_000, **settings)
            expected = netnum.solve(whole, method, max_iterations=20_000, **settings)
            assert found.status == expected.status, (seed, method, found, expected)
            assert COMM.allgather(found.certificate.relative_gap) == [found.certificate.relative_gap] * RANKS
            tolerance = 1e-6 if method == "fast-ned" else 1e-2
            if found.is_optimal:
                np.testing.assert_allclose(found.rates, expected.rates[own], rtol=tolerance, err_msg=f"{seed} {method}")


def again():
    given = random_problem(7)
    solve = lambda: netnum.distributed.solve(part(*given, np.arange(RANK, 300, RANKS)))  # noqa: E731
    np.testing.assert_array_equal(solve().rates, solve().rates)


def raised(work):
    try:
        work()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def say(*words):
    """A line in one piece: the launcher mixes the pieces of all ranks."""
    os.write(1, (" ".join(map(str, (RANK, *words))) + "\n").encode())


def refusals():
    problem = netnum.Problem([1.0 + RANK], [[0]], netnum.AlphaFair(1.0))
    say("capacity", raised(lambda: netnum.distributed.solve(problem)))
    problem = netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0))
    say("tol", raised(lambda: netnum.distributed.solve(problem, tol=10.0 ** (-4 - RANK))))
    wrong = "much" if RANK == 1 else 1e-6
    say("type", raised(lambda: netnum.distributed.solve(problem, tol=wrong)))
    say("comm", raised(lambda: netnum.distributed.solve(problem, comm=3)))

    def callback(progress):
        if RANK == 1:
            raise RuntimeError("on purpose")

    say("callback", raised(lambda: netnum.distributed.solve(problem, callback=callback)))
    assert netnum.distributed.solve(problem).is_optimal


def interrupted():
    def callback(progress):
        if RANK == 1 and progress.iteration == 5:
            os.kill(os.getpid(), signal.SIGINT)

    given = random_problem(3)
    endless = {"method": "gradient", "tol": 1e-300, "max_iterations": 10**9}
    solve = lambda: netnum.distributed.solve(  # noqa: E731
        part(*given, np.arange(RANK, 300, RANKS)), callback=callback, **endless
    )
    say(raised(solve))


def killed():
    def callback(progress):
        if RANK == 1 and progress.iteration == 5:
            print("pids", *pids, time.time(), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    pids = COMM.allgather(os.getpid())
    given = random_problem(3)
    own = np.arange(RANK, 300, RANKS)
    endless = {"method": "gradient", "tol": 1e-300, "max_iterations": 10**9}
    netnum.distributed.solve(part(*given, own), callback=callback, **endless)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
