"""Memories that are wrong on purpose.

The faulty ones break the contract of a ``MemoryService``, each in one way; the adversarial ones keep
it and try to win a score that they do not deserve (METRICS.md §10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from memrot.memory import Info, MemoryService
from memrot.model import Answer, ChangeEvent, Hit, Instant, PeekCause, Question
from memrot.timeline import Timeline
from memrot.truth import GroundTruth, forgetting_schedule

# --- faulty ----------------------------------------------------------------------------------


class Dict:
    """The smallest honest memory: every told fact, the newest first, whatever the question."""

    info = Info(name="dict", backend="dict", version="1", deployment="in process")

    def __init__(self) -> None:
        self.facts: list[str] = []

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        for event in events:
            fact = getattr(event, "current", getattr(event, "fact", None))
            if fact is not None and not isinstance(fact, str):
                self.facts.insert(0, fact.id)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [Answer(tuple(self.hits(question))) for question in questions]

    def hits(self, question: Question) -> list[Hit]:
        return [Hit(fact, 0.5) for fact in self.facts[: question.k]]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return ["outranked"] * len(missed)

    def close(self) -> None:
        pass


class TooMany(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return [Hit(f"x{i}", 0.5) for i in range(question.k + 5)]


class Repeating(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return super().hits(question)[:1] * 2


class Inventing(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return [Hit("made up", 0.9), *super().hits(question)[:2]]


class WrongBand(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return [Hit("f1", 0.9, 1.0, "certain")]  # type: ignore[arg-type]  # the fault itself


class WrongConfidence(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return [Hit("f1", 0.9, float("nan"))]


class WrongSimilarity(Dict):
    def hits(self, question: Question) -> list[Hit]:
        return [Hit("f1", float("inf"))]


class OtherQuestion(Dict):
    """Answers one question fewer than it was asked."""

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return super().answer(questions, at)[1:]


class Raising(Dict):
    """Raises on its third call."""

    calls = 0

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        self.calls += 1
        if self.calls == 3:
            raise RuntimeError("the third call\nfailed")
        return super().answer(questions, at)


# --- adversarial -----------------------------------------------------------------------------


class Cheat:
    """An honest memory whose answers are changed on the way."""

    def __init__(self, honest: MemoryService, timeline: Timeline) -> None:
        self.honest = honest
        self.info = honest.info
        self.timeline = timeline

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.honest.apply(events, at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [
            Answer(self.change(question, answer.hits, at), answer.unsupported)
            for question, answer in zip(questions, self.honest.answer(questions, at), strict=True)
        ]

    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        raise NotImplementedError

    def close(self) -> None:
        self.honest.close()


class Strobe(Cheat):
    """Hides what it knows dead, but only at the stage at which it is asked back."""

    def __init__(self, honest: MemoryService, timeline: Timeline) -> None:
        super().__init__(honest, timeline)
        truth = GroundTruth.of(timeline)
        told = GroundTruth.of(timeline, announced_only=True)
        due = forgetting_schedule(truth, told, timeline, range(len(timeline.stages)), 3)
        self.dead: dict[Instant, set[str]] = {}
        for fact, when in due.items():
            if when.asked_back is not None:
                self.dead.setdefault(timeline.stages[when.asked_back].at, set()).add(fact)

    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return tuple(hit for hit in hits if hit.fact not in self.dead.get(at, ()))


class Epsilon(Cheat):
    """Believes everything a very little."""

    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return tuple(structs.replace(hit, confidence=1e-6, band="hedge") for hit in hits)


class Repeater(Cheat):
    """Fills its places with its best hit."""

    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return hits[:1] * question.k


class OneHit(Cheat):
    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return hits[:1]


class DemoteAll(Cheat):
    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return tuple(structs.replace(hit, confidence=min(hit.confidence, 0.5), band="hedge") for hit in hits)


class Abstainer(Cheat):
    """Says nothing about whatever it was ever told to be in motion."""

    def __init__(self, honest: MemoryService, timeline: Timeline) -> None:
        super().__init__(honest, timeline)
        ends = GroundTruth.of(timeline, announced_only=True)
        self.moving = {ends.fact_ids[f] for f in range(len(ends.facts)) if ends.ends[f] < ends.never}
        keys = {timeline.facts[fact].key for fact in self.moving}
        self.silent = {probe.question for probe in timeline.probes if probe.key in keys}

    def change(self, question: Question, hits: tuple[Hit, ...], at: Instant) -> tuple[Hit, ...]:
        return () if question.text in self.silent else hits


ADVERSARIES: Mapping[str, Callable[[MemoryService, Timeline], Cheat]] = {
    "strobe": Strobe,
    "epsilon": Epsilon,
    "repeater": Repeater,
    "one-hit": OneHit,
    "demote-all": DemoteAll,
    "abstainer": Abstainer,
}
