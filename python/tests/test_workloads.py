"""Workloads: sizes by name, flows without end, weights, those that are joined, and those that people draw by hand."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum
from netnum import sim

NET = netnum.topology.star(5, capacity=8e9)


def at_once(sizes, **others):
    flows = len(sizes)
    return sim.Workload([0.0] * flows, [0] * flows, [1] * flows, sizes, **others)


# --- sizes ---


def test_sizes_are_a_distribution_its_name_or_a_number():
    by_name = sim.Workload.poisson(NET, "web_search", load=0.5, flows=50, seed=1)
    assert by_name == sim.Workload.poisson(NET, sim.sizes.web_search, load=0.5, flows=50, seed=1)
    assert set(sim.Workload.poisson(NET, 1500, load=0.5, flows=50, seed=1).sizes) == {1500.0}
    assert set(sim.Workload.at_once(NET, [(0, 1), (2, 3)], 7.5).sizes) == {7.5}
    with pytest.raises(netnum.MethodError, match='unknown sizes "web_serach", did you mean "web_search"'):
        sim.Workload.poisson(NET, "web_serach", load=0.5, flows=5)
    with pytest.raises(netnum.ProblemError, match="is at -1 bytes"):
        sim.Workload.permutation(NET, -1)
    for wrong in (None, [1.0, 2.0], True):
        with pytest.raises(
            TypeError, match=r"sizes must be a Sizes.*a name such as 'web_search', or a number of bytes"
        ):
            sim.Workload.permutation(NET, wrong)


# --- by hand ---


def test_incast_permutation_and_all_to_all_are_their_pairs_at_once():
    sizes = "data_mining"
    for made, pairs in [
        (sim.Workload.incast(NET, 2, 3, sizes, seed=4), sim.incast(NET, 2, 3, seed=4)),
        (sim.Workload.permutation(NET, sizes, seed=4), sim.permutation(NET, seed=4)),
        (sim.Workload.all_to_all(NET, sizes, seed=4), sim.all_to_all(NET)),
    ]:
        assert made == sim.Workload.at_once(NET, pairs, sizes, seed=4)
    named = sim.Workload.incast(NET, "server 2", 99, 1e6)
    assert set(named.destinations) == {2} and sorted(named.sources) == [0, 1, 3, 4]
    with pytest.raises(netnum.ProblemError, match="receiver"):
        sim.Workload.incast(NET, "server 7", 3, 1e6)


# --- without end ---


@pytest.mark.parametrize("size", [1e22, 1e25, float("inf")])
def test_long_run_rates_are_right_whatever_the_size(size):
    net = netnum.topology.star(3, 100e9)
    report = sim.simulate(net, sim.Workload([0, 0], [0, 1], [2, 2], [size, size]), until=0.01)
    np.testing.assert_allclose(8 * report.bytes_sent / report.time, 5e10, rtol=1e-12)
    assert report.link_utilization[net.link("hub", "server 2")] == pytest.approx(1.0, rel=1e-12)
    assert report.status == "time_up" and np.isnan(report.slowdowns).all()


def test_flows_without_end_need_a_time_and_size_0_is_answered():
    endless = at_once([1e6, np.inf])
    assert repr(endless) == "Workload(2 flows within 0.0000 s, 1000.0000 kB each, 1 without end)"
    assert pickle.loads(pickle.dumps(endless)) == endless
    assert sim.Workload.from_csv(endless.to_csv()) == endless
    with pytest.raises(netnum.NumError, match="until is inf, expected the seconds to simulate, since flow 1"):
        sim.simulate(NET, endless)
    with pytest.raises(netnum.ProblemError, match="flow 0 has size 0, expected a number > 0; a flow of size inf never"):
        at_once([0.0])
    with pytest.raises(netnum.MethodError, match='"min-fct" cannot take flow 1 of size inf, which never ends'):
        sim.simulate(NET, endless, "min-fct", until=1.0)


def test_a_policy_in_python_sees_flows_without_end_and_their_weights():
    seen = []

    class Fair:
        def allocate(self, now, flows):
            seen.append((flows.left.tolist(), flows.weights.tolist()))
            return flows.max_min()

    sim.simulate(NET, at_once([np.inf, 1e6], weights=[2.0, 3.0]), Fair(), until=0.1)
    assert seen[0] == ([np.inf, 1e6], [2.0, 3.0])
    sim.simulate(NET, at_once([1e6]), Fair())
    assert seen[-2][1] == [1.0]


# --- weights ---


def test_weights_decide_shares_where_a_policy_has_a_use_for_them():
    workload = at_once([np.inf, np.inf], weights=[3.0, 1.0])
    for policy in ("max-min", "proportional", "alpha-fair"):
        report = sim.simulate(NET, workload, policy, until=1.0)
        assert report.bytes_sent[0] / report.bytes_sent[1] == pytest.approx(3.0, rel=1e-3), policy
    assert "weight" in report.to_pandas()
    for policy in ("edf", "coflow", "min-fct"):
        with pytest.raises(netnum.MethodError, match=f'"{policy}" has no use for the weights of flows; policies that'):
            sim.simulate(NET, at_once([1.0], weights=2.0), policy)


def test_weights_are_read_and_wrong_ones_named():
    workload = at_once([1.0, 2.0])
    assert workload.weights is None
    weighted = workload.with_weights([2, 3])
    assert weighted.weights.tolist() == [2.0, 3.0] and weighted != workload
    assert at_once([1.0, 2.0], weights=[2, 3]) == weighted
    assert at_once([1.0, 2.0], weights=2).weights.tolist() == [2.0, 2.0]
    assert pickle.loads(pickle.dumps(weighted)) == weighted
    assert sim.Workload.from_csv(weighted.to_csv()) == weighted
    for wrong, message in [
        ([1.0], "weights has 1 entries, expected 2"),
        ([1.0, 0.0], "flow 1 has weight 0, expected a finite number > 0"),
        ([np.inf, 1.0], "flow 0 has weight inf"),
    ]:
        with pytest.raises(netnum.NumError, match=message):
            workload.with_weights(wrong)


# --- joined ---


def columns(workload):
    weights = np.ones(len(workload)) if workload.weights is None else workload.weights
    return list(zip(workload.arrivals, workload.sources, workload.destinations, workload.sizes, weights, strict=True))


@st.composite
def workloads(draw):
    flows = sorted(draw(st.lists(st.integers(0, 4), max_size=8)))
    sources = [draw(st.integers(0, 4)) for _ in flows]
    destinations = [(source + draw(st.integers(1, 4))) % 5 for source in sources]
    sizes = [draw(st.one_of(st.floats(1e-3, 1e12), st.just(float("inf")))) for _ in flows]
    weights = [draw(st.floats(1e-3, 1e3)) for _ in flows] if draw(st.booleans()) else None
    return sim.Workload(flows, sources, destinations, sizes, weights=weights)


@given(workloads(), workloads())
def test_a_sum_has_the_flows_of_both_in_order_of_arrival(one, other):
    both = one + other
    assert columns(both) == sorted(columns(one) + columns(other), key=lambda row: row[0])
    assert (both.weights is None) == (one.weights is None and other.weights is None)


@given(workloads())
def test_workloads_are_read_back_through_text_and_pickle(workload):
    assert pickle.loads(pickle.dumps(workload)) == workload
    if len(workload):
        text = workload.to_csv()
        for changed in (text, text.rstrip("\n"), text.replace("\n", "\r\n"), "\ufeff" + text):
            assert sim.Workload.from_csv(changed) == workload


def test_a_sum_of_what_is_no_workload_is_answered():
    workload = at_once([1.0])
    with pytest.raises(TypeError, match="a Workload is added to another one, not to float"):
        workload + 1.0
    with pytest.raises(netnum.NumError, match=r"the send buffers of the workloads is .*, expected the same in both"):
        workload + workload.with_production(1e9)


def test_shifted_flows_arrive_later_and_are_otherwise_the_same():
    workload = sim.Workload.all_to_all(NET, 1e3, seed=1).with_weights(2.0)
    later = workload.shifted(0.5)
    assert set(later.arrivals) == {0.5} and later.weights.tolist() == workload.weights.tolist()
    assert later.shifted(-0.5) == workload
    with pytest.raises(netnum.ProblemError, match="flow 0 has arrival -1"):
        workload.shifted(-1)
