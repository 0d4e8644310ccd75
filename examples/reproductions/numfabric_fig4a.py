"""NUMFabric, Fig. 4a: how many iterations after 100 flows have come or gone until the others' rates are right again.

1000 paths between random servers; at every event 100 of them start a flow or end theirs, so that 300 to 500 are active.
Rates follow the prices at once, prices move once per interval: 30 µs for xWI, 16 µs for all else. An event is over when
95 % of the flows are within 10 % of the optimum and stay there for 5 ms. All methods see the same events, and each
starts an event from the prices that it had at the end of the last one.
"""

import math

import numpy as np
from page import Page

import netnum

STAYS = 5e-3  # seconds for which rates must stay
LIMIT = 20e-3  # seconds after which an event counts as not converged


def scenario(events, seed, alpha=1.0):
    """The problem before the first event and after each: flows with α-fair utilities on a network in Gbit/s."""
    net = netnum.topology.leaf_spine(8, 16, 4, server_capacity=10.0, fabric_capacity=40.0)
    rng = np.random.default_rng(seed)
    paths = list(net.ecmp(*net.random_pairs(1000, seed=seed), seed=seed))
    active = np.zeros(1000, bool)
    active[rng.permutation(1000)[:400]] = True
    problems = []
    for _ in range(events + 1):
        problems.append(netnum.Problem(net, [paths[path] for path in np.flatnonzero(active)], netnum.AlphaFair(alpha)))
        count = active.sum()
        grows = count == 300 or (count == 400 and rng.random() < 0.5)
        active[rng.choice(np.flatnonzero(active != grows), 100, replace=False)] = grows
    return problems


def convergence(problems, interval, rates, start):
    """Iterations until each of the problems but the first has converged; infinite where it does not in time.

    `start` makes a solver of a problem and the prices to begin at; `rates` takes the rates from it.
    """
    prices = netnum.solve(problems[0]).prices
    counts = []
    limit, stays = (math.ceil(time / interval) for time in (LIMIT, STAYS))
    for problem in problems[1:]:
        optimum = netnum.solve(problem, tol=1e-9).rates
        solver = start(problem, prices)
        iteration, since = 0, None
        while since is None or iteration < since + stays:
            if np.mean(np.abs(rates(solver) / optimum - 1) <= 0.1) < 0.95:
                since = None
            elif since is None:
                since = iteration
            if since is None and iteration >= limit:
                break
            solver.step()
            iteration += 1
        counts.append(math.inf if since is None else since)
        prices = solver.prices
    return counts


def raw(solver):
    """What the prices ask for: of xWI feasible, of others not while prices are wrong."""
    return solver.raw_rates


def f_norm(solver):
    """The same divided by the largest load per capacity on the path."""
    return solver.rates


def fill(solver):
    """The same as weights of a max-min."""
    return netnum.fill(solver.problem, solver.raw_rates)


def method(name, **options):
    """What starts a solver with a method of the library."""
    return lambda problem, prices: netnum.Solver(problem, name, warm_start=prices, **options)


# Name, seconds per iteration, rates, solver. The gradient's step is per (Gbit/s)²; its queue of 0.06 is the paper's b/a,
# 1.2e-7 per byte over 4e-3, in what an excess of 1 Gbit/s piles up in 16 µs.
METHODS = [
    ("xWI", 30e-6, raw, method("xwi")),
    ("DGD with the paper's gains", 16e-6, raw, method("gradient", step=4e-3, queue=0.06)),
    ("DGD with delay", 16e-6, raw, method("gradient", step=3.5e-3, delay=1)),
    ("RCP* with delay", 16e-6, raw, method("rcp", a=0.6, delay=1)),
    ("NED 0.4 + F-NORM", 16e-6, f_norm, method("ned", gamma=0.4)),
    ("fast NED + F-NORM", 16e-6, f_norm, method("fast-ned")),
    ("fast NED + fill", 16e-6, fill, method("fast-ned")),
]
