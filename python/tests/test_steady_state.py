"""What of a simulation counts, and that a report says where a mean depends on how long the simulation was."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim

NET = netnum.topology.star(8)


@pytest.fixture(scope="module")
def overloaded():
    with pytest.warns(UserWarning, match="load 1.3 is not below 1"):
        workload = sim.Workload.poisson(NET, 1e5, load=1.3, duration=0.05, seed=1)
    return sim.simulate(NET, workload)


def steady(seed):
    return sim.Workload.poisson(NET, 1e5, load=0.3, duration=0.05, seed=seed)


def test_a_warmup_does_not_count():
    workload = steady(1)
    plain, report = sim.simulate(NET, workload), sim.simulate(NET, workload, warmup=0.02)
    np.testing.assert_array_equal(report.slowdowns, plain.slowdowns)
    assert report.warmup == 0.02
    counts = workload.arrivals >= 0.02
    assert report.mean_slowdown == pytest.approx(report.slowdowns[counts].mean(), rel=1e-12)
    assert report.slowdown_quantile(0.9) == pytest.approx(np.quantile(report.slowdowns[counts], 0.9), rel=1e-12)
    assert report.link_bytes.sum() < plain.link_bytes.sum()
    assert report.ended == plain.ended == len(workload)
    assert f"{counts.sum()} after the warmup" in repr(report)
    assert pickle.loads(pickle.dumps(report)).mean_slowdown == report.mean_slowdown
    assert "20 ms, not counted" in report._repr_html_()
    with pytest.warns(UserWarning, match="warmup is 1.5, and no flow that starts from then on has ended .* are nan"):
        late = sim.simulate(NET, workload, warmup=1.5)
    assert late.ended == len(workload) and np.isnan([late.mean_slowdown, late.mean_completion_time]).all()
    with pytest.raises(netnum.NumError, match="warmup is 3, expected a finite number >= 0 and <= until, 2"):
        sim.simulate(NET, workload, until=2, warmup=3)


def test_later_flows_that_are_slower_are_told_everywhere(overloaded):
    report = overloaded
    earlier, later = report.slowing_down
    assert later > 1.1 * earlier
    half = len(report.slowdowns) // 2
    means = report.slowdowns[:half].mean(), report.slowdowns[half:].mean()
    assert (earlier, later) == pytest.approx(means, rel=1e-12)
    assert f"later flows slower ({earlier:.3f} then {later:.3f})" in repr(report)
    assert "Later flows are slower than earlier ones" in report.summary()
    assert "later flows are slower" in report._repr_html_()


def test_the_test_is_that_of_mann_and_kendall(overloaded):
    def z(report):
        slowdowns = report.slowdowns[len(report.slowdowns) % 20 :]
        means = [batch.mean() for batch in np.split(slowdowns, 20)]
        s = sum(np.sign(later - means[a]) for b, later in enumerate(means) for a in range(b))
        return (s - 1) / np.sqrt(20 * 19 * 45 / 18)

    assert z(overloaded) > 3.09
    report = sim.simulate(NET, steady(3))
    assert z(report) < 3.09 and report.slowing_down is None


def test_a_steady_state_is_not_told_of():
    alarms = [sim.simulate(NET, steady(seed)).slowing_down is not None for seed in range(40)]
    assert sum(alarms) <= 1


def test_columns_of_a_summary_stand_apart_at_any_size():
    for capacity in (1e-9, 1.0, 10e9, 1e15):
        net = netnum.topology.star(4, capacity)
        table = sim.simulate(net, sim.Workload.all_to_all(net, 1e6)).summary().split("\n\n")[1].splitlines()
        header = table[0].split("   ")
        assert [name.strip() for name in header if name.strip()] == [
            "flows",
            "ended",
            "mean time",
            "slowdown",
            "median",
            "99 %",
        ]
        rows = [[cell for cell in line.split("   ") if cell.strip()] for line in table[1:]]
        assert {len(row) for row in rows} <= {2, 6}
        assert len({len(line) for line in table if len(line) > 30}) == 1


def test_one_capacity_is_the_default_of_all_fabrics():
    made = netnum.topology
    for net in (made.single_link(), made.parking_lot(3), made.star(4), made.fat_tree(4)):
        assert set(net.capacities) == {10e9}
    fabric = made.leaf_spine(2, 3, 2)
    assert set(fabric.capacities) == {10e9, 40e9}
