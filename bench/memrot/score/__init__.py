"""Observations to scores (METRICS.md §3-8): ``score(timeline, seen)``.

Scores are derived and can be derived again. Everything is summed over flat arrays of hits; a metric
that is undefined (a share of nothing) is None.
"""

from memrot.score.cell import Scores, score
from memrot.score.shares import SHARES

__all__ = ["SHARES", "Scores", "score"]
