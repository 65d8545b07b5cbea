"""A server of our own, which ends with the process that started it, however that dies.

Its parent is a shell that waits for the end of a pipe, which the kernel closes.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Child: TypeAlias = subprocess.Popen[bytes]

# Ends when the server does; ends the server when its own input does.
_UNTIL_EOF = """
exec 3<&0
"$@" 3<&- &
server=$!
{ cat <&3 >/dev/null; kill "$server"; } &
exec 3<&-
wait "$server"
"""
ATTEMPTS = 5
"""A port that was free may be taken before the server has it."""

PATIENCE = 30.0
"""Seconds until a server must answer: it may have data to load, on a machine that is busy."""


def start(command: Sequence[str], log: Path, **more: Any) -> Child:
    """Start a server that writes to ``log``; ``more``: as whom, in which environment, as for ``Popen``."""
    with log.open("ab") as written:
        return subprocess.Popen(  # noqa: S603  the command is ours
            ["/bin/sh", "-c", _UNTIL_EOF, "sh", *command],
            stdin=subprocess.PIPE, stdout=written, stderr=written, start_new_session=True, **more,
        )  # fmt: skip


def end(child: Child) -> None:
    """End a server, and wait until its data is written."""
    child.communicate(timeout=PATIENCE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
