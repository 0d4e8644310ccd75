"""RAX, §V-B: 144 servers under 9 leaf and 4 spine switches, against schemes that know less and more."""

import rax
from page import Page

import netnum
from netnum import sim

NET = netnum.topology.leaf_spine(9, 16, 4, server_capacity=10e9, fabric_capacity=40e9)
LOADS = (0.4, 0.6, 0.8, 0.95)
SCHEMES = {
    "fair": "max-min",
    "PIAS": "pias",
    "pFabric by time": sim.Policy("srpt", by="time"),
    "pFabric by size": sim.Policy("srpt", by="size"),
    "RAX": sim.Policy("rax", **rax.AT_10G),
    "RAX+": sim.Policy("rax+", **rax.AT_10G),
}


def measured(load, flows, buffer=float("inf"), schemes=SCHEMES):
    """Mean times of all and of medium flows, by scheme."""
    workload = sim.Workload.poisson(NET, sim.sizes.web_search, load, flows=flows, seed=1)
    return rax.mean_times(NET, rax.with_applications(workload, 10e9, buffer), schemes, "spray")


def draw(by_load):
    """Mean times of all flows and of medium ones over the load, in units of pFabric's by time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for place, (axes, flows) in enumerate(zip(figure.subplots(1, 2), ("all flows", "medium flows"), strict=True)):
        for name in SCHEMES:
            ratios = [means[name][place] / means["pFabric by time"][place] for means in by_load.values()]
            axes.plot(list(by_load), ratios, "o-", label=name)
        axes.set(xlabel="load", ylabel="mean time over pFabric's by time", title=flows)
        axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "RAX, §V-B: the fabric",
        "144 servers at 10 Gbit/s under 9 leaf and 4 spine switches, 40 Gbit/s between them, packets sprayed over the "
        "spines; web-search flows from applications that produce at log-normal rates around 31.6 Gbit/s, from 1 "
        "to 1000; send buffers without limit. RAX with Q_1 = 160 µs and E = 2, looked at every 20 µs.",
    )
    loads, flows = ((0.8,), 5000) if page.small else (LOADS, 50_000)
    by_load = {load: measured(load, flows) for load in loads}
    at = by_load[0.8]

    def row(ours, other, place, paper, means=at, *, at_load="load 0.8", accept=None, small=None):
        what = f"{at_load}: {ours} against {other}, {('all', 'medium')[place]} flows, %"
        change = rax.percent(means[ours], means[other])[place]
        page.row(what, paper, change, accept=accept, small=small, form=".1f")

    row("RAX", "fair", 0, "up to −35.6", accept=(-28, -22), small=(None, -10))
    row("RAX", "PIAS", 0, "up to −21.5", accept=(-21, -13), small=(None, 0))
    row("RAX", "fair", 1, "up to −50", accept=(None, -38), small=(None, -20))
    row("RAX", "PIAS", 1, "up to −35.4")
    row("RAX", "pFabric by time", 0, "up to +26.4", accept=(0, 30), small=(0, 40))
    row("RAX+", "pFabric by time", 0, "comparable", accept=(None, 5))
    row("pFabric by size", "pFabric by time", 0, "", accept=None)
    for load, means in by_load.items():
        if load != 0.8:
            for other, paper in (("fair", "up to −35.6"), ("PIAS", "up to −21.5"), ("pFabric by time", "up to +26.4")):
                row("RAX", other, 0, paper, means, at_load=f"load {load}")
    few = {name: SCHEMES[name] for name in ("fair", "RAX")}
    row("RAX", "fair", 0, "", measured(0.8, flows, 2e6, few), at_load="load 0.8, send buffers of 2 MB")
    page.note(
        """The send buffer decides: it is what lets a slow application get ahead while its flow waits. After that come
        the distribution of the rates of production, of which the paper shows a plot, and PIAS's thresholds, which it
        does not state (here 20 kB · 2.7^i)."""
    )
    page.note(
        """On random workloads the order by remaining size is as good as that by remaining time, unlike in the paper's
        example of two flows: most applications are faster than the network."""
    )
    page.plot(draw(by_load), "Mean completion times by scheme over the load, in units of pFabric's by remaining time")
    page.finish()


if __name__ == "__main__":
    main()
