"""Classes of hundreds of flows over several paths of real networks: those before a class leave it full links."""

import numpy as np
import pytest
from common import real_network

import netnum

pytest.importorskip("networkx")


def drawn(name, flows, alpha, *, seed, floors=False, coefficients=False, equal=True, classes=2):
    """Flows between random pairs over four paths, in classes; floors of half of them take half of what there is."""
    rng, net = np.random.default_rng(seed), real_network(name, equal)
    nodes = len(net.node_names)
    sources = rng.integers(nodes, size=flows)
    ends = sources.tolist(), ((sources + rng.integers(1, nodes, flows)) % nodes).tolist()
    paths = net.k_shortest_paths(*ends, 4)[0]
    weights = rng.uniform(0.5, 3, flows)
    utility = netnum.AlphaFair(alpha, weights) if alpha else netnum.Linear(weights)
    if coefficients:
        uses = rng.uniform(0.3, 2, len(paths.indices))
        paths = netnum.Paths(paths.indptr, paths.indices, paths.group, coefficients=uses)
    floor = np.zeros(flows)
    if floors:
        floor = rng.uniform(0.2, 2, flows) * (rng.random(flows) < 0.5)
        carried = netnum.concurrent_flow(netnum.Problem(net, paths, utility, flow_cap=floor))
        floor *= 0.5 * carried.fraction
    return netnum.Problem(net, paths, utility, flow_floor=floor, priority=rng.integers(classes, size=flows))


def check(problem):
    solution = netnum.solve(problem)
    assert solution.is_optimal, [str(one.status) for one in solution.classes] + [str(solution)]
    floor = np.zeros(problem.flows) if problem.flow_floor is None else problem.flow_floor
    assert (solution.loads <= np.asarray(problem.capacities) * (1 + 1e-9)).all()
    assert (solution.flow_rates >= floor * (1 - 1e-9)).all()
    # The first class has what it has alone, beside the floors of the others.
    first = np.asarray(problem.priority) == 0
    caps = np.where(first, np.inf, floor)
    alone = netnum.solve(problem.with_flow_caps(caps).with_priorities(None))
    assert solution.flow_rates[first] == pytest.approx(alone.flow_rates[first], rel=2e-3)


def test_proportional_fairness_after_a_class_that_fills_links():
    check(drawn("Uninett2010", 300, 1.0, seed=1))
    check(drawn("UsCarrier", 300, 1.0, seed=2, floors=True))


def test_flows_that_a_class_leaves_no_more_than_their_floors():
    check(drawn("Uninett2010", 300, 2.0, seed=3, floors=True, equal=False, classes=3))


@pytest.mark.parametrize("seed", [300, 315])
def test_flows_to_which_a_class_leaves_what_rounding_has_left(seed):
    # Caps over three decades. The second class stalls beside rates of the first that are right to a thousandth.
    problem = drawn("UsCarrier", 300, 4.0, seed=seed, floors=seed % 2 == 0)
    caps = 10 ** np.random.default_rng(seed).uniform(-3, 0, problem.flows) * np.max(problem.capacities)
    floor = 0.0 if problem.flow_floor is None else np.asarray(problem.flow_floor)
    solution = netnum.solve(problem.with_flow_caps(np.maximum(caps, floor)))
    assert solution.is_optimal, solution
    assert solution.classes[0].kkt_residual < 1e-6 and solution.classes[1].objective > -1e6


def test_throughput_by_classes():
    solution = netnum.solve(drawn("Uninett2010", 300, 0, seed=4, floors=True, equal=False))
    assert solution.is_optimal, solution


def test_max_min_of_a_class_that_leaves_most_flows_nothing():
    check(drawn("UsCarrier", 1000, np.inf, seed=5, equal=False, classes=3))


def test_classes_of_paths_with_coefficients():
    check(drawn("Uninett2010", 500, 4.0, seed=100, floors=True, coefficients=True))
    check(drawn("UsCarrier", 500, 0.5, seed=102, coefficients=True, classes=3))


def test_a_callback_ends_a_class_by_cuts():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) < 100

    problem = drawn("Uninett2010", 500, 4.0, seed=100, floors=True, coefficients=True)
    solution = netnum.solve(problem, callback=callback)
    assert solution.status == "stopped" and len(seen) < 110, (solution, len(seen))
    # The first class is done.
    assert solution.classes[0].status == "optimal"
    assert (solution.loads <= np.asarray(problem.capacities) * (1 + 1e-9)).all()
