"""Qdrant, a vector database: in process (qdrant-edge), or ``qdrant[server]`` at ``MEMROT_QDRANT_URL``.

A server's key is in ``MEMROT_QDRANT_API_KEY``; ``qdrant[memory]`` is what Qdrant's own client imitates one
with, for tests: a filtered question takes over 50 times as long. Conditions run over indexes of the payload.

Searches are exact: the edge's HNSW loses recall as records are deleted. Point ids must be UUIDs or
integers, so ours lives in the payload beside the text, and the fields are nested under one name so
that none can clash with them. Booleans would match no filter; fields are integers and strings only.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Place, Query, Record, Store, Vector, Where
from memrot_adapters._opening import backend, check_options

NOTES = ("qdrant[server]: URL path not verified.",)
"""For the listing of adapters: no server could be had; its client's ``:memory:`` runs the same code."""


def open_store(place: Place, options: Mapping[str, str]) -> Store:
    check_options("qdrant", options, {"server": ("",), "memory": ("",)})
    if options:
        from memrot_adapters import _qdrant_client

        return _qdrant_client.open_store(place, options)
    return Edge(backend("qdrant_edge", "qdrant"), place)


def point_id(record_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, record_id))


def payload(record: Record) -> dict[str, Any]:
    return {"id": record.id, "text": record.text, "fields": dict(record.fields)}


def record(point: Any) -> Record:
    """Of a point as the edge or the server's client returns it."""
    vector = np.asarray([] if point.vector is None else point.vector, np.float32)
    return Record(point.payload["id"], point.payload["text"], vector, point.payload["fields"])


def hits(points: Sequence[Any]) -> list[tuple[str, float]]:
    return [(point.payload["id"], point.score) for point in points]


class Edge:
    def __init__(self, edge: Any, place: Place) -> None:
        self.info = Info(
            name="qdrant",
            backend="qdrant-edge",
            version=version("qdrant-edge-py"),
            filters=frozenset({"gt", "le", "eq"}),
        )
        self._edge = edge
        self._folder = place.folder / place.namespace
        # One thread: handing a query on to a pool costs more than scoring these few records.
        vectors = edge.EdgeVectorParams(size=place.dim, distance=edge.Distance.Cosine)
        config = edge.EdgeConfig(vectors=vectors, max_search_threads=1, wal_enabled=True)
        made = (self._folder / "edge_config.json").exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._shard = (edge.EdgeShard.load if made else edge.EdgeShard.create)(str(self._folder), config)
        self._indexed = set(self._shard.info().payload_schema)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        operation, edge = self._edge.UpdateOperation, self._edge
        if put:
            points = [edge.Point(point_id(new.id), new.vector.tolist(), payload(new)) for new in put]
            self._shard.update(operation.upsert_points(points))
        for record_id, fields in patch.items():
            self._shard.update(operation.set_payload([point_id(record_id)], dict(fields), key="fields"))
        if delete:
            self._shard.update(operation.delete_points([point_id(record_id) for record_id in delete]))

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        found = self._shard.retrieve(
            [point_id(record_id) for record_id in ids], with_payload=True, with_vector=True
        )
        return [record(point) for point in found]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        offset = None
        while True:
            page = self._edge.ScrollRequest(offset=offset, limit=1000, with_payload=True, with_vector=vectors)
            points, offset = self._shard.scroll(page)
            yield from map(record, points)
            if offset is None:
                return

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        return [hits(points) for points in self._nearest([query.vector for query in queries], where, k, "id")]

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self._folder)

    def close(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def compact(self) -> None:
        """The edge's optimizer; for so few records it finds nothing to do."""
        self._shard.optimize()
        self._shard.flush()
        self.close()

    def _nearest(self, vectors: Iterable[Vector], where: Where, k: int, shown: str) -> Sequence[Any]:
        """Per vector at most ``k`` points, most similar first, each with one field of its payload."""
        edge = self._edge
        exact, condition = edge.SearchParams(exact=True), self._filter(where)
        requests = [
            edge.QueryRequest(
                limit=k, query=edge.Query.Nearest(vector.tolist()), filter=condition, params=exact,
                with_payload=[shown],
            )
            for vector in vectors
        ]  # fmt: skip
        found: Sequence[Any] = self._shard.query_batch(edge.QueryBatchRequest(requests))
        return found

    def _filter(self, where: Where) -> Any:
        """Over indexed fields: an index takes 0.1 s to make, and its filter a quarter of the time."""
        edge = self._edge
        conditions = []
        for clause in where:
            field = f"fields.{clause.field}"
            if field not in self._indexed:
                integer = edge.PayloadSchemaType.Integer
                self._shard.update(edge.UpdateOperation.create_field_index(field, integer))
                self._indexed.add(field)
            if clause.op == "eq":
                test = {"match": edge.MatchValue(clause.value)}
            else:
                bound = {"gt" if clause.op == "gt" else "lte": float(clause.value)}
                test = {"range": edge.RangeFloat(**bound)}
            conditions.append(edge.FieldCondition(field, **test))
        return edge.Filter(must=conditions) if conditions else None
