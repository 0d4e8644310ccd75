"""RAX, Fig. 13: how much its parameters matter, the first threshold Q_1 and the ratio E of each to the one before."""

import numpy as np
import rax
from page import Page

import netnum
from netnum import sim

# Of the usual Q_1.
FIRST = (0.75, 1.5, 2, 4)
BASES = (3, 4, 5)


def changes(net, workloads, usual, routing):
    """Mean time against the usual parameters, in percent by workload: by Q_1 over the usual one, and by E."""

    def means(**options):
        policy = {"rax": sim.Policy("rax", **{**usual, **options})}
        return np.array([rax.mean_times(net, workload, policy, routing)["rax"][0] for workload in workloads])

    at_usual = means()
    firsts = {part: rax.percent(means(first=part * usual["first"]), at_usual) for part in FIRST}
    return firsts, {base: rax.percent(means(base=base), at_usual) for base in BASES}


def standard_error(values):
    """Of a mean over workloads."""
    return values.std(ddof=1) / len(values) ** 0.5


def on_receiver(flows, seeds):
    """Nine servers that send to one over 1 Gbit/s, send buffers of 2 MB: the paper's testbed."""
    net = netnum.topology.star(10, capacity=1e9)
    pairs = sim.incast(net, 0, 9)
    workloads = [
        sim.Workload.poisson(net, sim.sizes.web_search, 0.8, flows=flows, pairs=pairs, seed=seed) for seed in seeds
    ]
    return changes(net, [rax.with_applications(one, 1e9, buffer=2e6) for one in workloads], rax.AT_1G, "ecmp")


def on_fabric(flows, seeds):
    """144 servers at 10 Gbit/s, send buffers without limit, as in §V-B."""
    net = netnum.topology.leaf_spine(9, 16, 4, server_capacity=10e9, fabric_capacity=40e9)
    workloads = [sim.Workload.poisson(net, sim.sizes.web_search, 0.8, flows=flows, seed=seed) for seed in seeds]
    return changes(net, [rax.with_applications(one, 10e9) for one in workloads], rax.AT_10G, "spray")


def draw(measured):
    """Mean times against both parameters, on both networks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    for place, (axes, label, usual) in enumerate(
        zip(figure.subplots(1, 2, sharey=True), ("Q_1 / usual", "E"), (1, 2), strict=True)
    ):
        for name, values in measured.items():
            points = sorted([(usual, 0), *((at, change.mean()) for at, change in values[place].items())])
            axes.plot(*zip(*points, strict=True), "o-", label=name)
        axes.axhspan(-6, 6, color="0.9", zorder=0)
        axes.set(xlabel=label, ylabel="mean time against the usual, %" if place == 0 else None)
        axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "RAX, Fig. 13: its parameters",
        "One receiver of 1 Gbit/s at load 0.8, as in §V-A. The mean completion time of all flows for other thresholds "
        "Q_1 and ratios E, against Q_1 = 1280 µs and E = 2.",
    )
    receiver = on_receiver(*((4000, [1]) if page.small else (60_000, range(1, 13))))
    measured = {"one receiver": receiver}
    firsts, bases = receiver
    for part, change in firsts.items():
        first = 1e6 * part * rax.AT_1G["first"]
        page.row(f"Q_1 = {first:g} µs, %", "stable", change.mean(), accept=(-6, 6), form=".1f")
    for base, change in bases.items():
        misses = (-8, -6) if base == 3 else None
        page.row(f"E = {base}, %", "stable", change.mean(), accept=(-6, 6), form=".1f", misses=misses)
    if not page.small:
        measured["fabric"] = on_fabric(30_000, range(1, 5))
        firsts, bases = measured["fabric"]
        for part, change in firsts.items():
            first = 1e6 * part * rax.AT_10G["first"]
            misses = (-10, -6) if part in (2, 4) else None
            page.row(f"fabric: Q_1 = {first:g} µs, %", "", change.mean(), accept=(-6, 6), form=".1f", misses=misses)
        for base, change in bases.items():
            page.row(f"fabric: E = {base}, %", "", change.mean(), accept=(-6, 6), form=".1f")
        error = max(
            standard_error(change) for of_network in measured.values() for row in of_network for change in row.values()
        )
        page.note(
            f"Means over {len(receiver[1][3])} workloads with one receiver and {len(bases[3])} on the fabric; standard "
            f"errors are at most {error:.1f}."
        )
    page.note(
        """The paper varies Q_1 from 960 to 1920 µs, 0.75 to 1.5 times the usual, and E from 2 to 5, on its testbed with
        one receiver. On the fabric, where send buffers have no limit, Q_1 matters more. Where a bound is missed below
        0, thresholds that are higher or further apart than the paper's do better than those: eight levels from its Q_1
        on with E = 2 end early, and tell long flows apart no more."""
    )
    page.plot(draw(measured), "Mean completion time against Q_1 and against E")
    page.finish()


if __name__ == "__main__":
    main()
