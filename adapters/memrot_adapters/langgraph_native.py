"""LangGraph by its own means: an item a key, which ``put`` overwrites, in ``InMemoryStore``.

It ends with its process, and has no expiry of its own: the expiry is a number in the item, and every search
filters by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Fact, Instant
from memrot_adapters._langgraph import REFERENCE, Vectors, in_memory, versions
from memrot_adapters._native import BY_KEY, NO_CASCADE, NO_PAST, NOTE, Fields, Native, fields, record_id
from memrot_adapters._opening import check_options

TEXT = "text"
"""The field that is embedded."""

_STORE = f"{REFERENCE}/BaseStore"
CAPABILITIES = {
    "filter": Capability("native", "operators of search, over the items' values", _STORE),
    "expiry": Capability("emulated", "InMemoryStore has no TTL: a filter on expires_at in every search"),
    "overwrite": BY_KEY,
    "renewal": Capability("native", "put with index=False, also of a fact that has expired", _STORE),
    "invalidate": Capability("emulated", "a search for the fact's item, then delete by its key", _STORE),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "put takes no condition", f"{REFERENCE}/PutOp"),
    "as_of": NO_PAST,
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> LangGraphNative:
    check_options("langgraph/native", options, {})
    vectors = Vectors()
    memory = LangGraphNative(place, embedder, vectors, in_memory(place, vectors, TEXT))
    memory.info = Info(
        name="langgraph/native",
        backend="LangGraph InMemoryStore",
        version=versions("checkpoint"),
        deployment="in process",
        persists=False,
        note=NOTE,
        capabilities=CAPABILITIES,
    )
    return memory


class LangGraphNative(Native):
    """Over either store."""

    def __init__(self, place: Place, embedder: Embedder, vectors: Vectors, store: Any) -> None:
        super().__init__(embedder)
        self._vectors = vectors
        self._store = store
        self._namespace = (place.namespace, "facts")

    def put(self, fact: Fact) -> None:
        self._know([fact.text])
        self._write(record_id(fact), {TEXT: fact.text, **fields(fact)})

    def delete(self, fact_id: str) -> None:
        item = self._found(fact_id)
        if item is not None:
            self._store.delete(self._namespace, item.key)

    def held(self, fact_id: str) -> Fields | None:
        item = self._found(fact_id)
        return None if item is None else item.value

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        item = self._found(fact_id)
        if item is not None:
            self._write(item.key, {**item.value, "expires_at": expires_at}, index=False)

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        self._know(texts)
        live = self._live(at)
        return [
            [
                (item.value["fact"], item.score)
                for item in self._store.search(
                    self._namespace, query=text, filter=live, limit=k, refresh_ttl=False
                )
            ]
            for text in texts
        ]

    def drop(self) -> None:
        """Nothing outlives the object."""

    def close(self) -> None:
        """Nothing is held open."""

    def _live(self, at: Instant) -> dict[str, Any]:
        return {"valid_from": {"$lte": at}, "expires_at": {"$gt": at}}

    def _write(self, key: str, value: Mapping[str, Any], **how: Any) -> None:
        self._store.put(self._namespace, key, value, **how)

    def _found(self, fact_id: str) -> Any | None:
        found = self._store.search(self._namespace, filter={"fact": fact_id}, limit=1, refresh_ttl=False)
        return found[0] if found else None

    def _know(self, texts: Sequence[str]) -> None:
        """Embed beforehand what the store will ask for."""
        self._vectors.clear()
        self._vectors.update(zip(texts, self.embedder.embed(texts), strict=True))
