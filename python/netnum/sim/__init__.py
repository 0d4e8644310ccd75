"""Flow-level time: flows arrive, share a network as a policy says, and end when their bytes are through.

::

    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    workload = netnum.sim.Workload.poisson(net, sizes=netnum.sim.sizes.web_search, load=0.6, flows=100_000)
    report = netnum.sim.simulate(net, workload, policy="max-min")
    report.slowdowns, report.link_utilization
    print(report.summary())

The model is fluid: rates change at events and are constant in between; there are no packets and no queues. Sizes are in
bytes, capacities and rates in bit/s, times in seconds. That is unlike `netnum.solve`, where any one unit of capacities
and rates will do: a backbone in Mbit/s, such as those of `netnum.topology.backbone`, is simulated as
``net.with_capacities(1e6 * net.capacities)``. A split of it (`Split`) stays what it is: shares have no unit.
"""

from .._core import (
    Flows,
    Network,
    Policy,
    Report,
    Routing,
    Sizes,
    Split,
    UpdateTraffic,
    Workload,
    all_to_all,
    incast,
    log_normal,
    permutation,
    policies,
    routings,
    simulate,
)
from . import sizes

__all__ = [
    "Flows",
    "Network",
    "Policy",
    "Report",
    "Routing",
    "Sizes",
    "Split",
    "UpdateTraffic",
    "Workload",
    "all_to_all",
    "incast",
    "log_normal",
    "permutation",
    "policies",
    "routings",
    "simulate",
    "sizes",
]
