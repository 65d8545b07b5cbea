"""Readings: measured values of quantities that drift, in files of their own (results/README.md).

A team grows, a latency creeps: no event ends such a fact, it only becomes less true. So readings are no
timeline. A file of *beliefs* has the same shape: what a memory said such a quantity was, and since when;
the same value again is a confirmation.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from memrot.errors import BadInput
from memrot.lines import convert, format_instant, parse_instant, read_lines, refuse_newer, write_lines
from memrot.model import Instant, Key, Reading, Value

FORMAT = 1


class Header(Value, frozen=True):
    """The first line; ``type`` is ``readings`` or ``beliefs``."""

    type: str
    format: int = FORMAT
    id: str = ""
    seed: int = 0
    note: str = ""


class Belief(Value, frozen=True):
    """What a memory says of a quantity from an instant on; the same value again: a confirmation."""

    key: Key
    value: float
    at: Instant


Line = TypeVar("Line", Reading, Belief)


class Readings(Struct, frozen=True):
    header: Header
    of: dict[Key, tuple[Reading, ...]]
    """In the order of time."""


def read(path: Path) -> Readings:
    """Read a file of readings; raises BadInput naming file and line for anything malformed."""
    header, found = _read(path, "readings", Reading)
    if not found:
        raise BadInput("expected at least one reading", file=str(path))
    return Readings(header, by_key(found))


def read_beliefs(path: Path) -> dict[Key, tuple[Belief, ...]]:
    """Read what a memory said over time; raises BadInput like ``read``."""
    return by_key(_read(path, "beliefs", Belief)[1])


def by_key(found: Iterable[Line]) -> dict[Key, tuple[Line, ...]]:
    """In the order of time; of two at one instant the later in the file counts last."""
    groups: dict[Key, list[Line]] = {}
    for each in found:
        groups.setdefault(each.key, []).append(each)
    return {key: tuple(sorted(group, key=lambda each: each.at)) for key, group in groups.items()}


def write(path: Path, readings: Readings) -> None:
    write_lines(
        path,
        [
            msgspec.json.encode({"format": FORMAT, **msgspec.to_builtins(readings.header)}).decode(),
            *(
                msgspec.json.encode(
                    {
                        "key": key,
                        "value": each.value,
                        "at": format_instant(each.at),
                        "tolerance": each.tolerance,
                    }
                ).decode()
                for key, found in readings.of.items()
                for each in found
            ),
        ],
    )


def _read(path: Path, kind: str, line: type[Line]) -> tuple[Header, list[Line]]:
    file = str(path)
    header: Header | None = None
    found: list[Line] = []
    for number, raw in read_lines(path):
        if header is not None:
            found.append(_value(raw, line, file, number))
            continue
        if raw.get("type") != kind:
            raise BadInput(f"no header: expected a first line of type {kind!r}", file=file, line=number)
        refuse_newer(raw, FORMAT, file=file, line=number)
        header = convert(raw, Header, {}, file=file, line=number)
    if header is None:
        raise BadInput(f"no header: expected a first line of type {kind!r}, found an empty file", file=file)
    return header, found


def _value(raw: dict[str, Any], kind: type[Line], file: str, number: int) -> Line:
    try:
        at = {"at": parse_instant(raw["at"])} if "at" in raw else {}
    except ValueError as error:
        raise BadInput(f"{error} - at `$.at`", file=file, line=number) from None
    line: Line = convert({**raw, **at}, kind, {}, file=file, line=number)
    if isinstance(line, Reading) and line.value == 0:
        raise BadInput("expected a reading that is not 0: errors are relative to it", file=file, line=number)
    if isinstance(line, Reading) and line.tolerance < 0:
        raise BadInput(f"expected a tolerance of 0 or more, got {line.tolerance}", file=file, line=number)
    return line
