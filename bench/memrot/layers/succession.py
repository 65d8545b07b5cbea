"""Succession: who replaced whom, and when. Bookkeeping for the layers that act on it; it hides nothing.

Named: the ``previous`` of a revision. Not named: a fact of the same single-valued key with another
value, or another subject's fact with the same value of an exclusive predicate. A late-arriving
older fact never displaces a newer one. What was replaced is linked to its successor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memrot.layers.base import Edit, Entry, Layer, Patch, View
from memrot.model import NEVER, ChangeEvent


class Succession(Layer):
    """METRICS.md §1, steps 4 and 5. ``exclusive``: predicates that have one subject per value."""

    name = "succession"

    def __init__(self, exclusive: Collection[str] = ()) -> None:
        self.exclusive = frozenset(exclusive)

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        beginning = [entry for entry in view.due() if entry.valid_from <= view.at and entry.began_at == NEVER]
        for entry in beginning:
            previous = view.get(entry.previous) if entry.previous else None
            before = view.before(entry.id)
            if previous is not None and not previous.ended and not (before is not None and before.ended):
                yield _replaced(previous, entry)
        for entry in sorted(beginning, key=lambda entry: entry.order, reverse=True):
            now = view.get(entry.id)
            if now is not None and not now.ended and now.valid_to > view.at:
                yield from self._begin(now, view)

    def _begin(self, entry: Entry, view: View) -> Iterable[Edit]:
        rivals = self._rivals(entry, view)
        newer = [rival for rival in rivals if rival.order > entry.order and rival.began_at != NEVER]
        if newer:
            yield _replaced(entry, min(newer, key=lambda rival: rival.valid_from))
            return
        yield Patch(entry.id, {"began_at": view.at})
        for rival in rivals:
            if rival.order < entry.order and not rival.ended:
                yield _replaced(rival, entry)

    def _rivals(self, entry: Entry, view: View) -> list[Entry]:
        """What cannot be true together with an entry."""
        rivals: list[Entry] = []
        if entry.cardinality == "one":
            rivals += [other for other in view.of_key(entry.key) if other.value != entry.value]
        if entry.predicate in self.exclusive:
            same = view.of_value(entry.predicate, entry.value)
            rivals += [other for other in same if other.subject != entry.subject]
        return rivals


def _replaced(entry: Entry, successor: Entry) -> Patch:
    return Patch(entry.id, {"replaced_at": successor.valid_from, "superseded_by": successor.id})
