"""A clock that a server of ours believes, moved by hand: the library of the ``libfaketime`` wheel.

The library stands between the server and the system's time, and reads the instant from a file. The
file is replaced whole, and the server is asked for the time until it is there. Monotonic time is left
alone: it is what the server's own timers run on.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memrot.errors import Unavailable, to_install
from memrot.model import Instant

PATIENCE = 10.0
"""Seconds until a server must have noticed."""


class Clock:
    """Stands still between two moves, and where it stood when a server starts again with its file."""

    def __init__(self, file: Path, extra: str) -> None:
        self._library = _library(extra)
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        if not self._file.exists():
            self._write(0)

    def believed_by(self, command: Sequence[str]) -> list[str]:
        """A command that runs another by this clock: it alone, and not what starts it.

        The library keeps a semaphore in shared memory, by the number of the first process that it finds
        itself in, and removes it when that one exits as a program does; a shell does not. Every ``stat``
        would wait for it, unless the times of files are left alone.
        """
        environment = {
            "LD_PRELOAD": str(self._library), "FAKETIME_TIMESTAMP_FILE": str(self._file.resolve()),
            "FAKETIME_FMT": "%s", "TZ": "UTC", "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip
        return ["/usr/bin/env", *(f"{name}={value}" for name, value in environment.items()), *command]

    def move(self, at: Instant, told: Callable[[], Instant]) -> None:
        """Set the instant; returns when the server, asked by ``told``, has just that one.

        Raises TimeoutError if it never does: it would be running by the machine's clock.
        """
        self._write(at)
        deadline = time.monotonic() + PATIENCE
        while told() != at:
            if time.monotonic() > deadline:
                raise TimeoutError("the server does not follow the clock that was moved")
            time.sleep(0.001)

    def remove(self) -> None:
        """For a server that will not start again."""
        self._file.unlink()

    def _write(self, at: Instant) -> None:
        new = self._file.with_name(self._file.name + ".new")
        # and half a millisecond: it is read as a float, and one in three would come out a microsecond short
        new.write_text(f"{at // 1000}.{at % 1000:03d}5")
        new.chmod(0o644)  # the server may run as somebody else
        new.replace(self._file)


def _library(extra: str) -> Path:
    found = importlib.util.find_spec("libfaketime")
    if found is None or found.origin is None:
        raise Unavailable(to_install("memrot", extra))
    library = Path(found.origin).parent / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"
    if not library.exists():
        raise Unavailable("libfaketime has no library for this platform: no server's clock can be moved")
    return library
