"""What Flowtune's evaluations share: its network, its flow sizes, and price iterations that see flows come and go.

An iteration computes the demands of flows at the present prices, and then moves the prices. Several methods may run
beside the one that decides what flows send, so that all are judged on the
same flows.
"""

import math

import numpy as np

import netnum
from netnum import sim

SERVER, FABRIC = 10e9, 40e9  # bit/s
NET = netnum.topology.leaf_spine(9, 16, 4, server_capacity=SERVER, fabric_capacity=FABRIC)
TICK = 10e-6  # seconds
# Seconds until there are about as many web flows as later on, by load.
WARM_UP = {0.25: 0.01, 0.5: 0.02, 0.75: 0.05}

# Table 1 of the paper: its quantiles, in bytes, between a smallest packet and a largest flow that are ours, and its
# mean. The exponent of the curve between two quantiles follows from the mean.
FRACTIONS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
WORKLOADS = {
    "web": ((64, 1419, 55_179, 208_966, 417_147, 2_560_769, 6e6), 33_105.3),
    "cache": ((64, 22_924, 2_432_831, 2_716_140, 3_131_038, 5_663_439, 8e6), 567_658.4),
    "hadoop": ((64, 651, 117_471, 266_706, 6_405_830, 251_359_175, 1e9), 1_296_082.4),
}


def sizes(name):
    """Flow sizes with the quantiles and the mean of Table 1: a (b/a)^(u^k) between two quantiles a and b, 0 < u ≤ 1."""
    quantiles, mean = WORKLOADS[name]
    part = np.linspace(0.0, 1.0, 101)[1:]

    def curve(exponent):
        points = [(quantiles[0], 0.0)]
        for a, b, low, high in zip(quantiles, quantiles[1:], FRACTIONS, FRACTIONS[1:], strict=False):
            points += zip(a * (b / a) ** part**exponent, low + (high - low) * part, strict=True)
        return sim.Sizes([*points[:-1], (quantiles[-1], 1.0)])

    low, high = 0.1, 10.0  # the larger the exponent, the smaller the mean
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if curve(middle).mean > mean else (low, middle)
    return curve(low)


class Allocating:
    """An `Allocator` without a normalizer. A flow demands at most `box` times its path's smallest capacity."""

    def __init__(self, method, iterations=1, box=1.0):
        self.allocator = netnum.Allocator(NET, method=method, normalizer=None, update_threshold=0.0)
        self.iterations, self.box = iterations, box
        self.numbers, self.ids = np.empty(0, dtype=int), np.empty(0, dtype=int)

    def demands_at(self, numbers, paths):
        """The demands of the present flows, in bit/s. Their numbers grow with the time of arrival."""
        stays = np.isin(self.numbers, numbers)
        old = np.count_nonzero(stays)
        self.allocator.end(self.ids[~stays])
        new = netnum.Paths(paths.indptr[old:] - paths.indptr[old], paths.indices[paths.indptr[old] :])
        started = self.allocator.start(new, weight=SERVER, rate_cap=self.box * SERVER)
        self.numbers, self.ids = numbers, np.concatenate([self.ids[stays], started])
        self.allocator.tick(self.iterations)
        return self.allocator.rates(self.ids)


class Prices:
    """Prices of the papers' making, p ← [`move`]₊ after rates of 1/(path's price): in Gbit/s, and the utility log x.

    The "gradient" and "fgm" of netnum have no units, take their steps from the present flows, and start again when
    those change.
    """

    def __init__(self, box=1.0):
        self.most = box * SERVER / 1e9
        self.capacities = NET.capacities / 1e9
        self.prices, self.loads = np.zeros_like(self.capacities), np.zeros_like(self.capacities)

    def demands_at(self, _numbers, paths):
        """The demands, in bit/s."""
        links, lengths = paths.indices, np.diff(paths.indptr)
        flow = np.repeat(np.arange(len(lengths)), lengths)

        def on_links(values):
            return np.bincount(links, weights=values[flow], minlength=len(self.capacities))

        # A link that was empty: its flows pay what they are worth, in equal parts on all links of their paths.
        revenue = on_links(1 / lengths) / self.capacities
        self.prices = np.where(self.loads == 0, revenue, self.prices)
        path_prices = np.bincount(flow, weights=self.prices[links], minlength=len(lengths))
        rates = 1 / np.maximum(path_prices, 1 / self.most)
        self.loads = on_links(rates)
        moved = self.move(self.loads - self.capacities, on_links(lengths.astype(float)))
        self.prices = np.where(self.loads > 0, np.maximum(moved, 0), self.prices)
        return 1e9 * rates


class Gradient(Prices):
    """p ← p + γ G, with one γ for ever."""

    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def move(self, excess, _crossings):
        """The next prices, before those below 0 are cut."""
        return self.prices + self.gamma * excess


class FastGradient(Prices):
    """FGM: steps of G/L, L_l = Σ |path| (capacity of a server)² of the flows on a link, and momentum without end."""

    def __init__(self, box=1.0):
        super().__init__(box)
        self.t, self.base = 1.0, np.zeros_like(self.capacities)

    def move(self, excess, crossings):
        """The next prices; `crossings` adds up the lengths of the paths over each link."""
        base = np.maximum(self.prices + excess / np.maximum(crossings * (SERVER / 1e9) ** 2, 1), 0)
        t = (1 + math.sqrt(1 + 4 * self.t**2)) / 2
        prices = base + (self.t - 1) / t * (base - self.base)
        self.t, self.base = t, base
        return prices


class OnClock:
    """A policy for `simulate`: `rates(now, numbers, paths)` decides at every tick; from a time on, at every change."""

    def __init__(self, rates, changes_from=math.inf):
        self.rates, self.changes_from, self.next = rates, changes_from, 0.0

    def allocate(self, now, flows):
        """New rates if it is time for some, and the time of the next tick."""
        if now < min(self.next, self.changes_from):
            return None, self.next
        self.next = (math.floor(now / TICK) + 1) * TICK
        if self.next <= now:  # the quotient was just below a whole number
            self.next += TICK
        rates = self.rates(now, flows.numbers, flows.paths) if len(flows) else None
        return rates, math.inf if now >= self.changes_from else self.next


def observe(load, rates, seconds, *, at_changes=False):
    """Web flows at a load: `rates` decides at ticks until they are as many as they stay, then for some seconds more.

    `rates(now, numbers, paths)` is called at every tick, or, after the warm-up, at every change.
    """
    end = WARM_UP[load] + seconds
    workload = sim.Workload.poisson(NET, sizes("web"), load, duration=end, seed=1)
    policy = OnClock(rates, WARM_UP[load] if at_changes else math.inf)
    sim.simulate(NET, workload, policy, until=end, seed=1)


def all_demands(methods, begin, now, numbers, paths):
    """The demands under each of the methods. All but the first join shortly before `begin`."""
    running = methods if now >= begin - 100 * TICK else methods[:1]
    return [method.demands_at(numbers, paths) for method in running]
