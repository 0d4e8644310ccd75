"""Max-min over several paths against its definition: one linear program per level, by HiGHS."""

import numpy as np
import pytest

import netnum

linprog = pytest.importorskip("scipy.optimize").linprog
sparse = pytest.importorskip("scipy.sparse")


def filled(capacities, routing, owner, weights, demands):
    """Raises the common share t by a program, and fixes every flow that by a second one cannot have more."""
    paths = routing.shape[1]
    flows = len(weights)
    sums = sparse.csr_matrix((np.ones(paths), (owner, np.arange(paths))), shape=(flows, paths))
    held = np.full(flows, np.nan)

    def best(objective, least, shares):
        # Σ x ≥ least + shares·t, R x ≤ c; the last variable is t.
        rows = sparse.bmat([[routing, None], [-sums, sparse.csr_matrix(shares[:, None])]], format="csr")
        answer = linprog(objective, A_ub=rows, b_ub=np.concatenate([capacities, -least]), method="highs")
        assert answer.status == 0, answer.message
        return answer.x

    while np.isnan(held).any():
        free = np.isnan(held)
        least = np.where(free, 0.0, held) * (1 - 1e-10)
        objective = np.zeros(paths + 1)
        objective[-1] = -1.0
        level = min(best(objective, least, np.where(free, weights, 0.0))[-1], np.min((demands / weights)[free]))
        least = np.where(free, weights * level, held) * (1 - 1e-10)
        blocked = []
        for flow in np.flatnonzero(free):
            objective = np.zeros(paths + 1)
            objective[:paths] = np.where(owner == flow, -1.0, 0.0)
            most = -objective[:paths] @ best(objective, least, np.zeros(flows))[:paths]
            if weights[flow] * level >= demands[flow] * (1 - 1e-9) or most <= weights[flow] * level * (1 + 1e-6):
                blocked.append(flow)
        assert blocked
        held[blocked] = weights[blocked] * level
    return held


SEEDS = [seed if seed < 4 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(25)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("capped", [False, True])
def test_rates_are_those_of_a_sequence_of_linear_programs(seed, capped):
    rng = np.random.default_rng([seed, capped])
    links, flows = 10, 12
    capacities = rng.integers(1, 6, links).astype(float) if seed % 2 else 10 ** rng.uniform(-1, 1, links)
    paths = [rng.choice(links, rng.integers(1, 5), replace=False) for _ in range(3 * flows)]
    owner = np.repeat(np.arange(flows), 3)
    weights = 10 ** rng.uniform(-1, 1, flows)
    demands = 10 ** rng.uniform(-1, 1, flows) if capped else np.full(flows, np.inf)
    if capped:
        pairs = zip(weights, demands, strict=True)
        utility = [netnum.BandwidthFunction([0, d / w], [0, d], alpha=np.inf) for w, d in pairs]
    else:
        utility = netnum.AlphaFair(np.inf, weights)
    problem = netnum.Problem(capacities, paths, utility, group=owner)
    solution = netnum.solve(problem)
    assert solution.status == "optimal"
    crossed = np.concatenate(paths)
    columns = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
    routing = sparse.csr_matrix((np.ones(len(crossed)), (crossed, columns)), shape=(links, len(paths)))
    expected = filled(capacities, routing, owner, weights, demands)
    np.testing.assert_allclose(solution.flow_rates, expected, rtol=1e-6)
