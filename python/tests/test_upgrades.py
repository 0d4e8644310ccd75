"""Which links are worth the most capacity."""

import numpy as np
import pytest

import netnum

INF = float("inf")


@pytest.fixture(scope="module")
def chain():
    """Three flows over links of 1, 4 and 8: the first link limits the first flow, the last one the others."""
    return netnum.Problem([1.0, 4.0, 8.0], [[0, 1], [1, 2], [2]], netnum.AlphaFair(1.0))


def drawn(seed, utility, capped):
    """Several paths per flow on a small network, some flows with demands."""
    rng = np.random.default_rng(seed)
    links, flows = 8, 12
    of_flow = rng.integers(1, 4, flows)
    paths = [rng.choice(links, rng.integers(1, 4), replace=False).tolist() for _ in range(of_flow.sum())]
    demands = np.where(rng.random(flows) < 0.5, rng.uniform(0.1, 2, flows), INF) if capped else None
    group = np.repeat(np.arange(flows), of_flow)
    return netnum.Problem(rng.uniform(0.5, 2, links), paths, utility, group=group, flow_cap=demands)


UTILITIES = {
    "alpha 0.5": netnum.AlphaFair(0.5),
    "alpha 1": netnum.AlphaFair(1.0),
    "alpha 2": netnum.AlphaFair(2.0, 2.0),
    "throughput": netnum.Linear(1.0),
    "bandwidth functions": netnum.BandwidthFunction([0, 1, 2], [0, 1, 1.5], alpha=2, tail_slope=1),
}


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("seed", range(6))
def test_no_upgrade_gains_more_than_its_price_times_what_is_added(name, seed):
    problem = drawn(seed, UTILITIES[name], capped=seed % 2 == 0)
    sets = [[link] for link in range(8)] + [[0, 1], [2, 3, 4], range(8)]
    study = netnum.upgrade_study(problem, sets, check=len(sets), tol=1e-9)
    gained = np.nan_to_num(study.gained)
    slack = 1e-6 * max(1.0, abs(study.before_upgrades.objective))
    assert np.all(gained <= study.predicted + slack)
    assert np.all(gained >= -slack), "more capacity takes nothing away"
    assert gained[-1] >= gained.max() - slack, "all links together are worth most"
    assert study.is_proven
    assert study.ranking[0] == len(sets) - 1
    # What is not solved again is predicted to gain nothing beside the best.
    assert np.all(study.predicted[np.isnan(study.gained)] <= 1e-8 * study.predicted.max())


@pytest.mark.parametrize("seed", range(4))
def test_a_little_capacity_gains_what_prices_say(seed):
    problem = drawn(seed, netnum.AlphaFair(1.0), capped=False)
    study = netnum.upgrade_study(problem, added=1e-3, check=8, tol=1e-11)
    assert study.gained[study.ranking[0]] == pytest.approx(study.predicted.max(), rel=2e-2)


def test_the_numbers_are_those_on_paper():
    """One link of 2 for two flows, and one of 1 for a third: 2 log((2 + a)/2) and log(1 + a)."""
    problem = netnum.Problem([2.0, 1.0, 5.0], [[0], [0], [1, 2]], netnum.AlphaFair(1.0))
    study = netnum.upgrade_study(problem, added=[1.0, 0.5, 7.0], tol=1e-10)
    np.testing.assert_allclose(study.predicted, [1.0, 0.5, 0.0], atol=1e-6)
    np.testing.assert_allclose(study.gained, [2 * np.log(1.5), np.log(1.5), np.nan], atol=1e-6)
    np.testing.assert_allclose(study.throughput, [4.0, 3.5, np.nan], atol=1e-6)
    np.testing.assert_allclose(study.throughput_change, [1.0, 0.5, np.nan], atol=1e-6)
    assert study.added.tolist() == [1.0, 0.5, 7.0]
    assert study.ranking.tolist() == [0, 1, 2]
    assert study.solutions[2] is None
    assert repr(study) == "UpgradeStudy(3 upgrades, 2 checked, best link 0: 0.8109 of at most 1)"


def test_only_the_best_are_solved_again_and_is_proven_is_right(chain):
    few = netnum.upgrade_study(chain, added=1.0, check=1)
    assert np.isnan(few.gained).tolist() == [False, True, True]
    assert few.gained[0] > few.predicted[1:].max()
    assert few.is_proven and "proven" not in repr(few)
    one = netnum.upgrade_study(chain, added=4.0, check=1)
    assert not one.is_proven and repr(one).endswith(", not proven to be the best)")
    unproven = netnum.upgrade_study(chain, [0, 2], added=[0.001, 1.0, 1.0], check=0)
    assert not unproven.is_proven
    assert repr(unproven) == "UpgradeStudy(2 upgrades, 0 checked)"
    assert unproven.solutions == (None, None)
    assert netnum.upgrade_study(chain, []).is_proven


class _CutShort:
    """A solution as after a time limit: of that status, with a part of its rates."""

    def __init__(self, solution, gap=0.5):
        self._solution, self.gap = solution, gap
        self.status, self.is_optimal, self.flow_rates = "time_limit", False, 0.5 * solution.flow_rates

    def __getattr__(self, name):
        return getattr(self._solution, name)


def test_a_base_that_was_cut_short_has_no_gains_and_the_repr_says_so(chain, monkeypatch):
    monkeypatch.setattr(
        "netnum._studies.study.solve", lambda *given, **settings: _CutShort(netnum.solve(*given, **settings))
    )
    monkeypatch.setattr(
        "netnum._studies.study.solve_many",
        lambda problems, method, warm_start, **settings: netnum.solve_many(problems, method, **settings),
    )
    study = netnum.upgrade_study(chain, added=1.0, check=2)
    assert np.isnan(study.gained).all()
    assert not study.is_proven
    assert study.ranking.tolist() == [0, 2, 1], "by price"
    assert repr(study) == "UpgradeStudy(3 upgrades, 0 checked, the network as it is not optimal (time_limit))"


def test_no_upgrade_is_ranked_by_a_solve_that_was_cut_short(chain, monkeypatch):
    def first_short(problems, *given, **settings):
        first, *others = netnum.solve_many(problems, *given, **settings)
        return [_CutShort(first), *others]

    whole = netnum.upgrade_study(chain, added=1.0, check=2)
    monkeypatch.setattr("netnum._studies.study.solve_many", first_short)
    study = netnum.upgrade_study(chain, added=1.0, check=2)
    np.testing.assert_array_equal(study.gained, [np.nan, np.nan, whole.gained[2]])
    assert study.ranking.tolist() == [2, 0, 1]
    assert not study.is_proven, "the first may gain more"
    assert repr(study).startswith("UpgradeStudy(3 upgrades, 1 checked, 1 cut short, best link 2: ")
    assert repr(study).endswith(", not proven to be the best)")
    monkeypatch.setattr(
        "netnum._studies.study.solve_many",
        lambda *given, **settings: [_CutShort(one, gap=INF) for one in netnum.solve_many(*given, **settings)],
    )
    none = netnum.upgrade_study(chain, added=1.0, check=2)
    assert np.isnan(none.gained).all()
    assert np.isnan(none.throughput).all()
    assert len({none, study, none}) == 2, "studies are compared by identity"


def test_by_default_capacity_is_doubled(chain):
    doubled = netnum.upgrade_study(chain)
    assert doubled.added.tolist() == [1.0, 4.0, 8.0]
    np.testing.assert_allclose(doubled.gained, netnum.upgrade_study(chain, added=[1.0, 4.0, 8.0]).gained, atol=1e-5)


def test_demands_bound_what_an_upgrade_gains():
    problem = netnum.Problem([1.0, 1.0], [[0], [1]], netnum.AlphaFair(1.0), flow_cap=[1.5, 8.0])
    study = netnum.upgrade_study(problem, added=3.0, tol=1e-9)
    np.testing.assert_allclose(study.gained, np.log([1.5, 4.0]), atol=1e-5)
    np.testing.assert_allclose(study.worst_ratio, [1 / 8, 1 / 2], rtol=1e-5)


def test_max_min_has_no_prices_and_every_full_link_is_tried():
    problem = netnum.Problem(
        [1.0, 3.0, 9.0], [[0], [1], [1], [2]], netnum.AlphaFair(INF), flow_cap=[INF, INF, INF, 5.0]
    )
    study = netnum.upgrade_study(problem, check=0)
    assert study.predicted.tolist() == [INF, INF, 0.0]
    np.testing.assert_allclose(study.gained, [0.5, 0.0, np.nan])
    assert study.ranking.tolist() == [0, 1, 2]
    assert study.is_proven
    assert repr(study) == "UpgradeStudy(3 upgrades, 2 checked, best link 0: 0.5)"
    slow = netnum.Problem([1.0, 3.0], [[0], [1], [1]], netnum.AlphaFair(INF, [5.0, 1.0, 1.0]))
    assert repr(netnum.upgrade_study(slow, [1])) == "UpgradeStudy(1 upgrade, 1 checked, none gains)"


def test_prices_of_classes_are_no_bound_and_every_full_link_is_tried():
    """The second class does not use link 0, so that its price there is 0."""
    problem = netnum.Problem([1.0, 2.0, 9.0], [[0, 2], [1, 2]], netnum.AlphaFair(1.0), priority=[0, 1])
    study = netnum.upgrade_study(problem, added=1.0, check=1, tol=1e-9)
    assert study.predicted.tolist() == [np.inf, np.inf, 0.0]
    assert study.gained == pytest.approx([np.log(2.0), np.log(1.5), np.nan], abs=1e-6, nan_ok=True)
    assert study.ranking[0] == 0 and study.is_proven


@pytest.mark.parametrize("seed", range(20))
def test_no_class_gains_by_more_of_a_link_that_is_not_full(seed):
    rng = np.random.default_rng(seed)
    paths = [sorted(rng.choice(4, rng.integers(1, 4), replace=False).tolist()) for _ in range(5)]
    classes = {"priority": rng.integers(0, 2, 5), "flow_cap": rng.uniform(0.2, 1.5, 5)}
    problem = netnum.Problem(rng.uniform(1.0, 5.0, 4), paths, netnum.AlphaFair(1.0), **classes)
    study = netnum.upgrade_study(problem, added=0.5, tol=1e-8)
    assert study.is_proven
    for link in np.flatnonzero(study.predicted == 0.0):
        more = problem.capacities.copy()
        more[link] += 0.5
        gained = netnum.solve(problem.with_capacities(more), tol=1e-8).objective - study.before_upgrades.objective
        assert gained == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("limits", [{"priority": [0, 1, 1]}, {"flow_floor": [4.0, 0.0, 0.0]}])
def test_issue_35_what_flows_gain_that_have_nothing_is_counted(limits):
    """The first flow leaves the second nothing of link 0. The third is alone on link 1."""
    problem = netnum.Problem([4.0, 1.0, 9.0], [[0], [0], [1, 2]], flow_cap=[4.0, 3.0, 3.0], **limits)
    study = netnum.upgrade_study(problem, added=1.0, tol=1e-8)
    assert study.predicted.tolist() == [np.inf, np.inf, 0.0]
    assert study.gained == pytest.approx([np.inf, np.log(2.0), np.nan], abs=1e-5, nan_ok=True)
    assert study.worst_ratio == pytest.approx([1 / 3, 0.0, np.nan], abs=1e-5, nan_ok=True)
    assert study.ranking.tolist() == [0, 1, 2]
    assert study.is_proven
    finite = netnum.upgrade_study(problem.with_utility("throughput"), added=1.0, tol=1e-8)
    assert finite.gained[:2] == pytest.approx([1.0, 1.0], abs=1e-5)


def test_issue_35_an_upgrade_that_starves_a_flow_loses():
    """With more of link 0 the first flow takes all of link 1 as well, so far what the second has."""
    problem = netnum.Problem([1.0, 3.0], [[0, 1], [1]], flow_cap=[3.0, 3.0], priority=[0, 1])
    study = netnum.upgrade_study(problem, [0], added=2.0)
    assert study.gained.tolist() == [-np.inf] and study.is_proven
    assert repr(study) == "UpgradeStudy(1 upgrade, 1 checked, none gains)"


def test_fibers_and_nodes_are_upgraded_together():
    net = netnum.topology.backbone("abilene")
    demands = netnum.demands.gravity(net, total=80_000)
    paths, group = net.k_shortest_paths(demands.sources, demands.destinations, 3)
    problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0), group=group, flow_cap=demands.volumes)
    links = netnum.upgrade_study(problem, added=2480.0)
    fibers = netnum.upgrade_study(problem, "fibers", added=2480.0)
    assert len(fibers.names) == 14
    assert fibers.added.tolist() == [4960.0] * 14
    for fiber, predicted in zip(fibers.upgrades, fibers.predicted, strict=True):
        assert predicted == pytest.approx(links.predicted[list(fiber)].sum())
    frame = fibers.to_pandas()
    assert frame.index.tolist() == fibers.ranking.tolist()
    assert frame["gained"].iloc[0] == np.nanmax(fibers.gained)
    assert (frame["price"] * frame["added"]).to_numpy() == pytest.approx(frame["predicted"].to_numpy())
    assert list(frame["upgrade"])[:2] == [fibers.names[number] for number in fibers.ranking[:2]]


def test_failed_links_are_left_out_or_refused(chain):
    failed = chain.with_capacities([1.0, 0.0, 9.0])
    assert netnum.upgrade_study(failed).upgrades == ([0], [2])
    with pytest.raises(netnum.ProblemError) as caught:
        netnum.upgrade_study(failed, [0, [2, 1]])
    assert str(caught.value) == (
        "upgrade 'link 2, link 1' names link 1, which has failed (capacity 0): "
        "give it a capacity first, since its flows change the sum of utilities"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"upgrades": [0, 5]}, "upgrade 1 names link 5, and there are 3 links"),
        ({"upgrades": "edges"}, "upgrades is 'edges', expected 'links', 'fibers', 'nodes' or a list of links"),
        ({"added": -1.0}, "added is -1.0, expected a finite number > 0"),
        ({"added": [1.0, float("nan"), 1.0]}, "added is nan for link 1, expected a finite number > 0"),
        ({"added": [1.0]}, "added has shape (1,), expected one number, or (3,), one per link"),
        ({"check": -1}, "check is -1, expected at least 0"),
        ({"tol": -1.0}, "tol is -1, expected a finite number > 0"),
    ],
)
def test_what_cannot_be_is_named(chain, arguments, message):
    with pytest.raises(netnum.NumError) as caught:
        netnum.upgrade_study(chain, **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "arguments",
    [{"upgrades": 3}, {"check": 1.5}, {"added": "much"}, {"added": np.ma.masked_array([1.0, 2.0, 3.0])}],
)
def test_a_wrong_type_is_a_type_error(chain, arguments):
    with pytest.raises(TypeError):
        netnum.upgrade_study(chain, **arguments)
