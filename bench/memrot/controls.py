"""Controls: memories of known quality that calibrate every leaderboard (METRICS.md §10).

They know the timeline, so they need no retrieval; what each must score is checked in every run.
An exam on which they do not is broken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import memrot
from memrot.memory import Info
from memrot.model import (
    Answer,
    ChangeEvent,
    Fact,
    Hit,
    Instant,
    Key,
    PeekCause,
    Question,
    introduces,
    is_announced,
    names,
)
from memrot.timeline import Timeline
from memrot.truth import GroundTruth

MIN_CHANGE_POINTS = 40
"""Below this many change points hoarder and newest have too little to rot."""


class Control:
    """A memory that follows the timeline by itself; a control says what it returns."""

    name = ""

    def __init__(self, timeline: Timeline) -> None:
        self.info = Info(
            name=self.name, backend="control", version=memrot.__version__, deployment="in process"
        )
        self.timeline = timeline
        self.stage = -1
        self.told: list[Fact] = []
        """What was announced so far, oldest first."""
        self._keys: dict[str, dict[Key, None]] = defaultdict(dict)
        self._texts: dict[str, dict[str, None]] = defaultdict(dict)
        for probe in timeline.probes:
            self._keys[probe.question][probe.key] = None
        for fact in timeline.facts.values():
            self._keys[fact.text][fact.key] = None
            self._texts[fact.text][fact.id] = None

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        """Follow the timeline up to ``at``, also where a restart lost what came before."""
        stages = self.timeline.stages
        while self.stage + 1 < len(stages) and stages[self.stage + 1].at <= at:
            self.stage += 1
            for event in stages[self.stage].events:
                if is_announced(event):
                    self.hear(event)
                    fact = introduces(event)
                    if fact is not None:
                        self.told.append(fact)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [Answer(tuple(self.hits(question)[: question.k])) for question in questions]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return ["deleted"] * len(missed)

    def drop(self) -> None:
        pass

    def close(self) -> None:
        pass

    def hear(self, event: ChangeEvent) -> None:
        """Called for every announced event, before its fact counts as told."""

    def hits(self, question: Question) -> Sequence[Hit]:
        raise NotImplementedError

    def keys_of(self, question: Question) -> Sequence[Key]:
        """The keys that a question, or a fact's own text asked back, is about."""
        return list(self._keys.get(question.text, ()))

    def said(self, question: Question) -> Sequence[str]:
        """Ids of the facts whose own text is asked back."""
        return list(self._texts.get(question.text, ()))


class Listener(Control):
    """Perfect on what is announced, deaf to silence; nothing expires."""

    name = "listener"
    announced_only = True
    hedges = False

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline)
        self.heard = GroundTruth.of(timeline, announced_only=True)
        self.truth = self.heard if self.announced_only else GroundTruth.of(timeline)

    def hits(self, question: Question) -> Sequence[Hit]:
        if question.mode != "current":
            return [Hit(id_, 1.0) for key in self.keys_of(question) for id_ in self._past(question, key)]
        true = [f for key in self.keys_of(question) for f in self.truth.true_of_key(key, self.stage)]
        told = [f for f in true if self._is_told(f)]
        fresh = self.truth.fresh_at(self.stage)
        return [
            Hit(self.truth.fact_ids[f], 1.0)
            if fresh[f] or not self.hedges
            else Hit(self.truth.fact_ids[f], 1.0, 0.5, "hedge")
            for f in told
        ]

    def _past(self, question: Question, key: Key) -> Sequence[str]:
        """The key's told instances in order; with ``as_of`` those that held then, as told by now."""
        code = self.heard.keys.get(key)
        told = [] if code is None else [f for f in self.heard.facts_of_key[code] if self._is_told(f)]
        if question.as_of is not None:
            told = [f for f in told if self.heard.holds_from[f] <= question.as_of < self._end(f)]
        return [self.heard.fact_ids[f] for f in sorted(told, key=lambda f: (self.heard.holds_from[f], f))]

    def _is_told(self, f: int) -> bool:
        return bool(self.heard.told[f] and self.heard.introduced[f] <= self.stage)

    def _end(self, f: int) -> Instant:
        """World time; an end that is yet to come is not known yet, a stated one is."""
        return (
            int(self.heard.holds_until[f])
            if self.heard.ends[f] <= self.stage
            else self.heard.facts[f].valid_to
        )


class Oracle(Listener):
    """Knows the truth, silent changes too, and hedges what is no longer fresh."""

    name = "oracle"
    announced_only = False
    hedges = True


class Hoarder(Control):
    """Appends and never removes; the oldest first."""

    name = "hoarder"

    def hits(self, question: Question) -> Sequence[Hit]:
        keys, said = self.keys_of(question), self.said(question)
        return [
            *(Hit(fact.id, 1.0) for fact in self.told if fact.id in said),
            *(Hit(fact.id, 0.9) for fact in self.told if fact.id not in said and fact.key in keys),
        ]


class Amnesiac(Control):
    """Returns nothing."""

    name = "amnesiac"

    def hits(self, question: Question) -> Sequence[Hit]:
        return ()


class OverDeleter(Control):
    """Drops a key at any event that names it, and its neighbours of the same subject."""

    name = "over-deleter"

    def hear(self, event: ChangeEvent) -> None:
        subjects = {self.timeline.facts[id_].subject for id_ in names(event)}
        self.told = [fact for fact in self.told if fact.subject not in subjects]

    def hits(self, question: Question) -> Sequence[Hit]:
        keys = self.keys_of(question)
        return [Hit(fact.id, 1.0) for fact in reversed(self.told) if fact.key in keys]


class Newest(Control):
    """The k newest facts, whatever the question."""

    name = "newest"

    def hits(self, question: Question) -> Sequence[Hit]:
        return [Hit(fact.id, 1.0) for fact in self.told[: -question.k - 1 : -1]]


CONTROLS: Mapping[str, Callable[[Timeline], Control]] = {
    control.name: control for control in (Oracle, Listener, Hoarder, Amnesiac, OverDeleter, Newest)
}

Metrics = Mapping[str, float | None]


def violations(
    cells: Mapping[str, Metrics], leaks: Mapping[str, Mapping[str, int]], change_points: int
) -> list[str]:
    """What the controls of one timeline should have scored and did not; empty: the exam is sound.

    ``cells``: control -> the cell's metrics; ``leaks``: control -> layer -> stale hits of any band.
    A metric that the timeline leaves undefined (None) breaks nothing.
    """
    broken: list[str] = []

    def expect(control: str, metric: str, bound: str, holds: Callable[[float], bool]) -> None:
        value = cells[control].get(metric)
        if value is not None and not holds(value):
            broken.append(f"{control}: expected {metric} {bound}, got {value:.4f}")

    expect("oracle", "lifecycle", "= 1", lambda value: abs(value - 1) < 1e-9)
    expect("oracle", "consistency", "= 1", lambda value: value == 1)
    expect("listener", "coverage", "= 1", lambda value: value == 1)
    expect("amnesiac", "coverage", "= 0", lambda value: value == 0)
    expect("amnesiac", "lifecycle", "= 0", lambda value: value == 0)
    if change_points >= MIN_CHANGE_POINTS:
        expect("hoarder", "forgetting", "<= .1", lambda value: value <= 0.1)
        expect("hoarder", "lifecycle", "<= .2", lambda value: value <= 0.2)
        expect("newest", "lifecycle", "< .5", lambda value: value < 0.5)
    best = cells["listener"].get("coverage_key")
    if best is not None:
        expect("over-deleter", "coverage_key", f"< {best - 0.2:.4f}", lambda value: value < best - 0.2)
    for control, layers in (
        ("oracle", ("ttl", "supersession", "propagation", "unknowable")),
        ("listener", ("supersession", "propagation")),
    ):
        leaking = {layer: leaks[control][layer] for layer in layers if leaks[control].get(layer)}
        if leaking:
            broken.append(f"{control}: expected no leaks, got {leaking}")
    return broken
