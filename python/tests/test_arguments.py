"""What is answered where arguments are missing, too many or of another type, and where objects cannot be changed."""

import inspect
import pickle
import re
import sys

import numpy as np
import pytest
from test_hints import CALLED, MADE_BY_CALLS, RECORDS

import netnum
from netnum import _arguments, _hints, sim

NET = netnum.topology.from_edges("a b 10\nb c 5\na c 2")
PATHS = NET.ecmp([("a", "c"), ("b", "c")])
PROBLEM = netnum.Problem(NET, PATHS)
WORKLOAD = sim.Workload([0.0], [0], [1], [1e6])
SELF = {"Topology": NET, "Problem": PROBLEM, "Workload": WORKLOAD, "Paths": PATHS}


def needed(function):
    """The parameters without a default, and whether the first is the object of a method."""
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [one.name for one in parameters if one.default is one.empty and one.kind not in kinds]
    return [name for name in names if name != "self"], names[:1] == ["self"]


NEEDING = {
    name: function
    for name, function in CALLED.items()
    if needed(function)[0] and name.split(".")[0] not in RECORDS | (MADE_BY_CALLS - {"Solution"})
}


@pytest.mark.parametrize("name", [name for name in NEEDING if name.split(".")[0] in SELF or "." not in name])
def test_an_argument_that_is_missing_is_named_with_what_it_is(name):
    function = NEEDING[name]
    names, is_method = needed(function)
    given = [SELF[name.split(".")[0]]] if is_method else []
    with pytest.raises(TypeError) as caught:
        function(*given)
    expected = rf"{re.escape(name)} needs `{names[0]}`(, .+)?: the call is {re.escape(name)}\("
    assert re.match(expected, str(caught.value)), str(caught.value)


RESULTS = {"FailureStudy", "MulticommodityFlow", "UpgradeStudy", "Sweep"}


@pytest.mark.parametrize("name", [name for name in NEEDING if "." not in name and name not in RESULTS])
def test_a_parameter_without_a_default_is_described(name):
    for parameter in needed(NEEDING[name])[0]:
        assert _arguments.described(NEEDING[name], parameter), parameter


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: netnum.Topology([("a", "b", 1.0)]),
            "Topology needs `links`, array of int, shape (links, 2): the call is Topology(node_names, links, "
            "capacities) (netnum.topology has from_edges(edges), from_networkx(graph), from_pandas(frame), from_ma",
        ),
        (
            lambda: netnum.Problem(NET),
            "Problem needs `paths`, sequence of sequences of int, or Paths, or SciPy sparse matrix of shape (links, "
            "paths), or pairs or demands: the call is Problem(network, paths) (net.k_shortest_paths(pairs, k) and ",
        ),
        (lambda: netnum.MinFct(), "MinFct needs `size`, float or array of float, shape (flows,): the call is MinFct("),
        (lambda: netnum.Demands([0]), "Demands needs `destinations`, array of int: the call is Demands(sources, "),
        (lambda: netnum.demands.gravity(NET), "gravity needs `total`, float: the call is gravity(net, total)"),
        (lambda: sim.Policy(), "Policy needs `name`, str: the call is Policy(name)"),
        (
            lambda: netnum.solve(NET, [("a", "c")], "proportional"),
            "solve has too many positional arguments: the call is solve(problem, method, tol=, stop=, ",
        ),
        (
            lambda: netnum.demands.from_matrix(np.ones((3, 3)), NET),
            "net must be a Topology, not ndarray: the call is from_matrix(net, matrix)",
        ),
        (lambda: netnum.demands.from_pandas({}, NET), "net must be a Topology, not dict: the call is from_pandas(net"),
        (
            lambda: sim.Workload(["a"], ["c"], [1e6], [0.0]),
            "arrivals has names of ends, expected seconds: the call is Workload(arrivals, sources, destinations, sizes",
        ),
        (
            lambda: netnum.Problem(NET, "proportional"),
            'paths is the text "proportional", expected paths: net.ecmp(pairs) and net.k_shortest_paths(pairs, k) make',
        ),
        (
            lambda: netnum.max_min(PROBLEM, PATHS),
            "max_min has paths and a Problem, which has its own",
        ),
        (lambda: netnum.max_min(NET), "problem must be a Problem, or a network with paths, not Topology"),
    ],
)
def test_the_answer_says_how_the_call_goes(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message), str(caught.value)


MUST = "network must be a Topology, or an array of capacities, not "


@pytest.mark.parametrize("made", [netnum.Problem, lambda network, paths: netnum.Allocator(network)])
@pytest.mark.parametrize(
    ("network", "message"),
    [
        ([("a", "b", 1.0)], "list: netnum.topology.from_edges(edges) makes a network of (source, target, capacity)"),
        ({("a", "b"): 1.0}, "dict: netnum.topology.from_edges(edges) makes a network of (source, target, capacity)"),
        (
            np.eye(2),
            "ndarray: capacities come first, and a routing matrix second: "
            "Problem(capacities, scipy.sparse.csc_array(matrix))",
        ),
        (PROBLEM, "Problem: its network is problem.network"),
    ],
)
def test_what_stands_in_the_place_of_a_network_is_named_with_what_makes_one(made, network, message):
    with pytest.raises(TypeError) as caught:
        made(network, [[0]])
    assert str(caught.value) == MUST + message


def test_a_frame_in_the_place_of_a_network_is_its_edges():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": ["a"], "target": ["b"], "capacity": [1.0]})
    with pytest.raises(TypeError, match=re.escape(f"{MUST}DataFrame: netnum.topology.from_pandas(frame) makes")):
        netnum.Problem(frame, [[0]])


def test_a_sparse_matrix_in_the_place_of_a_network_comes_second():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=re.escape(f"{MUST}csc_array: capacities come first")):
        netnum.Problem(sparse.csc_array(np.eye(2)), [1.0, 1.0])


@pytest.mark.parametrize("study", [netnum.failure_study, netnum.upgrade_study])
@pytest.mark.parametrize("given", [NET, [1.0]])
def test_a_study_of_what_is_no_problem_says_what_makes_one(study, given):
    name = study.__name__
    with pytest.raises(TypeError) as caught:
        study(given)
    assert str(caught.value) == (
        f"{name}: `problem` must be a Problem, not a {type(given).__name__}: the call is {name}(problem) "
        "(netnum.Problem(network, paths, utility) makes a problem)"
    )


def test_one_capacity_per_edge_is_refused_with_what_makes_one_per_link():
    message = (
        "capacities has 3 entries, expected 6, one per link: every edge is two links, one each way, "
        "np.repeat(capacities, 2)"
    )
    for has_links in (NET, PROBLEM):
        with pytest.raises(netnum.ProblemError) as caught:
            has_links.with_capacities([9.0, 4.0, 1.0])
        assert str(caught.value) == message
        assert has_links.with_capacities(np.repeat([9.0, 4.0, 1.0], 2)).capacities.tolist() == [9, 9, 4, 4, 1, 1]
    one_way = netnum.topology.from_edges({("a", "b"): 1.0, ("b", "c"): 1.0}, directed=True)
    with pytest.raises(netnum.ProblemError, match=r"^capacities has 1 entries, expected 2, one per link$"):
        one_way.with_capacities([1.0])


@pytest.mark.parametrize("function", [np.log, lambda rates: rates])
def test_a_function_is_no_utility_and_the_answer_says_what_is(function):
    with pytest.raises(TypeError, match=re.escape('the logarithm is "proportional", and a utility of your own is an')):
        netnum.Problem(NET, PATHS, function)


@pytest.mark.parametrize("demand", [("a", "c", 4.0), ("a", "c", 4)])
def test_a_pair_with_a_volume_is_a_dict(demand):
    message = f"path 0 is {demand!r}, a pair and a volume: demands are a dict of volumes by pair"
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        netnum.Problem(NET, [demand])


def test_a_table_of_demands_with_other_names_says_which_call_takes_them():
    table = {"source": ["a"], "target": ["c"], "demand": [1.0]}
    pandas = pytest.importorskip("pandas")
    message = "netnum.demands.from_pandas(net, frame, source=..., ...) takes other names; its columns: source, target"
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        netnum.Problem(NET, pandas.DataFrame(table))
    with pytest.raises(netnum.ProblemError, match=re.escape("give its name as destination=; its columns")):
        netnum.demands.from_pandas(NET, table)


@pytest.mark.parametrize("several", [[PROBLEM, PROBLEM], (PROBLEM,)])
def test_several_problems_are_for_solve_many(several):
    with pytest.raises(TypeError, match=r"must be a Problem, not a (list|tuple): netnum.solve_many\(problems\) takes"):
        netnum.solve(several)


def test_paths_by_name_are_a_list():
    by_name = {"one": ["a", "b", "c"], "other": ["a", "b"]}
    message = "paths is a dict of paths, and flows have numbers and no names: list(dict.values()) has them in the order"
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        netnum.Problem(NET, by_name)
    assert netnum.Problem(NET, list(by_name.values())).flows == 2
    message = "[path for paths in dict.values() for path in paths] is a list of all, with the flow of each as group="
    with pytest.raises(netnum.ProblemError, match=re.escape(message)):
        netnum.Problem(NET, {("a", "c"): [["a", "c"], ["a", "b", "c"]]})


def test_a_stack_of_matrices_of_demands_is_for_solve_many():
    with pytest.raises(netnum.ProblemError, match=re.escape("netnum.solve_many(problem, flow_caps=...) takes many")):
        NET.k_shortest_paths(np.ones((4, 3, 3)), 2)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("flow_cap", "np.inf stands for no limit, not None"),
        ("rate_cap", "np.inf stands for no limit, not None"),
        ("flow_floor", "0 stands for no floor, not None"),
    ],
)
def test_none_among_numbers_is_answered_with_the_number_that_it_means(name, instead):
    with pytest.raises(TypeError) as caught:
        netnum.Problem(NET, PATHS, **{name: [1.0, None]})
    assert str(caught.value) == f"{name} must be an array of numbers, not of dtype object: {instead}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sim.simulate(WORKLOAD, NET),
            "simulate: `net` must be a Topology, not a Workload: the call is simulate(net, workload) (netnum.sim.Work",
        ),
        (
            lambda: netnum.solve(NET),
            "solve: `problem` must be a Problem, not a Topology: the call is solve(problem) (ne",
        ),
        (lambda: netnum.topology.star(3, "wide"), "star: `capacity` must be real number, not str"),
    ],
)
def test_an_argument_of_another_type_is_named(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message), str(caught.value)


@pytest.mark.parametrize("label", _hints.CALLS)
def test_a_hint_about_a_call_names_what_exists(label):
    assert label in CALLED
    for path in re.findall(r"netnum(?:\.\w+)+", _hints.CALLS[label]):
        place = netnum
        for part in path.split(".")[1:]:
            place = getattr(place, part)


def test_max_min_takes_a_network_with_paths():
    weighted = netnum.Problem(NET, PATHS, netnum.AlphaFair(3.0))
    np.testing.assert_array_equal(netnum.max_min(NET, PATHS).rates, netnum.max_min(weighted).rates)
    np.testing.assert_array_equal(netnum.max_min(NET.capacities, paths=PATHS).rates, netnum.max_min(weighted).rates)


def test_an_error_about_arguments_in_code_of_a_user_is_raised_unchanged():
    def monitor(progress, more):
        """Needs more than it gets."""

    with pytest.raises(TypeError, match=r"monitor\(\) missing 1 required positional argument: 'more'"):
        netnum.solve(PROBLEM, callback=monitor)


# --- objects that cannot be changed ---


@pytest.mark.parametrize("kind", _hints.CHANGES)
def test_an_attribute_that_is_set_is_answered_with_the_method_that_changes_it(kind):
    owner = SELF[kind]
    for name, method in _hints.CHANGES[kind].items():
        before = getattr(owner, name)
        with pytest.raises(AttributeError) as caught:
            setattr(owner, name, 1.0)
        message = f"attribute {name!r} of {kind!r} objects cannot be set: `{method}` makes another {kind} with others"
        assert str(caught.value) == message
        called = getattr(owner, method.split("(")[0])
        assert list(inspect.signature(called).parameters) == re.findall(r"\w+", method)[1:]
        assert getattr(owner, name) is before or np.all(getattr(owner, name) == before)


def test_other_attributes_cannot_be_set_either():
    solution = netnum.solve(PROBLEM)
    with pytest.raises(AttributeError, match=r"attribute 'rates' of 'Solution' objects cannot be set$"):
        solution.rates = 1.0
    with pytest.raises(
        AttributeError, match="'Problem' object has no attribute 'capacites': did you mean 'capacities'"
    ):
        PROBLEM.capacites = [1.0]

    class Sqrt(netnum.Utility):
        """A class of a user may have attributes."""

    with pytest.raises(AttributeError, match="cannot be set"):
        PROBLEM.paths = PATHS
    assert not hasattr(Sqrt, "__setattr__") or Sqrt.__setattr__ is object.__setattr__


@pytest.mark.parametrize(
    ("get", "message"),
    [
        (lambda: netnum.solve(PROBLEM)["a", "c"], "'Solution' object has no entry ('a', 'c'): `rate(a, b)`, `price("),
        (lambda: NET["a"]["b"], "'Topology' object has no entry 'a': `link(a, b)` is the number of the link from a to"),
        (
            lambda: netnum.solve(PROBLEM).sensitivity()[0],
            "'Sensitivity' object has no entry 0: `gains(link)` is a table of the flows, and `d_rates_d_capacity[flow",
        ),
        (
            lambda: netnum.solve(PROBLEM, warm_start=True),
            "warm_start must be a Solution, or an array of prices, one per link, not bool",
        ),
        (
            lambda: netnum.solve(PROBLEM, warm_start="last"),
            "warm_start must be a Solution, or an array of prices, one per link, not s",
        ),
        (
            lambda: netnum.solve(PROBLEM, warm_start=PROBLEM),
            "warm_start must be a Solution, or an array of prices, one per link, not Problem",
        ),
        (
            lambda: netnum.Solver(PROBLEM, warm_start={}),
            "warm_start must be a Solution, or an array of prices, one per link, not dict",
        ),
        (
            lambda: NET.without("a", "b"),
            "Topology.without has too many positional arguments: the call is Topology.without(links) (links are a list,"
            " in which a pair of nodes is the edge that joins them: [(a, b)])",
        ),
        (lambda: PROBLEM[0], "'Problem' object has no entry 0: `capacities`, `paths` and `utility` are what it has"),
        (lambda: iter(NET), "'netnum.Topology' object is not iterable"),
        (lambda: list(PROBLEM), "'netnum.Problem' object is not iterable"),
    ],
)
def test_an_entry_that_an_object_does_not_have_is_answered(get, message):
    with pytest.raises(TypeError) as caught:
        get()
    assert str(caught.value).startswith(message), str(caught.value)


# --- asking for what an object lacks ---


def test_asking_for_attributes_makes_no_text(monkeypatch):
    def meant(*_):
        raise AssertionError("the text of an error that nobody reads is made")

    solution = netnum.solve(PROBLEM)
    monkeypatch.setattr(_hints, "_meant", meant)
    assert not any(hasattr(thing, name) for thing in (NET, PROBLEM, solution, netnum) for name in ("tocsc", "nodez"))
    assert getattr(solution, "value", 3) == 3
    with pytest.raises(
        TypeError, match="'Solution' object is no array: `rates` \\(of paths\\), `flow_rates`, `prices` and"
    ):
        np.asarray(solution)


def test_an_error_about_an_attribute_is_an_attribute_error_that_pickles():
    with pytest.raises(AttributeError) as caught:
        NET.nodes  # noqa: B018
    assert repr(type(caught.value)) == "<class 'AttributeError'>"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (AttributeError, str(caught.value))
