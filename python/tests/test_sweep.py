"""`netnum.sim.sweep`: the same rows on every executor, errors by task, checkpoints, Ctrl-C."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import common
import numpy as np
import pytest
from common import mpiexec, processes

import netnum

pd = pytest.importorskip("pandas")
GRID = {"policy": ["max-min", "srpt", "pias"], "load": [0.1 * k for k in range(1, 9)]}


def square(x, seed):
    return {"square": x * x, "seeded": x + seed}


def study(net, policy, load, seed):
    sizes = netnum.sim.sizes.web_search
    workload = netnum.sim.Workload.poisson(net, sizes=sizes, load=load, flows=50, seed=seed)
    return {"fct": netnum.sim.simulate(net, workload, policy).mean_completion_time}


def some_fail(x, seed):
    if x == 2:
        raise ValueError("not two")
    return {"y": x}


def counting(folder, x, seed):
    Path(folder, f"{x}-{seed}-{time.time_ns()}").touch()
    return {"y": x}


def dies_once(folder, x, seed):
    marker = Path(folder, "died")
    if x == 3 and not marker.exists():
        marker.touch()
        os._exit(1)
    return {"y": x}


def kills(x, seed):
    if x == 3:
        os._exit(1)
    return {"y": x}


def total(base, x, seed):
    return {"y": base + x}


def difference(base, x, seed):
    return {"y": base - x}


def arrays(x, seed):
    rates = np.arange(x, dtype=float)
    return {"rates": rates, "last": rates[-1]}


class UserPolicy:
    def __init__(self):
        self.allocate = lambda now, flows: None


def named(x, kind, seed):
    return {"y": kind}


def dies(x, seed):
    if x == 1:
        os._exit(1)
    return {"y": x}


def slow(x, seed):
    time.sleep(0.3)
    return {"y": x}


@pytest.fixture(scope="module")
def net():
    return netnum.topology.leaf_spine(racks=2, servers_per_rack=4, spines=2)


@pytest.fixture(scope="module")
def frame(net):
    frame = netnum.sim.sweep(study, GRID, seeds=5, shared=net).to_pandas()
    assert len(frame) == 3 * 8 * 5 and frame.error.isna().all()
    assert list(frame.columns) == ["policy", "load", "seed", "fct", "error"]
    return frame


@pytest.fixture(scope="module")
def dask():
    with common.dask() as client:
        yield client


@pytest.mark.parametrize("start", ["spawn", "fork", "threads"])
def test_every_executor_gives_the_same_frame(frame, net, start):
    with ThreadPoolExecutor(3) if start == "threads" else processes(2, start) as pool:
        there = netnum.sim.sweep(study, GRID, seeds=5, shared=net, executor=pool).to_pandas()
    pd.testing.assert_frame_equal(frame, there)


def test_a_dask_cluster_of_two_workers_gives_the_same_frame(frame, net, dask):
    there = netnum.sim.sweep(study, GRID, seeds=5, shared=net, executor=dask.get_executor()).to_pandas()
    pd.testing.assert_frame_equal(frame, there)
    with pytest.raises(TypeError, match=r"not <Client: .*: give its get_executor\(\)"):
        netnum.sim.sweep(study, GRID, shared=net, executor=dask)


def test_the_ranks_of_mpi_give_the_same_frame(frame, tmp_path):
    file = tmp_path / "frame.pickle"
    done = mpiexec(3, "frame", str(file), program="sweep_program.py", module="mpi4py.futures")
    assert done.returncode == 0, done.stdout + done.stderr
    pd.testing.assert_frame_equal(frame, pd.read_pickle(file))


def test_means_and_confidence_intervals_are_over_the_seeds():
    means = netnum.sim.sweep(square, {"x": [1, 2]}, seeds=[0, 1, 2, 3]).means()
    assert means.seeds.tolist() == [4, 4] and means.seeded.tolist() == [2.5, 3.5]
    # Student's t of 3 degrees of freedom at 97.5 % is 3.182.
    np.testing.assert_allclose(means.seeded_ci, 3.182446 * np.sqrt(5 / 3) / 2, rtol=1e-6)
    assert netnum.sim.sweep(square, {"x": [1]}).means().square_ci.isna().all()
    with pytest.raises(netnum.NumError, match="level is 1"):
        netnum.sim.sweep(square, {"x": [1]}).means(1)


def sometimes(x, seed):
    return {"y": None if seed == 1 else 1.0, "z": 1.0 + seed}


def test_a_mean_is_over_the_seeds_that_it_names():
    (means,) = netnum.sim.sweep(sometimes, {"x": [1]}, seeds=3).means().to_dict("records")
    assert means["seeds"] == 3 and means["z"] == 2.0 and np.isnan([means["y"], means["y_ci"]]).all()


def test_columns_of_one_name_are_refused():
    sweep = netnum.sim.sweep(lambda x, seed: {"y": 1.0, "y_ci": 5.0, "x_low": 1.0}, {"x": [0, 1]})
    with pytest.raises(netnum.NumError, match="'y_ci' is the column of an interval, but"):
        sweep.means()
    assert sweep.ratios(to={"x": 0})["y_ci"].tolist() == [1.0]
    sweep = netnum.sim.sweep(lambda y_low, seed: {"y": 1.0}, {"y_low": [0, 1]})
    with pytest.raises(netnum.NumError, match="'y_low' is the column of an interval, but"):
        sweep.ratios(to={"y_low": 0})


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_failed_task_names_its_parameters_and_the_others_go_on(executor):
    pool = ThreadPoolExecutor(2) if executor else None
    sweep = netnum.sim.sweep(some_fail, {"x": [1, 2, 3]}, executor=pool)
    assert [row["error"] for row in sweep.rows] == [None, "ValueError: not two (at x=2, seed=0)", None]
    assert sweep.means().seeds.tolist() == [1, 0, 1]
    assert repr(sweep) == "Sweep(3 tasks, 1 failed, over x)"


def test_means_and_ratios_of_tasks_that_have_all_failed_are_an_error_with_the_first_one():
    sweep = netnum.sim.sweep(lambda x, seed: 1 / 0, {"x": [1, 2]})
    for table in (sweep.means, lambda: sweep.ratios(to={"x": 2})):
        with pytest.raises(netnum.NumError, match=r"^all 2 tasks have failed, the first by ZeroDivisionError: .* x=1"):
            table()
    assert sweep.to_pandas().error.notna().all()


def of_any(**parameters):
    return {"y": parameters["x"]}


class NoSignature:
    __signature__ = "none"

    def __call__(self, x, seed):
        return {"y": x}


@pytest.mark.parametrize(
    ("function", "grid", "shared", "message"),
    [
        (study, {"policy": ["srpt"], "laod": [0.1]}, 1, "study(net, policy, load, seed), has no parameter 'laod', did"),
        (study, {"policy": ["srpt"]}, 1, "study(net, policy, load, seed), cannot be called with (shared, policy=…, "),
        (study, {"policy": ["srpt"], "load": [0.1]}, None, "a required argument: 'net'"),
        (square, {"x": [1]}, 1, "square(x, seed), cannot be called with (shared, x=…, seed=…): multiple values for"),
        (lambda x: {"y": x}, {"x": [1]}, None, "<lambda>(x), has no parameter 'seed', by which a sweep gives every"),
        (
            partial(study, None),
            {"plicy": [1], "load": [1]},
            None,
            "study(policy, load, seed), has no parameter 'plicy'",
        ),
    ],
)
def test_a_function_that_does_not_take_the_parameters_is_refused_before_any_task(function, grid, shared, message):
    with ThreadPoolExecutor(1) as pool, pytest.raises(netnum.NumError) as caught:
        netnum.sim.sweep(function, grid, shared=shared, executor=pool)
    assert message in str(caught.value) and str(caught.value).startswith("the function of a sweep, ")
    assert not pool._threads


@pytest.mark.parametrize("function", [of_any, NoSignature()])
def test_a_function_of_any_parameters_or_without_a_signature_passes(function):
    assert [row["y"] for row in netnum.sim.sweep(function, {"x": [1, 2]}).rows] == [1, 2]


def test_a_checkpoint_is_resumed(tmp_path):
    file, folder = tmp_path / "sweep.jsonl", tmp_path / "calls"
    folder.mkdir()
    netnum.sim.sweep(counting, {"x": [1, 2]}, shared=str(folder), checkpoint=file)
    lines = file.read_text().splitlines()
    file.write_text(lines[0] + "\n" + lines[1][:20])
    sweep = netnum.sim.sweep(counting, {"x": [1, 2]}, shared=str(folder), checkpoint=file)
    assert [row["y"] for row in sweep.rows] == [1, 2]
    assert sorted(path.name[0] for path in folder.iterdir()) == ["1", "2", "2"]
    with pytest.raises(netnum.NumError, match=r"line 1 of .* is of a task that this sweep does not have"):
        netnum.sim.sweep(counting, {"x": [7]}, shared=str(folder), checkpoint=file)


def test_a_checkpoint_knows_the_function_and_what_was_shared(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": [1, 2]}
    netnum.sim.sweep(total, grid, shared=10, checkpoint=file)
    assert [row["y"] for row in netnum.sim.sweep(total, grid, shared=10, checkpoint=file).rows] == [11, 12]
    for function, shared in ((total, 20), (difference, 10)):
        with pytest.raises(netnum.NumError, match="another function, or another shared object"):
            netnum.sim.sweep(function, grid, shared=shared, checkpoint=file)
    with pytest.raises(netnum.NumError, match="with a checkpoint, what a sweep shares must pickle"):
        netnum.sim.sweep(total, grid, shared=lambda: 1, checkpoint=file)


def test_a_line_of_a_checkpoint_has_the_parameters(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": [1, np.float64(0.5), np.ones(2)], "kind": ["a"]}
    netnum.sim.sweep(named, grid, checkpoint=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    values = [line["parameters"] for line in lines]
    assert values == [{"x": x, "kind": "a", "seed": 0} for x in (1, 0.5, "array([1., 1.])")]
    with pytest.raises(
        netnum.NumError, match=r"line 1 of .* does not have \(x=1, kind='a', seed=0\): other parameters"
    ):
        netnum.sim.sweep(named, {"x": [2], "kind": ["a"]}, checkpoint=file)


def nested(file, x, seed):
    netnum.sim.sweep(square, {"x": [1]}, checkpoint=file)


def test_a_checkpoint_that_another_sweep_writes_is_refused(tmp_path):
    file = tmp_path / "sweep.jsonl"
    (row,) = netnum.sim.sweep(nested, {"x": [1]}, shared=str(file), checkpoint=file).rows
    assert row["error"].startswith(
        f"NumError: another sweep, in this process or another one, writes the checkpoint {file}"
    )
    # It is free again, also while processes live that were forked when it was not.
    with processes(1, "fork") as pool:
        netnum.sim.sweep(square, {"x": [2]}, executor=pool, checkpoint=tmp_path / "other.jsonl")
        assert len(netnum.sim.sweep(square, {"x": [2, 3]}, checkpoint=tmp_path / "other.jsonl").rows) == 2


def test_a_checkpoint_of_every_rank_is_refused_on_all_but_one(tmp_path):
    done = mpiexec(2, "everywhere", str(tmp_path / "sweep.jsonl"), program="sweep_program.py")
    assert done.returncode == 0, done.stdout + done.stderr
    one, other = sorted(done.stdout.splitlines())
    assert one.startswith("NumError: another sweep, ") and "python -m mpi4py.futures" in one
    assert other == "Sweep(8 tasks, 0 failed, over x)"


def test_a_process_that_was_killed_leaves_its_checkpoint_free(tmp_path):
    file = tmp_path / "sweep.jsonl"
    command = [sys.executable, str(Path(__file__).with_name("sweep_program.py")), "killed", str(file)]
    assert subprocess.run(command, timeout=60).returncode != 0
    assert len(netnum.sim.sweep(dies, {"x": [0, 2]}, checkpoint=file).rows) == 2


def test_workers_that_were_forked_do_not_keep_the_checkpoint_of_a_process_that_was_killed(tmp_path):
    file = tmp_path / "sweep.jsonl"
    command = [sys.executable, str(Path(__file__).with_name("sweep_program.py")), "forked", str(file)]
    with subprocess.Popen(command, start_new_session=True) as process:
        end = time.time() + 60
        while (not file.exists() or file.stat().st_size == 0) and time.time() < end:
            time.sleep(0.02)
        process.kill()
        process.wait()
        try:
            # Its workers live.
            os.killpg(process.pid, 0)
            assert len(netnum.sim.sweep(slow, {"x": [0, 1, 2, 3, 4, 5]}, checkpoint=file).rows) == 6
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("one", "other"), [({1: 2}, {"1": 2}), ((1, 2), [1, 2]), ([(1,)], [[1]]), ({"a": (1,)}, {"a": [1]})]
)
def test_values_that_are_alike_in_json_are_points_of_their_own(tmp_path, one, other):
    file = tmp_path / "sweep.jsonl"
    for _ in range(2):
        sweep = netnum.sim.sweep(named, {"x": [one, other, math.nan], "kind": ["a"]}, checkpoint=file)
        assert len(sweep.rows) == 3 and len(file.read_text().splitlines()) == 3
    assert len(sweep.ratios(to={"x": other}).index) == 2


def breaks_at_2(x, seed):
    if x == 2:
        raise ValueError("on purpose")
    return {"y": x}


def test_a_value_at_which_all_failed_may_leave_the_grid(tmp_path):
    file = tmp_path / "sweep.jsonl"
    assert len(netnum.sim.sweep(breaks_at_2, {"x": [1, 2]}, checkpoint=file).failed) == 1
    sweep = netnum.sim.sweep(breaks_at_2, {"x": [1, 3]}, checkpoint=file)
    assert [row["y"] for row in sweep.rows] == [1, 3]


def first(values, seed):
    return {"first": float(values[0]), "middle": float(values[1000]) + seed}


def capacity(problem, seed):
    return {"capacity": float(problem.capacities[0]) + 0.1 * seed}


def test_points_that_look_alike_are_points_of_their_own(tmp_path):
    file, one = tmp_path / "sweep.jsonl", np.ones(2000)
    other = one.copy()
    other[1000] = 2.0
    assert repr(one) == repr(other)
    for _ in range(2):
        sweep = netnum.sim.sweep(first, {"values": [one, other]}, seeds=2, checkpoint=file)
        assert sweep.means().middle.tolist() == [1.5, 2.5] and sweep.means().seeds.tolist() == [2, 2]
        assert sweep.ratios(to={"values": one.copy()}).middle.tolist() == pytest.approx([np.sqrt(3)])
    turned = netnum.sim.sweep(first, {"values": [other, one]}, seeds=2, checkpoint=file)
    assert turned.means().middle.tolist() == [2.5, 1.5]
    problems = [netnum.Problem([size], [[0]], netnum.AlphaFair(1.0)) for size in (1.0, 2.0)]
    assert repr(problems[0]) == repr(problems[1])
    grid, file = {"problem": problems}, tmp_path / "problems.jsonl"
    for _ in range(2):
        assert netnum.sim.sweep(capacity, grid, checkpoint=file).means().capacity.tolist() == [1.0, 2.0]


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, seed):
        return {"y": self.factor * x}


def product(x, seed, factor):
    return {"y": factor * x}


@pytest.mark.parametrize("made", [Times, lambda factor: partial(product, factor=factor)])
def test_a_checkpoint_knows_what_a_function_holds(tmp_path, made):
    file, grid = tmp_path / "sweep.jsonl", {"x": [1, 2]}
    for _ in range(2):
        assert [row["y"] for row in netnum.sim.sweep(made(2), grid, checkpoint=file).rows] == [2, 4]
    with pytest.raises(netnum.NumError, match="another function"):
        netnum.sim.sweep(made(3), grid, checkpoint=file)
    with pytest.raises(netnum.NumError, match="with a checkpoint, the function of a sweep must pickle"):
        netnum.sim.sweep(lambda x, seed: {"y": x}, grid, checkpoint=file)
    with pytest.raises(netnum.NumError, match=r"with a checkpoint, <.*> for 'x' must pickle"):
        netnum.sim.sweep(made(2), {"x": [lambda: 1]}, checkpoint=file)


def test_a_checkpoint_of_a_program_is_that_of_a_module(tmp_path):
    import sweep_program  # imports this module

    file = tmp_path / "sweep.jsonl"
    subprocess.run(
        [sys.executable, str(Path(__file__).with_name("sweep_program.py")), "written", str(file)], check=True
    )
    lines = file.read_text()
    for function, path in ((sweep_program.twice, file), (sweep_program.Times(3), f"{file}.times")):
        assert len(netnum.sim.sweep(function, {"x": [1, 2]}, checkpoint=path).rows) == 2
    assert file.read_text() == lines
    with pytest.raises(netnum.NumError, match="another function"):
        netnum.sim.sweep(sweep_program.Times(2), {"x": [1, 2]}, checkpoint=f"{file}.times")


def test_a_checkpoint_that_was_cut_off_is_resumed_twice_and_other_files_stay(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": [1, 2, 3]}
    whole = netnum.sim.sweep(square, grid, checkpoint=file).rows
    text = file.read_text()
    for cut in (-1, -20, -len(text) // 3 - 5, 12 - len(text), 3 - len(text)):
        file.write_text(text[:cut])
        for _ in range(2):
            assert netnum.sim.sweep(square, grid, checkpoint=file).rows == whole
        assert sorted(file.read_text().splitlines()) == sorted(text.splitlines())
    for other in ("notes", "notes\n", text + "notes", '{"task": 1}\n', "\xff\n"):
        file.write_text(other, encoding="latin-1")
        with pytest.raises(netnum.NumError, match=r"line \d of .*sweep.jsonl is not one of a sweep's checkpoint"):
            netnum.sim.sweep(square, grid, checkpoint=file)
        assert file.read_text(encoding="latin-1") == other


def mixed(x, seed):
    return {"list": [np.int64(1), np.float32(0.5)], "pair": (1, 2), "by": {1: np.arange(2)}, "none": None}


def test_results_are_the_same_with_a_checkpoint_without_and_after_it(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": [1]}
    expected = {"list": [1, 0.5], "pair": [1, 2], "by": {"1": [0, 1]}, "none": None, "x": 1, "seed": 0, "error": None}
    for checkpoint in (None, file, file):
        assert netnum.sim.sweep(mixed, grid, checkpoint=checkpoint).rows == [expected]


def test_arrays_come_as_lists_before_and_after_a_checkpoint(tmp_path):
    file = tmp_path / "sweep.jsonl"
    fresh = netnum.sim.sweep(arrays, {"x": [1, 2]}, checkpoint=file).to_pandas()
    pd.testing.assert_frame_equal(fresh, netnum.sim.sweep(arrays, {"x": [1, 2]}, checkpoint=file).to_pandas())
    assert fresh.rates.tolist() == [[0.0], [0.0, 1.0]] and fresh["last"].tolist() == [0.0, 1.0]
    assert fresh.explode("rates").rates.tolist() == [0.0, 0.0, 1.0]
    assert "rates" not in netnum.sim.sweep(arrays, {"x": [1, 2]}).means()


class Two(Exception):
    """Pickles, but does not come out of it."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def fails_oddly(x, seed):
    if x == 1:
        raise Two(1, 2)
    if x == 2:
        sys.exit("bad arguments")
    if x == 3:
        raise netnum.NumError(str(x))
    return {"y": x}


def interrupts(x, seed):
    if x == 1:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    return {"y": x}


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_whatever_a_task_raises_is_its_own_error_with_a_traceback(executor):
    pool = executor and (ThreadPoolExecutor(2) if executor == "threads" else processes())
    sweep = netnum.sim.sweep(fails_oddly, {"x": [0, 1, 2, 3, 4]}, executor=pool)
    if pool:
        pool.shutdown()
    expected = [None, "Two: 1 and 2 (at x=1", "SystemExit: bad arguments (at x=2", "NumError: 3 (at x=3", None]
    assert [row["error"] and row["error"].partition(",")[0] for row in sweep.rows] == expected
    assert all("in fails_oddly" in row["traceback"] for row in sweep.failed)
    assert list(sweep.to_pandas().columns) == ["x", "seed", "y", "error"]


def test_the_interrupt_of_one_worker_is_the_error_of_its_task():
    with processes() as pool:
        sweep = netnum.sim.sweep(interrupts, {"x": [0, 1, 2]}, executor=pool)
    assert [row["error"] for row in sweep.rows] == [None, "KeyboardInterrupt:  (at x=1, seed=0)", None]


def test_what_does_not_pickle_goes_to_threads_and_is_named_for_processes():
    grid = {"x": [UserPolicy(), UserPolicy()]}
    with ThreadPoolExecutor(1) as pool:
        rows = netnum.sim.sweep(lambda x, seed: {"y": x.allocate(0, [])}, grid, executor=pool).rows
        assert [row["y"] for row in rows] == [None, None]
    with processes(1) as pool:
        with pytest.raises(netnum.NumError, match="the function of a sweep must pickle for this executor: "):
            netnum.sim.sweep(lambda x, seed: {"y": x}, {"x": [1]}, executor=pool)
        sweep = netnum.sim.sweep(square, {"x": [1, UserPolicy().allocate]}, executor=pool)
    assert sweep.rows[0]["error"] is None
    assert "pickle" in sweep.rows[1]["error"] and "(at x=<function" in sweep.rows[1]["error"]


def test_a_worker_that_dies_is_reported_and_the_sweep_resumes(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": list(range(6))}
    with processes(1) as pool:
        sweep = netnum.sim.sweep(dies_once, grid, shared=str(tmp_path), executor=pool, checkpoint=file)
    assert any("BrokenProcessPool" in row["error"] and "x=3" in row["error"] for row in sweep.failed)
    with processes(1) as pool:
        sweep = netnum.sim.sweep(dies_once, grid, shared=str(tmp_path), executor=pool, checkpoint=file)
    assert [row["y"] for row in sweep.rows] == grid["x"] and not sweep.failed


def test_dask_starts_a_worker_again_and_names_a_task_that_kills_every_one(dask):
    sweep = netnum.sim.sweep(kills, {"x": [1, 2, 3, 4]}, executor=dask.get_executor())
    assert "KilledWorker" in sweep.rows[2]["error"] and "(at x=3, seed=0)" in sweep.rows[2]["error"]
    # Dask blames a death on every task that the worker has, so that another one may share the fate.
    others = [row["error"] for row in sweep.rows if row["x"] != 3]
    assert all(error is None or "KilledWorker" in error for error in others)


@pytest.mark.parametrize("reaches", ["parent", "group"])
@pytest.mark.parametrize("executor", ["threads", "spawn", "fork", "dask"])
def test_ctrl_c_ends_it_within_a_second(executor, reaches):
    """A terminal interrupts the whole group of processes, ``kill -INT`` and a notebook the parent alone."""
    if executor == "dask":
        pytest.importorskip("distributed")
    command = [sys.executable, str(Path(__file__).with_name("sweep_program.py")), "interrupted", executor]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as program:
        assert program.stdout.readline() == "runs\n"
        time.sleep(0.5)
        pressed = time.time()
        (os.kill if reaches == "parent" else os.killpg)(program.pid, signal.SIGINT)
        word, when = program.stdout.readline().split()
        assert word == "interrupted" and float(when) - pressed < 1
        program.communicate(timeout=60)


class Watched(ProcessPoolExecutor):
    """Notes the largest number of calls that it has at a time."""

    most = 0

    def submit(self, *arguments):
        future = super().submit(*arguments)
        self.most = max(self.most, len(self._pending_work_items))
        return future


def test_no_call_waits_in_a_pool_of_processes_where_it_would_begin_after_ctrl_c():
    with Watched(2, mp_context=get_context("spawn")) as pool:
        assert len(netnum.sim.sweep(square, {"x": list(range(20))}, executor=pool).rows) == 20
    assert pool.most == 2


def delay(policy, load, seed):
    return {"delay": {"max-min": 2.0, "srpt": 1.0}[policy] * load * 10.0**seed * (1 + seed) ** (policy == "srpt")}


def test_ratios_are_within_a_seed():
    grid = {"policy": ["max-min", "srpt"], "load": [0.25, 0.5]}
    sweep = netnum.sim.sweep(delay, grid, seeds=3)
    # The ratios are 2, 1 and 2/3. Student's t of 2 degrees of freedom at 97.5 % is 4.303.
    logs = np.log([2, 1, 2 / 3])
    half = 4.302653 * logs.std(ddof=1) / np.sqrt(3)
    ratios = sweep.ratios(to={"policy": "srpt"})
    assert list(ratios.columns) == ["policy", "load", "seeds", "delay", "delay_low", "delay_high"]
    assert ratios.policy.tolist() == ["max-min"] * 2 and ratios.load.tolist() == [0.25, 0.5]
    np.testing.assert_allclose(ratios.delay, np.exp(logs.mean()), rtol=1e-12)
    np.testing.assert_allclose(ratios.delay_low, np.exp(logs.mean() - half), rtol=1e-6)
    np.testing.assert_allclose(ratios.delay_high, np.exp(logs.mean() + half), rtol=1e-6)
    inverse = sweep.ratios(to={"policy": "max-min"})
    np.testing.assert_allclose(inverse.delay * ratios.delay, 1.0)
    np.testing.assert_allclose(inverse.delay_low * ratios.delay_high, 1.0)
    to_one = sweep.ratios(to={"policy": "srpt", "load": 0.25})
    assert to_one[["policy", "load"]].values.tolist() == [["max-min", 0.25], ["max-min", 0.5], ["srpt", 0.5]]
    np.testing.assert_allclose(to_one.delay / np.exp(logs.mean()), [1, 2, 2 / np.exp(logs.mean())])
    # Equal ratios of all seeds leave no interval, however much the seeds differ.
    np.testing.assert_allclose(to_one[["delay_low", "delay_high"]].iloc[2], 2.0)


def test_ratios_leave_out_seeds_that_have_failed_and_know_no_sign():
    def task(kind, seed):
        if (kind, seed) == ("a", 1):
            raise ValueError
        return {"y": 1.0 + seed + (kind == "a"), "zero": 0, "name": kind}

    (row,) = netnum.sim.sweep(task, {"kind": ["a", "b"]}, seeds=2).ratios(to={"kind": "b"}).to_dict("records")
    assert row["seeds"] == 1 and row["y"] == pytest.approx(2.0)
    assert np.isnan([row["y_low"], row["y_high"], row["zero"]]).all() and "name_low" not in row


def test_numbers_that_no_float_adds_up_are_nan_and_the_others_stay():
    """Infinities of both signs, sums beyond what a float holds, and integers beyond it."""
    huge = {"both": [math.inf, -math.inf], "sum": [1.7e308, 1.7e308], "integer": [10**400, 1], "one": [math.inf, 1.0]}

    def task(x, seed):
        return {name: values[seed] for name, values in huge.items()} | {"y": 1.0 + x}

    sweep = netnum.sim.sweep(task, {"x": [0, 1]}, seeds=2)
    means = sweep.means()
    assert means.y.tolist() == [1.0, 2.0] and means.y_ci.tolist() == [0.0, 0.0] and means.one.tolist() == 2 * [math.inf]
    assert means[["both", "both_ci", "sum", "sum_ci", "integer", "integer_ci", "one_ci"]].isna().all(axis=None)
    spread = netnum.sim.sweep(lambda x, seed: {"y": [1.7e308, -1.7e308][seed]}, {"x": [0]}, seeds=2).means()
    assert spread.y.tolist() == [0.0] and not math.isfinite(spread.y_ci[0])

    def zero_and_infinite(x, seed):
        return {"y": 1.0 + x, "z": [[math.inf, 1.0], [1.0, math.inf]][x][seed]}

    (ratios,) = netnum.sim.sweep(zero_and_infinite, {"x": [0, 1]}, seeds=2).ratios(to={"x": 0}).to_dict("records")
    assert ratios["y"] == pytest.approx(2.0) and np.isnan([ratios["z"], ratios["z_low"], ratios["z_high"]]).all()


def test_bad_ratios_are_named():
    sweep = netnum.sim.sweep(delay, {"policy": ["max-min", "srpt"], "load": [0.5]}, seeds=2)
    with pytest.raises(netnum.NumError, match=r"the grid has no parameter 'polcy', did you mean 'policy'\?"):
        sweep.ratios(to={"polcy": "srpt"})
    with pytest.raises(netnum.NumError, match="no point of the grid has 'pias' for 'policy'"):
        sweep.ratios(to={"policy": "pias"})
    with pytest.raises(netnum.NumError, match="level is 0"):
        sweep.ratios(to={"policy": "srpt"}, level=0)
    for to in ({}, {"load": 0.5}):
        with pytest.raises(netnum.NumError, match=f"no point of the grid is left to divide by those of to={to}"):
            sweep.ratios(to=to)
    with pytest.raises(TypeError, match=r"to must be a mapping of names to values, not \{1: 'srpt'\}"):
        sweep.ratios(to={1: "srpt"})
    with pytest.raises(TypeError, match="to must be a mapping of names to values, not 'srpt'"):
        sweep.ratios(to="srpt")


def holds_a_set(x, seed):
    return {"y": {1} if x == 2 else x}


@pytest.mark.parametrize("has_file", [False, True])
def test_a_result_that_json_does_not_hold_is_that_tasks_error(tmp_path, has_file):
    checkpoint = tmp_path / "sweep.jsonl" if has_file else None
    sweep = netnum.sim.sweep(holds_a_set, {"x": [1, 2, 3]}, checkpoint=checkpoint)
    assert [row["error"] for row in sweep.rows][::2] == [None, None]
    assert sweep.rows[1]["error"] == "TypeError: Object of type set is not JSON serializable (at x=2, seed=0)"


def test_bad_input_is_named():
    sweep = netnum.sim.sweep
    for name in ("seed", "seeds", "error", "traceback"):
        with pytest.raises(netnum.NumError, match=f"named '{name}'"):
            sweep(square, {name: [1]})
        assert f"returns '{name}'" in sweep(lambda x, seed, name=name: {name: 1}, {"x": [1]}).rows[0]["error"]
    for values, seeds, twice in (([1, 2, 1.0], 1, "1.0 twice for 'x'"), ([1], [0, 1, 0], "0 twice for 'seed'")):
        with pytest.raises(netnum.NumError, match=f"the sweep has {twice}"):
            sweep(square, {"x": values}, seeds=seeds)
    with pytest.raises(netnum.NumError, match=r"the sweep has array\(\[1, 2\]\) twice for 'x'"):
        sweep(square, {"x": [np.array([1, 2]), np.array([1, 2])]})
    with pytest.raises(netnum.NumError, match=r"the grid has \[\] for 'x'"):
        sweep(square, {"x": []})
    with pytest.raises(netnum.NumError, match="the grid has 3 for 'x'"):
        sweep(square, {"x": 3})
    with pytest.raises(TypeError, match="grid must be a mapping of names to sequences of values, not list"):
        sweep(square, ["x"])
    with pytest.raises(netnum.NumError, match="no seeds"):
        sweep(square, {"x": [1]}, seeds=0)
    for seeds in (2.0, "12", [None, 1.5], [0, 1.0]):
        message = f"seeds must be an integer or a sequence of them, not {seeds!r}"
        with pytest.raises(TypeError, match=re.escape(message)):
            sweep(square, {"x": [1]}, seeds=seeds)
    with pytest.raises(TypeError, match="the grid has a parameter named 1, expected a string"):
        sweep(square, {1: [1]})
    with pytest.raises(TypeError, match="the function of a sweep must be callable, not 'square'"):
        sweep("square", {"x": [1]})
    with pytest.raises(TypeError, match=r"executor must be an Executor of concurrent\.futures, not <class"):
        sweep(square, {"x": [1]}, executor=ProcessPoolExecutor)
    with ThreadPoolExecutor(1) as pool, pytest.raises(netnum.NumError, match="what a sweep shares must pickle"):
        sweep(total, {"x": [1]}, shared=lambda: 1, executor=pool)
    with pytest.raises(netnum.NumError, match="the executor takes no calls: RuntimeError: cannot schedule"):
        sweep(square, {"x": [1]}, executor=pool)
    assert "mapping" in sweep(lambda x, seed: 1, {"x": [1]}).rows[0]["error"]
    assert "'x', which is a parameter" in sweep(lambda x, seed: {"x": 1}, {"x": [1]}).rows[0]["error"]
