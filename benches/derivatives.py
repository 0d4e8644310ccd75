"""Derivatives of the optimum beside those of CVXPY with diffcp, which cvxpylayers runs, in the same run.

    python3 benches/derivatives.py                  everything
    python3 benches/derivatives.py --flows 100,1000 --limit 60

Instances: those of `peers.py`, the leaf-spine of 9 racks x 16 servers x 4 spines, one path per flow, proportional
fairness with weights. A row is one solve and the gradient of a random linear function of the rates in all capacities
and weights. CVXPY has both as parameters, so that its model is compiled once, before the timed runs, as cvxpylayers
does it; diffcp solves the cone program by Clarabel, and finds the gradient by LSQR, which is its default, by LSMR, or
from a dense matrix. netnum solves, refines and multiplies, from the same arrays. Both have one thread. "error" is the
largest difference from central differences, relative to the largest of these, at 4 links that are full and 4 flows
drawn at random. The problems at both ends of a difference are solved by netnum's interior point to a gap of 1e-13 and
not refined, so that neither gradient has a part in them.

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
#: How many links and flows the gradient is judged at, and the step of each difference, relative.
JUDGED, STEP = 4, 1e-4


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
    """Runs `measure` in a process that is given `limit` seconds; returns a text where it fails."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(measure, (method, flows)).get(limit)
        except multiprocessing.TimeoutError:
            return f"not within {limit:.0f} s"
        except Exception as error:  # a failure is a row and not the end of the table
            return f"{type(error).__name__}: {error}".splitlines()[0]


def differences(flows: int) -> list[tuple[Any, Any]]:
    """The places in the gradient where it is judged, and central differences there: in capacities, and in weights."""
    import numpy as np

    import netnum

    instance, toward = instance_of(flows)
    problem = problem_of(instance)

    def solved(capacities: Any, weights: Any) -> Any:
        moved = problem.with_capacities(capacities).with_utility(netnum.AlphaFair(1.0, weight=weights))
        solution = netnum.solve(moved, "interior-point", tol=1e-13)
        if not solution.is_optimal:
            raise RuntimeError(f"the optimum is not known: {solution}")
        return solution

    at = [instance.capacities, instance.weights]
    prices = solved(*at).prices
    random = np.random.default_rng(SEED + 1)
    places = [random.choice(some, JUDGED, replace=False) for some in (np.flatnonzero(prices > 1e-6), flows)]
    found = []
    for which, chosen in enumerate(places):
        slopes = []
        for place in chosen:
            step = np.zeros_like(at[which])
            step[place] = STEP * at[which][place]
            high, low = (
                toward
                @ solved(*[each + sign * step if number == which else each for number, each in enumerate(at)]).rates
                for sign in (1, -1)
            )
            slopes.append((high - low) / (2 * step[place]))
        found.append((chosen, np.array(slopes)))
    return found


def error_of(gradient: Any, expected: list[tuple[Any, Any]]) -> float:
    """The largest error where the gradient is judged, relative to the largest derivative in capacities or weights."""
    import numpy as np

    return max(
        float(np.abs(of[places] - slopes).max() / np.abs(slopes).max())
        for of, (places, slopes) in zip(gradient, expected, strict=True)
    )


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
        return layer.gradients(layer.solve(parameters), list(parameters), given, (BATCH,))

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
    print_circumstances(circumstances())
    for flows in arguments.flows:
        print(f"\n{flows} flows\n{'method':<16}{'seconds':>11}{'error':>10}{'x netnum':>10}  runs")
        ours, expected = 0.0, differences(flows)
        for method in METHODS:
            if "dense" in method and flows > DENSE:
                continue
            found = within(arguments.limit, method, flows)
            if isinstance(found, str):
                print(f"{method:<16}  {found}", flush=True)
                continue
            seconds, runs, gradient = found
            if method == "netnum":
                ours = seconds
            print(
                f"{method:<16}{seconds:>11.5f}{error_of(gradient, expected):>10.1e}{seconds / ours:>10.1f}{runs:>6}",
                flush=True,
            )
    seconds, runs = batch()
    print(f"\n{BATCH} problems of {BATCH_FLOWS} flows, {THREADS} threads: {1e3 * seconds:.1f} ms, {runs} runs")


if __name__ == "__main__":
    main()
