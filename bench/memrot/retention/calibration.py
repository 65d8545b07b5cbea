"""Whether effective confidence means what it says: four fifths of what is believed at .8 should be true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from memrot.layers.policy import Policy
from memrot.model import DAY
from memrot.retention.beliefs import Belief
from memrot.stats import Rate

BINS = 10


class Bin(Struct, frozen=True):
    """Beliefs of like confidence: how sure, and how often right."""

    confidence: float
    true: Rate


class Calibration(Struct, frozen=True):
    fact_class: str
    n: int
    brier: float
    """Mean squared difference between confidence and truth (1 or 0): 0 is perfect, .25 a coin."""
    bins: tuple[Bin, ...]


def calibrated(beliefs: Iterable[Belief], policy: Policy) -> list[Calibration]:
    """Per class of what was believed and can be checked, and of all together."""
    judged: dict[str, list[tuple[float, bool]]] = {}
    for belief in beliefs:
        if belief.true is not None:
            confidence = policy.of(belief.fact_class).effective_confidence(belief, belief.at)
            judged.setdefault(belief.fact_class, []).append((confidence, belief.true))
            judged.setdefault("all", []).append((confidence, belief.true))
    return [_calibration(name, pairs) for name, pairs in sorted(judged.items())]


def _calibration(name: str, pairs: Sequence[tuple[float, bool]]) -> Calibration:
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, true in pairs:
        bins[min(int(confidence * BINS), BINS - 1)].append((confidence, true))
    return Calibration(
        fact_class=name,
        n=len(pairs),
        brier=sum((confidence - true) ** 2 for confidence, true in pairs) / len(pairs),
        bins=tuple(
            Bin(
                sum(confidence for confidence, _ in each) / len(each),
                Rate(sum(true for _, true in each), len(each)),
            )
            for each in bins
            if each
        ),
    )


def decay(
    policy: Policy, fact_class: str, confidence: float, days: Sequence[float]
) -> list[tuple[float, str]]:
    """Effective confidence and band of a fact of a class at some ages, nobody having touched it."""
    each = policy.of(fact_class)
    fact = Belief(
        id="", fact_class=fact_class, subject="", predicate="", value="", confidence=confidence,
        observed_at=0, last_confirmed_at=0, at=0,
    )  # fmt: skip
    values = [each.effective_confidence(fact, round(day * DAY)) for day in days]
    return [(value, policy.bands.of(value)) for value in values]
