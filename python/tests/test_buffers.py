"""Arrays in every form that NumPy has: copied as they are meant, or refused in clear words, wherever they go in."""

import pickle

import numpy as np
import pytest

import netnum
from netnum import sim

NET = netnum.topology.leaf_spine(2, 2, 2)
GRAPH = {"node_names": ["a", "b", "c"], "links": [[0, 1], [1, 2]], "capacities": [1.0, 2.0]}
FAIR = netnum.AlphaFair(1.0)
PROBLEM = netnum.Problem([1.0, 2.0, 3.0], [[0], [1], [2]], FAIR)
SIZES = sim.Sizes.fixed(1000.0)


def allocated(**others):
    allocator = netnum.Allocator([1.0, 2.0, 3.0], update_threshold=0.0)
    allocator.start([[0], [1], [2]], **others)
    allocator.tick(20)
    return allocator.rates()


def graph(**others):
    return netnum.Topology(**{**GRAPH, **others})


def workload(**others):
    columns = {"arrivals": [0.0, 1.0, 2.0], "sources": [0, 1, 2], "destinations": [1, 2, 3], "sizes": [5.0, 6.0, 7.0]}
    return sim.Workload(**{**columns, **others})


ALLOCATOR = netnum.Allocator([1.0])
IDS = ALLOCATOR.start([[0]] * 3)


#: Where numbers go in: one dimension, three of them, all right as they are.
FLOATS = {
    "capacities": lambda v: netnum.Problem(v, [[0]], FAIR).capacities,
    "rate_cap": lambda v: netnum.Problem([9.0], [[0]] * 3, FAIR, rate_cap=v).rate_cap,
    "flow_cap": lambda v: netnum.Problem([9.0], [[0]] * 3, FAIR, flow_cap=v).flow_cap,
    "other flow_cap": lambda v: PROBLEM.with_flow_caps(v).flow_cap,
    "weight": lambda v: netnum.AlphaFair(1.0, v).weight,
    "scale": lambda v: netnum.AlphaFair(2.0, scale=v).scale,
    "alpha": lambda v: netnum.AlphaFair(v).alpha,
    "linear weight": lambda v: netnum.Linear(v).weight,
    "size": lambda v: netnum.MinFct(v).size,
    "epsilon": lambda v: netnum.MinFct(1.0, v).epsilon,
    "fair_share": lambda v: netnum.BandwidthFunction(v, [0.0, 1.0, 2.0]).fair_share,
    "value": lambda v: FAIR.value(v),
    "demand": lambda v: FAIR.demand(v),
    "flow_rates": PROBLEM.flow_rates,
    "loads": PROBLEM.loads,
    "u_norm": lambda v: netnum.u_norm(PROBLEM, v),
    "f_norm": lambda v: netnum.f_norm(PROBLEM, v),
    "fill": lambda v: netnum.fill(PROBLEM, v),
    "certified rates": lambda v: repr(netnum.certify(PROBLEM, v, [1.0, 1.0, 1.0])),
    "certified prices": lambda v: repr(netnum.certify(PROBLEM, [0.1, 0.1, 0.1], v)),
    "warm_start": lambda v: netnum.solve(PROBLEM, "ned", warm_start=v, max_iterations=2).prices,
    "allocator": lambda v: netnum.Allocator(v).capacities,
    "allocator's weight": lambda v: allocated(weight=v),
    "allocator's rate_cap": lambda v: allocated(rate_cap=v),
    "arrivals": lambda v: workload(arrivals=v).arrivals,
    "sizes": lambda v: workload(sizes=v).sizes,
    "production": lambda v: workload(production=v).production,
    "link capacities": lambda v: graph(links=[[0, 1], [1, 2], [2, 0]], capacities=v).capacities,
}
INTEGERS = {
    "group": lambda v: netnum.Problem([1.0], [[0]] * 3, FAIR, group=v).group,
    "indices": lambda v: netnum.Paths([0, 3], v).indices,
    "indptr": lambda v: netnum.Paths(v, [5, 6]).indptr,
    "a path": lambda v: netnum.Problem([1.0, 2.0, 3.0], [v], FAIR).paths.indices,
    "sources": lambda v: NET.ecmp(v, [3, 3, 3]).indices,
    "destinations": lambda v: NET.ecmp([3, 3, 3], v).indices,
    "tiers": lambda v: graph(tiers=v).tiers,
    "flow sources": lambda v: workload(sources=v).sources,
    "links of a load": lambda v: sim.Workload.poisson(NET, SIZES, flows=3, links=v).arrivals,
}
PAIRS = {
    "links": lambda v: graph(links=v).links,
    "pairs": lambda v: sim.Workload.at_once(NET, v, SIZES).sources,
}


def misaligned(values):
    """Equal numbers, one byte off."""
    raw = np.empty(values.nbytes + 1, dtype=np.uint8)
    raw[1:] = values.reshape(-1).view(np.uint8)
    shifted = np.frombuffer(raw, dtype=values.dtype, offset=1).reshape(values.shape)
    assert not shifted.flags.aligned
    return shifted


def read_only(values):
    other = values.copy()
    other.flags.writeable = False
    return other


def memory_map(values, folder):
    np.save(folder / "values.npy", values)
    return np.load(folder / "values.npy", mmap_mode="r")


def strided(values):
    return np.repeat(values, 2, axis=0)[::2]


def backwards(values):
    return values[::-1].copy()[::-1]


FORMS = {
    "misaligned": lambda v, _: misaligned(v),
    "read-only": lambda v, _: read_only(v),
    "memory map": memory_map,
    "big-endian": lambda v, _: v.astype(v.dtype.newbyteorder(">")),
    "misaligned big-endian": lambda v, _: misaligned(v.astype(v.dtype.newbyteorder(">"))),
    "strided": lambda v, _: strided(v),
    "backwards": lambda v, _: backwards(v),
    "half as wide": lambda v, _: v.astype({"f": np.float32, "i": np.int32}[v.dtype.kind]),
    "unsigned": lambda v, _: v.astype(np.uint64) if v.dtype.kind == "i" else v.astype(np.float16),
    "list": lambda v, _: v.tolist(),
    "of Fortran's order": lambda v, _: np.asfortranarray(v),
}

CASES = [
    *((name, make, np.array([0.25, 0.5, 0.75])) for name, make in FLOATS.items() if name != "fair_share"),
    ("fair_share", FLOATS["fair_share"], np.array([0.0, 0.5, 0.75])),
    *((name, make, np.array([0, 1, 2])) for name, make in INTEGERS.items()),
    ("ids", ALLOCATOR.rates, IDS),
    *((name, make, np.array([[0, 1], [1, 2]])) for name, make in PAIRS.items()),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("make", "values"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_form_of_an_array_means_its_numbers(make, values, form, tmp_path):
    if form == "list" and make is INTEGERS["a path"]:
        pytest.skip("that is a path as ever")
    if form == "half as wide" and values.dtype.kind == "i" and values.max() > 2**31:
        pytest.skip("they are wider than that")
    expected, found = make(values), make(FORMS[form](values, tmp_path))
    if isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("make", "values"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_masked_array_is_refused(make, values):
    mask = np.zeros(values.shape, dtype=bool)
    mask[1] = True
    with pytest.raises(TypeError, match="masked array, expected plain"):
        make(np.ma.masked_array(values, mask=mask))
    with pytest.raises(TypeError, match="masked array, expected plain"):
        make(np.ma.masked_array(values))


@pytest.mark.parametrize(("make", "values"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_text_truths_complex_numbers_and_too_many_axes_are_refused(make, values):
    for kind in (str, complex, object, "M8[s]"):
        if kind is object and make in (INTEGERS["sources"], INTEGERS["destinations"]):
            continue  # a sequence of integers like any other
        wrong = values.astype(kind)
        with pytest.raises((TypeError, netnum.NumError)):
            make(wrong)
    if make not in (FLOATS["value"], FLOATS["demand"]):
        with pytest.raises((TypeError, netnum.NumError)):
            make(np.stack([values, values]))


def test_integers_that_do_not_fit_are_named():
    most = 2**64 - 1
    with pytest.raises(netnum.ProblemError, match=f"group has an entry of {most}, expected at most"):
        netnum.Problem([1.0], [[0]], FAIR, group=np.array([most], dtype=np.uint64))


def test_long_lists_are_read_in_pieces_as_short_ones_are():
    values = np.linspace(1.0, 2.0, 600_000)
    np.testing.assert_array_equal(netnum.AlphaFair(1.0, values.tolist()).weight, values)
    np.testing.assert_array_equal(netnum.AlphaFair(1.0, tuple(values)).weight, values)
    mixed = [1] * 300_000 + [0.5] * 300_000
    np.testing.assert_array_equal(netnum.Linear(mixed).weight, mixed)
    with pytest.raises(TypeError, match="weight must be an array of numbers, not of dtype"):
        netnum.Linear([*mixed, "x"])
    with pytest.raises(netnum.ProblemError, match="weight has shape"):
        netnum.Linear([[1.0]] * 600_000)


# --- pickled out of band, as Dask and others ship objects ---

SOLUTION = netnum.solve(PROBLEM, trace=True)
WORKLOAD = workload(production=[1e6, 2e6, 3e6], buffer=100.0)
THINGS = {
    "topology": netnum.Topology(**GRAPH, positions=[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]),
    "fabric": NET,
    "paths": PROBLEM.paths,
    "problem": netnum.Problem(NET, NET.ecmp([0, 1], [3, 2]), netnum.AlphaFair([1.0, 2.0], scale=[1.0, 4.0])),
    "utility": netnum.AlphaFair(2.0, [1.0, 2.0]),
    "scaled utility": netnum.AlphaFair(2.0, scale=[1.0, 2.0]),
    "bandwidth function": netnum.BandwidthFunction([0, 1, 2], [0, 1, 3]),
    "solution": SOLUTION,
    "trace": SOLUTION.trace,
    "workload": WORKLOAD,
    "sizes": sim.sizes.web_search,
    "report": sim.simulate(NET, WORKLOAD),
    "allocator": netnum.Allocator([1.0, 2.0]),
}


def shipped(thing, off):
    """Pickled with its buffers apart, which arrive read-only and `off` bytes from where they should be."""
    buffers = []
    text = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    arrived = []
    for buffer in buffers:
        raw = bytes(off) + buffer.raw().tobytes()
        arrived.append(memoryview(raw)[off:])
    return pickle.loads(text, buffers=arrived)


@pytest.mark.parametrize("off", [0, 1, 4])
@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS.keys())
def test_everything_ships_with_its_buffers_apart(thing, off):
    other = shipped(thing, off)
    assert repr(other) == repr(thing)
    assert pickle.dumps(other, protocol=4) == pickle.dumps(thing, protocol=4)
    if isinstance(thing, netnum.Problem):
        np.testing.assert_array_equal(netnum.solve(other).rates, netnum.solve(thing).rates)
    if isinstance(thing, netnum.Solution):
        assert other.rates.flags.aligned
        np.testing.assert_array_equal(
            netnum.solve(PROBLEM, warm_start=other).rates, netnum.solve(PROBLEM, warm_start=thing).rates
        )
