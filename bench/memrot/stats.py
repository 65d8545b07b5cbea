"""Intervals, paired differences and ranks over scenarios and seeds (METRICS.md §11).

Scenarios are fixed and weigh equally, seeds are drawn: a row's value is the mean of its scenario
means, and what varies is the seeds within each scenario, so their variance is pooled over scenarios.
An interval speaks of new seeds, not of new scenarios.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import TypeAlias

from msgspec import Struct

Values: TypeAlias = Mapping[str, Sequence[float]]
"""Scenario -> a row's values, one a seed."""

LEVEL = 0.95

_NOISE = 1e-12
"""Differences below this are rounding: scores are sums of a few thousand terms."""


class Interval(Struct, frozen=True):
    """A mean of scenario means with its 95% bounds; None where no scenario has a second seed."""

    mean: float
    low: float | None
    high: float | None
    p: float | None
    """Two-sided, of the mean being 0."""


class Rate(Struct, frozen=True):
    """``count`` of ``of``, with Wilson's 95% interval; all None where nothing was counted."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        z = NormalDist().inv_cdf((1 + LEVEL) / 2)
        share, weight = self.count / self.of, z * z / self.of
        middle = (share + weight / 2) / (1 + weight)
        half = z * sqrt(share * (1 - share) / self.of + weight / self.of / 4) / (1 + weight)
        return max(0.0, middle - half), min(1.0, middle + half)


def interval(scenarios: Sequence[Sequence[float]]) -> Interval:
    """From a sequence of values per scenario, one a seed (none may be empty)."""
    if not scenarios or not all(scenarios):
        raise ValueError("expected at least one value for every scenario")
    means = [sum(values) / len(values) for values in scenarios]
    mean = sum(means) / len(means)
    freedom = sum(len(values) - 1 for values in scenarios)
    if freedom == 0:
        return Interval(mean, None, None, None)
    squares = sum((x - m) ** 2 for values, m in zip(scenarios, means, strict=True) for x in values)
    error = sqrt(squares / freedom * sum(1 / len(values) for values in scenarios)) / len(scenarios)
    if error < _NOISE:
        return Interval(mean, mean, mean, 1.0 if abs(mean) < _NOISE else 0.0)
    from scipy.stats import t  # costs most of a second to import

    half = float(t.ppf((1 + LEVEL) / 2, freedom)) * error
    p = 2 * float(t.sf(abs(mean) / error, freedom))
    return Interval(mean, mean - half, mean + half, p)


def difference(a: Values, b: Values) -> Interval:
    """Of a minus b, on the timelines that they share: both list their seeds in the same order."""
    if a.keys() != b.keys():
        raise ValueError(f"expected the same scenarios, got {sorted(a)} and {sorted(b)}")
    return interval([[x - y for x, y in zip(a[name], b[name], strict=True)] for name in a])


def holm(ps: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's step-down procedure."""
    corrected = [0.0] * len(ps)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = largest
    return corrected


def told_apart(rows: Mapping[str, Values]) -> list[tuple[str, str]]:
    """(better, worse) for every pair of rows that differ significantly, higher values being better.

    Only for rows that answered the same timelines; a pair of which no scenario has a second seed is
    not told apart.
    """
    pairs = list(combinations(rows, 2))
    differences = [difference(rows[a], rows[b]) for a, b in pairs]
    corrected = holm([1.0 if each.p is None else each.p for each in differences])
    return [
        (a, b) if each.mean > 0 else (b, a)
        for (a, b), each, p in zip(pairs, differences, corrected, strict=True)
        if p < 1 - LEVEL
    ]


def ranks(rows: Mapping[str, Values]) -> dict[str, tuple[int, int]]:
    """Rank range of each row, higher values first: 1 + the rows that are significantly better, to the
    number of rows less those that are significantly worse."""
    better = dict.fromkeys(rows, 0)
    worse = dict.fromkeys(rows, 0)
    for first, second in told_apart(rows):
        better[second] += 1
        worse[first] += 1
    return {row: (1 + better[row], len(rows) - worse[row]) for row in rows}


def ranks_without_each_scenario(rows: Mapping[str, Values]) -> dict[str, dict[str, tuple[int, int]]]:
    """Scenario left out -> the ranks over the others: whether one scenario decides the order."""
    scenarios = next(iter(rows.values()), {})
    return {
        left_out: ranks(
            {row: {name: x for name, x in values.items() if name != left_out} for row, values in rows.items()}
        )
        for left_out in scenarios
        if len(scenarios) > 1
    }
