"""SQLite with the extension sqlite-vec, a file a store, through apsw (Python's own sqlite3 often loads no
extensions; loading this one into both in one process crashes).

Searches are exact. A condition on another table would be applied to the first k after the search, so that
k = 1 finds nothing: conditions go into ``rowid IN (...)``, which the search itself obeys. With 2,000
records of 384 dimensions a question takes 1.8 ms, and 4.3 ms with a condition. A search for more than
4,096 is refused by the index and computed row by row. What was deleted stays in the file until ``VACUUM``: of
18 facts to be erased 12 could still be read until then (SQLite overwrites nothing unless ``secure_delete`` is
on; how the extension frees space: https://github.com/asg017/sqlite-vec/pull/268).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Op, Place, Query, Record, Where
from memrot_adapters._opening import backend, check_options

MOST = 4096
"""Hits that the index gives at once."""

CHUNK = 500
"""Ids a statement: SQLite binds a limited number of values."""

_OPS: Mapping[Op, str] = {"gt": ">", "le": "<=", "eq": "="}


def open_store(place: Place, options: Mapping[str, str]) -> SqliteVec:
    check_options("sqlite-vec", options, {})
    return SqliteVec(backend("apsw", "sqlite-vec"), backend("sqlite_vec", "sqlite-vec"), place)


class SqliteVec:
    def __init__(self, apsw: Any, extension: Any, place: Place) -> None:
        place.folder.mkdir(parents=True, exist_ok=True)
        self._file = place.folder / f"{place.namespace}.sqlite3"
        self._db = apsw.Connection(str(self._file))
        self._db.enable_load_extension(True)
        self._db.load_extension(extension.loadable_path())
        self._db.enable_load_extension(False)
        # what was committed outlives a process that is killed, though not a machine that loses power
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS records"
            " (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, fields TEXT NOT NULL);"
            "CREATE VIRTUAL TABLE IF NOT EXISTS vectors"
            f" USING vec0(vector float[{place.dim}] distance_metric=cosine)"
        )
        versions = self._db.execute("SELECT vec_version(), sqlite_version()").fetchone()
        self.info = Info(
            name="sqlite-vec",
            backend="sqlite-vec",
            version=f"{versions[0].removeprefix('v')} (SQLite {versions[1]})",
            filters=frozenset(_OPS),
        )

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        with self._db:
            for record_id in [*delete, *(new.id for new in put)]:
                row = "(SELECT row FROM records WHERE id = ?)"
                self._db.execute(f"DELETE FROM vectors WHERE rowid = {row}", (record_id,))
                self._db.execute("DELETE FROM records WHERE id = ?", (record_id,))
            for new in put:
                whole = (new.id, new.text, json.dumps(dict(new.fields)))
                self._db.execute("INSERT INTO records (id, text, fields) VALUES (?, ?, ?)", whole)
                vector = (self._db.last_insert_rowid(), new.vector.astype(np.float32).tobytes())
                self._db.execute("INSERT INTO vectors (rowid, vector) VALUES (?, ?)", vector)
            for record_id, fields in patch.items():
                patched = (json.dumps(dict(fields)), record_id)
                self._db.execute("UPDATE records SET fields = json_patch(fields, ?) WHERE id = ?", patched)

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        found: list[Record] = []
        for start in range(0, len(ids), CHUNK):
            chunk = tuple(ids[start : start + CHUNK])
            marks = ", ".join("?" * len(chunk))
            found += self._records(f"SELECT {_WHOLE} WHERE id IN ({marks})", chunk)
        return found

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        yield from self._records(f"SELECT {_WHOLE if vectors else _BARE}")

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        condition, values = "", list[str | int]()
        if where:
            tests = " AND ".join(
                f"json_type(fields, ?) = 'integer' AND json_extract(fields, ?) {_OPS[clause.op]} ?"
                for clause in where
            )
            condition = f"vectors.rowid IN (SELECT row FROM records WHERE {tests})"
            for clause in where:
                path = f'$."{clause.field}"'
                values += [path, path, clause.value]
        if k <= MOST:
            near = "SELECT rowid, distance FROM vectors WHERE vector MATCH ? AND k = ?"
            near += f" AND {condition}" if condition else ""
        else:
            near = "SELECT rowid, vec_distance_cosine(vector, ?) AS distance FROM vectors"
            near += f" WHERE {condition}" if condition else ""
            near += " ORDER BY distance LIMIT ?"
        statement = f"SELECT id, 1 - distance FROM ({near}) JOIN records ON row = rowid ORDER BY distance"
        bound = [k, *values] if k <= MOST else [*values, k]
        vectors = (query.vector.astype(np.float32).tobytes() for query in queries)
        return [self._db.execute(statement, (vector, *bound)).fetchall() for vector in vectors]

    def drop(self) -> None:
        self.close()
        for left in self._file.parent.glob(f"{self._file.name}*"):
            left.unlink()

    def close(self) -> None:
        self._db.close()

    def compact(self) -> None:
        """SQLite's own ``VACUUM``: the file is written anew without what was deleted."""
        self._db.execute("VACUUM")
        self.close()

    def _records(self, statement: str, values: Sequence[str] = ()) -> Iterator[Record]:
        for record_id, text, fields, vector in self._db.execute(statement, values).fetchall():
            yield Record(record_id, text, np.frombuffer(vector, np.float32), json.loads(fields))


_BARE = "id, text, fields, x'' FROM records"
_WHOLE = "id, text, fields, vector FROM records JOIN vectors ON vectors.rowid = row"
