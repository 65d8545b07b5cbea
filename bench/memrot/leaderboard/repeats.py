"""Cells that were measured more than once: what a second measurement of the same work says.

A backend that is approximate, threaded or on another machine may answer otherwise when asked again.
Nobody has to declare it: give the leaderboard two runs of the same stacks, and it is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from memrot.results import Scored

_SAME = 1e-9


class Repeat(Struct, frozen=True, kw_only=True):
    stack: str
    cells: int
    """Cells measured more than once."""
    times: int
    """How often the one measured most was."""
    differing: int
    """Cells of which any metric or outcome differs."""
    spread: float | None
    """The largest difference between two lifecycle scores of one cell."""


def repeated(stack: str, cells: Sequence[Sequence[Scored]]) -> Repeat | None:
    """A row's measurements, cell by cell; None where nothing was measured twice."""
    several = [each for each in cells if len(each) > 1]
    if not several:
        return None
    spreads = [max(scores) - min(scores) for each in several if (scores := _lifecycles(each))]
    return Repeat(
        stack=stack,
        cells=len(several),
        times=max(map(len, several)),
        differing=sum(_differs(each) for each in several),
        spread=max(spreads, default=None),
    )


def _lifecycles(cells: Iterable[Scored]) -> list[float]:
    found = [each.scores.cell.get("lifecycle") for each in cells if each.scores is not None]
    return [value for value in found if value is not None]


def _differs(cells: Sequence[Scored]) -> bool:
    first, *others = cells
    return any(_other(first, each) for each in others)


def _other(a: Scored, b: Scored) -> bool:
    if a.scores is None or b.scores is None:
        return a.outcome != b.outcome
    ours, theirs = a.scores.cell, b.scores.cell
    return ours.keys() != theirs.keys() or any(_apart(ours[name], theirs[name]) for name in ours)


def _apart(a: float | None, b: float | None) -> bool:
    return a is not b if a is None or b is None else abs(a - b) > _SAME
