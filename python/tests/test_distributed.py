"""`netnum.distributed.solve`, by `mpiexec` with two and three ranks: the answers and the errors of all ranks."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import netnum

HERE = Path(__file__).parent
LAUNCHER = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def mpi():
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: nothing of netnum.distributed is tested")
    if LAUNCHER is None:
        pytest.skip("there is no mpiexec: nothing of netnum.distributed is tested")


def run(ranks, *arguments, program="mpi_program.py", timeout=240):
    mpi()
    # By mpi4py, an exception that nothing catches ends all ranks.
    command = [LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(HERE / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_rates_are_those_of_one_process(ranks, request):
    done = run(ranks, "agrees", "100" if request.config.getoption("--slow") else "6")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_ranks_give_the_same_bits_again():
    done = run(3, "again")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_errors_come_on_all_ranks_and_name_the_rank(ranks):
    done = run(ranks, "refusals")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for rank in range(ranks):
        of = {line.split()[1]: line for line in lines if line.startswith(f"{rank} ")}
        assert "link 0 has capacity 1 on one, and link 0 has capacity" in of["capacity"]
        assert "tol is " in of["tol"] and "the ranks differ" in of["tol"]
        assert "comm must be an intracommunicator of mpi4py, not 3" in of["comm"]
        assert ("TypeError" if rank == 1 else "rank 1 has failed: TypeError") in of["type"]
        assert ("RuntimeError: on purpose" if rank == 1 else "rank 1 has failed: its callback") in of["callback"]


@pytest.mark.parametrize("program", ["mpi_program.py", "mpi_allocator.py"])
def test_an_interrupted_rank_ends_all(program):
    done = run(3, "interrupted", program=program)
    lines = sorted(done.stdout.splitlines())
    assert done.returncode == 0 and len(lines) == 3, done.stdout + done.stderr
    assert "KeyboardInterrupt" in lines[1]
    assert all("rank 1 has failed" in line for line in (lines[0], lines[2]))


def test_a_killed_rank_ends_all_within_five_seconds_and_leaves_no_process():
    done = run(3, "killed")
    ended = time.time()
    assert done.returncode != 0
    _, *pids, when = next(line for line in done.stdout.splitlines() if line.startswith("pids")).split()
    assert ended - float(when) < 5
    # The launcher names a process: the first that it has missed, which may be one that it ended itself.
    named = (done.stdout + done.stderr).split("BAD TERMINATION")[1]
    assert any(pid in named for pid in pids)
    for pid in map(int, pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_without_ranks_there_is_no_distributed_solve(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match=r'pip install "netnum\[mpi\]"'):
        netnum.distributed.solve(netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0)))
