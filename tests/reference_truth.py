"""METRICS.md §1 and 2 as literally as Python allows: slow, obvious, shares nothing with the real thing.

Property tests hold ``memrot.truth`` against it on random timelines; ``reference`` builds on its words.
Stages are indices; a fact that never ends has the end ``NEVER``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memrot.model import (
    DAY,
    Fact,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Hit,
    Probe,
    introduces,
    is_announced,
)
from memrot.observations import Observations
from memrot.timeline import Timeline

NEVER = 10**9


@dataclass
class Life:
    fact: Fact
    order: tuple[int, int]
    introduced: int
    begun: int = NEVER
    end: int = NEVER
    cause: str | None = None
    fell_with: list[Life] = field(default_factory=list)
    """Of a cascade: the supports that may be said to have failed (several, if at one stage)."""
    invalidation: FactInvalidated | None = None
    successors: list[Life] = field(default_factory=list)
    """What took its place: of a revision its current, else per kind of rivalry the next that had begun."""

    @property
    def begins(self) -> int:
        return self.begun if self.begun < self.end else NEVER

    def true(self, stage: int) -> bool:
        return self.begins <= stage < self.end

    def until(self) -> int:
        """Section 8: the exclusive end of the interval in the world."""
        ends = [self.fact.valid_to, *(successor.fact.valid_from for successor in self.successors)]
        if self.invalidation is not None:
            retracted = self.invalidation.reason == "retracted"
            ends.append(self.fact.valid_from if retracted else self.invalidation.at)
        return min(ends + [support.until() for support in self.fell_with[:1]])

    def roots(self) -> list[Life]:
        return [root for support in self.fell_with for root in support.roots()] or [self]


def lives_of(  # noqa: C901, PLR0912, PLR0915 - the text of a section, from top to bottom
    timeline: Timeline, *, announced_only: bool
) -> dict[str, Life]:
    """Section 1."""
    lives: dict[str, Life] = {}
    revisions: list[FactRevised] = []
    exclusive = timeline.header.exclusive

    def of_key(a: Life, b: Life) -> bool:
        return a.fact.key == b.fact.key and a.fact.cardinality == "one" and a.fact.value != b.fact.value

    def of_value(a: Life, b: Life) -> bool:
        same = a.fact.predicate == b.fact.predicate and a.fact.value == b.fact.value
        return same and a.fact.predicate in exclusive and a.fact.subject != b.fact.subject

    def rival(a: Life, b: Life) -> bool:
        return of_key(a, b) or of_value(a, b)

    for i, stage in enumerate(timeline.stages):
        events = [event for event in stage.events if is_announced(event) or not announced_only]

        def end(life: Life, cause: str, i: int = i) -> None:
            if life.end == NEVER:
                life.end, life.cause = i, cause

        def cascade() -> None:
            changed = True
            while changed:
                changed = False
                for life in lives.values():
                    supports = [lives[id_] for id_ in life.fact.depends_on]
                    ended = [support for support in supports if support.end < NEVER]
                    failed = ended if life.fact.support == "all" else len(ended) == len(supports) and ended
                    if life.end == NEVER and failed:
                        end(life, "cascaded")
                        decisive = (min if life.fact.support == "all" else max)(s.end for s in ended)
                        life.fell_with = [support for support in ended if support.end == decisive]
                        changed = True

        for event in events:
            fact = introduces(event)
            if fact is not None:
                order = (fact.valid_from, event.seq)
                if isinstance(event, FactRevised) and event.previous in lives:
                    order = (max(fact.valid_from, lives[event.previous].order[0]), event.seq)
                    revisions.append(event)
                lives[fact.id] = Life(fact, order, i)
        for event in events:
            if isinstance(event, FactInvalidated) and lives[event.fact].end == NEVER:
                end(lives[event.fact], "invalidated")
                lives[event.fact].invalidation = event
        for life in lives.values():
            if stage.at >= life.fact.valid_to:
                end(life, "elapsed")
        cascade()
        for revision in sorted(revisions, key=lambda revision: revision.current.valid_from):
            current = lives[revision.current.id]
            previous = lives[revision.previous]
            if stage.at >= current.fact.valid_from and current.end >= i and previous.end == NEVER:
                end(previous, "superseded")
                previous.successors = [current]
        for life in sorted(lives.values(), key=lambda life: life.order, reverse=True):
            if life.end < NEVER or life.begun < NEVER or stage.at < life.fact.valid_from:
                continue
            rivals = [other for other in lives.values() if rival(life, other)]
            if any(other.begun < NEVER and other.order > life.order for other in rivals):
                end(life, "contradicted")
                continue
            life.begun = i
            for other in rivals:
                if other.order < life.order:
                    end(other, "contradicted")
        cascade()
        for life in lives.values():
            if life.end == i and life.cause == "contradicted":
                for kind in (of_key, of_value):
                    begun = [x for x in lives.values() if kind(life, x) and x.begun < NEVER]
                    later = sorted((x for x in begun if x.order > life.order), key=lambda x: x.order)
                    life.successors += later[:1]
    return lives


def is_fresh(timeline: Timeline, life: Life, stage: int) -> bool:
    """Section 2, of the lives of all events."""
    window = timeline.header.domains[life.fact.domain].window_days
    validated = []
    for i, each in enumerate(timeline.stages[: stage + 1]):
        for event in each.events:
            fact = introduces(event)
            if fact is not None and fact.id == life.fact.id and is_announced(event):
                validated.append(life.fact.observed_at)
            if isinstance(event, FactConfirmed) and event.fact == life.fact.id and life.end > i:
                validated.append(event.at)
    if not validated:
        return False
    return window is None or timeline.stages[stage].at - max(validated) <= window * DAY


class Words:
    """One cell in the words of section 2, and the sums that its shares are made of."""

    def __init__(self, timeline: Timeline, seen: Observations) -> None:
        self.timeline = timeline
        self.seen = seen
        self.k = seen.head.k
        self.lives = lives_of(timeline, announced_only=False)
        self.heard = lives_of(timeline, announced_only=True)
        self.at = [stage.at for stage in timeline.stages]
        index = {stage.seq: i for i, stage in enumerate(timeline.stages)}
        self.answers = {index[line.seq]: {a.probe: a.hits for a in line.asked} for line in seen.stages}
        self.unsupported = {index[line.seq]: line.unsupported for line in seen.stages}
        self.asked = sorted(self.answers)
        ends = [life.end for life in self.lives.values() if life.begins < NEVER and life.end < NEVER]
        self.first = min(ends, default=0)
        self.over: dict[tuple[str, Any], float] = defaultdict(float)
        self.under: dict[tuple[str, Any], float] = defaultdict(float)
        self.leaks: dict[str, int] = defaultdict(int)
        self.hedged: dict[str, int] = defaultdict(int)
        self.misses: dict[str, int] = defaultdict(int)
        self.ambiguous = any(
            len(
                {
                    (root.cause == "elapsed", root.invalidation and root.invalidation.seq)
                    for root in life.roots()
                }
            )
            > 1
            for lives in (self.lives, self.heard)
            for life in lives.values()
        )
        """Some fact fell with two supports of different fates at one stage: the text leaves open which."""
        self.torn_apart = any(len(life.fell_with) > 1 for life in self.heard.values())
        """The same for where its interval ends."""
        self.gap: dict[str, list[float]] = {"stale": [], "current": []}
        self.fresh_cache: dict[tuple[str, int], bool] = {}

    # --- words -------------------------------------------------------------------------------

    def probes(self, stage: int) -> list[Probe]:
        seq = self.timeline.stages[stage].seq
        return [p for p in self.timeline.probes if p.mode == "current" and p.active(seq)]

    def hits(self, stage: int, probe: Probe) -> list[Hit]:
        return [hit for hit in self.answers[stage].get(probe.id, ()) if hit.band != "withhold"]

    def life(self, hit: Hit, stage: int) -> Life | None:
        life = self.lives.get(hit.fact or "")
        return life if life is not None and life.introduced <= stage else None

    def told(self, life: Life) -> bool:
        return life.fact.id in self.heard

    def told_end(self, life: Life) -> int:
        return self.heard[life.fact.id].end if self.told(life) else NEVER

    def of_key(self, key: tuple[str, str]) -> list[Life]:
        return [life for life in self.lives.values() if life.fact.key == key]

    def values(self, key: tuple[str, str], stage: int, *, told: bool = False) -> set[str]:
        return {
            life.fact.value for life in self.of_key(key) if life.true(stage) and (self.told(life) or not told)
        }

    def state(self, hit: Hit, stage: int) -> str:
        life = self.life(hit, stage)
        if life is None:
            return "unattributed"
        if life.true(stage):
            return "current"
        if life.end > stage:
            return "early"
        if life.fact.value in self.values(life.fact.key, stage):
            return "reasserted"
        grace = self.timeline.header.domains[life.fact.domain].grace_days * DAY
        if life.cause == "elapsed" and self.at[stage] - life.fact.valid_to <= grace:
            return "grace"
        return "stale"

    def fresh(self, hit: Hit, stage: int) -> bool:
        life = self.life(hit, stage)
        return life is not None and self.fresh_life(life, stage)

    def fresh_life(self, life: Life, stage: int) -> bool:
        place = (life.fact.id, stage)
        if place not in self.fresh_cache:
            self.fresh_cache[place] = is_fresh(self.timeline, life, stage)
        return self.fresh_cache[place]

    def reasons(self, life: Life) -> set[str]:
        return {root.invalidation.reason for root in life.roots() if root.invalidation is not None}

    # --- sums --------------------------------------------------------------------------------

    def add(self, metric: str, over: float, under: float, stage: int, groups: Iterable[Any]) -> None:
        scored = [("cell", ""), *groups] if stage >= self.first else []
        for group in [("stage", stage), *scored]:
            self.over[metric, group] += over
            self.under[metric, group] += under

    def share(self, metric: str, group: tuple[str, Any]) -> float | None:
        under = self.under[metric, group]
        return self.over[metric, group] / under if under else None

    def row_groups(self, probe: Probe, stage: int) -> list[tuple[str, str]]:
        facts = self.of_key(probe.key)
        groups = [("tests", probe.tests), *(("domain", life.fact.domain) for life in facts[:1])]
        reasons = {r for life in facts if life.end <= stage for r in self.reasons(life)}
        return groups + [("reason", reason) for reason in reasons]

    def fact_groups(self, life: Life) -> list[tuple[str, str]]:
        tags = {p.tests for p in self.timeline.probes if p.mode == "current" and p.key == life.fact.key}
        groups = [("tests", tag) for tag in tags] + [("domain", life.fact.domain)]
        return groups + [("reason", reason) for reason in self.reasons(life)]
