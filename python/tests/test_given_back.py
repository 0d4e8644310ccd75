"""What the library returns is taken by what makes it, whatever the names of the nodes are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum
from netnum import sim

pytest.importorskip("pandas")


@st.composite
def rings(draw):
    """Rings with some chords, whose nodes are named by text, by any integers or by their own numbers."""
    count = draw(st.integers(3, 6))
    names = draw(
        st.sampled_from(
            [
                st.lists(st.integers(-20, 20), min_size=count, max_size=count, unique=True),
                st.permutations(range(count)),
                st.lists(st.text("aü 7-", min_size=1, max_size=3), min_size=count, max_size=count, unique=True).filter(
                    lambda names: not all(name.strip().lstrip("-").isdigit() for name in names)
                ),
            ]
        ).flatmap(lambda names: names)
    )
    edges = {(names[place - 1], names[place]): draw(st.sampled_from([1.0, 4.0, 10.0])) for place in range(count)}
    if draw(st.booleans()) and count > 3:
        edges[names[0], names[2]] = 3.0
    return netnum.topology.from_edges(edges)


UTILITIES = st.sampled_from(
    [
        netnum.AlphaFair(1.0),
        netnum.AlphaFair(2.0, 3.0),
        netnum.Linear(0.5),
        netnum.MinFct(4.0),
        netnum.BandwidthFunction([0.0, 1.0, 4.0], [0.0, 2.0, 3.0]),
        netnum.AlphaFair(np.inf),
    ]
)


@st.composite
def problems(draw):
    """Problems of all pairs of a ring, over paths or over all paths, with all that these may have."""
    net = draw(rings())
    demands = netnum.demands.lognormal(net, total=9.0, seed=draw(st.integers(0, 99)))[: draw(st.integers(1, 4))]
    utility, flows = draw(UTILITIES), len(demands)
    floors = draw(st.none() | st.just(1e-3 * demands.volumes))
    if draw(st.booleans()):
        return netnum.Problem(
            net,
            demands,
            utility,
            flow_floor=floors,
            max_hops=draw(st.none() | st.just(len(net.node_names))),
        )
    paths = net.k_shortest_paths(demands, draw(st.integers(1, 3)))
    if draw(st.booleans()):
        old = netnum.Problem(net, paths).paths
        coefficients = draw(
            st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(old.indices), max_size=len(old.indices))
        )
        paths = netnum.Paths(old.indptr, old.indices, group=old.group, coefficients=coefficients)
    return netnum.Problem(
        net,
        paths,
        utility,
        flow_cap=demands.volumes,
        flow_floor=floors,
        path_cost=draw(st.none() | st.just(0.01)) if utility != netnum.AlphaFair(np.inf) else None,
        priority=draw(st.none() | st.just(np.arange(flows) % 2)),
    )


@settings(deadline=None)
@given(problems())
def test_a_problem_is_made_of_what_it_has(problem):
    limits = {"flow_cap": problem.flow_cap, "flow_floor": problem.flow_floor}
    if problem.pairs is None:
        over, others = problem.paths, {"path_cost": problem.path_cost, "priority": problem.priority}
    else:
        over, others = problem.pairs, {"max_hops": problem.max_hops}
    again = netnum.Problem(problem.network, over, problem.utility, **limits, **others)
    assert again == problem
    assert problem.with_capacities(problem.capacities) == problem
    assert problem.with_utility(problem.utility) == problem
    assert problem.with_flow_caps(problem.flow_cap) == problem
    assert problem.with_flow_floors(problem.flow_floor) == problem
    assert problem.with_priorities(problem.priority) == problem
    if problem.pairs is None:
        assert problem.with_path_costs(problem.path_cost) == problem
        listed = netnum.Problem(problem.network, list(problem.paths), problem.utility, group=problem.group)
        assert listed.paths.indices.tolist() == problem.paths.indices.tolist()


@settings(deadline=None, max_examples=50)
@given(problems())
def test_a_solution_is_a_start_and_a_proof(problem):
    solution = netnum.solve(problem)
    over = solution.problem
    assert (over == problem) == (problem.pairs is None)
    assert netnum.solve(over, warm_start=solution).status == netnum.solve(over, warm_start=solution.prices).status
    rates, loads = over.flow_rates(solution.rates), over.loads(solution.rates)
    np.testing.assert_allclose(rates, solution.flow_rates, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(loads, solution.loads, rtol=1e-12, atol=1e-300)
    if over.priority is None and solution.is_optimal and solution.method != "max-min":
        assert netnum.certify(over, solution.rates, solution.prices).relative_gap <= 1e-5
    for source, destination in zip(*(ends.tolist() for ends in over.network.all_pairs()), strict=True):
        if source in (over.pairs or ((),))[0]:
            assert solution.rate(source, destination) >= 0


@settings(deadline=None)
@given(rings(), st.integers(0, 99))
def test_nodes_links_and_tables_go_back_in(net, seed):
    demands = netnum.demands.lognormal(net, total=9.0, seed=seed)[:3]
    problem = netnum.Problem(net, demands)
    again = netnum.Demands(demands.sources, demands.destinations, demands.volumes)
    forms = (again, demands.to_pandas(net), demands.to_pandas())
    for form in forms:
        assert netnum.Problem(net, form) == problem
    pairs = (demands.sources, demands.destinations)
    assert netnum.Problem(net, pairs, flow_cap=demands.volumes) == problem
    assert netnum.Problem(net, problem.pairs, flow_cap=problem.flow_cap) == problem
    for number, (name, (start, end)) in enumerate(zip(net.link_names, net.links.tolist(), strict=True)):
        own = (int(net.node_names[start]), int(net.node_names[end])) if net.integer_names else (start, end)
        assert net.link(*own) == net.link(net.node_names[start], net.node_names[end]) == number
        assert net.route([net.node_names[start], net.node_names[end]]).tolist() == [number]
        assert net.without([name]) == net.without([number])
        assert net.without([own]) == net.without([name, f"{net.node_names[end]} -> {net.node_names[start]}"])
    nodes = netnum.Topology(net.node_names, net.links, net.capacities, directed=False, name=net.name)
    assert nodes == net


@settings(deadline=None, max_examples=30)
@given(rings(), st.integers(0, 99))
def test_what_a_study_names_is_what_it_takes(net, seed):
    problem = netnum.Problem(net, net.k_shortest_paths(netnum.demands.lognormal(net, total=9.0, seed=seed)[:3], 2))
    study = netnum.failure_study(problem)
    for failures in (study.names, study.failures, dict(zip(study.names, study.failures, strict=True))):
        assert netnum.failure_study(problem, failures).failures == study.failures
    upgrades = netnum.upgrade_study(problem)
    assert netnum.upgrade_study(problem, upgrades.names).upgrades == upgrades.upgrades


@settings(deadline=None)
@given(rings(), st.integers(0, 99))
def test_a_workload_is_made_of_its_columns(net, seed):
    for flows in (
        sim.Workload.poisson(net, 1e3, load=0.3, flows=4, seed=seed),
        sim.Workload.permutation(net, 1e3, seed=seed),
        sim.Workload.all_to_all(net, 1e3),
    ):
        own = net if net.integer_names else None
        again = sim.Workload(flows.arrivals, flows.sources, flows.destinations, flows.sizes, net=own)
        assert again == flows
        report = sim.simulate(net, again, policy="max-min", until=1e-3)
        assert sim.simulate(net, report.workload, policy="max-min", until=1e-3).time == report.time
