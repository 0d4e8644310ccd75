"""The examples in docstrings of networks, demands, studies and tables do what they say."""

import doctest

import pytest

import netnum

pytest.importorskip("networkx")

WITH_EXAMPLES = [netnum.topology, netnum.demands]


def examples():
    for module in WITH_EXAMPLES:
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)
    for function in (netnum.failure_study, netnum.upgrade_study, netnum.to_pandas):
        yield f"netnum.{function.__name__}", function
    for name in dir(netnum.Topology):
        if not name.startswith("_"):
            yield f"netnum.Topology.{name}", getattr(netnum.Topology, name)


@pytest.mark.parametrize(("name", "thing"), [each for each in examples() if ">>>" in (each[1].__doc__ or "")])
def test_the_examples_of_a_docstring_run(name, thing):
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"netnum": netnum}, name, None, 0)
    told = []
    ended = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=told.append)
    assert ended.failed == 0, "".join(told)
