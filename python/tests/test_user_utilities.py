"""Utilities given by value and marginal only, flat tails, and every family through repr, copies, pickle and JSON."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netnum


class Root:
    """U(x) = sqrt(x), without a demand."""

    def __init__(self) -> None:
        self.calls = 0

    def value(self, rates):
        return np.sqrt(rates)

    def marginal(self, rates):
        self.calls += 1
        return 0.5 / np.sqrt(rates)


class Deadline:
    """U(x) = 1 - exp(-4x/need): a rate meets the deadline, and more is worth next to nothing."""

    def __init__(self, need) -> None:
        self.need = np.asarray(need, dtype=float)

    def value(self, rates):
        return -np.expm1(-4 * rates / self.need)

    def marginal(self, rates):
        return 4 / self.need * np.exp(-4 * rates / self.need)


LINKS = [1e6, 3e6]
PATHS = [[0, 1], [0], [1]]


@pytest.mark.parametrize("method", ["auto", "fast-ned", "interior-point"])
def test_a_value_and_a_marginal_are_enough(method):
    own = netnum.solve(netnum.Problem(LINKS, PATHS, Root()), method=method)
    family = netnum.solve(netnum.Problem(LINKS, PATHS, netnum.AlphaFair(0.5)), tol=1e-9)
    assert own.status == "optimal"
    np.testing.assert_allclose(own.rates, family.rates, rtol=2e-3)


def test_a_value_and_a_marginal_obey_the_laws():
    netnum.check_utility(Root(), scale=1e6)
    netnum.check_utility(Deadline(2.0), scale=1e-3)


def test_without_a_marginal_the_error_names_what_is_needed():
    class Nothing:
        def value(self, rates):
            return rates

    with pytest.raises(TypeError, match=r"it has no method \"marginal\" \(of value, marginal\)"):
        netnum.Problem(LINKS, PATHS, Nothing())


@pytest.mark.parametrize("stop", ["rates", "gap", "kkt"])
def test_flat_tails_end_optimal(stop):
    need = np.array([0.3, 0.5, 0.2, 1.0, 0.1])
    problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1], [0], [1]], Deadline(need))
    solution = netnum.solve(problem, stop=stop)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6 or stop == "kkt"


positive = st.floats(1e-300, 1e300)
alphas = st.one_of(st.just(float("inf")), st.floats(1e-3, 1e3))


@st.composite
def curves(draw):
    steps = draw(st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(0, 1e9)), min_size=1, max_size=5))
    shares, bandwidths = [draw(st.floats(0, 1e3))], [0.0]
    for share, bandwidth in steps:
        shares.append(shares[-1] + share)
        bandwidths.append(bandwidths[-1] + bandwidth)
    tail = draw(st.floats(1e-6, 1e9)) if bandwidths[-1] == 0 else draw(st.one_of(st.just(0.0), st.floats(1e-6, 1e9)))
    return netnum.BandwidthFunction(shares, bandwidths, draw(alphas), tail)


utilities = st.one_of(
    st.builds(netnum.AlphaFair, alphas, positive),
    st.builds(netnum.Linear, positive),
    st.builds(netnum.MinFct, positive, st.floats(1e-3, 0.999)),
    curves(),
)


@given(utilities)
def test_every_family_keeps_its_parameters(utility):
    for other in (pickle.loads(pickle.dumps(utility)), copy.copy(utility), copy.deepcopy(utility)):
        assert other == utility
        assert repr(other) == repr(utility)
    problem = netnum.Problem([1.0], [[0]], utility)
    for other in (netnum.Problem.from_json(problem.to_json()), pickle.loads(pickle.dumps(problem))):
        assert other.to_json() == problem.to_json()
        kept = other.utility[0] if isinstance(other.utility, tuple) else other.utility
        for name in ("alpha", "weight", "size", "epsilon", "fair_share", "bandwidth", "tail_slope"):
            if hasattr(utility, name):
                np.testing.assert_array_equal(getattr(kept, name), getattr(utility, name))


def test_an_infinite_alpha_stays_infinite():
    utility = netnum.BandwidthFunction([0, 1], [0, 1], float("inf"))
    assert utility.alpha == float("inf")
    assert "alpha=inf" in repr(utility)
    problem = netnum.Problem([1.0, 3.0], [[0], [0, 1], [1]], utility)
    solution = netnum.solve(netnum.Problem.from_json(problem.to_json()))
    assert solution.method == "max-min"
