"""Max-min over several paths, level by level: at none can the flows that stop there get more, by a program of HiGHS."""

from pathlib import Path

import numpy as np
import pytest
from test_max_min_lp import TOLERANCES
from test_max_min_ties import chains, grid, ladder, ring, tied

import netnum

linprog = pytest.importorskip("scipy.optimize").linprog
sparse = pytest.importorskip("scipy.sparse")

#: What flows that are held may miss, so that rounding leaves the program an answer. Where they are many beside those
#: of a level, these have up to 3e4 times as much more.
MISSED = 1e-10
ROUNDING = 1e5 * MISSED

FINDS = Path(__file__).parent / "finds"


def largest_gain(problem, rates, weights):
    """By which part the flows of a level could have more in all while the others keep theirs up to it; the largest."""
    paths, flows = problem.paths, problem.flows
    owner = np.asarray(problem.group)
    demands = np.full(flows, np.inf) if problem.flow_cap is None else np.asarray(problem.flow_cap)
    lengths = np.diff(paths.indptr)
    routing = sparse.csr_matrix(
        (np.ones(len(paths.indices)), (paths.indices, np.repeat(np.arange(len(lengths)), lengths))),
        shape=(problem.links, len(lengths)),
    )
    sums = sparse.csr_matrix((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(flows, len(owner)))
    shares = rates / weights
    is_held = rates < demands * (1 - 1e-9)
    gains = []
    left = is_held.copy()
    while left.any():
        level = shares[left].min()
        of_level = left & (shares <= level * (1 + 1e-7))
        left &= ~of_level
        # In units of each row, as the tolerances of the program are absolute.
        least = np.minimum(rates, level * weights)
        most = np.where(np.isfinite(demands), demands / least, np.inf)
        bounded = np.isfinite(most)
        unit = sparse.diags(1 / least) @ sums
        rows = sparse.vstack([sparse.diags(1 / problem.capacities) @ routing, -unit, unit[bounded]], format="csr")
        bounds = np.concatenate([np.ones(problem.links), np.full(flows, -(1 - MISSED)), most[bounded]])
        objective = -np.asarray(sums[of_level].sum(axis=0)).ravel() / least[of_level].sum()
        answer = linprog(objective, A_ub=rows, b_ub=bounds, method="highs", options=TOLERANCES)
        assert answer.status == 0, answer.message
        gains.append(-answer.fun - 1)
    return max(gains)


SEEDS = [seed if seed < 2 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(12)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [grid, ring, ladder, chains])
def test_no_level_of_tied_problems_leaves_its_flows_anything(make, seed):
    problem = tied(make, seed)
    if seed % 2:
        # Some flows have all they ask for, some of them just at a level.
        demands = np.random.default_rng(seed).choice([20.0, 50.0, 100.0, np.inf], problem.flows)
        problem = problem.with_flow_caps(demands)
    solution = netnum.solve(problem)
    assert solution.status == "optimal"
    weights = np.broadcast_to(problem.utility.weight, problem.flows)
    assert largest_gain(problem, np.asarray(solution.flow_rates), weights) <= ROUNDING


def test_rates_of_equal_capacities_that_once_had_eight_flows_wrong_are_right():
    problem = netnum.Problem.from_json((FINDS / "max-min-equal-capacities.json").read_text())
    fair = netnum.max_min(problem)
    assert fair.unfairness <= 1e-12
    assert fair.flow_rates[31] == pytest.approx(155.118, abs=1e-3)
    assert largest_gain(problem, np.asarray(fair.flow_rates), np.ones(problem.flows)) <= ROUNDING
