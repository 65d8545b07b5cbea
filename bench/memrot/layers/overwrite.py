"""Overwrite: one record per key, replaced by the next, deleted by an invalidation.

What many deployments do. No history, no cascade, and the latest to arrive wins, however old.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memrot.layers.base import Drop, Edit, Layer, View
from memrot.model import ChangeEvent, FactInvalidated, FactRevised, introduces


class Overwrite(Layer):
    name = "overwrite"
    keeps_history = False

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for event in events:
            fact = introduces(event)
            replaced: set[str] = set()
            if isinstance(event, FactRevised):
                replaced.add(event.previous)
            if isinstance(event, FactInvalidated):
                replaced.add(event.fact)
            if fact is not None and fact.cardinality == "one":
                replaced |= {entry.id for entry in view.of_key(fact.key) if entry.seq < event.seq}
            yield from (Drop(id_) for id_ in sorted(replaced) if view.get(id_) is not None)
