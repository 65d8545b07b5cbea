"""The first test of a policy: each conversation twice, against the full store and against the policy's.

A conversation is *worse* where the full store's answer to any of its questions was right and the
policy's is wrong or missing; *better* where none is worse and one is right that was wrong; else
*different* where anything changed, if only from asserted to hedged (METRICS.md §12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from memrot.model import Band, Fact, Hit, Instant, Key
from memrot.observations import Observations
from memrot.retention.beliefs import class_of
from memrot.stats import Rate
from memrot.timeline import Timeline
from memrot.truth import GroundTruth

Verdict: TypeAlias = Literal["same", "different", "better", "worse"]


class Said(Struct, frozen=True):
    """What a store answered: the value of its best hit of the key; None: "I don't know"."""

    value: str | None
    band: Band | None
    fact: str | None
    right: bool


class Reply(Struct, frozen=True):
    """One question of a conversation, answered twice."""

    question: str
    fact_class: str
    """Of the fact that was lost, or found."""
    full: Said
    kept: Said

    @property
    def verdict(self) -> Verdict:
        full, kept = self.full, self.kept
        if full.right and (not kept.right or (kept.value is None and full.value is not None)):
            return "worse"
        if kept.right and not full.right:
            return "better"
        return "same" if (full.value, full.band) == (kept.value, kept.band) else "different"


class Conversation(Struct, frozen=True):
    timeline: str
    session: str
    at: Instant
    replies: tuple[Reply, ...]

    @property
    def verdict(self) -> Verdict:
        found = {reply.verdict for reply in self.replies}
        return next((each for each in ("worse", "better", "different") if each in found), "same")

    @property
    def confidently_wrong(self) -> bool:
        """Whether the policy's store asserts what is not true."""
        return any(
            reply.kept.band == "assert" and reply.kept.value is not None and not reply.kept.right
            for reply in self.replies
        )

    @property
    def doubted(self) -> bool:
        """Whether something right is only hedged that the full store asserts."""
        return any(
            reply.kept.right and (reply.full.band, reply.kept.band) == ("assert", "hedge")
            for reply in self.replies
        )


class Replay(Struct, frozen=True):
    """Rates are of all conversations, also of those that nothing changed in."""

    conversations: tuple[Conversation, ...]

    def _rate(self, *verdicts: Verdict) -> Rate:
        return Rate(sum(each.verdict in verdicts for each in self.conversations), len(self.conversations))

    @property
    def regression(self) -> Rate:
        return self._rate("worse")

    @property
    def different(self) -> Rate:
        """All that changed, for worse, for better or neither."""
        return self._rate("worse", "better", "different")

    @property
    def better(self) -> Rate:
        return self._rate("better")

    @property
    def confidently_wrong(self) -> Rate:
        return Rate(sum(each.confidently_wrong for each in self.conversations), len(self.conversations))

    @property
    def doubted(self) -> Rate:
        """What hedging costs, which no regression rate counts."""
        return Rate(sum(each.doubted for each in self.conversations), len(self.conversations))

    @property
    def spoiled(self) -> Rate:
        """Worse, or something right only hedged: what a reader is deprived of, one way or the other."""
        spoiled = sum(each.doubted or each.verdict == "worse" for each in self.conversations)
        return Rate(spoiled, len(self.conversations))

    @property
    def worse_by_class(self) -> Counter[str]:
        """Worse conversations by the class of what was lost; one may count for several classes."""
        return Counter(
            fact_class
            for each in self.conversations
            for fact_class in {reply.fact_class for reply in each.replies if reply.verdict == "worse"}
        )


def replay(pairs: Sequence[tuple[Timeline, Observations, Observations]]) -> Replay:
    """From timelines of conversations, with what the full store and the policy's returned."""
    return Replay(tuple(each for pair in pairs for each in _conversations(*pair)))


def _conversations(timeline: Timeline, full: Observations, kept: Observations) -> list[Conversation]:
    truth = GroundTruth.of(timeline)
    stages = {stage.seq: stage for stage in timeline.stages}
    probes = {probe.id: probe for probe in timeline.probes}
    answers = {(line.seq, asked.probe): asked.hits for line in kept.stages for asked in line.asked}
    found: dict[tuple[str, Instant], list[Reply]] = {}
    for line in full.stages:
        stage = stages[line.seq]
        for asked in line.asked:
            probe = probes.get(asked.probe)
            if probe is None or probe.session is None:
                continue  # an echo
            hits = answers[line.seq, asked.probe]
            key = probe.key if probe.key in truth.keys else _about(timeline.facts, asked.hits, hits)
            said = [_said(key, each, truth, stage.index) for each in (asked.hits, hits)]
            named = next((each.fact for each in said if each.fact is not None), None)
            fact_class = class_of(timeline.facts[named]) if named is not None else "-"
            reply = Reply(probe.question, fact_class, said[0], said[1])
            found.setdefault((probe.session, stage.at), []).append(reply)
    name = f"{timeline.header.id} seed {timeline.header.seed}"
    by_session: dict[str, list[tuple[Instant, list[Reply]]]] = {}
    for (session, at), replies in found.items():
        by_session.setdefault(session, []).append((at, replies))
    return [
        Conversation(name, session, parts[0][0], tuple(reply for _, replies in parts for reply in replies))
        for session, parts in by_session.items()
    ]


def _about(facts: Mapping[str, Fact], *answers: Sequence[Hit]) -> Key | None:
    """What a question of unknown subject is taken to be about: the first thing that was found."""
    shown = (facts.get(hit.fact or "") for hits in answers for hit in hits if hit.band != "withhold")
    return next((fact.key for fact in shown if fact is not None), None)


def _said(key: Key | None, hits: Sequence[Hit], truth: GroundTruth, stage: int) -> Said:
    true = [] if key is None else truth.true_of_key(key, stage)
    for hit in hits:
        f = truth.index.get(hit.fact or "")
        if f is not None and hit.band != "withhold" and truth.facts[f].key == key:
            value = truth.facts[f].value
            return Said(value, hit.band, hit.fact, any(truth.facts[g].value == value for g in true))
    known = any(truth.told[g] and truth.introduced[g] <= stage for g in true)
    return Said(None, None, None, right=not known)
