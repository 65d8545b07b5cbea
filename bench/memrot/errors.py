"""The errors a person can cause or must act on; anything else is a defect of memrot."""

from __future__ import annotations

import re
from collections.abc import Mapping


class BadInput(Exception):
    """Input that cannot be used: one line that says where and what was expected (exit code 2)."""

    def __init__(self, what: str, *, file: str | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(where + " ".join(what.split()))


class BadOption(BadInput):
    """An option that an adapter does not have; ``known``: those it has, with the values they may have."""

    def __init__(self, what: str, known: Mapping[str, tuple[str, ...]] = {}) -> None:
        super().__init__(what)
        self.known = known


class Unavailable(Exception):
    """A backend that is not installed or not reachable; the message says what to do."""


def to_install(package: str, extra: str) -> str:
    """What to say where an extra is missing: the command, and the least versions that it installs."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needs = requires(package) or ()
    except PackageNotFoundError:
        needs = ()
    own = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    least = ", ".join(need.partition(";")[0].strip() for need in needs if own.search(need))
    return f"pip install '{package}[{extra}]'" + (f" ({least})" if least else "")


class Unsupported(Exception):
    """Something a memory cannot do; the message gives the reason."""


class MemoryFault(Exception):
    """A memory broke its contract (too many hits, a repeated id, an unknown band, ...)."""
