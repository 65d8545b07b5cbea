"""Who is in the field, and which faults can happen to whom: found out by asking, never by name.

Every installed adapter and memory is here, also one that was added a minute ago. A fault that cannot happen
to it has a reason.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from unittest import mock

from faults.servers import NONE, SERVERS
from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, Unavailable, Unsupported
from memrot.memory import Place

_ADDRESS = re.compile(r"MEMROT_|DATABASE_URL$")
_VARIABLE = re.compile(r"\bset (MEMROT_\w+_URL)\b")


@cache
def variable(name: str) -> tuple[str | None, str]:
    """What holds the URL of ``name[server]``, or None and why it has none."""
    nothing_set = {key: value for key, value in os.environ.items() if not _ADDRESS.match(key)}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, nothing_set, clear=True):
        place = Place("memrotprobe", Path(folder), 8, 1)
        try:
            if registry.is_memory(name):
                registry.memory(name)(place, {"server": ""}, Hashing())
            else:
                registry.adapter(name)(place, {"server": ""})
        except Unavailable as error:
            found = _VARIABLE.search(str(error))
            return (found[1], "") if found else (None, str(error))
        except (BadInput, Unsupported) as error:
            return None, str(error)
    raise AssertionError(f"{name}[server] opens without an address")


def by_url() -> Mapping[str, str]:
    """Stack -> variable, of all that a server can be started for here."""
    return {f"{name}[server]": known for name, known in _addressed().items() if known in SERVERS}


def at_no_server() -> Mapping[str, str]:
    """Stack -> variable, of all that can be told where a server is, whether or not one can be had."""
    return {f"{name}[server]": known for name, known in _addressed().items()}


def left_out(name: str) -> str | None:
    """Why the faults of a server cannot happen to an examinee; None: they do."""
    known, reason = variable(name)
    if known is None:
        return reason
    return None if known in SERVERS else f"{known}: {NONE.get(known, 'nobody says how to start its server')}"


def _addressed() -> Mapping[str, str]:
    return {name: known for name in registry.examinees() if (known := variable(name)[0]) is not None}
