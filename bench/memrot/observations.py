"""Observations: what one memory returned over one timeline, raw (FORMATS.md, Observations).

Scores are derived from these, never stored in their place. A file without a footer is an
incomplete cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from memrot.errors import BadInput
from memrot.model import BANDS, Hit, PeekCause
from memrot.timeline import read_lines, refuse_newer, write_lines

FORMAT = 1

Outcome: TypeAlias = Literal["answered", "errored", "unsupported", "unavailable", "skipped"]

ECHO = "~"
"""Prefix of the probe id under which a fact's own text was asked back."""


class StackId(Struct, frozen=True, kw_only=True):
    adapter: str = ""
    backend: str = ""
    version: str = ""
    deployment: str = ""
    layers: tuple[str, ...] = ()
    options: dict[str, str] = {}
    filters: str = ""
    clock: str = ""
    note: str = ""


class TimelineId(Struct, frozen=True, kw_only=True):
    id: str
    revision: int = 1
    seed: int = 0
    digest: str = ""


class EmbedderId(Struct, frozen=True, kw_only=True):
    name: str = ""
    fingerprint: str = ""
    lexical: bool = False


class Head(Struct, frozen=True, kw_only=True, tag_field="type", tag="observations"):
    timeline: TimelineId
    format: int = FORMAT
    cell: str = ""
    suite: str = ""
    stack: StackId = StackId()
    embedder: EmbedderId = EmbedderId()
    k: int = 5
    forget_within: int = 3
    machine: dict[str, Any] = {}
    started: str = ""


class Asked(Struct, frozen=True, array_like=True):
    """One probe's (or echo's) hits, best first."""

    probe: str
    hits: tuple[Hit, ...]


class StageSeen(Struct, frozen=True, kw_only=True, tag_field="type", tag="stage"):
    seq: int
    asked: tuple[Asked, ...] = ()
    unsupported: dict[str, str] = {}
    """Probe id -> reason, for modes that the memory cannot serve."""
    apply_ms: float | None = None
    answer_ms: float | None = None


class ErrorSeen(Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    seq: int
    during: str
    error: str


class PeekSeen(Struct, frozen=True, kw_only=True, tag_field="type", tag="peek"):
    seq: int
    facts: dict[str, PeekCause]


class Footer(Struct, frozen=True, kw_only=True, tag_field="type", tag="footer"):
    outcome: Outcome
    stages: int = 0
    asked: int = 0
    reason: str | None = None
    finished: str = ""


class Observations(Struct, frozen=True, kw_only=True):
    """One cell's file in memory. ``footer`` None: the cell is incomplete."""

    head: Head
    stages: tuple[StageSeen, ...] = ()
    errors: tuple[ErrorSeen, ...] = ()
    peeks: tuple[PeekSeen, ...] = ()
    footer: Footer | None = None


_Line: TypeAlias = StageSeen | ErrorSeen | PeekSeen | Footer


def write(path: Path, seen: Observations) -> None:
    """Write whole or not at all; gzip where the name ends in ``.gz``."""
    write_lines(path, _lines(seen))


def read(path: Path) -> Observations:
    """Read a file; raises BadInput naming file and line for anything malformed."""
    file = str(path)
    head: Head | None = None
    footer: Footer | None = None
    kinds: dict[type, list[Any]] = {StageSeen: [], ErrorSeen: [], PeekSeen: []}
    for number, raw in read_lines(path):
        try:
            if head is None:
                if raw.get("type") != "observations":
                    raise BadInput("no header: expected a first line of type 'observations'", file=file, line=number)
                refuse_newer(raw, FORMAT, file=file, line=number)
                head = msgspec.convert(raw, Head)
                continue
            if footer is not None:
                raise BadInput("a line after the footer: expected none", file=file, line=number)
            if raw.get("type") == "stage":
                raw["asked"] = [[probe, [_hit(hit) for hit in hits]] for probe, hits in raw.get("asked", ())]
            line = msgspec.convert(raw, _Line)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise BadInput(str(error), file=file, line=number) from None
        if isinstance(line, Footer):
            footer = line
        else:
            kinds[type(line)].append(line)
    if head is None:
        raise BadInput("no header: expected a first line of type 'observations', found an empty file", file=file)
    return Observations(
        head=head,
        stages=tuple(kinds[StageSeen]),
        errors=tuple(kinds[ErrorSeen]),
        peeks=tuple(kinds[PeekSeen]),
        footer=footer,
    )


def _hit(raw: list[Any]) -> dict[str, Any]:
    fact, similarity, confidence, band, *mark = raw
    if band not in BANDS:
        raise ValueError(f"expected a band of {', '.join(BANDS)}, got {band!r}")
    if not 0 <= confidence <= 1:
        raise ValueError(f"expected a confidence from 0 to 1, got {confidence!r}")
    return {
        "fact": fact, "similarity": similarity, "confidence": confidence, "band": band,
        "mark": mark[0] if mark else None,
    }  # fmt: skip


def _lines(seen: Observations) -> Iterator[str]:
    yield msgspec.json.encode(seen.head).decode()
    middle: list[StageSeen | ErrorSeen | PeekSeen] = [*seen.stages, *seen.errors, *seen.peeks]
    middle.sort(key=lambda line: line.seq)
    for line in middle:
        raw = msgspec.to_builtins(line)
        if isinstance(line, StageSeen):
            raw["asked"] = [
                [
                    asked.probe,
                    [
                        [hit.fact, hit.similarity, hit.confidence, hit.band, *([hit.mark] if hit.mark else [])]
                        for hit in asked.hits
                    ],
                ]
                for asked in line.asked
            ]
        yield msgspec.json.encode(raw).decode()
    if seen.footer is not None:
        yield msgspec.json.encode(seen.footer).decode()
