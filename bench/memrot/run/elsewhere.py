"""Workers of other environments: a backend that excludes another one gets a Python of its own.

A process of that Python does a batch of tasks in a pool of its own and sends back what its workers
return; all else (what is missing, where it is kept, the leaderboard) stays with the run, which cannot
tell such cells from its own. The two speak in pickles over pipes, and the process ends with the run,
however that dies: its input does. Both need the same memrot and the same minor version of Python.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from memrot.run.pool import Died, Pool, Tick, Workers, how_it_ended

_SERVE = "import sys; from memrot.run.elsewhere import serve; serve(int(sys.argv[1]))"
_PATIENCE_S = 30.0
"""Until a process has ended whose input has: it ends its workers first."""

_LOST = (EOFError, pickle.UnpicklingError)
"""What a pipe gives whose writer ended, between two replies or within one."""


class Environments:
    """All of a run: its own, and those of adapters that have one."""

    def __init__(self, own: Pool, pythons: Mapping[str, Path], jobs: int, scratch: Path) -> None:
        self._own = own
        others = {python: Elsewhere(python, jobs, scratch) for python in pythons.values()}
        self._others = {adapter: others[python] for adapter, python in pythons.items()}

    def run(
        self, work: Callable[..., Any], tasks: Sequence[Sequence[Any]], adapters: Sequence[str], tick: Tick
    ) -> Iterator[tuple[int, Any]]:
        """As ``Pool.run``, each task where its adapter is; one environment after another."""
        theirs: dict[Workers, list[int]] = {}
        for place, adapter in enumerate(adapters):
            theirs.setdefault(self._others.get(adapter, self._own), []).append(place)
        for workers, places in theirs.items():

            def among_all(running: Sequence[int], places: Sequence[int] = places) -> None:
                tick([places[each] for each in running])

            for each, result in workers.run(work, [tasks[place] for place in places], among_all):
                yield places[each], result


class Elsewhere:
    """Runs picklable tasks as ``Pool`` does, under another Python."""

    def __init__(self, python: Path, jobs: int, scratch: Path) -> None:
        self._python = python
        self._jobs = jobs
        self._scratch = scratch

    def run(
        self, work: Callable[..., Any], tasks: Sequence[Sequence[Any]], tick: Tick
    ) -> Iterator[tuple[int, Any]]:
        left = dict.fromkeys(range(len(tasks)))
        with self._started() as (process, replies):
            with suppress(BrokenPipeError):  # it has ended already: its replies say so
                pickle.dump((self._jobs, self._scratch, work, tasks), cast(BinaryIO, process.stdin))
                cast(BinaryIO, process.stdin).flush()
            while left:
                try:
                    reply = pickle.load(replies)  # noqa: S301  of a process of our own
                except _LOST:
                    break
                if isinstance(reply, list):
                    tick(reply)
                else:
                    del left[reply[0]]
                    yield reply
        for place in left:
            yield place, Died(how_it_ended(process.returncode, "the other Python"))

    @contextmanager
    def _started(self) -> Iterator[tuple[subprocess.Popen[bytes], BinaryIO]]:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as replies:
            try:
                process = subprocess.Popen(  # noqa: S603  the user's own Python
                    [str(self._python), "-c", _SERVE, str(writing)],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[writing],
                )  # fmt: skip
            finally:
                os.close(writing)
            try:
                yield process, replies
            finally:
                with suppress(BrokenPipeError):
                    cast(BinaryIO, process.stdin).close()
                try:
                    process.wait(_PATIENCE_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def serve(writing: int) -> None:
    """What the process of the other Python does: one batch, then its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run hears it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    jobs, scratch, work, tasks = pickle.load(sys.stdin.buffer)  # noqa: S301  of the run that started us
    done = threading.Event()
    threading.Thread(target=_end_with_the_run, args=(done,), daemon=True).start()
    with os.fdopen(writing, "wb") as replies, Pool(jobs, scratch) as pool:

        def send(reply: object) -> None:
            pickle.dump(reply, replies)
            replies.flush()

        for reply in pool.run(work, tasks, lambda running: send(list(running))):
            send(reply)
        done.set()


def _end_with_the_run(done: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1024):  # not by its buffer, whose lock an interpreter that ends wants
        pass
    if not done.is_set():
        os.kill(os.getpid(), signal.SIGTERM)  # the pool ends its workers on the way out
