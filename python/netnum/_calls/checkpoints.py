"""The checkpoint of a sweep: a file with a line of JSON for every task that is done, written by one sweep at a time."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
import pickle
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._core import NumError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def key_of(value: Any, is_lasting: bool = False) -> str:
    """A key that equal values share: a hash of their JSON where that has the whole value, otherwise of their pickle.

    What does not pickle is known by where it stands in memory, or where the key has to last raises what pickle does.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        content = json.dumps(value, sort_keys=True).encode()
        says_all = _are_same(value, json.loads(content))
    except (TypeError, ValueError):
        says_all = False
    if not says_all:
        try:
            content = _pickled(value)
        except Exception:
            if is_lasting:
                raise
            content = str(id(value)).encode()
    return hashlib.sha256(content).hexdigest()


class _Pickler(pickle.Pickler):
    """Names what stands in the program that runs as a program that imports it does."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, (type, types.FunctionType)) or "<" in value.__qualname__:
            return NotImplemented
        module = value.__module__
        if module == "__main__":
            main = sys.modules[module]
            spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
            module = spec.name if spec else Path(file).stem if file else module
        return getattr, (module, value.__qualname__)


def _pickled(value: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()


def _are_same(value: Any, other: Any) -> bool:
    """Whether values of JSON are equal and of the same types: JSON has no tuples, and names are strings."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(_are_same(each, other[name]) for name, each in value.items())
    if isinstance(value, list):
        return len(value) == len(other) and all(map(_are_same, value, other))
    # NaN is not equal to itself.
    return bool(value == other or value != value)


_written = dict[tuple[Path, int], "Checkpoint"]()
"""By file and process: a system knows no locks between sweeps of one process, and a forked one writes none of these."""


class Checkpoint:
    """The results of earlier calls by the number of the task, and a line for every new one."""

    def __init__(
        self,
        path: str | Path | None,
        axes: dict[str, list[Any]],
        tasks: list[dict[str, Any]],
        function: Callable[..., Any],
        shared: Any,
    ) -> None:
        self.results: dict[int, dict[str, Any]] = {}
        self._tasks = tasks
        self._file: IO[bytes] | None = None
        self._place: tuple[Path, int] | None = None
        if path is None:
            return
        head = [_lasting("the function of a sweep", function), _lasting("what a sweep shares", shared)]
        keys = [[(name, _lasting(f"{value!r} for {name!r}", value)) for value in axes[name]] for name in axes]
        known = (json.dumps([*head, *sorted(task)]).encode() for task in itertools.product(*keys))
        self._keys = [hashlib.sha256(task).hexdigest()[:16] for task in known]
        place = Path(path).resolve(), os.getpid()
        # Before the file is opened: closing it a second time would end the lock of the first.
        if _written.setdefault(place, self) is not self:
            raise _is_written(path)
        self._place = place
        try:
            self._file = Path(path).open("ab+")  # noqa: SIM115 (it stays open)
            try:
                _lock(self._file)
            except (BlockingIOError, PermissionError):
                raise _is_written(path) from None
            except OSError:
                pass  # A file system without locks.
            self._read(self._file, path)
        except BaseException:
            self.close()
            raise

    def _read(self, file: IO[bytes], path: str | Path) -> None:
        numbers = {key: number for number, key in enumerate(self._keys)}
        file.seek(0)
        *lines, last = file.read().split(b"\n")
        for place, line in enumerate(lines, 1):
            try:
                read = json.loads(line)
                key, point, result = read["task"], point_of(read["parameters"]), read["result"]
                is_done = result["error"] is None
            except (ValueError, KeyError, TypeError, AttributeError):
                raise NumError(f"line {place} of {path} is not one of a sweep's checkpoint") from None
            if key in numbers:
                if is_done:
                    self.results[numbers[key]] = result
            elif is_done:
                raise NumError(
                    f"line {place} of {path} is of a task that this sweep does not have ({point}): "
                    "other parameters, another function, or another shared object; a grid with fewer values needs "
                    "another file. If these are the same, their pickles differ: sets of strings have another order in "
                    "every process, sorted lists have not"
                )
        start = b'{"task": "'
        if last[: len(start)] != start[: len(last)]:
            raise NumError(f"line {len(lines) + 1} of {path} is not one of a sweep's checkpoint")
        # The last line was being written when the sweep ended.
        file.truncate(sum(len(line) + 1 for line in lines))

    def write(self, number: int, result: dict[str, Any]) -> None:
        if self._file is not None:
            # The parameters are for people.
            parameters = {name: _readable(value) for name, value in self._tasks[number].items()}
            line = {"task": self._keys[number], "parameters": parameters, "result": result}
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            _unlock(self._file)
            self._file.close()
        if self._place is not None:
            _written.pop(self._place, None)


def point_of(parameters: Mapping[str, Any]) -> str:
    """The parameters of a task in a message."""
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def _is_written(path: str | Path) -> NumError:
    return NumError(
        f"another sweep, in this process or another one, writes the checkpoint {path}: give each a file of its own. By "
        "mpiexec every rank does the whole sweep, unless the script runs by python -m mpi4py.futures and the executor "
        "is an MPIPoolExecutor"
    )


def _lock(file: IO[bytes]) -> None:
    """Raises where another process holds the lock. It ends with its process, and those that this one forks lack it."""
    if sys.platform == "win32":
        msvcrt.locking(_at_end(file), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(file: IO[bytes]) -> None:
    """Windows may take a while for it when a file is closed."""
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            msvcrt.locking(_at_end(file), msvcrt.LK_UNLCK, 1)


def _at_end(file: IO[bytes]) -> int:
    """The descriptor of a file, at a byte beyond its content: Windows lets no other process read what is locked."""
    file.seek(2**31 - 2)
    return file.fileno()


def _readable(value: Any) -> Any:
    """A value as JSON has it, or its repr."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value


def _lasting(what: str, value: Any) -> str:
    """The key of a value in a checkpoint."""
    try:
        return key_of(value, is_lasting=True)
    except Exception as error:
        raise NumError(f"with a checkpoint, {what} must pickle: {error}") from error
