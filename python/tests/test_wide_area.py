"""benches/wide_area.py: the networks that it draws, its problems, and the page that it writes."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import netnum

pytest.importorskip("scipy")
BENCHES = Path(__file__).resolve().parents[2] / "benches"


@pytest.fixture(scope="module", autouse=True)
def benches_on_path():
    sys.path.insert(0, str(BENCHES))
    yield
    sys.path.remove(str(BENCHES))


@pytest.fixture
def bench():
    return importlib.import_module("wide_area")


@pytest.fixture
def networks():
    return importlib.import_module("wide_area_networks")


@pytest.fixture
def methods():
    return importlib.import_module("wide_area_methods")


def test_a_generated_network_is_the_same_every_time_and_carries_its_demands(networks):
    first, again = networks.generated(40, 60), networks.generated(40, 60)
    assert len(first.capacities) == 2 * 50, "1.25 edges per node, two links each"
    for name in ("capacities", "indptr", "indices", "group", "demands", "weights"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert len(first.demands) == len(first.weights) == first.group[-1] + 1 == 60
    assert np.median(first.demands) == pytest.approx(1.0)


def test_every_problem_is_that_of_its_name(bench, networks):
    instance = networks.shipped("abilene")
    problems = {task.kind: task.problem() for task, _ in bench.tasks(instance)}
    assert list(problems) == ["max-min W", "max-min B", "alpha 1", "alpha 2", "alpha 4", "throughput"]
    for kind, problem in problems.items():
        assert (problem.flow_cap is None) == (kind in ("max-min W", "alpha 1"))
        assert netnum.solve(problem).is_optimal
    assert set(np.unique(problems["alpha 2"].utility.weight)) <= {1.0, 2.0, 4.0, 8.0}
    assert isinstance(problems["throughput"].utility, netnum.Linear)


def test_bounds_of_fair_shares_hold_them(bench, networks, methods):
    for task, _ in bench.tasks(networks.generated(40, 60)):
        if task.kind.startswith("max-min"):
            low, high = methods.reach(task)
            shares = bench.exactly(task) / task.weights
            assert low * (1 - 1e-9) <= shares.min()
            assert shares.max() <= high * (1 + 1e-9)


def test_a_file_is_an_instance(networks, tmp_path):
    made = networks.shipped("nsfnet")
    columns = {"capacity": made.capacities, "demand": made.demands, "weight": made.weights, "source": "somewhere"}
    np.savez(tmp_path / "mine.npz", indptr=made.indptr, indices=made.indices, group=made.group, **columns)
    read = networks.of_file(tmp_path / "mine.npz")
    assert (read.name, read.source, read.size) == ("mine", "somewhere", made.size)


def test_the_page_has_a_table_per_network_and_names_what_is_missing(bench):
    of = ("tiny", "2 links, 1 flows, 1 paths", "drawn")
    rows = [
        bench.Row(*of, "max-min B", "netnum", 15, 0.0012, None, 0.0, 0.0, 0.0, 1.0),
        bench.Row(*of, "max-min B", "swan doubling", 5, 0.12, None, 0.0, 0.02, 0.5, 100.0),
        bench.Row(*of, "alpha 1", "cvxpy + clarabel", note="over 60 s"),
    ]
    about = {"processor": "a processor", "load": 0.5, "date": "2026-01-01", "python": "3", "packages": {"numpy": "2"}}
    text = bench.page(about, rows)
    assert text.startswith("# Wide-area networks\n")
    assert "## tiny\n\n2 links, 1 flows, 1 paths; drawn.\n" in text
    assert "| max-min B, swan doubling | 120 ms | – | 2.0e-02 | 5.0e-01 | 0.0e+00 | 100 × |  |" in text
    assert "| alpha 1, cvxpy + clarabel | – | – | – | – | – | – | over 60 s |" in text
    assert "| max-min B, swan doubling | 100 × | 100 × | 100 × | – | 2.0e-02 | 1 of 1 |" in text
    assert "| alpha 1, cvxpy + clarabel | – | – | – | – | – | 0 of 1 |" in text
