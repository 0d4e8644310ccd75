"""Flows that are capped over all their paths, in Python."""

import json
import pickle

import numpy as np
import pytest
import second_opinion

import netnum

INF = float("inf")


class Logarithm:
    """A user's own: log(1 + x)."""

    def value(self, rates):
        return np.log1p(rates)

    def marginal(self, rates):
        return 1 / (1 + rates)


FAMILIES = {
    "alpha 0.5": netnum.AlphaFair(0.5),
    "alpha 1": netnum.AlphaFair(1.0),
    "alpha 3": netnum.AlphaFair(3.0, 2.0),
    "linear": netnum.Linear(2.0),
    "completion times": netnum.MinFct(2.0),
    "bandwidth function": netnum.BandwidthFunction([0, 1, 2], [0, 5, 6], alpha=2, tail_slope=1),
    "user's own": Logarithm(),
    "max-min": netnum.AlphaFair(INF),
    "max-min curve": netnum.BandwidthFunction([0, 1], [0, 5], alpha=INF, tail_slope=1),
}


def crowd(utility, rng, links=6, flows=12, capped=0.6):
    """Several paths per flow on a small network, the same with caps, and with a link in front of each capped flow."""
    capacities = rng.uniform(0.5, 2, links)
    of_flow = rng.integers(1, 4, flows)
    paths = [rng.choice(links, rng.integers(1, 3), replace=False).tolist() for _ in range(of_flow.sum())]
    group = np.repeat(np.arange(flows), of_flow)
    caps = np.where(rng.random(flows) < capped, rng.uniform(0.05, 0.5, flows), INF)
    bare = netnum.Problem(capacities, paths, utility, group=group)
    number = links + np.cumsum(np.isfinite(caps)) - 1
    longer = [
        path + ([int(number[flow])] if np.isfinite(caps[flow]) else []) for path, flow in zip(paths, group, strict=True)
    ]
    linked = netnum.Problem([*capacities, *caps[np.isfinite(caps)]], longer, utility, group=group)
    return bare.with_flow_caps(caps), linked


@pytest.mark.parametrize("name", FAMILIES)
def test_a_flow_cap_is_a_link_in_front_of_its_paths(name):
    rng = np.random.default_rng(7)
    for _ in range(5):
        capped, linked = crowd(FAMILIES[name], rng)
        found, expected = (netnum.solve(problem, tol=1e-8) for problem in (capped, linked))
        assert found.is_optimal and expected.is_optimal, (found, expected)
        assert np.all(found.flow_rates <= capped.flow_cap * (1 + 1e-12))
        if name == "linear":
            assert found.objective == pytest.approx(expected.objective, rel=1e-7)
        else:
            np.testing.assert_allclose(found.flow_rates, expected.flow_rates, rtol=5e-3)
        assert netnum.certify(capped, found.rates, found.prices).overload < 1e-12


@pytest.mark.parametrize("method", ["fast-ned", "interior-point", "xwi"])
def test_every_method_of_several_paths_keeps_the_caps(method):
    rng = np.random.default_rng(8)
    arrived = 0
    for _ in range(20):
        capped, _ = crowd(netnum.AlphaFair(1.0, rng.uniform(0.5, 2, 12)), rng)
        solution = netnum.solve(capped, method, tol=1e-2, stop="gap", max_iterations=1000)
        arrived += solution.is_optimal
        assert np.all(solution.flow_rates <= capped.flow_cap * (1 + 1e-12))
        best = netnum.solve(capped).objective
        assert best >= solution.objective - 1e-5
        assert not solution.is_optimal or solution.objective >= best - 1e-2 * 20
    assert arrived >= (12 if method == "xwi" else 20)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "user's own"])
def test_a_second_opinion_agrees(name):
    rng = np.random.default_rng(9)
    for _ in range(5):
        capped, _ = crowd(FAMILIES[name], rng)
        solution = netnum.solve(capped)
        own = second_opinion.Own(json.loads(capped.to_json()))
        assert own.overload(solution.rates) < 1e-12
        if own.worth.is_max_min:
            assert not len(second_opinion.not_max_min(own, solution.rates, 1e-6, rng))
            continue
        prices = second_opinion.Prices(own, solution.prices)
        gap = float(prices.relative_gap(own.feasible(solution.rates)))
        assert gap == pytest.approx(solution.gap, rel=1e-3, abs=1e-12)
        # Of wrong rates, too, which is relative to other sums there.
        rates = solution.rates * rng.uniform(0.5, 1.5, len(solution.rates))
        gap = float(prices.relative_gap(own.feasible(rates)))
        certificate = netnum.certify(capped, rates, solution.prices)
        assert 0.2 * gap <= certificate.relative_gap <= 5 * gap
        assert own.overload(rates) == pytest.approx(certificate.overload, rel=1e-9)


def pair(**named):
    """The first flow may take either link, the second only link 1."""
    return netnum.Problem([2.0, 2.0], [[0], [1], [1]], netnum.AlphaFair(1.0), group=[0, 0, 1], **named)


def test_a_flow_with_one_path_is_held_to_the_smaller_of_its_caps():
    problem = netnum.Problem(
        [9.0], [[0]] * 3, netnum.AlphaFair(1.0), rate_cap=[1.0, 2.0, INF], flow_cap=[2.0, 1.0, INF]
    )
    np.testing.assert_allclose(netnum.solve(problem).rates, [1.0, 1.0, 7.0], rtol=1e-5)
    fairest = netnum.Problem([9.0], [[0]] * 2, netnum.AlphaFair(INF), flow_cap=[1.0, INF])
    np.testing.assert_allclose(netnum.max_min(fairest), [1.0, 8.0], rtol=1e-15)


def test_a_flow_at_its_cap_has_no_bottleneck():
    solution = netnum.solve(pair(flow_cap=[0.5, INF]))
    assert solution.bottlenecks.tolist() == [-1, -1, 1]
    np.testing.assert_allclose(solution.flow_rates, [0.5, 2.0], rtol=1e-3)


def test_caps_are_read_back_and_none_are_none():
    problem = pair(flow_cap=[0.5, INF])
    assert problem.flow_cap.tolist() == [0.5, INF]
    assert not problem.flow_cap.flags.writeable
    assert pair().flow_cap is None
    assert pair(flow_cap=[INF, INF]).flow_cap is None
    assert pickle.loads(pickle.dumps(problem)).flow_cap.tolist() == [0.5, INF]
    assert json.loads(problem.to_json())["flow_cap"] == [0.5, None]
    assert "flow_cap" not in json.loads(pair().to_json())
    assert netnum.Problem.from_json(problem.to_json()).flow_cap.tolist() == [0.5, INF]


def test_other_caps_share_all_else():
    net = netnum.topology.leaf_spine(2, 2, 2)
    utility = netnum.AlphaFair(1.0)
    problem = netnum.Problem(net, net.paths(0, 2), utility, group=[0, 0], rate_cap=[1e9, INF])
    capped = problem.with_flow_caps([5e8])
    assert capped.network is net
    assert capped.utility is utility
    assert capped.rate_cap.tolist() == [1e9, INF]
    assert problem.flow_cap is None
    assert capped.with_flow_caps(None).flow_cap is None
    assert capped.with_capacities(problem.capacities / 2).flow_cap.tolist() == [5e8]
    assert netnum.solve(capped).flow_rates == pytest.approx([5e8], rel=1e-5)


@pytest.mark.parametrize(
    ("caps", "message"),
    [
        ([1.0], "flow_cap has 1 entries, expected 2, one per flow"),
        ([1.0, 1.0, 1.0], "flow_cap has 3 entries, expected 2, one per flow"),
        ([1.0, float("nan")], r"flow 1 has flow cap NaN, expected a number >= 0 \(inf for none\)"),
        ([-1.0, 1.0], r"flow 0 has flow cap -1, expected a number >= 0 \(inf for none\)"),
    ],
)
def test_wrong_caps_name_the_flow(caps, message):
    for make in (lambda: pair(flow_cap=caps), lambda: pair().with_flow_caps(caps)):
        with pytest.raises(netnum.ProblemError, match=message):
            make()
    with pytest.raises(TypeError, match="flow_cap"):
        pair(flow_cap="many")


@pytest.mark.parametrize("name", ["flow_cap", "flow_floor"])
def test_demands_and_frames_are_refused_with_what_to_give_and_numbers_by_pair_are_taken(name):
    pandas = pytest.importorskip("pandas")
    net = netnum.topology.from_edges("A B 10\nB C 6")
    frame = pandas.DataFrame({"source": ["A", "B"], "destination": ["C", "C"], "demand": [2.0, 1.0]})
    demands = netnum.demands.from_pandas(net, frame)
    by_pair = frame.set_index(["source", "destination"]).demand
    for paths in ([("A", "C"), ("B", "C")], [["A", "B", "C"], ["B", "C"]]):
        for given in (frame.demand, demands.volumes, by_pair, by_pair.to_dict()):
            assert getattr(netnum.Problem(net, paths, **{name: given}), name).tolist() == [2.0, 1.0]
        for given, message in [
            (demands, "not a Demands: `volumes` is its array, and `to_matrix(net)` makes one"),
            (frame, "not of dtype object: of a frame give a column of numbers, frame[name]"),
        ]:
            with pytest.raises(TypeError) as caught:
                netnum.Problem(net, paths, **{name: given})
            assert str(caught.value) == f"{name} must be an array of numbers, {message}"


def test_a_flow_capped_at_zero_gets_nothing_and_fails():
    solution = netnum.solve(pair(flow_cap=[0.0, INF]))
    assert solution.failed_flows.tolist() == [0]
    np.testing.assert_allclose(solution.flow_rates, [0.0, 2.0], rtol=1e-5)


def test_normalizers_keep_the_caps():
    problem = pair(flow_cap=[1.0, INF])
    np.testing.assert_allclose(netnum.f_norm(problem, [1.0, 3.0, 1.0]), [0.25, 0.75, 1.0])
    np.testing.assert_allclose(netnum.u_norm(problem, [1.0, 3.0, 1.0], raise_rates=True), [0.25, 0.75, 1.0 / 0.875])
    # What the first flow leaves is the second's.
    np.testing.assert_allclose(netnum.fill(problem, [1.0, 1.0, 1.0]), [0.5, 0.5, 1.5])


def test_many_problems_and_one_solver_keep_the_caps():
    demands = np.random.default_rng(3).uniform(0.1, 2, (20, 2))
    problem = pair()
    together = netnum.solve_many([problem.with_flow_caps(demand) for demand in demands])
    for demand, solution in zip(demands, together, strict=True):
        assert solution.is_optimal
        alone = netnum.solve(pair(flow_cap=demand))
        np.testing.assert_allclose(solution.flow_rates, alone.flow_rates, rtol=1e-12)
        assert np.all(solution.flow_rates <= demand * (1 + 1e-12))
    solver = netnum.Solver(pair(flow_cap=[0.5, INF]), "fast-ned")
    solver.step(20)
    assert netnum.Solver(pair(flow_cap=[0.5, INF]), "interior-point").problem.flow_cap.tolist() == [0.5, INF]
    assert problem.flow_rates(solver.rates)[0] <= 0.5 * (1 + 1e-12)


def test_failures_are_studied_under_the_same_demands():
    study = netnum.failure_study(pair(flow_cap=[1.0, 1.5]), [0, 1])
    np.testing.assert_allclose(study.before_failures.flow_rates, [1.0, 1.5], rtol=1e-3)
    np.testing.assert_allclose(study.solutions[0].flow_rates, [1.0, 1.0], rtol=1e-3)
    np.testing.assert_allclose(study.solutions[1].flow_rates, [1.0, 0.0], rtol=1e-3)
    assert [flows.tolist() for flows in study.cut_off] == [[], [1]]
