"""METRICS.md §3-8 as literally as Python allows: slow, obvious, shares nothing with the real thing.

Property tests hold ``memrot.score`` against it on random timelines and answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memrot.model import (
    DAY,
    ChangeEvent,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Probe,
    names,
)
from memrot.observations import Observations
from memrot.timeline import Timeline
from reference_truth import NEVER, Life, Words


class Reference(Words):
    """Sections 3-8 of one cell."""

    def __init__(self, timeline: Timeline, seen: Observations) -> None:
        super().__init__(timeline, seen)
        for stage in self.asked:
            self.stage(stage)

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
