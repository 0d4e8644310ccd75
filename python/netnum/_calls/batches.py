"""`solve_many` on an executor: in chunks, each of which a worker solves with one call."""

from __future__ import annotations

import itertools
import pickle
import traceback
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import NumError, Problem, Solution, Solutions, solve_chunk
from .._show.progress import bar
from . import executors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNKS = 128
"""Into how many chunks a sequence of problems is cut, where that makes none too long."""
_LONGEST = 32
"""The most problems of a chunk."""


@dataclass(frozen=True)
class Batch:
    """Where and how problems are solved."""

    executor: Executor
    method: str
    settings: dict[str, Any]
    progress: bool

    def __post_init__(self) -> None:
        executors.expect_executor(self.executor)

    def problems(
        self, problems: Sequence[Problem], starts: Sequence[NDArray[np.float64] | None] | None
    ) -> list[Solution]:
        """Any problems, and the prices that each starts from."""
        length = min(-(-len(problems) // _CHUNKS) or 1, _LONGEST)
        chunks = []
        for first in range(0, len(problems), length):
            some = slice(first, first + length)
            chunks.append(_Chunk(first, len(problems[some]), problems[some], {"warm_start": starts and starts[some]}))
        solutions = itertools.chain.from_iterable(self._solve("problem", None, chunks))
        return [_with_problem(*each) for each in zip(solutions, problems, strict=True)]

    def scenarios(self, problem: Problem, matrices: dict[str, NDArray[np.float64]], together: int) -> Solutions:
        """The scenarios of one problem, of which one solver goes through so many."""
        count = len(next(iter(matrices.values())))
        chunks = []
        for first in range(0, count, together):
            rows = {name: matrix[first : first + together] for name, matrix in matrices.items()}
            chunks.append(_Chunk(first, min(together, count - first), None, rows))
        return _joined(self._solve("scenario", problem, chunks))

    def _solve(self, noun: str, shared: Problem | None, chunks: list[_Chunk]) -> list[Any]:
        """What `solve_chunk` returns for the chunks, or the error of the first that fails."""
        try:
            packed = executors.Shared.of(shared)
        except Exception as error:
            raise NumError(f"the problem does not pickle: {error}") from error
        shown = bar("solve_many", (sum(chunk.count for chunk in chunks),)) if self.progress else None
        function = partial(_solve_chunk, self.method, self.settings)
        answers: dict[int, Any] = {}
        failed, done = len(chunks), 0
        try:
            with closing(executors.outcomes(self.executor, function, packed, chunks)) as calls:
                for place, future in calls:
                    try:
                        answers[place] = future.result()
                    except Exception as error:
                        answers[place] = _Failure(_not_solved(noun, chunks[place], error), "")
                    if isinstance(answers[place], _Failure):
                        failed = min(failed, place)
                    # Those before the first failure go on, so that the same one counts every time.
                    if failed < len(chunks) and all(before in answers for before in range(failed)):
                        answers[failed].throw()
                    done += chunks[place].count
                    if shown is not None:
                        shown.show(done)
        finally:
            if shown is not None:
                shown.close()
        return [answers[place] for place in range(len(chunks))]


@dataclass(frozen=True)
class _Chunk:
    """Problems next to each other, or scenarios of the problem that is shared."""

    first: int
    count: int
    problems: Sequence[Problem] | None
    given: dict[str, Any]
    """Their warm starts, or their rows."""


@dataclass(frozen=True)
class _Failure:
    """An exception, and where a worker has raised it."""

    error: Exception
    trace: str

    def throw(self) -> None:
        if self.trace:
            raise self.error from RuntimeError(f"in a worker:\n{self.trace}")
        raise self.error


def _solve_chunk(method: str, settings: dict[str, Any], shared: Problem | None, chunk: _Chunk) -> Any:
    problems = chunk.problems or () if shared is None else shared
    try:
        return solve_chunk(problems, method, chunk.first, **chunk.given, **settings)
    except Exception as error:
        trace = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # It would break a pool of processes, which unpickles it out of every call.
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            return _Failure(RuntimeError(f"{type(error).__name__}: {error}{notes}"), trace)
        return _Failure(error, trace)


def _not_solved(noun: str, chunk: _Chunk, error: Exception) -> Exception:
    """The error of a call that an executor could not make."""
    for number, problem in enumerate(chunk.problems or (), chunk.first):
        try:
            pickle.dumps(problem)
        except Exception as why:
            return NumError(f"problem {number} does not pickle: {why}")
    last = chunk.first + chunk.count - 1
    which = f"{noun} {last}" if chunk.count == 1 else f"{noun}s {chunk.first} to {last}"
    found = NumError(f"{which}: {type(error).__name__}: {error}")
    found.__cause__ = error
    return found


def _with_problem(solution: Solution, problem: Problem) -> Solution:
    if solution.rounds is not None:
        # Of pairs: its problem is over the paths that were found.
        return solution
    restore, (state,) = _taken_apart(solution)
    return restore({**state, "problem": problem})


def _taken_apart(thing: Any) -> Any:
    """What makes an object again, and of what: as pickle has it."""
    return thing.__reduce__()


def _joined(parts: list[Solutions]) -> Solutions:
    restore, _ = _taken_apart(parts[0])
    states = [_taken_apart(part)[1][0] for part in parts]
    arrays = [name for name in states[0] if name not in ("size", "others")]
    state = {name: np.concatenate([state[name] for state in states]) for name in arrays}
    others = list(itertools.chain.from_iterable(state["others"] for state in states))
    return restore({**state, "size": states[0]["size"], "others": others})
