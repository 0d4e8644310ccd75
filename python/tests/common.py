"""What tests of several files need."""

import doctest
import importlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import netnum

# --- problems ---

NET = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
#: NED with a full step swings for ever on many networks.
ENDLESS = {"method": "ned", "gamma": 1.0, "tol": 1e-15, "max_iterations": 10**9}
FAIR = netnum.AlphaFair(1.0)


def real_network(name, equal):
    """A network of `benches/networks`, with equal capacities or mixed ones, as the benchmarks have it."""
    benches = str(Path(__file__).resolve().parents[2] / "benches")
    sys.path.insert(0, benches)
    net = importlib.import_module("at_size").network(name, equal)
    sys.path.remove(benches)
    return net


def crowd(flows, seed=0, utility=None):
    return netnum.Problem(NET, NET.ecmp(*NET.random_pairs(flows, seed=seed)), utility or netnum.AlphaFair(1.0))


def four_flows(utility=FAIR, **others):
    return netnum.Problem([1.0, 2.0, 1.5], [[0, 1], [0], [1, 2], [2]], utility, **others)


def at_optimum(problem):
    return netnum.solve(problem).sensitivity()


# --- Ctrl-C, processes, ranks ---


def seconds_until_interrupted(work, after=0.15):
    """How long after Ctrl-C the work raises KeyboardInterrupt."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs POSIX timers")
    pressed = []

    def press(number, frame):
        pressed.append(time.monotonic())
        signal.default_int_handler(number, frame)

    # The signal arrives when the timer ends; its handler runs when the solver next looks. The time between is measured.
    sent = time.monotonic() + after
    old = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        ended = time.monotonic()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert len(pressed) == 1
    assert ended >= sent
    return ended - sent


def turns_during(work):
    """How many turns of 5 ms this thread has while another one works, and how many there were."""
    counted, over = 0, threading.Event()

    def run():
        work()
        over.set()

    working = threading.Thread(target=run)
    began = time.monotonic()
    working.start()
    while not over.is_set():
        counted += 1
        time.sleep(0.005)
    working.join()
    return counted, (time.monotonic() - began) / 0.005


def processes(count=2, start="spawn", **options):
    return ProcessPoolExecutor(count, mp_context=get_context(start), **options)


def dask():
    """The client of a cluster of two workers."""
    return pytest.importorskip("distributed").Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


HERE = Path(__file__).parent
LAUNCHER = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def mpiexec(ranks, *arguments, program="mpi_program.py", module="mpi4py", timeout=240):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: nothing of netnum.distributed is tested")
    if LAUNCHER is None:
        pytest.skip("there is no mpiexec: nothing of netnum.distributed is tested")
    # By mpi4py, an exception that nothing catches ends all ranks.
    command = [LAUNCHER, "-n", str(ranks), sys.executable, "-m", module, str(HERE / program), *arguments]
    environment = dict(os.environ)
    if ranks > (os.cpu_count() or 1):
        # MPICH spins, and what it does between is no rest for a process that shares a core.
        environment |= {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "100"}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


# --- docstrings ---


def run_examples(name, thing):
    """Runs the examples of a docstring, and returns how many there are."""
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"netnum": netnum, "np": np}, name, None, 0)
    output = []
    ended = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=output.append)
    assert ended.failed == 0, "".join(output)
    return ended.attempted
