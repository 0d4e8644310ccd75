"""An iteration over several ranks: its time, what of it is exchange, and the memory of a rank. A table, in Markdown.

    python benches/ranks.py                       # 1e7 flows on 65 536 servers, 1 and 2 ranks: a minute
    python benches/ranks.py --ranks 1 2 4 --flows 3e6 1e7 --fit       # the constants of docs/scale.md
    mpiexec -n 2 python benches/ranks.py --of-launcher --flows 1e7     # one row, as JSON

Leaf-spine of 32 servers per rack, log utility, fast NED. Every rank has the flows that begin in its racks, and the
flows are the same for any number of ranks. Numbers of ranks run in turn, so that a disturbance meets all; times are
medians over the iterations of a run, and over the runs. A step that the rule refuses counts as an iteration.

`local` is the time of a rank outside of reductions, the longest of the ranks; `cpu` is what it computed meanwhile,
which tells a machine that others use. Before every reduction the ranks wait for each other, so that `reduce` is the
exchange alone and `wait` what one rank is later than another; `small` are the votes and flags beside the sums. Memory
is the most that a rank had (`rss`), and the same less what Python, NumPy and MPI take (`data`).
"""

import argparse
import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import netnum

#: Parts of which every rank has some, for any number of ranks that divides it.
PARTS = 16
SERVERS_PER_RACK = 32
ITERATIONS = 30
LEAST = 10


def part_of(net: netnum.Topology, racks: int, spines: int, flows: int, part: int) -> np.ndarray:
    """The paths of the flows that begin in one of `PARTS` parts of the racks: the links of each."""
    rng = np.random.default_rng(part)
    count = flows * (part + 1) // PARTS - flows * part // PARTS
    rack = rng.integers(racks * part // PARTS, racks * (part + 1) // PARTS, count)
    other = (rack + rng.integers(1, racks, count)) % racks
    source, destination = (
        place * SERVERS_PER_RACK + rng.integers(0, SERVERS_PER_RACK, count) for place in (rack, other)
    )
    spine = rng.integers(0, spines, count)
    up, down = 2 * net.ends, 2 * net.ends + racks * spines
    links = (source, up + rack * spines + spine, down + other * spines + spine, net.ends + destination)
    return np.stack(links, axis=1).astype(np.uint32)


def problem_of(net: netnum.Topology, racks: int, spines: int, flows: int, parts: range) -> netnum.Problem:
    links = np.concatenate([part_of(net, racks, spines, flows, part) for part in parts])
    paths = netnum.Paths(np.arange(0, links.size + 1, 4), links.ravel())
    del links
    return netnum.Problem(net.capacities, paths, netnum.AlphaFair(1.0))


def peak_memory() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def run_rank(flows: int, racks: int, spines: int, iterations: int) -> None:
    """One rank of a run. Rank 0 prints the row, as JSON."""
    from mpi4py import MPI

    class Timed(MPI.Intracomm):
        """Notes every reduction: how many numbers, and seconds of local work before it, of its processor time, of
        waiting and of the reduction.
        """

        def __init__(self, comm: MPI.Intracomm) -> None:
            self.calls: list[tuple[int, float, float, float, float]] = []
            self.ended, self.cpu = time.perf_counter(), time.process_time()

        def Dup(self, info=None):
            return self

        def Allreduce(self, *args):
            self.note(super().Allreduce, args)

        def Iallreduce(self, *args):
            # What is then waited for has ended.
            self.note(super().Allreduce, args)
            return MPI.REQUEST_NULL

        def note(self, reduce, args):
            began, cpu = time.perf_counter(), time.process_time()
            self.Barrier()
            reducing = time.perf_counter()
            reduce(*args)
            ended = time.perf_counter()
            self.calls.append((len(args[1]), began - self.ended, cpu - self.cpu, reducing - began, ended - reducing))
            self.ended, self.cpu = ended, time.process_time()

    comm = Timed(MPI.COMM_WORLD)
    rank, ranks = comm.Get_rank(), comm.Get_size()
    net = netnum.topology.leaf_spine(racks=racks, servers_per_rack=SERVERS_PER_RACK, spines=spines)
    bare = peak_memory()
    own = range(PARTS * rank // ranks, PARTS * (rank + 1) // ranks)
    problem = problem_of(net, racks, spines, flows, own)
    netnum.distributed.solve(problem, "fast-ned", comm=comm, max_iterations=iterations, tol=1e-300)
    sums = 2 * len(net.capacities)
    row = {"ranks": ranks, "flows": flows, "links": len(net.capacities)} | of_iterations(comm.calls, sums)
    row |= {"rss": peak_memory(), "data": peak_memory() - bare}
    rows = comm.allgather(row)
    if rank == 0:
        print(json.dumps({name: max(row[name] for row in rows) for name in row}))


def of_iterations(calls: list[tuple[int, float, float, float, float]], sums: int) -> dict[str, float]:
    """Medians in ms, from one reduction of loads and slopes to the next."""
    ends = [place for place, (count, *_) in enumerate(calls) if count >= sums]
    rows = []
    for before, end in itertools.pairwise(ends):
        _, local, cpu, waiting, reducing = np.array(calls[before + 1 : end + 1]).T
        rows.append([local.sum(), cpu.sum(), waiting.sum(), reducing[:-1].sum(), reducing[-1]])
    if len(rows) < LEAST:
        sys.exit(f"the solve ended after {len(rows)} iterations, too few for a median: give more flows")
    times = 1e3 * np.array(rows)
    names = ("total", "local", "cpu", "wait", "small", "reduce")
    total = np.median(times[:, [0, 2, 3, 4]].sum(axis=1))
    return dict(zip(names, [float(total), *map(float, np.median(times, axis=0))], strict=True))


def run_alone(flows: int, racks: int, spines: int, iterations: int) -> None:
    """`netnum.solve` without ranks: an iteration is what further iterations add to the time of a call."""
    net = netnum.topology.leaf_spine(racks=racks, servers_per_rack=SERVERS_PER_RACK, spines=spines)
    bare = peak_memory()
    problem = problem_of(net, racks, spines, flows, range(PARTS))

    def seconds(iterations: int) -> float:
        began = time.perf_counter()
        netnum.solve(problem, "fast-ned", max_iterations=iterations, tol=1e-300)
        return time.perf_counter() - began

    few = iterations // 2
    total = 1e3 * (seconds(few + iterations) - seconds(few)) / iterations
    row = {"ranks": 0, "flows": flows, "links": len(net.capacities), "total": total}
    print(json.dumps(row | {"rss": peak_memory(), "data": peak_memory() - bare}))


def start(arguments: argparse.Namespace, ranks: int, flows: int) -> dict[str, float]:
    """The row of one run."""
    launcher = Path(sys.executable).parent / "mpiexec"
    launcher = str(launcher) if launcher.exists() else shutil.which("mpiexec")
    if launcher is None:
        sys.exit("there is no mpiexec")
    command = [launcher, "-n", str(ranks)] if ranks else []
    command += [sys.executable, __file__, "--of-launcher", "--flows", str(flows)]
    for name in ("racks", "spines", "iterations"):
        command += [f"--{name}", str(getattr(arguments, name))]
    command += [] if ranks else ["--alone"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=float, nargs="+", default=[1e7])
    parser.add_argument("--racks", type=int, default=2048)
    parser.add_argument("--spines", type=int, default=8)
    parser.add_argument("--ranks", type=int, nargs="+", default=[0, 1, 2], help="0 is netnum.solve, without ranks")
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fit", action="store_true", help="with the constants of the model")
    parser.add_argument("--of-launcher", action="store_true", help="this process is one rank")
    parser.add_argument("--alone", action="store_true", help="this process is netnum.solve")
    arguments = parser.parse_args()
    if arguments.fit and max(arguments.ranks) < 2:
        parser.error("--fit takes the time of reductions from a run of at least two ranks: give --ranks 1 2")
    if arguments.of_launcher:
        run = run_alone if arguments.alone else run_rank
        run(int(arguments.flows[0]), arguments.racks, arguments.spines, arguments.iterations)
        return
    names = ("total", "local", "cpu", "wait", "small", "reduce", "rss", "data")
    print(
        "| flows | links | ranks |",
        " | ".join(f"{name}, {'MB' if name in names[-2:] else 'ms'}" for name in names),
        "|",
    )
    print("|---:" * (3 + len(names)) + "|")
    found = []
    for flows in arguments.flows:
        runs = [[start(arguments, ranks, int(flows)) for ranks in arguments.ranks] for _ in range(arguments.rounds)]
        for rows in zip(*runs, strict=True):
            of = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
            found.append(of)
            cells = [f"{of[name]:.{0 if name in names[-2:] else 2}f}" if name in of else "–" for name in names]
            print(f"| {int(flows)} | {int(of['links'])} | {int(of['ranks']) or 'none'} |", " | ".join(cells), "|")
    if arguments.fit:
        print(fit([of for of in found if of["ranks"]]))


def fit(rows: list[dict[str, float]]) -> str:
    """Constants of the model: local = s n/P + c L by least squares, and medians of bandwidth and of small reductions.

    Local work is processor time, which others on the machine disturb least. Reductions count where every rank has a
    core.
    """
    sizes = np.array([[row["flows"] / row["ranks"], row["links"]] for row in rows])
    (s, c), *_ = np.linalg.lstsq(sizes, np.array([row["cpu"] for row in rows]), rcond=None)
    cores = len(os.sched_getaffinity(0))
    several = [row for row in rows if 1 < row["ranks"] <= max(cores, 2)]
    bandwidth = statistics.median(
        16 * row["links"] * 2 * (row["ranks"] - 1) / row["ranks"] / (1e-3 * row["reduce"]) for row in several
    )
    small = statistics.median(row["small"] for row in several)
    return f"s = {1e6 * s:.2f} ns, c = {1e6 * c:.1f} ns, B = {bandwidth / 1e9:.1f} GB/s, small = {1e3 * small:.0f} us"


if __name__ == "__main__":
    main()
