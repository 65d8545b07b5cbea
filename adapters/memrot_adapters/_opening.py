"""What every ``open_store`` does first: look at its options, import its backend, find its server.

Addresses and secrets come from the environment only: options are part of a stack's name, which is
printed and written to files.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memrot.errors import BadOption, Unavailable, to_install


def check_options(adapter: str, options: Mapping[str, str], known: Mapping[str, tuple[str, ...]]) -> None:
    """Raise BadOption for an option that is not among ``known`` (option -> the values it may have)."""
    for name, value in options.items():
        if not known:
            raise BadOption(f"{adapter}: takes no options, got {name!r}", known)
        if name not in known:
            raise BadOption(f"{adapter}: unknown option {name!r}; known: {', '.join(known)}", known)
        if value not in known[name]:
            allowed = "no value" if known[name] == ("",) else " or ".join(filter(None, known[name]))
            raise BadOption(f"{adapter}: option {name!r} takes {allowed}, got {value!r}", known)


def backend(module: str, extra: str) -> Any:
    """The backend's own module; raises Unavailable naming the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Unavailable(to_install("memrot", extra)) from None


def address(variable: str, product: str) -> str:
    """The server's URL from the environment; raises Unavailable where it is not set."""
    url = os.environ.get(variable, "")
    if not url:
        raise Unavailable(f"set {variable} to the URL of a {product} server")
    return url


@contextmanager
def reaching(variable: str, product: str) -> Iterator[None]:
    """Raise Unavailable for whatever a first call of a server gives: its text may hold the address."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  each product's transport has many errors of its own
        server = f"the {product} server" if product else "the server"
        raise Unavailable(f"{server} at {variable} gives {first_cause(error)}") from None


def first_cause(error: BaseException) -> str:
    """The kind of it, of those that have a public name: ConnectionRefusedError says more than ValueError."""
    causes = [error]
    while (cause := _cause(causes[-1])) and cause not in causes:
        causes.append(cause)  # one that was raised again is among its own causes
    names = [type(each).__name__ for each in causes]
    return next((name for name in reversed(names) if not name.startswith("_")), names[0])


def _cause(error: BaseException) -> BaseException | None:
    """Of those that fell together, the first."""
    if isinstance(error, BaseExceptionGroup):
        first: BaseException = error.exceptions[0]
        return first
    return error.__cause__ or error.__context__
