"""TTL: a fact is believed for a time that its domain sets, and only a confirmation renews it.

Soft (the default): past its expiry a fact is hedged. Hard: it is excluded. Stated starts and ends
(``valid_from``, ``valid_to``) are not a matter of policy: either way nothing shows outside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memrot.layers.base import BANDS, Edit, Entry, Layer, Patch, View
from memrot.memory import TTL_DAYS, Clause
from memrot.model import DAY, ChangeEvent, FactConfirmed, Instant, Mark, Question

SOFT_FACTOR = 0.5


class Ttl(Layer):
    """``days``: lifetime by domain, or one for all; an empty mapping leaves only the stated ends."""

    name = "ttl"

    def __init__(self, days: Mapping[str, float] | float = TTL_DAYS, *, hard: bool = False) -> None:
        self.days = days
        self.hard = hard

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for entry in view.due():
            if not entry.ended and entry.valid_to <= view.at:
                yield Patch(entry.id, {"ended_at": entry.valid_to})
            elif view.before(entry.id) is None:
                yield from self._renewal(entry, entry.observed_at)
        for event in events:
            if isinstance(event, FactConfirmed):
                confirmed = view.get(event.fact)
                if confirmed is not None and not confirmed.ended:
                    yield from self._renewal(confirmed, view.at)

    def where(self, question: Question, at: Instant) -> Sequence[Clause]:
        if question.mode == "history":
            return ()
        moment = at if question.as_of is None else question.as_of
        stated = [Clause("valid_from", "le", moment), Clause("valid_to", "gt", moment)]
        if self.hard and question.mode == "current":
            stated.append(Clause("expires_at", "gt", at))
        return stated

    def judge(
        self, entries: Sequence[Entry], at: Instant
    ) -> tuple[NDArray[np.float64], Sequence[Mark | None]] | None:
        if self.hard:
            return None
        factors = [_hedged(entry.confidence) if entry.expires_at <= at else 1.0 for entry in entries]
        return np.array(factors), [None] * len(entries)

    def _renewal(self, entry: Entry, since: Instant) -> Sequence[Edit]:
        days = self.days.get(entry.domain) if isinstance(self.days, Mapping) else self.days
        if days is None or (expires_at := since + round(days * DAY)) == entry.expires_at:
            return ()
        return (Patch(entry.id, {"expires_at": expires_at}),)


def _hedged(confidence: float) -> float:
    """What brings a confidence down, but not below what is hedged."""
    return max(SOFT_FACTOR, BANDS.hedge_from / max(confidence, BANDS.hedge_from))
