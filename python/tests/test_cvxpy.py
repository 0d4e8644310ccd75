"""Several paths per flow with demands: the interior point beside CVXPY with Clarabel, and beside SciPy's HiGHS."""

import numpy as np
import pytest

import netnum

sparse = pytest.importorskip("scipy.sparse")
linprog = pytest.importorskip("scipy.optimize").linprog


def drawn(seed, utility):
    """Up to four shortest paths per flow over a small network, weights, and demands of every second flow."""
    rng = np.random.default_rng(seed)
    net = netnum.topology.backbone(["abilene", "b4", "nsfnet"][seed % 3])
    net = net.with_capacities(rng.uniform(1, 4, len(net.capacities)))
    sources, destinations = net.random_pairs(20, seed=seed)
    paths, group = net.k_shortest_paths(sources, destinations, rng.integers(2, 5))
    demands = np.where(rng.random(20) < 0.5, rng.uniform(0.05, 1, 20), np.inf)
    return netnum.Problem(net, paths, utility(rng.uniform(0.5, 2, 20)), group=group, flow_cap=demands)


def matrices(problem):
    """Links x paths, and flows x paths."""
    paths = len(problem.group)
    crossings = (np.ones(len(problem.paths.indices)), problem.paths.indices, problem.paths.indptr)
    over = sparse.csc_matrix(crossings, shape=(problem.links, paths))
    return over, sparse.csr_matrix((np.ones(paths), (problem.group, np.arange(paths))), shape=(problem.flows, paths))


#: Per alpha how close the rates of Clarabel itself come, relative to each.
CLOSE = {0.5: 1e-5, 1.0: 1e-6, 2.0: 1e-5, 3.0: 1e-5}


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("alpha", CLOSE)
@pytest.mark.parametrize("seed", range(6))
def test_the_interior_point_agrees_with_cvxpy(alpha, seed):
    cvxpy = pytest.importorskip("cvxpy")
    problem = drawn(seed, lambda weights: netnum.AlphaFair(alpha, weights))
    solution = netnum.solve(problem, "interior-point", tol=1e-10, stop="kkt")
    weights, (over, sums) = problem.utility.weight, matrices(problem)
    rates = cvxpy.Variable(over.shape[1], nonneg=True)
    flows = sums @ rates
    some = np.flatnonzero(np.isfinite(problem.flow_cap))
    within = over @ rates <= problem.capacities
    if alpha == 1:
        utility = cvxpy.sum(cvxpy.multiply(weights, cvxpy.log(flows)))
    else:
        utility = cvxpy.sum(cvxpy.multiply(weights**alpha / (1 - alpha), cvxpy.power(flows, 1 - alpha)))
    program = cvxpy.Problem(cvxpy.Maximize(utility), [within, flows[some] <= problem.flow_cap[some]])
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    program.solve(solver="CLARABEL", **tolerances)
    assert solution.is_optimal
    assert solution.objective == pytest.approx(program.value, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(solution.flow_rates, flows.value, rtol=CLOSE[alpha])
    np.testing.assert_allclose(solution.prices, within.dual_value, atol=CLOSE[alpha] * within.dual_value.max())


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_throughput_is_that_of_highs(seed):
    problem = drawn(seed, netnum.Linear)
    over, sums = matrices(problem)
    some = np.isfinite(problem.flow_cap)
    rows, limits = sparse.vstack([over, sums[some]]), np.concatenate([problem.capacities, problem.flow_cap[some]])
    program = linprog(-(sums.T @ problem.utility.weight), A_ub=rows, b_ub=limits, method="highs")
    for method in ("auto", "interior-point"):
        solution = netnum.solve(problem, method, tol=1e-8)
        assert solution.is_optimal
        assert solution.objective == pytest.approx(-program.fun, rel=1e-7)
