"""All methods on problems of every kind: they agree, or they refuse and name one that does not; and they start warm."""

import re

import numpy as np
import pytest

import netnum

METHODS = list(netnum.methods())
NET = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
RANDOM = np.random.default_rng(7)
SOURCES, DESTINATIONS = NET.random_pairs(160, seed=3)
PATHS = [links.tolist() for links in NET.ecmp(SOURCES, DESTINATIONS, seed=3)]
WEIGHT = RANDOM.uniform(0.5, 2.0, len(PATHS))
CAP = np.where(RANDOM.random(len(PATHS)) < 0.3, 1e9, np.inf)
#: Every flow from rack to rack over both spines.
ALL_PATHS = [list(NET.paths(source, destination)) for source, destination in zip(SOURCES, DESTINATIONS, strict=True)]
GROUP = np.repeat(np.arange(len(ALL_PATHS)), [len(paths) for paths in ALL_PATHS])
CURVE = netnum.BandwidthFunction(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1e9, 9e9]), alpha=2.0, tail_slope=1e9)


def single(utility, **others):
    return netnum.Problem(NET, PATHS, utility, **others)


def several(utility, **others):
    return netnum.Problem(NET, [path for paths in ALL_PATHS for path in paths], utility, group=GROUP, **others)


KINDS = {
    "alpha 1": single(netnum.AlphaFair(1.0, WEIGHT)),
    "alpha 0.5": single(netnum.AlphaFair(0.5, WEIGHT)),
    "alpha 3": single(netnum.AlphaFair(3.0, WEIGHT)),
    "many alphas": single(netnum.AlphaFair(RANDOM.uniform(0.5, 3.0, len(PATHS)))),
    "caps": single(netnum.AlphaFair(1.0, WEIGHT), rate_cap=CAP),
    "small first": single(netnum.MinFct(RANDOM.uniform(1e4, 1e7, len(PATHS)), 0.5)),
    "bandwidth functions": single(CURVE),
    "several paths": several(netnum.AlphaFair(1.0, WEIGHT)),
    "several paths, alpha 2": several(netnum.AlphaFair(2.0, WEIGHT)),
    "linear": single(netnum.Linear(WEIGHT)),
    "linear, several paths": several(netnum.Linear(WEIGHT)),
    "max-min": single(netnum.AlphaFair(np.inf, WEIGHT)),
}
EXACT = {
    kind: netnum.solve(problem, "interior-point", tol=1e-9) for kind, problem in KINDS.items() if kind != "max-min"
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_methods_agree_within_their_certificates_or_name_one_that_takes_the_problem(method, kind):
    problem = KINDS[kind]
    try:
        solution = netnum.solve(problem, method, tol=1e-4, max_iterations=5000)
    except netnum.MethodError as refusal:
        _, instead = str(refusal).split("; ")
        named = [name for name in re.findall(r'"([^"]+)"', instead) if name in METHODS]
        assert named, refusal
        # A method that cannot take these utilities names what they tend to, and that is another problem.
        assert all(netnum.solve(problem, name, tol=1e-4).method == name for name in named)
        return
    assert solution.method == method
    assert np.all(solution.loads <= problem.capacities * (1 + 1e-9))
    if kind == "max-min":
        assert solution.is_optimal
        return
    exact = EXACT[kind]
    scale = np.sum(exact.flow_rates * problem.utility.marginal(np.maximum(exact.flow_rates, 1e-300)))
    assert exact.objective - solution.objective <= (solution.gap + 1e-12) * scale * (1 + 1e-6)
    assert solution.objective - exact.objective <= (exact.gap + 1e-12) * scale * (1 + 1e-6)


@pytest.mark.parametrize(
    ("kind", "method", "message"),
    [
        ("max-min", "ned", 'method "ned" cannot take max-min utilities; use "max-min"'),
        ("max-min", "interior-point", 'method "interior-point" cannot take max-min utilities; use "max-min"'),
        ("linear", "xwi", 'method "xwi" cannot take linear utilities; use "interior-point"'),
        (
            "several paths",
            "newton",
            'method "newton" cannot take flows with several paths; use "interior-point" or "fast-ned"',
        ),
    ],
)
def test_a_refusal_names_the_reason_and_another_method(kind, method, message):
    with pytest.raises(netnum.MethodError) as caught:
        netnum.solve(KINDS[kind], method)
    assert str(caught.value) == message


@pytest.mark.parametrize("method", METHODS)
def test_only_max_min_takes_max_min_problems(method):
    for problem in (KINDS["max-min"], netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(np.inf), rate_cap=[0.2, 1])):
        if method == "max-min":
            solution = netnum.solve(problem, method)
            np.testing.assert_allclose(solution.rates, netnum.max_min(problem), rtol=1e-14)
            assert solution.status == "optimal"
            held = np.unique(solution.bottlenecks[solution.bottlenecks >= 0])
            assert np.flatnonzero(solution.prices).tolist() == held.tolist()
            continue
        with pytest.raises(netnum.MethodError, match=r'cannot take max-min utilities; use "max-min"$'):
            netnum.solve(problem, method)


# --- warm starts ---

FEWER = slice(0, len(PATHS) - 3)


def flows(some=slice(None), weight=WEIGHT):
    return netnum.Problem(NET, PATHS[some], netnum.AlphaFair(1.0, weight[some]))


def takers(problem):
    """The methods that can take a problem."""

    def takes(method):
        try:
            return bool(netnum.Solver(problem, method))
        except netnum.MethodError:
            return False

    return [method for method in METHODS if takes(method)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (flows(FEWER), flows()),
        (flows(), flows(FEWER)),
        (flows(weight=WEIGHT * RANDOM.uniform(0.9, 1.1, len(PATHS))), flows()),
    ],
    ids=["flows added", "flows removed", "weights changed"],
)
@pytest.mark.parametrize("method", takers(flows()))
def test_every_method_starts_from_the_prices_of_other_flows(method, before, after):
    old = netnum.solve(before)
    solution = netnum.solve(after, method, warm_start=old, max_iterations=100_000)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(netnum.solve(after, tol=1e-9).objective, rel=1e-6)


@pytest.mark.parametrize("method", takers(flows()))
def test_after_a_small_change_a_warm_start_is_no_longer_than_a_cold_one(method):
    before = netnum.solve(flows(weight=WEIGHT * RANDOM.uniform(0.99, 1.01, len(PATHS))), tol=1e-8)
    cold, warm = (netnum.solve(flows(), method, tol=1e-4, warm_start=start) for start in (None, before.prices))
    assert warm.status == "optimal"
    assert warm.iterations <= cold.iterations


@pytest.mark.parametrize("method", takers(KINDS["several paths"]))
def test_flows_with_several_paths_start_warm(method):
    problem = KINDS["several paths"]
    before = several(netnum.AlphaFair(1.0, WEIGHT * RANDOM.uniform(0.99, 1.01, len(WEIGHT))))
    # xWI stalls between 1e-4 and 1e-6, and earlier with several paths.
    solution = netnum.solve(problem, method, tol=1e-2 if method == "xwi" else 1e-6, warm_start=netnum.solve(before))
    assert solution.status == "optimal"


def test_linear_and_max_min_problems_start_warm():
    for kind in ("linear", "linear, several paths", "max-min"):
        cold = netnum.solve(KINDS[kind])
        warm = netnum.solve(KINDS[kind], warm_start=cold)
        assert (warm.status, warm.method) == ("optimal", cold.method)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-5)


@pytest.mark.parametrize(
    "utility", [netnum.Linear(), netnum.AlphaFair(0.5), netnum.AlphaFair(1.0), netnum.AlphaFair(2.0)]
)
def test_the_interior_point_goes_on_in_fewer_steps_where_some_flows_are_at_their_caps(utility):
    net = netnum.topology.backbone("b4")
    volumes = np.random.default_rng(1).lognormal(0, 1, 132) * net.capacities.mean() / 10
    problem = netnum.Problem(net, net.k_shortest_paths(net.all_pairs(), k=4), utility, flow_cap=volumes)
    solver = netnum.Solver(problem, "interior-point")
    cold = solver.solve()
    assert 0.4 < np.isclose(cold.flow_rates, volumes).mean() < 0.7
    for part in (0, 1):
        volumes[:part] *= 1.2
        solver.update(flow_caps=volumes)
        warm = solver.solve()
        assert warm.is_optimal
        assert warm.iterations <= 0.7 * cold.iterations


@pytest.mark.parametrize("method", ["auto", *takers(flows())])
def test_bad_prices_to_start_from_are_named(method):
    good = netnum.solve(flows()).prices
    for prices, message in (
        (good[:-1], "prices has 79 entries, expected 80, one per link"),
        (np.where(np.arange(80) == 5, -1.0, good), "link 5 has price -1, expected a finite number >= 0"),
        (np.where(np.arange(80) == 7, np.nan, good), "link 7 has price NaN, expected a finite number >= 0"),
        (np.where(np.arange(80) == 0, np.inf, good), "link 0 has price inf, expected a finite number >= 0"),
    ):
        with pytest.raises(netnum.ProblemError) as caught:
            netnum.solve(flows(), method, warm_start=prices)
        assert str(caught.value) == message


@pytest.mark.parametrize("kind", KINDS)
def test_without_time_the_start_is_certified_and_returned(kind):
    for method in ["auto", *takers(KINDS[kind])]:
        solution = netnum.solve(KINDS[kind], method, tol=1e-13, time_limit=0)
        assert solution.iterations == 0, method
        if kind == "max-min" and solution.is_optimal:
            # What fills all links at the end is the answer.
            continue
        assert solution.status == "time_limit", method
        assert 1e-13 < solution.gap < np.inf
        assert np.all(solution.loads <= KINDS[kind].capacities * (1 + 1e-9))


# --- what prices and bottlenecks mean ---


@pytest.mark.parametrize(
    "problem",
    [
        netnum.Problem([3.0, 5.0, 40.0], [[0, 1, 2], [0], [0, 1], [1], [2]], utility, **others)
        for utility in (netnum.AlphaFair(0.5), netnum.AlphaFair(1.0), netnum.AlphaFair(2.0), netnum.MinFct(1.0, 0.4))
        for others in ({}, {"rate_cap": [np.inf, 0.5, np.inf, 1.0, 2.0]}, {"group": [0, 1, 1, 2, 2]})
    ]
    + [
        netnum.Problem([3.0, 5.0], [[0], [0, 1], [1]], netnum.Linear([1.0, 3.5, 1.75])),
        netnum.Problem([3.0, 5.0], [[0, 1], [0], [1]], netnum.BandwidthFunction([0, 1, 2.5], [0, 2, 9], 2, 1)),
    ],
    ids=repr,
)
def test_a_price_is_the_utility_gained_per_unit_of_capacity(problem):
    def exact(capacities):
        group, rate_cap = problem.group, problem.rate_cap
        changed = netnum.Problem(capacities, problem.paths, problem.utility, group=group, rate_cap=rate_cap)
        solution = netnum.solve(changed, stop="kkt", tol=1e-10)
        assert solution.is_optimal
        return solution

    prices = exact(problem.capacities).prices
    for link, step in enumerate(1e-3 * problem.capacities):
        change = np.where(np.arange(problem.links) == link, step, 0.0)
        gained = exact(problem.capacities + change).objective - exact(problem.capacities - change).objective
        assert gained / (2 * step) == pytest.approx(prices[link], abs=1e-4 * prices.max())


def test_bottlenecks_are_the_links_that_limit_flows():
    problem = netnum.Problem(
        [1.0, 2.0, 9.0, 0.0], [[2, 1, 0], [0], [1], [2], [2], [3]], netnum.AlphaFair(1.0), rate_cap=[9, 9, 9, 9, 1, 9]
    )
    solution = netnum.solve(problem, tol=1e-9)
    assert solution.bottlenecks.tolist() == [0, 0, 1, 2, -1, -1]
    assert solution.bottlenecks.dtype == np.int64
    fairest = netnum.Problem([2.0, 4.0], [[0, 1], [0], [1], [1]], netnum.AlphaFair(np.inf), rate_cap=[9, 9, 9, 0.5])
    assert netnum.solve(fairest).bottlenecks.tolist() == [0, 0, 1, -1]


def test_every_path_of_a_crowded_network_has_a_bottleneck_that_is_full():
    problem = KINDS["several paths"]
    solution = netnum.solve(problem, tol=1e-8)
    for path, link in enumerate(solution.bottlenecks):
        if link >= 0:
            assert link in problem.paths[path]
            assert solution.loads[link] >= 0.99 * problem.capacities[link]
    used = solution.rates > 1e-3 * solution.flow_rates[problem.group]
    assert np.all(solution.bottlenecks[used] >= 0)
