"""Whether another draw of seeds would give the same order: disjoint halves of the seeds, compared.

Only pairs of rows that differ significantly are asked about: the order of the others is not claimed.
Over them Kendall's tau-b is the sum of the products of both halves' signs, over the root of the
product of the sums of their squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

from msgspec import Struct

from memrot.stats import Values, told_apart

FEWEST_SEEDS = 4
"""With fewer, half of the seeds is one."""

STABLE = 0.95


class Stability(Struct, frozen=True):
    tau: float
    """Mean over the ways of halving."""
    worst: float
    halvings: int
    pairs: int
    """Pairs of rows that differ significantly."""
    of: int
    """All pairs."""


def stability(groups: Sequence[Mapping[str, Values]]) -> Stability | None:
    """Over groups of rows that answered the same timelines; None where too few seeds or no pair can tell."""
    pairs = [(rows, *pair) for rows in groups for pair in told_apart(rows)]
    seeds = min(
        (len(values) for rows, *_ in pairs for row in rows.values() for values in row.values()), default=0
    )
    if seeds < FEWEST_SEEDS:
        return None
    taus = []
    for half in halves(seeds):
        signs = [
            (_sign(rows[better], rows[worse], half), _sign(rows[better], rows[worse], _rest(half, seeds)))
            for rows, better, worse in pairs
        ]
        tau = tau_b(signs)
        if tau is not None:
            taus.append(tau)
    if not taus:
        return None
    return Stability(
        tau=sum(taus) / len(taus),
        worst=min(taus),
        halvings=len(taus),
        pairs=len(pairs),
        of=sum(len(rows) * (len(rows) - 1) // 2 for rows in groups),
    )


def halves(seeds: int) -> list[frozenset[int]]:
    """Ways of choosing half of the places of seeds: neighbours, from each place on, round the end."""
    return [frozenset((first + step) % seeds for step in range(seeds // 2)) for first in range(seeds)]


def tau_b(signs: Sequence[tuple[int, int]]) -> float | None:
    """Kendall's tau-b of pairs' signs in two orders (0: a tie); None where one order ties them all."""
    ours, theirs = sum(a * a for a, _ in signs), sum(b * b for _, b in signs)
    return sum(a * b for a, b in signs) / sqrt(ours * theirs) if ours and theirs else None


def in_words(found: Stability) -> str:
    text = (
        f"Order on disjoint halves of the seeds: Kendall's tau-b {found.tau:.3f} (worst {found.worst:.3f} of "
        f"{found.halvings} ways of halving) over the {found.pairs} of {found.of} pairs of stacks that differ "
        "significantly"
    )
    if found.tau < STABLE:
        return f"{text}: UNDER {STABLE:g}, THE ORDER IS NOT STABLE; more seeds are needed before it is cited."
    return f"{text}; at least {STABLE:g} is wanted."


def _rest(half: frozenset[int], seeds: int) -> frozenset[int]:
    return frozenset(range(seeds)) - half


def _sign(better: Values, worse: Values, places: frozenset[int]) -> int:
    """Of the difference over some of the seeds; further seeds that only some scenarios have are left out."""
    difference = _mean(better, places) - _mean(worse, places)
    return (difference > 0) - (difference < 0)


def _mean(row: Values, places: frozenset[int]) -> float:
    """Of the scenarios' means over some of the seeds."""
    return fmean(fmean(values[place] for place in sorted(places)) for values in row.values())
