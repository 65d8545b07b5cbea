"""Who does what: the backend by itself, memrot's layers over it, or nobody, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from memrot.memory import CAPABILITIES, TTL_DAYS, Capability

Declared: TypeAlias = Mapping[str, Mapping[str, Capability]]
"""Backend, as stack names begin -> capability -> how it is done."""


def known(declared: Declared) -> list[str]:
    """Every capability that one of them declares, in the order of the tables."""
    return list(dict.fromkeys([*CAPABILITIES, *(name for each in declared.values() for name in each)]))


def matrix(declared: Declared, *, linked: bool) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row a backend; what is not declared is left empty."""
    names = known(declared)
    body = [
        [backend, *(in_a_word(each[name], linked=linked) if name in each else "" for name in names)]
        for backend, each in declared.items()
    ]
    return ["backend", *map(spoken, names)], body


def in_a_word(capability: Capability, *, linked: bool) -> str:
    """How it is done; ``linked``, in Markdown, to where the product says so."""
    return f"[{capability.how}]({capability.link})" if linked and capability.link else capability.how


def reasons(declared: Declared) -> list[str]:
    """A line a backend that gives reasons, and what all of them share."""
    lines = []
    for backend, each in declared.items():
        said = [f"{spoken(name)} {how.how} ({how.why})" for name, how in each.items() if how.why]
        if said:
            lines.append(f"{backend}: {'; '.join(said)}.")
    days = ", ".join(f"{domain} {days:g} d" for domain, days in TTL_DAYS.items())
    return [*lines, f"What expires does so after its domain's lifetime: {days}; others never."]


def spoken(name: str) -> str:
    return name.replace("_", " ")
