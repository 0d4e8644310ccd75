"""Flows of a function that is asked for them while the simulation runs."""

import sys

import numpy as np
import pytest
from common import seconds_until_interrupted

import netnum
from netnum import sim

NET = netnum.topology.single_link(8.0)  # 1 byte per second
NONE = sim.Workload([], [], [], [])


def one(now, size=2.0):
    return sim.Workload([now], [0], [1], [size])


def test_clients_think_and_ask_again():
    told = []

    def client(now, ended):
        told.append((now, len(ended), ended.flows.tolist(), ended.sizes.tolist(), ended.completion_times.tolist()))
        return one(now + 0.5 * len(ended)) if len(told) <= 3 else None

    report = sim.simulate(NET, NONE, closed_loop=client)
    assert report.status == "finished"
    assert report.starts == pytest.approx([0.0, 2.5, 5.0])
    assert report.completion_times == pytest.approx([2.0] * 3)
    assert len(report.workload) == 3
    assert told[0] == (0.0, 0, [], [], [])
    assert told[1][1:4] == (1, [0], [2.0]) and told[1][4] == pytest.approx([2.0])
    again = sim.simulate(NET, report.workload)
    np.testing.assert_array_equal(again.completion_times, report.completion_times)


def test_timers_and_batches_beside_other_flows():
    net = netnum.topology.leaf_spine(racks=2, servers_per_rack=4, spines=2)
    beside = sim.Workload.poisson(net, "web_search", load=0.3, flows=50, seed=1)
    calls = []

    def every_millisecond(now, ended):
        calls.append(now)
        flows = None if len(ended) else sim.Workload(np.full(4, now), range(4), range(4, 8), np.full(4, 1e4))
        # The time is that of the next call, unless flows end before: it is asked for anew then.
        return flows, min((round(now * 1e3) + 1) * 1e-3, 0.02) if now < 0.0195 else None

    report = sim.simulate(net, beside, routing="spray", closed_loop=every_millisecond)
    assert report.status == "finished"
    assert len(report.workload) > 50 and report.ended == len(report.workload)
    assert np.all(np.diff(report.workload.arrivals) >= 0)
    again = sim.simulate(net, report.workload, routing="spray")
    np.testing.assert_array_equal(again.completion_times, report.completion_times)


@pytest.mark.parametrize("policy", ["max-min", "coflow"])
def test_a_job_goes_on_when_its_step_has_ended(policy):
    # A ring of four workers takes six steps of a second. A second of computing follows, and then the next one.
    net = netnum.topology.star(4, capacity=8.0)
    step, left = sim.Workload.all_reduce(net, 4.0), 0

    def train(now, ended):
        nonlocal left
        left -= len(ended)
        if left > 0 or now > 10.0:
            return None
        left = len(step)
        return step.shifted(now + 1.0)

    report = sim.simulate(net, NONE, policy, closed_loop=train)
    assert report.coflow_times == pytest.approx([6.0, 6.0])
    assert report.starts[[0, len(step)]] == pytest.approx([1.0, 8.0])
    assert report.workload.after is None and len(report.workload) == 2 * len(step)
    again = sim.simulate(net, report.workload, policy)
    np.testing.assert_array_equal(again.completion_times, report.completion_times)
    # The second step is cut short, and has all of its flows.
    left, report = 0, sim.simulate(net, NONE, policy, closed_loop=train, until=9.5)
    assert report.coflow_times == pytest.approx([6.0, np.nan], nan_ok=True)
    assert len(report.workload) == 2 * len(step) and report.ended < len(report.workload)


def test_with_packets_it_is_told_when_these_have_arrived():
    # Two seconds over the link, and three on the way.
    told = []

    def twice(now, ended):
        told.append(now)
        return one(now) if len(told) <= 2 else None

    report = sim.simulate(NET, NONE, closed_loop=twice, packets=sim.Packets(3.0))
    assert told == pytest.approx([0.0, 5.0, 10.0])
    assert report.completion_times == pytest.approx([5.0, 5.0])


def test_ends_have_names():
    net = netnum.topology.from_edges("a b 8.0")

    def once(now, ended):
        return None if len(ended) else sim.Workload([now], ["a"], ["b"], [1.0], net=net)

    report = sim.simulate(net, sim.Workload([], [], [], [], net=net), closed_loop=once)
    assert report.completion_times == pytest.approx([1.0])


def test_ends_with_integers_for_names_are_told_by_name():
    graph = pytest.importorskip("networkx").DiGraph()
    graph.add_nodes_from([2, 1, 0])
    graph.add_edges_from([(2, 1), (1, 0), (0, 2)], capacity=8.0)
    net = netnum.topology.from_networkx(graph)
    told = []

    def again(now, ended):
        told.append((ended.sources.tolist(), ended.destinations.tolist()))
        if now == 0.0:
            return sim.Workload([0.0], [2], [1], [1.0])
        return sim.Workload([now], ended.sources, ended.destinations, [1.0]) if len(told) == 2 else None

    report = sim.simulate(net, NONE, closed_loop=again)
    assert told == [([], []), ([2], [1]), ([2], [1])]
    assert report.workload.sources.tolist() == [2, 2]
    assert report.workload.destinations.tolist() == [1, 1]


def test_a_replay_has_the_flows_of_the_run_and_not_its_end():
    def last_call(now, ended):
        return one(now) if now == 0.0 else (None, 5.0 if now < 5.0 else None)

    for until, status in ((np.inf, "finished"), (3.0, "time_up")):
        report = sim.simulate(NET, NONE, closed_loop=last_call, until=until)
        again = sim.simulate(NET, report.workload, until=until)
        np.testing.assert_array_equal(again.completion_times, report.completion_times)
        np.testing.assert_array_equal(again.link_bytes, report.link_bytes)
        assert (report.status, report.time) == (status, min(until, 5.0))
        assert (again.status, again.time) == ("finished", 2.0)


def test_a_bar_counts_what_has_ended(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    sim.simulate(NET, NONE, closed_loop=lambda now, ended: one(now), until=5.0, progress=True)
    assert "100%|####################| 2 ended, at 5 s" in capsys.readouterr().err


def test_an_exception_is_raised_unchanged():
    def broken(now, ended):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.simulate(NET, NONE, closed_loop=broken)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (3, TypeError, "closed_loop returned 3, expected None, a Workload"),
        ([1, 2], TypeError, r"closed_loop returned \[1, 2\]"),
        ((None, "soon"), TypeError, "the next time of closed_loop"),
        ((None, 0.0), netnum.MethodError, "set its next call to 0, which is not after 0"),
        ((None, np.nan), netnum.MethodError, "set its next call to NaN"),
        (
            sim.Workload([0.0], [0], [9], [1.0]),
            netnum.MethodError,
            "gave a workload whose flow 0 has the end 9, expected ends from 0 to 1",
        ),
        (sim.Workload([0.0], [0], [1], [np.inf]), netnum.MethodError, "flow 0 never ends, in a run without until"),
        (
            sim.Workload([0.0], [0], [1], [1.0], weights=[2.0]),
            netnum.MethodError,
            "flow 0 has a weight, and flows of the start have none",
        ),
    ],
)
def test_answers_that_cannot_be_used_are_named(answer, error, message):
    with pytest.raises(error, match=message):
        sim.simulate(NET, NONE, closed_loop=lambda now, ended: answer)


def test_what_cannot_be_asked():
    with pytest.raises(TypeError, match=r"closed_loop must be a function of \(now, ended\), not int"):
        sim.simulate(NET, NONE, closed_loop=3)

    class Fair:
        def allocate(self, now, flows):
            return flows.max_min()

    with pytest.raises(netnum.MethodError, match='policy "Fair" takes no flows that a closed loop adds'):
        sim.simulate(NET, NONE, Fair(), closed_loop=lambda now, ended: one(now))


def test_a_loop_without_end_stops_at_until_and_at_the_time_limit():
    def on(now, ended):
        return one(now)

    report = sim.simulate(NET, NONE, closed_loop=on, until=5.0)
    assert (report.status, report.ended, len(report.workload)) == ("time_up", 2, 3)
    assert report.bytes_sent == pytest.approx([2.0, 2.0, 1.0])
    report = sim.simulate(NET, NONE, closed_loop=on, time_limit=0.05)
    assert report.status == "time_limit"


def test_a_loop_without_end_is_told_what_ends_it():
    def on(now, ended):
        zeros = np.zeros(400_000, int)
        return sim.Workload(zeros + 1e9, zeros, zeros + 1, zeros + 1.0), now + 1.0

    says = r"calls and flows by .* s of the simulation: give the run until \(simulated seconds\) or a time limit"
    with pytest.raises(netnum.MethodError, match=says):
        sim.simulate(NET, NONE, closed_loop=on)


def test_ctrl_c_stops_a_loop_without_end():
    def work():
        sim.simulate(NET, NONE, closed_loop=lambda now, ended: one(now), until=1e12)

    # KeyboardInterrupt is raised; however busy the machine, not minutes later.
    assert seconds_until_interrupted(work) < 30
