"""mem0 2.x by its own means: ``infer=False``, events become ``update`` and ``delete``, ``expiration_date``.

A memory a key, found by our id of the key in its metadata. An expiration date is a day, on which the
memory is still shown until midnight UTC: a fact goes at the end of the day in which its time is up. mem0
reads the time by the name ``datetime`` in three of its modules; the name is replaced by one that the
harness moves. Expired memories are taken out of what its search found, after it: they hide those behind
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, ClassVar, Self

from msgspec import structs

from memrot.memory import Capability, Clause, Embedder, Place
from memrot.model import NEVER, Fact, Instant, moment
from memrot_adapters import mem0
from memrot_adapters._native import NO_CASCADE, NO_PAST, NOTE, Fields, Native, fields, record_id
from memrot_adapters._opening import backend, check_options

FACT = f"{mem0.PREFIX}fact"

EXPIRATION = "https://docs.mem0.ai/platform/features/memory-expiration"
CAPABILITIES = {
    "filter": Capability("native", "metadata filters of search"),
    "expiry": Capability(
        "native", "expiration_date, a day; its clock is moved; taken out after the search", EXPIRATION
    ),
    "overwrite": Capability("native", "update(memory_id), found by the key in the metadata"),
    "renewal": Capability("native", "update(expiration_date=...); it embeds the text again", EXPIRATION),
    "invalidate": Capability("native", "delete(memory_id), found by the fact in the metadata"),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "update takes no condition"),
    "as_of": NO_PAST,
    "history": Capability("not_yet", "history(memory_id) keeps the texts that were replaced"),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> Mem0Native:
    check_options("mem0/native", options, {})
    folder = place.folder / place.namespace
    folder.mkdir(parents=True, exist_ok=True)
    return Mem0Native(mem0.imported(folder), place, folder, embedder)


class Moved(datetime):
    """What mem0 finds under the name ``datetime``: the same class with another ``now``."""

    instant: ClassVar[Instant] = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(cls.instant / 1000, tz or UTC)


def move_clock(at: Instant) -> None:
    """Of mem0, in this whole process."""
    Moved.instant = at
    for module in ("mem0.memory.main", "mem0.memory.storage", "mem0.configs.prompts"):
        backend(module, "mem0").datetime = Moved


class ByText:
    """Stands where mem0 expects an embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self.config = None
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors


class Mem0Native(Native, mem0.Mem0):
    def __init__(self, module: Any, place: Place, folder: Path, embedder: Embedder) -> None:
        Native.__init__(self, embedder)
        mem0.Mem0.__init__(self, module, place, folder)
        self.info = structs.replace(
            self.info,
            name="mem0/native",
            clock="moved",
            note=f"infer=False; {NOTE}",
            capabilities=CAPABILITIES,
        )
        self._memory.embedding_model = ByText(embedder)

    def arrive(self, at: Instant) -> None:
        move_clock(at)

    def put(self, fact: Fact) -> None:
        id_, known = record_id(fact), fields(fact)
        told = {
            "metadata": {"record": id_, **mem0.stored(known)},
            "expiration_date": last_day(int(known["expires_at"])),
        }
        if id_ in self._mem0_id:
            self._memory.update(self._mem0_id[id_], text=fact.text, **told)
        else:
            added = self._memory.add(fact.text, user_id=self._user, infer=False, **told)
            self._mem0_id[id_] = added["results"][0]["id"]

    def delete(self, fact_id: str) -> None:
        found = self._found(fact_id)
        if found is not None:
            self._memory.delete(self._mem0_id.pop(found["metadata"]["record"]))

    def held(self, fact_id: str) -> Fields | None:
        found = self._found(fact_id)
        return None if found is None else mem0.fields(found["metadata"])

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        found = self._found(fact_id)
        if found is not None:
            metadata = mem0.stored({"expires_at": expires_at})
            self._memory.update(found["id"], metadata=metadata, expiration_date=last_day(expires_at))

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        filters = {"user_id": self._user, **mem0.bounds([Clause("valid_from", "le", at)])}
        asked = {"filters": filters, "top_k": k, "threshold": mem0.NO_THRESHOLD}
        return [
            [(hit["metadata"][FACT], hit["score"]) for hit in self._memory.search(text, **asked)["results"]]
            for text in texts
        ]

    def _found(self, fact_id: str) -> Any:
        of_it = {"user_id": self._user, FACT: fact_id}
        found = self._memory.get_all(filters=of_it, top_k=1, show_expired=True)["results"]
        return found[0] if found else None


def last_day(expires_at: Instant) -> str | None:
    """The UTC day of the last instant before an expiry."""
    if expires_at == NEVER:
        return None
    return moment(expires_at - 1).date().isoformat()
