"""Keep addresses, secrets and names of machines and people out of whatever is written or shown.

Results are published, and vendors' errors quote what they were given: a URL with its password, a
host, a path under someone's home.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

_SECRET = re.compile(r"MEMROT_\w*(URL|KEY|PASSWORD|TOKEN)|DATABASE_URL")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>()]+", re.IGNORECASE)
_IP = re.compile(r"\b(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?")
_COMMON = frozenset({"root", "localhost", "user"})
"""Names that identify nobody."""


def redacted(text: str) -> str:
    """One line, without what must not be published."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, "<redacted>")
    text = _IP.sub("<address>", _URL.sub("<address>", text))
    home = str(Path.home())
    if len(home) > 1:
        text = text.replace(home, "~")
    for name in _names():
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "<redacted>", text)
    return " ".join(text.split())


def _secrets() -> Iterator[str]:
    """Values of the variables that configure servers, and the telling parts of their URLs."""
    for name, value in os.environ.items():
        if not value or not _SECRET.fullmatch(name):
            continue
        yield value
        try:
            url = urlsplit(value)
            parts = (url.username, url.password, url.hostname, url.netloc)
        except ValueError:
            continue
        for part in filter(None, parts):
            for spelled in {part, unquote(part)}:
                if len(spelled) > 2 and spelled not in _COMMON | {"127.0.0.1"}:
                    yield spelled


def _names() -> Iterator[str]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    for name in {user, socket.gethostname()} - _COMMON:
        if len(name) > 2:
            yield name
