"""Solutions as tables, with the names of their network."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import netnum

pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def solved():
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4\nC D 1")
    paths, group = net.k_shortest_paths(["A", "B", "D", "C"], ["C", "A", "C", "D"], 2)
    capacities = net.capacities.copy()
    capacities[net.link("D", "C")] = 0.0
    net = net.with_capacities(capacities)
    demands = [20.0, 3.0, 5.0, np.inf]
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=demands)
    return problem, netnum.solve(problem, tol=1e-9)


def test_a_flow_has_its_ends_its_demand_and_what_holds_it_back(solved):
    table = netnum.to_pandas(*solved)
    assert table.index.name == "flow"
    assert table["source"].tolist() == ["A", "B", "D", "C"]
    assert table["destination"].tolist() == ["C", "A", "C", "D"]
    assert table["rate"].to_numpy() == pytest.approx([10.0, 3.0, 0.0, 1.0], abs=1e-6)
    assert table["ratio"].to_numpy() == pytest.approx([0.5, 1.0, 0.0, np.nan], abs=1e-6, nan_ok=True)
    assert table["served"].tolist() == [True, True, False, True]
    assert table["held_back_by"].tolist() == ["B -> C, A -> C", "", "", "C -> D"]


def test_a_path_has_its_links_and_its_part_of_the_flow(solved):
    problem, solution = solved
    table = netnum.to_pandas(problem, solution, of="paths")
    assert len(table) == len(problem.group)
    of_first = table[table["flow"] == 0]
    assert of_first["links"].tolist() == ["A -> C", "A -> B, B -> C"]
    assert of_first["share"].to_numpy() == pytest.approx([0.4, 0.6], abs=1e-6)
    assert of_first["held_back_by"].tolist() == ["A -> C", "B -> C"]
    assert table[table["flow"] == 2]["share"].isna().all()


def test_a_link_has_its_price_and_how_many_it_holds_back(solved):
    problem, solution = solved
    table = netnum.to_pandas(problem, solution, of="links").set_index("link")
    assert table.index.tolist() == problem.network.link_names
    assert table.loc["B -> C", ["source", "destination"]].tolist() == ["B", "C"]
    assert table["holds_back"].to_dict() == {
        name: int(name in ("B -> C", "A -> C", "C -> D")) for name in problem.network.link_names
    }
    assert table["price"].to_numpy() == pytest.approx(solution.prices)
    assert table.loc["B -> C", "utilization"] == pytest.approx(1.0)
    assert np.isnan(table.loc["D -> C", "utilization"]), "a failed link"


def test_the_ends_of_a_path_do_not_depend_on_the_order_of_its_links():
    net = netnum.topology.backbone("nsfnet")
    pairs = net.random_pairs(60, seed=2)
    paths, group = net.k_shortest_paths(*pairs, 3)
    rng = np.random.default_rng(1)
    shuffled = [rng.permutation(path) for path in paths]
    problem = netnum.Problem(net, shuffled, netnum.AlphaFair(1.0), group=group)
    table = netnum.to_pandas(problem, netnum.solve(problem))
    for column, ends in zip(("source", "destination"), pairs, strict=True):
        assert table[column].tolist() == [net.node_names[end] for end in ends]


def test_without_a_network_links_have_numbers_and_flows_no_ends():
    problem = netnum.Problem([1.0, 2.0], [[0], [1], [1]], netnum.AlphaFair(1.0), group=[1, 1, 0])
    solution = netnum.solve(problem, tol=1e-9)
    flows = netnum.to_pandas(problem, solution)
    assert list(flows.columns) == ["rate", "served", "held_back_by"]
    assert flows["rate"].sum() == pytest.approx(3.0)
    links = netnum.to_pandas(problem, solution, of="links")
    assert list(links.columns) == ["capacity", "load", "utilization", "price", "holds_back"]
    assert links.index.name == "link"
    assert netnum.to_pandas(problem, solution, of="paths")["links"].tolist() == ["0", "1", "1"]


def test_what_is_no_table_or_no_solution_of_the_problem_is_named(solved):
    problem, solution = solved
    with pytest.raises(netnum.NumError, match="of is 'nodes', expected 'flows', 'paths' or 'links'"):
        netnum.to_pandas(problem, solution, of="nodes")
    other = netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0))
    with pytest.raises(netnum.ProblemError, match="the solution is of another problem: it has 1 paths, expected"):
        netnum.to_pandas(problem, netnum.solve(other))


def test_a_path_that_comes_back_has_no_ends(recwarn):
    net = netnum.topology.from_edges("A B 1\nB C 1")
    around = [net.link("B", "C"), net.link("C", "B")]
    problem = netnum.Problem(net, [around, [net.link("A", "B")]], netnum.AlphaFair(1.0))
    table = netnum.to_pandas(problem, netnum.solve(problem))
    assert table["source"].tolist() == ["", "A"]
    assert table["destination"].tolist() == ["", "B"]
    assert not recwarn.list


def test_a_solution_of_another_grouping_is_refused():
    one = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))
    other = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0), group=[0, 0])
    with pytest.raises(netnum.ProblemError, match="the solution is of another problem: it has 2 flows, expected 1"):
        netnum.to_pandas(other, netnum.solve(one))


def test_what_is_no_problem_or_no_solution_is_named(solved):
    problem, solution = solved
    fair = netnum.max_min(problem.with_utility(netnum.AlphaFair(np.inf)))
    for arguments, message in [
        ((problem, fair), "solution must be a Solution, not MaxMinRates"),
        ((solution, problem), "problem must be a Problem, not Solution"),
    ]:
        with pytest.raises(TypeError, match=message):
            netnum.to_pandas(*arguments)


def test_max_min_flows_with_several_paths_are_held_back_by_the_links_of_their_cut():
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4\nC D 5")
    paths, group = net.k_shortest_paths(["A", "A", "C"], ["C", "B", "D"], 2)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(np.inf), group=group, flow_cap=[np.inf, 1.0, np.inf])
    solution = netnum.solve(problem)
    assert solution.flow_rates == pytest.approx([10.0, 1.0, 5.0])
    assert netnum.to_pandas(problem, solution)["held_back_by"].tolist() == ["B -> C, A -> C", "", "C -> D"]
    table = netnum.to_pandas(problem, solution, of="links").set_index("link")
    assert table["holds_back"].to_dict() == {
        name: int(name in ("B -> C", "A -> C", "C -> D")) for name in problem.network.link_names
    }
    assert table.loc[["B -> C", "A -> C", "C -> D", "A -> B"], "price"].tolist() == pytest.approx([1.0, 1.0, 1.0, 0.0])
    of_paths = netnum.to_pandas(problem, solution, of="paths")
    assert of_paths["held_back_by"][of_paths["flow"] == 0].tolist() == ["A -> C", "B -> C"]
    (share, links, flows), (other_share, other_links, other_flows) = solution.cuts
    assert (share, other_share) == pytest.approx((5.0, 10.0))
    assert [net.link_names[link] for link in other_links] == ["B -> C", "A -> C"]
    assert (flows.tolist(), other_flows.tolist(), len(links)) == ([2], [0], 1)
    alone = netnum.Problem(net, [paths[0], paths[2]], netnum.AlphaFair(np.inf))
    solution = netnum.solve(alone)
    assert netnum.to_pandas(alone, solution)["held_back_by"].tolist() == ["A -> C", "A -> B"]
    assert solution.cuts == ()


@pytest.mark.parametrize("of", ["flows", "paths", "links"])
def test_a_solution_makes_the_same_table_of_its_own_problem(solved, of):
    import pandas

    problem, solution = solved
    assert solution.problem is problem
    pandas.testing.assert_frame_equal(solution.to_pandas(of), netnum.to_pandas(problem, solution, of))
    assert solution.to_pandas().index.name == "flow"


def test_where_floors_do_not_fit_no_flow_is_served_and_the_proof_holds_back_its_flows():
    net = netnum.topology.from_edges("A B 4\nB C 9")
    given = {"flow_floor": [3.0, 2.0, 1.0], "flow_cap": 8.0}
    problem = netnum.Problem(net, [["A", "B"], ["A", "B", "C"], ["B", "C"]], **given)
    frame = netnum.solve(problem).to_pandas()
    assert frame["floor"].tolist() == [3.0, 2.0, 1.0]
    np.testing.assert_allclose(frame["rate"], [2.4, 1.6, 0.8])
    assert frame["served"].tolist() == [False, False, False]
    assert frame["held_back_by"].tolist() == ["A -> B", "A -> B", ""]
    fits = netnum.solve(problem.with_flow_floors([2.0, 2.0, 1.0])).to_pandas()
    assert fits["served"].tolist() == [True, True, True]


def test_every_solve_knows_its_problem(solved):
    problem, _ = solved
    other = problem.with_flow_caps(2.0)
    assert [solution.problem for solution in netnum.solve_many([problem, other])] == [problem, other]
    solver = netnum.Solver(problem)
    assert solver.solve().problem is problem
    solver.update(flow_caps=[1.0, 1.0, 1.0, 1.0])
    changed = solver.solve()
    assert changed.problem is solver.problem and changed.problem is not problem
    assert changed.to_pandas()["demand"].tolist() == [1.0] * 4


def test_a_solution_without_its_problem_asks_for_it(solved):
    problem, solution = solved
    of_many = netnum.solve_many(problem, flow_caps=[[20.0, 3.0, 5.0, np.inf]])[0]
    for alone in (pickle.loads(pickle.dumps(solution)), of_many):
        assert alone.problem is None
        for make in (alone.to_pandas, alone.plot):
            with pytest.raises(netnum.NumError, match=r"this solution is without its problem, .*: give problem="):
                make()
        assert len(alone.to_pandas("links", problem=problem)) == problem.links
    with pytest.raises(netnum.ProblemError, match="the solution is of another problem"):
        solution.to_pandas(problem=netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0)))


def test_a_cycle_through_a_solution_is_freed():
    class Utility:
        value = staticmethod(np.log)
        marginal = staticmethod(np.reciprocal)

    utility = Utility()
    freed = weakref.ref(utility)
    utility.solution = netnum.solve(netnum.Problem([1.0], [[0]], utility))
    del utility
    gc.collect()
    assert freed() is None
