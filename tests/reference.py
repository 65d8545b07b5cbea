"""METRICS.md 1 and 3-8 as literally as Python allows: slow, obvious, shares nothing with the real thing.

Property tests hold ``memrot.truth`` and ``memrot.score`` against it on random timelines and answers.
Stages are indices; a fact that never ends has the end ``NEVER``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Hit,
    Probe,
    introduces,
    is_announced,
    names,
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


class Reference:
    """Sections 3-8 of one cell."""

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
        for stage in self.asked:
            self.stage(stage)

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

    # --- one stage ---------------------------------------------------------------------------

    def stage(self, stage: int) -> None:
        events = self.timeline.stages[stage].events
        for probe in self.probes(stage):
            self.row(stage, probe, events)
        self.revisions(stage)
        self.forgettings(stage)

    def row(  # noqa: C901, PLR0915 - the text of a section, from top to bottom
        self, stage: int, probe: Probe, events: Iterable[ChangeEvent]
    ) -> None:
        groups = self.row_groups(probe, stage)
        every = self.hits(stage, probe)
        hits = [hit for hit in every if self.state(hit, stage) != "grace"]
        self.add("grace", len(every) - len(hits), 0, stage, groups)

        def own(hit: Hit) -> bool:
            life = self.life(hit, stage)
            return life is not None and life.fact.key == probe.key

        def domains(life: Life | None) -> list[tuple[str, str]]:
            if life is None:
                return groups
            return [g for g in groups if g[0] != "domain"] + [("domain", life.fact.domain)]

        for hit in hits:
            state, life = self.state(hit, stage), self.life(hit, stage)
            consistent = state in ("current", "reasserted")
            weight = {"assert": 1.0, "hedge": 0.5}[hit.band]
            where = domains(life)
            self.add("freshness", self.fresh(hit, stage), 1, stage, where)
            self.add("consistency", consistent, 1, stage, where)
            self.add("off_topic", life is not None and not own(hit), 1, stage, where)
            self.add("brier", (hit.confidence - consistent) ** 2, 1, stage, where)
            if own(hit) or life is None:
                warned = self.fresh(hit, stage) or hit.band == "hedge"
                self.add("consistency_key", weight * consistent, weight, stage, where)
                self.add("freshness_key", weight * warned, weight, stage, where)
            if stage >= self.first:
                self.charge(hit, state, stage)
                if own(hit) and state in self.gap:
                    self.gap[state].append(hit.similarity)

        found = {hit.fact for hit in every}
        true = [life for life in self.of_key(probe.key) if life.true(stage) and self.told(life)]
        touched = any(self.lives[id_].fact.key == probe.key for event in events for id_ in names(event))
        touched |= any(stage in (life.begins, life.end) for life in self.of_key(probe.key))
        for life in true:
            retrieved = life.fact.id in found
            self.add("coverage", retrieved, 1, stage, domains(life))
            if not touched:
                self.add("preservation", retrieved, 1, stage, domains(life))
            if not retrieved and stage >= self.first:
                self.misses[self.peeked(life, stage)] += 1
        known = [life for life in self.of_key(probe.key) if self.told(life) and life.introduced <= stage]
        self.add("recall", sum(life.fact.id in found for life in known), len(known), stage, groups)
        self.add("coverage_key", *self.covered(probe, hits, stage), stage, groups)

        states = [self.state(hit, stage) for hit in hits]
        mine = [(hit, self.state(hit, stage)) for hit in hits if own(hit)]
        best = mine[0] if mine else None
        value = self.lives[best[0].fact or ""].fact.value if best else None
        right = value in self.values(probe.key, stage) if best else not true
        self.add("contamination", "stale" in states, 1, stage, groups)
        self.add("reasserted", "reasserted" in states, 1, stage, groups)
        asserted_stale = best is not None and best[1] == "stale" and best[0].band == "assert"
        self.add("confidently_wrong", asserted_stale, 1, stage, groups)
        self.add("divergence", not right, 1, stage, groups)
        self.add("wrong", best is not None and not right, 1, stage, groups)
        self.add("false_abstention", best is None and not right, 1, stage, groups)
        if not true:
            self.add("abstention", best is None, 1, stage, groups)
        if best and right:
            ill = best[1] == "reasserted" or any(state == "stale" for _, state in mine)
            self.add("wrong_evidence", ill, 1, stage, groups)
        self.add("silent_contradiction", self.torn(hits, stage), 1, stage, groups)

    def covered(self, probe: Probe, hits: list[Hit], stage: int) -> tuple[float, float]:
        values = self.values(probe.key, stage, told=True)
        credit = 0.0
        for value in values:
            fresh = any(
                self.fresh_life(life, stage)
                for life in self.of_key(probe.key)
                if life.fact.value == value and life.true(stage)
            )
            bands = set()
            for hit in hits:
                life = self.life(hit, stage)
                if life is not None and life.fact.key == probe.key and life.fact.value == value:
                    bands.add(hit.band)
            if "assert" in bands or ("hedge" in bands and not fresh):
                credit += 1
            elif "hedge" in bands:
                credit += 0.5
        return min(credit, self.k), min(len(values), self.k)

    def torn(self, hits: list[Hit], stage: int) -> bool:
        facts = [life.fact for hit in hits if (life := self.life(hit, stage)) is not None]
        return any(
            (a.key == b.key and a.cardinality == "one" and a.value != b.value)
            or (
                a.predicate == b.predicate
                and a.predicate in self.timeline.header.exclusive
                and a.value == b.value
                and a.subject != b.subject
            )
            for a in facts
            for b in facts
        )

    def revisions(self, stage: int) -> None:
        for event in self.timeline.events:
            if not isinstance(event, FactRevised) or not event.announced:
                continue
            life = self.lives[event.current.id]
            probes = [probe for probe in self.probes(stage) if probe.key == life.fact.key]
            if life.begins != stage or not probes:
                continue
            passed = True
            for probe in probes:
                hits = self.hits(stage, probe)
                passed &= life.fact.id in {hit.fact for hit in hits}
                for hit in hits:
                    other = self.life(hit, stage)
                    own = other is not None and other.fact.key == probe.key
                    passed &= not (own and self.state(hit, stage) == "stale")
            self.add("revision", passed, 1, stage, self.fact_groups(life))

    def forgettings(self, stage: int) -> None:
        retrieved = {hit.fact for probe in self.probes(stage) for hit in self.hits(stage, probe)}
        for life in self.lives.values():
            announced = any(root.invalidation and root.invalidation.announced for root in life.roots())
            asked = any(probe.key == life.fact.key for probe in self.probes(stage))
            if life.end == stage and life.begins < NEVER and announced and asked and self.told(life):
                passed = life.fact.id not in retrieved
                self.add("forgetting_asked", passed, 1, stage, self.fact_groups(life))

    def charge(self, hit: Hit, state: str, stage: int) -> None:
        life = self.life(hit, stage)
        if life is None or state not in ("stale", "early"):
            return
        if state == "early":
            guilty = "ttl"
        elif self.told_end(life) > stage:
            guilty = "unknowable" if self.fresh(hit, stage) else "ttl"
        else:
            heard = self.heard[life.fact.id]
            if heard.cause in ("superseded", "contradicted"):
                guilty = "supersession"
            elif any(root.cause == "elapsed" for root in heard.roots()):
                guilty = "ttl"
            else:
                guilty = "propagation"
        (self.leaks if hit.band == "assert" else self.hedged)[guilty] += 1

    def peeked(self, life: Life, stage: int) -> str:
        seq = self.timeline.stages[stage].seq
        causes = [p.facts[life.fact.id] for p in self.seen.peeks if p.seq == seq and life.fact.id in p.facts]
        return causes[-1] if causes else "not examined"

    # --- the life of a fact in the answers -----------------------------------------------------

    def forgetting_stage(self, life: Life) -> int:
        """Stage j of the told end."""
        j = max(self.told_end(life), life.end)
        grace = self.timeline.header.domains[life.fact.domain].grace_days * DAY
        if life.cause == "elapsed":
            beyond = [i for i, at in enumerate(self.at) if at - life.fact.valid_to > grace]
            j = max(j, beyond[0] if beyond else NEVER)
        return j

    def due(self) -> list[Life]:
        return [
            life
            for life in self.lives.values()
            if self.told(life) and life.begins < NEVER and life.end < NEVER and self.told_end(life) < NEVER
        ]

    def asked_back(self, life: Life) -> int | None:
        changes = [
            i
            for i, stage in enumerate(self.timeline.stages)
            if any(isinstance(event, FactAdded | FactRevised | FactInvalidated) for event in stage.events)
        ]
        later = [i for i in changes if i > self.forgetting_stage(life)]
        n = self.seen.head.forget_within
        if len(later) < n:
            return None
        back = [stage for stage in self.asked if stage >= later[n - 1]]
        if not back or not any(probe.key == life.fact.key for probe in self.probes(back[0])):
            return None
        return back[0]

    def retrieved(self, life: Life, stage: int, *, stale: bool = False) -> bool:
        return any(
            hit.fact == life.fact.id
            and life.introduced <= stage
            and (not stale or self.state(hit, stage) == "stale")
            for probe in self.probes(stage)
            for hit in self.hits(stage, probe)
        )

    def forgotten(self, life: Life, s: int) -> bool:
        if any(self.retrieved(life, stage, stale=True) for stage in self.asked if stage >= s):
            return False
        echo = self.answers[s].get("~" + life.fact.id, ())
        return not any(
            hit.fact == life.fact.id and hit.band != "withhold" and self.state(hit, s) == "stale"
            for hit in echo
        )

    def forgetting(self, group: tuple[str, Any] = ("cell", "")) -> tuple[float | None, int, int]:
        """The metric, and how many ends are eligible and ineligible."""
        mine = [life for life in self.due() if group in [("cell", ""), *self.fact_groups(life)]]
        stages = [(life, self.asked_back(life)) for life in mine]
        passed = [self.forgotten(life, s) for life, s in stages if s is not None]
        share = sum(passed) / len(passed) if passed else None
        return share, len(passed), len(mine) - len(passed)

    def resurrection(self) -> float | None:
        outcomes = []
        for life in self.lives.values():
            told = self.told_end(life)
            if told == NEVER or not any(self.retrieved(life, i) for i in self.asked if i < told):
                continue
            absent = [i for i in self.asked if i >= told and not self.retrieved(life, i)]
            if absent:
                later = [i for i in self.asked if i > absent[0]]
                outcomes.append(any(self.retrieved(life, i, stale=True) for i in later))
        return sum(outcomes) / len(outcomes) if outcomes else None

    def has_probe(self, life: Life) -> bool:
        return any(p.mode == "current" and p.key == life.fact.key for p in self.timeline.probes)

    def lag_to_learn(self) -> dict[str, int | None]:
        lags: dict[str, int | None] = {}
        for life in self.lives.values():
            if self.told(life) and life.begins < NEVER and self.has_probe(life):
                learnt = [
                    i
                    for i in self.asked
                    if life.true(i)
                    for probe in self.probes(i)
                    if probe.key == life.fact.key
                    and life.fact.id in {hit.fact for hit in self.hits(i, probe)}
                ]
                lags[life.fact.id] = learnt[0] - life.begins if learnt else None
        return lags

    def lag_to_forget(self) -> dict[str, int | None]:
        lags: dict[str, int | None] = {}
        for life in self.due():
            j = self.forgetting_stage(life)
            if j == NEVER or not self.has_probe(life):
                continue
            stale = [i for i in self.asked if i >= j and self.retrieved(life, i, stale=True)]
            if not stale:
                lags[life.fact.id] = 0
                continue
            after = [i for i in self.asked if i > stale[-1]]
            lags[life.fact.id] = after[0] - j if after else None
        return lags

    def lifecycle(self, group: tuple[str, Any] = ("cell", "")) -> float | None:
        coverage = self.share("coverage_key", group)
        if coverage is None:
            return None
        parts = [self.share("consistency_key", group) or 0, self.share("freshness_key", group) or 0]
        forgetting = self.forgetting(group)[0]
        if forgetting is not None:
            parts.append(forgetting)
        if 0 in (*parts, coverage):
            return 0.0
        harmonic = len(parts) / sum(1 / part for part in parts)
        return 2 / (1 / coverage + 1 / harmonic)

    def similarity_gap(self) -> float | None:
        means = [sum(values) / len(values) if values else None for values in self.gap.values()]
        return None if None in means else means[0] - means[1]  # type: ignore[operator]  # no None is left

    # --- section 8 -----------------------------------------------------------------------------

    def time_travel(self) -> dict[str, dict[str, Any]]:
        table: dict[str, dict[str, Any]] = {}
        for mode in ("as_of", "history"):
            n = unsupported = 0
            pairs: list[bool] = []
            hits: list[bool] = []
            for stage in (stage for stage in self.asked if stage >= self.first):
                seq = self.timeline.stages[stage].seq
                for probe in self.timeline.probes:
                    if probe.mode != mode or not probe.active(seq):
                        continue
                    n += 1
                    if probe.id in self.unsupported[stage]:
                        unsupported += 1
                        continue
                    good = [
                        life
                        for life in self.heard.values()
                        if life.introduced <= stage
                        and (mode == "history" or self.held(life, probe.as_of or 0, stage))
                    ]
                    ids = {hit.fact for hit in self.hits(stage, probe)}
                    pairs += [life.fact.id in ids for life in good if life.fact.key == probe.key]
                    for hit in self.hits(stage, probe):
                        own = self.life(hit, stage)
                        hits.append(
                            own is not None
                            and any(
                                life.fact.key == own.fact.key and life.fact.value == own.fact.value
                                for life in good
                            )
                        )
            if n:
                table[mode] = {
                    "n": n,
                    "unsupported": unsupported,
                    "coverage": sum(pairs) / len(pairs) if pairs else None,
                    "consistency": sum(hits) / len(hits) if hits else None,
                }
        return table

    def held(self, life: Life, at: int, stage: int) -> bool:
        until = life.until() if life.end <= stage else life.fact.valid_to
        return life.fact.valid_from <= at < until
