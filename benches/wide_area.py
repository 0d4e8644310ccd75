"""netnum on wide-area networks beside other solvers: several paths per flow, demands, max-min, α-fair and throughput.

    python3 benches/wide_area.py                          the shipped and the generated networks
    python3 benches/wide_area.py --quick                  the shipped ones: a minute
    python3 benches/wide_area.py networks/*.npz           and those of files
    python3 benches/wide_area.py --instances abilene --methods netnum,highs --patience 20
    python3 benches/wide_area.py --write                  into docs/wide_area.md as well

Networks. Shipped: abilene and nsfnet with gravity demands, b4 with its published ones fourfold, all pairs. Generated
(`generated`): the shortest tree over random points of the unit square, and edges of their Gabriel graph, drawn at
random, until there are 1.25 per node, as in networks of the Topology Zoo; demands by gravity between ends of lognormal
masses, as many as in the name; capacities 1, 4, 10, 40, 100, ..., the first above two thirds of what an edge carries
with every demand on its shortest path, where the middle edge carries 10. Everywhere the 4 shortest paths by links,
weights 1, 2, 4 and 8 at random. The gravity demands of abilene and nsfnet load the busiest link twofold on shortest
paths. A file is .npz with the arrays capacity, indptr, indices (links of every path), group (flow of every path),
demand and weight (per flow) and, if there is one, the text source.

Problems. `max-min W`: weighted, no demands. `max-min B`: unit weights, every flow capped by its demand. `alpha 1`:
weighted proportional fairness without demands; `alpha 2` and `alpha 4`: weighted, capped by demands. `throughput`: the
largest sum of rates under the demands, a linear program.

Methods. netnum's `solve` with its defaults, and a gap of 1e-7 for throughput. CVXPY with Clarabel, with defaults.
HiGHS: its simplex and its interior point (without crossover) for throughput; for max-min a sequence of linear programs,
`largest level, freeze flows by the duals`, each from the last basis. SWAN's iteration (Hong et al., SIGCOMM 2013):
rates may double from one linear program to the next, and flows below their bounds are frozen. A geometric binner
(Namyar et al., NSDI 2024): one linear program, rates in bins that double, each with a tenth of the weight of the one
below, or more where the last would have less than 1e-6; by HiGHS's interior point without crossover.

All methods start from the same arrays, in units of the median demand, with one thread; "seconds" is all from there to
rates and prices in NumPy, building of models included, the median of some runs. `netnum.certify` judges every answer:
"gap" bounds the utility still missing, "overload" is by how much a capacity or a cap was exceeded before that. The
fairness error of max-min is that of single rates, |rate - exact|/exact, in the mean and the largest, where exact is
netnum's answer with its proof. Where a peer proves a smaller gap than netnum did, netnum follows in a row
below with that gap, and "x netnum" is against that. A method that needs longer than `--patience` for one solve is
stopped where possible, and left out for more flows.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peer_runs import (
    ENVIRONMENT,
    circumstances,
    enter_environment,
    matches,
    parts_of,
    print_circumstances,
    repetitions,
    timed,
    write_json,
)
from tables import ROOT, commit, duration, markdown, three_digits
from wide_area_methods import ALPHA_FAIR, MAX_MIN, THROUGHPUT, Method, Task, TooSlow, netnum_to
from wide_area_networks import INSTANCES, QUICK, Instance, of_file

PAGE = ROOT / "docs/wide_area.md"


@dataclass
class Row:
    """One line of the table. Without numbers, `note` has the reason."""

    instance: str
    size: str
    source: str
    kind: str
    method: str
    runs: int = 0
    median: float | None = None
    gap: float | None = None
    overload: float | None = None
    mean_error: float | None = None
    largest_error: float | None = None
    ratio: float | None = None
    note: str = ""


#: Every problem: its name, alpha (0 for throughput), whether it is weighted and capped, and the methods.
KINDS: list[tuple[str, float, bool, bool, list[tuple[str, Method]]]] = [
    ("max-min W", math.inf, True, False, MAX_MIN),
    ("max-min B", math.inf, False, True, MAX_MIN),
    ("alpha 1", 1.0, True, False, ALPHA_FAIR),
    ("alpha 2", 2.0, True, True, ALPHA_FAIR),
    ("alpha 4", 4.0, True, True, ALPHA_FAIR),
    ("throughput", 0.0, False, True, THROUGHPUT),
]
METHODS = list(dict.fromkeys(method for *_, methods_of_task in KINDS for method, _ in methods_of_task))

#: The row below another method's that has proven a smaller gap.
SAME_GAP = "  netnum, that gap"

# --- the comparison ---


def measure(method: str, solve: Method, task: Task, exact: Any, patience: float) -> Row:
    """Times one method, and certifies its last answer."""
    import numpy as np

    import netnum

    instance = task.instance
    row = Row(instance.name, instance.size, instance.source, task.kind, method)
    try:
        first, answer = timed(lambda: solve(task, patience))
        runs = [first]
        if first < patience / 4:
            again = [timed(lambda: solve(task, patience)) for _ in range(repetitions(first))]
            runs, answer = [seconds for seconds, _ in again], again[-1][1]
        problem = task.problem()
        # An interior-point method may leave a zero a little below zero.
        rates, prices = np.maximum(answer.rates, 0.0), np.maximum(answer.prices, 0.0)
        certificate = netnum.certify(problem, rates, prices)
        feasible = problem.flow_rates(netnum.f_norm(problem, rates))
    except TooSlow:
        row.note = f"over {patience:.0f} s"
        return row
    except Exception as error:  # a failure is a row and not the end of the table
        row.note = f"{type(error).__name__}: {error}".splitlines()[0].split(". ")[0]
        return row
    row.runs, row.median = len(runs), statistics.median(runs)
    row.gap, row.overload = certificate.relative_gap, certificate.overload
    if exact is not None:
        errors = np.abs(feasible - exact) / exact
        row.gap, row.mean_error, row.largest_error = None, float(errors.mean()), float(errors.max())
    row.note = "" if answer.status == "optimal" else answer.status
    return row


def tasks(instance: Instance) -> Iterator[tuple[Task, list[tuple[str, Method]]]]:
    """Every problem of a network, and the methods for it."""
    import numpy as np

    for kind, alpha, weighted, capped, methods_of_task in KINDS:
        weights = instance.weights if weighted else np.ones(len(instance.weights))
        caps = instance.demands if capped else np.full(len(weights), np.inf)
        yield Task(instance, kind, alpha, weights, caps), methods_of_task


def exactly(task: Task) -> Any:
    """The max-min rates of flows, from a solution that is proven."""
    import netnum

    solution = netnum.solve(task.problem())
    if not solution.is_optimal:
        raise RuntimeError(f"the fair rates are not known: {solution}")
    return solution.flow_rates


def compare(instances: list[Instance], kinds: list[str], methods: list[str], patience: float) -> Iterator[Row]:
    """Every row, in order, as soon as it is known."""
    slow: dict[tuple[str, str], int] = {}
    for instance in instances:
        for task, methods_of_task in tasks(instance):
            if not any(matches(part, task.kind) for part in kinds):
                continue
            exact = exactly(task) if math.isinf(task.alpha) else None
            ours: Row | None = None
            for method, solve in methods_of_task:
                if not any(matches(part, method) for part in methods):
                    continue
                flows = len(task.weights)
                if slow.get((task.kind, method), flows + 1) <= flows:
                    note = f"over {patience:.0f} s for {slow[task.kind, method]} flows"
                    yield Row(instance.name, instance.size, instance.source, task.kind, method, note=note)
                    continue
                row = measure(method, solve, task, exact, patience)
                if row.note.startswith("over"):
                    slow[task.kind, method] = flows
                if method == "netnum":
                    ours = row
                    row.ratio = 1.0 if row.median is not None else None
                    yield row
                    continue
                beside = ours
                if row.gap is not None and ours is not None and ours.gap is not None and 1e-12 < row.gap < ours.gap:
                    beside = measure(SAME_GAP, netnum_to(row.gap, "gap"), task, None, patience)
                if beside is not None and row.median is not None and beside.median is not None and not beside.note:
                    row.ratio = row.median / beside.median
                yield row
                if beside is not None and beside is not ours:
                    yield beside


COLUMNS = f"{'method':<24}{'seconds':>11}{'gap':>10}{'overload':>10}{'mean err':>10}{'largest':>10}{'x netnum':>10}"


def line(row: Row) -> str:
    if row.median is None:
        return f"{row.method:<24}  {row.note}"
    small = (row.gap, row.overload, row.mean_error, row.largest_error)
    numbers = "".join(f"{'-':>10}" if value is None else f"{value:>10.1e}" for value in small)
    ratio = f"{'-':>10}" if row.ratio is None else f"{row.ratio:>10.2f}"
    return f"{row.method:<24}{row.median:>11.5f}{numbers}{ratio}  {row.note}".rstrip()


# --- the page ---

HEADER = """# Wide-area networks

How fast and how exact netnum and other solvers are on wide-area networks with several paths per flow and demands: one
thread each, medians of one run, from arrays to rates and prices. `max-min W` is weighted, `B` capped by demands,
`alpha 1` weighted, `alpha 2` and `4` weighted and capped, `throughput` capped. "Gap" is what `netnum.certify` proves of
an answer; "fairness error" is that of single rates against the proven max-min rates, the mean and the largest;
"× netnum" is the time beside netnum's in the same run, at the same proven gap. The page is written by `make wide-area`
in a clone of [the repository](https://github.com/netnum/netnum); the head of its script, `benches/wide_area.py`, says
how networks are drawn and what every method does.
"""


def summary(rows: list[Row]) -> str:
    """Per problem and method, how it compares with netnum over all networks."""
    lines = []
    others = dict.fromkeys((row.kind, row.method) for row in rows if row.method not in ("netnum", SAME_GAP))
    for kind, method in others:
        some = [row for row in rows if (row.kind, row.method) == (kind, method)]
        ratios = [row.ratio for row in some if row.ratio is not None]
        errors = [row.mean_error for row in some if row.mean_error is not None]
        gaps = [row.gap for row in some if row.gap is not None]
        spread = (min(ratios), statistics.median(ratios), max(ratios)) if ratios else ()
        cells = [f"{three_digits(ratio)} ×" for ratio in spread] or ["–"] * 3
        worst = [f"{max(values):.1e}" if values else "–" for values in (gaps, errors)]
        lines.append([f"{kind}, {method}", *cells, *worst, f"{len(ratios)} of {len(some)}"])
    header = ["problem, method", "least × netnum", "median", "most", "worst gap", "worst mean error", "answered"]
    return markdown(header, lines)


def page(about: dict[str, Any], rows: list[Row]) -> str:
    """The rows as a page, a table per network."""
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    load = f", load {about['load']:.1f} from other work" if about["load"] is not None else ""
    text = f"{HEADER}\n{about['processor']}{load}, {about['date']}, Python {about['python']}; {packages}.\n"
    text += f"\n## All networks\n\n{summary(rows)}"
    header = ["problem, method", "time", "gap", "fairness error, mean", "largest", "overload", "× netnum", ""]
    for name in dict.fromkeys(row.instance for row in rows):
        some = [row for row in rows if row.instance == name]
        text += f"\n## {name}\n\n{some[0].size}; {some[0].source}.\n\n"
        lines = []
        for row in some:
            cells = [f"{row.kind}, {row.method.strip()}"]
            cells.append("–" if row.median is None else duration(1e9 * row.median))
            small = (row.gap, row.mean_error, row.largest_error, row.overload)
            cells += ["–" if value is None else f"{value:.1e}" for value in small]
            cells.append("–" if row.ratio is None else f"{three_digits(row.ratio)} ×")
            lines.append([*cells, row.note])
        text += markdown(header, lines)
    return text


def main() -> None:
    """Compares, and prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="networks in .npz, beside or instead of --instances")
    parser.add_argument("--quick", action="store_true", help="the shipped networks only")
    parser.add_argument("--instances", type=parts_of([*(name for name, _ in INSTANCES), "none"]), help="only these")
    parser.add_argument("--problems", type=parts_of([kind for kind, *_ in KINDS]), default=[""], help="only these")
    parser.add_argument("--methods", type=parts_of(METHODS), default=[""], help="only these")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that one solve may take")
    parser.add_argument("--here", action="store_true", help="with the packages that there are: nothing is installed")
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    parser.add_argument("--write", action="store_true", help=f"also write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if not arguments.here and Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        enter_environment()

    about = circumstances()
    about["packages"]["netnum"] += f" at {commit()}"
    print_circumstances(about)
    parts = arguments.instances or (QUICK if arguments.quick else [""])
    drawn = [draw() for name, draw in INSTANCES if any(matches(part, name) for part in parts)]
    drawn += sorted((of_file(path) for path in arguments.files), key=lambda instance: len(instance.demands))
    rows: list[Row] = []
    for row in compare(drawn, arguments.problems, arguments.methods, arguments.patience):
        if not rows or (rows[-1].instance, rows[-1].kind) != (row.instance, row.kind):
            print(f"\n{row.instance} ({row.size}), {row.kind}\n{COLUMNS}")
        print(line(row), flush=True)
        rows.append(row)
        if arguments.json:
            write_json(arguments.json, about, rows)
    if arguments.write:
        PAGE.write_text(page(about, rows))
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
