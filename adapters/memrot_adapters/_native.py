"""What native memories share: how the events of a timeline become a backend's own operations.

A native memory keeps facts the way a backend's documentation recommends, without a ledger and without
layers: one record a key, under an id made of the key, so that a revision takes the place of what it
revises; an invalidation deletes the fact by its id; a confirmation starts its lifetime anew. What a
backend does not do by itself is not done: each says so in its ``capabilities``.

Expiry is hard (an expired fact is not shown), after the lifetimes that the layer ``ttl`` uses too
(``TTL_DAYS``), or at a stated end if that is earlier.
"""

from __future__ import annotations

import json
import unicodedata
import uuid
from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from memrot.errors import Unsupported
from memrot.memory import TTL_DAYS, Capability, Embedder, Info
from memrot.model import (
    DAY,
    NEVER,
    Answer,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    PeekCause,
    Question,
)

Fields: TypeAlias = dict[str, int | str]

DIGITS = 6
"""Decimals of a similarity that are kept, as of stacks."""

NOTE = "as it comes, no layers; expired is hidden"

NO_CASCADE = Capability("never", "a record knows no other record")
NO_PAST = Capability("never", "a record that is replaced or deleted is gone")
BY_KEY = Capability("native", "one record a key, under an id made of the key")


def record_id(fact: Fact) -> str:
    """A UUID: of the key, and of the value too where a key may have several."""
    named = [*fact.key, *([fact.value] if fact.cardinality == "many" else [])]
    return str(
        uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([unicodedata.normalize("NFC", each) for each in named]))
    )


def fields(fact: Fact) -> Fields:
    """A record's metadata; ``lifetime`` in milliseconds, so that a confirmation can start it anew."""
    lifetime = round(TTL_DAYS[fact.domain] * DAY) if fact.domain in TTL_DAYS else NEVER
    return {
        "fact": fact.id,
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "lifetime": lifetime,
        "expires_at": expiry(fact.observed_at, lifetime, fact.valid_to),
    }


def expiry(since: Instant, lifetime: int, valid_to: Instant) -> Instant:
    return min(valid_to, NEVER if lifetime == NEVER else since + lifetime)


def refuse_embedder(event: EmbedderChanged, who: str) -> NoReturn:
    raise Unsupported(f"the embedder changes to {event.embedder!r}: {who} keeps the one it began with")


class Native:
    """A backend adds six operations; instants never go back."""

    info: Info

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._expiries: dict[str, Instant] = {}
        """Of what was told, for diagnosis: why a fact is not there any more. A restart forgets it, and what
        was gone by then counts as never stored."""

    # --- a backend's own ---------------------------------------------------------------------

    def put(self, fact: Fact) -> None:
        """Insert the fact's record, or replace the one that has its id."""
        raise NotImplementedError

    def delete(self, fact_id: str) -> None:
        """Delete the record that holds this fact, if one does."""
        raise NotImplementedError

    def held(self, fact_id: str) -> Fields | None:
        """Metadata of the record that holds this fact, if one does."""
        raise NotImplementedError

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        """Set the expiry of the record that holds this fact, which exists."""
        raise NotImplementedError

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        """Per text at most ``k`` (fact id, similarity), most similar first."""
        raise NotImplementedError

    def arrive(self, at: Instant) -> None:
        """Move the backend's clock, where it has one that can be moved."""

    # --- a memory ----------------------------------------------------------------------------

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.arrive(at)
        for event in events:
            match event:
                case FactAdded(fact=fact):
                    self._put(fact)
                case FactRevised(previous=previous, current=fact):
                    if fact.cardinality == "many":
                        self.delete(previous)
                    self._put(fact)
                case FactInvalidated(fact=fact_id):
                    self.delete(fact_id)
                case FactConfirmed(fact=fact_id):
                    self._confirm(fact_id, at)
                case EmbedderChanged():
                    refuse_embedder(event, "a native row")

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        self.arrive(at)
        asked = [question.text for question in questions if question.mode == "current"]
        k = max((question.k for question in questions), default=1)
        found = iter(self.nearest(asked, k, at) if asked else ())
        return [
            Answer(tuple(Hit(fact, round(float(near), DIGITS)) for fact, near in next(found)[: question.k]))
            if question.mode == "current"
            else Answer(unsupported=NO_PAST.why)
            for question in questions
        ]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return [self._cause(fact_id, at) for _, fact_id in missed]

    def _put(self, fact: Fact) -> None:
        self._expiries[fact.id] = int(fields(fact)["expires_at"])
        self.put(fact)

    def _confirm(self, fact_id: str, at: Instant) -> None:
        known = self.held(fact_id)
        if known is not None:
            self._expiries[fact_id] = expiry(at, int(known["lifetime"]), int(known["valid_to"]))
            self.renew(fact_id, self._expiries[fact_id])

    def _cause(self, fact_id: str, at: Instant) -> PeekCause:
        known = self.held(fact_id)
        ends = int(known["expires_at"]) if known else self._expiries.get(fact_id)
        if ends is None:
            return "never stored"
        if ends <= at:
            return "expired"
        if known is None:
            return "deleted"
        return "tombstoned" if int(known["valid_from"]) > at else "outranked"
