"""Any input gives a valid object or an error that names what is wrong. Inputs are drawn by Hypothesis.

NETNUM_FUZZ_EXAMPLES is the number of inputs of each test; with NETNUM_FUZZ_ANEW they differ in every run, as in
`make fuzz`.
"""

import json
import math
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import netnum
from netnum import sim

EXAMPLES = int(os.environ.get("NETNUM_FUZZ_EXAMPLES", "60"))
settings.register_profile(
    "netnum",
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    # The same inputs in every run, so that a change is judged by what it changed.
    derandomize="NETNUM_FUZZ_ANEW" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("netnum")

#: What an input that cannot be used may raise.
REFUSED = (netnum.NumError, TypeError, OverflowError, MemoryError)
ROUNDING = 1e-9

numbers = st.one_of(
    st.floats(allow_subnormal=True),
    st.floats(min_value=1e-3, max_value=1e3),
    st.integers(min_value=-3, max_value=10),
    st.sampled_from([0.0, -0.0, 1e-300, 1e300, 5e-324, math.inf, math.nan, 2**63, -(2**63), 2**64]),
)
positive = st.floats(min_value=1e-6, max_value=1e6)
odd = st.one_of(numbers, st.booleans(), st.none(), st.text(max_size=3), st.lists(numbers, max_size=4), st.just(1j))
parameters = st.one_of(odd, positive, st.lists(positive, min_size=1, max_size=4))


@st.composite
def arrays(draw, values=positive, size=None):
    """An array as NumPy users have them: of another type or byte order, with gaps, misaligned, read-only, or a list."""
    count = draw(st.integers(1, 6)) if size is None else size
    data = np.array(draw(st.lists(values, min_size=count, max_size=count)))
    form = draw(
        st.sampled_from(["plain", "float32", "big-endian", "gaps", "backwards", "misaligned", "read-only", "list"])
    )
    match form:
        case "float32":
            return data.astype(np.float32)
        case "big-endian":
            return data.astype(data.dtype.newbyteorder(">"))
        case "gaps":
            return np.repeat(data, 3)[::3]
        case "backwards":
            return data[::-1].copy()[::-1]
        case "misaligned" if data.dtype != object:
            return np.frombuffer(b"x" + data.tobytes(), data.dtype, offset=1)
        case "read-only":
            data.flags.writeable = False
            return data
        case "list":
            return data.tolist()
    return data


def made(make, *arguments, **named):
    """The object, or None where the input is refused with words."""
    try:
        return make(*arguments, **named)
    except REFUSED as error:
        assert str(error) or isinstance(error, MemoryError)
        return None


def assert_feasible(problem, rates):
    assert np.all(np.isfinite(rates))
    assert np.all(rates >= 0)
    assert np.all(problem.loads(rates) <= problem.capacities * (1 + ROUNDING))
    for caps, capped in [(problem.rate_cap, rates), (problem.flow_cap, problem.flow_rates(rates))]:
        assert caps is None or np.all(capped <= caps * (1 + ROUNDING))


# --- utilities ---


@given(
    st.one_of(
        st.tuples(st.just(netnum.AlphaFair), parameters, parameters),
        st.tuples(st.just(netnum.Linear), parameters),
        st.tuples(st.just(netnum.MinFct), parameters, parameters),
        st.tuples(
            st.just(netnum.BandwidthFunction),
            st.one_of(parameters, st.lists(numbers, max_size=5).map(sorted)),
            st.one_of(parameters, st.lists(numbers, max_size=5).map(sorted)),
            parameters,
            parameters,
        ),
    )
)
def test_utilities_of_any_parameters(call):
    family, *arguments = call
    utility = made(family, *arguments)
    if utility is None:
        return
    assert repr(utility)
    assert pickle.loads(pickle.dumps(utility)) == utility
    for name in ("value", "marginal", "demand", "demand_slope"):
        made(getattr(utility, name), 1.5)
        made(getattr(utility, name), [0.0, 1e-300, 1e300])


# --- problems ---


@st.composite
def problems(draw, any_numbers=False):
    """The arguments of a problem, most of them right."""
    links, flows = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    value = numbers if any_numbers else positive
    link = st.integers(-1, links) if any_numbers else st.integers(0, links - 1)
    capacities = draw(arrays(value, links))
    paths = draw(
        st.lists(st.lists(link, min_size=0 if any_numbers else 1, max_size=3, unique=True), min_size=flows, max_size=8)
    )
    group = [*range(flows), *draw(st.lists(st.integers(0, flows - 1), min_size=8, max_size=8))][: len(paths)]
    family = draw(st.sampled_from(["alpha-fair", "linear", "max-min", "curve", "mixed"]))
    curve = netnum.BandwidthFunction([0, 1, 2, 4], [0, 2, 2, 5], alpha=draw(st.sampled_from([1, 5, math.inf])))
    utilities = {
        "alpha-fair": lambda: netnum.AlphaFair(draw(st.sampled_from([0.5, 1, 2, 8])), draw(arrays(positive, flows))),
        "linear": lambda: netnum.Linear(draw(arrays(positive, flows))),
        "max-min": lambda: netnum.AlphaFair(math.inf, draw(arrays(positive, flows))),
        "curve": lambda: curve,
        "mixed": lambda: [draw(st.sampled_from([netnum.AlphaFair(1), netnum.Linear(2)])) for _ in range(flows)],
    }
    cap = draw(st.one_of(st.none(), arrays(value, len(paths))))
    flow_cap = draw(st.one_of(st.none(), arrays(value, flows)))
    return (capacities, paths, utilities[family]()), {"group": group, "rate_cap": cap, "flow_cap": flow_cap}


@given(st.one_of(problems(), problems(any_numbers=True)))
def test_problems_of_any_arrays(call):
    arguments, named = call
    problem = made(netnum.Problem, *arguments, **named)
    if problem is None:
        return
    solution = made(netnum.solve, problem, max_iterations=50, time_limit=0.5)
    if solution is None:
        return
    assert_feasible(problem, solution.rates)
    again = pickle.loads(pickle.dumps(problem))
    assert again.capacities.tobytes() == problem.capacities.tobytes()
    assert list(map(list, again.paths)) == list(map(list, problem.paths))
    assert problem.to_json() == netnum.Problem.from_json(problem.to_json()).to_json()


@given(
    problems(), st.sampled_from(sorted(netnum.methods())), parameters, st.sampled_from(["gap", "kkt", "x"]), parameters
)
def test_solve_with_any_settings(call, method, tol, stop, time_limit):
    arguments, named = call
    problem = netnum.Problem(*arguments, **named)
    solution = made(netnum.solve, problem, method, tol=tol, stop=stop, time_limit=time_limit, max_iterations=30)
    if solution is None:
        return
    assert_feasible(problem, solution.rates)
    assert_feasible(problem, pickle.loads(pickle.dumps(solution)).rates)


json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
FIELDS = [
    "capacity",
    "paths",
    "group",
    "cap",
    "flow_cap",
    "utility",
    "kind",
    "weight",
    "alpha",
    "breakpoints",
    "tail_slope",
]


@given(problems(), st.lists(st.tuples(st.sampled_from(FIELDS), json_values), max_size=3), st.integers(0, 400))
def test_problems_of_any_text(call, changes, cut):
    arguments, named = call
    fields = json.loads(netnum.Problem(*arguments, **named).to_json())
    for name, value in changes:
        utility = fields["utility"]
        (utility if name not in fields and isinstance(utility, dict) else fields)[name] = value
    problem = made(netnum.Problem.from_json, json.dumps(fields))
    made(netnum.Problem.from_json, json.dumps(fields)[:cut])
    if problem is None:
        return
    assert netnum.Problem.from_json(problem.to_json()).to_json() == problem.to_json()


# --- networks ---


@given(
    st.lists(st.text(max_size=3), min_size=2, max_size=6, unique=True),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8),
    st.lists(st.one_of(positive, numbers), min_size=8, max_size=8),
    st.one_of(st.none(), st.integers(-1, 7)),
    st.integers(-1, 2**64),
)
def test_topologies_of_any_arguments(names, links, capacities, ends, seed):
    net = made(netnum.topology.Topology, names, links, capacities[: len(links)], ends=ends)
    if net is None:
        return
    assert pickle.loads(pickle.dumps(net)) == net
    paths = made(net.ecmp, list(range(net.ends)), list(reversed(range(net.ends))), seed)
    if paths is not None:
        made(netnum.Problem, net, paths, netnum.AlphaFair(1))


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "é", "4"]), min_size=2, max_size=5, unique=True),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12),
    st.lists(st.one_of(st.just(0.0), positive), min_size=12, max_size=12),
    st.one_of(st.none(), parameters),
    st.integers(-1, 6),
    st.one_of(st.none(), numbers),
    st.booleans(),
    st.lists(st.one_of(st.integers(-2, 12), st.sampled_from(["a", "b", "ab", "x", "é"])), max_size=4),
)
def test_paths_and_changes_of_networks_of_any_arguments(names, links, capacities, weight, k, stretch, disjoint, nodes):
    links = [(one % len(names), other % len(names)) for one, other in links if (one - other) % len(names)]
    net = netnum.Topology(names, np.array(links, dtype=int).reshape(-1, 2), capacities[: len(links)])
    made(net.route, nodes)
    made(net.without, nodes)
    made(net.without, [nodes])
    made(net.with_capacities, weight)
    made(netnum.Problem, net, [nodes], netnum.AlphaFair(1))
    for node in nodes:
        made(net.link, node, nodes[0])
    demands = made(netnum.demands.gravity, net, 1.0 if stretch is None else stretch, weight, spread=k, seed=k)
    if demands is not None:
        assert np.all(np.isfinite(demands.volumes)) and np.all(demands.volumes >= 0)
    pairs = np.array([(one, other) for one in range(len(names)) for other in range(len(names)) if one != other]).T
    reached = made(net.has_path, *pairs)
    if reached is None:
        return
    sources, destinations = pairs[:, reached]
    found = made(net.k_shortest_paths, sources, destinations, k, weight, stretch, disjoint)
    if found is not None:
        paths, group = found
        assert set(group) == set(range(len(sources)))
        assert np.all(np.bincount(group, minlength=1) <= k)
        for path, pair in zip(paths, group, strict=True):
            walked = [net.links[path[0], 0], *net.links[path, 1]]
            assert (walked[0], walked[-1]) == (sources[pair], destinations[pair])
            assert len(set(walked)) == len(walked)
            assert np.all(net.capacities[path] > 0)


# --- allocators ---


class Allocators(RuleBasedStateMachine):
    """Flows come and go, with arguments right and wrong; links are never over their capacities."""

    @initialize(
        method=st.sampled_from(["ned", "fast-ned", "gradient", "fgm", "newton-like", "rcp"]),
        normalizer=st.sampled_from(["f-norm", "u-norm", "fill"]),
        dtype=st.sampled_from(["float64", "float32"]),
        headroom=st.sampled_from([0.0, 0.1]),
    )
    def begin(self, method, normalizer, dtype, headroom):
        self.allocator = netnum.Allocator(
            [10.0, 4.0, 1e-3, 8.0], method=method, normalizer=normalizer, dtype=dtype, headroom=headroom
        )
        self.paths = {}
        self.is_fresh = False
        self.rounding = 1e-5 if dtype == "float32" else ROUNDING

    def changed(self, ids, paths):
        self.paths.update(zip(ids.tolist(), paths, strict=True))
        self.is_fresh = False

    @rule(
        paths=st.lists(st.lists(st.integers(-1, 4), max_size=3), max_size=3),
        weight=parameters,
        alpha=st.one_of(st.just(1.0), parameters),
    )
    def start_anything(self, paths, weight, alpha):
        before = len(self.allocator)
        ids = made(self.allocator.start, paths, weight, alpha=alpha)
        assert len(self.allocator) == before + (0 if ids is None else len(ids))
        if ids is not None:
            self.changed(ids, paths)

    @rule(paths=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True), max_size=4), weight=positive)
    def start(self, paths, weight):
        ids = made(self.allocator.start, paths, weight)
        if ids is not None:
            self.changed(ids, paths)

    @rule(data=st.data())
    def end(self, data):
        assume(self.paths)
        ids = data.draw(st.lists(st.sampled_from(sorted(self.paths)), min_size=1, unique=True))
        self.allocator.end(ids)
        for number in ids:
            del self.paths[number]
        self.is_fresh = False

    @rule(ids=st.lists(st.one_of(st.integers(-2, 50), numbers), max_size=3))
    def end_anything(self, ids):
        before = set(self.allocator.ids.tolist())
        made(self.allocator.end, ids)
        for number in before - set(self.allocator.ids.tolist()):
            del self.paths[number]
            self.is_fresh = False

    @rule(link=st.one_of(st.integers(-1, 4), numbers), capacity=st.one_of(numbers, positive, st.just(0.0)))
    def set_capacity(self, link, capacity):
        made(self.allocator.set_capacity, link, capacity)
        self.is_fresh = False

    @rule(n=st.integers(1, 3))
    def tick(self, n):
        self.allocator.tick(n)
        self.allocator.updates()
        self.is_fresh = True

    @rule()
    def copy(self):
        self.allocator = pickle.loads(pickle.dumps(self.allocator))

    @invariant()
    def no_link_is_overloaded(self):
        if not getattr(self, "is_fresh", False):
            return
        ids = self.allocator.ids
        assert sorted(ids.tolist()) == sorted(self.paths)
        rates = self.allocator.rates(ids)
        assert np.all(np.isfinite(rates))
        assert np.all(rates >= 0)
        loads = np.zeros(4)
        for number, rate in zip(ids.tolist(), rates, strict=True):
            loads[self.paths[number]] += rate
        assert np.all(loads <= self.allocator.capacities * (1 + self.rounding))


Allocators.TestCase.settings = settings(settings.get_profile("netnum"), stateful_step_count=25)
TestAllocators = Allocators.TestCase


@given(st.one_of(st.text(max_size=20), json_values.map(json.dumps)))
def test_allocators_of_any_state(text):
    made(netnum.Allocator([1.0]).__setstate__, text)


# --- simulations ---

NETWORK = netnum.topology.leaf_spine(racks=2, servers_per_rack=2, spines=2)


@given(
    st.lists(st.tuples(numbers, st.integers(-1, 5), st.integers(-1, 5), numbers), max_size=5),
    st.sampled_from(sorted(sim.policies())),
    st.sampled_from(sorted(sim.routings())),
    st.one_of(st.just(math.inf), numbers),
    st.lists(st.tuples(numbers, st.integers(-1, 30), numbers), max_size=3),
)
def test_simulations_of_any_arguments(flows, policy, routing, until, changes):
    columns = [list(column) for column in zip(*flows, strict=True)] or [[], [], [], []]
    workload = made(sim.Workload, *columns)
    if workload is None:
        return
    # Sizes and times of any size would run for as long as they say.
    assume(all(1 <= size <= 1e7 for size in workload.sizes) and all(at <= 1 for at in workload.arrivals))
    assume(all(math.isnan(time) or abs(time) <= 1 for time, _, _ in changes))
    limits = {"until": min(until, 1.0), "time_limit": 1.0}
    report = made(sim.simulate, NETWORK, workload, policy, routing, changes=changes, **limits)
    if report is None:
        return
    assert np.all(report.bytes_sent <= workload.sizes * (1 + ROUNDING))
    assert len(report.completion_times) == len(workload)


@given(st.sampled_from(sorted(sim.policies())), st.data())
def test_policies_of_any_options(name, data):
    known = sorted(sim.policies()[name].get("options", {}))
    option = data.draw(st.sampled_from([*known, "no_such_option"]))
    policy = made(sim.Policy, name, **{option: data.draw(odd)})
    if policy is None:
        return
    workload = sim.Workload([0.0, 0.0, 1e-5], [0, 1, 2], [3, 2, 1], [1e4, 2e4, 1e5])
    # A clock that ticks every picosecond is taken at its word.
    report = made(sim.simulate, NETWORK, workload, policy, until=0.01, time_limit=0.05)
    assert report is None or np.all(report.bytes_sent <= workload.sizes * (1 + ROUNDING))


@given(st.text(alphabet="0123456789.,-einfa#\n ", max_size=60))
def test_traces_of_any_text(text):
    assume(text)
    workload = made(sim.Workload.from_csv, "arrival,source,destination,size\n" + text)
    if workload is None:
        return
    assert sim.Workload.from_csv(workload.to_csv()) == workload


def test_nothing_is_refused_without_words():
    with pytest.raises(netnum.NumError, match="capacity"):
        netnum.Problem([math.nan], [[0]], netnum.AlphaFair(1))
