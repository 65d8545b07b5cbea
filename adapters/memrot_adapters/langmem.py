"""LangMem's memory store manager: a language model keeps memories in LangGraph's ``InMemoryStore``.

For each thing that is said the manager finds the memories nearest to it, and the model inserts, updates or
deletes. It must call tools; which it is: ``--llm-base-url`` or MEMROT_LLM_URL, the key in
MEMROT_LLM_API_KEY, ``langmem[model=NAME]`` where a server has several. Times that it keeps are those of
its own clock, by which nothing ages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Instant
from memrot_adapters._llm import Endpoint, endpoint
from memrot_adapters._native import NO_CASCADE
from memrot_adapters._opening import backend
from memrot_adapters._spoken import DECIDED, NO_PAST, UNDATED, WIRING, Remembered, Spoken

CAPABILITIES = {
    "filter": Capability("native", "by namespace"),
    "expiry": Capability("never", "InMemoryStore has no TTL"),
    "renewal": Capability("never", "nothing expires"),
    "overwrite": DECIDED,
    "invalidate": DECIDED,
    "cascade": NO_CASCADE,
    "late_arrival": UNDATED,
    "as_of": NO_PAST,
    "history": Capability("never", "what is updated or deleted is gone"),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> LangMem:
    return LangMem(place, endpoint("langmem", options, " whose model calls tools"), embedder)


class LangMem(Spoken):
    def __init__(self, place: Place, llm: Endpoint, embedder: Embedder) -> None:
        langmem, chat = backend("langmem", "langmem"), backend("langchain_openai", "langmem")
        memory = backend("langgraph.store.memory", "langmem")
        super().__init__(place)
        self.info = Info(
            name="langmem",
            backend="LangMem",
            version=f"{version('langmem')} with {llm.model}",
            deployment="in process",
            persists=False,
            note=f"{llm.model}; free text, traced to facts; {WIRING}",
            capabilities=CAPABILITIES,
        )

        def embedded(texts: Sequence[str]) -> list[list[float]]:
            vectors: list[list[float]] = embedder.embed(texts).tolist()
            return vectors

        self._manager: Any = langmem.create_memory_store_manager(
            chat.ChatOpenAI(model=llm.model, base_url=llm.url, api_key=llm.key, temperature=0),
            namespace=("memories", place.namespace),
            store=memory.InMemoryStore(index={"dims": place.dim, "embed": embedded}),
            enable_deletes=True,
        )

    def add(self, text: str, at: Instant) -> str:
        self._manager.invoke({"messages": [{"role": "user", "content": text}]})
        return ""  # what it makes of a message are memories of their own

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        found = self._manager.search(query=text, limit=k)
        return [Remembered(each.value.content, each.score or 0.0) for each in found]

    def close(self) -> None:
        """Nothing is held."""
