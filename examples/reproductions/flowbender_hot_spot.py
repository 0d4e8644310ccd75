"""FlowBender, §4.3.2: how much of a rack's traffic goes over the one of four paths on which others send already."""

import flowbender
from page import Page

import netnum
from netnum import sim

TRAFFIC, TAKEN = 14e9, 6e9  # bit/s of the shuffle, and of the flow that no routing moves
ROUND_TRIPS = (25e-6, 100e-6, 400e-6)
PAIRS = [(source, destination) for source in range(16) for destination in range(16, 32)]


def main():
    """Measures every routing on the same flows."""
    page = Page(
        "FlowBender, §4.3.2: a hot spot",
        "A rack of 16 servers sends 14 Gbit/s to another one in flows of 1 MB, over four paths of 10 Gbit/s, on "
        "one of which 6 Gbit/s are taken. Gbit/s of the flows on that path.",
    )
    net = netnum.topology.leaf_spine(2, 16, 4, server_capacity=flowbender.CAPACITY, fabric_capacity=flowbender.CAPACITY)
    hot = net.paths(0, 16)[0][1:3]
    flows = 4000 if page.small else 40_000
    load = TRAFFIC / (4 * flowbender.CAPACITY)

    def measured(routing, flows=flows):
        """Gbit/s on the hot path, by link."""
        workload = sim.Workload.poisson(
            net, sim.sizes.fixed(1e6), load=load, flows=flows, links=flowbender.uplinks(net)[:4], pairs=PAIRS, seed=1
        )
        taken = [(0.0, int(link), flowbender.CAPACITY - TAKEN) for link in hot]
        report = sim.simulate(net, workload, "max-min", routing, changes=taken)
        # All that is sent, over the time in which flows arrive.
        return 8e-9 * report.link_bytes[hot[0]] / workload.arrivals[-1]

    found = {"ECMP": measured("ecmp")}
    page.row("ECMP", "3.5", found["ECMP"], accept=(3.4, 3.6), small=(3.2, 3.8), form=".2f")
    for rtt in ROUND_TRIPS:
        name = f"FlowBender, a round trip of {1e6 * rtt:g} µs"
        found[name] = measured(sim.Routing("flow-bender", rtt=rtt))
        accept = (0.8, 2.0) if rtt == flowbender.RTT else None
        page.row(name, "1.5", found[name], accept=accept, form=".2f")
    found["FlowBender, DCTCP marks"] = measured(flowbender.ROUTINGS["FlowBender, DCTCP marks"])
    page.row("FlowBender, DCTCP marks", "1.5", found["FlowBender, DCTCP marks"], form=".2f")
    found["spraying"] = measured("spray")
    page.row("spraying", "", found["spraying"], form=".2f")
    found["adaptive split"] = measured("adaptive", flows=2000 if page.small else 10_000)
    page.row("adaptive split", "", found["adaptive split"], form=".2f")
    page.note(
        """What is taken is a smaller capacity of that path's links. Static routings do not see it. FlowBender's flows
        come back to it by chance, and leave it again after a round trip; the fewer round trips a flow has, the less
        it is moved. The adaptive split uses the path only in moments in which more than 18 Gbit/s are sent, where the
        others have no more left than it has."""
    )
    page.plot(draw(found), "Gbit/s on the path that is partly taken, by routing")
    page.finish()


def draw(found):
    """A bar for each routing."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
    axes.barh(list(found), list(found.values()))
    axes.axvline(TRAFFIC / 4e9, color="black", lw=0.8)
    axes.invert_yaxis()
    axes.set(xlabel="Gbit/s on the hot path; the line is a quarter of all traffic")
    return figure


if __name__ == "__main__":
    main()
