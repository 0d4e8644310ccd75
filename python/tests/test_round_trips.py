"""Networks, demands and workloads that are written and read back are equal, in every form in which both are done."""

import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import netnum
from netnum import sim, topology

nx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")

#: Characters that XML cannot have, and those that have a meaning in it, at the edges of lines and of names.
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
texts = st.text(min_size=1, max_size=5) | st.sampled_from(
    ["a b", " a", "a\t", "<&\"'>", "\r\n", "07", "-1", "None", "nan"]
)
names = texts | st.integers(-3, 12).map(str)
numbers = st.floats(allow_nan=True)
capacities = st.floats(0, 1e300) | st.sampled_from([0.0, float("inf")])


@st.composite
def networks(draw):
    """Networks with all that one may have."""
    nodes = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    node = st.integers(0, len(nodes) - 1)
    links = draw(st.lists(st.tuples(node, node).filter(lambda link: link[0] != link[1]), max_size=8))
    count = len(links)

    def of_links(values):
        return draw(st.lists(values, min_size=count, max_size=count))

    own = ["capacity", "link", "shared", "source", "target", "key"]
    attributes = {
        name: of_links(draw(st.sampled_from([numbers, texts | st.just("")])))
        for name in draw(st.lists(texts.filter(lambda name: name not in own), max_size=2, unique=True))
    }
    return netnum.Topology(
        nodes,
        np.array(links, dtype=int).reshape(-1, 2),
        of_links(capacities),
        ends=draw(st.integers(2, len(nodes))),
        tiers=draw(st.lists(st.integers(0, 255), min_size=len(nodes), max_size=len(nodes))),
        name=draw(texts),
        positions=draw(st.none() | st.just(np.linspace(-1.5, 2.25, 2 * len(nodes)).reshape(-1, 2))),
        shared=of_links(st.booleans()),
        link_attributes=attributes,
        directed=draw(st.booleans()),
    )


def xml_has(net):
    said = [net.name, *net.node_names, *net.link_attributes]
    said += [text for column in net.link_attributes.values() if isinstance(column, list) for text in column]
    return not any(NO_XML.search(text) for text in said)


@settings(deadline=None)  # they write files
@given(networks())
def test_networks_are_equal_to_their_graph_table_file_and_pickle(tmp_path_factory, net):
    file = tmp_path_factory.getbasetemp() / "net.json"
    net.save(file)
    frame = net.to_pandas()
    assert netnum.load(file) == net
    assert pickle.loads(pickle.dumps(net)) == net
    assert topology.from_pandas(frame) == topology.from_pandas(pickle.loads(pickle.dumps(frame))) == net
    assert topology.from_pandas(frame.sample(frac=1.0, random_state=0)) == net
    assert topology.from_pandas(frame.reset_index()) == net
    assert topology.from_networkx(net.to_networkx()) == net
    if xml_has(net):
        text = net.to_graphml()
        assert topology.from_graphml(text) == net
        assert net.to_graphml(file.with_suffix(".graphml")) is None
        assert file.with_suffix(".graphml").read_text(encoding="utf-8") == text
        assert topology.from_graphml(file.with_suffix(".graphml")) == net


NETWORKS = [
    topology.backbone("abilene"),
    topology.backbone("b4"),
    topology.leaf_spine(2, 3, 2).without("rack 0 - spine 1"),
    topology.fat_tree(4),
    topology.star(3),
    topology.parking_lot(2),
    topology.from_edges("7 9 10\n9 8 4"),
    topology.from_edges([("ö", "b", {"capacity": None, "delay": 2.0}), ("b", "c c", 1.0)], shared=[True, False]),
    topology.from_matrix([[0, 1.0], [0, 0]], directed=True),
]


@pytest.mark.parametrize("net", NETWORKS, ids=repr)
def test_networks_of_every_reader_are_equal_to_what_is_read_back(net):
    graph = net.to_networkx()
    # GML has 0 and 1 for bools, which a link that is shared is not.
    by_gml = [] if net.shared.any() else [topology.from_gml("\n".join(nx.generate_gml(graph)))]
    for again in (
        topology.from_pandas(net.to_pandas()),
        topology.from_networkx(graph),
        topology.from_graphml(net.to_graphml()),
        pickle.loads(pickle.dumps(net)),
        *by_gml,
    ):
        assert again == net
        assert (again.directed, again.name, again.ends) == (net.directed, net.name, net.ends)


def test_graphml_is_read_by_networkx_as_the_graph():
    net = NETWORKS[2]
    graph, read = net.to_networkx(), nx.parse_graphml(net.to_graphml())
    assert read.is_directed()
    assert dict(read.nodes(data=True)) == dict(graph.nodes(data=True))
    assert {edge[:2]: edge[2] for edge in read.edges(data=True)} == {
        edge[:2]: edge[2] for edge in graph.edges(data=True)
    }


def test_a_part_of_a_graph_and_of_a_table_is_the_network_of_the_links_that_are_left():
    net = NETWORKS[2]
    frame, graph = net.to_pandas(), net.to_networkx()
    half = topology.from_pandas(frame[frame.source.str.startswith("server")])
    assert half.node_names == net.node_names
    assert (half.ends, half.name) == (net.ends, net.name)
    assert half.link_names == [name for name in net.link_names if name.startswith("server")]
    some = topology.from_networkx(graph.subgraph(["server 0", "server 1", "rack 0"]))
    assert (some.ends, some.node_names[2], some.directed) == (2, "rack 0", False)


def test_what_a_csv_file_of_a_table_has_lost_is_taken_from_the_links():
    net = NETWORKS[0]
    text = net.to_pandas().to_csv()
    from io import StringIO

    again = topology.from_pandas(pd.read_csv(StringIO(text)), directed=True)
    assert (again.link_names, again.capacities.tolist()) == (net.link_names, net.capacities.tolist())
    assert again.link_attributes == {}
    with pytest.raises(netnum.ProblemError, match="directed=True"):
        topology.from_pandas(pd.read_csv(StringIO(text)))


def test_a_column_of_numbers_of_edges_is_an_attribute_where_rows_are_edges():
    table = {"link": [7, 5], "source": ["a", "b"], "target": ["b", "c"], "capacity": [1.0, 2.0]}
    for directed, numbers in ((False, [7.0, 7.0, 5.0, 5.0]), (True, [7.0, 5.0])):
        assert topology.from_pandas(table, directed=directed).link_attributes["link"].tolist() == numbers


def test_what_other_programs_keep_with_a_table_does_not_matter():
    frame = pd.DataFrame({"source": ["a"], "target": ["b"], "capacity": [1.0]})
    frame.attrs["network"] = {"name": "theirs"}
    assert topology.from_pandas(frame).link_names == ["a -> b", "b -> a"]
    with pytest.raises(TypeError, match="frame must be a table with columns by name, not int"):
        topology.from_pandas(5)


def test_a_node_that_a_table_of_links_does_not_have_is_named():
    frame = NETWORKS[0].to_pandas()
    frame["source"] = frame["source"].replace("Seattle", "Tacoma")
    with pytest.raises(netnum.ProblemError, match=r"row 0 names the node 'Tacoma', which is none of the 11 of the"):
        topology.from_pandas(frame)


@pytest.mark.parametrize(
    ("name", "write", "where"),
    [
        ("capacity", "to_networkx", "a graph"),
        ("link", "to_networkx", "a graph"),
        ("shared", "to_graphml", "GraphML"),
        ("key", "to_graphml", "GraphML"),
        ("source", "to_pandas", "a table of links"),
        ("link", "to_pandas", "a table of links"),
    ],
)
def test_an_attribute_of_links_that_another_thing_is_called_is_refused(name, write, where):
    net = netnum.Topology(["a", "b"], [[0, 1]], [1.0], link_attributes={name: [2.0]})
    with pytest.raises(netnum.ProblemError, match=f"links have an attribute '{name}', which {where} has for itself"):
        getattr(net, write)()


@pytest.mark.parametrize("names", [["a\0", "b"], ["a", "\x1b"]])
def test_a_character_that_xml_cannot_have_is_named_before_anything_is_written(names, tmp_path):
    net = netnum.Topology(names, [[0, 1]], [1.0])
    with pytest.raises(netnum.ProblemError, match=r"the name of node \d is .*, and GraphML has no character .*JSON"):
        net.to_graphml(tmp_path / "net.graphml")
    assert not (tmp_path / "net.graphml").exists()


def test_a_node_is_an_end_or_not():
    graph = nx.DiGraph([("s", "a", {"capacity": 1.0}), ("a", "b", {"capacity": 1.0})])
    graph.nodes["s"]["is_end"] = False
    net = topology.from_networkx(graph)
    assert (net.node_names, net.ends, net.link_names) == (["a", "b", "s"], 2, ["s -> a", "a -> b"])
    graph.nodes["s"]["is_end"] = "no"
    with pytest.raises(TypeError, match="node s has is_end 'no', expected True or False"):
        topology.from_networkx(graph)


def test_an_attribute_that_no_link_has_is_left_out():
    net = netnum.Topology(["a", "b"], [[0, 1]], [1.0], link_attributes={"delay": [np.nan], "note": [""]})
    assert net.link_attributes == {}


# --- demands ---

NET = topology.from_edges("Oslo Bergen 10\nBergen Voss 4\nVoss Ål 1")
INTEGERS = topology.from_edges("7 9 10\n9 -8 4\n-8 0 1")


@st.composite
def demands(draw, net):
    ends = [int(name) for name in net.node_names] if net.integer_names else range(net.ends)
    pairs = st.tuples(st.sampled_from(list(ends)), st.sampled_from(list(ends))).filter(lambda pair: pair[0] != pair[1])
    rows = draw(st.lists(st.tuples(pairs, st.floats(0, 1e300)), max_size=8))
    return netnum.Demands([pair[0] for pair, _ in rows], [pair[1] for pair, _ in rows], [volume for _, volume in rows])


@pytest.mark.parametrize("net", [NET, INTEGERS], ids=repr)
@settings(deadline=None)  # they write files
@given(data=st.data())
def test_demands_are_equal_to_their_table_file_and_pickle(tmp_path_factory, net, data):
    given_demands = data.draw(demands(net))
    file = tmp_path_factory.getbasetemp() / "demands.json"
    given_demands.save(file)
    assert netnum.load(file) == given_demands
    assert pickle.loads(pickle.dumps(given_demands)) == given_demands
    for frame in (given_demands.to_pandas(net), given_demands.to_pandas()):
        assert netnum.demands.from_pandas(net, frame) == given_demands
    matrix = given_demands.to_matrix(net)
    frame = pd.DataFrame(matrix, index=net.node_names, columns=net.node_names)
    np.testing.assert_array_equal(netnum.demands.from_matrix(net, frame).to_matrix(net), matrix)


@pytest.mark.parametrize("write", ["to_pandas", "to_matrix"])
def test_demands_of_another_network_are_refused_by_the_end(write):
    with pytest.raises(netnum.ProblemError, match="the destination of demand 1"):
        getattr(netnum.Demands([0, 0], [1, 9], [1.0, 1.0]), write)(NET)
    switches = topology.leaf_spine(1, 2, 1)
    with pytest.raises(netnum.ProblemError, match="the source of demand 0: rack 0 is no end of leaf-spine"):
        getattr(netnum.Demands([2], [1], [1.0]), write)(switches)


# --- workloads ---


@st.composite
def workloads(draw, net):
    ends = [int(name) for name in net.node_names] if net.integer_names else list(range(net.ends))
    flows = draw(st.integers(1, 6))

    def column(values):
        return draw(st.lists(values, min_size=flows, max_size=flows))

    pair = st.permutations(ends).map(lambda order: order[:2])
    pairs = column(pair)
    positive = st.floats(1e-300, 1e300)
    production = draw(st.none() | st.just(positive))
    return sim.Workload(
        sorted(column(st.floats(0, 1e9))),
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        column(positive | st.just(float("inf"))),
        None if production is None else column(production),
        float("inf") if production is None else draw(positive | st.just(float("inf"))),
        weights=draw(st.none() | st.just(column(positive))),
        net=net if net.integer_names else None,
    )


@pytest.mark.parametrize("net", [NET, INTEGERS], ids=repr)
@settings(deadline=None)  # they write files
@given(data=st.data())
def test_workloads_are_equal_to_their_trace_table_file_and_pickle(tmp_path_factory, net, data):
    workload = data.draw(workloads(net))
    own = net if net.integer_names else None
    folder = tmp_path_factory.getbasetemp()
    workload.save(folder / "workload.json")
    assert netnum.load(folder / "workload.json") == workload
    assert pickle.loads(pickle.dumps(workload)) == workload
    text = workload.to_csv()
    assert sim.Workload.from_csv(text, own) == workload
    assert workload.to_csv(folder / "workload.csv") is None
    assert (folder / "workload.csv").read_text(encoding="utf-8") == text
    assert sim.Workload.from_csv(folder / "workload.csv", own) == workload
    assert sim.Workload.from_pandas(workload.to_pandas(), own) == workload
    named = workload.to_pandas(net)
    assert set(named.source) <= set(net.node_names)
    assert sim.Workload.from_pandas(named, net) == workload
    renamed = workload.to_pandas().rename(columns={"size": "bytes"})
    assert sim.Workload.from_pandas(renamed, own, columns={"size": "bytes"}) == workload


ROW = {"arrival": [0.0, 1.0], "source": [0, 1], "destination": [1, 0], "size": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("table", "columns", "error", "message"),
    [
        ({**ROW, "buffer": [1.0, 1.0]}, None, netnum.ProblemError, "a column 'buffer' and no column 'production'"),
        (
            {**ROW, "production": [1.0, 1.0], "buffer": [1.0, 2.0]},
            None,
            netnum.ProblemError,
            "flow 1 has buffer 2.0, expected 1.0, one for all flows",
        ),
        (ROW, {"bytes": "size"}, netnum.ProblemError, "columns has 'bytes', expected names of arrival, source,"),
        (ROW, {"sise": "x"}, netnum.ProblemError, "did you mean 'size'?"),
        ({"arrival": [0.0]}, None, netnum.ProblemError, "the table has no column 'source'"),
        ({**ROW, "size": [1.0]}, None, netnum.ProblemError, "column 'size' has 1 entries, expected 2"),
        ({**ROW, "source": [0, 0], "destination": [1, 0]}, None, netnum.ProblemError, "flow 1"),
        ([1, 2], None, TypeError, "frame must be a table with columns by name, not list"),
    ],
)
def test_a_table_of_flows_that_is_wrong_is_named(table, columns, error, message):
    with pytest.raises(error) as caught:
        sim.Workload.from_pandas(table, columns=columns)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arrival,source,destination,size,buffer\n0,0,1,1,2", "line 1 of the trace has the header"),
        (
            "arrival,source,destination,size,production,buffer\n0,0,1,1,1,2\n0,0,1,1,1,3",
            'line 3 of the trace has buffer "3", expected 2, one for all flows',
        ),
    ],
)
def test_a_buffer_in_a_trace_is_that_of_all_flows(text, message):
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        sim.Workload.from_csv(text)


# --- problems ---


@st.composite
def problems(draw):
    net = draw(st.sampled_from([NET, INTEGERS, NETWORKS[2]]))
    pairs = net.random_pairs(draw(st.integers(1, 4)), seed=draw(st.integers(0, 99)))
    paths, _ = net.k_shortest_paths(pairs, draw(st.integers(1, 3)))
    flows = int(paths.group.max()) + 1
    caps = draw(st.none() | st.lists(st.floats(0, 1e9) | st.just(float("inf")), min_size=flows, max_size=flows))
    weights = draw(st.floats(1e-3, 1e3) | st.lists(st.floats(1e-3, 1e3), min_size=flows, max_size=flows))
    utility = draw(st.sampled_from([netnum.AlphaFair(2.0, weights), netnum.Linear(weights), netnum.MinFct(weights)]))
    of_flows = st.lists(st.floats(0, 1e9), min_size=flows, max_size=flows)
    return netnum.Problem(
        net,
        paths,
        utility,
        flow_cap=caps,
        rate_cap=draw(st.none() | st.floats(0, 1e9)),
        flow_floor=draw(st.none() | of_flows) if caps is None else None,
        path_cost=draw(st.none() | st.floats(0, 1e3)),
        priority=draw(st.none() | st.lists(st.integers(0, 3), min_size=flows, max_size=flows)),
    )


#: Names of which some are integers, and numbers of others.
SOME_INTEGERS = topology.from_edges("b 0 4\n0 3 4\n3 b 4\nb c 1")


@st.composite
def problems_of_pairs(draw):
    net = draw(st.sampled_from([NET, INTEGERS, NETWORKS[2], NETWORKS[6], SOME_INTEGERS]))
    ends = net.node_names[: net.ends]
    pair = st.permutations(ends).map(lambda order: tuple(order[:2]))
    pairs = draw(st.lists(pair, min_size=1, max_size=4))
    utility = draw(st.sampled_from([netnum.AlphaFair(2.0, 3.0), netnum.Linear(0.5), netnum.AlphaFair(float("inf"))]))
    caps = draw(st.none() | st.just(list(range(1, len(pairs) + 1))))
    limits = {
        "max_hops": draw(st.none() | st.just(len(net.node_names))),
        "avoid_nodes": draw(st.none() | st.just([next((name for name in net.node_names if name not in ends), "b")])),
        "link_cost": draw(st.none() | st.just(0.5)) if utility != netnum.AlphaFair(float("inf")) else None,
    }
    if limits["avoid_nodes"] and limits["avoid_nodes"][0] not in net.node_names:
        limits["avoid_nodes"] = None
    try:
        return netnum.Problem(net, pairs, utility, flow_cap=caps, **limits)
    except netnum.ProblemError as error:
        assert "no path" in str(error)
        return netnum.Problem(net, pairs, utility, flow_cap=caps)


@settings(deadline=None)  # they write files
@given(problems() | problems_of_pairs())
@example(netnum.Problem([1.0, float("inf")], [[0], [0, 1]], flow_cap=[float("inf"), 2.0]))
def test_problems_are_equal_to_their_text_file_and_pickle(tmp_path_factory, problem):
    file = tmp_path_factory.getbasetemp() / "problem.json"
    problem.save(file)
    assert netnum.load(file) == problem
    assert netnum.Problem.from_json(problem.to_json()) == problem
    assert netnum.Problem.from_json(json.dumps(json.loads(problem.to_json()))) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
