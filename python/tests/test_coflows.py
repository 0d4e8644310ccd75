"""Flows that wait for others and coflows: their forms, round trips, errors, and jobs with known times."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum
from netnum import sim

LINK = netnum.topology.single_link(8.0)  # 1 byte per second


def flows(count, **others):
    return sim.Workload([0.0] * count, [0] * count, [1] * count, [1.0] * count, **others)


@st.composite
def waiting(draw):
    """Flows that wait for earlier ones and are in coflows, or are not."""
    count = draw(st.integers(1, 8))
    after = [draw(st.lists(st.integers(0, flow - 1), max_size=3)) if flow else [] for flow in range(count)]
    delay = draw(st.lists(st.floats(0, 5), min_size=count, max_size=count))
    coflow = draw(st.lists(st.sampled_from([None, 0, 1]), min_size=count, max_size=count))
    numbers = sorted({number for number in coflow if number is not None})
    coflow = [None if number is None else numbers.index(number) for number in coflow]
    return flows(count, after=after, delay=delay, coflow=coflow)


@settings(deadline=None)
@given(waiting())
def test_what_waits_is_read_back_from_every_form(tmp_path_factory, workload):
    assert sim.Workload.from_csv(workload.to_csv()) == workload
    assert sim.Workload.from_pandas(workload.to_pandas()) == workload
    assert pickle.loads(pickle.dumps(workload)) == workload
    file = tmp_path_factory.mktemp("saved") / "workload.json"
    workload.save(file)
    assert netnum.load(file) == workload
    if workload.after is not None:
        indptr, indices = workload.after
        again = flows(len(workload), after=(indptr, indices), delay=workload.delay)
        assert again == flows(len(workload), after=np.split(indices, indptr[1:-1]), delay=workload.delay)


@settings(deadline=None)
@given(waiting())
def test_a_flow_starts_when_those_that_it_waits_for_have_ended_and_its_delay_is_over(workload):
    report = sim.simulate(LINK, workload)
    ends = report.starts + report.completion_times
    indptr, indices = ([0] * (len(workload) + 1), np.array([], int)) if workload.after is None else workload.after
    for flow, start in enumerate(report.starts):
        own = indices[indptr[flow] : indptr[flow + 1]]
        expected = ends[own].max() + workload.delay[flow] if len(own) else 0.0
        assert start == pytest.approx(expected, rel=1e-9)
    if workload.coflow is not None:
        for number, time in enumerate(report.coflow_times):
            own = workload.coflow == number
            assert time == pytest.approx(ends[own].max() - report.starts[own].min(), rel=1e-9)


def test_after_takes_lists_two_arrays_and_sparse_matrices():
    expected = flows(3, after=[None, 0, [0, 1]])
    assert flows(3, after=[[], [0], np.array([0, 1])]) == expected
    assert flows(3, after=(np.array([0, 0, 1, 3]), np.array([0, 0, 1]))) == expected
    matrix = scipy.sparse.csr_array(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]]))
    assert flows(3, after=matrix) == flows(3, after=matrix.tocoo()) == expected
    assert flows(3).with_after([None, 0, [0, 1]], delay=0.0) == expected
    assert list(expected.delay) == [0, 0, 0] and flows(3).after is flows(3).delay is flows(3).coflow is None
    # Nobody waits, and nobody is in a coflow.
    assert flows(2, after=[None, None], delay=1.0, coflow=[-1, None]) == flows(2)
    assert repr(expected.with_coflow([0, None, -1])) == (
        "Workload(3 flows within 0.0000 s, 0.0010 kB each, 2 after others, 1 coflow)"
    )


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"after": [[1], [0]]}, netnum.NumError, "flows 0, 1 wait for each other in a circle"),
        ({"after": [None, 1]}, netnum.ProblemError, "flow 1 has after 1, expected another flow than itself"),
        ({"after": [None, 2]}, netnum.ProblemError, "flow 1 has after 2, expected a flow from 0 to 1"),
        ({"after": [None, -1]}, netnum.ProblemError, "flow 1 has after -1, expected a flow from 0 to 1"),
        ({"after": [None]}, netnum.ProblemError, "after has 1 entries, expected 2, one per flow"),
        ({"after": (None, 0)}, TypeError, "after[0]"),
        ({"after": [None, 10**30]}, netnum.ProblemError, f"flow 1 has after {10**30}, expected a flow from 0 to 1"),
        ({"after": {1: [0]}}, TypeError, "after must be a list with the flows that each flow waits for"),
        ({"after": 5}, TypeError, "after must be a list with the flows that each flow waits for"),
        ({"after": ([0, -1, 1], [0])}, netnum.NumError, "after[0][1] is -1, expected a number >= 0"),
        (
            {"after": ([0], [0], [0])},
            TypeError,
            "after must be a list with the flows that each flow waits for, a tuple",
        ),
        ({"after": ([0, 1], [0])}, netnum.NumError, "after[0] is of length 2, expected 3 numbers, one more than"),
        ({"after": ([0, 2, 1], [0])}, netnum.NumError, "indptr[2] is 1, expected at least 2, the one before it"),
        ({"after": [None, 0], "delay": -1}, netnum.ProblemError, "flow 0 has delay -1, expected a finite number >= 0"),
        ({"delay": 1.0}, netnum.NumError, "delay is 1.0, expected flows that wait (after) beside it"),
        ({"coflow": [0, 2]}, netnum.ProblemError, "flow 1 has coflow 2, expected a number below 2, that of the flows"),
        ({"coflow": [1, 1]}, netnum.NumError, "coflow is without 0, expected numbers from 0 on without gaps"),
        ({"coflow": [0, 10**30]}, netnum.ProblemError, f"flow 1 has coflow {10**30}, expected the number of a coflow"),
        ({"coflow": [0, -2]}, netnum.ProblemError, "flow 1 has coflow -2, expected the number of a coflow, from 0 on"),
        ({"coflow": [0]}, netnum.ProblemError, "coflow has 1 entries, expected 2, one per flow"),
        ({"coflow": [0, "a"]}, TypeError, "coflow"),
    ],
)
def test_what_is_no_wait_and_no_coflow_is_refused_by_place(given, error, message):
    with pytest.raises(error, match=re.escape(message)):
        flows(2, **given)


def test_files_name_the_line_of_a_wait_that_is_none():
    header = "arrival,source,destination,size,after,delay,coflow\n"
    with pytest.raises(netnum.ProblemError, match='line 3 of the trace has after "x", expected numbers of flows with'):
        sim.Workload.from_csv(header + "0,0,1,1,,0,0\n0,0,1,1,x,0,0\n")
    with pytest.raises(netnum.ProblemError, match=r"line 3 of the trace \(flow 1\) has after 7, expected a flow from"):
        sim.Workload.from_csv(header + "0,0,1,1,,0,0\n0,0,1,1,7,0,0\n")
    with pytest.raises(netnum.ProblemError, match="with a delay and no after, expected both"):
        sim.Workload.from_csv("arrival,source,destination,size,delay\n0,0,1,1,0\n")


def test_tables_of_text_are_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    workload = flows(3, after=[None, 0, [0, 1]], delay=0.5, coflow=[0, None, 0])
    workload.to_csv(tmp_path / "trace.csv")
    assert sim.Workload.from_pandas(pandas.read_csv(tmp_path / "trace.csv")) == workload
    table = workload.to_pandas()
    for column, value, message in [
        (
            "coflow",
            [0, 0.7, 0],
            "flow 1 has coflow 0.7, expected its number, or nothing; pandas.factorize(names)[0] numbers names",
        ),
        ("coflow", [0, "a", 0], "flow 1 has coflow 'a', expected its number, or nothing"),
        ("after", ["", "x", ""], "flow 1 has after 'x', expected numbers of flows with spaces between them"),
    ]:
        with pytest.raises(netnum.ProblemError, match=re.escape(message)):
            sim.Workload.from_pandas(table.assign(**{column: value}))


def test_tables_name_flows_by_their_index_and_warn_of_columns_that_are_left_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"arrival": [0.2, 0.0, 0.1], "source": 0, "destination": 1, "size": 1.0, "after": [None, None, 0]}
    )
    ordered = frame.sort_values("arrival")
    with_waits = sim.Workload.from_pandas(ordered)
    # The flow of label 2 waits for that of label 0, which has come last.
    assert [own.tolist() for own in np.split(with_waits.after[1], with_waits.after[0][1:-1])] == [[], [2], []]
    with pytest.raises(netnum.ProblemError, match="flow 1 has after 0, expected a label of the index of the table"):
        sim.Workload.from_pandas(ordered[:2])
    with pytest.raises(netnum.ProblemError, match="the index of the table has a label twice"):
        sim.Workload.from_pandas(ordered.set_axis([5, 5, 6]))
    for column, role in [("weights", "weight"), ("coflows", "coflow"), ("depends_on", "after")]:
        plain = frame.drop(columns="after").assign(**{column: 1.0}).sort_values("arrival")
        with pytest.warns(UserWarning, match=f"column '{column}' is left out; as '{role}' it is read by columns="):
            sim.Workload.from_pandas(plain)


def test_coflows_have_a_table():
    pytest.importorskip("pandas")
    report = sim.simulate(LINK, flows(3, coflow=[0, 1, 1]).shifted(1.0))
    table = report.to_pandas("coflows")
    assert list(table.columns) == ["start", "time", "flows", "bytes_sent"]
    np.testing.assert_allclose(table.to_numpy(), [[1, 3, 1, 1], [1, 3, 2, 2]])
    assert sim.simulate(LINK, flows(3)).to_pandas("coflows").empty
    with pytest.raises(netnum.NumError, match="of is 'jobs', expected 'flows', 'links' or 'coflows'"):
        report.to_pandas("jobs")


def test_what_people_try_first_is_told():
    net = netnum.topology.star(4, 8.0)
    for name in ("all_reduce", "shuffle", "coflows"):
        with pytest.raises(AttributeError, match=r"Workload|with_coflow"):
            getattr(sim, name)
    with pytest.raises(TypeError, match=r"workers must be a sequence of ends, such as range\(16\), not a number"):
        sim.Workload.all_reduce(net, 1.0, 16)
    with pytest.raises(netnum.MethodError, match='unknown policy "sebf": coflows in order are "coflow"'):
        sim.simulate(net, sim.Workload.all_to_all(net, 1.0), "sebf")
    with pytest.raises(TypeError, match=r"coflow\[0\] must be an int or None \(pandas.factorize\(names\)\[0\] numbers"):
        flows(2, coflow=["a", "b"])


def test_what_follows_begins_as_much_later_as_it_arrives():
    first = flows(2)  # they end at 2 s
    later = sim.Workload([0.0, 1.0], [0, 0], [1, 1], [0.5, 0.5])
    report = sim.simulate(LINK, first.then(later, seconds=0.25))
    np.testing.assert_allclose(report.starts, [0, 0, 2.25, 3.25])
    none = sim.Workload([], [], [], [])
    np.testing.assert_allclose(none.then(later, seconds=5).arrivals, [5, 6])
    for wrong in (lambda: first.then(later, seconds=-1), lambda: first.with_answers(1.0, seconds=-1)):
        with pytest.raises(netnum.NumError, match="seconds is -1, expected a finite number >= 0"):
            wrong()
    with pytest.raises(netnum.NumError, match=r"sizes\[1\] is -1, expected a number > 0"):
        first.with_answers([1, -1])


def test_waits_beyond_memory_are_refused_before_they_are_made():
    many = sim.Workload.at_once(netnum.topology.star(2, 1.0), np.array([[0, 1]] * 200_000), 1.0)
    with pytest.raises(MemoryError, match="waits of flows"):
        many.then(many)


def test_a_coflow_late_in_a_long_run_has_all_digits():
    workload = sim.Workload([1e6], [0], [1], [1e-9], coflow=[0])
    report = sim.simulate(LINK, workload)
    assert report.coflow_times.tolist() == report.completion_times.tolist()


def test_three_ports_and_two_coflows_are_right_by_hand():
    net = netnum.topology.star(6, 1e9)
    pairs = [(0, 3), (1, 3), (1, 4), (2, 5)]
    workload = sim.Workload.at_once(net, pairs, 1e9 / 8).with_coflow([0, 0, 1, 1])
    fifo = sim.simulate(net, workload, sim.Policy("coflow", order="fifo"))
    np.testing.assert_allclose(fifo.completion_times, [2, 2, 2, 1], rtol=1e-9)
    smallest = sim.simulate(net, workload, "coflow")
    np.testing.assert_allclose(smallest.coflow_times, [2, 1], rtol=1e-9)
    with pytest.raises(netnum.NumError, match="order"):
        sim.simulate(net, workload, sim.Policy("coflow", order="last"))


@pytest.mark.parametrize("algorithm", ["ring", "direct", "halving-doubling"])
def test_an_all_reduce_of_100_mb_on_8_workers_takes_3_5_ms(algorithm):
    net = netnum.topology.star(8, 400e9)
    report = sim.simulate(net, sim.Workload.all_reduce(net, 100e6, algorithm=algorithm))
    np.testing.assert_allclose(report.coflow_times, 3.5e-3, rtol=1e-9)
    assert pickle.loads(pickle.dumps(report)).starts.tolist() == report.starts.tolist()
    assert list(report.to_pandas()["start"]) == list(report.starts)


def test_workers_are_by_name_and_algorithms_are_known():
    net = netnum.topology.star(4, 8.0)
    by_name = sim.Workload.all_reduce(net, 1.0, ["server 2", "server 0"])
    assert by_name == sim.Workload.all_reduce(net, 1.0, [2, 0])
    with pytest.raises(
        netnum.NumError, match=r'algorithm is "rings", expected one of ring, direct.*did you mean "ring"'
    ):
        sim.Workload.all_reduce(net, 1.0, algorithm="rings")
    with pytest.raises(netnum.NumError, match=r"workers\[1\] is 2, expected ends that are all different"):
        sim.Workload.all_reduce(net, 1.0, [2, 2])


def test_a_chart_has_a_bar_for_every_coflow():
    net = netnum.topology.star(4, 8.0)
    step = sim.Workload.all_to_all_in_steps(net, 1.0)
    report = sim.simulate(net, step.then(step, seconds=2.0), until=6.5)
    assert np.isnan(report.coflow_times[1])
    ax = report.plot_coflows()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["coflow 0", "coflow 1"]
    assert {"3 s", "not done"} <= {text.get_text() for text in ax.texts}
    with pytest.raises(netnum.NumError, match="the workload has no coflows to draw"):
        sim.simulate(LINK, flows(2)).plot_coflows()


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_a_chart_of_few_coflows_has_no_empty_rows(count):
    report = sim.simulate(LINK, flows(count, coflow=list(range(count))))
    bottom, top = report.plot_coflows().get_ylim()
    assert (bottom, top) == (min(count, 40) - 0.4, -0.6)


@pytest.mark.parametrize("labels", [["map", "reduce"], np.array(["map", "reduce"]), ("map", "reduce"), ["map", None]])
def test_coflows_by_name_are_told_what_numbers_them(labels):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=re.escape("pandas.factorize(names)[0] numbers names")):
        flows(2, coflow=labels)
    assert flows(2, coflow=pandas.factorize(np.array(["map", "reduce"]))[0]).coflow.tolist() == [0, 1]
