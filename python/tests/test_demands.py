"""Demands from tables and matrices, and those that are drawn at random."""

import itertools
import re

import numpy as np
import pytest

import netnum
from netnum import demands, topology


def chain():
    return topology.from_edges("Ulm Bonn 10\nBonn Kiel 30")


def labelled():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph([10, 5, 0])
    nx.set_edge_attributes(graph, 1.0, "capacity")
    return topology.from_networkx(graph)


def test_a_table_keeps_its_rows():
    pandas = pytest.importorskip("pandas")
    table = {"source": ["Ulm", "Kiel", "Ulm"], "destination": ["Kiel", "Bonn", "Kiel"], "demand": [3, 0.0, 1.5]}
    for given in (table, pandas.DataFrame(table, index=[7, 8, 9])):
        found = demands.from_pandas(chain(), given)
        assert found.sources.tolist() == [0, 2, 0]
        assert found.destinations.tolist() == [2, 1, 2]
        assert found.volumes.tolist() == [3.0, 0.0, 1.5]
    assert found.to_pandas(chain()).equals(pandas.DataFrame(table))
    assert found.to_pandas()["source"].tolist() == [0, 2, 0]
    named = {"from": [0], "to": np.array([2]), "gbps": [2.5]}
    assert demands.from_pandas(chain(), named, "from", "to", "gbps").volumes.tolist() == [2.5]


def test_columns_that_cannot_be_are_named():
    pandas = pytest.importorskip("pandas")
    rows = [["Ulm", "Kiel", 3.0, 4.0]]
    twice = pandas.DataFrame(rows, columns=["source", "destination", "demand", "demand"])
    for table, named, message in [
        (twice, {}, "the table has 2 columns 'demand', expected one: rename the others"),
        (
            {"source": ["Ulm"], "demand": [1.0]},
            {"destination": "source"},
            "destination= and source= are both column 'source', expected two columns",
        ),
        (
            {"source": ["Ulm"], "destination": ["Kiel", "Bonn"], "demand": [1.0]},
            {},
            "column 'destination' has 2 entries, expected 1, as many as 'source'",
        ),
        (
            pandas.DataFrame(rows),
            {},
            "the table has no column 'source': give its name as source=; its columns: 0, 1, 2, 3",
        ),
    ]:
        with pytest.raises(netnum.ProblemError) as caught:
            demands.from_pandas(chain(), table, **named)
        assert str(caught.value) == message
    assert demands.from_pandas(chain(), pandas.DataFrame(rows), 0, 1, 3).volumes.tolist() == [4.0]
    assert demands.from_pandas(chain(), twice.iloc[:, :3]).volumes.tolist() == [3.0]


def test_names_take_their_network():
    for names in (["Ulm"], np.array(["Ulm"])):
        with pytest.raises(TypeError) as caught:
            demands.Demands(names, ["Kiel"], [1.0])
        how = "netnum.demands.from_pandas takes names, with their network"
        assert str(caught.value) == f"sources must be an array of integers, not of names: {how}"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"source": ["Ulm"], "destination": ["Kiel"], "demands": [1.0]},
            "the table has no column 'demand' (did you mean 'demands'?): give its name as demand=; "
            "its columns: source, destination, demands",
        ),
        (
            {"src": ["Ulm"], "dst": ["Kiel"], "demand": [1.0]},
            "the table has no column 'source' (did you mean 'src'?): give its name as source=; "
            "its columns: src, dst, demand",
        ),
        (
            {"source": ["Ulm", "Kil"], "destination": ["Kiel", "Ulm"], "demand": [1.0, 2.0]},
            'row 1, source: node is "Kil", expected the name of one of the 3 nodes, did you mean "Kiel"?',
        ),
        (
            {"source": [0], "destination": [3], "demand": [1.0]},
            "row 0, destination: node is 3, expected a node from 0 to 2",
        ),
        (
            {"source": [None], "destination": [3], "demand": [1.0]},
            "row 0, source: node must be a node's name or number, not NoneType",
        ),
        (
            {"source": ["Ulm"], "destination": ["Kiel"], "demand": [-1.0]},
            "the demand of row 0 is -1.0, expected a finite number >= 0",
        ),
        (
            {"source": ["Ulm"], "destination": ["Kiel"], "demand": [float("nan")]},
            "the demand of row 0 is nan, expected a finite number >= 0",
        ),
        (
            {"source": ["Ulm"], "destination": ["Kiel"], "demand": ["much"]},
            "the demand of row 0 is 'much', expected a finite number >= 0",
        ),
        (
            {"source": ["Ulm"], "destination": ["Ulm"], "demand": [1.0]},
            "row 0 goes from Ulm to itself, expected two ends",
        ),
    ],
)
def test_a_wrong_table_is_refused_by_row(table, message):
    with pytest.raises(netnum.ProblemError) as caught:
        demands.from_pandas(chain(), table)
    assert str(caught.value) == message


def test_tables_and_matrices_are_told_apart():
    pandas = pytest.importorskip("pandas")
    net = topology.backbone("abilene")
    cities = ["Denver", "Seattle", "Houston"]
    for names in (cities[:2], cities):
        part = pandas.DataFrame(1.0, names, names)
        for read in (demands.from_matrix, netnum.Problem):
            with pytest.raises(netnum.ProblemError, match=rf"has rows of {len(names)} of the 11 ends.*reindex"):
                read(net, part)
        with pytest.raises(netnum.ProblemError, match=r"per end: netnum\.demands\.from_matrix reads it"):
            demands.from_pandas(net, part)
    ring = topology.from_edges("10 20 1\n20 30 1\n30 40 1")
    part_of_ring = pandas.DataFrame([[0.0, 2.0], [0.0, 0.0]], [10, 30], [10, 30])
    with pytest.raises(netnum.ProblemError, match=r"of ends = \[int\(name\) for name in net\.node_names"):
        demands.from_matrix(ring, part_of_ring)
    whole = part_of_ring.reindex(index=[10, 20, 30, 40], columns=[10, 20, 30, 40], fill_value=0.0)
    assert demands.from_matrix(ring, whole).total == 2.0
    every = list(net.node_names[: net.ends])
    assert len(demands.from_matrix(net, part.reindex(index=every, columns=every, fill_value=0.0))) == 6
    rows = pandas.DataFrame({"source": cities[:1], "destination": cities[1:2], "demand": [1.0]})
    with pytest.raises(netnum.ProblemError, match=r"columns source, destination, demand, expected a row and a column"):
        demands.from_matrix(net, rows)
    unnamed = pandas.DataFrame([[one, other, 1.0] for one, other in itertools.permutations(cities, 2)])
    with pytest.raises(netnum.ProblemError, match=r"columns 0, 1, 2, expected a row and a column per end"):
        demands.from_matrix(net, unnamed)
    with pytest.raises(netnum.ProblemError, match=re.escape("the matrix has shape (3,), expected (11, 11)")):
        demands.from_matrix(net, pandas.Series([1.0, 2.0, 3.0]))
    places = pandas.DataFrame(1.0, [2, 4], [2, 4])
    with pytest.raises(netnum.ProblemError, match=r"of ends = range\(net\.ends\)"):
        demands.from_matrix(net, places)


def test_only_ends_have_demands():
    with pytest.raises(netnum.ProblemError, match="row 0, destination: hub is no end of star"):
        demands.from_pandas(topology.star(3), {"source": ["server 0"], "destination": ["hub"], "demand": [1.0]})


def test_a_matrix_has_a_demand_for_every_entry_above_0():
    matrix = np.array([[9.0, 3, 0], [0, 9, 2], [1, 0, 9]])
    found = demands.from_matrix(chain(), matrix)
    assert found.sources.tolist() == [0, 1, 2]
    assert found.destinations.tolist() == [1, 2, 0]
    assert found.volumes.tolist() == [3.0, 2.0, 1.0]
    np.testing.assert_array_equal(found.to_matrix(chain()), matrix - np.diag([9, 9, 9]))
    with pytest.raises(netnum.ProblemError, match=r"the matrix has shape \(2, 2\), expected \(3, 3\)"):
        demands.from_matrix(chain(), np.ones((2, 2)))
    matrix[1, 2] = -2
    with pytest.raises(netnum.ProblemError, match=r"the demand from Bonn to Kiel is -2\.0, expected a finite number"):
        demands.from_matrix(chain(), matrix)


def test_a_labelled_matrix_is_read_by_its_labels():
    pandas = pytest.importorskip("pandas")
    matrix = np.array([[0.0, 3, 0], [0, 0, 2], [1, 0, 0]])
    table = pandas.DataFrame(matrix, index=["Ulm", "Bonn", "Kiel"], columns=["Ulm", "Bonn", "Kiel"])
    expected = demands.from_matrix(chain(), matrix)
    assert demands.from_matrix(chain(), table) == expected
    assert demands.from_matrix(chain(), table.iloc[[2, 0, 1], [1, 2, 0]]) == expected, "in any order"
    assert demands.from_matrix(chain(), pandas.DataFrame(matrix)) == expected, "without labels in the order of the ends"
    numbers = pandas.DataFrame(matrix, index=[5, 10, 0], columns=[5, 10, 0])
    found = demands.from_matrix(labelled(), numbers)
    assert set(zip(found.sources.tolist(), found.destinations.tolist(), found.volumes.tolist(), strict=True)) == {
        (5, 10, 3.0),
        (10, 0, 2.0),
        (0, 5, 1.0),
    }
    for labels, message in [
        (["Ulm", "Bonn", "Kil"], 'row 2, label: node is "Kil", expected .* did you mean "Kiel"'),
        (["Ulm", "Bonn", "Ulm"], "the matrix has two rows for Ulm, expected one"),
    ]:
        with pytest.raises(netnum.ProblemError, match=message):
            demands.from_matrix(chain(), table.set_axis(labels, axis="index"))
    with pytest.raises(netnum.ProblemError, match='column 0, label: node is "Köln"'):
        demands.from_matrix(chain(), table.rename(columns={"Ulm": "Köln"}))


def test_a_matrix_is_no_table_and_demands_are_no_array():
    for given in (np.zeros((3, 3)), "demands.csv", [("Ulm", "Kiel", 1.0)]):
        with pytest.raises(TypeError, match=r"frame must be a table with columns by name, not .* takes a matrix"):
            demands.from_pandas(chain(), given)
    found = demands.gravity(chain(), 3.0)
    with pytest.raises(TypeError, match="is no array: `volumes` is its array"):
        np.asarray(found)
    paths, group = chain().k_shortest_paths(found.sources, found.destinations, 2)
    with pytest.raises(TypeError, match="flow_cap must be an array of numbers, not a Demands: `volumes` is its array"):
        netnum.Problem(chain(), paths, netnum.AlphaFair(1.0), group=group, flow_cap=found)
    for draw in (demands.gravity, demands.lognormal):
        with pytest.raises(TypeError, match="total must be an array of numbers, not 'much'"):
            draw(chain(), "much")


@pytest.mark.parametrize("make", [chain, labelled, lambda: topology.star(4), lambda: topology.backbone("nsfnet")])
def test_what_is_drawn_goes_to_paths_and_back(make):
    net = make()
    for found in (demands.gravity(net, 50.0, spread=1.0, seed=3), demands.lognormal(net, 50.0, 2.0, seed=3)):
        assert len(found) == net.ends * (net.ends - 1)
        assert found.total == pytest.approx(50.0, rel=1e-12)
        assert np.all(found.volumes > 0)
        paths, _ = net.k_shortest_paths(found.sources, found.destinations, 1)
        ends = {(net.links[path[0], 0], net.links[path[-1], 1]) for path in paths}
        assert len(ends) == len(found)
        assert demands.from_matrix(net, found.to_matrix(net)) == found
        table = found.to_pandas(net) if pytest.importorskip("pandas") is not None else None
        assert demands.from_pandas(net, table) == found


def test_gravity_is_in_proportion_to_masses():
    found = demands.gravity(chain(), 100.0, masses=[1.0, 0.0, 3.0])
    assert (found.sources.tolist(), found.destinations.tolist()) == ([0, 2], [2, 0])
    assert found.volumes.tolist() == [50.0, 50.0]
    # By what links carry: 10, 40 and 30.
    matrix = demands.gravity(chain(), 1.0).to_matrix(chain())
    assert matrix[0, 1] / matrix[0, 2] == pytest.approx(4 / 3)
    assert matrix[1, 2] / matrix[1, 0] == pytest.approx(3.0)


def test_a_seed_fixes_what_is_drawn():
    net = topology.backbone("abilene")
    assert demands.gravity(net, 1.0, spread=1.0, seed=1) == demands.gravity(net, 1.0, spread=1.0, seed=1)
    assert demands.gravity(net, 1.0, spread=1.0, seed=1) != demands.gravity(net, 1.0, spread=1.0, seed=2)
    assert demands.gravity(net, 1.0, seed=1) == demands.gravity(net, 1.0, seed=2), "nothing is drawn without a spread"
    logs = np.log(demands.lognormal(topology.star(60), 1.0, sigma=1.5, seed=4).volumes)
    assert np.std(logs) == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda net: demands.gravity(net, -1.0), "total is -1.0, expected a finite number >= 0"),
        (lambda net: demands.gravity(net, 1.0, spread=float("inf")), "spread is inf, expected a finite number >= 0"),
        (lambda net: demands.lognormal(net, 1.0, sigma=-1), "sigma is -1, expected a finite number >= 0"),
        (lambda net: demands.lognormal(net, 1.0, seed=-1), "seed is -1, expected an integer >= 0"),
        (lambda net: demands.gravity(net, 1.0, masses=[1.0]), "masses has shape (1,), expected (3,), one per end"),
        (
            lambda net: demands.gravity(net, 1.0, masses=[1.0, -2.0, 1.0]),
            "the mass of Bonn is -2.0, expected a finite number >= 0",
        ),
        (
            lambda net: demands.gravity(net, 1.0, masses=[1.0, 0.0, 0.0]),
            "all products of masses are 0, expected two ends with a mass above 0",
        ),
        (lambda net: demands.Demands([0], [1, 2], [1.0]), "destinations has 2 entries, expected 1, one per source"),
        (lambda net: demands.Demands([0], [1], [np.inf]), "demand 0 is inf, expected a finite number >= 0"),
        (lambda net: demands.Demands([[0]], [1], [1.0]), "sources has shape (1, 1), expected one dimension"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(netnum.NumError) as caught:
        draw(chain())
    assert str(caught.value) == message


def test_some_of_them_are_demands_too():
    found = demands.Demands([0, 1, 2], [1, 2, 0], [3.0, 2.0, 1.0])
    assert found[found.volumes >= 2].volumes.tolist() == [3.0, 2.0]
    assert found[1:].sources.tolist() == [1, 2]
    assert found[-1].volumes.tolist() == [1.0]
    assert found[[2, 0]] == demands.Demands([2, 0], [0, 1], [1.0, 3.0])
    assert found.scaled(2).total == 12.0
    for selection in (("Ulm", "Kiel"), "Ulm", (0, 1)):
        with pytest.raises(
            IndexError, match=r"not .*: demands.to_pandas\(net\) and demands.to_matrix\(net\) have the v"
        ):
            found[selection]
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        found[9]
    assert repr(found) == "Demands(3, 6 in all)"
    assert found != "demands"
    with pytest.raises(ValueError, match="read-only"):
        found.volumes[0] = 7.0
    with pytest.raises(TypeError, match="sources must be an array of integers"):
        demands.Demands([0.5], [1], [1.0])
    import pickle

    assert pickle.loads(pickle.dumps(found)) == found


def test_labels_that_are_integers_are_the_ends():
    net = labelled()
    found = demands.from_pandas(net, {"source": [10, "5"], "destination": [0, 10], "demand": [1.0, 2.0]})
    assert (found.sources.tolist(), found.destinations.tolist()) == ([10, 5], [0, 10])
    assert found.to_pandas(net)["source"].tolist() == ["10", "5"]
    assert found.to_matrix(net)[0, 2] == 1.0


def test_a_graph_and_a_table_of_demands_take_a_few_lines():
    nx, pandas = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    graph = nx.Graph([("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("A", "C")])
    nx.set_edge_attributes(graph, 10.0, "capacity")
    table = pandas.DataFrame({"source": ["A", "B", "C"], "destination": ["C", "D", "A"], "demand": [25.0, 15.0, 4.0]})

    net = topology.from_networkx(graph)
    found = demands.from_pandas(net, table)
    paths, group = net.k_shortest_paths(found.sources, found.destinations, k=4)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=found.volumes)
    table["rate"] = netnum.solve(problem).flow_rates

    # A to C has link A -> C alone, and shares B -> C and A -> D, which have 20, with B to D.
    assert table["rate"].to_numpy() == pytest.approx([15.0, 15.0, 4.0], rel=1e-3)


def test_a_network_as_users_have_it_takes_a_few_lines():
    net = topology.backbone("abilene")
    found = demands.gravity(net, total=60_000, spread=1.0, seed=1)
    paths, group = net.k_shortest_paths(found.sources, found.destinations, 4)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0, found.volumes), group=group)
    solution = netnum.solve(problem)
    assert solution.is_optimal
    assert solution.flow_rates.shape == (110,)
