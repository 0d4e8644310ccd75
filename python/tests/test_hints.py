"""What is answered where a name does not exist."""

import copy
import pickle
import re

import pytest

import netnum
from netnum import _hints, sim

KINDS = {name: getattr(netnum, name, None) or getattr(sim, name) for name in _hints.ATTRIBUTES if name != "netnum"}


def problem():
    return netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))


@pytest.mark.parametrize("kind", _hints.ATTRIBUTES)
def test_a_hint_is_for_a_name_that_does_not_exist_and_names_what_does(kind):
    known = netnum if kind == "netnum" else KINDS[kind]
    names = set(dir(known)) | set(getattr(known, "__dataclass_fields__", ()))
    for name, meant in _hints.ATTRIBUTES[kind].items():
        assert name not in names, name
        for word in re.findall(r"`([a-z_]+)", meant):
            assert word in names | {"problem", "paths", "len", "list"}, (name, word)
        for path in re.findall(r"netnum(?:\.\w+)+", meant):
            place = netnum
            for part in path.split(".")[1:]:
                place = getattr(place, part)


@pytest.mark.parametrize(
    ("get", "message"),
    [
        (
            lambda: netnum.Network,
            "module 'netnum' has no attribute 'Network': a network is a netnum.Topology: netnum.topology makes and "
            "reads them",
        ),
        (lambda: netnum.fat_tree, "module 'netnum' has no attribute 'fat_tree': it is netnum.topology.fat_tree"),
        (lambda: netnum.slove, "module 'netnum' has no attribute 'slove': did you mean 'solve'?"),
        (lambda: netnum.zebra, "module 'netnum' has no attribute 'zebra'"),
        (
            lambda: netnum.solve(problem()).x,
            "'Solution' object has no attribute 'x': the rates are `rates` (of paths) and `flow_rates`",
        ),
        (lambda: netnum.solve(problem()).rtes, "'Solution' object has no attribute 'rtes': did you mean 'rates'?"),
        (lambda: problem().zebra, "'Problem' object has no attribute 'zebra'"),
        (
            lambda: netnum.demands.gravity(netnum.topology.backbone("b4"), total=1.0).demand,
            "'Demands' object has no attribute 'demand': they are `volumes`",
        ),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_the_right_one(get, message):
    with pytest.raises(AttributeError) as caught:
        get()
    assert str(caught.value) == message


def test_objects_are_copied_and_pickled_all_the_same():
    one = problem()
    assert pickle.loads(pickle.dumps(one)).to_json() == copy.copy(one).to_json() == one.to_json()
    assert not hasattr(one, "tocsc")
