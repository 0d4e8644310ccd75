"""Flow-level simulations from Python: what goes in, what comes out, and how they are stopped."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from common import seconds_until_interrupted

import netnum
from netnum import sim


@pytest.fixture(scope="module")
def net():
    return netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)


@pytest.fixture(scope="module")
def workload(net):
    return sim.Workload.poisson(net, sizes=sim.sizes.web_search, load=0.6, flows=2000, seed=1)


@pytest.fixture(scope="module")
def report(net, workload):
    return sim.simulate(net, workload, seed=1)


# --- what goes in ---


def test_sizes_know_their_mean_and_points():
    mine = sim.Sizes([(1e3, 0.5), (3e3, 1.0)], name="mine")
    assert mine.mean == 0.5 * 1e3 + 0.5 * 2e3
    assert mine.quantile(0.75) == 2e3
    assert repr(mine) == "Sizes(mine, mean 1.5000 kB)"
    np.testing.assert_array_equal(mine.points, [[1e3, 0.5], [3e3, 1.0]])
    assert sim.sizes.fixed(7.0).mean == 7.0
    assert sim.sizes.exponential(5.0).mean == 5.0
    assert len(sim.sizes.web_search.points) == 12


def test_sizes_of_samples_are_those_samples():
    samples = np.array([200.0, 100.0, 900.0, 200.0])
    sizes = sim.sizes.from_samples(samples, "mine")
    assert (sizes.name, sizes.mean) == ("mine", samples.mean())
    assert [sizes.quantile(part) for part in (0.2, 0.3, 0.7, 0.8)] == [100.0, 200.0, 200.0, 900.0]
    drawn = sim.Workload.poisson(netnum.topology.star(4, capacity=1e9), sizes, load=0.5, flows=500, seed=1).sizes
    assert set(drawn) == set(samples)
    for wrong, message in [([], "there are no samples"), ([1.0, -2.0], "point 0 of the sizes is at -2 bytes")]:
        with pytest.raises(netnum.NumError, match=message):
            sim.sizes.from_samples(wrong)


@pytest.mark.parametrize(
    "sizes", [sim.sizes.data_mining, sim.sizes.exponential(2e4), sim.Sizes([(1, 0.5), (2, 1)], "mine")]
)
def test_sizes_pickle(sizes):
    assert pickle.loads(pickle.dumps(sizes)) == sizes


def test_a_workload_is_columns(workload):
    assert len(workload) == 2000
    columns = (workload.arrivals, workload.sources, workload.destinations, workload.sizes)
    assert [column.dtype.kind for column in columns] == ["f", "i", "i", "f"]
    assert (np.diff(workload.arrivals) >= 0).all()
    assert (workload.sources != workload.destinations).all()
    assert sim.Workload(*columns) == workload
    assert pickle.loads(pickle.dumps(workload)) == workload
    assert repr(workload).startswith("Workload(2000 flows within ")


def test_a_trace_is_read_from_text_and_from_a_file(workload, tmp_path):
    assert sim.Workload.from_csv(workload.to_csv()) == workload
    file = tmp_path / "trace.csv"
    file.write_text(workload.to_csv())
    assert sim.Workload.from_csv(file) == workload
    assert sim.Workload.from_csv(str(file)) == workload
    file.write_text(workload.to_csv(), encoding="utf-8-sig")
    assert sim.Workload.from_csv(file) == workload
    with pytest.raises(FileNotFoundError):
        sim.Workload.from_csv(tmp_path / "nowhere.csv")
    with pytest.raises(netnum.ProblemError, match="line 1 of the trace has 3 fields, expected 4"):
        sim.Workload.from_csv("1,2,3")


def test_pairs_are_arrays_of_two_columns(net):
    assert sim.permutation(net, seed=3).shape == (32, 2)
    assert sim.all_to_all(net).shape == (32 * 31, 2)
    incast = sim.incast(net, receiver=5, senders=7)
    assert (incast[:, 1] == 5).all() and len(set(incast[:, 0])) == 7
    burst = sim.Workload.at_once(net, incast, sim.sizes.fixed(1e6))
    assert (burst.arrivals == 0).all() and (burst.destinations == 5).all()
    # Seven flows of 1 MB share the receiver's 10 Gbit/s.
    assert sim.simulate(net, burst).completion_times == pytest.approx(7 * 8e6 / 10e9)
    poisson = sim.Workload.poisson(net, sim.sizes.fixed(1e6), load=0.5, flows=100, pairs=[(1, 2)])
    assert set(poisson.sources) == {1} and set(poisson.destinations) == {2}


def test_a_load_that_is_too_much_warns_and_goes_on(net):
    with pytest.warns(UserWarning, match=r"load 1.5 is not below 1 \(60 % is 0.6\): flows pile up without bound"):
        assert len(sim.Workload.poisson(net, sim.sizes.web_search, load=1.5, flows=10)) == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.Workload.poisson(net, sim.sizes.web_search, load=0.99, flows=10)


def test_capacities_in_another_unit_warn_and_say_how_they_are_converted():
    net = netnum.topology.backbone("nsfnet")  # in Mbit/s
    with pytest.warns(UserWarning, match=r"takes 8\.\d+e6 s: sizes are in bytes and capacities in bit/s; from Mb"):
        sim.Workload.poisson(net, "web_search", flows=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.Workload.poisson(net.with_capacities(1e6 * net.capacities), "web_search", flows=10)


@pytest.mark.parametrize(
    ("error", "message", "work"),
    [
        (netnum.NumError, "load is 0, expected a finite number > 0", lambda p: p(load=0, flows=1)),
        (netnum.NumError, "load is -1, expected a finite number > 0", lambda p: p(load=-1, flows=1)),
        (netnum.NumError, "flows is unbounded, and so is duration, expected one of them", lambda p: p()),
        (netnum.NumError, "flows is unbounded, and so is duration", lambda p: p(duration=float("inf"))),
        (netnum.NumError, "flows is 10000000000000, expected at most 4294967295", lambda p: p(flows=10**13)),
        (netnum.NumError, "duration is -1, expected a number >= 0", lambda p: p(duration=-1)),
        (netnum.NumError, "flows is -1, expected at least 0", lambda p: p(flows=-1)),
        (netnum.NumError, r"pairs\[0\] is \(3, 3\), expected two different ends", lambda p: p(flows=1, pairs=[(3, 3)])),
        (
            netnum.ProblemError,
            r"an end of pairs\[0\] is -1, expected an end from 0 to",
            lambda p: p(flows=1, pairs=[(-1, 3)]),
        ),
        (netnum.NumError, "links is 9999, expected links below 80", lambda p: p(flows=1, links=[9999])),
        (netnum.NumError, "seed is -1, expected an integer", lambda p: p(flows=1, seed=-1)),
        (
            TypeError,
            "sizes must be a Sizes, as netnum.sim.sizes has, a name such as 'web_search', or a number of bytes",
            lambda p: p(sizes=[1.0], flows=1),
        ),
    ],
)
def test_bad_arrivals_are_named(net, error, message, work):
    def poisson(**others):
        return sim.Workload.poisson(net, **{"sizes": sim.sizes.web_search, **others})

    with pytest.raises(error, match=message):
        work(poisson)


@pytest.mark.parametrize(
    ("error", "message", "work"),
    [
        (netnum.ProblemError, "flow 1 has size -1, expected a number > 0", lambda: trace(sizes=[1, -1])),
        (netnum.ProblemError, "flow 1 arrives at 1, before flow 0 at 2", lambda: trace(arrivals=[2, 1])),
        (netnum.ProblemError, "flow 0 has source -4, expected the index", lambda: trace(sources=[-4, 0])),
        (netnum.ProblemError, "sizes has 1 entries, expected 2", lambda: trace(sizes=[1])),
        (TypeError, "sources must be an array of integers", lambda: trace(sources=[0.5, 1])),
        (netnum.ProblemError, "point 1 of the sizes has fraction 0.4", lambda: sim.Sizes([(1, 0.5), (2, 0.4)])),
        (netnum.ProblemError, "expected two columns", lambda: sim.Sizes([1, 2])),
        (netnum.MethodError, 'unknown sizes "web", did you mean "web_search"', lambda: sim.Sizes.named("web")),
        (FileNotFoundError, "'nofile'", lambda: sim.Workload.from_csv("nofile")),
        (
            netnum.ProblemError,
            'line 1 of the trace has the header "size,',
            lambda: csv("size,arrival,source,target"),
        ),
        (netnum.NumError, "buffer is 5, expected rates of production beside it", lambda: trace(buffer=5)),
        (TypeError, "rates must be an array of numbers, not of dtype bool", lambda: trace(production=True)),
        (
            netnum.ProblemError,
            "flow 1 has destination 1, expected another end than its source",
            lambda: trace(destinations=[1, 1]),
        ),
        (netnum.NumError, "path_or_text is empty, expected the name of a file", lambda: sim.Workload.from_csv("")),
        (
            TypeError,
            r"bounds must be two numbers \(lowest, highest\), not 1000000000.0",
            lambda: sim.log_normal(1, 1e9, 1.0, bounds=1e9),
        ),
        (netnum.NumError, "bounds is 5 to 1, expected a lowest", lambda: sim.log_normal(0, 1.0, 1.0, bounds=(5, 1))),
    ],
)
def test_bad_traces_and_sizes_are_errors_that_name_the_place(error, message, work):
    with pytest.raises(error, match=message):
        work()


def csv(header):
    return sim.Workload.from_csv(f"{header}\n1,0,1,1")


def trace(**others):
    return sim.Workload(**{"arrivals": [0, 0], "sources": [0, 1], "destinations": [1, 0], "sizes": [1, 1], **others})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (5, TypeError, r"changes must be a sequence of \(time, link, capacity\), not 5"),
        ([5], TypeError, r"change 0 must be a \(time, link, capacity\), not 5"),
        ([(0, 0, 1), (1e-3, 2)], TypeError, r"change 1 must be a \(time, link, capacity\), not \(0.001, 2\)"),
        ([("soon", 0, 1)], TypeError, "time of change 0 must be an array of numbers"),
        ([(0, 0.5, 1)], TypeError, "link of change 0 must be an integer, not float"),
        ([(0, 0, True)], TypeError, "capacity of change 0 must be an array of numbers"),
        (np.array([[0, 0.5, 1]]), TypeError, "link of change 0 must be an integer, not float64"),
        ([(0, float("inf"), 1)], TypeError, "link of change 0 must be an integer, not float"),
        ([(0, -1, 1)], netnum.NumError, "link of change 0 is -1, expected at least 0"),
        ([(0, 99, 1)], netnum.NumError, r"link of change 0 is 99, expected a link below 80"),
        ([(0, 0, -1)], netnum.NumError, r"capacity of change 0 is -1, expected a number >= 0 \(inf for no limit\)"),
        ([(1, 0, 1), (0, 0, 1)], netnum.NumError, "time of change 1 is 0, expected changes in order of time"),
    ],
)
def test_changes_that_are_none_are_named(net, changes, error, message):
    with pytest.raises(error, match=message):
        sim.simulate(net, trace(), changes=changes)


def test_changes_may_be_any_rows(net):
    workload = sim.Workload([0], [0], [1], [1e6])
    one = sim.simulate(net, workload, changes=[(1e-4, 0, 1e9)])
    rows = np.array([[1e-4, 0, 1e9]])
    scalars = ((np.float64(1e-4), np.int64(0), np.float32(1e9)),)
    for changes in (rows, list(rows), rows.tolist(), [[1e-4, 0, 1e9]], scalars, iter([(1e-4, 0, 1e9)])):
        again = sim.simulate(net, workload, changes=changes)
        assert again.completion_times[0] == one.completion_times[0] > 0.8e-3


# --- what comes out ---


def test_a_report_is_columns(net, workload, report):
    assert report.status == "finished" and report.ended == 2000
    for column in (report.completion_times, report.slowdowns, report.bytes_sent):
        assert column.shape == (2000,) and not column.flags.writeable
    for column in (report.link_bytes, report.link_utilization, report.peak_loads):
        assert column.shape == (len(net.capacities),)
    assert (report.slowdowns >= 1 - 1e-9).all()
    np.testing.assert_array_equal(report.bytes_sent, workload.sizes)
    assert (report.peak_loads <= net.capacities * (1 + 1e-9)).all()
    assert report.over_allocation <= 1e-9 * net.capacities.sum()
    # What leaves the servers is what was sent.
    assert report.link_bytes[:32] == pytest.approx(np.bincount(workload.sources, workload.sizes, 32))
    assert report.mean_slowdown == pytest.approx(report.slowdowns.mean())
    assert report.mean_completion_time == pytest.approx(report.completion_times.mean())
    assert report.slowdown_quantile(0.9) == pytest.approx(np.quantile(report.slowdowns, 0.9))
    assert report.workload == workload
    assert report.time > 0 and workload.arrivals[-1] < report.time
    assert report.rate_changes >= report.events / 2 > 0


def test_a_quantile_is_of_a_fraction_or_of_several(net, report):
    several = report.slowdown_quantile([0.0, 0.5, 1.0])
    np.testing.assert_allclose(several, np.quantile(report.slowdowns, [0.0, 0.5, 1.0]))
    assert report.slowdown_quantile(np.array([0.5])).shape == (1,) and isinstance(report.slowdown_quantile(1), float)
    for wrong, message in [
        (99, "fraction is 99, expected a number from 0 to 1"),
        (-0.1, "fraction is -0.1, expected"),
        (float("nan"), "fraction is NaN, expected"),
        ([0.5, 99], r"fraction\[1\] is 99, expected"),
    ]:
        with pytest.raises(netnum.NumError, match=message):
            report.slowdown_quantile(wrong)
    with pytest.raises(TypeError, match="fraction must be an array of numbers"):
        report.slowdown_quantile("half")
    empty = sim.simulate(net, sim.Workload([], [], [], []))
    assert np.isnan(empty.slowdown_quantile([0.5, 0.99])).all()


def test_a_seed_fixes_every_bit(net, workload, report):
    again = sim.simulate(net, workload, seed=1)
    np.testing.assert_array_equal(again.completion_times, report.completion_times)
    other = sim.simulate(net, workload, seed=2)
    assert (other.completion_times != report.completion_times).any()


def test_every_policy_serves_every_flow(net):
    workload = sim.Workload.poisson(net, sim.sizes.enterprise, load=0.5, flows=200, seed=3)
    mean = {}
    for policy in sim.policies():
        report = sim.simulate(net, workload, policy)
        assert (report.status, report.ended) == ("finished", 200)
        assert report.policy.startswith(policy)
        mean[policy] = report.mean_completion_time
    assert mean["srpt"] <= mean["max-min"]
    assert mean["min-fct"] <= mean["proportional"]


def test_a_report_shows_how_it_ended(report):
    shown = repr(report)
    assert shown.startswith("Report(finished, 2000 flows, mean slowdown ")
    assert "max-min over ecmp" in shown
    summary = report.summary()
    assert summary.startswith(shown)
    assert "up to 100 kB" in summary and "above 10 MB" in summary and "links used to" in summary


def test_a_report_pickles(report):
    copy = pickle.loads(pickle.dumps(report))
    assert repr(copy) == repr(report)
    np.testing.assert_array_equal(copy.completion_times, report.completion_times)
    np.testing.assert_array_equal(copy.link_utilization, report.link_utilization)
    assert copy.workload == report.workload
    assert (copy.events, copy.rate_changes, copy.gap) == (report.events, report.rate_changes, report.gap)


def test_time_may_be_up(net, workload):
    report = sim.simulate(net, workload, until=workload.arrivals[1000])
    assert report.status == "time_up"
    assert 0 < report.ended < 1001
    assert np.isnan(report.completion_times[1001:]).all()
    # What has not ended is in no mean.
    assert report.mean_slowdown == pytest.approx(np.nanmean(report.slowdowns))
    assert report.slowdown_quantile(0.9) == pytest.approx(np.nanquantile(report.slowdowns, 0.9))
    assert repr(report).startswith(f"Report(time_up, {report.ended} of 2000 flows")
    assert pickle.loads(pickle.dumps(report)).ended == report.ended


def test_no_flows_give_an_empty_report(net):
    report = sim.simulate(net, sim.Workload([], [], [], []))
    assert (report.status, report.ended, report.events) == ("finished", 0, 0)
    assert report.completion_times.shape == (0,)
    assert np.isnan(report.mean_slowdown)
    assert len(report.to_pandas()) == 0
    with pytest.raises(netnum.NumError, match="no flow of these reports has ended"):
        report.plot_fct()


def test_a_limit_of_real_time_ends_a_simulation_with_what_it_has(net, workload, report):
    none = sim.simulate(net, workload, seed=1, time_limit=0)
    assert (none.status, none.ended, none.bytes_sent.sum()) == ("time_limit", 0, 0)
    assert len(none.slowdowns) == len(workload) and np.isnan(none.completion_times).all()
    assert repr(none).startswith(f"Report(time_limit, 0 of {len(workload)} flows, ")
    assert pickle.loads(pickle.dumps(none)).status == "time_limit"
    for enough in (3600, float("inf"), None):
        whole, same = (sim.simulate(net, workload, time_limit=limit) for limit in (None, enough))
        assert same.status == "finished"
        assert np.array_equal(same.completion_times, whole.completion_times)


@pytest.mark.parametrize("limit", [-1, float("nan")])
def test_a_limit_that_is_none_is_an_error(net, workload, limit):
    with pytest.raises(netnum.NumError, match=r"time_limit is (-1|NaN), expected a number of seconds >= 0"):
        sim.simulate(net, workload, time_limit=limit)


@pytest.mark.parametrize("until", [float("-inf"), float("nan"), -1.0])
def test_an_end_before_the_beginning_is_an_error(net, workload, until):
    with pytest.raises(netnum.NumError, match=r"until is (-inf|NaN|-1), expected a number >= 0"):
        sim.simulate(net, workload, until=until)


def out_of_band(thing, carry):
    """What comes out of a pickle whose buffers travel apart, each carried in its own way."""
    buffers = []
    text = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    assert buffers, "nothing travels apart"
    return pickle.loads(text, buffers=[carry(buffer.raw()) for buffer in buffers])


def misaligned(raw):
    room = bytearray(len(raw) + 1)
    room[1:] = raw
    return memoryview(room)[1:]


@pytest.mark.parametrize("carry", [bytes, bytearray, misaligned, lambda raw: misaligned(raw).toreadonly()])
def test_workloads_reports_and_sizes_travel_out_of_band(net, workload, carry):
    slow = workload.with_production(1e9, buffer=1e5)
    for flows in (workload, slow):
        report = sim.simulate(net, flows)
        copy = out_of_band(report, carry)
        assert out_of_band(flows, carry) == flows == copy.workload
        for column in ("completion_times", "slowdowns", "bytes_sent", "copy_rates", "link_bytes", "peak_loads"):
            assert np.array_equal(getattr(copy, column), getattr(report, column), equal_nan=True)
    assert out_of_band(sim.sizes.web_search, carry) == sim.sizes.web_search


def foreign(values):
    """Equal numbers as other libraries hand them over."""
    values = np.asarray(values)
    held = np.zeros(2 * len(values), values.dtype)
    held[::2] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    return [
        list(values),
        values.astype(values.dtype.newbyteorder(">")),
        held[::2],
        np.frombuffer(misaligned(values.tobytes()), values.dtype),
        frozen,
    ]


def test_flows_come_in_foreign_buffers():
    given = ([0.0, 0.5, 1.0], [0, 1, 2], [2, 0, 1], [1e3, 2e3, 3e3])
    plain = sim.Workload(*given)
    for columns in zip(*(foreign(column) for column in given), strict=True):
        assert sim.Workload(*columns) == plain
    assert sim.Workload(*(np.asarray(column, kind) for column, kind in zip(given, "fiif", strict=True))) == plain
    assert all(
        plain.with_production(rates) == plain.with_production([1e9, 2e9, 3e9]) for rates in foreign([1e9, 2e9, 3e9])
    )


def test_masked_flows_are_refused():
    masked = np.ma.masked_array([0.0, 0.5], mask=[False, True])
    with pytest.raises(TypeError, match="arrivals is a masked array"):
        sim.Workload(masked, [0, 0], [1, 1], [1.0, 1.0])


@pytest.mark.parametrize("work", ["poisson", "at_once", "to_csv", "from_csv", "log_normal", "all_to_all"])
def test_ctrl_c_stops_whatever_makes_flows(net, work):
    pairs = np.tile([[0, 5]], (300_000, 1))
    large = netnum.topology.fat_tree(16)
    endless = {
        "poisson": lambda: sim.Workload.poisson(net, sizes=sim.sizes.web_search, flows=300_000),
        "at_once": lambda: sim.Workload.at_once(net, pairs, sim.sizes.web_search),
        "to_csv": sim.Workload.poisson(net, sizes=sim.sizes.web_search, flows=300_000).to_csv,
        "from_csv": lambda: sim.Workload.from_csv("0,0,1,1000\n" * 300_000),
        "log_normal": lambda: sim.log_normal(300_000, 1e9, 1.0),
        "all_to_all": lambda: sim.all_to_all(large),
    }[work]

    def again_and_again():
        while True:
            endless()

    assert seconds_until_interrupted(again_and_again) < 5


def test_more_flows_than_memory_holds_are_refused():
    with pytest.raises(MemoryError, match="no memory for 35184372088832 rates of production"):
        sim.log_normal(2**45, 1e9, 1.0)


def test_bad_runs_are_named(net, workload):
    with pytest.raises(netnum.MethodError, match='unknown policy "fair"; known: max-min, srpt'):
        sim.simulate(net, workload, "fair")
    with pytest.raises(netnum.MethodError, match='unknown routing "ospf"; known: ecmp'):
        sim.simulate(net, workload, routing="ospf")
    with pytest.raises(netnum.NumError, match="until is -1, expected a number >= 0"):
        sim.simulate(net, workload, until=-1)
    with pytest.raises(netnum.ProblemError, match="flow 0 has destination 99, expected an end from 0 to"):
        sim.simulate(net, sim.Workload([0], [0], [99], [1]))


# --- frames and plots ---


def test_frames_have_a_row_per_flow_and_per_link(net, workload, report):
    pandas = pytest.importorskip("pandas")
    flows = report.to_pandas()
    assert isinstance(flows, pandas.DataFrame) and len(flows) == 2000 and flows.index.name == "flow"
    assert "production" not in flows
    np.testing.assert_array_equal(flows["size"], workload.sizes)
    np.testing.assert_array_equal(flows["slowdown"], report.slowdowns)
    links = report.to_pandas("links")
    assert len(links) == len(net.capacities)
    np.testing.assert_array_equal(links["bytes"], report.link_bytes)
    with pytest.raises(netnum.NumError, match="of is 'servers', expected 'flows', 'links' or 'coflows'"):
        report.to_pandas("servers")


def test_without_pandas_the_error_has_the_command_to_install_it(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'frames need pandas: pip install "netnum\[frames\]"'):
        report.to_pandas()


def test_several_reports_on_the_same_axes(net, workload, report):
    axes = report.plot_fct()
    assert sim.simulate(net, workload, "srpt").plot_fct(axes, label="shortest first") is axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    name = "max-min over ecmp"
    assert labels == [f"{name}, mean", f"{name}, 99 %", "shortest first, mean", "shortest first, 99 %"]
    mean, tail = axes.get_lines()[:2]
    assert (mean.get_ydata() <= tail.get_ydata()).all()
    assert (np.diff(mean.get_xdata()) >= 0).all()


# --- stopping and watching ---


@pytest.mark.parametrize("policy", ["max-min", "srpt", "proportional"])
def test_ctrl_c_stops_a_simulation_within_100_ms(policy):
    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    workload = sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=200_000)
    # Longer than it takes to route them.
    delays = [seconds_until_interrupted(lambda: sim.simulate(net, workload, policy), after=0.4) for _ in range(3)]
    assert min(delays) < 0.1


def test_ctrl_c_stops_the_drawing_of_flows(net):
    draw = lambda: sim.Workload.poisson(net, sim.sizes.web_search, flows=100_000_000)  # noqa: E731
    assert min(seconds_until_interrupted(draw) for _ in range(3)) < 0.1


@pytest.mark.parametrize("tqdm", [True, False])
def test_a_bar_shows_the_flows(net, capsys, monkeypatch, tqdm):
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    workload = sim.Workload.poisson(net, sim.sizes.web_search, load=0.6, flows=50)
    sim.simulate(net, workload, progress=True)
    shown = capsys.readouterr().err
    assert "simulate" in shown and "100%" in shown and "50 of 50 flows" in shown and "left" not in shown


def test_the_estimate_of_the_time_left_is_right_though_a_run_slows_down():
    from netnum._show.progress import Flows

    # The network fills up during the first quarter: a flow takes up to three times as long.
    took = [1 + 2 * min(1.0, flow / 25_000) for flow in range(100_000)]
    seconds, left = [0.0], {}
    flows = Flows(100_000, float("inf"), lambda: seconds[-1])
    for ended in range(100, 100_001, 100):
        seconds.append(seconds[-1] + sum(took[ended - 100 : ended]))
        percent, text = flows.progress(ended, 1.0)
        assert percent == pytest.approx(ended / 1000)
        left[ended] = flows.left()
    for ended in (50_000, 75_000, 90_000):
        assert left[ended] == pytest.approx(sum(took[ended:]), rel=0.02)
    assert left[20_000] == pytest.approx(sum(took[20_000:]), rel=0.3)
    assert left[100_000] == 0 and "left" not in text


def test_a_bar_ends_when_the_time_is_up():
    from netnum._show.progress import Flows

    now = [0.0]
    flows = Flows(1000, 2.0, lambda: now[-1])
    now.append(3.0)
    assert flows.progress(10, 0.5) == (25.0, "10 of 1000 flows, at 0.5 s, 9 s left")
    assert flows.progress(20, 2.0)[0] == 100.0
    assert Flows(0, float("inf")).progress(0, 0.0) == (100.0, "0 of 0 flows, at 0 s")
    assert Flows(10, float("inf")).progress(0, 0.1) == (0.0, "0 of 10 flows, at 0.1 s")
    # The flows of a closed loop are any number.
    assert Flows(None, float("inf")).progress(3, 0.1) == (0.0, "3 ended, at 0.1 s")
    assert Flows(None, 2.0).progress(3, 2.0) == (100.0, "3 ended, at 2 s")


def test_without_a_bar_nothing_is_shown(net, workload, capsys):
    sim.simulate(net, workload)
    assert capsys.readouterr() == ("", "")


def test_a_picture_of_reports_of_two_policies_is_refused_and_a_warmup_is_not_counted_as_unfinished(net):
    pytest.importorskip("matplotlib").use("Agg")
    workload = sim.Workload.poisson(net, "web_search", 0.5, flows=300, seed=1)
    fair, shortest = (sim.simulate(net, workload, policy, warmup=1e-3) for policy in ("max-min", "srpt"))
    with pytest.raises(
        netnum.NumError, match="the reports are of max-min over ecmp, srpt over ecmp, and a line is the"
    ):
        sim.plot_fct([fair, shortest])
    ax = fair.plot_fct()
    assert fair.ended == 300
    assert not any("not ended" in text.get_text() for text in ax.figure.findobj(lambda each: hasattr(each, "get_text")))
    with pytest.raises(TypeError, match="ax must be axes of matplotlib, not Report"):
        fair.plot_fct(shortest)
