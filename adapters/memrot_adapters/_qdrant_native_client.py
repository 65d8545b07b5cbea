"""Qdrant by its own means through its client: ``qdrant/native[server]``, and ``[memory]`` for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from memrot.memory import Clause, Embedder, Place
from memrot.model import Fact, Instant
from memrot_adapters._native import NOTE, Fields, Native, fields, record_id
from memrot_adapters._qdrant_client import Collection, opened
from memrot_adapters.qdrant_native import CAPABILITIES, FACT


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> CollectionNative:
    qdrant, client, in_memory = opened(options)
    return CollectionNative(qdrant, client, place, embedder, in_memory=in_memory)


class CollectionNative(Native, Collection):
    def __init__(
        self, qdrant: Any, client: Any, place: Place, embedder: Embedder, *, in_memory: bool
    ) -> None:
        Native.__init__(self, embedder)
        Collection.__init__(self, qdrant, client, place, in_memory=in_memory)
        self.info = structs.replace(
            self.info, name="qdrant/native", note=f"{NOTE}; {self.info.note}", capabilities=CAPABILITIES
        )
        if not in_memory:
            client.create_payload_index(self._name, FACT, self._models.PayloadSchemaType.KEYWORD)

    def put(self, fact: Fact) -> None:
        vector = self.embedder.embed([fact.text])[0]
        payload = {"text": fact.text, "fields": fields(fact)}
        point = self._models.PointStruct(id=record_id(fact), vector=vector.tolist(), payload=payload)
        no_newer = self._all_of([Clause("valid_from", "le", fact.valid_from)])
        self._client.upsert(self._name, [point], wait=True, update_filter=no_newer)

    def delete(self, fact_id: str) -> None:
        self._client.delete(self._name, self._models.FilterSelector(filter=self._of(fact_id)), wait=True)

    def held(self, fact_id: str) -> Fields | None:
        points, _ = self._client.scroll(
            self._name, scroll_filter=self._of(fact_id), limit=1, with_payload=True
        )
        return points[0].payload["fields"] if points else None

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        patch = {"expires_at": expires_at}
        self._client.set_payload(self._name, patch, points=self._of(fact_id), key="fields", wait=True)

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        live = self._all_of([Clause("valid_from", "le", at), Clause("expires_at", "gt", at)])
        requests = [
            self._models.QueryRequest(
                query=vector.tolist(), filter=live, params=self._exact, limit=k, with_payload=[FACT]
            )
            for vector in self.embedder.embed(texts)
        ]
        return [
            [(point.payload["fields"]["fact"], point.score) for point in found.points]
            for found in self._client.query_batch_points(self._name, requests)
        ]

    def _all_of(self, where: Sequence[Clause]) -> Any:
        conditions = [self._condition(clause.field, clause.op, clause.value) for clause in where]
        return self._models.Filter(must=conditions)

    def _of(self, fact_id: str) -> Any:
        match = self._models.MatchValue(value=fact_id)
        return self._models.Filter(must=[self._models.FieldCondition(key=FACT, match=match)])
