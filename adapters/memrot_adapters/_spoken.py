"""What memories of free text share: each event is said in a sentence, and what comes back is traced.

What such a product remembers is text of its own making, which is traced to the facts that it states
(``memrot.matcher``); what cannot be traced is unattributed. A product that can replace or delete what it
was told does that instead of being told otherwise.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from msgspec import Struct

from memrot.matcher import Matcher
from memrot.memory import Capability, Info, Place
from memrot.model import (
    Answer,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    PeekCause,
    Question,
    introduces,
)
from memrot_adapters._native import DIGITS, refuse_embedder
from memrot_adapters._notes import Notes

MOST = 100_000
"""Memories that are looked through for diagnosis."""

WIRING = "wiring only: nobody has run it yet"

DECIDED = Capability("native", "if the model decides so")
UNDATED = Capability("never", "the model is not told when a memory was made")
NO_PAST = Capability("never", "a memory knows when it was made, not when it held")


class Remembered(Struct, frozen=True):
    """A memory as the product gives it back."""

    text: str
    similarity: float
    written: Instant | None = None
    """None: it does not say, and may state whatever has been said by now."""


class Told(Struct, frozen=True):
    fact: Fact
    at: Instant
    own: str = ""
    """The product's id of what it was told, if it gives one."""


class Spoken:
    """A product adds two operations, and what it can do beside; instants never go back."""

    info: Info
    no_past = "memories say when they were made, not when they held"
    """Why a question of the past is not answered."""

    def __init__(self, place: Place) -> None:
        self.folder = place.folder / place.namespace
        self.folder.mkdir(parents=True, exist_ok=True)
        self.told: dict[str, Told] = {}
        self._matcher = Matcher()
        self._notes = Notes(self.folder / "told", Told)
        for told in self._notes:
            self._keep(told)

    # --- a product's own ---------------------------------------------------------------------

    def add(self, text: str, at: Instant) -> str:
        """Tell it; its own id of that, if it gives one."""
        raise NotImplementedError

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        """At most ``k`` memories, the best first."""
        raise NotImplementedError

    def arrive(self, at: Instant) -> None:
        """Move the product's clock, where it has one that can be moved."""

    def learn(self, fact: Fact, at: Instant) -> str:
        """Tell it of a fact; its own id of that, if it gives one."""
        return self.add(fact.text, at)

    def replace(self, told: Told, at: Instant) -> None:
        """Take out what is revised, before the revision is told."""

    def withdraw(self, told: Told, at: Instant) -> None:
        self.add(f"This is no longer true: {told.fact.text}", at)

    def confirm(self, told: Told, at: Instant) -> None:
        self.add(told.fact.text, at)

    # --- a memory ----------------------------------------------------------------------------

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.arrive(at)
        for event in events:
            match event:
                case EmbedderChanged():
                    refuse_embedder(event, self.info.name.partition("/")[0])
                case FactRevised(previous=previous) if previous in self.told:
                    self.replace(self.told[previous], at)
                case FactInvalidated(fact=fact_id) if fact_id in self.told:
                    self.withdraw(self.told[fact_id], at)
                case FactConfirmed(fact=fact_id) if fact_id in self.told:
                    self.confirm(self.told[fact_id], at)
            fact = introduces(event)
            if fact is not None:
                told = Told(fact, at, self.learn(fact, at))
                self._notes.add(told)
                self._keep(told)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        self.arrive(at)
        return [
            self._answer(question, at) if question.mode == "current" else Answer(unsupported=self.no_past)
            for question in questions
        ]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return [
            "outranked"
            if any(fact in self._facts(found, at) for found in self.search(question.text, MOST, at))
            else "never stored"
            for question, fact in missed
        ]

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self.folder)

    def close(self) -> None:
        raise NotImplementedError

    def _answer(self, question: Question, at: Instant) -> Answer:
        hits: dict[str | int, Hit] = {}
        for place, found in enumerate(self.search(question.text, question.k, at)):
            near = round(float(found.similarity), DIGITS)
            facts = self._facts(found, at)
            for fact in facts:
                hits.setdefault(fact, Hit(fact, near))
            if not facts:
                hits[place] = Hit(None, near)
        return Answer(tuple(hits.values())[: question.k])

    def _facts(self, found: Remembered, at: Instant) -> tuple[str, ...]:
        return self._matcher.trace(found.text, at if found.written is None else found.written)

    def _keep(self, told: Told) -> None:
        self._matcher.tell(told.fact, told.at)
        self.told[told.fact.id] = told
