"""Policies and routings: by their names, with options, and written in Python."""

import pickle
import re

import numpy as np
import pytest
from common import seconds_until_interrupted

import netnum
from netnum import sim


@pytest.fixture(scope="module")
def net():
    return netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)


@pytest.fixture(scope="module")
def workload(net):
    return sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=500, seed=1)


@pytest.fixture(scope="module")
def pair():
    """A link of 8 Mbit/s, and two flows of 1 MB of which the second arrives after half a second."""
    return netnum.topology.single_link(8e6), sim.Workload([0, 0.5], [0, 0], [1, 1], [1e6, 1e6])


# --- by name, with options ---


@pytest.mark.parametrize("made", [sim.Policy, sim.Routing])
def test_every_option_is_documented_and_every_documented_name_exists(made):
    listed = sim.policies() if made is sim.Policy else sim.routings()
    documented = re.findall(r"^- (``.*?``):", made.__doc__, re.MULTILINE)
    assert {name for names in documented for name in re.findall('"(.*?)"', names)} <= {*listed}
    # `netnum.methods` says what the options of a method are.
    of_methods = {option for about in netnum.methods().values() for option in about["options"]}
    for about in listed.values():
        assert about["summary"]
        for option in about["options"].keys() - of_methods:
            assert f"`{option}`" in made.__doc__ or f"{option}=" in made.__doc__, option


def test_options_are_listed_with_their_defaults():
    assert sim.policies()["max-min"]["options"] == {}
    options = sim.policies()["flowtune"]["options"]
    assert options["interval"] == 1e-5
    assert (options["method"], options["normalizer"], options["utility"]) == ("ned", "f-norm", "proportional")
    assert options["gamma"] is None
    ecmp = {"summary": "a random shortest path for each flow, drawn once", "options": {"skew": 0.0, "weight": None}}
    assert sim.routings()["ecmp"] == ecmp


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (sim.Policy("max-min"), "Policy('max-min')"),
        (
            sim.Policy("flowtune", method="fast-ned", interval=None),
            "Policy('flowtune', interval=None, method='fast-ned')",
        ),
        (sim.Policy("flowtune", utility={"alpha-fair": 2}), "Policy('flowtune', utility={'alpha-fair': 2})"),
        (sim.Policy("alpha-fair", alpha=np.float64(0.5)), "Policy('alpha-fair', alpha=0.5)"),
        (sim.Routing("ecmp"), "Routing('ecmp')"),
    ],
)
def test_a_policy_is_its_name_and_options(made, shown):
    assert repr(made) == shown
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(made)(made.name, **made.options) == made
    assert made != sim.Policy("srpt")


def test_options_change_what_a_policy_does(net, workload):
    plain = sim.simulate(net, workload, sim.Policy("flowtune"))
    np.testing.assert_array_equal(plain.completion_times, sim.simulate(net, workload, "flowtune").completion_times)
    assert plain.policy == "flowtune"
    policy = sim.Policy("flowtune", method="fast-ned", normalizer="fill", interval=None, update_threshold=0)
    report = sim.simulate(net, workload, policy)
    assert report.policy == "flowtune(fast-ned, fill)"
    assert report.mean_slowdown < plain.mean_slowdown
    # Every flow waits for a tick: a slow clock, long waits.
    slow = sim.simulate(net, workload, sim.Policy("flowtune", interval=1e-3))
    assert slow.mean_completion_time > plain.mean_completion_time + 0.4e-3
    # A utility that is large for small flows helps the small ones.
    short = sim.simulate(net, workload, sim.Policy("flowtune", method="fast-ned", normalizer="fill", utility="min-fct"))
    assert short.mean_slowdown < plain.mean_slowdown
    report = sim.simulate(net, workload, sim.Policy("alpha-fair", alpha=2, tol=1e-4), sim.Routing("ecmp"))
    assert (report.policy, report.routing) == ("alpha-fair(2)", "ecmp")
    assert 0 < report.gap <= 1e-4


def a_list_of_itself():
    endless = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("error", "message", "work"),
    [
        (netnum.MethodError, 'unknown policy "fair"; known: max-min, srpt', lambda: sim.Policy("fair")),
        (netnum.MethodError, 'unknown routing "ospf"; known: ecmp', lambda: sim.Routing("ospf")),
        (netnum.MethodError, "known options: none", lambda: sim.Policy("max-min", gamma=1)),
        (netnum.MethodError, 'has no option "tick"; known options: .*interval', lambda: sim.Policy("flowtune", tick=1)),
        (netnum.MethodError, 'method "ned" has no option "queue"', lambda: sim.Policy("flowtune", queue=1)),
        (netnum.NumError, 'option "interval" of policy "flowtune"', lambda: sim.Policy("flowtune", interval="soon")),
        (
            netnum.NumError,
            '"interval" of policy "flowtune" is -1, expected a finite',
            lambda: sim.Policy("flowtune", interval=-1),
        ),
        (
            netnum.NumError,
            'option "thresholds" of policy "pias" is nested too deep, expected at most 16 lists or dicts within',
            lambda: sim.Policy("pias", thresholds=a_list_of_itself()),
        ),
        (
            netnum.NumError,
            'option "interval" of policy "flowtune" is inf, expected a finite number',
            lambda: sim.Policy("flowtune", interval=float("inf")),
        ),
        (
            netnum.NumError,
            'option "alpha" of policy "alpha-fair" is inf, expected a finite number',
            lambda: sim.Policy("alpha-fair", alpha=float("inf")),
        ),
        (
            netnum.NumError,
            'option "alpha" of policy "alpha-fair" is 0, expected a finite number > 0',
            lambda: sim.Policy("alpha-fair", alpha=0),
        ),
        (
            netnum.NumError,
            'option "utility" of policy "xwi" is "alpha-fair", expected .* or {"alpha-fair": alpha}',
            lambda: sim.Policy("xwi", utility="alpha-fair"),
        ),
        (netnum.MethodError, 'unknown policy "SRPT", did you mean "srpt"', lambda: sim.Policy("SRPT")),
        (
            netnum.NumError,
            'option "tol" of policy "proportional" is 0, expected',
            lambda: sim.Policy("proportional", tol=0),
        ),
        (
            TypeError,
            'option "gamma" of policy "flowtune" must be a number',
            lambda: sim.Policy("flowtune", gamma=object()),
        ),
        (TypeError, "str", lambda: sim.Policy(3)),
    ],
)
def test_bad_options_are_errors_that_name_them(error, message, work):
    with pytest.raises(error, match=message):
        work()


def test_an_allocator_counts_what_it_and_servers_tell_each_other(net):
    # Two servers of a rack send to a third: one flow each at first, then another of the first server.
    workload = sim.Workload([0, 0, 1e-3], [0, 1, 0], [2, 2, 2], [10e6, 10e6, 1e6])
    report = sim.simulate(net, workload, "flowtune")
    traffic = report.update_traffic
    assert (traffic.starts, traffic.ends) == (3, 3)
    # Each start and end is in a packet of its own here, but if two fall into one step.
    assert 4 <= traffic.packets_to_allocator <= 6
    assert 3 <= traffic.packets_to_servers <= traffic.updates
    assert traffic.updates >= report.rate_changes
    assert repr(traffic).startswith("UpdateTraffic(starts=3, ends=3, updates=")
    assert pickle.loads(pickle.dumps(traffic)) == traffic
    assert pickle.loads(pickle.dumps(report)).update_traffic == traffic
    # Before the third flow there are two of each.
    early = sim.simulate(net, workload, "flowtune", until=0.9e-3).update_traffic
    assert (early.starts, early.ends, early.packets_to_allocator) == (2, 0, 2)
    # A larger threshold, fewer news.
    workload = sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=500, seed=1)
    small, large = (
        sim.simulate(net, workload, sim.Policy("flowtune", update_threshold=threshold)).update_traffic
        for threshold in (0.01, 0.05)
    )
    assert large.updates < small.updates and large.starts == small.starts == 500
    assert sim.simulate(net, workload).update_traffic is None


# --- written in Python ---


class MaxMin:
    """Fair sharing, as one would write it."""

    def allocate(self, now, flows):
        problem = netnum.Problem(flows.capacities, flows.paths, netnum.AlphaFair(np.inf), rate_cap=flows.caps)
        return netnum.max_min(problem)


def test_fair_sharing_written_in_python_is_fair_sharing(net, workload):
    report = sim.simulate(net, workload, MaxMin())
    assert (report.status, report.policy) == ("finished", "MaxMin")
    expected = sim.simulate(net, workload).completion_times
    np.testing.assert_allclose(report.completion_times, expected, rtol=1e-9)


def test_a_policy_gets_the_present_flows(pair):
    seen, started = [], []

    class Watching:
        name = "watching"

        def start(self, net, workload):
            started.append((net, workload))

        def allocate(self, now, flows):
            seen.append((now, flows))
            return np.full(len(flows), 8e6 / max(1, len(flows)))

    net, workload = pair
    report = sim.simulate(net, workload, Watching())
    assert report.policy == "watching"
    assert started == [(net, workload)]
    assert report.completion_times == pytest.approx([1.5, 1.5])
    assert [now for now, _ in seen] == [0, 0.5, 1.5, 2.0]
    both = seen[1][1]
    assert len(both) == 2 and repr(both) == "Flows(2 flows, 1500.0000 kB left)"
    for column, expected in [
        (both.numbers, [0, 1]),
        (both.sizes, [1e6, 1e6]),
        (both.left, [0.5e6, 1e6]),
        (both.rates, [8e6, 0]),
        (both.caps, [np.inf, np.inf]),
        (both.arrivals, [0, 0.5]),
        (both.shares, [1, 1]),
        (both.capacities, [8e6]),
        (both.paths.indptr, [0, 1, 2]),
        (both.paths.indices, [0, 0]),
    ]:
        np.testing.assert_array_equal(column, expected)
        assert not column.flags.writeable
    assert both.left is both.left and both.paths is both.paths
    # The second one is left when the first has ended, and then none.
    np.testing.assert_array_equal(seen[2][1].numbers, [1])
    assert len(seen[3][1]) == 0 and repr(seen[3][1]) == "Flows(0 flows, 0.0000 kB left)"


def test_a_policy_is_called_again_at_its_next_time(pair):
    times = []

    class Slow:
        """Looks at the flows every 0.3 s only."""

        def allocate(self, now, flows):
            times.append(now)
            tick = round(now / 0.3)
            if not np.isclose(now, 0.3 * tick):
                return None, 0.3 * np.ceil(now / 0.3)
            return [8e6 / max(1, len(flows))] * len(flows), 0.3 * (tick + 1)

    report = sim.simulate(*pair, Slow())
    # Alone until 0.6, though the second arrives at 0.5; then at half the rate until 1.4, the second until 1.5.
    assert report.completion_times == pytest.approx([1.4, 2.05 - 0.5])
    assert times[:5] == pytest.approx([0, 0.3, 0.5, 0.6, 0.9])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], 'policy "Answers" gave 1 rates at 0.5 s, expected 2, one per flow'),
        ([1.0, -1.0], 'policy "Answers" gave flow 1 the rate -1, expected a finite number >= 0'),
        ([np.nan, 1.0], 'policy "Answers" gave flow 0 the rate NaN'),
        ([np.inf, 1.0], 'policy "Answers" gave flow 0 the rate inf'),
        ((None, 0.5), 'policy "Answers" set its next call to 0.5, which is not after 0.5'),
        ((None, np.nan), 'policy "Answers" set its next call to NaN'),
        ([[1.0, 1.0]], r'rates of policy "Answers" has shape \(1, 2\), expected one dimension'),
    ],
)
def test_wrong_answers_name_the_policy_and_the_flow(pair, answer, message):
    class Answers:
        def allocate(self, now, flows):
            return answer if now == 0.5 else np.full(len(flows), 1e6)

    with pytest.raises(netnum.NumError, match=message):
        sim.simulate(*pair, Answers())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["fast", "slow"], 'rates of policy "Answers" must be an array of numbers'),
        ((None, "soon"), 'next_time of policy "Answers" must be'),
    ],
)
def test_answers_of_the_wrong_type_are_named(pair, answer, message):
    class Answers:
        def allocate(self, now, flows):
            return answer

    with pytest.raises(TypeError, match=message):
        sim.simulate(*pair, Answers())


class Fair:
    """Fair sharing, over several paths and with applications that wait, by one call."""

    def allocate(self, now, flows):
        rates = flows.max_min()
        assert rates.shape == (len(flows),) and np.all(rates <= flows.caps)
        return rates


@pytest.mark.parametrize("routing", ["ecmp", "spray"])
@pytest.mark.parametrize("buffer", [None, 1e5, np.inf])
def test_the_present_max_min_rates_are_available(routing, buffer):
    net = netnum.topology.leaf_spine(3, 3, 2, server_capacity=1e9, fabric_capacity=1e9)
    workload = sim.Workload.poisson(net, sim.sizes.web_search, 0.7, flows=100, seed=1)
    if buffer is not None:
        workload = workload.with_production(sim.log_normal(100, 1e9, 1.0, seed=1), buffer)
    ours, exact = (sim.simulate(net, workload, policy, routing) for policy in (Fair(), "max-min"))
    # A user policy may give less than a cap, so that a backlog counts from a packet on.
    np.testing.assert_allclose(ours.completion_times, exact.completion_times, rtol=1e-9 if buffer is None else 0.01)


@pytest.mark.parametrize("where", ["start", "allocate"])
def test_what_a_policy_raises_comes_through(pair, where):
    raised = ZeroDivisionError("mine")

    class Raises:
        def start(self, net, workload):
            if where == "start":
                raise raised

        def allocate(self, now, flows):
            raise raised

    with pytest.raises(ZeroDivisionError) as caught:
        sim.simulate(*pair, Raises())
    assert caught.value is raised
    assert caught.traceback[-1].name == where


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (3, r"policy must be a name, a netnum.sim.Policy or an object with a method allocate\(now, flows\), not int"),
        (MaxMin, r"policy is the class MaxMin, expected an instance: MaxMin\("),
        (type("Nameless", (), {"name": 3, "allocate": None})(), "Nameless.name must be a str"),
    ],
)
def test_what_is_no_policy_is_a_type_error(pair, policy, message):
    with pytest.raises(TypeError, match=message):
        sim.simulate(*pair, policy)


def test_a_policy_may_simulate_and_solve(pair):
    class Deep:
        def allocate(self, now, flows):
            assert sim.simulate(*pair).status == "finished"
            return np.full(len(flows), 4e6)

    assert sim.simulate(*pair, Deep()).completion_times == pytest.approx([2, 2])


def test_flows_without_rates_starve(pair):
    class Nothing:
        def allocate(self, now, flows):
            return None

    assert sim.simulate(*pair, Nothing()).status == "starved"


def test_ctrl_c_stops_a_user_policy(net):
    workload = sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=100_000)
    delays = [seconds_until_interrupted(lambda: sim.simulate(net, workload, MaxMin()), after=0.4) for _ in range(3)]
    assert min(delays) < 0.1


def test_numfabric_and_its_peers_follow_prices_at_once(net):
    workload = sim.Workload.poisson(net, sim.sizes.web_search, 0.5, flows=100, seed=3)
    ideal = sim.simulate(net, workload, "proportional").completion_times
    for policy in ("xwi", "gradient", "rcp", sim.Policy("xwi", interval=60e-6, heaviest=1e6)):
        report = sim.simulate(net, workload, policy)
        assert abs(np.median(report.completion_times / ideal) - 1) < 0.1, policy
    assert report.policy == "xwi"
    assert sim.policies()["xwi"]["options"]["interval"] == 30e-6
    with pytest.raises(netnum.NumError, match='option "eta" of policy "xwi" is -1, expected a finite'):
        sim.Policy("xwi", eta=-1)


def test_a_policy_whose_clock_creeps_is_refused(net, workload):
    class Creeps:
        def allocate(self, now, flows):
            return np.full(len(flows), 1.0), np.nextafter(now, np.inf)

    with pytest.raises(netnum.MethodError, match=r"the clock stands still at .* that policy \"Creeps\" had set"):
        sim.simulate(net, workload, Creeps())


@pytest.mark.parametrize("next_time", [float("nan"), float("-inf"), 0.0])
def test_a_time_that_is_not_to_come_is_refused(net, workload, next_time):
    class Late:
        def allocate(self, now, flows):
            return flows.max_min(), next_time

    with pytest.raises(netnum.MethodError, match=r'policy "Late" set its next call to .*, which is not after'):
        sim.simulate(net, workload, Late())


def test_many_flows_at_once_over_all_paths_end():
    # Levels of a link differ by rounding alone here: its search went round and round between them.
    net = netnum.topology.leaf_spine(racks=3, servers_per_rack=7, spines=2, server_capacity=1e9, fabric_capacity=1e9)
    rng, flows = np.random.default_rng(1), 1400
    sources = rng.integers(21, size=flows)
    destinations = (sources + rng.integers(1, 21, size=flows)) % 21
    workload = sim.Workload(np.zeros(flows), sources, destinations, rng.exponential(1e5, flows) + 100)
    report = sim.simulate(net, workload, "pias", "spray", seed=3, time_limit=60)
    assert np.isfinite(report.completion_times).all()
    assert (np.asarray(report.peak_loads) <= net.capacities * (1 + 1e-9)).all()
