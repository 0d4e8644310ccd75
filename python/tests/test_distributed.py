"""`netnum.distributed.solve`, by `mpiexec` with two and three ranks: the answers and the errors of all ranks."""

import os
import re
import sys
import time

import pytest
from common import mpiexec

import netnum

#: The least part of the problems of which the ranks and one process find the optimum within 2000 iterations.
LEAST = {"fast-ned": 0.5, "ned": 0.5, "gradient": 0.1, "fgm": 0.03}


def check_rates(ranks, problems, every):
    done = mpiexec(ranks, "agrees", str(problems), str(every), timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    (count,) = re.findall(r"^(\d+) problems,", done.stdout, re.MULTILINE)
    for method, share in LEAST.items():
        (same,) = re.findall(rf"^{method}, to the end: (\d+) the same, optimal$", done.stdout, re.MULTILINE)
        assert int(same) >= share * int(count), method


@pytest.mark.parametrize("ranks", [2, 3])
def test_rates_are_those_of_one_process(ranks):
    check_rates(ranks, problems=2, every=7)


# All of it, on ranks beyond the cores for an hour: mpiexec -n 4 python -m mpi4py mpi_program.py agrees 500 1
@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "problems", "every"), [(1, 200, 1), (2, 25, 1), (3, 5, 6), (4, 5, 6)])
def test_rates_of_many_problems_are_those_of_one_process(ranks, problems, every):
    check_rates(ranks, problems, every)


def test_the_same_ranks_give_the_same_bits_again():
    done = mpiexec(3, "again")
    assert done.returncode == 0, done.stdout + done.stderr


def differ(one, other):
    return 2 * [f"NumError: the ranks differ: {one} on rank 0, and {other} on rank 1"]


def fails(error, told=None):
    """Rank 1 raises it, and rank 0 says so: the message of netnum, or kind and message where it raised in Python."""
    return [f"NumError: rank 1 has failed: {told or error}", error]


NOT_ONE = "TypeError: comm must be an intracommunicator of mpi4py, not "
NO_MAX_MIN, NO_LINEAR = (
    f'MethodError: method "fast-ned" cannot take {kind} utilities; solve the whole problem in one process'
    for kind in ("max-min", "linear")
)
NO_COMM = (
    "MethodError: solve has no 'comm': over the ranks of a communicator, each with its part of the flows, it "
    "is netnum.distributed.solve(part, comm=comm)"
)
#: What ranks 0 and 1 raise, or how it begins.
REFUSALS = {
    "comm": 2 * [NOT_ONE + "3"],
    "null": 2 * ["TypeError: comm is MPI.COMM_NULL: this rank is outside of the group, or the communicator was freed"],
    "intercomm": 2 * [NOT_ONE + "<mpi4py.MPI.Intercomm object"],
    "problem": fails("TypeError: 'list' object is not an instance of 'Problem'"),
    "capacity": differ("link 0 has capacity 1", "capacity 2"),
    "links": differ("there are 1 links", "there are 2 links"),
    "method": differ('the method is "gradient"', 'the method is "ned"'),
    "option": differ('option "gamma" is 0.4', 'option "gamma" is 0.5'),
    "options": differ("0 options of the method are given", "1 options of the method are given"),
    "option-name": differ('option "gamma" is given', 'option "gama" is given'),
    "no-option": 2 * ['MethodError: method "ned" has no option "delta"; known options: gamma'],
    "tol": differ("tol is 1e-4", "tol is 1e-5"),
    "stop": differ('stop is "kkt"', 'stop is "gap"'),
    "limit": differ("there is no time limit", "the time limit is 9 s"),
    "iterations": differ("max_iterations is 10", "max_iterations is 11"),
    "start": differ("link 0 has first price 1", "first price 2"),
    "start-here": differ("0 prices are given to start from", "1 prices are given to start from"),
    "start-length": 2 * ["ProblemError: prices has 2 entries, expected 1, one per link"],
    "start-nan": differ("link 0 has first price 1", "first price NaN"),
    "type": fails("TypeError: must be real number, not str"),
    "threads": fails("NumError: threads is 0, expected at least 1"),
    "unknown": 2 * ['MethodError: unknown method "magic"; known: auto, fast-ned'],
    "interior-point": 2 * ['MethodError: method "interior-point" cannot take a part of a problem; use "fast-ned"'],
    "max-min": 2 * [NO_MAX_MIN],
    "max-min-here": fails(NO_MAX_MIN, told=NO_MAX_MIN.removeprefix("MethodError: ")),
    "linear": 2
    * ['MethodError: method "fast-ned" cannot take linear utilities; solve the whole problem in one process'],
    "link-name": differ("link 3 (server 3 -> rack 1) has capacity 10000000000", "capacity 20000000000"),
    "comm-as-method": 2
    * ["TypeError: a communicator is given as the method: it is netnum.distributed.solve(part, comm=comm)"],
    "comm-of-solve": 2 * [NO_COMM],
    "comm-of-solver": 2 * [NO_COMM.replace("solve has", "Solver has")],
    "comm-of-solve-many": 2 * [NO_COMM.replace("solve has", "solve_many has")],
    "several": 2 * [NO_MAX_MIN],
    "callback": fails("RuntimeError: on purpose"),
}


def test_bad_input_is_refused_on_all_ranks_and_the_next_solve_works():
    done = mpiexec(2, "refusals")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    found = {(int(rank), name): error for rank, name, error in lines}
    assert {name for _, name in found} == set(REFUSALS)
    for name, expected in REFUSALS.items():
        for rank in (0, 1):
            assert found[rank, name].startswith(expected[rank]), (name, rank)


def test_an_interrupt_after_the_last_reduction_is_of_one_rank():
    done = mpiexec(3, "late", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 nothing", "1 KeyboardInterrupt: ", "2 nothing"]


@pytest.mark.parametrize(
    "program", [("constructed", "solve"), ("constructed", "allocator"), ("constructed", "allocator again"), ("ticked",)]
)
def test_an_interrupt_where_a_rank_waits_is_told_to_the_others(program):
    done = mpiexec(3, *program, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    told = "NumError: rank 1 has failed: KeyboardInterrupt"
    assert sorted(done.stdout.splitlines()) == [f"0 {told}", "1 KeyboardInterrupt: ", f"2 {told}"]


def test_a_user_defined_utility_that_raises_is_told_to_the_others():
    done = mpiexec(3, "user", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    error = "FileNotFoundError: no such file"
    for rank in range(3):
        lines = [line.split(" ", 2)[1:] for line in done.stdout.splitlines() if line.startswith(f"{rank} ")]
        expected = error if rank == 1 else f"NumError: rank 1 has failed: {error}"
        assert lines == [[name, expected] for name in ("value", "marginal", "demand", "demand_slope")]


def test_a_solution_says_whose_part_it_is():
    done = mpiexec(2, "parts")
    assert done.returncode == 0, done.stdout + done.stderr
    for rank, line in enumerate(sorted(done.stdout.splitlines())):
        flows = 1 + rank
        noun = "flow" if flows == 1 else "flows"
        assert line.startswith(f"{rank} Solution(optimal, {flows} {noun} on rank {rank} of 2, 2 links, "), line
        assert f"<td>rank {rank} of 2</td>" in line


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tol", "tol is 1e-6 on ranks 0 and 1, and tol is 1e-4 on rank 2"),
        ("capacity", "link 0 has capacity 1 on rank 0, capacity 2 on rank 1, and capacity 3 on rank 2"),
        ("calls", "solve is called on ranks 0 and 2, and tick is called on rank 1"),
        ("leaves", "a with block of an allocator ends on ranks 0 and 2, and tick is called on rank 1"),
        (
            "swapped",
            "tick is called for different allocators or solves, by the order in which these were made: that of number "
            "2 on ranks 0 and 2, and that of number 3 on rank 1",
        ),
    ],
)
def test_the_ranks_that_differ_are_named_with_their_values(name, expected):
    done = mpiexec(3, "three", name, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank, line in enumerate(sorted(done.stdout.splitlines())):
        assert re.fullmatch(f"{rank} NumError: the ranks differ: {expected}", line), line


@pytest.mark.parametrize("program", ["mpi_program.py", "mpi_allocator.py"])
def test_an_interrupted_rank_ends_all(program):
    done = mpiexec(3, "interrupted", program=program)
    lines = sorted(done.stdout.splitlines())
    assert done.returncode == 0 and len(lines) == 3, done.stdout + done.stderr
    assert "KeyboardInterrupt" in lines[1]
    assert all("rank 1 has failed" in line for line in (lines[0], lines[2]))


def test_a_killed_rank_ends_all_within_five_seconds_and_leaves_no_process():
    done = mpiexec(3, "killed")
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
