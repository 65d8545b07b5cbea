"""The words everything else is written in: facts, events, probes, questions, answers.

All values are frozen and hold no I/O. Every instant is an ``int``: milliseconds since
1970-01-01T00:00:00Z. Text instants (RFC 3339) exist at file edges only (``timeline.py``), ``datetime``
only where another's library wants one.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

Instant: TypeAlias = int
"""Milliseconds since the Unix epoch, UTC."""

DAY: int = 86_400_000
"""Milliseconds in a day."""

NEVER: Instant = 253_402_300_799_000
"""9999-12-31T23:59:59Z: a finite "never", since some stores lose infinities and missing fields."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def moment(at: Instant) -> datetime:
    """An instant as a ``datetime`` in UTC."""
    return _EPOCH + at * _MS


def instant(when: datetime) -> Instant:
    """Of a ``datetime`` with a zone; what is below a millisecond is dropped."""
    return (when - _EPOCH) // _MS


AT_EVENT: Instant = -1 << 62
"""Stands for "the time of the event" until a ``Timeline`` fills it in."""

Cardinality: TypeAlias = Literal["one", "many"]
Support: TypeAlias = Literal["all", "any"]
Mode: TypeAlias = Literal["current", "as_of", "history"]
Band: TypeAlias = Literal["assert", "hedge", "withhold"]
Mark: TypeAlias = Literal["verify", "archived"]
Reason: TypeAlias = Literal["retracted", "obsolete", "dropped", "reorganised", "reversed", "erased"]
Cause: TypeAlias = Literal["invalidated", "elapsed", "cascaded", "superseded", "contradicted"]
Tests: TypeAlias = Literal[
    "preservation", "revision", "forgetting", "abstention", "cascade", "over_propagation",
    "flip_flop", "interference", "contradiction", "late_arrival", "sets", "future_start",
    "unannounced", "over_forgetting", "stated_end", "gradual", "embedder_change", "erasure",
    "durability", "tenancy", "history",
]  # fmt: skip
PeekCause: TypeAlias = Literal[
    "never stored", "deleted", "tombstoned", "expired", "demoted",
    "outranked", "re-embedded", "not found by the index",
]  # fmt: skip

BANDS: tuple[Band, ...] = get_args(Band)
BAND_WEIGHT: dict[Band, float] = {"assert": 1.0, "hedge": 0.5, "withhold": 0.0}

Key: TypeAlias = tuple[str, str]
"""``(subject, predicate)``."""


class Value(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of everything that is read from a timeline file."""


class Fact(Value, frozen=True):
    """One instance of a statement ``(subject, predicate, value)`` (METRICS.md §1).

    ``observed_at`` and ``valid_from`` default to the time of the event that introduces the
    fact; a ``Timeline`` fills them in. ``valid_to`` is exclusive.
    """

    id: str
    subject: str
    predicate: str
    value: str
    domain: str
    text: str
    cardinality: Cardinality = "one"
    depends_on: tuple[str, ...] = ()
    support: Support = "all"
    confidence: float = 1.0
    observed_at: Instant = AT_EVENT
    valid_from: Instant = AT_EVENT
    valid_to: Instant = NEVER
    fact_class: str | None = None
    session: str | None = None

    @property
    def key(self) -> Key:
        return (self.subject, self.predicate)


class Event(Value, frozen=True, tag_field="type"):
    """What all events share: their place in the order, and their time."""

    seq: int
    at: Instant


class FactAdded(Event, frozen=True, tag="fact_added"):
    fact: Fact
    announced: bool = True


class FactRevised(Event, frozen=True, tag="fact_revised"):
    previous: str
    current: Fact
    announced: bool = True


class FactInvalidated(Event, frozen=True, tag="fact_invalidated"):
    fact: str
    reason: Reason
    announced: bool = True


class FactConfirmed(Event, frozen=True, tag="fact_confirmed"):
    fact: str


class FactMentioned(Event, frozen=True, tag="fact_mentioned"):
    fact: str


class TimePassed(Event, frozen=True, tag="time_passed"):
    pass


class Restarted(Event, frozen=True, tag="restarted"):
    """The stack is closed and reopened on the same storage; the truth is left alone."""


class EmbedderChanged(Event, frozen=True, tag="embedder_changed"):
    """Writes and queries use another embedder from now on; the truth is left alone."""

    embedder: str


ChangeEvent: TypeAlias = (
    FactAdded
    | FactRevised
    | FactInvalidated
    | FactConfirmed
    | FactMentioned
    | TimePassed
    | Restarted
    | EmbedderChanged
)


def introduces(event: ChangeEvent) -> Fact | None:
    """The fact that an event introduces, if any."""
    match event:
        case FactAdded(fact=fact):
            return fact
        case FactRevised(current=fact):
            return fact
        case _:
            return None


def is_announced(event: ChangeEvent) -> bool:
    """Whether the memory is told of the event; only changes can be silent."""
    return getattr(event, "announced", True)


def names(event: ChangeEvent) -> tuple[str, ...]:
    """Ids of the facts that an event is about (its ``depends_on`` left out)."""
    match event:
        case FactAdded(fact=fact):
            return (fact.id,)
        case FactRevised(previous=previous, current=current):
            return (previous, current.id)
        case FactInvalidated(fact=fact_id) | FactConfirmed(fact=fact_id) | FactMentioned(fact=fact_id):
            return (fact_id,)
        case _:
            return ()


class Probe(Value, frozen=True, tag_field="type", tag="probe"):
    """A question with what it tests; active at stages of the events ``since <= seq < until``."""

    id: str
    question: str
    subject: str
    predicate: str
    tests: Tests
    mode: Mode = "current"
    as_of: Instant | None = None
    since: int = 1
    until: int | None = None
    revision: int = 1
    session: str | None = None

    @property
    def key(self) -> Key:
        return (self.subject, self.predicate)

    def active(self, seq: int) -> bool:
        return self.since <= seq and (self.until is None or seq < self.until)


class Reading(Value, frozen=True):
    """A measured value of a quantity that drifts; no event, and true until the next reading."""

    key: Key
    value: float
    at: Instant
    tolerance: float
    """How far off a memory may be, relative to the value."""


class Question(Struct, frozen=True, gc=False):
    """What a memory is asked: never the probe, nothing of the expected answer."""

    text: str
    mode: Mode = "current"
    as_of: Instant | None = None
    k: int = 5
    session: str | None = None


class Hit(Struct, frozen=True, gc=False):
    """One fact that came back. ``fact`` is None for text that cannot be traced to a fact."""

    fact: str | None
    similarity: float
    confidence: float = 1.0
    band: Band = "assert"
    mark: Mark | None = None


class Answer(Struct, frozen=True, gc=False):
    """Ranked hits, best first: at most k that are not withheld, distinct facts.

    ``unsupported`` gives the reason why a mode cannot be served; its hits are then empty.
    """

    hits: tuple[Hit, ...] = ()
    unsupported: str | None = None
