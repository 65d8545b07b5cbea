"""Paired differences of two rows: metrics, leaks and misses over the timelines that both answered.

A difference is always the second row less the first. P-values are Holm-corrected over the metrics
shown, and over the layers among the leaks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from memrot import stats
from memrot.diagnose import total
from memrot.errors import BadInput
from memrot.leaderboard.rows import METRICS, Pick, whole
from memrot.results import Scored
from memrot.score import Scores
from memrot.score.leaks import CHARGES
from memrot.stats import LEVEL, Interval

Pairs = Sequence[tuple[Scored, Scored]]

_DRIVING = 0.5
"""Scenarios are named until they make up this share of what moves in the difference's direction."""


class Driver(Struct, frozen=True):
    scenario: str
    share: float
    """Of what moves in the difference's direction."""


class Change(Struct, frozen=True, kw_only=True):
    metric: str
    first: float
    second: float
    difference: Interval
    p: float | None
    """Corrected; None where one seed cannot tell."""
    drivers: tuple[Driver, ...]

    @property
    def significant(self) -> bool:
        return self.p is not None and self.p < 1 - LEVEL


class Leaks(Struct, frozen=True, kw_only=True):
    """Stale hits charged to one layer, over the shared timelines: (first row, second row)."""

    layer: str
    asserted: tuple[int, int]
    hedged: tuple[int, int]
    p: float | None
    """Corrected, of the difference a timeline of what ``charged`` counts."""
    everywhere: tuple[bool, bool]
    """Whether a row leaks on every timeline: then it needs no p-value, which two timelines cannot give."""

    @property
    def charged(self) -> tuple[int, int]:
        """What the layer's presence does away with: soft TTLs hedge, the others end facts."""
        if self.layer == "ttl":
            return self.asserted
        return self.asserted[0] + self.hedged[0], self.asserted[1] + self.hedged[1]


class Comparison(Struct, frozen=True, kw_only=True):
    first: str
    second: str
    timelines: int
    """Those that both answered."""
    left_out: int
    scenarios: dict[str, tuple[float, float, Interval]]
    """Lifecycle scores by scenario, and their difference."""
    changes: tuple[Change, ...]
    leaks: tuple[Leaks, ...]
    misses: dict[str, tuple[int, int]]

    def change(self, metric: str) -> Change | None:
        return next((each for each in self.changes if each.metric == metric), None)


class Bound(Struct, frozen=True):
    """``consistency<-0.02``: the difference that must not be."""

    metric: str
    less: bool
    value: float

    @classmethod
    def parse(cls, text: str) -> Bound:
        match = re.fullmatch(r"\s*(\w+)\s*([<>])\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*", text)
        if match is None or match[1] not in METRICS:
            raise BadInput(
                f"--fail-on: expected METRIC<VALUE or METRIC>VALUE with a metric of {', '.join(METRICS)}, "
                f"got {text!r}"
            )
        return cls(match[1], match[2] == "<", float(match[3]))

    def broken_by(self, comparison: Comparison) -> str | None:
        """Why the bound is not kept, in words; an undefined difference keeps none."""
        change = comparison.change(self.metric)
        if change is None:
            return f"the difference in {self.metric} is undefined"
        mean = change.difference.mean
        if mean < self.value if self.less else mean > self.value:
            side = "under" if self.less else "over"
            return f"{self.metric} differs by {mean:+.4f}, {side} {self.value:g}"
        return None


def compare(first: str, ours: Sequence[Scored], second: str, theirs: Sequence[Scored]) -> Comparison:
    """Compare the cells of two rows; raises BadInput where they answered no timeline in common."""
    pairs = _paired(ours, theirs)
    if not pairs:
        raise BadInput(f"{first} and {second} answered no timeline in common")
    timelines = {each.cell.timeline.digest for each in (*ours, *theirs)}
    return Comparison(
        first=first,
        second=second,
        timelines=len(pairs),
        left_out=len(timelines) - len(pairs),
        scenarios=_by_scenario(pairs),
        changes=_changes(pairs),
        leaks=_leaks(pairs),
        misses=_misses(pairs),
    )


def _paired(ours: Sequence[Scored], theirs: Sequence[Scored]) -> Pairs:
    answered = {each.cell.timeline.digest: each for each in theirs if each.scores is not None}
    return [
        (each, answered[each.cell.timeline.digest])
        for each in ours
        if each.scores is not None and each.cell.timeline.digest in answered
    ]


def _values(pairs: Pairs, pick: Pick) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Scenario -> values a seed, of both rows, where both define them."""
    first: dict[str, list[float]] = {}
    second: dict[str, list[float]] = {}
    for a, b in pairs:
        x, y = pick(a), pick(b)
        if x is not None and y is not None:
            first.setdefault(a.cell.timeline.id, []).append(float(x))
            second.setdefault(a.cell.timeline.id, []).append(float(y))
    return first, second


def _changes(pairs: Pairs) -> tuple[Change, ...]:
    found = []
    for metric in METRICS:
        first, second = _values(pairs, whole(metric))
        if first:
            found.append((metric, first, second, stats.difference(second, first)))
    ps = _corrected([each for *_, each in found])
    return tuple(
        Change(
            metric=metric,
            first=stats.interval(list(first.values())).mean,
            second=stats.interval(list(second.values())).mean,
            difference=difference,
            p=p,
            drivers=_drivers(first, second),
        )
        for (metric, first, second, difference), p in zip(found, ps, strict=True)
    )


def _corrected(intervals: Sequence[Interval]) -> list[float | None]:
    """Holm over those that have a p-value."""
    known = iter(stats.holm([each.p for each in intervals if each.p is not None]))
    return [None if each.p is None else next(known) for each in intervals]


def _drivers(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> tuple[Driver, ...]:
    """The scenarios that make up most of a difference, largest first."""
    means = {
        name: stats.interval([[y - x for x, y in zip(first[name], second[name], strict=True)]]).mean
        for name in first
    }
    upwards = sum(means.values()) > 0
    moved = {name: abs(mean) for name, mean in means.items() if mean and (mean > 0) == upwards}
    named: list[Driver] = []
    for name in sorted(moved, key=lambda name: (-moved[name], name)):
        if sum(each.share for each in named) >= _DRIVING:
            break
        named.append(Driver(name, moved[name] / sum(moved.values())))
    return tuple(named)


def _by_scenario(pairs: Pairs) -> dict[str, tuple[float, float, Interval]]:
    first, second = _values(pairs, whole("lifecycle"))
    return {
        name: (
            stats.interval([first[name]]).mean,
            stats.interval([second[name]]).mean,
            stats.difference({name: second[name]}, {name: first[name]}),
        )
        for name in first
    }


def _leaks(pairs: Pairs) -> tuple[Leaks, ...]:
    def charged(layer: str) -> Pick:
        def picked(cell: Scored) -> float | None:
            scores = cell.scores
            if scores is None:
                return None
            hedged = 0 if layer == "ttl" else scores.leaks_hedged.get(layer, 0)
            return scores.leaks.get(layer, 0) + hedged

        return picked

    differences, everywhere = [], []
    for layer in CHARGES:
        first, second = _values(pairs, charged(layer))
        differences.append(stats.difference(second, first))
        everywhere.append((_always(first), _always(second)))
    asserted = [total(each.leaks for each in side) for side in _scores(pairs)]
    hedged = [total(each.leaks_hedged for each in side) for side in _scores(pairs)]
    return tuple(
        Leaks(
            layer=layer,
            asserted=(asserted[0].get(layer, 0), asserted[1].get(layer, 0)),
            hedged=(hedged[0].get(layer, 0), hedged[1].get(layer, 0)),
            p=p,
            everywhere=each,
        )
        for layer, p, each in zip(CHARGES, _corrected(differences), everywhere, strict=True)
    )


def _always(leaks: Mapping[str, Sequence[float]]) -> bool:
    return all(count > 0 for counts in leaks.values() for count in counts)


def _misses(pairs: Pairs) -> dict[str, tuple[int, int]]:
    first, second = (total(each.misses for each in side) for side in _scores(pairs))
    return {cause: (first.get(cause, 0), second.get(cause, 0)) for cause in sorted({*first, *second})}


def _scores(pairs: Pairs) -> tuple[list[Scores], list[Scores]]:
    """Of both rows: every paired cell was answered."""
    first = [a.scores for a, _ in pairs if a.scores is not None]
    second = [b.scores for _, b in pairs if b.scores is not None]
    return first, second
