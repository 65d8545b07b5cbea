"""LanceDB, a folder a store, without an index: its searches are exact.

A field that is a number has a column of its own, made when it is first written, since a condition can
only name columns; the fields themselves are kept whole beside it. All that a call puts and patches is one
batch, as every batch is a new version with a file of its own: after 100 of them a question took 11 ms,
and 2.6 ms once they were merged, which is done every 32 writes. Old versions go at the same time, and with
them what was deleted: of 18 facts to be erased 13 could still be read until then
(https://docs.lancedb.com/ingestion/delete). Vectors of length zero
would vanish from every search; memrot refuses them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Op, Place, Query, Record, Where
from memrot_adapters._opening import backend, check_options

EVERY = 32
"""Writes between two merges of the table's files."""

_OPS: Mapping[Op, str] = {"gt": ">", "le": "<=", "eq": "="}
_OWN = ("id", "text", "fields")


def open_store(place: Place, options: Mapping[str, str]) -> LanceDB:
    check_options("lancedb", options, {})
    return LanceDB(backend("lancedb", "lancedb"), backend("pyarrow", "lancedb"), place)


class LanceDB:
    def __init__(self, lancedb: Any, arrow: Any, place: Place) -> None:
        self.info = Info(
            name="lancedb", backend="lancedb", version=lancedb.__version__, filters=frozenset(_OPS)
        )
        self._arrow = arrow
        self._name = place.namespace
        self._dim = place.dim
        # every read sees what was written last, by whomever
        self._db = lancedb.connect(str(place.folder), read_consistency_interval=timedelta(0))
        if (place.folder / f"{place.namespace}.lance").exists():
            self._table = self._db.open_table(place.namespace)
        else:
            text = [arrow.field(name, arrow.string(), nullable=False) for name in _OWN]
            vector = arrow.field("vector", arrow.list_(arrow.float32(), place.dim))
            self._table = self._db.create_table(place.namespace, schema=arrow.schema([*text, vector]))
        self._writes = 0

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        patched = [
            Record(old.id, old.text, old.vector, {**old.fields, **patch[old.id]})
            for old in (self.get(list(patch)) if patch else ())
        ]
        if rows := [*put, *patched]:
            self._add_columns(rows)
            upsert = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            upsert.execute(self._batch(rows))
        if delete:
            self._table.delete(_among(delete))
        self._writes += 1
        if self._writes % EVERY == 0:
            self._merge()

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return list(_records(self._read([*_OWN, "vector"]).where(_among(ids)).to_arrow()))

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        yield from _records(self._read([*_OWN, *(["vector"] if vectors else [])]).to_arrow())

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        found: list[list[tuple[str, float]]] = [[] for _ in queries]
        if not {_column(clause.field) for clause in where} <= set(self._table.schema.names):
            return found  # nobody has such a field
        asked = self._table.search([query.vector for query in queries], vector_column_name="vector")
        asked = asked.distance_type("cosine").limit(k)
        if where:
            tests = (f"`{_column(clause.field)}` {_OPS[clause.op]} {clause.value}" for clause in where)
            asked = asked.where(" AND ".join(tests), prefilter=True)
        hits = asked.select(["id", "_distance"]).to_arrow().to_pydict()
        numbers = hits.get("query_index", [0] * len(hits["id"]))  # a batch of one has none
        for number, record_id, distance in zip(numbers, hits["id"], hits["_distance"], strict=True):
            found[number].append((record_id, 1.0 - distance))
        return [sorted(each, key=lambda hit: -hit[1]) for each in found]

    def drop(self) -> None:
        self._db.drop_table(self._name, ignore_missing=True)

    def close(self) -> None:
        """Nothing is held between two calls."""

    def compact(self) -> None:
        """LanceDB's own ``optimize``, which drops old versions too."""
        self._merge()

    def _merge(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of other processes, and the folder is ours alone
            self._table.optimize(cleanup_older_than=timedelta(0))

    def _read(self, columns: Sequence[str]) -> Any:
        return self._table.search().select(columns)

    def _add_columns(self, rows: Sequence[Record]) -> None:
        numbers = {name for row in rows for name, value in row.fields.items() if isinstance(value, int)}
        new = sorted({_column(name) for name in numbers} - set(self._table.schema.names))
        if new:
            self._table.add_columns(dict.fromkeys(new, "CAST(NULL AS BIGINT)"))

    def _batch(self, rows: Sequence[Record]) -> Any:
        arrow, schema = self._arrow, self._table.schema
        flat = arrow.array(np.concatenate([row.vector for row in rows]).astype(np.float32))
        columns = {
            "id": [row.id for row in rows],
            "text": [row.text for row in rows],
            "fields": [json.dumps(dict(row.fields)) for row in rows],
            "vector": arrow.FixedSizeListArray.from_arrays(flat, self._dim),
        }
        for name in schema.names[len(columns) :]:
            values = [row.fields.get(name.removeprefix(_PREFIX)) for row in rows]
            columns[name] = [value if isinstance(value, int) else None for value in values]
        return arrow.table(columns, schema=schema)


_PREFIX = "field_"


def _column(field: str) -> str:
    return _PREFIX + field


def _among(ids: Sequence[str]) -> str:
    quoted = ("'" + each.replace("'", "''") + "'" for each in ids)
    return f"id IN ({', '.join(quoted)})"


def _records(found: Any) -> Iterator[Record]:
    columns = found.to_pydict()
    vectors = columns.get("vector", [[]] * found.num_rows)
    whole = zip(columns["id"], columns["text"], vectors, columns["fields"], strict=True)
    for record_id, text, vector, fields in whole:
        yield Record(record_id, text, np.asarray(vector, np.float32), json.loads(fields))
