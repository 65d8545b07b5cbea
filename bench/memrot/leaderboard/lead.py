"""Contamination as a leading indicator of consistency: correlations at lags of 0 to 10 asked stages.

A warning is of use if it comes early: if contamination now goes with less consistency later, and more
so than with consistency now. A correlation that is strongest at lag 0 warns of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memrot.leaderboard.rows import Estimate, Pick, estimate_of
from memrot.results import Scored

LAGS = range(11)

TELLING = -0.5
"""A correlation at least as strong as this says something about what is to come."""


def by_lag(cells: Sequence[Scored]) -> list[Estimate | None]:
    """A row's mean correlation at each lag, over the cells that define it."""
    return [estimate_of(cells, _at(lag)) for lag in LAGS]


def in_words(rows: Sequence[tuple[str, Sequence[Estimate | None]]]) -> list[str]:
    """What the correlations say, rows that say the same together, and then in all."""
    said: dict[str, list[str]] = {}
    early = defined = 0
    for label, found in rows:
        known = {lag: each.mean for lag, each in zip(LAGS, found, strict=True) if each is not None}
        if not known:
            continue
        strongest = min(known, key=lambda lag: (known[lag], lag))
        defined += 1
        early += strongest > 0 and known[strongest] <= TELLING
        said.setdefault(_said(known, strongest), []).append(label)
    if not defined:
        return ["No row has stages enough, or contamination enough, for a correlation."]
    overall = (
        f"In {early} of {defined} rows contamination leads: it goes with consistency later more than with "
        "consistency at the same stage."
    )
    return [
        *(f"{', '.join(labels)}: {text}" for text, labels in said.items()),
        overall,
        "A drift that both share correlates at every lag: only a peak above lag 0 is an early warning.",
    ]


def _said(known: Mapping[int, float], strongest: int) -> str:
    if known[strongest] > TELLING:
        return f"contamination says little of consistency at any lag (at most {known[strongest]:+.2f})."
    when = f"{strongest} stages ahead" if strongest else "at the same stage"
    last = max(lag for lag, value in known.items() if value <= TELLING)
    far = f"; still {known[last]:+.2f} at {last} stages ahead" if last > strongest else ""
    return f"strongest {when} ({known[strongest]:+.2f}){far}."


def _at(lag: int) -> Pick:
    return lambda cell: None if cell.scores is None or lag >= len(cell.scores.lead) else cell.scores.lead[lag]
