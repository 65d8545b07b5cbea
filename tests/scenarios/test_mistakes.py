"""Each scenario catches the memory that makes its mistake, and the one that makes the opposite mistake.

The right memory is the exact store with the soft layers; a wrong one is the same but for one thing that
it mishears, or does not do. What must fall is the metric of those questions that test it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from memrot import layers
from memrot.embed.hashing import Hashing
from memrot.evaluate import observe
from memrot.exact import Exact, open_store
from memrot.memory import Fields, MemoryService, Place, Record
from memrot.model import (
    DAY,
    NEVER,
    Answer,
    ChangeEvent,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Instant,
    PeekCause,
    Question,
    introduces,
)
from memrot.score import Scores, score
from memrot.stack import Embedders, LayeredMemory, Swap
from memrot.timeline import Timeline
from memrot_scenarios import tenancy
from memrot_scenarios.world import Scenario
from scenarios.pin import scenarios

ALL = ("ttl", "supersession", "propagation")
FALL = 0.05
"""By how much a mistake must show, at least."""

Open = Callable[[Timeline, Path], Callable[[], MemoryService]]


class Turned(Hashing):
    """Another embedder of the same dimension, whose vectors mean something else."""

    fingerprint = f"{Hashing.fingerprint}'"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(super().embed(texts), 1, axis=1)


class Mishearing:
    """A right memory that is told something else than what was said."""

    def __init__(self, memory: MemoryService, heard: Callable[[ChangeEvent], Iterable[ChangeEvent]]) -> None:
        self.info = memory.info
        self.memory = memory
        self.heard = heard

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.memory.apply([heard for event in events for heard in self.heard(event)], at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return self.memory.answer(questions, at)

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return self.memory.peek(missed, at)

    def drop(self) -> None:
        self.memory.drop()

    def close(self) -> None:
        self.memory.close()


class Reviving(Exact):
    """Loses, as it opens, whatever was changed of a record after it was put."""

    def __init__(self, place: Place, first: dict[str, Fields]) -> None:
        super().__init__(place)
        self.first = first
        super().write([], {record.id: first[record.id] for record in self.scan()}, [])

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self.first.update((record.id, record.fields) for record in put)
        super().write(put, patch, delete)


def stack(names: Sequence[str] = ALL, *, swap: Swap = "reembed", exclusive: bool = True) -> Open:
    def opened(timeline: Timeline, folder: Path) -> Callable[[], MemoryService]:
        place = Place("cell", folder, Hashing.dim, len(timeline.facts))
        policies = layers.parse(names, timeline.header.exclusive if exclusive else ())
        embedders = Embedders(Hashing(), {"minilm-l3": Turned()})
        return lambda: LayeredMemory(lambda: open_store(place, {}), policies, embedders, swap)

    return opened


def hearing(fact: Callable[[Fact, Instant], Fact]) -> Open:
    """A right memory that takes every fact for another one."""

    def heard(event: ChangeEvent) -> Iterable[ChangeEvent]:
        match event:
            case FactAdded() as added:
                yield replace(added, fact=fact(added.fact, added.at))
            case FactRevised() as revised:
                yield replace(revised, current=fact(revised.current, revised.at))
            case other:
                yield other

    return lambda timeline, folder: lambda: Mishearing(stack()(timeline, folder)(), heard)


def deaf_to_returns(timeline: Timeline, folder: Path) -> Callable[[], MemoryService]:
    """Hears nothing more of a subject of which something was dropped."""
    silenced: set[str] = set()

    def heard(event: ChangeEvent) -> Iterable[ChangeEvent]:
        fact = introduces(event)
        if isinstance(event, FactInvalidated):
            silenced.add(timeline.facts[event.fact].subject)
        if fact is None or fact.subject not in silenced:
            yield event

    return lambda: Mishearing(stack()(timeline, folder)(), heard)


def dropping_by_likeness(timeline: Timeline, folder: Path) -> Callable[[], MemoryService]:
    """Whoever is to be erased takes everybody with them whose records read alike."""

    def heard(event: ChangeEvent) -> Iterable[ChangeEvent]:
        yield event
        if isinstance(event, FactInvalidated) and event.reason == "erased":
            predicate = timeline.facts[event.fact].predicate
            alike = [fact.id for fact in timeline.facts.values() if fact.predicate == predicate]
            yield from (replace(event, fact=name) for name in alike if name != event.fact)

    return lambda: Mishearing(stack()(timeline, folder)(), heard)


def reviving(timeline: Timeline, folder: Path) -> Callable[[], MemoryService]:
    place = Place("cell", folder, Hashing.dim, len(timeline.facts))
    policies = layers.parse(ALL, timeline.header.exclusive)
    first: dict[str, Fields] = {}
    return lambda: LayeredMemory(lambda: Reviving(place, first), policies, Hashing())


def starting_anew(timeline: Timeline, folder: Path) -> Callable[[], MemoryService]:
    """Has an empty store whenever it opens."""
    opened = count()

    def opening() -> MemoryService:
        return stack()(timeline, folder / str(next(opened)))()

    return opening


def folded(fact: Fact, _: Instant) -> Fact:
    """One name for all that look the same."""
    latin = {ord(letter): chr(latin) for latin, letter in tenancy._LOOK_ALIKE.items()}
    return replace(fact, subject=unicodedata.normalize("NFKC", fact.subject).translate(latin))


def by_prefix(fact: Fact, _: Instant) -> Fact:
    """One name for all that begin with it."""
    return replace(fact, subject=re.sub(r"-\d+$", "", fact.subject).replace("-eu/", "/"))


def many(fact: Fact, _: Instant) -> Fact:
    """Nothing that is said contradicts anything."""
    return replace(fact, cardinality="many")


def one(fact: Fact, _: Instant) -> Fact:
    """Whatever is said of a key is its only value."""
    return replace(fact, cardinality="one")


def when_told(fact: Fact, at: Instant) -> Fact:
    """What is told last holds, from now on."""
    return replace(fact, valid_from=at, observed_at=at)


def only_from_now(fact: Fact, at: Instant) -> Fact:
    """Late news is held to be old news."""
    return replace(fact, valid_to=at) if fact.valid_from < at else fact


def endless(fact: Fact, _: Instant) -> Fact:
    return replace(fact, valid_to=NEVER)


def short(fact: Fact, _: Instant) -> Fact:
    """Nothing is believed for longer than a month."""
    return replace(fact, valid_to=min(fact.valid_to, fact.valid_from + 30 * DAY))


MISTAKES: tuple[tuple[str, str, str, Open], ...] = (
    ("interference", "interference", "consistency_key", stack(("ttl", "propagation"))),
    ("interference", "preservation", "coverage_key", hearing(by_prefix)),
    ("implicit-conflict", "contradiction", "consistency_key", hearing(many)),
    ("implicit-conflict", "sets", "coverage_key", hearing(one)),
    ("late-arrival", "late_arrival", "consistency_key", hearing(when_told)),
    ("late-arrival", "future_start", "consistency_key", hearing(when_told)),
    ("late-arrival", "late_arrival", "coverage_key", hearing(only_from_now)),
    ("stated-end", "stated_end", "consistency_key", hearing(endless)),
    ("stated-end", "stated_end", "coverage_key", hearing(short)),
    ("contradiction", "contradiction", "consistency_key", stack(exclusive=False)),
    ("contradiction", "sets", "coverage_key", hearing(one)),
    ("tenancy", "tenancy", "coverage_key", hearing(folded)),
    ("tenancy", "tenancy", "coverage_key", hearing(by_prefix)),
    ("probe-leakage", "cascade", "abstention", stack(("ttl", "supersession"))),
    ("probe-leakage", "revision", "coverage_key", deaf_to_returns),
    ("embedder-change", "embedder_change", "coverage_key", stack(swap="keep")),
    ("embedder-change", "forgetting", "consistency_key", stack(("ttl", "supersession"))),
    ("erasure", "erasure", "consistency_key", stack(("ttl", "supersession"))),
    ("erasure", "preservation", "coverage_key", dropping_by_likeness),
    ("durability", "forgetting", "consistency_key", reviving),
    ("durability", "durability", "consistency_key", reviving),
    ("durability", "preservation", "coverage_key", starting_anew),
)


def sat(scenario: str, memory: Open, folder: Path) -> Scores:
    timeline = exam(scenario)
    seen = observe(memory(timeline, folder), timeline, peek=False)
    assert seen.footer is not None
    assert seen.footer.outcome == "answered", seen.footer.reason
    return score(timeline, seen)


@cache
def exam(scenario: str) -> Timeline:
    (found,) = (each for each in scenarios() if each.id == f"project/{scenario}")
    generator: Scenario = found
    return generator.generate(1, "smoke")


@pytest.mark.parametrize(
    ("scenario", "tests", "metric", "wrong"),
    MISTAKES,
    ids=[f"{scenario}-{tests}-{metric}" for scenario, tests, metric, _ in MISTAKES],
)
def test_a_mistake_shows_where_it_is_asked_for(
    scenario: str, tests: str, metric: str, wrong: Open, tmp_path: Path
) -> None:
    right = sat(scenario, stack(), tmp_path / "right").by["tests"][tests][metric]
    mistaken = sat(scenario, wrong, tmp_path / "wrong").by["tests"][tests][metric]
    assert right is not None
    assert mistaken is not None
    assert mistaken <= right - FALL, (right, mistaken)
