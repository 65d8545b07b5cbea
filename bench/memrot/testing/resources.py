"""What a store or a memory that was closed may not keep: files and threads of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

LIFETIMES = 3
PATIENCE_S = 5.0


def check_released(lifetime: Callable[[], None]) -> None:
    """Assert that a lifetime, opened and closed again and again, keeps nothing."""
    lifetime()  # some backends open what they need once a process
    time.sleep(0.5)  # and some end their threads a moment after they were closed
    before = _files_and_threads()
    for _ in range(LIFETIMES):
        lifetime()
    patience = time.monotonic() + PATIENCE_S
    while _files_and_threads() > before and time.monotonic() < patience:
        time.sleep(0.02)
    assert _files_and_threads() <= before, "what was closed keeps files or threads"


def _files_and_threads() -> int:
    """Of this process, where the system tells (Linux)."""
    own = Path("/proc/self")
    return sum(len(list((own / kind).iterdir())) for kind in ("fd", "task")) if own.exists() else 0
