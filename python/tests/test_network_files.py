"""Networks from GraphML, GML and SNDlib's XML, and those that come with the package."""

import json
from importlib import resources

import numpy as np
import pytest

import netnum
from netnum import topology

nx = pytest.importorskip("networkx")

GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d3" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d2" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d1" />
  <key attr.name="label" attr.type="string" for="node" id="d0" />
  <key attr.name="Network" attr.type="string" for="graph" id="d4" />
  <graph edgedefault="undirected">
    <data key="d4">Tiny</data>
    <node id="0"><data key="d0">Zürich</data><data key="d1">47.4</data><data key="d2">8.5</data></node>
    <node id="1"><data key="d0">Bern</data><data key="d1">46.9</data><data key="d2">7.4</data></node>
    <node id="2"><data key="d0">Bern</data><data key="d1">46.8</data><data key="d2">7.5</data></node>
    <edge source="0" target="1"><data key="d3">1e9</data></edge>
    <edge source="1" target="2" />
    <edge source="2" target="2" />
  </graph>
</graphml>
"""

GML = """graph [
  Network "Tiny"
  node [ id 7 label "A" Longitude 1.5 Latitude 2 ]
  node [ id 3 label "B" ]
  edge [ source 7 target 3 LinkSpeedRaw 10000000000.0 ]
  edge [ source 7 target 3 LinkSpeedRaw 2500000000.0 ]
]
"""

SNDLIB = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="Aachen"><coordinates><x>6.04</x><y>50.76</y></coordinates></node>
   <node id="Köln"><coordinates><x>6.96</x><y>50.94</y></coordinates></node>
   <node id="Essen"><coordinates><x>7.01</x><y>51.46</y></coordinates></node>
  </nodes>
  <links>
   <link id="L1"><source>Aachen</source><target>Köln</target>
    <preInstalledModule><capacity>622.0</capacity><cost>0.0</cost></preInstalledModule>
    <additionalModules><addModule><capacity>40.0</capacity><cost>9</cost></addModule></additionalModules></link>
   <link id="L2"><source>Köln</source><target>Essen</target>
    <additionalModules><addModule><capacity>160.0</capacity><cost>2</cost></addModule>
     <addModule><capacity>40.0</capacity><cost>1</cost></addModule></additionalModules></link>
  </links>
 </networkStructure>
 <demands>
  <demand id="D1"><source>Aachen</source><target>Essen</target><demandValue>13.5</demandValue></demand>
  <demand id="D2"><source>Essen</source><target>Essen</target><demandValue>2.0</demandValue></demand>
  <demand id="D3"><source>Köln</source><target>Essen</target><demandValue>0.0</demandValue></demand>
  <demand id="D4"><source>Köln</source><target>Aachen</target><demandValue>4</demandValue></demand>
 </demands>
</network>
"""


NATIVE = """?SNDlib native format; type: network; version: 1.0
# network tiny
META (
  unit = MBITPERSEC
)

NODES (
  # <node_id> ( <longitude> <latitude> )
  Aachen ( 6.04 50.76 )
  Bonn (7.10 50.73)
)
LINKS (
  L1 ( Aachen Bonn ) 0.00 0.00 0.00 0.00 ( 155.00 1.00 622.00 2.00 )
  L2 ( Bonn Aachen ) 40.00 0.00 0.00 0.00 ( )
)
DEMANDS (
  D1 ( Bonn Aachen ) 1 7.25 UNLIMITED
)
ADMISSIBLE_PATHS (
  D1 ( P_0 ( L1 ) )
)
"""


def test_graphml_of_the_zoo_is_read():
    net = topology.from_graphml(GRAPHML, capacity=5e8)
    assert net.name == "Tiny"
    assert net.node_names == ["Zürich", "Bern (1)", "Bern (2)"], "two nodes of one label"
    assert net.link_names == [
        "Zürich -> Bern (1)",
        "Bern (1) -> Zürich",
        "Bern (1) -> Bern (2)",
        "Bern (2) -> Bern (1)",
    ]
    assert net.capacities.tolist() == [1e9, 1e9, 5e8, 5e8]
    assert net.positions.tolist() == [[8.5, 47.4], [7.4, 46.9], [7.5, 46.8]]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_file_is_named_by_itself(tmp_path, encoding):
    text = GRAPHML.replace('<data key="d4">Tiny</data>', "").replace("utf-8", encoding)
    file = tmp_path / "Swiss.graphml"
    file.write_bytes(text.encode(encoding))
    for given in (file, str(file)):
        net = topology.from_graphml(given, capacity=1.0)
        assert (net.name, net.node_names[0]) == ("Swiss", "Zürich")
    gml = tmp_path / "Gml.gml"
    gml.write_bytes(GML.replace('Network "Tiny"', "").replace('"A"', '"Zürich"').encode(encoding))
    net = topology.from_gml(gml)
    assert (net.name, net.node_names[0]) == ("Gml", "Zürich")


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_text_is_not_in_the_encoding_that_it_declares(quote):
    text = GRAPHML.replace('encoding="utf-8"', f"encoding={quote}ISO-8859-1{quote}")
    assert topology.from_graphml(text, capacity=1.0) == topology.from_graphml(GRAPHML, capacity=1.0)


def test_an_edge_without_a_capacity_has_no_limit_where_others_have_one():
    assert topology.from_graphml(GRAPHML).capacities.tolist() == [1e9, 1e9, np.inf, np.inf]
    net = topology.from_sndlib(SNDLIB.replace("addModule>", "module>"))
    assert net.capacities.tolist() == [622.0, 622.0, np.inf, np.inf]


def test_links_of_sndlib_keep_their_names_and_routing_costs():
    net = topology.from_sndlib(NATIVE.replace("L1 ( Aachen Bonn ) 0.00 0.00 0.00", "L1 ( Aachen Bonn ) 0.00 0.00 7.50"))
    assert net.link_attributes["name"] == ["L1", "L1", "L2", "L2"]
    assert net.link_attributes["routing_cost"].tolist() == [7.5, 7.5, 0.0, 0.0]


def test_gml_of_the_zoo_is_read():
    net = topology.from_gml(GML)
    assert (net.name, net.node_names) == ("Tiny", ["A", "B"])
    assert net.link_names == ["A -> B", "B -> A", "A -> B #2", "B -> A #2"]
    assert net.capacities.tolist() == [1e10, 1e10, 2.5e9, 2.5e9]
    assert net.positions is None, "B has none"


def test_capacities_may_be_under_another_name():
    text = GML.replace("LinkSpeedRaw", "bw")
    assert topology.from_gml(text, attribute="bw").capacities.tolist() == [1e10, 1e10, 2.5e9, 2.5e9]
    assert set(topology.from_gml(text, capacity=3).capacities) == {3.0}
    directed = GML.replace("graph [", "graph [ directed 1")
    assert topology.from_gml(directed).link_names == ["A -> B", "A -> B #2"]


READERS = {
    "edges": (topology.from_edges, "Oslo Bergen 10\nBergen Voß 4\n", {}),
    "graphml": (topology.from_graphml, GRAPHML, {"capacity": 1.0}),
    "gml": (topology.from_gml, GML.replace('"A"', '"Zürich"'), {}),
    "sndlib": (topology.from_sndlib, SNDLIB.replace("ISO-8859-1", "UTF-8"), {}),
    "native": (topology.from_sndlib, NATIVE.replace("Aachen", "Köln"), {}),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_byte_order_mark_and_the_ends_of_lines_change_nothing(tmp_path, kind):
    read, text, options = READERS[kind]
    expected = read(text, **options)
    file = tmp_path / f"{expected.name}.txt"
    for mark in ("", "\ufeff"):
        assert read(mark + text, **options) == expected
        for form in (text, text.rstrip("\n"), text.replace("\n", "\r\n")):
            file.write_bytes((mark + form).encode())
            found = read(file, **options)
            assert (found.node_names, found.link_names) == (expected.node_names, expected.link_names)
            assert np.array_equal(found.capacities, expected.capacities)


@pytest.mark.parametrize(
    ("read", "text", "one_way"),
    [
        (topology.from_edges, "A B 1\nC B 2\n", ["A -> B", "C -> B"]),
        (
            topology.from_gml,
            """graph [ directed 0 node [ id 0 label "B" ] node [ id 1 label "A" ] node [ id 2 label "C" ]
            edge [ source 1 target 0 capacity 1 ] edge [ source 2 target 0 capacity 2 ] ]""",
            ["A -> B", "C -> B"],
        ),
        (
            topology.from_graphml,
            GRAPHML.replace('source="0" target="1"', 'source="1" target="0"').replace(
                '<edge source="1" target="2" />', ""
            ),
            ["Bern (1) -> Zürich"],
        ),
        (topology.from_sndlib, SNDLIB, ["Aachen -> Köln", "Köln -> Essen"]),
    ],
)
def test_a_reader_is_told_whether_edges_are_one_way(read, text, one_way):
    assert read(text, directed=True).link_names == one_way, "from source to target"
    both = read(text, directed=False).link_names
    assert sorted(both) == sorted(one_way + [" -> ".join(reversed(link.split(" -> "))) for link in one_way])


def test_a_file_that_its_editor_has_marked_directed_is_read_both_ways_on_request():
    marked = GRAPHML.replace("undirected", "directed")
    assert topology.from_graphml(marked, capacity=1.0).link_names == ["Zürich -> Bern (1)", "Bern (1) -> Bern (2)"]
    both = topology.from_graphml(marked, capacity=1.0, directed=False)
    assert both == topology.from_graphml(GRAPHML, capacity=1.0)
    text = GML.replace("graph [", "graph [ directed 1").replace(
        "source 7 target 3 LinkSpeedRaw 2", "source 3 target 7 LinkSpeedRaw 2"
    )
    assert topology.from_gml(text).link_names == ["A -> B", "B -> A"]
    with pytest.raises(netnum.ProblemError) as caught:
        topology.from_gml(text, directed=False)
    assert str(caught.value) == (
        "directed=False, and the graph has edges A - B and B - A: they are links one way, which directed=True reads"
    )


def test_nodes_are_named_and_placed_by_what_editors_write():
    text = """graph [ node [ id 0 name "A" lon 1 lat 2 ] node [ id 1 Name "B" LON 3 Lat 4 ]
              edge [ source 0 target 1 capacity 1 ] ]"""
    net = topology.from_gml(text)
    assert net.node_names == ["A", "B"]
    assert net.positions.tolist() == [[1, 2], [3, 4]]
    assert topology.from_gml(text.replace("Name", "label")).node_names == ["A", "B"], "each node has one of them"
    with pytest.raises(netnum.ProblemError) as caught:
        topology.from_gml(text.replace("lat 2", 'lat "north"'))
    assert str(caught.value) == "node A has lon 1 and lat 'north', expected numbers"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (
            lambda: topology.from_graphml(GRAPHML.replace("LinkSpeedRaw", "speed")),
            "no edge of Tiny has an attribute 'capacity' or 'LinkSpeedRaw': give capacity=, that of all links, or "
            "attribute= (edges have speed)",
        ),
        (
            lambda: topology.from_gml(GML, attribute="width"),
            "no edge of Tiny has an attribute 'width': give capacity=, that of all links, or attribute= (edges have "
            "LinkSpeedRaw)",
        ),
        (
            lambda: topology.from_gml(GML, capacity=-1, attribute="w"),
            "edge A - B has capacity -1.0, expected a number >= 0 (inf for no limit)",
        ),
        (lambda: topology.from_graphml("missing.graphml"), "'missing.graphml' is neither an existing file nor GraphML"),
        (lambda: topology.from_gml("missing.gml"), "'missing.gml' is neither an existing file nor GML"),
        (
            lambda: topology.from_sndlib("missing.xml"),
            "'missing.xml' is neither an existing file nor SNDlib's XML or native format",
        ),
        (
            lambda: topology.from_sndlib("<graphml/>"),
            "graph is no SNDlib file: its outermost element is 'graphml', expected 'network'",
        ),
        (
            lambda: topology.from_sndlib(SNDLIB.replace("<source>Köln", "<source>Koeln")),
            "the source of link L2 of graph is 'Koeln', which is none of its 3 nodes",
        ),
        (
            lambda: topology.from_sndlib(SNDLIB.replace("622.0", "wide")),
            "the preinstalled capacity of link L1 of graph is 'wide', expected a number",
        ),
        (
            lambda: topology.from_sndlib(SNDLIB.replace("addModule>", "module>").replace("622.0", "0")),
            "no link of graph has a capacity: give capacity=, that of all links",
        ),
        (
            lambda: topology.from_sndlib(SNDLIB.replace("node>", "knot>").replace("<node ", "<knot ")),
            "graph: a network needs at least two nodes, this one has none",
        ),
        (
            lambda: topology.backbone("abilen"),
            "there is no backbone 'abilen', did you mean 'abilene'?; known: abilene, b4, nsfnet",
        ),
        (lambda: topology.backbone("internet"), "there is no backbone 'internet'; known: abilene, b4, nsfnet"),
    ],
)
def test_errors_of_a_file_are_named(read, message):
    with pytest.raises(netnum.ProblemError) as caught:
        read()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "read",
    [
        lambda: topology.from_graphml("<graphml><node"),
        lambda: topology.from_graphml("<html></html>"),
        lambda: topology.from_graphml(GRAPHML.replace("1e9", "fast")),
        lambda: topology.from_gml("graph [ node [ id 0 ] node [ id 0 ] ]"),
        lambda: topology.from_gml("graph [ node"),
        lambda: topology.from_gml("graph [ ]"),
        lambda: topology.from_sndlib("<network"),
    ],
)
def test_what_is_no_such_file_is_refused(read):
    with pytest.raises(netnum.ProblemError):
        read()


def test_a_name_for_capacity_is_refused_with_the_right_argument():
    with pytest.raises(TypeError, match="give attribute='bw'"):
        topology.from_gml(GML, capacity="bw")


def test_sndlib_is_read(tmp_path):
    net = topology.from_sndlib(SNDLIB)
    assert net.link_names == ["Aachen -> Köln", "Köln -> Aachen", "Köln -> Essen", "Essen -> Köln"]
    assert net.capacities.tolist() == [622.0, 622.0, 40.0, 40.0], "installed, or else the smallest module"
    assert net.positions.tolist()[0] == [6.04, 50.76]
    file = tmp_path / "tiny.xml"
    file.write_bytes(SNDLIB.encode("latin-1"))
    assert topology.from_sndlib(file).node_names == net.node_names, "in the encoding that it declares"
    assert topology.from_sndlib(file).name == "tiny"
    one_way = topology.from_sndlib(SNDLIB.replace("additionalModules", "others"), 5.0, directed=True)
    assert (one_way.link_names, one_way.capacities.tolist()) == (["Aachen -> Köln", "Köln -> Essen"], [622.0, 5.0])


def test_the_native_format_of_sndlib_is_read(tmp_path):
    file = tmp_path / "tiny.txt"
    file.write_text(NATIVE)
    net = topology.from_sndlib(NATIVE, directed=True)
    assert net.link_names == ["Aachen -> Bonn", "Bonn -> Aachen"]
    assert net.capacities.tolist() == [155.0, 40.0]
    assert net.positions.tolist() == [[6.04, 50.76], [7.1, 50.73]]
    assert topology.from_sndlib(str(file)).link_names[2:] == ["Bonn -> Aachen #2", "Aachen -> Bonn #2"]
    demands = netnum.demands.from_sndlib(net, file)
    assert (demands.sources.tolist(), demands.destinations.tolist(), demands.volumes.tolist()) == ([1], [0], [7.25])


def test_native_files_may_leave_out_positions_and_nest_paths():
    nested = NATIVE.replace("D1 ( P_0 ( L1 ) )", "D1 (\n    P_0 ( L1 )\n    P_1 ( L2 L1 )\n  )\n  D2 ( P_0 ( L2 ) )")
    more = nested + "SURVIVABILITY (\n)\n"
    assert topology.from_sndlib(more) == topology.from_sndlib(NATIVE)
    net = topology.from_sndlib(more.replace("Bonn (7.10 50.73)", "Bonn"))
    assert net.positions is None
    assert net.node_names == ["Aachen", "Bonn"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NATIVE.replace("( 6.04 50.76 )", "( 6.04 )"), "line 9 of tiny is Aachen ( 6.04 ), which is no line of NODES"),
        (NATIVE.replace(" 1 7.25 UNLIMITED", ""), "line 17 of tiny is D1 ( Bonn Aachen ), which is no line of DEMANDS"),
        (
            NATIVE.replace("L1 ( Aachen", "L1 ( Bern"),
            "the source of link L1 of tiny is 'Bern', which is none of its 2 nodes",
        ),
        (
            NATIVE.replace("155.00 1.00", "UNLIMITED 1"),
            "the capacity of a module of link L1 of tiny is 'UNLIMITED', expected a number",
        ),
        ("A B 10\n", "line 1 of tiny is A B 10, expected the begin of a section: is it an SNDlib file?"),
        ("", "tiny: a network needs at least two nodes, this one has none"),
    ],
)
def test_errors_of_a_native_file_are_named(tmp_path, text, message):
    file = tmp_path / "tiny.txt"
    file.write_text(text)
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.demands.from_sndlib(topology.from_sndlib(file), file)
    assert str(caught.value) == message


def test_sndlib_demands_are_read(tmp_path):
    net = topology.from_sndlib(SNDLIB)
    demands = netnum.demands.from_sndlib(net, SNDLIB)
    assert demands.sources.tolist() == [0, 1]
    assert demands.destinations.tolist() == [2, 0]
    assert demands.volumes.tolist() == [13.5, 4.0], "without those of 0 and those to itself"
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.demands.from_sndlib(topology.from_edges("Aachen Koln 1"), SNDLIB)
    assert str(caught.value) == (
        'demand D1 of graph, destination: node is "Essen", expected the name of one of the 2 nodes'
    )
    with pytest.raises(netnum.ProblemError, match="the value of demand D4 of graph is 'four', expected a number"):
        netnum.demands.from_sndlib(net, SNDLIB.replace(">4<", ">four<"))
    without = SNDLIB[: SNDLIB.index("<demands>")]
    assert len(netnum.demands.from_sndlib(net, without + "<demands></demands></network>")) == 0, "no demands"
    with pytest.raises(netnum.ProblemError, match="graph has no demands"):
        netnum.demands.from_sndlib(net, without + "</network>")


# --- those that come with the package ---


@pytest.mark.parametrize(("name", "nodes", "links"), [("abilene", 11, 28), ("b4", 12, 38), ("nsfnet", 14, 42)])
def test_a_backbone_is_whole_and_has_its_source(name, nodes, links):
    net = topology.backbone(name)
    assert (net.name, net.ends, len(net.links)) == (name, nodes, links)
    assert len({tuple(ends) for ends in net.links.tolist()}) == links, "no two links join the same nodes"
    everyone = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a != b]).T
    _, group = net.k_shortest_paths(*everyone, 2, disjoint=True)
    assert np.bincount(group).tolist() == [2] * len(everyone[0]), "no link is the only way"
    data = json.loads((resources.files("netnum.topology") / "data" / f"{name}.json").read_text(encoding="utf-8"))
    assert len(data["source"]) > 80
    assert f"``{name}``" in topology.backbone.__doc__


def test_the_demands_of_b4_fit_its_network():
    net = topology.backbone("b4")
    demands = netnum.demands.backbone("b4")
    assert len(demands) == 132
    assert demands.total == pytest.approx(48086.91, abs=0.01)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 4)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group)
    assert problem.flows == 132
    with pytest.raises(netnum.ProblemError, match="the backbone 'nsfnet' has no published demands"):
        netnum.demands.backbone("nsfnet")


# --- networks that join few pairs, or none ---


def test_a_file_marked_as_directed_says_so_where_most_pairs_have_no_path():
    graph = nx.DiGraph([("a", "b"), ("a", "c"), ("a", "d")])
    nx.set_edge_attributes(graph, 1.0, "capacity")
    text = "\n".join(nx.generate_graphml(graph))
    net = netnum.topology.from_graphml(text)
    cause = "75 % of pairs have no path: links lead one way only, directed=False reads both"
    assert cause in repr(net)
    with pytest.raises(netnum.ProblemError, match=f"pair 0 from b to c: there is no route.*{cause}"):
        net.k_shortest_paths(["b"], ["c"], 1)
    both = netnum.topology.from_graphml(text, directed=False)
    assert "path" not in repr(both)
    assert len(both.k_shortest_paths(["b"], ["c"], 1)[0]) == 1


EMPTY = {
    "edges": lambda: netnum.topology.from_edges("# nothing\n"),
    "graph": lambda: netnum.topology.from_networkx(nx.Graph()),
    "graphml": lambda: netnum.topology.from_graphml("\n".join(nx.generate_graphml(nx.Graph()))),
    "gml": lambda: netnum.topology.from_gml("graph [\n]"),
    "sndlib": lambda: netnum.topology.from_sndlib("?SNDlib native format; type: network; version: 1.0\nNODES (\n)\n"),
    "arrays": lambda: netnum.Topology([], np.empty((0, 2), dtype=int), []),
}


@pytest.mark.parametrize("form", EMPTY)
def test_a_network_without_nodes_is_refused_as_that(form):
    with pytest.raises(netnum.ProblemError, match="a network needs at least two nodes, this one has none"):
        EMPTY[form]()


def test_a_network_of_one_node_is_refused_as_that():
    one = nx.Graph()
    one.add_node("a")
    for read in (
        lambda: netnum.topology.from_networkx(one),
        lambda: netnum.topology.from_graphml("\n".join(nx.generate_graphml(one))),
        lambda: netnum.topology.from_gml('graph [\nnode [ id 0 label "a" ]\n]'),
        lambda: netnum.topology.from_sndlib(
            "?SNDlib native format; type: network; version: 1.0\nNODES (\na ( 0.0 0.0 )\n)\n"
        ),
        lambda: netnum.Topology(["a"], np.empty((0, 2), dtype=int), []),
    ):
        with pytest.raises(netnum.ProblemError, match="a network needs at least two nodes, this one has one"):
            read()


def test_nodes_that_no_edge_joins_are_a_network_that_says_so():
    graph = nx.Graph()
    graph.add_nodes_from("ab")
    net = netnum.topology.from_networkx(graph)
    assert repr(net) == "Topology(graph, 2 nodes, 0 links; 100 % of pairs have no path: there are no links)"
