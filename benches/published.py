"""The total-flow instances that NCFlow and POP were measured on, drawn again, beside Gurobi's published results.

    python benches/published.py                                all 40 instances each of Uninett2010, UsCarrier, Cogentco
    python benches/published.py --networks Kdl --instances 3   three of the largest (its paths take an hour, once)

The largest sum of rates of all pairs of a network, each at most its demand, over the paths of `zoo.py`. `networks/`
has the networks, the seeds of the demands, and the figures as published, with their sources. Demands are drawn from
the seed: their sum has to be the published one (which was summed in float32), and the largest total flow too. Columns:
the scale of the demands, the largest relative difference of the sums and of the flows, Gurobi's seconds as published
(the machine is not stated there), netnum's from arrays to rates and proof on this machine with one thread, and the
ratio of the two; each the median of a scale's instances. What is not optimal is counted in the last column.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections import defaultdict

import zoo
from tables import markdown, three_digits

import netnum

#: The largest demand at scale 1, Mbit/s: the published sums over those of the seed's numbers between 0 and 1.
LARGEST = {"Uninett2010": 0.46, "UsCarrier": 0.05, "Cogentco": 0.06, "Kdl": 0.005}


def published(name: str) -> dict[float, list[dict[str, str]]]:
    """The rows of a network by scale."""
    scales = defaultdict(list)
    with (zoo.NETWORKS / "total_flow.csv").open() as file:
        for row in csv.DictReader(file):
            if row["network"] == name:
                scales[float(row["scale_factor"])].append(row)
    return scales


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="Uninett2010,UsCarrier,Cogentco", help="separated by commas")
    parser.add_argument("--instances", type=int, default=5, help="at most so many of each scale")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds per solve")
    options = parser.parse_args()
    rows = []
    for name in options.networks.split(","):
        pairs = zoo.all_pairs(name)
        print(f"{name}: {pairs.size}\n")
        for scale, instances in published(name).items():
            sums, flows, theirs, ours, failed = [], [], [], [], 0
            for row in instances[: options.instances]:
                demands = pairs.uniform(int(row["seed"]), LARGEST[name]) * scale
                start = time.perf_counter()
                solution = netnum.solve(pairs.problem(netnum.Linear(1.0), demands), time_limit=options.time_limit)
                ours.append(time.perf_counter() - start)
                theirs.append(float(row["seconds"]))
                sums.append(abs(demands.sum() / float(row["total_demand"]) - 1))
                flows.append(abs(solution.rates.sum() / float(row["total_flow"]) - 1))
                failed += solution.status != "optimal"
            gurobi, own = statistics.median(theirs), statistics.median(ours)
            differences = (f"{max(sums):.0e}", f"{max(flows):.0e}")
            times = (f"{three_digits(gurobi)} s", f"{three_digits(own)} s", f"{three_digits(own / gurobi)}")
            rows.append([name, f"{scale:g}", str(len(ours)), *differences, *times, str(failed)])
    header = ["network", "scale", "instances", "sum of demands", "total flow", "Gurobi", "netnum", "ratio", "failed"]
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
