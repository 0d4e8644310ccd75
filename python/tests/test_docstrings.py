"""Everything public has a docstring, every class and function an example, and the examples do what they say.

``pytest -s python/tests/test_docstrings.py`` prints how many have them.
"""

import ast
import inspect
import itertools
import re
import textwrap
from pathlib import Path

import pytest
from common import run_examples

import netnum

pytest.importorskip("matplotlib").use("Agg")
pytest.importorskip("networkx")

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MODULES = [netnum, netnum.sim, netnum.topology, netnum.demands, netnum.distributed]
if hasattr(netnum._core, "_Endpoint"):
    import netnum.endpoint

    MODULES.append(netnum.endpoint)


def public():
    """Everything that has a name, once, and all that its classes have."""
    seen = []
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if any(thing is other for other in seen):
                continue
            seen.append(thing)
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for of_class in vars(thing):
                    if not of_class.startswith("_"):
                        yield f"{module.__name__}.{name}.{of_class}", getattr(thing, of_class)


def attribute_docstrings(of_class):
    """Those of annotated attributes: a string below each, or its entry in the section Attributes."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(of_class))).body[0].body
    except (TypeError, OSError):  # a compiled class has its docstrings on the attributes themselves
        return {}
    found = {line.target.id: "" for line in body if isinstance(line, ast.AnnAssign)}
    for line, below in itertools.pairwise(body):
        if isinstance(line, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[line.target.id] = below.value.value
    section = inspect.getdoc(of_class).partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    return found | dict(re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", section, re.MULTILINE))


def docstrings():
    """The docstring of every public object, and of every public method and attribute of its classes."""
    found = {}
    for module in MODULES:
        found[module.__name__] = module.__doc__
    for name, thing in public():
        if isinstance(thing, str):  # the version
            continue
        found[name] = found.get(name) or inspect.getdoc(thing)
        if inspect.isclass(thing):
            attributes = attribute_docstrings(thing)
            found |= {f"{name}.{of_class}": doc for of_class, doc in attributes.items() if not of_class.startswith("_")}
    return found


def examples():
    """Whether every public class and function has an example: in its docstring, not in those of its methods."""
    names = [f"{module.__name__}.{name}" for module in MODULES for name in module.__all__]
    things = {name: thing for name, thing in public() if name in names and callable(thing)}
    return {name: ">>>" in (thing.__doc__ or "") for name, thing in things.items()}


@pytest.mark.parametrize(
    ("what", "present"), [("docstrings of public objects, methods and attributes", docstrings), ("examples", examples)]
)
def test_nothing_public_is_without(what, present):
    found = present()
    missing = [name for name, has in found.items() if not has]
    print(f"\n{what}: {len(found) - len(missing)} of {len(found)}, {1 - len(missing) / len(found):.1%}")
    assert not missing


def test_everything_public_stands_in_the_reference():
    page = (REFERENCE / "python.md").read_text()
    assert "automodule:: utility_families" in page
    families = {family.__name__ for family in netnum.Utility.__subclasses__() if family.__module__ == "netnum"}
    listed = families | set(re.findall(r"^   ([\w.]+)$", page, re.MULTILINE))
    public_names = {name.removeprefix("netnum.") for name in examples()}
    # The page has it, whether or not netnum was built with its service.
    of_endpoint = {f"endpoint.{name}" for name in ("Status", "attach", "close", "connect", "status")}
    assert of_endpoint == set(re.findall(r"^\.\. auto\w+:: netnum\.(endpoint\.\w+)$", page, re.MULTILINE))
    assert public_names - of_endpoint == listed
    assert public_names & of_endpoint in (set(), of_endpoint)


@pytest.mark.parametrize("module", [*MODULES, netnum.sim.sizes], ids=lambda each: each.__name__)
def test_a_module_shows_what_its_users_call_and_nothing_else(module):
    later = {"torch", "jax", "endpoint"} if module is netnum else set()  # there once they are imported
    assert set(dir(module)) - later == set(module.__all__)
    assert dir(module) == sorted(dir(module))


@pytest.mark.parametrize("layer", ["torch", "jax"])
def test_a_layer_shows_what_its_users_call_once_it_is_there(layer):
    pytest.importorskip(layer)
    module = getattr(netnum, layer)
    assert dir(module) == ["Allocation", "allocate"]
    assert layer in dir(netnum)


def test_every_method_has_a_page_in_the_reference():
    pages = {page.stem for page in (REFERENCE / "methods").glob("*.md")} - {"index"}
    assert pages == set(netnum.methods())


def with_examples():
    return [each for each in public() if ">>>" in (each[1].__doc__ or "") and not inspect.ismodule(each[1])]


@pytest.mark.parametrize(("name", "thing"), with_examples())
def test_the_examples_of_a_docstring_run(name, thing):
    run_examples(name, thing)
