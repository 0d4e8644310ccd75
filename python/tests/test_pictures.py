"""What every picture has: a title, units, a legend that covers nothing, the look, and nothing that is cut off."""

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum
from netnum import topology
from netnum._show import style

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("networkx")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@functools.cache
def backbone(total=80_000, alpha=1.0):
    net = topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=total)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 2)
    return netnum.Problem(net, paths, netnum.AlphaFair(alpha), group=group, flow_cap=demands.volumes)


@functools.cache
def fabric(flows=200):
    net = topology.leaf_spine(3, 8, 2)
    return netnum.Problem(net, net.ecmp(*net.random_pairs(flows, seed=1)), netnum.AlphaFair(1.0))


@functools.cache
def long_names():
    net = topology.from_edges(f"{'Friedrichshafen' * 3} {'Konstanz' * 5} 5\n{'Konstanz' * 5} Bern 4")
    return netnum.Problem(net, net.ecmp(*net.random_pairs(5)), netnum.AlphaFair(1.0))


@functools.cache
def report(policy="max-min", flows=300):
    net = topology.star(8, capacity=10e9)
    workload = netnum.sim.Workload.poisson(net, netnum.sim.Sizes.exponential(1e5), 0.6, flows=flows)
    return netnum.sim.simulate(net, workload, policy)


@functools.cache
def timeline(flows=5):
    """Flows of a fabric over time, with a link that fails for a while."""
    net = topology.leaf_spine(2, 3, 2)
    pairs = [(sender % 5, 5) for sender in range(flows)]
    workload = netnum.sim.Workload.at_once(net, pairs, 1e6)
    fails = [(1e-4, ("server 5", "rack 1"), 0.0), (2e-4, ("server 4", "rack 1"), 0.0)]
    return net, netnum.sim.simulate(net, workload, changes=fails, timeline=True)


def animated(ax):
    net, made = timeline()
    animation = made.animate(net, ax, frames=3)
    animation._func(1)
    animation._draw_was_started = True  # no warning that it was never shown
    return animation._fig.axes[0]


def idle():
    return backbone(total=100)


def fairest():
    return backbone(alpha=np.inf)


@functools.cache
def solved(problem, method="auto", **how):
    return netnum.solve(problem(), method, **how)


@functools.cache
def failures(problem, scenarios, **how):
    return netnum.failure_study(problem(), scenarios, **how)


@functools.cache
def upgrades(problem, candidates, **how):
    return netnum.upgrade_study(problem(), candidates, **how)


def waits(policy, load, seed):
    if policy == "srpt" and load > 0.8:
        raise ValueError("no answer")
    return {"wait in s": {"fair": 2.0, "srpt": 1.0}[policy] / (1 - load) + 0.1 * seed}


def swept(ax, **how):
    grid = {"policy": ["fair", "srpt"], "load": [0.3, 0.6, 0.9]}
    return netnum.sim.sweep(waits, grid, seeds=3).plot(ax, **how)


def several(ax, draw, *each):
    for one in each:
        ax = draw(one, ax)
    return ax


def converging(method, ax):
    return solved(fabric, method, trace=True, max_iterations=300).plot_convergence(ax)


def sensitivity(problem):
    return netnum.solve(problem, tol=1e-9).sensitivity()


#: Pictures of one pair of axes, drawn on those that are given or on new ones.
PICTURES = {
    "leaf-spine": lambda ax: topology.leaf_spine(3, 8, 2).plot(ax),
    "fat tree": lambda ax: topology.fat_tree(8).plot(ax),
    "star": lambda ax: topology.star(40).plot(ax),
    "single link": lambda ax: topology.single_link().plot(ax),
    "backbone": lambda ax: topology.backbone("nsfnet").plot(ax),
    "failed links": lambda ax: topology.backbone("abilene").without([0, 1, 4]).plot(ax),
    "long names": lambda ax: long_names().network.plot(ax),
    "utilization": lambda ax: topology.backbone("abilene").plot(ax, values=solved(backbone)),
    "utilization of a fabric": lambda ax: fabric().network.plot(ax, values=solved(fabric)),
    "values, some of them none": lambda ax: topology.star(3).plot(ax, values=[1, 2, np.nan] * 2, label="Gbit/s"),
    "convergence": lambda ax: converging("auto", ax),
    "convergence of several": lambda ax: several(ax, converging, "fast-ned", "gradient", "interior-point"),
    "failures": lambda ax: failures(backbone, "fibers").plot(ax),
    "failures of many": lambda ax: failures(fabric, "links").plot(ax, of="utility"),
    "failures, not optimal": lambda ax: failures(fabric, "links", max_iterations=2).plot(ax, most=5),
    "no failures": lambda ax: failures(backbone, ()).plot(ax),
    "failures, long names": lambda ax: failures(long_names, "links").plot(ax),
    "upgrades": lambda ax: upgrades(backbone, "fibers", check=1).plot(ax),
    "upgrades, max-min": lambda ax: upgrades(fairest, "fibers").plot(ax),
    "upgrades that gain nothing": lambda ax: upgrades(idle, "fibers").plot(ax),
    "no upgrades": lambda ax: upgrades(backbone, ()).plot(ax),
    "gains": lambda ax: sensitivity(backbone()).plot("Denver - Kansas City", ax),
    "no gains": lambda ax: sensitivity(netnum.Problem([1.0, 5.0], [[0], [0, 1]], netnum.AlphaFair(1.0))).plot(1, ax),
    "slowdowns": lambda ax: report().plot_fct(ax),
    "slowdowns of few flows": lambda ax: report(flows=3).plot_fct(ax),
    "slowdowns of several": lambda ax: several(
        ax, lambda policy, ax: report(policy).plot_fct(ax), "max-min", "srpt", "pias", "proportional"
    ),
    "rates over time": lambda ax: timeline()[1].plot_rates(ax=ax),
    "rates of many flows over time": lambda ax: timeline(flows=20)[1].plot_rates(ax=ax),
    "links over time": lambda ax: timeline()[1].plot_links(timeline()[0], ax=ax),
    "some links over time": lambda ax: timeline()[1].plot_links(timeline()[0], [3], ax),
    "an animation": animated,
    "a sweep": swept,
    "a sweep over names": lambda ax: swept(ax, x="policy"),
}
#: Those of two pairs of axes.
PAIRS = {
    "a solution": lambda axes: solved(backbone).plot(axes),
    "a solution of many flows": lambda axes: solved(fabric).plot(axes),
    "a solution of max-min": lambda axes: solved(fairest).plot(axes),
    "a solution, not optimal": lambda axes: solved(fabric, "gradient", max_iterations=2).plot(axes),
    "a solution, long names": lambda axes: solved(long_names).plot(axes),
}
EVERY = [*PICTURES, *PAIRS]


def drawn(name):
    """The axes of a picture on its own figure."""
    return [PICTURES[name](None)] if name in PICTURES else list(PAIRS[name](None))


def drawn_on(name, make):
    """Those of a picture on axes of the user, made by a call such as `pyplot.subplots`."""
    count = 1 if name in PICTURES else 2
    axes = make(1, count, figsize=(6.4 * count, 4.8), squeeze=False)[1][0]
    return [PICTURES[name](axes[0])] if name in PICTURES else list(PAIRS[name](axes))


def overlap(one, other):
    """Whether boxes share more than their edges."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > 1 and height > 1


def words(ax):
    """Everything that is written in and around axes, in the picture or not."""
    legend = ax.get_legend().get_texts() if ax.get_legend() else []
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
    low, high = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *legend, *ax.texts, *ticks):
        if text in ticks:
            x, y = text.get_position()
            if not (low[0] <= x <= low[1] if text in ax.get_xticklabels() else high[0] <= y <= high[1]):
                continue
        if text.get_text() and text.get_visible() and (ax.axison or text not in (ax.xaxis.label, ax.yaxis.label)):
            yield text


@pytest.mark.parametrize("name", EVERY)
def test_a_picture_says_what_it_shows_and_in_which_unit(name):
    for ax in drawn(name):
        assert ax.get_title()
        if ax.axison:
            assert ax.get_xlabel()
            # Rows of names say themselves what they are.
            assert ax.get_ylabel() or ax.yaxis_inverted()


@pytest.mark.parametrize("make", [None, pyplot.subplots], ids=["own", "of the user"])
@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_cut_off_and_a_legend_covers_nothing(name, make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = drawn(name) if make is None else drawn_on(name, make)
        figure = axes[0].figure
        # Layouts settle in two steps.
        figure.canvas.draw()
        figure.canvas.draw()
    whole = figure.bbox.padded(1.5)
    for ax in axes:
        for text in words(ax):
            box = text.get_window_extent()
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1, (text.get_text(), box, whole)
            assert whole.y0 <= box.y0 and box.y1 <= whole.y1, (text.get_text(), box, whole)
        if ax.get_legend():
            legend = ax.get_legend().get_window_extent()
            covered = [other.get_window_extent() for other in figure.axes]
            covered += [text.get_window_extent() for text in words(ax) if text not in ax.get_legend().get_texts()]
            assert not any(overlap(legend, box) for box in covered)


@pytest.mark.parametrize("name", EVERY)
def test_axes_of_the_user_get_the_look(name):
    for users, own in zip(drawn_on(name, pyplot.subplots), drawn(name), strict=True):
        assert users.get_facecolor() == own.get_facecolor()
        for spine, other in zip(users.spines.values(), own.spines.values(), strict=True):
            assert (spine.get_visible(), spine.get_edgecolor()) == (other.get_visible(), other.get_edgecolor())
        assert users.get_title() and users.title.get_color() == style.INK
        assert {text.get_color() for text in users.get_yticklabels()} <= {style.INK}
        first, second = ([line.get_color() for line in ax.get_lines()] for ax in (users, own))
        assert first == second


def test_axes_on_which_something_is_drawn_keep_their_look():
    _, ax = pyplot.subplots()
    ax.plot([1, 2], color="red")
    ax.xaxis.label.set_color("green")
    before = [(spine.get_visible(), spine.get_edgecolor()) for spine in ax.spines.values()]
    report().plot_fct(ax)
    assert [(spine.get_visible(), spine.get_edgecolor()) for spine in ax.spines.values()] == before
    for text in (ax.title, *ax.get_legend().get_texts()):
        assert matplotlib.colors.to_hex(text.get_color()) == matplotlib.colors.to_hex("green")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (pyplot.subplots, "TightLayoutEngine"),
        (lambda *shape, **more: pyplot.subplots(*shape, layout="constrained", **more), "ConstrainedLayoutEngine"),
        (lambda *shape, **more: pyplot.subplots(*shape, layout="compressed", **more), "ConstrainedLayoutEngine"),
    ],
)
def test_a_figure_keeps_the_layout_that_its_user_has_chosen(make, expected):
    (ax,) = drawn_on("failures", make)
    assert type(ax.figure.get_layout_engine()).__name__ == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()


@pytest.mark.parametrize("later", ["tight_layout", "subplots_adjust"])
@pytest.mark.parametrize("name", ["failures", "utilization", "slowdowns of several"])
def test_what_users_call_afterwards_raises_and_warns_of_nothing(name, later):
    (ax,) = drawn_on(name, pyplot.subplots)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(ax.figure, later)()
        ax.figure.canvas.draw()


# --- sweeps ---


def made(grid, values, seeds=2):
    """The sweep of a function that returns the value at each point, or raises where that is None."""

    def answer(seed, **point):
        value = values[tuple(point.values())]
        if value is None:
            raise ValueError("no answer")
        return {"y": value + 0.01 * seed}

    return netnum.sim.sweep(lambda a, b, seed: answer(seed, a=a, b=b), grid, seeds=seeds)


def test_a_sweep_has_a_line_per_value_of_the_others_along_its_numbers():
    ax = swept(None)
    table = netnum.sim.sweep(waits, {"policy": ["fair", "srpt"], "load": [0.3, 0.6, 0.9]}, seeds=3).means()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("load", "wait in s")
    assert ax.get_title() == "Means of wait in s over 3 seeds, 95 % confidence; 3 of 18 tasks failed"
    lines = {line.get_label(): line for line in ax.get_lines()}
    for policy in ("fair", "srpt"):
        expected = table[table.policy == policy]["wait in s"]
        np.testing.assert_array_equal(lines[f"policy = {policy}"].get_ydata(), expected)
    assert lines["policy = srpt: no mean"].get_xdata().tolist() == [0.9]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    fair = table[table.policy == "fair"]
    assert band.max() == pytest.approx((fair["wait in s"] + fair["wait in s_ci"]).max())


def test_a_sweep_says_how_many_lines_it_leaves_out():
    sweep = netnum.sim.sweep(lambda a, b, seed: {"y": a + b}, {"a": [1, 2], "b": range(20)})
    assert sweep.plot(x="a", most=3).get_title() == "y, of one seed; the first 3 of 20 lines"
    assert len(sweep.plot(x="a").get_lines()) == 12
    assert len(sweep.plot().get_lines()) == 2, "the parameter of most numbers is the axis"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"of": "z"}, "of is 'z', expected 'y'"),
        ({"x": "load"}, "x is 'load', expected 'a', 'b'"),
        ({"of": "yy"}, "of is 'yy', did you mean 'y'?"),
        ({"level": 95}, "level is 95, expected a number between 0 and 1"),
        ({"most": 0}, "most is 0, expected at least 1"),
    ],
)
def test_what_a_sweep_cannot_draw_is_named(how, message):
    sweep = netnum.sim.sweep(lambda a, b, seed: {"y": a}, {"a": [1, 2], "b": [1]})
    with pytest.raises(netnum.NumError) as caught:
        sweep.plot(**how)
    assert str(caught.value) == message


def test_a_sweep_without_numbers_or_answers_is_an_error():
    with pytest.raises(netnum.NumError, match="the function returns no number, so that there is nothing to draw"):
        netnum.sim.sweep(lambda a, seed: {"y": "text"}, {"a": [1]}).plot()
    with pytest.raises(netnum.NumError, match="all 1 tasks have failed"):
        netnum.sim.sweep(lambda a, seed: {"y": 1 / 0}, {"a": [1]}).plot()
    with pytest.raises(netnum.NumError, match="the grid has no parameter, so that there is nothing to draw"):
        netnum.sim.sweep(lambda seed: {"y": 1.0}, {}).plot()


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(
        st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=6, max_size=6
    ).filter(lambda values: any(value is not None for value in values)),
    along=st.sampled_from([[1, 2, 3], [0.001, 1.0, 1000.0], ["x", "y", "z"], [True, False, None], [-1.0, 0.0, 5.0]]),
    level=st.floats(0.5, 0.99),
)
def test_any_sweep_is_drawn(values, along, level):
    points = {(a, b): values[3 * a + along.index(b)] for a in (0, 1) for b in along}
    sweep = made({"a": [0, 1], "b": along}, points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = sweep.plot(x="b", level=level)
        ax.figure.canvas.draw()
    crosses = [line for line in ax.get_lines() if line.get_label().endswith("no mean")]
    assert sum(len(line.get_xdata()) for line in crosses) == values.count(None)
    pyplot.close("all")
