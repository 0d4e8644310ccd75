"""FlowBender, §4.2.5: jobs of 1 MB that several workers send to one server at once."""

import flowbender
import numpy as np
from page import Page

from netnum import sim

FAN_INS = (4, 8, 16, 32)
LOAD = 0.4
JOB = 1e6  # bytes


def jobs(count, fan_in, seed):
    """Jobs at random times, each with a random receiver and so many random workers among the others."""
    random = np.random.default_rng(seed)
    gap = 8 * JOB / (LOAD * 32 * flowbender.CAPACITY)
    ends = np.array([random.permutation(128)[: fan_in + 1] for _ in range(count)])
    arrivals = np.repeat(random.exponential(gap, count).cumsum(), fan_in)
    receivers = np.repeat(ends[:, 0], fan_in)
    return sim.Workload(arrivals, ends[:, 1:].ravel(), receivers, np.full(count * fan_in, JOB / fan_in))


def main():
    """Measures at every fan-in."""
    page = Page(
        "FlowBender, §4.2.5: partition-aggregate",
        "Jobs of 1 MB, sent in equal parts by n random servers of 128 to another one at once, at 40 % of the "
        "bisection. Mean time until the last part is there, as a part of ECMP's.",
    )
    net = flowbender.fabric()
    count = 1500 if page.small else 10_000
    found = {}
    for fan_in in FAN_INS:
        workload = jobs(count, fan_in, seed=1)
        times = {}
        for name in ("ECMP", "FlowBender", "spraying"):
            report = sim.simulate(net, workload, "max-min", flowbender.ROUTINGS[name])
            times[name] = report.completion_times.reshape(count, fan_in).max(axis=1).mean()
        found[fan_in] = flowbender.relative(times) | {"ms": 1e3 * times["ECMP"]}
    previous = None
    for fan_in, paper in zip(FAN_INS, (".25", "", "", ".5"), strict=True):
        part = found[fan_in]["FlowBender"]
        accept = (None, 0.92) if previous is None else (previous, 1.01)
        small = (None, 0.95) if previous is None else (previous - 0.02, 1.02)
        page.row(f"FlowBender, n = {fan_in}", paper, part, accept=accept, small=small, form=".3f")
        previous = part
    for fan_in in FAN_INS:
        page.row(f"spraying, n = {fan_in}", "", found[fan_in]["spraying"], form=".3f")
    for fan_in in FAN_INS:
        page.row(f"ECMP in ms, n = {fan_in}", "", found[fan_in]["ms"], form=".3f")
    page.note(
        f"""The receiver's own link needs {8e3 * JOB / flowbender.CAPACITY:g} ms for a job, so that no routing can be
        much faster than ECMP is in a fluid. The paper's factors of 4 and 2 come from drops and timeouts."""
    )
    page.plot(draw(found), "Mean completion times of jobs as parts of ECMP's, by fan-in")
    page.finish()


def draw(found):
    """Parts of ECMP's over the fan-in."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name in ("FlowBender", "spraying"):
        axes.plot(FAN_INS, [found[fan_in][name] for fan_in in FAN_INS], "o-", label=name)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="workers of a job", ylabel="mean time of a job, as a part of ECMP's", ylim=(0, 1.05))
    axes.legend()
    return figure


if __name__ == "__main__":
    main()
