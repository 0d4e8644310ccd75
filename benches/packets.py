"""Completion times of the fluid beside those of packets: DCTCP in ns-3, on small cases.

    pip download ns3 --no-deps && unzip -q ns3-*.whl -d ns3    # libraries and headers of ns-3, Linux with CPython 3.11
    python3 benches/packets.py --ns3 ns3

`packets/flows.cc` is compiled with them: flows of DCTCP (10 packets in the first round trip, 1448 bytes of data in
1502 on the wire, an acknowledgement per packet) over point-to-point links whose queues mark from 65 packets on and
lose nothing that matters. Sizes of the fluid are those on the wire. Every flow is compared by itself, in three models:
max-min; max-min with `Packets(delay)`; and with `Packets(delay, initial_window=10, round_trips=1)`, as TCP starts.
"error" is |time/time of packets - 1|, its median and its 90 % quantile over the flows of a class. Of flows that are
alone the times by ns-3 are printed, too.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tables import markdown

import netnum
from netnum import sim

HERE = Path(__file__).parent
#: Bytes of data in a packet, and on the wire: TCP with time stamps, IP and the frame of a point-to-point link.
DATA, WIRE = 1448, 1502
CLASSES = (1e4, 1e5, 1e6, 1e7, np.inf)
NAMES = ("up to 10 kB", "to 100 kB", "to 1 MB", "to 10 MB", "above")


def compiled(ns3: Path, folder: Path) -> Path:
    """The program with ns-3's libraries."""
    libraries = ns3 / "ns3" / "lib64"
    modules = ("applications", "core", "internet", "network", "point-to-point", "traffic-control", "stats")
    version = next(libraries.glob("libns3*-core.so")).name.removeprefix("lib").removesuffix("-core.so")
    flags = [f"-l{version}-{module}" for module in modules]
    where = [f"-L{libraries}", f"-Wl,-rpath,{libraries.resolve()}"]
    program = folder / "flows"
    source = HERE / "packets" / "flows.cc"
    compiler = ["g++", "-std=c++20", "-O1", "-I", str(ns3 / "ns3" / "include")]
    subprocess.run([*compiler, str(source), "-o", str(program), *where, *flags], check=True)
    return program


def in_packets(program: Path, net: netnum.Topology, workload: sim.Workload, delay: float) -> np.ndarray:
    """Completion times by ns-3; a full-duplex link is the two directions of the network."""
    pairs = {tuple(sorted(ends)): capacity for ends, capacity in zip(net.links.tolist(), net.capacities, strict=True)}
    lines = [f"{len(net.node_names)} {len(pairs)} {len(workload)}"]
    lines += [f"{one} {other} {capacity:.0f} {delay!r}" for (one, other), capacity in pairs.items()]
    columns = (workload.arrivals, workload.sources, workload.destinations, workload.sizes.astype(int))
    flows = zip(*(column.tolist() for column in columns), strict=True)
    lines += [f"{start!r} {source} {end} {size}" for start, source, end, size in flows]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    times = np.array(done.stdout.split(), dtype=float)
    if not (times > 0).all():
        raise RuntimeError(f"{(times < 0).sum()} of {len(times)} flows have not ended in ns-3")
    return times


def cases() -> Iterator[tuple[str, netnum.Topology, sim.Workload, float]]:
    """Name, network, flows in bytes of data, and the delay of every link."""
    star = netnum.topology.star(16, capacity=10e9)
    chain = netnum.topology.leaf_spine(
        racks=2, servers_per_rack=8, spines=1, server_capacity=10e9, fabric_capacity=40e9
    )
    sizes = np.array([1e3, 5e3, 2e4, 5e4, 2e5, 5e5, 2e6, 5e6, 2e7])
    count = len(sizes)
    # One after the other.
    times = np.cumsum(np.concatenate([[0.0], 16 * sizes[:-1] / 1e9 + 2e-3]))
    for name, delay in (("alone, 2 links, 1 µs each", 1e-6), ("alone, 2 links, 25 µs each", 25e-6)):
        yield name, star, sim.Workload(times, [0] * count, [1] * count, sizes), delay
    yield "alone, 4 links, 5 µs each", chain, sim.Workload(times, [0] * count, [8] * count, sizes), 5e-6
    for senders in (4, 15):
        ends = np.arange(1, senders + 1)
        sizes = np.tile([2e4, 2e5, 2e6], senders)
        begin = np.tile([0.0, 0.01, 0.05], senders)
        order = np.argsort(begin, kind="stable")
        flows = sim.Workload(begin[order], np.repeat(ends, 3)[order], [0] * len(order), sizes[order])
        yield f"{senders} to 1 at once, 1 µs", star, flows, 1e-6
    for load in (0.3, 0.6):
        drawn = sim.Workload.poisson(chain, "web_search", load, duration=0.01, seed=1)
        whole = np.maximum(1.0, np.minimum(np.round(drawn.sizes), 2e7))
        flows = sim.Workload(drawn.arrivals, drawn.sources, drawn.destinations, whole)
        yield f"web search, load {load}, 4 links, 1 µs", chain, flows, 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ns3", type=Path, required=True, help="the folder with the files of the wheel")
    given = parser.parse_args()
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(given.ns3, Path(folder))
        for name, net, flows, delay in cases():
            truth = in_packets(program, net, flows, delay)
            if name.startswith("alone"):
                for size, time in zip(flows.sizes.tolist(), truth.tolist(), strict=True):
                    print(f"{name}: {size:.0f} bytes in {1e6 * time:.2f} µs", flush=True)
            wire = np.ceil(flows.sizes / DATA) * (WIRE - DATA) + flows.sizes
            workload = sim.Workload(flows.arrivals, flows.sources, flows.destinations, wire)
            models = [None] + [
                sim.Packets(delay, size=WIRE, **start) for start in ({}, {"initial_window": 10, "round_trips": 1})
            ]
            found = [sim.simulate(net, workload, packets=packets).completion_times for packets in models]
            errors = [np.abs(times / truth - 1) for times in found]
            place = np.searchsorted(CLASSES, flows.sizes)
            for number, label in enumerate(NAMES):
                which = place == number
                if which.any():
                    shown = [
                        f"{100 * np.median(error[which]):.1f} / {100 * np.quantile(error[which], 0.9):.1f}"
                        for error in errors
                    ]
                    rows.append([name, label, str(which.sum()), *shown])
                    print(*rows[-1], sep=" | ", flush=True)
    head = ["flows", "bytes", "count", "fluid, % (median / 90 %)", "with packets", "and the start of TCP"]
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
