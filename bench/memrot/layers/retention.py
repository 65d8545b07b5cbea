"""Retention: what nobody contradicts is believed for as long as its class lasts (METRICS.md §12).

Belief fades with the time since a fact was last observed and is worked out when it is read. Two
timestamps: a confirmation moves both, a mention only ``last_confirmed_at``, which only classes with a
hard TTL read. So talk keeps a conversation's facts alive and makes no promise true again; what has
lapsed is not talked back to life either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memrot.layers.base import Bands, Drop, Edit, Entry, Layer, Patch, View
from memrot.layers.policy import DEFAULT, ClassPolicy, Policy
from memrot.memory import Clause
from memrot.model import NEVER, ChangeEvent, FactConfirmed, FactMentioned, Instant, Mark, Question


class Retention(Layer):
    name = "retention"

    def __init__(self, policy: Policy = DEFAULT) -> None:
        self.policy = policy
        self.bands: Bands = policy.bands

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for entry in view.due():  # before the events: what was deleted by then is not restored
            policy = self._policy(entry)
            if policy.action == "delete" and policy.lapsed(entry, view.at, self.bands):
                yield Drop(entry.id)
        for event in events:
            if isinstance(event, FactConfirmed | FactMentioned):
                touched = view.get(event.fact)
                if touched is not None and not touched.ended:
                    yield from self._touch(event, touched, view.at)

    def where(self, question: Question, at: Instant) -> Sequence[Clause]:
        if question.mode == "history":
            return ()
        if question.as_of is None:
            return (Clause("valid_from", "le", at),)
        return (Clause("valid_from", "le", question.as_of), Clause("valid_to", "gt", question.as_of))

    def judge(
        self, entries: Sequence[Entry], at: Instant
    ) -> tuple[NDArray[np.float64], Sequence[Mark | None]]:
        left = np.array([self._policy(entry).left(entry, at) for entry in entries])
        return left, [self._mark(entry, at) for entry in entries]

    def wakes(self, entry: Entry) -> Instant:
        """Only deletion acts by itself; everything else shows when it is read."""
        policy = self._policy(entry)
        return policy.lapses_at(entry, self.bands) if policy.action == "delete" else NEVER

    def _policy(self, entry: Entry) -> ClassPolicy:
        return self.policy.of(entry.fact_class)

    def _touch(self, event: ChangeEvent, entry: Entry, at: Instant) -> Iterable[Edit]:
        if isinstance(event, FactConfirmed):
            yield Patch(entry.id, {"observed_at": at, "last_confirmed_at": at})
        elif self._policy(entry).left(entry, at) > 0:
            yield Patch(entry.id, {"last_confirmed_at": at})

    def _mark(self, entry: Entry, at: Instant) -> Mark | None:
        policy = self._policy(entry)
        if policy.action == "verify":
            doubted = policy.effective_confidence(entry, at) < self.bands.assert_from
            return "verify" if doubted else None
        return "archived" if policy.action == "archive" and policy.lapsed(entry, at, self.bands) else None
