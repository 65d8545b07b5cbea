"""The course of a timeline: one pass that says when each fact began, ended, and why (METRICS.md §1).

Facts are numbered in the order of introduction. The pass never looks at a fact that is not due:
heaps hold due begins, ends and revisions, counters hold how many supports of a fact still stand,
and each group of rivals (a single-valued key, a value of an exclusive predicate) hands over a fact
at most twice. So n facts and m events cost O((n + m) log n), cascades included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from functools import cached_property
from heapq import heappop, heappush
from typing import TypeAlias

from memrot.model import (
    NEVER,
    Cause,
    ChangeEvent,
    Fact,
    FactInvalidated,
    FactRevised,
    Instant,
    introduces,
    is_announced,
)
from memrot.timeline import Stage, Timeline

Order: TypeAlias = tuple[Instant, int]
"""Age within a key: ``(valid_from, seq)``, the former raised to that of the fact it revises."""


class Course:
    """Lists over all facts of a timeline; the number of stages stands for "never"."""

    def __init__(self, timeline: Timeline) -> None:
        self.facts: tuple[Fact, ...] = tuple(timeline.facts.values())
        self.index: dict[str, int] = {fact.id: f for f, fact in enumerate(self.facts)}
        self.never = len(timeline.stages)
        count = len(self.facts)
        self.introduced = [self.never] * count
        self.begun = [self.never] * count
        """Stage of step 5: a fact that step 6 ends at the same stage has begun without being true."""
        self.ends = [self.never] * count
        self.causes: list[Cause | None] = [None] * count
        self.ended_by: list[int | None] = [None] * count
        self.ended_through: list[int | None] = [None] * count
        self.roots = list(range(count))
        self.in_order_of_end: list[int] = []
        self.order: list[Order] = [(0, 0)] * count
        self.rivals: dict[tuple[str, ...], Rivals] = {}
        self._exclusive = frozenset(timeline.header.exclusive)
        self._stage = 0
        self._seq = [0] * count
        self._begins: list[tuple[Instant, int]] = []
        self._elapses: list[tuple[Instant, int]] = []
        self._revisions: list[tuple[Instant, int]] = []
        self._previous: dict[int, int] = {}
        self._standing = [0] * count
        self._dependants: list[list[int]] = [[] for _ in self.facts]
        self._rank_of_end = [0] * count
        self._unsupported: list[tuple[int, int]] = []
        self._fallen: deque[int] = deque()

    @classmethod
    def run(cls, timeline: Timeline, announced_only: bool = False) -> Course:
        """The course of all events, or of the announced ones alone (time passes all the same)."""
        course = cls(timeline)
        for stage in timeline.stages:
            course._pass(stage, announced_only)
        return course

    def groups(self, f: int) -> list[tuple[Rivals, str]]:
        """Where a fact has rivals, and which side it is on there."""
        fact = self.facts[f]
        groups: list[tuple[tuple[str, ...], str]] = []
        if fact.cardinality == "one":
            groups.append((("key", *fact.key), fact.value))
        if fact.predicate in self._exclusive:
            groups.append((("value", fact.predicate, fact.value), fact.subject))
        return [(self.rivals.setdefault(name, Rivals()), side) for name, side in groups]

    def next_begun(self, f: int) -> list[int]:
        """Per group the next fact of another side in the order, among those begun when ``f`` ended."""
        found = []
        for rivals, side in self.groups(f):
            begun = rivals.begun_in_order
            for _, g, its_side in begun[bisect_right(begun, (self.order[f], f, side)) :]:
                if its_side != side and self.begun[g] <= self.ends[f]:
                    found.append(g)
                    break
        return found

    def _pass(self, stage: Stage, announced_only: bool) -> None:
        self._stage = stage.index
        events = [event for event in stage.events if not announced_only or is_announced(event)]
        for event in events:
            if (fact := introduces(event)) is not None:
                self._introduce(fact, event)
        for event in events:
            if isinstance(event, FactInvalidated):
                self._end(self.index[event.fact], "invalidated", by=event.seq)
        for f in _due(self._elapses, stage.at):
            self._end(f, "elapsed")
        self._cascade()
        for current in _due(self._revisions, stage.at):
            if self.ends[current] >= stage.index:
                self._end(self._previous[current], "superseded", by=self._seq[current], through=current)
        for f in sorted(_due(self._begins, stage.at), key=self.order.__getitem__, reverse=True):
            self._begin(f)
        self._cascade()

    def _introduce(self, fact: Fact, event: ChangeEvent) -> None:
        f = self.index[fact.id]
        self.introduced[f], self._seq[f] = self._stage, event.seq
        age = fact.valid_from
        previous = self.index[event.previous] if isinstance(event, FactRevised) else None
        # an announced revision may name a fact that nobody told: then it only introduces
        if previous is not None and self.introduced[previous] < self.never:
            age = max(age, self.order[previous][0])
            self._previous[f] = previous
            heappush(self._revisions, (fact.valid_from, f))
        self.order[f] = (age, event.seq)
        heappush(self._begins, (fact.valid_from, f))
        if fact.valid_to < NEVER:
            heappush(self._elapses, (fact.valid_to, f))
        for rivals, side in self.groups(f):
            rivals.introduce(self.order[f], f, side)
        self._rest_on(f, fact)

    def _rest_on(self, f: int, fact: Fact) -> None:
        supports = {self.index[support] for support in fact.depends_on}
        ended = [s for s in supports if self.ends[s] < self.never]
        self._standing[f] = len(supports) - len(ended)
        for s in supports.difference(ended):
            self._dependants[s].append(f)
        if ended and (fact.support == "all" or not self._standing[f]):
            pick = min if fact.support == "all" else max
            self._unsupported.append((f, pick(ended, key=self._rank_of_end.__getitem__)))

    def _begin(self, f: int) -> None:
        if self.ends[f] < self.never:
            return
        groups = self.groups(f)
        for rivals, side in groups:
            newest = rivals.newest_against(side)
            if newest is not None and self.order[newest] > self.order[f]:
                self._end(f, "contradicted", by=self._seq[newest], through=newest)
                return
        self.begun[f] = self._stage
        for rivals, side in groups:
            for older in rivals.begin(self.order[f], f, side):
                self._end(older, "contradicted", by=self._seq[f], through=f)

    def _end(self, f: int, cause: Cause, *, by: int | None = None, through: int | None = None) -> None:
        """The first end is kept."""
        if self.ends[f] < self.never or self.introduced[f] == self.never:
            return
        self.ends[f], self.causes[f] = self._stage, cause
        self.ended_by[f], self.ended_through[f] = by, through
        if cause == "cascaded" and through is not None:
            self.roots[f] = self.roots[through]
        self._rank_of_end[f] = len(self.in_order_of_end)
        self.in_order_of_end.append(f)
        self._fallen.append(f)

    def _cascade(self) -> None:
        """Bring down what stood on the fallen, first what was introduced without a support."""
        for f, support in self._unsupported:
            self._end(f, "cascaded", by=self.ended_by[support], through=support)
        self._unsupported.clear()
        while self._fallen:
            support = self._fallen.popleft()
            for f in self._dependants[support]:
                self._standing[f] -= 1
                if self.facts[f].support == "all" or not self._standing[f]:
                    self._end(f, "cascaded", by=self.ended_by[support], through=support)


def _due(heap: list[tuple[Instant, int]], at: Instant) -> list[int]:
    """Take what is due from a heap, the earliest first."""
    due = []
    while heap and heap[0][0] <= at:
        due.append(heappop(heap)[1])
    return due


class Rivals:
    """Facts of which two sides cannot hold at once: values of a key, or subjects of a value.

    A begin of one side puts an end to every older fact of the others. What it passes over is of its
    own side, and all of that falls together with the next begin of another side, since nothing that
    is older than what has begun can begin against it: so each fact is handed over at most twice.
    """

    def __init__(self) -> None:
        self._begun: list[tuple[Order, int, str]] = []
        self._newest: tuple[Order, int, str] | None = None
        self._newest_other: tuple[Order, int, str] | None = None
        """The newest begun fact of another side than that of ``_newest``."""
        self._waiting: list[tuple[Order, int, str]] = []
        self._passed: list[int] = []

    @cached_property
    def begun_in_order(self) -> list[tuple[Order, int, str]]:
        """``(order, fact, side)`` of all that have begun; for use after the pass."""
        return sorted(self._begun)

    def introduce(self, order: Order, f: int, side: str) -> None:
        heappush(self._waiting, (order, f, side))

    def newest_against(self, side: str) -> int | None:
        """The newest fact of another side that has ever begun."""
        newest = self._newest
        if newest is not None and newest[2] == side:
            newest = self._newest_other
        return None if newest is None else newest[1]

    def begin(self, order: Order, f: int, side: str) -> list[int]:
        """Note that a fact, older than none of another side that has begun, begins: the older facts
        of the other sides, some of which may have ended before."""
        entry = (order, f, side)
        self._begun.append(entry)
        older: list[int] = []
        if self._newest is None or side != self._newest[2]:
            self._newest, self._newest_other = entry, self._newest
            older, self._passed = self._passed, []
        elif order > self._newest[0]:
            self._newest = entry
        while self._waiting and self._waiting[0][0] < order:
            _, other, its_side = heappop(self._waiting)
            (self._passed if its_side == side else older).append(other)
        return older
