"""What is true, since when, and why it ended (METRICS.md §1).

Facts are numbered in the order of introduction, stages from 0 to S - 1; the stage S stands for
"never". ``course.py`` finds the begins and ends; here they are arrays that answer questions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memrot.course import Course
from memrot.model import (
    DAY,
    Cause,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Instant,
    Key,
    Probe,
    introduces,
    is_announced,
)
from memrot.timeline import Stage, Timeline

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

_TESTS_ABSENCE = frozenset(
    {"abstention", "forgetting", "cascade", "contradiction", "erasure", "unannounced", "stated_end"}
)


class GroundTruth:
    """The truth at every stage, of all events or of the announced ones alone.

    Arrays over the timeline's facts, whether or not they are introduced here (an untold fact has
    no begin and no end in the truth of the announced events). Build one with ``GroundTruth.of``.
    """

    def __init__(self, timeline: Timeline, course: Course) -> None:
        stages = timeline.stages
        self.never = len(stages)
        self.times: Longs = np.array([stage.at for stage in stages], np.int64)
        self.facts: tuple[Fact, ...] = tuple(timeline.facts.values())
        self.fact_ids: tuple[str, ...] = tuple(timeline.facts)
        self.index: dict[str, int] = {fact_id: f for f, fact_id in enumerate(self.fact_ids)}
        self.seqs: tuple[int, ...] = tuple(stage.seq for stage in stages)
        self.introduced: Ints = np.array(course.introduced, np.int32)
        self.ends: Ints = np.array(course.ends, np.int32)
        began = np.array(course.begun, np.int32)
        self.begins: Ints = np.where(began < self.ends, began, self.never).astype(np.int32)
        """Stage from which the fact is true; ``never`` for one that ended before or as it would begin."""
        self.causes: tuple[Cause | None, ...] = tuple(course.causes)
        self.ended_by: tuple[int | None, ...] = tuple(course.ended_by)
        """Seq of the event that ended the fact (of a cascade: its root); None where time alone did."""
        self.ended_through: tuple[int | None, ...] = tuple(course.ended_through)
        """The fact that took its place (superseded, contradicted), or the support that failed (cascaded)."""
        told = {fact.id for event in timeline.events if is_announced(event) and (fact := introduces(event))}
        self.roots: Ints = np.array(course.roots, np.int32)
        """The fact whose own end brought this one down: itself unless it fell in a cascade."""
        self.told: Bools = np.array([fact_id in told for fact_id in self.fact_ids], np.bool_)
        self.change_points: Ints = np.array(
            [stage.index for stage in stages if any(_changes(event) for event in stage.events)], np.int32
        )
        keys = {key: code for code, key in enumerate(dict.fromkeys(fact.key for fact in self.facts))}
        self.keys: dict[Key, int] = keys
        self.key_of: Ints = np.array([keys[fact.key] for fact in self.facts], np.int32)
        self._course = course
        self._domains = timeline.header.domains
        self._validations = self._last_validated(stages)
        self._invalidations = {
            f: event
            for event in timeline.events
            if isinstance(event, FactInvalidated)
            and self.ended_by[f := self.index[event.fact]] == event.seq
            and self.causes[f] == "invalidated"
        }

    @classmethod
    def of(cls, timeline: Timeline, announced_only: bool = False) -> GroundTruth:
        """The truth of a timeline; with ``announced_only`` what a memory could know of it."""
        return cls(timeline, Course.run(timeline, announced_only))

    @cached_property
    def facts_of_key(self) -> tuple[list[int], ...]:
        """Per key code its facts, in the order of introduction."""
        groups: list[list[int]] = [[] for _ in self.keys]
        for f, code in enumerate(self.key_of.tolist()):
            groups[code].append(f)
        return tuple(groups)

    def true_at(self, stage: int) -> Bools:
        """Shape (F,): which facts are true at a stage."""
        return (self.begins <= stage) & (stage < self.ends)

    def true_of_key(self, key: Key, stage: int) -> list[int]:
        """The facts of a key that are true at a stage, in the order of introduction."""
        code = self.keys.get(key)
        if code is None:
            return []
        return [f for f in self.facts_of_key[code] if self.begins[f] <= stage < self.ends[f]]

    def fresh_at(self, stage: int) -> Bools:
        """Shape (F,): which facts are fresh at a stage."""
        return self.fresh(np.arange(len(self.facts)), np.full(len(self.facts), stage))

    def fresh(self, facts: NDArray[np.integer], stages: NDArray[np.integer]) -> Bools:
        """Elementwise: whether a fact was validated within its domain's window, as of a stage."""
        places, validated = self._validations
        if not len(places):
            return np.zeros(len(facts), np.bool_)
        width = self.never + 1
        last = np.searchsorted(places, facts.astype(np.int64) * width + stages, side="right") - 1
        known = (last >= 0) & (places[last] // width == facts)
        within = self.times[stages] - validated[last] <= self._windows[facts]
        result: Bools = known & within
        return result

    @cached_property
    def graces(self) -> NDArray[np.float64]:
        """Shape (F,): ms after ``valid_to`` during which an elapsed fact counts for nothing."""
        return np.array([self._domains[fact.domain].grace_days * DAY for fact in self.facts], np.float64)

    @cached_property
    def grace_ends(self) -> Ints:
        """Shape (F,): the first stage after an elapsed fact's grace; the end itself for other ends."""
        valid_to = np.array([fact.valid_to for fact in self.facts], np.int64)
        over = np.searchsorted(self.times, valid_to + self.graces, side="right")
        elapsed = np.array([cause == "elapsed" for cause in self.causes], np.bool_)
        return np.where(elapsed, np.maximum(over, self.ends), self.ends).astype(np.int32)

    @cached_property
    def holds_from(self) -> Longs:
        """Shape (F,), world time in ms: ``valid_from``."""
        return np.array([fact.valid_from for fact in self.facts], np.int64)

    @cached_property
    def holds_until(self) -> Longs:
        """Shape (F,), world time in ms, exclusive: where a fact's interval ends, all events known.

        The earliest of its ``valid_to`` and what ended it: the time of the invalidating event, the
        successor's ``valid_from``, the end of the support that failed (METRICS.md §8). At or before
        ``holds_from`` the interval is empty: a retracted fact never was true.
        """
        until = [fact.valid_to for fact in self.facts]
        for f in self._course.in_order_of_end:
            until[f] = min([until[f], *self._ends_in_the_world(f, until)])
        return np.array(until, np.int64)

    def _ends_in_the_world(self, f: int, until: Sequence[Instant]) -> list[Instant]:
        through, invalidation = self.ended_through[f], self._invalidations.get(f)
        if invalidation is not None:
            return [self.facts[f].valid_from if invalidation.reason == "retracted" else invalidation.at]
        if through is None:
            return []
        match self.causes[f]:
            case "cascaded":
                return [until[through]]
            case "contradicted":
                return [self.facts[g].valid_from for g in self._course.next_begun(f)]
            case _:
                return [self.facts[through].valid_from]

    @cached_property
    def _windows(self) -> NDArray[np.float64]:
        days = (self._domains[fact.domain].window_days for fact in self.facts)
        return np.array([np.inf if day is None else day * DAY for day in days], np.float64)

    def _last_validated(self, stages: Sequence[Stage]) -> tuple[Longs, Longs]:
        """Sorted places ``fact * (S + 1) + stage`` and the last validation as of each.

        A confirmation counts while its fact has not ended at the confirmation's stage.
        """
        width = self.never + 1
        last: dict[int, Instant] = {}
        validations: dict[int, Instant] = {}
        for stage in stages:
            for event in stage.events:
                fact = introduces(event)
                if fact is not None and is_announced(event):
                    f, at = self.index[fact.id], fact.observed_at
                elif isinstance(event, FactConfirmed) and self.ends[self.index[event.fact]] > stage.index:
                    f, at = self.index[event.fact], event.at
                else:
                    continue
                last[f] = validations[f * width + stage.index] = max(at, last.get(f, at))
        places = sorted(validations)
        return np.array(places, np.int64), np.array([validations[place] for place in places], np.int64)


class Due(Struct, frozen=True):
    """When a fact must be forgotten: from the told end on, and asked back (echo) at a stage."""

    ended: int
    """Stage j: its told end, its true end or the end of its grace, whichever is last (S: never)."""
    asked_back: int | None
    """Stage s: the first asked one at or after the N-th change point after j."""


def forgetting_schedule(
    truth: GroundTruth, told: GroundTruth, timeline: Timeline, asked: Iterable[int], forget_within: int
) -> dict[str, Due]:
    """Per told fact that was true, has ended and has a told end: when it is asked back.

    ``asked``: the stages at which the memory is asked. A fact of whose key no current probe is
    active at s is never asked back (METRICS.md §3, forgetting@N).
    """
    asked_stages = np.unique(np.fromiter(asked, np.int64))
    never = truth.never
    over = truth.told & (truth.begins < never) & (truth.ends < never) & (told.ends < never)
    ended = np.maximum(told.ends, truth.grace_ends)
    nth = np.searchsorted(truth.change_points, ended, side="right") + forget_within - 1
    points = np.append(truth.change_points, never)
    first = np.searchsorted(asked_stages, points[np.minimum(nth, len(points) - 1)])
    back = np.append(asked_stages, never)[first]
    by_key: dict[Key, list[Probe]] = {}
    for probe in timeline.probes:
        if probe.mode == "current":
            by_key.setdefault(probe.key, []).append(probe)
    schedule: dict[str, Due] = {}
    for f in np.flatnonzero(over).tolist():
        fact, s = truth.facts[f], int(back[f])
        eligible = s < never and any(
            probe.active(timeline.stages[s].seq) for probe in by_key.get(fact.key, ())
        )
        schedule[fact.id] = Due(ended=int(ended[f]), asked_back=s if eligible else None)
    return schedule


def leaking_probes(timeline: Timeline, truth: GroundTruth) -> list[str]:
    """Ids of probes whose key no fact ever has, or that go on after the last fact of their key has
    ended although they do not test absence (FORMATS.md, Warned of); history is no such probe."""
    leaking = []
    for probe in timeline.probes:
        code = truth.keys.get(probe.key)
        if code is None:
            leaking.append(probe.id)
            continue
        if probe.mode != "current" or probe.tests in _TESTS_ABSENCE:
            continue
        ended = max(int(truth.ends[f]) for f in truth.facts_of_key[code])
        stage = max(ended, bisect_left(truth.seqs, probe.since))
        if stage < truth.never and probe.active(truth.seqs[stage]):
            leaking.append(probe.id)
    return leaking


def _changes(event: object) -> bool:
    return isinstance(event, FactAdded | FactRevised | FactInvalidated)
