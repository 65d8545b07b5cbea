"""Chroma, a vector database: in process on a folder, or ``chroma[server]`` at ``MEMROT_CHROMA_URL``.

It is given our vectors, compares by cosine, and runs all conditions itself. It takes some 5,000 records a
call, and refuses an empty condition, a conjunction of one, and an id that is given twice. A server that
asks for a token is given that of ``MEMROT_CHROMA_TOKEN``, in Chroma's own header and as a bearer.

Its HNSW index is approximate. Replacing 1,500 of 1,000 clustered vectors, 1 to 11 live records could
not be found by their own vector with the default graph and ``upsert``, 1 to 6 with the default graph
and delete + add, 0 to 1 with the graph below and ``upsert``, and none with both, as done here.
Deleting first also drops the old metadata, which ``upsert`` would merge.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from memrot.memory import Fields, Info, Place, Query, Record, Where
from memrot_adapters._opening import address, backend, check_options, reaching

URL = "MEMROT_CHROMA_URL"
TOKEN = "MEMROT_CHROMA_TOKEN"  # noqa: S105  the name of the variable, which need not be set


def open_store(place: Place, options: Mapping[str, str]) -> Chroma:
    return Chroma(*opened("chroma", place, options))


def opened(adapter: str, place: Place, options: Mapping[str, str]) -> tuple[Any, Any, Place, Path | None]:
    """The module, a client of it, where to keep data, and the folder of the client (a server has none)."""
    check_options(adapter, options, {"server": ("",)})
    chromadb = backend("chromadb", "chroma")
    if "server" in options:
        return chromadb, _connect(chromadb, address(URL, "Chroma")), place, None
    folder = place.folder / place.namespace
    return chromadb, chromadb.PersistentClient(str(folder), settings=_settings(chromadb)), place, folder


def _settings(chromadb: Any) -> Any:
    return chromadb.config.Settings(anonymized_telemetry=False)


def _connect(chromadb: Any, url: str) -> Any:
    token = os.environ.get(TOKEN)
    headers = {"X-Chroma-Token": token, "Authorization": f"Bearer {token}"} if token else {}
    with reaching(URL, "Chroma"):
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        return chromadb.HttpClient(
            host=parts.hostname or "", port=parts.port or (443 if secure else 8000), ssl=secure,
            headers=headers, settings=_settings(chromadb),
        )  # fmt: skip


class Chroma:
    def __init__(self, chromadb: Any, client: Any, place: Place, folder: Path | None = None) -> None:
        self.info = Info(
            name="chroma",
            backend="chromadb",
            version=client.get_version() if folder is None else chromadb.__version__,
            deployment="server" if folder is None else "embedded",
            filters=frozenset({"gt", "le", "eq"}),
        )
        self._client = client
        self._folder = folder
        self._name = place.namespace
        # Deleted vectors stay in the graph, hence twice as many as are expected to live.
        graph = {"space": "cosine", "ef_search": max(200, 2 * place.expected), "max_neighbors": 64,
                 "ef_construction": 400}  # fmt: skip
        self._collection = client.get_or_create_collection(
            place.namespace, embedding_function=None, configuration={"hnsw": graph}
        )
        self._most: int = client.get_max_batch_size()

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        gone = [*delete, *self._held([record.id for record in put])]
        for ids in self._chunks(gone):
            self._collection.delete(ids=ids)
        for records in self._chunks(put):
            self._collection.add(
                ids=[record.id for record in records],
                embeddings=[record.vector for record in records],
                documents=[record.text for record in records],
                metadatas=[dict(record.fields) for record in records],
            )
        for ids in self._chunks(list(patch)):
            self._collection.update(ids=ids, metadatas=[dict(patch[record_id]) for record_id in ids])

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        include = ["documents", "metadatas", "embeddings"]
        return [
            record
            for chunk in self._chunks(ids)
            for record in _records(self._collection.get(ids=chunk, include=include))
        ]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        include = ["documents", "metadatas", *(["embeddings"] if vectors else [])]
        for offset in range(0, self._collection.count(), self._most):
            yield from _records(self._collection.get(limit=self._most, offset=offset, include=include))

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        found = self._collection.query(
            query_embeddings=[query.vector for query in queries],
            n_results=k,
            where=conditions(where),
            include=["distances"],
        )
        return [
            [(record_id, 1.0 - distance) for record_id, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def drop(self) -> None:
        self._client.delete_collection(self._name)
        self.close()
        if self._folder is not None:
            shutil.rmtree(self._folder)

    def close(self) -> None:
        self._client.close()
        if self._folder is None:
            for client in (self._client, self._client._admin_client):  # noqa: SLF001  see below
                client._server._session.close()  # noqa: SLF001  its own close() leaves the sockets open

    def compact(self) -> None:
        """``chroma vacuum``: it wants the folder for itself."""
        self.close()
        backend("chromadb_rust_bindings", "chroma").cli(
            ["chroma", "vacuum", "--path", str(self._folder), "--force"]
        )

    def _held(self, ids: Sequence[str]) -> Iterator[str]:
        for chunk in self._chunks(ids):
            yield from self._collection.get(ids=chunk, include=[])["ids"]

    def _chunks(self, items: Sequence[Any]) -> Iterator[Any]:
        for start in range(0, len(items), self._most):
            yield items[start : start + self._most]


def conditions(clauses: Where) -> dict[str, Any] | None:
    """Chroma refuses a conjunction of one and an empty filter."""
    ops = {"gt": "$gt", "le": "$lte", "eq": "$eq"}
    each = [{clause.field: {ops[clause.op]: clause.value}} for clause in clauses]
    if len(each) > 1:
        return {"$and": each}
    return each[0] if each else None


def _records(found: Mapping[str, Any]) -> Iterator[Record]:
    vectors = found["embeddings"]
    for row, record_id in enumerate(found["ids"]):
        vector = np.zeros(0, np.float32) if vectors is None else np.asarray(vectors[row], np.float32)
        yield Record(record_id, found["documents"][row], vector, found["metadatas"][row])
