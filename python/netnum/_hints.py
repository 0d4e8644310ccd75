"""The right word for names that people try first and that do not exist: one table, and no second name for a thing.

What is answered to calls with other arguments is in `_arguments`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ._messages import did_you_mean

ATTRIBUTES: dict[str, dict[str, str]] = {
    "netnum": {
        **{f"read_{kind}": f"it is netnum.topology.from_{kind}" for kind in ("graphml", "gml", "sndlib", "edges")},
        "max_flow": 'the largest sum of rates is the utility "throughput"',
        "workload": "workloads are made by netnum.sim.Workload, such as Workload.poisson(net, sizes, load, flows=...)",
        "compare": "netnum.sim.sweep runs policies, loads and seeds; report.plot_fct(ax=ax) draws several on the same "
        "axes",
        "Network": "networks are made by netnum.topology: from_edges(edges), each both ways unless directed=True, "
        "from_networkx(graph), leaf_spine(racks, servers_per_rack), ...",
        "grid": "netnum.topology.from_networkx reads networkx.grid_2d_graph, with capacities on its edges, and names "
        'its nodes "(0, 0)", ...',
        "jain_index": "it is netnum.jain",
        "fairness": "netnum.jain, netnum.relative_rates and netnum.price_of_fairness have it",
        "save": "everything has a method of that name, as in net.save(path), and netnum.load(path) reads it",
        "plot": "networks, solutions and reports have pictures: net.plot(), solution.plot(), report.plot_fct()",
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
        "Log": 'the logarithm is the utility "proportional", netnum.AlphaFair()',
        "LogUtility": 'the logarithm is the utility "proportional", netnum.AlphaFair()',
        "ProportionalFair": 'it is the utility "proportional", netnum.AlphaFair()',
        **dict.fromkeys(
            ("proportional_fair", "proportional_fairness", "alpha_fair", "max_min_fair", "utility", "utilities"),
            'a utility is a name, as in netnum.Problem(network, paths, "proportional"), a number for an alpha, or '
            "netnum.AlphaFair, Linear, MinFct or BandwidthFunction",
        ),
        **dict.fromkeys(
            ("Simulation", "simulation", "Simulator", "simulator"),
            "netnum.sim.simulate(net, workload) runs a simulation",
        ),
        **dict.fromkeys(
            ("datasets", "data", "networks", "topologies", "zoo", "examples"),
            'networks are made and read by netnum.topology: backbone("abilene"), leaf_spine(racks, servers_per_rack), '
            "from_graphml(path), ...",
        ),
        "MaxMin": 'it is the utility "max-min", netnum.AlphaFair(np.inf), or netnum.max_min(problem)',
        "MaxMinFair": 'it is the utility "max-min", netnum.AlphaFair(np.inf), or netnum.max_min(problem)',
        "WaterFilling": "max-min fairness is netnum.max_min(problem)",
        "water_filling": "max-min fairness is netnum.max_min(problem)",
        **dict.fromkeys(
            ("mlu", "min_mlu", "max_link_utilization", "minimize_max_utilization", "congestion"),
            "the least utilization of the fullest link is netnum.min_utilization(problem)",
        ),
        **dict.fromkeys(
            ("max_concurrent_flow", "maximum_concurrent_flow", "multicommodity_flow"),
            "the largest fraction of all demands is netnum.concurrent_flow(problem)",
        ),
        **dict.fromkeys(
            ("min_max_utilization", "minmax_utilization", "min_max_link_utilization"),
            "the least utilization of the fullest link is netnum.min_utilization(problem)",
        ),
        **dict.fromkeys(
            ("failures", "fail", "link_failures", "robustness"),
            "netnum.failure_study(problem) solves with every edge failed in turn",
        ),
        **dict.fromkeys(
            ("min_cost", "min_cost_flow", "mincost", "cheapest", "cheapest_routing", "cost_flow", "max_flow_min_cost"),
            "the cheapest way to carry demands is netnum.Linear(0.0) with flow_floor= and flow_cap= of the demands and "
            "path_cost= or link_cost=; netnum.solve(problem, tie_cost=...) takes the cheapest of the best splits",
        ),
        **dict.fromkeys(
            ("drf", "DRF", "dominant_resource_fairness", "dominant_share"),
            "dominant-resource fairness is netnum.max_min(problem) with weights of 1/max(coefficient/capacity): "
            "netnum.Paths has coefficients",
        ),
        **dict.fromkeys(
            (
                "explain_infeasible",
                "infeasible",
                "infeasibility",
                "feasible",
                "is_feasible",
                "check_feasible",
                "conflicts",
            ),
            "netnum.solve(problem).infeasibility says why floors do not fit; without floors some rates always do",
        ),
        **dict.fromkeys(
            ("guarantees", "guarantee", "min_rates", "floors", "slo"),
            "guaranteed rates are flow_floor= of netnum.Problem",
        ),
        **dict.fromkeys(
            ("priorities", "strict_priority", "classes", "lexicographic"),
            "classes that are served one after the other are priority= of netnum.Problem",
        ),
        **dict.fromkeys(("wcmp", "split_evenly", "segment_routing"), "they are net.ecmp_split of a netnum.Topology"),
        "Throughput": 'it is the utility "throughput", netnum.Linear()',
        "FCT": "the utility of completion times is netnum.MinFct(size)",
    },
    "netnum.topology": {
        **{f"read_{kind}": f"it is from_{kind}" for kind in ("graphml", "gml", "sndlib", "edges")},
        "read_edgelist": "it is from_edges",
        **dict.fromkeys(
            ("list_backbones", "backbones", "available_backbones", "list_topologies", "available", "names"),
            'they are backbone("abilene"), backbone("b4") and backbone("nsfnet")',
        ),
        **dict.fromkeys(
            ("grid", "ring", "line", "complete", "random", "waxman"),
            "from_networkx reads the graphs of networkx, with capacities on their edges; ready-made are leaf_spine, "
            "fat_tree, star, single_link, parking_lot and backbone",
        ),
        **dict.fromkeys(("abilene", "b4", "nsfnet"), 'it is backbone("abilene"), and so are "b4" and "nsfnet"'),
        **dict.fromkeys(
            ("zoo", "topology_zoo", "from_zoo", "internet_topology_zoo", "read"),
            'from_graphml and from_gml read files of the Topology Zoo; ready-made are backbone("abilene") and others',
        ),
        "from_dict": "it is from_edges, which takes a dict of capacities by pair",
        "from_list": "it is from_edges, which takes a list of (source, target, capacity)",
        **dict.fromkeys(
            ("from_numpy", "from_numpy_array", "from_scipy_sparse_array", "from_array"), "it is from_matrix"
        ),
        "from_csv": "it is from_pandas(pandas.read_csv(path)), or from_edges(path) of lines: node node capacity",
        "load": "it is netnum.load(path)",
    },
    "netnum.demands": {
        "from_dict": "a dict of volumes by pair is taken wherever demands are, as in net.k_shortest_paths(demands, k)",
        "from_csv": "it is from_pandas(net, pandas.read_csv(path))",
        **dict.fromkeys(
            ("from_numpy", "from_array"),
            "it is from_matrix(net, matrix), with the volume from every end to every other",
        ),
        **dict.fromkeys(
            ("uniform", "all_to_all", "constant"), "it is from_matrix(net, matrix), of the same volume for all pairs"
        ),
        **dict.fromkeys(
            ("random", "generate", "bimodal", "poisson", "exponential", "pareto", "zipf"),
            "gravity(net, total) and lognormal(net, ...) draw some, and from_matrix(net, matrix) takes any",
        ),
    },
    "netnum.sim": {
        **dict.fromkeys(
            ("poisson", "PoissonWorkload", "Poisson"), "it is netnum.sim.Workload.poisson(net, sizes, load, flows=...)"
        ),
        "run": "it is simulate(net, workload)",
        "compare": "sweep runs policies, loads and seeds; report.plot_fct(ax=ax) draws several on the same axes",
        "web_search": 'sizes are called by name: Workload.poisson(net, "web_search", load, flows=...)',
        **dict.fromkeys(
            ("all_reduce", "allreduce", "ring_all_reduce", "collective", "collectives"),
            "it is netnum.sim.Workload.all_reduce(net, size, workers)",
        ),
        **dict.fromkeys(("shuffle", "pipeline", "all_to_all_in_steps"), "netnum.sim.Workload has it"),
        **dict.fromkeys(
            ("coflow", "coflows", "Coflow"),
            "workload.with_coflow(numbers) says which flows are one, report.coflow_times has their times, and the "
            'policy "coflow" serves them in order',
        ),
    },
    "Sensitivity": {
        **dict.fromkeys(
            ("jacobian", "jac", "matrix"),
            "derivatives of rates in capacities are the matrix `d_rates_d_capacity`; `vjp` and `jvp` have all others",
        ),
        **dict.fromkeys(
            ("to_pandas", "to_frame"), "`gains(link)` is a table of the flows, and `d_rates_d_capacity` an array"
        ),
        "capacities": "they are `d_rates_d_capacity`, or `vjp` and `jvp`",
        "capacity": "they are `d_rates_d_capacity`, or `vjp` and `jvp`",
        **dict.fromkeys(
            (
                "d_prices_d_capacity",
                "d_rates_d_weight",
                "d_objective_d_capacity",
                "d_loads_d_capacity",
                "gradient",
                "grad",
            ),
            "`jvp` has changes of rates and prices with capacities, caps and weights, `vjp` the gradient of one number",
        ),
    },
    "Certificate": {
        **dict.fromkeys(("gap", "duality_gap", "rel_gap"), "it is `relative_gap`"),
        **dict.fromkeys(("residual", "kkt", "kkt_error", "dual_residual"), "it is `kkt_residual`"),
        **dict.fromkeys(("violation", "infeasibility", "primal_residual"), "it is `overload`"),
    },
    "MulticommodityFlow": {
        **dict.fromkeys(
            ("plot", "draw"),
            "net.plot(values=flow.loads / net.capacities) draws the network with how full its links are",
        ),
        **dict.fromkeys(("links", "bottleneck", "bottlenecks"), "`cut` has the links that leave no more"),
        **dict.fromkeys(("max_utilization", "mlu"), "it is `utilization`"),
        **dict.fromkeys(
            ("value", "objective", "theta"),
            "it is `fraction` of netnum.concurrent_flow, and `utilization` of netnum.min_utilization",
        ),
        **dict.fromkeys(("throughput", "scale", "factor"), "the part of every demand that is carried is `fraction`"),
    },
    "Solution": {
        "utilisation": "it is `loads / problem.capacities`",
        "throughput": "it is `flow_rates.sum()`",
        "total_rate": "it is `flow_rates.sum()`",
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
        **dict.fromkeys(
            ("floor_prices", "floor_costs", "floor_duals", "guarantee_costs"),
            '`sensitivity().vjp(objective=1.0)["flow_floor"]` has what one more unit of every floor changes',
        ),
        "infeasible": '`status == "infeasible"` says so, and `infeasibility` why',
        "is_infeasible": '`status == "infeasible"` says so, and `infeasibility` why',
        "is_feasible": '`status != "infeasible"` says so, and `infeasibility` why not',
        "conflict": "`infeasibility` says why floors do not fit",
        "cost": "it is `problem.path_cost @ rates`",
        "utilization": "it is `loads / problem.capacities`",
        "utilizations": "it is `loads / problem.capacities`",
        "link_utilization": "it is `loads / problem.capacities`",
        "link_loads": "they are `loads`",
        **dict.fromkeys(
            ("dual_objective", "bound", "upper_bound", "dual_bound", "best_bound"),
            "`gap` is the proven distance from it, relative to the gain of doubling every rate",
        ),
        "links": '`to_pandas("links")` is the table of links; `problem.links` is their number',
        **dict.fromkeys(
            ("few_paths", "max_paths"),
            "netnum.solve(problem, few_paths=True), or max_paths=k, is a solve of its own, and its `paths` are few",
        ),
        **dict.fromkeys(("path_rates", "path_flows", "routing", "splits"), "the rates of paths are `rates`"),
        **dict.fromkeys(
            ("solve_time", "runtime", "elapsed", "wall_time", "duration", "setup_time", "cpu_time"), "it is `seconds`"
        ),
        **dict.fromkeys(("n_iter", "num_iters", "num_iterations", "iters", "n_iterations"), "it is `iterations`"),
        **dict.fromkeys(
            ("optimality_gap", "duality_gap", "relative_gap", "rel_gap", "mip_gap", "mipgap"),
            "it is `gap`",
        ),
        **dict.fromkeys(("obj", "obj_val", "objective_value"), "the sum of the utilities is `objective`"),
        **dict.fromkeys(("solver", "solver_name", "algorithm"), "it is `method`"),
        **dict.fromkeys(
            ("to_matrix", "flow_matrix", "rate_matrix", "matrix"),
            '`to_pandas()` has pivot(index="source", columns="destination", values="rate")',
        ),
        **dict.fromkeys(("path", "routes", "route"), '`to_pandas("paths")` has the nodes and the rates of all paths'),
        "success": "`is_optimal` says whether the rates are proven",
        "message": "`status` says how the solve ended",
        "converged": "`is_optimal` says whether the rates are proven",
        "nit": "their number is `iterations`",
        "time": "it is `seconds`",
        "history": "`trace` has it, of netnum.solve(problem, trace=True)",
        "bottleneck": "`bottlenecks` has the link that limits each flow",
        "derivative": "`sensitivity()` has derivatives",
        "gradient": "`sensitivity()` has derivatives",
        "to_csv": "it is `to_pandas().to_csv(path)`",
        "to_json": "it is `save(path)`",
        "to_dataframe": "it is `to_pandas()`",
        "to_frame": "it is `to_pandas()`",
        "df": "it is `to_pandas()`",
        "to_dict": "it is `to_pandas().to_dict()`",
        "summary": "print(solution) has one, and `to_pandas()` a row per flow",
        **dict.fromkeys(("jain", "jain_index", "fairness", "fairness_index"), "it is netnum.jain(solution)"),
    },
    "Problem": {
        "solve": "it is netnum.solve(problem)",
        "max_min": "it is netnum.max_min(problem)",
        "demands": "the caps of flows are `flow_cap`",
        "floors": "the floors of flows are `flow_floor`",
        "guarantees": "the floors of flows are `flow_floor`",
        "costs": "the costs of paths are `path_cost`, those of their links included",
        "link_cost": "the costs of paths are `path_cost`, those of their links included",
        "priorities": "they are `priority`",
        "coefficients": "they are `paths.coefficients`",
        "is_feasible": "netnum.solve(problem).infeasibility says why floors do not fit",
        "routes": "they are `paths`",
        **dict.fromkeys(
            ("n_flows", "num_flows", "num_variables", "n_variables", "nvars", "size", "shape"),
            "the number of its flows is `flows`, of its links `links`, and of its paths `len(paths)`",
        ),
        **dict.fromkeys(("num_paths", "n_paths"), "their number is `len(paths)`"),
        **dict.fromkeys(("describe", "info", "summary", "stats"), "print(problem) has one"),
        "num_links": "their number is `links`",
        "c": "they are `capacities`",
        **dict.fromkeys(
            ("R", "A", "routing", "routing_matrix", "incidence"),
            "the links of paths are `paths`, as `paths.indptr` and `paths.indices`, the columns of a routing matrix",
        ),
        "constraints": "they are `capacities` with `paths`, and `rate_cap`, `flow_cap` and `flow_floor`",
        **dict.fromkeys(
            ("variables", "rates", "value", "objective", "optimal_value", "status", "prices", "duals"),
            "netnum.solve(problem) has the answer: its rates, prices, objective and status",
        ),
        **dict.fromkeys(
            ("add_flow", "add_flows", "add_path", "add_link", "remove_flow", "add_constraint"),
            "a problem does not change: netnum.Problem(network, paths) has all flows; flows that come and go are those "
            "of netnum.Allocator(network)",
        ),
        "to_dict": "it is `to_json()`",
        "from_demands": "netnum.Problem(net, demands) is the problem of demands, over all paths of the network",
        "without": "netnum.Problem(net.without(links), ...), or `with_capacities({(a, b): 0.0})`",
        **dict.fromkeys(
            ("fail_link", "fail_links", "fail", "with_failures", "without_link", "without_links", "remove_link"),
            "`with_capacities({(a, b): 0.0})` fails a link, netnum.failure_study(problem) each edge in turn",
        ),
        "with_demands": "the caps of flows are their demands: `with_flow_caps(demands.volumes)`",
    },
    "Topology": {
        "nodes": "they are `node_names`",
        **dict.fromkeys(
            ("scale", "scaled", "with_capacity", "set_capacity", "set_capacities", "multiply"),
            "`with_capacities(2.0 * net.capacities)` is the network with others",
        ),
        **dict.fromkeys(
            ("describe", "info", "summary", "stats"), "print(net) has one, and `to_pandas()` a row per link"
        ),
        "edges": "they are `links`, and their names `link_names`",
        "capacity": "they are `capacities`, and capacities[net.link(a, b)] is that of one link",
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
        **dict.fromkeys(
            ("add_link", "add_links", "add_edge", "add_edges_from", "add_node", "add_nodes_from"),
            "a network does not change: netnum.topology.from_edges(edges) makes one of all edges, from_networkx(graph) "
            "of a graph",
        ),
        "remove_link": "`without(links)` is the network without them",
        "remove_edge": "`without(links)` is the network without them",
        "draw": "it is `plot()`",
        **dict.fromkeys(
            ("neighbors", "successors", "predecessors", "degree", "adjacency", "has_node", "subgraph"),
            "`to_networkx()` is the graph, which has it",
        ),
        "all_simple_paths": "`k_shortest_paths(source, destination, k)` has the k shortest",
        "write_graphml": "it is `to_graphml(path)`",
        "to_gml": "it is networkx.write_gml(net.to_networkx(), path)",
        "to_json": "it is `save(path)`",
        "to_csv": "it is `to_pandas().to_csv(path)`",
        "to_edges": "`to_pandas()` is the table of links",
        "remove_node": "netnum.failure_study(problem, failures=[...]) takes the links of nodes away",
        "gravity": "demands are made by netnum.demands: gravity(net, total)",
        **dict.fromkeys(
            ("from_edges", "from_networkx", "from_pandas", "from_matrix", "from_graphml", "from_gml", "load"),
            "networks are read by functions of netnum.topology, and by netnum.load",
        ),
        "graph": "it is `to_networkx()`",
        "n_nodes": "it is `len(node_names)`",
        "number_of_nodes": "it is `len(node_names)`",
        "num_nodes": "it is `len(node_names)`",
        "n_links": "it is `len(capacities)`",
        "number_of_edges": "it is `len(capacities)`",
        "num_links": "it is `len(capacities)`",
        "num_edges": "it is `len(capacities)`",
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
        **dict.fromkeys(
            ("allocate", "update", "compute"),
            "`start(paths, weight)` adds flows, `tick(iterations)` moves their rates, and `rates()` has them",
        ),
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
        **dict.fromkeys(("lengths", "length", "hops", "sizes"), "the number of links of each is np.diff(paths.indptr)"),
        "links": "they are `indices`, and `paths[p]` those of path p",
        **dict.fromkeys(("nodes", "node_names", "to_nodes"), "`to_pandas(net)` has the nodes of every path"),
    },
    "Report": {
        "to_frame": "it is `to_pandas()`",
        "to_csv": "it is `to_pandas().to_csv(path)`",
        "timeline": "simulate(..., timeline=True) keeps one",
        "rates": "`mean_rates` has their means, and with simulate(timeline=True) `timeline.rates(flow)` all of them",
        "fct": "they are `completion_times`",
        "fcts": "they are `completion_times`",
        "slowdown": "they are `slowdowns`",
        "throughput": "`bytes_sent` and `time` have it",
        "plot": "it is `plot_fct()`",
        "utilization": "it is `link_utilization`",
        **dict.fromkeys(("mean_fct", "avg_fct", "average_fct", "mean_response_time"), "it is `mean_completion_time`"),
        **dict.fromkeys(("cct", "ccts", "job_times", "coflows"), "they are `coflow_times`"),
        "ends": "they are `starts + completion_times`",
        "gantt": "it is `plot_coflows()`",
        "plot_gantt": "it is `plot_coflows()`",
        "stationary": "`slowing_down` says whether later flows are slower than earlier ones",
    },
    "Workload": {
        "flows": "their number is `len(workload)`",
        "sources_destinations": "they are `sources` and `destinations`",
        "start_times": "they are `arrivals`",
        "times": "they are `arrivals`",
        "join": "workloads are joined by +",
        **dict.fromkeys(("dependencies", "depends_on", "parents", "waits"), "it is `after`, made by `with_after`"),
        **dict.fromkeys(("coflows", "groups", "jobs"), "it is `coflow`, made by `with_coflow`"),
        **dict.fromkeys(("allreduce", "ring_all_reduce", "ring"), "it is `Workload.all_reduce(net, size)`"),
        "concat": "workloads are joined by +",
        "merge": "workloads are joined by +",
        "to_frame": "it is `to_pandas()`",
        "to_dataframe": "it is `to_pandas()`",
    },
    "AlphaFair": {"weights": "they are `weight`", "a": "it is `alpha`"},
    "Demands": {
        "values": "they are `volumes`",
        "demand": "they are `volumes`",
        "demands": "they are `volumes`",
        "pairs": "they are `sources` and `destinations`",
        "scale": "it is `scaled(factor)`",
        "sum": "it is `total`",
        **dict.fromkeys(
            ("top", "head", "largest", "nlargest", "sort", "sorted", "sort_values"),
            '`to_pandas(net)` is a table of them, which has nlargest(10, "demand")',
        ),
        **dict.fromkeys(("describe", "info", "summary", "stats"), "`to_pandas(net)` is a table of them"),
    },
}
"""What is meant, by the name of a module or class and the name that it lacks."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "accuracy": ("tol", "tolerance", "eps"),
    "alpha": ("alphas", "a", "fairness"),
    "callback": ("callbacks", "on_iteration", "monitor"),
    "capacities": ("capacity", "caps", "bandwidth", "bandwidths", "c"),
    "capacity": ("capacities", "cap", "bandwidth", "rate", "link_capacity", "weight"),
    "count": ("n", "num", "number", "size", "pairs", "k"),
    "demand": ("volume", "volumes", "value", "amount", "weight", "traffic"),
    "destination": ("dst", "target", "to", "sink", "dest", "destinations", "t", "end"),
    "destinations": ("destination", "dst", "target", "targets", "sinks", "dests"),
    "ends": ("n_ends", "hosts", "servers"),
    "epsilon": ("eps",),
    "fabric_capacity": ("capacity", "capacities", "bandwidth", "core_capacity", "uplink_capacity"),
    "flow_floor": ("flow_floors", "floor", "floors", "min_rate", "min_rates", "minimum", "guarantee", "lower"),
    "link_cost": ("cost", "costs", "link_costs", "latency"),
    "path_cost": ("path_costs",),
    "path_costs": ("path_cost", "cost", "costs"),
    "priority": ("priorities", "classes", "class_", "precedence"),
    "coefficients": ("coefficient", "fractions", "uses"),
    "flow_cap": (
        "demand",
        "demands",
        "cap",
        "caps",
        "flow_caps",
        "volumes",
        "max_rate",
        "max_rates",
        "upper",
        "bounds",
    ),
    "flow_caps": ("demands", "flow_cap", "caps", "volumes"),
    "flow_floors": ("flow_floor", "floor", "floors", "min_rate", "min_rates", "guarantees"),
    "flows": ("n", "num_flows", "n_flows", "count"),
    "group": ("groups", "flows", "flow", "flow_of_path"),
    "k": ("K", "n", "num_paths", "n_paths", "count", "ports"),
    "links": ("edges", "arcs"),
    "load": ("rate", "utilization", "rho", "lam", "arrival_rate"),
    "max_iterations": ("maxiter", "max_iter", "max_iters", "iterations", "n_iter", "niter", "iters", "num_iterations"),
    "method": ("solver", "algorithm", "algo"),
    "n": ("k", "links", "hops", "iterations", "steps"),
    "net": ("network", "topology", "topo", "graph"),
    "network": ("capacities", "capacity", "net", "topology", "graph", "links", "c"),
    "node_names": ("nodes", "names"),
    "normalizer": ("norm", "normalize", "normalization"),
    "paths": ("routes", "routing", "routing_matrix", "R", "A"),
    "policy": ("scheduler", "scheduling", "allocation", "method", "algorithm"),
    "prices": ("duals", "dual", "y", "lam", "lambda_", "multipliers", "price"),
    "racks": ("leaves", "leafs", "leaf", "n_racks", "tors"),
    "rate_cap": ("rate_caps", "path_cap", "path_caps", "cap", "caps"),
    "rates": ("x", "allocation", "rate", "flow_rates"),
    "seed": ("random_state", "rng", "random_seed"),
    "server_capacity": ("capacity", "capacities", "bandwidth", "host_capacity", "link_capacity"),
    "servers": ("n", "hosts", "leaves", "nodes", "n_servers"),
    "servers_per_rack": ("servers", "hosts", "hosts_per_rack", "hosts_per_leaf", "servers_per_leaf"),
    "size": ("sizes", "s"),
    "sizes": ("size", "distribution"),
    "source": ("src", "from_", "s", "u", "sources", "start"),
    "sources": ("source", "src", "pairs"),
    "spines": ("n_spines", "spine", "cores"),
    "threads": ("n_jobs", "num_threads", "n_threads", "nthreads", "workers", "jobs", "parallel"),
    "time_limit": ("timeout", "max_time", "timelimit", "maxtime"),
    "tol": (
        *("eps", "epsilon", "tolerance", "precision", "accuracy"),
        *("rtol", "atol", "reltol", "abstol", "rel_tol", "abs_tol", "xtol", "ftol"),
    ),
    "total": ("volume", "volumes", "sum", "traffic", "demand", "scale"),
    "until": ("duration", "end", "horizon", "t_end", "stop_time", "end_time", "max_time"),
    "utility": ("utilities", "objective", "fairness"),
    "warm_start": ("x0", "start", "init", "initial", "warm", "prices", "y0"),
    "warmup": ("warm_up", "burn_in", "warmup_time"),
    "weight": ("weights", "w"),
}
"""Other names that people try for a parameter, of whichever function has it."""

OF_SOLVES: dict[str, str] = {
    **dict.fromkeys(("verbose", "disp"), "`progress=True` shows a bar"),
    **dict.fromkeys(
        ("seed", "random_state", "rng"), "nothing is drawn: two solves of the same problem have the same bits"
    ),
    **dict.fromkeys(
        ("device", "gpu", "cuda", "backend"), "it computes on the processor, on several cores by `threads=`"
    ),
    "comm": "over the ranks of a communicator, each with its part of the flows, it is "
    "netnum.distributed.solve(part, comm=comm)",
    "utility": "the problem has it: netnum.Problem(network, paths, utility)",
    "alpha": "the problem's utility has it: netnum.Problem(network, paths, utility=2.0)",
    **dict.fromkeys(("weight", "weights"), "the problem's utility has it: netnum.AlphaFair(weight=...)"),
}
"""What is meant by keywords that neither `solve` nor `solve_many` has."""

KEYWORDS: dict[str, dict[str, str]] = {
    "Topology.paths": dict.fromkeys(
        ("k", "K", "num_paths", "n_paths", "cutoff", "count"),
        "these are all shortest paths, and `net.k_shortest_paths(pairs, k)` up to k for each pair",
    ),
    "Paths": dict.fromkeys(
        ("pairs", "ends", "sources", "destinations"),
        "links and coefficients mostly tell the ends of flows, and netnum.Problem(net, paths, pairs=pairs) states them",
    ),
    "Paths.from_lists": dict.fromkeys(
        ("coefficients", "coefficient"), "netnum.Paths(indptr, indices, coefficients=...) takes them"
    ),
    "Problem": {
        **dict.fromkeys(
            ("coefficients", "coefficient", "fractions", "uses"),
            "the paths have them, as entries of a SciPy routing matrix of shape (links, paths), or "
            "netnum.Paths(..., coefficients=...)",
        ),
        "k": "netnum.Problem(net, net.k_shortest_paths(demands, k)) has up to k paths for each pair",
        **dict.fromkeys(
            ("max_paths", "few_paths"), "netnum.solve(problem, max_paths=k) and few_paths=True of a problem of pairs"
        ),
        **dict.fromkeys(
            ("demands", "demand", "traffic", "volumes", "traffic_matrix"),
            "demands come second, netnum.Problem(net, demands) for all paths of the network; beside paths they are "
            "flow_cap=",
        ),
        "weight": "weights are the utility's: utility=netnum.AlphaFair(weight=...)",
        "weights": "weights are the utility's: utility=netnum.AlphaFair(weight=...)",
        "alpha": "alpha is the utility's: `utility=` takes a number, as in utility=2.0",
        "size": "sizes are the utility's: utility=netnum.MinFct(size)",
        "sizes": "sizes are the utility's: utility=netnum.MinFct(size)",
        "capacities": "the first argument, `network=`, has them: an array of capacities or a Topology",
        "capacity": "the first argument, `network=`, has them: an array of capacities or a Topology",
        "method": "netnum.solve(problem, method) takes it",
        "solver": "netnum.solve(problem, method) takes it",
        "tol": "netnum.solve(problem, tol=...) takes it",
        "sources": "netnum.Problem(net, [(source, destination), ...]) is over all paths of pairs",
        "destinations": "netnum.Problem(net, [(source, destination), ...]) is over all paths of pairs",
    },
    "leaf_spine": dict.fromkeys(
        ("oversubscription", "oversub", "ratio"),
        "`fabric_capacity=` is that of a link to a spine, servers_per_rack * server_capacity / (spines * "
        "oversubscription)",
    ),
    "from_edges": {
        **dict.fromkeys(
            ("capacity", "capacities", "default_capacity"), "every edge has its own: (source, target, capacity)"
        ),
    },
    "from_networkx": {
        **dict.fromkeys(
            ("weight", "delay", "length"),
            'all attributes are kept, and one is a weight in net.k_shortest_paths(pairs, k, weight="delay")',
        ),
        "default_capacity": "`capacity=` names the attribute; where no edge has one, "
        'networkx.set_edge_attributes(g, 10.0, "capacity") gives it',
    },
    **{
        function: {
            **dict.fromkeys(
                ("avoid", "exclude", "without", "forbidden"), "`net.without(links)` is the network without some links"
            ),
            **dict.fromkeys(
                ("source", "destination", "demand", "volume"),
                "netnum.demands.from_pandas(net, frame, source=..., destination=..., demand=...) names the columns",
            ),
            "split": "`net.ecmp_split(pairs)` splits every flow evenly over its shortest paths",
        }
        for function in ("Topology.ecmp", "Topology.ecmp_split", "Topology.k_shortest_paths")
    },
    "solve_many": {
        **OF_SOLVES,
        **dict.fromkeys(
            ("trace", "callback", "tie_cost", "few_paths", "max_paths"), "netnum.solve takes it, for one problem"
        ),
        **dict.fromkeys(
            ("rate_cap", "rate_caps", "priority", "group"),
            "problems that differ in it are a list: netnum.solve_many([one, other])",
        ),
        **dict.fromkeys(
            ("link_cost", "link_costs"),
            "costs are those of paths: a row of `path_costs=` is problem.with_link_costs(link_cost).path_cost",
        ),
    },
    "solve": {
        **OF_SOLVES,
        "log": "`progress=True` shows a bar, `trace=True` keeps every iteration",
        "history": "`trace=True` keeps every iteration",
        "demands": "netnum.solve_many(problem, flow_caps=demands) solves for many, and "
        "`problem.with_flow_caps(demands)` is the problem with others",
        "capacities": "`problem.with_capacities(capacities)` is the problem with others",
        "flow_cap": "`problem.with_flow_caps(flow_cap)` is the problem with others",
        **dict.fromkeys(
            ("k", "K", "paths", "num_paths", "n_paths", "paths_per_flow", "k_paths"),
            "`max_paths=` is the most paths of a flow, of a problem of pairs; "
            "netnum.Problem(net, net.k_shortest_paths(demands, k)) has k paths for each pair",
        ),
    },
    **{
        study: {
            **dict.fromkeys(
                ("few_paths", "max_paths"),
                f"netnum.solve takes it: {study}(netnum.solve(problem, few_paths=True).problem) is over its paths",
            ),
            **dict.fromkeys(("rerouting", "rerouted", "re_route", "keep_paths", "restoration", *more), rerouting),
            "k": "paths are the problem's: netnum.Problem(net, net.k_shortest_paths(demands, k))",
            **dict.fromkeys(("trace", "callback", "tie_cost"), "netnum.solve takes it, for one problem"),
        }
        for study, more, rerouting in (
            (
                "failure_study",
                (),
                "the traffic of pairs, netnum.Problem(net, demands), is routed anew, and the study has "
                "`without_rerouting` beside it; a problem of paths keeps its paths, or has those of `reroute=`, a "
                "function: reroute=lambda net, pairs: net.ecmp_split(pairs)",
            ),
            (
                "upgrade_study",
                ("reroute",),
                "the traffic of pairs, netnum.Problem(net, demands), is routed anew, and a problem of paths keeps them",
            ),
        )
    },
    **{
        function: {
            **dict.fromkeys(
                ("demands", "demand", "volumes", "traffic", "flow_cap", "flow_caps"),
                f"demands are the problem's flow_cap: {function}(netnum.Problem(net, demands)) of volumes by pair, "
                f"{function}(problem.with_flow_caps(demands)) of one per flow",
            ),
            "capacities": "`problem.with_capacities(capacities)` is the problem with others",
            **dict.fromkeys(
                ("method", "tol", "stop", "max_iterations", "warm_start", "threads"),
                "the answer is exact, by one method, and takes no settings of solve",
            ),
        }
        for function in ("concurrent_flow", "min_utilization")
    },
    "Sensitivity.jvp": {
        "link_cost": "costs are those of paths: `path_cost=problem.with_link_costs(link_cost).path_cost`",
        "priority": "each class is a problem by itself, with the rates of the others as floors and caps",
    },
    "Solution.sensitivity": dict.fromkeys(
        ("wrt", "of", "parameters", "with_respect_to", "capacities", "link"),
        "it has the derivatives in all of them: `gains(link)` in the capacity of a link, `jvp` and `vjp` in any",
    ),
    "Solver": {
        **OF_SOLVES,
        **dict.fromkeys(
            ("tol", "stop", "max_iterations", "time_limit", "callback", "progress", "trace"), "its `solve` takes it"
        ),
        **dict.fromkeys(("verbose", "disp"), "`progress=True` of its `solve` shows a bar"),
        **dict.fromkeys(("tie_cost", "few_paths", "max_paths"), "netnum.solve takes it, for one problem"),
    },
    "Allocator": {
        "step_size": "the step of the price rule is an option of the method, such as `gamma=`",
        "weight": "each flowlet has one: `start(paths, weight)`",
        "weights": "each flowlet has one: `start(paths, weight)`",
        "utility": "each flowlet has a weight and an alpha: `start(paths, weight, alpha=...)`",
        "alpha": "each flowlet has one: `start(paths, alpha=...)`",
    },
    "simulate": {
        "verbose": "`progress=True` shows a bar",
        "flows": "the workload has them: netnum.sim.Workload.poisson(net, sizes, flows=...)",
        **dict.fromkeys(
            ("load", "arrival_rate", "rate", "lam", "rho"),
            "the workload has it: netnum.sim.Workload.poisson(net, sizes, load=...)",
        ),
        **dict.fromkeys(
            ("arrivals", "arrival_times", "start_times", "sizes", "mean_size", "sources", "destinations", "pairs"),
            "the workload has them: netnum.sim.Workload(arrivals, sources, destinations, sizes, net=net), or "
            "Workload.poisson(net, sizes, load=...)",
        ),
        "paths": "`routing=` takes them, as in routing=paths",
        "demands": "flows come from a workload: netnum.sim.Workload.poisson(net, sizes, load=...)",
        "failures": "`changes=` has capacities that change, of failed links to 0",
    },
}
"""What is meant by a keyword that a function or class lacks, where that is no other name of one parameter."""

NAMES: dict[str, dict[str, str]] = {
    "utility": {
        **dict.fromkeys(("log", "logarithmic", "pf", "kelly", "nash"), 'the logarithm is "proportional"'),
        **dict.fromkeys(("sqrt", "root", "square-root"), "the square root is utility=0.5, up to a factor of 2"),
        **dict.fromkeys(("linear", "sum", "max-throughput"), 'the sum of rates is "throughput"'),
        **dict.fromkeys(("alpha-fair", "alpha_fair", "alpha"), "a number is the alpha, as in utility=2.0"),
        **dict.fromkeys(("min-fct", "min_fct", "srpt", "sjf"), "short completion times are netnum.MinFct(size)"),
        **dict.fromkeys(("delay", "min-delay", "potential-delay"), "the least potential delay is utility=2.0"),
        "fair": '"max-min" and "proportional" are fair',
        "bandwidth-function": "it is netnum.BandwidthFunction(fair_share, bandwidth)",
    },
}
"""What is meant by a name that is no value of an argument."""

CALLS: dict[str, str] = {
    "Topology": "netnum.topology has from_edges(edges), from_networkx(graph), from_pandas(frame), from_matrix(matrix)",
    "Problem": "net.k_shortest_paths(pairs, k) and net.ecmp(pairs) make paths",
    "Paths": "netnum.Paths.from_lists(paths, net) makes them of lists of links or of nodes",
    "Demands": "netnum.demands has from_pandas(net, frame) and from_matrix(net, matrix), and a dict of volumes by pair "
    "is taken wherever demands are",
    "certify": "solution.certificate is that of a solution, and certify(solution.problem, solution.rates, "
    "solution.prices) computes it again",
    **dict.fromkeys(
        ("solve", "solve_many", "Solver", "failure_study", "upgrade_study"),
        "netnum.Problem(network, paths, utility) makes a problem",
    ),
    **dict.fromkeys(
        ("min_utilization", "concurrent_flow"),
        "netnum.Problem(net, demands) makes a problem of demands, such as {(a, b): volume}, over all paths",
    ),
    "simulate": "netnum.sim.Workload(arrivals, sources, destinations, sizes, net=net) makes a workload of known flows, "
    "Workload.poisson(net, sizes, load, flows=...) draws one",
    "Topology.without": "links are a list, in which a pair of nodes is the edge that joins them: [(a, b)]",
    "AlphaFair": "an alpha per flow is an array, AlphaFair([1.0, 2.0])",
}
"""What makes the arguments of a function or class, for errors about those that it is called with."""

CHANGES: dict[str, dict[str, str]] = {
    "Problem": {
        "capacities": "with_capacities(capacities)",
        "flow_cap": "with_flow_caps(flow_cap)",
        "flow_floor": "with_flow_floors(flow_floor)",
        "path_cost": "with_path_costs(path_cost)",
        "priority": "with_priorities(priority)",
        "rate_cap": "with_rate_caps(rate_cap)",
        "utility": "with_utility(utility)",
    },
    "Topology": {"capacities": "with_capacities(capacities)"},
    "Workload": {
        "weights": "with_weights(weights)",
        "after": "with_after(after, delay)",
        "delay": "with_after(after, delay)",
        "coflow": "with_coflow(coflow)",
        "production": "with_production(rates, buffer)",
        "buffer": "with_production(rates, buffer)",
        "arrivals": "shifted(seconds)",
    },
}
"""The methods that make an object with another value of an attribute, which cannot be set."""

ENTRIES: dict[str, str] = {
    "Solution": "`rate(a, b)`, `price(a, b)` and `load(a, b)` are by the names of nodes",
    "Topology": "`link(a, b)` is the number of the link from a to b, and `capacities[net.link(a, b)]` its capacity",
    "Problem": "`capacities`, `paths` and `utility` are what it has",
    "Sensitivity": "`gains(link)` is a table of the flows, and `d_rates_d_capacity[flow, link]` a number",
}
"""What has the entries of objects that have none of their own."""

CONTENTS: dict[str, str] = {
    "Solution": "`flow_rates` has the rate of every flow, and `prices` the price of every link",
    "Topology": "`node_names` are its nodes, `links` its links, and `to_networkx()` is the graph",
    "Problem": "`flows` and `links` are their numbers, and `paths` has the paths",
}
"""What is counted and searched in place of objects that have entries of several kinds."""

MULTIPLES: dict[str, str] = {
    "Topology": "`with_capacities(2.0 * net.capacities)` is the network with others",
    "Demands": "`scaled(2.0)` has volumes twice as large",
}
"""What has the multiples of objects that are no numbers."""

ARRAYS: dict[str, str] = {
    "Solution": "`rates` (of paths), `flow_rates`, `prices` and `loads` are its arrays",
    "Solutions": "`rates` (of paths), `flow_rates`, `prices` and `loads` are its arrays",
    "MulticommodityFlow": "`rates` (of paths), `flow_rates`, `prices` and `loads` are its arrays",
    "Problem": "`capacities`, `group` and others are its arrays",
    "Topology": "`capacities` and `links` are its arrays",
    "Demands": "`volumes` is its array, and `to_matrix(net)` makes one",
}
"""The arrays of objects that NumPy would take for one entry of an array of objects."""

PLACES = ("topology", "demands", "sim")
"""The modules whose names are also looked for at the top."""

SUBCLASSED = 1 << 10
"""The flag of classes that may have subclasses (Py_TPFLAGS_BASETYPE)."""


class MissingAttribute(AttributeError):
    """An attribute that does not exist, with what is meant or what is near.

    The text is made when it is read: `hasattr` and `getattr` with a default, which ask objects for what they are, take
    some of these errors for each call and read none.
    """

    def __init__(self, owner: Any, kind: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._asked = owner, kind, name, known

    def __str__(self) -> str:
        owner, kind, name, known = self._asked
        what = f"module {kind!r}" if isinstance(owner, ModuleType) else f"{kind!r} object"
        meant = None if name.startswith("_") else _meant(owner, kind, name, known())
        return f"{what} has no attribute {name!r}{f': {meant}' if meant else ''}"

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


# Tracebacks show it as what it is caught as.
MissingAttribute.__module__ = "builtins"
MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"


def answer_in(modules: Iterable[ModuleType]) -> None:
    """Makes `MissingAttribute` the error for names that these modules lack."""

    def answer(module: ModuleType) -> Callable[[str], Any]:
        def __getattr__(name: str) -> Any:
            raise MissingAttribute(module, module.__name__, name, lambda: module.__all__)

        return __getattr__

    for module in modules:
        module.__getattr__ = answer(module)  # type: ignore[assignment, method-assign]


def answer_for(classes: Iterable[type]) -> None:
    """Makes errors with the right word of attributes that objects of these classes lack, or that cannot be set."""

    def __getattr__(self: Any, name: str) -> Any:
        raise MissingAttribute(self, type(self).__name__, name, lambda: dir(type(self)))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        kind = type(self).__name__
        if not hasattr(type(self), name):
            __getattr__(self, name)
        method = CHANGES.get(kind, {}).get(name)
        instead = f": `{method}` makes another {kind} with others" if method else ""
        raise AttributeError(f"attribute {name!r} of {kind!r} objects cannot be set{instead}")

    def __getitem__(self: Any, key: Any) -> Any:
        kind = type(self).__name__
        raise TypeError(f"{kind!r} object has no entry {key!r}: {ENTRIES[kind]}")

    def __len__(self: Any) -> int:
        kind = type(self).__name__
        raise TypeError(f"{kind!r} object has no length: {CONTENTS[kind]}")

    def __contains__(self: Any, key: Any) -> bool:
        kind = type(self).__name__
        raise TypeError(f"{kind!r} object is no collection that has {key!r}: {CONTENTS[kind]}")

    def __bool__(self: Any) -> bool:
        return True

    def __mul__(self: Any, _: Any) -> Any:
        kind = type(self).__name__
        raise TypeError(f"{kind!r} object is no number: {MULTIPLES[kind]}")

    def __array__(self: Any, *_: Any, **__: Any) -> Any:
        kind = type(self).__name__
        raise TypeError(f"{kind!r} object is no array: {ARRAYS[kind]}")

    for one in classes:
        one.__getattr__ = __getattr__  # type: ignore[attr-defined]
        if one.__name__ in ARRAYS:
            one.__array__ = __array__  # type: ignore[attr-defined]
        if one.__name__ in MULTIPLES:
            for operation in ("__mul__", "__rmul__", "__truediv__"):
                setattr(one, operation, __mul__)
        if not _is_final(one):
            continue
        one.__setattr__ = __setattr__  # type: ignore[method-assign, assignment]
        if one.__name__ in ENTRIES:
            one.__getitem__ = __getitem__  # type: ignore[attr-defined, index]
            # A class with entries would be iterable by them, and pandas take one object for many.
            one.__iter__ = None  # type: ignore[attr-defined]
        if one.__name__ in CONTENTS:
            for operation, answer in (("__len__", __len__), ("__contains__", __contains__), ("__bool__", __bool__)):
                setattr(one, operation, answer)


def _is_final(one: type) -> bool:
    """Whether it is a class of Rust, whose objects have no attributes but its own."""
    return not one.__flags__ & SUBCLASSED and "__dict__" not in dir(one)


def _meant(owner: Any, kind: str, name: str, known: Iterable[str]) -> str:
    if name in ATTRIBUTES.get(kind, {}):
        return ATTRIBUTES[kind][name]
    for place in PLACES if kind == "netnum" else ():
        if name in getattr(owner, place).__all__:
            return f"it is netnum.{place}.{name}"
    return did_you_mean(name, [each for each in known if not each.startswith("_")])


def meant(kind: str, name: str) -> str | None:
    """What is meant by a name that is no value of an argument, if the table has it."""
    return NAMES[kind].get(name)
