"""All pairs of a ring, each with the two ways around it: large problems whose paths begin alike."""

import numpy as np
import pytest

import netnum


def ways_around(nodes, seed=1):
    """Capacities, paths by flow, and demands of which a part fits."""
    rows = []
    for source in range(nodes):
        for hops in range(1, nodes):
            rows.append([(source + hop) % nodes for hop in range(hops)])
            rows.append([nodes + (source - hop) % nodes for hop in range(nodes - hops)])
    flows = nodes * (nodes - 1)
    demands = np.random.default_rng(seed).random(flows) + 1e-3
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return np.full(2 * nodes, 0.02 * nodes**2), indptr, np.concatenate(rows), np.repeat(np.arange(flows), 2), demands


@pytest.mark.parametrize("utility", [netnum.Linear(1.0), netnum.AlphaFair(1.0), netnum.AlphaFair(2.0)], ids=str)
def test_the_answer_is_that_of_paths_with_coefficients(utility):
    capacities, indptr, links, group, demands = ways_around(48)
    # These are not taken together by how they begin.
    coefficients = np.ones(len(links))
    coefficients[0] += 1e-9
    others = netnum.Paths(indptr, links, coefficients=coefficients)
    ones = netnum.Paths(indptr, links)
    found = netnum.solve(netnum.Problem(capacities, ones, utility, group=group, flow_cap=demands))
    expected = netnum.solve(netnum.Problem(capacities, others, utility, group=group, flow_cap=demands))
    assert found.status == expected.status == "optimal"
    assert found.loads.max() > 0.999 * capacities[0], "something is full"
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    if not isinstance(utility, netnum.Linear):
        np.testing.assert_allclose(found.flow_rates, expected.flow_rates, rtol=1e-3)


def test_any_number_of_threads_gives_the_same_bits():
    capacities, indptr, links, group, demands = ways_around(130)
    problem = netnum.Problem(
        capacities, netnum.Paths(indptr, links), netnum.AlphaFair(1.0), group=group, flow_cap=demands
    )
    one, two = (netnum.solve(problem, threads=threads) for threads in (1, 2))
    assert one.status == "optimal"
    assert two.rates.tobytes() == one.rates.tobytes() and two.prices.tobytes() == one.prices.tobytes()
