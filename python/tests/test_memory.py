"""Counts that no memory holds, and cycles of references."""

import gc
import weakref

import numpy as np
import pytest
from user_utility import Log

import netnum
from netnum import sim, topology

NET = topology.leaf_spine(2, 2, 2)
MANY = [2**40, 2**50, 2**60]


@pytest.mark.parametrize("count", MANY)
def test_pairs_that_no_memory_holds_are_a_memory_error(count):
    with pytest.raises(MemoryError, match=f"no memory for {count} pairs of ends, {16 * count} bytes"):
        NET.random_pairs(count)


@pytest.mark.parametrize("count", [2**32 - 3, *MANY])
@pytest.mark.parametrize(
    "make",
    [
        topology.parking_lot,
        topology.star,
        lambda count: topology.leaf_spine(count, 1, 1),
        lambda count: topology.leaf_spine(2, count, 2),
        lambda count: topology.leaf_spine(2, 2, count),
        lambda count: topology.fat_tree(count & ~1),
    ],
)
def test_networks_that_no_memory_holds_are_refused(make, count):
    with pytest.raises((MemoryError, netnum.ProblemError), match=r"no memory for a network|numbered by u32"):
        make(count)


def test_all_pairs_of_a_network_too_large_for_them_are_a_memory_error():
    with pytest.raises(MemoryError, match="no memory for "):
        sim.all_to_all(topology.star(2_000_000))


def test_answers_that_no_memory_holds_are_a_memory_error():
    with pytest.raises(MemoryError, match="no memory for 1000000 times 1000000 answers"):
        netnum.Linear(np.ones(10**6)).value(np.ones((10**6, 1)))


class Slotted(Log):
    __slots__ = ("held",)


HOLDS = {
    "its problem": lambda utility: netnum.Problem([1.0], [[0]], utility),
    "its problem among others": lambda utility: netnum.Problem(
        [1.0], [[0]] * 3, [netnum.Linear(1.0), utility, utility]
    ),
    "its solver": lambda utility: netnum.Solver(netnum.Problem([1.0], [[0]], utility)),
    "a list of its problems": lambda utility: [netnum.Problem([1.0], [[0]], utility) for _ in range(3)],
    "a bound method": lambda utility: netnum.Problem([1.0], [[0]], utility).to_json,
}


@pytest.mark.parametrize("kind", [Log, Slotted])
@pytest.mark.parametrize("holds", HOLDS.values(), ids=HOLDS.keys())
def test_a_utility_that_holds_its_problem_is_collected(holds, kind):
    utility = kind()
    utility.held = holds(utility)
    gone = weakref.ref(utility)
    del utility
    gc.collect()
    assert gone() is None


def test_a_utility_in_use_is_not_collected():
    utility = Log()
    utility.held = netnum.Problem([1.0, 1.0], [[0], [1]], utility)
    problem, here = utility.held, weakref.ref(utility)
    del utility
    gc.collect()
    assert here() is problem.utility
    assert netnum.solve(problem).is_optimal
    gc.collect()
    np.testing.assert_allclose(netnum.solve(problem).rates, [1.0, 1.0], rtol=1e-6)
