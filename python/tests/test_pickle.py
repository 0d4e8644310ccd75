"""Everything pickles, and is the same afterwards."""

import copy
import pickle

import numpy as np
import pytest

import netnum

NET = netnum.topology.leaf_spine(2, 4, 2)
PROBLEM = netnum.Problem(NET, NET.ecmp([0, 1, 2], [4, 5, 3]), netnum.AlphaFair(1.0, [1.0, 2.0, 3.0]))
SOLUTION = netnum.solve(PROBLEM, trace=True)

UTILITIES = [
    netnum.AlphaFair(2.0),
    netnum.AlphaFair([1.0, 2.0], 3.0),
    netnum.AlphaFair(float("inf")),
    netnum.Linear([1.0, 2.0]),
    netnum.MinFct([1.0, 2.0], 0.5),
    netnum.BandwidthFunction([0, 1, 2], [0, 1, 3], alpha=2.0, tail_slope=0.5),
]


@pytest.fixture(params=range(2, pickle.HIGHEST_PROTOCOL + 1), ids=lambda protocol: f"protocol {protocol}")
def again(request):
    return lambda thing: pickle.loads(pickle.dumps(thing, protocol=request.param))


@pytest.mark.parametrize("thing", UTILITIES, ids=repr)
def test_a_utility_pickles(again, thing):
    assert again(thing) == thing
    assert repr(again(thing)) == repr(thing)


@pytest.mark.parametrize("thing", [NET, PROBLEM.paths, SOLUTION.certificate, netnum.Progress(3, 0.1, 0.2, 0.3, 0.4)])
def test_plain_things_pickle(again, thing):
    assert again(thing) == thing
    assert repr(again(thing)) == repr(thing)


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        netnum.Problem([1.0, 2.0], [[0], [1], [0, 1]], netnum.Linear(1.0), group=[0, 1, 0], rate_cap=[1, np.inf, 2]),
        netnum.Problem([1.0], [[0], [0]], [netnum.AlphaFair(1.0), netnum.MinFct(1.0)]),
        netnum.Problem([1.0], [[0], [0], [0]], netnum.AlphaFair(1.0), group=[0, 1, 0], flow_cap=[0.5, np.inf]),
        netnum.Problem([1.0], [], netnum.AlphaFair(1.0)),
        netnum.Problem.from_json(PROBLEM.to_json()),
    ],
    ids=repr,
)
def test_a_problem_pickles(again, problem):
    other = again(problem)
    assert other.to_json() == problem.to_json()
    assert repr(other) == repr(problem)
    assert type(other.network) is type(problem.network)


def test_a_solution_pickles(again):
    other = again(SOLUTION)
    names = ["status", "method", "objective", "gap", "overload", "kkt_residual", "iterations", "seconds", "is_optimal"]
    assert [getattr(other, name) for name in names] == [getattr(SOLUTION, name) for name in names]
    for name in ("rates", "flow_rates", "prices", "loads", "bottlenecks", "failed_flows"):
        np.testing.assert_array_equal(getattr(other, name), getattr(SOLUTION, name))
        assert not getattr(other, name).flags.writeable
    assert other.certificate == SOLUTION.certificate
    assert repr(other) == repr(SOLUTION)
    assert other.problem is None, "a utility need not pickle"
    np.testing.assert_array_equal(other.trace.gap, SOLUTION.trace.gap)
    assert again(netnum.solve(PROBLEM)).trace is None


def test_a_trace_pickles(again):
    other = again(SOLUTION.trace)
    for name in ("iteration", "gap", "overload", "kkt_residual", "seconds"):
        np.testing.assert_array_equal(getattr(other, name), getattr(SOLUTION.trace, name))
    assert repr(other) == repr(SOLUTION.trace)
    assert other.tol == SOLUTION.trace.tol == 1e-6


def test_a_topology_keeps_its_positions(again):
    net = netnum.Topology(["a", "b"], [[0, 1]], [1.0], positions=[[0.0, 1.0], [2.0, 3.0]])
    assert again(net) == net
    assert again(net).positions.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_exceptions_pickle(again):
    for kind in (netnum.NumError, netnum.ProblemError, netnum.MethodError, netnum.UtilityError):
        other = again(kind("what"))
        assert (type(other), str(other)) == (kind, "what")


def test_a_pickled_solution_is_a_warm_start(again):
    crowd = netnum.Problem(NET, NET.ecmp(*NET.random_pairs(50)), netnum.AlphaFair(1.0))
    cold = netnum.solve(crowd)
    assert netnum.solve(crowd, warm_start=again(cold)).iterations < cold.iterations / 2


@pytest.mark.parametrize("thing", [NET, PROBLEM, SOLUTION, SOLUTION.trace, *UTILITIES], ids=lambda t: type(t).__name__)
def test_everything_copies(thing):
    assert repr(copy.copy(thing)) == repr(copy.deepcopy(thing)) == repr(thing)
