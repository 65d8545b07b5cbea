"""Where two files say something else: a phrase for each place, for people who will look at it.

Numbers are equal up to the ninth digit: another processor adds in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any

import msgspec

TOLERANCE = 1e-9
_SHOWN = 60
_BEFORE = 20


def differences(where: str, kept: Any, derived: Any) -> Iterator[str]:
    """A phrase for each leaf that differs, by its path."""
    match kept, derived:
        case dict(), dict():
            for name in {**derived, **kept}:
                yield from differences(
                    f"{where}.{name}" if where else name,
                    kept.get(name, "nothing"),
                    derived.get(name, "nothing"),
                )
        case list(), list() if len(kept) == len(derived):
            for place, (a, b) in enumerate(zip(kept, derived, strict=True)):
                yield from differences(f"{where}[{place}]", a, b)
        case (float() | int(), float()) | (float(), int()) if bool not in (type(kept), type(derived)):
            if not isclose(kept, derived, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                yield f"{where} is {kept}, expected {derived}"
        case _:
            if type(kept) is not type(derived) or kept != derived:
                yield f"{where} is {_short(kept)}, expected {_short(derived)}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def first_line(kept: Sequence[str], derived: Sequence[str]) -> str:
    """Where two texts part, from shortly before the place."""
    for number, (a, b) in enumerate(zip(kept, derived, strict=False), start=1):
        if a != b:
            pairs = enumerate(zip(a, b, strict=False))
            place = next((place for place, (x, y) in pairs if x != y), min(len(a), len(b)))
            start = max(0, place - _BEFORE)
            return f"line {number} is {_short(a[start:])}, expected {_short(b[start:])}"
    return f"has {len(kept)} lines, expected {len(derived)}"
