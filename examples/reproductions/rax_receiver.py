"""RAX, §V-A: nine servers send to one, which has 1 Gbit/s; and how well copy rates tell rates of production."""

import numpy as np
import rax
from page import Page

import netnum
from netnum import sim

NET = netnum.topology.star(10, capacity=1e9)
PAIRS = sim.incast(NET, 0, 9)
LOAD = 0.8
SCHEMES = {
    "fair": "max-min",
    "PIAS": "pias",
    "RAX": sim.Policy("rax", **rax.AT_1G),
}
# For copy rates: every application produces half of what the link carries.
BUFFERS = (128e3, 256e3, 512e3, 1e6, 2e6, 4e6)
RATE = 500e6
# So many 64 kB have been copied that the first guess counts for less than a hundredth.
COPIED = 17 * 65_536


def compared(sizes, flows):
    """Mean times of all and of medium flows, by scheme, with send buffers of 2 MB."""
    workload = sim.Workload.poisson(NET, sizes, LOAD, flows=flows, pairs=PAIRS, seed=1)
    return rax.mean_times(NET, rax.with_applications(workload, 1e9, buffer=2e6), SCHEMES)


def copied(flows):
    """By send buffer, the copy rates of long flows relative to the rate of production: within 10 %, and variation."""
    workload = sim.Workload.poisson(NET, sim.sizes.web_search, LOAD, flows=flows, pairs=PAIRS, seed=1)
    long = workload.sizes > COPIED
    results = {}
    for buffer in BUFFERS:
        rates = sim.simulate(NET, workload.with_production(RATE, buffer), SCHEMES["RAX"]).copy_rates[long] / RATE
        results[buffer] = 100 * np.mean(abs(rates - 1) <= 0.1), rates.std() / rates.mean()
    return results


def main():
    """Measures, and ends with the page."""
    page = Page(
        "RAX, §V-A: one receiver, and copy rates",
        "Nine servers send to one over 1 Gbit/s at load 0.8. Applications produce at log-normal rates "
        "around 3.16 Gbit/s, from 0.1 to 100; send buffers of 2 MB. "
        "RAX with Q_1 = 1280 µs and E = 2, looked at every 400 µs, against fair "
        "sharing (the paper: DCTCP) and PIAS with thresholds at 20 kB · 2.7^i.",
    )
    flows = 4000 if page.small else 60_000
    web = compared(sim.sizes.web_search, flows)
    reported = {("fair", 0): "−14.9", ("fair", 1): "−41.8", ("PIAS", 0): "−7.8", ("PIAS", 1): "−22.9"}
    accept = {("fair", 0): (-18, -12), ("fair", 1): (-40, -30)}
    shown = {}
    for other in ("fair", "PIAS"):
        shown[other] = rax.percent(web["RAX"], web[other])
        for place, flows_of in enumerate(("all", "medium")):
            page.row(
                f"web search, RAX against {other}, {flows_of} flows, %",
                f"{reported[other, place]}",
                shown[other][place],
                accept=accept.get((other, place)),
                small=(None, 0) if other == "fair" else None,
                form=".1f",
            )
    mining = compared(sim.sizes.data_mining, flows)
    for other, paper, bounds in (("fair", "−3.3", (None, 0)), ("PIAS", "−2.5", None)):
        change = rax.percent(mining["RAX"], mining[other])[0]
        page.row(f"data mining, RAX against {other}, all flows, %", paper, change, accept=bounds, form=".1f")
    variations = {128e3: "0.28", 1e6: "0.24", 2e6: "0.07"}
    for buffer, (within, variation) in copied(flows // 4).items():
        name = f"copy rates with a buffer of {buffer / 1e3:g} kB"
        page.row(f"{name}: coefficient of variation", variations.get(buffer, ""), variation, form=".3f")
        page.row(f"{name}: within 10 %", "> 95" if buffer == 2e6 else "", within, form=".0f")
    page.note(
        """Copy rates are those at the ends of flows of more than 1.1 MB (17 times 64 kB), of applications that all
        produce 500 Mbit/s. Before so much is copied the first guess, the link's capacity, still counts."""
    )
    page.note(
        """Against PIAS everything hangs on its thresholds, which the paper does not state; with these it is ahead of
        RAX, or behind, by a few percent. Data mining is decided by flows of hundreds of megabytes, for which a send
        buffer of 2 MB is nothing."""
    )
    page.plot(
        rax.bars(shown, ("all flows", "medium flows"), "RAX's mean time against another's, %"),
        "Mean completion times under RAX against fair sharing and PIAS, web search",
    )
    page.finish()


if __name__ == "__main__":
    main()
