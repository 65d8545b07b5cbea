"""Recency: what was observed lately is pushed up the ranking, as many retrieval recipes do.

The last way to lose a fact: true, stored and believed, it is outranked by something newer that is
less to the point. The boost is a common one: a share of the score goes to age, which halves it every
month; the first few times k by similarity are ranked anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memrot.layers.base import Entry, Layer
from memrot.layers.policy import faded
from memrot.model import DAY, Instant

BOOST = 0.3
"""What a fact of today gains over one that is old beyond measure, in cosine."""
HALF_LIFE_DAYS = 30.0


class Recency(Layer):
    name = "recency"
    reach = 5

    def rank(
        self, entries: Sequence[Entry], similarities: NDArray[np.float64], at: Instant
    ) -> NDArray[np.float64]:
        boosts = np.array([faded((at - entry.observed_at) / DAY, HALF_LIFE_DAYS) for entry in entries])
        return similarities + BOOST * boosts
