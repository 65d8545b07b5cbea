"""Answers about other times (METRICS.md §8): what held at T as told by the asking stage, and history.

As of T a hit is consistent if its fact holds at T, or another one of its key and value does; in a
history, if it was told. Here, too, stages before the first end are left out, and so are answers of a
memory that cannot serve the mode.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from memrot.model import NEVER, Mode
from memrot.score.answers import Answers, Index
from memrot.score.judged import among, spans
from memrot.score.shares import Share, share
from memrot.score.world import World
from memrot.truth import Bools

Travel: TypeAlias = dict[str, dict[str, Share]]

MODES: tuple[Mode, ...] = ("as_of", "history")


def time_travel(world: World, answers: Answers) -> Travel:
    """Per mode that was asked: n (answers), unsupported (of these), coverage, consistency."""
    past = _Past(world)
    of_probe = np.array([MODES.index(probe.mode) for probe in answers.probes], np.int64)
    mode = of_probe[answers.probe]
    scored = answers.stage >= world.first_scored
    served = scored & ~answers.unsupported
    at = np.array([probe.as_of or 0 for probe in answers.probes], np.int64)[answers.probe]
    key = np.array([world.truth.keys.get(probe.key, -1) for probe in answers.probes], np.int64)[answers.probe]

    def belongs(facts: Index, rows: Index) -> Bools:
        told = past.told(facts, answers.stage[rows])
        result: Bools = told & ((mode[rows] == 1) | past.holds(facts, at[rows], answers.stage[rows]))
        return result

    asked = np.flatnonzero(served & (key >= 0))
    which, fact = _members(world.key, len(world.truth.keys), key[asked])
    row = asked[which]
    due = belongs(fact, row)
    row, fact = row[due], fact[due]
    width = world.nothing + 1
    found = among(row * width + fact, answers.row * width + answers.fact)

    hits = np.flatnonzero(served[answers.row])
    hit_row, hit_fact = answers.row[hits], answers.fact[hits]
    consistent = belongs(hit_fact, hit_row)
    which, twin = _members(world.values.of, len(world.values.group), world.values.of[hit_fact])
    agreeing = belongs(twin, hit_row[which])
    consistent |= np.bincount(which[agreeing], minlength=len(hits)) > 0

    travel: Travel = {}
    for code, name in enumerate(MODES):
        if not np.any(scored & (mode == code)):
            continue
        of_pairs, of_hits = mode[row] == code, mode[hit_row] == code
        travel[name] = {
            "n": int(np.sum(scored & (mode == code))),
            "unsupported": int(np.sum(scored & (mode == code) & answers.unsupported)),
            "coverage": share(float(np.sum(found & of_pairs)), float(np.sum(of_pairs))),
            "consistency": share(float(np.sum(consistent & of_hits)), float(np.sum(of_hits))),
        }
    return travel


class _Past:
    """The told truth in world time; arrays have one place more, for the fact that is none."""

    def __init__(self, world: World) -> None:
        told = world.told_truth
        self._introduced = np.append(told.introduced, told.never)
        self._ends = world.told_ends
        self._from = np.append(told.holds_from, NEVER)
        self._until = np.append(told.holds_until, NEVER)
        self._valid_to = np.array([*(fact.valid_to for fact in told.facts), NEVER])

    def told(self, facts: Index, stages: Index) -> Bools:
        result: Bools = self._introduced[facts] <= stages
        return result

    def holds(self, facts: Index, at: Index, stages: Index) -> Bools:
        """Whether a fact holds at an instant, with the ends that are told by a stage."""
        until = np.where(self._ends[facts] <= stages, self._until[facts], self._valid_to[facts])
        result: Bools = (self._from[facts] <= at) & (at < until)
        return result


def _members(group_of: Index, count: int, wanted: Index) -> tuple[Index, Index]:
    """The facts of the wanted groups (-1: none): which wanted one each is for, and the fact."""
    by_group = np.argsort(group_of[:-1], kind="stable")
    starts = np.searchsorted(group_of[:-1][by_group], np.arange(count + 1))
    known = np.flatnonzero(wanted >= 0)
    which, place = spans(starts[wanted[known]], starts[wanted[known] + 1])
    return known[which], by_group[place]
