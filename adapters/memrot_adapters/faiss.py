"""FAISS in process: a flat index of inner products, which is exact. It knows vectors and numbers only.

Ids, texts and fields are kept beside it, and nothing but the ids of vectors could be a condition, so all
conditions are post-filtered. Index and records are saved together after every write, under another name
first, since FAISS itself keeps nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Place, Query, Record, Where
from memrot_adapters._opening import backend, check_options


def open_store(place: Place, options: Mapping[str, str]) -> Faiss:
    check_options("faiss", options, {})
    return Faiss(backend("faiss", "faiss"), place)


class Faiss:
    def __init__(self, faiss: Any, place: Place) -> None:
        self.info = Info(name="faiss", backend="FAISS", version=faiss.__version__, deployment="in process")
        self._faiss = faiss
        self._file = place.folder / f"{place.namespace}.npz"
        self._next = 0
        self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(place.dim))
        self._held: dict[int, tuple[str, str, Fields]] = {}
        """By number: id, text and fields."""
        if self._file.exists():
            with np.load(self._file) as saved:
                self._index = faiss.deserialize_index(saved["index"])
                self._next, rows = json.loads(bytes(saved["records"]))
            self._held = {number: (record_id, text, fields) for number, record_id, text, fields in rows}
        self._number = {record_id: number for number, (record_id, _, _) in self._held.items()}

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        gone = [
            self._number.pop(name) for name in (*delete, *(new.id for new in put)) if name in self._number
        ]
        if gone:
            self._index.remove_ids(np.array(gone, np.int64))
        for number in gone:
            del self._held[number]
        for name, fields in patch.items():
            number = self._number[name]
            record_id, text, old = self._held[number]
            self._held[number] = (record_id, text, {**old, **fields})
        if put:
            numbers = np.arange(self._next, self._next + len(put))
            self._index.add_with_ids(np.stack([new.vector for new in put]).astype(np.float32), numbers)
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
        asked = np.stack([query.vector for query in queries]).astype(np.float32)
        near, numbers = self._index.search(asked, max(1, min(k, self._index.ntotal)))
        return [
            # a number of -1 says that there is nothing more
            [
                (self._held[number][0], close)
                for number, close in zip(row, cosines, strict=True)
                if number >= 0
            ]
            for row, cosines in zip(numbers.tolist(), near.tolist(), strict=True)
        ]

    def drop(self) -> None:
        self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """Everything is saved."""

    def _record(self, number: int, *, vector: bool) -> Record:
        record_id, text, fields = self._held[number]
        return Record(record_id, text, self._index.reconstruct(number) if vector else _NO_VECTOR, fields)

    def _save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        rows = [(number, *held) for number, held in self._held.items()]
        records = np.frombuffer(json.dumps([self._next, rows]).encode(), np.uint8)
        new = self._file.with_suffix(".new")
        with new.open("wb") as file:
            np.savez(file, index=self._faiss.serialize_index(self._index), records=records)
        new.replace(self._file)


_NO_VECTOR = np.empty(0, np.float32)
