"""`solve_many`: the answers of `solve`, in order, whatever the threads; and Ctrl-C, exceptions and the bar."""

import sys

import numpy as np
import pytest
from common import ENDLESS, crowd, seconds_until_interrupted, turns_during
from user_utility import Log

import netnum


@pytest.fixture(scope="module")
def problems():
    return [crowd(flows, seed) for seed, flows in enumerate([400, 3, 90, 1, 200, 2, 50])]


def test_the_answers_are_those_of_solve_in_order_and_to_the_last_bit(problems):
    alone = [netnum.solve(problem, tol=1e-8) for problem in problems]
    for threads in (None, 1, 2, 5, 100):
        together = netnum.solve_many(problems, tol=1e-8, threads=threads)
        assert isinstance(together, list)
        for one, other in zip(alone, together, strict=True):
            assert (one.status, one.iterations, one.objective) == (other.status, other.iterations, other.objective)
            np.testing.assert_array_equal(one.rates, other.rates)
            np.testing.assert_array_equal(one.prices, other.prices)


def test_settings_and_options_are_for_all_of_them(problems):
    stopped = netnum.solve_many(problems, "ned", tol=1e-14, max_iterations=3, gamma=0.3)
    assert {(solution.method, solution.status, solution.iterations) for solution in stopped} >= {
        ("ned", "max_iterations", 3)
    }
    assert all(solution.iterations == 0 for solution in netnum.solve_many(problems, time_limit=0))
    assert all(solution.kkt_residual <= 1e-8 for solution in netnum.solve_many(problems, tol=1e-8, stop="kkt"))


def test_there_may_be_no_problems_and_any_iterable_of_them(problems):
    assert netnum.solve_many([]) == []
    assert len(netnum.solve_many(problem for problem in problems)) == len(problems)


def test_a_batch_starts_warm_from_one_start_or_from_one_each(problems):
    cold = netnum.solve_many(problems)
    for starts in (cold, [solution.prices for solution in cold], np.array([solution.prices for solution in cold])):
        assert [solution.iterations for solution in netnum.solve_many(problems, warm_start=starts)] == [0] * len(cold)
    mixed = netnum.solve_many(problems, warm_start=[None, *cold[1:-1], cold[-1].prices])
    assert [solution.iterations for solution in mixed] == [cold[0].iterations] + [0] * (len(cold) - 1)
    same = [problems[0]] * 3
    for start in (cold[0], cold[0].prices, list(cold[0].prices)):
        assert [solution.iterations for solution in netnum.solve_many(same, warm_start=start)] == [0] * 3


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_problem_that_fails_is_named(problems, threads):
    for kind, method, broken, message in (
        (netnum.MethodError, "ned", netnum.Linear(1.0), 'problem 3: method "ned" cannot take linear utilities; use'),
        (netnum.MethodError, "auto", None, 'problem 3: method "max-min" cannot take max-min utilities beside others'),
    ):
        utility = broken or [netnum.AlphaFair(float("inf")), netnum.AlphaFair(1.0)]
        several = [*problems]
        several[3] = several[5] = crowd(2, 0, utility)
        for _ in range(3):
            with pytest.raises(kind) as caught:
                netnum.solve_many(several, method, threads=threads)
            assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("others", "kind", "message"),
    [
        ({"threads": 0}, netnum.NumError, "threads is 0, expected at least 1"),
        ({"threads": -2}, netnum.NumError, "threads is -2, expected at least 1"),
        ({"tol": -1.0}, netnum.NumError, "tol is -1, expected a finite number > 0"),
        ({"stop": "now"}, netnum.NumError, 'stop is "now", expected "rates", "gap" or "kkt"'),
        ({"time_limit": -1}, netnum.NumError, "time_limit is -1, expected a number of seconds >= 0"),
        ({"method": "nad"}, netnum.MethodError, 'unknown method "nad", did you mean "ned"?'),
        ({"method": "ned", "gama": 1}, netnum.MethodError, 'method "ned" has no option "gama", did you mean "gamma"?'),
        ({"warm_start": [None]}, netnum.ProblemError, "warm_start has 1 entries, expected 7, one per problem"),
        ({"warm_start": [1.0]}, netnum.ProblemError, "problem 0: prices has 1 entries, expected 80, one per link"),
        (
            {"warm_start": [None] * 2 + [np.full(80, -1.0)] + [None] * 4},
            netnum.ProblemError,
            "problem 2: link 0 has price -1, expected a finite number >= 0",
        ),
        (
            {"warm_start": [None] * 6 + [np.ones((2, 2))]},
            netnum.ProblemError,
            "problem 6: prices has shape (2, 2), expected one dimension",
        ),
    ],
)
def test_bad_input_is_named(problems, others, kind, message):
    with pytest.raises(netnum.NumError) as caught:
        netnum.solve_many(problems, **others)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("keyword", "answer"),
    [
        ("flow_floor", "`flow_floors=`"),
        ("flow_cap", "`flow_caps=`"),
        ("demands", "`flow_caps=`"),
        ("path_cost", "`path_costs=`"),
        ("capacity", "`capacities=`"),
        ("flow_floorz", "did you mean 'flow_floors'?"),
        ("eps", "`tol=`"),
        ("rate_cap", "problems that differ in it are a list: netnum.solve_many([one, other])"),
        ("zebra", "it takes problems, method, flow_caps, flow_floors, path_costs, capacities, tol, "),
    ],
)
def test_issue_35_a_keyword_that_it_lacks_is_answered(problems, keyword, answer):
    for given in (problems, problems[0]):
        with pytest.raises(netnum.MethodError) as caught:
            netnum.solve_many(given, **{keyword: [[1.0]]})
        assert str(caught.value).startswith(f"solve_many has no {keyword!r}: {answer}")


def test_a_wrong_type_is_a_type_error(problems):
    with pytest.raises(TypeError, match=r"problems\[1\] must be a Problem, not int"):
        netnum.solve_many([problems[0], 3])
    with pytest.raises(TypeError, match="not iterable"):
        netnum.solve_many(problems[0])
    with pytest.raises(TypeError, match="threads must be an integer, not float"):
        netnum.solve_many(problems, threads=2.0)


# --- user utilities, on several threads ---


def test_a_user_utility_is_called_from_several_threads():
    mine = [crowd(300, seed, Log()) for seed in range(6)]
    theirs = [crowd(300, seed) for seed in range(6)]
    for one, other in zip(netnum.solve_many(mine, threads=3), netnum.solve_many(theirs, threads=3), strict=True):
        assert one.is_optimal
        assert one.objective == pytest.approx(other.objective, rel=1e-5)


class Breaks(Log):
    def __init__(self, after):
        self.left, self.raised = after, ZeroDivisionError("from the utility")

    def demand(self, prices):
        self.left -= 1
        if self.left < 0:
            raise self.raised
        return super().demand(prices)


@pytest.mark.parametrize("after", [0, 3])
def test_what_a_utility_raises_comes_through(after):
    broken = Breaks(after)
    problems = [crowd(300, seed, broken if seed == 2 else Log()) for seed in range(5)]
    with pytest.raises(ZeroDivisionError) as caught:
        netnum.solve_many(problems, threads=3, tol=1e-12)
    assert caught.value is broken.raised
    assert caught.traceback[-1].name == "demand"
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["in problem 2"]


def test_a_utility_with_answers_of_the_wrong_shape_is_named_with_its_problem():
    class Short(Log):
        def demand(self, prices):
            return prices[:-1]

    with pytest.raises(netnum.UtilityError, match=r"^problem 1: Short.demand returned an array of shape"):
        netnum.solve_many([crowd(5), crowd(5, 1, Short())])


def test_a_utility_may_solve_many_problems_of_its_own(problems):
    class Nested(Log):
        def value(self, rates):
            assert all(solution.is_optimal for solution in netnum.solve_many(problems[1:4], threads=2))
            return super().value(rates)

    assert all(solution.is_optimal for solution in netnum.solve_many([crowd(3, 0, Nested())] * 3, threads=2))


# --- Ctrl-C, other threads, the bar ---


@pytest.fixture(scope="module")
def endless():
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    return [
        netnum.Problem(net, net.ecmp(*net.random_pairs(10_000, seed=seed), seed=seed), netnum.AlphaFair(1.0))
        for seed in range(4)
    ]


@pytest.mark.parametrize("others", [{}, {"progress": True}, {"threads": 2}])
def test_ctrl_c_stops_a_batch_within_100_ms(endless, others):
    netnum.solve_many(endless[:1], **others)  # imports tqdm, which takes longer than the timer
    delays = [seconds_until_interrupted(lambda: netnum.solve_many(endless, **ENDLESS, **others)) for _ in range(5)]
    assert sorted(delays)[2] < 0.1


def test_ctrl_c_stops_a_batch_with_user_utilities(endless):
    mine = [netnum.Problem(problem.network, problem.paths, Log()) for problem in endless]
    delays = [seconds_until_interrupted(lambda: netnum.solve_many(mine, **ENDLESS)) for _ in range(5)]
    assert sorted(delays)[2] < 0.1


def test_ctrl_c_leaves_out_the_problems_that_have_not_begun(endless):
    assert seconds_until_interrupted(lambda: netnum.solve_many(endless * 250, tol=1e-13, stop="kkt")) < 0.5


def test_other_threads_run_during_a_batch(endless):
    counted, turns = turns_during(lambda: netnum.solve_many(endless[:2], **ENDLESS, time_limit=0.5))
    assert counted > turns / 5


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_one_bar_counts_the_problems(endless, capsys, monkeypatch, with_tqdm):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    netnum.solve_many(endless, progress=True)
    shown = capsys.readouterr().err
    assert "4 of 4 problems" in shown
    assert shown.count("solve_many 100%") >= 1
    assert shown.endswith("\n")
    assert shown.count("\n") == 1


def test_there_is_no_bar_without_progress_or_with_bad_input(problems, capsys):
    netnum.solve_many(problems)
    with pytest.raises(netnum.MethodError):
        netnum.solve_many(problems, "nad", progress=True)
    assert capsys.readouterr() == ("", "")
