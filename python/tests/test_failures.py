import numpy as np
import pytest

import netnum


@pytest.fixture
def problem():
    """The first two flows share link 0, the second may also take link 1, the third has nothing but link 1."""
    return netnum.Problem([2.0, 3.0], [[0], [0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1, 2])


def test_a_failure_is_compared_on_the_flows_that_both_networks_serve(problem):
    study = netnum.failure_study(problem, [0, 1, (0, 1)], tol=1e-9)
    assert [flows.tolist() for flows in study.cut_off] == [[0], [2], [0, 1, 2]]
    assert study.common_flows.tolist() == []
    # Without link 0 flows 1 and 2 share link 1: 1.5 each, and 5/3 each before.
    assert study.after[0] == pytest.approx(2 * np.log(1.5), abs=1e-6)
    assert study.before[0] == pytest.approx(2 * np.log(5 / 3), abs=1e-6)
    assert study.after[1] == pytest.approx(0.0, abs=1e-6)
    assert (study.before[2], study.after[2]) == (0.0, 0.0)
    assert study.throughput == pytest.approx([3.0, 2.0, 0.0], abs=1e-5)
    assert study.status == ["optimal"] * 3
    described = (
        "FailureStudy(3 scenarios, 3 optimal; up to 3 flows cut off by link 0, link 1; "
        "down to 0.0 % of throughput by link 0, link 1)"
    )
    assert repr(study) == described
    assert study.names == ("link 0", "link 1", "link 0, link 1")


def test_an_objective_may_rise_by_a_failure_and_the_study_does_not():
    # Each of two slow flows costs log utility; the objective without them is higher.
    problem = netnum.Problem([0.01, 1.0], [[0], [0], [1]], netnum.AlphaFair(1.0))
    before = netnum.solve(problem)
    after = netnum.solve(problem.with_capacities([0.0, 1.0]))
    assert after.objective > before.objective
    assert after.failed_flows.tolist() == [0, 1]
    assert problem.values(before.flow_rates).sum() == pytest.approx(before.objective)
    study = netnum.failure_study(problem, [0])
    assert study.after[0] == pytest.approx(study.before[0], abs=1e-6)


def test_the_study_is_a_table(problem):
    frame = netnum.failure_study(problem, [0, 1]).to_pandas()
    assert list(frame["cut_off"]) == [1, 1]
    assert (frame["change"] <= 1e-6).all()
    assert list(frame["links"]) == [(0,), (1,)]
    assert list(frame["failure"]) == ["link 0", "link 1"]
    assert frame["throughput_change"].to_numpy() == pytest.approx([-2.0, -3.0], abs=1e-4)
    assert frame["worst_ratio"].isna().all()


def test_max_min_is_compared_by_the_smallest_fair_share():
    problem = netnum.Problem([2.0, 3.0], [[0], [0], [1], [1]], netnum.AlphaFair(np.inf), group=[0, 1, 1, 2])
    study = netnum.failure_study(problem, [0, (0, 1)])
    assert study.after == pytest.approx([1.5, np.nan], nan_ok=True), "no flow is left to compare"
    assert study.before == pytest.approx([5 / 3, np.nan], nan_ok=True)


def test_a_link_that_does_not_exist_is_named_with_its_scenario(problem):
    with pytest.raises(netnum.NumError, match="scenario 1 names link 7, and there are 2 links"):
        netnum.failure_study(problem, [0, (1, 7)])


def test_other_capacities_are_checked(problem):
    with pytest.raises(netnum.ProblemError, match="capacities has 1 entries, expected 2, one per link"):
        problem.with_capacities([1.0])
    with pytest.raises(netnum.ProblemError, match="link 1 has capacity -1"):
        problem.with_capacities([1.0, -1.0])
    with pytest.raises(netnum.ProblemError, match="flow_rates has 2 entries, expected 3, one per flow"):
        problem.values([1.0, 2.0])


def test_rates_are_compared_with_demands():
    """The third flow has a demand of 0, and the fourth has none."""
    demands = [1.0, 4.0, 0.0, np.inf]
    problem = netnum.Problem([2.0, 3.0], [[0], [0], [1], [1], [1]], netnum.AlphaFair(1.0), group=[0, 1, 1, 2, 3])
    study = netnum.failure_study(problem.with_flow_caps(demands), [0, 1], tol=1e-9)
    # Link 1 is shared by flows 1 and 3: 1 + 1 and 2 before, 1.5 each without link 0, flow 1 has 1 of 4 without link 1.
    assert study.worst_ratio_before == pytest.approx([0.5, 0.5], abs=1e-5)
    assert study.worst_ratio == pytest.approx([1.5 / 4, 0.25], abs=1e-5)
    assert [flows.tolist() for flows in study.cut_off] == [[0], [3]], "who has no demand is not cut off"
    without = netnum.failure_study(problem, [0])
    assert np.isnan(without.worst_ratio).all()
    assert np.isnan(without.worst_ratio_before).all()


def test_a_study_starts_from_an_earlier_solution(problem):
    earlier = netnum.solve(problem)
    cold = netnum.failure_study(problem, [0, 1])
    for start in (earlier, earlier.prices, None):
        study = netnum.failure_study(problem, [0, 1], warm_start=start)
        assert study.throughput == pytest.approx(cold.throughput, rel=1e-4)
    with pytest.raises(netnum.ProblemError, match="prices has 1 entries, expected 2, one per link"):
        netnum.failure_study(problem, [0, 1], warm_start=[1.0])


def test_settings_are_those_of_solve_many(problem):
    study = netnum.failure_study(problem, [0, 1], "fast-ned", threads=1, stop="gap", tol=1e-3, max_iterations=50)
    assert {solution.method for solution in study.solutions} == {"fast-ned"}
    with pytest.raises(netnum.MethodError, match='method "fast-ned" has no option "gama"'):
        netnum.failure_study(problem, [0], "fast-ned", gama=1.0)
    with pytest.raises(netnum.MethodError, match=r"has no 'callback': netnum\.solve takes it"):
        netnum.failure_study(problem, [0], callback=print)


def test_the_repr_names_the_worst_scenario_of_each_kind():
    """Link 0 cuts off two small flows, link 1 a large one."""
    problem = netnum.Problem([0.25, 3.0], [[0], [0], [1]], netnum.AlphaFair(1.0))
    assert repr(netnum.failure_study(problem, [0, 1])) == (
        "FailureStudy(2 scenarios, 2 optimal; up to 2 flows cut off by link 0; down to 7.7 % of throughput by link 1)"
    )
    spare = netnum.Problem([1.0, 3.0, 1.0], [[0], [1]], netnum.AlphaFair(1.0), group=[0, 0])
    assert repr(netnum.failure_study(spare, [2])) == (
        "FailureStudy(1 scenario, 1 optimal; no flow cut off; down to 100.0 % of throughput by link 2)"
    )


@pytest.fixture
def guaranteed():
    """Three flows over two links and the first over either, with floors of 1.5 each."""
    paths, group = [[0], [1], [0], [1]], [0, 0, 1, 2]
    return netnum.Problem([4.0, 4.0], paths, netnum.AlphaFair(1.0), group=group, flow_floor=[1.5, 1.5, 0.5])


def test_floors_that_a_failure_breaks_are_named_and_the_others_kept(guaranteed):
    study = netnum.failure_study(guaranteed.with_capacities([2.0, 4.0]), [0, 1], tol=1e-8)
    assert study.status == ["optimal", "infeasible"]
    assert study.infeasible.tolist() == [1] and study.unsolved.tolist() == []
    # Without link 0 the second flow is cut off and its floor with it; without link 1 the first two need 3 of 2.
    assert [flows.tolist() for flows in study.cut_off] == [[1], [2]]
    assert study.floor_fraction == pytest.approx([1.0, 2 / 3])
    assert [flows.tolist() for flows in study.broken_floors] == [[], [0, 1]]
    assert np.isnan(study.throughput).tolist() == np.isnan(study.after).tolist() == [False, True]
    frame = study.to_pandas()
    assert frame["broken_floors"].tolist() == [[], [0, 1]]
    assert frame["floor_fraction"].tolist() == pytest.approx([1.0, 2 / 3])
    assert repr(study).startswith("FailureStudy(2 scenarios, 1 optimal, 1 infeasible; ")
    plain = netnum.failure_study(guaranteed.with_flow_floors(None), [0])
    assert plain.floor_fraction is None and "floor_fraction" not in plain.to_pandas()


def test_a_network_whose_floors_do_not_fit_is_an_error(guaranteed):
    with pytest.raises(netnum.NumError) as caught:
        netnum.failure_study(guaranteed.with_capacities([1.0, 1.0]), [0])
    assert str(caught.value) == (
        "the floors do not fit in the network as it is, 0.5714 of every floor fits: "
        "netnum.solve(problem).infeasibility says why"
    )


def test_failures_are_compared_class_by_class(guaranteed):
    problem = guaranteed.with_flow_floors(None).with_priorities([0, 0, 1]).with_flow_caps(3.0)
    study = netnum.failure_study(problem, [0, 1], tol=1e-8)
    assert study.priorities.tolist() == [0, 1]
    # First the first two get 3 each, which leaves 2; without link 0 the first gets 3, and 1 is left for the third.
    assert study.class_before == pytest.approx(np.log([[3.0, 2.0], [9.0, 1.0]]), abs=1e-5)
    assert study.class_after == pytest.approx(np.log([[3.0, 1.0], [4.0, 1.0]]), abs=1e-5)
    assert study.after == pytest.approx(study.class_after.sum(axis=1), abs=1e-9)
    frame = study.to_pandas()
    assert frame["after_priority_1"].tolist() == study.class_after[:, 1].tolist()
    assert frame["before_priority_0"].tolist() == study.class_before[:, 0].tolist()


@pytest.fixture
def starving():
    """The first flow has either of two links, and is served before the second, on link 0, and the third, on link 1."""
    paths, group = [[0], [1], [0], [1]], [0, 0, 1, 2]
    return netnum.Problem([4.0, 4.0], paths, group=group, flow_cap=[4.0, 4.0, 3.0], priority=[0, 1, 1])


@pytest.mark.parametrize("utility", ["proportional", "max-min", "throughput", 0.5])
def test_issue_35_a_flow_that_classes_starve_is_not_cut_off_and_counts_in_the_loss(starving, utility):
    problem = starving.with_utility(utility)
    study = netnum.failure_study(problem, [0, 1, (0, 1)])
    # Without link 0 the first flow fills link 1: the second has no path, and the third has one and gets nothing.
    assert [flows.tolist() for flows in study.cut_off] == [[1], [2], [0, 1, 2]]
    assert [flows.tolist() for flows in study.starved] == [[2], [1], []]
    assert study.common_flows.tolist() == []
    assert study.worst_ratio == pytest.approx([0.0, 0.0, np.nan], abs=1e-6, nan_ok=True)
    assert (study.worst_ratio_before[:2] > 0.2).all()
    # Of the third flow, of the fair share that it had, and of its utility, nothing is left.
    nothing = -np.inf if utility == "proportional" else 0.0
    assert study.class_after[:2, 1] == pytest.approx(nothing, abs=1e-6)
    assert (study.class_before[:2, 1] > study.class_after[:2, 1]).all()
    assert repr(study).startswith(
        "FailureStudy(3 scenarios, 3 optimal; up to 3 flows cut off by link 0, link 1; up to 1 flow starved by link 0; "
    )
    assert study.to_pandas()["starved"].tolist() == [1, 1, 0]


def test_issue_35_a_flow_that_is_starved_before_is_not_compared(starving):
    """Link 0 has failed already: the third flow has nothing to lose."""
    study = netnum.failure_study(starving.with_capacities([0.0, 4.0]), [0, 1])
    assert [flows.tolist() for flows in study.cut_off] == [[], [0]]
    assert [flows.tolist() for flows in study.starved] == [[], []]
    assert study.before == pytest.approx([np.log(4.0), 0.0], abs=1e-6)
    assert study.after == pytest.approx(study.before, abs=1e-6)


def test_issue_35_a_flow_that_floors_of_others_leave_nothing_is_starved(starving):
    problem = starving.with_priorities(None).with_flow_floors([4.0, 0.0, 0.0])
    study = netnum.failure_study(problem, [0], tol=1e-8)
    assert study.status == ["optimal"]
    assert (study.cut_off[0].tolist(), study.starved[0].tolist()) == ([1], [2])
    assert study.floors_cut_off[0].tolist() == []
    assert study.after.tolist() == [-np.inf]


def test_issue_35_a_flow_whose_bandwidth_function_gives_it_nothing_is_not_starved():
    first = netnum.BandwidthFunction([0.0, 4.0], [0.0, 4.0], alpha=np.inf)
    later = netnum.BandwidthFunction([0.0, 5.0, 10.0], [0.0, 0.0, 5.0], alpha=np.inf)
    problem = netnum.Problem([3.0, 2.0], [[0], [0], [1]], [first, later, first])
    study = netnum.failure_study(problem, [0, 1])
    assert study.before_failures.flow_rates[1] == 0.0
    assert [flows.tolist() for flows in study.cut_off] == [[0, 1], [2]]
    assert [flows.tolist() for flows in study.starved] == [[], []]


def test_a_class_of_max_min_beside_others_counts_by_its_smallest_fair_share():
    shares, logs = netnum.AlphaFair(np.inf), netnum.AlphaFair(1.0)
    problem = netnum.Problem(
        [10.0, 10.0, 3.0],
        [[0], [1], [0], [1], [2], [2]],
        [shares, shares, logs, logs, shares, logs],
        priority=[0, 0, 1, 1, 0, 1],
        flow_cap=[3.0, 4.0, 50.0, 50.0, 2.0, 50.0],
    )
    study = netnum.failure_study(problem, [0, (0, 1), (0, 1, 2)], tol=1e-9)
    whole = netnum.solve(problem, tol=1e-9)
    # The first, second and fifth flow get 3, 4 and 2, which leaves the others 7, 6 and 1.
    assert whole.objective == pytest.approx(2.0 + np.log(7 * 6 * 1), abs=1e-6)
    nan = {"abs": 1e-6, "nan_ok": True}
    assert study.class_before[:, 0] == pytest.approx([2.0, 2.0, np.nan], **nan)
    assert study.class_before[:, 1] == pytest.approx([np.log(6.0), 0.0, 0.0], **nan)
    np.testing.assert_allclose(study.class_after, study.class_before, atol=1e-6)
    assert study.before == pytest.approx([2.0 + np.log(6.0), 2.0, 0.0], **nan)
    assert study.after == pytest.approx([one.objective for one in study.solutions], **nan)


def test_costs_count_in_what_is_compared():
    carried = {"flow_cap": 1.5, "flow_floor": 1.5, "path_cost": [1.0, 3.0]}
    cheap = netnum.Problem([2.0, 2.0], [[0], [1]], netnum.Linear(0.0), group=[0, 0], **carried)
    study = netnum.failure_study(cheap, [0, 1])
    assert study.before == pytest.approx([-1.5, -1.5], abs=1e-6)
    assert study.after == pytest.approx([-4.5, -1.5], abs=1e-6)


class _Unsolved:
    """A solution whose time was up before there was a certificate."""

    status, method, is_optimal, gap = "time_limit", "fast-ned", False, float("inf")

    def __init__(self, solution):
        self.flow_rates, self.failed_flows = np.zeros_like(solution.flow_rates), solution.failed_flows
        self.problem = solution.problem


def test_a_scenario_without_an_answer_is_unsolved_and_not_the_worst(problem, monkeypatch):
    def some(problems, *arguments, **settings):
        solutions = netnum.solve_many(problems, *arguments, **settings)
        return [solutions[0], *map(_Unsolved, solutions[1:])]

    demands = problem.with_flow_caps([4.0, 4.0, 4.0])
    whole = netnum.failure_study(demands, [0, 1, (0, 1)])
    monkeypatch.setattr("netnum._studies.study.solve_many", some)
    study = netnum.failure_study(demands, [0, 1, (0, 1)])
    assert study.unsolved.tolist() == [1, 2]
    for name in ("throughput", "after", "worst_ratio", "throughput_change"):
        values = getattr(study, name)
        assert np.isnan(values).tolist() == [False, True, True]
        assert values[0] == getattr(whole, name)[0]
    assert repr(study) == (
        "FailureStudy(3 scenarios, 1 optimal, 2 unsolved; up to 3 flows cut off by link 0, link 1; "
        "down to 60.0 % of throughput by link 0)"
    )
    assert study.to_pandas()["change"].isna().tolist() == [False, True, True]
    monkeypatch.setattr(
        "netnum._studies.study.solve_many", lambda *given, **settings: [_Unsolved(study.before_failures)]
    )
    none = netnum.failure_study(problem, [0])
    assert repr(none) == "FailureStudy(1 scenario, 0 optimal, 1 unsolved; no flow cut off)"


def test_scenarios_that_end_in_another_status_are_counted():
    problem = netnum.Problem([1.0, 2.0, 3.0], [[0], [1], [0, 1], [2]])
    study = netnum.failure_study(problem, [0, 2], method="ned", max_iterations=1)
    assert study.status == ["max_iterations"] * 2
    assert repr(study).startswith("FailureStudy(2 scenarios, 0 optimal, 2 max_iterations; ")


def test_only_a_base_without_an_answer_is_an_error(problem, monkeypatch):
    monkeypatch.setattr("netnum._studies.study.solve", lambda *given, **settings: _Unsolved(netnum.solve(problem)))
    with pytest.raises(netnum.NumError) as caught:
        netnum.failure_study(problem, [0])
    assert str(caught.value) == (
        "the time was up before there was an answer to the network as it is: give a longer time_limit"
    )


def test_studies_are_compared_by_identity(problem):
    one, other = netnum.failure_study(problem, [0]), netnum.failure_study(problem, [0])
    assert one == one
    assert one != other
    assert len({one, other, one}) == 2


def test_progress_counts_the_scenarios(problem, capsys):
    netnum.failure_study(problem, [0, 1, (0, 1)], progress=True)
    assert "3 of 3 problems" in capsys.readouterr().err
    netnum.failure_study(problem, [0])
    assert capsys.readouterr().err == ""


# --- links by name ---


@pytest.fixture(scope="module")
def ring():
    """Four cities in a ring and a flow each way between neighbours, over both ways round."""
    net = netnum.topology.from_edges("Bonn Kiel 10\nKiel Ulm 10\nUlm Jena 10\nJena Bonn 10")
    neighbours = net.links.T
    paths, group = net.k_shortest_paths(*neighbours, 2)
    return netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group)


def test_the_words_name_every_link_fiber_and_node(ring):
    net = ring.network
    links = netnum.failure_study(ring, "links")
    assert links.names == tuple(net.link_names)
    assert links.failures == tuple([link] for link in range(8))
    fibers = netnum.failure_study(ring, "fibers")
    assert fibers.names == ("Bonn - Kiel", "Bonn - Jena", "Kiel - Ulm", "Ulm - Jena")
    assert fibers.failures == ([0, 1], [6, 7], [2, 3], [4, 5])
    nodes = netnum.failure_study(ring, "nodes")
    assert nodes.names == tuple(net.node_names)
    for node, failed in enumerate(nodes.failures):
        assert sorted(failed) == sorted(np.flatnonzero((net.links == node).any(axis=1)))
    # Two neighbours of Bonn lose it; the other four flows keep one way.
    assert [len(flows) for flows in nodes.cut_off] == [4] * 4


def test_networks_made_of_fibers_lose_fibers_and_others_links_by_default(ring):
    assert netnum.failure_study(ring).names == netnum.failure_study(ring, "fibers").names
    chain = netnum.topology.parking_lot(2)
    one_way = netnum.Problem(chain, [[0, 1], [1]], netnum.AlphaFair(1.0))
    assert netnum.failure_study(one_way).names == tuple(chain.link_names)
    capacities_only = netnum.Problem(ring.capacities, [[0]], netnum.AlphaFair(1.0))
    assert netnum.failure_study(capacities_only).names == tuple(f"link {link}" for link in range(8))


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        (["Kiel -> Ulm", 2, np.int64(2)], [(2,)] * 3),
        ([("Kiel", "Ulm"), ("Ulm", "Kiel"), ["Kiel", "Ulm"], "Kiel - Ulm"], [(2, 3)] * 4),
        ([[("Kiel", "Ulm"), ("Ulm", "Kiel")], [2, 3], ["Kiel -> Ulm", "Ulm -> Kiel"], [(1, 2), 3]], [(2, 3)] * 4),
        ([[("Kiel", 2), (1, "Ulm")], [2, 3, 2]], [(2, 3)] * 2),
        (np.array([[0, 1], [2, 3]]), [(0, 1), (2, 3)]),
        ((np.array([0, 1]), np.array(5), [], {7}), [(0, 1), (5,), (), (7,)]),
        ((link for link in (3, 4)), [(3,), (4,)]),
        ({"conduit": ["Bonn -> Kiel", 6], 7: 1}, [(0, 6), (1,)]),
        (["Bonn - Kiel", ["Kiel - Ulm", "Bonn - Kiel"], ("Ulm - Jena", 0)], [(0, 1), (2, 3, 0, 1), (4, 5, 0)]),
        ({"conduit": "Ulm - Jena", "reversed": "Jena - Ulm"}, [(4, 5)] * 2),
        ([], []),
    ],
)
def test_links_are_named_in_several_ways(ring, failures, expected):
    study = netnum.failure_study(ring, failures)
    assert [tuple(links) for links in study.failures] == expected
    assert netnum.failure_study(ring, study.failures).failures == study.failures
    if isinstance(failures, dict):
        assert study.names == tuple(map(str, failures))


def test_a_tuple_of_two_integers_is_two_links_or_a_pair_of_nodes_and_is_refused(ring):
    both = r"which may be links 1 and 2 or the link from node 1 to node 2: give \[1, 2\] or \[\(1, 2\)\]"
    with pytest.raises(netnum.ProblemError, match=rf"scenario 0 is \(1, 2\), {both}"):
        netnum.failure_study(ring, [(1, 2)])
    with pytest.raises(netnum.ProblemError, match=rf"links is \(1, 2\), {both}"):
        ring.network.without((1, 2))
    for failed, links in ([(1, 2)], [2, 3]), ([1, 2], [1, 2]):
        assert np.flatnonzero(ring.network.without(failed).capacities == 0).tolist() == links
    bare = netnum.Problem([1.0, 2.0, 3.0], [[0, 1], [2]])
    assert netnum.failure_study(bare, [(1, 2)]).failures == ([1, 2],)


def test_a_set_is_called_by_its_links(ring):
    study = netnum.failure_study(ring, [[0, 1], range(5), []])
    three = "Bonn -> Kiel, Kiel -> Bonn, Kiel -> Ulm"
    assert study.names == ("Bonn -> Kiel, Kiel -> Bonn", f"{three}, 2 more", "no link")
    printed = netnum.failure_study(ring, "fibers").names
    again = netnum.failure_study(ring, printed)
    assert (again.names, again.failures) == (printed, netnum.failure_study(ring, "fibers").failures)


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        ("edges", "failures is 'edges', expected 'links', 'fibers', 'nodes' or a list of links"),
        ([0, 8], "scenario 1 names link 8, and there are 8 links"),
        ([-1], "scenario 0 names link -1, and there are 8 links"),
        (
            [0, "Kiel -> Ulmm"],
            "scenario 1 names link 'Kiel -> Ulmm', expected the name of one of the 8 links, "
            "did you mean 'Kiel -> Ulm'?",
        ),
        (
            ["Kiel - Um"],
            "scenario 0 names link 'Kiel - Um', expected the name of one of the 8 links, did you mean 'Kiel - Ulm'?",
        ),
        ([("Kiel", "Jena")], "scenario 0: there is no link from Kiel to Jena"),
        *(
            (pair, "failures is the pair of nodes ('Kiel', 'Ulm'): the list of that link alone is [('Kiel', 'Ulm')]")
            for pair in (("Kiel", "Ulm"), ["Kiel", "Ulm"])
        ),
        (
            ["Kiel"],
            "scenario 0 names link 'Kiel', expected the name of one of the 8 links: 'Kiel' is a node, whose links are "
            "named as ('Kiel', another)",
        ),
        (
            {"cut": [("Kil", "Ulm")]},
            'scenario \'cut\': source is "Kil", expected the name of one of the 4 nodes, did you mean "Kiel"?',
        ),
    ],
)
def test_what_is_no_link_is_named_with_its_scenario(ring, failures, message):
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.failure_study(ring, failures)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("study", "keyword", "answer"),
    [
        (
            netnum.failure_study,
            "rerouting",
            "the traffic of pairs, netnum.Problem(net, demands), is routed anew, and the ",
        ),
        (netnum.upgrade_study, "rerouting", "the traffic of pairs, netnum.Problem(net, demands), is routed anew, and "),
        (
            netnum.failure_study,
            "few_paths",
            "netnum.solve takes it: failure_study(netnum.solve(problem, few_paths=True).problem) is over its paths",
        ),
        (
            netnum.upgrade_study,
            "max_paths",
            "netnum.solve takes it: upgrade_study(netnum.solve(problem, few_paths=True)",
        ),
        (netnum.failure_study, "k", "paths are the problem's: netnum.Problem(net, net.k_shortest_paths(demands, k))"),
        (netnum.upgrade_study, "n_jobs", "`threads=`"),
        (netnum.failure_study, "trace", "netnum.solve takes it, for one problem"),
        (netnum.failure_study, "failure", "did you mean 'failures'?"),
        (netnum.upgrade_study, "upgrade", "did you mean 'upgrades'?"),
        (netnum.upgrade_study, "zebra", "it takes problem, upgrades, method, added, check, tol, "),
    ],
)
def test_a_keyword_that_a_study_lacks_is_answered_before_anything_is_solved(ring, study, keyword, answer):
    infeasible = ring.with_flow_floors(1e9)
    with pytest.raises(netnum.MethodError) as caught:
        study(infeasible, **{keyword: True})
    assert str(caught.value).startswith(f"{study.__name__} has no {keyword!r}: {answer}")


def test_a_study_of_few_paths_is_over_those_of_the_solution():
    net = netnum.topology.from_edges("Bonn Kiel 4\nKiel Ulm 4\nBonn Ulm 2")
    problem = netnum.Problem(net, {("Bonn", "Ulm"): 5.0})
    study = netnum.failure_study(netnum.solve(problem, few_paths=True).problem)
    assert study.without_rerouting is None
    assert study.before_failures.flow_rates == pytest.approx([5.0], rel=1e-3)


MASK = "np.flatnonzero(mask) has the places where a mask is True"


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        (3, "failures must be a list of links or of sets of links, not int"),
        ([0.7], "scenario 0: a link must be a number, a name or a pair of nodes, not float"),
        ([0, [True]], f"scenario 1: a link must be a number, a name or a pair of nodes, not bool: {MASK}"),
        (np.array([True]), f"scenario 0: a link must be a number, a name or a pair of nodes, not bool: {MASK}"),
        ([None], "scenario 0: a link must be a number, a name or a pair of nodes, not NoneType"),
        ([[("Kiel", "Ulm", "Jena")]], "scenario 0: a link must be a number, a name or a pair of nodes, not tuple"),
        (np.ma.masked_array([0, 1], [True, False]), "failures is a masked array, expected plain links"),
        ([0, np.ma.masked_array([0, 1])], "scenario 1 is a masked array, expected plain links"),
    ],
)
def test_what_is_not_of_the_kind_of_a_link_is_a_type_error(ring, failures, message):
    with pytest.raises(TypeError) as caught:
        netnum.failure_study(ring, failures)
    assert str(caught.value) == message


def test_names_need_a_network(problem):
    for failures in ("fibers", "nodes"):
        with pytest.raises(netnum.ProblemError, match="has capacities only: make it with a Topology"):
            netnum.failure_study(problem, failures)
    with pytest.raises(netnum.ProblemError, match="scenario 0 names nodes, and the problem has capacities only"):
        netnum.failure_study(problem, [[("Kiel", "Ulm")]])
    assert netnum.failure_study(problem).names == ("link 0", "link 1")


def test_a_study_without_time_is_an_error():
    flows = 300_000
    ends = np.random.default_rng(1).integers([0, 500], [500, 1000], (flows, 2))
    problem = netnum.Problem(np.ones(1000), netnum.Paths(np.arange(flows + 1) * 2, ends.ravel()), netnum.AlphaFair(1.0))
    try:
        study = netnum.failure_study(problem, [0], time_limit=1e-9)
    except netnum.NumError as error:
        assert "the time was up before there was an answer to the network as it is" in str(error)
    else:
        assert (study.solutions[0].method == "none") <= np.isnan(study.throughput[0])


# --- demands that are carried ---


@pytest.fixture
def carried():
    """The first flow has link 0 only, the second links 0 and 1, the third link 1 only."""
    return netnum.Problem([2.0, 3.0], [[0], [0], [1], [1]], group=[0, 1, 1, 2], flow_cap=[1.0, 2.0, 1.0])


def test_failures_cost_a_part_of_every_demand(carried):
    study = netnum.failure_study(carried, [0, 1, (0, 1)], objective="concurrent_flow")
    assert [flows.tolist() for flows in study.cut_off] == [[0], [2], [0, 1, 2]]
    assert study.before == pytest.approx([1.25, 1.25, np.nan], nan_ok=True)
    # Without link 0 demands of 3 share link 1, without link 1 demands of 3 share link 0.
    assert study.after == pytest.approx([1.0, 2 / 3, np.nan], nan_ok=True)
    assert study.worst_ratio == pytest.approx(study.after, nan_ok=True)
    assert study.throughput == pytest.approx([3.0, 2.0, 0.0])
    assert study.status == ["optimal"] * 3
    assert isinstance(study.solutions[0], netnum.MulticommodityFlow)
    assert study.solutions[1].cut == ("link 0",)
    assert "down to 0.0 % of throughput by link 0, link 1" in repr(study)


def test_failures_make_links_fuller(carried):
    study = netnum.failure_study(carried, [0, 1, (0, 1)], objective="min_utilization")
    assert study.before == pytest.approx([0.8, 0.8, np.nan], nan_ok=True)
    assert study.after == pytest.approx([1.0, 1.5, np.nan], nan_ok=True)
    assert study.objective == "min_utilization"
    assert repr(study) == (
        "FailureStudy(3 scenarios, 3 optimal; up to 3 flows cut off by link 0, link 1; utilization up to 1.5 by link 1)"
    )
    frame = study.to_pandas()
    assert frame["change"].to_numpy() == pytest.approx([0.2, 0.7, np.nan], nan_ok=True)


def test_an_objective_and_what_it_does_not_take_are_named(carried):
    with pytest.raises(netnum.NumError, match=r"objective is 'min_utilisation', .* did you mean 'min_utilization'\?"):
        netnum.failure_study(carried, [0], objective="min_utilisation")
    for given in (
        *({"tol": 1e-3}, {"stop": "kkt"}, {"time_limit": 1.0}, {"method": "ned"}, {"threads": 2}, {"gamma": 0.5}),
        {"warm_start": [0.0, 0.0]},
    ):
        (name,) = given
        expected = f"{name} is a setting of solve, and 'min_utilization' is found exactly, without it"
        with pytest.raises(netnum.NumError, match=expected):
            netnum.failure_study(carried, [0], objective="min_utilization", **given)
    caps = netnum.Problem([2.0, 3.0], [[0], [1]], group=[0, 0], flow_cap=[2.0], rate_cap=[1.0, 1.0])
    with pytest.raises(netnum.ProblemError, match="scenario 1: flow 0 has demand 2, expected at most 1"):
        netnum.failure_study(caps, [[], 0], objective="min_utilization")


def test_progress_counts_the_scenarios_that_are_carried(carried, capsys):
    netnum.failure_study(carried, [0, 1, (0, 1)], objective="concurrent_flow", progress=True)
    assert "3 of 3 problems" in capsys.readouterr().err


# --- paths that are found again ---


@pytest.fixture(scope="module")
def routed():
    """A ring of five with a chord and a tail, every pair split over the shortest paths by cost."""
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a"), ("b", "d"), ("d", "tail")]
    net = netnum.topology.from_edges([(*edge, {"cost": 1.0, "capacity": 10.0 + n}) for n, edge in enumerate(edges)])
    pairs = [(one, other) for one in net.node_names for other in net.node_names if one != other]
    caps, floors = np.full(len(pairs), 9.0), np.zeros(len(pairs))
    floors[pairs.index(("a", "c"))] = 4.0
    more = {"flow_cap": caps, "flow_floor": floors}
    return netnum.Problem(net, net.ecmp_split(pairs, weight="cost"), **more), pairs


def split(net, pairs):
    return net.ecmp_split(pairs, weight="cost")


def test_paths_are_found_again_after_each_failure(routed):
    problem, pairs = routed
    study = netnum.failure_study(problem, "fibers", reroute=split, tol=1e-9)
    assert study.status == ["optimal"] * 7
    for number, (name, failed) in enumerate(zip(study.names, study.failures, strict=True)):
        solution, cut_off = study.solutions[number], study.cut_off[number]
        left = problem.network.without(name)
        joined = left.has_path(pairs)
        assert cut_off.tolist() == np.flatnonzero(~joined).tolist()
        assert len(cut_off) == (10 if name == "d - tail" else 0)
        some = [pair for pair, is_joined in zip(pairs, joined, strict=True) if is_joined]
        caps, floors = problem.flow_cap[joined], problem.flow_floor[joined]
        alone = netnum.Problem(left, split(left, some), flow_cap=caps, flow_floor=floors)
        by_hand = netnum.solve(alone, tol=1e-9)
        assert solution.flow_rates[joined] == pytest.approx(by_hand.flow_rates, rel=1e-5)
        assert study.after[number] == pytest.approx(by_hand.objective, abs=1e-6)
        assert study.throughput[number] == pytest.approx(by_hand.flow_rates.sum(), rel=1e-6)
        assert not np.isin(failed, solution.problem.paths.indices).any() or name == "d - tail"


def test_the_same_scenarios_without_rerouting_are_those_of_the_paths_of_before(routed):
    problem, _ = routed
    study = netnum.failure_study(problem, reroute=split)
    kept, plain = study.without_rerouting, netnum.failure_study(problem)
    assert [list(flows) for flows in kept.cut_off] == [list(flows) for flows in plain.cut_off]
    np.testing.assert_array_equal(kept.after, plain.after)
    assert sum(map(len, kept.cut_off)) > sum(map(len, study.cut_off)) == 10
    assert plain.without_rerouting is None
    assert netnum.failure_study(problem, reroute=split, without_rerouting=False).without_rerouting is None
    assert "cut_off_without_rerouting" in study.to_pandas()


def test_floors_that_do_not_fit_on_the_paths_found_again_are_named(routed):
    problem, pairs = routed
    problem = problem.with_flow_floors({("a", "c"): 5.5, ("a", "d"): 8.0})
    study = netnum.failure_study(problem, ["a - b", "c - d"], reroute=split)
    assert study.status == ["infeasible", "optimal"]
    left = problem.network.without("a - b")
    by_hand = netnum.solve(netnum.Problem(left, split(left, pairs), flow_floor=problem.flow_floor)).infeasibility
    assert study.floor_fraction == pytest.approx([by_hand.fraction, 1.0], rel=1e-9)
    assert study.broken_floors[0].tolist() == by_hand.flows.tolist() == [pairs.index(("a", to)) for to in "cd"]
    # On the paths of before these flows are cut off, and their floors with them.
    assert study.without_rerouting.status == ["optimal", "optimal"]
    assert set(by_hand.flows) & set(study.without_rerouting.floors_cut_off[0])


@pytest.mark.parametrize("objective", ["concurrent_flow", "min_utilization"])
def test_carried_demands_are_routed_again(routed, objective):
    problem, pairs = routed
    problem = netnum.Problem(problem.network, problem.paths, flow_cap=np.full(len(pairs), 2.0))
    study = netnum.failure_study(problem, ["a - b"], reroute=split, objective=objective)
    left = problem.network.without("a - b")
    by_hand = getattr(netnum, objective)(netnum.Problem(left, split(left, pairs), flow_cap=problem.flow_cap))
    expected = by_hand.fraction if objective == "concurrent_flow" else by_hand.utilization
    assert study.after == pytest.approx([expected], rel=1e-9)
    assert study.cut_off[0].tolist() == []
    assert len(study.without_rerouting.cut_off[0]) > 0


def test_several_paths_and_classes_are_routed_again(ring):
    problem = netnum.Problem(ring.network, ring.paths, flow_cap=8.0, priority=[0, 1] * 4)
    study = netnum.failure_study(problem, reroute=lambda net, pairs: net.k_shortest_paths(pairs, 2), tol=1e-8)
    assert [len(flows) for flows in study.cut_off] == [0] * 4
    pairs = problem.network.links.tolist()
    for name, after, by_class in zip(study.names, study.after, study.class_after, strict=True):
        left = problem.network.without(name)
        alone = netnum.Problem(left, left.k_shortest_paths(pairs, 2), flow_cap=8.0, priority=problem.priority)
        by_hand = netnum.solve(alone, tol=1e-8)
        assert after == pytest.approx(by_hand.objective, abs=1e-5)
        assert by_class == pytest.approx([one.objective for one in by_hand.classes], abs=1e-5)


def test_links_that_failed_before_are_not_used_again(routed):
    broken = routed[0].with_capacities({("b", "d"): 0.0, ("d", "b"): 0.0})
    (solution,) = netnum.failure_study(broken, ["c - d"], reroute=split).solutions
    assert solution.failed_flows.tolist() == []
    assert not np.isin([4, 5, 10, 11], solution.problem.paths.indices).any()


def with_groups(found, group):
    """Paths of other flows, the first path once more where there is one flow more."""
    more = found.indices[: found.indptr[1] * (len(group) - len(found))]
    indptr = np.append(found.indptr, found.indptr[-1] + len(more)) if len(more) else found.indptr
    return netnum.Paths(indptr, np.append(found.indices, more), group)


@pytest.mark.parametrize(
    ("reroute", "error", "message"),
    [
        (lambda net, pairs: None, TypeError, "reroute must return Paths, not NoneType"),
        (
            lambda net, pairs: with_groups(split(net, pairs), np.append(np.arange(29), 30)),
            netnum.ProblemError,
            "reroute returns paths of 30 flows, expected 30, one per pair, numbered from 0",
        ),
        (
            lambda net, pairs: with_groups(split(net, pairs), np.append(np.arange(30), 29)),
            netnum.ProblemError,
            "reroute returns paths for pair 29 from a to b, expected from tail to e",
        ),
        (
            lambda net, pairs: split(net, pairs[1:]),
            netnum.ProblemError,
            "reroute returns paths of 29 flows, expected 30, one per pair",
        ),
        (
            lambda net, pairs: netnum.Paths(np.arange(31), np.arange(30)),
            netnum.ProblemError,
            "reroute returns path 14 over link 14, and there are 14 links",
        ),
        (
            lambda net, pairs: split(net, pairs[::-1]),
            netnum.ProblemError,
            "reroute returns paths for pair 0 from tail to e, expected from a to b",
        ),
        (
            lambda net, pairs: split(net, [("a", "nowhere")]),
            netnum.ProblemError,
            'an end of pairs[0] is "nowhere", expected the name of one of the 6 ends',
        ),
    ],
)
def test_paths_that_are_not_those_of_the_pairs_are_named_with_their_scenario(routed, reroute, error, message):
    with pytest.raises(error) as caught:
        netnum.failure_study(routed[0], {"cable": "a - b"}, reroute=reroute)
    assert str(caught.value).startswith(f"scenario 'cable': {message}")


def test_a_problem_whose_flows_cannot_be_routed_again_is_refused(routed):
    problem, _ = routed
    net = problem.network
    torn = netnum.Paths([0, 2], [0, 6], coefficients=[1.0, 0.5])
    for given, message in (
        (netnum.Problem(net, {("a", "c"): 1.0}), "reroute is for problems of paths: the traffic of pairs is routed "),
        (netnum.Problem(net.capacities, problem.paths), "reroute names nodes, and the problem has capacities only"),
        (problem.with_rate_caps(1.0), "reroute finds other paths, and rate_cap is of those that the problem has"),
        (problem.with_link_costs("cost"), "reroute finds other paths, and path_cost is of those that the problem has"),
        (netnum.Problem(net, torn), "reroute needs ends, and the paths of flow 0 do not tell its source and "),
    ):
        with pytest.raises(netnum.NumError) as caught:
            netnum.failure_study(given, reroute=split)
        assert str(caught.value).startswith(message)
    with pytest.raises(TypeError, match="reroute must be a function of a network and pairs of nodes, not bool"):
        netnum.failure_study(problem, reroute=True)
