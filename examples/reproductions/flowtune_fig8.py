"""Flowtune, Fig. 8: how soon flows that come and go at one receiver have fair rates."""

import numpy as np
from page import Page

import netnum

SENDERS = 5
LINK = 10e9  # bit/s
TICK = 10e-6  # seconds
NEAR = 0.01  # of the fair rate

NORMALIZERS = {
    "F-NORM": "x / max(1, max r)",
    "raising F-NORM": "x / max r",
    "fill": "weighted max-min, weights x",
    "none": "x, the demand",
}


def counts():
    """How many flows there are after each change: one more, up to all, then one fewer, down to one."""
    return [*range(1, SENDERS + 1), *range(SENDERS - 1, 0, -1)]


def rates_over_time(method, normalizer, ticks):
    """Rates after every tick, so many of them after each change: an array ticks x senders, nan for those at rest."""
    net = netnum.topology.star(SENDERS + 1, capacity=LINK)
    paths = list(net.ecmp(np.arange(SENDERS), np.full(SENDERS, SENDERS)))
    own = {"F-NORM": "f-norm", "fill": "fill"}.get(normalizer)
    allocator = netnum.Allocator(net, method=method, normalizer=own, update_threshold=0.0)
    ids, rows = [], []
    for flows in counts():
        if flows > len(ids):
            ids.extend(allocator.start(paths[len(ids) : flows], weight=LINK))
        else:
            allocator.end([ids.pop()])
        problem = netnum.Problem(net, paths[:flows], netnum.AlphaFair(1.0))
        for _ in range(ticks):
            allocator.tick()
            rates = allocator.rates(ids)
            if normalizer == "raising F-NORM":
                rates = netnum.f_norm(problem, rates, raise_rates=True)
            rows.append(np.pad(rates, (0, SENDERS - flows), constant_values=np.nan))
    return np.array(rows)


def deviations(rates):
    """The largest part by which a flow is off its fair rate: an array changes x ticks."""
    parts = zip(counts(), np.split(rates, len(counts())), strict=True)
    return np.array([np.abs(part[:, :flows] / (LINK / flows) - 1).max(axis=1) for flows, part in parts])


def settling_times(rates):
    """Seconds from each change to the first tick from which on every flow is near its fair rate."""
    last_off = [np.flatnonzero(off > NEAR).max(initial=-1) for off in deviations(rates)]
    return TICK * (np.array(last_off) + 2)


def draw(drawn):
    """Rates over time as the paper draws them, and how long they take."""
    import matplotlib.pyplot as plt

    figure, (over_time, slow) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    rates = drawn["ned", "F-NORM"]
    milliseconds = 1e3 * TICK * np.arange(1, len(rates) + 1)
    for sender in range(SENDERS):
        over_time.plot(milliseconds, rates[:, sender] / 1e9, label=f"sender {sender + 1}")
    over_time.set(xlabel="ms", ylabel="Gbit/s", ylim=(0, 1.05 * LINK / 1e9), title="ned, F-NORM: rates")
    over_time.legend(loc="upper center")
    changes = [f"{before} → {after}" for before, after in zip([0, *counts()], counts(), strict=False)]
    for (method, normalizer), rates in drawn.items():
        line = {"ned": "-", "fast-ned": "--"}[method]
        # Raising F-NORM comes out as fill does: the wider line lies below.
        style = {"c": f"C{list(NORMALIZERS).index(normalizer)}", "lw": 4 if normalizer.startswith("raising") else 1.5}
        slow.plot(
            changes, 1e6 * settling_times(rates), line, marker="o", ms=4, label=f"{method}, {normalizer}", **style
        )
    slow.set(xlabel="flows before and after a change", ylabel="µs", ylim=(0, 220), title=f"until within {NEAR:.0%}")
    slow.legend(ncols=2, fontsize="small", loc="upper center")
    return figure


def main():
    """Runs every allocator through all changes."""
    page = Page(
        "Flowtune, Fig. 8: convergence",
        f"{SENDERS} senders with {LINK / 1e9:g} Gbit/s to one receiver: every 10 ms a flow more, then every 10 ms one "
        f"fewer; an iteration every {TICK * 1e6:g} µs. µs until every flow is within {NEAR:.0%} of its fair rate and "
        "stays there, after the slowest of the changes.",
    )
    ticks = 100 if page.small else 1000
    drawn = {}
    for method in ("ned", "fast-ned"):
        for normalizer, formula in NORMALIZERS.items():
            rates = drawn[method, normalizer] = rates_over_time(method, normalizer, ticks)
            worst = 1e6 * settling_times(rates).max()
            paper = "≤ 100" if (method, normalizer) == ("ned", "F-NORM") else ""
            most = 200 if normalizer == "none" else 100
            page.row(f"{method}, {normalizer}: {formula}", paper, worst, accept=(None, most), form=".0f")
    page.note(
        "γ of ned is 0.4. The paper reads throughput off packets, in intervals of 100 µs; here rates are read "
        "after every iteration, and messages take no time. A change counts from just before an iteration."
    )
    page.note(
        "With one full link both raising F-NORM and fill give every flow its fair rate as soon as flows "
        "demand equal ones; the rest is the first link of a new flow, which has a price for an iteration or two."
    )
    alt = "Rates of five senders as they come and go, and how long each allocator takes to fair rates after each change"
    page.plot(draw(drawn), alt)
    page.finish()


if __name__ == "__main__":
    main()
