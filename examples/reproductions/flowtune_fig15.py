"""Flowtune, Fig. 15: how fair rates are, by the mean of their logarithms."""

import flowtune
import numpy as np
from page import Page

from netnum import sim

LOADS = (0.25, 0.5, 0.75)

# By name: the seconds between iterations that a new flow waits for, or none, and the policy.
POLICIES = {
    "ned, F-NORM, every 10 µs": (10e-6, {}),
    "ned, F-NORM, every 1 µs": (1e-6, {}),
    "fast-ned, fill, every 10 µs": (10e-6, {"method": "fast-ned", "normalizer": "fill"}),
    "fast-ned, fill, every 1 µs": (1e-6, {"method": "fast-ned", "normalizer": "fill"}),
    "optimum": (None, "proportional"),
    "max-min": (None, "max-min"),
    "SRPT": (None, "srpt"),
}


def scores(load, duration):
    """The mean of log₂ rate by policy: two numbers, over all of a flow's time and over that in which it has a rate."""
    workload = sim.Workload.poisson(flowtune.NET, flowtune.sizes("web"), load, duration=duration, seed=1)
    means = {}
    for name, (tick, policy) in POLICIES.items():
        if tick is not None:
            policy = sim.Policy("flowtune", interval=tick, line_rate=True, update_threshold=0.0, **policy)
        times = sim.simulate(flowtune.NET, workload, policy, seed=1).completion_times
        waits = 0.0 if tick is None else np.ceil(workload.arrivals / tick) * tick - workload.arrivals
        means[name] = [np.log2(8 * workload.sizes / (times - wait)).mean() for wait in (0.0, waits)]
    return means


def draw(by_load):
    """Scores above max-min's over the load."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    loads = list(by_load)
    for name, (tick, _) in POLICIES.items():
        above = [means[name][1] - means["max-min"][1] for means in by_load.values()]
        axes.plot(loads, above, "o--" if tick is None else "o-", label=name)
    axes.set(xlabel="load", ylabel="mean log₂ rate, above max-min's", xticks=loads)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def main():
    """Measures at all loads."""
    page = Page(
        "Flowtune, Fig. 15: fairness",
        "Web flows on 9 racks of 16 servers (10 Gbit/s) and 4 spines. The mean of log₂ rate, above that of "
        "max-min fair sharing: 1 is twice the rate for every flow. A flow's rate is its size over the time "
        "from its first iteration to its end.",
    )
    loads, duration = (LOADS[:1], 1e-3) if page.small else (LOADS, 4e-3)
    by_load = {load: scores(load, duration) for load in loads}
    reported = {"ned, F-NORM, every 10 µs": "above all others", "SRPT": ".45 to .83 below ned (pFabric)"}
    for load, means in by_load.items():
        for name in POLICIES:
            if name == "max-min":
                continue
            accept = (0.0, None) if name == "optimum" else None
            above = means[name][1] - means["max-min"][1]
            page.row(f"load {load}: {name}", reported.get(name, ""), above, accept=accept, form=".3f")
    worst = [np.subtract(*means["ned, F-NORM, every 10 µs"]) for means in by_load.values()]
    page.note(
        """The paper compares with packet-level DCTCP, pFabric, XCP and CoDel, whose losses are not here. SRPT,
        which is pFabric without packets, scores highest: most web flows are of a few packets, SRPT serves those
        at once, and they decide the mean. So no claim is made against it."""
    )
    page.note(
        f"""With the wait for the first iteration, ned's score at 10 µs is lower by up to {-min(worst):.1f}: half of
        the flows need no more than one to three microseconds. The paper's servers start with TCP meanwhile."""
    )
    page.note(
        """With an iteration every 10 µs rates are late, and F-NORM lowers them. Every 1 µs they are above the
        optimum's in this mean from a load of 0.5 on: prices do not know of new flows yet, which therefore get a
        little more than their share at first, and half of them are gone after one to three iterations."""
    )
    page.plot(draw(by_load), "Mean log₂ rate above max-min's over the load, for each policy")
    page.finish()


if __name__ == "__main__":
    main()
