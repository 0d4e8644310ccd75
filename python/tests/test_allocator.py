"""`Allocator`: flowlets that start and end, ticks, updates, pickles, and what is wrong."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import netnum


def moves_prices(method):
    """Whether an allocator takes the method."""
    try:
        netnum.Allocator([1.0], method=method)
    except netnum.NumError:
        return False
    return True


METHODS = [method for method in netnum.methods() if moves_prices(method)]


def test_every_method_with_a_price_rule_moves_prices():
    assert {"ned", "fast-ned", "gradient", "fgm", "newton-like", "rcp"} <= set(METHODS)
    assert not {"newton", "xwi", "interior-point", "max-min"} & set(METHODS)


@pytest.fixture(scope="module")
def net():
    return netnum.topology.leaf_spine(
        racks=9, servers_per_rack=16, spines=4, server_capacity=10e9, fabric_capacity=40e9
    )


def loads(capacities, paths, rates):
    """Load of every link, by NumPy."""
    rates = np.repeat(rates, np.diff(paths.indptr))
    return np.bincount(paths.indices, weights=rates, minlength=len(capacities))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rates_become_those_of_solve(net, dtype):
    paths = net.ecmp(*net.random_pairs(500, seed=1), seed=1)
    weight = 1e9 * np.random.default_rng(1).uniform(0.5, 1.5, 500)
    allocator = netnum.Allocator(net, method="fast-ned", normalizer="fill", update_threshold=0.0, dtype=dtype)
    ids = allocator.start(paths, weight)
    allocator.tick(300)
    best = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0, weight)), tol=1e-12)
    tolerance = 1e-6 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(allocator.rates(ids), best.rates, rtol=tolerance)
    assert len(allocator) == 500
    assert repr(allocator) == "Allocator(fast-ned, 500 flowlets, 360 links)"
    assert (allocator.prices > 0).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("normalizer", ["f-norm", "u-norm", "fill"])
def test_no_tick_overloads_a_link(net, method, normalizer):
    rng = np.random.default_rng(2)
    allocator = netnum.Allocator(net, method=method, normalizer=normalizer, update_threshold=0.0)
    capacities = net.capacities.copy()
    live = {}
    for _ in range(60):
        pairs = net.random_pairs(20, seed=int(rng.integers(1 << 30)))
        paths = net.ecmp(*pairs, seed=1)
        for number, flow in enumerate(allocator.start(paths, 1e9 * rng.uniform(0.1, 10, 20))):
            live[int(flow)] = paths[number]
        ended = rng.choice(list(live), size=min(15, len(live)), replace=False)
        allocator.end(ended)
        for flow in ended:
            del live[int(flow)]
        link = int(rng.integers(len(capacities)))
        capacities[link] = rng.choice([0.0, net.capacities[link], 1e9])
        allocator.set_capacity(link, capacities[link])
        allocator.tick()
        rates = allocator.rates(list(live))
        assert np.isfinite(rates).all() and (rates >= 0).all()
        load = loads(
            capacities, netnum.Paths(np.cumsum([0, *map(len, live.values())]), np.concatenate([*live.values()])), rates
        )
        assert (load <= capacities * (1 + 1e-9)).all()
        assert set(allocator.ids) == set(live)


def test_updates_have_the_rates_that_changed_and_no_others(net):
    allocator = netnum.Allocator(net, update_threshold=0.05)
    first = allocator.start(net.ecmp([0, 1, 2], [20, 20, 40], seed=1), 1e9)
    allocator.tick(200)
    ids, rates = allocator.updates()
    assert sorted(ids) == sorted(first)
    np.testing.assert_array_equal(rates, allocator.rates(ids))
    # 10 G shared by two, and 5 % held back.
    np.testing.assert_allclose(allocator.rates(first), [4.75e9, 4.75e9, 9.5e9], rtol=1e-6)
    allocator.tick(10)
    assert len(allocator.updates()[0]) == 0
    allocator.end(first[:1])
    allocator.tick(200)
    ids, rates = allocator.updates()
    assert list(ids) == [first[1]]
    np.testing.assert_allclose(rates, [9.5e9], rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_pickle_goes_on_to_the_last_bit(net, method, dtype):
    allocator = netnum.Allocator(net, method=method, dtype=dtype, headroom=0.1)
    ids = allocator.start(net.ecmp(*net.random_pairs(100, seed=3), seed=3), 1e9)
    allocator.tick(5)
    allocator.end(ids[10:20])
    allocator.updates()
    others = [pickle.loads(pickle.dumps(allocator)), copy.deepcopy(allocator)]
    for one in [allocator, *others]:
        new = one.start(net.ecmp([3, 4], [50, 60], seed=1), 1e9, alpha=1.0 if method == "rcp" else 2.0)
        one.tick(7)
        assert one.rates(new).min() > 0
    for other in others:
        assert other.prices.tobytes() == allocator.prices.tobytes()
        assert [part.tobytes() for part in other.updates()] == [
            part.tobytes() for part in copy.copy(allocator).updates()
        ]


def test_what_is_wrong_changes_nothing():
    allocator = netnum.Allocator([10.0, 10.0])
    ids = allocator.start([[0, 1], [0]], [1.0, 2.0])
    allocator.tick()
    before = allocator.__getstate__()
    wrong = [
        (netnum.ProblemError, "path 1 names link 2, expected a link from 0 to 1", lambda: allocator.start([[0], [2]])),
        (netnum.ProblemError, "path 1 is empty", lambda: allocator.start([[0], []])),
        (netnum.UtilityError, "flow 1 has weight 0, expected", lambda: allocator.start([[0], [1]], [1.0, 0.0])),
        (netnum.UtilityError, "flow 0 has alpha inf, expected", lambda: allocator.start([[0]], alpha=np.inf)),
        (netnum.ProblemError, "weight has 3 entries, expected 1", lambda: allocator.start([[0]], [1, 2, 3])),
        (netnum.ProblemError, "is named twice", lambda: allocator.end([ids[0], ids[0]])),
        (netnum.ProblemError, "there is no flow 12345: it has ended", lambda: allocator.end([12345])),
        (netnum.ProblemError, "there is no flow", lambda: allocator.end([2 << 32])),
        (netnum.ProblemError, "there is no flow -1: it has ended", lambda: allocator.rates([-1])),
        (netnum.ProblemError, "link 1 has capacity -1, expected", lambda: netnum.Allocator([1.0, -1.0], headroom=0.5)),
        (netnum.ProblemError, "there is no link 2, expected a link from", lambda: allocator.set_capacity(2, 1.0)),
        (netnum.ProblemError, "link 1 has capacity -1, expected", lambda: allocator.set_capacity(1, -1.0)),
        (netnum.ProblemError, "link 1 has capacity NaN, expected", lambda: allocator.set_capacity([0, 1], [1, np.nan])),
        (netnum.ProblemError, "link 1 is named twice", lambda: allocator.set_capacity([0, 1, 1], 2.0)),
        (netnum.ProblemError, "there is no link -1, expected a link", lambda: allocator.set_capacity([0, -1], 2.0)),
        (netnum.ProblemError, "capacity has 3 entries, expected 1", lambda: allocator.set_capacity([1], [1, 2, 3])),
        (netnum.UtilityError, f"flow {ids[1]} has weight 0, expected", lambda: allocator.change(ids, [1.0, 0.0])),
        (netnum.UtilityError, f"flow {ids[0]} has cap -1, expected", lambda: allocator.change(ids, flow_cap=-1.0)),
        (netnum.ProblemError, "path 0 has rate cap -1, expected", lambda: allocator.change(ids, rate_cap=-1.0)),
        (netnum.ProblemError, "path 1 names link 2", lambda: allocator.change(ids, paths=[[0], [2]])),
        (netnum.ProblemError, "paths has 1 entries, expected 2", lambda: allocator.change(ids, paths=[[0]])),
        (netnum.ProblemError, "weight has 3 entries, expected 2, one per id", lambda: allocator.change(ids, [1, 2, 3])),
        (netnum.ProblemError, "is named twice", lambda: allocator.change([ids[0], ids[0]], 2.0)),
        (TypeError, "ids must be an array of integers", lambda: allocator.end(["a"])),
    ]  # fmt: skip
    for kind, message, act in wrong:
        with pytest.raises(kind, match=message.replace("(", r"\(")):
            act()
    assert allocator.__getstate__() == before
    allocator.end(ids)
    with pytest.raises(netnum.ProblemError, match="it has ended, or belongs elsewhere"):
        allocator.end(ids[:1])


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"method": "newton"}, netnum.NumError, 'method is "newton", expected "fast-ned", '),
        ({"gama": 0.4}, netnum.MethodError, "gamma"),
        ({"gamma": 0.0}, netnum.NumError, "gamma is 0, expected a finite number > 0"),
        (
            {"method": "nde"},
            netnum.MethodError,
            rf'unknown method "nde", did you mean "ned"\?; known: {", ".join(METHODS)}$',
        ),
        ({"normalizer": "zip"}, netnum.MethodError, r'unknown normalizer "zip"; known: f-norm, .*\bfill\b'),
        ({"normalizer": "F-NORM"}, netnum.MethodError, r'unknown normalizer "F-NORM", did you mean "f-norm"\?; known'),
        ({"update_threshold": 1.0}, netnum.NumError, "update_threshold is 1, expected a number >= 0 and < 1"),
        ({"headroom": -0.1}, netnum.NumError, "headroom is -0.1, expected"),
        ({"dtype": "int8"}, netnum.NumError, 'dtype is "int8", expected'),
        ({"threads": 0}, netnum.NumError, "threads is 0, expected at least 1"),
    ],
)
def test_settings_out_of_range_are_errors(settings, kind, message):
    with pytest.raises(kind, match=message):
        netnum.Allocator([1.0], **settings)


def test_a_response_follows_the_prices_and_leaves_them():
    allocator = netnum.Allocator([10.0], normalizer="fill", update_threshold=0.0)
    allocator.start([[0]])
    allocator.tick(50)
    prices = allocator.prices
    allocator.start([[0]], weight=3.0)
    allocator.respond()
    np.testing.assert_allclose(allocator.rates(), [2.5, 7.5])
    np.testing.assert_array_equal(allocator.prices, prices)


def test_links_fail_and_return_by_the_dozen(net):
    paths = net.ecmp(*net.random_pairs(2000, seed=5), seed=5)
    allocator = netnum.Allocator(net, update_threshold=0.0)
    ids = allocator.start(paths, 1e9)
    allocator.tick(100)
    links = np.arange(32)
    allocator.set_capacity(links, 0.0)
    allocator.tick()
    hit = np.array([np.isin(path, links).any() for path in paths])
    assert hit.any() and not hit.all()
    assert (allocator.rates(ids)[hit] == 0).all() and (allocator.rates(ids)[~hit] > 0).all()
    allocator.set_capacity(links, net.capacities[links])
    np.testing.assert_array_equal(allocator.capacities, net.capacities)
    allocator.tick(300)
    best = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(1.0, 1e9)), tol=1e-10)
    np.testing.assert_allclose(allocator.rates(ids), best.rates, rtol=1e-3)


def test_flowlets_change_and_keep_their_ids():
    allocator = netnum.Allocator([12.0, 6.0], normalizer="fill", update_threshold=0.0)
    ids = allocator.start([[0], [0], [0]], rate_cap=[np.inf, np.inf, 8.0])

    def settled():
        allocator.tick(300)
        return allocator.rates(ids).round(6).tolist()

    assert settled() == [4, 4, 4]
    allocator.change(ids[:2], [4.0, 1.0])
    assert settled() == [8, 2, 2]
    allocator.change(ids, rate_cap=3.0)
    assert settled() == [3, 3, 3]
    allocator.change(ids[1:], rate_cap=np.inf, paths=[[1], [0, 1]])
    assert settled()[0] == 3
    assert sum(settled()[1:]) == 6
    assert set(allocator.ids) == set(ids)


@pytest.mark.parametrize("normalizer", ["f-norm", "u-norm", "fill"])
def test_twelve_decades_of_weights_overload_nothing(normalizer):
    rng = np.random.default_rng(4)
    for _ in range(150):
        links, flows = int(rng.integers(1, 12)), int(rng.integers(1, 60))
        capacities = 10 ** rng.uniform(-3, 3, links)
        lists = [rng.permutation(links)[: rng.integers(1, min(links, 4) + 1)] for _ in range(flows)]
        paths = netnum.Paths(np.cumsum([0, *map(len, lists)]), np.concatenate(lists))
        allocator = netnum.Allocator(capacities, normalizer=normalizer, update_threshold=0.0)
        ids = allocator.start(paths, 10 ** rng.uniform(-6, 6, flows), alpha=rng.choice([0.5, 1.0, 2.0, 5.0], flows))
        count = np.bincount(paths.indices, minlength=links)
        for _ in range(3):
            allocator.tick()
            load = np.zeros(links)
            np.add.at(load, paths.indices, np.repeat(allocator.rates(ids), np.diff(paths.indptr)))
            assert (load <= capacities * (1 + (count + 4) * np.finfo(float).eps)).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_damaged_pickle_is_refused_or_works(method):
    rng = np.random.default_rng(6)
    allocator = netnum.Allocator([10.0, 10.0, 0.0], method=method)
    ids = allocator.start([[0, 1], [0], [1, 2]], [1.0, 2.0, 3.0])
    allocator.tick(3)
    allocator.end(ids[:1])
    text = allocator.__getstate__()
    assert json.loads(text)["version"] == 8 and list(json.loads(text)["prices"]["rule"]) == [method]
    works = 0
    for _ in range(300):
        damaged, place = list(text), int(rng.integers(len(text)))
        damaged[place] = rng.choice(list('0123456789-.,[]{}"e'))
        other = netnum.Allocator([1.0], method=method)
        try:
            other.__setstate__("".join(damaged[: place if rng.random() < 0.1 else None]))
        except netnum.ProblemError as error:
            assert str(error).startswith("not a snapshot: ")
            continue
        works += 1
        other.tick(2)
        other.end(other.ids)
        other.__getstate__()
    assert works > 0
    other = netnum.Allocator([1.0], method="fgm" if method == "ned" else "ned")
    with pytest.raises(netnum.ProblemError, match=f'not a snapshot: it is of method "{method}" in float64'):
        other.__setstate__(text)
    with pytest.raises(netnum.ProblemError, match="earlier netnum"):
        other.__setstate__('{"engine": {"bits": 64}, "settings": {}}')


FORKED = """
import multiprocessing, os, sys
import numpy as np
import netnum

net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
paths = net.ecmp(*net.random_pairs(45_000, seed=1), seed=1)
problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0, 1e9))
allocator = netnum.Allocator(net, threads=2)
ids = allocator.start(paths, 1e9)
allocator.tick(2)
solver = netnum.Solver(problem, "fast-ned", threads=2)
solver.step(2)
netnum.solve(problem, tol=1e-2, threads=2)
small = [netnum.Problem([12.0], [[0]] * flows, netnum.AlphaFair(1.0)) for flows in (1, 2, 3)]
netnum.solve_many(small, threads=2)


def use(_):
    allocator.tick(2)
    solver.step(2)
    rates = [netnum.solve(problem, tol=1e-2, threads=2).rates, solver.rates, allocator.rates(ids)]
    rates += [solution.rates for solution in netnum.solve_many(small, threads=2)]
    allocator.end(ids[:40_000])
    allocator.tick()
    return [*map(bytes, rates)]


with multiprocessing.get_context("fork").Pool(2) as pool:
    first, second = pool.map(use, range(2), chunksize=1)
child = os.fork()
if child == 0:
    os._exit(0 if use(0) == first else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert first == second == use(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_that_were_used_before_a_fork_are_started_again_in_the_child():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=300)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer of signals")
def test_ctrl_c_while_many_start_starts_none(net):
    paths = net.ecmp(*net.random_pairs(300_000, seed=1), seed=1)
    allocator = netnum.Allocator(net)

    def interrupt(*_):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in [0.001, 0.01, 0.03]:
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, delay)
                for _ in range(100):
                    allocator.end(allocator.start(paths, 1e9))
            # Stopped in a start, or between one and its end.
            if len(allocator):
                assert len(allocator) == 300_000
                allocator.end(allocator.ids)
            assert len(allocator) == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    allocator.tick()


def test_links_are_named_by_their_nodes():
    net = netnum.topology.backbone("abilene")
    allocator = netnum.Allocator(net)
    allocator.set_capacity(("Seattle", "Denver"), 1.0)
    allocator.set_capacity([("Denver", "Seattle"), ("Seattle", "Denver")], [2.0, 3.0])
    allocator.set_capacity([["Houston", "Atlanta"], 0], [4.0, 5.0])
    expected = net.capacities.copy()
    for (source, destination), capacity in {
        ("Denver", "Seattle"): 2.0,
        ("Seattle", "Denver"): 3.0,
        ("Houston", "Atlanta"): 4.0,
    }.items():
        expected[net.link(source, destination)] = capacity
    expected[0] = 5.0
    np.testing.assert_array_equal(allocator.capacities, expected)
    for link, kind, message in [
        (("Seattle", "Houston"), netnum.ProblemError, "link: there is no link from Seattle to Houston"),
        (
            ("Seatle", "Denver"),
            netnum.ProblemError,
            'link[0] is "Seatle", expected the name of one of the 11 nodes, did you mean "Seattle"?',
        ),
        (
            "Seattle -> Denvr",
            netnum.ProblemError,
            "link names link 'Seattle -> Denvr', expected the name of one of the 28 links, did you mean "
            "'Seattle -> Denver'?",
        ),
    ]:
        with pytest.raises(kind) as caught:
            allocator.set_capacity(link, 1.0)
        assert str(caught.value) == message
    with pytest.raises(netnum.ProblemError, match="link names nodes, and the allocator has capacities only"):
        netnum.Allocator([1.0]).set_capacity(("Seattle", "Denver"), 1.0)
