"""`netnum.sim.sweep`: the same rows on every executor, errors by task, checkpoints, Ctrl-C."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import netnum
from netnum.sim.sweeps import _quantile

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


def total(base, x, seed):
    return {"y": base + x}


def difference(base, x, seed):
    return {"y": base - x}


def arrays(x, seed):
    rates = np.arange(x, dtype=float)
    return {"rates": rates, "last": rates[-1]}


def slow(x, seed):
    time.sleep(0.3)
    return {"y": x}


def processes(workers=2):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def test_every_executor_gives_the_same_frame():
    net = netnum.topology.leaf_spine(racks=2, servers_per_rack=4, spines=2)
    here = netnum.sim.sweep(study, GRID, seeds=5, shared=net).to_pandas()
    assert len(here) == 3 * 8 * 5 and here.error.isna().all()
    assert list(here.columns) == ["policy", "load", "seed", "fct", "error"]
    for pool in (processes(), ThreadPoolExecutor(3)):
        with pool:
            there = netnum.sim.sweep(study, GRID, seeds=5, shared=net, executor=pool).to_pandas()
        pd.testing.assert_frame_equal(here, there)


def test_dask_gives_the_same_frame():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        there = netnum.sim.sweep(square, {"x": [1, 2, 3]}, seeds=2, executor=client.get_executor()).to_pandas()
    pd.testing.assert_frame_equal(netnum.sim.sweep(square, {"x": [1, 2, 3]}, seeds=2).to_pandas(), there)


def test_means_and_confidence_intervals_are_over_the_seeds():
    means = netnum.sim.sweep(square, {"x": [1, 2]}, seeds=[0, 1, 2, 3]).means()
    assert means.seeds.tolist() == [4, 4] and means.seeded.tolist() == [2.5, 3.5]
    # Student's t of 3 degrees of freedom at 97.5 % is 3.182.
    np.testing.assert_allclose(means.seeded_ci, 3.182446 * np.sqrt(5 / 3) / 2, rtol=1e-6)
    assert netnum.sim.sweep(square, {"x": [1]}).means().square_ci.isna().all()
    with pytest.raises(netnum.NumError, match="level is 1"):
        netnum.sim.sweep(square, {"x": [1]}).means(1)


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.706205), (2, 4.302653), (3, 3.182446), (4, 2.776445), (5, 2.570582), (30, 2.042272)],
)
def test_quantiles_are_those_of_students_tables(degrees, expected):
    assert _quantile(0.975, degrees) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_failed_task_names_its_parameters_and_the_others_go_on(executor):
    pool = ThreadPoolExecutor(2) if executor else None
    sweep = netnum.sim.sweep(some_fail, {"x": [1, 2, 3]}, executor=pool)
    assert [row["error"] for row in sweep.rows] == [None, "ValueError: not two (at x=2, seed=0)", None]
    assert sweep.means().seeds.tolist() == [1, 0, 1]
    assert repr(sweep) == "Sweep(3 tasks, 1 failed, over x)"


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


def test_arrays_come_as_lists_before_and_after_a_checkpoint(tmp_path):
    file = tmp_path / "sweep.jsonl"
    fresh = netnum.sim.sweep(arrays, {"x": [1, 2]}, checkpoint=file).to_pandas()
    pd.testing.assert_frame_equal(fresh, netnum.sim.sweep(arrays, {"x": [1, 2]}, checkpoint=file).to_pandas())
    assert fresh.rates.tolist() == [[0.0], [0.0, 1.0]] and fresh["last"].tolist() == [0.0, 1.0]
    assert fresh.explode("rates").rates.tolist() == [0.0, 0.0, 1.0]
    assert "rates" not in netnum.sim.sweep(arrays, {"x": [1, 2]}).means()


def test_a_worker_that_dies_is_reported_and_the_sweep_resumes(tmp_path):
    file, grid = tmp_path / "sweep.jsonl", {"x": list(range(6))}
    with processes(1) as pool:
        sweep = netnum.sim.sweep(dies_once, grid, shared=str(tmp_path), executor=pool, checkpoint=file)
    assert any("BrokenProcessPool" in row["error"] and "x=3" in row["error"] for row in sweep.failed)
    with processes(1) as pool:
        sweep = netnum.sim.sweep(dies_once, grid, shared=str(tmp_path), executor=pool, checkpoint=file)
    assert [row["y"] for row in sweep.rows] == grid["x"] and not sweep.failed


def test_ctrl_c_ends_it_within_a_second():
    with ThreadPoolExecutor(2) as pool:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            netnum.sim.sweep(slow, {"x": list(range(200))}, executor=pool)
        assert time.monotonic() - began < 1.5


def test_bad_input_is_named():
    sweep = netnum.sim.sweep
    with pytest.raises(netnum.NumError, match="named 'seed'"):
        sweep(square, {"seed": [1]})
    with pytest.raises(netnum.NumError, match=r"the grid has \[\] for 'x'"):
        sweep(square, {"x": []})
    with pytest.raises(netnum.NumError, match="no seeds"):
        sweep(square, {"x": [1]}, seeds=0)
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(netnum.NumError, match="must pickle"):
            sweep(lambda x, seed: {}, {"x": [1]}, executor=pool)
        with pytest.raises(netnum.NumError, match="does not pickle"):
            sweep(square, {"x": [lambda: 1]}, executor=pool)
    assert "mapping" in sweep(lambda x, seed: 1, {"x": [1]}).rows[0]["error"]
    assert "'x', which is a parameter" in sweep(lambda x, seed: {"x": 1}, {"x": [1]}).rows[0]["error"]
