"""A tick of an allocator over the ranks of MPI, beside one process that has all flows. A table, in Markdown.

    mpiexec -n 2 python -m mpi4py benches/allocator_ranks.py              # some seconds
    mpiexec -n 2 python -m mpi4py benches/allocator_ranks.py --flows 1000000 --racks 256

NED and F-NORM on a leaf-spine with 32 servers in a rack; every rank has as many of the flows. One process, one rank and
all ranks tick in turn, so that a disturbance meets all; times and ratios are medians of the rounds.
"""

import argparse
import statistics
import time

from mpi4py import MPI

import netnum

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
#: The least time of a round.
LEAST = 0.02


def together() -> None:
    """Waits for all ranks, without taking a core from the one that works."""
    request = COMM.Ibarrier()
    while not request.Test():
        time.sleep(1e-4)


def made(net: netnum.Topology, flows: int, of: slice, comm: MPI.Intracomm | None) -> netnum.Allocator:
    paths = net.ecmp(*net.random_pairs(flows, seed=1), seed=1)
    allocator = netnum.Allocator(net, comm=comm)
    allocator.start([list(paths[path]) for path in range(*of.indices(flows))], 1e9)
    allocator.tick(20)
    return allocator


def seconds(allocator: netnum.Allocator, ticks: int) -> float:
    began = time.perf_counter()
    allocator.tick(ticks)
    return (time.perf_counter() - began) / ticks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=int, default=100_000)
    parser.add_argument("--racks", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=21)
    given = parser.parse_args()
    net = netnum.topology.leaf_spine(racks=given.racks, servers_per_rack=32, spines=16)
    everything = slice(None)
    alone = {}
    if RANK == 0:
        alone["one process"] = made(net, given.flows, everything, None)
        alone["1 rank"] = made(net, given.flows, everything, MPI.COMM_SELF)
    together()
    parts = made(net, given.flows, slice(RANK, None, RANKS), COMM)
    ticks = COMM.bcast(max(1, int(LEAST / seconds(alone["one process"], 3))) if RANK == 0 else None)
    times: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        for name, allocator in alone.items():
            times.setdefault(name, []).append(seconds(allocator, ticks))
        together()
        times.setdefault(f"{RANKS} ranks", []).append(seconds(parts, ticks))
    if RANK > 0:
        return
    medians = {name: statistics.median(found) for name, found in times.items()}
    print(f"A tick, {given.flows} flows, {len(net.capacities)} links, medians of {given.rounds} rounds of {ticks}:\n")
    print("| allocator | a tick | one process / this |")
    print("|---|---:|---:|")
    for name, median in medians.items():
        ratio = statistics.median(one / other for one, other in zip(times["one process"], times[name], strict=True))
        print(f"| {name} | {1e3 * median:.3f} ms | {ratio:.2f} |")


if __name__ == "__main__":
    main()
