"""Calls of one function on any executor of `concurrent.futures`, with what they share sent once to every process.

A call travels with the digest of what is shared. A process that lacks it says so, and the bytes are sent by a call of
their own; what the process has sent back waits until they have arrived somewhere. With a call that is sent back again
the bytes travel. So nothing is assumed of an executor: not how many processes it has, nor which of them takes a call,
nor that one takes a second, nor that they have files in common.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import threading
import uuid
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from .._core import NumError

_PAUSE = 0.1
"""Seconds between two looks for signals, where waiting hides them."""
_OPEN = 256
"""Calls that are given to an executor at a time: few enough to take back, and more than most clusters have workers."""
_CANCEL = 0.5
"""Seconds for which calls are taken back before the caller goes on."""
_SMALL = 65536
"""Bytes that travel with every call: to ask for so few would take longer."""


@dataclass(frozen=True)
class Shared:
    """What all calls share, and its pickle."""

    content: Any
    packed: bytes
    digest: str

    @classmethod
    def of(cls, content: Any) -> Shared:
        """Raises what pickle does."""
        packed = pickle.dumps(content)
        return cls(content, packed, hashlib.sha256(packed).hexdigest())


def expect_executor(executor: Any) -> None:
    """Raises TypeError for what is no executor."""
    if not isinstance(executor, Executor):
        hint = ": give its get_executor()" if hasattr(executor, "get_executor") else ""
        raise TypeError(f"executor must be an Executor of concurrent.futures, not {executor!r}{hint}")


def here(
    function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]
) -> Generator[tuple[int, Future[Any]], None, None]:
    """As `outcomes`, by calls in this thread of a function that does not raise."""
    for place, task in enumerate(tasks):
        future: Future[Any] = Future()
        future.set_result(function(shared, task))
        yield place, future


def outcomes(
    executor: Executor, function: Callable[[Any, Any], Any], shared: Shared, tasks: Sequence[Any]
) -> Generator[tuple[int, Future[Any]], None, None]:
    """The place and the ended future of ``function(shared, task)`` for every task, as they end.

    Closing the generator, or an exception in it such as KeyboardInterrupt, takes back the calls that have not begun.

    Raises
    ------
    NumError
        For an executor that takes no call at all, such as one that was shut down or whose Dask client is closed. One
        that breaks later fails calls.
    """
    digest, ended = shared.digest, SimpleQueue[Future[Any]]()
    # Processes that end after some calls cannot keep anything for long.
    is_kept = getattr(executor, "_max_tasks_per_child", None) is None
    # Such a pool keeps no call back that it has more than workers for: after Ctrl-C it would begin that.
    most = getattr(executor, "_max_workers", _OPEN) if isinstance(executor, ProcessPoolExecutor) else _OPEN
    along = None if is_kept and len(shared.packed) > _SMALL else shared.packed
    waiting, held = deque(range(len(tasks))), list[int]()
    running, sending = dict[Future[Any], int](), dict[Future[Any], str]()
    returned, is_first = Counter[int](), True

    def submit(call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        nonlocal is_first
        try:
            # With a name of its own: Dask does not repeat a call whose arguments it has seen.
            future = executor.submit(call, uuid.uuid4().hex, *arguments)
        except Exception as error:
            # A call that does not pickle is that call's error.
            if is_first and not isinstance(error, (pickle.PicklingError, AttributeError, TypeError)):
                raise NumError(f"the executor takes no calls: {type(error).__name__}: {error}") from error
            future = Future()
            future.set_exception(error)
        is_first = False
        future.add_done_callback(ended.put)
        return future

    def send() -> Future[Any]:
        with warnings.catch_warnings():
            # Dask advises to send large things once, which is what this does.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return submit(_receive, digest, shared.packed)

    try:
        # For the threads of this process, and for those that are forked from it. It stands in the `try`: Python 3.11
        # skips `finally` for a KeyboardInterrupt at the jump to a loop that is the first statement there.
        _KEPT[digest] = shared
        while waiting or running or sending:
            while waiting and len(running) < most:
                place = waiting.popleft()
                packed = shared.packed if returned[place] > 1 else along
                running[submit(_call, function, digest, packed, tasks[place])] = place
            try:
                future = ended.get(timeout=_PAUSE)
            except Empty:
                continue
            has_answer = not future.cancelled() and future.exception() is None
            if future in sending:
                del sending[future]
                if has_answer:
                    waiting.extendleft(reversed(held))
                else:
                    yield from ((place, future) for place in held)
                held.clear()
                continue
            place = running.pop(future)
            if has_answer and isinstance(lacking := future.result(), _Lacking):
                if lacking.process in sending.values():
                    held.append(place)
                    continue
                returned[place] += 1
                if returned[place] > 1:
                    waiting.appendleft(place)
                else:
                    held.append(place)
                    sending[send()] = lacking.process
            else:
                yield place, future
    finally:
        _KEPT.pop(digest, None)
        # Dask asks its scheduler about each of them, which may take longer than a user waits after Ctrl-C.
        cancel = threading.Thread(target=_cancel, args=([*running, *sending],), daemon=True)
        cancel.start()
        cancel.join(_CANCEL)


def _cancel(calls: list[Future[Any]]) -> None:
    for call in calls:
        call.cancel()


_KEPT: dict[str, Shared] = {}
"""What calls of this process share, by digest."""


@dataclass(frozen=True)
class _Lacking:
    """The answer of a process that does not have what is shared."""

    process: str


def _call(_name: str, function: Callable[[Any, Any], Any], digest: str, packed: bytes | None, task: Any) -> Any:
    shared = _KEPT.get(digest)
    if shared is None:
        if packed is None:
            return _Lacking(f"{platform.node()} {os.getpid()}")
        shared = _unpacked(digest, packed)
    return function(shared.content, task)


def _receive(_name: str, digest: str, packed: bytes) -> None:
    _unpacked(digest, packed)


def _unpacked(digest: str, packed: bytes) -> Shared:
    """Keeps it beside the last one, but for what is small and travels with every call."""
    shared = Shared(pickle.loads(packed), b"", digest)
    if len(packed) > _SMALL:
        for old in list(_KEPT)[:-1]:
            _KEPT.pop(old, None)
        _KEPT[digest] = shared
    return shared
