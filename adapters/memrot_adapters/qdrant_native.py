"""Qdrant by its own means: upserts with a condition under an id of the key, filters and deletes over
payload indexes. Where it runs is as of ``qdrant``.

A point is replaced only by a fact that is valid from later, or from the same instant: the condition of
the upsert. Qdrant has no expiry of its own: it is a number in the payload, and every search filters by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from memrot.memory import Capability, Clause, Embedder, MemoryService, Place
from memrot.model import Fact, Instant
from memrot_adapters import qdrant
from memrot_adapters._native import BY_KEY, NO_CASCADE, NO_PAST, NOTE, Fields, Native, fields, record_id
from memrot_adapters._opening import backend, check_options

NOTES = ("qdrant/native[server]: URL path not verified.",)
"""What ``memrot adapters`` says beside the first paragraph above."""

FACT = "fields.fact"

UPDATES = "https://qdrant.tech/documentation/edge/edge-api/updating-data/"
CAPABILITIES = {
    "filter": Capability(
        "native", "over payload indexes", "https://qdrant.tech/course/beginners/module-2/payload-filtering/"
    ),
    "expiry": Capability(
        "emulated",
        "no expiry in Qdrant: a filter on expires_at in every search",
        "https://github.com/qdrant/qdrant/issues/1327",
    ),
    "overwrite": BY_KEY,
    "renewal": Capability("native", "set_payload by filter, also of a fact that has expired", UPDATES),
    "invalidate": Capability("native", "delete by filter on the fact's id", UPDATES),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("native", "an upsert with a condition on valid_from", UPDATES),
    "as_of": NO_PAST,
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> MemoryService:
    check_options("qdrant/native", options, {"server": ("",), "memory": ("",)})
    if options:
        from memrot_adapters import _qdrant_native_client

        return _qdrant_native_client.open_memory(place, options, embedder)
    return QdrantNative(backend("qdrant_edge", "qdrant"), place, embedder)


class QdrantNative(Native, qdrant.Edge):
    def __init__(self, edge: Any, place: Place, embedder: Embedder) -> None:
        Native.__init__(self, embedder)
        qdrant.Edge.__init__(self, edge, place)
        self.info = structs.replace(self.info, name="qdrant/native", note=NOTE, capabilities=CAPABILITIES)
        if FACT not in self._indexed:
            keyword = edge.PayloadSchemaType.Keyword
            self._shard.update(edge.UpdateOperation.create_field_index(FACT, keyword))

    def put(self, fact: Fact) -> None:
        vector = self.embedder.embed([fact.text])[0]
        edge = self._edge
        point = edge.Point(record_id(fact), vector.tolist(), {"text": fact.text, "fields": fields(fact)})
        no_newer = self._filter([Clause("valid_from", "le", fact.valid_from)])
        self._shard.update(edge.UpdateOperation.upsert_points([point], condition=no_newer))

    def delete(self, fact_id: str) -> None:
        self._shard.update(self._edge.UpdateOperation.delete_points_by_filter(self._of(fact_id)))

    def held(self, fact_id: str) -> Fields | None:
        page = self._edge.ScrollRequest(
            limit=1, filter=self._of(fact_id), with_payload=True, with_vector=False
        )
        points, _ = self._shard.scroll(page)
        return points[0].payload["fields"] if points else None

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        patch = {"expires_at": expires_at}
        operation = self._edge.UpdateOperation.set_payload_by_filter(self._of(fact_id), patch, key="fields")
        self._shard.update(operation)

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        where = [Clause("valid_from", "le", at), Clause("expires_at", "gt", at)]
        found = self._nearest(self.embedder.embed(texts), where, k, FACT)
        return [[(point.payload["fields"]["fact"], point.score) for point in points] for points in found]

    def _of(self, fact_id: str) -> Any:
        edge = self._edge
        return edge.Filter(must=[edge.FieldCondition(FACT, match=edge.MatchValue(fact_id))])
