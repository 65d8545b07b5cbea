"""A deadline for every call of a memory, also for one that hangs in native code.

Neither signals nor threads end a call that holds the interpreter's lock; ``faulthandler`` does, by
ending the process. So a worker that hangs costs its cell, and the stack that it leaves behind says
where it hung.
"""

from __future__ import annotations

import faulthandler
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from memrot.memory import MemoryService
from memrot.model import Answer, ChangeEvent, Instant, Question

_SLACK = 0.1
"""Arming costs some 50 microseconds, so it is renewed only when this share of the time has gone:
a call has between one and 1 + _SLACK times the timeout."""

_PHASE = re.compile(rf'File "[^"]*{re.escape(Path(__file__).name)}", line \d+ in (open|apply|answer|close)\b')


class Deadline:
    """Ends the process unless ``renew`` is called every ``seconds``; its last words go to ``file``."""

    def __init__(self, seconds: float, file: Path) -> None:
        self._seconds = seconds
        self._file = file
        self._stream = file.open("w")
        self._armed = float("-inf")
        self.renew()

    def renew(self) -> None:
        now = time.monotonic()
        if now - self._armed > self._seconds * _SLACK:
            faulthandler.dump_traceback_later(self._seconds * (1 + _SLACK), exit=True, file=self._stream)
            self._armed = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._stream.close()
        self._file.unlink(missing_ok=True)


class Watched:
    """A memory whose calls renew a deadline; everything else is the memory's own."""

    def __init__(self, open_memory: Callable[[], MemoryService], deadline: Deadline) -> None:
        self._deadline = deadline
        self._memory = self.open(open_memory)
        self.info = self._memory.info

    def open(self, open_memory: Callable[[], MemoryService]) -> MemoryService:
        self._deadline.renew()
        return open_memory()

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self._deadline.renew()
        self._memory.apply(events, at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        self._deadline.renew()
        return self._memory.answer(questions, at)

    def close(self) -> None:
        self._deadline.renew()
        self._memory.close()

    def __getattr__(self, name: str) -> Any:
        self._deadline.renew()  # whatever is taken here is called next: a memory need not have a peek
        return getattr(self._memory, name)


def hung_during(file: Path) -> str | None:
    """The call in which a worker hung, by what it left behind; None: it died of something else."""
    try:
        dump = file.read_text(errors="replace")
    except OSError:
        return None
    if not dump.strip():
        return None
    phase = _PHASE.search(dump)
    return phase[1] if phase else "measuring"
