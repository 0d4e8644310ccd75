"""The largest fraction of all demands that fits, and what it costs: beside max-min, and the linear program by HiGHS.

    python benches/concurrent_flow.py                 the networks of wide_area.py
    python benches/concurrent_flow.py --only abilene

All start from the same arrays: a `Problem`, or a sparse matrix for SciPy's `linprog`, the making of which is not timed.
`max-min` has the demands as weights: its first level is the fraction. The medians of some runs are of processor time,
so that other work on the machine matters little. "bound" is how far the fraction is from what its prices prove, and
"HiGHS" how far the two fractions are from each other, both relative.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from peer_runs import repetitions
from tables import duration, markdown, three_digits
from wide_area_networks import INSTANCES, Instance

import netnum


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, the median of some, and what it returned."""

    def once() -> tuple[float, Any]:
        began = time.process_time()
        found = run()
        return time.process_time() - began, found

    first, found = once()
    return statistics.median(once()[0] for _ in range(repetitions(first))), found


def program(instance: Instance) -> Callable[[], Any]:
    """The linear program of rates and the fraction, with HiGHS's choice of its methods."""
    count, flows = len(instance.group), len(instance.demands)
    paths = scipy.sparse.csr_matrix((np.ones(len(instance.indices)), instance.indices, instance.indptr))
    sums = scipy.sparse.csr_matrix((np.ones(count), (instance.group, np.arange(count))), (flows, count))
    links = scipy.sparse.csr_matrix((len(instance.capacities), 1))
    routing = scipy.sparse.csr_matrix((paths.data, paths.indices, paths.indptr), (count, len(instance.capacities))).T
    above = scipy.sparse.hstack([routing, links]).tocsr()
    equal = scipy.sparse.hstack([sums, scipy.sparse.csr_matrix(-instance.demands[:, None])]).tocsr()
    objective = np.append(np.zeros(count), -1.0)
    return lambda: scipy.optimize.linprog(objective, above, instance.capacities, equal, np.zeros(flows), method="highs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="networks whose names have this in them")
    only = parser.parse_args().only or ""
    rows = []
    for name, make in INSTANCES:
        if only not in name:
            continue
        instance = make()
        paths = netnum.Paths(instance.indptr, instance.indices)
        problem = netnum.Problem(instance.capacities, paths, group=instance.group, flow_cap=instance.demands)
        # Without caps max-min has all of its levels.
        fair = netnum.AlphaFair(math.inf, weight=instance.demands)
        levels = problem.with_flow_caps(None).with_utility(fair)
        ours, flow = seconds(lambda problem=problem: netnum.concurrent_flow(problem))
        all_levels, _ = seconds(lambda levels=levels: netnum.max_min(levels))
        theirs, answer = seconds(program(instance))
        apart = abs(flow.fraction + answer.fun) / flow.fraction
        times = [duration(1e9 * each) for each in (ours, all_levels, theirs)]
        proven = [f"{flow.gap:.0e}", f"{apart:.0e}"]
        rows.append([name, instance.size, f"{flow.fraction:.4f}", *times, three_digits(theirs / ours), *proven])
        print(rows[-1], file=sys.stderr)
    header = [
        "network",
        "size",
        "fraction",
        "concurrent_flow",
        "max_min",
        "linprog",
        "linprog / ours",
        "bound",
        "HiGHS",
    ]
    print(markdown(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
