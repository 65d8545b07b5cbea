"""Who does what: the backend by itself, memrot's layers over it, or nobody, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from memrot.memory import CAPABILITIES, TTL_DAYS, Capability

Declared: TypeAlias = Mapping[str, Mapping[str, Capability]]
"""Backend, as stack names begin -> capability -> how it is done."""


def matrix(declared: Declared) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row a backend; what is not declared is left empty."""
    known = list(dict.fromkeys([*CAPABILITIES, *(name for each in declared.values() for name in each)]))
    body = [
        [backend, *(each[name].how if name in each else "" for name in known)]
        for backend, each in declared.items()
    ]
    return ["backend", *map(_spoken, known)], body


def reasons(declared: Declared) -> list[str]:
    """A line a backend that gives reasons, and what all of them share."""
    lines = []
    for backend, each in declared.items():
        said = [f"{_spoken(name)} {how.how} ({how.why})" for name, how in each.items() if how.why]
        if said:
            lines.append(f"{backend}: {'; '.join(said)}.")
    days = ", ".join(f"{domain} {days:g} d" for domain, days in TTL_DAYS.items())
    return [*lines, f"What expires does so after its domain's lifetime: {days}; others never."]


def _spoken(name: str) -> str:
    return name.replace("_", " ")
