"""Demands that are carried, against linear programs by HiGHS, closed forms and their own proof."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum

linprog = pytest.importorskip("scipy.optimize").linprog

KINDS = [netnum.concurrent_flow, netnum.min_utilization]


def two(capacities=(4.0, 1.0), demands=(6.0, 4.0), **others):
    """Two flows share a link, and the second has another path."""
    return netnum.Problem(capacities, [[0], [0], [1]], group=[0, 1, 1], flow_cap=demands, **others)


# --- what others say ---


def parts(problem):
    """Routing matrix, sums over flows, caps, and which paths carry something, by definition."""
    routing = np.zeros((problem.links, len(problem.group)))
    starts, coefficients = problem.paths.indptr, problem.paths.coefficients
    for path, links in enumerate(problem.paths):
        routing[links, path] = 1.0 if coefficients is None else coefficients[starts[path] : starts[path + 1]]
    sums = (problem.group == np.arange(problem.flows)[:, None]).astype(float)
    caps = np.full(len(problem.group), np.inf) if problem.rate_cap is None else problem.rate_cap
    is_open = (routing[problem.capacities == 0].sum(axis=0) == 0) & (caps > 0) & (problem.flow_cap[problem.group] > 0)
    return routing, sums, caps, is_open


def program(problem, kind):
    """The answer of HiGHS: inf where there is no largest fraction, nan where demands do not fit their paths."""
    routing, sums, caps, is_open = parts(problem)
    demands = problem.flow_cap * (sums @ is_open > 0)
    limited = np.isfinite(problem.capacities)
    # The last variable is the fraction, or the utilization.
    if kind is netnum.concurrent_flow:
        last, balance, carried, sign = np.zeros(limited.sum()), -demands, np.zeros(len(demands)), -1.0
        room = problem.capacities[limited]
    else:
        last, balance, carried, sign = -problem.capacities[limited], np.zeros(len(demands)), demands, 1.0
        room = np.zeros(limited.sum())
    answer = linprog(
        np.append(np.zeros(len(caps)), sign),
        A_ub=np.column_stack([routing[limited], last]),
        b_ub=room,
        A_eq=np.column_stack([sums, balance]),
        b_eq=carried,
        bounds=[*zip(np.zeros(len(caps)), np.where(is_open, caps, 0.0), strict=True), (0, None)],
        method="highs",
    )
    return {0: answer.fun and sign * answer.fun, 2: np.nan, 3: np.inf, 4: np.inf}[answer.status]


def bound(problem, kind, flow):
    """What the prices prove, by weak duality; nothing of it is taken from the library but the prices."""
    routing, _, caps, is_open = parts(problem)
    limited = np.isfinite(problem.capacities)
    prices, of_flows = flow.prices, flow.flow_prices
    assert (prices >= 0).all()
    assert (of_flows >= 0).all()
    assert (prices[~limited] == 0).all()
    above = (of_flows[problem.group] - routing.T @ prices)[is_open]
    capped = np.isfinite(caps[is_open])
    assert (above[~capped] <= 1e-12 * of_flows.max(initial=0.0)).all(), "no path without a cap is cheaper"
    rents = caps[is_open][capped] @ np.maximum(above[capped], 0.0)
    worth, paid = problem.capacities[limited] @ prices[limited], problem.flow_cap @ of_flows
    return (worth + rents) / paid if kind is netnum.concurrent_flow else (paid - rents) / worth


def check(problem, kind):
    """Whether rates are feasible and proven, and the value is that of HiGHS."""
    expected = program(problem, kind)
    if np.isnan(expected):
        with pytest.raises(netnum.ProblemError, match="the sum of the caps of its open paths"):
            kind(problem)
        return
    _, sums, caps, is_open = parts(problem)
    demands = problem.flow_cap * (sums @ is_open > 0)
    if np.isinf(expected) and demands.any():
        with pytest.raises(netnum.ProblemError, match="has no limit"):
            kind(problem)
        return
    flow = kind(problem)
    assert (flow.rates >= 0).all()
    assert (flow.rates <= caps * (1 + 1e-12)).all()
    assert not flow.rates[~is_open].any()
    np.testing.assert_allclose(flow.flow_rates, sums @ flow.rates, rtol=1e-12)
    np.testing.assert_allclose(flow.loads, problem.loads(flow.rates), rtol=1e-12)
    assert flow.failed_flows.tolist() == np.flatnonzero(demands == 0).tolist()
    most = 1.0 if kind is netnum.concurrent_flow else flow.utilization
    limited = np.isfinite(problem.capacities)
    assert (flow.loads[limited] <= most * problem.capacities[limited] * (1 + 1e-12)).all()
    assert flow.status == "optimal"
    # Where coefficients are decades apart, the pivots of the simplex method leave more than rounding.
    near = 1e-9 if problem.paths.coefficients is None else 1e-6
    assert flow.gap <= near
    if not demands.any():
        assert (flow.fraction, flow.utilization, flow.cut) == ((np.inf if most == 1 else 1.0), 0.0, ())
        return
    np.testing.assert_allclose(flow.flow_rates, flow.fraction * demands, rtol=1e-12)
    value = flow.fraction if kind is netnum.concurrent_flow else flow.utilization
    assert value == pytest.approx(expected, rel=1e-6)
    if value > 0:
        assert flow.bound == pytest.approx(bound(problem, kind, flow), rel=1e-12)
        assert flow.bound == pytest.approx(value, rel=near)
    assert flow.cut_links.tolist() == np.flatnonzero(flow.prices).tolist()
    assert flow.cut_flows.tolist() == np.flatnonzero(flow.flow_prices).tolist()


TIED = st.sampled_from([1.0, 1.0, 1.0, 2.0, 3.0])
ANY = st.floats(0.05, 20.0)


@st.composite
def problems(draw):
    """Small networks, with equal capacities and whole demands as often as any; links that have failed or no limit."""
    number = draw(st.sampled_from([TIED, ANY]))
    links = draw(st.integers(1, 7))
    capacities = draw(
        st.lists(st.one_of(number, number, number, st.sampled_from([0.0, np.inf])), min_size=links, max_size=links)
    )
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=4, unique=True)
    of_flows = draw(st.lists(st.lists(path, min_size=1, max_size=4), min_size=1, max_size=7))
    group = [flow for flow, paths in enumerate(of_flows) for _ in paths]
    demands = draw(st.lists(st.one_of(number, number, st.just(0.0)), min_size=len(of_flows), max_size=len(of_flows)))
    cap = st.one_of(st.just(np.inf), number, st.just(0.0))
    caps = draw(st.one_of(st.none(), st.lists(cap, min_size=len(group), max_size=len(group))))
    lists = [path for paths in of_flows for path in paths]
    indices, indptr = [link for path in lists for link in path], np.cumsum([0, *map(len, lists)])
    used = draw(st.one_of(st.none(), st.lists(number, min_size=len(indices), max_size=len(indices))))
    paths = netnum.Paths(indptr, indices, coefficients=used)
    return netnum.Problem(capacities, paths, group=group, flow_cap=demands, rate_cap=caps)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=300, deadline=None)
@given(problem=problems())
def test_the_answer_is_that_of_a_linear_program_and_is_proven(kind, problem):
    check(problem, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("capped", [False, True])
def test_dense_problems_are_answered_as_by_a_linear_program(kind, seed, capped):
    rng = np.random.default_rng([seed, capped])
    links, flows = 30, 60
    tied = bool(seed % 2)
    capacities = rng.integers(1, 4, links).astype(float) if tied else 10 ** rng.uniform(-1, 1, links)
    demands = rng.integers(1, 4, flows).astype(float) if tied else 10 ** rng.uniform(-1, 1, flows)
    paths = [rng.choice(links, rng.integers(1, 6), replace=False) for _ in range(4 * flows)]
    group = np.repeat(np.arange(flows), 4)
    # With as little room as a tenth of the demand, on average.
    caps = demands[group] * rng.choice([0.3, 0.5, np.inf] if tied else rng.uniform(0.2, 0.6, 5), 4 * flows)
    if capped:
        room = np.bincount(group, caps)
        caps *= np.maximum(1.1 * demands / room, 1.0)[group]
    check(netnum.Problem(capacities, paths, group=group, flow_cap=demands, rate_cap=caps if capped else None), kind)


def test_the_first_level_of_max_min_with_the_demands_as_weights_is_the_fraction():
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=130_000, spread=1.0, seed=1)
    problem = netnum.Problem(net, net.k_shortest_paths(demands, 4))
    flow = netnum.concurrent_flow(problem)
    fair = netnum.max_min(problem.with_utility(netnum.AlphaFair(np.inf, weight=demands.volumes)))
    assert flow.fraction == pytest.approx(np.min(fair.flow_rates / demands.volumes), rel=1e-12)
    least = netnum.min_utilization(problem)
    assert least.utilization == pytest.approx(1 / flow.fraction, rel=1e-12)
    assert least.cut == flow.cut


# --- closed forms ---


def test_a_fraction_and_a_utilization_by_hand():
    flow = netnum.concurrent_flow(two())
    assert flow.fraction == pytest.approx(0.5, rel=1e-15)
    np.testing.assert_allclose(flow.rates, [3.0, 1.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(flow.prices, [0.1, 0.1], rtol=1e-12)
    np.testing.assert_allclose(flow.flow_prices, [0.1, 0.1], rtol=1e-12)
    least = netnum.min_utilization(two())
    assert (least.utilization, least.fraction) == (pytest.approx(2.0, rel=1e-15), 1.0)
    np.testing.assert_allclose(least.prices, [0.2, 0.2], rtol=1e-12)
    np.testing.assert_allclose(least.link_utilization, [2.0, 2.0], rtol=1e-12)


def test_a_fraction_may_be_above_1():
    flow = netnum.concurrent_flow(two(demands=(0.5, 0.5)))
    assert flow.fraction == pytest.approx(5.0, rel=1e-12)
    np.testing.assert_allclose(flow.flow_rates, [2.5, 2.5], rtol=1e-12)


def test_in_a_parking_lot_the_fullest_link_alone_is_the_cut():
    problem = netnum.Problem([3.0, 6.0, 2.0], [[0, 1, 2], [0], [1], [2]], flow_cap=[1.0, 1.0, 1.0, 1.5])
    flow = netnum.min_utilization(problem)
    assert flow.utilization == pytest.approx(2.5 / 2.0, rel=1e-15)
    assert (flow.cut_links.tolist(), flow.cut_flows.tolist()) == ([2], [0, 3])
    np.testing.assert_allclose(flow.prices, [0.0, 0.0, 0.5], rtol=1e-12)


def test_caps_of_paths_keep_flows_on_the_fuller_link():
    caps = [np.inf, np.inf, 0.25]
    least = netnum.min_utilization(two(demands=(1.0, 2.0), rate_cap=caps))
    assert least.utilization == pytest.approx(2.75 / 4, rel=1e-12)
    np.testing.assert_allclose(least.rates, [1.0, 1.75, 0.25], rtol=1e-12)
    # Twice the fraction would not be half the utilization: the cap does not grow.
    flow = netnum.concurrent_flow(two(demands=(1.0, 2.0), rate_cap=caps))
    assert flow.fraction == pytest.approx(4.25 / 3, rel=1e-12)


def test_caps_alone_may_be_what_limits():
    flow = netnum.concurrent_flow(netnum.Problem([9.0], [[0], [0]], group=[0, 0], flow_cap=[4.0], rate_cap=[1.0, 1.0]))
    assert flow.fraction == pytest.approx(0.5, rel=1e-15)
    assert (flow.cut, flow.cut_flows.tolist()) == ((), [0])
    assert flow.utilization == pytest.approx(2 / 9, rel=1e-12)


def test_paths_without_a_limit_carry_what_they_can():
    problem = two(capacities=(4.0, np.inf), demands=(1.0, 7.0))
    assert netnum.concurrent_flow(problem).fraction == pytest.approx(4.0, rel=1e-15)
    least = netnum.min_utilization(problem)
    assert least.utilization == pytest.approx(0.25, rel=1e-15)
    np.testing.assert_allclose(least.rates, [1.0, 0.0, 7.0])
    capped = netnum.min_utilization(two(capacities=(4.0, np.inf), demands=(1.0, 7.0), rate_cap=[9.0, 9.0, 5.0]))
    assert capped.utilization == pytest.approx(0.75, rel=1e-15)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind, scale):
    rng = np.random.default_rng(3)
    net = netnum.topology.backbone("nsfnet")
    demands = netnum.demands.gravity(net, total=net.capacities.sum(), spread=1.0, seed=2)
    paths, group = net.k_shortest_paths(demands, 3)
    caps = rng.uniform(0.5, 2.0, len(paths)) * demands.volumes[group]
    plain, other = (
        kind(netnum.Problem(unit * net.capacities, paths, flow_cap=unit * demands.volumes, rate_cap=unit * caps))
        for unit in (1.0, scale)
    )
    assert other.fraction == pytest.approx(plain.fraction, rel=1e-12)
    assert other.utilization == pytest.approx(plain.utilization, rel=1e-12)
    np.testing.assert_allclose(scale * other.prices, plain.prices, rtol=1e-9)


# --- failures, bad input, the object ---


@pytest.mark.parametrize("kind", KINDS)
def test_flows_without_a_path_or_a_demand_are_left_out(kind):
    flow = kind(two(capacities=(0.0, 1.0), demands=(6.0, 4.0)))
    assert flow.failed_flows.tolist() == [0]
    np.testing.assert_allclose(flow.flow_rates, flow.fraction * np.array([0.0, 4.0]))
    assert flow.utilization / flow.fraction == pytest.approx(4.0)
    assert kind(two(demands=(0.0, 1.0))).failed_flows.tolist() == [0]
    none = kind(two(capacities=(0.0, 0.0)))
    assert (none.status, none.utilization, none.gap) == ("optimal", 0.0, 0.0)
    assert not none.rates.any()


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_named(kind):
    with pytest.raises(netnum.ProblemError, match="flow 1 has no demand, expected a finite flow cap of every flow"):
        kind(two(demands=(1.0, np.inf)))
    with pytest.raises(netnum.ProblemError, match="flow 0 has no demand"):
        kind(netnum.Problem([1.0], [[0]]))
    net = netnum.topology.from_edges("A B 10\nB C 6")
    for paths in ([("A", "B"), ("A", "C")], [["A", "B"], ["A", "B", "C"]]):
        with pytest.raises(netnum.ProblemError, match=r"^flow 1 \(A to C\) has no demand, expected a finite flow cap"):
            kind(netnum.Problem(net, paths, flow_cap=[1.0, np.inf]))
    with pytest.raises(TypeError, match="`problem` must be a Problem, not a list"):
        kind([1.0])


def test_demands_beyond_the_caps_of_their_paths_are_named():
    problem = two(demands=(6.0, 4.0), rate_cap=[9.0, 1.0, 2.0])
    expected = "flow 1 has demand 4, expected at most 3, the sum of the caps of its open paths"
    with pytest.raises(netnum.ProblemError, match=expected):
        netnum.min_utilization(problem)
    assert netnum.concurrent_flow(problem).fraction <= 0.75
    # Sums of caps are rounded.
    netnum.min_utilization(netnum.Problem([1.0], [[0]] * 3, group=[0] * 3, rate_cap=[0.7, 0.1, 0.1], flow_cap=0.9))


def test_where_no_link_limits_any_flow_there_is_no_largest_fraction():
    problem = netnum.Problem([np.inf, 1.0], [[0]], flow_cap=1.0)
    with pytest.raises(netnum.ProblemError, match="flow 0 has no limit"):
        netnum.concurrent_flow(problem)
    assert netnum.min_utilization(problem).utilization == 0.0


def test_a_flow_pickles_and_cannot_be_changed():
    flow = netnum.concurrent_flow(two())
    for again in (pickle.loads(pickle.dumps(flow)), copy.copy(flow), copy.deepcopy(flow)):
        np.testing.assert_array_equal(again.rates, flow.rates)
        assert (repr(again), again.cut, again.fraction) == (repr(flow), flow.cut, flow.fraction)
    with pytest.raises(AttributeError):
        flow.fraction = 1.0
    with pytest.raises(ValueError, match="read-only"):
        flow.rates[0] = 1.0


def test_the_repr_says_how_much_is_carried():
    shown = repr(netnum.concurrent_flow(two()))
    start = "MulticommodityFlow(optimal, 2 flows, 2 links, 0.5000 of every demand at utilization 1.0000, gap "
    assert shown.startswith(start)
    assert ", cut of 2 links, " in shown
    assert ", 1 flow failed, " in repr(netnum.min_utilization(two(capacities=(0.0, 1.0))))
    assert "<td>link 0, link 1</td>" in netnum.concurrent_flow(two())._repr_html_()


def test_a_flow_is_a_table_with_the_links_of_its_cut():
    pytest.importorskip("pandas")
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    problem = netnum.Problem(net, net.k_shortest_paths({("A", "C"): 20.0, ("B", "A"): 3.0}, 2))
    flow = netnum.concurrent_flow(problem)
    flows = flow.to_pandas()
    assert flows["held_back_by"].tolist() == ["B -> C, A -> C", ""]
    np.testing.assert_allclose(flows["ratio"], 0.5)
    paths = flow.to_pandas("paths")
    assert sorted(paths["held_back_by"]) == ["", "", "A -> C", "B -> C"]
    links = flow.to_pandas("links")
    assert links.loc[links["price"] > 0, "link"].tolist() == list(flow.cut) == ["B -> C", "A -> C"]
    np.testing.assert_array_equal(links["utilization"], flow.link_utilization)
    with pytest.raises(netnum.NumError, match="of is 'link', expected 'flows', 'paths' or 'links'"):
        flow.to_pandas("link")
