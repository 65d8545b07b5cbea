"""PostgreSQL with pgvector: a server of our own by default, ``pgvector[server]`` at ``MEMROT_PGVECTOR_URL``,
or else at ``DATABASE_URL``.

A table a store, without an index on the vectors: searches are exact, whereas the HNSW index takes its
candidates before a condition is applied and returns fewer than k
(https://github.com/pgvector/pgvector#filtering). A condition compares the JSON of a
field, in whose order every text is below every number, so that the type is a condition of its own. One
statement answers all questions of a stage: 0.5 ms a question over some 100 records.

What was deleted leaves the table with ``VACUUM FULL``, but not the write-ahead log: of 18 facts to be erased
all 18 could still be read there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Op, Place, Query, Record, Vector, Where
from memrot_adapters._opening import backend, check_options
from memrot_adapters._postgres_server import PostgresServer, connected, extended

URL = "MEMROT_PGVECTOR_URL"
_OPS: Mapping[Op, str] = {"gt": ">", "le": "<=", "eq": "="}


def open_store(place: Place, options: Mapping[str, str]) -> PgVector:
    check_options("pgvector", options, {"server": ("",)})
    psycopg = backend("psycopg", "pgvector")
    if "server" in options:
        return PgVector(psycopg, connected(psycopg, URL), place, None)
    server = PostgresServer(psycopg, place.folder / place.namespace)
    try:
        return PgVector(psycopg, server.connection, place, server)
    except BaseException:
        server.stop()
        raise


class PgVector:
    def __init__(self, psycopg: Any, connection: Any, place: Place, server: PostgresServer | None) -> None:
        self._db = connection
        self._json = psycopg.types.json.Jsonb
        self._table = f'"{place.namespace}"'
        self._server = server
        version = extended(psycopg, self._db)
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} (id text PRIMARY KEY, text text NOT NULL,"
            f" fields jsonb NOT NULL, vector vector({place.dim}) NOT NULL)"
        )
        self.info = Info(
            name="pgvector",
            backend="pgvector",
            version=version,
            deployment="server" if server is None else "embedded",
            filters=frozenset(_OPS),
        )

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        upsert = (
            f"INSERT INTO {self._table} VALUES (%s, %s, %s, %s::vector) ON CONFLICT (id) DO UPDATE"
            " SET text = excluded.text, fields = excluded.fields, vector = excluded.vector"
        )
        merge = f"UPDATE {self._table} SET fields = fields || %s WHERE id = %s"
        with self._db.transaction(), self._db.cursor() as cursor:
            cursor.executemany(
                upsert,
                [(new.id, new.text, self._json(dict(new.fields)), _literal(new.vector)) for new in put],
            )
            cursor.executemany(
                merge, [(self._json(dict(new)), record_id) for record_id, new in patch.items()]
            )
            cursor.execute(f"DELETE FROM {self._table} WHERE id = ANY(%s)", (list(delete),))

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return self._records("vector::text", "WHERE id = ANY(%s)", list(ids))

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        yield from self._records("vector::text" if vectors else "'[]'")

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        tests = [
            f"jsonb_typeof(fields -> %s) = 'number' AND fields -> %s {_OPS[clause.op]} to_jsonb(%s::bigint)"
            for clause in where
        ]
        values = [value for clause in where for value in (clause.field, clause.field, clause.value)]
        condition = f"WHERE {' AND '.join(tests)}" if tests else ""
        nearest = (
            "SELECT number, id, 1 - distance"
            " FROM unnest(%s::vector[]) WITH ORDINALITY AS asked (query, number)"
            f" CROSS JOIN LATERAL (SELECT id, vector <=> query AS distance FROM {self._table} {condition}"
            " ORDER BY distance LIMIT %s) AS near ORDER BY number, distance"
        )
        found: list[list[tuple[str, float]]] = [[] for _ in queries]
        vectors = [_literal(query.vector) for query in queries]
        for number, record_id, similarity in self._db.execute(nearest, (vectors, *values, k)):
            found[number - 1].append((record_id, similarity))
        return found

    def drop(self) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {self._table}")
        self.close()
        if self._server is not None:
            self._server.remove()

    def close(self) -> None:
        self._db.close()
        if self._server is not None:
            self._server.stop()

    def compact(self) -> None:
        """``VACUUM FULL``: the table is written anew without what was deleted; the log keeps it."""
        self._db.execute(f"VACUUM FULL {self._table}")
        self.close()

    def _records(self, vector: str, condition: str = "", *values: Any) -> list[Record]:
        rows = self._db.execute(f"SELECT id, text, fields, {vector} FROM {self._table} {condition}", values)
        return [Record(record_id, text, _vector(held), fields) for record_id, text, fields, held in rows]


def _literal(vector: Vector) -> str:
    return f"[{','.join(map(str, vector.astype(np.float32).tolist()))}]"


def _vector(literal: str) -> Vector:
    return np.array([float(part) for part in literal.strip("[]").split(",") if part], np.float32)
