"""The truth as arrays made for looking up hits: one place more than facts, for the fact that is none."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import get_args

import numpy as np
from msgspec import Struct

from memrot.model import FactInvalidated, Reason
from memrot.score.answers import Index
from memrot.timeline import Timeline
from memrot.truth import Bools, GroundTruth


class Counts:
    """How many members of a group stand at a stage, each from its start to its stop (exclusive)."""

    def __init__(self, groups: Index, starts: Index, stops: Index, never: int) -> None:
        self._width = never + 1
        places = np.concatenate([groups * self._width + starts, groups * self._width + stops])
        order = np.argsort(places, kind="stable")
        steps = np.repeat(np.array([1, -1]), len(groups))[order]
        self._places = places[order]
        # whatever starts stops at last, so nothing of one group is carried into the next; the 0 at
        # the end is read (as place -1) where no step precedes
        self._standing = np.append(np.cumsum(steps), 0)

    def at(self, groups: Index, stages: Index) -> Index:
        last = np.searchsorted(self._places, groups * self._width + stages, side="right") - 1
        standing: Index = self._standing[last]
        return standing


class Sides(Struct, frozen=True):
    """Facts split into groups, and each group into sides; sides are numbered in the order of groups."""

    of: Index
    """Shape (F + 1,): the side of a fact, -1 outside every group."""
    group: Index
    """Shape (sides,): the group of a side."""

    @classmethod
    def split(cls, count: int, members: Iterable[tuple[int, Hashable, Hashable]]) -> Sides:
        """From ``(fact, group, side)``."""
        groups: dict[Hashable, dict[Hashable, list[int]]] = {}
        for fact, group, side in members:
            groups.setdefault(group, {}).setdefault(side, []).append(fact)
        of = np.full(count + 1, -1)
        group_of: list[int] = []
        for code, sides in enumerate(groups.values()):
            for facts in sides.values():
                of[facts] = len(group_of)
                group_of.append(code)
        return cls(of=of, group=np.array(group_of, np.int64))

    def torn(self, rows: Index, facts: Index, count: int) -> Bools:
        """Shape (count,): the rows that hold two sides of one group."""
        sides = self.of[facts]
        inside = sides >= 0
        width = len(self.group) + 1
        held = np.sort(rows[inside] * width + sides[inside])
        row, side = held // width, held % width
        clash = (row[1:] == row[:-1]) & (side[1:] != side[:-1])
        clash &= self.group[side[1:]] == self.group[side[:-1]]
        torn = np.zeros(count, np.bool_)
        torn[row[1:][clash]] = True
        return torn


class World:
    """Both truths of a timeline; arrays have the shape (F + 1,) unless said otherwise."""

    def __init__(self, timeline: Timeline) -> None:
        truth, told = GroundTruth.of(timeline), GroundTruth.of(timeline, announced_only=True)
        facts, never = truth.facts, truth.never
        self.timeline = timeline
        self.truth = truth
        self.told_truth = told
        self.never = never
        self.nothing = len(facts)
        """The number that stands for no fact."""
        self.begins = np.append(truth.begins, never).astype(np.int64)
        self.ends = np.append(truth.ends, never).astype(np.int64)
        self.grace_ends = np.append(truth.grace_ends, never).astype(np.int64)
        self.told_ends = np.append(told.ends, never).astype(np.int64)
        self.told: Bools = np.append(truth.told, np.False_)
        self.key = np.append(truth.key_of, -1).astype(np.int64)
        self.domains = list(timeline.header.domains)
        self.domain = np.array([*(self.domains.index(fact.domain) for fact in facts), -1])
        self.reason = self._reasons()
        """Of the invalidation with which a fact fell, by its place in ``Reason``; -1 for another end."""
        self.values = Sides.split(self.nothing, ((f, fact.key, fact.value) for f, fact in enumerate(facts)))
        """A key's values."""
        self.single_values = Sides.split(
            self.nothing,
            ((f, fact.key, fact.value) for f, fact in enumerate(facts) if fact.cardinality == "one"),
        )
        self.exclusive_subjects = Sides.split(
            self.nothing,
            (
                (f, (fact.predicate, fact.value), fact.subject)
                for f, fact in enumerate(facts)
                if fact.predicate in timeline.header.exclusive
            ),
        )
        was_true = np.flatnonzero(truth.begins < never)
        self.true_of_value = Counts(
            self.values.of[was_true], self.begins[was_true], self.ends[was_true], never
        )
        told_true = was_true[truth.told[was_true]]
        self.told_true_of_key = Counts(
            self.key[told_true], self.begins[told_true], self.ends[told_true], never
        )
        heard = np.flatnonzero(truth.told)
        self.told_of_key = Counts(
            self.key[heard], truth.introduced[heard].astype(np.int64), np.full(len(heard), never), never
        )
        self.first_scored = int(truth.ends[was_true].min(initial=never)) % never if never else 0
        """The stage of the first end of a true fact; the first stage where nothing ends."""

    def _reasons(self) -> Index:
        truth = self.truth
        reasons = get_args(Reason)
        of_seq = {
            event.seq: reasons.index(event.reason)
            for event in self.timeline.events
            if isinstance(event, FactInvalidated)
        }
        return np.array(
            [
                *(
                    of_seq[seq] if truth.causes[root] == "invalidated" and seq is not None else -1
                    for root, seq in zip(truth.roots.tolist(), truth.ended_by, strict=True)
                ),
                -1,
            ]
        )
