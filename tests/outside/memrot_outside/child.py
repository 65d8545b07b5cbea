"""A product's program as a child process: it ends with us, since the end of its input is its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PATIENCE_S = 30.0


class Child:
    """``python -m module data``, told and heard line by line."""

    def __init__(self, module: str, data: Path) -> None:
        data.parent.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self) -> str:
        """One line; raises ConnectionError where the program has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ConnectionError("the program has ended")
        return line

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Close its input, and wait until it has saved."""
        self._process.communicate(timeout=PATIENCE_S)
