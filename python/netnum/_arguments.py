"""Errors about the arguments of calls: those that a function lacks, that are missing, too many or of another kind.

Functions of Python and of PyO3 raise them with little more than a name. Here they say what the argument is, by the
docstring, and how the function is called; what is meant by names that are tried first is in `_hints`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from . import _hints
from ._core import MethodError, Problem, methods
from ._messages import did_you_mean

MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: '(\w+)'")
TOO_MANY = re.compile(r"takes .*positional arguments? but \d+ (?:was|were) given")
UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
OF_PYO3 = re.compile(r"'(\w+)' (?:object )?is not an instance of '(\w+)'")
NOTE = re.compile(r"while processing '(\w+)'")
"""What Python, and PyO3 for functions of Rust, say of arguments.

From Python 3.11 on, which has notes, PyO3 notes which argument is of another kind.
"""


def unexpected(label: str, name: str, function: Any = None) -> TypeError:
    """The error for a keyword that a function or class lacks, by its label, its name as in messages of Python.

    The label finds the function where none is given; functions of several modules may share one.
    """
    names = parameters(_called(label) if function is None else function)
    answer = _keyword(label, name, names) or did_you_mean(name, names) or f"it takes {', '.join(names)}"
    return TypeError(f"{label} has no {name!r}: {answer}")


def refuse_options(function: str, options: Iterable[str]) -> None:
    """Refuses options that no method has. Of those that are near to one, `solve` says which the method has."""
    known = _taken_with_options(function)
    for name in options:
        if name in known:
            continue
        error = no_option(function, name)
        if error is not None:
            raise error
        if not _near_option(function, name):
            names = parameters(_called(function))
            raise MethodError(f"{function} has no {name!r}: it takes {', '.join(names)}, and the options of methods")


@functools.cache
def _taken_with_options(function: str) -> frozenset[str]:
    """The parameters of a function, and the options that methods have."""
    options = [option for method in methods().values() for option in method["options"]]
    return frozenset([*parameters(_called(function)), *options])


def _near_option(function: str, name: str) -> str:
    """The option of a method that is near to a name, as an error says it; empty where none is."""
    return did_you_mean(name, sorted(_taken_with_options(function).difference(parameters(_called(function)))))


def no_option(function: str, name: str) -> MethodError | None:
    """The error for an option that no method has, if the table or a parameter near to it says what is meant."""
    names = parameters(_called(function))
    answer = _keyword(function, name, names)
    if answer is None and name not in names and not _near_option(function, name):
        answer = did_you_mean(name, names)
    return MethodError(f"{function} has no {name!r}: {answer}") if answer else None


def answer_in(modules: Iterable[ModuleType]) -> None:
    """Makes errors about arguments of functions of these modules and of methods of their classes say what is expected.

    Constructors that are written in Rust cannot be wrapped, and call `unexpected` and `absent` themselves.
    """
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isroutine(thing):
                setattr(module, name, _answering(thing, name, module.__name__))
            elif isinstance(thing, type) and not issubclass(thing, Exception):
                _answer_in_methods(thing)


def _answer_in_methods(owner: type) -> None:
    for name, method in list(vars(owner).items()):
        plain = getattr(method, "__func__", method)
        is_static = plain is not method
        # A class may stand in two modules.
        if (name == "__init__" or not name.startswith("_")) and inspect.isroutine(plain) and not _is_answering(plain):
            label = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
            answering = _answering(plain, label, owner.__module__)
            setattr(owner, name, staticmethod(answering) if is_static else answering)


def _is_answering(function: Callable[..., Any]) -> bool:
    return hasattr(function, "__wrapped__")


def _answering(function: Callable[..., Any], label: str, module: str) -> Callable[..., Any]:
    """A function whose errors about its arguments say what is expected."""
    if not parameters(function):
        return function
    own = re.compile(rf"(\w+\.)*{re.escape(function.__name__)}\(\) ")

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            # One of a function that this one calls has more frames.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            answer = _answer(error, own.match(str(error)) is not None, label, function)
            if answer is None:
                raise
        raise answer

    # Where pickle finds it.
    call.__module__ = module
    return call


def _answer(error: TypeError, names_it: bool, label: str, function: Callable[..., Any]) -> TypeError | None:
    """The error for the arguments of a call, if that is what an error is about."""
    text = str(error)
    if names_it and (found := UNEXPECTED.search(text)):
        return unexpected(label, found[1], function)
    if names_it and (found := MISSING.search(text)):
        return absent(label, found[1], function)
    if names_it and TOO_MANY.search(text):
        return TypeError(f"{label} has too many positional arguments: {_call(label, function, whole=True)}")
    note = NOTE.fullmatch((getattr(error, "__notes__", None) or [""])[-1])
    if note is None or text.startswith(note[1]):
        return None
    kind = OF_PYO3.fullmatch(text)
    if kind and kind[2] == "Problem" and kind[1] in ("list", "tuple"):
        must = f"`{note[1]}` must be a Problem, not a {kind[1]}"
        return TypeError(f"{label}: {must}: netnum.solve_many(problems) takes several")
    if kind:
        return TypeError(f"{label}: `{note[1]}` must be a {kind[2]}, not a {kind[1]}: {_call(label, function)}")
    return TypeError(f"{label}: `{note[1]}` {text}")


def absent(label: str, name: str, function: Any = None) -> TypeError:
    """The error for an argument that is missing, by the label of the function and the argument's name."""
    function = _called(label) if function is None else function
    about = described(_called(label) if function.__name__ == "__init__" else function, name)
    return TypeError(f"{label} needs `{name}`{f', {about}' if about else ''}: {_call(label, function, also=name)}")


def no_network(given: Any) -> TypeError | None:
    """The error for what is given in the place of a network and makes one, or has one; None if it does not."""
    instead = None
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        instead = "netnum.topology.from_pandas(frame) makes a network of its edges"
    elif hasattr(given, "tocsc") or len(getattr(given, "shape", ())) == 2:
        instead = (
            "capacities come first, and a routing matrix second: Problem(capacities, scipy.sparse.csc_array(matrix))"
        )
    elif isinstance(given, Problem):
        instead = "its network is problem.network"
    elif isinstance(given, (dict, list, tuple)) and _is_edge(next(iter(given), None)):
        instead = "netnum.topology.from_edges(edges) makes a network of (source, target, capacity)"
    if instead is None:
        return None
    return TypeError(f"network must be a Topology, or an array of capacities, not {type(given).__name__}: {instead}")


def _is_edge(first: Any) -> bool:
    """Whether the first entry of what is given is an edge, or the ends of one."""
    return isinstance(first, tuple) or (isinstance(first, list) and any(isinstance(end, str) for end in first))


def expect_problem(given: Any, label: str) -> None:
    """Refuses what is no problem, where a function is called by its label."""
    if not isinstance(given, Problem):
        must = f"{label}: `problem` must be a Problem, not a {type(given).__name__}"
        raise TypeError(f"{must}: {_call(label, _called(label))}")


def _call(label: str, function: Any, whole: bool = False, also: str | None = None) -> str:
    """How a function is called: what it needs, also an argument that has a default, or all that it takes."""
    shown = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
        if needed or whole or name == also:
            shown.append(f"{name}=" if parameter.kind is parameter.KEYWORD_ONLY else name)
    made = f" ({_hints.CALLS[label]})" if label in _hints.CALLS else ""
    return f"the call is {label}({', '.join(shown)}){made}"


def described(function: Any, name: str) -> str:
    """What a docstring calls the type of a parameter; empty where it does not say."""
    lines = (inspect.getdoc(function) or "").splitlines()
    for line in _of_parameters(lines):
        names, colon, kind = line.partition(" : ")
        if colon and name in [one.strip(" *") for one in names.split(",")]:
            return kind.strip()
    return ""


def _of_parameters(lines: list[str]) -> Iterator[str]:
    """The lines of a docstring that begin a parameter."""
    if "Parameters" not in lines:
        return
    start = lines.index("Parameters") + 2
    for line, below in zip(lines[start:], [*lines[start + 1 :], ""], strict=True):
        if below.startswith("---"):
            return
        if line and not line.startswith(" "):
            yield line


def _called(function: str) -> Any:
    """A function or class by its name in messages."""
    import netnum

    name, *rest = function.split(".")
    for place in (netnum, *(getattr(netnum, place) for place in _hints.PLACES)):
        if name in place.__all__:
            return functools.reduce(getattr, rest, getattr(place, name))
    raise LookupError(function)


def parameters(function: Any) -> list[str]:
    """The names of the parameters that may be given by keyword."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        signature = inspect.signature(function)
    except ValueError:
        return []
    return [name for name, parameter in signature.parameters.items() if parameter.kind in kinds and name != "self"]


def _keyword(function: str, name: str, names: Iterable[str]) -> str | None:
    if name in _hints.KEYWORDS.get(function, {}):
        return _hints.KEYWORDS[function][name]
    return " or ".join(f"`{known}=`" for known in names if name in _hints.SYNONYMS.get(known, ())) or None
