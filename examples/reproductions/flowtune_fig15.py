"""Flowtune, Fig. 15: how fair rates are, by the mean of their logarithms."""

import flowtune
import numpy as np
from page import Page

from netnum import sim

LOADS = (0.25, 0.5, 0.75)
DURATION = 10e-3  # seconds of arrivals; all flows end

FLOWTUNE = "ned, F-NORM, 10 µs"
POLICIES = {
    FLOWTUNE: "flowtune",
    "ned, F-NORM, 1 µs": sim.Policy("flowtune", interval=1e-6),
    "fast-ned, fill, 10 µs": sim.Policy("flowtune", method="fast-ned", normalizer="fill"),
    "fast-ned, fill, 1 µs": sim.Policy("flowtune", method="fast-ned", normalizer="fill", interval=1e-6),
    "optimum": "proportional",
    "max-min": "max-min",
    "SRPT": "srpt",
}


def scores(load, duration):
    """The mean of log₂ rate by policy, a flow's rate being its size over its time."""
    workload = sim.Workload.poisson(flowtune.NET, flowtune.sizes("web"), load, duration=duration, seed=1)
    means = {}
    for name, policy in POLICIES.items():
        report = sim.simulate(flowtune.NET, workload, policy, seed=1)
        means[name] = np.log2(8 * workload.sizes / report.completion_times).mean()
    return means
