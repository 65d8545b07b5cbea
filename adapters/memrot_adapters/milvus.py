"""Milvus: Milvus Lite on a file of our own by default, ``milvus[server]`` at ``MEMROT_MILVUS_URL``.

A flat index, which is exact, and fields as one JSON, on whose members it runs all conditions; a condition on
a member that is absent, or no number, holds for nothing. Milvus replaces whole rows only: a patch reads
them and writes them again. A server answers of what it has flushed or not alike, but Milvus Lite looks
through what is not flushed row by row: over 2,000 records a question took 3.1 ms, and 1.1 ms when flushed,
which is done every 128 rows. A collection must be loaded when it is opened again.

What was deleted stays in the files of Milvus Lite: it merges them once there are several of a size, and
answers to a request to compact that it has, without having done anything.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Op, Place, Query, Record, Where
from memrot_adapters._opening import address, backend, check_options, reaching

URL = "MEMROT_MILVUS_URL"

EVERY = 128
"""Rows between two flushes."""

CHUNK = 1000
"""Rows of one call; a server has a limit on what a message holds."""

LONGEST = 65_535
"""Bytes of a text: as many as Milvus takes."""

_OPS: Mapping[Op, str] = {"gt": ">", "le": "<=", "eq": "=="}
_WHOLE = ["key", "text", "fields", "vector"]


def open_store(place: Place, options: Mapping[str, str]) -> Milvus:
    check_options("milvus", options, {"server": ("",)})
    pymilvus = backend("pymilvus", "milvus")
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, address and all
    if "server" not in options:
        servers = backend("milvus_lite.server_manager", "milvus").server_manager_instance
        place.folder.mkdir(parents=True, exist_ok=True)
        file = place.folder / f"{place.namespace}.db"
        return Milvus(pymilvus, pymilvus.MilvusClient(str(file)), place, file, servers)
    url = address(URL, "Milvus")
    with reaching(URL, "Milvus"):
        reached = pymilvus.MilvusClient(url, timeout=10)
        reached.get_server_version()  # a connection of before is taken without a call, also a dead one
    return Milvus(pymilvus, reached, place)


class Milvus:
    def __init__(
        self, pymilvus: Any, milvus: Any, place: Place, file: Path | None = None, servers: Any = None
    ) -> None:
        self._milvus = milvus
        self._name = place.namespace
        self._file = file
        self._servers = servers
        self._unflushed = 0
        made = version("milvus-lite") if file else milvus.get_server_version().removeprefix("v")
        self.info = Info(
            name="milvus",
            backend="Milvus Lite" if file else "Milvus",
            version=made,
            deployment="embedded" if file else "server",
            filters=frozenset(_OPS),
        )
        if not milvus.has_collection(self._name):
            self._create(pymilvus.DataType, place.dim)
        milvus.load_collection(self._name)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        rows = [
            {"key": _key(new.id), "text": new.text, "fields": dict(new.fields), "vector": new.vector.tolist()}
            for new in put
        ]
        rows += [
            {**old, "fields": {**old["fields"], **patch[_id(old["key"])]}} for old in self._get(list(patch))
        ]
        for start in range(0, len(rows), CHUNK):
            self._milvus.upsert(self._name, rows[start : start + CHUNK])
        for start in range(0, len(delete), CHUNK):
            self._milvus.delete(self._name, ids=list(map(_key, delete[start : start + CHUNK])))
        self._unflushed += len(rows) + len(delete)
        if self._unflushed >= EVERY:
            self._milvus.flush(self._name)
            self._unflushed = 0

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return [_record(row) for row in self._get(ids)]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        columns = _WHOLE if vectors else _WHOLE[:-1]
        rows = self._milvus.query_iterator(self._name, batch_size=CHUNK, output_fields=columns)
        while batch := rows.next():
            yield from map(_record, batch)
        rows.close()

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        tests = (f'fields["{clause.field}"] {_OPS[clause.op]} {clause.value}' for clause in where)
        found = self._milvus.search(
            self._name,
            data=[query.vector.tolist() for query in queries],
            filter=" and ".join(tests),
            limit=k,
            output_fields=["key"],  # of nothing it makes everything
        )
        return [[(_id(hit["key"]), hit["distance"]) for hit in hits] for hits in found]

    def drop(self) -> None:
        if self._file is None:
            self._milvus.drop_collection(self._name)
        self.close()
        if self._file is not None:
            shutil.rmtree(self._file)

    def close(self) -> None:
        self._milvus.close()
        if self._file is not None:
            self._servers.release_server(str(self._file))  # which its own close leaves running

    def _create(self, types: Any, dim: int) -> None:
        schema = self._milvus.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", types.VARCHAR, is_primary=True, max_length=LONGEST)
        schema.add_field("text", types.VARCHAR, max_length=LONGEST)
        schema.add_field("fields", types.JSON)
        schema.add_field("vector", types.FLOAT_VECTOR, dim=dim)
        index = self._milvus.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="COSINE")
        self._milvus.create_collection(self._name, schema=schema, consistency_level="Strong")
        # made with its collection, it would be waited for by half seconds
        self._milvus.create_index(self._name, index, sync=False)

    def _get(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for start in range(0, len(ids), CHUNK):
            keys = list(map(_key, ids[start : start + CHUNK]))
            rows += self._milvus.get(self._name, ids=keys, output_fields=_WHOLE)
        return rows


def _key(record_id: str) -> str:
    """An id that needs no quotes: pymilvus writes ids into conditions as they are."""
    return record_id.encode().hex()


def _id(key: str) -> str:
    return bytes.fromhex(key).decode()


def _record(row: Mapping[str, Any]) -> Record:
    vector = np.asarray(row.get("vector", []), np.float32)
    return Record(_id(row["key"]), row["text"], vector, row["fields"])
