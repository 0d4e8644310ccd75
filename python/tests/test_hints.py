"""What is answered where a name does not exist."""

import copy
import inspect
import pickle
import re
import warnings

import numpy as np
import pytest

import netnum
from netnum import _arguments, _hints, sim

MODULES = {module.__name__: module for module in (netnum, netnum.topology, netnum.demands, sim)}
KINDS = MODULES | {
    name: getattr(netnum, name, None) or getattr(sim, name) for name in _hints.ATTRIBUTES if name not in MODULES
}


def problem():
    return netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))


#: What an object has only where it was asked for.
MAY_BE_ABSENT = {"timeline"}


@pytest.mark.parametrize("kind", _hints.ATTRIBUTES)
def test_a_hint_is_for_a_name_that_does_not_exist_and_names_what_does(kind):
    known = KINDS[kind]
    names = set(dir(known)) | set(getattr(known, "__dataclass_fields__", ()))
    for name, meant in _hints.ATTRIBUTES[kind].items():
        assert name not in names - MAY_BE_ABSENT, name
        for word in re.findall(r"`([a-z_]+)", meant):
            assert word in names | {"problem", "paths", "len", "list"}, (name, word)
        for path in re.findall(r"netnum(?:\.\w+)+", meant):
            place = netnum
            for part in path.split(".")[1:]:
                place = getattr(place, part)


@pytest.mark.parametrize(
    ("get", "message"),
    [
        (
            lambda: netnum.Network,
            "module 'netnum' has no attribute 'Network': networks are made by netnum.topology: from_edges(edges), "
            "each both ways unless directed=True, from_networkx(graph), leaf_spine(racks, servers_per_rack), ...",
        ),
        (lambda: netnum.fat_tree, "module 'netnum' has no attribute 'fat_tree': it is netnum.topology.fat_tree"),
        (lambda: netnum.slove, "module 'netnum' has no attribute 'slove': did you mean 'solve'?"),
        (
            lambda: netnum.guarantees,
            "module 'netnum' has no attribute 'guarantees': guaranteed rates are flow_floor= of netnum.Problem",
        ),
        (
            lambda: netnum.explain_infeasible,
            "module 'netnum' has no attribute 'explain_infeasible': netnum.solve(problem).infeasibility says why "
            "floors do not fit; without floors some rates always do",
        ),
        (lambda: netnum.zebra, "module 'netnum' has no attribute 'zebra'"),
        (
            lambda: netnum.solve(problem()).x,
            "'Solution' object has no attribute 'x': the rates are `rates` (of paths) and `flow_rates`",
        ),
        (lambda: netnum.solve(problem()).rtes, "'Solution' object has no attribute 'rtes': did you mean 'rates'?"),
        (lambda: problem().zebra, "'Problem' object has no attribute 'zebra'"),
        (
            lambda: netnum.solve(problem()).few_paths,
            "'Solution' object has no attribute 'few_paths': netnum.solve(problem, few_paths=True), or max_paths=k, is "
            "a solve of its own, and its `paths` are few",
        ),
        (
            lambda: netnum.solve(problem()).dual_objective,
            "'Solution' object has no attribute 'dual_objective': `gap` is the proven distance from it, relative to "
            "the gain of doubling every rate",
        ),
        (
            lambda: netnum.solve(problem()).sensitivity().jacobian,
            "'Sensitivity' object has no attribute 'jacobian': derivatives of rates in capacities are the matrix "
            "`d_rates_d_capacity`; `vjp` and `jvp` have all others",
        ),
        (
            lambda: problem().fail_link(0),
            "'Problem' object has no attribute 'fail_link': `with_capacities({(a, b): 0.0})` fails a link, "
            "netnum.failure_study(problem) each edge in turn",
        ),
        (
            lambda: netnum.demands.gravity(netnum.topology.backbone("b4"), total=1.0).demand,
            "'Demands' object has no attribute 'demand': they are `volumes`",
        ),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_the_right_one(get, message):
    with pytest.raises(AttributeError) as caught:
        get()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "what", "table"),
    [
        (len, "has no length", _hints.CONTENTS),
        (lambda thing: "Seattle" in thing, "is no collection that has 'Seattle'", _hints.CONTENTS),
        (lambda thing: 2 * thing, "is no number", _hints.MULTIPLES),
        (lambda thing: thing * 2.0, "is no number", _hints.MULTIPLES),
        (lambda thing: thing / 2.0, "is no number", _hints.MULTIPLES),
    ],
)
def test_what_is_neither_a_collection_nor_a_number_names_what_is(call, what, table):
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=1.0)
    things = (net, demands, problem(), netnum.solve(problem()))
    things = {type(thing).__name__: thing for thing in things if type(thing).__name__ in table}
    assert set(things) == set(table)
    for kind, thing in things.items():
        assert thing
        with pytest.raises(TypeError) as caught:
            call(thing)
        assert str(caught.value) == f"{kind!r} object {what}: {table[kind]}"
        for name in re.findall(r"`([a-z_]+)", table[kind]):
            assert hasattr(thing, name), (kind, name)


def test_a_table_has_a_solution_in_every_row_as_it_has_a_number():
    pandas = pytest.importorskip("pandas")
    solution = netnum.solve(problem())
    assert pandas.DataFrame({"load": [0.1, 0.2], "solution": solution})["solution"].tolist() == [solution] * 2


def test_what_is_no_array_names_its_arrays():
    net = netnum.topology.backbone("abilene")
    limited = problem().with_flow_caps(1.0)
    things = [
        *(net, limited, netnum.solve(limited), netnum.solve_many(limited, flow_caps=[[1.0, 1.0]])),
        *(netnum.concurrent_flow(limited), netnum.demands.gravity(net, total=1.0)),
    ]
    assert {type(thing).__name__ for thing in things} == set(_hints.ARRAYS)
    for thing in things:
        kind = type(thing).__name__
        with pytest.raises(TypeError) as caught:
            np.asarray(thing)
        assert str(caught.value) == f"{kind!r} object is no array: {_hints.ARRAYS[kind]}"
        for name in re.findall(r"`([a-z_]+)", _hints.ARRAYS[kind]):
            assert hasattr(thing, name), (kind, name)


def test_objects_are_copied_and_pickled_all_the_same():
    one = problem()
    assert pickle.loads(pickle.dumps(one)).to_json() == copy.copy(one).to_json() == one.to_json()
    assert not hasattr(one, "tocsc")


def called():
    """Every public function, class and method that can be called with keywords, by its name in messages."""
    for module in (netnum, netnum.topology, netnum.demands, sim):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isroutine(thing):
                yield name, thing
            elif isinstance(thing, type) and not issubclass(thing, Exception):
                yield name, thing
                for method in vars(thing):
                    if not method.startswith("_") and inspect.isroutine(getattr(thing, method)):
                        yield f"{name}.{method}", getattr(thing, method)


CALLED = dict(called())
# Records that the library makes, and what has options by name, which the registries know.
RECORDS = {"Certificate", "MaxMinRates", "Progress", "Sensitivity", "Trace", "UpdateTraffic"}
OPEN = {"solve", "solve_many", "Solver", "Allocator", "Policy", "Routing", "failure_study", "upgrade_study", "sweep"}
MADE_BY_CALLS = {"Flows", "Network", "Report", "Solution", "Solutions", "Utility"}


@pytest.mark.parametrize("name", [name for name in CALLED if name not in RECORDS | OPEN | MADE_BY_CALLS])
def test_a_keyword_that_a_function_lacks_is_answered(name):
    function = CALLED[name]
    names = _arguments.parameters(function)
    if "." in name and names:
        assert hasattr(function, "__wrapped__")
    elif names:
        parameters = inspect.signature(function).parameters.values()
        given = [None for parameter in parameters if parameter.default is parameter.empty]
        with pytest.raises(TypeError, match=re.escape(f"{name} has no 'zebra': ")):
            function(*given, zebra=1)


def test_signatures_stay_what_they_are():
    assert str(inspect.signature(netnum.topology.star)) == "(servers, capacity=10000000000.0)"
    assert str(inspect.signature(netnum.certify)) == "(problem, rates, prices)"
    assert list(inspect.signature(netnum.Problem).parameters)[-1] == "cheapest_paths"
    assert "unknown" not in str(inspect.signature(netnum.Topology))


@pytest.mark.parametrize("name", sorted(name for name in CALLED if "." not in name))
def test_functions_and_classes_are_pickled_by_name(name):
    assert pickle.loads(pickle.dumps(CALLED[name])) is CALLED[name]


def test_a_hint_about_a_keyword_is_for_one_that_a_function_lacks_and_names_what_does():
    for function, hints in _hints.KEYWORDS.items():
        known = set(inspect.signature(CALLED[function]).parameters)
        for name, meant in hints.items():
            assert name not in known, (function, name)
            for path in re.findall(r"netnum(?:\.\w+)+", meant):
                place = netnum
                for part in path.split(".")[1:]:
                    place = getattr(place, part)


def test_a_synonym_is_no_name_of_the_function_that_it_is_for():
    names = {name for function in CALLED.values() for name in _arguments.parameters(function)}
    assert set(_hints.SYNONYMS) - {"warmup"} <= names
    for parameter, others in _hints.SYNONYMS.items():
        assert len(set(others)) == len(others), parameter
        assert parameter not in others


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: netnum.AlphaFair(weights=[1.0]), "AlphaFair has no 'weights': `weight=`"),
        (lambda: netnum.Linear(wieght=1.0), "Linear has no 'wieght': did you mean 'weight'?"),
        (
            lambda: netnum.Problem([1.0], [[0]], weights=[1.0]),
            "Problem has no 'weights': weights are the utility's: utility=netnum.AlphaFair(weight=...)",
        ),
        (
            lambda: netnum.Problem([1.0], [[0]], demands=[1.0]),
            "Problem has no 'demands': demands come second, netnum.Problem(net, demands) for all paths of the network; "
            "beside paths they are flow_cap=",
        ),
        (lambda: netnum.Problem([1.0], [[0]], caps=[1.0]), "Problem has no 'caps': `rate_cap=` or `flow_cap=`"),
        (lambda: netnum.certify(problem(), [1.0], duals=[1.0]), "certify has no 'duals': `prices=`"),
        (lambda: netnum.Solver(problem(), tol=1e-9), "Solver has no 'tol': its `solve` takes it"),
        (lambda: netnum.Solver(problem()).solve(maxiter=3), "Solver.solve has no 'maxiter': `max_iterations=`"),
        (
            lambda: netnum.topology.star(3).paths([(0, 1)], k=2),
            "Topology.paths has no 'k': these are all shortest paths, and `net.k_shortest_paths(pairs, k)` up to k for "
            "each pair",
        ),
        (
            lambda: netnum.topology.star(3).ecmp([(0, 1)], split=True),
            "Topology.ecmp has no 'split': `net.ecmp_split(pairs)` splits every flow evenly over its shortest paths",
        ),
        (
            lambda: netnum.Problem([1.0], [[0]], coefficients=[[0.5]]),
            "Problem has no 'coefficients': the paths have them, as entries of a SciPy routing matrix of shape (links, "
            "paths), or netnum.Paths(..., coefficients=...)",
        ),
        (
            lambda: netnum.concurrent_flow(problem(), demands=[1.0]),
            "concurrent_flow has no 'demands': demands are the problem's flow_cap: "
            "concurrent_flow(netnum.Problem(net, demands)) of volumes by pair, "
            "concurrent_flow(problem.with_flow_caps(demands)) of one per flow",
        ),
        (
            lambda: netnum.min_utilization(problem(), tol=1e-9),
            "min_utilization has no 'tol': the answer is exact, by one method, and takes no settings of solve",
        ),
        (
            lambda: sim.simulate(netnum.topology.star(3), None, sizes=[1.0]),
            "simulate has no 'sizes': the workload has them: netnum.sim.Workload(arrivals, sources, destinations, "
            "sizes, net=net), or Workload.poisson(net, sizes, load=...)",
        ),
        (lambda: netnum.topology.star(3, zebra=1), "star has no 'zebra': it takes servers, capacity"),
        (
            lambda: netnum.topology.leaf_spine(2, 2, 2, oversubscription=2.0),
            "leaf_spine has no 'oversubscription': `fabric_capacity=` is that of a link to a spine, servers_per_rack * "
            "server_capacity / (spines * oversubscription)",
        ),
        (
            lambda: netnum.certify(netnum.solve(problem())),
            "certify needs `rates`, array of float, shape (paths,): the call is certify(problem, rates, prices) "
            "(solution.certificate is that of a solution, and certify(solution.problem, solution.rates, "
            "solution.prices) computes it again)",
        ),
        (
            lambda: netnum.topology.leaf_spine(2, 2, 2, capacity=1.0),
            "leaf_spine has no 'capacity': `server_capacity=` or `fabric_capacity=`",
        ),
        (
            lambda: netnum.demands.gravity(netnum.topology.backbone("b4"), 1.0, random_state=3),
            "gravity has no 'random_state': `seed=`",
        ),
    ],
)
def test_the_answer_has_the_right_keyword(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


def test_the_square_root_is_a_number_for_a_utility():
    with pytest.raises(netnum.UtilityError, match=r"flow 1: .*: the square root is utility=0\.5, up to a factor of 2"):
        netnum.Problem([1.0], [[0], [0]], ["proportional", "sqrt"])


def test_an_option_that_is_an_argument_under_another_name_is_answered():
    of_paths = (
        "`max_paths=` is the most paths of a flow, of a problem of pairs; "
        "netnum.Problem(net, net.k_shortest_paths(demands, k)) has k paths for each pair"
    )
    answers = [
        ({"verbose": True}, "`progress=True` shows a bar"),
        ({"eps": 1.0}, "`tol=`"),
        ({"k": 3}, of_paths),
        ({"paths": 3}, of_paths),
        ({"device": "cuda"}, "it computes on the processor, on several cores by `threads=`"),
    ]
    for keywords, meant in answers:
        with pytest.raises(netnum.MethodError) as caught:
            netnum.solve(problem(), **keywords)
        assert str(caught.value) == f"solve has no '{next(iter(keywords))}': {meant}"


def test_an_error_of_a_users_code_about_its_own_keywords_is_raised_unchanged():
    def solve():
        pass

    with pytest.raises(TypeError, match=re.escape("solve() got an unexpected keyword argument 'progress'")):
        netnum.solve(problem(), callback=lambda _: solve(progress=1))


def test_a_warning_is_about_the_line_that_calls():
    net = netnum.topology.star(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.Workload.poisson(net, sim.Sizes.fixed(1e6), load=1.5, flows=3)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_hint_names_a_value_of_the_same_meaning():
    hints = _hints.ATTRIBUTES["MulticommodityFlow"]
    for name in ("value", "objective", "theta"):
        assert "`fraction` of netnum.concurrent_flow" in hints[name]
        assert "`utilization` of netnum.min_utilization" in hints[name]
    assert hints["mlu"] == "it is `utilization`"
    # It is what was asked, and the gap is what was found.
    assert "tolerance" not in _hints.ATTRIBUTES["Solution"]
