"""The two modes in which Redis itself searches: the Query Engine (``ft``) and vector sets (``vset``).

Only numbers are pushed into filters: in both search languages some strings never match.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from memrot.memory import Fields, Op, Place, Query, Record, Vector, Where
from memrot_adapters._redis_hashes import VECTOR, Hashes
from memrot_adapters._redis_server import RedisServer

DISTANCE = "__distance"

Row: TypeAlias = tuple[bytes, Any]


class Ft(Hashes):
    """A FLAT index over the hashes, exact. Fields join it when they are first filtered by: a filter on
    a field that the index does not know finds nothing, without an error."""

    mode = "ft"
    probe = ("FT._LIST",)
    filters = frozenset({"gt", "le", "eq"})

    def __init__(self, connection: Any, place: Place, server: RedisServer | None) -> None:
        super().__init__(connection, place, server)
        self._name = f"{self._prefix}index"
        if self._name.encode() not in connection.execute_command("FT._LIST"):
            connection.execute_command(
                "FT.CREATE", self._name, "PREFIX", 1, self._records, "SCHEMA", VECTOR, "AS", "__vector",
                "VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", place.dim, "DISTANCE_METRIC", "COSINE",
            )  # fmt: skip
        attributes = self._described()[b"attributes"]
        self._covered = {
            dict(zip(each[::2], each[1::2], strict=False))[b"identifier"].decode() for each in attributes
        }
        self._wait()

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        skip = len(self._records)
        return [
            [(key.decode()[skip:], 1.0 - float(row[1])) for key, row in rows]
            for rows in self._nearest([query.vector for query in queries], where, k, DISTANCE)
        ]

    def drop(self) -> None:
        self._redis.execute_command("FT.DROPINDEX", self._name)
        super().drop()

    def _nearest(self, vectors: Iterable[Vector], where: Where, k: int, *shown: str) -> list[list[Row]]:
        """Per vector at most ``k`` keys, nearest first, each with names and values of what is shown; None
        in their place where the key has expired and the index has not heard of it."""
        self._cover(clause.field for clause in where)
        ranges = " ".join(f"@{clause.field}:{_range(clause.op, clause.value)}" for clause in where)
        nearest = f"{f'({ranges})' if ranges else '*'}=>[KNN {k} @__vector $vector AS {DISTANCE}]"
        read = self._redis.pipeline(transaction=False)
        for vector in vectors:
            read.execute_command(
                "FT.SEARCH", self._name, nearest, "PARAMS", 2, "vector", vector.tobytes(),
                "SORTBY", DISTANCE, "RETURN", len(shown), *shown, "LIMIT", 0, k, "TIMEOUT", 0, "DIALECT", 2,
            )  # fmt: skip
        return [list(zip(reply[1::2], reply[2::2], strict=True)) for reply in read.execute()]

    def _cover(self, fields: Iterable[str]) -> None:
        new = set(fields) - self._covered
        for field in new:
            self._redis.execute_command("FT.ALTER", self._name, "SCHEMA", "ADD", field, "NUMERIC")
        if new:
            self._covered |= new
            self._wait()

    def _wait(self) -> None:
        """Until the index, which is built in the background, holds what is there already."""
        while self._described()[b"indexing"]:
            time.sleep(0.002)

    def _described(self) -> dict[bytes, Any]:
        reply = self._redis.execute_command("FT.INFO", self._name)
        return dict(zip(reply[::2], reply[1::2], strict=True))


class Vset(Hashes):
    """A vector set beside the hashes, its elements' attributes the numeric fields.

    A vector is removed before it is replaced: Redis 8.2.3 leaves a VADD on an element that exists out
    of the append-only file, and a server that started again has the old vector.
    TRUTH: the graph gave three different results in three identical runs; NOTHREAD: a thread a
    query costs more than so small a query itself.
    """

    mode = "vset"
    probe = ("VCARD", "memrot:none")
    filters = frozenset({"gt", "le", "eq"})

    def __init__(self, connection: Any, place: Place, server: RedisServer | None) -> None:
        super().__init__(connection, place, server)
        self._set = f"{self._prefix}vectors"

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        terms = " and ".join(f".{clause.field} {_OPERATOR[clause.op]} {clause.value}" for clause in where)
        tail = ("WITHSCORES", "COUNT", k, *(("FILTER", terms) if terms else ()), "TRUTH", "NOTHREAD")
        read = self._redis.pipeline(transaction=False)
        for query in queries:
            read.execute_command("VSIM", self._set, "FP32", query.vector.tobytes(), *tail)
        return [
            [
                (name.decode(), 2.0 * float(score) - 1.0)
                for name, score in zip(reply[::2], reply[1::2], strict=True)
            ]
            for reply in read.execute()
        ]

    def drop(self) -> None:
        self._redis.unlink(self._set)
        super().drop()

    def _plan(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> Any:
        plan = super()._plan(put, patch, delete)
        for record in put:
            plan.execute_command("VREM", self._set, record.id)
            plan.execute_command(
                "VADD", self._set, "FP32", record.vector.tobytes(), record.id, "NOQUANT",
                "SETATTR", _attributes(record.fields),
            )  # fmt: skip
        for old in self.get(list(patch)):
            plan.execute_command("VSETATTR", self._set, old.id, _attributes({**old.fields, **patch[old.id]}))
        for record_id in delete:
            plan.execute_command("VREM", self._set, record_id)
        return plan


_OPERATOR: dict[Op, str] = {"gt": ">", "le": "<=", "eq": "=="}


def _range(op: Op, value: int) -> str:
    return {"gt": f"[({value} +inf]", "le": f"[-inf {value}]", "eq": f"[{value} {value}]"}[op]


def _attributes(fields: Fields) -> str:
    return json.dumps({name: value for name, value in fields.items() if isinstance(value, int)})
