"""Redis hashes as records: what all modes share, and the mode that needs nothing more (``plain``).

A record is a hash: its fields, an integer as digits and a string behind "=", so that each keeps its
type, beside ``.text`` and ``.vector``, which no field is called. Every key begins with the namespace
and a colon, and nothing is found by scanning the server: a set holds the ids.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memrot.memory import Fields, Info, Op, Place, Query, Record, Where
from memrot_adapters._redis_server import RedisServer

CHUNK = 1000
"""Records a round trip."""

TEXT, VECTOR = ".text", ".vector"

_REWRITING = ("in_progress", "scheduled")


class Hashes:
    """Reads and writes; a mode adds its ``search``, and to a ``_plan`` what its index needs."""

    mode: ClassVar[str]
    probe: ClassVar[tuple[str, ...]]
    """A command that only a server that can do the mode accepts."""
    filters: ClassVar[frozenset[Op]] = frozenset()

    def __init__(self, connection: Any, place: Place, server: RedisServer | None) -> None:
        about = connection.info("server")
        self.info = Info(
            name="redis",
            backend=f"{about.get('server_name', 'redis')} {self.mode}",
            version=about.get("valkey_version") or about["redis_version"],
            deployment="server" if server is None else "embedded",
            filters=self.filters,
        )
        self._redis = connection
        self._server = server
        self._prefix = f"{place.namespace}:"
        self._records = f"{self._prefix}record:"
        self._ids = f"{self._prefix}ids"
        self._folder = place.folder / place.namespace

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self._plan(put, patch, delete).execute()

    def _plan(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> Any:
        """One transaction; a mode that keeps more than the hashes adds it here."""
        plan = self._redis.pipeline(transaction=True)
        for record in put:
            key = self._records + record.id
            plan.delete(key)
            stored = {TEXT: record.text, VECTOR: record.vector.tobytes(), **_stored(record.fields)}
            plan.hset(key, mapping=stored)
        for record_id, fields in patch.items():
            plan.hset(self._records + record_id, mapping=_stored(fields))
        if put:
            plan.sadd(self._ids, *(record.id for record in put))
        if delete:
            plan.delete(*(self._records + record_id for record_id in delete))
            plan.srem(self._ids, *delete)
        return plan

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return list(self._read(ids))

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for record in self._read(self._all()):
            yield record if vectors else Record(record.id, record.text, record.vector[:0], record.fields)

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        raise NotImplementedError

    def drop(self) -> None:
        for chunk in _chunks(self._all()):
            self._redis.unlink(*(self._records + record_id for record_id in chunk))
        self._redis.unlink(self._ids)
        self.close()
        if self._server is not None:
            shutil.rmtree(self._folder)

    def close(self) -> None:
        self._redis.close()
        if self._server is not None:
            self._server.stop()

    def compact(self) -> None:
        """Write the append-only file anew, without what was deleted since."""
        self._redis.bgrewriteaof()
        while any(self._redis.info("persistence")[f"aof_rewrite_{state}"] for state in _REWRITING):
            time.sleep(0.005)
        self.close()

    def _all(self) -> list[str]:
        return [raw.decode() for raw in self._redis.smembers(self._ids)]

    def _read(self, ids: Sequence[str]) -> Iterator[Record]:
        for chunk in _chunks(ids):
            read = self._redis.pipeline(transaction=False)
            for record_id in chunk:
                read.hgetall(self._records + record_id)
            for record_id, raw in zip(chunk, read.execute(), strict=True):
                if raw:
                    text, vector = raw.pop(TEXT.encode()), np.frombuffer(raw.pop(VECTOR.encode()), np.float32)
                    yield Record(record_id, text.decode(), vector, _fields(raw))


class Plain(Hashes):
    """Ranks here: one pipelined read of all vectors a batch of questions."""

    mode = "plain"
    probe = ("PING",)

    def search(
        self,
        queries: Sequence[Query],
        where: Where,
        k: int,
    ) -> Sequence[Sequence[tuple[str, float]]]:
        ids = self._all()
        if not ids:
            return [[] for _ in queries]
        read = self._redis.pipeline(transaction=False)
        for record_id in ids:
            read.hget(self._records + record_id, VECTOR)
        vectors = np.frombuffer(b"".join(read.execute()), np.float32).reshape(len(ids), -1)
        similarities = _unit(np.stack([query.vector for query in queries])) @ _unit(vectors).T
        best = np.argsort(-similarities, axis=1)[:, :k]
        return [
            [(ids[row], float(line[row])) for row in rows]
            for line, rows in zip(similarities, best, strict=True)
        ]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


def _stored(fields: Fields) -> dict[str, str]:
    return {
        name: f"={value}" if isinstance(value, str) else str(int(value)) for name, value in fields.items()
    }


def _fields(raw: Mapping[bytes, bytes]) -> dict[str, int | str]:
    return {
        name.decode(): value[1:].decode() if value.startswith(b"=") else int(value)
        for name, value in raw.items()
    }
