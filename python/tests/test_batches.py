"""`solve_many` on executors: the bits of a call without one, and errors that name the problem."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from common import NET, crowd, processes

import netnum

COLUMNS = ("status", "rates", "flow_rates", "prices", "loads", "bottlenecks", "objective", "gap", "iterations")


class Logarithm:
    def value(self, rates):
        return np.log(rates)

    def marginal(self, rates):
        return 1 / rates


class Raises(Logarithm):
    def marginal(self, rates):
        raise ZeroDivisionError("from the utility")


class Two(Exception):
    """Pickles, but does not come out of it."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


class RaisesTwo(Logarithm):
    def marginal(self, rates):
        raise Two(1, 2)


class Dies(Logarithm):
    def marginal(self, rates):
        os._exit(1)


class DoesNotPickle(Logarithm):
    def __reduce__(self):
        raise TypeError("not this one")


@pytest.fixture(scope="module")
def problems():
    return [crowd(10 + 3 * seed, seed) for seed in range(140)]


@pytest.fixture(scope="module")
def caps():
    return np.random.default_rng(1).uniform(1e8, 1e10, (70, 60))


@pytest.fixture(scope="module")
def spawned():
    with processes() as pool:
        yield pool


@pytest.fixture(params=["spawned", "threads"])
def pool(request):
    if request.param == "spawned":
        return request.getfixturevalue("spawned")
    threads = ThreadPoolExecutor(3)
    request.addfinalizer(threads.shutdown)
    return threads


def test_problems_have_the_bits_of_a_call_without_an_executor(problems, pool):
    several = [*problems, crowd(3, 0, Logarithm())]
    starts = [None, *netnum.solve_many(several[1:-1]), np.ones(len(NET.capacities))]
    for settings in ({}, {"tol": 1e-8, "stop": "kkt"}, {"max_iterations": 3}, {"warm_start": starts}):
        here = netnum.solve_many(several, **settings)
        there = netnum.solve_many(iter(several), executor=pool, **settings)
        for one, other, problem in zip(here, there, several, strict=True):
            for name in COLUMNS:
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert other.problem is problem
    ned = netnum.solve_many(several[:2], "ned", executor=pool, gamma=0.3, warm_start=np.ones(len(NET.capacities)))
    expected = netnum.solve_many(several[:2], "ned", gamma=0.3, warm_start=np.ones(len(NET.capacities)))
    assert [solution.objective for solution in ned] == [solution.objective for solution in expected]
    assert netnum.solve_many([], executor=pool) == []


@pytest.mark.parametrize("rows", [3, 20, 70])
def test_scenarios_have_the_bits_of_a_call_without_an_executor(caps, pool, rows):
    problem = crowd(60)
    links = np.random.default_rng(2).uniform(0.5, 1.0, (rows, 1)) * problem.capacities
    for given in ({"flow_caps": caps[:rows]}, {"capacities": links}, {"flow_caps": caps[:rows], "capacities": links}):
        here, there = netnum.solve_many(problem, **given), netnum.solve_many(problem, executor=pool, **given)
        assert repr(there).startswith(repr(here).partition(" iterations")[0])
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert len(netnum.solve_many(problem, flow_caps=caps[:0], executor=pool)) == 0


def test_one_bar_counts_the_problems(problems, pool, capsys):
    netnum.solve_many(problems, executor=pool, progress=True)
    shown = capsys.readouterr().err
    assert "140 of 140 problems" in shown and shown.endswith("\n") and shown.count("\n") == 1


def test_the_first_problem_that_fails_is_named(problems, pool):
    linear, raises = crowd(2, 0, netnum.Linear(1.0)), crowd(2, 0, Raises())
    for _ in range(3):
        with pytest.raises(netnum.MethodError, match=r'^problem 77: method "ned" cannot take linear utilities'):
            netnum.solve_many([*problems[:77], linear, *problems[:40], raises], "ned", executor=pool)
    with pytest.raises(ZeroDivisionError, match="from the utility") as caught:
        netnum.solve_many([*problems[:9], raises, linear], executor=pool)
    assert getattr(caught.value, "__notes__", ["in problem 9"]) == ["in problem 9"]
    assert "in marginal" in str(caught.value.__cause__)


def test_an_error_that_does_not_come_out_of_a_pickle_names_its_problem(problems, spawned):
    with pytest.raises(RuntimeError, match=r"^Two: 1 and 2") as caught:
        netnum.solve_many([*problems[:9], crowd(2, 0, RaisesTwo())], executor=spawned)
    assert str(caught.value).endswith("(in problem 9)") or sys.version_info < (3, 11)
    assert "in marginal" in str(caught.value.__cause__)
    assert len(netnum.solve_many(problems[:2], executor=spawned)) == 2


@pytest.mark.parametrize(
    ("others", "kind", "message"),
    [
        ({"method": "nad"}, netnum.MethodError, '^unknown method "nad", did you mean "ned"?'),
        ({"tol": -1.0}, netnum.NumError, "^tol is -1, expected a finite number > 0"),
        ({"warm_start": [None]}, netnum.ProblemError, "^warm_start has 1 entries, expected 140, one per problem"),
        ({"warm_start": [None] * 139 + [[1.0]]}, netnum.ProblemError, "^problem 139: prices has 1 entries"),
    ],
)
def test_bad_settings_are_those_of_a_call_without_an_executor(problems, pool, others, kind, message):
    with pytest.raises(kind, match=message):
        netnum.solve_many(problems, executor=pool, **others)


def test_bad_rows_are_refused_before_any_is_sent(caps):
    bad = caps.copy()
    bad[55, 7] = -1.0
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(netnum.ProblemError, match=r"^scenario 55: flow 7 \(server 2 to server 21\) has flow cap -1"),
    ):
        netnum.solve_many(crowd(60), flow_caps=bad, executor=pool)
    assert not pool._threads


def test_what_does_not_pickle_is_named(problems, spawned):
    bad = crowd(5, 0, DoesNotPickle())
    with pytest.raises(netnum.NumError, match=r"^problem 130 does not pickle: not this one"):
        netnum.solve_many([*problems[:130], bad, *problems[:5]], executor=spawned)
    with pytest.raises(netnum.NumError, match=r"^the problem does not pickle: not this one"):
        netnum.solve_many(bad, flow_caps=np.ones((2, 5)), executor=spawned)


def test_a_worker_that_dies_is_an_error_with_the_numbers_of_its_problems(problems):
    with processes(1) as pool:
        with pytest.raises(netnum.NumError, match=r"^problems 0 to 1: BrokenProcessPool: "):
            netnum.solve_many([crowd(5, 0, Dies()), *problems], executor=pool)
        with pytest.raises(netnum.NumError, match=r"^the executor takes no calls: BrokenProcessPool"):
            netnum.solve_many(problems, executor=pool)


def test_what_is_no_executor_and_one_that_is_shut_down(problems):
    with pytest.raises(TypeError, match=r"^executor must be an Executor of concurrent\.futures, not 3"):
        netnum.solve_many(problems, executor=3)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(netnum.NumError, match=r"^the executor takes no calls: RuntimeError: cannot schedule"):
        netnum.solve_many(problems, executor=pool)


def test_ctrl_c_ends_it_within_a_second(spawned):
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    long = netnum.Problem(net, net.ecmp(*net.random_pairs(3000, seed=1), seed=1), netnum.AlphaFair(1.0))
    netnum.solve_many([long] * 2, executor=spawned)
    pressed = []
    threading.Timer(0.7, lambda: pressed.append(time.monotonic()) or os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        netnum.solve_many([long] * 300, "ned", tol=1e-15, max_iterations=10**9, time_limit=2, executor=spawned)
    assert time.monotonic() - pressed[0] < 1
