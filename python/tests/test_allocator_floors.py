"""Rates that flowlets of an allocator are guaranteed."""

import pickle

import numpy as np
import pytest

import netnum


def started(floors, capacity=10.0, **settings):
    allocator = netnum.Allocator([capacity], update_threshold=0.0, **settings)
    return allocator, allocator.start([[0]] * len(floors), flow_floor=floors)


@pytest.mark.parametrize("normalizer", ["f-norm", "u-norm", "fill", None])
def test_a_floor_is_kept_and_the_rest_is_shared(normalizer):
    allocator, ids = started([7.0, 0.0, 0.0], normalizer=normalizer)
    allocator.tick(300)
    assert allocator.rates(ids) == pytest.approx([7.0, 1.5, 1.5])
    again = pickle.loads(pickle.dumps(allocator))
    allocator.tick()
    again.tick()
    assert (again.rates(ids) == allocator.rates(ids)).all()
    allocator.change(ids[1:], flow_floor=[2.0, 0.0])
    allocator.tick(300)
    assert allocator.rates(ids) == pytest.approx([7.0, 2.0, 1.0])
    allocator.change(ids, flow_floor=0.0)
    allocator.tick(300)
    assert allocator.rates(ids) == pytest.approx([10 / 3] * 3)


def test_it_is_the_optimum_of_a_problem_with_floors():
    rng = np.random.default_rng(5)
    for _ in range(5):
        rows = [rng.choice(8, rng.integers(1, 4), replace=False) for _ in range(20)]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        paths = netnum.Paths(indptr, np.concatenate(rows), coefficients=rng.choice([0.5, 1.0, 2.0], indptr[-1]))
        floors = np.where(rng.random(20) < 0.3, rng.uniform(0.2, 1.0, 20), 0.0)
        allocator = netnum.Allocator(np.full(8, 15.0), update_threshold=0.0)
        ids = allocator.start(paths, flow_floor=floors)
        allocator.tick(5000)
        problem = netnum.Problem(np.full(8, 15.0), paths, flow_floor=floors)
        assert allocator.rates(ids) == pytest.approx(netnum.solve(problem, tol=1e-10, stop="gap").rates, rel=1e-4)


def test_a_floor_that_does_not_fit_is_refused_by_name():
    allocator, ids = started([4.0, 3.0], headroom=0.1)
    named = "flow 1 has flow floor 2.5, which link 0 cannot keep: floors there would use 9.5, expected at most 9"
    with pytest.raises(netnum.ProblemError, match=named):
        allocator.start([[0], [0]], flow_floor=[0.0, 2.5])
    assert len(allocator) == 2
    with pytest.raises(netnum.ProblemError, match=f"flow {ids[1]} has flow floor 6, which link 0 cannot keep"):
        allocator.change(ids[1:], flow_floor=6.0)
    for floor, expected in [(-1.0, "a finite number >= 0"), (3.0, "a finite number >= 0, at most its cap of 2")]:
        with pytest.raises(netnum.NumError, match=f"flow 0 has flow floor {floor:.0f}, expected {expected}"):
            allocator.start([[0]], rate_cap=2.0, flow_floor=floor)
    with pytest.raises(netnum.NumError, match="flow_floor has 2 entries, expected 1, one per flow"):
        allocator.start([[0]], flow_floor=[1.0, 1.0])
    allocator.set_capacity(0, 0.0)
    with pytest.raises(netnum.ProblemError, match="flow 0 has flow floor 1, which link 0 cannot keep: it has failed"):
        allocator.start([[0]], flow_floor=1.0)


def test_numbers_by_name_are_refused_with_what_is_taken():
    allocator, ids = started([4.0, 3.0])
    for name in ("weight", "alpha", "rate_cap", "flow_cap", "flow_floor"):
        each = "path" if name == "rate_cap" else "flow"
        expected = f"{name} must be a number, or an array with one per {each} in their order, not dict"
        with pytest.raises(TypeError, match=rf"^{expected}$"):
            allocator.start([[0]], **{name: {}})
    with pytest.raises(TypeError, match=r"^flow_floor must be a number, or an array with one per id in their"):
        allocator.change(ids, flow_floor={0: 1.0})
    assert len(allocator) == 2


def test_floors_are_cut_where_a_capacity_falls_below_them_and_named():
    allocator, ids = started([6.0, 2.0, 0.0])
    assert len(allocator.broken_floors()) == 0
    allocator.set_capacity(0, 4.0)
    assert allocator.broken_floors().tolist() == ids[:2].tolist()
    allocator.tick(300)
    assert allocator.rates(ids) == pytest.approx([3.0, 1.0, 0.0], abs=1e-6)
    allocator.set_capacity(0, 10.0)
    assert len(allocator.broken_floors()) == 0
    allocator.tick(300)
    assert allocator.rates(ids) == pytest.approx([6.0, 2.0, 2.0])
