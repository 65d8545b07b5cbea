"""The reference store: an exact NumPy search in process, against which every backend is compared.

Cosines are computed in float64. Vectors of the default embedder lie on a 2^-20 grid, so their dot
products are exact and the ranking is the same on every machine, for every batch shape.

Every plan is appended to a log before it is done, so that a process that is killed loses none (a
machine that fails may: nothing is synced). Closing writes the log anew: what was deleted leaves it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from memrot.errors import BadOption
from memrot.memory import Clause, Fields, Info, Place, Query, Record, Where

_NO_VECTOR = np.empty(0, np.float32)
_LENGTH = 4
"""Bytes of a plan's length."""


def open_store(place: Place, options: Mapping[str, str]) -> Exact:
    """The store of a place, with what it held when it was last closed, or killed."""
    if options:
        raise BadOption(f"exact takes no options, got {sorted(options)}")
    return Exact(place)


class Exact:
    """Rows of one matrix; a deleted row is filled by the last one."""

    info = Info(
        name="exact",
        backend="NumPy",
        version=np.__version__,
        deployment="in process",
        filters=frozenset({"gt", "le", "eq"}),
    )

    def __init__(self, place: Place) -> None:
        self._log = _Log(place.folder / f"{place.namespace}.log")
        self._matrix = np.zeros((max(place.expected, 16), place.dim))
        self._columns: dict[str, NDArray[np.float64]] = {}  # NaN where a record lacks the field
        self._records: list[Record] = []
        self._row: dict[str, int] = {}
        self._open = True
        for put, patch, delete in self._log.read():
            records = [
                Record(id_, text, np.frombuffer(v, np.float32), fields) for id_, text, v, fields in put
            ]
            self._apply(records, patch, delete)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self._log.append(_plan(put, patch, delete))
        self._apply(put, patch, delete)

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return [self._records[self._row[id_]] for id_ in ids if id_ in self._row]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for record in self._records:
            yield record if vectors else Record(record.id, record.text, _NO_VECTOR, record.fields)

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        size = len(self._records)
        rows = np.flatnonzero(self._mask(where, size)) if where else np.arange(size)
        if not rows.size or k < 1:
            return [[] for _ in queries]
        asked = np.stack([query.vector for query in queries]).astype(np.float64)
        asked /= np.linalg.norm(asked, axis=1, keepdims=True)
        cosines = (asked @ self._matrix[:size].T)[:, rows]
        if k < rows.size:
            best = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        else:
            best = np.broadcast_to(np.arange(rows.size), cosines.shape)
        found = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-found, axis=1, kind="stable")
        found = np.take_along_axis(found, order, axis=1)
        best = rows[np.take_along_axis(best, order, axis=1)]
        records = self._records
        return [
            [(records[row].id, cosine) for row, cosine in zip(hits, near, strict=True)]
            for hits, near in zip(best.tolist(), found.tolist(), strict=True)
        ]

    def drop(self) -> None:
        self._records.clear()
        self._row.clear()
        self._log.remove()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._records:
            self._log.rewrite(_plan(self._records, {}, []))
        else:
            self._log.remove()

    def _apply(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        for record in put:
            self._put(record)
        for id_, fields in patch.items():
            row = self._row[id_]
            record = self._records[row]
            self._records[row] = Record(id_, record.text, record.vector, {**record.fields, **fields})
            self._fill(row, fields)
        for id_ in delete:
            self._delete(id_)

    def _put(self, record: Record) -> None:
        row = self._row.setdefault(record.id, len(self._records))
        if row == len(self._records):
            self._records.append(record)
            if row == len(self._matrix):
                self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
                self._columns = {
                    name: np.concatenate([column, np.zeros_like(column)])
                    for name, column in self._columns.items()
                }
        self._records[row] = record
        vector = record.vector.astype(np.float64)
        self._matrix[row] = vector / np.linalg.norm(vector)
        self._clear(row)
        self._fill(row, record.fields)

    def _clear(self, row: int) -> None:
        for column in self._columns.values():
            column[row] = np.nan

    def _fill(self, row: int, fields: Fields) -> None:
        for name, value in fields.items():
            if isinstance(value, int):
                column = self._columns.get(name)
                if column is None:
                    column = self._columns[name] = np.full(len(self._matrix), np.nan)
                column[row] = value

    def _delete(self, id_: str) -> None:
        row = self._row.pop(id_)
        last = self._records.pop()
        if last.id != id_:
            self._records[row] = last
            self._row[last.id] = row
            self._matrix[row] = self._matrix[len(self._records)]
            self._clear(row)
            self._fill(row, last.fields)

    def _mask(self, where: Where, size: int) -> NDArray[np.bool_]:
        mask = np.ones(size, np.bool_)
        for clause in where:
            mask &= self._holds(clause, size)
        return mask

    def _holds(self, clause: Clause, size: int) -> NDArray[np.bool_]:
        column = self._columns.get(clause.field)
        if column is None:
            return np.zeros(size, np.bool_)
        compare = {"gt": np.greater, "le": np.less_equal, "eq": np.equal}[clause.op]
        holds: NDArray[np.bool_] = compare(column[:size], clause.value)
        return holds


class _Log:
    """Plans in the order in which they were made, each behind its length; a torn last one counts for
    nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stream: FileIO | None = None

    def read(self) -> Iterator[Any]:
        content = self._file.read_bytes() if self._file.exists() else b""
        whole = 0
        while whole + _LENGTH <= len(content):
            begin = whole + _LENGTH
            end = begin + int.from_bytes(content[whole:begin])
            if end > len(content):
                break
            yield msgspec.msgpack.decode(content[begin:end])
            whole = end
        if whole < len(content):
            os.truncate(self._file, whole)

    def append(self, plan: bytes) -> None:
        if self._stream is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._stream = FileIO(self._file, "a")
        self._stream.write(len(plan).to_bytes(_LENGTH) + plan)

    def rewrite(self, plan: bytes) -> None:
        self._end()
        new = self._file.with_suffix(".new")
        new.write_bytes(len(plan).to_bytes(_LENGTH) + plan)
        new.replace(self._file)

    def remove(self) -> None:
        self._end()
        self._file.unlink(missing_ok=True)
        folder = self._file.parent
        if folder.exists() and not any(folder.iterdir()):
            shutil.rmtree(folder)

    def _end(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _plan(put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> bytes:
    rows = [(r.id, r.text, r.vector.tobytes(), dict(r.fields)) for r in put]
    return msgspec.msgpack.encode((rows, {id_: dict(fields) for id_, fields in patch.items()}, list(delete)))
