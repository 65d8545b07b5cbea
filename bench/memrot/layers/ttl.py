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
                yield from self._renew(entry, entry.observed_at)
        for event in events:
            if isinstance(event, FactConfirmed):
                confirmed = view.get(event.fact)
                if confirmed is not None and not confirmed.ended:
                    yield from self._renew(confirmed, view.at)

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
        expired = np.array([entry.expires_at <= at for entry in entries], np.bool_)
        confidence = np.array([entry.confidence for entry in entries])
        hedge_from = BANDS.hedge_from
        floor = np.divide(hedge_from, confidence, out=np.ones_like(confidence), where=confidence > hedge_from)
        return np.where(expired, np.maximum(SOFT_FACTOR, floor), 1.0), [None] * len(entries)

    def _renew(self, entry: Entry, since: Instant) -> Iterable[Edit]:
        days = self.days.get(entry.domain) if isinstance(self.days, Mapping) else self.days
        if days is not None:
            yield Patch(entry.id, {"expires_at": since + round(days * DAY)})
