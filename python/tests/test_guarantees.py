"""Floors, costs and priorities as a user meets them: proofs by name, tables and messages."""

import pickle

import numpy as np
import pytest

import netnum

NET = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")


@pytest.fixture
def problem():
    return netnum.Problem(
        NET, NET.k_shortest_paths([("A", "C"), ("B", "C"), ("A", "B")], 2), flow_floor=[9.0, 2.0, 1.0]
    )


def test_the_proof_names_its_flows_and_links(problem):
    proof = netnum.solve(problem).infeasibility
    text = "Infeasibility(the floors of A to C and B to C need more than B -> C and A -> C; 0.9091 of every floor fits)"
    assert repr(proof) == text and proof.cut == ("B -> C", "A -> C")
    flows, links = proof.to_pandas(), proof.to_pandas("links")
    assert flows[["source", "destination", "floor"]].values.tolist() == [["A", "C", 9.0], ["B", "C", 2.0]]
    assert links.link.tolist() == list(proof.cut) and links.index.tolist() == proof.links.tolist()
    assert flows.pays.sum() > links.worth.sum() == pytest.approx(10.0 * links.price.iloc[0])
    assert proof.to_pandas("paths").empty


def test_caps_of_paths_are_in_the_proof():
    """Flow 1 needs 5 of the caps of 1 and 2; its second path is also short of link 1."""
    problem = netnum.Problem(
        [9.0, 9.0], [[0], [0], [1]], group=[0, 1, 1], rate_cap=[9.0, 1.0, 2.0], flow_floor=[1.0, 5.0]
    )
    proof = netnum.solve(problem).infeasibility
    assert (
        repr(proof)
        == "Infeasibility(the floor of flow 1 needs more than the cap of path 1 and the cap of path 2; 0.6000 of every "
        "floor fits)"
    )
    assert proof.paths.tolist() == [1, 2] and proof.cut == () and proof.cap_prices[0] == 0
    caps, flows = proof.to_pandas("paths"), proof.to_pandas("flows")
    assert caps[["flow", "links", "cap"]].values.tolist() == [[1, "0", 1.0], [1, "1", 2.0]]
    assert caps.worth.sum() == pytest.approx(0.6 * flows.pays.sum(), rel=1e-9)
    both = netnum.solve(problem.with_capacities([0.5, 9.0]).with_flow_floors([0.0, 5.0])).infeasibility
    assert "flow 1 needs more than link 0 and the cap of path 2; " in repr(both)


def test_a_fraction_just_below_1_is_shown_below_1():
    problem = netnum.Problem([1.0, 1.0], [[0], [1]], flow_floor=[1.0 + 3.2e-7, 0.5])
    solution = netnum.solve(problem)
    assert repr(solution) == "Solution(infeasible, 2 flows, 2 links, 1 - 3.2e-7 of every floor fits)"
    text = "Infeasibility(the floor of flow 0 needs more than link 0; 1 - 3.2e-7 of every floor fits)"
    assert repr(solution.infeasibility) == text


def test_a_proof_without_its_problem_has_numbers_and_takes_one(problem):
    proof = netnum.solve(problem).infeasibility
    copy = pickle.loads(pickle.dumps(proof))
    assert copy == proof and copy.cut == ("link 2", "link 4")
    assert "flow 0 and flow 1 need more than link 2 and link 4; " in repr(copy)
    with pytest.raises(netnum.NumError, match="without its problem, as from a pickle or of Solutions: give problem="):
        copy.to_pandas()
    assert copy.to_pandas(problem=problem).equals(proof.to_pandas())
    with pytest.raises(netnum.NumError, match="of is 'nodes', expected 'flows', 'links' or 'paths'"):
        proof.to_pandas("nodes")
    other = netnum.Problem([1.0], [[0]], flow_floor=[1.0])
    with pytest.raises(netnum.ProblemError, match="the proof is of another problem: it has 6 paths, expected 1"):
        proof.to_pandas(problem=other)
    with pytest.raises(netnum.ProblemError, match="another problem: this one has no floors"):
        proof.to_pandas(problem=problem.with_flow_floors(None))


def test_over_all_paths_the_proof_names_the_pairs():
    problem = netnum.Problem(NET, [("A", "C"), ("B", "C")], flow_floor=[9.0, 2.0])
    proof = netnum.solve(problem).infeasibility
    text = "Infeasibility(the floors of A to C and B to C need more than B -> C and A -> C; 0.9091 of every floor fits)"
    assert repr(proof) == text
    assert proof.to_pandas().floor.tolist() == [9.0, 2.0]


def test_a_flow_for_which_floors_leave_nothing_is_not_served():
    problem = netnum.Problem(NET, NET.k_shortest_paths([("A", "C"), ("B", "C")], 1), flow_floor=[4.0, 0.0])
    crossed = netnum.Problem([4.0, 6.0], [[0], [0, 1], [1]], flow_floor=[4.0, 0.0, 0.0])
    solution = netnum.solve(crossed)
    assert solution.status == "optimal" and solution.failed_flows.tolist() == [1]
    assert solution.flow_rates == pytest.approx([4.0, 0.0, 6.0], rel=1e-5)
    assert netnum.certify(crossed, solution.rates, solution.prices).relative_gap < 1e-6
    assert solution.to_pandas().served.tolist() == [True, False, True]
    assert netnum.solve(problem).failed_flows.tolist() == []
    # A solver that is told so later, and one that is told otherwise.
    solver = netnum.Solver(crossed)
    solver.update(flow_floors=[3.0, 0.0, 0.0])
    assert solver.solve().failed_flows.tolist() == []
    solver.update(flow_floors=[4.0, 0.0, 0.0])
    again = solver.solve()
    assert again.status == "optimal" and again.failed_flows.tolist() == [1]
    many = netnum.solve_many(crossed, flow_floors=[[3.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 6.0, 0.0]])
    assert many.status.tolist() == ["optimal", "optimal", "infeasible"]
    assert many.failed_flows.tolist() == [0, 1, 0]


def test_a_study_names_the_floors_that_a_failure_cuts_off():
    """Without link 0 the floor of flow 0 takes all of link 1, and flow 1 has no link left."""
    paths = [[0], [1], [0], [1]]
    problem = netnum.Problem([4.0, 4.0], paths, group=[0, 0, 1, 2], flow_floor=[4.0, 1.0, 0.0])
    study = netnum.failure_study(problem, [0, 1])
    assert study.status == ["optimal", "infeasible"]
    assert [flows.tolist() for flows in study.cut_off] == [[1], [2]]
    assert [flows.tolist() for flows in study.starved] == [[2], []]
    assert study.to_pandas().floors_cut_off.tolist() == [[1], []]
    assert study.solutions[0].flow_rates == pytest.approx([4.0, 0.0, 0.0])
    assert netnum.failure_study(problem.with_flow_floors(None), [0]).floors_cut_off == ()


def test_a_priority_that_is_no_number_is_named_with_its_flow():
    pandas = pytest.importorskip("pandas")
    problem = netnum.Problem(NET, [["A", "B"], ["B", "C"]])
    first = "flows of smaller priorities are served first"
    for priority, message in [
        (["gold", "silver"], f'flow 0 (A to B) has priority "gold", expected a number: {first}'),
        ([1, "low"], f'flow 1 (B to C) has priority "low", expected a number: {first}'),
        (np.array([False, True]), f"flow 0 (A to B) has priority False, expected a number: {first}"),
        (pandas.Series(["gold", "silver"]), f'flow 0 (A to B) has priority "gold", expected a number: {first}'),
        ("gold", f'priority is "gold", expected a number: {first}'),
        (True, f"priority is True, expected a number: {first}"),
        ({("B", "C"): "low"}, f"priority[('B', 'C')] must be a number, not str: {first}"),
        ({1: np.True_}, f"priority[1] must be a number, not {type(np.True_).__name__}: {first}"),
    ]:
        for make in (problem.with_priorities, lambda given: netnum.Problem(NET, problem.paths, priority=given)):
            with pytest.raises(TypeError) as caught:
                make(priority)
            assert str(caught.value) == message


def test_priorities_are_a_column():
    problem = netnum.Problem(NET, [["A", "B"], ["B", "C"]], priority=[1, 0])
    frame = netnum.solve(problem).to_pandas()
    assert list(frame.columns)[:3] == ["source", "destination", "priority"] and frame.priority.tolist() == [1.0, 0.0]
    assert "priority" not in netnum.solve(problem.with_priorities(None)).to_pandas()


def test_costs_over_all_paths_need_no_caps_where_there_are_floors():
    demands = {("A", "C"): 3.0, ("B", "C"): 2.0}
    for pairs in (demands, list(demands)):
        problem = netnum.Problem(NET, pairs, netnum.Linear(0.0), flow_floor=demands, flow_cap=np.inf, link_cost=1.0)
        assert netnum.solve(problem).objective == pytest.approx(-5.0, rel=1e-5)
    capped = netnum.Problem(NET, list(demands), netnum.Linear(0.0), flow_floor=[3.0, 0.0], flow_cap=[np.inf, 1.0])
    assert capped.flow_cap.tolist() == [np.inf, 1.0]
    with pytest.raises(netnum.ProblemError, match=r"flow 1 \(B to C\) has weight 0, expected a number > 0, or a floor"):
        netnum.Problem(NET, list(demands), netnum.Linear(0.0), flow_floor=[3.0, 0.0])


def test_costs_of_links_are_taken_back():
    paths = netnum.Problem(NET, [["A", "B"], ["B", "C"]], path_cost=[0.1, 0.0])
    assert paths.with_link_costs(0.5).with_link_costs(None).path_cost is None
    assert paths.with_link_costs(0.5).with_link_costs(0.2).path_cost.tolist() == [0.2, 0.2]
    both = netnum.Problem(NET, [["A", "B"], ["B", "C"]], path_cost=[0.25, 0.0], link_cost=0.5)
    assert both.path_cost.tolist() == [0.75, 0.5]
    pairs = netnum.Problem(NET, [("A", "C"), ("B", "C")], link_cost=0.5)
    assert pairs.with_link_costs(None) == netnum.Problem(NET, [("A", "C"), ("B", "C")]) != pairs
    assert pairs.with_link_costs(0.2) == netnum.Problem(NET, [("A", "C"), ("B", "C")], link_cost=0.2)


def test_what_a_problem_lacks_is_told_by_name(problem):
    infeasible = netnum.solve(problem)
    with pytest.raises(netnum.SensitivityError, match='\\(its status is "infeasible"\\); its floors do not fit: lower'):
        infeasible.sensitivity()
    with pytest.raises(netnum.ProblemError, match='there is no link attribute "latency"; known: none'):
        problem.with_link_costs("latency")
    with pytest.raises(
        netnum.MethodError, match=r"^a single solve cannot take priorities; solve\(problem\) takes them"
    ):
        netnum.Solver(problem.with_priorities([0, 1, 1]))


def test_a_tuple_of_a_list_of_paths_and_their_flows_is_refused():
    paths, group = NET.k_shortest_paths([("A", "C"), ("B", "C")], 2)
    for lists in ([list(path) for path in paths], [["A", "C"], ["B", "C"]]):
        with pytest.raises(TypeError) as caught:
            netnum.Problem(NET, (lists, group))
        assert str(caught.value) == (
            "paths is a tuple of a list of paths and another of numbers: give the list of paths, and the flows that "
            "they belong to as group="
        )
    assert netnum.Problem(NET, ([0, 2], [4])).flows == 2


def test_a_cost_of_a_link_out_of_its_range_has_the_name_of_the_link():
    message = r"link 2 \(B -> C\) has cost -1, expected a finite number >= 0"
    pairs = netnum.Problem(NET, [("A", "C")])
    for make in (
        lambda: netnum.Problem(NET, [("A", "C")], link_cost={("B", "C"): -1.0}),
        lambda: netnum.Problem(NET, [["A", "C"]], link_cost={("B", "C"): -1.0}),
        lambda: pairs.with_link_costs({("B", "C"): -1.0}),
        lambda: netnum.Problem(NET, [["A", "C"]]).with_link_costs({("B", "C"): -1.0}),
    ):
        with pytest.raises(netnum.ProblemError, match=f"^{message}"):
            make()
