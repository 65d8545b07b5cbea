"""Processes that can die one by one: a task whose worker dies or hangs costs that task alone.

Workers are spawned, never forked: a used Chroma or Qdrant edge hangs in a forked child.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

from pebble import ProcessExpired, ProcessPool

from memrot.run.worker import start

Tick: TypeAlias = Callable[[Sequence[int]], object]
"""Called now and then with the places of the tasks that are running."""

_TICK_S = 0.5
_ATTEMPTS = 3
"""How often a whole pool may break before its tasks are given up."""


class Died(Exception):
    """The worker of a task ended before it was done; the message says how."""


class Workers(Protocol):
    """What runs tasks, here or in another environment."""

    def run(
        self, work: Callable[..., Any], tasks: Sequence[Sequence[Any]], tick: Tick
    ) -> Iterator[tuple[int, Any]]:
        """Yields (place in ``tasks``, result) as they are done; an exception where one failed."""
        ...


class Pool:
    """Runs picklable tasks in ``jobs`` workers, whose temporary files go to ``scratch``."""

    def __init__(self, jobs: int, scratch: Path) -> None:
        self._jobs = jobs
        self._scratch = scratch
        self._pool = self._started()

    def run(
        self, work: Callable[..., Any], tasks: Sequence[Sequence[Any]], tick: Tick
    ) -> Iterator[tuple[int, Any]]:
        left = list(range(len(tasks)))
        for _ in range(_ATTEMPTS):
            broken = []
            for place, future in self._completed(work, tasks, left, tick):
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    broken.append(place)
                elif isinstance(error, ProcessExpired):
                    yield place, Died(how_it_ended(error.exitcode, "the worker"))
                else:
                    yield place, future.result() if error is None else error
            if not broken:
                return
            left = broken
            self._end()
            self._pool = self._started()
        for place in left:
            yield place, Died("the pool of workers broke")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _completed(
        self, work: Callable[..., Any], tasks: Sequence[Sequence[Any]], places: Sequence[int], tick: Tick
    ) -> Iterator[tuple[int, Future[Any]]]:
        pending: dict[Future[Any], int] = {
            self._pool.schedule(work, args=tasks[place]): place for place in places
        }
        while pending:
            done, _ = wait(pending, timeout=_TICK_S, return_when=FIRST_COMPLETED)
            tick([place for future, place in pending.items() if future.running()])
            for future in done:
                yield pending.pop(future), future

    def _started(self) -> ProcessPool:
        for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(threads, "1")  # workers inherit it: cells must not fight over cores
        return _Workers(
            max_workers=self._jobs,
            context=multiprocessing.get_context("spawn"),
            initializer=start,
            initargs=(os.getpid(), str(self._scratch)),
        )

    def _end(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble types only a part of itself
        self._pool.join()


class _Workers(ProcessPool):
    """Ends its workers before it takes their locks away: one that was still starting would miss them,
    and say so on the standard error that it shares with its parent."""

    def _stop_pool(self) -> None:
        if self._pool_manager_loop is not None:
            self._pool_manager_loop.join()
        self._pool_manager.worker_manager.force_stop_workers()  # type: ignore[no-untyped-call]  # as below
        super()._stop_pool()  # type: ignore[no-untyped-call]  # pebble types only a part of itself


def how_it_ended(exitcode: int, what: str) -> str:
    if exitcode >= 0:
        return f"{what} ended with exit code {exitcode}"
    try:
        return f"{what} was ended by {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"{what} was ended by signal {-exitcode}"
