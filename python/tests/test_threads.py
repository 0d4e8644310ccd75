"""`threads=` of solves, max-min rates and derivatives: the bits do not depend on it."""

import functools

import numpy as np
import pytest

import netnum


@functools.cache
def network():
    net = netnum.topology.leaf_spine(9, 16, 4, 10.0, 40.0)
    rng = np.random.default_rng(1)
    return net.with_capacities(net.capacities * rng.uniform(0.8, 1.2, net.capacities.size))


@functools.cache
def one_path(alpha, capped=False):
    """Three parts and more, one path each."""
    net, rng = network(), np.random.default_rng(2)
    paths = net.ecmp(*net.random_pairs(50_000, seed=1), seed=1)
    utility = netnum.AlphaFair(alpha, rng.uniform(0.5, 1.5, 50_000))
    caps = np.where(rng.random(50_000) < 0.3, rng.uniform(0.01, 0.5, 50_000), np.inf)
    return netnum.Problem(net, paths, utility, rate_cap=caps if capped else None)


@functools.cache
def several_paths(alpha):
    """Three parts and more, of flows with up to four paths."""
    net, rng = network(), np.random.default_rng(3)
    paths, group = net.k_shortest_paths(*net.random_pairs(14_000, seed=2), 4)
    assert group.size > 49_152
    return netnum.Problem(net, paths, netnum.AlphaFair(alpha, rng.uniform(0.5, 1.5, 14_000)), group=group)


def bits(*values):
    return [np.asarray(value, float).tobytes() for value in values]


@pytest.mark.parametrize(
    ("make", "method"),
    [
        (lambda: one_path(1.0), "interior-point"),
        (lambda: one_path(2.0, True), "interior-point"),
        (lambda: one_path(2.0, True), "newton"),
        (lambda: one_path(np.inf, True), "max-min"),
        (lambda: several_paths(1.0), "interior-point"),
        (lambda: several_paths(2.0), "fast-ned"),
    ],
    ids=["interior-point", "interior-point-capped", "newton", "max-min", "several-paths", "several-paths-by-prices"],
)
def test_a_solve_has_the_same_bits_for_any_number_of_threads(make, method):
    problem = make()

    def answer(threads):
        found = netnum.solve(problem, method, threads=threads, max_iterations=30)
        return found.status, bits(found.rates, found.prices, found.loads, found.gap, found.kkt_residual)

    one = answer(1)
    assert one[0] == "optimal" or method == "fast-ned"
    assert answer(2) == one
    assert answer(3) == one


def test_a_solve_in_parts_agrees_with_another_method():
    problem = one_path(2.0, True)
    objectives = [netnum.solve(problem, method, threads=2).objective for method in ("interior-point", "fast-ned")]
    assert objectives[0] == pytest.approx(objectives[1], rel=2e-6)


@pytest.mark.parametrize("accuracy", [None, 0.1])
def test_max_min_rates_have_the_same_bits_for_any_number_of_threads(accuracy):
    problem = one_path(np.inf, True)
    one, two, three = (netnum.max_min(problem, accuracy=accuracy, threads=threads) for threads in (1, 2, 3))
    assert bits(one.rates, one.unfairness) == bits(two.rates, two.unfairness) == bits(three.rates, three.unfairness)
    assert one.unfairness < 1e-9


@pytest.mark.parametrize("make", [lambda: one_path(1.0), lambda: several_paths(2.0)], ids=["one path", "several paths"])
def test_derivatives_have_the_same_bits_for_any_number_of_threads(make):
    problem = make()
    solution = netnum.solve(problem, "interior-point", stop="kkt", tol=1e-8, threads=2)
    assert solution.is_optimal
    capacities, flows = np.zeros(problem.links), np.zeros(problem.flows)
    capacities[3], flows[17] = 1.0, 1.0

    def answer(sensitivity):
        forward, reverse = sensitivity.jvp(capacities=capacities), sensitivity.vjp(flow_rates=flows, at_kink="hold")
        return bits(sensitivity.rates, *forward.values(), *reverse.values())

    one = answer(solution.sensitivity())
    assert answer(solution.sensitivity(threads=2)) == one
    again = netnum.Sensitivity(problem, solution.rates, solution.prices, threads=3)
    assert answer(again) == one


@pytest.mark.parametrize(
    "call",
    [
        lambda problem: netnum.max_min(problem, threads=0),
        lambda problem: netnum.solve(problem).sensitivity(threads=0),
        lambda problem: netnum.Sensitivity(problem, [0.5, 0.5], [2.0], threads=0),
    ],
)
def test_no_thread_is_refused(call):
    problem = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))
    with pytest.raises(netnum.NumError, match="threads is 0, expected at least 1"):
        call(problem)
