"""What became of each fact in the answers (METRICS.md §3 forgetting@N, §5 lags and resurrection).

Arrays over facts, stages as indices. Only asked stages can show anything; between them a fact keeps
the state of the last asked one.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from memrot.model import DAY
from memrot.score.answers import Index, Seen
from memrot.score.judged import Judged
from memrot.truth import Bools, forgetting_schedule


class Lag(Struct, frozen=True):
    """Per fact of which it can be told: stages and days, None where the end came first (censored)."""

    stages: dict[str, int | None]
    days: dict[str, float | None]

    def summary(self) -> dict[str, float | None]:
        """Median, p95 and the censored share. A censored lag is longer than all others: a quantile
        that falls on one is unknown (None)."""
        count = len(self.stages)
        censored = sum(lag is None for lag in self.stages.values())
        return {
            "n": count,
            "censored": censored / count if count else None,
            "median_stages": _quantile(list(self.stages.values()), 0.5),
            "p95_stages": _quantile(list(self.stages.values()), 0.95),
            "median_days": _quantile(list(self.days.values()), 0.5),
            "p95_days": _quantile(list(self.days.values()), 0.95),
        }


class Lives(Struct, frozen=True):
    due: Index
    """Facts that are over: told, once true, and ended to the memory's knowledge."""
    eligible: Bools
    """Shape of ``due``: asked back in time (the others are the ineligible ends)."""
    forgotten: Bools
    """Shape of ``due``: neither retrieved as stale from the stage s on nor by its echo."""
    vanished: Index
    """Facts retrieved before their told end, and absent at an asked stage from then on."""
    resurrected: Bools
    """Shape of ``vanished``: retrieved as stale after that absence."""
    to_learn: Lag
    to_forget: Lag


def trace(judged: Judged, seen: Seen, forget_within: int) -> Lives:
    world, answers = judged.world, judged.answers
    truth, asked = world.truth, answers.asked
    schedule = forgetting_schedule(truth, world.told_truth, world.timeline, asked.tolist(), forget_within)
    due = np.array([truth.index[fact] for fact in schedule], np.int64)
    over = np.array([entry.ended for entry in schedule.values()], np.int64)
    asked_back = [entry.asked_back for entry in schedule.values()]
    back = np.array([world.never if s is None else s for s in asked_back], np.int64)
    last_stale = np.full(world.nothing + 1, -1)
    np.maximum.at(last_stale, judged.fact[judged.stale], judged.stage[judged.stale])
    # asked back as stale: an instance whose value has come true again is no sign of rot
    stale_then = world.true_of_value.at(world.values.of[due], back) == 0
    echoed = stale_then & np.array(
        [(s, f) in seen.echoes for s, f in zip(back.tolist(), due.tolist(), strict=True)], np.bool_
    )
    vanished, resurrected = _resurrected(judged, last_stale)
    return Lives(
        due=due,
        eligible=back < world.never,
        forgotten=(last_stale[due] < back) & ~echoed,
        vanished=vanished,
        resurrected=resurrected,
        to_learn=_to_learn(judged),
        to_forget=_to_forget(judged, due, over, last_stale),
    )


def _probed(judged: Judged, facts: Index) -> Index:
    """The facts whose key has a probe."""
    return facts[np.isin(judged.world.key[facts], judged.probe_key)]


def _to_learn(judged: Judged) -> Lag:
    """From the begin of a told fact until a probe of its key retrieves it while it is true."""
    world = judged.world
    first = np.full(world.nothing + 1, world.never)
    np.minimum.at(first, judged.fact[judged.found], judged.stage[judged.found])
    facts = _probed(judged, np.flatnonzero(world.told & (world.begins < world.never)))
    return _lag(judged, facts, world.begins[facts], first[facts])


def _to_forget(judged: Judged, due: Index, over: Index, last_stale: Index) -> Lag:
    """From stage j until the asked stage after the last retrieval as stale."""
    world, asked = judged.world, judged.answers.asked
    begun = over < world.never
    facts = _probed(judged, due[begun])
    since = over[begun][np.isin(due[begun], facts)]
    last = last_stale[facts]
    after = np.append(asked, world.never)[np.searchsorted(asked, last, side="right")]
    return _lag(judged, facts, since, np.where(last < since, since, after))


def _lag(judged: Judged, facts: Index, since: Index, until: Index) -> Lag:
    truth = judged.world.truth
    stages: dict[str, int | None] = {}
    days: dict[str, float | None] = {}
    for f, start, stop in zip(facts.tolist(), since.tolist(), until.tolist(), strict=True):
        fact, reached = truth.fact_ids[f], stop < truth.never
        stages[fact] = stop - start if reached else None
        days[fact] = float(truth.times[stop] - truth.times[start]) / DAY if reached else None
    return Lag(stages=stages, days=days)


def _resurrected(judged: Judged, last_stale: Index) -> tuple[Index, Bools]:
    world, answers, asked = judged.world, judged.answers, judged.answers.asked
    # all hits, since a fact in its grace is no less present
    ended = world.told_ends[answers.fact] <= answers.stage[answers.row]
    before = np.zeros(world.nothing + 1, np.bool_)
    before[answers.fact[~ended]] = True
    facts = np.flatnonzero(before[:-1] & (world.told_ends[:-1] < world.never))
    start = np.searchsorted(asked, world.told_ends)
    # presence from the told end on, as sorted (fact, place) without repeats; its first gap
    fact, place = answers.fact[ended], answers.place[answers.row[ended]]
    width = len(asked) + 1
    present = np.sort(fact * width + place)
    present = present[np.diff(present, prepend=-1) > 0]
    fact, place = present // width, present % width
    nth = np.arange(len(present)) - np.searchsorted(fact, fact)
    unbroken = np.bincount(fact[place - start[fact] == nth], minlength=world.nothing + 1)
    gap = (start + unbroken)[facts]
    vanished = gap < len(asked)
    facts, gap = facts[vanished], gap[vanished]
    return facts, last_stale[facts] > asked[gap]


def _quantile(lags: list[int | None] | list[float | None], share: float) -> float | None:
    if not lags:
        return None
    ordered = np.sort([np.inf if lag is None else lag for lag in lags])
    value = float(np.quantile(ordered, share, method="inverted_cdf"))
    return None if np.isinf(value) else value
