"""The examples in the docstrings of everything public do what they say."""

import doctest
import inspect

import numpy as np
import pytest

import netnum

pytest.importorskip("matplotlib").use("Agg")
pytest.importorskip("networkx")

MODULES = [netnum, netnum.sim, netnum.topology, netnum.demands]


def public():
    """Everything that has a name, and all that its classes have."""
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for of_class in vars(thing):
                    if not of_class.startswith("_"):
                        yield f"{module.__name__}.{name}.{of_class}", getattr(thing, of_class)


def with_examples():
    return [each for each in public() if ">>>" in (each[1].__doc__ or "") and not inspect.ismodule(each[1])]


@pytest.mark.parametrize(("name", "thing"), with_examples())
def test_the_examples_of_a_docstring_run(name, thing):
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"netnum": netnum, "np": np}, name, None, 0)
    output = []
    ended = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=output.append)
    assert ended.failed == 0, "".join(output)
