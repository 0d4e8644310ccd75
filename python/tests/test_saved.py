"""What is written and read back is equal: through JSON, files, pickle and tables."""

import json
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum

NET = netnum.topology.from_edges("Zürich Genève 10\nGenève Lyon 6\nZürich Lyon 4")
PLACED = netnum.Topology(
    ["20", "10", "0"], [[0, 1], [1, 2], [1, 2]], [1.5, 0.0, 2.25], positions=np.eye(3, 2), name="ö"
)
NETWORKS = [
    NET,
    PLACED,
    netnum.topology.backbone("abilene"),
    netnum.topology.leaf_spine(2, 4, 2),
    netnum.topology.fat_tree(4),
    NET.without([("Lyon", "Genève")]),
]
DEMANDS = [netnum.demands.gravity(NET, total=5.0, seed=1), netnum.Demands([], [], [])]
WORKLOADS = [
    netnum.sim.Workload([0.0, 0.5], [0, 1], [1, 0], [1e6, 2e6]),
    netnum.sim.Workload([0.0, 0.5], [0, 1], [1, 0], [1e6, 2e6], [1e9, 2e9], 4e3),
    netnum.sim.Workload([0.0, 0.5], ["20", "10"], ["10", "0"], [1e6, 2e6], net=PLACED),
]


def problems():
    paths, group = NET.k_shortest_paths(["Zürich", "Genève"], ["Lyon", "Zürich"], 2)
    named = netnum.Problem(NET, paths, netnum.AlphaFair(1.0, [1.0, 1 / 3]), group=group, flow_cap=[20.0, math.inf])
    curve = netnum.BandwidthFunction([0, 1, 2], [0, 1, 3], alpha=2.0)
    mixed = [netnum.MinFct(2.0), netnum.Linear(0.1), curve]
    return [
        named,
        named.with_rate_caps({0: 1.0}),
        named.with_utility(netnum.AlphaFair(math.inf)),
        netnum.Problem([1.0, 0.0], [[0, 1], [0], [1]], mixed),
        netnum.Problem(NET, [], netnum.AlphaFair(1.0)),
        netnum.Problem(NETWORKS[3], NETWORKS[3].ecmp([0, 1], [5, 6]), netnum.AlphaFair(2.0, scale=[1.0, 3.0])),
    ]


PROBLEMS = problems()
ALL = [*NETWORKS, *DEMANDS, *WORKLOADS, *PROBLEMS]


@pytest.mark.parametrize("thing", ALL, ids=repr)
def test_what_is_saved_is_loaded_again(thing, tmp_path):
    thing.save(tmp_path / "thing.json")
    again = netnum.load(tmp_path / "thing.json")
    assert again == thing
    assert type(again) is type(thing)
    assert json.loads((tmp_path / "thing.json").read_text(encoding="utf-8"))["kind"]


@pytest.mark.parametrize("thing", ALL, ids=repr)
def test_what_is_pickled_is_equal(thing):
    assert pickle.loads(pickle.dumps(thing)) == thing


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_a_problem_is_equal_to_what_its_text_says(problem):
    again = netnum.Problem.from_json(problem.to_json())
    assert again == problem
    assert hash(again) == hash(problem)
    assert type(again.network) is type(problem.network)
    if isinstance(problem.network, netnum.Topology):
        assert again.network == problem.network


def test_problems_that_differ_in_one_thing_are_not_equal():
    one = PROBLEMS[0]
    others = [
        one.with_capacities({0: 11.0}),
        one.with_flow_caps({0: 19.0}),
        one.with_flow_caps(None),
        one.with_rate_caps({0: 1.0}),
        one.with_weights({1: 0.25}),
        one.with_utility(netnum.Linear(1.0)),
        netnum.Problem(one.capacities, one.paths, one.utility, flow_cap=one.flow_cap),
        netnum.Problem(NET, one.paths, one.utility, group=one.group[::-1], flow_cap=[20.0, math.inf]),
    ]
    for other in others:
        assert other != one
    assert one != "problem"
    assert one == netnum.Problem(
        NET, one.paths, [netnum.AlphaFair(1.0), netnum.AlphaFair(1.0, 1 / 3)], flow_cap=[20, math.inf]
    )


def test_problems_of_python_code_are_equal_where_the_code_is():
    class Root:
        def __init__(self, factor):
            self.factor = factor

        def value(self, rates):
            return self.factor * np.sqrt(rates)

        def marginal(self, rates):
            return self.factor / 2 / np.sqrt(rates)

        def __eq__(self, other):
            return isinstance(other, Root) and self.factor == other.factor

        __hash__ = None

    def problem(factor):
        return netnum.Problem([1.0], [[0], [0]], Root(factor))

    assert problem(2.0) == problem(2.0)
    assert problem(2.0) != problem(3.0)
    assert problem(2.0) != problem(2.0).with_capacities(2.0)
    with pytest.raises(netnum.ProblemError, match="flow 0"):
        problem(2.0).save("nowhere.json")


@given(
    st.lists(st.text(min_size=1).filter(lambda name: not name.isspace()), min_size=2, max_size=6, unique=True),
    st.data(),
)
def test_networks_with_any_names_are_loaded_again(tmp_path_factory, names, data):
    nodes = st.integers(0, len(names) - 1)
    links = data.draw(st.lists(st.tuples(nodes, nodes).filter(lambda link: link[0] != link[1]), max_size=12))
    capacities = data.draw(st.lists(st.floats(0, 1e300), min_size=len(links), max_size=len(links)))
    net = netnum.Topology(names, np.array(links, dtype=int).reshape(-1, 2), capacities)
    file = tmp_path_factory.getbasetemp() / "any.json"
    net.save(file)
    assert netnum.load(file) == net
    assert pickle.loads(pickle.dumps(net)) == net


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0, 1e300)), max_size=20))
def test_demands_of_any_size_are_loaded_again(tmp_path_factory, rows):
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], []]
    demands = netnum.Demands(*columns)
    file = tmp_path_factory.getbasetemp() / "demands.json"
    demands.save(file)
    assert netnum.load(file) == demands


def test_demands_are_equal_to_their_table_and_matrix():
    pytest.importorskip("pandas")
    demands = DEMANDS[0]
    assert netnum.demands.from_pandas(NET, demands.to_pandas(NET)) == demands
    assert netnum.demands.from_matrix(NET, demands.to_matrix(NET)) == demands


@pytest.mark.parametrize(
    "problem", [PROBLEMS[0], PROBLEMS[2], PROBLEMS[3].with_utility(netnum.AlphaFair(1.0))], ids=repr
)
def test_a_solution_is_loaded_with_its_problem(problem, tmp_path):
    solution = netnum.solve(problem, trace=True)
    solution.save(tmp_path / "solution.json")
    again = netnum.load(tmp_path / "solution.json")
    assert again.problem == problem
    for one in (again, pickle.loads(pickle.dumps(solution))):
        assert [(share, links.tolist(), flows.tolist()) for share, links, flows in one.cuts] == [
            (share, links.tolist(), flows.tolist()) for share, links, flows in solution.cuts
        ]
    for name in ("rates", "flow_rates", "prices", "loads", "bottlenecks", "failed_flows"):
        np.testing.assert_array_equal(getattr(again, name), getattr(solution, name))
    for name in ("status", "method", "objective", "certificate", "iterations", "seconds", "part"):
        assert getattr(again, name) == getattr(solution, name), name
    np.testing.assert_array_equal(again.trace.gap, solution.trace.gap)
    np.testing.assert_array_equal(again.trace.kkt_residual, solution.trace.kkt_residual)
    assert repr(again) == repr(solution)


def test_a_solution_without_an_answer_and_one_of_python_code_are_loaded_again(tmp_path):
    class Root:
        value = staticmethod(np.sqrt)

        def marginal(self, rates):
            return 0.5 / np.sqrt(rates)

    stopped = netnum.solve(PROBLEMS[0], max_iterations=0)
    of_code = netnum.solve(netnum.Problem([1.0], [[0]], Root()))
    for solution in (stopped, of_code):
        solution.save(tmp_path / "solution.json")
        again = netnum.load(tmp_path / "solution.json")
        assert repr(again) == repr(solution)
        assert again.gap == solution.gap
        np.testing.assert_equal(again.objective, solution.objective)
    assert again.problem is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "is not JSON, Expecting value"),
        ("[1, 2]", "it has no field 'kind', which says what was saved"),
        (
            '{"kind": "networks"}',
            "its kind is 'networks', expected one of problem, solution, network, demands, workload",
        ),
        ('{"kind": "network", "links": []}', "the network has no field 'node_names'"),
        ('{"kind": "demands", "sources": [0], "destinations": [1], "volumes": [-1]}', "demand 0 is -1"),
        ('{"kind": "demands", "sources": [0], "destinations": [1], "volumes": [1], "z": 1}', "is not readable"),
        ('{"kind": "problem", "capacity": [1.0]}', "missing field `paths`"),
        (PROBLEMS[0].to_json(), "netnum.Problem.from_json reads the text of a problem"),
    ],
)
def test_a_file_that_is_not_readable_is_named(text, message, tmp_path):
    file = tmp_path / "thing.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(netnum.NumError, match=re.escape(message)) as caught:
        netnum.load(file)
    assert str(file) in str(caught.value)


def test_other_files_are_answered_with_what_reads_them(tmp_path):
    (tmp_path / "zoo.graphml").write_text("<graphml/>", encoding="utf-8")
    with pytest.raises(netnum.NumError, match=r"is not JSON: netnum\.topology\.from_graphml reads such files"):
        netnum.load(tmp_path / "zoo.graphml")
    with pytest.raises(FileNotFoundError):
        netnum.load(tmp_path / "nothing.json")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    NET.save(tmp_path / "net.json")
    marked = b"\xef\xbb\xbf" + (tmp_path / "net.json").read_bytes().replace(b", ", b",\r\n")
    (tmp_path / "marked.json").write_bytes(marked)
    assert netnum.load(tmp_path / "marked.json") == NET


def test_the_network_of_a_problem_is_checked():
    text = json.loads(PROBLEMS[0].to_json())
    text["network"]["links"].pop()
    with pytest.raises(netnum.NumError, match="capacities has 6 entries, expected 5"):
        netnum.Problem.from_json(json.dumps(text))


@pytest.mark.parametrize("ending", [".graphml", ".csv", ".npz", ".pickle"])
def test_an_ending_of_another_format_is_refused(ending, tmp_path):
    file = tmp_path / f"net{ending}"
    with pytest.raises(netnum.NumError, match=rf"save writes JSON, and .* ends in {re.escape(ending)}: "):
        netnum.topology.single_link(1.0).save(file)
    assert not file.exists()


@given(st.lists(st.floats(), min_size=6, max_size=6), st.lists(st.sampled_from(["inf", "-inf", ""]), min_size=6))
def test_networks_with_infinite_attributes_are_loaded_again(tmp_path_factory, numbers, texts):
    attributes = {"n": numbers, "t": texts[:6]}
    net = netnum.Topology(NET.node_names, NET.links, NET.capacities, link_attributes=attributes)
    file = tmp_path_factory.getbasetemp() / "infinite.json"
    net.save(file)
    assert netnum.load(file) == net


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": ["a"]}, "its kind is ['a'], expected one of"),
        ({"cuts": "x"}, "the solution has cuts 'x', expected lists"),
        ({"rates": [1.0]}, "the solution has 1 rates, expected"),
        ({"bottlenecks": [99]}, "the solution has the bottleneck 99, expected -1 or links to 5"),
        ({"trace": [1]}, "the solution has trace [1], expected its fields"),
        ({"problem": {**json.loads(PROBLEMS[0].to_json()), "network": 3}}, "the problem has the network 3, expected"),
        ({"iterations": -1}, "the solution has iterations -1, expected a number >= 0"),
    ],
)
def test_a_field_of_a_solution_that_is_wrong_is_named(change, message, tmp_path):
    file = tmp_path / "solution.json"
    netnum.solve(PROBLEMS[0]).save(file)
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(netnum.NumError, match=re.escape(message)):
        netnum.load(file)
    file.write_text('{"kind": "solution"}', encoding="utf-8")
    with pytest.raises(netnum.NumError, match="the solution has no field 'rates'"):
        netnum.load(file)


def test_issue_35_a_field_whose_name_is_a_slip_is_named_and_others_are_ignored():
    net = netnum.topology.from_edges("A B 10")
    for problem in (netnum.Problem(net, [["A", "B"]]), netnum.Problem(net, {("A", "B"): 3.0})):
        fields = json.loads(problem.to_json())
        known = fields | {"name": "one", "description": "", "expected": {"rates": [10.0]}, "rates": [1.0], "gap": 0.0}
        assert netnum.Problem.from_json(json.dumps(known)) == problem
        for name, near in (("flow_flor", "flow_floor"), ("flow_caps", "flow_cap"), ("utilty", "utility")):
            with pytest.raises(netnum.NumError) as caught:
                netnum.Problem.from_json(json.dumps(fields | {name: [1.0]}))
            message = f"not a problem in JSON: unknown field `{name}`, did you mean `{near}`?"
            assert str(caught.value) == message
    own = {"capacity_unit": "Gbit/s", "network_name": "one", "utility_name": "log", "group_of": [0]}
    assert netnum.Problem.from_json(json.dumps(fields | own)) == problem
    with pytest.raises(netnum.NumError, match="unknown field `max_hop`, expected one of "):
        netnum.Problem.from_json(json.dumps(fields | {"pairs": fields["pairs"] | {"max_hop": 1}}))
    utility = fields["utility"] | {"wieght": [2.0]}
    with pytest.raises(netnum.NumError, match=r"unknown field `utility\.wieght`, did you mean `utility\.weight`\?"):
        netnum.Problem.from_json(json.dumps(fields | {"utility": utility}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_hops": 1}, "pairs beside paths: unknown field `max_hops`, expected `sources` or `destinations`"),
        ({"sources": [0, 1]}, "pairs.destinations has 1 entries, expected 2, one per source"),
        ({"destinations": [9]}, "pairs[0]: end 9 does not exist, expected an end from 0 to 1"),
    ],
)
def test_issue_35_pairs_beside_paths_are_checked(change, message):
    net = netnum.topology.from_edges("A B 10")
    fields = json.loads(netnum.Problem(net, [["A", "B"]], pairs=[("A", "B")]).to_json())
    with pytest.raises(netnum.NumError) as caught:
        netnum.Problem.from_json(json.dumps(fields | {"pairs": fields["pairs"] | change}))
    assert str(caught.value).startswith(message)


def test_a_node_or_a_field_named_pairs_is_no_problem_of_pairs():
    net = netnum.topology.from_edges("A pairs 10\npairs B 5\nA B 3")
    problem = netnum.Problem(net, net.k_shortest_paths(["A"], ["B"], k=2), netnum.AlphaFair(1.0))
    again = netnum.Problem.from_json(problem.to_json())
    assert netnum.solve(again).flow_rates == pytest.approx(netnum.solve(problem).flow_rates)
    fields = json.loads(problem.to_json()) | {"comment": {"pairs": 3}}
    assert netnum.Problem.from_json(json.dumps(fields)).flows == 1
