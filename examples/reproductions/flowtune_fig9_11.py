"""Flowtune, Fig. 9, 10 and 11: messages between endpoints and the allocator."""

from dataclasses import dataclass

import flowtune
from page import Page

import netnum
from netnum import sim

START, END, UPDATE, HEADERS = 16, 4, 6, 58  # bytes


@dataclass
class Traffic:
    """Messages in a span of time, and the packets they make: one per server, tick and direction."""

    starts: int
    ends: int
    updates: int
    packets: int
    capacity: float  # bytes that all servers can send in the span

    def messages(self):
        """All of them."""
        return self.starts + self.ends + self.updates

    def percent(self, *, batched=True):
        """Of the capacity, with headers for every packet; unbatched, every message is one."""
        packets = self.packets if batched else self.messages()
        payload = START * self.starts + END * self.ends + UPDATE * self.updates
        return 100 * (HEADERS * packets + payload) / self.capacity


def control(workload, load, warm_up, seconds, *, racks=9, **allocator):
    """What is said in so many seconds at a load, after a warm-up."""
    net = netnum.topology.leaf_spine(racks, 16, 4, server_capacity=flowtune.SERVER, fabric_capacity=flowtune.FABRIC)
    end = warm_up + seconds
    flows = sim.Workload.poisson(net, flowtune.sizes(workload), load, duration=end, seed=1)
    policy = sim.Policy("flowtune", line_rate=True, **allocator)
    early, whole = (sim.simulate(net, flows, policy, until=until, seed=1).update_traffic for until in (warm_up, end))
    return Traffic(
        starts=whole.starts - early.starts,
        ends=whole.ends - early.ends,
        updates=whole.updates - early.updates,
        packets=whole.packets_to_allocator
        + whole.packets_to_servers
        - early.packets_to_allocator
        - early.packets_to_servers,
        capacity=16 * racks * flowtune.SERVER / 8 * seconds,
    )


@dataclass
class Spans:
    """Seconds before counting and of counting, by workload, for Fig. 9 and 10; and for Fig. 11."""

    of_workload: dict
    of_size: tuple


FULL = Spans({"web": (0.08, 0.01), "cache": (0.25, 0.05), "hadoop": (1.0, 0.2)}, (0.03, 0.005))
SMALL = Spans({"web": (0.02, 0.004), "cache": (0.05, 0.01), "hadoop": (0.05, 0.02)}, (0.003, 0.002))

# What the paper says of each workload: % of capacity at most, and % saved by a threshold of .05; and what is accepted.
PAPER = {"web": (1.13, 33), "cache": (0.57, 64), "hadoop": (0.17, 69)}
PERCENT = {"web": (0.9, 1.5), "cache": (0.38, 0.65), "hadoop": (0.10, 0.22)}
SAVED = {"web": 25, "cache": 55, "hadoop": 55}
OTHERS = [("ned", "fill"), ("fast-ned", "f-norm"), ("fast-ned", "fill")]


def draw(by_load, saved, by_servers):
    """The three figures side by side."""
    import matplotlib.pyplot as plt

    figure, (loads, thresholds, servers) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for number, (workload, traffic) in enumerate(by_load.items()):
        colour = f"C{number}"
        for batched, style in ((True, "o-"), (False, "o:")):
            percent = [of_load.percent(batched=batched) for of_load in traffic.values()]
            loads.semilogy(list(traffic), percent, style, c=colour, label=workload if batched else None)
        loads.plot([0.8], PAPER[workload][0], "x", c=colour, ms=9, mew=2)
        thresholds.plot([0.01, *saved[workload]], [0, *saved[workload].values()], "o-", c=colour, label=workload)
        thresholds.plot([0.05], PAPER[workload][1], "x", c=colour, ms=9, mew=2)
    loads.set(xlabel="load", ylabel="% of capacity", title="Fig. 9: threshold .01; dotted: unbatched")
    loads.legend(loc="lower right", title="crosses: paper, at most")
    thresholds.set(xlabel="threshold", ylabel="% of messages saved", title="Fig. 10: load .8", ylim=(0, 80))
    servers.plot(list(by_servers), list(by_servers.values()), "o-")
    servers.set(xscale="log", xlabel="servers", ylim=(0, 1.5), title="Fig. 11: web, load .8", ylabel="% of capacity")
    servers.set_xticks(list(by_servers), [str(count) for count in by_servers])
    servers.minorticks_off()
    return figure


def main():
    """Measures all three figures."""
    page = Page(
        "Flowtune, Fig. 9, 10 and 11: control traffic",
        f"Messages between endpoints and the allocator (ned, F-NORM, a tick of {flowtune.TICK * 1e6:g} µs), in % "
        f"of what all servers can send: {START} bytes for a start, {END} for an end, {UPDATE} for a rate, {HEADERS} "
        "for the headers of a packet, of which a server sends and gets one in a tick at most. Unbatched, every "
        "message has headers of its own. 9 racks of 16 servers and 4 spines unless said otherwise.",
    )
    spans = SMALL if page.small else FULL
    loads = (0.8,) if page.small else (0.2, 0.4, 0.6, 0.8)
    thresholds = (0.05,) if page.small else (0.03, 0.05)
    racks = (8, 32) if page.small else (8, 32, 128)

    by_load, saved = {}, {}
    for workload, span in spans.of_workload.items():
        by_load[workload] = {load: control(workload, load, *span) for load in loads}
        traffic = by_load[workload][0.8]
        low, high = PERCENT[workload]
        what, paper = f"Fig. 9: {workload}, load .8", f"≤ {PAPER[workload][0]}"
        # Hadoop's largest flows have not come yet.
        page.row(what, paper, traffic.percent(), accept=(low, high), small=(0, high) if workload == "hadoop" else None)
        page.row(f"{what}, unbatched", "", traffic.percent(batched=False))
        fewer = {threshold: control(workload, 0.8, *span, update_threshold=threshold) for threshold in thresholds}
        saved[workload] = {
            threshold: 100 * (1 - other.messages() / traffic.messages()) for threshold, other in fewer.items()
        }
        of_bytes = 100 * (1 - fewer[0.05].percent() / traffic.percent())
        reported = f"up to {PAPER[workload][1]}"
        what = f"Fig. 10: {workload}, % saved by a threshold of .05"
        page.row(
            f"{what}: messages",
            reported,
            saved[workload][0.05],
            accept=(SAVED[workload], None),
            small=(20, None),
            form=".0f",
        )
        page.row(f"{what}: bytes", "", of_bytes, form=".0f")
    for method, normalizer in OTHERS:
        other = control("web", 0.8, *spans.of_workload["web"], method=method, normalizer=normalizer)
        page.row(f"web, load .8, {method} and {normalizer}", "", other.percent())
    by_servers = {16 * count: control("web", 0.8, *spans.of_size, racks=count).percent() for count in racks}
    for servers, percent in by_servers.items():
        page.row(f"Fig. 11: web, load .8, {servers} servers", "", percent)
    ratio = max(by_servers.values()) / min(by_servers.values())
    page.row("Fig. 11: largest / smallest", "about 1", ratio, accept=(None, 1.15))
    page.note(
        """Batching decides Fig. 9. The paper's messages go over TCP, which may join those that wait: between one
        packet in a tick and one for every message. A higher threshold saves messages more than bytes, as a packet
        goes all the same where one message is left."""
    )
    page.note(
        f"""Counted after a warm-up, by the end of which there are about as many flows as later on:
        {1e3 * FULL.of_workload["web"][0]:.0f} ms for web, {1e3 * FULL.of_workload["cache"][0]:.0f} for cache, and
        {1e3 * FULL.of_workload["hadoop"][0]:.0f} for hadoop, whose largest flows take longer than that. Fig. 11 has
        {1e3 * FULL.of_size[0]:.0f} ms at every size, too few for the level of Fig. 9, but the same for all."""
    )
    page.note(
        """hadoop saves just what is accepted, from one seed: with 600 ms of warm-up it was 54 % of the messages, and
        with flows that may demand twice what their path can carry 52 %."""
    )
    page.note(
        """Sizes have the quantiles and the mean of the paper's Table 1. The facebook_web of netnum is of another
        selection of the same data, with nearly twice that mean: half as many flows at a load. Messages take no time
        and are not lost. A flow demands at most what its path can carry."""
    )
    page.plot(draw(by_load, saved, by_servers), "Control traffic by load, by threshold and by the number of servers")
    page.finish()


if __name__ == "__main__":
    main()
