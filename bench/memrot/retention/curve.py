"""One dial against many: what a single TTL can and cannot do, drawn as the curve that it traces.

For each TTL, the conversations that it makes worse against the share wrong of what is older than it
(METRICS.md §12), and against the conversations in which something untrue is still asserted; and these
against all that it costs, also what is right and only hedged. A policy by class lies beyond the curve
where it costs less than any one TTL that leaves as little untrue.
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
SOFT_DAYS = (7, 30, 90, 180, 365, 730)
"""The same dial where it hedges what is older, and withholds nothing."""

Metric: TypeAlias = Literal["regression", "outlived", "asserted_wrong", "spoiled"]
Axis: TypeAlias = tuple[Metric, str]
"""A metric and what it says."""
Cost: TypeAlias = Literal["regression", "spoiled"]

_DECAY_DAYS = 1500.0
_STEPS = 60
_LABELLED = frozenset({1, 30, 90, 365, 3650})


class Point(Struct, frozen=True):
    """One policy on one set of conversations."""

    name: str
    days: int | None
    """Of one TTL for all."""
    regression: Rate
    outlived: Rate
    """Over all classes, of what is older than its lifetime."""
    asserted_wrong: Rate
    spoiled: Rate
    """Made worse, or right and only hedged."""

    @classmethod
    def of(cls, name: str, replay: Replay, outlived: Rate, days: int | None = None) -> Point:
        return cls(name, days, replay.regression, outlived, replay.confidently_wrong, replay.spoiled)


def outlived_rate(beliefs: Sequence[Belief], policy: Policy) -> Rate:
    findings = audit(beliefs, policy)
    return Rate(sum(each.wrong.count for each in findings), sum(each.wrong.of for each in findings))


def one_ttl(days: float, beliefs: Iterable[Belief]) -> Policy:
    """For the second test: one lifetime, counted from the last validation, for every class there is."""
    classes = sorted({belief.fact_class for belief in beliefs})
    return Policy(classes={name: ClassPolicy(half_life_days=days) for name in classes})


Standing: TypeAlias = Literal["beyond", "on", "short of", "outside"]


def standing(point: Point, curve: Sequence[Point], cost: Cost = "regression") -> Standing:
    """Where a policy stands to the curve of a cost against untrue assertions.

    *Beyond*: even with both of its rates at their high ends, the dial at that cost leaves more asserted
    that is untrue. *Short of*: even at their low ends it leaves less. *On*: the intervals do not tell.
    *Outside*: the curve does not reach there.
    """
    across, up = _rate(point, cost).bounds, point.asserted_wrong.bounds
    if across is None or up is None:
        return "outside"
    at_most, at_least = _dial(curve, cost, across[1]), _dial(curve, cost, across[0])
    if at_most is not None and up[1] < at_most:
        return "beyond"
    if at_least is not None and up[0] > at_least:
        return "short of"
    return "outside" if at_most is None and at_least is None else "on"


def _dial(curve: Sequence[Point], cost: Cost, level: float) -> float | None:
    """What the dial leaves asserted untrue at a cost, on the straight line between the two nearest TTLs."""
    known = sorted(
        (across, up)
        for each in curve
        if (across := _rate(each, cost).value) is not None and (up := each.asserted_wrong.value) is not None
    )
    for (x0, y0), (x1, y1) in pairwise(known):
        if x0 <= level <= x1:
            return min(y0, y1) if x1 == x0 else y0 + (y1 - y0) * (level - x0) / (x1 - x0)
    return None


def figure(curve: Sequence[Point], soft: Sequence[Point], policies: Sequence[Point]) -> str:
    """The SVG: three panels."""
    worse: Axis = ("regression", "regression rate: conversations made worse")
    outlived: Axis = ("outlived", "wrong of what is older than its lifetime")
    untrue: Axis = ("asserted_wrong", "conversations with something untrue asserted")
    spoiled: Axis = ("spoiled", "conversations made worse, or right and only hedged")
    return drawn(
        [
            _panel(curve, soft, policies, *axes)
            for axes in ((worse, outlived), (worse, untrue), (spoiled, untrue))
        ]
    )


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
                        marked=False,
                    )
                    for name, each in policy.classes.items()
                    if each.half_life_days is not None
                ],
                levels=[(bands.assert_from, "asserted from here"), (bands.hedge_from, "hedged from here")],
            )
        ]
    )


def _panel(
    curve: Sequence[Point], soft: Sequence[Point], policies: Sequence[Point],
    across: Axis, up: Axis,
) -> Panel:  # fmt: skip
    axes = (across[0], up[0])
    series = [
        _line("one TTL for all, 1 to 3,650 days: older is withheld", curve, axes, labelled=True),
        _line("the same, soft: older is hedged", soft, axes, labelled=False),
        *(_mark(point, axes) for point in policies),
    ]
    highest = [at[1] for each in series for at in each.points] + [
        each[3] for s in series for each in s.bounds
    ]
    return Panel(
        title=up[1],
        x=across[1],
        y=up[1],
        x_max=1.0,
        y_max=_round_up(max(highest, default=0.0)),
        series=series,
    )


def _line(name: str, points: Sequence[Point], axes: tuple[Metric, Metric], *, labelled: bool) -> Series:
    known = [(point, at) for point in points if (at := _place(point, axes)) is not None]
    labels = [f"{point.days} d" if labelled and point.days in _LABELLED else "" for point, _ in known]
    return Series(name=name, points=[at for _, at in known], labels=labels, line=True)


def _mark(point: Point, axes: tuple[Metric, Metric]) -> Series:
    at = _place(point, axes)
    bounds = tuple(end for metric in axes for end in _rate(point, metric).bounds or (0.0, 0.0))
    left, right, low, high = bounds
    return Series(
        name=point.name,
        points=[] if at is None else [at],
        bounds=[] if at is None else [(left, right, low, high)],
    )


def _place(point: Point, axes: tuple[Metric, Metric]) -> tuple[float, float] | None:
    across, up = (_rate(point, metric).value for metric in axes)
    return None if across is None or up is None else (across, up)


def _rate(point: Point, metric: Metric) -> Rate:
    rate: Rate = getattr(point, metric)
    return rate


def _round_up(value: float) -> float:
    return next(step for step in (0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0) if value <= step or step == 1.0)
