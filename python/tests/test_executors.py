"""What goes to an executor: what is shared once per process, calls that are taken back, calls that cannot be made."""

import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from common import dask, processes

from netnum import NumError
from netnum._calls import executors
from netnum._calls.executors import Shared, outcomes

BIG = np.arange(1_000_000.0)
TASKS = list(range(120))


def entry(shared, place):
    time.sleep(0.002)
    return float(shared[place]), os.getpid()


def refused(shared, place):
    raise AssertionError("not called")


class Refuses:
    """Pickles, but does not come out of it."""

    def __reduce__(self):
        return int, ("not a number" + " " * 100_000,)


class Counting(Executor):
    """Another executor, and the bytes that go to it."""

    def __init__(self, executor):
        self.executor, self.sent = executor, 0

    def submit(self, call, /, *arguments):
        self.sent += sum(len(each) for each in arguments if isinstance(each, bytes))
        return self.executor.submit(call, *arguments)


def answers(executor, function, content, tasks=TASKS):
    found = dict(outcomes(executor, function, Shared.of(content), tasks))
    return [found[place].result() for place in range(len(tasks))]


@pytest.mark.parametrize("kind", ["spawn", "dask"])
def test_what_is_shared_goes_once_to_every_process(kind):
    with dask() if kind == "dask" else processes(2, kind) as workers:
        pool = Counting(workers.get_executor() if kind == "dask" else workers)
        values, pids = zip(*answers(pool, entry, BIG), strict=True)
        assert values == tuple(BIG[:120])
        # A process that already has it may take the bytes that another one lacks, more often on a busy machine.
        assert len(set(pids)) <= round(pool.sent / BIG.nbytes) <= len(TASKS) // 10
        # All have it now, but for a process that came too late for the first calls.
        before = pool.sent
        answers(pool, entry, BIG)
        assert round((pool.sent - before) / BIG.nbytes) <= len(TASKS) // 20


@pytest.mark.parametrize("start", ["threads", "fork"])
def test_nothing_is_sent_to_where_it_is(start):
    with ThreadPoolExecutor(2) if start == "threads" else processes(2, start) as workers:
        pool = Counting(workers)
        assert [value for value, _ in answers(pool, entry, BIG)] == BIG[:120].tolist()
        assert pool.sent == 0
    assert not executors._KEPT


@pytest.mark.skipif(sys.version_info < (3, 11), reason="max_tasks_per_child is of Python 3.11")
def test_processes_that_end_after_every_call_are_sent_it_with_every_call():
    with processes(1, max_tasks_per_child=1) as pool:
        values, pids = zip(*answers(pool, entry, BIG, TASKS[:3]), strict=True)
        assert values == tuple(BIG[:3]) and len(set(pids)) == 3


class LastFirst(Executor):
    """One process, which takes the last call first."""

    def __init__(self):
        self.pool, self.calls, self.has_calls = Counting(processes(1)), deque(), threading.Semaphore(0)
        threading.Thread(target=self.serve, daemon=True).start()

    def submit(self, call, /, *arguments):
        future = Future()
        self.calls.append((future, call, arguments))
        self.has_calls.release()
        return future

    def serve(self):
        while self.has_calls.acquire():
            future, call, arguments = self.calls.pop()
            future.set_result(self.pool.submit(call, *arguments).result())


def test_the_order_in_which_an_executor_takes_calls_is_its_own():
    pool = LastFirst()
    assert [value for value, _ in answers(pool, entry, BIG)] == BIG[:120].tolist()
    assert pool.pool.sent <= 3 * BIG.nbytes


class Fresh(Executor):
    """A process for every call, as in a batch system."""

    def submit(self, call, /, *arguments):
        with processes(1) as pool:
            return pool.submit(call, *arguments)


def test_an_executor_with_a_process_for_every_call_ends():
    pool = Counting(Fresh())
    values, pids = zip(*answers(pool, entry, BIG, TASKS[:2]), strict=True)
    assert values == tuple(BIG[:2]) and len(set(pids)) == 2
    # Each by a call of its own first, and then with the task.
    assert pool.sent <= 4.1 * BIG.nbytes


def test_a_process_keeps_two_large_things_whatever_small_ones_come():
    with processes(1) as workers:
        pool = Counting(workers)
        for content in (BIG, BIG + 1, BIG[:5], BIG, BIG + 1):
            before = pool.sent
            assert [value for value, _ in answers(pool, entry, content, TASKS[:3])] == content[:3].tolist()
        assert pool.sent == before and 2 <= pool.sent / BIG.nbytes < 2.01


def test_what_does_not_come_out_of_a_pickle_fails_the_calls():
    with processes(1) as pool:
        for _, future in outcomes(pool, refused, Shared.of(Refuses()), TASKS[:5]):
            with pytest.raises(ValueError, match="invalid literal for int"):
                future.result()


def test_an_executor_that_takes_nothing_is_one_error():
    client = dask()
    executor = client.get_executor()
    assert len(answers(executor, entry, BIG[:9], [1, 2])) == 2
    client.close()
    with pytest.raises(NumError, match=r"^the executor takes no calls: ClosedClientError: "):
        answers(executor, entry, BIG[:9], [1, 2])


class RefusesToPickle(Executor):
    """As Dask does for what does not pickle."""

    def submit(self, call, /, *arguments):
        raise TypeError("could not serialize")


def test_a_call_that_does_not_pickle_is_the_error_of_that_call():
    ended = dict(outcomes(RefusesToPickle(), entry, Shared.of(None), [1, 2]))
    assert [str(ended[place].exception()) for place in (0, 1)] == ["could not serialize"] * 2


def test_what_is_not_wanted_any_more_is_taken_back():
    done = []

    def call(shared, place):
        time.sleep(0.01)
        done.append(place)

    with ThreadPoolExecutor(1) as pool:
        calls = outcomes(pool, call, Shared.of(None), list(range(1000)))
        for place, _ in calls:
            if place == 3:
                break
        calls.close()
    assert len(done) < 10
