"""What happens inside a worker, at the third answer: the server of a stack's first cell dies, the disk of its
second is full. The third is left alone.

Installed as ``sitecustomize`` of the run's processes. The faults are real: a signal that no process survives,
and a file that takes what was left of the disk.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

MARKS = "MEMROT_TEST_MARKS"
"""A folder with a file for each stack and fault, which says whether it was struck."""

DISK = "MEMROT_TEST_DISK"
"""Set where temporary files have a small disk of their own, which may be filled."""

THIRD = 3
OURS = ("sh", "cat")
"""What only waits for a server's end."""


def descendants(pid: int) -> list[int]:
    """Processes that a worker's backend started; a thread of its has children too."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            found += [child, *descendants(child)]
    return found


def kill() -> bool:
    """Every server of this worker's; whether there was one."""
    servers = [
        pid for pid in descendants(os.getpid()) if Path(f"/proc/{pid}/comm").read_text().strip() not in OURS
    ]
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
    return bool(servers)


def ballast() -> Path:
    return Path(os.environ["TMPDIR"]) / "ballast"


def fill() -> bool:
    if not os.environ[DISK]:
        return False
    size = 1 << 30
    with ballast().open("wb") as file:
        while size >= 512:
            try:
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
            except OSError:
                size //= 2
    return True


def install() -> None:
    from memrot.run.watch import Watched

    opened, answer = Watched.open, Watched.answer
    marks = Path(os.environ[MARKS])
    asked: WeakKeyDictionary[Watched, int] = WeakKeyDictionary()

    def after_room_was_made(self: Watched, open_memory: Any) -> Any:
        ballast().unlink(missing_ok=True)
        return opened(self, open_memory)

    def until_it_strikes(self: Watched, questions: Any, at: Any) -> Any:
        asked[self] = asked.get(self, 0) + 1
        if asked[self] == THIRD:
            name = self.info.name.replace("/", "-")
            for strike in (kill, fill):
                mark = marks / f"{name}.{strike.__name__}"
                if not mark.exists():
                    mark.write_text("struck" if strike() else "spared")
                    break
        return answer(self, questions, at)

    Watched.open = after_room_was_made  # type: ignore[method-assign]  # from outside, and in this process only
    Watched.answer = until_it_strikes  # type: ignore[method-assign]  # as above


if "--multiprocessing-fork" in sys.orig_argv and MARKS in os.environ:
    install()
