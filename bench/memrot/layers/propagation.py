"""Propagation: an invalidated fact ends, and so does whatever stood on a fact that ended.

A fact that a newer one replaced fells its dependants too, even where no layer hides it for that:
``succession`` keeps the books.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memrot.layers.base import Drop, Edit, Entry, Layer, Patch, View
from memrot.memory import Clause
from memrot.model import NEVER, ChangeEvent, FactInvalidated, Instant, Question


class Propagation(Layer):
    name = "propagation"

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for event in events:
            if isinstance(event, FactInvalidated):
                yield from _invalidate(event, view)
        due = {entry.id for entry in view.due()}
        pending = [id_ for id_ in view.touched() if id_ in due or _is_gone(id_, view)]
        for id_ in pending:  # grows while it is read: an end may fell what stands on it
            entry = view.get(id_)
            affected = [*view.dependants(id_)]
            if entry is not None and entry.depends_on:
                affected.append(entry)
            for dependant in affected:
                end = _failed(dependant, view)
                if end is not None and dependant.ended_at == NEVER:
                    yield Patch(dependant.id, {"ended_at": end})
                    pending.append(dependant.id)

    def where(self, question: Question, at: Instant) -> Sequence[Clause]:
        return ended_later(question, at)


def ended_later(question: Question, at: Instant) -> Sequence[Clause]:
    """The condition of every layer that ends facts; a look back also needs the stated interval."""
    if question.mode == "history":
        return ()
    if question.as_of is None:
        return (Clause("ended_at", "gt", at),)
    then = question.as_of
    return (Clause("valid_from", "le", then), Clause("valid_to", "gt", then), Clause("ended_at", "gt", then))


def _invalidate(event: FactInvalidated, view: View) -> Iterable[Edit]:
    entry = view.get(event.fact)
    if entry is None:
        return
    if event.reason == "erased":
        yield Drop(entry.id)  # also where it had ended: what is hidden is not gone
    elif entry.ended_at == NEVER:
        # what was retracted never was true: its interval is empty
        yield Patch(entry.id, {"ended_at": entry.valid_from if event.reason == "retracted" else event.at})


def _is_gone(id_: str, view: View) -> bool:
    entry = view.get(id_)
    return entry is None or entry.ended


def _failed(dependant: Entry, view: View) -> Instant | None:
    """When its supports stopped to carry it; None while they do."""
    ends = [_end(support, view) for support in dependant.depends_on]
    over = [end for end in ends if end is not None]
    if dependant.support == "any":
        return max(over) if ends and len(over) == len(ends) else None
    return min(over) if over else None


def _end(support: str, view: View) -> Instant | None:
    """The end of a support, stated or recorded; one that is no longer stored ended by now."""
    entry = view.get(support)
    if entry is None:
        return view.at
    if entry.ended:
        return entry.end
    return entry.valid_to if entry.valid_to <= view.at else None
