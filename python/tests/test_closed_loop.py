"""Flows of a function that is asked for them while the simulation runs."""

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


def test_ends_have_names():
    net = netnum.topology.from_edges("a b 8.0")

    def once(now, ended):
        return None if len(ended) else sim.Workload([now], ["a"], ["b"], [1.0], net=net)

    report = sim.simulate(net, sim.Workload([], [], [], [], net=net), closed_loop=once)
    assert report.completion_times == pytest.approx([1.0])


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
        (sim.Workload([0.0], [0], [9], [1.0]), netnum.MethodError, "have the end 9, expected ends from 0 to 1"),
        (sim.Workload([0.0], [0], [1], [np.inf]), netnum.MethodError, "never end, in a run without until"),
        (
            sim.Workload([0.0], [0], [1], [1.0], weights=[2.0]),
            netnum.MethodError,
            "have weights, and those of the start",
        ),
        (sim.Workload([0.0], [0], [1], [1.0], coflow=[0]), netnum.MethodError, "are in coflows"),
        (sim.Workload([0.0, 0.0], [0, 0], [1, 1], [1.0, 1.0], after=[[], [0]]), netnum.MethodError, "wait for others"),
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


def test_ctrl_c_stops_a_loop_without_end():
    def work():
        sim.simulate(NET, NONE, closed_loop=lambda now, ended: one(now))

    delays = [seconds_until_interrupted(work) for _ in range(5)]
    assert sorted(delays)[2] < 0.5
