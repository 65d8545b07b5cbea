"""Chroma by its own means: ``upsert`` under an id of the key, filters on metadata, ``delete`` by filter.

Chroma has no expiry of its own: the expiry is a number in the metadata, and every search filters by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from memrot.memory import Capability, Clause, Embedder, Place
from memrot.model import Fact, Instant
from memrot_adapters import chroma
from memrot_adapters._native import BY_KEY, NO_CASCADE, NO_PAST, NOTE, Fields, Native, fields, record_id

DOCS = "https://docs.trychroma.com"
UPDATE = f"{DOCS}/docs/collections/update-data"
CAPABILITIES = {
    "filter": Capability("native", "where, over metadata", f"{DOCS}/reference/where-filter"),
    "expiry": Capability(
        "emulated",
        "no expiry in Chroma: a filter on expires_at in every search",
        "https://github.com/chroma-core/chroma/issues/2139",
    ),
    "overwrite": BY_KEY,
    "renewal": Capability("native", "update of the metadata, also of a fact that has expired", UPDATE),
    "invalidate": Capability(
        "native", "delete(where=...) by the fact's id", f"{DOCS}/docs/collections/delete-data"
    ),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "upsert takes no condition", UPDATE),
    "as_of": NO_PAST,
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> ChromaNative:
    return ChromaNative(chroma.opened("chroma/native", place, options), embedder)


class ChromaNative(Native, chroma.Chroma):
    def __init__(self, opened: tuple[Any, Any, Place, Path | None], embedder: Embedder) -> None:
        Native.__init__(self, embedder)
        chroma.Chroma.__init__(self, *opened)
        self.info = structs.replace(self.info, name="chroma/native", note=NOTE, capabilities=CAPABILITIES)

    def put(self, fact: Fact) -> None:
        vector = self.embedder.embed([fact.text])[0]
        self._collection.upsert(
            ids=[record_id(fact)], embeddings=[vector], documents=[fact.text], metadatas=[fields(fact)]
        )

    def delete(self, fact_id: str) -> None:
        self._collection.delete(where={"fact": fact_id})

    def held(self, fact_id: str) -> Fields | None:
        found: Sequence[Any] = self._collection.get(where={"fact": fact_id}, include=["metadatas"])[
            "metadatas"
        ]
        return dict(found[0]) if found else None

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        ids = self._collection.get(where={"fact": fact_id}, include=[])["ids"]
        self._collection.update(ids=ids, metadatas=[{"expires_at": expires_at}])

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        found = self._collection.query(
            query_embeddings=list(self.embedder.embed(texts)), n_results=k,
            include=["metadatas", "distances"],
            where=chroma.conditions([Clause("valid_from", "le", at), Clause("expires_at", "gt", at)]),
        )  # fmt: skip
        return [
            [(held["fact"], 1.0 - distance) for held, distance in zip(metadatas, distances, strict=True)]
            for metadatas, distances in zip(found["metadatas"], found["distances"], strict=True)
        ]
