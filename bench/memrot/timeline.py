"""Timelines: ordered events and probes; read, validated, written, digested (FORMATS.md).

A ``Timeline`` is valid by construction: ``Timeline.of`` fills in defaults, normalises strings
to NFC, and refuses everything that FORMATS.md refuses, each with a message of its own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from memrot.errors import BadInput
from memrot.model import (
    AT_EVENT,
    NEVER,
    ChangeEvent,
    Fact,
    FactAdded,
    FactRevised,
    Instant,
    Key,
    Probe,
    TimePassed,
    Value,
    introduces,
    is_announced,
    names,
)

FORMAT = 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_INSTANTS = ("at", "observed_at", "valid_from", "valid_to", "as_of")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")

T = TypeVar("T")


class Domain(Value, frozen=True):
    """How soon a reader of a domain wants a re-check, and how long an elapsed fact is excused."""

    window_days: int | float | None = None
    """Days after its last validation during which a fact is fresh; None: always fresh."""
    grace_days: int | float = 0
    """Days after ``valid_to`` during which an elapsed fact counts for nothing."""


class Header(Value, frozen=True, tag_field="type", tag="timeline"):
    """The first line of a timeline file."""

    id: str
    domains: dict[str, Domain]
    format: int = FORMAT
    revision: int = 1
    seed: int = 0
    k: int = 5
    exclusive: tuple[str, ...] = ()
    source: str = "synthetic"
    note: str = ""


class Stage(Struct, frozen=True):
    """The moment after the last event of an instant."""

    index: int
    seq: int
    """The sequence number of the instant's last event."""
    at: Instant
    events: tuple[ChangeEvent, ...]

    def announced(self) -> tuple[ChangeEvent, ...]:
        """What a memory is told: the announced events, or that time passed where all were silent."""
        told = tuple(event for event in self.events if is_announced(event))
        return told or (TimePassed(seq=self.seq, at=self.at),)


class Timeline:
    """Events in the order of ``seq``, probes sorted by id, and the header.

    Build one with ``Timeline.of`` or ``read``; both validate.
    """

    def __init__(self, header: Header, events: tuple[ChangeEvent, ...], probes: tuple[Probe, ...]) -> None:
        self.header = header
        self.events = events
        self.probes = probes

    @classmethod
    def of(cls, header: Header, events: Iterable[ChangeEvent], probes: Iterable[Probe]) -> Timeline:
        """Complete and validate; raises BadInput without a file or line."""
        lines: list[tuple[int | None, ChangeEvent | Probe]] = [(None, value) for value in (*events, *probes)]
        return _checked(header, lines, None)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        groups: list[list[ChangeEvent]] = []
        for event in self.events:
            if groups and groups[-1][0].at == event.at:
                groups[-1].append(event)
            else:
                groups.append([event])
        return tuple(
            Stage(index=i, seq=group[-1].seq, at=group[0].at, events=tuple(group))
            for i, group in enumerate(groups)
        )

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """Every fact ever introduced, by id, in the order of introduction."""
        return {fact.id: fact for event in self.events if (fact := introduces(event)) is not None}

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical form."""
        sha = hashlib.sha256()
        for value in (self.header, *self.events, *self.probes):
            line = json.dumps(_wire(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            sha.update(line.encode() + b"\n")
        return sha.hexdigest()

    def write(self, path: Path) -> None:
        """Write under a temporary name, rename when whole; gzip where the name ends in ``.gz``."""
        lines = (json.dumps(_wire(value), ensure_ascii=False) for value in (self.header, *self.events, *self.probes))
        write_lines(path, lines)


def read(path: Path) -> Timeline:
    """Read a timeline file (``.jsonl`` or ``.jsonl.gz``); raises BadInput naming file and line."""
    file = str(path)
    header: Header | None = None
    values: list[tuple[int | None, ChangeEvent | Probe]] = []
    for number, raw in read_lines(path):
        kind = raw.get("type")
        if kind == "timeline":
            if header is not None:
                raise BadInput("a second header: expected one line of type 'timeline', the first", file=file, line=number)
            refuse_newer(raw, FORMAT, file=file, line=number)
            header = from_wire(raw, Header, file=file, line=number)
        elif header is None:
            raise BadInput("no header: expected a first line of type 'timeline'", file=file, line=number)
        elif kind == "probe":
            values.append((number, from_wire(raw, Probe, file=file, line=number)))
        else:
            values.append((number, from_wire(raw, ChangeEvent, file=file, line=number)))
    if header is None:
        raise BadInput("no header: expected a first line of type 'timeline', found an empty file", file=file)
    return _checked(header, values, file)


# --- lines and instants, shared by every reader and writer of JSON Lines ---------------------


def parse_instant(text: object) -> Instant:
    """RFC 3339 with a zone -> ms; raises ValueError saying what was expected."""
    if not isinstance(text, str) or not _RFC3339.fullmatch(text):
        hint = " (it has no zone)" if isinstance(text, str) and _RFC3339.fullmatch(text + "Z") else ""
        raise ValueError(f"expected an RFC 3339 instant such as 2026-01-05T09:00:00Z, got {text!r}{hint}")
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise ValueError(f"expected an RFC 3339 instant, got {text!r}: {error}") from None
    if moment.microsecond % 1000:
        raise ValueError(f"expected at most milliseconds, got {text!r}")
    return (moment - _EPOCH) // _MS


def format_instant(at: Instant) -> str:
    """Ms -> RFC 3339 in UTC, without a fraction where it is zero."""
    moment = _EPOCH + at * _MS
    return moment.isoformat(timespec="milliseconds" if at % 1000 else "seconds").replace("+00:00", "Z")


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a JSON Lines file; raises BadInput on anything else."""
    file = str(path)
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                if not raw.strip():
                    continue
                try:
                    value = msgspec.json.decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    hint = "NaN and infinity are refused" if re.search(rb"\bNaN\b|\bInfinity\b", raw) else str(error)
                    raise BadInput(f"expected one JSON object: {hint}", file=file, line=number) from None
                if not isinstance(value, dict):
                    raise BadInput(f"expected one JSON object, got {type(value).__name__}", file=file, line=number)
                yield number, value
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"damaged or truncated gzip: {error}", file=file, line=number + 1) from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}", file=file) from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a temporary neighbour and rename it when whole; raises BadInput."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as raw:
                # mtime=0 and no name: the same content gives the same bytes
                stream: Any = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
                for line in lines:
                    stream.write(line.encode() + b"\n")
                if stream is not raw:
                    stream.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}", file=str(path)) from None


def refuse_newer(raw: Mapping[str, Any], known: int, *, file: str, line: int) -> None:
    """Raise BadInput where a header's ``format`` is newer than the one that we write."""
    version = raw.get("format", known)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadInput(f"expected 'format' to be a whole number from 1, got {version!r}", file=file, line=line)
    if version > known:
        raise BadInput(f"format {version} is newer than this memrot reads ({known}): upgrade memrot", file=file, line=line)


def from_wire(raw: dict[str, Any], kind: Any, *, file: str, line: int) -> Any:
    """Decode one object: instants from RFC 3339, then strictly typed; raises BadInput."""
    try:
        return msgspec.convert(_parsed(raw), kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadInput(str(error), file=file, line=line) from None


def _parsed(raw: Any) -> Any:
    """Instants to ms (a null one is as good as absent), strings to NFC."""
    if isinstance(raw, str):
        return unicodedata.normalize("NFC", raw)
    if isinstance(raw, list):
        return [_parsed(value) for value in raw]
    if not isinstance(raw, dict):
        return raw
    parsed: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in _INSTANTS:
            parsed[unicodedata.normalize("NFC", name)] = _parsed(value)
        elif value is not None:
            try:
                parsed[name] = parse_instant(value)
            except ValueError as error:
                raise ValueError(f"{error} - at `$.{name}`") from None
    return parsed


def _wire(value: Value) -> dict[str, Any]:
    """A file's object: defaults left out, instants as text, whole floats as whole numbers."""
    raw: dict[str, Any] = msgspec.to_builtins(value)
    if isinstance(value, Header):
        raw = {"type": "timeline", "format": FORMAT, **raw}
    if isinstance(value, FactAdded | FactRevised):
        fact = raw["fact" if isinstance(value, FactAdded) else "current"]
        for name in ("observed_at", "valid_from"):
            if fact.get(name) == value.at:
                del fact[name]
    return _tidy(raw)


def _tidy(raw: dict[str, Any]) -> dict[str, Any]:
    tidied: dict[str, Any] = {}
    for name, value in raw.items():
        if name in _INSTANTS:
            tidied[name] = format_instant(value)
        elif isinstance(value, dict):
            tidied[name] = _tidy(value)
        elif isinstance(value, float) and value.is_integer():
            tidied[name] = int(value)
        else:
            tidied[name] = value
    return tidied


# --- what is refused -------------------------------------------------------------------------


def _checked(
    header: Header, lines: Sequence[tuple[int | None, ChangeEvent | Probe]], file: str | None
) -> Timeline:
    """Complete and order the lines; raise BadInput for whatever FORMATS.md refuses."""
    _check_header(header, file)
    events: list[tuple[int | None, ChangeEvent]] = []
    probes: list[tuple[int | None, Probe]] = []
    for number, value in lines:
        if isinstance(value, Probe):
            probes.append((number, value))
        else:
            events.append((number, _completed(value)))
    events.sort(key=lambda line: line[1].seq)
    probes.sort(key=lambda line: line[1].id)
    check = _Check(header, file)
    for number, event in events:
        check.event(number, event)
    for number, probe in probes:
        check.probe(number, probe)
    return Timeline(header, tuple(event for _, event in events), tuple(probe for _, probe in probes))


def _completed(event: ChangeEvent) -> ChangeEvent:
    """Fill in the instants that default to the event's time."""

    def completed(fact: Fact) -> Fact:
        if AT_EVENT not in (fact.observed_at, fact.valid_from):
            return fact
        return msgspec.structs.replace(
            fact,
            observed_at=event.at if fact.observed_at == AT_EVENT else fact.observed_at,
            valid_from=event.at if fact.valid_from == AT_EVENT else fact.valid_from,
        )

    match event:
        case FactAdded(fact=fact):
            return msgspec.structs.replace(event, fact=completed(fact))
        case FactRevised(current=fact):
            return msgspec.structs.replace(event, current=completed(fact))
        case _:
            return event


def _check_header(header: Header, file: str | None) -> None:
    if header.k < 1:
        raise BadInput(f"expected k to be at least 1, got {header.k}", file=file, line=1)
    for name, domain in header.domains.items():
        for days in (domain.window_days, domain.grace_days):
            if days is not None and not 0 <= days < float("inf"):
                raise BadInput(f"domain {name!r}: expected days from 0, got {days}", file=file, line=1)


class _Check:
    """One pass over the events in the order of ``seq``, then over the probes."""

    def __init__(self, header: Header, file: str | None) -> None:
        self.header = header
        self.file = file
        self.facts: dict[str, Fact] = {}
        self.told: set[str] = set()
        self.cardinality: dict[Key, str] = {}
        self.probes: set[str] = set()
        self.last: ChangeEvent | None = None

    def event(self, line: int | None, event: ChangeEvent) -> None:
        if event.seq < 1:
            self.refuse(line, f"expected a sequence number from 1, got {event.seq}")
        if self.last is not None and event.seq == self.last.seq:
            self.refuse(line, f"sequence number {event.seq} is used twice")
        if self.last is not None and event.at < self.last.at:
            self.refuse(line, f"seq {event.seq} is out of order with 'at': it is earlier than seq {self.last.seq}")
        self.last = event
        fact = introduces(event)
        if fact is not None:
            self.fact(line, event, fact)
        for name in names(event):
            if name not in self.facts:
                self.refuse(line, f"fact {name!r} was never introduced before seq {event.seq}")
            if is_announced(event) and name not in self.told and not (isinstance(event, FactRevised) and name == event.previous):
                self.refuse(line, f"an announced event names fact {name!r}, which the memory was never told")
        if isinstance(event, FactRevised) and self.facts[event.previous].key != event.current.key:
            self.refuse(
                line,
                f"a revision must keep the key: {event.previous!r} is about {self.facts[event.previous].key}, "
                f"{event.current.id!r} about {event.current.key}",
            )

    def fact(self, line: int | None, event: ChangeEvent, fact: Fact) -> None:
        if fact.id in self.facts:
            self.refuse(line, f"fact id {fact.id!r} is used twice")
        if not fact.id:
            self.refuse(line, "expected a fact id that is not empty")
        if fact.domain not in self.header.domains:
            self.refuse(line, f"domain {fact.domain!r} is not listed by the header: {sorted(self.header.domains)}")
        if not 0.0 <= fact.confidence <= 1.0:
            self.refuse(line, f"expected a confidence from 0 to 1, got {fact.confidence}")
        if fact.valid_to <= fact.valid_from:
            self.refuse(line, f"fact {fact.id!r}: expected valid_to after valid_from")
        known = self.cardinality.setdefault(fact.key, fact.cardinality)
        if known != fact.cardinality:
            self.refuse(line, f"key {fact.key} has two cardinalities: {known!r} and {fact.cardinality!r}")
        for support in fact.depends_on:
            other = self.facts.get(support)
            if other is None:
                self.refuse(line, f"fact {fact.id!r} depends on {support!r}, which was not introduced before it")
            elif fact.cardinality == "one" and other.key == fact.key:
                self.refuse(line, f"fact {fact.id!r} depends on {support!r} of its own single-valued key")
            elif is_announced(event) and support not in self.told:
                self.refuse(line, f"an announced event names fact {support!r} (depends_on), which the memory was never told")
        self.facts[fact.id] = fact
        if is_announced(event):
            self.told.add(fact.id)

    def probe(self, line: int | None, probe: Probe) -> None:
        if probe.id in self.probes:
            self.refuse(line, f"probe id {probe.id!r} is used twice")
        if not probe.id or probe.id.startswith("~"):
            self.refuse(line, f"expected a probe id that is not empty and does not begin with '~', got {probe.id!r}")
        if (probe.mode == "as_of") != (probe.as_of is not None):
            self.refuse(line, f"probe {probe.id!r}: expected 'as_of' with mode 'as_of', and only there")
        if probe.until is not None and probe.until <= probe.since:
            self.refuse(line, f"probe {probe.id!r}: expected 'until' after 'since'")
        self.probes.add(probe.id)

    def refuse(self, line: int | None, what: str) -> None:
        raise BadInput(what, file=self.file, line=line)
