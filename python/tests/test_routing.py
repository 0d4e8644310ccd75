"""Routings: by their names, written in Python, and on networks whose links fail."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim


@pytest.fixture(scope="module")
def net():
    return netnum.topology.leaf_spine(racks=3, servers_per_rack=4, spines=3, server_capacity=1e9, fabric_capacity=1e9)


@pytest.fixture(scope="module")
def workload(net):
    return sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=200, seed=1)


@pytest.fixture(scope="module")
def pair():
    """Two flows of 1 MB from one rack to another over the same one of two spines, unless they are rerouted."""
    net = netnum.topology.leaf_spine(racks=2, servers_per_rack=2, spines=2, server_capacity=8e6, fabric_capacity=8e6)
    return net, sim.Workload([0, 0.05], [0, 1], [2, 3], [1e6, 1e6])


@pytest.mark.parametrize("name", sim.routings())
def test_every_routing_sends_everything(net, workload, name):
    report = sim.simulate(net, workload, routing=name)
    assert report.routing == name
    np.testing.assert_array_equal(report.bytes_sent, workload.sizes)
    assert np.all(report.peak_loads <= net.capacities * (1 + 1e-9))
    again = sim.simulate(net, workload, routing=sim.Routing(name))
    np.testing.assert_array_equal(report.completion_times, again.completion_times)


def test_options_reach_the_routing(net, workload):
    def moves(**options):
        return sim.simulate(net, workload, routing=sim.Routing("flow-bender", **options)).route_changes

    default = moves()
    assert default == moves(n=1, t=0.05, rtt=100e-6, marking="saturated", lock_after=None) > 0
    assert moves(t=1) == 0
    assert moves(n=4) < default
    assert moves(lock_after=2) < default
    assert moves(marking={"utilization": 0.5}) > default
    dctcp = sim.Routing("flow-bender", marking={"dctcp": {"rtt": 1e-4, "threshold": 9e4}}, t=0.25)
    assert pickle.loads(pickle.dumps(dctcp)) == dctcp
    assert sim.simulate(net, workload, routing=dctcp).route_changes < default


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, 'option "n" of routing "flow-bender" is 0, expected at least 1'),
        ({"t": 2.0}, 'option "t" of routing "flow-bender" is 2, expected a number from 0 to 1'),
        ({"rtt": -1.0}, 'option "rtt" of routing "flow-bender" is -1, expected a finite number > 0'),
        (
            {"marking": {"utilization": 2.0}},
            'option "marking.utilization" of routing "flow-bender" is 2, expected a number > 0',
        ),
        (
            {"marking": {"dctcp": {"rtt": -1, "threshold": 0}}},
            'option "marking.dctcp.rtt" of routing "flow-bender" is -1',
        ),
        ({"t": float("nan")}, 'option "t" of routing "flow-bender" is NaN, expected a finite number'),
        (
            {"marking": {"dctcp": {"rtt": float("inf"), "threshold": 0}}},
            'option "marking" of routing "flow-bender" is inf, expected a finite number',
        ),
        ({"marking": "red"}, '"marking" of routing "flow-bender" is "red", expected "saturated", {"dctcp": {"rtt": '),
        ({"lock_after": 2, "lock_for": 0}, 'option "lock_for" of routing "flow-bender" is 0, expected at least 1'),
    ],
)
def test_an_option_out_of_range_is_named(options, message):
    with pytest.raises(netnum.NumError, match=message):
        sim.Routing("flow-bender", **options)


def test_links_that_are_never_full_mark_only_by_utilization():
    # Flowtune leaves a hundredth of every link free.
    net = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
    workload = sim.Workload.poisson(net, sim.sizes.web_search, load=0.8, flows=300, seed=1)

    def moves(policy, marking):
        bender = sim.Routing("flow-bender", marking=marking)
        return sim.simulate(net, workload, policy, routing=bender).route_changes

    dctcp = {"dctcp": {"rtt": 1e-4, "threshold": 1e5}}
    assert moves("max-min", "saturated") > 0 and moves("max-min", dctcp) > 0
    assert moves("flowtune", "saturated") == moves("flowtune", dctcp) == 0
    assert moves("flowtune", {"utilization": 0.98}) > 0


def test_a_flow_alone_is_marked_by_the_first_link_that_holds_it_back():
    def moves(server, **options):
        net = netnum.topology.leaf_spine(2, 2, 4, server_capacity=server, fabric_capacity=10e9)
        routing = sim.Routing("flow-bender", **options)
        return sim.simulate(net, sim.Workload([0], [0], [2], [10e6]), routing=routing).route_changes

    # 12.6 % where the fabric holds it back.
    dctcp = {"dctcp": {"rtt": 100e-6, "threshold": 65e3}}
    assert moves(40e9, marking=dctcp, t=0.05) > 0 and moves(40e9, marking=dctcp, t=0.12) > 0
    assert moves(40e9, marking=dctcp, t=0.13) == 0
    assert moves(40e9, marking="saturated") > 0
    # Its own server does.
    assert moves(10e9, marking=dctcp, t=0.05) == moves(10e9, marking="saturated") == 0
    assert moves(10e9, marking={"utilization": 0.9}) > 0


def test_a_link_fails_and_comes_back(pair):
    net, _ = pair
    workload = sim.Workload([0], [0], [2], [1e6])
    first = sim.simulate(net, workload, routing="ecmp")
    up = next(int(path[1]) for path in net.paths(0, 2) if first.link_bytes[path[1]] > 0)
    report = sim.simulate(net, workload, routing="ecmp", changes=[(0.25, up, 0.0)])
    assert (report.route_changes, report.link_bytes[up]) == (1, pytest.approx(0.25e6))
    np.testing.assert_allclose(report.completion_times, 1)
    # Nobody reroutes a server's own link.
    report = sim.simulate(net, workload, routing="ecmp", changes=[(0.25, 0, 0.0), (0.75, 0, 4e6)])
    np.testing.assert_allclose(report.completion_times, 0.75 + 1.5)
    with pytest.raises(netnum.NumError, match=r"link of change 0 is 99, expected a link below 16"):
        sim.simulate(net, workload, changes=[(0.0, 99, 0.0)])


# --- written in Python ---


class Bend:
    """Over the last path, and on to the one before when most of what was sent came back marked."""

    period = 0.1

    def start(self, net, workload):
        self.reviews = []
        assert (net.ends, len(workload)) == (4, 2)

    def route(self, flow, source, destination, paths, network):
        assert isinstance(paths, netnum.Paths) and destination == source + 2 == flow + 2
        return len(paths) - 1

    def review(self, flow, marked, sent, paths, choice, network):
        self.reviews.append((flow, marked, sent))
        return choice - 1 if marked > 0.5 * sent else None


def test_a_user_routing_moves_flows(pair):
    net, workload = pair
    bend = Bend()
    report = sim.simulate(net, workload, routing=bend)
    assert (report.routing, report.route_changes) == ("Bend", 1)
    # The first is alone for 0.05 s, and together with the second for as long. That one knows no other, and moves.
    np.testing.assert_allclose(bend.reviews[0], (0, 25e3, 75e3))
    np.testing.assert_allclose(bend.reviews[1], (1, 50e3, 50e3))
    np.testing.assert_allclose(report.completion_times, 1.05)


class LeastLoaded:
    """Over the path whose fullest link is the least full."""

    def __init__(self):
        self.seen = []

    def route(self, flow, source, destination, paths, network):
        self.seen.append(network)
        used = network.loads / network.capacities
        return min(range(len(paths)), key=lambda path: used[paths[path]].max())


def test_a_routing_gets_the_present_loads(pair):
    net, _ = pair
    # The first has one spine for itself, the second takes the other, the third joins when the first has ended.
    workload = sim.Workload([0, 0.25, 1.0], [0, 1, 0], [2, 3, 2], [1e6, 1e6, 1e6])
    routing = LeastLoaded()
    first, second = net.paths(0, 2)[0], net.paths(1, 3)[1]
    idle = next(link for link in range(16) if link not in (*first, *second))
    report = sim.simulate(net, workload, routing=routing, changes=[(0.5, idle, 4e6)])
    assert [network.time for network in routing.seen] == [0, 0.25, 1.0]
    for network, carrying in zip(routing.seen, [[], first, second], strict=True):
        expected = np.zeros(len(net.capacities))
        expected[list(carrying)] = 8e6
        np.testing.assert_allclose(network.loads, expected)
    assert [network.capacities[idle] for network in routing.seen] == [8e6, 8e6, 4e6]
    assert repr(routing.seen[1]) == "Network(at 0.25 s, 16 links, 4 of them full)"
    np.testing.assert_allclose(report.completion_times, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        routing.seen[0].loads[0] = 1.0


def test_weights_spread_a_flow(net, workload):
    class Spray:
        name = "mine"

        def route(self, flow, source, destination, paths, network):
            return np.full(len(paths), 1 / len(paths))

    report = sim.simulate(net, workload, routing=Spray())
    assert report.routing == "mine"
    np.testing.assert_allclose(report.completion_times, sim.simulate(net, workload, routing="spray").completion_times)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (7, "flow 0 got path 7, expected one below 2"),
        (-1, "flow 0 got path -1, expected one below 2"),
        ([0.5], "flow 0 got 1 weights, expected one for each of 2 paths"),
        ([1.5, -0.5], "flow 0 got weight -0.5, expected finite numbers >= 0"),
        ([0.5, 0.4], "flow 0 got weights over paths that add up to 0.9, expected 1"),
        ([0.0, 0.0], "flow 0 got weights over paths that add up to 0, expected 1"),
    ],
)
def test_an_answer_that_cannot_be_used_names_the_flow(pair, answer, message):
    class Wrong:
        def route(self, flow, source, destination, paths, network):
            return answer

    with pytest.raises(netnum.MethodError, match=f'routing "Wrong": {message}'):
        sim.simulate(*pair, routing=Wrong())


def test_what_a_routing_raises_comes_through(pair):
    class Raises(Bend):
        def review(self, flow, marked, sent, paths, choice, network):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.simulate(*pair, routing=Raises())
    for answer in ("first", True, [True, False]):
        with pytest.raises(
            TypeError, match="weights of routing 'Odd' for flow 0 must be an array of numbers".replace("'", '"')
        ):
            sim.simulate(*pair, routing=type("Odd", (), {"route": lambda *_, answer=answer: answer})())


def test_marking_is_held_to_its_range(pair):
    class Marked(Bend):
        marking = {"utilization": 0}  # noqa: RUF012

    with pytest.raises(netnum.NumError, match=r'"marking.utilization" of routing "Marked" is 0, expected a number > 0'):
        sim.simulate(*pair, routing=Marked())


def test_a_choice_is_what_was_answered(pair):
    class Shared(Bend):
        def __init__(self):
            self.weights, self.seen = [0.5, 0.5], []

        def route(self, flow, source, destination, paths, network):
            return self.weights

        def review(self, flow, marked, sent, paths, choice, network):
            self.weights[0] = 7.0
            self.seen.append(choice)

    routing = Shared()
    sim.simulate(*pair, routing=routing)
    assert len(routing.seen) > 1 and all(choice == [0.5, 0.5] for choice in routing.seen)


class Around:
    """Over the first path, and around links that have failed."""

    def __init__(self):
        self.calls = []

    def route(self, flow, source, destination, paths, network):
        return 0

    def reroute(self, flow, works, paths, choice, network):
        self.calls.append((flow, works.tolist(), choice))
        return None if works[choice] or not works.any() else int(works.argmax())


def test_a_routing_is_called_when_links_fail(pair):
    net, _ = pair
    # The second arrives after the failure, and would take the first path as well.
    workload = sim.Workload([0, 0.5], [0, 1], [2, 3], [1e6, 0.25e6])
    up = int(net.paths(0, 2)[0][1])
    routing = Around()
    report = sim.simulate(net, workload, routing=routing, changes=[(0.25, up, 0.0), (0.8, up, 8e6)])
    assert routing.calls == [(0, [False, True], 0), (1, [False, True], 0), (0, [True, True], 1), (1, [True, True], 1)]
    assert (report.status, report.route_changes, report.link_bytes[up]) == ("finished", 1, pytest.approx(0.25e6))
    # Both on the other path from 0.5 s on, until the second has ended.
    np.testing.assert_allclose(report.completion_times, [1.25, 0.5])
    # One that does not listen waits for the link.
    deaf = type("Deaf", (), {"route": lambda *_: 0})()
    report = sim.simulate(net, workload, routing=deaf, changes=[(0.25, up, 0.0), (0.8, up, 8e6)])
    assert report.route_changes == 0 and report.completion_times[0] > 1.5

    class Lost(Around):
        def reroute(self, flow, works, paths, choice, network):
            return 9

    with pytest.raises(netnum.MethodError, match=r'routing "Lost": flow 0 got path 9, expected one below 2'):
        sim.simulate(net, workload, routing=Lost(), changes=[(0.25, up, 0.0)])


def test_an_object_without_what_it_takes_is_refused(pair):
    with pytest.raises(TypeError, match=r"routing must be a name, .* not int"):
        sim.simulate(*pair, routing=1)
    with pytest.raises(TypeError, match=r"routing is the class Bend, expected an instance: Bend\(…\)"):
        sim.simulate(*pair, routing=Bend)
    with pytest.raises(TypeError, match="has a period, and no method review"):
        sim.simulate(*pair, routing=type("Once", (), {"period": 1.0, "route": lambda *_: 0})())
