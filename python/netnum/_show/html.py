"""What notebooks show: a small table for each kind of thing, and a drawing of a network.

Text and ground have the colours of the page, light or dark; lines are of ``currentColor``.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .._core import Topology
from .._link_sets import NAMED
from .._messages import counted
from . import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._core import Allocator, Problem, Report, Sensitivity, Solution, Solutions
    from .._multicommodity_flow import MulticommodityFlow

BORDER = "border: 1px solid color-mix(in lab, currentColor 40%, transparent); border-collapse: collapse"
STYLE = f"display: table; width: auto; margin: 0; {BORDER}; color: inherit; text-align: left"


def problem(problem: Problem, utility: str) -> str:
    """The table of a problem, whose utility reads so."""
    paths = problem.flows if problem.paths is None else len(problem.group)
    rows = [("size", _size(problem.flows, paths, problem.links))]
    if problem.paths is None:
        limit = "" if problem.max_hops is None else f" of at most {counted(problem.max_hops, 'link')}"
        own = problem.cheapest_paths
        label = "" if own is None else getattr(own, "__name__", type(own).__name__)
        rows.append(("paths", f"all of the network{limit}" if own is None else f"those of {label}"))
    if isinstance(problem.network, Topology):
        rows.append(("network", problem.network.name))
    rows += [("utility", utility), ("capacities", _capacities(problem.capacities))]
    if problem.flow_cap is not None:
        known = problem.flow_cap[np.isfinite(problem.flow_cap)]
        without = problem.flows - len(known)
        text = f"{_span(known)}, {known.sum():.4g} in sum" if len(known) else "none"
        rows.append(("demands", f"{text}; {counted(without, 'flow')} without" if without and len(known) else text))
    if problem.flow_floor is not None:
        kept = problem.flow_floor[problem.flow_floor > 0]
        rows.append(("floors", f"{_span(kept)} of {counted(len(kept), 'flow')}, {kept.sum():.4g} in sum"))
    if problem.path_cost is not None:
        rows.append(("costs of paths", _span(problem.path_cost)))
    if problem.priority is not None:
        rows.append(("priorities", str(len(np.unique(problem.priority)))))
    return _table("Problem", rows + _failed(problem.capacities))


def solution(solution: Solution) -> str:
    """The table of a solution."""
    rows = [
        ("status", solution.status),
        *[(f"priority {one.priority:g}", one.status) for one in solution.classes if one.status != "optimal"][:1],
        ("gap", _power(solution.gap)),
        ("rates to", _power(solution.kkt_residual)),
        ("objective", f"{solution.objective:.6g}"),
        ("sum of rates", f"{solution.flow_rates.sum():.6g}"),
    ]
    if (solution.prices > 0).any():
        given = solution.problem.network if solution.problem is not None else None
        rows.append(("highest price", _highest(solution.prices, given)))
    rows += [
        ("size", _size(len(solution.flow_rates), len(solution.rates), len(solution.prices))),
        ("iterations", f"{solution.iterations} ({solution.method})"),
        ("time", _seconds(solution.seconds)),
    ]
    if len(solution.failed_flows):
        rows.append(("failed flows", str(len(solution.failed_flows))))
    if solution.part is not None:
        rows.append(("flows and rates of", "rank {} of {}".format(*solution.part)))
    return _table("Solution", rows)


def solutions(solutions: Solutions) -> str:
    """The table of the solutions of scenarios."""
    count, infeasible = len(solutions), solutions.status == "infeasible"
    solved = ~infeasible
    flows, paths, links = (array.shape[1] for array in (solutions.flow_rates, solutions.rates, solutions.prices))
    rows = [
        ("scenarios", f"{count}, {solutions.is_optimal.sum()} optimal"),
        ("largest gap", _power(np.max(solutions.gap[solved], initial=0.0))),
        ("rates to", _power(np.max(solutions.kkt_residual[solved], initial=0.0))),
        ("size", f"{flows} flows, {paths} paths, {links} links"),
        ("iterations each", f"{solutions.iterations.sum() / max(count, 1):.1f}"),
        ("time each", _seconds(solutions.seconds.sum() / max(count, 1))),
    ]
    if infeasible.any():
        rows.insert(1, ("floors do not fit", f"in {infeasible.sum()}"))
    return _table("Solutions", rows)


def multicommodity_flow(flow: MulticommodityFlow) -> str:
    """The table of demands that are carried."""
    named, more = flow.cut[:NAMED], len(flow.cut) - NAMED
    rows = [
        ("status", flow.status),
        ("of every demand", f"{flow.fraction:.6g}"),
        ("utilization", f"{flow.utilization:.6g}"),
        ("gap", _power(flow.gap)),
        ("cut", ", ".join([*named, f"{more} more"] if more > 0 else named) or "caps of paths"),
        ("size", _size(len(flow.flow_rates), len(flow.rates), len(flow.prices))),
        ("time", _seconds(flow.seconds)),
    ]
    if len(flow.failed_flows):
        rows.append(("failed flows", str(len(flow.failed_flows))))
    return _table("MulticommodityFlow", rows)


def sensitivity(sensitivity: Sensitivity) -> str:
    """The table of the derivatives of an optimum."""
    problem, kinks = sensitivity.problem, sensitivity.kinks
    more = f", and {len(kinks) - 1} more" if len(kinks) > 1 else ""
    rows = [
        ("size", _size(problem.flows, len(problem.group), problem.links)),
        ("differentiable", f"no: {kinks[0]}{more}" if kinks else "yes"),
    ]
    given = problem.network if isinstance(problem.network, Topology) else None
    rows.append(("highest price", _highest(sensitivity.prices, given)))
    return _table("Sensitivity", rows)


def report(report: Report) -> str:
    """The table of a simulation."""
    rows = [("status", report.status), ("policy", f"{report.policy} over {report.routing}")]
    rows.append(("flows", f"{report.ended} of {len(report.completion_times)} have ended"))
    if not np.isnan(report.mean_slowdown):
        rows += [
            ("mean completion time", _seconds(report.mean_completion_time)),
            ("mean slowdown", f"{report.mean_slowdown:.3g}"),
            ("99 % slowdown", f"{report.slowdown_quantile(0.99):.3g}"),
        ]
    if report.slowing_down:
        earlier, later = report.slowing_down
        rows.append(("later flows are slower", f"slowdown {earlier:.3g} of the first half, {later:.3g} of the second"))
    if report.warmup:
        rows.append(("warmup", f"{_seconds(report.warmup)}, not counted"))
    known = report.link_utilization[np.isfinite(report.link_utilization)]
    if len(known):
        rows.append(("utilization", f"{known.mean():.0%} on average, {known.max():.0%} at most"))
    rows += [("simulated time", _seconds(report.time)), ("time", _seconds(report.seconds))]
    return _table("Report", rows)


def allocator(allocator: Allocator, network: Topology | None) -> str:
    """The table of an allocator, and the network that it was made with."""
    rows = [("price rule", allocator.method)]
    if network is not None:
        rows.append(("network", network.name))
    rows += [
        ("size", f"{counted(len(allocator), 'flowlet')}, {counted(len(allocator.capacities), 'link')}"),
        ("capacities", _capacities(allocator.capacities)),
        ("sum of rates", f"{allocator.rates().sum():.6g}"),
        ("highest price", _highest(allocator.prices, network)),
    ]
    return _table("Allocator", rows + _failed(allocator.capacities))


def topology(net: Topology) -> str:
    """The table of a network, and a drawing of it where it is small enough."""
    size = repr(net)[len("Topology(") : -1].removeprefix(f"{net.name}, ")
    rows = [("name", net.name), ("size", size), ("capacities", _capacities(net.capacities))]
    table = _table("Topology", rows + _failed(net.capacities))
    drawing = _drawing(net)
    if not drawing:
        return table
    return f'<div style="display: flex; flex-wrap: wrap; align-items: center; gap: 1.5em">{table}{drawing}</div>'


def _table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    head = f'<thead><tr><th colspan="2">{escape(title)}</th></tr></thead>'
    return f'<table cellpadding="4" style="{STYLE}">{head}<tbody>{body}</tbody></table>'


def _failed(capacities: NDArray[np.float64]) -> list[tuple[str, str]]:
    """A row for the links of capacity 0, if there are any."""
    failed = int((capacities == 0).sum())
    return [("failed links", str(failed))] if failed else []


def _size(flows: int, paths: int, links: int) -> str:
    several = "" if paths == flows else f"{counted(paths, 'path')}, "
    return f"{counted(flows, 'flow')}, {several}{counted(links, 'link')}"


def _span(values: NDArray[np.float64]) -> str:
    """``4``, ``1 to 10``; links that have failed do not count."""
    values = values[values > 0]
    if not len(values):
        return "none"
    low, high = values.min(), values.max()
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _capacities(values: NDArray[np.float64]) -> str:
    """``1 to 10, 2 links unlimited``."""
    limited = values[np.isfinite(values)]
    if len(limited) == len(values):
        return _span(values)
    without = f"{counted(len(values) - len(limited), 'link')} unlimited"
    return f"{_span(limited)}, {without}" if len(limited) else without


def _highest(prices: NDArray[np.float64], network: object) -> str:
    """The highest price and its link."""
    if not (prices > 0).any():
        return "0"
    link = int(prices.argmax())
    name = network.link_names[link] if isinstance(network, Topology) else f"link {link}"
    return f"{prices[link]:.4g} ({name})"


def _power(value: float) -> str:
    """As in a repr: 1.5e-7, and 3.1."""
    if 1 <= value < 1000:
        return f"{value:.1f}"
    return re.sub(r"e([+-])0*(\d)", lambda found: f"e{found[1].strip('+')}{found[2]}", f"{value:.1e}")


def _seconds(seconds: float) -> str:
    for unit, least in (("s", 0.1), ("ms", 1e-4)):
        if not seconds < least:
            return f"{seconds / {'s': 1.0, 'ms': 1e-3}[unit]:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"


#: The most nodes and lines of a drawing, and the most nodes that networkx lays out at once.
NODES, LINES, LAID_OUT = 1000, 2000, 100
WIDTH, HEIGHT, MARGIN = 240.0, 150.0, 8.0


def _drawing(net: Topology) -> str:
    """A network as SVG; nothing where it is too large, or networkx would lay it out and is not there."""
    nodes = len(net.node_names)
    pairs, line = layout.joined(net)
    is_placed = net.positions is not None or net.tiers.max() > 0
    if nodes > (NODES if is_placed else LAID_OUT) or len(pairs) > LINES:
        return ""
    try:
        places = layout.places(net)
    except ImportError:
        return ""
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    # A chain has no height: it is drawn in the middle.
    parts = np.where(span > 0, (places - low) / np.where(span > 0, span, 1.0), 0.5)
    points = MARGIN + parts * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)
    points[:, 1] = HEIGHT - points[:, 1]
    failed = np.bincount(line[net.capacities == 0], minlength=len(pairs)) > 0
    width = f'stroke-width="{np.clip(90 / max(len(pairs), 1), 0.4, 1.2):.1f}"'
    shapes = [
        _lines(points, pairs[~failed], f'{width} stroke-opacity="0.6"'),
        _lines(points, pairs[failed], 'stroke-dasharray="3 3"'),
    ]
    for tier in np.unique(net.tiers):
        dots = points[net.tiers == tier]
        dot = np.clip((0.6 if net.positions is None and net.tiers.max() > 0 else 2.0) * WIDTH / len(dots), 0.8, 6.0)
        shapes.append(f'<path d="{"".join(f"M{x:.1f} {y:.1f}h0" for x, y in dots)}" stroke-width="{dot:.1f}"/>')
    style = 'fill="none" stroke="currentColor" stroke-linecap="round"'
    frame = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
    label = f'role="img" aria-label="{escape(net.name)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {label} {style}>{"".join(shapes)}</svg>'


def _lines(points: NDArray[np.float64], pairs: NDArray[np.intp], style: str) -> str:
    if not len(pairs):
        return ""
    lines = (f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in points[pairs])
    return f'<path d="{"".join(lines)}" {style}/>'
