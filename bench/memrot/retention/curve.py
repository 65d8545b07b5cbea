"""One dial against many: what a single TTL can and cannot do, drawn as the curve that it traces.

For each TTL, the conversations that it makes worse against (left) the share wrong of what is older than
it (METRICS.md §12) and (right) the conversations in which something untrue is still asserted. A policy
by class is beyond the curve where it has less of both than any one TTL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from memrot.layers.policy import ClassPolicy, Policy
from memrot.retention.audit import audit
from memrot.retention.beliefs import Belief
from memrot.retention.calibration import decay
from memrot.retention.replay import Replay
from memrot.retention.svg import Panel, Series, drawn
from memrot.stats import Rate

DAYS = (1, 2, 4, 7, 14, 21, 30, 45, 60, 90, 120, 180, 270, 365, 545, 730, 1095, 1825, 3650)
"""The sweep of the dial."""

_DECAY_DAYS = 1500.0
_STEPS = 60
_LABELLED = frozenset({1, 30, 90, 365, 3650})


class Point(Struct, frozen=True):
    """One policy on one set of conversations."""

    name: str
    days: int | None
    """Of a point on the curve."""
    regression: Rate
    outlived: Rate
    """Over all classes, of what is older than its lifetime."""
    asserted_wrong: Rate

    @classmethod
    def of(cls, name: str, replay: Replay, outlived: Rate, days: int | None = None) -> Point:
        return cls(name, days, replay.regression, outlived, replay.confidently_wrong)


def outlived_rate(beliefs: Sequence[Belief], policy: Policy) -> Rate:
    findings = audit(beliefs, policy)
    return Rate(sum(each.wrong.count for each in findings), sum(each.wrong.of for each in findings))


def one_ttl(days: float, beliefs: Iterable[Belief]) -> Policy:
    """For the second test: one lifetime, counted from the last validation, for every class there is."""
    classes = sorted({belief.fact_class for belief in beliefs})
    return Policy(classes={name: ClassPolicy(half_life_days=days) for name in classes})


Standing: TypeAlias = Literal["beyond", "on", "short of", "outside"]


def standing(point: Point, curve: Sequence[Point]) -> Standing:
    """Where a policy stands to the curve of regression against untrue assertions.

    *Beyond*: even with both of its rates at their high ends, the dial at that regression rate leaves
    more asserted wrong. *Short of*: even at their low ends it leaves less. *On*: the intervals do not
    tell. *Outside*: the curve does not reach there.
    """
    across, up = point.regression.bounds, point.asserted_wrong.bounds
    if across is None or up is None:
        return "outside"
    at_most, at_least = _dial(curve, across[1]), _dial(curve, across[0])
    if at_most is not None and up[1] < at_most:
        return "beyond"
    if at_least is not None and up[0] > at_least:
        return "short of"
    return "outside" if at_most is None and at_least is None else "on"


def _dial(curve: Sequence[Point], regression: float) -> float | None:
    """What the dial leaves asserted wrong at a regression rate, on the straight line between the two
    nearest TTLs."""
    known = sorted(
        (each.regression.value, each.asserted_wrong.value)
        for each in curve
        if each.regression.value is not None and each.asserted_wrong.value is not None
    )
    for (x0, y0), (x1, y1) in pairwise(known):
        if x0 <= regression <= x1:
            return min(y0, y1) if x1 == x0 else y0 + (y1 - y0) * (regression - x0) / (x1 - x0)
    return None


def figure(curve: Sequence[Point], policies: Sequence[Point]) -> str:
    """The SVG: two panels."""
    left = _panel(curve, policies, "outlived", "wrong of what is older than its lifetime")
    right = _panel(curve, policies, "asserted_wrong", "conversations with something untrue asserted")
    return drawn([left, right])


def decays(policy: Policy, confidence: float) -> str:
    """The SVG of how belief in an untouched fact of each fading class fades, over the bands."""
    days = [step * _DECAY_DAYS / _STEPS for step in range(_STEPS + 1)]
    bands = policy.bands
    return drawn(
        [
            Panel(
                title=f"Belief in a fact stored at {confidence:g} and never touched again",
                x="age in days",
                y="effective confidence",
                x_max=_DECAY_DAYS,
                y_max=1.0,
                series=[
                    Series(
                        name=name,
                        points=[
                            (day, value)
                            for day, (value, _) in zip(
                                days, decay(policy, name, confidence, days), strict=True
                            )
                        ],
                        line=True,
                    )
                    for name, each in policy.classes.items()
                    if each.half_life_days is not None
                ],
                levels=[(bands.assert_from, "asserted from here"), (bands.hedge_from, "hedged from here")],
            )
        ]
    )


def _panel(curve: Sequence[Point], policies: Sequence[Point], metric: str, said: str) -> Panel:
    def place(point: Point) -> tuple[float, float] | None:
        across, up = point.regression.value, getattr(point, metric).value
        return None if across is None or up is None else (across, up)

    def bounds(point: Point) -> tuple[float, float, float, float]:
        return (*(point.regression.bounds or (0, 0)), *(getattr(point, metric).bounds or (0, 0)))

    known = [(point, at) for point in curve if (at := place(point)) is not None]
    series = [
        Series(
            name="one TTL for all, 1 to 3,650 days",
            points=[at for _, at in known],
            labels=[f"{point.days} d" if point.days in _LABELLED else "" for point, _ in known],
            line=True,
        ),
        *(
            Series(name=point.name, points=[at], bounds=[bounds(point)])
            for point in policies
            if (at := place(point)) is not None
        ),
    ]
    highest = max(
        max((at[1] for each in series for at in each.points), default=0.0),
        *(high for each in series for *_, high in each.bounds),
        0.05,
    )
    return Panel(
        title=said,
        x="regression rate: conversations made worse",
        y=said,
        x_max=1.0,
        y_max=_round_up(highest),
        series=series,
    )


def _round_up(value: float) -> float:
    return next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0) if value <= step or step == 1.0)
