"""Eviction: a store of fixed size gives up what was touched longest ago, or what is oldest.

Right for a cache, whose lost entries can be fetched again; a memory's cannot. *Touched* means told,
confirmed or mentioned: reads do not count, since an exam asks every question at every stage, and
would decide by asking what survives.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from memrot.layers.base import Drop, Edit, Entry, Layer, Patch, View
from memrot.model import ChangeEvent, FactConfirmed, FactMentioned

By: TypeAlias = Literal["lru", "oldest"]


class Eviction(Layer):
    """``capacity``: records that the store holds. Ended facts kept for history take up room, too."""

    name = "evict"

    def __init__(self, by: By, capacity: int) -> None:
        self.by = by
        self.capacity = capacity

    def edits(self, events: Sequence[ChangeEvent], view: View) -> Iterable[Edit]:
        for event in events:
            if isinstance(event, FactConfirmed | FactMentioned) and view.get(event.fact) is not None:
                yield Patch(event.fact, {"last_confirmed_at": view.at})
        entries = view.all()
        excess = len(entries) - self.capacity
        if excess > 0:
            yield from (Drop(entry.id) for entry in heapq.nsmallest(excess, entries, key=self._worth))

    def _worth(self, entry: Entry) -> tuple[int, int]:
        return (entry.last_confirmed_at if self.by == "lru" else 0, entry.seq)
