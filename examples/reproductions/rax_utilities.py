"""NUMFabric, §2 and Table 1: priorities as utilities, beside serving flows strictly in that order."""

import numpy as np
import rax
from page import Page

import netnum
from netnum import sim

NET = netnum.topology.leaf_spine(4, 8, 2, server_capacity=10e9, fabric_capacity=40e9)
LOAD, SLACK = 0.8, 2.0
# By order: the strict policy, and what makes a flow urgent as a utility.
ORDERS = {
    "remaining size": (sim.Policy("srpt"), "remaining"),
    "remaining time": (sim.Policy("srpt", by="time"), "time"),
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
        "Web-search flows at load 0.8 on 4 racks of 8 servers, from applications that produce at log-normal rates "
        "around 31.6 Gbit/s. The exact optimum of x^(1−ε)/s, ε = 0.125, "
        "with s looked at whenever flows come or go and every "
        "100 µs, beside strict priority in the order of s.",
    )
    flows = 300 if page.small else 3000
    workload = sim.Workload.poisson(NET, sim.sizes.web_search, LOAD, flows=flows, seed=1)
    workload = rax.with_applications(workload, 10e9)
    fair = sim.simulate(NET, workload, "max-min", seed=1)
    means = {"strict": [], "as a utility": []}
    for order, (strict, urgent) in ORDERS.items():
        reports = {
            "strict": sim.simulate(NET, workload, strict, seed=1),
            "as a utility": sim.simulate(NET, workload, sim.Policy("min-fct", by=urgent, slack=SLACK), seed=1),
        }
        for how, report in reports.items():
            means[how].append(report.mean_slowdown)
            page.row(f"{order}, {how}: mean slowdown", "", report.mean_slowdown, form=".3f")
            if order == "deadline":
                page.row(f"{order}, {how}: flows that are late, %", "", late(report), form=".1f")
    page.row("fair sharing: mean slowdown", "", fair.mean_slowdown, form=".3f")
    page.row("fair sharing: flows that are late, %", "", late(fair), form=".1f")
    page.note(
        """The paper names the utilities and measures them for sizes only, in its Fig. 7; this table is ours. A flow's
        deadline is twice the time that it would take alone."""
    )
    page.plot(draw(means), "Mean slowdowns in three orders, strictly and as utilities")
    page.finish()


if __name__ == "__main__":
    main()
