"""Who leaks and who over-forgets: every stale hit and every missed pair is charged once (METRICS.md §7)."""

from __future__ import annotations

from typing import get_args

import numpy as np

from memrot.model import PeekCause
from memrot.observations import Observations
from memrot.score.answers import Index
from memrot.score.judged import Judged, among
from memrot.score.world import World

CHARGES = ("ttl", "supersession", "propagation", "unknowable")
PEEK_CAUSES: tuple[PeekCause, ...] = get_args(PeekCause)
NOT_EXAMINED = "not examined"
_TTL, _SUPERSESSION, _PROPAGATION, _UNKNOWABLE = range(4)


def leaks(judged: Judged) -> tuple[dict[str, int], dict[str, int]]:
    """Leaks at scored stages by what should have prevented them: asserted ones, hedged ones."""
    world = judged.world
    told_of_end = world.told_ends[judged.fact] <= judged.stage
    untold = np.where(judged.fresh, _UNKNOWABLE, _TTL)
    charge = np.where(told_of_end, _charges(world)[judged.fact], untold)
    charge = np.where(judged.early, _TTL, charge)
    leaking = (judged.stale | judged.early) & (judged.stage >= world.first_scored)
    return _counted(charge[leaking & judged.asserted]), _counted(charge[leaking & ~judged.asserted])


def _charges(world: World) -> Index:
    """Per fact what should have acted on its told end."""
    told = world.told_truth
    of_cause = {"superseded": _SUPERSESSION, "contradicted": _SUPERSESSION, "elapsed": _TTL}
    charges = [of_cause.get(cause or "", _PROPAGATION) for cause in told.causes]
    for f, root in enumerate(told.roots.tolist()):
        if told.causes[root] == "elapsed":
            charges[f] = _TTL
    return np.array([*charges, _TTL])


def _counted(charges: Index) -> dict[str, int]:
    """By name, zeros left out."""
    counts = np.bincount(charges, minlength=len(CHARGES)).tolist()
    return {name: count for name, count in zip(CHARGES, counts, strict=True) if count}


def misses(judged: Judged, seen: Observations) -> dict[str, int]:
    """Missed pairs at scored stages by what diagnosis found for their fact at that stage."""
    world, width = judged.world, judged.world.nothing + 1
    stage = judged.answers.stage[judged.pair_row]
    found = among(judged.pair_row * width + judged.pair_fact, judged.row * width + judged.fact)
    missed = np.flatnonzero(~found & (stage >= world.first_scored))
    of_seq = {seq: stage for stage, seq in enumerate(world.truth.seqs)}
    peeks = {
        of_seq[peek.seq] * width + world.truth.index[fact]: PEEK_CAUSES.index(cause)
        for peek in seen.peeks
        for fact, cause in peek.facts.items()
        if peek.seq in of_seq and fact in world.truth.index
    }
    examined = np.array(sorted(peeks), np.int64)
    codes = np.array([*(peeks[place] for place in examined.tolist()), len(PEEK_CAUSES)])
    places = stage[missed] * width + judged.pair_fact[missed]
    found_at = np.searchsorted(examined, places)
    known = np.append(examined, -1)[found_at] == places
    counts = np.bincount(codes[np.where(known, found_at, -1)], minlength=len(PEEK_CAUSES) + 1)
    names = (*PEEK_CAUSES, NOT_EXAMINED)
    return {name: count for name, count in zip(names, counts.tolist(), strict=True) if count}
