"""Coefficients, floors, costs and classes in other units: of links one by one, and of flows one by one."""

import numpy as np
import pytest

import netnum

UNITS = (1e-9, 1e-3, 1.0, 1e3, 1e9)


class Case:
    """A few links, flows over one or several paths with coefficients, caps, floors, and costs or classes."""

    def __init__(self, seed, has_classes):
        rng = self.rng = np.random.default_rng(seed)
        self.links, self.flows = int(rng.integers(2, 7)), int(rng.integers(2, 10))
        lists, group = [], []
        for flow in range(self.flows):
            for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.5 else 1):
                lists.append(rng.choice(self.links, int(rng.integers(1, min(self.links, 3) + 1)), replace=False))
                group.append(flow)
        self.lists, self.group = lists, np.array(group)
        self.alpha = (0.5, 1.0, 2.0, 4.0)[seed % 4]
        self.of_links, self.of_flows = np.ones(self.links), np.ones(self.flows)
        self.capacities = rng.uniform(1, 4, self.links)
        self.uses = [rng.uniform(0.3, 3, len(own)) for own in lists]
        self.weights = rng.uniform(0.5, 2, self.flows)
        share = self.capacities.mean() / self.flows
        self.cap = np.where(rng.random(self.flows) < 0.3, share * rng.uniform(0.5, 3, self.flows), np.inf)
        floors = share * rng.uniform(0.02, 0.2, self.flows) * (rng.random(self.flows) < 0.4)
        self.floor = np.minimum(floors, self.cap)
        self.cost = np.zeros(len(lists)) if has_classes else rng.uniform(0, 1, len(lists))
        self.priority = rng.integers(0, 2, self.flows) * float(has_classes)

    def solution(self):
        """The solution in these units: rates of flows in those of flows, capacities in those of links."""
        path = self.of_flows[self.group]
        uses = [use * self.of_links[own] / unit for own, use, unit in zip(self.lists, self.uses, path, strict=True)]
        indptr = np.cumsum([0, *map(len, self.lists)])
        paths = netnum.Paths(indptr, np.concatenate(self.lists), group=self.group, coefficients=np.concatenate(uses))
        # U = w^α (y/t)^(1 − α)/(1 − α) of a rate y in units t.
        weights = self.weights * self.of_flows ** ((self.alpha - 1) / self.alpha)
        problem = netnum.Problem(
            self.capacities * self.of_links,
            paths,
            netnum.AlphaFair(self.alpha, weights),
            flow_cap=self.cap * self.of_flows,
            flow_floor=self.floor * self.of_flows,
            path_cost=self.cost / path,
            priority=self.priority,
        )
        return netnum.solve(problem, tol=1e-8)


@pytest.mark.filterwarnings("ignore:flow .* starves")
@pytest.mark.parametrize("has_classes", [False, True])
def test_the_unit_of_a_link_changes_nothing(has_classes):
    compared = others = 0
    for seed in range(60):
        case = Case(seed, has_classes)
        before = case.solution()
        case.of_links = case.rng.choice(UNITS, case.links)
        after = case.solution()
        assert after.failed_flows.tolist() == before.failed_flows.tolist()
        # Of classes beside rates that fill links rounding decides which can be proven.
        others += after.status != before.status
        assert others <= (2 if has_classes else 0)
        if not (before.is_optimal and after.is_optimal):
            continue
        compared += 1
        # Rates of classes are right to the default accuracy, and what earlier ones leave is anything up to that.
        accuracy = {"rtol": 1e-3, "atol": 1e-6} if has_classes else {"rtol": 1e-6}
        np.testing.assert_allclose(after.flow_rates, before.flow_rates, **accuracy)
        assert after.gap == pytest.approx(before.gap, rel=0.1, abs=1e-8 if has_classes else 1e-10)
        # A class beside rates that fill links may stall first, which ends by rounding.
        assert has_classes or abs(after.iterations - before.iterations) <= 1
    assert compared >= 40


@pytest.mark.filterwarnings("ignore:flow .* starves")
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_a_flow_changes_no_answer(unit):
    compared = 0
    for seed in range(100, 140):
        case = Case(seed, has_classes=False)
        before = case.solution()
        if not before.is_optimal:
            continue
        case.of_flows[case.rng.integers(case.flows)] = unit
        after = case.solution()
        assert after.is_optimal and after.failed_flows.tolist() == before.failed_flows.tolist(), (seed, after)
        np.testing.assert_allclose(after.flow_rates / case.of_flows, before.flow_rates, rtol=1e-4)
        compared += 1
    assert compared >= 25
