"""Rates and loads over time: what a report keeps of them, and their pictures."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim, topology
from netnum._show import layout

STAR = topology.star(4, capacity=8e9)


def report(policy="max-min", **options):
    workload = sim.Workload([0.0, 1e-3, 2e-3], [0, 1, 0], [3, 3, 2], [3e6, 1e6, 1e6])
    return sim.simulate(STAR, workload, policy, timeline=True, **options)


def test_a_timeline_has_the_steps_of_flows_and_links():
    timeline = report().timeline
    # 1 MB alone, then half of the link to server 3, and of that of server 0 until the third flow ends.
    times, rates = timeline.rates(0)
    np.testing.assert_allclose(times, [0.0, 1e-3, 4e-3, 4.5e-3], rtol=1e-9)
    np.testing.assert_allclose(rates, [8e9, 4e9, 8e9, 0.0], rtol=1e-9)
    assert timeline.rates(-2)[0][0] == 1e-3
    to_3 = STAR.link("hub", "server 3")
    np.testing.assert_allclose(timeline.loads(to_3)[1], [8e9, 4e9, 8e9, 0.0], rtol=1e-9)
    assert [part.tolist() for part in timeline.capacities(to_3)] == [[0.0], [8e9]]
    for of, by_nodes in ((timeline.loads, ("hub", "server 3")), (timeline.capacities, ["hub", 3])):
        np.testing.assert_array_equal(of(by_nodes), of(to_3))
    means = timeline.mean_rates([0.0, 2e-3, 4e-3])
    np.testing.assert_allclose(means, [[6e9, 4e9], [2e9, 2e9], [0.0, 4e9]], rtol=1e-9)
    used = timeline.mean_utilization(np.array([0.0, 2e-3, 8e-3]))
    assert used.shape == (len(STAR.links), 2) and used[to_3, 0] == pytest.approx(1.0)
    assert repr(timeline).startswith("Timeline(3 flows and 8 links, ")
    for bare in (without := sim.simulate(STAR, report().workload), pickle.loads(pickle.dumps(without))):
        with pytest.raises(AttributeError, match=r"'timeline': simulate\(..., timeline=True\) keeps one"):
            bare.timeline  # noqa: B018


def test_a_timeline_pickles_with_its_report():
    before = report()
    assert before.timeline is before.timeline
    after = pickle.loads(pickle.dumps(before))
    assert after.timeline == before.timeline and after.timeline != report("srpt").timeline
    alone = pickle.loads(pickle.dumps(before.timeline))
    assert alone == before.timeline
    np.testing.assert_array_equal(alone.loads(("hub", "server 3")), before.timeline.loads(("hub", "server 3")))


def test_what_a_timeline_does_not_have_is_named():
    timeline = report().timeline
    with pytest.raises(IndexError, match="flow 3"):
        timeline.rates(3)
    with pytest.raises(IndexError, match="link 8"):
        timeline.loads(8)
    with pytest.raises(netnum.ProblemError, match="link: there is no link from server 0 to server 1"):
        timeline.loads((0, 1))
    with pytest.raises(TypeError, match=r"link must be a link.s number, its name or a pair of nodes, not float"):
        timeline.capacities(1.5)
    with pytest.raises(netnum.NumError, match=r"edges\[1\] is 0, expected more than 0, the edge before"):
        timeline.mean_rates([0.0, 0.0])
    with pytest.raises(netnum.NumError, match="the number of edges is 1, expected at least 2"):
        timeline.mean_utilization([0.0])


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_rates_are_drawn_as_steps_from_the_start_of_a_flow_to_its_end(pyplot):
    ax = report().plot_rates([0, 2], labels=["long", "short"])
    lines = {line.get_label(): np.asarray(line.get_xydata()) for line in ax.get_lines()}
    assert list(lines) == ["long", "short"]
    np.testing.assert_allclose(lines["long"][:, 0], [0.0, 0.0, 1e-3, 4e-3, 4.5e-3], rtol=1e-9)
    np.testing.assert_allclose(lines["long"][:, 1], [0.0, 8e9, 4e9, 8e9, 0.0], rtol=1e-9)
    assert "Rates of 2 of 3 flows under max-min over ecmp" in ax.get_title().replace("\n", " ")
    # A flow that goes on is drawn to the end, and one that has not started is counted.
    ax = report(until=1.5e-3).plot_rates()
    assert [line.get_xdata()[-1] for line in ax.get_lines()] == [1.5e-3, 1.5e-3]
    assert "1 flow not started" in ax.get_title()
    ax = report(until=1.5e-3).plot_rates(labels=["", "same", "same"])
    assert "1 flow not started" in ax.get_title()


def test_links_are_rows_with_the_fullest_first(pyplot):
    ax = report().plot_links(STAR, intervals=8, most=3)
    assert ax.get_yticklabels()[0].get_text() in ("hub -> server 3", "server 0 -> hub")
    drawn = ax.collections[0].get_array().reshape(3, 8)
    sums = np.maximum(drawn, 0.0).sum(axis=1)
    assert drawn.max() == pytest.approx(1.0) and drawn.min() == -1.0 and (sums[:-1] >= sums[1:]).all()
    assert "the 3 fullest of 8 links" in ax.get_title().replace("\n", " ")
    ax = report().plot_links(STAR, [2, 1])
    assert [label.get_text() for label in ax.get_yticklabels()] == [STAR.link_names[2], STAR.link_names[1]]


def frames_of(animation, net, count):
    """The values of every line in every frame, nan for none, by the nodes that it joins."""
    lines, shown = animation._fig.axes[0].collections[0], []
    places, names = layout.places(net), net.node_names
    nearest = [[names[np.abs(places - end).sum(axis=1).argmin()] for end in ends] for ends in lines.get_segments()]
    for frame in range(count):
        animation._func(frame)
        shown.append(lines.get_array().filled(np.nan))
    return {frozenset(ends): values for ends, values in zip(nearest, np.transpose(shown), strict=True)}


def test_an_animation_colours_the_links_by_what_they_carry(pyplot):
    net = topology.leaf_spine(2, 2, 1, server_capacity=8e9, fabric_capacity=16e9)
    # One after the other: over four links to the other rack, and over two in one.
    workload = sim.Workload([0.0, 1e-3], [0, 0], [2, 1], [1e6, 0.5e6])
    animation = sim.simulate(net, workload, timeline=True).animate(net, frames=3, seconds=2.0)
    expected = {
        ("server 0", "rack 0"): [1.0, 1.0, 1.0],
        ("server 1", "rack 0"): [0.0, 0.0, 1.0],
        ("rack 0", "spine 0"): [0.5, 0.5, 0.0],
        ("spine 0", "rack 1"): [0.5, 0.5, 0.0],
        ("rack 1", "server 2"): [1.0, 1.0, 0.0],
        ("rack 1", "server 3"): [0.0, 0.0, 0.0],
    }
    shown = frames_of(animation, net, 3)
    assert set(shown) == {frozenset(ends) for ends in expected}
    for ends, values in expected.items():
        np.testing.assert_allclose(shown[frozenset(ends)], values, atol=1e-9, err_msg=str(ends))
    assert animation._fig.axes[0].get_title().startswith("0.00100 s to 0.00150 s\n")
    assert "<img" in animation.to_jshtml()


def test_a_failed_link_has_no_colour_in_an_animation(pyplot):
    ends = ("server 1", "hub")
    fails = [(time, way, capacity) for time, capacity in ((1e-3, 0.0), (4e-3, 8e9)) for way in (ends, ends[::-1])]
    made = report(changes=fails)
    edges = np.linspace(0.0, made.time, 25)
    has_failed = (edges[:-1] >= 1e-3) & (edges[1:] <= 4e-3)
    assert 0 < has_failed.sum() < 24
    shown = frames_of(made.animate(STAR, frames=24), STAR, 24)
    assert len(shown) == 4
    for line, values in shown.items():
        expected = has_failed if line == set(ends) else np.zeros(24, dtype=bool)
        assert np.isnan(values).tolist() == expected.tolist(), line


def test_pictures_of_reports_without_a_timeline_and_of_other_networks_are_refused(pyplot):
    plain = sim.simulate(STAR, report().workload)
    for draw in (plain.plot_rates, lambda: plain.plot_links(STAR), lambda: plain.animate(STAR)):
        with pytest.raises(AttributeError, match=r"'timeline': simulate\(..., timeline=True\) keeps one"):
            draw()
    kept = report()
    with pytest.raises(netnum.ProblemError, match="net has 10 links, expected that of the report, with 8"):
        kept.plot_links(topology.star(5))
    for wrong, message in [([3], "flows has 3, expected a flow below 3"), ([0.5], "flows must be integers")]:
        with pytest.raises(netnum.NumError, match=message):
            kept.plot_rates(wrong)
    with pytest.raises(netnum.NumError, match="labels has 1 entries, expected 2"):
        kept.plot_rates([0, 1], labels=["one"])
    with pytest.raises(netnum.NumError, match="most is 0, expected at least 1"):
        kept.plot_rates(most=0)
    with pytest.raises(netnum.NumError, match="frames is 0, expected at least 1"):
        kept.animate(STAR, frames=0)
    with pytest.raises(netnum.NumError, match="seconds is 0"):
        kept.animate(STAR, seconds=0.0)
    nothing = sim.simulate(STAR, sim.Workload([], [], [], []), timeline=True)
    with pytest.raises(netnum.NumError, match="the simulation took no time"):
        nothing.plot_links(STAR)
