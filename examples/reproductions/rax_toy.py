"""RAX, §II-B: two flows on one link, by remaining size and by remaining time."""

from page import Page

import netnum
from netnum import sim

# A: 100 MB produced at 5 Gbit/s; B: 150 MB at 10 Gbit/s.
SIZES, RATES = [100e6, 150e6], [5e9, 10e9]
# Of a packet of 1500 bytes, 1460 are data.
PAYLOAD = 1460 / 1500

PAPER = {"size": (0.16, 0.21), "time": (0.21, 0.12)}


def times(policy, payload=1.0):
    """When A and B have ended, in seconds."""
    net = netnum.topology.single_link(10e9)
    flows = sim.Workload([0, 0], [0, 0], [1, 1], [size / payload for size in SIZES])
    flows = flows.with_production([rate / payload for rate in RATES])
    return sim.simulate(net, flows, policy).completion_times


def draw(measured):
    """Completion times of both flows, in both orders."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    for place, (by, (one, other)) in enumerate(measured.items()):
        axes.barh(place + 0.2, one, 0.35, color="C0", label="A, 100 MB at 5 Gbit/s" if place == 0 else None)
        axes.barh(place - 0.2, other, 0.35, color="C1", label="B, 150 MB at 10 Gbit/s" if place == 0 else None)
        axes.plot(PAPER[by], [place + 0.2, place - 0.2], "k|", markersize=14, label="paper" if place == 0 else None)
    axes.set_yticks(range(len(measured)), [f"by remaining {by}" for by in measured])
    axes.set(xlabel="completion time, s")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def main():
    """Measures, and ends with the page."""
    page = Page(
        "RAX, §II-B: remaining size and remaining time",
        "A flow of 100 MB from an application that produces 5 Gbit/s and one of 150 MB at 10 Gbit/s begin together on "
        "a link of 10 Gbit/s, and are served by what remains of them, in bytes or in time. Send buffers have no limit.",
    )
    exact = {"size": (0.16, 0.2), "time": (0.2, 0.12)}
    policies = {by: sim.Policy("srpt", by=by) for by in exact}
    measured = {by: times(policies[by]) for by in exact}
    for by, expected in exact.items():
        for flow, paper, value, ours in zip("AB", PAPER[by], expected, measured[by], strict=True):
            bounds = (value * (1 - 1e-9), value * (1 + 1e-9))
            page.row(f"by remaining {by}: {flow} ends after, s", f"{paper}", ours, accept=bounds, form=".5g")
        mean = sum(measured[by]) / 2
        page.row(f"by remaining {by}: mean, s", f"{sum(PAPER[by]) / 2:.3g}", mean, form=".4g")
    packets = {by: times(policies[by], PAYLOAD) for by in exact}
    for by, paper in PAPER.items():
        for flow, reported, ours in zip("AB", paper, packets[by], strict=True):
            bounds = (reported - 0.005, reported + 0.005)
            page.row(f"with headers, by {by}: {flow} ends after, s", f"{reported}", ours, accept=bounds, form=".4g")
    page.note(
        """250 MB at 10 Gbit/s are 0.2 s; the paper's 0.21 s has the headers of packets in it. With 1460 of 1500 bytes
        being data, what comes out rounds to the paper's numbers."""
    )
    page.plot(draw(measured), "Completion times of both flows in both orders; the paper's are marked")
    page.finish()


if __name__ == "__main__":
    main()
