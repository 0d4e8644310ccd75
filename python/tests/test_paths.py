"""`Paths`: made of lists of links or of nodes, and shown by the names of nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum

pd = pytest.importorskip("pandas")

NET = netnum.topology.from_edges("a b 10\nb c 5\na c 2\nc d 1")
INTEGERS = netnum.topology.from_edges("7 9 10\n9 8 4\n7 8 1")
SHARED = netnum.topology.from_edges([("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 1.0)], shared=True)
ONE_WAY = netnum.topology.from_edges([("b", "a", 1.0), ("a", "c", 2.0), ("c", "b", 1.0)], directed=True)


def found(net, seed):
    return net.k_shortest_paths(net.random_pairs(4, seed=seed), 3)[0]


@settings(deadline=None)  # pandas makes frames
@given(st.sampled_from([NET, INTEGERS, SHARED, ONE_WAY, netnum.topology.leaf_spine(2, 2, 2)]), st.integers(0, 9))
def test_paths_are_equal_to_those_of_their_nodes_and_of_their_links(net, seed):
    paths = found(net, seed)
    frame = paths.to_pandas(net)
    assert netnum.Paths.from_lists(frame.nodes.tolist(), net, group=frame.flow) == paths
    arrays = [np.array(path) for path in paths]
    assert netnum.Paths.from_lists(arrays, net, group=paths.group) == paths
    assert netnum.Paths.from_lists(arrays, group=paths.group) == paths
    problem = netnum.Problem(net, paths)
    assert frame.links.tolist() == netnum.solve(problem).to_pandas("paths").links.tolist()
    ends = netnum.solve(problem).to_pandas()
    assert frame.groupby("flow")[["source", "destination"]].first().equals(ends[["source", "destination"]])
    assert [nodes[0] for nodes in frame.nodes] == frame.source.tolist()
    assert [nodes[-1] for nodes in frame.nodes] == frame.destination.tolist()


def test_other_coefficients_keep_flows_and_the_caps_of_demands():
    paths, group = NET.k_shortest_paths({("a", "c"): 3.0, ("b", "d"): 0.5}, 2)
    uses = np.linspace(0.5, 2.0, len(paths.indices))
    other = paths.with_coefficients(uses)
    assert other == netnum.Paths(paths.indptr, paths.indices, group, uses, [3.0, 0.5])
    assert netnum.Problem(NET, other).flow_cap.tolist() == [3.0, 0.5]
    assert other.with_coefficients(1.0) == paths and paths.coefficients is None
    for wrong, message in [
        ([1.0], f"coefficients has 1 entries, expected {len(uses)}, one per index"),
        (0.0, "path 0 has coefficient 0 at link"),
    ]:
        with pytest.raises(netnum.ProblemError, match=message):
            paths.with_coefficients(wrong)


def test_paths_without_a_network_are_shown_by_their_links():
    paths = netnum.Paths([0, 2, 3], [4, 1, 0], group=[0, 0])
    assert paths.to_pandas().to_dict("list") == {"flow": [0, 0], "links": ["4, 1", "0"]}
    assert netnum.Paths.from_lists([]).to_pandas(NET).empty


def test_links_that_are_listed_in_another_order_have_no_list_of_nodes():
    route = NET.route(["a", "b", "c"])
    frame = netnum.Paths.from_lists([route[::-1]], NET).to_pandas(NET)
    assert (frame.source[0], frame.destination[0], frame.nodes[0]) == ("a", "c", [])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: netnum.Paths.from_lists([["a", "d"]], NET), netnum.ProblemError, "path 0: hop 0: there is no link"),
        (
            lambda: netnum.Paths.from_lists([["a", "z"]], NET),
            netnum.ProblemError,
            'path 0[1] is "z", expected the name',
        ),
        (lambda: netnum.Paths.from_lists([[0, 9]], NET), netnum.ProblemError, "path 0 names link 9, expected a link"),
        (lambda: netnum.Paths.from_lists([[0, 6]], NET), netnum.ProblemError, "path 0 is no walk"),
        (
            lambda: netnum.Paths.from_lists([["a", "b"]]),
            TypeError,
            "path 0 must be of integers, not str: names of nodes",
        ),
        (
            lambda: netnum.Paths.from_lists([[7, 9]], INTEGERS),
            netnum.ProblemError,
            "path 0 is a list of integers, which",
        ),
        (lambda: netnum.Paths.from_lists([[0]], group=[0, 1]), netnum.ProblemError, "group has 2 entries, expected 1"),
        (
            lambda: netnum.Paths([["a", "b"]], NET),
            TypeError,
            "indptr must be an array of integers (netnum.Paths.from_lists(paths, net) takes lists of links or of node",
        ),
        (lambda: netnum.Paths(NET, [["a", "b"]]), TypeError, "indptr must be an array of integers (netnum.Paths.from"),
        (lambda: netnum.Paths([[0, 1], [2]]), TypeError, "indptr must be an array of integers (netnum.Paths.from_lis"),
        (lambda: found(NET, 0).to_pandas(ONE_WAY), netnum.ProblemError, "and graph has 3 links"),
    ],
)
def test_paths_that_cannot_be_are_named(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value), str(caught.value)
