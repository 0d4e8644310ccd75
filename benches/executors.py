"""What a task costs on an executor, and what is sent of what the tasks share.

``python benches/executors.py`` measures threads, a pool of two processes, and a Dask cluster of two workers where that
is installed; ``mpiexec -n 3 python -m mpi4py.futures benches/executors.py mpi`` two workers of MPI. The tasks of the
first figure do nothing: the median of some sweeps of 1000 tasks, after one that starts the workers, beside that of as
many calls of the executor by itself, in turn. Those of the second read one entry of 50 MB.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np

import netnum

TASKS, SWEEPS = 1000, 5
SHARED = 50_000_000
READING = 120


class Counting(Executor):
    """Another executor, and the bytes that are sent through it."""

    def __init__(self, executor: Executor) -> None:
        self.executor, self.sent = executor, 0

    def submit(self, call, /, *arguments, **keywords) -> Future:
        self.sent += sum(len(each) for each in arguments if isinstance(each, bytes))
        return self.executor.submit(call, *arguments, **keywords)


def nothing(x: int, seed: int) -> dict[str, int]:
    return {"y": x}


def entry(shared: np.ndarray, x: int, seed: int) -> dict[str, float]:
    time.sleep(0.01)
    return {"y": float(shared[x]), "process": os.getpid()}


@contextmanager
def workers(kind: str) -> Iterator[Executor]:
    if kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            yield pool
    elif kind == "dask":
        from distributed import Client

        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
            yield client.get_executor(pure=False)
    elif kind == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    else:
        with ProcessPoolExecutor(2, mp_context=get_context(kind)) as pool:
            yield pool


def measure(kind: str) -> None:
    with workers(kind) as executor:
        of_sweeps, alone = [], []
        for _ in range(SWEEPS + 1):
            began = time.perf_counter()
            sweep = netnum.sim.sweep(nothing, {"x": range(TASKS)}, executor=executor)
            of_sweeps.append(1e3 * (time.perf_counter() - began) / TASKS)
            assert not sweep.failed
            began = time.perf_counter()
            wait([executor.submit(nothing, x, 0) for x in range(TASKS)])
            alone.append(1e3 * (time.perf_counter() - began) / TASKS)
        counting, shared = Counting(executor), np.random.default_rng(1).random(SHARED // 8)
        began = time.perf_counter()
        sweep = netnum.sim.sweep(entry, {"x": range(READING)}, shared=shared, executor=counting)
        reading = time.perf_counter() - began
        assert [row["y"] for row in sweep.rows] == shared[:READING].tolist()
    processes = len({row["process"] for row in sweep.rows})
    print(
        f"{kind:8s}{statistics.median(of_sweeps[1:]):6.2f} ms a task (a call {statistics.median(alone[1:]):.2f} ms);"
        f" {READING} tasks that share {SHARED / 1e6:.0f} MB, in {processes} processes: {counting.sent / 1e6:.0f} MB"
        f" sent, {reading:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    kinds = sys.argv[1:] or ["threads", "fork", "spawn", "dask"]
    for kind in kinds:
        try:
            measure(kind)
        except ImportError as error:
            print(f"{kind:8s}not measured: {error}")
