"""How far beyond `time_limit` calls go, and how long Ctrl-C takes: two tables, in Markdown.

    python benches/deadlines.py --flows 1000 1000000 --tries 5 > deadlines.md
    python benches/deadlines.py --flows 10000000 --only ecmp solve

Signals come at random times over the whole duration of a call, and so in every part of it: reading arrays,
construction, iterations, making the answer. A cell is the worst of the tries, in milliseconds.
"""

import argparse
import inspect
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import netnum
from netnum import sim

#: Seconds.
LIMITS = (0.05, 1.0)
#: A shorter call is not interrupted.
SHORT = 0.02
#: The longest time that a call runs before it is interrupted.
LONGEST = 10.0


# --- the calls ---


@cache
def network(flows: int) -> netnum.Topology:
    """A leaf-spine network with about ten flows per server, at most 4096 servers."""
    racks = min(max(flows // 160, 4), 256)
    return netnum.topology.leaf_spine(racks=racks, servers_per_rack=16, spines=8)


@cache
def pairs(flows: int):
    return network(flows).random_pairs(flows, seed=1)


@cache
def paths(flows: int) -> netnum.Paths:
    return network(flows).ecmp(*pairs(flows), seed=1)


@cache
def problem(flows: int, alpha: float = 2.0) -> netnum.Problem:
    return netnum.Problem(network(flows).capacities, paths(flows), utility(flows, alpha))


@cache
def several_paths(flows: int, alpha: float = np.inf) -> netnum.Problem:
    """Two paths per flow, by another seed."""
    both = [paths(flows), network(flows).ecmp(*pairs(flows), seed=2)]
    indptr = np.concatenate([both[0].indptr, both[1].indptr[1:] + both[0].indptr[-1]])
    indices = np.concatenate([each.indices for each in both])
    group = np.tile(np.arange(flows), 2)
    both_paths = netnum.Paths(indptr, indices)
    return netnum.Problem(network(flows).capacities, both_paths, utility(flows, alpha), group=group)


def utility(flows: int, alpha: float = 1.0) -> netnum.AlphaFair:
    return netnum.AlphaFair(alpha, weights(flows))


def sizes() -> sim.Sizes:
    return sim.Sizes.named("web_search")


@cache
def weights(flows: int):
    return np.random.default_rng(1).uniform(0.5, 2.0, flows)


@cache
def workload(flows: int) -> sim.Workload:
    return sim.Workload.poisson(network(flows), sizes(), flows=flows, seed=1)


@cache
def text_of_edges(flows: int) -> str:
    """A line per flow: as many links as the others have flows."""
    return "\n".join(f"{at} {at + 1} 10" for at in range(flows))


@cache
def lists(flows: int):
    return [list(path) for path in paths(flows)]


@cache
def text_of_problem(flows: int) -> str:
    return problem(flows).to_json()


#: Made once per size.
KEPT = (pairs, paths, problem, several_paths, weights, workload, text_of_edges, lists, text_of_problem)


def started_allocator(flows: int) -> netnum.Allocator:
    allocator = netnum.Allocator(network(flows))
    allocator.start(paths(flows))
    return allocator


#: Settings with which a solve does not end by itself.
ENDLESS = {"tol": 1e-15, "stop": "kkt", "max_iterations": 10**8}


@dataclass
class Call:
    """A long call, by size. `prepare` makes its arguments, which is not timed."""

    name: str
    prepare: Callable[[int], Callable[..., object]]
    #: Flows of the largest size.
    most: int = 10**7
    #: Problems that have the limit, each, one after the other.
    problems: int = 1


def start_all(net: netnum.Topology, paths: netnum.Paths) -> None:
    netnum.Allocator(net).start(paths)


#: The preparation of larger ones takes minutes.
LARGE = 10**6

CALLS = [
    Call("solve", lambda n: partial(netnum.solve, problem(n), **ENDLESS)),
    Call("solve, NED", lambda n: partial(netnum.solve, problem(n), "ned", **ENDLESS)),
    Call("solve, several paths", lambda n: partial(netnum.solve, several_paths(n, 2.0), **ENDLESS)),
    Call("solve, max-min", lambda n: partial(netnum.solve, problem(n, np.inf))),
    Call("solve, max-min, several paths", lambda n: partial(netnum.solve, several_paths(n)), LARGE),
    Call(
        "solve_many",
        lambda n: partial(netnum.solve_many, [problem(n // 10, 2.0)] * 10, threads=1, **ENDLESS),
        problems=10,
    ),
    Call("max_min, several paths", lambda n: partial(netnum.max_min, several_paths(n)), LARGE),
    Call("simulate", lambda n: partial(sim.simulate, network(n), workload(n)), LARGE),
    Call("Workload.poisson", lambda n: partial(sim.Workload.poisson, network(n), sizes(), flows=n)),
    Call("Allocator.start", lambda n: partial(start_all, network(n), paths(n))),
    Call("Allocator.tick(100)", lambda n: partial(started_allocator(n).tick, 100)),
    Call("random_pairs", lambda n: partial(network(n).random_pairs, n, seed=2)),
    Call("ecmp", lambda n: partial(network(n).ecmp, *pairs(n), seed=3)),
    Call("from_edges", lambda n: partial(netnum.topology.from_edges, text_of_edges(n)), LARGE),
    Call("Problem of arrays", lambda n: partial(netnum.Problem, network(n).capacities, paths(n), utility(n))),
    Call("Problem of lists", lambda n: partial(netnum.Problem, network(n).capacities, lists(n), utility(n)), LARGE),
    Call("Problem.from_json", lambda n: partial(netnum.Problem.from_json, text_of_problem(n)), LARGE),
]


# --- measuring ---


def takes_limit(call: Call) -> bool:
    return "time_limit" in inspect.signature(call.prepare(10).func).parameters


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def latency(work: Callable[[], object], after: float) -> float | None:
    """Seconds from a signal, sent so long after the call, to the KeyboardInterrupt; None if it was over before.

    Both are in processor time, which other work on the machine does not lengthen.
    """
    sent = time.process_time() + after
    old = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        work()
    except KeyboardInterrupt:
        return max(time.process_time() - sent, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    return None


def duration(work: Callable[[], object]) -> float:
    """Of a call to its end, or until it is interrupted because it takes too long."""
    began = time.process_time()
    cut = latency(work, LONGEST)
    return LONGEST if cut is not None else time.process_time() - began


def overshoot(call: Call, flows: int, limit: float, tries: int) -> str:
    work = call.prepare(flows)
    over = [seconds_of(lambda: work(time_limit=limit)) - limit * call.problems for _ in range(tries)]
    return f"{1e3 * max(over):.0f}" if max(over) > 0 else "ends"


def interruption(call: Call, flows: int, tries: int, rng: random.Random) -> str:
    work = call.prepare(flows)
    whole = duration(work)
    if whole < SHORT:
        return f"({1e3 * whole:.0f})"
    found = [latency(work, rng.uniform(0.001, 0.9 * whole)) for _ in range(tries)]
    seconds = [each for each in found if each is not None]
    return f"{1e3 * max(seconds):.0f}" if seconds else "ends"


def table(title: str, rows: list[str], sizes: list[int], cell: Callable[[str, int], str]) -> None:
    print(f"| {title} | " + " | ".join(f"{size:.0e}".replace("e+0", "e") for size in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for row in rows:
        cells = []
        for size in sizes:
            cells.append(cell(row, size))
            # Arguments of other sizes would fill the memory.
            for kept in KEPT:
                kept.cache_clear()
        print(f"| {row} | " + " | ".join(cells) + " |", flush=True)
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="calls whose names begin with one of these")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wanted = tuple(options.only or [""])
    calls = {call.name: call for call in CALLS if call.name.startswith(wanted)}
    limited = [name for name, call in calls.items() if takes_limit(call)]

    for limit in LIMITS:

        def over(name: str, flows: int, limit: float = limit) -> str:
            call = calls[name]
            return overshoot(call, flows, limit, options.tries) if flows <= call.most else ""

        table(f"ms beyond a limit of {limit:g} s, flows:", limited, options.flows, over)

    rng = random.Random(options.seed)

    def cut(name: str, flows: int) -> str:
        call = calls[name]
        return interruption(call, flows, options.tries, rng) if flows <= call.most else ""

    table("ms from Ctrl-C to KeyboardInterrupt, flows:", list(calls), options.flows, cut)
    print(f"Worst of {options.tries}. In parentheses: the whole call, where that is all. Ends: it was over before.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
