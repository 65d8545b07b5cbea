"""What the replay of a public report needs: its little timeline, the right stack, and small memories
that make one mistake each.

A report's instants are days. Its sentences and questions are built from subject and predicate, so
that the lexical test embedder finds what is asked about; what is tested is never retrieval by meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

from memrot.embed.hashing import Hashing
from memrot.evaluate import Factory, observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.memory import Info, Memory, Place, Store
from memrot.model import (
    DAY,
    Answer,
    ChangeEvent,
    Event,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    Key,
    Probe,
    Question,
    TimePassed,
)
from memrot.observations import Observations
from memrot.score import Scores, score
from memrot.stack import Embedders, LayeredMemory, Swap
from memrot.timeline import Domain, Header, Timeline, parse_instant

START = parse_instant("2026-01-05T09:00:00Z")


def day(number: float) -> Instant:
    return START + round(number * DAY)


class Report:
    """A timeline in the making: what happens on which day, and what is asked from when on."""

    def __init__(self, *, exclusive: Sequence[str] = (), k: int = 5, window: float | None = None) -> None:
        domains = {"TECH": Domain(window_days=window)}
        self.header = Header(id="test/report", domains=domains, exclusive=tuple(exclusive), k=k)
        self.events: list[ChangeEvent] = []
        self.probes: list[Probe] = []
        self.keys: dict[str, Key] = {}

    def add(self, on: float, id_: str, predicate: str, subject: str, value: str, **more: Any) -> None:
        announced = more.pop("announced", True)
        fact = self._fact(id_, predicate, subject, value, more)
        self.tell(on, FactAdded, fact=fact, announced=announced)

    def revise(self, on: float, previous: str, id_: str, value: str, **more: Any) -> None:
        subject, predicate = self.keys[previous]
        announced = more.pop("announced", True)
        fact = self._fact(id_, predicate, subject, value, more)
        self.tell(on, FactRevised, previous=previous, current=fact, announced=announced)

    def invalidate(self, on: float, id_: str, reason: str = "obsolete", **more: Any) -> None:
        self.tell(on, FactInvalidated, fact=id_, reason=reason, **more)

    def tell(self, on: float, kind: type[Event], **content: Any) -> None:
        self.events.append(kind(seq=len(self.events) + 1, at=day(on), **content))  # type: ignore[arg-type]  # one of the kinds

    def wait(self, *days: float) -> None:
        for on in days:
            self.tell(on, TimePassed)

    def ask(self, predicate: str, subject: str, **more: Any) -> str:
        """Ask about a key, by default from the start; returns the probe's id."""
        id_ = f"p{len(self.probes) + 1}"
        question = more.pop("question", f"What is the {predicate} of {subject}?")
        tests = more.pop("tests", "forgetting")
        self.probes.append(
            Probe(id=id_, question=question, subject=subject, predicate=predicate, tests=tests, **more)
        )
        return id_

    def timeline(self) -> Timeline:
        return Timeline.of(self.header, self.events, self.probes)

    def _fact(self, id_: str, predicate: str, subject: str, value: str, more: dict[str, Any]) -> Fact:
        self.keys[id_] = (subject, predicate)
        text = more.pop("text", f"The {predicate} of {subject} is {value}.")
        return Fact(
            id=id_, subject=subject, predicate=predicate, value=value, domain="TECH", text=text, **more
        )


class Replay:
    """What a memory answered to a report, and how that is scored."""

    def __init__(self, report: Report, memory: Memory | Factory) -> None:
        self.timeline = report.timeline()
        self.seen: Observations = observe(memory, self.timeline)
        assert self.seen.footer is not None
        self.outcome = self.seen.footer.outcome
        self.reason = self.seen.footer.reason

    @cached_property
    def scores(self) -> Scores:
        return score(self.timeline, self.seen)

    @property
    def cell(self) -> dict[str, Any]:
        return dict(self.scores.cell)

    @property
    def leaks(self) -> Counter[str]:
        """Stale hits by the layer that should have hidden them, asserted or hedged."""
        scores = self.scores
        return Counter(scores.leaks) + Counter(scores.leaks_hedged)

    def answer(self, on: float, probe: str) -> list[str]:
        """Ids of the hits about the probe's own key after a day's events, best first."""
        own = next(each for each in self.timeline.probes if each.id == probe)
        return [id_ for id_ in self.hits(on, probe) if self.timeline.facts[id_].key == own.key]

    def hits(self, on: float, probe: str) -> list[str]:
        """Ids of all hits after a day's events, withheld ones left out."""
        seq = next(stage.seq for stage in self.timeline.stages if stage.at == day(on))
        asked = next(stage.asked for stage in self.seen.stages if stage.seq == seq)
        hits = next(each.hits for each in asked if each.probe == probe)
        return [hit.fact for hit in hits if hit.fact is not None and hit.band != "withhold"]


def stack(
    folder: Path,
    *layers: str,
    store: Callable[[Place], Store] = Exact,
    exclusive: Sequence[str] = (),
    embedders: Embedders | None = None,
    swap: Swap = "keep",
) -> Factory:
    """What opens (and reopens) the exact store with layers, in a folder of its own."""
    place = Place("report", folder / "-".join(["store", *layers]), Hashing.dim, 64)
    policies = parse(layers, exclusive)
    used = embedders or Embedders(Hashing())
    return lambda: LayeredMemory(lambda: store(place), policies, used, swap)


class Notes:
    """A memory without a store: per key what was last said of it. Mistakes are made in subclasses."""

    info = Info(name="notes", backend="notes", version="1", deployment="in process")

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        for event in events:
            match event:
                case FactAdded(fact=fact):
                    self.added(fact)
                case FactRevised(previous=previous, current=current):
                    self.revised(previous, current)
                case FactInvalidated(fact=id_):
                    self.facts.pop(id_, None)
                case _:
                    pass

    def added(self, fact: Fact) -> None:
        for id_ in [id_ for id_, other in self.facts.items() if other.key == fact.key]:
            del self.facts[id_]
        self.facts[fact.id] = fact

    def revised(self, previous: str, current: Fact) -> None:
        self.facts.pop(previous, None)
        self.facts[current.id] = current

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [
            Answer(tuple(Hit(fact.id, 0.9) for fact in self.found(question, at)[: question.k]))
            for question in questions
        ]

    def found(self, question: Question, at: Instant) -> Sequence[Fact]:
        """What is known of the key that a question (or a sentence, asked back) names, newest first."""
        words = question.text.rstrip("?.").split()
        return [
            fact
            for fact in reversed(self.facts.values())
            if fact.predicate in words and fact.subject in words
        ]

    def close(self) -> None:
        pass


class Mishearing:
    """An honest memory that is told something else than what was announced."""

    def __init__(self, open_memory: Factory, hear: Callable[[ChangeEvent], ChangeEvent]) -> None:
        self.honest = open_memory()
        self.hear = hear

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.honest.apply([self.hear(event) for event in events], at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return self.honest.answer(questions, at)


def changed(event: ChangeEvent, **fields: Any) -> ChangeEvent:
    """The event with other fields on the fact that it introduces; others as they are."""
    match event:
        case FactAdded(fact=fact):
            return structs.replace(event, fact=structs.replace(fact, **fields))
        case FactRevised(current=fact):
            return structs.replace(event, current=structs.replace(fact, **fields))
        case _:
            return event
