"""Problems that differ in one thing from another: what did not change is shared, the answers are those of a new one."""

import numpy as np
import pytest

import netnum

NET = netnum.topology.backbone("abilene")


def problem(**others):
    paths, group = NET.k_shortest_paths([0, 1, 2, 5], [8, 7, 9, 10], 3)
    return netnum.Problem(NET, paths, netnum.AlphaFair(1.0), group=group, **others)


def test_other_utilities_are_those_of_a_new_problem():
    old = problem(flow_cap=[1e9, np.inf, 2e9, np.inf])
    utility = netnum.AlphaFair(2.0, weight=[1.0, 2.0, 3.0, 4.0])
    changed = old.with_utility(utility)
    anew = netnum.Problem(NET, old.paths, utility, group=old.group, flow_cap=old.flow_cap)
    np.testing.assert_array_equal(netnum.solve(changed).rates, netnum.solve(anew).rates)
    assert changed.utility is utility
    assert changed.network is NET
    assert changed.flow_cap.tolist() == old.flow_cap.tolist()
    mixed = [netnum.AlphaFair(1.0), netnum.Linear(1.0), netnum.MinFct(2.0), netnum.AlphaFair(3.0)]
    assert netnum.solve(old.with_utility(mixed)).is_optimal


def test_other_capacities_keep_the_names_of_the_network():
    halved = problem().with_capacities(NET.capacities / 2)
    assert isinstance(halved.network, netnum.Topology)
    assert halved.network.node_names == NET.node_names
    np.testing.assert_array_equal(halved.network.capacities, NET.capacities / 2)
    of_array = netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0)).with_capacities([2.0])
    np.testing.assert_array_equal(of_array.network, [2.0])


def test_a_utility_written_in_python_takes_the_place_of_another():
    class Root:
        def value(self, rates):
            return 2 * np.sqrt(rates)

        def marginal(self, rates):
            return 1 / np.sqrt(rates)

    shared = netnum.Problem([1.0], [[0], [0]], netnum.Linear([1.0, 5.0]))
    np.testing.assert_allclose(netnum.solve(shared.with_utility(Root())).rates, [0.5, 0.5], rtol=1e-3)


def test_closed_paths_carry_nothing_and_add_up():
    old = problem()
    first = old.with_paths_closed([0, 3])
    both = first.with_paths_closed(np.array([1, 2]))
    assert old.rate_cap is None
    assert np.flatnonzero(both.rate_cap == 0).tolist() == [0, 1, 2, 3]
    solution = netnum.solve(both)
    assert solution.is_optimal
    assert not solution.rates[:4].any()
    # The first flow has no other path.
    assert solution.failed_flows.tolist() == [0]
    anew = netnum.Problem(NET, old.paths, old.utility, group=old.group, rate_cap=both.rate_cap)
    np.testing.assert_array_equal(solution.rates, netnum.solve(anew).rates)
    assert both.network is NET


@pytest.mark.parametrize(
    ("paths", "message"),
    [([0, 12], "there is no path 12, expected a path from 0 to 11"), ([-1], "there is no path -1, expected a path")],
)
def test_a_path_that_does_not_exist_is_named(paths, message):
    with pytest.raises(netnum.ProblemError, match=message):
        problem().with_paths_closed(paths)


def test_bad_changes_are_refused():
    with pytest.raises(TypeError, match="paths must be an array of integers"):
        problem().with_paths_closed([0.5])
    with pytest.raises(netnum.ProblemError, match="utility has 2 entries, expected 4, one per flow"):
        problem().with_utility(netnum.AlphaFair(1.0, weight=[1.0, 2.0]))
    with pytest.raises(TypeError, match="utility"):
        problem().with_utility({})


@pytest.mark.parametrize("one", [3.0, 3, np.float32(3.0), np.array(3.0), np.int64(3)])
def test_one_number_is_that_of_all(one):
    problem_ = problem()
    flows, paths, links = problem_.flows, len(problem_.paths), problem_.links

    def made(**caps):
        return netnum.Problem(NET, problem_.paths, problem_.utility, **caps)

    assert made(flow_cap=one).flow_cap.tolist() == [3.0] * flows
    assert made(rate_cap=one).rate_cap.tolist() == [3.0] * paths
    assert problem_.with_flow_caps(one).flow_cap.tolist() == [3.0] * flows
    assert problem_.with_capacities(one).capacities.tolist() == [3.0] * links
    assert NET.with_capacities(one).capacities.tolist() == [3.0] * links
    assert netnum.Topology(["a", "b"], [[0, 1], [1, 0]], one).capacities.tolist() == [3.0, 3.0]
    solver = netnum.Solver(problem_)
    solver.update(flow_caps=one, capacities=one)
    assert solver.problem.flow_cap.tolist() == [3.0] * flows
    assert solver.problem.capacities.tolist() == [3.0] * links
    weighed, _ = NET.k_shortest_paths([0], [1], 2, weight=one)
    assert weighed == NET.k_shortest_paths([0], [1], 2)[0]


def test_one_number_is_checked_as_an_array_is():
    assert problem().with_flow_caps(np.inf).flow_cap is None
    for make, message in [
        (lambda: problem().with_flow_caps(-1.0), r"flow 0 \(Seattle to Atlanta\) has flow cap -1, expected a number"),
        (
            lambda: problem().with_capacities(np.nan),
            r"link 0 has capacity NaN, expected a number >= 0 \(inf for no limit\)",
        ),
        (lambda: netnum.Problem(NET, [[0]], netnum.AlphaFair(1.0), rate_cap=-1.0), "path 0 has rate cap -1"),
        (
            lambda: netnum.Problem(NET, [[0]], netnum.AlphaFair(1.0), flow_cap=-1.0),
            r"flow 0 \(.* to .*\) has flow cap -1",
        ),
        # There is no number of links yet, nor of scenarios.
        (
            lambda: netnum.Problem(10.0, [[0]], netnum.AlphaFair(1.0)),
            r"capacities has shape \(\), expected one dimension: one alone is \[",
        ),
        (lambda: netnum.solve_many(problem(), flow_caps=3.0), r"flow_caps has shape \(\), expected \(scenarios, 4\)"),
    ]:
        with pytest.raises(netnum.ProblemError, match=message):
            make()
