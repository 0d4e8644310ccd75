"""What a user sees: short, and first of all whether it worked."""

import re
import sys
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

import netnum

NET = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
PROBLEM = netnum.Problem(NET, NET.ecmp(*NET.random_pairs(1000, seed=1), seed=1), netnum.AlphaFair(1.0))
SOLUTION = netnum.solve(PROBLEM, trace=True)


def test_a_solution_shows_status_gap_size_and_time():
    measure = r"\d\.\de-\d+"
    pattern = (
        rf"Solution\(optimal, 1000 flows, 360 links, gap {measure}, rates to {measure}, \d+ iterations, \d+\.\d ms\)"
    )
    assert re.fullmatch(pattern, repr(SOLUTION))
    assert str(SOLUTION) == repr(SOLUTION)
    failed = netnum.solve(netnum.Problem([1.0, 0.0], [[0], [1]], netnum.AlphaFair(1.0)))
    assert "1 flow failed" in repr(failed)
    assert repr(netnum.solve(PROBLEM, max_iterations=1)).startswith("Solution(max_iterations, ")


def test_issue_35_the_first_class_that_is_not_optimal_is_named():
    problem = netnum.Problem([10.0, 8.0], [[0, 1], [0], [1]], flow_cap=[3.0, 9.0, 9.0], priority=[0, 1.5, 1.5])
    for iterations, priority in ((1, 0), (2, 1.5)):
        solution = netnum.solve(problem, max_iterations=iterations)
        assert f", priority {priority} max_iterations, gap " in repr(solution)
        assert f"<tr><th>priority {priority}</th><td>max_iterations</td></tr>" in solution._repr_html_()
    assert "priority" not in repr(netnum.solve(problem))


def test_a_notebook_shows_a_small_table():
    html = SOLUTION._repr_html_()
    rows = dict(re.findall(r"<tr><th>([^<]*)</th><td>([^<]*)</td></tr>", html))
    assert list(rows) == [
        *("status", "gap", "rates to", "objective", "sum of rates", "highest price", "size", "iterations", "time")
    ]
    assert rows["highest price"].endswith(f"({NET.link_names[SOLUTION.prices.argmax()].replace('>', '&gt;')})")
    assert rows["status"] == "optimal"
    assert float(rows["gap"]) == pytest.approx(SOLUTION.gap, rel=0.1)
    assert float(rows["objective"]) == pytest.approx(SOLUTION.objective, rel=1e-5)
    assert rows["size"] == "1000 flows, 360 links"
    assert rows["iterations"] == f"{SOLUTION.iterations} (fast-ned)"
    failed = netnum.solve(netnum.Problem([1.0, 0.0], [[0], [1]], netnum.AlphaFair(1.0)))
    assert "<tr><th>failed flows</th><td>1</td></tr>" in failed._repr_html_()


def rows_of(thing):
    html = thing._repr_html_()
    assert not re.search(r"#[0-9a-f]{3,6}|rgb|background", html), "the page has the colours of text and ground"
    return {
        unescape(name): unescape(value) for name, value in re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", html)
    }


def test_a_notebook_shows_what_a_problem_is_made_of():
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4").without("A -> C")
    paths, group = net.k_shortest_paths(["A"], ["C"], 2)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(2.0), group=group, flow_cap=[3.0])
    assert rows_of(problem) == {
        "size": "1 flow, 6 links",
        "network": net.name,
        "utility": "AlphaFair(alpha=2.0, weight=1.0)",
        "capacities": "4 to 10",
        "demands": "3, 3 in sum",
        "failed links": "1",
    }
    two = netnum.Problem([1.0], [[0], [0]], netnum.Linear(1.0), flow_cap=[0.5, np.inf])
    assert rows_of(two)["demands"] == "0.5, 0.5 in sum; 1 flow without"
    assert rows_of(netnum.Problem([1.0], [[0], [0]], netnum.Linear(1.0), group=[0, 0])) == {
        "size": "1 flow, 2 paths, 1 link",
        "utility": "Linear(weight=1.0)",
        "capacities": "1",
    }


def test_a_notebook_shows_a_report():
    net = netnum.topology.star(4, capacity=10e9)
    workload = netnum.sim.Workload.poisson(net, netnum.sim.Sizes.fixed(1e6), 0.5, flows=100)
    report = netnum.sim.simulate(net, workload)
    rows = rows_of(report)
    assert rows["status"] == "finished"
    assert rows["policy"] == "max-min over ecmp"
    assert rows["flows"] == "100 of 100 have ended"
    assert float(rows["mean slowdown"]) == pytest.approx(report.mean_slowdown, rel=1e-2)
    assert float(rows["99 % slowdown"]) == pytest.approx(report.slowdown_quantile(0.99), rel=1e-2)
    none = rows_of(netnum.sim.simulate(net, workload, until=0.0))
    assert "mean slowdown" not in none


def test_a_notebook_shows_an_allocator():
    allocator = netnum.Allocator([10.0, 4.0, 0.0])
    assert rows_of(allocator)["highest price"]
    allocator.start([[0], [0], [0, 1]])
    allocator.tick(200)
    rows = rows_of(allocator)
    assert rows["price rule"] == "ned"
    assert rows["size"] == "3 flowlets, 3 links"
    assert rows["capacities"] == "4 to 10"
    assert float(rows["sum of rates"]) == pytest.approx(allocator.rates().sum(), rel=1e-5)
    assert rows["failed links"] == "1"
    assert rows_of(netnum.Allocator(NET))["network"] == "leaf-spine"


@pytest.mark.parametrize(
    ("net", "lines"),
    [(NET, 180), (netnum.topology.backbone("b4"), 19), (netnum.topology.parking_lot(4), 4)],
    ids=repr,
)
def test_a_notebook_shows_a_network_as_a_drawing(net, lines):
    rows = rows_of(net)
    assert rows["name"] == net.name
    assert f"Topology({net.name}, {rows['size']})" == repr(net)
    assert "failed links" not in rows
    drawing = ElementTree.fromstring(re.search("<svg.*</svg>", net._repr_html_())[0])
    shapes = "".join(shape.get("d") for shape in drawing)
    assert shapes.count("L") == lines
    assert shapes.count("h0") == len(net.node_names)
    failed = net.without([0])
    assert 'stroke-dasharray="3 3"' in failed._repr_html_()
    assert rows_of(failed)["failed links"] == "1"


def test_a_network_that_is_too_large_to_draw_has_its_table(monkeypatch):
    assert "<svg" not in netnum.topology.leaf_spine(70, 16, 4)._repr_html_()
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert "<svg" not in netnum.topology.from_edges("a b 1\nb c 1\nc a 1")._repr_html_()


def test_names_are_escaped_in_what_a_notebook_shows():
    net = netnum.Topology(["<b>", "&"], [[0, 1]], 1.0, name='<script>"')
    html = net._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    problem = netnum.Problem(net, [[0]], netnum.AlphaFair(1.0))
    for thing in (problem, netnum.solve(problem), netnum.Allocator(net)):
        assert "<b>" not in thing._repr_html_() and "<script>" not in thing._repr_html_()


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (netnum.AlphaFair(1), "AlphaFair(alpha=1.0, weight=1.0)"),
        (netnum.AlphaFair(1.0, np.ones(1000)), "AlphaFair(alpha=1.0, weight=array of 1000)"),
        (netnum.AlphaFair(float("inf")), "AlphaFair(alpha=inf, weight=1.0)"),
        (netnum.Linear(2.0), "Linear(weight=2.0)"),
        (netnum.MinFct([1.0, 2.0]), "MinFct(size=array of 2, epsilon=0.125)"),
        (netnum.BandwidthFunction([0, 1], [0, 1]), "BandwidthFunction(2 points, alpha=5.0, tail_slope=0.0)"),
        (NET, "Topology(leaf-spine, 144 servers, 360 links)"),
        (netnum.Paths([0, 2, 3], [0, 1, 0]), "Paths(2 paths, 1.5 links each)"),
        (PROBLEM, "Problem(1000 flows, 360 links, AlphaFair(alpha=1.0, weight=1.0))"),
        (
            netnum.Problem([1.0], [[0], [0]], [netnum.AlphaFair(1.0), netnum.Linear(1.0)]),
            "Problem(2 flows, 1 link, 2 utilities)",
        ),
        (
            netnum.Problem([1.0], [[0], [0]], netnum.Linear(1.0), group=[0, 0]),
            "Problem(1 flow, 2 paths, 1 link, Linear(weight=1.0))",
        ),
        (
            netnum.Problem(
                [9.0, 9.0],
                [[0], [1], [1]],
                group=[0, 0, 1],
                rate_cap=[3.0, np.inf, np.inf],
                flow_cap=[5.0, 6.0],
                flow_floor=[1.0, 0.0],
                path_cost=[0.0, 0.1, 0.2],
                priority=[0, 1],
            ),
            "Problem(2 flows, 3 paths, 2 links, AlphaFair(alpha=1.0, weight=1.0), 2 flow caps, 1 path cap, "
            "1 flow floor, 2 path costs, 2 priorities)",
        ),
        (
            netnum.Certificate(1.5e-7, 0.0, 2e-3),
            "Certificate(relative_gap=1.5e-7, overload=0.0e0, kkt_residual=2.0e-3)",
        ),
        (netnum.Progress(3, 0.25, 0.5, 0.0, 1.5), "Progress(iteration 3, gap 2.5e-1, overload 5.0e-1, 1.500 s)"),
        (netnum.Solver(PROBLEM, "ned"), "Solver(ned, 1000 flows, 360 links, iteration 0)"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_repr_is_one_short_line(thing, shown):
    assert repr(thing) == shown


def test_a_trace_shows_its_first_and_last_gap():
    assert re.fullmatch(rf"Trace\({len(SOLUTION.trace)} rows, gap \d\.\de-?\d+ to \d\.\de-\d+\)", repr(SOLUTION.trace))


def test_everything_public_is_documented():
    for name in netnum.__all__:
        thing = getattr(netnum, name)
        assert (thing.__doc__ or "").strip(), f"{name} has no docstring"
        if not isinstance(thing, type) or issubclass(thing, Exception):
            continue
        for attribute, value in vars(thing).items():
            if not attribute.startswith("_"):
                assert (getattr(value, "__doc__", "") or "").strip(), f"{name}.{attribute} has no docstring"


def test_docstrings_have_shapes_and_errors():
    for function in (netnum.certify, netnum.f_norm, netnum.u_norm, netnum.solve):
        for section in ("Parameters\n", "Returns\n", "Raises\n"):
            assert section in function.__doc__, function
    assert "(paths,)" in netnum.certify.__doc__


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert netnum.__version__ == version("netnum")


def test_all_lists_what_there_is():
    public = {name for name in vars(netnum) if not name.startswith("_")}
    later = set(netnum._LATER)  # imported when they are first used, as another test may have done
    assert (public | {"__version__"}) - later == set(netnum.__all__)
