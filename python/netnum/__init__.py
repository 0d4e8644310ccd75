"""Network utility maximization: rates of flows that maximize the sum of their utilities, with a proof of the gap.

Each flow has a utility and one or more paths, each link a capacity; `solve` finds the rates::

    import netnum

    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
    paths = net.ecmp(net.random_pairs(1000, seed=1), seed=1)
    solution = netnum.solve(netnum.Problem(net, paths, "proportional"))
    solution.rates, solution.prices, solution.gap

Besides what stands here, `netnum.topology` has networks and files of them, `netnum.demands` the volumes between their
nodes, `netnum.sim` the simulation of flows that start and end, and `netnum.distributed` solves over many machines.
`netnum.torch` and `netnum.jax` make the optimum a layer of PyTorch and of JAX. `netnum.endpoint`, where netnum was
built with its service, paces the sockets of a process at the rates of an allocator.
Continue with `help(netnum.solve)`, `help(netnum.Problem)`, `help(netnum.Allocator)` and `help(netnum.topology)`.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from . import _arguments, _core, _hints, demands, distributed, sim, topology
from ._core import *  # noqa: F403 (the classes, which `_core.__all__` lists)
from ._core import (
    __version__,
    certify,
    check_utility,
    concurrent_flow,
    f_norm,
    fill,
    max_min,
    methods,
    min_utilization,
    solve,
    solve_many,
    u_norm,
)
from ._fairness import jain, price_of_fairness, relative_rates
from ._max_min_rates import MaxMinRates
from ._multicommodity_flow import MulticommodityFlow
from ._saved import load
from ._show.frames import to_pandas
from ._studies.failures import FailureStudy, failure_study
from ._studies.upgrades import UpgradeStudy, upgrade_study
from .demands import Demands

__all__ = [
    "Demands",
    "FailureStudy",
    "MaxMinRates",
    "MulticommodityFlow",
    "UpgradeStudy",
    "__version__",
    "certify",
    "check_utility",
    "concurrent_flow",
    "demands",
    "distributed",
    "f_norm",
    "failure_study",
    "fill",
    "jain",
    "load",
    "max_min",
    "methods",
    "min_utilization",
    "price_of_fairness",
    "relative_rates",
    "sim",
    "solve",
    "solve_many",
    "to_pandas",
    "topology",
    "u_norm",
    "upgrade_study",
]
__all__ += _core.__all__

#: Imported when they are first used: the layers take seconds, and endpoints are not in every build.
_LATER = ("torch", "jax", "endpoint")


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in _LATER if name in globals())])


_arguments.answer_in((_sys.modules[__name__], demands, sim, topology))
_hints.answer_in((demands, sim, topology))
_hints.answer_for(
    thing
    for module in (globals(), vars(sim))
    for thing in map(module.get, module["__all__"])
    if isinstance(thing, type) and not issubclass(thing, Exception)
)

# Type checkers would take every name for one of this module.
if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        if name in _LATER:
            return _importlib.import_module(f".{name}", __name__)
        raise _hints.MissingAttribute(_sys.modules[__name__], "netnum", name, lambda: __all__)
