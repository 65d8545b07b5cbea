"""Scores that are no shares: slopes and correlations over stages, gaps, calibration (METRICS.md §5, §6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memrot.score.judged import Judged
from memrot.score.shares import Share, share
from memrot.truth import Bools

LAGS = range(11)
BINS = 10


def slope(stages: Sequence[int], values: Sequence[Share]) -> Share:
    """Least squares of a series against the stage, per 100 stages."""
    points = [(stage, value) for stage, value in zip(stages, values, strict=True) if value is not None]
    x, y = np.array(points, np.float64).reshape(-1, 2).T
    if len(x) < 2:
        return None
    x -= x.mean()
    return 100 * float(np.dot(x, y) / np.dot(x, x))


def lead(causes: Sequence[Share], effects: Sequence[Share]) -> list[Share]:
    """Pearson correlation of one series with another, 0 to 10 stages later; None where a series is
    constant or has fewer than three common points."""
    return [_correlation(causes, effects[lag:]) for lag in LAGS]


def _correlation(a: Sequence[Share], b: Sequence[Share]) -> Share:
    # a lag leaves the later series shorter
    pairs = [(x, y) for x, y in zip(a, b, strict=False) if x is not None and y is not None]
    if len(pairs) < 3:
        return None
    x, y = np.array(pairs).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def similarity_gap(judged: Judged, scored: Bools) -> Share:
    """Mean similarity of stale minus current hits on the probe's own key; ``scored``: per hit."""
    means = []
    for state in (judged.stale, judged.current):
        chosen = judged.similarity[state & judged.own & scored]
        if not len(chosen):
            return None
        means.append(float(chosen.mean()))
    return means[0] - means[1]


def calibration(judged: Judged, scored: Bools) -> list[dict[str, Share]]:
    """Ten bins of confidence, the last one with 1: hits, their mean confidence, share consistent."""
    confidence, consistent = judged.confidence[scored], judged.consistent[scored]
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    hits = np.bincount(bins, minlength=BINS)
    said = np.bincount(bins, confidence, minlength=BINS)
    held = np.bincount(bins, consistent.astype(np.float64), minlength=BINS)
    return [
        {"hits": int(n), "confidence": share(float(c), float(n)), "consistent": share(float(h), float(n))}
        for n, c, h in zip(hits, said, held, strict=True)
    ]
