"""Problems with several alpha say so where a flow starves because of the unit of rates."""

import warnings

import numpy as np
import pytest

import netnum

MIXED = netnum.AlphaFair([1.0, 2.0], [1.0, 1.0])


def test_a_flow_that_starves_is_named_with_its_link_and_with_what_helps():
    net = netnum.topology.from_edges("Bonn Kiel 10e9")
    path = ["Bonn", "Kiel"]
    words = (
        r"flow 1 \(alpha 2\) starves beside flow 0 \(alpha 1\) on link \"Bonn -> Kiel\", with a rate of about 1.00e5 "
        r"beside 1.00e10: .*weight=1e10"
    )
    with pytest.warns(UserWarning, match=words) as caught:
        problem = netnum.Problem(net, [path, path], MIXED)
    assert caught[0].filename == __file__
    # Which is what the solution shows, and what it does not with the weight that is advised.
    assert netnum.solve(problem).flow_rates[1] < 1e-4 * netnum.solve(problem).flow_rates[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        advised = problem.with_utility(netnum.AlphaFair([1.0, 2.0], 1e10))
        smaller = netnum.Problem(net.capacities / 1e9, [[0], [0]], MIXED)
    for even in (advised, smaller):
        rates = netnum.solve(even).flow_rates
        assert 0.2 < rates[1] / rates[0] < 5.0


def test_one_utility_per_flow_and_a_change_of_utility_are_looked_at_too():
    each = [netnum.AlphaFair(1.0, 1.0), netnum.AlphaFair(2.0, 1.0)]
    with pytest.warns(UserWarning, match="on link 0, with a rate of about"):
        netnum.Problem([1e9], [[0], [0]], each)
    plain = netnum.Problem([1e9], [[0], [0]], netnum.AlphaFair(1.0))
    with pytest.warns(UserWarning, match="flow 1 .alpha 2. starves"):
        plain.with_utility(MIXED)


@pytest.mark.parametrize("spread", [1.0, 10.0, 100.0])
def test_networks_in_units_near_the_weights_are_quiet(spread):
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=80_000)
    random = np.random.default_rng(1)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 3)
    flows = len(demands.volumes)
    utility = netnum.AlphaFair(random.choice([0.5, 1.0, 2.0], flows), spread ** random.uniform(-1, 1, flows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netnum.Problem(net.with_capacities(net.capacities / 1e3), paths, utility, group=group)  # Gbit/s
