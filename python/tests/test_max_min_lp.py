"""Max-min over several paths against its definition: one linear program per level, by HiGHS."""

import numpy as np
import pytest

import netnum

linprog = pytest.importorskip("scipy.optimize").linprog
sparse = pytest.importorskip("scipy.sparse")

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
#: What flows that are held may miss: more where rounding of the levels before leaves no answer.
MISSED = (1e-11, 1e-9, 1e-8, 1e-7)


def filled(capacities, routing, owner, weights, demands):
    """Raises the common share t by a program, and fixes every flow that by a second one cannot have more."""
    paths = routing.shape[1]
    flows = len(weights)
    sums = sparse.csr_matrix((np.ones(paths), (owner, np.arange(paths))), shape=(flows, paths))
    held, most_missed = np.full(flows, np.nan), [0.0]

    def best(objective, least, shares):
        # Σ x ≥ least + shares·t, R x ≤ c; the last variable is t.
        # Every row in its own unit, as the tolerances are absolute.
        unit, room = np.where(least > 0, least, 1.0), np.where(capacities > 0, capacities, 1.0)
        of_links, of_flows = sparse.diags(1 / room) @ routing, sparse.diags(-1 / unit) @ sums
        rows = sparse.bmat([[of_links, None], [of_flows, sparse.csr_matrix((shares / unit)[:, None])]], format="csr")
        for missed in MISSED:
            bounds = np.concatenate([capacities / room, -least / unit * (1 - missed)])
            answer = linprog(objective, A_ub=rows, b_ub=bounds, method="highs", options=TOLERANCES)
            if answer.status == 0:
                most_missed.append(missed)
                return answer.x
        raise AssertionError(answer.message)

    while np.isnan(held).any():
        free = np.isnan(held)
        least = np.where(free, 0.0, held)
        objective = np.zeros(paths + 1)
        objective[-1] = -1.0
        level = min(best(objective, least, np.where(free, weights, 0.0))[-1], np.min((demands / weights)[free]))
        least = np.where(free, weights * level, held)
        rooms = {}
        for flow in np.flatnonzero(free):
            objective = np.zeros(paths + 1)
            objective[:paths] = np.where(owner == flow, -1.0, 0.0)
            most = -objective[:paths] @ best(objective, least, np.zeros(flows))[:paths]
            has_all = weights[flow] * level >= demands[flow] * (1 - 1e-9)
            rooms[flow] = 0.0 if has_all else (most - 1e-12) / max(weights[flow] * level, 1e-9) - 1
        # The flow with the least room is held by the level, whatever the program leaves it for rounding.
        blocked = [flow for flow, room in rooms.items() if room <= max(1e-6, min(rooms.values()))]
        assert min(rooms.values()) <= 1e-5
        held[blocked] = weights[blocked] * level
    return held, max(most_missed)


SEEDS = [seed if seed < 4 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(50)]


def coefficients_of(kind, rng, count):
    if kind == "ones":
        return np.ones(count)
    if kind == "halves":
        return rng.choice([1.0, 0.5, 0.25], count)
    return 10 ** rng.uniform(-1, 1, count)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["ones", "halves", "any"])
@pytest.mark.parametrize("capped", [False, True])
def test_rates_are_those_of_a_sequence_of_linear_programs(seed, kind, capped):
    rng = np.random.default_rng([seed, capped])
    links, flows = 10, 12
    # Equal levels in every second one, and in every fourth equal weights and capacities too.
    capacities = rng.integers(1, 6, links).astype(float) if seed % 2 else 10 ** rng.uniform(-1, 1, links)
    weights = 10 ** rng.uniform(-1, 1, flows)
    if seed % 4 == 1:
        capacities[:], weights[:] = 1.0, 1.0
    if seed % 3 == 2:
        capacities[rng.integers(links)] = 0.0
    paths = [rng.choice(links, rng.integers(1, 5), replace=False) for _ in range(3 * flows)]
    owner = np.repeat(np.arange(flows), 3)
    demands = 10 ** rng.uniform(-1, 1, flows) if capped else np.full(flows, np.inf)
    indices, indptr = np.concatenate(paths), np.cumsum([0] + [len(path) for path in paths])
    coefficients = coefficients_of(kind, rng, len(indices))
    routing = sparse.csc_matrix((coefficients, indices, indptr), shape=(links, len(paths)))
    if capped and seed % 2:
        pairs = zip(weights, demands, strict=True)
        utility, cap = [netnum.BandwidthFunction([0, d / w], [0, d], alpha=np.inf) for w, d in pairs], None
    else:
        utility, cap = netnum.AlphaFair(np.inf, weights), demands
    problem = netnum.Problem(
        capacities, netnum.Paths(indptr, indices, coefficients=coefficients), utility, group=owner, flow_cap=cap
    )
    solution = netnum.solve(problem)
    assert solution.status == "optimal"
    expected, missed = filled(capacities, routing.tocsr(), owner, weights, demands)
    # What a program may be off by is more of the rates of light users, by as much as coefficients differ.
    close = max(1e-5, 1e5 * missed) if kind == "any" else 1e-6
    np.testing.assert_allclose(solution.flow_rates, expected, rtol=close, atol=1e-12)
