"""What every rank of `test_allocator_over_ranks.py` runs: the function of this file that the first argument names."""

import os
import pickle
import signal
import sys
import time
from collections import Counter

import numpy as np
from mpi4py import MPI
from mpi_program import raised, say

import netnum

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


class Allocators:
    """The flows of this rank in an allocator over the ranks, and on rank 0 all flows in another; flows are numbered."""

    def __init__(self, net, owners, **settings):
        self.net, self.owners = net, owners
        self.part = netnum.Allocator(net, update_threshold=0.0, comm=COMM, **settings)
        self.whole = netnum.Allocator(net, update_threshold=0.0, **settings) if RANK == 0 else None
        # By flow: links, one more than there are where the path is shorter, and ids.
        self.links = np.empty((0, 4), dtype=np.int64)
        self.ids = np.empty((2, 0), dtype=np.int64)
        self.alive = np.empty(0, dtype=np.int64)

    def each(self, flows):
        """The allocators, with those of the flows that are theirs."""
        yield 0, self.part, np.flatnonzero(flows % self.owners == RANK)
        if self.whole is not None:
            yield 1, self.whole, np.arange(len(flows))

    def start(self, paths, weight, alpha):
        flows = len(self.links) + np.arange(len(paths))
        lists = [list(paths[path]) for path in range(len(paths))]
        padding = len(self.net.capacities)
        rows = np.array([path + [padding] * (4 - len(path)) for path in lists], dtype=np.int64).reshape(-1, 4)
        self.links = np.concatenate([self.links, rows])
        self.ids = np.concatenate([self.ids, np.full((2, len(flows)), -1)], axis=1)
        self.alive = np.concatenate([self.alive, flows])
        for of, allocator, own in self.each(flows):
            self.ids[of, flows[own]] = allocator.start([lists[path] for path in own], weight[own], alpha=alpha[own])

    def end(self, flows):
        self.alive = np.setdiff1d(self.alive, flows)
        for of, allocator, own in self.each(flows):
            allocator.end(self.ids[of, flows[own]])

    def change(self, flows, weight):
        for of, allocator, own in self.each(flows):
            allocator.change(self.ids[of, flows[own]], weight[own])

    def call(self, name, *arguments):
        for _, allocator, _ in self.each(self.alive):
            getattr(allocator, name)(*arguments)

    def check(self, overload, tolerance):
        """No link is too full of the flows of all ranks; rates and prices are those of the one allocator."""
        mine = self.alive[self.alive % self.owners == RANK]
        rates = self.part.rates(self.ids[0, mine])
        assert np.isfinite(rates).all() and (rates >= 0).all()
        capacities = self.part.capacities
        loads = np.bincount(self.links[mine].ravel(), np.repeat(rates, 4), len(capacities) + 1)
        loads = COMM.allreduce(loads)[:-1]
        assert (loads <= capacities * (1 + overload)).all(), (loads / capacities).max()
        parts = COMM.gather((mine, rates))
        if RANK == 0:
            found = np.full(len(self.links), np.nan)
            for flows, rates in parts:
                found[flows] = rates
            expected = self.whole.rates(self.ids[1, self.alive])
            np.testing.assert_allclose(found[self.alive], expected, rtol=tolerance, atol=0)
            # What came to an idle link and ended before the tick leaves the rounding of its price there.
            np.testing.assert_allclose(self.part.prices, self.whole.prices, rtol=tolerance, atol=1e-12)


def churn():
    """So many starts, ends and changes, with a tick after every thousand of them, about."""
    events, owners, seed = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    settings = dict(setting.split("=") for setting in sys.argv[5:])
    single = settings.get("dtype") == "float32"
    net = netnum.topology.leaf_spine(racks=8, servers_per_rack=16, spines=4)
    rng, done, rounds, largest = np.random.default_rng(seed), 0, 0, min(1000, events // 20)
    both = Allocators(net, owners, **settings)
    while done < events:
        starts, servers = int(rng.integers(largest)), 8 * 16
        sources = rng.integers(servers, size=starts)
        paths = net.ecmp(sources, (sources + rng.integers(1, servers, size=starts)) % servers, seed=rounds)
        weight = 1e9 * 10 ** rng.uniform(-1, 1, starts)
        both.start(paths, weight, rng.choice([0.5, 1.0, 2.0], starts))
        # Now and then nearly all end, so that links are idle.
        ends = min(len(both.alive), int(rng.integers(largest)) if rng.random() < 0.9 else len(both.alive) - 5)
        both.end(rng.choice(both.alive, max(ends, 0), replace=False))
        changes = rng.choice(both.alive, min(len(both.alive), 10), replace=False)
        both.change(changes, 1e9 * 10 ** rng.uniform(-1, 1, len(changes)))
        links = rng.choice(len(net.capacities), int(rng.integers(4)), replace=False)
        capacity = np.asarray(net.capacities)[links] * rng.choice([0.0, 0.3, 1.0, 1.0], len(links))
        both.call("set_capacity", links, capacity)
        done, rounds = done + starts + max(ends, 0) + len(changes) + len(links), rounds + 1
        both.call(*(["respond"] if rounds % 7 == 0 else ["tick", 1 + rounds % 3]))
        both.check(1e-5 if single else 1e-12, 1e-4 if single else 1e-9)
    if RANK == 0:
        say(done, "events", rounds, "rounds")


def refusals():
    ranks = {"comm": COMM}
    say("comm", raised(lambda: netnum.Allocator([1.0], comm=3)))
    say("capacities", raised(lambda: netnum.Allocator([1.0, 2.0 + RANK], **ranks)))
    say("links", raised(lambda: netnum.Allocator([1.0] * (1 + RANK), **ranks)))
    say("gamma", raised(lambda: netnum.Allocator([1.0], gamma=0.4 + RANK / 10, **ranks)))
    say("method", raised(lambda: netnum.Allocator([1.0], method=["ned", "fast-ned", "rcp"][RANK], **ranks)))
    say("headroom", raised(lambda: netnum.Allocator([1.0], headroom=RANK / 10, **ranks)))
    say("normalizer", raised(lambda: netnum.Allocator([1.0], normalizer=None if RANK == 1 else "u-norm", **ranks)))
    say("dtype", raised(lambda: netnum.Allocator([1.0], dtype="float32" if RANK == 1 else "float64", **ranks)))
    say("fill", raised(lambda: netnum.Allocator([1.0], normalizer="fill", **ranks)))
    say("position", raised(lambda: netnum.Allocator([1.0], COMM)))
    other = RANK == 1
    say("type-headroom", raised(lambda: netnum.Allocator([1.0], headroom="x" if other else 0.0, **ranks)))
    say("type-dtype", raised(lambda: netnum.Allocator([1.0], dtype=64 if other else "float64", **ranks)))
    say("type-method", raised(lambda: netnum.Allocator([1.0], method=3 if other else "ned", **ranks)))
    say("type-normalizer", raised(lambda: netnum.Allocator([1.0], normalizer=3 if other else "u-norm", **ranks)))
    say("type-threshold", raised(lambda: netnum.Allocator([1.0], update_threshold=[] if other else 0.0, **ranks)))
    allocator = netnum.Allocator([1.0], **ranks)
    say("type-n", raised(lambda: allocator.tick("x" if other else 1)))
    allocator = netnum.Allocator([4.0], comm=MPI.COMM_SELF, normalizer="fill", update_threshold=0.0)
    ids = allocator.start([[0], [0]])
    allocator.tick()
    assert allocator.rates(ids).sum() == 4.0
    say("one", raised(lambda: netnum.Allocator([-1.0 if RANK == 1 else 1.0], **ranks)))

    allocator = netnum.Allocator([1.0, 1.0], **ranks)
    say("repr", repr(allocator))
    say("pickle", raised(lambda: pickle.dumps(allocator)))
    # What a rank refuses by itself changes nothing: the others do not learn of it.
    assert RANK != 1 or "path 0 names link 7" in raised(lambda: allocator.start([[7]]))
    allocator.tick()
    if RANK == 1:
        allocator.set_capacity(1, 0.5)
    say("set_capacity", raised(allocator.tick))
    say("again", raised(allocator.tick))

    allocator = netnum.Allocator(netnum.topology.parking_lot(2, capacity=1.0), **ranks)
    if RANK == 1:
        allocator.set_capacity(1, 0.5)
    say("link-name", raised(allocator.tick))

    allocator = netnum.Allocator([1.0], **ranks)
    say("respond", raised(allocator.respond if RANK == 1 else allocator.tick))

    def block():
        with netnum.Allocator([1.0], **ranks) as allocator:
            allocator.tick(3)
            if RANK == 1:
                raise RuntimeError("on purpose")
            allocator.tick(3)

    say("block", raised(block))
    with netnum.Allocator([1.0], **ranks) as allocator:
        allocator.tick()

    def nested(ticks):
        with netnum.Allocator([1.0], **ranks) as outer, netnum.Allocator([2.0], **ranks) as inner:
            both = [outer, inner]
            inner.tick()
            if other:
                raise RuntimeError("on purpose")
            both[ticks].tick()

    say("nested-outer", raised(lambda: nested(0)))
    say("nested-inner", raised(lambda: nested(1)))
    assert COMM.allreduce(1) == RANKS


def ids():
    """Ids are equal on the ranks, and those of different flows: what one of them ends is its own."""
    allocator = netnum.Allocator([6.0], comm=COMM, update_threshold=0.0)
    ids = allocator.start([[0], [0]], weight=[1.0, 1.0 + RANK])
    both = COMM.allgather(ids.tolist())
    assert both[0] == both[1]
    allocator.tick(200)
    np.testing.assert_allclose(allocator.rates(ids), [1.2, 1.2 * (1 + RANK)], rtol=1e-6)
    if RANK == 1:
        allocator.end(ids[:1])
    allocator.tick(200)
    assert len(allocator) == 2 - RANK
    np.testing.assert_allclose(allocator.rates(ids[RANK:]), [[1.5, 1.5], [3.0]][RANK], rtol=1e-6)


def elsewhere():
    """Rank 1 fails while the others are in a collective of the program, or compute before their next tick."""
    with netnum.Allocator([1.0], comm=COMM) as allocator:
        allocator.tick(3)
        if RANK == 1:
            say(time.time())
            raise RuntimeError("on purpose")
        if sys.argv[2] == "Allreduce":
            sums = np.ones(3)
            COMM.Allreduce(MPI.IN_PLACE, sums)
            say("sums", sums)
        elif sys.argv[2] == "reduce":
            say("reduced", COMM.reduce(1.0))
        else:
            time.sleep(1)
        allocator.tick()


def compute():
    say(raised(elsewhere))
    assert COMM.allreduce(1) == RANKS


def counts():
    """Reductions of a tick, and communicators that calls make and free."""
    count = Counter()

    class Counting(MPI.Intracomm):
        def Dup(self, info=None):
            count["made"] += 1
            return super().Dup(info)

        def Free(self):
            count["freed"] += 1
            super().Free()

        def Allreduce(self, *arguments):
            count["sums"] += 1
            super().Allreduce(*arguments)

        def Iallreduce(self, *arguments):
            count["votes"] += 1
            return super().Iallreduce(*arguments)

    comm = Counting(COMM.Dup())
    allocator = netnum.Allocator([1.0, 1.0], comm=comm)
    allocator.start([[0, 1]])
    allocator.tick(2)
    netnum.Allocator([1.0], comm=comm)
    before = count.copy()
    allocator.tick(10)
    say(count["votes"] - before["votes"], count["sums"] - before["sums"], count["made"], count["freed"])
    comm.Free()
    say("freed", count["freed"])


def interrupted():
    allocator = netnum.Allocator([1.0], comm=COMM)
    if RANK == 1:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    say(raised(lambda: allocator.tick(10**9)))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
