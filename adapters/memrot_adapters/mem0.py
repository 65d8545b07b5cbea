"""mem0 2.x, a memory for agents, with ``infer=False``: its own add, search, delete and default store.

Texts are kept as they are told, by no language model; ``mem0/infer`` has one. Its store, Qdrant's client, is
on a folder of our own. mem0 drops hits below a threshold (0.1, unless told otherwise), and refuses one that
is negative: it is given one that nothing is below.

mem0 embeds by itself; a stand-in hands it the vector of the call at hand, so that it works with ours
and embeds nothing. It gives memories ids of its own; ours is in their metadata, beside the fields, which
have a prefix so that none can clash with mem0's own (nested fields took 20% longer to filter). It
merges metadata on update: a record that is replaced is deleted and added. A metadata-only update
would embed again: patches go to its store.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from memrot.memory import Fields, Info, Place, Query, Record, Vector, Where
from memrot_adapters._opening import backend, check_options

PREFIX = "f_"

UNUSED = {"provider": "openai", "config": {"api_key": "none"}}
"""mem0 wants a model and an embedder to be named, though neither is asked."""

NO_THRESHOLD = math.nan
"""mem0 drops hits below its threshold and refuses a negative one; nothing is below NaN."""


def open_store(place: Place, options: Mapping[str, str]) -> Mem0:
    check_options("mem0", options, {})
    folder = place.folder / place.namespace
    folder.mkdir(parents=True, exist_ok=True)
    return Mem0(imported(folder), place, folder)


def imported(folder: Path) -> Any:
    """mem0 2.x, kept from the user's folders and from the network."""
    mem0 = alone(folder, "mem0")
    notices = backend("mem0.memory.notices", "mem0")
    notices._fetch_remote_config = lambda: None  # noqa: SLF001  else every start waits on the network
    return mem0


def alone(folder: Path, extra: str) -> Any:
    """mem0 of any version; where its own things go is settled as it is imported."""
    os.environ.update(MEM0_DIR=str(folder), MEM0_TELEMETRY="False", HF_HUB_OFFLINE="1")
    mem0 = backend("mem0", extra)
    logging.getLogger("mem0").setLevel(logging.ERROR)  # it warns of each optional extra that is absent
    return mem0


class _OurVectors:
    """Stands where mem0 expects an embedder: whatever it asks for, the answer is ``vector``."""

    def __init__(self) -> None:
        self.config = None
        self.vector: list[float] = []

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.vector for _ in texts]


def memory(
    mem0: Any, place: Place, folder: Path, llm: Mapping[str, Any] = UNUSED, history: str = ":memory:"
) -> Any:
    """mem0 over its default store on a folder of our own (its default is shared by all)."""
    store = {"collection_name": place.namespace, "embedding_model_dims": place.dim, "path": str(folder)}
    made = mem0.Memory.from_config({
        "llm": llm, "embedder": UNUSED, "history_db_path": history,
        "vector_store": {"provider": "qdrant", "config": store},
    })  # fmt: skip
    made.vector_store._bm25_encoder = False  # noqa: SLF001  fastembed would look for weights
    return made


class Mem0:
    def __init__(self, mem0: Any, place: Place, folder: Path) -> None:
        self.info = Info(
            name="mem0",
            backend="mem0ai",
            version=version("mem0ai"),
            filters=frozenset({"gt", "le", "eq"}),
            note="infer=False",
        )
        self._folder = folder
        self._user = place.namespace
        self._memory = memory(mem0, place, folder)
        self._ours = self._memory.embedding_model = _OurVectors()
        self._store = self._memory.vector_store.client
        self._mem0_id = {point.payload["record"]: point.id for point in self._points(vectors=False)}

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        replaced = [record.id for record in put if record.id in self._mem0_id]
        for record_id in [*delete, *replaced]:
            self._memory.delete(self._mem0_id.pop(record_id))
        for record in put:
            self._ours.vector = record.vector.tolist()
            metadata = {"record": record.id, **stored(record.fields)}
            added = self._memory.add(record.text, user_id=self._user, metadata=metadata, infer=False)
            self._mem0_id[record.id] = added["results"][0]["id"]
        for record_id, fields in patch.items():
            self._store.set_payload(self._user, stored(fields), points=[self._mem0_id[record_id]])

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        held = [self._mem0_id[record_id] for record_id in ids if record_id in self._mem0_id]
        points = self._store.retrieve(self._user, held, with_payload=True, with_vectors=True)
        return [_record(point, vectors=True) for point in points]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        return (_record(point, vectors) for point in self._points(vectors))

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        filters = {"user_id": self._user, **bounds(where)}
        found = []
        for query in queries:
            self._ours.vector = query.vector.tolist()
            reply = self._memory.search(query.text, filters=filters, top_k=k, threshold=NO_THRESHOLD)
            found.append([(hit["metadata"]["record"], hit["score"]) for hit in reply["results"]])
        return found

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self._folder)

    def close(self) -> None:
        self._memory.close()
        self._store.close()  # Memory.close() leaves the folder locked

    def _points(self, vectors: bool) -> Iterator[Any]:
        offset = None
        while True:
            points, offset = self._store.scroll(
                self._user, limit=1000, offset=offset, with_payload=True, with_vectors=vectors
            )
            yield from points
            if offset is None:
                return


def bounds(where: Where) -> dict[str, dict[str, int]]:
    """One range a field: mem0 keeps the last of two equal operators and refuses a range with an ``eq``."""
    bounds: dict[str, dict[str, int]] = {}
    for clause in where:
        bound = bounds.setdefault(PREFIX + clause.field, {})
        if clause.op != "le":
            above = clause.value if clause.op == "gt" else clause.value - 1
            bound["gt"] = max(above, bound.get("gt", above))
        if clause.op != "gt":
            bound["lte"] = min(clause.value, bound.get("lte", clause.value))
    return bounds


def stored(known: Fields) -> dict[str, int | str]:
    """A record's fields as mem0's metadata."""
    return {PREFIX + name: value for name, value in known.items()}


def fields(metadata: Mapping[str, Any]) -> dict[str, int | str]:
    """A record's fields from mem0's metadata."""
    return {name.removeprefix(PREFIX): value for name, value in metadata.items() if name.startswith(PREFIX)}


def _record(point: Any, vectors: bool) -> Record:
    vector: Vector = np.asarray(point.vector if vectors else [], np.float32)
    own = point.payload
    return Record(own["record"], own["data"], vector, fields(own))
