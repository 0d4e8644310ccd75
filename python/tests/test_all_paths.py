"""The optimum over all paths of a network, beside closed forms and beside programs that know no paths."""

import json
import pickle
import re

import numpy as np
import pytest
from edge_form import EdgeForm, drawn

import netnum

pytest.importorskip("scipy")

TRIANGLE = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 6")


def some(count, default):
    return [seed if seed < default else pytest.param(seed, marks=pytest.mark.slow) for seed in range(count)]


def bound(problem, solution, value, best):
    """The dual bound of the prices over all paths, by SciPy's shortest paths."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    net, prices = problem.network, np.asarray(solution.prices)
    tail, head = net.links.T
    nodes = len(net.node_names)
    costs = np.full((nodes, nodes), np.inf)
    np.minimum.at(costs, (tail, head), prices + 1e-300)
    costs[np.isinf(costs)] = 0.0
    distances = dijkstra(csr_matrix(costs))
    sources, destinations = problem.pairs
    return prices @ net.capacities + best(distances[sources, destinations]) - value(solution.flow_rates)


# --- closed forms ---


def test_a_flow_takes_all_ways_of_a_triangle():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston")], "proportional")
    solution = netnum.solve(problem, tol=1e-9)
    assert solution.is_optimal
    assert solution.flow_rates == pytest.approx([16.0], rel=1e-6)
    assert len(solution.paths) == 2
    assert solution.rates.sum() == pytest.approx(16.0, rel=1e-6)


def test_a_fixed_flow_still_makes_way_at_a_later_level():
    # A (cap 1) and B share L of 3; A may also go around over M. B gets all of L.
    one_way = netnum.topology.from_edges("x a 1\na b 3\na m 1\nm b 1\ny a 9", directed=True)
    problem = netnum.Problem(one_way, [("x", "b"), ("y", "b")], "max-min", flow_cap=[1.0, np.inf])
    rates = netnum.solve(problem).flow_rates
    assert rates == pytest.approx([1.0, 3.0], rel=1e-9)


def test_the_kind_of_paths_is_in_the_repr():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston")], "proportional", max_hops=1)
    assert repr(problem) == "Problem(1 flow over all paths of 1 link, 6 links, AlphaFair(alpha=1.0, weight=1.0))"
    solution = netnum.solve(problem)
    assert repr(solution).startswith("Solution(optimal over all paths of 1 link, 1 flow, 6 links, 1 path, ")
    assert solution.flow_rates == pytest.approx([6.0], rel=1e-6)
    free = netnum.solve(netnum.Problem(TRIANGLE, ("Seattle", "Houston")))
    assert repr(free).startswith("Solution(optimal over all paths, 1 flow, 6 links, 2 paths, ")
    assert free.rounds >= 1
    assert "all of the network of at most 1 link" in problem._repr_html_()
    assert repr(netnum.Problem(TRIANGLE, {("Seattle", "Houston"): 7.0})).endswith("weight=1.0), 1 flow cap)")


# --- programs that know no paths ---


@pytest.mark.parametrize("seed", some(40, 8))
@pytest.mark.parametrize("capped", [False, True])
def test_throughput_is_that_of_the_edge_form(seed, capped):
    net, sources, destinations, weights, caps = drawn(seed)
    most = caps if capped else None
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), netnum.Linear(weights), flow_cap=most)
    solution = netnum.solve(problem, tol=1e-8)
    assert solution.is_optimal
    assert solution.objective == pytest.approx(EdgeForm(net, sources, destinations).total(weights, most), rel=1e-6)


@pytest.mark.parametrize("seed", some(40, 6))
@pytest.mark.parametrize("capped", [False, True])
def test_max_min_rates_are_those_of_a_sequence_of_edge_forms(seed, capped):
    net, sources, destinations, weights, caps = drawn(seed)
    most = caps if capped else None
    utility = netnum.AlphaFair(np.inf, weights)
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), utility, flow_cap=most)
    solution = netnum.solve(problem)
    assert solution.is_optimal
    reference = EdgeForm(net, sources, destinations).max_min(weights, most)
    np.testing.assert_allclose(solution.flow_rates, reference, rtol=1e-5)


@pytest.mark.parametrize("floors", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("seed", some(40, 2))
def test_alpha_fair_rates_are_those_of_cvxpy_in_edge_form(alpha, seed, floors):
    cvxpy = pytest.importorskip("cvxpy")
    net, sources, destinations, weights, caps = drawn(seed, nodes=6, pairs=5, links=8)
    edges = EdgeForm(net, sources, destinations)
    least = np.zeros(5)
    if floors:
        # Six tenths of what all can have at once, in proportion to their caps.
        _, fraction = edges.best(np.append(np.zeros(5), 1.0), least=least, shares=caps)
        least = 0.6 * min(fraction, 1.0) * caps
    utility = netnum.AlphaFair(alpha, weights)
    pairs = (np.array(sources), np.array(destinations))
    problem = netnum.Problem(net, pairs, utility, flow_cap=2 * caps, flow_floor=least if floors else None)
    solution = netnum.solve(problem, tol=1e-9)
    flows = cvxpy.Variable(edges.loads.shape[1], nonneg=True)
    rates = flows[edges.rates]
    if alpha == 1:
        worth = cvxpy.sum(cvxpy.multiply(weights, cvxpy.log(rates)))
    else:
        worth = cvxpy.sum(cvxpy.multiply(weights**alpha / (1 - alpha), cvxpy.power(rates, 1 - alpha)))
    limits = [edges.conserve @ flows == 0, edges.loads @ flows <= edges.capacities]
    limits += [rates <= 2 * caps, rates >= least]
    cvxpy.Problem(cvxpy.Maximize(worth), limits).solve(
        solver="CLARABEL", **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    )
    assert solution.is_optimal
    np.testing.assert_allclose(solution.flow_rates, rates.value, rtol=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_a_second_implementation_is_as_small(seed):
    net, sources, destinations, weights, _ = drawn(seed, nodes=12, pairs=30, links=20)
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), netnum.AlphaFair(1.0, weights))
    solution = netnum.solve(problem)
    missing = bound(
        problem,
        solution,
        lambda rates: weights @ np.log(rates),
        lambda q: weights @ np.log(weights / q) - weights.sum(),
    )
    assert solution.is_optimal
    assert -1e-9 <= missing / weights.sum() <= 1.1e-6


@pytest.mark.parametrize("name", ["abilene", "b4", "nsfnet"])
def test_fair_rates_over_all_paths_of_a_backbone_are_at_least_as_good_as_over_four(name):
    net = netnum.topology.backbone(name)
    demands = netnum.demands.gravity(net, total=0.5 * float(np.sum(net.capacities)))
    for utility in ("proportional", netnum.AlphaFair(2.0), "throughput"):
        all_paths = netnum.solve(netnum.Problem(net, demands, utility))
        four = netnum.solve(netnum.Problem(net, net.k_shortest_paths(demands, 4), utility))
        assert all_paths.is_optimal
        assert all_paths.objective >= four.objective - 1e-6 * abs(four.objective)


def test_every_utility_is_taken():
    net, sources, destinations, weights, _ = drawn(3)
    pairs = (np.array(sources), np.array(destinations))

    class Root:
        def value(self, rates):
            return 2 * np.sqrt(rates)

        def marginal(self, rates):
            return 1 / np.sqrt(rates)

    count = len(sources)
    curve = netnum.BandwidthFunction([0.0, 1.0, 2.0], [0.0, 1.0, 1.5])
    mixed = [netnum.AlphaFair(1.0), netnum.AlphaFair(2.0)] * (count // 2)
    for utility in (netnum.MinFct(weights), curve, Root(), mixed, netnum.AlphaFair(8.0), netnum.AlphaFair(0.1)):
        solution = netnum.solve(netnum.Problem(net, pairs, utility))
        assert solution.is_optimal, utility
        again = netnum.solve(solution.problem)
        # That of the curve is 0 but for 1e-8.
        assert solution.objective >= again.objective - 1e-5 * abs(again.objective) - 1e-8
    rates = netnum.solve(netnum.Problem(net, pairs, Root())).flow_rates
    np.testing.assert_allclose(rates, netnum.solve(netnum.Problem(net, pairs, netnum.AlphaFair(0.5))).flow_rates, 1e-3)


# --- demands, floors ---


@pytest.mark.parametrize("seed", some(40, 8))
def test_the_largest_fraction_of_demands_is_that_of_the_edge_form(seed):
    net, sources, destinations, _, demands = drawn(seed)
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), flow_cap=demands)
    flow = netnum.concurrent_flow(problem)
    edges = EdgeForm(net, sources, destinations)
    _, fraction = edges.best(np.append(np.zeros(len(demands)), 1.0), np.zeros(len(demands)), shares=demands)
    assert flow.fraction == pytest.approx(fraction, rel=1e-7)
    assert flow.gap <= 1e-6
    least = netnum.min_utilization(problem)
    assert least.utilization == pytest.approx(1 / fraction, rel=1e-7)
    assert flow.problem.paths is not None


def test_demands_over_links_without_a_limit_have_no_gap():
    net = netnum.topology.from_edges([("a", "b", 1.0), ("a", "c", np.inf), ("c", "b", np.inf)])
    flow = netnum.min_utilization(netnum.Problem(net, {("a", "b"): 3.0}))
    assert (flow.status, flow.utilization, flow.bound, flow.gap) == ("optimal", 0.0, 0.0, 0.0)


@pytest.mark.parametrize("carry", [netnum.concurrent_flow, netnum.min_utilization])
def test_a_time_limit_leaves_rates_that_fit_and_a_bound_over_all_paths(carry):
    net, sources, destinations, _, demands = drawn(5, nodes=40, pairs=200, links=60)
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), flow_cap=demands)
    best = carry(problem)
    assert best.status == "optimal"
    for limit in (0.0, 0.003, 0.01, 0.03):
        stopped = carry(problem, time_limit=limit)
        assert stopped.status == ("time_limit" if stopped.gap > 1e-6 else "optimal")
        assert (stopped.loads <= net.capacities * stopped.utilization * (1 + 1e-9)).all()
        if carry is netnum.concurrent_flow:
            least, value, most = stopped.fraction, best.fraction, stopped.bound
        else:
            least, value, most = stopped.bound, best.utilization, stopped.utilization
        assert least <= value * (1 + 1e-9) and value <= most * (1 + 1e-9)
    assert carry(problem, time_limit=60.0).gap <= 1e-8


def test_a_time_limit_of_demands_is_of_pairs():
    with pytest.raises(netnum.ProblemError, match="time_limit is of problems of pairs"):
        netnum.concurrent_flow(netnum.Problem([1.0], [[0]], flow_cap=2.0), time_limit=1.0)
    pairs = netnum.Problem(TRIANGLE, {("Seattle", "Houston"): 7.0})
    with pytest.raises(netnum.NumError, match="time_limit"):
        netnum.min_utilization(pairs, time_limit=-1.0)


def test_a_solve_that_a_limit_ends_keeps_the_best_bound_of_its_rounds():
    net, sources, destinations, weights, _ = drawn(5, nodes=40, pairs=200, links=60)
    problem = netnum.Problem(net, (np.array(sources), np.array(destinations)), netnum.AlphaFair(1.0, weights))
    best = netnum.solve(problem, tol=1e-9).objective
    found = [netnum.solve(problem, max_iterations=most) for most in range(1, netnum.solve(problem).iterations)]
    bounds = np.array([one.objective + one.gap * weights.sum() for one in found])
    assert (bounds >= best - 1e-6).all()
    # Prices within a round may be worse than those of the round before, whose bound stays.
    rounds = np.array([one.rounds for one in found])
    first = int(np.argmax(rounds > rounds[0]))
    assert bounds[first:].max() <= bounds[first - 1] + 1e-6
    # Whichever prices are kept, bottlenecks are the full links of the highest.
    for one in found:
        full = np.where(one.loads >= 0.99 * net.capacities, one.prices, 0.0)
        for path, bottleneck in zip(one.paths, one.bottlenecks.tolist(), strict=True):
            assert bottleneck < 0 or full[bottleneck] == full[path].max()


# --- limits of paths ---


def simple_paths(net, source, destination, most):
    """All paths without loops of at most so many links."""
    links = net.links.tolist()
    found, walk = [], [(source, [], {source})]
    while walk:
        node, path, seen = walk.pop()
        if node == destination:
            found.append(path)
            continue
        if len(path) < most:
            for link, (tail, head) in enumerate(links):
                if tail == node and head not in seen:
                    walk.append((head, [*path, link], seen | {head}))
    return found


@pytest.mark.parametrize("hops", [3, 4, 5])
@pytest.mark.parametrize("seed", some(10, 3))
def test_over_paths_of_few_links_it_is_the_optimum_over_all_that_are_listed(hops, seed):
    net, sources, destinations, weights, _ = drawn(seed)
    listed = [simple_paths(net, *pair, hops) for pair in zip(sources, destinations, strict=True)]
    kept = [flow for flow, paths in enumerate(listed) if paths]
    pairs = (np.array(sources)[kept], np.array(destinations)[kept])
    paths = [np.array(path) for flow in kept for path in listed[flow]]
    group = [place for place, flow in enumerate(kept) for _ in listed[flow]]
    utility = netnum.AlphaFair(1.0, weights[kept])
    given = netnum.solve(netnum.Problem(net, paths, utility, group=group), tol=1e-9)
    found = netnum.solve(netnum.Problem(net, pairs, utility, max_hops=hops), tol=1e-9)
    assert found.is_optimal
    np.testing.assert_allclose(found.flow_rates, given.flow_rates, rtol=1e-3)
    assert max(len(path) for path in found.paths) <= hops


def test_links_and_nodes_are_avoided():
    pair = [("Seattle", "Houston")]
    around = netnum.solve(netnum.Problem(TRIANGLE, pair, avoid_links=[("Seattle", "Houston")]))
    assert around.flow_rates == pytest.approx([10.0], rel=1e-6)
    direct = netnum.solve(netnum.Problem(TRIANGLE, pair, avoid_nodes=["Denver"]))
    assert direct.flow_rates == pytest.approx([6.0], rel=1e-6)
    ends = netnum.solve(netnum.Problem(TRIANGLE, pair, avoid_nodes=["Seattle", "Houston"]))
    assert ends.flow_rates == pytest.approx([16.0], rel=1e-6)


def test_servers_of_a_fabric_do_not_forward():
    net = netnum.topology.leaf_spine(racks=3, servers_per_rack=2, spines=2, server_capacity=10.0, fabric_capacity=10.0)
    solution = netnum.solve(netnum.Problem(net, [(0, 5), (1, 5), (2, 4)]))
    assert solution.is_optimal
    ends = {0, 1, 2, 3, 4, 5}
    between = {net.links[link][1] for path in solution.paths for link in path[:-1]}
    assert between and not between & ends
    assert solution.flow_rates == pytest.approx([5.0, 5.0, 10.0], rel=1e-3)
    with pytest.raises(netnum.ProblemError, match="no path of at most 1 link joins it"):
        netnum.Problem(net, [(0, 1)], max_hops=1)
    wrong = 'an end of pairs[0] is "spine 1", expected the name of one of the 6 ends: this node is none'
    with pytest.raises(netnum.ProblemError, match=re.escape(wrong)):
        netnum.Problem(net, [("spine 1", "server 0")])


@pytest.mark.parametrize("utility", ["proportional", "throughput", "max-min", netnum.AlphaFair(0.5)])
def test_demands_that_fit_take_short_paths(utility):
    alone = netnum.solve(netnum.Problem(TRIANGLE, {("Seattle", "Houston"): 1.0}, utility))
    direct = TRIANGLE.link_names.index("Seattle -> Houston")
    assert alone.is_optimal and [list(path) for path in alone.paths] == [[direct]]
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=0.1 * net.capacities.sum())
    solution = netnum.solve(netnum.Problem(net, demands, utility))
    shortest, _ = net.k_shortest_paths(demands, 1)
    hops = np.array([len(path) for path in shortest])
    assert solution.is_optimal and solution.loads.sum() == pytest.approx((demands.volumes * hops).sum(), rel=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("demand", [0.99, 1.0])
def test_demands_that_just_fit_are_proven(alpha, demand):
    # On a grid of one-way links that carry one demand each, flows from the corner and the upper side fit side by side.
    side = 10
    steps = [((i, j), (i + down, j + 1 - down)) for i in range(side) for j in range(side) for down in (0, 1)]
    edges = [(f"{a} {b}", f"{c} {d}", 1.0) for (a, b), (c, d) in steps if max(c, d) < side]
    net = netnum.topology.from_edges(edges)
    columns = [(0, side - 1), *((k, k) for k in range(2, side - 1, 3))]
    pairs = [(f"0 {first}", f"{side - 1} {last}") for first, last in columns]
    solution = netnum.solve(netnum.Problem(net, pairs, netnum.AlphaFair(alpha), flow_cap=demand))
    assert solution.is_optimal and solution.rounds < 20
    assert solution.flow_rates == pytest.approx([demand] * len(pairs), rel=1e-5)


@pytest.mark.parametrize("tol", [1e-6, 1e-8])
def test_a_longer_path_without_costs_is_full_before_a_shorter_one_with_them(tol):
    # 100 directly at a cost of .1, and 1 around without any: U' = .5/x is .1 at a rate of 5.
    net = netnum.topology.from_edges("Seattle Houston 100\nSeattle Denver 1\nDenver Houston 1")
    cost = {"Seattle - Houston": 0.1}
    utility = netnum.AlphaFair(1.0, 0.5)
    solution = netnum.solve(netnum.Problem(net, [("Seattle", "Houston")], utility, link_cost=cost), tol=tol)
    assert solution.is_optimal and solution.flow_rates == pytest.approx([5.0], rel=1e-4)
    rates = {len(path): rate for path, rate in zip(solution.paths, solution.rates, strict=True)}
    assert rates == {1: pytest.approx(4.0, rel=1e-4), 2: pytest.approx(1.0, rel=1e-4)}
    assert solution.objective == pytest.approx(0.5 * np.log(5.0) - 0.1 * 4.0, rel=1e-4)


def test_costs_of_links_are_weighed_against_utility():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston")], "proportional", link_cost=0.1)
    solution = netnum.solve(problem, tol=1e-9)
    # Marginal 1/y against 0.1 on the direct link, which is full at 6, and 0.2 around: 1/y >= 0.2 up to y = 5.
    assert solution.flow_rates == pytest.approx([6.0], rel=1e-5)
    cheap = netnum.solve(netnum.Problem(TRIANGLE, [("Seattle", "Houston")], "proportional", link_cost=0.04), tol=1e-9)
    assert cheap.flow_rates == pytest.approx([12.5], rel=1e-4)


# --- forms of pairs, and what is kept ---


def test_demands_are_taken_in_every_form_and_cap_the_flows():
    demands = netnum.Demands([0], [2], [7.0])
    for given in (demands, {("Seattle", "Houston"): 7.0}):
        problem = netnum.Problem(TRIANGLE, given)
        assert problem.flow_cap.tolist() == [7.0]
        assert netnum.solve(problem).flow_rates == pytest.approx([7.0], rel=1e-6)
    free = netnum.Problem(TRIANGLE, demands, flow_cap=np.inf)
    assert netnum.solve(free).flow_rates == pytest.approx([16.0], rel=1e-6)
    everyone = netnum.Problem(TRIANGLE, TRIANGLE.all_pairs())
    assert everyone.flows == 6
    assert netnum.solve(everyone).is_optimal


def test_what_is_nearly_a_form_of_demands_is_told_the_form():
    net = netnum.topology.from_edges("a b 4\nb c 2\na c 1")
    with pytest.raises(TypeError, match=re.escape("demands as a matrix have the shape (3, 3)")):
        netnum.Problem(net, np.ones((2, 2)))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=re.escape("volumes by pair are a dict, series.to_dict()")):
        netnum.Problem(net, pandas.Series({("a", "c"): 3.0}))


def test_a_problem_of_pairs_has_no_paths():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston"), ("Denver", "Houston")])
    assert problem.paths is None and problem.group is None and problem.path_cost is None
    assert [ends.tolist() for ends in problem.pairs] == [[0, 1], [2, 2]]
    solution = netnum.solve(problem)
    assert solution.paths == solution.problem.paths
    assert solution.problem.pairs is None
    assert solution.rate("Denver", "Houston") == pytest.approx(solution.flow_rates[1])
    assert netnum.certify(solution.problem, solution.rates, solution.prices).relative_gap <= 1e-6
    assert netnum.solve(problem, warm_start=solution).is_optimal


def test_what_takes_paths_says_so():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston")])
    solution = netnum.solve(problem)
    for call in (
        lambda: netnum.certify(problem, solution.rates, solution.prices),
        lambda: netnum.Solver(problem).step(),
        lambda: netnum.solve_many(problem, flow_caps=[[1.0]]),
        lambda: netnum.max_min(problem),
        lambda: problem.with_rate_caps(1.0),
        lambda: problem.loads(solution.rates),
        lambda: netnum.to_pandas(problem, solution),
    ):
        with pytest.raises(netnum.ProblemError, match="has pairs and no paths: "):
            call()


def test_pickles_and_files_keep_the_network_and_the_pairs():
    problem = netnum.Problem(
        TRIANGLE,
        {("Seattle", "Houston"): 7.0, ("Denver", "Houston"): 2.0},
        netnum.AlphaFair(2.0),
        max_hops=2,
        link_cost=0.25,
        avoid_links=[("Denver", "Seattle")],
    )
    again = pickle.loads(pickle.dumps(problem))
    assert again == problem and again.paths is None and again.max_hops == 2
    assert again != netnum.Problem(TRIANGLE, {("Seattle", "Houston"): 7.0, ("Denver", "Houston"): 2.0})
    text = problem.to_json()
    assert "paths" not in json.loads(text)
    assert netnum.Problem.from_json(text) == problem
    solution = pickle.loads(pickle.dumps(netnum.solve(problem)))
    assert solution.paths is not None and solution.rounds >= 1


def test_other_capacities_caps_and_weights_keep_the_pairs():
    problem = netnum.Problem(TRIANGLE, [("Seattle", "Houston")])
    assert netnum.solve(problem.with_capacities({("Seattle", "Houston"): 1.0})).flow_rates == pytest.approx(
        [11.0], rel=1e-6
    )
    assert netnum.solve(problem.with_flow_caps(3.0)).flow_rates == pytest.approx([3.0], rel=1e-6)
    assert netnum.solve(problem.with_utility(netnum.AlphaFair(2.0))).flow_rates == pytest.approx([16.0], rel=1e-6)
    assert problem.with_weights(2.0).paths is None
    failed = problem.with_capacities([10, 10, 10, 10, 0, 0])
    assert netnum.solve(failed).flow_rates == pytest.approx([10.0], rel=1e-6)


def test_threads_do_not_change_a_bit():
    net = netnum.topology.backbone("nsfnet")
    problem = netnum.Problem(net, net.all_pairs(), "proportional")
    one, three = netnum.solve(problem), netnum.solve(problem, threads=3)
    np.testing.assert_array_equal(one.rates, three.rates)
    assert one.paths == three.paths


# --- limits of time, callbacks ---


def test_a_stopped_solve_has_feasible_rates_and_a_bound_over_all_paths():
    net = netnum.topology.backbone("nsfnet")
    problem = netnum.Problem(net, net.all_pairs(), "proportional")
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) < 4

    stopped = netnum.solve(problem, callback=stop)
    assert stopped.status == "stopped"
    assert (stopped.loads <= net.capacities * (1 + 1e-9)).all()
    best = netnum.solve(problem)
    scale = stopped.problem.flows
    assert best.objective <= stopped.objective + stopped.gap * scale * (1 + 1e-6)
    assert [row.iteration for row in seen] == sorted(row.iteration for row in seen)
    short = netnum.solve(problem, time_limit=0.0)
    assert short.status == "time_limit"
