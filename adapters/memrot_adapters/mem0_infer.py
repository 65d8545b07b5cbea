"""mem0 2.x with ``infer=True``: a language model makes memories of what is said, and mem0 keeps them all.

Each event is said in a sentence. What it then remembers is free text, which is traced to the facts that
it states (``memrot.matcher``); what cannot be traced is unattributed. The model is any OpenAI-compatible
server's, at ``--llm-base-url`` or MEMROT_LLM_URL, with the key in MEMROT_LLM_API_KEY; which of its models
is an option, ``mem0/infer[model=NAME]``, where it has several. ``memrot serve-extractor`` is such a
server without a model: rows over it say ``scripted``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

import msgspec
from msgspec import Struct

from memrot.errors import Unavailable, Unsupported
from memrot.matcher import Matcher
from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import (
    Answer,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactConfirmed,
    FactInvalidated,
    Hit,
    Instant,
    PeekCause,
    Question,
    introduces,
)
from memrot_adapters import mem0
from memrot_adapters._native import DIGITS, NO_CASCADE
from memrot_adapters._opening import backend, check_options
from memrot_adapters.mem0_native import ByText, move_clock

URL = "MEMROT_LLM_URL"
API_KEY = "MEMROT_LLM_API_KEY"
SCRIPTED = "scripted"
"""What the name of a model begins with that is none."""

MOST = 100_000
"""Memories that are looked through for diagnosis: mem0 lists 20 unless told otherwise."""

_ONLY_ADDS = Capability("never", "since 2.0 extraction only adds: what contradicts is kept side by side")
CAPABILITIES = {
    "filter": Capability("native", "by user"),
    "expiry": Capability("not_yet", "expiration_date is one for all that is extracted from a message"),
    "renewal": Capability("never", "a text that is said again is dropped as a duplicate"),
    "overwrite": _ONLY_ADDS,
    "invalidate": _ONLY_ADDS,
    "cascade": NO_CASCADE,
    "late_arrival": _ONLY_ADDS,
    "as_of": Capability("never", "a memory knows when it was made, not when it held"),
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
    others = {name: value for name, value in options.items() if name != "model"}
    check_options(adapter, others, {"model": ("NAME",)})
    url = os.environ.get(URL)
    if not url:
        raise Unavailable(
            f"set {URL}, or --llm-base-url, to the URL of an OpenAI-compatible server; "
            "memrot serve-extractor serves one that is scripted"
        )
    os.environ.pop("OPENROUTER_API_KEY", None)  # mem0 would take everything there
    key = os.environ.get(API_KEY) or "none"
    model = options.get("model") or _only_model(url, key)
    return {"provider": "openai", "config": {"api_key": key, "openai_base_url": url, "model": model}}


def _only_model(url: str, key: str) -> str:
    """The model of a server that has one."""
    openai = backend("openai", "mem0")
    try:
        with openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=10) as client:
            models: list[str] = sorted(each.id for each in client.models.list())
    except Exception as error:  # noqa: BLE001  the transport's many errors have the address in their text
        raise Unavailable(f"the server at {URL} gives {type(error).__name__}") from None
    if len(models) != 1:
        raise Unavailable(f"the server at {URL} has {len(models)} models: name one, mem0/infer[model=NAME]")
    return models[0]


class _Told(Struct, frozen=True):
    fact: Fact
    at: Instant


class Mem0Infer:
    def __init__(self, memory: Any, place: Place, model: str, embedder: Embedder) -> None:
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
        self._folder = place.folder / place.namespace
        self._matcher = Matcher()
        self._texts: dict[str, str] = {}
        self._file = self._folder / "told.jsonl"
        """What was said, for tracing: a memory that is opened again still holds it."""
        for line in self._file.read_bytes().splitlines() if self._file.exists() else ():
            self._note(msgspec.json.decode(line, type=_Told))

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        move_clock(at)
        for event in events:
            if isinstance(event, EmbedderChanged):
                raise Unsupported(
                    f"the embedder changes to {event.embedder!r}: mem0 keeps the one it began with"
                )
            fact = introduces(event)
            if fact is not None:
                told = _Told(fact, at)
                self._note(told)
                with self._file.open("ab") as file:
                    file.write(msgspec.json.encode(told) + b"\n")
            said = self._sentence(event)
            if said:
                self._memory.add([{"role": "user", "content": said}], user_id=self._user, infer=True)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        move_clock(at)
        return [
            self._answer(question)
            if question.mode == "current"
            else Answer(unsupported="memories say when they were made, not when they held")
            for question in questions
        ]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        stated = {fact for each in self._kept() for fact in self._facts(each)}
        return ["outranked" if fact in stated else "never stored" for _, fact in missed]

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self._folder)

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()  # Memory.close() leaves the folder locked,
        self._memory.llm.client.close()  # and the model's connections open

    def _sentence(self, event: ChangeEvent) -> str | None:
        """An event as a person would tell of it; a mere mention says nothing."""
        match event:
            case FactInvalidated(fact=fact_id) if fact_id in self._texts:
                return f"This is no longer true: {self._texts[fact_id]}"
            case FactConfirmed(fact=fact_id):
                return self._texts.get(fact_id)
        fact = introduces(event)
        return None if fact is None else fact.text

    def _answer(self, question: Question) -> Answer:
        hits: dict[str | int, Hit] = {}
        for place, found in enumerate(self._found(question.text, question.k)):
            near = round(float(found["score"]), DIGITS)
            for fact in self._facts(found):
                hits.setdefault(fact, Hit(fact, near))
            if not self._facts(found):
                hits[place] = Hit(None, near)
        return Answer(tuple(hits.values())[: question.k])

    def _found(self, text: str, k: int) -> Sequence[Mapping[str, Any]]:
        of_us = {"user_id": self._user}
        reply = self._memory.search(text, filters=of_us, top_k=k, threshold=mem0.NO_THRESHOLD)
        found: Sequence[Mapping[str, Any]] = reply["results"]
        return found

    def _kept(self) -> Sequence[Mapping[str, Any]]:
        kept: Sequence[Mapping[str, Any]] = self._memory.get_all(filters={"user_id": self._user}, top_k=MOST)[
            "results"
        ]
        return kept

    def _facts(self, memory: Mapping[str, Any]) -> tuple[str, ...]:
        """What a memory states, as said by the instant at which it was written."""
        written = datetime.fromisoformat(memory.get("updated_at") or memory["created_at"])
        return self._matcher.trace(memory["memory"], round(written.timestamp() * 1000))

    def _note(self, told: _Told) -> None:
        self._matcher.tell(told.fact, told.at)
        self._texts[told.fact.id] = told.fact.text
