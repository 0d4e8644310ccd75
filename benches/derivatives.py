"""Derivatives of the optimum beside those of CVXPY with diffcp, which cvxpylayers runs, in the same run.

    python3 benches/derivatives.py                  everything
    python3 benches/derivatives.py --flows 100,1000 --limit 60

Instances: those of `peers.py`, the leaf-spine of 9 racks x 16 servers x 4 spines, one path per flow, proportional
fairness with weights. A row is one solve and the gradient of a random linear function of the rates in all capacities
and weights. CVXPY has both as parameters, so that its model is compiled once, before the timed runs, as cvxpylayers
does it; diffcp solves the cone program by Clarabel, and finds the gradient by LSQR, which is its default, by LSMR, or
from a dense matrix. netnum solves, refines and multiplies, from the same arrays. Both have one thread. "error" is the
largest difference of a gradient from netnum's, relative to its largest entry; netnum's is that of central differences
along a random direction.

The last row is a batch: 64 problems of 1000 flows with other capacities and weights each, solved and differentiated
on two threads, by what the layers of PyTorch and JAX share.

Runs in the environment of `peers.py`. Run nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peer_runs import (
    ENVIRONMENT,
    SEED,
    circumstances,
    enter_environment,
    print_circumstances,
    repetitions,
    timed,
)
from peers import leaf_spine, problem_of, routing, with_flows

#: The most flows for which a dense matrix fits in memory.
DENSE = 1000
BATCH, BATCH_FLOWS, THREADS = 64, 1000, 2


def instance_of(flows: int) -> tuple[Any, Any]:
    """The instance, and the function of its rates."""
    import numpy as np

    instance = with_flows("leaf-spine 9 x 16 x 4", leaf_spine(), flows)
    return instance, np.random.default_rng(SEED).normal(size=flows)


def netnum_gradient(flows: int) -> Callable[[], Any]:
    """Solve and vjp of netnum."""
    import netnum

    instance, toward = instance_of(flows)
    problem = problem_of(instance)

    def run() -> Any:
        found = netnum.solve(problem).sensitivity().vjp(flow_rates=toward)
        return found["capacities"], found["weight"]

    return run


def diffcp_gradient(flows: int, mode: str) -> Callable[[], Any]:
    """Solve and backward of CVXPY with diffcp."""
    import cvxpy
    import numpy as np

    instance, toward = instance_of(flows)
    rates = cvxpy.Variable(flows)
    capacities = cvxpy.Parameter(len(instance.capacities), value=instance.capacities)
    weights = cvxpy.Parameter(flows, nonneg=True, value=instance.weights)
    utility = weights @ cvxpy.log(rates)
    problem = cvxpy.Problem(cvxpy.Maximize(utility), [routing(instance) @ rates <= capacities])

    def run() -> Any:
        problem.solve(requires_grad=True, solve_method="CLARABEL", mode=mode)
        if problem.status != "optimal":
            raise RuntimeError(problem.status)
        rates.gradient = toward
        problem.backward()
        return np.array(capacities.gradient), np.array(weights.gradient)

    return run


METHODS: dict[str, Callable[[int], Callable[[], Any]]] = {
    "netnum": netnum_gradient,
    "diffcp, LSQR": lambda flows: diffcp_gradient(flows, "lsqr"),
    "diffcp, LSMR": lambda flows: diffcp_gradient(flows, "lsmr"),
    "diffcp, dense": lambda flows: diffcp_gradient(flows, "dense"),
}


def measure(method: str, flows: int) -> tuple[float, int, Any]:
    """The median time of some runs after a first one, their number, and the gradient."""
    run = METHODS[method](flows)
    warm_up, gradient = timed(run)
    seconds = [timed(run)[0] for _ in range(repetitions(warm_up))]
    return statistics.median(seconds), len(seconds), gradient


def within(limit: float, method: str, flows: int) -> Any:
    """The same in a process that has so many seconds; a text for what went wrong."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(measure, (method, flows)).get(limit)
        except multiprocessing.TimeoutError:
            return f"not within {limit:.0f} s"
        except Exception as error:  # a failure is a row and not the end of the table
            return f"{type(error).__name__}: {error}".splitlines()[0]


def error_by_differences(flows: int) -> float:
    """The error of netnum's gradient along one direction, against problems that are solved again."""
    import numpy as np

    import netnum

    instance, toward = instance_of(flows)
    problem = problem_of(instance)
    of_capacities, of_weights = netnum_gradient(flows)()
    random = np.random.default_rng(SEED + 1)
    directions = instance.capacities * random.normal(size=problem.links), instance.weights * random.normal(size=flows)
    values = []
    for step in (1e-6, -1e-6):
        utility = netnum.AlphaFair(1.0, weight=instance.weights + step * directions[1])
        moved = problem.with_utility(utility).with_capacities(instance.capacities + step * directions[0])
        # The point is refined to rounding.
        values.append(toward @ netnum.solve(moved).sensitivity().flow_rates)
    expected = (values[0] - values[1]) / 2e-6
    return abs(of_capacities @ directions[0] + of_weights @ directions[1] - expected) / abs(expected)


def batch() -> tuple[float, int]:
    """The median time of solving and differentiating a batch, and the number of runs."""
    import numpy as np

    from netnum._layer import Layer

    instance, toward = instance_of(BATCH_FLOWS)
    random = np.random.default_rng(SEED)
    parameters = {
        "capacities": instance.capacities * random.uniform(0.8, 1.2, (BATCH, len(instance.capacities))),
        "weight": instance.weights * random.uniform(0.8, 1.2, (BATCH, BATCH_FLOWS)),
    }
    layer = Layer(problem_of(instance), "flow_rates", "refuse", THREADS)
    given = {"flow_rates": np.tile(toward, (BATCH, 1))}

    def run() -> Any:
        return layer.gradients(layer.solve(parameters), list(parameters), given)

    run()
    seconds = [timed(run)[0] for _ in range(15)]
    return statistics.median(seconds), len(seconds)


def main() -> None:
    """Compares, and prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--flows", type=lambda text: [int(part) for part in text.split(",")], default=[100, 1000, 10_000]
    )
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for all runs of one row")
    arguments = parser.parse_args()
    if Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        enter_environment()
    import numpy as np

    print_circumstances(circumstances())
    for flows in arguments.flows:
        print(f"\n{flows} flows\n{'method':<16}{'seconds':>11}{'error':>10}{'x netnum':>10}  runs")
        ours, best = 0.0, None
        for method in METHODS:
            if "dense" in method and flows > DENSE:
                continue
            found = within(arguments.limit, method, flows)
            if isinstance(found, str):
                print(f"{method:<16}  {found}", flush=True)
                continue
            seconds, runs, gradient = found
            if best is None:
                ours, best = seconds, gradient
                error = error_by_differences(flows)
            else:
                pairs = zip(gradient, best, strict=True)
                error = max(np.abs(one - other).max() / np.abs(other).max() for one, other in pairs)
            print(f"{method:<16}{seconds:>11.5f}{error:>10.1e}{seconds / ours:>10.1f}{runs:>6}", flush=True)
    seconds, runs = batch()
    print(f"\n{BATCH} problems of {BATCH_FLOWS} flows, {THREADS} threads: {1e3 * seconds:.1f} ms, {runs} runs")


if __name__ == "__main__":
    main()
