"""Bad input: each kind is an error that names the place and what is expected."""

import numpy as np
import pytest

import netnum

FAIR = netnum.AlphaFair(1.0)
NAN, INF = float("nan"), float("inf")


def problem(capacities=(1.0, 1.0, 1.0), paths=((0,), (1,)), utility=FAIR, **others):
    return netnum.Problem(capacities, paths, utility, **others)


def refused(kind, message, make):
    """The error is of exactly this kind, with exactly this message."""
    with pytest.raises(netnum.NumError) as caught:
        make()
    assert (type(caught.value), str(caught.value)) == (kind, message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: problem([1.0, -2.0]), "link 1 has capacity -2, expected a number >= 0 (inf for no limit)"),
        (
            lambda: netnum.Problem([1.0, INF], [[0], [1]], netnum.AlphaFair(1.0)),
            "flow 1 has no limit, expected a link of finite capacity on every path of it, a cap or a saturation",
        ),
        (lambda: problem([NAN, 1.0]), "link 0 has capacity NaN, expected a number >= 0 (inf for no limit)"),
        (lambda: problem(paths=[[0], []]), "path 1 is empty, expected at least one link"),
        (lambda: problem(paths=[[0], [1, 3]]), "path 1 names link 3, expected a link from 0 to 2"),
        (lambda: problem(paths=[[0], [-1]]), "path 1 names link -1, expected a link from 0 to 2"),
        (
            lambda: problem(paths=[[0], np.array([2, -5])]),
            "path 1 names link -5, expected a link from 0 to 2",
        ),
        (
            lambda: problem(paths=[[2**70]]),
            "path 0 names link 1180591620717411303424, expected a link from 0 to 2",
        ),
        (lambda: problem(paths=netnum.Paths([0, 1], [7])), "path 0 names link 7, expected a link from 0 to 2"),
        (lambda: problem(paths=[[0], [2, 1, 2]]), "path 1 visits link 2 twice"),
        (lambda: problem(paths=[[1, 2], [0, 1, 0]]), "path 1 visits link 0 twice"),
        (lambda: problem([1.0] * 4, [[0, 1, 0], [1, 0, 1]]), "path 0 visits link 0 twice"),
        (lambda: problem(group=[0]), "group has 1 entries, expected 2, one per path"),
        (lambda: problem(group=[0, -1]), "group[1] is -1, expected a flow number >= 0 and below the number of paths"),
        (lambda: problem(group=[0, 2]), "group[1] is 2, expected a flow number >= 0 and below the number of paths"),
        (
            lambda: problem(group=[1, 1]),
            "group has no path for flow 0, expected at least one for every flow up to 1",
        ),
        (lambda: problem(rate_cap=[1.0]), "rate_cap has 1 entries, expected 2, one per path"),
        (lambda: problem(rate_cap=[1.0, -1.0]), "path 1 has rate cap -1, expected a number >= 0 (inf for none)"),
        (lambda: problem(rate_cap=[NAN, 1.0]), "path 0 has rate cap NaN, expected a number >= 0 (inf for none)"),
        (
            lambda: problem(utility=netnum.AlphaFair(1.0, [1.0] * 3)),
            "utility has 3 entries, expected 2, one per flow",
        ),
        (
            lambda: problem(utility=[FAIR]),
            "utility has 1 entries, expected 2, one per flow: without group= every path is a flow of its own",
        ),
        (
            lambda: problem(paths=[[0], [1], [2]], flow_cap=[1.0, 2.0]),
            "flow_cap has 2 entries, expected 3, one per flow: without group= every path is a flow of its own",
        ),
        (
            lambda: problem(paths=[[0], [1], [2]], group=[0, 0, 1], flow_cap=[1.0]),
            "flow_cap has 1 entries, expected 2, one per flow",
        ),
        (lambda: netnum.Paths([0, 1, 2], [0, 1], [0]), "group has 1 entries, expected 2, one per path"),
        (
            lambda: netnum.Paths([0, 1, 2], [0, 1], [0, -1]),
            "group[1] is -1, expected a flow number >= 0 and below the number of paths",
        ),
        (
            lambda: problem(utility=[FAIR, netnum.AlphaFair([1.0, 2.0])]),
            "the utility of flow 1 has 2 entries, expected 1, one per flow",
        ),
        (lambda: problem([[1.0, 1.0], [1.0, 1.0]]), "capacities has shape (2, 2), expected one dimension"),
        (lambda: problem(3.0), "capacities has shape (), expected one dimension: one alone is [3.0]"),
        (lambda: problem(group=[[0], [1]]), "group has shape (2, 1), expected one dimension"),
        (lambda: netnum.Paths([1, 2], [0, 0]), "indptr[0] is 1, expected 0"),
        (lambda: netnum.Paths([0, 2, 1], [0, 0]), "indptr[2] is 1, expected at least 2"),
        (lambda: netnum.Paths([0, 1], [0, 0]), "indptr[1] is 1, expected 2, the number of indices"),
        (lambda: netnum.Paths([0, -1], []), "indptr[1] is -1, expected at least 0"),
        (lambda: netnum.Paths([0, 1, 2], [0, -1]), "path 1 names link -1, expected a link from 0 to 4294967295"),
        (lambda: problem().flow_rates([1.0]), "rates has 1 entries, expected 2, one per path"),
        (lambda: problem().loads([1.0]), "rates has 1 entries, expected 2, one per path"),
        (lambda: netnum.f_norm(problem(), [1.0, -1.0]), "path 1 has rate -1, expected a finite number >= 0"),
        (lambda: netnum.u_norm(problem(), [INF, 1.0]), "path 0 has rate inf, expected a finite number >= 0"),
        (
            lambda: netnum.certify(problem(), [1, 1], [1.0, -1.0, 0.0]),
            "link 1 has price -1, expected a finite number >= 0",
        ),
        (lambda: netnum.certify(problem(), [1, 1], [1.0]), "prices has 1 entries, expected 3, one per link"),
        (lambda: netnum.solve(problem(), warm_start=[1.0]), "prices has 1 entries, expected 3, one per link"),
        (
            lambda: netnum.solve(problem(), warm_start=[0.0, NAN, 0.0]),
            "link 1 has price NaN, expected a finite number >= 0",
        ),
        (
            lambda: netnum.Problem.from_json('{"paths": []}'),
            "not a problem in JSON: missing field `capacity` at line 1 column 13",
        ),
    ],
)
def test_bad_data_is_named(make, message):
    refused(netnum.ProblemError, message, make)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: netnum.AlphaFair(0.0), "flow 0 has alpha 0, expected a number > 0, inf for max-min"),
        (lambda: netnum.AlphaFair([1.0, -1.0]), "flow 1 has alpha -1, expected a number > 0, inf for max-min"),
        (lambda: netnum.AlphaFair(NAN), "flow 0 has alpha NaN, expected a number > 0, inf for max-min"),
        (lambda: netnum.AlphaFair([1.0, INF]), "flow 1 has alpha inf, expected all finite or all infinite"),
        (lambda: netnum.AlphaFair(1.0, [1.0, 0.0]), "flow 1 has weight 0, expected a finite number > 0"),
        (lambda: netnum.AlphaFair(1.0, INF), "flow 0 has weight inf, expected a finite number > 0"),
        (lambda: netnum.Linear([1.0, -3.0]), "flow 1 has weight -3, expected a finite number >= 0"),
        (lambda: netnum.MinFct(0.0), "flow 0 has size 0, expected a finite number > 0"),
        (lambda: netnum.MinFct([1.0, NAN]), "flow 1 has size NaN, expected a finite number > 0"),
        (lambda: netnum.MinFct(1.0, 1.0), "flow 0 has epsilon 1, expected a number between 0 and 1, both excluded"),
        (lambda: netnum.MinFct(1.0, [0.5, 0.0]), "flow 1 has epsilon 0, expected a number between 0 and 1"),
        (
            lambda: netnum.BandwidthFunction([0, 1, 2], [0, 2, 1]),
            "flow 0 has a bandwidth function whose bandwidth decreases at point 2, expected a list that never",
        ),
        (
            lambda: netnum.BandwidthFunction([0], [0]),
            "flow 0 has a bandwidth function whose number of points is 1, expected at least two",
        ),
        (
            lambda: netnum.BandwidthFunction([0, 1, 1], [0, 1, 2]),
            "flow 0 has a bandwidth function whose fair share does not increase at point 2, expected an increasing",
        ),
        (lambda: netnum.BandwidthFunction([0, 1], [1, 2]), "bandwidth at point 0 is 1, expected 0, so that it has no"),
        (lambda: netnum.BandwidthFunction([0, NAN], [0, 2]), "fair share at point 1 is NaN, expected a finite number"),
        (lambda: netnum.BandwidthFunction([0, 1], [0, 1], alpha=0), "flow 0 has alpha 0, expected a number > 0, inf"),
        (lambda: netnum.BandwidthFunction([0, 1], [0, 1], tail_slope=-1), "tail slope is -1, expected a finite number"),
    ],
)
def test_a_utility_out_of_range_is_named(make, message):
    with pytest.raises(netnum.UtilityError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: netnum.AlphaFair([1.0, 2.0], [1.0] * 3), "weight has 3 entries, expected 2, one per flow"),
        (lambda: netnum.MinFct([1.0, 2.0], [0.5] * 3), "epsilon has 3 entries, expected 2, one per flow"),
        (lambda: netnum.BandwidthFunction([0, 1], [0, 1, 2]), "bandwidth has 3 entries, expected 2, one per point"),
        (lambda: netnum.AlphaFair([[1.0]]), "alpha has shape (1, 1), expected one dimension"),
        (
            lambda: netnum.AlphaFair([1.0, 2.0]).demand([1.0, 2.0, 3.0]),
            "prices has shape [3], expected a last axis of 2, one per flow",
        ),
    ],
)
def test_wrong_lengths_in_a_utility_are_named(make, message):
    refused(netnum.ProblemError, message, make)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: netnum.solve(problem(), "fast-nad"),
            f'unknown method "fast-nad", did you mean "fast-ned"?; known: auto, {", ".join(netnum.methods())}',
        ),
        (
            lambda: netnum.Solver(problem(), "zzz"),
            f'unknown method "zzz"; known: auto, {", ".join(netnum.methods())}',
        ),
        (
            lambda: netnum.solve(problem(), "ned", gama=0.4),
            'method "ned" has no option "gama", did you mean "gamma"?; known options: gamma',
        ),
        (
            lambda: netnum.solve(problem(), "ned", time_limits=1e-3),
            "solve has no 'time_limits': did you mean 'time_limit'?",
        ),
        (
            lambda: netnum.solve(problem(), tie_costs=1.0),
            "solve has no 'tie_costs': did you mean 'tie_cost'?",
        ),
        (
            lambda: netnum.Solver(problem(), "ned", thread=2),
            "Solver has no 'thread': did you mean 'threads'?",
        ),
        (
            lambda: netnum.Solver(problem(), "ned", tie_cost=1.0),
            "Solver has no 'tie_cost': netnum.solve takes it, for one problem",
        ),
        (
            lambda: netnum.solve(problem(utility=netnum.Linear(1.0)), gamma=0.4),
            '"auto" chose "interior-point", which has no option "gamma"; known options: none; '
            "name the method that an option is for",
        ),
        (
            lambda: netnum.solve_many([problem()] * 2, time_limits=0.4),
            "solve_many has no 'time_limits': did you mean 'time_limit'?",
        ),
        (
            lambda: netnum.Allocator([1.0], normaliser="fill"),
            "Allocator has no 'normaliser': did you mean 'normalizer'?",
        ),
        (
            lambda: netnum.solve(problem(utility=netnum.Linear(1.0)), "fast-ned"),
            'method "fast-ned" cannot take linear utilities; use "interior-point"',
        ),
        (
            lambda: netnum.solve(problem(utility=netnum.AlphaFair(INF)), "fast-ned"),
            'method "fast-ned" cannot take max-min utilities; use "max-min"',
        ),
        (
            lambda: netnum.solve(problem(group=[0, 0]), "ned"),
            'method "ned" cannot take flows with several paths; use "interior-point" or "fast-ned"',
        ),
    ],
)
def test_an_unknown_method_or_option_comes_with_the_known_ones(make, message):
    refused(netnum.MethodError, message, make)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": 0.0}, "tol is 0, expected a finite number > 0"),
        ({"tol": NAN}, "tol is NaN, expected a finite number > 0"),
        ({"stop": "gaps"}, 'stop is "gaps", expected "rates", "gap" or "kkt"'),
        ({"max_iterations": -1}, "max_iterations is -1, expected at least 0"),
        ({"time_limit": -0.5}, "time_limit is -0.5, expected a number of seconds >= 0"),
        ({"time_limit": NAN}, "time_limit is NaN, expected a number of seconds >= 0"),
        ({"threads": 0}, "threads is 0, expected at least 1"),
        ({"gamma": -1.0}, "gamma is -1, expected a finite number > 0"),
        ({"gamma": INF}, "gamma is inf, expected a finite number > 0"),
    ],
)
def test_a_setting_out_of_range_is_named(settings, message):
    refused(netnum.NumError, message, lambda: netnum.solve(problem(), **settings))


def test_steps_are_counted_from_zero():
    refused(netnum.NumError, "n is -1, expected at least 0", lambda: netnum.Solver(problem()).step(-1))


def test_a_routing_matrix_of_the_wrong_shape_or_with_other_entries_is_named():
    sparse = pytest.importorskip("scipy.sparse")
    refused(
        netnum.ProblemError,
        "the routing matrix has shape (2, 5), expected (3, 5): one row per link, one column per path",
        lambda: problem(paths=sparse.csc_matrix((2, 5))),
    )
    half = sparse.coo_array(([1.0, -0.5], ([0, 2], [0, 1])), shape=(3, 2))
    refused(
        netnum.ProblemError,
        "path 1 has coefficient -0.5 at link 2, expected a finite number > 0",
        lambda: problem(paths=half),
    )
    refused(
        netnum.ProblemError,
        "path 1 is empty, expected at least one link",
        lambda: problem(paths=sparse.csc_matrix(np.array([[1.0, 0], [0, 0], [0, 0]]))),
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: problem("abc"), "capacities must be an array of numbers, not of dtype <U3"),
        (lambda: problem([1.0, None]), "capacities must be an array of numbers, not of dtype object"),
        (lambda: problem([True, False]), "capacities must be an array of numbers, not of dtype bool"),
        (lambda: problem(paths=3), "paths must be a sequence of sequences of link indices, a netnum.Paths or a SciPy"),
        (lambda: problem(paths=[0, 1]), "path 0 must be a sequence of link indices, not int"),
        (lambda: problem(paths=[[0], [1.5]]), "path 1 must be of integers, not float"),
        (lambda: problem(paths=[[0], ["a"]]), "path 1 must be of integers, not str"),
        (
            lambda: problem(paths=["A", "B"]),
            'path 0 is the text "A", expected a list of links or of node names: [["A", "B"]]',
        ),
        (lambda: problem(paths=[[0], "A"]), 'path 1 is the text "A", expected a list of links or of node names'),
        (
            lambda: netnum.sim.Split(problem(), netnum.solve(problem())),
            "net must be a Topology, not Problem: Split(problem.network, problem.paths, solution.rates)",
        ),
        (lambda: problem(paths=[np.array([0.0])]), "path 0 must be an array of integers, not of dtype float64"),
        (lambda: problem(group=[0.0, 1.0]), "group must be an array of integers, not of dtype float64"),
        (lambda: problem(utility=True), 'bool is no utility: it has no method "value" (of value, marginal)'),
        (lambda: problem(utility=[FAIR, True]), 'flow 1: bool is no utility: it has no method "value"'),
        (lambda: problem(utility=netnum.AlphaFair), "utility is the class AlphaFair, expected an instance"),
        (lambda: netnum.AlphaFair("high"), "alpha must be an array of numbers, not of dtype <U4"),
        (lambda: netnum.solve("problem"), "Problem"),
        (lambda: netnum.solve(problem(), callback=3), "callback must be callable, not int"),
        (lambda: netnum.solve(problem(), threads=1.5), "threads must be an integer, not float"),
        (lambda: netnum.solve(problem(), max_iterations="many"), "max_iterations must be an integer, not str"),
        (lambda: netnum.solve(problem(), gamma="big"), 'option "gamma" must be an array of numbers'),
        (lambda: netnum.solve(problem(), gamma=[1.0, 2.0]), 'option "gamma" must be a number, not an array'),
        (lambda: netnum.solve(problem(), "ned", 1e-6), "positional"),
    ],
)
def test_a_wrong_type_is_a_type_error(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert message in str(caught.value)
    assert not isinstance(caught.value, netnum.NumError)


MATRIX = "give a routing matrix as scipy.sparse.csc_array(matrix), one row per link, one column per path"


@pytest.mark.parametrize("as_paths", [np.array, lambda rows: np.array(rows).tolist(), lambda rows: np.array(rows).T])
def test_a_dense_routing_matrix_of_integers_is_no_list_of_links(as_paths):
    rng = np.random.default_rng(5)
    for links, flows in [(3, 4), (6, 3), (5, 5)]:
        matrix = (rng.random((links, flows)) < 0.4).astype(int)
        matrix[0] = 1
        matrix[:, 0] = 1
        with pytest.raises(netnum.ProblemError) as caught:
            problem(np.ones(links), as_paths(matrix))
        entries = np.asarray(as_paths(matrix)).shape[1]
        what = f"path 0 has {entries} entries of 0 and 1, which are link numbers, and visits a link twice"
        assert str(caught.value) == f"{what}: {MATRIX}"


def test_what_is_given_in_place_of_arrays_is_named():
    sparse = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    net = netnum.topology.backbone("abilene")
    one = netnum.Problem(net, [[0]], FAIR)
    solution = netnum.solve(one)
    mask = np.array([True, False])
    matrix = np.eye(3)[:, :2]
    topology = "capacities must be an array of numbers, not a Topology: `capacities` and `links` are its arrays"
    flat = "np.flatnonzero(mask) has the places where a mask is True"
    for make, message in [
        (lambda: one.with_capacities(net), topology),
        (lambda: netnum.Solver(one).update(capacities=net), topology),
        (lambda: netnum.solve_many(one, capacities=net), topology),
        (lambda: net.with_capacities(net), topology),
        (
            lambda: netnum.certify(one, solution, solution.prices),
            "rates must be an array of numbers, not a Solution: `rates` (of paths), `flow_rates`, `prices` and `loads` "
            "are its arrays",
        ),
        (
            lambda: problem(paths=matrix),
            f"paths is an array of shape (3, 2) and dtype float64, expected lists of link numbers: {MATRIX}",
        ),
        (
            lambda: problem(paths=matrix > 0),
            f"paths is an array of shape (3, 2) and dtype bool, expected lists of link numbers: {MATRIX}",
        ),
        (
            lambda: problem(paths=pandas.DataFrame(matrix)),
            f"paths is a DataFrame, expected lists of link numbers: {MATRIX}",
        ),
        (
            lambda: problem().with_paths_closed(mask),
            f"paths must be an array of integers, not of dtype bool: {flat}",
        ),
        (
            lambda: net.without(mask),
            f"links[0]: a link must be a number, a name or a pair of nodes, not bool: {flat}",
        ),
        (
            lambda: net.without(mask.tolist()),
            f"links[0]: a link must be a number, a name or a pair of nodes, not bool: {flat}",
        ),
    ]:
        with pytest.raises(TypeError) as caught:
            make()
        assert str(caught.value) == message
    refused(
        netnum.ProblemError,
        "the routing matrix has shape (2, 3), expected 3 rows: one per link, one column per path, which its transpose "
        "has (matrix.T)",
        lambda: problem(paths=sparse.csr_array(matrix.T)),
    )
    assert netnum.solve(problem(paths=sparse.csr_array(matrix))).rates.tolist() == [1.0, 1.0]


def test_a_graph_of_networkx_is_named():
    nx = pytest.importorskip("networkx")
    for graph in (nx.path_graph(3), nx.DiGraph([("a", "b")])):
        with pytest.raises(TypeError) as caught:
            problem().with_capacities(graph)
        instead = "netnum.topology.from_networkx makes a Topology of it"
        assert str(caught.value) == f"capacities must be an array of numbers, not a {type(graph).__name__}: {instead}"


def test_a_demand_of_0_is_no_weight():
    refused(
        netnum.UtilityError,
        "flow 1 has weight 0, expected a finite number > 0: a flow without demand has flow_cap 0 and any weight, or is "
        "left out",
        lambda: netnum.AlphaFair(1.0, [1.0, 0.0, 3.0]),
    )
    refused(
        netnum.ProblemError,
        "flow 1 has weight 0, expected a number > 0, or a floor (flow_floor) or a demand (flow_cap) of it",
        lambda: netnum.Problem([1.0], [[0], [0], [0]], netnum.Linear([1.0, 0.0, 3.0])),
    )


def test_lists_of_different_lengths_are_no_array():
    with pytest.raises(netnum.ProblemError, match="capacities is not an array of numbers"):
        problem([[1.0], [1.0, 2.0]])


def test_every_error_is_a_value_error():
    for kind in (netnum.ProblemError, netnum.MethodError, netnum.UtilityError):
        assert issubclass(kind, netnum.NumError)
        assert kind.__module__ == "netnum"
    assert issubclass(netnum.NumError, ValueError)


def test_a_path_that_does_not_exist_is_an_index_error():
    with pytest.raises(IndexError, match="path 2 does not exist, expected a path from 0 to 1"):
        problem().paths[2]


def test_code_cannot_be_written_as_json():
    class Mine:
        value = marginal = demand = demand_slope = staticmethod(lambda x: x)

    refused(
        netnum.ProblemError,
        "not a problem in JSON: the utility of flow 0 is code and cannot be written",
        lambda: problem(utility=Mine()).to_json(),
    )


def test_an_unknown_option_is_named_whatever_its_value():
    for value in (None, True, "yes", {}):
        with pytest.raises(netnum.MethodError, match='has no option "zebra"'):
            netnum.solve(problem(), zebra=value)


def test_a_price_of_0_is_written_as_0():
    class Convex:
        def value(self, rates):
            return rates**2

        def marginal(self, rates):
            return 2 * rates

    with pytest.raises(netnum.UtilityError) as caught:
        netnum.certify(netnum.Problem([10.0], [[0]], Convex()), [1.0], [0.0])
    start = "the utility of flow 0 is broken: its demand at price 0 is 1e1, but its marginal there rises from "
    assert str(caught.value).startswith(start)
