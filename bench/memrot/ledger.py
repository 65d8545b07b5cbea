"""The ledger of a stack: every stored fact's entry, indexed, and the plan of one instant on top.

Layers read it through ``Plan`` (a ``View``); nothing here touches a store. It is rebuilt from the
store's records when a stack opens.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from msgspec import structs

from memrot.layers.base import Drop, Edit, Entry, Layer, Patch
from memrot.memory import Fields
from memrot.model import NEVER, ChangeEvent, Instant, Key


class Ledger:
    """Entries by id, by key, by value and by support, and when each must next be looked at."""

    def __init__(self, entries: Iterable[Entry] = (), layers: Sequence[Layer] = ()) -> None:
        self._wakers = [layer for layer in layers if type(layer).wakes is not Layer.wakes]
        self.entries: dict[str, Entry] = {}
        self.by_key: dict[Key, dict[str, None]] = defaultdict(dict)
        self.by_value: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self.by_support: dict[str, dict[str, None]] = defaultdict(dict)
        self._agenda: list[tuple[Instant, int, str]] = []
        for entry in sorted(entries, key=lambda entry: entry.seq):
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self.by_key[entry.key][entry.id] = None
        self.by_value[entry.predicate, entry.value][entry.id] = None
        for support in entry.depends_on:
            self.by_support[support][entry.id] = None
        if not entry.ended:
            for moment in {entry.valid_from, entry.valid_to} - {NEVER}:
                heapq.heappush(self._agenda, (moment, entry.seq, entry.id))
        self._wake(entry)

    def replace(self, entry: Entry) -> None:
        """An entry as it now stands; id, key, value and supports stay."""
        self.entries[entry.id] = entry
        self._wake(entry)

    def remove(self, entry: Entry) -> None:
        del self.entries[entry.id]
        self.by_key[entry.key].pop(entry.id)
        self.by_value[entry.predicate, entry.value].pop(entry.id)
        for support in entry.depends_on:
            self.by_support[support].pop(entry.id, None)

    def _wake(self, entry: Entry) -> None:
        for layer in self._wakers:
            moment = layer.wakes(entry)
            if moment != NEVER:
                heapq.heappush(self._agenda, (moment, entry.seq, entry.id))

    def due(self, at: Instant) -> list[str]:
        """Take from the agenda what begins, elapses or wakes a layer by ``at``, in the order of its
        instants."""
        ids: dict[str, None] = {}
        while self._agenda and self._agenda[0][0] <= at:
            id_ = heapq.heappop(self._agenda)[2]
            if id_ in self.entries:
                ids[id_] = None
        return list(ids)


class Plan:
    """One instant's edits over a ledger; the ``View`` that layers are given."""

    def __init__(self, ledger: Ledger, new: Sequence[Entry], at: Instant) -> None:
        self.at = at
        self._ledger = ledger
        self._before: dict[str, Entry | None] = {entry.id: None for entry in new}
        for entry in new:
            ledger.add(entry)
        self._due = dict.fromkeys([*self._before, *ledger.due(at)])
        self._touched = self._due.copy()
        self.patches: dict[str, dict[str, int | str]] = {}
        self.dropped: dict[str, Entry] = {}

    def run(self, layers: Sequence[Layer], events: Sequence[ChangeEvent]) -> None:
        """Let every layer edit, in turn, until none adds an edit to those of the others.

        A layer sees its own edits as it makes them: it has nothing to add to these alone.
        """
        quiet = 0  # how many layers ran since another one edited
        while quiet < len(layers):
            for layer in layers:
                changed = [self._merge(edit) for edit in layer.edits(events, self)]
                quiet = 1 if any(changed) else quiet + 1
                if quiet == len(layers):
                    break

    def put(self) -> list[Entry]:
        """The new entries as they stand after all edits."""
        return [
            self._ledger.entries[id_] for id_, before in self._before.items()
            if before is None and id_ in self._ledger.entries
        ]  # fmt: skip

    def patch(self) -> dict[str, Fields]:
        """Changed fields of entries that were there before."""
        return {id_: changes for id_, changes in self.patches.items() if self._before.get(id_) is not None}

    def delete(self) -> list[str]:
        return [id_ for id_ in self.dropped if self._before[id_] is not None]

    def get(self, id_: str) -> Entry | None:
        return self._ledger.entries.get(id_)

    def before(self, id_: str) -> Entry | None:
        return self._before[id_] if id_ in self._before else self._ledger.entries.get(id_)

    def all(self) -> Collection[Entry]:
        return self._ledger.entries.values()

    def of_key(self, key: Key) -> Collection[Entry]:
        return self._all(self._ledger.by_key.get(key, ()))

    def of_value(self, predicate: str, value: str) -> Collection[Entry]:
        return self._all(self._ledger.by_value.get((predicate, value), ()))

    def dependants(self, id_: str) -> Collection[Entry]:
        return self._all(self._ledger.by_support.get(id_, ()))

    def due(self) -> Collection[Entry]:
        return self._all(self._due)

    def touched(self) -> Collection[str]:
        return list(self._touched)

    def _all(self, ids: Iterable[str]) -> list[Entry]:
        entries = self._ledger.entries
        return [entries[id_] for id_ in ids if id_ in entries]

    def _merge(self, edit: Edit) -> bool:
        """Apply an edit to the ledger; whether anything changed."""
        entry = self._ledger.entries.get(edit.id)
        if entry is None:
            return False
        match edit:
            case Drop():
                self._keep_before(entry)
                self._ledger.remove(entry)
                self.dropped[edit.id] = entry
                self.patches.pop(edit.id, None)
            case Patch(changes=changes):
                new = {name: value for name, value in changes.items() if getattr(entry, name) != value}
                if not new:
                    return False
                self._keep_before(entry)
                self._ledger.replace(structs.replace(entry, **new))
                self.patches.setdefault(edit.id, {}).update(new)
        self._touched[edit.id] = None
        return True

    def _keep_before(self, entry: Entry) -> None:
        self._before.setdefault(entry.id, entry)
