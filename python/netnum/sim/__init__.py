"""Flow-level simulation: flows arrive, get rates from a policy, and end when all their bytes are sent.

::

    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    workload = netnum.sim.Workload.poisson(net, sizes="web_search", load=0.6, duration=1.0)
    report = netnum.sim.simulate(net, workload, policy="max-min", warmup=0.1)
    report.slowdowns, report.link_utilization
    print(report.summary())

The model is fluid: rates change at events and are constant in between; there are no packets and no queues. Sizes are in
bytes, capacities and rates in bit/s, times in seconds. `netnum.solve`, in contrast, takes any unit of capacities and
rates: a backbone in Mbit/s, such as those of `netnum.topology.backbone`, is simulated as
``net.with_capacities(1e6 * net.capacities)``. The shares of a `Split` have no unit and do not change.
"""

from .._calls.sweeps import Sweep, sweep
from .._core import (
    EndedFlows,
    Flows,
    Network,
    Packets,
    Policy,
    Report,
    Routing,
    Sizes,
    Split,
    Timeline,
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
from .._show.plots import plot_fct
from . import sizes

__all__ = [
    "EndedFlows",
    "Flows",
    "Network",
    "Packets",
    "Policy",
    "Report",
    "Routing",
    "Sizes",
    "Split",
    "Sweep",
    "Timeline",
    "UpdateTraffic",
    "Workload",
    "all_to_all",
    "incast",
    "log_normal",
    "permutation",
    "plot_fct",
    "policies",
    "routings",
    "simulate",
    "sizes",
    "sweep",
]


def __dir__() -> list[str]:
    return sorted(__all__)
