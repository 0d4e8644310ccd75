"""Flowtune, Fig. 9, 10 and 11: what endpoints and the allocator tell each other."""

from dataclasses import dataclass

import flowtune
import numpy as np
from page import Page

import netnum
from netnum import sim

START, END, UPDATE, HEADERS = 16, 4, 6, 58  # bytes


@dataclass
class Traffic:
    """Messages in a span of time, and the packets they make: one per server, tick and direction."""

    starts: int = 0
    ends: int = 0
    updates: int = 0
    packets: int = 0

    @property
    def messages(self):
        """All of them."""
        return self.starts + self.ends + self.updates

    def bytes(self, *, batched=True):
        """With headers for every packet; unbatched, every message is a packet."""
        packets = self.packets if batched else self.messages
        return HEADERS * packets + START * self.starts + END * self.ends + UPDATE * self.updates


class Counted:
    """An allocator on a clock whose messages are counted. Flows send at the rates that they have heard of."""

    def __init__(self, allocating, sources, begin):
        self.allocating, self.sources, self.begin = allocating, sources, begin
        self.sent = np.empty(0)
        self.traffic = Traffic()

    def rates(self, now, numbers, paths):
        """What flows send."""
        before = self.allocating.numbers
        stays = self.allocating.follow(numbers, paths)
        ended, started = before[~stays], numbers[np.count_nonzero(stays) :]
        self.allocating.allocator.tick()
        told, rates = self.allocating.allocator.updates()
        in_order = np.argsort(self.allocating.ids)
        places = in_order[np.searchsorted(self.allocating.ids, told, sorter=in_order)]
        self.sent = np.concatenate([self.sent[stays], np.zeros(len(started))])
        self.sent[places] = rates
        if now >= self.begin:
            up = np.unique(self.sources[np.concatenate([started, ended])])
            down = np.unique(self.sources[numbers[places]])
            self.traffic.starts += len(started)
            self.traffic.ends += len(ended)
            self.traffic.updates += len(told)
            self.traffic.packets += len(up) + len(down)
        return self.sent


def control(sizes, load, *, racks=9, threshold=0.01, method="ned", normalizer="f-norm", warm_up, seconds):
    """The control traffic of so many seconds at a load."""
    net = netnum.topology.leaf_spine(racks, 16, 4, server_capacity=flowtune.SERVER, fabric_capacity=flowtune.FABRIC)
    workload = sim.Workload.poisson(net, sizes, load, duration=warm_up + seconds, seed=1)
    allocating = flowtune.Allocating(method, net=net, normalizer=normalizer, update_threshold=threshold)
    counted = Counted(allocating, workload.sources, warm_up)
    sim.simulate(net, workload, flowtune.OnClock(counted.rates), until=warm_up + seconds, seed=1)
    return counted.traffic
