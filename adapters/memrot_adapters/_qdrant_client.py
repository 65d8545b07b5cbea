"""Qdrant through its client: a server at ``MEMROT_QDRANT_URL``, or the client's ``:memory:`` mode.

Both run the same code; ``:memory:`` is a Python imitation of the server, slow, and there for tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from memrot.memory import Fields, Info, Place, Query, Record, Where
from memrot_adapters._opening import address, backend, reaching
from memrot_adapters.qdrant import hits, payload, point_id, record

URL = "MEMROT_QDRANT_URL"
API_KEY = "MEMROT_QDRANT_API_KEY"
CHUNK = 500
"""Points a call: a server refuses bodies above 32 MB."""


def open_store(place: Place, options: Mapping[str, str]) -> Collection:
    qdrant, client, in_memory = opened(options)
    return Collection(qdrant, client, place, in_memory=in_memory)


def opened(options: Mapping[str, str]) -> tuple[Any, Any, bool]:
    """The module, a client of it, and whether that is the imitation."""
    qdrant = backend("qdrant_client", "qdrant")
    if "memory" in options:
        return qdrant, qdrant.QdrantClient(":memory:"), True
    url = address(URL, "Qdrant")
    with reaching(URL, "Qdrant"):
        client = qdrant.QdrantClient(url=url, api_key=os.environ.get(API_KEY), check_compatibility=False)
        client.get_collections()
        return qdrant, client, False


class Collection:
    def __init__(self, qdrant: Any, client: Any, place: Place, *, in_memory: bool) -> None:
        self.info = Info(
            name="qdrant",
            backend="qdrant-client :memory:" if in_memory else "qdrant",
            version=version("qdrant-client"),
            deployment="in process" if in_memory else "server",
            filters=frozenset({"gt", "le", "eq"}),
            persists=not in_memory,
            note="tests only" if in_memory else "URL path not verified",
        )
        self._client = client
        self._models = qdrant.models
        self._name = place.namespace
        self._in_memory = in_memory
        if not client.collection_exists(place.namespace):
            shape = self._models.VectorParams(size=place.dim, distance=self._models.Distance.COSINE)
            client.create_collection(place.namespace, vectors_config=shape)
        self._indexed: set[str] = set()
        # The imitation is always exact, and warns of a parameter that says so.
        self._exact = None if in_memory else self._models.SearchParams(exact=True)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        models, client = self._models, self._client
        points = [
            models.PointStruct(id=point_id(new.id), vector=new.vector.tolist(), payload=payload(new))
            for new in put
        ]
        for start in range(0, len(points), CHUNK):
            client.upsert(self._name, points[start : start + CHUNK], wait=True)
        patches = [
            models.SetPayloadOperation(
                set_payload=models.SetPayload(payload=dict(fields), points=[point_id(old)], key="fields")
            )
            for old, fields in patch.items()
        ]
        if patches:
            client.batch_update_points(self._name, patches, wait=True)
        if delete:
            client.delete(self._name, [point_id(record_id) for record_id in delete], wait=True)

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        found = self._client.retrieve(
            self._name, [point_id(record_id) for record_id in ids], with_payload=True, with_vectors=True
        )
        return [record(point) for point in found]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._name, limit=CHUNK, offset=offset, with_payload=True, with_vectors=vectors
            )
            yield from map(record, points)
            if offset is None:
                return

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        models = self._models
        conditions = [self._condition(clause.field, clause.op, clause.value) for clause in where]
        requests = [
            models.QueryRequest(
                query=query.vector.tolist(), filter=models.Filter(must=conditions) if conditions else None,
                params=self._exact, limit=k, with_payload=["id"],
            )
            for query in queries
        ]  # fmt: skip
        return [hits(found.points) for found in self._client.query_batch_points(self._name, requests)]

    def drop(self) -> None:
        self._client.delete_collection(self._name)
        self.close()

    def close(self) -> None:
        self._client.close()

    def _condition(self, name: str, op: str, value: int) -> Any:
        models, field = self._models, f"fields.{name}"
        if not self._in_memory and field not in self._indexed:
            self._client.create_payload_index(self._name, field, models.PayloadSchemaType.INTEGER)
            self._indexed.add(field)
        if op == "eq":
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        return models.FieldCondition(key=field, range=models.Range(**{"gt" if op == "gt" else "lte": value}))
