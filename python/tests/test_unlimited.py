"""Links without a limit: of capacity inf, None, or without the attribute that others have."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import AlphaFair, topology

METHODS = ["auto", "interior-point", "newton", "fast-ned", "ned", "gradient", "fgm", "newton-like", "xwi"]


def refused(message, make, kind=netnum.ProblemError):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == message


NO_LIMIT = "flow {} has no limit, expected a link of finite capacity on every path of it, a cap or a saturation"


# --- readers ---


def test_none_inf_and_a_missing_attribute_are_no_limit():
    nx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    edges = [("a", "b", 10.0), ("b", "c", None)]
    nets = [
        topology.from_edges(edges, directed=True),
        topology.from_edges([("a", "b", 10.0), ("b", "c", float("inf"))], directed=True),
        topology.from_edges([("a", "b", {"capacity": 10.0}), ("b", "c", {})], directed=True),
        topology.from_edges({("a", "b"): 10.0, ("b", "c"): None}, directed=True),
        topology.from_edges("a b 10\nb c inf", directed=True),
        topology.from_pandas(
            pandas.DataFrame(edges, columns=["source", "target", "capacity"], dtype=object), directed=True
        ),
        topology.from_networkx(nx.DiGraph([("a", "b", {"capacity": 10.0}), ("b", "c", {})])),
        topology.from_networkx(nx.DiGraph([("a", "b", {"capacity": 10.0}), ("b", "c", {"capacity": None})])),
        topology.from_matrix([[0, 10, 0], [0, 0, np.inf], [0, 0, 0]], names=["a", "b", "c"], directed=True),
    ]
    for net in nets:
        assert net.capacities.tolist() == [10.0, np.inf]


def test_an_edge_of_a_file_without_a_capacity_has_no_limit():
    pytest.importorskip("networkx")
    text = """graph [ node [ id 0 label "A" ] node [ id 1 label "B" ] node [ id 2 label "C" ]
              edge [ source 0 target 1 LinkSpeedRaw 100.0 ] edge [ source 1 target 2 ] ]"""
    assert topology.from_gml(text).capacities.tolist() == [100.0, 100.0, np.inf, np.inf]
    assert topology.from_gml(text, capacity=7.0).capacities.tolist() == [100.0, 100.0, 7.0, 7.0]


def test_where_no_edge_has_the_attribute_the_error_lists_those_that_there_are():
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("a", "b", {"bandwidth": 10.0, "delay": 1.0}), ("b", "c", {"bandwidth": 2.0})])
    refused(
        "no edge has the attribute 'capacity', expected capacities: edges have bandwidth, delay",
        lambda: topology.from_networkx(graph),
    )
    refused(
        "no edge has the attribute 'bandwith', expected capacities, did you mean 'bandwidth'?: edges have bandwidth, "
        "delay",
        lambda: topology.from_networkx(graph, capacity="bandwith"),
    )
    refused(
        "no edge has the attribute 'capacity', expected capacities: edges have no attributes",
        lambda: topology.from_networkx(nx.path_graph(3)),
    )


@pytest.mark.parametrize("capacity", [float("nan"), -1.0])
def test_a_negative_capacity_or_nan_is_refused_and_told_of_inf(capacity):
    nx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    expected = f"has capacity {capacity}, expected a number >= 0 (inf for no limit)"
    for make, what in [
        (lambda: topology.from_edges([("a", "b", capacity)]), "edge 0"),
        (lambda: topology.from_networkx(nx.Graph([("a", "b", {"capacity": capacity})])), "edge a - b"),
        (
            lambda: topology.from_pandas(pandas.DataFrame({"source": ["a"], "target": ["b"], "capacity": [capacity]})),
            "row 0",
        ),
    ]:
        refused(f"{what} {expected}", make)
    shown = "NaN" if np.isnan(capacity) else "-1"
    for make in (
        lambda: netnum.Problem([capacity], [[0]], AlphaFair(1.0)),
        lambda: netnum.Allocator([capacity]),
        lambda: netnum.Topology(["a", "b"], [[0, 1]], [capacity]),
        lambda: topology.single_link().with_capacities([capacity]),
        lambda: topology.star(3, capacity),
    ):
        refused(f"link 0 has capacity {shown}, expected a number >= 0 (inf for no limit)", make)


def test_a_column_with_a_gap_is_no_link_without_a_limit():
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(io.StringIO("source,target,capacity\na,b,10\nb,c,\n"))
    refused(
        "row 1 has capacity nan, expected a number >= 0 (inf for no limit)",
        lambda: topology.from_pandas(frame),
    )


# --- problems ---


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_rates_are_those_of_the_problem_without_the_link(method, alpha):
    paths = [[0, 1, 3], [0, 3], [1], [3, 2]]
    limited = netnum.Problem([4.0, 2.0, 3.0], [[0, 1], [0], [1], [2]], AlphaFair(alpha))
    problem = netnum.Problem([4.0, 2.0, 3.0, np.inf], paths, AlphaFair(alpha))
    expected = netnum.solve(limited, tol=1e-9)
    solution = netnum.solve(problem, method=method, tol=1e-7, max_iterations=100_000)
    assert solution.is_optimal
    np.testing.assert_allclose(solution.rates, expected.rates, rtol=1e-3)
    assert solution.prices[3] == 0.0
    np.testing.assert_allclose(solution.loads[3], expected.rates[[0, 1, 3]].sum(), rtol=1e-3)
    assert netnum.certify(problem, solution.rates, solution.prices).relative_gap < 1e-5


@given(
    capacities=st.lists(st.floats(0.1, 100.0), min_size=2, max_size=5),
    crossed=st.data(),
    alpha=st.sampled_from([0.5, 1.0, 3.0, np.inf]),
)
def test_a_link_without_a_limit_is_as_good_as_none(capacities, crossed, alpha):
    links = len(capacities)
    path = st.lists(st.integers(0, links - 1), min_size=1, unique=True)
    paths = crossed.draw(st.lists(path, min_size=1, max_size=6))
    more = [[*links_of, links] if crossed.draw(st.booleans()) else links_of for links_of in paths]
    without = netnum.solve(netnum.Problem(capacities, paths, AlphaFair(alpha)), tol=1e-8)
    with_it = netnum.solve(netnum.Problem([*capacities, np.inf], more, AlphaFair(alpha)), tol=1e-8)
    np.testing.assert_allclose(with_it.flow_rates, without.flow_rates, rtol=1e-3)
    assert with_it.prices[links] == 0.0


def test_max_min_over_several_paths_takes_links_without_a_limit():
    fair = AlphaFair(np.inf)
    problem = netnum.Problem([np.inf, 2.0, 3.0], [[0, 1], [0, 2], [1]], fair, group=[0, 0, 1])
    rates = netnum.max_min(problem).flow_rates
    np.testing.assert_allclose(rates, [3.0, 2.0], rtol=1e-9)
    for normalize in (netnum.f_norm, netnum.u_norm, netnum.fill):
        feasible = np.asarray(normalize(problem, [9.0, 9.0, 9.0]))
        assert np.isfinite(feasible).all()
        assert (problem.loads(feasible)[1:] <= np.array([2.0, 3.0]) * (1 + 1e-12)).all()


@pytest.mark.parametrize("utility", [AlphaFair(1.0), AlphaFair(np.inf), netnum.Linear(1.0), netnum.MinFct(1e3)])
def test_a_flow_that_nothing_limits_is_named(utility):
    def problem(**caps):
        return netnum.Problem([np.inf, 1.0], [[1], [0], [0, 1]], utility, **caps)

    refused(NO_LIMIT.format(1), problem)
    for capped in (problem(rate_cap=[np.inf, 3.0, np.inf]), problem(flow_cap=[np.inf, 3.0, np.inf])):
        assert netnum.solve(capped).rates[1] == pytest.approx(3.0, rel=1e-5)
        refused(NO_LIMIT.format(1), lambda capped=capped: capped.with_flow_caps(None).with_rate_caps(np.inf))
    refused(NO_LIMIT.format(0), lambda: netnum.Problem([1.0], [[0]], utility).with_capacities([np.inf]))


def test_a_utility_with_a_saturation_is_a_limit():
    function = netnum.BandwidthFunction([0.0, 1.0, 2.0], [0.0, 5.0, 5.0])
    problem = netnum.Problem([np.inf], [[0], [0]], function)
    np.testing.assert_allclose(netnum.solve(problem).rates, [5.0, 5.0], rtol=1e-5)


def test_one_path_without_a_limit_makes_a_flow_without_one():
    refused(
        NO_LIMIT.format(0),
        lambda: netnum.Problem([np.inf, 1.0], [[0], [1]], AlphaFair(1.0), group=[0, 0]),
    )


def test_derivatives_in_a_capacity_without_a_limit_are_0():
    problem = netnum.Problem([1.0, np.inf], [[0, 1], [0]], AlphaFair(1.0))
    sensitivity = netnum.solve(problem, tol=1e-10).sensitivity()
    change = sensitivity.jvp(capacities=[0.0, 1.0])
    np.testing.assert_allclose(change["rates"], 0.0, atol=1e-9)
    assert sensitivity.vjp(rates=[1.0, 0.0])["capacities"][1] == 0.0


def test_json_and_pickle_keep_what_has_no_limit():
    problem = netnum.Problem([np.inf, 1.0], [[0, 1]], AlphaFair(1.0))
    assert '"capacity":[null,1.0]' in problem.to_json()
    for again in (netnum.Problem.from_json(problem.to_json()), pickle.loads(pickle.dumps(problem))):
        assert again.capacities.tolist() == [np.inf, 1.0]
    allocator = netnum.Allocator([np.inf, 1.0])
    assert pickle.loads(pickle.dumps(allocator)).capacities.tolist() == [np.inf, 1.0]


def test_it_shows_as_unlimited_and_has_no_utilization():
    pytest.importorskip("pandas")
    net = topology.from_edges([("a", "b", 10.0), ("b", "c", None)])
    problem = netnum.Problem(net, [["a", "b", "c"]], AlphaFair(1.0))
    assert "10, 2 links unlimited" in problem._repr_html_()
    assert "10, 2 links unlimited" in net._repr_html_()
    table = netnum.to_pandas(problem, netnum.solve(problem), of="links")
    row = table[table.link == "b -> c"] if "link" in table else table.iloc[[net.link("b", "c")]]
    assert row.capacity.tolist() == [np.inf]
    assert row.price.tolist() == [0.0]
    assert row.utilization.isna().all()


def test_studies_leave_links_without_a_limit_out():
    net = topology.from_edges([("a", "b", 10.0), ("b", "c", None)])
    problem = netnum.Problem(net, [["a", "b", "c"]], AlphaFair(1.0))
    study = netnum.upgrade_study(problem, "links")
    assert all("b -> c" not in name for name in study.names)
    with pytest.raises(netnum.ProblemError, match=f"names link {net.link('b', 'c')}, which has no limit"):
        netnum.upgrade_study(problem, [("b", "c")])
    with pytest.raises(netnum.NumError, match=r"link 2 \(b -> c\) has no limit.*masses="):
        netnum.demands.gravity(net, 1.0)
    assert netnum.failure_study(problem, [("b", "c")]).solutions[0].failed_flows.tolist() == [0]


# --- allocators ---


@pytest.mark.parametrize("method", ["ned", "fast-ned", "gradient", "fgm", "newton-like", "rcp"])
@pytest.mark.parametrize("normalizer", ["f-norm", "u-norm", "fill", None])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_allocator_shares_what_is_limited(method, normalizer, dtype):
    allocator = netnum.Allocator(
        [np.inf, 10.0], method=method, normalizer=normalizer, update_threshold=0.0, dtype=dtype
    )
    ids = allocator.start([[0, 1], [1]])
    capped = allocator.start([[0]], rate_cap=3.0)
    for _ in range(10):
        allocator.tick(100)
        assert allocator.prices[0] == 0.0
    rates = allocator.rates(ids)
    assert np.isfinite(rates).all()
    if method != "gradient":
        np.testing.assert_allclose(rates, [5.0, 5.0], rtol=1e-2)
    np.testing.assert_allclose(allocator.rates(capped), [3.0], rtol=1e-5)


def test_an_allocator_refuses_flows_that_nothing_limits_and_capacities_that_leave_some():
    allocator = netnum.Allocator([np.inf, 10.0])
    refused(NO_LIMIT.format(1), lambda: allocator.start([[1], [0]]))
    assert len(allocator.ids) == 0
    ids = allocator.start([[1], [0, 1]])
    with pytest.raises(netnum.ProblemError, match="has no limit"):
        allocator.set_capacity(1, np.inf)
    allocator.tick(50)
    np.testing.assert_allclose(allocator.rates(ids), [5.0, 5.0], rtol=2e-2)
    allocator.set_capacity(0, 2.0)
    allocator.tick(200)
    np.testing.assert_allclose(allocator.rates(ids), [8.0, 2.0], rtol=3e-2)
    allocator.set_capacity(0, np.inf)
    allocator.tick(200)
    np.testing.assert_allclose(allocator.rates(ids), [5.0, 5.0], rtol=3e-2)


# --- simulations ---

POLICIES = ["max-min", "srpt", "edf", "pias", "rax", "proportional", "min-fct", "flowtune", "gradient", "xwi"]


def chain(capacity):
    return topology.from_edges([("a", "b", 1e9), ("b", "c", capacity)])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_simulation_is_that_of_a_link_that_is_never_full(policy):
    def run(capacity):
        net = chain(capacity)
        workload = netnum.sim.Workload([0.0, 1e-4, 2e-4], ["a", "a", "c"], ["c", "b", "a"], [1e6, 2e5, 3e5], net=net)
        return netnum.sim.simulate(net, workload, policy=policy)

    unlimited, wide = run(np.inf), run(8e9)
    np.testing.assert_allclose(unlimited.completion_times, wide.completion_times, rtol=0.02)
    np.testing.assert_allclose(unlimited.link_bytes, wide.link_bytes)
    assert np.isnan(unlimited.link_utilization).tolist() == [False, False, True, True]


@pytest.mark.parametrize("routing", ["ecmp", "ecmp-split", "flow-bender", "spray", "k-shortest", "adaptive"])
def test_every_routing_takes_links_without_a_limit(routing):
    net = topology.from_edges([("a", "b", 1e9), ("b", "d", None), ("a", "c", 1e9), ("c", "d", None)])
    workload = netnum.sim.Workload([0.0, 0.0], ["a", "a"], ["d", "d"], [1e6, 1e6], net=net)
    report = netnum.sim.simulate(net, workload, routing=routing)
    assert report.status == "finished"
    assert np.isfinite(report.slowdowns).all()


def test_a_simulated_flow_that_nothing_limits_is_named():
    net = chain(np.inf)
    workload = netnum.sim.Workload([0.0, 0.0], ["a", "b"], ["b", "c"], [1e6, 1e6], net=net)
    refused(NO_LIMIT.format(1), lambda: netnum.sim.simulate(net, workload))
    assert netnum.sim.simulate(net, workload.with_production(1e8)).status == "finished"
    later = [(1e-4, net.link("a", "b"), np.inf)]
    first = netnum.sim.Workload([0.0], ["a"], ["b"], [1e6], net=net)
    refused(NO_LIMIT.format(0), lambda: netnum.sim.simulate(net, first, changes=later))


def test_a_load_of_a_network_without_a_limit_is_refused():
    net = topology.star(3, np.inf)
    with pytest.raises(netnum.NumError, match="the capacity that a load is a part of is inf, expected a finite"):
        netnum.sim.Workload.poisson(net, netnum.sim.Sizes.fixed(1e4), 0.5, flows=10)


def test_a_routing_of_the_user_sees_inf():
    seen = []

    class First:
        def route(self, flow, source, destination, paths, network):
            seen.append(network.capacities.tolist())
            return 0

    net = chain(np.inf)
    workload = netnum.sim.Workload([0.0], ["a"], ["c"], [1e6], net=net)
    netnum.sim.simulate(net, workload, routing=First())
    assert seen == [[1e9, 1e9, np.inf, np.inf]]
