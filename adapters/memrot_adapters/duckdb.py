"""DuckDB in process, a file a store, without an index on the vectors: searches are exact.

All questions of a stage are one statement that keeps the k largest of each by an aggregate, 1.5 ms a
question over 2,000 records of 384 dimensions. With a question a statement it took 3.1 ms, with a lateral
join 4.2 and with a window 6.6, since those sort what they find. In the same way all that a plan puts is
one statement: a row at a time took eight times as long. A condition compares the JSON of a field, whose
type is a condition of its own. One thread: cells are measured side by side.

What was deleted stays in the file through ``CHECKPOINT`` and ``VACUUM``; a copy of the database is without.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Op, Place, Query, Record, Where
from memrot_adapters._opening import backend, check_options

_OPS: Mapping[Op, str] = {"gt": ">", "le": "<=", "eq": "="}


def open_store(place: Place, options: Mapping[str, str]) -> DuckDB:
    check_options("duckdb", options, {})
    return DuckDB(backend("duckdb", "duckdb"), place)


class DuckDB:
    def __init__(self, duckdb: Any, place: Place) -> None:
        self.info = Info(
            name="duckdb",
            backend="DuckDB",
            version=duckdb.__version__,
            deployment="in process",
            filters=frozenset(_OPS),
        )
        place.folder.mkdir(parents=True, exist_ok=True)
        self._file = place.folder / f"{place.namespace}.duckdb"
        self._type = f"FLOAT[{place.dim}]"
        self._db = duckdb.connect(str(self._file), config={"threads": 1})
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, text TEXT NOT NULL,"
            f" fields JSON NOT NULL, vector {self._type} NOT NULL)"
        )

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self._db.begin()
        try:
            self._run(put, patch, delete)
        except BaseException:  # or else every later statement would be refused
            self._db.rollback()
            raise
        self._db.commit()

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return self._records("vector", "WHERE id IN (SELECT unnest(?::TEXT[]))", list(ids))

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        yield from self._records("vector" if vectors else "[]")

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        tests = [
            "json_type(fields, ?) IN ('BIGINT', 'UBIGINT')"
            f" AND TRY_CAST(json_extract(fields, ?) AS BIGINT) {_OPS[clause.op]} ?"
            for clause in where
        ]
        paths = [(f'$."{clause.field}"', clause.value) for clause in where]
        values = [value for path, bound in paths for value in (path, path, bound)]
        nearest = (
            f"WITH asked AS (SELECT unnest(?::{self._type}[]) AS query, unnest(range(?)) AS number),"
            f" held AS (SELECT id, vector FROM records {'WHERE ' if tests else ''}{' AND '.join(tests)})"
            " SELECT number, max({'near': array_cosine_similarity(vector, query), 'id': id}, ?)"
            " FROM asked, held GROUP BY number"
        )
        found: list[list[tuple[str, float]]] = [[] for _ in queries]
        asked = [query.vector.tolist() for query in queries]
        for number, hits in self._db.execute(nearest, [asked, len(asked), *values, k]).fetchall():
            found[number] = [(hit["id"], hit["near"]) for hit in hits]
        return found

    def drop(self) -> None:
        self.close()
        for left in self._file.parent.glob(f"{self._file.name}*"):
            left.unlink()

    def close(self) -> None:
        self._db.close()

    def compact(self) -> None:
        """DuckDB's own ``COPY FROM DATABASE``: the copy takes the file's place."""
        copy = self._file.with_suffix(".new")
        quoted = str(copy).replace("'", "''")
        self._db.execute(f"ATTACH '{quoted}' AS copy")
        self._db.execute(f'COPY FROM DATABASE "{self._file.stem}" TO copy')
        self._db.execute("DETACH copy")
        self.close()
        copy.replace(self._file)

    def _run(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        if delete:
            self._db.execute("DELETE FROM records WHERE id IN (SELECT unnest(?::TEXT[]))", [list(delete)])
        if patch:
            merge = (
                "UPDATE records SET fields = json_merge_patch(fields, patch)"
                " FROM (SELECT unnest(?::TEXT[]) AS name, unnest(?::JSON[]) AS patch) WHERE id = name"
            )
            self._db.execute(merge, [list(patch), [json.dumps(dict(fields)) for fields in patch.values()]])
        if put:
            upsert = (
                "INSERT OR REPLACE INTO records SELECT unnest(?::TEXT[]), unnest(?::TEXT[]),"
                f" unnest(?::JSON[]), unnest(?::{self._type}[])"
            )
            rows = [(new.id, new.text, json.dumps(dict(new.fields)), new.vector.tolist()) for new in put]
            self._db.execute(upsert, [list(column) for column in zip(*rows, strict=True)])

    def _records(self, vector: str, condition: str = "", *values: Any) -> list[Record]:
        rows = self._db.execute(f"SELECT id, text, fields, {vector} FROM records {condition}", values)
        return [
            Record(record_id, text, np.asarray(held, np.float32), json.loads(fields))
            for record_id, text, fields, held in rows.fetchall()
        ]
