"""Pairs of ends and demands, in every form that is taken wherever pairs are."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import Demands, Paths, Problem, sim

NET = netnum.topology.from_edges("a b 10\nb c 5\na c 2")
ENDS = ["a", "b", "c"]
PAIRS = [("a", "c"), ("b", "c"), ("c", "a")]
ROWS = np.array([[0, 2], [1, 2], [2, 0]])


def columns(pairs):
    return tuple(map(list, zip(*pairs, strict=True)))


def shortest(*pairs, **keywords):
    return NET.k_shortest_paths(*pairs, 2, **keywords)[0]


FORMS = {
    "tuples": PAIRS,
    "a tuple of tuples": tuple(PAIRS),
    "lists": [list(pair) for pair in PAIRS],
    "a generator": lambda: (pair for pair in PAIRS),
    "an array of names": np.array(PAIRS),
    "an array of integers": ROWS,
    "tuples of integers": [tuple(map(int, row)) for row in ROWS],
    "two arrays": (ROWS[:, 0], ROWS[:, 1]),
    "a table of two columns without names": pd.DataFrame(ROWS),
    "a table of sources and destinations": pd.DataFrame(PAIRS, columns=["source", "destination"]),
    "a table of destinations and sources": pd.DataFrame(
        [pair[::-1] for pair in PAIRS], columns=["destination", "source"]
    ),
    "a table of integers by their names": pd.DataFrame(ROWS[:, ::-1], columns=["destination", "source"]),
    "a dict of both columns": dict(
        zip(("destination", "source"), columns([pair[::-1] for pair in PAIRS]), strict=True)
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_pairs_are_the_same_in_every_form(form):
    pairs = FORMS[form]
    one = pairs if callable(pairs) else lambda: pairs
    assert shortest(one()) == shortest(*columns(PAIRS))
    assert NET.ecmp(one(), seed=3) == NET.ecmp(*columns(PAIRS), seed=3)
    assert NET.paths(one()) == NET.paths(*columns(PAIRS))
    assert NET.has_path(one()).tolist() == [True] * 3
    assert sim.Workload.at_once(NET, one(), sim.Sizes.fixed(1.0)).sources.tolist() == [0, 1, 2]


@pytest.mark.parametrize("pair", [("a", "c"), (0, 2), (np.int64(0), 2), ("a", 2)])
def test_one_pair_is_a_tuple_or_two_arguments(pair):
    expected = shortest(["a"], ["c"])
    assert shortest(pair) == shortest(*pair) == NET.k_shortest_paths(pair, k=2)[0] == expected
    assert NET.ecmp(pair) == NET.ecmp(*pair) == NET.ecmp(["a"], ["c"])
    assert NET.paths(pair) == NET.paths(*pair) == NET.paths(["a"], ["c"])
    assert NET.has_path(pair).tolist() == NET.has_path(*pair).tolist() == [True]


VOLUMES = [3.0, 1.0, 0.5]
STATED = {
    "Demands": lambda: Demands(ROWS[:, 0], ROWS[:, 1], VOLUMES),
    "a dict by pair": lambda: dict(zip(PAIRS, VOLUMES, strict=True)),
    "a dict of columns": lambda: {"source": list("abc"), "destination": list("cca"), "demand": VOLUMES},
    "a table": lambda: pd.DataFrame({"source": list("abc"), "destination": list("cca"), "demand": VOLUMES}),
    "a matrix": lambda: np.array([[0, 0, 3.0], [0, 0, 1], [0.5, 0, 0]]),
    "a sparse matrix": lambda: sp.csr_array(np.array([[0, 0, 3.0], [0, 0, 1], [0.5, 0, 0]])),
    "a labelled matrix": lambda: pd.DataFrame([[0, 0, 3.0], [0, 0, 1], [0.5, 0, 0]], index=ENDS, columns=ENDS),
}


@pytest.mark.parametrize("form", STATED)
def test_demands_are_pairs_whose_volumes_cap_their_flows(form):
    for paths in (shortest(STATED[form]()), NET.ecmp(STATED[form]()), NET.paths(STATED[form]())):
        assert paths.flow_cap.tolist() == VOLUMES
        assert Problem(NET, paths).flow_cap.tolist() == VOLUMES
    plain = shortest(PAIRS)
    assert plain.flow_cap is None
    assert Problem(NET, plain).flow_cap is None
    assert (plain.indices == shortest(STATED[form]()).indices).all()


def test_caps_of_demands_give_way_to_caps_and_to_other_flows():
    paths, group = NET.k_shortest_paths(STATED["Demands"](), 2)
    assert Problem(NET, paths, group=group).flow_cap.tolist() == VOLUMES
    assert Problem(NET, paths, flow_cap=[9.0, 8.0, 7.0]).flow_cap.tolist() == [9.0, 8.0, 7.0]
    assert Problem(NET, paths, flow_cap=np.inf).flow_cap is None
    assert Problem(NET, paths, group=range(len(paths))).flow_cap is None
    assert Problem(NET, Problem(NET, paths, flow_cap=np.inf).paths).flow_cap is None


def test_what_k_shortest_paths_returns_is_taken_whole():
    found = NET.k_shortest_paths(STATED["Demands"](), 2)
    problem = Problem(NET, found, "proportional")
    assert problem.paths.group.tolist() == found[1].tolist()
    assert netnum.solve(problem).flow_rates == pytest.approx(VOLUMES, rel=1e-4)
    assert pickle.loads(pickle.dumps(problem)).flow_cap.tolist() == VOLUMES
    split = sim.Split(NET, found)
    assert split.paths.indices.tolist() == found[0].indices.tolist()


def test_flowlets_on_paths_of_demands_are_capped_by_them():
    allocator = netnum.Allocator(NET, update_threshold=0.0)
    ids = allocator.start(NET.ecmp({("a", "b"): 2.0, ("b", "c"): 1.0}))
    allocator.tick(200)
    assert allocator.rates(ids) == pytest.approx([2.0, 1.0])
    ids = allocator.start(NET.ecmp({("c", "b"): 1.0}), flow_cap=3.0)
    allocator.tick(200)
    assert allocator.rates(ids) == pytest.approx([3.0])


def test_paths_with_caps_are_copied_compared_and_shown():
    paths = shortest({("a", "c"): 3.0})
    assert pickle.loads(pickle.dumps(paths)) == paths != shortest([("a", "c")])
    assert repr(paths) == "Paths(2 paths of 1 flow, 1.5 links each, capped by demands)"
    assert Paths([0, 1], [0], flow_cap=[2.0]).flow_cap.tolist() == [2.0]
    with pytest.raises(netnum.ProblemError, match="flow_cap has 2 entries, expected 1, one per flow"):
        Paths([0, 1], [0], flow_cap=[2.0, 1.0])
    with pytest.raises(netnum.ProblemError, match="flow 0 has cap -1, expected a number >= 0"):
        Paths([0, 1], [0], flow_cap=[-1.0])


NAMES = st.one_of(
    st.lists(names, min_size=3, max_size=8, unique=True)
    for names in (st.integers(-9, 99).map(str), st.sampled_from(["a", "b", "Zürich", "10 a", "-", "x y"]))
)


@given(names=NAMES, seed=st.integers(0, 99))
def test_pairs_that_a_network_gives_are_taken_back_whatever_its_names(names, seed):
    links = [[one, (one + step) % len(names)] for one in range(len(names)) for step in (1, len(names) - 1)]
    net = netnum.Topology(names, links, 1.0)
    for pairs in (net.all_pairs(), net.random_pairs(5, seed=seed)):
        rows = np.column_stack(pairs)
        assert net.k_shortest_paths(pairs, 2)[0] == net.k_shortest_paths(*pairs, 2)[0]
        assert net.ecmp(pairs) == net.ecmp(*pairs) == net.ecmp(rows)
        assert len(net.paths(pairs).group) >= len(rows)
    for pairs in (sim.permutation(net, seed=seed), sim.all_to_all(net)):
        assert len(net.ecmp(pairs)) == len(pairs)


def test_all_pairs_are_every_two_ends_in_both_directions():
    sources, destinations = NET.all_pairs()
    assert list(zip(sources, destinations, strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    fabric = netnum.topology.leaf_spine(2, 2, 1)
    assert len(fabric.all_pairs()[0]) == 12
    assert netnum.topology.from_edges("7 9 1").all_pairs()[0].tolist() == [7, 9]


@pytest.mark.parametrize(
    ("given", "flows"),
    [
        (("a", "c"), [(0, 2)]),
        ([("a", "c"), ("b", "c")], [(0, 2), (1, 2)]),
        ([(0, 1)], [(0, 1)]),
        (NET.all_pairs(), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
        (STATED["Demands"](), None),
        (STATED["a dict by pair"](), None),
        (STATED["a table"](), None),
    ],
)
def test_a_problem_of_pairs_or_demands_is_over_all_paths(given, flows):
    problem = Problem(NET, given)
    assert problem.paths is None
    sources, destinations = problem.pairs
    assert (problem.flow_cap is None) == (flows is not None)
    if flows is not None:
        assert list(zip(sources.tolist(), destinations.tolist(), strict=True)) == flows


def test_a_pair_among_paths_is_refused_with_both_forms():
    with pytest.raises(netnum.ProblemError) as caught:
        Problem(NET, [["a", "b"], ("b", "c")])
    message = (
        "path 1 is ('b', 'c'), a pair of ends: net.k_shortest_paths([('b', 'c')], k) has paths of pairs, and a path"
    )
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("given", [STATED["Demands"](), STATED["a dict by pair"]()])
def test_demands_without_a_network_say_what_has_their_paths(given):
    with pytest.raises(netnum.ProblemError, match="which has no paths: "):
        Problem([1.0, 1.0], given)


def test_lists_are_paths_and_tuples_of_links_are_paths_where_there_are_no_nodes():
    assert len(Problem(NET, [["a", "b"], ["b", "c"]]).paths) == 2
    assert len(Problem([1.0, 1.0], [(0, 1), (0,)]).paths) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: NET.k_shortest_paths(PAIRS), TypeError, "k_shortest_paths needs k, the most paths per pair: "),
        (lambda: NET.k_shortest_paths("a", "c"), TypeError, "k_shortest_paths needs k, the most paths per pair: "),
        (lambda: NET.k_shortest_paths(PAIRS, 2, 3), TypeError, "destinations is 2, expected ends: what follows pairs"),
        (
            lambda: NET.ecmp(PAIRS, 1),
            TypeError,
            "destinations is 1, expected ends: what follows pairs is given by name",
        ),
        (lambda: NET.ecmp(["a", "c"]), TypeError, "pairs[0] must be two ends, not 'a': one pair is a tuple"),
        (lambda: NET.ecmp("ac"), TypeError, "pairs must be an array of integers, not of dtype <U2"),
        (lambda: NET.ecmp([("a", "b", "c")]), TypeError, "pairs[0] must be two ends, not ('a', 'b', 'c')"),
        (lambda: NET.ecmp([("a", "z")]), netnum.ProblemError, 'an end of pairs[0] is "z", expected the name of one of'),
        (lambda: NET.ecmp(("a", "z")), netnum.ProblemError, 'pairs[1] is "z", expected the name of one of the 3 ends'),
        (lambda: NET.ecmp((["a"], ["c"])), TypeError, "pairs are a tuple of two lists, which may be two pairs or"),
        (
            lambda: NET.ecmp({("a", "z"): 1.0}),
            netnum.ProblemError,
            "('a', 'z'), destination: node is \"z\", expected the name of one of the 3 nodes",
        ),
        (
            lambda: NET.ecmp(pd.DataFrame(ROWS, columns=["to", "from"])),
            netnum.ProblemError,
            "the table has columns to, from, expected source, destination: rename the columns",
        ),
        (
            lambda: NET.ecmp({"a": 1.0}),
            TypeError,
            'the demand of \'a\' is of no pair, expected pairs of ends as keys: {("A", "B"): 3.0}',
        ),
        (
            lambda: NET.ecmp({("a", "c"): -1.0}),
            netnum.ProblemError,
            "the demand of ('a', 'c') is -1.0, expected a finite number >= 0",
        ),
        (
            lambda: netnum.topology.single_link().ecmp(np.array([[0, 1], [0, 1]])),
            netnum.ProblemError,
            "pairs are integers of shape (2, 2), which may be two pairs or a matrix of demands between two ends",
        ),
        (
            lambda: sim.Workload.at_once(NET, STATED["Demands"](), sim.Sizes.fixed(1.0)),
            netnum.ProblemError,
            "pairs have volumes, which flows of a workload do not: give np.column_stack([demands.sources, ",
        ),
    ],
)
def test_what_is_no_pair_is_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)
