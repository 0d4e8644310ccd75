"""Writes docs/benchmarks.md: the measured tables, from what the benchmarks have left.

    python3 benches/report.py       reads target/criterion and target/peers.json, where they are

`make bench` and `make peers` end with it. Nothing is computed here but medians' ratios and exponents: a time is the
median that criterion estimated, and a ratio is the baseline's time over that time, of the same row and so of the same
run. A group of benchmarks is a table, with a row per parameter and a column per function; `TABLES` has what a table
shows, and a group that is not in it gets a plain table, so that none is left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tables import ROOT, commit, duration, markdown, output_of, processor, three_digits


@dataclass(frozen=True)
class Table:
    """The content of the table of one group of benchmarks."""

    group: str
    bench: str
    title: str
    about: str
    baseline: str = ""
    """The function that the others are compared with; none: no ratios."""
    spread: bool = False
    """Whether times are given with the interval that holds the median with 95 % confidence."""


TABLES = [
    Table(
        "price_step",
        "price_step",
        "One iteration",
        "NED, nodes x flows, 4 links a flow, hot caches. `naive` is the plain loop over compressed rows "
        "(benches/naive.rs).",
        "naive",
    ),
    Table(
        "threads",
        "threads",
        "Threads",
        "One step of the engine, nodes x flows.",
        "1 thread",
        spread=True,
    ),
    Table(
        "churn",
        "churn",
        "Flows that come and go",
        "One replaced by another, by flows. `vectors` is a vector of paths and one of weights, which keep neither ids "
        "nor anything that an iteration could run on.",
        "vectors",
    ),
    Table(
        "allocator",
        "allocator",
        "The allocator",
        "By flows. `iteration` is the engine's step and F-NORM, of which a tick consists; `updates` is called when "
        "nothing has changed; `tick, 4 paths` is that of as many flows, each over four paths.",
        "iteration",
    ),
    Table(
        "growth",
        "time_to_gap",
        "From 10² flows on, to a proven gap of 1e-6",
        "Proportional fairness with weights, by number of flows, method `auto`: from a checked problem, and from "
        "arrays, checks counted. The naive loop is NED over compressed rows.",
        "naive",
    ),
    Table("time_to_gap", "time_to_gap", "Whole solves", "To a proven relative gap.", "naive"),
    Table("interior_point", "interior_point", "Interior point", "To a proven relative gap.", "fast-ned"),
    Table(
        "max_min",
        "max_min",
        "Weighted max-min",
        "By number of flows, exact. `textbook` searches all links for the next one to fill, and stops its flows; "
        "`max_min` takes a problem, `fill` arrays.",
        "textbook",
    ),
    Table(
        "max_min_several",
        "max_min",
        "Max-min over several paths",
        "By number of flows with demands, 3 paths each, on a wide-area network of 100 nodes: from the beginning, again "
        "after 5 % of the demands have changed, and approximately, by water-filling alone.",
        "several",
    ),
    Table("k_shortest", "k_shortest", "k shortest paths", "All pairs of nodes of a wide-area network, by nodes.", ""),
    Table(
        "simulate",
        "simulate",
        "Flow-level simulation",
        "Time per flow, by number of web-search flows at load 0.6 on 9 x 16 x 4, max-min. Textbook, and a full fill at "
        "every event, on the first 10 000 flows at most.",
        "textbook",
    ),
    Table(
        "routings",
        "simulate",
        "Routings",
        "Time per flow, by number of web-search flows at load 0.6 on FlowBender's fat tree of 128 servers, max-min.",
        "ecmp",
    ),
    Table(
        "policies",
        "simulate",
        "Scheduling policies",
        "Time per flow, by number of web-search flows at load 0.8 on 9 x 16 x 4, spread over the spines, from "
        "applications of random rates.",
        "max-min",
    ),
]


@dataclass(frozen=True)
class Estimate:
    """The median of one benchmark, and the interval that holds it with 95 % confidence; nanoseconds."""

    median: float
    low: float
    high: float


#: Function → parameter → estimate.
Group = dict[str, dict[str, Estimate]]


def read_criterion(folder: Path) -> dict[str, Group]:
    """Every group that criterion has left in `folder`, by name."""
    groups: dict[str, Group] = {}
    for place in sorted(folder.glob("**/new/benchmark.json")):
        about = json.loads(place.read_text())
        median = json.loads(place.with_name("estimates.json").read_text())["median"]
        interval = median["confidence_interval"]
        estimate = Estimate(median["point_estimate"], interval["lower_bound"], interval["upper_bound"])
        function, parameter = about["function_id"] or about["group_id"], about["value_str"] or ""
        groups.setdefault(about["group_id"], {}).setdefault(function, {})[parameter] = estimate
    return groups


def exponent(times: dict[str, Estimate]) -> float | None:
    """Exponent b of the least-squares fit time ≈ a nᵇ, where parameters are numbers n that span two decades or more."""
    points = [(math.log(int(n)), math.log(time.median)) for n, time in times.items() if n.isdecimal() and int(n) > 0]
    if len(points) < 3 or max(points)[0] - min(points)[0] < math.log(100) - 1e-9:
        return None
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def in_order(text: str) -> list[tuple[int, float, str]]:
    """A key that sorts 1000 after 200, wherever in a text they stand."""
    parts = re.findall(r"\d+(?:e[+-]?\d+)?|\D+", text)
    return [in_order_of_part(part) for part in parts]


def in_order_of_part(part: str) -> tuple[int, float, str]:
    if not part[0].isdecimal():
        return (1, 0.0, part)
    # Tolerances from the loosest on.
    return (0, -float(part) if "e-" in part else float(part), "")


def of_group(table: Table, group: Group) -> str:
    """The section of one group."""
    baseline = group.get(table.baseline, {})
    functions = sorted(group, key=lambda function: (function != table.baseline, in_order(function)))
    others = [function for function in functions if baseline and function != table.baseline]
    rows = []
    for parameter in sorted({parameter for times in group.values() for parameter in times}, key=in_order):
        row = [parameter]
        for function in functions:
            time = group[function].get(parameter)
            row.append("–" if time is None else duration(time.median))
            if time is not None and table.spread:
                row[-1] += f" ({duration(time.low)} to {duration(time.high)})"
        for function in others:
            time = group[function].get(parameter)
            known = time is not None and parameter in baseline
            row.append(three_digits(baseline[parameter].median / time.median) + " ×" if known else "–")
        rows.append(row)
    header = ["", *functions, *(f"{table.baseline} / {function}" for function in others)]
    text = f"## {table.title}\n\n{table.about} `cargo bench -p netnum-benches --bench {table.bench}`\n\n"
    text += markdown(header, rows)
    grows = [(function, exponent(group[function])) for function in functions]
    fitted = [f"{function} n^{power:.2f}" for function, power in grows if power is not None]
    return text + (f"\nGrows as: {', '.join(fitted)} (least squares over all rows).\n" if fitted else "")


def of_peers(found: dict[str, Any]) -> str:
    """The section of the other solvers."""
    about = found["about"]
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    text = "## Other solvers\n\n`make peers`. One thread each, from arrays to rates and prices in NumPy; medians.\n"
    text += '"Gap" is what `netnum.certify` proves of an answer, "loss" its distance from the optimum, as '
    text += "in `benches/peers.py`.\n"
    text += f"{about['processor']}, {about['date']}, Python {about['python']}; {packages}.\n"
    for missing in about["missing"]:
        text += f"\nNot installed: {missing}.\n"
    for name in dict.fromkeys(row["instance"] for row in found["rows"]):
        rows = []
        for row in (row for row in found["rows"] if row["instance"] == name):
            known = row["median"] is not None
            small = [("–" if row[key] is None else f"{row[key]:.1e}") for key in ("gap", "loss", "overload")]
            ratio = "–" if row["ratio"] is None else three_digits(row["ratio"]) + " ×"
            time = duration(1e9 * row["median"]) if known else row["note"]
            remark = row["note"] if known else ""
            tol = f"{row['tol']:.0e}" if row["tol"] else "exact"
            rows.append([row["method"].strip(), tol, time, *small, ratio, remark])
        header = ["method", "tol", "time", "gap", "loss", "overload", "× netnum", ""]
        text += f"\n### {name}\n\n{markdown(header, rows)}"
    return text


def of_machine() -> str:
    """The machine and the versions that the numbers depend on."""
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}; "
        f"netnum {version[1] if version else '?'} at {commit()}; {output_of('rustc', '--version')}; "
        f"{datetime.date.today().isoformat()}.\n"
    )


HEADER = """# Benchmarks

How long netnum takes on one machine, beside the simplest program for the same thing, and beside other solvers at the
end. Times are medians, and ratios compare with the baseline of the same run; above 1 netnum is faster. A default build
and one thread, unless a table has another number. "By" names what the rows differ in: 1536x12288 has 1536 nodes and
12288 flows, 9 x 16 x 4 are racks, servers in each, and spines. The command above a table measures it again in a clone
of [the repository](https://github.com/netnum/netnum), with Rust installed; `make bench` and `make peers` measure and
write the whole page.
"""


def report(groups: dict[str, Group], peers: dict[str, Any] | None) -> str:
    """The whole page, but for the line about the machine."""
    known = [table for table in TABLES if table.group in groups]
    others = [Table(name, name, name, "") for name in sorted(groups.keys() - {table.group for table in TABLES})]
    sections = [of_group(table, groups[table.group]) for table in known + others]
    return "\n".join(sections + ([of_peers(peers)] if peers else []))


def main() -> None:
    """Reads, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--criterion", type=Path, default=ROOT / "target/criterion", help="what criterion has left")
    parser.add_argument("--peers", type=Path, default=ROOT / "target/peers.json", help="what peers.py --json has left")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/benchmarks.md", help="the page")
    arguments = parser.parse_args()
    groups = read_criterion(arguments.criterion)
    peers = json.loads(arguments.peers.read_text()) if arguments.peers.exists() else None
    if not groups and peers is None:
        parser.error(f"there is nothing in {arguments.criterion}, and no {arguments.peers}: run `make bench` first")
    arguments.output.write_text(f"{HEADER}\n{of_machine()}\n{report(groups, peers)}")
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
