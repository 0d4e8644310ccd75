"""Allocators of flowlets with several paths."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import Allocator, Paths

TWO = Paths.from_lists([[0], [1], [0]], group=[0, 0, 1])


def abilene():
    net = netnum.topology.backbone("abilene")
    pairs = [("Seattle", "Atlanta"), ("Denver", "Houston"), ("New York", "Los Angeles"), ("Chicago", "Houston")]
    return net, net.k_shortest_paths(pairs, 3)


def test_flowlets_over_what_k_shortest_paths_returns_split_as_the_solver_does():
    net, found = abilene()
    allocator = Allocator(net, update_threshold=0.0)
    ids = allocator.start(found, weight=[1.0, 2.0, 3.0, 1.0])
    assert ids.shape == (4,)
    allocator.tick(3000)
    problem = netnum.Problem(net, found, netnum.AlphaFair(1.0, [1.0, 2.0, 3.0, 1.0]))
    best = netnum.solve(problem, tol=1e-9)
    np.testing.assert_allclose(allocator.rates(ids), best.flow_rates, rtol=1e-3)
    certificate = netnum.certify(problem, allocator.path_rates(ids), allocator.prices)
    assert certificate.relative_gap < 1e-4 and certificate.overload < 1e-9


def test_rates_of_paths_add_up_to_those_of_flowlets():
    allocator = Allocator([6.0, 3.0], update_threshold=0.0)
    ids = allocator.start(TWO)
    allocator.tick(200)
    np.testing.assert_allclose(allocator.path_rates(ids), [1.5, 3.0, 4.5], rtol=1e-4)
    np.testing.assert_allclose(allocator.path_rates(ids[::-1]), [4.5, 1.5, 3.0], rtol=1e-4)
    by_id = dict(zip(allocator.ids.tolist(), allocator.rates().tolist(), strict=True))
    assert by_id[ids[0]] == pytest.approx(4.5, rel=1e-4) and len(allocator.path_rates()) == 3


def test_a_failed_link_moves_traffic_at_the_next_tick_and_is_news_of_its_path():
    allocator = Allocator([6.0, 3.0])
    ids = allocator.start(TWO, flow_cap=[3.0, np.inf])
    allocator.tick(300)
    first = allocator.path_updates()
    paths = set(zip(first[0].tolist(), first[1].tolist(), strict=True))
    assert paths == {(ids[0], 0), (ids[0], 1), (ids[1], 0)}
    assert all(len(column) == 0 for column in allocator.path_updates())
    allocator.set_capacity(1, 0.0)
    allocator.tick()
    assert allocator.path_rates(ids[:1])[1] == 0.0
    news = list(zip(*(column.tolist() for column in allocator.path_updates()), strict=True))
    assert (ids[0], 1, 0.0) in news
    allocator.tick(100)
    np.testing.assert_allclose(allocator.rates(ids), [0.99 * 3.0, 0.99 * 3.0], rtol=1e-3)


def test_caps_of_paths_and_of_flowlets_are_kept_and_change():
    allocator = Allocator([6.0, 6.0], update_threshold=0.0)
    ids = allocator.start(TWO, rate_cap=[np.inf, 1.0, np.inf], flow_cap=[4.0, np.inf])
    allocator.tick(200)
    np.testing.assert_allclose(allocator.path_rates(ids), [2.5, 1.0, 3.5], rtol=1e-3)
    allocator.change(ids, rate_cap=[np.inf, 2.0, 2.0])
    allocator.tick(200)
    np.testing.assert_allclose(allocator.path_rates(ids), [2.0, 2.0, 2.0], rtol=1e-3)
    allocator.change(ids, flow_cap=[5.0, 1.0])
    allocator.tick(200)
    np.testing.assert_allclose(allocator.path_rates(ids), [3.0, 2.0, 1.0], rtol=1e-3)
    allocator.change(ids[:1], paths=[[1]])
    assert allocator.path_rates(ids[:1]).tolist() == [0.0]
    allocator.tick(200)
    np.testing.assert_allclose(allocator.path_rates(ids), [5.0, 1.0], rtol=1e-3)
    allocator.change(ids[1:], paths=Paths.from_lists([[0], [1]], group=[0, 0]), flow_cap=np.inf)
    allocator.tick(400)
    np.testing.assert_allclose(allocator.path_rates(ids), [5.0, 6.0, 1.0], rtol=1e-3)


@pytest.mark.parametrize("paths", [[[0]], Paths.from_lists([[0], [1]], group=[0, 0])])
def test_caps_of_paths_and_of_flowlets_stay_when_the_other_changes(paths):
    allocator = Allocator([20.0, 20.0], update_threshold=0.0)
    ids = allocator.start(paths, flow_cap=4.0)
    for change, rate in [
        ({"rate_cap": 10.0}, 4.0),
        ({"flow_cap": 50.0}, 10.0 * (len(allocator.path_rates(ids)))),
        ({"rate_cap": 3.0, "flow_cap": 2.0}, 2.0),
        ({"weight": 2.0}, 2.0),
        ({"flow_cap": 12.0}, 3.0 * len(allocator.path_rates(ids))),
        ({"paths": [[1]]}, 12.0),
    ]:
        allocator.change(ids, **change)
        allocator = pickle.loads(pickle.dumps(allocator))
        allocator.tick(200)
        assert allocator.rates(ids)[0] == pytest.approx(rate, rel=1e-3), change


def test_a_floor_beside_flowlets_that_split_is_checked():
    allocator = Allocator([6.0, 9.0], update_threshold=0.0)
    kept = allocator.start([[0]], flow_floor=5.0)
    with pytest.raises(netnum.ProblemError, match="flow 1 has flow floor 5, which link 0 cannot keep"):
        allocator.start(TWO, flow_floor=[0.0, 5.0])
    allocator.tick(5)
    assert len(allocator) == 1 and allocator.broken_floors().size == 0 and allocator.rates(kept)[0] >= 5.0


def test_a_changed_flowlet_is_sent_all_its_paths():
    allocator = Allocator([6.0, 3.0], update_threshold=0.0)
    ids = allocator.start([[0]])
    allocator.tick(50)
    assert len(allocator.path_updates()[0]) == 1
    allocator.set_capacity(0, 0.0)
    allocator.change(ids, paths=Paths.from_lists([[0], [1]], group=[0, 0]))
    allocator = pickle.loads(pickle.dumps(allocator))
    allocator.tick(5)
    _, paths, rates = allocator.path_updates()
    assert paths.tolist() == [0, 1] and rates[0] == 0.0 and rates[1] == pytest.approx(3.0)


def test_an_allocator_with_splits_pickles():
    net, found = abilene()
    allocator = Allocator(net)
    ids = allocator.start(found)
    allocator.tick(5)
    other = pickle.loads(pickle.dumps(allocator))
    allocator.tick(5)
    other.tick(5)
    np.testing.assert_array_equal(other.path_rates(ids), allocator.path_rates(ids))


@pytest.mark.parametrize(
    ("error", "message", "act"),
    [
        (
            netnum.ProblemError,
            "group has no path for flow 1, expected at least one for every flow up to 2",
            lambda allocator: allocator.start(Paths([0, 1, 2, 3], [0, 1, 0], [0, 0, 2])),
        ),
        (
            netnum.ProblemError,
            "rate_cap has 2 entries, expected 3, one per path",
            lambda allocator: allocator.start(TWO, rate_cap=[1.0, 2.0]),
        ),
        (
            netnum.ProblemError,
            "path 1 has rate cap -1, expected a number >= 0 (inf for none)",
            lambda allocator: allocator.start(TWO, rate_cap=[1.0, -1.0, 2.0]),
        ),
        (
            netnum.ProblemError,
            "weight has 3 entries, expected 2, one per flow",
            lambda allocator: allocator.start(TWO, weight=[1.0, 2.0, 3.0]),
        ),
        (
            netnum.UtilityError,
            "flow 0 has cap 0, expected a path that may carry something",
            lambda allocator: allocator.start(TWO, rate_cap=[0.0, 0.0, 1.0]),
        ),
        (
            netnum.NumError,
            "flow_floor is 1, expected 0 for flow 0, which has several paths: a floor is kept on one",
            lambda allocator: allocator.start(TWO, flow_floor=[1.0, 0.0]),
        ),
        (
            netnum.ProblemError,
            "path 1 names link 9, expected a link from 0 to 1",
            lambda allocator: allocator.start(Paths([0, 1, 2], [0, 9], [0, 0])),
        ),
        (
            netnum.ProblemError,
            "there is no flow 5: it has ended, or belongs elsewhere",
            lambda allocator: allocator.path_rates([5]),
        ),
    ],
)
def test_bad_input_is_named_and_nothing_starts(error, message, act):
    allocator = Allocator([10.0, 10.0])
    with pytest.raises(error) as caught:
        act(allocator)
    assert str(caught.value) == message
    assert len(allocator) == 0


def test_paths_of_another_network_are_refused():
    _, found = abilene()
    other = Allocator(netnum.topology.from_edges("A B 1\nB C 1"))
    with pytest.raises(netnum.ProblemError, match="path 0"):
        other.start(found)
    assert len(other) == 0


def test_exact_ticks_are_proven():
    net, found = abilene()
    allocator = Allocator(net, exact=True, tol=1e-4, update_threshold=0.0)
    assert allocator.certificate is None
    ids = allocator.start(found, weight=[1.0, 2.0, 3.0, 1.0])
    for weights in ([1.0, 2.0, 3.0, 1.0], [1.1, 1.9, 3.3, 0.9]):
        allocator.change(ids, weights)
        allocator.tick()
        assert allocator.certificate.relative_gap <= 1e-4
        problem = netnum.Problem(net, found, netnum.AlphaFair(1.0, weights))
        proof = netnum.certify(problem, allocator.path_rates(ids), allocator.prices)
        assert proof.relative_gap <= 1e-4 and proof.overload <= 1e-12
    assert pickle.loads(pickle.dumps(allocator)).certificate is None


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("tol is 0.01, expected none without exact=True: a tick is one iteration", {"tol": 0.01}),
        ("tol is 0, expected a relative gap > 0 and < 1", {"exact": True, "tol": 0.0}),
        (
            "exact is 0.001, expected none with numbers of f32, right to 1e-6 only",
            {"exact": True, "dtype": "float32"},
        ),
        (
            'exact is 0.001, expected none without "f-norm" or "fill": other rates are not proven',
            {"exact": True, "normalizer": "u-norm"},
        ),
    ],
)
def test_options_that_do_not_apply_to_exact_ticks_are_named(message, options):
    with pytest.raises(netnum.NumError) as caught:
        Allocator([10.0], **options)
    assert str(caught.value) == message
