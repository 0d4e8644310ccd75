"""pandas frames of solutions, with the names of their network, and of reports. pandas is imported for the first one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._by_name import flow_ends, nodes_of
from .._core import (
    Infeasibility,
    NumError,
    Paths,
    Problem,
    ProblemError,
    Report,
    Sensitivity,
    Solution,
    Solutions,
    Topology,
)
from .._link_sets import one_set
from .._messages import optional

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    from .._multicommodity_flow import MulticommodityFlow


def table(data: Any, index: str | None = None, columns: list[str] | None = None) -> pandas.DataFrame:
    """A frame of columns by name, or of rows, with the name of its index."""
    frame: pandas.DataFrame = optional("pandas", "frames need pandas", "frames").DataFrame(data, columns=columns)
    return frame if index is None else frame.rename_axis(index)


def to_pandas(
    problem: Problem, solution: Solution, of: Literal["flows", "paths", "links"] = "flows"
) -> pandas.DataFrame:
    r"""A solution as a table of flows, paths or links, with the links that limit each flow.

    Parameters
    ----------
    problem : Problem
        With the names of its network where it was made with a `Topology`; otherwise links have numbers, and flows have
        no ends.
    solution : Solution
        Of this problem.
    of : {"flows", "paths", "links"}
        The items with a row each.

    Returns
    -------
    pandas.DataFrame
        Of flows: source and destination; priority, where there are priorities; demand (`Problem.flow_cap`) and the
        ratio of rate to demand, where there are demands; floor (`Problem.flow_floor`), where there are floors; rate;
        whether it is served; and the links that limit it, those of its paths. Flows of `Solution.failed_flows` are not
        served, and where the status is ``"infeasible"`` none is: its rates carry the same part of all floors, and the
        links in the proof (`Solution.infeasibility`) limit the flows in it.
        Of paths: flow, links, rate, its share of the flow's rate, and the link that limits it (`Solution.bottlenecks`).
        Of links: nodes, capacity, load, utilization, price, and the number of flows that the link limits. Max-min
        flows with several paths are limited by all links of their cut (`Solution.cuts`).

    Raises
    ------
    NumError
        For another `of`.
    TypeError
        For an argument that is no `Problem`, or no `Solution` of `solve`.
    ProblemError
        For the solution of a problem of another size.
    ImportError
        Without pandas: ``pip install "netnum[frames]"``.

    Examples
    --------
    >>> net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    >>> paths, group = net.k_shortest_paths(["A", "B"], ["C", "A"], 2)
    >>> problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=[20.0, 3.0])
    >>> netnum.to_pandas(problem, netnum.solve(problem)).round(2)
          source destination  demand  rate  ratio  served    held_back_by
    flow
    0          A           C    20.0  10.0    0.5    True  B -> C, A -> C
    1          B           A     3.0   3.0    1.0    True
    """
    expect_solution_of(problem, solution)
    held = solution.bottlenecks
    # Every pair of a flow and a link that limits it, once, flow by flow.
    of_paths = np.column_stack([problem.group, held])[held >= 0]
    of_cuts = [
        np.column_stack([np.repeat(flows, len(links)), np.tile(links, len(flows))]) for _, links, flows in solution.cuts
    ]
    if (proof := solution.infeasibility) is not None:
        return _held_by(problem, solution, of, proof.links, proof.flows)
    pairs = np.unique(np.concatenate([of_paths, *of_cuts]), axis=0)
    return _rates(problem, solution, of, pairs, [[link] if link >= 0 else [] for link in held])


def multicommodity_flow(flow: MulticommodityFlow, of: str) -> pandas.DataFrame:
    """The same of demands that are carried: the cut holds its flows back."""
    return _held_by(flow.problem, flow, of, flow.cut_links, flow.cut_flows)


def infeasibility(problem: Problem, proof: Infeasibility, of: str) -> pandas.DataFrame:
    """The flows, the links or the paths in the proof that floors do not fit, with what they pay or are worth."""
    expect_sizes(problem, "proof", proof.rates, proof.flow_prices, proof.prices)
    net = problem.network if isinstance(problem.network, Topology) else None
    names = net.link_names if net is not None else [str(link) for link in range(problem.links)]
    columns: dict[str, Any] = {}
    if of == "flows":
        if problem.flow_floor is None:
            raise ProblemError("the proof is of another problem: this one has no floors")
        if net is not None:
            ends = flow_ends(net, problem.paths)[proof.flows]
            columns = dict(zip(("source", "destination"), _named(net, ends), strict=True))
        floors, prices = problem.flow_floor[proof.flows], proof.flow_prices[proof.flows]
        columns |= {"floor": floors, "price": prices, "pays": floors * prices}
        return _numbered(columns, proof.flows, "flow")
    if of == "links":
        if net is not None:
            columns["link"] = [names[link] for link in proof.links]
        capacities, prices = problem.capacities[proof.links], proof.prices[proof.links]
        columns |= {"capacity": capacities, "price": prices, "worth": capacities * prices}
        return _numbered(columns, proof.links, "link" if net is None else "number")
    if of != "paths":
        raise NumError(f"of is {of!r}, expected 'flows', 'links' or 'paths'")
    if len(proof.paths) and problem.rate_cap is None:
        raise ProblemError("the proof is of another problem: this one has no caps of paths")
    caps = problem.rate_cap[proof.paths] if problem.rate_cap is not None else np.empty(0)
    prices = proof.cap_prices[proof.paths]
    columns = {
        "flow": problem.group[proof.paths],
        "links": [", ".join(names[link] for link in problem.paths[path]) for path in proof.paths.tolist()],
        "cap": caps,
        "price": prices,
        "worth": caps * prices,
    }
    return _numbered(columns, proof.paths, "path")


def _numbered(columns: dict[str, Any], numbers: NDArray[np.int64], index: str) -> pandas.DataFrame:
    """A frame of some flows, links or paths by their numbers."""
    return table(columns).set_axis(numbers).rename_axis(index)


def _held_by(
    problem: Problem,
    found: Solution | MulticommodityFlow,
    of: str,
    links: NDArray[np.int64],
    flows: NDArray[np.int64],
) -> pandas.DataFrame:
    """The same where some links together hold some flows back."""
    pairs = np.column_stack([np.repeat(flows, len(links)), np.tile(links, len(flows))])
    is_held, is_cut = np.isin(problem.group, flows), np.isin(np.arange(problem.links), links)
    held = [
        [link for link in path if is_cut[link]] if holds else []
        for path, holds in zip(problem.paths, is_held, strict=True)
    ]
    return _rates(problem, found, of, pairs, held)


def _rates(
    problem: Problem,
    found: Solution | MulticommodityFlow,
    of: str,
    pairs: NDArray[np.int64],
    held: list[list[int]],
) -> pandas.DataFrame:
    """Rates, prices and loads as a table of flows, paths or links.

    `pairs` are a flow and a link that limits it, flow by flow; `held` are the links that limit every path.
    """
    if of not in ("flows", "paths", "links"):
        raise NumError(f"of is {of!r}, expected 'flows', 'paths' or 'links'")
    net = problem.network if isinstance(problem.network, Topology) else None
    names = net.link_names if net is not None else [str(link) for link in range(problem.links)]
    columns: dict[str, Any] = {}
    if of == "links":
        if net is not None:
            columns = {"link": names} | dict(zip(("source", "destination"), _named(net, net.links), strict=True))
        columns |= {
            "capacity": problem.capacities,
            "load": found.loads,
            "utilization": ratio(found.loads, problem.capacities),
            "price": found.prices,
            "holds_back": np.bincount(pairs[:, 1], minlength=problem.links),
        }
        return table(columns, "link" if net is None else "number")
    if of == "paths":
        columns = {
            "flow": problem.group,
            "links": [", ".join(names[link] for link in path) for path in problem.paths],
            "rate": found.rates,
            "share": ratio(found.rates, found.flow_rates[problem.group]),
            "held_back_by": [", ".join(names[link] for link in links) for links in held],
        }
        return table(columns, "path")
    if net is not None:
        columns = dict(zip(("source", "destination"), _named(net, flow_ends(net, problem.paths)), strict=True))
    if problem.priority is not None:
        columns["priority"] = problem.priority
    if problem.flow_cap is not None:
        columns["demand"] = problem.flow_cap
    if problem.flow_floor is not None:
        columns["floor"] = problem.flow_floor
    columns["rate"] = found.flow_rates
    if problem.flow_cap is not None:
        columns["ratio"] = ratio(found.flow_rates, problem.flow_cap)
    served = np.ones(problem.flows, dtype=bool)
    served[slice(None) if found.status == "infeasible" else found.failed_flows] = False
    first = np.searchsorted(pairs[:, 0], np.arange(problem.flows + 1))
    of_flows = [", ".join(names[link] for link in pairs[a:b, 1]) for a, b in itertools.pairwise(first)]
    columns |= {"served": served, "held_back_by": of_flows}
    return table(columns, "flow")


def paths(paths: Paths, net: Topology | None) -> pandas.DataFrame:
    """The links of every path, one row for each, and its nodes on a network."""
    columns: dict[str, Any] = {"flow": paths.group}
    if net is None:
        columns["links"] = [", ".join(map(str, path.tolist())) for path in paths]
        return table(columns, "path")
    names = net.link_names
    if len(paths.indices) and (largest := int(paths.indices.max())) >= len(names):
        path = int(np.searchsorted(paths.indptr, np.argmax(paths.indices), side="right")) - 1
        raise ProblemError(f"path {path} has link {largest}, and {net.name} has {len(names)} links")
    ends = flow_ends(net, paths)[np.unique(paths.group, return_inverse=True)[1]]
    columns |= dict(zip(("source", "destination"), _named(net, ends), strict=True))
    columns |= {
        "nodes": nodes_of(net, paths, ends[:, 0]),
        "links": [", ".join(names[link] for link in path) for path in paths],
    }
    return table(columns, "path")


def expect_solution_of(problem: Problem, solution: Solution) -> None:
    """Raises where this is no solution, no problem, or the solution of a problem of another size."""
    for name, given, kind in (("problem", problem, Problem), ("solution", solution, Solution)):
        if not isinstance(given, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, not {type(given).__name__}")
    expect_sizes(problem, "solution", solution.rates, solution.flow_rates, solution.prices)


def expect_sizes(problem: Problem, what: str, *of_each: NDArray[np.float64]) -> None:
    """Raises where arrays of paths, of flows and of links are of a problem of another size."""
    problem._need_paths()  # type: ignore[attr-defined]
    sizes = [(len(problem.group), "path"), (problem.flows, "flow"), (problem.links, "link")]
    for found, (expected, each) in zip(map(len, of_each), sizes, strict=True):
        if found != expected:
            raise ProblemError(f"the {what} is of another problem: it has {found} {each}s, expected {expected}")


def solutions(solutions: Solutions) -> pandas.DataFrame:
    """The solutions of scenarios, one row for each."""
    columns = {
        "status": solutions.status,
        "objective": solutions.objective,
        "gap": solutions.gap,
        "kkt_residual": solutions.kkt_residual,
        "failed_flows": solutions.failed_flows,
        "iterations": solutions.iterations,
        "seconds": solutions.seconds,
    }
    return table(columns, "scenario")


def report(report: Report, of: str) -> pandas.DataFrame:
    """One row per flow or per link."""
    if of not in ("flows", "links", "coflows"):
        raise NumError(f"of is {of!r}, expected 'flows', 'links' or 'coflows'")
    columns: dict[str, Any]
    if of == "coflows":
        return coflows(report)
    if of == "links":
        columns = {
            "bytes": report.link_bytes,
            "utilization": report.link_utilization,
            "peak_load": report.peak_loads,
        }
        return table(columns, "link")
    workload = report.workload
    columns = {
        "arrival": workload.arrivals,
        "start": report.starts,
        "source": workload.sources,
        "destination": workload.destinations,
        "size": workload.sizes,
        "completion_time": report.completion_times,
        "slowdown": report.slowdowns,
        "bytes_sent": report.bytes_sent,
        "mean_rate": report.mean_rates,
    }
    if workload.production is not None:
        columns |= {"production": workload.production, "copy_rate": report.copy_rates}
    if workload.weights is not None:
        columns["weight"] = workload.weights
    if workload.coflow is not None:
        columns["coflow"] = workload.coflow
    return table(columns, "flow")


def coflows(report: Report) -> pandas.DataFrame:
    """One row per coflow: from the start of its first flow to the end of its last."""
    coflow = report.workload.coflow
    coflow = np.full(len(report.starts), -1) if coflow is None else coflow
    count = len(report.coflow_times)
    is_one = coflow >= 0
    first = np.full(count, np.inf)
    np.minimum.at(first, coflow[is_one], np.where(np.isnan(report.starts), np.inf, report.starts)[is_one])
    sums = {
        name: np.bincount(coflow[is_one], values[is_one], minlength=count)
        for name, values in (("flows", np.ones(len(coflow))), ("bytes_sent", report.bytes_sent))
    }
    columns = {
        "start": np.where(np.isinf(first), np.nan, first),
        "time": report.coflow_times,
        "flows": sums["flows"].astype(int),
        "bytes_sent": sums["bytes_sent"],
    }
    return table(columns, "coflow")


def gains(sensitivity: Sensitivity, link: Any, added: float) -> pandas.DataFrame:
    """The change of every flow's rate when a link gets more capacity, the largest gain first."""
    problem = sensitivity.problem
    net = problem.network if isinstance(problem.network, Topology) else None
    columns: dict[str, Any] = {}
    if net is not None:
        columns = dict(zip(("source", "destination"), _named(net, flow_ends(net, problem.paths)), strict=True))
    columns |= {"rate": sensitivity.flow_rates, "change": change_of_rates(sensitivity, link, added)[1]}
    return table(columns, "flow").sort_values("change", ascending=False, kind="stable")


def change_of_rates(sensitivity: Sensitivity, link: Any, added: float) -> tuple[str, NDArray[np.float64]]:
    """The name of a link, or of some, and the change of every flow's rate when each of them gets more capacity."""
    problem = sensitivity.problem
    name, links = one_set(problem, link, "link")
    changes = np.zeros(problem.links)
    changes[list(links)] = added
    return name, sensitivity.jvp(capacities=changes)["flow_rates"]


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part of the whole; nan where there is none or it is infinite."""
    known = (whole > 0) & np.isfinite(whole)
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=known)


def flow_names(problem: Problem) -> list[str]:
    """``A to B`` for every flow; its number where its ends have no names."""
    net = problem.network if isinstance(problem.network, Topology) else None
    numbers = [f"flow {flow}" for flow in range(problem.flows)]
    if net is None:
        return numbers
    ends = zip(*_named(net, flow_ends(net, problem.paths)), numbers, strict=True)
    return [f"{source} to {destination}" if source else number for source, destination, number in ends]


def _named(net: Topology, pairs: NDArray[np.int64]) -> list[list[str]]:
    """The names of pairs of nodes, as two columns; "" for -1."""
    names = net.node_names
    return [[names[node] if node >= 0 else "" for node in column] for column in pairs.T.tolist()]
