"""Timelines: ordered events and probes; read, validated, written, digested (FORMATS.md).

A ``Timeline`` is valid by construction: ``Timeline.of`` fills in defaults, normalises strings
to NFC, and refuses everything that FORMATS.md refuses, each with a message of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args

import msgspec
from msgspec import Struct

from memrot.errors import BadInput
from memrot.lines import (
    convert,
    format_instant,
    nfc,
    parse_instant,
    read_lines,
    refuse_newer,
    write_lines,
)
from memrot.model import (
    AT_EVENT,
    Cardinality,
    ChangeEvent,
    Fact,
    FactAdded,
    FactRevised,
    Instant,
    Key,
    Mode,
    Probe,
    Reason,
    Support,
    Tests,
    TimePassed,
    Value,
    introduces,
    is_announced,
    names,
)

__all__ = ["FORMAT", "Domain", "Header", "Stage", "Timeline", "format_instant", "parse_instant", "read"]

FORMAT = 1

_INSTANTS = ("at", "observed_at", "valid_from", "valid_to", "as_of")
_OF_EVENT = ("observed_at", "valid_from")
_FACTS = ("fact", "current")
_SILENCEABLE = ("fact_added", "fact_revised", "fact_invalidated")
_TYPES = (
    *_SILENCEABLE, "fact_confirmed", "fact_mentioned", "time_passed", "restarted", "embedder_changed",
    "probe",
)  # fmt: skip
_CHOICES: dict[str, tuple[str, ...]] = {
    "type": _TYPES,
    "tests": get_args(Tests),
    "mode": get_args(Mode),
    "reason": get_args(Reason),
    "cardinality": get_args(Cardinality),
    "support": get_args(Support),
}
_MOST_DAYS = 3_652_059
"""All the days from the year 1 to "never"."""
_MOST_SEQ = 1 << 53

T = TypeVar("T", bound=Value)


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
        lines: list[tuple[int | None, ChangeEvent | Probe]] = [
            (None, _normalised(value)) for value in (*events, *probes)
        ]
        return _checked((None, _normalised(header)), lines, None)

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
        values = (self.header, *self.events, *self.probes)
        write_lines(path, (json.dumps(_wire(value), ensure_ascii=False) for value in values))


def read(path: Path) -> Timeline:
    """Read a timeline file (``.jsonl`` or ``.jsonl.gz``); raises BadInput naming file and line."""
    file = str(path)
    header: tuple[int, Header] | None = None
    values: list[tuple[int | None, ChangeEvent | Probe]] = []
    for number, raw in read_lines(path):
        kind = raw.get("type")
        if kind == "timeline":
            if header is not None:
                what = "a second header: expected one line of type 'timeline', the first"
                raise BadInput(what, file=file, line=number)
            refuse_newer(raw, FORMAT, file=file, line=number)
            header = (number, _from_wire(raw, Header, file=file, line=number))
        elif header is None:
            raise BadInput("no header: expected a first line of type 'timeline'", file=file, line=number)
        elif "announced" in raw and kind not in _SILENCEABLE:
            what = f"only {', '.join(_SILENCEABLE)} may carry 'announced', not {kind!r}"
            raise BadInput(what, file=file, line=number)
        else:
            line = _from_wire(raw, Probe if kind == "probe" else ChangeEvent, file=file, line=number)
            values.append((number, line))
    if header is None:
        raise BadInput("no header: expected a first line of type 'timeline', found an empty file", file=file)
    return _checked(header, values, file)


# --- from and to the objects of a file ---------------------------------------------------------


def _from_wire(raw: dict[str, Any], kind: Any, *, file: str, line: int) -> Any:
    """Decode one object: instants from RFC 3339, then strictly typed; raises BadInput."""
    try:
        parsed = raw if kind is Header else _parsed(raw)
    except ValueError as error:
        raise BadInput(str(error), file=file, line=line) from None
    return convert(parsed, kind, _CHOICES, file=file, line=line)


def _parsed(raw: dict[str, Any], path: str = "$") -> dict[str, Any]:
    """Instants to ms; a null one is as good as absent."""
    parsed: dict[str, Any] = {}
    for name, value in raw.items():
        if name in _FACTS and isinstance(value, dict):
            parsed[name] = _parsed(value, f"{path}.{name}")
        elif name not in _INSTANTS:
            parsed[name] = value
        elif value is not None:
            try:
                parsed[name] = parse_instant(value)
            except ValueError as error:
                raise ValueError(f"{error} - at `{path}.{name}`") from None
    return parsed


def _wire(value: Value) -> dict[str, Any]:
    """A file's object: defaults left out, instants as text, whole floats as whole numbers."""
    raw = _stated(value, value.at if isinstance(value, FactAdded | FactRevised) else None)
    return {"type": raw["type"], "format": FORMAT, **raw} if isinstance(value, Header) else raw


def _stated(value: Value, at: Instant | None = None) -> dict[str, Any]:
    tag = value.__struct_config__.tag
    raw: dict[str, Any] = {} if tag is None else {"type": tag}
    for name, default in _defaults(type(value)):
        content = getattr(value, name)
        if content == default or (name in _OF_EVENT and content == at):
            continue
        if name in _INSTANTS:
            raw[name] = format_instant(content)
        elif isinstance(content, Value):
            raw[name] = _stated(content, at)
        elif isinstance(content, dict):
            raw[name] = {key: _stated(item) for key, item in content.items()}
        else:
            raw[name] = int(content) if isinstance(content, float) and content.is_integer() else content
    return raw


@cache
def _defaults(kind: type[Value]) -> tuple[tuple[str, Any], ...]:
    """Each field with its default; ``omit_defaults`` compares by identity, and so keeps an equal value."""
    return tuple((field.name, field.default) for field in msgspec.structs.fields(kind))


# --- what is refused -------------------------------------------------------------------------


def _checked(
    numbered_header: tuple[int | None, Header],
    lines: Sequence[tuple[int | None, ChangeEvent | Probe]],
    file: str | None,
) -> Timeline:
    """Complete and order the lines; raise BadInput for whatever FORMATS.md refuses."""
    line, header = numbered_header
    _check_header(header, file, line)
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


def _normalised(value: T) -> T:
    """Strings in NFC, as they would be had the value been read from a file."""
    if msgspec.json.encode(value).isascii():
        return value
    normalised: T = msgspec.convert(nfc(msgspec.to_builtins(value)), type(value))
    return normalised


def _check_header(header: Header, file: str | None, line: int | None) -> None:
    if header.k < 1:
        raise BadInput(f"expected k to be at least 1, got {header.k}", file=file, line=line)
    for name, domain in header.domains.items():
        for days in (domain.window_days, domain.grace_days):
            if days is not None and not 0 <= days <= _MOST_DAYS:
                what = f"domain {name!r}: expected days from 0 to {_MOST_DAYS}, got {days}"
                raise BadInput(what, file=file, line=line)


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
        self.order(line, event)
        if isinstance(event, FactRevised):
            self.introduced(line, event, event.previous)
        fact = introduces(event)
        if fact is not None:
            self.fact(line, event, fact)
        for name in names(event):
            self.introduced(line, event, name)
            previous = isinstance(event, FactRevised) and name == event.previous
            if is_announced(event) and name not in self.told and not previous:
                self.refuse(line, f"an announced event names fact {name!r}, which the memory was never told")
        if isinstance(event, FactRevised):
            before, after = self.facts[event.previous], event.current
            if before.key != after.key:
                what = f"{before.id!r} is about {before.key}, {after.id!r} about {after.key}"
                self.refuse(line, f"a revision must keep the key: {what}")

    def order(self, line: int | None, event: ChangeEvent) -> None:
        if not 1 <= event.seq <= _MOST_SEQ:
            self.refuse(line, f"expected a sequence number from 1 to 2^53, got {event.seq}")
        if self.last is not None and event.seq == self.last.seq:
            self.refuse(line, f"sequence number {event.seq} is used twice")
        if self.last is not None and event.at < self.last.at:
            what = f"seq {event.seq} is out of order with 'at': it is earlier than seq {self.last.seq}"
            self.refuse(line, what)
        self.last = event

    def introduced(self, line: int | None, event: ChangeEvent, name: str) -> None:
        if name not in self.facts:
            self.refuse(line, f"fact {name!r} was never introduced before seq {event.seq}")

    def fact(self, line: int | None, event: ChangeEvent, fact: Fact) -> None:
        if fact.id in self.facts:
            self.refuse(line, f"fact id {fact.id!r} is used twice")
        if not fact.id:
            self.refuse(line, "expected a fact id that is not empty")
        if fact.domain not in self.header.domains:
            known_domains = sorted(self.header.domains)
            self.refuse(line, f"domain {fact.domain!r} is not listed by the header: {known_domains}")
        if not 0.0 <= fact.confidence <= 1.0:
            self.refuse(line, f"expected a confidence from 0 to 1, got {fact.confidence}")
        if fact.valid_to <= fact.valid_from:
            self.refuse(line, f"fact {fact.id!r}: expected valid_to after valid_from")
        known = self.cardinality.setdefault(fact.key, fact.cardinality)
        if known != fact.cardinality:
            self.refuse(line, f"key {fact.key} has two cardinalities: {known!r} and {fact.cardinality!r}")
        for support in fact.depends_on:
            self.support(line, event, fact, support)
        self.facts[fact.id] = fact
        if is_announced(event):
            self.told.add(fact.id)

    def support(self, line: int | None, event: ChangeEvent, fact: Fact, support: str) -> None:
        what = f"fact {fact.id!r} depends on {support!r}"
        if support not in self.facts:
            self.refuse(line, f"{what}, which was not introduced before it")
        if fact.cardinality == "one" and self.facts[support].key == fact.key:
            self.refuse(line, f"{what} of its own single-valued key")
        if is_announced(event) and support not in self.told:
            self.refuse(line, f"{what}, which the memory was never told, though the event is announced")

    def probe(self, line: int | None, probe: Probe) -> None:
        if probe.id in self.probes:
            self.refuse(line, f"probe id {probe.id!r} is used twice")
        if not probe.id or probe.id.startswith("~"):
            what = f"expected a probe id that is not empty and does not begin with '~', got {probe.id!r}"
            self.refuse(line, what)
        if (probe.mode == "as_of") != (probe.as_of is not None):
            self.refuse(line, f"probe {probe.id!r}: expected 'as_of' with mode 'as_of', and only there")
        if probe.until is not None and probe.until <= probe.since:
            self.refuse(line, f"probe {probe.id!r}: expected 'until' after 'since'")
        self.probes.add(probe.id)

    def refuse(self, line: int | None, what: str) -> NoReturn:
        raise BadInput(what, file=self.file, line=line)
