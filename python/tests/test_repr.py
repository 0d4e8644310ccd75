"""What a user sees: short, and first of all whether it worked."""

import re

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


def test_a_notebook_shows_a_small_table():
    html = SOLUTION._repr_html_()
    rows = dict(re.findall(r"<tr><th>([^<]*)</th><td>([^<]*)</td></tr>", html))
    assert list(rows) == ["status", "gap", "rates to", "objective", "size", "iterations", "time"]
    assert rows["status"] == "optimal"
    assert float(rows["gap"]) == pytest.approx(SOLUTION.gap, rel=0.1)
    assert float(rows["objective"]) == pytest.approx(SOLUTION.objective, rel=1e-5)
    assert rows["size"] == "1000 flows, 360 links"
    assert rows["iterations"] == f"{SOLUTION.iterations} (fast-ned)"
    failed = netnum.solve(netnum.Problem([1.0, 0.0], [[0], [1]], netnum.AlphaFair(1.0)))
    assert "<tr><th>failed flows</th><td>1</td></tr>" in failed._repr_html_()


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


#: Those that hold what is public in `netnum` itself.
MODULES = {"comparison", "failures", "frames", "link_sets", "plot", "progress", "upgrades"}


def test_all_lists_what_there_is():
    public = {name for name in vars(netnum) if not name.startswith("_")} - MODULES
    assert public | {"__version__"} == set(netnum.__all__)
