"""How long facts of a project stay true: Weibull draws fitted to public histories.

The table was measured on 42 public repositories, 17,437 facts: Kaplan-Meier medians with
right-censoring, Weibull shapes. Shapes below 1 mean that young facts are fragile and old ones sturdy,
which one exponential half-life cannot say. Medians vary 3 to 20-fold between projects, so every
timeline has a multiplier of its own: the one with which its number of changes fills its horizon.

Facts about people have no such table: no public history shows when a private fact ended. Their
medians are rough and assumed, apart from any retention policy's lifetimes, and matter only relative to
each other; that young facts are fragile (shapes below 1) is carried over.

Draws are inverse transforms of ``Random.random()``, the one method whose sequence Python promises to
keep, and leave this module only as whole hours.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from random import Random
from typing import Literal, TypeAlias

HOURS = 24
"""Hours in a day."""

Kind: TypeAlias = Literal[
    "roster", "member", "lead", "owner", "decision", "requirement", "dependency", "pin", "image",
    "birth", "home", "contact", "job", "taste", "tie", "task", "plan", "event", "paper",
]  # fmt: skip

_MEDIAN_AND_SHAPE: dict[Kind, tuple[float, float]] = {
    "roster": (183, 0.62),
    "member": (912, 0.72),
    "lead": (746, 1.0),
    "owner": (575, 0.58),
    "decision": (175, 0.51),
    "requirement": (263, 1.1),
    "dependency": (1289, 0.49),
    "pin": (39, 0.64),
    "image": (35, 0.54),
    # assumed
    "birth": (30_000, 1.0),
    "home": (1500, 0.8),
    "contact": (1100, 0.8),
    "job": (1000, 0.8),
    "taste": (600, 0.6),
    "tie": (900, 0.6),
    "task": (30, 0.7),
    "plan": (60, 0.8),
    "event": (120, 0.8),
    "paper": (2500, 1.0),
}

REVERSAL_DAYS: dict[str, float] = {"OWNERSHIP": 67, "DECISION": 84, "REQUIREMENT": 26, "TECH": 14}
"""Median days that B lasts in A -> B -> A, by domain."""

LAG_DAYS = 25
"""Days by which the copy of an ownership fact in another place lags the original (median 18 to 31)."""


MOST = 3
"""Renewals of a key by churn."""


def days(rng: Random, kind: Kind) -> float:
    """One lifetime, in days, at multiplier 1."""
    median, shape = _MEDIAN_AND_SHAPE[kind]
    survived = 1.0 - rng.random()
    return float(median * (-math.log(survived) / math.log(2.0)) ** (1.0 / shape))


def around(rng: Random, median: float) -> float:
    """Days about a known median, between half and twice it: for lags and detours."""
    return float(median * 2.0 ** (2.0 * rng.random() - 1.0))


def churn(
    rng: Random, kinds: Sequence[Kind], changes: int, horizon_days: float
) -> tuple[tuple[int, ...], ...]:
    """Renewals of one fact a key until ``changes`` have happened: per key, hours from
    each end to the next, stretched by this project's multiplier so that they fill the horizon.

    No key is renewed more than ``MOST`` times: the dead facts of one question must not push each
    other out of the first k, or a memory that never forgets would seem to.
    """
    if changes > MOST * len(kinds):
        raise ValueError(f"expected at most {MOST} changes a key, got {changes} for {len(kinds)} keys")
    due = [(days(rng, kind), key) for key, kind in enumerate(kinds)]
    heapq.heapify(due)
    ends: list[list[float]] = [[] for _ in kinds]
    last = 1.0
    for _ in range(changes):
        last, key = heapq.heappop(due)
        ends[key].append(last)
        if len(ends[key]) < MOST:
            heapq.heappush(due, (last + days(rng, kinds[key]), key))
    multiplier = horizon_days / last
    hours = [[round(end * multiplier * HOURS) for end in of_key] for of_key in ends]
    return tuple(
        tuple(after - before for before, after in zip((0, *of_key), of_key, strict=False)) for of_key in hours
    )
