"""RAX, Fig. 13: how much its two parameters matter, the first threshold Q_1 and the ratio E of each to the one before."""

import rax
from page import Page

import netnum
from netnum import sim

FIRST = (120e-6, 160e-6, 240e-6, 320e-6, 640e-6)
BASES = (2, 3, 4, 5)


def draw(firsts, bases):
    """Mean times against both parameters."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    for axes, values, label in zip(figure.subplots(1, 2), (firsts, bases), ("Q_1, µs", "E"), strict=True):
        axes.plot(list(values), list(values.values()), "o-")
        axes.axhspan(-6, 6, color="0.9", zorder=0)
        axes.set(xlabel=label, ylabel="mean time against Q_1 = 160 µs, E = 2, %")
        axes.grid(alpha=0.3)
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "RAX, Fig. 13: its parameters",
        "The fabric of §V-B at load 0.8. The mean completion time of all flows for other thresholds Q_1 and ratios E, "
        "against Q_1 = 160 µs and E = 2.",
    )
    net = netnum.topology.leaf_spine(9, 16, 4, server_capacity=10e9, fabric_capacity=40e9)
    flows = 3000 if page.small else 30_000
    workload = sim.Workload.poisson(net, sim.sizes.web_search, 0.8, flows=flows, seed=1)
    workload = rax.with_applications(workload, 10e9)

    def mean(**options):
        policy = {"rax": sim.Policy("rax", **{**rax.AT_10G, **options})}
        return rax.mean_times(net, workload, policy, "spray")["rax"][0]

    usual = mean()
    firsts = {1e6 * first: rax.percent(mean(first=first), usual) for first in FIRST}
    bases = {base: rax.percent(mean(base=base), usual) for base in BASES}
    for first, change in firsts.items():
        page.row(f"Q_1 = {first:g} µs, %", "stable", change, accept=(-6, 6), small=(-12, 12), form=".1f")
    for base, change in bases.items():
        page.row(f"E = {base}, %", "stable", change, accept=(-6, 6), small=(-12, 12), form=".1f")
    page.note(
        """The paper varies Q_1 from 960 to 1920 µs on links of 1 Gbit/s, 0.75 to 1.5 times the usual, and E from 2 to
        5; here Q_1 goes up to 4 times."""
    )
    page.plot(draw(firsts, bases), "Mean completion time against Q_1 and against E")
    page.finish()


if __name__ == "__main__":
    main()
