"""Ctrl-C, callbacks, other threads and the progress bar, while a solve runs that would never end by itself."""

import io
import math
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from common import ENDLESS, seconds_until_interrupted, turns_during
from user_utility import Log

import netnum


@pytest.fixture(scope="module")
def problem():
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    return netnum.Problem(net, net.ecmp(*net.random_pairs(10_000, seed=1), seed=1), netnum.AlphaFair(1.0))


@pytest.mark.parametrize("others", [{}, {"trace": True}, {"callback": lambda progress: None}, {"progress": True}])
def test_ctrl_c_stops_a_solve_within_100_ms(problem, others):
    # Bars are imported before: an import may lose the interrupt, and nothing would end the solve.
    netnum.solve(problem, max_iterations=1, **others)
    delays = [seconds_until_interrupted(lambda: netnum.solve(problem, **ENDLESS, **others)) for _ in range(5)]
    assert sorted(delays)[2] < 0.1


def test_ctrl_c_stops_a_solve_with_a_user_utility(problem):
    mine = netnum.Problem(problem.network, problem.paths, Log())
    delays = [seconds_until_interrupted(lambda: netnum.solve(mine, **ENDLESS)) for _ in range(5)]
    assert sorted(delays)[2] < 0.1


def test_ctrl_c_stops_derivatives_of_many_changes(problem):
    sensitivity = netnum.solve(problem).sensitivity()
    changes = np.random.default_rng(1).normal(size=(3000, problem.links))
    assert seconds_until_interrupted(lambda: sensitivity.jvp(capacities=changes)) < 0.5
    assert np.isfinite(sensitivity.jvp(capacities=changes[0])["objective"])


def test_ctrl_c_stops_a_solver_between_two_steps(problem):
    solver = netnum.Solver(problem)
    assert seconds_until_interrupted(lambda: solver.step(10**9)) < 0.1
    done = solver.iteration
    assert 0 < done < 10**9
    solver.step()
    assert solver.iteration == done + 1


def test_a_solve_that_was_interrupted_leaves_the_problem_as_it_was(problem):
    seconds_until_interrupted(lambda: netnum.solve(problem, **ENDLESS))
    assert netnum.solve(problem).is_optimal


def test_a_signal_handler_that_does_not_raise_does_not_stop(problem):
    seen = []
    old = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
    try:
        timer.start()
        assert netnum.solve(problem, **ENDLESS, time_limit=0.3).status == "time_limit"
    finally:
        timer.join()
        signal.signal(signal.SIGINT, old)
    assert seen == [signal.SIGINT]


FIRST_CALLS = {
    "pairs": ("net = netnum.topology.fat_tree(8)", "net.random_pairs(50_000_000)"),
    "routes": ("net = netnum.topology.fat_tree(8)", "net.ecmp([0] * 3_000_000, [99] * 3_000_000)"),
    "short paths": (
        "net = netnum.topology.fat_tree(8)",
        "net.k_shortest_paths([0] * 50_000, [99] * 50_000, 200, threads=1)",
    ),
    "short paths on threads": (
        "net = netnum.topology.fat_tree(8)",
        "net.k_shortest_paths([0] * 50_000, [99] * 50_000, 200, threads=2)",
    ),
    "disjoint paths": (
        "net = netnum.topology.star(2000)",
        "net.k_shortest_paths([0] * 3_000_000, [99] * 3_000_000, 4, disjoint=True)",
    ),
    "arrivals": (
        "net, sizes = netnum.topology.fat_tree(8), netnum.sim.sizes.web_search",
        "netnum.sim.Workload.poisson(net, sizes, flows=50_000_000)",
    ),
}


@pytest.mark.parametrize("call", FIRST_CALLS)
def test_ctrl_c_in_the_first_call_of_a_process_is_a_keyboard_interrupt(call):
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs POSIX timers")
    before, work = FIRST_CALLS[call]
    code = f"import signal, netnum\n{before}\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\n"
    code += f"signal.setitimer(signal.ITIMER_REAL, 0.05)\ntry:\n    {work}\nexcept BaseException as error:\n"
    code += "    print(type(error).__name__)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("KeyboardInterrupt\n", "")


def test_a_caught_ctrl_c_stops_the_call_in_a_callback_and_not_the_solve_around_it(problem):
    caught = []

    def callback(progress):
        if not caught:
            caught.append(seconds_until_interrupted(lambda: netnum.solve(problem, **ENDLESS)))

    assert netnum.solve(problem, callback=callback).is_optimal
    assert len(caught) == 1


def test_what_a_call_in_a_callback_raises_does_not_stop_the_solve_around_it(problem):
    class Broken(Log):
        def demand(self, prices):
            raise ZeroDivisionError

    broken = netnum.Problem(problem.network, problem.paths, Broken())

    def callback(progress):
        with pytest.raises(ZeroDivisionError):
            netnum.solve(broken)

    assert netnum.solve(problem, callback=callback).is_optimal


# --- callbacks ---


def test_a_callback_is_called_at_every_iteration(problem):
    rows = []
    solution = netnum.solve(problem, callback=rows.append)
    assert [row.iteration for row in rows] == list(range(solution.iterations + 1))
    last = rows[-1]
    assert last.gap == pytest.approx(solution.gap, rel=1e-3)
    assert last.gap <= 1e-6 < rows[0].gap
    assert last.overload >= 0
    assert 0 < rows[0].seconds <= last.seconds
    assert last.kkt_residual <= 1e-3
    assert math.isnan(rows[0].kkt_residual), "far from the tolerance"
    netnum.solve(problem, callback=rows.append, stop="kkt")
    assert rows[-1].kkt_residual <= 1e-6


def test_a_callback_that_returns_false_stops(problem):
    solution = netnum.solve(problem, **ENDLESS, callback=lambda progress: progress.iteration < 5)
    assert (solution.status, solution.iterations, solution.is_optimal) == ("stopped", 5, False)


@pytest.mark.parametrize("answer", [None, True, 0, "", []])
def test_only_false_itself_stops(problem, answer):
    assert netnum.solve(problem, callback=lambda progress: answer).status == "optimal"


def test_what_a_callback_raises_comes_through(problem):
    class Mine(Exception):
        pass

    raised = Mine("from the callback")

    def callback(progress):
        if progress.iteration == 3:
            raise raised

    with pytest.raises(Mine) as caught:
        netnum.solve(problem, **ENDLESS, callback=callback)
    assert caught.value is raised
    assert caught.traceback[-1].name == "callback"


def test_a_callback_may_solve_another_problem(problem):
    small = netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0))
    inner = []
    netnum.solve(problem, callback=lambda progress: inner.append(netnum.solve(small).status), max_iterations=3)
    assert inner == ["optimal"] * 4


# --- threads ---


@pytest.mark.parametrize("work", ["solve", "step"])
def test_other_threads_run_during_a_solve(problem, work):
    works = {
        "solve": lambda: netnum.solve(problem, **ENDLESS, time_limit=0.5),
        "step": lambda: netnum.Solver(problem).step(5000),
    }
    counted, turns = turns_during(works[work])
    # A held interpreter would let through one turn or two.
    assert turns > 20, "long enough to tell"
    assert counted > turns / 5


def test_several_threads_solve_the_same_problem(problem):
    rates = {}

    def solve(number):
        rates[number] = netnum.solve(problem).rates

    threads = [threading.Thread(target=solve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rates) == 4
    assert all((rates[number] == rates[0]).all() for number in rates)


def test_an_exception_stays_in_its_own_thread(problem):
    class Once(Log):
        def demand(self, prices):
            if threading.current_thread() is not threading.main_thread():
                raise ZeroDivisionError("in the other thread")
            return super().demand(prices)

    mine = netnum.Problem(problem.network, problem.paths, Once())
    caught = []

    def solve():
        try:
            netnum.solve(mine, max_iterations=50)
        except ZeroDivisionError as error:
            caught.append(error)

    other = threading.Thread(target=solve)
    other.start()
    assert netnum.solve(mine, max_iterations=50).status in ("optimal", "max_iterations")
    other.join()
    assert [str(error) for error in caught] == ["in the other thread"]


def test_a_solver_in_use_is_refused(problem):
    solver = netnum.Solver(problem)
    working = threading.Thread(target=solver.step, args=(2000,))
    working.start()
    busy = 0
    while working.is_alive():
        try:
            _ = solver.prices
        except RuntimeError as error:
            assert str(error) == "this solver is in use already"
            busy += 1
        time.sleep(0.001)
    working.join()
    assert busy > 0
    assert solver.iteration == 2000


# --- the progress bar ---


def test_the_bar_shows_the_gap_and_ends_at_its_end(problem, capsys):
    pytest.importorskip("tqdm")
    netnum.solve(problem, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "gap" in shown
    assert shown.endswith("\n")


def test_without_tqdm_the_bar_is_one_line(problem, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    solution = netnum.solve(problem, progress=True, tol=1e-9)
    shown = capsys.readouterr().err
    last = shown.rstrip("\n").split("\r")[-1]
    assert last.startswith("solve 100%|####################| gap ")
    assert f"iteration {solution.iterations} [" in last
    assert shown.count("\n") == 1


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_the_bar_moves_by_the_clock_and_is_closed_on_exceptions(problem, monkeypatch, with_tqdm):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    began, iterations = time.monotonic(), 0

    def callback(progress):
        nonlocal iterations
        iterations = progress.iteration
        if time.monotonic() - began > 0.4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        netnum.solve(problem, **ENDLESS, progress=True, callback=callback)
    shown = screen.getvalue()
    assert shown.endswith("\n"), "closed"
    assert 3 <= shown.count("\r") <= 30, "by the clock, and not at every one of the iterations"
    assert iterations > 30


def test_there_is_no_bar_without_progress(problem, capsys):
    netnum.solve(problem)
    assert capsys.readouterr() == ("", "")


def test_bad_input_shows_no_bar(problem, capsys):
    with pytest.raises(netnum.MethodError):
        netnum.solve(problem, "nad", progress=True)
    assert capsys.readouterr().err == ""


class Pressed:
    """Raises what Ctrl-C raises as soon as it is asked for its class, as an abstract class does."""

    @property
    def __class__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "ask",
    [
        lambda: netnum.Problem([1.0], [[0]], Pressed()),
        lambda: netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0), flow_cap=Pressed()),
        lambda: netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0), group=[0], flow_cap=Pressed()),
        lambda: netnum.Topology(["a", "b"], [(0, 1)], [1.0], link_attributes=Pressed()),
    ],
)
def test_no_ctrl_c_is_lost_while_a_kind_is_looked_up(ask):
    with pytest.raises(KeyboardInterrupt):
        ask()


def test_the_bar_counts_decades():
    from netnum._show.progress import Solve

    way = Solve(1e-6, "gap")
    assert way.percent(float("inf"), float("nan")) == 0
    assert way.percent(1.0, float("nan")) == 0
    assert way.percent(1e-3, float("nan")) == pytest.approx(50)
    assert way.percent(1e-1, float("nan")) == pytest.approx(50), "never back"
    assert way.percent(1e-7, float("nan")) == 100
    kkt = Solve(1e-2, "kkt")
    kkt.percent(0.5, 1.0)
    assert kkt.percent(0.5, 1e-1) == pytest.approx(50)
    assert Solve(1e-2, "kkt").text(7, 0.5, 0.1) == "KKT residual 1.0e-01, iteration 7"


def test_numpys_false_stops_as_well(problem):
    import numpy

    stopped = netnum.solve(problem, callback=lambda row: numpy.float64(row.iteration) < 3, **ENDLESS)
    assert (stopped.status, stopped.iterations) == ("stopped", 3)
