"""Other environments, for backends that cannot be installed together: which Python a command or a stack gets.

A bare ``--python PATH`` moves the whole command; ``--python NAME=PATH`` measures the stacks of one adapter
there, in the same run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from memrot import __version__
from memrot.errors import BadInput

_VERSIONS = "import sys, memrot; print(memrot.__version__, *sys.version_info[:2])"
_MAIN = "from memrot.cli import main; main()"
_OF_ADAPTER = re.compile(r"([a-z0-9][a-z0-9_.-]*(?:/[a-z0-9][a-z0-9_.-]*)?)=(.+)")


def pythons(given: Sequence[str], option: str) -> Mapping[str, Path]:
    """Adapter -> its own Python, of the values that ``option`` has; a bare one never returns.

    Raises BadInput unless memrot is there in this version: its numbers would be others.
    """
    named = [match for value in given if (match := _OF_ADAPTER.fullmatch(value))]
    bare = [value for value in given if not _OF_ADAPTER.fullmatch(value)]
    if len(bare) > 1:
        raise BadInput(f"{option}: expected one Python for the whole run, got {len(bare)}")
    if bare:
        _go_on(Path(bare[0]), option)
    found: dict[str, Path] = {}
    for match in named:
        if match[1] in found:
            raise BadInput(f"{option}: two Pythons for {match[1]!r}")
        found[match[1]] = Path(_checked(Path(match[2]), option, sys.version_info[:2]))
    return found


def _go_on(python: Path, option: str) -> NoReturn:
    """Become this command under another Python; ``option`` named it, and is left out there."""
    path = _checked(python, option)
    os.execv(path, [path, "-c", _MAIN, *_without(option, sys.argv[1:])])  # noqa: S606  no shell is wanted


def _checked(python: Path, option: str, minor: tuple[int, ...] = ()) -> str:
    """The path of a Python with this memrot; ``minor``: with what it has to exchange objects."""
    path = str(python.absolute())  # resolved, a virtual environment's Python would be another
    try:
        asked = subprocess.run([path, "-c", _VERSIONS], capture_output=True, text=True, check=False)  # noqa: S603  the user's own Python
    except OSError as error:
        raise BadInput(f"{option}: {error.strerror or error}", file=str(python)) from None
    found, *of_python = (asked.stdout.split() if asked.returncode == 0 else []) or [""]
    if found != __version__:
        has = f"memrot {found}" if found else "none"
        raise BadInput(
            f"{option}: expected a Python with memrot {__version__}, found {has}", file=str(python)
        )
    if minor and of_python != list(map(str, minor)):
        raise BadInput(
            f"{option}: expected Python {'.'.join(map(str, minor))} as here, found {'.'.join(of_python)}; "
            f"measure these stacks in a run of their own, and let memrot leaderboard merge the two",
            file=str(python),
        )
    return path


def _without(option: str, arguments: Sequence[str]) -> list[str]:
    """The arguments without the bare value of an option."""
    rest = iter(arguments)
    kept = []
    for argument in rest:
        value = next(rest, "") if argument == option else argument.removeprefix(f"{option}=")
        given = argument == option or argument.startswith(f"{option}=")
        if not given:
            kept.append(argument)
        elif _OF_ADAPTER.fullmatch(value):
            kept.append(f"{option}={value}")
    return kept
