"""Given paths with shares as a routing; nodes by name in workloads, pairs and changes; CSV in other orders."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim

NET = netnum.topology.from_edges("A B 8e6\nB D 8e6\nA C 8e6\nC D 8e6\nA D 8e6\nD E 80e6")
ROUTES = [["A", "B", "D"], ["A", "C", "D"], ["A", "D"]]


def one_flow(size=1e6, net=NET):
    return sim.Workload([0.0], ["A"], ["D"], [size], net=net)


def test_a_spread_split_carries_its_shares():
    report = sim.simulate(NET, one_flow(), routing=sim.Split(NET, ROUTES, [1.0, 1.0, 2.0], spread=True))
    # Half of it on the direct link: 16 Mbit/s in all.
    assert report.completion_times == pytest.approx([0.5])
    assert report.link_bytes[NET.route(["A", "D"])] == pytest.approx([5e5])
    assert report.link_bytes[NET.route(["A", "B", "D"])] == pytest.approx([2.5e5, 2.5e5])
    assert report.routing == "split"


def test_flows_take_single_paths_in_proportion():
    flows = 4000
    workload = sim.Workload(np.arange(flows) * 1.0, ["A"] * flows, ["D"] * flows, [10.0] * flows, net=NET)
    report = sim.simulate(NET, workload, routing=sim.Split(NET, ROUTES, [1, 1, 2]), seed=3)
    parts = report.link_bytes[[NET.link("A", "B"), NET.link("A", "C"), NET.link("A", "D")]] / (10 * flows)
    np.testing.assert_allclose(parts, [0.25, 0.25, 0.5], atol=0.03)
    again = sim.simulate(NET, workload, routing=sim.Split(NET, ROUTES, [1, 1, 2]), seed=3)
    np.testing.assert_array_equal(report.completion_times, again.completion_times)
    other = sim.simulate(NET, workload, routing=sim.Split(NET, ROUTES, [1, 1, 2]), seed=4)
    assert (report.link_bytes != other.link_bytes).any()


def test_the_rates_of_a_solution_are_shares():
    net = netnum.topology.backbone("abilene")
    sources, destinations = ["Seattle", "Seattle", "Los Angeles"], ["Atlanta", "New York", "Washington"]
    try:
        paths, group = net.k_shortest_paths(sources, destinations, 4)
    except netnum.NumError:
        names = net.node_names
        sources, destinations = [names[0], names[0], names[3]], [names[5], names[7], names[9]]
        paths, group = net.k_shortest_paths(sources, destinations, 4)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group)
    solution = netnum.solve(problem, tol=1e-9)
    # What each flow would send in a second at its rate: fair sharing over the same split brings it over in one.
    workload = sim.Workload([0.0] * 3, sources, destinations, solution.flow_rates / 8, net=net)
    report = sim.simulate(net, workload, routing=sim.Split(net, paths, solution.rates, spread=True), until=1e-6)
    np.testing.assert_allclose(report.bytes_sent.sum(), solution.flow_rates.sum() / 8 * 1e-6, rtol=0.2)
    done = sim.simulate(net, workload, routing=sim.Split(net, paths, solution.rates, spread=True))
    np.testing.assert_allclose(done.link_bytes, solution.loads / 8, rtol=1e-5, atol=1e-3 * solution.loads.max() / 8)


@pytest.mark.parametrize("spread", [False, True])
def test_flows_of_a_failed_path_take_the_others(spread):
    routing = sim.Split(NET, ROUTES[:2], [1.0, 3.0], spread=spread)
    changes = [(0.1, ("A", "C"), 0.0), (0.2, ("A", "B"), 0.0), (0.5, ("A", "C"), 8e6)]
    report = sim.simulate(NET, one_flow(), routing=routing, changes=changes)
    assert report.status == "finished"
    # Nothing moves between 0.2 and 0.5 s; after that only over C.
    assert report.completion_times[0] > 0.5
    through = report.link_bytes[[NET.link("B", "D"), NET.link("C", "D")]]
    assert through.sum() == pytest.approx(1e6)
    assert through[0] > 0


def test_k_shortest_paths_by_name():
    spread = sim.simulate(NET, one_flow(), routing=sim.Routing("k-shortest", k=3, spread=True))
    assert spread.completion_times == pytest.approx([1 / 3])
    alone = sim.simulate(NET, one_flow(), routing=sim.Routing("k-shortest", k=1))
    assert alone.completion_times == pytest.approx([1.0])
    with pytest.raises(netnum.NumError, match='option "k" of routing "k-shortest" is 0, expected at least 1'):
        sim.Routing("k-shortest", k=0)


@pytest.mark.parametrize(
    ("paths", "shares", "message"),
    [
        (ROUTES, [1.0, 1.0], "shares has 2 entries, expected 3, one per path"),
        (ROUTES, [1.0, np.nan, 1.0], "path 1 has share NaN, expected a finite number >= 0"),
        (ROUTES, [1.0, 1.0, -2.0], "path 2 has share -2, expected a finite number >= 0"),
        ([["A", "E"]], None, "there is no link from A to E"),
        ([["A", "Bb", "D"]], None, "Bb"),
        ([[0, 6]], None, "path 0 is no walk of the network"),
        ([[0, 1]], None, "path 0 is no walk of the network: it ends where it begins"),
        ([[]], None, "path 0 is empty"),
        ([[0, 99]], None, "path 0 names link 99"),
        ([[0, 0]], None, "path 0 "),
    ],
)
def test_paths_and_shares_that_are_wrong_are_named(paths, shares, message):
    with pytest.raises(netnum.ProblemError, match=message):
        sim.Split(NET, paths, shares)


def test_a_flow_without_a_path_is_named():
    back = sim.Workload([0.0, 1.0], ["A", "E"], ["D", "A"], [1.0, 1.0], net=NET)
    with pytest.raises(netnum.MethodError, match="flow 1 from E to A has no path, expected at least one"):
        sim.simulate(NET, back, routing=sim.Split(NET, ROUTES))
    with pytest.raises(netnum.MethodError, match="flow 0 from A to D has no path with a share above 0"):
        sim.simulate(NET, back, routing=sim.Split(NET, ROUTES, [0.0, 0.0, 0.0]))


def test_a_split_shows_itself_and_is_pickled():
    split = sim.Split(NET, ROUTES, [1.0, 1.0, 2.0], spread=True)
    assert repr(split).endswith(", 3 paths, spread)")
    again = pickle.loads(pickle.dumps(split))
    assert again.spread
    assert again.shares.tolist() == [1.0, 1.0, 2.0]
    assert [list(path) for path in again.paths] == [list(path) for path in split.paths]
    assert again.network == NET


def test_nodes_have_names_in_workloads_and_pairs():
    named = sim.Workload([0.0, 1.0], ["A", "E"], ["D", "B"], [1.0, 2.0], net=NET)
    numbers = [NET.node(name) for name in "AEDB"]
    assert named == sim.Workload([0.0, 1.0], numbers[:2], numbers[2:], [1.0, 2.0])
    with pytest.raises(netnum.ProblemError, match=r"sources\[1\] is \"Ee\", expected the name of one of the 5 ends"):
        sim.Workload([0.0, 1.0], ["A", "Ee"], ["D", "B"], [1.0, 2.0], net=NET)
    burst = sim.Workload.at_once(NET, [("A", "D"), ("E", "B")], sim.sizes.fixed(10.0))
    assert burst.sources.tolist() == [NET.node("A"), NET.node("E")]
    poisson = sim.Workload.poisson(NET, sim.sizes.fixed(10.0), flows=20, pairs=[("A", 3), ("E", "B")])
    assert set(poisson.sources) == {NET.node("A"), NET.node("E")}
    with pytest.raises(netnum.ProblemError, match=r"an end of pairs\[1\] is \"Z\""):
        sim.Workload.at_once(NET, [("A", "D"), ("Z", "B")], sim.sizes.fixed(10.0))
    with pytest.raises(TypeError, match=r"pairs\[1\] must be two ends"):
        sim.Workload.at_once(NET, [("A", "D"), ("A",)], sim.sizes.fixed(10.0))


def test_changes_name_links_by_their_nodes():
    by_name = sim.simulate(NET, one_flow(), changes=[(0.5, ("A", "D"), 4e6)])
    by_number = sim.simulate(NET, one_flow(), changes=[(0.5, NET.link("A", "D"), 4e6)])
    assert by_name.completion_times == by_number.completion_times == pytest.approx([1.5])
    with pytest.raises(netnum.ProblemError, match="link of change 0: there is no link from A to E"):
        sim.simulate(NET, one_flow(), changes=[(0.5, ("A", "E"), 4e6)])


def test_traces_have_columns_in_any_order_and_names():
    text = "id,bytes,destination,start,source\nx,1000,D,0.5,A\ny,2000,B,1.5,E\n"
    workload = sim.Workload.from_csv(text, NET, columns={"size": "bytes", "arrival": "start"})
    assert workload == sim.Workload([0.5, 1.5], ["A", "E"], ["D", "B"], [1000, 2000], net=NET)
    with pytest.raises(netnum.ProblemError, match=r'line 1 of the trace has the header .* without a column "arrival"'):
        sim.Workload.from_csv(text, NET)
    with pytest.raises(
        netnum.ProblemError, match='line 2 of the trace has source "F", expected the name of one of the 5'
    ):
        sim.Workload.from_csv("arrival,source,destination,size\n0,F,A,1", NET)
    with pytest.raises(netnum.NumError, match=r'columns is for "sizes", expected names of .* did you mean "size"'):
        sim.Workload.from_csv(text, NET, columns={"sizes": "bytes"})


PAIRS = [("A", "D"), ("E", "B"), ("A", "E")]


@pytest.mark.parametrize("as_pairs", [list, tuple, np.array, lambda pairs: np.array(pairs, dtype=object), iter])
def test_pairs_of_names_come_in_any_form(as_pairs):
    expected = sim.Workload.at_once(NET, PAIRS, sim.sizes.fixed(10.0))
    assert sim.Workload.at_once(NET, as_pairs(PAIRS), sim.sizes.fixed(10.0)) == expected
    drawn = sim.Workload.poisson(NET, sim.sizes.fixed(10.0), flows=20, pairs=as_pairs(PAIRS))
    assert drawn == sim.Workload.poisson(NET, sim.sizes.fixed(10.0), flows=20, pairs=PAIRS)
    with pytest.raises(netnum.ProblemError, match=r"an end of pairs\[1\] is \"Z\""):
        sim.Workload.at_once(NET, as_pairs([("A", "D"), ("Z", "B")]), sim.sizes.fixed(10.0))


def test_pairs_may_be_tables_and_names_stand_beside_numbers():
    pandas = pytest.importorskip("pandas")
    expected = sim.Workload.at_once(NET, PAIRS, sim.sizes.fixed(10.0))
    table = pandas.DataFrame(PAIRS, columns=["source", "destination"], index=[5, 6, 7])
    for pairs in (
        table,
        table.astype("category"),
        table["source"].combine(table["destination"], lambda *pair: pair),
        table.to_numpy(),
    ):
        assert sim.Workload.at_once(NET, pairs, sim.sizes.fixed(10.0)) == expected
    with pytest.raises(netnum.ProblemError, match="the table has columns from, to, expected source, destination"):
        sim.Workload.at_once(NET, table.set_axis(["from", "to"], axis=1), sim.sizes.fixed(10.0))
    numbers = table.map(NET.node)
    for pairs in (
        numbers,
        tuple(map(tuple, numbers.to_numpy().tolist())),
        [(NET.node("A"), NET.node("D")), *PAIRS[1:]],
    ):
        assert sim.Workload.at_once(NET, pairs, sim.sizes.fixed(10.0)) == expected
    with pytest.raises(netnum.ProblemError, match=r"pairs has shape \(2, 3\), expected two columns: np.column_stack"):
        sim.Workload.at_once(NET, np.array(NET.random_pairs(3)), sim.sizes.fixed(10.0))
    assert len(sim.Workload.at_once(NET, NET.random_pairs(3), sim.sizes.fixed(10.0))) == 3
    for wrong in ("AD", 3):
        with pytest.raises((TypeError, netnum.ProblemError), match="pairs"):
            sim.Workload.at_once(NET, wrong, sim.sizes.fixed(10.0))


def test_changes_may_be_a_table_and_links_pairs_in_arrays():
    pandas = pytest.importorskip("pandas")
    expected = sim.simulate(NET, one_flow(), changes=[(0.5, ("A", "D"), 4e6)]).completion_times
    table = pandas.DataFrame({"time": [0.5], "link": [("A", "D")], "capacity": [4e6]})
    for changes in (table, [(0.5, np.array(["A", "D"]), 4e6)]):
        np.testing.assert_array_equal(sim.simulate(NET, one_flow(), changes=changes).completion_times, expected)
    with pytest.raises(TypeError, match="link of change 0 must be a link's number, its name or a pair of nodes, not"):
        sim.simulate(NET, one_flow(), changes=[(0.5, None, 4e6)])


@pytest.mark.parametrize("as_ends", [list, tuple, np.array])
def test_names_without_a_network_are_refused(as_ends):
    with pytest.raises(TypeError) as caught:
        sim.Workload([0.0], as_ends(["A"]), as_ends(["D"]), [1.0])
    assert str(caught.value) == "sources has names of ends, which take the network: give net= as well"
    with pytest.raises(netnum.ProblemError) as caught:
        sim.Workload.from_csv("0,A,D,1")
    what = 'line 1 of the trace has source "A", expected the index of an end'
    assert str(caught.value) == f"{what}: names take the network (net)"


def test_a_split_is_an_object_and_no_name():
    for make in (lambda: sim.simulate(NET, one_flow(), routing="split"), lambda: sim.Routing("Split")):
        with pytest.raises(
            netnum.MethodError, match=r"unknown routing .*; a split is an object with its paths, netnum.sim"
        ):
            make()
    with pytest.raises(
        TypeError, match=r"a netnum.sim.Split\(net, paths, shares\), a netnum.Paths or an object .*, not float"
    ):
        sim.simulate(NET, one_flow(), routing=0.5)


def test_a_split_of_something_else_is_named():
    solution = netnum.solve(netnum.Problem(NET, ROUTES[:2], netnum.AlphaFair(1.0)))
    with pytest.raises(netnum.ProblemError) as caught:
        sim.Split(NET, ROUTES, solution.rates)
    what = "shares has 2 entries, expected 3, one per path"
    assert str(caught.value) == f"{what}: take the rates of a Solution of a problem with these paths"
    with pytest.raises(TypeError, match=r"shares must be .*, not a Solution: `rates` \(of paths\), `flow_rates`"):
        sim.Split(NET, ROUTES[:2], solution)
    split = sim.Split(NET, ROUTES)
    other = netnum.topology.from_edges("A B 8e6\nB D 8e6\nA C 8e6\nC D 8e6\nA D 8e6\nD F 80e6")
    with pytest.raises(
        netnum.ProblemError, match="routing is a Split over graph, expected one over graph: nodes or links"
    ):
        sim.simulate(other, one_flow(net=other), routing=split)
    # Capacities may differ: in another unit, or with links failed.
    scaled = sim.simulate(NET.with_capacities(10 * NET.capacities), one_flow(), routing=split, seed=1)
    assert scaled.completion_times == pytest.approx(
        sim.simulate(NET, one_flow(), routing=split, seed=1).completion_times / 10
    )


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            "0,0,1,1",
            {"size": "bytes"},
            'line 1 of the trace is no header, expected one with the column "bytes", which columns names',
        ),
        (
            "t,s,d,b\n0,0,1,1",
            {"arrival": "t", "source": "s", "destination": "s", "size": "b"},
            'line 1 of the trace has one column "s" for source and destination, expected one for each',
        ),
        (
            "arrival,source,destination,size,size\n0,0,1,1,2",
            None,
            'line 1 of the trace has the header "arrival,source,destination,size,size" with two columns "size"',
        ),
        (
            "t,source,destination,size\n0,0,1,1",
            {"arrival": "t", "production": "t"},
            'line 1 of the trace has one column "t" for arrival and production, expected one for each',
        ),
    ],
)
def test_columns_of_traces_that_are_wrong_are_named(text, columns, message):
    with pytest.raises(netnum.ProblemError) as caught:
        sim.Workload.from_csv(text, columns=columns)
    assert str(caught.value) == message
