"""benches/published.py: instances of others, drawn again, have their sums of demands and Gurobi's total flows."""

import importlib
import sys
from pathlib import Path

import pytest

import netnum

pytest.importorskip("networkx")
BENCHES = Path(__file__).resolve().parents[2] / "benches"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(BENCHES))
    yield importlib.import_module("published")
    sys.path.remove(str(BENCHES))


@pytest.fixture(scope="module")
def pairs(bench, tmp_path_factory):
    bench.zoo.KEPT = tmp_path_factory.mktemp("zoo")
    return bench.zoo.all_pairs("Uninett2010")


@pytest.mark.parametrize("scale", [1.0, 16.0, 128.0])
def test_the_total_flow_is_the_published_one(bench, pairs, scale):
    row = bench.published("Uninett2010")[scale][0]
    demands = pairs.uniform(int(row["seed"]), bench.LARGEST["Uninett2010"]) * scale
    assert demands.sum() == pytest.approx(float(row["total_demand"]), rel=1e-6), "summed in float32 there"
    solution = netnum.solve(pairs.problem(netnum.Linear(1.0), demands))
    assert solution.is_optimal
    assert solution.rates.sum() == pytest.approx(float(row["total_flow"]), rel=1e-6)


def test_the_paths_of_a_pair_are_disjoint_and_join_it(bench, pairs):
    ends = list(bench.zoo.directed("Uninett2010").edges)
    taken = {}
    for path, flow in zip(pairs.paths, pairs.paths.group, strict=True):
        nodes = [ends[path[0]][0], *(ends[link][1] for link in path)]
        assert (nodes[0], nodes[-1]) == tuple(pairs.pairs[flow])
        assert len(set(nodes)) == len(nodes)
        assert all(ends[link][0] == node for link, node in zip(path, nodes, strict=False))
        taken.setdefault(flow, []).extend(path)
    assert all(len(set(links)) == len(links) for links in taken.values())
    assert len(taken) == len(pairs.pairs)
