"""Flows whose bytes are produced while they run, and the policies that know."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim


def toy():
    """100 MB at 5 Gbit/s and 150 MB at 10 Gbit/s, together on a link of 10 Gbit/s."""
    return sim.Workload([0, 0], [0, 0], [1, 1], [100e6, 150e6]).with_production([5e9, 10e9])


@pytest.mark.parametrize(("by", "times"), [("size", [0.16, 0.2]), ("time", [0.2, 0.12])])
def test_the_order_by_remaining_time_is_not_that_by_size(by, times):
    report = sim.simulate(netnum.topology.single_link(10e9), toy(), sim.Policy("srpt", by=by))
    assert report.completion_times == pytest.approx(times, rel=1e-9)


def test_a_workload_shows_its_rates_of_production():
    workload = toy()
    assert np.array_equal(workload.production, [5e9, 10e9])
    assert workload.buffer == np.inf
    bare = sim.Workload([0, 0], [0, 0], [1, 1], [100e6, 150e6])
    assert bare.production is None and bare != workload
    assert np.array_equal(bare.with_production(5e9, buffer=1e6).production, [5e9, 5e9])
    assert bare.with_production(5e9, 1e6).buffer == 1e6
    assert repr(bare) == "Workload(2 flows within 0.0000 s, 125000.0000 kB each)"
    assert repr(workload) == repr(bare)[:-1] + ", produced at 7.5000 Gbit/s)"
    small = "produced at 5.0000 Gbit/s into buffers of 1000.0000 kB)"
    assert repr(bare.with_production(5e9, 1e6)).endswith(small)
    assert repr(sim.Workload([], [], [], []).with_production([])) == "Workload(0 flows)"
    for one in (workload, bare, bare.with_production(5e9, 1e6)):
        assert pickle.loads(pickle.dumps(one)) == one


def test_a_trace_may_have_a_fifth_column():
    workload = toy()
    assert sim.Workload.from_csv(workload.to_csv()) == workload
    with pytest.raises(netnum.ProblemError, match="line 2 of the trace has 4 fields, expected 5"):
        sim.Workload.from_csv("0,0,1,100,1e9\n0,0,1,100")
    with pytest.raises(netnum.ProblemError, match="line 2 of the trace has 5 fields, expected 4"):
        sim.Workload.from_csv("0,0,1,100\n0,0,1,100,1e9")


def test_drawn_rates_lie_within_their_bounds():
    rates = sim.log_normal(20_000, 1e9, 1.0, bounds=(1e8, 1e10), seed=3)
    assert rates.min() >= 1e8 and rates.max() <= 1e10
    assert np.median(rates) == pytest.approx(1e9, rel=0.05)
    assert np.array_equal(rates[:100], sim.log_normal(100, 1e9, 1.0, bounds=(1e8, 1e10), seed=3))


def test_a_copy_rate_comes_close_to_the_rate_of_production():
    net = netnum.topology.single_link(10e9)
    workload = sim.Workload([0, 1], [0, 0], [1, 1], [10e6, 10e6]).with_production([1e9, 20e9])
    report = sim.simulate(net, workload)
    assert report.copy_rates == pytest.approx([1e9, 20e9], rel=1e-9)
    frame = report.to_pandas()
    assert frame["production"].tolist() == [1e9, 20e9] and frame["copy_rate"].tolist() == report.copy_rates.tolist()
    assert np.isnan(sim.simulate(net, sim.Workload([0], [0], [1], [1e6])).copy_rates).all()
    # The second waits for the network when it may hold only a little.
    small = sim.simulate(net, workload.with_production([1e9, 20e9], buffer=1e6))
    assert small.copy_rates == pytest.approx([1e9, 10e9], rel=1e-3)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pias", {"thresholds": []}, 'option "thresholds" of policy "pias" is empty, expected at least one'),
        ("pias", {"thresholds": [2e4, 1e4]}, "is 10000 after 20000, expected finite numbers > 0 that increase"),
        ("pias", {"thresholds": [-1.0]}, "is -1 after 0"),
        ("rax", {"levels": 0}, 'option "levels" of policy "rax" is 0, expected 1 to 64'),
        ("rax", {"base": 1.0}, 'option "base" of policy "rax" is 1, expected a finite number > 1'),
        ("rax+", {"first": -1.0}, r'option "first" of policy "rax\+" is -1, expected a finite number > 0'),
        ("rax", {"interval": 0.0}, 'option "interval" of policy "rax" is 0'),
        ("edf", {"slack": 0.0}, 'option "slack" of policy "edf" is 0, expected a finite number > 0'),
        ("srpt", {"by": "age"}, 'option "by" of policy "srpt" is "age", expected "size" or "time"'),
    ],
)
def test_wrong_options_name_the_policy_and_the_option(name, options, message):
    with pytest.raises(netnum.NumError, match=message):
        sim.Policy(name, **options)


@pytest.mark.parametrize(
    ("rates", "buffer", "message"),
    [
        ([1e9, -1.0], 1e6, "flow 1 has production rate -1, expected a finite number > 0"),
        ([1e9], 1e6, "production has 1 entries, expected 2, one per flow"),
        (1e9, 0.0, "send buffer is 0, expected a number > 0"),
    ],
)
def test_wrong_production_is_refused(rates, buffer, message):
    with pytest.raises(netnum.NumError, match=message):
        sim.Workload([0, 0], [0, 0], [1, 1], [1.0, 1.0]).with_production(rates, buffer)
