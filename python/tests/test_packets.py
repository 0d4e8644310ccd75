"""What packets add to the times of flows, and sources that are on and off, from Python."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim, topology

NET = topology.star(3, capacity=8.0)  # 1 byte per second
ONE = sim.Workload([0.0], [0], [1], [5.0])


def test_packets_add_their_way_and_the_start_of_tcp_to_times_and_to_times_alone():
    def time(**how):
        report = sim.simulate(NET, ONE, packets=sim.Packets(0.25, size=1.0, **how))
        assert report.slowdowns[0] == pytest.approx(1.0, rel=1e-12)
        return report.completion_times[0]

    assert time() == 6.5
    assert time(round_trips=1) == 6.5 + 2 * 0.5
    # A round trip is 1 + 2 s: one packet and a wait of 2 s, two and a wait of 1 s, and two more.
    assert time(initial_window=1) == 6.5 + 2 + 1
    delays = np.zeros(len(NET.links))
    delays[NET.link("server 0", "hub")] = 3.0
    assert sim.simulate(NET, ONE, packets=sim.Packets(delays, size=1.0)).completion_times[0] == 9.0


def test_packets_are_values():
    packets = sim.Packets(1e-6, initial_window=10, round_trips=1)
    assert (packets.delay, packets.size, packets.initial_window, packets.round_trips) == (1e-6, 1500.0, 10.0, 1.0)
    assert repr(packets) == "Packets(1e-6, size=1500.0, initial_window=10.0, round_trips=1.0)"
    for each in (packets, sim.Packets([1.0, 2.0])):
        assert pickle.loads(pickle.dumps(each)) == each
    assert packets != sim.Packets(1e-6) and sim.Packets([1.0, 2.0]).delay.tolist() == [1.0, 2.0]


def test_packets_that_cannot_be_are_named():
    for packets, message in [
        (sim.Packets([0.0]), "delay has 1 entries, expected 6, one per link"),
        (sim.Packets(-1.0), "^delay is -1, expected a finite number >= 0"),
        (sim.Packets([0.0] * 5 + [-1.0]), r"^delay\[5\] is -1, expected a finite number >= 0"),
        (sim.Packets(0.0, size=0.0), "^size is 0, expected a finite number > 0"),
        (sim.Packets(0.0, initial_window=0.0), "initial_window is 0, expected a number >= 1"),
        (sim.Packets(0.0, round_trips=-1.0), "round_trips is -1"),
    ]:
        with pytest.raises(netnum.NumError, match=message):
            sim.simulate(NET, ONE, packets=packets)


def test_sources_that_are_on_and_off_are_bursts():
    net = topology.star(4, capacity=10e9)
    pairs = [("server 0", "server 3"), ("server 1", "server 3"), (2, 3)]
    bursts = sim.Workload.on_off(net, pairs, 4e9, 1e-3, 2e-3, duration=1.0, seed=1)
    assert set(bursts.production) == {4e9} and set(bursts.destinations) == {3}
    assert 8 * bursts.sizes.sum() == pytest.approx(4e9, rel=0.1)
    assert bursts == sim.Workload.on_off(net, pairs, 4e9, 1e-3, 2e-3, duration=1.0, seed=1)
    # 12 Gbit/s where all are on: some bursts take longer than they are produced.
    report = sim.simulate(net, bursts)
    late = report.completion_times > 8 * bursts.sizes / 4e9 * (1 + 1e-9)
    assert 0 < late.sum() < len(bursts)
    with pytest.raises(netnum.NumError, match="on is 0, expected a finite number > 0"):
        sim.Workload.on_off(net, pairs, 4e9, 0.0, 2e-3, duration=1.0)
