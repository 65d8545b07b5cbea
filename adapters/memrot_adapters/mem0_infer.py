"""mem0 2.x with ``infer=True``: a language model makes memories of what is said, and mem0 keeps them all.

Each event is said in a sentence. What it then remembers is free text, which is traced to the facts that
it states (``memrot.matcher``); what cannot be traced is unattributed. The model is any OpenAI-compatible
server's, at ``--llm-base-url`` or MEMROT_LLM_URL, with the key in MEMROT_LLM_API_KEY; which of its models
is an option, ``mem0/infer[model=NAME]``, where it has several. ``memrot serve-extractor`` is such a
server without a model: rows over it say ``scripted``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Instant
from memrot_adapters import mem0
from memrot_adapters._llm import answering, endpoint
from memrot_adapters._native import NO_CASCADE
from memrot_adapters._spoken import NO_PAST, Remembered, Spoken
from memrot_adapters.mem0_native import ByText, move_clock

SCRIPTED = "scripted"
"""What the name of a model begins with that is none."""

_ONLY_ADDS = Capability(
    "never",
    "since 2.0 extraction only adds: what contradicts is kept side by side",
    "https://docs.mem0.ai/core-concepts/how-it-works",
)
CAPABILITIES = {
    "filter": Capability("native", "by user"),
    "expiry": Capability("not_yet", "expiration_date is one for all that is extracted from a message"),
    "renewal": Capability("never", "a text that is said again is dropped as a duplicate"),
    "overwrite": _ONLY_ADDS,
    "invalidate": _ONLY_ADDS,
    "cascade": NO_CASCADE,
    "late_arrival": _ONLY_ADDS,
    "as_of": NO_PAST,
    "history": Capability("not_yet", "all memories are kept, in no order of a key"),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> Mem0Infer:
    llm = language_model("mem0/infer", options)
    folder = place.folder / place.namespace
    folder.mkdir(parents=True, exist_ok=True)
    module = mem0.imported(folder)
    memory = mem0.memory(module, place, folder, llm, str(folder / "history.db"))
    return Mem0Infer(memory, place, llm["config"]["model"], embedder)


def language_model(adapter: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The user's, as mem0 is told of it; raises Unavailable where none is given."""
    llm = endpoint(adapter, options, "; memrot serve-extractor serves one that is scripted")
    os.environ.pop("OPENROUTER_API_KEY", None)  # mem0 would take everything there
    told = {"api_key": llm.key, "openai_base_url": llm.url, "model": llm.model}
    return {"provider": "openai", "config": told}


class Mem0Infer(Spoken):
    def __init__(self, memory: Any, place: Place, model: str, embedder: Embedder) -> None:
        super().__init__(place)
        scripted = model.startswith(SCRIPTED)
        self.info = Info(
            name="mem0/infer",
            backend="mem0ai",
            version=f"{version('mem0ai')} with {model}",
            clock="moved",
            note=f"infer=True, {SCRIPTED + ': no model' if scripted else model}; free text, traced to facts",
            capabilities=CAPABILITIES,
        )
        self._memory = memory
        self._memory.embedding_model = ByText(embedder)
        self._user = place.namespace

    def arrive(self, at: Instant) -> None:
        move_clock(at)

    def add(self, text: str, at: Instant) -> str:
        with answering(self._memory.llm):
            self._memory.add([{"role": "user", "content": text}], user_id=self._user, infer=True)
        return ""  # what it makes of a message are memories of their own

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        return [Remembered(each["memory"], each["score"], _written(each)) for each in self._results(text, k)]

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()  # Memory.close() leaves the folder locked,
        self._memory.llm.client.close()  # and the model's connections open

    def _results(self, text: str, k: int) -> Sequence[Mapping[str, Any]]:
        of_us = {"user_id": self._user}
        reply = self._memory.search(text, filters=of_us, top_k=k, threshold=mem0.NO_THRESHOLD)
        results: Sequence[Mapping[str, Any]] = reply["results"]
        return results


def _written(memory: Mapping[str, Any]) -> Instant:
    written = datetime.fromisoformat(memory.get("updated_at") or memory["created_at"])
    return round(written.timestamp() * 1000)
