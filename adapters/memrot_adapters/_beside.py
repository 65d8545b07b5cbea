"""What is kept beside an index that knows numbers and vectors only: ids, texts and fields.

Nothing but a vector's number could be a condition of such an index, so all conditions are post-filtered.
Nor does it keep anything when its process ends: index and records are saved together after every write,
under another name first. No number is used twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memrot.memory import Fields, Info, Place, Query, Record, Vector, Where


class Index(Protocol):
    """A backend's own, empty when made."""

    def load(self, saved: NDArray[np.uint8]) -> None: ...

    def save(self) -> NDArray[np.uint8]: ...

    def add(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None: ...

    def remove(self, numbers: NDArray[np.int64]) -> None:
        """Numbers that it holds."""
        ...

    def vector(self, number: int) -> Vector: ...

    def nearest(self, vectors: NDArray[np.float32], k: int) -> Iterable[Iterable[tuple[int, float]]]:
        """Per vector at most ``k`` (number, cosine), most similar first."""
        ...


class Beside:
    """A store of an index and of what it does not know."""

    def __init__(self, info: Info, place: Place, index: Index) -> None:
        self.info = info
        self._index = index
        self._file = place.folder / f"{place.namespace}.npz"
        self._next = 0
        self._held: dict[int, tuple[str, str, Fields]] = {}
        """By number: id, text and fields."""
        if self._file.exists():
            with np.load(self._file) as saved:
                index.load(saved["index"])
                self._next, rows = json.loads(bytes(saved["records"]))
            self._held = {number: (record_id, text, fields) for number, record_id, text, fields in rows}
        self._number = {record_id: number for number, (record_id, _, _) in self._held.items()}

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        gone = [
            self._number.pop(name) for name in (*delete, *(new.id for new in put)) if name in self._number
        ]
        if gone:
            self._index.remove(np.array(gone, np.int64))
        for number in gone:
            del self._held[number]
        for name, fields in patch.items():
            number = self._number[name]
            record_id, text, old = self._held[number]
            self._held[number] = (record_id, text, {**old, **fields})
        if put:
            numbers = np.arange(self._next, self._next + len(put))
            self._index.add(numbers, np.stack([new.vector for new in put]).astype(np.float32))
            for number, new in zip(numbers.tolist(), put, strict=True):
                self._number[new.id] = number
                self._held[number] = (new.id, new.text, new.fields)
            self._next += len(put)
        self._save()

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return [self._record(self._number[name], vector=True) for name in ids if name in self._number]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for number in list(self._held):
            yield self._record(number, vector=vectors)

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        if not self._held:
            return [[] for _ in queries]
        asked = np.stack([query.vector for query in queries]).astype(np.float32)
        found = self._index.nearest(asked, min(k, len(self._held)))
        return [[(self._held[number][0], near) for number, near in each] for each in found]

    def drop(self) -> None:
        self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """Everything is saved."""

    def _record(self, number: int, *, vector: bool) -> Record:
        record_id, text, fields = self._held[number]
        return Record(record_id, text, self._index.vector(number) if vector else _NO_VECTOR, fields)

    def _save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        rows = [(number, *held) for number, held in self._held.items()]
        records = np.frombuffer(json.dumps([self._next, rows]).encode(), np.uint8)
        new = self._file.with_suffix(".new")
        with new.open("wb") as file:
            np.savez(file, index=self._index.save(), records=records)
        new.replace(self._file)


_NO_VECTOR = np.empty(0, np.float32)
