"""The right word for names that people try first and that do not exist: one table, and no second name for a thing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._messages import did_you_mean

ATTRIBUTES: dict[str, dict[str, str]] = {
    "netnum": {
        "Network": "a network is a netnum.Topology: netnum.topology makes and reads them",
        "Graph": "a network is a netnum.Topology: netnum.topology.from_networkx reads a graph",
        "Flow": "flows are the rows of netnum.Problem(network, paths, utility), those of a simulation a "
        "netnum.sim.Workload",
        "Link": "links are numbers: netnum.Topology(node_names, links, capacities) makes them",
        "Path": "netnum.Paths holds paths, and lists of nodes or links do",
        "Demand": "netnum.Demands holds demands: netnum.demands makes and reads them",
        "Model": "netnum.Problem(network, paths, utility) states a problem, netnum.solve(problem) solves it",
        "optimize": "netnum.solve(problem)",
        "maximize": "netnum.solve(problem)",
        "minimize": "netnum.solve(problem)",
        "Log": "the logarithm is netnum.AlphaFair(1.0)",
        "LogUtility": "the logarithm is netnum.AlphaFair(1.0)",
        "ProportionalFair": "proportional fairness is netnum.AlphaFair(1.0)",
        "MaxMin": "max-min fairness is netnum.max_min(problem)",
        "MaxMinFair": "max-min fairness is netnum.max_min(problem)",
        "WaterFilling": "max-min fairness is netnum.max_min(problem)",
        "water_filling": "max-min fairness is netnum.max_min(problem)",
        "Throughput": "the sum of rates is netnum.Linear(1.0)",
        "FCT": "the utility of completion times is netnum.MinFct(size)",
        "Simulator": "netnum.sim.simulate(net, workload) runs a simulation",
    },
    "Solution": {
        "x": "the rates are `rates` (of paths) and `flow_rates`",
        "flows": "the rates of flows are `flow_rates`; `problem.flows` is their number",
        "y": "the rates are `flow_rates`, and the loads of links `loads`",
        "allocation": "the rates are `rates` (of paths) and `flow_rates`",
        "value": "the sum of the utilities is `objective`",
        "fun": "the sum of the utilities is `objective`",
        "optimal_value": "the sum of the utilities is `objective`",
        "utility": "the sum of the utilities is `objective`; `problem.values(flow_rates)` has each",
        "duals": "the prices of links are `prices`",
        "dual": "the prices of links are `prices`",
        "dual_value": "the prices of links are `prices`",
        "shadow_prices": "the prices of links are `prices`",
        "utilization": "it is `loads / problem.capacities`",
        "utilizations": "it is `loads / problem.capacities`",
        "success": "`is_optimal` says whether the rates are proven",
        "message": "`status` says how the solve ended",
        "converged": "`is_optimal` says whether the rates are proven",
        "nit": "their number is `iterations`",
        "time": "it is `seconds`",
        "history": "`trace` has it, of netnum.solve(problem, trace=True)",
        "bottleneck": "`bottlenecks` has the link that limits each flow",
        "derivative": "`sensitivity()` has derivatives",
        "gradient": "`sensitivity()` has derivatives",
        "to_dataframe": "it is `to_pandas()`",
        "to_frame": "it is `to_pandas()`",
        "df": "it is `to_pandas()`",
    },
    "Problem": {
        "solve": "it is netnum.solve(problem)",
        "max_min": "it is netnum.max_min(problem)",
        "demands": "the caps of flows are `flow_cap`",
        "routes": "they are `paths`",
        "n_flows": "their number is `flows`",
        "num_flows": "their number is `flows`",
        "num_links": "their number is `links`",
        "c": "they are `capacities`",
        "R": "the links of paths are `paths`, as `paths.indptr` and `paths.indices`",
        "to_dict": "it is `to_json()`",
    },
    "Topology": {
        "nodes": "they are `node_names`",
        "edges": "they are `links`, and their names `link_names`",
        "capacity": "they are `capacities`",
        "attributes": "what links have besides capacities is `link_attributes`",
        "edge_attributes": "what links have besides capacities is `link_attributes`",
        "delay": 'what links have besides capacities is `link_attributes`, such as link_attributes["delay"]',
        "delays": 'what links have besides capacities is `link_attributes`, such as link_attributes["delay"]',
        "shortest_path": "`paths(source, destination)` has all shortest paths, `ecmp` one for each of many pairs, and "
        "`k_shortest_paths` more",
        "shortest_paths": "`paths(source, destination)` has all shortest paths, `ecmp` one for each of many pairs, and "
        "`k_shortest_paths` more",
        "all_shortest_paths": "it is `paths(source, destination)`",
        "k_shortest": "it is `k_shortest_paths`",
        "path": "`route(nodes)` has the links between nodes, `paths(source, destination)` all shortest paths",
        "has_edge": "`link(a, b)` is the number of the link, or raises",
        "remove_link": "`without(links)` is the network without them",
        "remove_edge": "`without(links)` is the network without them",
        "draw": "it is `plot()`",
        "graph": "it is `to_networkx()`",
        "n_nodes": "it is `len(node_names)`",
        "number_of_nodes": "it is `len(node_names)`",
        "n_links": "it is `len(capacities)`",
        "number_of_edges": "it is `len(capacities)`",
        "hosts": "flows start and stop at `ends`, the nodes 0 to ends - 1",
        "servers": "flows start and stop at `ends`, the nodes 0 to ends - 1",
    },
    "Allocator": {
        "add": "it is `start(paths, weight)`",
        "add_flow": "it is `start(paths, weight)`",
        "add_flows": "it is `start(paths, weight)`",
        "remove": "it is `end(ids)`",
        "remove_flow": "it is `end(ids)`",
        "stop": "it is `end(ids)`",
        "step": "it is `tick(iterations)`",
        "iterate": "it is `tick(iterations)`",
        "solve": "it is `tick(iterations)`",
        "run": "it is `tick(iterations)`",
        "flows": "they are `ids`",
    },
    "Solver": {
        "run": "it is `solve()`",
        "iterate": "it is `step(iterations)`",
        "iterations": "their number is `iteration`",
        "gap": "it is `certificate.relative_gap`",
    },
    "Paths": {
        "to_list": "it is `list(paths)`",
        "tolist": "it is `list(paths)`",
        "flows": "the flow of every path is `group`",
        "links": "they are `indices`, and `paths[p]` those of path p",
    },
    "Report": {
        "fct": "they are `completion_times`",
        "fcts": "they are `completion_times`",
        "slowdown": "they are `slowdowns`",
        "throughput": "`bytes_sent` and `time` have it",
        "plot": "it is `plot_fct()`",
        "utilization": "it is `link_utilization`",
    },
    "Workload": {
        "flows": "their number is `len(workload)`",
        "sources_destinations": "they are `sources` and `destinations`",
        "start_times": "they are `arrivals`",
        "times": "they are `arrivals`",
        "from_pandas": "give its columns: Workload(arrivals, sources, destinations, sizes, net=net)",
    },
    "AlphaFair": {"weights": "they are `weight`", "a": "it is `alpha`"},
    "Demands": {
        "values": "they are `volumes`",
        "demand": "they are `volumes`",
        "demands": "they are `volumes`",
        "pairs": "they are `sources` and `destinations`",
        "scale": "it is `scaled(factor)`",
        "sum": "it is `total`",
    },
}
"""What is meant, by the name of a module or class and the name that it lacks."""

PLACES = ("topology", "demands", "sim")
"""The modules whose names are also looked for at the top."""


def missing(owner: Any, kind: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for an attribute that does not exist, with what is meant or what is near."""
    what = f"module {kind!r}" if kind == "netnum" else f"{kind!r} object"
    meant = None if name.startswith("_") else _meant(owner, kind, name, known)
    return AttributeError(f"{what} has no attribute {name!r}{f': {meant}' if meant else ''}", name=name, obj=owner)


def answer_for(classes: Iterable[type]) -> None:
    """Makes `missing` the error for attributes that objects of these classes lack."""

    def __getattr__(self: Any, name: str) -> Any:
        raise missing(self, type(self).__name__, name, dir(type(self)))

    for one in classes:
        one.__getattr__ = __getattr__  # type: ignore[attr-defined]


def _meant(owner: Any, kind: str, name: str, known: Iterable[str]) -> str:
    if name in ATTRIBUTES.get(kind, {}):
        return ATTRIBUTES[kind][name]
    for place in PLACES if kind == "netnum" else ():
        if name in getattr(owner, place).__all__:
            return f"it is netnum.{place}.{name}"
    return did_you_mean(name, [each for each in known if not each.startswith("_")])
