"""The questions that are put only at certain stages (METRICS.md §4): what is quiet, revised, forgotten."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from memrot.model import FactRevised, is_announced, names
from memrot.score.answers import Floats, Index
from memrot.score.judged import Judged, among
from memrot.truth import Bools


class Put(Struct, frozen=True):
    """A question put once about a fact at an asked stage, and whether it was passed."""

    place: Index
    fact: Index
    passed: Floats

    @classmethod
    def of(cls, items: list[tuple[int, int, bool]]) -> Put:
        place, fact, passed = np.array(items, np.int64).reshape(-1, 3).T
        return cls(place=place, fact=fact, passed=passed.astype(np.float64))


def quiet_rows(judged: Judged) -> Bools:
    """Shape (R,): no fact of the row's key begins, ends or is named at its stage."""
    world = judged.world
    truth, width = world.truth, world.never + 1
    named = [
        (truth.index[fact], stage.index)
        for stage in world.timeline.stages
        for event in stage.events
        for fact in names(event)
    ]
    fact, stage = np.array(named, np.int64).reshape(-1, 2).T
    everything = np.arange(world.nothing)
    facts = np.concatenate([fact, everything, everything])
    stages = np.concatenate([stage, world.begins[:-1], world.ends[:-1]])
    touched = world.key[facts] * width + stages
    return ~among(judged.key * width + judged.answers.stage, touched)


def revisions(judged: Judged) -> Put:
    """Per announced revision whose current begins at an asked stage at which its key has a probe:
    every probe of the key retrieves it, and no stale fact of the key."""
    world, answers = judged.world, judged.answers
    truth, width = world.truth, world.nothing + 1
    place_of = {stage: place for place, stage in enumerate(answers.asked.tolist())}
    spoiled = np.bincount(judged.row[judged.stale & judged.own], minlength=judged.rows) > 0
    items, rows, facts = [], [], []
    for event in world.timeline.events:
        if not isinstance(event, FactRevised) or not is_announced(event):
            continue
        f = truth.index[event.current.id]
        place = place_of.get(int(truth.begins[f]))
        if place is None:
            continue
        active = answers.row_of[place, judged.probe_key == world.key[f]]
        for row in active[active >= 0].tolist():
            items.append((place, f))
            rows.append(row)
            facts.append(f)
    asked = np.array(rows, np.int64)
    retrieved = among(asked * width + np.array(facts, np.int64), judged.row * width + judged.fact)
    passed: dict[tuple[int, int], bool] = {}
    for item, good in zip(items, (retrieved & ~spoiled[asked]).tolist(), strict=True):
        passed[item] = passed.get(item, True) and good
    return Put.of([(*item, good) for item, good in passed.items()])


def forgettings(judged: Judged) -> Put:
    """Per told fact that an announced invalidation ended, itself or in its cascade, at an asked stage
    at which its key has a probe: no probe retrieves it."""
    world, answers = judged.world, judged.answers
    truth = world.truth
    announced = {event.seq for event in world.timeline.events if is_announced(event)}
    place_of = {stage: place for place, stage in enumerate(answers.asked.tolist())}
    retrieved = np.zeros(world.nothing + 1, np.bool_)
    retrieved[judged.fact[world.ends[judged.fact] == judged.stage]] = True
    items = []
    for f in np.flatnonzero(truth.told & (truth.begins < world.never)).tolist():
        place = place_of.get(int(truth.ends[f]))
        if (
            place is None
            or truth.causes[truth.roots[f]] != "invalidated"
            or truth.ended_by[f] not in announced
        ):
            continue
        if np.any(answers.row_of[place, judged.probe_key == world.key[f]] >= 0):
            items.append((place, f, not retrieved[f]))
    return Put.of(items)
