"""What the evaluations of RAX have in common: applications of random speed, the schemes, and how they compare."""

import numpy as np

from netnum import sim

# Flows of more than 100 kB and at most 10 MB are medium.
MEDIUM = (1e5, 1e7)
# By link, Q_1 and the seconds between two looks at the estimates.
AT_1G = {"first": 1280e-6, "interval": 400e-6}
AT_10G = {"first": 160e-6, "interval": 20e-6}


def with_applications(workload, capacity, buffer=float("inf")):
    """The flows with rates of production as in the paper's Fig. 2: from 0.1 to 100 Gbit/s on links of 1 Gbit/s.

    Logarithms are normal around half way, with a standard deviation of a sixth of the way; for faster links the rates
    are as much higher, as in the paper.
    """
    scale = capacity / 1e9
    rates = sim.log_normal(len(workload), 3.16e9 * scale, 1.15, bounds=(0.1e9 * scale, 100e9 * scale), seed=1)
    return workload.with_production(rates, buffer)


def mean_times(net, workload, policies, routing="ecmp"):
    """By policy, the mean completion time of all flows and of the medium ones."""
    means = {}
    medium = (workload.sizes > MEDIUM[0]) & (workload.sizes <= MEDIUM[1])
    for name, policy in policies.items():
        times = sim.simulate(net, workload, policy, routing, seed=1).completion_times
        means[name] = np.array([times.mean(), times[medium].mean()])
    return means


def percent(ours, other):
    """By how much one is above the other, in percent."""
    return 100 * (ours / other - 1)


def bars(values, classes, ylabel):
    """Bars by class, one for each name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    places, width = np.arange(len(classes)), 0.8 / len(values)
    for place, (name, heights) in enumerate(values.items()):
        axes.bar(places + (place + 0.5) * width - 0.4, heights, width, label=name)
    axes.set_xticks(places, classes)
    axes.set(ylabel=ylabel)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    return figure
