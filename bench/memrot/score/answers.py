"""Observations as flat arrays: a row per (asked stage, active probe), a hit per returned fact.

Withheld hits are left behind here, no metric counts them; a row without hits is a probe that was
answered with nothing. Stages are indices of the timeline, facts those of ``GroundTruth``; the number
of facts stands for a fact that does not exist at the stage (METRICS.md §2, unattributed).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memrot.errors import BadInput
from memrot.model import BAND_WEIGHT, Hit, Mode, Probe
from memrot.observations import ECHO, Observations, StageSeen
from memrot.timeline import Timeline
from memrot.truth import Bools, GroundTruth

Index: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_CURRENT: frozenset[Mode] = frozenset({"current"})
_TRAVEL: frozenset[Mode] = frozenset({"as_of", "history"})


class Answers(Struct, frozen=True):
    """What the probes of some modes were answered; rows in the order of stages, hits in that of rows."""

    probes: tuple[Probe, ...]
    asked: Index
    """Shape (A,): the asked stages."""
    row_of: Index
    """Shape (A, P): the row of an asked stage (by its place among them) and a probe, or -1."""
    first: Index
    last: Index
    """Shape (P,): a probe is active at the asked stages ``first <= place < last``."""
    place: Index
    stage: Index
    probe: Index
    """Shape (R,): of each row."""
    unsupported: Bools
    """Shape (R,): the memory cannot serve the probe's mode."""
    row: Index
    fact: Index
    similarity: Floats
    confidence: Floats
    weight: Floats
    """Shape (H,): of each hit, best first within a row; weight 1 asserts, 1/2 hedges."""


class Seen(Struct, frozen=True):
    current: Answers
    travel: Answers
    """The probes of the modes ``as_of`` and ``history``."""
    echoes: frozenset[tuple[int, int]]
    """``(stage, fact)`` where the fact's own text, asked back at the stage, brought the fact back."""


def read(timeline: Timeline, seen: Observations, truth: GroundTruth) -> Seen:
    """Flatten; raises BadInput where the observations are not of this timeline, or break §2."""
    lines = _asked(timeline, seen)
    codes = {probe.id: code for code, probe in enumerate(timeline.probes)}
    echoes: set[tuple[int, int]] = set()
    places: list[int] = []
    probes: list[int] = []
    answers: list[tuple[Hit, ...]] = []
    for place, (stage, line) in enumerate(lines):
        for asked in line.asked:
            code = codes.get(asked.probe)
            if code is not None:
                places.append(place)
                probes.append(code)
                answers.append(asked.hits)
            elif asked.probe.startswith(ECHO):
                fact = asked.probe.removeprefix(ECHO)
                if any(hit.fact == fact and hit.band != "withhold" for hit in asked.hits):
                    echoes.add((stage, truth.index.get(fact, len(truth.facts))))
            else:
                raise BadInput(
                    f"the observations answer probe {asked.probe!r}, which the timeline does not have"
                )
    flat = _Flat.of(places, probes, answers, truth)
    flat.check(timeline, lines, seen.head.k)
    stages = np.array([stage for stage, _ in lines], np.int64)
    unsupported = [
        (place, codes[name])
        for place, (_, line) in enumerate(lines)
        for name in line.unsupported
        if name in codes
    ]
    return Seen(
        current=flat.answers(timeline, truth, stages, unsupported, _CURRENT),
        travel=flat.answers(timeline, truth, stages, unsupported, _TRAVEL),
        echoes=frozenset(echoes),
    )


def _asked(timeline: Timeline, seen: Observations) -> list[tuple[int, StageSeen]]:
    """The asked stages in order. A line of a stage at which nothing was asked though probes were
    active says only how long the events took."""
    of_seq = {stage.seq: stage.index for stage in timeline.stages}
    lines: dict[int, StageSeen] = {}
    for line in seen.stages:
        stage = of_seq.get(line.seq)
        if stage is None:
            raise BadInput(
                f"the observations have a stage of seq {line.seq}, which is no stage of the timeline"
            )
        if stage in lines:
            raise BadInput(f"the observations have two stages of seq {line.seq}")
        lines[stage] = line
    return [
        (stage, line)
        for stage, line in sorted(lines.items(), key=lambda item: item[0])
        if line.asked or line.unsupported or not any(probe.active(line.seq) for probe in timeline.probes)
    ]


class _Codes(dict[str | None, int]):
    """Numbers of facts; all that is no fact has the same."""

    def __init__(self, index: Mapping[str, int], nothing: int) -> None:
        super().__init__(index.items())
        self._nothing = nothing

    def __missing__(self, fact: str | None) -> int:
        return self._nothing


class _Flat(Struct, frozen=True):
    """All answers of all modes, withheld hits included: per answer, then per hit."""

    place: Index
    probe: Index
    answer: Index
    fact: Index
    similarity: Floats
    confidence: Floats
    weight: Floats

    @classmethod
    def of(
        cls,
        places: Sequence[int],
        probes: Sequence[int],
        answers: Sequence[tuple[Hit, ...]],
        truth: GroundTruth,
    ) -> _Flat:
        hits = list(chain.from_iterable(answers))
        count = len(hits)
        lengths = np.fromiter(map(len, answers), np.int64, len(answers))
        code = _Codes(truth.index, len(truth.facts)).__getitem__
        return cls(
            place=np.array(places, np.int64),
            probe=np.array(probes, np.int64),
            answer=np.repeat(np.arange(len(answers)), lengths),
            fact=np.fromiter(map(code, map(attrgetter("fact"), hits)), np.int64, count),
            similarity=np.fromiter(map(attrgetter("similarity"), hits), np.float64, count),
            confidence=np.fromiter(map(attrgetter("confidence"), hits), np.float64, count),
            weight=np.fromiter(
                map(BAND_WEIGHT.__getitem__, map(attrgetter("band"), hits)), np.float64, count
            ),
        )

    def check(self, timeline: Timeline, lines: Sequence[tuple[int, StageSeen]], k: int) -> None:
        """Raise BadInput where an answer has more than k hits, or a probe or a fact twice."""
        wrong: list[tuple[int, str]] = []
        shown = np.bincount(self.answer[self.weight > 0], minlength=len(self.place))
        wrong += [(answer, f"more than k = {k} hits") for answer in np.flatnonzero(shown > k)[:1].tolist()]
        width = int(self.fact.max(initial=0)) + 1
        named = self.fact < len(timeline.facts)
        twice = _repeated(self.answer[named] * width + self.fact[named])
        wrong += [(place // width, "a fact twice") for place in twice[:1].tolist()]
        width = len(timeline.probes)
        for place in _repeated(self.place * width + self.probe)[:1].tolist():
            answer = int(np.flatnonzero(self.place * width + self.probe == place)[0])
            wrong.append((answer, "two answers"))
        for answer, what in wrong:
            probe, line = timeline.probes[self.probe[answer]], lines[self.place[answer]][1]
            raise BadInput(f"the observations have {what} for probe {probe.id!r} at seq {line.seq}")

    def answers(
        self,
        timeline: Timeline,
        truth: GroundTruth,
        asked: Index,
        unsupported: Collection[tuple[int, int]],
        modes: Collection[Mode],
    ) -> Answers:
        chosen = [code for code, probe in enumerate(timeline.probes) if probe.mode in modes]
        probes = tuple(timeline.probes[code] for code in chosen)
        seqs = np.array(truth.seqs, np.int64)[asked]
        first = np.searchsorted(seqs, np.array([probe.since for probe in probes], np.int64))
        until = [seqs.max(initial=0) + 1 if probe.until is None else probe.until for probe in probes]
        last = np.searchsorted(seqs, np.array(until, np.int64))
        active = (first <= np.arange(len(asked))[:, None]) & (np.arange(len(asked))[:, None] < last)
        place, probe = np.nonzero(active)
        row_of = np.full((len(asked), len(timeline.probes)), -1)
        row_of[place, np.array(chosen, np.int64)[probe]] = np.arange(len(place))
        row_of_answer = row_of[self.place, self.probe]
        row = row_of_answer[self.answer]
        keep = np.flatnonzero((row >= 0) & (self.weight > 0))
        if np.any(np.diff(row[keep]) < 0):
            keep = keep[np.argsort(row[keep], kind="stable")]
        row, fact = row[keep], self.fact[keep]
        introduced = np.append(truth.introduced, truth.never)
        refused = np.zeros(len(place), np.bool_)
        for at, code in unsupported:
            if row_of[at, code] >= 0:
                refused[row_of[at, code]] = True
        return Answers(
            probes=probes,
            asked=asked,
            row_of=row_of[:, chosen],
            first=first,
            last=last,
            place=place,
            stage=asked[place],
            probe=probe,
            unsupported=refused,
            row=row,
            fact=np.where(introduced[fact] <= asked[place][row], fact, len(truth.facts)),
            similarity=self.similarity[keep],
            confidence=self.confidence[keep],
            weight=self.weight[keep],
        )


def _repeated(places: Index) -> Index:
    ordered = np.sort(places)
    repeated: Index = ordered[1:][ordered[1:] == ordered[:-1]]
    return repeated
