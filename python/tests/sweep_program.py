"""Programs of `test_sweep.py` that need processes of their own: ``python sweep_program.py NAME ARGUMENTS``."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import dask, processes
from test_sweep import GRID, dies, slow, study

import netnum


def frame(path):
    """Writes the frame of a sweep on the ranks of MPI, and says how often it sent what the tasks share."""
    from mpi4py.futures import MPIPoolExecutor

    net = netnum.topology.leaf_spine(racks=2, servers_per_rack=4, spines=2)
    problem = netnum.Problem(net, net.ecmp([0, 1, 2], [4, 5, 3]), netnum.AlphaFair(1.0))
    caps = np.linspace(1e8, 1e10, 60).reshape(20, 3)
    with MPIPoolExecutor() as pool:
        netnum.sim.sweep(study, GRID, seeds=5, shared=net, executor=pool).to_pandas().to_pickle(path)
        here, there = (netnum.solve_many(problem, flow_caps=caps, executor=each) for each in (None, pool))
    assert (here.rates == there.rates).all()


def interrupted(executor):
    """Prints a line when the tasks run, and one when Ctrl-C has come through."""
    if executor == "dask":
        pool = dask().get_executor()
    else:
        pool = ThreadPoolExecutor(2) if executor == "threads" else processes(2, executor)
    netnum.sim.sweep(slow, {"x": list(range(8))}, executor=pool)
    print("runs", flush=True)
    try:
        netnum.sim.sweep(slow, {"x": list(range(400))}, executor=pool)
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)


def everywhere(path):
    """What a rank makes of a sweep that every rank does."""
    from mpi4py import MPI

    MPI.COMM_WORLD.Barrier()
    try:
        print(netnum.sim.sweep(slow, {"x": list(range(8))}, checkpoint=path), flush=True)
    except netnum.NumError as error:
        print(f"NumError: {error}", flush=True)


def killed(path):
    """Ends without a word after the first task."""
    netnum.sim.sweep(dies, {"x": [0, 1]}, checkpoint=path)


def twice(x, seed):
    return {"y": 2 * x}


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, seed):
        return {"y": self.factor * x}


def written(path):
    """Checkpoints of what stands in this program."""
    netnum.sim.sweep(twice, {"x": [1, 2]}, checkpoint=path)
    netnum.sim.sweep(Times(3), {"x": [1, 2]}, checkpoint=path + ".times")


def forked(path):
    """A sweep on processes that are forked while its checkpoint is open."""
    with processes(2, "fork") as pool:
        netnum.sim.sweep(slow, {"x": [0, 1, 2, 3, 4, 5]}, executor=pool, checkpoint=path)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
