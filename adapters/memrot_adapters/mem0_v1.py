"""mem0 1.0.x with ``infer=True``: a language model extracts, then decides what to add, update and delete.

It cannot share an environment with mem0 2.x: ``memrot run --stack mem0-v1 --python mem0-v1=PATH`` measures it
in one of its own, beside the other stacks of the run. With the scripted extractor the decisions are the
script's (``memrot.extractor``): it updates a memory whose first words are those of what is said. The
model is named as for ``mem0/infer``: MEMROT_LLM_URL, MEMROT_LLM_API_KEY, ``mem0-v1[model=NAME]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from msgspec import structs

from memrot.errors import Unavailable
from memrot.memory import Capability, Embedder, Place
from memrot_adapters import mem0
from memrot_adapters._native import NO_CASCADE
from memrot_adapters._spoken import DECIDED, NO_PAST, UNDATED
from memrot_adapters.mem0_infer import Mem0Infer, language_model

CAPABILITIES = {
    "filter": Capability("native", "by user"),
    "expiry": Capability("never", "expiration_date came with 2.0"),
    "renewal": Capability("never", "nothing expires"),
    "overwrite": DECIDED,
    "invalidate": DECIDED,
    "cascade": NO_CASCADE,
    "late_arrival": UNDATED,
    "as_of": NO_PAST,
    "history": Capability("not_yet", "history(memory_id) keeps the texts that were replaced"),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> Mem0V1:
    folder = place.folder / place.namespace
    folder.mkdir(parents=True, exist_ok=True)
    module = mem0.alone(folder, "mem0-v1")
    if not version("mem0ai").startswith("1."):
        raise Unavailable(
            "pip install 'memrot[mem0-v1]' in an environment of its own, and name its Python: "
            "--python mem0-v1=PATH"
        )
    llm = language_model("mem0-v1", options)
    memory = mem0.memory(module, place, folder, llm, str(folder / "history.db"))
    return Mem0V1(memory, place, llm["config"]["model"], embedder)


class Mem0V1(Mem0Infer):
    def __init__(self, memory: Any, place: Place, model: str, embedder: Embedder) -> None:
        super().__init__(memory, place, model, embedder)
        decided = self.info.note.replace("no model", "no model, its decisions are the script's")
        self.info = structs.replace(self.info, name="mem0-v1", note=decided, capabilities=CAPABILITIES)

    def _results(self, text: str, k: int) -> Sequence[Mapping[str, Any]]:
        reply = self._memory.search(text, user_id=self._user, limit=k)
        results: Sequence[Mapping[str, Any]] = reply["results"]
        return results
