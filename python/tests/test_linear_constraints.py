"""Coefficients, floors, costs and classes of linear programs beside HiGHS: throughput, least cost, and ties by cost."""

import numpy as np
import pytest

import netnum

linprog = pytest.importorskip("scipy.optimize").linprog

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Case:
    """A network of a few links with flows over one or several paths, caps, and a link that may have failed."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        links, self.flows = int(rng.integers(2, 8)), int(rng.integers(2, 12))
        several = rng.random() < 0.6
        lists, group = [], []
        for flow in range(self.flows):
            for _ in range(int(rng.integers(1, 4)) if several else 1):
                lists.append(np.sort(rng.choice(links, int(rng.integers(1, min(links, 3) + 1)), replace=False)))
                group.append(flow)
        self.group, self.lists = np.array(group), lists
        self.capacities = rng.uniform(1, 4, links)
        if rng.random() < 0.15:
            self.capacities[rng.integers(links)] = 0.0
        has_uses = rng.random() < 0.7
        self.uses = [rng.uniform(0.2, 3, len(own)) if has_uses else np.ones(len(own)) for own in lists]
        share = self.capacities.mean() / self.flows
        self.flow_cap = np.where(rng.random(self.flows) < 0.4, share * rng.uniform(0.5, 3, self.flows), np.inf)
        self.rate_cap = np.where(rng.random(len(lists)) < 0.2, share * rng.uniform(0.2, 3, len(lists)), np.inf)
        floors = share * rng.uniform(0.05, 0.6, self.flows) * (rng.random(self.flows) < 0.6)
        self.floor = np.minimum(floors, self.flow_cap)
        self.cost = rng.uniform(0, 2, len(lists)) * (rng.random(len(lists)) < 0.8)

    def paths(self):
        indptr, uses = np.cumsum([0, *map(len, self.lists)]), np.concatenate(self.uses)
        return netnum.Paths(indptr, np.concatenate(self.lists), group=self.group, coefficients=uses)

    def problem(self, utility, **more):
        bounds = {"rate_cap": self.rate_cap, "flow_cap": self.flow_cap, "flow_floor": self.floor}
        return netnum.Problem(self.capacities, self.paths(), utility, **{**bounds, **more})

    def best(self, gain, floor, cap):
        """The largest gain by the rates of paths, where flows have between floor and cap; None if nothing fits."""
        routing = np.zeros((len(self.capacities), len(self.lists)))
        for path, (own, uses) in enumerate(zip(self.lists, self.uses, strict=True)):
            routing[own, path] = uses
        own = (self.group[None, :] == np.arange(self.flows)[:, None]) * 1.0
        capped = np.flatnonzero(np.isfinite(cap))
        rows, bounds = [routing, -own, own[capped]], [self.capacities, -floor, cap[capped]]
        ends = [(0, None if np.isinf(most) else most) for most in self.rate_cap]
        program = {"c": -gain, "A_ub": np.vstack(rows), "b_ub": np.concatenate(bounds), "bounds": ends}
        for presolve in (True, False):
            answer = linprog(**program, method="highs", options={**TOLERANCES, "presolve": presolve})
            if answer.status == 0:
                return -answer.fun
        return None

    def served(self):
        failed = {int(link) for link in np.flatnonzero(self.capacities == 0)}
        open_paths = [not failed & {int(link) for link in own} for own in self.lists]
        return np.bincount(self.group, open_paths, self.flows) > 0


def compare(seed):
    case = Case(seed)
    floor = np.where(case.served(), case.floor, 0.0)
    worth = case.rng.uniform(0.5, 2, case.flows)
    problem = case.problem(netnum.Linear(worth), path_cost=case.cost)
    solution = netnum.solve(problem, tol=1e-8)
    best = case.best(worth[case.group] - case.cost, floor, case.flow_cap)
    if best is None:
        assert solution.status == "infeasible"
        assert case.best(case.cost * 0, floor * solution.infeasibility.fraction * (1 - 1e-9), case.flow_cap) == 0
        assert case.best(case.cost * 0, floor * solution.infeasibility.fraction * (1 + 1e-6), case.flow_cap) is None
        return "infeasible"
    assert solution.is_optimal, solution
    assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    # The floors at the least cost.
    cheapest = netnum.solve(case.problem(netnum.Linear(0.0), flow_cap=_finite(case), path_cost=case.cost), tol=1e-8)
    if not cheapest.is_optimal:
        return "stalled"
    assert (cheapest.flow_rates >= floor * (1 - 1e-9)).all()
    assert case.cost @ cheapest.rates == pytest.approx(-case.best(-case.cost, floor, case.flow_cap), rel=1e-6, abs=1e-6)
    # Of the best splits the cheapest.
    of_links = case.rng.uniform(0, 2, len(case.capacities))
    tied = netnum.solve(case.problem(netnum.AlphaFair(np.inf)), tie_cost=of_links, tol=1e-8)
    if not tied.is_optimal:
        return "stalled"
    cost = np.array([of_links[own] @ uses for own, uses in zip(case.lists, case.uses, strict=True)])
    least = case.best(-cost, tied.flow_rates * (1 - 1e-9), tied.flow_rates)
    assert cost @ tied.rates == pytest.approx(-least, rel=1e-6, abs=1e-6)
    # Classes, each as good as those before it leave.
    priority = case.rng.integers(0, 3, case.flows).astype(float)
    classes = netnum.solve(case.problem(netnum.Linear(worth), priority=priority), tol=1e-8)
    # Rates that are kept over several paths may leave a class with prices that are not unique: docs/limits.md.
    if not classes.is_optimal:
        return "stalled"
    for one in classes.classes:
        kept = np.where(priority < one.priority, classes.flow_rates, floor)
        most = np.where(priority == one.priority, case.flow_cap, kept)
        gain = np.where(priority == one.priority, worth, 0.0)[case.group]
        best = case.best(gain, np.where(priority < one.priority, kept * (1 - 1e-9), kept), most)
        found = worth[one.flows] @ classes.flow_rates[one.flows]
        # What is kept may be eased by 1e-9 of it above.
        assert found == pytest.approx(best, rel=1e-6, abs=1e-6)
    return "optimal"


def _finite(case):
    """Caps of all flows, without which those that are worth nothing and have no floor are refused."""
    return np.where(np.isinf(case.flow_cap), 100.0, case.flow_cap)


def test_linear_optima_are_those_of_highs():
    ends = [compare(seed) for seed in range(30)]
    assert ends.count("optimal") >= 25 and "infeasible" in ends and "stalled" not in ends


@pytest.mark.slow
def test_three_hundred_linear_optima_are_those_of_highs():
    ends = [compare(seed) for seed in range(1000, 1300)]
    assert ends.count("optimal") >= 280 and ends.count("stalled") <= 1
