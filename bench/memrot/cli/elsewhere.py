"""The same command in another environment: backends that cannot be installed together each get theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from memrot import __version__
from memrot.errors import BadInput

_VERSION = "import memrot; print(memrot.__version__)"
_MAIN = "from memrot.cli import main; main()"


def go_on(python: Path, option: str) -> NoReturn:
    """Become this command under another Python; ``option`` named it, and is left out there.

    Raises BadInput unless memrot is installed there in this version: its numbers would be others.
    """
    path = str(python.absolute())  # resolved, a virtual environment's Python would be another
    try:
        asked = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True, check=False)  # noqa: S603  the user's own Python
    except OSError as error:
        raise BadInput(f"{option}: {error.strerror or error}", file=str(python)) from None
    found = asked.stdout.strip()
    if asked.returncode != 0 or found != __version__:
        has = f"memrot {found}" if asked.returncode == 0 and found else "none"
        raise BadInput(
            f"{option}: expected a Python with memrot {__version__}, found {has}", file=str(python)
        )
    os.execv(path, [path, "-c", _MAIN, *_without(option, sys.argv[1:])])  # noqa: S606  no shell is wanted


def _without(option: str, arguments: list[str]) -> list[str]:
    rest = iter(arguments)
    kept = []
    for argument in rest:
        if argument == option:
            next(rest, None)
        elif not argument.startswith(f"{option}="):
            kept.append(argument)
    return kept
