"""Supersession: a fact that a newer one replaced, named or not, is hidden and kept for history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memrot.layers.base import Edit, Layer, Patch, View
from memrot.layers.propagation import ended_later
from memrot.memory import Clause
from memrot.model import NEVER, ChangeEvent, Instant, Question


class Supersession(Layer):
    """Acts on what ``succession`` found."""

    name = "supersession"
    records_ends = True

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for id_ in view.touched():
            entry = view.get(id_)
            if entry is not None and entry.replaced_at != NEVER and entry.ended_at == NEVER:
                yield Patch(id_, {"ended_at": entry.replaced_at})

    def where(self, question: Question, at: Instant) -> Sequence[Clause]:
        return ended_later(question, at)
