"""Observations: what one memory returned over one timeline, raw (FORMATS.md, Observations).

Scores are derived from these, never stored in their place. A file without a footer is an
incomplete cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct

from memrot.errors import BadInput
from memrot.lines import convert, read_lines, refuse_newer, write_lines
from memrot.model import Band, Hit, Mark, PeekCause
from memrot.timeline import Timeline

FORMAT = 1

Outcome: TypeAlias = Literal["answered", "errored", "unsupported", "unavailable", "skipped"]

ECHO = "~"
"""Prefix of the probe id under which a fact's own text was asked back."""


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of whatever stands in the file as an object: a key that is not known is refused."""


class StackId(Entry, frozen=True, kw_only=True):
    adapter: str = ""
    backend: str = ""
    version: str = ""
    deployment: str = ""
    layers: tuple[str, ...] = ()
    options: dict[str, str] = {}
    filters: str = ""
    clock: str = ""
    note: str = ""


class TimelineId(Entry, frozen=True, kw_only=True):
    id: str
    revision: int = 1
    seed: int = 0
    digest: str = ""


def identity_of(exam: Timeline) -> TimelineId:
    header = exam.header
    return TimelineId(id=header.id, revision=header.revision, seed=header.seed, digest=exam.digest)


class EmbedderId(Entry, frozen=True, kw_only=True):
    name: str = ""
    fingerprint: str = ""
    lexical: bool = False


class Head(Entry, frozen=True, kw_only=True, tag_field="type", tag="observations"):
    timeline: TimelineId
    format: int = FORMAT
    cell: str = ""
    suite: str = ""
    stack: StackId = StackId()
    embedder: EmbedderId = EmbedderId()
    k: Annotated[int, Meta(ge=1)] = 5
    forget_within: Annotated[int, Meta(ge=1)] = 3
    links_told: float = 1.0
    """The share of links that the memory was told of."""
    machine: dict[str, Any] = {}
    started: str = ""


class Asked(Struct, frozen=True, gc=False, array_like=True):
    """One probe's (or echo's) hits, best first."""

    probe: str
    hits: tuple[Hit, ...]


class StageSeen(Entry, frozen=True, kw_only=True, tag_field="type", tag="stage"):
    seq: int
    asked: tuple[Asked, ...] = ()
    unsupported: dict[str, str] = {}
    """Probe id -> reason, for modes that the memory cannot serve."""
    apply_ms: float | None = None
    answer_ms: float | None = None


class ErrorSeen(Entry, frozen=True, kw_only=True, tag_field="type", tag="error"):
    seq: int
    during: str
    error: str


class PeekSeen(Entry, frozen=True, kw_only=True, tag_field="type", tag="peek"):
    seq: int
    facts: dict[str, PeekCause]


class Traces(Entry, frozen=True, kw_only=True):
    """Of how many erased facts something was found in a store's files: of text, of vector, of either."""

    facts: int
    text: int
    vector: int


class ErasureSeen(Entry, frozen=True, kw_only=True, tag_field="type", tag="erasure"):
    """What was left, at the end, of the facts that the memory was told to erase."""

    facts: int
    """How many these were."""
    stored: int | None = None
    """How many of them the memory still holds; None: it cannot be asked."""
    closed: Traces | None = None
    """In the store's files, once it was closed; None: they are out of reach, as those of a server are."""
    compacted: Traces | None = None
    """The same after the store's own compaction; None: it has none, or needed none."""
    legible: bool = True
    """Whether the same search finds facts that are still stored; else finding nothing means nothing."""


class Footer(Entry, frozen=True, kw_only=True, tag_field="type", tag="footer"):
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
    erasure: ErasureSeen | None = None
    """None: nothing was to be erased."""
    footer: Footer | None = None


class _Hit(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A hit as a file holds it: everything but the mark is given."""

    fact: str | None
    similarity: float
    confidence: Annotated[float, Meta(ge=0, le=1)]
    band: Band
    mark: Mark | None = None


class _Asked(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    probe: str
    hits: tuple[_Hit, ...]


class _Stage(Entry, frozen=True, kw_only=True, tag_field="type", tag="stage"):
    seq: int
    asked: tuple[_Asked, ...] = ()
    unsupported: dict[str, str] = {}
    apply_ms: float | None = None
    answer_ms: float | None = None


_CHOICES: dict[str, tuple[str, ...]] = {
    "type": ("stage", "error", "peek", "erasure", "footer"),
    "outcome": get_args(Outcome),
    "3": get_args(Band),
    "4": get_args(Mark),
    "...": get_args(PeekCause),
}
"""What may stand where a path ends, for messages: a hit's band has the index 3."""

_Line: TypeAlias = _Stage | ErrorSeen | PeekSeen | ErasureSeen | Footer


def write(path: Path, seen: Observations) -> None:
    """Write whole or not at all; gzip where the name ends in ``.gz``."""
    write_lines(path, _lines(seen))


def read(path: Path) -> Observations:
    """Read a file; raises BadInput naming file and line for anything malformed."""
    file = str(path)
    head: Head | None = None
    footer: Footer | None = None
    erasures: list[ErasureSeen] = []
    stages: list[StageSeen] = []
    errors: list[ErrorSeen] = []
    peeks: list[PeekSeen] = []
    for number, raw in read_lines(path):
        if head is None:
            head = _head(raw, file, number)
            continue
        if footer is not None:
            raise BadInput("a line after the footer: expected none", file=file, line=number)
        match convert(raw, _Line, _CHOICES, file=file, line=number):
            case _Stage() as stage:
                stages.append(_seen(stage, stages[-1:], file, number))
            case ErrorSeen() as error:
                errors.append(error)
            case PeekSeen() as peek:
                peeks.append(peek)
            case ErasureSeen() as left:
                erasures.append(left)
            case Footer() as last:
                footer = last
    if head is None:
        what = "no header: expected a first line of type 'observations', found an empty file"
        raise BadInput(what, file=file)
    return Observations(
        head=head,
        stages=tuple(stages),
        errors=tuple(errors),
        peeks=tuple(peeks),
        erasure=_only(erasures, file),
        footer=footer,
    )


def _only(found: Sequence[ErasureSeen], file: str) -> ErasureSeen | None:
    if len(found) > 1:
        raise BadInput("two lines of type 'erasure': expected one", file=file)
    return found[0] if found else None


def _head(raw: dict[str, Any], file: str, line: int) -> Head:
    if raw.get("type") != "observations":
        raise BadInput("no header: expected a first line of type 'observations'", file=file, line=line)
    refuse_newer(raw, FORMAT, file=file, line=line)
    head: Head = convert(raw, Head, {}, file=file, line=line)
    return head


def _seen(stage: _Stage, before: Sequence[StageSeen], file: str, line: int) -> StageSeen:
    if before and stage.seq <= before[0].seq:
        what = f"stage {stage.seq} after stage {before[0].seq}: expected the order of 'seq'"
        raise BadInput(what, file=file, line=line)
    if len({asked.probe for asked in stage.asked}) < len(stage.asked):
        raise BadInput(f"a probe is asked twice at stage {stage.seq}", file=file, line=line)
    return StageSeen(
        seq=stage.seq,
        asked=tuple(
            Asked(
                asked.probe,
                tuple(Hit(h.fact, h.similarity, h.confidence, h.band, h.mark) for h in asked.hits),
            )
            for asked in stage.asked
        ),
        unsupported=stage.unsupported,
        apply_ms=stage.apply_ms,
        answer_ms=stage.answer_ms,
    )


def _lines(seen: Observations) -> Iterator[str]:
    yield msgspec.json.encode(seen.head).decode()
    middle: list[StageSeen | ErrorSeen | PeekSeen] = [*seen.stages, *seen.errors, *seen.peeks]
    middle.sort(key=lambda line: line.seq)
    for line in middle:
        raw = msgspec.to_builtins(line)
        if isinstance(line, StageSeen):
            raw["asked"] = [[asked.probe, [_written(hit) for hit in asked.hits]] for asked in line.asked]
        yield msgspec.json.encode(raw).decode()
    if seen.erasure is not None:
        yield msgspec.json.encode(seen.erasure).decode()
    if seen.footer is not None:
        yield msgspec.json.encode(seen.footer).decode()


def _written(hit: Hit) -> list[Any]:
    mark = [hit.mark] if hit.mark is not None else []
    return [hit.fact, hit.similarity, hit.confidence, hit.band, *mark]
