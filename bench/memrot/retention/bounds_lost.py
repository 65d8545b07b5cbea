"""What a lost end costs: facts whose sentences state when they end, stored with and without it.

The truth keeps every end. The memory is told the same sentences, and of a share of them, drawn by
seed, the ``valid_to`` is withheld; a larger share withholds all that a smaller one does, and more. Then
exactly those facts are watched: how often, when one of them is over, a question about its key is still
answered with it, sure of itself (METRICS.md §12, "Temporal bounds").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC
from random import Random
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memrot.bounds import filled
from memrot.bounds.grammar import stated
from memrot.bounds.unsure import Unsure
from memrot.model import NEVER, ChangeEvent, Fact, FactAdded, FactRevised, Instant, introduces, is_announced
from memrot.observations import Observations
from memrot.retention.beliefs import class_of
from memrot.score.answers import read
from memrot.score.judged import Judged
from memrot.score.world import World
from memrot.stats import Interval, Rate, interval
from memrot.timeline import Timeline

LEVELS = (0.0, 0.30, 0.61, 1.0)
"""Shares of ends that are withheld."""

Telling: TypeAlias = Callable[[Timeline], Timeline]
"""What a memory hears of a timeline."""


class Tally(Struct, frozen=True):
    """Of one class, or of several together. Rates count (question, fact that is over) pairs."""

    unbounded: Rate = Rate(0, 0)
    """Of facts whose text states an end: how many were stored without ``valid_to``."""
    lost: Rate = Rate(0, 0)
    """Of pairs with a fact that was stored without: how many were answered with it, asserted."""
    kept: Rate = Rate(0, 0)
    """The same for facts that were stored with their end."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            *(
                Rate(mine.count + its.count, mine.of + its.of)
                for mine, its in zip(self._rates(), other._rates(), strict=True)
            )
        )

    @property
    def wrong(self) -> Rate:
        """Confidently wrong answers about any of them."""
        return Rate(self.lost.count + self.kept.count, self.lost.of + self.kept.of)

    def _rates(self) -> tuple[Rate, Rate, Rate]:
        return (self.unbounded, self.lost, self.kept)


def states_an_end(fact: Fact) -> bool:
    """Whether its sentence says when it ends, datable or not."""
    try:
        said = stated(fact.text)
    except Unsure:
        return True
    return said is not None and (said.end is not None or (bool(said.length) and not said.back))


def withholding(share: float, seed: int) -> Telling:
    """Ends are withheld from a share of the facts that state and carry one."""

    def told(timeline: Timeline) -> Timeline:
        head = f"{timeline.header.id}/{timeline.header.seed}/{seed}"

        def heard(fact: Fact, _: Instant) -> Fact:
            lost = Random(f"{head}/{fact.id}").random() < share
            return replace(fact, valid_to=NEVER) if lost and states_an_end(fact) else fact

        return _retold(timeline, heard)

    return told


def extracting(timeline: Timeline) -> Timeline:
    """No end is given; those that the extraction step finds in the sentences are. Raises Unavailable."""

    def heard(fact: Fact, at: Instant) -> Fact:
        return filled(replace(fact, valid_to=NEVER), at, UTC) if states_an_end(fact) else fact

    return _retold(timeline, heard)


def unbounded(facts: Iterable[Fact], ends: Mapping[str, Instant]) -> dict[str, Rate]:
    """Per class, of the stored facts whose text states an end the share without one. ``ends``: the
    ``valid_to`` of whatever is stored, by id."""
    found: dict[str, Rate] = {}
    for fact in facts:
        if fact.id in ends and states_an_end(fact):
            known = found.get(class_of(fact), Rate(0, 0))
            found[class_of(fact)] = Rate(known.count + (ends[fact.id] == NEVER), known.of + 1)
    return found


def watched(timeline: Timeline, heard: Timeline, seen: Observations) -> dict[str, Tally]:
    """Per class; ``seen``: what a memory answered that was told the events of ``heard``."""
    world = World(timeline)
    judged = Judged(world, read(timeline, seen, world.truth).current)
    best, rows, stages = judged.best(), judged.key, judged.answers.stage
    asserted = np.full(judged.rows, world.nothing)
    """Shape (R,): the fact that each answer asserts first; none: the number that stands for none."""
    sure = np.flatnonzero((best >= 0) & judged.asserted[best] & judged.stale[best])
    asserted[sure] = judged.fact[best[sure]]
    ends = {fact.id: fact.valid_to for fact in heard.facts.values()}
    told = [fact for f, fact in enumerate(world.truth.facts) if world.truth.told[f]]
    found = {name: Tally(unbounded=rate) for name, rate in unbounded(told, ends).items()}
    for fact in told:
        f = world.truth.index[fact.id]
        announced = world.told_truth.causes[f] not in {None, "elapsed"}
        if announced or not states_an_end(fact):  # what is announced needs no bound
            continue
        over_at = int(world.grace_ends[f])
        if world.told_truth.causes[f] is not None:  # before its day it is silence that misleads
            over_at = max(over_at, int(world.told_truth.grace_ends[f]))
        over = (rows == world.key[f]) & (stages >= over_at)
        over &= world.true_of_value.at(np.full(len(stages), world.values.of[f]), stages) == 0
        rate = Rate(int(np.sum(asserted[over] == f)), int(np.sum(over)))
        bare = ends[fact.id] == NEVER
        found[class_of(fact)] += Tally(lost=rate) if bare else Tally(kept=rate)
    return found


def together(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Per class over several timelines, and of ``all`` classes."""
    found: dict[str, Tally] = {}
    for each in tallies:
        for name, tally in each.items():
            found[name] = found.get(name, Tally()) + tally
    return {**dict(sorted(found.items())), "all": sum(found.values(), Tally())}


def stating(timelines: Iterable[Timeline]) -> list[Timeline]:
    """Those with a told fact whose text states an end."""
    return [
        timeline
        for timeline in timelines
        if any(
            states_an_end(fact)
            for event in timeline.events
            if is_announced(event) and (fact := introduces(event)) is not None
        )
    ]


def _retold(timeline: Timeline, heard: Callable[[Fact, Instant], Fact]) -> Timeline:
    def event(each: ChangeEvent) -> ChangeEvent:
        match each:
            case FactAdded(fact=fact):
                return replace(each, fact=heard(fact, each.at))
            case FactRevised(current=fact):
                return replace(each, current=heard(fact, each.at))
            case _:
                return each

    return Timeline.of(timeline.header, [event(each) for each in timeline.events], timeline.probes)


def spread(tallies: Sequence[tuple[str, Mapping[str, Tally]]], name: str) -> Interval | None:
    """A class's confidently-wrong rate over new seeds, from (scenario, tallies) of each timeline: pairs
    of one timeline are about the same few facts, so that timelines are what varies (METRICS.md
    section 11). None where nothing was asked."""
    by_scenario: dict[str, list[float]] = {}
    for scenario, of_classes in tallies:
        value = together([of_classes]).get(name, Tally()).wrong.value
        if value is not None:
            by_scenario.setdefault(scenario, []).append(value)
    return interval(list(by_scenario.values())) if by_scenario else None
