"""Every hit against the truth of its stage (METRICS.md §2), and what each probe should have brought.

Hits in ``grace`` are counted and then left out: they are in no numerator and no denominator, but for
recall. Arrays over the rows of ``Answers``, over the hits that are left, and over the pairs
(row, told true fact of its key).
"""

from __future__ import annotations

import numpy as np

from memrot.score.answers import Answers, Floats, Index
from memrot.score.world import World
from memrot.truth import Bools


class Judged:
    """Current-mode answers of one cell, judged."""

    def __init__(self, world: World, answers: Answers) -> None:
        self.world = world
        self.answers = answers
        self.rows = len(answers.stage)
        keys = world.truth.keys
        self.probe_key = np.array([keys.get(probe.key, -2) for probe in answers.probes], np.int64)
        """Shape (P,); -2 for a key that no fact ever has."""
        self.key = self.probe_key[answers.probe]
        self._judge_hits()
        self._pair()

    def _judge_hits(self) -> None:
        world, answers = self.world, self.answers
        row, fact = answers.row, answers.fact
        stage = answers.stage[row]
        ended = world.ends[fact] <= stage
        current = (world.begins[fact] <= stage) & ~ended
        value_true = current.copy()
        doubtful = np.flatnonzero(~current & (fact < world.nothing))
        value_true[doubtful] = world.true_of_value.at(world.values.of[fact[doubtful]], stage[doubtful]) > 0
        grace = ended & ~value_true & (stage < world.grace_ends[fact])
        own = world.key[fact] == self.key[row]
        recalled = own & world.told[fact]
        self.recalled = np.bincount(row[recalled], minlength=self.rows)
        """Shape (R,): told facts of the key among the hits, those in grace too."""
        self.in_grace = np.bincount(row[grace], minlength=self.rows)
        kept = np.flatnonzero(~grace)
        self.row, self.fact, self.stage = row[kept], fact[kept], stage[kept]
        self.similarity, self.confidence = answers.similarity[kept], answers.confidence[kept]
        self.weight = answers.weight[kept]
        self.asserted: Bools = self.weight == 1.0
        self.current: Bools = current[kept]
        self.value_true: Bools = value_true[kept]
        """Whether the hit's value is true of its key, whatever the state of the instance."""
        self.reasserted: Bools = (ended & value_true)[kept]
        self.stale: Bools = (ended & ~value_true)[kept]
        self.unattributed: Bools = self.fact == world.nothing
        self.early: Bools = ~self.current & ~ended[kept] & ~self.unattributed
        self.consistent: Bools = self.current | self.reasserted
        self.own: Bools = own[kept]
        """A hit on a fact of the probe's own key."""
        self.found: Bools = self.own & self.current & world.told[self.fact]
        """Hits that bring a pair's fact: pair and hit correspond, since an answer names a fact once."""
        self.fresh: Bools = np.zeros(len(kept), np.bool_)
        attributed = np.flatnonzero(~self.unattributed)
        self.fresh[attributed] = world.truth.fresh(self.fact[attributed], self.stage[attributed])

    def _pair(self) -> None:
        """Pairs (row, told true fact of the probe's key): METRICS.md §3, E."""
        world, answers = self.world, self.answers
        eligible = world.told & (world.begins < world.never)
        pairs = [
            (p, f)
            for p, key in enumerate(self.probe_key.tolist())
            if key >= 0
            for f in world.truth.facts_of_key[key]
            if eligible[f]
        ]
        probe, fact = np.array(pairs, np.int64).reshape(-1, 2).T
        start = np.maximum(np.searchsorted(answers.asked, world.begins[fact]), answers.first[probe])
        stop = np.minimum(np.searchsorted(answers.asked, world.ends[fact]), answers.last[probe])
        which, place = spans(start, stop)
        row = answers.row_of[place, probe[which]]
        order = np.argsort(row, kind="stable")
        self.pair_row, self.pair_fact = row[order], fact[which][order]

    def best(self) -> Index:
        """Shape (R,): each row's best-ranked hit on its own key, -1 without one."""
        best = np.full(self.rows, -1)
        own = np.flatnonzero(self.own)
        first = own[np.diff(self.row[own], prepend=-1) > 0]
        best[self.row[first]] = first
        return best

    def covered(self, k: int) -> tuple[Floats, Floats]:
        """Shape (R,): numerator and denominator of coverage_key (METRICS.md §3)."""
        world, values = self.world, self.world.values
        width = len(values.group) + 1
        stage = self.answers.stage[self.pair_row]
        fresh = world.truth.fresh(self.pair_fact, stage)
        place = self.pair_row * width + values.of[self.pair_fact]
        order = np.argsort(place, kind="stable")
        place, fresh = place[order], fresh[order]
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        value_fresh = np.logical_or.reduceat(fresh, starts) if len(starts) else fresh
        place = place[starts]
        own = self.own
        said = self.row[own] * width + values.of[self.fact[own]]
        asserted = among(place, said[self.asserted[own]])
        hedged = among(place, said[~self.asserted[own]])
        credit = np.where(asserted, 1.0, np.where(hedged, np.where(value_fresh, 0.5, 1.0), 0.0))
        row = place // width
        due = np.minimum(np.bincount(row, minlength=self.rows), k).astype(np.float64)
        return np.minimum(np.bincount(row, credit, minlength=self.rows), due), due


def spans(start: Index, stop: Index) -> tuple[Index, Index]:
    """Expand half-open ranges: for every place in them, which range it is of, and the place."""
    lengths = np.maximum(stop - start, 0)
    which = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return which, np.arange(len(which)) - before[which] + start[which]


def among(places: Index, others: Index) -> Bools:
    """Elementwise: whether a place is among the others."""
    ordered = np.sort(others)
    found = np.searchsorted(ordered, places)
    result: Bools = np.append(ordered, -1)[found] == places
    return result
