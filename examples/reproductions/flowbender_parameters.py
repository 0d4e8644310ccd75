"""FlowBender, §4.2.6: how much N and T decide."""

import flowbender
from page import Page

from netnum import sim

TIMES = (1, 2, 4, 8)
THRESHOLDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
LOAD = 0.6


def main():
    """Measures every N with T = 5 %, and every T with N = 1."""
    page = Page(
        "FlowBender, §4.2.6: N and T",
        "Web search flows between pods of a fat tree at a load of 0.6 (see all to all). Mean completion times as "
        "parts of those with N = 1 and T = 5 %.",
    )
    net = flowbender.fabric()
    flows = 2000 if page.small else 15_000
    workload = flowbender.all_to_all(net, LOAD, flows, flowbender.between_pods())

    def measured(**options):
        """The mean completion time, and moves per flow."""
        report = sim.simulate(net, workload, "max-min", sim.Routing("flow-bender", rtt=flowbender.RTT, **options))
        return report.mean_completion_time, report.route_changes / flows

    by_times = {times: measured(n=times) for times in TIMES}
    default = by_times[1][0]
    for times in TIMES[1:]:
        accept, small = (0.95, 1.05), (0.92, 1.08)
        page.row(f"N = {times}", "marginal", by_times[times][0] / default, accept=accept, small=small, form=".3f")
    for times in TIMES:
        page.row(f"moves per flow, N = {times}", "", by_times[times][1], form=".1f")
    marks = {"saturated": {}, "DCTCP": {"marking": flowbender.DCTCP["marking"]}}
    thresholds = (0.05, 0.25, 1.0) if page.small else THRESHOLDS
    by_threshold = {name: {t: measured(t=t, **marks[name])[0] for t in thresholds} for name in marks}
    for name, means in by_threshold.items():
        for threshold in thresholds:
            page.row(f"T = {threshold}, {name} marks", "", means[threshold] / means[0.05], form=".3f")
    page.note(
        """Where congested links mark everything, T hardly matters: what a flow sends in a round trip is marked
        altogether or not at all, but for the round trips in which that changes. With DCTCP's marks it decides which
        flows stay. At T = 1 no flow moves, as under ECMP."""
    )
    page.plot(draw(by_times, by_threshold, default), "Mean completion times over N, and over T for two kinds of marks")
    page.finish()


def draw(by_times, by_threshold, default):
    """A panel for N and one for T."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained", sharey=True)
    left.plot(list(by_times), [mean / default for mean, _ in by_times.values()], "o-")
    left.set(xlabel="N", ylabel="mean completion time, as a part of N = 1, T = 5 %", xscale="log")
    left.set_xticks(TIMES, TIMES)
    left.minorticks_off()
    for name, means in by_threshold.items():
        right.plot(list(means), [mean / default for mean in means.values()], "o-", label=f"{name} marks")
    right.set(xlabel="T", xscale="log", ylim=(0, None))
    right.legend()
    return figure


if __name__ == "__main__":
    main()
