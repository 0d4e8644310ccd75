"""The pictures, and that nothing is imported for them before they are drawn."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netnum
from netnum._show import layout, style
from netnum._show.plots import curves

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def problem():
    net = netnum.topology.leaf_spine(3, 8, 2)
    return netnum.Problem(net, net.ecmp(*net.random_pairs(40, seed=1)), netnum.AlphaFair(1.0))


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_importing_netnum_imports_no_plotting():
    code = """
import sys, netnum
netnum.solve(netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0)), trace=True)
print([name for name in ("matplotlib", "networkx", "scipy", "tqdm") if name in sys.modules])
"""
    done = run(code)
    assert done.stdout.strip() == "[]", done.stderr


def test_without_matplotlib_the_error_has_the_command_to_install_it():
    code = """
import sys
sys.modules["matplotlib"] = None
import netnum
net = netnum.topology.star(3)
solution = netnum.solve(netnum.Problem(net, net.ecmp([0], [1]), netnum.AlphaFair(1.0)), trace=True)
for draw in (net.plot, solution.plot_convergence):
    try:
        draw()
    except ImportError as error:
        print(error)
"""
    done = run(code)
    assert done.stdout.splitlines() == ['plots need matplotlib: pip install "netnum[plot]"'] * 2, done.stderr


def test_without_networkx_a_bare_graph_has_the_command_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    net = netnum.topology.from_edges("a b 1\nb c 1\nc a 1")
    with pytest.raises(ImportError, match=r'needs networkx: pip install "netnum\[plot\]"'):
        net.plot()
    netnum.topology.star(4).plot()
    netnum.topology.parking_lot(4).plot()


def runs(ax):
    return [line for line in ax.get_lines() if line.get_gid() == "trace"]


def test_convergence_is_drawn_on_a_log_scale_with_the_tolerance(problem):
    solution = netnum.solve(problem, trace=True, tol=1e-5)
    ax = solution.plot_convergence()
    assert ax.get_yscale() == "log"
    (line,) = runs(ax)
    np.testing.assert_array_equal(line.get_ydata(), np.maximum(solution.trace.gap, 1e-16))
    assert line.get_label() == "fast-ned"
    (tolerance,) = [line for line in ax.get_lines() if line.get_gid() is None]
    assert set(tolerance.get_ydata()) == {1e-5}
    assert tolerance.get_label() == "tolerance 1e-05"


def test_of_pairs_convergence_is_over_the_paths_of_each_round():
    net = netnum.topology.from_edges("a b 4\nb c 2\na c 1")
    solution = netnum.solve(netnum.Problem(net, net.all_pairs(), netnum.AlphaFair(1.0)), trace=True)
    ax = solution.plot_convergence()
    assert ax.get_title().replace("\n", " ").startswith("Convergence: the gap over the paths of each round")
    assert solution.trace.gap[-1] == solution.gap and solution.trace.iteration[-1] == solution.iterations


def test_a_tolerance_of_the_residual_is_no_line_across_the_gap(problem):
    solution = netnum.solve(problem, trace=True, stop="kkt")
    assert solution.trace.tol is None
    assert len(solution.plot_convergence().get_lines()) == 1


def test_several_solutions_share_their_axes_and_a_tolerance(problem):
    _, ax = pyplot.subplots()
    methods = [method for method in netnum.methods() if method != "max-min"]
    for method in methods:
        solution = netnum.solve(problem, method, max_iterations=20, trace=True)
        assert solution.plot_convergence(ax=ax) is ax
        ends = solution.method if solution.is_optimal else f"{solution.method} (not optimal)"
        assert runs(ax)[-1].get_label() == ends
        assert runs(ax)[-1].get_marker() == ("o" if solution.is_optimal else "x")
    assert len(ax.get_lines()) == len(methods) + 1


def test_a_short_run_shows_beside_a_long_one(problem):
    ax = netnum.solve(problem, "gradient", trace=True).plot_convergence()
    assert ax.get_xscale() == "linear"
    netnum.solve(problem, "interior-point", trace=True).plot_convergence(ax)
    assert ax.get_xscale() == "symlog"
    long, short = (ax.transData.transform((line.get_xdata()[-1], 1))[0] for line in runs(ax))
    assert short - ax.bbox.x0 > 0.1 * (long - ax.bbox.x0), "linear it would be in the left hundredth"


def test_a_gap_of_zero_is_drawn_at_the_rounding(problem):
    solution = netnum.solve(netnum.Problem([1.0], [[0]], netnum.AlphaFair(1.0)), trace=True)
    assert (solution.trace.gap <= 1e-16).any()
    ax = solution.plot_convergence()
    assert min(runs(ax)[0].get_ydata()) == 1e-16
    assert ax.get_ylabel().endswith("(0 is drawn at 1e-16)")
    ax.figure.canvas.draw()


def test_without_a_trace_the_error_has_the_argument_for_one(problem):
    with pytest.raises(netnum.NumError, match="this solution has no trace to plot: solve with trace=True"):
        netnum.solve(problem).plot_convergence()


def drawn_lines(ax):
    (lines,) = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return lines


@pytest.mark.parametrize(
    ("net", "lines"),
    [
        (netnum.topology.leaf_spine(3, 8, 2), 24 + 6),
        (netnum.topology.fat_tree(4), 48),
        (netnum.topology.star(5), 5),
        (netnum.topology.parking_lot(4), 4),
        (netnum.topology.single_link(), 1),
        (netnum.topology.from_edges("a b 1\nb c 1\nc a 1\na b 2"), 3),
    ],
    ids=repr,
)
def test_every_pair_of_joined_nodes_is_one_line(net, lines):
    if net.tiers.max() == 0:
        pytest.importorskip("networkx")
    ax = net.plot()
    assert len(drawn_lines(ax).get_segments()) == lines
    assert sum(len(artist.get_offsets()) for artist in ax.collections if artist is not drawn_lines(ax)) == (
        len(net.node_names)
    )
    assert ax.get_title().startswith(repr(net)[len("Topology(") : -1])
    ax.figure.canvas.draw()


def test_fabrics_are_drawn_tier_by_tier():
    net = netnum.topology.leaf_spine(3, 8, 2)
    heights = {height for segment in drawn_lines(net.plot()).get_segments() for height in segment[:, 1]}
    assert heights == {0.0, 1.0, 2.0}


def test_values_colour_the_links_and_of_both_directions_the_larger_shows():
    _, ax = pyplot.subplots()
    # Links 0 to 2 lead to the hub, and 3 to 5 back.
    assert netnum.topology.star(3).plot(ax=ax, values=[0.1, 0.9, 0.3, 0.7, 0.2, 0.6], label="used") is ax
    lines = drawn_lines(ax)
    np.testing.assert_allclose(lines.get_array(), [0.6, 0.7, 0.9])
    servers = [segment[:, 1].argmin() for segment in lines.get_segments()]
    places = [segment[server, 0] for segment, server in zip(lines.get_segments(), servers, strict=True)]
    assert np.argsort(places).tolist() == [1, 2, 0], "server 2 has 0.6, server 0 has 0.7, server 1 has 0.9"
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["used"]


@pytest.mark.parametrize(
    ("net", "tiers"),
    [
        (netnum.topology.fat_tree(4), ["server 0–15", "edge 0–7", "aggregation 0–7", "core 0–3"]),
        (netnum.topology.fat_tree(8), ["server 0–127", "edge 0–31", "aggregation 0–31", "core 0–15"]),
        (netnum.topology.leaf_spine(9, 16, 4), ["server 0–143", "rack 0–8", "spine 0–3"]),
        (netnum.topology.star(5), ["server 0–4", "hub"]),
    ],
    ids=str,
)
def test_every_tier_has_its_name_and_its_numbers(net, tiers):
    ax = net.plot()
    names = {text.get_text() for text in ax.texts if not text.get_text().isdecimal()}
    assert names - {""} == set(tiers)
    ax.figure.canvas.draw()
    nodes = np.concatenate([dots.get_offsets() for dots in ax.collections if not isinstance(dots, LineCollection)])
    left = ax.transData.transform(nodes)[:, 0].min()
    for text in ax.texts:
        if text.get_text() in set(tiers) - {"hub"}:
            assert text.get_window_extent().x1 < left, "beside all nodes and links"


def test_numbers_stand_on_their_nodes_and_no_text_on_a_link():
    ax = netnum.topology.fat_tree(4).plot()
    ax.figure.canvas.draw()
    numbers = [text for text in ax.texts if text.get_text().isdecimal()]
    assert sorted(int(text.get_text()) for text in numbers) == sorted([*range(16), *range(8), *range(8), *range(4)])
    for text in numbers:
        box = text.get_window_extent()
        assert max(box.width, box.height) < 12 * ax.figure.dpi / 72


def test_nodes_of_tiers_with_other_names_have_these():
    ends = [[0, 4], [1, 4], [2, 5], [3, 5], [4, 6], [5, 6]]
    names = ["a", "b", "c", "d", "tor-a", "tor-b", "top"]
    net = netnum.Topology(names, ends, [1.0] * 6, tiers=[0, 0, 0, 0, 1, 1, 2], ends=4)
    assert set(names) <= {text.get_text() for text in net.plot().texts}


def test_values_of_the_wrong_length_are_refused(problem):
    with pytest.raises(netnum.ProblemError, match=r"values has shape \(3,\), expected \(60,\): one per link"):
        problem.network.plot(values=[1.0, 2.0, 3.0])


def test_a_graph_is_drawn_at_its_positions():
    nx = pytest.importorskip("networkx")
    graph = nx.cycle_graph(3)
    nx.set_edge_attributes(graph, 1.0, "capacity")
    nx.set_node_attributes(graph, {0: (0, 0), 1: (5, 0), 2: (0, 7)}, "pos")
    ax = netnum.topology.from_networkx(graph).plot()
    corners = {tuple(corner) for segment in drawn_lines(ax).get_segments() for corner in segment}
    assert corners == {(0, 0), (5, 0), (0, 7)}


@pytest.fixture(scope="module")
def backbone():
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=80_000)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 3)
    return netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=demands.volumes)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []


def bar_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_worst_failures_are_bars_with_the_flows_cut_off(backbone):
    study = netnum.failure_study(backbone, "fibers")
    ax = study.plot()
    worst = np.argsort(study.throughput, kind="stable")
    assert bar_names(ax) == [study.names[scenario] for scenario in worst]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first at the top"
    assert ax.get_title() == "Failures: 14 scenarios"
    assert legend_of(ax) == ["all flows served", "flows cut off"]
    change = 100 * study.throughput_change / study.before_failures.flow_rates.sum()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(change[worst].tolist())
    assert sum("cut off" in text.get_text() for text in ax.texts) == sum(map(bool, map(len, study.cut_off)))
    ax.figure.canvas.draw()
    few = study.plot(of="worst_ratio", most=3)
    assert bar_names(few) == [study.names[scenario] for scenario in np.argsort(study.worst_ratio, kind="stable")[:3]]
    assert few.get_title() == "Failures: the 3 worst of 14 scenarios"
    _, given = pyplot.subplots()
    assert study.plot(given, of="utility") is given


def test_the_best_upgrades_are_bars_before_what_is_predicted(backbone):
    study = netnum.upgrade_study(backbone, "fibers", added=2480.0, check=3)
    ax = study.plot(most=5)
    assert bar_names(ax) == [study.names[upgrade] for upgrade in study.ranking[:5]]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[:5] == pytest.approx(study.predicted[study.ranking[:5]].tolist())
    assert widths[5:] == pytest.approx(np.nan_to_num(study.gained[study.ranking[:5]]).tolist())
    ax.figure.canvas.draw()
    assert ax.get_title().startswith("Gains of the 5 best of 14 upgrades, 3 solved again")
    fairest = netnum.Problem([1.0, 3.0], [[0], [1]], netnum.AlphaFair(float("inf")))
    ax = netnum.upgrade_study(fairest).plot()
    assert ax.get_xlabel() == "gain of the smallest fair share"
    assert legend_of(ax) == ["gained: solved again"], "nothing is predicted without prices"


def beside_bars(ax):
    return [text.get_text() for text in ax.texts]


def test_upgrades_that_are_not_solved_again_do_not_look_like_those_without_gain(backbone):
    study = netnum.upgrade_study(backbone, "fibers", added=2480.0, check=1)
    shown = dict.fromkeys(study.names, "") | dict(
        zip(
            [study.names[upgrade] for upgrade in study.ranking if np.isnan(study.gained[upgrade])],
            beside_bars(study.plot()),
            strict=True,
        )
    )
    least = 1e-6 * study.predicted.max()
    for name, predicted, gained in zip(study.names, study.predicted, study.gained, strict=True):
        expected = "" if np.isfinite(gained) else "cannot gain" if predicted <= least else "not solved again"
        assert shown[name] == expected
    assert {"not solved again", "cannot gain"} <= set(shown.values())


def test_the_title_says_where_the_best_upgrade_is_not_proven(backbone):
    unproven = netnum.upgrade_study(backbone, "fibers", added=2480.0, check=0)
    assert not unproven.is_proven
    assert unproven.plot().get_title().endswith("\nthe best is not proven: others may gain more")
    proven = netnum.upgrade_study(backbone, "fibers", added=2480.0, check=14)
    assert proven.is_proven
    assert "not proven" not in proven.plot().get_title()


def test_unsolved_scenarios_are_named_and_those_that_are_not_optimal_hatched(backbone):
    study = netnum.failure_study(backbone, "fibers")
    unsolved = {name: getattr(study, name).copy() for name in ("throughput", "after", "worst_ratio")}
    for values in unsolved.values():
        values[:2] = np.nan
    for of in ("throughput", "utility", "worst_ratio"):
        ax = dataclasses.replace(study, **unsolved).plot(of=of)
        assert ax.get_title() == "Failures: 14 scenarios, 2 unsolved"
        assert beside_bars(ax).count("unsolved") == 2
        assert set(bar_names(ax)[-2:]) == set(study.names[:2])
        assert "not optimal" not in legend_of(ax)
    short = netnum.failure_study(backbone, "fibers", max_iterations=2).plot()
    assert "not optimal" in legend_of(short)
    assert {bar.get_hatch() for bar in short.patches} == {"////"}


def test_what_solves_leave_open_is_not_stretched_over_the_axis(backbone):
    ax = netnum.failure_study(backbone, [["Seattle - Denver"]]).plot()
    (bar,) = ax.patches
    assert ax.get_title() == "Failures: 1 scenario, none has an effect"
    assert abs(bar.get_width()) < 0.01 * np.ptp(ax.get_xlim())
    idle = netnum.upgrade_study(backbone.with_flow_caps(backbone.flow_cap / 100), "fibers").plot()
    assert idle.get_title().endswith("none gains")
    assert max(abs(bar.get_width()) for bar in idle.patches) < 0.01 * np.ptp(idle.get_xlim())


def test_max_min_failures_change_the_smallest_fair_share(backbone):
    fairest = backbone.with_utility(netnum.AlphaFair(float("inf")))
    ax = netnum.failure_study(fairest, "fibers").plot(of="utility")
    assert ax.get_xlabel() == "change of the smallest fair share of the flows not cut off"


def test_issue_35_starved_flows_stand_beside_bars_of_no_length():
    paths, group = [[0], [1], [0], [1]], [0, 0, 1, 2]
    problem = netnum.Problem([4.0, 4.0], paths, group=group, flow_cap=[4.0, 4.0, 3.0], priority=[0, 1, 1])
    ax = netnum.failure_study(problem, [0]).plot(of="utility")
    assert [text.get_text() for text in ax.texts] == ["1 flow cut off, 1 flow starved"]
    assert ax.get_title() == "Failures: 1 scenario"
    assert [bar.get_width() for bar in ax.patches] == [0.0]
    assert legend_of(ax) == ["flows cut off or starved"]
    upgrades = netnum.Problem([4.0], [[0], [0]], flow_cap=4.0, priority=[0, 1])
    ax = netnum.upgrade_study(upgrades).plot()
    assert [text.get_text() for text in ax.texts] == ["starved flows served"]
    assert ax.get_title() == "Gains of 1 upgrade, 1 solved again"


def test_what_failures_make_of_links_is_drawn_with_the_fullest_first(backbone):
    study = netnum.failure_study(backbone, "fibers", objective="min_utilization")
    ax = study.plot()
    worst = np.argsort(-study.after, kind="stable")
    assert bar_names(ax) == [study.names[scenario] for scenario in worst]
    assert ax.get_xlabel() == "change of the least utilization"
    assert [bar.get_width() for bar in ax.patches] == pytest.approx((study.after - study.before)[worst].tolist())
    fraction = netnum.failure_study(backbone, "fibers", objective="concurrent_flow").plot()
    assert fraction.get_xlabel() == "change of the fraction of every demand that fits"
    assert bar_names(fraction)[0] == bar_names(ax)[0]


def test_what_a_study_cannot_draw_is_named(backbone):
    study = netnum.failure_study(backbone.with_flow_caps(None), [0])
    with pytest.raises(netnum.NumError, match="of is 'rates', expected 'throughput', 'utility', 'worst_ratio'"):
        study.plot(of="rates")
    with pytest.raises(netnum.NumError, match="no flow has a demand to compare with: give the problem a flow_cap"):
        study.plot(of="worst_ratio")
    with pytest.raises(netnum.NumError, match="most is 0, expected at least 1"):
        study.plot(most=0)
    with pytest.raises(netnum.NumError, match="most is 0, expected at least 1"):
        netnum.upgrade_study(backbone, check=0).plot(most=0)
    for ax, text in (
        (netnum.failure_study(backbone, []).plot(), "no scenarios"),
        (netnum.upgrade_study(backbone, []).plot(), "no upgrades"),
    ):
        assert beside_bars(ax) == [text]


def test_a_solution_draws_where_the_money_goes(backbone):
    solution = netnum.solve(backbone, tol=1e-8)
    links, rates = solution.plot(most=4)
    paid = solution.prices * solution.loads
    order = np.argsort(-paid, kind="stable")[:4]
    assert bar_names(links) == [backbone.network.link_names[link] for link in order]
    assert links.get_title() == "8 of 28 links full\nthe 4 paid most of 8 with a price"
    assert beside_bars(links) == [f"price {solution.prices[link]:.3g}" for link in order]
    assert [bar.get_width() for bar in links.patches] == pytest.approx(
        (100 * paid / paid.sum())[order].tolist(), rel=1e-3
    )
    (line,) = [line for line in rates.get_lines() if line.get_label() == "rate"]
    np.testing.assert_array_equal(line.get_ydata(), np.sort(solution.flow_rates))
    links.figure.canvas.draw()


def test_a_few_flows_have_a_bar_each_with_their_demand():
    net = netnum.topology.from_edges("A B 10\nB C 6")
    problem = netnum.Problem(net, [["A", "B"], ["B", "C"]], netnum.AlphaFair(1.0), flow_cap=[3.0, np.inf])
    _, given = pyplot.subplots(1, 2)
    links, rates = netnum.solve(problem, tol=1e-9).plot(given)
    assert (links, rates) == tuple(given)
    assert bar_names(links) == ["B -> C"], "a link without a price is paid nothing"
    assert bar_names(rates) == ["A to B", "B to C"]
    assert [bar.get_width() for bar in rates.patches] == pytest.approx([3.0, 6.0])
    (demand,) = [line for line in rates.get_lines() if line.get_label() == "demand"]
    assert demand.get_xdata().tolist() == [3.0]
    assert links.get_title() == "1 of 4 links full"
    assert rates.get_title() == "Rates: 2 of 2 flows served"
    with pytest.raises(netnum.NumError, match="axes are 1, expected 2"):
        netnum.solve(problem).plot([links])
    with pytest.raises(netnum.NumError, match="most is 0, expected at least 1"):
        netnum.solve(problem).plot(most=0)


def test_floors_are_marked_and_serve_no_flow_where_they_do_not_fit():
    net = netnum.topology.from_edges("A B 10\nB C 6")
    problem = netnum.Problem(net, [["A", "B"], ["B", "C"], ["A", "B", "C"]], flow_floor=[2.0, 3.0, 0.0])
    fits, too_large = (netnum.solve(problem.with_flow_floors(floors)) for floors in ([2, 3, 0], [2, 12, 0]))
    for solution, floors, served in ((fits, [2.0, 3.0], 3), (too_large, [2.0, 12.0], 0)):
        links, rates = solution.plot()
        (floor,) = [line for line in rates.get_lines() if line.get_label() == "floor"]
        assert (floor.get_xdata().tolist(), floor.get_ydata().tolist()) == (floors, [0, 1])
        assert rates.get_title().split("\n")[0] == f"Rates: {served} of 3 flows served"
        assert legend_of(rates) == ["floor", "rate"]
        for ax in (links, rates):
            assert ax.get_title().endswith("infeasible: 0.5000 of every floor fits") == (served == 0)
    many = netnum.Problem([6.0] * 20, [[link] for link in range(20)], flow_floor=np.arange(20.0) / 4)
    (floor,) = [line for line in netnum.solve(many).plot()[1].get_lines() if line.get_label() == "floor"]
    assert np.nan_to_num(np.sort(floor.get_ydata())).tolist() == [*np.arange(1, 20.0) / 4, 0.0]


def test_a_solution_that_is_not_optimal_says_so_in_both_titles(problem):
    solution = netnum.solve(problem, "gradient", max_iterations=2)
    for ax in solution.plot():
        assert ax.get_title().endswith(f"not optimal: max_iterations, gap {solution.gap:.2g}")


def test_flows_that_are_not_served_are_named_or_counted():
    net = netnum.topology.backbone("abilene").without([0, 1, 2, 3])
    pairs = net.random_pairs(12, seed=0)
    paths = netnum.topology.backbone("abilene").ecmp(*pairs)
    solution = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0)))
    failed = len(solution.failed_flows)
    assert failed
    rates = solution.plot()[1]
    assert rates.get_title() == f"Rates: {12 - failed} of 12 flows served"
    assert beside_bars(rates) == ["not served"] * failed


def test_rates_of_zero_that_a_log_scale_leaves_out_are_counted():
    problem = netnum.Problem(
        np.append(np.geomspace(1e-3, 1e3, 30), 0.0), [[link] for link in range(31)], netnum.AlphaFair(1.0)
    )
    rates = netnum.solve(problem).plot()[1]
    assert rates.get_yscale() == "log"
    assert rates.get_title().replace("\n", " ") == "Rates: 30 of 31 flows served; 1 flow of rate 0 not drawn"


def test_without_prices_the_fullest_links_are_drawn():
    solution = netnum.solve(netnum.Problem([1.0, 4.0], [[0, 1], [1]], netnum.AlphaFair(np.inf), flow_cap=[np.inf, 1.0]))
    links, rates = solution.plot()
    assert bar_names(links) == ["link 0", "link 1"]
    assert [bar.get_width() for bar in links.patches] == pytest.approx([100.0, 50.0])
    assert bar_names(rates) == ["flow 0", "flow 1"]
    links.figure.canvas.draw()


def test_a_network_is_coloured_by_the_use_of_its_links(problem):
    net, solution = problem.network, netnum.solve(problem)
    ax = net.plot(values=solution)
    assert drawn_lines(ax).get_clim() == (0.0, 1.0)
    assert drawn_lines(ax).get_array().max() == pytest.approx((solution.loads / net.capacities).max())
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["utilization"]
    full = int((solution.loads > 0.99 * net.capacities).sum())
    assert ax.get_title().startswith(f"utilization: {full} of 60 links full\n")
    workload = netnum.sim.Workload.poisson(net, netnum.sim.Sizes.fixed(1e6), 0.5, flows=50)
    net.plot(values=netnum.sim.simulate(net, workload)).figure.canvas.draw()
    with pytest.raises(netnum.ProblemError, match=r"values has shape \(60,\), expected \(8,\)"):
        netnum.topology.star(4).plot(values=solution)


def test_values_that_are_close_have_colours_of_their_own():
    net = netnum.topology.star(3)
    ax = net.plot(values=[9.0, 9.5, 10.0] * 2, label="Gbit/s")
    assert drawn_lines(ax).get_clim() == (9.0, 10.0)
    assert net.plot(values=[1.0, 9.5, 10.0] * 2) is not None
    same = net.plot(values=[7.0] * 6, label="Gbit/s")
    assert same.get_title().startswith("Gbit/s: 7 on every link\n")
    assert len(same.figure.axes) == 1, "one value has no scale"


@settings(max_examples=25, deadline=None)
@given(values=st.lists(st.floats(allow_subnormal=False, width=32), min_size=6, max_size=6))
def test_any_values_are_drawn(values):
    ax = netnum.topology.star(3).plot(values=values)
    ax.figure.canvas.draw()
    low, high = drawn_lines(ax).get_clim()
    finite = [value for value in np.fmax(values[:3], values[3:]) if np.isfinite(value)]
    assert low < high and all(low <= value <= high for value in finite)
    assert ("no value" in legend_of(ax)) == bool(np.isnan(np.fmax(values[:3], values[3:])).any())
    pyplot.close("all")


def test_failed_links_are_dashed_and_crossed_out():
    net = netnum.topology.backbone("abilene")
    assert net.plot().get_legend() is None
    one, both = net.without([0]), net.without([0, 1])
    for failed, dashed in ((one, 0), (both, 1)):
        for values in (None, np.where(failed.capacities > 0, 0.5, np.nan)):
            ax = failed.plot(values=values)
            (cross,) = [line for line in ax.get_lines() if line.get_label() == "failed"]
            assert len(cross.get_xdata()) == 1
            assert sum(pattern is not None for _, pattern in drawn_lines(ax).get_linestyles()) == dashed
            ax.figure.canvas.draw()


def test_names_beside_nodes_cover_no_other_name():
    net = netnum.topology.backbone("b4")
    ax = net.plot()
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 10
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])


@pytest.fixture(scope="module")
def reports():
    net = netnum.topology.star(8, capacity=10e9)
    sizes = netnum.sim.Sizes.exponential(1e5)
    workloads = [netnum.sim.Workload.poisson(net, sizes, 0.6, flows=200, seed=seed) for seed in range(4)]
    return [netnum.sim.simulate(net, workload) for workload in workloads]


def test_several_seeds_have_a_band_of_confidence(reports):
    ax = netnum.sim.plot_fct(reports, label="fair")
    assert [line.get_label() for line in ax.get_lines()] == ["fair, mean", "fair, 99 %"]
    assert ax.get_title() == "Slowdown of flows by size: means of 4 runs, 95 % confidence"
    assert len(ax.collections) == 2
    wide = netnum.sim.plot_fct(reports, confidence=0.99)
    heights = [np.ptp(axes.collections[0].get_paths()[0].vertices[:, 1]) for axes in (ax, wide)]
    assert heights[0] < heights[1]
    ax.figure.canvas.draw()


def test_no_band_is_below_a_slowdown_of_1():
    net = netnum.topology.star(4, capacity=10e9)
    sizes = netnum.sim.sizes.data_mining
    workloads = [netnum.sim.Workload.poisson(net, sizes, 0.9, flows=100, seed=seed) for seed in range(2)]
    ax = netnum.sim.plot_fct([netnum.sim.simulate(net, workload) for workload in workloads])
    for band in ax.collections:
        assert band.get_paths()[0].vertices[:, 1].min() >= 1.0 - 1e-12


def test_flows_that_have_not_ended_are_counted(reports):
    net = netnum.topology.star(3, capacity=10e9)
    workload = netnum.sim.Workload([0.0, 0.0], [0, 1], [1, 2], [1e3, 1e12])
    ax = netnum.sim.simulate(net, workload, until=0.01).plot_fct(label="fair")
    assert [line.get_label() for line in ax.get_lines()] == ["fair, mean (1 of 2 flows not ended)", "fair, 99 %"]
    workload = netnum.sim.Workload([0.0], [0], [1], [1e12])
    with pytest.raises(netnum.NumError, match="no flow of these reports has ended"):
        netnum.sim.simulate(net, workload, until=0.01).plot_fct()


def test_one_report_has_no_band(reports):
    ax = netnum.sim.plot_fct(reports[:1])
    assert not ax.collections
    other = reports[0].plot_fct()
    for line, same in zip(ax.get_lines(), other.get_lines(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), same.get_ydata())
    with pytest.raises(netnum.NumError, match="there are no reports to draw"):
        netnum.sim.plot_fct([])
    with pytest.raises(TypeError, match=r"not of str: one policy a call, ax = report\.plot_fct\(ax=ax, label=name\)"):
        netnum.sim.plot_fct({"srpt": reports[0]})
    with pytest.raises(TypeError, match=r"plot\(\)\.figure\.savefig\('fct\.png'\) saves it"):
        reports[0].plot_fct("fct.png")
    with pytest.raises(netnum.NumError, match=r"confidence is 95, expected a number between 0 and 1"):
        netnum.sim.plot_fct(reports, confidence=95)


def test_the_interval_is_that_of_students_t():
    stats = pytest.importorskip("scipy.stats")
    table = np.random.default_rng(1).normal(size=(6, 3))
    table[2:, 1] = np.nan
    table[:, 2] = np.nan
    mean, half = curves.means(table, 0.95)
    for column, rows in ((0, 6), (1, 2)):
        values = table[:rows, column]
        assert mean[column] == pytest.approx(values.mean())
        assert half[column] == pytest.approx(stats.t.ppf(0.975, rows - 1) * stats.sem(values), rel=1e-12)
    assert np.isnan([mean[2], half[2]]).all()


def contrast(colour, ground):
    linear = [(each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4) for each in (*colour, *ground)]
    light, dark = (np.dot([0.2126, 0.7152, 0.0722], part) + 0.05 for part in (linear[:3], linear[3:]))
    return max(light, dark) / min(light, dark)


@pytest.mark.parametrize("colour", [*style.COLOURS, style.INK])
def test_numbers_stand_out_on_nodes_of_any_colour(colour):
    _, ax = pyplot.subplots()
    style.write_on(ax, (0, 0), "7", colour, 6.5)
    (number,) = ax.texts
    assert contrast(matplotlib.colors.to_rgb(number.get_color()), matplotlib.colors.to_rgb(colour)) > 4


def test_text_and_ground_suit_a_light_and_a_dark_page(problem, reports):
    drawn = [problem.network.plot(), *netnum.solve(problem).plot(), netnum.sim.plot_fct(reports)]
    for ax in drawn:
        assert ax.figure.get_facecolor()[3] == 0.0 and ax.get_facecolor()[3] == 0.0
        on_ground = [text for text in ax.texts if not text.get_text().isdecimal()]
        texts = [ax.title, ax.xaxis.label, *on_ground, *ax.get_xticklabels()]
        for text in (*texts, *(ax.get_legend().get_texts() if ax.get_legend() else ())):
            for ground in ((1, 1, 1), (0.07, 0.07, 0.07)):
                assert contrast(matplotlib.colors.to_rgb(text.get_color()), ground) > 4


def test_crowded_places_are_drawn_apart_in_the_same_order():
    crowd = np.array([[0.0, 0.0], *np.random.default_rng(1).uniform(9, 10, (50, 2))])
    apart = layout.drawn_apart(crowd)
    for before, after in zip(crowd.T, apart.T, strict=True):
        np.testing.assert_array_equal(np.argsort(before), np.argsort(after))
    assert np.median(apart) < 8 < np.median(crowd)
    grid = np.array([(x, y) for x in range(7) for y in range(7)], dtype=float)
    again = layout.drawn_apart(grid)
    assert [len(np.unique(column.round(9))) for column in again.T] == [7, 7]


def test_the_style_of_the_pages_is_that_of_all_plots():
    with pyplot.style.context("netnum.pages"):
        _, ax = pyplot.subplots()
        given = [(line["linestyle"], line["color"]) for line in pyplot.rcParams["axes.prop_cycle"]]
    own = style.axes()
    for one in (ax, own):
        assert matplotlib.colors.to_hex(one.xaxis.label.get_color()) == style.INK
        assert one.get_facecolor()[3] == one.figure.get_facecolor()[3] == 0.0
    assert [color for _, color in given] == list(style.COLOURS * 2)
    for linestyle, color in given:
        for (line,) in (ax.plot([0.0]), own.plot([0.0])):
            assert (line.get_linestyle(), line.get_color()) == (linestyle, color)
