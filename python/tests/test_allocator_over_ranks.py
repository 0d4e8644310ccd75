"""`netnum.Allocator(..., comm=)`, by `mpiexec`: the rates of one allocator of all flows, and errors of all ranks."""

import os
import re
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from common import mpiexec

import netnum

run = partial(mpiexec, program="mpi_allocator.py", timeout=900)


def churn(ranks, events, owners, seed, **settings):
    done = run(ranks, "churn", *map(str, (events, owners, seed)), *(f"{name}={to}" for name, to in settings.items()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[1]) >= events


@pytest.mark.parametrize("ranks", [2, 3])
def test_rates_are_those_of_one_allocator_that_has_all_flows(ranks, request):
    many = int(os.environ.get("NETNUM_EVENTS", 100_000))
    churn(ranks, many if request.config.getoption("--slow") else 20_000, owners=ranks, seed=ranks)


@pytest.mark.parametrize("settings", [{"normalizer": "u-norm", "method": "fast-ned"}, {"dtype": "float32"}])
def test_a_rank_may_have_no_flows(settings):
    churn(3, 5000, owners=2, seed=5, **settings)


WRONG_TYPES = {
    "type-headroom": "argument 'headroom': must be real number, not str",
    "type-dtype": "argument 'dtype': ",
    "type-method": "argument 'method': ",
    "type-normalizer": "argument 'normalizer': ",
    "type-threshold": "argument 'update_threshold': must be real number, not list",
    "type-n": "n must be an integer, not str",
}


@pytest.mark.parametrize("ranks", [2, 3])
def test_errors_come_on_all_ranks_and_name_what_differs(ranks):
    done = run(ranks, "refusals")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for rank in range(ranks):
        of = {line.split()[1]: line for line in lines if line.startswith(f"{rank} ")}
        assert "TypeError: comm must be an intracommunicator of mpi4py, not 3" in of["comm"]
        last = "and capacity 3 on rank 1" if ranks == 2 else "capacity 3 on rank 1, and capacity 4 on rank 2"
        assert f"the ranks differ: link 1 has capacity 2 on rank 0, {last}" in of["capacities"]
        assert "the ranks differ: there are 1 links on rank 0" in of["links"]
        assert 'option "gamma" is 0.4 on rank 0' in of["gamma"]
        assert 'the method is "' in of["method"]
        assert "headroom is 0 on rank 0, " in of["headroom"] and "headroom is 0.1 on rank 1" in of["headroom"]
        all_but_1 = "rank 0" if ranks == 2 else "ranks 0 and 2"
        assert f'the normalizer is "u-norm" on {all_but_1}, and there is no normalizer on rank 1' in of["normalizer"]
        assert f"flows have numbers of f64 on {all_but_1}, and flows have numbers of f32 on rank 1" in of["dtype"]
        assert "Allocator takes one argument by position" in of["position"] and "comm=comm" in of["position"]
        assert '"f-norm", "u-norm" or None over several ranks' in of["fill"]
        own = "ProblemError: link 0 has capacity -1"
        assert (own if rank == 1 else "rank 1 has failed: ProblemError: link 0 has capacity -1") in of["one"]
        assert of["repr"].endswith(f"Allocator(ned, 0 flowlets on rank {rank} of {ranks}, 2 links)")
        assert "TypeError: an allocator over the ranks of a communicator does not pickle" in of["pickle"]
        differ = f"the ranks differ: link 1 has capacity 1 on {all_but_1}, and capacity 0.5 on rank 1"
        assert of["set_capacity"] == f"{rank} set_capacity NumError: {differ}"
        assert of["again"] == f"{rank} again NumError: {differ}"
        assert "link 1 (node 1 -> node 2) has capacity 1 on " in of["link-name"]
        assert f"tick is called on {all_but_1}, and respond is called on rank 1" in of["respond"]
        on_purpose = "RuntimeError: on purpose" if rank == 1 else "rank 1 has failed: RuntimeError: on purpose"
        assert all(on_purpose in of[name] for name in ("block", "nested-outer", "nested-inner"))
        for name, wrong in WRONG_TYPES.items():
            assert (f"TypeError: {wrong}" if rank == 1 else f"rank 1 has failed: TypeError: {wrong}") in of[name]


@pytest.mark.parametrize("collective", ["Allreduce", "reduce"])
def test_a_rank_that_fails_ends_those_in_a_collective_of_the_program(collective):
    done = run(2, "elsewhere", collective)
    ended = time.time()
    assert done.returncode != 0
    assert "netnum: rank 1 has failed: RuntimeError: on purpose; not all other ranks have come" in done.stderr
    # Rank 0 has no number from its collective.
    (line,) = done.stdout.splitlines()
    assert line.startswith("1 ") and ended - float(line.split()[1]) < 5


def test_a_rank_that_fails_waits_for_those_that_compute():
    done = run(2, "compute", "sleep")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, one, other = sorted(done.stdout.splitlines(), key=lambda line: "Error" in line)
    assert {one, other} == {
        "0 NumError: rank 1 has failed: RuntimeError: on purpose",
        "1 RuntimeError: on purpose",
    }


def test_ids_are_of_one_rank():
    done = run(2, "ids")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_tick_is_three_reductions_over_one_duplicate_of_the_communicator():
    done = run(2, "counts")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 20 10 1 0", "0 freed 2", "1 20 10 1 0", "1 freed 2"]


def test_the_program_of_the_page_prints_what_the_page_says(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "how_to" / "many_machines.md"
    blocks = re.findall(r"^```text\n(.*?)^```\n", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    place = next(place for place, block in enumerate(blocks) if block.startswith("# controller.py"))
    program = tmp_path / "controller.py"
    program.write_text(blocks[place], "utf-8")
    done = run(2, program=program)
    assert (done.stdout, done.returncode) == (blocks[place + 2], 0), done.stderr


def test_without_mpi4py_an_allocator_has_no_ranks(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match=r'pip install "netnum\[mpi\]"'):
        netnum.Allocator([1.0], comm=3)


def test_a_block_of_one_process_passes_its_exception_on():
    with pytest.raises(RuntimeError, match="on purpose"), netnum.Allocator([1.0]) as allocator:
        allocator.tick()
        raise RuntimeError("on purpose")
