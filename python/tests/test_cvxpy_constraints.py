"""Coefficients, floors, costs and classes beside CVXPY with Clarabel: small random problems of every utility."""

import numpy as np
import pytest

import netnum

cvxpy = pytest.importorskip("cvxpy")
linprog = pytest.importorskip("scipy.optimize").linprog

FEATURES = ("coefficients", "floors", "costs", "classes", "all")
UTILITIES = (0.5, 1.0, 2.0, 4.0, "bandwidth function", "completion time")
#: By what part of them the peer may miss rates that are kept.
KEPT = 1e-9
TOLERANCES = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)


class Case:
    """A network of a few links with flows over one or several paths, caps, and a link that may have failed."""

    def __init__(self, feature, seed):
        rng = self.rng = np.random.default_rng([FEATURES.index(feature), seed])
        self.kind = UTILITIES[seed % len(UTILITIES)]
        links, flows = int(rng.integers(2, 7)), int(rng.integers(2, 9))
        several = rng.random() < 0.5
        lists, group = [], []
        for flow in range(flows):
            for _ in range(int(rng.integers(1, 4)) if several else 1):
                lists.append(np.sort(rng.choice(links, int(rng.integers(1, min(links, 3) + 1)), replace=False)))
                group.append(flow)
        self.group, self.flows = np.array(group), flows
        self.capacities = rng.uniform(1, 4, links)
        if rng.random() < 0.15:
            self.capacities[rng.integers(links)] = 0.0
        self.routing = np.zeros((links, len(lists)))
        for path, own in enumerate(lists):
            self.routing[own, path] = rng.uniform(0.2, 3, len(own)) if feature in ("coefficients", "all") else 1.0
        self.weights = rng.uniform(0.5, 2, flows)
        share = (self.capacities.mean() + 0.1) / flows
        self.flow_cap = np.where(rng.random(flows) < 0.4, share * rng.uniform(0.2, 3, flows), np.inf)
        self.rate_cap = np.where(rng.random(len(lists)) < 0.2, share * rng.uniform(0.2, 3, len(lists)), np.inf)
        has = {"floors": feature in ("floors", "all"), "costs": feature in ("costs", "all")}
        floors = np.minimum(share * rng.uniform(0.1, 1.5, flows), self.flow_cap) * (rng.random(flows) < 0.5)
        self.floor = floors * has["floors"]
        self.cost = rng.uniform(0, 2, len(lists)) * has["costs"]
        classes = rng.integers(0, 3, flows).astype(float)
        self.priority = classes if feature in ("classes", "all") else np.zeros(flows)
        # Rates from 0 on, and a flat piece where there is one.
        rises = rng.uniform(0.2, 1, 3) * np.array([1, rng.random() < 0.7, 1])
        self.points = np.cumsum([0, *rng.uniform(0.3, 1, 3)]), share * np.cumsum([0, *rises])
        self.curve_alpha = float(rng.choice([0.5, 1, 2]))

    @property
    def alpha(self):
        return self.kind if isinstance(self.kind, float) else 0.125

    def problem(self):
        match self.kind:
            case "bandwidth function":
                utility = netnum.BandwidthFunction(*self.points, self.curve_alpha)
            case "completion time":
                utility = netnum.MinFct(1 / self.weights)
            case alpha:
                utility = netnum.AlphaFair(alpha, self.weights)
        crossed = [np.flatnonzero(column) for column in self.routing.T]
        indptr = np.cumsum([0, *map(len, crossed)])
        uses = np.concatenate([column[own] for column, own in zip(self.routing.T, crossed, strict=True)])
        paths = netnum.Paths(indptr, np.concatenate(crossed), group=self.group, coefficients=uses)
        return netnum.Problem(
            self.capacities,
            paths,
            utility,
            rate_cap=self.rate_cap,
            flow_cap=self.flow_cap,
            flow_floor=self.floor,
            path_cost=self.cost,
            priority=self.priority,
        )

    def value(self, rate, flow, within):
        """U of one flow as CVXPY has it, and what it takes."""
        match self.kind:
            case "bandwidth function":
                shares, rates = self.points
                pieces = cvxpy.Variable(len(shares) - 1, nonneg=True)
                within += [rate >= cvxpy.sum(pieces), pieces <= np.diff(rates)]
                total = 0.0
                for piece, rise in enumerate(np.diff(rates) / np.diff(shares)):
                    if rise > 0:
                        at = shares[piece] + pieces[piece] / rise
                        # 0 at the last point.
                        total += rise * (_power(at, self.curve_alpha) - _power_at(shares[piece + 1], self.curve_alpha))
                return total
            case "completion time":
                return self.weights[flow] * cvxpy.power(rate, 0.875)
            case alpha:
                return self.weights[flow] ** alpha * _power(rate, alpha)

    def best(self, flows, fixed):
        """The largest objective of some flows where others have their rates, and the rates of all paths and flows."""
        rates = cvxpy.Variable(len(self.group), nonneg=True)
        own = (self.group[None, :] == np.arange(self.flows)[:, None]) * 1.0
        totals, within = own @ rates, [self.routing @ rates <= self.capacities]
        for limit, left in ((self.rate_cap, rates), (self.flow_cap, totals)):
            some = np.flatnonzero(np.isfinite(limit))
            if len(some):
                within.append(left[some] <= limit[some])
        # Rates that are kept fill links, which leaves the peer no interior.
        for flow, rate in fixed.items():
            within += [totals[flow] >= rate * (1 - KEPT), totals[flow] <= rate]
        within += [totals[flow] >= self.floor[flow] for flow in flows]
        objective = sum(self.value(totals[flow], flow, within) for flow in flows) - self.cost @ rates
        program = cvxpy.Problem(cvxpy.Maximize(objective), within)
        program.solve(solver="CLARABEL", **TOLERANCES)
        return program.value, rates.value, totals.value

    def least_cost(self, flow_rates):
        """What it costs at least that flows have these rates."""
        own = (self.group[None, :] == np.arange(self.flows)[:, None]) * 1.0
        program = {
            "c": self.cost,
            "A_ub": np.vstack([self.routing, -own]),
            "b_ub": np.concatenate([self.capacities * (1 + KEPT), -flow_rates * (1 - KEPT)]),
            "bounds": [(0, None if np.isinf(most) else most) for most in self.rate_cap],
        }
        answer = linprog(**program, method="highs")
        assert answer.status == 0, answer.message
        return answer.fun

    def check_feasible(self, rates):
        totals = np.bincount(self.group, rates, self.flows)
        served = np.isin(np.arange(self.flows), self.group[(self.routing[self.capacities == 0] == 0).all(axis=0)])
        assert (self.routing @ rates <= self.capacities * (1 + 1e-9)).all() and (rates >= 0).all()
        assert (rates <= self.rate_cap * (1 + 1e-9)).all() and (totals <= self.flow_cap * (1 + 1e-9)).all()
        assert (totals >= self.floor * (1 - 1e-9))[served].all()

    def part_of_floors(self, served):
        rates, part = cvxpy.Variable(len(self.group), nonneg=True), cvxpy.Variable()
        own = (self.group[None, :] == np.arange(self.flows)[:, None]) * 1.0
        within = [self.routing @ rates <= self.capacities, (own @ rates)[served] >= part * self.floor[served]]
        some = np.flatnonzero(np.isfinite(self.rate_cap))
        within += [rates[some] <= self.rate_cap[some]] if len(some) else []
        return cvxpy.Problem(cvxpy.Maximize(part), within).solve(solver="CLARABEL", **TOLERANCES)


def _power(rate, alpha):
    return cvxpy.log(rate) if alpha == 1 else cvxpy.power(rate, 1 - alpha) / (1 - alpha)


def _power_at(share, alpha):
    return np.log(share) if alpha == 1 else share ** (1 - alpha) / (1 - alpha)


def compare(feature, seed):
    case = Case(feature, seed)
    problem = case.problem()
    solution = netnum.solve(problem, tol=1e-7, stop="kkt")
    served = np.setdiff1d(np.arange(case.flows), solution.failed_flows)
    if solution.status == "infeasible":
        part = case.part_of_floors(served)
        assert part < 1 and solution.infeasibility.fraction == pytest.approx(part, abs=1e-6)
        return "infeasible"
    # Rates that are kept over several paths may leave a class with prices that are not unique: docs/limits.md.
    if solution.classes and not solution.is_optimal and solution.gap > 1e-7:
        return "stalled"
    assert solution.is_optimal or solution.classes, solution
    case.check_feasible(solution.rates)
    starved = solution.failed_flows
    for priority in np.unique(case.priority):
        flows = np.setdiff1d(np.flatnonzero(case.priority == priority), starved)
        fixed = {flow: solution.flow_rates[flow] for flow in np.flatnonzero(case.priority < priority)}
        fixed |= {flow: case.floor[flow] for flow in np.flatnonzero(case.priority > priority)}
        fixed |= dict.fromkeys(starved.tolist(), 0.0)
        if not len(flows):
            continue
        try:
            value, splits, rates = case.best(flows, fixed)
        except cvxpy.SolverError:
            return "no peer"
        values = problem.values(solution.flow_rates)[flows]
        # A later class may have made the splits of this one dearer.
        has_later = (case.priority > priority).any()
        costs = case.least_cost(_at_floors(case, solution, priority)) if has_later else case.cost @ solution.rates
        found = values.sum() - costs
        [own] = [one for one in solution.classes if one.priority == priority] or [solution]
        # What the peer takes beyond what there is, at the prices.
        over = np.maximum(case.routing @ splits - case.capacities, 0) + KEPT * case.capacities
        lacks = sum(max(rate - rates[flow], 0.0) * _dearest(case, own.prices, flow) for flow, rate in fixed.items())
        # More than the peer's is its own inaccuracy, since these rates are feasible.
        assert found >= value - 1e-6 * max(1.0, abs(value)) - 2 * (own.prices @ over + lacks)
        if solution.is_optimal and case.alpha <= 2 and case.kind != "bandwidth function":
            np.testing.assert_allclose(solution.flow_rates[flows], rates[flows], rtol=1e-4, atol=1e-5)
    return "optimal"


def _dearest(case, prices, flow):
    return (prices @ case.routing[:, case.group == flow]).max()


def _at_floors(case, solution, priority):
    """Rates of flows where later classes have no more than their floors."""
    later = (case.priority > priority) & (solution.flow_rates > 0)
    return np.where(later, case.floor, solution.flow_rates)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("feature", FEATURES)
def test_optima_are_those_of_cvxpy(feature):
    ends = [compare(feature, seed) for seed in range(24)]
    assert ends.count("optimal") >= 12 and not ends.count("stalled")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("feature", FEATURES)
def test_three_hundred_optima_are_those_of_cvxpy(feature):
    ends = [compare(feature, seed) for seed in range(100, 400)]
    assert ends.count("optimal") >= 200 and ends.count("stalled") <= 3 and ends.count("no peer") <= 3
