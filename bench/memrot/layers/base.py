"""What a layer is: a pure policy over what a stack holds. No store, no clock, no I/O.

The stack keeps a ledger of entries (one a stored fact), shows it to the layers through a ``View``,
and writes their edits as one plan an instant. Everything a layer must remember stands in the
entries, hence in the store's records: it survives a restart.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from memrot.memory import Clause, Fields
from memrot.model import NEVER, Band, Cardinality, ChangeEvent, Fact, Instant, Key, Mark, Question, Support


class Bands(Struct, frozen=True, forbid_unknown_fields=True):
    """What a confidence is worth (METRICS.md §12)."""

    assert_from: float = 0.65
    """Confidence from which a hit is asserted."""
    hedge_from: float = 0.33
    """Confidence from which a hit is hedged; below, it is withheld."""

    def of(self, confidence: float) -> Band:
        if confidence >= self.assert_from:
            return "assert"
        return "hedge" if confidence >= self.hedge_from else "withhold"


BANDS = Bands()


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """What a stack knows of one stored fact. Instants in ms; ``NEVER`` stands for "not yet"."""

    id: str
    seq: int
    """Of the introducing event: the order of introduction."""
    subject: str
    predicate: str
    value: str
    domain: str
    fact_class: str
    """For retention policies, in lower case; by default the domain's name."""
    cardinality: Cardinality
    depends_on: tuple[str, ...]
    support: Support
    confidence: float
    observed_at: Instant
    last_confirmed_at: Instant
    """When anybody last spoke of it; set by retention, and by eviction."""
    valid_from: Instant
    valid_to: Instant
    embedding: str
    """Fingerprint of the embedder that made the stored vector."""
    previous: str = ""
    """The fact that this one revises."""
    ordered_at: Instant
    """``valid_from``, or its previous' ``ordered_at`` where that is later: the order within a key."""
    began_at: Instant = NEVER
    """The instant at which succession saw it begin."""
    ended_at: Instant = NEVER
    """The end that hides it, in world time, once it has one; one column for ``current`` and ``as_of``."""
    replaced_at: Instant = NEVER
    """When a newer fact took its place, whether or not a layer hides it for that."""
    expires_at: Instant = NEVER
    """When the policy stops believing it; confirmations move it."""
    superseded_by: str = ""

    @property
    def key(self) -> Key:
        return (self.subject, self.predicate)

    @property
    def end(self) -> Instant:
        """Its first known end, whether or not it is hidden for it."""
        return min(self.ended_at, self.replaced_at)

    @property
    def ended(self) -> bool:
        return self.ended_at != NEVER or self.replaced_at != NEVER

    @property
    def order(self) -> tuple[Instant, int]:
        """The order within a key (METRICS.md §1, step 5)."""
        return (self.ordered_at, self.seq)

    @classmethod
    def of(cls, fact: Fact, *, seq: int, embedding: str, previous: Entry | None = None) -> Entry:
        return cls(
            id=fact.id,
            seq=seq,
            subject=fact.subject,
            predicate=fact.predicate,
            value=fact.value,
            domain=fact.domain,
            fact_class=(fact.fact_class or fact.domain).lower(),
            cardinality=fact.cardinality,
            depends_on=fact.depends_on,
            support=fact.support,
            confidence=fact.confidence,
            observed_at=fact.observed_at,
            last_confirmed_at=fact.observed_at,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            embedding=embedding,
            previous=previous.id if previous else "",
            ordered_at=max(fact.valid_from, previous.ordered_at) if previous else fact.valid_from,
        )

    def fields(self) -> dict[str, int | str]:
        """What the store keeps beside the text and the vector; ``of_fields`` reads it back."""
        fields = asdict(self)
        del fields["id"]
        fields["depends_on"] = json.dumps(self.depends_on)
        fields["confidence"] = round(self.confidence * 1e6)
        return fields

    @classmethod
    def of_fields(cls, id_: str, fields: Fields) -> Entry:
        values: dict[str, object] = {**fields, "id": id_}
        values["depends_on"] = tuple(json.loads(str(fields["depends_on"])))
        values["confidence"] = int(fields["confidence"]) / 1e6
        return cls(**values)  # type: ignore[arg-type]  # the fields are those that ``fields`` wrote


class Patch(Struct, frozen=True, gc=False):
    """New values of some of an entry's instants and links."""

    id: str
    changes: Mapping[str, int | str]


class Drop(Struct, frozen=True, gc=False):
    """The record leaves the store."""

    id: str


Edit: TypeAlias = Patch | Drop


class View(Protocol):
    """The ledger plus the plan so far: every edit that was yielded is visible at once."""

    @property
    def at(self) -> Instant: ...

    def get(self, id_: str) -> Entry | None:
        """None: never stored here, or dropped."""
        ...

    def before(self, id_: str) -> Entry | None:
        """The entry as it was before this instant."""
        ...

    def all(self) -> Collection[Entry]: ...

    def of_key(self, key: Key) -> Collection[Entry]: ...

    def of_value(self, predicate: str, value: str) -> Collection[Entry]:
        """Entries of one value under any subject, for exclusive predicates."""
        ...

    def dependants(self, id_: str) -> Collection[Entry]:
        """Entries that name ``id_`` among their supports."""
        ...

    def due(self) -> Collection[Entry]:
        """What was introduced, begins, elapses or must be looked at (``Layer.wakes``) at this instant."""
        ...

    def touched(self) -> Collection[str]:
        """Ids of what is due or was edited in this plan, in the order of becoming so."""
        ...


class Layer:
    """A policy; a layer overrides what it needs."""

    name: str
    records_ends: bool = False
    """Whether ends are kept in world time, so that ``as_of`` can be served."""
    keeps_history: bool = True
    bands: Bands | None = None
    """What confidences are worth, where a policy says so."""
    reach: int = 1
    """How many times k candidates the layer ranks anew."""

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        """Edits for one instant. Called again, in turn with the other layers, until none adds one."""
        return ()

    def where(self, question: Question, at: Instant) -> Sequence[Clause]:
        """Conditions on what a question may bring back."""
        return ()

    def judge(
        self, entries: Sequence[Entry], at: Instant
    ) -> tuple[NDArray[np.float64], Sequence[Mark | None]] | None:
        """Per entry a confidence multiplier, shape (n,), and a mark; None: nothing to say."""
        return None

    def rank(
        self, entries: Sequence[Entry], similarities: NDArray[np.float64], at: Instant
    ) -> NDArray[np.float64]:
        """What candidates are ordered by, shape (n,), the highest first; asked where ``reach`` is over 1."""
        return similarities

    def wakes(self, entry: Entry) -> Instant:
        """When the layer must look at an entry again, though nothing is said of it: it is then ``due``.
        Worked out from the entry as it stands, hence also after a restart."""
        return NEVER
