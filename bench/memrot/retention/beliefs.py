"""What a store that keeps everything still believes, and for how long what it believes stays true.

A *belief* is a told fact without a told end. Its age runs from when it was last validated, or, for
classes with a hard TTL, last touched. A *spell* is the time from such a moment to the fact's silent
end; a told end, the next such moment and the end of the timeline cut it short (right-censoring): what
a spell measures is how long silence can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from memrot.layers.policy import ClassPolicy
from memrot.model import DAY, NEVER, Fact, FactConfirmed, FactMentioned, Instant, introduces, is_announced
from memrot.timeline import Stage, Timeline
from memrot.truth import GroundTruth


class Belief(Struct, frozen=True, kw_only=True):
    """One fact in a store at an instant; what a policy reads (``Aging``), and whether it is true."""

    id: str
    fact_class: str
    subject: str
    predicate: str
    value: str
    text: str = ""
    confidence: float = 1.0
    observed_at: Instant
    last_confirmed_at: Instant
    valid_to: Instant = NEVER
    at: Instant
    true: bool | None = None
    """None: nobody knows yet."""

    def age_days(self, policy: ClassPolicy) -> float:
        """By the clock that its class goes by."""
        since = self.observed_at if policy.ttl is None else self.last_confirmed_at
        return (self.at - since) / DAY


class Spell(Struct, frozen=True):
    fact_class: str
    dated: bool
    """Whether the fact states its end."""
    days: float
    ended: bool
    """Whether the fact ended then, in silence; else the spell was cut short."""


def class_of(fact: Fact) -> str:
    return (fact.fact_class or fact.domain).lower()


def beliefs(timeline: Timeline) -> list[Belief]:
    """What is believed at the last stage."""
    truth, told = GroundTruth.of(timeline), GroundTruth.of(timeline, announced_only=True)
    for stage, touches in _touched(timeline, told):
        if stage.index == truth.never - 1:
            return _believed(stage, touches, truth, told)
    return []


def spells(timeline: Timeline, policies: Mapping[str, ClassPolicy]) -> list[Spell]:
    """By the clock of each class (without a policy: since the last validation). A spell begins while its
    fact is true: talk of what has ended measures nothing."""
    truth, told = GroundTruth.of(timeline), GroundTruth.of(timeline, announced_only=True)
    last = int(truth.times[-1]) if truth.never else 0
    moments: dict[int, list[Instant]] = {}
    for _, touches in _touched(timeline, told):
        for f, (observed_at, confirmed_at) in touches.items():
            policy = policies.get(class_of(truth.facts[f]))
            moment = observed_at if policy is None or policy.ttl is None else confirmed_at
            known = moments.setdefault(f, [moment])
            if known[-1] != moment:
                known.append(moment)
    found: list[Spell] = []
    for f, starts in moments.items():
        fact = truth.facts[f]
        ended, told_end = (
            int(truth.times[ends[f]]) if ends[f] < truth.never else NEVER for ends in (truth.ends, told.ends)
        )
        known_end = min(told_end, fact.valid_to)
        for start, following in zip(starts, [*starts[1:], NEVER], strict=True):
            stop = min(ended, known_end, following, last)
            if stop > start:
                days, silent = (stop - start) / DAY, stop == ended < known_end
                found.append(Spell(class_of(fact), fact.valid_to != NEVER, days, silent))
    return found


def _touched(
    timeline: Timeline, told: GroundTruth
) -> Iterator[tuple[Stage, dict[int, tuple[Instant, Instant]]]]:
    """Stage by stage, per told fact when it was last validated and last touched."""
    touches: dict[int, tuple[Instant, Instant]] = {}
    for stage in timeline.stages:
        for event in stage.events:
            fact = introduces(event)
            if fact is not None and is_announced(event):
                touches[told.index[fact.id]] = (fact.observed_at, fact.observed_at)
            elif isinstance(event, FactConfirmed | FactMentioned):
                f = told.index[event.fact]
                if told.ends[f] > stage.index:
                    confirmed = isinstance(event, FactConfirmed)
                    touches[f] = (stage.at if confirmed else touches[f][0], stage.at)
        yield stage, touches


def _believed(
    stage: Stage, touches: Mapping[int, tuple[Instant, Instant]], truth: GroundTruth, told: GroundTruth
) -> list[Belief]:
    true_values: dict[tuple[str, str], set[str]] = {}
    for f in truth.true_at(stage.index).nonzero()[0].tolist():
        true_values.setdefault(truth.facts[f].key, set()).add(truth.facts[f].value)
    found = []
    for f, (observed_at, confirmed_at) in touches.items():
        fact = truth.facts[f]
        if told.begins[f] <= stage.index < told.ends[f]:
            found.append(
                Belief(
                    id=fact.id,
                    fact_class=class_of(fact),
                    subject=fact.subject,
                    predicate=fact.predicate,
                    value=fact.value,
                    text=fact.text,
                    confidence=fact.confidence,
                    observed_at=observed_at,
                    last_confirmed_at=confirmed_at,
                    valid_to=fact.valid_to,
                    at=stage.at,
                    true=fact.value in true_values.get(fact.key, ()),
                )
            )
    return found
