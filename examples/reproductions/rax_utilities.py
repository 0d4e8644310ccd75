"""NUMFabric, §2 and Table 1: priorities as utilities, beside serving flows strictly in that order."""

import numpy as np
import rax
import rax_toy
from page import Page

import netnum
from netnum import sim

NET = netnum.topology.leaf_spine(4, 8, 2, server_capacity=10e9, fabric_capacity=40e9)
LOAD, SLACK, INTERVAL = 0.8, 2.0, 1e-3
# By order: the strict policy, and what makes a flow urgent as a utility.
ORDERS = {
    "remaining size": (sim.Policy("srpt"), "remaining"),
    "deadline": (sim.Policy("edf", slack=SLACK), "deadline"),
}


def late(report):
    """The part of flows that miss their deadlines, in percent."""
    return 100 * np.mean(report.slowdowns > SLACK)


def draw(means):
    """Mean slowdowns, strictly and as utilities."""
    return rax.bars(means, list(ORDERS), "mean slowdown")


def main():
    """Measures, and ends with the page."""
    page = Page(
        "NUMFabric, Table 1: priorities as utilities",
        "Web-search flows at load 0.8 on 4 racks of 8 servers. The exact optimum of x^(1−ε)/s, ε = 0.125, with s "
        "looked at whenever flows come or go and every ms, beside strict priority in the order of s; and the two flows "
        "of RAX, §II-B, by remaining time.",
    )
    flows = 300 if page.small else 2000
    workload = sim.Workload.poisson(NET, sim.sizes.web_search, LOAD, flows=flows, seed=1)
    fair = sim.simulate(NET, workload, "max-min", seed=1)
    means = {"strict": [], "as a utility": []}
    for order, (strict, urgent) in ORDERS.items():
        reports = {
            "strict": sim.simulate(NET, workload, strict, seed=1),
            "as a utility": sim.simulate(
                NET, workload, sim.Policy("min-fct", by=urgent, slack=SLACK, interval=INTERVAL, tol=1e-4), seed=1
            ),
        }
        for how, report in reports.items():
            means[how].append(report.mean_slowdown)
            page.row(f"{order}, {how}: mean slowdown", "", report.mean_slowdown, form=".3f")
            if order == "deadline":
                page.row(f"{order}, {how}: flows that are late, %", "", late(report), form=".1f")
    page.row("fair sharing: mean slowdown", "", fair.mean_slowdown, form=".3f")
    page.row("fair sharing: flows that are late, %", "", late(fair), form=".1f")
    for how, policy in (("strict", sim.Policy("srpt", by="time")), ("as a utility", sim.Policy("min-fct", by="time"))):
        for flow, time in zip("AB", rax_toy.times(policy), strict=True):
            page.row(f"remaining time, {how}: {flow} ends after, s", "", time, form=".4f")
    page.note(
        """The paper names the utilities and measures them for sizes only, in its Fig. 7; this table is ours. A flow's
        deadline is twice the time that it would take alone. Where all bytes are at hand the order by remaining time is
        that by remaining size."""
    )
    page.plot(draw(means), "Mean slowdowns in both orders, strictly and as utilities")
    page.finish()


if __name__ == "__main__":
    main()
